/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zswitch: interface for kinds of devices that can be stopped and woken (zvnic).
 *
 * A device of any other kind is a wire: the switch receives from it by an rx_handler, and sends to
 * it through its qdisc.  A device of a kind registered here hands its frames to the switch itself,
 * stops its transmit queues when the switch asks for it, and pulls frames from the switch when it
 * can take them.
 */
#ifndef _NET_ZSWITCH_H
#define _NET_ZSWITCH_H

#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/rtnetlink.h>

/* Number of transmit queues that the switch can stop and wake separately */
#define ZSWITCH_TXQS	32

struct zswitch_port;

/**
 * struct zswitch_kind - a kind of device that can be stopped and woken
 * @link_ops:	identifies the devices of this kind
 * @remote:	the devices lead to other hosts, as wires do (zbridge): they have no credit to
 *		give, and frames of control may arrive by them
 * @attach:	a device becomes a port: from now on it may call zswitch_send() and
 *		zswitch_pull().  Context: RTNL.  Return: 0 or an error
 * @detach:	the device ceases to be a port.  After a grace period nobody may call these
 *		functions any more; all its queues may resume.  Context: RTNL
 * @kick:	frames wait for the device where there were none.  Context: RCU, bottom halves are
 *		off, a lock of the switch is held: zswitch_pull() must be called later
 * @stop:	stop a transmit queue, which has just sent.  Context: as @kick, within
 *		zswitch_send().  NULL if the kind has no queues to stop
 *		Context: as @kick, within zswitch_send().  NULL if it has none to stop
 * @wake:	wake transmit queues, a bit each.  Context: as @kick.  NULL as @stop
 * @node:	in the switch's list of kinds; RTNL
 */
struct zswitch_kind {
	const struct rtnl_link_ops *link_ops;
	bool remote;
	int (*attach)(struct net_device *dev, struct zswitch_port *port,
		      struct netlink_ext_ack *extack);
	void (*detach)(struct net_device *dev);
	void (*kick)(struct net_device *dev);
	void (*stop)(struct net_device *dev, unsigned int txq);
	void (*wake)(struct net_device *dev, u32 txqs);
	struct list_head node;
};

void zswitch_register_kind(struct zswitch_kind *kind);
void zswitch_unregister_kind(struct zswitch_kind *kind);

void zswitch_send(struct zswitch_port *port, struct sk_buff *skb, int txq);
struct sk_buff *zswitch_pull(struct zswitch_port *port, u8 prios);

int zswitch_default_qdiscs(struct net_device *dev);
u16 zswitch_select_queue(struct net_device *dev, struct sk_buff *skb,
			 struct net_device *sb_dev);

#endif /* _NET_ZSWITCH_H */
