// SPDX-License-Identifier: GPL-2.0
/*
 * A listener that accepts NDP and TCP: the program's descriptor stays an NDP socket, and beside
 * it there is a TCP socket of the same address and port, of which the program does not know.
 * accept() takes connections from either; poll(), select() and epoll (calls.c) report both as
 * one.
 *
 * Copies by dup(), and programs that get the listener by exec() or over a socket and do not call
 * listen() themselves, have NDP alone.  Forked processes have both.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/ndp.h>

#include "library.h"

/* Most paired listeners; others accept NDP alone. */
#define PAIRS_MAX	1024
/* Attempts to find a port that is free in both TCP and NDP */
#define PORT_TRIES	32
/* poll() looks its descriptors up again after each wakeup.  If another thread has closed the
 * listener and opened another one with the same number before the waiting thread runs, poll() goes
 * on with that one.  Therefore a waiting accept() checks at this interval, in ms, whether it still
 * has its listener.
 */
#define LISTENER_CHECK	1000

/* Cookies show whether the descriptors still refer to these sockets. */
static struct pair {
	atomic_int	ndp;		/* -1: free */
	int		tcp;
	__u64	ndp_cookie, tcp_cookie;
} pairs[PAIRS_MAX];
/* Shared with forked processes, which use the same listeners.  After a fork, the same place may
 * be used for another listener in each process, and these then wait for each other for a
 * moment.
 */
static struct turn {
	pthread_mutex_t	lock;
	atomic_uint	first;		/* its lowest bit: which of the two is asked first */
} *turns;
static atomic_uint pairs_used;		/* places up to here may be taken */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* A child by vfork() shares our memory, but its closing of a descriptor does not affect ours. */
static pid_t owner;

static void fork_begin(void)
{
	pthread_mutex_lock(&lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void fork_child(void)
{
	owner = getpid();
	pthread_mutex_unlock(&lock);
}

/* A child has only the thread that forked: a lock held by another thread would stay locked. */
void pair_start(void)
{
	owner = getpid();
	pthread_atfork(fork_begin, fork_parent, fork_child);
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
 * pair_of - the TCP socket beside a listener
 * @fd:		listener
 *
 * Return: the TCP socket's descriptor, or -1 if there is none.
 */
int pair_of(int fd)
{
	struct pair *p = any_pair() ? find(fd) : NULL;

	if (!p || cookie_of(fd) != p->ndp_cookie || cookie_of(p->tcp) != p->tcp_cookie)
		return -1;
	return p->tcp;
}

static bool start_turns(void)
{
	pthread_mutexattr_t attr;
	int i;

	if (turns)
		return true;
	turns = mmap(NULL, PAIRS_MAX * sizeof(*turns), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (turns == MAP_FAILED) {
		turns = NULL;
		return false;
	}
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	/* A process may be killed while it holds a lock. */
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	for (i = 0; i < PAIRS_MAX; i++)
		pthread_mutex_init(&turns[i].lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return true;
}

static bool add(int fd, int tcp)
{
	unsigned int i;

	if (!start_turns())
		return false;
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
	return true;
}

/* Forget the listener of this number: one that was closed unnoticed (@stale), or one that is open.
 * Return: its TCP socket, to be closed without the lock, as a thread may be cancelled in close();
 * or -1.  Context: the lock is held.
 */
static int forget(int fd, bool stale)
{
	struct pair *p = find(fd);
	int tcp;

	if (!p || stale == (cookie_of(fd) == p->ndp_cookie))
		return -1;
	tcp = cookie_of(p->tcp) == p->tcp_cookie ? p->tcp : -1;
	atomic_store(&p->ndp, -1);
	return tcp;
}

static void end_pair(int fd, bool stale)
{
	int tcp;

	pthread_mutex_lock(&lock);
	tcp = forget(fd, stale);
	pthread_mutex_unlock(&lock);
	if (tcp >= 0)
		NEXT(close)(tcp);
}

/* Close TCP sockets of listeners that were closed unnoticed, whose ports they would keep. */
static void forget_all_stale(void)
{
	unsigned int i;
	int fd;

	if (owner != getpid())
		return;
	for (i = 0; i < atomic_load(&pairs_used); i++) {
		fd = atomic_load(&pairs[i].ndp);
		if (fd >= 0)
			end_pair(fd, true);
	}
}

/**
 * pair_bind - bind() to any port that is free in TCP as well
 * @fd:		NDP socket
 * @addr:	as for bind(), with port 0
 * @len:	as for bind()
 *
 * Return: 0, or -1 with errno.
 */
int pair_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	const struct name none = { .len = 0 };
	int tries, tcp, ret;
	struct name name;

	for (tries = 0; tries < PORT_TRIES; tries++) {
		tcp = new_tcp_like(fd, &none, 0);
		if (tcp < 0)
			break;
		name.len = 0;
		if (!NEXT(bind)(tcp, addr, len))
			name_of(tcp, &name);
		ret = NEXT(bind)(fd, name.len ? (struct sockaddr *)&name.addr : addr,
				 name.len ?: len);
		close_keeping_errno(tcp);
		if (!ret || errno != EADDRINUSE || !name.len)
			return ret;
	}
	return NEXT(bind)(fd, addr, len);
}

/* A listener without bind() gets any port, of the wildcard address. */
static int bind_to_any(int fd, struct name *name)
{
	in_port_t port = ((struct sockaddr_in *)&name->addr)->sin_port;

	if (name->len && !port && pair_bind(fd, (struct sockaddr *)&name->addr, name->len))
		return -1;
	name_of(fd, name);
	return 0;
}

/* Return: a listening TCP socket; or -1 with errno. */
static int new_twin(int fd, const struct name *name, int backlog)
{
	/* Nonblocking: accept4() is tried even if a connection may not be waiting. */
	int first = new_tcp_like(fd, name, SOCK_NONBLOCK), tcp = first;

	/* Daemons that have closed the standard descriptors may write to them nevertheless. */
	if (first >= 0 && first <= STDERR_FILENO) {
		tcp = fcntl(first, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		close_keeping_errno(first);
	}
	if (tcp >= 0 && NEXT(listen)(tcp, backlog)) {
		close_keeping_errno(tcp);
		return -1;
	}
	return tcp;
}

static void keep_twin(int fd, int tcp)
{
	bool added;

	end_pair(fd, true);
	pthread_mutex_lock(&lock);
	added = add(fd, tcp);
	pthread_mutex_unlock(&lock);
	if (added) {
		watch_also(fd, tcp);
	} else {
		NEXT(close)(tcp);
		warn_once("no room for one more listener of both: this one takes NDP alone");
	}
}

static bool shares_port(int fd)
{
	int on = 0;
	socklen_t len = sizeof(on);

	return !NEXT(getsockopt)(fd, SOL_SOCKET, SO_REUSEPORT, &on, &len) && on;
}

/**
 * pair_listen - listen on both sockets
 * @fd:		NDP socket
 * @backlog:	as for listen()
 *
 * The TCP socket listens first: if another TCP socket has the port, the program's own socket
 * does not listen either.  If TCP cannot listen for another reason (a low port, and privileges
 * dropped after bind()), NDP listens alone.
 *
 * A listener that this process got from another one may have lost its TCP socket, with a process
 * that has ended, and gets a new one; unless a process has the old one still.  With SO_REUSEPORT
 * that would not show: the two would share TCP's connections, so there is none.
 *
 * Return: 0, or -1 with errno.
 */
int pair_listen(int fd, int backlog)
{
	int tcp = pair_of(fd), state = state_of(fd);
	struct name name;

	if (tcp >= 0)
		return NEXT(listen)(tcp, backlog) ?: NEXT(listen)(fd, backlog);
	if (state != NDP_ST_CLOSE && (state != NDP_ST_LISTEN || shares_port(fd)))
		return NEXT(listen)(fd, backlog);
	forget_all_stale();
	name_of(fd, &name);
	if (bind_to_any(fd, &name))
		return -1;
	tcp = new_twin(fd, &name, backlog);
	if (tcp < 0 && errno == EADDRINUSE)
		return state == NDP_ST_LISTEN ? NEXT(listen)(fd, backlog) : -1;
	if (tcp < 0)
		warn_once("no listener of TCP beside NDP's (may this user have its port?)");
	if (NEXT(listen)(fd, backlog)) {
		if (tcp >= 0)
			close_keeping_errno(tcp);
		return -1;
	}
	if (tcp >= 0)
		keep_twin(fd, tcp);
	return 0;
}

/* The program closes a descriptor. */
void pair_end(int fd)
{
	if (any_pair() && find(fd) && owner == getpid())
		end_pair(fd, false);
}

/* The program closes all descriptors from @first to @last. */
void pair_end_range(unsigned int first, unsigned int last)
{
	unsigned int i;
	int fd;

	for (i = 0; i < atomic_load(&pairs_used); i++) {
		fd = atomic_load(&pairs[i].ndp);
		if (fd >= 0 && (unsigned int)fd >= first && (unsigned int)fd <= last)
			pair_end(fd);
	}
}

/* Return: timeout of a blocking accept(): SO_RCVTIMEO. */
static int patience_ms(int fd)
{
	struct timeval limit = { 0 };
	socklen_t len = sizeof(limit);

	if (NEXT(getsockopt)(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, &len) ||
	    (!limit.tv_sec && !limit.tv_usec))
		return -1;
	return limit.tv_sec * 1000 + limit.tv_usec / 1000;
}

/* Would accept() be restarted after a signal?  poll() does not report which signal it was, and
 * is itself never restarted.
 */
bool signals_restart(void)
{
	struct sigaction act;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		if (!sigaction(sig, NULL, &act) && act.sa_handler != SIG_DFL &&
		    act.sa_handler != SIG_IGN && !(act.sa_flags & SA_RESTART))
			return false;
	return true;
}

/* Accept a connection that is ready.  Return: as accept4() of a nonblocking socket. */
static int accept_ready(int fd, int tcp, struct turn *t, struct sockaddr *addr, socklen_t *len,
			int flags)
{
	struct pollfd both[2] = { { fd, POLLIN, 0 }, { tcp, POLLIN, 0 } };
	/* Alternate, so that neither starves the other. */
	unsigned int first = atomic_fetch_add(&t->first, 1) & 1;
	int sock = -1, i;

	if (NEXT(poll)(both, 2, 0) < 0)
		return -1;
	errno = EAGAIN;
	for (i = 0; i < 2 && sock < 0 && errno == EAGAIN; i++)
		if (both[first ^ i].revents)
			sock = NEXT(accept4)(both[first ^ i].fd, addr, len, flags);
	return sock;
}

/* The same for a blocking listener.  The processes and threads that have it take turns: the one
 * that has seen a connection must get it, and must not sleep in accept4() of NDP alone.  While
 * one waits another thread may close the listener, whose number may be another's then: the @cookie
 * shows it.
 */
static int accept_in_turn(int fd, __u64 cookie, int tcp, struct turn *t, struct sockaddr *addr,
			  socklen_t *len, int flags)
{
	int sock = -1, err = EINVAL;

	if (pthread_mutex_lock(&t->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&t->lock);
	if (cookie_of(fd) == cookie) {
		sock = accept_ready(fd, tcp, t, addr, len, flags);
		err = errno;
	}
	pthread_mutex_unlock(&t->lock);
	errno = err;
	return sock;
}

/**
 * pair_accept - accept4() of a listener for both
 * @fd:		listener
 * @tcp:	TCP socket beside it
 * @addr:	as for accept4()
 * @len:	as for accept4()
 * @flags:	as for accept4()
 *
 * Return: the connection, or -1 with errno.
 */
int pair_accept(int fd, int tcp, struct sockaddr *addr, socklen_t *len, int flags)
{
	struct pollfd both[2] = { { fd, POLLIN, 0 }, { tcp, POLLIN, 0 } };
	struct pair *p = find(fd);
	int left, slice, sock, n;
	struct turn *turn;
	__u64 cookie;

	if (!p)
		return NEXT(accept4)(fd, addr, len, flags);
	turn = &turns[p - pairs];
	if (fcntl(fd, F_GETFL) & O_NONBLOCK)
		return accept_ready(fd, tcp, turn, addr, len, flags);
	left = patience_ms(fd);
	cookie = p->ndp_cookie;
	for (;;) {
		sock = accept_in_turn(fd, cookie, tcp, turn, addr, len, flags);
		if (sock >= 0 || errno != EAGAIN)
			return sock;
		slice = left >= 0 && left < LISTENER_CHECK ? left : LISTENER_CHECK;
		n = NEXT(poll)(both, 2, slice);
		if (n < 0 && (errno != EINTR || left >= 0 || !signals_restart()))
			return -1;
		if (!n && left >= 0) {
			left -= slice;
			if (!left) {
				errno = EAGAIN;
				return -1;
			}
		}
	}
}
