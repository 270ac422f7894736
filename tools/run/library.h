/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations common to the parts of libndp_run.so. */
#ifndef NDP_RUN_LIBRARY_H
#define NDP_RUN_LIBRARY_H

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "settings.h"

/* Functions of the C library that ours replace for the program.  Their addresses are looked up
 * when the library is loaded: dlsym() takes locks, which may be held permanently in a forked
 * child of a multithreaded program, or in a signal handler.
 */
extern struct next_functions {
	void	*socket, *getsockopt, *bind, *connect, *listen, *accept4, *close, *dup2, *dup3,
		*close_range, *epoll_ctl, *poll, *ppoll, *select, *pselect, *sendto, *sendmsg,
		*accept, *shutdown, *syscall;
} next_functions;

/* start.c: returns the address in @place, which is looked up now if a constructor of another
 * library calls before ours has run.
 */
void *next_function(void **place, const char *name);

#define NEXT(name)	((typeof(name) *)next_function(&next_functions.name, #name))

/* Name of a socket, of IPv4 or IPv6, and the MSS that the program has set (0: none), which
 * TCP_MAXSEG tells only before the socket is connected
 */
struct name {
	struct sockaddr_storage	addr;
	socklen_t		len;
	int			mss;
};

#define DESTINATION_TEXT	(INET6_ADDRSTRLEN + 8)

/* start.c: settings, and messages to the user */
const struct settings *settings(void);
void say(const char *format, ...);
void warn_once(const char *text);
const char *destination_text(const struct destination *d, char text[DESTINATION_TEXT]);

/* convert.c: NDP sockets, and their conversion to TCP */
void close_keeping_errno(int fd);
int new_ndp(int domain, int type);
bool is_ndp(int fd);
int state_of(int fd);
bool is_unused(int fd);
bool destination_of(const struct sockaddr *addr, socklen_t len, struct destination *d);
bool is_unspecified(const struct destination *d);
__u64 cookie_of(int fd);
void name_of(int fd, struct name *name);
int new_tcp_like(int fd, const struct name *name, int flags);
int become_tcp(int fd, const struct name *name, __u64 cookie);

/* memory.c: destinations without NDP */
bool remembered(const struct destination *d);
void remember(const struct destination *d, __u32 seconds);

/* pair.c: listeners that accept both NDP and TCP */
void pair_start(void);
int pair_bind(int fd, const struct sockaddr *addr, socklen_t len);
int pair_listen(int fd, int backlog);
int pair_of(int fd);
void pair_end(int fd);
void pair_end_range(unsigned int first, unsigned int last);
int pair_accept(int fd, int tcp, struct sockaddr *addr, socklen_t *len, int flags);
bool signals_restart(void);
bool any_pair(void);

/* watch.c: the epoll instance that an unconnected socket was added to */
void watch_start(void);
void watch_note(int epoll, int op, int fd, const struct epoll_event *event);
void watch_move(int fd, __u64 cookie);
void watch_also(int fd, int tcp);

#endif
