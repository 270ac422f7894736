// SPDX-License-Identifier: GPL-2.0
/*
 * netwire: an emulated Ethernet cable, for tests and the lab.
 *
 * A pair of network devices joined by a wire with a rate, a propagation delay
 * and bit errors, created and dumped through rtnetlink (include/uapi/linux/
 * netwire.h).  veth has neither rate nor delay, and its transmitter is never
 * busy, so a queueing discipline on it never holds a queue; netem and tbf add
 * these, but occupy the place where the discipline under test must be.
 *
 * This file creates, changes and deletes cables.  wire.c carries the frames,
 * biterr.c corrupts them, port.c is the network device, stats.c its ethtool
 * part.
 */
#include <linux/etherdevice.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <net/net_namespace.h>
#include <net/rtnetlink.h>
#include "netwire.h"

#define COMPAT_NEWLINK		netwire_newlink
#define COMPAT_NEWLINK_PEER	IFLA_NETWIRE_PEER
#include <compat/rtnl_newlink.h>

#define NETWIRE_KIND	"netwire"

static struct rtnl_link_ops netwire_link_ops;

static const struct netwire_params netwire_defaults = {
	.rate		= NETWIRE_RATE_DEFAULT,
	.delay		= NETWIRE_DELAY_DEFAULT,
	.ber_mode	= NETWIRE_BER_DROP,
};

static const struct nla_policy netwire_policy[IFLA_NETWIRE_MAX + 1] = {
	[IFLA_NETWIRE_UNSPEC]	= { .strict_start_type = IFLA_NETWIRE_PEER },
	[IFLA_NETWIRE_PAD]	= { .type = NLA_REJECT },
	[IFLA_NETWIRE_PEER]	= NLA_POLICY_MIN_LEN(sizeof(struct ifinfomsg)),
	[IFLA_NETWIRE_RATE]	= { .type = NLA_U64 },
	[IFLA_NETWIRE_DELAY]	= { .type = NLA_U64 },
	[IFLA_NETWIRE_BER]	= { .type = NLA_U64 },
	[IFLA_NETWIRE_BER_MODE]	= { .type = NLA_U8 },
	[IFLA_NETWIRE_PFC]	= NLA_POLICY_MAX(NLA_U8, 1),
};

/* Check the generic link attributes of both ends. */
static int netwire_validate_end(struct nlattr *tb[],
				struct netlink_ext_ack *extack)
{
	struct nlattr *addr = tb[IFLA_ADDRESS];

	if (addr && (nla_len(addr) != ETH_ALEN ||
		     !is_valid_ether_addr(nla_data(addr)))) {
		NL_SET_ERR_MSG_ATTR(extack, addr,
				    "not a unicast Ethernet address");
		return -EADDRNOTAVAIL;
	}
	if ((tb[IFLA_NUM_TX_QUEUES] &&
	     nla_get_u32(tb[IFLA_NUM_TX_QUEUES]) != 1) ||
	    (tb[IFLA_NUM_RX_QUEUES] &&
	     nla_get_u32(tb[IFLA_NUM_RX_QUEUES]) != 1)) {
		NL_SET_ERR_MSG(extack, "a cable has one queue at each end");
		return -EINVAL;
	}
	return 0;
}

static int netwire_validate_rate(struct nlattr *rate,
				 struct netlink_ext_ack *extack)
{
	if (rate && (nla_get_u64(rate) < NETWIRE_RATE_MIN ||
		     nla_get_u64(rate) > NETWIRE_RATE_MAX)) {
		NL_SET_ERR_MSG_ATTR(extack, rate,
				    "rate must be 1 kbit/s to 10 Tbit/s");
		return -ERANGE;
	}
	return 0;
}

static int netwire_validate_delay(struct nlattr *delay,
				  struct netlink_ext_ack *extack)
{
	if (delay && nla_get_u64(delay) > NETWIRE_DELAY_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, delay, "delay must be at most 10 s");
		return -ERANGE;
	}
	return 0;
}

static int netwire_validate_ber(struct nlattr *data[],
				struct netlink_ext_ack *extack)
{
	struct nlattr *ber = data[IFLA_NETWIRE_BER];
	struct nlattr *mode = data[IFLA_NETWIRE_BER_MODE];

	if (ber && nla_get_u64(ber) > NETWIRE_BER_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, ber,
				    "bit error rate must be at most 1e-3");
		return -ERANGE;
	}
	if (mode && nla_get_u8(mode) >= __NETWIRE_BER_MODE_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, mode,
				    "ber-mode must be drop or corrupt");
		return -EINVAL;
	}
	return 0;
}

static int netwire_validate(struct nlattr *tb[], struct nlattr *data[],
			    struct netlink_ext_ack *extack)
{
	int err;

	err = netwire_validate_end(tb, extack);
	if (err || !data)
		return err;
	err = netwire_validate_rate(data[IFLA_NETWIRE_RATE], extack);
	if (err)
		return err;
	err = netwire_validate_delay(data[IFLA_NETWIRE_DELAY], extack);
	if (err)
		return err;
	return netwire_validate_ber(data, extack);
}

/* Read the attributes that are present into @params; other values stay. */
static int netwire_parse(struct nlattr *data[], struct netwire_params *params,
			 struct netlink_ext_ack *extack)
{
	u64 flight;

	if (data[IFLA_NETWIRE_RATE])
		params->rate = nla_get_u64(data[IFLA_NETWIRE_RATE]);
	if (data[IFLA_NETWIRE_DELAY])
		params->delay = nla_get_u64(data[IFLA_NETWIRE_DELAY]);
	if (data[IFLA_NETWIRE_BER])
		params->ber = nla_get_u64(data[IFLA_NETWIRE_BER]);
	if (data[IFLA_NETWIRE_BER_MODE])
		params->ber_mode = nla_get_u8(data[IFLA_NETWIRE_BER_MODE]);
	if (data[IFLA_NETWIRE_PFC])
		params->pfc = nla_get_u8(data[IFLA_NETWIRE_PFC]);

	/* the product, 1.25 * 10^12 bytes/s * 10^10 ns at most, would exceed 64 bits */
	flight = div_u64(params->rate, BITS_PER_BYTE * 1000) * params->delay;
	if (div_u64(flight, USEC_PER_SEC) > READ_ONCE(netwire_flight_max)) {
		NL_SET_ERR_MSG(extack,
			       "rate times delay is more than the memory for frames in flight, parameter flight_max");
		return -ERANGE;
	}
	return 0;
}

/* Create the far end, not yet registered. */
static struct net_device *netwire_create_peer(struct net *net,
					      struct nlattr *nla_peer,
					      struct netlink_ext_ack *extack)
{
	const struct ifinfomsg *ifm = nla_data(nla_peer);
	unsigned char assign_type = NET_NAME_ENUM;
	char name[IFNAMSIZ] = NETWIRE_KIND "%d";
	struct nlattr *tb[IFLA_MAX + 1];
	struct net_device *peer;
	int err;

	err = rtnl_nla_parse_ifinfomsg(tb, nla_peer, extack);
	if (!err)
		err = netwire_validate_end(tb, extack);
	if (err)
		return ERR_PTR(err);
	if (ifm->ifi_index < 0) {
		NL_SET_ERR_MSG_ATTR(extack, nla_peer,
				    "peer's ifindex cannot be negative");
		return ERR_PTR(-EINVAL);
	}
	if (tb[IFLA_IFNAME]) {
		nla_strscpy(name, tb[IFLA_IFNAME], IFNAMSIZ);
		assign_type = NET_NAME_USER;
	}
	peer = rtnl_create_link(net, name, assign_type,
				&netwire_link_ops, tb, extack);
	if (IS_ERR(peer))
		return peer;
	if (!tb[IFLA_ADDRESS])
		eth_hw_addr_random(peer);
	peer->ifindex = ifm->ifi_index;
	return peer;
}

static void netwire_tie(struct net_device *dev, struct net_device *peer,
			const struct netwire_params *params)
{
	struct netwire_port *port = netdev_priv(dev);
	struct netwire_port *other = netdev_priv(peer);

	rcu_assign_pointer(port->peer, peer);
	rcu_assign_pointer(other->peer, dev);
	netwire_set_params(port, other, params);
}

static void netwire_untie(struct net_device *dev, struct net_device *peer)
{
	struct netwire_port *port = netdev_priv(dev);
	struct netwire_port *other = netdev_priv(peer);

	RCU_INIT_POINTER(port->peer, NULL);
	RCU_INIT_POINTER(other->peer, NULL);
}

/* Most ends are ports of switches made of routers, where frames must pass
 * unmerged; and GRO needs unshared frames, so it copies those that TCP sends as
 * clones.  Hosts may turn it on.
 */
static void netwire_gro_off(struct net_device *dev)
{
	dev->features &= ~NETIF_F_GRO;
	dev->wanted_features &= ~NETIF_F_GRO;
	netdev_update_features(dev);
}

/* Register both ends in their namespaces: the far one first. */
static int netwire_register(struct net_device *dev, struct net_device *peer,
			    const struct ifinfomsg *peer_ifm,
			    struct netlink_ext_ack *extack)
{
	int err;

	err = register_netdevice(peer);
	if (err) {
		NL_SET_ERR_MSG(extack, "cannot register the peer device");
		netwire_untie(dev, peer);
		synchronize_net();	/* required by __netif_napi_del() */
		free_netdev(peer);
		return err;
	}
	netwire_gro_off(peer);
	err = rtnl_configure_link(peer, peer_ifm, 0, NULL);
	if (!err)
		err = register_netdevice(dev);
	if (err) {
		netwire_untie(dev, peer);
		unregister_netdevice(peer);
		return err;
	}
	netwire_gro_off(dev);
	return 0;
}

static bool netwire_may_use(const struct net *net, struct netlink_ext_ack *extack)
{
	if (ns_capable(net->user_ns, CAP_NET_ADMIN))
		return true;
	NL_SET_ERR_MSG(extack, "the peer's namespace is another's");
	return false;
}

static int netwire_newlink(struct net_device *dev,
			   struct rtnl_newlink_params *nlp,
			   struct netlink_ext_ack *extack)
{
	struct netwire_params params = netwire_defaults;
	struct net *peer_net = rtnl_newlink_peer_net(nlp);
	struct nlattr **data = nlp->data;
	struct net_device *peer;
	int err;

	if (!data || !data[IFLA_NETWIRE_PEER]) {
		NL_SET_ERR_MSG(extack, "a cable has two ends: peer is missing");
		return -EINVAL;
	}
	/* The core does not check the caller's capability in the peer's namespace. */
	if (!netwire_may_use(peer_net, extack))
		return -EPERM;
	err = netwire_parse(data, &params, extack);
	if (err)
		return err;
	peer = netwire_create_peer(peer_net, data[IFLA_NETWIRE_PEER], extack);
	if (IS_ERR(peer))
		return PTR_ERR(peer);
	if (!nlp->tb[IFLA_ADDRESS])
		eth_hw_addr_random(dev);
	netwire_tie(dev, peer, &params);
	return netwire_register(dev, peer, nla_data(data[IFLA_NETWIRE_PEER]),
				extack);
}

static int netwire_changelink(struct net_device *dev, struct nlattr *tb[],
			      struct nlattr *data[],
			      struct netlink_ext_ack *extack)
{
	struct netwire_port *port = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(port->peer);
	struct netwire_params params = port->dir.params;
	int err;

	if (!data || !peer)
		return 0;
	if (data[IFLA_NETWIRE_PEER]) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_NETWIRE_PEER],
				    "the ends of a cable cannot be changed");
		return -EOPNOTSUPP;
	}
	/* The core has checked the caller's capability at this end alone. */
	if (!netwire_may_use(dev_net(peer), extack))
		return -EPERM;
	err = netwire_parse(data, &params, extack);
	if (err)
		return err;
	netwire_set_params(port, netdev_priv(peer), &params);
	/* notify readers of the link speed, which has changed */
	netdev_state_change(dev);
	netdev_state_change(peer);
	return 0;
}

static void netwire_dellink(struct net_device *dev, struct list_head *head)
{
	struct netwire_port *port = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(port->peer);

	/* the other end was deleted first, in the same batch */
	if (!peer)
		return;
	netwire_untie(dev, peer);
	unregister_netdevice_queue(dev, head);
	unregister_netdevice_queue(peer, head);
}

static size_t netwire_get_size(const struct net_device *dev)
{
	return 3 * nla_total_size_64bit(sizeof(u64)) +
	       2 * nla_total_size(sizeof(u8));
}

static int netwire_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	const struct netwire_port *port = netdev_priv(dev);
	const struct netwire_params *params = &port->dir.params;

	if (nla_put_u64_64bit(skb, IFLA_NETWIRE_RATE, params->rate,
			      IFLA_NETWIRE_PAD) ||
	    nla_put_u64_64bit(skb, IFLA_NETWIRE_DELAY, params->delay,
			      IFLA_NETWIRE_PAD) ||
	    nla_put_u64_64bit(skb, IFLA_NETWIRE_BER, params->ber,
			      IFLA_NETWIRE_PAD) ||
	    nla_put_u8(skb, IFLA_NETWIRE_BER_MODE, params->ber_mode) ||
	    nla_put_u8(skb, IFLA_NETWIRE_PFC, params->pfc))
		return -EMSGSIZE;
	return 0;
}

static struct net *netwire_get_link_net(const struct net_device *dev)
{
	const struct netwire_port *port = netdev_priv(dev);
	const struct net_device *peer = rtnl_dereference(port->peer);

	return peer ? dev_net(peer) : dev_net(dev);
}

static struct rtnl_link_ops netwire_link_ops = {
	.kind		= NETWIRE_KIND,
	.priv_size	= sizeof(struct netwire_port),
	.setup		= netwire_setup,
	.policy		= netwire_policy,
	.maxtype	= IFLA_NETWIRE_MAX,
	.validate	= netwire_validate,
	.newlink	= compat_newlink,
	COMPAT_NEWLINK_PEER_TYPE
	.changelink	= netwire_changelink,
	.dellink	= netwire_dellink,
	.get_size	= netwire_get_size,
	.fill_info	= netwire_fill_info,
	.get_link_net	= netwire_get_link_net,
};

static int __init netwire_module_init(void)
{
	if (!netwire_flight_max)
		netwire_flight_max = (totalram_pages() << PAGE_SHIFT) / 4;
	return rtnl_link_register(&netwire_link_ops);
}

static void __exit netwire_module_exit(void)
{
	rtnl_link_unregister(&netwire_link_ops);
}

module_init(netwire_module_init);
module_exit(netwire_module_exit);

MODULE_DESCRIPTION("Emulated Ethernet cable");
MODULE_LICENSE("GPL");
MODULE_VERSION(PACKAGE_VERSION);
MODULE_ALIAS_RTNL_LINK(NETWIRE_KIND);
