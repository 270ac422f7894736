// SPDX-License-Identifier: GPL-2.0
/*
 * zbridge: a reliable tunnel between lossless switches (zswitch).
 *
 * D. Crisan, "Optimized networking for virtual machines ...", ETH Zurich 2014, zBridge (section
 * 5.3.4).  A lossless fabric still loses frames by bit errors, broken hardware and changes of
 * routes; then frames are missing, and their credits with them.  The tunnel delivers each frame
 * once and in order, as long as both hosts live.  Documentation/zbridge.md has the format and the
 * operator's commands; arq.c has Algorithm 5.3, this file handles the flows.
 *
 * A flow connects a vNIC here and one on another host, in one priority: the switch, too, keeps
 * frames in order by vNICs and priority, and a pause stops a priority as a whole.  A flow carries
 * frames of both directions.  Frames to a group or to an unknown address go to each host in one
 * flow of their sender, whose other end is ff:ff:ff:ff:ff:ff.
 *
 * Handshake, as TCP's, with a random id and a random first number of each end:
 *
 *	SYN_SENT --- SYN -------------> (none) SYN_RCVD
 *	OPEN <------------- SYNACK ---
 *	OPEN ------- DATA or ACK -----> OPEN
 *
 * Each later packet carries both ids, 64 bits that an off-path attacker cannot guess.  The end that
 * begins a flow has chosen one of the ids itself, so SYN_RCVD is left only by a packet that also
 * acknowledges this end's first number.
 *
 * A packet of no flow is answered by RST.  So a host that has restarted is detected by the first
 * packet sent to it.  Frames not acknowledged then are dropped and counted, since they may have
 * been delivered: a frame is delivered at most once.  A SYN for an open flow does not prove a
 * restart, as the SYN may be old or forged: the flow's known other end is asked (ASK), and answers
 * by ACK or RST.  The same holds for a flow that has sent its own SYN: the other SYN is answered,
 * and the SYNACK that arrives for the own SYN is kept until the other SYN's sender opens the flow,
 * or an RST reports that there is no such sender.  If neither comes for ZBR_DEAD, and this end has
 * frames to send, it begins the flow anew: the RST may be lost, or limited at its sender.
 *
 * Timeouts.  If a packet that wants an answer has none after ZBR_RTO, an ASK is sent, then again at
 * doubled intervals up to ZBR_RTO_MAX, until a frame is acknowledged, also while the receiver's
 * switch has no room.  If nothing is heard for ZBR_DEAD, the host is declared dead and the flow's
 * frames are dropped; the next frame begins another flow.  A SYNACK is retransmitted on timeout
 * only if this end has frames to send too: otherwise the other end retransmits its SYN, and a SYN
 * from a spoofed address is answered once.
 *
 * Check.  An end that has seen no frame for ZBR_CHECK asks the other end once, so that ends whose
 * numbers differ, or a host that has restarted, are found while no frame depends on it.  Numbers
 * differ only after forged packets, or damage that the checksum does not detect.  Early frames
 * still kept then are dropped, since a forged one would be taken for the real frame of its number:
 * none of them was acknowledged, so real ones are retransmitted.
 *
 * Close.  An end that has seen no frame for ZBR_IDLE asks to close.  The other end agrees if it has
 * nothing to send and all numbers agree, so closing loses no frame.  While more than half of all
 * flows are in use, for example because a guest spoofs addresses, idle ones are closed after
 * ZBR_IDLE_CROWDED.
 *
 * Bounds.  ZBR_FLOWS_MAX flows; of them ZBR_HALF_OPEN_MAX half-open ones, which other hosts have
 * begun and not confirmed, and which live for ZBR_DEAD or until newer ones need the room; memory of
 * frames by zbr_config.memory.
 *
 * Non-goals: encryption (use IPsec or a trusted fabric), congestion control.
 */
#include <linux/etherdevice.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <net/ipv6.h>
#include "zbridge.h"

#define ZBR_RTO_MAX	msecs_to_jiffies(500)
#define ZBR_DEAD	(3 * HZ)
#define ZBR_CHECK	HZ
#define ZBR_IDLE	(60 * HZ)

/* Idle time before a flow is closed while more than half of all flows are in use */
#define ZBR_IDLE_CROWDED	HZ

#define ZBR_FLOWS_MAX		65536
#define ZBR_HALF_OPEN_MAX	4096

/* Limit of the RSTs that a tunnel sends per second */
#define ZBR_RSTS	1000

static const struct rhashtable_params zbr_flows_params = {
	.head_offset		= offsetof(struct zbr_flow, by_key),
	.key_offset		= offsetof(struct zbr_flow, key),
	.key_len		= sizeof(struct zbr_key),
	.automatic_shrinking	= true,
};

static const struct rhashtable_params zbr_ids_params = {
	.head_offset		= offsetof(struct zbr_flow, by_id),
	.key_offset		= offsetof(struct zbr_flow, id),
	.key_len		= sizeof(u32),
	.automatic_shrinking	= true,
};

/* Creation, state and end of a flow */

static enum hrtimer_restart zbr_flow_timer(struct hrtimer *timer);

/* Give a flow an id that no other flow has.  Return: 0 or an error. */
static int zbr_flow_name(struct zbr_flow *flow)
{
	int err;

	do {
		WRITE_ONCE(flow->id, get_random_u32() ?: 1);
		err = rhashtable_lookup_insert_fast(&flow->zb->ids, &flow->by_id, zbr_ids_params);
	} while (err == -EEXIST);
	return err;
}

/* Return: a new flow, or one that another CPU has just made; or NULL.  Context: RCU. */
static struct zbr_flow *zbr_flow_new(struct zbridge *zb, const struct zbr_key *key)
{
	struct zbr_flow *flow, *other;

	if (atomic_inc_return(&zb->num_flows) > ZBR_FLOWS_MAX)
		goto too_many;
	flow = kzalloc(sizeof(*flow), GFP_ATOMIC);
	if (!flow)
		goto too_many;
	BUILD_BUG_ON(sizeof(*key) != 16 + 2 * ETH_ALEN + 4);
	flow->zb = zb;
	flow->key = *key;
	/* Flows of different priorities share no queue, so they are not stopped together. */
	flow->txq = key->prio * ZBR_TXQS + get_random_u32() % ZBR_TXQS;
	flow->rto = ZBR_RTO;
	flow->sent_at = jiffies;
	flow->heard_at = jiffies;
	flow->used_at = jiffies;
	spin_lock_init(&flow->lock);
	__skb_queue_head_init(&flow->unacked);
	__skb_queue_head_init(&flow->pending);
	flow->kept = RB_ROOT;
	INIT_LIST_HEAD(&flow->half_open);
	INIT_LIST_HEAD(&flow->blocked);
	hrtimer_setup(&flow->timer, zbr_flow_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	zbr_arq_begin(flow);
	if (zbr_flow_name(flow)) {
		kfree(flow);
		goto too_many;
	}
	other = rhashtable_lookup_get_insert_fast(&zb->flows, &flow->by_key, zbr_flows_params);
	if (!other)
		return flow;
	rhashtable_remove_fast(&zb->ids, &flow->by_id, zbr_ids_params);
	kfree_rcu(flow, rcu);
	atomic_dec(&zb->num_flows);
	return IS_ERR(other) ? NULL : other;
too_many:
	atomic_dec(&zb->num_flows);
	return NULL;
}

/**
 * zbr_flow_busy() - arm the timer of a flow that wants an answer
 * @flow:	flow
 *
 * A timer that expires earlier is left alone: its handler computes the remaining time.
 *
 * Context: its lock.
 */
void zbr_flow_busy(struct zbr_flow *flow)
{
	ktime_t wait = ns_to_ktime(jiffies_to_nsecs(flow->rto));

	if (hrtimer_is_queued(&flow->timer) &&
	    ktime_before(hrtimer_get_expires(&flow->timer), ktime_add(ktime_get(), wait)))
		return;
	hrtimer_start(&flow->timer, wait, HRTIMER_MODE_REL_SOFT);
}

static void zbr_set_half_open(struct zbr_flow *flow, bool half_open)
{
	struct zbridge *zb = flow->zb;

	spin_lock(&zb->lock);
	/* A flow with frames to send was begun by this end as well, and is not evicted. */
	if (!half_open)
		list_del_init(&flow->half_open);
	else if (skb_queue_empty(&flow->pending))
		list_add_tail(&flow->half_open, &zb->half_open);
	spin_unlock(&zb->lock);
	atomic_add(half_open ? 1 : -1, &zb->num_half_open);
}

static void zbr_set_state(struct zbr_flow *flow, enum zbr_state state)
{
	if (flow->state == state)
		return;
	if (flow->state == ZBR_SYN_RCVD)
		zbr_set_half_open(flow, false);
	if (state == ZBR_SYN_RCVD)
		zbr_set_half_open(flow, true);
	if (state == ZBR_OPEN && flow->state != ZBR_CLOSING)
		zbr_count(flow->zb, ZBRIDGE_STAT_OPENED, 1);
	if (state == ZBR_OPEN)
		flow->tried = false;
	flow->state = state;
}

/*
 * The timer may have run while the flow ended, and may be queued again.  Its handler finds that the
 * flow is gone.
 */
static void zbr_flow_free(struct rcu_head *rcu)
{
	struct zbr_flow *flow = container_of(rcu, struct zbr_flow, rcu);

	hrtimer_cancel(&flow->timer);
	kfree(flow);
}

/* Delete a flow and drop its frames.  Context: its lock. */
static void zbr_flow_end(struct zbr_flow *flow, enum zbridge_stat reason)
{
	struct zbridge *zb = flow->zb;

	zbr_set_state(flow, ZBR_GONE);
	zbr_arq_purge(flow, &flow->unacked, reason);
	zbr_arq_purge(flow, &flow->pending, reason);
	zbr_arq_purge_kept(flow);
	zbr_reopen(zb);
	zbr_unblock(flow);
	rhashtable_remove_fast(&zb->flows, &flow->by_key, zbr_flows_params);
	rhashtable_remove_fast(&zb->ids, &flow->by_id, zbr_ids_params);
	dst_release(flow->dst);
	flow->dst = NULL;
	atomic_dec(&zb->num_flows);
	call_rcu(&flow->rcu, zbr_flow_free);
}

/* Send, or retransmit, the packet that the flow's state calls for. */
static void zbr_flow_say(struct zbr_flow *flow)
{
	flow->sent_at = jiffies;
	switch (flow->state) {
	case ZBR_SYN_SENT:
		zbr_arq_tell(flow, ZBR_SYN, flow->next, flow->keep);
		break;
	case ZBR_SYN_RCVD:
		zbr_arq_tell(flow, ZBR_SYNACK, flow->next, flow->keep);
		break;
	case ZBR_CLOSING:
		zbr_arq_tell(flow, ZBR_CLOSE, flow->next, 0);
		break;
	default:
		zbr_arq_ask(flow);
	}
}

/* Enter a state, and send its packet for the first time. */
static void zbr_flow_enter(struct zbr_flow *flow, enum zbr_state state)
{
	zbr_set_state(flow, state);
	flow->rto = ZBR_RTO;
	flow->heard_at = jiffies;
	zbr_flow_busy(flow);
	zbr_flow_say(flow);
}

/*
 * The other end does not know the flow any more.  Frames that it has not acknowledged are dropped;
 * pending ones begin a flow with another id.  Context: the lock.
 */
static void zbr_flow_anew(struct zbr_flow *flow)
{
	struct zbridge *zb = flow->zb;

	zbr_arq_purge(flow, &flow->unacked, ZBRIDGE_STAT_DROP_RESET);
	zbr_arq_purge_kept(flow);
	if (skb_queue_empty(&flow->pending)) {
		zbr_flow_end(flow, ZBRIDGE_STAT_DROP_RESET);
		return;
	}
	rhashtable_remove_fast(&zb->ids, &flow->by_id, zbr_ids_params);
	if (zbr_flow_name(flow)) {
		zbr_flow_end(flow, ZBRIDGE_STAT_DROP_RESET);
		return;
	}
	flow->peer = 0;
	flow->expected = 0;
	zbr_arq_begin(flow);
	zbr_flow_enter(flow, ZBR_SYN_SENT);
}

/* Timeouts */

static bool zbr_flow_waits(const struct zbr_flow *flow)
{
	return flow->state != ZBR_OPEN || !skb_queue_empty(&flow->unacked) ||
	       !RB_EMPTY_ROOT(&flow->kept) || flow->check == ZBR_CHECKING;
}

/* Does this end retransmit?  In SYN_RCVD the other end does, which has begun the flow. */
static bool zbr_flow_repeats(const struct zbr_flow *flow)
{
	return flow->state != ZBR_SYN_RCVD || !skb_queue_empty(&flow->pending);
}

static unsigned long zbr_idle(const struct zbridge *zb)
{
	return atomic_read(&zb->num_flows) > ZBR_FLOWS_MAX / 2 ? ZBR_IDLE_CROWDED : ZBR_IDLE;
}

/* A flow is idle: check its numbers, or close it, when it is time.  Context: the lock. */
static void zbr_flow_rests(struct zbr_flow *flow)
{
	unsigned long idle = jiffies - flow->used_at;

	if (idle >= zbr_idle(flow->zb)) {
		zbr_flow_enter(flow, ZBR_CLOSING);
	} else if (flow->check == ZBR_UNCHECKED && idle >= ZBR_CHECK) {
		/* Early frames are retransmitted if they are genuine. */
		zbr_arq_purge_kept(flow);
		flow->check = ZBR_CHECKING;
		zbr_flow_enter(flow, ZBR_OPEN);
	}
}

/*
 * Nobody confirms the SYN that this end has accepted, and frames wait: the SYN was old or forged,
 * and its RST is lost.  Send a SYN of this end, once more if the other host has answered one.  A
 * kept answer itself is of no use: its sender has forgotten the half-open flow by now.
 * Return: false if the other host is dead.  Context: the lock.
 */
static bool zbr_flow_ignores_syn(struct zbr_flow *flow)
{
	if (flow->state != ZBR_SYN_RCVD || skb_queue_empty(&flow->pending) ||
	    (flow->tried && !flow->answer.from))
		return false;
	flow->tried = true;
	zbr_flow_anew(flow);
	return true;
}

/*
 * A host declared dead may be alive: an RST tells it at once, so that it need not lose frames
 * first.  A host that has only sent a SYN may be a spoofed address.  Context: the lock.
 */
static void zbr_flow_dead(struct zbr_flow *flow)
{
	if (zbr_flow_ignores_syn(flow))
		return;
	if (flow->state != ZBR_SYN_RCVD)
		zbr_count(flow->zb, ZBRIDGE_STAT_DEAD, 1);
	if (flow->state == ZBR_OPEN || flow->state == ZBR_CLOSING)
		zbr_arq_tell(flow, ZBR_RST, flow->next, 0);
	zbr_flow_end(flow, ZBRIDGE_STAT_DROP_DEAD);
}

/* Context: the lock. */
static void zbr_flow_tick(struct zbr_flow *flow)
{
	if (flow->state == ZBR_OPEN && zbr_arq_quiet(flow))
		zbr_flow_rests(flow);
	if (!zbr_flow_waits(flow))
		return;
	if (time_after_eq(jiffies, flow->heard_at + ZBR_DEAD)) {
		zbr_flow_dead(flow);
		return;
	}
	if (zbr_flow_repeats(flow) && time_after_eq(jiffies, flow->sent_at + flow->rto)) {
		flow->rto = min(2 * flow->rto, ZBR_RTO_MAX);
		zbr_flow_say(flow);
	}
}

/* Return: time until zbr_flow_tick() may have something to do.  Context: the lock. */
static ktime_t zbr_flow_rest(const struct zbr_flow *flow)
{
	unsigned long now = jiffies, at = flow->heard_at + ZBR_DEAD;

	/* An idle flow is checked, or closed early if many flows are in use. */
	if (!zbr_flow_waits(flow))
		at = now + min(ZBR_CHECK, ZBR_IDLE_CROWDED);
	else if (zbr_flow_repeats(flow) && time_before(flow->sent_at + flow->rto, at))
		at = flow->sent_at + flow->rto;
	return ns_to_ktime(jiffies_to_nsecs(time_after(at, now) ? at - now : 1));
}

static enum hrtimer_restart zbr_flow_timer(struct hrtimer *timer)
{
	struct zbr_flow *flow = container_of(timer, struct zbr_flow, timer);
	enum hrtimer_restart restart = HRTIMER_NORESTART;

	rcu_read_lock();
	spin_lock(&flow->lock);
	if (flow->state != ZBR_GONE)
		zbr_flow_tick(flow);
	/* The timer may have been started again meanwhile. */
	if (flow->state != ZBR_GONE && !hrtimer_is_queued(timer)) {
		hrtimer_forward_now(timer, zbr_flow_rest(flow));
		restart = HRTIMER_RESTART;
	}
	spin_unlock(&flow->lock);
	rcu_read_unlock();
	return restart;
}

/* Frames out */

/*
 * Find a flow, or make it.  Another CPU may begin it, or end it, before its lock is taken.
 * Return: flow, in state ZBR_NEW if it is to begin; or NULL.  Context: RCU.
 */
static struct zbr_flow *zbr_flow_get(struct zbridge *zb, const struct zbr_key *key)
{
	return rhashtable_lookup(&zb->flows, key, zbr_flows_params) ?: zbr_flow_new(zb, key);
}

/*
 * The other end has begun the flow, and this end has its first frame for it: this end repeats the
 * SYNACK from now on, and the flow is not evicted.  Context: the lock.
 */
static void zbr_flow_join(struct zbr_flow *flow)
{
	spin_lock(&flow->zb->lock);
	list_del_init(&flow->half_open);
	spin_unlock(&flow->zb->lock);
	flow->heard_at = jiffies;
	zbr_flow_busy(flow);
}

/* Return: true if the flow has taken the frame, false if the flow has ended. */
static bool zbr_flow_take(struct zbr_flow *flow, struct sk_buff *skb)
{
	bool lives;

	spin_lock(&flow->lock);
	lives = flow->state != ZBR_GONE;
	if (flow->state == ZBR_NEW)
		zbr_flow_enter(flow, ZBR_SYN_SENT);
	else if (flow->state == ZBR_SYN_RCVD && skb_queue_empty(&flow->pending))
		zbr_flow_join(flow);
	if (lives)
		zbr_arq_send(flow, skb);
	spin_unlock(&flow->lock);
	return lives;
}

/**
 * zbr_flow_send() - send a frame to a host
 * @zb:		tunnel
 * @host:	host
 * @there:	address that names the flow's other end
 * @skb:	frame, its data at the MAC header, its priority set; it is consumed
 *
 * Context: bottom halves are off, RCU.
 */
void zbr_flow_send(struct zbridge *zb, const struct in6_addr *host, const u8 *there,
		   struct sk_buff *skb)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;
	struct zbr_key key = { .remote = *host, .prio = skb->priority };
	struct zbr_flow *flow;

	ether_addr_copy(key.here, eth->h_source);
	ether_addr_copy(key.there, there);
	/* A flow that has just ended is not found again. */
	do {
		flow = zbr_flow_get(zb, &key);
	} while (flow && !zbr_flow_take(flow, skb));
	if (!flow)
		zbr_drop(zb, skb, ZBRIDGE_STAT_DROP_NOMEM);
}

/* Packets in */

/* A packet belongs to no flow: answer by RST, unless it is an RST or CLOSED itself. */
static void zbr_receive_stale(struct zbridge *zb, const struct zbr_msg *msg)
{
	struct zbr_msg rst = {
		.type = ZBR_RST, .prio = msg->prio, .to = msg->from, .from = msg->to,
		.remote = msg->remote,
	};

	zbr_count(zb, ZBRIDGE_STAT_STALE, 1);
	if (msg->type != ZBR_RST && msg->type != ZBR_CLOSED && __ratelimit(&zb->rsts))
		zbr_udp_answer(zb, &rst);
}

static bool zbr_may_begin(struct zbridge *zb, const struct zbr_msg *msg)
{
	return is_valid_ether_addr(msg->src) && !is_zero_ether_addr(msg->dst) && msg->from &&
	       (READ_ONCE(zb->cfg.learning) || zbr_fdb_knows(zb, &msg->remote));
}

/*
 * Evict the oldest half-open flow: a live host confirms within a round trip, so the oldest one is
 * least likely to be confirmed.  Context: RCU.
 */
static void zbr_forget_half_open(struct zbridge *zb)
{
	struct zbr_flow *flow;

	spin_lock(&zb->lock);
	flow = list_first_entry_or_null(&zb->half_open, struct zbr_flow, half_open);
	spin_unlock(&zb->lock);
	if (!flow)
		return;
	spin_lock(&flow->lock);
	if (flow->state == ZBR_SYN_RCVD && skb_queue_empty(&flow->pending)) {
		zbr_count(zb, ZBRIDGE_STAT_DROP_STRANGER, 1);
		zbr_flow_end(flow, ZBRIDGE_STAT_DROP_DEAD);
	}
	spin_unlock(&flow->lock);
}

/* Accept a SYN of the other end.  Context: the lock. */
static void zbr_flow_accept(struct zbr_flow *flow, const struct zbr_msg *msg)
{
	flow->peer = msg->from;
	flow->answer.from = 0;
	zbr_arq_expect(flow, msg);
	zbr_flow_enter(flow, ZBR_SYN_RCVD);
}

static void zbr_receive_syn(struct zbridge *zb, const struct zbr_msg *msg)
{
	struct zbr_key key = { .remote = msg->remote, .prio = msg->prio };
	struct zbr_flow *flow = NULL;

	ether_addr_copy(key.here, msg->dst);
	ether_addr_copy(key.there, msg->src);
	if (zbr_may_begin(zb, msg)) {
		if (atomic_read(&zb->num_half_open) >= ZBR_HALF_OPEN_MAX)
			zbr_forget_half_open(zb);
		flow = zbr_flow_get(zb, &key);
	}
	if (!flow) {
		zbr_count(zb, ZBRIDGE_STAT_DROP_STRANGER, 1);
		return;
	}
	spin_lock(&flow->lock);
	switch (flow->state) {
	case ZBR_NEW:
	case ZBR_SYN_SENT:
		zbr_flow_accept(flow, msg);
		break;
	case ZBR_SYN_RCVD:
		/*
		 * A SYN with another id may be old: answer the SYN that this flow has.  If its
		 * sender has restarted, its RST ends this flow.  The sender may still wait for the
		 * SYNACK, so an ASK would not do.
		 */
		zbr_flow_say(flow);
		break;
	case ZBR_GONE:
		/* The other end retransmits its SYN. */
		break;
	default:
		if (flow->peer != msg->from)
			zbr_arq_ask(flow);
	}
	spin_unlock(&flow->lock);
}

/*
 * Is a packet between the vNICs that this flow connects?  If only ids were compared, the two ends
 * could belong to different vNICs, and a SYN of the right vNIC would find the flow in use.
 */
static bool zbr_has_key(const struct zbr_flow *flow, const struct zbr_msg *msg)
{
	if (flow->key.prio != msg->prio || !ipv6_addr_equal(&flow->key.remote, &msg->remote))
		return false;
	/* DATA carries no vNIC addresses, and the sender of an RST may know of no flow. */
	return msg->type == ZBR_DATA || msg->type == ZBR_RST ||
	       (ether_addr_equal(flow->key.here, msg->dst) &&
		ether_addr_equal(flow->key.there, msg->src));
}

/* Is a packet that carries this end's id the answer to its SYN? */
static bool zbr_is_answer(const struct zbr_flow *flow, const struct zbr_msg *msg)
{
	return msg->type == ZBR_SYNACK && msg->ack == flow->next && msg->from;
}

/* Does a packet belong to this incarnation of the flow?  Context: the lock. */
static bool zbr_is_current(const struct zbr_flow *flow, const struct zbr_msg *msg)
{
	if (flow->state == ZBR_GONE || flow->state == ZBR_NEW || flow->id != msg->to ||
	    !zbr_has_key(flow, msg))
		return false;
	if (flow->state == ZBR_SYN_SENT)
		return zbr_is_answer(flow, msg);
	/*
	 * An off-path attacker may have sent the SYN, with an id and a number of its own choice,
	 * and have guessed this end's id: only the receiver of the SYNACK knows the number in it.
	 * An RST, which does not have it, may end the flow: the flow is of no use to anyone else.
	 */
	if (flow->state == ZBR_SYN_RCVD && msg->type != ZBR_RST && msg->ack != flow->next)
		return false;
	return flow->peer == msg->from ||
	       (flow->state == ZBR_SYN_RCVD && zbr_is_answer(flow, msg));
}

/* This end's SYN is answered: the flow is open. */
static void zbr_flow_answered(struct zbr_flow *flow, const struct zbr_msg *msg)
{
	flow->peer = msg->from;
	zbr_arq_expect(flow, msg);
	zbr_set_state(flow, ZBR_OPEN);
	flow->rto = ZBR_RTO;
	zbr_arq_go_on(flow);
	/* DATA sent above answers the SYNACK, but may be lost where this ACK is not. */
	zbr_arq_ack(flow);
}

/*
 * A flow that has asked to close is open again if the other end has a frame that is not
 * acknowledged.  Any other packet may have been sent before the other end agreed and deleted the
 * flow.
 */
static bool zbr_reopens(const struct zbr_flow *flow, const struct zbr_msg *msg)
{
	return flow->state == ZBR_CLOSING &&
	       ((msg->type == ZBR_DATA && !zbr_before(msg->seq, flow->expected)) ||
		(msg->type == ZBR_ASK && zbr_before(flow->expected, msg->seq)));
}

static void zbr_receive_close(struct zbr_flow *flow, const struct zbr_msg *msg)
{
	/* If all frames sent have arrived, early frames that are kept are forged. */
	bool agrees = skb_queue_empty(&flow->unacked) && msg->seq == flow->expected &&
		      msg->ack == flow->next;

	/* If both ends ask to close, frames that wait for the answer must hold back neither. */
	if (!agrees || (flow->state != ZBR_CLOSING && !skb_queue_empty(&flow->pending))) {
		zbr_arq_ack(flow);
		return;
	}
	zbr_arq_tell(flow, ZBR_CLOSED, flow->next, 0);
	zbr_count(flow->zb, ZBRIDGE_STAT_CLOSED, 1);
	zbr_flow_anew(flow);
}

/* RST, CLOSED: the other end has deleted the flow. */
static void zbr_receive_end(struct zbr_flow *flow, const struct zbr_msg *msg)
{
	bool asked = flow->state == ZBR_CLOSING;

	if (msg->type == ZBR_CLOSED && !asked)
		return;
	/* The SYN that arrived before the kept SYNACK has no sender: it was old or forged. */
	if (flow->state == ZBR_SYN_RCVD && flow->answer.from) {
		zbr_flow_answered(flow, &flow->answer);
		return;
	}
	zbr_count(flow->zb, asked ? ZBRIDGE_STAT_CLOSED : ZBRIDGE_STAT_RESET, 1);
	zbr_flow_anew(flow);
}

/* Handle a packet that finds the flow open, or opens it.  Return: whether @skb is consumed. */
static bool zbr_receive_open(struct zbr_flow *flow, const struct zbr_msg *msg, struct sk_buff *skb)
{
	struct zbridge *zb = flow->zb;

	if (flow->state == ZBR_SYN_RCVD || zbr_reopens(flow, msg)) {
		zbr_set_state(flow, ZBR_OPEN);
		flow->rto = ZBR_RTO;
		zbr_arq_used(flow);
	}
	/* An end that acknowledges frames never sent will never agree again: reset the flow. */
	if (!zbr_arq_acked(flow, msg->ack)) {
		zbr_arq_tell(flow, ZBR_RST, flow->next, 0);
		zbr_count(zb, ZBRIDGE_STAT_RESET, 1);
		zbr_flow_anew(flow);
		return false;
	}
	zbr_arq_go_on(flow);
	switch (msg->type) {
	case ZBR_DATA:
		zbr_arq_data(flow, msg, skb);
		return true;
	case ZBR_SYNACK:
		zbr_arq_ack(flow);
		break;
	case ZBR_ACK:
		zbr_count(zb, ZBRIDGE_STAT_ACKS_IN, 1);
		break;
	case ZBR_NACK:
		zbr_count(zb, ZBRIDGE_STAT_NACKS_IN, 1);
		zbr_arq_nacked(flow, msg->seq, msg->count);
		break;
	case ZBR_ASK:
		zbr_count(zb, ZBRIDGE_STAT_ASKS_IN, 1);
		zbr_arq_asked(flow, msg->seq);
		break;
	case ZBR_CLOSE:
		zbr_receive_close(flow, msg);
		break;
	}
	return false;
}

/* Context: the lock.  Return: whether @skb is consumed. */
static bool zbr_receive_current(struct zbr_flow *flow, const struct zbr_msg *msg,
				struct sk_buff *skb)
{
	/* An old @ack is no sign of life: the packet is late, or its sender is out of step. */
	if (!zbr_before(msg->ack, flow->una)) {
		flow->heard_at = jiffies;
		if (flow->check == ZBR_CHECKING)
			flow->check = ZBR_CHECKED;
	}
	if (flow->state == ZBR_SYN_SENT) {
		zbr_flow_answered(flow, msg);
		return false;
	}
	/*
	 * The SYNACK has arrived after a SYN with another id.  Either may be from before a restart
	 * of the host: the SYN's sender was answered, and will open the flow or send RST.
	 */
	if (flow->state == ZBR_SYN_RCVD && flow->peer != msg->from) {
		flow->answer = *msg;
		return false;
	}
	if (msg->type == ZBR_RST || msg->type == ZBR_CLOSED) {
		zbr_receive_end(flow, msg);
		return false;
	}
	return zbr_receive_open(flow, msg, skb);
}

/**
 * zbr_flow_receive() - handle a packet
 * @zb:		tunnel
 * @msg:	header
 * @skb:	packet, its data behind the header; it is consumed
 *
 * Context: bottom halves are off, RCU.
 */
void zbr_flow_receive(struct zbridge *zb, struct zbr_msg *msg, struct sk_buff *skb)
{
	struct zbr_flow *flow;
	bool current_one = false, consumed = false;

	if (msg->type == ZBR_SYN) {
		zbr_receive_syn(zb, msg);
		consume_skb(skb);
		return;
	}
	flow = rhashtable_lookup(&zb->ids, &msg->to, zbr_ids_params);
	if (flow) {
		spin_lock(&flow->lock);
		current_one = zbr_is_current(flow, msg);
		if (current_one)
			consumed = zbr_receive_current(flow, msg, skb);
		spin_unlock(&flow->lock);
	}
	if (!current_one)
		zbr_receive_stale(zb, msg);
	if (!consumed)
		consume_skb(skb);
}

/* All flows */

/**
 * zbr_flow_end_all() - end all flows
 * @zb:		tunnel that no longer sends or receives
 *
 * Context: process.
 */
void zbr_flow_end_all(struct zbridge *zb)
{
	struct rhashtable_iter iter;
	struct zbr_flow *flow;

	rhashtable_walk_enter(&zb->flows, &iter);
	do {
		rhashtable_walk_start(&iter);
		while ((flow = rhashtable_walk_next(&iter)) && !IS_ERR(flow)) {
			spin_lock_bh(&flow->lock);
			if (flow->state != ZBR_GONE)
				zbr_flow_end(flow, ZBRIDGE_STAT_DROP_DOWN);
			spin_unlock_bh(&flow->lock);
		}
		rhashtable_walk_stop(&iter);
	} while (flow == ERR_PTR(-EAGAIN));
	rhashtable_walk_exit(&iter);
	/* Wait for timers that ran meanwhile. */
	synchronize_net();
}

/**
 * zbr_flows_init() - prepare the tables
 * @zb:		tunnel
 *
 * Return: 0 or an error.
 */
int zbr_flows_init(struct zbridge *zb)
{
	int err = rhashtable_init(&zb->flows, &zbr_flows_params);

	ratelimit_state_init(&zb->rsts, HZ, ZBR_RSTS);
	ratelimit_set_flags(&zb->rsts, RATELIMIT_MSG_ON_RELEASE);
	if (err)
		return err;
	err = rhashtable_init(&zb->ids, &zbr_ids_params);
	if (err)
		rhashtable_destroy(&zb->flows);
	return err;
}

/**
 * zbr_flows_exit() - free the tables
 * @zb:		tunnel without flows
 */
void zbr_flows_exit(struct zbridge *zb)
{
	rhashtable_destroy(&zb->flows);
	rhashtable_destroy(&zb->ids);
}
