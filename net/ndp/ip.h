/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, packets over IP: addresses and routes, and answers to strangers.
 */
#ifndef _NDP_IP_H
#define _NDP_IP_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include "net.h"
#include "packet.h"

/* Bytes of all headers in front of the payload, at most. */
#define NDP_HEADROOM		(MAX_HEADER + sizeof(struct ipv6hdr) + \
				 sizeof(struct udphdr) + NDP_HDR_LEN)

/* Bytes of preamble, start delimiter, Ethernet header, FCS and gap of one frame. */
#define NDP_ETH_OVERHEAD	(8 + 14 + 4 + 12)

/* An empty packet with room for all headers.  Return: the packet or NULL. */
static inline struct sk_buff *ndp_alloc_control(void)
{
	struct sk_buff *skb = alloc_skb(NDP_HEADROOM + sizeof(struct ndp_acks), GFP_ATOMIC);

	if (skb)
		skb_reserve(skb, NDP_HEADROOM);
	return skb;
}

/**
 * struct ndp_flow - header fields of a packet, and the key of its route lookup
 * @saddr:	source address; unspecified: ndp_ip_route() fills it in
 * @daddr:	destination address
 * @sport:	UDP source port
 * @dport:	UDP destination port, that of the namespace
 * @mark:	routing mark
 * @oif:	output device, 0 for any
 * @uid:	user of the socket, for routing rules
 * @flags:	flags of &struct flowi_common, from the socket
 * @limit:	largest IP packet or fragment, bytes; 0: only the route's MTU limits it
 * @mtu:	MTU of the route; 0: ndp_ip_send() asks the route
 * @ecn:	ECN bits of the IP header
 * @local:	the packet leaves by the loopback device, and the UDP checksum is offloaded
 */
struct ndp_flow {
	struct in6_addr		saddr;
	struct in6_addr		daddr;
	__be16			sport;
	__be16			dport;
	u32			mark;
	int			oif;
	kuid_t			uid;
	u8			flags;
	u32			limit;
	u32			mtu;
	u8			ecn;
	bool			local;
};

/* checksum.c */
__sum16 ndp_ip_checksum(const struct ndphdr *nh, const struct in6_addr *saddr,
			const struct in6_addr *daddr);
u32 ndp_skb_crc(struct sk_buff *skb, int off, int len);

/* ip.c */
void ndp_skb_addrs(const struct sk_buff *skb, struct in6_addr *saddr,
		   struct in6_addr *daddr);
u8 ndp_skb_tos(const struct sk_buff *skb);
bool ndp_skb_was_cut(const struct sk_buff *skb);
struct dst_entry *ndp_ip_route(struct net *net, struct sock *sk,
			       struct ndp_flow *flow);
u32 ndp_ip_cookie(const struct dst_entry *dst);
int ndp_ip_send(struct net *net, struct sock *sk, struct sk_buff *skb,
		const struct ndp_flow *flow, u8 dscp);

/* reply.c */
void ndp_send_reply(struct net *net, const struct sk_buff *skb,
		    enum ndp_type type, u8 flags, u64 cookie);
void ndp_refuse(struct net *net, const struct sk_buff *skb,
		enum ndp_reason reason);

#endif /* _NDP_IP_H */
