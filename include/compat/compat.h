/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one place that knows kernels apart.
 *
 * Forced into every file of every module.  Code is written against the newest
 * kernel's interfaces; what an older kernel lacks is supplied here.  Each
 * COMPAT_HAVE_x comes from compiling include/compat/probes/x.c against the
 * target kernel (probe.mk), never from a version number, because stable
 * kernels carry backports.
 */
#ifndef _COMPAT_COMPAT_H
#define _COMPAT_COMPAT_H

#include <generated/ndp_compat.h>

#ifndef COMPAT_HAVE_HRTIMER_SETUP
#define hrtimer_setup(timer, fn, clock, mode)				\
do {									\
	struct hrtimer *__timer = (timer);				\
									\
	hrtimer_init(__timer, clock, mode);				\
	__timer->function = (fn);					\
} while (0)
#endif

/*
 * rtnl_link_ops.newlink takes its arguments in a structure, and the core finds
 * the peer's namespace by .peer_type.  Write fn for that, then, before the ops,
 * COMPAT_RTNL_NEWLINK(fn, type) and in them COMPAT_RTNL_NEWLINK_OPS(fn, type).
 */
#ifdef COMPAT_HAVE_RTNL_NEWLINK_PARAMS
#define COMPAT_RTNL_NEWLINK(fn, type)
#define COMPAT_RTNL_NEWLINK_OPS(fn, type)				\
	.newlink = fn,							\
	.peer_type = type
#else
struct net;
struct nlattr;
struct rtnl_newlink_params {
	struct net *src_net;
	struct net *link_net;
	struct net *peer_net;
	struct nlattr **tb;
	struct nlattr **data;
};

#define rtnl_newlink_peer_net(p)	((p)->peer_net ?: (p)->src_net)

#define COMPAT_RTNL_NEWLINK(fn, type)					\
static int fn##_compat(struct net *src_net, struct net_device *dev,	\
		       struct nlattr *tb[], struct nlattr *data[],	\
		       struct netlink_ext_ack *extack)			\
{									\
	struct rtnl_newlink_params params = {				\
		.src_net = src_net, .tb = tb, .data = data,		\
	};								\
	struct nlattr *peer_tb[IFLA_MAX + 1];				\
	int err;							\
									\
	if (!data || !data[type])					\
		return fn(dev, &params, extack);			\
	err = rtnl_nla_parse_ifinfomsg(peer_tb, data[type], extack);	\
	if (err < 0)							\
		return err;						\
	params.peer_net = rtnl_link_get_net(src_net, peer_tb);		\
	if (IS_ERR(params.peer_net))					\
		return PTR_ERR(params.peer_net);			\
	err = fn(dev, &params, extack);					\
	put_net(params.peer_net);					\
	return err;							\
}
#define COMPAT_RTNL_NEWLINK_OPS(fn, type)				\
	.newlink = fn##_compat
#endif

/* proto_ops.accept: define fn from do_fn(sock, newsock, flags). */
#ifdef COMPAT_HAVE_PROTO_ACCEPT_ARG
#define COMPAT_DEFINE_ACCEPT(fn, do_fn)					\
static int fn(struct socket *sock, struct socket *newsock,		\
	      struct proto_accept_arg *arg)				\
{									\
	return do_fn(sock, newsock, arg->flags);			\
}
#else
#define COMPAT_DEFINE_ACCEPT(fn, do_fn)					\
static int fn(struct socket *sock, struct socket *newsock, int flags,	\
	      bool kern)						\
{									\
	return do_fn(sock, newsock, flags);				\
}
#endif

/* What UDP's encap_err_rcv is given behind socket and skb. */
#ifdef COMPAT_HAVE_ENCAP_ERR_PORT
#define COMPAT_ENCAP_ERR_ARGS	int err, __be16 port, u32 info, u8 *payload
#else
#define COMPAT_ENCAP_ERR_ARGS	unsigned int udp_offset
#endif

/* The table that a sysctl handler is given. */
#ifdef COMPAT_HAVE_CTL_TABLE_CONST
#define COMPAT_CTL_TABLE	const struct ctl_table
#else
#define COMPAT_CTL_TABLE	struct ctl_table
#endif

/* The address that proto_ops.bind and connect are given. */
#ifdef COMPAT_HAVE_SOCKADDR_UNSIZED
#define COMPAT_SOCKADDR		struct sockaddr_unsized
#else
#define COMPAT_SOCKADDR		struct sockaddr
#endif

#ifndef COMPAT_HAVE_NET_SYSCTL_SZ
#define register_net_sysctl_sz(net, path, table, size)			\
	register_net_sysctl(net, path, table)
#endif

#ifdef COMPAT_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* _COMPAT_COMPAT_H */
