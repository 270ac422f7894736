/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_cee: a qdisc, the queue of a priority, and the state of a packet that waits there.
 *
 * All of it is under the qdisc's root lock.
 */
#ifndef _CEE_QUEUE_H
#define _CEE_QUEUE_H

#include <linux/list.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "cee_qcn.h"
#include "sch_cee.h"

/**
 * struct cee_cb - state of a packet that waits
 * @set:	if not @billed: ports that the packet alone is charged to, or NULL
 * @bill:	if @billed: bill of the packet and its copies
 * @seq:	number of the packet in its queue
 * @hash:	hash of its flow
 * @mark:	ECN-mark the packet when it leaves; with NP-ECN, if no pause has held it
 * @limited:	its bytes count against the limit
 * @billed:	the packet is charged together with its copies
 */
struct cee_cb {
	union {
		struct cee_set	*set;
		struct cee_bill	*bill;
	};
	u32		seq;
	u16		hash;
	bool		mark : 1;
	bool		limited : 1;
	bool		billed : 1;
};

/**
 * struct cee_origin - what a packet was enqueued as
 * @skb:	the packet itself, or the GSO packet that it is a segment of
 * @part:	number of the segment
 * @owned:	its bytes are charged to a socket of this machine, which bounds them
 */
struct cee_origin {
	struct sk_buff	*skb;
	unsigned int	part;
	bool		owned;
};

/**
 * struct cee_flow - packets with the same hash, in their order
 * @node:	in cee_queue.active, if it has packets
 * @head:	first packet
 * @tail:	last packet
 * @deficit:	bytes that it may still send in this round
 */
struct cee_flow {
	struct list_head	node;
	struct sk_buff		*head;
	struct sk_buff		*tail;
	int			deficit;
};

/**
 * struct cee_queue - queue of a priority
 * @active:	flows with packets, in the order of their turns
 * @flow:	array of all flows; &@fifo if there is one
 * @flows:	number of flows
 * @fifo:	the flow of a queue that has one
 * @turn:	flow that sends next, valid for one dequeue
 * @packets:	packets that wait
 * @bytes:	bytes of these packets
 * @limited:	part of @bytes that counts against the limit
 * @seq:	number of packets enqueued so far
 * @held:	the pause @begun holds, or has held, packets of this queue
 * @np:		packets with numbers below this were held by a pause
 * @begun:	cee_pause.begun of the pause that @held is about
 * @blocked:	when pauses began to keep all packets waiting, ns; 0 if they do not
 * @cp:		congestion point
 */
struct cee_queue {
	struct list_head	active;
	struct cee_flow		*flow;
	u32			flows;
	struct cee_flow		fifo;
	struct cee_flow		*turn;
	u32			packets;
	u32			bytes;
	u32			limited;
	u32			seq;
	bool			held;
	u32			np;
	u32			begun;
	u64			blocked;
	struct cee_cp		cp;
};

/**
 * struct cee_sched - a qdisc
 * @port:	port of its device; below mq shared by all qdiscs
 * @queue:	queue of each priority
 * @ets:	state of the scheduler
 * @storm:	mask of priorities that the watchdog has released from a pause
 * @watchdog:	wakes the port at @next, or when a pause or a limiter's wait ends
 * @next:	time when the rate allows the next packet
 * @next_rate:	rate that @next was computed from
 * @busy:	packets waited when the last one left
 * @gso_segmented: GSO packets that were segmented
 * @st:		counters; those that are kept in the port are 0 here
 */
struct cee_sched {
	struct cee_port			*port;
	struct cee_queue		queue[CEE_PRIOS];
	struct cee_ets			ets;
	u8				storm;
	struct qdisc_watchdog		watchdog;
	u64				next;
	u64				next_rate;
	bool				busy;
	u64				gso_segmented;
	struct tc_cee_prio_xstats	st[CEE_PRIOS];
};

static inline struct cee_cb *cee_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct cee_cb));
	return (struct cee_cb *)qdisc_skb_cb(skb)->data;
}

/* cee_queue.c */
void cee_queue_init(struct cee_queue *queue);
void cee_queue_free(struct cee_queue *queue);
void cee_queue_resize(struct cee_queue *queue, u32 flows);
void cee_queue_add(struct cee_queue *queue, struct sk_buff *skb);
struct cee_flow *cee_queue_next(struct cee_queue *queue, const struct cee_config *cfg,
				struct cee_reaction *r, u64 now, u64 *wake);
struct sk_buff *cee_queue_take(struct cee_queue *queue, struct cee_flow *flow);
void cee_queue_sent(struct cee_queue *queue, struct cee_flow *flow, const struct cee_config *cfg,
		    u32 len);
bool cee_queue_was_held(const struct cee_queue *queue, const struct sk_buff *skb);

/* cee_bill.c */
bool cee_bill_charge(struct sk_buff *skb, const struct cee_origin *from, struct cee_set *set,
		     unsigned int prio, u32 len);
void cee_bill_settle(const struct sk_buff *skb, unsigned int prio);

/* cee_intake.c */
void cee_unblock(struct cee_sched *q, unsigned int prio);
bool cee_queue_paused(struct cee_sched *q, unsigned int prio, u64 now);
void cee_accept(struct Qdisc *sch, const struct cee_config *cfg, struct sk_buff *skb,
		unsigned int prio);
bool cee_storm_drops(struct cee_sched *q, const struct cee_config *cfg, unsigned int prio);
struct sk_buff *cee_segments(struct cee_sched *q, struct sk_buff *skb);
void cee_single(struct sk_buff *skb);

/* cee_source.c */
void cee_refill(struct Qdisc *sch, const struct cee_config *cfg);

/* cee_stats.c */
int cee_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

#endif /* _CEE_QUEUE_H */
