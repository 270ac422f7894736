// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP send queue: numbered packets and what became of each.
 *
 * A packet is in flight until it is answered, or waits to be sent again: for a pull if
 * it was trimmed, for nothing if it was lost (NDP paper, section 3.2).  All are in a tree by
 * PSN as well, where an answer finds them.
 *
 * Non-goals: when a packet leaves (output.c), what it looks like then (xmit.c).
 */
#include "queue.h"

/* NACKs that a packet's NACK is put before, at most. */
#define NDP_RTX_DISORDER	64

/**
 * ndp_tx_find - the packet of a number
 * @np:		connection
 * @psn:	number
 *
 * Context of this and those below: np->lock held.
 * Return: packet, or NULL if there is none or it was acknowledged.
 */
struct sk_buff *ndp_tx_find(struct ndp_sock *np, u32 psn)
{
	struct rb_node *node = np->txq.rb_node;

	while (node) {
		struct sk_buff *skb = rb_to_skb(node);

		if (ndp_tx_cb(skb)->psn == psn)
			return skb;
		node = psn_before(psn, ndp_tx_cb(skb)->psn) ? node->rb_left :
							      node->rb_right;
	}
	return NULL;
}

/**
 * ndp_tx_insert - add a new packet
 * @np:		connection
 * @skb:	packet; it has the highest PSN of all
 */
void ndp_tx_insert(struct ndp_sock *np, struct sk_buff *skb)
{
	struct rb_node **p = &np->txq.rb_node, *parent = NULL;

	while (*p) {
		parent = *p;
		p = &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, p);
	rb_insert_color(&skb->rbnode, &np->txq);
	np->txq_bytes += skb->len;
}

static bool ndp_tx_upto_last(const struct ndp_sock *np, const struct sk_buff *skb)
{
	return !psn_before(np->snd_last, ndp_tx_cb(skb)->psn);
}

static void ndp_tx_unlink(struct ndp_sock *np, struct sk_buff *skb)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	list_del_init(&cb->list);
	if (cb->state != NDP_TX_FLIGHT) {
		np->rtx_pkts--;
		return;
	}
	np->flight_pkts--;
	np->flight_bytes -= skb->len;
	if (ndp_tx_upto_last(np, skb))
		np->flight_upto_last -= skb->len;
}

/**
 * ndp_tx_to_flight - a packet was sent
 * @np:		connection
 * @skb:	packet, on no list
 */
void ndp_tx_to_flight(struct ndp_sock *np, struct sk_buff *skb)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	cb->state = NDP_TX_FLIGHT;
	list_add_tail(&cb->list, &np->flight);
	np->flight_pkts++;
	np->flight_bytes += skb->len;
	if (ndp_tx_upto_last(np, skb))
		np->flight_upto_last += skb->len;
}

/*
 * The lowest goes first: it is what the receiver misses, and pulls for (grant.c).  NACKs come
 * nearly in order; a peer whose NACKs do not is not sorted for without end.
 */
static struct list_head *ndp_rtx_place(struct ndp_sock *np, u32 psn)
{
	struct list_head *place = np->rtx.prev;
	int i;

	for (i = 0; i < NDP_RTX_DISORDER && place != &np->rtx; i++) {
		if (!psn_before(psn, list_entry(place, struct ndp_tx_cb, list)->psn))
			break;
		place = place->prev;
	}
	return place;
}

/* Queue a packet for retransmission: by a pull if NACKed, without one if lost. */
static void ndp_tx_to_rtx(struct ndp_sock *np, struct sk_buff *skb, bool lost)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	ndp_tx_unlink(np, skb);
	cb->state = lost ? NDP_TX_LOST : NDP_TX_NACKED;
	cb->lost = lost;
	list_add(&cb->list, lost ? np->lost.prev : ndp_rtx_place(np, cb->psn));
	np->rtx_pkts++;
}

/**
 * ndp_tx_nacked - a packet was trimmed: it waits for a pull
 * @np:		connection
 * @skb:	packet
 */
void ndp_tx_nacked(struct ndp_sock *np, struct sk_buff *skb)
{
	ndp_tx_to_rtx(np, skb, false);
}

/**
 * ndp_tx_lost - a packet was lost: it may leave without a pull
 * @np:		connection
 * @skb:	packet
 */
void ndp_tx_lost(struct ndp_sock *np, struct sk_buff *skb)
{
	ndp_tx_to_rtx(np, skb, true);
}

/**
 * ndp_tx_lose - a transport takes a packet for lost
 * @np:		connection
 * @tx_seq:	ndp_sock.tx_seq
 *
 * The one that has been in flight longest, if it left before that.  One that waits in the
 * local qdisc is not lost.  It is offered again; the transport is not told.
 *
 * Return: there was one.
 */
bool ndp_tx_lose(struct ndp_sock *np, u32 tx_seq)
{
	struct sk_buff *skb = ndp_tx_first(&np->flight);
	struct ndp_tx_cb *cb;

	if (!skb)
		return false;
	cb = ndp_tx_cb(skb);
	if ((s32)(cb->tx_seq - tx_seq) >= 0 || cb->local_drop ||
	    ndp_tx_still_local(np, cb))
		return false;
	ndp_path_suspect(np, cb);
	ndp_tx_lost(np, skb);
	return true;
}
EXPORT_SYMBOL_GPL(ndp_tx_lose);

/**
 * ndp_tx_all_lost - send again, without a pull, by nobody's fault
 * @np:		connection
 * @list:	its flight or rtx
 * @refused:	of that, only what the peer wanted a cookie for; else all
 */
void ndp_tx_all_lost(struct ndp_sock *np, struct list_head *list, bool refused)
{
	struct ndp_tx_cb *cb, *next;

	list_for_each_entry_safe(cb, next, list, list)
		if (cb->refused || !refused)
			ndp_tx_lost(np, container_of((void *)cb, struct sk_buff, cb));
}

/**
 * ndp_tx_done - a packet needs no further care
 * @np:		connection
 * @skb:	numbered packet, freed
 */
void ndp_tx_done(struct ndp_sock *np, struct sk_buff *skb)
{
	struct rb_node *next = rb_next(&skb->rbnode);

	ndp_tx_unlink(np, skb);
	if (ndp_tx_cb(skb)->psn == np->snd_una)
		np->snd_una = next ? ndp_tx_cb(rb_to_skb(next))->psn : np->snd_nxt;
	rb_erase(&skb->rbnode, &np->txq);
	np->txq_bytes -= skb->len;
	ndp_wmem_uncharge(np, skb);
	consume_skb(skb);
}

/**
 * ndp_rtx_first - the NACKed packet to be sent first
 * @np:		connection
 *
 * Return: the lowest missing one, else the lowest of those that wait, or NULL.
 */
struct sk_buff *ndp_rtx_first(const struct ndp_sock *np)
{
	struct rb_node *node;

	if (list_empty(&np->rtx))
		return NULL;
	node = rb_first(&np->txq);
	if (ndp_tx_cb(rb_to_skb(node))->state == NDP_TX_NACKED)
		return rb_to_skb(node);
	return ndp_tx_first(&np->rtx);
}
EXPORT_SYMBOL_GPL(ndp_rtx_first);

/**
 * ndp_rcv_window - an answer tells of the peer's room
 * @np:		connection
 * @nh:		its header
 * @newer:	by how much the transport's own counter in it is newer than what came
 *		before
 *
 * Answers overtake one another.  The newest has the highest counter, and of those the
 * highest PSN, of what was sent.
 */
void ndp_rcv_window(struct ndp_sock *np, const struct ndphdr *nh, s32 newer)
{
	u32 psn = ntohl(nh->psn);

	if (newer < 0 || (!newer && psn_before(psn, np->window_psn)) ||
	    psn_before(np->snd_nxt, psn))
		return;
	np->window_psn = psn;
	np->snd_window = ntohl(nh->window);
}
