// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP losses that the order of answers tells (compare RACK-TLP, RFC 8985).
 *
 * Ports that trim lose hardly anything without a word (NDP paper, section 3.2).  Others drop,
 * and a link may; until a timeout nobody would know.  But packets of one path stay in order:
 * once a packet is acknowledged that left by the same path later, one that left before it and
 * has no answer is lost.  Packets of different paths overtake one another by what the queues of
 * these differ, and tell the same when more time lies between them.
 *
 * What may overtake even on one path, and what becomes of it here:
 * - Trimmed headers and all control packets travel before DATA, and behind a full header queue
 *   after it.  So only the ACK of a whole DATA packet tells anything: no NACK, no returned header,
 *   no FIN.  A header may also still come when later packets were taken whole: see the slack.
 * - Answers overtake one another, since each goes by a path of its own.
 * - A packet that was sent again has left twice.  The answer says which transmission it is to,
 *   the first or another (NDP_F_RTX), and by which path that came; what tells neither, or comes
 *   sooner than an answer could, is no evidence.
 * - What waits in the local qdisc has not left.
 *
 * The slack is by how much later a packet must have left to tell of one by the same path; twice
 * as much by another.  It is measured: each answer shows by how much later others had left that
 * were acknowledged before it.  The largest such lateness of late, which fades with the answers
 * that are on time, and a little more is the slack, up to the timeout.  So it is short in a fabric
 * where queues are alike, and long while headers wait behind headers or where each path has a
 * queue of its own (fq_codel).  An answer to the first transmission of what was found lost
 * (SpuriousByOrder) is such a measurement too, and is kept for a second, less a part for each that
 * was lost indeed: a busy host is late more seldom than the answers remember.  The slack is the
 * peer's: all connections to it share it.
 *
 * What is sent again at once, and what waits for a pull, is the transport's (credit.c).
 *
 * The tail: behind the last packets nothing leaves that could tell of them.  When nothing was sent
 * or acknowledged for two srtt (or a slack), a slack more and the time that an ACK may wait for the
 * peer's application, the packet that is in flight longest is sent again by another path,
 * NDP_TAIL_PROBES times until something is acknowledged.  Its ACK tells of the others.  A sender
 * that waits for pulls has nothing in flight and sends no probe.  Where not each packet is
 * answered (@asks) a PROBE asks instead (output.c).
 *
 * Cost: some comparisons for each ACK.  Packets are looked at only if something was acknowledged
 * that left a slack after them: they are lost, or at most NDP_ORDER_LOOKS an ACK are looked at
 * in vain.  How often a packet can be sent again by a peer that lies is bounded: it must have been
 * out for the slack, from the second time on for two, and another have left and been
 * acknowledged since.
 *
 * Non-goals: timeouts (timer.c); transports that find losses by themselves.
 */
#include "trace.h"
#include "transport.h"

/* Packets in flight that one ACK has looked at and that are not lost. */
#define NDP_ORDER_LOOKS		64

/* Lateness that a peer begins with: headers may wait behind headers. */
#define NDP_ORDER_FIRST		(NDP_RTO_MIN / 4)

/* Probes of the tail in silence: the first, or its answer, may go where these are lost. */
#define NDP_TAIL_PROBES		2

/* An answer that is on time takes so much of it away, a shift: it halves in 180. */
#define NDP_ORDER_FADE		8

/* So does each that was lost indeed of what is kept. */
#define NDP_ORDER_FADE_KEPT	3

/* The least slack: parts of the least timeout, a shift, and of the round trip. */
#define NDP_ORDER_LEAST		4
#define NDP_ORDER_LEAST_RTT	4

/**
 * ndp_order_init - nothing is known yet of the order in which a peer's packets come
 * @peer:	peer
 *
 * Context: nobody else sees @peer.
 */
void ndp_order_init(struct ndp_peer *peer)
{
	peer->late_ns = NDP_ORDER_FIRST;
}

/* By how much later a packet must have left to tell of one by the same path. */
static u64 ndp_order_slack(const struct ndp_sock *np)
{
	u64 least = max(np->rto_floor_ns >> NDP_ORDER_LEAST,
			ndp_srtt(np) / NDP_ORDER_LEAST_RTT);
	struct ndp_peer *peer = np->peer;
	u64 late = max(READ_ONCE(peer->late_ns), ndp_kept(&peer->late_kept));

	return min(late + least, ndp_rto_base(np));
}

/* An answer came that late.  Processors that meet here lose one of two measurements. */
static void ndp_order_measured(struct ndp_sock *np, u64 late)
{
	struct ndp_peer *peer = np->peer;
	u32 most = READ_ONCE(peer->late_ns);
	u32 now = late > most ? min_t(u64, late, NDP_RTO_MAX) :
				most - (most >> NDP_ORDER_FADE);

	if (now != most)
		WRITE_ONCE(peer->late_ns, now);
}

/* Something was taken for lost and had come, that late. */
static void ndp_order_found_wrong(struct ndp_sock *np, u64 late)
{
	NDP_CONN_INC(np, SPURIOUS_ORDER);
	ndp_order_measured(np, late);
	ndp_keep(&np->peer->late_kept, min_t(u64, late, NDP_RTO_MAX));
}

/* How much later others had left that were answered before what left then. */
static u64 ndp_order_lateness(const struct ndp_sock *np, u64 sent_at)
{
	return np->order.before > sent_at ? np->order.before - sent_at : 0;
}

/**
 * ndp_order_answered - a packet was answered: how late is that?
 * @np:		connection
 * @sent_at:	when the transmission left that was
 *
 * Context of this and those below: np->lock held, softirqs off.
 */
void ndp_order_answered(struct ndp_sock *np, u64 sent_at)
{
	if (ndp_has_order(np))
		ndp_order_measured(np, ndp_order_lateness(np, sent_at));
}

/**
 * ndp_order_wrong - what was found lost was not: its first transmission was answered
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

/* What is remembered of a number, never 0. */
static u16 ndp_order_tag(u32 psn)
{
	return psn / NDP_ORDER_DONE | BIT(15);
}

/**
 * ndp_order_done - a packet is acknowledged that was found lost and sent again
 * @np:		connection
 * @psn:	its number
 *
 * An answer to its first transmission may still come: the copy may have overtaken that.
 */
void ndp_order_done(struct ndp_sock *np, u32 psn)
{
	ndp_kept_fade(&np->peer->late_kept, NDP_ORDER_FADE_KEPT);
	np->order.done[psn % NDP_ORDER_DONE] = ndp_order_tag(psn);
}

/**
 * ndp_order_late - the first transmission of a packet is acknowledged, and the packet was before
 * @np:		connection
 * @psn:	its number
 */
void ndp_order_late(struct ndp_sock *np, u32 psn)
{
	u16 *done = &np->order.done[psn % NDP_ORDER_DONE];

	if (*done != ndp_order_tag(psn))
		return;
	*done = 0;
	/* Its time is not known any more; it was more than the slack. */
	ndp_order_found_wrong(np, 2 * ndp_order_slack(np));
}

/**
 * ndp_order_acked - a packet is acknowledged that arrived whole
 * @np:		connection
 * @cb:		packet
 * @path:	by which it came, by the peer's word
 * @again:	the answer is to a retransmission
 *
 * Numbers that acknowledge all below them are not for this: they do not tell what came when.
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
	/* What a path that was replaced has carried left before all that it carries now. */
	if (i < NDP_ORDER_PATHS && ndp_path_is_current(np->peer, path))
		np->order.path[i] = max(np->order.path[i], cb->sent_at);
}

/* Has a packet been acknowledged that can only come before this one if this one is lost? */
static bool ndp_order_is_lost(const struct ndp_sock *np, const struct ndp_tx_cb *cb, u64 slack)
{
	u16 i = ndp_path_index(cb->path);

	/* One that is lost again and again is none that waiting less would help. */
	slack <<= cb->by_order;
	/* What has waited for a timeout longer than what was acknowledged is lost. */
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
 * ndp_order_check - all that an answer acknowledges is known: what does it tell of the rest?
 * @np:		connection
 *
 * The caller calls ndp_output().
 */
void ndp_order_check(struct ndp_sock *np)
{
	u64 slack = ndp_order_slack(np);
	struct ndp_tx_cb *cb, *next;
	int looks = 0;

	np->order.before = np->order.sent;
	list_for_each_entry_safe(cb, next, &np->flight, list) {
		/* What the host refused is at the head, with a time that is none. */
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
 * ndp_tail_at - when the tail of what is in flight is probed
 * @np:		connection
 *
 * Return: ktime_get_ns(), U64_MAX: not at all.
 */
u64 ndp_tail_at(const struct ndp_sock *np)
{
	u64 srtt = ndp_srtt(np), slack = ndp_order_slack(np);
	const struct ndp_tx_cb *last;
	u64 wait;

	if (!ndp_has_order(np) || np->tp->asks || np->tail_probes == NDP_TAIL_PROBES ||
	    np->backoff || !srtt || list_empty(&np->flight))
		return U64_MAX;
	/* What the host refused is at the head, and has a time of its own. */
	if (list_first_entry(&np->flight, struct ndp_tx_cb, list)->local_drop)
		return U64_MAX;
	last = list_last_entry(&np->flight, struct ndp_tx_cb, list);
	wait = max3(2 * srtt, (u64)ndp_kept(&np->peer->rto_kept), slack) + slack;
	if (last->flags & NDP_F_LAST)
		wait += NDP_ACK_DELAY;
	return ndp_waits_since(np, last) + wait;
}

/**
 * ndp_tail_probe - send the packet again that is in flight longest, if that is due
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
	/* Nothing has left in all that time: that is for the timeout. */
	if (ndp_tx_still_local(np, cb)) {
		np->tail_probes = NDP_TAIL_PROBES;
		return;
	}
	NDP_CONN_INC(np, TAIL_PROBES);
	cb->timed_out = 1;
	ndp_path_suspect(np, cb);
	ndp_tx_lost(np, skb);
}
