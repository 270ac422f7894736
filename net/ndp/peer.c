// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP peers: what a host has learnt about another, shared by all connections between two
 * addresses (NDP paper, sections 3.1.1 and 3.2.3).
 *
 * Paths, their routes and scores, and the round-trip time belong to the pair of addresses, not
 * to a connection: at its first packet a new connection knows which paths are bad, has its
 * routes looked up, and has a timeout.  All fields by which routing rules can tell connections
 * apart are in the key, so that all connections of a peer have the same routes.
 *
 * Lifetime.  A connection joins its peer when it gets its addresses, and leaves it when it is
 * forgotten, or when the socket's mark, device or user changes.  A peer that no connection uses
 * is kept for NDP_PEER_IDLE if a round trip was ever measured or a path scored, at most
 * net.ndp.peers_max of them; beyond that the one that has been idle the longest is freed.  So
 * openings from spoofed addresses leave nothing behind.  When the configuration of paths
 * changes, connections keep the peer that they have and new ones get another.
 *
 * Locks.  ndp_net.peer_lock guards the table against writers, all idle peers and @hashed;
 * ndp_peer.lock guards what was learnt.  Both are innermost and not nested.
 *
 * Memory: 120 bytes a path and 256 a peer, 4 KiB with the 32 paths that are the default.
 *
 * Non-goals: what becomes of packets on a path (score.c).
 */
#include <compat/rhashtable.h>
#include <net/dst.h>
#include "path_table.h"
#include "sock.h"

/* How long a peer is kept that no connection uses. */
#define NDP_PEER_IDLE		(60 * 1000 * NDP_MSEC)

/* Maximum number of idle peers that are freed in one go with softirqs off. */
#define NDP_PEER_FORGET		64

/* Bytes of idle peers of all namespaces: those of openings are charged to no memory cgroup. */
static atomic_long_t ndp_idle_bytes;

/* Limit of ndp_idle_bytes: a 32nd of the machine's memory. */
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
 * @key:	what identifies it
 * @n:		number of paths, at most NDP_PATHS_MAX
 *
 * Context: any.
 * Return: peer with one reference and random paths, or NULL.
 */
struct ndp_peer *ndp_peer_alloc(const struct ndp_peer_key *key, u16 n)
{
	struct ndp_peer *peer;
	u16 i;

	/* Charged to the user's memory cgroup, but for openings; many paths take several pages. */
	peer = kzalloc(struct_size(peer, path, n),
		       GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!peer)
		return NULL;
	peer->key = *key;
	refcount_set(&peer->conns, 1);
	INIT_LIST_HEAD(&peer->idle);
	spin_lock_init(&peer->lock);
	ndp_order_init(peer);
	/* A peer with the default number of paths fits into a page. */
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

/* Free a peer that no connection uses, and that lookups do not find from now on. */
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

	/* Places of paths that were removed meanwhile keep their random paths. */
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
 * The destination with the paths that are configured for a peer, or NULL.  @gen: set to the
 * generation of their last change, 0 if there are none.  A change between the lookup and the
 * reading of the generation is found by the next lookup.
 * Context: RCU read side.
 */
static const struct ndp_path_dst *ndp_peer_configured(struct ndp_net *nn,
						      const struct in6_addr *daddr, u32 *gen)
{
	const struct ndp_path_dst *conf = ndp_path_configured(nn, daddr);

	/* A destination has no paths while its first is being added, or its last removed. */
	if (conf && !READ_ONCE(conf->n))
		conf = NULL;
	/* Pairs with ndp_path_changed(): the paths are as new as the generation, or newer. */
	*gen = conf ? smp_load_acquire(&conf->gen) : 0;
	return conf;
}

/* Context: RCU read side.  Return: peer with the current paths, not in the table, or NULL. */
static struct ndp_peer *ndp_peer_make(struct ndp_net *nn,
				      const struct ndp_peer_key *key)
{
	/* Pairs with ndp_path_changed(): all that is read below is as new as @gen, or newer. */
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
	/* Paths of some destination have changed; are they this peer's? */
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

/* Forget a peer that no connection uses.  Context: peer_lock held. */
static void ndp_peer_forget(struct ndp_net *nn, struct ndp_peer *peer)
{
	ndp_peer_not_idle(nn, peer);
	ndp_peer_unhash(nn, peer);
	ndp_peer_free(peer);
}

/* Unhash a peer that new connections must not use any more; forget it if it is idle. */
static void ndp_peer_replace(struct ndp_net *nn, struct ndp_peer *peer)
{
	if (list_empty(&peer->idle))
		ndp_peer_unhash(nn, peer);
	else
		ndp_peer_forget(nn, peer);
}

/*
 * Get the peer of a key for one more connection: the one in the table, or else @new, if that is
 * not NULL, which is inserted.  If it cannot be inserted, it belongs to its first connection
 * alone.
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

/* The last connection has left a peer.  Context: peer_lock held. */
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
	/* After the limit was lowered there may be more than one too many. */
	if (ndp_peers_are_many(nn))
		mod_delayed_work(system_wq, &nn->peer_work, 0);
}

static void ndp_peer_put(struct ndp_net *nn, struct ndp_peer *peer)
{
	if (refcount_dec_not_one(&peer->conns))
		return;
	/* Lookups take an idle peer only under the lock. */
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
 * ndp_peer_leave - give up a connection's peer
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
	/* Socket options test np->peer without the lock. */
	WRITE_ONCE(np->peer, peer);
	ndp_path_answers_forget(np);
	ndp_peer_put(nn, old);
}

/**
 * ndp_peer_follow - change the peer if the socket's user, mark or device has changed
 * @np:		connection
 *
 * The socket's routes change then, as with TCP.  Without memory the connection keeps its
 * peer until the next packet.  The outcome of packets in flight is scored for the new peer;
 * they are few, and both peers stand for the same host.
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_peer_follow(struct ndp_sock *np)
{
	if (unlikely(!ndp_peer_fits(np)))
		ndp_peer_change(np);
}

/* Peers that are visited in one RCU read side section. */
#define NDP_PEER_BATCH		1024

/**
 * ndp_peer_walk - visit the peers of a namespace, from the current position of a walk
 * @walk:	walk of ndp_net.peers; may be continued at any later time
 * @visit:	called in the RCU read side; nonzero stops the walk, and the next call
 *		begins with the same peer
 * @arg:	second argument of @visit
 *
 * When the table is resized the walk begins anew, and when a peer is removed another may
 * be skipped.
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

/* Forget the peer that has been idle the longest.  Return: true if there was one. */
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

/* Forget idle peers: they hold routes, which hold devices.  Context: no socket is left. */
void ndp_peer_net_pre_exit(struct ndp_net *nn)
{
	/* One at a time, so that softirqs run in between. */
	while (ndp_peer_forget_first(nn))
		cond_resched();
}

/* Context: no socket is left. */
void ndp_peer_net_exit(struct ndp_net *nn)
{
	cancel_delayed_work_sync(&nn->peer_work);
	rhashtable_destroy(&nn->peers);
}
