// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP peers: what a host has learnt of another, shared by all connections between two
 * addresses (NDP paper, sections 3.1.1 and 3.2.3).
 *
 * Paths, their routes and scores, and the round-trip time belong to the pair of
 * addresses, not to a connection: a fresh one knows at its first packet which paths are
 * bad, finds its routes looked up, and has a timeout.  What routing rules can tell
 * connections apart by is in the key, so that all of a peer have the same routes.
 *
 * Lifetime.  A connection joins its peer when it gets its addresses, and leaves it when it
 * is forgotten, or when the socket's mark, device or user changes.  A peer that no
 * connection has is kept for NDP_PEER_IDLE if a round trip was ever measured or a path scored,
 * at most net.ndp.peers_max of them; beyond that the one that has been idle the longest goes.
 * So openings under forged addresses leave nothing.  When the configuration of paths changes,
 * connections keep the peer that they have and new ones get another.
 *
 * Locks.  ndp_net.peer_lock guards the table against writers, all idle peers and
 * @hashed; ndp_peer.lock what was learnt.  Both are innermost and not nested.
 *
 * Memory: 120 bytes a path and 256 a peer, 4 KiB with the 32 paths that are the default.
 *
 * Non-goals: what becomes of packets on a path (score.c).
 */
#include <compat/rhashtable.h>
#include <net/dst.h>
#include "path_table.h"
#include "sock.h"

/* How long a peer is kept that no connection has. */
#define NDP_PEER_IDLE		(60 * 1000 * NDP_MSEC)

/* So many are forgotten with softirqs off. */
#define NDP_PEER_FORGET		64

/* What idle peers of all namespaces weigh: nobody is charged for those of openings. */
static atomic_long_t ndp_idle_bytes;

/* A 32nd of the machine's memory. */
static long ndp_idle_bytes_max(void)
{
	return totalram_pages() << (PAGE_SHIFT - 5);
}

static const struct rhashtable_params ndp_peers_params = {
	.head_offset = offsetof(struct ndp_peer, node),
	.key_offset = offsetof(struct ndp_peer, key),
	.key_len = sizeof(struct ndp_peer_key),
	.automatic_shrinking = true,
};

/**
 * ndp_peer_alloc - make a peer
 * @key:	which
 * @n:		how many paths, at most NDP_PATHS_MAX
 *
 * Context: any.
 * Return: peer that one connection has, its paths random, or NULL.
 */
struct ndp_peer *ndp_peer_alloc(const struct ndp_peer_key *key, u16 n)
{
	struct ndp_peer *peer;
	u16 i;

	/* A user's to pay for, but for those of openings; many paths are several pages. */
	peer = kzalloc(struct_size(peer, path, n),
		       GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!peer)
		return NULL;
	peer->key = *key;
	refcount_set(&peer->conns, 1);
	INIT_LIST_HEAD(&peer->idle);
	spin_lock_init(&peer->lock);
	ndp_order_init(peer);
	/* A page has room for as many paths as there are by default. */
	BUILD_BUG_ON(sizeof(spinlock_t) == 4 &&
		     sizeof(*peer) + 32 * sizeof(*peer->path) > 4096);
	peer->mtu = IP_MAX_MTU;
	peer->n = n;
	for (i = 0; i < n; i++) {
		peer->path[i].daddr = key->daddr;
		peer->path[i].sport = ndp_entropy_random();
		peer->path[i].hash = get_random_u32();
	}
	return peer;
}

/* Nobody has it, and no lookup finds it from now on. */
static void ndp_peer_free(struct ndp_peer *peer)
{
	u16 i;

	for (i = 0; i < peer->n; i++)
		dst_release(rcu_dereference_protected(peer->path[i].dst, true));
	kfree_rcu(peer, rcu);
}

static void ndp_peer_configure(struct ndp_peer *peer, const struct ndp_path_dst *conf)
{
	const struct ndp_path_spec *spec;
	struct ndp_path *path = peer->path;

	/* Places of paths that were removed meanwhile keep random ones. */
	list_for_each_entry_rcu(spec, &conf->paths, list) {
		if (path == &peer->path[peer->n])
			break;
		path->daddr = ndp_path_daddr(conf, spec, &peer->key.daddr);
		if (spec->entropy)
			path->sport = spec->entropy;
		path->mark = spec->mark;
		path++;
	}
}

/*
 * What is configured for a peer.  @gen: when that changed last, 0: nothing is.  A change
 * between the two is found by the next lookup.
 * Context: RCU read side.
 */
static const struct ndp_path_dst *ndp_peer_configured(struct ndp_net *nn,
						      const struct in6_addr *daddr, u32 *gen)
{
	const struct ndp_path_dst *conf = ndp_path_configured(nn, daddr);

	/* A destination has none while its first is being added, or its last removed. */
	if (conf && !READ_ONCE(conf->n))
		conf = NULL;
	/* Pairs with ndp_path_changed(): the paths are as new as the number, or newer. */
	*gen = conf ? smp_load_acquire(&conf->gen) : 0;
	return conf;
}

/* Context: RCU read side.  Return: peer with today's paths, in no table, or NULL. */
static struct ndp_peer *ndp_peer_make(struct ndp_net *nn,
				      const struct ndp_peer_key *key)
{
	/* Pairs with ndp_path_changed(): all that is read below is as new, or newer. */
	u32 conf_gen, gen = smp_load_acquire(&nn->path_gen);
	const struct ndp_path_dst *conf = ndp_peer_configured(nn, &key->daddr, &conf_gen);
	u16 n = conf ? READ_ONCE(conf->n) : 0;
	struct ndp_peer *peer;

	peer = ndp_peer_alloc(key, n ?: READ_ONCE(nn->n_paths));
	if (!peer)
		return NULL;
	if (n)
		ndp_peer_configure(peer, conf);
	else
		ndp_entropy_init(peer);
	peer->gen = gen;
	peer->conf_gen = conf_gen;
	peer->rto_ns = 3000ULL * READ_ONCE(nn->base_rtt_us);
	return peer;
}

/* Would a peer that is made now have other paths?  Context: RCU read side. */
static bool ndp_peer_is_stale(struct ndp_net *nn, struct ndp_peer *peer)
{
	/* Pairs with ndp_path_changed(), as above. */
	u32 conf_gen, gen = smp_load_acquire(&nn->path_gen);

	if (!peer->conf_gen && READ_ONCE(nn->n_paths) != peer->n)
		return true;
	if (READ_ONCE(peer->gen) == gen)
		return false;
	/* Something has changed; what concerns this one? */
	ndp_peer_configured(nn, &peer->key.daddr, &conf_gen);
	if (conf_gen != peer->conf_gen)
		return true;
	WRITE_ONCE(peer->gen, gen);
	return false;
}

/* Context: RCU read side, or peer_lock held. */
static struct ndp_peer *ndp_peer_find(struct ndp_net *nn,
				      const struct ndp_peer_key *key)
{
	return rhashtable_lookup(&nn->peers, key, ndp_peers_params);
}

/* Context: peer_lock held. */
static void ndp_peer_unhash(struct ndp_net *nn, struct ndp_peer *peer)
{
	if (!peer->hashed)
		return;
	rhashtable_remove_fast(&nn->peers, &peer->node, ndp_peers_params);
	peer->hashed = false;
}

/* Context: peer_lock held. */
static void ndp_peer_idle(struct ndp_net *nn, struct ndp_peer *peer)
{
	list_add_tail(&peer->idle, &nn->idle_peers);
	WRITE_ONCE(nn->n_idle_peers, nn->n_idle_peers + 1);
	atomic_long_add(struct_size(peer, path, peer->n), &ndp_idle_bytes);
}

/* Context: peer_lock held. */
static void ndp_peer_not_idle(struct ndp_net *nn, struct ndp_peer *peer)
{
	list_del_init(&peer->idle);
	WRITE_ONCE(nn->n_idle_peers, nn->n_idle_peers - 1);
	atomic_long_sub(struct_size(peer, path, peer->n), &ndp_idle_bytes);
}

/* Forget a peer that no connection has.  Context: peer_lock held. */
static void ndp_peer_forget(struct ndp_net *nn, struct ndp_peer *peer)
{
	ndp_peer_not_idle(nn, peer);
	ndp_peer_unhash(nn, peer);
	ndp_peer_free(peer);
}

/* Take a peer that new connections cannot have any more out of the table. */
static void ndp_peer_replace(struct ndp_net *nn, struct ndp_peer *peer)
{
	if (list_empty(&peer->idle))
		ndp_peer_unhash(nn, peer);
	else
		ndp_peer_forget(nn, peer);
}

/*
 * The peer of a key for one connection more: that of the table, or @new, if it is not
 * NULL, which comes into the table then.  Where the table cannot take it, it is its first
 * connection's alone.
 * Context: RCU read side.
 */
static struct ndp_peer *ndp_peer_settle(struct ndp_net *nn,
					const struct ndp_peer_key *key,
					struct ndp_peer *new)
{
	struct ndp_peer *peer;

	spin_lock_bh(&nn->peer_lock);
	peer = ndp_peer_find(nn, key);
	if (peer && ndp_peer_is_stale(nn, peer)) {
		ndp_peer_replace(nn, peer);
		peer = NULL;
	}
	if (peer && !refcount_inc_not_zero(&peer->conns)) {
		ndp_peer_not_idle(nn, peer);
		refcount_set(&peer->conns, 1);
	} else if (!peer && new) {
		peer = new;
		peer->hashed = !rhashtable_insert_fast(&nn->peers, &peer->node,
						       ndp_peers_params);
	}
	spin_unlock_bh(&nn->peer_lock);
	if (new && peer != new)
		ndp_peer_free(new);
	return peer;
}

static struct ndp_peer *ndp_peer_get(struct ndp_net *nn,
				     const struct ndp_peer_key *key)
{
	struct ndp_peer *peer;

	rcu_read_lock();
	peer = ndp_peer_find(nn, key);
	if (peer && !ndp_peer_is_stale(nn, peer) && refcount_inc_not_zero(&peer->conns))
		goto out;
	peer = ndp_peer_settle(nn, key, NULL);
	if (peer)
		goto out;
	peer = ndp_peer_make(nn, key);
	if (peer)
		peer = ndp_peer_settle(nn, key, peer);
out:
	rcu_read_unlock();
	return peer;
}

static bool ndp_peers_are_many(const struct ndp_net *nn)
{
	return nn->n_idle_peers > READ_ONCE(nn->peers_max) ||
	       atomic_long_read(&ndp_idle_bytes) > ndp_idle_bytes_max();
}

/* No connection has a peer any more.  Context: peer_lock held. */
static void ndp_peer_retire(struct ndp_net *nn, struct ndp_peer *peer)
{
	struct ndp_peer *oldest;

	ndp_peer_idle(nn, peer);
	if (!peer->hashed || (!READ_ONCE(peer->srtt_ns) && !peer->control.good)) {
		ndp_peer_forget(nn, peer);
		return;
	}
	peer->idle_since = ktime_get_ns();
	queue_delayed_work(system_wq, &nn->peer_work, nsecs_to_jiffies(NDP_PEER_IDLE) + 1);
	if (!ndp_peers_are_many(nn))
		return;
	oldest = list_first_entry(&nn->idle_peers, struct ndp_peer, idle);
	ndp_peer_forget(nn, oldest);
	/* When the bound was lowered it is more than one. */
	if (ndp_peers_are_many(nn))
		mod_delayed_work(system_wq, &nn->peer_work, 0);
}

static void ndp_peer_put(struct ndp_net *nn, struct ndp_peer *peer)
{
	if (refcount_dec_not_one(&peer->conns))
		return;
	/* Lookups take an idle peer under the lock alone. */
	spin_lock_bh(&nn->peer_lock);
	if (refcount_dec_and_test(&peer->conns))
		ndp_peer_retire(nn, peer);
	spin_unlock_bh(&nn->peer_lock);
}

static void ndp_peer_work(struct work_struct *work)
{
	struct ndp_net *nn = container_of(to_delayed_work(work), struct ndp_net,
					  peer_work);
	struct ndp_peer *peer, *next;
	unsigned long wait = 0;
	u64 now, n = 0;

	spin_lock_bh(&nn->peer_lock);
	now = ktime_get_ns();
	list_for_each_entry_safe(peer, next, &nn->idle_peers, idle) {
		if (peer->idle_since + NDP_PEER_IDLE > now && !ndp_peers_are_many(nn))
			wait = nsecs_to_jiffies(peer->idle_since + NDP_PEER_IDLE - now) + 1;
		if (wait || n++ == NDP_PEER_FORGET)
			break;
		ndp_peer_forget(nn, peer);
	}
	if (!list_empty(&nn->idle_peers))
		mod_delayed_work(system_wq, &nn->peer_work, wait);
	spin_unlock_bh(&nn->peer_lock);
}

static u32 ndp_peer_uid(const struct sock *sk)
{
	return __kuid_val(sock_net_uid(sock_net(sk), sk));
}

static struct ndp_peer_key ndp_peer_key(const struct ndp_sock *np)
{
	const struct sock *sk = &np->inet.sk;

	return (struct ndp_peer_key) {
		.daddr = np->daddr,
		.saddr = np->saddr,
		.mark = READ_ONCE(sk->sk_mark),
		.oif = READ_ONCE(sk->sk_bound_dev_if),
		.uid = ndp_peer_uid(sk),
		.flags = inet_sk_flowi_flags(sk),
	};
}

/**
 * ndp_peer_join - give a connection its peer
 * @np:		connection, its addresses known
 *
 * Context: nobody else sees @np, or its lock is held.
 * Return: 0 or -ENOMEM.
 */
int ndp_peer_join(struct ndp_sock *np)
{
	struct ndp_peer_key key = ndp_peer_key(np);

	np->peer = ndp_peer_get(np->nn, &key);
	return np->peer ? 0 : -ENOMEM;
}

/**
 * ndp_peer_leave - a connection is forgotten
 * @np:		connection, or a socket that has none
 *
 * Context: nobody else sees @np, or its lock is held.
 */
void ndp_peer_leave(struct ndp_sock *np)
{
	if (np->peer)
		ndp_peer_put(np->nn, np->peer);
	np->peer = NULL;
}

/* Is the socket still one of those that share the peer? */
static bool ndp_peer_fits(const struct ndp_sock *np)
{
	const struct ndp_peer_key *key = &np->peer->key;
	const struct sock *sk = &np->inet.sk;

	return READ_ONCE(sk->sk_mark) == key->mark &&
	       READ_ONCE(sk->sk_bound_dev_if) == key->oif &&
	       ndp_peer_uid(sk) == key->uid && inet_sk_flowi_flags(sk) == key->flags;
}

/* noinline, so that the packet path does not clear a key that it seldom needs. */
static noinline void ndp_peer_change(struct ndp_sock *np)
{
	struct ndp_peer_key key = ndp_peer_key(np);
	struct ndp_peer *peer, *old = np->peer;
	struct ndp_net *nn = np->nn;

	peer = ndp_peer_get(nn, &key);
	if (!peer)
		return;
	/* Options look whether there is one, without the lock. */
	WRITE_ONCE(np->peer, peer);
	ndp_path_answers_forget(np);
	ndp_peer_put(nn, old);
}

/**
 * ndp_peer_follow - the socket may be another user's now, or have another mark or device
 * @np:		connection
 *
 * Its routes are others then, as they are with TCP.  Without memory it keeps those that it
 * has until the next packet.  What becomes of packets that are on their way is scored for
 * the new peer; they are few, and both are the socket's.
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_peer_follow(struct ndp_sock *np)
{
	if (unlikely(!ndp_peer_fits(np)))
		ndp_peer_change(np);
}

/* Peers that are looked at in one RCU read side section. */
#define NDP_PEER_BATCH		1024

/**
 * ndp_peer_walk - visit the peers of a namespace, from where the walk is
 * @walk:	of ndp_net.peers; may be gone on with at any time later
 * @visit:	called with RCU read side; nonzero ends it for now, and the next call
 *		begins with the same peer
 * @arg:	its second argument
 *
 * When the table changes its size the walk begins anew, and when a peer goes away one may
 * be left out.
 *
 * Context: process.
 */
void ndp_peer_walk(struct rhashtable_iter *walk,
		   int (*visit)(struct ndp_peer *peer, void *arg), void *arg)
{
	struct ndp_peer *peer;
	u32 n = 0;

	compat_rhashtable_walk_start(walk);
	for (peer = rhashtable_walk_peek(walk); peer; peer = rhashtable_walk_next(walk)) {
		if (!IS_ERR(peer) && visit(peer, arg))
			break;
		if (++n % NDP_PEER_BATCH)
			continue;
		rhashtable_walk_stop(walk);
		cond_resched();
		compat_rhashtable_walk_start(walk);
	}
	rhashtable_walk_stop(walk);
}

int ndp_peer_net_init(struct ndp_net *nn)
{
	spin_lock_init(&nn->peer_lock);
	INIT_LIST_HEAD(&nn->idle_peers);
	INIT_DELAYED_WORK(&nn->peer_work, ndp_peer_work);
	return rhashtable_init(&nn->peers, &ndp_peers_params);
}

/* Return: there was an idle one. */
static bool ndp_peer_forget_first(struct ndp_net *nn)
{
	struct ndp_peer *peer;

	spin_lock_bh(&nn->peer_lock);
	peer = list_first_entry_or_null(&nn->idle_peers, struct ndp_peer, idle);
	if (peer)
		ndp_peer_forget(nn, peer);
	spin_unlock_bh(&nn->peer_lock);
	return peer;
}

/* Idle peers hold routes, and these devices.  Context: no socket is left. */
void ndp_peer_net_pre_exit(struct ndp_net *nn)
{
	/* Softirqs come in between. */
	while (ndp_peer_forget_first(nn))
		cond_resched();
}

/* Context: no socket is left. */
void ndp_peer_net_exit(struct ndp_net *nn)
{
	cancel_delayed_work_sync(&nn->peer_work);
	rhashtable_destroy(&nn->peers);
}
