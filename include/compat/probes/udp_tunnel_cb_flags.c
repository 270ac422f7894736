// SPDX-License-Identifier: GPL-2.0
/* Who sends through a UDP tunnel says which flags the packet has for IP's output. */
#include <linux/module.h>
#include <net/udp_tunnel.h>

void probe(struct rtable *rt, struct sock *sk, struct sk_buff *skb);

void probe(struct rtable *rt, struct sock *sk, struct sk_buff *skb)
{
	udp_tunnel_xmit_skb(rt, sk, skb, 0, 0, 0, 0, 0, 0, 0, false, true, 0);
}
MODULE_LICENSE("GPL");
