// SPDX-License-Identifier: GPL-2.0
/*
 * tc qdisc ... cee: plugin for the distribution's tc.
 *
 * The output can be used as input: first the port's options, then those of each
 * priority.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/pkt_sch_cee.h>
#include "iproute2.h"
#include "plugin.h"

#define MAXLEN		8192

static const char * const classify_names[] = { "dscp", "pcp", "skb" };
static const char * const trust_names[] = { "no", "yes" };
static const char * const action_names[] = { "drain", "drop" };
static const char * const loss_names[] = { "lossy", "lossless" };
static const char * const pause_names[] = { "pfc", "global" };
static const char * const qcn_names[] = { "off", "standard", "thesis" };
static const char * const limiter_names[] = { "off", "prio", "flow" };
static const char * const ecn_names[] = { "off", "red", "np" };

enum kind {
	KIND_TEXT,
	KIND_NAME,
	KIND_U16,
	KIND_U32,
	KIND_SIZE,
	KIND_RATE,
	KIND_NS,
	KIND_MS,
	KIND_WEIGHT,
	KIND_ALPHA,
	KIND_CHANCE,
	KIND_DSCP,
};

struct option {
	const char *name;
	enum kind kind;
	int type;
	const char * const *names;
	int count;		/* number of names */
};

/* Options in the order in which they are shown. */
static const struct option port_options[] = {
	{ "domain", KIND_TEXT, TCA_CEE_DOMAIN, NULL, 0 },
	{ "buffer", KIND_SIZE, TCA_CEE_BUFFER, NULL, 0 },
	{ "classify", KIND_NAME, TCA_CEE_CLASSIFY, classify_names, 3 },
	{ "dscp", KIND_DSCP, TCA_CEE_DSCP, NULL, 0 },
	{ "trust", KIND_NAME, TCA_CEE_TRUST, trust_names, 2 },
	{ "pause", KIND_NAME, TCA_CEE_PAUSE, pause_names, 2 },
	{ "rate", KIND_RATE, TCA_CEE_RATE64, NULL, 0 },
	{ "cable", KIND_NS, TCA_CEE_CABLE, NULL, 0 },
	{ "ring", KIND_SIZE, TCA_CEE_RING, NULL, 0 },
	{ "quanta", KIND_U16, TCA_CEE_QUANTA, NULL, 0 },
	{ "watchdog", KIND_MS, TCA_CEE_WATCHDOG, NULL, 0 },
	{ "action", KIND_NAME, TCA_CEE_WATCHDOG_ACTION, action_names, 2 },
};

static const struct option prio_options[] = {
	{ "pfc", KIND_NAME, TCA_CEE_PRIO_LOSSLESS, loss_names, 2 },
	{ "weight", KIND_WEIGHT, TCA_CEE_PRIO_WEIGHT, NULL, 0 },
	{ "alpha", KIND_ALPHA, TCA_CEE_PRIO_ALPHA, NULL, 0 },
	{ "xoff", KIND_SIZE, TCA_CEE_PRIO_XOFF, NULL, 0 },
	{ "xon", KIND_SIZE, TCA_CEE_PRIO_XON, NULL, 0 },
	{ "headroom", KIND_SIZE, TCA_CEE_PRIO_HEADROOM, NULL, 0 },
	{ "limit", KIND_SIZE, TCA_CEE_PRIO_LIMIT, NULL, 0 },
	{ "ecn", KIND_NAME, TCA_CEE_PRIO_ECN, ecn_names, 3 },
	{ "min", KIND_SIZE, TCA_CEE_PRIO_KMIN, NULL, 0 },
	{ "max", KIND_SIZE, TCA_CEE_PRIO_KMAX, NULL, 0 },
	{ "probability", KIND_CHANCE, TCA_CEE_PRIO_PMAX, NULL, 0 },
	{ "qcn", KIND_NAME, TCA_CEE_PRIO_QCN, qcn_names, 3 },
	{ "qeq", KIND_SIZE, TCA_CEE_PRIO_QEQ, NULL, 0 },
	{ "limiter", KIND_NAME, TCA_CEE_PRIO_LIMITER, limiter_names, 3 },
	{ "flows", KIND_U32, TCA_CEE_PRIO_FLOWS, NULL, 0 },
};

static void explain(FILE *f)
{
	fprintf(f,
		"Usage: ... cee [ domain NAME ] [ buffer SIZE ] [ classify { dscp | pcp | skb } ]\n"
		"	[ dscp LIST:PRIO ]... [ trust { yes | no } ] [ pause { pfc | global } ] [ rate RATE ] [ cable TIME ]\n"
		"	[ ring SIZE ] [ quanta N ] [ watchdog { TIME | off } ] [ action { drain | drop } ]\n"
		"	[ prio { LIST | all } [ { lossless | lossy } ] [ { strict | weight N } ]\n"
		"	  [ alpha A ] [ xoff SIZE ] [ xon SIZE ] [ headroom SIZE ] [ limit SIZE ]\n"
		"	  [ ecn { off | red | np } ] [ min SIZE ] [ max SIZE ] [ probability P ]\n"
		"	  [ qcn { off | standard | thesis } ] [ qeq SIZE ]\n"
		"	  [ limiter { off | prio | flow } ] [ flows N ] ]...\n"
		"\n"
		"domain		name of the ports that share a buffer (default: all of the namespace)\n"
		"buffer		size of that buffer (16 MiB)\n"
		"classify	a packet's priority: from its DSCP (default), VLAN tag, or skb->priority\n"
		"dscp		priority of these code points (default: code point / 8)\n"
		"trust		obey pause frames (default yes)\n"
		"pause		pause the peer per priority (PFC, default), or the whole link (802.3x)\n"
		"rate		limit on all traffic (default 0: none)\n"
		"cable		one-way delay of the link (default 1us)\n"
		"ring		bytes that a peer may still send after XOFF (default: two frames)\n"
		"quanta		length of an XOFF, 512 bit times each (default 10 ms or 65535)\n"
		"watchdog	longest pause to obey (default 200ms)\n"
		"action		of the watchdog: send the packets (drain, default), or drop them\n"
		"prio		priorities that the options after it apply to; size 0: the default\n"
		"lossless	pause the peer instead of dropping (default for priority 3)\n"
		"weight		share of the rate that strict priorities leave (default 1)\n"
		"alpha		XOFF threshold as a multiple of the free buffer (default 0: use xoff)\n"
		"xoff, xon	fixed thresholds (97000, 5/6 of xoff)\n"
		"headroom	bytes beyond the XOFF threshold (default: what cable and ring need)\n"
		"limit		queue limit for packets of no port, and for a lossy priority (200 frames)\n"
		"ecn		red: mark from min on, always from max on; np: the same, except paused packets\n"
		"qcn		send congestion notifications (CNM), with these constants\n"
		"qeq		queue length that QCN aims at (26000 standard, 66000 thesis)\n"
		"limiter	obey CNMs: one rate for the priority, or one for each flow\n"
		"flows		per-flow queues served round robin (default 1: first in, first out)\n");
}

static int bad(const char *name, const char *arg, const char *want)
{
	fprintf(stderr, "cee: %s: \"%s\" is not %s\n", name, arg, want);
	return -1;
}

/* Parse a time into ns; a number without unit is in units of @unit ns. */
static int get_ns(double *ns, const char *arg, double unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
	};
	char *end;
	size_t i;

	*ns = strtod(arg, &end);
	if (end == arg || *ns < 0)
		return -1;
	if (!*end) {
		*ns *= unit;
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].name)) {
			*ns *= units[i].ns;
			return 0;
		}
	return -1;
}

static int parse_time(const struct option *o, const char *arg, double unit, struct nlmsghdr *n)
{
	double ns;

	if (get_ns(&ns, arg, unit) || ns / unit > 4294967295.0)
		return bad(o->name, arg, "a time such as 10us");
	return addattr32(n, MAXLEN, o->type, ns / unit + 0.5);
}

/* Parse a number, and scale it by @one. */
static int parse_share(const struct option *o, const char *arg, double one, struct nlmsghdr *n)
{
	char *end;
	double d = strtod(arg, &end);

	if (end == arg || *end || !(d >= 0 && d * one <= 4294967295.0))
		return bad(o->name, arg, "a number such as 0.125");
	return addattr32(n, MAXLEN, o->type, d * one + 0.5);
}

static int parse_name(const struct option *o, const char *arg, struct nlmsghdr *n)
{
	int i;

	for (i = 0; i < o->count; i++)
		if (!strcmp(o->names[i], arg))
			return addattr8(n, MAXLEN, o->type, i);
	return bad(o->name, arg, "one of its values");
}

/* Parse a list like "3", "1,4-6" or "all" into @set, which has @count elements. */
static int parse_list(const char *arg, size_t len, bool *set, unsigned long count)
{
	const char *p = arg, *stop = arg + len;
	unsigned long first, last;
	char *end;

	memset(set, 0, count * sizeof(*set));
	if (len == 3 && !strncmp(arg, "all", 3)) {
		memset(set, 1, count * sizeof(*set));
		return 0;
	}
	while (p < stop) {
		first = strtoul(p, &end, 0);
		if (end == p || *p == '-')
			return -1;
		last = first;
		p = end;
		if (p < stop && *p == '-') {
			last = strtoul(p + 1, &end, 0);
			if (end == p + 1)
				return -1;
			p = end;
		}
		if (first > last || last >= count || p > stop || (p < stop && *p++ != ','))
			return -1;
		while (first <= last)
			set[first++] = true;
	}
	return len ? 0 : -1;
}

/* Parse "LIST:PRIO", which may be given several times, into @map. */
static int parse_dscp(const char *arg, __u8 *map)
{
	const char *colon = strchr(arg, ':');
	bool set[TC_CEE_DSCPS];
	__u8 prio;
	int i;

	if (!colon || parse_list(arg, colon - arg, set, TC_CEE_DSCPS) ||
	    get_u8(&prio, colon + 1, 0))
		return bad("dscp", arg, "a list and a priority such as 24-31:3");
	for (i = 0; i < TC_CEE_DSCPS; i++)
		if (set[i])
			map[i] = prio;
	return 0;
}

static int parse_value(const struct option *o, const char *arg, struct nlmsghdr *n)
{
	__u64 rate;
	__u32 u32;
	__u16 u16;
	__u8 u8;

	switch (o->kind) {
	case KIND_TEXT:
		return addattr_l(n, MAXLEN, o->type, arg, strlen(arg) + 1);
	case KIND_NAME:
		return parse_name(o, arg, n);
	case KIND_U16:
		if (get_u16(&u16, arg, 0))
			return bad(o->name, arg, "a number up to 65535");
		return addattr16(n, MAXLEN, o->type, u16);
	case KIND_U32:
		if (get_u32(&u32, arg, 0))
			return bad(o->name, arg, "a number");
		return addattr32(n, MAXLEN, o->type, u32);
	case KIND_WEIGHT:
		if (get_u8(&u8, arg, 0))
			return bad(o->name, arg, "a number up to 100");
		return addattr8(n, MAXLEN, o->type, u8);
	case KIND_SIZE:
		if (arg[0] == '-' || get_size(&u32, arg))
			return bad(o->name, arg, "a size such as 97000 or 64k");
		return addattr32(n, MAXLEN, o->type, u32);
	case KIND_RATE:
		if (arg[0] == '-' || get_rate64(&rate, arg))
			return bad(o->name, arg, "a rate such as 100mbit");
		return addattr64(n, MAXLEN, o->type, rate);
	case KIND_NS:
		return parse_time(o, arg, 1, n);
	case KIND_MS:
		return parse_time(o, strcmp(arg, "off") ? arg : "0", 1e6, n);
	case KIND_ALPHA:
		return parse_share(o, arg, TC_CEE_ALPHA_ONE, n);
	case KIND_CHANCE:
		return parse_share(o, arg, TC_CEE_PMAX_ONE, n);
	case KIND_DSCP:
		break;
	}
	return -1;
}

/**
 * struct parser - state of the parser
 * @n:		message
 * @dscp:	priority of each code point, as given so far
 * @has_dscp:	any code point was given
 * @prio:	nest of the priorities that the options are about, or NULL
 */
struct parser {
	struct nlmsghdr *n;
	__u8 dscp[TC_CEE_DSCPS];
	bool has_dscp;
	struct rtattr *prio;
};

static void end_prio(struct parser *p)
{
	if (p->prio)
		addattr_nest_end(p->n, p->prio);
	p->prio = NULL;
}

static int begin_prio(struct parser *p, const char *arg)
{
	bool set[TC_CEE_PRIOS];
	__u8 mask = 0;
	int i;

	end_prio(p);
	if (parse_list(arg, strlen(arg), set, TC_CEE_PRIOS))
		return bad("prio", arg, "a list such as 3 or 0-2,7");
	for (i = 0; i < TC_CEE_PRIOS; i++)
		mask |= set[i] << i;
	p->prio = addattr_nest(p->n, MAXLEN, TCA_CEE_PRIO | NLA_F_NESTED);
	return addattr8(p->n, MAXLEN, TCA_CEE_PRIO_MASK, mask);
}

/* Parse options of a priority without value.  Return: words consumed, 0 or 1. */
static int parse_word(struct parser *p, const char *arg)
{
	if (!p->prio)
		return 0;
	if (!strcmp(arg, "lossless"))
		addattr8(p->n, MAXLEN, TCA_CEE_PRIO_LOSSLESS, 1);
	else if (!strcmp(arg, "lossy"))
		addattr8(p->n, MAXLEN, TCA_CEE_PRIO_LOSSLESS, 0);
	else if (!strcmp(arg, "strict"))
		addattr8(p->n, MAXLEN, TCA_CEE_PRIO_WEIGHT, 0);
	else
		return 0;
	return 1;
}

static const struct option *find_option(const struct option *o, size_t count, const char *name)
{
	for (; count--; o++)
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

static int parse_pair(struct parser *p, const char *name, const char *arg)
{
	const struct option *o;

	if (!strcmp(name, "prio"))
		return begin_prio(p, arg);
	if (!p->prio && !strcmp(name, "dscp")) {
		p->has_dscp = true;
		return parse_dscp(arg, p->dscp);
	}
	o = p->prio ? find_option(prio_options, ARRAY_SIZE(prio_options), name) :
		      find_option(port_options, ARRAY_SIZE(port_options), name);
	if (o)
		return parse_value(o, arg, p->n);
	fprintf(stderr, "cee: no such option%s: \"%s\"\n", p->prio ? " of a priority" : "", name);
	explain(stderr);
	return -1;
}

static int cee_parse_qopt(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev)
{
	struct rtattr *nest = addattr_nest(n, MAXLEN, TCA_OPTIONS | NLA_F_NESTED);
	struct parser p = { .n = n };

	memset(p.dscp, TC_CEE_DSCP_KEEP, sizeof(p.dscp));
	while (argc > 0) {
		if (!strcmp(argv[0], "help")) {
			explain(stdout);
			return -1;
		}
		if (parse_word(&p, argv[0])) {
			argc--;
			argv++;
			continue;
		}
		if (argc < 2) {
			fprintf(stderr, "cee: %s: no such option, or it needs a value\n", argv[0]);
			return -1;
		}
		if (parse_pair(&p, argv[0], argv[1]))
			return -1;
		argc -= 2;
		argv += 2;
	}
	end_prio(&p);
	if (p.has_dscp)
		addattr_l(n, MAXLEN, TCA_CEE_DSCP, p.dscp, sizeof(p.dscp));
	addattr_nest_end(n, nest);
	return 0;
}

/* Format the code points of a priority as "LIST:PRIO".  Return: false if there are none. */
static bool dscp_list(const __u8 *map, unsigned int prio, char *text, size_t size)
{
	const char *comma = "";
	size_t len = 0;
	int i, last;

	for (i = 0; i < TC_CEE_DSCPS; i = last + 1) {
		last = i;
		if (map[i] != prio)
			continue;
		while (last + 1 < TC_CEE_DSCPS && map[last + 1] == prio)
			last++;
		len += snprintf(text + len, size - len, last > i ? "%s%d-%d" : "%s%d",
				comma, i, last);
		comma = ",";
	}
	snprintf(text + len, size - len, ":%u", prio);
	return len;
}

static void print_dscp(const struct rtattr *attr)
{
	char text[256], key[16];
	unsigned int prio;

	if (!attr || RTA_PAYLOAD(attr) < TC_CEE_DSCPS)
		return;
	for (prio = 0; prio < TC_CEE_PRIOS; prio++) {
		snprintf(key, sizeof(key), "dscp%u", prio);
		if (dscp_list(RTA_DATA(attr), prio, text, sizeof(text)))
			print_string(PRINT_ANY, key, "dscp %s ", text);
	}
}

static void print_number(const struct option *o, __u64 val)
{
	char format[32];

	snprintf(format, sizeof(format), "%s %s ", o->name,
		 o->kind == KIND_NS ? "%uns" : o->kind == KIND_MS ? "%ums" : "%u");
	print_uint(PRINT_ANY, o->name, format, val);
}

static void print_share(const struct option *o, double val)
{
	char format[32];

	snprintf(format, sizeof(format), "%s %%g ", o->name);
	print_float(PRINT_ANY, o->name, format, val);
}

static void print_named(const struct option *o, __u64 val)
{
	const char *name = val < (__u64)o->count ? o->names[val] : "?";
	char format[32];

	/* the option "lossless" has no value */
	snprintf(format, sizeof(format), o->names == loss_names ? "%%s " : "%s %%s ", o->name);
	print_string(PRINT_ANY, o->name, format, name);
}

static void print_weight(__u64 val)
{
	if (val || is_json_context())
		print_uint(PRINT_ANY, "weight", "weight %u ", val);
	else
		print_string(PRINT_FP, NULL, "%s ", "strict");
}

static void print_option(const struct option *o, const struct rtattr *attr)
{
	__u64 val;

	if (o->kind == KIND_DSCP) {
		print_dscp(attr);
		return;
	}
	if (o->kind == KIND_TEXT) {
		if (attr && RTA_PAYLOAD(attr) > 1)
			print_string(PRINT_ANY, o->name, "domain %s ", RTA_DATA(attr));
		return;
	}
	if (!get_number(attr, &val))
		return;
	switch (o->kind) {
	case KIND_NAME:
		print_named(o, val);
		break;
	case KIND_RATE:
		if (val)
			tc_print_rate(PRINT_ANY, o->name, "rate %s ", val);
		break;
	case KIND_WEIGHT:
		print_weight(val);
		break;
	case KIND_ALPHA:
		print_share(o, (double)val / TC_CEE_ALPHA_ONE);
		break;
	case KIND_CHANCE:
		print_share(o, (double)val / TC_CEE_PMAX_ONE);
		break;
	default:
		print_number(o, val);
	}
}

/* Without -d, options of a priority are shown only if they are not the default. */
static bool prio_shown(struct rtattr *tb[], const struct option *o)
{
	__u64 lossless = 0, alpha = 0, ecn = 0, qcn = 0, flows = 1;

	get_number(tb[TCA_CEE_PRIO_LOSSLESS], &lossless);
	get_number(tb[TCA_CEE_PRIO_ALPHA], &alpha);
	get_number(tb[TCA_CEE_PRIO_ECN], &ecn);
	get_number(tb[TCA_CEE_PRIO_QCN], &qcn);
	get_number(tb[TCA_CEE_PRIO_FLOWS], &flows);
	switch (o->type) {
	case TCA_CEE_PRIO_ALPHA:
		return lossless && alpha;
	case TCA_CEE_PRIO_XOFF:
	case TCA_CEE_PRIO_XON:
		return lossless && !alpha;
	case TCA_CEE_PRIO_HEADROOM:
		return lossless;
	case TCA_CEE_PRIO_ECN:
	case TCA_CEE_PRIO_KMIN:
	case TCA_CEE_PRIO_KMAX:
	case TCA_CEE_PRIO_PMAX:
		return ecn;
	case TCA_CEE_PRIO_QCN:
	case TCA_CEE_PRIO_QEQ:
	case TCA_CEE_PRIO_LIMITER:
		return qcn;
	case TCA_CEE_PRIO_FLOWS:
		return flows > 1;
	}
	return true;
}

static void print_prio(struct rtattr *attr)
{
	struct rtattr *tb[TCA_CEE_PRIO_MAX + 1];
	__u64 mask = 0;
	char key[16];
	size_t i;

	parse_rtattr(tb, TCA_CEE_PRIO_MAX, RTA_DATA(attr), RTA_PAYLOAD(attr));
	if (!get_number(tb[TCA_CEE_PRIO_MASK], &mask) || !mask)
		return;
	snprintf(key, sizeof(key), "prio%d", __builtin_ctz(mask));
	open_json_object(key);
	print_nl();
	print_uint(PRINT_FP, NULL, "  prio %u ", __builtin_ctz(mask));
	for (i = 0; i < ARRAY_SIZE(prio_options); i++)
		if (is_json_context() || show_details || prio_shown(tb, &prio_options[i]))
			print_option(&prio_options[i], tb[prio_options[i].type]);
	close_json_object();
}

static int cee_print_qopt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_CEE_MAX + 1];
	struct rtattr *attr;
	size_t i;
	int rem;

	if (!opt)
		return 0;
	parse_rtattr(tb, TCA_CEE_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt));
	for (i = 0; i < ARRAY_SIZE(port_options); i++)
		print_option(&port_options[i], tb[port_options[i].type]);
	rem = RTA_PAYLOAD(opt);
	for (attr = RTA_DATA(opt); RTA_OK(attr, rem); attr = RTA_NEXT(attr, rem))
		if ((attr->rta_type & NLA_TYPE_MASK) == TCA_CEE_PRIO)
			print_prio(attr);
	return 0;
}

static void stat64(const char *key, const char *format, __u64 val)
{
	print_u64(PRINT_ANY, key, format, val);
}

/* "" or e.g. " xoff" if the priority is in the mask */
static void print_state(__u8 mask, unsigned int prio, const char *word)
{
	if (is_json_context())
		print_bool(PRINT_JSON, word, NULL, mask >> prio & 1);
	else if (mask >> prio & 1)
		print_string(PRINT_FP, NULL, " %s", word);
}

static void print_transmitter(const struct tc_cee_prio_xstats *p)
{
	stat64("in", " in %llu", p->in);
	stat64("sent", " sent %llu", p->sent);
	stat64("sent_bytes", " (%llu bytes)", p->sent_bytes);
	stat64("packets", " queued %llu", p->packets);
	stat64("backlog", " (%llu bytes", p->backlog);
	stat64("backlog_max", ", at most %llu)", p->backlog_max);
	print_nl();
	stat64("drop_limit", "    dropped limit %llu", p->drop_limit);
	stat64("drop_overflow", " overflow %llu", p->drop_overflow);
	stat64("drop_watchdog", " watchdog %llu", p->drop_watchdog);
	stat64("drop_reset", " reset %llu", p->drop_reset);
	stat64("marked", " marked %llu", p->marked);
	stat64("np_unmarked", " paused unmarked %llu", p->np_unmarked);
	stat64("storms", " storms %llu", p->storms);
	stat64("cnm_sent", " cnm sent %llu", p->cnm_sent);
	stat64("cnm_unsent", " unsent %llu", p->cnm_unsent);
}

static void print_port(const struct tc_cee_prio_xstats *p)
{
	print_nl();
	stat64("xoff_sent", "    xoff sent %llu", p->xoff_sent);
	stat64("xoff_received", " received %llu", p->xoff_received);
	stat64("xon_sent", " xon sent %llu", p->xon_sent);
	stat64("xon_received", " received %llu", p->xon_received);
	stat64("paused_ns", " paused %llu ns", p->paused_ns);
	print_nl();
	stat64("shared", "    buffer %llu", p->shared);
	stat64("shared_max", " (at most %llu)", p->shared_max);
	stat64("headroom", " headroom %llu", p->headroom);
	stat64("headroom_max", " (at most %llu)", p->headroom_max);
	stat64("overflow", " overflow %llu", p->overflow);
	stat64("cnm_received", " cnm received %llu", p->cnm_received);
	stat64("limiters", " limiters %llu", p->limiters);
	stat64("rate", " (least rate %llu)", p->rate);
}

/* In text, a priority without any traffic or pause is omitted. */
static void print_prio_stats(const struct tc_cee_xstats *x, unsigned int prio)
{
	const struct tc_cee_prio_xstats *p = &x->prio[prio];
	char key[16];

	if (!is_json_context() && !p->in && !p->xoff_received && !p->xoff_sent &&
	    !(x->lossless >> prio & 1))
		return;
	snprintf(key, sizeof(key), "prio%u", prio);
	open_json_object(key);
	print_nl();
	print_uint(PRINT_FP, NULL, "  prio %u", prio);
	print_state(x->lossless, prio, "lossless");
	print_state(x->xoff, prio, "xoff");
	print_state(x->paused, prio, "paused");
	print_state(x->storm, prio, "storm");
	print_state(x->hardware, prio, "hardware");
	print_string(PRINT_FP, NULL, "%s", ":");
	print_transmitter(p);
	print_port(p);
	close_json_object();
}

static int cee_print_xstats(struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct tc_cee_xstats x = { 0 };
	unsigned int prio;
	size_t len;

	if (!xstats)
		return 0;
	/* A newer kernel may report more, an older one less. */
	len = RTA_PAYLOAD(xstats);
	memcpy(&x, RTA_DATA(xstats), len < sizeof(x) ? len : sizeof(x));
	print_nl();
	stat64("domain_used", "  buffer used %llu", x.domain_used);
	stat64("domain_max", " (at most %llu)", x.domain_max);
	stat64("ignored", " pause frames ignored %llu", x.ignored);
	stat64("malformed", " malformed %llu", x.malformed);
	stat64("nomem", " no memory %llu", x.nomem);
	stat64("cnm_ignored", " cnm ignored %llu", x.cnm_ignored);
	stat64("cnm_strange", " strange %llu", x.cnm_strange);
	stat64("cnm_malformed", " malformed %llu", x.cnm_malformed);
	stat64("gso_segmented", " gso segmented %llu", x.gso_segmented);
	for (prio = 0; prio < TC_CEE_PRIOS; prio++)
		print_prio_stats(&x, prio);
	return 0;
}

struct qdisc_util cee_qdisc_util = {
	.id		= "cee",
	.parse_qopt	= cee_parse_qopt,
	.print_qopt	= cee_print_qopt,
	.print_xstats	= cee_print_xstats,
};
