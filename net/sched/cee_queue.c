// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: the queue of a priority, FIFO or fair by flow.
 *
 * With flows, packets of the same hash keep their order and flows take turns by deficit
 * round robin (Shreedhar and Varghese, SIGCOMM 1995), with a quantum of one largest frame;
 * a packet is sent first and paid for afterwards, as in cee_ets.c.  Two flows with the same
 * hash share a turn.
 *
 * A flow that its rate limiter (cee_qcn_rp.c) makes wait loses its turn but no deficit, and
 * does not delay the others.
 *
 * The number of flows may change at any time; a change takes effect when the queue is
 * empty, so that no packet overtakes another of its flow.  Without memory for them the
 * number stays as it was until the queue is empty again.
 *
 * Locks: everything is under the qdisc's root lock.
 *
 * Not here: priority for new flows, and drops by flow (CoDel): a lossless queue drops none.
 */
#include <linux/slab.h>
#include "cee_queue.h"
#include "sch_cee.h"

/* Sequence numbers that are further apart cannot be compared. */
#define CEE_SEQ_MAX	BIT(30)

/**
 * cee_queue_init() - make an empty FIFO queue
 * @queue:	in zeroed memory
 */
void cee_queue_init(struct cee_queue *queue)
{
	INIT_LIST_HEAD(&queue->active);
	queue->flow = &queue->fifo;
	queue->flows = 1;
}

/**
 * cee_queue_free() - free the memory of a queue
 * @queue:	empty, or never initialised
 */
void cee_queue_free(struct cee_queue *queue)
{
	if (queue->flow != &queue->fifo)
		kfree(queue->flow);
}

/**
 * cee_queue_resize() - change the number of flows if the queue is empty
 * @queue:	queue
 * @flows:	number of flows that the options ask for
 */
void cee_queue_resize(struct cee_queue *queue, u32 flows)
{
	struct cee_flow *flow = &queue->fifo;

	if (likely(queue->flows == flows) || queue->packets)
		return;
	if (flows > 1)
		flow = kcalloc(flows, sizeof(*flow), GFP_ATOMIC | __GFP_NOWARN);
	if (!flow)
		return;
	cee_queue_free(queue);
	queue->flow = flow;
	queue->flows = flows;
}

/**
 * cee_queue_add() - append a packet
 * @queue:	queue
 * @skb:	packet, with cee_cb.hash
 */
void cee_queue_add(struct cee_queue *queue, struct sk_buff *skb)
{
	struct cee_flow *flow = &queue->flow[cee_cb(skb)->hash % queue->flows];

	skb->next = NULL;
	if (flow->head) {
		flow->tail->next = skb;
	} else {
		flow->head = skb;
		flow->deficit = min(flow->deficit, 0);
		list_add_tail(&flow->node, &queue->active);
	}
	flow->tail = skb;
	cee_cb(skb)->seq = queue->seq++;
	if (queue->seq - queue->np > CEE_SEQ_MAX)
		queue->np = queue->seq - CEE_SEQ_MAX;
	queue->packets++;
	queue->bytes += qdisc_pkt_len(skb);
}

/**
 * cee_queue_next() - choose the flow that sends next
 * @queue:	queue
 * @cfg:	options of the port
 * @r:		rate limiters of its flows, or NULL
 * @now:	ktime_get_ns()
 * @wake:	lowered to when a flow that must wait is to be asked again
 *
 * Return: a flow, the same until it sends; NULL if there is none or all must wait.
 */
struct cee_flow *cee_queue_next(struct cee_queue *queue, const struct cee_config *cfg,
				struct cee_reaction *r, u64 now, u64 *wake)
{
	struct cee_flow *flow, *first = NULL;
	u64 wait = 0;

	for (;;) {
		flow = list_first_entry_or_null(&queue->active, struct cee_flow, node);
		if (!flow || flow == first)
			return NULL;
		if (r)
			wait = cee_rp_wait(r, cfg, cee_cb(flow->head)->hash, now);
		if (wait) {
			*wake = min(*wake, wait);
			/* Back at the first flow that waits: all flows wait for their limiters. */
			first = first ?: flow;
		}
		if (!wait) {
			if (flow->deficit > 0 || queue->flows == 1)
				return flow;
			flow->deficit += cfg->frame;
			first = NULL;
		}
		list_move_tail(&flow->node, &queue->active);
	}
}

/**
 * cee_queue_take() - unlink the first packet of a flow
 * @queue:	queue
 * @flow:	flow that has a packet
 *
 * Return: packet.
 */
struct sk_buff *cee_queue_take(struct cee_queue *queue, struct cee_flow *flow)
{
	struct sk_buff *skb = flow->head;

	flow->head = skb->next;
	if (!flow->head)
		list_del(&flow->node);
	skb_mark_not_on_list(skb);
	queue->packets--;
	queue->bytes -= qdisc_pkt_len(skb);
	return skb;
}

/**
 * cee_queue_sent() - charge a packet to its flow's deficit
 * @queue:	queue
 * @flow:	flow
 * @cfg:	options of the port
 * @len:	bytes
 */
void cee_queue_sent(struct cee_queue *queue, struct cee_flow *flow, const struct cee_config *cfg,
		    u32 len)
{
	if (queue->flows > 1)
		flow->deficit -= min(len, cfg->frame);
}

/**
 * cee_queue_was_held() - did a pause hold a packet?
 * @queue:	queue
 * @skb:	packet that was in it
 */
bool cee_queue_was_held(const struct cee_queue *queue, const struct sk_buff *skb)
{
	return (s32)(cee_cb(skb)->seq - queue->np) < 0;
}
