// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: round robin among flows, their order, and which packets a pause has held.
 */
#include <kunit/test.h>
#include "cee_queue.c"

#define CEE_QUEUE_TEST_FRAME	1500

static const struct cee_config cee_queue_test_cfg = {
	.frame = CEE_QUEUE_TEST_FRAME, .speed = 1250000000,
};

static void cee_queue_test_put(struct kunit *test, struct cee_queue *queue, u16 hash, u32 len,
			       u32 mark)
{
	struct sk_buff *skb = alloc_skb(0, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	cee_cb(skb)->hash = hash;
	qdisc_skb_cb(skb)->pkt_len = len;
	skb->mark = mark;
	cee_queue_add(queue, skb);
}

/* Return: the next packet to send, or NULL. */
static struct sk_buff *cee_queue_test_get(struct cee_queue *queue, struct cee_reaction *r, u64 now)
{
	struct cee_flow *flow;
	struct sk_buff *skb;
	u64 wake = U64_MAX;

	flow = cee_queue_next(queue, &cee_queue_test_cfg, r, now, &wake);
	if (!flow)
		return NULL;
	skb = cee_queue_take(queue, flow);
	cee_queue_sent(queue, flow, &cee_queue_test_cfg, qdisc_pkt_len(skb));
	return skb;
}

static void cee_queue_test_fifo(struct kunit *test)
{
	struct cee_queue queue = {};
	struct sk_buff *skb;
	u32 i;

	cee_queue_init(&queue);
	for (i = 0; i < 20; i++)
		cee_queue_test_put(test, &queue, i * 77, 100 * i, i);
	KUNIT_EXPECT_EQ(test, queue.packets, 20);
	KUNIT_EXPECT_EQ(test, queue.bytes, 19000);
	for (i = 0; i < 20; i++) {
		skb = cee_queue_test_get(&queue, NULL, 0);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_EXPECT_EQ(test, skb->mark, i);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_NULL(test, cee_queue_test_get(&queue, NULL, 0));
	KUNIT_EXPECT_EQ(test, queue.packets + queue.bytes, 0);
}

/* Large packets of one flow, small ones of another: both send the same number of bytes. */
static void cee_queue_test_shares(struct kunit *test)
{
	u32 bytes[2] = {}, next[2] = {}, i, who;
	struct cee_queue queue = {};
	struct sk_buff *skb;

	cee_queue_init(&queue);
	cee_queue_resize(&queue, 8);
	KUNIT_ASSERT_EQ(test, queue.flows, 8);
	for (i = 0; i < 1000; i++) {
		cee_queue_test_put(test, &queue, 3, CEE_QUEUE_TEST_FRAME, i);
		cee_queue_test_put(test, &queue, 12, 100, i);
	}
	while (bytes[1] < 90000) {
		skb = cee_queue_test_get(&queue, NULL, 0);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		who = cee_cb(skb)->hash == 12;
		KUNIT_EXPECT_EQ(test, skb->mark, next[who]++);
		bytes[who] += qdisc_pkt_len(skb);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_GE(test, bytes[0], 90000 - CEE_QUEUE_TEST_FRAME);
	KUNIT_EXPECT_LE(test, bytes[0], 90000 + 2 * CEE_QUEUE_TEST_FRAME);
	/* The number of flows does not change while packets wait. */
	cee_queue_resize(&queue, 1);
	KUNIT_EXPECT_EQ(test, queue.flows, 8);
	while ((skb = cee_queue_test_get(&queue, NULL, 0)))
		kfree_skb(skb);
	cee_queue_resize(&queue, 1);
	KUNIT_EXPECT_EQ(test, queue.flows, 1);
	cee_queue_free(&queue);
}

/* The flow whose rate is used up waits, the other does not. */
static void cee_queue_test_limited(struct kunit *test)
{
	struct cee_reaction *r = cee_reaction_new();
	struct cee_queue queue = {};
	struct sk_buff *skb;
	u64 wake = U64_MAX;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, r);
	r->active = 1;
	r->rp[3] = (struct cee_rp) {
		.rate = 1000, .target = 1000, .bytes = S64_MAX / 2, .timer = S64_MAX, .at = 1000,
		.debt = 5 * NSEC_PER_SEC, .last = 1000,
	};
	cee_queue_init(&queue);
	cee_queue_resize(&queue, 8);
	cee_queue_test_put(test, &queue, 3, 1500, 0);
	for (i = 0; i < 5; i++)
		cee_queue_test_put(test, &queue, 4, 1500, 0);
	for (i = 0; i < 5; i++) {
		skb = cee_queue_test_get(&queue, r, 1000);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_EXPECT_EQ(test, cee_cb(skb)->hash, 4);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_NULL(test, cee_queue_next(&queue, &cee_queue_test_cfg, r, 1000, &wake));
	KUNIT_EXPECT_EQ(test, wake, 1000 + 5 * NSEC_PER_MSEC);
	skb = cee_queue_test_get(&queue, r, wake);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, cee_cb(skb)->hash, 3);
	kfree_skb(skb);
	cee_queue_free(&queue);
	kvfree(r);
}

static void cee_queue_test_held(struct kunit *test)
{
	struct cee_queue queue = { .seq = U32_MAX - 1, .np = U32_MAX - 1 };
	struct sk_buff *skb;
	int i;

	cee_queue_init(&queue);
	for (i = 0; i < 6; i++) {
		if (i == 3)
			queue.np = queue.seq;
		cee_queue_test_put(test, &queue, 0, 1500, i);
	}
	for (i = 0; i < 6; i++) {
		skb = cee_queue_test_get(&queue, NULL, 0);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_EXPECT_EQ(test, cee_queue_was_held(&queue, skb), i < 3);
		kfree_skb(skb);
	}
}

static struct kunit_case cee_queue_cases[] = {
	KUNIT_CASE(cee_queue_test_fifo),
	KUNIT_CASE(cee_queue_test_shares),
	KUNIT_CASE(cee_queue_test_limited),
	KUNIT_CASE(cee_queue_test_held),
	{}
};

static struct kunit_suite cee_queue_suite = {
	.name = "sch_cee_queue",
	.test_cases = cee_queue_cases,
};

kunit_test_suite(cee_queue_suite);
