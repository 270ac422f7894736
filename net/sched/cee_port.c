// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: ports, their buffers, and which port a packet has come in by.
 *
 * A port is a device with sch_cee, whatever the number of its qdiscs: below mq they share
 * it.  Ports of a namespace share a buffer, as those of a switch chip do, whether they are
 * ports of one bridge, of several, or of a router; a domain name splits them.
 *
 * Ingress port.  skb->skb_iif is the last device that has received a packet on its way up:
 * the port; or a VLAN device, a bond, or a bridge (if the packet is routed from there)
 * above it.  So if that device is no port, it stands for all the ports below it, usually
 * one.  Where there are several (below a bond), any of them may have received the packet,
 * and it is charged to all: peers are then paused early rather than late.  A set of ports
 * is looked up once for each such device, and all sets are flushed whenever a port is added
 * or removed or the stacking of devices changes.  A packet that came in by no port has an
 * empty set.
 *
 * Hardware that does PFC by itself (dcbnl) handles those priorities alone: its driver may
 * not pass pause frames from us, and hides those that it receives.  The driver is asked
 * when the options are set.
 *
 * Teardown, when a port's last qdisc is deleted (under RTNL, before its device is):
 *
 *  - The packet handler is taken off the device's list.
 *  - cee_ports_lock: the port is removed from the table, and every set is dropped.  From
 *    then on only packets that are charged and softirqs that already run can reach it.
 *  - cee_account_stop(): the port is marked dead under the domain's lock; the timer is
 *    cancelled.
 *  - Softirqs that still run may use the port, in its handler or in a cee_kick() that has
 *    just seen it alive.  They are RCU readers; the device and our memory last until a
 *    grace period has passed.
 *  - Packets in queues of other ports: they hold sets, which hold the port's memory, which
 *    holds its domain's.  They touch the account alone.
 *
 * Unloading waits for running handlers (synchronize_net); this module has no RCU callbacks.
 *
 * Not here: ports of one switch in several namespaces.
 */
#include <linux/ethtool.h>
#include <linux/hashtable.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/dcbnl.h>
#include <net/netns/hash.h>
#include "cee_qcn.h"
#include "sch_cee.h"

#define CEE_BUFFER_DEFAULT	(16U << 20)

/* All namespaces share the tables: ports of one user must not make chains that others walk. */
static DEFINE_HASHTABLE(cee_ports, 12);
static DEFINE_HASHTABLE(cee_sets, 12);
static DEFINE_SPINLOCK(cee_ports_lock);
static LIST_HEAD(cee_domains);

/**
 * cee_port_find() - find the port of a device
 * @dev:	device
 *
 * Context: RTNL, or RCU.
 * Return: NULL if the device is no port.
 */
struct cee_port *cee_port_find(const struct net_device *dev)
{
	struct cee_port *port;

	hash_for_each_possible_rcu(cee_ports, port, node, (unsigned long)dev,
				   lockdep_rtnl_is_held())
		if (port->dev == dev)
			return port;
	return NULL;
}

static void cee_domain_put(struct cee_domain *d)
{
	if (refcount_dec_and_test(&d->ref))
		kfree_rcu(d, rcu);
}

static void cee_port_put(struct cee_port *port)
{
	int i;

	if (!refcount_dec_and_test(&port->ref))
		return;
	skb_queue_purge(&port->control);
	for (i = 0; i < CEE_PRIOS; i++)
		if (port->reaction[i])
			kvfree_rcu(port->reaction[i], rcu);
	cee_domain_put(port->domain);
	kfree_rcu(rcu_dereference_protected(port->cfg, 1), rcu);
	kfree_rcu(port, rcu);
}

/**
 * cee_control_add() - send a message before all queues of a port
 * @port:	port; the caller has a reference
 * @skb:	message, consumed
 *
 * Context: bottom halves are off, RCU; the caller may hold a root lock.
 * Return: false if too many wait already, or the port is dead.
 */
bool cee_control_add(struct cee_port *port, struct sk_buff *skb)
{
	if (READ_ONCE(port->dead) || skb_queue_len_lockless(&port->control) >= CEE_CONTROL_MAX) {
		kfree_skb(skb);
		return false;
	}
	skb_queue_tail(&port->control, skb);
	cee_kick(port);
	return true;
}

/* Allocate reaction points where the options need them.  Context: RTNL. */
static int cee_port_react(struct cee_port *port, const struct cee_config *cfg)
{
	struct cee_reaction *r;
	int i;

	for (i = 0; i < CEE_PRIOS; i++) {
		if (!cfg->prio[i].limiter || port->reaction[i])
			continue;
		r = cee_reaction_new();
		if (!r)
			return -ENOMEM;
		/* Receivers and dumps that find it must see it initialised. */
		smp_store_release(&port->reaction[i], r);
	}
	return 0;
}

/* Clear rate limits that the new options do not permit or that another kind of limiter has set. */
static void cee_port_unlimit(struct cee_port *port, const struct cee_config *old,
			     const struct cee_config *cfg)
{
	int i;

	for (i = 0; i < CEE_PRIOS; i++)
		if (port->reaction[i] &&
		    (!cfg->trust || old->prio[i].limiter != cfg->prio[i].limiter))
			cee_reaction_stop(port->reaction[i]);
}

/**
 * cee_set_put() - drop a reference to a set
 * @set:	set
 */
void cee_set_put(struct cee_set *set)
{
	unsigned int i;

	if (!refcount_dec_and_test(&set->ref))
		return;
	for (i = 0; i < set->n; i++)
		cee_port_put(set->port[i]);
	kfree_rcu(set, rcu);
}

/* Flush the cache of which ports a device stands for. */
static void cee_sets_flush(void)
{
	struct hlist_node *next;
	struct cee_set *set;
	int i;

	spin_lock_bh(&cee_ports_lock);
	hash_for_each_safe(cee_sets, i, next, set, node) {
		hash_del_rcu(&set->node);
		cee_set_put(set);
	}
	spin_unlock_bh(&cee_ports_lock);
}

/* State of the walk by cee_below(): the ports below a device, the first @room of which are kept. */
struct cee_walk {
	const struct net *net;
	struct cee_set *set;
	unsigned int room;
	unsigned int n;
};

/* A port may be found several times, by several VLAN devices. */
static bool cee_walk_has(const struct cee_walk *walk, const struct cee_port *port)
{
	unsigned int i;

	for (i = 0; i < min(walk->n, walk->room); i++)
		if (walk->set->port[i] == port)
			return true;
	return false;
}

static int cee_below(struct net_device *lower, struct netdev_nested_priv *priv)
{
	struct cee_port *port = cee_port_find(lower);
	struct cee_walk *walk = priv->data;

		/* A container's device may stack on one of the host; that port is the host's. */
	if (!port || !net_eq(dev_net(lower), walk->net) || cee_walk_has(walk, port))
		return 0;
	if (walk->n < walk->room) {
		refcount_inc(&port->ref);
		walk->set->port[walk->n] = port;
	}
	walk->n++;
	return 0;
}

/* Count the ports that a device stands for, and store the first @room of them. */
static unsigned int cee_find_below(struct net_device *dev, struct cee_set *set, unsigned int room)
{
	struct cee_walk walk = { .net = dev_net(dev), .set = set, .room = room };
	struct netdev_nested_priv priv = { .data = &walk };

	cee_below(dev, &priv);
	if (!walk.n)
		netdev_walk_all_lower_dev_rcu(dev, cee_below, &priv);
	return walk.n;
}

/* Devices of different namespaces have the same few indices. */
static u32 cee_set_key(const struct net *net, int ifindex)
{
	return net_hash_mix(net) ^ ifindex;
}

/* Context: cee_ports_lock, which protects the ports; RCU, which protects the devices. */
static struct cee_set *cee_set_new(struct net *net, int ifindex)
{
	struct net_device *dev = dev_get_by_index_rcu(net, ifindex);
	unsigned int n = dev ? cee_find_below(dev, NULL, 0) : 0;
	struct cee_set *set = kzalloc(struct_size(set, port, n), GFP_ATOMIC);

	if (!set)
		return NULL;
	set->net = net;
	set->ifindex = ifindex;
	refcount_set(&set->ref, 1);
		/* A device may have been stacked meanwhile; that will flush this set. */
	set->n = dev ? min(n, cee_find_below(dev, set, n)) : 0;
	hash_add_rcu(cee_sets, &set->node, cee_set_key(net, ifindex));
	return set;
}

static struct cee_set *cee_set_find(const struct net *net, int ifindex)
{
	struct cee_set *set;

	hash_for_each_possible_rcu(cee_sets, set, node, cee_set_key(net, ifindex),
				   lockdep_is_held(&cee_ports_lock) || rcu_read_lock_bh_held())
		if (set->ifindex == ifindex && set->net == net)
			return set;
	return NULL;
}

/**
 * cee_set_get() - the ports that a packet may have come in by
 * @out:	device that the packet leaves by
 * @ifindex:	skb_iif of the packet
 *
 * Context: bottom halves are off; the caller may hold a root lock.
 * Return: a set, possibly empty, to be released by cee_set_put(); or NULL without memory.
 */
struct cee_set *cee_set_get(struct net_device *out, int ifindex)
{
	struct net *net = dev_net(out);
	struct cee_set *set;

	rcu_read_lock();
	set = cee_set_find(net, ifindex);
	if (likely(set && refcount_inc_not_zero(&set->ref)))
		goto out;
	spin_lock(&cee_ports_lock);
	set = cee_set_find(net, ifindex) ?: cee_set_new(net, ifindex);
	if (set)
		refcount_inc(&set->ref);
	spin_unlock(&cee_ports_lock);
out:
	rcu_read_unlock();
	return set;
}

/**
 * cee_port_speed() - a device's own speed
 * @dev:	device
 *
 * Context: RTNL.
 * Return: bytes per second; 0 if the device reports none.
 */
u64 cee_port_speed(struct net_device *dev)
{
	struct ethtool_link_ksettings ks;

	if (netif_get_link_ksettings(dev, &ks) || !ks.base.speed ||
	    ks.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return ks.base.speed * (u64)(1000 * 1000 / BITS_PER_BYTE);
}

#ifdef CONFIG_DCB
static u8 cee_port_hardware(struct net_device *dev)
{
	struct ieee_pfc pfc = {};

	if (!dev->dcbnl_ops || !dev->dcbnl_ops->ieee_getpfc ||
	    dev->dcbnl_ops->ieee_getpfc(dev, &pfc))
		return 0;
	return pfc.pfc_en;
}
#else
static u8 cee_port_hardware(struct net_device *dev)
{
	return 0;
}
#endif

static struct cee_domain *cee_domain_get(const struct net *net, const char *name)
{
	struct cee_domain *d;

	list_for_each_entry(d, &cee_domains, node)
		if (d->net == net && !strcmp(d->name, name)) {
			refcount_inc(&d->ref);
			return d;
		}
	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return NULL;
	d->net = net;
	strscpy(d->name, name, sizeof(d->name));
	refcount_set(&d->ref, 1);
	spin_lock_init(&d->lock);
	d->buffer = CEE_BUFFER_DEFAULT;
	list_add_tail(&d->node, &cee_domains);
	return d;
}

/* The last registered port takes the domain off the list, whatever holds its memory. */
static void cee_domain_unlist(struct cee_domain *d)
{
	if (!d->ports)
		list_del(&d->node);
}

/* Bytes that the domain has left for a port that has reserved @own bytes so far. */
static u64 cee_domain_room(struct cee_domain *d, const struct cee_config *cfg, u32 own)
{
	u64 buffer = cfg->buffer ?: d->buffer;
	u64 others = d->reserved - own;

	return buffer > others ? buffer - others : 0;
}

/* 802.1Q: a link must not use both kinds of pause. */
static int cee_port_check_pause(struct net_device *dev, const struct cee_config *cfg,
				struct netlink_ext_ack *extack)
{
	if (cfg->pause != TCA_CEE_PAUSE_GLOBAL || !cee_port_hardware(dev))
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "the device does PFC, so its peer cannot be paused by 802.3x");
	return -EOPNOTSUPP;
}

static void cee_port_say_hardware(struct cee_port *port, const struct cee_config *cfg,
				  struct netlink_ext_ack *extack)
{
	WRITE_ONCE(port->hardware, cee_port_hardware(port->dev));
	if (port->hardware & cfg->lossless)
		NL_SET_ERR_MSG_MOD(extack, "the device does PFC, and does not see what waits here");
}

static int cee_is_foreign(struct net_device *upper, struct netdev_nested_priv *priv)
{
	return !net_eq(dev_net(upper), priv->data);
}

/*
 * Is a device of another namespace stacked on the port?  Then skb_iif of what it sends is
 * an index of a device of that namespace, and would name the wrong device here.
 */
static void cee_port_look_up(struct cee_port *port)
{
	struct netdev_nested_priv priv = { .data = dev_net(port->dev) };

	rcu_read_lock();
	WRITE_ONCE(port->foreign,
		   netdev_walk_all_upper_dev_rcu(port->dev, cee_is_foreign, &priv));
	rcu_read_unlock();
}

static void cee_port_register(struct cee_port *port)
{
	port->domain->ports++;
	spin_lock_bh(&cee_ports_lock);
	hash_add_rcu(cee_ports, &port->node, (unsigned long)port->dev);
	spin_unlock_bh(&cee_ports_lock);
	cee_sets_flush();
	cee_port_look_up(port);
	port->pt.type = htons(ETH_P_ALL);
	port->pt.dev = port->dev;
	port->pt.func = cee_pfc_receive;
	port->pt.ignore_outgoing = true;
	dev_add_pack(&port->pt);
	cee_source_join(port);
}

/**
 * cee_port_add() - make a device a port
 * @dev:	device that is no port yet
 * @cfg:	options, parsed; owned by the port on success
 * @extack:	set on error
 *
 * Context: RTNL.
 * Return: port or an error.
 */
struct cee_port *cee_port_add(struct net_device *dev, struct cee_config *cfg,
			      struct netlink_ext_ack *extack)
{
	struct cee_port *port;
	int i, err = -ENOMEM;

	if (dev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG_MOD(extack, "pause frames are Ethernet's");
		return ERR_PTR(-EOPNOTSUPP);
	}
	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return ERR_PTR(-ENOMEM);
	port->domain = cee_domain_get(dev_net(dev), cfg->domain);
	if (!port->domain)
		goto free;
	cee_config_derive(cfg, dev->mtu, cee_port_speed(dev));
	err = cee_config_check(cfg, cee_domain_room(port->domain, cfg, 0), extack) ?:
	      cee_port_check_pause(dev, cfg, extack);
	if (err)
		goto put;
	port->dev = dev;
	refcount_set(&port->ref, 1);
	spin_lock_init(&port->pause_lock);
	skb_queue_head_init(&port->control);
	err = cee_port_react(port, cfg);
	if (err)
		goto unreact;
	cee_account_init(port);
	cee_port_say_hardware(port, cfg, extack);
	cee_account_apply(port, cfg);
	cee_port_register(port);
	return port;
unreact:
	for (i = 0; i < CEE_PRIOS; i++)
		kvfree(port->reaction[i]);
put:
	cee_domain_unlist(port->domain);
	cee_domain_put(port->domain);
free:
	kfree(port);
	return ERR_PTR(err);
}

/**
 * cee_port_configure() - change the options of a port
 * @port:	port
 * @cfg:	new options, parsed; owned by the port on success
 * @extack:	set on error
 *
 * Context: RTNL.
 * Return: 0 or an error.
 */
int cee_port_configure(struct cee_port *port, struct cee_config *cfg,
		       struct netlink_ext_ack *extack)
{
	const struct cee_config *old = rtnl_dereference(port->cfg);
	u32 own = cee_reserve(old);
	u8 forgotten;
	int err;

	if (strcmp(cfg->domain, port->domain->name)) {
		NL_SET_ERR_MSG_MOD(extack, "the domain cannot be changed, delete the qdisc first");
		return -EOPNOTSUPP;
	}
	cee_config_derive(cfg, port->dev->mtu, cee_port_speed(port->dev));
	err = cee_config_check(cfg, cee_domain_room(port->domain, cfg, own), extack) ?:
	      cee_port_check_pause(port->dev, cfg, extack);
	if (!err)
		err = cee_port_react(port, cfg);
	if (err)
		return err;
	cee_port_unlimit(port, old, cfg);
	cee_port_say_hardware(port, cfg, extack);
	/* Priorities whose pauses are no longer obeyed; their queues are kicked below. */
	forgotten = cfg->trust ? (old->lossless & ~cfg->lossless) | port->hardware : U8_MAX;
	/* This frees the old options. */
	cee_account_apply(port, cfg);
	cee_pfc_forget(port, forgotten);
	rcu_read_lock_bh();
	cee_kick(port);
	rcu_read_unlock_bh();
	return 0;
}

/**
 * cee_port_remove() - the last qdisc of a port has been deleted
 * @port:	port
 *
 * Context: RTNL.
 */
void cee_port_remove(struct cee_port *port)
{
	__dev_remove_pack(&port->pt);
	spin_lock_bh(&cee_ports_lock);
	hash_del_rcu(&port->node);
	spin_unlock_bh(&cee_ports_lock);
	cee_source_leave(port);
	cee_sets_flush();
	cee_account_stop(port);
	port->domain->ports--;
	cee_domain_unlist(port->domain);
	cee_port_put(port);
}

/*
 * MTU and speed determine headroom and quanta; the driver may also have switched PFC on or off.
 * Nobody can be refused here: options that no longer fit are in effect, and the log says so.
 */
static void cee_port_follow(struct net_device *dev)
{
	struct cee_port *port = cee_port_find(dev);
	struct netlink_ext_ack extack = {};
	const struct cee_config *old;
	struct cee_config *cfg;

	if (!port)
		return;
	old = rtnl_dereference(port->cfg);
	cfg = kmemdup(old, sizeof(*cfg), GFP_KERNEL);
	if (!cfg)
		return;
	cfg->buffer = 0;
	cee_config_derive(cfg, dev->mtu, cee_port_speed(dev));
	if (cee_config_check(cfg, cee_domain_room(port->domain, cfg, cee_reserve(old)), &extack) &&
	    net_ratelimit())
		netdev_warn(dev, "with MTU %u and this speed: %s\n", dev->mtu, extack._msg);
	WRITE_ONCE(port->hardware, cee_port_hardware(dev));
	cee_pfc_forget(port, port->hardware);
	cee_account_apply(port, cfg);
}

/* The link is gone: drop the peer's pauses, the rates it asked for and the messages for it. */
static void cee_port_void(struct cee_port *port)
{
	int i;

	cee_pfc_forget(port, U8_MAX);
	skb_queue_purge(&port->control);
	for (i = 0; i < CEE_PRIOS; i++)
		if (port->reaction[i])
			cee_reaction_stop(port->reaction[i]);
}

static void cee_port_forget(struct net_device *dev)
{
	struct cee_port *port = cee_port_find(dev);

	if (port)
		cee_port_void(port);
}

static void cee_ports_look_up(void)
{
	struct cee_port *port;
	int i;

	hash_for_each(cee_ports, i, port, node)
		cee_port_look_up(port);
}

static int cee_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	switch (event) {
	case NETDEV_CHANGEUPPER:
	case NETDEV_REGISTER:
	case NETDEV_UNREGISTER:
		cee_sets_flush();
		cee_ports_look_up();
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		/* Pause frames need Ethernet's header, which a bond or a tap may lose. */
		if (cee_port_find(dev))
			return NOTIFY_BAD;
		break;
	case NETDEV_DOWN:
		cee_port_forget(dev);
		break;
	case NETDEV_CHANGE:
		if (!netif_carrier_ok(dev))
			cee_port_forget(dev);
		fallthrough;
	case NETDEV_CHANGEMTU:
	case NETDEV_UP:
		cee_port_follow(dev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block cee_notifier = {
	.notifier_call = cee_event,
};

/**
 * cee_port_init() - called when the module is loaded
 *
 * Return: 0 or an error.
 */
int cee_port_init(void)
{
	return register_netdevice_notifier(&cee_notifier);
}

/**
 * cee_port_exit() - called when the module is unloaded; no qdisc is left
 */
void cee_port_exit(void)
{
	unregister_netdevice_notifier(&cee_notifier);
	cee_sets_flush();
	synchronize_net();
}
