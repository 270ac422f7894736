// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: SOCK_SEQPACKET of AF_NDP.  Cases that apply to AF_UNIX are run over that too, to check
 * that they describe what Linux does.
 */
#define NDP_WORLDS (IN_LOOPBACK | IN_WIRE | IN_WIRE6)
#include <linux/sock_diag.h>
#include "worlds.h"

/* More than a packet, and more than a first window. */
#define LONG		(300 * 1000)

FIXTURE(message)
{
	bool	local;		/* AF_UNIX */
	int	near;
	int	far;
};

FIXTURE_VARIANT(message)
{
	int kind;		/* KINDS: AF_UNIX */
};

FIXTURE_VARIANT_ADD(message, af_unix) { .kind = KINDS };
FIXTURE_VARIANT_ADD(message, loopback) { .kind = LOOPBACK };
FIXTURE_VARIANT_ADD(message, wire) { .kind = WIRE };
FIXTURE_VARIANT_ADD(message, wire6) { .kind = WIRE6 };

static int socket_at(int end, int type)
{
	return setns(world->ns[end], CLONE_NEWNET) ? -1 : a_socket(type);
}

static int listener(int type)
{
	int l = socket_at(FAR, type);

	if (l < 0 || bind_to(l, FAR, port) || listen(l, 16)) {
		printf("# nobody listens: %s\n", strerror(errno));
		return -1;
	}
	return l;
}

/* Make a connection that has carried "hello".  @pair: its client, then its server. */
static int connected(int *pair)
{
	int l = listener(SOCK_SEQPACKET);
	char text[8];

	pair[0] = socket_at(NEAR, SOCK_SEQPACKET);
	if (l < 0 || connect_to(pair[0], port) || send(pair[0], "hello", 5, 0) != 5)
		return -1;
	pair[1] = accept(l, NULL, NULL);
	close(l);
	return pair[1] >= 0 && recv(pair[1], text, sizeof(text), 0) == 5 ? 0 : -1;
}

static int pair_of(int kind, int *pair)
{
	signal(SIGPIPE, SIG_IGN);
	if (kind == KINDS)
		return socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
	ndp = true;
	world = &worlds[true][kind];
	port = 1024 + getpid() % 60000;
	return connected(pair);
}

FIXTURE_SETUP(message)
{
	int pair[2];

	self->local = variant->kind == KINDS;
	ASSERT_EQ(0, pair_of(variant->kind, pair));
	self->near = pair[0];
	self->far = pair[1];
}

FIXTURE_TEARDOWN(message)
{
	close(self->near);
	close(self->far);
}

/* recvmsg() into @buf.  Return: bytes or -errno; *@flags: its msg_flags. */
static int take(int fd, void *buf, size_t len, int how, int *flags)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int n = recvmsg(fd, &msg, how);

	*flags = msg.msg_flags & ~MSG_CMSG_CLOEXEC;
	return n < 0 ? -errno : n;
}

/* @len bytes with a content of their own for each @seed. */
static char *filled(int len, int seed)
{
	char *buf = malloc(len);
	int i;

	for (i = 0; i < len; i++)
		buf[i] = byte_at(i) + seed;
	return buf;
}

static bool is_filled(const char *buf, int len, int seed)
{
	char *wanted = filled(len, seed);
	bool same = !memcmp(buf, wanted, len);

	free(wanted);
	return same;
}

static bool send_filled(int fd, int len, int seed)
{
	char *buf = filled(len, seed);
	bool ok = send(fd, buf, len, 0) == len;

	free(buf);
	return ok;
}

TEST_F(message, each_send_is_one)
{
	char buf[100];

	ASSERT_EQ(3, send(self->near, "one", 3, 0));
	ASSERT_EQ(5, send(self->near, "three", 5, 0));
	ASSERT_EQ(3, send(self->near, "two", 3, 0));
	EXPECT_EQ(3, recv(self->far, buf, sizeof(buf), 0));
	EXPECT_EQ(5, recv(self->far, buf, sizeof(buf), 0));
	EXPECT_EQ(0, memcmp(buf, "three", 5));
	/* Not even MSG_WAITALL joins them. */
	EXPECT_EQ(3, recv(self->far, buf, sizeof(buf), MSG_WAITALL));
	EXPECT_EQ(-1, recv(self->far, buf, sizeof(buf), MSG_DONTWAIT));
	EXPECT_EQ(EAGAIN, errno);
}

TEST_F(message, both_ways_and_long)
{
	char *buf = malloc(LONG + 1);

	ASSERT_TRUE(send_filled(self->near, self->local ? 100000 : LONG, 1));
	ASSERT_TRUE(send_filled(self->far, 5000, 2));
	EXPECT_EQ(self->local ? 100000 : LONG, recv(self->far, buf, LONG + 1, 0));
	EXPECT_TRUE(is_filled(buf, 100000, 1));
	if (!self->local)
		EXPECT_TRUE(is_filled(buf, LONG, 1));
	EXPECT_EQ(5000, recv(self->near, buf, LONG + 1, 0));
	EXPECT_TRUE(is_filled(buf, 5000, 2));
	free(buf);
}

TEST_F(message, a_short_buffer_loses_the_rest)
{
	char buf[100];
	int flags;

	ASSERT_EQ(10, send(self->near, "0123456789", 10, 0));
	ASSERT_EQ(4, send(self->near, "next", 4, 0));
	EXPECT_EQ(4, take(self->far, buf, 4, 0, &flags));
	EXPECT_TRUE(flags & MSG_TRUNC);
	EXPECT_EQ(4, take(self->far, buf, sizeof(buf), 0, &flags));
	EXPECT_EQ(0, memcmp(buf, "next", 4));
	EXPECT_FALSE(flags & MSG_TRUNC);
}

TEST_F(message, its_length_is_told)
{
	char buf[100];
	int flags, n, i;

	ASSERT_EQ(10, send(self->near, "0123456789", 10, 0));
	ASSERT_EQ(4, send(self->near, "next", 4, 0));
	/* Both messages have arrived when the second has. */
	for (i = 0; i < SOON / 10 && !ioctl(self->far, SIOCINQ, &n) && n < 14; i++)
		usleep(10000);
	EXPECT_EQ(14, n);
	EXPECT_EQ(10, take(self->far, buf, 0, MSG_PEEK | MSG_TRUNC, &flags));
	EXPECT_EQ(10, take(self->far, buf, 3, MSG_PEEK | MSG_TRUNC, &flags));
	EXPECT_EQ(10, take(self->far, buf, 3, MSG_TRUNC, &flags));
	EXPECT_TRUE(flags & MSG_TRUNC);
	EXPECT_EQ(0, ioctl(self->far, SIOCINQ, &n));
	EXPECT_EQ(4, n);
}

TEST_F(message, peek)
{
	char buf[100];
	int i;

	ASSERT_EQ(3, send(self->near, "one", 3, 0));
	ASSERT_EQ(3, send(self->near, "two", 3, 0));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(3, recv(self->far, buf, sizeof(buf), MSG_PEEK));
		EXPECT_EQ(0, memcmp(buf, "one", 3));
	}
	EXPECT_EQ(3, recv(self->far, buf, sizeof(buf), 0));
	EXPECT_EQ(3, recv(self->far, buf, sizeof(buf), 0));
	EXPECT_EQ(0, memcmp(buf, "two", 3));
}

TEST_F(message, several_buffers)
{
	char a[4], b[6], c[3];
	struct iovec from[] = { { "012", 3 }, { "", 0 }, { "3456789", 7 } };
	struct iovec to[] = { { a, 4 }, { b, 6 }, { c, 3 } };

	ASSERT_EQ(10, writev(self->near, from, 3));
	EXPECT_EQ(10, readv(self->far, to, 3));
	EXPECT_EQ(0, memcmp(a, "0123", 4));
	EXPECT_EQ(0, memcmp(b, "456789", 6));
}

TEST_F(message, a_read_of_nothing_takes_one)
{
	char buf[10];

	ASSERT_EQ(3, send(self->near, "one", 3, 0));
	ASSERT_EQ(3, send(self->near, "two", 3, 0));
	EXPECT_EQ(0, recv(self->far, buf, 0, 0));
	EXPECT_EQ(3, recv(self->far, buf, sizeof(buf), 0));
	EXPECT_EQ(0, memcmp(buf, "two", 3));
}

/* Return: address of an inaccessible page behind an accessible one, or NULL. */
static char *end_of_memory(void)
{
	int page = getpagesize();
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	if (at == MAP_FAILED || mprotect(at + page, page, PROT_NONE))
		return NULL;
	return at + page;
}

TEST_F(message, fault)
{
	char *end = end_of_memory();
	char buf[100];

	ASSERT_NE(NULL, end);
	/* Nothing of the message is sent. */
	EXPECT_EQ(-1, send(self->near, end - 10, 20, 0));
	EXPECT_EQ(EFAULT, errno);
	ASSERT_EQ(20, send(self->near, "0123456789abcdefghij", 20, 0));
	if (!self->local) {
		/* The message is not lost when the reader's buffer is bad. */
		EXPECT_EQ(-1, recv(self->far, end - 10, 20, 0));
		EXPECT_EQ(EFAULT, errno);
	}
	EXPECT_EQ(20, recv(self->far, buf, sizeof(buf), 0));
	EXPECT_EQ(0, memcmp(buf, "0123456789abcdefghij", 20));
}

TEST_F(message, the_end)
{
	char buf[100];

	ASSERT_EQ(4, send(self->near, "last", 4, 0));
	ASSERT_EQ(0, shutdown(self->near, SHUT_WR));
	EXPECT_EQ(-1, send(self->near, "more", 4, 0));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(4, recv(self->far, buf, sizeof(buf), 0));
	EXPECT_EQ(0, recv(self->far, buf, sizeof(buf), 0));
	EXPECT_EQ(0, recv(self->far, buf, sizeof(buf), 0));
	EXPECT_EQ(5, send(self->far, "reply", 5, 0));
	EXPECT_EQ(5, recv(self->near, buf, sizeof(buf), 0));
}

TEST_F(message, what_it_is)
{
	EXPECT_EQ(SOCK_SEQPACKET, get_int(self->near, SOL_SOCKET, SO_TYPE));
	EXPECT_EQ(SOCK_SEQPACKET, get_int(self->far, SOL_SOCKET, SO_TYPE));
	EXPECT_EQ(-1, send(self->near, "x", 1, MSG_OOB));
	EXPECT_EQ(EOPNOTSUPP, errno);
}

/* A full buffer takes no part of a message. */
TEST_F(message, all_or_nothing)
{
	int sent = 0, got = 0, n;
	char *buf = malloc(LONG);
	int size = 50000;

	set_int(self->near, SOL_SOCKET, SO_SNDBUF, 100000);
	if (!self->local)
		set_int(self->far, SOL_SOCKET, SO_RCVBUF, 100000);
	nonblock(self->near);
	while (sent < 1000 && send_filled(self->near, size, sent))
		sent++;
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_LT(0, sent);
	EXPECT_GT(1000, sent);
	EXPECT_EQ(0, shutdown(self->near, SHUT_WR));
	while ((n = recv(self->far, buf, LONG, 0)) > 0) {
		EXPECT_EQ(size, n);
		EXPECT_TRUE(is_filled(buf, n, got));
		got++;
	}
	EXPECT_EQ(0, n);
	EXPECT_EQ(sent, got);
	free(buf);
}

TEST_F(message, too_long)
{
	int room, most;
	char *buf;

	set_int(self->near, SOL_SOCKET, SO_SNDBUF, 30000);
	room = get_int(self->near, SOL_SOCKET, SO_SNDBUF);
	buf = calloc(1, 2 * room);
	/* AF_UNIX needs some of the buffer for itself. */
	most = self->local ? room - 1000 : room;
	EXPECT_EQ(-1, send(self->near, buf, room + 1, 0));
	EXPECT_EQ(EMSGSIZE, errno);
	EXPECT_EQ(most, send(self->near, buf, most, 0));
	EXPECT_EQ(most, recv(self->far, buf, 2 * room, 0));
	free(buf);
}

/* Many messages of random sizes, under way at once. */
TEST_F(message, many)
{
	int i, n, count = 300;
	char *buf = malloc(LONG);

	if (!fork()) {
		srandom(1);
		for (i = 0; i < count; i++)
			if (!send_filled(self->near, 1 + random() % (i % 3 ? 200 : 40000), i))
				_exit(1);
		_exit(0);
	}
	srandom(1);
	for (i = 0; i < count; i++) {
		n = recv(self->far, buf, LONG, 0);
		EXPECT_EQ(1 + random() % (i % 3 ? 200 : 40000), n);
		EXPECT_TRUE(is_filled(buf, n, i));
	}
	EXPECT_EQ(1, all_well(1));
	free(buf);
}

/* Features that AF_UNIX does not have, or has differently. */
FIXTURE(ndp_alone)
{
	int	near;
	int	far;
};

FIXTURE_VARIANT(ndp_alone)
{
	int kind;		/* not KINDS */
};

FIXTURE_VARIANT_ADD(ndp_alone, loopback) { .kind = LOOPBACK };
FIXTURE_VARIANT_ADD(ndp_alone, wire) { .kind = WIRE };
FIXTURE_VARIANT_ADD(ndp_alone, wire6) { .kind = WIRE6 };

FIXTURE_SETUP(ndp_alone)
{
	int pair[2];

	ASSERT_EQ(0, pair_of(variant->kind, pair));
	self->near = pair[0];
	self->far = pair[1];
}

FIXTURE_TEARDOWN(ndp_alone)
{
	close(self->near);
	close(self->far);
}

TEST_F(ndp_alone, the_end_of_a_record)
{
	char buf[100];
	int flags;

	ASSERT_EQ(3, send(self->near, "one", 3, MSG_EOR));
	ASSERT_EQ(3, send(self->near, "two", 3, 0));
	EXPECT_EQ(3, take(self->far, buf, sizeof(buf), 0, &flags));
	EXPECT_EQ(MSG_EOR, flags);
	EXPECT_EQ(2, take(self->far, buf, 2, 0, &flags));
	EXPECT_EQ(MSG_EOR | MSG_TRUNC, flags);
}

TEST_F(ndp_alone, in_pieces)
{
	char buf[100];
	int flags;

	ASSERT_EQ(3, send(self->near, "one", 3, MSG_MORE));
	ASSERT_EQ(3, send(self->near, "two", 3, MSG_MORE));
	usleep(A_WHILE * 1000);
	EXPECT_FALSE(events_now(self->far) & POLLIN);
	ASSERT_EQ(5, send(self->near, "three", 5, 0));
	EXPECT_EQ(11, take(self->far, buf, sizeof(buf), 0, &flags));
	EXPECT_EQ(MSG_EOR, flags);
	EXPECT_EQ(0, memcmp(buf, "onetwothree", 11));

	/* A message ended by an empty send(), and one ended by MSG_EOR. */
	ASSERT_EQ(3, send(self->near, "one", 3, MSG_MORE));
	ASSERT_EQ(0, send(self->near, "", 0, 0));
	ASSERT_EQ(3, send(self->near, "two", 3, MSG_MORE | MSG_EOR));
	EXPECT_EQ(3, recv(self->far, buf, sizeof(buf), 0));
	EXPECT_EQ(3, recv(self->far, buf, sizeof(buf), 0));

	/* Nothing of a message that is never ended arrives. */
	ASSERT_EQ(4, send(self->near, "half", 4, MSG_MORE));
	ASSERT_EQ(0, shutdown(self->near, SHUT_WR));
	EXPECT_EQ(0, recv(self->far, buf, sizeof(buf), 0));
}

TEST_F(ndp_alone, pieces_beyond_the_buffer)
{
	char *buf = calloc(1, 100000);
	int room;

	set_int(self->near, SOL_SOCKET, SO_SNDBUF, 30000);
	room = get_int(self->near, SOL_SOCKET, SO_SNDBUF);
	ASSERT_EQ(room - 10, send(self->near, buf, room - 10, MSG_MORE));
	EXPECT_EQ(-1, send(self->near, buf, 11, 0));
	EXPECT_EQ(EMSGSIZE, errno);
	EXPECT_EQ(10, send(self->near, buf, 10, 0));
	EXPECT_EQ(room, recv(self->far, buf, 100000, 0));

	/* The buffer is made smaller meanwhile: the message cannot grow, but it can be ended. */
	ASSERT_EQ(room, send(self->near, buf, room, MSG_MORE));
	set_int(self->near, SOL_SOCKET, SO_SNDBUF, 10000);
	EXPECT_EQ(-1, send(self->near, buf, 1, 0));
	EXPECT_EQ(EMSGSIZE, errno);
	EXPECT_EQ(0, send(self->near, buf, 0, 0));
	EXPECT_EQ(room, recv(self->far, buf, 100000, 0));
	free(buf);
}

static unsigned int queued(int s)
{
	unsigned int memory[SK_MEMINFO_VARS];
	socklen_t len = sizeof(memory);

	return getsockopt(s, SOL_SOCKET, SO_MEMINFO, memory, &len) ? -1U :
							memory[SK_MEMINFO_WMEM_QUEUED];
}

/* Pieces of one byte are charged with their content, not with a packet each. */
TEST_F(ndp_alone, tiny_pieces)
{
	char buf[20001], got[20001];
	unsigned int weighs;
	int i;

	for (i = 0; i < 20001; i++)
		buf[i] = i % 251;
	for (i = 0; i < 20000; i++)
		ASSERT_EQ(1, send(self->near, buf + i, 1, MSG_MORE));
	weighs = queued(self->near);
	printf("# 20000 pieces weigh %u bytes\n", weighs);
	EXPECT_LT(20000, weighs);
	EXPECT_GT(100000, weighs);
	ASSERT_EQ(1, send(self->near, buf + i, 1, 0));
	EXPECT_EQ(20001, recv(self->far, got, sizeof(got), 0));
	EXPECT_EQ(0, memcmp(buf, got, 20001));
}

/* When two sockets write in turns, pieces do not join in a page: the memory charged is bounded. */
TEST_F(ndp_alone, scattered_pieces)
{
	unsigned int room, weighs;
	char *got = malloc(1 << 20);
	int other[2], i, n;

	ASSERT_EQ(0, connected(other));
	set_int(self->near, SOL_SOCKET, SO_SNDBUF, 100000);
	room = get_int(self->near, SOL_SOCKET, SO_SNDBUF);
	for (i = 0; i < (int)room; i++) {
		if (send(self->near, "x", 1, MSG_MORE) != 1)
			break;
		ASSERT_EQ(1, send(other[0], "y", 1, 0));
		ASSERT_EQ(1, recv(other[1], got, 1, 0));
	}
	EXPECT_EQ(EMSGSIZE, errno);
	weighs = queued(self->near);
	printf("# %d of %u pieces weigh %u bytes\n", i, room, weighs);
	EXPECT_LT(1000, i);
	EXPECT_GT(4 * room, weighs);
	/* The message can be ended. */
	ASSERT_EQ(0, send(self->near, "", 0, 0));
	n = recv(self->far, got, 1 << 20, 0);
	EXPECT_EQ(i, n);
	while (n > 0 && got[n - 1] == 'x')
		n--;
	EXPECT_EQ(0, n);
	close(other[0]);
	close(other[1]);
	free(got);
}

/* A piece that cannot be read completely leaves the pieces before it as they were. */
TEST_F(ndp_alone, unreadable_piece)
{
	char *end = end_of_memory();
	unsigned int weighs;
	char got[100];
	int i;

	ASSERT_NE(NULL, end);
	ASSERT_EQ(3, send(self->near, "one", 3, MSG_MORE));
	weighs = queued(self->near);
	for (i = 1; i < getpagesize(); i += 64) {
		EXPECT_EQ(-1, send(self->near, end - i, i + 1, MSG_MORE));
		EXPECT_EQ(EFAULT, errno);
		EXPECT_EQ(weighs, queued(self->near));
	}
	ASSERT_EQ(3, send(self->near, "two", 3, 0));
	EXPECT_EQ(6, recv(self->far, got, sizeof(got), 0));
	EXPECT_EQ(0, memcmp(got, "onetwo", 6));
}

/* NDP_PARTIAL: a read returns the part of a message that has arrived. */
TEST_F(ndp_alone, partial)
{
	char buf[100];
	int flags;

	EXPECT_EQ(0, get_int(self->far, SOL_NDP, NDP_PARTIAL));
	ASSERT_EQ(0, set_int(self->far, SOL_NDP, NDP_PARTIAL, 1));
	EXPECT_EQ(1, get_int(self->far, SOL_NDP, NDP_PARTIAL));
	ASSERT_EQ(10, send(self->near, "0123456789", 10, 0));
	ASSERT_EQ(4, send(self->near, "next", 4, 0));
	EXPECT_EQ(4, take(self->far, buf, 4, 0, &flags));
	EXPECT_EQ(0, flags);
	EXPECT_EQ(6, take(self->far, buf, sizeof(buf), MSG_PEEK, &flags));
	EXPECT_EQ(MSG_EOR, flags);
	/* Switching it off takes effect with the next message. */
	ASSERT_EQ(0, set_int(self->far, SOL_NDP, NDP_PARTIAL, 0));
	EXPECT_EQ(1, take(self->far, buf, 1, 0, &flags));
	EXPECT_EQ(0, flags);
	EXPECT_EQ(5, take(self->far, buf, sizeof(buf), 0, &flags));
	EXPECT_EQ(MSG_EOR, flags);
	EXPECT_EQ(0, memcmp(buf, "56789", 5));
	EXPECT_EQ(2, take(self->far, buf, 2, 0, &flags));
	EXPECT_EQ(MSG_EOR | MSG_TRUNC, flags);
}

/* A message too long for the receive buffer is read in parts, all of it. */
TEST_F(ndp_alone, beyond_the_receive_buffer)
{
	char *buf = malloc(LONG);
	int flags = 0, got = 0, parts = 0;

	set_int(self->far, SOL_SOCKET, SO_RCVBUF, 30000);
	ASSERT_TRUE(send_filled(self->near, LONG, 7));
	ASSERT_TRUE(send_filled(self->near, 1000, 8));
	while (!(flags & MSG_EOR)) {
		int n = take(self->far, buf + got, LONG - got, 0, &flags);

		ASSERT_LT(0, n);
		EXPECT_FALSE(flags & MSG_TRUNC);
		got += n;
		parts++;
	}
	EXPECT_EQ(LONG, got);
	EXPECT_LT(1, parts);
	EXPECT_TRUE(is_filled(buf, LONG, 7));
	EXPECT_EQ(1000, take(self->far, buf, LONG, 0, &flags));
	EXPECT_EQ(MSG_EOR, flags);
	EXPECT_TRUE(is_filled(buf, 1000, 8));
	free(buf);
}

/* poll() reports complete messages only. */
TEST_F(ndp_alone, poll)
{
	char buf[10];

	EXPECT_EQ(POLLOUT, events_now(self->far));
	ASSERT_EQ(3, send(self->near, "one", 3, 0));
	EXPECT_TRUE(until(self->far, POLLIN));
	EXPECT_EQ(3, recv(self->far, buf, sizeof(buf), 0));
	EXPECT_EQ(POLLOUT, events_now(self->far));
}

/* Streams and messages have separate ports. */
TEST_F(ndp_alone, not_with_streams)
{
	int stream, messages, s;
	char buf[10];

	port++;
	messages = listener(SOCK_SEQPACKET);
	ASSERT_LE(0, messages);
	s = socket_at(NEAR, SOCK_STREAM);
	ASSERT_EQ(0, set_int(s, SOL_NDP, NDP_SYNC_CONNECT, 1));
	EXPECT_EQ(-1, connect_to(s, port));
	EXPECT_EQ(ECONNREFUSED, errno);
	EXPECT_EQ(-1, set_int(s, SOL_NDP, NDP_PARTIAL, 1));
	EXPECT_EQ(EOPNOTSUPP, errno);

	stream = listener(SOCK_STREAM);
	ASSERT_LE(0, stream);
	EXPECT_EQ(0, connect_to(s, port));
	EXPECT_EQ(6, send(s, "stream", 6, 0));
	close(s);
	s = socket_at(NEAR, SOCK_SEQPACKET);
	EXPECT_EQ(0, connect_to(s, port));
	EXPECT_EQ(4, send(s, "one!", 4, 0));
	close(s);
	s = accept(stream, NULL, NULL);
	EXPECT_EQ(6, recv(s, buf, sizeof(buf), MSG_WAITALL));
	EXPECT_EQ(0, memcmp(buf, "stream", 6));
	close(s);
	s = accept(messages, NULL, NULL);
	EXPECT_EQ(4, recv(s, buf, sizeof(buf), 0));
	EXPECT_EQ(0, memcmp(buf, "one!", 4));
	close(s);
	close(stream);
	close(messages);
}

/* A call of 1 KB each way on a connection of its own. */
TEST_F(ndp_alone, a_call)
{
	int l, s, a, i;
	char buf[2000];

	port++;
	l = listener(SOCK_SEQPACKET);
	ASSERT_LE(0, l);
	for (i = 0; i < 50; i++) {
		s = socket_at(NEAR, SOCK_SEQPACKET);
		ASSERT_EQ(0, connect_to(s, port));
		ASSERT_TRUE(send_filled(s, 1024, i));
		a = accept(l, NULL, NULL);
		ASSERT_LE(0, a);
		ASSERT_EQ(1024, recv(a, buf, sizeof(buf), 0));
		EXPECT_TRUE(is_filled(buf, 1024, i));
		ASSERT_TRUE(send_filled(a, 1024, i + 1));
		close(a);
		ASSERT_EQ(1024, recv(s, buf, sizeof(buf), 0));
		EXPECT_TRUE(is_filled(buf, 1024, i + 1));
		ASSERT_EQ(0, recv(s, buf, sizeof(buf), 0));
		close(s);
	}
	close(l);
}

TEST_HARNESS_MAIN
