// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: headers and data of a trimming port, weighted round robin (section 3.1).
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

/* Take one; was it a header? */
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

/* Whoever is alone has the link; the other's turn is not counted meanwhile. */
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

static struct kunit_case ndpq_wrr_cases[] = {
	KUNIT_CASE(ndpq_wrr_test_both),
	KUNIT_CASE(ndpq_wrr_test_weight),
	KUNIT_CASE(ndpq_wrr_test_alone),
	{}
};

static struct kunit_suite ndpq_wrr_suite = {
	.name = "sch_ndp_wrr",
	.test_cases = ndpq_wrr_cases,
};

kunit_test_suite(ndpq_wrr_suite);
