// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: which traffic a debug kernel reports as a storm.
 */
#include <kunit/test.h>
#include "stat.c"

/* A new namespace, all of whose counters are zero. */
static struct ndp_net *ndp_storm_test_net(struct kunit *test)
{
	struct ndp_net *nn = kunit_kzalloc(test, sizeof(*nn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, nn);
	nn->stats = alloc_percpu(struct ndp_stats);
	KUNIT_ASSERT_NOT_NULL(test, nn->stats);
	nn->begun = ktime_get_ns();
	test->priv = nn;
	return nn;
}

static void ndp_storm_test_exit(struct kunit *test)
{
	struct ndp_net *nn = test->priv;

	free_percpu(nn->stats);
}

static bool ndp_storm_test_is(const struct ndp_net *nn)
{
	struct ndp_traffic t;

	return ndp_stat_storm(nn, &t);
}

static void ndp_storm_test_add(struct ndp_net *nn, int stat, u64 n)
{
	this_cpu_add(nn->stats->v[stat], n);
}

/* Each of @stats alone may reach the bound, and is a storm one packet beyond. */
static void ndp_storm_test_each(struct kunit *test, struct ndp_net *nn, const u8 *stats, int n,
				u64 bound)
{
	for (; n--; stats++) {
		ndp_storm_test_add(nn, *stats, bound);
		KUNIT_EXPECT_FALSE_MSG(test, ndp_storm_test_is(nn), "%s", ndp_stat_names[*stats]);
		ndp_storm_test_add(nn, *stats, 1);
		KUNIT_EXPECT_TRUE_MSG(test, ndp_storm_test_is(nn), "%s", ndp_stat_names[*stats]);
		ndp_storm_test_add(nn, *stats, -bound - 1);
	}
}

/* Retransmissions, bounded by fresh packets and connections. */
static void ndp_storm_test_again(struct kunit *test)
{
	static const u8 stats[] = { NDP_STAT_FIN_OUT, NDP_STAT_OPEN_OUT, NDP_STAT_PROBE_OUT };
	struct ndp_net *nn = ndp_storm_test_net(test);

	ndp_storm_test_each(test, nn, stats, ARRAY_SIZE(stats), 10000);
	ndp_storm_test_add(nn, NDP_STAT_DATA_OUT, 10);
	ndp_storm_test_add(nn, NDP_STAT_ACTIVE_OPENS, 2);
	ndp_storm_test_add(nn, NDP_STAT_PASSIVE_OPENS, 1);
	ndp_storm_test_each(test, nn, stats, ARRAY_SIZE(stats), 10000 + 4 * 10 + 200 * 3);
	/* Retransmitted DATA is no fresh DATA. */
	ndp_storm_test_add(nn, NDP_STAT_DATA_OUT, 10641);
	ndp_storm_test_add(nn, NDP_STAT_DATA_RTX, 10641);
	KUNIT_EXPECT_TRUE(test, ndp_storm_test_is(nn));
}

/* Answers, bounded by packets that ask for them; answers do not ask for answers. */
static void ndp_storm_test_answers(struct kunit *test)
{
	static const u8 stats[] = {
		NDP_STAT_ACK_OUT, NDP_STAT_NACK_OUT, NDP_STAT_PULL_OUT, NDP_STAT_SIGNAL_OUT
	};
	struct ndp_net *nn = ndp_storm_test_net(test);

	ndp_storm_test_add(nn, NDP_STAT_ACK_IN, 1000000);
	ndp_storm_test_add(nn, NDP_STAT_PULL_IN, 1000000);
	ndp_storm_test_add(nn, NDP_STAT_DATA_OUT, 1000000);
	ndp_storm_test_each(test, nn, stats, ARRAY_SIZE(stats), 10000);
	ndp_storm_test_add(nn, NDP_STAT_TRIMMED_IN, 10);
	ndp_storm_test_add(nn, NDP_STAT_TOMB_HITS, 10);
	ndp_storm_test_each(test, nn, stats, ARRAY_SIZE(stats), 10000 + 4 * 20);
}

/* An old namespace may have sent more. */
static void ndp_storm_test_age(struct kunit *test)
{
	static const u8 stats[] = { NDP_STAT_PROBE_OUT, NDP_STAT_ACK_OUT };
	struct ndp_net *nn = ndp_storm_test_net(test);

	nn->begun -= 3 * NSEC_PER_SEC + NSEC_PER_SEC / 2;
	ndp_storm_test_each(test, nn, stats, ARRAY_SIZE(stats), 10000 + 2000 * 3);
}

static struct kunit_case ndp_storm_test_cases[] = {
	KUNIT_CASE(ndp_storm_test_again),
	KUNIT_CASE(ndp_storm_test_answers),
	KUNIT_CASE(ndp_storm_test_age),
	{}
};

static struct kunit_suite ndp_storm_test_suite = {
	.name = "ndp_storm",
	.exit = ndp_storm_test_exit,
	.test_cases = ndp_storm_test_cases,
};

kunit_test_suite(ndp_storm_test_suite);
