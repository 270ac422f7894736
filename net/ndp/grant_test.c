// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: pulls that are owed, and the packets that they elicit, where PSNs wrap.
 */
#include "conn_test.h"
#include "grant.c"

/* After LAST no more pulls are owed than there are missing packets not yet pulled. */
static void ndp_owed_test_last(struct kunit *test)
{
	struct ndp_sock *np = ndp_test_sock(test, U32_MAX - 2);
	int i;

	/* Too little room for a pull, so that all stay owed. */
	np->rcv_truesize = 1;
	np->promised = 1;
	ndp_pull(np)->owed = 0;
	np->rcv_max = np->rcv_nxt + 9;
	for (i = 0; i < 30; i++)
		ndp_earn_pull(np, true, false);
	KUNIT_EXPECT_EQ(test, ndp_pull(np)->owed, 30);
	np->rcv_max = np->rcv_nxt + 10;
	np->rcv_last = true;
	ndp_earn_pull(np, true, false);
	KUNIT_EXPECT_EQ(test, ndp_pull(np)->owed, 11 - 1);
	np->promised = 4;
	ndp_earn_pull(np, false, true);
	KUNIT_EXPECT_EQ(test, ndp_pull(np)->owed, 11 - 4);
	np->promised = 100;
	ndp_earn_pull(np, false, true);
	KUNIT_EXPECT_EQ(test, ndp_pull(np)->owed, 0);
}

/* DATA with the next PSN arrives, from a sender that announces a backlog of @behind bytes. */
static void ndp_owed_test_next(struct ndp_sock *np, u16 len, u32 behind)
{
	struct ndphdr nh = { .psn = htonl(np->rcv_max + 1), .len = htons(len),
			     .window = htonl(behind) };

	ndp_note_sizes(np, &nh, NDP_ARRIVED_WHOLE);
	np->rcv_max++;
}

/* A sender that has more than it had announced is no longer trusted. */
static void ndp_owed_test_said(struct kunit *test)
{
	struct ndp_sock *np = ndp_test_sock(test, U32_MAX - 2);

	np->rcv_max = U32_MAX - 3;
	ndp_owed_test_next(np, 9000, 12000);
	KUNIT_EXPECT_EQ(test, ndp_pull(np)->behind, 12000);
	ndp_owed_test_next(np, 9000, 3000);
	KUNIT_EXPECT_EQ(test, ndp_pull(np)->behind, 3000);
	ndp_owed_test_next(np, 3001, 1);
	KUNIT_EXPECT_EQ(test, ndp_pull(np)->behind, 0);
	ndp_owed_test_next(np, 1, 1);
	KUNIT_EXPECT_EQ(test, ndp_pull(np)->behind, 0);
}

/* Messages end in packets that are not full, which take less of the link's time. */
static void ndp_owed_test_mean(struct kunit *test)
{
	struct ndp_sock *np = ndp_test_sock(test, U32_MAX - 2);
	int i;

	np->rcv_max = U32_MAX - 3;
	for (i = 0; i < 800; i++)
		ndp_owed_test_next(np, i % 8 == 7 ? 1000 : 9000, 100000);
	KUNIT_EXPECT_EQ(test, ndp_pull(np)->mean16 >> 4, 7760);
}

static struct kunit_case ndp_owed_cases[] = {
	KUNIT_CASE(ndp_owed_test_last),
	KUNIT_CASE(ndp_owed_test_said),
	KUNIT_CASE(ndp_owed_test_mean),
	{}
};

static struct kunit_suite ndp_owed_suite = {
	.name = "ndp_owed",
	.test_cases = ndp_owed_cases,
};

kunit_test_suite(ndp_owed_suite);
