// SPDX-License-Identifier: GPL-2.0
/*
 * A packet that does not arrive, of whatever transport: it is sent again no faster than once a
 * round trip, less and less often where nobody answers it, and what is behind it is not sent
 * for nothing.  When it can arrive, all does.
 *
 * Both ends are the kernel's; the test carries their packets, one of them not for a while
 * (middle.h), and counts.
 */
#include "middle.h"

/* No packet is so large that its loss could tell of an MTU. */
#define MTU		1280
#define FEW		10000
#define MANY		1000000
/* Of round trips that are far below the least timeout, and of such as are near it: one way, us. */
#define SHORT		20
#define LONG		500
/* ms */
#define WHILE		1000
/*
 * Copies of what is lost: while what is behind it is acknowledged, until there is no room for
 * more; while the timeout doubles to 200 ms; and then five a second.
 */
#define MOST_LOST	(20 + 8 + 5 * WHILE / 1000 + 2)
/* Copies of each other packet that cannot be taken before it. */
#define MOST_REFUSED	3

enum fate { LOST, TRIMMED };

static enum fate fate;
static unsigned int way;
static bool holding, hole_known;
static __u32 hole, highest;
/* DATA with payload, from the packet on; of that the packet, when, and us between two at least. */
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
	int		family;	/* of middle[] */
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

/* Write what of @size bytes is left. */
static void write_on(int s, int *sent, int size)
{
	static char buf[MANY];
	int i, n;

	for (i = *sent; i < size; i++)
		buf[i] = byte_at(i);
	n = send(s, buf + *sent, size - *sent, MSG_NOSIGNAL);
	*sent += n > 0 ? n : 0;
}

/* The first of @size bytes does not arrive for a while. */
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

/* And then all arrives.  Return: how much, as it was sent. */
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
	/* Clocks are read before and after, and time is counted in us. */
	if (virtual_time())
		EXPECT_LE(2 * way - 2, shortest);
	if (what == LOST)
		EXPECT_GE(MOST_LOST, copies);
	/* Where time is real a late answer is a timeout, and all in flight is sent again. */
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
