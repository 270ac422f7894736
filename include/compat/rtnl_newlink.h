/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rtnl_link_ops.newlink for links with a peer.
 *
 * The newest interface passes a struct rtnl_newlink_params, in which the core
 * has found the peer's namespace with the help of .peer_type.  Write newlink
 * for that interface; before this file is included, define COMPAT_NEWLINK as
 * its name and COMPAT_NEWLINK_PEER as the type of the peer's attribute.  In the
 * ops,
 *
 *	.newlink	= compat_newlink,
 *	COMPAT_NEWLINK_PEER_TYPE
 */
#ifndef _COMPAT_RTNL_NEWLINK_H
#define _COMPAT_RTNL_NEWLINK_H

#include <net/net_namespace.h>
#include <net/rtnetlink.h>

#ifdef COMPAT_HAVE_RTNL_NEWLINK_PARAMS

#define compat_newlink			COMPAT_NEWLINK
#define COMPAT_NEWLINK_PEER_TYPE	.peer_type = COMPAT_NEWLINK_PEER,

#else

struct rtnl_newlink_params {
	struct net *src_net;
	struct net *link_net;
	struct net *peer_net;
	struct nlattr **tb;
	struct nlattr **data;
};

static int COMPAT_NEWLINK(struct net_device *dev,
			  struct rtnl_newlink_params *params,
			  struct netlink_ext_ack *extack);

static inline struct net *
rtnl_newlink_peer_net(struct rtnl_newlink_params *params)
{
	return params->peer_net ?: params->src_net;
}

static int compat_newlink(struct net *src_net, struct net_device *dev,
			  struct nlattr *tb[], struct nlattr *data[],
			  struct netlink_ext_ack *extack)
{
	struct rtnl_newlink_params params = {
		.src_net = src_net, .tb = tb, .data = data,
	};
	struct nlattr *peer = data ? data[COMPAT_NEWLINK_PEER] : NULL;
	struct nlattr *peer_tb[IFLA_MAX + 1];
	int err;

	if (!peer)
		return COMPAT_NEWLINK(dev, &params, extack);
	err = rtnl_nla_parse_ifinfomsg(peer_tb, peer, extack);
	if (err < 0)
		return err;
	params.peer_net = rtnl_link_get_net(src_net, peer_tb);
	if (IS_ERR(params.peer_net))
		return PTR_ERR(params.peer_net);
	err = COMPAT_NEWLINK(dev, &params, extack);
	put_net(params.peer_net);
	return err;
}

#define COMPAT_NEWLINK_PEER_TYPE

#endif

#endif /* _COMPAT_RTNL_NEWLINK_H */
