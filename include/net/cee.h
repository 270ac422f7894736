/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_cee: interface between a software switch and its ports on wires.
 *
 * A switch with queues of its own keeps frames until the port's qdisc can send them
 * (struct cee_source).  While frames that came in by a lossless port wait, they are
 * charged to that port (cee_ingress_charge()), so that its peer is paused in time.
 *
 * net/sched/cee_source.c has the functions.
 */
#ifndef _NET_CEE_H
#define _NET_CEE_H

#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/types.h>

struct cee_set;
struct cee_source;

/**
 * struct cee_source_ops - callbacks of the switch for its port
 * @backlog:	bytes that wait in a priority.
 *		Context: the qdisc's root lock, bottom halves are off, RCU
 * @pull:	hand over a frame of a priority, its data at the MAC header; or NULL.  It
 *		may be a GSO packet, which the qdisc segments.
 *		Context: as @backlog
 * @attached:	the device has got sch_cee as its qdisc, or has lost it.  @pull is not
 *		called any more when sch_cee was lost and a grace period has passed.
 *		Context: RTNL
 *
 * No callback may transmit on the device, or take a lock under which another device is
 * kicked by cee_source_kick() and waited for.
 */
struct cee_source_ops {
	u32 (*backlog)(struct cee_source *src, unsigned int prio);
	struct sk_buff *(*pull)(struct cee_source *src, unsigned int prio);
	void (*attached)(struct cee_source *src, bool yes);
};

/**
 * struct cee_source - the switch's queues behind a port
 * @dev:	the port's device
 * @ops:	callbacks
 * @node:	in sch_cee's list of all sources; RTNL
 */
struct cee_source {
	struct net_device		*dev;
	const struct cee_source_ops	*ops;
	struct list_head		node;
};

int cee_source_add(struct cee_source *src);
void cee_source_del(struct cee_source *src);
void cee_source_kick(const struct cee_source *src);
unsigned int cee_source_classify(const struct net_device *out, const struct net_device *in,
				 const struct sk_buff *skb);
struct cee_set *cee_ingress_charge(struct net_device *dev, unsigned int prio, u32 len);
void cee_ingress_uncharge(struct cee_set *set, unsigned int prio, u32 len);

#endif /* _NET_CEE_H */
