// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: room that was promised up to a PSN, where not each packet is answered.
 */
#include "conn_test.h"
#include "window.c"

#define MSS	1000

/* Advertised room is used up by packets that arrive after that, also where PSNs wrap. */
static void ndp_window_test_left(struct kunit *test)
{
	struct ndp_sock *np = ndp_test_sock(test, U32_MAX - 4);

	np->rcv_mss = MSS;
	KUNIT_EXPECT_EQ(test, 0, ndp_window_left(np));
	np->told_cum = np->rcv_nxt;
	np->rcv_window = 10 * MSS;
	KUNIT_EXPECT_EQ(test, 10 * MSS, ndp_window_left(np));
	np->rcv_nxt += 7;
	KUNIT_EXPECT_EQ(test, 3 * MSS, ndp_window_left(np));
	np->rcv_nxt += 3;
	KUNIT_EXPECT_EQ(test, 0, ndp_window_left(np));
	np->rcv_nxt++;
	KUNIT_EXPECT_EQ(test, 0, ndp_window_left(np));
}

/* A step is a quarter of the buffer, counted by truesize; one packet at least. */
static void ndp_window_test_step(struct kunit *test)
{
	struct ndp_sock *np = ndp_test_sock(test, 0);

	np->rcv_mss = MSS;
	np->rcv_truesize = 2500;
	np->inet.sk.sk_rcvbuf = 100 * 2500;
	KUNIT_EXPECT_EQ(test, 25 * MSS, ndp_window_step(np));
	np->inet.sk.sk_rcvbuf = 2300;
	KUNIT_EXPECT_EQ(test, MSS, ndp_window_step(np));
}

/* New packets must fit into the room; the lowest missing one needs any room at all. */
static void ndp_window_test_reach(struct kunit *test)
{
	struct ndp_sock *np = ndp_test_sock(test, 0);

	np->mss = MSS;
	np->window_cum = U32_MAX - 2;
	np->snd_window = 5 * MSS;
	KUNIT_EXPECT_TRUE(test, ndp_window_reaches(np, np->window_cum + 4, MSS));
	KUNIT_EXPECT_FALSE(test, ndp_window_reaches(np, np->window_cum + 5, 1));
	np->snd_window = 1;
	KUNIT_EXPECT_TRUE(test, ndp_window_reaches(np, np->window_cum, MSS));
	KUNIT_EXPECT_TRUE(test, ndp_window_reaches(np, np->window_cum - 1, MSS));
	KUNIT_EXPECT_FALSE(test, ndp_window_reaches(np, np->window_cum + 1, MSS));
	np->snd_window = 0;
	KUNIT_EXPECT_FALSE(test, ndp_window_reaches(np, np->window_cum, MSS));
}

static struct kunit_case ndp_window_cases[] = {
	KUNIT_CASE(ndp_window_test_left),
	KUNIT_CASE(ndp_window_test_step),
	KUNIT_CASE(ndp_window_test_reach),
	{}
};

static struct kunit_suite ndp_window_suite = {
	.name = "ndp_window",
	.test_cases = ndp_window_cases,
};

kunit_test_suite(ndp_window_suite);
