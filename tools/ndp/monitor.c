// SPDX-License-Identifier: GPL-2.0
/*
 * ndp monitor: events of AF_NDP in the namespace, a line each, as they happen; enum ndp_event and
 * enum ndp_event_attr of include/uapi/linux/ndp_netlink.h define them.
 */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/genetlink.h>
#include <linux/ndp_netlink.h>

#include "ndp.h"

/* Receive buffer, bytes, as far as the kernel allows. */
#define BUFFER	(4 << 20)

/* Names of events as printed, and as given on the command line. */
static const struct {
	const char	*name, *wanted;
} events[NDP_EVENT_MAX + 1] = {
	[NDP_EVENT_OPEN] = { "open", "open" },
	[NDP_EVENT_CLOSE] = { "close", "close" },
	[NDP_EVENT_PATH_OUT] = { "path-out", "path" },
	[NDP_EVENT_PATH_BACK] = { "path-back", "path" },
	[NDP_EVENT_TIMEOUT] = { "timeout", "timeout" },
	[NDP_EVENT_FLOOD] = { "flood", "flood" },
};

struct event {
	__u32		event, lost, error, out, packets;
	union address	src, dst, via;
	__u16		entropy, path;
	__u8		role;
	bool		has_dst, has_role, has_path, abort, control, silent;
};

struct watching {
	char	**names;	/* names of the wanted events; none: all */
	bool	times;
	__u16	family;		/* generic netlink's number of AF_NDP */
};

static bool is_wanted(const struct watching *w, __u32 event)
{
	char **name;

	for (name = w->names; *name; name++)
		if (!strcmp(*name, events[event].wanted))
			return true;
	return !*w->names;
}

static void read_port(union address *a, const struct nlattr *attr)
{
	address_set_port(a, mnl_attr_get_u16(attr));
}

static void read_event(const struct nlmsghdr *nlh, struct event *e)
{
	const struct nlattr *attr;

	memset(e, 0, sizeof(*e));
	/* Addresses come before their ports. */
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case NDP_E_EVENT:
			e->event = mnl_attr_get_u32(attr);
			break;
		case NDP_E_LOST:
			e->lost = mnl_attr_get_u32(attr);
			break;
		case NDP_E_SRC:
			get_address(attr, &e->src);
			break;
		case NDP_E_DST:
			get_address(attr, &e->dst);
			e->has_dst = true;
			break;
		case NDP_E_SPORT:
			read_port(&e->src, attr);
			break;
		case NDP_E_DPORT:
			read_port(&e->dst, attr);
			break;
		case NDP_E_ROLE:
			e->role = mnl_attr_get_u8(attr);
			e->has_role = true;
			break;
		case NDP_E_ERROR:
			e->error = mnl_attr_get_u32(attr);
			break;
		case NDP_E_ABORT:
			e->abort = true;
			break;
		case NDP_E_VIA:
			get_address(attr, &e->via);
			break;
		case NDP_E_ENTROPY:
			e->entropy = mnl_attr_get_u16(attr);
			break;
		case NDP_E_PATH:
			e->path = mnl_attr_get_u16(attr);
			e->has_path = true;
			break;
		case NDP_E_CONTROL:
			e->control = true;
			break;
		case NDP_E_SILENT:
			e->silent = true;
			break;
		case NDP_E_OUT:
			e->out = mnl_attr_get_u32(attr);
			break;
		case NDP_E_PACKETS:
			e->packets = mnl_attr_get_u32(attr);
			break;
		}
	}
}

/* Begin a line: time and event. */
static void print_begin(const struct watching *w, const char *event)
{
	struct timespec now;
	char text[32];
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	if (json) {
		putchar('{');
		if (w->times)
			printf("\"time\":%lld.%06ld,", (long long)now.tv_sec, now.tv_nsec / 1000);
		printf("\"event\":\"%s\"", event);
		return;
	}
	if (w->times && localtime_r(&now.tv_sec, &tm) &&
	    strftime(text, sizeof(text), "%F %T", &tm))
		printf("%s.%06ld ", text, now.tv_nsec / 1000);
	fputs(event, stdout);
}

/* End a line, and flush it to the reader. */
static void print_end(void)
{
	puts(json ? "}" : "");
	if (fflush(stdout))
		errx(EXIT_FAILURE, "cannot write: %m");
}

/* @n: events lost, by the kernel's count; 0: unknown, the socket's buffer overflowed */
static void print_lost(const struct watching *w, __u32 n)
{
	print_begin(w, "lost");
	if (json && n)
		printf(",\"events\":%u", n);
	else if (!json && n)
		printf(" %u", n);
	print_end();
}

static void print_event_json(const struct event *e)
{
	char text[ADDRESS_TEXT];

	printf(",\"local\":\"%s\"", address_text(&e->src, text));
	if (!e->has_path)
		printf(",\"lport\":%u", address_port(&e->src));
	if (e->has_dst)
		printf(",\"peer\":\"%s\"", address_text(&e->dst, text));
	if (e->has_dst && !e->has_path)
		printf(",\"pport\":%u", address_port(&e->dst));
	if (e->has_role)
		printf(",\"role\":\"%s\"", e->role ? "acceptor" : "initiator");
	if (e->event == NDP_EVENT_CLOSE)
		printf(",\"aborted\":%s", e->abort ? "true" : "false");
	if (e->error)
		printf(",\"errno\":%u,\"error\":\"%s\"", e->error, strerror(e->error));
	if (e->has_path)
		printf(",\"via\":\"%s\",\"entropy\":%u,\"path\":%u", address_text(&e->via, text),
		       e->entropy, e->path);
	if (e->has_path)
		printf(",\"of\":\"%s\",\"for\":\"%s\",\"out_us\":%u",
		       e->control ? "answers" : "data", e->silent ? "losses" : "trims", e->out);
	if (e->packets)
		printf(",\"packets\":%u", e->packets);
}

/* Print ADDRESS:PORT, [ADDRESS]:PORT of IPv6; of paths the address alone. */
static void print_end_of(const struct event *e, const union address *a)
{
	char text[ADDRESS_TEXT];

	address_text(a, text);
	if (e->has_path)
		printf(" %s", text);
	else
		printf(a->any.sa_family == AF_INET6 ? " [%s]:%u" : " %s:%u", text, address_port(a));
}

static void print_event(const struct event *e)
{
	char text[ADDRESS_TEXT];

	print_end_of(e, &e->src);
	if (e->has_dst)
		print_end_of(e, &e->dst);
	if (e->has_role)
		fputs(e->role ? " acceptor" : " initiator", stdout);
	if (e->abort)
		fputs(" aborted", stdout);
	if (e->error)
		printf(" error \"%s\"", strerror(e->error));
	if (e->has_path)
		printf(" via %s entropy %u path %u of %s for %s out %uus",
		       address_text(&e->via, text), e->entropy, e->path,
		       e->control ? "answers" : "data", e->silent ? "losses" : "trims", e->out);
	if (e->packets)
		printf(" packets %u", e->packets);
}

/* When its module is unloaded the family and its groups end, and no more events arrive. */
static void on_control(const struct nlmsghdr *nlh, __u16 family)
{
	const struct genlmsghdr *gh = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	if (gh->cmd != CTRL_CMD_DELFAMILY)
		return;
	mnl_attr_for_each(attr, nlh, sizeof(*gh))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
		    mnl_attr_get_u16(attr) == family)
			errx(EXIT_FAILURE, "module ndp was unloaded");
}

static int on_event(const struct nlmsghdr *nlh, void *data)
{
	const struct genlmsghdr *gh = mnl_nlmsg_get_payload(nlh);
	struct watching *w = data;
	struct event e;

	if (nlh->nlmsg_type == GENL_ID_CTRL)
		on_control(nlh, w->family);
	if (nlh->nlmsg_type != w->family || gh->cmd != NDP_CMD_EVENT)
		return MNL_CB_OK;
	read_event(nlh, &e);
	if (e.lost)
		print_lost(w, e.lost);
	/* A newer kernel may have more. */
	if (e.event > NDP_EVENT_MAX || !events[e.event].name || !is_wanted(w, e.event))
		return MNL_CB_OK;
	print_begin(w, events[e.event].name);
	if (json)
		print_event_json(&e);
	else
		print_event(&e);
	print_end();
	return MNL_CB_OK;
}

static void check_wanted(char **names)
{
	unsigned int i;

	for (; *names; names++) {
		for (i = 1; i <= NDP_EVENT_MAX; i++)
			if (!strcmp(*names, events[i].wanted))
				break;
		if (i > NDP_EVENT_MAX)
			errx(EXIT_USAGE,
			     "event \"%s\" is not one of open, close, path, timeout, flood",
			     *names);
	}
}

static void join(struct netlink *g)
{
	/* Group of the controller, which announces families that come and go. */
	__u32 control = GENL_ID_CTRL;
	int size = BUFFER;

	open_ndp(g);
	if (!g->events)
		errx(EXIT_FAILURE, "module ndp is older than this program and tells no events");
	/* The second option is for unprivileged users, and may grant less. */
	if (setsockopt(mnl_socket_get_fd(g->nl), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(mnl_socket_get_fd(g->nl), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (mnl_socket_setsockopt(g->nl, NETLINK_ADD_MEMBERSHIP, &control, sizeof(control)) ||
	    mnl_socket_setsockopt(g->nl, NETLINK_ADD_MEMBERSHIP, &g->events, sizeof(g->events)))
		err(EXIT_FAILURE, "events");
}

/**
 * do_monitor - ndp monitor [EVENT...]
 * @args: the words behind "monitor"
 * @times: print the time of each event
 */
void do_monitor(char **args, bool times)
{
	struct watching w = { .names = args, .times = times };
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct netlink g;
	ssize_t n;

	check_wanted(args);
	join(&g);
	w.family = g.family;
	for (;;) {
		n = mnl_socket_recvfrom(g.nl, buf, sizeof(buf));
		if (n < 0 && errno == ENOBUFS)
			print_lost(&w, 0);
		else if (n < 0 && errno != EINTR)
			err(EXIT_FAILURE, "events");
		else if (n > 0 && mnl_cb_run(buf, n, 0, 0, on_event, &w) < 0)
			err(EXIT_FAILURE, "events");
	}
}
