// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: the lossless virtual switch.
 *
 * This file creates, changes and shows switches (include/uapi/linux/zswitch.h); queue.c
 * has the algorithm, port.c the removal of ports.
 */
#include <linux/etherdevice.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <net/netlink.h>
#include <net/rtnetlink.h>
#include "fabric.h"
#include "queue.h"

/* A switch has no peer, and no attribute for one. */
#define COMPAT_NEWLINK		zsw_newlink
#define COMPAT_NEWLINK_PEER	IFLA_ZSWITCH_UNSPEC
#include <compat/rtnl_newlink.h>

#define ZSW_KIND	"zswitch"

/* Packets without a socket that may wait in a transmit queue's pfifo */
#define ZSW_TXQUEUELEN	10000
#define ZSW_NUM_TXQS	8

#define ZSW_FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA | NETIF_F_HW_CSUM | \
			 NETIF_F_GSO_SOFTWARE | NETIF_F_HW_VLAN_CTAG_TX)

static const struct zsw_config zsw_defaults = {
	.virtual_lossless = true,
	.wire_lossless	= true,
	.rxq		= 512,
	.limit		= 1024 << 10,
	.share		= 256 << 10,
	.queue		= 256 * 1514,
	.wait		= {
		[ZSW_VIRTUAL]	= 60 * MSEC_PER_SEC,
		[ZSW_WIRE]	= 200,
		[ZSW_FLOOD]	= 100,
	},
	.ageing		= 300,
	.fdb_max	= 16384,
};

static const struct nla_policy zsw_policy[IFLA_ZSWITCH_MAX + 1] = {
	[IFLA_ZSWITCH_UNSPEC]		= { .strict_start_type = IFLA_ZSWITCH_VIRTUAL },
	[IFLA_ZSWITCH_PAD]		= { .type = NLA_REJECT },
	[IFLA_ZSWITCH_VIRTUAL]		= NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_ZSWITCH_WIRE]		= NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_ZSWITCH_LIMIT]		= { .type = NLA_U32 },
	[IFLA_ZSWITCH_SHARE]		= { .type = NLA_U32 },
	[IFLA_ZSWITCH_QUEUE]		= { .type = NLA_U32 },
	[IFLA_ZSWITCH_FLOOD_WAIT]	= { .type = NLA_U32 },
	[IFLA_ZSWITCH_WIRE_WAIT]	= { .type = NLA_U32 },
	[IFLA_ZSWITCH_VIRTUAL_WAIT]	= { .type = NLA_U32 },
	[IFLA_ZSWITCH_AGEING]		= { .type = NLA_U32 },
	[IFLA_ZSWITCH_FDB_MAX]		= { .type = NLA_U32 },
	[IFLA_ZSWITCH_VLAN_FILTERING]	= NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_ZSWITCH_FABRIC]		= NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_ZSWITCH_RXQ]		= { .type = NLA_U32 },
	[IFLA_ZSWITCH_UNASKED]		= { .type = NLA_U32 },
	[IFLA_ZSWITCH_REFUSE_ICMP]	= NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_ZSWITCH_FDB_COUNT]	= { .type = NLA_REJECT },
	[IFLA_ZSWITCH_STATS]		= { .type = NLA_REJECT },
};

/* A TCP GSO packet must fit in; the maxima bound the memory that a namespace's root can claim. */
#define ZSW_BYTES_MIN	(64 << 10)
#define ZSW_BYTES_MAX	BIT(26)
#define ZSW_WAIT_MAX	(3600 * MSEC_PER_SEC)
#define ZSW_AGEING_MAX	(30 * 24 * 3600)

/**
 * struct zsw_option - an option that is a number
 * @attr:	netlink attribute
 * @offset:	offset in struct zsw_config
 * @min:	least value
 * @max:	greatest value
 * @msg:	extack message for a value out of range
 */
struct zsw_option {
	int		attr;
	size_t		offset;
	u32		min;
	u32		max;
	const char	*msg;
};

#define ZSW_WAIT(class)	(offsetof(struct zsw_config, wait) + (class) * sizeof(u32))

static const char zsw_bytes_msg[] = "limit, share and queue are 64 KiB to 64 MiB";
static const char zsw_wait_msg[] = "waits are at most an hour";

static const struct zsw_option zsw_options[] = {
	{ IFLA_ZSWITCH_LIMIT, offsetof(struct zsw_config, limit), ZSW_BYTES_MIN, ZSW_BYTES_MAX,
	  zsw_bytes_msg },
	{ IFLA_ZSWITCH_SHARE, offsetof(struct zsw_config, share), ZSW_BYTES_MIN, ZSW_BYTES_MAX,
	  zsw_bytes_msg },
	{ IFLA_ZSWITCH_QUEUE, offsetof(struct zsw_config, queue), ZSW_BYTES_MIN, ZSW_BYTES_MAX,
	  zsw_bytes_msg },
	{ IFLA_ZSWITCH_FLOOD_WAIT, ZSW_WAIT(ZSW_FLOOD), 0, ZSW_WAIT_MAX, zsw_wait_msg },
	{ IFLA_ZSWITCH_WIRE_WAIT, ZSW_WAIT(ZSW_WIRE), 0, ZSW_WAIT_MAX, zsw_wait_msg },
	{ IFLA_ZSWITCH_VIRTUAL_WAIT, ZSW_WAIT(ZSW_VIRTUAL), 0, ZSW_WAIT_MAX, zsw_wait_msg },
	{ IFLA_ZSWITCH_AGEING, offsetof(struct zsw_config, ageing), 0, ZSW_AGEING_MAX,
	  "addresses age in at most 30 days" },
	{ IFLA_ZSWITCH_RXQ, offsetof(struct zsw_config, rxq), ZSWITCH_RXQ_MIN, ZSWITCH_RXQ_MAX,
	  "rxq is 64 to 65536 credits" },
	{ IFLA_ZSWITCH_UNASKED, offsetof(struct zsw_config, unasked), 0, ZSWITCH_UNASKED_MAX,
	  "unasked is at most 64 credits" },
	{ IFLA_ZSWITCH_FDB_MAX, offsetof(struct zsw_config, fdb_max), 0, 1 << 20,
	  "at most 1048576 addresses" },
};

static u32 *zsw_option_of(struct zsw_config *cfg, const struct zsw_option *o)
{
	return (u32 *)((u8 *)cfg + o->offset);
}

static void zsw_parse_flag(bool *flag, const struct nlattr *attr)
{
	if (attr)
		*flag = nla_get_u8(attr);
}

/* Options that are given are written to @cfg; others stay as they are. */
static int zsw_parse(struct zsw_config *cfg, struct nlattr *data[],
		     struct netlink_ext_ack *extack)
{
	const struct zsw_option *o;
	u32 val;

	for (o = zsw_options; o < zsw_options + ARRAY_SIZE(zsw_options); o++) {
		if (!data[o->attr])
			continue;
		val = nla_get_u32(data[o->attr]);
		if (val < o->min || val > o->max) {
			NL_SET_BAD_ATTR(extack, data[o->attr]);
			/* As NL_SET_ERR_MSG(), which takes literals only */
			if (extack)
				extack->_msg = o->msg;
			return -ERANGE;
		}
		*zsw_option_of(cfg, o) = val;
	}
	zsw_parse_flag(&cfg->virtual_lossless, data[IFLA_ZSWITCH_VIRTUAL]);
	zsw_parse_flag(&cfg->wire_lossless, data[IFLA_ZSWITCH_WIRE]);
	zsw_parse_flag(&cfg->vlan_filtering, data[IFLA_ZSWITCH_VLAN_FILTERING]);
	zsw_parse_flag(&cfg->fabric, data[IFLA_ZSWITCH_FABRIC]);
	zsw_parse_flag(&cfg->refuse_icmp, data[IFLA_ZSWITCH_REFUSE_ICMP]);
	if (cfg->fabric && !cfg->virtual_lossless) {
		NL_SET_ERR_MSG(extack, "fabric needs virtual lossless");
		return -EINVAL;
	}
	if (cfg->share > cfg->limit) {
		NL_SET_ERR_MSG(extack, "an output's share is more than the input's limit");
		return -ERANGE;
	}
	return 0;
}

static void zsw_watch(struct work_struct *work)
{
	struct zswitch *zsw = container_of(work, struct zswitch, watch.work);
	struct zswitch_port *port;
	bool waiting = false;

	rcu_read_lock();
	list_for_each_entry_rcu(port, &zsw->ports, node)
		waiting |= zsw_expire(port);
	rcu_read_unlock();
	if (waiting)
		schedule_delayed_work(&zsw->watch, ZSW_WATCH);
}

static void zsw_setup(struct net_device *dev)
{
	struct zswitch *zsw = netdev_priv(dev);

	ether_setup(dev);
	dev->netdev_ops = &zsw_netdev_ops;
	dev->ethtool_ops = &zsw_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->max_mtu = ETH_MAX_MTU;
	dev->tx_queue_len = ZSW_TXQUEUELEN;
	/* The switch queues frames, so pktgen must not share them. */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_DISABLE_NETPOLL;
	dev->features = ZSW_FEATURES;
	dev->hw_features = ZSW_FEATURES & ~NETIF_F_HIGHDMA;
	dev->vlan_features = ZSW_FEATURES & ~NETIF_F_HW_VLAN_CTAG_TX;
	compat_netns_immutable(dev);
	/* The device hands frames to others' queues, under whose locks it may be called again. */
	compat_lltx(dev);

	zsw->dev = dev;
	zsw->cfg = zsw_defaults;
	INIT_LIST_HEAD(&zsw->ports);
	INIT_DELAYED_WORK(&zsw->watch, zsw_watch);
	INIT_DELAYED_WORK(&zsw->fabric, zsw_fabric_work);
}

static int zsw_validate(struct nlattr *tb[], struct nlattr *data[],
			struct netlink_ext_ack *extack)
{
	struct nlattr *addr = tb[IFLA_ADDRESS];

	if (addr && (nla_len(addr) != ETH_ALEN || !is_valid_ether_addr(nla_data(addr)))) {
		NL_SET_ERR_MSG_ATTR(extack, addr, "not a unicast Ethernet address");
		return -EADDRNOTAVAIL;
	}
	if (tb[IFLA_NUM_TX_QUEUES] && nla_get_u32(tb[IFLA_NUM_TX_QUEUES]) > ZSWITCH_TXQS) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_NUM_TX_QUEUES], "at most 32 transmit queues");
		return -EINVAL;
	}
	return 0;
}

static int zsw_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
		       struct netlink_ext_ack *extack)
{
	struct zswitch *zsw = netdev_priv(dev);
	int err;

	if (params->data) {
		err = zsw_parse(&zsw->cfg, params->data, extack);
		if (err)
			return err;
	}
	if (!params->tb[IFLA_ADDRESS])
		eth_hw_addr_random(dev);
	return register_netdevice(dev);
}

static int zsw_changelink(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
			  struct netlink_ext_ack *extack)
{
	struct zswitch *zsw = netdev_priv(dev);
	struct zsw_config cfg = zsw->cfg;
	struct zswitch_port *port;
	int err;

	if (!data)
		return 0;
	err = zsw_parse(&cfg, data, extack);
	if (err)
		return err;
	if (cfg.vlan_filtering != zsw->cfg.vlan_filtering) {
		/* Addresses were learnt in other VLANs. */
		zsw->cfg = cfg;
		zsw_fdb_flush_learnt(zsw);
	}
	zsw->cfg = cfg;
	list_for_each_entry(port, &zsw->ports, node)
		zsw_port_credit(port);
	mod_delayed_work(system_wq, &zsw->age, HZ);
	return 0;
}

static size_t zsw_get_size(const struct net_device *dev)
{
	return 5 * nla_total_size(sizeof(u8)) +
	       (ARRAY_SIZE(zsw_options) + 1) * nla_total_size(sizeof(u32)) + zsw_stats_size();
}

static int zsw_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	struct zswitch *zsw = netdev_priv(dev);
	const struct zsw_option *o;

	for (o = zsw_options; o < zsw_options + ARRAY_SIZE(zsw_options); o++)
		if (nla_put_u32(skb, o->attr, *zsw_option_of(&zsw->cfg, o)))
			return -EMSGSIZE;
	if (nla_put_u8(skb, IFLA_ZSWITCH_VIRTUAL, zsw->cfg.virtual_lossless) ||
	    nla_put_u8(skb, IFLA_ZSWITCH_WIRE, zsw->cfg.wire_lossless) ||
	    nla_put_u8(skb, IFLA_ZSWITCH_VLAN_FILTERING, zsw->cfg.vlan_filtering) ||
	    nla_put_u8(skb, IFLA_ZSWITCH_FABRIC, zsw->cfg.fabric) ||
	    nla_put_u8(skb, IFLA_ZSWITCH_REFUSE_ICMP, zsw->cfg.refuse_icmp) ||
	    nla_put_u32(skb, IFLA_ZSWITCH_FDB_COUNT, zsw_fdb_count(zsw)))
		return -EMSGSIZE;
	return zsw_put_stats(skb, IFLA_ZSWITCH_STATS, ZSWITCH_STAT_PAD, zsw->host);
}

static unsigned int zsw_num_tx_queues(void)
{
	return ZSW_NUM_TXQS;
}

static struct rtnl_link_ops zsw_link_ops = {
	.kind			= ZSW_KIND,
	.priv_size		= sizeof(struct zswitch),
	.setup			= zsw_setup,
	.policy			= zsw_policy,
	.maxtype		= IFLA_ZSWITCH_MAX,
	.validate		= zsw_validate,
	.newlink		= compat_newlink,
	.changelink		= zsw_changelink,
	.get_size		= zsw_get_size,
	.fill_info		= zsw_fill_info,
	.get_num_tx_queues	= zsw_num_tx_queues,
	.slave_policy		= zsw_slave_policy,
	.slave_maxtype		= IFLA_ZSWITCH_PORT_MAX,
	.slave_changelink	= zsw_slave_changelink,
	.get_slave_size		= zsw_slave_get_size,
	.fill_slave_info	= zsw_slave_fill_info,
};

/**
 * zsw_is_switch() - is a device a switch?
 * @dev:	device
 *
 * Return: true if it is.
 */
bool zsw_is_switch(const struct net_device *dev)
{
	return dev->netdev_ops == &zsw_netdev_ops;
}

static int __init zsw_module_init(void)
{
	int err = register_netdevice_notifier(&zsw_port_notifier);

	if (err)
		return err;
	err = rtnl_link_register(&zsw_link_ops);
	if (err)
		unregister_netdevice_notifier(&zsw_port_notifier);
	return err;
}

static void __exit zsw_module_exit(void)
{
	rtnl_link_unregister(&zsw_link_ops);
	unregister_netdevice_notifier(&zsw_port_notifier);
}

module_init(zsw_module_init);
module_exit(zsw_module_exit);

MODULE_DESCRIPTION("Lossless virtual switch");
MODULE_LICENSE("GPL");
MODULE_VERSION(PACKAGE_VERSION);
MODULE_ALIAS_RTNL_LINK(ZSW_KIND);
