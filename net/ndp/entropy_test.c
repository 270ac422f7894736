// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: which paths are used again, and which get a fresh port.
 */
#include <kunit/test.h>
#include "entropy.c"
#include "path_test.h"

/* A connection with @n random paths, whose peer has answered. */
static struct ndp_sock *ndp_entropy_test_sock(struct kunit *test, u16 n)
{
	struct ndp_sock *np = ndp_path_test_sock(test, n);

	ndp_entropy_init(np->peer);
	return np;
}

/* A packet sent by path @number was lost, and arrived when sent again by path @other. */
static void ndp_entropy_test_lost(struct ndp_sock *np, u16 number, u16 other)
{
	struct ndp_tx_cb cb = { .path = number };

	ndp_path_suspect(np, &cb);
	ndp_path_judge(np, &cb, other, NDP_F_RTX);
}

/* Trim a packet of path @i.  Return: the path was replaced. */
static bool ndp_entropy_test_trim(struct ndp_sock *np, u16 i)
{
	bool replaced;

	spin_lock_bh(&np->peer->lock);
	replaced = ndp_entropy_trimmed(np->peer, i);
	spin_unlock_bh(&np->peer->lock);
	return replaced;
}

static void ndp_entropy_test_whole(struct ndp_sock *np, u16 i)
{
	ndp_path_good(np, ndp_path_number(np->peer, i));
}

/* Pushed packets take all paths; pulled ones take those whose last packet arrived whole. */
static void ndp_entropy_test_recycled(struct kunit *test)
{
	struct ndp_sock *np = ndp_entropy_test_sock(test, 16);
	u64 pushed = 0, pulled = 0, all = 0;
	u16 i;

	for (i = 0; i < 5; i++)
		pushed |= BIT_ULL(ndp_entropy_next(np, true, NDP_PATH_PROBE));
	KUNIT_EXPECT_EQ(test, hweight64(pushed), 5);
	for (i = 0; i < 16; i++)
		if (pushed & BIT_ULL(i))
			ndp_entropy_test_whole(np, i);
	/* The five are used in turn, as long as their packets arrive whole. */
	for (i = 0; i < 100; i++) {
		u16 path = ndp_entropy_next(np, false, NDP_PATH_PROBE);

		KUNIT_EXPECT_TRUE(test, pushed & BIT_ULL(path));
		if (i < 5)
			pulled |= BIT_ULL(path);
		ndp_entropy_test_whole(np, path);
	}
	KUNIT_EXPECT_EQ(test, pulled, pushed);

	/* Without answers: the ready paths, then the unused ones, then the permutation */
	for (i = 0; i < 16; i++)
		all |= BIT_ULL(ndp_entropy_next(np, false, NDP_PATH_PROBE));
	KUNIT_EXPECT_EQ(test, all, 0xffffULL);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(np->peer->ready, 16));
	KUNIT_EXPECT_TRUE(test, bitmap_empty(np->peer->spare, 16));
	KUNIT_EXPECT_LT(test, ndp_entropy_next(np, false, NDP_PATH_PROBE), 16);
}

/* A trimmed path is replaced, and has its turn after those whose packets arrived whole. */
static void ndp_entropy_test_replaced(struct kunit *test)
{
	struct ndp_sock *np = ndp_entropy_test_sock(test, 4);
	struct ndp_peer *peer = np->peer;
	u16 i, old = ndp_path_number(peer, 2);
	struct ndp_path *bad = &peer->path[2];

	for (i = 0; i < 4; i++)
		ndp_entropy_next(np, true, NDP_PATH_PROBE);
	for (i = 0; i < NDP_ENTROPY_PRICE; i++)
		ndp_entropy_test_whole(np, i % 4);
	bad->data.level = 3;
	KUNIT_EXPECT_TRUE(test, ndp_entropy_test_trim(np, 2));
	KUNIT_EXPECT_GE(test, ntohs(bad->sport), NDP_ENTROPY_MIN);
	KUNIT_EXPECT_EQ(test, bad->replaced, 1);
	KUNIT_EXPECT_EQ(test, bad->data.good, 0);
	KUNIT_EXPECT_EQ(test, bad->data.level, 0);
	KUNIT_EXPECT_EQ(test, peer->data.good, 3);

	/* The outcome of packets from the old port is not credited to the new one. */
	KUNIT_EXPECT_FALSE(test, ndp_path_is_current(peer, old));
	ndp_path_good(np, old);
	ndp_path_trimmed(np, old);
	ndp_entropy_test_lost(np, old, ndp_path_number(peer, 1));
	KUNIT_EXPECT_EQ(test, peer->data.good, 3);
	KUNIT_EXPECT_EQ(test, peer->data.lost, 0);
	KUNIT_EXPECT_FALSE(test, test_bit(2, peer->ready));

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_NE(test, ndp_entropy_next(np, false, NDP_PATH_PROBE), 2);
	KUNIT_EXPECT_EQ(test, ndp_entropy_next(np, false, NDP_PATH_PROBE), 2);
	ndp_path_good(np, ndp_path_number(peer, 2));
	KUNIT_EXPECT_EQ(test, peer->data.good, 4);
}

/* A fresh port has to be earned, and the number of ports saved up is bounded. */
static void ndp_entropy_test_earned(struct kunit *test)
{
	struct ndp_sock *np = ndp_entropy_test_sock(test, 8);
	int i, replaced = 0;

	for (i = 0; i < 1000; i++)
		replaced += ndp_entropy_test_trim(np, i % 8);
	KUNIT_EXPECT_EQ(test, replaced, 0);
	for (i = 0; i < 1000; i++) {
		ndp_entropy_test_whole(np, i % 8);
		replaced += ndp_entropy_test_trim(np, i % 8);
	}
	KUNIT_EXPECT_EQ(test, replaced, 1000 / NDP_ENTROPY_PRICE);
	for (i = 0; i < 1000; i++)
		ndp_entropy_test_whole(np, i % 8);
	for (i = 0, replaced = 0; i < 1000; i++)
		replaced += ndp_entropy_test_trim(np, i % 8);
	KUNIT_EXPECT_EQ(test, replaced, NDP_ENTROPY_SAVED);
}

static u16 ndp_entropy_test_pick(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	return 0;
}

/* Configured paths, a peer's only path, and paths that a transport chooses keep their ports. */
static void ndp_entropy_test_kept(struct kunit *test)
{
	static const struct ndp_transport chooses = {
		.pick_path = ndp_entropy_test_pick,
	};
	struct ndp_sock *one = ndp_entropy_test_sock(test, 1);
	struct ndp_sock *conf = ndp_entropy_test_sock(test, 8);
	struct ndp_sock *chosen = ndp_entropy_test_sock(test, 8);
	u64 used = 0;
	int i;

	conf->peer->recycles = false;
	chosen->tp = &chooses;
	ndp_entropy_keep(chosen);
	for (i = 0; i < 100; i++) {
		ndp_entropy_test_whole(one, 0);
		ndp_entropy_test_whole(conf, i % 2);
		ndp_entropy_test_whole(chosen, i % 8);
		KUNIT_EXPECT_FALSE(test, ndp_entropy_test_trim(one, 0));
		KUNIT_EXPECT_FALSE(test, ndp_entropy_test_trim(conf, i % 8));
		KUNIT_EXPECT_FALSE(test, ndp_entropy_test_trim(chosen, i % 8));
	}
	/* Nor are any of the configured paths preferred. */
	for (i = 0; i < 8; i++)
		used |= BIT_ULL(ndp_entropy_next(conf, false, NDP_PATH_PROBE));
	KUNIT_EXPECT_EQ(test, used, 0xffULL);
}

/* A path that is left out is passed over until it is due, and then probed. */
static void ndp_entropy_test_left_out(struct kunit *test)
{
	struct ndp_sock *np = ndp_entropy_test_sock(test, 4);
	struct ndp_score *out = &np->peer->path[1].data;
	int i;

	for (i = 0; i < 40; i++)
		ndp_entropy_test_whole(np, i % 4);
	ndp_entropy_test_lost(np, ndp_path_number(np->peer, 1), ndp_path_number(np->peer, 2));
	KUNIT_EXPECT_EQ(test, out->state, NDP_PATH_OUT);
	for (i = 0; i < 20; i++) {
		u16 path = ndp_entropy_next(np, false, NDP_PATH_PROBE);

		KUNIT_EXPECT_NE(test, path, 1);
		ndp_entropy_test_whole(np, path);
	}
	out->until = 1;
	for (i = 0; i < 4; i++)
		ndp_entropy_test_whole(np, ndp_entropy_next(np, false, NDP_PATH_PROBE));
	KUNIT_EXPECT_EQ(test, out->state, NDP_PATH_USED);
}

/* A connection to an unverified peer learns nothing about paths, and uses all of them. */
static void ndp_entropy_test_unverified(struct kunit *test)
{
	struct ndp_sock *np = ndp_entropy_test_sock(test, 8);
	u64 used = 0;
	int i;

	np->unverified_at = ndp_to_sk(np);
	for (i = 0; i < 100; i++)
		ndp_entropy_test_whole(np, 3);
	for (i = 0; i < 8; i++)
		used |= BIT_ULL(ndp_entropy_next(np, false, NDP_PATH_PROBE));
	KUNIT_EXPECT_EQ(test, used, 0xffULL);
	KUNIT_EXPECT_EQ(test, np->peer->earned, 0);
}

static struct kunit_case ndp_entropy_cases[] = {
	KUNIT_CASE(ndp_entropy_test_recycled),
	KUNIT_CASE(ndp_entropy_test_replaced),
	KUNIT_CASE(ndp_entropy_test_earned),
	KUNIT_CASE(ndp_entropy_test_kept),
	KUNIT_CASE(ndp_entropy_test_left_out),
	KUNIT_CASE(ndp_entropy_test_unverified),
	{}
};

static struct kunit_suite ndp_entropy_suite = {
	.name = "ndp_entropy",
	.test_cases = ndp_entropy_cases,
};

kunit_test_suite(ndp_entropy_suite);
