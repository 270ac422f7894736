// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: turns of a pull queue (NDP paper, sections 3.2 and 5.1).
 */
#include <kunit/test.h>
#include "pull.c"

#define NDP_PULL_TEST_N		5

struct ndp_pull_test {
	struct ndp_pullq	q;
	struct ndp_sock		*np[NDP_PULL_TEST_N];
	int			turns[NDP_PULL_TEST_N];
};

static struct ndp_pull_test *ndp_pull_test_new(struct kunit *test)
{
	struct ndp_pull_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	for (i = 0; i < NDP_PULL_CLASSES; i++)
		INIT_LIST_HEAD(&t->q.round[i]);
	for (i = 0; i < NDP_PULL_TEST_N; i++) {
		t->np[i] = kunit_kzalloc(test, sizeof(*t->np[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, t->np[i]);
		ndp_pullq_add_tail(&t->q, t->np[i]);
	}
	return t;
}

/* Serve @n turns as ndp_pullq_serve() does, to connections that have more to be pulled. */
static void ndp_pull_test_take(struct ndp_pull_test *t, int n, u32 low_share)
{
	struct ndp_sock *np;
	int i;

	while (n) {
		np = ndp_pullq_turn(&t->q, low_share);
		if (!np)
			continue;
		for (i = 0; i < NDP_PULL_TEST_N; i++)
			t->turns[i] += t->np[i] == np;
		list_del(&ndp_pull(np)->node);
		ndp_pullq_add_tail(&t->q, np);
		n--;
	}
}

static void ndp_pull_test_round_robin(struct kunit *test)
{
	struct ndp_pull_test *t = ndp_pull_test_new(test);
	int i;

	ndp_pull_test_take(t, 20 * NDP_PULL_TEST_N, 0);
	for (i = 0; i < NDP_PULL_TEST_N; i++)
		KUNIT_EXPECT_EQ(test, t->turns[i], 20);
}

/* Untrimmed first-window packets plus pulls add up to the same for all connections. */
static void ndp_pull_test_debt(struct kunit *test)
{
	static const u32 had[NDP_PULL_TEST_N] = { 7, 0, 3, 100, 0 };
	struct ndp_pull_test *t = ndp_pull_test_new(test);
	int i, sum = 0;

	for (i = 0; i < NDP_PULL_TEST_N; i++) {
		ndp_pull(t->np[i])->turns_taken = had[i];
		sum += had[i];
	}
	ndp_pull_test_take(t, 120 * NDP_PULL_TEST_N - sum, 0);
	for (i = 0; i < NDP_PULL_TEST_N; i++)
		KUNIT_EXPECT_EQ(test, t->turns[i] + had[i], 120);
}

/* While no other connection waits, turns taken cost nothing and are forgotten. */
static void ndp_pull_test_alone(struct kunit *test)
{
	struct ndp_pull_test *t = ndp_pull_test_new(test);
	int i;

	for (i = 1; i < NDP_PULL_TEST_N; i++)
		list_del_init(&ndp_pull(t->np[i])->node);
	ndp_pull(t->np[0])->turns_taken = 50;
	KUNIT_EXPECT_PTR_EQ(test, ndp_pullq_turn(&t->q, 0), t->np[0]);
	KUNIT_EXPECT_EQ(test, ndp_pull(t->np[0])->turns_taken, 0);
}

/* The number of turns skipped in one run is bounded, however many were taken. */
static void ndp_pull_test_bounded(struct kunit *test)
{
	struct ndp_pull_test *t = ndp_pull_test_new(test);
	int i, sum = 0;

	for (i = 0; i < NDP_PULL_TEST_N; i++)
		ndp_pull(t->np[i])->turns_taken = 1000;
	KUNIT_EXPECT_NULL(test, ndp_pullq_turn(&t->q, 0));
	for (i = 0; i < NDP_PULL_TEST_N; i++)
		sum += ndp_pull(t->np[i])->turns_taken;
	KUNIT_EXPECT_EQ(test, sum, 1000 * NDP_PULL_TEST_N - NDP_PULL_SKIP);
}

/* Priorities 0, 5, 0, -2, 5. */
static struct ndp_pull_test *ndp_pull_test_classes(struct kunit *test)
{
	static const s8 priority[NDP_PULL_TEST_N] = { 0, 5, 0, -2, 5 };
	struct ndp_pull_test *t = ndp_pull_test_new(test);
	int i;

	for (i = 0; i < NDP_PULL_TEST_N; i++) {
		t->np[i]->priority = priority[i];
		list_del(&ndp_pull(t->np[i])->node);
		ndp_pullq_add_tail(&t->q, t->np[i]);
	}
	return t;
}

static void ndp_pull_test_strict(struct kunit *test)
{
	struct ndp_pull_test *t = ndp_pull_test_classes(test);

	ndp_pull_test_take(t, 30, 0);
	KUNIT_EXPECT_EQ(test, t->turns[1], 15);
	KUNIT_EXPECT_EQ(test, t->turns[4], 15);
	list_del_init(&ndp_pull(t->np[1])->node);
	list_del_init(&ndp_pull(t->np[4])->node);
	ndp_pull_test_take(t, 30, 0);
	KUNIT_EXPECT_EQ(test, t->turns[0], 15);
	KUNIT_EXPECT_EQ(test, t->turns[2], 15);
	KUNIT_EXPECT_EQ(test, t->turns[3], 0);
	/* The priority changes in the middle of a flow. */
	t->np[3]->priority = 7;
	list_del(&ndp_pull(t->np[3])->node);
	ndp_pullq_add_tail(&t->q, t->np[3]);
	ndp_pull_test_take(t, 30, 0);
	KUNIT_EXPECT_EQ(test, t->turns[3], 30);
}

/* Each lower class that waits gets the same part of the low share. */
static void ndp_pull_test_low_share(struct kunit *test)
{
	struct ndp_pull_test *t = ndp_pull_test_classes(test);

	ndp_pull_test_take(t, 1000, 20);
	KUNIT_EXPECT_EQ(test, t->turns[1] + t->turns[4], 800);
	KUNIT_EXPECT_EQ(test, t->turns[0], 50);
	KUNIT_EXPECT_EQ(test, t->turns[2], 50);
	KUNIT_EXPECT_EQ(test, t->turns[3], 100);
}

/*
 * Idle time is not saved up; a late timer catches up by a batch at most, or by as many pulls as
 * packets have arrived.
 */
static void ndp_pull_test_pace(struct kunit *test)
{
	const struct ndp_pull_cost cost = { .packet = 100, .full = 100, .mib = 1 << 20 };
	const struct ndp_pull_cost less = { .packet = 10, .full = 100, .mib = 1 << 20 };
	struct ndp_pull_test *t = ndp_pull_test_new(test);
	struct ndp_pullq *q = &t->q;

	ndp_pullq_charge(q, cost, 1000000, false);
	KUNIT_EXPECT_EQ(test, q->next, 1000100ULL);
	ndp_pullq_charge(q, cost, 1000050, false);
	KUNIT_EXPECT_EQ(test, q->next, 1000200ULL);
	ndp_pullq_charge(q, cost, 1000220, true);
	KUNIT_EXPECT_EQ(test, q->next, 1000300ULL);
	ndp_pullq_charge(q, cost, 2000000, true);
	KUNIT_EXPECT_EQ(test, q->next, 2000000ULL - (NDP_PULL_BATCH - 1) * 100 + 100);
	/* The time to catch up is the same when the next packet is short. */
	ndp_pullq_charge(q, less, 3000000, true);
	KUNIT_EXPECT_EQ(test, q->next, 3000000ULL - (NDP_PULL_BATCH - 1) * 100 + 10);
	q->arrived = 20;
	ndp_pullq_charge(q, cost, 4000000, true);
	KUNIT_EXPECT_EQ(test, q->next, 4000000ULL - 19 * 100 + 100);
	ndp_pullq_charge(q, cost, 5000000, false);
	KUNIT_EXPECT_EQ(test, q->next, 5000100ULL);
	/* Right after boot there was no time to make up for. */
	q->next = 0;
	ndp_pullq_charge(q, cost, 50, true);
	KUNIT_EXPECT_EQ(test, q->next, 100ULL);
}

/* Number of pulls that a timer grants at @now when the first was due at 1000000. */
static u32 ndp_pull_test_burst(struct ndp_pullq *q, u64 now)
{
	const struct ndp_pull_cost cost = { .packet = 100, .full = 100, .mib = 1 << 20 };
	u32 n = 1;

	q->next = 1000000;
	while (ndp_pullq_charge_timer(q, cost, now))
		n++;
	return n;
}

/*
 * Overdue pulls of a late timer are granted to one connection, by one PULL, though others wait: a
 * batch, or as many as packets have arrived, but never more than the link has had time for.
 */
static void ndp_pull_test_late(struct kunit *test)
{
	struct ndp_pull_test *t = ndp_pull_test_new(test);
	struct ndp_pullq *q = &t->q;

	spin_lock_init(&q->lock);
	KUNIT_EXPECT_EQ(test, ndp_pull_test_burst(q, 1000000), 1);
	KUNIT_EXPECT_EQ(test, ndp_pull_test_burst(q, 2000000), NDP_PULL_BATCH);
	q->arrived = 50;
	KUNIT_EXPECT_EQ(test, ndp_pull_test_burst(q, 2000000), 50);
	KUNIT_EXPECT_EQ(test, ndp_pull_test_burst(q, 1000450), 5);
}

/* Unpulled bytes are charged their time on the link, but at most a packet's time in all. */
static void ndp_pull_test_unpulled(struct kunit *test)
{
	const struct ndp_pull_cost cost = { .packet = 100, .full = 100, .mib = 2 << 20 };
	struct ndp_pull_test *t = ndp_pull_test_new(test);
	struct ndp_pullq *q = &t->q;

	q->next = 1000000;
	atomic_set(&q->unpulled, 7);
	ndp_pullq_charge(q, cost, 1000000, false);
	KUNIT_EXPECT_EQ(test, q->next, 1000114ULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&q->unpulled), 0);
	atomic_set(&q->unpulled, 100000);
	ndp_pullq_charge(q, cost, 1000000, false);
	KUNIT_EXPECT_EQ(test, q->next, 1000314ULL);
	/* Bytes that arrived while nothing was pulled are not charged, however many they are. */
	atomic_set(&q->unpulled, -7);
	ndp_pullq_charge(q, cost, 2000000, false);
	KUNIT_EXPECT_EQ(test, q->next, 2000100ULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&q->unpulled), 0);
}

static void ndp_pull_test_sizes_are(struct kunit *test, struct ndp_sock *np, const u32 *sizes,
				    int n)
{
	int i;

	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ(test, ndp_pull_len(np), sizes[i]);
		ndp_pull_elicit(np);
	}
}

/* Trimmed packets first, then new data; the last of each may be short. */
static void ndp_pull_test_sizes(struct kunit *test)
{
	static const u32 stream[] = { 9000, 9000, 1000, 9000, 500, 9000, 9000 };
	static const u32 messages[] = { 600, 600, 600, 9000 };
	static const u32 dropped[] = { 9000, 9000, 9000 };
	struct ndp_pull_test *t = ndp_pull_test_new(test);
	struct ndp_sock *np = t->np[0];
	struct ndp_pull_state *ps = ndp_pull(np);

	np->rcv_mss = 9000;
	ps->trimmed = 3;
	ps->trimmed_bytes = 19000;
	ps->behind = 9500;
	ndp_pull_test_sizes_are(test, np, stream, ARRAY_SIZE(stream));
	ps->trimmed = 3;
	ps->trimmed_bytes = 1800;
	ndp_pull_test_sizes_are(test, np, messages, ARRAY_SIZE(messages));
	/* The last packet came trimmed, and no header of four others has arrived. */
	np->rcv_last = true;
	np->rcv_max = 4;
	ps->trimmed = 1;
	ps->trimmed_bytes = 1000;
	ndp_pull_test_sizes_are(test, np, dropped, ARRAY_SIZE(dropped));
	np->promised = 4;
	KUNIT_EXPECT_EQ(test, ndp_pull_len(np), 1000);
	/* New data: packets of a stream are full, those of messages have the mean size. */
	ps->trimmed = 0;
	ps->behind = 100000;
	ps->mean16 = 8000 << 4;
	KUNIT_EXPECT_EQ(test, ndp_pull_len(np), 9000);
	np->inet.sk.sk_type = SOCK_SEQPACKET;
	KUNIT_EXPECT_EQ(test, ndp_pull_len(np), 8000);
}

/* Headers that were not pulled, or have a spoofed source, do not slow the device's pulls. */
static void ndp_pull_test_feedback(struct kunit *test)
{
	struct ndp_pull_test *t = ndp_pull_test_new(test);
	struct ndp_sock *np = t->np[0];
	struct ndp_pullq *q = &t->q;

	spin_lock_init(&q->lock);
	ndp_pull(np)->q = q;
	ndp_pull_feedback(np, false, true);
	KUNIT_EXPECT_EQ(test, q->pulled_in, 0);
	KUNIT_EXPECT_EQ(test, q->trimmed_in, 0);
	np->promised = 1;
	np->unverified_at = ndp_to_sk(np);
	ndp_pull_feedback(np, false, true);
	KUNIT_EXPECT_EQ(test, q->pulled_in, 0);
	KUNIT_EXPECT_EQ(test, q->trimmed_in, 0);
	np->unverified_at = NULL;
	ndp_pull_feedback(np, false, true);
	ndp_pull_feedback(np, false, false);
	KUNIT_EXPECT_EQ(test, q->pulled_in, 2);
	KUNIT_EXPECT_EQ(test, q->trimmed_in, 1);
	KUNIT_EXPECT_EQ(test, q->pushed_in, 0);
	ndp_pull_feedback(np, true, false);
	KUNIT_EXPECT_EQ(test, q->pushed_in, 1);
	KUNIT_EXPECT_EQ(test, ndp_pull(np)->turns_taken, 1);
	ndp_pull(np)->q = NULL;
}

static struct kunit_case ndp_pull_cases[] = {
	KUNIT_CASE(ndp_pull_test_round_robin),
	KUNIT_CASE(ndp_pull_test_debt),
	KUNIT_CASE(ndp_pull_test_alone),
	KUNIT_CASE(ndp_pull_test_bounded),
	KUNIT_CASE(ndp_pull_test_strict),
	KUNIT_CASE(ndp_pull_test_low_share),
	KUNIT_CASE(ndp_pull_test_pace),
	KUNIT_CASE(ndp_pull_test_late),
	KUNIT_CASE(ndp_pull_test_unpulled),
	KUNIT_CASE(ndp_pull_test_feedback),
	KUNIT_CASE(ndp_pull_test_sizes),
	{}
};

static struct kunit_suite ndp_pull_suite = {
	.name = "ndp_pull",
	.test_cases = ndp_pull_cases,
};

kunit_test_suite(ndp_pull_suite);
