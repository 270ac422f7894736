// SPDX-License-Identifier: GPL-2.0
/*
 * ndp peer: the hosts that connections go to, one per line; ndp path live: each of the paths to
 * them.  Both use one dump of the kernel, which has a message for each path.
 */
#include <net/if.h>
#include <string.h>
#include <linux/genetlink.h>
#include <linux/ndp_netlink.h>

#include "ndp.h"

/* A path to a host that connections go to, and that host. */
struct live {
	struct path	path;
	union address	src;
	__u32		uid, mark, ifindex, conns, srtt;
	__u32		acks, nacks, losses, answers_lost, probes, replaced, left_out, control_out;
};

/* State of a dump, and the path that was printed last. */
struct shown_live {
	struct shown	all;	/* must be first */
	struct live	last;
};

static void read_live(const struct nlmsghdr *nlh, struct live *l)
{
	const struct nlattr *attr;

	memset(l, 0, sizeof(*l));
	read_path(nlh, &l->path);
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case NDP_A_SRC:
			get_address(attr, &l->src);
			break;
		case NDP_A_UID:
			l->uid = mnl_attr_get_u32(attr);
			break;
		case NDP_A_SOCK_MARK:
			l->mark = mnl_attr_get_u32(attr);
			break;
		case NDP_A_IFINDEX:
			l->ifindex = mnl_attr_get_u32(attr);
			break;
		case NDP_A_CONNS:
			l->conns = mnl_attr_get_u32(attr);
			break;
		case NDP_A_SRTT:
			l->srtt = mnl_attr_get_u32(attr);
			break;
		case NDP_A_ACKS:
			l->acks = mnl_attr_get_u32(attr);
			break;
		case NDP_A_NACKS:
			l->nacks = mnl_attr_get_u32(attr);
			break;
		case NDP_A_LOSSES:
			l->losses = mnl_attr_get_u32(attr);
			break;
		case NDP_A_ANSWERS_LOST:
			l->answers_lost = mnl_attr_get_u32(attr);
			break;
		case NDP_A_PROBES:
			l->probes = mnl_attr_get_u32(attr);
			break;
		case NDP_A_REPLACED:
			l->replaced = mnl_attr_get_u32(attr);
			break;
		case NDP_A_LEFT_OUT:
			l->left_out = mnl_attr_get_u32(attr);
			break;
		case NDP_A_CONTROL_OUT:
			l->control_out = mnl_attr_get_u32(attr);
			break;
		}
	}
}

static bool same_peer(const struct live *a, const struct live *b)
{
	return address_same(&a->path.dst, &b->path.dst) && address_same(&a->src, &b->src) &&
	       a->uid == b->uid && a->mark == b->mark && a->ifindex == b->ifindex;
}

/* Print what identifies a peer, and what is known of it as a whole. */
static void print_peer_json(const struct live *l, const char *sep)
{
	char dst[ADDRESS_TEXT], src[ADDRESS_TEXT], dev[IF_NAMESIZE];

	printf("%s{\"peer\":\"%s\",\"local\":\"%s\",\"uid\":%u,\"mark\":%u,\"dev\":", sep,
	       address_text(&l->path.dst, dst), address_text(&l->src, src), l->uid, l->mark);
	print_json_string(device_text(l->ifindex, dev));
	printf(",\"connections\":%u,\"rtt_us\":%u,", l->conns, l->srtt);
}

static void print_peer(const struct live *l)
{
	char dst[ADDRESS_TEXT], src[ADDRESS_TEXT], dev[IF_NAMESIZE];

	printf("%s from %s connections %u rtt %uus", address_text(&l->path.dst, dst),
	       address_text(&l->src, src), l->conns, l->srtt);
	if (l->uid)
		printf(" uid %u", l->uid);
	if (l->mark)
		printf(" mark %u", l->mark);
	if (l->ifindex) {
		fputs(" dev ", stdout);
		print_text(device_text(l->ifindex, dev));
	}
}

/* The paths of a peer, one by one */

static void print_live_json(const struct live *l, bool first)
{
	char via[ADDRESS_TEXT];

	printf("%s{\"via\":\"%s\",\"entropy\":%u,\"mark\":%u,", first ? "" : ",",
	       address_text(&l->path.via, via), l->path.entropy, l->path.mark);
	printf("\"acks\":%u,\"nacks\":%u,\"losses\":%u,", l->acks, l->nacks, l->losses);
	printf("\"answers_lost\":%u,\"probes\":%u,\"replaced\":%u,", l->answers_lost,
	       l->probes, l->replaced);
	printf("\"left_out_us\":%u,\"control_left_out_us\":%u}", l->left_out, l->control_out);
}

static void print_live(const struct live *l)
{
	char via[ADDRESS_TEXT];

	printf("    via %s entropy %u", address_text(&l->path.via, via), l->path.entropy);
	if (l->path.has_mark)
		printf(" mark %u", l->path.mark);
	printf(" acks %u nacks %u losses %u", l->acks, l->nacks, l->losses);
	printf(" answers-lost %u probes %u", l->answers_lost, l->probes);
	if (l->replaced)
		printf(" replaced %u", l->replaced);
	if (l->left_out)
		printf(" left-out %uus", l->left_out);
	if (l->control_out)
		printf(" control-left-out %uus", l->control_out);
	putchar('\n');
}

static int on_live(const struct nlmsghdr *nlh, void *data)
{
	struct shown_live *s = data;
	bool first, other;
	struct live l;

	read_live(nlh, &l);
	if (!s->all.all && !address_same(&l.path.dst, &s->all.only.dst))
		return MNL_CB_OK;
	first = !s->all.n++;
	other = first || !same_peer(&l, &s->last);
	s->last = l;
	s->all.tail = "]}";
	if (json) {
		if (other) {
			print_peer_json(&l, first ? "[" : "]},");
			fputs("\"paths\":[", stdout);
		}
		print_live_json(&l, other);
	} else {
		if (other) {
			print_peer(&l);
			putchar('\n');
		}
		print_live(&l);
	}
	return MNL_CB_OK;
}

/**
 * path_live - ndp path live [PEER]
 * @args: the words behind "live"
 */
void path_live(char **args)
{
	struct shown_live s = { .all.all = !*args };

	if (*args)
		parse_address("peer", *args, &s.all.only.dst);
	if (*args)
		no_more(args + 1);
	dump(NDP_CMD_PEER_GET, on_live, &s.all);
}

/* One line per peer */

/* A peer whose paths are being added up. */
struct shown_peer {
	struct shown	all;	/* must be first */
	struct live	sum;	/* sum over all its paths */
	bool		some;	/* sum has a path in it */
	unsigned int	paths, left_out, control_out;
};

static void peer_end(struct shown *all)
{
	struct shown_peer *s = (struct shown_peer *)all;

	if (!s->some)
		return;
	if (json) {
		print_peer_json(&s->sum, all->n ? "," : "[");
		printf("\"paths\":%u,\"left_out\":%u,\"control_left_out\":%u,", s->paths,
		       s->left_out, s->control_out);
		printf("\"acks\":%u,\"nacks\":%u,\"losses\":%u}", s->sum.acks, s->sum.nacks,
		       s->sum.losses);
	} else {
		print_peer(&s->sum);
		printf(" paths %u left-out %u control-left-out %u", s->paths, s->left_out,
		       s->control_out);
		printf(" acks %u nacks %u losses %u\n", s->sum.acks, s->sum.nacks, s->sum.losses);
	}
	all->n++;
	s->some = false;
}

static int on_peer(const struct nlmsghdr *nlh, void *data)
{
	struct shown_peer *s = data;
	struct live l;

	read_live(nlh, &l);
	if (!s->all.all && !address_same(&l.path.dst, &s->all.only.dst))
		return MNL_CB_OK;
	if (s->some && same_peer(&l, &s->sum)) {
		s->sum.acks += l.acks;
		s->sum.nacks += l.nacks;
		s->sum.losses += l.losses;
	} else {
		peer_end(&s->all);
		s->sum = l;
		s->some = true;
		s->paths = 0;
		s->left_out = 0;
		s->control_out = 0;
	}
	s->paths++;
	s->left_out += !!l.left_out;
	s->control_out += !!l.control_out;
	return MNL_CB_OK;
}

/**
 * do_peer - ndp peer [ADDRESS]
 * @args: the words behind "peer"
 */
void do_peer(char **args)
{
	struct shown_peer s = { .all.end = peer_end };

	if (*args && (!strcmp(*args, "show") || !strcmp(*args, "list")))
		args++;
	s.all.all = !*args;
	if (*args) {
		parse_address("peer", *args, &s.all.only.dst);
		no_more(args + 1);
	}
	dump(NDP_CMD_PEER_GET, on_peer, &s.all);
}
