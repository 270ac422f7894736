// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: headers and data of a trimming port, weighted round robin (section 3.1); packets of a
 * host that wait for their departure time.
 */
#include <kunit/test.h>
#include "sch_ndp_main.c"

static struct Qdisc *ndpq_wrr_test_qdisc(struct kunit *test, u32 weight, int headers, int data)
{
	struct Qdisc *sch = kunit_kzalloc(test, struct_size(sch, privdata, 0) +
					  sizeof(struct ndpq_sched), GFP_KERNEL);
	struct ndpq_sched *q;
	struct sk_buff *skb;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, sch);
	q = qdisc_priv(sch);
	__skb_queue_head_init(&q->hdr);
	__skb_queue_head_init(&q->data);
	q->p.hdr_weight = weight;
	gnet_stats_basic_sync_init(&sch->bstats);
	for (i = 0; i < headers + data; i++) {
		skb = alloc_skb(0, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		skb->mark = i < headers;
		qdisc_skb_cb(skb)->pkt_len = i < headers ? 78 : 9078;
		__skb_queue_tail(i < headers ? &q->hdr : &q->data, skb);
		sch->q.qlen++;
	}
	q->data_len = data;
	return sch;
}

/* Take the next packet.  Return: whether it is a header. */
static bool ndpq_wrr_test_take(struct kunit *test, struct Qdisc *sch)
{
	struct sk_buff *skb = ndpq_take_ndp(sch);
	bool header;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	header = skb->mark;
	kfree_skb(skb);
	return header;
}

static void ndpq_wrr_test_both(struct kunit *test)
{
	struct Qdisc *sch = ndpq_wrr_test_qdisc(test, 10, 50, 5);
	int i;

	for (i = 0; i < 55; i++)
		KUNIT_EXPECT_EQ(test, ndpq_wrr_test_take(test, sch), i % 11 != 10);
	KUNIT_EXPECT_NULL(test, ndpq_take_ndp(sch));
	KUNIT_EXPECT_EQ(test, sch->q.qlen, 0);
}

static void ndpq_wrr_test_weight(struct kunit *test)
{
	struct Qdisc *sch = ndpq_wrr_test_qdisc(test, 1, 6, 6);
	int i;

	for (i = 0; i < 12; i++)
		KUNIT_EXPECT_EQ(test, ndpq_wrr_test_take(test, sch), i % 2 == 0);
}

/* If only headers or only data wait, all are sent, whatever the weight. */
static void ndpq_wrr_test_alone(struct kunit *test)
{
	struct Qdisc *sch = ndpq_wrr_test_qdisc(test, 2, 0, 3);
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_FALSE(test, ndpq_wrr_test_take(test, sch));
	sch = ndpq_wrr_test_qdisc(test, 2, 8, 0);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_TRUE(test, ndpq_wrr_test_take(test, sch));
}

#define NDPQ_DEPART_TEST_NOW	(1000 * NSEC_PER_SEC)

static struct ndpq_flows *ndpq_depart_test_flows(struct kunit *test, u32 other_limit)
{
	struct ndpq_params *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct ndpq_flows *fs;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->other_limit = other_limit;
	fs = ndpq_flows_create(p);
	KUNIT_ASSERT_NOT_NULL(test, fs);
	return fs;
}

static struct sock *ndpq_depart_test_socks(struct kunit *test, int n)
{
	struct sock *sk = kunit_kcalloc(test, n, sizeof(*sk), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, sk);
	for (i = 0; i < n; i++) {
		sk[i].sk_type = SOCK_STREAM;
		sk[i].sk_state = TCP_ESTABLISHED;
	}
	return sk;
}

static void ndpq_depart_test_add(struct kunit *test, struct ndpq_flows *fs, struct sock *sk, u64 at)
{
	struct sk_buff *skb = alloc_skb(0, GFP_KERNEL);
	struct ndpq_view view = {};

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb->sk = sk;
	skb->tstamp = ns_to_ktime(at);
	qdisc_skb_cb(skb)->pkt_len = 78;
	ndpq_flows_add(fs, skb, NDP_CLASS_OTHER, &view, 1514);
}

/* Return: how many packets may depart at @now. */
static int ndpq_depart_test_take(struct ndpq_flows *fs, u64 now)
{
	enum ndpq_class class;
	struct sk_buff *skb;
	int n = 0;

	while ((skb = ndpq_flows_next(fs, 1514, now, &class))) {
		skb->sk = NULL;
		kfree_skb(skb);
		n++;
	}
	return n;
}

/* A packet whose departure time is minutes away is sent at once. */
static void ndpq_depart_test_horizon(struct kunit *test)
{
	const u64 now = NDPQ_DEPART_TEST_NOW, soon = now + NSEC_PER_SEC / 5;
	struct ndpq_flows *fs = ndpq_depart_test_flows(test, 1000);
	struct sock *sk = ndpq_depart_test_socks(test, 1);

	ndpq_depart_test_add(test, fs, sk, now + 600 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, ndpq_depart_test_take(fs, now), 1);
	ndpq_depart_test_add(test, fs, sk, soon);
	KUNIT_EXPECT_EQ(test, ndpq_depart_test_take(fs, now), 0);
	KUNIT_EXPECT_EQ(test, ndpq_flows_wake(fs), soon);
	KUNIT_EXPECT_EQ(test, ndpq_depart_test_take(fs, soon - 1), 0);
	KUNIT_EXPECT_EQ(test, ndpq_depart_test_take(fs, soon), 1);
	ndpq_flows_destroy(fs);
}

/* However many sockets wait for departure times, they take no more than half of the limit. */
static void ndpq_depart_test_many(struct kunit *test)
{
	const u64 now = NDPQ_DEPART_TEST_NOW, soon = now + NSEC_PER_SEC / 2;
	struct ndpq_flows *fs = ndpq_depart_test_flows(test, 16);
	struct sock *sk = ndpq_depart_test_socks(test, 8);
	int i;

	for (i = 0; i < 32; i++)
		ndpq_depart_test_add(test, fs, &sk[i % 8], soon);
	KUNIT_EXPECT_EQ(test, ndpq_depart_test_take(fs, now), 24);
	/* At the limit each new packet causes one to be sent, whether its flow waits or not. */
	for (i = 0; i < 8; i++) {
		ndpq_depart_test_add(test, fs, &sk[i], soon);
		KUNIT_EXPECT_EQ(test, ndpq_depart_test_take(fs, now), 1);
	}
	KUNIT_EXPECT_EQ(test, ndpq_depart_test_take(fs, soon), 8);
	KUNIT_EXPECT_EQ(test, ndpq_flows_wake(fs), 0);
	/* Once the waiting packets have left, as many may wait again. */
	for (i = 0; i < 8; i++)
		ndpq_depart_test_add(test, fs, &sk[i], soon + 1);
	KUNIT_EXPECT_EQ(test, ndpq_depart_test_take(fs, soon), 0);
	KUNIT_EXPECT_EQ(test, ndpq_depart_test_take(fs, U64_MAX), 8);
	ndpq_flows_destroy(fs);
}

/* However large the MTU, a turn of the largest weight is positive: rounds come to an end. */
static void ndpq_wrr_test_mtu(struct kunit *test)
{
	static const unsigned int mtus[] = { 0, 68, 1500, U16_MAX, (1 << 30) - ETH_HLEN, INT_MAX };
	struct Qdisc *sch = ndpq_wrr_test_qdisc(test, 10, 0, 0);
	struct netdev_queue *txq = kunit_kzalloc(test, sizeof(*txq), GFP_KERNEL);
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	u32 quantum;
	int i, weight;

	KUNIT_ASSERT_NOT_NULL(test, txq);
	KUNIT_ASSERT_NOT_NULL(test, dev);
	txq->dev = dev;
	sch->dev_queue = txq;
	dev->hard_header_len = ETH_HLEN;
	for (i = 0; i < ARRAY_SIZE(mtus); i++) {
		dev->mtu = mtus[i];
		quantum = ndpq_quantum(sch);
		KUNIT_EXPECT_GE(test, quantum, NDP_HDR_MAX);
		for (weight = 1; weight <= NDP_WEIGHT_MAX; weight++)
			KUNIT_EXPECT_GT(test, (s32)(weight * quantum), 0);
	}
}

/* A size table can make a packet of 2 GB; it is paid for in some thousand rounds. */
static void ndpq_wrr_test_stab(struct kunit *test)
{
	struct sk_buff *skb = alloc_skb(0, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	qdisc_skb_cb(skb)->pkt_len = INT_MAX;
	KUNIT_EXPECT_LE(test, ndpq_cost(skb), 10000 * NDP_HDR_MAX);
	qdisc_skb_cb(skb)->pkt_len = 1514;
	KUNIT_EXPECT_EQ(test, ndpq_cost(skb), 1514);
	kfree_skb(skb);
}

static struct kunit_case ndpq_wrr_cases[] = {
	KUNIT_CASE(ndpq_wrr_test_both),
	KUNIT_CASE(ndpq_wrr_test_weight),
	KUNIT_CASE(ndpq_wrr_test_alone),
	KUNIT_CASE(ndpq_wrr_test_mtu),
	KUNIT_CASE(ndpq_wrr_test_stab),
	KUNIT_CASE(ndpq_depart_test_horizon),
	KUNIT_CASE(ndpq_depart_test_many),
	{}
};

static struct kunit_suite ndpq_wrr_suite = {
	.name = "sch_ndp_wrr",
	.test_cases = ndpq_wrr_cases,
};

kunit_test_suite(ndpq_wrr_suite);
