/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zvnic: declarations shared by its files.  See vnic.c for the path of a frame and for the
 * references that may be left when a vNIC is removed.
 */
#ifndef _NET_ZVNIC_ZVNIC_H
#define _NET_ZVNIC_ZVNIC_H

#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/zvnic.h>
#include <net/zswitch.h>

/**
 * struct zvnic - one end, private part of its net_device
 * @dev:	the device
 * @peer:	the other end; NULL before it is created and once both are removed
 * @guest:	this is the guest's end, which uses the members below
 * @port:	the other end's port in its switch, or NULL
 * @napi:	takes frames from the switch
 * @rate:	limit in bits per second, or 0; read by NAPI, written under RTNL
 * @next:	time in ns when the rate allows the next frame; used by NAPI only
 * @held:	a frame has had to wait for @next; used by NAPI only
 * @pace:	schedules NAPI at @next
 */
struct zvnic {
	struct net_device		*dev;
	struct net_device __rcu		*peer;
	bool				guest;
	struct zswitch_port __rcu	*port;
	struct napi_struct		napi;
	u64				rate;
	u64				next;
	bool				held;
	struct hrtimer			pace;
};

/* vnic.c */
void zvnic_setup(struct net_device *dev);
void zvnic_link_update(struct zvnic *guest);
void zvnic_repace(struct zvnic *v);
extern struct zswitch_kind zvnic_kind;

#endif /* _NET_ZVNIC_ZVNIC_H */
