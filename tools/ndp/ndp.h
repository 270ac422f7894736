/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of ndp share. */
#ifndef NDP_TOOL_H
#define NDP_TOOL_H

#include <stdbool.h>
#include <stdio.h>
#include <libmnl/libmnl.h>

#define EXIT_USAGE 2

#define STAT_FILE "/proc/net/ndp_stat"

extern bool json;

/* Of ndp socket: all, those that listen, what NDP_INFO says, and whose they are. */
struct options {
	bool	all, listening, info, processes;
};

/* A netlink socket. */
struct netlink {
	struct mnl_socket	*nl;
	__u16			family;	/* generic netlink's number of AF_NDP */
	__u32			seq;
};

bool netlink_open(struct netlink *g, int protocol);
int netlink_talk(struct netlink *g, struct nlmsghdr *nlh, mnl_cb_t cb, void *data);
const char *netlink_error(void);
bool genl_open(struct netlink *g);
struct nlmsghdr *genl_request(void *buf, __u16 type, __u16 flags, __u8 cmd, __u8 version);

void print_text(const char *text);
void print_json_string(const char *text);

unsigned int parse_port(const char *text);
void do_doctor(char **args);
void do_socket(char **args, const struct options *o);

#endif
