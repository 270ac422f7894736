// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: how a packet gets into its queue, whether the host enqueues it or the port pulls it
 * from its switch: it is segmented, queued and sampled by QCN; or dropped by the watchdog.
 *
 * Context.  All functions run under the qdisc's root lock.
 */
#include <linux/random.h>
#include <net/gso.h>
#include <net/pkt_sched.h>
#include "cee_qcn.h"
#include "cee_queue.h"
#include "sch_cee.h"

/**
 * cee_unblock() - a priority may send, or has no packet that waits
 * @q:		qdisc
 * @prio:	priority
 *
 * Context: the root lock.
 */
void cee_unblock(struct cee_sched *q, unsigned int prio)
{
	q->queue[prio].blocked = 0;
	q->storm &= ~BIT(prio);
}

/**
 * cee_queue_paused() - update a queue's pause state before the queue is used
 * @q:		qdisc
 * @prio:	priority
 * @now:	ktime_get_ns()
 *
 * Context: the root lock.
 * Return: whether the peer pauses the priority.
 */
bool cee_queue_paused(struct cee_sched *q, unsigned int prio, u64 now)
{
	u32 begun = READ_ONCE(q->port->pause[prio].begun);
	bool paused = cee_pfc_paused(q->port, prio, now);
	struct cee_queue *queue = &q->queue[prio];
	bool waits = queue->packets;

	if (begun != queue->begun) {
		queue->begun = begun;
		queue->held = waits;
	}
	/*
	 * The watchdog's time runs until a packet that waits may leave (cee_may_send()): a
	 * peer that sends XON and XOFF in quick succession has not let any packet leave.
	 */
	if (!waits && (!paused || !(q->storm & BIT(prio))))
		cee_unblock(q, prio);
	if (!paused) {
		if (queue->held)
			queue->np = queue->seq;
		queue->held = false;
	} else if (waits) {
		queue->held = true;
		queue->blocked = queue->blocked ?: now;
	}
	return paused;
}

/* Bytes that wait in a priority, here and in the switch that this port belongs to. */
static u32 cee_depth(const struct cee_sched *q, unsigned int prio)
{
	struct cee_source *src = rcu_dereference_bh(q->port->source);

	return q->queue[prio].bytes + (src ? src->ops->backlog(src, prio) : 0);
}

/*
 * Whether a packet is marked depends on the queue that it finds, but the mark is set when it
 * leaves: cee_bill.c needs that no waiting packet is written to, and NP-ECN depends on whether
 * a pause holds the packet until then.
 */
static void cee_mark(const struct cee_sched *q, const struct cee_config *cfg, struct sk_buff *skb,
		     unsigned int prio)
{
	cee_cb(skb)->mark = cee_ecn_due(&cfg->prio[prio], cee_depth(q, prio), get_random_u32());
}

/* Hash of a packet's flow; with a limiter, over what a CNM would quote, to find it again. */
static u16 cee_flow_of(struct cee_sched *q, const struct cee_config *cfg, struct sk_buff *skb,
		       unsigned int prio)
{
	if (cfg->prio[prio].limiter)
		return cee_rp_note(q->port->reaction[prio], skb);
	return cfg->prio[prio].flows > 1 ? skb_get_hash(skb) : 0;
}

static void cee_append(struct Qdisc *sch, const struct cee_config *cfg, struct sk_buff *skb,
		       unsigned int prio)
{
	struct cee_sched *q = qdisc_priv(sch);
	struct cee_queue *queue = &q->queue[prio];

	cee_queue_resize(queue, cfg->prio[prio].flows);
	cee_cb(skb)->hash = cee_flow_of(q, cfg, skb, prio);
	cee_queue_add(queue, skb);
	q->st[prio].backlog_max = max_t(u64, q->st[prio].backlog_max, queue->bytes);
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
}

static void cee_sample_queue(struct Qdisc *sch, const struct cee_config *cfg,
			     const struct sk_buff *skb, unsigned int prio)
{
	struct cee_sched *q = qdisc_priv(sch);
	struct cee_queue *queue = &q->queue[prio];
	struct cee_sample s;

	if (cee_cp_sample(&queue->cp, qdisc_pkt_len(skb), cee_depth(q, prio),
			  cfg->prio[prio].eff_qeq, &s) &&
	    !READ_ONCE(q->port->foreign) && !cee_is_cnm(skb))
		cee_cp_notify(&queue->cp, qdisc_dev(sch), skb, prio, &s);
}

/**
 * cee_accept() - queue a packet that has been admitted
 * @sch:	qdisc
 * @cfg:	options
 * @skb:	packet, with its control block
 * @prio:	priority
 *
 * Context: the root lock.
 */
void cee_accept(struct Qdisc *sch, const struct cee_config *cfg, struct sk_buff *skb,
		unsigned int prio)
{
	cee_mark(qdisc_priv(sch), cfg, skb, prio);
	cee_append(sch, cfg, skb, prio);
	if (cfg->prio[prio].qcn)
		cee_sample_queue(sch, cfg, skb, prio);
}

/**
 * cee_storm_drops() - does the watchdog drop new packets of a priority?
 * @q:		qdisc
 * @cfg:	options
 * @prio:	priority
 *
 * Context: the root lock.
 * Return: whether it does.
 */
bool cee_storm_drops(struct cee_sched *q, const struct cee_config *cfg, unsigned int prio)
{
	return cee_queue_paused(q, prio, ktime_get_ns()) && q->storm & BIT(prio) &&
	       cfg->action == TCA_CEE_ACTION_DROP;
}

/**
 * cee_segments() - segment a GSO packet
 * @q:		qdisc
 * @skb:	GSO packet; the caller still owns it
 *
 * Context: the root lock.
 * Return: a list of segments, or NULL if it cannot be segmented.
 */
struct sk_buff *cee_segments(struct cee_sched *q, struct sk_buff *skb)
{
	struct sk_buff *segs;

	segs = skb_gso_segment(skb, netif_skb_features(skb) & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs))
		return NULL;
	q->gso_segmented++;
	return segs;
}

/**
 * cee_single() - set up list pointer, length and segment count of a single packet
 * @skb:	packet
 */
void cee_single(struct sk_buff *skb)
{
	skb_mark_not_on_list(skb);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	compat_qdisc_single_segment(skb);
}
