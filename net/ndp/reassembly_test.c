// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the order of packets beyond a gap.
 */
#include "conn_test.h"
#include "reassembly.c"

static void ndp_ooo_test_insert(struct kunit *test, struct ndp_sock *np, u32 psn)
{
	struct sk_buff *skb = alloc_skb(0, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	*ndp_rx_cb(skb) = (struct ndp_rx_cb) { .psn = psn };
	ndp_ooo_insert(np, skb);
}

static void ndp_ooo_test_empty(struct ndp_sock *np)
{
	struct rb_node *node;

	while ((node = rb_first(&np->ooo))) {
		rb_erase(node, &np->ooo);
		kfree_skb(rb_to_skb(node));
	}
}

/* Whatever the order of arrival, the tree is sorted by PSN, also across the wrap. */
static void ndp_ooo_test_order(struct kunit *test)
{
	static const int order[] = { 7, 1, 9, 3, 2, 8, 12, 5 };
	static const int sorted[] = { 1, 2, 3, 5, 7, 8, 9, 12 };
	struct ndp_sock *np = ndp_test_sock(test, U32_MAX - 4);
	unsigned long there = 0;
	struct rb_node *node;
	int i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		there |= BIT(order[i]);
	for (i = 0; i < ARRAY_SIZE(order); i++)
		ndp_ooo_test_insert(test, np, np->rcv_nxt + order[i]);
	KUNIT_EXPECT_EQ(test, np->ooo_len, ARRAY_SIZE(order));
	i = 0;
	for (node = rb_first(&np->ooo); node; node = rb_next(node))
		KUNIT_EXPECT_EQ(test, ndp_rx_cb(rb_to_skb(node))->psn - np->rcv_nxt,
				sorted[i++]);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, ndp_ooo_find(np, np->rcv_nxt + i),
				!!(there & BIT(i)));
	ndp_ooo_test_empty(np);
}

static struct kunit_case ndp_ooo_cases[] = {
	KUNIT_CASE(ndp_ooo_test_order),
	{}
};

static struct kunit_suite ndp_ooo_suite = {
	.name = "ndp_ooo",
	.test_cases = ndp_ooo_cases,
};

kunit_test_suite(ndp_ooo_suite);
