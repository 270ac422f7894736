// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: losses found by the order of answers.
 */
#include <kunit/test.h>
#include "transport.h"

/* There is no namespace to count in. */
#undef NDP_CONN_INC
#define NDP_CONN_INC(np, what)	((void)(np), (void)NDP_STAT_##what)

#include "order.c"

struct ndp_order_test {
	struct ndp_sock		*np;
	u64			slack;
};

static bool ndp_order_test_overtaken(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	return true;
}

static const struct ndp_transport ndp_order_test_transport = {
	.overtaken	= ndp_order_test_overtaken,
};

/* A connection whose first PSN is @psn and that has sent nothing. */
static struct ndp_order_test *ndp_order_test_new(struct kunit *test, u32 psn)
{
	struct ndp_order_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct ndp_sock *np = kunit_kzalloc(test, sizeof(*np), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_ASSERT_NOT_NULL(test, np);
	np->peer = kunit_kzalloc(test, struct_size(np->peer, path, 64), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, np->peer);
	spin_lock_init(&np->peer->lock);
	ndp_order_init(np->peer);
	np->peer->n = 64;
	np->peer->srtt_ns = 100 * NSEC_PER_USEC;
	np->peer->late_ns = 50 * NSEC_PER_USEC;
	np->peer->rto_ns = 150 * NSEC_PER_USEC;
	np->tp = &ndp_order_test_transport;
	np->rto_floor_ns = NDP_RTO_MIN;
	np->snd_nxt = psn;
	np->snd_una = psn;
	INIT_LIST_HEAD(&np->flight);
	INIT_LIST_HEAD(&np->lost);
	INIT_LIST_HEAD(&np->rtx);
	t->np = np;
	t->slack = ndp_order_slack(np);
	return t;
}

/* Send the next packet by @path, at @at in units of the slack. */
static struct ndp_tx_cb *ndp_order_test_send(struct kunit *test, struct ndp_order_test *t,
					     u16 path, u32 at)
{
	struct sk_buff *skb = kunit_kzalloc(test, sizeof(*skb), GFP_KERNEL);
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);
	struct ndp_sock *np = t->np;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb->len = 100;
	cb->psn = np->snd_nxt++;
	cb->path = path;
	/* Right after boot ktime_get_ns() may be below these times. */
	cb->sent_at = NSEC_PER_SEC + at * t->slack;
	cb->tx_seq = np->tx_seq++;
	atomic_inc(&np->tx_departed);
	ndp_tx_to_flight(np, skb);
	return cb;
}

/* Acknowledge a packet that took @path, as a retransmission if @again, and look for losses. */
static void ndp_order_test_ack(struct ndp_order_test *t, struct ndp_tx_cb *cb, u16 path,
			       bool again)
{
	ndp_order_acked(t->np, cb, path, again);
	list_del_init(&cb->list);
	t->np->flight_pkts--;
	ndp_order_check(t->np);
}

/* The ACK of a packet that left a slack later by the same path proves a loss. */
static void ndp_order_test_path(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_tx_cb *a = ndp_order_test_send(test, t, 1, 0);
	struct ndp_tx_cb *b = ndp_order_test_send(test, t, 2, 0);
	struct ndp_tx_cb *c = ndp_order_test_send(test, t, 1, 1);

	ndp_order_test_ack(t, c, 1, false);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_LOST);
	KUNIT_EXPECT_TRUE(test, a->by_order);
	KUNIT_EXPECT_EQ(test, (int)b->state, NDP_TX_FLIGHT);
}

/* A packet on another path must have left two slacks later; a smaller difference proves nothing. */
static void ndp_order_test_paths(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_tx_cb *a = ndp_order_test_send(test, t, 1, 0);
	struct ndp_tx_cb *b = ndp_order_test_send(test, t, 1, 1);
	struct ndp_tx_cb *c = ndp_order_test_send(test, t, 2, 1);
	struct ndp_tx_cb *d = ndp_order_test_send(test, t, 2, 2);

	/* Slightly earlier, since the slack decays with answers that are on time. */
	b->sent_at -= t->slack / 16;
	ndp_order_test_ack(t, b, 1, false);
	ndp_order_test_ack(t, c, 2, false);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_FLIGHT);
	ndp_order_test_ack(t, d, 2, false);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_LOST);
}

/* Paths beyond NDP_ORDER_PATHS are treated as different paths. */
static void ndp_order_test_many_paths(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_tx_cb *a = ndp_order_test_send(test, t, NDP_ORDER_PATHS + 1, 0);
	struct ndp_tx_cb *b = ndp_order_test_send(test, t, 1, 1);
	struct ndp_tx_cb *c = ndp_order_test_send(test, t, NDP_ORDER_PATHS + 1, 1);
	struct ndp_tx_cb *d = ndp_order_test_send(test, t, NDP_ORDER_PATHS + 1, 2);

	ndp_order_test_ack(t, b, 1, false);
	ndp_order_test_ack(t, c, NDP_ORDER_PATHS + 1, false);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_FLIGHT);
	ndp_order_test_ack(t, d, NDP_ORDER_PATHS + 1, false);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_LOST);
}

/* A replaced path is a different path: it takes two slacks to prove a loss. */
static void ndp_order_test_replaced(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_tx_cb *a = ndp_order_test_send(test, t, 1, 0);
	struct ndp_tx_cb *b = ndp_order_test_send(test, t, 1, 0);
	struct ndp_tx_cb *c, *d;
	u16 fresh;

	t->np->peer->path[1].gen++;
	fresh = ndp_path_number(t->np->peer, 1);
	c = ndp_order_test_send(test, t, fresh, 1);
	/* Packets of the old port are no longer evidence for this path. */
	ndp_order_test_ack(t, b, 1, false);
	ndp_order_test_ack(t, c, fresh, false);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_FLIGHT);
	d = ndp_order_test_send(test, t, fresh, 2);
	ndp_order_test_ack(t, d, fresh, false);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_LOST);
}

/* Trimmed headers overtake whole packets and prove no loss. */
static void ndp_order_test_trimmed(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_tx_cb *a = ndp_order_test_send(test, t, 1, 0);
	struct ndp_tx_cb *b = ndp_order_test_send(test, t, 1, 3);

	ndp_order_answered(t->np, b->sent_at);
	ndp_order_check(t->np);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_FLIGHT);
	KUNIT_EXPECT_EQ(test, t->np->order.sent, 0ULL);
}

/* A FIN travels with control packets: it proves no loss and is not declared lost by order. */
static void ndp_order_test_fin(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_tx_cb *a = ndp_order_test_send(test, t, 1, 0);
	struct ndp_tx_cb *fin = ndp_order_test_send(test, t, 1, 1);
	struct ndp_tx_cb *again = ndp_order_test_send(test, t, 1, 2);
	struct ndp_tx_cb *d = ndp_order_test_send(test, t, 2, 9);

	fin->fin = 1;
	again->fin = 1;
	ndp_order_test_ack(t, again, 1, false);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_FLIGHT);
	ndp_order_test_ack(t, d, 2, false);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_LOST);
	KUNIT_EXPECT_EQ(test, (int)fin->state, NDP_TX_FLIGHT);
}

/* Only an answer to the latest transmission, by its path, is evidence. */
static void ndp_order_test_again(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_tx_cb *a = ndp_order_test_send(test, t, 1, 0);
	struct ndp_tx_cb *b = ndp_order_test_send(test, t, 1, 3);

	b->rtx = 1;
	ndp_order_acked(t->np, b, 1, false);
	ndp_order_acked(t->np, b, 2, true);
	/* Too early for an answer: it may be to an earlier retransmission, if there was one. */
	b->sent_at = ktime_get_ns();
	b->rtx_again = 1;
	t->np->peer->srtt_ns = NSEC_PER_SEC;
	ndp_order_acked(t->np, b, 1, true);
	KUNIT_EXPECT_EQ(test, t->np->order.sent, 0ULL);
	b->rtx_again = 0;
	ndp_order_acked(t->np, b, 1, true);
	KUNIT_EXPECT_EQ(test, t->np->order.sent, b->sent_at);
	t->np->order.sent = 0;
	b->rtx_again = 1;
	t->np->peer->srtt_ns = 1;
	b->sent_at = a->sent_at + 3 * t->slack;
	ndp_order_test_ack(t, b, 1, true);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_LOST);
}

/* A packet that waits in the local qdisc, or was refused by it, is not lost. */
static void ndp_order_test_local(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_tx_cb *refused = ndp_order_test_send(test, t, 1, 0);
	struct ndp_tx_cb *a = ndp_order_test_send(test, t, 1, 0);
	struct ndp_tx_cb *b = ndp_order_test_send(test, t, 2, 4);

	refused->local_drop = 1;
	atomic_sub(2, &t->np->tx_departed);
	ndp_order_test_ack(t, b, 2, false);
	KUNIT_EXPECT_EQ(test, (int)refused->state, NDP_TX_FLIGHT);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_FLIGHT);
	atomic_add(2, &t->np->tx_departed);
	ndp_order_check(t->np);
	KUNIT_EXPECT_EQ(test, (int)refused->state, NDP_TX_FLIGHT);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_LOST);
}

/* Order is by time, not by PSN: the lowest PSN is sent again last, and PSNs wrap. */
static void ndp_order_test_wrap(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, U32_MAX - 1);
	struct ndp_tx_cb *a, *b, *c;

	t->np->tx_seq = U32_MAX - 1;
	atomic_set(&t->np->tx_departed, -2);
	a = ndp_order_test_send(test, t, 1, 0);
	b = ndp_order_test_send(test, t, 1, 1);
	c = ndp_order_test_send(test, t, 1, 2);
	KUNIT_EXPECT_EQ(test, c->psn, 0);
	/* The first packet is sent again, after the others. */
	a->sent_at = c->sent_at + t->slack;
	list_move_tail(&a->list, &t->np->flight);
	a->tx_seq = t->np->tx_seq++;
	atomic_inc(&t->np->tx_departed);
	ndp_order_test_ack(t, c, 1, false);
	KUNIT_EXPECT_EQ(test, (int)b->state, NDP_TX_LOST);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_FLIGHT);
}

/* A late answer is measured; answers that are on time let the lateness decay. */
static void ndp_order_test_measures(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_tx_cb *a = ndp_order_test_send(test, t, 1, 0);
	struct ndp_tx_cb *b = ndp_order_test_send(test, t, 2, 0);
	struct ndp_tx_cb *c = ndp_order_test_send(test, t, 2, 1);
	u32 *late = &t->np->peer->late_ns;
	int i;

	*late = 0;
	c->sent_at = a->sent_at + 30 * NSEC_PER_USEC;
	/* One ACK names both packets: neither is late. */
	ndp_order_acked(t->np, c, 2, false);
	ndp_order_acked(t->np, b, 2, false);
	ndp_order_check(t->np);
	KUNIT_EXPECT_EQ(test, *late, 0);
	ndp_order_answered(t->np, a->sent_at);
	KUNIT_EXPECT_EQ(test, *late, 30 * NSEC_PER_USEC);
	KUNIT_EXPECT_GT(test, ndp_order_slack(t->np), 30 * NSEC_PER_USEC);
	for (i = 0; i < 180; i++)
		ndp_order_answered(t->np, c->sent_at);
	KUNIT_EXPECT_GT(test, *late, 14 * NSEC_PER_USEC);
	KUNIT_EXPECT_LT(test, *late, 16 * NSEC_PER_USEC);
}

/* Whatever the lateness, the slack is at most the timeout and never zero. */
static void ndp_order_test_bounds(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);

	t->np->order.before = NSEC_PER_SEC;
	ndp_order_answered(t->np, 1);
	KUNIT_EXPECT_EQ(test, ndp_order_slack(t->np), NDP_RTO_MIN);
	t->np->peer->late_ns = 0;
	KUNIT_EXPECT_EQ(test, ndp_order_slack(t->np), NDP_RTO_MIN >> NDP_ORDER_LEAST);
	t->np->peer->srtt_ns = NDP_RTO_MIN;
	KUNIT_EXPECT_EQ(test, ndp_order_slack(t->np), NDP_RTO_MIN / NDP_ORDER_LEAST_RTT);
}

/* The lateness of a spurious loss is kept longer, and reduced by real losses. */
static void ndp_order_test_keeps(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_kept *kept = &t->np->peer->late_kept;
	struct ndp_tx_cb *a = ndp_order_test_send(test, t, 1, 0);
	u64 slack;
	int i;

	a->first_at = ndp_rtt_clock(ktime_get_ns() - 400 * NSEC_PER_USEC);
	t->np->order.before = ktime_get_ns();
	ndp_order_wrong(t->np, a);
	KUNIT_EXPECT_GE(test, kept->ns, 399 * NSEC_PER_USEC);
	t->np->order.before = 0;
	for (i = 0; i < 10000; i++)
		ndp_order_answered(t->np, a->sent_at);
	slack = ndp_order_slack(t->np);
	KUNIT_EXPECT_GE(test, slack, 399 * NSEC_PER_USEC);
	for (i = 0; i < 16; i++)
		ndp_order_done(t->np, i);
	KUNIT_EXPECT_LT(test, ndp_order_slack(t->np), slack / 2);
	kept->ns = 400 * NSEC_PER_USEC;
	kept->until = jiffies;
	KUNIT_EXPECT_LT(test, ndp_order_slack(t->np), slack / 2);
}

/* A packet that left a timeout before one that has arrived is lost, however large the slack is. */
static void ndp_order_test_timeout(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_tx_cb *a = ndp_order_test_send(test, t, 1, 0);
	struct ndp_tx_cb *b = ndp_order_test_send(test, t, 2, 0);
	struct ndp_tx_cb *c = ndp_order_test_send(test, t, 3, 0);

	t->np->peer->late_ns = 10 * NDP_RTO_MIN;
	a->bounced = 1;
	c->sent_at = b->sent_at + NDP_RTO_MIN - 1;
	ndp_order_acked(t->np, c, 3, false);
	ndp_order_check(t->np);
	KUNIT_EXPECT_EQ(test, (int)b->state, NDP_TX_FLIGHT);
	t->np->order.sent++;
	ndp_order_check(t->np);
	KUNIT_EXPECT_EQ(test, (int)b->state, NDP_TX_LOST);
	/* A packet that switches returned too often waits for its timeout. */
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_FLIGHT);
}

/* When a packet times out: by its own time where the order of answers is not used. */
static void ndp_order_test_deadline(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_tx_cb *a = ndp_order_test_send(test, t, 1, 0);
	u64 rto = ndp_rto(t->np), sent_at = a->sent_at;

	t->np->rto_from = sent_at - 1;
	KUNIT_EXPECT_EQ(test, ndp_timeout_at(t->np, a), sent_at + rto);
	t->np->rto_from = sent_at + 5;
	KUNIT_EXPECT_EQ(test, ndp_timeout_at(t->np, a), sent_at + 5 + rto);
	t->np->unverified_at = ndp_to_sk(t->np);
	KUNIT_EXPECT_EQ(test, ndp_timeout_at(t->np, a), sent_at + rto);
	a->local_drop = 1;
	KUNIT_EXPECT_EQ(test, ndp_timeout_at(t->np, a), sent_at);
}

/* An expired value does not become valid again when the low bits of jiffies wrap. */
static void ndp_order_test_kept(struct kunit *test)
{
	struct ndp_kept k = {};

	ndp_keep(&k, 7);
	KUNIT_EXPECT_EQ(test, ndp_kept(&k), 7);
	/* A smaller value does not prolong it. */
	k.until = (u32)jiffies + 1000;
	ndp_keep(&k, 6);
	KUNIT_EXPECT_TRUE(test, time_after32(k.until, (u32)jiffies + 900));
	KUNIT_EXPECT_EQ(test, ndp_kept(&k), 7);
	k.until = (u32)jiffies;
	KUNIT_EXPECT_EQ(test, ndp_kept(&k), 0);
	k.until = (u32)jiffies + HZ;
	KUNIT_EXPECT_EQ(test, ndp_kept(&k), 0);
}

/* An unverified peer is not measured: its address may be spoofed. */
static void ndp_order_test_unverified(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);

	t->np->unverified_at = ndp_to_sk(t->np);
	t->np->order.before = NSEC_PER_SEC;
	ndp_order_answered(t->np, 1);
	KUNIT_EXPECT_EQ(test, t->np->peer->late_ns, 50 * NSEC_PER_USEC);
}

/* The retransmission arrived first: the answer to the first transmission reveals that, once. */
static void ndp_order_test_late(struct kunit *test)
{
	static const u32 psns[] = { 0, 63, 64, U32_MAX, 0x7fffffff, 64 << 15 };
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	u32 *late = &t->np->peer->late_ns;
	u32 first = *late, then;
	int i;

	for (i = 0; i < ARRAY_SIZE(psns); i++) {
		*late = first;
		ndp_order_late(t->np, psns[i]);
		KUNIT_EXPECT_EQ(test, *late, first);
		ndp_order_done(t->np, psns[i]);
		ndp_order_late(t->np, psns[i] + NDP_ORDER_DONE);
		KUNIT_EXPECT_EQ(test, *late, first);
		ndp_order_late(t->np, psns[i]);
		KUNIT_EXPECT_GT(test, *late, first);
		then = *late;
		ndp_order_late(t->np, psns[i]);
		KUNIT_EXPECT_EQ(test, *late, then);
	}
}

/* Two tail probes until something is acknowledged; none while nothing is in flight. */
static void ndp_order_test_tail(struct kunit *test)
{
	struct ndp_order_test *t = ndp_order_test_new(test, 0);
	struct ndp_tx_cb *a, *b;
	u64 at;

	KUNIT_EXPECT_EQ(test, ndp_tail_at(t->np), U64_MAX);
	a = ndp_order_test_send(test, t, 1, 0);
	b = ndp_order_test_send(test, t, 2, 1);
	at = ndp_tail_at(t->np);
	KUNIT_EXPECT_EQ(test, at, b->sent_at + 2 * t->np->peer->srtt_ns + t->slack);
	b->flags = NDP_F_LAST;
	KUNIT_EXPECT_EQ(test, ndp_tail_at(t->np), at + NDP_ACK_DELAY);
	b->flags = 0;
	ndp_keep(&t->np->peer->rto_kept, 300 * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, ndp_tail_at(t->np), b->sent_at + 300 * NSEC_PER_USEC + t->slack);
	t->np->peer->rto_kept.ns = 0;
	/* The time begins anew when another packet is answered. */
	t->np->rto_from = b->sent_at + 7;
	KUNIT_EXPECT_EQ(test, ndp_tail_at(t->np), at + 7);
	t->np->rto_from = 0;
	t->np->peer->srtt_ns = 1;
	KUNIT_EXPECT_EQ(test, ndp_tail_at(t->np), b->sent_at + 2 * ndp_order_slack(t->np));
	t->np->peer->srtt_ns = 100 * NSEC_PER_USEC;
	ndp_tail_probe(t->np, at - 1);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_FLIGHT);
	ndp_tail_probe(t->np, at);
	KUNIT_EXPECT_EQ(test, (int)a->state, NDP_TX_LOST);
	KUNIT_EXPECT_EQ(test, (int)b->state, NDP_TX_FLIGHT);
	ndp_tail_probe(t->np, U64_MAX - 1);
	KUNIT_EXPECT_EQ(test, (int)b->state, NDP_TX_LOST);
	KUNIT_EXPECT_EQ(test, ndp_tail_at(t->np), U64_MAX);
	ndp_order_test_send(test, t, 2, 2);
	KUNIT_EXPECT_EQ(test, ndp_tail_at(t->np), U64_MAX);
}

static struct kunit_case ndp_order_cases[] = {
	KUNIT_CASE(ndp_order_test_path),
	KUNIT_CASE(ndp_order_test_paths),
	KUNIT_CASE(ndp_order_test_many_paths),
	KUNIT_CASE(ndp_order_test_replaced),
	KUNIT_CASE(ndp_order_test_trimmed),
	KUNIT_CASE(ndp_order_test_fin),
	KUNIT_CASE(ndp_order_test_again),
	KUNIT_CASE(ndp_order_test_local),
	KUNIT_CASE(ndp_order_test_wrap),
	KUNIT_CASE(ndp_order_test_measures),
	KUNIT_CASE(ndp_order_test_bounds),
	KUNIT_CASE(ndp_order_test_keeps),
	KUNIT_CASE(ndp_order_test_timeout),
	KUNIT_CASE(ndp_order_test_deadline),
	KUNIT_CASE(ndp_order_test_kept),
	KUNIT_CASE(ndp_order_test_unverified),
	KUNIT_CASE(ndp_order_test_late),
	KUNIT_CASE(ndp_order_test_tail),
	{}
};

static struct kunit_suite ndp_order_suite = {
	.name = "ndp_order",
	.test_cases = ndp_order_cases,
};

kunit_test_suite(ndp_order_suite);
