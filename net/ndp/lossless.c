// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP and lossless networks: those that drop nothing for lack of buffer space.
 *
 * A transport that leaves reliability to the network (light.c) would be slow where ports drop.  So
 * either end refuses its connections on a device that is not known to lead to a lossless network.
 * The device of the first route, or the one by which the opening arrived, is checked, once.  It
 * qualifies if
 *
 * - it is the loopback device;
 * - it is a port of a lossless virtual switch (zvnic), or that switch's own device (zswitch), or
 *   a VLAN or macvlan on one of these;
 * - the operator has declared all devices of the namespace lossless: net.ndp.lossless.  No host
 *   can see whether each port on the way pauses (PFC), and a guest does not see what is behind
 *   its virtio-net.
 *
 * Non-goals: other routes that packets take (paths, a route that changes); whether a zswitch is
 * configured to drop, or has wires that drop; probing the network; recovery from losses that
 * happen all the same (timer.c, order.c).
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
 * ndp_lossless_ok - may a transport's connections use a device?
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
