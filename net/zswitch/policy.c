// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: which port may send to which, the control policy of D. Crisan's thesis (ETH
 * Zurich 2014, section 5.3.1).
 *
 * A port has a list of the ports that may send to it, or is open to all.  Ports are known by
 * a number within the switch, so that a frame is checked by one bit; a port that is removed is
 * taken from all lists before its number is reused.  Addresses are not checked: the option guard
 * binds a port to its own.
 */
#include <net/netlink.h>
#include "zswitch.h"

/**
 * zsw_policy_join() - give a port its number
 * @port:	port, to be added to its switch, which has room for it
 *
 * Context: RTNL.
 */
void zsw_policy_join(struct zswitch_port *port)
{
	port->slot = find_first_zero_bit(port->zsw->slots, ZSW_SLOTS);
	__set_bit(port->slot, port->zsw->slots);
}

/**
 * zsw_policy_leave() - release the number of a port that is being removed
 * @port:	port, taken off its switch's list; nobody sends by it any more
 *
 * Context: RTNL.
 */
void zsw_policy_leave(struct zswitch_port *port)
{
	struct zswitch_port *other;

	list_for_each_entry(other, &port->zsw->ports, node)
		clear_bit(port->slot, other->allowed);
	__clear_bit(port->slot, port->zsw->slots);
}

/**
 * zsw_policy_may() - may a port send to another?
 * @in:		port that a frame came in by
 * @out:	port that it would leave by
 *
 * Context: RCU.
 * Return: true if it may.
 */
bool zsw_policy_may(const struct zswitch_port *in, const struct zswitch_port *out)
{
	return !READ_ONCE(out->closed) || test_bit(in->slot, out->allowed);
}

/* Set the bits of the ports in a list. */
static int zsw_policy_parse(struct zswitch_port *port, const struct nlattr *attr,
			    unsigned long *allowed, struct netlink_ext_ack *extack)
{
	const u32 *ifindex = nla_data(attr);
	struct net_device *dev;
	struct zswitch_port *in;
	int i;

	for (i = 0; i < nla_len(attr) / (int)sizeof(u32); i++) {
		dev = __dev_get_by_index(dev_net(port->zsw->dev), ifindex[i]);
		in = dev ? zsw_port_find(port->zsw, dev) : NULL;
		if (!in || in == port) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "only other ports of the switch can be allowed");
			return -EINVAL;
		}
		__set_bit(in->slot, allowed);
	}
	return 0;
}

/**
 * zsw_policy_set() - set which ports may send to a port
 * @port:	port
 * @attr:	IFLA_ZSWITCH_PORT_ALLOW
 * @extack:	error message
 *
 * Frames that arrive meanwhile are checked against the former list or the new one.
 *
 * Context: RTNL.
 * Return: 0 or an error.
 */
int zsw_policy_set(struct zswitch_port *port, const struct nlattr *attr,
		   struct netlink_ext_ack *extack)
{
	DECLARE_BITMAP(allowed, ZSW_SLOTS) = {};
	unsigned int i;
	int err;

	if (nla_len(attr) % sizeof(u32)) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "not a list of interface indices");
		return -EINVAL;
	}
	if (nla_len(attr) == sizeof(u32) && !nla_get_u32(attr)) {
		WRITE_ONCE(port->closed, false);
		return 0;
	}
	err = zsw_policy_parse(port, attr, allowed, extack);
	if (err)
		return err;
	for (i = 0; i < ZSW_SLOTS; i++)
		assign_bit(i, port->allowed, test_bit(i, allowed));
	WRITE_ONCE(port->closed, true);
	return 0;
}

/**
 * zsw_policy_size() - room that zsw_policy_put() needs
 * @zsw:	switch
 *
 * Return: bytes.
 */
size_t zsw_policy_size(const struct zswitch *zsw)
{
	return nla_total_size((zsw->num_ports + 1) * sizeof(u32));
}

/**
 * zsw_policy_put() - dump which ports may send to a port
 * @skb:	message
 * @port:	port
 *
 * Context: RTNL or RCU.
 * Return: 0 or -EMSGSIZE.
 */
int zsw_policy_put(struct sk_buff *skb, const struct zswitch_port *port)
{
	const struct zswitch_port *in;
	struct nlattr *attr;
	u32 ifindex;

	if (!READ_ONCE(port->closed))
		return nla_put_u32(skb, IFLA_ZSWITCH_PORT_ALLOW, 0);
	attr = nla_reserve(skb, IFLA_ZSWITCH_PORT_ALLOW, 0);
	if (!attr)
		return -EMSGSIZE;
	list_for_each_entry_rcu(in, &port->zsw->ports, node, lockdep_rtnl_is_held()) {
		if (!test_bit(in->slot, port->allowed))
			continue;
		ifindex = in->dev->ifindex;
		if (nla_append(skb, sizeof(ifindex), &ifindex))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, attr);
	return 0;
}
