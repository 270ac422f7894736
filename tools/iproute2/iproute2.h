/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interface of the distribution's ip and tc to plugins.
 *
 * Both programs load a plugin for a kind that they do not know:
 *   ip  link_KIND.so from its library folder (IP_LIB_DIR), symbol KIND_link_util
 *   tc  q_KIND.so from its library folder (TC_LIB_DIR), symbol KIND_qdisc_util
 * and export their own functions to it.  No distribution ships the headers, so
 * this file declares the few that our plugins use.  Layouts and functions are
 * the same in iproute2 6.1 (Debian 12) and 6.15 (Debian 13).
 */
#ifndef _TOOLS_IPROUTE2_H
#define _TOOLS_IPROUTE2_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <stdio.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* ip: a kind of link */
struct link_util {
	struct link_util *next;
	const char *id;
	int maxattr;
	/* 0, or an error; argv starts after "type KIND" */
	int (*parse_opt)(struct link_util *lu, int argc, char **argv,
			 struct nlmsghdr *n);
	/* only called with -d; tb is NULL without attributes */
	void (*print_opt)(struct link_util *lu, FILE *f, struct rtattr *tb[]);
	void (*print_xstats)(struct link_util *lu, FILE *f,
			     struct rtattr *xstats);
	void (*print_help)(struct link_util *lu, int argc, char **argv,
			   FILE *f);
	int (*parse_ifla_xstats)(struct link_util *lu, int argc, char **argv);
	int (*print_ifla_xstats)(struct nlmsghdr *n, void *arg);
};

/* tc: a kind of queueing discipline */
struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	/* 0, or an error */
	int (*parse_qopt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*print_xstats)(struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats);
	int (*parse_copt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*has_block)(struct qdisc_util *qu, struct rtattr *opt,
			 __u32 block_idx, bool *p_has);
};

/* The request that "ip link" builds, as iplink_parse() expects it. */
struct iplink_req {
	struct nlmsghdr n;
	struct ifinfomsg i;
	char buf[1024];
};

enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

enum color_attr {
	COLOR_IFNAME,
	COLOR_MAC,
	COLOR_INET,
	COLOR_INET6,
	COLOR_OPERSTATE_UP,
	COLOR_OPERSTATE_DOWN,
	COLOR_NONE,
};

/* exported by both ip and tc */
extern int show_details;
extern int show_stats;

bool is_json_context(void);
void open_json_object(const char *key);
void close_json_object(void);
int print_color_string(enum output_type t, enum color_attr color,
		       const char *key, const char *fmt, const char *value);
int print_color_uint(enum output_type t, enum color_attr color,
		     const char *key, const char *fmt, unsigned int value);
int print_color_u64(enum output_type t, enum color_attr color,
		    const char *key, const char *fmt, uint64_t value);
int print_color_float(enum output_type t, enum color_attr color,
		      const char *key, const char *fmt, double value);
int print_color_bool(enum output_type t, enum color_attr color,
		     const char *key, const char *fmt, bool value);
/* rate in bytes per second */
int print_color_rate(bool use_iec, enum output_type t, enum color_attr color,
		     const char *key, const char *fmt,
		     unsigned long long rate);
void print_nl(void);

#define print_string(t, k, f, v)  print_color_string(t, COLOR_NONE, k, f, v)
#define print_uint(t, k, f, v)	  print_color_uint(t, COLOR_NONE, k, f, v)
#define print_u64(t, k, f, v)	  print_color_u64(t, COLOR_NONE, k, f, v)
#define print_float(t, k, f, v)	  print_color_float(t, COLOR_NONE, k, f, v)
#define print_bool(t, k, f, v)	  print_color_bool(t, COLOR_NONE, k, f, v)

int addattr8(struct nlmsghdr *n, int maxlen, int type, __u8 data);
int addattr16(struct nlmsghdr *n, int maxlen, int type, __u16 data);
int addattr32(struct nlmsghdr *n, int maxlen, int type, __u32 data);
int addattr64(struct nlmsghdr *n, int maxlen, int type, __u64 data);
int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data,
	      int alen);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int parse_rtattr(struct rtattr *tb[], int max, struct rtattr *rta, int len);

int get_unsigned(unsigned int *val, const char *arg, int base);
int get_u64(__u64 *val, const char *arg, int base);
int get_u32(__u32 *val, const char *arg, int base);
int get_u16(__u16 *val, const char *arg, int base);
int get_u8(__u8 *val, const char *arg, int base);
/* these leave the program, missarg() and invarg() with status 255 */
noreturn void missarg(const char *key);
noreturn void invarg(const char *msg, const char *arg);
noreturn void duparg(const char *key, const char *arg);
noreturn void duparg2(const char *key, const char *arg);

/* exported by ip only */
int iplink_parse(int argc, char **argv, struct iplink_req *req, char **type);

/* exported by tc only; rate in bytes per second, 0 is success */
extern int show_raw;
int get_rate64(__u64 *rate, const char *str);
int get_size(unsigned int *size, const char *str);
/* prints "key RATE" by fmt, or the number of bytes per second in JSON */
void tc_print_rate(enum output_type t, const char *key, const char *fmt,
		   unsigned long long rate);

#endif /* _TOOLS_IPROUTE2_H */
