/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, events: notifications by generic netlink (event.c).
 */
#ifndef _NDP_EVENT_H
#define _NDP_EVENT_H

#include <net/genetlink.h>
#include <uapi/linux/ndp_netlink.h>
#include "sock.h"

/* netlink.c */
extern struct genl_family ndp_genl;

/* event.c */
extern const struct genl_multicast_group ndp_event_group;

int ndp_nl_put_addr(struct sk_buff *skb, int attr, const struct in6_addr *addr);
void ndp_event_open(struct ndp_sock *np);
void ndp_event_close(struct ndp_sock *np, bool abort, int err);
void ndp_event_path(const struct ndp_sock *np, bool control, u16 i, bool out);
void ndp_event_timeout(const struct ndp_sock *np, u32 packets);
void ndp_event_flood(const struct sock *lsk, const struct in6_addr *addr);
int ndp_event_init(void);
void ndp_event_exit(void);
void ndp_event_net_init(struct net *net);
void ndp_event_net_exit(struct ndp_net *nn);

#endif /* _NDP_EVENT_H */
