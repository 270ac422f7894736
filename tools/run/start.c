// SPDX-License-Identifier: GPL-2.0
/* Initialisation of libndp_run.so when it is loaded, and messages to the user. */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library.h"

static struct settings given;
struct next_functions next_functions;

/* The settings do not change once the library is loaded. */
const struct settings *settings(void)
{
	return &given;
}

/* Standard error at the start of the program: the descriptor may refer to a file or
 * connection of the program later, if the program has closed it.
 */
static struct stat errors_at_start;
static bool errors_are_there;

static bool errors_are_read(void)
{
	struct stat is;

	return errors_are_there && !fstat(STDERR_FILENO, &is) &&
	       is.st_dev == errors_at_start.st_dev && is.st_ino == errors_at_start.st_ino;
}

/* One write per line, so that lines of several processes are not mixed. */
static void put_line(const char *format, va_list args)
{
	int err = errno, n;
	char line[256];

	n = snprintf(line, sizeof(line), "ndp_run[%d]: ", getpid());
	n += vsnprintf(line + n, sizeof(line) - n, format, args);
	if (n > (int)sizeof(line) - 1)
		n = sizeof(line) - 1;
	line[n++] = '\n';
	if (errors_are_read() && write(STDERR_FILENO, line, n) < 0)
		n = 0;	/* errors of the output are ignored */
	errno = err;
}

/* Report a decision, with the setting verbose. */
void say(const char *format, ...)
{
	va_list args;

	if (!given.verbose)
		return;
	va_start(args, format);
	put_line(format, args);
	va_end(args);
}

static void put(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line(format, args);
	va_end(args);
}

/* Print only the first warning in a process and its forked children. */
void warn_once(const char *text)
{
	static atomic_bool told;

	if (!atomic_exchange(&told, true))
		put("%s", text);
}

const char *destination_text(const struct destination *d, char text[DESTINATION_TEXT])
{
	bool ip4 = IN6_IS_ADDR_V4MAPPED(&d->addr);
	char addr[INET6_ADDRSTRLEN];

	inet_ntop(ip4 ? AF_INET : AF_INET6, &d->addr.s6_addr[ip4 ? 12 : 0], addr, sizeof(addr));
	snprintf(text, DESTINATION_TEXT, ip4 ? "%s:%u" : "[%s]:%u", addr, d->port);
	return text;
}

void *next_function(void **place, const char *name)
{
	if (!*place)
		*place = dlsym(RTLD_NEXT, name);
	return *place;
}

static void look_up(void)
{
	(void)NEXT(socket);
	(void)NEXT(getsockopt);
	(void)NEXT(bind);
	(void)NEXT(connect);
	(void)NEXT(listen);
	(void)NEXT(accept4);
	(void)NEXT(close);
	(void)NEXT(dup2);
	(void)NEXT(dup3);
	(void)NEXT(close_range);
	(void)NEXT(epoll_ctl);
	(void)NEXT(poll);
	(void)NEXT(ppoll);
	(void)NEXT(select);
	(void)NEXT(pselect);
	(void)NEXT(sendto);
	(void)NEXT(sendmsg);
	(void)NEXT(accept);
	(void)NEXT(shutdown);
	(void)NEXT(syscall);
}

__attribute__((constructor)) static void start(void)
{
	const char *told = secure_getenv(SETTINGS_VARIABLE);
	char text[SETTINGS_TEXT_MAX], error[SETTINGS_ERROR];
	int err;

	look_up();
	errors_are_there = !fstat(STDERR_FILENO, &errors_at_start);
	if (!told) {
		err = settings_read(SETTINGS_FILE, text);
		if (err && err != ENOENT)
			put("%s: %s", SETTINGS_FILE, strerror(err));
		told = text;
	}
	if (!settings_parse(&given, told, error))
		put("%s; what follows it does not count", error);
	/* Without fallback and exceptions no socket is replaced or paired. */
	if (given.fallback_ms || given.excepts)
		watch_start();
	if (given.fallback_ms)
		pair_start();
}
