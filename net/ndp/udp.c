// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP over UDP: the kernel sockets on which a namespace receives.
 *
 * The sockets are opened with a namespace's first AF_NDP socket, that of IPv6 with the first of
 * protocol 1, and closed with the namespace.  Packets reach ndp_rcv() in the receive softirq and
 * never enter the UDP socket's own queue.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <net/icmp.h>
#include <net/ipv6.h>
#include <compat/udp_tunnel.h>
#include "conn.h"

/* UDP's encap types are for protocols that UDP must know; any other value will do. */
#define NDP_UDP_ENCAP	100

/* Context: RCU read side.  Return: the connection that sent @nh to @to, held, or NULL. */
static struct ndp_sock *ndp_udp_err_conn(struct net *net,
					 const struct in6_addr *to,
					 const struct ndphdr *nh)
{
	struct ndp_key key = {
		.net = net,
		.conn_id = nh->conn_id,
		.acceptor = !!(nh->vdt & NDP_FROM_ACCEPTOR),
	};
	struct ndp_entry *e;

	if (key.acceptor) {
		key.initiator = *to;
		key.iport = nh->dport;
		key.aport = nh->sport;
	} else {
		key.iport = nh->sport;
		key.aport = nh->dport;
	}
	e = ndp_entry_lookup(&key);
	return e && !e->tombstone ? ndp_conn_get(e) : NULL;
}

/* Is the error "port unreachable", of ICMP or ICMPv6 according to the family of @udp? */
static bool ndp_udp_refused(const struct sock *udp, const struct sk_buff *skb)
{
	const struct icmp6hdr *icmp6 = icmp6_hdr(skb);
	const struct icmphdr *icmp = icmp_hdr(skb);

	if (udp->sk_family == AF_INET)
		return icmp->type == ICMP_DEST_UNREACH &&
		       icmp->code == ICMP_PORT_UNREACH;
	return icmp6->icmp6_type == ICMPV6_DEST_UNREACH &&
	       icmp6->icmp6_code == ICMPV6_PORT_UNREACH;
}

static struct in6_addr ndp_udp_err_to(const struct sock *udp,
				      const struct sk_buff *skb)
{
	struct in6_addr to;

	if (udp->sk_family == AF_INET6)
		return ((const struct ipv6hdr *)skb->data)->daddr;
	ipv6_addr_set_v4mapped(((const struct iphdr *)skb->data)->daddr, &to);
	return to;
}

/*
 * Called by UDP's error handler, which finds the socket by the destination port: every error for
 * a packet to that port is passed to this function first, and belongs to NDP.
 */
static int ndp_udp_err_lookup(struct sock *udp, struct sk_buff *skb)
{
	return 0;
}

/*
 * A host that does not speak NDP refuses an opening by "port unreachable", and a host whose
 * address was spoofed refuses our answers so.  All other errors are soft: another path may work,
 * and the timers give up in the end.  Old hosts return only 8 bytes behind the IP header by ICMP:
 * without the NDP header the connection is not known.
 */
static void ndp_udp_err(struct sock *udp, struct sk_buff *skb,
			COMPAT_ENCAP_ERR_ARGS)
{
	unsigned int off = COMPAT_ENCAP_ERR_OFFSET(skb);
	struct in6_addr to = ndp_udp_err_to(udp, skb);
	struct ndp_sock *np;
	struct ndphdr nhbuf;
	struct ndphdr *nh;

	if (!ndp_udp_refused(udp, skb))
		return;
	nh = skb_header_pointer(skb, off, sizeof(nhbuf), &nhbuf);
	if (!nh)
		return;
	rcu_read_lock();
	np = ndp_udp_err_conn(sock_net(udp), &to, nh);
	rcu_read_unlock();
	if (!np)
		return;
	spin_lock_bh(&np->lock);
	if (ndp_to_sk(np)->sk_state == TCP_SYN_SENT ||
	    ndp_is_unverified(np))
		ndp_conn_abort(np, ECONNREFUSED, false);
	spin_unlock_bh(&np->lock);
	sock_put(ndp_to_sk(np));
}

static int ndp_udp_open(struct net *net, int family, struct socket **udp)
{
	/*
	 * UDP checksums are not required; only packets that stay on this host have one, see ip.c.
	 */
	struct udp_port_cfg cfg = {
		.family = family,
		.local_udp_port = htons(ndp_pernet(net)->udp_port),
		.ipv6_v6only = 1,
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
	smp_store_release(udp, sock);
	return 0;
}

/**
 * ndp_udp_get - make sure that the namespace receives
 * @net:	namespace
 * @family:	AF_INET or AF_INET6
 *
 * Context: process.
 * Return: 0, -EADDRINUSE when something else has the UDP port, -EAFNOSUPPORT, -ENOMEM.
 */
int ndp_udp_get(struct net *net, int family)
{
	struct ndp_net *nn = ndp_pernet(net);
	struct socket **udp = family == AF_INET ? &nn->udp : &nn->udp6;
	int err = 0;

	/* Pairs with smp_store_release() in ndp_udp_open(). */
	if (smp_load_acquire(udp))
		return 0;
	mutex_lock(&nn->udp_mutex);
	if (!*udp)
		err = ndp_udp_open(net, family, udp);
	mutex_unlock(&nn->udp_mutex);
	return err;
}

/**
 * ndp_udp_net_exit - the namespace receives no more
 * @nn:		namespace
 *
 * udp_tunnel_sock_release() waits before it unhashes, not after: packets that have
 * found the socket may be in ndp_rcv() for another grace period.
 *
 * Context: process.
 */
void ndp_udp_net_exit(struct ndp_net *nn)
{
	if (nn->udp)
		udp_tunnel_sock_release(nn->udp->sk);
	if (nn->udp6)
		udp_tunnel_sock_release(nn->udp6->sk);
	nn->udp = NULL;
	nn->udp6 = NULL;
}
