// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP packets on their way out: how each is made and handed to IP.
 *
 * For each packet a path is chosen (NDP paper, section 3.1.1), for DATA and control packets by
 * separate permutations (path.c).  The send queue's skb of a numbered packet holds the payload in
 * page fragments; every transmission is a clone with headers of its own.
 *
 * Non-goals: when a packet may leave (output.c).
 */
#include <net/inet_ecn.h>
#include "trace.h"
#include "transport.h"

/*
 * Write the payload's CRC behind the NDP header.  Packets that leave by the loopback device stay
 * on this host and have none: UDP's checksum, which is only computed if another device sends the
 * packet on, is enough there, as it is for TCP.
 */
static void ndp_put_crc(struct sk_buff *skb, struct sk_buff *queued, bool local)
{
	__be32 *crc = (__be32 *)(skb->data + sizeof(struct ndphdr));
	struct ndp_tx_cb *cb = ndp_tx_cb(queued);

	if (local) {
		*crc = 0;
		return;
	}
	if (!cb->crc)
		cb->crc = htonl(ndp_skb_crc(queued, 0, queued->len));
	*crc = cb->crc;
}

/**
 * ndp_xmit - hand a packet to IP
 * @np:		connection
 * @skb:	packet, data at the NDP header; consumed
 * @queued:	the send queue's packet, if @skb carries its payload behind room for a CRC; or NULL
 * @pathno:	path to take
 * @dscp:	DSCP of the packet
 * @limit:	fragments are no longer than this, 0: than the route's MTU
 *
 * Context: np->lock held, softirqs off.
 * Return: 0, or the reason why it did not get past the local qdisc.
 */
int ndp_xmit(struct ndp_sock *np, struct sk_buff *skb, struct sk_buff *queued, u16 pathno,
	     u8 dscp, u32 limit)
{
	struct ndp_path *path = &np->peer->path[pathno];
	struct sock *sk = ndp_to_sk(np);
	struct net *net = sock_net(sk);
	struct dst_entry *dst;
	struct ndp_flow flow;
	int err;

	dst = ndp_path_dst(np, path);
	if (IS_ERR(dst)) {
		kfree_skb_reason(skb, SKB_DROP_REASON_IP_OUTNOROUTES);
		NDP_CONN_INC(np, LOCAL_DROP);
		return PTR_ERR(dst);
	}
	ndp_mtu_note(np, path, dst);
	skb_dst_set(skb, dst);
	skb->priority = READ_ONCE(sk->sk_priority);
	ndp_path_flow(np, path, &flow);
	flow.limit = limit;
	if (queued) {
		flow.local = dst->dev->flags & IFF_LOOPBACK;
		ndp_put_crc(skb, queued, flow.local);
	}
	/* ndp_mtu_note() has set @mtu of the path. */
	flow.mtu = READ_ONCE(path->mtu);
	if (dscp == NDP_DSCP_DATA && np->tp->ecn)
		flow.ecn = INET_ECN_ECT_0;
	skb->mark = flow.mark;
	/* Qdiscs that separate flows need not dissect the packet. */
	__skb_set_sw_hash(skb, path->hash, true);
	if (ndp_is_unverified(np))
		ndp_unverified_sent(np, skb);
	trace_ndp_send(np, (const struct ndphdr *)skb->data, flow.sport);
	err = ndp_ip_send(net, sk, skb, &flow, dscp);
	err = net_xmit_eval(err);
	if (err)
		NDP_CONN_INC(np, LOCAL_DROP);
	return err;
}

/**
 * ndp_put_header - push an NDP header and fill the fields that all types share
 * @np:		connection
 * @skb:	packet
 * @type:	what it is
 * @flags:	&enum ndp_flags
 * @psn:	its PSN
 * @number:	number of the path that it will take; for control packets the index will do
 *
 * Context: np->lock held.
 * Return: the header.
 */
struct ndphdr *ndp_put_header(struct ndp_sock *np, struct sk_buff *skb,
			      enum ndp_type type, u8 flags, u32 psn,
			      u16 number)
{
	struct ndphdr *nh = __skb_push(skb, sizeof(*nh));

	nh->vdt = ndp_hdr_vdt(type, np->acceptor);
	nh->flags = flags;
	nh->sport = np->inet.inet_sport;
	nh->dport = np->inet.inet_dport;
	nh->conn_id = np->entry.key.conn_id;
	nh->psn = htonl(psn);
	nh->path = ndp_path_to_wire(np, number);
	nh->len = 0;
	nh->pull = 0;
	nh->window = 0;
	return nh;
}

/* Make a control packet for path @pathno.  Return: the packet or NULL. */
static struct sk_buff *ndp_make_control(struct ndp_sock *np, enum ndp_type type,
					u8 flags, u32 psn, u16 pathno)
{
	struct sk_buff *skb = ndp_alloc_control();
	struct ndphdr *nh;

	if (!skb) {
		NDP_CONN_INC(np, DROP_MEMORY);
		return NULL;
	}
	nh = ndp_put_header(np, skb, type, flags, psn, pathno);
	nh->window = htonl(ndp_tp_window(np));
	return skb;
}

/* Choose the path of a control packet. */
static u16 ndp_control_path(struct ndp_sock *np, enum ndp_path_use use)
{
	ndp_peer_follow(np);
	return ndp_path_next(np, true, use);
}

/*
 * Choose the path of an answer to a packet that took @echo_path.  With @echo it has the same
 * number, unless the packet was retransmitted, as an earlier answer may have been lost, or that
 * path is left out for losing answers.
 */
static u16 ndp_answer_path(struct ndp_sock *np, enum ndp_type type, u16 echo_path, u8 flags)
{
	enum ndp_path_use use = NDP_PATH_NO_PROBE;
	u16 pathno;

	/* The loss of an ACK is noticed when its packet arrives again. */
	if (type == NDP_ACK)
		use = np->rcv_last ? NDP_PATH_PROBE_LATE : NDP_PATH_PROBE;

	if (!np->tp->echo || flags & NDP_F_RTX)
		return ndp_control_path(np, use);
	ndp_peer_follow(np);
	pathno = echo_path % np->peer->n;
	if (READ_ONCE(np->peer->path[pathno].control.state) == NDP_PATH_USED)
		return pathno;
	return ndp_path_next(np, true, use);
}

/**
 * ndp_send_control - send a control packet along the next path of its round
 * @np:		connection
 * @type:	what it is
 * @flags:	&enum ndp_flags
 * @psn:	its PSN
 * @echo_path:	SIGNAL: its kind; else 0
 * @origin:	PROBE: its origin; SIGNAL: its value; else 0
 *
 * Context: np->lock held, softirqs off.
 * Return: the path.
 */
u16 ndp_send_control(struct ndp_sock *np, enum ndp_type type, u8 flags, u32 psn,
		     u16 echo_path, __be32 origin)
{
	u16 pathno = ndp_control_path(np, NDP_PATH_NO_PROBE);
	struct sk_buff *skb = ndp_make_control(np, type, flags, psn, pathno);
	struct ndphdr *nh;

	if (!skb)
		return pathno;
	nh = (struct ndphdr *)skb->data;
	nh->echo_path = htons(echo_path);
	nh->origin = origin;
	if (type == NDP_PULL)
		ndp_tp_stamp(np, nh);
	ndp_xmit(np, skb, NULL, pathno, NDP_DSCP_CONTROL, 0);
	return pathno;
}

/**
 * ndp_send_answer - send an ACK or NACK
 * @np:		connection
 * @type:	NDP_ACK or NDP_NACK
 * @psn:	packet answered
 * @echo_path:	path that it took
 * @flags:	NDP_F_RTX, NDP_F_AGAIN, NDP_F_ECE or 0; flags about the connection are added
 * @acks:	ACK: all packets that it acknowledges, @psn among them; or NULL
 *
 * The transport fills in its own field (@stamp).
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_send_answer(struct ndp_sock *np, enum ndp_type type, u32 psn,
		     u16 echo_path, u8 flags, const struct ndp_acks *acks)
{
	u16 pathno = ndp_answer_path(np, type, echo_path, flags);
	struct ndphdr *nh;
	struct sk_buff *skb;

	if (type == NDP_ACK)
		NDP_CONN_INC(np, ACK_OUT);
	else
		NDP_CONN_INC(np, NACK_OUT);
	flags |= NDP_F_PULL;
	if (acks)
		flags |= NDP_F_ACKS;
	if (ndp_fin_acked(np))
		flags |= NDP_F_LAST;
	skb = ndp_make_control(np, type, flags, psn, pathno);
	if (!skb)
		return;
	nh = (struct ndphdr *)skb->data;
	nh->echo_path = htons(echo_path);
	ndp_tp_stamp(np, nh);
	if (acks) {
		skb_put_data(skb, acks, sizeof(*acks));
		NDP_CONN_ADD(np, ACK_JOINED_OUT, hweight64(be64_to_cpu(acks->map)) - 1);
	}
	/* Remember one of the packets that the ACK names: its loss is charged only once. */
	ndp_path_answered(np, psn, pathno);
	ndp_xmit(np, skb, NULL, pathno, NDP_DSCP_CONTROL, 0);
}

/**
 * ndp_send_probe - ask for credit
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_send_probe(struct ndp_sock *np)
{
	np->counters.probes_out++;
	NDP_CONN_INC(np, PROBE_OUT);
	ndp_send_control(np, NDP_PROBE, 0, np->snd_nxt, 0,
			 ndp_hdr_origin(np->tp->id, np->snd_nxt - np->isn));
}

/**
 * ndp_send_signal - send a signal to the peer's transport
 * @np:		connection
 * @kind:	kind of signal, defined by the transport
 * @value:	its value
 *
 * A signal may be lost, and may overtake others.
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_send_signal(struct ndp_sock *np, u16 kind, u32 value)
{
	NDP_CONN_INC(np, SIGNAL_OUT);
	ndp_send_control(np, NDP_SIGNAL, 0, np->snd_nxt, kind, htonl(value));
}
EXPORT_SYMBOL_GPL(ndp_send_signal);

/**
 * ndp_send_rst - tell the peer that the connection is gone
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_send_rst(struct ndp_sock *np)
{
	NDP_CONN_INC(np, RST_OUT);
	ndp_send_control(np, NDP_RST, 0, np->snd_nxt, 0, 0);
}

/**
 * ndp_send_cookie - ask the peer to prove its address, or prove ours
 * @np:		connection
 * @cookie:	the acceptor's number
 * @flags:	NDP_F_TOKEN: it is for later connections, or of an earlier one; else 0
 *
 * Context: np->lock held.
 */
void ndp_send_cookie(struct ndp_sock *np, u64 cookie, u8 flags)
{
	u16 pathno = ndp_control_path(np, NDP_PATH_NO_PROBE);
	struct sk_buff *skb;

	if (!np->answered)
		flags |= NDP_F_SYN;
	if (ndp_has_messages(np))
		flags |= NDP_F_MSG;
	skb = ndp_make_control(np, NDP_COOKIE, flags, np->isn, pathno);
	if (!skb)
		return;
	ndp_hdr_set_cookie((struct ndphdr *)skb->data, cookie);
	if (!np->acceptor)
		((struct ndphdr *)skb->data)->transport = htons(np->tp->id);
	NDP_CONN_INC(np, COOKIE_OUT);
	ndp_xmit(np, skb, NULL, pathno, NDP_DSCP_CONTROL, 0);
}
