// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP receiving: validation of packets, and the lookup of their connections.
 *
 * A packet is validated, then matched to its connection, to a tombstone, or to a listener
 * for which it may open a connection (NDP paper, section 3.2.2).  data.c handles DATA and
 * FIN, answer.c the other types.
 *
 * All of it runs in the receive softirq under the connection's own lock, never
 * in the socket backlog, so that a reader's copy delays no answer.
 *
 * Non-goals: the opening itself (listen.c).
 */
#include <linux/filter.h>
#include "conn.h"
#include "event.h"
#include "trace.h"

static bool ndp_check_ok(const struct sk_buff *skb)
{
	struct in6_addr saddr, daddr;

	ndp_skb_addrs(skb, &saddr, &daddr);
	return !ndp_ip_checksum(ndp_hdr(skb), &saddr, &daddr);
}

/* Context: np->lock held.  Consumes @skb. */
static void ndp_rcv_conn(struct ndp_sock *np, struct sk_buff *skb)
{
	const struct ndphdr *nh = ndp_hdr(skb);
	enum ndp_type type = ndp_hdr_type(nh);
	struct net *net = sock_net(ndp_to_sk(np));

	if (ndp_to_sk(np)->sk_state == TCP_CLOSE) {
		ndp_drop(net, skb, NDP_STAT_DROP_CLOSED);
		return;
	}
	if (nh->flags & NDP_F_BOUNCED) {
		NDP_INC(net, BOUNCED_IN);
		trace_ndp_returned(np, nh, udp_hdr(skb)->source);
		ndp_rcv_bounced(np, nh);
		consume_skb(skb);
		ndp_output(np);
		return;
	}
	trace_ndp_receive(np, skb);
	if (ndp_is_unverified(np))
		ndp_unverified_received(np, skb);
	/* A peer that asks for a cookie has not opened the connection yet. */
	if (type != NDP_RST && type != NDP_COOKIE)
		ndp_conn_established(np);
	if (type == NDP_DATA || type == NDP_FIN) {
		/* No process is left to read the data, as in TCP's FIN_WAIT2. */
		if (ndp_rcv_after_close(np, skb))
			ndp_drop(net, skb, NDP_STAT_DROP_CLOSED);
		else
			ndp_rcv_data(np, skb);
	} else {
		ndp_rcv_control(np, skb);
	}
	ndp_output(np);
	if (ndp_to_sk(np)->sk_state == TCP_SYN_SENT)
		return;
	/* The silence clock starts anew, and runs only while an answer is expected. */
	np->silent_since = 0;
	if (np->snd_una != np->snd_nxt || np->probe_at)
		np->silent_since = ktime_get_ns();
	if (np->keep_at)
		ndp_keepalive_start(np);
}

static void ndp_key_of(struct net *net, const struct sk_buff *skb,
		       struct ndp_key *key)
{
	const struct ndphdr *nh = ndp_hdr(skb);
	bool from_acceptor = nh->vdt & NDP_FROM_ACCEPTOR;
	/* A bounced header has returned to its sender, so the direction bit is reversed. */
	bool bounced = nh->flags & NDP_F_BOUNCED;
	struct in6_addr to;

	memset(key, 0, sizeof(*key));
	key->net = net;
	key->conn_id = nh->conn_id;
	key->acceptor = from_acceptor == bounced;
	key->iport = from_acceptor ? nh->dport : nh->sport;
	key->aport = from_acceptor ? nh->sport : nh->dport;
	if (key->acceptor)
		ndp_skb_addrs(skb, &key->initiator, &to);
}

/* Does a BPF program of the socket or of its cgroup reject the packet? */
static bool ndp_filtered(struct sock *sk, struct sk_buff *skb)
{
	return sk_filter_trim_cap(sk, skb, skb->len);
}

static enum ndp_opening ndp_opening(const struct sk_buff *skb)
{
	const struct ndphdr *nh = ndp_hdr(skb);

	if (ndp_hdr_type(nh) != NDP_COOKIE)
		return NDP_OPENED_BY_DATA;
	return nh->flags & NDP_F_TOKEN ? NDP_OPENED_BY_TOKEN :
					 NDP_OPENED_BY_COOKIE;
}

static bool ndp_opening_suffices(struct net *net, const struct sock *lsk,
				 const struct sk_buff *skb,
				 const struct ndp_key *key)
{
	const struct ndp_net *nn = ndp_pernet(net);
	bool stale;

	switch (ndp_opening(skb)) {
	case NDP_OPENED_BY_COOKIE:
		return ndp_cookie_good(nn, key, ndp_hdr(skb));
	case NDP_OPENED_BY_TOKEN:
		return !ndp_cookies_only(nn) &&
		       ndp_token_good(nn, &key->initiator, ndp_hdr(skb), &stale);
	default:
		return !ndp_listen_demands_cookie(lsk) && !ndp_cookies_only(nn);
	}
}

/*
 * May a packet open a connection?  If it has to show a cookie and has no valid one, its
 * sender is sent one.
 */
static bool ndp_may_open(struct net *net, const struct sock *lsk,
			 const struct sk_buff *skb, const struct ndp_key *key)
{
	struct in6_addr from, to;

	if (ndp_opening_suffices(net, lsk, skb, key))
		return true;
	if (ndp_listen_demands_cookie(lsk) || ndp_cookies_only(ndp_pernet(net))) {
		ndp_skb_addrs(skb, &from, &to);
		ndp_event_flood(lsk, &to);
	}
	ndp_send_reply(net, skb, NDP_COOKIE, 0,
		       ndp_cookie_make(ndp_pernet(net), key));
	return false;
}

/* A packet that may open a connection has arrived, and there is a listener for it. */
static struct ndp_sock *ndp_rcv_opening(struct net *net, struct sock *lsk,
					struct sk_buff *skb,
					const struct ndp_key *key,
					enum ndp_stat *reason)
{
	const struct ndp_transport *tp;

	*reason = NDP_STAT_DROP_FILTER;
	if (ndp_filtered(lsk, skb))
		return NULL;
	*reason = NDP_STAT_DROP_MEMORY;
	if (ndp_tomb_refuses(ndp_pernet(net), key))
		return NULL;
	*reason = NDP_STAT_DROP_COOKIE;
	if (!ndp_may_open(net, lsk, skb, key))
		return NULL;
	*reason = NDP_STAT_DROP_TRANSPORT;
	tp = ndp_listen_transport(lsk, skb);
	if (!tp) {
		ndp_refuse(net, skb, NDP_REASON_TRANSPORT);
		return NULL;
	}
	*reason = NDP_STAT_DROP_BACKLOG;
	return ndp_listen_open(lsk, skb, key, ndp_opening(skb), tp);
}

/*
 * A packet of no connection.  With SYN it may open one; otherwise a sender of
 * data is told that its connection is gone.
 */
static struct ndp_sock *ndp_rcv_no_conn(struct net *net, struct sk_buff *skb,
					const struct ndp_key *key,
					enum ndp_stat *reason)
{
	const struct ndphdr *nh = ndp_hdr(skb);
	enum ndp_type type = ndp_hdr_type(nh);
	struct ndp_sock *np;
	struct sock *lsk;
	bool opens;

	*reason = NDP_STAT_DROP_NO_CONN;
	if (nh->flags & NDP_F_BOUNCED)
		return NULL;
	opens = ndp_hdr_opens(nh);
	if (type != NDP_DATA && type != NDP_FIN && type != NDP_PROBE &&
	    (type != NDP_COOKIE || !opens))
		return NULL;
	if (!opens || type == NDP_PROBE) {
		ndp_refuse(net, skb, NDP_REASON_NONE);
		return NULL;
	}
	lsk = ndp_listen_lookup(net, skb);
	if (!lsk) {
		*reason = NDP_STAT_DROP_NO_LISTENER;
		/* A token comes along with a first window: the RST for that DATA is enough. */
		if (ndp_opening(skb) != NDP_OPENED_BY_TOKEN)
			ndp_refuse(net, skb, NDP_REASON_NONE);
		return NULL;
	}
	np = ndp_rcv_opening(net, lsk, skb, key, reason);
	sock_put(lsk);
	return np;
}

/* Check a packet's form.  Return: a Drop counter, or __NDP_STAT_MAX if it is well formed. */
static enum ndp_stat ndp_validate(struct sk_buff *skb)
{
	unsigned int need = sizeof(struct udphdr) + sizeof(struct ndphdr);
	const struct ndphdr *nh;

	/* Pull the CRC into the linear part too, if the packet has one. */
	if (!pskb_may_pull(skb, clamp_t(unsigned int, skb->len, need,
					need + NDP_CRC_LEN)))
		return NDP_STAT_DROP_SHORT;
	nh = ndp_hdr(skb);
	if (skb->pkt_type != PACKET_HOST && skb->pkt_type != PACKET_LOOPBACK)
		return NDP_STAT_DROP_ADDRESS;
	if (ndp_hdr_version(nh) != NDP_VERSION)
		return NDP_STAT_DROP_VERSION;
	if (!ndp_check_ok(skb))
		return NDP_STAT_DROP_CHECKSUM;
	switch (ndp_hdr_type(nh)) {
	case NDP_DATA:
	case NDP_FIN:
		if (ndp_hdr_type(nh) == NDP_FIN && nh->len)
			return NDP_STAT_DROP_LENGTH;
		if (ndp_arrival(skb) == NDP_ARRIVED_WRONG)
			return NDP_STAT_DROP_LENGTH;
		break;
	case NDP_ACK:
	case NDP_NACK:
	case NDP_PULL:
	case NDP_PROBE:
	case NDP_RST:
	case NDP_COOKIE:
	case NDP_SIGNAL:
		/* Bytes behind the header may be an extension unknown here: no length check. */
		/* Switches bounce only numbered packets. */
		if (nh->flags & NDP_F_BOUNCED)
			return NDP_STAT_DROP_TYPE;
		break;
	default:
		return NDP_STAT_DROP_TYPE;
	}
	return __NDP_STAT_MAX;
}

/*
 * Was the packet's DSCP rewritten on its way, so that switch ports misclassify it?  The
 * DSCP of a trimmed packet is up to the switch that trimmed it.
 */
static bool ndp_remarked(const struct sk_buff *skb)
{
	const struct ndphdr *nh = ndp_hdr(skb);
	u8 dscp = ndp_skb_tos(skb) >> 2;

	if (nh->flags & NDP_F_BOUNCED)
		return false;
	if (ndp_hdr_type(nh) != NDP_DATA)
		return dscp != NDP_DSCP_CONTROL;
	return ndp_arrival(skb) == NDP_ARRIVED_WHOLE && dscp != NDP_DSCP_DATA;
}

/**
 * ndp_rcv - a packet arrived at the namespace's UDP socket
 * @udp:	that socket
 * @skb:	packet, data at the UDP header
 *
 * Context: softirq, RCU read side.
 * Return: 0, the packet was consumed.
 */
int ndp_rcv(struct sock *udp, struct sk_buff *skb)
{
	struct net *net = sock_net(udp);
	enum ndp_stat reason = ndp_validate(skb);
	struct ndp_sock *np = NULL;
	struct ndp_entry *e;
	struct ndp_key key;

	if (reason != __NDP_STAT_MAX)
		return ndp_drop(net, skb, reason);
	if (unlikely(ndp_remarked(skb)))
		NDP_INC(net, REMARKED_IN);

	ndp_key_of(net, skb, &key);
	e = ndp_entry_lookup(&key);
	if (e && e->tombstone) {
		ndp_tomb_rcv(net, container_of(e, struct ndp_tombstone, entry),
			     skb);
		consume_skb(skb);
		return 0;
	}
	reason = NDP_STAT_DROP_CLOSED;
	if (e)
		np = ndp_conn_get(e);
	else
		np = ndp_rcv_no_conn(net, skb, &key, &reason);
	if (!np)
		return ndp_drop(net, skb, reason);

	if (ndp_filtered(ndp_to_sk(np), skb)) {
		ndp_drop(net, skb, NDP_STAT_DROP_FILTER);
	} else {
		spin_lock(&np->lock);
		np->now = 0;
		ndp_rcv_conn(np, skb);
		spin_unlock(&np->lock);
	}
	sock_put(ndp_to_sk(np));
	return 0;
}
