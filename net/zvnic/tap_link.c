// SPDX-License-Identifier: GPL-2.0
/*
 * zvtap: ports of virtual machines on a lossless switch (zswitch).
 *
 *	ip link add vm0 type zvtap
 *	ip link set vm0 master zs0 up
 *	qemu-system-x86_64 ... -netdev tap,id=n0,fd=3,vhost=on 3<>/dev/tapN
 *
 * where N is the device's ifindex.
 *
 * The character device is the tap library's, as that of a macvtap is, so vhost-net, QEMU
 * and libvirt can use it as they do a macvtap's.  This file creates and deletes devices and
 * their nodes; tap_dev.c has the path of a frame.
 *
 * The length of a queue's ring is the device's txqueuelen when the queue is opened; txqueuelen
 * cannot be changed while a queue is open, as frames would be lost.
 */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <net/net_namespace.h>
#include <net/rtnetlink.h>
#include "zvtap.h"

/* A zvtap has no peer, and no attribute for one. */
#define COMPAT_NEWLINK		zvtap_newlink
#define COMPAT_NEWLINK_PEER	0
#include <compat/rtnl_newlink.h>

#define ZVTAP_KIND	"zvtap"

static COMPAT_CLASS_NS *zvtap_namespace(COMPAT_CLASS_DEVICE *d)
{
	return compat_class_netns(dev_net(to_net_dev(d->parent)));
}

static struct class zvtap_class = {
	.name		= ZVTAP_KIND,
	.ns_type	= &net_ns_type_operations,
	.namespace	= zvtap_namespace,
};

static dev_t zvtap_major;
static struct cdev zvtap_cdev;
/* All zvtaps; RTNL */
static LIST_HEAD(zvtap_devs);

/**
 * zvtap_update_links() - update all carriers, as queues were opened or closed
 *
 * Context: process.
 */
void zvtap_update_links(void)
{
	struct zvtap *v;

	rtnl_lock();
	list_for_each_entry(v, &zvtap_devs, node)
		zvtap_link_update(v);
	rtnl_unlock();
}

static bool zvtap_ring_good(const struct net_device *dev)
{
	return dev->tx_queue_len >= ZVTAP_RING_MIN && dev->tx_queue_len <= ZVTAP_RING_MAX;
}

static int zvtap_validate(struct nlattr *tb[], struct nlattr *data[],
			  struct netlink_ext_ack *extack)
{
	struct nlattr *addr = tb[IFLA_ADDRESS];

	if (addr && (nla_len(addr) != ETH_ALEN || !is_valid_ether_addr(nla_data(addr)))) {
		NL_SET_ERR_MSG_ATTR(extack, addr, "not a unicast Ethernet address");
		return -EADDRNOTAVAIL;
	}
	return 0;
}

static int zvtap_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
			 struct netlink_ext_ack *extack)
{
	struct zvtap *v = netdev_priv(dev);
	int err;

	if (!zvtap_ring_good(dev)) {
		NL_SET_ERR_MSG(extack, "txqueuelen, the length of the rings, must be 128 to 65536");
		return -ERANGE;
	}
	if (!params->tb[IFLA_ADDRESS])
		eth_hw_addr_random(dev);
	err = register_netdevice(dev);
	if (!err)
		list_add_tail(&v->node, &zvtap_devs);
	return err;
}

static void zvtap_dellink(struct net_device *dev, struct list_head *head)
{
	struct zvtap *v = netdev_priv(dev);

	list_del(&v->node);
	dev_close(dev);
	tap_del_queues(&v->tap);
	unregister_netdevice_queue(dev, head);
}

static struct rtnl_link_ops zvtap_link_ops = {
	.kind		= ZVTAP_KIND,
	.priv_size	= sizeof(struct zvtap),
	.setup		= zvtap_setup,
	.validate	= zvtap_validate,
	.newlink	= compat_newlink,
	.dellink	= zvtap_dellink,
};

static int zvtap_make_node(struct net_device *dev, const char *name)
{
	struct zvtap *v = netdev_priv(dev);
	struct device *node;
	int err;

	err = tap_get_minor(zvtap_major, &v->tap);
	if (err)
		return err;
	node = device_create(&zvtap_class, &dev->dev, MKDEV(MAJOR(zvtap_major), v->tap.minor), dev,
			     "%s", name);
	if (IS_ERR(node)) {
		err = PTR_ERR(node);
		goto err_minor;
	}
	err = sysfs_create_link(&dev->dev.kobj, &node->kobj, name);
	if (err)
		goto err_device;
	return 0;

err_device:
	device_destroy(&zvtap_class, MKDEV(MAJOR(zvtap_major), v->tap.minor));
err_minor:
	tap_free_minor(zvtap_major, &v->tap);
	return err;
}

static void zvtap_remove_node(struct net_device *dev, const char *name)
{
	struct zvtap *v = netdev_priv(dev);

	/* The device node was never created. */
	if (!v->tap.minor)
		return;
	sysfs_remove_link(&dev->dev.kobj, name);
	device_destroy(&zvtap_class, MKDEV(MAJOR(zvtap_major), v->tap.minor));
	tap_free_minor(zvtap_major, &v->tap);
}

static int zvtap_ring_change(struct net_device *dev)
{
	struct zvtap *v = netdev_priv(dev);

	if (v->tap.numqueues)
		return -EBUSY;
	return zvtap_ring_good(dev) ? 0 : -ERANGE;
}

static int zvtap_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	char name[IFNAMSIZ];
	int err = 0;

	if (dev->rtnl_link_ops != &zvtap_link_ops)
		return NOTIFY_DONE;
	snprintf(name, sizeof(name), "tap%d", dev->ifindex);
	switch (event) {
	case NETDEV_REGISTER:
		err = zvtap_make_node(dev, name);
		break;
	case NETDEV_UNREGISTER:
		zvtap_remove_node(dev, name);
		break;
	case NETDEV_CHANGE_TX_QUEUE_LEN:
		err = zvtap_ring_change(dev);
		break;
	}
	return notifier_from_errno(err);
}

static struct notifier_block zvtap_notifier = {
	.notifier_call = zvtap_event,
};

static int __init zvtap_module_init(void)
{
	int err;

	err = tap_create_cdev(&zvtap_cdev, &zvtap_major, ZVTAP_KIND, THIS_MODULE);
	if (err)
		return err;
	zvtap_queues_init(&zvtap_cdev);
	err = class_register(&zvtap_class);
	if (err)
		goto err_cdev;
	err = register_netdevice_notifier(&zvtap_notifier);
	if (err)
		goto err_class;
	zvtap_kind.link_ops = &zvtap_link_ops;
	zswitch_register_kind(&zvtap_kind);
	err = rtnl_link_register(&zvtap_link_ops);
	if (err)
		goto err_kind;
	return 0;

err_kind:
	zswitch_unregister_kind(&zvtap_kind);
	unregister_netdevice_notifier(&zvtap_notifier);
err_class:
	class_unregister(&zvtap_class);
err_cdev:
	tap_destroy_cdev(zvtap_major, &zvtap_cdev);
	return err;
}

static void __exit zvtap_module_exit(void)
{
	rtnl_link_unregister(&zvtap_link_ops);
	zswitch_unregister_kind(&zvtap_kind);
	unregister_netdevice_notifier(&zvtap_notifier);
	zvtap_queues_exit();
	class_unregister(&zvtap_class);
	tap_destroy_cdev(zvtap_major, &zvtap_cdev);
}

module_init(zvtap_module_init);
module_exit(zvtap_module_exit);

MODULE_DESCRIPTION("Ports of virtual machines on a lossless virtual switch");
MODULE_LICENSE("GPL");
MODULE_VERSION(PACKAGE_VERSION);
MODULE_ALIAS_RTNL_LINK(ZVTAP_KIND);
