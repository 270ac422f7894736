// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP sending: what may leave, and how a packet is made.
 *
 * The rules (NDP paper, section 3.2, and where it is silent, ours):
 *
 * - The first window is pushed; after it nothing new leaves without a pull.
 *   A pull sends what waits for retransmission first, then new data.
 * - The packet that empties the send queue carries LAST: the receiver stops
 *   pulling, and what the application writes later is pushed again.
 * - What is pushed stays within one initial window and the peer's room.
 *   Counted are the bytes in flight up to the last LAST, which only ACKs
 *   return, and all bytes pushed since, which return by pulls, so that no
 *   packet is replaced twice.
 * - New data never brings the bytes in flight above one initial window.
 * - A packet known lost leaves without a pull, on another path.
 * - At most two of a socket's packets wait in the local qdisc; the skb's
 *   destructor tells when one has left.
 *
 * A packet's number, payload and CRC are fixed when it first leaves.  The copy
 * in the queue holds the payload in page fragments; every transmission is a
 * new skb for the headers with references to them.
 *
 * Non-goals: congestion control; the fabric needs none (section 3.2,
 * "Congestion Control").
 */
#include <linux/crc32c.h>
#include <linux/highmem.h>
#include <net/ip.h>
#include "ndp.h"

/**
 * ndp_skb_crc - CRC-32C of a part of an skb
 * @skb:	skb, linear or not
 * @off:	where
 * @len:	how much
 *
 * Return: CRC as it stands on the wire, in host order.
 */
u32 ndp_skb_crc(struct sk_buff *skb, int off, int len)
{
	struct skb_seq_state st;
	unsigned int consumed = 0, n;
	u32 crc = ~0U;
	const u8 *data;

	skb_prepare_seq_read(skb, off, off + len, &st);
	while ((n = skb_seq_read(consumed, &data, &st))) {
		crc = crc32c(crc, data, n);
		consumed += n;
	}
	return ~crc;
}

/*
 * Hand an skb to IP, in pieces no longer than @limit if that is not 0.  Consumes it.
 * Return: 0, or the reason why it did not get past the local qdisc.
 */
static int ndp_xmit(struct ndp_sock *np, struct sk_buff *skb, u16 pathno,
		    u8 dscp, u32 limit)
{
	struct ndp_path *path = &np->paths->path[pathno];
	struct sock *sk = ndp_to_sk(np);
	struct net *net = sock_net(sk);
	struct dst_entry *dst;
	struct ndp_flow flow;
	int err;

	dst = ndp_path_dst(np, path);
	if (IS_ERR(dst)) {
		kfree_skb(skb);
		NDP_INC(net, LOCAL_DROP);
		return PTR_ERR(dst);
	}
	ndp_mtu_note(np, path, dst);
	skb_dst_set(skb, dst_clone(dst));
	skb->priority = READ_ONCE(sk->sk_priority);
	flow = ndp_path_flow(np, path);
	flow.limit = limit;
	skb->mark = flow.mark;
	if (ndp_is_unverified(np))
		ndp_unverified_sent(np, skb);
	err = ndp_ip_send(net, sk, skb, &flow, dscp);
	err = net_xmit_eval(err);
	if (err)
		NDP_INC(net, LOCAL_DROP);
	return err;
}

/* Push an NDP header and fill the fields that all types share. */
static struct ndphdr *ndp_put_header(struct ndp_sock *np, struct sk_buff *skb,
				     enum ndp_type type, u8 flags, u32 psn,
				     u16 pathno)
{
	struct ndphdr *nh = skb_push(skb, sizeof(*nh));

	nh->vdt = ndp_hdr_vdt(type, np->acceptor);
	nh->flags = flags;
	nh->sport = np->inet.inet_sport;
	nh->dport = np->inet.inet_dport;
	nh->conn_id = np->entry.key.conn_id;
	nh->psn = htonl(psn);
	nh->path = ndp_path_to_wire(np, pathno);
	nh->len = 0;
	nh->pull = 0;
	nh->window = htonl(ndp_window(np));
	return nh;
}

/* Make a control packet for path @pathno.  Return: the packet or NULL. */
static struct sk_buff *ndp_make_control(struct ndp_sock *np, enum ndp_type type,
					u8 flags, u32 psn, u16 pathno)
{
	struct sk_buff *skb = ndp_alloc_control();

	if (skb)
		ndp_put_header(np, skb, type, flags, psn, pathno);
	else
		NDP_INC(sock_net(ndp_to_sk(np)), DROP_MEMORY);
	return skb;
}

static bool ndp_is_answer(enum ndp_type type)
{
	return type == NDP_ACK || type == NDP_NACK || type == NDP_PULL;
}

/* An answer is about to tell of all pulls: is it the newest, as the peer will see it? */
static void ndp_note_told(struct ndp_sock *np, u32 psn)
{
	if (np->pull_told != np->pull_sent || !psn_before(psn, np->told_psn))
		np->told_psn = psn;
	np->pull_told = np->pull_sent;
}

/* Send a control packet along the next path of its round.  Return: the path. */
static u16 ndp_send_control(struct ndp_sock *np, enum ndp_type type, u8 flags,
			    u32 psn, u16 echo_path, u32 pull)
{
	u16 pathno = ndp_path_next(np->paths, &np->paths->control);
	struct sk_buff *skb = ndp_make_control(np, type, flags, psn, pathno);
	struct ndphdr *nh;

	if (!skb)
		return pathno;
	nh = (struct ndphdr *)skb->data;
	nh->echo_path = htons(echo_path);
	nh->pull = htonl(pull);
	if (ndp_is_answer(type) && psn == np->told_psn)
		np->rcv_window = ntohl(nh->window);
	ndp_xmit(np, skb, pathno, NDP_DSCP_CONTROL, 0);
	return pathno;
}

/**
 * ndp_send_answer - ACK or NACK
 * @np:		connection
 * @type:	NDP_ACK or NDP_NACK
 * @psn:	packet answered
 * @echo_path:	path that it took
 * @flags:	NDP_F_RTX, NDP_F_ECE, NDP_F_LAST or 0
 *
 * Tells of all pulls granted so far as well.
 *
 * Context: np->lock held.
 */
void ndp_send_answer(struct ndp_sock *np, enum ndp_type type, u32 psn,
		     u16 echo_path, u8 flags)
{
	struct net *net = sock_net(ndp_to_sk(np));
	u16 pathno;

	if (type == NDP_ACK)
		NDP_INC(net, ACK_OUT);
	else
		NDP_INC(net, NACK_OUT);
	ndp_note_told(np, psn);
	pathno = ndp_send_control(np, type, flags | NDP_F_PULL, psn, echo_path,
				  np->pull_sent);
	ndp_path_answered(np->paths, psn, pathno);
}

/**
 * ndp_send_pull - tell the peer what was granted
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_send_pull(struct ndp_sock *np)
{
	NDP_INC(sock_net(ndp_to_sk(np)), PULL_OUT);
	ndp_note_told(np, np->rcv_nxt);
	ndp_send_control(np, NDP_PULL, np->pull_owed ? 0 : NDP_F_LAST,
			 np->rcv_nxt, 0, np->pull_sent);
}

/**
 * ndp_send_probe - ask for credit
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_send_probe(struct ndp_sock *np)
{
	np->info.probes_out++;
	NDP_INC(sock_net(ndp_to_sk(np)), PROBE_OUT);
	ndp_send_control(np, NDP_PROBE, 0, np->snd_nxt, 0,
			 np->snd_nxt - np->isn);
}

/**
 * ndp_send_rst - tell the peer that the connection is gone
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_send_rst(struct ndp_sock *np)
{
	NDP_INC(sock_net(ndp_to_sk(np)), RST_OUT);
	ndp_send_control(np, NDP_RST, 0, np->snd_nxt, 0, 0);
}

/**
 * ndp_send_cookie - ask the peer for its address' proof, or give ours
 * @np:		connection
 * @cookie:	the acceptor's number
 * @flags:	NDP_F_TOKEN: it is for later connections, or of an earlier one; else 0
 *
 * Context: np->lock held.
 */
void ndp_send_cookie(struct ndp_sock *np, u64 cookie, u8 flags)
{
	u16 pathno = ndp_path_next(np->paths, &np->paths->control);
	struct sk_buff *skb;

	if (!np->answered)
		flags |= NDP_F_SYN;
	if (ndp_has_messages(np))
		flags |= NDP_F_MSG;
	skb = ndp_make_control(np, NDP_COOKIE, flags, np->isn, pathno);
	if (!skb)
		return;
	ndp_hdr_set_cookie((struct ndphdr *)skb->data, cookie);
	NDP_INC(sock_net(ndp_to_sk(np)), COOKIE_OUT);
	ndp_xmit(np, skb, pathno, NDP_DSCP_CONTROL, 0);
}

/* The send queue: numbered packets by PSN. */

struct sk_buff *ndp_tx_find(struct ndp_sock *np, u32 psn)
{
	struct rb_node *node = np->txq.rb_node;

	while (node) {
		struct sk_buff *skb = rb_to_skb(node);

		if (ndp_tx_cb(skb)->psn == psn)
			return skb;
		node = psn_before(psn, ndp_tx_cb(skb)->psn) ? node->rb_left :
							      node->rb_right;
	}
	return NULL;
}

/* Insert a new packet at the end: it has the highest PSN. */
static void ndp_tx_insert(struct ndp_sock *np, struct sk_buff *skb)
{
	struct rb_node **p = &np->txq.rb_node, *parent = NULL;

	while (*p) {
		parent = *p;
		p = &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, p);
	rb_insert_color(&skb->rbnode, &np->txq);
}

static bool ndp_tx_upto_last(const struct ndp_sock *np, const struct sk_buff *skb)
{
	return !psn_before(np->snd_last, ndp_tx_cb(skb)->psn);
}

static void ndp_tx_unlink(struct ndp_sock *np, struct sk_buff *skb)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	list_del_init(&cb->list);
	if (cb->state != NDP_TX_FLIGHT) {
		np->rtx_pkts--;
		return;
	}
	np->flight_pkts--;
	np->flight_bytes -= skb->len;
	if (ndp_tx_upto_last(np, skb))
		np->flight_upto_last -= skb->len;
}

static void ndp_tx_to_flight(struct ndp_sock *np, struct sk_buff *skb)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	cb->state = NDP_TX_FLIGHT;
	list_add_tail(&cb->list, &np->flight);
	np->flight_pkts++;
	np->flight_bytes += skb->len;
	if (ndp_tx_upto_last(np, skb))
		np->flight_upto_last += skb->len;
}

/* Queue a packet for retransmission: by a pull if NACKed, without one if lost. */
static void ndp_tx_to_rtx(struct ndp_sock *np, struct sk_buff *skb, bool lost)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	ndp_tx_unlink(np, skb);
	cb->state = lost ? NDP_TX_LOST : NDP_TX_NACKED;
	list_add_tail(&cb->list, lost ? &np->lost : &np->rtx);
	np->rtx_pkts++;
}

void ndp_tx_nacked(struct ndp_sock *np, struct sk_buff *skb)
{
	ndp_tx_to_rtx(np, skb, false);
}

void ndp_tx_lost(struct ndp_sock *np, struct sk_buff *skb)
{
	ndp_tx_to_rtx(np, skb, true);
}

/**
 * ndp_tx_all_lost - send again, without a pull, by nobody's fault
 * @np:		connection
 * @list:	its flight or rtx
 * @refused:	of that, only what the peer wanted a cookie for; else all
 *
 * Context: np->lock held.
 */
void ndp_tx_all_lost(struct ndp_sock *np, struct list_head *list, bool refused)
{
	struct ndp_tx_cb *cb, *next;

	list_for_each_entry_safe(cb, next, list, list)
		if (cb->refused || !refused)
			ndp_tx_lost(np, container_of((void *)cb, struct sk_buff, cb));
}

/**
 * ndp_tx_done - a packet needs no further care
 * @np:		connection
 * @skb:	numbered packet, freed
 *
 * Context: np->lock held.
 */
void ndp_tx_done(struct ndp_sock *np, struct sk_buff *skb)
{
	struct rb_node *first;

	ndp_tx_unlink(np, skb);
	rb_erase(&skb->rbnode, &np->txq);
	first = rb_first(&np->txq);
	np->snd_una = first ? ndp_tx_cb(rb_to_skb(first))->psn : np->snd_nxt;
	ndp_wmem_uncharge(np, skb);
	consume_skb(skb);
}

/*
 * A packet has left the local qdisc (or was dropped there).  Any context, with
 * or without np->lock: only the counter is touched.
 */
static void ndp_wfree(struct sk_buff *skb)
{
	struct ndp_sock *np = ndp_sk(skb->sk);

	atomic_inc(&np->tx_departed);
	/* Pairs with the barrier in ndp_qdisc_full(). */
	smp_mb__after_atomic();
	/* The connection may have ended, so take a reference only if there is one left. */
	if (READ_ONCE(np->throttled) &&
	    !test_and_set_bit(0, &np->tasklet_queued) &&
	    refcount_inc_not_zero(&skb->sk->sk_refcnt))
		tasklet_schedule(&np->tasklet);
	sock_wfree(skb);
}

void ndp_tasklet(struct tasklet_struct *t)
{
	struct ndp_sock *np = container_of(t, struct ndp_sock, tasklet);

	clear_bit(0, &np->tasklet_queued);
	spin_lock(&np->lock);
	WRITE_ONCE(np->throttled, false);
	ndp_output(np);
	spin_unlock(&np->lock);
	sock_put(ndp_to_sk(np));
}

static bool ndp_qdisc_full(struct ndp_sock *np)
{
	if (np->tx_seq - atomic_read(&np->tx_departed) < NDP_QDISC_PKTS)
		return false;
	WRITE_ONCE(np->throttled, true);
	/* Check again: a packet may have departed before its destructor saw @throttled. */
	smp_mb();
	if (np->tx_seq - atomic_read(&np->tx_departed) >= NDP_QDISC_PKTS)
		return true;
	WRITE_ONCE(np->throttled, false);
	return false;
}

static u8 ndp_data_flags(const struct ndp_sock *np, const struct ndp_tx_cb *cb,
			 bool pushed)
{
	bool opening = ndp_to_sk((struct ndp_sock *)np)->sk_state ==
		       TCP_SYN_SENT;
	u8 flags = cb->flags;

	if (ndp_has_messages(np))
		flags |= NDP_F_MSG;
	if (cb->rtx)
		flags |= NDP_F_RTX;
	if (opening || (pushed && !cb->rtx))
		flags |= NDP_F_SYN;
	return flags;
}

static u16 ndp_pick_path(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	u16 pathno = ndp_path_next(np->paths, &np->paths->data);

	/* A retransmission takes another path (section 3.2.3). */
	if (cb->rtx && pathno == cb->path && np->paths->n > 1)
		pathno = ndp_path_next(np->paths, &np->paths->data);
	return pathno;
}

/* Make the skb that is transmitted for a packet of the send queue. */
static struct sk_buff *ndp_tx_copy(struct ndp_sock *np, struct sk_buff *skb)
{
	struct sock *sk = ndp_to_sk(np);
	struct sk_buff *out;

	out = __pskb_copy(skb, NDP_HEADROOM, GFP_ATOMIC);
	if (!out)
		return NULL;
	memset(out->cb, 0, sizeof(out->cb));
	out->sk = sk;
	out->destructor = ndp_wfree;
	refcount_add(out->truesize, &sk->sk_wmem_alloc);
	return out;
}

static void ndp_count_data(struct ndp_sock *np, const struct sk_buff *skb,
			   bool pushed)
{
	struct net *net = sock_net(ndp_to_sk(np));
	const struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	if (cb->fin) {
		NDP_INC(net, FIN_OUT);
		return;
	}
	if (!skb->len) {
		NDP_INC(net, OPEN_OUT);
		return;
	}
	NDP_INC(net, DATA_OUT);
	NDP_ADD(net, DATA_BYTES_OUT, skb->len);
	np->info.data_sent++;
	np->info.bytes_sent += skb->len;
	if (cb->rtx) {
		NDP_INC(net, DATA_RTX);
		np->info.retrans++;
		np->info.bytes_retrans += skb->len;
	} else if (pushed) {
		NDP_INC(net, DATA_PUSHED);
		np->info.data_pushed++;
	}
}

/*
 * Send a numbered packet, for the first time or again; it is in flight
 * afterwards, whatever became of it: what the local qdisc refused, or what no
 * memory or route was there for, is tried again soon.
 */
static void ndp_send_packet(struct ndp_sock *np, struct sk_buff *skb,
			    bool pushed)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);
	u64 wait, now = ktime_get_ns();
	u32 limit = ndp_mtu_limit(np);
	struct sk_buff *out;
	struct ndphdr *nh;
	int err = -ENOMEM;
	u16 pathno;

	if (!np->opened)
		ndp_token_show(np);
	pathno = ndp_pick_path(np, cb);
	out = ndp_tx_copy(np, skb);
	if (out) {
		if (skb->len)
			*(__be32 *)skb_push(out, NDP_CRC_LEN) = cb->crc;
		nh = ndp_put_header(np, out, cb->fin ? NDP_FIN : NDP_DATA,
				    ndp_data_flags(np, cb, pushed), cb->psn,
				    pathno);
		nh->len = htons(skb->len);
		nh->psn_off = htonl(cb->psn - np->isn);
		ndp_count_data(np, skb, pushed);
		cb->tx_seq = np->tx_seq++;
		err = ndp_xmit(np, out, pathno, cb->fin ? NDP_DSCP_CONTROL :
							  NDP_DSCP_DATA, limit);
	}
	cb->path = pathno;
	cb->local_drop = !!err;
	cb->limited = !!limit;
	cb->refused = 0;
	cb->bounced = 0;
	cb->sent_at = now;
	if (!cb->rtx)
		cb->first_at = ndp_rtt_clock(now);
	ndp_tx_to_flight(np, skb);
	if (err) {
		wait = NDP_RTO_MIN << min(np->local_backoff, NDP_LOCAL_DOUBLINGS);
		cb->sent_at = now + wait - ndp_rto(np);
		list_move(&cb->list, &np->flight);
	} else {
		np->local_backoff = 0;
	}
	np->opened = true;
	np->syn_at = 0;
	if (!np->silent_since)
		np->silent_since = now;
}

/* Assign a PSN; from here on the packet's bytes are fixed. */
static void ndp_number(struct ndp_sock *np, struct sk_buff *skb, bool fin)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);
	u8 flags = cb->flags & NDP_F_EOM;

	memset(cb, 0, sizeof(*cb));
	INIT_LIST_HEAD(&cb->list);
	cb->flags = flags;
	cb->psn = np->snd_nxt++;
	cb->fin = fin;
	if (skb->len)
		cb->crc = htonl(ndp_skb_crc(skb, 0, skb->len));
	if (fin || (skb_queue_empty(&np->sendq) && !np->more))
		cb->flags |= NDP_F_LAST;
	ndp_tx_insert(np, skb);
}

/* LAST was sent: data written later is pushed without pulls. */
static void ndp_mark_last(struct ndp_sock *np, struct sk_buff *skb)
{
	np->snd_last = ndp_tx_cb(skb)->psn;
	np->flight_upto_last = np->flight_bytes;
	np->pushed_since_last = 0;
	/* The receiver now pulls only packets that wait for retransmission. */
	np->expect_pulls = min_t(s32, np->expect_pulls, np->rtx_pkts);
}

static void ndp_send_new(struct ndp_sock *np, struct sk_buff *skb, bool fin,
			 bool pushed)
{
	ndp_number(np, skb, fin);
	ndp_tx_cb(skb)->pulled = !pushed;
	ndp_send_packet(np, skb, pushed);
	if (pushed)
		np->pushed_since_last += skb->len;
	if (ndp_tx_cb(skb)->flags & NDP_F_LAST)
		ndp_mark_last(np, skb);
}

static void ndp_resend(struct ndp_sock *np, struct sk_buff *skb)
{
	ndp_tx_cb(skb)->rtx = 1;
	list_del_init(&ndp_tx_cb(skb)->list);
	np->rtx_pkts--;
	ndp_send_packet(np, skb, false);
}

static struct sk_buff *ndp_list_first(struct list_head *list)
{
	struct ndp_tx_cb *cb;

	cb = list_first_entry_or_null(list, struct ndp_tx_cb, list);
	return cb ? container_of((void *)cb, struct sk_buff, cb) : NULL;
}

/* Of the packets that wait for a pull, the lowest missing one, else who waits longest. */
static struct sk_buff *ndp_rtx_first(struct ndp_sock *np)
{
	struct rb_node *node = rb_first(&np->txq);

	if (list_empty(&np->rtx))
		return NULL;
	if (ndp_tx_cb(rb_to_skb(node))->state == NDP_TX_NACKED)
		return rb_to_skb(node);
	return ndp_list_first(&np->rtx);
}

static u32 ndp_iw_bytes(const struct ndp_sock *np)
{
	return np->iw * np->mss;
}

static bool ndp_may_push(const struct ndp_sock *np, u32 len)
{
	u32 window = min(ndp_iw_bytes(np), np->snd_window);
	u32 used = np->flight_upto_last + np->pushed_since_last;

	/* If nothing is in use, any advertised room is enough for one packet. */
	return used + len <= window || (!used && window);
}

static bool ndp_may_pull(const struct ndp_sock *np, u32 len)
{
	return np->credit && (!np->flight_bytes ||
			      np->flight_bytes + len <= ndp_iw_bytes(np));
}

/* Hold back a partial segment that MSG_MORE may still fill. */
static bool ndp_held_back(const struct ndp_sock *np, const struct sk_buff *skb)
{
	return np->corked && skb->len < np->mss &&
	       skb_queue_len(&np->sendq) == 1;
}

static bool ndp_output_new(struct ndp_sock *np)
{
	struct sk_buff *skb = skb_peek(&np->sendq);
	bool pulled;

	if (!skb || ndp_held_back(np, skb) ||
	    np->snd_nxt - np->snd_una >= NDP_MAX_WINDOW)
		return false;
	ndp_mtu_cut(np, skb, ndp_unverified_most(np));
	if (ndp_unverified_holds(np, skb->len))
		return false;
	pulled = ndp_may_pull(np, skb->len);
	if (!pulled && !ndp_may_push(np, skb->len))
		return false;
	np->credit -= pulled;
	__skb_unlink(skb, &np->sendq);
	np->sendq_bytes -= skb->len;
	ndp_send_new(np, skb, false, !pulled);
	return true;
}

/* Send a packet without payload: a bare opening or a FIN. */
static bool ndp_output_empty(struct ndp_sock *np, bool fin)
{
	struct sk_buff *skb = alloc_skb(0, GFP_ATOMIC);

	if (!skb)
		return false;
	ndp_wmem_charge(np, skb);
	ndp_send_new(np, skb, fin, true);
	return true;
}

static bool ndp_output_one(struct ndp_sock *np)
{
	struct sk_buff *skb;

	skb = ndp_list_first(&np->lost);
	if (skb) {
		if (ndp_unverified_holds(np, skb->len))
			return false;
		ndp_resend(np, skb);
		return true;
	}
	skb = ndp_rtx_first(np);
	if (skb && np->credit) {
		if (ndp_unverified_holds(np, skb->len))
			return false;
		np->credit--;
		ndp_tx_cb(skb)->pulled = 1;
		ndp_resend(np, skb);
		return true;
	}
	if (ndp_output_new(np))
		return true;
	if (np->fin_queued && !np->fin_sent && skb_queue_empty(&np->sendq)) {
		if (ndp_unverified_holds(np, 0))
			return false;
		np->fin_sent = ndp_output_empty(np, true);
		return np->fin_sent;
	}
	/*
	 * Trimmed or returned packets wait, nobody is going to pull them and
	 * nothing is under way that could change that: keep the clock going
	 * (section 3.2.4).
	 */
	if (skb && !np->flight_pkts && np->expect_pulls <= 0) {
		ndp_tx_lost(np, skb);
		return true;
	}
	return false;
}

/*
 * Does anything wait that only the peer's credit can release?  Before it has answered
 * that is not so: it may not know the connection, and would refuse the question.  What
 * an unverified peer may not be sent waits for the answer to a challenge.
 */
static bool ndp_is_stuck(const struct ndp_sock *np)
{
	const struct sk_buff *skb = skb_peek(&np->sendq);

	if (np->throttled || !np->answered || np->held_back)
		return false;
	return !list_empty(&np->rtx) || (skb && !ndp_held_back(np, skb)) ||
	       (np->fin_queued && !np->fin_sent);
}

/**
 * ndp_output - send all that may be sent now
 * @np:		connection
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_output(struct ndp_sock *np)
{
	int state = ndp_to_sk(np)->sk_state;

	if (state != TCP_ESTABLISHED && state != TCP_SYN_SENT)
		return;
	while (!ndp_qdisc_full(np) && ndp_output_one(np))
		;
	/*
	 * All is sent and answered, and the receiver knows by LAST that it is all:
	 * credit that is left asks for nothing.  A queue that ran empty in the middle
	 * of a write keeps it, since the receiver counts on what it has pulled.
	 */
	if (np->snd_una == np->snd_nxt && np->snd_last == np->snd_nxt - 1 &&
	    skb_queue_empty(&np->sendq)) {
		np->credit = 0;
		np->expect_pulls = 0;
	}
	if (!ndp_is_stuck(np))
		np->probe_at = 0;
	else if (!np->probe_at)
		np->probe_at = ktime_get_ns() + np->probe_ns;
	ndp_timer_update(np);
}

/**
 * ndp_send_open - send a bare opening if nothing was sent yet
 * @np:		connection
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_send_open(struct ndp_sock *np)
{
	if (np->opened || np->acceptor ||
	    ndp_to_sk(np)->sk_state != TCP_SYN_SENT)
		return;
	if (skb_queue_empty(&np->sendq) && !np->fin_queued)
		ndp_output_empty(np, false);
	ndp_output(np);
}
