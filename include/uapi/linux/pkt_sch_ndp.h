/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_ndp: netlink interface of the trimming switch port.
 *
 * TCA_OPTIONS of a qdisc of kind "ndp" nests the attributes below.  All are
 * optional: what "add" leaves out takes its default, what "change" leaves out
 * stays as it is.  A dump returns all of them.
 */
#ifndef _UAPI_LINUX_PKT_SCH_NDP_H
#define _UAPI_LINUX_PKT_SCH_NDP_H

#include <linux/types.h>

/**
 * enum tca_ndp_mode - values of TCA_NDP_MODE
 * @TCA_NDP_MODE_SWITCH: port of a switch: packets that do not fit are trimmed (NDP
 *	paper, section 3.1)
 * @TCA_NDP_MODE_HOST: port of a host itself: control first, but at most
 *	TCA_NDP_HDR_WEIGHT control packets for one other; deficit round robin among
 *	sockets; nothing is trimmed
 */
enum tca_ndp_mode {
	TCA_NDP_MODE_SWITCH,
	TCA_NDP_MODE_HOST,
};

/**
 * enum tca_ndp_overflow - values of TCA_NDP_OVERFLOW
 * @TCA_NDP_OVERFLOW_BOUNCE: a header that finds the header queue full is returned to
 *	its sender (section 3.2.4), or dropped if it cannot be returned
 * @TCA_NDP_OVERFLOW_DROP: a header that finds the header queue full is dropped
 */
enum tca_ndp_overflow {
	TCA_NDP_OVERFLOW_BOUNCE,
	TCA_NDP_OVERFLOW_DROP,
};

enum {
	TCA_NDP_UNSPEC,
	TCA_NDP_PAD,
	TCA_NDP_MODE,		/* u8, enum tca_ndp_mode */
	TCA_NDP_LIMIT,		/* u32, data queue, packets; default 8, in mode host 1000 */
	TCA_NDP_HDR_LIMIT,	/* u32, header queue, bytes; default limit x MTU */
	TCA_NDP_OTHER_LIMIT,	/* u32, queue of other traffic, packets; default 1000 */
	/* u32, headers served per data packet, in mode host per other packet; default 10 */
	TCA_NDP_HDR_WEIGHT,
	TCA_NDP_OTHER_WEIGHT,	/* u32, share of other traffic; default 1 */
	TCA_NDP_DATA_WEIGHT,	/* u32, share of NDP traffic; default 1 */
	TCA_NDP_ECN,		/* u32, data queue depth that marks, packets; 0 off */
	TCA_NDP_OTHER_ECN,	/* u32, same for other traffic; 0 off */
	TCA_NDP_RATE64,		/* u64, bytes per second; 0 is the device's own */
	TCA_NDP_OVERFLOW,	/* u8, enum tca_ndp_overflow */
	TCA_NDP_DSCP_DATA,	/* u8, default 3 */
	TCA_NDP_DSCP_TRIMMED,	/* u8, default 7 */
	TCA_NDP_DSCP_CONTROL,	/* u8, default 11 */
	TCA_NDP_PORT,		/* u16, host order, UDP port of NDP; default 13141 */
	__TCA_NDP_MAX,
};

#define TCA_NDP_MAX (__TCA_NDP_MAX - 1)

/**
 * struct tc_ndp_xstats - TCA_XSTATS of the qdisc
 *
 * In packets, unless the name says bytes; all counted since the qdisc was made,
 * except lengths.  For each of data, header (control and trimmed) and other: packets
 * in are sent + queued + dropped, plus for data trimmed.  A trimmed packet counts
 * among the headers from then on, so over a port
 *
 *   data_in   = data_sent + data_len + trimmed_arrival + trimmed_tail
 *               + drop_data (those that could not be trimmed)
 *   header_in + trimmed_arrival + trimmed_tail
 *             = header_sent + header_len + bounced + drop_header
 *   other_in  = other_sent + other_len + drop_other
 *
 * @data_in:	trimmable packets offered (after segmentation)
 * @data_sent:	of them, sent whole
 * @data_sent_bytes: bytes of those
 * @header_in:	control and already trimmed packets offered
 * @header_sent: headers and control sent
 * @header_sent_bytes: bytes of those
 * @other_in:	packets of other traffic offered
 * @other_sent:	of them, sent
 * @other_sent_bytes: bytes of those
 * @trimmed_arrival: arriving packets trimmed
 * @trimmed_tail: packets trimmed at the data queue's tail
 * @bounced:	headers returned to their senders
 * @drop_data:	data that could be neither queued nor trimmed
 * @drop_header: headers and control dropped, header queue full
 * @drop_bounce: of @drop_header, those that could not be returned
 * @drop_other:	other traffic dropped, queue full
 * @drop_nomem:	of all drops, those for want of memory
 * @ecn_data:	data marked Congestion Experienced
 * @ecn_other:	other traffic marked
 * @gso_segmented: GSO packets that were segmented
 * @data_len:	data queue, packets
 * @header_len:	header queue, packets
 * @header_len_bytes: header queue, bytes
 * @other_len:	queue of other traffic, packets
 */
struct tc_ndp_xstats {
	__u64	data_in;
	__u64	data_sent;
	__u64	data_sent_bytes;
	__u64	header_in;
	__u64	header_sent;
	__u64	header_sent_bytes;
	__u64	other_in;
	__u64	other_sent;
	__u64	other_sent_bytes;
	__u64	trimmed_arrival;
	__u64	trimmed_tail;
	__u64	bounced;
	__u64	drop_data;
	__u64	drop_header;
	__u64	drop_bounce;
	__u64	drop_other;
	__u64	drop_nomem;
	__u64	ecn_data;
	__u64	ecn_other;
	__u64	gso_segmented;
	__u32	data_len;
	__u32	header_len;
	__u32	header_len_bytes;
	__u32	other_len;
};

#endif /* _UAPI_LINUX_PKT_SCH_NDP_H */
