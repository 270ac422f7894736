// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: order, turns, stopped and woken senders, credit, and stalled outputs.
 */
#include <kunit/test.h>
#include <net/sock.h>
#include "queue.c"

#define ZSW_TEST_TXQ	3

/**
 * struct zsw_test - a switch with two inputs and two outputs
 * @zsw:	switch
 * @in:		inputs
 * @out:	outputs
 * @stops:	times that a transmit queue was stopped
 * @early:	stops of a queue that was among its input's sleepers already
 * @woken:	transmit queues that were woken
 */
struct zsw_test {
	struct zswitch		zsw;
	struct zswitch_port	*in[2];
	struct zswitch_port	*out[2];
	unsigned int		stops;
	unsigned int		early;
	u32			woken;
};

static struct zsw_test *zsw_test;

static void zsw_test_kick(struct net_device *dev)
{
}

/* A waker must find the queue stopped, so the queue must be stopped before it is a sleeper. */
static void zsw_test_stop(struct net_device *dev, unsigned int txq)
{
	zsw_test->stops++;
	zsw_test->early += !!(atomic_read(&zsw_test->in[0]->sleepers[0]) & BIT(txq));
}

static void zsw_test_wake(struct net_device *dev, u32 txqs)
{
	zsw_test->woken |= txqs;
}

static const struct zswitch_kind zsw_test_kind = {
	.kick	= zsw_test_kick,
	.stop	= zsw_test_stop,
	.wake	= zsw_test_wake,
};

static void zsw_test_watch(struct work_struct *work)
{
}

static int zsw_test_init(struct kunit *test)
{
	struct zsw_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	INIT_DELAYED_WORK(&t->zsw.watch, zsw_test_watch);
	t->zsw.cfg = (struct zsw_config) {
		.virtual_lossless = true, .limit = SZ_64K, .share = SZ_64K,
		.wait[ZSW_VIRTUAL] = 1000,
	};
	for (i = 0; i < 2; i++) {
		t->in[i] = zsw_port_new(&t->zsw, NULL, &zsw_test_kind);
		t->out[i] = zsw_port_new(&t->zsw, NULL, &zsw_test_kind);
		KUNIT_ASSERT_NOT_NULL(test, t->in[i]);
		KUNIT_ASSERT_NOT_NULL(test, t->out[i]);
		t->out[i]->up = true;
	}
	zsw_test = t;
	test->priv = t;
	return 0;
}

static void zsw_test_exit(struct kunit *test)
{
	struct zsw_test *t = test->priv;
	int i;

	for (i = 0; i < 2; i++)
		zsw_free_voqs(t->out[i]);
	for (i = 0; i < 2; i++) {
		zsw_port_free(t->in[i]);
		zsw_port_free(t->out[i]);
	}
	cancel_delayed_work_sync(&t->zsw.watch);
}

/* Destructor of a frame with a socket; without one it would count with all its memory. */
static void zsw_test_free(struct sk_buff *skb)
{
}

static void zsw_test_put(struct kunit *test, unsigned int in, unsigned int out, u32 len, u32 mark)
{
	static struct sock nobody;
	struct zsw_test *t = test->priv;
	struct sk_buff *skb = alloc_skb(len, GFP_KERNEL);
	struct zsw_frame f = { .in = t->in[in], .skb = skb, .txq = ZSW_TEST_TXQ };

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_zero(skb, len);
	skb_reset_mac_header(skb);
	skb->mark = mark;
	skb->sk = &nobody;
	skb->destructor = zsw_test_free;
	rcu_read_lock();
	local_bh_disable();
	zsw_enqueue(t->out[out], &f);
	local_bh_enable();
	rcu_read_unlock();
}

static struct sk_buff *zsw_test_get(struct kunit *test, unsigned int out)
{
	struct zsw_test *t = test->priv;
	struct sk_buff *skb;

	rcu_read_lock();
	local_bh_disable();
	skb = zswitch_pull(t->out[out], U8_MAX);
	local_bh_enable();
	rcu_read_unlock();
	return skb;
}

static void zsw_test_order(struct kunit *test)
{
	struct zsw_test *t = test->priv;
	struct sk_buff *skb;
	u32 i;

	for (i = 0; i < 20; i++)
		zsw_test_put(test, 0, 0, 100 + 50 * i, i);
	KUNIT_EXPECT_EQ(test, zsw_backlog(t->out[0], 0), 11500);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->in[0]->used[0]), 11500);
	for (i = 0; i < 20; i++) {
		skb = zsw_test_get(test, 0);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_EXPECT_EQ(test, skb->mark, i);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_NULL(test, zsw_test_get(test, 0));
	KUNIT_EXPECT_EQ(test, zsw_backlog(t->out[0], 0), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->in[0]->used[0]), 0);
	KUNIT_EXPECT_EQ(test, zsw_stat(t->in[0], ZSWITCH_STAT_PASSED), 20);
	KUNIT_EXPECT_EQ(test, zsw_stat(t->out[0], ZSWITCH_STAT_OUT), 20);
}

/* Large frames of one input and small ones of another share the output's bytes by weight. */
static void zsw_test_shares(struct kunit *test)
{
	struct zsw_test *t = test->priv;
	u32 bytes[2] = {}, i;
	struct sk_buff *skb;

	t->zsw.cfg.limit = SZ_1M;
	t->zsw.cfg.share = SZ_1M;
	t->in[0]->weight = 3;
	for (i = 0; i < 400; i++)
		zsw_test_put(test, 0, 0, 1500, 0);
	for (i = 0; i < 2000; i++)
		zsw_test_put(test, 1, 0, 100, 1);
	while (bytes[0] + bytes[1] < 600000) {
		skb = zsw_test_get(test, 0);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		bytes[skb->mark] += skb->len;
		kfree_skb(skb);
	}
	/* To within a turn of three quanta, and a frame */
	KUNIT_EXPECT_LE(test, abs((int)bytes[0] - 450000), 3 * ZSW_QUANTUM + 1500);
}

/* Frames as large as many quanta, and small ones, share equally. */
static void zsw_test_large(struct kunit *test)
{
	struct zsw_test *t = test->priv;
	u32 bytes[2] = {}, i;
	struct sk_buff *skb;

	t->zsw.cfg.limit = SZ_1M;
	t->zsw.cfg.share = SZ_1M;
	for (i = 0; i < 10; i++)
		zsw_test_put(test, 0, 0, 60000, 0);
	for (i = 0; i < 400; i++)
		zsw_test_put(test, 1, 0, 1500, 1);
	while (bytes[0] + bytes[1] < 600000) {
		skb = zsw_test_get(test, 0);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		bytes[skb->mark] += skb->len;
		kfree_skb(skb);
		KUNIT_EXPECT_LE(test, abs((int)bytes[0] - (int)bytes[1]), 60000 + 2 * ZSW_QUANTUM);
	}
}

/* An input with much debt, and one without debt that has no frames for a while */
static void zsw_test_debt(struct kunit *test)
{
	struct zsw_test *t = test->priv;
	struct sk_buff *skb;
	int i;

	t->zsw.cfg.limit = SZ_1M;
	t->zsw.cfg.share = SZ_1M;
	zsw_test_put(test, 0, 0, 60000, 0);
	zsw_test_put(test, 0, 0, 60000, 0);
	zsw_test_put(test, 1, 0, 1500, 1);
	/* Input 1's only frame has left, and with it the rest of the input's turn. */
	for (i = 0; i < 2; i++) {
		skb = zsw_test_get(test, 0);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_EXPECT_EQ(test, skb->mark, i);
		kfree_skb(skb);
	}
	zsw_test_put(test, 1, 0, 1500, 1);
	for (i = 0; i < 2; i++) {
		skb = zsw_test_get(test, 0);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_EXPECT_EQ(test, skb->mark, !i);
		kfree_skb(skb);
	}
}

/* Bytes that an input sent while no other input waited do not count as debt. */
static void zsw_test_alone(struct kunit *test)
{
	struct sk_buff *skb;
	int i, own = 0;

	zsw_test_put(test, 0, 0, 60000, 0);
	kfree_skb(zsw_test_get(test, 0));
	zsw_test_put(test, 0, 0, 1500, 1);
	for (i = 0; i < 20; i++)
		zsw_test_put(test, 1, 0, 1500, 0);
	for (i = 0; i < 4; i++) {
		skb = zsw_test_get(test, 0);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		own += skb->mark;
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, own, 1);
}

/* Reference for zsw_next_prio(), quantum by quantum */
static unsigned int zsw_test_next_prio(struct zswitch_port *out, u8 prios)
{
	while (!(prios & BIT(out->turn)) || out->credit[out->turn] <= 0) {
		out->turn = (out->turn + 1) % ZSWITCH_PRIOS;
		if (out->credit[out->turn] <= 0)
			out->credit[out->turn] += ZSW_QUANTUM;
	}
	return out->turn;
}

/* With debts as large as a large frame, skipping rounds changes nothing. */
static void zsw_test_turns(struct kunit *test)
{
	struct zswitch_port *out = ((struct zsw_test *)test->priv)->out[0];
	u32 sent[ZSWITCH_PRIOS] = {}, lot = 1;
	int credit[ZSWITCH_PRIOS];
	unsigned int turn, prio;
	int i, j;

	for (i = 0; i < 4000; i++) {
		memcpy(credit, out->credit, sizeof(credit));
		turn = out->turn;
		prio = zsw_test_next_prio(out, 0xa5);
		swap(turn, out->turn);
		for (j = 0; j < ZSWITCH_PRIOS; j++)
			swap(credit[j], out->credit[j]);
		KUNIT_ASSERT_EQ(test, zsw_next_prio(out, 0xa5), prio);
		KUNIT_ASSERT_EQ(test, out->turn, turn);
		for (j = 0; j < ZSWITCH_PRIOS; j++)
			if (0xa5 & BIT(j))
				KUNIT_ASSERT_EQ(test, out->credit[j], credit[j]);
			else
				KUNIT_ASSERT_LE(test, out->credit[j], ZSW_QUANTUM);
		lot = lot * 1103515245 + 12345;
		out->credit[prio] -= (lot >> 16) % 65000;
		sent[prio] += (lot >> 16) % 65000;
	}
	for (j = 0; j < ZSWITCH_PRIOS; j++)
		if (0xa5 & BIT(j))
			KUNIT_EXPECT_LE(test, abs((int)(sent[j] - sent[0])),
					65000 + 2 * ZSW_QUANTUM);
}

/* An input reaches its limit while no output's share is used up. */
static void zsw_test_sleeps(struct kunit *test)
{
	struct zsw_test *t = test->priv;
	struct sk_buff *skb;
	int i;

	for (i = 0; i < 44; i++)
		zsw_test_put(test, 0, i % 2, 1500, 0);
	KUNIT_EXPECT_EQ(test, t->stops, 1);
	KUNIT_EXPECT_EQ(test, t->early, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->in[0]->sleepers[0]), BIT(ZSW_TEST_TXQ));
	for (i = 0; i < 44; i++) {
		KUNIT_EXPECT_EQ(test, t->woken, i * 1500 >= 66000 - SZ_32K ? BIT(ZSW_TEST_TXQ) : 0);
		skb = zsw_test_get(test, i % 2);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&t->in[0]->sleepers[0]), 0);
	KUNIT_EXPECT_EQ(test, t->stops, 1);
}

/* A sender that ignores the stop is bounded. */
static void zsw_test_overrun(struct kunit *test)
{
	struct zsw_test *t = test->priv;
	u32 most = 2 * SZ_64K + ZSW_SLACK;
	int i;

	for (i = 0; i < 2 * most / 60000; i++)
		zsw_test_put(test, 0, 0, 60000, 0);
	KUNIT_EXPECT_LE(test, atomic_read(&t->in[0]->used[0]), most);
	KUNIT_EXPECT_GT(test, atomic_read(&t->in[0]->used[0]), most - 60000);
	KUNIT_EXPECT_EQ(test, zsw_stat(t->in[0], ZSWITCH_STAT_DROP_OVERRUN),
			2 * most / 60000 - most / 60000);
	/* Another input is not affected. */
	zsw_test_put(test, 1, 0, 1000, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->in[1]->used[0]), 1000);
}

/* Let a window pass. */
static void zsw_test_later(struct zsw_test *t)
{
	t->out[0]->window[ZSW_VIRTUAL][0].since -= msecs_to_jiffies(1000) + 1;
}

static u64 zsw_test_given_up(struct kunit *test)
{
	struct zsw_test *t = test->priv;

	rcu_read_lock();
	zsw_expire(t->out[0]);
	rcu_read_unlock();
	return zsw_stat(t->in[0], ZSWITCH_STAT_DROP_STILL);
}

static void zsw_test_still(struct kunit *test)
{
	struct zsw_test *t = test->priv;
	int i;

	for (i = 0; i < 20; i++)
		zsw_test_put(test, 0, 0, 1500, i);
	KUNIT_EXPECT_EQ(test, zsw_test_given_up(test), 0);
	/* The output makes progress: six frames in the window. */
	for (i = 0; i < 6; i++)
		kfree_skb(zsw_test_get(test, 0));
	zsw_test_later(t);
	KUNIT_EXPECT_EQ(test, zsw_test_given_up(test), 0);
	/* One frame in the window is not progress. */
	kfree_skb(zsw_test_get(test, 0));
	zsw_test_later(t);
	KUNIT_EXPECT_EQ(test, zsw_test_given_up(test), 13);
	/* A stalled output takes one frame at a time. */
	zsw_test_put(test, 0, 0, 1500, 0);
	zsw_test_put(test, 0, 0, 1500, 0);
	KUNIT_EXPECT_EQ(test, zsw_test_given_up(test), 15);
	zsw_test_put(test, 0, 0, 1500, 0);
	kfree_skb(zsw_test_get(test, 0));
	zsw_test_put(test, 0, 0, 1500, 0);
	zsw_test_put(test, 0, 0, 1500, 0);
	KUNIT_EXPECT_GT(test, zsw_test_given_up(test), 15);
	/* The output asks for more frames than there are. */
	kfree_skb(zsw_test_get(test, 0));
	KUNIT_EXPECT_NULL(test, zsw_test_get(test, 0));
	KUNIT_EXPECT_EQ(test, t->out[0]->stalled, 0);
	for (i = 0; i < 6; i++)
		zsw_test_put(test, 0, 0, 1500, i);
	KUNIT_EXPECT_EQ(test, zsw_backlog(t->out[0], 0), 9000);
	/* So it is trusted for an eighth of the time. */
	t->out[0]->window[ZSW_VIRTUAL][0].since -= msecs_to_jiffies(1000) / 8 + 1;
	zsw_test_given_up(test);
	KUNIT_EXPECT_EQ(test, zsw_backlog(t->out[0], 0), 0);
}

/* Credit bounds both inputs together and keeps order; no frame is lost when it changes. */
static void zsw_test_credit(struct kunit *test)
{
	struct zsw_test *t = test->priv;
	struct sk_buff *skb;
	u32 next[2] = {}, i;

	zsw_output_credit(t->out[0], 64);
	for (i = 0; i < 200; i++)
		zsw_test_put(test, i % 2, 0, 1000, (i % 2) << 16 | (i / 2));
	KUNIT_EXPECT_EQ(test, zsw_backlog(t->out[0], 0), 64 * 1000);
	KUNIT_EXPECT_EQ(test, zsw_held(t->out[0]), 136 * 1000);
	KUNIT_EXPECT_EQ(test, zsw_credit_out(t->out[0]), 64);
	/* Senders of frames that wait for credit are stopped as well. */
	KUNIT_EXPECT_GT(test, t->stops, 0);
	for (i = 0; i < 200; i++) {
		if (i == 50)
			zsw_output_credit(t->out[0], 70);
		if (i == 80)
			zsw_output_credit(t->out[0], 0);
		if (i == 120)
			zsw_output_credit(t->out[0], 64);
		skb = zsw_test_get(test, 0);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		KUNIT_EXPECT_EQ(test, skb->mark & 0xffff, next[skb->mark >> 16]++);
		kfree_skb(skb);
		if (i < 70)
			KUNIT_EXPECT_EQ(test, zsw_credit_out(t->out[0]), i < 50 ? 64 : 70);
	}
	KUNIT_EXPECT_EQ(test, zsw_credit_out(t->out[0]), 0);
	KUNIT_EXPECT_EQ(test, zsw_held(t->out[0]), 0);
	KUNIT_EXPECT_EQ(test, t->woken, BIT(ZSW_TEST_TXQ));
	KUNIT_EXPECT_EQ(test, zsw_stat(t->out[0], ZSWITCH_STAT_CREDIT_USED),
			zsw_stat(t->out[0], ZSWITCH_STAT_CREDIT_RETURNED));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->in[0]->used[0]), 0);
}

/* Large frames take credit by their bytes; credit of a removed input is granted to others. */
static void zsw_test_credit_goes(struct kunit *test)
{
	struct zsw_test *t = test->priv;
	u32 i;

	zsw_output_credit(t->out[0], 64);
	for (i = 0; i < 3; i++)
		zsw_test_put(test, 0, 0, 60000, i);
	zsw_test_put(test, 1, 0, 1000, 0);
	/* 30 credits each: two frames have room, the third is next, then the other input's. */
	KUNIT_EXPECT_EQ(test, zsw_credit_out(t->out[0]), 60);
	KUNIT_EXPECT_EQ(test, zsw_held(t->out[0]), 61000);
	zsw_forget_input(t->out[0], t->in[0]);
	KUNIT_EXPECT_EQ(test, zsw_credit_out(t->out[0]), 1);
	KUNIT_EXPECT_EQ(test, zsw_backlog(t->out[0], 0), 1000);
	KUNIT_EXPECT_EQ(test, zsw_stat(t->in[0], ZSWITCH_STAT_DROP_DOWN), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->in[0]->used[0]), 0);
	zsw_test_put(test, 0, 0, 60000, 0);
	zsw_test_put(test, 0, 0, 60000, 0);
	zsw_test_put(test, 0, 0, 60000, 0);
	zsw_output_set(t->out[0], false);
	KUNIT_EXPECT_EQ(test, zsw_credit_out(t->out[0]), 0);
	KUNIT_EXPECT_EQ(test, zsw_held(t->out[0]), 0);
	KUNIT_EXPECT_EQ(test, zsw_stat(t->out[0], ZSWITCH_STAT_CREDIT_ASKED),
			zsw_stat(t->out[0], ZSWITCH_STAT_CREDIT_GRANTED) +
			zsw_stat(t->out[0], ZSWITCH_STAT_CREDIT_WITHDRAWN));
}

/* Frames that expire in one priority leave the asks of other frames in place. */
static void zsw_test_credit_stays(struct kunit *test)
{
	struct zsw_test *t = test->priv;
	struct sk_buff_head freed;
	struct zsw_voq *voq;
	u32 i;

	zsw_output_credit(t->out[0], 64);
	for (i = 0; i < 100; i++)
		zsw_test_put(test, i % 2, 0, 1000, i);
	__skb_queue_head_init(&freed);
	spin_lock_bh(&t->out[0]->lock);
	zsw_purge(t->out[0], 1, ZSW_VIRTUAL, ZSWITCH_STAT_DROP_STILL, &freed);
	KUNIT_EXPECT_EQ(test, zsw_stat(t->out[0], ZSWITCH_STAT_CREDIT_WITHDRAWN), 0);
	KUNIT_EXPECT_EQ(test, zsw_held(t->out[0]), 36 * 1000);
	/* Nor does a frame of another priority that waits behind the one that was asked for. */
	hash_for_each(t->out[0]->voqs, i, voq, node)
		zsw_cb(skb_peek_tail(&voq->held.frames))->prio = 1;
	zsw_purge(t->out[0], 1, ZSW_VIRTUAL, ZSWITCH_STAT_DROP_STILL, &freed);
	KUNIT_EXPECT_EQ(test, zsw_stat(t->out[0], ZSWITCH_STAT_CREDIT_WITHDRAWN), 0);
	KUNIT_EXPECT_EQ(test, zsw_held(t->out[0]), 34 * 1000);
	/* In their own priority they expire, and both asks are withdrawn. */
	zsw_purge(t->out[0], 0, ZSW_VIRTUAL, ZSWITCH_STAT_DROP_STILL, &freed);
	KUNIT_EXPECT_EQ(test, zsw_stat(t->out[0], ZSWITCH_STAT_CREDIT_WITHDRAWN), 2);
	KUNIT_EXPECT_EQ(test, zsw_held(t->out[0]), 0);
	spin_unlock_bh(&t->out[0]->lock);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&freed), 100);
	__skb_queue_purge(&freed);
}

static struct kunit_case zsw_queue_cases[] = {
	KUNIT_CASE(zsw_test_order),
	KUNIT_CASE(zsw_test_shares),
	KUNIT_CASE(zsw_test_large),
	KUNIT_CASE(zsw_test_debt),
	KUNIT_CASE(zsw_test_alone),
	KUNIT_CASE(zsw_test_turns),
	KUNIT_CASE(zsw_test_sleeps),
	KUNIT_CASE(zsw_test_overrun),
	KUNIT_CASE(zsw_test_still),
	KUNIT_CASE(zsw_test_credit),
	KUNIT_CASE(zsw_test_credit_goes),
	KUNIT_CASE(zsw_test_credit_stays),
	{}
};

static struct kunit_suite zsw_queue_suite = {
	.name		= "zswitch_queue",
	.init		= zsw_test_init,
	.exit		= zsw_test_exit,
	.test_cases	= zsw_queue_cases,
};

kunit_test_suite(zsw_queue_suite);
