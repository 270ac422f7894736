// SPDX-License-Identifier: GPL-2.0
/*
 * zvnic: the vNIC of a container, which sends and receives through a lossless switch.
 *
 *	   guest's end                                       port
 *	sockets -> qdisc -> xmit ---- zswitch_send() ----> switch
 *	sockets <- stack <- NAPI <--- zswitch_pull() ----- switch
 *
 * The port's end is a handle: the switch's port options, addresses and VLANs, and the up and
 * down state of the port refer to it.  No frame passes through it.
 *
 * Sending.  When the switch has no room it stops the transmit queue that has sent; the
 * qdisc holds the frames that follow (zswitch_default_qdiscs()), and frames stay charged to
 * their sockets until the receiver has them, so that a socket which has filled its send
 * buffer makes its sender wait.  Nothing is dropped.
 *
 * Receiving.  NAPI takes frames while there are any, at the configured rate if there is one.
 * Frames that the guest's stack drops then, as for a UDP socket whose receive buffer is full,
 * are the guest's own loss and are counted there.
 *
 * The link is up while both ends are up and the port is below a switch.
 *
 * Teardown.  Both ends are removed together, whichever is deleted (zvnic_dellink()).  The
 * guest's end may be referred to by:
 *
 *  - The port's end, by @peer, under RTNL and RCU; dellink clears both pointers before
 *    either end is unregistered, which waits for a grace period.
 *  - The switch, through the port's device: it calls kick, stop and wake under RCU, until
 *    a grace period after zvnic_detach() has passed.
 *  - Its timer and NAPI: ndo_stop ends both.  Only NAPI starts the timer.
 *  - Frames that it has sent and that wait in the switch: they refer to their sockets
 *    only, and the switch drops them with the port.
 *
 * Context.  zvnic_xmit(): under a transmit queue's lock.  NAPI: softirq.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/math64.h>
#include <linux/rtnetlink.h>
#include <net/netdev_lock.h>
#include "zvnic.h"

/* Bytes that a frame takes on a wire beside its own: FCS, preamble and inter-frame gap */
#define ZVNIC_OVERHEAD	24

/* Most lateness of the timer that is made up for while frames wait, to lose no throughput */
#define ZVNIC_LAG_NS	NSEC_PER_MSEC

#define ZVNIC_TXQUEUELEN	10000

#define ZVNIC_FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA | NETIF_F_HW_CSUM | \
			 NETIF_F_RXCSUM | NETIF_F_GSO_SOFTWARE | NETIF_F_HW_VLAN_CTAG_TX)

static netdev_tx_t zvnic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct zvnic *v = netdev_priv(dev);
	struct zswitch_port *port = rcu_dereference_bh(v->port);

	if (unlikely(!port)) {
		dev_core_stats_tx_dropped_inc(dev);
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	dev_sw_netstats_tx_add(dev, 1, skb->len);
	zswitch_send(port, skb, skb_get_queue_mapping(skb));
	return NETDEV_TX_OK;
}

static enum hrtimer_restart zvnic_pace(struct hrtimer *timer)
{
	struct zvnic *v = container_of(timer, struct zvnic, pace);

	napi_schedule(&v->napi);
	return HRTIMER_NORESTART;
}

/* Return: whether the rate allows a frame now; if not, NAPI is scheduled when it does. */
static bool zvnic_may_take(struct zvnic *v, u64 rate, u64 now)
{
	if (!rate || now >= v->next)
		return true;
	v->held = true;
	hrtimer_start(&v->pace, ns_to_ktime(v->next), HRTIMER_MODE_ABS_SOFT);
	return false;
}

static void zvnic_pay(struct zvnic *v, u64 rate, const struct sk_buff *skb, u64 now)
{
	unsigned int frames = skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;
	u64 bits = (skb->len + (u64)frames * ZVNIC_OVERHEAD) * BITS_PER_BYTE;
	u64 start = v->held ? max(v->next, now - ZVNIC_LAG_NS) : now;

	v->held = false;
	v->next = start + mul_u64_u64_div_u64(bits, NSEC_PER_SEC, rate);
}

/*
 * Here a frame enters the guest's namespace: the host's marks, conntrack entries and routes, of
 * a frame that came in by a wire, are removed.  The frame is also orphaned from its sender's
 * socket.  IP would do that next; but a guest that bridges the frame into a stalled queue would
 * hold a socket of another namespace, and so that namespace, for as long as it likes.
 */
static void zvnic_receive(struct zvnic *v, struct sk_buff *skb)
{
	skb_scrub_packet(skb, true);
	skb->priority = 0;
	skb_orphan(skb);
	skb_record_rx_queue(skb, 0);
	skb->protocol = eth_type_trans(skb, v->dev);
	dev_sw_netstats_rx_add(v->dev, skb->len + ETH_HLEN);
	netif_receive_skb(skb);
}

static int zvnic_poll(struct napi_struct *napi, int budget)
{
	struct zvnic *v = container_of(napi, struct zvnic, napi);
	struct zswitch_port *port = rcu_dereference_bh(v->port);
	u64 rate = READ_ONCE(v->rate);
	struct sk_buff *skb;
	int work = 0;
	u64 now = 0;

	while (port && work < budget) {
		if (rate)
			now = ktime_get_ns();
		if (!zvnic_may_take(v, rate, now))
			break;
		skb = zswitch_pull(port, U8_MAX);
		if (!skb)
			break;
		if (rate)
			zvnic_pay(v, rate, skb, now);
		zvnic_receive(v, skb);
		work++;
	}
	if (work < budget)
		napi_complete_done(napi, work);
	return work;
}

static void zvnic_schedule(struct zvnic *v)
{
	local_bh_disable();
	napi_schedule(&v->napi);
	local_bh_enable();
}

/**
 * zvnic_link_update() - set the carrier by the state of both ends and the switch
 * @guest:	guest's end
 *
 * Context: RTNL.
 */
void zvnic_link_update(struct zvnic *guest)
{
	struct net_device *port_dev = rtnl_dereference(guest->peer);
	bool up = port_dev && netif_running(guest->dev) && netif_running(port_dev) &&
		  rtnl_dereference(guest->port);

	if (up) {
		netif_carrier_on(guest->dev);
		netif_carrier_on(port_dev);
	} else {
		netif_carrier_off(guest->dev);
		if (port_dev)
			netif_carrier_off(port_dev);
	}
}

/**
 * zvnic_repace() - the rate has changed
 * @v:	guest's end
 *
 * The wait for the next frame was computed from the former rate, and may be long: end it.
 *
 * Context: RTNL.
 */
void zvnic_repace(struct zvnic *v)
{
	if (!netif_running(v->dev))
		return;
	napi_disable(&v->napi);
	hrtimer_cancel(&v->pace);
	v->next = 0;
	v->held = false;
	napi_enable(&v->napi);
	zvnic_schedule(v);
}

/* Return: the guest's end of the pair that a device, either end, belongs to; or NULL. */
static struct zvnic *zvnic_guest(struct net_device *dev)
{
	struct zvnic *v = netdev_priv(dev);
	struct net_device *peer = v->guest ? dev :
		rcu_dereference_check(v->peer, rcu_read_lock_bh_held() || lockdep_rtnl_is_held());

	return peer ? netdev_priv(peer) : NULL;
}

/* netif_running() is true already in ndo_open, and false in ndo_stop. */
static int zvnic_open(struct net_device *dev)
{
	struct zvnic *v = netdev_priv(dev);
	struct zvnic *guest = zvnic_guest(dev);
	int err;

	if (v->guest) {
		err = zswitch_default_qdiscs(dev);
		if (err)
			return err;
		napi_enable(&v->napi);
	}
	netif_tx_start_all_queues(dev);
	if (guest)
		zvnic_link_update(guest);
	/* Take frames that came to wait while NAPI was disabled. */
	if (v->guest)
		zvnic_schedule(v);
	return 0;
}

static int zvnic_stop(struct net_device *dev)
{
	struct zvnic *v = netdev_priv(dev);
	struct zvnic *guest = zvnic_guest(dev);

	netif_tx_stop_all_queues(dev);
	if (guest)
		zvnic_link_update(guest);
	if (v->guest) {
		napi_disable(&v->napi);
		hrtimer_cancel(&v->pace);
	}
	return 0;
}

static int zvnic_init(struct net_device *dev)
{
	struct zvnic *v = netdev_priv(dev);

	/* The switch may send by other devices under our transmit lock. */
	netdev_lockdep_set_classes(dev);
	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!dev->tstats)
		return -ENOMEM;
	netif_napi_add(dev, &v->napi, zvnic_poll);
	return 0;
}

static void zvnic_uninit(struct net_device *dev)
{
	struct zvnic *v = netdev_priv(dev);

	netif_napi_del(&v->napi);
}

static void zvnic_free(struct net_device *dev)
{
	free_percpu(dev->tstats);
}

/* The port's end shows the guest's counters, with RX and TX swapped. */
static void zvnic_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *s)
{
	struct zvnic *v = netdev_priv(dev), *guest;
	struct rtnl_link_stats64 g = {};

	if (v->guest) {
		dev_fetch_sw_netstats(s, dev->tstats);
		return;
	}
	rcu_read_lock();
	guest = zvnic_guest(dev);
	if (guest)
		dev_fetch_sw_netstats(&g, guest->dev->tstats);
	rcu_read_unlock();
	s->rx_packets = g.tx_packets;
	s->rx_bytes = g.tx_bytes;
	s->tx_packets = g.rx_packets;
	s->tx_bytes = g.rx_bytes;
}

static int zvnic_get_iflink(const struct net_device *dev)
{
	const struct zvnic *v = netdev_priv(dev);
	const struct net_device *peer;
	int iflink;

	rcu_read_lock();
	peer = rcu_dereference(v->peer);
	iflink = peer ? READ_ONCE(peer->ifindex) : 0;
	rcu_read_unlock();
	return iflink;
}

static const struct net_device_ops zvnic_netdev_ops = {
	.ndo_init		= zvnic_init,
	.ndo_uninit		= zvnic_uninit,
	.ndo_open		= zvnic_open,
	.ndo_stop		= zvnic_stop,
	.ndo_start_xmit		= zvnic_xmit,
	.ndo_select_queue	= zswitch_select_queue,
	.ndo_get_stats64	= zvnic_get_stats64,
	.ndo_get_iflink		= zvnic_get_iflink,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
};

static const struct ethtool_ops zvnic_ethtool_ops = {
	.get_link	= ethtool_op_get_link,
};

/**
 * zvnic_setup() - rtnl_link_ops.setup
 * @dev:	a new device
 */
void zvnic_setup(struct net_device *dev)
{
	struct zvnic *v = netdev_priv(dev);

	ether_setup(dev);
	dev->netdev_ops = &zvnic_netdev_ops;
	dev->ethtool_ops = &zvnic_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_destructor = zvnic_free;
	dev->max_mtu = ETH_MAX_MTU;
	dev->tx_queue_len = ZVNIC_TXQUEUELEN;
	/* The switch queues frames, so pktgen must not share them. */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_UNICAST_FLT | IFF_DISABLE_NETPOLL;
	dev->features = ZVNIC_FEATURES;
	dev->hw_features = ZVNIC_FEATURES & ~NETIF_F_HIGHDMA;
	dev->vlan_features = ZVNIC_FEATURES & ~NETIF_F_HW_VLAN_CTAG_TX;
	dev->mpls_features = NETIF_F_SG | NETIF_F_HW_CSUM;
	/* The device hands frames to others' queues, under whose locks it may be called again. */
	compat_lltx(dev);
	netif_carrier_off(dev);

	v->dev = dev;
	hrtimer_setup(&v->pace, zvnic_pace, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}

static int zvnic_attach(struct net_device *dev, struct zswitch_port *port,
			struct netlink_ext_ack *extack)
{
	struct zvnic *v = netdev_priv(dev);
	struct zvnic *guest = zvnic_guest(dev);

	if (v->guest || !guest) {
		NL_SET_ERR_MSG(extack, "the guest's end of a vNIC is no port, the other one is");
		return -EINVAL;
	}
	rcu_assign_pointer(guest->port, port);
	zvnic_link_update(guest);
	return 0;
}

static void zvnic_wake(struct net_device *dev, u32 txqs);

/* Both ends may be untied already: then the guest's end is not in use any more. */
static void zvnic_detach(struct net_device *dev)
{
	struct zvnic *guest = zvnic_guest(dev);

	if (!guest)
		return;
	RCU_INIT_POINTER(guest->port, NULL);
	zvnic_link_update(guest);
	zvnic_wake(dev, U32_MAX);
}

static void zvnic_kick(struct net_device *dev)
{
	struct zvnic *guest = zvnic_guest(dev);

	if (guest)
		napi_schedule(&guest->napi);
}

static void zvnic_sleep(struct net_device *dev, unsigned int txq)
{
	struct zvnic *guest = zvnic_guest(dev);

	if (guest)
		netif_stop_subqueue(guest->dev, txq);
}

static void zvnic_wake(struct net_device *dev, u32 txqs)
{
	struct zvnic *guest = zvnic_guest(dev);
	unsigned long bits = txqs;
	unsigned int i;

	if (!guest)
		return;
	for_each_set_bit(i, &bits, min_t(unsigned int, guest->dev->num_tx_queues, ZSWITCH_TXQS))
		netif_wake_subqueue(guest->dev, i);
}

struct zswitch_kind zvnic_kind = {
	.attach	= zvnic_attach,
	.detach	= zvnic_detach,
	.kick	= zvnic_kick,
	.stop	= zvnic_sleep,
	.wake	= zvnic_wake,
};
