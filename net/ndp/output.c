// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP sending: which packets may leave.
 *
 * A transport decides which packet may leave, and from when on; lost packets are offered to it
 * first, then NACKed ones, then new ones.  The core enforces what holds for all transports:
 *
 * - Few of a socket's packets wait in the local qdisc, as many as the link carries in
 *   net.ndp.qdisc_us; the skb's destructor counts those that have left.
 *
 * A packet's number and payload are fixed when it first leaves.
 *
 * Non-goals: who may send how much (credit.c).
 */
#include "transport.h"

/* Most doublings of the retry interval, NDP_RTO_MIN, of packets that the host itself refused. */
#define NDP_LOCAL_DOUBLINGS	6U

/*
 * A packet has left the local qdisc (or was dropped there).  Any context, with
 * or without np->lock: only the counter is touched.
 */
static void ndp_wfree(struct sk_buff *skb)
{
	struct ndp_sock *np = ndp_sk(skb->sk);

	atomic_inc(&np->tx_departed);
	/* Pairs with the barrier in ndp_qdisc_full(). */
	smp_mb__after_atomic();
	/* The connection may have ended, so take a reference only if there is one left. */
	if (READ_ONCE(np->throttled) &&
	    !test_and_set_bit(0, &np->tasklet_queued) &&
	    refcount_inc_not_zero(&skb->sk->sk_refcnt))
		tasklet_schedule(&np->tasklet);
	sock_wfree(skb);
}

void ndp_tasklet(struct tasklet_struct *t)
{
	struct ndp_sock *np = container_of(t, struct ndp_sock, tasklet);

	spin_lock(&np->lock);
	/*
	 * Under the lock: a CPU that waits for it must not schedule a tasklet still running here.
	 */
	clear_bit(0, &np->tasklet_queued);
	if (np->wake_later && ndp_readable(np))
		ndp_to_sk(np)->sk_data_ready(ndp_to_sk(np));
	np->wake_later = false;
	ndp_ack_flush(np);
	WRITE_ONCE(np->throttled, false);
	ndp_output(np);
	spin_unlock(&np->lock);
	sock_put(ndp_to_sk(np));
}

static bool ndp_qdisc_full(struct ndp_sock *np)
{
	if (np->tx_seq - atomic_read(&np->tx_departed) < np->qdisc_pkts)
		return false;
	WRITE_ONCE(np->throttled, true);
	/* Check again: a packet may have departed before its destructor saw @throttled. */
	smp_mb();
	if (np->tx_seq - atomic_read(&np->tx_departed) >= np->qdisc_pkts)
		return true;
	WRITE_ONCE(np->throttled, false);
	return false;
}

/*
 * May the peer delay the ACK of a packet until its application responds, or omit it if more
 * packets follow?  Not while something here waits for that ACK: the window, the send buffer, a
 * lingering close, or the amplification limit of an unverified peer.
 */
static bool ndp_ack_may_tarry(const struct ndp_sock *np, const struct sk_buff *skb)
{
	const struct ndp_tx_cb *cb = ndp_tx_cb(skb);
	const struct sock *sk = &np->inet.sk;
	u32 window = min(np->iw * np->mss, np->snd_window);

	if (!ndp_has_later(np) || cb->rtx || ndp_is_unverified(np))
		return false;
	if (cb->asked)
		return false;
	if (!(cb->flags & NDP_F_LAST))
		return np->tp->asks;
	if (sock_flag(sk, SOCK_LINGER))
		return false;
	return np->flight_bytes + skb->len + np->mss <= window && sk_stream_is_writeable(sk);
}

static u8 ndp_data_flags(struct ndp_sock *np, const struct sk_buff *skb,
			 bool pushed)
{
	const struct ndp_tx_cb *cb = ndp_tx_cb(skb);
	bool opening = ndp_to_sk(np)->sk_state == TCP_SYN_SENT;
	u8 flags = cb->flags;

	if (ndp_has_messages(np))
		flags |= NDP_F_MSG;
	/* If answers may be delayed, these bits are NDP_F_LATER and NDP_F_CUM. */
	if (ndp_has_later(np))
		flags &= ~(NDP_F_BOM | NDP_F_SYNC);
	if (cb->rtx)
		flags |= NDP_F_RTX;
	if (opening || pushed)
		flags |= NDP_F_SYN;
	if (ndp_ack_may_tarry(np, skb))
		flags |= NDP_F_LATER;
	/* Not on an opening FIN: if forgotten soon, a copy of it could open another connection. */
	if (cb->fin && np->closing && np->answered && np->snd_una == cb->psn)
		flags |= NDP_F_GONE;
	return flags;
}

/*
 * The transport's byte in the header.  If the acceptor has forgotten a connection that it has
 * answered, a pushed packet must reveal that, rather than open another one in the middle of a
 * stream.
 */
static u8 ndp_origin_id(const struct ndp_sock *np)
{
	return np->tp->id | (!np->acceptor && np->answered ? NDP_ORIGIN_ANSWERED : 0);
}

static u16 ndp_pick_path(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	enum ndp_path_use use = NDP_PATH_PROBE_LATE;
	u16 pathno;

	ndp_peer_follow(np);
	if (np->tp->pick_path) {
		ndp_entropy_keep(np);
		return min_t(u16, np->tp->pick_path(np, cb), np->peer->n - 1);
	}
	/* A retransmission is urgent: no probe, except in silence, when nothing else may help. */
	if (cb->rtx && !np->backoff)
		use = NDP_PATH_NO_PROBE;
	else if (np->flight_pkts >= NDP_PATH_PROBE_FLIGHT && !(cb->flags & NDP_F_LAST))
		use = NDP_PATH_PROBE;
	/* The fate of the last transmission may stay unknown: do not leave its path reserved. */
	if (cb->rtx && ndp_path_is_current(np->peer, cb->path))
		ndp_entropy_lost(np->peer, ndp_path_index(cb->path));
	pathno = ndp_entropy_next(np, !cb->pulled, use);

	/* A retransmission takes another path (section 3.2.3). */
	if (cb->rtx && ndp_path_number(np->peer, pathno) == cb->path)
		pathno = ndp_entropy_next(np, true, use);
	if (cb->rtx && cb->timed_out && ndp_path_number(np->peer, pathno) == cb->path)
		pathno = ndp_path_other(np, pathno);
	return pathno;
}

/*
 * Make the skb that is transmitted for a packet of the send queue.  While the skb of an earlier
 * transmission is still somewhere on this host, its headers are in use, and the new one gets its
 * own.
 */
static struct sk_buff *ndp_tx_copy(struct ndp_sock *np, struct sk_buff *skb)
{
	struct sock *sk = ndp_to_sk(np);
	struct sk_buff *out;

	out = skb_cloned(skb) ? __pskb_copy(skb, NDP_HEADROOM, GFP_ATOMIC) :
				skb_clone(skb, GFP_ATOMIC);
	if (!out)
		return NULL;
	/*
	 * skb->dev shares its place with @skb's rbnode in the send queue, and netfilter reads it.
	 */
	out->dev = NULL;
	memset(out->cb, 0, sizeof(out->cb));
	out->sk = sk;
	out->destructor = ndp_wfree;
	refcount_add(out->truesize, &sk->sk_wmem_alloc);
	return out;
}

static void ndp_count_data(struct ndp_sock *np, const struct sk_buff *skb,
			   bool pushed)
{
	const struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	if (cb->fin) {
		NDP_CONN_INC(np, FIN_OUT);
		return;
	}
	if (!skb->len) {
		NDP_CONN_INC(np, OPEN_OUT);
		return;
	}
	NDP_CONN_INC(np, DATA_OUT);
	NDP_CONN_ADD(np, DATA_BYTES_OUT, skb->len);
	np->counters.data_sent++;
	np->counters.bytes_sent += skb->len;
	if (cb->rtx) {
		NDP_CONN_INC(np, DATA_RTX);
		np->counters.retrans++;
		np->counters.bytes_retrans += skb->len;
	} else if (pushed) {
		NDP_CONN_INC(np, DATA_PUSHED);
		np->counters.data_pushed++;
	}
}

/*
 * A paced transport sets when a packet may depart, and the qdisc enforces it (EDT).  Until then
 * the packet is local, and its timeout has not begun.
 * Return: time of departure, in terms of ktime_get_ns().
 */
static u64 ndp_departs(struct ndp_sock *np, struct sk_buff *out, u32 len, u64 now)
{
	u64 at = np->tp->not_before ? np->tp->not_before(np, len) : 0;

	if (at <= now)
		return now;
	at = min(at, now + NDP_RTO_MAX);
	skb_set_delivery_time(out, ns_to_ktime(at), SKB_CLOCK_MONOTONIC);
	return at;
}

/* Payload queued behind this packet; 0 if unknown, while the application is still writing. */
static u32 ndp_behind(const struct ndp_sock *np)
{
	return np->more ? 0 : np->sendq_bytes;
}

/*
 * Send a numbered packet, for the first time or again.  It is in flight afterwards even if sending
 * failed: a packet that the local qdisc refused, or for which there was no memory or route, is
 * retried soon.
 */
static void ndp_send_packet(struct ndp_sock *np, struct sk_buff *skb)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);
	/* Sent without a pull; a retransmission never carries the SYN of a first window. */
	bool pushed = np->tp->credit && !cb->pulled && !cb->rtx;
	u64 wait, now = ktime_get_ns();
	u64 departs = now;
	u32 limit = ndp_mtu_limit(np);
	struct sk_buff *out;
	struct ndphdr *nh;
	bool rides = false;
	int err = -ENOMEM;
	u16 pathno, number;

	if (!np->opened)
		ndp_token_show(np);
	pathno = ndp_pick_path(np, cb);
	number = ndp_path_number(np->peer, pathno);
	out = ndp_tx_copy(np, skb);
	if (out) {
		if (skb->len)
			__skb_push(out, NDP_CRC_LEN);
		nh = ndp_put_header(np, out, cb->fin ? NDP_FIN : NDP_DATA,
				    ndp_data_flags(np, skb, pushed), cb->psn,
				    number);
		nh->len = htons(skb->len);
		nh->window = htonl(ndp_behind(np));
		nh->origin = ndp_hdr_origin(ndp_origin_id(np), cb->psn - np->isn);
		rides = ndp_ack_ride(np, nh);
		ndp_count_data(np, skb, pushed);
		departs = ndp_departs(np, out, skb->len, now);
		cb->tx_seq = np->tx_seq++;
		err = ndp_xmit(np, out, skb->len ? skb : NULL, pathno,
			       cb->fin ? NDP_DSCP_CONTROL : NDP_DSCP_DATA, limit);
	}
	if (rides && !err)
		ndp_ack_rode(np);
	cb->path = number;
	cb->local_drop = !!err;
	cb->limited = !!limit;
	cb->refused = 0;
	cb->bounced = 0;
	cb->sent_at = now;
	if (!cb->rtx)
		cb->first_at = ndp_rtt_clock(departs);
	ndp_tx_to_flight(np, skb);
	if (err) {
		wait = NDP_RTO_MIN << min(np->local_backoff, NDP_LOCAL_DOUBLINGS);
		cb->sent_at = now + wait;
		list_move(&cb->list, &np->flight);
	} else {
		np->local_backoff = 0;
	}
	np->opened = true;
	np->syn_at = 0;
	if (!np->silent_since)
		np->silent_since = now;
}

/* Assign a PSN; from here on the packet's bytes are fixed. */
static void ndp_number(struct ndp_sock *np, struct sk_buff *skb, bool fin)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);
	u8 flags = cb->flags & (NDP_F_EOM | NDP_F_BOM | NDP_F_SYNC);

	memset(cb, 0, sizeof(*cb));
	INIT_LIST_HEAD(&cb->list);
	cb->flags = flags;
	cb->psn = np->snd_nxt++;
	cb->fin = fin;
	if (fin || (skb_queue_empty(&np->sendq) && !np->more))
		cb->flags |= NDP_F_LAST;
	ndp_tx_insert(np, skb);
}

static void ndp_mark_last(struct ndp_sock *np, struct sk_buff *skb)
{
	np->snd_last = ndp_tx_cb(skb)->psn;
	np->flight_upto_last = np->flight_bytes;
}

/* Number a packet and send it.  @what: NDP_SEND_NEW or NDP_SEND_EMPTY. */
static void ndp_send_new(struct ndp_sock *np, struct sk_buff *skb,
			 enum ndp_send what, bool fin)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	ndp_number(np, skb, fin);
	ndp_tp_sent(np, cb, what, skb->len);
	ndp_send_packet(np, skb);
	if (cb->flags & NDP_F_LAST)
		ndp_mark_last(np, skb);
}

static bool ndp_resend(struct ndp_sock *np, struct sk_buff *skb,
		       enum ndp_send what)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	if (ndp_unverified_holds(np, skb->len))
		return false;
	ndp_tp_sent(np, cb, what, skb->len);
	cb->rtx_again = cb->rtx;
	cb->rtx = 1;
	list_del_init(&cb->list);
	np->rtx_pkts--;
	ndp_send_packet(np, skb);
	return true;
}

/* Hold back a partial segment that MSG_MORE may still fill. */
static bool ndp_held_back(const struct ndp_sock *np, const struct sk_buff *skb)
{
	return np->corked && skb->len < np->mss &&
	       skb_queue_len(&np->sendq) == 1;
}

static bool ndp_output_new(struct ndp_sock *np)
{
	struct sk_buff *skb = skb_peek(&np->sendq);

	if (!skb || ndp_held_back(np, skb) ||
	    np->snd_nxt - np->snd_una >= NDP_MAX_WINDOW)
		return false;
	ndp_mtu_cut(np, skb, ndp_unverified_most(np));
	if (ndp_unverified_holds(np, skb->len))
		return false;
	if (!ndp_tp_may_send(np, NDP_SEND_NEW, skb->len))
		return false;
	__skb_unlink(skb, &np->sendq);
	np->sendq_bytes -= skb->len;
	ndp_send_new(np, skb, NDP_SEND_NEW, false);
	return true;
}

/* Send a packet without payload: a bare opening or a FIN. */
static bool ndp_output_empty(struct ndp_sock *np, bool fin)
{
	struct sk_buff *skb = ndp_tx_alloc(GFP_ATOMIC);

	if (!skb)
		return false;
	ndp_wmem_charge(np, skb);
	ndp_send_new(np, skb, NDP_SEND_EMPTY, fin);
	return true;
}

static bool ndp_fin_is_due(const struct ndp_sock *np)
{
	return np->fin_queued && !np->fin_sent && skb_queue_empty(&np->sendq);
}

static bool ndp_output_fin(struct ndp_sock *np)
{
	if (ndp_unverified_holds(np, 0) ||
	    !ndp_tp_may_send(np, NDP_SEND_EMPTY, 0))
		return false;
	WRITE_ONCE(np->fin_sent, ndp_output_empty(np, true));
	return np->fin_sent;
}

static bool ndp_output_one(struct ndp_sock *np)
{
	struct sk_buff *skb;

	skb = ndp_tx_first(&np->lost);
	if (skb)
		return ndp_tp_may_send(np, NDP_SEND_LOST, skb->len) &&
		       ndp_resend(np, skb, NDP_SEND_LOST);
	skb = ndp_rtx_first(np);
	if (skb && ndp_tp_may_send(np, NDP_SEND_NACKED, skb->len))
		return ndp_resend(np, skb, NDP_SEND_NACKED);
	if (ndp_output_new(np))
		return true;
	if (ndp_fin_is_due(np))
		return ndp_output_fin(np);
	return skb && ndp_tp_stalled(np);
}

/*
 * Does anything wait that only the peer's credit can release, or is a packet in flight that the
 * peer need not answer?  Not before the peer has answered once: it may not know the connection,
 * and would reject a PROBE.  Packets held back from an unverified peer wait for the answer to a
 * challenge.
 */
static bool ndp_is_stuck(const struct ndp_sock *np)
{
	const struct sk_buff *skb = skb_peek(&np->sendq);

	if (np->throttled || !np->answered || np->held_back)
		return false;
	/* DATA to an unverified peer always asks for an answer, so that no PROBE is needed. */
	if (np->tp->asks && np->flight_pkts && !ndp_is_unverified(np))
		return true;
	return !list_empty(&np->rtx) || !list_empty(&np->lost) ||
	       (skb && !ndp_held_back(np, skb)) ||
	       (np->fin_queued && !np->fin_sent);
}

/* Is anything to be sent, or in flight?  This is a shortcut for connections that only receive. */
static bool ndp_has_to_send(const struct ndp_sock *np)
{
	return !skb_queue_empty(&np->sendq) || !RB_EMPTY_ROOT(&np->txq) ||
	       (np->fin_queued && !np->fin_sent);
}

/**
 * ndp_output - send all that may be sent now
 * @np:		connection
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_output(struct ndp_sock *np)
{
	int state = ndp_to_sk(np)->sk_state;

	if (state != TCP_ESTABLISHED && state != TCP_SYN_SENT)
		return;
	if (ndp_has_to_send(np))
		while (!ndp_qdisc_full(np) && ndp_output_one(np))
			;
	/*
	 * All data is sent and answered, and LAST has announced its end to the receiver.  A queue
	 * that ran empty in the middle of a write is not idle.
	 */
	if (np->snd_una == np->snd_nxt && np->snd_last == np->snd_nxt - 1 &&
	    skb_queue_empty(&np->sendq))
		ndp_tp_idle(np);
	if (!ndp_is_stuck(np))
		np->probe_at = 0;
	else if (!np->probe_at)
		np->probe_at = ktime_get_ns() + np->probe_ns;
	ndp_timer_update(np);
}

/**
 * ndp_send_open - send a bare opening if nothing was sent yet
 * @np:		connection
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_send_open(struct ndp_sock *np)
{
	if (np->opened || np->acceptor ||
	    ndp_to_sk(np)->sk_state != TCP_SYN_SENT)
		return;
	if (skb_queue_empty(&np->sendq) && !np->fin_queued)
		ndp_output_empty(np, false);
	ndp_output(np);
}
