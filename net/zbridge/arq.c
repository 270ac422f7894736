// SPDX-License-Identifier: GPL-2.0
/*
 * zbridge: sequence numbers, acknowledgment and retransmission of frames.
 *
 * D. Crisan, "Optimized networking for virtual machines ...", ETH Zurich 2014, Algorithm 5.3
 * (section 5.3.4).
 *
 *	        pending --(window)--> unacked --- DATA ---> kept --(in order)--> switch
 *	                                 ^                   |
 *	                                 '-- ACK, NACK ------'
 *
 * Sender.  A copy of each frame is kept until the frame is acknowledged, at most BUF copies;
 * further frames wait (pending).  Frames are acknowledged only on request: by each P-th frame, by
 * the one that fills the buffer, and by an ASK when nothing was sent for a while (flow.c).  So the
 * reverse path carries next to nothing.  A copy shares the frame's memory with the packet that is
 * transmitted (as TCP's does): the packet's headers are in front of the frame, in headroom that is
 * not shared.
 *
 * Receiver.  Frames are handed to the switch in order.  An early frame is kept.  Where packets of
 * a flow do not overtake each other, it shows at once that the frames before it are lost, and one
 * NACK reports them.  Where packets do overtake each other (spread), or when that NACK is lost,
 * the next ASK finds the loss.  Frames that the switch has no room for are kept as well, and are
 * not acknowledged: the sender's buffer fills, and the sender stops.
 *
 * A frame is not retransmitted within the shortest round-trip time seen so far: no answer can
 * refer to its last transmission yet.
 *
 * Non-goal: congestion control.  The fabric is lossless, and credits set the rate (fabric.c).
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include "zbridge.h"

/*
 * P, by default: less than the frames that a vNIC gives credit for.  Otherwise, when a NACK is
 * lost and no credit returns from behind the gap, only a timeout would find the loss (the thesis:
 * P is 1024, with 512 credits).
 */
#define ZBR_ASK_EACH	64U

/*
 * Limits of the NACKs in answer to one ASK, and of the frames examined for one ASK or NACK; the
 * next ASK finds what else is missing.
 */
#define ZBR_NACKS	16
#define ZBR_LOOKS	1024

/*
 * Early frames are charged to an account of their own, or a peer could stall this host's senders.
 */
static void zbr_hold(struct sk_buff *skb, atomic_t *memory)
{
	zbr_cb(skb)->size = skb->truesize;
	atomic_add(skb->truesize, memory);
}

static void zbr_release(const struct sk_buff *skb, atomic_t *memory)
{
	atomic_sub(zbr_cb(skb)->size, memory);
}

static void zbr_init_msg(const struct zbr_flow *flow, struct zbr_msg *msg, enum zbr_type type)
{
	*msg = (struct zbr_msg) {
		.type = type, .prio = flow->key.prio, .to = flow->peer, .from = flow->id,
		.seq = flow->next, .ack = flow->expected,
	};
	ether_addr_copy(msg->dst, flow->key.there);
	ether_addr_copy(msg->src, flow->key.here);
}

static u32 zbr_ask_each(const struct zbr_flow *flow)
{
	return READ_ONCE(flow->zb->cfg.ask) ?: min(flow->window / 2, ZBR_ASK_EACH);
}

/* Sender */

static void zbr_transmit(struct zbr_flow *flow, struct sk_buff *skb, bool ask)
{
	struct zbr_cb *cb = zbr_cb(skb);
	struct zbr_msg msg;
	struct sk_buff *copy;

	cb->sent = ktime_get_ns();
	flow->sent_at = jiffies;
	if (ask) {
		flow->since_ask = 0;
		if (!flow->timed_at) {
			flow->timed = cb->seq;
			flow->timed_at = cb->sent;
		}
	}
	zbr_count(flow->zb, ZBRIDGE_STAT_SENT, 1);
	/* Without memory for the clone the frame counts as lost, and is retransmitted later. */
	copy = skb_clone(skb, GFP_ATOMIC);
	if (!copy)
		return;
	zbr_init_msg(flow, &msg, ZBR_DATA);
	msg.seq = cb->seq;
	msg.flags = ask ? ZBR_F_ASK : 0;
	memset(copy->cb, 0, sizeof(copy->cb));
	zbr_udp_send(flow, copy, &msg, cb->crc);
}

static void zbr_transmit_new(struct zbr_flow *flow, struct sk_buff *skb)
{
	bool ask;

	if (skb_queue_empty(&flow->unacked)) {
		flow->heard_at = jiffies;
		zbr_flow_busy(flow);
	}
	zbr_cb(skb)->seq = flow->next++;
	zbr_cb(skb)->crc = zbr_crc(skb, 0);
	__skb_queue_tail(&flow->unacked, skb);
	flow->since_ask++;
	ask = flow->since_ask >= zbr_ask_each(flow) ||
	      skb_queue_len(&flow->unacked) >= flow->window;
	zbr_transmit(flow, skb, ask);
}

static bool zbr_may_send(const struct zbr_flow *flow)
{
	return flow->state == ZBR_OPEN && skb_queue_len(&flow->unacked) < flow->window;
}

/* Detach a frame that will be kept from its sender's socket, and give it headroom of its own. */
static bool zbr_own(struct sk_buff *skb)
{
	int lacks = max_t(int, 0, ZBR_HEADROOM - skb_headroom(skb));

	/* Nor may anyone else write to its memory: the CRC is computed once. */
	if (skb_orphan_frags_rx(skb, GFP_ATOMIC) ||
	    (skb_has_shared_frag(skb) && __skb_linearize(skb)))
		return false;
	skb_scrub_packet(skb, true);
	skb_orphan(skb);
	if ((lacks || skb_cloned(skb)) && pskb_expand_head(skb, lacks, 0, GFP_ATOMIC))
		return false;
	__skb_header_release(skb);
	return true;
}

/**
 * zbr_arq_used() - record that a flow has carried a frame, of either direction
 * @flow:	flow
 */
void zbr_arq_used(struct zbr_flow *flow)
{
	flow->used_at = jiffies;
	flow->check = ZBR_UNCHECKED;
}

/**
 * zbr_arq_send() - take a frame to be sent
 * @flow:	flow
 * @skb:	frame, not a GSO packet, its checksums filled in; it is consumed
 *
 * Context: the flow's lock, also for all functions below.
 */
void zbr_arq_send(struct zbr_flow *flow, struct sk_buff *skb)
{
	if (!zbr_own(skb)) {
		zbr_drop(flow->zb, skb, ZBRIDGE_STAT_DROP_NOMEM);
		return;
	}
	zbr_count(flow->zb, ZBRIDGE_STAT_TAKEN, 1);
	zbr_arq_used(flow);
	zbr_hold(skb, &flow->zb->memory);
	if (zbr_may_send(flow) && skb_queue_empty(&flow->pending)) {
		zbr_transmit_new(flow, skb);
		return;
	}
	__skb_queue_tail(&flow->pending, skb);
	atomic_add(skb->len, &flow->zb->room[flow->key.prio].pending);
}

/**
 * zbr_arq_go_on() - send pending frames, as far as the buffer has room
 * @flow:	flow
 */
void zbr_arq_go_on(struct zbr_flow *flow)
{
	struct sk_buff *skb;

	while (zbr_may_send(flow) && (skb = __skb_dequeue(&flow->pending))) {
		atomic_sub(skb->len, &flow->zb->room[flow->key.prio].pending);
		zbr_transmit_new(flow, skb);
	}
	zbr_reopen(flow->zb);
}

static void zbr_time(struct zbr_flow *flow, u32 ack)
{
	u64 rtt;

	if (!flow->timed_at || !zbr_before(flow->timed, ack))
		return;
	rtt = ktime_get_ns() - flow->timed_at;
	flow->min_rtt = flow->min_rtt ? min(flow->min_rtt, rtt) : rtt;
	flow->timed_at = 0;
}

/**
 * zbr_arq_acked() - the other end acknowledges all frames before a number
 * @flow:	flow
 * @ack:	number
 *
 * Return: false if frames before @ack were never sent.
 */
bool zbr_arq_acked(struct zbr_flow *flow, u32 ack)
{
	struct sk_buff *skb;

	if (ack - flow->una > flow->next - flow->una)
		return zbr_before(ack, flow->una);
	if (ack == flow->una)
		return true;
	zbr_time(flow, ack);
	/* The timer may be set to a longer timeout. */
	if (flow->rto != ZBR_RTO) {
		flow->rto = ZBR_RTO;
		zbr_flow_busy(flow);
	}
	for (; flow->una != ack; flow->una++) {
		skb = __skb_dequeue(&flow->unacked);
		zbr_release(skb, &flow->zb->memory);
		zbr_count(flow->zb, ZBRIDGE_STAT_ACKED, 1);
		consume_skb(skb);
	}
	zbr_arq_go_on(flow);
	return true;
}

/**
 * zbr_arq_nacked() - retransmit frames that the other end reports missing
 * @flow:	flow
 * @seq:	number of the first missing frame
 * @count:	number of missing frames
 *
 * The last frame retransmitted asks for an answer.  Frames too far from the first unacknowledged
 * one are not reached this time; their turn comes as earlier ones are acknowledged.
 */
void zbr_arq_nacked(struct zbr_flow *flow, u32 seq, u32 count)
{
	u64 now = ktime_get_ns(), rtt = flow->min_rtt ?: jiffies_to_nsecs(ZBR_RTO);
	struct sk_buff *skb, *last = NULL;
	u32 end = seq + count, looked = 0;

	/* Frames that were never sent cannot be missing. */
	if (end - flow->una > flow->next - flow->una || count > flow->window)
		return;
	skb_queue_walk(&flow->unacked, skb) {
		if (!zbr_before(zbr_cb(skb)->seq, end) || zbr_nic_is_full(flow) ||
		    looked++ == ZBR_LOOKS)
			break;
		if (zbr_before(zbr_cb(skb)->seq, seq) || now - zbr_cb(skb)->sent < rtt)
			continue;
		if (last)
			zbr_transmit(flow, last, false);
		last = skb;
		zbr_count(flow->zb, ZBRIDGE_STAT_RESENT, 1);
		/* The answer may be to either transmission, so it gives no RTT sample. */
		if (zbr_cb(skb)->seq == flow->timed)
			flow->timed_at = 0;
	}
	if (last)
		zbr_transmit(flow, last, true);
}

/**
 * zbr_arq_tell() - send a packet without a frame
 * @flow:	flow
 * @type:	enum zbr_type
 * @seq:	as in struct zbr_hdr
 * @count:	as in struct zbr_ctl
 */
void zbr_arq_tell(struct zbr_flow *flow, enum zbr_type type, u32 seq, u32 count)
{
	static const enum zbridge_stat stats[ZBR_TYPES] = {
		[ZBR_ACK]	= ZBRIDGE_STAT_ACKS_OUT,
		[ZBR_NACK]	= ZBRIDGE_STAT_NACKS_OUT,
		[ZBR_ASK]	= ZBRIDGE_STAT_ASKS_OUT,
	};
	struct zbr_msg msg;

	if (stats[type])
		zbr_count(flow->zb, stats[type], 1);
	zbr_init_msg(flow, &msg, type);
	msg.seq = seq;
	msg.count = count;
	if ((type == ZBR_SYN || type == ZBR_SYNACK) && READ_ONCE(flow->zb->cfg.spread))
		msg.flags = ZBR_F_SPREAD;
	zbr_udp_tell(flow, &msg);
}

/**
 * zbr_arq_ask() - ask which frames have arrived
 * @flow:	flow
 */
void zbr_arq_ask(struct zbr_flow *flow)
{
	flow->sent_at = jiffies;
	zbr_arq_tell(flow, ZBR_ASK, flow->next, 0);
}

/* Receiver */

/**
 * zbr_arq_ack() - acknowledge the frames that were delivered
 * @flow:	flow
 */
void zbr_arq_ack(struct zbr_flow *flow)
{
	zbr_arq_tell(flow, ZBR_ACK, flow->next, 0);
}

static void zbr_tell_nack(struct zbr_flow *flow, u32 from, u32 to)
{
	zbr_arq_tell(flow, ZBR_NACK, from, to - from);
}

static void zbr_seen(struct zbr_flow *flow, u32 top)
{
	if (zbr_before(flow->top, top))
		flow->top = top;
}

static bool zbr_lacks_memory(const struct zbr_flow *flow)
{
	return atomic_read(&flow->zb->early) > READ_ONCE(flow->zb->cfg.memory);
}

/**
 * zbr_arq_asked() - answer an ASK by NACKs of missing frames, or an ACK
 * @flow:	flow
 * @end:	the question is about frames before this number
 *
 * Where neither the switch nor memory has room the missing frames would be dropped again: the
 * answer is an ACK, and a later ASK of the sender finds what is missing.
 */
void zbr_arq_asked(struct zbr_flow *flow, u32 end)
{
	unsigned int nacks = 0, looked = 0;
	u32 next = flow->expected;
	struct sk_buff *skb;

	if (end - flow->expected > flow->keep || (zbr_lacks_memory(flow) && zbr_blocked(flow)))
		end = flow->expected;
	for (skb = skb_rb_first(&flow->kept); skb; skb = skb_rb_next(skb)) {
		if (!zbr_before(next, end) || nacks == ZBR_NACKS)
			break;
		/* Frames that only wait for the switch need no NACK. */
		if (looked++ == ZBR_LOOKS)
			goto told;
		if (zbr_before(next, zbr_cb(skb)->seq)) {
			zbr_tell_nack(flow, next, zbr_cb(skb)->seq);
			nacks++;
		}
		next = zbr_cb(skb)->seq + 1;
	}
	if (zbr_before(next, end) && nacks < ZBR_NACKS) {
		zbr_tell_nack(flow, next, end);
		nacks++;
	}
	zbr_seen(flow, end);
told:
	if (nacks)
		return;
	/* Frames that wait for the switch are acknowledged when it has taken them. */
	flow->owed = !RB_EMPTY_ROOT(&flow->kept);
	zbr_arq_ack(flow);
}

/* rbnode shares memory with next, prev and dev, so these are set again. */
static void zbr_unkeep(struct zbr_flow *flow, struct sk_buff *skb)
{
	rb_erase(&skb->rbnode, &flow->kept);
	skb->next = NULL;
	skb->prev = NULL;
	skb->dev = flow->zb->dev;
	zbr_release(skb, &flow->zb->early);
}

/**
 * zbr_arq_deliver() - hand frames that are in order to the switch, as far as it has room
 * @flow:	flow
 */
void zbr_arq_deliver(struct zbr_flow *flow)
{
	struct sk_buff *skb;

	while ((skb = skb_rb_first(&flow->kept)) && zbr_cb(skb)->seq == flow->expected) {
		if (zbr_blocked(flow))
			return;
		zbr_unkeep(flow, skb);
		flow->expected++;
		zbr_deliver(flow, skb);
	}
	zbr_seen(flow, flow->expected);
	if (flow->owed) {
		flow->owed = false;
		zbr_arq_ack(flow);
	}
}

/*
 * Keep a frame, sorted by number; @blocked: the switch has no room for it.
 * Return: ZBRIDGE_STAT_PAD, or why it was not kept.
 */
static enum zbridge_stat zbr_keep(struct zbr_flow *flow, u32 seq, struct sk_buff *skb,
				  bool blocked)
{
	struct rb_node **link = &flow->kept.rb_node, *parent = NULL;
	u32 other;

	while (*link) {
		parent = *link;
		other = zbr_cb(rb_to_skb(parent))->seq;
		if (seq == other)
			return ZBRIDGE_STAT_DUPLICATE;
		link = zbr_before(seq, other) ? &parent->rb_left : &parent->rb_right;
	}
	/* A frame that the switch takes now is kept beyond the limit, and frees those behind it. */
	if ((blocked || seq != flow->expected) && zbr_lacks_memory(flow))
		return ZBRIDGE_STAT_DROP_WINDOW;
	skb_orphan(skb);
	zbr_hold(skb, &flow->zb->early);
	zbr_cb(skb)->seq = seq;
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color(&skb->rbnode, &flow->kept);
	return ZBRIDGE_STAT_PAD;
}

/* Copy the CE mark of the outer packet to the frame, if the frame is ECN-capable. */
static void zbr_mark(struct sk_buff *skb)
{
	__be16 proto = ((const struct ethhdr *)skb->data)->h_proto;
	unsigned int at = ETH_HLEN, len;

	if (eth_type_vlan(proto)) {
		if (!pskb_may_pull(skb, VLAN_ETH_HLEN))
			return;
		proto = ((const struct vlan_ethhdr *)skb->data)->h_vlan_encapsulated_proto;
		at = VLAN_ETH_HLEN;
	}
	len = proto == htons(ETH_P_IP) ? sizeof(struct iphdr) :
	      proto == htons(ETH_P_IPV6) ? sizeof(struct ipv6hdr) : 0;
	if (!len || !pskb_may_pull(skb, at + len) || skb_ensure_writable(skb, at + len))
		return;
	skb_set_network_header(skb, at);
	if (proto == htons(ETH_P_IP))
		IP_ECN_set_ce(ip_hdr(skb));
	else
		IP6_ECN_set_ce(skb, ipv6_hdr(skb));
}

static enum zbridge_stat zbr_take(struct zbr_flow *flow, const struct zbr_msg *msg,
				  struct sk_buff *skb)
{
	u32 ahead = msg->seq - flow->expected;
	enum zbridge_stat reason;
	bool blocked;

	if (zbr_before(msg->seq, flow->expected))
		return ZBRIDGE_STAT_DUPLICATE;
	if (ahead >= flow->keep)
		return ZBRIDGE_STAT_DROP_WINDOW;
	if (msg->ce)
		zbr_mark(skb);
	blocked = zbr_blocked(flow);
	if (!ahead && RB_EMPTY_ROOT(&flow->kept) && !blocked) {
		flow->expected++;
		zbr_seen(flow, flow->expected);
		zbr_deliver(flow, skb);
		return ZBRIDGE_STAT_PAD;
	}
	reason = zbr_keep(flow, msg->seq, skb, blocked);
	if (reason)
		return reason;
	if (ahead && !blocked)
		zbr_count(flow->zb, ZBRIDGE_STAT_EARLY, 1);
	if (zbr_before(flow->top, msg->seq) && !flow->spread)
		zbr_tell_nack(flow, flow->top, msg->seq);
	zbr_seen(flow, msg->seq + 1);
	zbr_arq_deliver(flow);
	return ZBRIDGE_STAT_PAD;
}

/**
 * zbr_arq_data() - handle a DATA packet
 * @flow:	flow
 * @msg:	header
 * @skb:	frame, its data at the MAC header; it is consumed
 */
void zbr_arq_data(struct zbr_flow *flow, const struct zbr_msg *msg, struct sk_buff *skb)
{
	enum zbridge_stat reason;

	zbr_count(flow->zb, ZBRIDGE_STAT_RECEIVED, 1);
	zbr_arq_used(flow);
	reason = zbr_take(flow, msg, skb);
	if (reason)
		zbr_drop(flow->zb, skb, reason);
	if (!(msg->flags & ZBR_F_ASK))
		return;
	zbr_count(flow->zb, ZBRIDGE_STAT_ASKS_IN, 1);
	zbr_arq_asked(flow, msg->seq + 1);
}

/* Common to sender and receiver */

/**
 * zbr_arq_begin() - set the numbers of a new flow
 * @flow:	flow without frames except pending ones
 */
void zbr_arq_begin(struct zbr_flow *flow)
{
	flow->una = get_random_u32();
	flow->next = flow->una;
	flow->since_ask = 0;
	flow->timed_at = 0;
	flow->window = READ_ONCE(flow->zb->buffer);
	flow->keep = flow->window;
}

/**
 * zbr_arq_expect() - set the numbers that the other end announces for its frames
 * @flow:	flow
 * @msg:	SYN or SYNACK of the other end
 */
void zbr_arq_expect(struct zbr_flow *flow, const struct zbr_msg *msg)
{
	flow->expected = msg->seq;
	flow->top = msg->seq;
	flow->spread = msg->flags & ZBR_F_SPREAD;
	flow->window = clamp(msg->count, 1U, flow->keep);
}

/**
 * zbr_arq_purge() - drop the frames of a flow
 * @flow:	flow
 * @queue:	zbr_flow.unacked or zbr_flow.pending
 * @reason:	counter of these drops
 */
void zbr_arq_purge(struct zbr_flow *flow, struct sk_buff_head *queue, enum zbridge_stat reason)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue))) {
		if (queue == &flow->pending)
			atomic_sub(skb->len, &flow->zb->room[flow->key.prio].pending);
		zbr_release(skb, &flow->zb->memory);
		zbr_drop(flow->zb, skb, reason);
	}
}

/**
 * zbr_arq_purge_kept() - drop the early frames of a flow
 * @flow:	flow
 */
void zbr_arq_purge_kept(struct zbr_flow *flow)
{
	struct sk_buff *skb;

	while ((skb = skb_rb_first(&flow->kept))) {
		zbr_unkeep(flow, skb);
		zbr_drop(flow->zb, skb, ZBRIDGE_STAT_DROP_WINDOW);
	}
}

/**
 * zbr_arq_quiet() - has a flow nothing to do?
 * @flow:	flow
 *
 * Return: true if it has nothing to send, and no frame waits for the switch.  Early frames may be
 * kept: the other end will send the missing ones before them, or the early ones are forged.
 */
bool zbr_arq_quiet(const struct zbr_flow *flow)
{
	struct sk_buff *first = skb_rb_first(&flow->kept);

	return skb_queue_empty(&flow->unacked) && skb_queue_empty(&flow->pending) &&
	       (!first || zbr_cb(first)->seq != flow->expected);
}
