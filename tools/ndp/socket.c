// SPDX-License-Identifier: GPL-2.0
/*
 * ndp socket: the AF_NDP sockets of the namespace, as ss(8) shows TCP's; by sock_diag.
 *
 * Filters are applied here, except states, by which the kernel selects.  The process of a socket is
 * found by the socket's inode among the open files of /proc, as ss does.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/sock_diag.h>

#include "../address.h"
#include "ndp.h"

#define N(a)		(sizeof(a) / sizeof(*(a)))

static const char *const states[] = {
	[NDP_ST_CLOSE] = "close", [NDP_ST_LISTEN] = "listen", [NDP_ST_OPENING] = "opening",
	[NDP_ST_ESTABLISHED] = "estab", [NDP_ST_CLOSING] = "closing",
};

/* Filter of sockets; members that are not set match all. */
struct filter {
	unsigned int	states;
	union address	src, dst;
	bool		has_src, has_dst;
	unsigned int	sport, dport;
};

/* A socket as the kernel reports it. */
struct found {
	struct ndp_diag_msg	m;
	struct ndp_info		info;
	__u32			mem[SK_MEMINFO_VARS];
	__u32			mark;
};

/* State of the listing: filter, options, sockets printed, and their cookies as a tree. */
struct listing {
	const struct filter	*filter;
	const struct options	*o;
	unsigned int		n;
	void			*cookies;
};

/* Processes */

/* An open socket of a process. */
struct holder {
	unsigned long	inode;
	int		pid, fd;
	char		comm[16];
};

static struct holder *holders;
static size_t n_holders;

static void hold(unsigned long inode, int pid, int fd, const char *comm)
{
	/* Double the array whenever it is full. */
	if (!(n_holders & (n_holders - 1))) {
		holders = realloc(holders, (n_holders ? 2 * n_holders : 1) * sizeof(*holders));
		if (!holders)
			err(EXIT_FAILURE, "memory");
	}
	holders[n_holders] = (struct holder) { .inode = inode, .pid = pid, .fd = fd };
	snprintf(holders[n_holders].comm, sizeof(holders->comm), "%s", comm);
	n_holders++;
}

static void read_comm(int pid, char *comm, size_t size)
{
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "r");
	if (!f || !fgets(comm, size, f))
		snprintf(comm, size, "?");
	if (f)
		fclose(f);
	comm[strcspn(comm, "\n")] = '\0';
}

static void find_files(int pid)
{
	char path[32], link[64], comm[16] = "";
	struct dirent *e;
	unsigned long inode;
	DIR *dir;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	/* The process has ended, or belongs to another user. */
	if (!dir)
		return;
	while ((e = readdir(dir))) {
		n = readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = '\0';
		if (sscanf(link, "socket:[%lu]", &inode) != 1)
			continue;
		if (!*comm)
			read_comm(pid, comm, sizeof(comm));
		hold(inode, pid, atoi(e->d_name), comm);
	}
	closedir(dir);
}

static int by_inode(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static void find_holders(void)
{
	struct dirent *e;
	DIR *dir;
	int pid;

	dir = opendir("/proc");
	if (!dir)
		err(EXIT_FAILURE, "/proc");
	while ((e = readdir(dir))) {
		pid = atoi(e->d_name);
		if (pid > 0)
			find_files(pid);
	}
	closedir(dir);
	qsort(holders, n_holders, sizeof(*holders), by_inode);
}

static void print_holders(unsigned long inode)
{
	size_t first = 0, end = n_holders, i;
	unsigned int found = 0;

	while (first < end) {
		i = first + (end - first) / 2;
		if (holders[i].inode < inode)
			first = i + 1;
		else
			end = i;
	}
	for (i = first; i < n_holders && holders[i].inode == inode; i++) {
		if (json) {
			printf("%s{\"name\":", found++ ? "," : "");
			print_json_string(holders[i].comm);
			printf(",\"pid\":%d,\"fd\":%d}", holders[i].pid, holders[i].fd);
		} else {
			printf("%s(\"", found++ ? "," : " users:(");
			print_text(holders[i].comm);
			printf("\",pid=%d,fd=%d)", holders[i].pid, holders[i].fd);
		}
	}
	if (found && !json)
		putchar(')');
}

/* Output of a socket */

static void get_end(const struct found *f, bool peer, union address *a)
{
	const __u8 *bytes = peer ? f->m.dst : f->m.src;

	address_from(a, bytes, f->m.family == AF_INET6 ? 16 : 4);
	/* A link-local address has no meaning without the device. */
	if (a->any.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr))
		a->in6.sin6_scope_id = f->m.ifindex;
	address_set_port(a, ntohs(peer ? f->m.dport : f->m.sport));
}

/* Columns of the text that an address and a port take */
#define END_WIDTH	24

/* Print ADDRESS:PORT, [ADDRESS]:PORT of IPv6; * for none. */
static void print_end(const union address *a)
{
	static const __u8 none[16];
	char address[ADDRESS_TEXT], port[8] = "*", text[ADDRESS_TEXT + 16];
	const void *bytes;
	size_t len;

	bytes = address_bytes(a, &len);
	if (address_port(a))
		snprintf(port, sizeof(port), "%u", address_port(a));
	if (!memcmp(bytes, none, len))
		snprintf(text, sizeof(text), "*:%s", port);
	else
		snprintf(text, sizeof(text), a->any.sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s",
			 address_text(a, address), port);
	len = strlen(text);
	printf(" %*s", len < END_WIDTH ? (int)(END_WIDTH - len) : 0, "");
	print_text(text);
}

/* Members of struct ndp_info, by the names that are printed; those that are 0 are omitted. */
#define INFO(type, name)	{ #name, offsetof(struct ndp_info, name), sizeof(type) }
static const struct {
	const char	*name;
	unsigned int	offset, size;
} numbers[] = {
	INFO(__u32, rto_us), INFO(__u32, srtt_us), INFO(__u32, rttvar_us), INFO(__u16, paths),
	INFO(__u32, mss), INFO(__u32, iw), INFO(__u32, snd_cwnd), INFO(__u32, snd_inflight),
	INFO(__u32, snd_rtx_queue), INFO(__u32, snd_credit), INFO(__u32, snd_window),
	INFO(__u32, rcv_window), INFO(__u32, rcv_ooo), INFO(__u32, rcv_ooo_max),
	INFO(__u32, pull_pending), INFO(__u64, pull_rate_bps), INFO(__u32, notsent_bytes),
	INFO(__u64, bytes_sent), INFO(__u64, bytes_acked),
	INFO(__u64, bytes_retrans), INFO(__u64, bytes_received), INFO(__u64, data_sent),
	INFO(__u64, data_pushed), INFO(__u64, retrans), INFO(__u64, timeouts),
	INFO(__u64, acks_in), INFO(__u64, nacks_in), INFO(__u64, pulls_in),
	INFO(__u64, bounces_in), INFO(__u64, probes_out), INFO(__u64, data_in),
	INFO(__u64, trims_in), INFO(__u64, dups_in), INFO(__u64, noroom_in),
	INFO(__u64, crc_in), INFO(__u64, pulls_out), INFO(__u64, marked_in),
	INFO(__u64, ece_in), INFO(__u64, early_in), INFO(__u64, sync_in),
	INFO(__u64, sync_early_in),
};

static unsigned long long number_of(const struct ndp_info *info, unsigned int i)
{
	const char *at = (const char *)info + numbers[i].offset;
	__u64 value64;
	__u32 value32;
	__u16 value16;

	switch (numbers[i].size) {
	case sizeof(value64):
		memcpy(&value64, at, sizeof(value64));
		return value64;
	case sizeof(value32):
		memcpy(&value32, at, sizeof(value32));
		return value32;
	default:
		memcpy(&value16, at, sizeof(value16));
		return value16;
	}
}

static const char *const timers[] = {
	[NDP_TIMER_NONE] = "none", [NDP_TIMER_RETRANS] = "retrans", [NDP_TIMER_PROBE] = "probe",
	[NDP_TIMER_ACK] = "ack", [NDP_TIMER_OPEN] = "open", [NDP_TIMER_CORK] = "cork",
	[NDP_TIMER_KEEPALIVE] = "keepalive", [NDP_TIMER_ORPHAN] = "orphan",
	[NDP_TIMER_TRANSPORT] = "transport", [NDP_TIMER_CHALLENGE] = "challenge",
};

/* Print the timer that expires next; a newer kernel may have others. */
static void print_timer(const struct ndp_info *info)
{
	const char *timer = info->timer < N(timers) ? timers[info->timer] : "other";

	if (json)
		printf(",\"timer\":\"%s\",\"timer_us\":%u,\"backoff\":%u", timer, info->timer_us,
		       info->backoff);
	else if (info->timer)
		printf(" timer:(%s,%uus,%u)", timer, info->timer_us, info->backoff);
}

/* Which end opened the connection?  A listener has none. */
static const char *role_of(const struct found *f)
{
	if (f->m.state == NDP_ST_LISTEN)
		return "";
	return f->info.role ? "acceptor" : "initiator";
}

static void print_info(const struct found *f)
{
	unsigned long long value;
	unsigned int i;

	/* As a string: many JSON parsers read numbers as floating point, which has too few bits. */
	if (json)
		printf(",\"conn_id\":\"%llu\"", (unsigned long long)f->info.conn_id);
	else
		printf("\n\t %s%s%s", f->info.transport, *role_of(f) ? " " : "", role_of(f));
	if (!json && f->info.conn_id)
		printf(" conn_id:%llu", (unsigned long long)f->info.conn_id);
	for (i = 0; i < N(numbers); i++) {
		value = number_of(&f->info, i);
		if (json)
			printf(",\"%s\":%llu", numbers[i].name, value);
		else if (value)
			printf(" %s:%llu", numbers[i].name, value);
	}
	print_timer(&f->info);
	if (!json)
		printf(" skmem:(r%u,rb%u,t%u,tb%u,f%u,w%u,bl%u,d%u)", f->mem[SK_MEMINFO_RMEM_ALLOC],
		       f->mem[SK_MEMINFO_RCVBUF], f->mem[SK_MEMINFO_WMEM_ALLOC],
		       f->mem[SK_MEMINFO_SNDBUF], f->mem[SK_MEMINFO_FWD_ALLOC],
		       f->mem[SK_MEMINFO_WMEM_QUEUED], f->mem[SK_MEMINFO_BACKLOG],
		       f->mem[SK_MEMINFO_DROPS]);
}

static void print_socket_json(const struct found *f, const struct listing *l)
{
	char src[ADDRESS_TEXT], dst[ADDRESS_TEXT], dev[IF_NAMESIZE] = "";
	union address here, there;

	get_end(f, false, &here);
	get_end(f, true, &there);
	if (f->m.ifindex)
		if_indextoname(f->m.ifindex, dev);
	printf("%s{\"state\":\"%s\",\"type\":\"%s\",\"transport\":\"%s\",",
	       l->n ? "," : "[", states[f->m.state],
	       f->m.type == SOCK_STREAM ? "stream" : "message", f->info.transport);
	if (*role_of(f))
		printf("\"role\":\"%s\",", role_of(f));
	printf("\"local\":");
	print_json_string(address_text(&here, src));
	printf(",\"lport\":%u,\"peer\":", ntohs(f->m.sport));
	print_json_string(address_text(&there, dst));
	printf(",\"pport\":%u,", ntohs(f->m.dport));
	printf("\"recvq\":%u,\"sendq\":%u,\"uid\":%u,\"inode\":%u,\"mark\":%u,\"dev\":",
	       f->m.rqueue, f->m.wqueue, f->m.uid, f->m.inode, f->mark);
	print_json_string(dev);
	printf(",\"rmem\":%u,\"wmem\":%u", f->mem[SK_MEMINFO_RMEM_ALLOC],
	       f->mem[SK_MEMINFO_WMEM_QUEUED]);
	if (l->o->info)
		print_info(f);
	if (l->o->processes) {
		printf(",\"processes\":[");
		print_holders(f->m.inode);
		putchar(']');
	}
	putchar('}');
}

static void print_socket(const struct found *f, const struct listing *l)
{
	union address here, there;

	get_end(f, false, &here);
	get_end(f, true, &there);
	printf("%-8s %-7s %-8s %8u %8u", states[f->m.state],
	       f->m.type == SOCK_STREAM ? "stream" : "message", f->info.transport, f->m.rqueue,
	       f->m.wqueue);
	print_end(&here);
	print_end(&there);
	if (l->o->processes)
		print_holders(f->m.inode);
	if (l->o->info)
		print_info(f);
	putchar('\n');
}

/* Match the address, and the device if one is wanted. */
static bool fits_end(const union address *end, const union address *wanted)
{
	return address_same(end, wanted) &&
	       (!wanted->in6.sin6_scope_id ||
		wanted->in6.sin6_scope_id == end->in6.sin6_scope_id);
}

static bool fits(const struct found *f, const struct filter *filter)
{
	union address here, there;

	get_end(f, false, &here);
	get_end(f, true, &there);
	return (!filter->has_src || fits_end(&here, &filter->src)) &&
	       (!filter->has_dst || fits_end(&there, &filter->dst)) &&
	       (!filter->sport || filter->sport == ntohs(f->m.sport)) &&
	       (!filter->dport || filter->dport == ntohs(f->m.dport));
}

static int by_cookie(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(((struct ndp_diag_msg *)0)->cookie));
}

/*
 * Was the socket printed already?  When the kernel's table is resized a dump starts over, and
 * reports all sockets again.
 */
static bool is_again(const struct found *f, struct listing *l)
{
	void *cookie = malloc(sizeof(f->m.cookie)), **node;

	if (!cookie)
		err(EXIT_FAILURE, "memory");
	memcpy(cookie, f->m.cookie, sizeof(f->m.cookie));
	node = tsearch(cookie, &l->cookies, by_cookie);
	if (!node)
		err(EXIT_FAILURE, "memory");
	if (*node == cookie)
		return false;
	free(cookie);
	return true;
}

/* An attribute may be shorter or longer than in the header this was built with. */
static void copy_attribute(const struct nlattr *attr, void *to, size_t size)
{
	size_t len = mnl_attr_get_payload_len(attr);

	memcpy(to, mnl_attr_get_payload(attr), len < size ? len : size);
}

static int on_socket(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;
	struct listing *l = data;
	struct found f = { 0 };

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(f.m))
		return MNL_CB_OK;
	memcpy(&f.m, mnl_nlmsg_get_payload(nlh), sizeof(f.m));
	mnl_attr_for_each(attr, nlh, sizeof(f.m)) {
		switch (mnl_attr_get_type(attr)) {
		case NDP_DIAG_INFO:
			copy_attribute(attr, &f.info, sizeof(f.info));
			break;
		case NDP_DIAG_MEMINFO:
			copy_attribute(attr, f.mem, sizeof(f.mem));
			break;
		case NDP_DIAG_MARK:
			f.mark = mnl_attr_get_u32(attr);
			break;
		}
	}
	f.info.transport[sizeof(f.info.transport) - 1] = '\0';
	if (f.m.state >= N(states) || !fits(&f, l->filter) || is_again(&f, l))
		return MNL_CB_OK;
	if (json)
		print_socket_json(&f, l);
	else
		print_socket(&f, l);
	l->n++;
	return MNL_CB_OK;
}

/* The command line */

static unsigned int parse_state(const char *text)
{
	unsigned int i;

	for (i = 0; i < N(states); i++)
		if (!strcmp(text, states[i]))
			return 1 << i;
	if (!strcmp(text, "established"))
		return 1 << NDP_ST_ESTABLISHED;
	if (!strcmp(text, "all"))
		return ~0U;
	errx(EXIT_USAGE, "state \"%s\" is not one of close, listen, opening, estab, closing, all",
	     text);
}

/* Parse an address; an IPv4-mapped one is shown by the kernel as IPv4. */
static void parse_end(const char *what, const char *text, union address *a)
{
	union address parsed;

	if (!address_parse(text, &parsed))
		errx(EXIT_USAGE, "%s \"%s\" is not an IP address", what, text);
	*a = parsed;
	if (a->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr))
		address_from(a, &parsed.in6.sin6_addr.s6_addr[12], sizeof(a->in.sin_addr));
}

static void parse_filter(char **args, struct filter *filter, const struct options *o)
{
	if (o->listening)
		filter->states = 1 << NDP_ST_LISTEN;
	else if (!o->all)
		filter->states = ~(1U << NDP_ST_LISTEN);
	for (; *args; args += 2) {
		bool is_src = !strcmp(args[0], "src"), is_dst = !strcmp(args[0], "dst");

		if (!is_src && !is_dst && strcmp(args[0], "state") && strcmp(args[0], "sport") &&
		    strcmp(args[0], "dport"))
			errx(EXIT_USAGE, "what is \"%s\"? Try \"ndp help\"", args[0]);
		if (!args[1])
			errx(EXIT_USAGE, "%s needs a value", args[0]);
		if (!strcmp(args[0], "state"))
			filter->states = parse_state(args[1]);
		else if (!strcmp(args[0], "sport"))
			filter->sport = parse_port(args[1]);
		else if (!strcmp(args[0], "dport"))
			filter->dport = parse_port(args[1]);
		else
			parse_end(args[0], args[1], is_src ? &filter->src : &filter->dst);
		filter->has_src |= is_src;
		filter->has_dst |= is_dst;
	}
}

/**
 * do_socket - ndp socket [state STATE] [src ADDRESS] [dst ADDRESS] [sport PORT] [dport PORT]
 * @args: the words behind "socket"
 * @o:	-a, -l, -i and -p
 */
void do_socket(char **args, const struct options *o)
{
	struct filter filter = { .states = ~0U };
	struct listing l = { .filter = &filter, .o = o };
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ndp_diag_req *req;
	struct netlink g;

	parse_filter(args, &filter, o);
	/* If the module is not loaded there are no sockets, but the request may load it. */
	if (!netlink_open(&g, NETLINK_SOCK_DIAG))
		err(EXIT_FAILURE, "sock_diag");
	if (o->processes)
		find_holders();
	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	req = mnl_nlmsg_put_extra_header(nlh, sizeof(*req));
	req->sdiag_family = AF_NDP;
	req->states = filter.states;
	if (!json)
		printf("%-8s %-7s %-8s %8s %8s %*s %*s\n", "State", "Type", "Trans", "Recv-Q",
		       "Send-Q", END_WIDTH, "Local Address:Port", END_WIDTH,
		       "Peer Address:Port");
	if (netlink_talk(&g, nlh, on_socket, &l))
		errx(EXIT_FAILURE, "%s", errno == ENOENT ? "module ndp is not loaded" :
		     netlink_error());
	/* The list begins with the first socket, so nothing was printed if the dump was refused. */
	if (json)
		puts(l.n ? "]" : "[]");
	mnl_socket_close(g.nl);
	tdestroy(l.cookies, free);
	free(holders);
	holders = NULL;
	n_holders = 0;
}
