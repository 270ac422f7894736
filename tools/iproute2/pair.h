/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common to the plugins for ip of links with a peer, a rate or a time.
 *
 * The output is exact and can be used as input: a rate or a delay is never rounded.
 */
#ifndef NDP_PAIR_H
#define NDP_PAIR_H

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <linux/if_link.h>
#include "iproute2.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MAXLEN		1024

struct unit {
	const char *name;
	uint64_t factor;
};

/* Largest unit first; of several equal ones the first is printed. */
static const struct unit rate_units[] = {
	{ "Tbit", 1000000000000ULL },
	{ "Gbit", 1000000000ULL },
	{ "Mbit", 1000000ULL },
	{ "Kbit", 1000ULL },
	{ "bit", 1ULL },
	{ "TBps", 8000000000000ULL },
	{ "GBps", 8000000000ULL },
	{ "MBps", 8000000ULL },
	{ "KBps", 8000ULL },
	{ "Bps", 8ULL },
};

static const struct unit delay_units[] = {
	{ "s", 1000000000ULL },
	{ "ms", 1000000ULL },
	{ "us", 1000ULL },
	{ "ns", 1ULL },
	{ "sec", 1000000000ULL },
	{ "msec", 1000000ULL },
	{ "usec", 1000ULL },
	{ "nsec", 1ULL },
};

static inline int bad(const char *kind, const char *what, const char *arg, const char *want)
{
	fprintf(stderr, "%s: \"%s\" is not a %s (%s)\n", kind, arg, what, want);
	return -1;
}

static inline const struct unit *find_unit(const struct unit *units, size_t n,
					   const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcasecmp(units[i].name, name))
			return &units[i];
	return NULL;
}

/*
 * Parse a value like "1.5gbit" into whole units of 1.  Decimal digits, not floating
 * point, so that every value is exact; fractions of 1 are refused.
 */
static inline int parse_scaled(uint64_t *val, const char *arg,
			       const struct unit *units, size_t n)
{
	uint64_t whole = 0, frac = 0, scale = 1;
	const struct unit *unit;
	const char *p = arg;

	if (*p < '0' || *p > '9')
		return -1;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*p - '0'), &whole))
			return -1;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++) {
			if (scale >= 1000000000000ULL)
				return -1;
			frac = frac * 10 + (*p - '0');
			scale *= 10;
		}
	unit = find_unit(units, n, p);
	if (!unit || frac * (__uint128_t)unit->factor % scale ||
	    __builtin_mul_overflow(whole, unit->factor, &whole))
		return -1;
	frac = frac * (__uint128_t)unit->factor / scale;
	return __builtin_add_overflow(whole, frac, val) ? -1 : 0;
}

/* Format a value in the largest unit that needs no more than three decimals. */
static inline const char *format_scaled(char *buf, size_t size, uint64_t val,
					const struct unit *units)
{
	unsigned int frac;
	int len;

	while (units->factor > 1 &&
	       (val < units->factor ||
		(units->factor >= 1000 && val % (units->factor / 1000))))
		units++;
	frac = units->factor >= 1000 ?
		val % units->factor / (units->factor / 1000) : 0;
	len = snprintf(buf, size, "%llu",
		       (unsigned long long)(val / units->factor));
	if (frac) {
		len += snprintf(buf + len, size - len, ".%03u", frac);
		while (buf[len - 1] == '0')
			buf[--len] = 0;
	}
	snprintf(buf + len, size - len, "%s", units->name);
	return buf;
}

/*
 * The rest of the command describes the far end.  ip's own parser writes it
 * behind a second struct ifinfomsg; its flags and index go to the first one,
 * which is the near end's, so they are moved.
 */
static inline int parse_peer(const char *kind, int attr, int argc, char **argv,
			     struct nlmsghdr *n)
{
	struct ifinfomsg *ifm = NLMSG_DATA(n);
	struct ifinfomsg near = *ifm;
	struct rtattr *nest;
	char *type = NULL;
	int used;

	if (!(n->nlmsg_flags & NLM_F_CREATE)) {
		fprintf(stderr, "%s: the ends of a pair cannot be changed\n", kind);
		return -1;
	}
	ifm->ifi_flags = 0;
	ifm->ifi_change = 0;
	ifm->ifi_index = 0;

	nest = addattr_nest(n, MAXLEN, attr);
	n->nlmsg_len += NLMSG_ALIGN(sizeof(*ifm));
	used = iplink_parse(argc, argv, (struct iplink_req *)n, &type);
	if (used < 0)
		return used;
	if (type)
		return bad(kind, "peer option", "type", "both ends are of one type");
	if (used < argc)
		return bad(kind, "peer option", argv[used], "see: ip link help");
	memcpy(RTA_DATA(nest), ifm, sizeof(*ifm));
	*ifm = near;
	addattr_nest_end(n, nest);
	return 0;
}

static inline bool get_attr64(struct rtattr *tb[], int type, uint64_t *val)
{
	if (!tb[type] || RTA_PAYLOAD(tb[type]) < sizeof(*val))
		return false;
	memcpy(val, RTA_DATA(tb[type]), sizeof(*val));
	return true;
}

#endif /* NDP_PAIR_H */
