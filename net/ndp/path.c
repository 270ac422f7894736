// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP paths (NDP paper, section 3.1.1).
 *
 * A sender permutes its list of paths at random, sends one packet on each in
 * that order, and permutes again: all paths carry the same load, and two
 * senders do not fall into step.  DATA and control go round separately.  A
 * permutation is a random number, from which the path at each place is computed: no
 * list is kept or shuffled.
 *
 * A path is a UDP source port (entropy for the fabric's ECMP hash), an alias
 * address of the destination, a routing mark, or any of these together.  Each
 * has a route of its own, looked up with exactly the fields that its packets
 * will carry, so that this host's own multipath routes are sprayed over too.
 *
 * Scoreboard (section 3.2.3).  All connections to a peer keep one.  For each path the
 * outcomes of late are counted: acknowledged, trimmed, lost.  In a fabric that is whole
 * they have the same shares on all paths; a path is an outlier when what was trimmed, or
 * lost, on it exceeds what the share on the other paths lets expect by three standard
 * deviations of that (a binomial count), and by one packet of those trimmed.  So an
 * incast, which trims on all paths alike, leaves none out, and where nothing is ever lost
 * one loss is enough.  An outlier is passed over for a few round trips, then one
 * packet goes along it: if that is trimmed or lost it is out for twice as long.  DATA
 * probes one path at a time, so that many bad ones cost little.
 * Counts are halved when there are many, so that they are of late.  If all are left
 * out, the one that is to come back first is used.
 *
 * Answers are scored too: a packet that comes again though it was answered tells
 * that the answer was lost, and by which path it went.
 *
 * A peer that has not answered yet may be down, and one that is unverified may be forged:
 * what becomes of packets to them tells nothing about paths, and is not scored.  The path
 * of an opening that was lost is remembered until there is an answer.
 */
#include <net/dst.h>
#include "sock.h"

/* Standard deviations beyond which a path is an outlier. */
#define NDP_OUTLIER_SIGMA	3

/* Packets per path after which the counts of a round are halved. */
#define NDP_SCORE_WINDOW	64

/* How long an outlier is left out: round trips, doublings, and bounds in time. */
#define NDP_OUT_RTTS		8
#define NDP_OUT_DOUBLINGS	10
#define NDP_OUT_MIN		(NDP_MSEC / 2)
#define NDP_OUT_MAX		(1000 * NDP_MSEC)

/* The scoreboard. */

static struct ndp_score *ndp_path_score(struct ndp_peer *peer, bool control, u16 i)
{
	return control ? &peer->path[i].control : &peer->path[i].data;
}

static struct ndp_tally *ndp_path_tally(struct ndp_peer *peer, bool control)
{
	return control ? &peer->control : &peer->data;
}

/*
 * Do a connection's packets tell anything about path @i?  It may be of an earlier peer, of
 * which few packets are left (ndp_peer_follow()).
 */
static bool ndp_path_is_scored(const struct ndp_sock *np, u16 i)
{
	return np->answered && !np->unverified_at && i < np->peer->n;
}

/*
 * Are @bad of a path's @all too many, when the others have @others_bad of @others?
 * With p the others' share: bad - slack > all p + 3 sqrt(all p (1 - p)), squared and
 * multiplied by others^2.  All counts are below 2^15.
 */
static bool ndp_outlier(u32 bad, u32 all, u32 others_bad, u32 others, u32 slack)
{
	s64 excess = (s64)bad * others - (s64)all * others_bad -
		     (s64)slack * others;
	u64 variance = (u64)all * others_bad * (others - others_bad);

	if (!others)
		return false;
	return excess > 0 && (u64)(excess * excess) >
			     NDP_OUTLIER_SIGMA * NDP_OUTLIER_SIGMA * variance;
}

/* Context of this and those below: peer->lock held. */
static void ndp_path_decay(struct ndp_peer *peer, bool control)
{
	struct ndp_tally *sum = ndp_path_tally(peer, control);
	struct ndp_score *s;
	u16 i;

	if (sum->good + sum->trimmed + sum->lost < (u32)NDP_SCORE_WINDOW * peer->n)
		return;
	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < peer->n; i++) {
		s = ndp_path_score(peer, control, i);
		s->good /= 2;
		s->trimmed /= 2;
		s->lost /= 2;
		s->level -= !!s->level;
		sum->good += s->good;
		sum->trimmed += s->trimmed;
		sum->lost += s->lost;
	}
}

/* Pass a path over for a while and clear its counts. */
static void ndp_path_leave_out(struct ndp_tally *sum, struct ndp_score *s, u64 base_ns)
{
	u64 out = max(base_ns, NDP_OUT_MIN) << min_t(u8, s->level, NDP_OUT_DOUBLINGS);

	s->out_ns = min(out, NDP_OUT_MAX);
	WRITE_ONCE(s->until, ktime_get_ns() + s->out_ns);
	s->level = min(s->level + 1, NDP_OUT_DOUBLINGS);
	WRITE_ONCE(s->state, NDP_PATH_OUT);
	sum->good -= s->good;
	sum->trimmed -= s->trimmed;
	sum->lost -= s->lost;
	s->good = 0;
	s->trimmed = 0;
	s->lost = 0;
}

/* News of a path that is good. */
static void ndp_path_is_good(struct ndp_peer *peer, bool control, u16 i)
{
	ndp_path_score(peer, control, i)->good++;
	ndp_path_tally(peer, control)->good++;
	ndp_path_decay(peer, control);
}

/*
 * Bad news of a path: does it go?  Of one that is left out it is old news.  One that was
 * probed goes at once, unless most fare no better.
 */
static void ndp_path_is_bad(struct ndp_sock *np, bool control, u16 i, bool lost)
{
	struct ndp_peer *peer = np->peer;
	struct ndp_score *s = ndp_path_score(peer, control, i);
	struct ndp_tally *sum = ndp_path_tally(peer, control);
	u32 all, others, bad, others_bad;
	u64 base = 0;
	bool again;

	if (s->state == NDP_PATH_OUT)
		return;
	s->trimmed += !lost;
	s->lost += lost;
	sum->trimmed += !lost;
	sum->lost += lost;
	all = s->good + s->trimmed + s->lost;
	others = sum->good + sum->trimmed + sum->lost - all;
	bad = lost ? s->lost : s->trimmed;
	others_bad = (lost ? sum->lost : sum->trimmed) - bad;
	again = s->state == NDP_PATH_PROBED && 2 * others_bad < others;

	/* A probe that is lost is reported before the path is used again. */
	if (lost)
		base = ndp_rto_base(np);
	if (peer->n > 1 && (again || ndp_outlier(bad, all, others_bad, others, !lost)))
		ndp_path_leave_out(sum, s, max(NDP_OUT_RTTS * peer->srtt_ns, base));
	ndp_path_decay(peer, control);
}

/**
 * ndp_path_good - DATA has arrived whole
 * @np:		connection
 * @i:		path that it took
 *
 * Context of this and those below: np->lock held, softirqs off.
 */
void ndp_path_good(struct ndp_sock *np, u16 i)
{
	struct ndp_peer *peer = np->peer;
	struct ndp_path *path = &peer->path[i];

	if (!ndp_path_is_scored(np, i))
		return;
	spin_lock(&peer->lock);
	path->acks++;
	/* The path is back in use. */
	if (path->data.state == NDP_PATH_PROBED)
		WRITE_ONCE(path->data.state, NDP_PATH_USED);
	ndp_path_is_good(peer, false, i);
	spin_unlock(&peer->lock);
}

/**
 * ndp_path_trimmed - DATA was trimmed, or its header returned
 * @np:		connection
 * @i:		path that it took
 */
void ndp_path_trimmed(struct ndp_sock *np, u16 i)
{
	struct ndp_peer *peer = np->peer;

	if (!ndp_path_is_scored(np, i))
		return;
	spin_lock(&peer->lock);
	peer->path[i].nacks++;
	ndp_path_is_bad(np, false, i, false);
	spin_unlock(&peer->lock);
}

/**
 * ndp_path_lost - DATA was not answered in time
 * @np:		connection
 * @i:		path that it took
 */
void ndp_path_lost(struct ndp_sock *np, u16 i)
{
	struct ndp_peer *peer = np->peer;

	if (!ndp_path_is_scored(np, i)) {
		np->opening_path = i;
		np->opening_lost = true;
		return;
	}
	spin_lock(&peer->lock);
	peer->path[i].losses++;
	ndp_path_is_bad(np, false, i, true);
	spin_unlock(&peer->lock);
}

/**
 * ndp_path_heard - from now on what becomes of a connection's packets is scored
 * @np:		connection, whose peer has answered, or was verified
 *
 * So the path of an opening that was lost is one that lost it: another has answered.
 */
void ndp_path_heard(struct ndp_sock *np)
{
	if (!np->opening_lost)
		return;
	np->opening_lost = false;
	ndp_path_lost(np, np->opening_path);
}

/**
 * ndp_path_answered - a packet was answered
 * @np:		connection
 * @psn:	packet
 * @i:		path that the answer takes
 */
void ndp_path_answered(struct ndp_sock *np, u32 psn, u16 i)
{
	struct ndp_answered *a = &np->answers[psn % NDP_ANSWERED];

	a->tag = psn / NDP_ANSWERED;
	a->path = i;
	if (!ndp_path_is_scored(np, i))
		return;
	spin_lock(&np->peer->lock);
	ndp_path_is_good(np->peer, true, i);
	spin_unlock(&np->peer->lock);
}

/**
 * ndp_path_answer_lost - a packet has come again that was answered
 * @np:		connection
 * @psn:	packet
 *
 * One of 16384 packets ago may be taken for it, and costs its path a point.
 */
void ndp_path_answer_lost(struct ndp_sock *np, u32 psn)
{
	const struct ndp_answered *a = &np->answers[psn % NDP_ANSWERED];
	struct ndp_peer *peer = np->peer;
	struct ndp_score *s;

	if (a->tag != (u8)(psn / NDP_ANSWERED) || !ndp_path_is_scored(np, a->path))
		return;
	spin_lock(&peer->lock);
	s = &peer->path[a->path].control;
	if (s->state != NDP_PATH_OUT && s->good) {
		s->good--;
		peer->control.good--;
		ndp_path_is_bad(np, true, a->path, true);
	}
	spin_unlock(&peer->lock);
}

/* Which path is next? */

/*
 * Is DATA on its way to see whether another path is back?  One is enough: its answer comes
 * after a round trip, and many paths may be due at once.
 */
static bool ndp_path_is_probing(const struct ndp_peer *peer, u64 now)
{
	const struct ndp_score *s = &peer->path[peer->probed].data;

	return s->state == NDP_PATH_PROBED && s->until > now;
}

/* A packet goes along a path to see whether it is back. */
static void ndp_path_probe(struct ndp_peer *peer, bool control, u16 i, u64 now)
{
	struct ndp_score *s = ndp_path_score(peer, control, i);

	WRITE_ONCE(s->state, NDP_PATH_PROBED);
	WRITE_ONCE(s->until, now + s->out_ns);
	if (!control)
		peer->probed = i;
}

/*
 * May a packet go along a path that was left out?  One whose time out is over is probed
 * with one packet; the next goes when the probe was not reported lost or trimmed.
 */
static bool ndp_path_is_back(struct ndp_peer *peer, bool control, u16 i)
{
	struct ndp_score *s = ndp_path_score(peer, control, i);
	u64 now = ktime_get_ns();
	bool back;

	spin_lock(&peer->lock);
	back = s->state == NDP_PATH_USED || s->until <= now;
	if (s->state == NDP_PATH_OUT && !control && ndp_path_is_probing(peer, now))
		back = false;
	if (back && s->state == NDP_PATH_OUT)
		ndp_path_probe(peer, control, i, now);
	else if (back)
		WRITE_ONCE(s->state, NDP_PATH_USED);
	spin_unlock(&peer->lock);
	return back;
}

/* All paths are left out: which comes back first?  One that is due is probed. */
static u16 ndp_path_first_back(struct ndp_peer *peer, bool control, bool scored)
{
	u64 at, first = U64_MAX, now = ktime_get_ns();
	const struct ndp_score *s;
	u16 i, best = 0;

	spin_lock(&peer->lock);
	for (i = 0; i < peer->n; i++) {
		s = ndp_path_score(peer, control, i);
		at = s->state == NDP_PATH_USED ? 0 : s->until;
		if (at < first) {
			first = at;
			best = i;
		}
	}
	s = ndp_path_score(peer, control, best);
	if (scored && s->state == NDP_PATH_OUT && s->until <= now)
		ndp_path_probe(peer, control, best, now);
	spin_unlock(&peer->lock);
	return best;
}

/*
 * Which of @n is at place @pos of the permutation @seed?  Each step maps the numbers of
 * so many bits onto themselves; what is not below @n goes through all steps again.  With
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

static u16 ndp_round_next(struct ndp_round *round, u16 n)
{
	if (round->pos >= n)
		round->pos = 0;
	/* The highest bit keeps the number of steps the same. */
	if (!round->pos)
		round->seed = get_random_u64() | BIT_ULL(63);
	return ndp_round_at(round->seed, round->pos++, n);
}

/**
 * ndp_path_next - the path to use next
 * @np:		connection
 * @control:	for anything but DATA
 *
 * Return: index of the path.
 */
u16 ndp_path_next(struct ndp_sock *np, bool control)
{
	struct ndp_round *round = control ? &np->control_round : &np->data_round;
	/*
	 * Who is not scored would probe in vain.  One that nobody has answered, by any path in
	 * use, tries those as well that others left out: they may be back.
	 */
	bool scored = ndp_path_is_scored(np, 0);
	struct ndp_peer *peer = np->peer;
	struct ndp_score *s;
	u16 i, tries;

	for (tries = 0; tries < peer->n; tries++) {
		i = ndp_round_next(round, peer->n);
		s = ndp_path_score(peer, control, i);
		if (likely(READ_ONCE(s->state) == NDP_PATH_USED))
			return i;
		if (READ_ONCE(s->until) <= ktime_get_ns() &&
		    (scored ? ndp_path_is_back(peer, control, i) : np->backoff))
			return i;
	}
	return ndp_path_first_back(peer, control, scored);
}

/**
 * ndp_path_flow - what packets say that go along a path
 * @np:		connection
 * @path:	one of its paths
 *
 * Return: flow.
 */
struct ndp_flow ndp_path_flow(const struct ndp_sock *np,
			      const struct ndp_path *path)
{
	const struct ndp_peer_key *key = &np->peer->key;

	return (struct ndp_flow) {
		.saddr = key->saddr,
		.daddr = path->daddr,
		.sport = path->sport,
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
	struct ndp_flow flow = ndp_path_flow(np, path);
	struct dst_entry *dst, *old;

	dst = ndp_ip_route(sock_net(sk), sk, &flow);
	spin_lock(&np->peer->lock);
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
 * Another processor may replace the path's route meanwhile.  A cookie that is not this
 * route's costs a lookup, or one packet by the route of before.
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
