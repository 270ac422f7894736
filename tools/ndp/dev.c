// SPDX-License-Identifier: GPL-2.0
/*
 * ndp dev: the devices that are up, the pace of the pulls for each, and the connections that wait
 * to pull; enum ndp_dev_attr of include/uapi/linux/ndp_netlink.h defines the numbers.
 */
#include <net/if.h>
#include <string.h>
#include <linux/genetlink.h>
#include <linux/ndp_netlink.h>

#include "ndp.h"

/* Numbers of a device, as far as the kernel sent them. */
struct device {
	__u64	number[NDP_D_MAX + 1];
	bool	has[NDP_D_MAX + 1];
};

/* State of a dump, and the only device to show, or NULL. */
struct shown_dev {
	struct shown	all;	/* must be first */
	const char	*only;
};

static void read_device(const struct nlmsghdr *nlh, struct device *d)
{
	const struct nlattr *attr;
	unsigned int type;

	memset(d, 0, sizeof(*d));
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		type = mnl_attr_get_type(attr);
		if (type > NDP_D_MAX || type == NDP_D_PAD)
			continue;
		d->number[type] = mnl_attr_get_payload_len(attr) == sizeof(__u64) ?
				  mnl_attr_get_u64(attr) : mnl_attr_get_u32(attr);
		d->has[type] = true;
	}
}

static const char *rate_from(const struct device *d)
{
	if (d->has[NDP_D_SET])
		return "sysctl";
	return d->has[NDP_D_SPEED] ? "link" : "default";
}

static double share_of(const struct device *d)
{
	return d->number[NDP_D_SHARE] * 100 / 1024.0;
}

/* Counters, as they are named in JSON and in text. */
static const struct {
	unsigned int	type;
	const char	*key, *word;
} counters[] = {
	{ NDP_D_CONNS, "connections", "connections" },
	{ NDP_D_WAITING, "waiting", "waiting" },
	{ NDP_D_PULLS, "pulls", "pulls" },
	{ NDP_D_PULLED_IN, "pulled_in", "pulled-in" },
	{ NDP_D_TRIMMED_IN, "trimmed_in", "trimmed-in" },
	{ NDP_D_PUSHED_IN, "pushed_in", "pushed-in" },
};

static void print_device_json(const struct device *d, const char *name, bool first)
{
	char below[IF_NAMESIZE];
	unsigned int i;

	printf("%s{\"dev\":", first ? "[" : ",");
	print_json_string(name);
	printf(",\"rate_bps\":%llu,\"rate_from\":\"%s\"", (unsigned long long)d->number[NDP_D_RATE],
	       rate_from(d));
	if (d->has[NDP_D_SPEED])
		printf(",\"speed_bps\":%llu", (unsigned long long)d->number[NDP_D_SPEED]);
	printf(",\"low_share\":%llu", (unsigned long long)d->number[NDP_D_LOW_SHARE]);
	if (d->has[NDP_D_BELOW]) {
		fputs(",\"below\":", stdout);
		print_json_string(device_text(d->number[NDP_D_BELOW], below));
	}
	if (d->has[NDP_D_PACE]) {
		printf(",\"pace_bps\":%llu,\"share\":%.1f",
		       (unsigned long long)d->number[NDP_D_PACE], share_of(d));
		for (i = 0; i < MNL_ARRAY_SIZE(counters); i++)
			printf(",\"%s\":%llu", counters[i].key,
			       (unsigned long long)d->number[counters[i].type]);
	}
	putchar('}');
}

static void print_device(const struct device *d, const char *name)
{
	char below[IF_NAMESIZE];
	unsigned int i;

	print_text(name);
	printf(" rate %gMbit from %s", d->number[NDP_D_RATE] / 1e6, rate_from(d));
	if (d->number[NDP_D_LOW_SHARE])
		printf(" low-share %llu%%", (unsigned long long)d->number[NDP_D_LOW_SHARE]);
	if (d->has[NDP_D_BELOW]) {
		fputs(" below ", stdout);
		print_text(device_text(d->number[NDP_D_BELOW], below));
	}
	if (d->has[NDP_D_PACE]) {
		printf(" pace %gMbit share %.1f%%", d->number[NDP_D_PACE] / 1e6, share_of(d));
		for (i = 0; i < MNL_ARRAY_SIZE(counters); i++)
			printf(" %s %llu", counters[i].word,
			       (unsigned long long)d->number[counters[i].type]);
	}
	putchar('\n');
}

static int on_device(const struct nlmsghdr *nlh, void *data)
{
	struct shown_dev *s = data;
	char text[IF_NAMESIZE];
	const char *name;
	struct device d;

	read_device(nlh, &d);
	name = device_text(d.number[NDP_D_IFINDEX], text);
	if (s->only && strcmp(name, s->only))
		return MNL_CB_OK;
	if (json)
		print_device_json(&d, name, !s->all.n);
	else
		print_device(&d, name);
	s->all.n++;
	return MNL_CB_OK;
}

/**
 * do_dev - ndp dev [show] [DEVICE]
 * @args: the words behind "dev"
 */
void do_dev(char **args)
{
	struct shown_dev s = { .only = only_device(args) };

	dump(NDP_CMD_DEV_GET, on_device, &s.all);
}
