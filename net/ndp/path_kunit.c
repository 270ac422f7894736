// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a round of paths is a permutation of all (NDP paper, section 3.1.1).
 */
#include <kunit/test.h>

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

static struct kunit_case ndp_path_cases[] = {
	KUNIT_CASE(ndp_path_test_rounds),
	KUNIT_CASE(ndp_path_test_uniform),
	KUNIT_CASE(ndp_path_test_separate),
	{}
};

static struct kunit_suite ndp_path_suite = {
	.name = "ndp_path",
	.test_cases = ndp_path_cases,
};

kunit_test_suite(ndp_path_suite);
