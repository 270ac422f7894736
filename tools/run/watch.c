// SPDX-License-Identifier: GPL-2.0
/*
 * A socket that becomes TCP's in its connect() is another one for the epoll that watched it:
 * that forgets the old one, and must be told of the new one.  So it is noted for each
 * descriptor in which epoll it was put last.
 *
 * A note is of the socket, not of the number: what else that is used for meanwhile has
 * another cookie.
 */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "library.h"

/* Descriptors above are not looked after. */
#define WATCHES_MAX	0x100000

static struct watch {
	__u64			cookie;
	int			epoll;
	struct epoll_event	event;
} *watches;
static unsigned int watches_max;

/* One for each descriptor there may be; memory is taken by those that are used. */
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

/* Return: NULL for a descriptor that is not looked after. */
static struct watch *watch_of(int fd)
{
	return (unsigned int)fd < watches_max ? &watches[fd] : NULL;
}

/**
 * watch_note - epoll_ctl() was called
 * @epoll:	its first argument
 * @op:		its second
 * @fd:		its third
 * @event:	its fourth
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
 * watch_move - a descriptor has another socket now, for the same purpose
 * @fd:		descriptor
 * @cookie:	that of the socket that it had
 */
void watch_move(int fd, __u64 cookie)
{
	struct watch *w = watch_of(fd);

	if (w && w->cookie && w->cookie == cookie &&
	    !NEXT(epoll_ctl)(w->epoll, EPOLL_CTL_ADD, fd, &w->event))
		w->cookie = cookie_of(fd);
}

/**
 * watch_also - who watches a listener watches the one beside it
 * @fd:		listener
 * @tcp:	the one beside it
 */
void watch_also(int fd, int tcp)
{
	struct watch *w = watch_of(fd);

	if (w && w->cookie && w->cookie == cookie_of(fd))
		NEXT(epoll_ctl)(w->epoll, EPOLL_CTL_ADD, tcp, &w->event);
}
