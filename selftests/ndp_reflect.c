// SPDX-License-Identifier: GPL-2.0
/*
 * A server whose client's address may be spoofed: how much a forged opening makes it send to a
 * third host, what proves the client's address, and what the proof costs honest clients.
 *
 *	NEAR: the kernel's server, which has a lot to send.  FAR: the forged address.
 */
#include "middle.h"
#include "liar.h"

#include <linux/icmp.h>
#include <linux/icmpv6.h>

#define LOTS		1000000		/* bytes: more than any window here */
#define MTU		1500
#define LONG		600		/* seconds */
#define FACTOR		3		/* net.ndp.amplification */

FIXTURE(forged)
{
	int		listener;
	int		fd;
	struct packet	opening;
};

FIXTURE_VARIANT(forged)
{
	int family;	/* index into middle[] */
};

FIXTURE_VARIANT_ADD(forged, ip4) { .family = 0 };
FIXTURE_VARIANT_ADD(forged, ip6) { .family = 1 };

static __u32 first_psn(void)
{
	return ntohl(ndp_of(&heard.first[DATA])->psn);
}

/* The server's socket, which has written all it could to the forged address. */
static int answer(int listener)
{
	static char buf[LOTS];
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		return -1;
	nonblock(fd);
	while (send(fd, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
	return fd;
}

FIXTURE_SETUP(forged)
{
	ASSERT_EQ(0, lay_middle(MTU));
	world = &middle[variant->family];
	self->listener = new_socket(NEAR, SOCK_NONBLOCK);
	ASSERT_EQ(0, bind_to(self->listener, NEAR, port));
	ASSERT_EQ(0, listen(self->listener, 8));
	ASSERT_TRUE(an_opening(&self->opening));
	memset(&heard, 0, sizeof(heard));
	drop_by_drop(&self->opening, 0);
	settle();
	self->fd = answer(self->listener);
	ASSERT_LE(0, self->fd);
	settle();
	ASSERT_LT(0, heard.count[DATA]);
}

FIXTURE_TEARDOWN(forged)
{
	close(self->listener);
	close_hard(self->fd);
	forward_packets_for(10);
	EXPECT_TRUE(forward_until_stat("SockInUse", 0, 60));
	EXPECT_TRUE(forward_until_stat("MemBytes", 0, 10));
}

/* Bytes of the forged packet, IP header included. */
static int opening_bytes(struct packet *opening)
{
	return ip_len(opening) + sizeof(struct udphdr) + HDR_LEN + CRC_LEN + 1;
}

/* At most FACTOR times the bytes received were sent, apart from challenges, one per timeout. */
static bool is_within_limit(struct packet *opening)
{
	int one = ip_len(opening) + sizeof(struct udphdr) + HDR_LEN;
	int challenges = heard.count[COOKIE] * one;
	int most = FACTOR * opening_bytes(opening) + challenges;

	printf("# %u bytes came of %d, %d of them challenges\n", heard.bytes,
	       opening_bytes(opening), challenges);
	return heard.bytes <= (unsigned int)most;
}

/* Has the whole first window left? */
static bool is_released(int fd)
{
	struct ndp_info info = info_of(fd);

	if (heard.count[DATA] >= (int)info.iw)
		return true;
	printf("# %d packets of %u\n", heard.count[DATA], info.iw);
	return false;
}

/* Was a token given?  Only a peer that is verified gets one. */
static bool is_verified(void)
{
	return heard.count[COOKIE] && ndp_of(&heard.last[COOKIE])->flags & TOKEN;
}

/* For half a minute; the challenges are fewer than if their interval doubled from 1 ms on. */
TEST_F_TIMEOUT(forged, gets_no_more_than_thrice, LONG)
{
	EXPECT_EQ(1, stat_of(NEAR, "HeldBack"));
	EXPECT_TRUE(is_within_limit(&self->opening));
	forward_packets_for(scaled(60000));
	EXPECT_TRUE(is_within_limit(&self->opening));
	EXPECT_EQ(1, heard.count[DATA]);
	EXPECT_GT(17, heard.count[COOKIE]);
	EXPECT_EQ(0, heard.count[PROBE]);
	if (!virtual_time())
		return;
	EXPECT_EQ(1, stat_of(NEAR, "UnverifiedEnded") + stat_of(NEAR, "GivenUp"));
	EXPECT_EQ(ETIMEDOUT, get_int(self->fd, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(0, heard.count[RST]);
}

/* Guessing a PSN is not made easier by an ACK that names all PSNs around it. */
TEST_F(forged, names_many_in_one_ack)
{
	tell_acks(&heard.first[DATA], first_psn() + 1000, first_psn() - 32, ~0ULL, 16, 0);
	settle();
	EXPECT_EQ(1, heard.count[DATA]);
	EXPECT_EQ(0, stat_of(NEAR, "AckJoinedIn"));
	EXPECT_FALSE(is_verified());
}

/* The answer to the first packet releases the whole window, and is rewarded by a token. */
TEST_F(forged, answers_what_it_got)
{
	struct packet first = heard.first[DATA];

	tell(&first, ACK, HAS_PULL, first_psn(), 0, ROOM);
	settle();
	EXPECT_TRUE(is_released(self->fd));
	EXPECT_TRUE(is_verified());
}

/* A NACK releases the window too, if the first packet was trimmed. */
TEST_F(forged, answers_what_was_trimmed)
{
	tell(&heard.first[DATA], NACK, HAS_PULL, first_psn(), 1, ROOM);
	settle();
	EXPECT_TRUE(is_released(self->fd));
}

/*
 * Guesses: answers with the right PSN but another path, cumulative ones, ones to packets that were
 * not sent, and cookies and tokens that were never issued.
 */
TEST_F(forged, guesses)
{
	__u64 begin = now_us();
	int i;

	tell(&heard.first_again, PULL, 0, first_psn() + 1, 1, ROOM);
	/* The connection is given up after thirty seconds: a slow machine guesses for ten. */
	for (i = 1; i < 4096 && (virtual_time() || now_us() - begin < 10000000); i++) {
		struct packet p = heard.first_again;

		tell(&p, ACK, 0, first_psn() + 1000 + i, 0, ROOM);
		tell(&p, COOKIE, i & 1 ? TOKEN : 0, 1000, i, i);
		/* A path that does not exist: those that do differ in the lowest five bits. */
		ndp_of(&p)->path ^= htons((i % 1023 + 1) * 64);
		tell(&p, NACK, 0, first_psn(), 0, ROOM);
		if (i % 100 == 0)
			settle();
	}
	settle();
	EXPECT_FALSE(is_verified());
	tell(&heard.first_again, NACK, 0, first_psn(), 0, ROOM);
	settle();
	EXPECT_TRUE(is_verified());
}

/* The client returns the cookie of the challenge. */
TEST_F(forged, shows_a_cookie)
{
	const struct header *h;

	forward_packets_for(virtual_time() ? 100 : 1000);
	ASSERT_LT(0, heard.count[COOKIE]);
	h = ndp_of(&heard.last[COOKIE]);
	tell(&heard.last[COOKIE], COOKIE, 0, 1000, ntohl(h->psn_off), ntohl(h->window));
	settle();
	EXPECT_TRUE(is_released(self->fd));
}

/* A client that has a token is sent a first window at once. */
TEST_F(forged, shows_a_token)
{
	struct packet first = heard.first[DATA], token;
	int fd, good;

	tell(&first, ACK, HAS_PULL, first_psn(), 0, ROOM);
	settle();
	token = heard.last[COOKIE];
	for (good = 0; good <= 1; good++) {
		memset(&heard, 0, sizeof(heard));
		ndp_of(&self->opening)->conn_id++;
		ndp_of(&token)->conn_id = ndp_of(&self->opening)->conn_id;
		tell(&token, COOKIE, SYN | TOKEN, 1000, ntohl(ndp_of(&token)->psn_off) ^ !good,
		     ntohl(ndp_of(&token)->window));
		drop_by_drop(&self->opening, 0);
		settle();
		fd = answer(self->listener);
		ASSERT_LE(0, fd);
		settle();
		EXPECT_EQ(good, is_released(fd));
		close_hard(fd);
	}
}

/* A token accompanies an opening; without a listener only the opening is answered by a RST. */
TEST_F(forged, shows_nobody_a_token)
{
	struct packet first = heard.first[DATA], token;

	tell(&first, ACK, HAS_PULL, first_psn(), 0, ROOM);
	settle();
	token = heard.last[COOKIE];
	close(self->listener);
	self->listener = -1;
	memset(&heard, 0, sizeof(heard));
	ndp_of(&self->opening)->conn_id++;
	ndp_of(&token)->conn_id = ndp_of(&self->opening)->conn_id;
	tell(&token, COOKIE, SYN | TOKEN, 1000, ntohl(ndp_of(&token)->psn_off),
	     ntohl(ndp_of(&token)->window));
	settle();
	EXPECT_EQ(1, stat_of(NEAR, "DropNoListener"));
	EXPECT_EQ(0, heard.count[RST]);
	drop_by_drop(&self->opening, 0);
	settle();
	EXPECT_EQ(1, heard.count[RST]);
}

/* "Port unreachable" for @p, from its addressee. */
static void refuse(const struct packet *p)
{
	int at = is_ip6(p) ? 8 : 12, both = is_ip6(p) ? 32 : 8, len = p->len;
	int head = ip_len(p) + sizeof(struct icmphdr);
	struct packet answer = { .from = p->from };
	struct icmphdr *icmp = (void *)(answer.data + ip_len(p));
	__u32 sum;

	memcpy(answer.data, p->data, ip_len(p));
	memcpy(answer.data + head, p->data, len);
	answer.len = head + len;
	turn_round(&answer);
	icmp->type = is_ip6(p) ? ICMPV6_DEST_UNREACH : ICMP_DEST_UNREACH;
	icmp->code = is_ip6(p) ? ICMPV6_PORT_UNREACH : ICMP_PORT_UNREACH;
	len += sizeof(*icmp);
	sum = is_ip6(p) ? (__u16)~fold(answer.data + at, both, IPPROTO_ICMPV6 + len) : 0;
	icmp->checksum = htons(fold(icmp, len, sum));
	if (is_ip6(p)) {
		struct ip6_hdr *ip6 = (void *)answer.data;

		ip6->ip6_nxt = IPPROTO_ICMPV6;
		ip6->ip6_plen = htons(len);
	} else {
		struct iphdr *ip = (void *)answer.data;

		ip->protocol = IPPROTO_ICMP;
		ip->tot_len = htons(answer.len);
		seal_ip(&answer);
	}
	arrive(&answer);
}

/* The host at the forged address does not have NDP. */
TEST_F(forged, is_refused)
{
	__u32 before;

	refuse(&heard.first[DATA]);
	settle();
	EXPECT_EQ(ECONNREFUSED, get_int(self->fd, SOL_SOCKET, SO_ERROR));
	before = heard.bytes;
	forward_packets_for(scaled(5000));
	EXPECT_EQ(before, heard.bytes);
}

/* Without the limit nothing is held back: the next connection gets a first window. */
TEST_F(forged, on_a_trusted_fabric)
{
	int fd;

	ASSERT_TRUE(set_sysctl(NEAR, "amplification", 0));
	memset(&heard, 0, sizeof(heard));
	ndp_of(&self->opening)->conn_id++;
	drop_by_drop(&self->opening, 0);
	settle();
	fd = answer(self->listener);
	ASSERT_LE(0, fd);
	settle();
	EXPECT_TRUE(is_released(fd));
	close_hard(fd);
}

/*
 * When more than half of the backlog is used, openings need a cookie, but not forever: forged
 * connections are then ended within seconds; a client that shows a cookie stays.
 */
TEST_F_TIMEOUT(forged, fills_the_backlog, LONG)
{
	unsigned long long opens;
	const struct header *h;
	int fd[5], i;

	for (i = 0; i < 5; i++) {
		ndp_of(&self->opening)->conn_id++;
		drop_by_drop(&self->opening, 0);
		settle();
		fd[i] = accept(self->listener, NULL, NULL);
	}
	EXPECT_LE(0, fd[3]);
	EXPECT_EQ(-1, fd[4]);
	/* One more opening is refused without a cookie, and accepted later. */
	for (i = 0; i <= 1; i++) {
		opens = stat_of(NEAR, "PassiveOpens");
		ndp_of(&self->opening)->conn_id++;
		memset(&heard, 0, sizeof(heard));
		drop_by_drop(&self->opening, 0);
		settle();
		EXPECT_EQ(opens + i, stat_of(NEAR, "PassiveOpens"));
		EXPECT_EQ(i, heard.count[ACK]);
		if (!i)
			forward_packets_for(20000);
	}
	EXPECT_LT(0, stat_of(NEAR, "UnverifiedEnded"));
	/* Nothing is sent on this connection; its client answers the challenge. */
	fd[4] = accept(self->listener, NULL, NULL);
	ASSERT_LE(0, fd[4]);
	forward_packets_for(1500);
	ASSERT_LE(1, heard.count[COOKIE]);
	h = ndp_of(&heard.last[COOKIE]);
	tell(&heard.last[COOKIE], COOKIE, 0, 1000, ntohl(h->psn_off), ntohl(h->window));
	forward_packets_for(scaled(40000));
	EXPECT_EQ(0, get_int(fd[4], SOL_SOCKET, SO_ERROR));
	for (i = 0; i < 5; i++)
		close_hard(fd[i]);
}

/* An unverified connection lasts half a minute, and a third of that while memory is short. */
TEST_F_TIMEOUT(forged, is_ended_while_memory_is_short, LONG)
{
	forward_packets_for(6000);
	EXPECT_EQ(0, stat_of(NEAR, "UnverifiedEnded"));
	ASSERT_TRUE(set_sysctl(NEAR, "mem_max_kb", 1));
	forward_packets_for(10000);
	EXPECT_EQ(1, stat_of(NEAR, "UnverifiedEnded"));
	EXPECT_EQ(ETIMEDOUT, get_int(self->fd, SOL_SOCKET, SO_ERROR));
}

/*
 * An unverified connection that is not accepted is ended early, too, once its listener's
 * connections hold all memory that they may; its out-of-order packets are freed.  One that was
 * accepted stays.
 */
TEST_F_TIMEOUT(forged, is_ended_while_its_listener_is_full, LONG)
{
	int room = 32 << 20, i;
	unsigned long long held;

	ASSERT_EQ(0, setsockopt(self->listener, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)));
	/* The second packet never arrives; each connection may have some 4000 packets behind it. */
	for (i = 0; i < 8000 && !stat_of(NEAR, "NoRoomIn"); i++) {
		ndp_of(&self->opening)->conn_id += i % 4000 == 0;
		drop_by_drop(&self->opening, i % 4000 ? i % 4000 + 1 : 0);
		if (i % 100 == 0)
			settle();
	}
	settle();
	held = stat_of(NEAR, "MemBytes");
	printf("# %d packets, %llu bytes are held\n", i, held);
	ASSERT_LT(0, stat_of(NEAR, "NoRoomIn"));
	EXPECT_LT(1ULL << 20, held);
	EXPECT_EQ(0, stat_of(NEAR, "UnverifiedEnded"));
	forward_packets_for(6000);
	EXPECT_LE(1, stat_of(NEAR, "UnverifiedEnded"));
	/* The one that holds most is ended first, unless both have become old on a slow machine. */
	if (virtual_time())
		EXPECT_GT(held - (1 << 20), stat_of(NEAR, "MemBytes"));
	EXPECT_GT(held, stat_of(NEAR, "MemBytes"));
	EXPECT_EQ(0, get_int(self->fd, SOL_SOCKET, SO_ERROR));
}

/* Packets that keep arriving hasten the next challenge, but do not delay the end. */
TEST_F_TIMEOUT(forged, goes_on_and_stops, LONG)
{
	int fd, i;

	ndp_of(&self->opening)->conn_id++;
	drop_by_drop(&self->opening, 0);
	settle();
	fd = accept(self->listener, NULL, NULL);
	ASSERT_LE(0, fd);
	for (i = 0; i < 25; i++) {
		forward_packets_for(1000);
		drop_by_drop(&self->opening, 0);
	}
	EXPECT_EQ(0, get_int(fd, SOL_SOCKET, SO_ERROR));
	forward_packets_for(10000);
	EXPECT_EQ(ETIMEDOUT, get_int(fd, SOL_SOCKET, SO_ERROR));
	close_hard(fd);
}

/*
 * While openings need a cookie, nothing is pulled from an unverified connection, even when its
 * reader makes room; once it has shown a cookie, the pulls that it has earned are sent.
 */
TEST_F(forged, is_not_pulled_from)
{
	unsigned long long pulled;
	const struct header *h;
	int fd[4], i;
	char c;

	for (i = 0; i < 4; i++) {
		ndp_of(&self->opening)->conn_id++;
		drop_by_drop(&self->opening, 0);
		settle();
		fd[i] = accept(self->listener, NULL, NULL);
		ASSERT_LE(0, fd[i]);
	}
	pulled = stat_of(NEAR, "PulledOut");
	EXPECT_LT(0, pulled);
	memset(&heard, 0, sizeof(heard));
	/* Do not record the challenges of other connections, whose timers expire meanwhile. */
	heard.only = ndp_of(&self->opening)->conn_id;
	drop_by_drop(&self->opening, 1);
	settle();
	EXPECT_EQ(1, recv(fd[3], &c, 1, 0));
	EXPECT_EQ(1, recv(fd[3], &c, 1, 0));
	settle();
	EXPECT_EQ(pulled, stat_of(NEAR, "PulledOut"));
	ASSERT_LT(0, heard.count[COOKIE]);
	h = ndp_of(&heard.last[COOKIE]);
	tell(&heard.last[COOKIE], COOKIE, 0, 1000, ntohl(h->psn_off), ntohl(h->window));
	EXPECT_TRUE(wait_for_rise(NEAR, "PulledOut", pulled, 5));
	for (i = 0; i < 4; i++)
		close_hard(fd[i]);
}

/* A kernel socket as client: only its first large answer waits for a round trip. */
TEST_F_TIMEOUT(forged, is_an_honest_client, LONG)
{
	union address to = address(NEAR, port);
	unsigned long long cookies = 0, held = 2;
	static char buf[100000];
	int i, c, s, n, got;

	for (i = 0; i < 3; i++) {
		meddle = pass;
		c = new_socket(FAR, SOCK_NONBLOCK);
		connect(c, &to.any, address_len());
		ASSERT_EQ(1, send(c, "x", 1, 0));
		settle();
		s = accept(self->listener, NULL, NULL);
		ASSERT_LE(0, s);
		ASSERT_EQ((ssize_t)sizeof(buf), send(s, buf, sizeof(buf), 0));
		for (got = 0; got < (int)sizeof(buf); got += n > 0 ? n : 0) {
			forward_packets(1000);
			n = recv(c, buf, sizeof(buf), 0);
			ASSERT_NE(0, n);
		}
		/* The first connection is challenged if its answer takes longer than a timeout. */
		if (!i && !virtual_time())
			cookies = stat_of(FAR, "CookieOut");
		else
			EXPECT_EQ(cookies + i, stat_of(FAR, "CookieOut"));
		/*
		 * The forged client's connection, and this client's first one, unless it has proved
		 * its address before there was any data to hold back.
		 */
		if (!i && cookies)
			held = stat_of(NEAR, "HeldBack") == 1 ? 1 : 2;
		EXPECT_EQ(held, stat_of(NEAR, "HeldBack"));
		close(c);
		close(s);
		forward_packets_for(100);
	}
}

TEST_HARNESS_MAIN
