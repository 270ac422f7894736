// SPDX-License-Identifier: GPL-2.0
/*
 * ndp_bench: runs flows between the hosts of a fabric, and reports how they performed.
 *
 * One process and one epoll loop serve all hosts, each a network namespace and an
 * address; flows are read from a file in the connection-matrix format of NDP's
 * simulators or are generated.  All protocols use the same calls.  One line of JSON is
 * printed per flow, and one for all of them at the end.  Hosts may be on other
 * machines, where ndp_bench runs with the same flows.  ndp_bench(8) is the manual.
 *
 * Receivers identify flows by the peer's address and port, so that the tool adds no
 * byte to the data on the wire.
 *
 * Non-goals: building the fabric (tools/lab).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <math.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <linux/ndp.h>
#include <linux/pkt_sch_cee.h>
#include <linux/pkt_sch_ndp.h>

#include "address.h"
#include "options.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP	262
#endif

#define CHUNK		0x100000
#define NSEC		1000000000LL
/* Listeners exist this long before the first flow starts, ns. */
#define LEAD		(10 * 1000000LL)
#define HASH_BITS	16
/* A receiver is woken for this many bytes, or for the end of a flow. */
#define LOWAT		0x10000
/* Start time of a flow that starts when another one ends. */
#define AFTER		INT64_MAX
/* These separate the words of a matrix; a file from Windows has \r. */
#define BLANKS		" \t\r\n"

enum proto {
	PROTO_NDP, PROTO_TCP, PROTO_DCTCP, PROTO_MPTCP, PROTO_TFO, PROTO_MESSAGES, PROTO_MPRDMA,
	PROTO_DCQCN, PROTO_LIGHT, PROTOS
};

static const char *const proto_names[] = { "ndp", "tcp", "dctcp", "mptcp", "tfo", "messages",
	"mprdma", "dcqcn", "light" };

enum role { LISTENER, SENDER, RECEIVER };

/* Object of an epoll event */
struct end {
	enum role	role;
	int		fd;
	struct flow	*flow;
	int		host;
	enum proto	proto;		/* of a listener */
};

struct host {
	int		ns;
	bool		own_ns;
	bool		remote;		/* served by another ndp_bench */
	union address	addr;
	struct end	listener[PROTOS];
};

struct flow {
	int		id, src, dst;
	enum proto	proto;
	__u64		size;		/* 0: until the end */
	__s64		start;		/* ns after the first may start; or AFTER */
	int		then;		/* the flow that starts when this one ends */
	struct end	tx, rx;
	__u64		sent, got;
	__s64		replied, answered;
	__s64		rounds;		/* finished exchanges of --reply */
	__u64		*series;	/* bytes received, per bin */
	__u64		got_warm;	/* bytes received before the measurement began */
	__s64		first, finish, acked;
	__u16		port;
	struct flow	*next;		/* next flow of the same hash */
	long long	retrans, timeouts, trims, marks, early, ooo, sync, sync_early;
	int		next_sync;	/* 1: the next message is synchronised; -1: not drawn yet */
	int		lowat;
	bool		failed;
};

static struct {
	enum proto	proto;
	const char	*hosts;
	const char	*ports;
	const char	*matrix;
	const char	*pattern;
	__u64		size;
	__s64		time;
	__s64		warmup;
	__s64		seed;
	__s64		port;
	__s64		iw;
	__s64		reply;
	__s64		bin;
	double		load;
	double		rate;
	__s64		repeat;
	__s64		rounds;
	__s64		prefer;
	__s64		message;
	__s64		sync;
	const struct sizes *sizes;
	bool		verify;
	bool		acked;
	bool		uncounted;
	bool		strangers;
} opt = { .seed = 1, .port = 5000, .repeat = 1, .rounds = 1, .rate = 10 };

/* Flow sizes: share of the flows that have at most so many bytes. */
struct sizes {
	const char	*name;
	struct {
		double	share, bytes;
	} point[12];
};

/*
 * Read off the published curves; between the points sizes are spread evenly
 * over the logarithm.  web: Facebook's web servers (Roy et al., SIGCOMM 2015,
 * figure 6a), as in section 6.2 of the NDP paper.  search, mining: Alizadeh et
 * al., "pFabric" (SIGCOMM 2013), figure 4.
 */
static const struct sizes sizes[] = {
	{ "web", { { 0, 70 }, { 0.15, 200 }, { 0.3, 350 }, { 0.5, 1000 }, { 0.7, 4000 },
		   { 0.8, 10000 }, { 0.9, 50000 }, { 0.97, 200000 }, { 1, 1000000 } } },
	{ "search", { { 0, 6000 }, { 0.15, 10000 }, { 0.2, 20000 }, { 0.3, 30000 },
		      { 0.4, 50000 }, { 0.53, 80000 }, { 0.6, 200000 }, { 0.7, 1000000 },
		      { 0.8, 2000000 }, { 0.9, 5000000 }, { 0.97, 10000000 },
		      { 1, 30000000 } } },
	{ "mining", { { 0, 100 }, { 0.5, 300 }, { 0.6, 1000 }, { 0.7, 2000 }, { 0.8, 7000 },
		      { 0.9, 46000 }, { 0.95, 4000000 }, { 0.98, 30000000 },
		      { 1, 100000000 } } },
};

static struct host *hosts;
static int n_hosts;
static struct flow *flows, **by_start;
static int n_flows, n_starts, n_open;
static struct flow *by_port[1 << HASH_BITS];
static int epfd;
static int timer_fd;
/* Time when the first flow may start, and present time since then, ns. */
static __s64 t0, now;
static unsigned char out_data[CHUNK + 8], in_data[CHUNK];

static void usage(FILE *to)
{
	fputs("Usage: ndp_bench -H HOSTS [-p PROTO] [-f MATRIX] [-g PATTERN] [OPTIONS]\n"
	      "\n"
	      "  -H, --hosts FILE      a line per host: NAMESPACE ADDRESS; - for this one, @ for a\n"
	      "                        host of another machine, where ndp_bench runs as well\n"
	      "      --ports FILE      a line per port: NAMESPACE DEVICE GROUP; its qdisc's counters\n"
	      "                        are summed by group\n"
	      "  -p, --proto NAME      ndp (default), tcp, dctcp, mptcp, tfo (TCP Fast Open),\n"
	      "                        messages (NDP, SOCK_SEQPACKET), mprdma, dcqcn, light\n"
	      "  -f, --flows FILE      flows as \"SRC->DST id N start PS size BYTES proto NAME\"\n"
	      "  -g, --generate WHAT   permutation, incast:N or random:N\n"
	      "  -s, --size BYTES      of generated flows; suffix K or M; 0 (default): endless;\n"
	      "                        or web, search, mining: drawn from that distribution\n"
	      "  -l, --load FRACTION   generated flows start at random, to this load of the hosts\n"
	      "      --rate GBPS       of the hosts' links, for --load (default 10)\n"
	      "      --repeat N        run each flow N times, one after another\n"
	      "      --reply BYTES     the receiver answers each flow; it ends with the answer\n"
	      "      --rounds N        N requests and replies on one connection\n"
	      "  -t, --time MS         end after this time (needed for endless flows)\n"
	      "  -w, --warmup MS       endless flows: measure from here on\n"
	      "  -r, --seed N          seed of generated flows (default 1)\n"
	      "      --message BYTES   NDP: send messages of this size, which may overtake one another\n"
	      "      --sync PERCENT    share of messages that may not overtake (NDP_CMSG_SYNC)\n"
	      "      --iw N            initial window, packets (NDP_IW)\n"
	      "      --prefer ID       the receiver of this flow pulls it first: NDP_PRIORITY 1\n"
	      "      --port N          port to listen on (default 5000)\n"
	      "      --verify          check every byte at the receiver\n"
	      "      --acked           record when the sender receives its last ACK\n"
	      "      --uncounted       read no socket counters: retrans, marks and so on are 0\n"
	      "      --strangers       connections of no flow stay open (default: they end the run)\n"
	      "      --series US       report bytes received per interval of US microseconds\n"
	      "  -h, --help\n", to);
}

static __s64 clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC + t.tv_nsec;
}

/* Pseudorandom number below @below, from the seed: xorshift64*. */
static __u64 draw(__u64 below)
{
	static __u64 s;

	if (!s)
		s = opt.seed * 0x9e3779b97f4a7c15ULL | 1;
	s ^= s >> 12;
	s ^= s << 25;
	s ^= s >> 27;
	return (s * 0x2545f4914f6cdd1dULL >> 16) % below;
}

/* Hosts */

static int open_ns(const char *name)
{
	char path[300];
	int fd;

	if (!strcmp(name, "-"))
		snprintf(path, sizeof(path), "/proc/self/ns/net");
	else
		snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(EXIT_FAILURE, "namespace %s", name);
	return fd;
}

static void read_hosts(void)
{
	FILE *f = fopen(opt.hosts, "r");
	char name[256], addr[64];

	if (!f)
		err(EXIT_FAILURE, "%s", opt.hosts);
	while (fscanf(f, "%255s %63s", name, addr) == 2) {
		hosts = realloc(hosts, (n_hosts + 1) * sizeof(*hosts));
		if (!hosts)
			err(EXIT_FAILURE, "memory");
		memset(&hosts[n_hosts], 0, sizeof(*hosts));
		hosts[n_hosts].remote = !strcmp(name, "@");
		hosts[n_hosts].ns = hosts[n_hosts].remote ? -1 : open_ns(name);
		hosts[n_hosts].own_ns = strcmp(name, "-");
		if (!address_parse(addr, &hosts[n_hosts].addr))
			errx(EXIT_FAILURE, "%s: \"%s\" is not an IP address", opt.hosts, addr);
		n_hosts++;
	}
	fclose(f);
	if (n_hosts < 2)
		errx(EXIT_FAILURE, "%s: fewer than two hosts", opt.hosts);
}

/* Flows */

/* Return: the size below which a share @u of the flows stays. */
static __u64 size_at(double u)
{
	double share, low, high;
	int i = 1;

	if (!opt.sizes)
		return opt.size;
	while (opt.sizes->point[i].share <= u)
		i++;
	low = opt.sizes->point[i - 1].bytes;
	high = opt.sizes->point[i].bytes;
	share = (u - opt.sizes->point[i - 1].share) /
		(opt.sizes->point[i].share - opt.sizes->point[i - 1].share);
	return low * pow(high / low, share);
}

static __u64 draw_size(void)
{
	return size_at(draw(1 << 30) / (double)(1 << 30));
}

/* Draw a start time for --load: a Poisson process of all sources together. */
static __s64 draw_start(void)
{
	static double at, gap;
	int i;

	if (!opt.load)
		return 0;
	if (!gap) {
		for (i = 0; i < 4096; i++)
			gap += size_at((i + 0.5) / 4096) / 4096.0;
		gap *= 8 / (opt.load * opt.rate * n_hosts);
	}
	at -= log((draw(1 << 30) + 1) / (double)(1 << 30)) * gap;
	return at;
}

static void add_flow(int src, int dst, int id, __s64 start, __u64 size)
{
	struct flow *f;

	if (src < 0 || dst < 0 || src >= n_hosts || dst >= n_hosts || src == dst)
		errx(EXIT_FAILURE, "flow %d: from host %d to %d, of %d hosts", id, src, dst,
		     n_hosts);
	if (!(n_flows & (n_flows - 1))) {
		flows = realloc(flows, 2 * (n_flows ?: 1) * sizeof(*flows));
		if (!flows)
			err(EXIT_FAILURE, "memory");
	}
	f = &flows[n_flows++];
	*f = (struct flow){
		.id = id, .src = src, .dst = dst, .start = start, .size = size, .proto = opt.proto,
		.next_sync = -1,
	};
}

/* Add a generated flow, and the flows that follow it. */
static void add_flows(int src, int dst)
{
	__u64 size = draw_size();
	__s64 start = draw_start();
	int i;

	for (i = 1; i <= opt.repeat; i++) {
		add_flow(src, dst, n_flows + 1, start, size);
		start = AFTER;
		size = draw_size();
		if (i < opt.repeat)
			flows[n_flows - 1].then = n_flows + 1;
	}
}

static bool parse_proto(const char *name, enum proto *proto)
{
	for (*proto = 0; *proto < PROTOS; (*proto)++)
		if (!strcmp(name, proto_names[*proto]))
			return true;
	return false;
}

/* A connection-matrix file also has comments, blank lines and two headings. */
static bool holds_flow(const char *line)
{
	line += strspn(line, BLANKS);
	return *line && *line != '#' && strncmp(line, "Nodes", 5) &&
	       strncmp(line, "Connections", 11);
}

/* Parse "SRC->DST", then words with a number each, or a protocol's name. */
static bool parse_flow(char *line)
{
	enum proto proto = opt.proto;
	long long value[] = { n_flows + 1, 0, 0 };
	static const char *const words[] = { "id", "start", "size" };
	char *word = strtok(line, BLANKS), *number, *end;
	unsigned int i;
	int src, dst, at;

	if (sscanf(word, "%d->%d%n", &src, &dst, &at) != 2 || word[at])
		return false;
	while ((word = strtok(NULL, BLANKS))) {
		for (i = 0; i < ARRAY_SIZE(words) && strcmp(word, words[i]); i++)
			;
		number = strtok(NULL, BLANKS);
		if (number && !strcmp(word, "proto") && parse_proto(number, &proto))
			continue;
		if (i == ARRAY_SIZE(words) || !number)
			return false;
		value[i] = strtoll(number, &end, 10);
		if (end == number || *end || value[i] < 0)
			return false;
	}
	for (i = 0; i < opt.repeat; i++) {
		add_flow(src, dst, value[0] + i, i ? AFTER : value[1] / 1000, value[2]);
		flows[n_flows - 1].proto = proto;
		if (i + 1 < opt.repeat)
			flows[n_flows - 1].then = n_flows + 1;
	}
	return true;
}

static void read_matrix(void)
{
	FILE *f = fopen(opt.matrix, "r");
	int number = 0;
	char line[256];

	if (!f)
		err(EXIT_FAILURE, "%s", opt.matrix);
	while (fgets(line, sizeof(line), f)) {
		number++;
		if (holds_flow(line) && !parse_flow(line))
			errx(EXIT_FAILURE,
			     "%s: line %d: not \"SRC->DST id N start PS size BYTES proto NAME\"",
			     opt.matrix, number);
	}
	fclose(f);
}

/* Each host sends to one other host and receives from one. */
static void permutation(void)
{
	int *to = calloc(n_hosts, sizeof(*to));
	int i;

	if (!to)
		err(EXIT_FAILURE, "memory");
	for (i = 0; i < n_hosts; i++)
		to[i] = i;
	/* Sattolo's shuffle: one cycle, so that nobody sends to itself. */
	for (i = n_hosts - 1; i > 0; i--) {
		int j = draw(i), t = to[i];

		to[i] = to[j];
		to[j] = t;
	}
	for (i = 0; i < n_hosts; i++)
		add_flows(i, to[i]);
	free(to);
}

/* Draw the receiver, and the senders among all other hosts. */
static void incast(int n)
{
	int receiver = draw(n_hosts), left = n_hosts - 1, i;
	int *from = calloc(n_hosts, sizeof(*from));

	if (!from)
		err(EXIT_FAILURE, "memory");
	if (n < 1 || n > left)
		errx(EXIT_USAGE, "%d senders among %d hosts", n, n_hosts);
	for (i = 0; i < left; i++)
		from[i] = i + (i >= receiver);
	for (i = 0; i < n; i++) {
		int j = draw(left);

		add_flows(from[j], receiver);
		from[j] = from[--left];
	}
	free(from);
}

static void random_pairs(int n)
{
	int i, src, dst;

	for (i = 0; i < n; i++) {
		src = draw(n_hosts);
		dst = draw(n_hosts - 1);
		add_flows(src, dst + (dst >= src));
	}
}

static void generate(void)
{
	int n;

	if (!strcmp(opt.pattern, "permutation"))
		permutation();
	else if (sscanf(opt.pattern, "incast:%d", &n) == 1)
		incast(n);
	else if (sscanf(opt.pattern, "random:%d", &n) == 1 && n > 0)
		random_pairs(n);
	else
		errx(EXIT_USAGE, "pattern \"%s\" is not permutation, incast:N or random:N",
		     opt.pattern);
}

static int compare_start(const void *a, const void *b)
{
	const struct flow *f = *(struct flow **)a, *g = *(struct flow **)b;

	if (f->start != g->start)
		return f->start < g->start ? -1 : 1;
	return f->id - g->id;
}

/* Sort the flows by start time; those that wait for another one come last. */
static void sort_flows(void)
{
	int i;

	by_start = calloc(n_flows, sizeof(*by_start));
	if (!by_start)
		err(EXIT_FAILURE, "memory");
	for (i = 0; i < n_flows; i++)
		if (!hosts[flows[i].src].remote)
			by_start[n_starts++] = &flows[i];
	qsort(by_start, n_starts, sizeof(*by_start), compare_start);
}

/* Sockets */

/* Does a protocol use AF_NDP with another transport than the namespace's? */
static bool by_transport(enum proto proto)
{
	return proto == PROTO_MPRDMA || proto == PROTO_DCQCN || proto == PROTO_LIGHT;
}

static bool over_ndp(enum proto proto)
{
	return proto == PROTO_NDP || proto == PROTO_MESSAGES || by_transport(proto);
}

/*
 * All kinds of TCP share a port space, and so do those of AF_NDP: each protocol has
 * its own port.
 */
static __u16 listen_port(enum proto proto)
{
	return proto == opt.proto ? opt.port : opt.port + 1 + proto;
}

static int new_socket(const struct host *h, enum proto proto)
{
	bool messages = proto == PROTO_MESSAGES || (opt.message && over_ndp(proto));
	int type = messages ? SOCK_SEQPACKET : SOCK_STREAM;
	int family = h->addr.any.sa_family;
	/* Tells the kernel that close() waits for the last ACK, which is then sent at once. */
	const struct linger linger = { .l_onoff = opt.acked, .l_linger = 10 };
	int iw = opt.iw, one = 1, fd;

	if (setns(h->ns, CLONE_NEWNET))
		err(EXIT_FAILURE, "setns");
	if (over_ndp(proto))
		fd = socket(AF_NDP, type | SOCK_CLOEXEC | SOCK_NONBLOCK,
			    ndp_protocol(family));
	else
		fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK,
			    proto == PROTO_MPTCP ? IPPROTO_MPTCP : 0);
	if (fd < 0)
		err(EXIT_FAILURE, "socket of %s", proto_names[proto]);
	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)))
		err(EXIT_FAILURE, "linger");
	if (proto == PROTO_DCTCP &&
	    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "dctcp", 5))
		err(EXIT_FAILURE, "dctcp");
	if (proto == PROTO_TFO &&
	    setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof(one)))
		err(EXIT_FAILURE, "fast open");
	if (by_transport(proto) &&
	    setsockopt(fd, SOL_NDP, NDP_TRANSPORT, proto_names[proto], strlen(proto_names[proto])))
		err(EXIT_FAILURE, "transport %s", proto_names[proto]);
	if (over_ndp(proto) && opt.message &&
	    setsockopt(fd, SOL_NDP, NDP_UNORDERED, &one, sizeof(one)))
		err(EXIT_FAILURE, "unordered");
	if (over_ndp(proto) && iw && setsockopt(fd, SOL_NDP, NDP_IW, &iw, sizeof(iw)))
		err(EXIT_FAILURE, "initial window of %d", iw);
	return fd;
}

static void watch(struct end *e, __u32 events, int op)
{
	struct epoll_event ev = { .events = events, .data.ptr = e };

	if (epoll_ctl(epfd, op, e->fd, &ev))
		err(EXIT_FAILURE, "epoll");
}

static void open_listener(int i, enum proto proto)
{
	struct host *h = &hosts[i];
	struct end *l = &h->listener[proto];
	union address at = h->addr;
	int one = 1, backlog = 4096;

	if (l->fd || h->remote)
		return;
	/* A host's paths lead to several of its addresses, and any may be the first to be used. */
	if (h->own_ns) {
		memset(&at, 0, sizeof(at));
		at.any.sa_family = h->addr.any.sa_family;
	}
	address_set_port(&at, listen_port(proto));
	*l = (struct end){
		.role = LISTENER, .host = i, .proto = proto, .fd = new_socket(h, proto),
	};
	setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (proto == PROTO_TFO &&
	    setsockopt(l->fd, IPPROTO_TCP, TCP_FASTOPEN, &backlog, sizeof(backlog)))
		err(EXIT_FAILURE, "fast open");
	if (bind(l->fd, &at.any, address_len(&at)) ||
	    listen(l->fd, backlog))
		err(EXIT_FAILURE, "host %d: listening on port %u", i, listen_port(proto));
	watch(l, EPOLLIN, EPOLL_CTL_ADD);
}

static unsigned int hash(const union address *addr, __u16 port, int dst)
{
	__u64 x = ((__u64)port << 16) + dst;
	const unsigned char *bytes;
	size_t n;

	/* Hosts differ in the last four bytes of their addresses. */
	bytes = address_bytes(addr, &n);
	for (bytes += n - 4, n = 0; n < 4; n++)
		x += (__u64)bytes[n] << (32 + 8 * n);
	return x * 0x9e3779b97f4a7c15ULL >> (64 - HASH_BITS);
}

/* From now on a connection from @port belongs to the flow; 0 for any port. */
static void expect_flow(struct flow *f, __u16 port)
{
	unsigned int h = hash(&hosts[f->src].addr, port, f->dst);

	f->port = port;
	f->next = by_port[h];
	by_port[h] = f;
	n_open++;
}

/* Flows between two other machines are run there; here only those that arrive are expected. */
static void expect_remote(void)
{
	int i;

	/* Flows added later are found before earlier ones. */
	for (i = n_flows - 1; i >= 0; i--)
		if (hosts[flows[i].src].remote && !hosts[flows[i].dst].remote)
			expect_flow(&flows[i], 0);
}

static void start_flow(struct flow *f)
{
	union address to = hosts[f->dst].addr, me = hosts[f->src].addr;
	socklen_t len = sizeof(me);

	f->tx = (struct end){
		.role = SENDER, .flow = f,
		.fd = new_socket(&hosts[f->src], f->proto),
	};
	if (bind(f->tx.fd, &me.any, address_len(&me)))
		err(EXIT_FAILURE, "flow %d: source address", f->id);
	address_set_port(&to, listen_port(f->proto));
	if (connect(f->tx.fd, &to.any, address_len(&to)) && errno != EINPROGRESS)
		err(EXIT_FAILURE, "flow %d: connect", f->id);
	if (getsockname(f->tx.fd, &me.any, &len))
		err(EXIT_FAILURE, "flow %d: its name", f->id);
	expect_flow(f, address_port(&me));
	watch(&f->tx, EPOLLOUT, EPOLL_CTL_ADD);
}

static struct flow *find_flow(const union address *peer, __u16 port,
			      const struct end *at)
{
	struct flow *f = by_port[hash(peer, port, at->host)];

	while (f && (f->port != port || f->dst != at->host || f->proto != at->proto ||
		     f->rx.fd || f->finish || !address_same(&hosts[f->src].addr, peer)))
		f = f->next;
	return f;
}

/*
 * One call per event, here and below: if there is more, another event follows, and in
 * virtual time a call that fails costs a microsecond.
 */
static void accept_one(struct end *e)
{
	union address peer;
	socklen_t len = sizeof(peer);
	struct flow *f;
	int fd;

	fd = accept4(e->fd, &peer.any, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		if (errno != EAGAIN)
			err(EXIT_FAILURE, "host %d: accept", e->host);
		return;
	}
	f = find_flow(&peer, address_port(&peer), e) ?: find_flow(&peer, 0, e);
	/* Leave it open, as a server that waits for the client's request. */
	if (!f && opt.strangers)
		return;
	if (!f)
		errx(EXIT_FAILURE, "host %d: a connection of nobody's", e->host);
	if (hosts[f->src].remote)
		f->start = now;
	if (opt.prefer && f->id == opt.prefer &&
	    setsockopt(fd, SOL_NDP, NDP_PRIORITY, &(int){ 1 }, sizeof(int)))
		err(EXIT_FAILURE, "flow %d: priority", f->id);
	f->rx = (struct end){ .role = RECEIVER, .flow = f, .fd = fd };
	watch(&f->rx, EPOLLIN, EPOLL_CTL_ADD);
}

static void open_timer(void)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };

	epfd = epoll_create1(EPOLL_CLOEXEC);
	timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (epfd < 0 || timer_fd < 0 || epoll_ctl(epfd, EPOLL_CTL_ADD, timer_fd, &ev))
		err(EXIT_FAILURE, "timer");
}

/* Data: 8 bytes of a counter's place in it, so that what is misplaced shows. */

static void fill(unsigned char *buf, __u64 pos, size_t n)
{
	__u64 x;
	size_t i;

	for (i = 0; i < n; i++, pos++) {
		x = (pos >> 3) * 0x9e3779b97f4a7c15ULL;
		buf[i] = (x ^ x >> 29) >> 8 * (pos & 7);
	}
}

static void fail(struct flow *f, const char *what)
{
	warnx("flow %d from host %d to %d: %s: %s", f->id, f->src, f->dst, what,
	      errno ? strerror(errno) : "wrong");
	f->failed = true;
	f->finish = now;
}

static void read_losses(struct flow *f)
{
	struct ndp_info ndp = { 0 };
	struct tcp_info tcp = { 0 };
	socklen_t len = sizeof(tcp);

	if (opt.uncounted)
		return;
	if (over_ndp(f->proto)) {
		len = sizeof(ndp);
		if (f->tx.fd && !getsockopt(f->tx.fd, SOL_NDP, NDP_INFO, &ndp, &len)) {
			f->retrans = ndp.retrans;
			f->timeouts = ndp.timeouts;
			f->marks = ndp.ece_in;
		}
		len = sizeof(ndp);
		if (f->rx.fd && !getsockopt(f->rx.fd, SOL_NDP, NDP_INFO, &ndp, &len)) {
			f->trims = ndp.trims_in;
			f->early = ndp.early_in;
			f->ooo = ndp.rcv_ooo_max;
			f->sync = ndp.sync_in;
			f->sync_early = ndp.sync_early_in;
		}
	} else if (f->tx.fd && !getsockopt(f->tx.fd, IPPROTO_TCP, TCP_INFO, &tcp, &len)) {
		f->retrans = tcp.tcpi_total_retrans;
	}
}

static void end_flow(struct flow *f)
{
	read_losses(f);
	if (f->tx.fd)
		close(f->tx.fd);
	if (f->rx.fd)
		close(f->rx.fd);
	f->tx.fd = 0;
	f->rx.fd = 0;
	n_open--;
	if (f->then) {
		flows[f->then - 1].start = now;
		start_flow(&flows[f->then - 1]);
	}
}

static bool any_remote(void)
{
	int i;

	for (i = 0; i < n_hosts; i++)
		if (hosts[i].remote)
			return true;
	return false;
}

static bool all_done(const struct flow *f)
{
	return f->failed || (f->finish && (!opt.acked || f->acked));
}

/* Send the receiver's part of --reply. */
static void send_reply(struct flow *f)
{
	__s64 left = opt.reply - f->replied;
	ssize_t done;

	done = send(f->rx.fd, out_data, left < CHUNK ? left : CHUNK, MSG_NOSIGNAL);
	if (done < 0 && errno != EAGAIN)
		fail(f, "replying");
	if (done > 0)
		f->replied += done;
	if (f->replied == opt.reply && f->rounds + 1 < opt.rounds) {
		f->replied = 0;
		f->got = 0;
		watch(&f->rx, EPOLLIN, EPOLL_CTL_MOD);
		return;
	}
	/* After the reply only the end of the flow is awaited, from a sender on another machine. */
	watch(&f->rx, f->replied < opt.reply ? EPOLLOUT : EPOLLIN | EPOLLET, EPOLL_CTL_MOD);
}

static void send_some(struct flow *f);

static void take_reply(struct flow *f)
{
	ssize_t n;

	n = recv(f->tx.fd, in_data, CHUNK, 0);
	if (n > 0)
		f->answered += n;
	else if (!n || errno != EAGAIN)
		fail(f, "the reply");
	if (f->answered < opt.reply)
		return;
	if (++f->rounds < opt.rounds) {
		f->answered = 0;
		f->sent = 0;
		send_some(f);
		if (f->sent < f->size)
			watch(&f->tx, EPOLLOUT, EPOLL_CTL_MOD);
		return;
	}
	f->got = f->sent;
	f->finish = now;
}

static void note_acked(struct flow *f)
{
	int left;

	if (!f->acked && f->sent == f->size && !ioctl(f->tx.fd, SIOCOUTQ, &left) && !left)
		f->acked = now;
}

/* Send a message, whole or not at all.  Return: as send(). */
static ssize_t send_message(struct flow *f, size_t n)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = out_data, .iov_len = n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t done;

	if (f->next_sync < 0)
		f->next_sync = opt.sync && draw(100) < (__u64)opt.sync;
	if (f->next_sync) {
		control.align.cmsg_level = SOL_NDP;
		control.align.cmsg_type = NDP_CMSG_SYNC;
		control.align.cmsg_len = CMSG_LEN(sizeof(int));
		*(int *)CMSG_DATA(&control.align) = 1;
		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
	}
	done = sendmsg(f->tx.fd, &msg, MSG_NOSIGNAL);
	if (done >= 0)
		f->next_sync = -1;
	return done;
}

static void send_some(struct flow *f)
{
	while (!f->size || f->sent < f->size) {
		size_t n = CHUNK - (f->sent & 7);
		ssize_t done;

		if (opt.message)
			n = opt.message;
		if (f->size && n > f->size - f->sent)
			n = f->size - f->sent;
		if (opt.verify)
			fill(out_data, f->sent, n);
		done = opt.message ? send_message(f, n) :
				     send(f->tx.fd, out_data, n, MSG_NOSIGNAL);
		if (done < 0) {
			if (errno != EAGAIN)
				fail(f, "sending");
			return;
		}
		f->sent += done;
		if ((size_t)done < n)
			return;
	}
	if (opt.reply) {
		watch(&f->tx, EPOLLIN, EPOLL_CTL_MOD);
		return;
	}
	/* Edge-triggered, for a closed connection keeps its events permanently. */
	if (hosts[f->dst].remote)
		watch(&f->tx, EPOLLIN | EPOLLET, EPOLL_CTL_MOD);
	else
		watch(&f->tx, opt.acked ? EPOLLOUT | EPOLLET : EPOLLET, EPOLL_CTL_MOD);
	shutdown(f->tx.fd, SHUT_WR);
}

/* A receiver on another machine closes when it has received everything. */
static void await_close(struct flow *f)
{
	ssize_t n = recv(f->tx.fd, in_data, CHUNK, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n)
		fail(f, "at the end");
	f->got = f->sent;
	f->finish = now;
}

static void on_sender(struct flow *f)
{
	if (!f->size || f->sent < f->size)
		send_some(f);
	else if (opt.reply)
		take_reply(f);
	else if (hosts[f->dst].remote)
		await_close(f);
	else if (opt.acked)
		note_acked(f);
}

static void check_data(struct flow *f, ssize_t n)
{
	static unsigned char want[CHUNK];

	fill(want, f->got, n);
	if (memcmp(want, in_data, n)) {
		errno = 0;
		fail(f, "data");
	}
}

/* Reduce wakeups, without a delay at the end of a flow. */
static void set_lowat(struct flow *f)
{
	__u64 left = f->size ? f->size - f->got : LOWAT;
	int want = left < LOWAT ? left : LOWAT;

	if (opt.bin || want == f->lowat || !want)
		return;
	f->lowat = want;
	setsockopt(f->rx.fd, SOL_SOCKET, SO_RCVLOWAT, &want, sizeof(want));
}

static void on_receiver(struct flow *f)
{
	/* MPTCP does not support MSG_TRUNC. */
	int flags = opt.verify || f->proto == PROTO_MPTCP ? 0 : MSG_TRUNC;
	ssize_t n;

	if (f->got == f->size && f->replied < opt.reply) {
		send_reply(f);
		return;
	}
	n = recv(f->rx.fd, in_data, CHUNK, flags);
	if (n < 0) {
		if (errno != EAGAIN)
			fail(f, "receiving");
		return;
	}
	if (!n) {
		errno = 0;
		if (f->size && f->got != f->size)
			fail(f, "length");
		f->finish = f->finish ?: now;
		watch(&f->rx, EPOLLET, EPOLL_CTL_MOD);
		return;
	}
	if (opt.verify)
		check_data(f, n);
	if (!f->first)
		f->first = now;
	f->got += n;
	set_lowat(f);
	if (f->series && now < opt.time)
		f->series[now / opt.bin] += n;
	if (!f->size || f->got < f->size)
		return;
	if (opt.reply)
		send_reply(f);
	else
		f->finish = now;
}

static void dispatch(struct end *e)
{
	struct flow *f = e->flow;

	if (e->role == LISTENER) {
		accept_one(e);
		return;
	}
	/* The flow was ended by an earlier event of the same batch. */
	if (!e->fd)
		return;
	if (e->role == SENDER)
		on_sender(f);
	else
		on_receiver(f);
	if (all_done(f))
		end_flow(f);
}

/* A timer, since a timeout of epoll may be late by 0.1 %. */
static void wake_at(__s64 when)
{
	static __s64 set = -1;
	struct itimerspec t = {
		.it_value.tv_sec = (when + t0) / NSEC,
		.it_value.tv_nsec = (when + t0) % NSEC,
	};

	if (when == set)
		return;
	set = when;
	if (timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &t, NULL))
		err(EXIT_FAILURE, "timer");
}

static void wait_events(__s64 until)
{
	struct epoll_event ev[256];
	int i, n;

	wake_at(until);
	n = epoll_wait(epfd, ev, 256, -1);
	if (n < 0 && errno != EINTR)
		err(EXIT_FAILURE, "epoll");
	now = clock_ns() - t0;
	for (i = 0; i < n; i++)
		if (ev[i].data.ptr)
			dispatch(ev[i].data.ptr);
}

/* Count data that receivers were not woken for, or that receivers on other machines have. */
static void receive_rest(void)
{
	int i, left;

	for (i = 0; i < n_flows; i++) {
		struct flow *f = &flows[i];

		if (f->size)
			continue;
		if (f->rx.fd)
			on_receiver(f);
		else if (f->tx.fd && hosts[f->dst].remote && !ioctl(f->tx.fd, SIOCOUTQ, &left))
			f->got = f->sent - left;
	}
}

static void end_warmup(void)
{
	int i;

	receive_rest();
	for (i = 0; i < n_flows; i++)
		flows[i].got_warm = flows[i].got;
}

static void run(void)
{
	__s64 end = opt.time ?: 3600 * NSEC, until;
	bool warm = !opt.warmup;
	int next = 0, n_timed = n_starts;

	while (n_timed && by_start[n_timed - 1]->start == AFTER)
		n_timed--;

	t0 = clock_ns() + LEAD;
	now = -LEAD;
	while (now < end) {
		if (!warm && now >= opt.warmup) {
			end_warmup();
			warm = true;
		}
		while (next < n_timed && by_start[next]->start <= now)
			start_flow(by_start[next++]);
		if (next == n_timed && !n_open)
			break;
		until = warm ? end : opt.warmup;
		if (next < n_timed && by_start[next]->start < until)
			until = by_start[next]->start;
		wait_events(until);
	}
	receive_rest();
}

/* Ports: the counters of their root qdiscs */

static const struct counter {
	const char	*name;
	size_t		at;		/* in struct tc_ndp_xstats, tc_cee_prio_xstats */
} counters[] = {
	{ "data_in", offsetof(struct tc_ndp_xstats, data_in) },
	{ "data_sent", offsetof(struct tc_ndp_xstats, data_sent) },
	{ "data_sent_bytes", offsetof(struct tc_ndp_xstats, data_sent_bytes) },
	{ "header_in", offsetof(struct tc_ndp_xstats, header_in) },
	{ "header_sent", offsetof(struct tc_ndp_xstats, header_sent) },
	{ "header_sent_bytes", offsetof(struct tc_ndp_xstats, header_sent_bytes) },
	{ "other_in", offsetof(struct tc_ndp_xstats, other_in) },
	{ "other_sent", offsetof(struct tc_ndp_xstats, other_sent) },
	{ "other_sent_bytes", offsetof(struct tc_ndp_xstats, other_sent_bytes) },
	{ "trimmed_arrival", offsetof(struct tc_ndp_xstats, trimmed_arrival) },
	{ "trimmed_tail", offsetof(struct tc_ndp_xstats, trimmed_tail) },
	{ "bounced", offsetof(struct tc_ndp_xstats, bounced) },
	{ "drop_data", offsetof(struct tc_ndp_xstats, drop_data) },
	{ "drop_header", offsetof(struct tc_ndp_xstats, drop_header) },
	{ "drop_other", offsetof(struct tc_ndp_xstats, drop_other) },
	{ "ecn_data", offsetof(struct tc_ndp_xstats, ecn_data) },
	{ "ecn_other", offsetof(struct tc_ndp_xstats, ecn_other) },
};

#define N_COUNTERS	ARRAY_SIZE(counters)

/* Counters of lossless ports, summed over all priorities */
static const struct counter cee_counters[] = {
	{ "xoff_sent", offsetof(struct tc_cee_prio_xstats, xoff_sent) },
	{ "xon_sent", offsetof(struct tc_cee_prio_xstats, xon_sent) },
	{ "marked", offsetof(struct tc_cee_prio_xstats, marked) },
	{ "paused_ns", offsetof(struct tc_cee_prio_xstats, paused_ns) },
	{ "drop_overflow", offsetof(struct tc_cee_prio_xstats, drop_overflow) },
	{ "storms", offsetof(struct tc_cee_prio_xstats, storms) },
};

#define N_CEE_COUNTERS	ARRAY_SIZE(cee_counters)

static struct group {
	char		name[64];
	long long	packets, bytes, drops;
	long long	ndp[N_COUNTERS];
	long long	cee[N_CEE_COUNTERS];
} *groups;

static struct port {
	struct mnl_socket *nl;		/* socket in the port's namespace */
	char		ns[256];
	unsigned int	ifindex;
	int		group;
} *ports;

static int n_groups, n_ports;

static int group_by_name(const char *name)
{
	int i;

	for (i = 0; i < n_groups; i++)
		if (!strcmp(groups[i].name, name))
			return i;
	groups = realloc(groups, ++n_groups * sizeof(*groups));
	if (!groups)
		err(EXIT_FAILURE, "memory");
	memset(&groups[i], 0, sizeof(*groups));
	snprintf(groups[i].name, sizeof(groups[i].name), "%s", name);
	return i;
}

/* Ports of a namespace are adjacent in the array and share a socket. */
static void add_port(const char *ns, const char *device, const char *group)
{
	struct port *before = n_ports ? &ports[n_ports - 1] : NULL;
	struct port p = { .group = group_by_name(group) };
	int fd = open_ns(ns);

	if (setns(fd, CLONE_NEWNET))
		err(EXIT_FAILURE, "namespace %s", ns);
	close(fd);
	p.ifindex = if_nametoindex(device);
	if (!p.ifindex)
		err(EXIT_FAILURE, "port %s in %s", device, ns);
	if (before && !strcmp(before->ns, ns))
		p.nl = before->nl;
	else
		p.nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!p.nl)
		err(EXIT_FAILURE, "netlink in %s", ns);
	snprintf(p.ns, sizeof(p.ns), "%s", ns);
	ports = realloc(ports, (n_ports + 1) * sizeof(*ports));
	if (!ports)
		err(EXIT_FAILURE, "memory");
	ports[n_ports++] = p;
}

static void read_ports(void)
{
	char ns[256], device[64], group[64];
	FILE *f = fopen(opt.ports, "r");

	if (!f)
		err(EXIT_FAILURE, "%s", opt.ports);
	while (fscanf(f, "%255s %63s %63s", ns, device, group) == 3)
		add_port(ns, device, group);
	fclose(f);
}

static void count_ndp(struct group *g, const struct nlattr *a, int sign)
{
	size_t i, len = mnl_attr_get_payload_len(a);
	struct tc_ndp_xstats x = { 0 };

	memcpy(&x, mnl_attr_get_payload(a), len < sizeof(x) ? len : sizeof(x));
	for (i = 0; i < N_COUNTERS; i++)
		g->ndp[i] += sign * *(long long *)((char *)&x + counters[i].at);
}

static void count_cee(struct group *g, const struct nlattr *a, int sign)
{
	size_t i, len = mnl_attr_get_payload_len(a);
	struct tc_cee_xstats x = { 0 };
	int prio;

	memcpy(&x, mnl_attr_get_payload(a), len < sizeof(x) ? len : sizeof(x));
	for (prio = 0; prio < TC_CEE_PRIOS; prio++)
		for (i = 0; i < N_CEE_COUNTERS; i++)
			g->cee[i] += sign * *(long long *)((char *)&x.prio[prio] +
							   cee_counters[i].at);
}

static void count_stats(struct group *g, const struct nlattr *stats, const char *kind, int sign)
{
	struct gnet_stats_basic basic = { 0 };
	struct gnet_stats_queue queue = { 0 };
	const struct nlattr *a;
	size_t len;

	mnl_attr_for_each_nested(a, stats) {
		len = mnl_attr_get_payload_len(a);
		if (mnl_attr_get_type(a) == TCA_STATS_BASIC)
			memcpy(&basic, mnl_attr_get_payload(a),
			       len < sizeof(basic) ? len : sizeof(basic));
		else if (mnl_attr_get_type(a) == TCA_STATS_QUEUE)
			memcpy(&queue, mnl_attr_get_payload(a),
			       len < sizeof(queue) ? len : sizeof(queue));
		else if (mnl_attr_get_type(a) == TCA_STATS_APP && !strcmp(kind, "ndp"))
			count_ndp(g, a, sign);
		else if (mnl_attr_get_type(a) == TCA_STATS_APP && !strcmp(kind, "cee"))
			count_cee(g, a, sign);
	}
	g->packets += sign * (long long)basic.packets;
	g->bytes += sign * (long long)basic.bytes;
	g->drops += sign * (long long)queue.drops;
}

/* Ports that a dump of a namespace's qdiscs is for, and 1 to add, -1 to subtract. */
struct dump {
	const struct port	*from, *to;
	int			sign;
};

static int on_qdisc(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *a, *stats = NULL;
	const struct dump *d = data;
	const struct port *p;
	const char *kind = "";

	if (tc->tcm_parent != TC_H_ROOT)
		return MNL_CB_OK;
	mnl_attr_for_each(a, nlh, sizeof(*tc)) {
		if (mnl_attr_get_type(a) == TCA_STATS2)
			stats = a;
		else if (mnl_attr_get_type(a) == TCA_KIND)
			kind = mnl_attr_get_str(a);
	}
	for (p = d->from; p < d->to && stats; p++)
		if (p->ifindex == (unsigned int)tc->tcm_ifindex)
			count_stats(&groups[p->group], stats, kind, d->sign);
	return MNL_CB_OK;
}

static void dump_qdiscs(struct dump *d)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	int n;

	nlh->nlmsg_type = RTM_GETQDISC;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct tcmsg));
	if (mnl_socket_sendto(d->from->nl, nlh, nlh->nlmsg_len) < 0)
		err(EXIT_FAILURE, "qdiscs of %s", d->from->ns);
	do {
		n = mnl_socket_recvfrom(d->from->nl, buf, sizeof(buf));
		if (n < 0)
			err(EXIT_FAILURE, "qdiscs of %s", d->from->ns);
		n = mnl_cb_run(buf, n, 0, 0, on_qdisc, d);
	} while (n > MNL_CB_STOP);
}

/* Add the ports' present counters, or subtract them. */
static void count_ports(int sign)
{
	struct dump d = { .from = ports, .to = ports, .sign = sign };

	for (; d.from < ports + n_ports; d.from = d.to) {
		while (d.to < ports + n_ports && d.to->nl == d.from->nl)
			d.to++;
		dump_qdiscs(&d);
	}
}

static void print_ports(void)
{
	const struct group *g;
	size_t i;

	for (g = groups; g < groups + n_groups; g++) {
		printf("{\"ports\":\"%s\",\"packets\":%lld,\"bytes\":%lld,\"drops\":%lld",
		       g->name, g->packets, g->bytes, g->drops);
		for (i = 0; i < N_COUNTERS; i++)
			if (g->ndp[i])
				printf(",\"%s\":%lld", counters[i].name, g->ndp[i]);
		for (i = 0; i < N_CEE_COUNTERS; i++)
			if (g->cee[i])
				printf(",\"%s\":%lld", cee_counters[i].name, g->cee[i]);
		printf("}\n");
	}
}

/* Reports */

static double gbps(const struct flow *f, __s64 end)
{
	__s64 from = f->start, to = f->finish ?: end;

	if (!f->size) {
		from = f->start > opt.warmup ? f->start : opt.warmup;
		return (f->got - f->got_warm) * 8.0 / (end - from);
	}
	return to > from ? f->got * 8.0 / (to - from) : 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Print the rates of a flow per bin, in Gb/s. */
static void print_series(const struct flow *f)
{
	__s64 i, bins = f->series ? opt.time / opt.bin : 0;

	if (!f->series)
		return;
	printf("\"bin_us\":%lld,\"series\":[", (long long)(opt.bin / 1000));
	for (i = 0; i < bins; i++)
		printf("%s%.3f", i ? "," : "", f->series[i] * 8.0 / opt.bin);
	printf("],");
}

static void print_flow(const struct flow *f, double rate)
{
	printf("{\"id\":%d,\"src\":%d,\"dst\":%d,\"proto\":\"%s\",\"size\":%llu,\"bytes\":%llu,",
	       f->id, f->src, f->dst, proto_names[f->proto], f->size, f->got);
	printf("\"start_us\":%.3f,\"first_byte_us\":%.3f,\"finish_us\":%.3f,", f->start / 1e3,
	       f->first / 1e3, f->finish / 1e3);
	if (opt.acked)
		printf("\"acked_us\":%.3f,", f->acked / 1e3);
	print_series(f);
	printf("\"gbps\":%.4f,\"retrans\":%lld,\"timeouts\":%lld,\"trims\":%lld,", rate, f->retrans,
	       f->timeouts, f->trims);
	if (opt.message)
		printf("\"sync\":%lld,\"sync_early\":%lld,", f->sync, f->sync_early);
	printf("\"marks\":%lld,\"early\":%lld,\"ooo\":%lld,\"failed\":%s}\n", f->marks, f->early,
	       f->ooo, f->failed ? "true" : "false");
}

static int report(__s64 end)
{
	double *rate = calloc(n_flows, sizeof(*rate)), sum = 0, squares = 0;
	__s64 first = 0, last = 0;
	int i, n = 0, done = 0, failed = 0;

	if (!rate)
		err(EXIT_FAILURE, "memory");
	for (i = 0; i < n_flows; i++) {
		struct flow *f = &flows[i];

		if (hosts[f->src].remote && hosts[f->dst].remote)
			continue;
		/* The flow never started. */
		if (f->start == AFTER)
			f->start = 0;
		if (f->tx.fd || f->rx.fd)
			read_losses(f);
		rate[n] = gbps(f, end);
		print_flow(f, rate[n]);
		sum += rate[n];
		squares += rate[n] * rate[n];
		n++;
		failed += f->failed || (f->size && !f->finish);
		done += f->finish && !f->failed;
		if (f->finish && (!first || f->finish < first))
			first = f->finish;
		if (f->finish > last)
			last = f->finish;
	}
	qsort(rate, n, sizeof(*rate), by_value);
	printf("{\"summary\":\"%s\",\"flows\":%d,\"done\":%d,\"failed\":%d,",
	       proto_names[opt.proto], n, done, failed);
	printf("\"first_us\":%.3f,\"last_us\":%.3f,", first / 1e3, last / 1e3);
	printf("\"mean_gbps\":%.4f,\"p10_gbps\":%.4f,\"min_gbps\":%.4f,\"max_gbps\":%.4f,",
	       sum / n, rate[n / 10], rate[0], rate[n - 1]);
	printf("\"jain\":%.5f}\n", squares > 0 ? sum * sum / (n * squares) : 0);
	free(rate);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static double parse_fraction(const char *what, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value > 0))
		errx(EXIT_USAGE, "%s \"%s\" is not a number above 0", what, text);
	return value;
}

static void parse_size(const char *text)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (!strcmp(text, sizes[i].name))
			opt.sizes = &sizes[i];
	if (!opt.sizes)
		opt.size = parse_number("size", text);
}

/* Options with a numeric value: variable and unit of each */
static const struct {
	int		letter;
	const char	*what;
	__s64		*to;
	__s64		unit;
} numbers[] = {
	{ 't', "time", &opt.time, 1000000 },
	{ 'w', "warmup", &opt.warmup, 1000000 },
	{ 'b', "bin", &opt.bin, 1000 },
	{ 'r', "seed", &opt.seed, 1 },
	{ 'i', "initial window", &opt.iw, 1 },
	{ 'P', "port", &opt.port, 1 },
	{ 'F', "flow", &opt.prefer, 1 },
	{ 'n', "repetitions", &opt.repeat, 1 },
	{ 'A', "reply", &opt.reply, 1 },
	{ 'N', "rounds", &opt.rounds, 1 },
	{ 'M', "message", &opt.message, 1 },
	{ 'S', "share of synchronised messages", &opt.sync, 1 },
};

static bool set_number(int letter, const char *text)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i].letter != letter)
			continue;
		*numbers[i].to = parse_number(numbers[i].what, text) * numbers[i].unit;
		return true;
	}
	return false;
}

static void set_option(int letter, const char *text)
{
	switch (letter) {
	case 'H':
		opt.hosts = text;
		break;
	case 'Q':
		opt.ports = text;
		break;
	case 'p':
		opt.proto = parse_name("protocol", text, proto_names,
				       ARRAY_SIZE(proto_names));
		break;
	case 'f':
		opt.matrix = text;
		break;
	case 'g':
		opt.pattern = text;
		break;
	case 's':
		parse_size(text);
		break;
	case 'l':
		opt.load = parse_fraction("load", text);
		break;
	case 'R':
		opt.rate = parse_fraction("rate", text);
		break;
	case 'v':
		opt.verify = true;
		break;
	case 'a':
		opt.acked = true;
		break;
	case 'u':
		opt.uncounted = true;
		break;
	case 'x':
		opt.strangers = true;
		break;
	case 'h':
		usage(stdout);
		exit(EXIT_SUCCESS);
	default:
		usage(stderr);
		exit(EXIT_USAGE);
	}
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "hosts", required_argument, NULL, 'H' },
		{ "ports", required_argument, NULL, 'Q' },
		{ "proto", required_argument, NULL, 'p' },
		{ "flows", required_argument, NULL, 'f' },
		{ "generate", required_argument, NULL, 'g' },
		{ "size", required_argument, NULL, 's' },
		{ "time", required_argument, NULL, 't' },
		{ "warmup", required_argument, NULL, 'w' },
		{ "seed", required_argument, NULL, 'r' },
		{ "iw", required_argument, NULL, 'i' },
		{ "port", required_argument, NULL, 'P' },
		{ "prefer", required_argument, NULL, 'F' },
		{ "load", required_argument, NULL, 'l' },
		{ "rate", required_argument, NULL, 'R' },
		{ "repeat", required_argument, NULL, 'n' },
		{ "reply", required_argument, NULL, 'A' },
		{ "rounds", required_argument, NULL, 'N' },
		{ "series", required_argument, NULL, 'b' },
		{ "message", required_argument, NULL, 'M' },
		{ "sync", required_argument, NULL, 'S' },
		{ "verify", no_argument, NULL, 'v' },
		{ "acked", no_argument, NULL, 'a' },
		{ "uncounted", no_argument, NULL, 'u' },
		{ "strangers", no_argument, NULL, 'x' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "H:p:f:g:s:l:t:w:r:h", options, NULL)) != -1)
		if (!set_number(c, optarg))
			set_option(c, optarg);
	if (optind != argc || !opt.hosts || (!opt.matrix && !opt.pattern)) {
		usage(stderr);
		exit(EXIT_USAGE);
	}
}

int main(int argc, char **argv)
{
	struct rlimit files = { 1 << 17, 1 << 17 };
	bool endless = false;
	int i, failed;

	parse(argc, argv);
	setrlimit(RLIMIT_NOFILE, &files);
	open_timer();
	read_hosts();
	if (opt.matrix)
		read_matrix();
	if (opt.pattern)
		generate();
	if (!n_flows)
		errx(EXIT_FAILURE, "no flows");
	sort_flows();
	expect_remote();
	if (!n_starts && !n_open)
		errx(EXIT_FAILURE, "no flow begins or ends here");
	for (i = 0; i < n_flows; i++) {
		endless |= !flows[i].size;
		open_listener(flows[i].dst, flows[i].proto);
		if (opt.bin)
			flows[i].series = calloc(opt.time / opt.bin + 1, sizeof(__u64));
	}
	if ((endless || opt.bin) && (!opt.time || opt.warmup >= opt.time))
		errx(EXIT_USAGE, "endless flows and --series need --time, longer than --warmup");
	if (opt.rounds > 1 && (!opt.reply || opt.acked || any_remote()))
		errx(EXIT_USAGE, "--rounds needs --reply, no --acked, and hosts of this machine");
	if (endless && (opt.reply || opt.acked))
		errx(EXIT_USAGE, "endless flows have no end for --reply or --acked");
	if (opt.message && (!over_ndp(opt.proto) || opt.verify || opt.message > CHUNK))
		errx(EXIT_USAGE, "--message: NDP's, %d bytes at most, no --verify", CHUNK);
	if (opt.sync && (!opt.message || opt.sync > 100))
		errx(EXIT_USAGE, "--sync is a share of --message, 100 at most");
	if (opt.prefer && !over_ndp(opt.proto))
		errx(EXIT_USAGE, "only receivers of NDP can prefer a flow");
	if (n_open)
		warnx("listening for %d flows of other machines", n_open);
	if (opt.ports)
		read_ports();
	count_ports(-1);
	run();
	count_ports(1);
	failed = report(opt.time && now > opt.time ? opt.time : now);
	print_ports();
	return failed;
}
