// SPDX-License-Identifier: GPL-2.0
/*
 * connect(): by NDP, or by TCP where the settings, an earlier attempt or this one require it.
 *
 * With a fallback, connect() waits for the answer of a destination that is not known to be
 * without NDP, also on a nonblocking socket: for a round trip, or, if there is no answer, for
 * the user's timeout, once in REMEMBERED seconds.  The socket could not be replaced later, when
 * the program waits for the descriptor in a way of its own.
 */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "connect.h"
#include "library.h"

/* How long TCP is used at once, in seconds: for a destination that accepted TCP, and for one
 * that did not answer, if the end of TCP's connect() in the background is not seen.  A host
 * that is down does not answer either, and may have NDP when it is up.
 */
#define REMEMBERED		600
#define REMEMBERED_UNSEEN	10

/* Arguments of the program's connect() */
struct call {
	int			fd;
	const struct sockaddr	*addr;
	socklen_t		len;
	struct destination	to;
	struct name		name;	/* of the socket before connect() */
	__u64			cookie;
};

static void decided(const struct call *c, const char *what)
{
	char text[DESTINATION_TEXT];

	say("connect to %s: %s", destination_text(&c->to, text), what);
}

static int by_tcp(const struct call *c)
{
	if (become_tcp(c->fd, &c->name, c->cookie))
		return -1;
	return NEXT(connect)(c->fd, c->addr, c->len);
}

/* The destination had no NDP when it was tried last: use TCP. */
static int by_tcp_again(const struct call *c)
{
	int ret = by_tcp(c);

	decided(c, "TCP, remembered");
	/* If TCP fails, the destination may have NDP now. */
	if (ret && errno != EINPROGRESS)
		remember(&c->to, 0);
	return ret;
}

static __s64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Another thread may have closed the descriptor: its number may be another file's now. */
static bool is_still_ours(const struct call *c)
{
	return cookie_of(c->fd) == c->cookie;
}

/*
 * Wait for a connect() in the background.
 * Return: 0 or an error; -ETIMEDOUT if unanswered; -EINTR after a signal, if @interruptible.
 */
static int answer(const struct call *c, bool interruptible)
{
	__s64 end = now_ms() + settings()->fallback_ms, left;
	struct pollfd wait = { c->fd, POLLOUT, 0 };
	socklen_t len = sizeof(int);
	int err = 0, n;

	do {
		left = end - now_ms();
		n = NEXT(poll)(&wait, 1, left > 0 ? left : 0);
	} while (n < 0 && errno == EINTR && !(interruptible && !signals_restart()));
	if (n == 0)
		return -ETIMEDOUT;
	/* Reading SO_ERROR clears it. */
	if (!is_still_ours(c))
		return -EBADF;
	if (n < 0 || NEXT(getsockopt)(c->fd, SOL_SOCKET, SO_ERROR, &err, &len))
		return -errno;
	return -err;
}

/* Return: 0, or the error of NDP's connect(). */
static int try_ndp(const struct call *c, int flags)
{
	int err = 0;

	fcntl(c->fd, F_SETFL, flags | O_NONBLOCK);
	if (NEXT(connect)(c->fd, c->addr, c->len))
		err = errno == EINPROGRESS ? answer(c, !(flags & O_NONBLOCK)) : -errno;
	if (!is_still_ours(c))
		return -EBADF;
	fcntl(c->fd, F_SETFL, flags);
	return err;
}

/* Might TCP succeed where NDP failed?  Other errors are returned to the program. */
static bool is_the_way(int err)
{
	switch (-err) {
	case ECONNREFUSED:
	case ECONNRESET:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EPERM:
	case EPROTONOSUPPORT:
	case ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

static int with_fallback(const struct call *c)
{
	int flags = fcntl(c->fd, F_GETFL), err = try_ndp(c, flags), ret;

	if (!err) {
		decided(c, "NDP");
		if (!(flags & O_NONBLOCK))
			return 0;
		/* As TCP returns even for a near peer; the socket is writable already. */
		errno = EINPROGRESS;
		return -1;
	}
	if (!is_the_way(err)) {
		errno = -err;
		return -1;
	}
	ret = by_tcp(c);
	decided(c, err == -ETIMEDOUT ? "TCP, for it is silent" :
		   err == -ECONNREFUSED ? "TCP, for it refuses NDP" : "TCP, for it has no NDP");
	/* A destination that refuses both may have both at the next attempt. */
	if (!ret)
		remember(&c->to, REMEMBERED);
	else if (err == -ETIMEDOUT && errno == EINPROGRESS)
		remember(&c->to, REMEMBERED_UNSEEN);
	return ret;
}

/* Programs connect to 0.0.0.0 or :: to reach this host, as the kernel allows. */
static void name_loopback(struct destination *to)
{
	if (!is_unspecified(to))
		return;
	if (IN6_IS_ADDR_V4MAPPED(&to->addr))
		to->addr.s6_addr[12] = 127;
	to->addr.s6_addr[15] = 1;
}

/**
 * connect_ndp - connect() of an NDP socket
 * @fd:		socket
 * @addr:	as for connect()
 * @len:	as for connect()
 *
 * Return: as connect() does.
 */
int connect_ndp(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct call c = { .fd = fd, .addr = addr, .len = len };

	/* AF_UNSPEC, or a repeated connect(), which asks for the state */
	if (!destination_of(addr, len, &c.to) || !is_unused(fd))
		return NEXT(connect)(fd, addr, len);
	name_loopback(&c.to);
	name_of(fd, &c.name);
	c.cookie = cookie_of(fd);
	if (settings_except(settings(), &c.to)) {
		decided(&c, "TCP, an exception");
		return by_tcp(&c);
	}
	if (settings()->fallback_ms)
		return remembered(&c.to) ? by_tcp_again(&c) : with_fallback(&c);
	decided(&c, "NDP");
	return NEXT(connect)(fd, addr, len);
}
