// SPDX-License-Identifier: GPL-2.0
/*
 * tc qdisc ... ndp: plugin for the distribution's tc.
 *
 * The output can be used as input.
 */
#include <string.h>
#include <linux/pkt_sch_ndp.h>
#include "iproute2.h"
#include "plugin.h"

#define MAXLEN		1024

static const char * const modes[] = {
	[TCA_NDP_MODE_SWITCH] = "switch",
	[TCA_NDP_MODE_HOST] = "host",
};

static const char * const overflows[] = {
	[TCA_NDP_OVERFLOW_BOUNCE] = "bounce",
	[TCA_NDP_OVERFLOW_DROP] = "drop",
};

enum kind {
	KIND_U8,
	KIND_U16,
	KIND_U32,
	KIND_SIZE,
	KIND_RATE,
	KIND_NAME,
};

/* Options in the order in which they are shown. */
static const struct option {
	const char *name;
	const char *format;
	enum kind kind;
	int type;
	const char * const *names;	/* for KIND_NAME, two names */
	bool switch_only;
} options[] = {
	{ "mode", "mode %s ", KIND_NAME, TCA_NDP_MODE, modes, false },
	{ "limit", "limit %u ", KIND_U32, TCA_NDP_LIMIT, NULL, false },
	{ "hdr_limit", "hdr_limit %u ", KIND_SIZE, TCA_NDP_HDR_LIMIT, NULL, false },
	{ "other_limit", "other_limit %u ", KIND_U32, TCA_NDP_OTHER_LIMIT, NULL, false },
	{ "hdr_weight", "hdr_weight %u ", KIND_U32, TCA_NDP_HDR_WEIGHT, NULL, false },
	{ "weight", "weight %u ", KIND_U32, TCA_NDP_DATA_WEIGHT, NULL, true },
	{ "other_weight", "other_weight %u ", KIND_U32, TCA_NDP_OTHER_WEIGHT, NULL, true },
	{ "ecn", "ecn %u ", KIND_U32, TCA_NDP_ECN, NULL, false },
	{ "other_ecn", "other_ecn %u ", KIND_U32, TCA_NDP_OTHER_ECN, NULL, false },
	{ "rate", "rate %s ", KIND_RATE, TCA_NDP_RATE64, NULL, false },
	{ "overflow", "overflow %s ", KIND_NAME, TCA_NDP_OVERFLOW, overflows, true },
	{ "dscp_data", "dscp_data %u ", KIND_U8, TCA_NDP_DSCP_DATA, NULL, false },
	{ "dscp_trimmed", "dscp_trimmed %u ", KIND_U8, TCA_NDP_DSCP_TRIMMED, NULL, false },
	{ "dscp_control", "dscp_control %u ", KIND_U8, TCA_NDP_DSCP_CONTROL, NULL, false },
	{ "port", "port %u ", KIND_U16, TCA_NDP_PORT, NULL, false },
};

static void explain(FILE *f)
{
	fprintf(f,
		"Usage: ... ndp [ mode { switch | host } ] [ limit PACKETS ] [ hdr_limit BYTES ]\n"
		"	[ other_limit PACKETS ] [ hdr_weight N ] [ weight N ] [ other_weight N ]\n"
		"	[ ecn PACKETS ] [ other_ecn PACKETS ] [ rate RATE ]\n"
		"	[ overflow { bounce | drop } ] [ dscp_data N ] [ dscp_trimmed N ]\n"
		"	[ dscp_control N ] [ port N ]\n"
		"\n"
		"mode		switch: trim data that does not fit (default);\n"
		"		host: a host's own port, fair among sockets, never trims\n"
		"limit		data queue (default 8, in mode host 1000)\n"
		"hdr_limit	header queue (default: limit x MTU)\n"
		"other_limit	queue of all other traffic (default 1000)\n"
		"hdr_weight	headers served per data packet, in mode host per any\n"
		"		other packet (default 10)\n"
		"weight		share of NDP, by bytes (default 1)\n"
		"other_weight	share of other traffic (default 1)\n"
		"ecn		mark ECT packets while the data queue is this long (default 0: off)\n"
		"other_ecn	same for other traffic (default 0: off)\n"
		"rate		limit on all traffic (default 0: none)\n"
		"overflow	a trimmed packet that finds the header queue full goes\n"
		"		back to its sender (default) or is dropped\n"
		"dscp_...	code points of data, trimmed data, control (3, 7, 11)\n"
		"port		UDP port of NDP (13141)\n");
}

static const struct option *find_option(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	return NULL;
}

static int bad(const struct option *o, const char *arg, const char *want)
{
	fprintf(stderr, "ndp: %s: \"%s\" is not %s\n", o->name, arg, want);
	return -1;
}

static int parse_name(const struct option *o, const char *arg,
		      struct nlmsghdr *n)
{
	char want[64];
	int i;

	for (i = 0; i < 2; i++)
		if (!strcmp(o->names[i], arg))
			return addattr8(n, MAXLEN, o->type, i);
	snprintf(want, sizeof(want), "%s or %s", o->names[0], o->names[1]);
	return bad(o, arg, want);
}

static int parse_value(const struct option *o, const char *arg,
		       struct nlmsghdr *n)
{
	__u64 rate;
	__u32 u32;
	__u16 u16;
	__u8 u8;

	switch (o->kind) {
	case KIND_NAME:
		return parse_name(o, arg, n);
	case KIND_U8:
		if (get_u8(&u8, arg, 0))
			return bad(o, arg, "a number up to 255");
		return addattr8(n, MAXLEN, o->type, u8);
	case KIND_U16:
		if (get_u16(&u16, arg, 0))
			return bad(o, arg, "a number up to 65535");
		return addattr16(n, MAXLEN, o->type, u16);
	case KIND_U32:
		if (get_u32(&u32, arg, 0))
			return bad(o, arg, "a number");
		return addattr32(n, MAXLEN, o->type, u32);
	case KIND_SIZE:
		if (arg[0] == '-' || get_size(&u32, arg))
			return bad(o, arg, "a size such as 72000 or 64k");
		return addattr32(n, MAXLEN, o->type, u32);
	case KIND_RATE:
		if (arg[0] == '-' || get_rate64(&rate, arg))
			return bad(o, arg, "a rate such as 100mbit");
		return addattr64(n, MAXLEN, o->type, rate);
	}
	return -1;
}

static int ndp_parse_qopt(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev)
{
	struct rtattr *nest = addattr_nest(n, MAXLEN,
					   TCA_OPTIONS | NLA_F_NESTED);
	const struct option *o;

	for (; argc > 0; argc -= 2, argv += 2) {
		if (!strcmp(argv[0], "help")) {
			explain(stdout);
			return -1;
		}
		o = find_option(argv[0]);
		if (!o) {
			fprintf(stderr, "ndp: no such option: \"%s\"\n",
				argv[0]);
			explain(stderr);
			return -1;
		}
		if (argc < 2) {
			fprintf(stderr, "ndp: %s: needs a value\n", o->name);
			return -1;
		}
		if (parse_value(o, argv[1], n))
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

static void print_option(const struct option *o, __u64 val)
{
	switch (o->kind) {
	case KIND_RATE:
		if (val)
			tc_print_rate(PRINT_ANY, o->name, o->format, val);
		break;
	case KIND_NAME:
		print_string(PRINT_ANY, o->name, o->format,
			     val < 2 ? o->names[val] : "?");
		break;
	default:
		print_uint(PRINT_ANY, o->name, o->format, val);
	}
}

static int ndp_print_qopt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_NDP_MAX + 1];
	bool host = false;
	__u64 val;
	size_t i;

	if (!opt)
		return 0;
	parse_rtattr(tb, TCA_NDP_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt));
	if (get_number(tb[TCA_NDP_MODE], &val))
		host = val == TCA_NDP_MODE_HOST;
	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (!(host && options[i].switch_only) &&
		    get_number(tb[options[i].type], &val))
			print_option(&options[i], val);
	return 0;
}

static void stat64(const char *key, const char *format, __u64 val)
{
	print_u64(PRINT_ANY, key, format, val);
}

static void print_data(const struct tc_ndp_xstats *x)
{
	print_nl();
	stat64("data_in", "  data in %llu", x->data_in);
	stat64("data_sent", " sent %llu", x->data_sent);
	stat64("data_sent_bytes", " (%llu bytes)", x->data_sent_bytes);
	print_uint(PRINT_ANY, "data_len", " queued %u", x->data_len);
	stat64("trimmed_arrival", " trimmed arriving %llu", x->trimmed_arrival);
	stat64("trimmed_tail", " tail %llu", x->trimmed_tail);
	stat64("drop_data", " dropped %llu", x->drop_data);
	stat64("ecn_data", " marked %llu", x->ecn_data);
}

static void print_headers(const struct tc_ndp_xstats *x)
{
	print_nl();
	stat64("header_in", "  header in %llu", x->header_in);
	stat64("header_sent", " sent %llu", x->header_sent);
	stat64("header_sent_bytes", " (%llu bytes)", x->header_sent_bytes);
	print_uint(PRINT_ANY, "header_len", " queued %u", x->header_len);
	print_uint(PRINT_ANY, "header_len_bytes", " (%u bytes)",
		   x->header_len_bytes);
	stat64("bounced", " bounced %llu", x->bounced);
	stat64("drop_header", " dropped %llu", x->drop_header);
	stat64("drop_bounce", " (no return %llu)", x->drop_bounce);
}

static void print_other(const struct tc_ndp_xstats *x)
{
	print_nl();
	stat64("other_in", "  other in %llu", x->other_in);
	stat64("other_sent", " sent %llu", x->other_sent);
	stat64("other_sent_bytes", " (%llu bytes)", x->other_sent_bytes);
	print_uint(PRINT_ANY, "other_len", " queued %u", x->other_len);
	stat64("drop_other", " dropped %llu", x->drop_other);
	stat64("ecn_other", " marked %llu", x->ecn_other);
	print_nl();
	stat64("drop_nomem", "  no memory %llu", x->drop_nomem);
	stat64("gso_segmented", " gso segmented %llu", x->gso_segmented);
}

static int ndp_print_xstats(struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats)
{
	struct tc_ndp_xstats x = { 0 };
	size_t len;

	if (!xstats)
		return 0;
	/* A newer kernel may report more, an older one less. */
	len = RTA_PAYLOAD(xstats);
	memcpy(&x, RTA_DATA(xstats), len < sizeof(x) ? len : sizeof(x));
	print_data(&x);
	print_headers(&x);
	print_other(&x);
	return 0;
}

struct qdisc_util ndp_qdisc_util = {
	.id		= "ndp",
	.parse_qopt	= ndp_parse_qopt,
	.print_qopt	= ndp_print_qopt,
	.print_xstats	= ndp_print_xstats,
};
