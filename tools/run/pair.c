// SPDX-License-Identifier: GPL-2.0
/*
 * A listener that takes NDP and TCP: the program's descriptor stays NDP's, and beside it there
 * is one of TCP, of the same address and port, of which the program does not know.  accept()
 * takes from either; poll(), select() and epoll (calls.c) tell of both as one.
 *
 * Copies by dup(), and programs that it is passed on to by exec() or over a socket, have NDP's
 * alone.  Processes that are forked have both.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "library.h"

/* Listeners beyond that take NDP alone. */
#define PAIRS_MAX	64

/* By cookies it is known whether the numbers still stand for these sockets. */
static struct pair {
	atomic_int	ndp;		/* -1: free */
	int		tcp;
	__u64	ndp_cookie, tcp_cookie;
	atomic_uint	turn;		/* which of the two is asked first */
} pairs[PAIRS_MAX];
static atomic_uint pairs_used;		/* places up to here may be taken */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* A child by vfork() has our memory, and its closing of a descriptor is not ours. */
static pid_t owner;

static void forked(void)
{
	owner = getpid();
}

bool any_pair(void)
{
	return atomic_load(&pairs_used);
}

static struct pair *find(int fd)
{
	unsigned int i, n = atomic_load(&pairs_used);

	for (i = 0; i < n; i++)
		if (atomic_load(&pairs[i].ndp) == fd)
			return &pairs[i];
	return NULL;
}

/**
 * pair_of - the socket of TCP beside a listener
 * @fd:		listener
 *
 * Return: its descriptor, or -1 if it has none.
 */
int pair_of(int fd)
{
	struct pair *p = any_pair() ? find(fd) : NULL;

	if (!p || cookie_of(fd) != p->ndp_cookie || cookie_of(p->tcp) != p->tcp_cookie)
		return -1;
	return p->tcp;
}

static bool add(int fd, int tcp)
{
	unsigned int i;

	for (i = 0; i < PAIRS_MAX; i++)
		if (i >= atomic_load(&pairs_used) || atomic_load(&pairs[i].ndp) < 0)
			break;
	if (i == PAIRS_MAX)
		return false;
	pairs[i].tcp = tcp;
	pairs[i].ndp_cookie = cookie_of(fd);
	pairs[i].tcp_cookie = cookie_of(tcp);
	atomic_store(&pairs[i].ndp, fd);
	if (i == atomic_load(&pairs_used))
		atomic_store(&pairs_used, i + 1);
	if (!owner)
		pthread_atfork(NULL, NULL, forked);
	owner = getpid();
	return true;
}

/* The listener that had this number was closed in a way that was not seen. */
static void forget_stale(int fd)
{
	struct pair *p = find(fd);

	if (!p)
		return;
	if (cookie_of(p->tcp) == p->tcp_cookie)
		NEXT(close)(p->tcp);
	atomic_store(&p->ndp, -1);
}

/**
 * pair_with_tcp - listen by TCP as well
 * @fd:		listener of NDP
 * @backlog:	as for listen()
 *
 * Return: 0, or -1 with errno: the port is another's in TCP, say.
 */
int pair_with_tcp(int fd, int backlog)
{
	int tcp = pair_of(fd), err;
	struct name name;

	if (tcp >= 0)
		return NEXT(listen)(tcp, backlog);
	name_of(fd, &name);
	/* Which is asked without being sure that anybody is there must not wait. */
	tcp = new_tcp_like(fd, &name, SOCK_NONBLOCK);
	if (tcp < 0)
		return -1;
	if (NEXT(listen)(tcp, backlog)) {
		err = errno;
		NEXT(close)(tcp);
		errno = err;
		return -1;
	}
	pthread_mutex_lock(&lock);
	forget_stale(fd);
	if (!add(fd, tcp)) {
		NEXT(close)(tcp);
		tcp = -1;
		warn_once("more than 64 listeners: this one takes NDP alone");
	}
	pthread_mutex_unlock(&lock);
	if (tcp < 0)
		return 0;
	watch_also(fd, tcp);
	return 0;
}

/* The program closes a descriptor. */
void pair_end(int fd)
{
	struct pair *p = any_pair() ? find(fd) : NULL;

	if (!p || owner != getpid() || cookie_of(fd) != p->ndp_cookie)
		return;
	pthread_mutex_lock(&lock);
	forget_stale(fd);
	pthread_mutex_unlock(&lock);
}

/* How long a blocking accept() may wait: SO_RCVTIMEO. */
static int patience_ms(int fd)
{
	struct timeval limit = { 0 };
	socklen_t len = sizeof(limit);

	if (NEXT(getsockopt)(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, &len) ||
	    (!limit.tv_sec && !limit.tv_usec))
		return -1;
	return limit.tv_sec * 1000 + limit.tv_usec / 1000;
}

/**
 * pair_accept - accept4() of a listener that takes both
 * @fd:		listener
 * @tcp:	the one beside it
 * @addr:	as for accept4()
 * @len:	as for accept4()
 * @flags:	as for accept4()
 *
 * Return: the connection, or -1 with errno.
 */
int pair_accept(int fd, int tcp, struct sockaddr *addr, socklen_t *len, int flags)
{
	struct pollfd both[2] = { { fd, POLLIN, 0 }, { tcp, POLLIN, 0 } };
	bool wait = !(fcntl(fd, F_GETFL) & O_NONBLOCK);
	struct pair *p = find(fd);
	int i, n, sock, first, limit = wait ? patience_ms(fd) : 0;

	for (;;) {
		/* Neither shall starve the other. */
		first = p ? atomic_fetch_add(&p->turn, 1) & 1 : 0;
		n = NEXT(poll)(both, 2, limit);
		if (n < 0)
			return -1;
		for (i = 0; i < 2 && n; i++) {
			struct pollfd *at = &both[first ^ i];

			if (!at->revents)
				continue;
			sock = NEXT(accept4)(at->fd, addr, len, flags);
			if (sock >= 0 || errno != EAGAIN)
				return sock;
		}
		if (!wait || !n) {
			errno = EAGAIN;
			return -1;
		}
	}
}
