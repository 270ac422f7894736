// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: which packets of TCPlight ask for an answer.
 */
#include <kunit/test.h>
#include "light.c"

#define MSS	1000

/* A connection that begins at PSN @start, whose peer has promised room for @packets. */
static struct ndp_sock *light_test_sock(struct kunit *test, u32 start, u32 packets)
{
	struct ndp_sock *np = kunit_kzalloc(test, sizeof(*np), GFP_KERNEL);
	struct light *light;

	KUNIT_ASSERT_NOT_NULL(test, np);
	light = ndp_transport_priv(np);
	light->asked = start;
	np->window_cum = start;
	np->mss = MSS;
	np->snd_window = packets * MSS;
	np->inet.sk.sk_sndbuf = INT_MAX;
	return np;
}

/* A packet leaves for the first time: does it ask for an answer? */
static bool light_asks(struct ndp_sock *np, u32 psn)
{
	struct ndp_tx_cb cb = { .psn = psn };

	light_sent(np, &cb, NDP_SEND_NEW, MSS);
	return cb.asked;
}

/* How many packets from @psn on leave until one asks, at most 10000. */
static int light_test_until(struct ndp_sock *np, u32 psn)
{
	int n;

	for (n = 1; n < 10000 && !light_asks(np, psn); n++)
		psn++;
	return n;
}

/* Packets ask at half of the promise and at its end, also where PSNs wrap. */
static void light_test_promise(struct kunit *test)
{
	struct ndp_sock *np = light_test_sock(test, U32_MAX - 20, 100);

	KUNIT_EXPECT_EQ(test, 50, light_test_until(np, U32_MAX - 20));
	KUNIT_EXPECT_EQ(test, 50, light_test_until(np, 29));
	/* The promise has no room for more packets. */
	KUNIT_EXPECT_EQ(test, 1, light_test_until(np, 79));
}

/* With room for only the first packet, that packet asks. */
static void light_test_first(struct kunit *test)
{
	struct ndp_sock *np = light_test_sock(test, 7, 1);

	KUNIT_EXPECT_EQ(test, 1, light_test_until(np, 7));
}

/* Packets that the peer has acknowledged unasked do not count towards the next request. */
static void light_test_told(struct kunit *test)
{
	struct ndp_sock *np = light_test_sock(test, 0, 100);
	u32 psn;

	for (psn = 0; psn < 49; psn++)
		KUNIT_EXPECT_FALSE(test, light_asks(np, psn));
	np->window_cum = 40;
	KUNIT_EXPECT_EQ(test, 41, light_test_until(np, 49));
}

/* A slow reader makes little room, but the largest promise so far still sets the stretch. */
static void light_test_slow(struct kunit *test)
{
	struct ndp_sock *np = light_test_sock(test, 0, 100);

	KUNIT_EXPECT_EQ(test, 50, light_test_until(np, 0));
	np->window_cum = 50;
	np->snd_window = 25 * MSS;
	KUNIT_EXPECT_EQ(test, 25, light_test_until(np, 50));
}

/* A send buffer smaller than the promise, and a promise larger than NDP_MAX_WINDOW. */
static void light_test_bounds(struct kunit *test)
{
	struct ndp_sock *np = light_test_sock(test, 0, 100);

	np->inet.sk.sk_sndbuf = 40 * MSS;
	KUNIT_EXPECT_EQ(test, 10, light_test_until(np, 0));
	np = light_test_sock(test, 0, 100000);
	KUNIT_EXPECT_EQ(test, NDP_MAX_WINDOW / 2, light_test_until(np, 0));
}

static struct kunit_case light_cases[] = {
	KUNIT_CASE(light_test_promise),
	KUNIT_CASE(light_test_first),
	KUNIT_CASE(light_test_told),
	KUNIT_CASE(light_test_slow),
	KUNIT_CASE(light_test_bounds),
	{}
};

static struct kunit_suite light_suite = {
	.name = "ndp_light",
	.test_cases = light_cases,
};

kunit_test_suite(light_suite);
