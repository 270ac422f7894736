// SPDX-License-Identifier: GPL-2.0
/*
 * ip link ... type zbridge: plugin for the distribution's ip.
 *
 * The output of `ip -d link` can be used as input; counters are shown with -s.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <linux/zbridge.h>
#include "counters.h"

static const struct {
	const char *name;
	int attr;
	const char *meaning;
} numbers[] = {
	{ "id", IFLA_ZBRIDGE_ID, "network, 0 to 16777215" },
	{ "buffer", IFLA_ZBRIDGE_BUFFER,
	  "unacknowledged frames per flow, 16 to 65536 (0: from dev's speed)" },
	{ "ask", IFLA_ZBRIDGE_ASK,
	  "frames between requests for an ACK (0: half of buffer, at most 64)" },
	{ "memory", IFLA_ZBRIDGE_MEMORY, "memory for unacknowledged frames, bytes (67108864)" },
};

static const struct {
	const char *name;
	int attr;
	const char *meaning;
} flags[] = {
	{ "learning", IFLA_ZBRIDGE_LEARNING,
	  "learn addresses, and accept flows from any host (on)" },
	{ "spread", IFLA_ZBRIDGE_SPREAD, "packets of a flow may take many paths (off)" },
};

static const char * const counter_names[__ZBRIDGE_STAT_MAX] = {
	[ZBRIDGE_STAT_TAKEN]		= "taken",
	[ZBRIDGE_STAT_SENT]		= "sent",
	[ZBRIDGE_STAT_RESENT]		= "resent",
	[ZBRIDGE_STAT_ACKED]		= "acked",
	[ZBRIDGE_STAT_RECEIVED]		= "received",
	[ZBRIDGE_STAT_DELIVERED]	= "delivered",
	[ZBRIDGE_STAT_EARLY]		= "early",
	[ZBRIDGE_STAT_DUPLICATE]	= "duplicate",
	[ZBRIDGE_STAT_ASKS_OUT]		= "asks_out",
	[ZBRIDGE_STAT_ACKS_OUT]		= "acks_out",
	[ZBRIDGE_STAT_NACKS_OUT]	= "nacks_out",
	[ZBRIDGE_STAT_ASKS_IN]		= "asks_in",
	[ZBRIDGE_STAT_ACKS_IN]		= "acks_in",
	[ZBRIDGE_STAT_NACKS_IN]		= "nacks_in",
	[ZBRIDGE_STAT_OPENED]		= "opened",
	[ZBRIDGE_STAT_CLOSED]		= "closed",
	[ZBRIDGE_STAT_RESET]		= "reset",
	[ZBRIDGE_STAT_DEAD]		= "dead",
	[ZBRIDGE_STAT_STALE]		= "stale",
	[ZBRIDGE_STAT_DROP_CRC]		= "drop_crc",
	[ZBRIDGE_STAT_DROP_MALFORMED]	= "drop_malformed",
	[ZBRIDGE_STAT_DROP_STRANGER]	= "drop_stranger",
	[ZBRIDGE_STAT_DROP_WINDOW]	= "drop_window",
	[ZBRIDGE_STAT_DROP_NODEST]	= "drop_nodest",
	[ZBRIDGE_STAT_DROP_FULL]	= "drop_full",
	[ZBRIDGE_STAT_DROP_NOMEM]	= "drop_nomem",
	[ZBRIDGE_STAT_DROP_DEAD]	= "drop_dead",
	[ZBRIDGE_STAT_DROP_RESET]	= "drop_reset",
	[ZBRIDGE_STAT_DROP_DOWN]	= "drop_down",
};

static void print_explain(FILE *f)
{
	size_t i;

	fprintf(f, "Usage: ip link add DEV type zbridge id ID local ADDRESS [ OPTIONS ]\n"
		   "       ip link set DEV type zbridge [ OPTIONS ]\n"
		   "       ip link set DEV master SWITCH\n"
		   "       bridge fdb append MAC dev DEV dst HOST\n\n"
		   "local ADDRESS	address of this host, IPv4 or IPv6\n"
		   "dev DEV		device for the packets (default: the route's)\n"
		   "dstport N	UDP port, the same on all hosts (%d)\n"
		   "ttl N		1 to 255 (0: the route's)\n", ZBRIDGE_PORT);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		fprintf(f, "%s N	%s\n", numbers[i].name, numbers[i].meaning);
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		fprintf(f, "%s on|off	%s\n", flags[i].name, flags[i].meaning);
	fprintf(f, "\nid, local, dev and dstport cannot be changed later.\n");
}

static int bad(const char *opt, const char *arg)
{
	fprintf(stderr, "zbridge: \"%s\" is no value of %s\n", arg, opt);
	return -1;
}

static int parse_local(const char *arg, struct nlmsghdr *n)
{
	struct in6_addr addr;

	if (inet_pton(AF_INET, arg, &addr) == 1)
		return addattr_l(n, MAXLEN, IFLA_ZBRIDGE_LOCAL, &addr, sizeof(struct in_addr));
	if (inet_pton(AF_INET6, arg, &addr) == 1)
		return addattr_l(n, MAXLEN, IFLA_ZBRIDGE_LOCAL6, &addr, sizeof(addr));
	return bad("local", arg);
}

/* Parse one option and its value.  Return: 1 if there is no such option. */
static int parse_option(const char *opt, const char *arg, struct nlmsghdr *n)
{
	unsigned int val;
	__u16 port;
	__u8 ttl;
	size_t i;

	if (!strcmp(opt, "local"))
		return parse_local(arg, n);
	if (!strcmp(opt, "dev")) {
		val = if_nametoindex(arg);
		return val ? addattr32(n, MAXLEN, IFLA_ZBRIDGE_LINK, val) : bad(opt, arg);
	}
	if (!strcmp(opt, "dstport")) {
		if (get_u16(&port, arg, 0))
			return bad(opt, arg);
		return addattr16(n, MAXLEN, IFLA_ZBRIDGE_PORT, htons(port));
	}
	if (!strcmp(opt, "ttl"))
		return get_u8(&ttl, arg, 0) ? bad(opt, arg) :
					      addattr8(n, MAXLEN, IFLA_ZBRIDGE_TTL, ttl);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		if (strcmp(opt, flags[i].name))
			continue;
		if (strcmp(arg, "on") && strcmp(arg, "off"))
			return bad(opt, arg);
		return addattr8(n, MAXLEN, flags[i].attr, !strcmp(arg, "on"));
	}
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (strcmp(opt, numbers[i].name))
			continue;
		if (get_unsigned(&val, arg, 0))
			return bad(opt, arg);
		return addattr32(n, MAXLEN, numbers[i].attr, val);
	}
	return 1;
}

static int zbridge_parse_opt(struct link_util *lu, int argc, char **argv, struct nlmsghdr *n)
{
	return parse_options("zbridge", argc, argv, n, parse_option, print_explain);
}

static void print_local(struct rtattr *attr, int family)
{
	char buf[INET6_ADDRSTRLEN];

	if (attr)
		print_string(PRINT_ANY, "local", "local %s ",
			     inet_ntop(family, RTA_DATA(attr), buf, sizeof(buf)));
}

static void print_link(struct rtattr *attr)
{
	char name[IF_NAMESIZE];
	__u64 val;

	if (get_number(attr, &val) && val && if_indextoname(val, name))
		print_string(PRINT_ANY, "link", "dev %s ", name);
}

static void zbridge_print_opt(struct link_util *lu, FILE *f, struct rtattr *tb[])
{
	__u64 val;
	size_t i;

	if (!tb)
		return;
	print_local(tb[IFLA_ZBRIDGE_LOCAL], AF_INET);
	print_local(tb[IFLA_ZBRIDGE_LOCAL6], AF_INET6);
	print_link(tb[IFLA_ZBRIDGE_LINK]);
	if (get_number(tb[IFLA_ZBRIDGE_PORT], &val))
		print_number("dstport", ntohs(val));
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (get_number(tb[numbers[i].attr], &val))
			print_number(numbers[i].name, val);
	if (get_number(tb[IFLA_ZBRIDGE_TTL], &val))
		print_number("ttl", val);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		if (!get_number(tb[flags[i].attr], &val))
			continue;
		print_string(PRINT_FP, NULL, "%s ", flags[i].name);
		print_string(PRINT_ANY, flags[i].name, "%s ", val ? "on" : "off");
	}
	if (!show_stats)
		return;
	if (get_number(tb[IFLA_ZBRIDGE_FLOWS], &val))
		print_number("flows", val);
	if (get_number(tb[IFLA_ZBRIDGE_USED], &val))
		print_number("used", val);
	print_named(tb[IFLA_ZBRIDGE_STATS], counter_names, ZBRIDGE_STAT_MAX,
		    ZBRIDGE_STAT_DROP_CRC);
}

static void zbridge_print_help(struct link_util *lu, int argc, char **argv, FILE *f)
{
	print_explain(f);
}

struct link_util zbridge_link_util = {
	.id		= "zbridge",
	.maxattr	= IFLA_ZBRIDGE_MAX,
	.parse_opt	= zbridge_parse_opt,
	.print_opt	= zbridge_print_opt,
	.print_help	= zbridge_print_help,
};
