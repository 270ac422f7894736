// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: which queue lengths are marked, and how often.
 */
#include <kunit/test.h>
#include "cee_ecn.c"

/* How many of all 16-bit numbers (in the upper half of 32 bits) lead to a mark? */
static unsigned int cee_ecn_test_count(const struct cee_prio_config *p, u32 depth)
{
	unsigned int n = 0;
	u32 i;

	for (i = 0; i <= U16_MAX; i++)
		n += cee_ecn_due(p, depth, i << 16);
	return n;
}

static void cee_ecn_test_red(struct kunit *test)
{
	const struct cee_prio_config p = {
		.ecn = TCA_CEE_ECN_RED, .kmin = 5000, .kmax = 200000, .pmax = TC_CEE_PMAX_ONE / 100,
	};

	KUNIT_EXPECT_EQ(test, cee_ecn_test_count(&p, 0), 0);
	KUNIT_EXPECT_EQ(test, cee_ecn_test_count(&p, 5000), 0);
	/* The probability is PMAX / 2 halfway, and PMAX just below KMAX. */
	KUNIT_EXPECT_EQ(test, cee_ecn_test_count(&p, 102500), DIV_ROUND_UP(65536, 200));
	KUNIT_EXPECT_EQ(test, cee_ecn_test_count(&p, 199999), DIV_ROUND_UP(65536 * 9999, 1000000));
	KUNIT_EXPECT_EQ(test, cee_ecn_test_count(&p, 200000), 65536);
}

static void cee_ecn_test_step(struct kunit *test)
{
	struct cee_prio_config p = {
		.ecn = TCA_CEE_ECN_RED, .kmin = 30000, .kmax = 30000, .pmax = TC_CEE_PMAX_ONE,
	};

	KUNIT_EXPECT_EQ(test, cee_ecn_test_count(&p, 30000), 0);
	KUNIT_EXPECT_EQ(test, cee_ecn_test_count(&p, 30001), 65536);
	/* PCN's setting: mark every packet that finds another in the queue */
	p.kmin = 0;
	p.kmax = 0;
	p.ecn = TCA_CEE_ECN_NP;
	KUNIT_EXPECT_EQ(test, cee_ecn_test_count(&p, 0), 0);
	KUNIT_EXPECT_EQ(test, cee_ecn_test_count(&p, 60), 65536);
	p.ecn = TCA_CEE_ECN_OFF;
	KUNIT_EXPECT_EQ(test, cee_ecn_test_count(&p, 60), 0);
}

static struct kunit_case cee_ecn_cases[] = {
	KUNIT_CASE(cee_ecn_test_red),
	KUNIT_CASE(cee_ecn_test_step),
	{}
};

static struct kunit_suite cee_ecn_suite = {
	.name = "sch_cee_ecn",
	.test_cases = cee_ecn_cases,
};

kunit_test_suite(cee_ecn_suite);
