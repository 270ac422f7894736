// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: the congestion point of QCN (IEEE 802.1Qau; M. Alizadeh et al., "Data center
 * transport mechanisms", Allerton 2008; thesis of D. Crisan, sections 2.2.2.2 and 2.5.4).
 *
 * Sampling.  A queue is sampled whenever some 150 KB have arrived, more often the more
 * congested it is, and with 15 % of jitter so that no flow of a regular pattern is spared:
 *
 *	Fb = (Qeq - q) - w (q - q of the last sample),  w = 2,  Fb >= -(2 w + 1) Qeq
 *
 * If Fb is negative, the source of the frame that has just arrived is sent a Congestion
 * Notification Message (CNM) with -Fb in 6 bits, and the first 64 bytes of the frame, which
 * identify the flow.  A queue that shrinks fast enough sends no message.
 *
 * The message leaves by the port where the frame came in, before all queues of that port.
 * It keeps the frame's VLAN and, if it had one, its CN-tag, whose identifier is the
 * source's.  A frame that no port of this box received, or one of several (a bridge that is
 * routed from), has no such port: the message is counted as unsent.
 *
 * Bridge or router.  QCN is a protocol of layer 2, and the message is sent to the source
 * address of a bridged frame.  A routed frame has the router's own source address.  So a
 * port with QCN remembers from which MAC address packets of each IP source came in, and a
 * router sends the message to that address: the host if it is a neighbour, else the previous
 * router.  The message goes no further: no rule would stop a message between routers, since
 * it has no hop limit.  The previous router may limit the rate of its port to here itself
 * (cee_qcn_rp.c); then its queue grows, and it notifies the next one upstream.
 *
 * Abuse.  An unknown host can cause one frame of some hundred bytes for each 15 KB that it
 * sends, to the station behind the port by which its frames came in.
 *
 * Locks.  The congestion point is under its qdisc's root lock.  Addresses are learnt in
 * softirqs of any processor, each entry atomically; the port's queue of messages has its own
 * lock.
 *
 * Not here: the defence modes of 802.1Q (use a priority that outside hosts do not have, and
 * "trust no"), and CN-tags that we add ourselves.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/math64.h>
#include <linux/random.h>
#include "cee_qcn.h"
#include "sch_cee.h"

#define CEE_CP_WEIGHT	2

/* Bytes until the next sample, by the upper three bits of the feedback */
static const u32 cee_cp_interval[] = {
	150000, 75000, 50000, 37500, 30000, 25000, 21500, 18500,
};

/* Return: -Fb in six bits, 0 if there is no congestion. */
static u8 cee_cp_feedback(u32 depth, u32 old, u32 qeq)
{
	s64 most = (s64)qeq * (2 * CEE_CP_WEIGHT + 1);
	s64 fb = (s64)qeq - depth - CEE_CP_WEIGHT * ((s64)depth - old);

	return fb < 0 ? div64_s64(min(-fb, most) * CEE_FB_MAX, most) : 0;
}

/**
 * cee_cp_sample() - a frame has been queued; sample the queue if it is time
 * @cp:		congestion point
 * @len:	bytes of the frame
 * @depth:	bytes that wait, including the frame
 * @qeq:	set point for @depth
 * @s:		set to the sample
 *
 * Context: the root lock.
 * Return: true if the frame's source should be notified.
 */
bool cee_cp_sample(struct cee_cp *cp, u32 len, u32 depth, u32 qeq, struct cee_sample *s)
{
	cp->left -= min_t(u32, len, cee_cp_interval[0]);
	if (cp->left > 0)
		return false;
	s->fb = cee_cp_feedback(depth, cp->old, qeq);
	s->offset = (s64)qeq - depth;
	s->delta = (s64)depth - cp->old;
	cp->old = depth;
	cp->left = cee_jitter(cee_cp_interval[s->fb >> 3]);
	return s->fb;
}

/* Hash the IP source address.  Return: false if the frame is not IP. */
static bool cee_cp_source(const struct sk_buff *skb, u32 *hash)
{
	struct ipv6hdr ip6, *p6;
	struct iphdr ip4, *p4;
	__be16 proto, flow;
	int offset;

	proto = cee_cn_inner(skb, &offset, &flow);
	if (offset < 0)
		return false;
	switch (proto) {
	case htons(ETH_P_IP):
		p4 = skb_header_pointer(skb, offset, sizeof(ip4), &ip4);
		if (p4)
			*hash = jhash_1word((__force u32)p4->saddr, 0);
		return p4;
	case htons(ETH_P_IPV6):
		p6 = skb_header_pointer(skb, offset, sizeof(ip6), &ip6);
		if (p6)
			*hash = jhash2((__force u32 *)&p6->saddr, 4, 0);
		return p6;
	}
	return false;
}

/* A MAC address and, above it, the bits of the hash that are not in the index */
static u64 cee_heard_entry(const u8 *mac, u32 hash)
{
	return ether_addr_to_u64(mac) | (u64)(hash >> 16) << 48;
}

/**
 * cee_cp_hear() - learn from which MAC address an IP source came in, for a router's CNMs
 * @port:	port that received the frame
 * @skb:	any frame
 *
 * Context: softirq.
 */
void cee_cp_hear(struct cee_port *port, const struct sk_buff *skb)
{
	atomic64_t *heard;
	u64 entry;
	u32 hash;

	if (skb->pkt_type != PACKET_HOST || !cee_cp_source(skb, &hash))
		return;
	heard = &port->heard[hash % CEE_HEARD];
	entry = cee_heard_entry(eth_hdr(skb)->h_source, hash);
	if (atomic64_read(heard) != entry)
		atomic64_set(heard, entry);
}

/* Find the MAC address to notify of a frame that leaves by @dev.  Return: false if unknown. */
static bool cee_cp_whom(const struct cee_port *in, const struct net_device *dev,
			const struct sk_buff *skb, u8 *mac)
{
	u64 entry;
	u32 hash;

	ether_addr_copy(mac, eth_hdr(skb)->h_source);
	if (ether_addr_equal(mac, dev->dev_addr)) {
		if (!cee_cp_source(skb, &hash))
			return false;
		entry = atomic64_read(&in->heard[hash % CEE_HEARD]);
		u64_to_ether_addr(entry & GENMASK_ULL(47, 0), mac);
		if (cee_heard_entry(mac, hash) != entry)
			return false;
	}
	return is_valid_ether_addr(mac);
}

/* The CNM has the frame's VLAN, or that of the VLAN device that received the frame. */
static void cee_cnm_vlan(struct sk_buff *cnm, const struct net_device *dev,
			 const struct sk_buff *skb)
{
	struct net_device *in = dev_get_by_index_rcu(dev_net(dev), skb->skb_iif);
	u16 tci = CEE_CNM_PRIO << VLAN_PRIO_SHIFT;

	if (in && is_vlan_dev(in))
		__vlan_hwaccel_put_tag(cnm, vlan_dev_vlan_proto(in), tci | vlan_dev_vlan_id(in));
	else if (skb_vlan_tag_present(skb) &&
		 !ether_addr_equal(eth_hdr(skb)->h_source, dev->dev_addr))
		__vlan_hwaccel_put_tag(cnm, skb->vlan_proto, tci | skb_vlan_tag_get_id(skb));
}

/* Bytes in units of 64, clamped to 16 bits */
static __be16 cee_cnm_units(s64 bytes)
{
	return htons((u16)clamp_t(s64, div_s64(bytes, 64), S16_MIN, S16_MAX));
}

static void cee_cnm_fill(struct cee_cnm *c, const struct net_device *dev,
			 const struct sk_buff *skb, unsigned int prio,
			 const struct cee_sample *s)
{
	c->feedback = htons(s->fb);
	ether_addr_copy(c->cpid, dev->dev_addr);
	c->cpid[7] = prio;
	c->offset = cee_cnm_units(s->offset);
	c->delta = cee_cnm_units(s->delta);
	c->prio = htons(prio << VLAN_PRIO_SHIFT);
	ether_addr_copy(c->dest, eth_hdr(skb)->h_dest);
}

/* Quote the frame from its EtherType on.  Return: false if there is nothing to quote. */
static bool cee_cnm_quote(struct sk_buff *cnm, struct cee_cnm *c, const struct sk_buff *skb,
			  __be16 proto, int offset)
{
	int len = min_t(int, skb->len - offset, CEE_CNM_MSDU - sizeof(proto));
	u8 *to;

	if (offset < 0 || len <= 0)
		return false;
	to = skb_put_data(cnm, &proto, sizeof(proto));
	skb_put(cnm, len);
	c->len = htons(sizeof(proto) + len);
	return !skb_copy_bits(skb, offset, to + sizeof(proto), len);
}

/* Build the CNM about a frame, to be sent by @in to @mac.  Return: NULL without memory. */
static struct sk_buff *cee_cnm_new(struct net_device *in, const u8 *mac,
				   const struct net_device *dev, const struct sk_buff *skb,
				   unsigned int prio, const struct cee_sample *s)
{
	unsigned int room = LL_RESERVED_SPACE(in) + VLAN_HLEN;
	struct sk_buff *cnm = alloc_skb(room + ETH_HLEN + VLAN_HLEN + sizeof(struct cee_cnm) +
					CEE_CNM_MSDU, GFP_ATOMIC);
	__be16 proto, tag[2] = { 0, htons(CEE_ETH_P_CNM) };
	struct ethhdr *eth;
	struct cee_cnm *c;
	int offset;

	if (!cnm)
		return NULL;
	skb_reserve(cnm, room);
	skb_reset_mac_header(cnm);
	eth = skb_put(cnm, ETH_HLEN);
	ether_addr_copy(eth->h_dest, mac);
	ether_addr_copy(eth->h_source, in->dev_addr);
	eth->h_proto = htons(CEE_ETH_P_CNM);
	skb_set_network_header(cnm, ETH_HLEN);
	proto = cee_cn_inner(skb, &offset, &tag[0]);
	if (skb_protocol(skb, true) == htons(CEE_ETH_P_CN)) {
		eth->h_proto = htons(CEE_ETH_P_CN);
		skb_put_data(cnm, tag, sizeof(tag));
	}
	c = skb_put_zero(cnm, sizeof(*c));
	cee_cnm_fill(c, dev, skb, prio, s);
	cnm->dev = in;
	cnm->protocol = eth->h_proto;
	cnm->priority = CEE_CNM_PRIO;
	cee_cnm_vlan(cnm, dev, skb);
	if (cee_cnm_quote(cnm, c, skb, proto, offset))
		return skb_put_padto(cnm, ETH_ZLEN) ? NULL : cnm;
	kfree_skb(cnm);
	return NULL;
}

/**
 * cee_cp_notify() - send a CNM to the source of a frame
 * @cp:		congestion point
 * @dev:	device that the frame is to leave by
 * @skb:	frame, its data at the Ethernet header
 * @prio:	priority of the frame
 * @s:		sample to report
 *
 * There is no CNM about frames of this box's own sockets: no port received them.
 *
 * Context: the root lock of @dev's qdisc, RCU.
 */
void cee_cp_notify(struct cee_cp *cp, struct net_device *dev, const struct sk_buff *skb,
		   unsigned int prio, const struct cee_sample *s)
{
	struct sk_buff *cnm = NULL;
	struct cee_set *set;
	u8 mac[ETH_ALEN];

	if (!skb->skb_iif)
		return;
	set = cee_set_get(dev, skb->skb_iif);
	if (set && set->n == 1 && !READ_ONCE(set->port[0]->dead) &&
	    cee_cp_whom(set->port[0], dev, skb, mac))
		cnm = cee_cnm_new(set->port[0]->dev, mac, dev, skb, prio, s);
	if (cnm && cee_control_add(set->port[0], cnm))
		cp->sent++;
	else
		cp->unsent++;
	if (set)
		cee_set_put(set);
}
