// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: packet numbers, their window and their wrap.
 */
#include <kunit/test.h>
#include "input.c"

static void ndp_psn_test_before(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, psn_before(0, 1));
	KUNIT_EXPECT_FALSE(test, psn_before(1, 1));
	KUNIT_EXPECT_FALSE(test, psn_before(2, 1));
	KUNIT_EXPECT_TRUE(test, psn_before(U32_MAX, 0));
	KUNIT_EXPECT_TRUE(test, psn_before(U32_MAX - 5, 5));
	KUNIT_EXPECT_FALSE(test, psn_before(5, U32_MAX - 5));
	KUNIT_EXPECT_TRUE(test, psn_before(0, S32_MAX));
}

static struct ndp_sock *ndp_psn_test_sock(struct kunit *test, u32 rcv_nxt)
{
	struct ndp_sock *np = kunit_kzalloc(test, sizeof(*np), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, np);
	np->ooo = RB_ROOT;
	np->rcv_nxt = rcv_nxt;
	np->rcv_max = rcv_nxt - 1;
	return np;
}

static void ndp_psn_test_insert(struct kunit *test, struct ndp_sock *np, u32 psn)
{
	struct sk_buff *skb = alloc_skb(0, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	*ndp_rx_cb(skb) = (struct ndp_rx_cb) { .psn = psn };
	ndp_ooo_insert(np, skb);
}

static void ndp_psn_test_empty(struct ndp_sock *np)
{
	struct rb_node *node;

	while ((node = rb_first(&np->ooo))) {
		rb_erase(node, &np->ooo);
		kfree_skb(rb_to_skb(node));
	}
}

/* Across the wrap and in any order of arrival, first to last is by number. */
static void ndp_psn_test_order(struct kunit *test)
{
	static const int order[] = { 7, 1, 9, 3, 2, 8, 12, 5 };
	static const int sorted[] = { 1, 2, 3, 5, 7, 8, 9, 12 };
	struct ndp_sock *np = ndp_psn_test_sock(test, U32_MAX - 4);
	unsigned long there = 0;
	struct rb_node *node;
	int i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		there |= BIT(order[i]);
	for (i = 0; i < ARRAY_SIZE(order); i++)
		ndp_psn_test_insert(test, np, np->rcv_nxt + order[i]);
	KUNIT_EXPECT_EQ(test, np->ooo_len, ARRAY_SIZE(order));
	i = 0;
	for (node = rb_first(&np->ooo); node; node = rb_next(node))
		KUNIT_EXPECT_EQ(test, ndp_rx_cb(rb_to_skb(node))->psn - np->rcv_nxt,
				sorted[i++]);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, ndp_ooo_find(np, np->rcv_nxt + i),
				!!(there & BIT(i)));
	ndp_psn_test_empty(np);
}

/* Only the highest number heard of says whether more follows. */
static void ndp_psn_test_last(struct kunit *test)
{
	struct ndp_sock *np = ndp_psn_test_sock(test, U32_MAX - 1);
	struct ndphdr plain = { }, last = { .flags = NDP_F_LAST };

	ndp_note_last(np, &last, U32_MAX);
	KUNIT_EXPECT_TRUE(test, np->rcv_last);
	ndp_note_last(np, &plain, 1);
	KUNIT_EXPECT_FALSE(test, np->rcv_last);
	KUNIT_EXPECT_EQ(test, np->rcv_max, 1);
	ndp_note_last(np, &last, 0);
	KUNIT_EXPECT_FALSE(test, np->rcv_last);
	ndp_note_last(np, &last, 2);
	KUNIT_EXPECT_TRUE(test, np->rcv_last);
}

/* After LAST no more pulls are owed than packets are missing and not pulled. */
static void ndp_psn_test_owed(struct kunit *test)
{
	struct ndp_sock *np = ndp_psn_test_sock(test, U32_MAX - 2);
	struct ndphdr plain = { }, last = { .flags = NDP_F_LAST };
	int i;

	/* Too little room for a pull, so that all stay owed. */
	np->rcv_truesize = 1;
	np->reserved = 1;
	np->pull_owed = 0;
	ndp_note_last(np, &plain, np->rcv_nxt + 9);
	for (i = 0; i < 30; i++)
		ndp_earn_pull(np, true, false);
	KUNIT_EXPECT_EQ(test, np->pull_owed, 30);
	ndp_note_last(np, &last, np->rcv_nxt + 10);
	ndp_earn_pull(np, true, false);
	KUNIT_EXPECT_EQ(test, np->pull_owed, 11 - 1);
	np->reserved = 4;
	ndp_earn_pull(np, false, true);
	KUNIT_EXPECT_EQ(test, np->pull_owed, 11 - 4);
	np->reserved = 100;
	ndp_earn_pull(np, false, true);
	KUNIT_EXPECT_EQ(test, np->pull_owed, 0);
}

static struct kunit_case ndp_psn_cases[] = {
	KUNIT_CASE(ndp_psn_test_before),
	KUNIT_CASE(ndp_psn_test_order),
	KUNIT_CASE(ndp_psn_test_last),
	KUNIT_CASE(ndp_psn_test_owed),
	{}
};

static struct kunit_suite ndp_psn_suite = {
	.name = "ndp_psn",
	.test_cases = ndp_psn_cases,
};

kunit_test_suite(ndp_psn_suite);
