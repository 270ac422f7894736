// SPDX-License-Identifier: GPL-2.0
/*
 * Networks that do not know NDP: hardware that trims at lengths and with code points of its own, or
 * leaves the headers' lengths as they were, and routers that change or clear code points.  All data
 * still arrives as it was sent; counters tell what the network did.
 */
#include "middle.h"

#define MTU		1500
#define BYTES		(400 * 1000)	/* each way */
#define PATIENCE	60		/* s */

/* What the network does, and how often it did. */
static struct {
	int	keep;		/* bytes behind the UDP header that a trimmed packet keeps */
	int	dscp;		/* of trimmed packets, -1: unchanged */
	bool	lengths;	/* IP's and UDP's lengths stay as they were */
	bool	udp_length;	/* UDP's length stays as it was */
	int	data;		/* packets with payload that were sent */
	int	trimmed;	/* packets that were trimmed */
	int	remarked;
} net;

static void carry_on(struct packet *p)
{
	net.data += has_payload(p);
	deliver(p, 20);
}

/* Trim; the lengths of IP and UDP stay as they were if the test says so. */
static void cut(struct packet *p)
{
	__be16 udp_len = udp_of(p)->len;

	if (net.lengths)
		p->len = ip_len(p) + sizeof(struct udphdr) + net.keep;
	else
		resize(p, net.keep);
	if (net.udp_length)
		udp_of(p)->len = udp_len;
	if (net.dscp >= 0)
		set_dscp(p, net.dscp);
	net.trimmed += deliver(p, 20);
}

/* A port that trims every fourth packet. */
static void trims(struct packet *p)
{
	net.data += has_payload(p);
	if (has_payload(p) && net.data % 4 == 0 && ndp_len(p) > net.keep)
		cut(p);
	else
		deliver(p, 20);
}

static void remarks(struct packet *p)
{
	bool changed = dscp_of(p) != net.dscp;

	net.data += has_payload(p);
	set_dscp(p, net.dscp);
	net.remarked += deliver(p, 20) && changed;
}

/* Clear the code point of every other packet. */
static void bleaches_some(struct packet *p)
{
	static int n;
	bool changed = n++ % 2;

	net.data += has_payload(p);
	if (changed)
		set_dscp(p, 0);
	net.remarked += deliver(p, 20) && changed;
}

struct flow {
	int	fd;
	int	sent;
	int	got;
	bool	over;
};

static bool flows(struct flow *f, int end)
{
	static char buf[20000];
	int i, n = BYTES - f->sent;

	n = n < (int)sizeof(buf) ? n : (int)sizeof(buf);
	for (i = 0; i < n; i++)
		buf[i] = byte_at(f->sent + i) + end;
	n = n ? send(f->fd, buf, n, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
	f->sent += n > 0 ? n : 0;
	if (n > 0 && f->sent == BYTES)
		shutdown(f->fd, SHUT_WR);
	n = recv(f->fd, buf, sizeof(buf), MSG_DONTWAIT);
	for (i = 0; i < n; i++)
		if (buf[i] != (char)(byte_at(f->got + i) + !end))
			return false;
	f->got += n > 0 ? n : 0;
	f->over = !n;
	return true;
}

/* Send BYTES both ways through the network. */
static bool goes_through(void)
{
	struct flow near, far;
	__u64 end = now_us() + PATIENCE * 1000000ULL;
	int l = listening(4), id;

	memset(&near, 0, sizeof(near));
	memset(&far, 0, sizeof(far));
	nonblock(l);
	near.fd = connect_and_send(4711);
	far.fd = -1;
	while (far.fd < 0 && now_us() < end) {
		forward_packets(100);
		far.fd = accept(l, NULL, NULL);
	}
	while (far.fd >= 0 && recv(far.fd, &id, sizeof(id), MSG_DONTWAIT) < 0 && now_us() < end)
		forward_packets(100);
	while (far.fd >= 0 && !(near.over && far.over) && now_us() < end) {
		if (!flows(&near, NEAR) || !flows(&far, FAR)) {
			printf("# wrong data\n");
			break;
		}
		forward_packets(100);
	}
	close(l);
	close(near.fd);
	close(far.fd);
	printf("# data %d, trimmed %d, remarked %d; near got %d, far got %d of %d bytes\n",
	       net.data, net.trimmed, net.remarked, near.got, far.got, BYTES);
	/* Let packets that are still under way arrive. */
	if (!forward_until_stat("SockInUse", 0, PATIENCE))
		return false;
	while (n_late)
		forward_packets(100);
	return near.over && far.over && near.got == BYTES && far.got == BYTES;
}

/* The same, with some packets trimmed. */
static bool goes_through_trimmed(void)
{
	int before = net.trimmed;

	return goes_through() && net.trimmed > before;
}

static unsigned long long both(const char *name)
{
	return stat_of(NEAR, name) + stat_of(FAR, name);
}

/* Wait until @name is @n, as packets are received later than written.  Return: its last value. */
static unsigned long long counted(const char *name, unsigned long long n)
{
	__u64 end = now_us() + 5000000;

	while (both(name) != n && now_us() < end)
		forward_packets(1000);
	return both(name);
}

/* Trimmed packets that arrive after their connection's end are not counted as trimmed. */
static bool all_came_trimmed(void)
{
	__u64 end = now_us() + 5000000;
	unsigned long long late, missing;

	do {
		forward_packets(1000);
		missing = net.trimmed - both("TrimmedIn");
		late = both("TombstoneHits") + both("DropNoConn") + both("DropClosed");
	} while (missing > late && now_us() < end);
	printf("# %llu came late, of %llu\n", missing, late);
	return missing <= late;
}

static bool tell_repair(const char *what)
{
	int end, bad = 0;

	for (end = NEAR; end <= FAR; end++)
		bad += setns(world->ns[end], CLONE_NEWNET) || shell("ndp repair %s tun0", what);
	return !bad;
}

FIXTURE(foreign)
{
	int unused;
};

FIXTURE_VARIANT(foreign)
{
	int family;
};

FIXTURE_VARIANT_ADD(foreign, ip4) { .family = 0 };
FIXTURE_VARIANT_ADD(foreign, ip6) { .family = 1 };

FIXTURE_SETUP(foreign)
{
	ASSERT_EQ(0, lay_middle(MTU));
	world = &middle[variant->family];
	net.dscp = -1;
	meddle = trims;
}

FIXTURE_TEARDOWN(foreign)
{
	EXPECT_EQ(0, both("CrcIn"));
	EXPECT_EQ(0, both("DropLength"));
	EXPECT_EQ(0, both("DropChecksum"));
}

/* Trimmed at the header's end, within the payload's checksum, within the payload. */
TEST_F_TIMEOUT(foreign, cuts_anywhere, 200)
{
	static const int keep[] = { HDR_LEN, HDR_LEN + 1, HDR_LEN + CRC_LEN, 64, 100, 1000 };
	unsigned int i;

	for (i = 0; i < sizeof(keep) / sizeof(*keep); i++) {
		net.keep = keep[i];
		ASSERT_TRUE(goes_through_trimmed());
	}
	EXPECT_TRUE(all_came_trimmed());
	EXPECT_EQ(0, both("RemarkedIn"));
}

/* Trimmed packets may have a code point of the switch's own, or NDP's: neither is an error. */
TEST_F_TIMEOUT(foreign, marks_what_it_cut, 200)
{
	static const int dscp[] = { 0, 10, DSCP_DATA, DSCP_CONTROL, 46 };
	unsigned int i;

	net.keep = HDR_LEN + CRC_LEN;
	for (i = 0; i < sizeof(dscp) / sizeof(*dscp); i++) {
		net.dscp = dscp[i];
		ASSERT_TRUE(goes_through_trimmed());
	}
	EXPECT_TRUE(all_came_trimmed());
	EXPECT_EQ(0, both("RemarkedIn"));
}

/* IP drops packets shorter than their length field: they are lost and retransmitted. */
TEST_F_TIMEOUT(foreign, leaves_lengths, 200)
{
	net.keep = HDR_LEN + CRC_LEN;
	net.lengths = true;
	ASSERT_TRUE(goes_through_trimmed());
	EXPECT_EQ(0, both("TrimmedIn"));
	EXPECT_LT(0, both("Timeouts") + both("LostByOrder") + both("TailProbes"));
}

TEST_F_TIMEOUT(foreign, lengths_are_repaired, 200)
{
	static const int keep[] = { HDR_LEN, HDR_LEN + CRC_LEN, 700 };
	unsigned int i;

	ASSERT_TRUE(tell_repair("add"));
	net.lengths = true;
	for (i = 0; i < sizeof(keep) / sizeof(*keep); i++) {
		net.keep = keep[i];
		ASSERT_TRUE(goes_through_trimmed());
	}
	EXPECT_TRUE(all_came_trimmed());
	EXPECT_EQ(net.trimmed, counted("Repaired", net.trimmed));
	ASSERT_TRUE(tell_repair("del"));
	ASSERT_TRUE(goes_through_trimmed());
	EXPECT_GT(net.trimmed, both("Repaired"));
}

/* IP's length is right, UDP's is not. */
TEST_F_TIMEOUT(foreign, udp_lengths_are_repaired, 200)
{
	ASSERT_TRUE(tell_repair("add"));
	net.udp_length = true;
	net.keep = HDR_LEN + CRC_LEN;
	ASSERT_TRUE(goes_through_trimmed());
	EXPECT_TRUE(all_came_trimmed());
	EXPECT_EQ(net.trimmed, counted("Repaired", net.trimmed));
}

/* Packets that are not trimmed, or not NDP's, are not changed. */
TEST_F(foreign, nothing_to_repair)
{
	ASSERT_TRUE(tell_repair("add"));
	meddle = carry_on;
	ASSERT_TRUE(goes_through());
	EXPECT_EQ(0, both("Repaired"));
	/* The setting is deleted with its device. */
	close(tun[NEAR]);
	close(tun[FAR]);
	ASSERT_EQ(0, lay_middle(MTU));
	world = &middle[variant->family];
	meddle = trims;
}

TEST_F(foreign, clears_code_points)
{
	meddle = remarks;
	net.dscp = 0;
	ASSERT_TRUE(goes_through());
	EXPECT_LT(0, net.remarked);
	EXPECT_EQ(net.remarked, counted("RemarkedIn", net.remarked));
}

/* All packets get one code point: those that had it before are not counted. */
TEST_F(foreign, takes_all_for_data)
{
	meddle = remarks;
	net.dscp = DSCP_DATA;
	ASSERT_TRUE(goes_through());
	EXPECT_LT(0, net.remarked);
	EXPECT_EQ(net.remarked, counted("RemarkedIn", net.remarked));
}

TEST_F(foreign, clears_some)
{
	meddle = bleaches_some;
	ASSERT_TRUE(goes_through());
	EXPECT_LT(0, net.remarked);
	EXPECT_EQ(net.remarked, counted("RemarkedIn", net.remarked));
}

static void swallows(struct packet *p)
{
}

/*
 * This is how a suspended host, or virtual machine, looks to its peer.  The peer waits, then gives
 * up; a host that comes back later is reset.
 */
TEST_F_TIMEOUT(foreign, host_sleeps, 400)
{
	int l = listening(4), s = connect_and_send(4711), a = -1, id;
	char c;

	meddle = pass;
	ASSERT_TRUE(forward_until(is_readable, l, 10));
	settle();
	a = let_in(l, &id);
	ASSERT_LE(0, a);
	settle();
	/* The default of half a minute is too long for a test in real time. */
	if (!virtual_time())
		set_int(s, IPPROTO_TCP, TCP_USER_TIMEOUT, 3000);
	meddle = swallows;
	ASSERT_EQ(1, send(s, "x", 1, 0));
	forward_packets_for(scaled(10000));
	meddle = pass;
	EXPECT_TRUE(forward_until(is_readable, a, 20));
	EXPECT_EQ(1, recv(a, &c, 1, MSG_DONTWAIT));
	/* The challenge is repeated as well, and answered. */
	forward_packets_for(2500);
	meddle = swallows;
	ASSERT_EQ(1, send(s, "x", 1, 0));
	EXPECT_TRUE(forward_until(has_error, s, 60));
	EXPECT_EQ(ETIMEDOUT, get_int(s, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(0, get_int(a, SOL_SOCKET, SO_ERROR));
	meddle = pass;
	EXPECT_EQ(1, send(a, "x", 1, 0));
	EXPECT_TRUE(forward_until(has_error, a, 20));
	EXPECT_EQ(ECONNRESET, get_int(a, SOL_SOCKET, SO_ERROR));
	close(s);
	close(a);
	close(l);
	settle();
}

TEST_HARNESS_MAIN
