/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings of ndp_run: its options, a file, and the variable NDP_RUN.  All three use the same
 * words:
 *
 *	zero-rtt		connect() does not wait for an answer
 *	fallback [MS]		TCP to a destination that refuses NDP or does not answer in time
 *	except ITEM[,ITEM...]	ports and networks for which TCP is used
 *	transport NAME		of NDP sockets, overrides net.ndp.transport
 *	verbose			report each decision
 */
#ifndef NDP_RUN_SETTINGS_H
#define NDP_RUN_SETTINGS_H

#include <netinet/in.h>
#include <stdbool.h>

#include <linux/types.h>

/* Settings file that ndp_run and the library read by default. */
#define SETTINGS_FILE		"/etc/ndp_run.conf"
/* Environment variable by which ndp_run passes the settings to the library. */
#define SETTINGS_VARIABLE	"NDP_RUN"

#define TRANSPORT_MAX		16	/* final zero included, as in the kernel */
#define FALLBACK_MS		200	/* without a number given */
#define FALLBACK_MS_MAX		60000
#define EXCEPT_MAX		64
#define SETTINGS_TEXT_MAX	8192	/* bytes of a file, or of the variable */

/* IPv4 addresses are stored as IPv4-mapped IPv6 addresses. */
struct destination {
	struct in6_addr	addr;
	__u32	scope;
	__u16	port;
};

/**
 * struct except - destinations for which TCP is used
 * @first:	lowest port; 0 for a network
 * @last:	highest port
 * @net:	network
 * @prefix:	prefix length, in IPv6
 */
struct except {
	__u16	first, last;
	struct in6_addr	net;
	unsigned int	prefix;
};

struct settings {
	bool		zero_rtt;
	bool		verbose;
	int		fallback_ms;	/* 0: none */
	char		transport[TRANSPORT_MAX];	/* "": the namespace's default */
	unsigned int	excepts;
	struct except	except[EXCEPT_MAX];
};

#define SETTINGS_ERROR	160
bool settings_parse(struct settings *s, const char *text, char error[SETTINGS_ERROR]);
int settings_read(const char *path, char text[SETTINGS_TEXT_MAX]);
bool settings_except(const struct settings *s, const struct destination *to);

#endif
