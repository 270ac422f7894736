// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP sending: what may leave.
 *
 * The rules (NDP paper, section 3.2, and where it is silent, ours):
 *
 * - The first window is pushed; after it nothing new leaves without a pull.
 *   A pull sends what waits for retransmission first, then new data.
 * - The packet that empties the send queue carries LAST: the receiver stops
 *   pulling, and what the application writes later is pushed again.
 * - What is pushed stays within one initial window and the peer's room.
 *   Counted are the bytes in flight up to the last LAST, which only ACKs
 *   return, and all bytes pushed since, which return by pulls, so that no
 *   packet is replaced twice.
 * - New data never brings the bytes in flight above one initial window.
 * - A packet known lost leaves without a pull, on another path.
 * - At most two of a socket's packets wait in the local qdisc; the skb's
 *   destructor tells when one has left.
 *
 * A packet's number, payload and CRC are fixed when it first leaves.
 *
 * Non-goals: congestion control; the fabric needs none (section 3.2,
 * "Congestion Control").
 */
#include "conn.h"

/* Packets of one socket in the local qdisc, as TCP's small queues. */
#define NDP_QDISC_PKTS		2

/* What the host itself refused is tried again after NDP_RTO_MIN, doubling. */
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

	clear_bit(0, &np->tasklet_queued);
	spin_lock(&np->lock);
	WRITE_ONCE(np->throttled, false);
	ndp_output(np);
	spin_unlock(&np->lock);
	sock_put(ndp_to_sk(np));
}

static bool ndp_qdisc_full(struct ndp_sock *np)
{
	if (np->tx_seq - atomic_read(&np->tx_departed) < NDP_QDISC_PKTS)
		return false;
	WRITE_ONCE(np->throttled, true);
	/* Check again: a packet may have departed before its destructor saw @throttled. */
	smp_mb();
	if (np->tx_seq - atomic_read(&np->tx_departed) >= NDP_QDISC_PKTS)
		return true;
	WRITE_ONCE(np->throttled, false);
	return false;
}

static u8 ndp_data_flags(const struct ndp_sock *np, const struct ndp_tx_cb *cb,
			 bool pushed)
{
	bool opening = ndp_to_sk((struct ndp_sock *)np)->sk_state ==
		       TCP_SYN_SENT;
	u8 flags = cb->flags;

	if (ndp_has_messages(np))
		flags |= NDP_F_MSG;
	if (cb->rtx)
		flags |= NDP_F_RTX;
	if (opening || (pushed && !cb->rtx))
		flags |= NDP_F_SYN;
	return flags;
}

static u16 ndp_pick_path(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	u16 pathno = ndp_path_next(np->paths, &np->paths->data);

	/* A retransmission takes another path (section 3.2.3). */
	if (cb->rtx && pathno == cb->path && np->paths->n > 1)
		pathno = ndp_path_next(np->paths, &np->paths->data);
	return pathno;
}

/* Make the skb that is transmitted for a packet of the send queue. */
static struct sk_buff *ndp_tx_copy(struct ndp_sock *np, struct sk_buff *skb)
{
	struct sock *sk = ndp_to_sk(np);
	struct sk_buff *out;

	out = __pskb_copy(skb, NDP_HEADROOM, GFP_ATOMIC);
	if (!out)
		return NULL;
	memset(out->cb, 0, sizeof(out->cb));
	out->sk = sk;
	out->destructor = ndp_wfree;
	refcount_add(out->truesize, &sk->sk_wmem_alloc);
	return out;
}

static void ndp_count_data(struct ndp_sock *np, const struct sk_buff *skb,
			   bool pushed)
{
	struct net *net = sock_net(ndp_to_sk(np));
	const struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	if (cb->fin) {
		NDP_INC(net, FIN_OUT);
		return;
	}
	if (!skb->len) {
		NDP_INC(net, OPEN_OUT);
		return;
	}
	NDP_INC(net, DATA_OUT);
	NDP_ADD(net, DATA_BYTES_OUT, skb->len);
	np->info.data_sent++;
	np->info.bytes_sent += skb->len;
	if (cb->rtx) {
		NDP_INC(net, DATA_RTX);
		np->info.retrans++;
		np->info.bytes_retrans += skb->len;
	} else if (pushed) {
		NDP_INC(net, DATA_PUSHED);
		np->info.data_pushed++;
	}
}

/*
 * Send a numbered packet, for the first time or again; it is in flight
 * afterwards, whatever became of it: what the local qdisc refused, or what no
 * memory or route was there for, is tried again soon.
 */
static void ndp_send_packet(struct ndp_sock *np, struct sk_buff *skb,
			    bool pushed)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);
	u64 wait, now = ktime_get_ns();
	u32 limit = ndp_mtu_limit(np);
	struct sk_buff *out;
	struct ndphdr *nh;
	int err = -ENOMEM;
	u16 pathno;

	if (!np->opened)
		ndp_token_show(np);
	pathno = ndp_pick_path(np, cb);
	out = ndp_tx_copy(np, skb);
	if (out) {
		if (skb->len)
			*(__be32 *)skb_push(out, NDP_CRC_LEN) = cb->crc;
		nh = ndp_put_header(np, out, cb->fin ? NDP_FIN : NDP_DATA,
				    ndp_data_flags(np, cb, pushed), cb->psn,
				    pathno);
		nh->len = htons(skb->len);
		nh->psn_off = htonl(cb->psn - np->isn);
		ndp_count_data(np, skb, pushed);
		cb->tx_seq = np->tx_seq++;
		err = ndp_xmit(np, out, pathno, cb->fin ? NDP_DSCP_CONTROL :
							  NDP_DSCP_DATA, limit);
	}
	cb->path = pathno;
	cb->local_drop = !!err;
	cb->limited = !!limit;
	cb->refused = 0;
	cb->bounced = 0;
	cb->sent_at = now;
	if (!cb->rtx)
		cb->first_at = ndp_rtt_clock(now);
	ndp_tx_to_flight(np, skb);
	if (err) {
		wait = NDP_RTO_MIN << min(np->local_backoff, NDP_LOCAL_DOUBLINGS);
		cb->sent_at = now + wait - ndp_rto(np);
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
	u8 flags = cb->flags & NDP_F_EOM;

	memset(cb, 0, sizeof(*cb));
	INIT_LIST_HEAD(&cb->list);
	cb->flags = flags;
	cb->psn = np->snd_nxt++;
	cb->fin = fin;
	if (skb->len)
		cb->crc = htonl(ndp_skb_crc(skb, 0, skb->len));
	if (fin || (skb_queue_empty(&np->sendq) && !np->more))
		cb->flags |= NDP_F_LAST;
	ndp_tx_insert(np, skb);
}

/* LAST was sent: data written later is pushed without pulls. */
static void ndp_mark_last(struct ndp_sock *np, struct sk_buff *skb)
{
	np->snd_last = ndp_tx_cb(skb)->psn;
	np->flight_upto_last = np->flight_bytes;
	np->pushed_since_last = 0;
	/* The receiver now pulls only packets that wait for retransmission. */
	np->expect_pulls = min_t(s32, np->expect_pulls, np->rtx_pkts);
}

static void ndp_send_new(struct ndp_sock *np, struct sk_buff *skb, bool fin,
			 bool pushed)
{
	ndp_number(np, skb, fin);
	ndp_tx_cb(skb)->pulled = !pushed;
	ndp_send_packet(np, skb, pushed);
	if (pushed)
		np->pushed_since_last += skb->len;
	if (ndp_tx_cb(skb)->flags & NDP_F_LAST)
		ndp_mark_last(np, skb);
}

static void ndp_resend(struct ndp_sock *np, struct sk_buff *skb)
{
	ndp_tx_cb(skb)->rtx = 1;
	list_del_init(&ndp_tx_cb(skb)->list);
	np->rtx_pkts--;
	ndp_send_packet(np, skb, false);
}

/* Of the packets that wait for a pull, the lowest missing one, else who waits longest. */
static struct sk_buff *ndp_rtx_first(struct ndp_sock *np)
{
	struct rb_node *node = rb_first(&np->txq);

	if (list_empty(&np->rtx))
		return NULL;
	if (ndp_tx_cb(rb_to_skb(node))->state == NDP_TX_NACKED)
		return rb_to_skb(node);
	return ndp_tx_first(&np->rtx);
}

static u32 ndp_iw_bytes(const struct ndp_sock *np)
{
	return np->iw * np->mss;
}

static bool ndp_may_push(const struct ndp_sock *np, u32 len)
{
	u32 window = min(ndp_iw_bytes(np), np->snd_window);
	u32 used = np->flight_upto_last + np->pushed_since_last;

	/* If nothing is in use, any advertised room is enough for one packet. */
	return used + len <= window || (!used && window);
}

static bool ndp_may_pull(const struct ndp_sock *np, u32 len)
{
	return np->credit && (!np->flight_bytes ||
			      np->flight_bytes + len <= ndp_iw_bytes(np));
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
	bool pulled;

	if (!skb || ndp_held_back(np, skb) ||
	    np->snd_nxt - np->snd_una >= NDP_MAX_WINDOW)
		return false;
	ndp_mtu_cut(np, skb, ndp_unverified_most(np));
	if (ndp_unverified_holds(np, skb->len))
		return false;
	pulled = ndp_may_pull(np, skb->len);
	if (!pulled && !ndp_may_push(np, skb->len))
		return false;
	np->credit -= pulled;
	__skb_unlink(skb, &np->sendq);
	np->sendq_bytes -= skb->len;
	ndp_send_new(np, skb, false, !pulled);
	return true;
}

/* Send a packet without payload: a bare opening or a FIN. */
static bool ndp_output_empty(struct ndp_sock *np, bool fin)
{
	struct sk_buff *skb = alloc_skb(0, GFP_ATOMIC);

	if (!skb)
		return false;
	ndp_wmem_charge(np, skb);
	ndp_send_new(np, skb, fin, true);
	return true;
}

static bool ndp_output_one(struct ndp_sock *np)
{
	struct sk_buff *skb;

	skb = ndp_tx_first(&np->lost);
	if (skb) {
		if (ndp_unverified_holds(np, skb->len))
			return false;
		ndp_resend(np, skb);
		return true;
	}
	skb = ndp_rtx_first(np);
	if (skb && np->credit) {
		if (ndp_unverified_holds(np, skb->len))
			return false;
		np->credit--;
		ndp_tx_cb(skb)->pulled = 1;
		ndp_resend(np, skb);
		return true;
	}
	if (ndp_output_new(np))
		return true;
	if (np->fin_queued && !np->fin_sent && skb_queue_empty(&np->sendq)) {
		if (ndp_unverified_holds(np, 0))
			return false;
		np->fin_sent = ndp_output_empty(np, true);
		return np->fin_sent;
	}
	/*
	 * Trimmed or returned packets wait, nobody is going to pull them and
	 * nothing is under way that could change that: keep the clock going
	 * (section 3.2.4).
	 */
	if (skb && !np->flight_pkts && np->expect_pulls <= 0) {
		ndp_tx_lost(np, skb);
		return true;
	}
	return false;
}

/*
 * Does anything wait that only the peer's credit can release?  Before it has answered
 * that is not so: it may not know the connection, and would refuse the question.  What
 * an unverified peer may not be sent waits for the answer to a challenge.
 */
static bool ndp_is_stuck(const struct ndp_sock *np)
{
	const struct sk_buff *skb = skb_peek(&np->sendq);

	if (np->throttled || !np->answered || np->held_back)
		return false;
	return !list_empty(&np->rtx) || (skb && !ndp_held_back(np, skb)) ||
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
	while (!ndp_qdisc_full(np) && ndp_output_one(np))
		;
	/*
	 * All is sent and answered, and the receiver knows by LAST that it is all:
	 * credit that is left asks for nothing.  A queue that ran empty in the middle
	 * of a write keeps it, since the receiver counts on what it has pulled.
	 */
	if (np->snd_una == np->snd_nxt && np->snd_last == np->snd_nxt - 1 &&
	    skb_queue_empty(&np->sendq)) {
		np->credit = 0;
		np->expect_pulls = 0;
	}
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
