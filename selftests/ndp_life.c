// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP sockets by the thousands and in every state: they are opened, wait, are closed and are
 * used by several threads at once, and at each memory limit no data is lost.  After each test no
 * socket is left and no memory is charged; other errors show in the kernel log.
 *
 * Non-goals: what calls return (ndp_oracle*.c), processes that are killed and devices that are
 * removed (ndp_lifecycle.sh), allocations that fail (ndp_faults.c).
 */
#include "life.h"

#include <time.h>

#include <stdatomic.h>

FIXTURE(life) { };

FIXTURE_SETUP(life)
{
	struct rlimit many = { 20000, 20000 };

	world = &worlds[1][WIRE];
	ndp = true;
	port = 7000;
	setrlimit(RLIMIT_NOFILE, &many);
	srand(17);
}

FIXTURE_TEARDOWN(life)
{
	EXPECT_TRUE(wait_for_stat("SockInUse", 0, 100));
	EXPECT_TRUE(wait_for_stat("MemBytes", 0, 5));
}

/* Connections one after the other, closed in all orders. */
TEST_F_TIMEOUT(life, ten_thousand_connections, 400)
{
	int l = listening(16), i, id;

	ASSERT_GE(l, 0);
	for (i = 0; i < scaled(10000); i++) {
		int s = connect_and_send(i), a = let_in(l, &id);

		ASSERT_GE(s, 0);
		ASSERT_GE(a, 0);
		ASSERT_EQ(id, i);
		if (i % 5 == 1)
			shutdown(s, SHUT_WR);
		if (i % 5 == 2)
			shutdown(a, SHUT_RDWR);
		if (i % 5 == 3)
			send(a, "unread", 6, MSG_NOSIGNAL);
		close(i % 2 ? s : a);
		close(i % 2 ? a : s);
	}
	close(l);
}

#define SERVERS	4
#define CLIENTS	8
#define EACH	scaled(250)

static void serve_all(int l)
{
	int id, a;

	for (;;) {
		a = let_in(l, &id);
		if (a < 0) {
			printf("# cannot let in: %s\n", strerror(errno));
			_exit(1);
		}
		if (send(a, &id, sizeof(id), MSG_NOSIGNAL) != sizeof(id))
			printf("# cannot answer %d: %s\n", id, strerror(errno));
		close(a);
	}
}

static void ask_each(int client)
{
	int i, id, s, n;

	for (i = 0; i < EACH; i++) {
		s = connect_and_send(client * EACH + i);
		n = s < 0 ? -1 : recv(s, &id, sizeof(id), MSG_WAITALL);
		if (n != sizeof(id) || id != client * EACH + i) {
			printf("# client %d, time %d: %d %d %s\n", client, i, n, id,
			       strerror(errno));
			_exit(1);
		}
		close(s);
	}
	_exit(0);
}

/* More clients connect at once than the backlog takes; several servers accept them. */
TEST_F_TIMEOUT(life, accept_storm, 400)
{
	unsigned long long opens = stat_of(FAR, "PassiveOpens");
	int l = listening(4), i;
	pid_t servers[SERVERS];

	ASSERT_GE(l, 0);
	for (i = 0; i < SERVERS; i++) {
		servers[i] = fork();
		if (!servers[i])
			serve_all(l);
	}
	for (i = 0; i < CLIENTS; i++)
		if (!fork())
			ask_each(i);
	EXPECT_EQ(all_well(CLIENTS), CLIENTS);
	for (i = 0; i < SERVERS; i++)
		kill(servers[i], SIGKILL);
	all_well(SERVERS);
	/* Each connection was opened once. */
	EXPECT_EQ(stat_of(FAR, "PassiveOpens") - opens, CLIENTS * EACH);
	close(l);
}

TEST_F_TIMEOUT(life, thousands_are_idle, 400)
{
	static int s[4000], a[4000];
	const int idle = scaled(4000);
	int l = listening(64), i, id;

	ASSERT_GE(l, 0);
	for (i = 0; i < idle; i++) {
		s[i] = connect_and_send(i);
		a[i] = let_in(l, &id);
		ASSERT_GE(s[i], 0);
		ASSERT_GE(a[i], 0);
	}
	EXPECT_EQ(stat_of(NEAR, "SockInUse"), idle);
	EXPECT_EQ(stat_of(FAR, "SockInUse"), idle + 1);
	/* Idle connections hold no packets. */
	EXPECT_TRUE(wait_for_stat("MemBytes", 0, 10));
	for (i = 0; i < idle; i++) {
		ASSERT_EQ(send(a[i], &i, sizeof(i), 0), sizeof(i));
		ASSERT_EQ(recv(s[i], &id, sizeof(id), MSG_WAITALL), sizeof(id));
		ASSERT_EQ(id, i);
	}
	for (i = 0; i < idle; i++) {
		close(s[i]);
		close(a[i]);
	}
	close(l);
}

/* States in which a socket ends.  Return: the socket; *@other: the other end's, or -1. */

static int listener_of_round;

static int fresh(int *other)
{
	return new_socket(NEAR, 0);
}

static int bound(int *other)
{
	int s = new_socket(NEAR, 0);

	bind_to(s, NEAR, 0);
	return s;
}

static int asked(int *other)
{
	int l = listener_of_round, i;

	listener_of_round = -1;
	for (i = 0; i < 3; i++)
		connect_and_send(i);
	return l;
}

static int refused(int *other)
{
	int s = new_socket(NEAR, 0);
	union address addr = address(FAR, 1);

	connect(s, &addr.any, address_len());
	send(s, "x", 1, MSG_NOSIGNAL);
	return s;
}

static int unanswered(int *other)
{
	int s = new_socket(NEAR, 0);

	connect_nowhere(s);
	send(s, "x", 1, MSG_NOSIGNAL);
	return s;
}

static int connected(int *other)
{
	int s = connect_and_send(1), id;

	*other = let_in(listener_of_round, &id);
	return s;
}

static int accepted(int *other)
{
	int id;

	*other = connect_and_send(1);
	return let_in(listener_of_round, &id);
}

static void stuff(int fd)
{
	static char data[65536];

	while (send(fd, data, sizeof(data), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
}

static int stuffed(int *other)
{
	int s = connected(other);

	stuff(s);
	stuff(*other);
	return s;
}

static int half_closed(int *other)
{
	int s = connected(other);

	shutdown(s, SHUT_WR);
	return s;
}

static int other_half_closed(int *other)
{
	int s = connected(other);

	stuff(*other);
	shutdown(*other, SHUT_WR);
	return s;
}

static int finished(int *other)
{
	int s = connected(other);

	shutdown(s, SHUT_RDWR);
	shutdown(*other, SHUT_RDWR);
	return s;
}

static int corked(int *other)
{
	int s = connected(other);

	send(s, "held back", 9, MSG_MORE);
	return s;
}

static int was_reset(int *other)
{
	int s = connected(other);

	stuff(s);
	close_hard(*other);
	*other = -1;
	return s;
}

static int (*const states[])(int *other) = {
	fresh, bound, asked, refused, unanswered, connected, accepted, stuffed, half_closed,
	other_half_closed, finished, corked, was_reset,
};

/* Ways in which a socket ends */

static void die_plainly(int s)
{
	close(s);
}

static void die_by_disconnect(int s)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	connect(s, &none, sizeof(none));
	connect_to(s, port);
	close(s);
}

static void die_by_shutdown(int s)
{
	shutdown(s, SHUT_RDWR);
	close(s);
}

static void die_with_the_process(int s)
{
	kill(getpid(), SIGKILL);
}

static void (*const deaths[])(int s) = {
	die_plainly, close_hard, die_by_disconnect, die_by_shutdown, die_with_the_process,
};

/* Bring a socket into a state and end it, in a process of its own. */
static void live_and_die(int state, int death, int pause_us)
{
	int other = -1, s;

	listener_of_round = listening(8);
	if (listener_of_round < 0)
		_exit(1);
	s = states[state](&other);
	if (s < 0)
		_exit(1);
	/* The cable's delay is 10 us: packets arrive while the socket ends. */
	usleep(pause_us);
	deaths[death](s);
	usleep(pause_us);
	if (other >= 0)
		close(other);
	_exit(0);
}

TEST_F_TIMEOUT(life, die_in_every_state, 400)
{
	int round, state, death, status, failed = 0;

	for (round = 0; round < scaled(10); round++) {
		for (state = 0; state < (int)ARRAY_SIZE(states); state++) {
			for (death = 0; death < (int)ARRAY_SIZE(deaths); death++) {
				port++;
				if (!fork())
					live_and_die(state, death, round * (rand() % 40));
				wait(&status);
				failed += WIFEXITED(status) && status;
			}
		}
	}
	EXPECT_EQ(failed, 0);
}

/* Threads that use one socket at once */

#define CALLS	500

static int fought_over;
static atomic_int fighters;

static void one_call(unsigned int which)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct pollfd p = { .fd = fought_over, .events = POLLIN | POLLOUT };
	union address addr;
	struct ndp_info info;
	struct tcp_info tcp;
	socklen_t len = sizeof(addr);
	static char data[20000];
	int n;

	switch (which) {
	case 0 ... 4:
		send(fought_over, data, rand() % sizeof(data), MSG_DONTWAIT | MSG_NOSIGNAL |
		     (rand() % 4 ? 0 : MSG_MORE));
		break;
	case 5 ... 9:
		recv(fought_over, data, rand() % sizeof(data),
		     MSG_DONTWAIT | (rand() % 4 ? 0 : MSG_PEEK));
		break;
	case 10:
		poll(&p, 1, 0);
		break;
	case 11:
		getsockname(fought_over, &addr.any, &len);
		len = sizeof(addr);
		getpeername(fought_over, &addr.any, &len);
		break;
	case 12:
		len = sizeof(info);
		getsockopt(fought_over, SOL_NDP, NDP_INFO, &info, &len);
		len = sizeof(tcp);
		getsockopt(fought_over, IPPROTO_TCP, TCP_INFO, &tcp, &len);
		break;
	case 13:
		set_int(fought_over, SOL_SOCKET, SO_RCVBUF, rand() % 200000);
		set_int(fought_over, IPPROTO_TCP, TCP_CORK, rand() % 2);
		set_int(fought_over, SOL_SOCKET, SO_KEEPALIVE, rand() % 2);
		break;
	case 14:
		ioctl(fought_over, SIOCOUTQ, &n);
		ioctl(fought_over, SIOCINQ, &n);
		break;
	case 15:
		shutdown(fought_over, rand() % 3);
		break;
	case 16:
		connect(fought_over, &none, sizeof(none));
		break;
	case 17:
		listen(fought_over, 2);
		break;
	default:
		connect_to(fought_over, port);
	}
}

static void *fight(void *unused)
{
	int i;

	for (i = 0; i < CALLS; i++) {
		one_call(rand() % 24);
		/* Virtual time does not advance while a thread runs. */
		if (i % 8 == 0)
			usleep(1);
	}
	fighters--;
	return NULL;
}

TEST_F_TIMEOUT(life, threads_at_one_socket, 400)
{
	int l = listening(4), round, i;
	pthread_t threads[4];

	ASSERT_GE(l, 0);
	nonblock(l);
	ASSERT_EQ(setns(world->ns[NEAR], CLONE_NEWNET), 0);
	for (round = 0; round < scaled(20); round++) {
		fought_over = new_socket(NEAR, SOCK_NONBLOCK);
		ASSERT_GE(fought_over, 0);
		fighters = ARRAY_SIZE(threads);
		for (i = 0; i < (int)ARRAY_SIZE(threads); i++)
			ASSERT_EQ(pthread_create(&threads[i], NULL, fight, NULL), 0);
		while (fighters) {
			int a;

			usleep(100);
			while ((a = accept(l, NULL, NULL)) >= 0) {
				send(a, "hello", 5, MSG_NOSIGNAL | MSG_DONTWAIT);
				close(a);
			}
		}
		for (i = 0; i < (int)ARRAY_SIZE(threads); i++)
			pthread_join(threads[i], NULL);
		close(fought_over);
	}
	close(l);
}

enum { NONE = -1, STOP = -2 };

/* Socket whose connection a thread on the other processor is to open, or NONE, or STOP. */
static atomic_int to_open;

/* A poll for input alone opens the connection, and leaves its error, which send() may consume. */
static void *open_at_once(void *unused)
{
	struct pollfd p = { .events = POLLIN };

	run_on(1);
	while ((p.fd = atomic_exchange(&to_open, NONE)) != STOP)
		poll(&p, 1, 0);
	return NULL;
}

/*
 * A refusal ends a connection, step by step, while its owner polls on another processor: once the
 * owner sees the end, the error is there too.
 */
TEST_F_TIMEOUT(life, end_comes_with_its_error, 400)
{
	union address nobody = address(FAR, 1);
	struct pollfd p = { 0 };
	int l, i, misled = 0;
	pthread_t opener;

	/* The probe needs the module, and so does the teardown where this is skipped. */
	ASSERT_EQ(0, shell("modprobe ndp"));
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one processor");
	if (shell("modprobe -q late_return function=ndp_set_state"))
		SKIP(return, "this kernel has no probes of returns");
	l = listening(1);
	ASSERT_LE(0, l);
	run_on(0);
	atomic_store(&to_open, NONE);
	ASSERT_EQ(0, pthread_create(&opener, NULL, open_at_once, NULL));
	for (i = 0; i < 200; i++) {
		p.fd = new_socket(NEAR, SOCK_NONBLOCK);
		ASSERT_EQ(0, connect(p.fd, &nobody.any, address_len()));
		atomic_store(&to_open, p.fd);
		while (!poll(&p, 1, 0))
			;
		misled += get_int(p.fd, SOL_SOCKET, SO_ERROR) != ECONNREFUSED;
		close(p.fd);
	}
	atomic_store(&to_open, STOP);
	pthread_join(opener, NULL);
	EXPECT_EQ(0, misled);
	EXPECT_LE(200, read_number("/sys/module/late_return/parameters/returns"));
	EXPECT_EQ(0, shell("modprobe -r late_return"));
	close(l);
}

/* A thread that waits in a call, while another connects its socket to another peer */

struct waiter {
	pthread_t	thread;
	int		fd;
	bool		writes;		/* else it reads */
	atomic_int	tid;
	ssize_t		n;		/* what the call returned, and its errno */
	int		error;
};

static void *wait_in_a_call(void *arg)
{
	static char data[1 << 22];
	struct waiter *w = arg;

	if (w->writes)
		memset(data, 'w', sizeof(data));
	w->tid = gettid();
	w->n = w->writes ? send(w->fd, data, sizeof(data), MSG_NOSIGNAL) :
			   recv(w->fd, data, sizeof(data), 0);
	w->error = errno;
	return NULL;
}

static char state_of_thread(int tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (file) {
		if (fscanf(file, "%*d %*s %c", &state) != 1)
			state = 0;
		fclose(file);
	}
	return state;
}

/* Start a waiter on this thread's processor.  Return: does it wait? */
static bool begin_waiting(struct waiter *w)
{
	int i;

	if (!run_on(sched_getcpu()) ||
	    pthread_create(&w->thread, NULL, wait_in_a_call, w))
		return false;
	/* Once the waiter has set its tid, the call is the only place where it sleeps. */
	for (i = 0; i < patience(20) * 100; i++) {
		if (w->tid && state_of_thread(w->tid) == 'S')
			return true;
		usleep(10000);
	}
	return false;
}

/* End a connection, or wait until it has ended, as nobody answers. */
static bool end_of_connection(int s, bool answered)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct pollfd ended = { .fd = s };

	if (answered)
		return !connect(s, &none, sizeof(none));
	return poll(&ended, 1, patience(60) * 1000) == 1;
}

/*
 * The waiter does not run before the socket is connected to the next peer and has sent @id there:
 * by then the first connection's error is cleared.
 */
static bool move_to_next_peer(int s, int id, bool answered)
{
	struct sched_param first = { .sched_priority = 1 }, as_ever = { 0 };
	bool ok;

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		return false;
	ok = end_of_connection(s, answered);
	/* Read the error here, so that connect() need not clear it. */
	get_int(s, SOL_SOCKET, SO_ERROR);
	ok = ok && !connect_to(s, port) && send(s, &id, sizeof(id), MSG_NOSIGNAL) == sizeof(id);
	sched_setscheduler(0, SCHED_OTHER, &as_ever);
	return ok;
}

/* Move a waiter's socket to a next peer, the listener *@next.  Return: the accepted socket. */
static int wait_and_move(struct __test_metadata *_metadata, struct waiter *w, int *next,
			 bool answered)
{
	int id = 0, end;

	ASSERT_TRUE(begin_waiting(w));
	port++;
	*next = listening(4);
	ASSERT_GE(*next, 0);
	ASSERT_TRUE(move_to_next_peer(w->fd, 2, answered));
	end = let_in(*next, &id);
	ASSERT_GE(end, 0);
	EXPECT_EQ(id, 2);
	return end;
}

/* The writer is refused, and the socket's next peer @a gets nothing of its data. */
static void writer_is_refused(struct __test_metadata *_metadata, struct waiter *w, int a)
{
	char data[4096];

	/* The shutdown ends a writer that has wrongly gone on. */
	shutdown(w->fd, SHUT_WR);
	pthread_join(w->thread, NULL);
	EXPECT_EQ(w->n, -1);
	EXPECT_EQ(w->error, EPIPE);
	EXPECT_EQ(recv(a, data, sizeof(data), 0), 0);
}

/* The reader is refused, and what the socket's next peer @a sends is for the next reader. */
static void reader_is_refused(struct __test_metadata *_metadata, struct waiter *w, int a)
{
	char data[16] = "";

	EXPECT_EQ(send(a, "second", 6, MSG_NOSIGNAL), 6);
	pthread_join(w->thread, NULL);
	EXPECT_EQ(w->n, -1);
	EXPECT_EQ(w->error, EPIPE);
	EXPECT_TRUE(until(w->fd, POLLIN));
	EXPECT_EQ(recv(w->fd, data, sizeof(data), MSG_DONTWAIT), 6);
	EXPECT_STREQ(data, "second");
}

/* No data that was meant for one peer is sent to another. */
TEST_F_TIMEOUT(life, writer_does_not_follow_its_socket, 400)
{
	int l = listening(4), s = connect_and_send(1), next, a[2], id = 0;
	struct waiter w = { .fd = s, .writes = true };

	a[0] = let_in(l, &id);
	ASSERT_GE(a[0], 0);
	ASSERT_GT(fill_up(s), 0);
	a[1] = wait_and_move(_metadata, &w, &next, true);
	writer_is_refused(_metadata, &w, a[1]);
	close(s);
	close(a[0]);
	close(a[1]);
	close(l);
	close(next);
}

TEST_F_TIMEOUT(life, reader_does_not_follow_its_socket, 400)
{
	int l = listening(4), s = connect_and_send(1), next, a[2], id = 0;
	struct waiter w = { .fd = s };

	a[0] = let_in(l, &id);
	ASSERT_GE(a[0], 0);
	a[1] = wait_and_move(_metadata, &w, &next, true);
	reader_is_refused(_metadata, &w, a[1]);
	close(s);
	close(a[0]);
	close(a[1]);
	close(l);
	close(next);
}

/* Return: a socket whose connection nobody answers, so that it ends after some seconds. */
static int to_a_silent_peer(void)
{
	int s = a_socket(SOCK_STREAM);

	set_int(s, IPPROTO_TCP, TCP_USER_TIMEOUT, patience(5) * 1000);
	return connect_nowhere(s) ? -1 : s;
}

TEST_F_TIMEOUT(life, writer_does_not_follow_from_a_silent_peer, 400)
{
	int s = to_a_silent_peer(), next, a;
	struct waiter w = { .fd = s, .writes = true };

	ASSERT_GE(s, 0);
	ASSERT_GT(fill_up(s), 0);
	a = wait_and_move(_metadata, &w, &next, false);
	writer_is_refused(_metadata, &w, a);
	close(s);
	close(a);
	close(next);
}

TEST_F_TIMEOUT(life, reader_does_not_follow_from_a_silent_peer, 400)
{
	int s = to_a_silent_peer(), next, a;
	struct waiter w = { .fd = s };

	ASSERT_GE(s, 0);
	a = wait_and_move(_metadata, &w, &next, false);
	reader_is_refused(_metadata, &w, a);
	close(s);
	close(a);
	close(next);
}

/* Namespaces that are deleted with all their sockets */

static void live_in_a_namespace(bool ip6)
{
	const char *loopback = ip6 ? "::1" : "127.0.0.1";
	struct world own = {
		.family = ip6 ? AF_INET6 : AF_INET,
		.address = { loopback, loopback },
	};
	int i, id;

	own.ns[NEAR] = new_ns();
	own.ns[FAR] = own.ns[NEAR];
	world = &own;
	listener_of_round = listening(8);
	if (listener_of_round < 0)
		_exit(1);
	for (i = 0; i < 3; i++)
		connect_and_send(i);
	i = connect_and_send(3);
	stuff(i);
	stuff(let_in(listener_of_round, &id));
	_exit(0);
}

static int module_references(void)
{
	return read_number("/sys/module/ndp/refcnt");
}

TEST_F_TIMEOUT(life, namespaces_die, 400)
{
	int before = module_references(), n = scaled(40), i;

	for (i = 0; i < n; i++)
		if (!fork())
			live_in_a_namespace(i & 1);
	EXPECT_EQ(all_well(n), n);
	for (i = 0; i < 1000 && module_references() != before; i++)
		usleep(100000);
	EXPECT_EQ(module_references(), before);
}

/* Limits */

static bool send_bytes(int fd, size_t n)
{
	static char data[65536];
	size_t at, i, part;

	for (at = 0; at < n; at += part) {
		part = n - at < sizeof(data) ? n - at : sizeof(data);
		for (i = 0; i < part; i++)
			data[i] = byte_at(at + i);
		if (send(fd, data, part, MSG_NOSIGNAL) != (ssize_t)part)
			return false;
	}
	return true;
}

/* Read @n bytes, then the end.  Return: the most memory that the namespace held, or -1. */
static long long receive_bytes(int fd, size_t n)
{
	static char data[65536];
	long long most = 0;
	int reads = 0;
	size_t at = 0;
	ssize_t r, i;

	while ((r = recv(fd, data, sizeof(data), 0)) > 0) {
		long long now = reads++ % 16 ? 0 : stat_of(FAR, "MemBytes");

		most = now > most ? now : most;
		for (i = 0; i < r; i++)
			if (data[i] != byte_at(at + i))
				return -1;
		at += r;
	}
	return r == 0 && at == n ? most : -1;
}

/* Packets beyond a namespace's memory are treated as trimmed, and retransmitted. */
TEST_F_TIMEOUT(life, memory_of_a_receiving_namespace, 400)
{
	unsigned long long refused = stat_of(FAR, "NoRoomIn");
	const size_t size = 1 << 20;
	int l = listening(8), i, id;
	long long most;

	ASSERT_GE(l, 0);
	ASSERT_TRUE(set_sysctl(FAR, "mem_max_kb", 256));
	for (i = 0; i < 4; i++) {
		int s = connect_and_send(i);

		ASSERT_GE(s, 0);
		if (!fork())
			_exit(!send_bytes(s, size));
		close(s);
	}
	for (i = 0; i < 4; i++) {
		int a = let_in(l, &id);

		ASSERT_GE(a, 0);
		/* Before the first is read, more was sent than there is room for. */
		EXPECT_TRUE(i || wait_for_rise(FAR, "NoRoomIn", refused, 20));
		most = receive_bytes(a, size);
		/*
		 * Later ones are read as they arrive: nothing may be held when memory is sampled.
		 */
		EXPECT_GT(most, i ? -1 : 0);
		EXPECT_LT(most, (256 << 10) + 4 * 20000);
		close(a);
	}
	EXPECT_EQ(all_well(4), 4);
	close(l);
	EXPECT_TRUE(set_sysctl(FAR, "mem_max_kb", 0));
}

/* Writers wait, or get EAGAIN; each socket may hold some data. */
TEST_F_TIMEOUT(life, memory_of_a_sending_namespace, 400)
{
	static char data[65536];
	const long long most = (512 << 10) + 200000;
	int l = listening(8), s[2], a[2], id, i;
	long long sent;
	ssize_t n;

	ASSERT_GE(l, 0);
	for (i = 0; i < 2; i++) {
		s[i] = connect_and_send(i);
		a[i] = let_in(l, &id);
		ASSERT_GE(a[i], 0);
		set_int(a[i], SOL_SOCKET, SO_RCVBUF, 10000);
	}
	ASSERT_TRUE(set_sysctl(NEAR, "mem_max_kb", 512));
	sent = fill_up(s[0]);
	EXPECT_EQ(errno, EAGAIN);
	EXPECT_FALSE(events_now(s[0]) & POLLOUT);
	EXPECT_GT(sent, 0);
	EXPECT_LT(sent, most);
	EXPECT_EQ(send(s[1], data, 1000, MSG_DONTWAIT), 1000);
	EXPECT_EQ(recv(a[1], data, 1000, MSG_WAITALL), 1000);
	/* A writer that waits goes on when its peer reads. */
	if (!fork())
		_exit(send(s[0], data, sizeof(data), 0) != sizeof(data));
	usleep(100000);
	while (sent > 0 && (n = recv(a[0], data, sizeof(data), 0)) > 0)
		sent -= n;
	EXPECT_EQ(all_well(1), 1);
	EXPECT_TRUE(set_sysctl(NEAR, "mem_max_kb", 0));
	for (i = 0; i < 2; i++) {
		close(s[i]);
		close(a[i]);
	}
	close(l);
}

/* First windows of connections that are not accepted: a listener's 4 MiB of memory. */
TEST_F_TIMEOUT(life, memory_of_a_listener, 400)
{
	unsigned long long refused = stat_of(FAR, "NoRoomIn");
	const size_t size = 2 << 20;
	int l = listening(16), i, id;

	ASSERT_GE(l, 0);
	for (i = 0; i < 8; i++) {
		int s = new_socket(NEAR, 0);

		ASSERT_EQ(set_int(s, SOL_NDP, NDP_IW, 400), 0);
		ASSERT_EQ(connect_to(s, port), 0);
		ASSERT_EQ(send(s, &i, sizeof(i), 0), sizeof(i));
		if (!fork())
			_exit(!send_bytes(s, size));
		close(s);
	}
	EXPECT_TRUE(wait_for_rise(FAR, "NoRoomIn", refused, 20));
	EXPECT_LT(stat_of(FAR, "MemBytes"), (4 << 20) + 8 * 20000);
	EXPECT_GT(stat_of(FAR, "MemBytes"), 3 << 20);
	for (i = 0; i < 8; i++) {
		int a = let_in(l, &id);

		ASSERT_GE(a, 0);
		EXPECT_GT(receive_bytes(a, size), 0);
		close(a);
	}
	EXPECT_EQ(all_well(8), 8);
	close(l);
}

/* Long life */

/* @size bytes each way on one connection, one direction after the other. */
static bool there_and_back(int l, size_t size)
{
	int s = connect_and_send(1), id, a = s < 0 ? -1 : let_in(l, &id);
	bool ok;

	if (a < 0)
		return false;
	if (!fork()) {
		close(a);
		_exit(!send_bytes(s, size) || shutdown(s, SHUT_WR) || receive_bytes(s, size) < 0);
	}
	close(s);
	ok = receive_bytes(a, size) >= 0 && send_bytes(a, size);
	close(a);
	return all_well(1) && ok;
}

/* PSNs, pull counters and byte counts pass 2^32 early and late in a connection. */
TEST_F_TIMEOUT(life, counters_wrap, 400)
{
	static const unsigned int starts[] = { -1, -2, -30, -300, 0x7fffff00 };
	int l = listening(8);
	unsigned int i;

	ASSERT_GE(l, 0);
	for (i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		ASSERT_TRUE(set_start(starts[i]));
		EXPECT_TRUE(there_and_back(l, 1 << 20));
	}
	ASSERT_TRUE(set_start(0));
	close(l);
}

/* The real-time clock jumps by ten years: no timer of a connection uses it. */
TEST_F_TIMEOUT(life, clock_jumps, 400)
{
	const long years = 10L * 365 * 86400;
	struct timespec real, mono, at;
	int l = listening(8), status, i;
	unsigned long long before;
	pid_t child;

	ASSERT_GE(l, 0);
	before = stat_of(NEAR, "GivenUp") + stat_of(FAR, "GivenUp");
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	child = fork();
	if (!child) {
		for (i = 0; i < 10; i++)
			if (!there_and_back(l, 1 << 20))
				_exit(1);
		_exit(0);
	}
	for (i = 0; !waitpid(child, &status, WNOHANG); i++) {
		at = real;
		at.tv_sec += i % 2 ? years : -years;
		EXPECT_EQ(0, clock_settime(CLOCK_REALTIME, &at));
		usleep(1000);
	}
	clock_gettime(CLOCK_MONOTONIC, &at);
	real.tv_sec += at.tv_sec - mono.tv_sec;
	clock_settime(CLOCK_REALTIME, &real);
	EXPECT_LT(2, i);
	EXPECT_EQ(0, status);
	EXPECT_EQ(before, stat_of(NEAR, "GivenUp") + stat_of(FAR, "GivenUp"));
	close(l);
}

/* A connection, accepted and closed. */
static bool opens_and_ends(int l, int number)
{
	int s = connect_and_send(number), id = -1, a = let_in(l, &id);

	close(a);
	close(s);
	return s >= 0 && a >= 0 && id == number;
}

/* When tombstones_max connections are remembered, the next ones take a round trip more. */
TEST_F_TIMEOUT(life, tombstones, 400)
{
	unsigned long long asked, most = 0;
	int l = listening(16), i;

	ASSERT_GE(l, 0);
	EXPECT_TRUE(wait_for_stat("Tombstones", 0, 100));
	ASSERT_TRUE(set_sysctl(FAR, "tombstones_max", 10));
	for (i = 0; i < 100; i++) {
		unsigned long long now;

		ASSERT_TRUE(opens_and_ends(l, i));
		now = stat_of(FAR, "Tombstones");
		most = now > most ? now : most;
	}
	/* One more may have been open before. */
	EXPECT_LE(most, 11);
	EXPECT_GE(most, 10);
	/* Without room for tombstones each opening needs a cookie. */
	ASSERT_TRUE(set_sysctl(FAR, "tombstones_max", 0));
	asked = stat_of(FAR, "DropCookie");
	for (i = 0; i < 20; i++)
		ASSERT_TRUE(opens_and_ends(l, i));
	EXPECT_GE(stat_of(FAR, "DropCookie"), asked + 20);
	ASSERT_TRUE(set_sysctl(FAR, "tombstones_max", 262144));
	close(l);
	EXPECT_TRUE(wait_for_stat("Tombstones", 0, 100));
}

TEST_HARNESS_MAIN
