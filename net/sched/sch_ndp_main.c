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
 *     what trimming left of data.
 *   - Data that finds its queue full loses its payload.  By the toss of a coin
 *     it is the arriving packet or the last of the queue, which breaks up phase
 *     effects between senders.
 *   - Headers go first, but no more than 10 for one data packet while data
 *     waits.  That bounds what overload can take from goodput to headers:
 *     strict priority would let them have all of it.
 *   - The header queue has as many bytes as the data queue by default, the
 *     paper's 8 packets of 9 KB beside 1125 headers.  A trimmed packet that
 *     finds it full goes back to its sender (section 3.2.4) or is dropped.
 *   - Other traffic has a queue of its own.  Deficit round robin by bytes, the
 *     headers' counted as NDP's, shares the port between the two.
 *
 *                          .-> headers (bytes) --.  10
 *	arriving -> class ---+                      +-- WRR --.
 *	  |   ^              '-> data (packets) ----'   1     +-- DRR -- rate -->
 *	  |   |  trim            full ^ | tail                |
 *	  |   '-----------------------'-'                     |
 *	  '---------------------------> other (packets) ------'
 *
 * Mode host is for the port of a machine that sends itself: headers first, then
 * deficit round robin among sockets, limits that drop, and no trimming, because
 * what is not on the wire yet needs no NACK to come again.
 *
 * A trim makes a packet shorter that a parent has counted, a tail drop takes
 * one that it has counted: enqueue compares its own queue before and after, and
 * tells the parents the difference to what they will assume.
 *
 * Lowering a limit leaves what is queued alone; it counts for what comes.
 *
 * Not here: classification by anything but code points, hashing of other
 * traffic into flows (put fq_codel on the hosts), pause frames (sch_cee).
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <net/gso.h>
#include <net/inet_ecn.h>
#include <net/netlink.h>
#include "sch_ndp.h"

/* The bounds of parameters are what hardware and memory make of them. */
#define NDP_LIMIT_MAX		65536
#define NDP_OTHER_LIMIT_MAX	1000000
#define NDP_HDR_LIMIT_MAX	(64U << 20)
#define NDP_WEIGHT_MAX		1000
#define NDP_RATE_MIN		125ULL			/* 1 kbit/s */
#define NDP_RATE_MAX		1250000000000ULL	/* 10 Tbit/s */

/* A port that was blocked for long does not make good for more than this. */
#define NDP_RATE_LAG_NS		NSEC_PER_MSEC

enum ndp_side {
	NDP_SIDE_NDP,
	NDP_SIDE_OTHER,
	NDP_SIDES,
};

/**
 * struct ndp_sched - a port
 * @p:		parameters
 * @data:	data queue; doubly linked, because trimming takes its tail
 * @hdr:	header queue
 * @other:	queue of other traffic
 * @flows:	mode host: data and other
 * @hdr_bytes:	bytes in @hdr
 * @data_len:	packets of data, wherever they wait
 * @other_len:	packets of other traffic
 * @hdr_run:	headers served since the last data packet, while data waited
 * @side:	whose turn it is
 * @deficit:	bytes that each side may still send
 * @watchdog:	wakes the port when @next comes
 * @next:	time when the rate allows the next packet
 * @busy:	packets waited when the last one left
 * @st:		counters
 */
struct ndp_sched {
	struct ndp_params	p;
	struct sk_buff_head	data;
	struct sk_buff_head	hdr;
	struct sk_buff_head	other;
	struct ndp_flows	*flows;
	u32			hdr_bytes;
	u32			data_len;
	u32			other_len;
	u32			hdr_run;
	enum ndp_side		side;
	int			deficit[NDP_SIDES];
	struct qdisc_watchdog	watchdog;
	u64			next;
	bool			busy;
	struct tc_ndp_xstats	st;
};

static bool ndp_is_host(const struct ndp_sched *q)
{
	return q->p.mode == TCA_NDP_MODE_HOST;
}

static u32 ndp_hdr_limit(struct Qdisc *sch)
{
	const struct ndp_sched *q = qdisc_priv(sch);
	u64 limit = q->p.hdr_limit;

	if (!limit)
		limit = (u64)q->p.limit * READ_ONCE(qdisc_dev(sch)->mtu);
	return clamp_t(u64, limit, NDP_HDR_MAX, NDP_HDR_LIMIT_MAX);
}

/* One packet of the largest size, so that a round is as short as can be. */
static int ndp_quantum(struct Qdisc *sch)
{
	return max_t(int, psched_mtu(qdisc_dev(sch)), NDP_HDR_MAX);
}

static void ndp_count_in(struct Qdisc *sch, const struct sk_buff *skb)
{
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
}

static void ndp_count_out(struct Qdisc *sch, const struct sk_buff *skb)
{
	sch->q.qlen--;
	qdisc_qstats_backlog_dec(sch, skb);
}

/* A cloned header is copied first; without memory it goes unmarked. */
static bool ndp_mark(struct sk_buff *skb, u32 depth, u32 threshold)
{
	unsigned int len = skb_network_offset(skb) + sizeof(struct ipv6hdr);

	if (!threshold || depth < threshold || skb_network_offset(skb) < 0)
		return false;
	if (skb_ensure_writable(skb, min(len, skb->len)))
		return false;
	return INET_ECN_set_ce(skb);
}

/* Drop a packet that is in no queue. */
static int ndp_drop(struct sk_buff *skb, struct Qdisc *sch, __u64 *counter,
		    int err, struct sk_buff **to_free)
{
	struct ndp_sched *q = qdisc_priv(sch);

	(*counter)++;
	if (err == -ENOMEM)
		q->st.drop_nomem++;
	return qdisc_drop(skb, sch, to_free);
}

/* What was taken and is in no queue now: not this packet's sender's concern. */
static int ndp_return_to_sender(struct sk_buff *skb, struct Qdisc *sch)
{
	struct ndp_sched *q = qdisc_priv(sch);

	if (netif_rx(skb) == NET_RX_SUCCESS) {
		q->st.bounced++;
		return NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
	}
	q->st.drop_bounce++;
	q->st.drop_header++;
	qdisc_qstats_drop(sch);
	return NET_XMIT_DROP;
}

static int ndp_header_full(struct sk_buff *skb, struct Qdisc *sch,
			   struct sk_buff **to_free)
{
	struct ndp_sched *q = qdisc_priv(sch);
	int err = 0;

	if (!ndp_is_host(q) && q->p.overflow == TCA_NDP_OVERFLOW_BOUNCE) {
		err = ndp_turn_around(skb, &q->p);
		if (!err)
			return ndp_return_to_sender(skb, sch);
		q->st.drop_bounce++;
	}
	return ndp_drop(skb, sch, &q->st.drop_header, err, to_free);
}

static int ndp_enqueue_header(struct sk_buff *skb, struct Qdisc *sch,
			      struct sk_buff **to_free)
{
	struct ndp_sched *q = qdisc_priv(sch);

	if (q->hdr_bytes + skb->len > ndp_hdr_limit(sch))
		return ndp_header_full(skb, sch, to_free);
	__skb_queue_tail(&q->hdr, skb);
	q->hdr_bytes += skb->len;
	ndp_count_in(sch, skb);
	return NET_XMIT_SUCCESS;
}

static void ndp_append_data(struct sk_buff *skb, struct Qdisc *sch)
{
	struct ndp_sched *q = qdisc_priv(sch);

	q->st.ecn_data += ndp_mark(skb, q->data_len, q->p.ecn);
	__skb_queue_tail(&q->data, skb);
	q->data_len++;
	ndp_count_in(sch, skb);
}

/* Make a header of data that is in no queue. */
static int ndp_demote(struct sk_buff *skb, struct Qdisc *sch, __u64 *counter,
		      struct sk_buff **to_free)
{
	struct ndp_sched *q = qdisc_priv(sch);
	int len = qdisc_pkt_len(skb) - skb->len;
	int err;

	err = ndp_trim(skb, &q->p);
	if (err)
		return ndp_drop(skb, sch, &q->st.drop_data, err, to_free);
	/* A size table's overhead stays. */
	qdisc_skb_cb(skb)->pkt_len = max_t(int, len + skb->len, 1);
	(*counter)++;
	qdisc_qstats_overlimit(sch);
	return ndp_enqueue_header(skb, sch, to_free);
}

static int ndp_enqueue_data(struct sk_buff *skb, struct Qdisc *sch,
			    struct sk_buff **to_free)
{
	struct ndp_sched *q = qdisc_priv(sch);
	struct sk_buff *tail;

	if (q->data_len < q->p.limit) {
		ndp_append_data(skb, sch);
		return NET_XMIT_SUCCESS;
	}
	if (get_random_u32() & 1)
		return ndp_demote(skb, sch, &q->st.trimmed_arrival, to_free);

	tail = __skb_dequeue_tail(&q->data);
	q->data_len--;
	ndp_count_out(sch, tail);
	ndp_append_data(skb, sch);
	ndp_demote(tail, sch, &q->st.trimmed_tail, to_free);
	return NET_XMIT_SUCCESS;
}

static int ndp_enqueue_other(struct sk_buff *skb, struct Qdisc *sch,
			     struct sk_buff **to_free)
{
	struct ndp_sched *q = qdisc_priv(sch);

	if (q->other_len >= q->p.other_limit)
		return ndp_drop(skb, sch, &q->st.drop_other, 0, to_free);
	q->st.ecn_other += ndp_mark(skb, q->other_len, q->p.other_ecn);
	__skb_queue_tail(&q->other, skb);
	q->other_len++;
	ndp_count_in(sch, skb);
	return NET_XMIT_SUCCESS;
}

/* Data and other traffic of a host. */
static int ndp_enqueue_flow(struct sk_buff *skb, struct Qdisc *sch,
			    enum ndp_class class, const struct ndp_view *v,
			    struct sk_buff **to_free)
{
	struct ndp_sched *q = qdisc_priv(sch);

	if (class == NDP_CLASS_DATA) {
		if (q->data_len >= q->p.limit)
			return ndp_drop(skb, sch, &q->st.drop_data, 0, to_free);
		q->st.ecn_data += ndp_mark(skb, q->data_len, q->p.ecn);
		q->data_len++;
	} else {
		if (q->other_len >= q->p.other_limit)
			return ndp_drop(skb, sch, &q->st.drop_other, 0, to_free);
		q->st.ecn_other += ndp_mark(skb, q->other_len, q->p.other_ecn);
		q->other_len++;
	}
	ndp_flows_add(q->flows, skb, class, v, ndp_quantum(sch));
	ndp_count_in(sch, skb);
	return NET_XMIT_SUCCESS;
}

static int ndp_enqueue_one(struct sk_buff *skb, struct Qdisc *sch,
			   struct sk_buff **to_free)
{
	struct ndp_sched *q = qdisc_priv(sch);
	enum ndp_class class;
	struct ndp_view v;

	class = ndp_classify(skb, &q->p, &v);
	if (class == NDP_CLASS_HEADER) {
		q->st.header_in++;
		return ndp_enqueue_header(skb, sch, to_free);
	}
	if (class == NDP_CLASS_DATA)
		q->st.data_in++;
	else
		q->st.other_in++;
	if (ndp_is_host(q))
		return ndp_enqueue_flow(skb, sch, class, &v, to_free);
	if (class == NDP_CLASS_DATA)
		return ndp_enqueue_data(skb, sch, to_free);
	return ndp_enqueue_other(skb, sch, to_free);
}

/* A GSO packet that cannot be segmented counts as one packet, dropped. */
static int ndp_drop_unsegmented(struct sk_buff *skb, struct Qdisc *sch,
				struct sk_buff **to_free)
{
	struct ndp_sched *q = qdisc_priv(sch);
	struct ndp_view v;

	if (ndp_classify(skb, &q->p, &v) == NDP_CLASS_DATA) {
		q->st.data_in++;
		return ndp_drop(skb, sch, &q->st.drop_data, -ENOMEM, to_free);
	}
	q->st.other_in++;
	return ndp_drop(skb, sch, &q->st.drop_other, -ENOMEM, to_free);
}

/* A queue of packets is one of packets on the wire: a GSO packet would count
 * as one, could not be trimmed and would hold up headers for as long as all of
 * its segments take.  The verdict is the best that a segment got.
 */
static int ndp_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch,
			   struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb) & ~NETIF_F_GSO_MASK;
	struct ndp_sched *q = qdisc_priv(sch);
	struct sk_buff *seg, *segs, *next;
	int ret, best = NET_XMIT_DROP;

	segs = skb_gso_segment(skb, features);
	if (IS_ERR_OR_NULL(segs))
		return ndp_drop_unsegmented(skb, sch, to_free);

	q->st.gso_segmented++;
	skb_list_walk_safe(segs, seg, next) {
		skb_mark_not_on_list(seg);
		qdisc_skb_cb(seg)->pkt_len = seg->len;
		compat_qdisc_single_segment(seg);
		ret = ndp_enqueue_one(seg, sch, to_free);
		if (ret == NET_XMIT_SUCCESS || best == NET_XMIT_DROP)
			best = ret;
	}
	consume_skb(skb);
	return best;
}

static int ndp_enqueue(struct sk_buff *skb, struct Qdisc *sch,
		       struct sk_buff **to_free)
{
	int packets = sch->q.qlen;
	int bytes = sch->qstats.backlog;
	int len = qdisc_pkt_len(skb);
	int ret;

	if (skb_is_gso(skb))
		ret = ndp_enqueue_gso(skb, sch, to_free);
	else
		ret = ndp_enqueue_one(skb, sch, to_free);

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

static struct sk_buff *ndp_take_header(struct Qdisc *sch)
{
	struct ndp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = __skb_dequeue(&q->hdr);

	if (!skb)
		return NULL;
	q->hdr_bytes -= skb->len;
	q->st.header_sent++;
	q->st.header_sent_bytes += qdisc_pkt_len(skb);
	ndp_count_out(sch, skb);
	return skb;
}

static void ndp_sent_data(struct Qdisc *sch, const struct sk_buff *skb)
{
	struct ndp_sched *q = qdisc_priv(sch);

	q->data_len--;
	q->st.data_sent++;
	q->st.data_sent_bytes += qdisc_pkt_len(skb);
	ndp_count_out(sch, skb);
}

static void ndp_sent_other(struct Qdisc *sch, const struct sk_buff *skb)
{
	struct ndp_sched *q = qdisc_priv(sch);

	q->other_len--;
	q->st.other_sent++;
	q->st.other_sent_bytes += qdisc_pkt_len(skb);
	ndp_count_out(sch, skb);
}

/* Headers and data, weighted round robin while both wait. */
static struct sk_buff *ndp_take_ndp(struct Qdisc *sch)
{
	struct ndp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (skb_queue_empty(&q->data))
		return ndp_take_header(sch);
	if (!skb_queue_empty(&q->hdr) && q->hdr_run < q->p.hdr_weight) {
		q->hdr_run++;
		return ndp_take_header(sch);
	}
	q->hdr_run = 0;
	skb = __skb_dequeue(&q->data);
	ndp_sent_data(sch, skb);
	return skb;
}

static struct sk_buff *ndp_take_other(struct Qdisc *sch)
{
	struct ndp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = __skb_dequeue(&q->other);

	if (skb)
		ndp_sent_other(sch, skb);
	return skb;
}

/* Deficit round robin between NDP and the rest, sending first and paying after.
 * A side without packets keeps its debt, but saves nothing up.
 */
static struct sk_buff *ndp_dequeue_switch(struct Qdisc *sch)
{
	struct ndp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u32 weight;

	if (!sch->q.qlen)
		return NULL;
	for (;;) {
		if (q->deficit[q->side] > 0) {
			skb = q->side == NDP_SIDE_NDP ? ndp_take_ndp(sch) :
							ndp_take_other(sch);
			if (skb) {
				q->deficit[q->side] -= qdisc_pkt_len(skb);
				return skb;
			}
			q->deficit[q->side] = 0;
		}
		q->side = q->side == NDP_SIDE_NDP ? NDP_SIDE_OTHER :
						    NDP_SIDE_NDP;
		weight = q->side == NDP_SIDE_NDP ? q->p.data_weight :
						   q->p.other_weight;
		q->deficit[q->side] += weight * ndp_quantum(sch);
	}
}

static struct sk_buff *ndp_dequeue_host(struct Qdisc *sch)
{
	struct ndp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = ndp_take_header(sch);
	enum ndp_class class;

	if (skb)
		return skb;
	skb = ndp_flows_next(q->flows, ndp_quantum(sch), &class);
	if (!skb)
		return NULL;
	if (class == NDP_CLASS_DATA)
		ndp_sent_data(sch, skb);
	else
		ndp_sent_other(sch, skb);
	return skb;
}

/* A packet takes its time from when the one before it ended if it waited for
 * that, else from now: late timers cost no throughput, idle time earns none.
 */
static void ndp_pay_rate(struct Qdisc *sch, const struct sk_buff *skb, u64 now)
{
	struct ndp_sched *q = qdisc_priv(sch);
	u64 start = q->busy ? max(q->next, now - NDP_RATE_LAG_NS) : now;

	q->next = start + div64_u64((u64)qdisc_pkt_len(skb) * NSEC_PER_SEC,
				    q->p.rate);
	q->busy = sch->q.qlen > 0;
}

static struct sk_buff *ndp_dequeue(struct Qdisc *sch)
{
	struct ndp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 now = 0;

	if (q->p.rate && sch->q.qlen) {
		now = ktime_get_ns();
		if (now < q->next) {
			qdisc_watchdog_schedule_ns(&q->watchdog, q->next);
			return NULL;
		}
	}
	skb = ndp_is_host(q) ? ndp_dequeue_host(sch) : ndp_dequeue_switch(sch);
	if (!skb)
		return NULL;
	if (q->p.rate)
		ndp_pay_rate(sch, skb, now);
	qdisc_bstats_update(sch, skb);
	return skb;
}

/* What a reset throws away is dropped, so that the sums stay true. */
static void ndp_reset(struct Qdisc *sch)
{
	struct ndp_sched *q = qdisc_priv(sch);
	enum ndp_class class;
	struct sk_buff *skb;

	q->st.drop_data += q->data_len;
	q->st.drop_other += q->other_len;
	q->st.drop_header += skb_queue_len(&q->hdr);
	__qdisc_qstats_drop(sch, q->data_len + q->other_len +
				 skb_queue_len(&q->hdr));
	while (q->flows && (skb = ndp_flows_next(q->flows, 1 << 16, &class)))
		rtnl_kfree_skbs(skb, skb);
	while ((skb = __skb_dequeue(&q->data)))
		rtnl_kfree_skbs(skb, skb);
	while ((skb = __skb_dequeue(&q->hdr)))
		rtnl_kfree_skbs(skb, skb);
	while ((skb = __skb_dequeue(&q->other)))
		rtnl_kfree_skbs(skb, skb);
	q->data_len = 0;
	q->other_len = 0;
	q->hdr_bytes = 0;
	q->hdr_run = 0;
	memset(q->deficit, 0, sizeof(q->deficit));
	q->next = 0;
	q->busy = false;
	qdisc_watchdog_cancel(&q->watchdog);
}

static const struct nla_policy ndp_policy[TCA_NDP_MAX + 1] = {
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

static void ndp_set_u8(u8 *val, const struct nlattr *attr)
{
	if (attr)
		*val = nla_get_u8(attr);
}

static void ndp_set_u32(u32 *val, const struct nlattr *attr)
{
	if (attr)
		*val = nla_get_u32(attr);
}

static void ndp_read(struct ndp_params *p, struct nlattr *tb[])
{
	ndp_set_u8(&p->mode, tb[TCA_NDP_MODE]);
	ndp_set_u8(&p->overflow, tb[TCA_NDP_OVERFLOW]);
	ndp_set_u8(&p->dscp_data, tb[TCA_NDP_DSCP_DATA]);
	ndp_set_u8(&p->dscp_trimmed, tb[TCA_NDP_DSCP_TRIMMED]);
	ndp_set_u8(&p->dscp_control, tb[TCA_NDP_DSCP_CONTROL]);
	ndp_set_u32(&p->limit, tb[TCA_NDP_LIMIT]);
	ndp_set_u32(&p->hdr_limit, tb[TCA_NDP_HDR_LIMIT]);
	ndp_set_u32(&p->other_limit, tb[TCA_NDP_OTHER_LIMIT]);
	ndp_set_u32(&p->hdr_weight, tb[TCA_NDP_HDR_WEIGHT]);
	ndp_set_u32(&p->data_weight, tb[TCA_NDP_DATA_WEIGHT]);
	ndp_set_u32(&p->other_weight, tb[TCA_NDP_OTHER_WEIGHT]);
	ndp_set_u32(&p->ecn, tb[TCA_NDP_ECN]);
	ndp_set_u32(&p->other_ecn, tb[TCA_NDP_OTHER_ECN]);
	if (tb[TCA_NDP_RATE64])
		p->rate = nla_get_u64(tb[TCA_NDP_RATE64]);
	if (tb[TCA_NDP_PORT])
		p->port = htons(nla_get_u16(tb[TCA_NDP_PORT]));
}

static int ndp_check_mode(const struct ndp_params *p, struct nlattr *tb[],
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
	    (tb[TCA_NDP_HDR_WEIGHT] || tb[TCA_NDP_DATA_WEIGHT] ||
	     tb[TCA_NDP_OTHER_WEIGHT] || tb[TCA_NDP_OVERFLOW])) {
		NL_SET_ERR_MSG_MOD(extack, "weights and overflow have no meaning in mode host");
		return -EINVAL;
	}
	return 0;
}

static int ndp_check_limits(const struct ndp_params *p, struct nlattr *tb[],
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

static bool ndp_weight_ok(u32 weight)
{
	return weight && weight <= NDP_WEIGHT_MAX;
}

static int ndp_check_shares(const struct ndp_params *p,
			    struct netlink_ext_ack *extack)
{
	if (!ndp_weight_ok(p->hdr_weight) || !ndp_weight_ok(p->data_weight) ||
	    !ndp_weight_ok(p->other_weight)) {
		NL_SET_ERR_MSG_MOD(extack, "weights must be 1 to 1000");
		return -EINVAL;
	}
	if (p->rate && (p->rate < NDP_RATE_MIN || p->rate > NDP_RATE_MAX)) {
		NL_SET_ERR_MSG_MOD(extack, "rate must be 1kbit to 10tbit");
		return -EINVAL;
	}
	return 0;
}

static int ndp_check_wire(const struct ndp_params *p,
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

static int ndp_check(const struct ndp_params *p, struct nlattr *tb[],
		     struct netlink_ext_ack *extack)
{
	return ndp_check_mode(p, tb, extack) ?:
	       ndp_check_limits(p, tb, extack) ?:
	       ndp_check_shares(p, extack) ?: ndp_check_wire(p, extack);
}

static int ndp_change(struct Qdisc *sch, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct ndp_sched *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_NDP_MAX + 1];
	struct ndp_params p = q->p;
	int err;

	if (!opt)
		return 0;
	err = nla_parse_nested(tb, TCA_NDP_MAX, opt, ndp_policy, extack);
	if (err < 0)
		return err;
	ndp_read(&p, tb);
	if (p.mode != q->p.mode) {
		NL_SET_ERR_MSG_MOD(extack, "the mode cannot be changed, delete the qdisc first");
		return -EOPNOTSUPP;
	}
	err = ndp_check(&p, tb, extack);
	if (err)
		return err;

	sch_tree_lock(sch);
	if (p.rate != q->p.rate) {
		/* The last packet's time was reckoned by the old rate. */
		q->next = 0;
		if (sch->q.qlen)
			qdisc_watchdog_schedule_ns(&q->watchdog,
						   ktime_get_ns());
	}
	q->p = p;
	sch_tree_unlock(sch);
	return 0;
}

static void ndp_defaults(struct ndp_params *p, u8 mode)
{
	*p = (struct ndp_params) {
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

/* The mode is read first: other defaults depend on it. */
static int ndp_init_mode(struct ndp_sched *q, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_NDP_MAX + 1];
	u8 mode = TCA_NDP_MODE_SWITCH;
	int err;

	if (opt) {
		err = nla_parse_nested(tb, TCA_NDP_MAX, opt, ndp_policy,
				       extack);
		if (err < 0)
			return err;
		ndp_set_u8(&mode, tb[TCA_NDP_MODE]);
	}
	ndp_defaults(&q->p, mode);
	if (mode == TCA_NDP_MODE_HOST) {
		q->flows = ndp_flows_create();
		if (!q->flows)
			return -ENOMEM;
	}
	return 0;
}

static int ndp_init(struct Qdisc *sch, struct nlattr *opt,
		    struct netlink_ext_ack *extack)
{
	struct ndp_sched *q = qdisc_priv(sch);
	int err;

	/* ndp_destroy() follows a failure. */
	qdisc_watchdog_init(&q->watchdog, sch);
	__skb_queue_head_init(&q->data);
	__skb_queue_head_init(&q->hdr);
	__skb_queue_head_init(&q->other);
	err = ndp_init_mode(q, opt, extack);
	if (err)
		return err;
	return ndp_change(sch, opt, extack);
}

/* Nobody enqueues any more and the queues were reset. */
static void ndp_destroy(struct Qdisc *sch)
{
	struct ndp_sched *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	ndp_flows_destroy(q->flows);
}

static int ndp_dump_queues(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct ndp_params *p = &((struct ndp_sched *)qdisc_priv(sch))->p;

	return nla_put_u32(skb, TCA_NDP_LIMIT, p->limit) ||
	       nla_put_u32(skb, TCA_NDP_HDR_LIMIT, ndp_hdr_limit(sch)) ||
	       nla_put_u32(skb, TCA_NDP_OTHER_LIMIT, p->other_limit) ||
	       nla_put_u32(skb, TCA_NDP_HDR_WEIGHT, p->hdr_weight) ||
	       nla_put_u32(skb, TCA_NDP_OTHER_WEIGHT, p->other_weight) ||
	       nla_put_u32(skb, TCA_NDP_DATA_WEIGHT, p->data_weight) ||
	       nla_put_u32(skb, TCA_NDP_ECN, p->ecn) ||
	       nla_put_u32(skb, TCA_NDP_OTHER_ECN, p->other_ecn) ||
	       nla_put_u64_64bit(skb, TCA_NDP_RATE64, p->rate, TCA_NDP_PAD);
}

static int ndp_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct ndp_params *p = &((struct ndp_sched *)qdisc_priv(sch))->p;
	struct nlattr *nest = nla_nest_start_noflag(skb, TCA_OPTIONS);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u8(skb, TCA_NDP_MODE, p->mode) ||
	    ndp_dump_queues(sch, skb) ||
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

static int ndp_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct ndp_sched *q = qdisc_priv(sch);
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

static struct Qdisc_ops ndp_qdisc_ops __read_mostly = {
	.id		= "ndp",
	.priv_size	= sizeof(struct ndp_sched),
	.enqueue	= ndp_enqueue,
	.dequeue	= ndp_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= ndp_init,
	.reset		= ndp_reset,
	.destroy	= ndp_destroy,
	.change		= ndp_change,
	.dump		= ndp_dump,
	.dump_stats	= ndp_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init sch_ndp_init(void)
{
	return register_qdisc(&ndp_qdisc_ops);
}

/* A qdisc holds a reference to its module, so that none is left here. */
static void __exit sch_ndp_exit(void)
{
	unregister_qdisc(&ndp_qdisc_ops);
}

module_init(sch_ndp_init);
module_exit(sch_ndp_exit);

/* The name is the alias that kernels before 6.9 ask for, this the later one. */
MODULE_ALIAS("net-sch-ndp");
MODULE_DESCRIPTION("NDP trimming switch port");
MODULE_LICENSE("GPL");

#if IS_ENABLED(CONFIG_KUNIT)
#include "sch_ndp_main_kunit.c"
#endif
