// SPDX-License-Identifier: GPL-2.0
/*
 * zvtap: a port of a lossless switch for a virtual machine.
 *
 *	guest -- vhost-net or QEMU -- /dev/tapN --+-- xmit --- zswitch_send() --> switch
 *	                                          '-- ring <-- NAPI, zswitch_pull()
 *
 * The device is the port, and it transmits the frames that the guest sends, as a macvtap does.
 * It has no qdisc, which would drop: the guest waits for its send buffer instead
 * (tap_queue.c).  Frames that the host itself would send by it are dropped.
 *
 * Sending.  Frames come from the guest, which is not trusted: the device's features make the
 * core verify the headers of each GSO packet (no NETIF_F_GSO_ROBUST) and segment packets of
 * types that are not supported.  Frames longer than the MTU are dropped here; for GSO packets,
 * which are segmented beyond a wire, nothing else checks that.  A GSO packet of so many segments
 * that segmentation would take some hundred times its memory is dropped too.
 *
 * Receiving.  NAPI takes a frame, segments it if the queue does not carry it whole (the
 * library BUG()s on types that virtio does not know), and puts the parts into the ring.
 * Frames that find no room are held, and no more are taken until they are in a ring: the rest
 * waits in the switch, where it is accounted for.  Queues of a guest wait for each other then.
 *
 * The link is up while a descriptor is open, and the device is up and below a switch.  While
 * it is down, the switch drops frames for it.
 *
 * Teardown (zvtap_dellink()).  The device may be referred to by:
 *
 *  - The switch, by kick, until a grace period after zvtap_detach() has passed.
 *  - NAPI, until dev_close().  The tap library's queues are deleted only afterwards, as it
 *    leaves its pointers to them in place.
 *  - Readers and writers of descriptors and destructors of frames, by the queue's pointer
 *    to the tap_dev: RCU readers; tap_del_queues() clears the pointer.
 *
 * Context.  zvtap_xmit(): RCU, bottom halves are off.  NAPI: softirq.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <net/gso.h>
#include <net/netdev_lock.h>
#include "zvtap.h"

#define ZVTAP_FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | \
			 NETIF_F_GSO_SOFTWARE | NETIF_F_HW_VLAN_CTAG_TX)

/*
 * Segments of a GSO packet at most.  UDP has up to 128.  TCP with its least MSS, 48 bytes, of which
 * 12 may be a timestamp option, has 1820 in the longest IP packet.
 */
#define ZVTAP_SEGMENTS	2048U

static bool zvtap_fits(const struct net_device *dev, const struct sk_buff *skb)
{
	unsigned int most = READ_ONCE(dev->mtu) + ETH_HLEN + VLAN_HLEN;

	if (!skb_is_gso(skb))
		return skb->len <= most;
	return skb->len <= skb_shinfo(skb)->gso_size * ZVTAP_SEGMENTS &&
	       skb_gso_validate_mac_len(skb, most);
}

static netdev_tx_t zvtap_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct zvtap *v = netdev_priv(dev);
	struct zswitch_port *port;

	rcu_read_lock();
	port = rcu_dereference(v->port);
	if (unlikely(!port || !zvtap_fits(dev, skb) || !zvtap_charge(v, skb))) {
		dev_core_stats_tx_dropped_inc(dev);
		kfree_skb(skb);
	} else {
		dev_sw_netstats_tx_add(dev, 1, skb->len);
		zswitch_send(port, skb, -1);
	}
	rcu_read_unlock();
	return NETDEV_TX_OK;
}

/**
 * zvtap_drop_rx() - drop a frame for the guest
 * @v:		device
 * @skb:	frame
 *
 * Context: any.
 */
void zvtap_drop_rx(struct zvtap *v, struct sk_buff *skb)
{
	dev_core_stats_rx_dropped_inc(v->dev);
	kfree_skb(skb);
}

/* Convert a frame to frames that its queue can carry, and hold these. */
static void zvtap_hold(struct zvtap *v, struct sk_buff *skb)
{
	netdev_features_t features = zvtap_features(v, zvtap_select(v, skb));
	struct sk_buff *segs, *next;

	skb->dev = v->dev;
	if (netif_needs_gso(skb, features)) {
		segs = __skb_gso_segment(skb, features, false);
		if (IS_ERR(segs)) {
			zvtap_drop_rx(v, skb);
			return;
		}
		if (segs) {
			consume_skb(skb);
			skb_list_walk_safe(segs, skb, next) {
				skb_mark_not_on_list(skb);
				__skb_queue_tail(&v->held, skb);
			}
			return;
		}
	} else if (skb->ip_summed == CHECKSUM_PARTIAL && !(features & NETIF_F_CSUM_MASK) &&
		   skb_checksum_help(skb)) {
		zvtap_drop_rx(v, skb);
		return;
	}
	__skb_queue_tail(&v->held, skb);
}

/* Return: whether a frame is held. */
static bool zvtap_take(struct zvtap *v)
{
	struct zswitch_port *port = rcu_dereference(v->port);
	struct sk_buff *skb;

	while (skb_queue_empty(&v->held)) {
		skb = port ? zswitch_pull(port, U8_MAX) : NULL;
		if (!skb)
			return false;
		zvtap_hold(v, skb);
	}
	return true;
}

/* Move the frame that is held longest to its ring.  Return: false if there is no room. */
static bool zvtap_give(struct zvtap *v)
{
	struct sk_buff *skb = __skb_dequeue(&v->held);
	struct zvtap_queue *zq = zvtap_select(v, skb);

	if (!zq || !zvtap_produce(zq, skb)) {
		WRITE_ONCE(v->nobody, !zq);
		__skb_queue_head(&v->held, skb);
		return false;
	}
	return true;
}

static void zvtap_drop_held(struct zvtap *v)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&v->held)))
		zvtap_drop_rx(v, skb);
}

static int zvtap_poll(struct napi_struct *napi, int budget)
{
	struct zvtap *v = container_of(napi, struct zvtap, napi);
	int work = 0;

	rcu_read_lock();
	/* The machine has ended, and the next one must not get its frames. */
	if (!READ_ONCE(v->tap.numqueues))
		zvtap_drop_held(v);
	WRITE_ONCE(v->nobody, !READ_ONCE(v->tap.numvtaps));
	if (v->nobody)
		zvtap_look_now();
	else
		while (work < budget && zvtap_take(v) && zvtap_give(v))
			work++;
	rcu_read_unlock();
	if (work < budget)
		napi_complete_done(napi, work);
	return work;
}

/**
 * zvtap_schedule() - make NAPI check whether it can go on
 * @v:	device
 *
 * Context: any; in a process NAPI runs at once.
 */
void zvtap_schedule(struct zvtap *v)
{
	if (irqs_disabled()) {
		napi_schedule(&v->napi);
		return;
	}
	local_bh_disable();
	napi_schedule(&v->napi);
	local_bh_enable();
}

/**
 * zvtap_link_update() - set the carrier by the state of the device, its queues and the switch
 * @v:	device
 *
 * NAPI is scheduled to handle frames that wait.
 *
 * Context: RTNL.
 */
void zvtap_link_update(struct zvtap *v)
{
	if (netif_running(v->dev) && rtnl_dereference(v->port) && v->tap.numqueues)
		netif_carrier_on(v->dev);
	else
		netif_carrier_off(v->dev);
	zvtap_schedule(v);
}

static int zvtap_dev_open(struct net_device *dev)
{
	struct zvtap *v = netdev_priv(dev);

	napi_enable(&v->napi);
	netif_tx_start_all_queues(dev);
	zvtap_link_update(v);
	return 0;
}

static int zvtap_dev_stop(struct net_device *dev)
{
	struct zvtap *v = netdev_priv(dev);

	netif_tx_stop_all_queues(dev);
	zvtap_link_update(v);
	napi_disable(&v->napi);
	zvtap_drop_held(v);
	return 0;
}

static int zvtap_init(struct net_device *dev)
{
	struct zvtap *v = netdev_priv(dev);

	/* The switch may send by other devices. */
	netdev_lockdep_set_classes(dev);
	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!dev->tstats)
		return -ENOMEM;
	netif_napi_add(dev, &v->napi, zvtap_poll);
	return 0;
}

static void zvtap_uninit(struct net_device *dev)
{
	struct zvtap *v = netdev_priv(dev);

	netif_napi_del(&v->napi);
}

static void zvtap_free(struct net_device *dev)
{
	free_percpu(dev->tstats);
}

static const struct net_device_ops zvtap_netdev_ops = {
	.ndo_init		= zvtap_init,
	.ndo_uninit		= zvtap_uninit,
	.ndo_open		= zvtap_dev_open,
	.ndo_stop		= zvtap_dev_stop,
	.ndo_start_xmit		= zvtap_xmit,
	.ndo_get_stats64	= dev_get_tstats64,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
};

static const struct ethtool_ops zvtap_ethtool_ops = {
	.get_link	= ethtool_op_get_link,
};

/* The guest has changed its offloads; QEMU has set the send buffers before that. */
static void zvtap_update_features(struct tap_dev *tap, netdev_features_t features)
{
	zvtap_clamp_all(container_of(tap, struct zvtap, tap));
}

/**
 * zvtap_setup() - rtnl_link_ops.setup
 * @dev:	a new device
 */
void zvtap_setup(struct net_device *dev)
{
	struct zvtap *v = netdev_priv(dev);

	ether_setup(dev);
	dev->netdev_ops = &zvtap_netdev_ops;
	dev->ethtool_ops = &zvtap_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_destructor = zvtap_free;
	dev->max_mtu = ETH_MAX_MTU;
	dev->tx_queue_len = ZVTAP_RING;
	/* The switch queues frames, so pktgen must not share them. */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_UNICAST_FLT | IFF_NO_QUEUE |
			   IFF_DISABLE_NETPOLL;
	dev->features = ZVTAP_FEATURES;
	dev->hw_features = ZVTAP_FEATURES;
	dev->vlan_features = ZVTAP_FEATURES & ~NETIF_F_HW_VLAN_CTAG_TX;
	/* The device hands frames to others' queues, under whose locks it may be called again. */
	compat_lltx(dev);
	netif_carrier_off(dev);

	v->dev = dev;
	v->tap.dev = dev;
	INIT_LIST_HEAD(&v->tap.queue_list);
	/* Offloads assumed until the guest has negotiated its own, as for a macvtap */
	v->tap.tap_features = NETIF_F_HW_CSUM | NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_TSO_ECN;
	/* No count_tx_dropped: the library also calls it when the guest must wait. */
	v->tap.update_features = zvtap_update_features;
	__skb_queue_head_init(&v->held);
}

static int zvtap_attach(struct net_device *dev, struct zswitch_port *port,
			struct netlink_ext_ack *extack)
{
	struct zvtap *v = netdev_priv(dev);

	rcu_assign_pointer(v->port, port);
	zvtap_link_update(v);
	return 0;
}

static void zvtap_detach(struct net_device *dev)
{
	struct zvtap *v = netdev_priv(dev);

	RCU_INIT_POINTER(v->port, NULL);
	zvtap_link_update(v);
}

static void zvtap_kick(struct net_device *dev)
{
	struct zvtap *v = netdev_priv(dev);

	napi_schedule(&v->napi);
}

struct zswitch_kind zvtap_kind = {
	.attach	= zvtap_attach,
	.detach	= zvtap_detach,
	.kick	= zvtap_kick,
};
