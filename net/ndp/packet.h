/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP: the fields of a packet's NDP header.
 */
#ifndef _NDP_PACKET_H
#define _NDP_PACKET_H

#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ndp_transport.h>
#include <net/ndp_wire.h>

/* The NDP header of a packet whose transport header is the UDP header. */
static inline const struct ndphdr *ndp_hdr(const struct sk_buff *skb)
{
	return (const struct ndphdr *)(udp_hdr(skb) + 1);
}

static inline bool psn_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* Is a packet whole, trimmed or malformed, by its lengths? */
static inline enum ndp_arrival ndp_arrival(const struct sk_buff *skb)
{
	unsigned int len = ntohs(ndp_hdr(skb)->len);
	unsigned int have = skb->len - sizeof(struct udphdr) -
			    sizeof(struct ndphdr);
	unsigned int want = len ? len + NDP_CRC_LEN : 0;

	if (have > want)
		return NDP_ARRIVED_WRONG;
	return have == want ? NDP_ARRIVED_WHOLE : NDP_ARRIVED_TRIMMED;
}

/* The cookie in a COOKIE packet, in the fields of pull counter and window. */
static inline u64 ndp_hdr_cookie(const struct ndphdr *nh)
{
	return (u64)ntohl(nh->pull) << 32 | ntohl(nh->window);
}

static inline void ndp_hdr_set_cookie(struct ndphdr *nh, u64 cookie)
{
	nh->pull = htonl(upper_32_bits(cookie));
	nh->window = htonl(lower_32_bits(cookie));
}

/* May a packet of DATA, FIN or COOKIE open a connection? */
static inline bool ndp_hdr_opens(const struct ndphdr *nh)
{
	if (!(nh->flags & NDP_F_SYN) || nh->vdt & NDP_FROM_ACCEPTOR)
		return false;
	return ndp_hdr_type(nh) == NDP_COOKIE ||
	       !(ntohl(nh->origin) >> NDP_ORIGIN_BITS & NDP_ORIGIN_ANSWERED);
}

/* The transport that an opening (DATA, FIN or COOKIE) names. */
static inline unsigned int ndp_hdr_transport(const struct ndphdr *nh)
{
	if (ndp_hdr_type(nh) == NDP_COOKIE)
		return ntohs(nh->transport);
	return ntohl(nh->origin) >> NDP_ORIGIN_BITS;
}

#endif /* _NDP_PACKET_H */
