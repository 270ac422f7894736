// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a round of paths is a permutation of all (NDP paper, section 3.1.1); which are left out,
 * and when they are tried again (section 3.2.3).
 */
#include <kunit/test.h>
#include "path.c"

/* A connection with @n paths that its peer has answered. */
static struct ndp_sock *ndp_path_test_sock(struct kunit *test, u16 n)
{
	struct ndp_sock *np = kunit_kzalloc(test, sizeof(*np), GFP_KERNEL);
	struct ndp_peer *peer;

	KUNIT_ASSERT_NOT_NULL(test, np);
	peer = kunit_kzalloc(test, struct_size(peer, path, n), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, peer);
	spin_lock_init(&peer->lock);
	peer->n = n;
	np->peer = peer;
	np->answered = true;
	return np;
}

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

/* Every path stands at every place as often: 6000 rounds, 6 sigma. */
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
 * And follows every other as often: two senders do not fall into step.  31 pairs in each
 * of 32000 rounds, 1000 of each of 32 * 31 kinds, 6 sigma.
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

/* An opening goes by what is in use; when nobody answers, by what others left out as well. */
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

/* Control has a round of its own. */
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
	/* News of the other's paths are none. */
	ndp_path_lost(np, 63);
	KUNIT_EXPECT_EQ(test, np->peer->data.lost, 0);
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
static void ndp_path_use(struct ndp_sock *np, int n, int *used)
{
	int i;

	np->data_round.pos = 0;
	memset(used, 0, np->peer->n * sizeof(*used));
	for (i = 0; i < n * np->peer->n; i++)
		used[ndp_path_next(np, false, NDP_PATH_PROBE)]++;
}

/* What is bad is left out, comes back, and is left out for longer. */
static void ndp_path_test_left_out(struct kunit *test)
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

	/* The time is over: one packet goes there, to see. */
	first = bad->out_ns;
	bad->until = 1;
	ndp_path_use(np, 10, used);
	KUNIT_EXPECT_EQ(test, used[2], 1);
	KUNIT_EXPECT_EQ(test, bad->state, NDP_PATH_PROBED);
	/* The first bad news is enough now. */
	ndp_path_trimmed(np, 2);
	KUNIT_EXPECT_EQ(test, bad->out_ns, 2 * first);
	KUNIT_EXPECT_EQ(test, bad->level, 2);
	ndp_path_use(np, 10, used);
	KUNIT_EXPECT_EQ(test, used[2], 0);

	/* Good news, and it is one of them. */
	bad->until = 1;
	ndp_path_use(np, 10, used);
	ndp_path_good(np, 2);
	KUNIT_EXPECT_EQ(test, bad->state, NDP_PATH_USED);
	ndp_path_use(np, 10, used);
	KUNIT_EXPECT_EQ(test, used[2], 10);
}

/* All are lost on: the one that comes back first is used. */
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

/* An answer that was lost is charged to the path that it took. */
static void ndp_path_test_answers(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	u32 psn;

	for (psn = 0; psn < 40; psn++)
		ndp_path_answered(np, psn, psn % 4);
	ndp_path_answer_lost(np, 33);
	KUNIT_EXPECT_EQ(test, np->peer->path[1].control.state, NDP_PATH_OUT);
	KUNIT_EXPECT_EQ(test, np->peer->path[0].control.state, NDP_PATH_USED);
	/* Too long ago to be known, and never answered. */
	ndp_path_answer_lost(np, 33 + NDP_ANSWERED);
	ndp_path_answer_lost(np, 40);
	KUNIT_EXPECT_EQ(test, np->peer->path[0].control.state, NDP_PATH_USED);
	ndp_path_answers_forget(np);
}

/* Who may not be where he says, or has not said anything yet, tells nothing of paths. */
static void ndp_path_test_not_scored(struct kunit *test)
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

	/* Nor does he find out whether a path is back, while another is used. */
	np->peer->path[2].data.state = NDP_PATH_OUT;
	np->peer->path[2].data.until = 1;
	for (i = 0; i < 40; i++)
		KUNIT_EXPECT_NE(test, ndp_path_next(np, false, NDP_PATH_PROBE), 2);
	KUNIT_EXPECT_EQ(test, np->peer->path[2].data.state, NDP_PATH_OUT);
	ndp_path_answers_forget(np);
}

/* One packet goes along a bad path at a time, and one along each when all are bad. */
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

/* A packet of path 1 has no answer and goes again by path 2: what does the answer tell of 1? */
static u32 ndp_path_test_verdict(struct kunit *test, u16 path, u8 flags)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	struct ndp_tx_cb cb = { .path = 1 };

	ndp_path_suspect(np, &cb);
	cb.path = 2;
	ndp_path_judge(np, &cb, path, flags);
	KUNIT_EXPECT_EQ(test, (int)cb.suspected, 0);
	KUNIT_EXPECT_EQ(test, np->peer->path[2].losses, 0);
	/* It is told once. */
	ndp_path_judge(np, &cb, 2, NDP_F_RTX);
	return np->peer->path[1].losses;
}

static void ndp_path_test_judge(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ndp_path_test_verdict(test, 2, NDP_F_RTX), 1);
	/* It had arrived: its answer was lost. */
	KUNIT_EXPECT_EQ(test, ndp_path_test_verdict(test, 2, NDP_F_RTX | NDP_F_AGAIN), 0);
	/* It was late. */
	KUNIT_EXPECT_EQ(test, ndp_path_test_verdict(test, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, ndp_path_test_verdict(test, 1, NDP_F_RTX), 0);
}

/* What was not sent again because nobody answered tells nothing. */
static void ndp_path_test_nacked(struct kunit *test)
{
	struct ndp_sock *np = ndp_path_test_sock(test, 4);
	struct ndp_tx_cb cb = { .path = 2, .suspect = 1 };

	ndp_path_judge(np, &cb, 2, NDP_F_RTX);
	KUNIT_EXPECT_EQ(test, np->peer->path[1].losses, 0);
}

/* Loses all: each time longer, but not for longer than the bound. */
static void ndp_path_test_lost_bound(struct kunit *test)
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
		/* In use meanwhile are the others; that makes the next time no shorter. */
		for (i = 0; i < 4 * NDP_SCORE_WINDOW; i++)
			ndp_path_good(np, i % 2);
		ndp_path_lost(np, 2);
		KUNIT_EXPECT_EQ(test, s->out_ns,
				min(first << min(k + 1, NDP_OUT_DOUBLINGS), NDP_OUT_LOST_MAX));
	}
}

/* A packet that somebody waits for is a probe late, and one that is not answered never. */
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

/* DATA that nothing was heard of is no good news; of answers there is no other. */
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
	KUNIT_CASE(ndp_path_test_not_scored),
	KUNIT_CASE(ndp_path_test_probes),
	KUNIT_CASE(ndp_path_test_judge),
	KUNIT_CASE(ndp_path_test_nacked),
	KUNIT_CASE(ndp_path_test_lost_bound),
	KUNIT_CASE(ndp_path_test_who_probes),
	KUNIT_CASE(ndp_path_test_silence),
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
