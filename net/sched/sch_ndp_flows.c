// SPDX-License-Identifier: GPL-2.0
/*
 * sch_ndp: a host's own port, deficit round robin among sockets.
 *
 * A host must not trim its own packets: they are not on the wire yet, so they can wait.
 * But a socket with a full queue must not hold up the others.  An NDP connection is a flow
 * by its connection id, because its packets are spread over source ports; any other packet
 * is assigned to a flow by the socket that sent it or, if it was forwarded, by its flow
 * hash.
 *
 * A packet may carry its earliest departure time (EDT, skb->tstamp), as those of paced
 * transports and TCP do.  Its flow waits until then and the others go on, as with sch_fq.
 * For datagrams any user may set that time (SO_TXTIME), and could fill the port with
 * waiting packets: so it is ignored for them.  A user's own pacing rate
 * (SO_MAX_PACING_RATE) can put a TCP socket's acknowledgments minutes off: a time beyond
 * NDP_HORIZON is ignored as well.  Other traffic that waits for its time takes half of the
 * limit at most; more than that is sent at once.
 *
 * Flows with the same hash share a bucket; with 1024 buckets and the few dozen flows that
 * are active at a time on a host that is rare, and costs fairness only.  Deficits in the
 * round robin may become negative (a packet is sent first and paid for afterwards), so
 * that no packet needs to be looked at twice.
 */
#include <linux/hash.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/sock.h>
#include "sch_ndp.h"

#define NDP_FLOW_BITS		10

/* NDP's own transports set departure times at most NDP_RTO_MAX, 200 ms, ahead. */
#define NDP_HORIZON		NSEC_PER_SEC

/**
 * struct ndpq_flow - packets of a connection, a socket or a flow hash
 * @active:	in ndpq_flows.active or ndpq_flows.waiting
 * @queue:	its packets
 * @deficit:	bytes that it may still send
 * @parked:	its packets are counted in ndpq_flows.parked
 */
struct ndpq_flow {
	struct list_head	active;
	struct sk_buff_head	queue;
	int			deficit;
	bool			parked;
};

/**
 * struct ndpq_flows - flows of a port in host mode
 * @p:		parameters of the port
 * @active:	flows with packets, next one first
 * @waiting:	flows whose first packet may not depart yet
 * @wake:	when the first flow of @waiting may send, ktime_get_ns()
 * @parked:	packets in those flows of @waiting whose first packet is other traffic
 * @flow:	all flows, indexed by hash
 */
struct ndpq_flows {
	const struct ndpq_params *p;
	struct list_head	active;
	struct list_head	waiting;
	u64			wake;
	u32			parked;
	struct ndpq_flow	flow[1 << NDP_FLOW_BITS];
};

/* In the part of the control block that the qdisc layer leaves to us. */
struct ndpq_flow_cb {
	u8	class;
};

/* Limit of the packets of other traffic that wait for their departure time */
static u32 ndpq_park_limit(const struct ndpq_flows *fs)
{
	return fs->p->other_limit / 2;
}

static struct ndpq_flow_cb *ndpq_flow_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct ndpq_flow_cb));
	return (struct ndpq_flow_cb *)qdisc_skb_cb(skb)->data;
}

/**
 * ndpq_flows_create() - make the flows of a port
 * @p:	parameters of the port
 *
 * Return: flows, or NULL without memory.
 */
struct ndpq_flows *ndpq_flows_create(const struct ndpq_params *p)
{
	struct ndpq_flows *fs = kvzalloc(sizeof(*fs), GFP_KERNEL);
	int i;

	if (!fs)
		return NULL;
	fs->p = p;
	INIT_LIST_HEAD(&fs->active);
	INIT_LIST_HEAD(&fs->waiting);
	for (i = 0; i < ARRAY_SIZE(fs->flow); i++) {
		INIT_LIST_HEAD(&fs->flow[i].active);
		__skb_queue_head_init(&fs->flow[i].queue);
	}
	return fs;
}

/**
 * ndpq_flows_destroy() - free the flows of a port
 * @fs:	flows without packets, or NULL
 */
void ndpq_flows_destroy(struct ndpq_flows *fs)
{
	kvfree(fs);
}

static u32 ndpq_flow_hash(struct sk_buff *skb, enum ndpq_class class,
			  const struct ndpq_view *v)
{
	u64 id;

	if (class == NDP_CLASS_DATA) {
		memcpy(&id, skb->data + v->thoff + sizeof(struct udphdr) +
			    offsetof(struct ndphdr, conn_id), sizeof(id));
		return hash_64(id, NDP_FLOW_BITS);
	}
	if (skb->sk && sk_fullsock(skb->sk))
		return hash_ptr(skb->sk, NDP_FLOW_BITS);
	return hash_32(skb_get_hash(skb), NDP_FLOW_BITS);
}

/* Move a waiting flow back to the active ones. */
static void ndpq_flow_wake(struct ndpq_flows *fs, struct ndpq_flow *f)
{
	if (f->parked)
		fs->parked -= skb_queue_len(&f->queue);
	f->parked = false;
	list_move_tail(&f->active, &fs->active);
}

/**
 * ndpq_flows_add() - append a packet to its flow
 * @fs:		flows
 * @skb:	packet
 * @class:	class from ndpq_classify()
 * @v:		view from ndpq_classify()
 * @quantum:	bytes a flow may send per round
 */
void ndpq_flows_add(struct ndpq_flows *fs, struct sk_buff *skb,
		    enum ndpq_class class, const struct ndpq_view *v, int quantum)
{
	struct ndpq_flow *f = &fs->flow[ndpq_flow_hash(skb, class, v)];

	ndpq_flow_cb(skb)->class = class;
	__skb_queue_tail(&f->queue, skb);
	fs->parked += f->parked;
	if (list_empty(&f->active)) {
		f->deficit = quantum;
		list_add_tail(&f->active, &fs->active);
	} else if (f->parked && fs->parked > ndpq_park_limit(fs)) {
		ndpq_flow_wake(fs, f);
	}
}

/* A packet's earliest departure time, ktime_get_ns(); 0: at once */
static u64 ndpq_departure(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	if (!skb->tstamp || !sk || !sk_fullsock(sk) ||
	    (sk->sk_type != SOCK_STREAM && sk->sk_type != SOCK_SEQPACKET))
		return 0;
	return ktime_to_ns(skb->tstamp);
}

/* Put a flow aside if its first packet may not depart yet. */
static bool ndpq_flow_waits(struct ndpq_flows *fs, struct ndpq_flow *f, u64 now)
{
	const struct sk_buff *skb = skb_peek(&f->queue);
	bool other = ndpq_flow_cb(skb)->class != NDP_CLASS_DATA;
	u64 at = ndpq_departure(skb);

	if (at <= now || at - now > NDP_HORIZON)
		return false;
	if (other && fs->parked + skb_queue_len(&f->queue) > ndpq_park_limit(fs))
		return false;
	if (other)
		fs->parked += skb_queue_len(&f->queue);
	f->parked = other;
	if (list_empty(&fs->waiting) || at < fs->wake)
		fs->wake = at;
	list_move_tail(&f->active, &fs->waiting);
	return true;
}

/**
 * ndpq_flows_wake() - when the next packet may depart
 * @fs:		flows; ndpq_flows_next() has just returned NULL
 *
 * Return: ktime_get_ns(), or 0 if there is no packet.
 */
u64 ndpq_flows_wake(const struct ndpq_flows *fs)
{
	return list_empty(&fs->waiting) ? 0 : fs->wake;
}

/**
 * ndpq_flows_next() - take the packet that is next to be sent
 * @fs:		flows
 * @quantum:	bytes a flow may send per round
 * @now:	ktime_get_ns(); U64_MAX: all packets may depart
 * @class:	set to the class that was given to ndpq_flows_add()
 *
 * Return: the packet, or NULL if there is none that may depart.
 */
struct sk_buff *ndpq_flows_next(struct ndpq_flows *fs, int quantum, u64 now,
				enum ndpq_class *class)
{
	struct ndpq_flow *f, *next;
	struct sk_buff *skb;

	if (fs->wake <= now)
		list_for_each_entry_safe(f, next, &fs->waiting, active)
			ndpq_flow_wake(fs, f);
	for (;;) {
		f = list_first_entry_or_null(&fs->active, struct ndpq_flow,
					     active);
		if (!f)
			return NULL;
		if (f->deficit <= 0) {
			f->deficit += quantum;
			list_move_tail(&f->active, &fs->active);
		} else if (!ndpq_flow_waits(fs, f, now)) {
			break;
		}
	}
	skb = __skb_dequeue(&f->queue);
	f->deficit -= ndpq_cost(skb);
	*class = ndpq_flow_cb(skb)->class;
	if (skb_queue_empty(&f->queue))
		list_del_init(&f->active);
	return skb;
}
