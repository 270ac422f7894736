// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the arithmetic of MP-RDMA's window, and which paths are slow.
 */
#include <kunit/test.h>
#include "mprdma.c"

static struct mprdma mprdma_test_of(u32 cwnd)
{
	return (struct mprdma) { .cwnd = cwnd << MPRDMA_SHIFT, .ooh = -1 };
}

/* A window of ACKs makes it one larger; a mark costs a half (section 3.2). */
static void mprdma_test_react(struct kunit *test)
{
	struct mprdma mp = mprdma_test_of(100);
	int i;

	for (i = 0; i < 100; i++)
		mprdma_react(&mp, false, true);
	KUNIT_EXPECT_EQ(test, 100, mp.cwnd >> MPRDMA_SHIFT);
	mprdma_react(&mp, false, true);
	KUNIT_EXPECT_EQ(test, 101, mp.cwnd >> MPRDMA_SHIFT);
	mp = mprdma_test_of(100);
	mprdma_react(&mp, true, true);
	KUNIT_EXPECT_EQ(test, 199 * MPRDMA_ONE / 2, mp.cwnd);
	/* What was not used does not grow, but a mark counts. */
	mprdma_react(&mp, false, false);
	KUNIT_EXPECT_EQ(test, 199 * MPRDMA_ONE / 2, mp.cwnd);
	mprdma_react(&mp, true, false);
	KUNIT_EXPECT_EQ(test, 99 * MPRDMA_ONE, mp.cwnd);
}

/* Where a share F = 2 / (cwnd + 2) is marked it stays as it is (section 3.2.1). */
static void mprdma_test_fixpoint(struct kunit *test)
{
	struct mprdma mp = mprdma_test_of(18);
	int i;

	/* F is a tenth. */
	for (i = 0; i < 10000; i++)
		mprdma_react(&mp, i % 10 == 9, true);
	KUNIT_EXPECT_GE(test, mp.cwnd, 17 * MPRDMA_ONE);
	KUNIT_EXPECT_LE(test, mp.cwnd, 19 * MPRDMA_ONE);
}

static void mprdma_test_bounds(struct kunit *test)
{
	struct mprdma mp = mprdma_test_of(2);
	int i;

	for (i = 0; i < 10; i++)
		mprdma_react(&mp, true, true);
	KUNIT_EXPECT_EQ(test, MPRDMA_ONE, mp.cwnd);
	mprdma_shrink(&mp, MPRDMA_ONE);
	KUNIT_EXPECT_EQ(test, MPRDMA_ONE, mp.cwnd);
	mp = mprdma_test_of(NDP_MAX_WINDOW);
	for (i = 0; i < 10; i++)
		mprdma_react(&mp, false, true);
	KUNIT_EXPECT_EQ(test, MPRDMA_CWND_MAX, mp.cwnd);
}

/* What is in flight, what may leave, and ACKs that are still to come, are in the window. */
static void mprdma_test_room(struct kunit *test)
{
	struct mprdma mp = mprdma_test_of(10);

	KUNIT_EXPECT_EQ(test, 10, mprdma_room(&mp, 0));
	mp.owed[0] = 2;
	mp.owed[1] = 1;
	mp.fresh = 1;
	KUNIT_EXPECT_TRUE(test, mprdma_credit(&mp, 7));
	KUNIT_EXPECT_EQ(test, 2, mprdma_room(&mp, 3));
	KUNIT_EXPECT_EQ(test, 0, mprdma_room(&mp, 50));
	/* A half is no packet. */
	mprdma_react(&mp, true, true);
	KUNIT_EXPECT_EQ(test, 1, mprdma_room(&mp, 3));
}

/* An ACK of a packet that was known to have arrived counts once for each such packet. */
static void mprdma_test_owed(struct kunit *test)
{
	struct mprdma mp = mprdma_test_of(10);

	KUNIT_EXPECT_FALSE(test, mprdma_was_owed(&mp));
	mp.owed[0] = 1;
	mp.owed[1] = 1;
	KUNIT_EXPECT_TRUE(test, mprdma_was_owed(&mp));
	KUNIT_EXPECT_EQ(test, 1, mp.owed[0]);
	KUNIT_EXPECT_TRUE(test, mprdma_was_owed(&mp));
	KUNIT_EXPECT_FALSE(test, mprdma_was_owed(&mp));
}

/* Paths leave in the order in which their ACKs came, and what does not fit is refused. */
static void mprdma_test_credits(struct kunit *test)
{
	struct mprdma mp = mprdma_test_of(100);
	int round, i;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < MPRDMA_CREDITS; i++)
			KUNIT_EXPECT_TRUE(test, mprdma_credit(&mp, round + i));
		KUNIT_EXPECT_FALSE(test, mprdma_credit(&mp, 99));
		for (i = 0; i < MPRDMA_CREDITS - 5; i++)
			KUNIT_EXPECT_EQ(test, round + i, mprdma_take_credit(&mp));
		for (; i < MPRDMA_CREDITS; i++)
			KUNIT_EXPECT_EQ(test, round + i, mprdma_take_credit(&mp));
		KUNIT_EXPECT_EQ(test, 0, mp.credits);
		mprdma_credit(&mp, 0);
		mprdma_take_credit(&mp);
	}
}

/* More than delta behind the highest; a retransmission never is; over the wrap. */
static void mprdma_test_slow(struct kunit *test)
{
	struct mprdma mp = mprdma_test_of(100);

	mp.ooh = U32_MAX - 10;
	KUNIT_EXPECT_FALSE(test, mprdma_is_slow(&mp, 5, false));
	KUNIT_EXPECT_EQ(test, 5, mp.ooh);
	KUNIT_EXPECT_FALSE(test, mprdma_is_slow(&mp, 5 - delta, false));
	KUNIT_EXPECT_TRUE(test, mprdma_is_slow(&mp, 4 - delta, false));
	KUNIT_EXPECT_FALSE(test, mprdma_is_slow(&mp, 4 - delta, true));
	/* Nor does one say how far the others are. */
	KUNIT_EXPECT_FALSE(test, mprdma_is_slow(&mp, 100, true));
	KUNIT_EXPECT_EQ(test, 5, mp.ooh);
}

static struct kunit_case mprdma_cases[] = {
	KUNIT_CASE(mprdma_test_react),
	KUNIT_CASE(mprdma_test_fixpoint),
	KUNIT_CASE(mprdma_test_bounds),
	KUNIT_CASE(mprdma_test_room),
	KUNIT_CASE(mprdma_test_owed),
	KUNIT_CASE(mprdma_test_credits),
	KUNIT_CASE(mprdma_test_slow),
	{}
};

static struct kunit_suite mprdma_suite = {
	.name = "ndp_mprdma",
	.test_cases = mprdma_cases,
};

kunit_test_suite(mprdma_suite);
