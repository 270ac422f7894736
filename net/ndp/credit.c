// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP pull transport, the sender: credit (NDP paper, section 3.2; our own
 * rules where the paper is silent).
 *
 * - The first window is pushed; after it new data leaves only for pulls.
 *   A pull releases packets that wait for retransmission first, then new data.
 * - The packet that empties the send queue carries LAST: the receiver stops
 *   pulling, and what the application writes later is pushed again.
 * - Pushed data stays within one initial window and the peer's receive window.
 *   It is the sum of the bytes in flight up to the last LAST, which answers
 *   release, and of all bytes pushed since, answered or not, because pulls
 *   replace those and no packet may be replaced twice.
 * - New data never brings the bytes in flight above one initial window.
 * - A packet known to be lost is sent again without a pull, on another path.
 *
 * Non-goals: congestion control; the fabric needs none (section 3.2,
 * "Congestion Control").
 */
#include "credit.h"
#include "trace.h"

/* Share of ACKs among answers and losses, of 256, above which losses count as rare: 7/8. */
#define NDP_SHARE_WELL		224

/* ACKs in a row after which losses are assumed to be over. */
#define NDP_CALM		8

static u32 ndp_iw_bytes(const struct ndp_sock *np)
{
	return np->iw * np->mss;
}

/* May @len more bytes be in flight?  One packet always may. */
static bool ndp_may_fly(const struct ndp_sock *np, u32 len)
{
	return !np->flight_bytes || np->flight_bytes + len <= ndp_iw_bytes(np);
}

static bool ndp_may_push(const struct ndp_sock *np, u32 len)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	u32 window = min(ndp_iw_bytes(np), np->snd_window);
	u32 used = np->flight_upto_last + ps->pushed;

	/* If nothing is in use, any advertised room is enough for one packet. */
	return (used + len <= window || (!used && window)) && ndp_may_fly(np, len);
}

static bool ndp_may_pull(const struct ndp_sock *np, u32 len)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	return ps->credit && ndp_may_fly(np, len);
}

/**
 * ndp_pull_may_send - may a packet leave now?
 * @np:		connection
 * @what:	kind of packet
 * @len:	payload of a new packet, bytes
 *
 * Return: yes.
 */
bool ndp_pull_may_send(const struct ndp_sock *np, enum ndp_send what, u32 len)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	switch (what) {
	case NDP_SEND_NACKED:
		return ps->credit;
	case NDP_SEND_NEW:
		return ndp_may_pull(np, len) || ndp_may_push(np, len);
	default:
		return true;
	}
}

/**
 * ndp_pull_sent - charge a packet that is being sent
 * @np:		connection
 * @cb:		packet
 * @what:	kind of packet
 * @len:	its payload, bytes
 */
void ndp_pull_sent(struct ndp_sock *np, struct ndp_tx_cb *cb,
		   enum ndp_send what, u32 len)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	if (what == NDP_SEND_LOST)
		return;
	if (what == NDP_SEND_NACKED ||
	    (what == NDP_SEND_NEW && ndp_may_pull(np, len))) {
		ps->credit--;
		cb->pulled = 1;
	} else {
		ps->pushed += len;
	}
	if (what == NDP_SEND_NACKED || !(cb->flags & NDP_F_LAST))
		return;
	/* Data written later is pushed; only packets that wait to be sent again are pulled. */
	ps->pushed = 0;
	ps->forgone = 0;
	ps->expect_pulls = min_t(s32, ps->expect_pulls, np->rtx_pkts);
}

/**
 * ndp_pull_stalled - keep the clock going (section 3.2.4)
 * @np:		connection
 *
 * Trimmed or returned packets wait, but no pull is expected for them and nothing is in
 * flight that could earn one.
 *
 * Return: true if one of them was released without a pull.
 */
bool ndp_pull_stalled(struct ndp_sock *np)
{
	if (np->flight_pkts || ndp_pull(np)->expect_pulls > 0)
		return false;
	ndp_tx_lost(np, ndp_rtx_first(np));
	return true;
}

/**
 * ndp_pull_idle - all data was sent and answered
 * @np:		connection
 *
 * The receiver knows by LAST that nothing more follows: leftover credit is void.
 */
void ndp_pull_idle(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	ps->credit = 0;
	ps->expect_pulls = 0;
}

/**
 * ndp_pull_granted - take credit by the pull counter of an answer
 * @np:		connection
 * @nh:		its header
 */
void ndp_pull_granted(struct ndp_sock *np, const struct ndphdr *nh)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	u32 pull = ntohl(nh->pull);
	u32 advance = pull - ps->rcvd;
	/*
	 * One answer may grant as many pulls as packets have earned: if these are small, more
	 * of them than an initial window can be in flight.
	 */
	u32 earned = np->flight_pkts + max(ps->expect_pulls, 0);
	u32 keep = max3(np->iw, np->rtx_pkts, earned);

	/* Answers overtake one another: the newest has the highest pull counter. */
	if ((s32)advance <= NDP_MAX_WINDOW)
		ndp_rcv_window(np, nh, advance);
	if ((s32)advance <= 0)
		return;
	/* A peer cannot have granted more pulls than packets fit into the largest window. */
	if (advance > NDP_MAX_WINDOW) {
		NDP_CONN_INC(np, DROP_PULL);
		return;
	}
	ps->rcvd = pull;
	np->counters.pulls_in += advance;
	NDP_CONN_ADD(np, PULLED_IN, advance);
	trace_ndp_pulled(np, advance, pull);
	ps->credit = min(ps->credit + advance, keep);
	ps->expect_pulls = max_t(s32, ps->expect_pulls - (s32)advance,
				 -(s32)keep);
	np->probe_at = 0;
}

/* Lost pushed packets have used up pulls: as many more packets may be pushed. */
static void ndp_pull_regain(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	if (ps->calm < NDP_CALM) {
		ps->calm++;
		return;
	}
	if (!ps->forgone || ps->ack_share <= NDP_SHARE_WELL)
		return;
	ps->forgone--;
	ps->pushed -= min(ps->pushed, np->mss);
}

/**
 * ndp_pull_acked - a packet was acknowledged
 * @np:		connection
 * @cb:		packet
 * @cumulative:	by a cumulative PSN, not by an answer of its own
 */
void ndp_pull_acked(struct ndp_sock *np, const struct ndp_tx_cb *cb,
		    bool cumulative)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	if (!cumulative)
		ps->ack_share += (256 - ps->ack_share) / 16;
	ndp_pull_regain(np);
	if (cb->rtx || psn_before(np->snd_last, cb->psn))
		ps->expect_pulls++;
	/* After LAST the receiver pulls only missing packets; this one is not missing. */
	if (np->snd_last == np->snd_nxt - 1)
		ps->expect_pulls = min_t(s32, ps->expect_pulls,
					 np->rtx_pkts + np->flight_pkts - 1);
}

/**
 * ndp_pull_nacked - a packet arrived without its payload
 * @np:		connection
 * @cb:		packet
 */
void ndp_pull_nacked(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	ps->ack_share -= ps->ack_share / 16;
	ps->calm = 0;
	ps->expect_pulls++;
}

/**
 * ndp_pull_returned - a header was returned because a header queue was full
 * @np:		connection
 * @cb:		packet
 *
 * Section 3.2.4.  The packet is sent again if most packets are getting through, so that
 * one path is at fault; or if it was pulled, because the receiver counts on its arrival; or
 * if it is a FIN, of which the receiver does not know.  Otherwise it waits for a pull; if
 * no pull is to be expected, as when all outstanding headers were returned,
 * ndp_pull_stalled() sends it.
 *
 * Return: send it again.
 */
bool ndp_pull_returned(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	return ps->ack_share > 128 || cb->pulled || cb->fin;
}

/**
 * ndp_pull_overtaken - the order of answers shows that a packet was lost
 * @np:		connection
 * @cb:		packet
 *
 * A pulled packet is sent again at once, since the receiver counts on its arrival and has
 * promised it room; so is a FIN, and a pushed packet while most get through.  When few get
 * through, a queue somewhere is full and does not trim: pushed packets that were lost there wait
 * for pulls, before new data, so that no more packets are sent than arrive.  A pull that is spent
 * on one of them is lost to new data: once most packets get through again, as many more are
 * pushed, or a burst of losses would leave a long transfer with few packets in flight to its end.
 *
 * Return: send it again.
 */
bool ndp_pull_overtaken(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	ps->ack_share -= ps->ack_share / 16;
	ps->calm = 0;
	if (ps->ack_share > NDP_SHARE_WELL || cb->pulled || cb->fin)
		return true;
	ps->forgone = min_t(u32, ps->forgone + 1, min_t(u32, np->iw, U8_MAX));
	return false;
}

/*
 * The peer owes us no credit, and all that we sent was answered: start over as after an
 * idle period, within the peer's window.  That is taken from this PULL even if its PSN,
 * below a gap, is lower than that of the newest answer.
 */
static void ndp_restart(struct ndp_sock *np, const struct ndphdr *nh)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	if (np->flight_pkts)
		return;
	np->snd_window = ntohl(nh->window);
	np->snd_last = np->snd_nxt - 1;
	np->flight_upto_last = 0;
	ps->pushed = 0;
	ps->forgone = 0;
	ps->expect_pulls = 0;
	ndp_tx_all_lost(np, &np->rtx, false);
}

/**
 * ndp_pull_pulled - a PULL has arrived, and the packets below its PSN were acknowledged
 * @np:		connection
 * @nh:		its header
 */
void ndp_pull_pulled(struct ndp_sock *np, const struct ndphdr *nh)
{
	if (nh->flags & NDP_F_LAST && nh->window && !ndp_pull(np)->credit)
		ndp_restart(np, nh);
}
