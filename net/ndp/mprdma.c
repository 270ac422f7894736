// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP transport "mprdma": a window over many paths.
 *
 * MP-RDMA (Lu et al., "Multi-Path Transport for RDMA in Datacenters", NSDI 2018).  It asks
 * of the fabric ECMP and ECN marks, and nothing else.  A path is a number of the core's list:
 * a UDP source port, the paper's virtual path.  Answers come by the path of that number.
 *
 * One window for all paths (section 3.2).  Each ACK adds 1/cwnd, each marked one takes 1/2,
 * and what the window then allows leaves by the path of that ACK.  So a path carries as many
 * packets as come back by it unmarked, and nothing is kept of any path.  A connection
 * begins with an initial window (one bandwidth-delay product) on as many random paths.
 *
 * Slow paths (section 3.3).  An ACK of a packet that lies more than delta below the highest
 * acknowledged came by a slow path: it takes one from the window and lets nothing leave.
 * The receiver takes what is less than slots (the paper's L) ahead of the lowest missing
 * packet, and NACKs what is further ahead.
 *
 * Recovery (section 3.5).  Such a NACK tells that a packet is lost, and so does whatever
 * left more than delta packets after it and was answered.  It is sent again before anything
 * new, one for each answer.  When nothing may leave, for want of data, slots or window, a
 * packet that is out for longer than a round trip may take, while answers came, is lost as
 * well.  When for that time nothing came at all, the oldest packet is, and goes by the path of
 * the last answer and by others in turn, one after the other until one is answered, at most ten
 * (compare RFC 8985, tail loss probe); what left before is lost then.  The core's timeout is
 * for the rest.  If all that was in flight is lost, at least ten packets (or the initial
 * window) go by as many paths, the first by that of the last answer.
 *
 * Synchronised messages (section 3.4), of SOCK_SEQPACKET.  One that is for behind all before
 * it (NDP_CMSG_SYNC) should not come before these.  The sender waits before it: for sync per
 * mille (the paper's alpha) of the time in which delta packets leave, delta / (cwnd / RTT),
 * from the packet before on; or until all before it is acknowledged.
 *
 * Also section 3.5: an answer lets at most two packets leave; what the window allows beyond
 * that goes by random paths when half a round trip has passed without an answer.  Once a
 * round trip, with a probability of 1 %, a packet tries a random path.  An answer for which
 * there is no data takes one from the window.  After three round trips without traffic
 * a connection begins anew with the initial window.
 *
 * What the paper leaves open, and what differs:
 * - A synchronised message that comes early waits at the receiver (overtake.c), which has
 *   memory for it.  The paper's has none, and refuses it: whoever sends it again upon the
 *   NACK does so each round trip until the missing packet is there, 57,000 times a second in
 *   a test.
 * - The least window is one packet, the largest what the wire format allows.
 * - Numbers become contiguous packet by packet.  By messages, as the paper's receiver has it,
 *   one of more packets than slots could not be received.
 * - inflate, the paper's count of packets that have arrived out of order, is the core's
 *   knowledge of each packet.  What a cumulative number acknowledges stays in the account
 *   until its own ACK comes, which is a path's clock, but for two round trips at most: ACKs
 *   may be lost.
 * - The window does not grow while the host has not sent what it allows: the host's own link
 *   or the peer's room is what limits.  What may leave and cannot is kept, with its path.
 * - The paper's sender, which knows little of what has arrived, sends again all that is not
 *   acknowledged cumulatively, after a NACK.  This one knows each packet, and in what order
 *   they left, retransmissions too, so it need not wait for a NACK, for which the receiver
 *   would have to run out of slots.  But what is more than delta behind may only have a slow
 *   path: sent again, all that the path carries would be, and nothing were left to come back
 *   by it.  A lone flow, whose paths are each much slower than its own link, would lose path
 *   after path so, until delta is more time than a port's queue.  So where the ACK of what
 *   was taken for lost comes after all, it is slots in delta's place that tell a loss (compare
 *   RFC 8985, section 6.2, step 4); each packet that was lost indeed takes one off that.
 * - Without PFC packets are dropped.  A loss takes one from the window, the place that the
 *   packet had in it, as a slow path's ACK does: where nobody marks, losses keep it
 *   in bounds.  So does a NACK of a packet that was trimmed, or that found no room.
 * - Random paths are all paths in turn from a random one on: the fabric's hash makes them
 *   random, and those that were in vain are not tried again before the others.  The core's
 *   scores of paths (score.c) are not asked: they leave out what is worse than most, and here
 *   one good path is looked for among many bad ones.
 *
 * Non-goals: what the receiver reads when (overtake.c); flow control (window.c).
 */
#include <linux/module.h>
#include <linux/random.h>
#include "transport.h"

/* The window's fraction of a packet, bits. */
#define MPRDMA_SHIFT		16
#define MPRDMA_ONE		BIT(MPRDMA_SHIFT)
#define MPRDMA_CWND_MAX		(NDP_MAX_WINDOW << MPRDMA_SHIFT)

/* Packets that one answer lets leave (section 3.5). */
#define MPRDMA_PER_ACK		2

/* Round trips without traffic after which a connection begins anew (section 3.5). */
#define MPRDMA_IDLE_RTTS	3

/* Packets that leave at once, each by another path, when all in flight were lost. */
#define MPRDMA_RESTART		10

/* Packets sent again one by one, each by another path, before the core's timeout. */
#define MPRDMA_TRIES		10

/* Paths remembered of packets that may leave and that the host could not send yet. */
#define MPRDMA_CREDITS		32

static int mprdma_set_packets(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 1, NDP_MAX_WINDOW);
}

static const struct kernel_param_ops mprdma_packets = {
	.set = mprdma_set_packets,
	.get = param_get_uint,
};

static unsigned int delta = 32;
module_param_cb(delta, &mprdma_packets, &delta, 0644);
MODULE_PARM_DESC(delta, "packets behind the highest acknowledged at which a path is too slow (default 32)");

static unsigned int slots = 64;
module_param_cb(slots, &mprdma_packets, &slots, 0644);
MODULE_PARM_DESC(slots, "packets ahead of the lowest missing one that a receiver takes; the same on both ends (default 64)");

/* Bound of parameter sync: at 100 times the paper's value a sender waits practically for ever. */
static int mprdma_set_sync(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 0, 100000);
}

static const struct kernel_param_ops mprdma_sync = {
	.set = mprdma_set_sync,
	.get = param_get_uint,
};

static unsigned int sync = 1000;
module_param_cb(sync, &mprdma_sync, &sync, 0644);
MODULE_PARM_DESC(sync, "wait before a synchronised message, per mille of the time of delta packets (default 1000)");

static int mprdma_set_permille(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 0, 1000);
}

static const struct kernel_param_ops mprdma_permille = {
	.set = mprdma_set_permille,
	.get = param_get_uint,
};

static unsigned int probe = 10;
module_param_cb(probe, &mprdma_permille, &probe, 0644);
MODULE_PARM_DESC(probe, "probability that a new path is tried in a round trip, per mille (default 10)");

/**
 * struct mprdma - what it knows of a connection
 * @cwnd:	window, packets, with MPRDMA_SHIFT bits of fraction
 * @ooh:	highest PSN that is known to have arrived (snd_ooh)
 * @ooh_seq:	the same in the order in which packets have left, retransmissions too
 * @seq:	of the packet that is being answered: place in that order,
 * @again:	and it was sent before, or is to be sent again
 * @was_lost:	because it was taken for lost
 * @probing:	the next packet that leaves by an ACK's path takes a random one
 * @tries:	packets taken for lost because nothing came, since the last answer
 * @back:	the last packet that was sent again while nothing came went by @good
 * @owed:	packets acknowledged by a number above them, in this round trip and in the one
 *		before, whose own ACK has not come
 * @fresh:	packets that may leave by random paths
 * @credits:	packets that may leave by the paths of ACKs
 * @first:	place of the first of these
 * @next:	path of the packet that is leaving
 * @good:	path by which the last answer came
 * @tried:	the random path that was taken last
 * @lost_at:	a packet is lost when one is answered that left more than so many later
 * @round_at:	end of this round trip, ktime_get_ns()
 * @heard_at:	when an answer came last, or the connection began
 * @new_at:	when something new left last; of messages
 * @path:	paths of @credits, a ring
 */
struct mprdma {
	u32	cwnd;
	u32	ooh;
	u32	ooh_seq;
	u32	seq;
	bool	again;
	bool	was_lost;
	bool	probing;
	bool	back;
	u8	tries;
	u16	owed[2];
	u16	fresh;
	u8	credits;
	u8	first;
	u16	next;
	u16	good;
	u16	tried;
	u16	lost_at;
	u64	round_at;
	u64	heard_at;
	u64	new_at;
	u16	path[MPRDMA_CREDITS];
};

/* Without a sample of one a third of the timeout, which is what it begins as (peer.c). */
static u64 mprdma_rtt(const struct ndp_sock *np)
{
	return ndp_srtt(np) ?: div_u64(READ_ONCE(np->peer->rto_ns), 3);
}

/*
 * How long a packet may be out, by the round trips of late (srtt + 4 rttvar).  Twice that, for
 * the queues of other paths may be longer.
 */
static u64 mprdma_patience(const struct ndp_sock *np)
{
	return 2 * ndp_peer_rto(np->peer);
}

/* And how long nothing may come before the oldest packet is taken for lost. */
static u64 mprdma_silence(const struct ndp_sock *np)
{
	return max(mprdma_patience(np), div_u64(ndp_rto_base(np), MPRDMA_TRIES));
}

/* The window. */

static void mprdma_shrink(struct mprdma *mp, u32 by)
{
	mp->cwnd = max(mp->cwnd, by + MPRDMA_ONE) - by;
}

/* An ACK of a packet, marked or not (section 3.2).  @used: all that may leave has left. */
static void mprdma_react(struct mprdma *mp, bool marked, bool used)
{
	if (marked)
		mprdma_shrink(mp, MPRDMA_ONE / 2);
	else if (used)
		mp->cwnd = min_t(u64, MPRDMA_CWND_MAX, mp->cwnd +
				 div_u64((u64)MPRDMA_ONE << MPRDMA_SHIFT, mp->cwnd));
}

/* Packets that are in the network, or may leave. */
static u32 mprdma_taken(const struct mprdma *mp, u32 flight)
{
	return flight + mp->owed[0] + mp->owed[1] + mp->credits + mp->fresh;
}

/* Packets that the window has room for beyond those (awnd). */
static u32 mprdma_room(const struct mprdma *mp, u32 flight)
{
	u32 cwnd = mp->cwnd >> MPRDMA_SHIFT;
	u32 taken = mprdma_taken(mp, flight);

	return cwnd > taken ? cwnd - taken : 0;
}

/*
 * A packet's own ACK comes after a cumulative number has acknowledged it.
 * Return: it still counts as an answer.
 */
static bool mprdma_was_owed(struct mprdma *mp)
{
	int i = mp->owed[1] ? 1 : 0;

	if (!mp->owed[i])
		return false;
	mp->owed[i]--;
	return true;
}

/* A packet may leave by a path.  Return: it is remembered. */
static bool mprdma_credit(struct mprdma *mp, u16 path)
{
	if (mp->credits == MPRDMA_CREDITS)
		return false;
	mp->path[(mp->first + mp->credits++) % MPRDMA_CREDITS] = path;
	return true;
}

static u16 mprdma_take_credit(struct mprdma *mp)
{
	u16 path = mp->path[mp->first];

	mp->first = (mp->first + 1) % MPRDMA_CREDITS;
	mp->credits--;
	return path;
}

/* Does an ACK tell of a slow path (section 3.3.2)?  A retransmission's path is a good one. */
static bool mprdma_is_slow(struct mprdma *mp, u32 psn, bool rtx)
{
	if (rtx)
		return false;
	if (psn_before(mp->ooh, psn))
		mp->ooh = psn;
	return psn_before(psn, mp->ooh - READ_ONCE(delta));
}

/* Sending */

static u16 mprdma_random_path(const struct ndp_sock *np, struct mprdma *mp)
{
	mp->tried = (mp->tried + 1) % np->peer->n;
	return mp->tried;
}

/* Has the receiver no slot yet for what it has refused? */
static bool mprdma_is_blocked(const struct ndp_sock *np)
{
	const struct sk_buff *skb = ndp_rtx_first(np);

	return skb && ndp_tx_cb(skb)->psn - np->snd_una >= READ_ONCE(slots);
}

/* Is there anything to be sent beyond what may leave already? */
static bool mprdma_has_data(const struct ndp_sock *np, const struct mprdma *mp)
{
	return skb_queue_len(&np->sendq) + np->rtx_pkts > mp->credits + mp->fresh;
}

/* May a packet leave?  While the receiver has no slot for the lowest refused one a lost one may. */
static bool mprdma_could_send(const struct ndp_sock *np, const struct mprdma *mp)
{
	if (mprdma_is_blocked(np))
		return !list_empty(&np->lost);
	return mprdma_has_data(np, mp);
}

static void mprdma_init(struct ndp_sock *np, u32 start)
{
	struct mprdma *mp = ndp_transport_priv(np);
	u64 now = ktime_get_ns();

	*mp = (struct mprdma) {
		.cwnd = clamp_t(u32, np->iw, 1, NDP_MAX_WINDOW) << MPRDMA_SHIFT,
		.ooh = np->isn - 1,
		.lost_at = READ_ONCE(delta),
		.ooh_seq = np->tx_seq,
		.tried = reciprocal_scale(get_random_u32(), np->peer->n),
		.round_at = now,
		.heard_at = now,
	};
	mp->good = mp->tried;
}

/*
 * Nothing is in flight, so no ACK will come: what the window allows may leave by random paths.
 * After a pause it is the initial one again.  If there was no pause all is lost, or refused:
 * the path of the last answer goes first, and if that was long ago others are looked for.
 */
static void mprdma_start(struct ndp_sock *np, struct mprdma *mp, bool all_acked)
{
	u64 idle = ktime_get_ns() - mp->heard_at;

	if (all_acked && idle > MPRDMA_IDLE_RTTS * mprdma_rtt(np)) {
		mp->cwnd = clamp_t(u32, np->iw, 1, NDP_MAX_WINDOW) << MPRDMA_SHIFT;
		mp->credits = 0;
	} else if (!all_acked && !mp->credits) {
		mprdma_credit(mp, mp->good);
		if (idle > mprdma_patience(np))
			mp->cwnd = max_t(u32, mp->cwnd,
					 min_t(u32, np->iw, MPRDMA_RESTART) << MPRDMA_SHIFT);
	}
	memset(mp->owed, 0, sizeof(mp->owed));
	mp->fresh = 0;
	mp->fresh = mprdma_room(mp, 0);
}

/* Is the next packet the beginning of a message for behind all before it? */
static bool mprdma_next_is_sync(const struct ndp_sock *np)
{
	const struct sk_buff *skb = skb_peek(&np->sendq);

	return skb && unlikely(ndp_tx_cb(skb)->flags & NDP_F_SYNC);
}

/* When it may leave, if not all before it is acknowledged (section 3.4). */
static u64 mprdma_sync_at(const struct ndp_sock *np, const struct mprdma *mp)
{
	u64 wait = div_u64(mprdma_rtt(np) * READ_ONCE(delta), max(mp->cwnd >> MPRDMA_SHIFT, 1U));

	return mp->new_at + div_u64(wait * READ_ONCE(sync), 1000);
}

static bool mprdma_is_held(const struct ndp_sock *np, const struct mprdma *mp)
{
	return mprdma_next_is_sync(np) && np->snd_una != np->snd_nxt &&
	       ktime_get_ns() < mprdma_sync_at(np, mp);
}

static bool mprdma_may_send(const struct ndp_sock *np, enum ndp_send what, u32 len)
{
	const struct mprdma *mp = ndp_transport_priv(np);

	switch (what) {
	case NDP_SEND_EMPTY:
		return true;
	case NDP_SEND_NEW:
		/* The receiver has no slot for it before that for what it has refused. */
		if (np->rtx_pkts || mprdma_is_held(np, mp))
			return false;
		break;
	case NDP_SEND_NACKED:
		if (mprdma_is_blocked(np))
			return false;
		break;
	default:
		break;
	}
	return mp->credits || mp->fresh || !np->flight_pkts;
}

static void mprdma_set_timer(struct ndp_sock *np, u64 at)
{
	if (!np->transport_at || at < np->transport_at)
		np->transport_at = at;
}

/*
 * That of a packet which no answer lets leave.  What was lost goes by the path of the last
 * answer.  If that is long ago it does so every other time: either this path has failed, or
 * its answers are lost, and most other paths may be worse.
 */
static u16 mprdma_other_path(const struct ndp_sock *np, struct mprdma *mp, enum ndp_send what)
{
	if (what != NDP_SEND_LOST)
		return mprdma_random_path(np, mp);
	if (ktime_get_ns() - mp->heard_at < mprdma_patience(np))
		return mp->good;
	mp->back = !mp->back;
	return mp->back ? mp->good : mprdma_random_path(np, mp);
}

static void mprdma_sent(struct ndp_sock *np, struct ndp_tx_cb *cb, enum ndp_send what,
			u32 len)
{
	struct mprdma *mp = ndp_transport_priv(np);

	if (!np->flight_pkts && what != NDP_SEND_EMPTY)
		mprdma_start(np, mp, what == NDP_SEND_NEW && cb->psn == np->snd_una);
	if (what != NDP_SEND_EMPTY && mp->credits) {
		mp->next = mprdma_take_credit(mp);
	} else {
		mp->next = mprdma_other_path(np, mp, what);
		if (what != NDP_SEND_EMPTY && mp->fresh)
			mp->fresh--;
	}
	/* Where it was lost it could be lost again. */
	if (what == NDP_SEND_LOST && mp->next == ndp_path_index(cb->path))
		mp->next = mprdma_random_path(np, mp);
	if (cb->flags & NDP_F_LAST || !np->transport_at)
		mprdma_set_timer(np, ktime_get_ns() + mprdma_patience(np));
	if (what == NDP_SEND_NEW && ndp_has_messages(np)) {
		mp->new_at = ktime_get_ns();
		if (mprdma_next_is_sync(np))
			mprdma_set_timer(np, mprdma_sync_at(np, mp));
	}
}

static u16 mprdma_pick_path(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	const struct mprdma *mp = ndp_transport_priv(np);

	return mp->next;
}

/* Loss */

/* The oldest packet in flight, if it left before @seq, is lost. */
static bool mprdma_lose(struct ndp_sock *np, struct mprdma *mp, u32 seq)
{
	if (!ndp_tx_lose(np, seq))
		return false;
	mprdma_shrink(mp, MPRDMA_ONE);
	return true;
}

/*
 * When the oldest packet in flight is taken for lost: it has been out for longer than a round
 * trip may take while answers came, or nothing has left or come for that time.  The latter
 * ends with the first timeout, or when it has been in vain, U64_MAX: each packet that leaves
 * begins the core's timeout anew, which would never come.
 */
static u64 mprdma_overdue_at(const struct ndp_sock *np, const struct mprdma *mp)
{
	const struct sk_buff *skb = ndp_tx_first(&np->flight);
	u64 patience = mprdma_patience(np);
	const struct ndp_tx_cb *last;

	if (!skb)
		return U64_MAX;
	if (mp->heard_at > ndp_tx_cb(skb)->sent_at)
		return ndp_tx_cb(skb)->sent_at + patience;
	if (np->backoff || mp->tries == MPRDMA_TRIES)
		return U64_MAX;
	last = list_last_entry(&np->flight, struct ndp_tx_cb, list);
	return last->sent_at + mprdma_silence(np);
}

/* A packet is sent again that no answer lets leave; what is in flight grows by none. */
static void mprdma_try(struct mprdma *mp)
{
	if (!mp->credits && !mp->fresh)
		mp->fresh = 1;
}

/*
 * Return: the oldest packet in flight is lost, and another may be.  Of those that nobody has
 * answered one is enough.
 */
static bool mprdma_overdue(struct ndp_sock *np, struct mprdma *mp, u64 now)
{
	const struct sk_buff *skb = ndp_tx_first(&np->flight);
	bool heard = skb && mp->heard_at > ndp_tx_cb(skb)->sent_at;

	if (mprdma_overdue_at(np, mp) > now || !mprdma_lose(np, mp, np->tx_seq))
		return false;
	if (heard)
		return true;
	mp->tries++;
	mprdma_try(mp);
	return false;
}

/* May something leave when half a round trip has passed without an answer? */
static bool mprdma_bursts(const struct ndp_sock *np, const struct mprdma *mp)
{
	return mprdma_could_send(np, mp) && mprdma_room(mp, np->flight_pkts);
}

/* Have the timer look again, if no answer comes before. */
static void mprdma_wait(struct ndp_sock *np, const struct mprdma *mp, u64 now)
{
	u64 at = mprdma_bursts(np, mp) ? now + mprdma_rtt(np) / 2 : mprdma_overdue_at(np, mp);

	if (at == U64_MAX)
		return;
	/* What is overdue and still in the host's qdisc is not lost: no haste. */
	mprdma_set_timer(np, at > now ? at : now + mprdma_silence(np));
}

/* An answer lets packets leave by its path. */
static void mprdma_clock(struct ndp_sock *np, struct mprdma *mp, u16 path, u64 now)
{
	u32 room = mprdma_room(mp, np->flight_pkts);
	int n;

	if (!mprdma_has_data(np, mp))
		mprdma_overdue(np, mp, now);
	/* Use it or lose it: the place was this path's. */
	if (room && !mprdma_has_data(np, mp)) {
		mprdma_shrink(mp, MPRDMA_ONE);
		return;
	}
	if (room && mp->probing) {
		mp->probing = false;
		path = mprdma_random_path(np, mp);
	}
	for (n = 0; n < MPRDMA_PER_ACK && n < room && mprdma_has_data(np, mp); n++)
		if (!mprdma_credit(mp, path))
			break;
}

/* Once a round trip: a path may be tried, and ACKs that are late are lost. */
static void mprdma_round(struct ndp_sock *np, struct mprdma *mp, u64 now)
{
	if (now < mp->round_at)
		return;
	mp->round_at = now + mprdma_rtt(np);
	mp->owed[1] = mp->owed[0];
	mp->owed[0] = 0;
	if (reciprocal_scale(get_random_u32(), 1000) < READ_ONCE(probe))
		mp->probing = true;
}

/* Which packet is answered. */
static void mprdma_note(struct mprdma *mp, const struct ndp_tx_cb *cb)
{
	mp->seq = cb->tx_seq;
	mp->again = cb->rtx || cb->state == NDP_TX_LOST;
	mp->was_lost = cb->lost;
}

static void mprdma_acked(struct ndp_sock *np, const struct ndp_tx_cb *cb, bool cumulative)
{
	struct mprdma *mp = ndp_transport_priv(np);

	if (cumulative)
		mp->owed[0]++;
	else
		mprdma_note(mp, cb);
}

static void mprdma_nacked(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	mprdma_note(ndp_transport_priv(np), cb);
}

/*
 * A NACK, which tells below which number all has arrived.  A packet beyond the receiver's
 * slots has come by a good path; others were trimmed, or found no room.
 */
static void mprdma_refused(struct mprdma *mp, u32 psn, u32 cum)
{
	if (psn - cum < READ_ONCE(slots))
		mprdma_shrink(mp, MPRDMA_ONE);
	else if (psn_before(mp->ooh, psn))
		mp->ooh = psn;
}

/* What was taken for lost was late alone, or was lost: when is the next? */
static void mprdma_learn(struct mprdma *mp, bool late)
{
	if (late)
		mp->lost_at = max(READ_ONCE(delta), READ_ONCE(slots));
	else if (mp->lost_at > READ_ONCE(delta))
		mp->lost_at--;
}

/*
 * What an answer does to the window.
 * Return: it lets packets leave.
 */
static bool mprdma_judge(struct ndp_sock *np, struct mprdma *mp, const struct ndphdr *nh,
			 bool news)
{
	bool used = !mp->credits && !mp->fresh;
	bool ack = ndp_hdr_type(nh) == NDP_ACK;
	bool rtx = nh->flags & NDP_F_RTX;
	u32 psn = ntohl(nh->psn);

	mprdma_react(mp, nh->flags & NDP_F_ECE, ack && used);
	if (ack && news && mp->was_lost)
		mprdma_learn(mp, !rtx);
	/* Of the transmission that was taken for lost: its place in the window is gone. */
	if (news && mp->again && !rtx)
		return false;
	if (news && (s32)(mp->seq - mp->ooh_seq) > 0)
		mp->ooh_seq = mp->seq;
	if (!ack) {
		mprdma_refused(mp, psn, ntohl(nh->pull));
		return true;
	}
	if (!mprdma_is_slow(mp, psn, rtx))
		return true;
	mprdma_shrink(mp, MPRDMA_ONE);
	return false;
}

static void mprdma_answered(struct ndp_sock *np, const struct ndphdr *nh, bool news)
{
	struct mprdma *mp = ndp_transport_priv(np);
	bool ack = ndp_hdr_type(nh) == NDP_ACK;
	u64 now = ktime_get_ns();

	/* A second answer to a packet counts for nothing, but an ACK behind a cumulative number. */
	if (!news && !(ack && psn_before(ntohl(nh->psn), np->snd_una) && mprdma_was_owed(mp)))
		return;
	mp->heard_at = now;
	mp->tries = 0;
	mp->good = ndp_path_index(ndp_path_from_wire(np, nh->echo_path));
	mprdma_round(np, mp, now);
	if (mprdma_judge(np, mp, nh, news)) {
		mprdma_lose(np, mp, mp->ooh_seq - mp->lost_at);
		mprdma_clock(np, mp, mp->good, now);
	}
	mprdma_wait(np, mp, now);
}

/*
 * A packet's timeout: no ACK may be left to send it again by, and all others in flight may be
 * lost as well.
 */
static void mprdma_lost(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	struct mprdma *mp = ndp_transport_priv(np);

	mprdma_shrink(mp, MPRDMA_ONE);
	mprdma_try(mp);
	mprdma_set_timer(np, ktime_get_ns() + mprdma_rtt(np) / 2);
}

/* No answer for half a round trip, or a packet has been out for too long. */
static void mprdma_timer(struct ndp_sock *np)
{
	struct mprdma *mp = ndp_transport_priv(np);
	u64 now = ktime_get_ns();

	if (!mprdma_bursts(np, mp)) {
		while (mprdma_overdue(np, mp, now))
			;
	} else if (now >= mp->heard_at + mprdma_rtt(np) / 2) {
		mp->fresh += mprdma_room(mp, np->flight_pkts);
	}
	mprdma_wait(np, mp, now);
}

static bool mprdma_takes(const struct ndp_sock *np, const struct ndphdr *nh)
{
	return ntohl(nh->psn) - np->rcv_nxt < READ_ONCE(slots);
}

static void mprdma_info(struct ndp_sock *np, struct ndp_info *info)
{
	const struct mprdma *mp = ndp_transport_priv(np);

	info->snd_cwnd = mp->cwnd >> MPRDMA_SHIFT;
	info->snd_credit = mp->credits + mp->fresh;
}

static const struct ndp_transport mprdma_transport = {
	.name		= "mprdma",
	.owner		= THIS_MODULE,
	.id		= NDP_TRANSPORT_ID_MPRDMA,
	.ecn		= true,
	.echo		= true,
	.priv_size	= sizeof(struct mprdma),
	.init		= mprdma_init,
	.may_send	= mprdma_may_send,
	.pick_path	= mprdma_pick_path,
	.sent		= mprdma_sent,
	.acked		= mprdma_acked,
	.nacked		= mprdma_nacked,
	.lost		= mprdma_lost,
	.answered	= mprdma_answered,
	.timer		= mprdma_timer,
	.takes		= mprdma_takes,
	.info		= mprdma_info,
};

module_ndp_transport(mprdma_transport);

MODULE_DESCRIPTION("AF_NDP transport MP-RDMA: a window over many paths");
MODULE_LICENSE("GPL");
MODULE_VERSION(PACKAGE_VERSION);
MODULE_ALIAS("ndp-transport-mprdma");
