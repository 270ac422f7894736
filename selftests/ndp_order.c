// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that a path loses are detected by later packets of the path, and retransmitted without a
 * timeout; and packets that are only late do not keep being retransmitted.
 *
 * Both ends are kernel sockets; the test forwards their packets on four paths, and drops or delays
 * some of one path (middle.h).
 */
#include "middle.h"

#define MTU		1280
#define SIZE		1000000
#define PATHS		4
/* One-way delay, us: far below the minimum timeout. */
#define WAY		20
/* One in ONE_IN packets of a path is hit, from packet FIRST to packet BEHIND of all. */
#define ONE_IN		10
#define FIRST		100
#define BEHIND		700
/* How long a host is stalled, us: several timeouts. */
#define STALL		5000

static int loses, lateness;
static int seen, on_path, hit;
static __u16 chosen;

/* Is @p a packet to be dropped or delayed?  Retransmissions are not. */
static bool is_hit(struct packet *p)
{
	struct header *h = ndp_of(p);

	if (p->from != NEAR || !has_payload(p) || h->flags & RTX)
		return false;
	if (seen++ == FIRST)
		chosen = h->path;
	if (seen <= FIRST || seen > BEHIND || h->path != chosen)
		return false;
	return !(on_path++ % ONE_IN);
}

static void carry(struct packet *p)
{
	bool is = is_hit(p);

	hit += is;
	if (!is || !loses)
		deliver(p, is ? lateness : WAY);
}

static __u64 stall_at;
static int held;

/* FAR is stalled for a while: packets from and to it wait. */
static void stand_still(struct packet *p)
{
	__u64 now = now_us(), end = stall_at + STALL;
	bool waits = now >= stall_at && now < end;

	held += waits && p->from == NEAR && has_payload(p);
	deliver(p, waits ? end - now : WAY);
}

FIXTURE(order)
{
	int	l, s, a;
};

FIXTURE_VARIANT(order)
{
	int	family;	/* index into middle[] */
};

FIXTURE_VARIANT_ADD(order, ip4) { 0 };
FIXTURE_VARIANT_ADD(order, ip6) { 1 };

FIXTURE_SETUP(order)
{
	int i;

	/* On a slow machine there are timeouts before a test has begun. */
	if (!virtual_time())
		SKIP(return, "time is real: what is late may come later still");
	ASSERT_EQ(0, lay_middle(MTU));
	world = &middle[variant->family];
	/* For a moment packets to a new IPv6 address are lost. */
	forward_packets_for(10);
	/* Fixed paths: random ones on which packets are late would be used less (entropy.c). */
	ASSERT_EQ(0, setns(world->ns[NEAR], CLONE_NEWNET));
	for (i = 0; i < PATHS; i++)
		ASSERT_EQ(0, shell("ndp path add %s entropy %d", world->address[FAR], 50000 + i));
	ASSERT_TRUE(set_sysctl(FAR, "paths", PATHS));
	ASSERT_TRUE(open_connection(NULL, &self->l, &self->s, &self->a));
	nonblock(self->s);
	nonblock(self->a);
	settle();
	ASSERT_TRUE(warm_up(self->s, self->a));
	meddle = carry;
	ASSERT_EQ(0, stat_of(NEAR, "Timeouts"));
}

FIXTURE_TEARDOWN(order)
{
	close(self->s);
	close(self->a);
	close(self->l);
	EXPECT_TRUE(forward_until_stat("SockInUse", 0, 10));
}

/* Return: bytes that arrived as they were sent. */
static int transfer(int s, int a)
{
	__u64 end = now_us() + patience(20) * 1000000ULL;
	static char out[SIZE], in[SIZE];
	int sent = 0, got = 0, i, n;

	for (i = 0; i < SIZE; i++)
		out[i] = byte_at(i);
	while (got < SIZE && now_us() < end) {
		n = send(s, out + sent, SIZE - sent, MSG_NOSIGNAL);
		sent += n > 0 ? n : 0;
		forward_packets(1000);
		n = recv(a, in + got, SIZE - got, 0);
		got += n > 0 ? n : 0;
	}
	for (i = 0; i < got && in[i] == byte_at(i); i++)
		;
	forward_packets_for(50);
	printf("# %d hit, %llu sent again, %llu by order, %llu in vain; timeouts %llu, %llu\n",
	       hit, stat_of(NEAR, "DataRtx"), stat_of(NEAR, "LostByOrder"),
	       stat_of(NEAR, "SpuriousByOrder"), stat_of(NEAR, "Timeouts"),
	       stat_of(NEAR, "TailProbes"));
	return i;
}

TEST_F(order, lost_in_the_middle)
{
	loses = 1;
	ASSERT_EQ(SIZE, transfer(self->s, self->a));
	/* The path is soon left out. */
	EXPECT_LT(2, hit);
	EXPECT_EQ(hit, stat_of(NEAR, "DataRtx"));
	EXPECT_EQ(hit, stat_of(NEAR, "LostByOrder"));
	EXPECT_EQ(0, stat_of(NEAR, "SpuriousByOrder"));
	EXPECT_EQ(0, stat_of(NEAR, "Timeouts"));
	EXPECT_EQ(0, stat_of(FAR, "DupIn"));
}

/* Packets late by less than the slack, a quarter of the minimum timeout */
TEST_F(order, late_within_the_slack)
{
	lateness = 200;
	ASSERT_EQ(SIZE, transfer(self->s, self->a));
	EXPECT_LT(8, hit);
	EXPECT_EQ(0, stat_of(NEAR, "DataRtx"));
	EXPECT_EQ(0, stat_of(NEAR, "LostByOrder"));
}

/* Late by more: spurious retransmissions are detected, and the slack grows until it is enough. */
TEST_F(order, late_beyond_the_slack)
{
	lateness = 700;
	ASSERT_EQ(SIZE, transfer(self->s, self->a));
	/* A path on which packets are that late is left out now and then. */
	EXPECT_LT(3, hit);
	EXPECT_LE(1, stat_of(NEAR, "LostByOrder"));
	EXPECT_GE(3, stat_of(NEAR, "DataRtx"));
	EXPECT_EQ(stat_of(NEAR, "LostByOrder"), stat_of(NEAR, "SpuriousByOrder"));
	EXPECT_EQ(stat_of(NEAR, "DataRtx"), stat_of(FAR, "DupIn"));
	EXPECT_EQ(0, stat_of(NEAR, "Timeouts"));
}

/*
 * A stalled host has received all that was sent.  Only one packet per timeout is retransmitted to
 * it, and tail probes, not all unanswered packets; and for a while the timeout is as long as the
 * stall.
 */
TEST_F(order, stands_still)
{
	int i, again = 0;

	meddle = stand_still;
	for (i = 0; i < 3; i++) {
		held = 0;
		stall_at = now_us();
		ASSERT_EQ(SIZE, transfer(self->s, self->a));
		EXPECT_LT(15, held);
		again = stat_of(NEAR, "DataRtx") - again;
		EXPECT_GE(i ? 0 : 6, again);
		again = stat_of(NEAR, "DataRtx");
		EXPECT_EQ(again, stat_of(FAR, "DupIn"));
	}
	EXPECT_LT(0, stat_of(NEAR, "SpuriousTimeouts"));
}

TEST_HARNESS_MAIN
