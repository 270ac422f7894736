// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: credit over a lossy, duplicating, reordering path; restarts, turns, forged messages.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include "credit.c"

#define ZCR_TEST_SENDERS	5
#define ZCR_TEST_WAY		256
#define ZCR_TEST_SIZE		100

/* Steps that a message or frame is in flight at most; steps until a silent sender is forgotten */
#define ZCR_TEST_LIFE		20
#define ZCR_TEST_LAPSE		(6 * ZCR_TEST_LIFE)

/**
 * struct zcr_test_thing - a frame or message in flight
 * @used:	the entry is in use
 * @frame:	credits of a frame; 0: a message
 * @who:	index of the sender that it is from or for
 * @due:	step by which it arrives or is lost
 * @msg:	message
 */
struct zcr_test_thing {
	bool		used;
	u32		frame;
	unsigned int	who;
	unsigned int	due;
	struct zcr_msg	msg;
};

/**
 * struct zcr_test - senders, a receiver, and a path between them
 * @rnd:	random generator
 * @trouble:	the path loses and duplicates, and ends restart
 * @step:	time, in steps
 * @quiet_until: step from which on the receiver may grant
 * @way:	frames and messages in flight; any may arrive next
 * @rx:		receiver
 * @src:	what the receiver knows of each sender
 * @heard:	step of the last message from each sender
 * @tx:		senders
 * @next:	credits of each sender's next frame
 * @left:	frames that each sender has yet to send
 * @queued:	credits of frames that wait at the receiver
 * @most:	maximum of @rx.out so far
 */
struct zcr_test {
	struct rnd_state	rnd;
	bool			trouble;
	unsigned int		step;
	unsigned int		quiet_until;
	struct zcr_test_thing	way[ZCR_TEST_WAY];
	struct zcr_receiver	rx;
	struct zcr_source	src[ZCR_TEST_SENDERS];
	unsigned int		heard[ZCR_TEST_SENDERS];
	struct zcr_sender	tx[ZCR_TEST_SENDERS];
	u32			next[ZCR_TEST_SENDERS];
	unsigned int		left[ZCR_TEST_SENDERS];
	u32			queued;
	u32			most;
};

static u32 zcr_test_random(struct zcr_test *t)
{
	return prandom_u32_state(&t->rnd);
}

static u32 zcr_test_epoch(struct zcr_test *t)
{
	return zcr_test_random(t) | 1;
}

static bool zcr_test_chance(struct zcr_test *t, u32 one_in)
{
	return t->trouble && zcr_test_random(t) % one_in == 0;
}

/* Put a frame or message on the path.  There must be room, or the test is invalid. */
static void zcr_test_put(struct kunit *test, const struct zcr_test_thing *thing)
{
	struct zcr_test *t = test->priv;
	unsigned int i;

	for (i = 0; i < ZCR_TEST_WAY && t->way[i].used; i++)
		;
	KUNIT_ASSERT_LT(test, i, ZCR_TEST_WAY);
	t->way[i] = *thing;
	t->way[i].used = true;
}

static void zcr_test_send(struct kunit *test, unsigned int who, struct zcr_msg msg)
{
	struct zcr_test *t = test->priv;
	struct zcr_test_thing thing = { .who = who, .due = t->step + ZCR_TEST_LIFE, .msg = msg };

	if (zcr_test_chance(t, 5))
		return;
	zcr_test_put(test, &thing);
	if (zcr_test_chance(t, 5))
		zcr_test_put(test, &thing);
}

static void zcr_test_grants(struct kunit *test)
{
	struct zcr_test *t = test->priv;
	struct zcr_source *src;

	while ((src = zcr_next(&t->rx)))
		zcr_test_send(test, src - t->src, zcr_grant(src));
	t->most = max(t->most, t->rx.out);
}

/* A sender uses its credit, which is for whole frames, at once. */
static void zcr_test_sends(struct kunit *test, unsigned int who)
{
	struct zcr_test *t = test->priv;
	struct zcr_sender *tx = &t->tx[who];
	struct zcr_test_thing thing = { .who = who, .due = t->step + ZCR_TEST_LIFE };

	while (t->left[who] && zcr_use(tx, t->next[who])) {
		if (tx->wanted != tx->used)
			KUNIT_ASSERT_TRUE(test, zcr_want(tx, t->next[who]));
		KUNIT_ASSERT_EQ(test, tx->wanted, tx->used);
		thing.frame = t->next[who];
		if (!zcr_test_chance(t, 10))
			zcr_test_put(test, &thing);
		t->left[who]--;
		t->next[who] = 1 + zcr_test_random(t) % 33;
	}
	if (t->left[who] && tx->wanted == tx->used && zcr_want(tx, t->next[who]) &&
	    tx->asked != tx->granted)
		zcr_test_send(test, who, zcr_ask(tx));
}

static void zcr_test_at_receiver(struct kunit *test, const struct zcr_test_thing *thing)
{
	struct zcr_test *t = test->priv;
	struct zcr_source *src = &t->src[thing->who];
	enum zcr_verdict verdict;
	u32 lost = 0;

	verdict = zcr_asked(src, &thing->msg, zcr_test_epoch(t), &lost);
	if (verdict == ZCR_OURS)
		t->heard[thing->who] = t->step;
	if (verdict != ZCR_STALE)
		zcr_test_send(test, thing->who, zcr_answer(src, &thing->msg, verdict));
	zcr_test_grants(test);
}

static void zcr_test_at_sender(struct kunit *test, const struct zcr_test_thing *thing)
{
	struct zcr_test *t = test->priv;
	struct zcr_sender *tx = &t->tx[thing->who];

	if (!zcr_hear(tx, &thing->msg, zcr_test_epoch(t)))
		return;
	if (thing->msg.type == ZCR_HELLO && tx->asked)
		zcr_test_send(test, thing->who, zcr_ask(tx));
	zcr_test_sends(test, thing->who);
}

/* The entry of a frame or message that arrives may be reused by messages that it causes. */
static void zcr_test_arrives(struct kunit *test, struct zcr_test_thing *place)
{
	struct zcr_test_thing thing = *place;
	struct zcr_test *t = test->priv;

	place->used = false;
	if (thing.frame) {
		zcr_arrive(&t->src[thing.who], thing.frame);
		if (zcr_more(&t->src[thing.who]))
			zcr_test_send(test, thing.who, zcr_grant(&t->src[thing.who]));
		t->queued += thing.frame;
		t->most = max(t->most, t->rx.out);
	} else if (thing.msg.type == ZCR_ASK) {
		zcr_test_at_receiver(test, &thing);
	} else {
		zcr_test_at_sender(test, &thing);
	}
}

/* Let random entries arrive, messages more often than frames, and all that are due. */
static void zcr_test_way(struct kunit *test)
{
	struct zcr_test *t = test->priv;
	struct zcr_test_thing *thing;

	for (thing = t->way; thing < t->way + ZCR_TEST_WAY; thing++) {
		if (!thing->used)
			continue;
		if (thing->due <= t->step || !(zcr_test_random(t) % (thing->frame ? 16 : 2)))
			zcr_test_arrives(test, thing);
	}
}

static void zcr_test_departs(struct kunit *test)
{
	struct zcr_test *t = test->priv;
	u32 n = min(t->queued, zcr_test_random(t) % 20);

	t->queued -= n;
	zcr_leave(&t->rx, n);
	zcr_test_grants(test);
}

static void zcr_test_restart_receiver(struct zcr_test *t)
{
	unsigned int i;

	zcr_receiver_init(&t->rx);
	t->rx.size = ZCR_TEST_SIZE;
	t->rx.quiet = true;
	t->queued = 0;
	t->quiet_until = t->step + ZCR_TEST_LAPSE;
	for (i = 0; i < ZCR_TEST_SENDERS; i++)
		zcr_source_init(&t->src[i], &t->rx, zcr_test_epoch(t));
}

/* Run the timers of both ends. */
static void zcr_test_time(struct kunit *test)
{
	struct zcr_test *t = test->priv;
	unsigned int i;

	if (t->rx.quiet && t->step >= t->quiet_until)
		t->rx.quiet = false;
	for (i = 0; i < ZCR_TEST_SENDERS; i++) {
		if (t->src[i].granted != t->src[i].arrived &&
		    t->step > t->heard[i] + ZCR_TEST_LAPSE)
			zcr_forget(&t->src[i]);
		if (t->step % (ZCR_TEST_LIFE + 1))
			continue;
		zcr_tick(&t->tx[i], 0);
		if (!t->left[i] && t->tx[i].acked == t->tx[i].used)
			zcr_void(&t->tx[i]);
		if (zcr_repeat(&t->tx[i]))
			zcr_test_send(test, i, zcr_ask(&t->tx[i]));
	}
	zcr_test_grants(test);
}

/* Frames in flight, frames that wait and unused credit are within the bound together. */
static void zcr_test_bounded(struct kunit *test)
{
	struct zcr_test *t = test->priv;
	u32 sum = t->queued;
	unsigned int i;

	for (i = 0; i < ZCR_TEST_WAY; i++)
		if (t->way[i].used)
			sum += t->way[i].frame;
	for (i = 0; i < ZCR_TEST_SENDERS; i++)
		sum += t->tx[i].granted - t->tx[i].used;
	KUNIT_ASSERT_LE(test, sum, ZCR_TEST_SIZE);
}

static void zcr_test_step(struct kunit *test)
{
	struct zcr_test *t = test->priv;
	unsigned int i = zcr_test_random(t) % ZCR_TEST_SENDERS;

	t->step++;
	zcr_test_sends(test, i);
	zcr_test_way(test);
	zcr_test_departs(test);
	if (zcr_test_chance(t, 500))
		zcr_sender_begin(&t->tx[i], zcr_test_epoch(t));
	if (zcr_test_chance(t, 400))
		zcr_test_restart_receiver(t);
	zcr_test_time(test);
	zcr_test_bounded(test);
}

static bool zcr_test_done(const struct zcr_test *t)
{
	unsigned int i;

	for (i = 0; i < ZCR_TEST_SENDERS; i++)
		if (t->left[i] || zcr_repeat(&t->tx[i]))
			return false;
	return !t->rx.out;
}

static void zcr_test_play(struct kunit *test, u64 seed)
{
	struct zcr_test *t = test->priv;
	unsigned int i;

	memset(t, 0, sizeof(*t));
	prandom_seed_state(&t->rnd, seed);
	zcr_test_restart_receiver(t);
	for (i = 0; i < ZCR_TEST_SENDERS; i++) {
		zcr_sender_begin(&t->tx[i], zcr_test_epoch(t));
		t->left[i] = 150;
		t->next[i] = 1 + zcr_test_random(t) % 33;
	}
	t->trouble = true;
	while (t->step < 3000)
		zcr_test_step(test);
	t->trouble = false;
	while (!zcr_test_done(t) && t->step < 30000)
		zcr_test_step(test);
	if (!zcr_test_done(t))
		kunit_info(test, "seed %llu", seed);
	KUNIT_ASSERT_TRUE(test, zcr_test_done(t));
	KUNIT_EXPECT_EQ(test, t->queued, 0);
	KUNIT_EXPECT_LE(test, t->most, ZCR_TEST_SIZE);
	KUNIT_EXPECT_GT(test, t->most, ZCR_TEST_SIZE / 2);
}

static void zcr_test_troubles(struct kunit *test)
{
	u64 seed = get_random_u32();
	unsigned int i;

	kunit_info(test, "seeds from %llu", seed);
	for (i = 0; i < 40; i++)
		zcr_test_play(test, seed + i);
}

/* Pairs within one switch, without a path between the ends. */
static void zcr_test_pair_init(struct zcr_test *t, unsigned int n)
{
	unsigned int i;

	zcr_receiver_init(&t->rx);
	t->rx.size = ZCR_TEST_SIZE;
	for (i = 0; i < n; i++) {
		zcr_source_init(&t->src[i], &t->rx, 1);
		zcr_pair(&t->tx[i], &t->src[i], 1);
	}
}

static void zcr_test_hear_ask(struct zcr_test *t, unsigned int i)
{
	struct zcr_msg ask = zcr_ask(&t->tx[i]);
	u32 lost = 0;

	zcr_asked(&t->src[i], &ask, 1, &lost);
}

/* Sources that always ask: frames of 1 and of 30 credits, weights 3, 1 and 2. */
static void zcr_test_weights(struct kunit *test)
{
	static const u32 cost[] = { 1, 30, 1 }, weight[] = { 3, 1, 2 };
	struct zcr_test *t = test->priv;
	struct zcr_source *src;
	u32 got[3] = {}, i, n;

	zcr_test_pair_init(t, 3);
	for (i = 0; i < 3; i++)
		t->src[i].weight = weight[i];
	for (n = 0; n < 30000; n++) {
		for (i = 0; i < 3; i++)
			if (t->tx[i].asked == t->tx[i].granted) {
				KUNIT_ASSERT_TRUE(test, zcr_want(&t->tx[i], cost[i]));
				zcr_test_hear_ask(t, i);
			}
		src = zcr_next(&t->rx);
		if (!src) {
			zcr_leave(&t->rx, 1);
			continue;
		}
		i = src - t->src;
		t->tx[i].granted = src->granted;
		KUNIT_ASSERT_TRUE(test, zcr_use(&t->tx[i], cost[i]));
		zcr_arrive(src, cost[i]);
		got[i] += cost[i];
		KUNIT_ASSERT_LE(test, t->rx.out, ZCR_TEST_SIZE);
	}
	/* Equal to within one turn of each */
	KUNIT_EXPECT_LE(test, abs((int)got[0] - 3 * (int)got[1]), 3 * 3 * ZCR_QUANTUM + 90);
	KUNIT_EXPECT_LE(test, abs((int)got[2] - 2 * (int)got[1]), 3 * 2 * ZCR_QUANTUM + 60);
}

/* Messages that are not from the other end of the pair change nothing. */
static void zcr_test_forged(struct kunit *test)
{
	struct zcr_test *t = test->priv;
	struct zcr_sender tx;
	struct zcr_source src;
	struct zcr_msg msg;
	u32 lost = 0, i;

	zcr_test_pair_init(t, 1);
	zcr_pair(&t->tx[0], &t->src[0], 77);
	zcr_want(&t->tx[0], 10);
	zcr_test_hear_ask(t, 0);
	KUNIT_ASSERT_PTR_EQ(test, zcr_next(&t->rx), &t->src[0]);
	msg = zcr_grant(&t->src[0]);
	zcr_hear(&t->tx[0], &msg, 1);
	KUNIT_ASSERT_TRUE(test, zcr_use(&t->tx[0], 4));
	zcr_arrive(&t->src[0], 4);
	tx = t->tx[0];
	src = t->src[0];
	for (i = 0; i < 20000; i++) {
		msg = (struct zcr_msg) {
			.type = get_random_u32() % 4, .epoch = get_random_u32() % 100,
			.peer = 78 + get_random_u32() % 100, .count = get_random_u32() % 64,
			.past = get_random_u32() % 64,
		};
		if (msg.type != ZCR_HELLO)
			zcr_hear(&t->tx[0], &msg, 1);
		zcr_asked(&t->src[0], &msg, 1, &lost);
	}
	/* From the right pair, with counters beyond what was asked for or granted, or backwards */
	for (i = 0; i < 20000; i++) {
		msg = (struct zcr_msg) {
			.type = ZCR_GRANT, .epoch = 77, .peer = 77,
			.count = 11 + ZCR_AHEAD_MAX +
				 get_random_u32() % (U32_MAX - ZCR_AHEAD_MAX - 1),
			.past = U32_MAX,
		};
		zcr_hear(&t->tx[0], &msg, 1);
		msg.type = ZCR_ASK;
		msg.count = 10 + ZCR_ASK_MAX + 1 + get_random_u32() % (U32_MAX - 200);
		zcr_asked(&t->src[0], &msg, 1, &lost);
	}
	KUNIT_EXPECT_EQ(test, memcmp(&tx, &t->tx[0], sizeof(tx)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&src, &t->src[0], sizeof(src)), 0);
	KUNIT_EXPECT_EQ(test, lost, 0);
	KUNIT_EXPECT_EQ(test, t->rx.out, 10);
}

/* Credit of a sender that vanishes is returned, whether it asks or not, in its turn or not. */
static void zcr_test_vanish(struct kunit *test)
{
	struct zcr_test *t = test->priv;
	struct zcr_source *src;
	u32 i;

	zcr_test_pair_init(t, 3);
	for (i = 0; i < 3; i++) {
		zcr_want(&t->tx[i], 60);
		zcr_test_hear_ask(t, i);
	}
	src = zcr_next(&t->rx);
	KUNIT_ASSERT_NOT_NULL(test, src);
	KUNIT_EXPECT_NULL(test, zcr_next(&t->rx));
	KUNIT_EXPECT_EQ(test, zcr_forget(src), 60);
	KUNIT_EXPECT_EQ(test, t->rx.out, 0);
	src = zcr_next(&t->rx);
	KUNIT_ASSERT_NOT_NULL(test, src);
	for (i = 0; i < 3; i++)
		zcr_forget(&t->src[i]);
	KUNIT_EXPECT_EQ(test, t->rx.out, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->rx.waiting));
	KUNIT_EXPECT_NULL(test, t->rx.turn);
}

/* Short credit is granted in parts to frames of one credit, and only whole to others. */
static void zcr_test_parts(struct kunit *test)
{
	struct zcr_test *t = test->priv;
	u32 part = ZCR_TEST_SIZE / ZCR_PARTS;
	struct zcr_msg msg;
	u32 i;

	zcr_test_pair_init(t, 2);
	zcr_arrive(&t->src[1], ZCR_TEST_SIZE);
	for (i = 0; i < 64; i++)
		KUNIT_ASSERT_TRUE(test, zcr_want(&t->tx[0], 1));
	zcr_test_hear_ask(t, 0);
	zcr_leave(&t->rx, part - 1);
	KUNIT_EXPECT_NULL(test, zcr_next(&t->rx));
	zcr_leave(&t->rx, 1);
	KUNIT_ASSERT_PTR_EQ(test, zcr_next(&t->rx), &t->src[0]);
	KUNIT_EXPECT_EQ(test, t->src[0].granted, part);
	KUNIT_EXPECT_EQ(test, t->rx.out, ZCR_TEST_SIZE);
	KUNIT_EXPECT_NULL(test, zcr_next(&t->rx));
	msg = zcr_grant(&t->src[0]);
	zcr_hear(&t->tx[0], &msg, 1);
	/* Behind them waits a frame of two credits: the ask is now granted whole or not at all. */
	KUNIT_ASSERT_TRUE(test, zcr_want(&t->tx[0], 2));
	zcr_test_hear_ask(t, 0);
	zcr_leave(&t->rx, 64 - part + 1);
	KUNIT_EXPECT_NULL(test, zcr_next(&t->rx));
	zcr_leave(&t->rx, 1);
	KUNIT_EXPECT_PTR_EQ(test, zcr_next(&t->rx), &t->src[0]);
	KUNIT_EXPECT_EQ(test, t->src[0].granted, 66);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->rx.waiting));
	/* Once it has been granted, parts are possible again. */
	msg = zcr_grant(&t->src[0]);
	zcr_hear(&t->tx[0], &msg, 1);
	msg = zcr_ask(&t->tx[0]);
	KUNIT_EXPECT_TRUE(test, msg.single);
}

/* Send one frame.  Return: whether it needed an ask; grants are counted in @grants. */
static bool zcr_test_one(struct kunit *test, unsigned int *grants)
{
	struct zcr_test *t = test->priv;
	struct zcr_msg msg;
	bool asks;

	KUNIT_ASSERT_TRUE(test, zcr_want(&t->tx[0], 1));
	asks = t->tx[0].asked != t->tx[0].granted;
	if (asks) {
		zcr_test_hear_ask(t, 0);
		KUNIT_ASSERT_PTR_EQ(test, zcr_next(&t->rx), &t->src[0]);
		(*grants)++;
		msg = zcr_grant(&t->src[0]);
		zcr_hear(&t->tx[0], &msg, 1);
	}
	KUNIT_ASSERT_TRUE(test, zcr_use(&t->tx[0], 1));
	zcr_arrive(&t->src[0], 1);
	if (zcr_more(&t->src[0])) {
		(*grants)++;
		msg = zcr_grant(&t->src[0]);
		zcr_hear(&t->tx[0], &msg, 1);
		if (t->tx[0].granted - t->tx[0].told >= ZCR_AHEAD)
			zcr_test_hear_ask(t, 0);
	}
	zcr_leave(&t->rx, 1);
	return asks;
}

/* A stream needs few asks and grants, and gives back the rest; but not while half is out. */
static void zcr_test_ahead(struct kunit *test)
{
	struct zcr_test *t = test->priv;
	unsigned int asks = 0, grants = 0, i;
	u32 lost = 0;
	struct zcr_msg msg;

	zcr_test_pair_init(t, 2);
	for (i = 0; i < 200; i++)
		asks += zcr_test_one(test, &grants);
	KUNIT_EXPECT_LE(test, asks, 3);
	KUNIT_EXPECT_LE(test, grants, 32);
	KUNIT_EXPECT_LE(test, t->rx.out, ZCR_AHEAD);
	/* As far as the sender knows, a frame has not arrived: credit given back is not settled. */
	msg = zcr_grant(&t->src[0]);
	KUNIT_ASSERT_GT(test, t->tx[0].granted - t->tx[0].used, 0);
	t->tx[0].acked = t->tx[0].used - 1;
	zcr_void(&t->tx[0]);
	KUNIT_EXPECT_NE(test, t->tx[0].settled, t->tx[0].used);
	KUNIT_EXPECT_TRUE(test, zcr_repeat(&t->tx[0]));
	zcr_hear(&t->tx[0], &msg, 1);
	zcr_tick(&t->tx[0], 0);
	zcr_tick(&t->tx[0], 0);
	msg = zcr_ask(&t->tx[0]);
	zcr_asked(&t->src[0], &msg, 1, &lost);
	KUNIT_EXPECT_GT(test, lost, 0);
	KUNIT_EXPECT_EQ(test, t->rx.out, 0);
	msg = zcr_grant(&t->src[0]);
	zcr_hear(&t->tx[0], &msg, 1);
	KUNIT_EXPECT_FALSE(test, zcr_repeat(&t->tx[0]));
	/* Another source holds half of the credit: each frame needs an ask. */
	zcr_arrive(&t->src[1], ZCR_TEST_SIZE / 2);
	for (i = 0; i < 200; i++)
		KUNIT_EXPECT_TRUE(test, zcr_test_one(test, &grants));
	/*
	 * When half is free again and all frames have arrived, the rest is given back at once, even
	 * if a frame from a spoofed address has taken one of the credits.
	 */
	zcr_leave(&t->rx, ZCR_TEST_SIZE / 2);
	for (i = 0; i < 200; i++)
		zcr_test_one(test, &grants);
	zcr_arrive(&t->src[0], 1);
	zcr_leave(&t->rx, 1);
	msg = zcr_grant(&t->src[0]);
	zcr_hear(&t->tx[0], &msg, 1);
	KUNIT_EXPECT_GT(test, zcr_void(&t->tx[0]), 0);
	msg = zcr_ask(&t->tx[0]);
	zcr_asked(&t->src[0], &msg, 1, &lost);
	KUNIT_EXPECT_EQ(test, t->rx.out, 0);
	msg = zcr_grant(&t->src[0]);
	zcr_hear(&t->tx[0], &msg, 1);
	KUNIT_EXPECT_FALSE(test, zcr_repeat(&t->tx[0]));
}

static void zcr_test_costs(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, zcr_cost(0), 1);
	KUNIT_EXPECT_EQ(test, zcr_cost(60), 1);
	KUNIT_EXPECT_EQ(test, zcr_cost(ZCR_BYTES), 1);
	KUNIT_EXPECT_EQ(test, zcr_cost(ZCR_BYTES + 1), 2);
	KUNIT_EXPECT_EQ(test, zcr_cost(65535 + 18), 33);
	KUNIT_EXPECT_EQ(test, zcr_cost(U32_MAX - ZCR_BYTES), ZCR_ASK_MAX);
}

static int zcr_test_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct zcr_test), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static struct kunit_case zcr_cases[] = {
	KUNIT_CASE(zcr_test_troubles),
	KUNIT_CASE(zcr_test_weights),
	KUNIT_CASE(zcr_test_forged),
	KUNIT_CASE(zcr_test_vanish),
	KUNIT_CASE(zcr_test_parts),
	KUNIT_CASE(zcr_test_ahead),
	KUNIT_CASE(zcr_test_costs),
	{}
};

static struct kunit_suite zcr_suite = {
	.name		= "zswitch_credit",
	.init		= zcr_test_init,
	.test_cases	= zcr_cases,
};

kunit_test_suite(zcr_suite);
