// SPDX-License-Identifier: GPL-2.0
/*
 * sch_ndp: the trimming switch port.
 *
 * The queue that a switch needs for NDP (Handley et al., "Re-architecting
 * datacenter networks and stacks for low latency and high performance", SIGCOMM
 * 2017), as a queueing discipline:
 *
 *   - A short queue for data (section 3.1; 8 packets, which section 6 finds
 *     enough for full throughput) and one for headers, that is control and
 *     trimmed data.
 *   - When data finds its queue full, one packet is trimmed.  A random bit
 *     selects the arriving packet or the last of the queue, which breaks up
 *     phase effects between senders.
 *   - Headers are served first, but no more than 10 for one data packet while
 *     data waits.  That bounds the share of goodput that overload can turn into
 *     headers: with strict priority headers could take all of it.
 *   - The header queue has as many bytes as the data queue by default, the
 *     paper's 8 packets of 9 KB beside 1125 headers.  A trimmed packet that
 *     finds it full returns to its sender (section 3.2.4) or is dropped.
 *   - Other traffic has a queue of its own.  Deficit round robin by bytes shares
 *     the port between it and NDP, whose share includes the headers.
 *
 *                          .-> headers (bytes) --.  10
 *	arriving -> class ---+                      +-- WRR --.
 *	  |   ^              '-> data (packets) ----'   1     +-- DRR -- rate -->
 *	  |   |  trim            full ^ | tail                |
 *	  |   '-----------------------'-'                     |
 *	  '---------------------------> other (packets) ------'
 *
 * Mode host is for the port of an end host: headers first, again no more than 10
 * for one other packet while any waits, then deficit round robin among sockets.
 * A full queue drops, and nothing is trimmed, because packets that are not on
 * the wire yet need no NACK to be retransmitted.
 *
 * A trim shortens a packet that a parent has counted, a tail drop removes one
 * that it has counted: enqueue compares its own queue before and after, and
 * reports to the parents the difference from what they will assume.
 *
 * Lowering a limit does not affect queued packets; it applies to those that
 * arrive later.
 *
 * Not here: classification by anything but code points, hashing of other
 * traffic into flows (put fq_codel on the hosts), pause frames (sch_cee).
 */
#include <linux/if_vlan.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <net/gso.h>
#include <net/inet_ecn.h>
#include <net/netlink.h>
#include "attr.h"
#include "sch_ndp.h"
#include "sch_ndp_trace.h"

/* Bounds of the parameters, set by hardware and memory */
#define NDP_LIMIT_MAX		65536
#define NDP_OTHER_LIMIT_MAX	1000000
#define NDP_HDR_LIMIT_MAX	(64U << 20)
#define NDP_WEIGHT_MAX		1000
#define NDP_QUANTUM_MAX		(U16_MAX + ETH_HLEN + VLAN_HLEN)
#define NDP_RATE_MIN		125ULL			/* 1 kbit/s */
#define NDP_RATE_MAX		1250000000000ULL	/* 10 Tbit/s */

/* A port that was blocked for long catches up by no more than this. */
#define NDP_RATE_LAG_NS		NSEC_PER_MSEC

static bool ndpq_is_host(const struct ndpq_sched *q)
{
	return q->p.mode == TCA_NDP_MODE_HOST;
}

static u32 ndpq_hdr_limit(struct Qdisc *sch)
{
	const struct ndpq_sched *q = qdisc_priv(sch);
	u64 limit = q->p.hdr_limit;

	if (!limit)
		limit = (u64)q->p.limit * READ_ONCE(qdisc_dev(sch)->mtu);
	return clamp_t(u64, limit, NDP_HDR_MAX, NDP_HDR_LIMIT_MAX);
}

/*
 * One packet of the largest size, so that a round is as short as can be.  An MTU may be up to
 * INT_MAX (dummy, lo), and the largest weight times the quantum must not overflow.
 */
static int ndpq_quantum(struct Qdisc *sch)
{
	return clamp_t(u32, psched_mtu(qdisc_dev(sch)), NDP_HDR_MAX, NDP_QUANTUM_MAX);
}

/* Packets in our queues.  The qdisc's qlen also counts one that a parent has peeked. */
static u32 ndpq_len(const struct ndpq_sched *q)
{
	return q->data_len + q->other_len + skb_queue_len(&q->hdr);
}

static void ndpq_count_in(struct Qdisc *sch, const struct sk_buff *skb)
{
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
}

static void ndpq_count_out(struct Qdisc *sch, const struct sk_buff *skb)
{
	sch->q.qlen--;
	qdisc_qstats_backlog_dec(sch, skb);
}

/* Set CE if the queue is that deep.  A cloned header is copied first; without memory, no mark. */
static bool ndpq_mark(struct sk_buff *skb, u32 depth, u32 threshold)
{
	unsigned int len = skb_network_offset(skb) + sizeof(struct ipv6hdr);

	if (!threshold || depth < threshold || skb_network_offset(skb) < 0)
		return false;
	if (skb_ensure_writable(skb, min(len, skb->len)))
		return false;
	return INET_ECN_set_ce(skb);
}

static void ndpq_count_drop(struct Qdisc *sch, unsigned int len, enum ndpq_drop why)
{
	struct ndpq_sched *q = qdisc_priv(sch);

	switch (why) {
	case NDP_DROP_DATA:
		q->st.drop_data++;
		break;
	case NDP_DROP_BOUNCE:
		q->st.drop_bounce++;
		fallthrough;
	case NDP_DROP_HEADER:
		q->st.drop_header++;
		break;
	case NDP_DROP_OTHER:
		q->st.drop_other++;
		break;
	}
	trace_sch_ndp_drop(sch, len, why);
}

/* Drop a packet that is in no queue. */
static int ndpq_drop(struct sk_buff *skb, struct Qdisc *sch, enum ndpq_drop why,
		     int err, struct sk_buff **to_free)
{
	struct ndpq_sched *q = qdisc_priv(sch);

	ndpq_count_drop(sch, skb->len, why);
	if (err == -ENOMEM)
		q->st.drop_nomem++;
	return qdisc_drop(skb, sch, to_free);
}

/* Hand a turned packet to netif_rx().  To the caller it is stolen: accepted, but in no queue. */
static int ndpq_return_to_sender(struct sk_buff *skb, struct Qdisc *sch, unsigned int len)
{
	struct ndpq_sched *q = qdisc_priv(sch);

	if (netif_rx(skb) == NET_RX_SUCCESS) {
		q->st.bounced++;
		trace_sch_ndp_bounce(sch, len);
		return NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
	}
	ndpq_count_drop(sch, len, NDP_DROP_BOUNCE);
	qdisc_qstats_drop(sch);
	return NET_XMIT_DROP;
}

static int ndpq_header_full(struct sk_buff *skb, struct Qdisc *sch,
			    struct sk_buff **to_free)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	unsigned int len = skb->len;
	int err;

	if (ndpq_is_host(q) || q->p.overflow != TCA_NDP_OVERFLOW_BOUNCE)
		return ndpq_drop(skb, sch, NDP_DROP_HEADER, 0, to_free);
	err = ndpq_turn_around(skb, &q->p);
	if (err)
		return ndpq_drop(skb, sch, NDP_DROP_BOUNCE, err, to_free);
	return ndpq_return_to_sender(skb, sch, len);
}

static int ndpq_enqueue_header(struct sk_buff *skb, struct Qdisc *sch,
			       struct sk_buff **to_free)
{
	struct ndpq_sched *q = qdisc_priv(sch);

	if (q->hdr_bytes + skb->len > ndpq_hdr_limit(sch))
		return ndpq_header_full(skb, sch, to_free);
	__skb_queue_tail(&q->hdr, skb);
	q->hdr_bytes += skb->len;
	ndpq_count_in(sch, skb);
	return NET_XMIT_SUCCESS;
}

static void ndpq_append_data(struct sk_buff *skb, struct Qdisc *sch)
{
	struct ndpq_sched *q = qdisc_priv(sch);

	q->st.ecn_data += ndpq_mark(skb, q->data_len, q->p.ecn);
	__skb_queue_tail(&q->data, skb);
	q->data_len++;
	ndpq_count_in(sch, skb);
}

/* Trim a data packet that is in no queue, and queue its header. */
static int ndpq_demote(struct sk_buff *skb, struct Qdisc *sch, __u64 *counter,
		       struct sk_buff **to_free)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	unsigned int whole = skb->len;
	int len = qdisc_pkt_len(skb) - whole;
	int err;

	err = ndpq_trim(skb, &q->p);
	if (err)
		return ndpq_drop(skb, sch, NDP_DROP_DATA, err, to_free);
	/* Keep the overhead that a size table (tc stab) has added. */
	qdisc_skb_cb(skb)->pkt_len = max_t(int, len + skb->len, 1);
	(*counter)++;
	trace_sch_ndp_trim(sch, whole, counter == &q->st.trimmed_tail);
	qdisc_qstats_overlimit(sch);
	return ndpq_enqueue_header(skb, sch, to_free);
}

static int ndpq_enqueue_data(struct sk_buff *skb, struct Qdisc *sch,
			     struct sk_buff **to_free)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	struct sk_buff *tail;

	if (q->data_len < q->p.limit) {
		ndpq_append_data(skb, sch);
		return NET_XMIT_SUCCESS;
	}
	if (get_random_u32() & 1)
		return ndpq_demote(skb, sch, &q->st.trimmed_arrival, to_free);

	tail = __skb_dequeue_tail(&q->data);
	q->data_len--;
	ndpq_count_out(sch, tail);
	ndpq_append_data(skb, sch);
	ndpq_demote(tail, sch, &q->st.trimmed_tail, to_free);
	return NET_XMIT_SUCCESS;
}

static int ndpq_enqueue_other(struct sk_buff *skb, struct Qdisc *sch,
			      struct sk_buff **to_free)
{
	struct ndpq_sched *q = qdisc_priv(sch);

	if (q->other_len >= q->p.other_limit)
		return ndpq_drop(skb, sch, NDP_DROP_OTHER, 0, to_free);
	q->st.ecn_other += ndpq_mark(skb, q->other_len, q->p.other_ecn);
	__skb_queue_tail(&q->other, skb);
	q->other_len++;
	ndpq_count_in(sch, skb);
	return NET_XMIT_SUCCESS;
}

/* Mode host: queue a packet of data or of other traffic in its flow. */
static int ndpq_enqueue_flow(struct sk_buff *skb, struct Qdisc *sch,
			     enum ndpq_class class, const struct ndpq_view *v,
			     struct sk_buff **to_free)
{
	struct ndpq_sched *q = qdisc_priv(sch);

	if (class == NDP_CLASS_DATA) {
		if (q->data_len >= q->p.limit)
			return ndpq_drop(skb, sch, NDP_DROP_DATA, 0, to_free);
		q->st.ecn_data += ndpq_mark(skb, q->data_len, q->p.ecn);
		q->data_len++;
	} else {
		if (q->other_len >= q->p.other_limit)
			return ndpq_drop(skb, sch, NDP_DROP_OTHER, 0, to_free);
		q->st.ecn_other += ndpq_mark(skb, q->other_len, q->p.other_ecn);
		q->other_len++;
	}
	ndpq_flows_add(q->flows, skb, class, v, ndpq_quantum(sch));
	ndpq_count_in(sch, skb);
	return NET_XMIT_SUCCESS;
}

static int ndpq_enqueue_one(struct sk_buff *skb, struct Qdisc *sch,
			    struct sk_buff **to_free)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	enum ndpq_class class;
	struct ndpq_view v;

	class = ndpq_classify(skb, &q->p, &v);
	if (class == NDP_CLASS_HEADER) {
		q->st.header_in++;
		return ndpq_enqueue_header(skb, sch, to_free);
	}
	if (class == NDP_CLASS_DATA)
		q->st.data_in++;
	else
		q->st.other_in++;
	if (ndpq_is_host(q))
		return ndpq_enqueue_flow(skb, sch, class, &v, to_free);
	if (class == NDP_CLASS_DATA)
		return ndpq_enqueue_data(skb, sch, to_free);
	return ndpq_enqueue_other(skb, sch, to_free);
}

/* A GSO packet that cannot be segmented counts as one packet, dropped. */
static int ndpq_drop_unsegmented(struct sk_buff *skb, struct Qdisc *sch,
				 struct sk_buff **to_free)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	struct ndpq_view v;

	if (ndpq_classify(skb, &q->p, &v) == NDP_CLASS_DATA) {
		q->st.data_in++;
		return ndpq_drop(skb, sch, NDP_DROP_DATA, -ENOMEM, to_free);
	}
	q->st.other_in++;
	return ndpq_drop(skb, sch, NDP_DROP_OTHER, -ENOMEM, to_free);
}

/* Limits count packets as on the wire: a GSO packet would count as one, could
 * not be trimmed and would delay headers for as long as all of its segments
 * take.  The return value is the best that a segment got.
 */
static int ndpq_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch,
			    struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb) & ~NETIF_F_GSO_MASK;
	struct ndpq_sched *q = qdisc_priv(sch);
	struct sk_buff *seg, *segs, *next;
	int ret, best = NET_XMIT_DROP;

	segs = skb_gso_segment(skb, features);
	if (IS_ERR_OR_NULL(segs))
		return ndpq_drop_unsegmented(skb, sch, to_free);

	q->st.gso_segmented++;
	skb_list_walk_safe(segs, seg, next) {
		skb_mark_not_on_list(seg);
		qdisc_skb_cb(seg)->pkt_len = seg->len;
		compat_qdisc_single_segment(seg);
		ret = ndpq_enqueue_one(seg, sch, to_free);
		if (ret == NET_XMIT_SUCCESS || best == NET_XMIT_DROP)
			best = ret;
	}
	consume_skb(skb);
	return best;
}

static int ndpq_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	int packets = sch->q.qlen;
	int bytes = sch->qstats.backlog;
	int len = qdisc_pkt_len(skb);
	int ret;

	if (skb_is_gso(skb))
		ret = ndpq_enqueue_gso(skb, sch, to_free);
	else
		ret = ndpq_enqueue_one(skb, sch, to_free);

	packets -= sch->q.qlen;
	bytes -= sch->qstats.backlog;
	/* The parents will count the packet that they gave us. */
	if (ret == NET_XMIT_SUCCESS) {
		packets++;
		bytes += len;
	}
	if (packets || bytes)
		qdisc_tree_reduce_backlog(sch, packets, bytes);
	return ret;
}

static struct sk_buff *ndpq_take_header(struct Qdisc *sch)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = __skb_dequeue(&q->hdr);

	if (!skb)
		return NULL;
	q->hdr_bytes -= skb->len;
	q->st.header_sent++;
	q->st.header_sent_bytes += qdisc_pkt_len(skb);
	ndpq_count_out(sch, skb);
	return skb;
}

static void ndpq_sent_data(struct Qdisc *sch, const struct sk_buff *skb)
{
	struct ndpq_sched *q = qdisc_priv(sch);

	q->data_len--;
	q->st.data_sent++;
	q->st.data_sent_bytes += qdisc_pkt_len(skb);
	ndpq_count_out(sch, skb);
}

static void ndpq_sent_other(struct Qdisc *sch, const struct sk_buff *skb)
{
	struct ndpq_sched *q = qdisc_priv(sch);

	q->other_len--;
	q->st.other_sent++;
	q->st.other_sent_bytes += qdisc_pkt_len(skb);
	ndpq_count_out(sch, skb);
}

/* Weighted round robin: is it the headers' turn?  @others: other packets wait too. */
static bool ndpq_headers_turn(struct ndpq_sched *q, bool others)
{
	if (!others)
		return true;
	if (!skb_queue_empty(&q->hdr) && q->hdr_run < q->p.hdr_weight) {
		q->hdr_run++;
		return true;
	}
	q->hdr_run = 0;
	return false;
}

static struct sk_buff *ndpq_take_ndp(struct Qdisc *sch)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (ndpq_headers_turn(q, !skb_queue_empty(&q->data)))
		return ndpq_take_header(sch);
	skb = __skb_dequeue(&q->data);
	ndpq_sent_data(sch, skb);
	return skb;
}

static struct sk_buff *ndpq_take_other(struct Qdisc *sch)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = __skb_dequeue(&q->other);

	if (skb)
		ndpq_sent_other(sch, skb);
	return skb;
}

/* Deficit round robin between NDP and other traffic, sending first and paying
 * after.  A side without packets pays off a negative deficit, but accumulates no
 * positive one.
 */
static struct sk_buff *ndpq_dequeue_switch(struct Qdisc *sch)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u32 weight;

	if (!ndpq_len(q))
		return NULL;
	for (;;) {
		if (q->deficit[q->side] > 0) {
			skb = q->side == NDP_SIDE_NDP ? ndpq_take_ndp(sch) :
							ndpq_take_other(sch);
			if (skb) {
				q->deficit[q->side] -= ndpq_cost(skb);
				return skb;
			}
			q->deficit[q->side] = 0;
		}
		q->side = q->side == NDP_SIDE_NDP ? NDP_SIDE_OTHER :
						    NDP_SIDE_NDP;
		weight = q->side == NDP_SIDE_NDP ? q->p.data_weight :
						   q->p.other_weight;
		q->deficit[q->side] += weight * ndpq_quantum(sch);
	}
}

/* Any user may send small packets with control's code point (IP_TOS): headers
 * must not starve the other packets.
 */
static struct sk_buff *ndpq_dequeue_host(struct Qdisc *sch)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	enum ndpq_class class;
	struct sk_buff *skb;
	u64 wake;

	if (ndpq_headers_turn(q, q->data_len + q->other_len))
		return ndpq_take_header(sch);
	skb = ndpq_flows_next(q->flows, ndpq_quantum(sch), ktime_get_ns(), &class);
	if (!skb && !skb_queue_empty(&q->hdr))
		return ndpq_take_header(sch);
	if (!skb) {
		wake = ndpq_flows_wake(q->flows);
		if (wake)
			qdisc_watchdog_schedule_ns(&q->watchdog, wake);
		return NULL;
	}
	if (class == NDP_CLASS_DATA)
		ndpq_sent_data(sch, skb);
	else
		ndpq_sent_other(sch, skb);
	return skb;
}

/* A packet's time at the rate starts at the end of the previous one's if it
 * waited for that, else now: late timers cost no throughput, idle time earns
 * none.
 */
static void ndpq_pay_rate(struct Qdisc *sch, const struct sk_buff *skb, u64 now)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	u64 start = q->busy ? max(q->next, now - NDP_RATE_LAG_NS) : now;

	q->next = start + div64_u64((u64)qdisc_pkt_len(skb) * NSEC_PER_SEC,
				    q->p.rate);
	q->busy = ndpq_len(q) > 0;
}

static struct sk_buff *ndpq_dequeue(struct Qdisc *sch)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 now = 0;

	/* Some parents peek, and then fetch the peeked packet by ->dequeue(). */
	if (!skb_queue_empty(&sch->gso_skb))
		return qdisc_dequeue_peeked(sch);
	if (q->p.rate && ndpq_len(q)) {
		now = ktime_get_ns();
		if (now < q->next) {
			qdisc_watchdog_schedule_ns(&q->watchdog, q->next);
			return NULL;
		}
	}
	skb = ndpq_is_host(q) ? ndpq_dequeue_host(sch) : ndpq_dequeue_switch(sch);
	if (!skb)
		return NULL;
	if (q->p.rate)
		ndpq_pay_rate(sch, skb, now);
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void ndpq_reset_one(struct Qdisc *sch, struct sk_buff *skb, enum ndpq_drop why)
{
	ndpq_count_drop(sch, skb->len, why);
	rtnl_kfree_skbs(skb, skb);
}

/* Packets discarded by a reset count as dropped, so that the counters still add up. */
static void ndpq_reset(struct Qdisc *sch)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	enum ndpq_class class;
	struct sk_buff *skb;

	__qdisc_qstats_drop(sch, ndpq_len(q));
	while (q->flows && (skb = ndpq_flows_next(q->flows, 1 << 16, U64_MAX, &class)))
		ndpq_reset_one(sch, skb, class == NDP_CLASS_DATA ? NDP_DROP_DATA : NDP_DROP_OTHER);
	while ((skb = __skb_dequeue(&q->data)))
		ndpq_reset_one(sch, skb, NDP_DROP_DATA);
	while ((skb = __skb_dequeue(&q->hdr)))
		ndpq_reset_one(sch, skb, NDP_DROP_HEADER);
	while ((skb = __skb_dequeue(&q->other)))
		ndpq_reset_one(sch, skb, NDP_DROP_OTHER);
	q->data_len = 0;
	q->other_len = 0;
	q->hdr_bytes = 0;
	q->hdr_run = 0;
	memset(q->deficit, 0, sizeof(q->deficit));
	q->next = 0;
	q->busy = false;
	qdisc_watchdog_cancel(&q->watchdog);
}

static const struct nla_policy ndpq_policy[TCA_NDP_MAX + 1] = {
	[TCA_NDP_MODE]		= { .type = NLA_U8 },
	[TCA_NDP_LIMIT]		= { .type = NLA_U32 },
	[TCA_NDP_HDR_LIMIT]	= { .type = NLA_U32 },
	[TCA_NDP_OTHER_LIMIT]	= { .type = NLA_U32 },
	[TCA_NDP_HDR_WEIGHT]	= { .type = NLA_U32 },
	[TCA_NDP_OTHER_WEIGHT]	= { .type = NLA_U32 },
	[TCA_NDP_DATA_WEIGHT]	= { .type = NLA_U32 },
	[TCA_NDP_ECN]		= { .type = NLA_U32 },
	[TCA_NDP_OTHER_ECN]	= { .type = NLA_U32 },
	[TCA_NDP_RATE64]	= { .type = NLA_U64 },
	[TCA_NDP_OVERFLOW]	= { .type = NLA_U8 },
	[TCA_NDP_DSCP_DATA]	= { .type = NLA_U8 },
	[TCA_NDP_DSCP_TRIMMED]	= { .type = NLA_U8 },
	[TCA_NDP_DSCP_CONTROL]	= { .type = NLA_U8 },
	[TCA_NDP_PORT]		= { .type = NLA_U16 },
};

static void ndpq_read(struct ndpq_params *p, struct nlattr *tb[])
{
	sched_set_u8(&p->mode, tb[TCA_NDP_MODE]);
	sched_set_u8(&p->overflow, tb[TCA_NDP_OVERFLOW]);
	sched_set_u8(&p->dscp_data, tb[TCA_NDP_DSCP_DATA]);
	sched_set_u8(&p->dscp_trimmed, tb[TCA_NDP_DSCP_TRIMMED]);
	sched_set_u8(&p->dscp_control, tb[TCA_NDP_DSCP_CONTROL]);
	sched_set_u32(&p->limit, tb[TCA_NDP_LIMIT]);
	sched_set_u32(&p->hdr_limit, tb[TCA_NDP_HDR_LIMIT]);
	sched_set_u32(&p->other_limit, tb[TCA_NDP_OTHER_LIMIT]);
	sched_set_u32(&p->hdr_weight, tb[TCA_NDP_HDR_WEIGHT]);
	sched_set_u32(&p->data_weight, tb[TCA_NDP_DATA_WEIGHT]);
	sched_set_u32(&p->other_weight, tb[TCA_NDP_OTHER_WEIGHT]);
	sched_set_u32(&p->ecn, tb[TCA_NDP_ECN]);
	sched_set_u32(&p->other_ecn, tb[TCA_NDP_OTHER_ECN]);
	if (tb[TCA_NDP_RATE64])
		p->rate = nla_get_u64(tb[TCA_NDP_RATE64]);
	if (tb[TCA_NDP_PORT])
		p->port = htons(nla_get_u16(tb[TCA_NDP_PORT]));
}

static int ndpq_check_mode(const struct ndpq_params *p, struct nlattr *tb[],
			   struct netlink_ext_ack *extack)
{
	if (p->mode > TCA_NDP_MODE_HOST) {
		NL_SET_ERR_MSG_MOD(extack, "no such mode");
		return -EINVAL;
	}
	if (p->overflow > TCA_NDP_OVERFLOW_DROP) {
		NL_SET_ERR_MSG_MOD(extack, "overflow is neither bounce nor drop");
		return -EINVAL;
	}
	if (p->mode == TCA_NDP_MODE_HOST &&
	    (tb[TCA_NDP_DATA_WEIGHT] || tb[TCA_NDP_OTHER_WEIGHT] ||
	     tb[TCA_NDP_OVERFLOW])) {
		NL_SET_ERR_MSG_MOD(extack,
				   "weight, other_weight and overflow mean nothing in mode host");
		return -EINVAL;
	}
	return 0;
}

static int ndpq_check_limits(const struct ndpq_params *p, struct nlattr *tb[],
			     struct netlink_ext_ack *extack)
{
	if (!p->limit || p->limit > NDP_LIMIT_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "limit must be 1 to 65536 packets");
		return -EINVAL;
	}
	if (tb[TCA_NDP_HDR_LIMIT] && (p->hdr_limit < NDP_HDR_MAX ||
				      p->hdr_limit > NDP_HDR_LIMIT_MAX)) {
		NL_SET_ERR_MSG_MOD(extack, "hdr_limit must be 128 bytes to 64 MB");
		return -EINVAL;
	}
	if (!p->other_limit || p->other_limit > NDP_OTHER_LIMIT_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "other_limit must be 1 to 1000000 packets");
		return -EINVAL;
	}
	if (p->ecn > p->limit) {
		NL_SET_ERR_MSG_MOD(extack, "ecn above limit would never mark");
		return -EINVAL;
	}
	if (p->other_ecn > p->other_limit) {
		NL_SET_ERR_MSG_MOD(extack, "other_ecn above other_limit would never mark");
		return -EINVAL;
	}
	return 0;
}

static bool ndpq_weight_ok(u32 weight)
{
	return weight && weight <= NDP_WEIGHT_MAX;
}

static int ndpq_check_shares(const struct ndpq_params *p,
			     struct netlink_ext_ack *extack)
{
	if (!ndpq_weight_ok(p->hdr_weight) || !ndpq_weight_ok(p->data_weight) ||
	    !ndpq_weight_ok(p->other_weight)) {
		NL_SET_ERR_MSG_MOD(extack, "weights must be 1 to 1000");
		return -EINVAL;
	}
	if (p->rate && (p->rate < NDP_RATE_MIN || p->rate > NDP_RATE_MAX)) {
		NL_SET_ERR_MSG_MOD(extack, "rate must be 1kbit to 10tbit");
		return -EINVAL;
	}
	return 0;
}

static int ndpq_check_wire(const struct ndpq_params *p,
			   struct netlink_ext_ack *extack)
{
	if (p->dscp_data > 63 || p->dscp_trimmed > 63 || p->dscp_control > 63) {
		NL_SET_ERR_MSG_MOD(extack, "a DSCP must be 0 to 63");
		return -EINVAL;
	}
	if (p->dscp_data == p->dscp_trimmed ||
	    p->dscp_data == p->dscp_control ||
	    p->dscp_trimmed == p->dscp_control) {
		NL_SET_ERR_MSG_MOD(extack, "the three DSCPs must differ");
		return -EINVAL;
	}
	if (!p->port) {
		NL_SET_ERR_MSG_MOD(extack, "port must not be 0");
		return -EINVAL;
	}
	return 0;
}

static int ndpq_check(const struct ndpq_params *p, struct nlattr *tb[],
		      struct netlink_ext_ack *extack)
{
	return ndpq_check_mode(p, tb, extack) ?:
	       ndpq_check_limits(p, tb, extack) ?:
	       ndpq_check_shares(p, extack) ?: ndpq_check_wire(p, extack);
}

static int ndpq_change(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_NDP_MAX + 1];
	struct ndpq_params p = q->p;
	int err;

	if (!opt)
		return 0;
	err = nla_parse_nested(tb, TCA_NDP_MAX, opt, ndpq_policy, extack);
	if (err < 0)
		return err;
	ndpq_read(&p, tb);
	if (p.mode != q->p.mode) {
		NL_SET_ERR_MSG_MOD(extack, "the mode cannot be changed, delete the qdisc first");
		return -EOPNOTSUPP;
	}
	err = ndpq_check(&p, tb, extack);
	if (err)
		return err;

	sch_tree_lock(sch);
	if (p.rate != q->p.rate) {
		/* q->next was computed from the old rate. */
		q->next = 0;
		if (sch->q.qlen)
			qdisc_watchdog_schedule_ns(&q->watchdog,
						   ktime_get_ns());
	}
	q->p = p;
	sch_tree_unlock(sch);
	return 0;
}

static void ndpq_defaults(struct ndpq_params *p, u8 mode)
{
	*p = (struct ndpq_params) {
		.mode = mode,
		.dscp_data = NDP_DSCP_DATA,
		.dscp_trimmed = NDP_DSCP_TRIMMED,
		.dscp_control = NDP_DSCP_CONTROL,
		.port = htons(NDP_UDP_PORT),
		.limit = mode == TCA_NDP_MODE_HOST ? 1000 : 8,
		.other_limit = 1000,
		.hdr_weight = 10,
		.data_weight = 1,
		.other_weight = 1,
	};
}

/* The mode is read first: the defaults of other parameters depend on it. */
static int ndpq_init_mode(struct ndpq_sched *q, struct nlattr *opt,
			  struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_NDP_MAX + 1];
	u8 mode = TCA_NDP_MODE_SWITCH;
	int err;

	if (opt) {
		err = nla_parse_nested(tb, TCA_NDP_MAX, opt, ndpq_policy,
				       extack);
		if (err < 0)
			return err;
		sched_set_u8(&mode, tb[TCA_NDP_MODE]);
	}
	ndpq_defaults(&q->p, mode);
	if (mode == TCA_NDP_MODE_HOST) {
		q->flows = ndpq_flows_create(&q->p);
		if (!q->flows)
			return -ENOMEM;
	}
	return 0;
}

static int ndpq_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	int err;

	/* After a failure the core calls ndpq_destroy(). */
	qdisc_watchdog_init(&q->watchdog, sch);
	__skb_queue_head_init(&q->data);
	__skb_queue_head_init(&q->hdr);
	__skb_queue_head_init(&q->other);
	err = ndpq_init_mode(q, opt, extack);
	if (err)
		return err;
	return ndpq_change(sch, opt, extack);
}

/* Enqueue has ended and the queues have been reset. */
static void ndpq_destroy(struct Qdisc *sch)
{
	struct ndpq_sched *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	ndpq_flows_destroy(q->flows);
}

static int ndpq_dump_queues(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct ndpq_params *p = &((struct ndpq_sched *)qdisc_priv(sch))->p;

	return nla_put_u32(skb, TCA_NDP_LIMIT, p->limit) ||
	       nla_put_u32(skb, TCA_NDP_HDR_LIMIT, ndpq_hdr_limit(sch)) ||
	       nla_put_u32(skb, TCA_NDP_OTHER_LIMIT, p->other_limit) ||
	       nla_put_u32(skb, TCA_NDP_HDR_WEIGHT, p->hdr_weight) ||
	       nla_put_u32(skb, TCA_NDP_OTHER_WEIGHT, p->other_weight) ||
	       nla_put_u32(skb, TCA_NDP_DATA_WEIGHT, p->data_weight) ||
	       nla_put_u32(skb, TCA_NDP_ECN, p->ecn) ||
	       nla_put_u32(skb, TCA_NDP_OTHER_ECN, p->other_ecn) ||
	       nla_put_u64_64bit(skb, TCA_NDP_RATE64, p->rate, TCA_NDP_PAD);
}

static int ndpq_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct ndpq_params *p = &((struct ndpq_sched *)qdisc_priv(sch))->p;
	struct nlattr *nest = nla_nest_start_noflag(skb, TCA_OPTIONS);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u8(skb, TCA_NDP_MODE, p->mode) ||
	    ndpq_dump_queues(sch, skb) ||
	    nla_put_u8(skb, TCA_NDP_OVERFLOW, p->overflow) ||
	    nla_put_u8(skb, TCA_NDP_DSCP_DATA, p->dscp_data) ||
	    nla_put_u8(skb, TCA_NDP_DSCP_TRIMMED, p->dscp_trimmed) ||
	    nla_put_u8(skb, TCA_NDP_DSCP_CONTROL, p->dscp_control) ||
	    nla_put_u16(skb, TCA_NDP_PORT, ntohs(p->port))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

static int ndpq_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct ndpq_sched *q = qdisc_priv(sch);
	struct tc_ndp_xstats st;

	sch_tree_lock(sch);
	st = q->st;
	st.data_len = q->data_len;
	st.header_len = skb_queue_len(&q->hdr);
	st.header_len_bytes = q->hdr_bytes;
	st.other_len = q->other_len;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops ndpq_qdisc_ops __read_mostly = {
	.id		= "ndp",
	.priv_size	= sizeof(struct ndpq_sched),
	.enqueue	= ndpq_enqueue,
	.dequeue	= ndpq_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= ndpq_init,
	.reset		= ndpq_reset,
	.destroy	= ndpq_destroy,
	.change		= ndpq_change,
	.dump		= ndpq_dump,
	.dump_stats	= ndpq_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init sch_ndp_init(void)
{
	return register_qdisc(&ndpq_qdisc_ops);
}

/* Each qdisc holds a reference to the module, so no qdisc is left here. */
static void __exit sch_ndp_exit(void)
{
	unregister_qdisc(&ndpq_qdisc_ops);
}

module_init(sch_ndp_init);
module_exit(sch_ndp_exit);

/* Kernels before 6.9 request the module by its name, later ones by this alias. */
MODULE_ALIAS("net-sch-ndp");
MODULE_DESCRIPTION("NDP trimming switch port");
MODULE_LICENSE("GPL");
MODULE_VERSION(PACKAGE_VERSION);
