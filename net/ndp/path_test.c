// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a round of paths is a permutation of all (NDP paper, section 3.1.1).
 */
#include <kunit/test.h>
#include "path.c"

static void ndp_path_test_rounds(struct kunit *test)
{
	static const u16 sizes[] = { 1, 2, 3, 16, 64 };
	struct ndp_paths *paths;
	int round, k;
	u64 seen;
	u16 i;

	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		paths = ndp_paths_alloc(sizes[k]);
		KUNIT_ASSERT_NOT_NULL(test, paths);
		for (round = 0; round < 100; round++) {
			seen = 0;
			for (i = 0; i < sizes[k]; i++)
				seen |= BIT_ULL(ndp_path_next(paths, &paths->data));
			KUNIT_EXPECT_EQ(test, seen, GENMASK_ULL(sizes[k] - 1, 0));
		}
		kfree(paths);
	}
}

/* Every path stands at every place as often: 6000 rounds, 6 sigma. */
static void ndp_path_test_uniform(struct kunit *test)
{
	struct ndp_paths *paths = ndp_paths_alloc(4);
	int at[4][4] = { };
	int round, i, j;

	KUNIT_ASSERT_NOT_NULL(test, paths);
	for (round = 0; round < 6000; round++)
		for (i = 0; i < 4; i++)
			at[i][ndp_path_next(paths, &paths->data)]++;
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 4; j++) {
			KUNIT_EXPECT_GT(test, at[i][j], 1500 - 201);
			KUNIT_EXPECT_LT(test, at[i][j], 1500 + 201);
		}
	}
	kfree(paths);
}

/* Control has a round of its own. */
static void ndp_path_test_separate(struct kunit *test)
{
	struct ndp_paths *paths = ndp_paths_alloc(8);
	u64 data = 0, control = 0;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, paths);
	for (i = 0; i < 8; i++) {
		data |= BIT_ULL(ndp_path_next(paths, &paths->data));
		control |= BIT_ULL(ndp_path_next(paths, &paths->control));
	}
	KUNIT_EXPECT_EQ(test, data, 0xffULL);
	KUNIT_EXPECT_EQ(test, control, 0xffULL);
	kfree(paths);
}

static void ndp_path_test_outlier(struct kunit *test)
{
	/* Nothing was ever lost elsewhere: one loss is enough. */
	KUNIT_EXPECT_TRUE(test, ndp_outlier(1, 1, 0, 100, 0));
	/* One trimmed packet is not, two are. */
	KUNIT_EXPECT_FALSE(test, ndp_outlier(1, 10, 0, 100, 1));
	KUNIT_EXPECT_TRUE(test, ndp_outlier(2, 10, 0, 100, 1));
	/* As the others, in an incast. */
	KUNIT_EXPECT_FALSE(test, ndp_outlier(45, 50, 450, 500, 1));
	KUNIT_EXPECT_FALSE(test, ndp_outlier(50, 50, 500, 500, 1));
	/* A tenth elsewhere, half here. */
	KUNIT_EXPECT_TRUE(test, ndp_outlier(16, 32, 100, 1000, 1));
	/* Nobody to compare with. */
	KUNIT_EXPECT_FALSE(test, ndp_outlier(9, 9, 0, 0, 0));
	/* Largest counts. */
	KUNIT_EXPECT_TRUE(test, ndp_outlier(16384, 16384, 0, 16384, 1));
	KUNIT_EXPECT_FALSE(test, ndp_outlier(8192, 16384, 8192, 16384, 1));
}

/* How often each path was used in @n rounds. */
static void ndp_path_use(struct ndp_paths *paths, int n, int *used)
{
	int i;

	memset(used, 0, paths->n * sizeof(*used));
	for (i = 0; i < n * paths->n; i++)
		used[ndp_path_next(paths, &paths->data)]++;
}

/* What is bad is left out, comes back, and is left out for longer. */
static void ndp_path_test_left_out(struct kunit *test)
{
	struct ndp_sock *np = kunit_kzalloc(test, sizeof(*np), GFP_KERNEL);
	struct ndp_score *bad;
	int used[4], i;
	u64 first;

	KUNIT_ASSERT_NOT_NULL(test, np);
	np->paths = ndp_paths_alloc(4);
	KUNIT_ASSERT_NOT_NULL(test, np->paths);
	bad = &np->paths->path[2].data;
	for (i = 0; i < 40; i++)
		ndp_path_good(np->paths, i % 4);
	ndp_path_trimmed(np, 2);
	KUNIT_EXPECT_EQ(test, bad->state, NDP_PATH_USED);
	for (i = 0; i < 20 && bad->state == NDP_PATH_USED; i++)
		ndp_path_trimmed(np, 2);
	KUNIT_EXPECT_LT(test, i, 8);
	KUNIT_EXPECT_EQ(test, bad->state, NDP_PATH_OUT);
	KUNIT_EXPECT_EQ(test, np->paths->data.good, 30);
	KUNIT_EXPECT_EQ(test, np->paths->data.trimmed, 0);
	ndp_path_use(np->paths, 10, used);
	KUNIT_EXPECT_EQ(test, used[2], 0);

	/* The time is over: one packet goes there, to see. */
	first = bad->out_ns;
	bad->until = 1;
	ndp_path_use(np->paths, 10, used);
	KUNIT_EXPECT_EQ(test, used[2], 1);
	KUNIT_EXPECT_EQ(test, bad->state, NDP_PATH_PROBED);
	/* The first bad news is enough now. */
	ndp_path_trimmed(np, 2);
	KUNIT_EXPECT_EQ(test, bad->out_ns, 2 * first);
	KUNIT_EXPECT_EQ(test, bad->level, 2);
	ndp_path_use(np->paths, 10, used);
	KUNIT_EXPECT_EQ(test, used[2], 0);

	/* Good news, and it is one of them. */
	bad->until = 1;
	ndp_path_use(np->paths, 10, used);
	ndp_path_good(np->paths, 2);
	KUNIT_EXPECT_EQ(test, bad->state, NDP_PATH_USED);
	np->paths->data.pos = np->paths->data.len;
	ndp_path_use(np->paths, 10, used);
	KUNIT_EXPECT_EQ(test, used[2], 10);
	kfree(np->paths);
}

/* All are lost on: the one that comes back first is used. */
static void ndp_path_test_all_out(struct kunit *test)
{
	struct ndp_paths *paths = ndp_paths_alloc(4);
	u64 now = ktime_get_ns();
	int used[4], i;

	KUNIT_ASSERT_NOT_NULL(test, paths);
	for (i = 0; i < 4; i++) {
		paths->path[i].data.state = NDP_PATH_OUT;
		paths->path[i].data.until = now + NSEC_PER_SEC * (i == 3 ? 1 : 5 + i);
	}
	paths->data.left_out = true;
	ndp_path_use(paths, 5, used);
	KUNIT_EXPECT_EQ(test, used[3], 20);
	kfree(paths);
}

/* An answer that was lost is charged to the path that it took. */
static void ndp_path_test_answers(struct kunit *test)
{
	struct ndp_sock *np = kunit_kzalloc(test, sizeof(*np), GFP_KERNEL);
	u32 psn;

	KUNIT_ASSERT_NOT_NULL(test, np);
	np->paths = ndp_paths_alloc(4);
	KUNIT_ASSERT_NOT_NULL(test, np->paths);
	for (psn = 0; psn < 40; psn++)
		ndp_path_answered(np->paths, psn, psn % 4);
	ndp_path_answer_lost(np, 33);
	KUNIT_EXPECT_EQ(test, np->paths->path[1].control.state, NDP_PATH_OUT);
	KUNIT_EXPECT_EQ(test, np->paths->path[0].control.state, NDP_PATH_USED);
	/* Too long ago to be known. */
	ndp_path_answer_lost(np, 33 + NDP_ANSWERED);
	KUNIT_EXPECT_EQ(test, np->paths->path[0].control.state, NDP_PATH_USED);
	kfree(np->paths);
}

static struct kunit_case ndp_path_cases[] = {
	KUNIT_CASE(ndp_path_test_rounds),
	KUNIT_CASE(ndp_path_test_uniform),
	KUNIT_CASE(ndp_path_test_separate),
	KUNIT_CASE(ndp_path_test_outlier),
	KUNIT_CASE(ndp_path_test_left_out),
	KUNIT_CASE(ndp_path_test_all_out),
	KUNIT_CASE(ndp_path_test_answers),
	{}
};

static struct kunit_suite ndp_path_suite = {
	.name = "ndp_path",
	.test_cases = ndp_path_cases,
};

kunit_test_suite(ndp_path_suite);
