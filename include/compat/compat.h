/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that distinguishes kernels.
 *
 * Forced into every file of every module.  Code is written against the newest kernel's
 * interfaces; what is missing in an older kernel is defined here.  Each COMPAT_HAVE_x comes from
 * compiling include/compat/probes/x.c against the target kernel (probe.mk), never from a version
 * number, because stable kernels carry backports.
 */
#ifndef _COMPAT_COMPAT_H
#define _COMPAT_COMPAT_H

#include <generated/ndp_compat.h>

/* In a kernel tree the modules have no version of their own. */
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION	"in-tree"
#endif

#ifndef COMPAT_HAVE_HRTIMER_SETUP
#define hrtimer_setup(timer, fn, clock, mode)				\
do {									\
	struct hrtimer *__timer = (timer);				\
									\
	hrtimer_init(__timer, clock, mode);				\
	__timer->function = (fn);					\
} while (0)
#endif

/* Arguments of proto_ops.accept behind the sockets, and the flags in them. */
#ifdef COMPAT_HAVE_PROTO_ACCEPT_ARG
#define COMPAT_ACCEPT_ARGS	struct proto_accept_arg *arg
#define COMPAT_ACCEPT_FLAGS	(arg->flags)
#else
#define COMPAT_ACCEPT_ARGS	int flags, bool kern
#define COMPAT_ACCEPT_FLAGS	flags
#endif

/* Arguments of UDP's encap_err_rcv behind socket and skb; offset of the payload. */
#ifdef COMPAT_HAVE_ENCAP_ERR_PORT
#define COMPAT_ENCAP_ERR_ARGS	int err, __be16 port, u32 info, u8 *payload
#define COMPAT_ENCAP_ERR_OFFSET(skb)	(payload - (skb)->data)
#else
#define COMPAT_ENCAP_ERR_ARGS	unsigned int udp_offset
#define COMPAT_ENCAP_ERR_OFFSET(skb)	\
	((void)(skb), udp_offset + sizeof(struct udphdr))
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

/* To be called from notifiers of NETDEV_REGISTER, UP and CHANGE. */
#ifndef COMPAT_HAVE_NETIF_LINK_KSETTINGS
#define netif_get_link_ksettings(dev, ks)	__ethtool_get_link_ksettings(dev, ks)
#endif

#ifndef COMPAT_HAVE_NETIF_FLAGS
#define netif_get_flags(dev)	dev_get_flags(dev)
#endif

#ifndef COMPAT_HAVE_NET_SYSCTL_SZ
#define register_net_sysctl_sz(net, path, table, size)			\
	((void)(size), register_net_sysctl(net, path, table))
#endif

#ifdef COMPAT_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* Cgroup programs that check an address; on older kernels they cannot change its length. */
#ifdef COMPAT_HAVE_BPF_SA_LEN
#define compat_bpf_sa_prog(sk, addr, len, type)				\
({									\
	int *__len = (len);						\
									\
	(void)__len;							\
	BPF_CGROUP_RUN_SA_PROG(sk, (void *)(addr), __len, type);	\
})
#else
#define compat_bpf_sa_prog(sk, addr, len, type)				\
	((void)(len), BPF_CGROUP_RUN_SA_PROG(sk, (void *)(addr), type))
#endif

/* Drop reason: the socket is closed.  Older kernels have it for TCP only. */
#ifndef COMPAT_HAVE_DROP_SOCKET_CLOSE
#define SKB_DROP_REASON_SOCKET_CLOSE	SKB_DROP_REASON_TCP_CLOSE
#endif

#ifndef COMPAT_HAVE_MEMCG_FROM_SK
#define mem_cgroup_from_sk(sk)	((sk)->sk_memcg)
#endif

/* Clock of a packet's departure time; before there were three clocks there were two. */
#ifndef COMPAT_HAVE_SKB_TSTAMP_TYPE
#define SKB_CLOCK_MONOTONIC	true
#endif

/* A packet cut out of a GSO packet counts as one. */
#ifdef COMPAT_HAVE_QDISC_PKT_SEGS
#define compat_qdisc_single_segment(skb)	(qdisc_skb_cb(skb)->pkt_segs = 1)
#else
#define compat_qdisc_single_segment(skb)	((void)(skb))
#endif

/* A device that must stay in its namespace. */
#if defined(COMPAT_HAVE_NETNS_IMMUTABLE)
#define compat_netns_immutable(dev)	((dev)->netns_immutable = true)
#elif defined(COMPAT_HAVE_NETNS_LOCAL)
#define compat_netns_immutable(dev)	((dev)->netns_local = true)
#else
#define compat_netns_immutable(dev)	((dev)->features |= NETIF_F_NETNS_LOCAL)
#endif

/* A device whose transmit function takes locks of its own, and is called without the queue's. */
#ifdef COMPAT_HAVE_LLTX
#define compat_lltx(dev)	((dev)->lltx = true)
#else
#define compat_lltx(dev)	((dev)->features |= NETIF_F_LLTX)
#endif

/* Without .owner, a handler of sock_diag is called with a mutex held. */
#ifdef COMPAT_HAVE_SOCK_DIAG_OWNER
#define COMPAT_SOCK_DIAG_OWNER	.owner = THIS_MODULE,
#else
#define COMPAT_SOCK_DIAG_OWNER
#endif

/* ndo_fdb_add and ndo_fdb_del may report that they have sent the notification. */
#ifdef COMPAT_HAVE_FDB_NOTIFIED
#define COMPAT_FDB_NOTIFIED_ARG	bool *notified,
#else
#define COMPAT_FDB_NOTIFIED_ARG
#endif

/* Index at which ndo_fdb_dump resumes. */
#ifdef COMPAT_HAVE_FDB_DUMP_CONTEXT
#define compat_fdb_dump_index(cb)	\
	(((struct ndo_fdb_dump_context *)(cb)->ctx)->fdb_idx)
#else
#define compat_fdb_dump_index(cb)	((int)(cb)->args[2])
#endif

/* Types of class.namespace: its result, and its argument. */
#ifdef COMPAT_HAVE_CLASS_NS_COMMON
#define COMPAT_CLASS_NS		const struct ns_common
#define compat_class_netns(net)	(&(net)->ns)
#else
#define COMPAT_CLASS_NS		const void
#define compat_class_netns(net)	(net)
#endif
#if defined(COMPAT_HAVE_CLASS_NS_COMMON) || defined(COMPAT_HAVE_CLASS_NS_CONST)
#define COMPAT_CLASS_DEVICE	const struct device
#else
#define COMPAT_CLASS_DEVICE	struct device
#endif

#endif /* _COMPAT_COMPAT_H */
