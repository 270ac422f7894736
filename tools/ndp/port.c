// SPDX-License-Identifier: GPL-2.0
/*
 * ndp port: all qdiscs of sch_ndp in the namespace, one per line, or with all that tc -s prints;
 * in tc's words (tools/iproute2/q_ndp.c).
 */
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <linux/pkt_sched.h>
#include <linux/pkt_sch_ndp.h>
#include <linux/rtnetlink.h>

#include "ndp.h"

struct port {
	int			ifindex;
	__u32			handle, parent, limit;
	__u8			mode;
	struct tc_ndp_xstats	x;
};

static struct port *ports;
static size_t n_ports;

/* Counters of a port: name in JSON, name in text, and offset. */
#define FIELD(type, name, text, brief)	\
	{ #name, text, offsetof(struct tc_ndp_xstats, name), sizeof(type), brief }
static const struct field {
	const char	*key, *text;
	unsigned int	offset, size;
	bool		brief;	/* also shown without -i */
} data[] = {
	FIELD(__u64, data_in, " in %llu", false),
	FIELD(__u64, data_sent, " sent %llu", false),
	FIELD(__u64, data_sent_bytes, " (%llu bytes)", false),
	FIELD(__u32, data_len, " queued %llu", true),
	FIELD(__u64, trimmed_arrival, " trimmed arriving %llu", true),
	FIELD(__u64, trimmed_tail, " tail %llu", true),
	FIELD(__u64, drop_data, " dropped %llu", true),
	FIELD(__u64, ecn_data, " marked %llu", false),
}, headers[] = {
	FIELD(__u64, header_in, " in %llu", false),
	FIELD(__u64, header_sent, " sent %llu", false),
	FIELD(__u64, header_sent_bytes, " (%llu bytes)", false),
	FIELD(__u32, header_len, " queued %llu", true),
	FIELD(__u32, header_len_bytes, " (%llu bytes)", false),
	FIELD(__u64, bounced, " bounced %llu", true),
	FIELD(__u64, drop_header, " dropped %llu", true),
	FIELD(__u64, drop_bounce, " (no return %llu)", false),
}, other[] = {
	FIELD(__u64, other_in, " in %llu", false),
	FIELD(__u64, other_sent, " sent %llu", false),
	FIELD(__u64, other_sent_bytes, " (%llu bytes)", false),
	FIELD(__u32, other_len, " queued %llu", true),
	FIELD(__u64, drop_other, " dropped %llu", true),
	FIELD(__u64, ecn_other, " marked %llu", false),
}, all[] = {
	FIELD(__u64, drop_nomem, " memory %llu", false),
	FIELD(__u64, gso_segmented, " gso segmented %llu", false),
};

static const struct group {
	const char		*name;
	const struct field	*fields;
	unsigned int		n;
} groups[] = {
	{ "data", data, MNL_ARRAY_SIZE(data) },
	{ "header", headers, MNL_ARRAY_SIZE(headers) },
	{ "other", other, MNL_ARRAY_SIZE(other) },
	{ "no", all, MNL_ARRAY_SIZE(all) },
};

static unsigned long long number_of(const struct port *p, const struct field *f)
{
	const char *at = (const char *)&p->x + f->offset;
	__u64 u64;
	__u32 u32;

	if (f->size == sizeof(u64)) {
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
	memcpy(&u32, at, sizeof(u32));
	return u32;
}

/* Parsing of the kernel's messages */

static void read_options(const struct nlattr *options, struct port *p)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, options) {
		if (mnl_attr_get_type(attr) == TCA_NDP_MODE)
			p->mode = mnl_attr_get_u8(attr);
		else if (mnl_attr_get_type(attr) == TCA_NDP_LIMIT)
			p->limit = mnl_attr_get_u32(attr);
	}
}

/* A newer kernel may report more, an older one less. */
static void read_xstats(const struct nlattr *attr, struct port *p)
{
	size_t len = mnl_attr_get_payload_len(attr);

	memcpy(&p->x, mnl_attr_get_payload(attr), len < sizeof(p->x) ? len : sizeof(p->x));
}

static int on_qdisc(const struct nlmsghdr *nlh, void *unused)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	struct port p = { .ifindex = tc->tcm_ifindex, .handle = tc->tcm_handle,
			  .parent = tc->tcm_parent };
	const struct nlattr *attr, *options = NULL;
	const char *kind = "";

	mnl_attr_for_each(attr, nlh, sizeof(*tc)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			kind = mnl_attr_get_str(attr);
		else if (mnl_attr_get_type(attr) == TCA_OPTIONS)
			options = attr;
		else if (mnl_attr_get_type(attr) == TCA_XSTATS)
			read_xstats(attr, &p);
	}
	if (strcmp(kind, "ndp") || !options)
		return MNL_CB_OK;
	read_options(options, &p);
	/* Double the array whenever it is full. */
	if (!(n_ports & (n_ports - 1))) {
		ports = realloc(ports, (n_ports ? 2 * n_ports : 1) * sizeof(*ports));
		if (!ports)
			err(EXIT_FAILURE, "memory");
	}
	ports[n_ports++] = p;
	return MNL_CB_OK;
}

static int dump_qdiscs(void)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct netlink g;
	int failed;

	if (!netlink_open(&g, NETLINK_ROUTE))
		return -1;
	nlh->nlmsg_type = RTM_GETQDISC;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct tcmsg));
	n_ports = 0;
	failed = netlink_dump(&g, nlh, on_qdisc, NULL);
	mnl_socket_close(g.nl);
	return failed;
}

/* Output */

/* As tc prints it: ffff:1, without zeros. */
static const char *handle_text(__u32 handle, char text[16])
{
	unsigned int minor = TC_H_MIN(handle);

	if (handle == TC_H_ROOT)
		return "root";
	if (minor)
		snprintf(text, 16, "%x:%x", TC_H_MAJ(handle) >> 16, minor);
	else
		snprintf(text, 16, "%x:", TC_H_MAJ(handle) >> 16);
	return text;
}

static const char *mode_text(const struct port *p)
{
	return p->mode == TCA_NDP_MODE_HOST ? "host" : "switch";
}

static void print_port_json(const struct port *p, const char *name, bool first)
{
	const struct group *g;
	char text[16];
	unsigned int i;

	printf("%s{\"dev\":", first ? "[" : ",");
	print_json_string(name);
	printf(",\"handle\":\"%s\"", handle_text(p->handle, text));
	printf(",\"parent\":\"%s\",\"mode\":\"%s\",\"limit\":%u", handle_text(p->parent, text),
	       mode_text(p), p->limit);
	for (g = groups; g < groups + MNL_ARRAY_SIZE(groups); g++)
		for (i = 0; i < g->n; i++)
			printf(",\"%s\":%llu", g->fields[i].key, number_of(p, &g->fields[i]));
	putchar('}');
}

static void print_group(const struct port *p, const struct group *g, bool brief)
{
	bool named = false;
	unsigned int i;

	for (i = 0; i < g->n; i++) {
		if (brief && !g->fields[i].brief)
			continue;
		if (!named)
			printf(brief ? " %s" : "\n  %s", g->name);
		named = true;
		printf(g->fields[i].text, number_of(p, &g->fields[i]));
	}
}

static void print_port(const struct port *p, const char *name, bool brief)
{
	const struct group *g;
	char text[16];

	print_text(name);
	printf(" %s", handle_text(p->handle, text));
	printf(" parent %s mode %s limit %u", handle_text(p->parent, text), mode_text(p), p->limit);
	for (g = groups; g < groups + MNL_ARRAY_SIZE(groups); g++)
		print_group(p, g, brief);
	putchar('\n');
}

/**
 * do_port - ndp port [show] [DEVICE]
 * @args: the words behind "port"
 * @o:	-i
 */
void do_port(char **args, const struct options *o)
{
	const char *only = only_device(args), *name;
	char text[IF_NAMESIZE];
	unsigned int n = 0;
	size_t i;

	if (dump_qdiscs())
		errx(EXIT_FAILURE, "qdiscs: %s", netlink_error());
	for (i = 0; i < n_ports; i++) {
		name = device_text(ports[i].ifindex, text);
		if (only && strcmp(name, only))
			continue;
		if (json)
			print_port_json(&ports[i], name, !n);
		else
			print_port(&ports[i], name, !o->info);
		n++;
	}
	if (json)
		puts(n ? "]" : "[]");
	free(ports);
	ports = NULL;
}
