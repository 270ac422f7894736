/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_cee: netlink interface of the lossless switch port.
 *
 * TCA_OPTIONS of a qdisc of kind "cee" nests the attributes below.  All are
 * optional: what "add" leaves out takes its default, what "change" leaves out
 * stays as it is.  A dump returns all of them.
 *
 * Options belong to the port (the device), not to the qdisc: below mq all qdiscs of a
 * device share them, and a qdisc that is added without any option shares the existing
 * ones.
 */
#ifndef _UAPI_LINUX_PKT_SCH_CEE_H
#define _UAPI_LINUX_PKT_SCH_CEE_H

#include <linux/types.h>

#define TC_CEE_PRIOS		8
#define TC_CEE_DSCPS		64
#define TC_CEE_DOMAIN_LEN	16	/* with the final zero */
#define TC_CEE_DSCP_KEEP	0xff	/* in TCA_CEE_DSCP: unchanged */
#define TC_CEE_ALPHA_ONE	1024	/* TCA_CEE_PRIO_ALPHA of 1 */
#define TC_CEE_RING_DEFAULT	0xffffffff	/* in TCA_CEE_RING */
#define TC_CEE_PMAX_ONE		1000000	/* TCA_CEE_PRIO_PMAX of 1 */

/**
 * enum tca_cee_classify - values of TCA_CEE_CLASSIFY
 * @TCA_CEE_CLASSIFY_DSCP: IP packets by code point and TCA_CEE_DSCP; others as
 *	TCA_CEE_CLASSIFY_PCP
 * @TCA_CEE_CLASSIFY_PCP: frames with a VLAN tag by PCP, also frames that came in with a
 *	tag and leave without; others as TCA_CEE_CLASSIFY_SKB
 * @TCA_CEE_CLASSIFY_SKB: skb->priority if it is 0 to 7, else 0
 */
enum tca_cee_classify {
	TCA_CEE_CLASSIFY_DSCP,
	TCA_CEE_CLASSIFY_PCP,
	TCA_CEE_CLASSIFY_SKB,
};

/**
 * enum tca_cee_action - values of TCA_CEE_WATCHDOG_ACTION
 * @TCA_CEE_ACTION_DRAIN: transmit in spite of the pause
 * @TCA_CEE_ACTION_DROP: drop queued and arriving packets
 */
enum tca_cee_action {
	TCA_CEE_ACTION_DRAIN,
	TCA_CEE_ACTION_DROP,
};

/**
 * enum tca_cee_ecn - values of TCA_CEE_PRIO_ECN
 * @TCA_CEE_ECN_OFF: no packet is marked
 * @TCA_CEE_ECN_RED: by the queue length that a packet finds: no marks up to KMIN, all
 *	packets marked from KMAX on, in between with a probability that rises to PMAX.
 *	KMIN equal to KMAX is a step.
 * @TCA_CEE_ECN_NP: the same, but packets that a pause has held are not marked
 *	(NP-ECN, PCN paper, section 4.1)
 */
enum tca_cee_ecn {
	TCA_CEE_ECN_OFF,
	TCA_CEE_ECN_RED,
	TCA_CEE_ECN_NP,
};

/**
 * enum tca_cee_pause - values of TCA_CEE_PAUSE
 * @TCA_CEE_PAUSE_PFC: the peer is paused by priority (IEEE 802.1Qbb)
 * @TCA_CEE_PAUSE_GLOBAL: the peer's whole link is paused (IEEE 802.3x), for peers without
 *	PFC; refused where the device itself does PFC, which excludes 802.3x on its link
 */
enum tca_cee_pause {
	TCA_CEE_PAUSE_PFC,
	TCA_CEE_PAUSE_GLOBAL,
};

/**
 * enum tca_cee_qcn - values of TCA_CEE_PRIO_QCN
 * @TCA_CEE_QCN_OFF: no congestion point, no reaction point
 * @TCA_CEE_QCN_STANDARD: a congestion point with the constants of IEEE 802.1Qau: QEQ is
 *	26000, the minimum rate of a reaction point 5 Mb/s
 * @TCA_CEE_QCN_THESIS: with the constants of D. Crisan's thesis, table 2.1: QEQ is 66000,
 *	the minimum rate 100 kb/s
 */
enum tca_cee_qcn {
	TCA_CEE_QCN_OFF,
	TCA_CEE_QCN_STANDARD,
	TCA_CEE_QCN_THESIS,
};

/**
 * enum tca_cee_limiter - values of TCA_CEE_PRIO_LIMITER
 * @TCA_CEE_LIMITER_OFF: CNMs are not obeyed
 * @TCA_CEE_LIMITER_PRIO: one rate limiter for the priority
 * @TCA_CEE_LIMITER_FLOW: one for each of the priority's flows, by hash; needs FLOWS
 */
enum tca_cee_limiter {
	TCA_CEE_LIMITER_OFF,
	TCA_CEE_LIMITER_PRIO,
	TCA_CEE_LIMITER_FLOW,
};

enum {
	TCA_CEE_UNSPEC,
	TCA_CEE_PAD,
	/* string, domain whose buffer the port shares, within the network
	 * namespace; default "": the namespace's own; fixed at creation
	 */
	TCA_CEE_DOMAIN,
	TCA_CEE_BUFFER,		/* u32, bytes, of the whole domain; default 16 MiB */
	TCA_CEE_CLASSIFY,	/* u8, enum tca_cee_classify; default DSCP */
	/* binary, a priority for each code point; default code point / 8 */
	TCA_CEE_DSCP,
	TCA_CEE_TRUST,		/* u8, obey pause frames that are received; default 1 */
	TCA_CEE_RATE64,		/* u64, bytes per second; default 0: the device's own */
	TCA_CEE_CABLE,		/* u32, propagation delay, ns; default 1000 */
	/* u32, bytes that have left the peer's qdisc when it obeys a pause, and are
	 * still sent; default two frames of MTU size
	 */
	TCA_CEE_RING,
	TCA_CEE_QUANTA,		/* u16, of XOFF, 512 bit times each; default 10 ms or 65535 */
	TCA_CEE_WATCHDOG,	/* u32, ms that a pause may last; 0: no limit; default 200 */
	TCA_CEE_WATCHDOG_ACTION, /* u8, enum tca_cee_action; default DRAIN */
	TCA_CEE_PRIO,		/* nest of TCA_CEE_PRIO_*; any number of them */
	TCA_CEE_PAUSE,		/* u8, enum tca_cee_pause; default PFC */
	__TCA_CEE_MAX,
};

#define TCA_CEE_MAX (__TCA_CEE_MAX - 1)

/* Options of some priorities.  In sizes, 0 stands for the default. */
enum {
	TCA_CEE_PRIO_UNSPEC,
	TCA_CEE_PRIO_MASK,	/* u8, required: bit n is priority n */
	TCA_CEE_PRIO_LOSSLESS,	/* u8; default 1 of priority 3, 0 of others */
	TCA_CEE_PRIO_WEIGHT,	/* u8, share of the link, 0 is strict; default 1 */
	TCA_CEE_PRIO_XOFF,	/* u32, bytes; default 97000, two frames at least */
	TCA_CEE_PRIO_XON,	/* u32, bytes; default 5/6 of XOFF */
	/* u32, in 1/1024, XOFF is this share of the free buffer; default 0: static */
	TCA_CEE_PRIO_ALPHA,
	TCA_CEE_PRIO_HEADROOM,	/* u32, bytes; default what the cable needs */
	TCA_CEE_PRIO_LIMIT,	/* u32, bytes charged to no port; default 200 frames */
	TCA_CEE_PRIO_ECN,	/* u8, enum tca_cee_ecn */
	TCA_CEE_PRIO_KMIN,	/* u32, bytes */
	TCA_CEE_PRIO_KMAX,	/* u32, bytes */
	TCA_CEE_PRIO_PMAX,	/* u32, in 1/1000000; default 1000000 */
	TCA_CEE_PRIO_QCN,	/* u8, enum tca_cee_qcn; default OFF */
	TCA_CEE_PRIO_QEQ,	/* u32, bytes, target length of a queue */
	TCA_CEE_PRIO_LIMITER,	/* u8, enum tca_cee_limiter; needs QCN; default OFF */
	/* u32, queues by flow, served in turn, 1 to 256; default 1: FIFO */
	TCA_CEE_PRIO_FLOWS,
	__TCA_CEE_PRIO_MAX,
};

#define TCA_CEE_PRIO_MAX (__TCA_CEE_PRIO_MAX - 1)

/**
 * struct tc_cee_prio_xstats - counters of a priority
 *
 * Counters up to @backlog_max are of the qdisc as a transmitter, the others of its device
 * as a port (below mq, of all its qdiscs).  At any time
 *
 *   in = sent + packets + drop_limit + drop_overflow + drop_watchdog + drop_reset
 *
 * @in:		packets offered (after segmentation)
 * @sent:	of them, sent
 * @sent_bytes:	bytes of those
 * @drop_limit:	dropped because TCA_CEE_PRIO_LIMIT was reached
 * @drop_overflow: dropped although lossless: the headroom of the port that they
 *	came in by was full
 * @drop_watchdog: dropped by the watchdog
 * @drop_reset:	dropped because the device went down or the qdisc was deleted
 * @marked:	packets marked Congestion Experienced
 * @np_unmarked: packets not marked only because a pause had held them (NP-ECN)
 * @storms:	times that a pause outlasted the watchdog
 * @cnm_sent:	Congestion Notification Messages sent about packets of the queue
 * @cnm_unsent:	CNMs not sent: source unknown, no memory, or too many
 * @packets:	packets queued now
 * @backlog:	bytes of those packets
 * @backlog_max: largest @backlog so far
 * @xoff_sent:	XOFF sent, refreshments included
 * @xon_sent:	XON sent
 * @xoff_received: XOFF received and obeyed, refreshments included
 * @xon_received: XON received and obeyed
 * @paused_ns:	total time that the peer has paused the priority, ns
 * @shared:	bytes that came in by the port and are still queued, below the threshold
 * @shared_max:	largest @shared so far
 * @headroom:	bytes likewise, beyond the threshold
 * @headroom_max: largest @headroom so far
 * @cnm_received: CNMs received and obeyed
 * @limiters:	rate limiters active now
 * @rate:	lowest rate of the active limiters, bytes per second
 * @overflow:	packets that came in by the port and were dropped elsewhere
 *	as @drop_overflow
 */
struct tc_cee_prio_xstats {
	__u64	in;
	__u64	sent;
	__u64	sent_bytes;
	__u64	drop_limit;
	__u64	drop_overflow;
	__u64	drop_watchdog;
	__u64	drop_reset;
	__u64	marked;
	__u64	np_unmarked;
	__u64	storms;
	__u64	cnm_sent;
	__u64	cnm_unsent;
	__u64	packets;
	__u64	backlog;
	__u64	backlog_max;
	__u64	xoff_sent;
	__u64	xon_sent;
	__u64	xoff_received;
	__u64	xon_received;
	__u64	paused_ns;
	__u64	shared;
	__u64	shared_max;
	__u64	headroom;
	__u64	headroom_max;
	__u64	cnm_received;
	__u64	limiters;
	__u64	rate;
	__u64	overflow;
};

/**
 * struct tc_cee_xstats - TCA_STATS_APP in TCA_STATS2 of the qdisc
 * @ignored:	pause frames received and not obeyed: TCA_CEE_TRUST is 0
 * @malformed:	invalid pause frames: too short, of another operation, tagged, or sent to
 *	another address
 * @cnm_ignored: CNMs received and not obeyed: TCA_CEE_TRUST is 0
 * @cnm_strange: CNMs about no flow sent from here lately, or in a priority without
 *	reaction point
 * @cnm_malformed: invalid CNMs
 * @nomem:	pause frames delayed for want of memory
 * @gso_segmented: GSO packets that were segmented
 * @domain_used: bytes of the domain's buffer that are in use
 * @domain_max:	largest @domain_used so far
 * @lossless:	mask of lossless priorities
 * @xoff:	mask of priorities in which the peer is paused by this port
 * @paused:	mask of priorities that the peer pauses
 * @storm:	mask of priorities on which the watchdog acts
 * @hardware:	mask of priorities whose pause frames the device itself sends and obeys
 * @pad:	0
 * @prio:	counters of each priority
 */
struct tc_cee_xstats {
	__u64	ignored;
	__u64	malformed;
	__u64	cnm_ignored;
	__u64	cnm_strange;
	__u64	cnm_malformed;
	__u64	nomem;
	__u64	gso_segmented;
	__u64	domain_used;
	__u64	domain_max;
	__u8	lossless;
	__u8	xoff;
	__u8	paused;
	__u8	storm;
	__u8	hardware;
	__u8	pad[3];
	struct tc_cee_prio_xstats prio[TC_CEE_PRIOS];
};

#endif /* _UAPI_LINUX_PKT_SCH_CEE_H */
