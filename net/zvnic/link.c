// SPDX-License-Identifier: GPL-2.0
/*
 * zvnic: virtual NICs of containers on a lossless switch (zswitch).
 *
 * This file creates, changes and deletes pairs (include/uapi/linux/zvnic.h); vnic.c has the
 * devices.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <net/net_namespace.h>
#include <net/rtnetlink.h>
#include "zvnic.h"

#define COMPAT_NEWLINK		zvnic_newlink
#define COMPAT_NEWLINK_PEER	IFLA_ZVNIC_PEER
#include <compat/rtnl_newlink.h>

#define ZVNIC_KIND	"zvnic"

/* With more queues, a stalled destination stops fewer others that share its queue. */
#define ZVNIC_NUM_TXQS	8

static struct rtnl_link_ops zvnic_link_ops;

static const struct nla_policy zvnic_policy[IFLA_ZVNIC_MAX + 1] = {
	[IFLA_ZVNIC_UNSPEC]	= { .strict_start_type = IFLA_ZVNIC_PEER },
	[IFLA_ZVNIC_PAD]	= { .type = NLA_REJECT },
	[IFLA_ZVNIC_PEER]	= NLA_POLICY_MIN_LEN(sizeof(struct ifinfomsg)),
	[IFLA_ZVNIC_RATE]	= { .type = NLA_U64 },
	[IFLA_ZVNIC_END]	= { .type = NLA_REJECT },
};

/* Check the generic link attributes of both ends. */
static int zvnic_validate_end(struct nlattr *tb[], struct netlink_ext_ack *extack)
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

static int zvnic_validate(struct nlattr *tb[], struct nlattr *data[],
			  struct netlink_ext_ack *extack)
{
	struct nlattr *rate = data ? data[IFLA_ZVNIC_RATE] : NULL;

	if (rate && nla_get_u64(rate) &&
	    (nla_get_u64(rate) < ZVNIC_RATE_MIN || nla_get_u64(rate) > ZVNIC_RATE_MAX)) {
		NL_SET_ERR_MSG_ATTR(extack, rate, "rate must be 1 kbit/s to 10 Tbit/s, or 0");
		return -ERANGE;
	}
	return zvnic_validate_end(tb, extack);
}

/* Create the guest's end, not yet registered. */
static struct net_device *zvnic_create_guest(struct net *net, struct nlattr *nla_peer,
					     struct netlink_ext_ack *extack)
{
	const struct ifinfomsg *ifm = nla_data(nla_peer);
	unsigned char assign_type = NET_NAME_ENUM;
	char name[IFNAMSIZ] = ZVNIC_KIND "%d";
	struct nlattr *tb[IFLA_MAX + 1];
	struct net_device *guest;
	int err;

	err = rtnl_nla_parse_ifinfomsg(tb, nla_peer, extack);
	if (!err)
		err = zvnic_validate_end(tb, extack);
	if (err)
		return ERR_PTR(err);
	if (ifm->ifi_index < 0) {
		NL_SET_ERR_MSG_ATTR(extack, nla_peer, "peer's ifindex cannot be negative");
		return ERR_PTR(-EINVAL);
	}
	if (tb[IFLA_IFNAME]) {
		nla_strscpy(name, tb[IFLA_IFNAME], IFNAMSIZ);
		assign_type = NET_NAME_USER;
	}
	guest = rtnl_create_link(net, name, assign_type, &zvnic_link_ops, tb, extack);
	if (IS_ERR(guest))
		return guest;
	if (!tb[IFLA_ADDRESS])
		eth_hw_addr_random(guest);
	guest->ifindex = ifm->ifi_index;
	return guest;
}

static void zvnic_tie(struct net_device *dev, struct net_device *guest, u64 rate)
{
	struct zvnic *port = netdev_priv(dev);
	struct zvnic *v = netdev_priv(guest);

	v->guest = true;
	v->rate = rate;
	rcu_assign_pointer(port->peer, guest);
	rcu_assign_pointer(v->peer, dev);
}

static void zvnic_untie(struct net_device *dev, struct net_device *peer)
{
	struct zvnic *v = netdev_priv(dev);
	struct zvnic *other = netdev_priv(peer);

	RCU_INIT_POINTER(v->peer, NULL);
	RCU_INIT_POINTER(other->peer, NULL);
}

/* Register both ends in their namespaces: the guest's first. */
static int zvnic_register(struct net_device *dev, struct net_device *guest,
			  const struct ifinfomsg *ifm, struct netlink_ext_ack *extack)
{
	int err;

	err = register_netdevice(guest);
	if (err) {
		NL_SET_ERR_MSG(extack, "cannot register the peer device");
		zvnic_untie(dev, guest);
		free_netdev(guest);
		return err;
	}
	err = rtnl_configure_link(guest, ifm, 0, NULL);
	if (!err)
		err = register_netdevice(dev);
	if (err) {
		zvnic_untie(dev, guest);
		unregister_netdevice(guest);
	}
	return err;
}

static int zvnic_newlink(struct net_device *dev, struct rtnl_newlink_params *nlp,
			 struct netlink_ext_ack *extack)
{
	struct net *peer_net = rtnl_newlink_peer_net(nlp);
	struct nlattr **data = nlp->data;
	struct net_device *guest;

	if (!data || !data[IFLA_ZVNIC_PEER]) {
		NL_SET_ERR_MSG(extack, "a vNIC has two ends: peer, the guest's, is missing");
		return -EINVAL;
	}
	/* The core need not have checked CAP_NET_ADMIN in the peer's namespace. */
	if (!ns_capable(peer_net->user_ns, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(extack, "the peer's namespace is another's");
		return -EPERM;
	}
	guest = zvnic_create_guest(peer_net, data[IFLA_ZVNIC_PEER], extack);
	if (IS_ERR(guest))
		return PTR_ERR(guest);
	if (!nlp->tb[IFLA_ADDRESS])
		eth_hw_addr_random(dev);
	zvnic_tie(dev, guest, data[IFLA_ZVNIC_RATE] ? nla_get_u64(data[IFLA_ZVNIC_RATE]) : 0);
	return zvnic_register(dev, guest, nla_data(data[IFLA_ZVNIC_PEER]), extack);
}

static struct zvnic *zvnic_of(const struct net_device *dev)
{
	struct zvnic *v = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(v->peer);

	return v->guest || !peer ? v : netdev_priv(peer);
}

static int zvnic_changelink(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
			    struct netlink_ext_ack *extack)
{
	struct zvnic *v = zvnic_of(dev);
	struct net_device *peer;

	if (!data)
		return 0;
	if (data[IFLA_ZVNIC_PEER]) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_ZVNIC_PEER],
				    "the ends of a vNIC cannot be changed");
		return -EOPNOTSUPP;
	}
	if (!data[IFLA_ZVNIC_RATE])
		return 0;
	/* The rate limits the guest, which must not be able to lift it. */
	peer = rtnl_dereference(v->peer);
	if (v->dev == dev && peer && !ns_capable(dev_net(peer)->user_ns, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_ZVNIC_RATE],
				    "the rate is the other end's to change");
		return -EPERM;
	}
	WRITE_ONCE(v->rate, nla_get_u64(data[IFLA_ZVNIC_RATE]));
	zvnic_repace(v);
	return 0;
}

static void zvnic_dellink(struct net_device *dev, struct list_head *head)
{
	struct zvnic *v = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(v->peer);
	struct net_device *master;

	/* The other end has been deleted already, in the same batch. */
	if (!peer)
		return;
	/* The switch must release the port while both ends still know each other. */
	master = netdev_master_upper_dev_get(v->guest ? peer : dev);
	if (master && master->netdev_ops->ndo_del_slave)
		master->netdev_ops->ndo_del_slave(master, v->guest ? peer : dev);
	zvnic_untie(dev, peer);
	unregister_netdevice_queue(dev, head);
	unregister_netdevice_queue(peer, head);
}

static size_t zvnic_get_size(const struct net_device *dev)
{
	return nla_total_size_64bit(sizeof(u64)) + nla_total_size(sizeof(u8));
}

static int zvnic_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	const struct zvnic *v = netdev_priv(dev);

	if (nla_put_u64_64bit(skb, IFLA_ZVNIC_RATE, READ_ONCE(zvnic_of(dev)->rate),
			      IFLA_ZVNIC_PAD) ||
	    nla_put_u8(skb, IFLA_ZVNIC_END, v->guest ? ZVNIC_END_GUEST : ZVNIC_END_PORT))
		return -EMSGSIZE;
	return 0;
}

static struct net *zvnic_get_link_net(const struct net_device *dev)
{
	const struct zvnic *v = netdev_priv(dev);
	const struct net_device *peer = rtnl_dereference(v->peer);

	return peer ? dev_net(peer) : dev_net(dev);
}

static unsigned int zvnic_num_tx_queues(void)
{
	return ZVNIC_NUM_TXQS;
}

static struct rtnl_link_ops zvnic_link_ops = {
	.kind			= ZVNIC_KIND,
	.priv_size		= sizeof(struct zvnic),
	.setup			= zvnic_setup,
	.policy			= zvnic_policy,
	.maxtype		= IFLA_ZVNIC_MAX,
	.validate		= zvnic_validate,
	.newlink		= compat_newlink,
	COMPAT_NEWLINK_PEER_TYPE
	.changelink		= zvnic_changelink,
	.dellink		= zvnic_dellink,
	.get_size		= zvnic_get_size,
	.fill_info		= zvnic_fill_info,
	.get_link_net		= zvnic_get_link_net,
	.get_num_tx_queues	= zvnic_num_tx_queues,
};

static int __init zvnic_module_init(void)
{
	int err;

	zvnic_kind.link_ops = &zvnic_link_ops;
	zswitch_register_kind(&zvnic_kind);
	err = rtnl_link_register(&zvnic_link_ops);
	if (err)
		zswitch_unregister_kind(&zvnic_kind);
	return err;
}

static void __exit zvnic_module_exit(void)
{
	rtnl_link_unregister(&zvnic_link_ops);
	zswitch_unregister_kind(&zvnic_kind);
}

module_init(zvnic_module_init);
module_exit(zvnic_module_exit);

MODULE_DESCRIPTION("Virtual NICs of a lossless virtual switch");
MODULE_LICENSE("GPL");
MODULE_VERSION(PACKAGE_VERSION);
MODULE_ALIAS_RTNL_LINK(ZVNIC_KIND);
