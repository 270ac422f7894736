// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP messages that overtake others (MP-RDMA, NSDI 2018, sections 3.3.1 and 3.4).
 *
 * With NDP_UNORDERED a message is read as soon as all of its packets are there, though some
 * before it may be missing.  Its first packet says so (NDP_F_BOM), as the last does
 * (NDP_F_EOM).  One that is for behind all before it (NDP_F_SYNC) waits in the tree until
 * they are there, as all do without the option.
 *
 * A bit for each packet of such a message remembers that it has arrived, until the lowest
 * missing one is beyond it.  The receive queue has whole messages, and then perhaps the
 * beginning of one, whose end is missing: what has overtaken it waits behind its end
 * (ndp_sock.early), so that the packets of a message stay together.  A reader who finds no
 * whole message in the queue fetches one from there to its head.  So a message for behind all
 * others is behind them in the queue as well: what waits joins the queue before it.
 *
 * Memory: what has overtaken is charged as all that was received, and what was read is
 * free, though a packet before it is still missing.  The map, 512 bytes, is made for
 * the first such message; without memory for it messages stay in order.
 *
 * Non-goals: messages of more than NDP_UNORDERED_MAX packets, for which each packet beyond a
 * gap would have to be looked at again and again.
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

/* Can a packet of a message stand beside @skb in it?  One without payload cannot. */
static struct sk_buff *ndp_early_neighbour(struct sk_buff *skb, struct rb_node *node, int step)
{
	struct sk_buff *next = node ? rb_to_skb(node) : NULL;

	if (!next || !next->len || ndp_rx_cb(next)->psn != ndp_rx_cb(skb)->psn + step)
		return NULL;
	return next;
}

/*
 * How many packets has the message that a packet beyond a gap belongs to, if it is whole?
 * Towards its end first, which for what comes in order is one look.
 * Return: that, *@first its first; or 0.
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
 * ndp_early_take - a packet was put beyond a gap: may its message be read?
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
 * ndp_early_pass - the lowest missing packet is another: is it beyond what has overtaken?
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

/* A packet goes to the receive queue. */
static void ndp_early_count(struct ndp_sock *np, const struct sk_buff *skb)
{
	np->early_bytes -= skb->len;
	WRITE_ONCE(np->rcv_bytes, np->rcv_bytes + skb->len);
	WRITE_ONCE(np->rcv_msgs, np->rcv_msgs + ndp_rx_cb(skb)->eom);
}

/**
 * ndp_early_join - what has overtaken joins the receive queue, unless a message ends there yet
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
 * ndp_early_fetch - a reader wants a message: is there one that has overtaken the first?
 * @np:		connection
 *
 * Not once a part of the first was read.
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
 * ndp_early_forget - no message has overtaken others
 * @np:		connection, of which nothing more is received
 */
void ndp_early_forget(struct ndp_sock *np)
{
	if (np->early_map)
		bitmap_zero(np->early_map, NDP_MAX_WINDOW);
}
