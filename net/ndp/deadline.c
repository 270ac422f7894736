// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP deadlines: when a connection's timer runs.
 *
 * One high-resolution timer per connection is set to the earliest of all
 * deadlines or before; when it runs, it does what is due and is set anew.
 * A deadline that moves away does not change the timer.  A packet's timeout
 * starts when the packet has left the local qdisc.
 *
 * Non-goals: what is done when the timer runs (timer.c).
 */
#include "conn.h"

/* Return the earlier of @at and @when (0: never); if that is @when, set @timer to @what. */
static __always_inline u64 ndp_sooner(u64 at, u64 when, u8 *timer, u8 what)
{
	if (!when || when >= at)
		return at;
	if (timer)
		*timer = what;
	return when;
}

/* @timer: if not NULL, set to &enum ndp_timer of that deadline; the packet path passes NULL. */
static __always_inline u64 ndp_earliest(struct ndp_sock *np, u8 *timer)
{
	struct sk_buff *skb = ndp_tx_first(&np->flight);
	u64 at = U64_MAX;

	if (skb)
		at = ndp_sooner(at, min(ndp_timeout_at(np, ndp_tx_cb(skb)), ndp_tail_at(np)),
				timer, NDP_TIMER_RETRANS);
	at = ndp_sooner(at, np->probe_at, timer, NDP_TIMER_PROBE);
	at = ndp_sooner(at, np->ack_at, timer, NDP_TIMER_ACK);
	at = ndp_sooner(at, np->syn_at, timer, NDP_TIMER_OPEN);
	at = ndp_sooner(at, np->cork_at, timer, NDP_TIMER_CORK);
	at = ndp_sooner(at, np->keep_at, timer, NDP_TIMER_KEEPALIVE);
	if (np->orphan_since)
		at = ndp_sooner(at, np->orphan_since + ndp_orphan_time(np), timer,
				NDP_TIMER_ORPHAN);
	at = ndp_sooner(at, np->transport_at, timer, NDP_TIMER_TRANSPORT);
	return ndp_sooner(at, np->challenge_at, timer, NDP_TIMER_CHALLENGE);
}

/**
 * ndp_timer_info - report which deadline is next, and when it is due
 * @np:		connection
 * @info:	its timer, backoff and timer_us are written
 *
 * Context: np->lock held.
 */
void ndp_timer_info(struct ndp_sock *np, struct ndp_info *info)
{
	u64 now = ktime_get_ns(), at;

	info->timer = NDP_TIMER_NONE;
	info->timer_us = 0;
	info->backoff = min(np->backoff, 255U);
	if (ndp_to_sk(np)->sk_state == TCP_CLOSE || ndp_to_sk(np)->sk_state == TCP_LISTEN)
		return;
	at = ndp_earliest(np, &info->timer);
	if (at != U64_MAX && at > now)
		info->timer_us = min_t(u64, div_u64(at - now, NSEC_PER_USEC), U32_MAX);
}

/**
 * ndp_timer_update - have the timer run no later than the next deadline
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_timer_update(struct ndp_sock *np)
{
	u64 at = ndp_earliest(np, NULL);

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
 * ndp_timer_stop - stop the timer of a connection that has ended
 * @np:		connection
 *
 * A handler that runs meanwhile sees the state TCP_CLOSE, and drops the reference.
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
