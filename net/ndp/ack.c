// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP acknowledgements: those of packets that arrive together leave together.
 *
 * Every DATA packet is answered (NDP paper, section 3.2).  A packet of its own for each
 * answer costs as much as the DATA: where the processor is the limit, that is what limits.
 * Packets that one receiving softirq takes in are therefore acknowledged by one ACK, which
 * leaves behind that softirq and names up to 64 of them (struct ndp_acks).
 *
 * A packet behind which the peer has nothing (LAST) is mostly a request or an answer, and a
 * FIN asks for one: what the application does upon it leaves soon as DATA or FIN, and carries
 * the ACK (NDP_F_CUM).  One such packet, and a FIN behind it, wait for that, but no longer
 * than NDP_ACK_DELAY, and only if the peer says that nothing waits for the ACK there
 * (NDP_F_LATER).  No pull is owed then that the ACK would tell.  To a peer that has closed
 * (NDP_F_GONE) there is no FIN: the ACK itself tells that we are done (NDP_F_LAST).
 *
 * A packet that was sent again or is marked (ECN), one behind which the peer has nothing
 * (LAST), and a FIN are acknowledged at once, with all that wait; so are those that arrive
 * until the peer's first packet has, whose own ACK alone verifies our address (verify.c).
 * Trimmed packets are NACKed one by one: the sender acts upon each.  A transport without
 * credit is told of each packet by an ACK of its own, which is its clock; or, where the sender
 * says which packets are to be answered (@asks), of those alone, and of what comes beyond a
 * gap, so that the gap is known to be one.
 *
 * Non-goals: ACKs delayed until there are several.
 */
#include <linux/crc32c.h>
#include "transport.h"

/* Packets that a struct ndp_acks can name. */
#define NDP_ACKS_MAX	64

/* CRC of what an ACK says behind its header, as it stands on the wire. */
static __be32 ndp_acks_crc(const struct ndp_acks *acks)
{
	return htonl(~crc32c(~0U, acks, offsetof(struct ndp_acks, crc)));
}

/* Can one ACK name @psn as well as those that wait? */
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

/* No ACK waits any more. */
static void ndp_ack_forget(struct ndp_sock *np)
{
	np->ack_map = 0;
	np->ack_at = 0;
}

/* Send the ACK of @psn, and with it those that wait.  @psn is one of them. */
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
 * ndp_ack_flush - send the ACK that waits, if there is one
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
 * ndp_ack_ends - the application closes: is the ACK that waits all that the peer needs?
 * @np:		connection, all of whose data has been read
 *
 * The peer has closed before, so that our FIN would tell nobody anything.  It has its own
 * FIN to send again and nothing else, for as long as this ACK does not arrive; our
 * tombstone answers that.
 *
 * Context: np->lock held, softirqs off; the caller has a reference.
 * Return: yes; it was sent, and the connection has ended.
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
 * ndp_ack_ride - DATA or FIN is about to leave: it carries the ACK that waits for it
 * @np:		connection
 * @nh:		header of that packet, complete
 *
 * Context: np->lock held, softirqs off.
 * Return: it does; ndp_ack_rode() once it has left.
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
 * ndp_ack_rode - what carries the ACK has left
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
 * May it wait for the application's answer?  Once our own FIN is sent nothing follows that
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
 * Does the sender not ask for an answer?  It needs that to its first packet, whatever it says,
 * and those to what came beyond a gap or has filled one.
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
 * @flags:	NDP_F_RTX, NDP_F_ECE or 0
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
	/* There are several: they wait for nobody's answer. */
	np->ack_at = 0;
	ndp_tasklet_schedule(np);
}

/**
 * ndp_rcv_acks - an ACK names packets behind its header
 * @np:		connection
 * @skb:	ACK with NDP_F_ACKS
 * @first:	where the PSN of the lowest bit goes
 *
 * An unverified peer could guess one number and hit many packets: it is not believed.
 *
 * Context: np->lock held.
 * Return: a bit for each PSN from @first on, or 0 if there are none to be believed.
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
