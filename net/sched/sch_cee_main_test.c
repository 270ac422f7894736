// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: how long the watchdog lets a peer's pauses hold packets, and which packets are
 * bounded by a socket.
 */
#include <kunit/test.h>
#include "sch_cee_main.c"

#define CEE_TEST_PRIO	3

static struct Qdisc *cee_watch_test_qdisc(struct kunit *test)
{
	struct Qdisc *sch = kunit_kzalloc(test, struct_size(sch, privdata, 0) +
					  sizeof(struct cee_sched), GFP_KERNEL);
	struct cee_sched *q;
	struct sk_buff *skb;

	KUNIT_ASSERT_NOT_NULL(test, sch);
	q = qdisc_priv(sch);
	q->port = kunit_kzalloc(test, sizeof(*q->port), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, q->port);
	skb = alloc_skb(0, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	cee_queue_init(&q->queue[CEE_TEST_PRIO]);
	cee_queue_add(&q->queue[CEE_TEST_PRIO], skb);
	return sch;
}

/* The peer sends XON and at once XOFF. */
static void cee_watch_test_pause(struct Qdisc *sch, u64 until)
{
	struct cee_pause *p = &((struct cee_sched *)qdisc_priv(sch))->port->pause[CEE_TEST_PRIO];

	p->begun++;
	p->until = until;
}

static void cee_watch_test_breath(struct kunit *test)
{
	struct Qdisc *sch = cee_watch_test_qdisc(test);
	struct cee_config cfg = { .watchdog = 200 };
	struct cee_sched *q = qdisc_priv(sch);
	u64 wake, at;

	/* No packet may leave between the pauses, and after 200 ms the pause is not obeyed. */
	for (at = 1; at < 200; at += 10) {
		cee_watch_test_pause(sch, (at + 50) * NSEC_PER_MSEC);
		wake = U64_MAX;
		KUNIT_EXPECT_FALSE(test, cee_may_send(sch, &cfg, CEE_TEST_PRIO,
						      at * NSEC_PER_MSEC, &wake));
		KUNIT_EXPECT_LE(test, wake, 201ULL * NSEC_PER_MSEC);
	}
	cee_watch_test_pause(sch, 300ULL * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, q->queue[CEE_TEST_PRIO].blocked, 1ULL * NSEC_PER_MSEC);
	/* Once a packet may leave, the watchdog's time starts again. */
	KUNIT_EXPECT_TRUE(test, cee_may_send(sch, &cfg, CEE_TEST_PRIO,
					     300ULL * NSEC_PER_MSEC, &wake));
	cee_watch_test_pause(sch, 400ULL * NSEC_PER_MSEC);
	KUNIT_EXPECT_FALSE(test, cee_may_send(sch, &cfg, CEE_TEST_PRIO,
					      350ULL * NSEC_PER_MSEC, &wake));
	KUNIT_EXPECT_EQ(test, q->queue[CEE_TEST_PRIO].blocked, 350ULL * NSEC_PER_MSEC);
	kfree_skb(cee_queue_take(&q->queue[CEE_TEST_PRIO], &q->queue[CEE_TEST_PRIO].fifo));
}

static void cee_watch_test_free(struct sk_buff *skb)
{
}

static void cee_watch_test_owner(struct kunit *test)
{
	struct sk_buff skb = { .destructor = cee_watch_test_free, .len = 60, .truesize = 2 };
	struct sock *sk = kunit_kzalloc(test, sizeof(*sk), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sk);
	sk->sk_sndbuf = 5000;
	KUNIT_EXPECT_FALSE(test, cee_is_owned(&skb));
	skb.sk = sk;
	/* TCP's pure ACKs have a truesize below their length. */
	KUNIT_EXPECT_FALSE(test, cee_is_owned(&skb));
	skb.truesize = 768;
	KUNIT_EXPECT_TRUE(test, cee_is_owned(&skb));
	/* Segments of TCP are charged with more than the data that the send buffer has held. */
	refcount_set(&sk->sk_wmem_alloc, 10001);
	KUNIT_EXPECT_TRUE(test, cee_is_owned(&skb));
	/* The kernel's sockets for neighbour discovery disregard their send buffer. */
	sk->sk_type = SOCK_RAW;
	KUNIT_EXPECT_TRUE(test, cee_is_owned(&skb));
	sk->sk_kern_sock = 1;
	KUNIT_EXPECT_FALSE(test, cee_is_owned(&skb));
	refcount_set(&sk->sk_wmem_alloc, 10000);
	KUNIT_EXPECT_TRUE(test, cee_is_owned(&skb));
	/* A reset in the name of a listener, and a packet that netem has delayed */
	skb.destructor = sock_edemux;
	KUNIT_EXPECT_FALSE(test, cee_is_owned(&skb));
	skb.destructor = sock_efree;
	KUNIT_EXPECT_FALSE(test, cee_is_owned(&skb));
	skb.destructor = cee_watch_test_free;
	KUNIT_EXPECT_TRUE(test, cee_is_owned(&skb));
	/* A packet received from a guest by a tap */
	skb.skb_iif = 5;
	KUNIT_EXPECT_FALSE(test, cee_is_owned(&skb));
}

static struct kunit_case cee_watch_cases[] = {
	KUNIT_CASE(cee_watch_test_breath),
	KUNIT_CASE(cee_watch_test_owner),
	{}
};

static struct kunit_suite cee_watch_suite = {
	.name = "sch_cee_watch",
	.test_cases = cee_watch_cases,
};

kunit_test_suite(cee_watch_suite);
