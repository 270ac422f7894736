// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: adding and removing ports.
 *
 * Teardown (zsw_port_del(), under RTNL; the device may be unregistering), with those that may
 * still refer to the port:
 *
 *  - The port is taken off the switch's list and marked down: frames that wait for it are
 *    dropped, and no more are taken.
 *  - Its rx_handler and its source, or its kind's attachment, are removed, so that no new
 *    send or pull by it begins.  Those that have begun are RCU readers: synchronize_net().
 *  - Its addresses are flushed; senders that have found one of them just before are RCU
 *    readers: synchronize_net() again.
 *  - Frames that it had sent and that wait at other outputs are dropped there, under their
 *    locks; so are its own queues of frames from other inputs.  A puller touches the input of
 *    a frame under that lock only.
 *  - Frames that were pulled refer to no port.  Frames of control that wait for it are freed.
 *  - Its memory and counters are freed, and its reference to the device is released.
 *
 * The host's port is removed last, with the switch.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include "fabric.h"
#include "queue.h"

static LIST_HEAD(zsw_kinds);

/**
 * zswitch_register_kind() - register a kind of devices that can be made to wait
 * @kind:	kind
 *
 * Context: process.
 */
void zswitch_register_kind(struct zswitch_kind *kind)
{
	rtnl_lock();
	list_add_tail(&kind->node, &zsw_kinds);
	rtnl_unlock();
}
EXPORT_SYMBOL_GPL(zswitch_register_kind);

/**
 * zswitch_unregister_kind() - unregister a kind of devices
 * @kind:	kind, of which no device exists any more
 *
 * Context: process.
 */
void zswitch_unregister_kind(struct zswitch_kind *kind)
{
	rtnl_lock();
	list_del(&kind->node);
	rtnl_unlock();
}
EXPORT_SYMBOL_GPL(zswitch_unregister_kind);

static const struct zswitch_kind *zsw_kind_of(const struct net_device *dev)
{
	const struct zswitch_kind *kind;

	list_for_each_entry(kind, &zsw_kinds, node)
		if (dev->rtnl_link_ops == kind->link_ops)
			return kind;
	return NULL;
}

/**
 * zsw_port_find() - find the port of a device
 * @zsw:	switch
 * @dev:	device, or the switch's own
 *
 * Context: RTNL or RCU.
 * Return: port, or NULL.
 */
struct zswitch_port *zsw_port_find(struct zswitch *zsw, const struct net_device *dev)
{
	struct zswitch_port *port;

	list_for_each_entry_rcu(port, &zsw->ports, node, lockdep_rtnl_is_held())
		if (port->dev == dev)
			return port;
	return NULL;
}

/**
 * zsw_port_new() - allocate a port
 * @zsw:	switch
 * @dev:	device
 * @kind:	callbacks that make its senders wait; NULL for a wire
 *
 * Return: port with its defaults, or NULL.
 */
struct zswitch_port *zsw_port_new(struct zswitch *zsw, struct net_device *dev,
				  const struct zswitch_kind *kind)
{
	struct zswitch_port *port = kzalloc(sizeof(*port), GFP_KERNEL);
	int cpu;

	if (!port)
		return NULL;
	port->stats = alloc_percpu(struct zsw_stats);
	if (!port->stats) {
		kfree(port);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(port->stats, cpu)->syncp);
	port->dev = dev;
	port->zsw = zsw;
	port->kind = kind;
	port->vnic = kind && !kind->remote;
	port->weight = 1;
	port->learning = true;
	port->flood = true;
	ratelimit_state_init(&port->refusals, HZ, ZSW_REFUSALS);
	ratelimit_set_flags(&port->refusals, RATELIMIT_MSG_ON_RELEASE);
	zsw_vlans_init(&port->vlans);
	zsw_output_init(port);
	zsw_fabric_init(port);
	return port;
}

/**
 * zsw_port_free() - free a port
 * @port:	port that nothing refers to any more; NULL is allowed
 */
void zsw_port_free(struct zswitch_port *port)
{
	if (!port)
		return;
	free_percpu(port->stats);
	kfree(port);
}

static int zsw_port_check(struct zswitch *zsw, struct net_device *dev,
			  struct netlink_ext_ack *extack)
{
	if (dev->type != ARPHRD_ETHER || dev->addr_len != ETH_ALEN || dev->flags & IFF_LOOPBACK) {
		NL_SET_ERR_MSG(extack, "a port must be an Ethernet device");
		return -EINVAL;
	}
	if (zsw_is_switch(dev) || netif_is_bridge_master(dev)) {
		NL_SET_ERR_MSG(extack, "a switch cannot be a port: join them by a cable, once");
		return -ELOOP;
	}
	if (zsw->num_ports >= ZSW_PORTS_MAX) {
		NL_SET_ERR_MSG(extack, "a switch has at most 512 ports");
		return -EXFULL;
	}
	if (netdev_is_rx_handler_busy(dev)) {
		NL_SET_ERR_MSG(extack, "the device is a port of something else");
		return -EBUSY;
	}
	return 0;
}

/**
 * zsw_port_credit() - make a port grant credit, or ask for it, as configured
 * @port:	port; a wire or a tunnel grants none, and asks its peers
 *
 * Context: RTNL.
 */
void zsw_port_credit(struct zswitch_port *port)
{
	const struct zsw_config *cfg = &port->zsw->cfg;

	if (port->vnic)
		zsw_output_credit(port, cfg->fabric ? cfg->rxq : 0);
	else
		zsw_fabric_set(port, cfg->fabric && port->fabric);
}

static bool zsw_port_can_send(const struct net_device *dev)
{
	return netif_running(dev) && netif_carrier_ok(dev);
}

/* Remove a port that is not in the switch's list any more. */
static void zsw_port_quit(struct zswitch_port *port)
{
	struct zswitch_port *other;

	zsw_output_set(port, false);
	if (port->kind)
		port->kind->detach(port->dev);
	else
		zsw_wire_detach(port);
	synchronize_net();
	zsw_fdb_flush(port->zsw, port);
	synchronize_net();
	zsw_policy_leave(port);
	list_for_each_entry(other, &port->zsw->ports, node)
		zsw_forget_input(other, port);
	zsw_free_voqs(port);
	zsw_fabric_exit(port);
	netdev_put(port->dev, &port->tracker);
	zsw_port_free(port);
}

/**
 * zsw_port_del() - remove a device from its switch
 * @port:	port, not the host's
 *
 * Context: RTNL.
 */
void zsw_port_del(struct zswitch_port *port)
{
	list_del_rcu(&port->node);
	port->zsw->num_ports--;
	netdev_upper_dev_unlink(port->dev, port->zsw->dev);
	zsw_port_quit(port);
}

/**
 * zsw_port_add() - make a device a port of a switch
 * @zsw:	switch
 * @dev:	device
 * @extack:	error message
 *
 * Context: RTNL.
 * Return: 0 or an error.
 */
int zsw_port_add(struct zswitch *zsw, struct net_device *dev, struct netlink_ext_ack *extack)
{
	struct zswitch_port *port;
	int err;

	err = zsw_port_check(zsw, dev, extack);
	if (err)
		return err;
	port = zsw_port_new(zsw, dev, zsw_kind_of(dev));
	if (!port)
		return -ENOMEM;
	netdev_hold(dev, &port->tracker, GFP_KERNEL);
	zsw_policy_join(port);
	err = port->kind ? port->kind->attach(dev, port, extack) : zsw_wire_attach(port, extack);
	if (err) {
		zsw_policy_leave(port);
		netdev_put(dev, &port->tracker);
		zsw_port_free(port);
		return err;
	}
	err = netdev_master_upper_dev_link(dev, zsw->dev, NULL, NULL, extack);
	if (err) {
		zsw_port_quit(port);
		return err;
	}
	list_add_tail_rcu(&port->node, &zsw->ports);
	zsw->num_ports++;
	zsw_port_credit(port);
	zsw_output_set(port, zsw_port_can_send(dev));
	return 0;
}

static struct zswitch_port *zsw_port_of(struct net_device *dev)
{
	struct net_device *master = netdev_master_upper_dev_get(dev);

	return master && zsw_is_switch(master) ? zsw_port_find(netdev_priv(master), dev) : NULL;
}

static int zsw_port_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct zswitch_port *port;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		port = zsw_port_of(dev);
		if (port)
			zsw_output_set(port, zsw_port_can_send(dev));
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		/* A bond that is empty, or a tap, may become a device without Ethernet's header. */
		if (zsw_port_of(dev))
			return NOTIFY_BAD;
		break;
	case NETDEV_UNREGISTER:
		port = zsw_port_of(dev);
		if (port)
			zsw_port_del(port);
		break;
	}
	return NOTIFY_DONE;
}

struct notifier_block zsw_port_notifier = {
	.notifier_call = zsw_port_event,
};
