// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP messages: what send and receive do on SOCK_SEQPACKET, for remote procedure
 * calls (NDP paper, sections 2.2 and 3).
 *
 * The last packet of a message carries EOM.  A message is queued whole or not at
 * all, so that neither a fault, a full buffer nor a signal leaves half of one; a message
 * begun with MSG_MORE waits in a queue of its own for its end.  A reader waits for the
 * end of the first message in the receive queue, which is kept until all of it was copied.
 *
 * The receive buffer may be too small for a message.  Then, once the peer may send no
 * more, the reader gets the part that has arrived, without MSG_EOR, and after it the rest
 * of that message as it arrives (as with NDP_PARTIAL for all messages).
 *
 * Messages that overtake one another (NDP_UNORDERED) are in the receive queue in the order in
 * which they are read; overtake.c.
 *
 * Non-goals: messages larger than the send buffer.
 */
#include "call.h"

/* Move the last packet of a message begun with MSG_MORE to @list, if it has room. */
static void ndp_msg_take_tail(struct ndp_sock *np, struct sk_buff_head *list)
{
	struct sk_buff *skb;

	/* Only writers fill @unended, under lock_sock(); most messages are written at once. */
	if (skb_queue_empty_lockless(&np->unended))
		return;
	spin_lock_bh(&np->lock);
	skb = ndp_unlink_tail(np, &np->unended);
	if (skb) {
		__skb_queue_tail(list, skb);
		np->unended_bytes -= skb->len;
	}
	spin_unlock_bh(&np->lock);
}

/*
 * Copy all of @msg to @list, first into the packet that it may have.
 * Return: 0, or an error, and then @list is unchanged: empty, or with that packet.
 */
static int ndp_msg_fill(struct ndp_sock *np, struct sk_buff_head *list, struct msghdr *msg)
{
	struct sk_buff *skb, *tail = skb_peek(list);
	u32 len = tail ? tail->len : 0, truesize = tail ? tail->truesize : 0;
	int err = ndp_fill_list(np, list, msg, msg_data_left(msg));

	if (!err)
		return 0;
	while ((skb = skb_peek_tail(list)) != tail) {
		__skb_unlink(skb, list);
		kfree_skb(skb);
	}
	if (tail) {
		/* The packet has no clone: trimming it allocates nothing. */
		pskb_trim(tail, len);
		tail->truesize = truesize;
	}
	return err;
}

/* Queue the packets of a message, or of a part of it.  Context: np->lock held. */
static void ndp_msg_queue(struct ndp_sock *np, struct sk_buff_head *list,
			  bool sync, bool ends)
{
	struct sk_buff *skb;

	skb_queue_walk(list, skb) {
		ndp_wmem_charge(np, skb);
		np->unended_bytes += skb->len;
	}
	skb_queue_splice_tail_init(list, &np->unended);
	sync |= np->unended_sync;
	np->unended_sync = sync && !ends;
	if (!ends || skb_queue_empty(&np->unended))
		return;
	ndp_tx_cb(skb_peek(&np->unended))->flags = NDP_F_BOM | (sync ? NDP_F_SYNC : 0);
	ndp_tx_cb(skb_peek_tail(&np->unended))->flags |= NDP_F_EOM;
	np->sendq_bytes += np->unended_bytes;
	np->unended_bytes = 0;
	skb_queue_splice_tail_init(&np->unended, &np->sendq);
	ndp_output(np);
}

/* Parse the control messages of SOL_NDP.  Return: 0 or an error. */
static int ndp_msg_control(struct msghdr *msg, bool *sync)
{
	struct cmsghdr *cmsg;

	for_each_cmsghdr(cmsg, msg) {
		if (!CMSG_OK(msg, cmsg))
			return -EINVAL;
		if (cmsg->cmsg_level != SOL_NDP)
			continue;
		if (cmsg->cmsg_type != NDP_CMSG_SYNC ||
		    cmsg->cmsg_len != CMSG_LEN(sizeof(int)))
			return -EINVAL;
		*sync = *(int *)CMSG_DATA(cmsg);
	}
	return 0;
}

/*
 * Reserve memory for a further piece of a message.  The buffer may be full of the message
 * itself, so the writer does not wait for room; but the truesize of pieces whose page fragments
 * do not coalesce must be bounded.
 */
static int ndp_msg_room(struct ndp_sock *np, size_t len)
{
	struct sock *sk = ndp_to_sk(np);
	u32 size = ndp_send_truesize(np, len);

	if ((u64)READ_ONCE(sk->sk_wmem_queued) + size >
	    2ULL * ndp_send_truesize(np, READ_ONCE(sk->sk_sndbuf)))
		return -EMSGSIZE;
	return ndp_send_reserve(np, size) ? 0 : -ENOBUFS;
}

static int ndp_msg_send(struct ndp_sock *np, struct msghdr *msg, size_t len,
			bool sync, long *timeo)
{
	struct sock *sk = ndp_to_sk(np);
	struct sk_buff_head list;
	int err = 0;
	bool ends;

	/* A message may be completed even if the send buffer was shrunk meanwhile. */
	if (len && np->unended_bytes + (u64)len > READ_ONCE(sk->sk_sndbuf))
		return -EMSGSIZE;
	if (!np->unended_bytes)
		err = ndp_send_wait(sk, ndp_send_truesize(np, len), timeo);
	else if (len)
		err = ndp_msg_room(np, len);
	if (err)
		return err;
	__skb_queue_head_init(&list);
	ndp_msg_take_tail(np, &list);
	err = ndp_msg_fill(np, &list, msg);
	ends = !err && (!(msg->msg_flags & MSG_MORE) || msg->msg_flags & MSG_EOR);
	spin_lock_bh(&np->lock);
	ndp_msg_queue(np, &list, !err && sync, ends);
	spin_unlock_bh(&np->lock);
	if (err)
		ndp_send_unreserve(np);
	ndp_send_abort_late(np);
	return err ?: len;
}

int ndp_msg_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	bool sync = false;
	long timeo;
	int n;

	if (msg->msg_flags & MSG_OOB)
		return -EOPNOTSUPP;
	n = ndp_msg_control(msg, &sync);
	if (n)
		return n;
	lock_sock(sk);
	n = ndp_send_begin(sock, msg, &timeo);
	if (!n)
		n = ndp_msg_send(ndp_sk(sk), msg, len, sync, &timeo);
	if (n < 0) {
		ndp_end_seen();
		n = sk_stream_error(sk, msg->msg_flags, n);
	}
	release_sock(sk);
	return n;
}

/* The packet after @skb in the receive queue, or the first.  Softirqs may add to the queue. */
static struct sk_buff *ndp_msg_next(struct ndp_sock *np, struct sk_buff *skb)
{
	struct sk_buff_head *queue = &ndp_to_sk(np)->sk_receive_queue;

	spin_lock_bh(&np->lock);
	skb = skb ? skb_peek_next(skb, queue) : skb_peek(queue);
	spin_unlock_bh(&np->lock);
	return skb;
}

/**
 * struct ndp_msg - the first message of a receive queue
 * @len:	bytes of it that have arrived
 * @copied:	bytes of these that were copied to the reader
 * @whole:	its end has arrived
 */
struct ndp_msg {
	u32			len;
	u32			copied;
	bool			whole;
};

/*
 * Copy up to @max bytes of the first message to @msg, and find out how long it is.
 * Context: lock_sock held.  Return: 0 or -EFAULT; the queue is unchanged.
 */
static int ndp_msg_copy(struct ndp_sock *np, struct msghdr *msg, size_t max,
			struct ndp_msg *m, struct sk_buff **stamped)
{
	struct sk_buff *skb = NULL;

	memset(m, 0, sizeof(*m));
	while (!m->whole && (skb = ndp_msg_next(np, skb))) {
		u32 off = ndp_rx_cb(skb)->off;
		u32 n = min_t(size_t, max - m->copied, skb->len - off);

		if (n && skb_copy_datagram_msg(skb, off, msg, n))
			return -EFAULT;
		if (n)
			ndp_rx_stamp(ndp_to_sk(np), skb, stamped);
		m->copied += n;
		m->len += skb->len - off;
		m->whole = ndp_rx_cb(skb)->eom;
	}
	return 0;
}

/* @len bytes were read.  Context: lock_sock held. */
static void ndp_msg_consume(struct ndp_sock *np, u32 len)
{
	struct sk_buff *skb = NULL;
	u32 read = 0;

	while (len) {
		struct ndp_rx_cb *cb;
		u32 n;

		skb = ndp_msg_next(np, skb);
		cb = ndp_rx_cb(skb);
		n = min(len, skb->len - cb->off);
		len -= n;
		cb->off += n;
		WRITE_ONCE(np->read_bytes, np->read_bytes + n);
		np->rcv_split = cb->off < skb->len || !cb->eom;
		read += cb->off == skb->len;
	}
	if (read)
		ndp_rx_consumed(np, read);
}

/* Wait for a message.  Return: 1 if there is one, 0 after the last one, or an error. */
static int ndp_msg_wait(struct ndp_sock *np, long timeo)
{
	struct sock *sk = ndp_to_sk(np);

	for (;;) {
		bool over = ndp_rx_at_end(sk);
		int n;

		if (ndp_msg_readable(np)) {
			/* The early message that was seen is still there, or now in the queue. */
			ndp_early_fetch(np);
			return 1;
		}
		n = over ? ndp_rx_ended(sk) : ndp_rx_may_wait(timeo);
		if (n <= 0)
			return n;
		ndp_open_now(np);
		n = ndp_rx_wait(sk, &timeo, NULL);
		if (n)
			return n;
	}
}

static int ndp_msg_receive(struct ndp_sock *np, struct msghdr *msg, size_t len,
			   int flags, struct sk_buff **stamped)
{
	struct ndp_msg m;
	bool split;
	int err;

	err = ndp_msg_copy(np, msg, len, &m, stamped);
	if (err)
		return err;
	split = !m.whole || np->partial || np->rcv_split;
	if (m.whole && (!split || m.copied == m.len))
		msg->msg_flags |= MSG_EOR;
	if (!split && m.copied < m.len)
		msg->msg_flags |= MSG_TRUNC;
	if (!(flags & MSG_PEEK))
		ndp_msg_consume(np, split ? m.copied : m.len);
	else if (!m.whole)
		/* The next call reads the part that this one has peeked at. */
		np->rcv_split = true;
	return flags & MSG_TRUNC && !split ? m.len : m.copied;
}

int ndp_msg_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		    int flags)
{
	struct sk_buff *stamped = NULL;
	struct sock *sk = sock->sk;
	int n = -ENOTCONN;

	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (flags & MSG_ERRQUEUE)
		return -EAGAIN;
	lock_sock(sk);
	if (sk->sk_state != TCP_LISTEN)
		n = ndp_msg_wait(ndp_sk(sk), sock_rcvtimeo(sk, flags & MSG_DONTWAIT));
	if (n > 0)
		n = ndp_msg_receive(ndp_sk(sk), msg, len, flags, &stamped);
	release_sock(sk);
	if (stamped) {
		sock_recv_timestamp(msg, sk, stamped);
		consume_skb(stamped);
	}
	return n;
}
