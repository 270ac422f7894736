// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP deadlines: when a connection's timer runs.
 *
 * One high-resolution timer per connection stands at the earliest of all
 * deadlines or before; when it runs it does what is due and computes anew.
 * Deadlines that move away do not touch it.  A packet's timeout runs from the moment
 * when it has left the local qdisc.
 *
 * Non-goals: what is done then (timer.c).
 */
#include "conn.h"

static u64 ndp_next_deadline(struct ndp_sock *np)
{
	struct sk_buff *skb = ndp_tx_first(&np->flight);
	u64 at = U64_MAX;

	if (skb)
		at = min(ndp_timeout_at(np, ndp_tx_cb(skb)), ndp_tail_at(np));
	if (np->probe_at)
		at = min(at, np->probe_at);
	if (np->ack_at)
		at = min(at, np->ack_at);
	if (np->syn_at)
		at = min(at, np->syn_at);
	if (np->cork_at)
		at = min(at, np->cork_at);
	if (np->keep_at)
		at = min(at, np->keep_at);
	if (np->orphan_since)
		at = min(at, np->orphan_since + ndp_orphan_time(np));
	if (np->transport_at)
		at = min(at, np->transport_at);
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
	np->ack_at = 0;
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
