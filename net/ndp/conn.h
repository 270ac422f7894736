/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, connections: how they send, receive, wait, begin and end.
 */
#ifndef _NDP_CONN_H
#define _NDP_CONN_H

#include "queue.h"

/* The largest initial window, bytes: what a link of 100 Gb/s carries in 170 us. */
#define NDP_IW_MAX_BYTES	(2 << 20)

/*
 * A buffer holds the truesize of the largest initial window, so that a receiver
 * that reads at line rate never refuses a packet.
 */
#define NDP_BUF_DEFAULT		(2 * NDP_IW_MAX_BYTES)

/* Bounds of the retransmission timeout. */
#define NDP_RTO_MIN		(1 * NDP_MSEC)
#define NDP_RTO_MAX		(200 * NDP_MSEC)

/* How long an ACK waits for the application's response (ack.c); well below NDP_RTO_MIN. */
#define NDP_ACK_DELAY		(200 * NDP_USEC)

/* A bare opening is sent after this long if no process writes or waits for data. */
#define NDP_SYN_DELAY		(1 * NDP_MSEC)

/* A sender that has data and no credit sends a PROBE after this long, doubling. */
#define NDP_PROBE_MIN		(10 * NDP_MSEC)
#define NDP_PROBE_MAX		(200 * NDP_MSEC)

/* The peer has acknowledged all that was written, and our FIN. */
static inline bool ndp_fin_acked(const struct ndp_sock *np)
{
	return np->fin_sent && READ_ONCE(np->snd_una) == np->snd_nxt;
}

/* NDP_SYNC_CONNECT, and the peer has not answered yet. */
static inline bool ndp_sync_opening(const struct sock *sk)
{
	return ndp_sk(sk)->sync_connect && sk->sk_state == TCP_SYN_SENT;
}

/* Run ndp_tasklet() after this softirq.  Context: np->lock held; the caller has a reference. */
static inline void ndp_tasklet_schedule(struct ndp_sock *np)
{
	if (test_and_set_bit(0, &np->tasklet_queued))
		return;
	sock_hold(ndp_to_sk(np));
	tasklet_schedule(&np->tasklet);
}

/* The peer will send no more data: its FIN has arrived, or it need not send one. */
static inline bool ndp_peer_finished(const struct ndp_sock *np)
{
	return np->rcv_fin || (np->closing && np->peer_done);
}

/* Both sides have finished sending, and both know that. */
static inline bool ndp_both_finished(const struct ndp_sock *np)
{
	return ndp_fin_acked(np) && ndp_peer_finished(np);
}

/*
 * May an ACK be delayed, or carried by DATA?  If so, the bits that are NDP_F_BOM and
 * NDP_F_SYNC otherwise are NDP_F_LATER and NDP_F_CUM in DATA.
 */
static inline bool ndp_has_later(const struct ndp_sock *np)
{
	return np->tp->credit || np->tp->asks;
}

/* Path numbers are masked on the wire, see verify.c. */
static inline __be16 ndp_path_to_wire(const struct ndp_sock *np, u16 path)
{
	return htons(path ^ np->path_mask);
}

static inline u16 ndp_path_from_wire(const struct ndp_sock *np, __be16 path)
{
	return ntohs(path) ^ np->path_mask;
}

/* Release data held back by MSG_MORE.  Context: np->lock held. */
static inline void ndp_uncork(struct ndp_sock *np)
{
	np->corked = false;
	np->more = false;
	np->cork_at = 0;
}

/*
 * The retransmission timeout in force.  The second timeout in a row is as long as the first, since
 * ports that do not trim often lose one packet twice; each later one doubles.
 */
static inline u64 ndp_rto(const struct ndp_sock *np)
{
	u32 doublings = np->backoff ? min(np->backoff - 1, 8U) : 0;
	u64 base = ndp_rto_base(np);

	return min(base << doublings, max(NDP_RTO_MAX, base));
}

/* When the packet being received arrived.  Context: np->lock held, softirq of its arrival. */
static inline u64 ndp_now(struct ndp_sock *np)
{
	if (!np->now)
		np->now = ktime_get_ns();
	return np->now;
}

/* The peer has answered: reset the timeout's backoff.  Context: np->lock held. */
static inline void ndp_rto_restart(struct ndp_sock *np)
{
	np->backoff = 0;
	np->backoff_next = 0;
}

/* xmit.c */
int ndp_xmit(struct ndp_sock *np, struct sk_buff *skb, struct sk_buff *queued, u16 pathno,
	     u8 dscp, u32 limit);
struct ndphdr *ndp_put_header(struct ndp_sock *np, struct sk_buff *skb,
			      enum ndp_type type, u8 flags, u32 psn,
			      u16 pathno);
void ndp_send_answer(struct ndp_sock *np, enum ndp_type type, u32 psn,
		     u16 echo_path, u8 flags, const struct ndp_acks *acks);
u16 ndp_send_control(struct ndp_sock *np, enum ndp_type type, u8 flags, u32 psn,
		     u16 echo_path, __be32 origin);
void ndp_send_probe(struct ndp_sock *np);
void ndp_send_rst(struct ndp_sock *np);
void ndp_send_signal(struct ndp_sock *np, u16 kind, u32 value);
void ndp_send_cookie(struct ndp_sock *np, u64 cookie, u8 flags);

/**
 * struct ndp_rtt - round-trip time as reported by socket options, ns
 * @srtt_ns:	smoothed RTT, 0 without a sample
 * @rttvar_ns:	mean deviation of the RTT
 * @rto_ns:	retransmission timeout in force
 */
struct ndp_rtt {
	u64			srtt_ns;
	u64			rttvar_ns;
	u64			rto_ns;
};

/* rtt.c */
void ndp_rto_init(struct ndp_sock *np, u64 rate);
void ndp_rto_back_off(struct ndp_sock *np, u64 now);
struct ndp_rtt ndp_rtt(const struct ndp_sock *np);
void ndp_rtt_answer(struct ndp_sock *np, const struct ndp_tx_cb *cb);

/* order.c */
void ndp_order_acked(struct ndp_sock *np, const struct ndp_tx_cb *cb, u16 path, bool again);
void ndp_order_done(struct ndp_sock *np, u32 psn);
void ndp_order_late(struct ndp_sock *np, u32 psn);
void ndp_order_check(struct ndp_sock *np);
void ndp_order_answered(struct ndp_sock *np, u64 sent_at);
void ndp_order_wrong(struct ndp_sock *np, const struct ndp_tx_cb *cb);
u64 ndp_tail_at(const struct ndp_sock *np);
void ndp_tail_probe(struct ndp_sock *np, u64 now);

/* deadline.c */
void ndp_timer_info(struct ndp_sock *np, struct ndp_info *info);
void ndp_timer_update(struct ndp_sock *np);
void ndp_timer_stop(struct ndp_sock *np);

/* patience.c */
int ndp_tcp_option(const struct ndp_sock *np, enum ndp_tcp_option_id id);
u64 ndp_user_timeout(const struct ndp_sock *np);
u64 ndp_orphan_time(const struct ndp_sock *np);
void ndp_keepalive_set(struct ndp_sock *np, bool on);
void ndp_keepalive_start(struct ndp_sock *np);
bool ndp_keepalive_check(struct ndp_sock *np, u64 now);

/* verify.c */

/* Are losses found by the order of answers?  Those of an unverified peer are no evidence. */
static inline bool ndp_has_order(const struct ndp_sock *np)
{
	return np->tp->overtaken && !ndp_is_unverified(np);
}

/*
 * When the timeout of a packet in flight began to run.  Without loss detection by the order of
 * answers that is when the packet itself was sent; with it no earlier than the last ACK or timeout.
 */
static inline u64 ndp_waits_since(const struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	return ndp_has_order(np) ? max(cb->sent_at, np->rto_from) : cb->sent_at;
}

/*
 * When a packet times out, or is tried again if the local qdisc refused it; ktime_get_ns().  Where
 * not each packet is answered (@asks), a PROBE asks the peer first, and a packet that the peer does
 * not have then was sent long enough ago to be lost.
 */
static inline u64 ndp_timeout_at(const struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	u64 least = np->tp->asks ? NDP_RTO_MAX : 0;

	return cb->local_drop ? cb->sent_at : ndp_waits_since(np, cb) + max(ndp_rto(np), least);
}

/**
 * ndp_listen_demands_cookie - does a listener open connections by cookies only?
 * @lsk:	listener
 *
 * Context: any.
 * Return: yes.
 */
static inline bool ndp_listen_demands_cookie(const struct sock *lsk)
{
	const struct ndp_sock *lnp = (const struct ndp_sock *)lsk;
	u32 most = max_t(u32, READ_ONCE(lsk->sk_ack_backlog),
			 atomic_read(&lnp->unverified));

	return 2ULL * most > READ_ONCE(lsk->sk_max_ack_backlog);
}

/*
 * The peer is unverified, and its listener demands cookies: challenge it and do not pull.
 * Context: as above.
 */
static inline bool ndp_must_verify(const struct ndp_sock *np)
{
	return ndp_is_unverified(np) &&
	       ndp_listen_demands_cookie(np->unverified_at);
}

/* Charge a packet to an unverified peer's amplification limit; skb->data at the NDP header. */
static inline void ndp_unverified_sent(struct ndp_sock *np,
				       const struct sk_buff *skb)
{
	np->unverified_out += skb->len + ndp_outer_len(np);
}

void ndp_unverified_begin(struct ndp_sock *np, struct sock *lsk);
void ndp_unverified_end(struct ndp_sock *np);
void ndp_unverified_received(struct ndp_sock *np, const struct sk_buff *skb);
void ndp_unverified_again(struct ndp_sock *np);
u32 ndp_unverified_most(const struct ndp_sock *np);
bool ndp_unverified_holds(struct ndp_sock *np, u32 len);
void ndp_verified(struct ndp_sock *np, bool challenged);
void ndp_verified_by_answer(struct ndp_sock *np, const struct ndp_tx_cb *cb,
			    u16 path);
void ndp_challenge(struct ndp_sock *np);
bool ndp_check_challenge(struct ndp_sock *np, u64 now);
void ndp_token_keep(struct ndp_sock *np, u64 value);
void ndp_token_show(struct ndp_sock *np);
void ndp_verify_net_init(struct ndp_net *nn);
void ndp_verify_net_exit(struct ndp_net *nn);

/* ack.c */
void ndp_ack(struct ndp_sock *np, const struct ndphdr *nh, u8 flags);
void ndp_ack_flush(struct ndp_sock *np);
bool ndp_ack_ends(struct ndp_sock *np);
bool ndp_ack_ride(const struct ndp_sock *np, struct ndphdr *nh);
void ndp_ack_rode(struct ndp_sock *np);
u64 ndp_rcv_acks(struct ndp_sock *np, const struct sk_buff *skb, u32 *first);

/* output.c */
void ndp_output(struct ndp_sock *np);
void ndp_send_open(struct ndp_sock *np);
void ndp_tasklet(struct tasklet_struct *t);

/* conn.c */
void ndp_conn_clear(struct ndp_sock *np);
int ndp_conn_setup(struct ndp_sock *np, gfp_t gfp);
void ndp_conn_established(struct ndp_sock *np);
void ndp_conn_abort(struct ndp_sock *np, int err, bool tell);
void ndp_conn_end(struct ndp_sock *np);
void ndp_conn_check_done(struct ndp_sock *np);
void ndp_conn_orphan(struct ndp_sock *np);
bool ndp_orphan_limit(struct ndp_sock *np, bool stalled);
void ndp_conn_purge(struct ndp_sock *np);
void ndp_conn_purge_unended(struct ndp_sock *np);

/* data.c */
void ndp_rcv_data(struct ndp_sock *np, struct sk_buff *skb);
bool ndp_rcv_after_close(struct ndp_sock *np, const struct sk_buff *skb);

/* answer.c */
void ndp_rcv_control(struct ndp_sock *np, struct sk_buff *skb);
void ndp_rcv_bounced(struct ndp_sock *np, const struct ndphdr *nh);
void ndp_rcv_riding(struct ndp_sock *np, const struct ndphdr *nh);

/* timer.c */
enum hrtimer_restart ndp_timer(struct hrtimer *t);

/**
 * enum ndp_opening - what an opening proves about its sender's address
 * @NDP_OPENED_BY_DATA:	nothing
 * @NDP_OPENED_BY_TOKEN: the address is the sender's, by a token of an earlier connection
 * @NDP_OPENED_BY_COOKIE: the same, by a cookie of this connection, which is good only once
 */
enum ndp_opening {
	NDP_OPENED_BY_DATA,
	NDP_OPENED_BY_TOKEN,
	NDP_OPENED_BY_COOKIE,
};

/* sock.c */
extern struct proto ndp_prot;
extern struct proto ndp6_prot;
int ndp_sock_register(void);
void ndp_sock_unregister(void);
struct sock *ndp_sock_alloc(struct net *net, struct socket *sock,
			    int family, int kern);
struct ndp_sock *ndp_sock_clone(const struct sock *lsk,
				const struct ndp_transport *tp);
void ndp_set_names(struct sock *sk, const struct in6_addr *local,
		   const struct in6_addr *peer, __be16 dport);
void ndp_forget_names(struct sock *sk);
int ndp_priority(const struct ndp_sock *np);

/* bind.c */
struct in6_addr ndp_bound_addr(const struct sock *sk);
int ndp_bind_port(struct sock *sk, unsigned short port);
int ndp_autobind(struct sock *sk);
void ndp_unbind(struct sock *sk);
int ndp_listen_add(struct sock *sk);
void ndp_listen_renew(struct sock *sk);
void ndp_listen_del(struct sock *sk);
struct sock *ndp_listen_lookup(struct net *net, struct sk_buff *skb);

/* listen.c */
struct ndp_sock *ndp_listen_open(struct sock *lsk, struct sk_buff *skb,
				 const struct ndp_key *key,
				 enum ndp_opening how,
				 const struct ndp_transport *tp);
const struct ndp_transport *ndp_listen_transport(const struct sock *lsk,
						 const struct sk_buff *skb);
void ndp_listen_flush(struct ndp_sock *lnp);
struct sock *ndp_accept_dequeue(struct ndp_sock *lnp);
void ndp_child_accepted(struct ndp_sock *np);

/* input.c */
int ndp_rcv(struct sock *udp, struct sk_buff *skb);

/* udp.c */
int ndp_udp_get(struct net *net, int family);
void ndp_udp_net_exit(struct ndp_net *nn);

#endif /* _NDP_CONN_H */
