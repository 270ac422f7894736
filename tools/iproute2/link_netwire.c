// SPDX-License-Identifier: GPL-2.0
/*
 * ip link ... type netwire: plugin for the distribution's ip.
 *
 * The output is exact and can be used as input: a rate, a delay or an error
 * rate is never rounded.
 */
#include <errno.h>
#include <linux/netwire.h>
#include "pair.h"

static const char * const ber_modes[] = {
	[NETWIRE_BER_DROP] = "drop",
	[NETWIRE_BER_CORRUPT] = "corrupt",
};

static void print_explain(FILE *f)
{
	fprintf(f,
		"Usage: ip link add DEV type netwire [ OPTIONS ] peer [ PEER-OPTIONS ]\n"
		"       ip link set DEV type netwire [ OPTIONS ]\n"
		"\n"
		"OPTIONS := [ rate RATE ] [ delay TIME ] [ ber PROBABILITY ] [ ber-mode MODE ]\n"
		"           [ pfc { on | off } ]\n"
		"PEER-OPTIONS := [ name DEV ] [ netns NETNS ] [ address LLADDR ] [ mtu MTU ] ...\n"
		"\n"
		"rate		1kbit to 10tbit, in bit, kbit, mbit, gbit, tbit per second, or\n"
		"		bps, kbps, mbps, gbps, tbps: bytes per second (default 10gbit)\n"
		"delay		0 to 10s, in ns, us, ms, s (default 1us)\n"
		"ber		probability of a bit error, 0 to 1e-3 (default 0)\n"
		"ber-mode	a frame with bit errors is dropped, as a wrong FCS would be\n"
		"		(drop, default), or delivered with flipped bits (corrupt)\n"
		"pfc		each end obeys pause frames and consumes them (default off)\n"
		"\n"
		"The options belong to the cable: they apply to both ends and directions.\n"
		"PEER-OPTIONS are those of \"ip link add\" and go to the end of the command.\n");
}

static int parse_ber(uint64_t *val, const char *arg)
{
	double p;
	char *end;

	errno = 0;
	p = strtod(arg, &end);
	/* the negated condition also rejects NaN */
	if (end == arg || *end || !(p >= 0 && p <= 1) ||
	    (p > 0 && p * (double)NETWIRE_BER_UNIT < 0.5))
		return -1;
	*val = p * (double)NETWIRE_BER_UNIT + 0.5;
	return 0;
}

static int parse_ber_mode(uint8_t *val, const char *arg)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ber_modes); i++)
		if (!strcmp(ber_modes[i], arg)) {
			*val = i;
			return 0;
		}
	return -1;
}

/* Parse one option and its value. */
static int parse_option(const char *opt, const char *arg, struct nlmsghdr *n)
{
	uint64_t val;
	uint8_t mode;

	if (!strcmp(opt, "rate")) {
		if (parse_scaled(&val, arg, rate_units, ARRAY_SIZE(rate_units)))
			return bad("netwire", "rate", arg, "a number and bit, kbit, mbit, gbit...");
		return addattr64(n, MAXLEN, IFLA_NETWIRE_RATE, val);
	}
	if (!strcmp(opt, "delay")) {
		if (parse_scaled(&val, arg, delay_units, ARRAY_SIZE(delay_units)))
			return bad("netwire", "delay", arg, "a number and ns, us, ms or s");
		return addattr64(n, MAXLEN, IFLA_NETWIRE_DELAY, val);
	}
	if (!strcmp(opt, "ber")) {
		if (parse_ber(&val, arg))
			return bad("netwire", "bit error rate", arg, "a probability such as 1e-9");
		return addattr64(n, MAXLEN, IFLA_NETWIRE_BER, val);
	}
	if (!strcmp(opt, "pfc")) {
		if (strcmp(arg, "on") && strcmp(arg, "off"))
			return bad("netwire", "pfc", arg, "on or off");
		return addattr8(n, MAXLEN, IFLA_NETWIRE_PFC, !strcmp(arg, "on"));
	}
	if (parse_ber_mode(&mode, arg))
		return bad("netwire", "ber-mode", arg, "drop or corrupt");
	return addattr8(n, MAXLEN, IFLA_NETWIRE_BER_MODE, mode);
}

static bool known_option(const char *opt)
{
	return !strcmp(opt, "rate") || !strcmp(opt, "delay") ||
	       !strcmp(opt, "ber") || !strcmp(opt, "ber-mode") ||
	       !strcmp(opt, "pfc");
}

static int netwire_parse_opt(struct link_util *lu, int argc, char **argv,
			     struct nlmsghdr *n)
{
	for (; argc > 0; argc -= 2, argv += 2) {
		if (!strcmp(argv[0], "peer"))
			return parse_peer("netwire", IFLA_NETWIRE_PEER, argc - 1,
					  argv + 1, n);
		if (!strcmp(argv[0], "help")) {
			print_explain(stdout);
			return -1;
		}
		if (!known_option(argv[0])) {
			fprintf(stderr, "netwire: unknown option \"%s\"\n",
				argv[0]);
			print_explain(stderr);
			return -1;
		}
		if (argc < 2) {
			fprintf(stderr, "netwire: \"%s\" needs a value\n",
				argv[0]);
			return -1;
		}
		if (parse_option(argv[0], argv[1], n))
			return -1;
	}
	return 0;
}

static void print_ber(struct rtattr *tb[])
{
	struct rtattr *mode = tb[IFLA_NETWIRE_BER_MODE];
	uint64_t val;
	uint8_t m;

	if (!get_attr64(tb, IFLA_NETWIRE_BER, &val))
		return;
	print_float(PRINT_ANY, "ber", "ber %.15g ",
		    (double)val / (double)NETWIRE_BER_UNIT);
	if (!mode || RTA_PAYLOAD(mode) < sizeof(m))
		return;
	m = *(uint8_t *)RTA_DATA(mode);
	if (m < ARRAY_SIZE(ber_modes))
		print_string(PRINT_ANY, "ber_mode", "ber-mode %s ",
			     ber_modes[m]);
}

static void print_pfc(struct rtattr *attr)
{
	bool on = attr && RTA_PAYLOAD(attr) >= 1 && *(uint8_t *)RTA_DATA(attr);

	if (is_json_context())
		print_bool(PRINT_JSON, "pfc", NULL, on);
	else if (on)
		print_string(PRINT_FP, NULL, "pfc %s ", "on");
}

/* In JSON the values are numbers: bits per second and nanoseconds. */
static void netwire_print_opt(struct link_util *lu, FILE *f,
			      struct rtattr *tb[])
{
	char buf[32];
	uint64_t val;

	if (!tb)
		return;
	if (get_attr64(tb, IFLA_NETWIRE_RATE, &val)) {
		print_u64(PRINT_JSON, "rate", NULL, val);
		print_string(PRINT_FP, NULL, "rate %s ",
			     format_scaled(buf, sizeof(buf), val, rate_units));
	}
	if (get_attr64(tb, IFLA_NETWIRE_DELAY, &val)) {
		print_u64(PRINT_JSON, "delay", NULL, val);
		print_string(PRINT_FP, NULL, "delay %s ",
			     format_scaled(buf, sizeof(buf), val, delay_units));
	}
	print_ber(tb);
	print_pfc(tb[IFLA_NETWIRE_PFC]);
}

static void netwire_print_help(struct link_util *lu, int argc, char **argv,
			       FILE *f)
{
	print_explain(f);
}

struct link_util netwire_link_util = {
	.id		= "netwire",
	.maxattr	= IFLA_NETWIRE_MAX,
	.parse_opt	= netwire_parse_opt,
	.print_opt	= netwire_print_opt,
	.print_help	= netwire_print_help,
};
