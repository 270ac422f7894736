// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP byte streams: what send, receive and poll do.
 *
 * A writer fills skbs of up to one segment each outside the connection's lock and hands them to
 * the send queue under it, some tens of kilobytes at a time.  A reader takes packets from the
 * receive queue likewise, and packets that it has read to their end make room for pulls.
 * lock_sock serialises writers with writers and readers with readers.
 *
 * Semantics towards the application are TCP's.
 */
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/sockios.h>
#include <asm/ioctls.h>
#include "call.h"
#include "transport.h"

/* MSG_MORE holds a tail back no longer than this, as TCP does. */
#define NDP_CORK_TIME		(200 * NDP_MSEC)

/*
 * Bytes that readers and writers copy before they take the connection's lock.  The first packet
 * of a long write waits for that copy: a few microseconds.
 */
#define NDP_BATCH	0x8000

/* A page fragment with fewer bytes left is replaced by a new one. */
#define NDP_FRAG_LEAST	32U

/* Copy into page fragments.  Return: bytes, 0 if @skb has no place for another one, or an error. */
static int ndp_fill(struct sock *sk, struct sk_buff *skb, struct msghdr *msg,
		    u32 max)
{
	struct page_frag *pfrag = sk_page_frag(sk);
	int i = skb_shinfo(skb)->nr_frags;
	bool coalesce;
	size_t want, n;

	/*
	 * Pages are charged to the writer's memory cgroup here, as for a local socket: packets
	 * are charged to it under np->lock, where nothing can be reclaimed and no limit holds.
	 */
	if (!skb_page_frag_refill(NDP_FRAG_LEAST, pfrag, sk->sk_allocation | __GFP_ACCOUNT))
		return -ENOBUFS;
	coalesce = skb_can_coalesce(skb, i, pfrag->page, pfrag->offset);
	if (!coalesce && i == MAX_SKB_FRAGS)
		return 0;
	want = min_t(size_t, max, pfrag->size - pfrag->offset);
	want = min(want, msg_data_left(msg));
	n = copy_page_from_iter(pfrag->page, pfrag->offset, want,
				&msg->msg_iter);
	if (n < want) {
		/* Bytes copied before the fault are not in the packet: give them back. */
		iov_iter_revert(&msg->msg_iter, n);
		return -EFAULT;
	}
	if (coalesce) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], n);
	} else {
		get_page(pfrag->page);
		skb_fill_page_desc(skb, i, pfrag->page, pfrag->offset, n);
	}
	pfrag->offset += n;
	skb->len += n;
	skb->data_len += n;
	skb->truesize += n;
	return n;
}

/* Fill a packet up to @max bytes, or until it has no place for another fragment. */
static int ndp_fill_skb(struct sock *sk, struct sk_buff *skb, struct msghdr *msg,
			u32 max)
{
	while (skb->len < max && msg_data_left(msg)) {
		int n = ndp_fill(sk, skb, msg, max - skb->len);

		if (n <= 0)
			return n;
	}
	return 0;
}

/**
 * ndp_fill_list - copy what the application writes into packets of up to one segment
 * @np:		connection
 * @list:	destination, from the end of its last packet on
 * @msg:	source
 * @len:	bytes to copy; more if they fit into the last packet
 *
 * Context: lock_sock held.
 * Return: 0, -EFAULT or -ENOBUFS; @list has what was copied in either case, and may end in
 *	an empty packet.
 */
int ndp_fill_list(struct ndp_sock *np, struct sk_buff_head *list, struct msghdr *msg,
		  size_t len)
{
	struct sk_buff *skb = skb_peek_tail(list);
	size_t left = msg_data_left(msg);
	struct sock *sk = ndp_to_sk(np);
	u32 mss = READ_ONCE(np->mss);
	int err = 0;

	while (!err && left - msg_data_left(msg) < len) {
		if (!skb) {
			skb = ndp_tx_alloc(sk->sk_allocation);
			if (!skb)
				return -ENOBUFS;
			__skb_queue_tail(list, skb);
		}
		err = ndp_fill_skb(sk, skb, msg, mss);
		skb = NULL;
	}
	return err;
}

/**
 * ndp_unlink_tail - take the last packet of a queue, to fill it
 * @np:		connection
 * @queue:	its unsent packets, or the message that MSG_MORE began
 *
 * Taken off the queue, the packet is not sent while it is filled.
 *
 * Context: np->lock held.
 * Return: packet, which is not charged any more, or NULL if the last one has no room.
 */
struct sk_buff *ndp_unlink_tail(struct ndp_sock *np, struct sk_buff_head *queue)
{
	struct sk_buff *skb = skb_peek_tail(queue);

	if (!skb || skb->len >= np->mss || skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS)
		return NULL;
	__skb_unlink(skb, queue);
	ndp_wmem_uncharge(np, skb);
	return skb;
}

static void ndp_take_tail(struct ndp_sock *np, struct sk_buff_head *list)
{
	struct sk_buff *skb;

	/* Only writers add to @sendq, under lock_sock(). */
	if (skb_queue_empty_lockless(&np->sendq))
		return;
	spin_lock_bh(&np->lock);
	skb = ndp_unlink_tail(np, &np->sendq);
	if (skb) {
		__skb_queue_tail(list, skb);
		np->sendq_bytes -= skb->len;
		/* Packets sent meanwhile do not carry LAST. */
		np->more = true;
	}
	spin_unlock_bh(&np->lock);
}

/**
 * ndp_send_abort_late - purge the queues if the connection ended while packets were filled
 * @np:		connection
 *
 * Context: lock_sock held, and something was queued.
 */
void ndp_send_abort_late(struct ndp_sock *np)
{
	if (ndp_to_sk(np)->sk_state != TCP_CLOSE)
		return;
	spin_lock_bh(&np->lock);
	ndp_conn_purge(np);
	spin_unlock_bh(&np->lock);
}

/* Queue filled packets and send what may be sent. */
static void ndp_queue_tail(struct ndp_sock *np, struct sk_buff_head *filled,
			   bool more, bool corked)
{
	struct sk_buff *skb;

	spin_lock_bh(&np->lock);
	np->more = more;
	np->corked = corked;
	if (!corked)
		np->cork_at = 0;
	else if (!np->cork_at)
		np->cork_at = ktime_get_ns() + NDP_CORK_TIME;
	skb_queue_walk(filled, skb) {
		np->sendq_bytes += skb->len;
		ndp_wmem_charge(np, skb);
	}
	skb_queue_splice_tail_init(filled, &np->sendq);
	ndp_output(np);
	if (np->cork_at)
		ndp_timer_update(np);
	spin_unlock_bh(&np->lock);
	ndp_send_abort_late(np);
}

/* Namespace memory is full: wait until this socket's queued data has been acknowledged. */
static bool ndp_must_wait(const struct sock *sk)
{
	return ndp_mem_full(sk) && READ_ONCE(sk->sk_wmem_queued);
}

/**
 * ndp_send_reserve - reserve memory for data to be sent
 * @np:		socket
 * @size:	truesize
 *
 * Context: process; softirqs change sk_forward_alloc under np->lock.
 * Return: false if the limits of the socket's memory do not allow it.
 */
bool ndp_send_reserve(struct ndp_sock *np, u32 size)
{
	bool ok;

	spin_lock_bh(&np->lock);
	ok = sk_wmem_schedule(ndp_to_sk(np), size);
	spin_unlock_bh(&np->lock);
	return ok;
}

/**
 * ndp_send_unreserve - give reserved memory back, of which data that was not copied has no need
 * @np:		socket
 *
 * Context: process.
 */
void ndp_send_unreserve(struct ndp_sock *np)
{
	spin_lock_bh(&np->lock);
	sk_mem_reclaim(ndp_to_sk(np));
	spin_unlock_bh(&np->lock);
}

static bool ndp_send_room(struct ndp_sock *np, u32 size)
{
	struct sock *sk = ndp_to_sk(np);

	return sk_stream_memory_free(sk) && !ndp_must_wait(sk) && ndp_send_reserve(np, size);
}

/* Is sending over: by an error, a shutdown or the end of the connection? */
static bool ndp_send_ended(const struct sock *sk)
{
	int state = READ_ONCE(sk->sk_state);

	return READ_ONCE(sk->sk_err) ||
	       READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN ||
	       (state != TCP_ESTABLISHED && state != TCP_SYN_SENT);
}

/*
 * Wait for memory, SOCK_NOSPACE set.  If the connection ended meanwhile, the socket may be
 * connected to another peer, for which the data is not meant.
 */
static int ndp_send_sleep(struct sock *sk, long *timeo)
{
	u32 renewals = ndp_sk(sk)->renewals;
	int err = sk_stream_wait_memory(sk, timeo);

	return renewals == ndp_sk(sk)->renewals ? err : -EPIPE;
}

/**
 * ndp_send_wait - wait until there is room in the send buffer
 * @sk:		socket
 * @size:	memory that will be charged
 * @timeo:	for how long, jiffies
 *
 * Context: lock_sock held, released while waiting.
 * Return: 0, -EPIPE when nothing more can be sent, -EAGAIN or the error for a signal.
 */
int ndp_send_wait(struct sock *sk, u32 size, long *timeo)
{
	int err = 0;

	while (!err) {
		if (ndp_send_ended(sk))
			return -EPIPE;
		if (ndp_send_room(ndp_sk(sk), size))
			return 0;
		set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		/*
		 * Check again: ACKs do not wait for lock_sock().  Memory that they freed before
		 * the bit was set woke no writer.
		 */
		smp_mb__after_atomic();
		if (ndp_send_room(ndp_sk(sk), size))
			return 0;
		err = ndp_send_sleep(sk, timeo);
	}
	return err;
}

/* Bytes of a message that are copied before any of it is sent. */
static u32 ndp_send_batch(const struct ndp_sock *np, struct msghdr *msg)
{
	const struct sock *sk = &np->inet.sk;
	int room = READ_ONCE(sk->sk_sndbuf) - READ_ONCE(sk->sk_wmem_queued);
	u32 mss = READ_ONCE(np->mss);
	u32 batch = clamp_t(int, room, 0, NDP_BATCH);

	return min_t(size_t, max(rounddown(batch, mss), mss), msg_data_left(msg));
}

/* Fill and queue @len bytes.  Return: bytes taken from @msg, or an error. */
static int ndp_send_segments(struct ndp_sock *np, struct msghdr *msg, u32 len)
{
	bool corked = msg->msg_flags & MSG_MORE ||
		      np->tcp_option[NDP_TCP_CORK];
	size_t left = msg_data_left(msg);
	struct sk_buff_head filled;
	struct sk_buff *skb;
	int copied, err;

	__skb_queue_head_init(&filled);
	ndp_take_tail(np, &filled);
	err = ndp_fill_list(np, &filled, msg, len);
	skb = skb_peek_tail(&filled);
	if (skb && !skb->len) {
		__skb_unlink(skb, &filled);
		consume_skb(skb);
	}
	copied = left - msg_data_left(msg);
	if (!skb_queue_empty(&filled))
		ndp_queue_tail(np, &filled, !err && (corked || msg_data_left(msg)), !err && corked);
	if (err)
		ndp_send_unreserve(np);
	return copied ?: err;
}

/* MSG_FASTOPEN: connect first; the data then opens the connection. */
static int ndp_send_connect(struct socket *sock, struct msghdr *msg)
{
	struct sockaddr *addr = msg->msg_name;
	int err;

	if (addr && msg->msg_namelen >= (int)sizeof(addr->sa_family) &&
	    addr->sa_family == AF_UNSPEC)
		return -EOPNOTSUPP;
	err = addr ? ndp_check_addr(sock->sk, addr, msg->msg_namelen) : -EINVAL;
	if (err)
		return err;
	return ndp_connect_locked(sock, addr, msg->msg_namelen,
				  msg->msg_flags & MSG_DONTWAIT ? O_NONBLOCK : 0);
}

/**
 * ndp_send_begin - prepare a write: connect if asked to, and check that it is possible
 * @sock:	socket
 * @msg:	what to write
 * @timeo:	set to the send timeout, jiffies
 *
 * Context: lock_sock held.
 * Return: 0 or an error.
 */
int ndp_send_begin(struct socket *sock, struct msghdr *msg, long *timeo)
{
	struct sock *sk = sock->sk;
	struct sockcm_cookie sockc;
	int err;

	*timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	if (msg->msg_flags & MSG_FASTOPEN) {
		err = ndp_send_connect(sock, msg);
		if (err)
			return err;
	}
	if (ndp_send_ended(sk))
		return -EPIPE;
	if (ndp_sync_opening(sk) && !*timeo)
		return -EAGAIN;
	/* Control messages have no effect, but malformed ones are refused. */
	sockcm_init(&sockc, sk);
	if (msg->msg_controllen && sock_cmsg_send(sk, msg, &sockc))
		return -EINVAL;
	return 0;
}

int ndp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct ndp_sock *np = ndp_sk(sk);
	struct sk_buff_head none;
	int copied = 0;
	long timeo;
	int err;

	if (msg->msg_flags & MSG_OOB)
		return -EOPNOTSUPP;
	lock_sock(sk);
	err = ndp_send_begin(sock, msg, &timeo);
	while (!err && msg_data_left(msg)) {
		u32 batch = ndp_send_batch(np, msg);
		int n;

		err = ndp_send_wait(sk, ndp_send_truesize(np, batch), &timeo);
		if (err)
			break;
		n = ndp_send_segments(np, msg, batch);
		if (n == -ENOBUFS) {
			set_bit(SOCK_NOSPACE, &sock->flags);
			err = ndp_send_sleep(sk, &timeo);
		} else if (n < 0) {
			err = n;
		} else {
			copied += n;
		}
	}
	if (err && copied) {
		/* Send the tail of a partial write now: the application may never write again. */
		__skb_queue_head_init(&none);
		ndp_queue_tail(np, &none, false, false);
	}
	if (copied) {
		err = copied;
	} else if (err) {
		ndp_end_seen();
		err = sk_stream_error(sk, msg->msg_flags, err);
	}
	release_sock(sk);
	return err;
}

/*
 * Find the packet that holds the byte @skip bytes beyond the read position.
 * Return: packet, *@off the offset in it; NULL at the end, *@tail the last packet.
 */
static struct sk_buff *ndp_rx_at(struct ndp_sock *np, u32 skip, u32 *off,
				 struct sk_buff **tail)
{
	struct sk_buff_head *queue = &ndp_to_sk(np)->sk_receive_queue;
	struct sk_buff *skb, *found = NULL;

	spin_lock_bh(&np->lock);
	skb_queue_walk(queue, skb) {
		u32 have = skb->len - ndp_rx_cb(skb)->off;

		if (skip < have) {
			*off = ndp_rx_cb(skb)->off + skip;
			found = skb;
			break;
		}
		skip -= have;
	}
	*tail = skb_peek_tail(queue);
	spin_unlock_bh(&np->lock);
	return found;
}

/**
 * ndp_rx_consumed - packets were read to their end: there is room for others
 * @np:		connection
 * @n:		how many, from the head of the receive queue on; freed
 *
 * Context: lock_sock held.
 */
void ndp_rx_consumed(struct ndp_sock *np, u32 n)
{
	struct sk_buff_head read;
	struct sk_buff *skb;
	u32 truesize = 0;

	__skb_queue_head_init(&read);
	spin_lock_bh(&np->lock);
	while (n--) {
		skb = __skb_dequeue(&ndp_to_sk(np)->sk_receive_queue);
		WRITE_ONCE(np->rcv_msgs, np->rcv_msgs - ndp_rx_cb(skb)->eom);
		truesize += skb->truesize;
		__skb_queue_tail(&read, skb);
	}
	ndp_rmem_uncharge(np, truesize);
	ndp_tp_more(np, true);
	spin_unlock_bh(&np->lock);
	while ((skb = __skb_dequeue(&read)))
		consume_skb(skb);
}

/* Remember the last packet read, whose time stamp is reported. */
void ndp_rx_stamp(const struct sock *sk, struct sk_buff *skb,
		  struct sk_buff **stamped)
{
	if (!sock_flag(sk, SOCK_RCVTSTAMP) &&
	    !sock_flag(sk, SOCK_TIMESTAMPING_RX_SOFTWARE))
		return;
	consume_skb(*stamped);
	*stamped = skb_get(skb);
}

/*
 * Copy from one packet after the other, and free those that were read to their end all at once.
 * Only the reader removes packets from the queue, and @tail was its last packet: up to @tail the
 * links do not change.
 *
 * Return: bytes, 0 when the queue has no more, or -EFAULT.
 */
static int ndp_rx_copy(struct ndp_sock *np, struct msghdr *msg, size_t len,
		       u32 skip, int flags, struct sk_buff **tail,
		       struct sk_buff **stamped)
{
	struct sk_buff *skb;
	u32 off, n, read = 0, copied = 0;

	skb = ndp_rx_at(np, skip, &off, tail);
	if (!skb)
		return 0;
	len = min_t(size_t, len, NDP_BATCH);
	for (;;) {
		n = min_t(size_t, len - copied, skb->len - off);
		if (!(flags & MSG_TRUNC) && skb_copy_datagram_msg(skb, off, msg, n))
			break;
		ndp_rx_stamp(ndp_to_sk(np), skb, stamped);
		copied += n;
		if (!(flags & MSG_PEEK)) {
			ndp_rx_cb(skb)->off = off + n;
			read += off + n == skb->len;
		}
		if (copied == len || skb == *tail)
			break;
		skb = skb->next;
		off = 0;
	}
	if (!(flags & MSG_PEEK))
		WRITE_ONCE(np->read_bytes, np->read_bytes + copied);
	if (read)
		ndp_rx_consumed(np, read);
	return copied ?: len ? -EFAULT : 0;
}

/* Result of reading at the end of the stream.  Return: 0 for end of file, or an error. */
int ndp_rx_ended(struct sock *sk)
{
	if (READ_ONCE(ndp_sk(sk)->rcv_fin))
		return 0;
	ndp_end_seen();
	if (READ_ONCE(sk->sk_err))
		return sock_error(sk);
	return READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN ? 0 : -ENOTCONN;
}

/* May the reader wait for data?  Return: 1, or an error. */
int ndp_rx_may_wait(long timeo)
{
	if (!timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(timeo);
	return 1;
}

/*
 * Will nothing more arrive?  To be called before the queue is checked: the last data may arrive
 * together with the end.
 */
bool ndp_rx_at_end(const struct sock *sk)
{
	return READ_ONCE(ndp_sk(sk)->rcv_fin) || READ_ONCE(sk->sk_err) ||
	       READ_ONCE(sk->sk_state) == TCP_CLOSE ||
	       READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN;
}

/* Has data arrived behind @tail?  A reader that saw the end sees all data before it. */
static bool ndp_rx_more(struct ndp_sock *np, const struct sk_buff *tail)
{
	bool more;

	spin_lock_bh(&np->lock);
	more = skb_peek_tail(&ndp_to_sk(np)->sk_receive_queue) != tail;
	spin_unlock_bh(&np->lock);
	return more;
}

static bool ndp_rx_changed(const struct sock *sk, const struct sk_buff *tail)
{
	if (ndp_rx_at_end(sk))
		return true;
	return ndp_has_messages(ndp_sk(sk)) ? ndp_readable(ndp_sk(sk)) :
	       skb_peek_tail(&sk->sk_receive_queue) != tail;
}

/**
 * ndp_rx_wait - wait for something to read, or the end
 * @sk:		socket
 * @timeo:	for how long, jiffies
 * @tail:	last packet of the receive queue when there was too little; unused
 *		for messages
 *
 * sk_wait_data() looks at the queue alone and leaves the rest to the backlog.  AF_NDP receives
 * packets while the caller has the socket lock, so everything is checked again once a wakeup can
 * no longer be missed.
 *
 * Context: lock_sock held, released while waiting.
 * Return: 0, -EPIPE if the connection has ended and made way: later data is of another peer.
 */
int ndp_rx_wait(struct sock *sk, long *timeo, const struct sk_buff *tail)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	u32 renewals = ndp_sk(sk)->renewals;

	add_wait_queue(sk_sleep(sk), &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	if (!ndp_rx_changed(sk, tail)) {
		release_sock(sk);
		*timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, *timeo);
		lock_sock(sk);
	}
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
	return renewals == ndp_sk(sk)->renewals ? 0 : -EPIPE;
}

/* Send the opening now for a caller that waits for the peer to speak.  Context: process. */
void ndp_open_now(struct ndp_sock *np)
{
	spin_lock_bh(&np->lock);
	ndp_send_open(np);
	spin_unlock_bh(&np->lock);
}

int ndp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct sock *sk = sock->sk;
	struct ndp_sock *np = ndp_sk(sk);
	struct sk_buff *tail, *stamped = NULL;
	int copied = 0;
	bool over;
	int target;
	int n = 0;
	long timeo;

	if (flags & MSG_OOB)
		return -EINVAL;
	if (flags & MSG_ERRQUEUE)
		return -EAGAIN;
	lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN) {
		n = -ENOTCONN;
		goto out;
	}
	timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	target = sock_rcvlowat(sk, flags & MSG_WAITALL, len);
	/* A read of 0 bytes waits for data too, but only once. */
	while (len || !copied) {
		n = 0;
		if (!len && ndp_inq(np))
			break;
		n = ndp_rx_copy(np, msg, len, flags & MSG_PEEK ? copied : 0,
				flags, &tail, &stamped);
		if (n < 0)
			break;
		if (n) {
			copied += n;
			len -= n;
			if (copied >= target && skb_queue_empty_lockless(&sk->sk_receive_queue))
				break;
			continue;
		}
		if (copied >= target)
			break;
		over = ndp_rx_at_end(sk);
		if (over && ndp_rx_more(np, tail))
			continue;
		/* Return the bytes read so far; the next call reports the error. */
		if (copied && (over || !timeo || signal_pending(current)))
			break;
		n = over ? ndp_rx_ended(sk) : ndp_rx_may_wait(timeo);
		if (n <= 0)
			break;
		ndp_open_now(np);
		n = ndp_rx_wait(sk, &timeo, tail);
		if (n || !len)
			break;
	}
out:
	release_sock(sk);
	if (stamped) {
		sock_recv_timestamp(msg, sk, stamped);
		consume_skb(stamped);
	}
	return copied ?: n;
}

static __poll_t ndp_poll_listen(const struct ndp_sock *np)
{
	return list_empty_careful(&np->accept_q) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static bool ndp_writable(const struct sock *sk)
{
	return sk_stream_is_writeable(sk) && !ndp_must_wait(sk);
}

static __poll_t ndp_poll_write(struct sock *sk)
{
	if (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN)
		return EPOLLOUT | EPOLLWRNORM;
	if (ndp_sync_opening(sk))
		return 0;
	if (ndp_writable(sk))
		return EPOLLOUT | EPOLLWRNORM;
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* Check again: room may have appeared before SOCK_NOSPACE was set. */
	smp_mb__after_atomic();
	return ndp_writable(sk) ? EPOLLOUT | EPOLLWRNORM : 0;
}

__poll_t ndp_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct sock *sk = sock->sk;
	struct ndp_sock *np = ndp_sk(sk);
	__poll_t mask = 0;
	u8 shutdown;
	int state;

	sock_poll_wait(file, sock, wait);
	/* Pairs with ndp_set_state(). */
	state = smp_load_acquire(&sk->sk_state);
	if (state == TCP_LISTEN)
		return ndp_poll_listen(np);
	/* A caller that polls for input alone expects the peer to speak first. */
	if (state == TCP_SYN_SENT &&
	    (poll_requested_events(wait) & (EPOLLIN | EPOLLOUT)) == EPOLLIN)
		ndp_open_now(np);

	shutdown = READ_ONCE(sk->sk_shutdown);
	if (shutdown == SHUTDOWN_MASK || state == TCP_CLOSE)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (ndp_readable(np))
		mask |= EPOLLIN | EPOLLRDNORM;
	mask |= ndp_poll_write(sk);
	ndp_end_seen();
	if (READ_ONCE(sk->sk_err))
		mask |= EPOLLERR;
	return mask;
}

/**
 * ndp_queued - count the bytes that wait in a connection's queues
 * @np:		connection
 *
 * Context: np->lock not held.
 * Return: bytes.
 */
struct ndp_queued ndp_queued(struct ndp_sock *np)
{
	struct ndp_queued q;

	spin_lock_bh(&np->lock);
	q.in = ndp_inq(np) + np->early_bytes;
	q.unsent = np->sendq_bytes + np->unended_bytes;
	q.out = q.unsent + np->txq_bytes;
	spin_unlock_bh(&np->lock);
	return q;
}

int ndp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sock *sk = sock->sk;
	struct ndp_sock *np = ndp_sk(sk);
	struct ndp_queued q;

	/* SIOCATMARK: there is no urgent data. */
	if (cmd == SIOCATMARK)
		return put_user(0, (int __user *)arg);
	if (cmd != SIOCINQ && cmd != SIOCOUTQ && cmd != SIOCOUTQNSD)
		return -ENOIOCTLCMD;
	if (sk->sk_state == TCP_LISTEN)
		return -EINVAL;
	lock_sock(sk);
	q = ndp_queued(np);
	release_sock(sk);
	return put_user(cmd == SIOCINQ ? q.in : cmd == SIOCOUTQ ? q.out : q.unsent,
			(int __user *)arg);
}
