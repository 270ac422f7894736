/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zvnic: what its files share.  See vnic.c for the way of a frame and for who may hold
 * what when a vNIC goes.
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
 * @peer:	the other end; NULL before it is made and once both go
 * @guest:	this is the guest's end, and what follows is used
 * @port:	of the switch that the other end is below, or NULL
 * @napi:	takes frames from the switch
 * @rate:	bits per second that it takes, or 0; read by NAPI, written under RTNL
 * @next:	when the rate allows the next frame, ns; NAPI's
 * @held:	frames have waited for that; NAPI's
 * @pace:	wakes NAPI at @next
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
