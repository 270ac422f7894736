// SPDX-License-Identifier: GPL-2.0
/* A device whose transmit function takes locks of its own has a flag of this name. */
#include <linux/module.h>
#include <linux/netdevice.h>

void probe(struct net_device *dev);

void probe(struct net_device *dev)
{
	dev->lltx = true;
}
MODULE_LICENSE("GPL");
