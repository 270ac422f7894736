/* SPDX-License-Identifier: GPL-2.0 */
/* UDP tunnel functions that take a struct sock, as in the newest interface. */
#ifndef _COMPAT_UDP_TUNNEL_H
#define _COMPAT_UDP_TUNNEL_H

#include <net/udp_tunnel.h>

#ifndef COMPAT_HAVE_UDP_TUNNEL_SK
#define setup_udp_tunnel_sock(net, sk, cfg)				\
	setup_udp_tunnel_sock(net, (sk)->sk_socket, cfg)
#define udp_tunnel_sock_release(sk)	udp_tunnel_sock_release((sk)->sk_socket)
#endif

/* Send without DF, checksum and flags, within a namespace. */
static inline void compat_udp_tunnel_xmit(struct rtable *rt, struct sock *sk, struct sk_buff *skb,
					  __be32 src, __be32 dst, u8 tos, u8 ttl, __be16 sport,
					  __be16 dport)
{
#ifdef COMPAT_HAVE_UDP_TUNNEL_CB_FLAGS
	udp_tunnel_xmit_skb(rt, sk, skb, src, dst, tos, ttl, 0, sport, dport, false, true, 0);
#else
	udp_tunnel_xmit_skb(rt, sk, skb, src, dst, tos, ttl, 0, sport, dport, false, true);
#endif
}

/* Older kernels need addresses that they may write to. */
static inline void compat_udp_tunnel6_xmit(struct dst_entry *dst, struct sock *sk,
					   struct sk_buff *skb, struct in6_addr src,
					   struct in6_addr to, u8 tos, u8 ttl, __be16 sport,
					   __be16 dport)
{
#ifdef COMPAT_HAVE_UDP_TUNNEL_CB_FLAGS
	udp_tunnel6_xmit_skb(dst, sk, skb, NULL, &src, &to, tos, ttl, 0, sport, dport, true, 0);
#else
	udp_tunnel6_xmit_skb(dst, sk, skb, NULL, &src, &to, tos, ttl, 0, sport, dport, true);
#endif
}

#endif /* _COMPAT_UDP_TUNNEL_H */
