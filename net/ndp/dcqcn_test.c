// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: how DCQCN's rate falls and recovers, and when a missing packet is sent again.
 */
#include <kunit/test.h>
#include "dcqcn.c"

#define GBIT	1000000000ULL

static struct dcqcn dcqcn_test_of(struct kunit *test, u64 line)
{
	struct dcqcn dc = { .rate = line, .target = line, .line = line, .alpha = DCQCN_ONE };

	dcqcn = (struct dcqcn_preset) { };
	KUNIT_ASSERT_EQ(test, 0, dcqcn_settle());
	dcqcn_begin_stages(&dc, 0);
	return dc;
}

/* The first notification with alpha 1 halves the rate; five stages bring nearly all back. */
static void dcqcn_test_cut(struct kunit *test)
{
	struct dcqcn dc = dcqcn_test_of(test, 40 * GBIT);
	u64 at = dcqcn.timer_us * 1000ULL;

	dcqcn_cut(&dc, 0);
	KUNIT_EXPECT_EQ(test, 40 * GBIT, dc.target);
	KUNIT_EXPECT_LE(test, dc.rate, 20 * GBIT + GBIT / 1000);
	KUNIT_EXPECT_GE(test, dc.rate, 20 * GBIT - GBIT / 1000);
	dcqcn_age(&dc, at - 1);
	KUNIT_EXPECT_EQ(test, 0, dc.timer);
	dcqcn_age(&dc, at);
	KUNIT_EXPECT_EQ(test, 1, dc.timer);
	KUNIT_EXPECT_GE(test, dc.rate, 30 * GBIT - GBIT / 1000);
	dcqcn_age(&dc, 5 * at);
	KUNIT_EXPECT_EQ(test, 5, dc.timer);
	KUNIT_EXPECT_GE(test, dc.rate, 39 * GBIT);
	KUNIT_EXPECT_LE(test, dc.rate, 40 * GBIT);
}

/* Additive increase after five stages of one kind, hyper increase after five of both. */
static void dcqcn_test_increase(struct kunit *test)
{
	struct dcqcn dc = dcqcn_test_of(test, 40 * GBIT);

	dc.rate = 10 * GBIT;
	dc.target = 10 * GBIT;
	dc.timer = DCQCN_FAST;
	dcqcn_stage(&dc);
	KUNIT_EXPECT_EQ(test, 10 * GBIT, dc.target);
	dc.timer++;
	dcqcn_stage(&dc);
	KUNIT_EXPECT_EQ(test, 10 * GBIT + 40 * DCQCN_MBIT, dc.target);
	dc.bytes = DCQCN_FAST + 2;
	dc.timer = DCQCN_FAST + 3;
	dcqcn_stage(&dc);
	KUNIT_EXPECT_EQ(test, 10 * GBIT + 440 * DCQCN_MBIT, dc.target);
	dc.target = dc.line;
	dcqcn_stage(&dc);
	KUNIT_EXPECT_EQ(test, dc.line, dc.target);
}

/* Endless notifications cut to the least rate; without any, alpha decays to almost 0. */
static void dcqcn_test_bounds(struct kunit *test)
{
	struct dcqcn dc = dcqcn_test_of(test, 10 * GBIT);
	u64 now = 0;
	int i;

	for (i = 0; i < 1000; i++)
		dcqcn_cut(&dc, now += 50000);
	KUNIT_EXPECT_EQ(test, dcqcn.min_mbit * DCQCN_MBIT, dc.rate);
	KUNIT_EXPECT_LE(test, dc.alpha, DCQCN_ONE);
	for (i = 0; i < 100; i++)
		dcqcn_age(&dc, now += 64 * 55000ULL);
	KUNIT_EXPECT_LT(test, dc.alpha, DCQCN_ONE / 100);
	KUNIT_EXPECT_LE(test, dc.rate, 10 * GBIT);
	/* An idle period of years is caught up with in one call. */
	dcqcn_age(&dc, now + (1ULL << 58));
	KUNIT_EXPECT_EQ(test, now + (1ULL << 58), dc.stage_at);
}

static void dcqcn_test_bytes(struct kunit *test)
{
	struct dcqcn dc = dcqcn_test_of(test, 10 * GBIT);
	int i;

	for (i = 0; i < 9999; i++)
		dcqcn_count(&dc, 1000);
	KUNIT_EXPECT_EQ(test, 0, dc.bytes);
	dcqcn_count(&dc, 1000);
	KUNIT_EXPECT_EQ(test, 1, dc.bytes);
}

/* A qdisc that does not pace is given a packet 1 ms ahead of its time at most. */
static void dcqcn_test_ahead(struct kunit *test)
{
	struct ndp_sock *np = kunit_kzalloc(test, sizeof(*np), GFP_KERNEL);
	struct dcqcn *dc;
	int n = 0;

	KUNIT_ASSERT_NOT_NULL(test, np);
	INIT_LIST_HEAD(&np->rtx);
	dc = ndp_transport_priv(np);
	*dc = dcqcn_test_of(test, DCQCN_MBIT);
	/* Each packet takes 12 ms. */
	while (n < 100 && dcqcn_may_send(np, NDP_SEND_NEW, 1400)) {
		dcqcn_not_before(np, 1400);
		n++;
	}
	KUNIT_EXPECT_GE(test, n, 1);
	KUNIT_EXPECT_LT(test, n, 100);
	KUNIT_EXPECT_FALSE(test, dcqcn_may_send(np, NDP_SEND_LOST, 1400));
	KUNIT_EXPECT_TRUE(test, dcqcn_may_send(np, NDP_SEND_EMPTY, 0));
	KUNIT_EXPECT_EQ(test, dc->next - DCQCN_AHEAD, np->transport_at);
}

static struct ndp_tx_cb *dcqcn_test_lost(struct kunit *test, struct ndp_sock *np, u32 psn)
{
	struct sk_buff *skb = kunit_kzalloc(test, sizeof(*skb), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	ndp_tx_cb(skb)->psn = psn;
	list_add_tail(&ndp_tx_cb(skb)->list, &np->lost);
	return ndp_tx_cb(skb);
}

/* The lowest missing packet is sent again after a round trip, then after two, and so on. */
static void dcqcn_test_hole(struct kunit *test)
{
	struct ndp_sock *np = kunit_kzalloc(test, sizeof(*np), GFP_KERNEL);
	u64 before, wait = 10 * NDP_MSEC;
	struct ndp_tx_cb *cb;
	struct dcqcn *dc;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, np);
	np->peer = kunit_kzalloc(test, sizeof(*np->peer), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, np->peer);
	np->peer->srtt_ns = wait;
	INIT_LIST_HEAD(&np->lost);
	dc = ndp_transport_priv(np);
	*dc = dcqcn_test_of(test, 10 * GBIT);
	cb = dcqcn_test_lost(test, np, 0);
	for (i = 0; i < 300; i++) {
		dc->hole_at = 0;
		KUNIT_EXPECT_TRUE(test, dcqcn_may_send(np, NDP_SEND_LOST, 1400));
		before = ktime_get_ns();
		dcqcn_sent(np, cb, NDP_SEND_LOST, 1400);
		KUNIT_EXPECT_GE(test, dc->hole_at, before + wait);
		KUNIT_EXPECT_LE(test, dc->hole_at, ktime_get_ns() + wait);
		KUNIT_EXPECT_EQ(test, dc->hole_at, np->transport_at);
		wait = min(2 * wait, NDP_RTO_MAX);
	}
	/* Another lowest packet begins anew; one after it is sent only if few are in flight. */
	np->snd_una = 1;
	cb->psn = 1;
	KUNIT_EXPECT_TRUE(test, dcqcn_may_send(np, NDP_SEND_LOST, 1400));
	cb->psn = 2;
	KUNIT_EXPECT_TRUE(test, dcqcn_may_send(np, NDP_SEND_LOST, 1400));
	np->flight_pkts = 1;
	KUNIT_EXPECT_FALSE(test, dcqcn_may_send(np, NDP_SEND_LOST, 1400));
	dcqcn_acked(np, cb, true);
	KUNIT_EXPECT_TRUE(test, dcqcn_may_send(np, NDP_SEND_LOST, 1400));
	cb->rtx = 1;
	dcqcn_nacked(np, cb);
	KUNIT_EXPECT_FALSE(test, dcqcn_may_send(np, NDP_SEND_LOST, 1400));
}

static struct kunit_case dcqcn_cases[] = {
	KUNIT_CASE(dcqcn_test_cut),
	KUNIT_CASE(dcqcn_test_increase),
	KUNIT_CASE(dcqcn_test_bounds),
	KUNIT_CASE(dcqcn_test_bytes),
	KUNIT_CASE(dcqcn_test_ahead),
	KUNIT_CASE(dcqcn_test_hole),
	{}
};

static struct kunit_suite dcqcn_suite = {
	.name = "ndp_dcqcn",
	.test_cases = dcqcn_cases,
};

kunit_test_suite(dcqcn_suite);
