/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zswitch: what a kind of device does that can be made to wait (zvnic).
 *
 * A device of any other kind is a wire: it is received from by an rx_handler, and sent to
 * by its qdisc.  A kind that is registered here hands its frames to the switch itself,
 * stops its transmit queues when the switch says so, and takes its frames when it can.
 */
#ifndef _NET_ZSWITCH_H
#define _NET_ZSWITCH_H

#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/rtnetlink.h>

/* Transmit queues that are told apart when a sender is to wait */
#define ZSWITCH_TXQS	32

struct zswitch_port;

/**
 * struct zswitch_kind - a kind of device that can be made to wait
 * @link_ops:	tells its devices
 * @remote:	what is behind its devices is on other hosts, as behind a wire (zbridge): they have
 *		no credit to give, and frames of control may come by them
 * @attach:	a device becomes a port: from now on it may call zswitch_send() and
 *		zswitch_pull().  Context: RTNL.  Return: 0 or an error
 * @detach:	it ceases to be one.  When a grace period has passed nobody may call
 *		these any more; all its queues may go on.  Context: RTNL
 * @kick:	frames wait for it where there were none.  Context: RCU, bottom halves are
 *		off, a lock of the switch is held: zswitch_pull() must be called later
 * @stop:	a transmit queue, which has just sent, must not send.
 *		Context: as @kick, within zswitch_send().  NULL if it has none to stop
 * @wake:	transmit queues, a bit each, may go on.  Context: as @kick.  NULL as @stop
 * @node:	the switch's; RTNL
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
