// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP messages that overtake others (MP-RDMA, NSDI 2018, sections 3.3.1 and 3.4).
 *
 * With NDP_UNORDERED a message is read as soon as all of its packets have arrived, even if
 * packets before it are missing.  Its first packet is marked with NDP_F_BOM, its last with
 * NDP_F_EOM.  A synchronised message (NDP_F_SYNC) waits in the tree until all before it have
 * arrived, as every message does without the option.
 *
 * A bit for each packet of a message that has overtaken others records that the packet has
 * arrived, until the lowest missing PSN is beyond it.  The receive queue holds whole messages,
 * and after them perhaps the beginning of one whose end is missing: messages that have overtaken
 * that one wait in ndp_sock.early until its end is queued, so that the packets of a message stay
 * together.  A reader that finds no whole message in the receive queue moves one from
 * ndp_sock.early to the head of that queue.  A synchronised message is behind all earlier ones
 * in the receive queue as well: those in ndp_sock.early join the queue before it.
 *
 * Memory: a message that has overtaken others is charged like all received data, and released
 * once it is read, though a packet before it is still missing.  The bitmap, 512 bytes, is
 * allocated for the first such message; without memory for it messages stay in order.
 *
 * Non-goals: messages of more than NDP_UNORDERED_MAX packets, for which each packet beyond a gap
 * would have to be looked at again and again.
 */
#include <linux/bitmap.h>
#include "queue.h"

/**
 * ndp_early_has - has a packet arrived as part of a message that has overtaken others?
 * @np:		connection
 * @psn:	packet, not below the lowest missing one
 *
 * Context of this and those below: np->lock held.
 */
bool ndp_early_has(const struct ndp_sock *np, u32 psn)
{
	return np->early_map && psn - np->rcv_nxt < NDP_MAX_WINDOW &&
	       test_bit(psn % NDP_MAX_WINDOW, np->early_map);
}

/* The packet next to @skb if it can be of the same message: it must have payload and adjoin it. */
static struct sk_buff *ndp_early_neighbour(struct sk_buff *skb, struct rb_node *node, int step)
{
	struct sk_buff *next = node ? rb_to_skb(node) : NULL;

	if (!next || !next->len || ndp_rx_cb(next)->psn != ndp_rx_cb(skb)->psn + step)
		return NULL;
	return next;
}

/*
 * Number of packets of the message that @skb, a packet beyond a gap, belongs to, if all have
 * arrived.  Searches towards the end first, which is one step for packets that arrive in order.
 * Return: the number, with the first packet in *@first; 0 if the message is incomplete.
 */
static int ndp_early_whole(struct sk_buff *skb, struct sk_buff **first)
{
	struct sk_buff *at = skb;
	int n = 1;

	while (at && !ndp_rx_cb(at)->eom && n++ < NDP_UNORDERED_MAX)
		at = ndp_early_neighbour(at, rb_next(&at->rbnode), 1);
	if (!at || !ndp_rx_cb(at)->eom)
		return 0;
	at = skb;
	while (at && !ndp_rx_cb(at)->bom && n++ < NDP_UNORDERED_MAX)
		at = ndp_early_neighbour(at, rb_prev(&at->rbnode), -1);
	if (!at || !ndp_rx_cb(at)->bom)
		return 0;
	*first = at;
	return n;
}

/**
 * ndp_early_take - a packet beyond a gap was queued: let its message overtake if it is complete
 * @np:		connection
 * @skb:	packet
 */
void ndp_early_take(struct ndp_sock *np, struct sk_buff *skb)
{
	struct sk_buff *first;
	int n;

	if (!READ_ONCE(np->unordered) || !skb->len)
		return;
	n = ndp_early_whole(skb, &first);
	if (!n || ndp_rx_cb(first)->sync)
		return;
	if (!np->early_map)
		np->early_map = bitmap_zalloc(NDP_MAX_WINDOW, GFP_ATOMIC | __GFP_NOWARN);
	if (!np->early_map)
		return;
	for (skb = first; n--; skb = first) {
		struct rb_node *next = rb_next(&skb->rbnode);

		set_bit(ndp_rx_cb(skb)->psn % NDP_MAX_WINDOW, np->early_map);
		rb_erase(&skb->rbnode, &np->ooo);
		__skb_queue_tail(&np->early, skb);
		np->early_bytes += skb->len;
		np->counters.bytes_received += skb->len;
		first = next ? rb_to_skb(next) : NULL;
	}
	ndp_early_join(np);
}

/**
 * ndp_early_pass - advance the lowest missing PSN over packets that have overtaken
 * @np:		connection
 */
void ndp_early_pass(struct ndp_sock *np)
{
	if (!np->early_map || np->rcv_fin)
		return;
	while (test_and_clear_bit(np->rcv_nxt % NDP_MAX_WINDOW, np->early_map)) {
		np->rcv_nxt++;
		np->ooo_len--;
	}
}

/* Account for a packet that moves from np->early to the receive queue. */
static void ndp_early_count(struct ndp_sock *np, const struct sk_buff *skb)
{
	np->early_bytes -= skb->len;
	WRITE_ONCE(np->rcv_bytes, np->rcv_bytes + skb->len);
	WRITE_ONCE(np->rcv_msgs, np->rcv_msgs + ndp_rx_cb(skb)->eom);
}

/**
 * ndp_early_join - move np->early to the receive queue, unless it ends within a message
 * @np:		connection
 */
void ndp_early_join(struct ndp_sock *np)
{
	struct sk_buff *skb;

	if (np->rcv_mid)
		return;
	while ((skb = __skb_dequeue(&np->early))) {
		ndp_early_count(np, skb);
		__skb_queue_tail(&ndp_to_sk(np)->sk_receive_queue, skb);
	}
}

/**
 * ndp_early_fetch - move a message that has overtaken the first one to the queue's head
 * @np:		connection
 *
 * For a reader that finds no whole message; not once a part of the first one was read.
 *
 * Context: lock_sock held, np->lock not held.
 */
void ndp_early_fetch(struct ndp_sock *np)
{
	struct sk_buff_head list;
	struct sk_buff *skb;

	if (np->rcv_split || skb_queue_empty_lockless(&np->early))
		return;
	__skb_queue_head_init(&list);
	spin_lock_bh(&np->lock);
	if (!np->rcv_msgs) {
		do {
			skb = __skb_dequeue(&np->early);
			if (!skb)
				break;
			ndp_early_count(np, skb);
			__skb_queue_tail(&list, skb);
		} while (!ndp_rx_cb(skb)->eom);
		skb_queue_splice(&list, &ndp_to_sk(np)->sk_receive_queue);
	}
	spin_unlock_bh(&np->lock);
}

/**
 * ndp_early_forget - forget which packets have overtaken others
 * @np:		connection that receives nothing more
 */
void ndp_early_forget(struct ndp_sock *np)
{
	if (np->early_map)
		bitmap_zero(np->early_map, NDP_MAX_WINDOW);
}
