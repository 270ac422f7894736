// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: strict priorities, and shares by weight to the byte.
 */
#include <kunit/test.h>
#include "cee_ets.c"

#define CEE_TEST_FRAME	1518

static struct cee_config *cee_ets_test_config(struct kunit *test, const u8 weights[CEE_PRIOS])
{
	struct cee_config *cfg = kunit_kzalloc(test, sizeof(*cfg), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, cfg);
	cfg->frame = U16_MAX;
	for (i = 0; i < CEE_PRIOS; i++) {
		cfg->prio[i].weight = weights[i];
		cfg->prio[i].quantum = weights[i] * CEE_TEST_FRAME;
	}
	return cfg;
}

/* Send @n packets, each of its priority's size, and count the bytes. */
static void cee_ets_test_send(struct kunit *test, struct cee_ets *ets, struct cee_config *cfg,
			      u8 eligible, const unsigned int *size, int n, u64 *bytes)
{
	int prio;

	while (n--) {
		prio = cee_ets_next(ets, cfg, eligible);
		KUNIT_ASSERT_GE(test, prio, 0);
		KUNIT_ASSERT_TRUE(test, eligible & BIT(prio));
		cee_ets_sent(ets, cfg, prio, size[prio]);
		bytes[prio] += size[prio];
	}
}

static void cee_ets_test_nothing(struct kunit *test)
{
	static const u8 weights[CEE_PRIOS] = { 1, 1, 1, 1, 1, 1, 1, 0 };
	struct cee_config *cfg = cee_ets_test_config(test, weights);
	struct cee_ets ets = {};

	KUNIT_EXPECT_EQ(test, cee_ets_next(&ets, cfg, 0), -1);
}

static void cee_ets_test_strict(struct kunit *test)
{
	static const u8 weights[CEE_PRIOS] = { 1, 0, 1, 1, 1, 0, 1, 1 };
	struct cee_config *cfg = cee_ets_test_config(test, weights);
	struct cee_ets ets = {};

	KUNIT_EXPECT_EQ(test, cee_ets_next(&ets, cfg, 0xff), 5);
	KUNIT_EXPECT_EQ(test, cee_ets_next(&ets, cfg, 0xff & ~BIT(5)), 1);
	KUNIT_EXPECT_EQ(test, cee_ets_next(&ets, cfg, BIT(7)), 7);
	KUNIT_EXPECT_EQ(test, cee_ets_next(&ets, cfg, BIT(7) | BIT(1)), 1);
}

/* Whatever the sizes, shares are 1 : 2 : 5, off by no more than two rounds. */
static void cee_ets_test_weights(struct kunit *test)
{
	static const u8 weights[CEE_PRIOS] = { 1, 2, 5, 1, 1, 1, 1, 1 };
	static const unsigned int sizes[][CEE_PRIOS] = {
		{ 1518, 1518, 1518 }, { 60, 1518, 1518 }, { 1518, 60, 700 }, { 60, 60, 60 },
		{ 1001, 777, 64 },
	};
	struct cee_config *cfg = cee_ets_test_config(test, weights);
	struct cee_ets ets;
	const u64 slack = 16 * 8 * CEE_TEST_FRAME;
	u64 bytes[CEE_PRIOS];
	u64 sum;
	int i, k;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(&ets, 0, sizeof(ets));
		memset(bytes, 0, sizeof(bytes));
		cee_ets_test_send(test, &ets, cfg, 0x7, sizes[i], 20000, bytes);
		sum = bytes[0] + bytes[1] + bytes[2];
		for (k = 0; k < 3; k++) {
			KUNIT_EXPECT_LE(test, bytes[k] * 8, sum * weights[k] + slack);
			KUNIT_EXPECT_GE(test, bytes[k] * 8 + slack, sum * weights[k]);
		}
	}
}

/* An unused share goes to the other priorities, and does not come back as a burst. */
static void cee_ets_test_unused(struct kunit *test)
{
	static const u8 weights[CEE_PRIOS] = { 1, 3, 1, 1, 1, 1, 1, 1 };
	static const unsigned int size[CEE_PRIOS] = { 1000, 1000 };
	struct cee_config *cfg = cee_ets_test_config(test, weights);
	u64 bytes[CEE_PRIOS] = {};
	struct cee_ets ets = {};

	cee_ets_test_send(test, &ets, cfg, BIT(0), size, 5000, bytes);
	KUNIT_EXPECT_EQ(test, bytes[0], 5000000);
	memset(bytes, 0, sizeof(bytes));
	cee_ets_test_send(test, &ets, cfg, BIT(0) | BIT(1), size, 400, bytes);
	KUNIT_EXPECT_LE(test, abs((int)bytes[1] - 300000), 3 * CEE_TEST_FRAME + 1000);
}

static struct kunit_case cee_ets_cases[] = {
	KUNIT_CASE(cee_ets_test_nothing),
	KUNIT_CASE(cee_ets_test_strict),
	KUNIT_CASE(cee_ets_test_weights),
	KUNIT_CASE(cee_ets_test_unused),
	{}
};

static struct kunit_suite cee_ets_suite = {
	.name = "sch_cee_ets",
	.test_cases = cee_ets_cases,
};

kunit_test_suite(cee_ets_suite);
