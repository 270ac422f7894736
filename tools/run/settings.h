/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ndp_run is told: by its options, by a file, by the variable NDP_RUN.  All three have
 * the same words:
 *
 *	zero-rtt		connect() waits for no answer
 *	fallback [MS]		TCP to a destination that refuses NDP or is silent for so long
 *	except ITEM[,ITEM...]	ports and networks that stay TCP
 *	transport NAME		of NDP's sockets, in place of net.ndp.transport
 *	verbose			say each decision
 */
#ifndef NDP_RUN_SETTINGS_H
#define NDP_RUN_SETTINGS_H

#include <netinet/in.h>
#include <stdbool.h>

#include <linux/types.h>

/* Where ndp_run and the library look if they are told nothing else. */
#define SETTINGS_FILE		"/etc/ndp_run.conf"
/* The environment's variable by which ndp_run tells the library. */
#define SETTINGS_VARIABLE	"NDP_RUN"

#define TRANSPORT_MAX		16	/* a name and its end, as the kernel has it */
#define FALLBACK_MS		200	/* without a number */
#define FALLBACK_MS_MAX		60000
#define EXCEPT_MAX		64
#define SETTINGS_TEXT_MAX	8192	/* bytes of a file, or of the variable */

/* IPv4's addresses are those that are mapped into IPv6's. */
struct destination {
	struct in6_addr	addr;
	__u32	scope;
	__u16	port;
};

/**
 * struct except - what stays TCP
 * @first:	lowest port; 0 for a network
 * @last:	highest port
 * @net:	network
 * @prefix:	its length, in IPv6
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
	char		transport[TRANSPORT_MAX];	/* "": the namespace's */
	unsigned int	excepts;
	struct except	except[EXCEPT_MAX];
};

#define SETTINGS_ERROR	160
bool settings_parse(struct settings *s, const char *text, char error[SETTINGS_ERROR]);
int settings_read(const char *path, char text[SETTINGS_TEXT_MAX]);
bool settings_except(const struct settings *s, const struct destination *to);

#endif
