/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, what all know of the pull transport, and of the rates of devices.
 */
#ifndef _NDP_PULL_H
#define _NDP_PULL_H

#include <net/ndp_transport.h>
#include "net.h"

struct ndp_sock;

/* Rate assumed of a device that tells none, bits per second. */
#define NDP_RATE_DEFAULT	10000000000ULL

/* Depth of a switch's data queue that pulls and timeouts allow for. */
#define NDP_SWITCH_LIMIT	8

/* grant.c */
extern const struct ndp_transport ndp_pull_transport;

/* pull.c */
int ndp_pull_init(void);
void ndp_pull_exit(void);
u64 ndp_dev_rate(struct net *net, const struct net_device *dev);
int ndp_pull_priority(const struct ndp_sock *np);

#endif /* _NDP_PULL_H */
