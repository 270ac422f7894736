// SPDX-License-Identifier: GPL-2.0
/*
 * ndp: configure and watch AF_NDP in the network namespace that one is in.
 *
 *   ndp path add|del|show	paths to a destination, by generic netlink
 *   ndp stat			counters, from /proc/net/ndp_stat
 *
 * The kernel decides what is allowed and says why not (extended ACK); this
 * program checks only what it must read.  ndp(8) is the manual.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/ndp.h>

#ifndef NETLINK_EXT_ACK
#define NETLINK_EXT_ACK 11
#endif

#define EXIT_USAGE 2

#define STAT_FILE "/proc/net/ndp_stat"

static bool json;

/* In a line of a batch. */
#define MAX_WORDS	64

static void usage(FILE *to)
{
	fputs("Usage: ndp path add DST[/LEN] [via ALIAS] [entropy PORT|random] [mark N]\n"
	      "       ndp path del DST[/LEN] [via ALIAS] [entropy PORT|random] [mark N]\n"
	      "       ndp [-j] path [show [DST[/LEN]]]\n"
	      "       ndp [-j] [-z] stat [NAME...]\n"
	      "       ndp -b FILE\n"
	      "       ndp help\n"
	      "\n"
	      "  path add   send to DST over this path as well\n"
	      "  path del   no longer; without a path, all of DST's\n"
	      "  stat       counters of this network namespace that are not 0\n"
	      "  -b         a command per line of FILE (- for standard input)\n"
	      "  -j         JSON\n"
	      "  -z         counters that are 0, too\n"
	      "\n"
	      "  via        alias address of the same host, or the prefix in DST's place\n"
	      "  entropy    UDP source port, 49152 to 65535, or one drawn per connection\n"
	      "  mark       routing mark\n", to);
}

/* A path as on the command line or in a dump. */
struct path {
	struct in_addr	dst;
	struct in_addr	via;
	__u32	mark;
	__u16	entropy;
	__u8		plen;
	bool		has_via;
	bool		has_entropy;
	bool		has_mark;
};

static unsigned long parse_number(const char *what, const char *text,
				  unsigned long max)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || value > max)
		errx(EXIT_USAGE, "%s \"%s\" is not a number up to %lu", what,
		     text, max);
	return value;
}

static void parse_address(const char *what, const char *text, struct in_addr *addr)
{
	if (inet_pton(AF_INET, text, addr) != 1)
		errx(EXIT_USAGE, "%s \"%s\" is not an IPv4 address", what, text);
}

static void parse_dst(const char *text, struct path *p)
{
	char copy[INET_ADDRSTRLEN + 4];
	char *slash;

	if (strlen(text) >= sizeof(copy))
		errx(EXIT_USAGE, "destination \"%s\" is not an IPv4 prefix", text);
	memcpy(copy, text, strlen(text) + 1);
	p->plen = 32;
	slash = strchr(copy, '/');
	if (slash) {
		*slash = '\0';
		p->plen = parse_number("prefix length", slash + 1, 32);
	}
	parse_address("destination", copy, &p->dst);
}

static void parse_path(char **args, struct path *p)
{
	if (!*args)
		errx(EXIT_USAGE, "a destination is needed");
	parse_dst(*args++, p);
	for (; *args; args += 2) {
		if (strcmp(args[0], "via") && strcmp(args[0], "entropy") &&
		    strcmp(args[0], "mark"))
			errx(EXIT_USAGE, "what is \"%s\"? Try \"ndp help\"",
			     args[0]);
		if (!args[1])
			errx(EXIT_USAGE, "%s needs a value", args[0]);
		if (!strcmp(args[0], "via")) {
			parse_address("alias", args[1], &p->via);
			p->has_via = true;
		} else if (!strcmp(args[0], "entropy")) {
			if (strcmp(args[1], "random"))
				p->entropy = parse_number("entropy", args[1],
							  USHRT_MAX);
			p->has_entropy = true;
		} else {
			p->mark = parse_number("mark", args[1], UINT_MAX);
			p->has_mark = true;
		}
	}
}

/* Netlink */

struct genl {
	struct mnl_socket *nl;
	__u16 family;
	__u32 seq;
};

static const char *nl_message(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	unsigned int off = sizeof(*err);
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		off += mnl_nlmsg_get_payload_len(nlh) > off ?
		       err->msg.nlmsg_len - sizeof(err->msg) : 0;
	mnl_attr_for_each(attr, nlh, off)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
			return mnl_attr_get_str(attr);
	return NULL;
}

static int on_error(const struct nlmsghdr *nlh, void *data)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	const char *text;

	if (!err->error)
		return MNL_CB_STOP;
	text = nl_message(nlh);
	if (text)
		errx(EXIT_FAILURE, "%s (%s)", text, strerror(-err->error));
	errno = -err->error;
	return MNL_CB_ERROR;
}

/* No longer than this: libmnl handles what lies beyond, NLMSG_DONE. */
static mnl_cb_t control_cbs[] = {
	[NLMSG_ERROR] = on_error,
};

/* Send and handle all answers.  Return: 0 or -1 with errno set. */
static int genl_talk(struct genl *g, struct nlmsghdr *nlh, mnl_cb_t cb,
		     void *data)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	unsigned int port = mnl_socket_get_portid(g->nl);
	int n;

	nlh->nlmsg_seq = ++g->seq;
	if (mnl_socket_sendto(g->nl, nlh, nlh->nlmsg_len) < 0)
		return -1;
	do {
		n = mnl_socket_recvfrom(g->nl, buf, sizeof(buf));
		if (n < 0)
			return -1;
		n = mnl_cb_run2(buf, n, g->seq, port, cb, data, control_cbs,
				MNL_ARRAY_SIZE(control_cbs));
		if (n < 0)
			return -1;
	} while (n > MNL_CB_STOP);
	return 0;
}

static struct nlmsghdr *genl_request(void *buf, __u16 type, __u16 flags,
				     __u8 cmd, __u8 version)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *gh;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	gh = mnl_nlmsg_put_extra_header(nlh, sizeof(*gh));
	gh->cmd = cmd;
	gh->version = version;
	return nlh;
}

static int on_family(const struct nlmsghdr *nlh, void *data)
{
	struct genl *g = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			g->family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

/* Asking for the family loads the module. */
static void genl_open(struct genl *g)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh;
	int one = 1;

	memset(g, 0, sizeof(*g));
	g->seq = time(NULL);
	g->nl = mnl_socket_open(NETLINK_GENERIC);
	if (!g->nl || mnl_socket_bind(g->nl, 0, MNL_SOCKET_AUTOPID) < 0)
		errx(EXIT_FAILURE, "netlink: %s", strerror(errno));
	mnl_socket_setsockopt(g->nl, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(g->nl, NETLINK_CAP_ACK, &one, sizeof(one));

	nlh = genl_request(buf, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, 1);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, NDP_GENL_NAME);
	if (genl_talk(g, nlh, on_family, g) || !g->family)
		errx(EXIT_FAILURE, "the kernel has no AF_NDP: %s",
		     errno == ENOENT ? "module ndp is not loaded" :
				      strerror(errno));
}

static void path_change(__u8 cmd, char **args)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct path p = { 0 };
	struct nlmsghdr *nlh;
	struct genl g;

	parse_path(args, &p);
	genl_open(&g);
	nlh = genl_request(buf, g.family, NLM_F_ACK, cmd, NDP_GENL_VERSION);
	mnl_attr_put_u32(nlh, NDP_A_DST, p.dst.s_addr);
	mnl_attr_put_u8(nlh, NDP_A_PREFIX, p.plen);
	if (p.has_via)
		mnl_attr_put_u32(nlh, NDP_A_VIA, p.via.s_addr);
	if (p.has_entropy)
		mnl_attr_put_u16(nlh, NDP_A_ENTROPY, p.entropy);
	if (p.has_mark)
		mnl_attr_put_u32(nlh, NDP_A_MARK, p.mark);
	if (genl_talk(&g, nlh, NULL, NULL))
		errx(EXIT_FAILURE, "%s", strerror(errno));
	mnl_socket_close(g.nl);
}

/* What a dump is shown of, and how far it is. */
struct shown {
	struct path	only;
	bool		all;
	unsigned int	n;
};

static void read_path(const struct nlmsghdr *nlh, struct path *p)
{
	const struct nlattr *attr;

	memset(p, 0, sizeof(*p));
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case NDP_A_DST:
			p->dst.s_addr = mnl_attr_get_u32(attr);
			break;
		case NDP_A_PREFIX:
			p->plen = mnl_attr_get_u8(attr);
			break;
		case NDP_A_VIA:
			p->via.s_addr = mnl_attr_get_u32(attr);
			p->has_via = true;
			break;
		case NDP_A_ENTROPY:
			p->entropy = mnl_attr_get_u16(attr);
			break;
		case NDP_A_MARK:
			p->mark = mnl_attr_get_u32(attr);
			p->has_mark = true;
			break;
		}
	}
}

static void print_path_json(const struct path *p, bool first)
{
	char addr[INET_ADDRSTRLEN];

	printf("%s{\"dst\":\"%s\",\"prefixlen\":%u", first ? "" : ",",
	       inet_ntop(AF_INET, &p->dst, addr, sizeof(addr)), p->plen);
	if (p->has_via)
		printf(",\"via\":\"%s\"",
		       inet_ntop(AF_INET, &p->via, addr, sizeof(addr)));
	printf(",\"entropy\":%u", p->entropy);
	if (p->has_mark)
		printf(",\"mark\":%u", p->mark);
	putchar('}');
}

static void print_path(const struct path *p)
{
	char addr[INET_ADDRSTRLEN];

	fputs(inet_ntop(AF_INET, &p->dst, addr, sizeof(addr)), stdout);
	if (p->plen != 32)
		printf("/%u", p->plen);
	if (p->has_via)
		printf(" via %s",
		       inet_ntop(AF_INET, &p->via, addr, sizeof(addr)));
	if (p->entropy)
		printf(" entropy %u", p->entropy);
	else
		fputs(" entropy random", stdout);
	if (p->has_mark)
		printf(" mark %u", p->mark);
	putchar('\n');
}

static int on_path(const struct nlmsghdr *nlh, void *data)
{
	struct shown *s = data;
	struct path p;

	read_path(nlh, &p);
	if (!s->all && (p.dst.s_addr != s->only.dst.s_addr ||
			p.plen != s->only.plen))
		return MNL_CB_OK;
	if (json)
		print_path_json(&p, !s->n);
	else
		print_path(&p);
	s->n++;
	return MNL_CB_OK;
}

static void path_show(char **args)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct shown s = { .all = !*args };
	struct nlmsghdr *nlh;
	struct genl g;

	if (*args) {
		parse_dst(*args, &s.only);
		if (args[1])
			errx(EXIT_USAGE, "what is \"%s\"? Try \"ndp help\"",
			     args[1]);
	}
	genl_open(&g);
	nlh = genl_request(buf, g.family, NLM_F_DUMP, NDP_CMD_PATH_GET,
			   NDP_GENL_VERSION);
	if (json)
		putchar('[');
	if (genl_talk(&g, nlh, on_path, &s))
		errx(EXIT_FAILURE, "%s", strerror(errno));
	if (json)
		puts("]");
	mnl_socket_close(g.nl);
}

static void do_path(char **args)
{
	if (!*args || !strcmp(*args, "show") || !strcmp(*args, "list"))
		path_show(*args ? args + 1 : args);
	else if (!strcmp(*args, "add"))
		path_change(NDP_CMD_PATH_ADD, args + 1);
	else if (!strcmp(*args, "del") || !strcmp(*args, "delete"))
		path_change(NDP_CMD_PATH_DEL, args + 1);
	else
		errx(EXIT_USAGE, "ndp path: what is \"%s\"? Try \"ndp help\"",
		     *args);
}

static bool wanted(char **names, const char *name)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

static void print_stats(FILE *f, char **names, bool zeros)
{
	unsigned int n = 0;
	long long value;
	char name[64];

	if (json)
		putchar('{');
	while (fscanf(f, "%63s %lld", name, &value) == 2) {
		/* What was asked for by name is shown whatever it is. */
		if (!wanted(names, name) || (!value && !zeros && !*names))
			continue;
		if (json)
			printf("%s\"%s\":%lld", n ? "," : "", name, value);
		else
			printf("%-20s %lld\n", name, value);
		n++;
	}
	if (json)
		puts("}");
	if (*names && !n)
		errx(EXIT_FAILURE, "no counter has that name");
}

static void do_stat(char **args, bool zeros)
{
	FILE *f = fopen(STAT_FILE, "r");

	if (!f)
		errx(EXIT_FAILURE, errno == ENOENT ?
		    "module ndp is not loaded" : STAT_FILE ": %m");
	print_stats(f, args, zeros);
	fclose(f);
}

static void do_command(char **args, bool zeros)
{
	if (!strcmp(*args, "path"))
		do_path(args + 1);
	else if (!strcmp(*args, "stat"))
		do_stat(args + 1, zeros);
	else if (!strcmp(*args, "help"))
		usage(stdout);
	else
		errx(EXIT_USAGE, "what is \"%s\"? Try \"ndp help\"", *args);
}

/* Where a batch is, for who must find what was wrong. */
static const char *batch_name;
static unsigned int batch_line;

static void batch_ended(int code, void *unused)
{
	if (code)
		fprintf(stderr, "%s: line %u: not done, nor what follows\n",
			batch_name, batch_line);
}

static void do_batch(const char *name, bool zeros)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "r") : stdin;
	char *args[MAX_WORDS + 1], *line = NULL;
	size_t size = 0;
	int n;

	if (!f)
		err(EXIT_FAILURE, "%s", name);
	batch_name = name;
	on_exit(batch_ended, NULL);
	while (getline(&line, &size, f) >= 0) {
		batch_line++;
		n = 0;
		args[n] = strtok(line, " \t\n");
		while (args[n] && n < MAX_WORDS)
			args[++n] = strtok(NULL, " \t\n");
		args[n] = NULL;
		if (n && *args[0] != '#')
			do_command(args, zeros);
	}
	free(line);
	fclose(f);
}

int main(int argc, char **argv)
{
	const char *batch = NULL;
	bool zeros = false;
	int c;

	/* Options may stand anywhere. */
	while ((c = getopt(argc, argv, "b:jzh")) != -1) {
		switch (c) {
		case 'b':
			batch = optarg;
			break;
		case 'j':
			json = true;
			break;
		case 'z':
			zeros = true;
			break;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	argv += optind;
	if (!*argv == !batch) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (batch)
		do_batch(batch, zeros);
	else
		do_command(argv, zeros);
	if (fflush(stdout) || ferror(stdout))
		errx(EXIT_FAILURE, "cannot write: %m");
	return EXIT_SUCCESS;
}
