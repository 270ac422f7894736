// SPDX-License-Identifier: GPL-2.0
/* ip link ... type zvnic: plugin for the distribution's ip. */
#include <linux/zvnic.h>
#include "pair.h"

static void print_explain(FILE *f)
{
	fprintf(f,
		"Usage: ip link add PORT type zvnic [ rate RATE ] peer [ PEER-OPTIONS ]\n"
		"       ip link set DEV type zvnic rate RATE\n"
		"       ip link set PORT master SWITCH\n"
		"\n"
		"PEER-OPTIONS := [ name DEV ] [ netns NETNS ] [ address LLADDR ] [ mtu MTU ] ...\n"
		"\n"
		"rate	at which the guest's end receives: 1kbit to 10tbit, or 0bit: no limit\n"
		"	(default)\n"
		"\n"
		"PORT becomes a port of a zswitch, the peer a container's NIC.\n");
}

static int zvnic_parse_opt(struct link_util *lu, int argc, char **argv, struct nlmsghdr *n)
{
	uint64_t rate;

	for (; argc > 0; argc -= 2, argv += 2) {
		if (!strcmp(argv[0], "peer"))
			return parse_peer("zvnic", IFLA_ZVNIC_PEER, argc - 1, argv + 1, n);
		if (!strcmp(argv[0], "help")) {
			print_explain(stdout);
			return -1;
		}
		if (strcmp(argv[0], "rate") || argc < 2) {
			fprintf(stderr, "zvnic: \"%s\" is unknown or needs a value\n", argv[0]);
			print_explain(stderr);
			return -1;
		}
		if (parse_scaled(&rate, argv[1], rate_units, ARRAY_SIZE(rate_units)))
			return bad("zvnic", "rate", argv[1],
				   "a number and bit, kbit, mbit, gbit...");
		if (addattr64(n, MAXLEN, IFLA_ZVNIC_RATE, rate))
			return -1;
	}
	return 0;
}

static void zvnic_print_opt(struct link_util *lu, FILE *f, struct rtattr *tb[])
{
	const struct rtattr *end;
	uint64_t rate;
	char buf[32];

	if (!tb)
		return;
	end = tb[IFLA_ZVNIC_END];
	if (end && RTA_PAYLOAD(end) >= sizeof(uint8_t))
		print_string(PRINT_ANY, "end", "%s ",
			     *(uint8_t *)RTA_DATA(end) == ZVNIC_END_GUEST ? "guest" : "port");
	if (get_attr64(tb, IFLA_ZVNIC_RATE, &rate)) {
		print_u64(PRINT_JSON, "rate", NULL, rate);
		print_string(PRINT_FP, NULL, "rate %s ",
			     format_scaled(buf, sizeof(buf), rate, rate_units));
	}
}

static void zvnic_print_help(struct link_util *lu, int argc, char **argv, FILE *f)
{
	print_explain(f);
}

struct link_util zvnic_link_util = {
	.id		= "zvnic",
	.maxattr	= IFLA_ZVNIC_MAX,
	.parse_opt	= zvnic_parse_opt,
	.print_opt	= zvnic_print_opt,
	.print_help	= zvnic_print_help,
};
