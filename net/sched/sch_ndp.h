/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_ndp: what its files share.
 *
 * All of it is under the qdisc's root lock, unless a comment says otherwise.
 */
#ifndef _SCH_NDP_H
#define _SCH_NDP_H

#include <linux/list.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/ndp_wire.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include <linux/pkt_sch_ndp.h>

/* The largest packet that is served before data.  Control is 74 bytes over
 * IPv4 and 94 over IPv6; whatever calls itself control and is larger would
 * have data's cost with a header's priority.
 */
#define NDP_HDR_MAX		128

/**
 * struct ndp_params - what a user can set
 * @mode:	&enum tca_ndp_mode
 * @overflow:	&enum tca_ndp_overflow
 * @dscp_data:	code point of packets that may be trimmed
 * @dscp_trimmed: code point of packets that were
 * @dscp_control: code point of control
 * @port:	UDP destination port of NDP
 * @limit:	data queue, packets
 * @hdr_limit:	header queue, bytes; 0 is @limit times the device's MTU
 * @other_limit: queue of other traffic, packets
 * @hdr_weight:	headers served per data packet
 * @data_weight: share of NDP
 * @other_weight: share of other traffic
 * @ecn:	data queue depth from which on packets are marked; 0 is never
 * @other_ecn:	same for other traffic
 * @rate:	bytes per second; 0 is the device's own
 */
struct ndp_params {
	u8	mode;
	u8	overflow;
	u8	dscp_data;
	u8	dscp_trimmed;
	u8	dscp_control;
	__be16	port;
	u32	limit;
	u32	hdr_limit;
	u32	other_limit;
	u32	hdr_weight;
	u32	data_weight;
	u32	other_weight;
	u32	ecn;
	u32	other_ecn;
	u64	rate;
};

enum ndp_class {
	NDP_CLASS_DATA,		/* can be trimmed, and trimming saves something */
	NDP_CLASS_HEADER,	/* control, trimmed, or data without payload */
	NDP_CLASS_OTHER,
};

/**
 * struct ndp_view - where things are in a packet
 * @nhoff:	IP header, from skb->data
 * @thoff:	UDP header, if it has one
 * @end:	end of the IP packet
 * @keep:	what trimming leaves; valid after ndp_view_udp()
 * @udp_end:	end of the UDP datagram; valid after ndp_view_udp()
 * @dscp:	code point
 * @v6:		IPv6
 * @udp:	unfragmented UDP
 */
struct ndp_view {
	unsigned int	nhoff;
	unsigned int	thoff;
	unsigned int	end;
	unsigned int	keep;
	unsigned int	udp_end;
	u8		dscp;
	bool		v6;
	bool		udp;
};

struct ndp_flows;

enum ndp_class ndp_classify(struct sk_buff *skb, const struct ndp_params *p,
			    struct ndp_view *v);
int ndp_trim(struct sk_buff *skb, const struct ndp_params *p);
int ndp_turn_around(struct sk_buff *skb, const struct ndp_params *p);

struct ndp_flows *ndp_flows_create(void);
void ndp_flows_destroy(struct ndp_flows *fs);
void ndp_flows_add(struct ndp_flows *fs, struct sk_buff *skb,
		   enum ndp_class class, const struct ndp_view *v, int quantum);
struct sk_buff *ndp_flows_next(struct ndp_flows *fs, int quantum,
			       enum ndp_class *class);

#endif /* _SCH_NDP_H */
