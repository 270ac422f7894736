// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP paths (NDP paper, section 3.1.1).
 *
 * A sender permutes its list of paths at random, sends one packet on each in
 * that order, and permutes again: all paths carry the same load, and two
 * senders do not fall into step.  DATA and control packets have separate
 * permutations.  A permutation is a random number, from which the path at each place is
 * computed: no list is kept or shuffled.
 *
 * A path is a UDP source port (entropy for the fabric's ECMP hash), an alias
 * address of the destination, a routing mark, or any of these together.  Each
 * has a route of its own, looked up with exactly the fields that its packets
 * will carry, so that packets are sprayed over this host's own multipath routes too.
 *
 * What is known of each path, and when one is left out: score.c.
 */
#include <net/dst.h>
#include "event.h"
#include "sock.h"
#include "trace.h"

/**
 * ndp_path_tells - do a connection's packets tell anything about paths?
 * @np:		connection
 *
 * Context: np->lock held.
 * Return: true if they do.
 */
bool ndp_path_tells(const struct ndp_sock *np)
{
	return np->answered && !np->unverified_at;
}

/* Which path is next? */

/*
 * Is DATA on its way as a probe of a path?  One probe at a time is enough: its answer takes a
 * round trip, and many paths may be due at once.
 */
static bool ndp_path_is_probing(const struct ndp_peer *peer, u64 now)
{
	const struct ndp_score *s = &peer->path[peer->probed].data;

	return s->state == NDP_PATH_PROBED && s->until > now;
}

/* A packet is about to probe a path that was left out. */
static void ndp_path_probe(struct ndp_sock *np, bool control, u16 i, u64 now)
{
	struct ndp_peer *peer = np->peer;
	struct ndp_score *s = ndp_path_score(peer, control, i);
	u64 wait = control ? max(s->out_ns, NDP_OUT_ANSWERS_MAX) : s->out_ns;

	peer->path[i].probes++;
	WRITE_ONCE(s->state, NDP_PATH_PROBED);
	WRITE_ONCE(s->until, now + wait);
	if (!control)
		peer->probed = i;
	trace_ndp_path(np, control, i, NDP_PATH_IS_PROBED);
}

/*
 * When may a path be probed?  The loss of a packet that few others follow is detected late, and
 * somebody may wait for that packet alone: such packets probe later.
 */
static u64 ndp_path_due(const struct ndp_score *s, enum ndp_path_use use)
{
	if (use == NDP_PATH_NO_PROBE)
		return U64_MAX;
	if (use == NDP_PATH_PROBE)
		return s->until;
	return s->until + min(s->out_ns << s->level, NDP_OUT_MAX);
}

/*
 * May a packet take a path that was left out?  Once it has been left out for long enough, the path
 * is probed with one packet.  DATA uses it again when the probe was acknowledged; answers, which
 * nobody acknowledges, when the probe was not reported lost.
 */
static bool ndp_path_is_back(struct ndp_sock *np, bool control, u16 i, enum ndp_path_use use)
{
	struct ndp_peer *peer = np->peer;
	struct ndp_score *s = ndp_path_score(peer, control, i);
	u64 now = ktime_get_ns();
	bool back;

	/* Most packets may not probe, and need no lock. */
	if (ndp_path_due(s, use) > now && !(control && READ_ONCE(s->state) == NDP_PATH_PROBED))
		return false;
	spin_lock(&peer->lock);
	back = s->state == NDP_PATH_USED;
	if (!back && control && s->state == NDP_PATH_PROBED && s->until <= now) {
		WRITE_ONCE(s->state, NDP_PATH_USED);
		back = true;
		trace_ndp_path(np, control, i, NDP_PATH_IS_BACK);
		ndp_event_path(np, control, i, false);
	} else if (!back && ndp_path_due(s, use) <= now &&
		   (control || !ndp_path_is_probing(peer, now))) {
		ndp_path_probe(np, control, i, now);
		back = true;
	}
	spin_unlock(&peer->lock);
	return back;
}

/*
 * All paths other than @but, or all, are left out: which is tried first?  One that trims, since it
 * lets headers through; among equals the one that comes back first.  If it is due, it is probed.
 */
static u16 ndp_path_first_back(struct ndp_sock *np, bool control, u16 but)
{
	struct ndp_peer *peer = np->peer;
	u64 at, first = U64_MAX, now = ktime_get_ns();
	const struct ndp_score *s;
	u16 i, best = 0;

	spin_lock(&peer->lock);
	for (i = 0; i < peer->n; i++) {
		s = ndp_path_score(peer, control, i);
		at = s->state == NDP_PATH_USED ? 0 : s->until / 2 + (s->silent ? U64_MAX / 2 : 0);
		if (at < first && i != but) {
			first = at;
			best = i;
		}
	}
	s = ndp_path_score(peer, control, best);
	if (ndp_path_tells(np) && s->state != NDP_PATH_USED && s->until <= now)
		ndp_path_probe(np, control, best, now);
	spin_unlock(&peer->lock);
	return best;
}

/*
 * The path at place @pos of the permutation @seed of @n paths.  Each step maps the numbers below a
 * power of two onto themselves; a result that is not below @n goes through all steps again.  With
 * fewer than eight steps some paths follow others too often (ndp_path_test_pairs()).
 */
static u16 ndp_round_at(u64 seed, u16 pos, u16 n)
{
	u32 bits = n > 1 ? ilog2(n - 1) + 1 : 1;
	u32 mask = BIT(bits) - 1, shift = (bits + 1) / 2, x = pos;
	u64 key;

	do {
		for (key = seed; key; key >>= 8) {
			x = (x + key) * ((key >> 3) | 1) & mask;
			x ^= x >> shift;
		}
	} while (x >= n);
	return x;
}

/*
 * Next number of the connection's own generator (splitmix64: Steele, Lea, Flood, OOPSLA 2014).  It
 * may be predictable: the order of paths is no secret.
 */
static u64 ndp_round_seed(struct ndp_sock *np)
{
	u64 z = np->round_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static u16 ndp_round_next(struct ndp_sock *np, struct ndp_round *round, u16 n)
{
	if (round->pos >= n)
		round->pos = 0;
	/* The highest bit makes the number of steps always eight. */
	if (!round->pos)
		round->seed = ndp_round_seed(np) | BIT_ULL(63);
	return ndp_round_at(round->seed, round->pos++, n);
}

/**
 * ndp_path_may_take - may a packet go along a path now?
 * @np:		connection
 * @control:	the packet is anything but DATA
 * @i:		index of the path
 * @use:	may the packet probe a path?
 *
 * A connection that is not scored would probe in vain.  One that has got no answer by any
 * path in use also tries those that other connections left out: they may be back.
 *
 * Context: np->lock held, softirqs off.
 * Return: true if so; the caller then sends one.
 */
bool ndp_path_may_take(struct ndp_sock *np, bool control, u16 i, enum ndp_path_use use)
{
	const struct ndp_score *s = ndp_path_score(np->peer, control, i);

	if (likely(READ_ONCE(s->state) == NDP_PATH_USED))
		return true;
	if (READ_ONCE(s->until) > ktime_get_ns())
		return false;
	if (!ndp_path_tells(np))
		return np->backoff;
	return ndp_path_is_back(np, control, i, use);
}

/**
 * ndp_path_next - the path to use next
 * @np:		connection
 * @control:	for anything but DATA
 * @use:	may the packet probe a path?
 *
 * Return: index of the path.
 */
u16 ndp_path_next(struct ndp_sock *np, bool control, enum ndp_path_use use)
{
	struct ndp_round *round = control ? &np->control_round : &np->data_round;
	struct ndp_peer *peer = np->peer;
	u16 i, tries;

	for (tries = 0; tries < peer->n; tries++) {
		i = ndp_round_next(np, round, peer->n);
		if (ndp_path_may_take(np, control, i, use))
			return i;
	}
	return ndp_path_first_back(np, control, peer->n);
}

/**
 * ndp_path_other - a path for a packet that was lost on the only path in use
 * @np:		connection
 * @i:		that path
 *
 * Return: index of another, if there is one.
 */
u16 ndp_path_other(struct ndp_sock *np, u16 i)
{
	return np->peer->n > 1 ? ndp_path_first_back(np, false, i) : i;
}

/**
 * ndp_path_flow - flow key of the packets that take a path
 * @np:		connection
 * @path:	one of its paths
 * @flow:	filled in
 */
void ndp_path_flow(const struct ndp_sock *np, const struct ndp_path *path, struct ndp_flow *flow)
{
	const struct ndp_peer_key *key = &np->peer->key;

	*flow = (struct ndp_flow) {
		.saddr = key->saddr,
		.daddr = path->daddr,
		.sport = READ_ONCE(path->sport),
		.dport = htons(np->nn->udp_port),
		.mark = path->mark ?: key->mark,
		.oif = key->oif,
		.uid = KUIDT_INIT(key->uid),
		.flags = key->flags,
	};
}

/* Look up the route of a path.  Context: as ndp_path_dst(). */
static struct dst_entry *ndp_path_route(struct ndp_sock *np, struct ndp_path *path)
{
	struct sock *sk = ndp_to_sk(np);
	struct dst_entry *dst, *old;
	struct ndp_flow flow;

	ndp_path_flow(np, path, &flow);
	dst = ndp_ip_route(sock_net(sk), sk, &flow);
	spin_lock(&np->peer->lock);
	/* If the port was replaced meanwhile, this route is for one packet and is not kept. */
	if (flow.sport != path->sport) {
		spin_unlock(&np->peer->lock);
		return dst;
	}
	old = rcu_dereference_protected(path->dst, lockdep_is_held(&np->peer->lock));
	if (IS_ERR(dst)) {
		RCU_INIT_POINTER(path->dst, NULL);
	} else {
		/* The path's reference, beside the caller's. */
		dst_hold(dst);
		WRITE_ONCE(path->cookie, ndp_ip_cookie(dst));
		rcu_assign_pointer(path->dst, dst);
	}
	spin_unlock(&np->peer->lock);
	dst_release(old);
	return dst;
}

/**
 * ndp_path_dst - the route of a path
 * @np:		connection
 * @path:	one of its paths
 *
 * Another CPU may replace the path's route meanwhile.  A cookie that is of another route
 * costs a lookup, or sends one packet by the previous route.
 *
 * Context: np->lock held, or nobody else sees @np; softirqs off.
 * Return: route with a reference, or ERR_PTR.
 */
struct dst_entry *ndp_path_dst(struct ndp_sock *np, struct ndp_path *path)
{
	struct dst_entry *dst;

	rcu_read_lock();
	dst = rcu_dereference(path->dst);
	if (dst && !dst_hold_safe(dst))
		dst = NULL;
	rcu_read_unlock();
	if (dst && dst_check(dst, READ_ONCE(path->cookie)))
		return dst;
	dst_release(dst);
	return ndp_path_route(np, path);
}
