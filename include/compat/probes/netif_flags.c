// SPDX-License-Identifier: GPL-2.0
/* netif_get_flags() is the new name of dev_get_flags(). */
#include <linux/module.h>
#include <linux/netdevice.h>

unsigned int probe(struct net_device *dev);

unsigned int probe(struct net_device *dev)
{
	return netif_get_flags(dev);
}
MODULE_LICENSE("GPL");
