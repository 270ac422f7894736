// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP timers: retransmission, PROBE, delayed opening, giving up.
 *
 * This file handles what is due when the connection's timer runs.  With trimming a packet is
 * hardly ever lost silently (NDP paper, section 3.2), so a timeout is short (rtt.c); while the
 * peer is silent the timeout doubles.
 *
 * Non-goals: when the timer runs (deadline.c).
 */
#include "event.h"
#include "trace.h"
#include "transport.h"

/* With too many orphans, one whose peer acknowledges nothing is ended after this time. */
#define NDP_ORPHAN_STALLED	(5 * 1000 * NDP_MSEC)

static void ndp_packet_timeout(struct ndp_sock *np, struct sk_buff *skb)
{
	struct ndp_tx_cb *cb = ndp_tx_cb(skb);

	if (!cb->local_drop) {
		cb->timed_out = 1;
		np->counters.timeouts++;
		NDP_CONN_INC(np, TIMEOUTS);
		trace_ndp_timeout(np, cb);
	}
	/* A packet that a switch returned was not lost. */
	if (!cb->local_drop && !cb->bounced) {
		ndp_path_suspect(np, cb);
		ndp_tp_lost(np, cb);
		ndp_mtu_lost(np, skb);
	}
	ndp_tx_lost(np, skb);
}

/*
 * As long as the peer acknowledges packets, nothing times out: the peer may only be slow, and
 * losses are found by the order of answers (order.c).  When nothing was acknowledged for a whole
 * timeout, the packet that is in flight longest is retransmitted and the timeout doubles: the
 * answer to that packet shows what became of the others, and a host that is down is not flooded.
 *
 * Without that order (some transports, unverified peers) each packet that times out is declared
 * lost in the first three rounds; then only the oldest is, and all others wait for another
 * timeout.
 *
 * While the host itself refuses all packets, the time until they are retried doubles too: a link
 * that is down costs little.
 */
static void ndp_check_flight(struct ndp_sock *np, u64 now)
{
	bool timeout = false, local = false;
	struct sk_buff *skb;
	u32 late = 0;

	while ((skb = ndp_tx_first(&np->flight))) {
		struct ndp_tx_cb *cb = ndp_tx_cb(skb);
		bool enough = timeout && np->backoff > 2 && !cb->local_drop &&
			      !ndp_has_order(np);

		/* Packets that were put off in this run carry the current time. */
		if (!cb->local_drop && cb->sent_at == now)
			break;
		if (ndp_timeout_at(np, cb) > now && !enough)
			break;
		if (ndp_tx_still_local(np, cb) || enough) {
			cb->local_drop = 0;
			if (!cb->rtx && ndp_tx_still_local(np, cb))
				cb->first_at = ndp_rtt_clock(now);
			cb->sent_at = now;
			list_move_tail(&cb->list, &np->flight);
			continue;
		}
		if (cb->local_drop) {
			local = true;
		} else {
			timeout = true;
			late++;
			np->rto_from = now;
		}
		ndp_packet_timeout(np, skb);
	}
	if (timeout) {
		ndp_event_timeout(np, late);
		ndp_rto_back_off(np, now);
	}
	if (local)
		np->local_backoff++;
}

/*
 * A peer that answers is not given up, even if it accepts no data, unless the application limits
 * the wait (TCP_USER_TIMEOUT).  An opening without an answer may have been delivered, and is not
 * sent again once the acceptor's tombstone may have expired.
 */
static bool ndp_given_up(struct ndp_sock *np, u64 now)
{
	u64 limit = ndp_user_timeout(np);

	if (!np->answered && limit)
		limit = min(limit, NDP_GIVE_UP);
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
	np->probe_ns = max(min(2 * np->probe_ns, NDP_PROBE_MAX), ndp_rto_base(np));
	np->probe_at = now + np->probe_ns;
}

/*
 * End an orphan whose peer accepts nothing, or has all and does not finish.
 * Return: true if the connection has ended.
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
		NDP_CONN_INC(np, ORPHANS_STALLED);
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
		NDP_CONN_INC(np, GIVEN_UP);
		/* An unverified address gets no reset: its owner may never have sent anything. */
		ndp_conn_abort(np, ETIMEDOUT, !ndp_is_unverified(np));
		return;
	}
	if (ndp_check_challenge(np, now)) {
		NDP_CONN_INC(np, UNVERIFIED_END);
		ndp_conn_abort(np, ETIMEDOUT, false);
		return;
	}
	if (np->ack_at && np->ack_at <= now)
		ndp_ack_flush(np);
	if (np->syn_at && np->syn_at <= now) {
		np->syn_at = 0;
		ndp_send_open(np);
		/* If memory was short, nothing is in flight that a timeout would retransmit. */
		if (!np->opened && ndp_to_sk(np)->sk_state == TCP_SYN_SENT)
			np->syn_at = now + NDP_SYN_DELAY;
	}
	if (np->cork_at && np->cork_at <= now)
		ndp_uncork(np);
	if (np->transport_at && np->transport_at <= now)
		ndp_tp_timer(np);
	ndp_check_flight(np, now);
	ndp_tail_probe(np, now);
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
