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
 * packet goes along it: if that is trimmed or lost it is out for twice as long, of those that
 * lose no longer than NDP_OUT_LOST_MAX.  DATA probes one path at a time, so that many bad ones
 * cost little.  What somebody waits for alone, or what is not missed, is no probe.
 * Counts are halved when there are many, so that they are of late.  If all are left
 * out, the one that is to come back first is used.
 *
 * DATA that has no answer was lost, or its answer was, on another path.  So nothing is scored until
 * what was sent again is answered: that answer says whether one has left before (NDP_F_AGAIN).
 * If not, DATA was lost, by the path of the transmission before.  If so, an answer may have been:
 * whoever sent that knows by which path it went, and scores that if it has the packet.  What was
 * trimmed and then lost on its second way is charged to nobody.
 *
 * A peer that lies can have us leave out paths to it, as by not answering; none goes unused when
 * all are left out.
 *
 * A peer that has not answered yet may be down, and one that is unverified may be forged:
 * what becomes of packets to them tells nothing about paths, and is not scored.
 */
#include <net/dst.h>
#include "queue.h"
#include "trace.h"

/* Standard deviations beyond which a path is an outlier. */
#define NDP_OUTLIER_SIGMA	3

/* Packets per path after which the counts of a round are halved. */
#define NDP_SCORE_WINDOW	64

/* How long an outlier is left out: round trips, doublings, and bounds in time. */
#define NDP_OUT_RTTS		8
#define NDP_OUT_DOUBLINGS	10
#define NDP_OUT_MIN		(NDP_MSEC / 2)
#define NDP_OUT_MAX		(1000 * NDP_MSEC)
/* One that loses costs a probe a packet sent again and no more: it is tried again sooner. */
#define NDP_OUT_LOST_MAX	(8 * NDP_MSEC)

/*
 * Of answers half of that, and as long it takes at least until nobody can complain any more: the
 * peer may have found out by a timeout, and the next one too.
 */
#define NDP_OUT_ANSWERS_MAX	(NDP_OUT_LOST_MAX / 2)

/* The scoreboard. */

static struct ndp_score *ndp_path_score(struct ndp_peer *peer, bool control, u16 i)
{
	return control ? &peer->path[i].control : &peer->path[i].data;
}

static struct ndp_tally *ndp_path_tally(struct ndp_peer *peer, bool control)
{
	return control ? &peer->control : &peer->data;
}

/**
 * ndp_path_tells - do a connection's packets tell anything about paths?
 * @np:		connection
 *
 * Context: np->lock held.
 * Return: yes.
 */
bool ndp_path_tells(const struct ndp_sock *np)
{
	return np->answered && !np->unverified_at;
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

	/* A few that others brought are no measure for many. */
	if (2 * others < all)
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
		s->level -= s->level && s->state == NDP_PATH_USED;
		sum->good += s->good;
		sum->trimmed += s->trimmed;
		sum->lost += s->lost;
	}
}

/* Pass a path over for a while, @most unless @base_ns is longer, and clear its counts. */
static void ndp_path_leave_out(struct ndp_tally *sum, struct ndp_score *s, u64 base_ns, u64 most)
{
	u64 out = max(base_ns, NDP_OUT_MIN) << min_t(u8, s->level, NDP_OUT_DOUBLINGS);

	s->out_ns = min(out, max(base_ns, most));
	WRITE_ONCE(s->until, ktime_get_ns() + s->out_ns);
	s->level = min(s->level + 1, NDP_OUT_DOUBLINGS);
	WRITE_ONCE(s->state, NDP_PATH_OUT);
	ndp_score_clear(sum, s);
}

/* Is another path in use? */
static bool ndp_path_has_other(struct ndp_peer *peer, bool control, u16 i)
{
	u16 k;

	for (k = 0; k < peer->n; k++)
		if (k != i && ndp_path_score(peer, control, k)->state == NDP_PATH_USED)
			return true;
	return false;
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
 * probed goes at once, unless most fare no better.  The last one that is in use stays: what is left
 * out may be dead.
 */
static void ndp_path_is_bad(struct ndp_sock *np, bool control, u16 i, bool lost)
{
	struct ndp_peer *peer = np->peer;
	struct ndp_score *s = ndp_path_score(peer, control, i);
	struct ndp_tally *sum = ndp_path_tally(peer, control);
	u32 all, others, bad, others_bad;
	u64 base = 0, most = NDP_OUT_MAX;
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
	if (lost) {
		base = ndp_rto_base(np);
		most = control ? NDP_OUT_ANSWERS_MAX : NDP_OUT_LOST_MAX;
	}
	if ((again || ndp_outlier(bad, all, others_bad, others, !lost)) &&
	    ndp_path_has_other(peer, control, i)) {
		ndp_path_leave_out(sum, s, max(NDP_OUT_RTTS * peer->srtt_ns, base), most);
		s->silent = lost;
		trace_ndp_path(np, control, i, NDP_PATH_IS_OUT);
	}
	ndp_path_decay(peer, control);
}

/**
 * ndp_path_good - DATA has arrived whole
 * @np:		connection
 * @number:	path that it took
 *
 * Context of this and those below: np->lock held, softirqs off.
 */
void ndp_path_good(struct ndp_sock *np, u16 number)
{
	struct ndp_peer *peer = np->peer;
	u16 i = ndp_path_index(number);
	struct ndp_path *path = &peer->path[i];

	if (!ndp_path_tells(np))
		return;
	spin_lock(&peer->lock);
	if (ndp_path_is_current(peer, number)) {
		path->acks++;
		/* The path is back in use. */
		if (path->data.state == NDP_PATH_PROBED) {
			WRITE_ONCE(path->data.state, NDP_PATH_USED);
			trace_ndp_path(np, false, i, NDP_PATH_IS_BACK);
		}
		ndp_path_is_good(peer, false, i);
		ndp_entropy_whole(peer, i);
	}
	spin_unlock(&peer->lock);
}

/* Context: peer->lock held. */
static void ndp_path_note_trimmed(struct ndp_sock *np, u16 i)
{
	np->peer->path[i].nacks++;
	if (ndp_entropy_trimmed(np->peer, i)) {
		NDP_INC(sock_net(ndp_to_sk(np)), ENTROPY_REPLACED);
		trace_ndp_path(np, false, i, NDP_PATH_IS_FRESH);
	} else {
		ndp_path_is_bad(np, false, i, false);
	}
}

/**
 * ndp_path_trimmed - DATA was trimmed, or its header returned
 * @np:		connection
 * @number:	path that it took
 */
void ndp_path_trimmed(struct ndp_sock *np, u16 number)
{
	struct ndp_peer *peer = np->peer;

	if (!ndp_path_tells(np))
		return;
	spin_lock(&peer->lock);
	if (ndp_path_is_current(peer, number))
		ndp_path_note_trimmed(np, ndp_path_index(number));
	spin_unlock(&peer->lock);
}

/* DATA did not arrive. */
static void ndp_path_lost(struct ndp_sock *np, u16 number)
{
	struct ndp_peer *peer = np->peer;
	u16 i = ndp_path_index(number);

	if (!ndp_path_tells(np))
		return;
	spin_lock(&peer->lock);
	if (ndp_path_is_current(peer, number)) {
		peer->path[i].losses++;
		ndp_path_is_bad(np, false, i, true);
		ndp_entropy_lost(peer, i);
	}
	spin_unlock(&peer->lock);
}

/**
 * ndp_path_suspect - DATA was not answered: it was lost, or its answer was
 * @np:		connection
 * @cb:		packet, which is going to be sent again
 *
 * The answer to what is sent again tells which.
 */
void ndp_path_suspect(struct ndp_sock *np, struct ndp_tx_cb *cb)
{
	cb->suspect = ndp_path_index(cb->path);
	cb->suspect_gen = ndp_path_gen(cb->path);
	cb->suspected = 1;
}

/* Is a path the one that a packet remembers?  A packet has room for one bit of the generation. */
static bool ndp_path_is_suspect(const struct ndp_tx_cb *cb, u16 number)
{
	return ndp_path_index(number) == cb->suspect &&
	       (ndp_path_gen(number) & 1) == cb->suspect_gen;
}

/**
 * ndp_path_judge - DATA is answered: what became of the transmission before?
 * @np:		connection
 * @cb:		packet
 * @path:	by which the transmission came that is answered
 * @flags:	of the answer
 *
 * It was lost, unless that is the one that is answered, or one was answered before.
 */
void ndp_path_judge(struct ndp_sock *np, struct ndp_tx_cb *cb, u16 path, u8 flags)
{
	u16 now;

	if (!cb->suspected)
		return;
	cb->suspected = 0;
	if (!(flags & NDP_F_RTX) || flags & NDP_F_AGAIN || ndp_path_is_suspect(cb, path) ||
	    cb->suspect >= np->peer->n)
		return;
	/* One that was replaced meanwhile is gone. */
	now = ndp_path_number(np->peer, cb->suspect);
	if (ndp_path_is_suspect(cb, now))
		ndp_path_lost(np, now);
}

/* Where it is remembered by which path a packet was answered. */
static struct ndp_answered *ndp_answered_at(struct ndp_sock *np, u32 psn)
{
	if (np->answers_many)
		return &np->answers_many[psn % NDP_ANSWERED];
	return &np->answers[psn % NDP_ANSWERED_FEW];
}

/* What is remembered of its number, never 0. */
static u8 ndp_answered_tag(const struct ndp_sock *np, u32 psn)
{
	return psn / (np->answers_many ? NDP_ANSWERED : NDP_ANSWERED_FEW) | BIT(7);
}

/*
 * There are more than few: remember more.  Most connections carry a few packets, and have room for
 * them in the socket.  Without memory the latest few have to do.
 */
static void ndp_answered_more(struct ndp_sock *np)
{
	np->answers_many = kcalloc(NDP_ANSWERED, sizeof(*np->answers_many),
				   GFP_ATOMIC | __GFP_NOWARN);
}

/**
 * ndp_path_answers_forget - nothing is known any more of answers that have left
 * @np:		connection
 */
void ndp_path_answers_forget(struct ndp_sock *np)
{
	memset(np->answers, 0, sizeof(np->answers));
	kfree(np->answers_many);
	np->answers_many = NULL;
}

/**
 * ndp_path_has_answered - has an answer to a packet left of late, alone?
 * @np:		connection
 * @psn:	packet
 *
 * Return: yes, as far as is known.
 */
bool ndp_path_has_answered(struct ndp_sock *np, u32 psn)
{
	return ndp_answered_at(np, psn)->tag == ndp_answered_tag(np, psn);
}

/**
 * ndp_path_answered - a packet was answered
 * @np:		connection
 * @psn:	packet
 * @i:		path that the answer takes
 */
void ndp_path_answered(struct ndp_sock *np, u32 psn, u16 i)
{
	struct ndp_answered *a = ndp_answered_at(np, psn);

	if (!np->answers_many && a->tag && a->tag != ndp_answered_tag(np, psn) &&
	    ndp_path_tells(np)) {
		ndp_answered_more(np);
		a = ndp_answered_at(np, psn);
	}
	a->tag = ndp_answered_tag(np, psn);
	a->path = i;
	if (!ndp_path_tells(np))
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
 * One of 65536 packets ago may be taken for it, of 2048 while few are remembered, and costs its
 * path a point; so does one that was sent again for nothing, or one of a path that got a fresh
 * port since.
 */
void ndp_path_answer_lost(struct ndp_sock *np, u32 psn)
{
	const struct ndp_answered *a = ndp_answered_at(np, psn);
	struct ndp_peer *peer = np->peer;
	struct ndp_score *s;

	/* The path may be of an earlier peer, of which few packets are left. */
	if (!ndp_path_has_answered(np, psn) || !ndp_path_tells(np) || a->path >= peer->n)
		return;
	spin_lock(&peer->lock);
	peer->path[a->path].answers_lost++;
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
 * When may a path be probed?  A packet that few others follow is not soon found lost, and somebody
 * may wait for it alone: such go later.
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
 * May a packet go along a path that was left out?  One whose time out is over is probed
 * with one packet.  DATA goes there again when that was acknowledged; answers, which nobody
 * acknowledges, when it was not reported lost.
 */
static bool ndp_path_is_back(struct ndp_sock *np, bool control, u16 i, enum ndp_path_use use)
{
	struct ndp_peer *peer = np->peer;
	struct ndp_score *s = ndp_path_score(peer, control, i);
	u64 now = ktime_get_ns();
	bool back;

	/* Most may not probe: they need no lock. */
	if (ndp_path_due(s, use) > now && !(control && READ_ONCE(s->state) == NDP_PATH_PROBED))
		return false;
	spin_lock(&peer->lock);
	back = s->state == NDP_PATH_USED;
	if (!back && control && s->state == NDP_PATH_PROBED && s->until <= now) {
		WRITE_ONCE(s->state, NDP_PATH_USED);
		back = true;
		trace_ndp_path(np, control, i, NDP_PATH_IS_BACK);
	} else if (!back && ndp_path_due(s, use) <= now &&
		   (control || !ndp_path_is_probing(peer, now))) {
		ndp_path_probe(np, control, i, now);
		back = true;
	}
	spin_unlock(&peer->lock);
	return back;
}

/*
 * All paths but one, or all, are left out: which is tried first?  One that trims lets headers
 * through; of others the one that comes back first.  One that is due is probed.
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
 * ndp_path_may_take - may a packet go along a path now?
 * @np:		connection
 * @control:	of anything but DATA
 * @i:		index of the path
 * @use:	may the packet go to see whether a path is back?
 *
 * Who is not scored would probe in vain.  One that nobody has answered, by any path in
 * use, tries those as well that others left out: they may be back.
 *
 * Context: np->lock held, softirqs off.
 * Return: yes; then one does.
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
 * @use:	may the packet go to see whether a path is back?
 *
 * Return: index of the path.
 */
u16 ndp_path_next(struct ndp_sock *np, bool control, enum ndp_path_use use)
{
	struct ndp_round *round = control ? &np->control_round : &np->data_round;
	struct ndp_peer *peer = np->peer;
	u16 i, tries;

	for (tries = 0; tries < peer->n; tries++) {
		i = ndp_round_next(round, peer->n);
		if (ndp_path_may_take(np, control, i, use))
			return i;
	}
	return ndp_path_first_back(np, control, peer->n);
}

/**
 * ndp_path_other - a path for a packet that was lost by the only one in use
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
		.sport = READ_ONCE(path->sport),
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
	/* Was it replaced meanwhile?  Then this is the route of one packet, and not the path's. */
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
