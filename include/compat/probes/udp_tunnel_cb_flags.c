// SPDX-License-Identifier: GPL-2.0
/* UDP tunnel transmit functions take flags for IP output. */
#include <linux/module.h>
#include <net/udp_tunnel.h>

void probe(struct rtable *rt, struct sock *sk, struct sk_buff *skb);

void probe(struct rtable *rt, struct sock *sk, struct sk_buff *skb)
{
	udp_tunnel_xmit_skb(rt, sk, skb, 0, 0, 0, 0, 0, 0, 0, false, true, 0);
}
MODULE_LICENSE("GPL");
