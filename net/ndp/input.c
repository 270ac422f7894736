// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP receiving (NDP paper, section 3.2).
 *
 * Every DATA packet is answered at once: ACK when it is whole, NACK when it
 * was trimmed, and each earns its sender a pull (pull.c).  A packet whose
 * payload CRC is wrong, or for which there is no room, is answered as if it
 * had been trimmed.  Packets arrive in any order; what lies beyond a gap waits
 * in a tree by PSN.  Duplicates are acknowledged again and earn nothing.
 *
 * LAST on the highest PSN heard of ends pulling for new data: from there on no
 * more pulls are owed than packets are missing that were not pulled yet.
 *
 * What finds no room is refused: it is answered as if it had been trimmed, and from then
 * on nothing is pulled until the reader takes something or the peer asks (PROBE, whose
 * interval doubles).  Only the lowest missing packet, if it came trimmed, is pulled even
 * so, because it has a slot of its own.  A refused packet hence comes back no faster than
 * room can appear, but for one packet for each pull granted before the refusal: an initial
 * window at most.  A FIN in order takes no room, and is never refused.  A packet that
 * arrives trimmed or damaged each time is pulled once a round trip.
 *
 * All of it runs in the receive softirq under the connection's own lock, never
 * in the socket backlog, so that a reader's copy delays no answer.
 *
 * Non-goals: the initial window and what may be sent (output.c).
 */
#include <linux/filter.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include "ndp.h"

static int ndp_drop(struct net *net, struct sk_buff *skb, enum ndp_stat reason)
{
	this_cpu_inc(ndp_pernet(net)->stats->v[reason]);
	kfree_skb(skb);
	return 0;
}

static const struct ndphdr *ndp_hdr(const struct sk_buff *skb)
{
	return (const struct ndphdr *)(udp_hdr(skb) + 1);
}

static bool ndp_check_ok(const struct sk_buff *skb)
{
	struct in6_addr saddr, daddr;

	ndp_skb_addrs(skb, &saddr, &daddr);
	return !ndp_ip_checksum(ndp_hdr(skb), &saddr, &daddr);
}

/* In order and without payload: it is taken at once, and charged to nobody. */
static bool ndp_takes_no_room(const struct ndp_sock *np, const struct ndphdr *nh)
{
	return !nh->len && ntohl(nh->psn) == np->rcv_nxt;
}

/* How a DATA or FIN packet arrived. */
enum ndp_arrival {
	NDP_ARRIVED_WHOLE,
	NDP_ARRIVED_TRIMMED,
	NDP_ARRIVED_WRONG,	/* longer than it says */
	NDP_ARRIVED_REFUSED,	/* whole, and there is no room */
};

static enum ndp_arrival ndp_arrival(const struct sk_buff *skb)
{
	unsigned int len = ntohs(ndp_hdr(skb)->len);
	unsigned int have = skb->len - sizeof(struct udphdr) -
			    sizeof(struct ndphdr);
	unsigned int want = len ? len + NDP_CRC_LEN : 0;

	if (have > want)
		return NDP_ARRIVED_WRONG;
	return have == want ? NDP_ARRIVED_WHOLE : NDP_ARRIVED_TRIMMED;
}

static bool ndp_crc_ok(struct sk_buff *skb)
{
	unsigned int off = sizeof(struct udphdr) + NDP_HDR_LEN;
	unsigned int len = ntohs(ndp_hdr(skb)->len);

	if (!len)
		return true;
	/* ndp_validate() has made the CRC field linear. */
	return get_unaligned_be32(ndp_hdr(skb) + 1) ==
	       ndp_skb_crc(skb, off, len);
}

/* Learn the peer's first PSN from the first packet.  Return: does this packet agree with it? */
static bool ndp_learn_irs(struct ndp_sock *np, u32 irs)
{
	if (!np->irs_known) {
		np->irs_known = true;
		np->irs = irs;
		np->rcv_nxt = irs;
		np->rcv_max = irs - 1;
		np->told_psn = irs;
	}
	return np->irs == irs;
}

/* The highest PSN heard of decides whether new data is pulled. */
static void ndp_note_last(struct ndp_sock *np, const struct ndphdr *nh, u32 psn)
{
	if (psn_before(np->rcv_max, psn)) {
		np->rcv_max = psn;
		np->rcv_last = nh->flags & NDP_F_LAST;
	}
	/* All data has arrived and LAST was set, so no pulled packet is outstanding. */
	if (np->rcv_last && !ndp_has_gap(np)) {
		np->reserved = 0;
		ndp_pull_forget_turns(np);
	}
}

static bool ndp_was_pushed(const struct ndphdr *nh)
{
	return nh->flags & NDP_F_SYN && !(nh->flags & NDP_F_RTX);
}

/* A pulled packet's arrival releases the room that its pull reserved. */
static void ndp_note_pulled(struct ndp_sock *np, bool pushed, bool trimmed)
{
	ndp_pull_feedback(np, !pushed, trimmed);
	if (!pushed && np->reserved)
		np->reserved--;
}

/*
 * A packet has arrived and was noted.  After LAST a whole one of the first
 * window earns nothing: what is missing is on its way as it was.
 */
static void ndp_earn_pull(struct ndp_sock *np, bool pushed, bool trimmed)
{
	u32 missing = np->rcv_max + 1 - np->rcv_nxt - np->ooo_len;
	u32 most = NDP_MAX_WINDOW;

	if (np->rcv_last)
		most = missing - min(np->reserved, missing);
	np->pull_owed += trimmed || !pushed || !np->rcv_last;
	np->pull_owed = min(np->pull_owed, most);
	if (!ndp_must_verify(np))
		ndp_pull_request(np);
}

static void ndp_answer(struct ndp_sock *np, enum ndp_type type,
		       const struct ndphdr *nh, u8 tos)
{
	u8 flags = nh->flags & NDP_F_RTX;

	if (INET_ECN_is_ce(tos))
		flags |= NDP_F_ECE;
	if (ndp_fin_acked(np))
		flags |= NDP_F_LAST;
	ndp_send_answer(np, type, ntohl(nh->psn), ntohs(nh->path), flags);
}

/* Send a PULL if more pulls were granted than the answer carried. */
static void ndp_tell_pulls(struct ndp_sock *np)
{
	if (np->pull_told != np->pull_sent)
		ndp_send_pull(np);
}

/* Handle a packet that was trimmed, corrupted or refused for lack of room. */
static void ndp_rcv_trimmed(struct ndp_sock *np, struct sk_buff *skb,
			    enum ndp_arrival how)
{
	const struct ndphdr *nh = ndp_hdr(skb);

	if (how == NDP_ARRIVED_REFUSED) {
		np->rcv_refused = true;
		/* One of this size is what there must be room for. */
		np->rcv_truesize = max(np->rcv_truesize, skb->truesize);
	} else if (ntohl(nh->psn) == np->rcv_nxt) {
		np->low_waits = true;
	}
	ndp_pull_header(np, skb->dev);
	ndp_note_last(np, nh, ntohl(nh->psn));
	ndp_note_pulled(np, ndp_was_pushed(nh), true);
	ndp_earn_pull(np, ndp_was_pushed(nh), true);
	ndp_answer(np, NDP_NACK, nh, ndp_skb_tos(skb));
	kfree_skb(skb);
}

/* Strip the headers: the reader's skb holds payload, and its PSN in the control block. */
static void ndp_rcv_strip(struct sk_buff *skb, const struct ndphdr *nh)
{
	bool fin = ndp_hdr_type(nh) == NDP_FIN;
	u32 psn = ntohl(nh->psn);
	unsigned int len = ntohs(nh->len);

	__skb_pull(skb, sizeof(struct udphdr) + sizeof(struct ndphdr));
	if (len)
		__skb_pull(skb, NDP_CRC_LEN);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb_ext_reset(skb);
	skb->dev = NULL;
	*ndp_rx_cb(skb) = (struct ndp_rx_cb) {
		.psn = psn, .fin = fin, .eom = nh->flags & NDP_F_EOM,
	};
}

static void ndp_rcv_whole(struct ndp_sock *np, struct sk_buff *skb)
{
	struct ndphdr nh = *ndp_hdr(skb);
	u8 tos = ndp_skb_tos(skb);
	unsigned int len = ntohs(nh.len);

	np->rcv_mss = max(np->rcv_mss, len);
	np->rcv_truesize = max(np->rcv_truesize, skb->truesize);
	ndp_rcv_strip(skb, &nh);
	ndp_note_pulled(np, ndp_was_pushed(&nh), false);
	ndp_rcv_queue(np, skb);
	ndp_note_last(np, &nh, ntohl(nh.psn));
	ndp_earn_pull(np, ndp_was_pushed(&nh), false);
	ndp_answer(np, NDP_ACK, &nh, tos);
	ndp_conn_check_done(np);
}

/* Receive a DATA or FIN packet.  Consumes @skb. */
static void ndp_rcv_data(struct ndp_sock *np, struct sk_buff *skb)
{
	struct net *net = sock_net(ndp_to_sk(np));
	const struct ndphdr *nh = ndp_hdr(skb);
	enum ndp_arrival how = ndp_arrival(skb);
	u32 psn = ntohl(nh->psn);
	s32 ahead;

	if (!ndp_learn_irs(np, psn - ntohl(nh->psn_off))) {
		ndp_drop(net, skb, NDP_STAT_DROP_PSN);
		return;
	}
	ahead = psn - np->rcv_nxt;
	if (ahead >= NDP_MAX_WINDOW || ahead < -2 * NDP_MAX_WINDOW) {
		ndp_drop(net, skb, NDP_STAT_DROP_WINDOW);
		return;
	}
	/* As TCP: dropped. */
	if (np->rcv_fin && ahead >= 0) {
		ndp_drop(net, skb, NDP_STAT_DROP_PSN);
		return;
	}
	if (ndp_must_verify(np))
		ndp_challenge(np);
	ndp_pull_device(np, skb->dev);
	if (ndp_hdr_type(nh) == NDP_FIN)
		NDP_INC(net, FIN_IN);
	else if (!nh->len)
		NDP_INC(net, OPEN_IN);
	else if (how == NDP_ARRIVED_WHOLE)
		NDP_INC(net, DATA_IN);
	else
		NDP_INC(net, TRIMMED_IN);
	if (how == NDP_ARRIVED_WHOLE)
		np->info.data_in++;
	else
		np->info.trims_in++;

	if (ahead < 0 || ndp_ooo_find(np, psn)) {
		NDP_INC(net, DUP_IN);
		np->info.dups_in++;
		if (!ndp_was_pushed(nh) && np->reserved)
			np->reserved--;
		ndp_path_answer_lost(np, psn);
		ndp_answer(np, NDP_ACK, nh, ndp_skb_tos(skb));
		kfree_skb(skb);
		return;
	}
	if (how == NDP_ARRIVED_WHOLE && !ndp_crc_ok(skb)) {
		NDP_INC(net, CRC_IN);
		np->info.crc_in++;
		how = NDP_ARRIVED_TRIMMED;
	}
	if (how == NDP_ARRIVED_WHOLE && !ndp_takes_no_room(np, nh) &&
	    (!ndp_room_for(np, skb, psn) || !ndp_rmem_charge(np, skb))) {
		NDP_INC(net, NO_ROOM_IN);
		np->info.noroom_in++;
		how = NDP_ARRIVED_REFUSED;
	}
	if (how == NDP_ARRIVED_WHOLE) {
		NDP_ADD(net, DATA_BYTES_IN, ntohs(nh->len));
		ndp_rcv_whole(np, skb);
	} else {
		ndp_rcv_trimmed(np, skb, how);
	}
	ndp_tell_pulls(np);
}

/* Data for a socket that no process reads any more is answered by a reset, as in TCP. */
static bool ndp_rcv_after_close(struct ndp_sock *np, const struct sk_buff *skb)
{
	const struct ndphdr *nh = ndp_hdr(skb);
	u32 psn = ntohl(nh->psn);

	if (!sock_flag(ndp_to_sk(np), SOCK_DEAD) || np->listener ||
	    ndp_hdr_type(nh) != NDP_DATA || !nh->len)
		return false;
	if (!np->irs_known || psn_before(psn, np->rcv_nxt))
		return false;
	ndp_conn_abort(np, 0, true);
	return true;
}

/* The sender's side: answers. */

/*
 * Answers overtake one another.  The newest has the highest pull counter, and of those
 * the highest PSN, of what was sent.
 */
static void ndp_rcv_window(struct ndp_sock *np, const struct ndphdr *nh)
{
	s32 newer = ntohl(nh->pull) - np->pull_rcvd;
	u32 psn = ntohl(nh->psn);

	if (newer < 0 || (!newer && psn_before(psn, np->window_psn)) ||
	    psn_before(np->snd_nxt, psn))
		return;
	np->window_psn = psn;
	np->snd_window = ntohl(nh->window);
}

static void ndp_rcv_credit(struct ndp_sock *np, const struct ndphdr *nh)
{
	u32 pull = ntohl(nh->pull);
	u32 advance = pull - np->pull_rcvd;
	u32 keep = max_t(u32, np->iw, np->rtx_pkts);

	if ((s32)advance <= NDP_MAX_WINDOW)
		ndp_rcv_window(np, nh);
	if ((s32)advance <= 0)
		return;
	/* A peer cannot have earned more pulls than packets fit into the largest window. */
	if (advance > NDP_MAX_WINDOW) {
		NDP_INC(sock_net(ndp_to_sk(np)), DROP_PULL);
		return;
	}
	np->pull_rcvd = pull;
	np->info.pulls_in += advance;
	NDP_ADD(sock_net(ndp_to_sk(np)), PULLED_IN, advance);
	np->credit = min(np->credit + advance, keep);
	np->expect_pulls = max_t(s32, np->expect_pulls - (s32)advance,
				 -(s32)np->iw);
	np->probe_at = 0;
}

static void ndp_ack_packet(struct ndp_sock *np, struct sk_buff *skb)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	np->info.bytes_acked += skb->len;
	ndp_rto_restart(np);
	/* Not by credit: a peer that pulls and then refuses is asked less and less often. */
	np->stalled_since = 0;
	np->probe_ns = max(NDP_PROBE_MIN, np->rto_ns);
	if (np->orphan_since)
		np->orphan_since = ktime_get_ns();
	ndp_mtu_arrived(np, skb);
	if (cb->rtx || psn_before(np->snd_last, cb->psn))
		np->expect_pulls++;
	ndp_tx_done(np, skb);
	/* After LAST the receiver pulls only missing packets. */
	if (np->snd_last == np->snd_nxt - 1)
		np->expect_pulls = min_t(s32, np->expect_pulls,
					 np->rtx_pkts + np->flight_pkts);
}

/*
 * All that we sent is acknowledged, our FIN included, and so is the peer's: it
 * may have been told before that was so, tell it that we are done.
 */
static void ndp_tell_done(struct ndp_sock *np)
{
	if (!ndp_fin_acked(np))
		return;
	if (np->rcv_fin)
		ndp_send_answer(np, NDP_ACK, np->rcv_nxt - 1, 0, NDP_F_LAST);
	else if (np->orphan_since)
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

static void ndp_rcv_ack(struct ndp_sock *np, const struct ndphdr *nh)
{
	bool done = ndp_fin_acked(np);
	struct sk_buff *skb = ndp_tx_find(np, ntohl(nh->psn));
	u16 path = ndp_path_from_wire(np, nh->echo_path);

	np->info.acks_in++;
	if (nh->flags & NDP_F_PULL)
		ndp_rcv_credit(np, nh);
	if (nh->flags & NDP_F_LAST)
		np->peer_done = true;
	if (skb) {
		struct ndp_tx_cb *cb = ndp_tx_cb(skb);

		if (!(nh->flags & NDP_F_RTX))
			ndp_rtt_answer(np, cb);
		if (path < np->paths->n)
			ndp_path_good(np->paths, path);
		np->ack_share += (256 - np->ack_share) / 16;
		ndp_verified_by_answer(np, cb, path);
		ndp_ack_packet(np, skb);
	}
	ndp_acked(np, done);
}

static void ndp_rcv_nack(struct ndp_sock *np, const struct ndphdr *nh)
{
	struct sk_buff *skb = ndp_tx_find(np, ntohl(nh->psn));
	u16 path = ndp_path_from_wire(np, nh->echo_path);
	struct ndp_tx_cb *cb;

	np->info.nacks_in++;
	if (nh->flags & NDP_F_PULL)
		ndp_rcv_credit(np, nh);
	if (!skb)
		return;
	cb = ndp_tx_cb(skb);
	ndp_verified_by_answer(np, cb, path);
	/* Ignore an answer to an earlier transmission: the latest one is still in flight. */
	if (cb->state != NDP_TX_FLIGHT || cb->path != path)
		return;
	ndp_path_trimmed(np, cb->path);
	np->ack_share -= np->ack_share / 16;
	if (!np->stalled_since)
		np->stalled_since = ktime_get_ns();
	ndp_rto_restart(np);
	cb->bounces = 0;
	np->expect_pulls++;
	ndp_tx_nacked(np, skb);
}

/* A PULL acknowledges all packets below its PSN. */
static void ndp_rcv_cumulative(struct ndp_sock *np, u32 psn)
{
	struct rb_node *node;

	if (psn - np->snd_una > np->snd_nxt - np->snd_una)
		return;
	while ((node = rb_first(&np->txq))) {
		struct sk_buff *skb = rb_to_skb(node);

		if (!psn_before(ndp_tx_cb(skb)->psn, psn))
			break;
		ndp_path_good(np->paths, ndp_tx_cb(skb)->path);
		ndp_ack_packet(np, skb);
	}
}

/*
 * The peer owes us nothing, and what we have sent was answered: start over as
 * after idleness, within its room.  This PULL tells of it, also if it is below a gap and
 * has a lower PSN than the newest answer.
 */
static void ndp_restart(struct ndp_sock *np, const struct ndphdr *nh)
{
	if (np->flight_pkts)
		return;
	np->snd_window = ntohl(nh->window);
	np->snd_last = np->snd_nxt - 1;
	np->flight_upto_last = 0;
	np->pushed_since_last = 0;
	np->expect_pulls = 0;
	ndp_tx_all_lost(np, &np->rtx, false);
}

static void ndp_rcv_pull(struct ndp_sock *np, const struct ndphdr *nh)
{
	bool done = ndp_fin_acked(np);
	u32 una = np->snd_una;

	ndp_rcv_credit(np, nh);
	/* A cumulative number of an unverified peer could be a guess that hits many packets. */
	if (!ndp_is_unverified(np))
		ndp_rcv_cumulative(np, ntohl(nh->psn));
	if (nh->flags & NDP_F_LAST && nh->window && !np->credit)
		ndp_restart(np, nh);
	if (np->snd_una != una)
		ndp_acked(np, done);
}

/*
 * The peer has data and no credit: tell it how things stand.  It has waited for
 * longer than a round trip, so that nothing that was pulled is still to come: pulls
 * that found it with nothing to send were forgotten.
 */
static void ndp_rcv_probe(struct ndp_sock *np)
{
	np->reserved = 0;
	np->rcv_refused = false;
	/* Without room now, owe the sender a pull for when there is; of a gap in any case. */
	if (!np->pull_owed &&
	    (!ndp_room(np) || (np->irs_known && ndp_has_gap(np))))
		np->pull_owed = 1;
	if (ndp_must_verify(np))
		ndp_challenge(np);
	else
		ndp_pull_request(np);
	ndp_send_pull(np);
	/*
	 * There is no room: wake the reader to take a part of a message, or less than it
	 * waits for.
	 */
	if (ndp_readable(np))
		ndp_to_sk(np)->sk_data_ready(ndp_to_sk(np));
}

/*
 * A header came back because a header queue was full (section 3.2.4).  Send
 * the packet again if most packets are getting through and this was the fault
 * of one path, or if it was pulled: the receiver counts on its arrival; or if it is a
 * FIN, of which the receiver does not even know.  Otherwise it waits for a pull; when none
 * is to be expected, as when all that was outstanding has come back, ndp_output_one()
 * sends it.  One that comes back time after time waits for its timeout: the queue
 * that it found full is not asked each round trip.
 */
static void ndp_rcv_bounced(struct ndp_sock *np, const struct ndphdr *nh)
{
	struct sk_buff *skb = ndp_tx_find(np, ntohl(nh->psn));
	struct net *net = sock_net(ndp_to_sk(np));
	struct ndp_tx_cb *cb;

	np->info.bounces_in++;
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
	if (np->ack_share > 128 || cb->pulled || cb->fin) {
		NDP_INC(net, BOUNCED_RTX);
		ndp_tx_lost(np, skb);
	} else {
		ndp_tx_nacked(np, skb);
	}
}

/*
 * The peer kept nothing of the packet that it asks a cookie for: it goes again once there
 * is a connection.  What is sent behind our cookie finds one.
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

/* The initiator shows a cookie that it was asked for, or a token that it was given. */
static void ndp_rcv_proof(struct ndp_sock *np, const struct ndphdr *nh)
{
	const struct ndp_net *nn = ndp_pernet(sock_net(ndp_to_sk(np)));
	bool stale;

	if (!ndp_learn_irs(np, ntohl(nh->psn)))
		return;
	if (nh->flags & NDP_F_TOKEN) {
		if (ndp_token_good(nn, &np->peer, nh, &stale))
			ndp_verified(np, stale);
		return;
	}
	if (!ndp_cookie_good(nn, &np->entry.key, nh))
		return;
	ndp_verified(np, ndp_is_unverified(np) || np->by_cookie);
	/* The packets that were refused without the cookie are pulled now. */
	ndp_pull_request(np);
	ndp_send_pull(np);
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

static void ndp_rcv_rst(struct ndp_sock *np)
{
	int err = ECONNRESET;

	/* Report a reset with TCP's errors: EPIPE if the peer's FIN came before it. */
	if (ndp_to_sk(np)->sk_state == TCP_SYN_SENT)
		err = ECONNREFUSED;
	else if (np->rcv_fin)
		err = EPIPE;
	np->peer_done = true;
	ndp_conn_abort(np, err, false);
}

/* Receive a control packet other than FIN.  Consumes @skb. */
static void ndp_rcv_control(struct ndp_sock *np, struct sk_buff *skb)
{
	const struct ndphdr *nh = ndp_hdr(skb);
	struct net *net = sock_net(ndp_to_sk(np));

	ndp_pull_header(np, skb->dev);
	switch (ndp_hdr_type(nh)) {
	case NDP_ACK:
		NDP_INC(net, ACK_IN);
		ndp_rcv_ack(np, nh);
		break;
	case NDP_NACK:
		NDP_INC(net, NACK_IN);
		ndp_rcv_nack(np, nh);
		break;
	case NDP_PULL:
		NDP_INC(net, PULL_IN);
		ndp_rcv_pull(np, nh);
		break;
	case NDP_PROBE:
		NDP_INC(net, PROBE_IN);
		ndp_rcv_probe(np);
		break;
	case NDP_COOKIE:
		NDP_INC(net, COOKIE_IN);
		ndp_rcv_cookie(np, nh);
		break;
	case NDP_RST:
		NDP_INC(net, RST_IN);
		ndp_rcv_rst(np);
		break;
	}
	kfree_skb(skb);
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
		ndp_rcv_bounced(np, nh);
		kfree_skb(skb);
		ndp_output(np);
		return;
	}
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

/* Does a program of the socket or of its cgroup refuse the packet? */
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
 * May it open a connection?  If it has to show a cookie and has no good one, it is sent
 * one.
 */
static bool ndp_may_open(struct net *net, const struct sock *lsk,
			 const struct sk_buff *skb, const struct ndp_key *key)
{
	if (ndp_opening_suffices(net, lsk, skb, key))
		return true;
	ndp_send_reply(net, skb, NDP_COOKIE, 0,
		       ndp_cookie_make(ndp_pernet(net), key));
	return false;
}

/*
 * A packet of no connection.  With SYN it may open one; else whoever sends
 * data on it should know that it is gone.
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
	opens = nh->flags & NDP_F_SYN && !(nh->vdt & NDP_FROM_ACCEPTOR);
	if (type != NDP_DATA && type != NDP_FIN && type != NDP_PROBE &&
	    (type != NDP_COOKIE || !opens))
		return NULL;
	if (!opens || type == NDP_PROBE) {
		ndp_refuse(net, skb);
		return NULL;
	}
	lsk = ndp_listen_lookup(net, skb);
	if (!lsk) {
		*reason = NDP_STAT_DROP_NO_LISTENER;
		ndp_refuse(net, skb);
		return NULL;
	}
	*reason = NDP_STAT_DROP_BACKLOG;
	if (ndp_filtered(lsk, skb)) {
		*reason = NDP_STAT_DROP_FILTER;
		np = NULL;
	} else if (ndp_tomb_refuses(ndp_pernet(net), key)) {
		*reason = NDP_STAT_DROP_MEMORY;
		np = NULL;
	} else if (!ndp_may_open(net, lsk, skb, key)) {
		*reason = NDP_STAT_DROP_COOKIE;
		np = NULL;
	} else {
		np = ndp_listen_open(lsk, skb, key, ndp_opening(skb));
	}
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
		if (skb->len != sizeof(struct udphdr) + sizeof(struct ndphdr))
			return NDP_STAT_DROP_LENGTH;
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
 * Did somebody on the way change the code point, so that ports do not know what to do
 * with it?  That of a trimmed packet is a matter of whoever trimmed it.
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
		kfree_skb(skb);
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
		spin_lock_bh(&np->lock);
		ndp_rcv_conn(np, skb);
		spin_unlock_bh(&np->lock);
	}
	sock_put(ndp_to_sk(np));
	return 0;
}
