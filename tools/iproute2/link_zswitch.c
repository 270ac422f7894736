// SPDX-License-Identifier: GPL-2.0
/*
 * ip link ... type zswitch: plugin for the distribution's ip.
 *
 * The output of `ip -d link` can be used as input; counters are shown with -s.
 */
#include "zswitch_stats.h"

static const struct {
	const char *name;
	int attr;
	const char *meaning;
} numbers[] = {
	{ "limit", IFLA_ZSWITCH_LIMIT,
	  "bytes that an input may queue in a priority before its sender sleeps (1048576)" },
	{ "share", IFLA_ZSWITCH_SHARE, "bytes of limit for one output (262144)" },
	{ "queue", IFLA_ZSWITCH_QUEUE, "bytes that lossy inputs may queue at an output (387584)" },
	{ "flood-wait", IFLA_ZSWITCH_FLOOD_WAIT,
	  "ms that a flooded copy waits for a stalled output (100; 0: no limit)" },
	{ "wire-wait", IFLA_ZSWITCH_WIRE_WAIT,
	  "ms that a frame from a wire waits for one (200; 0: no limit)" },
	{ "virtual-wait", IFLA_ZSWITCH_VIRTUAL_WAIT,
	  "ms that a frame of this machine waits for one (60000; 0: no limit)" },
	{ "ageing", IFLA_ZSWITCH_AGEING, "s until a learnt address ages out (300; 0: never)" },
	{ "rxq", IFLA_ZSWITCH_RXQ,
	  "credits of a port, for frames of 2048 bytes, 64 to 65536 (512)" },
	{ "unasked", IFLA_ZSWITCH_UNASKED,
	  "credits used without an ask to another host per half second, up to 64 (0)" },
	{ "fdb-max", IFLA_ZSWITCH_FDB_MAX, "most addresses to learn (16384)" },
};

static const struct {
	const char *name;
	const char *on;
	const char *off;
	int attr;
	const char *meaning;
} flags[] = {
	{ "virtual", "lossless", "lossy", IFLA_ZSWITCH_VIRTUAL,
	  "senders of this machine sleep, or their frames are dropped (lossless)" },
	{ "wire", "lossless", "lossy", IFLA_ZSWITCH_WIRE,
	  "senders beyond wires are paused, or their frames are dropped (lossless)" },
	{ "vlan-filtering", "on", "off", IFLA_ZSWITCH_VLAN_FILTERING,
	  "ports belong to VLANs (off)" },
	{ "fabric", "on", "off", IFLA_ZSWITCH_FABRIC,
	  "frames between ports of this machine, and by wires with fabric, need credit (off)" },
	{ "refuse", "icmp", "silent", IFLA_ZSWITCH_REFUSE_ICMP,
	  "answer frames that a port does not allow by ICMP, or not at all (silent)" },
};

static void print_explain(FILE *f)
{
	size_t i;

	fprintf(f, "Usage: ip link add DEV type zswitch [ OPTIONS ]\n"
		   "       ip link set DEV type zswitch [ OPTIONS ]\n"
		   "       ip link set PORT master DEV\n\n");
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		fprintf(f, "%s %s|%s	%s\n", flags[i].name, flags[i].on, flags[i].off,
			flags[i].meaning);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		fprintf(f, "%s N	%s\n", numbers[i].name, numbers[i].meaning);
}

static int bad(const char *opt, const char *arg)
{
	fprintf(stderr, "zswitch: \"%s\" is no value of %s\n", arg, opt);
	return -1;
}

/* Parse one option and its value.  Return: 1 if there is no such option. */
static int parse_option(const char *opt, const char *arg, struct nlmsghdr *n)
{
	unsigned int val;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		if (strcmp(opt, flags[i].name))
			continue;
		if (strcmp(arg, flags[i].on) && strcmp(arg, flags[i].off))
			return bad(opt, arg);
		return addattr8(n, MAXLEN, flags[i].attr, !strcmp(arg, flags[i].on));
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

static int zswitch_parse_opt(struct link_util *lu, int argc, char **argv, struct nlmsghdr *n)
{
	return parse_options("zswitch", argc, argv, n, parse_option, print_explain);
}

static void zswitch_print_opt(struct link_util *lu, FILE *f, struct rtattr *tb[])
{
	__u64 val;
	size_t i;

	if (!tb)
		return;
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		if (!get_number(tb[flags[i].attr], &val))
			continue;
		print_string(PRINT_FP, NULL, "%s ", flags[i].name);
		print_string(PRINT_ANY, flags[i].name, "%s ", val ? flags[i].on : flags[i].off);
	}
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (get_number(tb[numbers[i].attr], &val))
			print_number(numbers[i].name, val);
	if (get_number(tb[IFLA_ZSWITCH_FDB_COUNT], &val))
		print_number("addresses", val);
	if (show_stats)
		print_counters(tb[IFLA_ZSWITCH_STATS]);
}

static void zswitch_print_help(struct link_util *lu, int argc, char **argv, FILE *f)
{
	print_explain(f);
}

struct link_util zswitch_link_util = {
	.id		= "zswitch",
	.maxattr	= IFLA_ZSWITCH_MAX,
	.parse_opt	= zswitch_parse_opt,
	.print_opt	= zswitch_print_opt,
	.print_help	= zswitch_print_help,
};
