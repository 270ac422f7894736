// SPDX-License-Identifier: GPL-2.0
/*
 * libndp_run.so: makes AF_NDP sockets in place of TCP sockets, in programs without support for
 * NDP.
 *
 * The loader (LD_PRELOAD) puts these functions in place of the C library's.  For most programs
 * only the creation of sockets changes: bind() and connect() check for exceptions, and, if a
 * fallback was asked for, connect() checks for destinations without NDP, and functions that wait
 * on a listener include its TCP socket (pair.c).  All else goes to the kernel unchanged:
 * reading, writing (but for MSG_FASTOPEN), options, and accepted connections.
 *
 * Non-goals: programs that do not call the C library (static ones, Go), and io_uring, which
 * bypasses it.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "library.h"
#include "connect.h"

#define CALL __attribute__((visibility("default")))

static bool is_tcp(int domain, int type, int protocol)
{
	return (domain == AF_INET || domain == AF_INET6) &&
	       (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM &&
	       (protocol == 0 || protocol == IPPROTO_TCP);
}

CALL int socket(int domain, int type, int protocol)
{
	if (!is_tcp(domain, type, protocol))
		return NEXT(socket)(domain, type, protocol);
	return new_ndp(domain, type);
}

/* SO_PROTOCOL alone reveals the socket's kind: report TCP. */
CALL int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	int ret = NEXT(getsockopt)(fd, level, name, value, len);

	if (!ret && level == SOL_SOCKET && name == SO_PROTOCOL &&
	    *len == sizeof(int) && is_ndp(fd))
		*(int *)value = IPPROTO_TCP;
	return ret;
}

static bool port_comes_later(int fd)
{
	int on = 0;
	socklen_t len = sizeof(on);

	return !NEXT(getsockopt)(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, &len) && on;
}

CALL int bind(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
	char text[DESTINATION_TEXT];
	struct destination own;
	struct name name;

	if (!(settings()->excepts || settings()->fallback_ms) || !is_ndp(fd) ||
	    !destination_of(addr.__sockaddr__, len, &own))
		return NEXT(bind)(fd, addr, len);
	if (settings_except(settings(), &own)) {
		say("own address %s: TCP, an exception", destination_text(&own, text));
		name_of(fd, &name);
		if (become_tcp(fd, &name, cookie_of(fd)))
			return -1;
	} else if (!own.port && !port_comes_later(fd)) {
		return pair_bind(fd, addr.__sockaddr__, len);
	}
	return NEXT(bind)(fd, addr, len);
}

CALL int connect(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
	int tcp = pair_of(fd);

	/* A listener is only connected to AF_UNSPEC, which ends its listening. */
	if (tcp >= 0)
		return NEXT(connect)(tcp, addr, len) ?: NEXT(connect)(fd, addr, len);
	return is_ndp(fd) ? connect_ndp(fd, addr.__sockaddr__, len) : NEXT(connect)(fd, addr, len);
}

/* Ends the listening of a listener. */
CALL int shutdown(int fd, int how)
{
	int tcp = pair_of(fd);

	if (tcp >= 0 && NEXT(shutdown)(tcp, how))
		return -1;
	return NEXT(shutdown)(fd, how);
}

/* MSG_FASTOPEN connects without connect(): refuse it, and programs call connect(). */
static bool refused_to_connect_by_sending(int fd, int flags)
{
	if (!(flags & MSG_FASTOPEN) || !(settings()->excepts || settings()->fallback_ms) ||
	    !is_ndp(fd))
		return false;
	errno = EOPNOTSUPP;
	return true;
}

CALL ssize_t sendto(int fd, const void *data, size_t n, int flags, __CONST_SOCKADDR_ARG addr,
		    socklen_t len)
{
	if (refused_to_connect_by_sending(fd, flags))
		return -1;
	return NEXT(sendto)(fd, data, n, flags, addr, len);
}

CALL ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	if (refused_to_connect_by_sending(fd, flags))
		return -1;
	return NEXT(sendmsg)(fd, msg, flags);
}

static void say_of_socket(const char *what, int fd, const char *transport)
{
	char text[DESTINATION_TEXT];
	struct destination own;
	struct name name;

	if (!settings()->verbose)
		return;
	name_of(fd, &name);
	if (destination_of((struct sockaddr *)&name.addr, name.len, &own))
		say("%s %s: %s", what, destination_text(&own, text), transport);
}

CALL int listen(int fd, int backlog)
{
	bool ndp = is_ndp(fd);

	if (ndp && settings()->fallback_ms ? pair_listen(fd, backlog) : NEXT(listen)(fd, backlog))
		return -1;
	say_of_socket("listener at", fd, !ndp ? "TCP" : pair_of(fd) < 0 ? "NDP" : "NDP and TCP");
	return 0;
}

static int report_accepted(int sock)
{
	if (sock >= 0 && settings()->verbose)
		say_of_socket("accepted at", sock, is_ndp(sock) ? "NDP" : "TCP");
	return sock;
}

CALL int accept4(int fd, __SOCKADDR_ARG addr, socklen_t *len, int flags)
{
	int tcp = pair_of(fd);

	return report_accepted(tcp < 0 ? NEXT(accept4)(fd, addr, len, flags) :
					 pair_accept(fd, tcp, addr.__sockaddr__, len, flags));
}

/* Not by accept4() without need: a program's own seccomp filter may allow accept() alone. */
CALL int accept(int fd, __SOCKADDR_ARG addr, socklen_t *len)
{
	int tcp = pair_of(fd);

	return report_accepted(tcp < 0 ? NEXT(accept)(fd, addr, len) :
					 pair_accept(fd, tcp, addr.__sockaddr__, len, 0));
}

CALL int close(int fd)
{
	pair_end(fd);
	return NEXT(close)(fd);
}

/* A descriptor that dup2() or dup3() overwrites is closed, if the call does not fail. */
static void end_what_is_put_over(int from, int to)
{
	if (any_pair() && from != to && fcntl(from, F_GETFD) >= 0)
		pair_end(to);
}

CALL int dup2(int from, int to)
{
	end_what_is_put_over(from, to);
	return NEXT(dup2)(from, to);
}

CALL int dup3(int from, int to, int flags)
{
	if (!(flags & ~O_CLOEXEC))
		end_what_is_put_over(from, to);
	return NEXT(dup3)(from, to, flags);
}

CALL int close_range(unsigned int first, unsigned int last, int flags)
{
	if (!(flags & CLOSE_RANGE_CLOEXEC))
		pair_end_range(first, last);
	return NEXT(close_range)(first, last, flags);
}

/*
 * libuv closes sockets by syscall(), and adds them to an epoll instance by an io_uring of its own
 * if it gets one; without, it calls epoll_ctl().
 */
CALL long syscall(long number, ...)
{
	long a[6];
	va_list args;
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_close)
		return close(a[0]);
	if (number == SYS_io_uring_setup && settings()->fallback_ms) {
		/* As where kernel.io_uring_disabled is set. */
		errno = EPERM;
		return -1;
	}
	return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

CALL int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	int tcp = pair_of(fd);

	if (NEXT(epoll_ctl)(epoll, op, fd, event))
		return -1;
	watch_note(epoll, op, fd, event);
	if (tcp < 0 || !NEXT(epoll_ctl)(epoll, op, tcp, event))
		return 0;
	if (op == EPOLL_CTL_ADD)
		NEXT(epoll_ctl)(epoll, EPOLL_CTL_DEL, fd, NULL);
	return op == EPOLL_CTL_DEL ? 0 : -1;
}

/* glibc's header declares that poll() only writes to its array. */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

/*
 * A call of poll() with paired listeners: their TCP sockets are appended to the program's array.
 */
struct poll_pairs {
	struct pollfd	*all;
	nfds_t		n;
	nfds_t		*whose;		/* for each appended socket, index of its listener */
};

static nfds_t count_pairs(const struct pollfd *fds, nfds_t n)
{
	nfds_t i, pairs = 0;

	/* An invalid array is left to the kernel, which reports the error. */
	for (i = 0; fds && any_pair() && i < n; i++)
		pairs += fds[i].fd >= 0 && pair_of(fds[i].fd) >= 0;
	return pairs;
}

/* Return: false if there is nothing to do, or no memory for it. */
static bool poll_begin(struct poll_pairs *p, const struct pollfd *fds, nfds_t n)
{
	nfds_t i, pairs = count_pairs(fds, n);
	int tcp;

	if (!pairs)
		return false;
	p->all = malloc((n + pairs) * (sizeof(*fds) + sizeof(*p->whose)));
	if (!p->all)
		return false;
	p->whose = (nfds_t *)(p->all + n + pairs);
	memcpy(p->all, fds, n * sizeof(*fds));
	p->n = n;
	for (i = 0; i < n && p->n < n + pairs; i++) {
		tcp = fds[i].fd < 0 ? -1 : pair_of(fds[i].fd);
		if (tcp < 0)
			continue;
		p->whose[p->n - n] = i;
		p->all[p->n++] = (struct pollfd){ tcp, fds[i].events, 0 };
	}
	return true;
}

/* Write the results into the program's array.  Return: number of ready descriptors. */
static int poll_end(struct poll_pairs *p, struct pollfd *fds, nfds_t n, int ret)
{
	int err = errno;
	nfds_t i;

	if (ret >= 0) {
		memcpy(fds, p->all, n * sizeof(*fds));
		for (i = n; i < p->n; i++)
			fds[p->whose[i - n]].revents |= p->all[i].revents;
		for (i = 0, ret = 0; i < n; i++)
			ret += !!fds[i].revents;
	}
	free(p->all);
	errno = err;
	return ret;
}

CALL int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	struct poll_pairs p;

	if (!poll_begin(&p, fds, n))
		return NEXT(poll)(fds, n, timeout);
	return poll_end(&p, fds, n, NEXT(poll)(p.all, p.n, timeout));
}

CALL int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	struct poll_pairs p;

	if (!poll_begin(&p, fds, n))
		return NEXT(ppoll)(fds, n, timeout, mask);
	return poll_end(&p, fds, n, NEXT(ppoll)(p.all, p.n, timeout, mask));
}

/* Called by programs built with checks of their arrays' sizes (_FORTIFY_SOURCE) */
CALL int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size)
{
	if (size / sizeof(*fds) < n)
		abort();
	return poll(fds, n, timeout);
}

CALL int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		     const sigset_t *mask, size_t size)
{
	if (size / sizeof(*fds) < n)
		abort();
	return ppoll(fds, n, timeout, mask);
}

/*
 * A call of select() with paired listeners works on sets of its own: the TCP sockets may have
 * numbers beyond the program's sets, which are of any length and stay unchanged if the call
 * fails.
 */
struct select_pairs {
	int		n, end;		/* the program's first argument, and ours */
	void		*given[3];	/* sets to read, to write and of exceptions; may be NULL */
	unsigned long	*set[3];
};

#define BITS	(8 * sizeof(unsigned long))

static size_t longs(int n)
{
	return (n + BITS - 1) / BITS;
}

/* Is @fd in the set?  FD_ISSET() would abort the program beyond FD_SETSIZE. */
static bool has_bit(const void *set, int fd)
{
	return ((const unsigned long *)set)[fd / BITS] >> fd % BITS & 1;
}

/* Return: the TCP socket beside a listener in the read set; or -1. */
static int twin_in_set(const struct select_pairs *p, int fd)
{
	return has_bit(p->given[0], fd) ? pair_of(fd) : -1;
}

static bool copy_sets(struct select_pairs *p)
{
	unsigned long *room = calloc(3 * longs(p->end), sizeof(*room));
	int i;

	if (!room)
		return false;
	for (i = 0; i < 3; i++) {
		p->set[i] = room + i * longs(p->end);
		if (!p->given[i])
			continue;
		memcpy(p->set[i], p->given[i], longs(p->n) * sizeof(*room));
		if (p->n % BITS)
			p->set[i][p->n / BITS] &= (1UL << p->n % BITS) - 1;
	}
	return true;
}

/* Limit @n to the size of the table of descriptors, as the kernel does: programs may pass the
 * limit of their descriptors, with a set that is shorter.
 */
static int descriptors_at_most(int n)
{
	char text[1024];
	const char *size;
	ssize_t len;
	int fd;

	if (n <= FD_SETSIZE)
		return n;
	fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		NEXT(close)(fd);
	text[len > 0 ? len : 0] = '\0';
	size = strstr(text, "\nFDSize:");
	return size && atoi(size + 8) < n ? atoi(size + 8) : n;
}

/* Return: false if there is nothing to do, or no memory for it. */
static bool select_begin(struct select_pairs *p, int n, fd_set *readable, fd_set *writable,
			 fd_set *other)
{
	int fd, tcp, end = 0;

	if (!readable || !any_pair())
		return false;
	n = descriptors_at_most(n);
	*p = (struct select_pairs){ .n = n, .given = { readable, writable, other } };
	for (fd = 0; fd < n; fd++) {
		tcp = twin_in_set(p, fd);
		if (tcp >= end)
			end = tcp + 1;
	}
	p->end = end > n ? end : n;
	if (!end || !copy_sets(p))
		return false;
	for (fd = 0; fd < n; fd++) {
		tcp = twin_in_set(p, fd);
		if (tcp >= 0 && tcp < p->end)
			p->set[0][tcp / BITS] |= 1UL << tcp % BITS;
	}
	return true;
}

/* Write the results into the program's sets.  Return: number of ready descriptors. */
static int select_end(struct select_pairs *p, int ret)
{
	int err = errno, fd, tcp, i;

	for (fd = 0; ret > 0 && fd < p->n; fd++) {
		tcp = twin_in_set(p, fd);
		if (tcp < 0 || tcp >= p->end || !has_bit(p->set[0], tcp))
			continue;
		p->set[0][tcp / BITS] &= ~(1UL << tcp % BITS);
		ret -= has_bit(p->set[0], fd);
		p->set[0][fd / BITS] |= 1UL << fd % BITS;
	}
	for (i = 0; ret >= 0 && i < 3; i++)
		if (p->given[i])
			memcpy(p->given[i], p->set[i], longs(p->n) * sizeof(*p->set[i]));
	free(p->set[0]);
	errno = err;
	return ret;
}

static fd_set *set_of(const struct select_pairs *p, int i)
{
	return p->given[i] ? (void *)p->set[i] : NULL;
}

CALL int select(int n, fd_set *readable, fd_set *writable, fd_set *other, struct timeval *timeout)
{
	struct select_pairs p;

	if (!select_begin(&p, n, readable, writable, other))
		return NEXT(select)(n, readable, writable, other, timeout);
	return select_end(&p, NEXT(select)(p.end, set_of(&p, 0), set_of(&p, 1), set_of(&p, 2),
					   timeout));
}

CALL int pselect(int n, fd_set *readable, fd_set *writable, fd_set *other,
		 const struct timespec *timeout, const sigset_t *mask)
{
	struct select_pairs p;

	if (!select_begin(&p, n, readable, writable, other))
		return NEXT(pselect)(n, readable, writable, other, timeout, mask);
	return select_end(&p, NEXT(pselect)(p.end, set_of(&p, 0), set_of(&p, 1), set_of(&p, 2),
					    timeout, mask));
}
