// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP reassembly: from packets in any order to what the application reads.
 *
 * Packets arrive in any order (NDP paper, section 3.2.1).  In-order packets go to the receive
 * queue; packets beyond a gap wait in a tree sorted by PSN, except whole messages that may
 * overtake others (overtake.c).
 *
 * Non-goals: which packets are accepted (data.c), memory (room.c).
 */
#include "queue.h"

/**
 * ndp_learn_irs - learn the peer's first PSN, from the first packet that arrives
 * @np:		connection
 * @irs:	first PSN as computed from this packet: exact in a connection's first packets,
 *		later modulo 2^24
 *
 * Context: np->lock held.
 * Return: whether this packet agrees with the first.
 */
bool ndp_learn_irs(struct ndp_sock *np, u32 irs)
{
	if (!np->irs_known) {
		np->irs_known = true;
		np->irs = irs;
		np->rcv_nxt = irs;
		np->rcv_max = irs - 1;
	}
	return !((np->irs ^ irs) & NDP_ORIGIN_MASK);
}

/**
 * ndp_ooo_find - has a packet beyond a gap arrived?
 * @np:		connection
 * @psn:	packet
 *
 * Context: np->lock held.
 */
bool ndp_ooo_find(const struct ndp_sock *np, u32 psn)
{
	const struct rb_node *node = np->ooo.rb_node;

	while (node) {
		u32 at = ndp_rx_cb(rb_to_skb(node))->psn;

		if (at == psn)
			return true;
		node = psn_before(psn, at) ? node->rb_left : node->rb_right;
	}
	return false;
}

static void ndp_ooo_insert(struct ndp_sock *np, struct sk_buff *skb)
{
	struct rb_node **p = &np->ooo.rb_node, *parent = NULL;
	u32 psn = ndp_rx_cb(skb)->psn;

	while (*p) {
		parent = *p;
		p = psn_before(psn, ndp_rx_cb(rb_to_skb(parent))->psn) ?
		    &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, p);
	rb_insert_color(&skb->rbnode, &np->ooo);
	np->ooo_len++;
	np->counters.ooo_max = max(np->counters.ooo_max, psn - np->rcv_nxt);
	np->counters.sync_early_in += ndp_rx_cb(skb)->sync;
}

static void ndp_rcv_in_order(struct ndp_sock *np, struct sk_buff *skb)
{
	struct sock *sk = ndp_to_sk(np);

	np->rcv_nxt++;
	if (ndp_rx_cb(skb)->fin) {
		/*
		 * SOCK_DONE is not used: setsockopt() writes the same word of flags without
		 * holding this lock.
		 */
		WRITE_ONCE(np->rcv_fin, true);
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | RCV_SHUTDOWN);
	}
	if (skb->len) {
		np->counters.bytes_received += skb->len;
		WRITE_ONCE(np->rcv_bytes, np->rcv_bytes + skb->len);
		WRITE_ONCE(np->rcv_msgs, np->rcv_msgs + ndp_rx_cb(skb)->eom);
		np->rcv_mid = !ndp_rx_cb(skb)->eom;
		__skb_queue_tail(&sk->sk_receive_queue, skb);
		ndp_early_join(np);
		return;
	}
	consume_skb(skb);
}

/**
 * ndp_conn_purge_ooo - free the packets that have arrived beyond a gap
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_conn_purge_ooo(struct ndp_sock *np)
{
	struct rb_node *node;

	while ((node = rb_first(&np->ooo))) {
		struct sk_buff *skb = rb_to_skb(node);

		rb_erase(node, &np->ooo);
		ndp_rmem_uncharge(np, skb->truesize);
		kfree_skb_reason(skb, SKB_DROP_REASON_SOCKET_CLOSE);
	}
	np->ooo_len = 0;
	ndp_early_forget(np);
}

/**
 * ndp_conn_purge_read - free the packets that the application has not read
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_conn_purge_read(struct ndp_sock *np)
{
	struct sk_buff *skb;

	skb_queue_splice_tail_init(&np->early, &ndp_to_sk(np)->sk_receive_queue);
	np->early_bytes = 0;
	while ((skb = __skb_dequeue(&ndp_to_sk(np)->sk_receive_queue))) {
		ndp_rmem_uncharge(np, skb->truesize);
		kfree_skb_reason(skb, SKB_DROP_REASON_SOCKET_CLOSE);
	}
	np->rcv_msgs = 0;
}

/* A FIN ends the stream: packets with a PSN beyond it are discarded. */
static void ndp_rcv_end(struct ndp_sock *np)
{
	struct sock *sk = ndp_to_sk(np);

	ndp_conn_purge_ooo(np);
	np->rcv_max = np->rcv_nxt - 1;
	np->rcv_last = true;
	sk->sk_state_change(sk);
	/* As TCP does: SIGIO, without POLL_HUP if this end can still send. */
	sk_wake_async(sk, SOCK_WAKE_WAITD, sk->sk_shutdown & SEND_SHUTDOWN ? POLL_HUP : POLL_IN);
}

/**
 * ndp_rcv_queue - queue a whole packet, and those that it makes contiguous
 * @np:		connection
 * @skb:	packet, stripped of its headers; consumed
 *
 * Context: np->lock held.
 */
void ndp_rcv_queue(struct ndp_sock *np, struct sk_buff *skb)
{
	/* The reader was woken already; the tasklet wakes it again at the end of this softirq. */
	bool later = test_bit(0, &np->tasklet_queued) && ndp_readable(np);
	struct sock *sk = ndp_to_sk(np);
	struct rb_node *node;

	if (ndp_rx_cb(skb)->psn == np->rcv_nxt) {
		ndp_rcv_in_order(np, skb);
	} else {
		ndp_ooo_insert(np, skb);
		ndp_early_take(np, skb);
	}
	ndp_early_pass(np);
	while (!np->rcv_fin && (node = rb_first(&np->ooo))) {
		skb = rb_to_skb(node);
		if (ndp_rx_cb(skb)->psn != np->rcv_nxt)
			break;
		rb_erase(node, &np->ooo);
		np->ooo_len--;
		if (!skb->len)
			ndp_rmem_uncharge(np, skb->truesize);
		ndp_rcv_in_order(np, skb);
		ndp_early_pass(np);
	}
	if (np->rcv_fin)
		ndp_rcv_end(np);
	if (later)
		np->wake_later = true;
	else if (ndp_readable(np))
		sk->sk_data_ready(sk);
}
