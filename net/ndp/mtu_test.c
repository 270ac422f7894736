// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: which losses of large packets raise the suspicion of a black hole, and which path
 * MTUs are remembered.
 */
#include <kunit/test.h>
#include "conn.h"

/* There is no namespace to count in. */
#undef NDP_CONN_INC
#define NDP_CONN_INC(np, what)	((void)(np), (void)NDP_STAT_##what)

#include "mtu.c"

struct ndp_mtu_test {
	struct ndp_sock		*np;
	struct sk_buff		*large;
	struct sk_buff		*small;
};

static struct ndp_mtu_test *ndp_mtu_test_new(struct kunit *test)
{
	struct ndp_mtu_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->np = kunit_kzalloc(test, sizeof(*t->np), GFP_KERNEL);
	t->large = kunit_kzalloc(test, sizeof(*t->large), GFP_KERNEL);
	t->small = kunit_kzalloc(test, sizeof(*t->small), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->np);
	KUNIT_ASSERT_NOT_NULL(test, t->large);
	KUNIT_ASSERT_NOT_NULL(test, t->small);
	t->np->peer = kunit_kzalloc(test, sizeof(*t->np->peer), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->np->peer);
	t->np->rto_floor_ns = NDP_RTO_MIN;
	t->np->route_mtu = 9000;
	t->large->len = 8900;
	t->small->len = 100;
	return t;
}

/* Lose @n large packets, each long after the one before. */
static void ndp_mtu_test_lose(struct ndp_mtu_test *t, int n)
{
	while (n--) {
		t->np->large_lost_next = 0;
		ndp_mtu_lost(t->np, t->large);
	}
}

/* Packets that are lost together count as one loss; each timeout adds one. */
static void ndp_mtu_test_counts(struct kunit *test)
{
	struct ndp_mtu_test *t = ndp_mtu_test_new(test);
	struct ndp_sock *np = t->np;
	u64 before = ktime_get_ns();
	int i;

	for (i = 0; i < 30; i++)
		ndp_mtu_lost(np, t->large);
	/* Skip the check if this machine was stalled meanwhile. */
	if (ktime_get_ns() - before < NDP_RTO_MIN / 2)
		KUNIT_EXPECT_EQ(test, (int)np->large_lost, 1);
	KUNIT_EXPECT_GE(test, np->large_lost_next, before + NDP_RTO_MIN / 2);
	np->large_lost = 3;
	np->large_lost_next = 0;
	before = ktime_get_ns();
	ndp_mtu_lost(np, t->large);
	KUNIT_EXPECT_EQ(test, (int)np->large_lost, 4);
	KUNIT_EXPECT_GE(test, np->large_lost_next, before + 4 * NDP_RTO_MIN);
	KUNIT_EXPECT_LE(test, np->large_lost_next, ktime_get_ns() + 4 * NDP_RTO_MIN);
	KUNIT_EXPECT_EQ(test, np->small_until, 0ULL);
}

/* Five losses of large packets make packets small; losses of small packets do not count. */
static void ndp_mtu_test_hole(struct kunit *test)
{
	struct ndp_mtu_test *t = ndp_mtu_test_new(test);
	struct ndp_sock *np = t->np;
	int i;

	for (i = 0; i < 10; i++) {
		np->large_lost_next = 0;
		ndp_mtu_lost(np, t->small);
	}
	ndp_mtu_test_lose(t, NDP_HOLE_TIMEOUTS - 1);
	KUNIT_EXPECT_EQ(test, ndp_mtu_limit(np), 0);
	ndp_mtu_test_lose(t, 1);
	KUNIT_EXPECT_EQ(test, ndp_mtu_limit(np), NDP_MTU_SAFE);
	KUNIT_EXPECT_LT(test, np->mss, NDP_MTU_SAFE);
	/* After that the count restarts, but the next time of small packets is longer. */
	np->small_until = 1;
	KUNIT_EXPECT_EQ(test, ndp_mtu_limit(np), 0);
	KUNIT_EXPECT_GT(test, np->mss, NDP_MTU_SAFE);
	ndp_mtu_test_lose(t, NDP_HOLE_TIMEOUTS - 1);
	KUNIT_EXPECT_EQ(test, ndp_mtu_limit(np), 0);
	ndp_mtu_test_lose(t, 1);
	KUNIT_EXPECT_GT(test, np->small_until, ktime_get_ns() + NDP_HOLE_TIME);
}

/* A large packet that arrives, even late, shows that there is no black hole. */
static void ndp_mtu_test_arrives(struct kunit *test)
{
	struct ndp_mtu_test *t = ndp_mtu_test_new(test);
	struct ndp_sock *np = t->np;

	ndp_mtu_test_lose(t, NDP_HOLE_TIMEOUTS - 1);
	ndp_mtu_arrived(np, t->small);
	KUNIT_EXPECT_EQ(test, (int)np->large_lost, NDP_HOLE_TIMEOUTS - 1);
	ndp_mtu_arrived(np, t->large);
	ndp_mtu_test_lose(t, NDP_HOLE_TIMEOUTS - 1);
	KUNIT_EXPECT_EQ(test, ndp_mtu_limit(np), 0);
	ndp_mtu_test_lose(t, 1);
	KUNIT_EXPECT_EQ(test, ndp_mtu_limit(np), NDP_MTU_SAFE);
	ndp_mtu_arrived(np, t->small);
	KUNIT_EXPECT_EQ(test, ndp_mtu_limit(np), NDP_MTU_SAFE);
	ndp_mtu_arrived(np, t->large);
	KUNIT_EXPECT_EQ(test, ndp_mtu_limit(np), 0);
	KUNIT_EXPECT_GT(test, np->mss, NDP_MTU_SAFE);
}

static unsigned int ndp_mtu_test_device(const struct dst_entry *dst)
{
	return dst->header_len;
}

/* When a device's MTU grows, paths that nobody has used since grow too. */
static void ndp_mtu_test_grows(struct kunit *test)
{
	static struct dst_ops ops = { .mtu = ndp_mtu_test_device };
	struct ndp_sock *np = ndp_mtu_test_new(test)->np;
	struct dst_entry *dst = kunit_kzalloc(test, sizeof(*dst), GFP_KERNEL);
	struct ndp_peer *peer;

	peer = kunit_kzalloc(test, struct_size(peer, path, 3), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, peer);
	KUNIT_ASSERT_NOT_NULL(test, dst);
	spin_lock_init(&peer->lock);
	peer->n = 3;
	np->peer = peer;
	dst->ops = &ops;
	dst->header_len = 1500;
	rcu_assign_pointer(peer->path[0].dst, dst);
	rcu_assign_pointer(peer->path[1].dst, dst);
	ndp_mtu_note(np, &peer->path[0], dst);
	ndp_mtu_note(np, &peer->path[1], dst);
	KUNIT_EXPECT_EQ(test, np->route_mtu, 1500);
	dst->header_len = 9000;
	ndp_mtu_note(np, &peer->path[1], dst);
	KUNIT_EXPECT_EQ(test, np->route_mtu, 9000);
	KUNIT_EXPECT_EQ(test, peer->path[0].mtu, 9000);
	KUNIT_EXPECT_EQ(test, peer->path[2].mtu, 0);
}

static struct kunit_case ndp_mtu_cases[] = {
	KUNIT_CASE(ndp_mtu_test_counts),
	KUNIT_CASE(ndp_mtu_test_hole),
	KUNIT_CASE(ndp_mtu_test_arrives),
	KUNIT_CASE(ndp_mtu_test_grows),
	{}
};

static struct kunit_suite ndp_mtu_suite = {
	.name = "ndp_mtu",
	.test_cases = ndp_mtu_cases,
};

kunit_test_suite(ndp_mtu_suite);
