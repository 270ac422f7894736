// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP acknowledgements: packets that arrive together are acknowledged together.
 *
 * Every DATA packet is answered (NDP paper, section 3.2).  Sending a separate packet for each
 * answer costs as much as sending DATA, and limits throughput where the processor is the
 * bottleneck.  Packets received in one softirq are therefore acknowledged by one ACK, which is
 * sent after that softirq and names up to 64 of them (struct ndp_acks).
 *
 * A packet that empties the peer's send queue (LAST) usually ends a request or a response, and
 * a FIN usually makes the application close: its reaction is soon sent as DATA or FIN, and that
 * packet carries the ACK (NDP_F_CUM).  The ACK of one such packet, and of a FIN after it, is
 * delayed until then, but by NDP_ACK_DELAY at most, and only if the peer states that nothing
 * there waits for the ACK (NDP_F_LATER).  No pull is owed then, so the delay withholds none.  A
 * peer that has closed (NDP_F_GONE) needs no FIN: the ACK reports that we are done (NDP_F_LAST).
 *
 * Otherwise a retransmitted or ECN-marked packet, one with LAST, and a FIN are acknowledged at
 * once, together with all packets whose ACK is delayed.  So is each packet until the peer's
 * first one has arrived, because only the ACK of that one verifies our address (verify.c).
 * Trimmed packets are NACKed one by one, because the sender acts upon each NACK.  With a
 * transport without credit each packet gets an ACK of its own, which clocks the sender; or, if
 * the sender selects the packets to be answered (@asks), only those get one, and packets that
 * arrive beyond a gap, so that the sender learns of the gap.
 *
 * Non-goals: ACKs delayed until there are several.
 */
#include <linux/crc32c.h>
#include "transport.h"

/* Packets that a struct ndp_acks can name. */
#define NDP_ACKS_MAX	64

/* CRC of the struct ndp_acks behind an ACK's header, as on the wire. */
static __be32 ndp_acks_crc(const struct ndp_acks *acks)
{
	return htonl(~crc32c(~0U, acks, offsetof(struct ndp_acks, crc)));
}

/* Can one ACK name @psn together with the packets whose ACK is delayed? */
static bool ndp_ack_fits(const struct ndp_sock *np, u32 psn)
{
	s32 off = psn - np->ack_first;

	if (!np->ack_map || (off >= 0 && off < NDP_ACKS_MAX))
		return true;
	return off < 0 && off > -NDP_ACKS_MAX &&
	       !(np->ack_map >> (NDP_ACKS_MAX + off));
}

static void ndp_ack_add(struct ndp_sock *np, u32 psn)
{
	if (!np->ack_map)
		np->ack_first = psn;
	if (psn_before(psn, np->ack_first)) {
		np->ack_map <<= np->ack_first - psn;
		np->ack_first = psn;
	}
	np->ack_map |= 1ULL << (psn - np->ack_first);
}

/* Forget the delayed ACK. */
static void ndp_ack_forget(struct ndp_sock *np)
{
	np->ack_map = 0;
	np->ack_at = 0;
}

/* Send one ACK for @psn and all other packets in the map, which has @psn already. */
static void ndp_ack_send(struct ndp_sock *np, u32 psn, u16 path, u8 flags)
{
	struct ndp_acks acks = {
		.map = cpu_to_be64(np->ack_map),
		.first = htonl(np->ack_first),
	};
	bool several = np->ack_map & (np->ack_map - 1);

	ndp_ack_forget(np);
	acks.crc = several ? ndp_acks_crc(&acks) : 0;
	ndp_send_answer(np, NDP_ACK, psn, path, flags, several ? &acks : NULL);
}

/**
 * ndp_ack_flush - send the delayed ACK, if there is one
 * @np:		connection
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_ack_flush(struct ndp_sock *np)
{
	if (ndp_to_sk(np)->sk_state == TCP_CLOSE)
		ndp_ack_forget(np);
	if (np->ack_map)
		ndp_ack_send(np, np->ack_psn, np->ack_path, 0);
}

/**
 * ndp_ack_ends - on close, send the delayed ACK instead of a FIN if the peer needs no more
 * @np:		connection, all of whose data has been read
 *
 * The peer has closed before, so that no process there waits for our FIN.  Until this ACK
 * arrives the peer retransmits its own FIN and nothing else; our tombstone answers that.
 *
 * Context: np->lock held, softirqs off; the caller has a reference.
 * Return: true if the ACK was sent and the connection has ended.
 */
bool ndp_ack_ends(struct ndp_sock *np)
{
	if (!np->peer_gone || !np->ack_at || np->fin_queued || np->snd_una != np->snd_nxt ||
	    !skb_queue_empty(&np->sendq))
		return false;
	np->peer_done = true;
	ndp_ack_send(np, np->ack_psn, np->ack_path, NDP_F_LAST);
	ndp_conn_end(np);
	return true;
}

/**
 * ndp_ack_ride - let a DATA or FIN packet that is about to be sent carry the delayed ACK
 * @np:		connection
 * @nh:		header of that packet, complete
 *
 * Context: np->lock held, softirqs off.
 * Return: true if it carries one; call ndp_ack_rode() once the packet was sent.
 */
bool ndp_ack_ride(const struct ndp_sock *np, struct ndphdr *nh)
{
	if (!np->ack_at)
		return false;
	nh->flags |= NDP_F_CUM;
	nh->window = htonl(np->rcv_nxt);
	return true;
}

/**
 * ndp_ack_rode - the packet that carries the delayed ACK was sent
 * @np:		connection
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_ack_rode(struct ndp_sock *np)
{
	ndp_ack_forget(np);
	NDP_CONN_INC(np, ACK_RODE_OUT);
}

/* May the ACK of a packet that was queued wait for the end of the softirq? */
static bool ndp_ack_may_wait(const struct ndp_sock *np, const struct ndphdr *nh)
{
	if (ntohl(nh->psn) == np->irs || np->rcv_nxt == np->irs)
		return false;
	return ndp_hdr_type(nh) == NDP_DATA && !np->rcv_fin &&
	       (!(nh->flags & NDP_F_LAST) || np->ack_at);
}

/*
 * May the ACK wait for the application's response?  After our own FIN no packet follows that
 * could carry the ACK.
 */
static bool ndp_ack_may_ride(const struct ndp_sock *np, const struct ndphdr *nh)
{
	bool fin = ndp_hdr_type(nh) == NDP_FIN;

	if (!(nh->flags & NDP_F_LATER) || !(fin || nh->len) || np->fin_sent)
		return false;
	if (np->ack_map && !(np->ack_at && fin))
		return false;
	return np->rcv_last && !ndp_has_gap(np);
}

/*
 * Can the sender do without an ACK of this packet?  It always needs that of its first packet,
 * and those of packets that arrived beyond a gap or filled one.
 */
static bool ndp_ack_unasked(const struct ndp_sock *np, const struct ndphdr *nh)
{
	u32 psn = ntohl(nh->psn);

	return np->tp->asks && nh->flags & NDP_F_LATER && !(nh->flags & NDP_F_LAST) &&
	       psn != np->irs && psn + 1 == np->rcv_nxt && !ndp_has_gap(np);
}

/**
 * ndp_ack - acknowledge a packet that has arrived whole
 * @np:		connection
 * @nh:		its header
 * @flags:	NDP_F_RTX, NDP_F_AGAIN, NDP_F_ECE or 0
 *
 * Context: np->lock held, softirq; the caller has a reference, and calls ndp_output().
 */
void ndp_ack(struct ndp_sock *np, const struct ndphdr *nh, u8 flags)
{
	bool may = ndp_has_later(np) && !flags;
	bool ride = may && ndp_ack_may_ride(np, nh);
	bool wait = may && !ride && np->tp->credit && ndp_ack_may_wait(np, nh);
	u32 psn = ntohl(nh->psn);
	u16 path = ntohs(nh->path);

	if (may && ndp_ack_unasked(np, nh))
		return;
	if (!ndp_ack_fits(np, psn))
		ndp_ack_flush(np);
	ndp_ack_add(np, psn);
	if (!ride && !wait) {
		ndp_ack_send(np, psn, path, flags);
		return;
	}
	np->ack_psn = psn;
	np->ack_path = path;
	if (ride) {
		np->ack_at = np->ack_at ?: ndp_now(np) + NDP_ACK_DELAY;
		return;
	}
	/* The ACK is sent after this softirq, and no longer waits for the application. */
	np->ack_at = 0;
	ndp_tasklet_schedule(np);
}

/**
 * ndp_rcv_acks - read which packets an ACK names behind its header
 * @np:		connection
 * @skb:	ACK with NDP_F_ACKS
 * @first:	set to the PSN of the lowest bit
 *
 * An unverified peer could acknowledge many packets by one guessed PSN: its map is ignored.
 *
 * Context: np->lock held.
 * Return: a bit for each PSN from @first on, or 0 if there is no map to be trusted.
 */
u64 ndp_rcv_acks(struct ndp_sock *np, const struct sk_buff *skb, u32 *first)
{
	struct ndp_acks acks;

	/* Copy struct ndp_acks out: it is not aligned in the packet. */
	if (ndp_is_unverified(np) ||
	    skb_copy_bits(skb, sizeof(struct udphdr) + sizeof(struct ndphdr), &acks,
			  sizeof(acks)))
		return 0;
	if (acks.crc != ndp_acks_crc(&acks)) {
		NDP_CONN_INC(np, CRC_IN);
		return 0;
	}
	*first = ntohl(acks.first);
	return be64_to_cpu(acks.map);
}
