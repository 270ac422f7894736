// SPDX-License-Identifier: GPL-2.0
/*
 * When connect() replaces an NDP socket by a TCP socket, an epoll instance that watched the
 * old socket forgets it, and the new one must be added.  So the epoll instance that a
 * descriptor was added to last is recorded here.
 *
 * A record belongs to the socket, not to the descriptor's number: another socket of the same
 * number has another cookie.
 */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "library.h"

/* Descriptors from this number on are not recorded. */
#define WATCHES_MAX	0x100000

static struct watch {
	__u64			cookie;
	int			epoll;
	struct epoll_event	event;
} *watches;
static unsigned int watches_max;

/* Reserve a record for each possible descriptor; only records in use take memory. */
void watch_start(void)
{
	struct rlimit limit;
	void *map;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (limit.rlim_max > WATCHES_MAX)
		limit.rlim_max = WATCHES_MAX;
	map = mmap(NULL, limit.rlim_max * sizeof(*watches), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return;
	watches = map;
	watches_max = limit.rlim_max;
}

/* Return: NULL for a descriptor that is not recorded. */
static struct watch *watch_of(int fd)
{
	return (unsigned int)fd < watches_max ? &watches[fd] : NULL;
}

/**
 * watch_note - record a call of epoll_ctl()
 * @epoll:	first argument
 * @op:		second argument
 * @fd:		third argument
 * @event:	fourth argument
 */
void watch_note(int epoll, int op, int fd, const struct epoll_event *event)
{
	struct watch *w = watch_of(fd);

	if (!w)
		return;
	if (op == EPOLL_CTL_DEL) {
		w->cookie = 0;
		return;
	}
	w->epoll = epoll;
	w->event = *event;
	w->cookie = cookie_of(fd);
}

/**
 * watch_move - a descriptor refers to a new socket: watch that one in place of the old one
 * @fd:		descriptor
 * @cookie:	cookie of the old socket
 */
void watch_move(int fd, __u64 cookie)
{
	struct watch *w = watch_of(fd);

	if (w && w->cookie && w->cookie == cookie &&
	    !NEXT(epoll_ctl)(w->epoll, EPOLL_CTL_ADD, fd, &w->event))
		w->cookie = cookie_of(fd);
}

/**
 * watch_also - watch the TCP socket beside a listener where the listener is watched
 * @fd:		listener
 * @tcp:	TCP socket beside it
 */
void watch_also(int fd, int tcp)
{
	struct watch *w = watch_of(fd);

	if (w && w->cookie && w->cookie == cookie_of(fd))
		NEXT(epoll_ctl)(w->epoll, EPOLL_CTL_ADD, tcp, &w->event);
}
