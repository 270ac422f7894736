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
 * as much by another.  It is a part of the least timeout, which has room for a full header
 * queue, or of the round trip, if that is more: a quarter at first.  A peer's ports that trim are
 * known by the first header that comes; then it is a half, because headers wait behind headers.
 * An answer to the first transmission of what was found lost so (SpuriousByOrder) doubles it, up
 * to the timeout; each eight retransmissions that were needed halve it, down to a quarter.  Less
 * was no faster in an incast through RED, and slower through fq_codel, where each path is a queue
 * of its own.  The slack is the peer's: all connections to it learn it.
 *
 * What is sent again at once, and what waits for a pull, is the transport's (credit.c).
 *
 * The tail: behind the last packets nothing leaves that could tell of them.  When for
 * two srtt and the slack nothing was sent the packet that is in flight longest is sent again,
 * once until something is acknowledged.
 * Its ACK tells of the others.  A sender that waits for pulls has nothing in flight and sends
 * no probe.
 *
 * Cost: a comparison for each ACK.  Packets are looked at only if something was acknowledged
 * that left a slack after them: they are lost, or at most NDP_ORDER_LOOKS an ACK are looked at
 * in vain.  How often a packet can be sent again by a peer that lies is bounded: it must have been
 * out for the slack, from the second time on for two, and another have left and been
 * acknowledged since.
 *
 * Non-goals: timeouts (timer.c); transports that find losses by themselves.
 */
#include "transport.h"

/* Packets in flight that one ACK has looked at and that are not lost. */
#define NDP_ORDER_LOOKS		64

/* Part of the timeout that the slack is, a shift: at first, the least; and with ports that trim. */
#define NDP_ORDER_MAX		2
#define NDP_ORDER_TRIMS		1

/* Retransmissions that were needed, after which the slack is halved. */
#define NDP_ORDER_PROVEN	8

/**
 * ndp_order_init - nothing is known yet of the order in which a peer's packets come
 * @peer:	peer
 *
 * Context: nobody else sees @peer.
 */
void ndp_order_init(struct ndp_peer *peer)
{
	peer->order_shift = NDP_ORDER_MAX;
}

/* By how much later a packet must have left to tell of one by the same path. */
static u64 ndp_order_slack(const struct ndp_sock *np)
{
	u8 shift = READ_ONCE(np->peer->order_shift);

	return shift ? max(np->rto_floor_ns, ndp_srtt(np)) >> shift : ndp_rto_base(np);
}

/**
 * ndp_order_trims - a header has come: a port trims
 * @np:		connection
 *
 * Context of this and those below: np->lock held, softirqs off.
 */
void ndp_order_trims(struct ndp_sock *np)
{
	struct ndp_peer *peer = np->peer;

	if (READ_ONCE(peer->order_shift) <= NDP_ORDER_TRIMS)
		return;
	spin_lock(&peer->lock);
	WRITE_ONCE(peer->order_shift, NDP_ORDER_TRIMS);
	peer->order_proven = 0;
	spin_unlock(&peer->lock);
}

/**
 * ndp_order_wrong - what was found lost was not: its first transmission was answered
 * @np:		connection
 */
void ndp_order_wrong(struct ndp_sock *np)
{
	struct ndp_peer *peer = np->peer;

	NDP_INC(sock_net(ndp_to_sk(np)), SPURIOUS_ORDER);
	spin_lock(&peer->lock);
	if (peer->order_shift)
		WRITE_ONCE(peer->order_shift, peer->order_shift - 1);
	peer->order_proven = 0;
	spin_unlock(&peer->lock);
}

/* And this was: a later transmission was needed. */
static void ndp_order_right(struct ndp_sock *np)
{
	struct ndp_peer *peer = np->peer;

	spin_lock(&peer->lock);
	if (++peer->order_proven >= NDP_ORDER_PROVEN) {
		peer->order_proven = 0;
		if (peer->order_shift < NDP_ORDER_MAX)
			WRITE_ONCE(peer->order_shift, peer->order_shift + 1);
	}
	spin_unlock(&peer->lock);
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
	ndp_order_wrong(np);
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

	if (!np->tp->overtaken || ndp_is_unverified(np))
		return;
	if (again && cb->by_order)
		ndp_order_right(np);
	if (cb->fin || cb->local_drop || cb->rtx != again || cb->path != path)
		return;
	/* Of several retransmissions by one path the answer may be to an earlier one. */
	if (again && ktime_get_ns() - cb->sent_at < ndp_srtt(np) / 2)
		return;
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
	if (cb->sent_at + 2 * slack <= np->order.sent)
		return true;
	return i < NDP_ORDER_PATHS && cb->sent_at + slack <= np->order.path[i] &&
	       ndp_path_is_current(np->peer, cb->path);
}

static void ndp_order_lost(struct ndp_sock *np, struct sk_buff *skb)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	NDP_INC(sock_net(ndp_to_sk(np)), LOST_ORDER);
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

	list_for_each_entry_safe(cb, next, &np->flight, list) {
		/* What the host refused is at the head, with a time that is none. */
		if (!cb->local_drop && (cb->sent_at + slack > np->order.sent ||
					ndp_tx_still_local(np, cb)))
			break;
		if (!cb->local_drop && !cb->fin && ndp_order_is_lost(np, cb, slack))
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
	u64 srtt = ndp_srtt(np);

	if (!np->tp->overtaken || np->tail_probed || np->backoff || !srtt ||
	    list_empty(&np->flight) || ndp_is_unverified(np))
		return U64_MAX;
	return list_last_entry(&np->flight, struct ndp_tx_cb, list)->sent_at +
	       2 * srtt + ndp_order_slack(np);
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
	np->tail_probed = true;
	cb = ndp_tx_cb(skb);
	if (cb->local_drop || ndp_tx_still_local(np, cb))
		return;
	NDP_INC(sock_net(ndp_to_sk(np)), TAIL_PROBES);
	cb->by_order = 1;
	ndp_tx_lost(np, skb);
}
