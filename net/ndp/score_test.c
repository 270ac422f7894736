// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: which paths are left out (NDP paper, section 3.2.3).
 */
#include <kunit/test.h>
#include "score.c"
#include "path_test.h"

static void ndp_score_test_outlier(struct kunit *test)
{
	/* Nothing was ever lost elsewhere: one loss is enough. */
	KUNIT_EXPECT_TRUE(test, ndp_outlier(1, 1, 0, 100, 0));
	/* One trimmed packet is not enough, two are. */
	KUNIT_EXPECT_FALSE(test, ndp_outlier(1, 10, 0, 100, 1));
	KUNIT_EXPECT_TRUE(test, ndp_outlier(2, 10, 0, 100, 1));
	/* The same share as on the other paths, as in an incast. */
	KUNIT_EXPECT_FALSE(test, ndp_outlier(45, 50, 450, 500, 1));
	KUNIT_EXPECT_FALSE(test, ndp_outlier(50, 50, 500, 500, 1));
	/* A tenth is trimmed elsewhere, half here. */
	KUNIT_EXPECT_TRUE(test, ndp_outlier(16, 32, 100, 1000, 1));
	/* No other path to compare with. */
	KUNIT_EXPECT_FALSE(test, ndp_outlier(9, 9, 0, 0, 0));
	/* Largest counts. */
	KUNIT_EXPECT_TRUE(test, ndp_outlier(16384, 16384, 0, 16384, 1));
	KUNIT_EXPECT_FALSE(test, ndp_outlier(8192, 16384, 8192, 16384, 1));
}

/* A bad path is left out, comes back, and is left out for longer. */
static void ndp_score_test_left_out(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	struct ndp_score *bad = &np->peer->path[2].data;
	int used[4], i;
	u64 first;

	for (i = 0; i < 40; i++)
		ndp_path_good(np, i % 4);
	ndp_path_trimmed(np, 2);
	KUNIT_EXPECT_EQ(test, bad->state, NDP_PATH_USED);
	for (i = 0; i < 20 && bad->state == NDP_PATH_USED; i++)
		ndp_path_trimmed(np, 2);
	KUNIT_EXPECT_LT(test, i, 8);
	KUNIT_EXPECT_EQ(test, bad->state, NDP_PATH_OUT);
	KUNIT_EXPECT_EQ(test, np->peer->data.good, 30);
	KUNIT_EXPECT_EQ(test, np->peer->data.trimmed, 0);
	ndp_path_use(np, 10, used);
	KUNIT_EXPECT_EQ(test, used[2], 0);

	/* The time is over: one packet probes the path. */
	first = bad->out_ns;
	bad->until = 1;
	ndp_path_use(np, 10, used);
	KUNIT_EXPECT_EQ(test, used[2], 1);
	KUNIT_EXPECT_EQ(test, bad->state, NDP_PATH_PROBED);
	/* Now one trimmed packet is enough. */
	ndp_path_trimmed(np, 2);
	KUNIT_EXPECT_EQ(test, bad->out_ns, 2 * first);
	KUNIT_EXPECT_EQ(test, bad->level, 2);
	ndp_path_use(np, 10, used);
	KUNIT_EXPECT_EQ(test, used[2], 0);

	/* The probe arrives whole: the path is back in use. */
	bad->until = 1;
	ndp_path_use(np, 10, used);
	ndp_path_good(np, 2);
	KUNIT_EXPECT_EQ(test, bad->state, NDP_PATH_USED);
	ndp_path_use(np, 10, used);
	KUNIT_EXPECT_EQ(test, used[2], 10);
}

/* An answer that was lost is charged to the path that it took. */
static void ndp_score_test_answers(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	u32 psn;

	for (psn = 0; psn < 40; psn++)
		ndp_path_answered(np, psn, psn % 4);
	ndp_path_answer_lost(np, 33);
	KUNIT_EXPECT_EQ(test, np->peer->path[1].control.state, NDP_PATH_OUT);
	KUNIT_EXPECT_EQ(test, np->peer->path[0].control.state, NDP_PATH_USED);
	/* Another PSN in the slot of 33, and one that was never answered, charge no path. */
	ndp_path_answer_lost(np, 33 + NDP_ANSWERED);
	ndp_path_answer_lost(np, 40);
	KUNIT_EXPECT_EQ(test, np->peer->path[0].control.state, NDP_PATH_USED);
	ndp_path_answers_forget(np);
}

/* Packets of a peer that is unverified, or that has not answered yet, are not scored. */
static void ndp_score_test_not_scored(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	int i;

	for (i = 0; i < 100; i++) {
		np->answered = i & 1;
		np->unverified_at = i & 1 ? ndp_to_sk(np) : NULL;
		ndp_path_lost(np, 1);
		ndp_path_trimmed(np, 2);
		ndp_path_good(np, 3);
		ndp_path_answered(np, i, 0);
		ndp_path_answer_lost(np, i);
	}
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, np->peer->path[i].data.state, NDP_PATH_USED);
		KUNIT_EXPECT_EQ(test, np->peer->path[i].control.state, NDP_PATH_USED);
	}
	KUNIT_EXPECT_EQ(test, np->peer->data.good, 0);
	KUNIT_EXPECT_EQ(test, np->peer->control.good, 0);

	/* Nor do such packets probe a path that is left out, while another is in use. */
	np->peer->path[2].data.state = NDP_PATH_OUT;
	np->peer->path[2].data.until = 1;
	for (i = 0; i < 40; i++)
		KUNIT_EXPECT_NE(test, ndp_path_next(np, false, NDP_PATH_PROBE), 2);
	KUNIT_EXPECT_EQ(test, np->peer->path[2].data.state, NDP_PATH_OUT);
	ndp_path_answers_forget(np);
}

/* A packet on path 1 has no answer and is resent on path 2.  Return: losses charged to path 1. */
static u32 ndp_score_test_verdict(struct kunit *test, u16 path, u8 flags)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	struct ndp_tx_cb cb = { .path = 1 };

	ndp_path_suspect(np, &cb);
	cb.path = 2;
	ndp_path_judge(np, &cb, path, flags);
	KUNIT_EXPECT_EQ(test, (int)cb.suspected, 0);
	KUNIT_EXPECT_EQ(test, np->peer->path[2].losses, 0);
	/* A second answer charges nothing more. */
	ndp_path_judge(np, &cb, 2, NDP_F_RTX);
	return np->peer->path[1].losses;
}

static void ndp_score_test_judge(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ndp_score_test_verdict(test, 2, NDP_F_RTX), 1);
	/* The packet had arrived: its answer was lost. */
	KUNIT_EXPECT_EQ(test, ndp_score_test_verdict(test, 2, NDP_F_RTX | NDP_F_AGAIN), 0);
	/* The first transmission was late, not lost. */
	KUNIT_EXPECT_EQ(test, ndp_score_test_verdict(test, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, ndp_score_test_verdict(test, 1, NDP_F_RTX), 0);
}

/* A packet that was resent after a NACK, not for want of an answer, charges no path. */
static void ndp_score_test_nacked(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	struct ndp_tx_cb cb = { .path = 2, .suspect = 1 };

	ndp_path_judge(np, &cb, 2, NDP_F_RTX);
	KUNIT_EXPECT_EQ(test, np->peer->path[1].losses, 0);
}

/* A path that loses all is left out for longer each time, up to the bound. */
static void ndp_score_test_lost_bound(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	struct ndp_score *s = &np->peer->path[2].data;
	u64 first;
	int i, k;

	for (i = 0; i < 40; i++)
		ndp_path_good(np, i % 4);
	ndp_path_lost(np, 2);
	KUNIT_EXPECT_EQ(test, s->state, NDP_PATH_OUT);
	first = s->out_ns;
	for (k = 0; k < 20; k++) {
		s->state = NDP_PATH_PROBED;
		/* The others are in use meanwhile; that does not shorten the next time. */
		for (i = 0; i < 4 * NDP_SCORE_WINDOW; i++)
			ndp_path_good(np, i % 2);
		ndp_path_lost(np, 2);
		KUNIT_EXPECT_EQ(test, s->out_ns,
				min(first << min(k + 1, NDP_OUT_DOUBLINGS), NDP_OUT_LOST_MAX));
	}
}

static struct kunit_case ndp_score_cases[] = {
	KUNIT_CASE(ndp_score_test_outlier),
	KUNIT_CASE(ndp_score_test_left_out),
	KUNIT_CASE(ndp_score_test_answers),
	KUNIT_CASE(ndp_score_test_not_scored),
	KUNIT_CASE(ndp_score_test_judge),
	KUNIT_CASE(ndp_score_test_nacked),
	KUNIT_CASE(ndp_score_test_lost_bound),
	{}
};

static struct kunit_suite ndp_score_suite = {
	.name = "ndp_score",
	.test_cases = ndp_score_cases,
};

kunit_test_suite(ndp_score_suite);
