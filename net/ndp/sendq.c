// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP send queue: numbered packets and the state of each.
 *
 * A packet is in flight until it is answered, or waits for its retransmission: by a pull if it
 * was trimmed, without one if it was lost (NDP paper, section 3.2).  All packets are also in a
 * tree sorted by PSN, in which answers look them up.
 *
 * Non-goals: when a packet leaves (output.c), how it is built (xmit.c).
 */
#include "queue.h"

/* NACKed packets that the search for a packet's place looks at, at most. */
#define NDP_RTX_DISORDER	64

/**
 * ndp_tx_find - find a packet by its PSN
 * @np:		connection
 * @psn:	its PSN
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
 * Packets are sorted by PSN, as the lowest is the one that the receiver is missing, and pulls for
 * (grant.c).  NACKs arrive nearly in order; for a peer whose NACKs do not, the search is bounded.
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
 * ndp_tx_lose - a transport declares a packet lost
 * @np:		connection
 * @tx_seq:	only a packet that was sent before this value of ndp_sock.tx_seq
 *
 * The packet that has been in flight longest is declared lost, unless it was sent later or has
 * not left the host.  It is offered for sending again; the transport's @lost is not called.
 *
 * Return: true if there was such a packet.
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
 * ndp_tx_all_lost - resend packets without a pull, and without counting a loss
 * @np:		connection
 * @list:	its flight or rtx
 * @refused:	only packets for which the peer demanded a cookie; else all
 */
void ndp_tx_all_lost(struct ndp_sock *np, struct list_head *list, bool refused)
{
	struct ndp_tx_cb *cb, *next;

	list_for_each_entry_safe(cb, next, list, list)
		if (cb->refused || !refused)
			ndp_tx_lost(np, container_of((void *)cb, struct sk_buff, cb));
}

/**
 * ndp_tx_done - remove a packet from the send queue
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
 * Return: the lowest unacknowledged packet if it is NACKed, else the first NACKed one, or NULL.
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
 * ndp_rcv_window - take the peer's window from an answer
 * @np:		connection
 * @nh:		its header
 * @newer:	by how much the transport's own counter in it is newer than in earlier answers
 *
 * Answers can overtake one another.  The newest has the highest counter, and among equal counters
 * the highest PSN; one that was never sent is ignored.
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
