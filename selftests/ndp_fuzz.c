// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP with random input: packets that are lost, duplicated, cut, reordered or corrupted by
 * accident; packets that an attacker on the path forges; any socket option, sysctl and netlink
 * message.
 *
 * A round is determined by its seed.  Each test runs the rounds of fuzz_seeds, each of which has
 * found a bug once, then ROUNDS (environment) from SEED on.  A round that fails prints its seed;
 * with the kernel's own seed (lab: uml -s) it can be repeated.
 *
 * Despite accidents all data must arrive, once and as it was sent.  With lies the attacked
 * connections must only end; another connection of the same hosts, the witness, must not be
 * affected, and memory must stay bounded and be freed.  Beyond that the kernel must not complain:
 * this is run on debug kernels.
 */
#include "middle.h"

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <linux/netwire.h>
#include <linux/ndp_netlink.h>
#include <linux/pkt_sch_cee.h>
#include <linux/pkt_sch_ndp.h>

#define PAIRS		3
#define WITNESS		7000
#define WITNESS_BYTES	40000
#define BUFFER		(256 * 1024)
/* Bytes that all sockets of a round may hold in one namespace. */
#define MEMORY		(32ULL << 20)
#define KEPT		64
/* Virtual seconds: a connection without answers takes long to end. */
#define LONG		1000000
#define COUNT(a)	((int)(sizeof(a) / sizeof(*(a))))

static __u64 state;

/* xorshift64* */
static __u32 any(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 0x2545f4914f6cdd1dULL) >> 32;
}

static unsigned int below(unsigned int n)
{
	return any() % n;
}

static bool one_in(unsigned int n)
{
	return !below(n);
}

/* Boundary values, and any others. */
static __u32 edge(void)
{
	static const __u32 edges[] = {
		0, 1, 2, 3, 31, 32, 35, 36, 37, 255, 256, 1023, 1024, 4095, 4096, 4097,
		8192, 65535, 65536, 0x7ffffffe, 0x7fffffff, 0x80000000, 0xfffffffe,
	};

	switch (below(4)) {
	case 0:
		return any();
	case 1:
		return below(64);
	case 2:
		return -below(64);
	default:
		return edges[below(COUNT(edges))];
	}
}

static void seed(__u64 n)
{
	int i;

	state = n * 0x9e3779b97f4a7c15ULL + 1;
	for (i = 0; i < 8; i++)
		any();
}

/* Run the rounds of a test.  Return: how many have failed. */
static int play(const char *test, bool (*round)(__u64 seed), int least)
{
	FILE *file = fopen("fuzz_seeds", "r");
	__u64 first = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : 1;
	int i, failed = 0, n = getenv("ROUNDS") ? atoi(getenv("ROUNDS")) : least;
	__u64 began = now_us();
	char line[128], name[32];
	unsigned long long at;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%31s %llu", name, &at) == 2 && !strcmp(name, test) &&
		    !round(at)) {
			printf("# %s: seed %llu\n", test, at);
			failed++;
		}
	if (file)
		fclose(file);
	for (i = 0; i < n && failed < 3; i++)
		if (!round(first + i)) {
			printf("# %s: seed %llu\n", test, (unsigned long long)first + i);
			failed++;
		}
	printf("# %d rounds in %llu s\n", i, (now_us() - began) / 1000000);
	return failed;
}

/* The applications. */

struct side {
	int	fd;
	__u64	sent;
	__u64	got;
	bool	more;	/* the last send() had MSG_MORE */
	bool	lazy;	/* reads nothing before the end */
	bool	over;	/* all has been read */
	bool	wrong;
};

static struct pair {
	int		port;
	int		listener;
	bool		messages;
	struct side	side[2];
} pairs[PAIRS + 1];

static struct pair *const witness = &pairs[PAIRS];
static char buffer[BUFFER];
static bool lying;

static void fill(const struct side *side, int end, int len)
{
	int i;

	for (i = 0; i < len; i++)
		buffer[i] = byte_at(side->sent + i) + end;
}

static void look(struct side *side, int end, int len)
{
	int i;

	for (i = 0; i < len; i++)
		if (buffer[i] != (char)(byte_at(side->got + i) + !end))
			side->wrong = true;
	side->got += len;
}

static int pair_socket(const struct pair *pair, int end)
{
	if (setns(world->ns[end], CLONE_NEWNET))
		return -1;
	return a_socket((pair->messages ? SOCK_SEQPACKET : SOCK_STREAM) | SOCK_NONBLOCK);
}

static bool start(struct pair *pair, int port, bool messages)
{
	memset(pair, 0, sizeof(*pair));
	pair->port = port;
	pair->messages = messages;
	pair->side[FAR].fd = -1;
	pair->side[FAR].lazy = port != WITNESS && one_in(4);
	pair->listener = pair_socket(pair, FAR);
	if (pair->side[FAR].lazy)
		set_int(pair->listener, SOL_SOCKET, SO_RCVBUF, below(20000));
	if (pair->listener < 0 || bind_to(pair->listener, FAR, port) ||
	    listen(pair->listener, 2 + below(8))) {
		printf("# nobody listens: %s\n", strerror(errno));
		return false;
	}
	pair->side[NEAR].fd = pair_socket(pair, NEAR);
	return !connect_to(pair->side[NEAR].fd, port) || errno == EINPROGRESS;
}

static bool accepted(struct pair *pair)
{
	if (pair->side[FAR].fd < 0)
		pair->side[FAR].fd = accept4(pair->listener, NULL, NULL, SOCK_NONBLOCK);
	return pair->side[FAR].fd >= 0;
}

static void write_some(struct side *side, int end)
{
	int len = 1 + below(one_in(4) ? 20000 : 200), n;
	bool more = one_in(8);

	fill(side, end, len);
	n = send(side->fd, buffer, len, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
	if (n <= 0)
		return;
	side->sent += n;
	side->more = more;
}

static void read_some(struct pair *pair, int end)
{
	struct side *side = &pair->side[end];
	int n, len = pair->messages ? BUFFER : 1 + below(20000);

	if (one_in(8))
		recv(side->fd, buffer, len, MSG_PEEK);
	n = recv(side->fd, buffer, len, 0);
	if (n > 0)
		look(side, end, n);
	else if (!n)
		side->over = true;
}

static void set_some(int fd)
{
	static const struct {
		int level, name;
		unsigned int most;
	} options[] = {
		{ SOL_SOCKET, SO_RCVBUF, 300000 }, { SOL_SOCKET, SO_SNDBUF, 300000 },
		{ SOL_SOCKET, SO_RCVLOWAT, 10000 }, { SOL_SOCKET, SO_PRIORITY, 7 },
		{ SOL_SOCKET, SO_KEEPALIVE, 2 }, { SOL_NDP, NDP_PRIORITY, 8 },
		{ SOL_NDP, NDP_IW, 100 }, { SOL_NDP, NDP_PARTIAL, 2 },
		{ IPPROTO_TCP, TCP_CORK, 2 }, { IPPROTO_TCP, TCP_NODELAY, 2 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 3 }, { IPPROTO_TCP, TCP_MAXSEG, 1400 },
	};
	int i = below(COUNT(options));

	set_int(fd, options[i].level, options[i].name, below(options[i].most));
}

/* A random action of an application. */
static void act(struct pair *pair)
{
	int end = below(2);
	struct side *side = &pair->side[end];

	if (end == FAR && !accepted(pair))
		return;
	switch (below(lying ? 64 : 16)) {
	case 0:
		set_some(side->fd);
		break;
	case 16:
		shutdown(side->fd, below(3));
		break;
	case 17:
		side->lazy = true;
		break;
	case 18:
		if (one_in(4))
			set_int(pair->listener, SOL_SOCKET, SO_RCVBUF, below(10000));
		break;
	default:
		if (one_in(2))
			write_some(side, end);
		else if (!side->over && !side->lazy)
			read_some(pair, end);
	}
}

/* Let each end of the witness write and read once. */
static void witness_acts(void)
{
	int end;

	for (end = NEAR; end <= FAR; end++) {
		struct side *side = &witness->side[end];
		int len = WITNESS_BYTES - side->sent, n;

		if (end == FAR && !accepted(witness))
			return;
		if (len) {
			fill(side, end, len);
			n = send(side->fd, buffer, len, MSG_NOSIGNAL);
			side->sent += n > 0 ? n : 0;
			if (side->sent == WITNESS_BYTES)
				shutdown(side->fd, SHUT_WR);
		}
		if (!side->over)
			read_some(witness, end);
	}
}

static bool is_witness(struct packet *p)
{
	return acceptor_port(p) == WITNESS;
}

/* Accidents: random faults, which checksums detect. */

static void flip(struct packet *p)
{
	int at = below(ndp_len(p) * 8);

	((__u8 *)ndp_of(p))[at / 8] ^= 1 << at % 8;
}

/* Congestion Experienced */
static void mark(struct packet *p)
{
	p->data[1] |= is_ip6(p) ? 0x30 : 3;
	seal_ip(p);
}

/* A switch sends back the header of a packet for which it has no room. */
static void bounce(struct packet *p)
{
	trim(p);
	ndp_of(p)->flags |= BOUNCED;
	turn_round(p);
	seal(p);
}

static void accident(struct packet *p)
{
	static const int cut[] = { HDR_LEN, HDR_LEN + 1, HDR_LEN + CRC_LEN, 64, 100, 500 };
	int len;

	switch (one_in(2) ? 9 : below(10)) {
	case 0:
		return;
	case 1:
		deliver(p, below(100));
		deliver(p, below(5000));
		return;
	case 2:
		deliver(p, 1000 + below(5000));
		return;
	case 3:
		flip(p);
		break;
	case 4:
		len = cut[below(COUNT(cut))];
		if (!has_payload(p) || len >= ndp_len(p))
			break;
		/* Some hardware leaves the headers' lengths as they were. */
		if (one_in(4))
			p->len -= ndp_len(p) - len;
		else
			resize(p, len);
		if (one_in(2))
			set_dscp(p, DSCP_TRIMMED);
		break;
	case 5:
		set_dscp(p, below(64));
		break;
	case 6:
		if (!has_payload(p))
			break;
		bounce(p);
		break;
	case 7:
		mark(p);
	}
	deliver(p, below(300));
}

static void meddle_by_accident(struct packet *p)
{
	if (is_witness(p))
		deliver(p, 50);
	else
		accident(p);
}

/* Lies: an attacker who sees all packets, and computes all checksums. */

static struct packet kept[KEPT];
static int n_kept;
static unsigned int lies_in;

static void keep(const struct packet *p)
{
	kept[n_kept++ % KEPT] = *p;
}

static struct packet *old(void)
{
	return &kept[below(n_kept < KEPT ? n_kept : KEPT)];
}

static void add32(__u32 *field, __u32 n)
{
	*field = htonl(ntohl(*field) + n);
}

static int some_type(void)
{
	int type = below(one_in(8) ? TYPES : SIGNAL + 1);

	/* Most connections must not be reset. */
	return type == RST && !one_in(16) ? PULL : type;
}

static void lie_about(struct packet *p)
{
	struct header *h = ndp_of(p);
	struct header other = *ndp_of(old());
	__u32 n;

	switch (below(19)) {
	case 0:
		add32(&h->psn, edge());
		break;
	case 1:
	case 2:
		add32(&h->psn_off, edge());
		break;
	case 3:
		h->psn_off = htonl(edge());
		break;
	case 4:
		h->window = htonl(edge());
		break;
	case 5:
		h->flags ^= 1 << below(8);
		break;
	case 6:
		h->flags = any();
		break;
	case 7:
		h->vdt = (h->vdt & 0xf0) | some_type();
		break;
	case 8:
		h->vdt ^= one_in(4) ? (int)below(256) : FROM_ACCEPTOR;
		break;
	case 9:
		h->len = htons(edge());
		break;
	case 10:
		h->path = htons(edge());
		break;
	case 11:
		h->conn_id = one_in(2) ? other.conn_id : any();
		h->sport = other.sport;
		h->dport = other.dport;
		break;
	case 12:
		h->psn = other.psn;
		h->psn_off = other.psn_off;
		break;
	case 13:
		/* No larger than the MTU allows. */
		resize(p, below(one_in(2) ? 100 : 1400));
		break;
	case 14:
		set_dscp(p, below(64));
		break;
	case 15:
		n = edge();
		add32(&h->psn, n);
		add32(&h->psn_off, n);
		break;
	case 16:
		mark(p);
		break;
	case 17:
		if (has_payload(p))
			bounce(p);
		break;
	default:
		h->sport ^= htons(1 << below(16));
	}
}

static void lie(struct packet *p)
{
	int n = 1 + below(3);

	while (n--) {
		if (ndp_len(p) < HDR_LEN)
			break;
		lie_about(p);
	}
	if (ndp_len(p) >= HDR_LEN && is_witness(p))
		return;
	if (one_in(16)) {
		if (one_in(2))
			turn_round(p);
		else
			p->from = !p->from;
	}
	if (ndp_len(p) >= HDR_LEN && !one_in(32))
		seal(p);
	n = one_in(8) ? 1 + below(30) : 1;
	while (n--)
		deliver(p, below(one_in(4) ? 20000 : 500));
}

static void meddle_by_lies(struct packet *p)
{
	if (is_witness(p)) {
		deliver(p, 50);
		return;
	}
	keep(p);
	if (one_in(lies_in))
		lie(p);
	else if (!one_in(32))
		deliver(p, below(300));
	/* Also forge a packet that was not sent. */
	if (one_in(lies_in)) {
		struct packet made = *old();

		lie(&made);
	}
}

static void set_sysctls(void)
{
	static const struct {
		const char *name;
		int least, most;
	} sysctls[] = {
		{ "base_rtt_us", 1, 2000 }, { "paths", 1, 256 }, { "pull_rate_mbit", 10, 2000 },
		{ "pull_low_share", 0, 100 }, { "mem_max_kb", 1, 4000 }, { "rst_rate", 0, 200 },
		{ "tombstones_max", 0, 200 }, { "qdisc_us", 0, 1000 },
	};
	static const int defaults[] = { 170, 32, 1000, 0, 0, 10000, 65536, 16 };
	int i, end;

	for (i = 0; i < COUNT(sysctls); i++)
		for (end = NEAR; end <= FAR; end++)
			set_sysctl(end, sysctls[i].name, lying && one_in(4) ?
				   sysctls[i].least +
				   (int)below(sysctls[i].most - sysctls[i].least) : defaults[i]);
}

/* The rounds of packets. */

static bool begin(__u64 n, bool lies)
{
	int i;

	seed(n);
	lying = lies;
	world = &middle[below(2)];
	lies_in = 1 << (1 + below(6));
	n_kept = 0;
	meddle = pass;
	set_sysctls();
	set_start(one_in(2) ? -below(100) : 0);
	for (i = 0; i < PAIRS; i++)
		if (!start(&pairs[i], 6000 + i, one_in(2)))
			return false;
	if (!start(witness, WITNESS, false))
		return false;
	meddle = lies ? meddle_by_lies : meddle_by_accident;
	return true;
}

static bool memory_bounded(void)
{
	unsigned long long near = stat_of(NEAR, "MemBytes"), far = stat_of(FAR, "MemBytes");

	if (near <= MEMORY && far <= MEMORY)
		return true;
	printf("# memory: near %llu, far %llu bytes\n", near, far);
	return false;
}

static bool goes_on(int steps)
{
	int i;

	for (i = 0; i < steps; i++) {
		act(&pairs[below(PAIRS)]);
		if (one_in(8))
			witness_acts();
		forward_packets(20 + below(300));
	}
	return memory_bounded();
}

/* Send and read the rest, then the end.  Return: have both ends read the end? */
static bool drained(struct pair *pair)
{
	int end, over = 0;

	if (!accepted(pair))
		return false;
	for (end = NEAR; end <= FAR; end++) {
		struct side *side = &pair->side[end];

		/* An unfinished message would be lost: an empty send() ends it. */
		if (side->more)
			side->more = send(side->fd, "", 0, MSG_NOSIGNAL) < 0;
		else
			shutdown(side->fd, SHUT_WR);
		read_some(pair, end);
		over += side->over;
	}
	return over == 2;
}

static bool all_drained(void)
{
	__u64 end = now_us() + 100 * 1000000ULL;
	int i, n;

	while (now_us() < end) {
		for (i = n = 0; i < PAIRS; i++)
			n += drained(&pairs[i]);
		if (n == PAIRS)
			return true;
		forward_packets(1000);
	}
	for (i = 0; i < PAIRS; i++)
		printf("# %s: near sent %llu, far got %llu; far sent %llu, near got %llu\n",
		       pairs[i].messages ? "messages" : "stream",
		       pairs[i].side[NEAR].sent, pairs[i].side[FAR].got,
		       pairs[i].side[FAR].sent, pairs[i].side[NEAR].got);
	return false;
}

static bool all_right(const struct pair *pair)
{
	const struct side *side = pair->side;

	if (side[NEAR].wrong || side[FAR].wrong)
		printf("# port %d: wrong data\n", pair->port);
	else if (side[NEAR].sent != side[FAR].got || side[FAR].sent != side[NEAR].got)
		printf("# port %d: near sent %llu, far got %llu; far sent %llu, near got %llu\n",
		       pair->port, side[NEAR].sent, side[FAR].got, side[FAR].sent,
		       side[NEAR].got);
	else
		return true;
	return false;
}

static bool witness_well(void)
{
	__u64 end = now_us() + 60 * 1000000ULL;

	while ((!witness->side[NEAR].over || !witness->side[FAR].over) && now_us() < end) {
		witness_acts();
		forward_packets(500);
	}
	return all_right(witness) && witness->side[NEAR].got == WITNESS_BYTES &&
	       witness->side[FAR].got == WITNESS_BYTES;
}

static bool ended(void)
{
	int i, end;

	meddle = pass;
	set_start(0);
	for (i = 0; i <= PAIRS; i++) {
		close(pairs[i].listener);
		for (end = NEAR; end <= FAR; end++)
			if (lying && !one_in(8))
				close_hard(pairs[i].side[end].fd);
			else
				close(pairs[i].side[end].fd);
	}
	return forward_until_stat("SockInUse", 0, 300) && forward_until_stat("MemBytes", 0, 10);
}

static bool accidents_round(__u64 n)
{
	bool ok = begin(n, false) && goes_on(300);
	int i;

	if (ok)
		ok = all_drained();
	for (i = 0; i < PAIRS; i++)
		ok = all_right(&pairs[i]) && ok;
	ok = witness_well() && ok;
	return ended() && ok;
}

static bool lies_round(__u64 n)
{
	bool ok = begin(n, true) && goes_on(600);

	ok = witness_well() && ok;
	return ended() && ok;
}

/* A fixture, as the harness gives a test without one only 30 seconds. */
FIXTURE(fuzz) { int unused; };
FIXTURE_SETUP(fuzz) { }
FIXTURE_TEARDOWN(fuzz) { }

/* Has each of these counters risen?  An event that never occurred was not tested. */
static bool happened(const char *const *names, int n)
{
	bool all = true;
	int i;

	for (i = 0; i < n; i++) {
		unsigned long long count = stat_of(NEAR, names[i]) + stat_of(FAR, names[i]);

		printf("# %s %llu\n", names[i], count);
		all = all && count;
	}
	return all;
}

/* Do the connections use that transport? */
static bool over(const char *transport)
{
	const char *name = getenv("NDP_TRANSPORT");

	return !strcmp(name ?: "ndp", transport);
}

/* For NDP @pulls; for others the counter of what their receivers report to senders. */
static const char *own_of(const char *pulls)
{
	if (over("ndp"))
		return pulls;
	if (over("light"))
		return "AckRodeIn";
	return over("mprdma") ? "EceIn" : "SignalIn";
}

/* Some timeouts are spurious; TCPlight's are long, and it finds most losses by the order. */
static const char *found_lost(void)
{
	return over("light") ? "LostByOrder" : "SpuriousTimeouts";
}

/*
 * The counter of refused packets.  DCQCN's receiver refuses packets out of order, and rarely any
 * for lack of room.  TCPlight's rarely lacks room, but NACKs damaged packets.
 */
static const char *refused(void)
{
	if (over("light"))
		return "NackIn";
	return over("dcqcn") ? "EarlyIn" : "NoRoomIn";
}

TEST_F_TIMEOUT(fuzz, accidents, LONG)
{
	const char *const names[] = {
		"DataIn", "TrimmedIn", "CrcIn", "DupIn", "NackIn", "ProbeIn", "FinIn",
		/* The transport's own counter */
		own_of("PulledIn"),
		"BouncedIn", "Timeouts", "TombstoneHits", "DropChecksum", "DropVersion",
		"RemarkedIn", "Repaired", found_lost(),
	};

	ASSERT_EQ(0, lay_middle(1500));
	/* Only one of the two ends repairs lengths. */
	ASSERT_EQ(0, shell("ndp repair add tun0"));
	ASSERT_EQ(0, play("accidents", accidents_round, 30));
	ASSERT_TRUE(happened(names, COUNT(names)));
}

TEST_F_TIMEOUT(fuzz, lies, LONG)
{
	const char *const names[] = {
		"PassiveOpens", "RstIn", "CookieOut", "CookieIn", refused(), "BouncedIn",
		"DropShort", "DropVersion", "DropType", "DropChecksum", "DropLength",
		"DropNoConn", "DropNoListener", "DropCookie", "DropWindow", "TombstoneHits",
		"DropPsn", own_of("DropPull"),
	};

	ASSERT_EQ(0, lay_middle(1500));
	ASSERT_EQ(0, play("lies", lies_round, 40));
	ASSERT_TRUE(happened(names, COUNT(names)));
}

/* Any socket option, in any state. */

enum { SOCKETS = 6 };

static struct world home[2];

/* Enter a namespace in which both ends are.  Return: 0. */
static int go_home(void)
{
	int ns = new_ns(), ip6;

	for (ip6 = 0; ip6 < 2; ip6++) {
		home[ip6].family = ip6 ? AF_INET6 : AF_INET;
		home[ip6].address[NEAR] = ip6 ? "::1" : "127.0.0.1";
		home[ip6].address[FAR] = home[ip6].address[NEAR];
		home[ip6].ns[NEAR] = ns;
		home[ip6].ns[FAR] = ns;
	}
	ndp = true;
	world = &home[0];
	port = 5000;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGIO, SIG_IGN);
	signal(SIGURG, SIG_IGN);
	return ns < 0;
}

static int some_length(void)
{
	static const int lengths[] = { 0, 1, 2, 3, 4, 8, 12, 16, 28, 64, 232, 1000, 4096, -1 };

	return lengths[below(COUNT(lengths))];
}

static void *some_argument(void)
{
	int i, *word = (int *)buffer;

	for (i = 0; i < 1024; i++)
		word[i] = edge();
	if (one_in(16))
		return NULL;
	return one_in(16) ? (void *)(long)any() : buffer;
}

static void any_option(int fd)
{
	static const int levels[] = {
		SOL_NDP, SOL_NDP, SOL_SOCKET, IPPROTO_TCP, IPPROTO_IP, IPPROTO_IPV6,
	};
	int level = one_in(32) ? (int)any() : levels[below(COUNT(levels))];
	int name = one_in(32) ? (int)any() : (int)below(100);
	socklen_t len = some_length();

	if (one_in(2))
		setsockopt(fd, level, name, some_argument(), len);
	else
		getsockopt(fd, level, name, some_argument(), &len);
}

static void any_ioctl(int fd)
{
	unsigned long request = one_in(2) ? 0x8900 | below(16) : any();

	if (one_in(4))
		request = one_in(2) ? FIONREAD : TIOCOUTQ;
	/* These would send signals to other processes. */
	if (request == FIOSETOWN || request == SIOCSPGRP)
		return;
	ioctl(fd, request, some_argument());
}

static void any_call(int fd)
{
	union address addr = address(below(2), one_in(4) ? (int)below(65536) : port);
	struct msghdr msg = { 0 };
	struct iovec iov = { .iov_base = buffer, .iov_len = below(5000) };

	if (one_in(8))
		addr.any.sa_family = below(50);
	switch (below(9)) {
	case 0:
		bind(fd, &addr.any, below(40));
		break;
	case 1:
		connect(fd, &addr.any, one_in(4) ? below(40) : address_len());
		break;
	case 2:
		listen(fd, edge());
		break;
	case 3:
		close(accept4(fd, NULL, NULL, one_in(2) ? SOCK_NONBLOCK : any()));
		break;
	case 4:
		shutdown(fd, one_in(8) ? any() : below(3));
		break;
	case 5:
		recv(fd, buffer, below(5000), any() & ~MSG_WAITALL);
		break;
	default:
		msg.msg_name = one_in(4) ? &addr : NULL;
		msg.msg_namelen = below(40);
		msg.msg_iov = &iov;
		msg.msg_iovlen = one_in(4) ? 0 : 1;
		if (one_in(4)) {
			msg.msg_control = some_argument();
			msg.msg_controllen = below(100);
		}
		sendmsg(fd, &msg, any() | MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

static bool pair_works(void)
{
	int id = 0, l = listening(4), s = l < 0 ? -1 : connect_and_send(4711);
	int a = s >= 0 && until(l, POLLIN) ? let_in(l, &id) : -1;

	close_hard(a);
	close_hard(s);
	close(l);
	if (id != 4711) {
		printf("# a connection does not work: %s\n", strerror(errno));
		shell("ip -d link; tc qdisc; ip address; ip route; ndp path show; ndp -z stat");
	}
	return id == 4711;
}

static bool options_round(__u64 n)
{
	int fds[SOCKETS], i;

	seed(n);
	world = &home[below(2)];
	for (i = 0; i < SOCKETS; i++)
		fds[i] = setns(world->ns[NEAR], CLONE_NEWNET) ? -1 :
			 a_socket((one_in(2) ? SOCK_SEQPACKET : SOCK_STREAM) | SOCK_NONBLOCK);
	for (i = 0; i < 500; i++) {
		int fd = fds[below(SOCKETS)];

		switch (below(4)) {
		case 0:
			any_call(fd);
			break;
		case 1:
			any_ioctl(fd);
			break;
		default:
			any_option(fd);
		}
		fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
	}
	for (i = 0; i < SOCKETS; i++)
		close_hard(fds[i]);
	return pair_works();
}

TEST_F_TIMEOUT(fuzz, options, LONG)
{
	ASSERT_EQ(0, go_home());
	ASSERT_EQ(0, play("options", options_round, 200));
	ASSERT_TRUE(wait_for_stat("SockInUse", 0, 60));
	ASSERT_TRUE(wait_for_stat("MemBytes", 0, 10));
}

/* Netlink: valid messages, some of which are then corrupted. */

static struct mnl_socket *genl, *route;
static int ndp_family;

/* Callback of mnl_cb_run() for a message that was received. */
static int find_family(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			ndp_family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static struct mnl_socket *netlink(int bus)
{
	struct mnl_socket *nl = mnl_socket_open2(bus, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID))
		return NULL;
	return nl;
}

static struct nlmsghdr *message(int type, int flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	return nlh;
}

static struct nlmsghdr *genl_message(int type, int cmd, int flags)
{
	struct nlmsghdr *nlh = message(type, flags);
	struct genlmsghdr *gnlh = mnl_nlmsg_put_extra_header(nlh, sizeof(*gnlh));

	gnlh->cmd = cmd;
	gnlh->version = NDP_GENL_VERSION;
	return nlh;
}

/* Receive all answers. */
static void hear(struct mnl_socket *nl)
{
	static char answer[65536];

	while (mnl_socket_recvfrom(nl, answer, sizeof(answer)) > 0)
		;
}

/* Send a message, corrupted or not, and receive the answers. */
static void tell(struct mnl_socket *nl, struct nlmsghdr *nlh)
{
	int skip = NLMSG_HDRLEN, len = nlh->nlmsg_len, n = one_in(2) ? 0 : 1 + below(4);

	while (n-- && len > skip)
		buffer[skip + below(len - skip)] = one_in(2) ? (int)edge() : (int)below(32);
	if (one_in(16))
		nlh->nlmsg_len = below(len + 64);
	mnl_socket_sendto(nl, nlh, len);
	hear(nl);
}

static void put_any(struct nlmsghdr *nlh, int type)
{
	__u32 value[64];
	int i, len = one_in(8) ? (int)below(sizeof(value)) : 1 << below(5);

	for (i = 0; i < COUNT(value); i++)
		value[i] = one_in(2) ? htonl(0x0a000000 | below(8)) : edge();
	mnl_attr_put(nlh, type, len, value);
}

static void any_path(void)
{
	struct nlmsghdr *nlh = genl_message(ndp_family, below(__NDP_CMD_MAX + 1),
					    one_in(4) ? (int)any() : one_in(2) ? NLM_F_DUMP : 0);
	struct in_addr to = { .s_addr = htonl(0x0a000000 | below(8)) };
	int n = below(5);

	if (one_in(2))
		mnl_attr_put(nlh, NDP_A_DST, sizeof(to), &to);
	if (one_in(2))
		mnl_attr_put_u8(nlh, NDP_A_PREFIX, below(40));
	if (one_in(2))
		mnl_attr_put_u16(nlh, NDP_A_ENTROPY, one_in(2) ? 49152 + below(16384) : edge());
	if (one_in(2))
		mnl_attr_put_u32(nlh, NDP_A_MARK, below(4));
	if (one_in(4))
		mnl_attr_put_u32(nlh, NDP_A_IFINDEX, below(12));
	while (n--)
		put_any(nlh, below(__NDP_A_MAX + 2));
	tell(genl, nlh);
}

static void put_any_of_ndp(struct nlmsghdr *nlh)
{
	put_any(nlh, below(__TCA_NDP_MAX + 2));
}

/* Options of some priorities are in a nest of their own; they are half of all options. */
static void put_any_of_cee(struct nlmsghdr *nlh)
{
	struct nlattr *nest;
	int n = below(5);

	if (one_in(2)) {
		put_any(nlh, below(__TCA_CEE_MAX + 2));
		return;
	}
	nest = mnl_attr_nest_start(nlh, TCA_CEE_PRIO);
	if (!one_in(8))
		mnl_attr_put_u8(nlh, TCA_CEE_PRIO_MASK, any());
	while (n--)
		put_any(nlh, below(__TCA_CEE_PRIO_MAX + 2));
	mnl_attr_nest_end(nlh, nest);
}

static void any_qdisc(int ifindex, const char *kind, void (*put)(struct nlmsghdr *nlh))
{
	struct nlmsghdr *nlh = message(one_in(8) ? RTM_DELQDISC : RTM_NEWQDISC,
				       NLM_F_CREATE | (one_in(2) ? NLM_F_REPLACE : 0));
	struct tcmsg *tc = mnl_nlmsg_put_extra_header(nlh, sizeof(*tc));
	struct nlattr *nest;
	int n = below(6);

	tc->tcm_family = AF_UNSPEC;
	tc->tcm_ifindex = ifindex;
	tc->tcm_parent = TC_H_ROOT;
	tc->tcm_handle = one_in(2) ? 0x10000 : 0;
	mnl_attr_put_strz(nlh, TCA_KIND, kind);
	nest = mnl_attr_nest_start(nlh, TCA_OPTIONS);
	while (n--)
		put(nlh);
	mnl_attr_nest_end(nlh, nest);
	tell(route, nlh);
}

static void any_wire(int ifindex)
{
	bool made = one_in(2);
	struct nlmsghdr *nlh = message(RTM_NEWLINK, made ? NLM_F_CREATE | NLM_F_EXCL : 0);
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	struct nlattr *info, *data, *peer;
	int n = below(6);

	ifi->ifi_family = AF_UNSPEC;
	ifi->ifi_index = made ? 0 : ifindex;
	if (made)
		mnl_attr_put_strz(nlh, IFLA_IFNAME, "any0");
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "netwire");
	data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	if (made) {
		peer = mnl_attr_nest_start(nlh, IFLA_NETWIRE_PEER);
		mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
		mnl_attr_put_strz(nlh, IFLA_IFNAME, "any1");
		mnl_attr_nest_end(nlh, peer);
	}
	while (n--)
		put_any(nlh, below(__IFLA_NETWIRE_MAX + 2));
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
	tell(route, nlh);
}

static bool messages_round(__u64 n)
{
	int i, wire = if_nametoindex("w0");

	seed(n);
	for (i = 0; i < 100; i++) {
		switch (below(3)) {
		case 0:
			any_path();
			break;
		case 1:
			any_qdisc(wire, "ndp", put_any_of_ndp);
			break;
		default:
			any_wire(wire);
		}
		if (one_in(16))
			tell(genl, genl_message(ndp_family,
						one_in(2) ? NDP_CMD_PEER_GET : NDP_CMD_DEV_GET,
						NLM_F_DUMP));
	}
	shell("ip link delete any0 2>/dev/null");
	shell("ndp path show >/dev/null && ndp repair show >/dev/null");
	/* A corrupted message may have changed the loopback device. */
	shell("tc qdisc delete dev lo root 2>/dev/null; ip link set lo up");
	return pair_works();
}

TEST_F_TIMEOUT(fuzz, messages, LONG)
{
	struct nlmsghdr *nlh;
	int len;

	ASSERT_EQ(0, go_home());
	shell("modprobe -qa netwire sch_ndp");
	ASSERT_EQ(0, shell("ip link add w0 type netwire peer name w1"));
	ASSERT_EQ(0, shell("ip link set w0 up && ip link set w1 up"));
	genl = netlink(NETLINK_GENERIC);
	route = netlink(NETLINK_ROUTE);
	ASSERT_TRUE(genl && route);
	nlh = genl_message(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, NDP_GENL_NAME);
	ASSERT_LT(0, mnl_socket_sendto(genl, nlh, nlh->nlmsg_len));
	len = mnl_socket_recvfrom(genl, buffer, sizeof(buffer));
	mnl_cb_run(buffer, len, 0, 0, find_family, NULL);
	ASSERT_LT(0, ndp_family);
	ASSERT_EQ(0, play("messages", messages_round, 60));
}

/* Both ends of a cable; in the end tc must be able to show their qdiscs. */
static bool ports_round(__u64 n)
{
	int i, ends[] = { if_nametoindex("w0"), if_nametoindex("w1") };

	seed(n);
	for (i = 0; i < 60; i++)
		any_qdisc(ends[below(2)], "cee", put_any_of_cee);
	return !shell("for dev in w0 w1; do tc -s -j qdisc show dev $dev >/dev/null || exit; done");
}

TEST_F_TIMEOUT(fuzz, ports, LONG)
{
	ASSERT_EQ(0, go_home());
	shell("modprobe -qa netwire sch_cee");
	ASSERT_EQ(0, shell("ip link add w0 type netwire peer name w1"));
	ASSERT_EQ(0, shell("ip link set w0 up && ip link set w1 up"));
	route = netlink(NETLINK_ROUTE);
	ASSERT_NE(NULL, route);
	ASSERT_EQ(0, play("ports", ports_round, 20));
}

TEST_HARNESS_MAIN
