// SPDX-License-Identifier: GPL-2.0
/*
 * Transports: how one is chosen, that both ends agree, and that another than NDP's own works behind
 * the same sockets (modules/ndp_fixed.c, "a window of fixed size").
 */
#define NDP_WORLDS (IN_LOOPBACK | IN_WIRE | IN_WIRE6)
#include "life.h"

#define LONG	(3 << 20)

static bool loaded(void)
{
	return !access("/sys/module/ndp_fixed", F_OK);
}

/* Return: references to the module, -1 if it is not loaded. */
static int holders(void)
{
	return read_number("/sys/module/ndp_fixed/refcnt");
}

/* Wait until @n references are left: orphans and namespaces of earlier tests hold some. */
static bool held_by(int n)
{
	int i;

	for (i = 0; i < patience(150) && holders() > n; i++)
		sleep(1);
	return holders() == n;
}

static bool unload(void)
{
	return !loaded() || (held_by(0) && !shell("rmmod ndp_fixed"));
}

/* Return: 0 or errno. */
static int set_text(int fd, int level, int option, const char *text)
{
	return setsockopt(fd, level, option, text, strlen(text)) ? errno : 0;
}

static const char *text_of(int fd, int level, int option)
{
	static char text[NDP_ACCEPT_MAX];
	socklen_t len = sizeof(text);

	return getsockopt(fd, level, option, text, &len) ? strerror(errno) : text;
}

static const char *transport_of(int fd)
{
	return text_of(fd, SOL_NDP, NDP_TRANSPORT);
}

FIXTURE(transport)
{
};

FIXTURE_VARIANT(transport)
{
	int kind;
};

FIXTURE_VARIANT_ADD(transport, loopback) { .kind = LOOPBACK };
FIXTURE_VARIANT_ADD(transport, wire) { .kind = WIRE };
FIXTURE_VARIANT_ADD(transport, wire6) { .kind = WIRE6 };

static bool ready(int kind)
{
	signal(SIGPIPE, SIG_IGN);
	ndp = true;
	world = &worlds[true][kind];
	port = 1024 + getpid() % 60000;
	return !shell("modprobe ndp_fixed");
}

FIXTURE_SETUP(transport)
{
	ASSERT_TRUE(ready(variant->kind));
}

FIXTURE_TEARDOWN(transport)
{
}

/* Pacing needs a qdisc, which loopback does not have. */
FIXTURE(pace)
{
};

FIXTURE_VARIANT(pace)
{
	int kind;
};

FIXTURE_VARIANT_ADD(pace, wire) { .kind = WIRE };
FIXTURE_VARIANT_ADD(pace, wire6) { .kind = WIRE6 };

FIXTURE_SETUP(pace)
{
	ASSERT_TRUE(ready(variant->kind));
}

FIXTURE_TEARDOWN(pace)
{
}

/* Connect to @l by transport @name and send a byte.  @pair: client and accepted socket. */
static bool connected(int l, const char *name, int *pair)
{
	char byte;

	pair[0] = new_socket(NEAR, 0);
	if (pair[0] < 0 || set_text(pair[0], SOL_NDP, NDP_TRANSPORT, name) ||
	    connect_to(pair[0], port) || send(pair[0], "x", 1, 0) != 1)
		return false;
	pair[1] = accept(l, NULL, NULL);
	return pair[1] >= 0 && recv(pair[1], &byte, 1, 0) == 1;
}

static void send_all(int fd, size_t n)
{
	char data[1 << 16];
	size_t at = 0, i, len;
	ssize_t sent;

	while (at < n) {
		len = n - at < sizeof(data) ? n - at : sizeof(data);
		for (i = 0; i < len; i++)
			data[i] = byte_at(at + i);
		sent = send(fd, data, len, MSG_NOSIGNAL);
		if (sent <= 0)
			exit(1);
		at += sent;
	}
	close(fd);
	exit(0);
}

/* Receive to the end.  Return: bytes received, 0 if any was wrong. */
static size_t receive_all(int fd)
{
	char data[1 << 16];
	size_t at = 0;
	ssize_t n, i;

	while ((n = recv(fd, data, sizeof(data), 0)) > 0)
		for (i = 0; i < n; i++, at++)
			if (data[i] != byte_at(at))
				return 0;
	return n ? 0 : at;
}

static bool transferred(int from, int to, size_t n)
{
	pid_t child = fork();

	if (!child) {
		close(to);
		send_all(from, n);
	}
	close(from);
	return child > 0 && receive_all(to) == n && all_well(1) == 1;
}

TEST_F(transport, has_a_name)
{
	int s = new_socket(NEAR, 0);

	ASSERT_LE(0, s);
	EXPECT_STREQ("ndp", transport_of(s));
	EXPECT_STREQ("ndp", text_of(s, IPPROTO_TCP, TCP_CONGESTION));
	EXPECT_EQ(0, set_text(s, SOL_NDP, NDP_TRANSPORT, "fixed"));
	EXPECT_STREQ("fixed", transport_of(s));
	EXPECT_STREQ("fixed", text_of(s, IPPROTO_TCP, TCP_CONGESTION));
	EXPECT_STREQ("fixed", info_of(s).transport);
	EXPECT_EQ(ENOENT, set_text(s, SOL_NDP, NDP_TRANSPORT, "fixe"));
	EXPECT_EQ(ENOENT, set_text(s, SOL_NDP, NDP_TRANSPORT, "a name that is far too long"));
	EXPECT_EQ(EINVAL, set_text(s, SOL_NDP, NDP_TRANSPORT, ""));
	EXPECT_STREQ("fixed", transport_of(s));
	EXPECT_EQ(0, set_text(s, IPPROTO_TCP, TCP_CONGESTION, "ndp"));
	EXPECT_STREQ("ndp", transport_of(s));
}

TEST_F(transport, is_loaded_and_held)
{
	int s = new_socket(NEAR, 0), status;
	pid_t child;

	ASSERT_TRUE(unload());
	child = fork();
	if (!child) {
		if (setuid(65534))
			_exit(100);
		_exit(set_text(s, SOL_NDP, NDP_TRANSPORT, "fixed"));
	}
	ASSERT_EQ(child, wait(&status));
	EXPECT_EQ(ENOENT, WEXITSTATUS(status));
	EXPECT_FALSE(loaded());

	EXPECT_EQ(0, set_text(s, SOL_NDP, NDP_TRANSPORT, "fixed"));
	EXPECT_TRUE(loaded());
	EXPECT_NE(0, shell("rmmod ndp_fixed 2>/dev/null"));
	close(s);
	EXPECT_TRUE(unload());
}

TEST_F(transport, carries_data)
{
	unsigned long long pulls, signals = stat_of(NEAR, "SignalIn");
	int l = listening(8), pair[2];

	pulls = stat_of(NEAR, "PulledOut") + stat_of(FAR, "PulledOut");
	ASSERT_TRUE(connected(l, "fixed", pair));
	EXPECT_STREQ("fixed", transport_of(pair[1]));
	EXPECT_STREQ("ndp", transport_of(l));
	EXPECT_EQ(0, set_text(pair[0], SOL_NDP, NDP_TRANSPORT, "fixed"));
	EXPECT_EQ(EISCONN, set_text(pair[0], SOL_NDP, NDP_TRANSPORT, "ndp"));
	EXPECT_TRUE(transferred(pair[0], pair[1], LONG));
	close(pair[1]);
	ASSERT_TRUE(connected(l, "fixed", pair));
	EXPECT_TRUE(transferred(pair[1], pair[0], LONG));
	/* Nothing was pulled, and the ends have announced their windows to each other. */
	EXPECT_EQ(pulls, stat_of(NEAR, "PulledOut") + stat_of(FAR, "PulledOut"));
	EXPECT_LT(signals, stat_of(NEAR, "SignalIn"));
}

/* A reader that is stalled, and then reads all. */
TEST_F(transport, waits_for_room)
{
	unsigned long long refused = stat_of(FAR, "NoRoomIn"), probes;
	int l = listening(8), pair[2];
	size_t n;

	ASSERT_TRUE(connected(l, "fixed", pair));
	n = fill_up(pair[0]);
	/* Hardly anything was sent beyond the reader's room. */
	EXPECT_GE(refused + 64, stat_of(FAR, "NoRoomIn"));
	probes = stat_of(NEAR, "ProbeOut");
	shutdown(pair[0], SHUT_WR);
	while (n) {
		static char data[1 << 16];
		ssize_t got = recv(pair[1], data, sizeof(data), 0);

		ASSERT_LT(0, got);
		n -= got;
	}
	/* The reader announces room without being asked by PROBEs. */
	EXPECT_GE(probes + 2, stat_of(NEAR, "ProbeOut"));
	close(pair[0]);
	EXPECT_EQ(0, recv(pair[1], &n, 1, 0));
}

/* Set the number of packets in flight that a receiver allows. */
static bool set_window(int packets)
{
	return write_number("/sys/module/ndp_fixed/parameters/window", packets);
}

/* The peer's room is a number of packets, however small they are. */
TEST_F(transport, counts_small_packets)
{
	unsigned long long refused = stat_of(FAR, "NoRoomIn");
	char byte[100] = "";
	int l, s, a, i;

	setns(world->ns[FAR], CLONE_NEWNET);
	l = a_socket(SOCK_SEQPACKET);
	ASSERT_TRUE(set_window(1000));
	ASSERT_EQ(0, set_int(l, SOL_SOCKET, SO_RCVBUF, 100000));
	ASSERT_EQ(0, bind_to(l, FAR, port));
	ASSERT_EQ(0, listen(l, 8));
	setns(world->ns[NEAR], CLONE_NEWNET);
	s = a_socket(SOCK_SEQPACKET);
	ASSERT_EQ(0, set_text(s, SOL_NDP, NDP_TRANSPORT, "fixed"));
	ASSERT_EQ(0, connect_to(s, port));
	ASSERT_EQ(sizeof(byte), send(s, byte, sizeof(byte), 0));
	a = accept(l, NULL, NULL);
	ASSERT_LE(0, a);
	for (i = 1; i < 2000; i++)
		if (send(s, byte, sizeof(byte), MSG_DONTWAIT) != sizeof(byte))
			break;
	usleep(500000);
	/* The reader takes them one by one. */
	for (; i > 0; i--)
		ASSERT_EQ(sizeof(byte), recv(a, byte, sizeof(byte), 0));
	EXPECT_GE(refused + 100, stat_of(FAR, "NoRoomIn"));
	EXPECT_TRUE(set_window(16));
}

TEST_F(transport, must_be_accepted)
{
	unsigned long long refused = stat_of(FAR, "DropTransport");
	int l = listening(8), s, pair[2];
	ssize_t n;
	char byte;

	EXPECT_EQ(ENOENT, set_text(l, SOL_NDP, NDP_ACCEPT, "ndp fixe"));
	EXPECT_EQ(0, set_text(l, SOL_NDP, NDP_ACCEPT, "ndp"));
	EXPECT_STREQ("ndp", text_of(l, SOL_NDP, NDP_ACCEPT));
	s = new_socket(NEAR, 0);
	ASSERT_EQ(0, set_text(s, SOL_NDP, NDP_TRANSPORT, "fixed"));
	ASSERT_EQ(0, connect_to(s, port));
	/* On a slow machine the answer may arrive before the write, which then fails. */
	n = send(s, "x", 1, MSG_NOSIGNAL);
	if (n == 1)
		n = recv(s, &byte, 1, 0);
	EXPECT_EQ(-1, n);
	EXPECT_EQ(EPROTONOSUPPORT, errno);
	close(s);
	s = new_socket(NEAR, 0);
	ASSERT_EQ(0, set_text(s, SOL_NDP, NDP_TRANSPORT, "fixed"));
	ASSERT_EQ(0, set_int(s, SOL_NDP, NDP_SYNC_CONNECT, 1));
	EXPECT_EQ(-1, connect_to(s, port));
	EXPECT_EQ(EPROTONOSUPPORT, errno);
	/* A token that was sent beside the first packet is counted as well. */
	EXPECT_LE(refused + 2, stat_of(FAR, "DropTransport"));
	close(s);

	ASSERT_TRUE(connected(l, "ndp", pair));
	EXPECT_STREQ("ndp", transport_of(pair[1]));
	EXPECT_EQ(0, set_text(l, SOL_NDP, NDP_ACCEPT, "  fixed ndp "));
	EXPECT_STREQ("ndp fixed", text_of(l, SOL_NDP, NDP_ACCEPT));
	ASSERT_TRUE(connected(l, "fixed", pair));
	EXPECT_EQ(0, set_text(l, SOL_NDP, NDP_ACCEPT, "fixed"));
	EXPECT_EQ(0, set_text(l, SOL_NDP, NDP_ACCEPT, " "));
	ASSERT_TRUE(connected(l, "ndp", pair));
}

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* Microseconds for @n bytes, from connect() on, through @qdisc at the sender. */
static long long paced(const char *qdisc, size_t n)
{
	int l = listening(8), pair[2];
	long long begun = now_us();

	setns(world->ns[NEAR], CLONE_NEWNET);
	if (shell("tc qdisc replace dev eth1 root %s", qdisc) ||
	    !connected(l, "fixed", pair) || !transferred(pair[0], pair[1], n))
		return -1;
	close(pair[1]);
	close(l);
	return now_us() - begun;
}

/* Send through a qdisc that ignores departure times.  Return: is the RTO sane? */
static bool unkept(void)
{
	struct ndp_info info;
	char data[20000] = "";
	int l = listening(8), pair[2];

	setns(world->ns[NEAR], CLONE_NEWNET);
	if (shell("tc qdisc replace dev eth1 root pfifo limit 1000") ||
	    !connected(l, "fixed", pair) ||
	    send(pair[0], data, sizeof(data), 0) != sizeof(data) ||
	    recv(pair[1], data, sizeof(data), MSG_WAITALL) != sizeof(data))
		return false;
	info = info_of(pair[0]);
	printf("# rto %u us, rtt %u us\n", info.rto_us, info.srtt_us);
	close(l);
	return info.rto_us && info.rto_us < 10000000;
}

/* A transport's pace is enforced by the qdisc: by fq, and by sch_ndp in host mode. */
TEST_F(pace, is_kept)
{
	const char *const qdiscs[] = { "fq", "ndp mode host" };
	/* At 100 Mb/s. */
	long long least = 8LL * LONG / 100, us;
	int i;

	ASSERT_TRUE(write_text("/sys/module/ndp_fixed/parameters/rate_mbit", "100"));
	for (i = 0; i < 2; i++) {
		us = paced(qdiscs[i], LONG);
		TH_LOG("%s: %lld us for %lld", qdiscs[i], us, least);
		EXPECT_LE(least * 99 / 100, us);
		if (virtual_time())
			EXPECT_GE(least * 101 / 100, us);
		port++;
	}
	/* With a qdisc that ignores it, no RTT is measured from a departure in the future. */
	EXPECT_TRUE(unkept());
	EXPECT_TRUE(write_text("/sys/module/ndp_fixed/parameters/rate_mbit", "0"));
	if (virtual_time())
		EXPECT_GT(least / 2, paced("fq", LONG));
	setns(world->ns[NEAR], CLONE_NEWNET);
	EXPECT_EQ(0, shell("tc qdisc del dev eth1 root"));
}

TEST_F(transport, is_a_namespaces)
{
	char text[64] = "";
	FILE *file;
	int s;

	ASSERT_EQ(0, setns(world->ns[NEAR], CLONE_NEWNET));
	EXPECT_TRUE(write_text("/proc/sys/net/ndp/transport", "fixed\n"));
	EXPECT_FALSE(write_text("/proc/sys/net/ndp/transport", "nonsense\n"));
	EXPECT_EQ(ENOENT, errno);
	file = fopen("/proc/sys/net/ndp/transports", "r");
	ASSERT_NE(NULL, file);
	EXPECT_NE(NULL, fgets(text, sizeof(text), file));
	fclose(file);
	/* Other transports may be loaded as well. */
	EXPECT_EQ(0, strncmp(text, "ndp ", 4));
	EXPECT_NE(NULL, strstr(text, " fixed\n"));
	s = new_socket(NEAR, 0);
	EXPECT_STREQ("fixed", transport_of(s));
	close(s);
	EXPECT_TRUE(held_by(1));
	EXPECT_NE(0, shell("rmmod ndp_fixed 2>/dev/null"));
	ASSERT_EQ(0, setns(world->ns[NEAR], CLONE_NEWNET));
	EXPECT_TRUE(write_text("/proc/sys/net/ndp/transport", "ndp\n"));
	EXPECT_TRUE(unload());
}

TEST_HARNESS_MAIN
