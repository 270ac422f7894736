// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP scoreboard of paths (NDP paper, section 3.2.3).
 *
 * All connections to a peer share one scoreboard.  For each path it counts the recent outcomes:
 * acknowledged, trimmed, lost.  In an intact fabric these have the same shares on all paths.  A
 * path is an outlier when its trimmed, or lost, packets exceed the number expected by the share
 * on the other paths by three standard deviations of that number (a binomial count), and for
 * trimmed packets by one more packet.  So an incast, which trims on all paths alike, leaves none
 * out, and where nothing is ever lost one loss is enough.  An outlier is left out for a few round
 * trips, then one packet probes it: if that packet is trimmed or lost, the path is out for twice
 * as long, but for losses no longer than NDP_OUT_LOST_MAX.  DATA probes one path at a time, so
 * that many bad ones cost little.  A packet is not used as a probe if somebody waits for it
 * alone, or if its loss would not be noticed.  Counts are halved when they get large, so that
 * they describe recent traffic.  If all paths are left out, the one that is to come back first is
 * used.
 *
 * When DATA gets no answer, either the DATA was lost or its answer was, on another path.  So
 * nothing is scored until the retransmission is answered: that answer says whether an answer was
 * sent before (NDP_F_AGAIN).  If not, the DATA was lost, on the path of the previous
 * transmission.  If so, an answer may have been lost: its sender knows the path that it took, and
 * scores the loss if it has the packet.  A packet that was trimmed, and whose retransmission was
 * lost, is charged to no path.
 *
 * A peer that lies can make us leave out paths to it, as it can by not answering; when all are
 * left out, paths are used all the same.
 *
 * A peer that has not answered yet may be down, and the address of an unverified one may be
 * spoofed: the fate of packets to them tells nothing about paths, and is not scored.
 *
 * Non-goals: which path is next, and when one is probed (path.c); fresh ports (entropy.c).
 */
#include "event.h"
#include "queue.h"
#include "trace.h"

/* Standard deviations beyond which a path is an outlier. */
#define NDP_OUTLIER_SIGMA	3

/* Packets per path after which the counts of a round are halved. */
#define NDP_SCORE_WINDOW	64

static struct ndp_tally *ndp_path_tally(struct ndp_peer *peer, bool control)
{
	return control ? &peer->control : &peer->data;
}

/*
 * Are @bad of a path's @all packets too many, compared with @others_bad of @others packets on the
 * other paths?  With p the others' share: bad - slack > all p + 3 sqrt(all p (1 - p)), squared
 * and multiplied by others^2.  All counts are below 2^15.
 */
static bool ndp_outlier(u32 bad, u32 all, u32 others_bad, u32 others, u32 slack)
{
	s64 excess = (s64)bad * others - (s64)all * others_bad -
		     (s64)slack * others;
	u64 variance = (u64)all * others_bad * (others - others_bad);

	/* The other paths have carried too few packets to compare with. */
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

/* Leave a path out, for @most or @base_ns at most, whichever is longer, and clear its counts. */
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

/* Count a good outcome of a path. */
static void ndp_path_is_good(struct ndp_peer *peer, bool control, u16 i)
{
	ndp_path_score(peer, control, i)->good++;
	ndp_path_tally(peer, control)->good++;
	ndp_path_decay(peer, control);
}

/*
 * Count a bad outcome of a path: is the path to be left out?  One that is out is not charged.
 * After a probe one bad outcome is enough, unless most packets on the other paths fare no better.
 * The last path in use stays: those that are left out may be dead.
 */
static void ndp_path_is_bad(struct ndp_sock *np, bool control, u16 i, bool lost)
{
	struct ndp_peer *peer = np->peer;
	struct ndp_score *s = ndp_path_score(peer, control, i);
	struct ndp_tally *sum = ndp_path_tally(peer, control);
	u32 all, others, bad, others_bad;
	u64 base = 0, most = NDP_OUT_MAX;
	bool again, used = s->state == NDP_PATH_USED;

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

	/* At least the RTO, so that a lost probe is reported before the path is used again. */
	if (lost) {
		base = ndp_rto_base(np);
		most = control ? NDP_OUT_ANSWERS_MAX : NDP_OUT_LOST_MAX;
	}
	if ((again || ndp_outlier(bad, all, others_bad, others, !lost)) &&
	    ndp_path_has_other(peer, control, i)) {
		ndp_path_leave_out(sum, s, max(NDP_OUT_RTTS * peer->srtt_ns, base), most);
		s->silent = lost;
		trace_ndp_path(np, control, i, NDP_PATH_IS_OUT);
		if (used)
			ndp_event_path(np, control, i, true);
	}
	ndp_path_decay(peer, control);
}

/**
 * ndp_path_good - DATA has arrived whole
 * @np:		connection
 * @number:	number of the path that it took
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
			ndp_event_path(np, false, i, false);
		}
		ndp_path_is_good(peer, false, i);
		ndp_entropy_whole(peer, i);
	}
	spin_unlock(&peer->lock);
}

/* Context: peer->lock held. */
static void ndp_path_note_trimmed(struct ndp_sock *np, u16 i)
{
	struct ndp_path *path = &np->peer->path[i];
	bool data_out = path->data.state != NDP_PATH_USED;
	bool control_out = path->control.state != NDP_PATH_USED;

	path->nacks++;
	if (ndp_entropy_trimmed(np->peer, i)) {
		NDP_CONN_INC(np, ENTROPY_REPLACED);
		trace_ndp_path(np, false, i, NDP_PATH_IS_FRESH);
		if (data_out)
			ndp_event_path(np, false, i, false);
		if (control_out)
			ndp_event_path(np, true, i, false);
	} else {
		ndp_path_is_bad(np, false, i, false);
	}
}

/**
 * ndp_path_trimmed - DATA was trimmed, or its header returned
 * @np:		connection
 * @number:	number of the path that it took
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
 * The answer to the retransmission tells which.
 */
void ndp_path_suspect(struct ndp_sock *np, struct ndp_tx_cb *cb)
{
	cb->suspect = ndp_path_index(cb->path);
	cb->suspect_gen = ndp_path_gen(cb->path);
	cb->suspected = 1;
}

/* Is @number the suspected path of a packet?  The packet has room for one bit of the generation. */
static bool ndp_path_is_suspect(const struct ndp_tx_cb *cb, u16 number)
{
	return ndp_path_index(number) == cb->suspect &&
	       (ndp_path_gen(number) & 1) == cb->suspect_gen;
}

/**
 * ndp_path_judge - DATA is answered: was the previous transmission lost?
 * @np:		connection
 * @cb:		packet
 * @path:	path of the transmission that is answered
 * @flags:	flags of the answer
 *
 * The previous transmission was lost, unless this answer is to it, or an answer was sent before.
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
	/* If the path has got another port meanwhile, no path is charged. */
	now = ndp_path_number(np->peer, cb->suspect);
	if (ndp_path_is_suspect(cb, now))
		ndp_path_lost(np, now);
}

/* The slot for the path by which packet @psn was answered. */
static struct ndp_answered *ndp_answered_at(struct ndp_sock *np, u32 psn)
{
	if (np->answers_many)
		return &np->answers_many[psn % NDP_ANSWERED];
	return &np->answers[psn % NDP_ANSWERED_FEW];
}

/* The tag of a PSN in its slot, never 0. */
static u8 ndp_answered_tag(const struct ndp_sock *np, u32 psn)
{
	return psn / (np->answers_many ? NDP_ANSWERED : NDP_ANSWERED_FEW) | BIT(7);
}

/*
 * The few slots are used up: allocate more.  Most connections carry a few packets, for which the
 * slots in the socket are enough.  Without memory only the latest few answers are remembered.
 */
static void ndp_answered_more(struct ndp_sock *np)
{
	np->answers_many = kcalloc(NDP_ANSWERED, sizeof(*np->answers_many),
				   GFP_ATOMIC | __GFP_NOWARN);
}

/**
 * ndp_path_answers_forget - forget by which paths packets were answered
 * @np:		connection
 */
void ndp_path_answers_forget(struct ndp_sock *np)
{
	memset(np->answers, 0, sizeof(np->answers));
	kfree(np->answers_many);
	np->answers_many = NULL;
}

/**
 * ndp_path_has_answered - was an answer with this PSN in its header sent recently?
 * @np:		connection
 * @psn:	packet
 *
 * Return: true if so, as far as is remembered.
 */
bool ndp_path_has_answered(struct ndp_sock *np, u32 psn)
{
	return ndp_answered_at(np, psn)->tag == ndp_answered_tag(np, psn);
}

/**
 * ndp_path_answered - remember the path by which a packet is answered
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
 * ndp_path_answer_lost - an answered packet has arrived again: its answer may have been lost
 * @np:		connection
 * @psn:	packet
 *
 * The answer to a packet 65536 PSNs before may be mistaken for it (2048 while few are
 * remembered), and costs its path a point; so does a spurious retransmission, or an answer by a
 * path that has got a fresh port since.
 */
void ndp_path_answer_lost(struct ndp_sock *np, u32 psn)
{
	const struct ndp_answered *a = ndp_answered_at(np, psn);
	struct ndp_peer *peer = np->peer;
	struct ndp_score *s;

	/* The path may be one of a previous peer (ndp_peer_follow()), which had more paths. */
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
