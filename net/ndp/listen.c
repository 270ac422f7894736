// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP passive opens: any packet of a first window makes the connection (NDP
 * paper, section 3.2.2), with nothing but that packet to go by.
 *
 * A full backlog drops the packet; its sender retries.  The payload of
 * connections that nobody has accepted yet is bounded per listener: beyond it,
 * packets are answered as if trimmed.
 *
 * Non-goals: proof of the peer's address (cookies).
 */
#include <net/ip.h>
#include "ndp.h"

/* What an accepted socket takes over from its listener. */
static void ndp_inherit(struct sock *sk, const struct sock *lsk)
{
	const struct ndp_sock *lnp = ndp_sk(lsk);
	struct ndp_sock *np = ndp_sk(sk);

	sk->sk_bound_dev_if = lsk->sk_bound_dev_if;
	sk->sk_mark = lsk->sk_mark;
	sk->sk_rcvbuf = lsk->sk_rcvbuf;
	sk->sk_sndbuf = lsk->sk_sndbuf;
	sk->sk_userlocks = lsk->sk_userlocks;
	sk->sk_rcvlowat = lsk->sk_rcvlowat;
	sk->sk_rcvtimeo = lsk->sk_rcvtimeo;
	sk->sk_sndtimeo = lsk->sk_sndtimeo;
	sk->sk_lingertime = lsk->sk_lingertime;
	sk->sk_reuse = lsk->sk_reuse;
	sk->sk_uid = lsk->sk_uid;
	if (sock_flag(lsk, SOCK_LINGER))
		sock_set_flag(sk, SOCK_LINGER);
	if (sock_flag(lsk, SOCK_KEEPOPEN))
		sock_set_flag(sk, SOCK_KEEPOPEN);
	np->iw_opt = lnp->iw_opt;
	memcpy(np->tcp_option, lnp->tcp_option, sizeof(np->tcp_option));
}

static struct ndp_sock *ndp_child_alloc(struct sock *lsk,
					const struct sk_buff *skb,
					const struct ndp_key *key)
{
	struct inet_sock *inet;
	struct ndp_sock *np;
	struct sock *sk;

	sk = ndp_sock_alloc(sock_net(lsk), NULL, GFP_ATOMIC, lsk->sk_protocol,
			    0);
	if (!sk)
		return NULL;
	ndp_inherit(sk, lsk);
	np = ndp_sk(sk);
	inet = &np->inet;
	inet->inet_num = ntohs(key->aport);
	inet->inet_sport = key->aport;
	inet->inet_dport = key->iport;
	/* The address first hit is the one to answer from. */
	inet->inet_saddr = ip_hdr(skb)->daddr;
	inet->inet_rcv_saddr = ip_hdr(skb)->daddr;
	inet->inet_daddr = key->initiator;
	np->entry.key = *key;
	np->acceptor = true;
	ndp_keepalive_start(np);
	if (ndp_conn_setup(np, GFP_ATOMIC)) {
		sock_put(sk);
		return NULL;
	}
	sk->sk_state = TCP_ESTABLISHED;
	return np;
}

/* Take a place in the backlog, to be filled or given back. */
static bool ndp_backlog_reserve(struct sock *lsk)
{
	struct ndp_sock *lnp = ndp_sk(lsk);
	bool ok;

	spin_lock_bh(&lnp->lock);
	ok = lsk->sk_state == TCP_LISTEN && !sk_acceptq_is_full(lsk);
	if (ok)
		sk_acceptq_added(lsk);
	spin_unlock_bh(&lnp->lock);
	return ok;
}

static void ndp_backlog_release(struct sock *lsk)
{
	spin_lock_bh(&ndp_sk(lsk)->lock);
	sk_acceptq_removed(lsk);
	spin_unlock_bh(&ndp_sk(lsk)->lock);
}

/* Return: whether the listener still listened. */
static bool ndp_backlog_fill(struct sock *lsk, struct ndp_sock *np)
{
	struct ndp_sock *lnp = ndp_sk(lsk);
	bool ok;

	spin_lock_bh(&lnp->lock);
	ok = lsk->sk_state == TCP_LISTEN;
	if (ok) {
		sock_hold(ndp_to_sk(np));
		list_add_tail(&np->accept_node, &lnp->accept_q);
	}
	spin_unlock_bh(&lnp->lock);
	return ok;
}

/**
 * ndp_listen_open - open a connection for a packet
 * @lsk:	listener
 * @skb:	packet with SYN
 * @key:	of the acceptor's entry
 *
 * When two packets of one first window arrive on two CPUs, both get the same
 * connection.
 *
 * Context: softirq, RCU read side.
 * Return: connection with a reference, or NULL for backlog or memory.
 */
struct ndp_sock *ndp_listen_open(struct sock *lsk, struct sk_buff *skb,
				 const struct ndp_key *key)
{
	struct ndp_entry *other = NULL;
	struct ndp_sock *np;
	int err;

	if (!ndp_backlog_reserve(lsk))
		return NULL;
	np = ndp_child_alloc(lsk, skb, key);
	if (!np) {
		ndp_backlog_release(lsk);
		return NULL;
	}
	sock_hold(lsk);
	np->listener = lsk;
	err = ndp_conn_hash(np, &other);
	if (err) {
		np->listener = NULL;
		sock_put(lsk);
		sock_put(ndp_to_sk(np));
		ndp_backlog_release(lsk);
		if (err != -EEXIST || other->tombstone)
			return NULL;
		np = container_of(other, struct ndp_sock, entry);
		return refcount_inc_not_zero(&ndp_to_sk(np)->sk_refcnt) ?
		       np : NULL;
	}
	NDP_INC(sock_net(lsk), PASSIVE_OPENS);
	if (!ndp_backlog_fill(lsk, np)) {
		spin_lock_bh(&np->lock);
		ndp_conn_abort(np, 0, true);
		spin_unlock_bh(&np->lock);
		ndp_child_accepted(np);
	} else {
		lsk->sk_data_ready(lsk);
	}
	/* The allocation's reference is the caller's. */
	return np;
}

/**
 * ndp_child_accepted - a connection is no longer its listener's concern
 * @np:		connection
 *
 * Context: process or softirq, no lock held.
 */
void ndp_child_accepted(struct ndp_sock *np)
{
	struct sock *lsk;

	spin_lock_bh(&np->lock);
	lsk = np->listener;
	np->listener = NULL;
	if (lsk)
		atomic_sub(atomic_read(&ndp_to_sk(np)->sk_rmem_alloc),
			   &ndp_sk(lsk)->unaccepted);
	/* What was refused for the listener's sake may come now. */
	ndp_pull_more(np);
	spin_unlock_bh(&np->lock);
	if (lsk)
		sock_put(lsk);
}

/**
 * ndp_accept_dequeue - next connection to accept
 * @lnp:	listener
 *
 * Return: connection with the queue's reference, or NULL.
 */
struct sock *ndp_accept_dequeue(struct ndp_sock *lnp)
{
	struct ndp_sock *np;

	spin_lock_bh(&lnp->lock);
	np = list_first_entry_or_null(&lnp->accept_q, struct ndp_sock,
				      accept_node);
	if (np) {
		list_del_init(&np->accept_node);
		sk_acceptq_removed(ndp_to_sk(lnp));
	}
	spin_unlock_bh(&lnp->lock);
	return np ? ndp_to_sk(np) : NULL;
}

/**
 * ndp_listen_flush - the listener closes: reset what nobody accepted
 * @lnp:	listener, no longer in state TCP_LISTEN
 *
 * Context: process.
 */
void ndp_listen_flush(struct ndp_sock *lnp)
{
	struct sock *sk;

	while ((sk = ndp_accept_dequeue(lnp))) {
		struct ndp_sock *np = ndp_sk(sk);

		spin_lock_bh(&np->lock);
		sock_set_flag(sk, SOCK_DEAD);
		ndp_conn_abort(np, 0, true);
		ndp_conn_purge(np);
		spin_unlock_bh(&np->lock);
		ndp_child_accepted(np);
		sock_put(sk);
	}
}
