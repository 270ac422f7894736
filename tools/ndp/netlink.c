// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink for ndp: a request and its answers, with the kernel's error message if it refuses
 * (extended ACK).  libmnl does the rest.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/genetlink.h>
#include <linux/ndp_netlink.h>

#include "ndp.h"

#ifndef NETLINK_EXT_ACK
#define NETLINK_EXT_ACK 11
#endif

/* The kernel makes a dump's messages as large as the reader's buffer, up to this size. */
#define DUMP_SIZE	32768

/* Most attempts at a dump that changes interrupt. */
#define DUMP_TRIES	16

/* Error message of the kernel, or empty. */
static char said[160];

static const char *nl_message(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	unsigned int off = sizeof(*err);
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		off += mnl_nlmsg_get_payload_len(nlh) > off ?
		       err->msg.nlmsg_len - sizeof(err->msg) : 0;
	mnl_attr_for_each(attr, nlh, off)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
			return mnl_attr_get_str(attr);
	return NULL;
}

static int on_error(const struct nlmsghdr *nlh, void *data)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	const char *text;

	if (!err->error)
		return MNL_CB_STOP;
	text = nl_message(nlh);
	if (text)
		snprintf(said, sizeof(said), "%s (%s)", text, strerror(-err->error));
	errno = -err->error;
	return MNL_CB_ERROR;
}

/* No more entries: libmnl handles the other types, as NLMSG_DONE. */
static mnl_cb_t control_cbs[] = {
	[NLMSG_ERROR] = on_error,
};

/* Return: why the last request failed. */
const char *netlink_error(void)
{
	return *said ? said : strerror(errno);
}

/*
 * Do messages carry the flag that the dumped objects changed meanwhile?  libmnl would stop
 * there, and the rest would be taken for the next answer.  The flag is cleared.
 */
static bool take_interrupted(void *buf, int len)
{
	struct nlmsghdr *nlh = buf;
	bool interrupted = false;

	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		interrupted |= nlh->nlmsg_flags & NLM_F_DUMP_INTR;
		nlh->nlmsg_flags &= ~NLM_F_DUMP_INTR;
	}
	return interrupted;
}

/*
 * Send a request and handle all answers.  Return: 0 or -1 with errno set; EINTR: answered, but
 * objects that were added or removed meanwhile may be missing.
 */
int netlink_talk(struct netlink *g, struct nlmsghdr *nlh, mnl_cb_t cb, void *data)
{
	char buf[DUMP_SIZE];
	unsigned int port = mnl_socket_get_portid(g->nl);
	bool interrupted = false;
	int n;

	*said = '\0';
	nlh->nlmsg_seq = ++g->seq;
	if (mnl_socket_sendto(g->nl, nlh, nlh->nlmsg_len) < 0)
		return -1;
	do {
		n = mnl_socket_recvfrom(g->nl, buf, sizeof(buf));
		if (n < 0)
			return -1;
		interrupted |= take_interrupted(buf, n);
		n = mnl_cb_run2(buf, n, g->seq, port, cb, data, control_cbs,
				MNL_ARRAY_SIZE(control_cbs));
		if (n < 0)
			return -1;
	} while (n > MNL_CB_STOP);
	if (interrupted)
		errno = EINTR;
	return interrupted ? -1 : 0;
}

/* Messages of a dump, stored one after the other. */
struct kept {
	char	*bytes;
	size_t	len, size;
};

static int keep(const struct nlmsghdr *nlh, void *data)
{
	size_t len = MNL_ALIGN(nlh->nlmsg_len);
	struct kept *k = data;

	if (k->len + len > k->size) {
		k->size = 2 * (k->len + len);
		k->bytes = realloc(k->bytes, k->size);
		if (!k->bytes)
			err(EXIT_FAILURE, "memory");
	}
	memcpy(k->bytes + k->len, nlh, nlh->nlmsg_len);
	k->len += len;
	return MNL_CB_OK;
}

/*
 * Send a request, again if a change has interrupted the dump, and handle the answers once all
 * are there.  Return: as netlink_talk(); on failure @cb was not called.
 */
int netlink_dump(struct netlink *g, struct nlmsghdr *nlh, mnl_cb_t cb, void *data)
{
	unsigned int tries = DUMP_TRIES;
	struct kept k = { 0 };
	int failed;
	size_t at;

	do {
		k.len = 0;
		failed = netlink_talk(g, nlh, keep, &k);
	} while (failed && errno == EINTR && --tries);
	for (at = 0; !failed && at < k.len; at += MNL_ALIGN(nlh->nlmsg_len)) {
		nlh = (struct nlmsghdr *)(k.bytes + at);
		cb(nlh, data);
	}
	free(k.bytes);
	return failed;
}

struct nlmsghdr *genl_request(void *buf, __u16 type, __u16 flags, __u8 cmd, __u8 version)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *gh;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	gh = mnl_nlmsg_put_extra_header(nlh, sizeof(*gh));
	gh->cmd = cmd;
	gh->version = version;
	return nlh;
}

/* Is a multicast group of the family that of the events? */
static void read_group(struct netlink *g, const struct nlattr *group)
{
	const struct nlattr *attr;
	const char *name = "";
	__u32 id = 0;

	mnl_attr_for_each_nested(attr, group) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
			name = mnl_attr_get_str(attr);
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID)
			id = mnl_attr_get_u32(attr);
	}
	if (!strcmp(name, NDP_GENL_EVENTS))
		g->events = id;
}

static int on_family(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr, *group;
	struct netlink *g = data;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			g->family = mnl_attr_get_u16(attr);
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GROUPS)
			mnl_attr_for_each_nested(group, attr)
				read_group(g, group);
	}
	return MNL_CB_OK;
}

/* Return: false with errno set. */
bool netlink_open(struct netlink *g, int protocol)
{
	int one = 1, error;

	*said = '\0';
	memset(g, 0, sizeof(*g));
	g->seq = time(NULL);
	g->nl = mnl_socket_open(protocol);
	if (!g->nl)
		return false;
	if (mnl_socket_bind(g->nl, 0, MNL_SOCKET_AUTOPID) < 0) {
		error = errno;
		mnl_socket_close(g->nl);
		errno = error;
		return false;
	}
	mnl_socket_setsockopt(g->nl, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(g->nl, NETLINK_CAP_ACK, &one, sizeof(one));
	return true;
}

/*
 * Requesting the family loads the module.  Return: false if that failed; netlink_error() has the
 * reason.
 */
bool genl_open(struct netlink *g)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh;

	if (!netlink_open(g, NETLINK_GENERIC))
		return false;
	nlh = genl_request(buf, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, 1);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, NDP_GENL_NAME);
	if (!netlink_talk(g, nlh, on_family, g) && g->family)
		return true;
	if (errno == ENOENT)
		snprintf(said, sizeof(said),
			 "the kernel has no AF_NDP: module ndp is not loaded");
	mnl_socket_close(g->nl);
	return false;
}
