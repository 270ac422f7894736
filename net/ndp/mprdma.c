// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP transport "mprdma": a window over many paths.
 *
 * MP-RDMA (Lu et al., "Multi-Path Transport for RDMA in Datacenters", NSDI 2018).  It needs
 * ECMP and ECN marks of the fabric, and nothing else.  A path is an index of the core's list:
 * a UDP source port, the paper's virtual path.  Answers return by the path of that index.
 *
 * One window for all paths (section 3.2).  Each ACK adds 1/cwnd to it, each marked ACK takes
 * off 1/2, and packets that the window then allows leave by the path of that ACK.  So a path
 * carries as many packets as are acknowledged on it without a mark, and no state is kept per
 * path.  A connection begins with an initial window (one bandwidth-delay product) on as many
 * random paths.
 *
 * Slow paths (section 3.3).  An ACK of a packet that lies more than delta below the highest
 * acknowledged came by a slow path: it takes one packet off the window and lets none leave.
 * The receiver accepts packets less than slots (the paper's L) ahead of the lowest missing
 * one, and NACKs those further ahead.
 *
 * Recovery (section 3.5).  Such a NACK shows that a packet is lost, and so does an answer to
 * any packet that left more than delta packets later.  Lost packets are sent again before
 * anything new, one for each answer.  When nothing may leave, for lack of data, slots or
 * window, a packet is also lost that has been in flight for longer than a round trip may take
 * while answers arrived.  When nothing at all arrived for that time, the oldest packet is
 * declared lost and sent again, then the next, by the path of the last answer and by others in
 * turn, until one is answered, at most ten (compare RFC 8985, tail loss probe); packets that
 * left before the answered one are lost then.  The core's timeout covers the rest.  If all
 * packets in flight are lost, at least ten (or the initial window, if less) leave by as many
 * paths, the first by that of the last answer.
 *
 * Synchronised messages (section 3.4), of SOCK_SEQPACKET.  A message to be delivered after all
 * earlier ones (NDP_CMSG_SYNC) should not arrive before these.  The sender holds it back until
 * sync per mille (the paper's alpha) of the time in which delta packets leave, delta / (cwnd /
 * RTT), has passed since the packet before, or until all earlier packets are acknowledged.
 *
 * Also section 3.5: an answer lets at most two packets leave; packets that the window allows
 * beyond that leave by random paths when half a round trip has passed without an answer.  Once
 * a round trip, with a probability of 1 %, a packet tries a random path.  An answer for which
 * there is no data to send takes one packet off the window.  After three round trips without
 * traffic a connection restarts with the initial window.
 *
 * Where the paper is silent, or this implementation differs:
 * - A synchronised message that arrives early waits at the receiver (overtake.c), which has
 *   memory for it.  The paper's receiver has none and refuses the message: a sender that
 *   retransmits upon the NACK does so each round trip until the missing packet arrives, 57,000
 *   times a second in a test.
 * - The smallest window is one packet, the largest what the wire format allows.
 * - The lowest missing PSN advances packet by packet.  If it advanced by whole messages, as in
 *   the paper's receiver, a message of more packets than slots could not be received.
 * - inflate, the paper's count of packets that have arrived out of order, is replaced by the
 *   core's state of each packet.  A packet that was acknowledged cumulatively still occupies
 *   the window until its own ACK arrives, which clocks a path, but for two round trips at most:
 *   ACKs may be lost.
 * - The window does not grow while the host has not sent all that it allows: then the host's own
 *   link or the peer's room is the limit.  For packets that may leave but cannot yet, the paths
 *   are kept.
 * - The paper's sender, which knows little about what has arrived, retransmits after a NACK all
 *   packets that are not acknowledged cumulatively.  This one knows the state of each packet,
 *   and in what order they left, retransmissions included, so it need not wait for a NACK, for
 *   which the receiver would have to run out of slots.  But a packet that is more than delta
 *   behind may only be on a slow path: all packets on that path would be sent again, by other
 *   paths, and no ACK would clock it any more.  A lone flow, whose paths are each much slower
 *   than its own link, would thus lose path after path, until delta packets take longer than a
 *   port's queueing delay.  So when the ACK of a packet declared lost arrives after all, the
 *   loss threshold rises from delta to slots (compare RFC 8985, section 6.2, step 4); each
 *   packet that was really lost lowers it by one.
 * - Without PFC packets are dropped.  A loss takes one packet off the window, the place that
 *   the lost one had in it, as a slow path's ACK does: where no switch marks, losses bound the
 *   window.  A NACK of a packet that was trimmed, or that found no room, does the same.
 * - Random paths are all paths in turn from a random one on: the fabric's hash makes them
 *   random, and a path that was tried in vain is not tried again before the others.  The core's
 *   scores of paths (score.c) are not used: they leave out paths that are worse than most, and
 *   here one good path is looked for among many bad ones.
 *
 * Non-goals: the order in which messages are read (overtake.c); flow control (window.c).
 */
#include <linux/module.h>
#include <linux/random.h>
#include "transport.h"

/* Bits of the window that are a fraction of a packet. */
#define MPRDMA_SHIFT		16
#define MPRDMA_ONE		BIT(MPRDMA_SHIFT)
#define MPRDMA_CWND_MAX		(NDP_MAX_WINDOW << MPRDMA_SHIFT)

/* Packets that one answer lets leave, at most (section 3.5). */
#define MPRDMA_PER_ACK		2

/* Round trips without traffic after which the window is the initial one again (section 3.5). */
#define MPRDMA_IDLE_RTTS	3

/* Packets that leave at once, each by another path, when all in flight were lost. */
#define MPRDMA_RESTART		10

/* Packets sent again one by one, each by another path, before the core's timeout. */
#define MPRDMA_TRIES		10

/* Paths remembered for packets that may leave but could not be sent yet. */
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
 * struct mprdma - state of a connection
 * @cwnd:	window, packets, with MPRDMA_SHIFT bits of fraction
 * @ooh:	highest PSN that is known to have arrived (snd_ooh)
 * @ooh_seq:	the same by the order in which packets have left (tx_seq), retransmissions too
 * @seq:	tx_seq of the packet that is being answered
 * @again:	that packet was sent more than once, or is to be sent again
 * @was_lost:	that packet was declared lost
 * @probing:	the next packet that an ACK lets leave takes a random path, not the ACK's
 * @tries:	packets declared lost because no answer arrived, since the last answer
 * @back:	the last packet that was sent again during silence took path @good
 * @owed:	packets acknowledged cumulatively, in this round trip and in the one before,
 *		whose own ACK has not arrived
 * @fresh:	packets that may leave by random paths
 * @credits:	packets that may leave by the paths of ACKs
 * @first:	index in @path of the oldest of these
 * @next:	path of the packet that is leaving
 * @good:	path by which the last answer arrived
 * @tried:	the random path that was taken last
 * @lost_at:	loss threshold: a packet is lost when one that left more than so many packets
 *		later is answered
 * @round_at:	end of this round trip, ktime_get_ns()
 * @heard_at:	when the last answer arrived, or the connection began, ktime_get_ns()
 * @new_at:	when a new packet left last, if the socket has messages, ktime_get_ns()
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

/* Smoothed RTT; without a sample, a third of the RTO, which begins as three RTTs (peer.c). */
static u64 mprdma_rtt(const struct ndp_sock *np)
{
	return ndp_srtt(np) ?: div_u64(READ_ONCE(np->peer->rto_ns), 3);
}

/*
 * How long a packet may be in flight, by recent round trips: twice srtt + 4 rttvar, as the queues
 * of other paths may be longer.
 */
static u64 mprdma_patience(const struct ndp_sock *np)
{
	return 2 * ndp_peer_rto(np->peer);
}

/* How long no answer may arrive before the oldest packet is declared lost. */
static u64 mprdma_silence(const struct ndp_sock *np)
{
	return max(mprdma_patience(np), div_u64(ndp_rto_base(np), MPRDMA_TRIES));
}

/* The window. */

static void mprdma_shrink(struct mprdma *mp, u32 by)
{
	mp->cwnd = max(mp->cwnd, by + MPRDMA_ONE) - by;
}

/* An answer, marked or not (section 3.2).  @used: it is an ACK, and all that may leave has left. */
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

/* Packets that the window has room for beyond mprdma_taken() (awnd). */
static u32 mprdma_room(const struct mprdma *mp, u32 flight)
{
	u32 cwnd = mp->cwnd >> MPRDMA_SHIFT;
	u32 taken = mprdma_taken(mp, flight);

	return cwnd > taken ? cwnd - taken : 0;
}

/*
 * A packet's own ACK arrives after the packet was acknowledged cumulatively.
 * Return: that ACK still counts as an answer.
 */
static bool mprdma_was_owed(struct mprdma *mp)
{
	int i = mp->owed[1] ? 1 : 0;

	if (!mp->owed[i])
		return false;
	mp->owed[i]--;
	return true;
}

/* Let a packet leave by a path.  Return: there was room to remember that path. */
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

/* Does an ACK show a slow path (section 3.3.2)?  That of a retransmission never does. */
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

/* Has the receiver no slot yet for the lowest packet that it has refused? */
static bool mprdma_is_blocked(const struct ndp_sock *np)
{
	const struct sk_buff *skb = ndp_rtx_first(np);

	return skb && ndp_tx_cb(skb)->psn - np->snd_una >= READ_ONCE(slots);
}

/* Are there more packets to be sent than may leave already? */
static bool mprdma_has_data(const struct ndp_sock *np, const struct mprdma *mp)
{
	return skb_queue_len(&np->sendq) + np->rtx_pkts > mp->credits + mp->fresh;
}

/* Is there a packet to send?  While the lowest refused one has no slot, only a lost one will do. */
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
 * Nothing is in flight, so no ACK will arrive: what the window allows may leave by random paths.
 * After a pause the window is the initial one again.  If not all is acknowledged, all packets
 * that were in flight are lost, or refused: the first now takes the path of the last answer, and
 * if that was long ago the window has room to try other paths.
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

/* Is the next packet the beginning of a synchronised message? */
static bool mprdma_next_is_sync(const struct ndp_sock *np)
{
	const struct sk_buff *skb = skb_peek(&np->sendq);

	return skb && unlikely(ndp_tx_cb(skb)->flags & NDP_F_SYNC);
}

/* When a synchronised message may leave while earlier packets are in flight (section 3.4). */
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
		/* The receiver has slots for the refused packets before any for new ones. */
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
 * The path of a packet that leaves without an ACK.  A lost packet takes the path of the last
 * answer.  If that answer was long ago, it does so only every other time: either this path has
 * failed, or its answers are lost, and most other paths may be worse.
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
	/* On the path where it was lost the packet could be lost again. */
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

/* Declare the oldest packet in flight lost, if it left before @seq. */
static bool mprdma_lose(struct ndp_sock *np, struct mprdma *mp, u32 seq)
{
	if (!ndp_tx_lose(np, seq))
		return false;
	mprdma_shrink(mp, MPRDMA_ONE);
	return true;
}

/*
 * When the oldest packet in flight is declared lost: when it has been in flight for
 * mprdma_patience() while answers arrived, or when nothing has left or arrived for
 * mprdma_silence().  The latter rule ends with the first timeout or after MPRDMA_TRIES packets
 * (U64_MAX): each packet that leaves restarts the core's timeout, which would never expire.
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

/* Let a packet be sent again without an answer; the number in flight does not grow. */
static void mprdma_try(struct mprdma *mp)
{
	if (!mp->credits && !mp->fresh)
		mp->fresh = 1;
}

/*
 * Declare the oldest packet in flight lost if it is overdue.
 * Return: it was, and the next may be too.  During silence one packet at a time is enough.
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

/* May a packet leave when half a round trip has passed without an answer? */
static bool mprdma_bursts(const struct ndp_sock *np, const struct mprdma *mp)
{
	return mprdma_could_send(np, mp) && mprdma_room(mp, np->flight_pkts);
}

/* Set the timer to look again, in case no answer arrives before. */
static void mprdma_wait(struct ndp_sock *np, const struct mprdma *mp, u64 now)
{
	u64 at = mprdma_bursts(np, mp) ? now + mprdma_rtt(np) / 2 : mprdma_overdue_at(np, mp);

	if (at == U64_MAX)
		return;
	/* An overdue packet that is still in the local qdisc is not lost: look again later. */
	mprdma_set_timer(np, at > now ? at : now + mprdma_silence(np));
}

/* An answer lets packets leave by its path. */
static void mprdma_clock(struct ndp_sock *np, struct mprdma *mp, u16 path, u64 now)
{
	u32 room = mprdma_room(mp, np->flight_pkts);
	int n;

	if (!mprdma_has_data(np, mp))
		mprdma_overdue(np, mp, now);
	/* Use it or lose it: this path gives up its place in the window. */
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

/* Once a round trip: perhaps try a path, and take late ACKs as lost. */
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

/* Note which packet is being answered. */
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
 * A NACK; @cum is the PSN below which all packets have arrived.  A packet beyond the receiver's
 * slots has arrived by a good path; others were trimmed, or found no room.
 */
static void mprdma_refused(struct mprdma *mp, u32 psn, u32 cum)
{
	if (psn - cum < READ_ONCE(slots))
		mprdma_shrink(mp, MPRDMA_ONE);
	else if (psn_before(mp->ooh, psn))
		mp->ooh = psn;
}

/* Adapt the loss threshold: a packet declared lost was only late, or was lost indeed. */
static void mprdma_learn(struct mprdma *mp, bool late)
{
	if (late)
		mp->lost_at = max(READ_ONCE(delta), READ_ONCE(slots));
	else if (mp->lost_at > READ_ONCE(delta))
		mp->lost_at--;
}

/*
 * Adjust the window by an answer.
 * Return: the answer lets packets leave.
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
	/* The answered transmission was declared lost: its place in the window is gone. */
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

	/* Ignore a second answer to a packet, except an ACK after a cumulative one. */
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
 * A packet has timed out: perhaps no ACK is left that would let it be sent again, and all others
 * in flight may be lost as well.
 */
static void mprdma_lost(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	struct mprdma *mp = ndp_transport_priv(np);

	mprdma_shrink(mp, MPRDMA_ONE);
	mprdma_try(mp);
	mprdma_set_timer(np, ktime_get_ns() + mprdma_rtt(np) / 2);
}

/* No answer for half a round trip, or a packet has been in flight for too long. */
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
