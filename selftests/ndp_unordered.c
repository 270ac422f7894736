// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that overtake others (NDP_UNORDERED), and synchronised ones, which are read behind all
 * messages before them (NDP_CMSG_SYNC): each is read once and complete, whatever the network loses
 * or reorders, and messages that are read early do not depend on missing ones.
 *
 * Both ends are kernel sockets; the test forwards their packets, and can withhold one of them
 * (middle.h).  With NDP's own transport, and with one that accepts packets in order only, all
 * messages stay in order, which NDP_UNORDERED permits.
 */
#include "middle.h"

/* Packets are so small that no loss is attributed to the path MTU and causes fragments. */
#define MTU		1280
#define LONG		400		/* seconds */
/* Bytes of a message's number, which precedes its content. */
#define NUMBER		((int)sizeof(int))
#define SHORT		100
/* A message of several packets */
#define LONGER		14000
#define MOST		20000

/* The DATA packet with this index does not arrive, nor do its copies (PSN @hole); -1: all do. */
static int hole_at = -1;
static bool hole_known;
static __u32 hole;
static int data_seen;
/* Percentage of packets that are lost, and the maximum delay of the others, us. */
static int loss;
static int lateness;
static __u32 dice;

static __u32 throw(__u32 sides)
{
	dice = dice * 1664525 + 1013904223;
	return (__u64)(dice >> 8) * sides >> 24;
}

static void keep_one(struct packet *p)
{
	__u32 psn = ntohl(ndp_of(p)->psn);

	if (has_payload(p)) {
		if (!hole_known && data_seen == hole_at) {
			hole = psn;
			hole_known = true;
		}
		data_seen++;
		if (hole_known && psn == hole && hole_at >= 0)
			return;
	}
	pass(p);
}

static void lose_and_reorder(struct packet *p)
{
	if (throw(100) >= (__u32)loss)
		deliver(p, throw(lateness));
}

/* Withhold the DATA packet with index @n, counted from now on, until let_go(). */
static void keep_back(int n)
{
	hole_known = false;
	hole_at = n;
	data_seen = 0;
	meddle = keep_one;
}

/* Let all packets arrive except the withheld one, which is retransmitted again and again. */
static void arrive_but_it(void)
{
	forward_packets_for(virtual_time() ? 20 : 300);
}

static void let_go(void)
{
	hole_at = -1;
}

static char content(int number, int i)
{
	return number * 31 + i * 7 + i / 251;
}

static bool send_one(int s, int number, int len, bool sync, int how)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	static char buf[MOST];
	struct iovec iov = { .iov_base = buf, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg = &control.align;
	int i;

	memcpy(buf, &number, NUMBER);
	for (i = NUMBER; i < len; i++)
		buf[i] = content(number, i);
	if (sync) {
		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
		cmsg->cmsg_level = SOL_NDP;
		cmsg->cmsg_type = NDP_CMSG_SYNC;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		*(int *)CMSG_DATA(cmsg) = 1;
	}
	return sendmsg(s, &msg, how | MSG_NOSIGNAL) == len;
}

/* Read a message.  Return: its number, -1: none now, -2: the end, -3: it is wrong, -4: an error. */
static int read_one(int s, int how, int *len)
{
	static char buf[MOST + 1];
	struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int n = recvmsg(s, &msg, MSG_DONTWAIT | how), number, i;

	if (n <= 0)
		return !n ? -2 : errno == EAGAIN ? -1 : -4;
	if (n < NUMBER || !(msg.msg_flags & MSG_EOR) || msg.msg_flags & MSG_TRUNC)
		return -3;
	memcpy(&number, buf, NUMBER);
	for (i = NUMBER; i < n; i++)
		if (buf[i] != content(number, i))
			return -3;
	if (len)
		*len = n;
	return number;
}

/* Wait for a message and read it.  Return: as read_one(). */
static int next_one(int s)
{
	if (!forward_until(is_readable, s, 10))
		return -1;
	return read_one(s, 0, NULL);
}

FIXTURE(unordered)
{
	int	l, s, a;
};

FIXTURE_VARIANT(unordered)
{
	int		family;	/* index into middle[] */
	const char	*transport;
	bool		overtakes;
};

FIXTURE_VARIANT_ADD(unordered, ip4) { 0, "mprdma", true };
FIXTURE_VARIANT_ADD(unordered, ip6) { 1, "mprdma", true };
FIXTURE_VARIANT_ADD(unordered, pulls) { 0, "ndp", false };
FIXTURE_VARIANT_ADD(unordered, in_order_alone) { 0, "dcqcn", false };
FIXTURE_VARIANT_ADD(unordered, late_answers) { 0, "light", false };

static int socket_of(int end, const char *transport)
{
	int s = setns(world->ns[end], CLONE_NEWNET) ? -1 : a_socket(SOCK_SEQPACKET);

	if (s >= 0 && setsockopt(s, SOL_NDP, NDP_TRANSPORT, transport, strlen(transport)))
		return -1;
	return s;
}

static bool set_unordered(int s, int on)
{
	int is = !on;
	socklen_t len = sizeof(is);

	return !setsockopt(s, SOL_NDP, NDP_UNORDERED, &on, sizeof(on)) &&
	       !getsockopt(s, SOL_NDP, NDP_UNORDERED, &is, &len) && is == on;
}

/* A connection that has carried a message; the acceptor, which reads, inherits NDP_UNORDERED. */
FIXTURE_SETUP(unordered)
{
	shell("modprobe -a ndp_mprdma ndp_dcqcn ndp_light");
	ASSERT_EQ(0, lay_middle(MTU));
	world = &middle[variant->family];
	ASSERT_TRUE(set_sysctl(NEAR, "lossless", 1));
	ASSERT_TRUE(set_sysctl(FAR, "lossless", 1));
	self->l = socket_of(FAR, "ndp");
	ASSERT_LE(0, self->l);
	ASSERT_EQ(0, bind_to(self->l, FAR, port));
	ASSERT_EQ(0, listen(self->l, 4));
	ASSERT_TRUE(set_unordered(self->l, 1));
	self->s = socket_of(NEAR, variant->transport);
	ASSERT_LE(0, self->s);
	ASSERT_EQ(0, connect_to(self->s, port));
	ASSERT_TRUE(send_one(self->s, 4711, SHORT, false, 0));
	ASSERT_TRUE(forward_until(is_readable, self->l, 10));
	self->a = accept(self->l, NULL, NULL);
	ASSERT_LE(0, self->a);
	ASSERT_EQ(4711, next_one(self->a));
	settle();
}

FIXTURE_TEARDOWN(unordered)
{
	close(self->s);
	close(self->a);
	close(self->l);
	let_go();
	loss = 0;
	forward_packets_for(100);
}

/* Messages @from to @to - 1, of @len bytes. */
static bool send_some(int s, int from, int to, int len)
{
	for (; from < to; from++)
		if (!send_one(s, from, len, false, 0))
			return false;
	return true;
}

/* One message is missing: the others are read, and it is read when it arrives. */
TEST_F(unordered, one_is_missing)
{
	int i;

	keep_back(3);
	ASSERT_TRUE(send_some(self->s, 0, 10, SHORT));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(i, next_one(self->a));
	arrive_but_it();
	for (i = 4; variant->overtakes && i < 10; i++)
		EXPECT_EQ(i, read_one(self->a, 0, NULL));
	EXPECT_EQ(-1, read_one(self->a, 0, NULL));
	let_go();
	EXPECT_EQ(3, next_one(self->a));
	for (i = 4; !variant->overtakes && i < 10; i++)
		EXPECT_EQ(i, next_one(self->a));
	settle();
	EXPECT_EQ(-1, read_one(self->a, 0, NULL));
}

/* Without the option a missing message holds up all later ones. */
TEST_F(unordered, in_order)
{
	int i;

	ASSERT_TRUE(set_unordered(self->a, 0));
	keep_back(3);
	ASSERT_TRUE(send_some(self->s, 0, 10, SHORT));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(i, next_one(self->a));
	arrive_but_it();
	EXPECT_EQ(-1, read_one(self->a, 0, NULL));
	let_go();
	for (i = 3; i < 10; i++)
		EXPECT_EQ(i, next_one(self->a));
}

/* A synchronised message is read behind all before it; messages after it need not wait. */
TEST_F_TIMEOUT(unordered, synchronised, LONG)
{
	bool read[10] = { 0 };
	int i, n;

	keep_back(3);
	for (i = 0; i < 10; i++)
		ASSERT_TRUE(send_one(self->s, i, SHORT, i == 6, 0));
	for (i = 0; i < (variant->overtakes ? 8 : 3); i++) {
		n = next_one(self->a);
		ASSERT_LE(0, n);
		EXPECT_NE(6, n);
		EXPECT_NE(3, n);
		EXPECT_FALSE(read[n]);
		read[n] = true;
	}
	arrive_but_it();
	EXPECT_EQ(-1, read_one(self->a, 0, NULL));
	/* The synchronised message has arrived and waits. */
	if (variant->overtakes) {
		EXPECT_EQ(1, info_of(self->a).sync_in);
		EXPECT_EQ(1, info_of(self->a).sync_early_in);
	}
	let_go();
	EXPECT_EQ(3, next_one(self->a));
	for (i = 4; i < 10; i++)
		if (!read[i])
			EXPECT_EQ(i, next_one(self->a));
	settle();
	EXPECT_EQ(-1, read_one(self->a, 0, NULL));
}

/* Of a message that is sent in parts, any part may be marked as synchronised. */
TEST_F_TIMEOUT(unordered, synchronised_in_parts, LONG)
{
	char rest[SHORT];
	int i;

	keep_back(1);
	ASSERT_TRUE(send_some(self->s, 0, 3, SHORT));
	ASSERT_TRUE(send_one(self->s, 3, SHORT, true, MSG_MORE));
	for (i = 0; i < SHORT; i++)
		rest[i] = content(3, SHORT + i);
	ASSERT_EQ(SHORT, send(self->s, rest, SHORT, 0));
	ASSERT_TRUE(send_some(self->s, 4, 5, SHORT));
	EXPECT_EQ(0, next_one(self->a));
	if (variant->overtakes) {
		EXPECT_EQ(2, next_one(self->a));
		EXPECT_EQ(4, next_one(self->a));
	}
	arrive_but_it();
	EXPECT_EQ(-1, read_one(self->a, 0, NULL));
	let_go();
	EXPECT_EQ(1, next_one(self->a));
	if (!variant->overtakes)
		EXPECT_EQ(2, next_one(self->a));
	EXPECT_EQ(3, next_one(self->a));
	if (!variant->overtakes)
		EXPECT_EQ(4, next_one(self->a));
}

/* An empty send() has nothing to synchronise, and does not affect the next message. */
TEST_F(unordered, nothing_is_synchronised)
{
	ASSERT_TRUE(send_one(self->s, 0, 0, true, 0));
	keep_back(0);
	ASSERT_TRUE(send_some(self->s, 1, 3, SHORT));
	if (variant->overtakes) {
		EXPECT_EQ(2, next_one(self->a));
		arrive_but_it();
		let_go();
		EXPECT_EQ(1, next_one(self->a));
	} else {
		arrive_but_it();
		let_go();
		EXPECT_EQ(1, next_one(self->a));
		EXPECT_EQ(2, next_one(self->a));
	}
	EXPECT_EQ(0, info_of(self->a).sync_in);
}

/* A packet in the middle of a long message is missing: others are read before it, complete. */
TEST_F(unordered, in_the_middle)
{
	char buf[10];
	int len;

	if (!variant->overtakes)
		SKIP(return, "it keeps the order");
	keep_back(2);
	ASSERT_TRUE(send_some(self->s, 0, 4, LONGER));
	ASSERT_TRUE(send_one(self->s, 4, SHORT, false, 0));
	EXPECT_TRUE(forward_until(is_readable, self->a, 10));
	arrive_but_it();
	/* All bytes that have arrived are counted, in whatever queue they are. */
	ASSERT_EQ(0, ioctl(self->a, SIOCINQ, &len));
	EXPECT_LE(3 * LONGER + SHORT, len);
	/* A message stays as long as it is only peeked at. */
	EXPECT_EQ(1, read_one(self->a, MSG_PEEK, NULL));
	EXPECT_EQ(1, read_one(self->a, MSG_PEEK, &len));
	EXPECT_EQ(LONGER, len);
	EXPECT_EQ(1, read_one(self->a, 0, NULL));
	/* Only bytes that do not fit in the reader's buffer are lost. */
	EXPECT_EQ(LONGER, recv(self->a, buf, sizeof(buf), MSG_TRUNC | MSG_DONTWAIT));
	EXPECT_EQ(3, read_one(self->a, 0, NULL));
	EXPECT_EQ(4, read_one(self->a, 0, NULL));
	EXPECT_EQ(-1, read_one(self->a, 0, NULL));
	let_go();
	EXPECT_EQ(0, next_one(self->a));
	EXPECT_EQ(-1, read_one(self->a, 0, NULL));
}

/* After a part of a message (NDP_PARTIAL) the rest of the same message is read next. */
TEST_F(unordered, a_part)
{
	char buf[MOST];
	int on = 1, n, i, got = 0;

	if (!variant->overtakes)
		SKIP(return, "it keeps the order");
	ASSERT_EQ(0, setsockopt(self->a, SOL_NDP, NDP_PARTIAL, &on, sizeof(on)));
	keep_back(2);
	ASSERT_TRUE(send_some(self->s, 7, 8, LONGER));
	EXPECT_TRUE(forward_until(is_readable, self->a, 10));
	arrive_but_it();
	got = recv(self->a, buf, sizeof(buf), MSG_DONTWAIT);
	EXPECT_LT(0, got);
	EXPECT_GT(LONGER, got);
	ASSERT_TRUE(send_some(self->s, 8, 9, SHORT));
	arrive_but_it();
	EXPECT_EQ(-1, recv(self->a, buf + got, sizeof(buf) - got, MSG_DONTWAIT));
	EXPECT_FALSE(is_readable(self->a));
	let_go();
	while (got < LONGER) {
		ASSERT_TRUE(forward_until(is_readable, self->a, 10));
		n = recv(self->a, buf + got, sizeof(buf) - got, MSG_DONTWAIT);
		ASSERT_LT(0, n);
		got += n;
	}
	EXPECT_EQ(LONGER, got);
	for (i = NUMBER; i < got; i++)
		ASSERT_EQ(content(7, i), buf[i]);
	EXPECT_EQ(8, next_one(self->a));
}

/* After a part was peeked at, the same message is read first. */
TEST_F(unordered, a_part_is_seen)
{
	char seen[MOST], buf[MOST];
	int on = 1, n;

	if (!variant->overtakes)
		SKIP(return, "it keeps the order");
	ASSERT_EQ(0, setsockopt(self->a, SOL_NDP, NDP_PARTIAL, &on, sizeof(on)));
	keep_back(2);
	ASSERT_TRUE(send_some(self->s, 7, 8, LONGER));
	EXPECT_TRUE(forward_until(is_readable, self->a, 10));
	arrive_but_it();
	n = recv(self->a, seen, sizeof(seen), MSG_DONTWAIT | MSG_PEEK);
	EXPECT_LT(0, n);
	ASSERT_TRUE(send_some(self->s, 8, 9, SHORT));
	arrive_but_it();
	ASSERT_EQ(n, recv(self->a, buf, sizeof(buf), MSG_DONTWAIT));
	EXPECT_EQ(0, memcmp(seen, buf, n));
	let_go();
}

/* The end is read behind all messages. */
TEST_F(unordered, the_end)
{
	int i;

	keep_back(1);
	ASSERT_TRUE(send_some(self->s, 0, 5, SHORT));
	ASSERT_EQ(0, shutdown(self->s, SHUT_WR));
	EXPECT_EQ(0, next_one(self->a));
	arrive_but_it();
	for (i = 2; variant->overtakes && i < 5; i++)
		EXPECT_EQ(i, read_one(self->a, 0, NULL));
	EXPECT_EQ(-1, read_one(self->a, 0, NULL));
	let_go();
	EXPECT_EQ(1, next_one(self->a));
	for (i = 2; !variant->overtakes && i < 5; i++)
		EXPECT_EQ(i, next_one(self->a));
	EXPECT_EQ(-2, next_one(self->a));
}

/* The peer aborts: messages that have arrived can be read, once, then the error is returned. */
TEST_F(unordered, aborted)
{
	struct linger hard = { .l_onoff = 1 };
	int i;

	if (!variant->overtakes)
		SKIP(return, "it keeps the order");
	keep_back(1);
	ASSERT_TRUE(send_some(self->s, 0, 2, LONGER));
	ASSERT_TRUE(send_some(self->s, 2, 5, SHORT));
	arrive_but_it();
	ASSERT_EQ(0, setsockopt(self->s, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)));
	close(self->s);
	self->s = -1;
	EXPECT_TRUE(forward_until(has_error, self->a, 10));
	for (i = 1; i < 5; i++)
		EXPECT_EQ(i, read_one(self->a, 0, NULL));
	EXPECT_GT(-1, read_one(self->a, 0, NULL));
}

/* The reader closes without reading messages that have overtaken: they are freed. */
TEST_F(unordered, unread)
{
	keep_back(1);
	ASSERT_TRUE(send_some(self->s, 0, 5, LONGER));
	arrive_but_it();
	close(self->a);
	self->a = -1;
	if (variant->overtakes)
		EXPECT_TRUE(forward_until(has_error, self->s, 10));
}

/* While a packet is missing, the receiver holds no more memory than without the option. */
TEST_F_TIMEOUT(unordered, memory, LONG)
{
	int small = 40000, sent = 0, got = 0, n, i;
	bool read[1000] = { 0 };

	ASSERT_EQ(0, setsockopt(self->a, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
	keep_back(1);
	/* The lost packet is retransmitted all the time: end this once all buffers are full. */
	for (i = 0; i < 4; i++) {
		while (sent < 1000 && send_one(self->s, sent, 1000, false, MSG_DONTWAIT))
			sent++;
		arrive_but_it();
		while ((n = read_one(self->a, 0, NULL)) >= 0) {
			ASSERT_GT(1000, n);
			ASSERT_FALSE(read[n]);
			read[n] = true;
			got++;
		}
		ASSERT_EQ(-1, n);
	}
	EXPECT_FALSE(read[1]);
	/* The messages beyond it are limited by a window of PSNs. */
	EXPECT_GE(variant->overtakes ? 64 : 1, got);
	let_go();
	while (got < sent) {
		n = next_one(self->a);
		ASSERT_LE(0, n);
		ASSERT_FALSE(read[n]);
		read[n] = true;
		got++;
	}
	settle();
	EXPECT_EQ(-1, read_one(self->a, 0, NULL));
}

/* Loss and reordering: each message is read once, complete, synchronised ones in order. */
TEST_F_TIMEOUT(unordered, loss_and_disorder, LONG)
{
	const int all = 600;
	static bool read[600], is_sync[600];
	int sent = 0, got = 0, overtook = 0, next = 0, i, n;
	__u64 end = now_us() + patience(100) * 1000000ULL;

	dice = 1 + variant->family;
	loss = 3;
	lateness = 300;
	meddle = lose_and_reorder;
	while (got < all && now_us() < end) {
		while (sent < all) {
			int len = throw(4) ? NUMBER + throw(1000) : NUMBER + throw(MOST - NUMBER);

			is_sync[sent] = !throw(10);
			if (!send_one(self->s, sent, len, is_sync[sent], MSG_DONTWAIT))
				break;
			sent++;
		}
		forward_packets(1000);
		while ((n = read_one(self->a, 0, NULL)) >= 0) {
			ASSERT_GT(sent, n);
			ASSERT_FALSE(read[n]);
			read[n] = true;
			got++;
			while (next < all && read[next])
				next++;
			overtook += n > next;
			for (i = 0; is_sync[n] && i < n; i++)
				ASSERT_TRUE(read[i]);
		}
		ASSERT_EQ(-1, n);
	}
	EXPECT_EQ(all, got);
	printf("# %d of %d overtook others\n", overtook, got);
	EXPECT_EQ(variant->overtakes, overtook > 0);
}

/* Invalid control messages are refused. */
TEST_F(unordered, refused)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(long long))];
	} control = { 0 };
	struct iovec iov = { .iov_base = "abcd", .iov_len = 4 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf };
	int on = 1, stream;

	control.align.cmsg_level = SOL_NDP;
	control.align.cmsg_type = NDP_CMSG_SYNC;
	control.align.cmsg_len = CMSG_LEN(sizeof(char));
	msg.msg_controllen = CMSG_SPACE(sizeof(char));
	EXPECT_EQ(-1, sendmsg(self->s, &msg, 0));
	EXPECT_EQ(EINVAL, errno);
	control.align.cmsg_type = NDP_CMSG_SYNC + 1;
	control.align.cmsg_len = CMSG_LEN(sizeof(int));
	msg.msg_controllen = CMSG_SPACE(sizeof(int));
	EXPECT_EQ(-1, sendmsg(self->s, &msg, 0));
	EXPECT_EQ(EINVAL, errno);
	/* Control messages of another level are ignored. */
	control.align.cmsg_level = SOL_NDP + 1;
	EXPECT_EQ(4, sendmsg(self->s, &msg, 0));
	stream = new_socket(NEAR, 0);
	EXPECT_EQ(-1, setsockopt(stream, SOL_NDP, NDP_UNORDERED, &on, sizeof(on)));
	EXPECT_EQ(EOPNOTSUPP, errno);
	close(stream);
}

TEST_HARNESS_MAIN
