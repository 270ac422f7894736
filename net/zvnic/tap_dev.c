// SPDX-License-Identifier: GPL-2.0
/*
 * zvtap: a port of a lossless switch that a virtual machine is behind.
 *
 *	guest -- vhost-net or QEMU -- /dev/tapN --+-- xmit --- zswitch_send() --> switch
 *	                                          '-- ring <-- NAPI, zswitch_pull()
 *
 * The device is the port, and what it transmits is what the guest sends, as of a macvtap.
 * There is no qdisc, which would drop: the guest waits for its send buffer instead
 * (tap_queue.c).  What the host itself would send by it is dropped.
 *
 * Sending.  Frames are the guest's, who may lie: what the device says about its features
 * makes the core verify the headers of each GSO packet (no NETIF_F_GSO_ROBUST) and cut
 * those of types that nobody needs.  What is longer than the MTU is dropped here, which
 * for GSO packets, whose segments are cut beyond a wire, nobody else looks at.  So is one
 * whose segments are so many that cutting it would take some hundred times its memory.
 *
 * Receiving.  NAPI takes a frame, cuts it if the queue does not carry it whole (the
 * library BUG()s on types that virtio does not know), and puts the parts into the ring.
 * What finds no room is held, and nothing is taken until it has gone: the rest waits in
 * the switch, where it counts.  Queues of a guest wait for each other then.
 *
 * The link is up while a descriptor is open, the device is up and below a switch.  While
 * it is not, the switch drops what is for it.
 *
 * Teardown (zvtap_dellink()).  Who may refer to the device:
 *
 *  - The switch, by kick, until a grace period after zvtap_detach() has passed.
 *  - NAPI, until dev_close(); only then the tap library forgets its queues, as it leaves
 *    the pointers to them where they were.
 *  - Readers and writers of descriptors and destructors of frames, by the queue's pointer
 *    to the tap_dev: RCU readers; tap_del_queues() clears it.
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
 * Segments of a GSO packet.  UDP's are 128 at most; of TCP's least MSS, 48, of which 12 may be a
 * time stamp, a packet of IP has 1820.
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
 * zvtap_drop_rx() - a frame does not reach the guest
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

/* Make of a frame what its queue can carry, and hold that. */
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

/* Hand over the frame that is held longest.  Return: false if there is no room. */
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
	/* The machine has ended: the next one shall not have its frames. */
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
 * zvtap_schedule() - NAPI is to look whether it can go on
 * @v:	device
 *
 * Context: any; a process runs it at once.
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
 * zvtap_link_update() - the carrier follows the device, its queues and the switch
 * @v:	device
 *
 * NAPI looks what that means for frames that wait.
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

/* The guest takes other offloads; QEMU has set its send buffers before. */
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
	/* Frames are kept, so pktgen must not share them. */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_UNICAST_FLT | IFF_NO_QUEUE |
			   IFF_DISABLE_NETPOLL;
	dev->features = ZVTAP_FEATURES;
	dev->hw_features = ZVTAP_FEATURES;
	dev->vlan_features = ZVTAP_FEATURES & ~NETIF_F_HW_VLAN_CTAG_TX;
	/* It hands frames to other devices' queues, under whose locks it may be called again. */
	compat_lltx(dev);
	netif_carrier_off(dev);

	v->dev = dev;
	v->tap.dev = dev;
	INIT_LIST_HEAD(&v->tap.queue_list);
	/* Until the guest has said what it takes, as of a macvtap. */
	v->tap.tap_features = NETIF_F_HW_CSUM | NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_TSO_ECN;
	/* No count_tx_dropped: the library also calls it when the guest is to wait. */
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
