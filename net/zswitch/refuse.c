// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: ICMP answers to frames that a policy forbids (option refuse).
 *
 * D. Crisan, "Optimized networking for virtual machines ...", ETH Zurich 2014, control policies
 * (section 5.3.1).  Without an answer a connect() to a port that does not allow it lasts until it
 * times out.  The answer is "communication administratively prohibited" (RFC 1812, 5.2.7.1, code 13
 * and RFC 4443, 3.1, code 1), from the address that the packet was for, as the switch has none of
 * its own.
 *
 * No answer is sent to ICMP errors, later fragments, multicast, broadcast and frames that are not
 * IP, and no more than ZSW_REFUSALS answers per second are sent to a port.
 *
 * Non-goal: TCP resets (the ICMP message ends a refused TCP connection as well).
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include "zswitch.h"

/* Bytes quoted of a packet: an answer is at most as long as every host must accept. */
#define ZSW_QUOTE4	(576 - sizeof(struct iphdr) - sizeof(struct icmphdr))
#define ZSW_QUOTE6	(IPV6_MIN_MTU - sizeof(struct ipv6hdr) - sizeof(struct icmp6hdr))

static bool zsw_icmp_is_error(u8 type)
{
	return type == ICMP_DEST_UNREACH || type == ICMP_SOURCE_QUENCH || type == ICMP_REDIRECT ||
	       type == ICMP_TIME_EXCEEDED || type == ICMP_PARAMETERPROB;
}

/* May this packet be answered?  @ip4 is its header. */
static bool zsw_answerable4(const struct sk_buff *skb, const struct iphdr *ip4)
{
	u8 buf;
	const u8 *type;

	if (ip4->version != 4 || ip4->ihl < 5 || ip4->frag_off & htons(IP_OFFSET) ||
	    ipv4_is_multicast(ip4->daddr) || ipv4_is_lbcast(ip4->daddr) ||
	    ipv4_is_multicast(ip4->saddr) || ipv4_is_lbcast(ip4->saddr) ||
	    ipv4_is_zeronet(ip4->saddr))
		return false;
	if (ip4->protocol != IPPROTO_ICMP)
		return true;
	type = skb_header_pointer(skb, ETH_HLEN + ip4->ihl * 4, sizeof(*type), &buf);
	return type && !zsw_icmp_is_error(*type);
}

static bool zsw_answerable6(const struct sk_buff *skb, const struct ipv6hdr *ip6)
{
	u8 buf, proto = ip6->nexthdr;
	__be16 frag = 0;
	const u8 *type;
	int offset;

	if (ip6->version != 6 || ipv6_addr_is_multicast(&ip6->daddr) ||
	    ipv6_addr_is_multicast(&ip6->saddr) || ipv6_addr_any(&ip6->saddr))
		return false;
	offset = ipv6_skip_exthdr(skb, ETH_HLEN + sizeof(*ip6), &proto, &frag);
	if (offset < 0 || frag & htons(IP6_OFFSET))
		return false;
	if (proto != IPPROTO_ICMPV6)
		return true;
	type = skb_header_pointer(skb, offset, sizeof(*type), &buf);
	return type && *type & ICMPV6_INFOMSG_MASK;
}

/*
 * Make a frame to the sender of @skb, with zeroed headers and @quote bytes of its packet.
 * Return: the frame, or NULL if @in has sent too many refused frames, or without memory.
 */
static struct sk_buff *zsw_answer(struct zswitch_port *in, const struct sk_buff *skb,
				  unsigned int headers, unsigned int quote)
{
	struct sk_buff *answer;
	struct ethhdr *eth;

	if (!__ratelimit(&in->refusals))
		return NULL;
	answer = alloc_skb(NET_IP_ALIGN + ETH_HLEN + headers + quote, GFP_ATOMIC);
	if (!answer)
		return NULL;
	skb_reserve(answer, NET_IP_ALIGN);
	eth = skb_put(answer, ETH_HLEN);
	ether_addr_copy(eth->h_dest, eth_hdr(skb)->h_source);
	ether_addr_copy(eth->h_source, eth_hdr(skb)->h_dest);
	eth->h_proto = eth_hdr(skb)->h_proto;
	skb_reset_mac_header(answer);
	skb_set_network_header(answer, ETH_HLEN);
	skb_reset_mac_len(answer);
	answer->protocol = eth->h_proto;
	answer->priority = skb->priority;
	__vlan_hwaccel_copy_tag(answer, skb);
	skb_put_zero(answer, headers);
	skb_copy_bits(skb, ETH_HLEN, skb_put(answer, quote), quote);
	return answer;
}

static struct sk_buff *zsw_answer4(struct zswitch_port *in, const struct sk_buff *skb)
{
	const struct iphdr *ip4;
	struct sk_buff *answer;
	struct icmphdr *icmp;
	struct iphdr buf, *ip;
	unsigned int quote;

	ip4 = skb_header_pointer(skb, ETH_HLEN, sizeof(buf), &buf);
	if (!ip4 || !zsw_answerable4(skb, ip4))
		return NULL;
	quote = min_t(unsigned int, skb->len - ETH_HLEN, ZSW_QUOTE4);
	answer = zsw_answer(in, skb, sizeof(*ip) + sizeof(*icmp), quote);
	if (!answer)
		return NULL;
	ip = ip_hdr(answer);
	*ip = (struct iphdr) {
		.version = 4, .ihl = sizeof(*ip) / 4, .tos = ip4->tos, .ttl = IPDEFTTL,
		.tot_len = htons(answer->len - ETH_HLEN), .protocol = IPPROTO_ICMP,
		.saddr = ip4->daddr, .daddr = ip4->saddr,
	};
	ip_send_check(ip);
	icmp = (struct icmphdr *)(ip + 1);
	icmp->type = ICMP_DEST_UNREACH;
	icmp->code = ICMP_PKT_FILTERED;
	icmp->checksum = csum_fold(csum_partial(icmp, sizeof(*icmp) + quote, 0));
	return answer;
}

static struct sk_buff *zsw_answer6(struct zswitch_port *in, const struct sk_buff *skb)
{
	const struct ipv6hdr *ip6;
	struct ipv6hdr buf, *ip;
	struct icmp6hdr *icmp;
	struct sk_buff *answer;
	unsigned int quote;

	ip6 = skb_header_pointer(skb, ETH_HLEN, sizeof(buf), &buf);
	if (!ip6 || !zsw_answerable6(skb, ip6))
		return NULL;
	quote = min_t(unsigned int, skb->len - ETH_HLEN, ZSW_QUOTE6);
	answer = zsw_answer(in, skb, sizeof(*ip) + sizeof(*icmp), quote);
	if (!answer)
		return NULL;
	ip = ipv6_hdr(answer);
	ip6_flow_hdr(ip, ipv6_get_dsfield(ip6), 0);
	ip->payload_len = htons(sizeof(*icmp) + quote);
	ip->nexthdr = IPPROTO_ICMPV6;
	ip->hop_limit = IPDEFTTL;
	ip->saddr = ip6->daddr;
	ip->daddr = ip6->saddr;
	icmp = (struct icmp6hdr *)(ip + 1);
	icmp->icmp6_type = ICMPV6_DEST_UNREACH;
	icmp->icmp6_code = ICMPV6_ADM_PROHIBITED;
	icmp->icmp6_cksum = csum_ipv6_magic(&ip->saddr, &ip->daddr, sizeof(*icmp) + quote,
					    IPPROTO_ICMPV6,
					    csum_partial(icmp, sizeof(*icmp) + quote, 0));
	return answer;
}

/**
 * zsw_icmp_answer() - make the answer to a frame that a policy forbids
 * @in:		port that the frame came in by
 * @skb:	frame, its data at the MAC header
 *
 * Context: RCU, bottom halves are off.
 * Return: a frame for @in, or NULL if the option is off, the frame is not to be answered, there
 * were too many answers, or there is no memory.
 */
struct sk_buff *zsw_icmp_answer(struct zswitch_port *in, const struct sk_buff *skb)
{
	if (!READ_ONCE(in->zsw->cfg.refuse_icmp))
		return NULL;
	if (eth_hdr(skb)->h_proto == htons(ETH_P_IP))
		return zsw_answer4(in, skb);
	if (eth_hdr(skb)->h_proto == htons(ETH_P_IPV6))
		return zsw_answer6(in, skb);
	return NULL;
}
