// SPDX-License-Identifier: GPL-2.0
/* UDP tunnel functions take a struct sock. */
#include <linux/module.h>
#include <net/udp_tunnel.h>

void probe(struct sock *sk);

void probe(struct sock *sk)
{
	udp_tunnel_sock_release(sk);
}
MODULE_LICENSE("GPL");
