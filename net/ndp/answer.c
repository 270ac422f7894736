// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP receiving: control packets, most of them answers to what we sent (NDP paper,
 * section 3.2).
 *
 * An ACK completes a packet, a NACK makes it wait for a pull, and both report the peer's
 * pull counter and window.  A PULL also acknowledges all packets below its PSN.  A header
 * that a switch returned is an answer too (section 3.2.4).
 *
 * Non-goals: what is sent in response (output.c).
 */
#include "transport.h"

/*
 * How often in a row a packet's header may be returned before the packet waits for its
 * timeout; 4 bits.  In an incast some headers are returned two or three times.
 */
#define NDP_BOUNCES_MAX		8

static void ndp_ack_packet(struct ndp_sock *np, struct sk_buff *skb,
			   bool cumulative)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	np->counters.bytes_acked += skb->len;
	ndp_rto_restart(np);
	np->rto_from = ndp_now(np);
	np->tail_probes = 0;
	/*
	 * Only an ACK ends the backoff of PROBEs, credit does not: a peer that pulls packets
	 * and then refuses them is probed less and less often.
	 */
	np->stalled_since = 0;
	np->probe_ns = max(NDP_PROBE_MIN, ndp_rto_base(np));
	if (np->orphan_since)
		np->orphan_since = np->rto_from;
	ndp_mtu_arrived(np, skb);
	ndp_tp_acked(np, cb, cumulative);
	if (cb->by_order && cb->rtx && !cb->fin)
		ndp_order_done(np, cb->psn);
	ndp_tx_done(np, skb);
}

/*
 * Once our FIN is acknowledged and the peer's has arrived, the initiator sends one more ACK:
 * its earlier ACK of the peer's FIN may have had no LAST, which shortens the acceptor's
 * tombstone.
 */
static void ndp_tell_done(struct ndp_sock *np)
{
	if (!ndp_fin_acked(np))
		return;
	if (np->rcv_fin && !np->acceptor)
		ndp_send_answer(np, NDP_ACK, np->rcv_nxt - 1, 0, 0, NULL);
	else if (!ndp_peer_finished(np) && np->orphan_since)
		ndp_orphan_limit(np, true);
}

static void ndp_acked(struct ndp_sock *np, bool was_done)
{
	struct sock *sk = ndp_to_sk(np);

	if (!was_done)
		ndp_tell_done(np);
	/* Pairs with the barrier in ndp_poll_write(): a writer without room sets SOCK_NOSPACE. */
	smp_mb();
	if (sk->sk_socket && test_bit(SOCK_NOSPACE, &sk->sk_socket->flags))
		sk->sk_write_space(sk);
	if (ndp_fin_acked(np))
		sk->sk_state_change(sk);
	ndp_conn_check_done(np);
}

/*
 * A cumulative PSN acknowledges all packets below it.  That of an unverified peer could be
 * a guess that acknowledges many packets, and is ignored.
 */
static void ndp_rcv_cumulative(struct ndp_sock *np, u32 psn)
{
	struct rb_node *node;

	if (ndp_is_unverified(np))
		return;
	if (psn - np->snd_una > np->snd_nxt - np->snd_una)
		return;
	while ((node = rb_first(&np->txq))) {
		struct sk_buff *skb = rb_to_skb(node);

		if (!psn_before(ndp_tx_cb(skb)->psn, psn))
			break;
		/* Of several transmissions any may have arrived, so that the path is unknown. */
		if (!ndp_tx_cb(skb)->rtx)
			ndp_path_good(np, ndp_tx_cb(skb)->path);
		ndp_ack_packet(np, skb, true);
	}
}

/**
 * ndp_rcv_riding - receive the ACK that a DATA or FIN packet carries
 * @np:		connection
 * @nh:		header of that packet, with NDP_F_CUM
 *
 * The ACK is that of the packet right below the cumulative PSN, and of all before it.
 *
 * Context: np->lock held, softirq; the caller has a reference.  May end the connection.
 */
void ndp_rcv_riding(struct ndp_sock *np, const struct ndphdr *nh)
{
	bool done = ndp_fin_acked(np);
	u32 cum = ntohl(nh->window);
	u32 una = np->snd_una;
	struct sk_buff *skb;

	if (ndp_is_unverified(np))
		return;
	skb = ndp_tx_find(np, cum - 1);
	if (skb) {
		if (!ndp_tx_cb(skb)->rtx) {
			ndp_rtt_answer(np, ndp_tx_cb(skb));
			ndp_path_good(np, ndp_tx_cb(skb)->path);
		}
		ndp_ack_packet(np, skb, false);
	}
	ndp_rcv_cumulative(np, cum);
	if (np->snd_una == una)
		return;
	np->counters.acks_in++;
	NDP_CONN_INC(np, ACK_RODE_IN);
	/* A FIN of the peer is about to be queued, and its own ACK reports that we are done. */
	ndp_acked(np, done || ndp_hdr_type(nh) == NDP_FIN);
}

/*
 * Receive the other packets that an ACK names.  The ACK does not carry their paths: a
 * retransmitted packet may have arrived by any of those that it took.
 */
static void ndp_rcv_joined(struct ndp_sock *np, const struct sk_buff *ack)
{
	struct rb_node *next = NULL;
	struct sk_buff *skb;
	u32 psn, first = 0;
	u64 map;

	for (map = ndp_rcv_acks(np, ack, &first); map; map &= map - 1) {
		psn = first + __ffs64(map);
		/* The PSNs are usually consecutive. */
		if (next && ndp_tx_cb(rb_to_skb(next))->psn == psn)
			skb = rb_to_skb(next);
		else
			skb = ndp_tx_find(np, psn);
		if (!skb)
			continue;
		next = rb_next(&skb->rbnode);
		/* An ACK that names several packets answers their first transmissions. */
		if (ndp_tx_cb(skb)->rtx)
			ndp_rtt_answer(np, ndp_tx_cb(skb));
		else
			ndp_path_good(np, ndp_tx_cb(skb)->path);
		ndp_order_acked(np, ndp_tx_cb(skb), ndp_tx_cb(skb)->path, false);
		ndp_ack_packet(np, skb, false);
		NDP_CONN_INC(np, ACK_JOINED_IN);
	}
}

static void ndp_note_mark(struct ndp_sock *np, const struct ndphdr *nh)
{
	if (!(nh->flags & NDP_F_ECE))
		return;
	np->counters.ece_in++;
	NDP_CONN_INC(np, ECE_IN);
}

static void ndp_rcv_ack(struct ndp_sock *np, const struct sk_buff *ack)
{
	const struct ndphdr *nh = ndp_hdr(ack);
	bool done = ndp_fin_acked(np);
	struct sk_buff *skb = ndp_tx_find(np, ntohl(nh->psn));
	u16 path = ndp_path_from_wire(np, nh->echo_path);

	np->counters.acks_in++;
	ndp_note_mark(np, nh);
	if (nh->flags & NDP_F_PULL)
		ndp_tp_granted(np, nh);
	if (nh->flags & NDP_F_LAST)
		np->peer_done = true;
	if (skb) {
		struct ndp_tx_cb *cb = ndp_tx_cb(skb);

		ndp_verified_by_answer(np, cb, path);
		if (!(nh->flags & NDP_F_RTX) && !ndp_is_unverified(np))
			ndp_rtt_answer(np, cb);
		ndp_path_good(np, path);
		ndp_path_judge(np, cb, path, nh->flags);
		ndp_order_acked(np, cb, path, nh->flags & NDP_F_RTX);
		ndp_ack_packet(np, skb, false);
	} else if (!(nh->flags & NDP_F_RTX)) {
		ndp_order_late(np, ntohl(nh->psn));
	}
	if (nh->flags & NDP_F_ACKS)
		ndp_rcv_joined(np, ack);
	if (!np->tp->credit && nh->flags & NDP_F_PULL)
		ndp_rcv_cumulative(np, ntohl(nh->pull));
	ndp_order_check(np);
	ndp_tp_answered(np, nh, skb);
	ndp_acked(np, done);
}

static void ndp_rcv_nack(struct ndp_sock *np, const struct ndphdr *nh)
{
	struct sk_buff *skb = ndp_tx_find(np, ntohl(nh->psn));
	u16 path = ndp_path_from_wire(np, nh->echo_path);
	struct ndp_tx_cb *cb;

	np->counters.nacks_in++;
	ndp_note_mark(np, nh);
	if (nh->flags & NDP_F_PULL)
		ndp_tp_granted(np, nh);
	if (skb) {
		ndp_verified_by_answer(np, ndp_tx_cb(skb), path);
		ndp_path_judge(np, ndp_tx_cb(skb), path, nh->flags);
		if (ndp_tx_cb(skb)->by_order && !(nh->flags & NDP_F_RTX))
			ndp_order_wrong(np, ndp_tx_cb(skb));
	}
	/* Ignore an answer to an earlier transmission: the latest one is still in flight. */
	if (!skb || ndp_tx_cb(skb)->state != NDP_TX_FLIGHT || ndp_tx_cb(skb)->path != path ||
	    (ndp_tx_cb(skb)->rtx && !(nh->flags & NDP_F_RTX))) {
		ndp_tp_answered(np, nh, false);
		return;
	}
	cb = ndp_tx_cb(skb);
	ndp_order_answered(np, cb->sent_at);
	/* A NACK says nothing about the path where the transport may have refused the packet. */
	if (!np->tp->takes)
		ndp_path_trimmed(np, cb->path);
	if (!np->stalled_since)
		np->stalled_since = ktime_get_ns();
	ndp_rto_restart(np);
	cb->bounces = 0;
	ndp_tp_nacked(np, cb);
	ndp_tx_nacked(np, skb);
	ndp_tp_answered(np, nh, true);
}

/**
 * ndp_rcv_bounced - a header was returned because a header queue was full
 * @np:		connection
 * @nh:		that header
 *
 * Section 3.2.4.  The transport decides whether the packet is sent again or waits.  A packet
 * whose header is returned time after time waits for its timeout, so that the full queue is
 * not tried each round trip.
 *
 * Context: np->lock held; the caller calls ndp_output().
 */
void ndp_rcv_bounced(struct ndp_sock *np, const struct ndphdr *nh)
{
	struct sk_buff *skb = ndp_tx_find(np, ntohl(nh->psn));
	struct ndp_tx_cb *cb;

	np->counters.bounces_in++;
	if (!skb)
		return;
	cb = ndp_tx_cb(skb);
	if (cb->state != NDP_TX_FLIGHT ||
	    cb->path != ndp_path_from_wire(np, nh->path))
		return;
	ndp_path_trimmed(np, cb->path);
	if (cb->bounces >= NDP_BOUNCES_MAX) {
		cb->bounced = 1;
		return;
	}
	cb->bounces++;
	ndp_rto_restart(np);
	if (ndp_tp_returned(np, cb)) {
		NDP_CONN_INC(np, BOUNCED_RTX);
		ndp_tx_lost(np, skb);
	} else {
		ndp_tx_nacked(np, skb);
	}
}

/*
 * The peer did not keep the packet for which it asks a cookie, so the packet is sent again
 * once the connection is open.  Packets sent after our cookie find it open.
 */
static void ndp_rcv_refused(struct ndp_sock *np, u32 psn)
{
	struct sk_buff *skb = ndp_tx_find(np, psn);

	if (!skb || ndp_tx_cb(skb)->state != NDP_TX_FLIGHT)
		return;
	ndp_tx_cb(skb)->refused = 1;
	/* Resend a packet without a pull only once. */
	if (np->answered && !ndp_tx_cb(skb)->rtx)
		ndp_tx_lost(np, skb);
}

/* A PULL acknowledges all packets below its PSN. */
static void ndp_rcv_pull(struct ndp_sock *np, const struct ndphdr *nh)
{
	bool done = ndp_fin_acked(np);
	u32 una = np->snd_una;

	ndp_tp_granted(np, nh);
	ndp_rcv_cumulative(np, ntohl(nh->psn));
	ndp_tp_pulled(np, nh);
	if (np->snd_una != una)
		ndp_acked(np, done);
}

/*
 * The peer has data and may not send it.  If there is no room, wake the reader, so that it
 * takes a part of a message, or less than SO_RCVLOWAT.
 */
static void ndp_rcv_probe(struct ndp_sock *np, const struct ndphdr *nh)
{
	/* The peer's data may all be lost, or there is none: a keepalive of an acceptor. */
	if (!np->irs_known)
		ndp_learn_irs(np, ntohl(nh->psn) - ndp_hdr_psn_off(nh));
	if (ndp_must_verify(np))
		ndp_challenge(np);
	ndp_tp_probed(np);
	if (ndp_readable(np))
		ndp_to_sk(np)->sk_data_ready(ndp_to_sk(np));
}

/* The initiator shows a cookie that it was asked for, or a token that it was given. */
static void ndp_rcv_proof(struct ndp_sock *np, const struct ndphdr *nh)
{
	const struct ndp_net *nn = np->nn;
	bool stale;

	if (!ndp_learn_irs(np, ntohl(nh->psn)))
		return;
	if (nh->flags & NDP_F_TOKEN) {
		if (ndp_token_good(nn, &np->daddr, nh, &stale))
			ndp_verified(np, stale);
		return;
	}
	if (!ndp_cookie_good(nn, &np->entry.key, nh))
		return;
	ndp_verified(np, ndp_is_unverified(np) || np->by_cookie);
	/* Ask now for the packets that were refused without the cookie. */
	ndp_tp_more(np, false);
}

/* The acceptor asks for proof of our address, or gives a token for later. */
static void ndp_rcv_cookie(struct ndp_sock *np, const struct ndphdr *nh)
{
	u64 cookie = ndp_hdr_cookie(nh);

	if (np->acceptor) {
		ndp_rcv_proof(np, nh);
		return;
	}
	if (nh->flags & NDP_F_TOKEN) {
		ndp_token_keep(np, cookie);
		return;
	}
	ndp_rcv_refused(np, ntohl(nh->psn));
	if (cookie == np->cookie)
		return;
	np->cookie = cookie;
	ndp_send_cookie(np, cookie, 0);
}

static void ndp_rcv_rst(struct ndp_sock *np, const struct ndphdr *nh)
{
	int err = ECONNRESET;

	/* Report a reset with TCP's errors: EPIPE if the peer's FIN arrived before it. */
	if (ndp_to_sk(np)->sk_state == TCP_SYN_SENT)
		err = ntohl(nh->reason) == NDP_REASON_TRANSPORT ? EPROTONOSUPPORT :
								  ECONNREFUSED;
	else if (np->rcv_fin)
		err = EPIPE;
	np->peer_done = true;
	ndp_conn_abort(np, err, false);
}

/**
 * ndp_rcv_control - receive a control packet other than FIN
 * @np:		connection
 * @skb:	packet, consumed
 *
 * Context: np->lock held, softirq, RCU read side; the caller has a reference.
 */
void ndp_rcv_control(struct ndp_sock *np, struct sk_buff *skb)
{
	const struct ndphdr *nh = ndp_hdr(skb);

	ndp_tp_header(np, skb->dev);
	switch (ndp_hdr_type(nh)) {
	case NDP_ACK:
		NDP_CONN_INC(np, ACK_IN);
		ndp_rcv_ack(np, skb);
		break;
	case NDP_NACK:
		NDP_CONN_INC(np, NACK_IN);
		ndp_rcv_nack(np, nh);
		break;
	case NDP_PULL:
		NDP_CONN_INC(np, PULL_IN);
		ndp_rcv_pull(np, nh);
		break;
	case NDP_PROBE:
		NDP_CONN_INC(np, PROBE_IN);
		ndp_rcv_probe(np, nh);
		break;
	case NDP_COOKIE:
		NDP_CONN_INC(np, COOKIE_IN);
		ndp_rcv_cookie(np, nh);
		break;
	case NDP_RST:
		NDP_CONN_INC(np, RST_IN);
		ndp_rcv_rst(np, nh);
		break;
	case NDP_SIGNAL:
		NDP_CONN_INC(np, SIGNAL_IN);
		if (np->tp->signal)
			np->tp->signal(np, ntohs(nh->kind), ntohl(nh->value));
		break;
	}
	consume_skb(skb);
}
