// SPDX-License-Identifier: GPL-2.0
/*
 * TCPlight (net/ndp/light.c): a few ACKs acknowledge many packets, a stalled reader stops its own
 * peer and no other, and nothing is dropped for lack of room; it uses no device that is not known
 * to be lossless.  The cable is lossless, although the kernel does not know that.
 */
#define NDP_WORLDS (IN_LOOPBACK | IN_WIRE | IN_WIRE6)
#include "life.h"

/* Bytes, several times the buffers */
#define MUCH		(24 << 20)
#define PACKET		1400

static const char *const control[] = {
	"AckOut", "NackOut", "PullOut", "ProbeOut", "SignalOut", "CookieOut",
};

/* A counter of both ends, added up */
static unsigned long long both(const char *name)
{
	return stat_of(NEAR, name) + (world->wire ? stat_of(FAR, name) : 0);
}

/* Packets that were sent, other than DATA, FIN and RST */
static unsigned long long controls(void)
{
	unsigned long long sum = 0;
	unsigned int i;

	for (i = 0; i < sizeof(control) / sizeof(*control); i++)
		sum += both(control[i]);
	return sum;
}

static bool set_lossless(int value)
{
	return set_sysctl(NEAR, "lossless", value) && set_sysctl(FAR, "lossless", value);
}

static int light_socket(int end)
{
	int s = new_socket(end, 0);

	return s < 0 || setsockopt(s, SOL_NDP, NDP_TRANSPORT, "light", 5) ? -1 : s;
}

FIXTURE(light)
{
	int	l;
	/* Counters when the test begins */
	unsigned long long no_room, nacks, again, timeouts;
};

FIXTURE_VARIANT(light)
{
	int	kind;
};

FIXTURE_VARIANT_ADD(light, loopback) { .kind = LOOPBACK };
FIXTURE_VARIANT_ADD(light, wire) { .kind = WIRE };
FIXTURE_VARIANT_ADD(light, wire6) { .kind = WIRE6 };

FIXTURE_SETUP(light)
{
	shell("modprobe -q ndp_light");
	ndp = true;
	world = &worlds[1][variant->kind];
	port = 5000;
	signal(SIGPIPE, SIG_IGN);
	ASSERT_TRUE(set_lossless(1));
	self->l = listening(16);
	ASSERT_LE(0, self->l);
	self->no_room = both("NoRoomIn");
	self->nacks = both("NackOut");
	self->again = both("DataRtx");
	self->timeouts = both("Timeouts");
}

/* No packet was refused or retransmitted, and no socket is left. */
FIXTURE_TEARDOWN(light)
{
	close(self->l);
	EXPECT_EQ(self->no_room, both("NoRoomIn"));
	EXPECT_EQ(self->nacks, both("NackOut"));
	/* A host that is stalled for 200 ms retransmits. */
	if (virtual_time()) {
		EXPECT_EQ(self->again, both("DataRtx"));
		EXPECT_EQ(self->timeouts, both("Timeouts"));
	}
	EXPECT_TRUE(wait_for_stat("SockInUse", 0, 60));
}

/* A connection that has carried a byte; its ends are in @pair. */
static bool connected(int l, int *pair)
{
	char byte;

	pair[0] = light_socket(NEAR);
	if (pair[0] < 0 || connect_to(pair[0], port) || send(pair[0], "x", 1, 0) != 1)
		return false;
	pair[1] = accept(l, NULL, NULL);
	return pair[1] >= 0 && recv(pair[1], &byte, 1, 0) == 1;
}

static void close_pair(const int *pair)
{
	close(pair[0]);
	close(pair[1]);
}

/* Write @n bytes, in a process of its own. */
static pid_t writer(int fd, size_t n)
{
	static char data[1 << 16];
	pid_t child = fork();
	size_t at, i, len;

	if (child)
		return child;
	for (at = 0; at < n; at += len) {
		len = n - at < sizeof(data) ? n - at : sizeof(data);
		for (i = 0; i < len; i++)
			data[i] = byte_at(at + i);
		if (send(fd, data, len, MSG_WAITALL) != (ssize_t)len)
			exit(1);
	}
	exit(0);
}

/* Read @n bytes, up to @slice each @us.  Return: were they right? */
static bool read_right(int fd, size_t n, size_t slice, int us)
{
	static char data[1 << 16];
	size_t at = 0;
	ssize_t got, i;

	while (at < n) {
		if (us)
			usleep(us);
		got = recv(fd, data, slice, 0);
		if (got <= 0)
			return false;
		for (i = 0; i < got; i++, at++)
			if (data[i] != byte_at(at))
				return false;
	}
	return true;
}

TEST_F(light, few_answers)
{
	unsigned long long data, answers;
	int pair[2];

	ASSERT_TRUE(connected(self->l, pair));
	data = both("DataOut");
	answers = controls();
	ASSERT_LT(0, writer(pair[0], MUCH));
	EXPECT_TRUE(read_right(pair[1], MUCH, 1 << 16, 0));
	EXPECT_EQ(1, all_well(1));
	data = both("DataOut") - data;
	answers = controls() - answers;
	printf("# %llu DATA, %llu of control\n", data, answers);
	/*
	 * Some eight answers per window; a process that stops for 10 ms gets a PROBE.  On loopback,
	 * where packets have 32 KB or more, a window has few packets.
	 */
	if (virtual_time())
		EXPECT_LT(answers, data < MUCH >> 14 ? data / 3 : MUCH / (1 << 20) * 8 + 8);
	close_pair(pair);
}

/* A reader that is slower than its peer, and reads little at a time. */
TEST_F(light, slow_reader)
{
	unsigned long long answers;
	int pair[2], small = 100000;

	ASSERT_EQ(0, setsockopt(self->l, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
	ASSERT_TRUE(connected(self->l, pair));
	answers = controls();
	ASSERT_LT(0, writer(pair[0], MUCH / 8));
	EXPECT_TRUE(read_right(pair[1], MUCH / 8, PACKET, 100));
	EXPECT_EQ(1, all_well(1));
	answers = controls() - answers;
	printf("# %d reads, %llu of control\n", MUCH / 8 / PACKET, answers);
	if (virtual_time())
		EXPECT_LT(answers, MUCH / 8 / PACKET / 3);
	close_pair(pair);
}

/* A send buffer smaller than the room at the peer: the writer does not wait for a timer. */
TEST_F(light, small_send_buffer)
{
	unsigned long long probes;
	int pair[2], small = 20000;

	ASSERT_TRUE(connected(self->l, pair));
	ASSERT_EQ(0, setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)));
	probes = both("ProbeOut");
	ASSERT_LT(0, writer(pair[0], MUCH / 8));
	EXPECT_TRUE(read_right(pair[1], MUCH / 8, 1 << 16, 0));
	EXPECT_EQ(1, all_well(1));
	if (virtual_time())
		EXPECT_EQ(probes, both("ProbeOut"));
	close_pair(pair);
}

/* The application's answers carry the ACKs. */
TEST_F(light, requests)
{
	unsigned long long answers;
	char byte = 0;
	int pair[2], i;

	ASSERT_TRUE(connected(self->l, pair));
	ASSERT_EQ(1, send(pair[1], "x", 1, 0));
	ASSERT_EQ(1, recv(pair[0], &byte, 1, 0));
	usleep(1000);
	answers = controls();
	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(1, send(pair[0], "q", 1, 0));
		ASSERT_EQ(1, recv(pair[1], &byte, 1, 0));
		ASSERT_EQ(1, send(pair[1], "a", 1, 0));
		ASSERT_EQ(1, recv(pair[0], &byte, 1, 0));
	}
	answers = controls() - answers;
	printf("# %d requests, %llu of control\n", i, answers);
	/* An ACK is asked for when half of the room is used; packets on loopback are large. */
	if (virtual_time())
		EXPECT_LT(answers, world->wire ? 30 : 200);
	close_pair(pair);
}

/* A process that stalls, and one beside it on the same host that does not. */
TEST_F(light, stalled_beside_running)
{
	int stalled[2], running[2];
	struct timespec from, to;
	size_t held;
	double s;

	ASSERT_TRUE(connected(self->l, stalled));
	ASSERT_TRUE(connected(self->l, running));
	/* Full: for half a second nothing was acknowledged. */
	held = fill_up(stalled[0]);
	EXPECT_LT(1 << 20, held);
	clock_gettime(CLOCK_MONOTONIC, &from);
	ASSERT_LT(0, writer(running[0], MUCH));
	EXPECT_TRUE(read_right(running[1], MUCH, 1 << 16, 0));
	EXPECT_EQ(1, all_well(1));
	clock_gettime(CLOCK_MONOTONIC, &to);
	s = to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
	printf("# %zu bytes wait; beside them %.3f Gb/s\n", held, MUCH * 8 / s / 1e9);
	/* The cable has 1 Gb/s, of which MTU 1500 leaves 0.93 for payload. */
	if (virtual_time() && world->wire)
		EXPECT_LT(0.88, MUCH * 8 / s / 1e9);
	/* The stalled connection goes on. */
	shutdown(stalled[0], SHUT_WR);
	for (s = 0; s < held;) {
		static char data[1 << 16];
		ssize_t n = recv(stalled[1], data, sizeof(data), 0);

		ASSERT_LT(0, n);
		s += n;
	}
	close_pair(stalled);
	close_pair(running);
}

/* Many connections that are not accepted yet share their listener's memory. */
TEST_F(light, not_accepted_yet)
{
	enum { MANY = 8 };
	int s[MANY], a, i;

	for (i = 0; i < MANY; i++) {
		s[i] = light_socket(NEAR);
		ASSERT_LE(0, s[i]);
		ASSERT_EQ(0, connect_to(s[i], port));
		ASSERT_LT(0, writer(s[i], MUCH / 16));
		close(s[i]);
	}
	usleep(300000);
	for (i = 0; i < MANY; i++) {
		a = accept(self->l, NULL, NULL);
		ASSERT_LE(0, a);
		EXPECT_TRUE(read_right(a, MUCH / 16, 1 << 16, 0));
		close(a);
	}
	EXPECT_EQ(MANY, all_well(MANY));
}

/* Allowed over loopback always, over other devices if the sysctl "lossless" is set at both ends. */
TEST_F(light, refused_where_packets_are_dropped)
{
	unsigned long long refused = stat_of(FAR, "DropTransport");
	union address own = address(NEAR, port);
	int s, l;

	ASSERT_TRUE(set_lossless(0));
	s = light_socket(NEAR);
	ASSERT_LE(0, s);
	ASSERT_EQ(0, set_int(s, SOL_NDP, NDP_SYNC_CONNECT, 1));
	if (!world->wire) {
		EXPECT_EQ(0, connect_to(s, port));
		close(s);
		return;
	}
	EXPECT_EQ(-1, connect_to(s, port));
	EXPECT_EQ(EPROTONOSUPPORT, errno);
	EXPECT_EQ(refused, stat_of(FAR, "DropTransport"));
	close(s);
	/* The same host, by its own address */
	l = new_socket(NEAR, 0);
	ASSERT_EQ(0, bind_to(l, NEAR, port));
	ASSERT_EQ(0, listen(l, 1));
	s = light_socket(NEAR);
	EXPECT_EQ(0, connect(s, &own.any, address_len()));
	close(s);
	close(l);
	/* The acceptor's sysctl counts as well. */
	ASSERT_TRUE(set_sysctl(NEAR, "lossless", 1));
	s = light_socket(NEAR);
	ASSERT_EQ(0, set_int(s, SOL_NDP, NDP_SYNC_CONNECT, 1));
	EXPECT_EQ(-1, connect_to(s, port));
	EXPECT_EQ(EPROTONOSUPPORT, errno);
	EXPECT_LT(refused, stat_of(FAR, "DropTransport"));
	ASSERT_TRUE(set_sysctl(FAR, "lossless", 1));
	EXPECT_EQ(0, connect_to(s, port));
	close(s);
	/* Other transports may use any device. */
	ASSERT_TRUE(set_lossless(0));
	s = new_socket(NEAR, 0);
	ASSERT_EQ(0, set_int(s, SOL_NDP, NDP_SYNC_CONNECT, 1));
	EXPECT_EQ(0, connect_to(s, port));
	close(s);
}

TEST_HARNESS_MAIN
