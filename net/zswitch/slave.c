// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: options and counters of a port, `ip link set PORT type zswitch_slave ...` and
 * `ip -d -s link show PORT` (include/uapi/linux/zswitch.h).
 */
#include <net/netlink.h>
#include <net/rtnetlink.h>
#include "queue.h"

const struct nla_policy zsw_slave_policy[IFLA_ZSWITCH_PORT_MAX + 1] = {
	[IFLA_ZSWITCH_PORT_UNSPEC]	= { .strict_start_type = IFLA_ZSWITCH_PORT_WEIGHT },
	[IFLA_ZSWITCH_PORT_PAD]		= { .type = NLA_REJECT },
	[IFLA_ZSWITCH_PORT_WEIGHT]	= NLA_POLICY_MIN(NLA_U8, 1),
	[IFLA_ZSWITCH_PORT_LEARNING]	= NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_ZSWITCH_PORT_GUARD]	= NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_ZSWITCH_PORT_FLOOD]	= NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_ZSWITCH_PORT_VIRTUAL]	= { .type = NLA_REJECT },
	[IFLA_ZSWITCH_PORT_CEE]		= { .type = NLA_REJECT },
	[IFLA_ZSWITCH_PORT_STATS]	= { .type = NLA_REJECT },
	[IFLA_ZSWITCH_PORT_WAITING]	= { .type = NLA_REJECT },
	[IFLA_ZSWITCH_PORT_BACKLOG]	= { .type = NLA_REJECT },
	[IFLA_ZSWITCH_PORT_ALLOW]	= { .type = NLA_BINARY, .len = ZSW_SLOTS * sizeof(u32) },
	[IFLA_ZSWITCH_PORT_HELD]	= { .type = NLA_REJECT },
	[IFLA_ZSWITCH_PORT_CREDIT]	= { .type = NLA_REJECT },
	[IFLA_ZSWITCH_PORT_FABRIC]	= NLA_POLICY_MAX(NLA_U8, 1),
};

static void zsw_set_flag(bool *flag, const struct nlattr *attr)
{
	if (attr)
		WRITE_ONCE(*flag, nla_get_u8(attr));
}

/**
 * zsw_slave_changelink() - rtnl_link_ops.slave_changelink
 * @dev:	switch
 * @slave_dev:	port
 * @tb:		attributes of the message
 * @data:	options
 * @extack:	error message
 *
 * Context: RTNL.
 * Return: 0 or an error.
 */
int zsw_slave_changelink(struct net_device *dev, struct net_device *slave_dev,
			 struct nlattr *tb[], struct nlattr *data[],
			 struct netlink_ext_ack *extack)
{
	struct zswitch_port *port = zsw_port_find(netdev_priv(dev), slave_dev);
	int err;

	if (!port)
		return -EINVAL;
	if (!data)
		return 0;
	if (data[IFLA_ZSWITCH_PORT_FABRIC] && port->vnic) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_ZSWITCH_PORT_FABRIC],
				    "fabric of a port is for wires: the switch's is for the others");
		return -EINVAL;
	}
	if (data[IFLA_ZSWITCH_PORT_ALLOW]) {
		err = zsw_policy_set(port, data[IFLA_ZSWITCH_PORT_ALLOW], extack);
		if (err)
			return err;
	}
	if (data[IFLA_ZSWITCH_PORT_WEIGHT])
		WRITE_ONCE(port->weight, nla_get_u8(data[IFLA_ZSWITCH_PORT_WEIGHT]));
	zsw_set_flag(&port->learning, data[IFLA_ZSWITCH_PORT_LEARNING]);
	zsw_set_flag(&port->guard, data[IFLA_ZSWITCH_PORT_GUARD]);
	zsw_set_flag(&port->flood, data[IFLA_ZSWITCH_PORT_FLOOD]);
	if (data[IFLA_ZSWITCH_PORT_FABRIC]) {
		zsw_set_flag(&port->fabric, data[IFLA_ZSWITCH_PORT_FABRIC]);
		zsw_port_credit(port);
	}
	return 0;
}

/**
 * zsw_slave_get_size() - rtnl_link_ops.get_slave_size
 * @dev:	switch
 * @slave_dev:	port
 *
 * Return: bytes.
 */
size_t zsw_slave_get_size(const struct net_device *dev, const struct net_device *slave_dev)
{
	return zsw_policy_size(netdev_priv(dev)) +
	       7 * nla_total_size(sizeof(u8)) + 2 * nla_total_size(ZSWITCH_PRIOS * sizeof(u32)) +
	       2 * nla_total_size(sizeof(u32)) + zsw_stats_size();
}

static int zsw_put_bytes(struct sk_buff *skb, const struct zswitch_port *port)
{
	u32 waiting[ZSWITCH_PRIOS], backlog[ZSWITCH_PRIOS];
	int i;

	for (i = 0; i < ZSWITCH_PRIOS; i++) {
		waiting[i] = atomic_read(&port->used[i]);
		backlog[i] = zsw_backlog(port, i);
	}
	return nla_put(skb, IFLA_ZSWITCH_PORT_WAITING, sizeof(waiting), waiting) ?:
	       nla_put(skb, IFLA_ZSWITCH_PORT_BACKLOG, sizeof(backlog), backlog);
}

/**
 * zsw_slave_fill_info() - rtnl_link_ops.fill_slave_info
 * @skb:	message
 * @dev:	switch
 * @slave_dev:	port
 *
 * Context: RTNL or RCU.
 * Return: 0 or -EMSGSIZE.
 */
int zsw_slave_fill_info(struct sk_buff *skb, const struct net_device *dev,
			const struct net_device *slave_dev)
{
	const struct zswitch_port *port = zsw_port_find(netdev_priv(dev), slave_dev);

	/* Netlink also asks before the slave is a port, and after it was one. */
	if (!port)
		return 0;
	if (nla_put_u8(skb, IFLA_ZSWITCH_PORT_WEIGHT, READ_ONCE(port->weight)) ||
	    nla_put_u8(skb, IFLA_ZSWITCH_PORT_LEARNING, READ_ONCE(port->learning)) ||
	    nla_put_u8(skb, IFLA_ZSWITCH_PORT_GUARD, READ_ONCE(port->guard)) ||
	    nla_put_u8(skb, IFLA_ZSWITCH_PORT_FLOOD, READ_ONCE(port->flood)) ||
	    nla_put_u8(skb, IFLA_ZSWITCH_PORT_VIRTUAL, port->vnic) ||
	    nla_put_u8(skb, IFLA_ZSWITCH_PORT_CEE, READ_ONCE(port->cee)) ||
	    (!port->vnic && nla_put_u8(skb, IFLA_ZSWITCH_PORT_FABRIC, READ_ONCE(port->fabric))))
		return -EMSGSIZE;
	return zsw_put_bytes(skb, port) ?:
	       zsw_policy_put(skb, port) ?:
	       nla_put_u32(skb, IFLA_ZSWITCH_PORT_HELD, zsw_held(port)) ?:
	       nla_put_u32(skb, IFLA_ZSWITCH_PORT_CREDIT, zsw_credit_out(port)) ?:
	       zsw_put_stats(skb, IFLA_ZSWITCH_PORT_STATS, ZSWITCH_STAT_PAD, port);
}
