/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP tracepoints, system "ndp" (Documentation/observe.md).
 *
 * Each event names its connection by namespace, addresses and ports, ours first.  The connection
 * id is left out: whoever knows it can forge packets, and traces are passed on.  A tracepoint
 * that is off costs a patched-out branch: the fields of an event are computed where it is
 * recorded, never by the caller.
 *
 * Fields of an event are all of fixed size.  Filters, scripts and the tests of the project know
 * them by name: fields may be added, none may be changed.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ndp

#if !defined(_NDP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _NDP_TRACE_H

#include <linux/tracepoint.h>
#include <net/tcp_states.h>
#include "queue.h"

/* Fields that name a connection; IPv4 addresses are mapped into IPv6. */
#define NDP_TRACE_NAMES						\
		__field(__u32, netns)				\
		__field(__u16, sport)				\
		__field(__u16, dport)				\
		__array(__u8, saddr, 16)			\
		__array(__u8, daddr, 16)

#define NDP_TRACE_NAMED(np)					\
	do {							\
		const struct ndp_sock *_np = (np);		\
								\
		__entry->netns = sock_net(&_np->inet.sk)->ns.inum; \
		__entry->sport = ntohs(_np->inet.inet_sport);	\
		__entry->dport = ntohs(_np->inet.inet_dport);	\
		memcpy(__entry->saddr, &_np->saddr, 16);	\
		memcpy(__entry->daddr, &_np->daddr, 16);	\
	} while (0)

#define NDP_TRACE_NAMES_FMT					\
	"netns=%u saddr=%pI6c sport=%u daddr=%pI6c dport=%u "
#define NDP_TRACE_NAMES_ARGS					\
	__entry->netns, __entry->saddr, __entry->sport, __entry->daddr, __entry->dport

/* Userspace needs these to resolve the symbols in the formats. */
TRACE_DEFINE_ENUM(NDP_DATA);
TRACE_DEFINE_ENUM(NDP_ACK);
TRACE_DEFINE_ENUM(NDP_NACK);
TRACE_DEFINE_ENUM(NDP_PULL);
TRACE_DEFINE_ENUM(NDP_PROBE);
TRACE_DEFINE_ENUM(NDP_FIN);
TRACE_DEFINE_ENUM(NDP_RST);
TRACE_DEFINE_ENUM(NDP_COOKIE);
TRACE_DEFINE_ENUM(NDP_SIGNAL);
TRACE_DEFINE_ENUM(NDP_F_SYN);
TRACE_DEFINE_ENUM(NDP_F_LAST);
TRACE_DEFINE_ENUM(NDP_F_RTX);
TRACE_DEFINE_ENUM(NDP_F_BOUNCED);
TRACE_DEFINE_ENUM(NDP_PATH_IS_OUT);
TRACE_DEFINE_ENUM(NDP_PATH_IS_PROBED);
TRACE_DEFINE_ENUM(NDP_PATH_IS_BACK);
TRACE_DEFINE_ENUM(NDP_PATH_IS_FRESH);
TRACE_DEFINE_ENUM(TCP_ESTABLISHED);
TRACE_DEFINE_ENUM(TCP_SYN_SENT);
TRACE_DEFINE_ENUM(TCP_CLOSE);
TRACE_DEFINE_ENUM(TCP_LISTEN);

#define ndp_trace_type(type)					\
	__print_symbolic(type,					\
		{ NDP_DATA, "DATA" },				\
		{ NDP_ACK, "ACK" },				\
		{ NDP_NACK, "NACK" },				\
		{ NDP_PULL, "PULL" },				\
		{ NDP_PROBE, "PROBE" },				\
		{ NDP_FIN, "FIN" },				\
		{ NDP_RST, "RST" },				\
		{ NDP_COOKIE, "COOKIE" },			\
		{ NDP_SIGNAL, "SIGNAL" })

/* The meaning of the other bits depends on the type; they are shown as a number. */
#define ndp_trace_flags(flags)					\
	__print_flags(flags, "|",				\
		{ NDP_F_SYN, "SYN" },				\
		{ NDP_F_LAST, "LAST" },				\
		{ NDP_F_RTX, "RTX" },				\
		{ NDP_F_BOUNCED, "BOUNCED" })

#define ndp_trace_news(news)					\
	__print_symbolic(news,					\
		{ NDP_PATH_IS_OUT, "out" },			\
		{ NDP_PATH_IS_PROBED, "probed" },		\
		{ NDP_PATH_IS_BACK, "back" },			\
		{ NDP_PATH_IS_FRESH, "fresh" })

#define ndp_trace_state(state)					\
	__print_symbolic(state,					\
		{ TCP_ESTABLISHED, "ESTABLISHED" },		\
		{ TCP_SYN_SENT, "SYN_SENT" },			\
		{ TCP_CLOSE, "CLOSE" },				\
		{ TCP_LISTEN, "LISTEN" })

/*
 * A packet of ours: @path is the number of its path, index and generation (ndp_path_number()), or
 * for control packets the index alone; @entropy is its UDP source port.
 */
DECLARE_EVENT_CLASS(ndp_packet,
	TP_PROTO(const struct ndp_sock *np, const struct ndphdr *nh, __be16 entropy),
	TP_ARGS(np, nh, entropy),

	TP_STRUCT__entry(
		NDP_TRACE_NAMES
		__field(__u8, type)
		__field(__u8, flags)
		__field(__u16, path)
		__field(__u16, entropy)
		__field(__u16, len)
		__field(__u32, psn)
	),

	TP_fast_assign(
		NDP_TRACE_NAMED(np);
		__entry->type = ndp_hdr_type(nh);
		__entry->flags = nh->flags;
		__entry->path = ntohs(nh->path) ^ np->path_mask;
		__entry->entropy = ntohs(entropy);
		__entry->len = ndp_hdr_type(nh) == NDP_DATA ? ntohs(nh->len) : 0;
		__entry->psn = ntohl(nh->psn);
	),

	TP_printk(NDP_TRACE_NAMES_FMT "type=%s flags=%s psn=%u path=%u entropy=%u len=%u",
		  NDP_TRACE_NAMES_ARGS, ndp_trace_type(__entry->type),
		  ndp_trace_flags(__entry->flags), __entry->psn, __entry->path,
		  __entry->entropy, __entry->len)
);

/* A packet of a connection is handed to IP. */
DEFINE_EVENT(ndp_packet, ndp_send,
	TP_PROTO(const struct ndp_sock *np, const struct ndphdr *nh, __be16 entropy),
	TP_ARGS(np, nh, entropy)
);

/* A switch returned the header of a packet, unchanged but for NDP_F_BOUNCED. */
DEFINE_EVENT(ndp_packet, ndp_returned,
	TP_PROTO(const struct ndp_sock *np, const struct ndphdr *nh, __be16 entropy),
	TP_ARGS(np, nh, entropy)
);

/*
 * A packet of a connection has arrived, and is about to be processed.  @path is the peer's path
 * number as on the wire, which an acceptor masks; @len is the payload before any trimming.
 */
TRACE_EVENT(ndp_receive,
	TP_PROTO(const struct ndp_sock *np, const struct sk_buff *skb),
	TP_ARGS(np, skb),

	TP_STRUCT__entry(
		NDP_TRACE_NAMES
		__field(__u8, type)
		__field(__u8, flags)
		__field(__u16, path)
		__field(__u16, entropy)
		__field(__u16, len)
		__field(__u32, psn)
		__field(__u8, trimmed)
	),

	TP_fast_assign(
		const struct ndphdr *nh = ndp_hdr(skb);
		bool data = ndp_hdr_type(nh) == NDP_DATA;

		NDP_TRACE_NAMED(np);
		__entry->type = ndp_hdr_type(nh);
		__entry->flags = nh->flags;
		__entry->path = ntohs(nh->path);
		__entry->entropy = ntohs(udp_hdr(skb)->source);
		__entry->len = data ? ntohs(nh->len) : 0;
		__entry->psn = ntohl(nh->psn);
		__entry->trimmed = data && ndp_arrival(skb) == NDP_ARRIVED_TRIMMED;
	),

	TP_printk(NDP_TRACE_NAMES_FMT
		  "type=%s flags=%s psn=%u path=%u entropy=%u len=%u trimmed=%u",
		  NDP_TRACE_NAMES_ARGS, ndp_trace_type(__entry->type),
		  ndp_trace_flags(__entry->flags), __entry->psn, __entry->path,
		  __entry->entropy, __entry->len, __entry->trimmed)
);

/* Pulls: @counter is the pull counter afterwards, the same at both ends. */
DECLARE_EVENT_CLASS(ndp_pulls,
	TP_PROTO(const struct ndp_sock *np, u32 pulls, u32 counter),
	TP_ARGS(np, pulls, counter),

	TP_STRUCT__entry(
		NDP_TRACE_NAMES
		__field(__u32, pulls)
		__field(__u32, counter)
	),

	TP_fast_assign(
		NDP_TRACE_NAMED(np);
		__entry->pulls = pulls;
		__entry->counter = counter;
	),

	TP_printk(NDP_TRACE_NAMES_FMT "pulls=%u counter=%u",
		  NDP_TRACE_NAMES_ARGS, __entry->pulls, __entry->counter)
);

/* The receiver grants pulls; its next packet to the sender carries them. */
DEFINE_EVENT(ndp_pulls, ndp_pull,
	TP_PROTO(const struct ndp_sock *np, u32 pulls, u32 counter),
	TP_ARGS(np, pulls, counter)
);

/* The sender learns of pulls that it was granted. */
DEFINE_EVENT(ndp_pulls, ndp_pulled,
	TP_PROTO(const struct ndp_sock *np, u32 pulls, u32 counter),
	TP_ARGS(np, pulls, counter)
);

/*
 * Paths belong to the peer, and all connections to it share them: the event names the connection
 * whose packet caused it.  @control: the path is used for answers, else for DATA; @lost: it was
 * left out because of losses, not because of trimming; @out_ns: for how long it is, or was, left
 * out.
 */
TRACE_EVENT(ndp_path,
	TP_PROTO(const struct ndp_sock *np, bool control, u16 path, enum ndp_path_news news),
	TP_ARGS(np, control, path, news),

	TP_STRUCT__entry(
		NDP_TRACE_NAMES
		__field(__u8, news)
		__field(__u8, control)
		__field(__u8, lost)
		__field(__u16, path)
		__field(__u16, entropy)
		__field(__u64, out_ns)
	),

	TP_fast_assign(
		const struct ndp_path *p = &np->peer->path[path];
		const struct ndp_score *s = control ? &p->control : &p->data;

		NDP_TRACE_NAMED(np);
		__entry->news = news;
		__entry->control = control;
		__entry->lost = s->silent;
		__entry->path = path;
		__entry->entropy = ntohs(READ_ONCE(p->sport));
		__entry->out_ns = s->out_ns;
	),

	TP_printk(NDP_TRACE_NAMES_FMT
		  "news=%s control=%u lost=%u path=%u entropy=%u out_ns=%llu",
		  NDP_TRACE_NAMES_ARGS, ndp_trace_news(__entry->news), __entry->control,
		  __entry->lost, __entry->path, __entry->entropy,
		  (unsigned long long)__entry->out_ns)
);

/*
 * A packet is declared lost: @path is the path number of its latest transmission, @entropy the
 * UDP source port of that path, 0 if it has another now; @waited_ns is the time since that
 * transmission; @again: it was not the first.
 */
DECLARE_EVENT_CLASS(ndp_loss,
	TP_PROTO(const struct ndp_sock *np, const struct ndp_tx_cb *cb),
	TP_ARGS(np, cb),

	TP_STRUCT__entry(
		NDP_TRACE_NAMES
		__field(__u32, psn)
		__field(__u16, path)
		__field(__u16, entropy)
		__field(__u8, again)
		__field(__u64, waited_ns)
	),

	TP_fast_assign(
		const struct ndp_path *p = &np->peer->path[ndp_path_index(cb->path)];

		NDP_TRACE_NAMED(np);
		__entry->psn = cb->psn;
		__entry->path = cb->path;
		__entry->entropy = ndp_path_is_current(np->peer, cb->path) ?
				   ntohs(READ_ONCE(p->sport)) : 0;
		__entry->again = cb->rtx;
		__entry->waited_ns = ktime_get_ns() - cb->sent_at;
	),

	TP_printk(NDP_TRACE_NAMES_FMT "psn=%u path=%u entropy=%u again=%u waited_ns=%llu",
		  NDP_TRACE_NAMES_ARGS, __entry->psn, __entry->path, __entry->entropy,
		  __entry->again, (unsigned long long)__entry->waited_ns)
);

/* A packet has timed out. */
DEFINE_EVENT(ndp_loss, ndp_timeout,
	TP_PROTO(const struct ndp_sock *np, const struct ndp_tx_cb *cb),
	TP_ARGS(np, cb)
);

/* The order of answers shows that a packet is lost. */
DEFINE_EVENT(ndp_loss, ndp_lost,
	TP_PROTO(const struct ndp_sock *np, const struct ndp_tx_cb *cb),
	TP_ARGS(np, cb)
);

/* A socket's state changes; states have TCP's names. */
TRACE_EVENT(ndp_state,
	TP_PROTO(const struct ndp_sock *np, int oldstate, int newstate),
	TP_ARGS(np, oldstate, newstate),

	TP_STRUCT__entry(
		NDP_TRACE_NAMES
		__field(__u8, oldstate)
		__field(__u8, newstate)
	),

	TP_fast_assign(
		NDP_TRACE_NAMED(np);
		__entry->oldstate = oldstate;
		__entry->newstate = newstate;
	),

	TP_printk(NDP_TRACE_NAMES_FMT "oldstate=%s newstate=%s",
		  NDP_TRACE_NAMES_ARGS, ndp_trace_state(__entry->oldstate),
		  ndp_trace_state(__entry->newstate))
);

#endif /* _NDP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
