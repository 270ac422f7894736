// SPDX-License-Identifier: GPL-2.0
/*
 * System calls on AF_NDP stream sockets, on the loopback of a namespace of the
 * test's own: what an application sees and may rely on.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <net/if.h>

#include "../kselftest_harness.h"
#include "info.h"

#define PORT	5000

/* ms to wait for an event that must occur, and for one that must not. */
#define SOON	20000
#define A_WHILE	50

/* Seconds: a loaded machine may need more than the harness's half a minute. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	200

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static int loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int err = ioctl(fd, SIOCSIFFLAGS, &ifr);

	close(fd);
	return err;
}

static struct sockaddr_in local(int port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	return addr;
}

static int bind_to(int fd, int port)
{
	struct sockaddr_in addr = local(port);

	return bind(fd, (struct sockaddr *)&addr, sizeof(addr));
}

static int connect_to(int fd, int port)
{
	struct sockaddr_in addr = local(port);

	return connect(fd, (struct sockaddr *)&addr, sizeof(addr));
}

/* Wait for one of @events at @fd.  Return: those that are there. */
static int events_of(int fd, int events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, ms) < 0 ? -1 : p.revents;
}

FIXTURE(ndp)
{
	int listener;
	int client;
	int server;
};

FIXTURE_SETUP(ndp)
{
	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	ASSERT_EQ(0, loopback_up());
	signal(SIGPIPE, SIG_IGN);
	self->listener = socket(AF_NDP, SOCK_STREAM, 0);
	ASSERT_LE(0, self->listener);
	ASSERT_EQ(0, bind_to(self->listener, PORT));
	ASSERT_EQ(0, listen(self->listener, 4));
	self->client = socket(AF_NDP, SOCK_STREAM, 0);
	ASSERT_LE(0, self->client);
	self->server = -1;
}

FIXTURE_TEARDOWN(ndp)
{
	close(self->listener);
	close(self->client);
	close(self->server);
}

/* A connection over which one byte has gone to the server. */
#define establish() do {							\
	char c = 'x';								\
	ASSERT_EQ(0, connect_to(self->client, PORT));				\
	ASSERT_EQ(1, send(self->client, &c, 1, 0));				\
	self->server = accept(self->listener, NULL, NULL);			\
	ASSERT_LE(0, self->server);						\
	ASSERT_EQ(1, recv(self->server, &c, 1, 0));				\
	ASSERT_EQ('x', c);							\
} while (0)

TEST_F(ndp, kinds)
{
	int pair[2];

	EXPECT_EQ(-1, socket(AF_NDP, SOCK_DGRAM, 0));
	EXPECT_EQ(ESOCKTNOSUPPORT, errno);
	EXPECT_EQ(-1, socket(AF_NDP, SOCK_STREAM, 17));
	EXPECT_EQ(EPROTONOSUPPORT, errno);
	EXPECT_EQ(-1, socketpair(AF_NDP, SOCK_STREAM, 0, pair));
	EXPECT_EQ(EOPNOTSUPP, errno);
}

TEST_F(ndp, names)
{
	struct sockaddr_in addr = { 0 }, peer = { 0 };
	socklen_t len = sizeof(addr);

	EXPECT_EQ(-1, getpeername(self->client, (struct sockaddr *)&addr, &len));
	EXPECT_EQ(ENOTCONN, errno);
	establish();
	len = sizeof(addr);
	EXPECT_EQ(0, getsockname(self->client, (struct sockaddr *)&addr, &len));
	EXPECT_EQ(sizeof(addr), len);
	EXPECT_EQ(AF_INET, addr.sin_family);
	EXPECT_EQ(htonl(INADDR_LOOPBACK), addr.sin_addr.s_addr);
	EXPECT_NE(0, addr.sin_port);
	len = sizeof(peer);
	EXPECT_EQ(0, getpeername(self->server, (struct sockaddr *)&peer, &len));
	EXPECT_EQ(0, memcmp(&addr, &peer, sizeof(addr)));
	len = sizeof(peer);
	EXPECT_EQ(0, getpeername(self->client, (struct sockaddr *)&peer, &len));
	EXPECT_EQ(htons(PORT), peer.sin_port);
}

TEST_F(ndp, bind_rules)
{
	struct sockaddr_in far = local(0);
	int fd = socket(AF_NDP, SOCK_STREAM, 0);

	EXPECT_EQ(-1, bind_to(fd, PORT));
	EXPECT_EQ(EADDRINUSE, errno);
	EXPECT_EQ(-1, bind(fd, (struct sockaddr *)&far, 8));
	EXPECT_EQ(EINVAL, errno);
	far.sin_addr.s_addr = htonl(0x0a000001);
	EXPECT_EQ(-1, bind(fd, (struct sockaddr *)&far, sizeof(far)));
	EXPECT_EQ(EADDRNOTAVAIL, errno);
	far.sin_family = AF_UNIX;
	EXPECT_EQ(-1, bind(fd, (struct sockaddr *)&far, sizeof(far)));
	EXPECT_EQ(EAFNOSUPPORT, errno);
	EXPECT_EQ(0, bind_to(fd, PORT + 1));
	EXPECT_EQ(-1, bind_to(fd, PORT + 2));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
	/* The port is free again. */
	fd = socket(AF_NDP, SOCK_STREAM, 0);
	EXPECT_EQ(0, bind_to(fd, PORT + 1));
	close(fd);
}

TEST_F(ndp, not_connected)
{
	char c = 0;

	EXPECT_EQ(-1, send(self->client, &c, 1, 0));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(-1, recv(self->client, &c, 1, 0));
	EXPECT_EQ(ENOTCONN, errno);
	EXPECT_EQ(-1, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(ENOTCONN, errno);
	EXPECT_EQ(-1, accept(self->client, NULL, NULL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, recv(self->listener, &c, 1, 0));
	EXPECT_EQ(ENOTCONN, errno);
}

TEST_F(ndp, connect_costs_nothing)
{
	EXPECT_EQ(0, connect_to(self->client, PORT));
	EXPECT_EQ(-1, connect_to(self->client, PORT));
	EXPECT_EQ(EISCONN, errno);
	/* An opening without data is sent by itself. */
	EXPECT_EQ(POLLIN, events_of(self->listener, POLLIN, SOON));
}

TEST_F(ndp, refused)
{
	char c;

	ASSERT_EQ(0, connect_to(self->client, PORT + 1));
	EXPECT_EQ(-1, recv(self->client, &c, 1, 0));
	EXPECT_EQ(ECONNREFUSED, errno);
	EXPECT_EQ(0, recv(self->client, &c, 1, 0));
	EXPECT_EQ(-1, send(self->client, &c, 1, 0));
	EXPECT_EQ(EPIPE, errno);
}

TEST_F(ndp, refused_by_poll)
{
	int err = 0;
	socklen_t len = sizeof(err);

	ASSERT_EQ(0, connect_to(self->client, PORT + 1));
	EXPECT_EQ(POLLIN | POLLERR | POLLHUP, events_of(self->client, POLLIN, SOON));
	EXPECT_EQ(0, getsockopt(self->client, SOL_SOCKET, SO_ERROR, &err, &len));
	EXPECT_EQ(ECONNREFUSED, err);
}

TEST_F(ndp, sync_connect)
{
	int one = 1, fd;

	ASSERT_EQ(0, setsockopt(self->client, SOL_NDP, NDP_SYNC_CONNECT, &one, sizeof(one)));
	EXPECT_EQ(-1, connect_to(self->client, PORT + 1));
	EXPECT_EQ(ECONNREFUSED, errno);

	fd = socket(AF_NDP, SOCK_STREAM | SOCK_NONBLOCK, 0);
	ASSERT_EQ(0, setsockopt(fd, SOL_NDP, NDP_SYNC_CONNECT, &one, sizeof(one)));
	/* Over the loopback the answer may be here already. */
	EXPECT_TRUE(!connect_to(fd, PORT) || errno == EINPROGRESS);
	EXPECT_EQ(POLLOUT, events_of(fd, POLLOUT, SOON));
	EXPECT_EQ(NDP_ST_ESTABLISHED, info_of(fd).state);
	EXPECT_EQ(-1, setsockopt(fd, SOL_NDP, NDP_SYNC_CONNECT, &one, sizeof(one)));
	EXPECT_EQ(EISCONN, errno);
	close(fd);
}

TEST_F(ndp, server_first)
{
	char c = 's';

	ASSERT_EQ(0, connect_to(self->client, PORT));
	/* Waiting to read has the opening sent. */
	EXPECT_EQ(0, events_of(self->client, POLLIN, A_WHILE));
	self->server = accept(self->listener, NULL, NULL);
	ASSERT_LE(0, self->server);
	EXPECT_EQ(1, send(self->server, &c, 1, 0));
	EXPECT_EQ(1, recv(self->client, &c, 1, 0));
}

TEST_F(ndp, nonblocking)
{
	char c;

	ASSERT_EQ(0, fcntl(self->listener, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(-1, accept(self->listener, NULL, NULL));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, fcntl(self->listener, F_SETFL, 0));
	establish();
	EXPECT_EQ(-1, recv(self->server, &c, 1, MSG_DONTWAIT));
	EXPECT_EQ(EAGAIN, errno);
}

TEST_F(ndp, fills_up)
{
	static char buf[65536];
	size_t sent = 0, got = 0;
	__u64 acked = 0, acks;
	ssize_t n;
	int looks;

	establish();
	/* Full: for half a second nothing is acknowledged, as the reader makes no room. */
	for (looks = 0; looks < 50; looks++) {
		if (info_of(self->client).bytes_acked != acked)
			looks = 0;
		acked = info_of(self->client).bytes_acked;
		while ((n = send(self->client, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
			sent += n;
			looks = 0;
			ASSERT_GT(1 << 28, sent);
		}
		ASSERT_EQ(EAGAIN, errno);
		usleep(10000);
	}
	EXPECT_EQ(0, events_of(self->client, POLLOUT, A_WHILE));
	while (got < sent && (n = recv(self->server, buf, sizeof(buf), 0)) > 0)
		got += n;
	EXPECT_EQ(sent, got);
	EXPECT_EQ(POLLOUT, events_of(self->client, POLLOUT, SOON));
	/* While the reader has much unread data, one ACK acknowledges several packets. */
	acks = info_of(self->client).acks_in;
	EXPECT_GT(info_of(self->server).data_in, acks);
}

TEST_F(ndp, receive_flags)
{
	char buf[16] = "";

	establish();
	ASSERT_EQ(4, send(self->client, "abcd", 4, 0));
	EXPECT_EQ(4, recv(self->server, buf, 16, MSG_PEEK));
	EXPECT_EQ(2, recv(self->server, buf, 2, 0));
	EXPECT_EQ(0, memcmp("ab", buf, 2));
	ASSERT_EQ(2, send(self->client, "ef", 2, 0));
	EXPECT_EQ(4, recv(self->server, buf, 4, MSG_WAITALL));
	EXPECT_EQ(0, memcmp("cdef", buf, 4));
	EXPECT_EQ(-1, recv(self->server, buf, 1, MSG_OOB));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, send(self->client, buf, 1, MSG_OOB));
	EXPECT_EQ(EOPNOTSUPP, errno);
}

TEST_F(ndp, receive_timeout)
{
	struct timeval t = { .tv_usec = 50000 };
	char c;

	establish();
	ASSERT_EQ(0, setsockopt(self->server, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)));
	EXPECT_EQ(-1, recv(self->server, &c, 1, 0));
	EXPECT_EQ(EAGAIN, errno);
}

/*
 * A write that runs into unmapped memory: exactly the bytes that it reports have been written,
 * whether a queued packet is filled up first or not, and whether a packet ends there or not.
 */
TEST_F(ndp, faults_lose_nothing)
{
	static const size_t parts[] = { 1, 100, 1400, 4096, 5000, 20000, 32768, 50000 };
	const size_t size = 16 * 4096;
	unsigned char *page, next = 0, expected = 0, got;
	size_t i, j;

	page = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, munmap(page + size, 4096));
	establish();
	for (i = 0; i < 2 * ARRAY_SIZE(parts); i++) {
		size_t part = parts[i % ARRAY_SIZE(parts)];
		int cork = i < ARRAY_SIZE(parts);
		ssize_t n;

		/* A queued packet to be filled up, or none */
		ASSERT_EQ(0, setsockopt(self->client, SOL_TCP, TCP_CORK, &cork, sizeof(cork)));
		if (cork)
			ASSERT_EQ(1, send(self->client, &next, 1, 0));
		next += cork;
		for (j = 0; j < part; j++)
			page[size - part + j] = next + j;
		n = send(self->client, page + size - part, part + 4096, 0);
		if (n < 0)
			ASSERT_EQ(EFAULT, errno);
		n = n < 0 ? 0 : n;
		ASSERT_LE(n, part);
		next += n;
		/* One more byte, which must follow */
		ASSERT_EQ(1, send(self->client, &next, 1, 0));
		next++;
		cork = 0;
		ASSERT_EQ(0, setsockopt(self->client, SOL_TCP, TCP_CORK, &cork, sizeof(cork)));
		for (j = 0; j < n + 1 + (i < ARRAY_SIZE(parts)); j++, expected++) {
			ASSERT_EQ(1, recv(self->server, &got, 1, 0));
			ASSERT_EQ(expected, got);
		}
	}
	EXPECT_EQ(-1, recv(self->server, &got, 1, MSG_DONTWAIT));
	munmap(page, size);
}

/* Data sent with MSG_MORE waits for more, but for 200 ms only: a test that was late repeats it. */
TEST_F(ndp, more)
{
	int came, tries = 0;
	long long began;
	char buf[16];

	establish();
	do {
		began = now_ms();
		ASSERT_EQ(2, send(self->client, "ab", 2, MSG_MORE));
		came = events_of(self->server, POLLIN, A_WHILE);
		began = now_ms() - began;
		ASSERT_EQ(2, send(self->client, "cd", 2, 0));
		EXPECT_EQ(4, recv(self->server, buf, 4, MSG_WAITALL));
		EXPECT_EQ(0, memcmp("abcd", buf, 4));
	} while (came && began >= 200 && ++tries < 20);
	EXPECT_EQ(0, came);
}

TEST_F(ndp, queues)
{
	int n = -1;

	establish();
	ASSERT_EQ(5, send(self->client, "12345", 5, 0));
	EXPECT_EQ(POLLIN, events_of(self->server, POLLIN, SOON));
	EXPECT_EQ(0, ioctl(self->server, SIOCINQ, &n));
	EXPECT_EQ(5, n);
	/* All data is acknowledged soon. */
	for (int i = 0; i < SOON / 10 && !ioctl(self->client, SIOCOUTQ, &n) && n; i++)
		usleep(10000);
	EXPECT_EQ(0, n);
	EXPECT_EQ(-1, ioctl(self->listener, SIOCINQ, &n));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(ndp, half_close)
{
	char buf[16];

	establish();
	EXPECT_EQ(0, events_of(self->server, POLLIN | POLLRDHUP, 0));
	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(-1, send(self->client, "x", 1, 0));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(POLLIN | POLLRDHUP, events_of(self->server, POLLIN | POLLRDHUP, SOON));
	EXPECT_EQ(0, recv(self->server, buf, 1, 0));
	EXPECT_EQ(3, send(self->server, "end", 3, 0));
	EXPECT_EQ(3, recv(self->client, buf, 3, 0));
	ASSERT_EQ(0, shutdown(self->server, SHUT_WR));
	EXPECT_EQ(0, recv(self->client, buf, 1, 0));
	EXPECT_NE(0, events_of(self->client, POLLIN, SOON) & POLLHUP);
	EXPECT_EQ(-1, shutdown(self->client, 3));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(ndp, close_sends_all)
{
	static char out[300000], in[300000];

	memset(out, 'y', sizeof(out));
	establish();
	ASSERT_EQ(sizeof(out), send(self->client, out, sizeof(out), 0));
	ASSERT_EQ(0, close(self->client));
	EXPECT_EQ(sizeof(in), recv(self->server, in, sizeof(in), MSG_WAITALL));
	EXPECT_EQ(0, memcmp(in, out, sizeof(in)));
	EXPECT_EQ(0, recv(self->server, in, 1, 0));
}

TEST_F(ndp, close_before_anything)
{
	char c;

	ASSERT_EQ(0, connect_to(self->client, PORT));
	ASSERT_EQ(0, close(self->client));
	self->server = accept(self->listener, NULL, NULL);
	ASSERT_LE(0, self->server);
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
}

/* Unread data is lost, and the writer must be notified. */
TEST_F(ndp, close_unread)
{
	char c;

	establish();
	ASSERT_EQ(1, send(self->client, "z", 1, 0));
	EXPECT_EQ(POLLIN, events_of(self->server, POLLIN, SOON));
	close(self->server);
	EXPECT_NE(0, events_of(self->client, POLLIN, SOON) & POLLERR);
	EXPECT_EQ(-1, recv(self->client, &c, 1, 0));
	EXPECT_EQ(ECONNRESET, errno);
}

TEST_F(ndp, linger_zero)
{
	struct linger l = { .l_onoff = 1 };
	char c;

	establish();
	ASSERT_EQ(0, setsockopt(self->client, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
	close(self->client);
	EXPECT_EQ(-1, recv(self->server, &c, 1, 0));
	EXPECT_EQ(ECONNRESET, errno);
}

TEST_F(ndp, listener_closes)
{
	char c;

	ASSERT_EQ(0, connect_to(self->client, PORT));
	ASSERT_EQ(1, send(self->client, "x", 1, 0));
	EXPECT_EQ(POLLIN, events_of(self->listener, POLLIN, SOON));
	ASSERT_EQ(0, close(self->listener));
	EXPECT_EQ(-1, recv(self->client, &c, 1, 0));
	EXPECT_EQ(ECONNRESET, errno);
}

TEST_F(ndp, edge_triggered)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(0);
	char buf[8];

	establish();
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->server, &ev));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, A_WHILE));
	ASSERT_EQ(2, send(self->client, "12", 2, 0));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, A_WHILE));
	ASSERT_EQ(1, send(self->client, "3", 1, 0));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(3, recv(self->server, buf, 8, 0));
	close(ep);
}

TEST_F(ndp, options)
{
	int val = 1;
	socklen_t len = sizeof(val);

	EXPECT_EQ(0, setsockopt(self->client, SOL_TCP, TCP_NODELAY, &val, sizeof(val)));
	EXPECT_EQ(-1, setsockopt(self->client, SOL_TCP, TCP_MD5SIG, &val, sizeof(val)));
	EXPECT_EQ(ENOPROTOOPT, errno);
	EXPECT_EQ(-1, setsockopt(self->client, SOL_NDP, 99, &val, sizeof(val)));
	EXPECT_EQ(ENOPROTOOPT, errno);
	EXPECT_EQ(-1, setsockopt(self->client, SOL_NDP, NDP_IW, &val, 1));
	EXPECT_EQ(EINVAL, errno);
	val = NDP_IW_MAX + 1;
	EXPECT_EQ(-1, setsockopt(self->client, SOL_NDP, NDP_IW, &val, sizeof(val)));
	EXPECT_EQ(EINVAL, errno);
	val = 17;
	EXPECT_EQ(0, setsockopt(self->client, SOL_NDP, NDP_IW, &val, sizeof(val)));
	val = 0;
	EXPECT_EQ(0, getsockopt(self->client, SOL_NDP, NDP_IW, &val, &len));
	EXPECT_EQ(17, val);
	establish();
	EXPECT_EQ(17, info_of(self->client).iw);
	EXPECT_EQ(0, getsockopt(self->client, SOL_NDP, NDP_MAXSEG, &val, &len));
	EXPECT_EQ(info_of(self->client).mss, val);
}

static int priority_of(int fd)
{
	int val = -99;
	socklen_t len = sizeof(val);

	getsockopt(fd, SOL_NDP, NDP_PRIORITY, &val, &len);
	return val;
}

static int set_priority(int fd, int level, int name, int val)
{
	return setsockopt(fd, level, name, &val, sizeof(val)) ? -errno : 0;
}

TEST_F(ndp, priority)
{
	static const struct {
		int	of_socket;
		int	priority;
	} maps[] = { { 0, 0 }, { 1, -2 }, { 2, -1 }, { 3, 3 }, { 6, 6 }, { 7, 7 }, { 1000, 7 } };
	unsigned int i;

	EXPECT_EQ(0, priority_of(self->client));
	for (i = 0; i < ARRAY_SIZE(maps); i++) {
		EXPECT_EQ(0, set_priority(self->client, SOL_SOCKET, SO_PRIORITY,
					  maps[i].of_socket));
		EXPECT_EQ(maps[i].priority, priority_of(self->client));
	}
	/* NDP_PRIORITY overrides SO_PRIORITY, until it is set to NDP_PRIORITY_AUTO. */
	EXPECT_EQ(0, set_priority(self->client, SOL_NDP, NDP_PRIORITY, NDP_PRIORITY_MIN));
	EXPECT_EQ(NDP_PRIORITY_MIN, priority_of(self->client));
	EXPECT_EQ(-ERANGE, set_priority(self->client, SOL_NDP, NDP_PRIORITY,
					NDP_PRIORITY_MAX + 1));
	EXPECT_EQ(-ERANGE, set_priority(self->client, SOL_NDP, NDP_PRIORITY,
					NDP_PRIORITY_MIN - 1));
	EXPECT_EQ(NDP_PRIORITY_MIN, priority_of(self->client));
	EXPECT_EQ(0, set_priority(self->client, SOL_NDP, NDP_PRIORITY, NDP_PRIORITY_AUTO));
	EXPECT_EQ(7, priority_of(self->client));
	/* An accepted socket inherits its listener's priority. */
	EXPECT_EQ(0, set_priority(self->listener, SOL_NDP, NDP_PRIORITY, 5));
	establish();
	EXPECT_EQ(5, priority_of(self->server));
	EXPECT_EQ(0, set_priority(self->server, SOL_NDP, NDP_PRIORITY, 1));
	EXPECT_EQ(1, priority_of(self->server));
	EXPECT_EQ(5, priority_of(self->listener));
}

TEST_F(ndp, info)
{
	struct ndp_info c, s;
	socklen_t len = 8;

	establish();
	ASSERT_EQ(0, shutdown(self->server, SHUT_WR));
	EXPECT_EQ(POLLIN | POLLRDHUP, events_of(self->client, POLLIN | POLLRDHUP, SOON));
	c = info_of(self->client);
	s = info_of(self->server);
	EXPECT_EQ(NDP_ST_ESTABLISHED, c.state);
	EXPECT_EQ(0, c.role);
	EXPECT_EQ(1, s.role);
	EXPECT_EQ(c.conn_id, s.conn_id);
	EXPECT_EQ(32, c.paths);
	EXPECT_EQ(1, c.bytes_sent - c.bytes_retrans);
	EXPECT_EQ(1, s.bytes_received);
	EXPECT_EQ(1 + c.retrans, c.data_sent);
	/* Nothing is lost here, but on a slow machine answers may be late. */
	if (virtual_time())
		EXPECT_EQ(0, c.retrans);
	EXPECT_EQ(NDP_ST_LISTEN, info_of(self->listener).state);
	/* A program with a shorter struct gets the front of it. */
	EXPECT_EQ(0, getsockopt(self->client, SOL_NDP, NDP_INFO, &s, &len));
	EXPECT_EQ(8, len);
}

TEST_F(ndp, listen_again)
{
	EXPECT_EQ(0, listen(self->listener, 8));
	EXPECT_EQ(-1, connect_to(self->listener, PORT));
	EXPECT_EQ(EISCONN, errno);
	ASSERT_EQ(0, connect_to(self->client, PORT));
	EXPECT_EQ(-1, listen(self->client, 8));
	EXPECT_EQ(EINVAL, errno);
}

TEST_HARNESS_MAIN
