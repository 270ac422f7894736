// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: retransmission timeout.
 */
#include <kunit/test.h>
#include "rtt.c"

/* A transport without @overtaken: losses are not found by the order of answers. */
static const struct ndp_transport ndp_rto_test_transport;

static struct ndp_sock *ndp_rto_test_sock(struct kunit *test)
{
	struct ndp_sock *np = kunit_kzalloc(test, sizeof(*np), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, np);
	np->peer = kunit_kzalloc(test, sizeof(*np->peer), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, np->peer);
	spin_lock_init(&np->peer->lock);
	np->rto_floor_ns = NDP_RTO_MIN;
	np->tp = &ndp_rto_test_transport;
	return np;
}

static void ndp_rto_test_floor(struct kunit *test)
{
	struct ndp_sock *np = ndp_rto_test_sock(test);
	int i;

	for (i = 0; i < 100; i++)
		ndp_rtt_sample(np->peer, 50 * NSEC_PER_USEC, false);
	KUNIT_EXPECT_EQ(test, np->peer->srtt_ns, 50ULL * NSEC_PER_USEC);
	KUNIT_EXPECT_LE(test, np->peer->rttvar_ns, 1ULL * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, ndp_rto(np), NDP_RTO_MIN);
}

/* The RTO is srtt + 4 rttvar; the initial rttvar is half of the first sample. */
static void ndp_rto_test_estimate(struct kunit *test)
{
	struct ndp_sock *np = ndp_rto_test_sock(test);

	ndp_rtt_sample(np->peer, 4 * NDP_MSEC, false);
	KUNIT_EXPECT_EQ(test, np->peer->srtt_ns, 4 * NDP_MSEC);
	KUNIT_EXPECT_EQ(test, np->peer->rttvar_ns, 2 * NDP_MSEC);
	KUNIT_EXPECT_EQ(test, ndp_rto(np), 12 * NDP_MSEC);
	/* dev = 8 ms: var = (3 * 2 + 8) / 4, srtt = (7 * 4 + 12) / 8 */
	ndp_rtt_sample(np->peer, 12 * NDP_MSEC, false);
	KUNIT_EXPECT_EQ(test, np->peer->srtt_ns, 5 * NDP_MSEC);
	KUNIT_EXPECT_EQ(test, np->peer->rttvar_ns, 3500 * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, ndp_rto(np), 19 * NDP_MSEC);
}

/* After a spurious timeout the RTO stays longer for a while, even when the estimate has decayed. */
static void ndp_rto_test_spurious(struct kunit *test)
{
	struct ndp_sock *np = ndp_rto_test_sock(test);
	int i;

	ndp_rtt_sample(np->peer, 20 * NDP_MSEC, true);
	for (i = 0; i < 1000; i++)
		ndp_rtt_sample(np->peer, 50 * NSEC_PER_USEC, false);
	KUNIT_EXPECT_LT(test, np->peer->srtt_ns, NDP_MSEC);
	KUNIT_EXPECT_EQ(test, ndp_rto(np), 30 * NDP_MSEC);
	np->peer->rto_kept.until = jiffies;
	KUNIT_EXPECT_EQ(test, ndp_rto(np), NDP_RTO_MIN);
	/* The sample of a peer that stalled for a second is bounded. */
	ndp_rtt_sample(np->peer, 1000 * NDP_MSEC, true);
	KUNIT_EXPECT_EQ(test, ndp_kept(&np->peer->rto_kept), NDP_RTO_MAX / 2);
}

/* The RTT is measured from the first transmission on. */
static void ndp_rto_test_answer(struct kunit *test)
{
	struct ndp_sock *np = ndp_rto_test_sock(test);
	u32 now = ndp_rtt_clock(ktime_get_ns());
	struct ndp_tx_cb cb = { .first_at = now - 5000 };

	ndp_rtt_answer(np, &cb);
	KUNIT_EXPECT_GE(test, np->peer->srtt_ns, 5000ULL << 10);
	KUNIT_EXPECT_LT(test, np->peer->srtt_ns, 1000000ULL << 10);
}

static void ndp_rto_test_backoff(struct kunit *test)
{
	struct ndp_sock *np = ndp_rto_test_sock(test);

	np->backoff = 1;
	KUNIT_EXPECT_EQ(test, ndp_rto(np), NDP_RTO_MIN);
	np->backoff = 4;
	KUNIT_EXPECT_EQ(test, ndp_rto(np), 8 * NDP_RTO_MIN);
	np->backoff = 200;
	KUNIT_EXPECT_EQ(test, ndp_rto(np), NDP_RTO_MAX);
	/* An estimate beyond the bound is used unchanged. */
	np->peer->rto_ns = 2 * NDP_RTO_MAX;
	KUNIT_EXPECT_EQ(test, ndp_rto(np), 2 * NDP_RTO_MAX);
}

/* A round doubles the timeout once, however many packets time out in it. */
static void ndp_rto_test_rounds(struct kunit *test)
{
	struct ndp_sock *np = ndp_rto_test_sock(test);
	u64 at = 1000 * NDP_MSEC;
	u32 round;
	int i;

	for (round = 1; round <= 5; round++) {
		for (i = 0; i < 10; i++)
			ndp_rto_back_off(np, at + i * ndp_rto(np) / 20);
		KUNIT_EXPECT_EQ(test, np->backoff, round);
		at += ndp_rto(np);
	}
}

static struct kunit_case ndp_rto_cases[] = {
	KUNIT_CASE(ndp_rto_test_floor),
	KUNIT_CASE(ndp_rto_test_estimate),
	KUNIT_CASE(ndp_rto_test_spurious),
	KUNIT_CASE(ndp_rto_test_answer),
	KUNIT_CASE(ndp_rto_test_backoff),
	KUNIT_CASE(ndp_rto_test_rounds),
	{}
};

static struct kunit_suite ndp_rto_suite = {
	.name = "ndp_rto",
	.test_cases = ndp_rto_cases,
};

kunit_test_suite(ndp_rto_suite);
