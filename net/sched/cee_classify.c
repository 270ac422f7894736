// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: which priority a packet has.
 *
 * Both ends of a link must classify alike, or a pause stops other packets than those that
 * fill the buffer.  So the sending port reads the priority from the packet itself: IEEE
 * 802.1Q's PCP, or the DSCP, as routed fabrics do.
 *
 * A bridge may have removed the tag by then.  Therefore a port in mode PCP keeps the PCP of
 * each frame it receives in skb->priority (cee_pfc_receive()), which no bridge changes.  A
 * router sets it from the DSCP; routed fabrics classify by the DSCP anyway.
 *
 * Messages of QCN have a priority of their own.  A CN-tag is skipped to find the IP header.
 *
 * Not here: 802.1Q's PCP translation tables; priorities that VLAN devices and tc filters
 * have written are used as they are.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/dsfield.h>
#include "cee_qcn.h"
#include "sch_cee.h"

/**
 * cee_cn_inner() - look behind a CN-tag
 * @skb:	frame
 * @offset:	set to the offset of the payload from the frame's data
 * @flow:	set to the tag's identifier; unchanged if there is no tag
 *
 * Return: EtherType of the payload, behind VLAN tags and CN-tag.
 */
__be16 cee_cn_inner(const struct sk_buff *skb, int *offset, __be16 *flow)
{
	__be16 proto = skb_protocol(skb, true);
	__be16 tag[2], *p;

	*offset = skb_network_offset(skb);
	if (proto != htons(CEE_ETH_P_CN) || *offset < 0)
		return proto;
	p = skb_header_pointer(skb, *offset, sizeof(tag), tag);
	if (!p)
		return proto;
	*flow = p[0];
	*offset += sizeof(tag);
	return p[1];
}

/**
 * cee_is_cnm() - is a frame a message of QCN?
 * @skb:	frame, sent or received
 */
bool cee_is_cnm(const struct sk_buff *skb)
{
	__be16 proto = skb_protocol(skb, true), flow;
	int offset;

	if (likely(proto != htons(CEE_ETH_P_CNM) && proto != htons(CEE_ETH_P_CN)))
		return false;
	return cee_cn_inner(skb, &offset, &flow) == htons(CEE_ETH_P_CNM);
}

/* Return: code point, or -1 if the frame is not IP. */
static int cee_dscp(const struct sk_buff *skb)
{
	struct ipv6hdr ip6, *p6;
	struct iphdr ip4, *p4;
	__be16 proto, flow;
	int offset;

	proto = cee_cn_inner(skb, &offset, &flow);
	if (offset < 0)
		return -1;
	switch (proto) {
	case htons(ETH_P_IP):
		p4 = skb_header_pointer(skb, offset, sizeof(ip4), &ip4);
		return p4 && p4->version == 4 ? ipv4_get_dsfield(p4) >> 2 : -1;
	case htons(ETH_P_IPV6):
		p6 = skb_header_pointer(skb, offset, sizeof(ip6), &ip6);
		return p6 && p6->version == 6 ? ipv6_get_dsfield(p6) >> 2 : -1;
	}
	return -1;
}

/* Return: PCP, or -1 if the frame has no tag. */
static int cee_pcp(const struct sk_buff *skb)
{
	struct vlan_ethhdr eth, *p;

	if (skb_vlan_tag_present(skb))
		return skb_vlan_tag_get_prio(skb);
	if (!eth_type_vlan(skb->protocol))
		return -1;
	p = skb_header_pointer(skb, 0, sizeof(eth), &eth);
	return p ? ntohs(p->h_vlan_TCI) >> VLAN_PRIO_SHIFT : -1;
}

/**
 * cee_classify() - the priority of a packet
 * @skb:	packet that is about to be sent, its data at the Ethernet header
 * @cfg:	options of the port
 *
 * Return: 0 to 7.
 */
unsigned int cee_classify(const struct sk_buff *skb, const struct cee_config *cfg)
{
	int value;

	if (unlikely(cee_is_cnm(skb)))
		return CEE_CNM_PRIO;
	if (cfg->classify == TCA_CEE_CLASSIFY_DSCP) {
		value = cee_dscp(skb);
		if (value >= 0)
			return cfg->dscp[value];
	}
	if (cfg->classify != TCA_CEE_CLASSIFY_SKB) {
		value = cee_pcp(skb);
		if (value >= 0)
			return value;
	}
	return skb->priority < CEE_PRIOS ? skb->priority : 0;
}
