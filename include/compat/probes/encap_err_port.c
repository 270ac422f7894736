// SPDX-License-Identifier: GPL-2.0
/* UDP's encap_err_rcv is passed error and port. */
#include <linux/module.h>
#include <net/udp_tunnel.h>

static void probe(struct sock *sk, struct sk_buff *skb, int err, __be16 port,
		  u32 info, u8 *payload)
{
}

struct udp_tunnel_sock_cfg probe_cfg = { .encap_err_rcv = probe };
MODULE_LICENSE("GPL");
