// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP acknowledgements: those of packets that arrive together leave together.
 *
 * Every DATA packet is answered (NDP paper, section 3.2).  A packet of its own for each
 * answer costs as much as the DATA: where the processor is the limit, that is what limits.
 * Packets that one receiving softirq takes in are therefore acknowledged by one ACK, which
 * leaves behind that softirq and names up to 64 of them (struct ndp_acks).  No timer is
 * waited for: where packets come one by one each has its ACK as it comes.
 *
 * A packet that was sent again or is marked (ECN), one behind which the peer has nothing
 * (LAST), and a FIN are acknowledged at once, with all that wait; so are those that arrive
 * until the peer's first packet has, whose own ACK alone verifies our address (verify.c).
 * Trimmed packets are NACKed one by one: the sender acts upon each.  A transport without
 * credit is told of each packet by an ACK of its own, which is its clock.
 *
 * Non-goals: delayed ACKs.
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

/* Send the ACK of @psn, and with it those that wait.  @psn is one of them. */
static void ndp_ack_send(struct ndp_sock *np, u32 psn, u16 path, u8 flags)
{
	struct ndp_acks acks = {
		.map = cpu_to_be64(np->ack_map),
		.first = htonl(np->ack_first),
	};
	bool several = np->ack_map & (np->ack_map - 1);

	np->ack_map = 0;
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
		np->ack_map = 0;
	if (np->ack_map)
		ndp_ack_send(np, np->ack_psn, np->ack_path, 0);
}

/* May the ACK of a packet that was queued wait for the end of the softirq? */
static bool ndp_ack_may_wait(const struct ndp_sock *np, const struct ndphdr *nh,
			     u8 flags)
{
	if (ntohl(nh->psn) == np->irs || np->rcv_nxt == np->irs)
		return false;
	return np->tp->credit && ndp_hdr_type(nh) == NDP_DATA &&
	       !(nh->flags & NDP_F_LAST) && !flags && !np->rcv_fin;
}

/**
 * ndp_ack - acknowledge a packet that has arrived whole
 * @np:		connection
 * @nh:		its header
 * @flags:	NDP_F_RTX, NDP_F_ECE or 0
 *
 * Context: np->lock held, softirq; the caller has a reference.
 */
void ndp_ack(struct ndp_sock *np, const struct ndphdr *nh, u8 flags)
{
	u32 psn = ntohl(nh->psn);
	u16 path = ntohs(nh->path);

	if (!ndp_ack_fits(np, psn))
		ndp_ack_flush(np);
	ndp_ack_add(np, psn);
	if (!ndp_ack_may_wait(np, nh, flags)) {
		ndp_ack_send(np, psn, path, flags);
		return;
	}
	np->ack_psn = psn;
	np->ack_path = path;
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

	/* Copied: in the packet it is not aligned. */
	if (ndp_is_unverified(np) ||
	    skb_copy_bits(skb, sizeof(struct udphdr) + sizeof(struct ndphdr), &acks,
			  sizeof(acks)))
		return 0;
	if (acks.crc != ndp_acks_crc(&acks)) {
		NDP_INC(sock_net(ndp_to_sk(np)), CRC_IN);
		return 0;
	}
	*first = ntohl(acks.first);
	return be64_to_cpu(acks.map);
}
