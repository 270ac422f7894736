/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zvtap: declarations shared by its files.  tap_dev.c has the path of a frame, tap_queue.c the
 * rings, and the references that may be left when a queue is closed.
 *
 * Calls run downwards only: tap_link (netlink, device nodes), tap_dev (network device),
 * tap_queue (open descriptors, their rings and credit).
 */
#ifndef _NET_ZVNIC_ZVTAP_H
#define _NET_ZVNIC_ZVTAP_H

#include <linux/if_tap.h>
#include <linux/netdevice.h>
#include <net/zswitch.h>

/*
 * vhost takes up to 64 frames off a ring before it looks at the guest.  When it is stopped it
 * puts back those that it did not deliver, and there must be room for them.
 */
#define ZVTAP_BATCH	64

/* Ring size in frames: enough for vhost to work on a batch while the next one waits */
#define ZVTAP_RING	(4 * ZVTAP_BATCH)
#define ZVTAP_RING_MIN	(2 * ZVTAP_BATCH)
#define ZVTAP_RING_MAX	65536

/**
 * struct zvtap - a switch port of a virtual machine, private part of its net_device
 * @dev:	device
 * @tap:	state of the tap library, with the queues that are open
 * @node:	in the list of all zvtaps; RTNL
 * @port:	port of the switch, or NULL
 * @napi:	takes frames from the switch
 * @held:	frames taken from the switch whose queues have no room; used by NAPI only
 * @nobody:	no queue is in use, so frames may have to wait
 */
struct zvtap {
	struct net_device		*dev;
	struct tap_dev			tap;
	struct list_head		node;
	struct zswitch_port __rcu	*port;
	struct napi_struct		napi;
	struct sk_buff_head		held;
	bool				nobody;
};

/* tap_link.c */
void zvtap_update_links(void);

/* tap_dev.c */
void zvtap_setup(struct net_device *dev);
void zvtap_link_update(struct zvtap *v);
void zvtap_schedule(struct zvtap *v);
void zvtap_drop_rx(struct zvtap *v, struct sk_buff *skb);
extern struct zswitch_kind zvtap_kind;

/* tap_queue.c */
struct zvtap_queue;
bool zvtap_charge(struct zvtap *v, struct sk_buff *skb);
void zvtap_clamp_all(struct zvtap *v);
struct zvtap_queue *zvtap_select(struct zvtap *v, struct sk_buff *skb);
netdev_features_t zvtap_features(const struct zvtap *v, const struct zvtap_queue *zq);
bool zvtap_produce(struct zvtap_queue *zq, struct sk_buff *skb);
void zvtap_look_now(void);
void zvtap_queues_init(struct cdev *cdev);
void zvtap_queues_exit(void);

#endif /* _NET_ZVNIC_ZVTAP_H */
