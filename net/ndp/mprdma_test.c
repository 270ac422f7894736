// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the arithmetic of MP-RDMA's window, which paths are slow, and when a packet is lost.
 */
#include <kunit/test.h>
#include "mprdma.c"

static struct mprdma mprdma_test_of(u32 cwnd)
{
	return (struct mprdma) { .cwnd = cwnd << MPRDMA_SHIFT, .ooh = -1 };
}

/* A window of ACKs adds one packet to it; a mark takes off half a packet (section 3.2). */
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
	/* A window that is not used up does not grow, but a mark counts. */
	mprdma_react(&mp, false, false);
	KUNIT_EXPECT_EQ(test, 199 * MPRDMA_ONE / 2, mp.cwnd);
	mprdma_react(&mp, true, false);
	KUNIT_EXPECT_EQ(test, 99 * MPRDMA_ONE, mp.cwnd);
}

/* If a share F = 2 / (cwnd + 2) of ACKs is marked the window is stable (section 3.2.1). */
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

/* Packets in flight, packets that may leave, and ACKs still to arrive occupy the window. */
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
	/* Half a packet of window is no room. */
	mprdma_react(&mp, true, true);
	KUNIT_EXPECT_EQ(test, 1, mprdma_room(&mp, 3));
}

/* One late ACK counts for each packet that was acknowledged cumulatively. */
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

/* Paths are used in the order in which their ACKs arrived; those that do not fit are refused. */
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

/* Slow is more than delta below the highest PSN, except a retransmission; PSNs wrap. */
static void mprdma_test_slow(struct kunit *test)
{
	struct mprdma mp = mprdma_test_of(100);

	mp.ooh = U32_MAX - 10;
	KUNIT_EXPECT_FALSE(test, mprdma_is_slow(&mp, 5, false));
	KUNIT_EXPECT_EQ(test, 5, mp.ooh);
	KUNIT_EXPECT_FALSE(test, mprdma_is_slow(&mp, 5 - delta, false));
	KUNIT_EXPECT_TRUE(test, mprdma_is_slow(&mp, 4 - delta, false));
	KUNIT_EXPECT_FALSE(test, mprdma_is_slow(&mp, 4 - delta, true));
	/* Nor does a retransmission raise the highest PSN. */
	KUNIT_EXPECT_FALSE(test, mprdma_is_slow(&mp, 100, true));
	KUNIT_EXPECT_EQ(test, 5, mp.ooh);
}

/* A packet that was only late raises the loss threshold to slots; losses lower it again. */
static void mprdma_test_learn(struct kunit *test)
{
	struct mprdma mp = { .lost_at = 32 };
	int i;

	mprdma_learn(&mp, false);
	KUNIT_EXPECT_EQ(test, 32, mp.lost_at);
	mprdma_learn(&mp, true);
	KUNIT_EXPECT_EQ(test, 64, mp.lost_at);
	mprdma_learn(&mp, true);
	KUNIT_EXPECT_EQ(test, 64, mp.lost_at);
	for (i = 0; i < 40; i++)
		mprdma_learn(&mp, false);
	KUNIT_EXPECT_EQ(test, 32, mp.lost_at);
}

static void mprdma_test_packet(struct kunit *test, struct ndp_sock *np, u64 sent_at)
{
	struct sk_buff *skb = kunit_kzalloc(test, sizeof(*skb), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	ndp_tx_cb(skb)->sent_at = sent_at;
	list_add_tail(&ndp_tx_cb(skb)->list, &np->flight);
	np->flight_pkts++;
}

/* A connection with a round-trip time of 1 ns, which is far too short. */
static struct ndp_sock *mprdma_test_sock(struct kunit *test)
{
	struct ndp_sock *np = kunit_kzalloc(test, sizeof(*np), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, np);
	np->peer = kunit_kzalloc(test, sizeof(*np->peer), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, np->peer);
	np->peer->n = 4;
	np->peer->srtt_ns = 1;
	np->peer->rto_ns = 1;
	np->rto_floor_ns = NDP_RTO_MIN;
	INIT_LIST_HEAD(&np->flight);
	INIT_LIST_HEAD(&np->rtx);
	INIT_LIST_HEAD(&np->lost);
	skb_queue_head_init(&np->sendq);
	return np;
}

/* Add a packet that the receiver has refused, behind the others that wait. */
static struct sk_buff *mprdma_test_refused(struct kunit *test, struct ndp_sock *np, u32 psn)
{
	struct sk_buff *skb = kunit_kzalloc(test, sizeof(*skb), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	ndp_tx_cb(skb)->psn = psn;
	ndp_tx_cb(skb)->state = NDP_TX_NACKED;
	list_add_tail(&ndp_tx_cb(skb)->list, &np->rtx);
	return skb;
}

/*
 * The lowest missing packet has a slot, wherever it is in the list of refused ones, which is
 * not fully sorted if NACKs arrive far out of order.
 */
static void mprdma_test_blocked(struct kunit *test)
{
	struct ndp_sock *np = mprdma_test_sock(test);
	struct sk_buff *low, *high;

	np->snd_una = U32_MAX;
	low = mprdma_test_refused(test, np, np->snd_una);
	/* Only the lowest is looked up in the tree. */
	rb_link_node(&low->rbnode, NULL, &np->txq.rb_node);
	rb_insert_color(&low->rbnode, &np->txq);
	high = mprdma_test_refused(test, np, np->snd_una + slots);
	KUNIT_EXPECT_FALSE(test, mprdma_is_blocked(np));
	list_move(&ndp_tx_cb(high)->list, &np->rtx);
	KUNIT_EXPECT_FALSE(test, mprdma_is_blocked(np));
	/* The lowest is in flight: the other one has no slot before that arrives. */
	ndp_tx_cb(low)->state = NDP_TX_FLIGHT;
	list_del(&ndp_tx_cb(low)->list);
	KUNIT_EXPECT_TRUE(test, mprdma_is_blocked(np));
}

/* A synchronised message waits for the time of delta packets, or for the ACKs of all others. */
static void mprdma_test_sync(struct kunit *test)
{
	struct ndp_sock *np = mprdma_test_sock(test);
	struct sk_buff *skb = kunit_kzalloc(test, sizeof(*skb), GFP_KERNEL);
	struct mprdma mp = mprdma_test_of(16);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	np->peer->srtt_ns = 1000;
	mp.new_at = 5000;
	/* Two round trips, as 32 packets take with a window of 16. */
	KUNIT_EXPECT_EQ(test, 5000 + 2000, mprdma_sync_at(np, &mp));
	mp.new_at = ktime_get_ns() + NSEC_PER_SEC;
	KUNIT_EXPECT_FALSE(test, mprdma_is_held(np, &mp));
	__skb_queue_tail(&np->sendq, skb);
	np->snd_nxt = 1;
	KUNIT_EXPECT_FALSE(test, mprdma_is_held(np, &mp));
	ndp_tx_cb(skb)->flags = NDP_F_SYNC;
	KUNIT_EXPECT_TRUE(test, mprdma_is_held(np, &mp));
	np->snd_una = 1;
	KUNIT_EXPECT_FALSE(test, mprdma_is_held(np, &mp));
	np->snd_una = 0;
	mp.new_at = 0;
	KUNIT_EXPECT_FALSE(test, mprdma_is_held(np, &mp));
}

/* The oldest packet is lost if others were answered, or if nothing was for a long time. */
static void mprdma_test_overdue(struct kunit *test)
{
	struct ndp_sock *np = mprdma_test_sock(test);
	struct mprdma mp = mprdma_test_of(2);

	KUNIT_EXPECT_EQ(test, U64_MAX, mprdma_overdue_at(np, &mp));
	mprdma_test_packet(test, np, 1000);
	mprdma_test_packet(test, np, 5000);
	mp.heard_at = 1000;
	KUNIT_EXPECT_EQ(test, 5000 + NDP_RTO_MIN / MPRDMA_TRIES, mprdma_overdue_at(np, &mp));
	np->peer->rto_ns = NDP_RTO_MIN;
	KUNIT_EXPECT_EQ(test, 5000 + 2 * NDP_RTO_MIN, mprdma_overdue_at(np, &mp));
	mp.heard_at = 1001;
	KUNIT_EXPECT_EQ(test, 1000 + 2 * NDP_RTO_MIN, mprdma_overdue_at(np, &mp));
	/* After the first timeout, silence is left to the core's timeouts. */
	np->backoff = 1;
	KUNIT_EXPECT_EQ(test, 1000 + 2 * NDP_RTO_MIN, mprdma_overdue_at(np, &mp));
	mp.heard_at = 1000;
	KUNIT_EXPECT_EQ(test, U64_MAX, mprdma_overdue_at(np, &mp));
	/* Likewise after MPRDMA_TRIES packets in vain. */
	np->backoff = 0;
	KUNIT_EXPECT_NE(test, U64_MAX, mprdma_overdue_at(np, &mp));
	mp.tries = MPRDMA_TRIES;
	KUNIT_EXPECT_EQ(test, U64_MAX, mprdma_overdue_at(np, &mp));
}

/* However short a round trip, a packet in the local qdisc does not keep the timer running. */
static void mprdma_test_haste(struct kunit *test)
{
	struct ndp_sock *np = mprdma_test_sock(test);
	struct mprdma mp = mprdma_test_of(1);

	mprdma_test_packet(test, np, 1000);
	mp.heard_at = 2000;
	mprdma_wait(np, &mp, 3000);
	KUNIT_EXPECT_EQ(test, 3000 + NDP_RTO_MIN / MPRDMA_TRIES, np->transport_at);
}

/* Random paths are all paths in turn. */
static void mprdma_test_paths(struct kunit *test)
{
	struct ndp_sock *np = mprdma_test_sock(test);
	struct mprdma mp = { .tried = 9 };
	u32 seen = 0;
	int i;

	for (i = 0; i < 4; i++)
		seen |= BIT(mprdma_random_path(np, &mp));
	KUNIT_EXPECT_EQ(test, 15, seen);
}

/* A lost packet takes the path of the last answer; if that is old, only every other time. */
static void mprdma_test_other_path(struct kunit *test)
{
	struct ndp_sock *np = mprdma_test_sock(test);
	struct mprdma mp = { .tried = 1, .good = 1, .heard_at = ktime_get_ns() };

	np->peer->rto_ns = 1000ULL * NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, 2, mprdma_other_path(np, &mp, NDP_SEND_NEW));
	KUNIT_EXPECT_EQ(test, 1, mprdma_other_path(np, &mp, NDP_SEND_LOST));
	KUNIT_EXPECT_EQ(test, 1, mprdma_other_path(np, &mp, NDP_SEND_LOST));
	np->peer->rto_ns = 0;
	KUNIT_EXPECT_EQ(test, 1, mprdma_other_path(np, &mp, NDP_SEND_LOST));
	KUNIT_EXPECT_EQ(test, 3, mprdma_other_path(np, &mp, NDP_SEND_LOST));
	KUNIT_EXPECT_EQ(test, 1, mprdma_other_path(np, &mp, NDP_SEND_LOST));
	KUNIT_EXPECT_EQ(test, 0, mprdma_other_path(np, &mp, NDP_SEND_LOST));
}

static struct kunit_case mprdma_cases[] = {
	KUNIT_CASE(mprdma_test_react),
	KUNIT_CASE(mprdma_test_fixpoint),
	KUNIT_CASE(mprdma_test_bounds),
	KUNIT_CASE(mprdma_test_room),
	KUNIT_CASE(mprdma_test_owed),
	KUNIT_CASE(mprdma_test_credits),
	KUNIT_CASE(mprdma_test_slow),
	KUNIT_CASE(mprdma_test_learn),
	KUNIT_CASE(mprdma_test_sync),
	KUNIT_CASE(mprdma_test_overdue),
	KUNIT_CASE(mprdma_test_blocked),
	KUNIT_CASE(mprdma_test_haste),
	KUNIT_CASE(mprdma_test_paths),
	KUNIT_CASE(mprdma_test_other_path),
	{}
};

static struct kunit_suite mprdma_suite = {
	.name = "ndp_mprdma",
	.test_cases = mprdma_cases,
};

kunit_test_suite(mprdma_suite);
