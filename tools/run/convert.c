// SPDX-License-Identifier: GPL-2.0
/*
 * NDP sockets in place of TCP sockets, and replacement by TCP sockets where a destination has
 * no NDP.
 *
 * Whether a descriptor is an NDP socket is asked of the kernel: no state is kept here that
 * dup(), fork(), exec() or passing of descriptors could invalidate.
 */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/ndp.h>

#include "library.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof(*(a)))

/* A shortage of descriptors or memory is no reason to use TCP, which would fail as well. */
static bool is_shortage(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM || err == ENOBUFS;
}

/* The program is to get the error that made the caller close the descriptor. */
void close_keeping_errno(int fd)
{
	int err = errno;

	NEXT(close)(fd);
	errno = err;
}

/* If there is no such transport the namespace's is used, and one line reports it. */
static void set_transport(int fd)
{
	const char *name = settings()->transport;
	char text[128];

	if (!*name || !setsockopt(fd, SOL_NDP, NDP_TRANSPORT, name, strlen(name)))
		return;
	snprintf(text, sizeof(text), "transport %s: %s: NDP's sockets have the namespace's", name,
		 strerror(errno));
	warn_once(text);
}

/**
 * new_ndp - socket(AF_NDP)
 * @domain:	AF_INET or AF_INET6
 * @type:	SOCK_STREAM, with flags
 *
 * Return: the socket, or a TCP socket if there is no NDP; or -1 with errno.
 */
int new_ndp(int domain, int type)
{
	int fd = NEXT(socket)(AF_NDP, type, domain == AF_INET6 ? NDP_PROTO_IPV6 : 0);
	int on = 1;

	if (fd < 0 && is_shortage(errno))
		return -1;
	if (fd < 0) {
		fd = NEXT(socket)(domain, type, IPPROTO_TCP);
		if (fd >= 0)
			warn_once("no AF_NDP sockets (is the module ndp loaded?): TCP is used");
		return fd;
	}
	set_transport(fd);
	/* Programs expect connect() to fail if it is refused. */
	if (!settings()->zero_rtt)
		setsockopt(fd, SOL_NDP, NDP_SYNC_CONNECT, &on, sizeof(on));
	return fd;
}

bool is_ndp(int fd)
{
	int err = errno, on;
	socklen_t len = sizeof(on);
	bool yes = !NEXT(getsockopt)(fd, SOL_NDP, NDP_SYNC_CONNECT, &on, &len);

	errno = err;
	return yes;
}

/* Return: an NDP socket's state, or -1 if it is none. */
int state_of(int fd)
{
	struct ndp_info info;
	socklen_t len = sizeof(info);

	return NEXT(getsockopt)(fd, SOL_NDP, NDP_INFO, &info, &len) ? -1 : info.state;
}

/* Is an NDP socket neither connected nor a listener? */
bool is_unused(int fd)
{
	return state_of(fd) == NDP_ST_CLOSE;
}

/* Return: false for an address of another family than IPv4 and IPv6. */
bool destination_of(const struct sockaddr *addr, socklen_t len, struct destination *d)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	memset(d, 0, sizeof(*d));
	if (!addr || len < sizeof(*in))
		return false;
	if (addr->sa_family == AF_INET) {
		d->addr.s6_addr[10] = 0xff;
		d->addr.s6_addr[11] = 0xff;
		memcpy(&d->addr.s6_addr[12], &in->sin_addr, sizeof(in->sin_addr));
	} else if (addr->sa_family == AF_INET6 && len >= sizeof(*in6)) {
		d->addr = in6->sin6_addr;
		d->scope = in6->sin6_scope_id;
	} else {
		return false;
	}
	d->port = ntohs(in->sin_port);
	return true;
}

/* Return: a number that no other socket of this machine has; 0 if @fd is no socket. */
__u64 cookie_of(int fd)
{
	__u64 cookie;
	socklen_t len = sizeof(cookie);
	int err = errno;

	if (NEXT(getsockopt)(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len)) {
		cookie = 0;
		errno = err;
	}
	return cookie;
}

void name_of(int fd, struct name *name)
{
	socklen_t len = sizeof(name->mss);

	name->len = sizeof(name->addr);
	if (getsockname(fd, (struct sockaddr *)&name->addr, &name->len))
		name->len = 0;
	if (NEXT(getsockopt)(fd, IPPROTO_TCP, TCP_MAXSEG, &name->mss, &len) ||
	    name->mss == TCP_MSS_DEFAULT)
		name->mss = 0;
}

/* Is the address 0.0.0.0 or ::? */
bool is_unspecified(const struct destination *d)
{
	static const struct in6_addr any4 = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

	return IN6_IS_ADDR_UNSPECIFIED(&d->addr) || IN6_ARE_ADDR_EQUAL(&d->addr, &any4);
}

static bool is_bound(const struct name *name)
{
	struct destination d;

	return destination_of((const struct sockaddr *)&name->addr, name->len, &d) &&
	       (d.port || !is_unspecified(&d));
}

/* Options that a program sets before it connects or listens, and that TCP has as well */
static const struct option {
	int	level, name;
} options[] = {
	{ SOL_SOCKET, SO_REUSEADDR }, { SOL_SOCKET, SO_REUSEPORT },
	{ SOL_SOCKET, SO_KEEPALIVE }, { SOL_SOCKET, SO_LINGER },
	{ SOL_SOCKET, SO_SNDBUF }, { SOL_SOCKET, SO_RCVBUF },
	{ SOL_SOCKET, SO_RCVLOWAT }, { SOL_SOCKET, SO_OOBINLINE },
	{ SOL_SOCKET, SO_RCVTIMEO }, { SOL_SOCKET, SO_SNDTIMEO },
	{ SOL_SOCKET, SO_MARK }, { SOL_SOCKET, SO_BINDTODEVICE },
	{ SOL_SOCKET, SO_BUSY_POLL }, { SOL_SOCKET, SO_MAX_PACING_RATE },
	{ IPPROTO_IP, IP_TOS }, { IPPROTO_IP, IP_TTL },
	{ IPPROTO_IP, IP_MTU_DISCOVER }, { IPPROTO_IP, IP_FREEBIND },
	{ IPPROTO_IP, IP_TRANSPARENT }, { IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT },
	{ IPPROTO_IPV6, IPV6_V6ONLY }, { IPPROTO_IPV6, IPV6_TCLASS },
	{ IPPROTO_IPV6, IPV6_UNICAST_HOPS }, { IPPROTO_IPV6, IPV6_FREEBIND },
	{ IPPROTO_IPV6, IPV6_TRANSPARENT },
	{ IPPROTO_TCP, TCP_NODELAY }, { IPPROTO_TCP, TCP_CORK },
	{ IPPROTO_TCP, TCP_QUICKACK },
	{ IPPROTO_TCP, TCP_KEEPIDLE }, { IPPROTO_TCP, TCP_KEEPINTVL },
	{ IPPROTO_TCP, TCP_KEEPCNT }, { IPPROTO_TCP, TCP_SYNCNT },
	{ IPPROTO_TCP, TCP_USER_TIMEOUT }, { IPPROTO_TCP, TCP_LINGER2 },
	{ IPPROTO_TCP, TCP_NOTSENT_LOWAT }, { IPPROTO_TCP, TCP_DEFER_ACCEPT },
	{ IPPROTO_TCP, TCP_FASTOPEN }, { IPPROTO_TCP, TCP_FASTOPEN_CONNECT },
	/* After IP_TOS, which sets it too. */
	{ SOL_SOCKET, SO_PRIORITY },
};

/* Without one of these a socket would talk to another host, or by another interface. */
static bool decides_the_way(const struct option *o)
{
	return (o->level == SOL_SOCKET && (o->name == SO_MARK || o->name == SO_BINDTODEVICE)) ||
	       (o->level == IPPROTO_IPV6 && o->name == IPV6_V6ONLY);
}

/* Copy an option if the program has changed it, that is, if it differs from a new socket's:
 * buffer sizes that were not set would keep TCP from tuning its own.
 */
static bool copy_option(const struct option *o, int from, int fresh, int to)
{
	char value[64] = "", initial[64] = "";
	socklen_t len = sizeof(value), initial_len = sizeof(initial);

	if (NEXT(getsockopt)(from, o->level, o->name, value, &len) ||
	    NEXT(getsockopt)(fresh, o->level, o->name, initial, &initial_len) ||
	    (len == initial_len && !memcmp(value, initial, len)))
		return true;
	/* getsockopt() returns twice the size that was set. */
	if (o->level == SOL_SOCKET && (o->name == SO_SNDBUF || o->name == SO_RCVBUF))
		*(int *)value /= 2;
	return !setsockopt(to, o->level, o->name, value, len) || !decides_the_way(o);
}

/* Return: whether all options were copied that decide where packets go. */
static bool copy_options(int domain, int from, int to)
{
	unsigned int i;
	bool ok = true;
	int fresh;

	fresh = NEXT(socket)(AF_NDP, SOCK_STREAM | SOCK_CLOEXEC,
			     domain == AF_INET6 ? NDP_PROTO_IPV6 : 0);
	if (fresh < 0)
		return false;
	for (i = 0; i < ARRAY_SIZE(options) && ok; i++)
		ok = copy_option(&options[i], from, fresh, to);
	close_keeping_errno(fresh);
	return ok;
}

/* Return: whether two sockets are of one network namespace, as far as the kernel tells. */
static bool same_network(int a, int b)
{
	__u64 net[2];
	socklen_t len = sizeof(*net);
	int err = errno;

	if (!NEXT(getsockopt)(a, SOL_SOCKET, SO_NETNS_COOKIE, &net[0], &len) &&
	    !NEXT(getsockopt)(b, SOL_SOCKET, SO_NETNS_COOKIE, &net[1], &len) && net[0] != net[1]) {
		errno = ENETUNREACH;
		return false;
	}
	errno = err;
	return true;
}

/**
 * new_tcp_like - make a TCP socket with the options of an NDP socket
 * @fd:		NDP socket
 * @name:	name of @fd before it was connected, which the new socket gets if @fd is bound, and
 *		its MSS
 * @flags:	flags for the socket type
 *
 * Return: the socket, or -1 with errno.
 */
int new_tcp_like(int fd, const struct name *name, int flags)
{
	int domain = AF_INET, tcp;
	socklen_t len = sizeof(domain);

	NEXT(getsockopt)(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len);
	tcp = NEXT(socket)(domain, SOCK_STREAM | SOCK_CLOEXEC | flags, IPPROTO_TCP);
	if (tcp < 0)
		return -1;
	if (name->mss)
		setsockopt(tcp, IPPROTO_TCP, TCP_MAXSEG, &name->mss, sizeof(name->mss));
	/* The program may have changed its namespace since it made the NDP socket. */
	if (!same_network(fd, tcp) || !copy_options(domain, fd, tcp) ||
	    (is_bound(name) && NEXT(bind)(tcp, (const struct sockaddr *)&name->addr, name->len))) {
		close_keeping_errno(tcp);
		return -1;
	}
	return tcp;
}

/*
 * Give the NDP socket's descriptor to the TCP socket, unless another thread has closed it: its
 * number may be another file's by now.
 */
static int put_over(int fd, int tcp, __u64 cookie)
{
	/* Reset: a peer that comes up late must not see the socket opened and closed. */
	static const struct linger reset = { .l_onoff = 1 };

	if (cookie_of(fd) != cookie) {
		errno = EBADF;
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	return NEXT(dup3)(tcp, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
}

/**
 * become_tcp - replace the NDP socket of a descriptor by a TCP socket
 * @fd:		descriptor
 * @name:	as for new_tcp_like()
 * @cookie:	of the NDP socket
 *
 * Return: 0, or -1 with errno: EBADF if the descriptor is not that socket's any more.
 */
int become_tcp(int fd, const struct name *name, __u64 cookie)
{
	int tcp, done;

	tcp = new_tcp_like(fd, name, fcntl(fd, F_GETFL) & O_NONBLOCK ? SOCK_NONBLOCK : 0);
	if (tcp < 0)
		return -1;
	done = put_over(fd, tcp, cookie);
	close_keeping_errno(tcp);
	if (done < 0)
		return -1;
	watch_move(fd, cookie);
	return 0;
}
