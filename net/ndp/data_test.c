// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: PSNs where they wrap around.
 */
#include "conn_test.h"
#include "data.c"

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

/* Only the packet with the highest PSN heard of tells whether more follows. */
static void ndp_psn_test_last(struct kunit *test)
{
	struct ndp_sock *np = ndp_test_sock(test, U32_MAX - 1);
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

static struct kunit_case ndp_psn_cases[] = {
	KUNIT_CASE(ndp_psn_test_before),
	KUNIT_CASE(ndp_psn_test_last),
	{}
};

static struct kunit_suite ndp_psn_suite = {
	.name = "ndp_psn",
	.test_cases = ndp_psn_cases,
};

kunit_test_suite(ndp_psn_suite);
