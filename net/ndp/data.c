// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP receiving: DATA and FIN (NDP paper, section 3.2).
 *
 * Every DATA packet is answered: by an ACK when it is whole (ack.c), by a NACK at
 * once when it was trimmed; the transport decides what the answer grants.  A packet
 * whose payload CRC is wrong, for which there is no room, or which the transport does
 * not take yet, is answered as if it had been trimmed; but if every payload arrives
 * corrupted, the NACKs cease, so that the sender's timeout paces the futile retries.
 * Duplicates are acknowledged again.
 *
 * Non-goals: the sender's side (answer.c), the queues (reassembly.c).
 */
#include <net/inet_ecn.h>
#include "transport.h"

/* Payloads in a row with a wrong CRC that are NACKed.  Each NACK elicits the packet again. */
#define NDP_CRC_NACKS	8

/* A packet in order and without payload is taken at once, and charged to no buffer. */
static bool ndp_takes_no_room(const struct ndp_sock *np, const struct ndphdr *nh)
{
	return !nh->len && ntohl(nh->psn) == np->rcv_nxt;
}

/* Has a packet a UDP checksum?  UDP has verified it, unless the packet never left this host. */
static bool ndp_has_udp_checksum(const struct sk_buff *skb)
{
	return skb->ip_summed == CHECKSUM_PARTIAL || udp_hdr(skb)->check;
}

static bool ndp_crc_ok(struct sk_buff *skb)
{
	unsigned int off = sizeof(struct udphdr) + NDP_HDR_LEN;
	unsigned int len = ntohs(ndp_hdr(skb)->len);
	u32 crc;

	if (!len)
		return true;
	/* ndp_validate() has made the CRC field linear. */
	crc = get_unaligned_be32(ndp_hdr(skb) + 1);
	/* A packet from this host has no CRC (xmit.c). */
	if (!crc && ndp_has_udp_checksum(skb))
		return true;
	return crc == ndp_skb_crc(skb, off, len);
}

/* The packet with the highest PSN heard of tells whether there is more to come. */
static void ndp_note_last(struct ndp_sock *np, const struct ndphdr *nh, u32 psn)
{
	if (!psn_before(np->rcv_max, psn))
		return;
	np->rcv_max = psn;
	np->rcv_last = nh->flags & NDP_F_LAST;
}

/* Flags by which an answer describes the packet that it answers. */
static u8 ndp_echo_flags(struct ndp_sock *np, const struct ndphdr *nh, u8 tos)
{
	u8 flags = nh->flags & NDP_F_RTX;

	if (flags && ndp_path_has_answered(np, ntohl(nh->psn)))
		flags |= NDP_F_AGAIN;
	return INET_ECN_is_ce(tos) ? flags | NDP_F_ECE : flags;
}

static void ndp_answer(struct ndp_sock *np, enum ndp_type type,
		       const struct ndphdr *nh, u8 tos, u8 again)
{
	ndp_send_answer(np, type, ntohl(nh->psn), ntohs(nh->path),
			ndp_echo_flags(np, nh, tos) | again, NULL);
}

/*
 * Handle a packet that was trimmed, corrupted or refused.
 * @why:	reason with which the skb is freed as a drop; 0: it is consumed
 */
static void ndp_rcv_trimmed(struct ndp_sock *np, struct sk_buff *skb,
			    enum ndp_arrival how, enum skb_drop_reason why)
{
	const struct ndphdr *nh = ndp_hdr(skb);

	/* From now on the window allows for packets with the truesize of this one. */
	if (how == NDP_ARRIVED_REFUSED)
		np->rcv_truesize = max(np->rcv_truesize, skb->truesize);
	ndp_tp_arrived(np, nh, skb->dev, how);
	ndp_note_last(np, nh, ntohl(nh->psn));
	ndp_tp_answer(np, nh, how);
	ndp_answer(np, NDP_NACK, nh, ndp_skb_tos(skb), 0);
	if (why)
		kfree_skb_reason(skb, why);
	else
		consume_skb(skb);
}

/* Strip the headers: the reader's skb holds payload, and its PSN in the control block. */
static void ndp_rcv_strip(struct ndp_sock *np, struct sk_buff *skb,
			  const struct ndphdr *nh)
{
	/* Where ACKs may be delayed, NDP_F_BOM and NDP_F_SYNC are NDP_F_LATER and NDP_F_CUM. */
	u8 begins = ndp_has_later(np) ? 0 : nh->flags;
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
		.psn = psn, .fin = fin, .eom = !fin && nh->flags & NDP_F_EOM,
		.bom = begins & NDP_F_BOM, .sync = begins & NDP_F_SYNC,
	};
	np->counters.sync_in += ndp_rx_cb(skb)->sync;
}

static void ndp_rcv_whole(struct ndp_sock *np, struct sk_buff *skb)
{
	struct ndphdr nh = *ndp_hdr(skb);
	u8 tos = ndp_skb_tos(skb);
	unsigned int len = ntohs(nh.len);

	/* A packet that IP reassembled is no measure of the size that each pull is charged. */
	if (!ndp_skb_was_cut(skb))
		np->rcv_mss = max(np->rcv_mss, len);
	np->rcv_truesize = max(np->rcv_truesize, skb->truesize);
	np->crc_nacks = 0;
	ndp_tp_arrived(np, &nh, skb->dev, NDP_ARRIVED_WHOLE);
	ndp_rcv_strip(np, skb, &nh);
	ndp_rcv_queue(np, skb);
	if (np->rcv_fin && ndp_hdr_type(&nh) == NDP_FIN)
		np->peer_gone = nh.flags & NDP_F_GONE;
	ndp_note_last(np, &nh, ntohl(nh.psn));
	ndp_tp_answer(np, &nh, NDP_ARRIVED_WHOLE);
	ndp_ack(np, &nh, ndp_echo_flags(np, &nh, tos));
	ndp_conn_check_done(np);
}

/* DATA or FIN arrived with a CE mark, which its answer will report. */
static void ndp_rcv_marked(struct ndp_sock *np)
{
	NDP_CONN_INC(np, MARKED_IN);
	np->counters.marked_in++;
	ndp_tp_marked(np);
}

/**
 * ndp_rcv_data - receive a DATA or FIN packet
 * @np:		connection
 * @skb:	packet, consumed
 *
 * Context: np->lock held, softirq, RCU read side.
 */
void ndp_rcv_data(struct ndp_sock *np, struct sk_buff *skb)
{
	struct net *net = sock_net(ndp_to_sk(np));
	const struct ndphdr *nh = ndp_hdr(skb);
	enum skb_drop_reason why = SKB_NOT_DROPPED_YET;
	enum ndp_arrival how = ndp_arrival(skb);
	u32 psn = ntohl(nh->psn);
	s32 ahead;

	if (!ndp_learn_irs(np, psn - ndp_hdr_psn_off(nh))) {
		ndp_drop(net, skb, NDP_STAT_DROP_PSN);
		return;
	}
	ahead = psn - np->rcv_nxt;
	if (ahead >= NDP_MAX_WINDOW || ahead < -2 * NDP_MAX_WINDOW) {
		ndp_drop(net, skb, NDP_STAT_DROP_WINDOW);
		return;
	}
	/* Data behind the peer's FIN is dropped, as TCP does. */
	if (np->rcv_fin && ahead >= 0) {
		ndp_drop(net, skb, NDP_STAT_DROP_PSN);
		return;
	}
	if (ndp_must_verify(np))
		ndp_challenge(np);
	if (ndp_has_later(np) && nh->flags & NDP_F_CUM) {
		ndp_rcv_riding(np, nh);
		if (ndp_to_sk(np)->sk_state == TCP_CLOSE) {
			ndp_drop(net, skb, NDP_STAT_DROP_CLOSED);
			return;
		}
	}
	if (ndp_hdr_type(nh) == NDP_FIN)
		NDP_CONN_INC(np, FIN_IN);
	else if (!nh->len)
		NDP_CONN_INC(np, OPEN_IN);
	else if (how == NDP_ARRIVED_WHOLE)
		NDP_CONN_INC(np, DATA_IN);
	else
		NDP_CONN_INC(np, TRIMMED_IN);
	if (how == NDP_ARRIVED_WHOLE)
		np->counters.data_in++;
	else
		np->counters.trims_in++;
	if (INET_ECN_is_ce(ndp_skb_tos(skb)))
		ndp_rcv_marked(np);

	if (ahead < 0 || ndp_ooo_find(np, psn) || ndp_early_has(np, psn)) {
		NDP_CONN_INC(np, DUP_IN);
		np->counters.dups_in++;
		ndp_tp_arrived(np, nh, skb->dev, NDP_ARRIVED_AGAIN);
		ndp_path_answer_lost(np, psn);
		ndp_unverified_again(np);
		ndp_answer(np, NDP_ACK, nh, ndp_skb_tos(skb), NDP_F_AGAIN);
		kfree_skb_reason(skb, SKB_DROP_REASON_TCP_OLD_DATA);
		return;
	}
	if (how == NDP_ARRIVED_WHOLE && !ndp_crc_ok(skb)) {
		NDP_CONN_INC(np, CRC_IN);
		np->counters.crc_in++;
		how = NDP_ARRIVED_TRIMMED;
		why = SKB_DROP_REASON_UDP_CSUM;
		/* Without an answer the sender waits for its timeout, which doubles. */
		if (np->crc_nacks == NDP_CRC_NACKS) {
			kfree_skb_reason(skb, why);
			return;
		}
		np->crc_nacks++;
	}
	if (how == NDP_ARRIVED_WHOLE && !ndp_tp_takes(np, nh)) {
		NDP_CONN_INC(np, EARLY_IN);
		np->counters.early_in++;
		how = NDP_ARRIVED_EARLY;
		why = SKB_DROP_REASON_TCP_OVERWINDOW;
	}
	if (how == NDP_ARRIVED_WHOLE && !ndp_takes_no_room(np, nh) &&
	    (!ndp_room_for(np, skb, psn) || !ndp_rmem_charge(np, skb))) {
		NDP_CONN_INC(np, NO_ROOM_IN);
		np->counters.noroom_in++;
		how = NDP_ARRIVED_REFUSED;
		why = SKB_DROP_REASON_SOCKET_RCVBUFF;
	}
	if (how == NDP_ARRIVED_WHOLE) {
		NDP_CONN_ADD(np, DATA_BYTES_IN, ntohs(nh->len));
		ndp_rcv_whole(np, skb);
	} else {
		ndp_rcv_trimmed(np, skb, how, why);
	}
}

/**
 * ndp_rcv_after_close - has data arrived that no process will read?
 * @np:		connection
 * @skb:	DATA or FIN
 *
 * Data for a socket that no process reads any more is answered by a reset, as in TCP.
 *
 * Context: np->lock held; the caller has a reference.
 * Return: yes, and the connection was ended.
 */
bool ndp_rcv_after_close(struct ndp_sock *np, const struct sk_buff *skb)
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
