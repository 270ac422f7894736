// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP ports: which socket owns which port, and which sockets listen.
 *
 * NDP ports are a space of their own.  Connections are told apart by their
 * random id, so an active connection needs no port to itself: bind() refuses
 * what TCP's bind() would refuse, but when most ports are taken, a port chosen by
 * the kernel may be one that other sockets got without bind().  Accepted connections
 * own no port.  Stream and message sockets have a port space each, as if they were
 * two protocols.
 */
#include <linux/jhash.h>
#include <net/ip.h>
#include <net/sock_reuseport.h>
#include "conn.h"

static unsigned int ndp_bind_bucket(u16 port)
{
	return port % NDP_BIND_BUCKETS;
}

/*
 * Listeners are hashed by port and address, so that listeners at many addresses of one port
 * make no chain that all openings would walk.
 */
static struct hlist_head *ndp_listen_bucket(struct ndp_net *nn, u16 port,
					    const struct in6_addr *at)
{
	return &nn->listen[jhash2((const u32 *)at->s6_addr32, ARRAY_SIZE(at->s6_addr32),
				  nn->listen_seed ^ port) % NDP_BIND_BUCKETS];
}

/* SO_REUSEPORT lets sockets of one user id share a port, and no others. */
static bool ndp_share_port(const struct sock *sk, const struct sock *other)
{
	return sk->sk_reuseport && other->sk_reuseport &&
	       uid_eq(sk->sk_uid, other->sk_uid);
}

/**
 * ndp_bound_addr - the address that a socket is bound to
 * @sk:		socket
 *
 * Return: address, :: for any.
 */
struct in6_addr ndp_bound_addr(const struct sock *sk)
{
	struct in6_addr addr = in6addr_any;

	if (sk->sk_family == AF_INET6)
		return sk->sk_v6_rcv_saddr;
	if (sk->sk_rcv_saddr)
		ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, &addr);
	return addr;
}

/* Address by which a listener is hashed: the IPv4 wildcard (::ffff:0.0.0.0) is hashed as ::. */
static struct in6_addr ndp_listen_addr(const struct sock *sk)
{
	struct in6_addr at = ndp_bound_addr(sk);

	return ndp_is_ip4(&at) && !at.s6_addr32[3] ? in6addr_any : at;
}

/* Does a listener accept IPv4 only? */
static bool ndp_listens_ip4(const struct sock *sk)
{
	return sk->sk_family == AF_INET || ndp_is_ip4(&sk->sk_v6_rcv_saddr);
}

/* Do the bound addresses of two sockets overlap? */
static bool ndp_bound_alike(const struct sock *a, const struct sock *b)
{
	struct in6_addr at = ndp_bound_addr(a), bt = ndp_bound_addr(b);

	if (a->sk_type != b->sk_type)
		return false;
	if (!ipv6_only_sock(a) && !ipv6_only_sock(b) &&
	    (!a->sk_rcv_saddr || !b->sk_rcv_saddr ||
	     a->sk_rcv_saddr == b->sk_rcv_saddr))
		return true;
	if (a->sk_family != AF_INET6 || b->sk_family != AF_INET6 ||
	    ndp_is_ip4(&at) || ndp_is_ip4(&bt))
		return false;
	return ipv6_addr_any(&at) || ipv6_addr_any(&bt) ||
	       ipv6_addr_equal(&at, &bt);
}

/* Are two sockets bound to the same address? */
static bool ndp_bound_same(const struct sock *a, const struct sock *b)
{
	struct in6_addr at = ndp_bound_addr(a), bt = ndp_bound_addr(b);

	return a->sk_type == b->sk_type && a->sk_family == b->sk_family &&
	       ipv6_addr_equal(&at, &bt);
}

static bool ndp_bind_conflict(const struct sock *sk, u16 port,
			      const struct sock *other)
{
	if (other->sk_num != port || !ndp_bound_alike(sk, other))
		return false;
	if (sk->sk_bound_dev_if && other->sk_bound_dev_if &&
	    sk->sk_bound_dev_if != other->sk_bound_dev_if)
		return false;
	if (ndp_share_port(sk, other))
		return false;
	return !sk->sk_reuse || !other->sk_reuse ||
	       other->sk_state == TCP_LISTEN;
}

/* Context: bind_lock held. */
static bool ndp_bind_allowed(struct ndp_net *nn, const struct sock *sk,
			     u16 port, bool share)
{
	struct ndp_sock *other;

	hlist_for_each_entry(other, &nn->bind[ndp_bind_bucket(port)], bind_node) {
		if (share && other->autobound &&
		    ndp_to_sk(other)->sk_state != TCP_LISTEN)
			continue;
		if (ndp_bind_conflict(sk, port, ndp_to_sk(other)))
			return false;
	}
	return true;
}

/*
 * Take a port if that is allowed.
 * @share:	also a port that other sockets got without bind()
 * @autobound:	this socket gets it without bind()
 */
static bool ndp_bind_try(struct sock *sk, u16 port, bool share, bool autobound)
{
	struct ndp_sock *np = ndp_sk(sk);
	struct ndp_net *nn = np->nn;
	bool ok;

	spin_lock_bh(&nn->bind_lock);
	ok = ndp_bind_allowed(nn, sk, port, share);
	if (ok) {
		inet_sk(sk)->inet_num = port;
		inet_sk(sk)->inet_sport = htons(port);
		np->bound = true;
		np->autobound = autobound;
		hlist_add_head(&np->bind_node, &nn->bind[ndp_bind_bucket(port)]);
	}
	spin_unlock_bh(&nn->bind_lock);
	return ok;
}

/* Ports to try before sharing those of other sockets. */
#define NDP_BIND_PROBES		64

/*
 * Step from one port of the range to the next to try: a prime number above all
 * ports, so that no port is tried twice and in the end all were tried.
 */
#define NDP_BIND_STEP		104729

/* Try at most @probes ports, starting with a random one. */
static bool ndp_bind_search(struct sock *sk, u32 probes, bool share,
			    bool autobound)
{
	struct net *net = sock_net(sk);
	int low, high;
	u32 n, at;

	inet_get_local_port_range(net, &low, &high);
	n = high - low + 1;
	at = get_random_u32_below(n);
	for (probes = min(probes, n); probes; probes--) {
		NDP_INC(net, PORTS_TRIED);
		if (!inet_is_local_reserved_port(net, low + at) &&
		    ndp_bind_try(sk, low + at, share, autobound))
			return true;
		at = (at + NDP_BIND_STEP) % n;
		cond_resched();
	}
	return false;
}

/*
 * Try a few ports from a random one on.  If all of them are taken, many others probably are,
 * and a few are tried with sharing; the whole range is searched only if that fails too.
 * The lock is held for one port at a time.
 */
static bool ndp_bind_any(struct sock *sk, bool autobound)
{
	return ndp_bind_search(sk, NDP_BIND_PROBES, false, autobound) ||
	       ndp_bind_search(sk, NDP_BIND_PROBES, true, autobound) ||
	       ndp_bind_search(sk, U32_MAX, true, autobound);
}

/**
 * ndp_bind_port - bind a socket
 * @sk:		socket, not bound yet, its address set
 * @port:	NDP port, 0 for any
 *
 * Context: lock_sock held.
 * Return: 0 or -EADDRINUSE.
 */
int ndp_bind_port(struct sock *sk, unsigned short port)
{
	bool ok = port ? ndp_bind_try(sk, port, false, false) :
			 ndp_bind_any(sk, false);

	return ok ? 0 : -EADDRINUSE;
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
	if (ndp_sk(sk)->bound || ndp_bind_any(sk, true))
		return 0;
	return -EADDRINUSE;
}

/**
 * ndp_unbind - give the port back
 * @sk:		socket
 */
void ndp_unbind(struct sock *sk)
{
	struct ndp_sock *np = ndp_sk(sk);
	struct ndp_net *nn = np->nn;

	spin_lock_bh(&nn->bind_lock);
	if (np->bound) {
		hlist_del_init(&np->bind_node);
		np->bound = false;
		np->autobound = false;
		inet_sk(sk)->inet_num = 0;
	}
	spin_unlock_bh(&nn->bind_lock);
}

/* Context: bind_lock held. */
static bool ndp_listen_conflict(struct ndp_net *nn, const struct sock *sk)
{
	u16 port = inet_sk(sk)->inet_num;
	struct ndp_sock *other;

	hlist_for_each_entry(other, &nn->bind[ndp_bind_bucket(port)], bind_node)
		if (ndp_to_sk(other)->sk_state == TCP_LISTEN &&
		    ndp_bind_conflict(sk, port, ndp_to_sk(other)))
			return true;
	return false;
}

/*
 * Join the listeners at the same address and port; the group spreads the openings.
 * Context: bind_lock held.
 */
static int ndp_listen_group(struct ndp_net *nn, struct sock *sk)
{
	u16 port = inet_sk(sk)->inet_num;
	struct in6_addr at = ndp_listen_addr(sk);
	bool any = ipv6_addr_any(&at);
	struct ndp_sock *np;

	if (!sk->sk_reuseport)
		return 0;
	hlist_for_each_entry(np, ndp_listen_bucket(nn, port, &at), listen_node) {
		struct sock *other = ndp_to_sk(np);

		if (other->sk_num == port &&
		    ndp_bound_same(sk, other) &&
		    other->sk_bound_dev_if == sk->sk_bound_dev_if &&
		    ndp_share_port(sk, other))
			return reuseport_add_sock(sk, other, any);
	}
	return reuseport_alloc(sk, any);
}

/**
 * ndp_listen_add - let a bound socket be found by openings
 * @sk:		bound socket, in state TCP_LISTEN afterwards
 *
 * Sockets with SO_REUSEADDR may share a port until one of them listens, those
 * with SO_REUSEPORT share the openings.
 *
 * Context: lock_sock held.
 * Return: 0, -EADDRINUSE, or -ENOMEM.
 */
int ndp_listen_add(struct sock *sk)
{
	struct ndp_net *nn = ndp_sk(sk)->nn;
	struct in6_addr at = ndp_listen_addr(sk);
	u16 port = inet_sk(sk)->inet_num;
	int err = -EADDRINUSE;

	spin_lock_bh(&nn->bind_lock);
	if (!ndp_listen_conflict(nn, sk))
		err = ndp_listen_group(nn, sk);
	if (!err) {
		ndp_set_state(sk, TCP_LISTEN);
		hlist_add_head_rcu(&ndp_sk(sk)->listen_node, ndp_listen_bucket(nn, port, &at));
	}
	spin_unlock_bh(&nn->bind_lock);
	return err;
}

/**
 * ndp_listen_renew - let a socket that has listened listen again
 * @sk:		socket
 *
 * An opening that is looked up may stand on the socket in its old list: in another list it would
 * go on there, and miss the listeners behind.
 *
 * Context: lock_sock held; sleeps.
 */
void ndp_listen_renew(struct sock *sk)
{
	if (ndp_sk(sk)->has_listened)
		synchronize_rcu();
	ndp_sk(sk)->has_listened = false;
}

/**
 * ndp_listen_del - undo ndp_listen_add()
 * @sk:		socket
 *
 * Lookups may return the socket for another grace period; its state shows that it no
 * longer listens.
 */
void ndp_listen_del(struct sock *sk)
{
	struct ndp_net *nn = ndp_sk(sk)->nn;

	spin_lock_bh(&nn->bind_lock);
	hlist_del_init_rcu(&ndp_sk(sk)->listen_node);
	ndp_sk(sk)->has_listened = true;
	if (rcu_access_pointer(sk->sk_reuseport_cb))
		reuseport_detach_sock(sk);
	spin_unlock_bh(&nn->bind_lock);
}

/*
 * How well a listener fits an opening, 0: not at all; as TCP ranks listeners.  Of two
 * that are bound to any address the IPv4 one gets the openings that arrive by IPv4.
 */
static int ndp_listen_score(const struct sock *sk, const struct sk_buff *skb,
			    const struct ndphdr *nh, const struct in6_addr *to)
{
	int type = nh->flags & NDP_F_MSG ? SOCK_SEQPACKET : SOCK_STREAM;
	int score = sk->sk_family == AF_INET ? 2 : 1;
	struct in6_addr at = ndp_listen_addr(sk);

	if (inet_sk(sk)->inet_sport != nh->dport || sk->sk_state != TCP_LISTEN ||
	    sk->sk_type != type)
		return 0;
	if (ndp_is_ip4(to) ? ipv6_only_sock(sk) : ndp_listens_ip4(sk))
		return 0;
	if (!ipv6_addr_any(&at)) {
		if (!ipv6_addr_equal(&at, to))
			return 0;
		score += 4;
	}
	if (sk->sk_bound_dev_if) {
		if (sk->sk_bound_dev_if != skb->skb_iif)
			return 0;
		score += 8;
	}
	return score;
}

/*
 * All packets of a first window must choose the same listener of a group.  Initiators choose
 * their connection ids, but not the seed, so they cannot flood one listener of the group.
 */
static u32 ndp_listen_hash(const struct ndp_net *nn, const struct in6_addr *from,
			   const struct ndphdr *nh)
{
	return jhash_3words(upper_32_bits((__force u64)nh->conn_id),
			    lower_32_bits((__force u64)nh->conn_id),
			    ipv6_addr_hash(from), nn->listen_seed);
}

/*
 * Context: RCU read side.
 * Return: the listener bound to @at that fits best, if its score is above @most; or NULL.
 */
static struct sock *ndp_listen_best(struct ndp_net *nn, const struct sk_buff *skb,
				    const struct in6_addr *at, const struct in6_addr *to, int *most)
{
	const struct ndphdr *nh = ndp_hdr(skb);
	struct sock *best = NULL;
	struct ndp_sock *np;
	int score;

	hlist_for_each_entry_rcu(np, ndp_listen_bucket(nn, ntohs(nh->dport), at), listen_node) {
		score = ndp_listen_score(ndp_to_sk(np), skb, nh, to);
		if (score > *most) {
			*most = score;
			best = ndp_to_sk(np);
		}
	}
	return best;
}

/**
 * ndp_listen_lookup - the listener for an opening
 * @net:	namespace
 * @skb:	opening, transport header at UDP, NDP header behind
 *
 * A listener bound to the address wins over one bound to any address.
 *
 * Context: RCU read side.
 * Return: listener with a reference, or NULL.
 */
struct sock *ndp_listen_lookup(struct net *net, struct sk_buff *skb)
{
	struct ndp_net *nn = ndp_pernet(net);
	struct sock *one, *best, *any;
	struct in6_addr from, to;
	int most = 0;

	ndp_skb_addrs(skb, &from, &to);
	best = ndp_listen_best(nn, skb, &to, &to, &most);
	/* A listener bound to a device wins over one bound to an address. */
	any = ndp_listen_best(nn, skb, &in6addr_any, &to, &most);
	best = any ?: best;
	if (best && best->sk_reuseport) {
		one = reuseport_select_sock(best, ndp_listen_hash(nn, &from, ndp_hdr(skb)), skb,
					    sizeof(struct udphdr) +
					    sizeof(struct ndphdr));
		best = IS_ERR_OR_NULL(one) ? best : one;
	}
	if (!best || !refcount_inc_not_zero(&best->sk_refcnt))
		return NULL;
	return best;
}
