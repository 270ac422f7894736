// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP pull transport, the receiver: pulls that arrivals earn (NDP paper, section 3.2).
 *
 * An arriving packet, trimmed or whole, earns its sender one pull, except for a duplicate
 * and, after LAST, a whole packet of the first window.  Pulls are granted by turns (pull.c),
 * and announced by the next answer or by a PULL.
 *
 * LAST on the highest PSN seen so far ends pulling for new data: from then on no more
 * pulls are owed than there are missing packets that were not pulled yet.
 *
 * A packet that finds no room is refused: it is answered as if it had been trimmed, and
 * from then on nothing is pulled until the reader takes data or the peer asks (PROBE, whose
 * interval doubles).  Only the lowest missing packet, if it arrived trimmed, is pulled even
 * so, because it has a slot of its own.  A refused packet hence comes back no faster than
 * room can appear, except for one packet for each pull granted before the refusal: an
 * initial window at most.  A FIN in order takes no room, and is never refused.  A packet
 * that arrives trimmed or damaged each time is pulled once per round trip.
 *
 * Non-goals: whose turn it is (pull.c).
 */
#include "credit.h"

static bool ndp_was_pushed(const struct ndphdr *nh)
{
	return nh->flags & NDP_F_SYN && !(nh->flags & NDP_F_RTX);
}

/*
 * Note the sizes of the packets that future pulls will elicit.  A packet that carries an ACK
 * does not announce its sender's backlog.  A sender whose next packet is longer than the backlog
 * it had announced is no longer trusted: its application wrote more, or it cheats on pull costs.
 */
static void ndp_note_sizes(struct ndp_sock *np, const struct ndphdr *nh,
			   enum ndp_arrival how)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	/* No more trimmed packets than this can await a pull, whatever the peer sends. */
	if (how != NDP_ARRIVED_WHOLE && ps->trimmed < NDP_MAX_WINDOW) {
		ps->trimmed++;
		ps->trimmed_bytes += min_t(u32, ntohs(nh->len), np->rcv_mss);
	}
	if (!psn_before(np->rcv_max, ntohl(nh->psn)))
		return;
	ps->disbelieved |= ps->said && ntohs(nh->len) > ps->said;
	ps->said = nh->flags & NDP_F_CUM || ps->disbelieved ? 0 : ntohl(nh->window);
	ps->behind = ps->said;
	ps->mean16 += ps->mean16 ? ntohs(nh->len) - (ps->mean16 >> 4) : ntohs(nh->len) << 4;
}

/* DATA or FIN has arrived.  A pulled packet's arrival releases the room promised to it. */
static void ndp_pull_arrived(struct ndp_sock *np, const struct ndphdr *nh,
			     const struct net_device *dev, enum ndp_arrival how)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	bool pushed = ndp_was_pushed(nh);

	ndp_pull_device(np, dev);
	if (how != NDP_ARRIVED_AGAIN) {
		ps->low_nxt = np->rcv_nxt;
		ndp_note_sizes(np, nh, how);
		if (how == NDP_ARRIVED_REFUSED)
			ps->refused = true;
		else if (how == NDP_ARRIVED_TRIMMED &&
			 ntohl(nh->psn) == np->rcv_nxt)
			ps->low_waits = true;
		if (how != NDP_ARRIVED_WHOLE)
			ndp_pull_header(np, dev);
		ndp_pull_feedback(np, pushed, how != NDP_ARRIVED_WHOLE);
	}
	if (!pushed && np->promised)
		np->promised--;
}

/*
 * A packet has arrived and was noted.  After LAST a whole packet of the first
 * window earns nothing: the missing packets are under way as before.
 */
static void ndp_earn_pull(struct ndp_sock *np, bool pushed, bool trimmed)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	u32 missing = ndp_missing(np);
	u32 most = NDP_MAX_WINDOW;

	if (np->rcv_last)
		most = missing - min(np->promised, missing);
	ps->owed += trimmed || !pushed || !np->rcv_last;
	ps->owed = min(ps->owed, most);
	ndp_pull_request(np);
}

/* DATA or FIN was queued, trimmed or refused, and is going to be answered. */
static void ndp_pull_answer(struct ndp_sock *np, const struct ndphdr *nh,
			    enum ndp_arrival how)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	/* The packet at rcv_nxt may have arrived trimmed before it was the lowest missing one. */
	if (np->rcv_nxt != ps->low_nxt)
		ps->low_waits = !psn_before(np->rcv_max, np->rcv_nxt);
	/* All data has arrived and LAST was set, so no pulled packet is outstanding. */
	if (np->rcv_last && !ndp_has_gap(np)) {
		np->promised = 0;
		ps->trimmed = 0;
		ps->trimmed_bytes = 0;
		ndp_pull_forget_turns(np);
		if (ndp_was_pushed(nh) && how == NDP_ARRIVED_WHOLE)
			ndp_pull_message(np, ntohs(nh->len));
	}
	ndp_earn_pull(np, ndp_was_pushed(nh), how != NDP_ARRIVED_WHOLE);
}

/*
 * An answer carries the pull counter.  If the peer will take it for the newest answer, its
 * window is the one that the peer knows.
 */
static void ndp_pull_stamp(struct ndp_sock *np, struct ndphdr *nh)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	u32 psn = ntohl(nh->psn);

	if (ps->told != ps->sent || !ps->told_any ||
	    !psn_before(psn, ps->told_psn))
		ps->told_psn = psn;
	/* Before the peer's first PSN is known the answer has no valid PSN. */
	ps->told_any = np->irs_known;
	ps->told = ps->sent;
	nh->pull = htonl(ps->sent);
	if (psn == ps->told_psn)
		np->rcv_window = ntohl(nh->window);
}

/*
 * The peer has data and no credit: send it the pull counter and the window.  It has
 * waited for longer than a round trip, so no pulled packet is still to arrive: the peer
 * has discarded the pulls that reached it while it had nothing to send.
 */
static void ndp_pull_probed(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	np->promised = 0;
	ps->refused = false;
	ps->filled = false;
	/* Without room, owe the sender a pull for when there is some; with a gap, in any case. */
	if (!ps->owed &&
	    (!ndp_room(np) || (np->irs_known && ndp_has_gap(np))))
		ps->owed = 1;
	ndp_pull_request(np);
	ndp_send_pull(np);
}

static void ndp_pull_begin(struct ndp_sock *np, u32 start)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	INIT_LIST_HEAD(&ps->node);
	ps->ack_share = 128;
	ps->sent = start;
	ps->told = start;
	ps->rcvd = start;
}

static void ndp_pull_end(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	ps->credit = 0;
	ndp_pull_detach(np);
}

static void ndp_pull_info(struct ndp_sock *np, struct ndp_info *info)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	info->snd_credit = ps->credit;
	info->pull_pending = ps->owed;
	info->pull_rate_bps = ndp_pull_rate(np);
}

const struct ndp_transport ndp_pull_transport = {
	.name		= "ndp",
	.id		= NDP_TRANSPORT_ID_NDP,
	.credit		= true,
	.priv_size	= sizeof(struct ndp_pull_state),
	.init		= ndp_pull_begin,
	.detach		= ndp_pull_end,
	.may_send	= ndp_pull_may_send,
	.sent		= ndp_pull_sent,
	.stalled	= ndp_pull_stalled,
	.idle		= ndp_pull_idle,
	.granted	= ndp_pull_granted,
	.acked		= ndp_pull_acked,
	.nacked		= ndp_pull_nacked,
	.returned	= ndp_pull_returned,
	.overtaken	= ndp_pull_overtaken,
	.pulled		= ndp_pull_pulled,
	.probed		= ndp_pull_probed,
	.header		= ndp_pull_header,
	.arrived	= ndp_pull_arrived,
	.answer		= ndp_pull_answer,
	.stamp		= ndp_pull_stamp,
	.more		= ndp_pull_more,
	.reorder	= ndp_pull_reorder,
	.info		= ndp_pull_info,
};
