// SPDX-License-Identifier: GPL-2.0
/* rtnl_link_ops.newlink takes a struct rtnl_newlink_params. */
#include <linux/module.h>
#include <net/rtnetlink.h>

struct net *probe(struct rtnl_newlink_params *params);

struct net *probe(struct rtnl_newlink_params *params)
{
	return rtnl_newlink_peer_net(params);
}
MODULE_LICENSE("GPL");
