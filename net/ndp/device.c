// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP devices: the rate of the link below each.
 *
 * The first window and the pace of pulls both follow from a link's rate (NDP paper,
 * section 3.2).  The device that counts is the bottom one, below VLANs and macvlans and
 * across namespaces, because its link is the one to be filled.  A device with several
 * lower devices (a bond) counts itself; its speed is the sum of theirs.
 *
 * The rate is that of the sysctl, else the link speed, queried in notifiers and never on
 * the data path, else 10 Gb/s.
 *
 * Non-goals: pacing at that rate (pull.c).
 */
#include <linux/ethtool.h>
#include <linux/hashtable.h>
#include <linux/rtnetlink.h>
#include "device.h"
#include "net.h"

static DEFINE_HASHTABLE(ndp_links, 8);
static DEFINE_SPINLOCK(ndp_links_lock);

/* Context: RCU read side, or RTNL. */
static struct ndp_link *ndp_link_find(const struct net_device *dev)
{
	struct ndp_link *link;

	hash_for_each_possible_rcu(ndp_links, link, node, (unsigned long)dev,
				   lockdep_rtnl_is_held())
		if (link->dev == dev)
			return link;
	return NULL;
}

/**
 * ndp_bottom - the device whose link is to be filled
 * @dev:	device
 *
 * Descends as long as there is exactly one lower device.
 *
 * Context: RCU read side.
 * Return: @dev or one below it.
 */
const struct net_device *ndp_bottom(const struct net_device *dev)
{
	struct net_device *lower, *only;
	struct list_head *iter;
	int depth;

	for (depth = 0; depth < MAX_NEST_DEV; depth++) {
		struct net_device *upper = (struct net_device *)dev;

		iter = &upper->adj_list.lower;
		only = netdev_next_lower_dev_rcu(upper, &iter);
		if (!only)
			break;
		lower = netdev_next_lower_dev_rcu(upper, &iter);
		if (lower)
			break;
		dev = only;
	}
	return dev;
}

/**
 * ndp_link_get - hold the link of a device
 * @dev:	device
 *
 * Context: RTNL, or RCU read side.
 * Return: link with a reference, or NULL.
 */
struct ndp_link *ndp_link_get(const struct net_device *dev)
{
	struct ndp_link *link = ndp_link_find(dev);

	return link && refcount_inc_not_zero(&link->ref) ? link : NULL;
}

void ndp_link_put(struct ndp_link *link)
{
	if (refcount_dec_and_test(&link->ref))
		kfree_rcu(link, rcu);
}

/**
 * ndp_link_rate - rate of a link
 * @link:	link
 *
 * Context: any.
 * Return: bits per second.
 */
u64 ndp_link_rate(const struct ndp_link *link)
{
	u64 rate = READ_ONCE(link->rate_bps);

	if (rate)
		return rate;
	pr_warn_once("%s tells no link speed; pulling at 10 Gb/s, see net.ndp.pull_rate_mbit\n",
		     link->name);
	return NDP_RATE_DEFAULT;
}

/**
 * ndp_dev_speed - the link speed that a device reports
 * @dev:	bottom device
 *
 * Context: RCU read side.
 * Return: bits per second, 0 if unknown.
 */
u64 ndp_dev_speed(const struct net_device *dev)
{
	const struct ndp_link *link = ndp_link_find(dev);

	return link ? READ_ONCE(link->rate_bps) : 0;
}

/**
 * ndp_dev_rate - link rate below a device
 * @net:	namespace whose override counts
 * @dev:	device
 *
 * Return: bits per second.
 */
u64 ndp_dev_rate(struct net *net, const struct net_device *dev)
{
	u64 rate = ndp_rate_set(ndp_pernet(net));
	const struct ndp_link *link;

	if (rate || (dev->flags & IFF_LOOPBACK))
		return rate ?: NDP_RATE_DEFAULT;
	rcu_read_lock();
	link = ndp_link_find(ndp_bottom(dev));
	rate = link ? ndp_link_rate(link) : NDP_RATE_DEFAULT;
	rcu_read_unlock();
	return rate;
}
EXPORT_SYMBOL_GPL(ndp_dev_rate);

/* Context: netdevice notifier; RTNL held, and the device's lock if it has one. */
static void ndp_link_learn_rate(struct ndp_link *link, struct net_device *dev)
{
	struct ethtool_link_ksettings ks;
	u64 rate = 0;

	ASSERT_RTNL();
	if (!netif_get_link_ksettings(dev, &ks) &&
	    ks.base.speed && ks.base.speed != (u32)SPEED_UNKNOWN)
		rate = ks.base.speed * 1000000ULL;
	WRITE_ONCE(link->rate_bps, rate);
}

static void ndp_link_add(struct net_device *dev)
{
	struct ndp_link *link = kzalloc(sizeof(*link), GFP_KERNEL);

	if (!link)
		return;
	link->dev = dev;
	strscpy(link->name, dev->name, sizeof(link->name));
	refcount_set(&link->ref, 1);
	ndp_link_learn_rate(link, dev);
	spin_lock_bh(&ndp_links_lock);
	hash_add_rcu(ndp_links, &link->node, (unsigned long)dev);
	spin_unlock_bh(&ndp_links_lock);
}

static void ndp_link_del(struct ndp_link *link)
{
	spin_lock_bh(&ndp_links_lock);
	hash_del_rcu(&link->node);
	spin_unlock_bh(&ndp_links_lock);
	ndp_link_put(link);
}

static int ndp_link_event(struct notifier_block *nb, unsigned long event,
			  void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct ndp_link *link = ndp_link_find(dev);

	switch (event) {
	case NETDEV_REGISTER:
		if (!link)
			ndp_link_add(dev);
		break;
	case NETDEV_UP:
	case NETDEV_CHANGE:
		if (link)
			ndp_link_learn_rate(link, dev);
		break;
	case NETDEV_UNREGISTER:
		if (link)
			ndp_link_del(link);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block ndp_link_nb = {
	.notifier_call = ndp_link_event,
};

int __init ndp_device_init(void)
{
	/* Replays NETDEV_REGISTER and NETDEV_UP for all devices that exist. */
	return register_netdevice_notifier(&ndp_link_nb);
}

void ndp_device_exit(void)
{
	/* Replays NETDEV_UNREGISTER for all devices. */
	unregister_netdevice_notifier(&ndp_link_nb);
}
