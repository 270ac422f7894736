// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP answers to packets that belong to no connection.
 *
 * An answer is built from the received packet alone and is never larger than it: a RST to a
 * sender whose connection is gone, a COOKIE for an opening that has to prove its sender's address
 * (cookie.c), an ACK or PULL on behalf of a tombstone (timewait.c; NDP paper, section 3.2.2).
 * RSTs are limited in rate.
 *
 * Non-goals: packets of connections (xmit.c).
 */
#include "ip.h"

/* Burst of RSTs that net.ndp.rst_rate allows, as the time (ns) that they take at that rate. */
#define NDP_RST_BURST		(100 * NDP_MSEC)

/**
 * ndp_send_reply - answer a packet for which there is no connection
 * @net:	namespace
 * @skb:	packet, transport header at UDP, NDP header behind
 * @type:	NDP_RST, NDP_ACK, NDP_PULL or NDP_COOKIE
 * @flags:	flags of the answer
 * @cookie:	NDP_COOKIE: the cookie; NDP_RST: the reason, in the upper half; else 0
 *
 * The answer is never larger than @skb.
 *
 * Context: softirq.
 */
void ndp_send_reply(struct net *net, const struct sk_buff *skb,
		    enum ndp_type type, u8 flags, u64 cookie)
{
	const struct ndphdr *in = ndp_hdr(skb);
	struct ndp_flow flow = {
		.sport = udp_hdr(skb)->source,
		.dport = htons(ndp_pernet(net)->udp_port),
		.uid = sock_net_uid(net, NULL),
	};
	struct dst_entry *dst;
	struct sk_buff *out;
	struct ndphdr *nh;

	out = ndp_alloc_control();
	if (!out)
		return;
	ndp_skb_addrs(skb, &flow.daddr, &flow.saddr);
	if (ipv6_addr_type(&flow.daddr) & IPV6_ADDR_LINKLOCAL)
		flow.oif = skb->dev->ifindex;
	dst = ndp_ip_route(net, NULL, &flow);
	if (IS_ERR(dst)) {
		kfree_skb_reason(out, SKB_DROP_REASON_IP_OUTNOROUTES);
		return;
	}
	skb_dst_set(out, dst);

	nh = skb_push(out, sizeof(*nh));
	memset(nh, 0, sizeof(*nh));
	nh->vdt = ndp_hdr_vdt(type, !(in->vdt & NDP_FROM_ACCEPTOR));
	nh->flags = flags | (in->flags & NDP_F_RTX);
	nh->sport = in->dport;
	nh->dport = in->sport;
	nh->conn_id = in->conn_id;
	nh->psn = in->psn;
	nh->echo_path = in->path;
	ndp_hdr_set_cookie(nh, cookie);
	if (type == NDP_RST)
		NDP_INC(net, RST_OUT);
	else if (type == NDP_ACK)
		NDP_INC(net, ACK_OUT);
	else if (type == NDP_PULL)
		NDP_INC(net, PULL_OUT);
	else
		NDP_INC(net, COOKIE_OUT);
	ndp_ip_send(net, NULL, out, &flow, NDP_DSCP_CONTROL);
}

/* Does the rate limit allow another RST to a sender that has no connection here? */
static bool ndp_rst_due(struct ndp_net *nn)
{
	int rate = READ_ONCE(nn->rst_rate);
	s64 at, now = ktime_get_ns();

	if (!rate)
		return true;
	at = atomic64_read(&nn->rst_at);
	do {
		if (at > now + (s64)NDP_RST_BURST)
			return false;
	} while (!atomic64_try_cmpxchg(&nn->rst_at, &at,
				       max(at, now) + NSEC_PER_SEC / rate));
	return true;
}

/**
 * ndp_refuse - refuse a packet for which there is no connection
 * @net:	namespace
 * @skb:	packet, transport header at UDP, NDP header behind
 * @reason:	why
 *
 * A RST is sent, unless the limit net.ndp.rst_rate is reached.
 *
 * Context: softirq.
 */
void ndp_refuse(struct net *net, const struct sk_buff *skb,
		enum ndp_reason reason)
{
	if (ndp_rst_due(ndp_pernet(net)))
		ndp_send_reply(net, skb, NDP_RST, 0, (u64)reason << 32);
	else
		NDP_INC(net, RST_LIMITED);
}
