// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP passive opens: any packet of a first window opens the connection (NDP
 * paper, section 3.2.2), by what that packet alone contains.
 *
 * If the backlog is full the packet is dropped; its sender retries.  The payload of
 * connections that nobody has accepted yet is bounded per listener: beyond that
 * bound, packets are answered as if trimmed.
 *
 * Limits on connections that are opened from spoofed addresses: verify.c.
 */
#include <net/ipv6.h>
#include "event.h"
#include "trace.h"
#include "transport.h"

/**
 * ndp_listen_transport - the transport that an opening names
 * @lsk:	listener
 * @skb:	opening
 *
 * Context: softirq, RCU read side.
 * Return: transport, held; NULL if the listener does not accept it, or not by this device.
 */
const struct ndp_transport *
ndp_listen_transport(const struct sock *lsk, const struct sk_buff *skb)
{
	u32 accepts = READ_ONCE(ndp_sk(lsk)->accepts) ?: U32_MAX;
	unsigned int id = ndp_hdr_transport(ndp_hdr(skb));
	const struct ndp_transport *tp;

	if (id >= NDP_TRANSPORT_IDS || !(accepts & BIT(id)))
		return NULL;
	tp = ndp_transport_by_id(id);
	if (!tp || ndp_lossless_ok(sock_net(lsk), tp, skb->dev))
		return tp;
	ndp_transport_put(tp);
	return NULL;
}

static struct ndp_sock *ndp_child_alloc(struct sock *lsk,
					const struct sk_buff *skb,
					const struct ndp_key *key,
					const struct ndp_transport *tp)
{
	struct ndp_sock *np = ndp_sock_clone(lsk, tp);
	struct in6_addr from, to;

	if (!np) {
		ndp_transport_put(tp);
		return NULL;
	}
	np->inet.inet_num = ntohs(key->aport);
	np->inet.inet_sport = key->aport;
	/* Answer from the address that the opening was sent to. */
	ndp_skb_addrs(skb, &from, &to);
	ndp_set_names(ndp_to_sk(np), &to, &key->initiator, key->iport);
	/* A link-local address is valid on its own link only. */
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

/* Reserve a place in the backlog. */
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

/* Put a child into its reserved place.  Return: is the listener still listening? */
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
 * @key:	key of the acceptor's entry
 * @how:	what @skb proves of its sender's address
 * @tp:		transport that @skb names, held; the reference is consumed
 *
 * When two packets of one first window arrive on two CPUs, both get the same
 * connection.
 *
 * Context: softirq, RCU read side.
 * Return: connection with a reference, or NULL if the backlog is full or memory is short.
 */
struct ndp_sock *ndp_listen_open(struct sock *lsk, struct sk_buff *skb,
				 const struct ndp_key *key,
				 enum ndp_opening how,
				 const struct ndp_transport *tp)
{
	struct ndp_entry *other = NULL;
	struct ndp_sock *np;
	int err;

	if (!ndp_backlog_reserve(lsk)) {
		ndp_transport_put(tp);
		return NULL;
	}
	np = ndp_child_alloc(lsk, skb, key, tp);
	if (!np) {
		ndp_backlog_release(lsk);
		return NULL;
	}
	sock_hold(lsk);
	np->listener = lsk;
	np->by_cookie = how == NDP_OPENED_BY_COOKIE;
	if (how == NDP_OPENED_BY_DATA && !(skb->dev->flags & IFF_LOOPBACK))
		ndp_unverified_begin(np, lsk);
	err = ndp_conn_hash(np, &other);
	if (err) {
		ndp_unverified_end(np);
		ndp_tp_detach(np);
		np->listener = NULL;
		sock_put(lsk);
		sock_put(ndp_to_sk(np));
		ndp_backlog_release(lsk);
		if (err != -EEXIST || other->tombstone)
			return NULL;
		return ndp_conn_get(other);
	}
	NDP_INC(sock_net(lsk), PASSIVE_OPENS);
	/* Report the opening only now: of two packets that race for it, only one gets here. */
	trace_ndp_state(np, TCP_CLOSE, TCP_ESTABLISHED);
	spin_lock_bh(&np->lock);
	ndp_event_open(np);
	spin_unlock_bh(&np->lock);
	if (!ndp_backlog_fill(lsk, np)) {
		ndp_backlog_release(lsk);
		spin_lock_bh(&np->lock);
		ndp_conn_abort(np, 0, true);
		spin_unlock_bh(&np->lock);
		ndp_child_accepted(np);
	} else {
		lsk->sk_data_ready(lsk);
	}
	/* The reference of the allocation passes to the caller. */
	return np;
}

/**
 * ndp_child_accepted - detach a connection from its listener
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
	/* Pull packets that the listener's memory bound had refused. */
	ndp_tp_more(np, true);
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
 * ndp_listen_flush - the listener closes: reset connections that nobody accepted
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
