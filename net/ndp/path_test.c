// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a round of paths is a permutation of all (NDP paper, section 3.1.1); when a path
 * that was left out is tried again (section 3.2.3).
 */
#include <kunit/test.h>
#include "path.c"
#include "path_test.h"

static void ndp_path_test_rounds(struct kunit *test)
{
	static const u16 sizes[] = { 1, 2, 3, 16, 33, 64 };
	struct ndp_sock *np;
	int round, k;
	u64 seen;
	u16 i;

	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		np = ndp_path_test_sock(test, sizes[k]);
		for (round = 0; round < 100; round++) {
			seen = 0;
			for (i = 0; i < sizes[k]; i++)
				seen |= BIT_ULL(ndp_path_next(np, false, NDP_PATH_PROBE));
			KUNIT_EXPECT_EQ(test, seen, GENMASK_ULL(sizes[k] - 1, 0));
		}
	}
}

/* Every path is at every place of a round equally often: 6000 rounds, 6 sigma. */
static void ndp_path_test_uniform(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	int at[4][4] = { };
	int round, i, j;

	for (round = 0; round < 6000; round++)
		for (i = 0; i < 4; i++)
			at[i][ndp_path_next(np, false, NDP_PATH_PROBE)]++;
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 4; j++) {
			KUNIT_EXPECT_GT(test, at[i][j], 1500 - 201);
			KUNIT_EXPECT_LT(test, at[i][j], 1500 + 201);
		}
	}
}

/*
 * Every path follows every other equally often, so that two senders do not fall into step: 31
 * pairs in each of 32000 rounds, 1000 of each of 32 * 31 kinds, 6 sigma.
 */
static void ndp_path_test_pairs(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 32);
	int (*after)[32] = kunit_kzalloc(test, 32 * sizeof(*after), GFP_KERNEL);
	u16 before, path;
	int round, i, j;

	KUNIT_ASSERT_NOT_NULL(test, after);
	for (round = 0; round < 32000; round++) {
		before = ndp_path_next(np, false, NDP_PATH_PROBE);
		for (i = 1; i < 32; i++) {
			path = ndp_path_next(np, false, NDP_PATH_PROBE);
			after[before][path]++;
			before = path;
		}
	}
	for (i = 0; i < 32; i++) {
		for (j = 0; j < 32; j++) {
			if (i == j)
				continue;
			KUNIT_EXPECT_GT(test, after[i][j], 1000 - 190);
			KUNIT_EXPECT_LT(test, after[i][j], 1000 + 190);
		}
	}
}

/* An opening takes paths in use; while unanswered, also those that others left out. */
static void ndp_path_test_in_vain(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	u64 seen = 0;
	int i;

	np->answered = false;
	np->peer->path[1].data.state = NDP_PATH_OUT;
	np->peer->path[2].data.state = NDP_PATH_OUT;
	np->peer->path[2].data.until = U64_MAX;
	for (i = 0; i < 8; i++)
		seen |= BIT_ULL(ndp_path_next(np, false, NDP_PATH_PROBE));
	KUNIT_EXPECT_EQ(test, seen, 0x9ULL);
	np->backoff = 1;
	for (i = 0; i < 8; i++)
		seen |= BIT_ULL(ndp_path_next(np, false, NDP_PATH_PROBE));
	KUNIT_EXPECT_EQ(test, seen, 0xbULL);
	KUNIT_EXPECT_EQ(test, np->peer->path[1].data.state, NDP_PATH_OUT);
}

/* Control packets have a round of their own. */
static void ndp_path_test_separate(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 8);
	u64 data = 0, control = 0;
	int i;

	for (i = 0; i < 8; i++) {
		data |= BIT_ULL(ndp_path_next(np, false, NDP_PATH_PROBE));
		control |= BIT_ULL(ndp_path_next(np, true, NDP_PATH_PROBE));
	}
	KUNIT_EXPECT_EQ(test, data, 0xffULL);
	KUNIT_EXPECT_EQ(test, control, 0xffULL);
}

/* Another peer may have fewer paths: the round begins anew. */
static void ndp_path_test_fewer(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 64);
	struct ndp_sock *other = ndp_path_test_sock(test, 5);
	u64 seen = 0;
	int i;

	for (i = 0; i < 40; i++)
		ndp_path_next(np, false, NDP_PATH_PROBE);
	np->peer = other->peer;
	for (i = 0; i < 5; i++)
		seen |= BIT_ULL(ndp_path_next(np, false, NDP_PATH_PROBE));
	KUNIT_EXPECT_EQ(test, seen, 0x1fULL);
	/* A path number of the previous peer is ignored. */
	ndp_path_trimmed(np, 63);
	KUNIT_EXPECT_EQ(test, np->peer->data.trimmed, 0);
}

/* All paths are left out: the one that comes back first is used. */
static void ndp_path_test_all_out(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	u64 now = ktime_get_ns();
	int used[4], i;

	for (i = 0; i < 4; i++) {
		np->peer->path[i].data.state = NDP_PATH_OUT;
		np->peer->path[i].data.until = now + NSEC_PER_SEC * (i == 3 ? 1 : 5 + i);
	}
	ndp_path_use(np, 5, used);
	KUNIT_EXPECT_EQ(test, used[3], 20);
}

/* Bad paths are probed by one packet at a time; when all are bad, each gets one. */
static void ndp_path_test_probes(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 8);
	int used[8], i, probed = 0;

	for (i = 1; i < 8; i++) {
		np->peer->path[i].data.state = NDP_PATH_OUT;
		np->peer->path[i].data.out_ns = NSEC_PER_SEC;
		np->peer->path[i].data.until = i;
	}
	ndp_path_use(np, 10, used);
	for (i = 1; i < 8; i++)
		probed += used[i];
	KUNIT_EXPECT_EQ(test, probed, 1);
	ndp_path_good(np, np->peer->probed);
	ndp_path_use(np, 10, used);
	KUNIT_EXPECT_EQ(test, np->peer->path[np->peer->probed].data.state,
			NDP_PATH_PROBED);

	for (i = 0; i < 8; i++) {
		np->peer->path[i].data.state = NDP_PATH_OUT;
		np->peer->path[i].data.out_ns = NSEC_PER_SEC;
		np->peer->path[i].data.until = i + 1;
	}
	ndp_path_use(np, 1, used);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, used[i], 1);
}

/* Packets that somebody waits for probe late; those whose fate stays unknown never probe. */
static void ndp_path_test_who_probes(struct kunit *test)
{
	struct ndp_score s = {
		.level = 3, .state = NDP_PATH_OUT, .out_ns = NDP_OUT_MIN, .until = 1000,
	};

	KUNIT_EXPECT_EQ(test, ndp_path_due(&s, NDP_PATH_PROBE), 1000);
	KUNIT_EXPECT_EQ(test, ndp_path_due(&s, NDP_PATH_PROBE_LATE), 1000 + 8 * NDP_OUT_MIN);
	KUNIT_EXPECT_EQ(test, ndp_path_due(&s, NDP_PATH_NO_PROBE), U64_MAX);
	s.level = NDP_OUT_DOUBLINGS;
	s.out_ns = NDP_OUT_LOST_MAX;
	KUNIT_EXPECT_EQ(test, ndp_path_due(&s, NDP_PATH_PROBE_LATE), 1000 + NDP_OUT_MAX);
}

/* A DATA probe without a reply does not restore a path; an answer does, unless reported lost. */
static void ndp_path_test_silence(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	struct ndp_path *path = &np->peer->path[2];
	int used[4], i;

	path->data.state = NDP_PATH_PROBED;
	path->data.until = 1;
	path->data.out_ns = NSEC_PER_SEC;
	path->control = path->data;
	ndp_path_use(np, 10, used);
	KUNIT_EXPECT_EQ(test, used[2], 1);
	KUNIT_EXPECT_EQ(test, path->data.state, NDP_PATH_PROBED);
	KUNIT_EXPECT_EQ(test, path->probes, 1);
	for (i = 0; i < 4; i++)
		ndp_path_next(np, true, NDP_PATH_NO_PROBE);
	KUNIT_EXPECT_EQ(test, path->control.state, NDP_PATH_USED);
}

static struct kunit_case ndp_path_cases[] = {
	KUNIT_CASE(ndp_path_test_rounds),
	KUNIT_CASE(ndp_path_test_uniform),
	KUNIT_CASE(ndp_path_test_pairs),
	KUNIT_CASE(ndp_path_test_in_vain),
	KUNIT_CASE(ndp_path_test_separate),
	KUNIT_CASE(ndp_path_test_fewer),
	KUNIT_CASE(ndp_path_test_probes),
	KUNIT_CASE(ndp_path_test_who_probes),
	KUNIT_CASE(ndp_path_test_silence),
	KUNIT_CASE(ndp_path_test_all_out),
	{}
};

static struct kunit_suite ndp_path_suite = {
	.name = "ndp_path",
	.test_cases = ndp_path_cases,
};

kunit_test_suite(ndp_path_suite);
