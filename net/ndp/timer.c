// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP timers: retransmission, PROBE, delayed opening, giving up.
 *
 * With trimming a packet is hardly ever lost without a word, so a timeout may
 * be short (NDP paper, section 3.2): srtt + 4 rttvar, but never less than 1 ms
 * nor than the queueing that a round trip may meet: a few samples of an idle
 * path would make every queue look like a loss.  With packets of 9000 bytes at
 * 10 Gb/s that is 1.6 ms; the paper's 1 ms does not see a full header queue.
 * The timeout runs from the moment when the packet has left the local qdisc.
 *
 * Answers tell which transmission they are to (RTX).  That to the first gives a sample
 * even when the packet was sent again meanwhile: too short a timeout is found out by the
 * first answer, and does not keep itself alive by leaving no packet to take samples of
 * (as with Karn's rule alone; compare Eifel, RFC 3522).
 *
 * One high-resolution timer per connection stands at the earliest of all
 * deadlines or before; when it runs it does what is due and computes anew.
 * Deadlines that move away do not touch it.
 */
#include "ndp.h"

/**
 * ndp_rto_init - least timeout, and that before the first RTT sample
 * @np:		connection with paths and mss
 *
 * The queueing of a full fabric: twice six hops whose data queue is full, and
 * once a full header queue, at the receiver's link after an incast.  That one
 * holds as many bytes as the data queue (section 3.1) and takes long to drain,
 * because a data packet goes after every ten headers.  Or 1 ms.  Before there is
 * a sample also three idle round trips.
 */
void ndp_rto_init(struct ndp_sock *np)
{
	const struct net *net = sock_net(ndp_to_sk(np));
	struct dst_entry *dst = np->paths->path[0].dst;
	u32 header = ndp_outer_len(np) + NDP_HDR_LEN;
	u32 packet = np->mss + header;
	u32 headers = NDP_SWITCH_LIMIT * packet / header;
	u64 bytes, queueing, rate = NDP_RATE_DEFAULT;
	u64 rtt = READ_ONCE(ndp_pernet(net)->base_rtt_us) * 1000ULL;

	if (dst)
		rate = ndp_dev_rate(sock_net(ndp_to_sk(np)), dst->dev);
	bytes = 2ULL * NDP_SWITCH_HOPS * (NDP_SWITCH_LIMIT + 1) * packet;
	bytes += headers * (header + NDP_ETH_OVERHEAD) +
		 headers / NDP_SWITCH_WEIGHT * (packet + NDP_ETH_OVERHEAD);
	queueing = div64_u64(8 * bytes * NSEC_PER_SEC, rate);
	np->rto_floor_ns = max(NDP_RTO_MIN, queueing);
	np->rto_ns = max(np->rto_floor_ns, 3 * rtt);
	np->probe_ns = max(NDP_PROBE_MIN, np->rto_ns);
}

/*
 * ndp_rtt_sample - note a round trip
 * @np:		connection
 * @rtt_ns:	from leaving the host to the answer, of a first transmission
 *
 * Context: np->lock held.
 */
static void ndp_rtt_sample(struct ndp_sock *np, u64 rtt_ns)
{
	u64 dev;

	if (!np->srtt_ns) {
		np->srtt_ns = max(rtt_ns, 1ULL);
		np->rttvar_ns = rtt_ns / 2;
	} else {
		dev = rtt_ns > np->srtt_ns ? rtt_ns - np->srtt_ns :
					     np->srtt_ns - rtt_ns;
		np->rttvar_ns = (3 * np->rttvar_ns + dev) / 4;
		np->srtt_ns = (7 * np->srtt_ns + rtt_ns) / 8;
	}
	np->rto_ns = max(np->srtt_ns + 4 * np->rttvar_ns, np->rto_floor_ns);
}

/**
 * ndp_rtt_answer - the first transmission of a packet was answered
 * @np:		connection
 * @cb:		packet
 *
 * Context: np->lock held.
 */
void ndp_rtt_answer(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	u32 rtt = ndp_rtt_clock(ktime_get_ns()) - cb->first_at;

	if (cb->rtx)
		NDP_INC(sock_net(ndp_to_sk(np)), SPURIOUS);
	ndp_rtt_sample(np, (u64)rtt << 10);
}

static struct sk_buff *ndp_flight_first(struct ndp_sock *np)
{
	struct ndp_tx_cb *cb;

	cb = list_first_entry_or_null(&np->flight, struct ndp_tx_cb, list);
	return cb ? container_of((void *)cb, struct sk_buff, cb) : NULL;
}

static u64 ndp_next_deadline(struct ndp_sock *np)
{
	struct sk_buff *skb = ndp_flight_first(np);
	u64 at = U64_MAX;

	if (skb)
		at = ndp_tx_cb(skb)->sent_at + ndp_rto(np);
	if (np->probe_at)
		at = min(at, np->probe_at);
	if (np->syn_at)
		at = min(at, np->syn_at);
	if (np->cork_at)
		at = min(at, np->cork_at);
	if (np->keep_at)
		at = min(at, np->keep_at);
	if (np->orphan_since)
		at = min(at, np->orphan_since + ndp_orphan_time(np));
	if (np->challenge_at)
		at = min(at, np->challenge_at);
	return at;
}

/**
 * ndp_timer_update - have the timer run no later than the next deadline
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_timer_update(struct ndp_sock *np)
{
	u64 at = ndp_next_deadline(np);

	if (at >= np->timer_at)
		return;
	np->timer_at = at;
	if (!np->timer_held) {
		np->timer_held = true;
		sock_hold(ndp_to_sk(np));
	}
	hrtimer_start(&np->timer, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

/**
 * ndp_timer_stop - the connection has ended
 * @np:		connection
 *
 * A handler that runs meanwhile finds the state, and drops the reference.
 *
 * Context: np->lock held; the caller has a reference.
 */
void ndp_timer_stop(struct ndp_sock *np)
{
	np->probe_at = 0;
	np->syn_at = 0;
	np->cork_at = 0;
	np->keep_at = 0;
	np->timer_at = U64_MAX;
	if (hrtimer_try_to_cancel(&np->timer) == 1) {
		np->timer_held = false;
		sock_put(ndp_to_sk(np));
	}
}

/* Is the packet still in the local qdisc?  Then its timeout has not begun. */
static bool ndp_still_local(const struct ndp_sock *np,
			    const struct ndp_tx_cb *cb)
{
	return !cb->local_drop &&
	       (s32)(cb->tx_seq - atomic_read(&np->tx_departed)) >= 0;
}

static void ndp_packet_timeout(struct ndp_sock *np, struct sk_buff *skb)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	if (!cb->local_drop) {
		np->info.timeouts++;
		NDP_INC(sock_net(ndp_to_sk(np)), TIMEOUTS);
	}
	/* A packet that a switch returned was not lost. */
	if (!cb->local_drop && !cb->bounced) {
		ndp_path_lost(np, cb->path);
		ndp_mtu_lost(np, skb);
	}
	ndp_tx_lost(np, skb);
}

/* Double the timeout once per timeout: packets of one round time out one by one. */
static void ndp_rto_back_off(struct ndp_sock *np, u64 now)
{
	if (now < np->backoff_next)
		return;
	np->backoff++;
	np->backoff_next = now + ndp_rto(np);
}

/*
 * Every packet whose time is over is lost.  While the peer stays silent only
 * the oldest is sent again, with the timeout doubling, and all others wait another
 * one, so that nobody floods a host that is down.  While the host itself refuses
 * all, the time doubles too: a link that is down costs little.
 */
static void ndp_check_flight(struct ndp_sock *np, u64 now)
{
	u64 rto = ndp_rto(np);
	bool timeout = false, local = false;
	struct sk_buff *skb;

	while ((skb = ndp_flight_first(np))) {
		struct ndp_tx_cb *cb = ndp_tx_cb(skb);
		bool enough = timeout && np->backoff > 2;

		/* Packets that were put off in this run carry the current time. */
		if (cb->sent_at == now || (cb->sent_at + rto > now && !enough))
			break;
		if (ndp_still_local(np, cb) || enough) {
			if (!cb->rtx && ndp_still_local(np, cb))
				cb->first_at = ndp_rtt_clock(now);
			cb->sent_at = now;
			list_move_tail(&cb->list, &np->flight);
			continue;
		}
		timeout |= !cb->local_drop;
		local |= cb->local_drop;
		ndp_packet_timeout(np, skb);
	}
	if (timeout)
		ndp_rto_back_off(np, now);
	if (local)
		np->local_backoff++;
}

/*
 * A peer is waited for while it answers, also one that takes nothing, unless the
 * application says for how long (TCP_USER_TIMEOUT).
 */
static bool ndp_given_up(struct ndp_sock *np, u64 now)
{
	u64 limit = ndp_user_timeout(np);

	if (np->stalled_since && limit && now - np->stalled_since > limit)
		return true;
	return np->silent_since &&
	       now - np->silent_since > (limit ?: NDP_GIVE_UP);
}

static void ndp_check_probe(struct ndp_sock *np, u64 now)
{
	if (!np->probe_at || np->probe_at > now)
		return;
	ndp_send_probe(np);
	if (!np->silent_since)
		np->silent_since = now;
	if (!np->stalled_since)
		np->stalled_since = now;
	np->probe_ns = max(min(2 * np->probe_ns, NDP_PROBE_MAX), np->rto_ns);
	np->probe_at = now + np->probe_ns;
}

/*
 * A peer takes nothing of what an orphan has for it, or has all and does not finish.
 * Return: the connection has ended.
 */
static bool ndp_orphan_over(struct ndp_sock *np, u64 now)
{
	bool acked = ndp_fin_acked(np);
	u64 idle = now - np->orphan_since;

	if (!np->orphan_since)
		return false;
	if (idle < ndp_orphan_time(np))
		return idle >= NDP_ORPHAN_STALLED && ndp_orphan_limit(np, true);
	if (!acked)
		NDP_INC(sock_net(ndp_to_sk(np)), ORPHANS_STALLED);
	/*
	 * A peer that has acknowledged everything learns of the end when it sends again,
	 * as in TCP.
	 */
	ndp_conn_abort(np, 0, !acked && !ndp_is_unverified(np));
	return true;
}

static void ndp_timer_run(struct ndp_sock *np, u64 now)
{
	if (ndp_orphan_over(np, now))
		return;
	if (ndp_given_up(np, now) || ndp_keepalive_check(np, now)) {
		NDP_INC(sock_net(ndp_to_sk(np)), GIVEN_UP);
		/* An unverified address gets no reset: its owner may never have sent anything. */
		ndp_conn_abort(np, ETIMEDOUT, !ndp_is_unverified(np));
		return;
	}
	if (ndp_check_challenge(np, now))
		return;
	if (np->syn_at && np->syn_at <= now) {
		np->syn_at = 0;
		ndp_send_open(np);
	}
	if (np->cork_at && np->cork_at <= now)
		ndp_uncork(np);
	ndp_check_flight(np, now);
	ndp_check_probe(np, now);
	ndp_output(np);
}

enum hrtimer_restart ndp_timer(struct hrtimer *t)
{
	struct ndp_sock *np = container_of(t, struct ndp_sock, timer);

	spin_lock(&np->lock);
	if (hrtimer_is_queued(t)) {
		/* The timer was restarted meanwhile, and the new run owns the reference. */
		spin_unlock(&np->lock);
		return HRTIMER_NORESTART;
	}
	np->timer_held = false;
	np->timer_at = U64_MAX;
	if (ndp_to_sk(np)->sk_state != TCP_CLOSE) {
		/* Read the clock under the lock, so that no stored time is later than this one. */
		ndp_timer_run(np, ktime_get_ns());
		ndp_timer_update(np);
	}
	spin_unlock(&np->lock);
	sock_put(ndp_to_sk(np));
	return HRTIMER_NORESTART;
}
