// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP over IP: what IPv4 and IPv6 do not have in common.
 *
 * Addresses of connections, paths and packets are struct in6_addr, those of IPv4
 * mapped into it (::ffff:a.b.c.d).  A socket of protocol 1 reaches peers of both
 * families: whether a connection sends IPv4 or IPv6 follows from the peer's address.
 *
 * The UDP checksum is zero in IPv6 as well (RFC 6935 and 6936: the NDP header has a
 * checksum over the addresses, and the payload a CRC), because a switch that trims could
 * not correct it.  Only packets that stay on this host have a UDP checksum, and then no
 * CRC (xmit.c).
 *
 * The flow label repeats the UDP source port, so that a fabric that hashes the label
 * alone has as many paths.
 *
 * The bytes of a numbered packet never change.  If the path MTU has become smaller than
 * the packet, this host sends it as IP fragments, which switches do not trim.
 *
 * Non-goals: extension headers and IP options set by the application.
 */
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>
#include "ip.h"

/**
 * ndp_skb_addrs - where a packet came from and went to
 * @skb:	packet, network header set
 * @saddr:	source
 * @daddr:	destination
 */
void ndp_skb_addrs(const struct sk_buff *skb, struct in6_addr *saddr,
		   struct in6_addr *daddr)
{
	if (ip_hdr(skb)->version == 4) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, saddr);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, daddr);
	} else {
		*saddr = ipv6_hdr(skb)->saddr;
		*daddr = ipv6_hdr(skb)->daddr;
	}
}

/**
 * ndp_skb_tos - DSCP and ECN of a packet
 * @skb:	packet, network header set
 *
 * Return: both, laid out as in the TOS byte of an IPv4 header.
 */
u8 ndp_skb_tos(const struct sk_buff *skb)
{
	return ip_hdr(skb)->version == 4 ? ip_hdr(skb)->tos :
					   ipv6_get_dsfield(ipv6_hdr(skb));
}

/**
 * ndp_skb_was_cut - did a packet arrive in fragments?
 * @skb:	packet, its control block as IP left it
 *
 * Return: yes.
 */
bool ndp_skb_was_cut(const struct sk_buff *skb)
{
	return ip_hdr(skb)->version == 4 ? IPCB(skb)->frag_max_size :
					   IP6CB(skb)->frag_max_size;
}

static struct dst_entry *ndp_ip4_route(struct net *net, struct sock *sk,
				       struct ndp_flow *flow)
{
	struct flowi4 fl4 = {
		.flowi4_oif = flow->oif,
		.flowi4_mark = flow->mark,
		.flowi4_proto = IPPROTO_UDP,
		.flowi4_uid = flow->uid,
		.flowi4_flags = flow->flags,
		.daddr = ndp_ip4(&flow->daddr),
		.saddr = ndp_ip4(&flow->saddr),
		.fl4_sport = flow->sport,
		.fl4_dport = flow->dport,
	};
	struct rtable *rt;

	rt = ip_route_output_flow(net, &fl4, sk);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	if (rt->rt_flags & (RTCF_MULTICAST | RTCF_BROADCAST)) {
		ip_rt_put(rt);
		return ERR_PTR(-ENETUNREACH);
	}
	ipv6_addr_set_v4mapped(fl4.saddr, &flow->saddr);
	ipv6_addr_set_v4mapped(fl4.daddr, &flow->daddr);
	return &rt->dst;
}

static __be32 ndp_flow_label(const struct ndp_flow *flow)
{
	return htonl(ntohs(flow->sport));
}

static struct dst_entry *ndp_ip6_route(struct net *net, struct sock *sk,
				       struct ndp_flow *flow)
{
	struct flowi6 fl6 = {
		.flowi6_oif = flow->oif,
		.flowi6_mark = flow->mark,
		.flowi6_proto = IPPROTO_UDP,
		.flowi6_uid = flow->uid,
		.flowi6_flags = flow->flags,
		.daddr = flow->daddr,
		.saddr = flow->saddr,
		.flowlabel = ndp_flow_label(flow),
		.fl6_sport = flow->sport,
		.fl6_dport = flow->dport,
	};
	struct dst_entry *dst;

	dst = ip6_dst_lookup_flow(net, sk, &fl6, NULL);
	if (!IS_ERR(dst))
		flow->saddr = fl6.saddr;
	return dst;
}

/**
 * ndp_ip_route - route a flow
 * @net:	namespace
 * @sk:		socket or NULL
 * @flow:	flow; a source address that is missing is filled in
 *
 * Context: process or softirq.
 * Return: route with a reference, or ERR_PTR of the routing error, -ENETUNREACH for
 * an IPv4 multicast or broadcast destination.
 */
struct dst_entry *ndp_ip_route(struct net *net, struct sock *sk,
			       struct ndp_flow *flow)
{
	return ndp_is_ip4(&flow->daddr) ? ndp_ip4_route(net, sk, flow) :
					  ndp_ip6_route(net, sk, flow);
}

/**
 * ndp_ip_cookie - the cookie with which dst_check() checks a route
 * @dst:	route
 *
 * Return: cookie.
 */
u32 ndp_ip_cookie(const struct dst_entry *dst)
{
	if (dst->ops->family == AF_INET)
		return 0;
	return rt6_get_cookie(container_of(dst, struct rt6_info, dst));
}

/* Does a packet with its IP header fit the MTU, so that it leaves in one piece? */
static bool ndp_ip_fits(const struct sk_buff *skb, const struct ndp_flow *flow)
{
	u32 mtu = flow->mtu ?: dst_mtu(skb_dst(skb));

	return skb->len <= (flow->limit ? min(flow->limit, mtu) : mtu);
}

static void ndp_ip4_push(struct net *net, const struct sock *sk,
			 struct sk_buff *skb, const struct ndp_flow *flow, u8 dscp)
{
	const struct dst_entry *dst = skb_dst(skb);
	int ttl = sk ? READ_ONCE(inet_sk(sk)->uc_ttl) : -1;
	struct iphdr *iph = __skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	iph->version = 4;
	iph->ihl = sizeof(*iph) >> 2;
	iph->tos = dscp << 2 | flow->ecn;
	iph->frag_off = ndp_ip_fits(skb, flow) ? htons(IP_DF) : 0;
	iph->ttl = ttl < 0 ? ip4_dst_hoplimit(dst) : ttl;
	iph->protocol = IPPROTO_UDP;
	iph->saddr = ndp_ip4(&flow->saddr);
	iph->daddr = ndp_ip4(&flow->daddr);
	ip_select_ident(net, skb, NULL);
	skb->protocol = htons(ETH_P_IP);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	if (!iph->frag_off)
		IPCB(skb)->frag_max_size = flow->limit;
}

static void ndp_ip6_push(const struct sock *sk, struct sk_buff *skb,
			 const struct ndp_flow *flow, u8 dscp)
{
	struct dst_entry *dst = skb_dst(skb);
	int limit = sk ? inet6_sk(sk)->hop_limit : -1;
	struct ipv6hdr *iph = __skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	ip6_flow_hdr(iph, dscp << 2 | flow->ecn, ndp_flow_label(flow));
	iph->nexthdr = IPPROTO_UDP;
	iph->hop_limit = limit < 0 ? ip6_dst_hoplimit(dst) : limit;
	iph->saddr = flow->saddr;
	iph->daddr = flow->daddr;
	skb->ignore_df = !ndp_ip_fits(skb, flow);
	skb->protocol = htons(ETH_P_IPV6);
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	if (skb->ignore_df)
		IP6CB(skb)->frag_max_size = flow->limit;
}

/**
 * ndp_ip_send - add UDP and IP headers to a packet and send it
 * @net:	namespace
 * @sk:		socket or NULL
 * @skb:	packet, its data beginning at the NDP header, its route set; consumed
 * @flow:	addresses, UDP ports, and size limits
 * @dscp:	code point
 *
 * Context: process or softirq.
 * Return: as ip_local_out().
 */
int ndp_ip_send(struct net *net, struct sock *sk, struct sk_buff *skb,
		const struct ndp_flow *flow, u8 dscp)
{
	struct ndphdr *nh = (struct ndphdr *)skb->data;
	struct udphdr *uh;

	nh->check = 0;
	nh->check = ndp_ip_checksum(nh, &flow->saddr, &flow->daddr);

	/* NDP_HEADROOM covers the UDP and IP headers too. */
	uh = __skb_push(skb, sizeof(*uh));
	skb_reset_transport_header(skb);
	uh->source = flow->sport;
	uh->dest = flow->dport;
	uh->len = htons(skb->len);
	uh->check = 0;
	skb->ip_summed = CHECKSUM_NONE;

	if (ndp_is_ip4(&flow->daddr)) {
		if (flow->local)
			udp_set_csum(false, skb, ndp_ip4(&flow->saddr), ndp_ip4(&flow->daddr),
				     skb->len);
		ndp_ip4_push(net, sk, skb, flow, dscp);
		return ip_local_out(net, sk, skb);
	}
	if (flow->local)
		udp6_set_csum(false, skb, &flow->saddr, &flow->daddr, skb->len);
	ndp_ip6_push(sk, skb, flow, dscp);
	return ip6_local_out(net, sk, skb);
}
