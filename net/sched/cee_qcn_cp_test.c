// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a congestion point's feedback, when it samples, and what it writes into a CNM.
 */
#include <kunit/test.h>
#include "cee_qcn_cp.c"

#define CEE_QCN_TEST_QEQ	26000

static void cee_qcn_cp_test_feedback(struct kunit *test)
{
	const u32 qeq = CEE_QCN_TEST_QEQ;

	/* No feedback at or below the set point, nor if a queue shrinks fast enough */
	KUNIT_EXPECT_EQ(test, cee_cp_feedback(qeq, qeq, qeq), 0);
	KUNIT_EXPECT_EQ(test, cee_cp_feedback(0, qeq, qeq), 0);
	KUNIT_EXPECT_EQ(test, cee_cp_feedback(2 * qeq, 3 * qeq, qeq), 0);
	/* The queue is still short, but grows: 26000 - 20000 - 2 x 13000 = -20000 of 130000 */
	KUNIT_EXPECT_EQ(test, cee_cp_feedback(20000, 7000, qeq), 20000 * 63 / 130000);
	/* The queue is long and steady: -26000 of 130000 */
	KUNIT_EXPECT_EQ(test, cee_cp_feedback(2 * qeq, 2 * qeq, qeq), 12);
	/* Feedback is clamped to its maximum. */
	KUNIT_EXPECT_EQ(test, cee_cp_feedback(2 * qeq, 0, qeq), 63);
	KUNIT_EXPECT_EQ(test, cee_cp_feedback(U32_MAX, 0, qeq), 63);
	KUNIT_EXPECT_EQ(test, cee_cp_feedback(U32_MAX, 0, U32_MAX), 25);
}

/* Bytes between two samples of a queue of constant length */
static u32 cee_qcn_cp_test_gap(struct cee_cp *cp, u32 depth, struct cee_sample *s)
{
	u32 bytes = 0, old = cp->left;

	do {
		old = cp->left;
		cee_cp_sample(cp, 100, depth, CEE_QCN_TEST_QEQ, s);
		bytes += 100;
	} while (cp->left == old - 100);
	return bytes;
}

static void cee_qcn_cp_test_interval(struct kunit *test)
{
	struct cee_sample s;
	struct cee_cp cp = {};
	u32 least = U32_MAX, most = 0, gap;
	int i;

	KUNIT_EXPECT_FALSE(test, cee_cp_sample(&cp, 1500, 1500, CEE_QCN_TEST_QEQ, &s));
	for (i = 0; i < 200; i++) {
		gap = cee_qcn_cp_test_gap(&cp, 1500, &s);
		least = min(least, gap);
		most = max(most, gap);
	}
	KUNIT_EXPECT_GE(test, least, 127500);
	KUNIT_EXPECT_LE(test, least, 140000);
	KUNIT_EXPECT_LE(test, most, 172600);
	KUNIT_EXPECT_GE(test, most, 160000);
	/* Feedback 12 selects the second interval, of 75 KB. */
	cp.old = 2 * CEE_QCN_TEST_QEQ;
	cp.left = 1;
	KUNIT_EXPECT_TRUE(test, cee_cp_sample(&cp, 1500, 2 * CEE_QCN_TEST_QEQ,
					      CEE_QCN_TEST_QEQ, &s));
	KUNIT_EXPECT_EQ(test, s.fb, 12);
	KUNIT_EXPECT_EQ(test, s.offset, -CEE_QCN_TEST_QEQ);
	KUNIT_EXPECT_EQ(test, s.delta, 0);
	gap = cee_qcn_cp_test_gap(&cp, 2 * CEE_QCN_TEST_QEQ, &s);
	KUNIT_EXPECT_GE(test, gap, 63700);
	KUNIT_EXPECT_LE(test, gap, 86300);
}

static void cee_qcn_cp_test_units(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ntohs(cee_cnm_units(6400)), 100);
	KUNIT_EXPECT_EQ(test, (s16)ntohs(cee_cnm_units(-26000)), -406);
	KUNIT_EXPECT_EQ(test, (s16)ntohs(cee_cnm_units(U32_MAX)), S16_MAX);
	KUNIT_EXPECT_EQ(test, (s16)ntohs(cee_cnm_units(-(s64)U32_MAX)), S16_MIN);
	/* The PDU of 802.1Q, figure 33-2: 24 octets before the quoted frame */
	KUNIT_EXPECT_EQ(test, sizeof(struct cee_cnm), 24);
}

static struct kunit_case cee_qcn_cp_cases[] = {
	KUNIT_CASE(cee_qcn_cp_test_feedback),
	KUNIT_CASE(cee_qcn_cp_test_interval),
	KUNIT_CASE(cee_qcn_cp_test_units),
	{}
};

static struct kunit_suite cee_qcn_cp_suite = {
	.name = "sch_cee_qcn_cp",
	.test_cases = cee_qcn_cp_cases,
};

kunit_test_suite(cee_qcn_cp_suite);
