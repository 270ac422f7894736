// SPDX-License-Identifier: GPL-2.0
/*
 * sch_ndp: how a port parses and trims a packet, or returns it to its sender.
 *
 * Trimming (NDP paper, section 3.1) keeps everything up to and including the
 * payload's CRC, 78 bytes of an untagged IPv4 packet, and makes the headers
 * agree with that: IP and UDP lengths, IP checksum, and the code point, so that
 * the next port serves what is left as a header.  The ECN bits stay.  A UDP
 * checksum covers the payload that was cut off, so it becomes zero, which is
 * what NDP sends anyway.  The NDP header is left alone: the receiver detects a
 * trimmed packet by comparing the header's length field with the packet's
 * length.
 *
 * Return to sender (section 3.2.4) turns a trimmed packet around: MAC and IP
 * addresses are swapped, the UDP ports stay (the destination port identifies
 * the protocol), and BOUNCED is set.  The NDP checksum covers both addresses;
 * their order does not matter to a sum, so only the flag is patched into it.
 * The TTL is reset: the way back has no fewer hops than the packet has made,
 * and a packet that is BOUNCED is never turned again, so that none can loop
 * forever.
 *
 * Checksums are patched, not recomputed: a packet that was corrupted on its way
 * here still fails the check.
 *
 * Not done here: tunnels (a port sees the outer packet only), and checking NDP
 * headers, which is up to the endpoints.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "sch_ndp.h"

#define NDP_BOUNCE_TTL		64

static struct iphdr *ndpq_ip4(const struct sk_buff *skb,
			      const struct ndpq_view *v)
{
	return (struct iphdr *)(skb->data + v->nhoff);
}

static struct ipv6hdr *ndpq_ip6(const struct sk_buff *skb,
				const struct ndpq_view *v)
{
	return (struct ipv6hdr *)(skb->data + v->nhoff);
}

static struct udphdr *ndpq_udp(const struct sk_buff *skb,
			       const struct ndpq_view *v)
{
	return (struct udphdr *)(skb->data + v->thoff);
}

static struct ndphdr *ndpq_hdr(const struct sk_buff *skb,
			       const struct ndpq_view *v)
{
	return (struct ndphdr *)(ndpq_udp(skb, v) + 1);
}

static bool ndpq_view_ip4(struct sk_buff *skb, struct ndpq_view *v)
{
	const struct iphdr *iph;

	if (!pskb_may_pull(skb, v->nhoff + sizeof(*iph)))
		return false;
	iph = ndpq_ip4(skb, v);
	if (iph->version != 4 || iph->ihl < 5)
		return false;
	v->v6 = false;
	v->dscp = iph->tos >> 2;
	v->thoff = v->nhoff + iph->ihl * 4;
	v->end = v->nhoff + ntohs(iph->tot_len);
	v->udp = iph->protocol == IPPROTO_UDP && !ip_is_fragment(iph);
	return true;
}

static bool ndpq_view_ip6(struct sk_buff *skb, struct ndpq_view *v)
{
	int thoff = v->nhoff + sizeof(struct ipv6hdr);
	const struct ipv6hdr *iph;
	__be16 frag_off;
	u8 nexthdr;

	if (!pskb_may_pull(skb, thoff))
		return false;
	iph = ndpq_ip6(skb, v);
	if (iph->version != 6)
		return false;
	v->v6 = true;
	v->dscp = ipv6_get_dsfield(iph) >> 2;
	v->end = thoff + ntohs(iph->payload_len);
	nexthdr = iph->nexthdr;
	thoff = ipv6_skip_exthdr(skb, thoff, &nexthdr, &frag_off);
	v->thoff = max(thoff, 0);
	v->udp = thoff >= 0 && !frag_off && nexthdr == IPPROTO_UDP;
	return true;
}

static bool ndpq_view_ip(struct sk_buff *skb, struct ndpq_view *v)
{
	int nhoff = skb_network_offset(skb);

	if (nhoff < 0)
		return false;
	v->nhoff = nhoff;
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		return ndpq_view_ip4(skb, v);
	case htons(ETH_P_IPV6):
		return ndpq_view_ip6(skb, v);
	}
	return false;
}

/* Is it unfragmented UDP to the NDP port, with a whole NDP header? */
static bool ndpq_view_udp(struct sk_buff *skb, struct ndpq_view *v)
{
	const unsigned int len = sizeof(struct udphdr) + sizeof(struct ndphdr);
	const struct udphdr *uh;

	if (!v->udp || v->end > skb->len || v->thoff + len > v->end ||
	    !pskb_may_pull(skb, v->thoff + len))
		return false;
	uh = ndpq_udp(skb, v);
	v->udp_end = v->thoff + ntohs(uh->len);
	v->keep = v->thoff + sizeof(*uh) + NDP_HDR_LEN;
	return ntohs(uh->len) >= len && v->udp_end <= v->end;
}

/**
 * ndpq_classify() - determine which queue a packet belongs to
 * @skb:	packet, skb->data at its link-layer header
 * @p:		the port's parameters
 * @v:		filled in; of use for NDP_CLASS_DATA only
 *
 * Classifies by code point alone, as in hardware.  A packet whose code point
 * allows trimming but which cannot be trimmed is other traffic.  Data without
 * payload is a header already: there is nothing to cut, so it is served like
 * one, whole and unchanged.  Extension headers of IPv6 stay with the trimmed
 * packet; if that would be too long for a header at the next port, the packet
 * is other traffic.
 *
 * May move the packet's headers into its linear part.
 */
enum ndpq_class ndpq_classify(struct sk_buff *skb, const struct ndpq_params *p,
			      struct ndpq_view *v)
{
	if (!ndpq_view_ip(skb, v))
		return NDP_CLASS_OTHER;
	if (v->dscp == p->dscp_control || v->dscp == p->dscp_trimmed)
		return skb->len <= NDP_HDR_MAX ? NDP_CLASS_HEADER :
						 NDP_CLASS_OTHER;
	if (v->dscp != p->dscp_data || !ndpq_view_udp(skb, v) || ndpq_udp(skb, v)->dest != p->port)
		return NDP_CLASS_OTHER;
	if (v->udp_end > v->keep)
		return v->keep <= NDP_HDR_MAX ? NDP_CLASS_DATA : NDP_CLASS_OTHER;
	return skb->len <= NDP_HDR_MAX ? NDP_CLASS_HEADER : NDP_CLASS_OTHER;
}

static void ndpq_trim_ip4(struct iphdr *iph, unsigned int len, u8 dscp)
{
	__be16 tot_len = htons(len);

	csum_replace2(&iph->check, iph->tot_len, tot_len);
	iph->tot_len = tot_len;
	ipv4_change_dsfield(iph, INET_ECN_MASK, dscp << 2);
}

/**
 * ndpq_trim() - cut off a packet's payload
 * @skb:	packet of NDP_CLASS_DATA
 * @p:		the port's parameters
 *
 * The caller corrects the qdisc's record of the length.
 *
 * Return: 0, or -ENOMEM: then the packet can only be dropped.
 */
int ndpq_trim(struct sk_buff *skb, const struct ndpq_params *p)
{
	struct udphdr *uh;
	struct ndpq_view v;

	if (!ndpq_view_ip(skb, &v) || !ndpq_view_udp(skb, &v) ||
	    pskb_trim(skb, v.keep) || skb_ensure_writable(skb, v.keep))
		return -ENOMEM;

	if (v.v6) {
		struct ipv6hdr *iph = ndpq_ip6(skb, &v);

		iph->payload_len = htons(v.keep - v.nhoff - sizeof(*iph));
		ipv6_change_dsfield(iph, INET_ECN_MASK, p->dscp_trimmed << 2);
	} else {
		ndpq_trim_ip4(ndpq_ip4(skb, &v), v.keep - v.nhoff,
			      p->dscp_trimmed);
	}
	uh = ndpq_udp(skb, &v);
	uh->len = htons(v.keep - v.thoff);
	uh->check = 0;
	skb->ip_summed = CHECKSUM_NONE;
	return 0;
}

/*
 * A packet without payload that its sender would have to retransmit: trimmed
 * data, an opening or FIN.
 */
static bool ndpq_is_numbered_header(const struct sk_buff *skb,
				    const struct ndpq_view *v, u8 dscp_trimmed)
{
	const struct ndphdr *nh = ndpq_hdr(skb, v);
	enum ndp_type type = ndp_hdr_type(nh);

	if (!nh->len)
		return type == NDP_DATA || type == NDP_FIN;
	return type == NDP_DATA && v->dscp == dscp_trimmed &&
	       v->udp_end < v->keep + ntohs(nh->len);
}

/* Can the packet be returned: not BOUNCED yet, and with a valid sender? */
static bool ndpq_returnable(const struct sk_buff *skb, const struct ndpq_view *v)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;

	if (ndpq_hdr(skb, v)->flags & NDP_F_BOUNCED)
		return false;
	if (skb->dev->type != ARPHRD_ETHER || v->nhoff < ETH_HLEN ||
	    !is_valid_ether_addr(eth->h_source))
		return false;
	/* Extension headers are not valid for the way back. */
	if (v->v6)
		return v->thoff == v->nhoff + sizeof(struct ipv6hdr) &&
		       !ipv6_addr_is_multicast(&ndpq_ip6(skb, v)->saddr) &&
		       !ipv6_addr_any(&ndpq_ip6(skb, v)->saddr);
	return !ipv4_is_multicast(ndpq_ip4(skb, v)->saddr) &&
	       !ipv4_is_zeronet(ndpq_ip4(skb, v)->saddr) &&
	       !ipv4_is_lbcast(ndpq_ip4(skb, v)->saddr);
}

static void ndpq_turn_mac(struct ethhdr *eth)
{
	u8 addr[ETH_ALEN];

	ether_addr_copy(addr, eth->h_source);
	ether_addr_copy(eth->h_source, eth->h_dest);
	ether_addr_copy(eth->h_dest, addr);
}

static void ndpq_turn_ip4(struct iphdr *iph)
{
	__be16 *word = (__be16 *)&iph->ttl;
	__be16 old = *word;

	swap(iph->saddr, iph->daddr);
	iph->ttl = NDP_BOUNCE_TTL;
	csum_replace2(&iph->check, old, *word);
}

static void ndpq_turn_ip6(struct ipv6hdr *iph)
{
	swap(iph->saddr, iph->daddr);
	iph->hop_limit = NDP_BOUNCE_TTL;
}

/* Clear metadata that was set for the other direction: route, mark, hash, queue, priority. */
static void ndpq_forget(struct sk_buff *skb)
{
	skb_scrub_packet(skb, true);
	skb_reset_redirect(skb);
	skb_clear_hash(skb);
	skb_set_queue_mapping(skb, 0);
	skb->ip_summed = CHECKSUM_NONE;
	skb->priority = 0;
}

/**
 * ndpq_turn_around() - turn a header around towards its sender
 * @skb:	packet
 * @p:		the port's parameters
 *
 * On success the packet looks as if the device had received it, for netif_rx().
 * It keeps its socket, if it has one: the destructor might take a lock that the
 * sender holds outside of ours, and ip_rcv() orphans the packet anyway.
 *
 * Return: 0; -EINVAL for a packet that must not or cannot be returned (it is
 * unchanged); -ENOMEM.
 */
int ndpq_turn_around(struct sk_buff *skb, const struct ndpq_params *p)
{
	struct ndphdr *nh;
	struct ndpq_view v;
	__be16 old;

	if (!ndpq_view_ip(skb, &v) || !ndpq_view_udp(skb, &v) ||
	    ndpq_udp(skb, &v)->dest != p->port ||
	    !ndpq_is_numbered_header(skb, &v, p->dscp_trimmed) ||
	    !ndpq_returnable(skb, &v))
		return -EINVAL;
	if (skb_ensure_writable(skb, v.thoff + sizeof(struct udphdr) +
				     sizeof(*nh)))
		return -ENOMEM;

	ndpq_turn_mac((struct ethhdr *)skb->data);
	if (v.v6)
		ndpq_turn_ip6(ndpq_ip6(skb, &v));
	else
		ndpq_turn_ip4(ndpq_ip4(skb, &v));

	nh = ndpq_hdr(skb, &v);
	old = *(__be16 *)nh;
	nh->flags |= NDP_F_BOUNCED;
	csum_replace2(&nh->check, old, *(__be16 *)nh);

	ndpq_forget(skb);
	skb->protocol = eth_type_trans(skb, skb->dev);
	return 0;
}
