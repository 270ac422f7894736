// SPDX-License-Identifier: GPL-2.0
/*
 * How many packets a request and its answer take: ACKs ride on data that the applications write
 * (net/ndp/ack.c), and are sent by themselves if they write nothing.
 *
 * In real time an application may be slow, and its ACK is then sent by itself: packets are counted
 * in virtual time alone.
 */
#define NDP_WORLDS	(IN_WIRE | IN_WIRE6)
#include "life.h"

#define REQUEST		1000	/* bytes */
#define EXCHANGES	50

FIXTURE(exchange)
{
	int l, s, a;
};

FIXTURE_VARIANT(exchange)
{
	int ip6;
	int type;
};

FIXTURE_VARIANT_ADD(exchange, ip4) { 0, SOCK_STREAM };
FIXTURE_VARIANT_ADD(exchange, ip6) { 1, SOCK_STREAM };
FIXTURE_VARIANT_ADD(exchange, messages) { 0, SOCK_SEQPACKET };

static int socket_of(int end, int type)
{
	return setns(world->ns[end], CLONE_NEWNET) ? -1 : a_socket(type);
}

/* Packets of one kind that both ends have sent. */
static unsigned int sent(const char *name)
{
	return stat_of(NEAR, name) + stat_of(FAR, name);
}

static unsigned int sent_in_all(void)
{
	static const char *const kinds[] = {
		"DataOut", "OpenOut", "FinOut", "AckOut", "NackOut", "PullOut", "ProbeOut",
		"CookieOut", "RstOut",
	};
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		n += sent(kinds[i]);
	return n;
}

/* A request and its answer.  Return: did both arrive as they were sent? */
static bool exchange(int s, int a, int n)
{
	char out[REQUEST], in[REQUEST];

	memset(out, n, sizeof(out));
	if (send(s, out, sizeof(out), 0) != sizeof(out) ||
	    recv(a, in, sizeof(in), MSG_WAITALL) != sizeof(in) || memcmp(in, out, sizeof(in)))
		return false;
	memset(out, ~n, sizeof(out));
	return send(a, out, sizeof(out), 0) == sizeof(out) &&
	       recv(s, in, sizeof(in), MSG_WAITALL) == sizeof(in) && !memcmp(in, out, sizeof(in));
}

FIXTURE_SETUP(exchange)
{
	world = &worlds[1][variant->ip6 ? WIRE6 : WIRE];
	ndp = true;
	port = 7300;
	signal(SIGPIPE, SIG_IGN);
	self->l = socket_of(FAR, variant->type);
	ASSERT_EQ(0, bind_to(self->l, FAR, port));
	ASSERT_EQ(0, listen(self->l, 4));
	self->s = socket_of(NEAR, variant->type);
	ASSERT_EQ(0, connect_to(self->s, port));
	self->a = -1;
}

FIXTURE_TEARDOWN(exchange)
{
	close(self->s);
	close(self->a);
	close(self->l);
	EXPECT_TRUE(wait_for_stat("SockInUse", 0, 100));
}

/*
 * The request, the answer with the request's ACK, an ACK of the answer, which verifies a client
 * that the server does not know, the client's FIN, and the ACK by which the server ends.
 */
TEST_F(exchange, takes_five_packets)
{
	char out[REQUEST] = "request", in[REQUEST];
	unsigned int before = sent_in_all(), rode = sent("AckRodeOut");
	unsigned int near = stat_of(NEAR, "Tombstones"), far = stat_of(FAR, "Tombstones");

	ASSERT_EQ(REQUEST, send(self->s, out, REQUEST, 0));
	self->a = accept(self->l, NULL, NULL);
	ASSERT_LE(0, self->a);
	ASSERT_EQ(REQUEST, recv(self->a, in, REQUEST, MSG_WAITALL));
	EXPECT_EQ(0, memcmp(in, out, REQUEST));
	ASSERT_EQ(REQUEST, send(self->a, in, REQUEST, 0));
	ASSERT_EQ(REQUEST, recv(self->s, in, REQUEST, MSG_WAITALL));
	EXPECT_EQ(0, memcmp(in, out, REQUEST));
	close(self->s);
	ASSERT_EQ(0, recv(self->a, in, REQUEST, 0));
	close(self->a);
	EXPECT_TRUE(wait_for_rise(NEAR, "Tombstones", near, 10));
	EXPECT_TRUE(wait_for_rise(FAR, "Tombstones", far, 10));
	/* The acceptor's tombstone lasts 2 s, not 32: the client has nothing to retransmit. */
	EXPECT_GE(far, wait_for_most(FAR, "Tombstones", far, 10));
	if (!virtual_time())
		return;
	EXPECT_EQ(5, sent_in_all() - before);
	EXPECT_EQ(1, sent("AckRodeOut") - rode);
}

/* On an open connection two packets; the first answer's ACK is separate, to verify the client. */
TEST_F(exchange, on_an_open_connection)
{
	unsigned int before;
	char c;
	int i;

	ASSERT_EQ(1, send(self->s, "x", 1, 0));
	self->a = accept(self->l, NULL, NULL);
	ASSERT_LE(0, self->a);
	ASSERT_EQ(1, recv(self->a, &c, 1, 0));
	ASSERT_TRUE(exchange(self->s, self->a, 0));
	ASSERT_TRUE(exchange(self->s, self->a, 1));
	before = sent_in_all();
	for (i = 0; i < EXCHANGES; i++)
		ASSERT_TRUE(exchange(self->s, self->a, i));
	/* In real time a late answer causes a timeout. */
	if (!virtual_time())
		return;
	EXPECT_EQ(0, info_of(self->s).retrans);
	EXPECT_EQ(0, info_of(self->a).retrans);
	EXPECT_EQ(2 * EXCHANGES, sent_in_all() - before);
}

static bool all_acked(int s)
{
	int i, left = 1;

	for (i = 0; i < patience(10) * 100 && left; i++) {
		if (ioctl(s, SIOCOUTQ, &left))
			return false;
		usleep(10000);
	}
	return !left;
}

/* The connection is not even accepted: the ACK is sent by itself before a timeout. */
TEST_F(exchange, nobody_answers)
{
	unsigned int rtx = sent("DataRtx"), rode = sent("AckRodeOut");

	ASSERT_EQ(1, send(self->s, "x", 1, 0));
	EXPECT_TRUE(all_acked(self->s));
	EXPECT_EQ(rode, sent("AckRodeOut"));
	if (virtual_time())
		EXPECT_EQ(rtx, sent("DataRtx"));
	self->a = accept(self->l, NULL, NULL);
}

/* A series of small messages one way is not slowed down by ACKs that wait for answers. */
TEST_F(exchange, one_way)
{
	struct timespec from, to;
	unsigned int i, most;
	char c[REQUEST];

	ASSERT_EQ(1, send(self->s, "x", 1, 0));
	self->a = accept(self->l, NULL, NULL);
	ASSERT_LE(0, self->a);
	ASSERT_EQ(1, recv(self->a, c, 1, 0));
	ASSERT_TRUE(all_acked(self->s));
	most = 4 * info_of(self->s).iw;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < most; i++) {
		memset(c, i, sizeof(c));
		ASSERT_EQ(REQUEST, send(self->s, c, REQUEST, 0));
	}
	for (i = 0; i < most; i++) {
		ASSERT_EQ(REQUEST, recv(self->a, c, REQUEST, MSG_WAITALL));
		ASSERT_EQ((char)i, c[REQUEST - 1]);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (virtual_time())
		/* Twice the time that they take with their headers at 1 Gb/s. */
		EXPECT_GT(most * 2 * (REQUEST + 100) * 8, to.tv_nsec - from.tv_nsec +
			  (to.tv_sec - from.tv_sec) * 1000000000ULL);
	EXPECT_TRUE(all_acked(self->s));
}

TEST_HARNESS_MAIN
