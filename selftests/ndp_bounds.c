// SPDX-License-Identifier: GPL-2.0
/*
 * How much any user, or any peer, may accumulate in AF_NDP, and that others do not pay for it:
 * ports, closed sockets, aborted connections, dumps.
 *
 * Non-goals: memory of queued packets (ndp_life.c), openings from spoofed addresses
 * (ndp_cookie.sh), configured paths (ndp_tools.sh).
 */
#include "life.h"

#define TOMBSTONES_MAX	262144

FIXTURE(bounds) { };

FIXTURE_SETUP(bounds)
{
	struct rlimit many = { 20000, 20000 };

	world = &worlds[1][WIRE];
	ndp = true;
	port = 7000;
	setrlimit(RLIMIT_NOFILE, &many);
	signal(SIGPIPE, SIG_IGN);
}

FIXTURE_TEARDOWN(bounds)
{
	EXPECT_TRUE(wait_for_stat("SockInUse", 0, 100));
	EXPECT_TRUE(wait_for_stat("MemBytes", 0, 5));
	EXPECT_EQ(0, stat_of(NEAR, "Orphans"));
	EXPECT_EQ(0, stat_of(FAR, "Orphans"));
}

/* Ports */

#define FIRST_PORT	40000

static bool set_port_range(int n)
{
	char range[32];

	snprintf(range, sizeof(range), "%d %d", FIRST_PORT, FIRST_PORT + n - 1);
	return !setns(world->ns[NEAR], CLONE_NEWNET) &&
	       write_text("/proc/sys/net/ipv4/ip_local_port_range", range);
}

static int port_of(int fd)
{
	union address addr = { 0 };
	socklen_t len = sizeof(addr);

	return getsockname(fd, &addr.any, &len) ? -1 : ntohs(addr.in.sin_port);
}

static int bound_to_any(void)
{
	int s = new_socket(NEAR, 0);

	if (s >= 0 && bind_to(s, NEAR, 0)) {
		close(s);
		return -1;
	}
	return s;
}

/* A socket with a port from autobind, which may be shared. */
static int with_some_port(void)
{
	int s = new_socket(NEAR, 0);

	if (s >= 0 && (listen(s, 1) || shutdown(s, SHUT_RDWR))) {
		close(s);
		return -1;
	}
	return s;
}

/* Each port of the range is given once, down to the last free one; then bind() fails. */
TEST_F_TIMEOUT(bounds, ports_to_the_last, 400)
{
	static bool taken[1000];
	int s[1000], i, at, one;

	ASSERT_TRUE(set_port_range(1000));
	for (i = 0; i < 1000; i++) {
		s[i] = bound_to_any();
		ASSERT_LE(0, s[i]);
		at = port_of(s[i]) - FIRST_PORT;
		ASSERT_LE(0, at);
		ASSERT_GT(1000, at);
		ASSERT_FALSE(taken[at]);
		taken[at] = true;
	}
	EXPECT_EQ(-1, bound_to_any());
	EXPECT_EQ(EADDRINUSE, errno);
	for (i = 0; i < 20; i++) {
		at = port_of(s[i]);
		close(s[i]);
		one = i % 2 ? with_some_port() : bound_to_any();
		ASSERT_LE(0, one);
		if (i % 2 == 0)
			EXPECT_EQ(at, port_of(one));
		close(one);
		s[i] = bound_to_any();
		EXPECT_EQ(at, port_of(s[i]));
	}
	for (i = 0; i < 1000; i++)
		close(s[i]);
	EXPECT_TRUE(set_port_range(20000));
}

/* A port that the operator has reserved is given to nobody who has not named it. */
TEST_F_TIMEOUT(bounds, reserved_ports, 400)
{
	int i, s, other;

	ASSERT_TRUE(set_port_range(2));
	ASSERT_TRUE(write_number("/proc/sys/net/ipv4/ip_local_reserved_ports", FIRST_PORT));
	for (i = 0; i < 20; i++) {
		s = i % 2 ? with_some_port() : bound_to_any();
		ASSERT_LE(0, s);
		EXPECT_EQ(FIRST_PORT + 1, port_of(s));
		close(s);
	}
	other = bound_to_any();
	EXPECT_EQ(-1, bound_to_any());
	EXPECT_EQ(EADDRINUSE, errno);
	s = new_socket(NEAR, 0);
	EXPECT_EQ(0, bind_to(s, NEAR, FIRST_PORT));
	close(s);
	close(other);
	EXPECT_TRUE(write_text("/proc/sys/net/ipv4/ip_local_reserved_ports", "\n"));
	EXPECT_TRUE(set_port_range(20000));
}

/*
 * When all of many ports are taken, a few are tried, and then one is shared.  The tries are
 * counted, as the time that they take depends on the machine.
 */
TEST_F_TIMEOUT(bounds, taken_ports_cost_little, 400)
{
	static int s[8000];
	const int n = ARRAY_SIZE(s), asked = 300, tries = 128;
	unsigned long long before;
	int i, one;

	ASSERT_TRUE(set_port_range(n));
	for (i = 0; i < n; i++) {
		s[i] = with_some_port();
		ASSERT_LE(0, s[i]);
	}
	before = stat_of(NEAR, "PortsTried");
	EXPECT_LE(n, before);
	for (i = 0; i < asked; i++) {
		one = bound_to_any();
		ASSERT_LE(0, one);
		close(one);
	}
	EXPECT_LE(before + asked, stat_of(NEAR, "PortsTried"));
	EXPECT_GE(before + asked * tries, stat_of(NEAR, "PortsTried"));
	for (i = 0; i < n; i++)
		close(s[i]);
	EXPECT_TRUE(set_port_range(20000));
}

/* Orphans */

/* Close a socket with data to an address that will never answer. */
static bool orphan(void)
{
	int s = new_socket(NEAR, 0);
	bool ok = s >= 0 && !connect_nowhere(s) && send(s, "x", 1, 0) == 1;

	close(s);
	return ok;
}

/* Half of max_orphans is reserved for orphans whose peers take data. */
TEST_F_TIMEOUT(bounds, orphans, 400)
{
	int l = listening(16), s[20], a, id, i;
	unsigned long long excess = stat_of(NEAR, "OrphansExcess");

	ASSERT_LE(0, l);
	ASSERT_TRUE(set_sysctl(NEAR, "max_orphans", 20));
	for (i = 0; i < 30; i++)
		ASSERT_TRUE(orphan());
	EXPECT_EQ(20, stat_of(NEAR, "Orphans"));
	EXPECT_EQ(10, stat_of(NEAR, "OrphansExcess") - excess);
	/* After some seconds orphans without answers are down to half of max_orphans. */
	EXPECT_EQ(10, wait_for_most(NEAR, "Orphans", 10, 20));
	EXPECT_EQ(20, stat_of(NEAR, "OrphansExcess") - excess);
	/* A peer that reads gets all data, and the end. */
	for (i = 0; i < 8; i++) {
		s[i] = connect_and_send(i);
		ASSERT_LE(0, s[i]);
		close(s[i]);
	}
	for (i = 0; i < 8; i++) {
		a = let_in(l, &id);
		ASSERT_LE(0, a);
		EXPECT_EQ(0, recv(a, &id, sizeof(id), 0));
		close(a);
	}
	close(l);
	EXPECT_TRUE(set_sysctl(NEAR, "max_orphans", 10000));
	EXPECT_TRUE(wait_for_stat("Orphans", 0, 60));
}

/* An orphan whose peer never reads does not keep the namespace's memory. */
TEST_F_TIMEOUT(bounds, memory_of_orphans, 400)
{
	static char data[65536];
	int l = listening(8), s, a, id;
	struct pollfd full = { .events = POLLOUT };

	ASSERT_LE(0, l);
	s = connect_and_send(1);
	a = let_in(l, &id);
	ASSERT_LE(0, a);
	set_int(a, SOL_SOCKET, SO_RCVBUF, 10000);
	full.fd = s;
	ASSERT_TRUE(set_sysctl(NEAR, "mem_max_kb", 512));
	/* Full, and still full when all that the peer has room for is acknowledged. */
	do {
		while (send(s, data, sizeof(data), MSG_DONTWAIT) > 0)
			;
	} while (poll(&full, 1, 200));
	close(s);
	EXPECT_LE(512 << 10, stat_of(NEAR, "MemBytes"));
	EXPECT_EQ(0, wait_for_most(NEAR, "MemBytes", 0, 20));
	EXPECT_LE(1, stat_of(NEAR, "OrphansExcess"));
	while (recv(a, data, sizeof(data), 0) > 0)
		;
	/* Not all data has arrived, which is reported by an error. */
	EXPECT_EQ(ECONNRESET, errno);
	close(a);
	close(l);
	EXPECT_TRUE(set_sysctl(NEAR, "mem_max_kb", 0));
}

/* Memory */

#define FAULTS	20

static int message_socket(int end)
{
	return setns(world->ns[end], CLONE_NEWNET) ? -1 : a_socket(SOCK_SEQPACKET);
}

/* Writers whose data cannot be read queue nothing, and must not keep what was reserved for it. */
TEST_F_TIMEOUT(bounds, faults_reserve_nothing, 400)
{
	unsigned long long before = stat_of(NEAR, "MemPages"), pages;
	int s[FAULTS], i, l, size = 0;

	l = message_socket(FAR);
	ASSERT_LE(0, l);
	ASSERT_EQ(0, bind_to(l, FAR, port));
	ASSERT_EQ(0, listen(l, FAULTS));
	for (i = 0; i < FAULTS; i++) {
		s[i] = message_socket(NEAR);
		ASSERT_LE(0, s[i]);
		ASSERT_EQ(0, connect_to(s[i], port));
		size = get_int(s[i], SOL_SOCKET, SO_SNDBUF) / 2;
		EXPECT_EQ(-1, send(s[i], (void *)16, size, MSG_NOSIGNAL));
		EXPECT_EQ(EFAULT, errno);
	}
	pages = stat_of(NEAR, "MemPages");
	printf("# %d sockets, %d bytes each: %llu pages, then %llu\n", FAULTS, size, before, pages);
	/* Each processor keeps up to a megabyte of the account to itself. */
	EXPECT_GT(before + 256 * sysconf(_SC_NPROCESSORS_ONLN) + FAULTS, pages);
	for (i = 0; i < FAULTS; i++)
		close(s[i]);
	close(l);
}

/* Tombstones */

/* A peer that resets has nothing left to send: its tombstone lasts 2 s, not 32. */
TEST_F_TIMEOUT(bounds, tombstone_of_the_peers_reset, 400)
{
	int l = listening(8), s, a, id;
	struct pollfd p;

	ASSERT_LE(0, l);
	EXPECT_TRUE(wait_for_stat("Tombstones", 0, 100));
	s = connect_and_send(1);
	a = let_in(l, &id);
	ASSERT_LE(0, a);
	close_hard(s);
	p.fd = a;
	p.events = POLLIN;
	ASSERT_EQ(1, poll(&p, 1, SOON));
	EXPECT_EQ(1, stat_of(FAR, "Tombstones"));
	EXPECT_EQ(0, wait_for_most(FAR, "Tombstones", 0, 10));
	/* The end that has reset keeps a tombstone, as its peer may still ask. */
	EXPECT_EQ(1, stat_of(NEAR, "Tombstones"));
	close(a);
	close(l);
}

/*
 * Connections that a user opens and closes fill half of the table of tombstones at most, so that
 * other users' listeners still accept without cookies.
 */
TEST_F_TIMEOUT(bounds, tombstones_of_ones_own, 400)
{
	unsigned long long most = 0;
	int l = listening(8), s, a, id, i;
	char c;

	ASSERT_LE(0, l);
	EXPECT_TRUE(wait_for_stat("Tombstones", 0, 100));
	ASSERT_TRUE(set_sysctl(NEAR, "tombstones_max", 20));
	for (i = 0; i < 40; i++) {
		s = connect_and_send(i);
		a = let_in(l, &id);
		ASSERT_LE(0, a);
		EXPECT_EQ(i, id);
		/* Read the end, so that both ends know of it. */
		close(s);
		EXPECT_EQ(0, recv(a, &c, 1, 0));
		close(a);
		if (stat_of(NEAR, "Tombstones") > most)
			most = stat_of(NEAR, "Tombstones");
	}
	/* On a slow machine the first tombstones expire before the last are made. */
	EXPECT_GE(10, most);
	EXPECT_LT(0, most);
	if (virtual_time())
		EXPECT_EQ(10, most);
	EXPECT_LT(0, stat_of(FAR, "Tombstones"));
	close(l);
	ASSERT_TRUE(set_sysctl(NEAR, "tombstones_max", TOMBSTONES_MAX));
	EXPECT_TRUE(wait_for_stat("Tombstones", 0, 100));
}

/*
 * The acceptor closes first, and the initiator a little later: the initiator's last ACK shortens
 * the life of the acceptor's tombstone, which would have been long.  However often that happens,
 * expired tombstones are deleted.
 */
TEST_F_TIMEOUT(bounds, tombstones_go_in_time, 400)
{
	int l, s, a, id, i;

	if (!virtual_time())
		SKIP(return, "time is not virtual");
	l = listening(8);
	ASSERT_LE(0, l);
	ASSERT_TRUE(wait_for_stat("Tombstones", 0, 100));
	for (i = 0; i < 100; i++) {
		s = connect_and_send(i);
		a = let_in(l, &id);
		ASSERT_LE(0, a);
		close(a);
		usleep(10000);
		close(s);
		usleep(90000);
	}
	/* Tombstones of the last two seconds, and of the reaper's interval. */
	EXPECT_GT(40, stat_of(FAR, "Tombstones"));
	EXPECT_LT(10, stat_of(FAR, "Tombstones"));
	close(l);
	EXPECT_TRUE(wait_for_stat("Tombstones", 0, 100));
}

/* A connection from the address 10.0.0.@host of the near end, which has sent @id. */
static int connect_from(int host, int id)
{
	char text[INET_ADDRSTRLEN];
	union address from;
	int s = new_socket(NEAR, 0);

	snprintf(text, sizeof(text), "10.0.0.%d", host);
	shell("ip address replace %s/24 dev eth1", text);
	from = named(text, text, 0);
	if (bind(s, &from.any, address_len()) || connect_to(s, port) ||
	    send(s, &id, sizeof(id), MSG_NOSIGNAL) != sizeof(id)) {
		close(s);
		return -1;
	}
	return s;
}

/* Accept the next connection and reset it, unless it is refused. */
static void let_in_and_reset(int l)
{
	struct pollfd p = { .fd = l, .events = POLLIN };
	int i, id;

	for (i = 0; i < patience(10) * 100 && !stat_of(FAR, "DropMemory"); i++)
		if (poll(&p, 1, 10) == 1) {
			close_hard(let_in(l, &id));
			return;
		}
}

/* Seconds for which a connection that was reset is remembered */
#define LIFE	32

/*
 * A peer whose connections are all reset fills half of the room for tombstones at most.  Its next
 * connections then wait until the oldest have expired, while other hosts are served.
 */
TEST_F_TIMEOUT(bounds, tombstones_of_the_aborted, 400)
{
	const int room = 2 * 10 + 1024;
	int l = listening(16), i, s, a = -1, id = 0, early;
	unsigned int tombs;
	time_t begun;

	ASSERT_LE(0, l);
	EXPECT_TRUE(wait_for_stat("Tombstones", 0, 100));
	ASSERT_TRUE(set_sysctl(FAR, "tombstones_max", 10));
	begun = time(NULL);
	for (i = 0; i < 2 * room && !stat_of(FAR, "DropMemory"); i++) {
		s = connect_and_send(i);
		let_in_and_reset(l);
		close_hard(s);
	}
	tombs = stat_of(FAR, "Tombstones");
	/* The peer's next connection waits, and loses no data. */
	nonblock(l);
	s = connect_and_send(4711);
	usleep(100000);
	early = accept(l, NULL, NULL);
	/* Strangers need some of the time, too. */
	if (time(NULL) - begun > LIFE - 10) {
		set_sysctl(FAR, "tombstones_max", TOMBSTONES_MAX);
		close(l);
		close_hard(s);
		if (early >= 0)
			close_hard(early);
		SKIP(return, "on this machine the first are gone before the last come");
	}
	EXPECT_LE(room / 2, tombs);
	EXPECT_GT(room / 2 + 20, tombs);
	EXPECT_EQ(-1, early);
	/* Another host has the same hash bucket as this peer with probability 1/512. */
	for (i = 9; i < 12 && id != i; i++) {
		int stranger = connect_from(i, i);
		struct pollfd p = { .fd = l, .events = POLLIN };

		ASSERT_LE(0, stranger);
		if (poll(&p, 1, 1000) == 1)
			a = let_in(l, &id);
		close_hard(stranger);
		if (id == i)
			break;
	}
	EXPECT_GT(12, i);
	close(a);
	ASSERT_TRUE(set_sysctl(FAR, "tombstones_max", TOMBSTONES_MAX));
	EXPECT_TRUE(until(l, POLLIN));
	a = let_in(l, &id);
	EXPECT_EQ(4711, id);
	close(a);
	close(s);
	close(l);
	EXPECT_TRUE(wait_for_stat("Tombstones", 0, 100));
}

/* Dumps */

#define DUMPED	100
#define PATHS	32

/* Index of the host that a line of the dump is about; DUMPED: none of ours. */
static int dumped_host(const char *line)
{
	unsigned int i;

	return sscanf(line, "10.1.0.%u from", &i) == 1 && i && i <= DUMPED ? i - 1 : DUMPED;
}

/* The host that the next path in the output of "ndp path live" belongs to; -1: no more. */
static int dumped_path(FILE *lines, int *host)
{
	char line[256];

	while (fgets(line, sizeof(line), lines)) {
		if (line[0] == ' ')
			return *host;
		*host = dumped_host(line);
	}
	return -1;
}

/* While hosts are dumped, some that were shown already are deleted: all others are shown. */
TEST_F_TIMEOUT(bounds, dump_goes_on, 400)
{
	int s[DUMPED], a[DUMPED], shown[DUMPED + 1] = { 0 }, host = DUMPED, l, i, id;
	int ended = 0, missing = 0, fds[2];
	char text[32];
	union address to = any_address(port);
	FILE *lines;

	l = new_socket(FAR, 0);
	ASSERT_EQ(0, bind(l, &to.any, address_len()));
	ASSERT_EQ(0, listen(l, DUMPED));
	ASSERT_EQ(0, shell("ip address add 10.1.0.200/24 dev eth0"));
	/* Wait until peers of earlier tests are forgotten. */
	ASSERT_TRUE(wait_for_stat("IdlePeers", 0, 70));
	ASSERT_TRUE(set_sysctl(NEAR, "peers_max", 0));
	ASSERT_EQ(0, shell("ip address add 10.1.0.201/24 dev eth1"));
	for (i = 0; i < DUMPED; i++) {
		snprintf(text, sizeof(text), "10.1.0.%d", i + 1);
		ASSERT_EQ(0, setns(world->ns[FAR], CLONE_NEWNET));
		ASSERT_EQ(0, shell("ip address add %s/24 dev eth0", text));
		to = named(text, text, port);
		s[i] = new_socket(NEAR, 0);
		ASSERT_EQ(0, connect(s[i], &to.any, address_len()));
		ASSERT_EQ(sizeof(i), send(s[i], &i, sizeof(i), 0));
		a[i] = let_in(l, &id);
		ASSERT_LE(0, a[i]);
	}
	/* A pipe of one page: the tool is ahead by that, and by what it and the kernel buffer. */
	ASSERT_EQ(0, pipe(fds));
	ASSERT_LT(0, fcntl(fds[0], F_SETPIPE_SZ, 4096));
	ASSERT_EQ(0, setns(world->ns[NEAR], CLONE_NEWNET));
	if (!fork()) {
		dup2(fds[1], 1);
		/* Only the parent shall hold the connections. */
		close_range(3, ~0U, 0);
		execlp("ndp", "ndp", "path", "live", NULL);
		_exit(1);
	}
	close(fds[1]);
	lines = fdopen(fds[0], "r");
	for (i = 0; i < DUMPED * PATHS / 2; i++) {
		id = dumped_path(lines, &host);
		ASSERT_LE(0, id);
		shown[id]++;
	}
	for (i = 0; i < DUMPED; i++) {
		if (shown[i] < PATHS)
			continue;
		close_hard(s[i]);
		close(a[i]);
		s[i] = -1;
		ended++;
	}
	EXPECT_LT(DUMPED / 3, ended);
	/* A peer is deleted with its last socket. */
	EXPECT_EQ(DUMPED - ended,
		  wait_for_most(NEAR, "SockInUse", DUMPED - ended, patience(20)));
	while ((id = dumped_path(lines, &host)) >= 0)
		shown[id]++;
	for (i = 0; i < DUMPED; i++)
		missing += shown[i] < PATHS;
	EXPECT_EQ(0, missing);
	EXPECT_EQ(0, shown[DUMPED]);
	fclose(lines);
	EXPECT_EQ(1, all_well(1));
	for (i = 0; i < DUMPED; i++) {
		if (s[i] < 0)
			continue;
		close(s[i]);
		close(a[i]);
	}
	close(l);
	ASSERT_TRUE(set_sysctl(NEAR, "peers_max", 4096));
}

TEST_HARNESS_MAIN
