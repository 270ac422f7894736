/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_ndp: what its files share.
 *
 * All of it is under the qdisc's root lock, unless a comment says otherwise.
 */
#ifndef _SCH_NDP_H
#define _SCH_NDP_H

#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/ndp_wire.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include <linux/pkt_sch_ndp.h>

/* The largest packet that is served before data.  Control is 74 bytes over IPv4
 * and 94 over IPv6; a larger packet with control's code point would cost as much
 * as data but have a header's priority.
 */
#define NDP_HDR_MAX		128

/* A size table (stab) can make a packet of any length: the rounds that pay for it are bounded. */
#define NDP_COST_MAX		SZ_1M

static inline int ndpq_cost(const struct sk_buff *skb)
{
	return min_t(u32, qdisc_pkt_len(skb), NDP_COST_MAX);
}

/**
 * struct ndpq_params - what a user can set
 * @mode:	&enum tca_ndp_mode
 * @overflow:	&enum tca_ndp_overflow
 * @dscp_data:	code point of packets that may be trimmed
 * @dscp_trimmed: code point of packets that were trimmed
 * @dscp_control: code point of control
 * @port:	UDP destination port of NDP
 * @limit:	limit of the data queue, packets
 * @hdr_limit:	limit of the header queue, bytes; 0 is @limit times the device's MTU
 * @other_limit: limit of the queue of other traffic, packets
 * @hdr_weight:	headers served per data packet; mode host: per packet of a flow
 * @data_weight: NDP's share of the port
 * @other_weight: other traffic's share of the port
 * @ecn:	data queue depth, packets, from which on packets are marked; 0 is never
 * @other_ecn:	same for other traffic
 * @rate:	maximum sending rate, bytes per second; 0 is the device's own
 */
struct ndpq_params {
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

/**
 * enum ndpq_drop - why a packet is dropped: the counters of struct tc_ndp_xstats
 * @NDP_DROP_DATA:	drop_data
 * @NDP_DROP_HEADER:	drop_header
 * @NDP_DROP_BOUNCE:	drop_header, and drop_bounce: the packet could not be returned
 * @NDP_DROP_OTHER:	drop_other
 */
enum ndpq_drop {
	NDP_DROP_DATA,
	NDP_DROP_HEADER,
	NDP_DROP_BOUNCE,
	NDP_DROP_OTHER,
};

enum ndpq_class {
	NDP_CLASS_DATA,		/* can be trimmed, and trimming saves something */
	NDP_CLASS_HEADER,	/* control, trimmed, or data without payload */
	NDP_CLASS_OTHER,
};

/**
 * struct ndpq_view - offsets of a packet's headers from skb->data
 * @nhoff:	IP header
 * @thoff:	UDP header, if there is one
 * @end:	end of the IP packet
 * @keep:	end of what trimming leaves; valid after ndpq_view_udp()
 * @udp_end:	end of the UDP datagram; valid after ndpq_view_udp()
 * @dscp:	code point
 * @v6:		the packet is IPv6
 * @udp:	the packet is unfragmented UDP
 */
struct ndpq_view {
	unsigned int	nhoff;
	unsigned int	thoff;
	unsigned int	end;
	unsigned int	keep;
	unsigned int	udp_end;
	u8		dscp;
	bool		v6;
	bool		udp;
};

struct ndpq_flows;

enum ndpq_side {
	NDP_SIDE_NDP,
	NDP_SIDE_OTHER,
	NDP_SIDES,
};

/**
 * struct ndpq_sched - a port
 * @p:		parameters
 * @data:	data queue; doubly linked, because trimming takes its tail
 * @hdr:	header queue
 * @other:	queue of other traffic
 * @flows:	mode host: flows of data and other traffic
 * @hdr_bytes:	bytes in @hdr
 * @data_len:	packets of data in @data or @flows
 * @other_len:	packets of other traffic in @other or @flows
 * @hdr_run:	headers served since the last data packet (mode host: of a flow),
 *		while one waited
 * @side:	side whose turn it is
 * @deficit:	bytes that each side may still send
 * @watchdog:	wakes the port at @next, and in mode host when a flow may depart
 * @next:	time when the rate allows the next packet
 * @busy:	packets waited when the last one left
 * @st:		counters
 */
struct ndpq_sched {
	struct ndpq_params	p;
	struct sk_buff_head	data;
	struct sk_buff_head	hdr;
	struct sk_buff_head	other;
	struct ndpq_flows	*flows;
	u32			hdr_bytes;
	u32			data_len;
	u32			other_len;
	u32			hdr_run;
	enum ndpq_side		side;
	int			deficit[NDP_SIDES];
	struct qdisc_watchdog	watchdog;
	u64			next;
	bool			busy;
	struct tc_ndp_xstats	st;
};

enum ndpq_class ndpq_classify(struct sk_buff *skb, const struct ndpq_params *p,
			      struct ndpq_view *v);
int ndpq_trim(struct sk_buff *skb, const struct ndpq_params *p);
int ndpq_turn_around(struct sk_buff *skb, const struct ndpq_params *p);

struct ndpq_flows *ndpq_flows_create(const struct ndpq_params *p);
void ndpq_flows_destroy(struct ndpq_flows *fs);
void ndpq_flows_add(struct ndpq_flows *fs, struct sk_buff *skb,
		    enum ndpq_class class, const struct ndpq_view *v, int quantum);
u64 ndpq_flows_wake(const struct ndpq_flows *fs);
struct sk_buff *ndpq_flows_next(struct ndpq_flows *fs, int quantum, u64 now,
				enum ndpq_class *class);

#endif /* _SCH_NDP_H */
