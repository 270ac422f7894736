// SPDX-License-Identifier: GPL-2.0
/*
 * The peer has received all data, and its connection has ended; of its answers one was lost, and
 * another was outdated when it arrived.  A sender that still sends PROBEs learns from the peer's
 * tombstone that all has arrived, and ends in order.
 *
 * Both ends are kernel sockets; the test forwards their packets (middle.h).
 */
#include "middle.h"

#define MTU		1280
#define SIZE		1000	/* bytes */

/* A packet arrives trimmed, then whole, and the sender gets the answer to the first alone. */
static bool doubling;
static __u32 doubled;
static unsigned int nacks, asked;

/* Reduce an answer of FAR to the packet that it is about.  Return: false if it is to be lost. */
static bool tells_of_one(struct packet *p)
{
	struct header *h = ndp_of(p);
	int type = ndp_type(p);

	if (type == PULL)
		return false;
	if (type == ACK && ntohl(h->psn) == doubled)
		return false;
	if (type == NACK)
		nacks++;
	if (type == ACK || type == NACK)
		h->flags &= ~HAS_PULL;
	if (type == DATA || type == FIN)
		h->flags &= ~CUM;
	seal(p);
	return true;
}

/* FAR's connection has ended, and its answers pass unchanged. */
static bool over;

static void carry(struct packet *p)
{
	struct packet whole = *p;

	if (p->from == FAR && doubling && !over && !tells_of_one(p))
		return;
	if (p->from == NEAR && over)
		asked += ndp_type(p) == PROBE;
	if (p->from == NEAR && doubling && has_payload(p)) {
		doubled = ntohl(ndp_of(p)->psn);
		trim(p);
		deliver(p, 100);
		deliver(&whole, 200);
		return;
	}
	deliver(p, 100);
}

FIXTURE(over)
{
	int	l, s, a;
};

FIXTURE_VARIANT(over)
{
	int	family;		/* index into middle[] */
};

FIXTURE_VARIANT_ADD(over, ip4) { 0 };
FIXTURE_VARIANT_ADD(over, ip6) { 1 };

FIXTURE_SETUP(over)
{
	ASSERT_EQ(0, lay_middle(MTU));
	meddle = carry;
	world = &middle[variant->family];
	ASSERT_TRUE(open_connection(NULL, &self->l, &self->s, &self->a));
	settle();
}

FIXTURE_TEARDOWN(over)
{
}

TEST_F(over, who_waits_for_a_pull_hears_of_it)
{
	unsigned long long given_up = stat_of(NEAR, "GivenUp");
	char out[SIZE], in[SIZE];
	__u64 end;

	memset(out, 'y', sizeof(out));
	doubling = true;
	ASSERT_EQ(SIZE, send(self->s, out, SIZE, 0));
	close(self->s);
	ASSERT_TRUE(forward_until(is_readable, self->a, 10));
	ASSERT_EQ(SIZE, recv(self->a, in, SIZE, MSG_WAITALL));
	EXPECT_EQ(0, memcmp(in, out, SIZE));
	close(self->a);
	for (end = now_us() + patience(10) * 1000000ULL;
	     !stat_of(FAR, "Tombstones") && now_us() < end;)
		forward_packets(1000);
	ASSERT_LT(0, stat_of(FAR, "Tombstones"));
	EXPECT_LT(0, nacks);
	over = true;
	close(self->l);
	EXPECT_TRUE(forward_until_stat("SockInUse", 0, 10));
	EXPECT_LT(0, asked);
	EXPECT_EQ(given_up, stat_of(NEAR, "GivenUp"));
}

TEST_HARNESS_MAIN
