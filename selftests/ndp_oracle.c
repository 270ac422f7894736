// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP behaves as TCP sockets do, with TCP as the oracle.
 *
 * Each case is written once and runs over TCP and over AF_NDP, on loopback and
 * over a cable between two namespaces.  It notes what the calls return; the two
 * notes must be the same, but for the lines in the table of
 * Documentation/differences.md: a difference that is not there, and one that is
 * there and no longer seen, are failures.
 *
 * Non-goals: how long things take, and what only AF_NDP has (ndp_sock.c).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <net/if.h>

#include <linux/ndp.h>

#include "../kselftest_harness.h"

#define DIFFERENCES	"../Documentation/differences.md"
/* For what must happen soon, ms, and what must not happen. */
#define SOON		10000
#define A_WHILE		300

/* The two ends of a case: where its sockets are made, and their addresses. */
enum { NEAR, FAR };

static struct world {
	int		ns[2];
	const char	*address[2];
} worlds[2] = {
	{ .address = { "127.0.0.1", "127.0.0.1" } },
	{ .address = { "10.0.0.1", "10.0.0.2" } },
};

/* What a case runs in: a process of its own. */
static const struct world *world;
static bool ndp;
/* Each case has a port of its own: TCP's linger. */
static int port;
static FILE *notes;

static void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(notes, format, args);
	va_end(args);
	fputc('\n', notes);
	fflush(notes);
}

/* A call and what it returned. */
static long note_call(const char *call, long result)
{
	if (result < 0)
		note("%s = %s", call, strerrorname_np(errno));
	else
		note("%s = %ld", call, result);
	return result;
}

#define CALL(call)	note_call(#call, (errno = 0, (long)(call)))

/* Events by name, so that the notes can be read. */
static void note_events(const char *what, int events)
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

/* All events of @fd, once one of @awaited is there. */
static int events_of(int fd, int awaited, int ms)
{
	struct pollfd p = { .fd = fd, .events = awaited };

	poll(&p, 1, ms);
	p.events = ALL_EVENTS;
	poll(&p, 1, 0);
	return p.revents;
}

#define EVENTS(fd)		note_events(#fd, events_of(fd, 0, 0))
#define AWAIT(fd, awaited)	note_events(#fd, events_of(fd, awaited, SOON))

static struct sockaddr_in address(int end, int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, world->address[end], &addr.sin_addr);
	return addr;
}

static int new_socket(int end, int flags)
{
	if (setns(world->ns[end], CLONE_NEWNET))
		return -1;
	return socket(ndp ? AF_NDP : AF_INET, SOCK_STREAM | flags, 0);
}

static int bind_to(int fd, int end, int port)
{
	struct sockaddr_in addr = address(end, port);

	return bind(fd, (struct sockaddr *)&addr, sizeof(addr));
}

static int connect_to(int fd, int port)
{
	struct sockaddr_in addr = address(FAR, port);

	return connect(fd, (struct sockaddr *)&addr, sizeof(addr));
}

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

static int get_int(int fd, int level, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, level, name, &value, &len) ? -1 : value;
}

static void must(bool ok, const char *what)
{
	if (!ok) {
		note("cannot %s: %s", what, strerrorname_np(errno));
		exit(1);
	}
}

static int listening(int port)
{
	int fd = new_socket(FAR, 0);

	must(fd >= 0, "make a listener");
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	must(!bind_to(fd, FAR, port) && !listen(fd, 8), "listen");
	return fd;
}

static void wait_event(int fd, int event)
{
	struct pollfd p = { .fd = fd, .events = event };

	must(poll(&p, 1, SOON) == 1, "wait for an event");
}

static void wait_in(int fd)
{
	wait_event(fd, POLLIN);
}

/* A socket that has asked a listener in, and sent a byte. */
static int knock(int port)
{
	int fd = new_socket(NEAR, 0);

	must(!connect_to(fd, port), "connect");
	must(send(fd, "x", 1, 0) == 1, "send");
	return fd;
}

static int client, server, listener;

/* A connection that both ends know of. */
static void pair(void)
{
	char byte;

	listener = listening(port);
	client = knock(port);
	wait_in(listener);
	server = accept(listener, NULL, NULL);
	must(server >= 0, "accept");
	must(recv(server, &byte, 1, 0) == 1, "receive");
	must(send(server, &byte, 1, 0) == 1, "answer");
	must(recv(client, &byte, 1, 0) == 1, "get an answer");
}

/* What is under way arrives. */
static void settle(void)
{
	usleep(A_WHILE * 1000);
}

static void nonblock(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* Closing with something unread resets. */
static void reset_client(void)
{
	struct linger now = { .l_onoff = 1 };

	setsockopt(server, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(server);
	wait_event(client, POLLRDHUP);
}

static void timeouts(int fd, int ms)
{
	struct timeval t = { .tv_usec = ms * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

/* Running a case */

static char *run_case(void (*body)(void), int line, const struct world *where,
		      bool over_ndp)
{
	FILE *file = tmpfile();
	char *text = NULL;
	size_t size = 0;
	int status;
	pid_t pid;

	if (!file)
		return NULL;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		world = where;
		ndp = over_ndp;
		port = 5000 + line;
		notes = file;
		signal(SIGALRM, SIG_DFL);
		alarm(20);
		body();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return NULL;
	if (WIFSIGNALED(status))
		fprintf(file, "ended by %s\n", sigabbrev_np(WTERMSIG(status)));
	rewind(file);
	if (getdelim(&text, &size, 0, file) < 0)
		text = strdup("");
	fclose(file);
	return text;
}

/* What stands between the backquotes of a table's column; NULL: none. */
static char *column(char **row)
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
static bool replace_line(char **text, const char *from, const char *to)
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

/* TCP's notes with the documented differences; false: one is not seen. */
static bool apply_differences(const char *name, char **text)
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

static void show(const char *who, const char *text)
{
	const char *end;

	for (; *text; text = end + 1) {
		end = strchrnul(text, '\n');
		printf("# %s: %.*s\n", who, (int)(end - text), text);
		if (!*end)
			break;
	}
}

static bool compare(const char *name, void (*body)(void), int line,
		    const struct world *where)
{
	char *tcp = run_case(body, line, where, false);
	char *ours = run_case(body, line, where, true);
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

static int shell(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command);
}

static int new_ns(void)
{
	if (unshare(CLONE_NEWNET) || shell("ip link set lo up"))
		return -1;
	return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

/* Once for all cases: a namespace alone, and two with a cable between. */
static void __attribute__((constructor)) build_worlds(void)
{
	struct world *wire = &worlds[1];
	int end;

	worlds[0].ns[NEAR] = new_ns();
	worlds[0].ns[FAR] = worlds[0].ns[NEAR];
	wire->ns[NEAR] = new_ns();
	wire->ns[FAR] = new_ns();
	if (worlds[0].ns[NEAR] < 0 || wire->ns[NEAR] < 0 || wire->ns[FAR] < 0)
		return;
	shell("modprobe -q netwire");
	shell("ip link add eth0 type netwire rate 1gbit delay 10us peer name eth1");
	shell("ip link set eth1 netns /proc/%d/fd/%d", getpid(), wire->ns[NEAR]);
	for (end = NEAR; end <= FAR; end++) {
		if (setns(wire->ns[end], CLONE_NEWNET))
			return;
		shell("ip address add %s/24 dev eth%d && ip link set eth%d up",
		      wire->address[end], end == NEAR, end == NEAR);
	}
}

FIXTURE(tcp) { };

FIXTURE_VARIANT(tcp) { const struct world *world; };

FIXTURE_VARIANT_ADD(tcp, loopback) { .world = &worlds[0] };

FIXTURE_VARIANT_ADD(tcp, wire) { .world = &worlds[1] };

FIXTURE_SETUP(tcp) { }

FIXTURE_TEARDOWN(tcp) { }

#define CASE(name)							\
static void case_##name(void);						\
TEST_F_TIMEOUT(tcp, name, 60)						\
{									\
	EXPECT_TRUE(compare(#name, case_##name, __LINE__, variant->world));	\
}									\
static void case_##name(void)

/* Making sockets */

CASE(socket_types)
{
	int family = ndp ? AF_NDP : AF_INET;
	int two[2];

	CALL(socket(family, 77, 0));
	CALL(socket(family, SOCK_STREAM | 0x100000, 0));
	CALL(close(socket(family, SOCK_STREAM, 0)));
	CALL(close(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
	CALL(socketpair(family, SOCK_STREAM, 0, two));
}

CASE(socket_flags)
{
	int plain = new_socket(NEAR, 0);
	int flagged = new_socket(NEAR, SOCK_NONBLOCK | SOCK_CLOEXEC);

	CALL(fcntl(plain, F_GETFL));
	CALL(fcntl(flagged, F_GETFL));
	CALL(fcntl(plain, F_GETFD));
	CALL(fcntl(flagged, F_GETFD));
}

CASE(fresh_socket)
{
	int s = new_socket(NEAR, 0);
	char byte;

	EVENTS(s);
	CALL(recv(s, &byte, 1, MSG_DONTWAIT));
	CALL(send(s, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT));
	CALL(accept(s, NULL, NULL));
	CALL(shutdown(s, SHUT_RD));
	CALL(shutdown(s, SHUT_WR));
	CALL(shutdown(s, 7));
	CALL(getpeername(s, NULL, NULL));
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
	CALL(get_int(s, SOL_SOCKET, SO_TYPE));
	CALL(get_int(s, SOL_SOCKET, SO_ACCEPTCONN));
	CALL(close(s));
}

CASE(sigpipe_fresh)
{
	int s = new_socket(NEAR, 0);

	note("before");
	CALL(send(s, "x", 1, MSG_DONTWAIT));
}

/* Names */

CASE(names_unbound)
{
	int s = new_socket(NEAR, 0);
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);

	CALL(getsockname(s, (struct sockaddr *)&addr, &len));
	note("%u family %d port %d %s", len, addr.sin_family, addr.sin_port,
	     inet_ntoa(addr.sin_addr));
	CALL(getpeername(s, (struct sockaddr *)&addr, &len));
	len = 4;
	CALL(getsockname(s, (struct sockaddr *)&addr, &len));
	note("%u", len);
	len = -1;
	CALL(getsockname(s, (struct sockaddr *)&addr, &len));
	len = sizeof(addr);
	CALL(getsockname(s, NULL, &len));
	CALL(getsockname(s, (struct sockaddr *)&addr, NULL));
}

CASE(names_connected)
{
	struct sockaddr_in mine, theirs;
	socklen_t len = sizeof(mine);

	pair();
	CALL(getsockname(client, (struct sockaddr *)&mine, &len));
	CALL(getpeername(server, (struct sockaddr *)&theirs, &len));
	note("same port %d, same address %d", mine.sin_port == theirs.sin_port,
	     mine.sin_addr.s_addr == theirs.sin_addr.s_addr);
	CALL(getsockname(server, (struct sockaddr *)&mine, &len));
	CALL(getpeername(client, (struct sockaddr *)&theirs, &len));
	note("port %d %d, same address %d", ntohs(mine.sin_port) - port,
	     ntohs(theirs.sin_port) - port,
	     mine.sin_addr.s_addr == theirs.sin_addr.s_addr);
}

CASE(names_by_accept)
{
	struct sockaddr_in addr = { 0 };
	socklen_t len = sizeof(addr);
	int l = listening(port), a;

	knock(port);
	wait_in(l);
	a = accept(l, (struct sockaddr *)&addr, &len);
	note("%d %u family %d %s", a >= 0, len, addr.sin_family, inet_ntoa(addr.sin_addr));
	knock(port);
	wait_in(l);
	CALL(accept(l, (struct sockaddr *)&addr, NULL));
}

CASE(names_after_reset)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);

	pair();
	reset_client();
	CALL(getpeername(client, (struct sockaddr *)&addr, &len));
	CALL(getsockname(client, (struct sockaddr *)&addr, &len));
}

/* Binding */

CASE(bind_bad)
{
	struct sockaddr_in addr = address(NEAR, port);
	int s = new_socket(NEAR, 0);

	CALL(bind(s, NULL, sizeof(addr)));
	CALL(bind(s, (struct sockaddr *)&addr, 8));
	CALL(bind(s, (struct sockaddr *)&addr, -1));
	CALL(bind(s, (struct sockaddr *)&addr, 1000));
	addr.sin_family = AF_UNIX;
	CALL(bind(s, (struct sockaddr *)&addr, sizeof(addr)));
	addr.sin_family = AF_INET;
	inet_pton(AF_INET, "203.0.113.5", &addr.sin_addr);
	CALL(bind(s, (struct sockaddr *)&addr, sizeof(addr)));
	inet_pton(AF_INET, "224.0.0.1", &addr.sin_addr);
	CALL(bind(s, (struct sockaddr *)&addr, sizeof(addr)));
	inet_pton(AF_INET, "255.255.255.255", &addr.sin_addr);
	CALL(bind(s, (struct sockaddr *)&addr, sizeof(addr)));
}

CASE(bind_family_unspecified)
{
	struct sockaddr_in addr = { .sin_family = AF_UNSPEC, .sin_port = htons(port) };
	int s = new_socket(NEAR, 0);

	CALL(bind(s, (struct sockaddr *)&addr, sizeof(addr)));
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s = new_socket(NEAR, 0);
	CALL(bind(s, (struct sockaddr *)&addr, sizeof(addr)));
}

CASE(bind_twice)
{
	int s = new_socket(NEAR, 0);

	CALL(bind_to(s, NEAR, port));
	CALL(bind_to(s, NEAR, port));
	CALL(bind_to(s, NEAR, port + 1));
}

CASE(bind_in_use)
{
	int s = new_socket(NEAR, 0), t = new_socket(NEAR, 0);

	CALL(bind_to(s, NEAR, port));
	CALL(bind_to(t, NEAR, port));
	CALL(close(s));
	CALL(bind_to(t, NEAR, port));
}

CASE(bind_any_conflicts)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(port) };
	int s = new_socket(NEAR, 0), t = new_socket(NEAR, 0);

	CALL(bind(s, (struct sockaddr *)&any, sizeof(any)));
	CALL(bind_to(t, NEAR, port));
	CALL(close(s));
	CALL(bind_to(t, NEAR, port));
	s = new_socket(NEAR, 0);
	CALL(bind(s, (struct sockaddr *)&any, sizeof(any)));
}

CASE(bind_reuse_address)
{
	int s = new_socket(NEAR, 0), t = new_socket(NEAR, 0);

	CALL(set_int(s, SOL_SOCKET, SO_REUSEADDR, 1));
	CALL(bind_to(s, NEAR, port));
	CALL(bind_to(t, NEAR, port));
	CALL(set_int(t, SOL_SOCKET, SO_REUSEADDR, 1));
	CALL(bind_to(t, NEAR, port));
	CALL(listen(s, 1));
	CALL(listen(t, 1));
}

CASE(bind_reuse_listener)
{
	int s = new_socket(NEAR, 0), t = new_socket(NEAR, 0);

	CALL(set_int(s, SOL_SOCKET, SO_REUSEADDR, 1));
	CALL(set_int(t, SOL_SOCKET, SO_REUSEADDR, 1));
	CALL(bind_to(s, NEAR, port));
	CALL(listen(s, 1));
	CALL(bind_to(t, NEAR, port));
}

CASE(bind_beside_connection)
{
	int strict, sharing;

	pair();
	close(listener);
	strict = new_socket(FAR, 0);
	CALL(bind_to(strict, FAR, port));
	close(strict);
	sharing = new_socket(FAR, 0);
	CALL(set_int(sharing, SOL_SOCKET, SO_REUSEADDR, 1));
	CALL(bind_to(sharing, FAR, port));
	CALL(listen(sharing, 1));
}

CASE(bind_port_zero)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	int s = new_socket(NEAR, 0), low, high;
	FILE *range;

	CALL(bind_to(s, NEAR, 0));
	CALL(getsockname(s, (struct sockaddr *)&addr, &len));
	range = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
	must(range && fscanf(range, "%d %d", &low, &high) == 2, "read the range");
	note("in range %d", ntohs(addr.sin_port) >= low && ntohs(addr.sin_port) <= high);
}

CASE(bind_privileged)
{
	int s = new_socket(NEAR, 0), t = new_socket(NEAR, 0);

	CALL(bind_to(s, NEAR, 99));
	CALL(seteuid(65534));
	CALL(bind_to(t, NEAR, 98));
	CALL(bind_to(t, NEAR, 1024));
}

CASE(bind_after_listen)
{
	int s = new_socket(NEAR, 0);

	CALL(listen(s, 1));
	CALL(bind_to(s, NEAR, port));
}

CASE(bind_connected)
{
	pair();
	CALL(bind_to(client, NEAR, port + 1));
	CALL(bind_to(server, FAR, port + 1));
}

CASE(bind_to_device)
{
	int s = new_socket(NEAR, 0);
	char name[16] = "?";
	socklen_t len = sizeof(name);

	CALL(setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	CALL(getsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, name, &len));
	note("%u %s", len, name);
	CALL(setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, "none", 5));
	CALL(setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, "", 0));
}

/* Listening and accepting */

CASE(listen_states)
{
	int s = new_socket(NEAR, 0);

	CALL(listen(s, 1));
	CALL(listen(s, 100));
	CALL(listen(s, -1));
	CALL(get_int(s, SOL_SOCKET, SO_ACCEPTCONN));
	EVENTS(s);
	pair();
	CALL(listen(client, 1));
	CALL(listen(server, 1));
}

CASE(listener_calls)
{
	int l = listening(port);
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	char byte;

	CALL(recv(l, &byte, 1, MSG_DONTWAIT));
	CALL(send(l, "x", 1, MSG_NOSIGNAL));
	CALL(getpeername(l, (struct sockaddr *)&addr, &len));
	CALL(connect_to(l, port));
	CALL(ioctl(l, SIOCINQ, &len));
	CALL(shutdown(l, SHUT_WR));
	EVENTS(l);
}

CASE(accept_nothing)
{
	int l = listening(port);

	nonblock(l);
	CALL(accept(l, NULL, NULL));
	CALL(fcntl(l, F_SETFL, 0));
	timeouts(l, 50);
	CALL(accept(l, NULL, NULL));
	CALL(accept4(l, NULL, NULL, 0x40));
}

CASE(accept_flags)
{
	int l = listening(port), a;

	knock(port);
	wait_in(l);
	EVENTS(l);
	a = accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	CALL(fcntl(a, F_GETFL));
	CALL(fcntl(a, F_GETFD));
	EVENTS(l);
}

CASE(accept_inherits)
{
	struct timeval t = { .tv_sec = 7 }, got = { 0 };
	socklen_t len = sizeof(got);
	struct linger linger = { 1, 9 }, inherited = { 0 };
	int l = listening(port), a;

	setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(l, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	set_int(l, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(l, SOL_SOCKET, SO_RCVBUF, 65536);
	set_int(l, SOL_SOCKET, SO_PRIORITY, 3);
	nonblock(l);
	knock(port);
	wait_in(l);
	a = accept(l, NULL, NULL);
	CALL(fcntl(a, F_GETFL));
	getsockopt(a, SOL_SOCKET, SO_RCVTIMEO, &got, &len);
	note("timeout %ld", got.tv_sec);
	len = sizeof(inherited);
	getsockopt(a, SOL_SOCKET, SO_LINGER, &inherited, &len);
	note("linger %d %d", inherited.l_onoff, inherited.l_linger);
	CALL(get_int(a, SOL_SOCKET, SO_KEEPALIVE));
	CALL(get_int(a, SOL_SOCKET, SO_REUSEADDR));
	CALL(get_int(a, SOL_SOCKET, SO_RCVBUF));
	CALL(get_int(a, SOL_SOCKET, SO_PRIORITY));
	CALL(get_int(a, SOL_SOCKET, SO_ACCEPTCONN));
}

CASE(accept_order)
{
	int l = listening(port), c[3], i;
	char byte;

	for (i = 0; i < 3; i++) {
		c[i] = new_socket(NEAR, 0);
		must(!connect_to(c[i], port), "connect");
		must(send(c[i], &"abc"[i], 1, 0) == 1, "send");
		usleep(20000);
	}
	for (i = 0; i < 3; i++) {
		int a = accept(l, NULL, NULL);

		must(recv(a, &byte, 1, 0) == 1, "receive");
		note("%c", byte);
	}
}

CASE(accept_after_close)
{
	char byte;
	int l = listening(port), a;

	close(knock(port));
	wait_in(l);
	a = accept(l, NULL, NULL);
	AWAIT(a, POLLRDHUP);
	CALL(recv(a, &byte, 1, 0));
	CALL(recv(a, &byte, 1, 0));
}

CASE(accept_shutdown_listener)
{
	int l = listening(port);

	CALL(shutdown(l, SHUT_RD));
	CALL(accept(l, NULL, NULL));
	CALL(listen(l, 1));
}

CASE(accept_woken_by_shutdown)
{
	int l = listening(port), status;

	if (!fork()) {
		usleep(50000);
		shutdown(l, SHUT_RDWR);
		_exit(0);
	}
	CALL(accept(l, NULL, NULL));
	EVENTS(l);
	wait(&status);
}

/* Connecting */

CASE(connect_bad)
{
	struct sockaddr_in addr = address(FAR, port);
	int s = new_socket(NEAR, 0);

	CALL(connect(s, NULL, sizeof(addr)));
	CALL(connect(s, (struct sockaddr *)&addr, 8));
	CALL(connect(s, (struct sockaddr *)&addr, 1));
	CALL(connect(s, (struct sockaddr *)&addr, -1));
	addr.sin_family = AF_UNIX;
	CALL(connect(s, (struct sockaddr *)&addr, sizeof(addr)));
	addr.sin_family = AF_INET;
	inet_pton(AF_INET, "224.0.0.1", &addr.sin_addr);
	CALL(connect(s, (struct sockaddr *)&addr, sizeof(addr)));
	inet_pton(AF_INET, "203.0.113.5", &addr.sin_addr);
	CALL(connect(s, (struct sockaddr *)&addr, sizeof(addr)));
	EVENTS(s);
}

CASE(connect_twice)
{
	pair();
	CALL(connect_to(client, port));
	CALL(connect_to(server, port));
}

CASE(connect_after_reset)
{
	pair();
	reset_client();
	CALL(get_int(client, SOL_SOCKET, SO_ERROR));
	CALL(connect_to(client, port));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
}

CASE(connect_bound)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	int l = listening(port), c = new_socket(NEAR, 0);

	CALL(bind_to(c, NEAR, port + 10000));
	CALL(connect_to(c, port));
	must(send(c, "x", 1, 0) == 1, "send");
	wait_in(l);
	accept(l, (struct sockaddr *)&addr, &len);
	note("port %d", ntohs(addr.sin_port) - port);
}

CASE(connect_any)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in peer;
	socklen_t len = sizeof(peer);
	int l = new_socket(NEAR, 0), c = new_socket(NEAR, 0);

	bind(l, (struct sockaddr *)&any, sizeof(any));
	CALL(listen(l, 1));
	CALL(connect(c, (struct sockaddr *)&any, sizeof(any)));
	CALL(getpeername(c, (struct sockaddr *)&peer, &len));
	note("%s", inet_ntoa(peer.sin_addr));
}

/* Sending and receiving */

CASE(bytes_in_order)
{
	char text[16] = "";

	pair();
	CALL(send(client, "abc", 3, 0));
	CALL(send(client, "def", 3, 0));
	CALL(recv(server, text, 6, MSG_WAITALL));
	note("%s", text);
}

CASE(zero_length)
{
	char byte;

	pair();
	timeouts(server, 50);
	CALL(send(client, "", 0, 0));
	CALL(write(client, "", 0));
	CALL(recv(server, &byte, 0, 0));
	CALL(recv(server, &byte, 1, MSG_DONTWAIT));
	CALL(send(client, "z", 1, 0));
	wait_in(server);
	CALL(recv(server, &byte, 0, 0));
	CALL(recv(server, &byte, 1, 0));
}

CASE(bad_buffers)
{
	pair();
	CALL(send(client, (void *)8, 10, 0));
	CALL(send(client, "x", 1, 0));
	wait_in(server);
	CALL(recv(server, (void *)8, 10, 0));
	CALL(recv(server, NULL, 10, 0));
}

CASE(would_block)
{
	char byte;

	pair();
	CALL(recv(server, &byte, 1, MSG_DONTWAIT));
	nonblock(server);
	CALL(recv(server, &byte, 1, 0));
	CALL(recv(server, &byte, 1, MSG_PEEK));
	CALL(read(server, &byte, 1));
	CALL(recv(server, &byte, 1, MSG_WAITALL));
}

CASE(receive_timeout)
{
	char text[8];

	pair();
	timeouts(server, 50);
	CALL(recv(server, text, 8, 0));
	CALL(send(client, "abc", 3, 0));
	wait_in(server);
	CALL(recv(server, text, 8, MSG_WAITALL));
}

CASE(peek)
{
	char text[8] = "";

	pair();
	send(client, "abcdef", 6, 0);
	wait_in(server);
	CALL(recv(server, text, 3, MSG_PEEK));
	CALL(recv(server, text, 8, MSG_PEEK));
	CALL(recv(server, text, 2, 0));
	CALL(recv(server, text, 8, MSG_PEEK));
	note("%s", text);
	EVENTS(server);
	CALL(recv(server, text, 8, 0));
	EVENTS(server);
}

CASE(peek_waitall)
{
	char text[8] = "";

	pair();
	timeouts(server, 50);
	send(client, "abc", 3, 0);
	wait_in(server);
	CALL(recv(server, text, 8, MSG_PEEK | MSG_WAITALL));
	CALL(recv(server, text, 8, 0));
}

CASE(truncate)
{
	char text[8] = "??????";

	pair();
	send(client, "abcdef", 6, 0);
	wait_in(server);
	CALL(recv(server, text, 4, MSG_TRUNC));
	note("%.6s", text);
	CALL(recv(server, text, 4, 0));
	note("%.6s", text);
	send(client, "abcdef", 6, 0);
	wait_in(server);
	CALL(recv(server, NULL, 100, MSG_TRUNC));
	CALL(recv(server, text, 4, MSG_DONTWAIT));
}

CASE(odd_flags)
{
	char byte;

	pair();
	CALL(recv(server, &byte, 1, MSG_OOB));
	CALL(send(client, "a", 1, MSG_DONTROUTE));
	CALL(send(client, "b", 1, MSG_CONFIRM));
	CALL(send(client, "c", 1, MSG_EOR));
	CALL(recv(server, &byte, 1, MSG_ERRQUEUE));
	CALL(recv(server, &byte, 1, MSG_CMSG_CLOEXEC));
}

CASE(more)
{
	char text[16];

	pair();
	CALL(send(client, "abc", 3, MSG_MORE));
	CALL(send(client, "def", 3, 0));
	CALL(recv(server, text, 6, MSG_WAITALL));
}

CASE(vectors)
{
	char one[4] = "", two[4] = "";
	struct iovec out[] = { { "ab", 2 }, { "", 0 }, { "cde", 3 } };
	struct iovec in[] = { { one, 3 }, { two, 3 } };
	int bad_count = atoi("-1"), too_many = atoi("2000");

	pair();
	CALL(writev(client, out, 3));
	wait_in(server);
	CALL(readv(server, in, 2));
	note("%s %s", one, two);
	CALL(writev(client, out, bad_count));
	CALL(writev(client, out, 0));
	CALL(readv(server, in, too_many));
}

CASE(messages)
{
	char one[4] = "", two[4] = "";
	struct iovec out[] = { { "ab", 2 }, { "cde", 3 } }, in[] = { { one, 2 }, { two, 3 } };
	struct mmsghdr many[] = {
		{ .msg_hdr = { .msg_iov = &out[0], .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &out[1], .msg_iovlen = 1 } },
	};
	struct sockaddr_in from = { 0 };
	struct msghdr m = { .msg_iov = in, .msg_iovlen = 2, .msg_name = &from,
			    .msg_namelen = sizeof(from) };

	pair();
	CALL(sendmmsg(client, many, 2, 0));
	note("%u %u", many[0].msg_len, many[1].msg_len);
	settle();
	CALL(recvmsg(server, &m, 0));
	note("%s %s flags %x name %u control %zu", one, two, m.msg_flags, m.msg_namelen,
	     m.msg_controllen);
	CALL(recvmmsg(server, many, 2, MSG_DONTWAIT, NULL));
}

CASE(send_to_address)
{
	struct sockaddr_in addr = address(FAR, port), from = { 0 };
	socklen_t len = sizeof(from);
	char byte;

	pair();
	CALL(sendto(client, "x", 1, 0, (struct sockaddr *)&addr, sizeof(addr)));
	CALL(recvfrom(server, &byte, 1, 0, (struct sockaddr *)&from, &len));
	note("%u", len);
}

CASE(positions)
{
	char byte;

	pair();
	CALL(lseek(client, 0, SEEK_SET));
	CALL(pread(client, &byte, 1, 0));
	CALL(pwrite(client, "x", 1, 0));
	CALL(ftruncate(client, 0));
	CALL(fsync(client));
}

CASE(fill_up)
{
	static char data[1 << 16];
	long n, sum = 0;

	pair();
	nonblock(client);
	while ((n = send(client, data, sizeof(data), 0)) > 0)
		sum += n;
	note("full %s", strerrorname_np(errno));
	note("more than none %d", sum > 0);
	EVENTS(client);
	while (sum > 0 && (n = recv(server, data, sizeof(data), 0)) > 0)
		sum -= n;
	note("left %ld", sum);
	AWAIT(client, POLLOUT);
}

CASE(send_timeout)
{
	static char data[1 << 16];

	pair();
	nonblock(client);
	while (send(client, data, sizeof(data), 0) > 0)
		;
	fcntl(client, F_SETFL, 0);
	usleep(200000);
	timeouts(client, 50);
	while (send(client, data, sizeof(data), 0) > 0)
		;
	CALL(send(client, data, sizeof(data), 0));
}

CASE(splice_through)
{
	char text[8] = "";
	int p[2];

	pair();
	must(!pipe(p), "make a pipe");
	must(write(p[1], "abcdef", 6) == 6, "write");
	CALL(splice(p[0], NULL, client, NULL, 6, 0));
	wait_in(server);
	CALL(splice(server, NULL, p[1], NULL, 6, 0));
	CALL(read(p[0], text, 8));
	note("%s", text);
	nonblock(server);
	CALL(splice(server, NULL, p[1], NULL, 6, SPLICE_F_NONBLOCK));
	close(client);
	AWAIT(server, POLLRDHUP);
	CALL(splice(server, NULL, p[1], NULL, 6, 0));
}

CASE(send_file)
{
	FILE *file = tmpfile();
	off_t at = 2;
	char text[16] = "";

	pair();
	fputs("0123456789", file);
	fflush(file);
	CALL(sendfile(client, fileno(file), &at, 100));
	note("at %ld", (long)at);
	CALL(recv(server, text, 8, MSG_WAITALL));
	note("%s", text);
	CALL(sendfile(fileno(file), client, NULL, 1));
}

CASE(queue_sizes)
{
	char text[3];
	int n;

	pair();
	CALL(ioctl(server, SIOCINQ, &n));
	note("%d", n);
	send(client, "abcde", 5, 0);
	wait_in(server);
	CALL(ioctl(server, FIONREAD, &n));
	note("%d", n);
	CALL(ioctl(server, SIOCINQ, NULL));
	recv(server, text, 3, 0);
	ioctl(server, SIOCINQ, &n);
	note("%d", n);
	settle();
	CALL(ioctl(client, SIOCOUTQ, &n));
	note("%d", n);
	CALL(ioctl(client, SIOCOUTQNSD, &n));
	note("%d", n);
	CALL(ioctl(client, 0x8fff, &n));
}

CASE(ioctl_states)
{
	int s = new_socket(NEAR, 0), n = -7;

	CALL(ioctl(s, SIOCINQ, &n));
	note("%d", n);
	CALL(ioctl(s, SIOCOUTQ, &n));
	note("%d", n);
	CALL(listen(s, 1));
	CALL(ioctl(s, SIOCOUTQ, &n));
	CALL(ioctl(s, SIOCATMARK, &n));
}

CASE(low_water)
{
	pair();
	CALL(set_int(server, SOL_SOCKET, SO_RCVLOWAT, 4));
	CALL(get_int(server, SOL_SOCKET, SO_RCVLOWAT));
	send(client, "abc", 3, 0);
	note_events("server", events_of(server, POLLIN, A_WHILE));
	send(client, "d", 1, 0);
	AWAIT(server, POLLIN);
	CALL(set_int(server, SOL_SOCKET, SO_RCVLOWAT, 0));
	CALL(get_int(server, SOL_SOCKET, SO_RCVLOWAT));
	CALL(set_int(server, SOL_SOCKET, SO_RCVLOWAT, -1));
	CALL(set_int(server, SOL_SOCKET, SO_SNDLOWAT, 4));
}

/* Ends */

CASE(half_close)
{
	char text[8];

	pair();
	CALL(send(client, "bye", 3, 0));
	CALL(shutdown(client, SHUT_WR));
	EVENTS(client);
	AWAIT(server, POLLRDHUP);
	CALL(recv(server, text, 8, MSG_WAITALL));
	CALL(recv(server, text, 8, 0));
	CALL(recv(server, text, 8, 0));
	CALL(send(server, "too", 3, 0));
	CALL(recv(client, text, 3, MSG_WAITALL));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	CALL(shutdown(client, SHUT_WR));
}

CASE(half_close_signal)
{
	pair();
	shutdown(client, SHUT_WR);
	note("before");
	send(client, "x", 1, 0);
	note("after");
}

CASE(half_close_other_way)
{
	char text[8];

	pair();
	CALL(shutdown(server, SHUT_RD));
	EVENTS(server);
	CALL(recv(server, text, 8, 0));
	CALL(send(client, "abc", 3, 0));
	settle();
	CALL(recv(server, text, 8, MSG_DONTWAIT));
	CALL(recv(server, text, 8, MSG_DONTWAIT));
	CALL(send(server, "x", 1, 0));
	CALL(recv(client, text, 1, 0));
}

CASE(shutdown_both)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	char byte;

	pair();
	CALL(shutdown(client, SHUT_RDWR));
	CALL(recv(client, &byte, 1, 0));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	AWAIT(server, POLLRDHUP);
	CALL(recv(server, &byte, 1, 0));
	CALL(close(server));
	AWAIT(client, POLLHUP);
	settle();
	CALL(shutdown(client, SHUT_RDWR));
	CALL(getpeername(client, (struct sockaddr *)&addr, &len));
	CALL(getsockname(client, (struct sockaddr *)&addr, &len));
}

CASE(shutdown_bad)
{
	pair();
	CALL(shutdown(client, 3));
	CALL(shutdown(client, -1));
	CALL(shutdown(-1, SHUT_RD));
}

CASE(close_both_ways)
{
	char byte;

	pair();
	CALL(close(client));
	AWAIT(server, POLLRDHUP);
	CALL(recv(server, &byte, 1, 0));
	CALL(shutdown(server, SHUT_WR));
	settle();
	EVENTS(server);
	CALL(get_int(server, SOL_SOCKET, SO_ERROR));
	CALL(send(server, "x", 1, MSG_NOSIGNAL));
}

CASE(close_then_send)
{
	pair();
	close(client);
	wait_event(server, POLLRDHUP);
	CALL(send(server, "x", 1, MSG_NOSIGNAL));
	wait_event(server, POLLHUP);
	EVENTS(server);
	CALL(send(server, "y", 1, MSG_NOSIGNAL));
	CALL(get_int(server, SOL_SOCKET, SO_ERROR));
}

CASE(close_unread)
{
	char byte;

	pair();
	send(client, "abc", 3, 0);
	wait_in(server);
	close(server);
	AWAIT(client, POLLRDHUP);
	CALL(recv(client, &byte, 1, 0));
	CALL(recv(client, &byte, 1, 0));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
}

CASE(reset_reported_once)
{
	char byte;

	pair();
	reset_client();
	EVENTS(client);
	CALL(get_int(client, SOL_SOCKET, SO_ERROR));
	CALL(get_int(client, SOL_SOCKET, SO_ERROR));
	CALL(recv(client, &byte, 1, 0));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	EVENTS(client);
	CALL(shutdown(client, SHUT_RDWR));
}

CASE(reset_by_send)
{
	char byte;

	pair();
	reset_client();
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	CALL(recv(client, &byte, 1, 0));
}

CASE(reset_discards)
{
	char text[8];

	pair();
	send(server, "abc", 3, 0);
	wait_in(client);
	reset_client();
	CALL(recv(client, text, 8, 0));
	CALL(recv(client, text, 8, 0));
}

CASE(linger_waits)
{
	struct linger wait_for_it = { 1, 5 };
	char byte;

	pair();
	CALL(setsockopt(client, SOL_SOCKET, SO_LINGER, &wait_for_it, sizeof(wait_for_it)));
	send(client, "x", 1, 0);
	CALL(close(client));
	CALL(recv(server, &byte, 1, MSG_DONTWAIT));
}

CASE(read_after_peer_closed)
{
	char text[8];

	pair();
	send(client, "abc", 3, 0);
	close(client);
	wait_event(server, POLLRDHUP);
	CALL(recv(server, text, 2, 0));
	EVENTS(server);
	CALL(recv(server, text, 2, 0));
	CALL(recv(server, text, 2, 0));
	CALL(recv(server, text, 2, MSG_PEEK));
	CALL(recv(server, text, 2, MSG_DONTWAIT));
}

/* Signals, threads, descriptors */

static void nothing(int number) { }

static void alarm_in(int ms, int flags)
{
	struct sigaction act = { .sa_handler = nothing, .sa_flags = flags };
	/* Again and again, should the first come before the call that it is for. */
	struct itimerval t = { { .tv_usec = ms * 1000 }, { .tv_usec = ms * 1000 } };

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

CASE(interrupted)
{
	char byte;

	pair();
	alarm_in(50, 0);
	CALL(recv(server, &byte, 1, 0));
	alarm_in(50, 0);
	CALL(accept(listener, NULL, NULL));
}

CASE(interrupted_with_timeout)
{
	char byte;

	pair();
	timeouts(server, 900);
	alarm_in(50, SA_RESTART);
	CALL(recv(server, &byte, 1, 0));
}

CASE(restarted)
{
	char byte = '?';
	int status;

	pair();
	if (!fork()) {
		usleep(150000);
		send(client, "x", 1, 0);
		_exit(0);
	}
	alarm_in(50, SA_RESTART);
	CALL(recv(server, &byte, 1, 0));
	note("%c", byte);
	wait(&status);
}

CASE(interrupted_in_part)
{
	char text[8];

	pair();
	send(client, "abc", 3, 0);
	wait_in(server);
	alarm_in(50, 0);
	CALL(recv(server, text, 8, MSG_WAITALL));
}

CASE(duplicate_keeps_open)
{
	char byte;
	int copy;

	pair();
	copy = dup(client);
	close(client);
	CALL(send(copy, "x", 1, 0));
	CALL(recv(server, &byte, 1, 0));
	close(copy);
	AWAIT(server, POLLRDHUP);
}

CASE(inherited_by_child)
{
	char byte;
	int status;

	pair();
	if (!fork()) {
		send(client, "c", 1, 0);
		_exit(0);
	}
	wait(&status);
	close(client);
	CALL(recv(server, &byte, 1, 0));
	note("%c", byte);
	CALL(recv(server, &byte, 1, 0));
}

CASE(sigio)
{
	struct sigaction act = { .sa_handler = nothing };
	sigset_t set;
	struct timespec t = { 5, 0 };

	pair();
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGIO, &act, NULL);
	CALL(fcntl(server, F_SETOWN, getpid()));
	CALL(fcntl(server, F_SETFL, O_ASYNC));
	send(client, "x", 1, 0);
	note("SIGIO %d", sigtimedwait(&set, NULL, &t) == SIGIO);
}

/* Readiness */

CASE(events_connected)
{
	char byte;

	pair();
	EVENTS(client);
	EVENTS(server);
	send(client, "x", 1, 0);
	AWAIT(server, POLLIN);
	recv(server, &byte, 1, 0);
	EVENTS(server);
}

static int edges(int e)
{
	struct epoll_event ev;

	return epoll_wait(e, &ev, 1, A_WHILE) == 1 ? (int)ev.events : 0;
}

CASE(edge_triggered)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET };
	int e = epoll_create1(0);
	char byte;

	pair();
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, server, &ev));
	note_events("server", edges(e));
	send(client, "ab", 2, 0);
	note_events("server", edges(e));
	note_events("server", edges(e));
	recv(server, &byte, 1, 0);
	note_events("server", edges(e));
	send(client, "c", 1, 0);
	note_events("server", edges(e));
	shutdown(client, SHUT_WR);
	note_events("server", edges(e));
	note_events("server", edges(e));
}

CASE(edge_write)
{
	struct epoll_event ev = { .events = EPOLLOUT | EPOLLET };
	int e = epoll_create1(0);

	pair();
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, client, &ev));
	note_events("client", edges(e));
	note_events("client", edges(e));
}

/* Options */

static void note_options(int fd, int level, const int *options, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		errno = 0;
		note("%d: %d %s", options[i], get_int(fd, level, options[i]),
		     strerrorname_np(errno) ?: "");
	}
}

CASE(socket_options)
{
	static const int options[] = {
		SO_BROADCAST, SO_DEBUG, SO_DONTROUTE, SO_KEEPALIVE, SO_OOBINLINE, SO_REUSEADDR,
		SO_REUSEPORT, SO_TYPE, SO_ERROR, SO_PRIORITY, SO_MARK, SO_TIMESTAMP,
		SO_TIMESTAMPNS, SO_TIMESTAMPING, SO_RCVLOWAT, SO_SNDLOWAT, SO_PASSCRED,
		SO_ACCEPTCONN, SO_INCOMING_CPU, SO_ZEROCOPY, SO_BUSY_POLL, SO_RXQ_OVFL, 9999,
	};
	int s = new_socket(NEAR, 0);

	note_options(s, SOL_SOCKET, options, ARRAY_SIZE(options));
}

CASE(buffer_sizes)
{
	int s = new_socket(NEAR, 0);

	CALL(set_int(s, SOL_SOCKET, SO_RCVBUF, 100000));
	CALL(get_int(s, SOL_SOCKET, SO_RCVBUF));
	CALL(set_int(s, SOL_SOCKET, SO_SNDBUF, 100000));
	CALL(get_int(s, SOL_SOCKET, SO_SNDBUF));
	CALL(set_int(s, SOL_SOCKET, SO_RCVBUF, 1));
	CALL(get_int(s, SOL_SOCKET, SO_RCVBUF));
	CALL(set_int(s, SOL_SOCKET, SO_SNDBUF, 1));
	CALL(get_int(s, SOL_SOCKET, SO_SNDBUF));
	CALL(set_int(s, SOL_SOCKET, SO_RCVBUFFORCE, 10000000));
	CALL(get_int(s, SOL_SOCKET, SO_RCVBUF));
}

CASE(option_arguments)
{
	int s = new_socket(NEAR, 0), value = 1;
	socklen_t len = 2;

	CALL(setsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &value, 2));
	CALL(setsockopt(s, SOL_SOCKET, SO_KEEPALIVE, NULL, 4));
	CALL(getsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &value, &len));
	CALL(setsockopt(s, SOL_TCP, TCP_NODELAY, &value, 2));
	CALL(setsockopt(s, SOL_TCP, TCP_NODELAY, NULL, 4));
	CALL(setsockopt(s, 12345, 1, &value, 4));
	len = 4;
	CALL(getsockopt(s, 12345, 1, &value, &len));
	CALL(getsockopt(s, SOL_TCP, TCP_NODELAY, &value, NULL));
	len = -1;
	CALL(getsockopt(s, SOL_TCP, TCP_NODELAY, &value, &len));
}

CASE(no_delay)
{
	pair();
	CALL(set_int(client, SOL_TCP, TCP_NODELAY, 1));
	CALL(get_int(client, SOL_TCP, TCP_NODELAY));
}

CASE(tcp_options)
{
	static const int options[] = {
		TCP_NODELAY, TCP_CORK, TCP_QUICKACK, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT,
		TCP_SYNCNT, TCP_USER_TIMEOUT, TCP_NOTSENT_LOWAT, 9999,
	};
	int s = new_socket(NEAR, 0);

	note_options(s, SOL_TCP, options, ARRAY_SIZE(options));
}

CASE(tcp_option_values)
{
	static const int options[] = { TCP_NODELAY, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL,
				       TCP_KEEPCNT, TCP_SYNCNT, TCP_USER_TIMEOUT,
				       TCP_NOTSENT_LOWAT };
	static const int values[] = { -1, 0, 1, 5, 127, 128, 32767, 32768, 1000000 };
	int s = new_socket(NEAR, 0);
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		for (j = 0; j < ARRAY_SIZE(values); j++) {
			note("option %d value %d", options[i], values[j]);
			CALL(set_int(s, SOL_TCP, options[i], values[j]));
			CALL(get_int(s, SOL_TCP, options[i]));
		}
	}
}

CASE(tcp_options_inherited)
{
	int l = listening(port), a;

	set_int(l, SOL_TCP, TCP_KEEPIDLE, 77);
	set_int(l, SOL_TCP, TCP_USER_TIMEOUT, 5000);
	set_int(l, SOL_TCP, TCP_NODELAY, 1);
	knock(port);
	wait_in(l);
	a = accept(l, NULL, NULL);
	CALL(get_int(a, SOL_TCP, TCP_KEEPIDLE));
	CALL(get_int(a, SOL_TCP, TCP_USER_TIMEOUT));
	CALL(get_int(a, SOL_TCP, TCP_NODELAY));
}

CASE(cork)
{
	char text[8];

	pair();
	CALL(set_int(client, SOL_TCP, TCP_CORK, 1));
	CALL(send(client, "abc", 3, 0));
	CALL(send(client, "def", 3, 0));
	CALL(set_int(client, SOL_TCP, TCP_CORK, 0));
	CALL(recv(server, text, 6, MSG_WAITALL));
	CALL(set_int(client, SOL_TCP, TCP_CORK, 1));
	CALL(send(client, "abc", 3, 0));
	CALL(shutdown(client, SHUT_WR));
	CALL(recv(server, text, 4, MSG_WAITALL));
}

/* No longer than 200 ms. */
CASE(cork_is_not_for_ever)
{
	char text[8];

	pair();
	CALL(set_int(client, SOL_TCP, TCP_CORK, 1));
	CALL(send(client, "abc", 3, 0));
	CALL(recv(server, text, 3, MSG_WAITALL));
	CALL(send(client, "def", 3, MSG_MORE));
	CALL(recv(server, text, 3, MSG_WAITALL));
}

/* The far end's cable is pulled, for as long as a case runs. */
static bool cut(bool yes)
{
	if (world == &worlds[0])
		return false;
	must(!setns(world->ns[FAR], CLONE_NEWNET), "change namespace");
	return !shell("ip link set eth0 %s", yes ? "down" : "up");
}

CASE(keepalive)
{
	char byte;

	pair();
	CALL(set_int(client, SOL_SOCKET, SO_KEEPALIVE, 1));
	CALL(set_int(client, SOL_TCP, TCP_KEEPIDLE, 1));
	CALL(set_int(client, SOL_TCP, TCP_KEEPINTVL, 1));
	CALL(set_int(client, SOL_TCP, TCP_KEEPCNT, 2));
	/* A peer that is there answers. */
	note_events("client", events_of(client, POLLIN, 4000));
	if (!cut(true))
		return;
	AWAIT(client, POLLIN);
	CALL(recv(client, &byte, 1, 0));
	CALL(recv(client, &byte, 1, 0));
	must(cut(false), "mend the cable");
}

CASE(user_timeout)
{
	char byte;

	pair();
	CALL(set_int(client, SOL_TCP, TCP_USER_TIMEOUT, 1000));
	if (!cut(true))
		return;
	CALL(send(client, "x", 1, 0));
	AWAIT(client, POLLIN);
	CALL(recv(client, &byte, 1, 0));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	must(cut(false), "mend the cable");
}

CASE(ip_options)
{
	static const int options[] = { IP_TOS, IP_TTL, IP_PKTINFO, IP_RECVTTL, IP_MTU_DISCOVER,
				       IP_FREEBIND, IP_TRANSPARENT, IP_BIND_ADDRESS_NO_PORT };
	int s = new_socket(NEAR, 0);

	note_options(s, SOL_IP, options, ARRAY_SIZE(options));
	CALL(set_int(s, SOL_IP, IP_TTL, 7));
	CALL(get_int(s, SOL_IP, IP_TTL));
	CALL(set_int(s, SOL_IP, IP_TTL, 300));
	CALL(set_int(s, SOL_IP, IP_TOS, 0x10));
	CALL(get_int(s, SOL_IP, IP_TOS));
}

CASE(mark_needs_privilege)
{
	int s = new_socket(NEAR, 0);

	CALL(set_int(s, SOL_SOCKET, SO_MARK, 5));
	CALL(get_int(s, SOL_SOCKET, SO_MARK));
	CALL(seteuid(65534));
	CALL(set_int(s, SOL_SOCKET, SO_MARK, 6));
	CALL(set_int(s, SOL_SOCKET, SO_PRIORITY, 7));
	CALL(set_int(s, SOL_SOCKET, SO_PRIORITY, 6));
}

CASE(peer_credentials)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	pair();
	CALL(getsockopt(client, SOL_SOCKET, SO_PEERCRED, &cred, &len));
	note("pid %d uid %d", cred.pid, cred.uid);
	CALL(get_int(client, SOL_SOCKET, SO_PASSCRED));
	CALL(set_int(client, SOL_SOCKET, SO_PASSCRED, 1));
}

CASE(pass_descriptors)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec out = { "x", 1 };
	struct msghdr m = { .msg_iov = &out, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };

	pair();
	CALL(sendmsg(client, &m, 0));
	control.header.cmsg_type = 77;
	CALL(sendmsg(client, &m, 0));
}

/* Limits, threads, namespaces */

CASE(no_descriptors)
{
	struct rlimit none = { 3, 3 };
	int s = new_socket(NEAR, 0);

	note("%d", s >= 0);
	CALL(setrlimit(RLIMIT_NOFILE, &none));
	CALL(new_socket(NEAR, 0));
}

CASE(no_descriptor_for_accept)
{
	int l = listening(port);
	struct rlimit none = { 3, 1024 }, some = { 1024, 1024 };

	knock(port);
	wait_in(l);
	CALL(setrlimit(RLIMIT_NOFILE, &none));
	CALL(accept(l, NULL, NULL));
	CALL(setrlimit(RLIMIT_NOFILE, &some));
	/* It is still there. */
	note("accepted %d", accept(l, NULL, NULL) >= 0);
}

CASE(closed_descriptor)
{
	char byte;

	pair();
	close(client);
	CALL(send(client, "x", 1, 0));
	CALL(recv(client, &byte, 1, 0));
	CALL(shutdown(client, SHUT_WR));
	CALL(listen(client, 1));
	CALL(connect_to(client, port));
	CALL(close(client));
}

CASE(not_a_socket)
{
	char byte;
	int p[2];

	must(!pipe(p), "make a pipe");
	CALL(recv(p[0], &byte, 1, MSG_DONTWAIT));
	CALL(connect_to(p[0], port));
}

CASE(keeps_its_namespace)
{
	char byte;

	pair();
	must(!unshare(CLONE_NEWNET), "leave the namespace");
	CALL(send(client, "x", 1, 0));
	CALL(recv(server, &byte, 1, 0));
}

static void *shut_later(void *fd)
{
	usleep(100000);
	shutdown(*(int *)fd, SHUT_RDWR);
	return NULL;
}

CASE(shutdown_by_another_thread)
{
	pthread_t thread;
	char byte;

	pair();
	pthread_create(&thread, NULL, shut_later, &client);
	CALL(recv(client, &byte, 1, 0));
	pthread_join(thread, NULL);
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
}

static void *send_later(void *fd)
{
	usleep(100000);
	send(*(int *)fd, "x", 1, 0);
	return NULL;
}

CASE(closed_by_another_thread)
{
	struct pollfd p = { .events = POLLIN };
	pthread_t thread;
	char byte;
	int copy;

	/* Whoever waits keeps the socket. */
	pair();
	copy = dup(server);
	p.fd = server;
	pthread_create(&thread, NULL, send_later, &client);
	close(copy);
	CALL(poll(&p, 1, SOON));
	CALL(recv(server, &byte, 1, 0));
	pthread_join(thread, NULL);
}

CASE(two_readers)
{
	char byte;
	int n = 0, status, i;

	pair();
	for (i = 0; i < 2; i++) {
		if (!fork())
			_exit(recv(server, &byte, 1, 0) == 1 ? 0 : 1);
	}
	settle();
	send(client, "a", 1, 0);
	settle();
	send(client, "b", 1, 0);
	for (i = 0; i < 2; i++)
		n += wait(&status) > 0 && !status;
	note("%d readers had one each", n);
}

CASE(two_accepters)
{
	int l = listening(port), n = 0, status, i;

	for (i = 0; i < 2; i++) {
		if (!fork())
			_exit(accept(l, NULL, NULL) >= 0 ? 0 : 1);
	}
	for (i = 0; i < 2; i++)
		knock(port);
	for (i = 0; i < 2; i++)
		n += wait(&status) > 0 && !status;
	note("%d accepters had one each", n);
}

/* More on readiness */

CASE(poll_masks)
{
	pair();
	send(client, "x", 1, 0);
	wait_in(server);
	note_events("in", events_of(server, POLLIN, 0));
	note_events("out", events_of(server, POLLOUT, 0));
	note_events("pri", events_of(server, POLLPRI, 0));
}

CASE(selects)
{
	struct timeval t = { .tv_sec = SOON / 1000 };
	fd_set in, out, except;
	int n;

	pair();
	send(client, "x", 1, 0);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&except);
	wait_in(server);
	FD_SET(server, &in);
	FD_SET(server, &out);
	FD_SET(server, &except);
	n = select(server + 1, &in, &out, &except, &t);
	note("%d in %d out %d except %d", n, !!FD_ISSET(server, &in), !!FD_ISSET(server, &out),
	     !!FD_ISSET(server, &except));
}

CASE(one_shot)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT };
	int e = epoll_create1(0);

	pair();
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, server, &ev));
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, server, &ev));
	send(client, "x", 1, 0);
	note_events("server", edges(e));
	note_events("server", edges(e));
	CALL(epoll_ctl(e, EPOLL_CTL_MOD, server, &ev));
	note_events("server", edges(e));
	CALL(epoll_ctl(e, EPOLL_CTL_DEL, server, NULL));
	note_events("server", edges(e));
}

CASE(edge_of_listener)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int l = listening(port), e = epoll_create1(0);

	CALL(epoll_ctl(e, EPOLL_CTL_ADD, l, &ev));
	note_events("listener", edges(e));
	knock(port);
	note_events("listener", edges(e));
	note_events("listener", edges(e));
}

CASE(edge_of_reset)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET };
	int e = epoll_create1(0);

	pair();
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, client, &ev));
	reset_client();
	note_events("client", edges(e));
	note_events("client", edges(e));
}

CASE(edge_of_room)
{
	struct epoll_event ev = { .events = EPOLLOUT | EPOLLET };
	static char data[1 << 16];
	int e = epoll_create1(0);
	long n, sum = 0;

	pair();
	nonblock(client);
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, client, &ev));
	note_events("client", edges(e));
	while ((n = send(client, data, sizeof(data), 0)) > 0)
		sum += n;
	while (sum > 0 && (n = recv(server, data, sizeof(data), 0)) > 0)
		sum -= n;
	note_events("client", edges(e));
}

/* More on messages */

CASE(message_flags)
{
	char data[4];
	struct iovec in = { data, 4 };
	struct msghdr m = { .msg_iov = &in, .msg_iovlen = 1, .msg_flags = -1 };

	pair();
	send(client, "abcdefgh", 8, 0);
	wait_in(server);
	CALL(recvmsg(server, &m, 0));
	note("flags %x", m.msg_flags);
	CALL(recvmsg(server, &m, MSG_TRUNC));
	note("flags %x", m.msg_flags);
	CALL(recvmsg(server, &m, MSG_DONTWAIT));
	shutdown(client, SHUT_WR);
	wait_event(server, POLLRDHUP);
	CALL(recvmsg(server, &m, 0));
	note("flags %x", m.msg_flags);
}

CASE(bad_messages)
{
	struct msghdr m = { .msg_iov = (void *)8, .msg_iovlen = 1 };

	pair();
	CALL(sendmsg(client, NULL, 0));
	CALL(sendmsg(client, &m, 0));
	m.msg_iov = NULL;
	m.msg_iovlen = 2000;
	CALL(sendmsg(client, &m, 0));
	m.msg_iovlen = 0;
	CALL(sendmsg(client, &m, 0));
	CALL(recvmsg(server, NULL, 0));
	CALL(recvmsg(server, &m, MSG_DONTWAIT));
}

CASE(sends_partly_bad)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char text[64];

	pair();
	munmap(page + 4096, 4096);
	memset(page, 'x', 4096);
	CALL(send(client, page + 4090, 100, 0));
	settle();
	CALL(recv(server, text, sizeof(text), MSG_DONTWAIT));
	CALL(send(client, "after", 5, 0));
	wait_in(server);
	CALL(recv(server, text, 5, 0));
	note("%.5s", text);
}

CASE(receives_partly_bad)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char text[8] = "";

	pair();
	munmap(page + 4096, 4096);
	send(client, "abcdef", 6, 0);
	wait_in(server);
	CALL(recv(server, page + 4093, 6, 0));
	CALL(recv(server, text, 6, MSG_DONTWAIT));
	note("%s", text);
}

CASE(large)
{
	static char data[1 << 20], got[1 << 20];
	size_t i;
	int status;

	pair();
	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + i / 251;
	if (!fork()) {
		send(client, data, sizeof(data), 0);
		_exit(0);
	}
	CALL(recv(server, got, sizeof(got), MSG_WAITALL));
	note("same %d", !memcmp(data, got, sizeof(got)));
	wait(&status);
}

CASE(by_single_bytes)
{
	char got[64] = "";
	int i;

	pair();
	for (i = 0; i < 26; i++)
		send(client, &"abcdefghijklmnopqrstuvwxyz"[i], 1, 0);
	CALL(recv(server, got, 26, MSG_WAITALL));
	note("%s", got);
}

CASE(both_at_once)
{
	static char data[1 << 18], got[1 << 18];
	int status;

	pair();
	if (!fork()) {
		send(server, data, sizeof(data), 0);
		_exit(recv(server, got, sizeof(got), MSG_WAITALL) == sizeof(got) ? 0 : 1);
	}
	CALL(send(client, data, sizeof(data), 0));
	CALL(recv(client, got, sizeof(got), MSG_WAITALL));
	wait(&status);
	note("the other %d", status);
}

CASE(tees)
{
	char text[8] = "";
	int p[2], q[2];

	pair();
	must(!pipe(p) && !pipe(q), "make pipes");
	send(client, "abc", 3, 0);
	wait_in(server);
	CALL(splice(server, NULL, p[1], NULL, 3, 0));
	CALL(tee(p[0], q[1], 3, 0));
	CALL(read(q[0], text, 8));
	note("%s", text);
	CALL(tee(server, q[1], 3, 0));
}

CASE(time_stamps)
{
	char data[4], control[128];
	struct iovec in = { data, 4 };
	struct msghdr m = { .msg_iov = &in, .msg_iovlen = 1 };

	pair();
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMP, 1));
	CALL(get_int(server, SOL_SOCKET, SO_TIMESTAMP));
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMPNS, 1));
	CALL(get_int(server, SOL_SOCKET, SO_TIMESTAMP));
	CALL(get_int(server, SOL_SOCKET, SO_TIMESTAMPNS));
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMP, 0));
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMPNS, 0));
	m.msg_control = control;
	m.msg_controllen = sizeof(control);
	send(client, "x", 1, 0);
	wait_in(server);
	CALL(recvmsg(server, &m, 0));
	note("control %zu", m.msg_controllen);
}

CASE(protocol_told)
{
	int s = new_socket(NEAR, 0);

	CALL(get_int(s, SOL_SOCKET, SO_DOMAIN) > 0);
	CALL(get_int(s, SOL_SOCKET, SO_PROTOCOL) >= 0);
}

CASE(timeouts_told)
{
	struct timeval t = { .tv_sec = 3, .tv_usec = 500000 }, got = { 0 };
	struct timeval bad = { .tv_usec = 2000000 }, past = { .tv_sec = -1 };
	socklen_t len = sizeof(got);
	int s = new_socket(NEAR, 0);

	CALL(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)));
	CALL(getsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &got, &len));
	note("%ld.%06ld", got.tv_sec, got.tv_usec);
	CALL(setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &bad, sizeof(bad)));
	CALL(setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &past, sizeof(past)));
	CALL(setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &t, 4));
}

/* Connecting without a round trip: what differs must be in the table. */

CASE(connect_refused)
{
	int s = new_socket(NEAR, 0);
	char byte;

	CALL(connect_to(s, port));
	note_events("s", events_of(s, POLLHUP, SOON));
	CALL(recv(s, &byte, 1, MSG_DONTWAIT));
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
}

CASE(connect_in_background)
{
	int l = listening(port), s = new_socket(NEAR, SOCK_NONBLOCK);
	char byte;

	CALL(connect_to(s, port));
	note_events("s", events_of(s, POLLOUT, SOON));
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
	CALL(connect_to(s, port) < 0 && errno != EISCONN);
	CALL(connect_to(s, port));
	CALL(send(s, "x", 1, 0));
	wait_in(l);
	server = accept(l, NULL, NULL);
	CALL(recv(server, &byte, 1, 0));
}

TEST_HARNESS_MAIN
