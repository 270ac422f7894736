// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP patience: how long a connection waits for its peer.
 *
 * The application sets the times by options of SOL_TCP, whose defaults are TCP's sysctls:
 * TCP_USER_TIMEOUT for a peer that accepts no data, TCP_LINGER2 for one that does not
 * finish, and with SO_KEEPALIVE three options for one that is silent, which is sent PROBEs.
 *
 * Non-goals: what happens when the time is over (timer.c).
 */
#include <net/tcp.h>
#include "conn.h"

/*
 * How long an orphan waits for a peer that accepts nothing of what was written, unless
 * TCP_USER_TIMEOUT is set.
 */
#define NDP_ORPHAN_TIME		(120 * 1000 * NDP_MSEC)

/**
 * ndp_tcp_option - the effective value of an option
 * @np:		socket
 * @id:		option
 *
 * Context: any.
 * Return: the socket's own value, or that of TCP's sysctl.
 */
int ndp_tcp_option(const struct ndp_sock *np, enum ndp_tcp_option_id id)
{
	const struct net *net = sock_net(&np->inet.sk);
	int val = READ_ONCE(np->tcp_option[id]);

	if (val)
		return val;
	switch (id) {
	case NDP_TCP_KEEPIDLE:
		/* TCP treats 0 or less as immediate; the timer here would never stop firing. */
		return max(1, READ_ONCE(net->ipv4.sysctl_tcp_keepalive_time) / HZ);
	case NDP_TCP_KEEPINTVL:
		return max(1, READ_ONCE(net->ipv4.sysctl_tcp_keepalive_intvl) / HZ);
	case NDP_TCP_KEEPCNT:
		return READ_ONCE(net->ipv4.sysctl_tcp_keepalive_probes);
	case NDP_TCP_SYNCNT:
		return READ_ONCE(net->ipv4.sysctl_tcp_syn_retries);
	case NDP_TCP_LINGER2:
		return READ_ONCE(net->ipv4.sysctl_tcp_fin_timeout) / HZ;
	default:
		return val;
	}
}

/**
 * ndp_user_timeout - how long the application waits for a peer
 * @np:		connection
 *
 * Return: nanoseconds, 0 if TCP_USER_TIMEOUT is not set.
 */
u64 ndp_user_timeout(const struct ndp_sock *np)
{
	return (u64)ndp_tcp_option(np, NDP_TCP_USER_TIMEOUT) * NDP_MSEC;
}

/**
 * ndp_orphan_time - how long an orphan waits for its peer
 * @np:		connection
 *
 * Context: np->lock held.
 * Return: nanoseconds: for the peer to accept more of what was written
 * (TCP_USER_TIMEOUT), or, once it has all, to finish as well (TCP_LINGER2).
 */
u64 ndp_orphan_time(const struct ndp_sock *np)
{
	int seconds = ndp_tcp_option(np, NDP_TCP_LINGER2);

	if (!ndp_fin_acked(np))
		return ndp_user_timeout(np) ?: NDP_ORPHAN_TIME;
	return (u64)max(seconds, 0) * NSEC_PER_SEC;
}

static u64 ndp_keep_ns(const struct ndp_sock *np, enum ndp_tcp_option_id id)
{
	return (u64)ndp_tcp_option(np, id) * NSEC_PER_SEC;
}

/**
 * ndp_keepalive_set - start or stop watching for silence
 * @np:		connection
 * @on:		start
 *
 * Context: np->lock held.
 */
void ndp_keepalive_set(struct ndp_sock *np, bool on)
{
	np->keep_probes = 0;
	np->keep_at = on ? ktime_get_ns() + ndp_keep_ns(np, NDP_TCP_KEEPIDLE) : 0;
}

/**
 * ndp_keepalive_start - a packet of the peer has arrived, or the connection begins
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_keepalive_start(struct ndp_sock *np)
{
	ndp_keepalive_set(np, sock_flag(ndp_to_sk(np), SOCK_KEEPOPEN));
}

/**
 * ndp_keepalive_check - send a PROBE to a peer that has been silent for long
 * @np:		connection
 * @now:	time, ns
 *
 * Packets in flight have their own timeouts, and no PROBE is sent then.
 *
 * Context: np->lock held.
 * Return: true if the peer is given up.
 */
bool ndp_keepalive_check(struct ndp_sock *np, u64 now)
{
	if (!np->keep_at || np->keep_at > now)
		return false;
	if (np->snd_una != np->snd_nxt || np->probe_at) {
		np->keep_at = now + ndp_keep_ns(np, NDP_TCP_KEEPIDLE);
		return false;
	}
	if (np->keep_probes >= ndp_tcp_option(np, NDP_TCP_KEEPCNT))
		return true;
	np->keep_probes++;
	np->keep_at = now + ndp_keep_ns(np, NDP_TCP_KEEPINTVL);
	ndp_send_probe(np);
	return false;
}
