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
 * Answers overtake one another.  The newest has the highest cumulative PSN, and of those
 * of one the highest PSN answered; a PULL is newer than what came before it.
 *
 * Non-goals: NDP's own credit (credit.c, grant.c), congestion.
 */
#include "transport.h"

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

	/* A number that was never sent is nobody's. */
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

/**
 * ndp_window_tell - tell the peer how things stand
 * @np:		connection
 * @flags:	&enum ndp_flags
 *
 * Context: softirqs off.
 */
void ndp_window_tell(struct ndp_sock *np, u8 flags)
{
	NDP_INC(sock_net(ndp_to_sk(np)), PULL_OUT);
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
	u32 window;

	if (ndp_to_sk(np)->sk_state == TCP_CLOSE)
		return;
	if (room) {
		if (!np->irs_known || np->rcv_fin)
			return;
		np->window_shut = false;
		window = ndp_tp_window(np);
		if (!window || window < 2ULL * np->rcv_window)
			return;
	}
	ndp_window_tell(np, 0);
}
