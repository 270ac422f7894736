// SPDX-License-Identifier: GPL-2.0
/* ndo_fdb_del reports whether it has sent the notification. */
#include <linux/module.h>
#include <linux/netdevice.h>

static int probe(struct ndmsg *ndm, struct nlattr *tb[], struct net_device *dev,
		 const unsigned char *addr, u16 vid, bool *notified,
		 struct netlink_ext_ack *extack)
{
	return 0;
}

const struct net_device_ops probe_ops = { .ndo_fdb_del = probe };
MODULE_LICENSE("GPL");
