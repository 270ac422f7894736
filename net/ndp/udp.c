// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP over UDP: the kernel socket on which a namespace receives.
 *
 * Bound when a namespace makes its first AF_NDP socket, closed with the
 * namespace.  Packets reach ndp_rcv() in the receive softirq and never enter
 * the UDP socket's own queue.
 */
#include <linux/icmp.h>
#include <net/icmp.h>
#include <compat/udp_tunnel.h>
#include "ndp.h"

/* UDP's encap types name those it must know; any other value will do. */
#define NDP_UDP_ENCAP	100

static struct ndp_sock *ndp_udp_err_conn(struct net *net,
					 const struct iphdr *iph,
					 const struct ndphdr *nh)
{
	struct ndp_key key = {
		.net = net,
		.conn_id = nh->conn_id,
		.acceptor = !!(nh->vdt & NDP_FROM_ACCEPTOR),
	};
	struct ndp_entry *e;
	struct ndp_sock *np;

	if (key.acceptor) {
		key.initiator = iph->daddr;
		key.iport = nh->dport;
		key.aport = nh->sport;
	} else {
		key.iport = nh->sport;
		key.aport = nh->dport;
	}
	e = ndp_entry_lookup(&key);
	if (!e || e->tombstone)
		return NULL;
	np = container_of(e, struct ndp_sock, entry);
	if (!refcount_inc_not_zero(&ndp_to_sk(np)->sk_refcnt))
		return NULL;
	return np;
}

/*
 * What UDP's error handler makes of our packets: the socket is found by the
 * destination port, so every error for a packet to that port comes here first.
 */
static int ndp_udp_err_lookup(struct sock *udp, struct sk_buff *skb)
{
	return 0;
}

/*
 * A host that does not speak NDP refuses an opening by "port unreachable".
 * All other errors are soft: another path may work, and the timers give up in
 * the end.  ICMP returns 8 bytes behind the IP header on old hosts: without
 * the NDP header there is nobody to tell.
 */
static void ndp_udp_err(struct sock *udp, struct sk_buff *skb,
			COMPAT_ENCAP_ERR_ARGS)
{
	const struct iphdr *iph = (const struct iphdr *)skb->data;
	unsigned int off = (iph->ihl << 2) + sizeof(struct udphdr);
	const struct icmphdr *icmp = icmp_hdr(skb);
	struct ndp_sock *np;
	struct ndphdr nhbuf;
	struct ndphdr *nh;

	if (icmp->type != ICMP_DEST_UNREACH || icmp->code != ICMP_PORT_UNREACH)
		return;
	nh = skb_header_pointer(skb, off, sizeof(nhbuf), &nhbuf);
	if (!nh)
		return;
	rcu_read_lock();
	np = ndp_udp_err_conn(sock_net(udp), iph, nh);
	rcu_read_unlock();
	if (!np)
		return;
	spin_lock_bh(&np->lock);
	if (ndp_to_sk(np)->sk_state == TCP_SYN_SENT)
		ndp_conn_abort(np, ECONNREFUSED, false);
	spin_unlock_bh(&np->lock);
	sock_put(ndp_to_sk(np));
}

static int ndp_udp_open(struct net *net, struct ndp_net *nn)
{
	struct udp_port_cfg cfg = {
		.family = AF_INET,
		.local_udp_port = htons(nn->udp_port),
		.use_udp_checksums = 0,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = NDP_UDP_ENCAP,
		.encap_rcv = ndp_rcv,
		.encap_err_lookup = ndp_udp_err_lookup,
		.encap_err_rcv = ndp_udp_err,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(net, &cfg, &sock);
	if (err)
		return err;
	setup_udp_tunnel_sock(net, sock->sk, &tunnel);
	/* Pairs with smp_load_acquire() in ndp_udp_get(). */
	smp_store_release(&nn->udp, sock);
	return 0;
}

/**
 * ndp_udp_get - make sure that the namespace receives
 * @net:	namespace
 *
 * Context: process.
 * Return: 0, -EADDRINUSE when something else has the UDP port, -ENOMEM.
 */
int ndp_udp_get(struct net *net)
{
	struct ndp_net *nn = ndp_pernet(net);
	int err = 0;

	/* Pairs with smp_store_release() in ndp_udp_open(). */
	if (smp_load_acquire(&nn->udp))
		return 0;
	mutex_lock(&nn->udp_mutex);
	if (!nn->udp)
		err = ndp_udp_open(net, nn);
	mutex_unlock(&nn->udp_mutex);
	return err;
}

void ndp_udp_net_exit(struct ndp_net *nn)
{
	if (nn->udp)
		udp_tunnel_sock_release(nn->udp->sk);
	nn->udp = NULL;
}
