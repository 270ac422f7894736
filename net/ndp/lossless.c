// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP and networks that lose nothing for want of room.
 *
 * A transport that leaves reliability to the network (light.c) would be slow where ports drop.  So
 * its connections are refused, at either end, by a device behind which nothing shows that this is
 * such a network.  Looked at is the device of the first route, or of the opening, once.  What
 * shows it:
 *
 * - loopback;
 * - a port of a lossless virtual switch (zvnic), or that switch's own device (zswitch), also
 *   below VLANs and macvlans;
 * - the operator's word, for all devices of a namespace: net.ndp.lossless.  No host can see
 *   whether each port on the way pauses (PFC), and a guest does not see what is behind its
 *   virtio-net.
 *
 * Non-goals: other routes that packets take (paths, a route that changes); whether a zswitch was
 * told to drop, or has wires that do; finding out by sending; what is lost all the same (timer.c,
 * order.c).
 */
#include <net/rtnetlink.h>
#include "call.h"
#include "device.h"
#include "transport.h"

static bool ndp_is_lossless_kind(const struct net_device *dev)
{
	const struct rtnl_link_ops *ops = dev->rtnl_link_ops;

	return ops && (!strcmp(ops->kind, "zvnic") || !strcmp(ops->kind, "zswitch"));
}

/**
 * ndp_lossless_ok - may a transport's connections go by a device?
 * @net:	namespace
 * @tp:		transport
 * @dev:	device
 *
 * Context: RCU read side.
 * Return: yes.
 */
bool ndp_lossless_ok(const struct net *net, const struct ndp_transport *tp,
		     const struct net_device *dev)
{
	if (!tp->lossless || dev->flags & IFF_LOOPBACK || READ_ONCE(ndp_pernet(net)->lossless))
		return true;
	return ndp_is_lossless_kind(dev) || ndp_is_lossless_kind(ndp_bottom(dev));
}
