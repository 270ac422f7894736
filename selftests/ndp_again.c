// SPDX-License-Identifier: GPL-2.0
/*
 * A packet that does not arrive, with each transport: it is retransmitted at most once per round
 * trip, at growing intervals if there is no answer, and packets behind it are not sent in vain.
 * Once it can arrive, all data arrives.
 *
 * Both ends are kernel sockets; the test forwards their packets (middle.h), withholds one for a
 * while, and counts.
 */
#include "middle.h"

/* Packets are so small that no loss is attributed to the path MTU. */
#define MTU		1280
#define FEW		10000
#define MANY		1000000
/* One-way delays, us, of round trips far below the minimum timeout, and near it. */
#define SHORT		20
#define LONG		500
/* How long the packet is withheld, ms */
#define WHILE		1000
/*
 * Copies of the lost packet: while packets behind it are acknowledged, until there is no room for
 * more; while the timeout doubles to 200 ms; and then five a second.
 */
#define MOST_LOST	(20 + 8 + 5 * WHILE / 1000 + 2)
/* Copies of each packet behind it, which the receiver may refuse before it. */
#define MOST_REFUSED	3

enum fate { LOST, TRIMMED };

static enum fate fate;
static unsigned int way;
static bool holding, hole_known;
static __u32 hole, highest;
/* DATA from the hole on; copies of the hole: their number, last time, shortest interval, us. */
static int data_seen, copies;
static __u64 copied_at;
static __u64 shortest;

static void count(__u32 psn)
{
	if (!hole_known) {
		hole = psn;
		highest = psn;
		hole_known = true;
	}
	if ((__s32)(psn - highest) > 0)
		highest = psn;
	data_seen++;
	if (psn != hole)
		return;
	if (copies && now_us() - copied_at < shortest)
		shortest = now_us() - copied_at;
	copied_at = now_us();
	copies++;
}

static void carry(struct packet *p)
{
	if (holding && has_payload(p) && p->from == NEAR) {
		count(ntohl(ndp_of(p)->psn));
		if (ntohl(ndp_of(p)->psn) == hole && fate == LOST)
			return;
		if (ntohl(ndp_of(p)->psn) == hole)
			trim(p);
	}
	deliver(p, way);
}

FIXTURE(again)
{
	int	l, s, a;
};

FIXTURE_VARIANT(again)
{
	int		family;	/* index into middle[] */
	const char	*transport;
};

FIXTURE_VARIANT_ADD(again, pulls) { 0, "ndp" };
FIXTURE_VARIANT_ADD(again, mprdma) { 0, "mprdma" };
FIXTURE_VARIANT_ADD(again, mprdma6) { 1, "mprdma" };
FIXTURE_VARIANT_ADD(again, dcqcn) { 0, "dcqcn" };
FIXTURE_VARIANT_ADD(again, dcqcn6) { 1, "dcqcn" };
FIXTURE_VARIANT_ADD(again, light) { 0, "light" };
FIXTURE_VARIANT_ADD(again, light6) { 1, "light" };

FIXTURE_SETUP(again)
{
	shell("modprobe -qa ndp_mprdma ndp_dcqcn ndp_light");
	ASSERT_EQ(0, lay_middle(MTU));
	meddle = carry;
	world = &middle[variant->family];
	ASSERT_TRUE(set_sysctl(NEAR, "lossless", 1));
	ASSERT_TRUE(set_sysctl(FAR, "lossless", 1));
	ASSERT_TRUE(open_connection(variant->transport, &self->l, &self->s, &self->a));
	nonblock(self->s);
	nonblock(self->a);
}

FIXTURE_TEARDOWN(again)
{
	close(self->s);
	close(self->a);
	close(self->l);
	EXPECT_TRUE(forward_until_stat("SockInUse", 0, 10));
}

/* Write the rest of @size bytes, as far as there is room. */
static void write_on(int s, int *sent, int size)
{
	static char buf[MANY];
	int i, n;

	for (i = *sent; i < size; i++)
		buf[i] = byte_at(i);
	n = send(s, buf + *sent, size - *sent, MSG_NOSIGNAL);
	*sent += n > 0 ? n : 0;
}

/* Send @size bytes, whose first packet does not arrive for a while. */
static void hold(int s, int *sent, int size)
{
	__u64 end = now_us() + WHILE * 1000;

	holding = true;
	shortest = -1;
	while (now_us() < end) {
		write_on(s, sent, size);
		forward_packets(1000);
	}
	holding = false;
	printf("# %d copies, %llu us apart at least, of %d packets %d transmissions\n", copies,
	       shortest, highest - hole + 1, data_seen);
}

/* Let all packets arrive.  Return: bytes that were received as they were sent. */
static int let_go(int s, int a, int sent, int size)
{
	__u64 end = now_us() + patience(20) * 1000000ULL;
	static char buf[MANY];
	int got = 0, i, n;

	while (got < size && now_us() < end) {
		write_on(s, &sent, size);
		forward_packets(1000);
		n = recv(a, buf + got, size - got, 0);
		got += n > 0 ? n : 0;
	}
	for (i = 0; i < got && buf[i] == byte_at(i); i++)
		;
	return i;
}

static void play(struct __test_metadata *_metadata, int s, int a, enum fate what, int size)
{
	int sent = 0;

	fate = what;
	way = what == LOST ? SHORT : LONG;
	ASSERT_TRUE(warm_up(s, a));
	hold(s, &sent, size);
	EXPECT_LT(1, copies);
	/* The interval is a difference of clock readings in us: 2 us are for rounding. */
	if (virtual_time())
		EXPECT_LE(2 * way - 2, shortest);
	if (what == LOST)
		EXPECT_GE(MOST_LOST, copies);
	/* In real time a late answer causes a timeout, which retransmits all packets in flight. */
	if (virtual_time())
		EXPECT_GE((int)(highest - hole) * MOST_REFUSED, data_seen - copies);
	EXPECT_EQ(size, let_go(s, a, sent, size));
}

TEST_F(again, lost_alone)
{
	play(_metadata, self->s, self->a, LOST, 1000);
}

TEST_F(again, lost_before_few)
{
	play(_metadata, self->s, self->a, LOST, FEW);
}

TEST_F(again, lost_before_many)
{
	play(_metadata, self->s, self->a, LOST, MANY);
}

TEST_F(again, trimmed_alone)
{
	play(_metadata, self->s, self->a, TRIMMED, 1000);
}

TEST_F(again, trimmed_before_few)
{
	play(_metadata, self->s, self->a, TRIMMED, FEW);
}

TEST_F(again, trimmed_before_many)
{
	play(_metadata, self->s, self->a, TRIMMED, MANY);
}

TEST_HARNESS_MAIN
