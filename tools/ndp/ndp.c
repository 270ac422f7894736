// SPDX-License-Identifier: GPL-2.0
/*
 * ndp: configure and watch AF_NDP in the current network namespace.
 *
 *   ndp path add|del|show	paths to a destination, by generic netlink
 *   ndp path live		hosts that connections go to, and the paths there (peer.c)
 *   ndp peer			those hosts, a line each (peer.c)
 *   ndp repair add|del|show	devices behind hardware that trims and leaves lengths wrong
 *   ndp dev			devices, and what waits in their pull queues (dev.c)
 *   ndp port			ports that trim, or could: qdiscs of sch_ndp (port.c)
 *   ndp socket			sockets, as ss has TCP's (socket.c)
 *   ndp stat			counters, from /proc/net/ndp_stat, and their rates (stat.c)
 *   ndp monitor		events, as they happen (monitor.c)
 *   ndp doctor			what is wrong here, or on the way to a host (doctor.c)
 *
 * The kernel decides what is allowed and reports why not (extended ACK); this program
 * checks only what it must parse.  ndp(8) is the manual.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/ndp_netlink.h>

#include "ndp.h"

/* Options that hold for all commands of a batch */
bool json;
static bool zeros;
static struct options options;

/* Most words in a line of a batch */
#define MAX_WORDS	64

static void usage(FILE *to)
{
	fputs("Usage: ndp path add DST[/LEN] [via ALIAS] [entropy PORT|random] [mark N]\n"
	      "       ndp path del DST[/LEN] [via ALIAS] [entropy PORT|random] [mark N]\n"
	      "       ndp [-j] path [show [DST[/LEN]]]\n"
	      "       ndp [-j] path [show] live [PEER]\n"
	      "       ndp [-j] peer [show] [PEER]\n"
	      "       ndp repair add|del DEVICE\n"
	      "       ndp [-j] repair [show]\n"
	      "       ndp [-j] dev [show] [DEVICE]\n"
	      "       ndp [-j] [-i] port [show] [DEVICE]\n"
	      "       ndp [-j] [-a|-l] [-i] [-p] socket [state STATE] [src ADDRESS] [dst ADDRESS]\n"
	      "                                         [sport PORT] [dport PORT]\n"
	      "       ndp [-j] [-z] [-w SECONDS [-c COUNT]] stat [NAME...]\n"
	      "       ndp [-j] [-t] monitor [open] [close] [path] [timeout] [flood]\n"
	      "       ndp [-j] doctor [HOST [PORT]]\n"
	      "       ndp -b FILE\n"
	      "       ndp help\n"
	      "\n"
	      "  path add   send to DST by this path too\n"
	      "  path del   stop that; without a path, delete all paths to DST\n"
	      "  path live  paths to each host: packets acknowledged, trimmed, lost; left out or not\n"
	      "  peer       hosts, and the number of paths in use to each\n"
	      "  repair     devices that receive trimmed packets whose length fields are not updated\n"
	      "  dev        devices: rate of pulls, connections that wait for their turn\n"
	      "  port       qdiscs of sch_ndp: queued, trimmed, bounced, dropped; -i: all counters\n"
	      "  socket     connections; -l: listeners, -a: both, -i: all of NDP_INFO, -p: processes\n"
	      "  stat       nonzero counters of this network namespace\n"
	      "             -w: their growth per interval of SECONDS, -c: COUNT times\n"
	      "  monitor    events as they happen, all or the named kinds; -t: with time stamps\n"
	      "  doctor     find what is wrong with this host, or the path to HOST, and how to fix it\n"
	      "  -b         run the commands in FILE, one per line (- for standard input)\n"
	      "  -j         JSON output; with -p, one value per line\n"
	      "  -z         also counters that are 0\n"
	      "  -V         print the version\n"
	      "\n"
	      "  via        alias address of the same host, or an alias prefix for DST\n"
	      "  entropy    UDP source port, 49152 to 65535, or random: drawn per connection\n"
	      "  mark       routing mark\n", to);
}

/* @base: 10, or 0 for the number formats of C */
unsigned long parse_number(const char *what, const char *text, int base,
			   unsigned long max)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, base);
	if (errno || end == text || *end || *text == '-' || value > max)
		errx(EXIT_USAGE, "%s \"%s\" is not a number up to %lu", what,
		     text, max);
	return value;
}

/* Parse an NDP port; decimal, as everywhere. */
unsigned int parse_port(const char *text)
{
	unsigned long port = parse_number("port", text, 10, USHRT_MAX);

	if (!port)
		errx(EXIT_USAGE, "port \"%s\" is not a number from 1 to 65535", text);
	return port;
}

void parse_address(const char *what, const char *text, union address *addr)
{
	if (!address_parse(text, addr))
		errx(EXIT_USAGE, "%s \"%s\" is not an IP address", what, text);
}

/* No words may follow. */
void no_more(char **args)
{
	if (*args)
		errx(EXIT_USAGE, "what is \"%s\"? Try \"ndp help\"", *args);
}

/* Parse [show] [DEVICE].  Return: the device's name, NULL for all. */
const char *only_device(char **args)
{
	if (*args && (!strcmp(*args, "show") || !strcmp(*args, "list")))
		args++;
	if (!*args)
		return NULL;
	if (!if_nametoindex(*args))
		errx(EXIT_FAILURE, "device \"%s\": %s", *args, strerror(errno));
	no_more(args + 1);
	return *args;
}

static unsigned int address_bits(const union address *addr)
{
	return addr->any.sa_family == AF_INET6 ? 128 : 32;
}

static void parse_dst(const char *text, struct path *p)
{
	char copy[ADDRESS_TEXT + 4];
	char *slash;

	if (strlen(text) >= sizeof(copy))
		errx(EXIT_USAGE, "destination \"%s\" is not an IP prefix", text);
	memcpy(copy, text, strlen(text) + 1);
	slash = strchr(copy, '/');
	if (slash)
		*slash++ = '\0';
	parse_address("destination", copy, &p->dst);
	p->plen = address_bits(&p->dst);
	if (slash)
		p->plen = parse_number("prefix length", slash, 0, p->plen);
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
				p->entropy = parse_number("entropy", args[1], 0,
							  USHRT_MAX);
			p->has_entropy = true;
		} else {
			p->mark = parse_number("mark", args[1], 0, UINT_MAX);
			p->has_mark = true;
		}
	}
}

static void put_address(struct nlmsghdr *nlh, int attr, const union address *a)
{
	size_t len;
	const void *bytes = address_bytes(a, &len);

	mnl_attr_put(nlh, attr, len, bytes);
}

void get_address(const struct nlattr *attr, union address *a)
{
	if (!address_from(a, mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr)))
		errx(EXIT_FAILURE, "an address that is none");
}

void open_ndp(struct netlink *g)
{
	if (!genl_open(g))
		errx(EXIT_FAILURE, "%s", netlink_error());
}

static void path_change(__u8 cmd, char **args)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct path p = { 0 };
	struct nlmsghdr *nlh;
	struct netlink g;

	parse_path(args, &p);
	open_ndp(&g);
	nlh = genl_request(buf, g.family, NLM_F_ACK, cmd, NDP_GENL_VERSION);
	put_address(nlh, NDP_A_DST, &p.dst);
	mnl_attr_put_u8(nlh, NDP_A_PREFIX, p.plen);
	if (p.has_via)
		put_address(nlh, NDP_A_VIA, &p.via);
	if (p.has_entropy)
		mnl_attr_put_u16(nlh, NDP_A_ENTROPY, p.entropy);
	if (p.has_mark)
		mnl_attr_put_u32(nlh, NDP_A_MARK, p.mark);
	if (netlink_talk(&g, nlh, NULL, NULL))
		errx(EXIT_FAILURE, "%s", netlink_error());
	mnl_socket_close(g.nl);
}

void read_path(const struct nlmsghdr *nlh, struct path *p)
{
	const struct nlattr *attr;

	memset(p, 0, sizeof(*p));
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case NDP_A_DST:
			get_address(attr, &p->dst);
			break;
		case NDP_A_PREFIX:
			p->plen = mnl_attr_get_u8(attr);
			break;
		case NDP_A_VIA:
			get_address(attr, &p->via);
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
	char addr[ADDRESS_TEXT];

	printf("%s{\"dst\":\"%s\",\"prefixlen\":%u", first ? "[" : ",",
	       address_text(&p->dst, addr), p->plen);
	if (p->has_via)
		printf(",\"via\":\"%s\"",
		       address_text(&p->via, addr));
	printf(",\"entropy\":%u", p->entropy);
	if (p->has_mark)
		printf(",\"mark\":%u", p->mark);
	putchar('}');
}

static void print_path(const struct path *p)
{
	char addr[ADDRESS_TEXT];

	fputs(address_text(&p->dst, addr), stdout);
	if (p->plen != address_bits(&p->dst))
		printf("/%u", p->plen);
	if (p->has_via)
		printf(" via %s",
		       address_text(&p->via, addr));
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
	if (!s->all && (!address_same(&p.dst, &s->only.dst) ||
			p.plen != s->only.plen))
		return MNL_CB_OK;
	if (json)
		print_path_json(&p, !s->n);
	else
		print_path(&p);
	s->n++;
	return MNL_CB_OK;
}

void dump(__u8 cmd, mnl_cb_t print, struct shown *s)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh;
	struct netlink g;

	open_ndp(&g);
	nlh = genl_request(buf, g.family, NLM_F_DUMP, cmd, NDP_GENL_VERSION);
	if (netlink_dump(&g, nlh, print, s))
		errx(EXIT_FAILURE, "%s", netlink_error());
	if (s->end)
		s->end(s);
	/* The first message has printed "["; without one print it here. */
	if (json)
		printf("%s%s]\n", s->n ? "" : "[", s->tail ? s->tail : "");
	mnl_socket_close(g.nl);
}

static void path_show(char **args)
{
	struct shown s = { .all = !*args };

	if (*args) {
		parse_dst(*args, &s.only);
		no_more(args + 1);
	}
	dump(NDP_CMD_PATH_GET, on_path, &s);
}

/* Devices that repair lengths */

static void repair_change(__u8 cmd, char **args)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh;
	unsigned int ifindex;
	struct netlink g;

	if (!*args)
		errx(EXIT_USAGE, "a device is needed");
	no_more(args + 1);
	ifindex = if_nametoindex(*args);
	if (!ifindex)
		errx(EXIT_FAILURE, "device \"%s\": %s", *args, strerror(errno));
	open_ndp(&g);
	nlh = genl_request(buf, g.family, NLM_F_ACK, cmd, NDP_GENL_VERSION);
	mnl_attr_put_u32(nlh, NDP_A_IFINDEX, ifindex);
	if (netlink_talk(&g, nlh, NULL, NULL))
		errx(EXIT_FAILURE, "%s", netlink_error());
	mnl_socket_close(g.nl);
}

static int on_repair(const struct nlmsghdr *nlh, void *data)
{
	struct shown *s = data;
	const struct nlattr *attr;
	char name[IF_NAMESIZE];

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) != NDP_A_IFINDEX ||
		    !if_indextoname(mnl_attr_get_u32(attr), name))
			continue;
		if (json) {
			putchar(s->n ? ',' : '[');
			print_json_string(name);
		} else {
			print_text(name);
			putchar('\n');
		}
		s->n++;
	}
	return MNL_CB_OK;
}

static void do_repair(char **args)
{
	struct shown s = { .all = true };

	if (!*args || !strcmp(*args, "show") || !strcmp(*args, "list"))
		dump(NDP_CMD_REPAIR_GET, on_repair, &s);
	else if (!strcmp(*args, "add"))
		repair_change(NDP_CMD_REPAIR_ADD, args + 1);
	else if (!strcmp(*args, "del") || !strcmp(*args, "delete"))
		repair_change(NDP_CMD_REPAIR_DEL, args + 1);
	else
		errx(EXIT_USAGE, "ndp repair: what is \"%s\"? Try \"ndp help\"",
		     *args);
}

static void do_path(char **args)
{
	if (*args && args[1] && !strcmp(*args, "show") && !strcmp(args[1], "live"))
		args++;
	if (!*args || !strcmp(*args, "show") || !strcmp(*args, "list"))
		path_show(*args ? args + 1 : args);
	else if (!strcmp(*args, "live"))
		path_live(args + 1);
	else if (!strcmp(*args, "add"))
		path_change(NDP_CMD_PATH_ADD, args + 1);
	else if (!strcmp(*args, "del") || !strcmp(*args, "delete"))
		path_change(NDP_CMD_PATH_DEL, args + 1);
	else
		errx(EXIT_USAGE, "ndp path: what is \"%s\"? Try \"ndp help\"",
		     *args);
}

/* -w and -c of ndp stat, -t of ndp monitor */
static double interval;
static unsigned long count;
static bool times;

static double parse_seconds(const char *text)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	if (end == text || *end || !(seconds >= 0.001 && seconds <= 1e6))
		errx(EXIT_USAGE, "interval \"%s\" is not a number of seconds from 0.001 to 1000000",
		     text);
	return seconds;
}

static unsigned long parse_count(const char *text)
{
	unsigned long n = parse_number("count", text, 10, UINT_MAX);

	if (!n)
		errx(EXIT_USAGE, "count \"%s\" is not a number from 1 on", text);
	return n;
}

static void do_command(char **args)
{
	if (!strcmp(*args, "path"))
		do_path(args + 1);
	else if (!strcmp(*args, "peer"))
		do_peer(args + 1);
	else if (!strcmp(*args, "dev"))
		do_dev(args + 1);
	else if (!strcmp(*args, "port"))
		do_port(args + 1, &options);
	else if (!strcmp(*args, "monitor"))
		do_monitor(args + 1, times);
	else if (!strcmp(*args, "repair"))
		do_repair(args + 1);
	else if (!strcmp(*args, "stat") && interval)
		do_stat_rates(args + 1, zeros, interval, count);
	else if (!strcmp(*args, "stat"))
		do_stat(args + 1, zeros);
	else if (!strcmp(*args, "socket"))
		do_socket(args + 1, &options);
	else if (!strcmp(*args, "doctor"))
		do_doctor(args + 1);
	else if (!strcmp(*args, "help"))
		usage(stdout);
	else
		errx(EXIT_USAGE, "what is \"%s\"? Try \"ndp help\"", *args);
}

/* Position in a batch, for error messages. */
static const char *batch_name;
static unsigned int batch_line;

static void batch_ended(int code, void *unused)
{
	if (code)
		fprintf(stderr, "%s: line %u: not done, nor what follows\n",
			batch_name, batch_line);
}

static void do_batch(const char *name)
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
			do_command(args);
	}
	free(line);
	fclose(f);
}

int main(int argc, char **argv)
{
	static const struct option words[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "batch", required_argument, NULL, 'b' },
		{ "count", required_argument, NULL, 'c' },
		{ "info", no_argument, NULL, 'i' },
		{ "json", no_argument, NULL, 'j' },
		{ "listening", no_argument, NULL, 'l' },
		{ "numeric", no_argument, NULL, 'n' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "processes", no_argument, NULL, 'p' },
		{ "timestamp", no_argument, NULL, 't' },
		{ "interval", required_argument, NULL, 'w' },
		{ "zeros", no_argument, NULL, 'z' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	const char *batch = NULL;
	int c;

	/* Options may stand anywhere. */
	while ((c = getopt_long(argc, argv, "ab:c:hijlnptVw:z", words, NULL)) != -1) {
		switch (c) {
		case 'a':
			options.all = true;
			break;
		case 'b':
			batch = optarg;
			break;
		case 'c':
			count = parse_count(optarg);
			break;
		case 'i':
			options.info = true;
			break;
		case 'l':
			options.listening = true;
			break;
		case 'n':
			/* Ignored: only numbers are printed. */
			break;
		case 'p':
			options.processes = true;
			break;
		case 'j':
			json = true;
			break;
		case 't':
			times = true;
			break;
		case 'w':
			interval = parse_seconds(optarg);
			break;
		case 'z':
			zeros = true;
			break;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		case 'V':
			puts("ndp " VERSION);
			return EXIT_SUCCESS;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (count && !interval)
		errx(EXIT_USAGE, "-c says how often -w is done, and needs it");
	argv += optind;
	if (!*argv == !batch) {
		usage(stderr);
		return EXIT_USAGE;
	}
	/* With JSON, -p has the meaning that it has in ip, too. */
	if (json && options.processes)
		print_pretty();
	if (batch)
		do_batch(batch);
	else
		do_command(argv);
	if (fflush(stdout) || ferror(stdout))
		errx(EXIT_FAILURE, "cannot write: %m");
	return EXIT_SUCCESS;
}
