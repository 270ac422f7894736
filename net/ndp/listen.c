// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP passive opens: any packet of a first window makes the connection (NDP
 * paper, section 3.2.2), with nothing but that packet to go by.
 *
 * A full backlog drops the packet; its sender retries.  The payload of
 * connections that nobody has accepted yet is bounded per listener: beyond it,
 * packets are answered as if trimmed.
 *
 * Whoever forges source addresses could open as many as it likes.  A listener counts
 * the connections of which nothing shows that the peer gets what is sent to it,
 * accepted or not.  While they, or those not accepted, are more than half its backlog
 * it is wary: what arrives opens by a cookie only (cookie.c), and those that are open
 * without proof are asked for one and pulled from only then.
 */
#include <net/ipv6.h>
#include "ndp.h"

static struct ndp_sock *ndp_child_alloc(struct sock *lsk,
					const struct sk_buff *skb,
					const struct ndp_key *key)
{
	struct ndp_sock *np = ndp_sock_clone(lsk);
	struct in6_addr from, to;

	if (!np)
		return NULL;
	np->inet.inet_num = ntohs(key->aport);
	np->inet.inet_sport = key->aport;
	/* The address first hit is the one to answer from. */
	ndp_skb_addrs(skb, &from, &to);
	ndp_set_names(ndp_to_sk(np), &to, &key->initiator, key->iport);
	/* An address of the link alone means something on that link only. */
	if (ipv6_addr_type(&from) & IPV6_ADDR_LINKLOCAL)
		ndp_to_sk(np)->sk_bound_dev_if = skb->dev->ifindex;
	np->entry.key = *key;
	np->acceptor = true;
	ndp_keepalive_start(np);
	if (ndp_conn_setup(np, GFP_ATOMIC)) {
		sock_put(ndp_to_sk(np));
		return NULL;
	}
	np->answered = true;
	ndp_to_sk(np)->sk_state = TCP_ESTABLISHED;
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
 * ndp_listen_wary - does a listener want proof of addresses?
 * @lsk:	listener
 *
 * Context: any.
 * Return: yes.
 */
bool ndp_listen_wary(const struct sock *lsk)
{
	const struct ndp_sock *lnp = (const struct ndp_sock *)lsk;
	u32 most = max_t(u32, READ_ONCE(lsk->sk_ack_backlog),
			 atomic_read(&lnp->unproven));

	return 2ULL * most > READ_ONCE(lsk->sk_max_ack_backlog);
}

/**
 * ndp_child_proven - the peer is where it says, or the connection is over
 * @np:		connection
 *
 * Context: np->lock held, or nobody else sees @np.
 */
void ndp_child_proven(struct ndp_sock *np)
{
	struct sock *lsk = np->unproven_at;

	if (!lsk)
		return;
	np->unproven_at = NULL;
	atomic_dec(&ndp_sk(lsk)->unproven);
	sock_put(lsk);
}

/* Context: nobody else sees @np. */
static void ndp_child_doubted(struct ndp_sock *np, struct sock *lsk)
{
	sock_hold(lsk);
	np->unproven_at = lsk;
	atomic_inc(&ndp_sk(lsk)->unproven);
}

/**
 * ndp_listen_open - open a connection for a packet
 * @lsk:	listener
 * @skb:	packet with SYN
 * @key:	of the acceptor's entry
 * @by_cookie:	it has a good cookie
 *
 * When two packets of one first window arrive on two CPUs, both get the same
 * connection.
 *
 * Context: softirq, RCU read side.
 * Return: connection with a reference, or NULL for backlog or memory.
 */
struct ndp_sock *ndp_listen_open(struct sock *lsk, struct sk_buff *skb,
				 const struct ndp_key *key, bool by_cookie)
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
	np->by_cookie = by_cookie;
	if (!by_cookie)
		ndp_child_doubted(np, lsk);
	err = ndp_conn_hash(np, &other);
	if (err) {
		ndp_child_proven(np);
		np->listener = NULL;
		sock_put(lsk);
		sock_put(ndp_to_sk(np));
		ndp_backlog_release(lsk);
		if (err != -EEXIST || other->tombstone)
			return NULL;
		return ndp_conn_get(other);
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
