// SPDX-License-Identifier: GPL-2.0
/*
 * ndp doctor: reports in plain words what is wrong with this host, or with the path to another
 * host, and the command that fixes it.
 *
 * Each check examines one thing and prints one line: good, note (it may be intended, or nothing is
 * known yet) or bad, and then the fix.  What can be tested is tested: for a host the doctor opens
 * connections to a port on which hardly any host listens, since a refusal shows that packets of NDP
 * get there and back: one by a small packet, and one by a packet of the path MTU.  Everything else
 * is read: settings of devices, routing and netfilter, and counters, which cover the whole
 * namespace since the module was loaded.
 *
 * The doctor changes no setting.  But to check whether AF_NDP sockets can be made it makes one,
 * which loads the module and binds its UDP port, after which net.ndp.udp_port is fixed; and reading
 * conntrack may load nf_conntrack_netlink.  Other connections raise counters at the same time, so
 * that on a busy host the verdict on the path to a host may be wrong.
 *
 * Non-goals: switches, which have their own statistics (tc -s qdisc show).
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/ndp_netlink.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>

#include "../address.h"
#include "ndp.h"

/* A port on which hardly any host listens: tcpmux. */
#define CLOSED_PORT	1

/* How long to wait for an answer, ms: several timeouts of a first packet, or of a large one. */
#define WAIT_SMALL	3000
#define WAIT_LARGE	8000

/* NDP's pace of pulls if the device reports no speed, Mb/s. */
#define ASSUMED_SPEED	10000

/* With fewer packets nothing is concluded. */
#define FEW_PACKETS	500

/* Where ports trim, at least one packet is trimmed for so many lost. */
#define TRIMMED_PER_LOST	10

/* How often a large packet is tried again if another packet opened the connection first. */
#define MTU_TRIES	5

#define N(a)		(sizeof(a) / sizeof(*(a)))

enum verdict { GOOD, NOTE, BAD };

static const char *const verdicts[] = { "good", "note", "bad" };

static unsigned int said, wrong;

static void report(const char *check, enum verdict verdict, const char *mend, const char *text)
{
	char line[512];

	wrong += verdict == BAD;
	if (json) {
		printf("%s{\"check\":\"%s\",\"verdict\":\"%s\",\"text\":", said ? "," : "[", check,
		       verdicts[verdict]);
		print_json_string(text);
		printf(",\"mend\":");
		print_json_string(mend ? mend : "");
		putchar('}');
	} else {
		printf("%-4s  %-9s  ", verdicts[verdict], check);
		print_text(text);
		putchar('\n');
		while (mend && *mend) {
			snprintf(line, sizeof(line), "%.*s", (int)strcspn(mend, "\n"), mend);
			printf("      %9s    ", "");
			print_text(line);
			putchar('\n');
			mend += strcspn(mend, "\n");
			mend += *mend == '\n';
		}
	}
	said++;
}

/*
 * Print one line of the report on @check, its text as for printf(), and below it the fix @mend, if
 * it is not NULL: one or more commands, each on a line of its own.
 */
#define say(check, verdict, mend, ...) do {				\
	char text_[512];						\
									\
	snprintf(text_, sizeof(text_), __VA_ARGS__);			\
	report(check, verdict, mend, text_);				\
} while (0)

/* Return: the number in the file @path, or -1. */
static long long number_in(const char *path)
{
	FILE *f = fopen(path, "r");
	long long value = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%lld", &value) != 1)
		value = -1;
	fclose(f);
	return value;
}

/* Return: a counter in a file that has one counter a line. */
static unsigned long long counter_in(const char *path, const char *wanted)
{
	FILE *f = fopen(path, "r");
	unsigned long long value, found = 0;
	char name[64];

	if (!f)
		return 0;
	while (fscanf(f, "%63s %llu", name, &value) == 2)
		if (!strcmp(name, wanted))
			found = value;
	fclose(f);
	return found;
}

/* Return: one of NDP's counters. */
static unsigned long long counter(const char *wanted)
{
	return counter_in(STAT_FILE, wanted);
}

static unsigned int ndp_port(void)
{
	return number_in("/proc/sys/net/ndp/udp_port");
}

/* The module */

/* Read the first word of @f and close it by @end; empty if there is none. */
static void word_of(FILE *f, int (*end)(FILE *f), char word[64])
{
	*word = '\0';
	if (f && fscanf(f, "%63s", word) != 1)
		*word = '\0';
	if (f)
		end(f);
}

/*
 * Is the loaded module the installed one?  An installation does not replace a loaded module.
 * Builds of the same version differ by the checksum of their sources, which exclude the version.
 */
static void check_loaded(void)
{
	static const char ask[] = "PATH=$PATH:/usr/sbin:/sbin modinfo -F %s ndp 2>/dev/null";
	char command[N(ask) + 16], loaded[2][64], installed[2][64];
	static const char *const what[] = { "version", "srcversion" };
	unsigned int i;

	for (i = 0; i < N(what); i++) {
		snprintf(command, sizeof(command), "/sys/module/ndp/%s", what[i]);
		word_of(fopen(command, "r"), fclose, loaded[i]);
		snprintf(command, sizeof(command), ask, what[i]);
		word_of(popen(command, "r"), pclose, installed[i]);
	}
	if (!*installed[1] ||
	    (!strcmp(loaded[0], installed[0]) && !strcmp(loaded[1], installed[1])))
		return;
	say("module", NOTE, "modprobe -r ndp_mprdma ndp_dcqcn ndp_light ndp\nmodprobe ndp",
	    "ndp %s is loaded, %s%s is installed: it is taken once no socket is left", loaded[0],
	    strcmp(loaded[0], installed[0]) ? "" : "another build of ", installed[0]);
}

static bool check_module(void)
{
	int s = socket(AF_NDP, SOCK_STREAM, 0);
	char mend[128];

	if (s >= 0) {
		close(s);
		say("module", GOOD, NULL, "AF_NDP is there, UDP port %u is its own", ndp_port());
		check_loaded();
		return true;
	}
	switch (errno) {
	case EAFNOSUPPORT:
		say("module", BAD, "modprobe ndp",
		    "the kernel has no AF_NDP, and module ndp was not loaded by itself");
		break;
	case EADDRINUSE:
		snprintf(mend, sizeof(mend), "ss -ulpn sport = :%u\nsysctl -w net.ndp.udp_port=N",
			 ndp_port());
		say("module", BAD, mend,
		    "something else has UDP port %u; another than that has to be all peers'",
		    ndp_port());
		break;
	default:
		say("module", BAD, NULL, "no AF_NDP socket: %s", strerror(errno));
	}
	return false;
}

/* Devices */

static int control_fd = -1;

static bool ethtool(const char *dev, void *command)
{
	struct ifreq request = { .ifr_data = command };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", dev);
	return !ioctl(control_fd, SIOCETHTOOL, &request);
}

/* Characters without meaning to a shell, and length of a device's name quoted for it. */
#define PLAIN	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
#define WORD	(2 * IF_NAMESIZE)

/* Quote a device's name: root may paste the advice, and another user may have chosen the name. */
static const char *shell_word(const char *dev, char word[WORD])
{
	char *to = word;

	for (; *dev; *to++ = *dev++)
		if ((unsigned char)*dev < 0x80 && !strchr(PLAIN, *dev))
			*to++ = '\\';
	*to = '\0';
	return word;
}

/* How are UDP packets spread over the receive queues of a device? */
static void check_rss(const char *dev)
{
	struct ethtool_rxnfc rings = { .cmd = ETHTOOL_GRXRINGS };
	static const struct {
		const char	*name;
		__u32		type;
	} flows[] = { { "udp4", UDP_V4_FLOW }, { "udp6", UDP_V6_FLOW } };
	char mend[160] = "", word[WORD];
	unsigned int i, n = 0;

	if (!ethtool(dev, &rings) || rings.data < 2)
		return;
	for (i = 0; i < N(flows); i++) {
		struct ethtool_rxnfc hash = { .cmd = ETHTOOL_GRXFH, .flow_type = flows[i].type };

		if (ethtool(dev, &hash) && hash.data & (RXH_L4_B_0_1 | RXH_L4_B_2_3))
			n += snprintf(mend + n, sizeof(mend) - n,
				      "ethtool -N %s rx-flow-hash %s sd\n",
				      shell_word(dev, word), flows[i].name);
	}
	if (n)
		say("rss", NOTE, mend,
		    "%s spreads each connection over %" PRIu64 " receive queues, by ports; "
		    "what is set counts for all UDP that it receives",
		    dev, (uint64_t)rings.data);
	else
		say("rss", GOOD, NULL, "%s has a peer's packets in one of its %" PRIu64
		    " receive queues", dev, (uint64_t)rings.data);
}

/*
 * Check the pace of pulls, which is the device's speed if it reports one.
 * @unknown: verdict if it reports none
 */
static void check_speed(const char *dev, enum verdict unknown)
{
	long long rate = number_in("/proc/sys/net/ndp/pull_rate_mbit"), speed;
	char path[64 + IF_NAMESIZE], mend[80];

	if (rate > 0) {
		say("pace", GOOD, NULL,
		    "pulls go at %lld Mb/s by all devices, as net.ndp.pull_rate_mbit says", rate);
		return;
	}
	snprintf(path, sizeof(path), "/sys/class/net/%s/speed", dev);
	speed = number_in(path);
	snprintf(mend, sizeof(mend), "sysctl -w net.ndp.pull_rate_mbit=N");
	if (speed > 0)
		say("pace", GOOD, NULL, "pulls go at the speed of %s, %lld Mb/s", dev, speed);
	else
		say("pace", unknown, mend,
		    "%s tells no speed, so that pulls go at %d Mb/s; N counts for all devices",
		    dev, ASSUMED_SPEED);
}

/* Effects of a host's qdisc on NDP, by kind; the last entry is for any other kind. */
struct effect {
	const char	*kind;
	enum verdict	verdict;
	bool		shapes;
	const char	*text;
};

static const struct effect effects[] = {
	{ "ndp", GOOD, false, "knows NDP" },
	{ "cee", GOOD, false, "is lossless" },
	{ "noqueue", GOOD, false, "has no queue" },
	{ "fq", GOOD, false, "sends each socket's packets in its turn" },
	{ "pfifo_fast", GOOD, false, "keeps the order" },
	{ "pfifo", GOOD, false, "keeps the order" },
	{ "mq", GOOD, false, "has a queue for each of the card's" },
	{ "mqprio", GOOD, false, "has a queue for each of the card's" },
	{ "tbf", BAD, true, "is slower than the link" },
	{ "htb", BAD, true, "may be slower than the link" },
	{ "hfsc", BAD, true, "may be slower than the link" },
	{ "cake", BAD, true, "drops, and may be slower than the link" },
	{ "netem", BAD, false, "delays or loses packets" },
	{ "fq_codel", NOTE, false, "drops, and takes each path for a flow of its own" },
	{ "sfq", NOTE, false, "drops, and takes each path for a flow of its own" },
	{ "red", NOTE, false, "drops what it could trim" },
	{ "codel", NOTE, false, "drops what it could trim" },
	{ "pie", NOTE, false, "drops what it could trim" },
	{ "fq_pie", NOTE, false, "drops, and takes each path for a flow of its own" },
	{ "sfb", NOTE, false, "drops what it could trim" },
	{ "", NOTE, false, "is not known here" },
};

/* A device's root qdisc; its children, if they are the card's queues; and the worst of all. */
struct qdiscs {
	int			ifindex;
	__u32			handle;
	unsigned int		queues;
	const struct effect	*effect;
	char			root[16], worst[16];
};

static int on_qdisc(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	const struct effect *effect = effects;
	const struct nlattr *attr;
	struct qdiscs *q = data;
	const char *kind = "";

	if (tc->tcm_ifindex != q->ifindex)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, nlh, sizeof(*tc))
		if (mnl_attr_get_type(attr) == TCA_KIND)
			kind = mnl_attr_get_str(attr);
	while (*effect->kind && strcmp(effect->kind, kind))
		effect++;
	if (tc->tcm_parent == TC_H_ROOT) {
		/* The kernel dumps the root qdisc first. */
		q->handle = tc->tcm_handle;
		snprintf(q->root, sizeof(q->root), "%s", kind);
	} else if (!strncmp(q->root, "mq", 2) &&
		   TC_H_MAJ(tc->tcm_parent) == TC_H_MAJ(q->handle)) {
		q->queues++;
	} else {
		return MNL_CB_OK;
	}
	if (!q->effect || effect->verdict > q->effect->verdict) {
		q->effect = effect;
		snprintf(q->worst, sizeof(q->worst), "%s", kind);
	}
	return MNL_CB_OK;
}

/*
 * Dump all objects of one kind, each to @cb, by @talk: netlink_dump(), or netlink_talk() for dumps
 * that are too large to be kept.
 * Return: whether the dump succeeded.
 */
static bool dump_all(typeof(netlink_talk) *talk, int protocol, __u16 type, size_t header,
		     mnl_cb_t cb, void *data)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct netlink g;
	bool ok;

	if (!netlink_open(&g, protocol))
		return false;
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(nlh, header);
	ok = !talk(&g, nlh, cb, data);
	mnl_socket_close(g.nl);
	return ok;
}

/* Compose the commands that replace the root qdisc, or each child of mq, by ndp. */
static void place_ndp(const char *dev, const struct qdiscs *q, char *mend, size_t size)
{
	unsigned int major = TC_H_MAJ(q->handle) >> 16, n;
	char word[WORD], replace[32 + WORD];

	snprintf(replace, sizeof(replace), "tc qdisc replace dev %s", shell_word(dev, word));
	if (!q->queues) {
		snprintf(mend, size, "%s root ndp mode host", replace);
		return;
	}
	/* mq as installed by the kernel has handle 0, by which its children cannot be named. */
	n = major ? 0 : snprintf(mend, size, "%s root handle 1: mq\n", replace);
	snprintf(mend + n, size - n,
		 "for q in $(seq %u); do %s parent %x:$(printf %%x $q) ndp mode host; done",
		 q->queues, replace, major ?: 1);
}

static void check_qdisc(const char *dev)
{
	long long rate = number_in("/proc/sys/net/ndp/pull_rate_mbit");
	struct qdiscs q = { .ifindex = if_nametoindex(dev) };
	char mend[320], name[48];
	unsigned int n;

	if (!dump_all(netlink_dump, NETLINK_ROUTE, RTM_GETQDISC, sizeof(struct tcmsg), on_qdisc,
		      &q)) {
		say("qdisc", NOTE, NULL, "the qdiscs cannot be read: %s", netlink_error());
		return;
	}
	if (!q.effect)
		return;
	snprintf(name, sizeof(name), strcmp(q.worst, q.root) ? "%s below %s" : "%s", q.worst,
		 q.root);
	if (q.effect->verdict == GOOD || !*q.effect->kind) {
		say("qdisc", q.effect->verdict, NULL, "%s has qdisc %s, which %s", dev, name,
		    q.effect->text);
	} else if (!q.effect->shapes) {
		place_ndp(dev, &q, mend, sizeof(mend));
		say("qdisc", q.effect->verdict, mend, "%s has qdisc %s, which %s", dev, name,
		    q.effect->text);
	} else if (rate > 0) {
		say("qdisc", NOTE, NULL, "%s has qdisc %s, which %s; pulls go at %lld Mb/s", dev,
		    name, q.effect->text, rate);
	} else {
		n = snprintf(mend, sizeof(mend), "sysctl -w net.ndp.pull_rate_mbit=N\n");
		place_ndp(dev, &q, mend + n, sizeof(mend) - n);
		say("qdisc", q.effect->verdict, mend,
		    "%s has qdisc %s, which %s, by which pulls are paced: %s", dev, name,
		    q.effect->text,
		    "set their pace, or have ndp in its place, which deletes it and its classes");
	}
}

static void check_device(const char *dev, enum verdict without_speed)
{
	check_speed(dev, without_speed);
	check_qdisc(dev);
	check_rss(dev);
}

static bool is_ip(const struct ifaddrs *a)
{
	return a->ifa_addr && (a->ifa_addr->sa_family == AF_INET ||
			       a->ifa_addr->sa_family == AF_INET6);
}

/* Check all devices that are up and have an address, except loopback. */
static void check_devices(void)
{
	struct ifaddrs *all, *a, *b;

	if (getifaddrs(&all)) {
		say("device", NOTE, NULL, "addresses cannot be read: %s", strerror(errno));
		return;
	}
	/* An address may have a label, eth0:0. */
	for (a = all; a; a = a->ifa_next)
		a->ifa_name[strcspn(a->ifa_name, ":")] = '\0';
	for (a = all; a; a = a->ifa_next) {
		if (!is_ip(a) || !(a->ifa_flags & IFF_UP) || a->ifa_flags & IFF_LOOPBACK)
			continue;
		/* Check each device once, at its first address. */
		for (b = all; b != a; b = b->ifa_next)
			if (is_ip(b) && !strcmp(a->ifa_name, b->ifa_name))
				break;
		/* Tunnels have no speed, and may not be meant for NDP. */
		if (a == b)
			check_device(a->ifa_name, NOTE);
	}
	freeifaddrs(all);
}

/* Routing */

static int on_route(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *route = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	unsigned int *found = data;

	mnl_attr_for_each(attr, nlh, sizeof(*route))
		if (mnl_attr_get_type(attr) == RTA_MULTIPATH)
			found[route->rtm_family == AF_INET6]++;
	return MNL_CB_OK;
}

/*
 * Routes with several next hops spread packets by a hash of addresses (policy 0, and 2, for NDP is
 * no IP tunnel), of ports as well (1), or of fields chosen by the operator (3).
 */
static void check_ecmp(void)
{
	static const char *const names[] = { "ipv4", "ipv6" };
	unsigned int found[2] = { 0, 0 };
	char path[64], mend[64];
	long long policy;
	int i;

	if (!dump_all(netlink_dump, NETLINK_ROUTE, RTM_GETROUTE, sizeof(struct rtmsg), on_route,
		      found)) {
		say("ecmp", NOTE, NULL, "routes cannot be read: %s", netlink_error());
		return;
	}
	for (i = 0; i < 2; i++) {
		if (!found[i])
			continue;
		snprintf(path, sizeof(path), "/proc/sys/net/%s/fib_multipath_hash_policy",
			 names[i]);
		snprintf(mend, sizeof(mend), "sysctl -w net.%s.fib_multipath_hash_policy=1",
			 names[i]);
		policy = number_in(path);
		if (policy == 1)
			say("ecmp", GOOD, NULL, "%u %s routes with several next hops hash ports",
			    found[i], names[i]);
		else if (policy == 3)
			say("ecmp", NOTE, NULL,
			    "%u %s routes with several next hops hash fib_multipath_hash_fields",
			    found[i], names[i]);
		else if (policy < 0)
			say("ecmp", NOTE, NULL,
			    "%u %s routes have several next hops; what they hash cannot be read",
			    found[i], names[i]);
		else
			say("ecmp", BAD, mend,
			    "%u %s routes have several next hops, and all paths to a host take one",
			    found[i], names[i]);
	}
}

/* Netfilter */

/* Destination of a conntrack entry */
struct target {
	unsigned int protocol, port;
};

static int on_tracked_port(const struct nlattr *attr, void *data)
{
	struct target *to = data;

	if (mnl_attr_get_type(attr) == CTA_PROTO_NUM)
		to->protocol = mnl_attr_get_u8(attr);
	else if (mnl_attr_get_type(attr) == CTA_PROTO_DST_PORT)
		to->port = ntohs(mnl_attr_get_u16(attr));
	return MNL_CB_OK;
}

static int on_tracked_tuple(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == CTA_TUPLE_PROTO)
		mnl_attr_parse_nested(attr, on_tracked_port, data);
	return MNL_CB_OK;
}

/* Count of conntrack entries to NDP's port */
struct tracked {
	unsigned int port, n;
};

static int on_tracked(const struct nlmsghdr *nlh, void *data)
{
	struct tracked *t = data;
	const struct nlattr *attr;
	struct target to = { 0 };

	mnl_attr_for_each(attr, nlh, sizeof(struct nfgenmsg))
		if (mnl_attr_get_type(attr) == CTA_TUPLE_ORIG)
			mnl_attr_parse_nested(attr, on_tracked_tuple, &to);
	t->n += to.protocol == IPPROTO_UDP && to.port == t->port;
	return MNL_CB_OK;
}

static void check_conntrack(void)
{
	struct tracked t = { .port = ndp_port() };
	char mend[512];

	/* A request would load conntrack. */
	if (access("/proc/sys/net/netfilter/nf_conntrack_max", F_OK)) {
		say("conntrack", GOOD, NULL, "connections are not tracked here");
		return;
	}
	if (!dump_all(netlink_talk, NETLINK_NETFILTER,
		      NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET,
		      sizeof(struct nfgenmsg), on_tracked, &t)) {
		say("conntrack", NOTE, NULL, "conntrack cannot be read: %s", netlink_error());
		return;
	}
	if (!t.n) {
		say("conntrack", GOOD, NULL, "no packets to UDP port %u are tracked", t.port);
		return;
	}
	/* Untracked packets must be accepted first, or this host is cut off. */
	snprintf(mend, sizeof(mend),
		 "nft insert rule inet filter input udp dport %u accept\n"
		 "nft add table inet ndp\n"
		 "nft add chain inet ndp pre '{ type filter hook prerouting priority raw; }'\n"
		 "nft add chain inet ndp out '{ type filter hook output priority raw; }'\n"
		 "nft add rule inet ndp pre udp dport %u notrack\n"
		 "nft add rule inet ndp out udp dport %u notrack", t.port, t.port, t.port);
	say("conntrack", BAD, mend,
	    "conntrack has %u entries of UDP port %u: one for each path of each connection%s",
	    t.n, t.port,
	    "; packets that are not tracked are neither new nor established: accept them first");
}

/* Counters */

/* Return: value @wanted of @kind, in a file of pairs of lines: names, and values. */
static unsigned long long in_pairs(const char *path, const char *kind, const char *wanted)
{
	static const char blanks[] = "\n ";
	char names[4096], values[4096], *name, *value, *n, *v;
	unsigned long long found = 0;
	FILE *f = fopen(path, "r");

	while (f && fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f)) {
		name = strtok_r(names, blanks, &n);
		value = strtok_r(values, blanks, &v);
		if (!name || strcmp(name, kind))
			continue;
		while (name && value) {
			if (!strcmp(name, wanted))
				found = strtoull(value, NULL, 10);
			name = strtok_r(NULL, blanks, &n);
			value = strtok_r(NULL, blanks, &v);
		}
	}
	if (f)
		fclose(f);
	return found;
}

/* Return: packets shorter than the length in their IP header. */
static unsigned long long truncated(void)
{
	return in_pairs("/proc/net/netstat", "IpExt:", "InTruncatedPkts") +
	       counter_in("/proc/net/snmp6", "Ip6InTruncatedPkts");
}

/* Return: packets that UDP has dropped, except for want of buffer and for bad checksums. */
static unsigned long long wrong_udp(void)
{
	static const char *const others[] = { "RcvbufErrors", "InCsumErrors", "MemErrors" };
	unsigned long long n = in_pairs("/proc/net/snmp", "Udp:", "InErrors") +
			       counter_in("/proc/net/snmp6", "Udp6InErrors");
	unsigned long long known = 0;
	char name[32];
	unsigned int i;

	for (i = 0; i < N(others); i++) {
		snprintf(name, sizeof(name), "Udp6%s", others[i]);
		known += in_pairs("/proc/net/snmp", "Udp:", others[i]) +
			 counter_in("/proc/net/snmp6", name);
	}
	return n > known ? n - known : 0;
}

/* Is @n at least a thousandth of @all? */
static bool is_much(unsigned long long n, unsigned long long all)
{
	return n && 1000 * n >= all;
}

static void check_trimming(void)
{
	unsigned long long sent = counter("DataOut"), came = counter("DataIn");
	unsigned long long trimmed = counter("TrimmedIn") + counter("NackIn");
	unsigned long long lost = counter("Timeouts") + counter("LostByOrder");
	unsigned long long late = counter("SpuriousTimeouts") + counter("SpuriousByOrder");

	/* A machine that was stalled declares packets lost that had arrived. */
	lost = lost > late ? lost - late : 0;
	if (!trimmed && sent < FEW_PACKETS && came < FEW_PACKETS)
		say("trimming", NOTE, NULL, "hardly anything was transferred yet");
	else if (sent >= FEW_PACKETS && is_much(lost, sent) && trimmed < lost / TRIMMED_PER_LOST)
		say("trimming", BAD,
		    "on the ports of a Linux switch: tc qdisc replace dev PORT root ndp",
		    "%llu of %llu packets were lost and %llu trimmed: some port drops", lost, sent,
		    trimmed);
	else if (trimmed)
		say("trimming", GOOD, NULL, "ports trim: %llu packets came trimmed, or were so",
		    trimmed);
	else
		say("trimming", NOTE, NULL, "nothing was trimmed yet, and hardly anything lost");
}

static void check_counters(void)
{
	static const struct {
		const char	*name;
		enum verdict	verdict;
		const char	*text, *mend;
	} counters[] = {
		{ "RemarkedIn", BAD,
		  "packets lost their code point on the way: ports behind that do not trim them",
		  "have the routers on the way keep DSCP (mark nothing, trust it)" },
		{ "MtuHole", BAD,
		  "times large packets vanished: a link has a smaller MTU, or was slow or down",
		  "ip route change DESTINATION ... mtu N" },
		{ "LocalDrop", NOTE, "packets were refused by the host's own qdisc",
		  "tc qdisc replace dev DEVICE root ndp mode host" },
		{ "DropMemory", NOTE, "packets found no memory",
		  "sysctl net.ndp.mem_max_kb; raise it, or memory" },
		{ "DropChecksum", BAD, "headers came changed: a cable, card or driver is faulty",
		  NULL },
		{ "CrcIn", BAD, "payloads came changed: a cable, card or driver is faulty", NULL },
		{ "DropVersion", BAD,
		  "packets had another version: the other end's module is older or newer", NULL },
	};
	unsigned long long n = truncated();
	unsigned int i;

	for (i = 0; i < N(counters); i++)
		if (counter(counters[i].name))
			say("counters", counters[i].verdict, counters[i].mend, "%llu %s (%s)",
			    counter(counters[i].name), counters[i].text, counters[i].name);
	if (n)
		say("counters", BAD, "ndp repair add DEVICE",
		    "%llu packets were cut without new lengths, so that IP dropped them", n);
	n = wrong_udp();
	if (n)
		say("counters", NOTE, "ndp repair add DEVICE",
		    "%llu UDP packets were dropped: cut without a new length, or not wanted", n);
	n = counter("SpuriousTimeouts");
	if (is_much(n, counter("DataOut")))
		say("counters", NOTE, "sysctl -w net.ndp.base_rtt_us=N",
		    "%llu packets were sent again though they had come (SpuriousTimeouts)", n);
}

/* The path to a host */

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* Interval of checks whether a packet was acknowledged, us. */
#define LOOK_US		100

/*
 * Open a connection by one packet, @large: of the path's MTU, else of one byte, and wait for the
 * result.
 * Return: 0: it was accepted; ECONNREFUSED and others; ETIMEDOUT: no answer within @ms.
 */
static int try_opening(const union address *to, bool large, int ms)
{
	int s = socket(AF_NDP, SOCK_STREAM | SOCK_NONBLOCK, ndp_protocol(to->any.sa_family));
	const struct timespec look = { .tv_nsec = LOOK_US * 1000 };
	struct pollfd p = { .fd = s, .events = POLLRDHUP };
	static const char data[IP_MAXPACKET];
	struct linger abort = { .l_onoff = 1 };
	int bytes = 1, error = 0, unacked, end;
	socklen_t len = sizeof(int);

	if (s < 0)
		return errno;
	if ((connect(s, &to->any, address_len(to)) && errno != EINPROGRESS) ||
	    (large && getsockopt(s, IPPROTO_TCP, TCP_MAXSEG, &bytes, &len)) ||
	    send(s, data, bytes, MSG_NOSIGNAL) < 0)
		error = errno;
	end = error ? 0 : ms * 1000 / LOOK_US;
	while (end-- && !ppoll(&p, 1, &look, NULL) && !ioctl(s, SIOCOUTQ, &unacked) && unacked)
		;
	if (!error && end < 0)
		error = ETIMEDOUT;
	else if (!error)
		getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &len);
	setsockopt(s, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
	close(s);
	return error;
}

/* Address, MTU and device of the path to a host */
struct way {
	union address	to, from;
	char		text[ADDRESS_TEXT];
	char		number[INET6_ADDRSTRLEN];	/* for commands: without its device */
	char		dev[IF_NAMESIZE];
	int		mtu;
};

static void resolve(const char *host, union address *to)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	int code = getaddrinfo(host, NULL, &hints, &found);

	if (code)
		errx(EXIT_USAGE, "host \"%s\": %s", host, gai_strerror(code));
	memset(to, 0, sizeof(*to));
	memcpy(to, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
}

static int on_way(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;
	struct way *way = data;

	mnl_attr_for_each(attr, nlh, sizeof(struct rtmsg))
		if (mnl_attr_get_type(attr) == RTA_OIF)
			if_indextoname(mnl_attr_get_u32(attr), way->dev);
	return MNL_CB_STOP;
}

/*
 * Find the device that packets leave by; their source may be an address of another device, as lo.
 */
static void find_device(struct way *way)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct rtmsg *route = mnl_nlmsg_put_extra_header(nlh, sizeof(*route));
	struct netlink g;
	const void *bytes;
	size_t len;

	if (!netlink_open(&g, NETLINK_ROUTE))
		return;
	bytes = address_bytes(&way->to, &len);
	nlh->nlmsg_type = RTM_GETROUTE;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	route->rtm_family = way->to.any.sa_family;
	route->rtm_dst_len = 8 * len;
	mnl_attr_put(nlh, RTA_DST, len, bytes);
	if (way->to.in6.sin6_scope_id)
		mnl_attr_put_u32(nlh, RTA_OIF, way->to.in6.sin6_scope_id);
	netlink_talk(&g, nlh, on_way, way);
	mnl_socket_close(g.nl);
}

static bool check_route(struct way *way)
{
	bool ip6 = way->to.any.sa_family == AF_INET6;
	int s = socket(way->to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(way->from), mtu_len = sizeof(way->mtu);
	char from[ADDRESS_TEXT];

	address_set_port(&way->to, ndp_port());
	if (s < 0 || connect(s, &way->to.any, address_len(&way->to)) ||
	    getsockname(s, &way->from.any, &len) ||
	    getsockopt(s, ip6 ? IPPROTO_IPV6 : IPPROTO_IP, ip6 ? IPV6_MTU : IP_MTU, &way->mtu,
		       &mtu_len)) {
		say("route", BAD, "ip route", "no way to %s: %s", way->text, strerror(errno));
		return false;
	}
	close(s);
	find_device(way);
	say("route", GOOD, NULL, "%s is reached from %s, %s, with an MTU of %d", way->text,
	    address_text(&way->from, from), *way->dev ? way->dev : "whose device is not known",
	    way->mtu);
	return true;
}

/* Does AF_NDP answer at the host? */
static bool check_answer(const struct way *way)
{
	unsigned long long resets = counter("RstIn");
	long long begin = now_us();
	int error = try_opening(&way->to, false, WAIT_SMALL);
	long long took = now_us() - begin;
	char mend[192];

	snprintf(mend, sizeof(mend),
		 "there: ndp doctor\nthere: nft insert rule inet filter input udp dport %u accept",
		 ndp_port());
	if (!error || counter("RstIn") > resets)
		say("answer", GOOD, NULL, "%s answers after %lld us", way->text, took);
	else if (error == ECONNREFUSED)
		say("answer", BAD, mend,
		    "%s refuses UDP port %u: nothing has made an AF_NDP socket, or a firewall does",
		    way->text, ndp_port());
	else if (error == ETIMEDOUT)
		say("answer", BAD, mend,
		    "%s says nothing for %d s: it is down, or a firewall drops UDP port %u",
		    way->text, WAIT_SMALL / 1000, ndp_port());
	else
		say("answer", BAD, NULL, "%s: %s", way->text, strerror(error));
	return !error || counter("RstIn") > resets;
}

/* Do packets of the route's MTU arrive? */
static void check_mtu(const struct way *way)
{
	int family = way->to.any.sa_family == AF_INET6 ? 6 : 4, tries = MTU_TRIES, error;
	unsigned long long resets, holes, opens;
	char mend[80 + 2 * INET6_ADDRSTRLEN];

	/* If data is late, an empty packet opens the connection, which is no test of the MTU. */
	do {
		resets = counter("RstIn");
		holes = counter("MtuHole");
		opens = counter("OpenOut");
		error = try_opening(&way->to, true, WAIT_LARGE);
	} while (counter("OpenOut") > opens && --tries);
	/* A route's MTU is for this host alone; the device's would affect all peers. */
	snprintf(mend, sizeof(mend),
		 "ip -%d route show to match %s\nip -%d route replace %s ... mtu N", family,
		 way->number, family, way->number);
	if (counter("MtuHole") > holes || (error && counter("RstIn") == resets))
		say("mtu", BAD, mend,
		    "packets of %d bytes vanish on the way to %s: a link has a smaller MTU",
		    way->mtu, way->text);
	else if (!tries)
		say("mtu", NOTE, NULL,
		    "this host is too busy to tell whether packets of %d bytes reach %s", way->mtu,
		    way->text);
	else
		say("mtu", GOOD, NULL, "packets of %d bytes reach %s", way->mtu, way->text);
}

/* Statistics of the paths to a host, and how many are left out. */
struct paths {
	const union address	*to;
	unsigned int		n, out;
	unsigned long long	acks, nacks, losses;
};

static int on_path(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;
	struct paths *p = data;
	union address dst = { 0 };
	bool out = false;
	size_t len;
	__u64 acks = 0, nacks = 0, losses = 0;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case NDP_A_DST:
			len = mnl_attr_get_payload_len(attr);
			address_from(&dst, mnl_attr_get_payload(attr), len);
			break;
		case NDP_A_ACKS:
			acks = mnl_attr_get_u32(attr);
			break;
		case NDP_A_NACKS:
			nacks = mnl_attr_get_u32(attr);
			break;
		case NDP_A_LOSSES:
			losses = mnl_attr_get_u32(attr);
			break;
		case NDP_A_LEFT_OUT:
		case NDP_A_CONTROL_OUT:
			out = true;
			break;
		}
	}
	if (dst.any.sa_family != p->to->any.sa_family || !address_same(&dst, p->to))
		return MNL_CB_OK;
	p->n++;
	p->out += out;
	p->acks += acks;
	p->nacks += nacks;
	p->losses += losses;
	return MNL_CB_OK;
}

static void check_paths(const struct way *way)
{
	struct paths p = { .to = &way->to };
	char buf[MNL_SOCKET_BUFFER_SIZE], mend[32 + INET6_ADDRSTRLEN];
	struct nlmsghdr *nlh;
	struct netlink g;

	if (!genl_open(&g)) {
		say("paths", NOTE, NULL, "paths cannot be read: %s", netlink_error());
		return;
	}
	nlh = genl_request(buf, g.family, NLM_F_DUMP, NDP_CMD_PEER_GET, NDP_GENL_VERSION);
	if (netlink_dump(&g, nlh, on_path, &p)) {
		say("paths", NOTE, NULL, "paths cannot be read: %s", netlink_error());
	} else if (!p.n) {
		say("paths", NOTE, NULL, "no transfer to %s of late, so nothing is known of paths",
		    way->text);
	} else {
		snprintf(mend, sizeof(mend), "ndp path live %s", way->number);
		say("paths", p.out ? NOTE : GOOD, p.out ? mend : NULL,
		    "%u of %u paths are left out; %llu packets acknowledged, %llu trimmed, %llu lost",
		    p.out, p.n, p.acks, p.nacks, p.losses);
	}
	mnl_socket_close(g.nl);
}

static void check_way(struct way *way, unsigned int port)
{
	size_t len;

	address_text(&way->to, way->text);
	inet_ntop(way->to.any.sa_family, address_bytes(&way->to, &len), way->number,
		  sizeof(way->number));
	if (!check_route(way))
		return;
	address_set_port(&way->to, port);
	if (*way->dev && strcmp(way->dev, "lo"))
		check_device(way->dev, BAD);
	if (!check_answer(way))
		return;
	check_mtu(way);
	check_paths(way);
}

/**
 * do_doctor - ndp doctor [HOST [PORT]]
 * @args: HOST and PORT, or none
 *
 * The exit status is 1 if anything is bad.
 */
void do_doctor(char **args)
{
	unsigned int port = *args && args[1] ? parse_port(args[1]) : CLOSED_PORT;
	struct way way = { 0 };

	if (*args && args[1] && args[2])
		errx(EXIT_USAGE, "what is \"%s\"? Try \"ndp help\"", args[2]);
	control_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	said = 0;
	wrong = 0;
	if (*args)
		resolve(*args, &way.to);
	if (check_module()) {
		if (*args)
			check_way(&way, port);
		else
			check_devices();
		check_ecmp();
		check_conntrack();
		check_trimming();
		check_counters();
	}
	close(control_fd);
	if (json)
		puts("]");
	if (wrong) {
		fflush(stdout);
		exit(EXIT_FAILURE);
	}
}
