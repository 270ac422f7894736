/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, devices: the links below them and their rates.
 */
#ifndef _NDP_DEVICE_H
#define _NDP_DEVICE_H

#include <linux/netdevice.h>
#include <linux/refcount.h>

/* Rate assumed of a device that reports none, bits per second. */
#define NDP_RATE_DEFAULT	10000000000ULL

/* Depth of a switch's data queue that pulls and timeouts allow for, packets. */
#define NDP_SWITCH_LIMIT	8

/**
 * struct ndp_link - the link of a device
 * @node:	in the hash table of all links, by @dev
 * @dev:	device, compared only: the link leaves the table when the device unregisters
 * @name:	the device's name, for log messages
 * @ref:	references of the table and of users
 * @rate_bps:	link speed, bits per second; 0 when unknown
 * @rcu:	frees the link when no lookup sees it any more
 */
struct ndp_link {
	struct hlist_node	node;
	const struct net_device	*dev;
	char			name[IFNAMSIZ];
	refcount_t		ref;
	u64			rate_bps;
	struct rcu_head		rcu;
};

/* device.c */
const struct net_device *ndp_bottom(const struct net_device *dev);
struct ndp_link *ndp_link_get(const struct net_device *dev);
void ndp_link_put(struct ndp_link *link);
u64 ndp_link_rate(const struct ndp_link *link);
u64 ndp_dev_speed(const struct net_device *dev);
u64 ndp_dev_rate(struct net *net, const struct net_device *dev);
int ndp_device_init(void);
void ndp_device_exit(void);

#endif /* _NDP_DEVICE_H */
