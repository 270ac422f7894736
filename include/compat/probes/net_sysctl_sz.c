// SPDX-License-Identifier: GPL-2.0
/* Sysctl tables are registered with their size. */
#include <linux/module.h>
#include <net/net_namespace.h>

void *compiles(struct net *net, struct ctl_table *table)
{
	return register_net_sysctl_sz(net, "net/probe", table, 1);
}
MODULE_LICENSE("GPL");
