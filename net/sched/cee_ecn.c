// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: marks of Explicit Congestion Notification.
 *
 * RED as switch chips do it (DCTCP, DCQCN): by the instantaneous length, in bytes, of the
 * queue that a packet finds.  Nothing is marked up to KMIN and every packet from KMAX on;
 * in between the probability rises from 0 to PMAX.  A step at K is KMIN = KMAX = K.  The
 * average of Floyd and Jacobson, 1993, is not kept: all transports that use these marks
 * average at the sender.
 *
 * NP-ECN (Cheng et al., "Re-architecting Congestion Management in Lossless Ethernet", NSDI
 * 2020, section 4.1) is the same, but does not mark packets that a pause has held: they
 * wait because another port is congested, not this one; sch_cee_main.c counts them.
 *
 * Packets that are not ECN-capable are left alone: nothing is dropped early here.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/inet_ecn.h>
#include "sch_cee.h"

/**
 * cee_ecn_due() - should a packet be marked?
 * @p:		options of its priority
 * @depth:	bytes that wait before it
 * @random:	random number
 *
 * Return: true if its priority marks and the queue is long enough.
 */
bool cee_ecn_due(const struct cee_prio_config *p, u32 depth, u32 random)
{
	u64 chance;

	if (p->ecn == TCA_CEE_ECN_OFF || depth <= p->kmin)
		return false;
	if (depth >= p->kmax)
		return true;
	chance = div_u64((u64)p->pmax * (depth - p->kmin), p->kmax - p->kmin);
	return ((u64)random * TC_CEE_PMAX_ONE) >> 32 < chance;
}

/**
 * cee_ecn_mark() - mark a packet Congestion Experienced
 * @skb:	packet; a header that it shares with a clone is copied first
 *
 * Return: whether the packet is marked.
 */
bool cee_ecn_mark(struct sk_buff *skb)
{
	unsigned int len = skb_network_offset(skb) + sizeof(struct ipv6hdr);

	if (skb_network_offset(skb) < 0 || skb_ensure_writable(skb, min(len, skb->len)))
		return false;
	return INET_ECN_set_ce(skb);
}
