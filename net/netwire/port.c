// SPDX-License-Identifier: GPL-2.0
/*
 * netwire: one end of a cable as a network device.
 *
 * The link is up while both ends are open; then both carriers are on and both
 * directions take frames.  When either end closes, both directions are emptied
 * and the frames counted as lost, as if the plug had been pulled.
 *
 * Teardown.  Both ends are deleted together (netwire_dellink), with either end,
 * its namespace or the module.  These may hold a reference to an end, and none
 * does when its memory is freed:
 *
 *  - The other end, by port->peer: for get_iflink, get_link_net, open and stop
 *    under RTNL; in transmission, timers and NAPI in softirq.  dellink clears
 *    both pointers under RTNL before either end is unregistered, and
 *    unregistering waits for an RCU grace period before the memory is freed: by
 *    then softirqs that loaded the pointer have ended.
 *  - Its own timers: hrtimer_cancel() in ndo_stop, after @up was cleared under
 *    the lock that is held wherever a timer is started.  An end that is not open
 *    has no timer.
 *  - Its NAPI, scheduled by the sender's timers and by itself: ndo_stop takes
 *    both directions down first, if the other end is still tied to it; if not
 *    (dellink), no new softirq finds it, and napi_disable() waits for the one
 *    that runs.  NAPI never starts a timer of a direction that is down.
 *    Scheduling a disabled NAPI does nothing.
 *  - Frames: those in the rings and in flight are freed in ndo_stop of the
 *    sending end.  A frame in flight refers to no device, socket, route or
 *    namespace (netwire_strip).  Delivered frames belong to the stack, which
 *    drops those that refer to the device before it releases the device.
 *  - The core: transmit, statistics, ethtool; it stops all of them itself.
 *
 * Nothing else refers to module text: frames carry no destructor of ours and
 * there are no RCU callbacks, so unloading needs no barrier beyond what
 * rtnl_link_unregister() does.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include "netwire.h"

/* No segmentation offloads: frames on a wire are no longer than the MTU. */
#define NETWIRE_FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST |	\
				 NETIF_F_HW_CSUM | NETIF_F_RXCSUM |	\
				 NETIF_F_HIGHDMA)

/* The qdisc layer dequeues as many frames at once as the byte queue limit allows,
 * and sends those that the ring refuses before all others, whatever their class.
 * A limit of 1 byte lets it dequeue no more than one frame at a time.
 */
static void netwire_no_bulk(struct net_device *dev)
{
#ifdef CONFIG_BQL
	netdev_get_tx_queue(dev, 0)->dql.max_limit = 1;
#endif
}

static int netwire_init(struct net_device *dev)
{
	struct netwire_port *port = netdev_priv(dev);

	netwire_no_bulk(dev);
	netif_napi_add(dev, &port->napi, netwire_poll);
	return 0;
}

static void netwire_uninit(struct net_device *dev)
{
	struct netwire_port *port = netdev_priv(dev);

	/* unregistering waits for RCU readers once for all ends, not once per end */
	__netif_napi_del(&port->napi);
}

static void netwire_link_up(struct netwire_port *port,
			    struct netwire_port *peer)
{
	netwire_dir_up(&port->dir);
	netwire_dir_up(&peer->dir);
	netif_carrier_on(port->dev);
	netif_carrier_on(peer->dev);
}

static int netwire_open(struct net_device *dev)
{
	struct netwire_port *port = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(port->peer);

	napi_enable(&port->napi);
	port->opened = true;
	netif_start_queue(dev);
	if (peer && ((struct netwire_port *)netdev_priv(peer))->opened)
		netwire_link_up(port, netdev_priv(peer));
	return 0;
}

static int netwire_stop(struct net_device *dev)
{
	struct netwire_port *port = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(port->peer);

	port->opened = false;
	netif_stop_queue(dev);
	netif_carrier_off(dev);
	netwire_dir_down(&port->dir);
	if (peer) {
		struct netwire_port *other = netdev_priv(peer);

		netif_carrier_off(peer);
		netwire_dir_down(&other->dir);
	}
	napi_disable(&port->napi);
	return 0;
}

static int netwire_get_iflink(const struct net_device *dev)
{
	const struct netwire_port *port = netdev_priv(dev);
	const struct net_device *peer;
	int iflink;

	rcu_read_lock();
	peer = rcu_dereference(port->peer);
	iflink = peer ? READ_ONCE(peer->ifindex) : 0;
	rcu_read_unlock();
	return iflink;
}

static void netwire_tx_stats64(const struct netwire_tx_stats *stats,
			       struct rtnl_link_stats64 *s)
{
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&stats->syncp);
		s->tx_packets = u64_stats_read(&stats->packets);
		s->tx_bytes = u64_stats_read(&stats->bytes);
		s->tx_carrier_errors = u64_stats_read(&stats->dropped);
		s->tx_dropped = u64_stats_read(&stats->nomem);
	} while (u64_stats_fetch_retry(&stats->syncp, start));
	s->tx_errors = s->tx_carrier_errors;
}

static void netwire_rx_stats64(const struct netwire_rx_stats *stats,
			       struct rtnl_link_stats64 *s)
{
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&stats->syncp);
		s->rx_packets = u64_stats_read(&stats->packets);
		s->rx_bytes = u64_stats_read(&stats->bytes);
		s->rx_crc_errors = u64_stats_read(&stats->crc);
		s->rx_length_errors = u64_stats_read(&stats->oversize);
		s->rx_dropped = u64_stats_read(&stats->nomem);
	} while (u64_stats_fetch_retry(&stats->syncp, start));
	s->rx_errors = s->rx_crc_errors + s->rx_length_errors;
}

static void netwire_get_stats64(struct net_device *dev,
				struct rtnl_link_stats64 *s)
{
	struct netwire_port *port = netdev_priv(dev);

	netwire_tx_stats64(&port->dir.stats, s);
	netwire_rx_stats64(&port->stats, s);
}

static const struct net_device_ops netwire_netdev_ops = {
	.ndo_init		= netwire_init,
	.ndo_uninit		= netwire_uninit,
	.ndo_open		= netwire_open,
	.ndo_stop		= netwire_stop,
	.ndo_start_xmit		= netwire_xmit,
	.ndo_get_stats64	= netwire_get_stats64,
	.ndo_get_iflink		= netwire_get_iflink,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
};

/**
 * netwire_setup() - rtnl_link_ops.setup
 * @dev: a new device
 */
void netwire_setup(struct net_device *dev)
{
	struct netwire_port *port = netdev_priv(dev);

	ether_setup(dev);
	dev->netdev_ops = &netwire_netdev_ops;
	dev->ethtool_ops = &netwire_ethtool_ops;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = NETWIRE_MTU_MAX;
	/* frames belong to us until they arrive, so pktgen must not share them */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	/* netpoll may transmit in an interrupt while this processor holds our lock */
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_UNICAST_FLT |
			   IFF_DISABLE_NETPOLL;
	dev->features = NETWIRE_FEATURES;
	dev->hw_features = NETWIRE_FEATURES & ~NETIF_F_HIGHDMA;
	dev->vlan_features = NETWIRE_FEATURES;
	dev->mpls_features = NETIF_F_SG | NETIF_F_HW_CSUM;
	dev->needs_free_netdev = true;
	netif_carrier_off(dev);

	port->dev = dev;
	u64_stats_init(&port->stats.syncp);
	netwire_dir_init(&port->dir);
}

/**
 * netwire_set_params() - set a cable's parameters
 * @port: one end
 * @peer: the other
 * @params: valid parameters
 */
void netwire_set_params(struct netwire_port *port, struct netwire_port *peer,
			const struct netwire_params *params)
{
	netwire_dir_set(&port->dir, params);
	netwire_dir_set(&peer->dir, params);
}
