// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP ports: who owns which, and who listens.
 *
 * NDP ports are a space of their own.  Connections are told apart by their
 * random id, so an active connection needs no port to itself: bind() refuses
 * what TCP's would refuse, while a port chosen by the kernel may be shared with
 * others so chosen when all are taken.  Accepted connections own no port.
 */
#include <net/ip.h>
#include "ndp.h"

static unsigned int ndp_bind_bucket(u16 port)
{
	return port % NDP_BIND_BUCKETS;
}

static bool ndp_bind_conflict(const struct sock *sk, __be32 addr, u16 port,
			      const struct sock *other)
{
	if (other->sk_num != port)
		return false;
	if (addr && other->sk_rcv_saddr && addr != other->sk_rcv_saddr)
		return false;
	if (sk->sk_bound_dev_if && other->sk_bound_dev_if &&
	    sk->sk_bound_dev_if != other->sk_bound_dev_if)
		return false;
	return !sk->sk_reuse || !other->sk_reuse ||
	       other->sk_state == TCP_LISTEN;
}

/* Context: bind_lock held. */
static bool ndp_bind_try(struct ndp_net *nn, struct sock *sk, __be32 addr,
			 u16 port, bool share)
{
	struct hlist_head *head = &nn->bind[ndp_bind_bucket(port)];
	struct ndp_sock *np = ndp_sk(sk);
	struct ndp_sock *other;

	hlist_for_each_entry(other, head, bind_node) {
		if (share && other->autobound &&
		    ndp_to_sk(other)->sk_state != TCP_LISTEN)
			continue;
		if (ndp_bind_conflict(sk, addr, port, ndp_to_sk(other)))
			return false;
	}
	inet_sk(sk)->inet_num = port;
	inet_sk(sk)->inet_sport = htons(port);
	inet_sk(sk)->inet_rcv_saddr = addr;
	inet_sk(sk)->inet_saddr = addr;
	np->bound = true;
	hlist_add_head(&np->bind_node, head);
	return true;
}

static int ndp_bind_any(struct ndp_net *nn, struct sock *sk, __be32 addr)
{
	int low, high, n, i, first;

	inet_get_local_port_range(sock_net(sk), &low, &high);
	n = high - low + 1;
	first = get_random_u32_below(n);
	for (i = 0; i < n; i++)
		if (ndp_bind_try(nn, sk, addr, low + (first + i) % n, false))
			return 0;
	for (i = 0; i < n; i++)
		if (ndp_bind_try(nn, sk, addr, low + (first + i) % n, true))
			return 0;
	return -EADDRINUSE;
}

/**
 * ndp_bind_port - bind a socket
 * @sk:		socket, not bound yet
 * @addr:	local address or 0
 * @port:	NDP port, 0 for any
 *
 * Context: lock_sock held.
 * Return: 0 or -EADDRINUSE.
 */
int ndp_bind_port(struct sock *sk, __be32 addr, u16 port)
{
	struct ndp_net *nn = ndp_pernet(sock_net(sk));
	int err = 0;

	spin_lock_bh(&nn->bind_lock);
	if (!port)
		err = ndp_bind_any(nn, sk, addr);
	else if (!ndp_bind_try(nn, sk, addr, port, false))
		err = -EADDRINUSE;
	spin_unlock_bh(&nn->bind_lock);
	return err;
}

/**
 * ndp_autobind - give a socket a port if it has none
 * @sk:		socket
 *
 * Context: lock_sock held.
 * Return: 0 or -EADDRINUSE.
 */
int ndp_autobind(struct sock *sk)
{
	struct ndp_sock *np = ndp_sk(sk);
	int err;

	if (np->bound)
		return 0;
	np->autobound = true;
	err = ndp_bind_port(sk, inet_sk(sk)->inet_rcv_saddr, 0);
	if (err)
		np->autobound = false;
	return err;
}

/**
 * ndp_unbind - give the port back
 * @sk:		socket
 */
void ndp_unbind(struct sock *sk)
{
	struct ndp_net *nn = ndp_pernet(sock_net(sk));
	struct ndp_sock *np = ndp_sk(sk);

	spin_lock_bh(&nn->bind_lock);
	if (np->bound) {
		hlist_del_init(&np->bind_node);
		np->bound = false;
	}
	spin_unlock_bh(&nn->bind_lock);
}

/* Context: bind_lock held. */
static bool ndp_listen_conflict(struct ndp_net *nn, const struct sock *sk)
{
	u16 port = inet_sk(sk)->inet_num;
	struct ndp_sock *other;

	hlist_for_each_entry(other, &nn->listen[ndp_bind_bucket(port)],
			     listen_node)
		if (ndp_bind_conflict(sk, sk->sk_rcv_saddr, port,
				      ndp_to_sk(other)))
			return true;
	return false;
}

/**
 * ndp_listen_add - let a bound socket be found by openings
 * @sk:		bound socket, in state TCP_LISTEN afterwards
 *
 * Sockets with SO_REUSEADDR may share a port until one of them listens.
 *
 * Context: lock_sock held.
 * Return: 0 or -EADDRINUSE.
 */
int ndp_listen_add(struct sock *sk)
{
	struct ndp_net *nn = ndp_pernet(sock_net(sk));
	u16 port = inet_sk(sk)->inet_num;
	int err = 0;

	spin_lock_bh(&nn->bind_lock);
	if (ndp_listen_conflict(nn, sk)) {
		err = -EADDRINUSE;
	} else {
		ndp_set_state(sk, TCP_LISTEN);
		hlist_add_head_rcu(&ndp_sk(sk)->listen_node,
				   &nn->listen[ndp_bind_bucket(port)]);
	}
	spin_unlock_bh(&nn->bind_lock);
	return err;
}

/**
 * ndp_listen_del - undo ndp_listen_add()
 * @sk:		socket
 *
 * Lookups may return it for another grace period; its state tells them.
 */
void ndp_listen_del(struct sock *sk)
{
	struct ndp_net *nn = ndp_pernet(sock_net(sk));

	spin_lock_bh(&nn->bind_lock);
	hlist_del_init_rcu(&ndp_sk(sk)->listen_node);
	spin_unlock_bh(&nn->bind_lock);
}

/**
 * ndp_listen_lookup - the listener for an opening
 * @net:	namespace
 * @addr:	address that the packet came to
 * @port:	NDP port
 *
 * A listener bound to the address wins over one bound to any.
 *
 * Context: RCU read side.
 * Return: listener with a reference, or NULL.
 */
struct sock *ndp_listen_lookup(struct net *net, __be32 addr, __be16 port)
{
	struct ndp_net *nn = ndp_pernet(net);
	struct ndp_sock *np, *best = NULL;

	hlist_for_each_entry_rcu(np, &nn->listen[ndp_bind_bucket(ntohs(port))],
				 listen_node) {
		const struct sock *sk = ndp_to_sk(np);

		if (inet_sk(sk)->inet_sport != port ||
		    sk->sk_state != TCP_LISTEN)
			continue;
		if (sk->sk_rcv_saddr == addr)
			best = np;
		else if (!sk->sk_rcv_saddr && !best)
			best = np;
	}
	if (!best || !refcount_inc_not_zero(&ndp_to_sk(best)->sk_refcnt))
		return NULL;
	return ndp_to_sk(best);
}
