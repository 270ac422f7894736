// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that lies: one end of each connection is a kernel socket, the other this program, which
 * knows the connection id and answers as it likes.  Whatever it answers, the kernel holds and sends
 * no more than the connection's limits allow, and other connections still work.
 */
#include "middle.h"
#include "liar.h"

#define LOTS		1000000		/* bytes: more than any window here */
#define MTU		1500
#define LONG		300		/* seconds */

static int distinct(void)
{
	return heard.count[DATA] ? heard.highest - ntohl(ndp_of(&heard.first[DATA])->psn) + 1 : 0;
}

static __u32 psn_of(struct packet *p)
{
	return ntohl(ndp_of(p)->psn);
}

/* A kernel socket that has written all it could, and whose packets were recorded. */
static int writer(void)
{
	static char buf[LOTS];
	int s;

	memset(&heard, 0, sizeof(heard));
	meddle = listen_only;
	s = new_socket(NEAR, SOCK_NONBLOCK);
	if (s < 0 || connect_to(s, port) || send(s, buf, sizeof(buf), 0) < 0)
		return -1;
	while (send(s, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
	settle();
	/* Later packets may be shorter: unanswered ones may have been too long for the path. */
	heard.window = info_of(s).iw * heard.longest;
	return heard.count[DATA] ? s : -1;
}

/* Was a whole first window sent, and no more? */
static bool one_window(void)
{
	if (heard.fresh <= heard.window && heard.fresh + MTU > heard.window)
		return true;
	printf("# %u bytes, window %u\n", heard.fresh, heard.window);
	return false;
}

/* Does the writer hold no more memory than its buffers allow, and one packet? */
static bool is_bounded(int s)
{
	unsigned long long bytes = stat_of(NEAR, "MemBytes");
	int most = get_int(s, SOL_SOCKET, SO_SNDBUF) + get_int(s, SOL_SOCKET, SO_RCVBUF) + 8192;

	if (bytes <= (unsigned int)most)
		return true;
	printf("# %llu bytes, bound %d\n", bytes, most);
	return false;
}

/* Does another connection of the same host work? */
static bool others_go_on(void)
{
	static struct world home;
	const struct world *was = world;
	int id = 0, l, s, a;

	home = *world;
	home.ns[FAR] = home.ns[NEAR];
	home.address[NEAR] = is_ip6_world() ? "::1" : "127.0.0.1";
	home.address[FAR] = home.address[NEAR];
	world = &home;
	port++;
	l = listening(4);
	s = connect_and_send(4711);
	a = let_in(l, &id);
	close(a);
	close(s);
	close(l);
	port--;
	world = was;
	return id == 4711;
}

static bool all_gone(int s)
{
	close_hard(s);
	forward_packets_for(10);
	return forward_until_stat("SockInUse", 0, 60) && forward_until_stat("MemBytes", 0, 10);
}

FIXTURE(liar)
{
	int s;
};

FIXTURE_VARIANT(liar)
{
	int family;	/* index into middle[] */
};

FIXTURE_VARIANT_ADD(liar, ip4) { .family = 0 };
FIXTURE_VARIANT_ADD(liar, ip6) { .family = 1 };

FIXTURE_SETUP(liar)
{
	ASSERT_EQ(0, lay_middle(MTU));
	world = &middle[variant->family];
	self->s = writer();
	ASSERT_LE(0, self->s);
}

FIXTURE_TEARDOWN(liar)
{
	EXPECT_TRUE(is_bounded(self->s));
	EXPECT_TRUE(others_go_on());
	EXPECT_TRUE(all_gone(self->s));
}

/* Without any answer the first window is sent, and no more. */
TEST_F_TIMEOUT(liar, says_nothing, LONG)
{
	struct ndp_info info = info_of(self->s);

	EXPECT_TRUE(one_window());
	/* A window again at each timeout, which doubles: fewer than one each 100 ms. */
	forward_packets_for(scaled(10000));
	EXPECT_TRUE(one_window());
	EXPECT_GE(100 * info.iw, (unsigned int)heard.count[DATA]);
	/* Without any answer the connection ends: after 30 s by default. */
	if (!virtual_time())
		set_int(self->s, IPPROTO_TCP, TCP_USER_TIMEOUT, 3000);
	EXPECT_TRUE(forward_until(has_error, self->s, 60));
	EXPECT_EQ(ETIMEDOUT, get_int(self->s, SOL_SOCKET, SO_ERROR));
}

TEST_F(liar, acknowledges_what_was_not_sent)
{
	struct ndp_info before = info_of(self->s), after;
	__u32 psn = heard.highest;
	int i;

	for (i = 1; i < 5000; i++)
		tell(&heard.last[DATA], ACK, 0, psn + i, 0, ROOM);
	tell(&heard.last[DATA], PULL, 0, psn + 5000, 0, ROOM);
	settle();
	after = info_of(self->s);
	EXPECT_EQ(0, after.bytes_acked);
	EXPECT_EQ(before.snd_inflight + before.snd_rtx_queue,
		  after.snd_inflight + after.snd_rtx_queue);
	EXPECT_TRUE(one_window());
}

/* The writer's unacknowledged packets; it may send no others. */
static unsigned int in_flight(int s)
{
	settle();
	/* Packets that have timed out may wait for pulls. */
	return info_of(s).snd_inflight + info_of(s).snd_rtx_queue;
}

/* One ACK acknowledges all packets that it names, or the one in its header alone. */
TEST_F(liar, names_many_in_one_ack)
{
	__u32 first = psn_of(&heard.first[DATA]);
	unsigned int n = in_flight(self->s);

	ASSERT_LT(7, n);
	tell_acks(&heard.first[DATA], first, first, 0, 16, 0);
	EXPECT_EQ(n - 1, in_flight(self->s));
	/* With a wrong CRC, and cut short. */
	tell_acks(&heard.first[DATA], first + 1, first, ~0ULL, 16, 1);
	EXPECT_EQ(n - 2, in_flight(self->s));
	EXPECT_EQ(1, stat_of(NEAR, "CrcIn"));
	tell_acks(&heard.first[DATA], first + 2, first, ~0ULL, 12, 0);
	EXPECT_EQ(n - 3, in_flight(self->s));
	/* Packets that were never sent. */
	tell_acks(&heard.first[DATA], first + 10000, first + 10000, ~0ULL, 16, 0);
	tell_acks(&heard.first[DATA], first - 1, first - 64, ~0ULL, 16, 0);
	EXPECT_EQ(n - 3, in_flight(self->s));
	EXPECT_EQ(0, stat_of(NEAR, "AckJoinedIn"));
	/* The fourth packet, and by the bitmap the fifth and the seventh; and the same again. */
	tell_acks(&heard.first[DATA], first + 3, first, 0x58, 16, 0);
	EXPECT_EQ(n - 6, in_flight(self->s));
	EXPECT_EQ(2, stat_of(NEAR, "AckJoinedIn"));
	tell_acks(&heard.first[DATA], first + 3, first, 0x58, 16, 0);
	EXPECT_EQ(n - 6, in_flight(self->s));
}

/* DATA and FIN may carry a cumulative ACK: valid only for packets that were sent. */
TEST_F(liar, acknowledges_by_data)
{
	struct packet *opening = &heard.first[DATA];
	__u32 first = psn_of(opening);
	unsigned int n = in_flight(self->s);
	struct packet fin;

	ASSERT_LT(7, n);
	tell_data(opening, 0, CUM, first + n + 1, true);
	tell_data(opening, 1, CUM, first - 1, true);
	tell_data(opening, 2, 0, first + 3, true);
	EXPECT_EQ(n, in_flight(self->s));
	EXPECT_EQ(0, stat_of(NEAR, "AckRodeIn"));
	tell_data(opening, 3, CUM, first + 3, true);
	EXPECT_EQ(n - 3, in_flight(self->s));
	/* A trimmed packet carries it too. */
	tell_data(opening, 4, CUM, first + 4, false);
	EXPECT_EQ(n - 4, in_flight(self->s));
	fin = answer_to(opening, FIN, CUM, 1005, 5, first + 5);
	ndp_of(&fin)->len = 0;
	seal(&fin);
	arrive(&fin);
	EXPECT_EQ(n - 5, in_flight(self->s));
	EXPECT_EQ(3, stat_of(NEAR, "AckRodeIn"));
}

/* ACKs, and retransmitted DATA that carries one. */
static unsigned int acks_out(void)
{
	return heard.count[ACK] + stat_of(NEAR, "AckRodeOut");
}

/* The ACK of one packet is delayed if the packet has LATER, and for a limited time. */
TEST_F(liar, is_answered_later)
{
	struct packet *opening = &heard.first[DATA];
	unsigned int i, acks;

	tell_data(opening, 0, LAST, 0, true);
	forward_packets(10);
	EXPECT_EQ(1, acks_out());
	for (i = 1; i < 4; i++) {
		acks = acks_out();
		tell_data(opening, i, LAST | LATER, 0, true);
		forward_packets(10);
		if (virtual_time())
			EXPECT_EQ(acks, acks_out());
		settle();
		EXPECT_EQ(acks + 1, acks_out());
		if (virtual_time())
			EXPECT_EQ(1000U + i, psn_of(&heard.last[ACK]));
	}
	/* A second packet that arrives in time has both acknowledged. */
	acks = acks_out();
	tell_data(opening, 4, LAST | LATER, 0, true);
	tell_data(opening, 5, LAST | LATER, 0, true);
	forward_packets(10);
	if (virtual_time())
		EXPECT_EQ(acks + 1, acks_out());
	settle();
	/* The ACK of a packet behind a gap is not delayed. */
	acks = acks_out();
	tell_data(opening, 7, LAST | LATER, 0, true);
	forward_packets(10);
	EXPECT_EQ(acks + 1, acks_out());
	tell_data(opening, 6, LAST | LATER, 0, true);
	settle();
	EXPECT_EQ(acks + 2, acks_out());
}

/* All data is sent, at the pace of the liar's answers: the loss is the liar's own. */
TEST_F_TIMEOUT(liar, acknowledges_what_it_throws_away, LONG)
{
	unsigned int i, answered = 0;

	for (i = 0; i < 2000 && info_of(self->s).notsent_bytes; i++) {
		__u32 most = heard.fresh + heard.window;

		while (answered < (unsigned int)distinct()) {
			tell(&heard.first[DATA], ACK, HAS_PULL,
			     psn_of(&heard.first[DATA]) + answered, answered + 1, ROOM);
			answered++;
		}
		settle();
		ASSERT_GE(most, heard.fresh);
	}
	EXPECT_EQ(0, info_of(self->s).notsent_bytes);
}

TEST_F(liar, pulls_what_it_did_not_earn)
{
	__u32 first = psn_of(&heard.first[DATA]);
	struct ndp_info info;
	unsigned int i, most;

	for (i = 1; i < 100; i++)
		tell(&heard.first[DATA], PULL, 0, first, i * 4000, ROOM);
	settle();
	EXPECT_TRUE(one_window());
	/* More packets than in a window of full ones are in flight if later ones are shorter. */
	info = info_of(self->s);
	most = info.snd_inflight + info.snd_rtx_queue;
	EXPECT_GE(most > info.iw ? most : info.iw, info.snd_credit);
	if (virtual_time())
		EXPECT_GE(info.iw, most);
	EXPECT_EQ(0, stat_of(NEAR, "DropPull"));
	tell(&heard.first[DATA], PULL, 0, first, i * 4000 + 5000, ROOM);
	settle();
	EXPECT_EQ(1, stat_of(NEAR, "DropPull"));
	EXPECT_TRUE(one_window());
}

/* A packet that is NACKed again and again is retransmitted, once for each pull. */
TEST_F(liar, never_has_it)
{
	unsigned int i, asked = 0, before = heard.count[DATA];
	struct ndp_info info = info_of(self->s);

	for (i = 0; i < 1000; i++) {
		struct packet *p = &heard.last[DATA];

		tell(p, NACK, HAS_PULL, psn_of(p), ++asked, ROOM);
		forward_packets(10);
	}
	/* Packets that were not pulled are retransmitted after a timeout. */
	asked += info_of(self->s).timeouts;
	EXPECT_GE(asked + before + info.iw, (unsigned int)heard.count[DATA]);
}

/*
 * The liar acknowledges the latest packet and none before it, as if all those were lost: they are
 * retransmitted as it pulls, but not before a slack has passed, and not all of them for each ACK.
 */
TEST_F(liar, has_the_latest_alone)
{
	unsigned int i, asked = 0, before;
	struct ndp_info info;
	struct packet p;

	/* First the connection is established and its round trip measured, with much in flight. */
	for (i = 0; i < 4; i++) {
		p = heard.last[DATA];
		tell(&p, ACK, HAS_PULL, psn_of(&p), ++asked, ROOM);
		forward_packets(10);
	}
	before = heard.count[DATA];
	for (i = 0; i < 1000; i++) {
		p = heard.last[DATA];
		tell(&p, ACK, HAS_PULL, psn_of(&p), ++asked, ROOM);
		forward_packets(10);
	}
	info = info_of(self->s);
	printf("# %u packets for %u pulls, window %u; %llu by order\n",
	       heard.count[DATA] - before, asked, info.iw, stat_of(NEAR, "LostByOrder"));
	EXPECT_LT(0, stat_of(NEAR, "LostByOrder"));
	/* For each pull a packet, and one more that was declared lost. */
	EXPECT_GE(before + 2 * asked + (info.timeouts + 1) * info.iw,
		  (unsigned int)heard.count[DATA]);
}

TEST_F_TIMEOUT(liar, shrinks_its_window, LONG)
{
	__u32 first = psn_of(&heard.first[DATA]);
	int before = distinct(), i;

	for (i = 0; i < before; i++)
		tell(&heard.first[DATA], ACK, HAS_PULL, first + i, i ? 2 : 1, i < 2 ? ROOM : 0);
	settle();
	/* Packets that were pulled may be sent though the window is 0. */
	EXPECT_GE(before + 2, distinct());
	before = distinct();
	/* The writer sends PROBEs, at growing intervals. */
	forward_packets_for(scaled(20000));
	EXPECT_EQ(before, distinct());
	EXPECT_LT(0, heard.count[PROBE]);
	EXPECT_GT(300, heard.count[PROBE]);
	for (i = 0; i < before; i++)
		tell(&heard.first[DATA], ACK, HAS_PULL, first + i, 2, ROOM);
	tell(&heard.first[DATA], PULL, 0, first + before, 3, ROOM);
	settle();
	EXPECT_LT(before, distinct());
}

static void answer_no_room(struct packet *p)
{
	listen_only(p);
	if (ndp_type(p) == PROBE || ndp_type(p) == DATA)
		tell(p, PULL, 0, psn_of(&heard.first[DATA]), 0, 0);
}

/* As TCP: the connection lasts while the peer answers, unless TCP_USER_TIMEOUT ends it. */
TEST_F_TIMEOUT(liar, never_reads, LONG)
{
	struct pollfd p = { .fd = self->s, .events = POLLOUT };

	meddle = answer_no_room;
	forward_packets_for(scaled(100000));
	EXPECT_EQ(0, get_int(self->s, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(0, poll(&p, 1, 0));
	EXPECT_TRUE(is_bounded(self->s));
	set_int(self->s, IPPROTO_TCP, TCP_USER_TIMEOUT, 500);
	EXPECT_TRUE(forward_until(has_error, self->s, 20));
	EXPECT_EQ(ETIMEDOUT, get_int(self->s, SOL_SOCKET, SO_ERROR));
}

/*
 * The socket is closed, and the liar answers and pulls, but takes nothing: the kernel does not keep
 * such an orphan forever.
 */
TEST_F_TIMEOUT(liar, never_has_what_was_left, LONG)
{
	const unsigned int limit = virtual_time() ? 120000 : 3000;	/* ms */
	__u64 begin = now_us();
	unsigned int asked = 0;

	if (!virtual_time())
		set_int(self->s, IPPROTO_TCP, TCP_USER_TIMEOUT, limit);
	close(self->s);
	self->s = -1;
	while (now_us() - begin < limit * 1100ULL) {
		struct packet *p = &heard.last[DATA];

		tell(p, NACK, HAS_PULL, psn_of(p), ++asked, ROOM);
		forward_packets_for(limit / 100);
		if (virtual_time() && now_us() - begin < limit * 900ULL)
			ASSERT_EQ(1, stat_of(NEAR, "Orphans"));
	}
	if (virtual_time())
		EXPECT_EQ(0, stat_of(NEAR, "Orphans"));
	EXPECT_TRUE(forward_until_stat("Orphans", 0, 10));
	EXPECT_TRUE(forward_until_stat("MemBytes", 0, 10));
	settle();
	EXPECT_EQ(1, stat_of(NEAR, "OrphansStalled"));
	EXPECT_LT(0, heard.count[RST]);
}

/* The RSTs for an aborted connection are limited per second, as for one that never was. */
TEST_F(liar, asks_for_what_was_aborted)
{
	unsigned long long told;
	int i;

	ASSERT_TRUE(set_sysctl(NEAR, "rst_rate", 100));
	close_hard(self->s);
	self->s = -1;
	told = stat_of(NEAR, "RstOut");
	for (i = 0; i < 1000; i++)
		tell(&heard.first[DATA], PROBE, 0, psn_of(&heard.first[DATA]), 0, ROOM);
	settle();
	told = stat_of(NEAR, "RstOut") - told;
	EXPECT_LE(10, told);
	EXPECT_GT(900, told);
	EXPECT_EQ(1000, told + stat_of(NEAR, "RstLimited"));
}

/* Each cookie is answered once, by a cookie that is no larger. */
TEST_F(liar, asks_for_cookies)
{
	int i;

	for (i = 1; i <= 100; i++) {
		tell(&heard.first[DATA], COOKIE, 0, 0, i, i);
		tell(&heard.first[DATA], COOKIE, 0, 0, i, i);
	}
	settle();
	EXPECT_EQ(100, heard.count[COOKIE]);
	EXPECT_EQ(HDR_LEN, ndp_len(&heard.last[COOKIE]));
	EXPECT_TRUE(one_window());
}

/* Now the kernel's end receives. */
FIXTURE(dribble)
{
	int		listener;
	int		fd;
	struct packet	opening;
};

FIXTURE_VARIANT(dribble)
{
	int family;
};

FIXTURE_VARIANT_ADD(dribble, ip4) { .family = 0 };
FIXTURE_VARIANT_ADD(dribble, ip6) { .family = 1 };

/* Send a FIN as the @off-th packet. */
static void finish(const struct packet *opening, __u32 off)
{
	struct packet p = *opening;
	struct header *h = ndp_of(&p);

	resize(&p, HDR_LEN);
	set_dscp(&p, DSCP_CONTROL);
	h->vdt = (h->vdt & 0xf0) | FIN;
	h->flags = LAST;
	h->len = 0;
	h->psn = htonl(off + 1000);
	h->psn_off = htonl(off);
	seal(&p);
	arrive(&p);
}

FIXTURE_SETUP(dribble)
{
	ASSERT_EQ(0, lay_middle(MTU));
	world = &middle[variant->family];
	self->listener = new_socket(NEAR, SOCK_NONBLOCK);
	set_int(self->listener, SOL_SOCKET, SO_RCVBUF, 50000);
	ASSERT_EQ(0, bind_to(self->listener, NEAR, port));
	ASSERT_EQ(0, listen(self->listener, 8));
	ASSERT_TRUE(an_opening(&self->opening));
	drop_by_drop(&self->opening, 0);
	ASSERT_TRUE(forward_until(is_readable, self->listener, 20));
	self->fd = accept(self->listener, NULL, NULL);
	ASSERT_LE(0, self->fd);
	nonblock(self->fd);
}

FIXTURE_TEARDOWN(dribble)
{
	EXPECT_TRUE(is_bounded(self->fd));
	EXPECT_TRUE(others_go_on());
	close(self->listener);
	EXPECT_TRUE(all_gone(self->fd));
}

/* Packets of one byte, each charged with hundreds, behind a gap. */
TEST_F(dribble, beyond_a_gap)
{
	char c;
	int i;

	for (i = 2; i < 4096; i++)
		drop_by_drop(&self->opening, i);
	settle();
	EXPECT_TRUE(is_bounded(self->fd));
	EXPECT_LT(0, stat_of(NEAR, "NoRoomIn"));
	EXPECT_EQ(1, recv(self->fd, &c, 1, 0));
	EXPECT_EQ(-1, recv(self->fd, &c, 1, 0));
	/* Packets that were refused are accepted once there is room. */
	for (i = 1; i < 4096; i++) {
		drop_by_drop(&self->opening, i);
		while (recv(self->fd, &c, 1, 0) == 1)
			;
	}
	settle();
	EXPECT_EQ(4096, info_of(self->fd).bytes_received);
}

TEST_F(dribble, in_order)
{
	char buf[4096];
	int i, n = 0, got;

	for (i = 1; i < 4096; i++)
		drop_by_drop(&self->opening, i);
	settle();
	EXPECT_TRUE(is_bounded(self->fd));
	got = recv(self->fd, buf, sizeof(buf), 0);
	ASSERT_LT(1, got);
	for (i = 0; i < got; i++)
		n += buf[i] == byte_at(i);
	EXPECT_EQ(got, n);
}

/* Packets behind a FIN are dropped, whenever they arrive. */
TEST_F(dribble, behind_the_end)
{
	char buf[16];
	int i;

	for (i = 3; i < 6; i++)
		drop_by_drop(&self->opening, i);
	finish(&self->opening, 2);
	drop_by_drop(&self->opening, 6);
	settle();
	EXPECT_EQ(1, recv(self->fd, buf, sizeof(buf), 0));
	drop_by_drop(&self->opening, 1);
	settle();
	for (i = 7; i < 10; i++)
		drop_by_drop(&self->opening, i);
	finish(&self->opening, 10);
	settle();
	EXPECT_EQ(4, stat_of(NEAR, "DropPsn"));
	EXPECT_EQ(1, recv(self->fd, buf, sizeof(buf), 0));
	EXPECT_EQ(byte_at(1), buf[0]);
	EXPECT_EQ(0, recv(self->fd, buf, sizeof(buf), 0));
	EXPECT_EQ(2, info_of(self->fd).bytes_received);
	EXPECT_EQ(0, stat_of(NEAR, "MemBytes"));
}

/* PSNs far outside the window: the packets are counted and dropped. */
TEST_F(dribble, out_of_window)
{
	unsigned long long before = stat_of(NEAR, "MemBytes");
	int i;

	for (i = 0; i < 100; i++)
		drop_by_drop(&self->opening, 4097 + i * 1000000);
	settle();
	EXPECT_EQ(100, stat_of(NEAR, "DropWindow"));
	EXPECT_EQ(before, stat_of(NEAR, "MemBytes"));
}

#define BULK	20000		/* bytes of payload */

/* Deliver a fragment with @head's IP header: @len bytes at offset @at of IP's payload. */
static void arrive_fragment(const struct packet *head, const __u8 *data, int at, int len,
			    bool more)
{
	struct packet p = *head;
	struct ip6_hdr *ip6 = (void *)p.data;
	struct iphdr *ip = (void *)p.data;
	struct ip6_frag *frag = (void *)(ip6 + 1);

	p.len = ip_len(&p);
	if (is_ip6(&p)) {
		*frag = (struct ip6_frag){ .ip6f_nxt = IPPROTO_UDP,
					   .ip6f_offlg = htons(at | more), .ip6f_ident = 4711 };
		ip6->ip6_nxt = IPPROTO_FRAGMENT;
		ip6->ip6_plen = htons(sizeof(*frag) + len);
		p.len += sizeof(*frag);
	} else {
		ip->id = htons(4711);
		ip->frag_off = htons(at / 8 | (more ? IP_MF : 0));
		ip->tot_len = htons(p.len + len);
		seal_ip(&p);
	}
	memcpy(p.data + p.len, data + at, len);
	p.len += len;
	arrive(&p);
}

/* The connection's second DATA packet, so long that IP has to carry it in fragments. */
static void arrive_in_fragments(const struct packet *opening)
{
	static __u8 data[sizeof(struct udphdr) + HDR_LEN + CRC_LEN + BULK];
	const int step = 1400;		/* a multiple of 8 */
	__u8 *crc = data + sizeof(struct udphdr) + HDR_LEN, *payload = crc + CRC_LEN;
	struct packet p = *opening;
	__u32 sum;
	int i;

	make_data(&p, 1, 0);
	ndp_of(&p)->len = htons(BULK);
	seal(&p);
	udp_of(&p)->len = htons(sizeof(data));
	memcpy(data, udp_of(&p), sizeof(struct udphdr) + HDR_LEN);
	for (i = 0; i < BULK; i++)
		payload[i] = byte_at(i + 1);
	sum = htonl(crc32c(payload, BULK));
	memcpy(crc, &sum, sizeof(sum));
	for (i = 0; i < (int)sizeof(data); i += step) {
		bool more = i + step < (int)sizeof(data);

		arrive_fragment(&p, data, i, more ? step : (int)sizeof(data) - i, more);
	}
}

/* The estimated size of the peer's packets, with which pulls are charged. */
static unsigned int packet_size_of(int s)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	return getsockopt(s, IPPROTO_TCP, TCP_INFO, &info, &len) ? 0 : info.tcpi_rcv_mss;
}

/* A reassembled packet counts with its content, but does not change the estimated size. */
TEST_F(dribble, in_fragments)
{
	unsigned int before = packet_size_of(self->fd);
	static char buf[2 * BULK];
	int i, n = 0, got;

	EXPECT_LT(0, before);
	EXPECT_GT(MTU, before);
	arrive_in_fragments(&self->opening);
	settle();
	EXPECT_EQ(1 + BULK, info_of(self->fd).bytes_received);
	EXPECT_EQ(before, packet_size_of(self->fd));
	got = recv(self->fd, buf, sizeof(buf), 0);
	EXPECT_EQ(1 + BULK, got);
	for (i = 0; i < got; i++)
		n += buf[i] == byte_at(i);
	EXPECT_EQ(got, n);
	/* The packets behind it are accepted as usual. */
	drop_by_drop(&self->opening, 2);
	settle();
	EXPECT_EQ(2 + BULK, info_of(self->fd).bytes_received);
	EXPECT_EQ(before, packet_size_of(self->fd));
}

TEST_HARNESS_MAIN
