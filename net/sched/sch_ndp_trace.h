/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_ndp: tracepoints, system "sch_ndp" (Documentation/observe.md).
 *
 * Events for packets that find a queue full, and for those dropped by a reset.  Each has the port
 * and the lengths of its queues at that time; @len is the packet's length with its link header,
 * before it was changed.  All are emitted under the qdisc's root lock.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sch_ndp

#if !defined(_SCH_NDP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCH_NDP_TRACE_H

#include <linux/netdevice.h>
#include <linux/tracepoint.h>
#include "sch_ndp.h"

/* A port and its queues: packets of data and of other traffic, bytes of headers */
#define SCH_NDP_TRACE_PORT					\
		__field(__u32, netns)				\
		__field(int, ifindex)				\
		__array(char, dev, IFNAMSIZ)			\
		__field(__u32, data_len)			\
		__field(__u32, header_bytes)			\
		__field(__u32, other_len)

#define SCH_NDP_TRACE_THE_PORT(sch)				\
	do {							\
		struct Qdisc *_sch = (sch);			\
		const struct net_device *_dev = qdisc_dev(_sch); \
		const struct ndpq_sched *_q = qdisc_priv(_sch);	\
								\
		__entry->netns = dev_net(_dev)->ns.inum;	\
		__entry->ifindex = _dev->ifindex;		\
		memcpy(__entry->dev, _dev->name, IFNAMSIZ);	\
		__entry->data_len = _q->data_len;		\
		__entry->header_bytes = _q->hdr_bytes;		\
		__entry->other_len = _q->other_len;		\
	} while (0)

#define SCH_NDP_TRACE_PORT_FMT					\
	"netns=%u ifindex=%d dev=%s data_len=%u header_bytes=%u other_len=%u "
#define SCH_NDP_TRACE_PORT_ARGS					\
	__entry->netns, __entry->ifindex, __entry->dev,		\
	__entry->data_len, __entry->header_bytes, __entry->other_len

TRACE_DEFINE_ENUM(NDP_DROP_DATA);
TRACE_DEFINE_ENUM(NDP_DROP_HEADER);
TRACE_DEFINE_ENUM(NDP_DROP_BOUNCE);
TRACE_DEFINE_ENUM(NDP_DROP_OTHER);

/* A data packet is trimmed: the arriving one, or the @tail of the queue. */
TRACE_EVENT(sch_ndp_trim,
	TP_PROTO(struct Qdisc *sch, unsigned int len, bool tail),
	TP_ARGS(sch, len, tail),

	TP_STRUCT__entry(
		SCH_NDP_TRACE_PORT
		__field(__u32, len)
		__field(__u8, tail)
	),

	TP_fast_assign(
		SCH_NDP_TRACE_THE_PORT(sch);
		__entry->len = len;
		__entry->tail = tail;
	),

	TP_printk(SCH_NDP_TRACE_PORT_FMT "len=%u tail=%u",
		  SCH_NDP_TRACE_PORT_ARGS, __entry->len, __entry->tail)
);

/* A header is returned to its sender. */
TRACE_EVENT(sch_ndp_bounce,
	TP_PROTO(struct Qdisc *sch, unsigned int len),
	TP_ARGS(sch, len),

	TP_STRUCT__entry(
		SCH_NDP_TRACE_PORT
		__field(__u32, len)
	),

	TP_fast_assign(
		SCH_NDP_TRACE_THE_PORT(sch);
		__entry->len = len;
	),

	TP_printk(SCH_NDP_TRACE_PORT_FMT "len=%u",
		  SCH_NDP_TRACE_PORT_ARGS, __entry->len)
);

/* A packet is dropped; @reason is the counter, and drop_header includes drop_bounce. */
TRACE_EVENT(sch_ndp_drop,
	TP_PROTO(struct Qdisc *sch, unsigned int len, enum ndpq_drop reason),
	TP_ARGS(sch, len, reason),

	TP_STRUCT__entry(
		SCH_NDP_TRACE_PORT
		__field(__u32, len)
		__field(__u8, reason)
	),

	TP_fast_assign(
		SCH_NDP_TRACE_THE_PORT(sch);
		__entry->len = len;
		__entry->reason = reason;
	),

	TP_printk(SCH_NDP_TRACE_PORT_FMT "len=%u reason=%s",
		  SCH_NDP_TRACE_PORT_ARGS, __entry->len,
		  __print_symbolic(__entry->reason,
				   { NDP_DROP_DATA, "drop_data" },
				   { NDP_DROP_HEADER, "drop_header" },
				   { NDP_DROP_BOUNCE, "drop_bounce" },
				   { NDP_DROP_OTHER, "drop_other" }))
);

#endif /* _SCH_NDP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE sch_ndp_trace
#include <trace/define_trace.h>
