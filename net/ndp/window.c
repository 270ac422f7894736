// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP windows: flow control for transports that do not ask for each packet.
 *
 * Each answer, and each PULL, tells the room there is, in packets of the largest size seen,
 * and the PSN below which all have arrived.  A sender never has more packets in flight
 * than that, but for one where anything is allowed; what was sent before and is lost, and
 * a FIN, are not held back.  Once something was refused for want of room, of whatever
 * kind, there is none until the reader takes something, a packet is taken in order, or
 * the peer asks.  So what was refused comes back no faster than room appears.
 *
 * A reader that makes room says so (PULL) when there is twice the room that the peer
 * knows of, as TCP does.  Should that PULL be lost, or an older answer overtake it, the
 * peer asks (PROBE).
 *
 * Where not each packet is answered (@asks) the room that was told is a promise up to a PSN, and
 * what is sent beyond the newest number acknowledged uses it up, whatever else was heard of it.
 * It grows in steps of a quarter of the buffer, so that a slow reader and its peer do not talk
 * about each packet: by PULL when the reader has made such a step, and when it has read all and
 * the promise is used up.  Answers tell a smaller gain only to a peer whose reader has nothing to
 * read, or that asks.  Nobody who was not accepted yet is told of more than one packet: all
 * that open at once share the listener's bound.
 *
 * Answers overtake one another.  The newest has the highest cumulative PSN, and of those
 * of one the highest PSN answered; a PULL is newer than what came before it.
 *
 * Non-goals: NDP's own credit (credit.c, grant.c), congestion.
 */
#include "transport.h"

/* Does what the peer has promised reach to that packet?  The lowest one has a slot of its own. */
static bool ndp_window_reaches(const struct ndp_sock *np, u32 psn, u32 len)
{
	s32 ahead = psn - np->window_cum;

	return ahead <= 0 ? np->snd_window : (u64)ahead * np->mss + len <= np->snd_window;
}

/**
 * ndp_window_allows - is there room at the peer for a packet?
 * @np:		connection
 * @what:	packet
 * @len:	its payload
 *
 * Context of this and those below: np->lock held.
 */
bool ndp_window_allows(const struct ndp_sock *np, enum ndp_send what, u32 len)
{
	if (what != NDP_SEND_NEW && what != NDP_SEND_NACKED)
		return true;
	if (np->tp->asks)
		return ndp_window_reaches(np, what == NDP_SEND_NEW ? np->snd_nxt :
					  ndp_tx_cb(ndp_rtx_first(np))->psn, len);
	if (!np->flight_pkts)
		return np->snd_window;
	/* The peer's slots are of that size, however small the packets in them. */
	return (u64)np->flight_pkts * np->mss + len <= np->snd_window;
}

/**
 * ndp_window_granted - an answer tells of the peer's room
 * @np:		connection
 * @nh:		its header
 */
void ndp_window_granted(struct ndp_sock *np, const struct ndphdr *nh)
{
	u32 cum = ntohl(nh->pull);
	s32 newer = cum - np->window_cum;

	/* Ignore a cumulative PSN beyond what was sent. */
	if (psn_before(np->snd_nxt, cum))
		return;
	if (newer > 0) {
		np->window_cum = cum;
		np->probe_at = 0;
	} else if (!newer && ndp_hdr_type(nh) == NDP_PULL) {
		newer = 1;
	}
	ndp_rcv_window(np, nh, newer);
}

/**
 * ndp_window_arrived - DATA or FIN has arrived
 * @np:		connection
 * @nh:		its header
 * @how:	and how
 */
void ndp_window_arrived(struct ndp_sock *np, const struct ndphdr *nh,
			enum ndp_arrival how)
{
	if (how == NDP_ARRIVED_REFUSED)
		np->window_shut = true;
	else if (how == NDP_ARRIVED_WHOLE && ntohl(nh->psn) == np->rcv_nxt)
		np->window_shut = false;
}

/* What the peer knows of and has not used. */
static u32 ndp_window_left(const struct ndp_sock *np)
{
	u64 used = (u64)(np->rcv_nxt - np->told_cum) * np->rcv_mss;

	return used < np->rcv_window ? np->rcv_window - used : 0;
}

/* By how much more it is told of at least. */
static u32 ndp_window_step(const struct ndp_sock *np)
{
	u32 packets = (u32)READ_ONCE(np->inet.sk.sk_rcvbuf) / np->rcv_truesize;

	return max(packets / 4, 1U) * np->rcv_mss;
}

/**
 * ndp_window_promise - room to advertise, where not each packet is answered
 * @np:		connection
 *
 * Return: bytes.
 */
u32 ndp_window_promise(struct ndp_sock *np)
{
	u32 left = ndp_window_left(np), window = ndp_window(np);

	if (np->listener)
		window = min(window, np->rcv_mss);
	if (window > left && window - left < ndp_window_step(np) && ndp_readable(np))
		return left;
	return window;
}

/**
 * ndp_window_forget - the peer asks: it is told all there is, as if it knew of nothing
 * @np:		connection
 */
void ndp_window_forget(struct ndp_sock *np)
{
	np->told_cum = np->rcv_nxt;
	np->rcv_window = ndp_window(np);
}

/* The reader has taken something: is it worth telling? */
static bool ndp_window_is_news(struct ndp_sock *np)
{
	u32 left, window = ndp_tp_window(np);

	if (!np->tp->asks)
		return window && window >= 2ULL * np->rcv_window;
	left = ndp_window_left(np);
	return window > left && (window - left >= ndp_window_step(np) || left < np->rcv_mss);
}

/**
 * ndp_window_tell - tell the peer how things stand
 * @np:		connection
 * @flags:	&enum ndp_flags
 *
 * Context: softirqs off.
 */
void ndp_window_tell(struct ndp_sock *np, u8 flags)
{
	/* Before the peer's first packet no number is known of which this could tell. */
	if (!np->irs_known)
		return;
	NDP_CONN_INC(np, PULL_OUT);
	ndp_send_control(np, NDP_PULL, flags, np->rcv_nxt, 0, 0);
}

/**
 * ndp_window_more - there may be room that was not there before
 * @np:		connection
 * @room:	else there is none, but the peer is to hear how things stand
 *
 * Context: softirqs off.
 */
void ndp_window_more(struct ndp_sock *np, bool room)
{
	if (ndp_to_sk(np)->sk_state == TCP_CLOSE)
		return;
	if (room) {
		if (!np->irs_known || np->rcv_fin)
			return;
		np->window_shut = false;
		if (!ndp_window_is_news(np))
			return;
	}
	ndp_window_tell(np, 0);
}
