// SPDX-License-Identifier: GPL-2.0
/* A device that must stay in its namespace has a flag of this name. */
#include <linux/module.h>
#include <linux/netdevice.h>

void probe(struct net_device *dev);

void probe(struct net_device *dev)
{
	dev->netns_local = true;
}
MODULE_LICENSE("GPL");
