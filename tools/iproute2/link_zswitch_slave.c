// SPDX-License-Identifier: GPL-2.0
/*
 * ip link set PORT type zswitch_slave ...: plugin for the distribution's ip, for the ports
 * of a lossless virtual switch.
 */
#include <net/if.h>
#include <stdlib.h>
#include "zswitch_stats.h"

/* Ports that fit into ip's message */
#define MAX_ALLOWED	128
/* Most ports of a switch, the host's included */
#define MAX_SHOWN	513

static const struct {
	const char *name;
	int attr;
} flags[] = {
	{ "learning", IFLA_ZSWITCH_PORT_LEARNING },
	{ "guard", IFLA_ZSWITCH_PORT_GUARD },
	{ "flood", IFLA_ZSWITCH_PORT_FLOOD },
	{ "fabric", IFLA_ZSWITCH_PORT_FABRIC },
};

static void print_explain(FILE *f)
{
	fprintf(f, "Usage: ip link set PORT type zswitch_slave [ OPTIONS ]\n\n"
		   "weight N		1 to 255, share of an output among inputs (1)\n"
		   "learning on|off	learn source addresses (on)\n"
		   "guard on|off	accept only frames from static addresses of this port (off)\n"
		   "flood on|off	flood frames to unknown addresses by this port too (on)\n"
		   "fabric on|off	the wire leads to switches with fabric on (off)\n"
		   "allow all|none|PORT[,PORT]...	which ports may send to this one (all)\n");
}

/* Parse names of ports, separated by commas. */
static int parse_allow(char *arg, struct nlmsghdr *n)
{
	__u32 list[MAX_ALLOWED];
	unsigned int num = 0;
	char *name, *rest = arg;

	if (!strcmp(arg, "none"))
		return addattr_l(n, MAXLEN, IFLA_ZSWITCH_PORT_ALLOW, "", 0);
	if (!strcmp(arg, "all"))
		return addattr32(n, MAXLEN, IFLA_ZSWITCH_PORT_ALLOW, 0);
	while ((name = strsep(&rest, ","))) {
		if (num == MAX_ALLOWED) {
			fprintf(stderr, "zswitch_slave: allow takes %d ports at most\n",
				MAX_ALLOWED);
			return -1;
		}
		list[num] = if_nametoindex(name);
		if (!list[num++]) {
			fprintf(stderr, "zswitch_slave: there is no device \"%s\"\n", name);
			return -1;
		}
	}
	return addattr_l(n, MAXLEN, IFLA_ZSWITCH_PORT_ALLOW, list, num * sizeof(*list));
}

/* Print the list so that it can be used as input. */
static void print_allow(const struct rtattr *attr)
{
	unsigned int i, num = RTA_PAYLOAD(attr) / sizeof(__u32);
	char names[MAX_SHOWN * IF_NAMESIZE] = "none", *end = names;
	const __u32 *list = RTA_DATA(attr);

	for (i = 0; i < num && i < MAX_SHOWN; i++) {
		if (i)
			*end++ = ',';
		if (!list[i])
			snprintf(end, IF_NAMESIZE, "all");
		else if (!if_indextoname(list[i], end))
			snprintf(end, IF_NAMESIZE, "if%u", list[i]);
		end += strlen(end);
	}
	print_string(PRINT_ANY, "allow", "allow %s ", names);
}

static int parse_option(const char *opt, const char *arg, struct nlmsghdr *n)
{
	unsigned int val;
	size_t i;

	if (!strcmp(opt, "weight")) {
		if (!get_unsigned(&val, arg, 0) && val >= 1 && val <= ZSWITCH_WEIGHT_MAX)
			return addattr8(n, MAXLEN, IFLA_ZSWITCH_PORT_WEIGHT, val);
		fprintf(stderr, "zswitch_slave: weight is 1 to 255, not \"%s\"\n", arg);
		return -1;
	}
	if (!strcmp(opt, "allow")) {
		char *list = strdup(arg);
		int err = list ? parse_allow(list, n) : -1;

		free(list);
		return err;
	}
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		if (strcmp(opt, flags[i].name))
			continue;
		if (!strcmp(arg, "on") || !strcmp(arg, "off"))
			return addattr8(n, MAXLEN, flags[i].attr, !strcmp(arg, "on"));
		fprintf(stderr, "zswitch_slave: %s is on or off, not \"%s\"\n", opt, arg);
		return -1;
	}
	return 1;
}

static int slave_parse_opt(struct link_util *lu, int argc, char **argv, struct nlmsghdr *n)
{
	return parse_options("zswitch_slave", argc, argv, n, parse_option, print_explain);
}

static void print_bytes(const char *name, const struct rtattr *attr)
{
	__u32 bytes[ZSWITCH_PRIOS];
	__u64 sum = 0;
	int i;

	if (!attr || RTA_PAYLOAD(attr) < sizeof(bytes))
		return;
	memcpy(bytes, RTA_DATA(attr), sizeof(bytes));
	for (i = 0; i < ZSWITCH_PRIOS; i++)
		sum += bytes[i];
	print_number(name, sum);
}

static void slave_print_opt(struct link_util *lu, FILE *f, struct rtattr *tb[])
{
	__u64 val;
	size_t i;

	if (!tb)
		return;
	if (get_number(tb[IFLA_ZSWITCH_PORT_VIRTUAL], &val))
		print_string(PRINT_ANY, "port", "%s ", val ? "virtual" : "wire");
	if (get_number(tb[IFLA_ZSWITCH_PORT_CEE], &val) && val)
		print_string(PRINT_ANY, "qdisc", "%s ", "cee");
	if (get_number(tb[IFLA_ZSWITCH_PORT_WEIGHT], &val))
		print_number("weight", val);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		if (!get_number(tb[flags[i].attr], &val))
			continue;
		print_string(PRINT_FP, NULL, "%s ", flags[i].name);
		print_string(PRINT_ANY, flags[i].name, "%s ", val ? "on" : "off");
	}
	if (tb[IFLA_ZSWITCH_PORT_ALLOW])
		print_allow(tb[IFLA_ZSWITCH_PORT_ALLOW]);
	print_bytes("waiting", tb[IFLA_ZSWITCH_PORT_WAITING]);
	print_bytes("backlog", tb[IFLA_ZSWITCH_PORT_BACKLOG]);
	if (get_number(tb[IFLA_ZSWITCH_PORT_HELD], &val))
		print_number("held", val);
	if (get_number(tb[IFLA_ZSWITCH_PORT_CREDIT], &val))
		print_number("credit", val);
	if (show_stats)
		print_counters(tb[IFLA_ZSWITCH_PORT_STATS]);
}

static void slave_print_help(struct link_util *lu, int argc, char **argv, FILE *f)
{
	print_explain(f);
}

struct link_util zswitch_slave_link_util = {
	.id		= "zswitch_slave",
	.maxattr	= IFLA_ZSWITCH_PORT_MAX,
	.parse_opt	= slave_parse_opt,
	.print_opt	= slave_print_opt,
	.print_help	= slave_print_help,
};
