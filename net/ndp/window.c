// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP windows: flow control for transports that do not ask for each packet.
 *
 * Each answer, and each PULL, advertises the room that there is, in packets of the largest size
 * seen, and the PSN below which all packets have arrived.  A sender never has more packets in
 * flight than that, except that any room at all allows one; retransmissions of lost packets, and
 * a FIN, are not held back.  Once a packet was refused for want of room, of whatever kind, no
 * room is advertised until the reader reads something, a packet is accepted in order, or the peer
 * asks.  So refused packets are resent no faster than room appears.
 *
 * When a reader has made twice the room that the peer knows of, a PULL advertises it, as in TCP.
 * Should that PULL be lost, or an older answer overtake it, the peer asks (PROBE).
 *
 * Where not each packet is answered (@asks), the advertised room is a promise up to a PSN, and
 * packets sent beyond the newest cumulative PSN use it up, even if they were acknowledged.  The
 * promise grows in steps of a quarter of the buffer, so that a slow reader does not cause a PULL
 * per packet: a PULL is sent when the reader has freed such a step, and when it has read all and
 * the promise is used up.  Answers advertise a smaller gain only if the reader has nothing to
 * read, or if the peer asks.  A connection that was not accepted yet advertises no more than one
 * packet: all such connections share the listener's limit.
 *
 * Answers can overtake one another.  The newest has the highest cumulative PSN, and among those
 * with the same one the highest PSN answered; a PULL counts as newer than answers with the same
 * cumulative PSN.
 *
 * Non-goals: NDP's own credit (credit.c, grant.c), congestion.
 */
#include "transport.h"

/* Does the peer's promise reach up to packet @psn?  The lowest one has a slot of its own. */
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
	/* The peer counts its room in packets of that size, however small ours are. */
	return (u64)np->flight_pkts * np->mss + len <= np->snd_window;
}

/**
 * ndp_window_granted - take the peer's room from an answer
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
 * @how:	how it arrived
 */
void ndp_window_arrived(struct ndp_sock *np, const struct ndphdr *nh,
			enum ndp_arrival how)
{
	if (how == NDP_ARRIVED_REFUSED)
		np->window_shut = true;
	else if (how == NDP_ARRIVED_WHOLE && ntohl(nh->psn) == np->rcv_nxt)
		np->window_shut = false;
}

/* Advertised room that the peer has not used up, bytes. */
static u32 ndp_window_left(const struct ndp_sock *np)
{
	u64 used = (u64)(np->rcv_nxt - np->told_cum) * np->rcv_mss;

	return used < np->rcv_window ? np->rcv_window - used : 0;
}

/* The least gain of room that is advertised, bytes. */
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
 * ndp_window_forget - the peer asks: all room is advertised, as if it knew of none
 * @np:		connection
 */
void ndp_window_forget(struct ndp_sock *np)
{
	np->told_cum = np->rcv_nxt;
	np->rcv_window = ndp_window(np);
}

/* The reader has made room: is it worth advertising? */
static bool ndp_window_is_news(struct ndp_sock *np)
{
	u32 left, window = ndp_tp_window(np);

	if (!np->tp->asks)
		return window && window >= 2ULL * np->rcv_window;
	left = ndp_window_left(np);
	return window > left && (window - left >= ndp_window_step(np) || left < np->rcv_mss);
}

/**
 * ndp_window_tell - send the peer a PULL that advertises the room
 * @np:		connection
 * @flags:	&enum ndp_flags
 *
 * Context: softirqs off.
 */
void ndp_window_tell(struct ndp_sock *np, u8 flags)
{
	/*
	 * Before the peer's first packet there is no cumulative PSN to report: 0 might
	 * acknowledge packets that never arrived.
	 */
	if (!np->irs_known)
		return;
	NDP_CONN_INC(np, PULL_OUT);
	ndp_send_control(np, NDP_PULL, flags, np->rcv_nxt, 0, 0);
}

/**
 * ndp_window_more - advertise the room, if it has grown enough or the peer is to be informed
 * @np:		connection
 * @room:	there may be more room; else there is none, but the peer is to be informed
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
