// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP transport "light": flow control by the receiver's room, and nothing else.
 *
 * TCPlight (D. Crisan, "Optimized networking for virtual machines ...", ETH Zurich 2014, section
 * 5.3.2), for guests and hosts on a fabric that drops nothing for lack of buffer space: zswitch
 * and zvnic, sch_cee, ports with PFC.  The fabric is reliable and throttles senders; what is left
 * to a transport is connections, ports, segments, and the receive buffer of each socket.  Packets
 * are not acknowledged one by one, none is retransmitted while the fabric is indeed lossless, and
 * there is no congestion window.
 *
 * Flow control.  The thesis cancels the softirq while the destination socket has no room, so that
 * the vNIC's credit is not returned.  That blocks all flows that share the vNIC's queue with a
 * stalled process (the thesis calls for a garbage collector).  Here a receiver promises room per
 * socket (window.c): up to a PSN, in steps of a quarter of its buffer, as its reader makes room.
 * So a stalled process holds back its own peer and nobody else, and packets that were sent find
 * room: the softirq never waits, and the vNIC's credit is returned at once.  A connection begins
 * with one packet, or as many as NDP_IW sets; the first promise arrives when it is accepted.
 *
 * Requests for answers.  A sender keeps each packet until it is known to have arrived, and its
 * send buffer is finite.  It therefore asks for an answer (by a packet without NDP_F_LATER) with
 * the first packet, when half of the largest promise or a quarter of the send buffer was sent
 * since the last request or answer, and when the promise is used up.  The last packet that was
 * written is always acknowledged; the packet with which the peer's application responds carries
 * that ACK if it leaves in time (ack.c).
 *
 * Losses that happen all the same (bit errors, link failure, misconfiguration).  The receiver
 * answers packets beyond a gap, so packets that left before these are found lost by order
 * (order.c).  When nothing was heard for 10 ms the sender asks (PROBE), and a packet that the peer
 * does not have 200 ms after it was sent, or after the last acknowledgment if that is later, is
 * sent again by another path.  Losses are counted: LostByOrder, Timeouts, DataRtx.  The peer takes
 * each packet once, in order, and checks its CRC.  A peer that is silent for 30 s ends the
 * connection (ETIMEDOUT), as with all transports.
 *
 * Refused packets.  A promise is kept except when memory is short (net.ndp.mem_max_kb), the buffer
 * was made smaller, skbs have a larger truesize than those before them, or the sender's packets
 * are smaller than the receiver's own MTU allows (a promise is in bytes, and two small skbs have
 * more truesize than a large one): then the packet is NACKed, and sent again when there is room
 * (NoRoomIn).
 *
 * Networks on which it may be used: lossless.c.  Each connection uses one path, so that packets
 * stay in order; connections are spread over paths at random.
 *
 * Non-goals: congestion control, which the fabric does (zCredit, PFC); several paths; messages
 * that overtake one another, since packets do not.
 */
#include <linux/module.h>
#include <linux/random.h>
#include "transport.h"

/**
 * struct light - state of a connection
 * @most:	largest promise of the peer, bytes
 * @asked:	PSN after that of the last packet that asked for an answer
 * @path:	index of the path in use
 */
struct light {
	u32	most;
	u32	asked;
	u16	path;
};

static void light_init(struct ndp_sock *np, u32 start)
{
	struct light *light = ndp_transport_priv(np);

	light->asked = np->snd_nxt;
	light->path = reciprocal_scale(get_random_u32(), np->peer->n);
	np->snd_window = max(np->iw_opt, 1U) * np->mss;
}

/* The core sees to it that the peer's promise is not exceeded (window.c). */
static bool light_may_send(const struct ndp_sock *np, enum ndp_send what, u32 len)
{
	return true;
}

static u16 light_pick_path(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	const struct light *light = ndp_transport_priv(np);

	return light->path;
}

/* Packets between two requests for an answer: half of what may be in flight or buffered. */
static u32 light_stretch(const struct ndp_sock *np, const struct light *light)
{
	u32 bytes = min_t(u32, light->most, READ_ONCE(np->inet.sk.sk_sndbuf) / 2);

	return min_t(u32, bytes / np->mss, NDP_MAX_WINDOW) / 2;
}

/* Ask for an answer after each such stretch, and by the last packet that the promise covers. */
static void light_sent(struct ndp_sock *np, struct ndp_tx_cb *cb, enum ndp_send what, u32 len)
{
	struct light *light = ndp_transport_priv(np);
	u32 next = cb->psn + 1, since;

	/* Retransmissions are answered anyway. */
	if (what != NDP_SEND_NEW && what != NDP_SEND_EMPTY)
		return;
	light->most = max(light->most, np->snd_window);
	/* Packets that a PULL has acknowledged need no answer any more. */
	since = next - (psn_before(light->asked, np->window_cum) ? np->window_cum : light->asked);
	if (since < light_stretch(np, light) &&
	    (u64)(next - np->window_cum) * np->mss + np->mss <= np->snd_window)
		return;
	light->asked = next;
	cb->asked = 1;
}

/* The packet may have been lost on a dead link: use the next path from now on. */
static void light_lost(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	struct light *light = ndp_transport_priv(np);

	light->path = (light->path + 1) % np->peer->n;
}

/* A single path keeps packets in order: an overtaken one is lost, and is sent again at once. */
static bool light_overtaken(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	return true;
}

static const struct ndp_transport light_transport = {
	.name		= "light",
	.owner		= THIS_MODULE,
	.id		= NDP_TRANSPORT_ID_LIGHT,
	.echo		= true,
	.asks		= true,
	.lossless	= true,
	.priv_size	= sizeof(struct light),
	.init		= light_init,
	.may_send	= light_may_send,
	.pick_path	= light_pick_path,
	.sent		= light_sent,
	.lost		= light_lost,
	.overtaken	= light_overtaken,
};

module_ndp_transport(light_transport);

MODULE_DESCRIPTION("AF_NDP transport TCPlight: the receiver's room, on a lossless fabric");
MODULE_LICENSE("GPL");
MODULE_VERSION(PACKAGE_VERSION);
MODULE_ALIAS("ndp-transport-light");
