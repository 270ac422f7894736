/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests that AF_NDP behaves as TCP sockets do, with TCP as the oracle: common code of the programs
 * ndp_oracle*.c.
 *
 * Each case is written once and runs over TCP and over AF_NDP, on loopback and over a cable between
 * two namespaces.  It notes what the calls return; the notes of both runs must be the same except
 * for the lines in the table of Documentation/differences.md: a difference that is not in the table
 * is a failure, and so is one in the table that no longer occurs.
 *
 * Non-goals: timing, and features that only AF_NDP has (ndp_sock.c).
 */
#ifndef _ORACLE_H
#define _ORACLE_H

#include "worlds.h"

/* The C library's header would define it, but also an outdated struct tcp_info. */
#define SOL_TCP		IPPROTO_TCP

#define DIFFERENCES	"../Documentation/differences.md"
static FILE *notes;

static inline void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(notes, format, args);
	va_end(args);
	fputc('\n', notes);
	fflush(notes);
}

/* Note a call and its result. */
static inline long note_call(const char *call, long result)
{
	if (result < 0)
		note("%s = %s", call, strerrorname_np(errno));
	else
		note("%s = %ld", call, result);
	return result;
}

#define CALL(call)	note_call(#call, (errno = 0, (long)(call)))

/* Note events by name, so that the notes can be read. */
static inline void note_events(const char *what, int events)
{
	static const struct {
		int		bit;
		const char	*name;
	} names[] = {
		{ POLLIN, " IN" }, { POLLPRI, " PRI" }, { POLLOUT, " OUT" }, { POLLERR, " ERR" },
		{ POLLHUP, " HUP" }, { POLLNVAL, " NVAL" }, { POLLRDNORM, " RDNORM" },
		{ POLLRDBAND, " RDBAND" }, { POLLWRNORM, " WRNORM" },
		{ POLLWRBAND, " WRBAND" }, { POLLRDHUP, " RDHUP" },
	};
	char text[128] = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (events & names[i].bit)
			strcat(text, names[i].name);
	note("events of %s:%s", what, text);
}

#define ALL_EVENTS (POLLIN | POLLPRI | POLLOUT | POLLRDNORM | POLLRDBAND | POLLWRNORM | \
		    POLLWRBAND | POLLRDHUP)

/* Wait for one of @awaited.  Return: all events of @fd. */
static inline int events_of(int fd, int awaited, int ms)
{
	struct pollfd p = { .fd = fd, .events = awaited };

	poll(&p, 1, ms);
	p.events = ALL_EVENTS;
	poll(&p, 1, 0);
	return p.revents;
}

#define EVENTS(fd)		note_events(#fd, events_of(fd, 0, 0))
#define AWAIT(fd, awaited)	note_events(#fd, events_of(fd, awaited, SOON))

static inline void must(bool ok, const char *what)
{
	if (!ok) {
		note("cannot %s: %s", what, strerrorname_np(errno));
		exit(1);
	}
}

static inline int listening(int port)
{
	int fd = new_socket(FAR, 0);

	must(fd >= 0, "make a listener");
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	must(!bind_to(fd, FAR, port) && !listen(fd, 8), "listen");
	return fd;
}

static inline void wait_event(int fd, int event)
{
	must(until(fd, event), "wait for an event");
}

static inline void wait_in(int fd)
{
	wait_event(fd, POLLIN);
}

/* A socket that has connected to the listener and sent a byte. */
static inline int connect_and_send(int port)
{
	int fd = new_socket(NEAR, 0);

	must(!connect_to(fd, port), "connect");
	must(send(fd, "x", 1, 0) == 1, "send");
	return fd;
}

static int client, server, listener;

/* A connection that both ends know of. */
static inline void pair(void)
{
	char byte;

	listener = listening(port);
	client = connect_and_send(port);
	wait_in(listener);
	server = accept(listener, NULL, NULL);
	must(server >= 0, "accept");
	must(recv(server, &byte, 1, 0) == 1, "receive");
	must(send(server, &byte, 1, 0) == 1, "answer");
	must(recv(client, &byte, 1, 0) == 1, "get an answer");
}

/* Let packets arrive.  In slices: a process that is not scheduled for long misses one of them. */
static inline void settle(void)
{
	int i;

	for (i = 0; i < A_WHILE / 10; i++)
		usleep(10000);
}

static inline struct tcp_info tcp_info_of(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	must(!getsockopt(fd, SOL_TCP, TCP_INFO, &info, &len), "ask for its state");
	return info;
}

/* Wait until all that was sent is acknowledged, the FIN included. */
static inline void wait_acked(int fd)
{
	int i;

	for (i = 0; i < SOON / 10; i++) {
		struct tcp_info info = tcp_info_of(fd);

		if (!info.tcpi_unacked && !info.tcpi_notsent_bytes)
			return;
		usleep(10000);
	}
	must(false, "wait for acknowledgements");
}

/* Wait until a connection has ended in both directions. */
static inline void wait_closed(int fd)
{
	const int closed = 7;		/* TCP_CLOSE, whose header has another tcp_info */
	int i;

	for (i = 0; i < SOON / 10 && tcp_info_of(fd).tcpi_state != closed; i++)
		usleep(10000);
	must(i < SOON / 10, "wait for the end");
}

/* Wait until @bytes can be read. */
static inline void wait_bytes(int fd, int bytes)
{
	int i, n = 0;

	for (i = 0; i < SOON / 10 && !ioctl(fd, SIOCINQ, &n) && n < bytes; i++)
		usleep(10000);
	must(n >= bytes, "wait for bytes");
}

/* Accept all connections to @n listeners: @most, and any that should not have been opened. */
static inline int let_all_in(const int *listeners, int n, int *got, int most)
{
	int all = 0, i, looks = 0;

	memset(got, 0, n * sizeof(*got));
	for (i = 0; i < n; i++)
		nonblock(listeners[i]);
	while (looks++ < (all < most ? SOON : A_WHILE) / 10) {
		for (i = 0; i < n; i++) {
			while (accept(listeners[i], NULL, NULL) >= 0) {
				got[i]++;
				all++;
				looks = 0;
			}
		}
		usleep(10000);
	}
	return all;
}

/* The server resets the connection; wait until the client has received that. */
static inline void reset_client(void)
{
	close_hard(server);
	wait_event(client, POLLRDHUP);
}

static inline void timeouts(int fd, int ms)
{
	struct timeval t = { .tv_usec = ms * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

/* Running a case in a process of its own */

struct run {
	FILE	*file;
	pid_t	pid;
};

static inline struct run start_case(void (*body)(void), int line, int kind, bool over_ndp)
{
	struct run run = { .file = tmpfile(), .pid = -1 };

	if (!run.file)
		return run;
	fflush(NULL);
	run.pid = fork();
	if (run.pid)
		return run;
	world = &worlds[over_ndp][kind];
	ndp = over_ndp;
	port = 5000 + line;
	notes = run.file;
	signal(SIGALRM, SIG_DFL);
	alarm(100);
	body();
	exit(0);
}

/* Wait for the end of a case.  Return: its notes, or NULL. */
static inline char *end_case(struct run *run)
{
	char *text = NULL;
	size_t size = 0;
	int status;

	if (run->pid < 0 || waitpid(run->pid, &status, 0) != run->pid)
		return NULL;
	if (WIFSIGNALED(status))
		fprintf(run->file, "ended by %s\n", sigabbrev_np(WTERMSIG(status)));
	rewind(run->file);
	if (getdelim(&text, &size, 0, run->file) < 0)
		text = strdup("");
	fclose(run->file);
	return text;
}

/* Return: the text between backquotes in the next column of a table's row, or NULL. */
static inline char *column(char **row)
{
	char *begin = strchr(*row, '`'), *end;

	end = begin ? strchr(begin + 1, '`') : NULL;
	if (!end)
		return NULL;
	*end = 0;
	*row = end + 1;
	return begin + 1;
}

/* Replace the line @from by @to. */
static inline bool replace_line(char **text, const char *from, const char *to)
{
	size_t len = strlen(from);
	char *at = *text, *out;

	for (at = strstr(at, from); at; at = strstr(at + 1, from))
		if ((at == *text || at[-1] == '\n') && at[len] == '\n')
			break;
	if (!at)
		return false;
	if (asprintf(&out, "%.*s%s%s", (int)(at - *text), *text, to, at + len) < 0)
		return false;
	*text = out;
	return true;
}

/* Apply the documented differences to TCP's notes.  Return: false if one does not occur. */
static inline bool apply_differences(const char *name, char **text)
{
	FILE *table = fopen(DIFFERENCES, "r");
	char *line = NULL;
	size_t size = 0;
	bool seen = true;

	if (!table)
		return true;
	while (getline(&line, &size, table) > 0) {
		char *row = line, *which = column(&row), *tcp, *ours;

		tcp = which && line[0] == '|' ? column(&row) : NULL;
		ours = tcp ? column(&row) : NULL;
		if (!ours || strcmp(which, name))
			continue;
		if (!replace_line(text, tcp, ours)) {
			printf("# documented, and not seen: %s\n", tcp);
			seen = false;
		}
	}
	free(line);
	fclose(table);
	return seen;
}

static inline void show(const char *who, const char *text)
{
	const char *end;

	for (; *text; text = end + 1) {
		end = strchrnul(text, '\n');
		printf("# %s: %.*s\n", who, (int)(end - text), text);
		if (!*end)
			break;
	}
}

/* Run a case over both at once.  Return: are the notes the same? */
static inline bool compare(const char *name, void (*body)(void), int line, int kind)
{
	struct run over_tcp = start_case(body, line, kind, false);
	struct run over_ndp = start_case(body, line, kind, true);
	char *tcp = end_case(&over_tcp), *ours = end_case(&over_ndp);
	char *wanted = tcp;
	bool same;

	if (!tcp || !ours || !*tcp || strstr(tcp, "cannot ") || strstr(tcp, "ended by ALRM")) {
		show("TCP", tcp ?: "none");
		return false;
	}
	same = apply_differences(name, &wanted) && !strcmp(wanted, ours);
	if (!same) {
		show("TCP", tcp);
		show("NDP", ours);
	}
	return same;
}

static inline void nothing(int number) { }

static inline void alarm_in(int ms, int flags)
{
	struct sigaction act = { .sa_handler = nothing, .sa_flags = flags };
	/* Periodic, in case the first signal arrives before the call that it shall interrupt. */
	struct itimerval t = { { .tv_usec = ms * 1000 }, { .tv_usec = ms * 1000 } };

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

static inline void note_options(int fd, int level, const int *options, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		errno = 0;
		note("%d: %d %s", options[i], get_int(fd, level, options[i]),
		     strerrorname_np(errno) ?: "");
	}
}

/* Cut the far end's cable, or mend it.  Return: false if there is no cable. */
static inline bool cut(bool yes)
{
	if (!world->wire)
		return false;
	must(!setns(world->ns[FAR], CLONE_NEWNET), "change namespace");
	return !shell("ip link set eth0 %s", yes ? "down" : "up");
}

FIXTURE(tcp) { };

FIXTURE_VARIANT(tcp) { int kind; };

FIXTURE_VARIANT_ADD(tcp, loopback) { .kind = LOOPBACK };

FIXTURE_VARIANT_ADD(tcp, wire) { .kind = WIRE };

FIXTURE_VARIANT_ADD(tcp, loopback6) { .kind = LOOPBACK6 };

FIXTURE_VARIANT_ADD(tcp, wire6) { .kind = WIRE6 };

FIXTURE_SETUP(tcp) { }

FIXTURE_TEARDOWN(tcp) { }

/* A case for the worlds of @fixture, which has a "kind" in its variants as well. */
#define CASE_OF(fixture, name)						\
static void case_##name(void);						\
TEST_F_TIMEOUT(fixture, name, 200)					\
{									\
	EXPECT_TRUE(compare(#name, case_##name, __LINE__, variant->kind));	\
}									\
static void case_##name(void)

/* A case for all worlds. */
#define CASE(name)	CASE_OF(tcp, name)

#endif /* _ORACLE_H */
