/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations common to the parts of ndp. */
#ifndef NDP_TOOL_H
#define NDP_TOOL_H

#include <stdbool.h>
#include <stdio.h>
#include <libmnl/libmnl.h>

#include "../address.h"

#define EXIT_USAGE 2

#define STAT_FILE "/proc/net/ndp_stat"

extern bool json;

/* Options of ndp socket: all sockets, listeners, NDP_INFO, and the processes. */
struct options {
	bool	all, listening, info, processes;
};

/* A netlink socket. */
struct netlink {
	struct mnl_socket	*nl;
	__u16			family;	/* generic netlink's number of AF_NDP */
	__u32			events;	/* number of its multicast group */
	__u32			seq;
};

bool netlink_open(struct netlink *g, int protocol);
int netlink_talk(struct netlink *g, struct nlmsghdr *nlh, mnl_cb_t cb, void *data);
int netlink_dump(struct netlink *g, struct nlmsghdr *nlh, mnl_cb_t cb, void *data);
const char *netlink_error(void);
bool genl_open(struct netlink *g);
struct nlmsghdr *genl_request(void *buf, __u16 type, __u16 flags, __u8 cmd, __u8 version);

void print_pretty(void);
void print_text(const char *text);
void print_json_string(const char *text);

/* A path as on the command line or in a dump. */
struct path {
	union address	dst;
	union address	via;
	__u32	mark;
	__u16	entropy;
	__u8		plen;
	bool		has_via;
	bool		has_entropy;
	bool		has_mark;
};

/* State of a dump: which paths are shown, and how many were printed. */
struct shown {
	struct path	only;
	bool		all;
	unsigned int	n;
	const char	*tail;	/* end of the JSON behind the last entry */
	void		(*end)(struct shown *s);	/* prints the rest at the end, or NULL */
};

unsigned long parse_number(const char *what, const char *text, int base, unsigned long max);
unsigned int parse_port(const char *text);
void parse_address(const char *what, const char *text, union address *addr);
void get_address(const struct nlattr *attr, union address *a);
void read_path(const struct nlmsghdr *nlh, struct path *p);
void open_ndp(struct netlink *g);
void dump(__u8 cmd, mnl_cb_t print, struct shown *s);
void no_more(char **args);
const char *only_device(char **args);
const char *device_text(__u32 ifindex, char *text);

void do_dev(char **args);
void do_doctor(char **args);
void do_monitor(char **args, bool times);
void do_peer(char **args);
void do_port(char **args, const struct options *o);
void do_socket(char **args, const struct options *o);
void do_stat(char **args, bool zeros);
void do_stat_rates(char **args, bool zeros, double seconds, unsigned long count);
void path_live(char **args);

#endif
