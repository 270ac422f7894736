// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: which packets are accepted when memory is short.
 */
#include "conn_test.h"
#include "room.c"

/* Under pressure, packets beyond a gap are refused if the peer is unverified. */
static void ndp_room_test_pressure(struct kunit *test)
{
	struct ndp_sock *np = ndp_test_sock(test, 100);
	struct sk_buff *skb = kunit_kzalloc(test, sizeof(*skb), GFP_KERNEL);
	unsigned long pressure = 0;
	struct proto prot = { .memory_pressure = &pressure };
	struct sock *sk = ndp_to_sk(np);

	np->nn = kunit_kzalloc(test, sizeof(*np->nn), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, np->nn);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb->truesize = 2000;
	sk->sk_prot = &prot;
	sk->sk_rcvbuf = 100000;
	np->unverified_at = sk;
	KUNIT_EXPECT_TRUE(test, ndp_room_for(np, skb, np->rcv_nxt + 5));
	pressure = 1;
	KUNIT_EXPECT_FALSE(test, ndp_room_for(np, skb, np->rcv_nxt + 5));
	KUNIT_EXPECT_TRUE(test, ndp_room_for(np, skb, np->rcv_nxt));
	np->unverified_at = NULL;
	KUNIT_EXPECT_TRUE(test, ndp_room_for(np, skb, np->rcv_nxt + 5));
	sk->sk_prot = NULL;
}

static struct kunit_case ndp_room_cases[] = {
	KUNIT_CASE(ndp_room_test_pressure),
	{}
};

static struct kunit_suite ndp_room_suite = {
	.name = "ndp_room",
	.test_cases = ndp_room_cases,
};

kunit_test_suite(ndp_room_suite);
