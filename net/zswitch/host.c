// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: the switch's own device, which is the host's port.
 *
 * The port works like a container's: the host's transmit queues are stopped when the switch has
 * no room, and NAPI takes the frames for the host.
 *
 * The qdisc of a device that can be stopped must hold the frames behind the stop: a qdisc that
 * drops defeats the lossless switch behind it.  The system's default may be one that drops by
 * design (fq_codel), and pfifo_fast reserves memory for its whole length.  So each transmit
 * queue gets a pfifo when the device is first opened; its length, the device's txqueuelen,
 * bounds frames without a socket.  Frames of sockets are bounded by the send buffers, which
 * make the senders sleep.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include <net/netdev_lock.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "fabric.h"
#include "queue.h"

/**
 * zswitch_select_queue() - ndo_select_queue of devices that can be stopped
 * @dev:	device
 * @skb:	frame, its data at the MAC header
 * @sb_dev:	not used
 *
 * By destination and priority: a queue that is stopped for a destination that does not take its
 * frames stops only the other destinations that share it.
 *
 * Return: index of a transmit queue.
 */
u16 zswitch_select_queue(struct net_device *dev, struct sk_buff *skb, struct net_device *sb_dev)
{
	unsigned int prio;
	u32 hash;

	if (dev->real_num_tx_queues == 1 || skb_headlen(skb) < ETH_HLEN)
		return 0;
	prio = cee_source_classify(NULL, NULL, skb);
	hash = jhash(skb->data, ETH_ALEN, prio);
	return reciprocal_scale(hash, dev->real_num_tx_queues);
}
EXPORT_SYMBOL_GPL(zswitch_select_queue);

/**
 * zswitch_default_qdiscs() - give a device qdiscs that wait rather than drop
 * @dev:	device that is being opened
 *
 * A device that has qdiscs keeps them.
 *
 * Context: ndo_open.
 * Return: 0 or an error.
 */
int zswitch_default_qdiscs(struct net_device *dev)
{
	struct netdev_queue *txq;
	struct Qdisc *q;
	unsigned int i;

	if (rtnl_dereference(dev->qdisc) != &noop_qdisc)
		return 0;
	for (i = 0; i < dev->num_tx_queues; i++) {
		txq = netdev_get_tx_queue(dev, i);
		q = qdisc_create_dflt(txq, &pfifo_qdisc_ops, TC_H_ROOT, NULL);
		if (!q)
			return -ENOMEM;
		qdisc_put(dev_graft_qdisc(txq, q));
	}
	/* Set dev->qdisc last: the test above takes it as proof that all queues have theirs. */
	q = rtnl_dereference(netdev_get_tx_queue(dev, 0)->qdisc_sleeping);
	qdisc_refcount_inc(q);
	rcu_assign_pointer(dev->qdisc, q);
	return 0;
}
EXPORT_SYMBOL_GPL(zswitch_default_qdiscs);

static void zsw_host_kick(struct net_device *dev)
{
	napi_schedule(&((struct zswitch *)netdev_priv(dev))->napi);
}

static void zsw_host_stop(struct net_device *dev, unsigned int txq)
{
	netif_stop_subqueue(dev, txq);
}

/* The queues of a device that is down stay stopped: it starts all of them when it is opened. */
static void zsw_host_wake(struct net_device *dev, u32 txqs)
{
	unsigned long bits = netif_running(dev) ? txqs : 0;
	unsigned int i;

	for_each_set_bit(i, &bits, ZSWITCH_TXQS)
		netif_wake_subqueue(dev, i);
}

const struct zswitch_kind zsw_host_kind = {
	.kick	= zsw_host_kick,
	.stop	= zsw_host_stop,
	.wake	= zsw_host_wake,
};

static int zsw_host_poll(struct napi_struct *napi, int budget)
{
	struct zswitch *zsw = container_of(napi, struct zswitch, napi);
	struct sk_buff *skb;
	int work = 0;

	while (work < budget) {
		skb = zswitch_pull(zsw->host, U8_MAX);
		if (!skb)
			break;
		skb_record_rx_queue(skb, 0);
		skb->protocol = eth_type_trans(skb, zsw->dev);
		netif_receive_skb(skb);
		work++;
	}
	if (work < budget)
		napi_complete_done(napi, work);
	return work;
}

static netdev_tx_t zsw_host_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct zswitch_port *host = READ_ONCE(((struct zswitch *)netdev_priv(dev))->host);

	if (likely(host)) {
		zsw_forward(host, skb, skb_get_queue_mapping(skb));
	} else {
		dev_core_stats_tx_dropped_inc(dev);
		kfree_skb_reason(skb, SKB_DROP_REASON_DEV_READY);
	}
	return NETDEV_TX_OK;
}

static int zsw_host_open(struct net_device *dev)
{
	struct zswitch *zsw = netdev_priv(dev);
	int err = zswitch_default_qdiscs(dev);

	if (err)
		return err;
	napi_enable(&zsw->napi);
	netif_tx_start_all_queues(dev);
	zsw_output_set(zsw->host, true);
	return 0;
}

static int zsw_host_close(struct net_device *dev)
{
	struct zswitch *zsw = netdev_priv(dev);

	zsw_output_set(zsw->host, false);
	netif_tx_stop_all_queues(dev);
	napi_disable(&zsw->napi);
	return 0;
}

static void zsw_host_stats64(struct net_device *dev, struct rtnl_link_stats64 *s)
{
	const struct zswitch_port *host;
	int i;

	rcu_read_lock();
	host = READ_ONCE(((struct zswitch *)netdev_priv(dev))->host);
	if (host) {
		s->rx_packets = zsw_stat(host, ZSWITCH_STAT_OUT);
		s->rx_bytes = zsw_stat(host, ZSWITCH_STAT_OUT_BYTES);
		s->tx_packets = zsw_stat(host, ZSWITCH_STAT_IN);
		s->tx_bytes = zsw_stat(host, ZSWITCH_STAT_IN_BYTES);
		for (i = ZSWITCH_STAT_DROP_FULL; i <= ZSWITCH_STAT_MAX; i++)
			s->tx_dropped += zsw_stat(host, i);
	}
	rcu_read_unlock();
}

static int zsw_host_set_mac(struct net_device *dev, void *addr)
{
	struct zswitch *zsw = netdev_priv(dev);
	u8 old[ETH_ALEN];
	int err;

	ether_addr_copy(old, dev->dev_addr);
	err = eth_mac_addr(dev, addr);
	if (!err)
		zsw_fdb_move_host(zsw, old, dev->dev_addr);
	return err;
}

static int zsw_dev_init(struct net_device *dev)
{
	struct zswitch *zsw = netdev_priv(dev);
	int err;

	/* The device sends by other devices within its own transmit lock. */
	netdev_lockdep_set_classes(dev);
	zsw->host = zsw_port_new(zsw, dev, &zsw_host_kind);
	if (!zsw->host)
		return -ENOMEM;
	err = zsw_fdb_init(zsw);
	if (err) {
		zsw_port_free(zsw->host);
		return err;
	}
	zsw_policy_join(zsw->host);
	zsw_port_credit(zsw->host);
	list_add_rcu(&zsw->host->node, &zsw->ports);
	zsw_fdb_move_host(zsw, NULL, dev->dev_addr);
	netif_napi_add(dev, &zsw->napi, zsw_host_poll);
	return 0;
}

/*
 * The device is closed; its ports are removed first, then nobody sends to the host's port.  A
 * sender without a qdisc (PACKET_QDISC_BYPASS) may have seen the device running, and send by it
 * only now: it finds no port, or is a reader that is waited for before anything that a frame may
 * start or use is stopped or freed.
 */
static void zsw_dev_uninit(struct net_device *dev)
{
	struct zswitch *zsw = netdev_priv(dev);
	struct zswitch_port *port, *next, *host = zsw->host;

	list_for_each_entry_safe(port, next, &zsw->ports, node)
		if (port != host)
			zsw_port_del(port);
	list_del_rcu(&host->node);
	WRITE_ONCE(zsw->host, NULL);
	synchronize_net();
	cancel_delayed_work_sync(&zsw->watch);
	cancel_delayed_work_sync(&zsw->fabric);
	zsw_fdb_exit(zsw);
	netif_napi_del(&zsw->napi);
	zsw_free_voqs(host);
	zsw_port_free(host);
}

static int zsw_add_slave(struct net_device *dev, struct net_device *slave,
			 struct netlink_ext_ack *extack)
{
	return zsw_port_add(netdev_priv(dev), slave, extack);
}

static int zsw_del_slave(struct net_device *dev, struct net_device *slave)
{
	struct zswitch_port *port = zsw_port_find(netdev_priv(dev), slave);

	if (!port || slave == dev)
		return -EINVAL;
	zsw_port_del(port);
	return 0;
}

/* "via" names the port; without it the address is the host's. */
static struct zswitch_port *zsw_fdb_port(struct net_device *dev, struct nlattr *tb[],
					 struct netlink_ext_ack *extack)
{
	struct zswitch *zsw = netdev_priv(dev);
	struct net_device *out;
	struct zswitch_port *port;

	if (!tb[NDA_IFINDEX])
		return zsw->host;
	if (nla_len(tb[NDA_IFINDEX]) != sizeof(u32)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[NDA_IFINDEX], "not an interface index");
		return ERR_PTR(-EINVAL);
	}
	out = __dev_get_by_index(dev_net(dev), nla_get_u32(tb[NDA_IFINDEX]));
	port = out ? zsw_port_find(zsw, out) : NULL;
	if (!port) {
		NL_SET_ERR_MSG_ATTR(extack, tb[NDA_IFINDEX],
				    "\"via\" must be a port of the switch");
		return ERR_PTR(-EINVAL);
	}
	return port;
}

static int zsw_ndo_fdb_add(struct ndmsg *ndm, struct nlattr *tb[], struct net_device *dev,
			   const unsigned char *addr, u16 vid, u16 flags,
			   COMPAT_FDB_NOTIFIED_ARG
			   struct netlink_ext_ack *extack)
{
	struct zswitch *zsw = netdev_priv(dev);
	struct zswitch_port *port = zsw_fdb_port(dev, tb, extack);
	bool is_static = ndm->ndm_state & (NUD_PERMANENT | NUD_NOARP);

	if (IS_ERR(port))
		return PTR_ERR(port);
	if (!is_valid_ether_addr(addr)) {
		NL_SET_ERR_MSG(extack, "not a unicast Ethernet address");
		return -EINVAL;
	}
	if (ether_addr_equal(addr, dev->dev_addr) && port != zsw->host) {
		NL_SET_ERR_MSG(extack, "this is the switch's own address");
		return -EINVAL;
	}
	return zsw_fdb_set(zsw, port, addr, vid, is_static || port == zsw->host, flags);
}

static int zsw_ndo_fdb_del(struct ndmsg *ndm, struct nlattr *tb[], struct net_device *dev,
			   const unsigned char *addr, u16 vid,
			   COMPAT_FDB_NOTIFIED_ARG
			   struct netlink_ext_ack *extack)
{
	if (!vid && ether_addr_equal(addr, dev->dev_addr)) {
		NL_SET_ERR_MSG(extack, "the switch's own address stays");
		return -EINVAL;
	}
	return zsw_fdb_remove(netdev_priv(dev), addr, vid);
}

static int zsw_ndo_fdb_dump(struct sk_buff *skb, struct netlink_callback *cb,
			    struct net_device *dev, struct net_device *filter_dev, int *idx)
{
	return zsw_fdb_dump(netdev_priv(dev), skb, cb, compat_fdb_dump_index(cb), idx);
}

const struct net_device_ops zsw_netdev_ops = {
	.ndo_init		= zsw_dev_init,
	.ndo_uninit		= zsw_dev_uninit,
	.ndo_open		= zsw_host_open,
	.ndo_stop		= zsw_host_close,
	.ndo_start_xmit		= zsw_host_xmit,
	.ndo_select_queue	= zswitch_select_queue,
	.ndo_get_stats64	= zsw_host_stats64,
	.ndo_set_mac_address	= zsw_host_set_mac,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_add_slave		= zsw_add_slave,
	.ndo_del_slave		= zsw_del_slave,
	.ndo_fdb_add		= zsw_ndo_fdb_add,
	.ndo_fdb_del		= zsw_ndo_fdb_del,
	.ndo_fdb_dump		= zsw_ndo_fdb_dump,
	.ndo_bridge_setlink	= zsw_bridge_setlink,
	.ndo_bridge_dellink	= zsw_bridge_dellink,
	.ndo_bridge_getlink	= zsw_bridge_getlink,
};

const struct ethtool_ops zsw_ethtool_ops = {
	.get_link	= ethtool_op_get_link,
};
