// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP connections: how one begins and ends (NDP paper, section 3.2.2).
 *
 * Teardown.  A connection is referenced by (1) its file descriptor or its
 * listener's accept queue, (2) the table while hashed, (3) its timer while
 * pending, (4) its pull queue while queued, (5) packets in the local qdisc,
 * through sk_wmem_alloc, and their tasklet, (6) a receive in progress.  The
 * table's reference is dropped first, under the lock, so that no new (6)
 * appears; the timer is cancelled and the connection removed from its pull
 * queue there as well.  The other references end by themselves, and the last
 * one frees the socket, after a grace period (SOCK_RCU_FREE) for lookups that
 * still see the entry.
 *
 * Non-goals here: what packets mean (data.c, answer.c).
 */
#include "device.h"
#include "event.h"
#include "transport.h"

/* Smallest initial window, packets (design: at least 10). */
#define NDP_IW_MIN		10

/* Least limit on the packets of one socket in the local qdisc. */
#define NDP_QDISC_MIN		2

/* Tests begin near the wrap of 32-bit counters instead of sending 2^32 packets. */
static unsigned int ndp_start;
module_param_named(start, ndp_start, uint, 0600);
MODULE_PARM_DESC(start, "for tests: PSNs, pull counters and byte counts of new connections begin here, at both ends (default 0: PSNs at random)");

/*
 * An initiator that never sent a packet needs no tombstone.  No late copy can reopen an
 * initiator's end: while there are many tombstones it leaves none, and a peer that still
 * sends is answered as for an unknown connection.
 */
static bool ndp_conn_leaves_tomb(const struct ndp_sock *np)
{
	if (np->acceptor)
		return true;
	return np->opened && !ndp_tomb_half_full(np->nn);
}

/*
 * Remove a connection from the table permanently.
 *
 * A tombstone takes its place.  While the namespace has all the tombstones that it may, a
 * connection that a cookie opened has its cookie invalidated instead, if the peer knows that
 * it was open.  An initiator that sent nothing, or finds many tombstones, leaves nothing.
 * Drops the table's reference.
 *
 * Context: np->lock held; the caller has a reference of its own.
 */
static void ndp_conn_unhash(struct ndp_sock *np, bool aborted)
{
	struct ndp_net *nn = np->nn;
	struct ndp_tombstone *tomb = np->tomb;
	bool known = !aborted || np->peer_done;

	if (!np->hashed)
		return;
	np->hashed = false;
	ndp_unverified_end(np);
	if (np->orphan_since)
		atomic_dec(&nn->orphans);
	np->orphan_since = 0;

	if (np->by_cookie && known && ndp_tomb_full(nn)) {
		ndp_cookie_retire(nn, &np->entry.key,
				  ktime_get_ns() + ndp_tomb_time(np->peer_done));
		ndp_entry_remove(&np->entry);
	} else if (ndp_conn_leaves_tomb(np)) {
		np->tomb = NULL;
		tomb->entry.key = np->entry.key;
		tomb->entry.tombstone = true;
		tomb->rcv_nxt = np->rcv_nxt;
		tomb->aborted = aborted;
		ndp_entry_replace(&np->entry, &tomb->entry);
		/* An initiator's end cannot be reopened, and no ACK shortens its tombstone. */
		ndp_tomb_start(nn, tomb, np->peer_done || !(np->acceptor || aborted));
	} else {
		ndp_entry_remove(&np->entry);
	}
	sock_put(ndp_to_sk(np));
}

static u32 ndp_initial_window(const struct ndp_sock *np, u64 rate_bps)
{
	const struct ndp_net *nn = np->nn;
	u64 bytes, bits;
	u32 iw;

	if (np->iw_opt)
		return np->iw_opt;
	/* rate x base_rtt fits into 64 bits, as both are bounded */
	bits = div_u64(rate_bps, 1000) * READ_ONCE(nn->base_rtt_us);
	bytes = min_t(u64, div_u64(bits, 8000), NDP_IW_MAX_BYTES);
	iw = DIV_ROUND_UP((u32)bytes, np->mss);
	return clamp_t(u32, iw, NDP_IW_MIN,
		       max_t(u32, NDP_IW_MAX_BYTES / np->mss, 1));
}

/*
 * Limit on the packets of one socket in the local qdisc, like TCP small queues: a NIC
 * reports several completions at once, and must have something to send meanwhile.
 */
static u32 ndp_qdisc_pkts(const struct ndp_sock *np, u64 rate_bps)
{
	const struct ndp_net *nn = np->nn;
	u64 bits = div_u64(rate_bps, USEC_PER_SEC) * READ_ONCE(nn->qdisc_us);

	return clamp_t(u64, div_u64(bits, 8 * np->mss), NDP_QDISC_MIN,
		       NDP_MAX_WINDOW);
}

/**
 * ndp_conn_clear - reset a socket to the state of one that never had a peer
 * @np:		socket, fresh, cloned or with its connection ended and purged
 *
 * Context: nobody else sees @np yet, or its lock is held and a grace period has
 * passed since it left the table.
 */
void ndp_conn_clear(struct ndp_sock *np)
{
	memset_startat(np, 0, entry);
	__skb_queue_head_init(&np->sendq);
	__skb_queue_head_init(&np->unended);
	__skb_queue_head_init(&np->early);
	ndp_early_forget(np);
	ndp_path_answers_forget(np);
	np->txq = RB_ROOT;
	np->ooo = RB_ROOT;
	INIT_LIST_HEAD(&np->flight);
	INIT_LIST_HEAD(&np->rtx);
	INIT_LIST_HEAD(&np->lost);
	np->timer_at = U64_MAX;
	np->probe_ns = NDP_PROBE_MIN;
}

/* Set what depends on the route: segment size, initial window and least timeout. */
static int ndp_conn_route(struct ndp_sock *np)
{
	struct ndp_path *path = &np->peer->path[0];
	struct dst_entry *dst = ndp_path_dst(np, path);
	u64 rate;

	if (IS_ERR(dst))
		return PTR_ERR(dst);
	ndp_mtu_note(np, path, dst);
	rate = ndp_dev_rate(sock_net(ndp_to_sk(np)), dst->dev);
	np->iw = ndp_initial_window(np, rate);
	np->qdisc_pkts = ndp_qdisc_pkts(np, rate);
	ndp_rto_init(np, rate);
	dst_release(dst);
	return 0;
}

/**
 * ndp_conn_setup - set up a connection's peer, segment size, initial window and timeout
 * @np:		connection whose addresses, ports and connection id are set
 * @gfp:	allocation
 *
 * Context: nobody else sees @np yet, or its lock is held; softirqs off.
 * Return: 0, -ENOMEM, -ENETUNREACH or another error of routing.
 */
int ndp_conn_setup(struct ndp_sock *np, gfp_t gfp)
{
	u32 start = READ_ONCE(ndp_start);
	u64 random = get_random_u64();
	int err;

	if (!np->tomb)
		np->tomb = ndp_tomb_alloc(gfp);
	if (!np->tomb)
		return -ENOMEM;
	err = ndp_peer_join(np) ?: ndp_conn_route(np);
	if (err)
		return err;

	np->rcv_mss = np->mss;
	np->rcv_truesize = SKB_TRUESIZE(np->mss);
	/* Assume room for one initial window until the peer advertises its window. */
	np->snd_window = np->iw * np->mss;
	np->isn = start ?: lower_32_bits(random);
	/* Mask and random PSN are 48 bits that only a receiver of the packet can echo. */
	np->path_mask = np->acceptor ? upper_32_bits(random) : 0;
	np->round_state = random;
	np->rcv_bytes = start;
	np->read_bytes = start;
	np->window_psn = np->isn;
	np->window_cum = np->isn;
	np->snd_una = np->isn;
	np->snd_nxt = np->isn;
	np->snd_last = np->isn - 1;
	if (np->tp->init)
		np->tp->init(np, start);
	return 0;
}

/**
 * ndp_conn_established - the peer has answered
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_conn_established(struct ndp_sock *np)
{
	struct sock *sk = ndp_to_sk(np);

	if (sk->sk_state != TCP_SYN_SENT)
		return;
	np->answered = true;
	ndp_set_state(sk, TCP_ESTABLISHED);
	np->syn_at = 0;
	ndp_tx_all_lost(np, &np->flight, true);
	sk->sk_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
}

/**
 * ndp_conn_abort - end a connection at once
 * @np:		connection
 * @err:	error for the application (positive errno), 0 for none
 * @tell:	send the peer a reset
 *
 * Context: np->lock held; the caller has a reference.
 */
void ndp_conn_abort(struct ndp_sock *np, int err, bool tell)
{
	struct sock *sk = ndp_to_sk(np);

	if (sk->sk_state == TCP_CLOSE)
		return;
	if (tell && (np->opened || np->acceptor)) {
		/* Without an ACK before it, an initiator would take the reset for a refusal. */
		ndp_ack_flush(np);
		ndp_send_rst(np);
	}
	ndp_event_close(np, true, err);
	if (err)
		WRITE_ONCE(sk->sk_err, err);
	/* Who sees the end without this lock sees its error: pairs with ndp_end_seen(). */
	smp_wmb();
	ndp_set_state(sk, TCP_CLOSE);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	ndp_conn_unhash(np, true);
	ndp_timer_stop(np);
	ndp_tp_detach(np);
	ndp_conn_purge(np);
	sk->sk_write_space(sk);
	sk_error_report(sk);
	sk->sk_state_change(sk);
}

/**
 * ndp_conn_end - end a connection in order, by ndp_both_finished() or ndp_ack_ends()
 * @np:		connection
 *
 * Context: np->lock held; the caller has a reference.
 */
void ndp_conn_end(struct ndp_sock *np)
{
	ndp_event_close(np, false, 0);
	ndp_set_state(ndp_to_sk(np), TCP_CLOSE);
	ndp_conn_unhash(np, false);
	ndp_timer_stop(np);
	ndp_tp_detach(np);
	ndp_conn_purge(np);
}

/**
 * ndp_conn_check_done - end a connection that both sides have finished
 * @np:		connection
 *
 * No process has the socket any more, and the peer has received all and sends nothing more.
 *
 * Context: np->lock held; the caller has a reference.
 */
void ndp_conn_check_done(struct ndp_sock *np)
{
	struct sock *sk = ndp_to_sk(np);

	if (!ndp_both_finished(np) || !sock_flag(sk, SOCK_DEAD) ||
	    sk->sk_state == TCP_CLOSE)
		return;
	ndp_conn_end(np);
}

/*
 * Are there too many orphans, or do they use too much memory?  Half of the limit is
 * reserved for orphans whose peers still accept data; only those may stay while the
 * namespace has used up its memory.
 */
static bool ndp_orphan_excess(const struct ndp_sock *np, bool stalled)
{
	const struct sock *sk = &np->inet.sk;
	const struct ndp_net *nn = np->nn;
	int most = READ_ONCE(nn->max_orphans);

	if (atomic_read(&nn->orphans) > (stalled ? most / 2 : most))
		return true;
	if (sk->sk_wmem_queued <= SOCK_MIN_SNDBUF)
		return false;
	return atomic_long_read(sk->sk_prot->memory_allocated) >
	       sk_prot_mem_limits(sk, 2) ||
	       (stalled && ndp_mem_full(sk));
}

/**
 * ndp_orphan_limit - end an orphan that exceeds the limits
 * @np:		connection that no process has
 * @stalled:	its peer accepts no data, or has received all
 *
 * Context: np->lock held; the caller has a reference.
 * Return: true if it did and was ended.
 */
bool ndp_orphan_limit(struct ndp_sock *np, bool stalled)
{
	if (!ndp_orphan_excess(np, stalled))
		return false;
	NDP_CONN_INC(np, ORPHANS_EXCESS);
	ndp_conn_abort(np, 0, !ndp_fin_acked(np));
	return true;
}

/**
 * ndp_conn_orphan - a connection becomes an orphan: no process has it any more
 * @np:		connection, not closed
 *
 * The connection continues by itself until the peer has received all that was written,
 * and has finished as well.
 *
 * Context: np->lock held; the caller has a reference.
 */
void ndp_conn_orphan(struct ndp_sock *np)
{
	np->orphan_since = ktime_get_ns();
	atomic_inc(&np->nn->orphans);
	ndp_conn_check_done(np);
	if (ndp_to_sk(np)->sk_state == TCP_CLOSE ||
	    ndp_orphan_limit(np, ndp_fin_acked(np)))
		return;
	ndp_timer_update(np);
}

static void ndp_purge_tx_list(struct ndp_sock *np)
{
	struct rb_node *node;

	while ((node = rb_first(&np->txq))) {
		struct sk_buff *skb = rb_to_skb(node);

		ndp_tx_done(np, skb);
	}
}

/* Context: np->lock held. */
static void ndp_purge_written(struct ndp_sock *np, struct sk_buff_head *list)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(list))) {
		ndp_wmem_uncharge(np, skb);
		kfree_skb_reason(skb, SKB_DROP_REASON_SOCKET_CLOSE);
	}
}

/**
 * ndp_conn_purge_unended - drop an incomplete message that was written with MSG_MORE
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_conn_purge_unended(struct ndp_sock *np)
{
	ndp_purge_written(np, &np->unended);
	np->unended_bytes = 0;
	np->unended_sync = false;
}

/**
 * ndp_conn_purge - free everything queued in either direction but what the
 * application may still read
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_conn_purge(struct ndp_sock *np)
{
	ndp_purge_tx_list(np);
	ndp_purge_written(np, &np->sendq);
	np->sendq_bytes = 0;
	ndp_conn_purge_unended(np);
	ndp_conn_purge_ooo(np);
	if (sock_flag(ndp_to_sk(np), SOCK_DEAD))
		ndp_conn_purge_read(np);
}
