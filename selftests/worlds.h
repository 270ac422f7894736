/* SPDX-License-Identifier: GPL-2.0 */
/* Where tests of sockets run: in a single namespace, or in two with a cable between them. */
#ifndef _WORLDS_H
#define _WORLDS_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <net/if.h>

#include "../kselftest_harness.h"
#include "info.h"

/* ms to wait for an event that must occur, and for one that must not. */
#define SOON		10000
#define A_WHILE		300

/* Seconds: a loaded machine may need more than the harness's half a minute. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	200

/* The two ends of a case: where its sockets are made, and their addresses. */
enum { NEAR, FAR };

enum { LOOPBACK, WIRE, LOOPBACK6, WIRE6, KINDS };

/* A world of each kind for TCP, and another for AF_NDP, so that both can be used at once. */
static struct world {
	bool		wire;
	int		family;
	int		ns[2];
	const char	*address[2];
	/* An address of no host: packets to it over the cable are dropped at the far end. */
	const char	*nowhere;
} worlds[2][KINDS];

/* NDP_WORLDS: the worlds of a program that uses AF_NDP alone.  Other programs get all. */
enum { IN_LOOPBACK = 1, IN_WIRE = 2, IN_LOOPBACK6 = 4, IN_WIRE6 = 8 };

#ifdef NDP_WORLDS
static const int wanted_worlds = (NDP_WORLDS) << KINDS;
#else
static const int wanted_worlds = ~0;
#endif

union address {
	struct sockaddr		any;
	struct sockaddr_in	in;
	struct sockaddr_in6	in6;
};

/* Where the current test runs; each test has a process of its own. */
static const struct world *world;
static bool ndp;
/* Each test has a port of its own, because of TCP's TIME-WAIT. */
static int port;

static inline bool is_ip6_world(void)
{
	return world->family == AF_INET6;
}

static inline socklen_t address_len(void)
{
	return is_ip6_world() ? sizeof(struct sockaddr_in6) :
					   sizeof(struct sockaddr_in);
}

static inline union address any_address(int port)
{
	union address addr = { .any.sa_family = world->family };

	/* The port is at the same offset in both families. */
	addr.in.sin_port = htons(port);
	return addr;
}

/* An address of the family that is tested. */
static inline union address named(const char *ip4, const char *ip6, int port)
{
	union address addr = any_address(port);

	if (is_ip6_world())
		inet_pton(AF_INET6, ip6, &addr.in6.sin6_addr);
	else
		inet_pton(AF_INET, ip4, &addr.in.sin_addr);
	return addr;
}

static inline union address address(int end, int port)
{
	return named(world->address[end], world->address[end], port);
}

static inline const char *address_text(const union address *addr)
{
	static char text[INET6_ADDRSTRLEN];

	if (addr->any.sa_family == AF_INET6)
		return inet_ntop(AF_INET6, &addr->in6.sin6_addr, text, sizeof(text));
	return inet_ntop(AF_INET, &addr->in.sin_addr, text, sizeof(text));
}

static inline bool same_address(const union address *a, const union address *b)
{
	char text[INET6_ADDRSTRLEN];

	snprintf(text, sizeof(text), "%s", address_text(a));
	return !strcmp(text, address_text(b));
}

static inline bool is_any(const union address *addr)
{
	union address any = any_address(0);

	return same_address(addr, &any);
}

/* A socket in the current namespace. */
static inline int a_socket(int type)
{
	if (ndp)
		return socket(AF_NDP, type, is_ip6_world() ? NDP_PROTO_IPV6 : 0);
	return socket(world->family, type, 0);
}

static inline int new_socket(int end, int flags)
{
	if (setns(world->ns[end], CLONE_NEWNET))
		return -1;
	return a_socket(SOCK_STREAM | flags);
}

static inline int bind_to(int fd, int end, int port)
{
	union address addr = address(end, port);

	return bind(fd, &addr.any, address_len());
}

static inline int connect_to(int fd, int port)
{
	union address addr = address(FAR, port);

	return connect(fd, &addr.any, address_len());
}

static inline int connect_nowhere(int fd)
{
	union address addr = named(world->nowhere, world->nowhere, port);

	return connect(fd, &addr.any, address_len());
}

static inline int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

static inline int get_int(int fd, int level, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, level, name, &value, &len) ? -1 : value;
}

static inline void nonblock(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* Close by a reset. */
static inline void close_hard(int fd)
{
	struct linger now = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

static inline bool until(int fd, int event)
{
	struct pollfd p = { .fd = fd, .events = event };

	return poll(&p, 1, SOON) == 1;
}

/* For TCP and AF_NDP alike. */
static inline unsigned long long bytes_acked(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	return info.tcpi_bytes_acked;
}

/*
 * Write until the buffers are full and stay so without a reader: for half a second, which is longer
 * than any retransmission timeout, nothing is acknowledged.  In slices: a process that is not
 * scheduled for long misses one of them.  Return: bytes written.
 */
static inline size_t fill_up(int fd)
{
	static const char data[1 << 16];
	unsigned long long acked = 0;
	size_t sum = 0;
	ssize_t n;
	int looks;

	for (looks = 0; looks < 50; looks++) {
		if (bytes_acked(fd) != acked)
			looks = 0;
		acked = bytes_acked(fd);
		while ((n = send(fd, data, sizeof(data), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0) {
			sum += n;
			looks = 0;
		}
		if (errno != EAGAIN)
			break;
		usleep(10000);
	}
	return sum;
}

/* The byte at offset @at of all test data. */
static inline char byte_at(size_t at)
{
	return at * 131 + at / 509;
}

/* POLLIN and POLLOUT, as far as they are set now. */
static inline int events_now(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };

	poll(&p, 1, 0);
	return p.revents;
}

/* Wait for @n children.  Return: how many of them exited with 0. */
static inline int all_well(int n)
{
	int well = 0, status;

	while (n--)
		well += wait(&status) > 0 && !status;
	return well;
}

/* Let this thread run on one processor alone. */
static inline bool run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

static inline int shell(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command);
}

/*
 * NDP_TRANSPORT=name in the environment: all AF_NDP sockets use that transport, and one that needs
 * a lossless network considers this one lossless.
 */
static inline int new_ns(void)
{
	const char *transport = getenv("NDP_TRANSPORT");

	if (unshare(CLONE_NEWNET) || shell("ip link set lo up"))
		return -1;
	if (transport && shell("sysctl -qw net.ndp.transport=%s net.ndp.lossless=1", transport))
		return -1;
	return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

static inline void lay_wire(struct world *w)
{
	bool six = w->family == AF_INET6;
	int end;

	shell("ip link add eth0 type netwire rate 1gbit delay 10us peer name eth1");
	shell("ip link set eth1 netns /proc/%d/fd/%d", getpid(), w->ns[NEAR]);
	for (end = NEAR; end <= FAR; end++) {
		if (setns(w->ns[end], CLONE_NEWNET))
			return;
		/* Keep IPv6 addresses while the cable is cut, as IPv4 addresses are kept. */
		shell("sysctl -qw net.ipv6.conf.eth%d.keep_addr_on_down=1", end == NEAR);
		shell("ip address add %s/%d dev eth%d %s && ip link set eth%d up", w->address[end],
		      six ? 64 : 24, end == NEAR, six ? "nodad" : "", end == NEAR);
	}
	setns(w->ns[NEAR], CLONE_NEWNET);
	shell("ip neigh add %s lladdr 02:00:00:00:00:77 dev eth1 nud permanent", w->nowhere);
}

static inline void build_world(struct world *w, int kind)
{
	static const char *const addresses[KINDS][3] = {
		[LOOPBACK] = { "127.0.0.1", "127.0.0.1", "10.0.0.3" },
		[WIRE] = { "10.0.0.1", "10.0.0.2", "10.0.0.3" },
		[LOOPBACK6] = { "::1", "::1", "fd00::3" },
		[WIRE6] = { "fd00::1", "fd00::2", "fd00::3" },
	};

	w->wire = kind == WIRE || kind == WIRE6;
	w->family = kind == LOOPBACK || kind == WIRE ? AF_INET : AF_INET6;
	w->address[NEAR] = addresses[kind][NEAR];
	w->address[FAR] = addresses[kind][FAR];
	w->nowhere = addresses[kind][2];
	w->ns[NEAR] = new_ns();
	w->ns[FAR] = w->wire ? new_ns() : w->ns[NEAR];
	if (w->wire && w->ns[NEAR] >= 0 && w->ns[FAR] >= 0)
		lay_wire(w);
}

/* Build the worlds that a program wants, once for all its tests. */
static void __attribute__((constructor)) build_worlds(void)
{
	int over_ndp, kind;

	shell("modprobe -q netwire");
	for (over_ndp = 0; over_ndp < 2; over_ndp++)
		for (kind = 0; kind < KINDS; kind++)
			if (wanted_worlds & 1 << (over_ndp * KINDS + kind))
				build_world(&worlds[over_ndp][kind], kind);
}

#endif /* _WORLDS_H */
