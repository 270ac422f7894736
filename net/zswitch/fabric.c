// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: credit of vNICs on other hosts.
 *
 * D. Crisan, "Optimized networking for virtual machines ...", ETH Zurich 2014, Algorithms 5.1
 * and 5.2 (section 5.3.3), between two switches.  credit.c is the protocol; this file has its
 * frames, pairs, timers and memory.  Documentation/zfabric.md has the format and the bounds.
 *
 *	vNIC a -- held of (a, b) -- wire ........ wire -- arrive -- fifos of b -- vNIC b
 *		    | ask      ^ hear    control    | asked     | zcr_leave()
 *		    '----------|--------------------' grant <---'
 *			       '--------------------'
 *
 * A wire with the option fabric leads to switches that do the same.  Frames that a port of this
 * machine sends by it to a known address wait for credit of that vNIC, in order, whatever their
 * priority, in a queue for each pair of addresses and VLAN (struct zsw_pair, in the wire's
 * table, under the wire's lock).  So a stalled vNIC anywhere blocks no frames for others.  At
 * the other end each vNIC's port keeps state about the senders on other hosts (struct
 * zsw_origin, under that port's lock), beside the inputs of its own switch: all take turns
 * for the same credit.  A frame that arrives with credit has its room, and pauses no wire.
 *
 * Asking.  An ask is sent when none is outstanding, and when ZSW_ASK_MORE credits more are
 * wanted than the last ask announced; so a burst is asked for in one round trip, by few messages.
 * A stream is granted more than it asks for, by one grant for several frames; a pair that has
 * sent nothing for ZSW_FABRIC_TICK gives its credit back.
 *
 * With the option unasked each pair may send that many credits' worth of frames without an ask
 * in each ZSW_TRANSIT.
 *
 * Unknown senders.  A sender that asks before it has heard from us costs no memory: the number in
 * the HELLO is computed from the pair's addresses (as SYN cookies are), and state is kept only
 * for a sender that returns it.
 *
 * Times.  A frame or message has arrived or is lost ZSW_TRANSIT after it was sent; a receiver
 * that starts is silent for as long.  A sender whose credit has not all been returned repeats its
 * ask at least twice a second; a sender that has not done so for ZSW_LAPSE has vanished, and its
 * credit lapses.
 *
 * Bounds.  ZSW_PAIRS_MAX and ZSW_ORIGINS_MAX; the entry that has been idle longest is evicted.
 * Frames that wait are bounded by each input's share and limit, as in queue.c.
 *
 * Segments.  A GSO packet takes the credits that its segments will take as frames at the receiver.
 * Where the two ends count differently, surplus credit lapses, and a shortfall counts as frames
 * sent without credit.
 *
 * Frames of control leave by the wire's qdisc, in priority 7, from a tasklet, as they are made
 * under locks that nest inside the qdisc's.
 *
 * Non-goals: encryption, and reliable delivery of data, which is a tunnel's task (zbridge).  A
 * wire whose qdisc is not sch_cee sends frames without credit.
 */
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include "fabric.h"

#define ZSW_FABRIC_TICK	msecs_to_jiffies(20)
#define ZSW_ASK_AGAIN	msecs_to_jiffies(500)
#define ZSW_TRANSIT	msecs_to_jiffies(500)
#define ZSW_LAPSE	(3 * HZ)
#define ZSW_FAR_IDLE	(30 * HZ)

#define ZSW_ASK_MORE	16

/* Pairs of a wire (16 vNICs with 1000 peers each take half of them), and of a vNIC */
#define ZSW_PAIRS_MAX	32768
#define ZSW_ORIGINS_MAX	1024

/* Frames of control that may wait for a wire; others are lost, and repeated later. */
#define ZSW_CONTROL_MAX	4096

#define ZSW_CONTROL_PRIO	7

static u32 zsw_fabric_random(void)
{
	return get_random_u32() ?: 1;
}

/* Frames of control */

/**
 * zsw_fabric_is_control() - is a frame the fabric's own?
 * @skb:	frame, its data at the MAC header, without a tag there
 *
 * Return: true if it is, of whatever version.
 */
bool zsw_fabric_is_control(const struct sk_buff *skb)
{
	__be32 magic;

	return unlikely(skb->protocol == htons(ZSW_FABRIC_ETH_P)) &&
	       !skb_copy_bits(skb, ETH_HLEN, &magic, sizeof(magic)) &&
	       magic == htonl(ZSW_FABRIC_MAGIC);
}

/* Return: whether the message is valid. */
static bool zsw_fabric_parse(const struct sk_buff *skb, struct zcr_msg *msg)
{
	struct zsw_fabric_hdr hdr;

	if (skb_copy_bits(skb, ETH_HLEN, &hdr, sizeof(hdr)))
		return false;
	*msg = (struct zcr_msg) {
		.type = hdr.type, .epoch = ntohl(hdr.epoch), .peer = ntohl(hdr.peer),
		.count = ntohl(hdr.count), .past = ntohl(hdr.past),
		.single = ntohs(hdr.flags),
	};
	return hdr.version == ZSW_FABRIC_VERSION && hdr.type <= ZCR_GRANT &&
	       ntohs(hdr.flags) <= (hdr.type == ZCR_ASK ? ZSW_FABRIC_SINGLE : 0) && msg->epoch;
}

/* Send a message to the other end of a pair; without memory it is lost.  Context: any lock. */
static void zsw_fabric_tell(struct zswitch_port *wire, const struct zsw_far_key *key,
			    struct zcr_msg msg)
{
	unsigned int headroom = LL_RESERVED_SPACE(wire->dev);
	struct zsw_fabric_hdr *hdr;
	struct sk_buff *skb;
	struct ethhdr *eth;

	if (skb_queue_len_lockless(&wire->control) >= ZSW_CONTROL_MAX)
		return;
	skb = alloc_skb(headroom + ETH_ZLEN, GFP_ATOMIC);
	if (!skb)
		return;
	skb_reserve(skb, headroom);
	skb_reset_mac_header(skb);
	eth = skb_put_zero(skb, ETH_ZLEN);
	ether_addr_copy(eth->h_dest, key->there);
	ether_addr_copy(eth->h_source, key->here);
	eth->h_proto = htons(ZSW_FABRIC_ETH_P);
	hdr = (struct zsw_fabric_hdr *)(eth + 1);
	*hdr = (struct zsw_fabric_hdr) {
		.magic = htonl(ZSW_FABRIC_MAGIC), .version = ZSW_FABRIC_VERSION, .type = msg.type,
		.epoch = htonl(msg.epoch), .peer = htonl(msg.peer), .count = htonl(msg.count),
		.past = htonl(msg.past), .flags = htons(msg.single ? ZSW_FABRIC_SINGLE : 0),
	};
	skb_set_network_header(skb, ETH_HLEN);
	skb_reset_mac_len(skb);
	skb->dev = wire->dev;
	skb->protocol = eth->h_proto;
	skb->priority = ZSW_CONTROL_PRIO;
	if (key->vid)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q),
				       key->vid | ZSW_CONTROL_PRIO << VLAN_PRIO_SHIFT);
	if (READ_ONCE(wire->zsw->cfg.vlan_filtering))
		zsw_vlan_strip(&wire->vlans, skb, key->vid);
	skb_queue_tail(&wire->control, skb);
	tasklet_schedule(&wire->teller);
}

static void zsw_fabric_send(struct tasklet_struct *t)
{
	struct zswitch_port *wire = from_tasklet(wire, t, teller);
	struct sk_buff *skb;
	int code;

	while ((skb = skb_dequeue(&wire->control))) {
		code = dev_queue_xmit(skb);
		if (!net_xmit_eval(code))
			zsw_count(wire, ZSWITCH_STAT_FABRIC_OUT, 1);
	}
}

/* Ends of pairs */

static struct zsw_pair *zsw_pair_of(struct zsw_far *far)
{
	return container_of(far, struct zsw_pair, far);
}

static struct zsw_origin *zsw_origin_of(struct zsw_far *far)
{
	return container_of(far, struct zsw_origin, far);
}

static struct zsw_far_key zsw_far_key(const u8 *here, const u8 *there, u16 vid)
{
	struct zsw_far_key key = { .vid = vid };

	ether_addr_copy(key.here, here);
	ether_addr_copy(key.there, there);
	return key;
}

/* Without VLAN filtering tags are left alone, but the tag's VLAN belongs to the pair's key. */
static u16 zsw_far_vid(const struct zsw_frame *f)
{
	return f->vid ?: skb_vlan_tag_present(f->skb) ? skb_vlan_tag_get_id(f->skb) : 0;
}

static u32 zsw_far_hash(const struct zsw_far_key *key)
{
	static u32 seed __read_mostly;

	BUILD_BUG_ON(sizeof(*key) != 2 * ETH_ALEN + sizeof(u16));
	get_random_once(&seed, sizeof(seed));
	return jhash(key, sizeof(*key), seed);
}

/* For a sender's end @port is its input; for a receiver's end it is NULL, for any wire. */
static struct zsw_far *zsw_far_find(struct zswitch_port *out, const struct zswitch_port *port,
				    const struct zsw_far_key *key)
{
	struct zsw_far *far;

	hash_for_each_possible(out->far, far, node, zsw_far_hash(key))
		if ((!port || far->port == port) && !memcmp(&far->key, key, sizeof(*key)))
			return far;
	return NULL;
}

static void zsw_far_touch(struct zswitch_port *out, struct zsw_far *far)
{
	far->seen = jiffies;
	list_move_tail(&far->list, &out->busy);
}

static void zsw_pair_purge(struct zswitch_port *out, struct zsw_pair *pair,
			   enum zswitch_stat reason, struct sk_buff_head *freed);

/* Free an end of a pair, of whose frames only those that wait for credit may be left. */
static void zsw_far_free(struct zswitch_port *out, struct zsw_far *far, struct sk_buff_head *freed)
{
	hash_del(&far->node);
	list_del(&far->list);
	WRITE_ONCE(out->num_far, out->num_far - 1);
	if (out->vnic) {
		struct zsw_origin *origin = zsw_origin_of(far);

		zsw_count(out, ZSWITCH_STAT_CREDIT_WITHDRAWN,
			  origin->src.asked - origin->src.granted);
		zsw_count(out, ZSWITCH_STAT_CREDIT_LAPSED, zcr_forget(&origin->src));
		out->lives[zsw_far_hash(&far->key) % ZSW_LIVES]++;
		kfree(origin);
	} else {
		struct zsw_pair *pair = zsw_pair_of(far);

		WARN_ON_ONCE(pair->inside);
		zsw_pair_purge(out, pair, ZSWITCH_STAT_DROP_DOWN, freed);
		zsw_wake(far->port, pair->held.sleepers);
		kfree(pair);
	}
}

/* Is there room for one more pair?  If not, the one that has been idle longest is evicted. */
static bool zsw_far_room(struct zswitch_port *out)
{
	struct zsw_far *far;

	if (out->num_far < (out->vnic ? ZSW_ORIGINS_MAX : ZSW_PAIRS_MAX))
		return true;
	far = list_first_entry_or_null(&out->idle, struct zsw_far, list);
	if (far)
		zsw_far_free(out, far, NULL);
	return far;
}

static void zsw_far_add(struct zswitch_port *out, struct zsw_far *far, struct zswitch_port *port,
			const struct zsw_far_key *key)
{
	struct delayed_work *work = &out->zsw->fabric;

	far->key = *key;
	far->port = port;
	far->seen = jiffies;
	hash_add(out->far, &far->node, zsw_far_hash(key));
	list_add_tail(&far->list, &out->busy);
	WRITE_ONCE(out->num_far, out->num_far + 1);
	if (!delayed_work_pending(work))
		schedule_delayed_work(work, ZSW_FABRIC_TICK);
}

/* Credits of a frame, or of the segments that a GSO packet will be beyond the wire. */
static u32 zsw_far_cost(const struct sk_buff *skb)
{
	/* Ethernet, IPv6, and TCP with the timestamp option */
	unsigned int headers = ETH_HLEN + 40 + 32, size = skb_shinfo(skb)->gso_size;

	if (!skb_is_gso(skb) || size == GSO_BY_FRAGS)
		return zcr_cost(skb->len);
	if (skb_transport_header_was_set(skb) && skb_transport_offset(skb) > ETH_HLEN)
		headers = skb_transport_offset(skb) + 32;
	if (skb->len <= headers)
		return 1;
	return min_t(u32, DIV_ROUND_UP(skb->len - headers, size) * zcr_cost(size + headers),
		     U16_MAX);
}

/* The sender's end */

static void zsw_pair_say(struct zswitch_port *out, struct zsw_pair *pair, unsigned long interval)
{
	pair->said = pair->tx.asked;
	pair->interval = interval;
	pair->ask_at = jiffies + interval;
	zsw_fabric_tell(out, &pair->far.key, zcr_ask(&pair->tx));
}

static struct sk_buff *zsw_pair_after(const struct zsw_pair *pair, const struct sk_buff *skb)
{
	return skb_queue_is_last(&pair->held.frames, skb) ? NULL :
							    skb_queue_next(&pair->held.frames, skb);
}

/* Ask for credit for the frames that wait, by a message if it is time for one. */
static void zsw_pair_ask(struct zswitch_port *out, struct zsw_pair *pair)
{
	struct zcr_sender *tx = &pair->tx;
	u32 asked = tx->asked;

	for (; pair->next; pair->next = zsw_pair_after(pair, pair->next))
		if (!zcr_want(tx, zsw_cb(pair->next)->credits))
			break;
	zsw_count(out, ZSWITCH_STAT_REMOTE_ASKED, tx->asked - asked);
	if (tx->asked != pair->said &&
	    (pair->said == tx->granted || (tx->peer && tx->asked - pair->said >= ZSW_ASK_MORE)))
		zsw_pair_say(out, pair, ZSW_FABRIC_TICK);
}

/* Give back credit that no frame waits for. */
static void zsw_pair_void(struct zswitch_port *out, struct zsw_pair *pair)
{
	zsw_count(out, ZSWITCH_STAT_REMOTE_VOID, zcr_void(&pair->tx));
}

/* Let in as many frames as there is credit for. */
static void zsw_pair_send(struct zswitch_port *out, struct zsw_pair *pair)
{
	struct sk_buff *skb;
	u32 credits;

	while ((skb = skb_peek(&pair->held.frames))) {
		credits = zsw_cb(skb)->credits;
		if (!zcr_use(&pair->tx, credits))
			break;
		/* The frame was not asked for; the credit at hand covers it. */
		if (pair->next == skb) {
			zcr_want(&pair->tx, credits);
			pair->next = zsw_pair_after(pair, skb);
		}
		zsw_count(out, ZSWITCH_STAT_REMOTE_USED, credits);
		zsw_cb(skb)->pair = pair;
		pair->inside += credits;
		pair->moved = jiffies;
		zsw_let_in(out, &pair->held, skb);
	}
	zsw_fifo_wake(&pair->held);
}

static void zsw_pair_purge(struct zswitch_port *out, struct zsw_pair *pair,
			   enum zswitch_stat reason, struct sk_buff_head *freed)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(&pair->held.frames)))
		zsw_discard(out, &pair->held, skb, reason, freed);
	pair->next = NULL;
	zsw_pair_void(out, pair);
	zsw_fifo_wake(&pair->held);
}

static struct zsw_pair *zsw_pair_get(struct zswitch_port *out, struct zsw_voq *voq,
				     const struct zsw_far_key *key)
{
	struct zsw_far *far = zsw_far_find(out, voq->in, key);
	struct zsw_pair *pair;

	if (far)
		return zsw_pair_of(far);
	pair = zsw_far_room(out) ? kzalloc(sizeof(*pair), GFP_ATOMIC) : NULL;
	if (!pair)
		return NULL;
	zsw_fifo_init(&pair->held, voq);
	zcr_sender_begin(&pair->tx, zsw_fabric_random());
	pair->ticked = jiffies;
	pair->spared = jiffies - ZSW_TRANSIT;
	zsw_far_add(out, &pair->far, voq->in, key);
	return pair;
}

/* May the first frame in line be sent without an ask, by the option unasked? */
static bool zsw_pair_spares(const struct zswitch_port *out, struct zsw_pair *pair, u32 credits)
{
	if (time_after_eq(jiffies, pair->spared + ZSW_TRANSIT)) {
		pair->spared = jiffies;
		pair->spare = READ_ONCE(out->zsw->cfg.unasked);
	}
	if (pair->spare < credits)
		return false;
	pair->spare -= credits;
	return true;
}

/**
 * zsw_fabric_hold() - a frame is to leave by a wire to a vNIC on another host
 * @out:	wire
 * @voq:	virtual output queue of the frame's input
 * @f:		frame
 *
 * Context: the wire's lock.
 * Return: fifo that the frame waits in, or NULL without memory.
 */
struct zsw_fifo *zsw_fabric_hold(struct zswitch_port *out, struct zsw_voq *voq,
				 const struct zsw_frame *f)
{
	const struct ethhdr *eth = eth_hdr(f->skb);
	struct zsw_far_key key = zsw_far_key(eth->h_source, eth->h_dest, zsw_far_vid(f));
	struct zsw_pair *pair = zsw_pair_get(out, voq, &key);
	struct zsw_cb *cb = zsw_cb(f->skb);

	if (!pair)
		return NULL;
	zsw_far_touch(out, &pair->far);
	cb->credits = min_t(u32, zsw_far_cost(f->skb), ZCR_ASK_MAX);
	if (skb_queue_empty(&pair->held.frames)) {
		/* Is credit that was granted unasked enough for this frame? */
		if (pair->tx.granted - pair->tx.used >= cb->credits) {
			zcr_want(&pair->tx, cb->credits);
			zsw_hold(out, &pair->held, f->skb);
			zsw_pair_send(out, pair);
			return &voq->fifo[cb->prio];
		}
		if (zsw_pair_spares(out, pair, cb->credits)) {
			cb->credits = 0;
			zsw_hold(out, &pair->held, f->skb);
			zsw_let_in(out, &pair->held, f->skb);
			return &voq->fifo[cb->prio];
		}
		zsw_count(out, ZSWITCH_STAT_CREDIT_WAITED, 1);
		pair->moved = jiffies;
	}
	zsw_hold(out, &pair->held, f->skb);
	if (!pair->next)
		pair->next = f->skb;
	zsw_pair_ask(out, pair);
	return &pair->held;
}

/* A HELLO or GRANT has arrived by a wire.  Return: whether it was for a current pair. */
static bool zsw_pair_hear(struct zswitch_port *wire, struct zsw_pair *pair,
			  const struct zcr_msg *msg)
{
	struct zcr_sender was = pair->tx;
	bool news = zcr_hear(&pair->tx, msg, zsw_fabric_random());

	if (msg->type == ZCR_HELLO) {
		if (!news)
			return false;
		if (pair->tx.epoch != was.epoch) {
			/* The receiver does not know us any more: ask again for all held frames. */
			zsw_count(wire, ZSWITCH_STAT_REMOTE_VOID, was.granted - was.used);
			pair->next = skb_peek(&pair->held.frames);
		}
		/* No ask is outstanding. */
		pair->said = pair->tx.granted;
	} else if (msg->epoch != was.epoch || msg->peer != was.peer) {
		return false;
	}
	zsw_far_touch(wire, &pair->far);
	if (pair->tx.epoch != was.epoch)
		was = (struct zcr_sender) {};
	zsw_count(wire, ZSWITCH_STAT_REMOTE_ASKED, pair->tx.asked - was.asked);
	zsw_count(wire, ZSWITCH_STAT_REMOTE_GRANTED, pair->tx.granted - was.granted);
	if ((s32)(pair->tx.granted - pair->said) > 0)
		pair->said = pair->tx.granted;
	/* Report grants before the receiver reaches ZCR_AHEAD_MAX, and stops granting ahead. */
	if ((s32)(pair->tx.granted - pair->tx.told) >= ZCR_AHEAD)
		zsw_pair_say(wire, pair, ZSW_FABRIC_TICK);
	if (news && msg->type == ZCR_GRANT)
		zsw_pair_send(wire, pair);
	zsw_pair_ask(wire, pair);
	return true;
}

static bool zsw_fabric_heard(struct zswitch_port *wire, struct zswitch_port *port,
			     const struct zsw_far_key *key, const struct zcr_msg *msg)
{
	struct zsw_far *far;
	bool ours;

	spin_lock(&wire->lock);
	far = zsw_far_find(wire, port, key);
	ours = far && zsw_pair_hear(wire, zsw_pair_of(far), msg);
	spin_unlock(&wire->lock);
	return ours;
}

/* No frame waits, all credit has been returned, and the other end knows it. */
static bool zsw_pair_idle(const struct zsw_pair *pair)
{
	return skb_queue_empty(&pair->held.frames) && !pair->inside && !zcr_repeat(&pair->tx);
}

/* Is there credit, with no frame sent since the last tick, and all that were sent arrived? */
static bool zsw_pair_spare(const struct zsw_pair *pair)
{
	const struct zcr_sender *tx = &pair->tx;

	return tx->granted != tx->used && skb_queue_empty(&pair->held.frames) && !pair->inside &&
	       tx->used == pair->was_used && tx->used == tx->acked;
}

/* Run the timers of a pair.  Return: whether it can be forgotten. */
static bool zsw_pair_tick(struct zswitch_port *out, struct zsw_pair *pair,
			  struct sk_buff_head *freed)
{
	u32 wait = READ_ONCE(out->zsw->cfg.wait[ZSW_VIRTUAL]);

	if (time_after_eq(jiffies, pair->ticked + ZSW_TRANSIT)) {
		zcr_tick(&pair->tx, pair->inside);
		pair->ticked = jiffies;
	}
	if (wait && !skb_queue_empty(&pair->held.frames) &&
	    time_after(jiffies, pair->moved + msecs_to_jiffies(wait)))
		zsw_pair_purge(out, pair, ZSWITCH_STAT_DROP_STILL, freed);
	if (zsw_pair_spare(pair)) {
		zsw_pair_void(out, pair);
		zsw_pair_say(out, pair, ZSW_FABRIC_TICK);
	}
	pair->was_used = pair->tx.used;
	if (zsw_pair_idle(pair)) {
		list_move_tail(&pair->far.list, &out->idle);
		return false;
	}
	/* The other host has vanished. */
	if (skb_queue_empty(&pair->held.frames) && !pair->inside &&
	    time_after(jiffies, pair->far.seen + ZSW_FAR_IDLE))
		return true;
	if (zcr_repeat(&pair->tx) && time_after_eq(jiffies, pair->ask_at)) {
		zsw_count(out, ZSWITCH_STAT_FABRIC_RETRIED, 1);
		zsw_pair_say(out, pair, min(2 * pair->interval, ZSW_ASK_AGAIN));
	}
	return false;
}

/* The receiver's end */

/*
 * The number in a HELLO: an unknown sender becomes a pair by returning it, and it is our first
 * epoch for that pair.  It changes when the pair is forgotten, so that no old ask begins the pair
 * again.  The numbers of few other pairs change with it: if all did, no unknown sender whose ask
 * is in flight would become a pair where many arrive at once.
 */
static u32 zsw_origin_cookie(const struct zswitch_port *out, const struct zsw_far_key *key)
{
	u32 life = out->lives[zsw_far_hash(key) % ZSW_LIVES];

	return (u32)siphash_2u64(siphash(key, sizeof(*key), &out->secret), life, &out->secret) ?: 1;
}

static struct zsw_origin *zsw_origin_new(struct zswitch_port *out, struct zswitch_port *wire,
					 const struct zsw_far_key *key, u32 nonce)
{
	struct zsw_origin *origin = NULL;

	if (zsw_far_room(out))
		origin = kzalloc(sizeof(*origin), GFP_ATOMIC);
	if (!origin)
		return NULL;
	zcr_source_init(&origin->src, &out->rx, nonce);
	origin->src.remote = true;
	zsw_far_add(out, &origin->far, wire, key);
	return origin;
}

/**
 * zsw_fabric_grant() - send a grant to an origin
 * @out:	port that the origin sends to
 * @src:	zsw_origin.src of the origin
 *
 * Context: the port's lock.
 */
void zsw_fabric_grant(struct zswitch_port *out, struct zcr_source *src)
{
	struct zsw_origin *origin = container_of(src, struct zsw_origin, src);

	zsw_count(out, ZSWITCH_STAT_CREDIT_GRANTED, src->granted - origin->granted);
	origin->granted = src->granted;
	zsw_fabric_tell(origin->far.port, &origin->far.key, zcr_grant(src));
}

/* An ask has arrived from an origin, which may be new.  Return: false if it was stale. */
static bool zsw_origin_asked(struct zswitch_port *out, struct zswitch_port *wire,
			     struct zsw_origin *origin, const struct zcr_msg *msg)
{
	struct zcr_source was = origin->src;
	u32 lost = 0, granted;
	bool anew;

	origin->src.weight = READ_ONCE(wire->weight);
	switch (zcr_asked(&origin->src, msg, zsw_fabric_random(), &lost)) {
	case ZCR_STALE:
		return false;
	case ZCR_STRANGE:
		zsw_fabric_tell(wire, &origin->far.key,
				zcr_answer(&origin->src, msg, ZCR_STRANGE));
		return true;
	case ZCR_OURS:
		break;
	}
	anew = origin->src.epoch != was.epoch;
	if (anew) {
		zsw_count(out, ZSWITCH_STAT_CREDIT_WITHDRAWN, was.asked - was.granted);
		was.asked = 0;
		origin->granted = 0;
	}
	zsw_count(out, ZSWITCH_STAT_CREDIT_ASKED, origin->src.asked - was.asked);
	zsw_count(out, ZSWITCH_STAT_CREDIT_LAPSED, lost);
	origin->far.port = wire;
	zsw_far_touch(out, &origin->far);
	granted = origin->granted;
	zsw_grant(out);
	/* A new ask that waits is answered by its grant later. */
	if (origin->granted == granted && (!anew && origin->src.asked == was.asked))
		zsw_fabric_tell(wire, &origin->far.key, zcr_grant(&origin->src));
	return true;
}

static bool zsw_fabric_asked_locked(struct zswitch_port *out, struct zswitch_port *wire,
				    const struct zsw_far_key *key, const struct zcr_msg *msg)
{
	struct zsw_far *far = zsw_far_find(out, NULL, key);
	struct zsw_origin *origin;

	/* Credit granted by the port's previous incarnation must have been used or have expired. */
	if (!out->rx.size || time_before(jiffies, out->since + ZSW_TRANSIT))
		return false;
	if (far)
		return zsw_origin_asked(out, wire, zsw_origin_of(far), msg);
	if (msg->peer != zsw_origin_cookie(out, key)) {
		zsw_fabric_tell(wire, key, (struct zcr_msg) {
			.type = ZCR_HELLO, .epoch = msg->epoch,
			.peer = zsw_origin_cookie(out, key),
		});
		return true;
	}
	origin = zsw_origin_new(out, wire, key, msg->peer);
	return origin && zsw_origin_asked(out, wire, origin, msg);
}

static bool zsw_fabric_asked(struct zswitch_port *out, struct zswitch_port *wire,
			     const struct zsw_far_key *key, const struct zcr_msg *msg)
{
	bool fresh;

	spin_lock(&out->lock);
	fresh = zsw_fabric_asked_locked(out, wire, key, msg);
	spin_unlock(&out->lock);
	return fresh;
}

/* Return: the part of @credits that the origin had been granted. */
static u32 zsw_origin_arrive(struct zswitch_port *out, struct zsw_origin *origin, u32 credits)
{
	u32 covered = zcr_arrive(&origin->src, credits), asked = origin->src.asked;

	if (zcr_more(&origin->src)) {
		zsw_count(out, ZSWITCH_STAT_CREDIT_ASKED, origin->src.asked - asked);
		zsw_fabric_grant(out, &origin->src);
	}
	return covered;
}

/**
 * zsw_fabric_arrive() - a frame has arrived by a wire whose hosts ask for credit
 * @out:	port that the frame is for
 * @f:		frame
 *
 * Context: the port's lock.
 * Return: whether credit covers the whole frame.
 */
bool zsw_fabric_arrive(struct zswitch_port *out, const struct zsw_frame *f)
{
	const struct ethhdr *eth = eth_hdr(f->skb);
	struct zsw_cb *cb = zsw_cb(f->skb);
	struct zsw_far_key key;
	struct zsw_far *far;
	u32 covered = 0;

	if (!out->rx.size || f->bill)
		return false;
	key = zsw_far_key(eth->h_dest, eth->h_source, zsw_far_vid(f));
	far = zsw_far_find(out, NULL, &key);
	cb->credits = zsw_far_cost(f->skb);
	if (far)
		covered = zsw_origin_arrive(out, zsw_origin_of(far), cb->credits);
	else
		zcr_take(&out->rx, cb->credits);
	zsw_count(out, ZSWITCH_STAT_CREDIT_USED, covered);
	zsw_count(out, ZSWITCH_STAT_CREDIT_EXTRA, cb->credits - covered);
	if (covered < cb->credits)
		return false;
	zsw_promote(f->in, cb);
	return true;
}

/* Run the timers of an origin.  Return: whether it is to be forgotten. */
static bool zsw_origin_tick(struct zswitch_port *out, struct zsw_origin *origin)
{
	const struct zcr_source *src = &origin->src;

	if (src->asked == src->granted && src->granted == src->arrived) {
		list_move_tail(&origin->far.list, &out->idle);
		return false;
	}
	return time_after(jiffies, origin->far.seen + ZSW_LAPSE);
}

/* Common to sender and receiver */

/**
 * zsw_fabric_receive() - a frame of control for a vNIC of this switch has arrived
 * @out:	port of the vNIC
 * @f:		frame; it is consumed
 *
 * Context: RCU, bottom halves are off.
 */
void zsw_fabric_receive(struct zswitch_port *out, const struct zsw_frame *f)
{
	const struct ethhdr *eth = eth_hdr(f->skb);
	struct zsw_far_key key;
	struct zcr_msg msg;
	bool fresh;

	if (!READ_ONCE(f->in->remote)) {
		zsw_drop(f->in, f->skb, ZSWITCH_STAT_DROP_FORGED);
		return;
	}
	if (!zsw_fabric_parse(f->skb, &msg)) {
		zsw_drop(f->in, f->skb, ZSWITCH_STAT_DROP_MALFORMED);
		return;
	}
	key = zsw_far_key(eth->h_dest, eth->h_source, zsw_far_vid(f));
	if (msg.type == ZCR_ASK)
		fresh = zsw_fabric_asked(out, f->in, &key, &msg);
	else
		fresh = zsw_fabric_heard(f->in, out, &key, &msg);
	zsw_count(f->in, ZSWITCH_STAT_FABRIC_IN, 1);
	if (!fresh)
		zsw_count(f->in, ZSWITCH_STAT_FABRIC_STALE, 1);
	consume_skb(f->skb);
}

/**
 * zsw_fabric_purge() - drop the frames that wait for credit beyond a wire that is down
 * @out:	wire, or another port, where no such frames wait
 * @freed:	the frames are added to this list
 *
 * Context: the output's lock.
 */
void zsw_fabric_purge(struct zswitch_port *out, struct sk_buff_head *freed)
{
	struct zsw_far *far;
	int i;

	if (out->vnic)
		return;
	hash_for_each(out->far, i, far, node)
		zsw_pair_purge(out, zsw_pair_of(far), ZSWITCH_STAT_DROP_DOWN, freed);
}

/**
 * zsw_fabric_forget() - delete pairs of an output
 * @out:	output, without frames of @port
 * @port:	only pairs with this input, or whose last ask came by this wire; NULL: all
 * @freed:	frames that waited for credit are added to this list
 *
 * Context: the output's lock.
 */
void zsw_fabric_forget(struct zswitch_port *out, const struct zswitch_port *port,
		       struct sk_buff_head *freed)
{
	struct hlist_node *next;
	struct zsw_far *far;
	int i;

	if (!out->num_far)
		return;
	hash_for_each_safe(out->far, i, next, far, node)
		if (!port || far->port == port)
			zsw_far_free(out, far, freed);
}

/**
 * zsw_fabric_set() - make frames for vNICs beyond a wire need credit, or not any more
 * @out:	wire
 * @on:		frames need credit; if false, those that wait are let in
 *
 * Context: RTNL.
 */
void zsw_fabric_set(struct zswitch_port *out, bool on)
{
	struct zsw_pair *pair;
	struct zsw_far *far;
	int i;

	spin_lock_bh(&out->lock);
	WRITE_ONCE(out->remote, on);
	hash_for_each(out->far, i, far, node) {
		if (on)
			break;
		pair = zsw_pair_of(far);
		zsw_let_all_in(out, &pair->held);
		pair->next = NULL;
		zsw_pair_void(out, pair);
		zcr_sender_begin(&pair->tx, zsw_fabric_random());
		pair->said = 0;
	}
	spin_unlock_bh(&out->lock);
}

static bool zsw_fabric_tick(struct zswitch_port *out)
{
	struct zsw_far *far, *next;
	struct sk_buff_head freed;
	bool over;

	if (!READ_ONCE(out->num_far))
		return false;
	__skb_queue_head_init(&freed);
	spin_lock_bh(&out->lock);
	list_for_each_entry_safe(far, next, &out->busy, list) {
		over = out->vnic ? zsw_origin_tick(out, zsw_origin_of(far)) :
				   zsw_pair_tick(out, zsw_pair_of(far), &freed);
		if (over)
			zsw_far_free(out, far, &freed);
	}
	while ((far = list_first_entry_or_null(&out->idle, struct zsw_far, list)) &&
	       time_after(jiffies, far->seen + ZSW_FAR_IDLE))
		zsw_far_free(out, far, &freed);
	zsw_grant(out);
	spin_unlock_bh(&out->lock);
	__skb_queue_purge(&freed);
	return true;
}

/**
 * zsw_fabric_work() - run the timers of a switch's pairs
 * @work:	zswitch.fabric
 */
void zsw_fabric_work(struct work_struct *work)
{
	struct zswitch *zsw = container_of(work, struct zswitch, fabric.work);
	struct zswitch_port *port;
	bool any = false;

	rcu_read_lock();
	list_for_each_entry_rcu(port, &zsw->ports, node)
		any |= zsw_fabric_tick(port);
	rcu_read_unlock();
	if (any)
		schedule_delayed_work(&zsw->fabric, ZSW_FABRIC_TICK);
}

/**
 * zsw_fabric_init() - prepare a port for the fabric
 * @port:	port, zeroed
 */
void zsw_fabric_init(struct zswitch_port *port)
{
	hash_init(port->far);
	INIT_LIST_HEAD(&port->busy);
	INIT_LIST_HEAD(&port->idle);
	get_random_bytes(&port->secret, sizeof(port->secret));
	skb_queue_head_init(&port->control);
	tasklet_setup(&port->teller, zsw_fabric_send);
}

/**
 * zsw_fabric_exit() - a port is being removed
 * @port:	port without pairs, which nothing refers to
 *
 * Context: process.
 */
void zsw_fabric_exit(struct zswitch_port *port)
{
	tasklet_kill(&port->teller);
	skb_queue_purge(&port->control);
}
