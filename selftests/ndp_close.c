// SPDX-License-Identifier: GPL-2.0
/*
 * How connections end when one side has closed both directions: its FIN announces that
 * (NDP_F_GONE), and a peer that closes thereupon sends no FIN of its own, but an ACK that ends the
 * connection (NDP_F_LAST).
 *
 * Both ends are kernel sockets; the test forwards their packets (middle.h).
 */
#include "middle.h"

#define MTU		1500
#define LONG		200		/* seconds */

/* Packets that were forwarded, by type; FINs among them with GONE; packets that were dropped. */
static unsigned long carried[TYPES];
static unsigned long gone, lost;

static void carry_on(struct packet *p)
{
	carried[ndp_type(p)]++;
	if (ndp_type(p) == FIN && ndp_of(p)->flags & GONE)
		gone++;
	pass(p);
}

FIXTURE(close)
{
	int l, s, a;
};

FIXTURE_VARIANT(close)
{
	int family;	/* index into middle[] */
};

FIXTURE_VARIANT_ADD(close, ip4) { .family = 0 };
FIXTURE_VARIANT_ADD(close, ip6) { .family = 1 };

/* A connection that has carried data both ways, all of it acknowledged. */
FIXTURE_SETUP(close)
{
	char c;

	ASSERT_EQ(0, lay_middle(MTU));
	world = &middle[variant->family];
	meddle = carry_on;
	ASSERT_TRUE(open_connection(NULL, &self->l, &self->s, &self->a));
	ASSERT_EQ(1, send(self->a, "x", 1, 0));
	ASSERT_TRUE(forward_until(is_readable, self->s, 10));
	ASSERT_EQ(1, recv(self->s, &c, 1, 0));
	settle();
	memset(carried, 0, sizeof(carried));
	gone = 0;
	lost = 0;
}

/* No socket and no memory is left, and no RST was sent. */
FIXTURE_TEARDOWN(close)
{
	close(self->l);
	EXPECT_TRUE(forward_until_stat("SockInUse", 0, 100));
	EXPECT_TRUE(forward_until_stat("MemBytes", 0, 10));
	EXPECT_EQ(0, carried[RST]);
	printf("# %lu FINs, %lu of them gone, %lu ACKs\n", carried[FIN], gone, carried[ACK]);
}

/* Wait for the peer's FIN and read the end at once, before the delayed ACK is due. */
static bool reads_the_end(int s)
{
	char c;

	return forward_until_each(is_readable, s, 10, 10) && !recv(s, &c, 1, 0);
}

/* Wait until both ends have forgotten the connection, and only the listener is left. */
static bool both_end(void)
{
	__u64 end = now_us() + patience(10) * 1000000ULL;

	while (stat_of(NEAR, "SockInUse") || stat_of(FAR, "SockInUse") != 1) {
		if (now_us() > end)
			return false;
		forward_packets_for(10);
	}
	return true;
}

/* One end closes, and the other one when it has read the end. */
static bool close_both(int first, int second)
{
	bool told;

	close(first);
	told = reads_the_end(second);
	close(second);
	return told && both_end();
}

/* The second end to close sends no FIN: two packets, whichever end closes first. */
TEST_F_TIMEOUT(close, upon_the_client, LONG)
{
	EXPECT_TRUE(close_both(self->s, self->a));
	if (!virtual_time())
		return;
	EXPECT_EQ(1, carried[FIN]);
	EXPECT_EQ(1, gone);
	EXPECT_EQ(1, carried[ACK]);
}

TEST_F_TIMEOUT(close, upon_the_server, LONG)
{
	EXPECT_TRUE(close_both(self->a, self->s));
	if (!virtual_time())
		return;
	EXPECT_EQ(1, carried[FIN]);
	EXPECT_EQ(1, gone);
	EXPECT_EQ(1, carried[ACK]);
}

/* That ACK is lost: the FIN is retransmitted, and answered by the tombstone. */
static void lose_the_ack(struct packet *p)
{
	if (ndp_type(p) == ACK && ndp_of(p)->flags & LAST && !lost) {
		lost++;
		return;
	}
	carry_on(p);
}

TEST_F_TIMEOUT(close, and_the_ack_is_lost, LONG)
{
	unsigned long hits = stat_of(FAR, "TombstoneHits");

	meddle = lose_the_ack;
	EXPECT_TRUE(close_both(self->s, self->a));
	EXPECT_EQ(1, lost);
	if (!virtual_time())
		return;
	EXPECT_EQ(2, carried[FIN]);
	EXPECT_EQ(1, carried[ACK]);
	EXPECT_EQ(1, stat_of(FAR, "TombstoneHits") - hits);
}

/* The server closes late: an ACK was sent already, and it has to send a FIN. */
TEST_F_TIMEOUT(close, late, LONG)
{
	close(self->s);
	EXPECT_TRUE(reads_the_end(self->a));
	forward_packets_for(100);
	EXPECT_LE(1, gone);
	if (virtual_time())
		EXPECT_EQ(1, gone);
	EXPECT_EQ(1, stat_of(NEAR, "SockInUse"));
	close(self->a);
	EXPECT_TRUE(both_end());
	if (virtual_time())
		EXPECT_EQ(2, carried[FIN]);
}

/* No answer has arrived yet: a FIN that may open the connection has no GONE, to get a FIN back. */
TEST_F_TIMEOUT(close, before_an_answer, LONG)
{
	int s = new_socket(NEAR, 0), a;

	ASSERT_EQ(0, connect_to(s, port));
	close(s);
	ASSERT_TRUE(forward_until(is_readable, self->l, 10));
	EXPECT_LE(1, carried[FIN]);
	EXPECT_EQ(0, gone);
	a = accept(self->l, NULL, NULL);
	ASSERT_LE(0, a);
	EXPECT_TRUE(reads_the_end(a));
	close(a);
	EXPECT_TRUE(close_both(self->s, self->a));
}

/* No GONE after a shutdown of writing, or with data in flight: the peer's FIN is still needed. */
TEST_F_TIMEOUT(close, half, LONG)
{
	shutdown(self->s, SHUT_WR);
	EXPECT_TRUE(reads_the_end(self->a));
	EXPECT_EQ(0, gone);
	close(self->a);
	EXPECT_TRUE(reads_the_end(self->s));
	close(self->s);
	EXPECT_TRUE(both_end());
	if (virtual_time())
		EXPECT_EQ(2, carried[FIN]);
}

TEST_F_TIMEOUT(close, with_data_under_way, LONG)
{
	char c;

	ASSERT_EQ(1, send(self->s, "y", 1, 0));
	close(self->s);
	EXPECT_TRUE(forward_until(is_readable, self->a, 10));
	EXPECT_EQ(1, recv(self->a, &c, 1, 0));
	EXPECT_TRUE(reads_the_end(self->a));
	if (virtual_time())
		EXPECT_EQ(0, gone);
	close(self->a);
	EXPECT_TRUE(both_end());
	if (virtual_time())
		EXPECT_EQ(2, carried[FIN]);
}

/* The peer writes after the close: nothing can read its data, and it is reset, as by TCP. */
TEST_F_TIMEOUT(close, and_the_other_writes, LONG)
{
	close(self->s);
	EXPECT_TRUE(reads_the_end(self->a));
	EXPECT_EQ(1, send(self->a, "z", 1, MSG_NOSIGNAL));
	forward_packets_for(100);
	EXPECT_EQ(-1, send(self->a, "z", 1, MSG_NOSIGNAL));
	EXPECT_EQ(EPIPE, errno);
	close(self->a);
	EXPECT_LE(1, carried[RST]);
	carried[RST] = 0;
}

static void lose_resets(struct packet *p)
{
	if (ndp_type(p) == RST)
		lost++;
	else
		carry_on(p);
}

static unsigned long pushed;

static void watch_pushes(struct packet *p)
{
	if (ndp_type(p) == DATA && ndp_of(p)->flags & SYN)
		pushed++;
	carry_on(p);
}

/*
 * The server has forgotten the connection, and its tombstone has expired: data that the client
 * pushes is refused, and does not open another connection in the middle of the stream.
 */
TEST_F_TIMEOUT(close, forgotten, LONG)
{
	struct linger abort = { 1, 0 };
	char c;

	if (!virtual_time())
		SKIP(goto end, "a tombstone takes its time");
	meddle = lose_resets;
	ASSERT_EQ(0, setsockopt(self->a, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort)));
	close(self->a);
	forward_packets_for(35000);
	EXPECT_EQ(1, lost);
	EXPECT_EQ(0, stat_of(FAR, "Tombstones"));
	meddle = watch_pushes;
	ASSERT_EQ(1, send(self->s, "y", 1, 0));
	EXPECT_TRUE(forward_until(has_error, self->s, 10));
	EXPECT_EQ(-1, recv(self->s, &c, 1, MSG_DONTWAIT));
	EXPECT_EQ(ECONNRESET, errno);
	EXPECT_EQ(1, pushed);
	EXPECT_FALSE(is_readable(self->l));
end:
	close(self->s);
	if (!virtual_time())
		close(self->a);
	EXPECT_TRUE(both_end());
	carried[RST] = 0;
}

static void one_way(struct packet *p)
{
	if (p->from == NEAR)
		carry_on(p);
}

/* All answers to an opening are lost: it is given up before it could be accepted once more. */
TEST_F_TIMEOUT(close, unanswered, LONG)
{
	int s = new_socket(NEAR, 0), a, timeout = 120000;
	__u64 begin = now_us();
	char c;

	if (!virtual_time())
		SKIP(goto end, "it takes half a minute");
	meddle = one_way;
	ASSERT_EQ(0, setsockopt(s, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof(timeout)));
	ASSERT_EQ(0, connect_to(s, port));
	ASSERT_EQ(1, send(s, "x", 1, 0));
	ASSERT_TRUE(forward_until(is_readable, self->l, 10));
	a = accept(self->l, NULL, NULL);
	ASSERT_LE(0, a);
	EXPECT_TRUE(forward_until(has_error, s, 110));
	printf("# it ends after %llu ms\n", (now_us() - begin) / 1000);
	EXPECT_LT(29000000, now_us() - begin);
	EXPECT_GT(31000000, now_us() - begin);
	EXPECT_EQ(-1, recv(s, &c, 1, MSG_DONTWAIT));
	EXPECT_EQ(ETIMEDOUT, errno);
	close(a);
	/* Until the tombstone has expired. */
	forward_packets_for(40000);
	EXPECT_FALSE(is_readable(self->l));
end:
	close(s);
	meddle = carry_on;
	EXPECT_TRUE(close_both(self->s, self->a));
	carried[RST] = 0;
}

static void lose_all(struct packet *p)
{
	lost++;
}

/* TCP's keepalive sysctls may be 0: the timer still pauses between its runs. */
TEST_F_TIMEOUT(close, kept_alive_at_once, LONG)
{
	const int yes = 1;

	ASSERT_EQ(0, setns(world->ns[NEAR], CLONE_NEWNET));
	ASSERT_TRUE(write_number("/proc/sys/net/ipv4/tcp_keepalive_time", 0));
	ASSERT_TRUE(write_number("/proc/sys/net/ipv4/tcp_keepalive_intvl", 0));
	ASSERT_EQ(0, setsockopt(self->s, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes)));
	meddle = lose_all;
	ASSERT_EQ(1, send(self->s, "y", 1, 0));
	forward_packets_for(100);
	EXPECT_LE(1, lost);
	EXPECT_GE(100, lost);
	meddle = carry_on;
	ASSERT_TRUE(forward_until(is_readable, self->a, 10));
	ASSERT_EQ(1, recv(self->a, &(char){ 0 }, 1, 0));
	EXPECT_TRUE(close_both(self->s, self->a));
}

TEST_HARNESS_MAIN
