// SPDX-License-Identifier: GPL-2.0
/* A device's flags as user space has them were dev_get_flags(). */
#include <linux/module.h>
#include <linux/netdevice.h>

unsigned int probe(struct net_device *dev);

unsigned int probe(struct net_device *dev)
{
	return netif_get_flags(dev);
}
MODULE_LICENSE("GPL");
