// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP transport "light": the receiver's room, and nothing else.
 *
 * TCPlight (D. Crisan, "Optimized networking for virtual machines ...", ETH Zurich 2014, section
 * 5.3.2), for guests and hosts on a fabric that drops nothing for want of room: zswitch and
 * zvnic, sch_cee, ports with PFC.  The fabric is reliable and holds senders back; what is left
 * for a transport is connections, ports, segments, and the room of each socket.  No packet is
 * acknowledged for itself, none is sent again while the fabric does what it says, and there is no
 * congestion window.
 *
 * Flow control.  The thesis cancels the softirq while the destination socket has no room, so that
 * the vNIC's credit stops coming.  That blocks whoever shares the vNIC's queue with a stalled
 * process (the thesis calls for a garbage collector).  Here a receiver promises room per socket
 * (window.c): up to a PSN, in steps of a quarter of its buffer, as its reader makes room.  So a
 * stalled process holds its own peer back and nobody else, and what was sent finds room: the
 * softirq never waits, and the vNIC's credit comes back at once.  A connection begins with one
 * packet, or as many as NDP_IW says; the first promise comes when it is accepted.
 *
 * What the sender asks for.  It keeps what it sent until it is known to have arrived, and its
 * send buffer is finite.  It therefore asks for an answer (a packet without NDP_F_LATER) behind
 * the first packet, when half of the largest promise or a quarter of the send buffer left
 * since it last heard, and when the promise is used up.  Of the last that was written it is always
 * told, by the packet that the peer's application sends upon it if that comes in time (ack.c).
 *
 * Loss all the same (bit errors, a link that fails, an operator who was wrong).  The receiver
 * answers what comes beyond a gap, so what left before is found lost by order (order.c).  When
 * nothing was heard for 10 ms the sender asks (PROBE), and what the peer does not have 200 ms
 * after it was sent, or anything was acknowledged, is sent again, by another path.  Each is
 * counted: LostByOrder, Timeouts, DataRtx.  The peer takes each packet once, in order, and checks
 * its CRC; one that is silent for 30 s ends the connection (ETIMEDOUT), as with all transports.
 *
 * Refused packets.  A promise is kept but for memory that is short (net.ndp.mem_max_kb), a buffer
 * that was made smaller, skbs that weigh more than those before them, and a sender whose packets
 * are smaller than the receiver's own MTU allows (a promise is in bytes, and two small skbs weigh
 * more than a large one): then the packet is NACKed and comes again when there is room (NoRoomIn).
 *
 * Where it may go: lossless.c.  One path for each connection keeps packets in order; connections
 * are spread over paths at random.
 *
 * Non-goals: congestion, which is the fabric's (zCredit, PFC); several paths; messages that
 * overtake one another, since packets do not.
 */
#include <linux/module.h>
#include <linux/random.h>
#include "transport.h"

/**
 * struct light - what it knows of a connection
 * @most:	largest promise of the peer, bytes
 * @asked:	PSN behind the last packet whose answer was asked for
 * @path:	the one path
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

/* The core keeps to the promise (window.c). */
static bool light_may_send(const struct ndp_sock *np, enum ndp_send what, u32 len)
{
	return true;
}

static u16 light_pick_path(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	const struct light *light = ndp_transport_priv(np);

	return light->path;
}

/* Packets behind which an answer is wanted: half of what may be on its way or in the buffer. */
static u32 light_stretch(const struct ndp_sock *np, const struct light *light)
{
	u32 bytes = min_t(u32, light->most, READ_ONCE(np->inet.sk.sk_sndbuf) / 2);

	return min_t(u32, bytes / np->mss, NDP_MAX_WINDOW) / 2;
}

/* An answer is wanted behind each such stretch, and of the last packet that the promise covers. */
static void light_sent(struct ndp_sock *np, struct ndp_tx_cb *cb, enum ndp_send what, u32 len)
{
	struct light *light = ndp_transport_priv(np);
	u32 next = cb->psn + 1, since;

	/* What is sent again is answered anyway. */
	if (what != NDP_SEND_NEW && what != NDP_SEND_EMPTY)
		return;
	light->most = max(light->most, np->snd_window);
	/* What a PULL told of needs no answer any more. */
	since = next - (psn_before(light->asked, np->window_cum) ? np->window_cum : light->asked);
	if (since < light_stretch(np, light) &&
	    (u64)(next - np->window_cum) * np->mss + np->mss <= np->snd_window)
		return;
	light->asked = next;
	cb->asked = 1;
}

/* What was lost may have met a link that is dead. */
static void light_lost(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	struct light *light = ndp_transport_priv(np);

	light->path = (light->path + 1) % np->peer->n;
}

/* One path keeps the order: what left before a packet that has arrived is lost, and goes again. */
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
