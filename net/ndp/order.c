// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP loss detection by the order of answers (compare RACK-TLP, RFC 8985).
 *
 * Ports that trim hardly ever lose a packet silently (NDP paper, section 3.2).  Other ports drop
 * packets, and so may a link; the sender would notice only by a timeout.  But packets on one path
 * stay in order: once a packet that left later by the same path is acknowledged, an earlier one
 * that has no answer is lost.  Packets on different paths overtake one another by the difference
 * in queueing delay, so more time must lie between them for the same conclusion.
 *
 * Reordering that occurs even on one path, and how it is handled here:
 * - Trimmed headers and all control packets overtake DATA, and are overtaken by it while the
 *   header queue is full.  So only the ACK of a whole DATA packet is evidence: a NACK, a returned
 *   header or a FIN is not.  A header may also still arrive after later packets have arrived
 *   whole: see the slack.
 * - Answers overtake one another, since each takes a path of its own.
 * - A packet that was sent again has left twice.  Its answer echoes whether it is to the first
 *   transmission or another (NDP_F_RTX), and by which path that one arrived; an answer that does
 *   not match the latest transmission, or arrives before that could be answered, is no evidence.
 * - A packet that waits in the local qdisc has not left.
 *
 * The slack is how much later a packet on the same path must have left for its ACK to prove a
 * loss; on another path it must be twice that.  The slack is measured: the lateness of an answer
 * is how much later than its packet others had left that were acknowledged before it.  The slack
 * is the largest recent lateness, which decays with each answer that is on time, plus a margin,
 * and at most the timeout.  So it is short in a fabric whose queues are alike, and long while
 * headers wait behind headers or where each path has a queue of its own (fq_codel).  An answer to
 * the first transmission of a packet that was declared lost (SpuriousByOrder) is a measurement
 * too.  It is kept for a second, and reduced by each packet that was really lost: a busy host is
 * late too rarely for a value that decays with every answer.  The slack belongs to the peer: all
 * connections to it share it.
 *
 * The transport decides which lost packets are sent again at once, and which wait for a pull
 * (credit.c).
 *
 * The tail: no packet leaves after the last ones whose ACK could reveal their loss.  When nothing
 * was sent or acknowledged for two srtt (or for a slack, or the timeout kept by rtt.c), plus a
 * slack and the time for which the peer may delay an ACK, the packet that has been in flight
 * longest is sent again by another path, NDP_TAIL_PROBES times until something is acknowledged.
 * Its ACK reveals the loss of the others.  A sender that waits for pulls has nothing in flight and
 * sends no tail probe.  Where not each packet is answered (@asks) a PROBE is sent instead
 * (output.c).
 *
 * Cost: some comparisons for each ACK.  Packets in flight are examined only if a packet that left
 * a slack after them was acknowledged: either they are lost, or they count towards the
 * NDP_ORDER_LOOKS that one ACK may examine in vain.  A lying peer can cause only a bounded number
 * of retransmissions: a packet must have been in flight for the slack, from the second time on for
 * two, and another one must have left and been acknowledged since.
 *
 * Non-goals: timeouts (timer.c); transports that find losses by themselves.
 */
#include "trace.h"
#include "transport.h"

/* Packets in flight that one ACK may examine and find not lost. */
#define NDP_ORDER_LOOKS		64

/* Initial lateness of a peer: headers may wait behind headers. */
#define NDP_ORDER_FIRST		(NDP_RTO_MIN / 4)

/* Tail probes until something is acknowledged: the first, or its answer, may meet a lossy path. */
#define NDP_TAIL_PROBES		2

/* Decay of the lateness by each answer that is on time (a shift): it halves in 180 answers. */
#define NDP_ORDER_FADE		8

/* Decay of the kept lateness by each packet that was really lost (a shift). */
#define NDP_ORDER_FADE_KEPT	3

/* Minimum slack: the least timeout shifted right by the first, srtt divided by the second. */
#define NDP_ORDER_LEAST		4
#define NDP_ORDER_LEAST_RTT	4

/**
 * ndp_order_init - set the initial lateness of a peer
 * @peer:	peer
 *
 * Context: nobody else sees @peer.
 */
void ndp_order_init(struct ndp_peer *peer)
{
	peer->late_ns = NDP_ORDER_FIRST;
}

/* How much later a packet on the same path must have left for its ACK to prove a loss. */
static u64 ndp_order_slack(const struct ndp_sock *np)
{
	u64 least = max(np->rto_floor_ns >> NDP_ORDER_LEAST,
			ndp_srtt(np) / NDP_ORDER_LEAST_RTT);
	struct ndp_peer *peer = np->peer;
	u64 late = max(READ_ONCE(peer->late_ns), ndp_kept(&peer->late_kept));

	return min(late + least, ndp_rto_base(np));
}

/* An answer had this lateness.  Of two CPUs that race here one loses its measurement. */
static void ndp_order_measured(struct ndp_sock *np, u64 late)
{
	struct ndp_peer *peer = np->peer;
	u32 most = READ_ONCE(peer->late_ns);
	u32 now = late > most ? min_t(u64, late, NDP_RTO_MAX) :
				most - (most >> NDP_ORDER_FADE);

	if (now != most)
		WRITE_ONCE(peer->late_ns, now);
}

/* A packet that was declared lost had arrived; its answer had this lateness. */
static void ndp_order_found_wrong(struct ndp_sock *np, u64 late)
{
	NDP_CONN_INC(np, SPURIOUS_ORDER);
	ndp_order_measured(np, late);
	ndp_keep(&np->peer->late_kept, min_t(u64, late, NDP_RTO_MAX));
}

/* How much later than @sent_at a packet had left whose ACK arrived before this answer. */
static u64 ndp_order_lateness(const struct ndp_sock *np, u64 sent_at)
{
	return np->order.before > sent_at ? np->order.before - sent_at : 0;
}

/**
 * ndp_order_answered - measure the lateness of an answer
 * @np:		connection
 * @sent_at:	when the answered transmission left
 *
 * Context of this and those below: np->lock held, softirqs off.
 */
void ndp_order_answered(struct ndp_sock *np, u64 sent_at)
{
	if (ndp_has_order(np))
		ndp_order_measured(np, ndp_order_lateness(np, sent_at));
}

/**
 * ndp_order_wrong - a packet was declared lost, but its first transmission is answered
 * @np:		connection
 * @cb:		packet
 */
void ndp_order_wrong(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	u64 now = ktime_get_ns();
	s32 rtt = ndp_rtt_clock(now) - cb->first_at;
	u64 sent_at = now - ((u64)max(rtt, 0) << 10);

	ndp_order_found_wrong(np, ndp_order_lateness(np, sent_at));
}

/* What ndp_order.done stores for a PSN, never 0. */
static u16 ndp_order_tag(u32 psn)
{
	return psn / NDP_ORDER_DONE | BIT(15);
}

/**
 * ndp_order_done - a packet that was declared lost and sent again is acknowledged
 * @np:		connection
 * @psn:	its number
 *
 * An answer to the first transmission may still arrive: a retransmission may have overtaken it.
 */
void ndp_order_done(struct ndp_sock *np, u32 psn)
{
	ndp_kept_fade(&np->peer->late_kept, NDP_ORDER_FADE_KEPT);
	np->order.done[psn % NDP_ORDER_DONE] = ndp_order_tag(psn);
}

/**
 * ndp_order_late - the first transmission of an already acknowledged packet is acknowledged
 * @np:		connection
 * @psn:	its number
 */
void ndp_order_late(struct ndp_sock *np, u32 psn)
{
	u16 *done = &np->order.done[psn % NDP_ORDER_DONE];

	if (*done != ndp_order_tag(psn))
		return;
	*done = 0;
	/* The time of that transmission is no longer known; its lateness exceeded the slack. */
	ndp_order_found_wrong(np, 2 * ndp_order_slack(np));
}

/**
 * ndp_order_acked - a packet that arrived whole is acknowledged
 * @np:		connection
 * @cb:		packet
 * @path:	path that it took, as the peer reports it
 * @again:	the answer is to a retransmission
 *
 * Not for packets acknowledged by a cumulative PSN: that does not tell when each of them arrived.
 */
void ndp_order_acked(struct ndp_sock *np, const struct ndp_tx_cb *cb, u16 path, bool again)
{
	u16 i;

	if (!ndp_has_order(np))
		return;
	if (cb->fin || cb->local_drop || cb->rtx != again || cb->path != path)
		return;
	/* Of several retransmissions by one path the answer may be to an earlier one. */
	if (cb->rtx_again && ktime_get_ns() - cb->sent_at < ndp_srtt(np) / 2)
		return;
	ndp_order_answered(np, cb->sent_at);
	np->order.sent = max(np->order.sent, cb->sent_at);
	i = ndp_path_index(path);
	/* No reset when a path is replaced: its old packets left before all that it carries now. */
	if (i < NDP_ORDER_PATHS && ndp_path_is_current(np->peer, path))
		np->order.path[i] = max(np->order.path[i], cb->sent_at);
}

/* Was a packet acknowledged that can arrive before this one only if this one is lost? */
static bool ndp_order_is_lost(const struct ndp_sock *np, const struct ndp_tx_cb *cb, u64 slack)
{
	u16 i = ndp_path_index(cb->path);

	/* A packet that was declared lost before gains nothing from a short slack. */
	slack <<= cb->by_order;
	/* A packet that left two slacks, or a timeout, before an acknowledged one is lost. */
	if (cb->sent_at + min(2 * slack, ndp_rto_base(np)) <= np->order.sent)
		return true;
	return i < NDP_ORDER_PATHS && cb->sent_at + slack <= np->order.path[i] &&
	       ndp_path_is_current(np->peer, cb->path);
}

static void ndp_order_lost(struct ndp_sock *np, struct sk_buff *skb)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	NDP_CONN_INC(np, LOST_ORDER);
	trace_ndp_lost(np, cb);
	cb->by_order = 1;
	ndp_path_suspect(np, cb);
	ndp_mtu_lost(np, skb);
	if (np->tp->overtaken(np, cb))
		ndp_tx_lost(np, skb);
	else
		ndp_tx_nacked(np, skb);
}

/**
 * ndp_order_check - find packets that the order of answers proves lost
 * @np:		connection
 *
 * Called once all that an answer acknowledges is noted.  The caller calls ndp_output().
 */
void ndp_order_check(struct ndp_sock *np)
{
	u64 slack = ndp_order_slack(np);
	struct ndp_tx_cb *cb, *next;
	int looks = 0;

	np->order.before = np->order.sent;
	list_for_each_entry_safe(cb, next, &np->flight, list) {
		/* A packet that the host refused is at the head; sent_at is its time of retry. */
		if (!cb->local_drop && (cb->sent_at + slack > np->order.sent ||
					ndp_tx_still_local(np, cb)))
			break;
		if (!cb->local_drop && !cb->fin && !cb->bounced &&
		    ndp_order_is_lost(np, cb, slack))
			ndp_order_lost(np, container_of((void *)cb, struct sk_buff, cb));
		else if (++looks == NDP_ORDER_LOOKS)
			break;
	}
}

/**
 * ndp_tail_at - when the tail of the packets in flight is probed
 * @np:		connection
 *
 * Return: time in terms of ktime_get_ns(), U64_MAX for never.
 */
u64 ndp_tail_at(const struct ndp_sock *np)
{
	u64 srtt = ndp_srtt(np), slack = ndp_order_slack(np);
	const struct ndp_tx_cb *last;
	u64 wait;

	if (!ndp_has_order(np) || np->tp->asks || np->tail_probes == NDP_TAIL_PROBES ||
	    np->backoff || !srtt || list_empty(&np->flight))
		return U64_MAX;
	/* A packet that the host refused is at the head, and is retried at a time of its own. */
	if (list_first_entry(&np->flight, struct ndp_tx_cb, list)->local_drop)
		return U64_MAX;
	last = list_last_entry(&np->flight, struct ndp_tx_cb, list);
	wait = max3(2 * srtt, (u64)ndp_kept(&np->peer->rto_kept), slack) + slack;
	if (last->flags & NDP_F_LAST)
		wait += NDP_ACK_DELAY;
	return ndp_waits_since(np, last) + wait;
}

/**
 * ndp_tail_probe - if it is due, send again the packet that has been in flight longest
 * @np:		connection
 * @now:	ktime_get_ns()
 *
 * The caller calls ndp_output().
 */
void ndp_tail_probe(struct ndp_sock *np, u64 now)
{
	struct sk_buff *skb = ndp_tx_first(&np->flight);
	struct ndp_tx_cb *cb;

	if (ndp_tail_at(np) > now)
		return;
	np->tail_probes++;
	cb = ndp_tx_cb(skb);
	/* Nothing has left the local qdisc in all that time: leave that to the timeout. */
	if (ndp_tx_still_local(np, cb)) {
		np->tail_probes = NDP_TAIL_PROBES;
		return;
	}
	NDP_CONN_INC(np, TAIL_PROBES);
	cb->timed_out = 1;
	ndp_path_suspect(np, cb);
	ndp_tx_lost(np, skb);
}
