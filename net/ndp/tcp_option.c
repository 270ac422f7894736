// SPDX-License-Identifier: GPL-2.0
/*
 * Options of SOL_TCP on AF_NDP sockets: applications set them on any stream.
 *
 * They are checked, remembered and returned as TCP does, with TCP's sysctls for defaults.
 * Options that mean something here have effect: TCP_CORK, TCP_MAXSEG, TCP_LINGER2,
 * TCP_USER_TIMEOUT, and with SO_KEEPALIVE the three of keepalive, which probes a silent peer by
 * PROBE.  The others have none: packets never wait for more data (TCP_NODELAY), an ACK waits 200
 * us at most, for data that can carry it, and only where the sender allows that (TCP_QUICKACK;
 * ack.c), an opening carries data (TCP_FASTOPEN, TCP_DEFER_ACCEPT) and is given up with it
 * (TCP_SYNCNT), and so on.  TCP_INFO reports what has the same meaning here.
 *
 * Non-goals: upper layer protocols (TLS), signatures, repair.
 */
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/tcp.h>
#include "call.h"

static const struct ndp_tcp_option {
	int	optname;
	int	least, most;
	bool	truth;		/* any value is accepted, and stored as 0 or 1 */
	int	initial;	/* 0 if the default is a sysctl's value */
} ndp_tcp_options[NDP_TCP_OPTIONS] = {
	[NDP_TCP_NODELAY] = { TCP_NODELAY, INT_MIN, INT_MAX, true, 0 },
	[NDP_TCP_CORK] = { TCP_CORK, INT_MIN, INT_MAX, true, 0 },
	[NDP_TCP_QUICKACK] = { TCP_QUICKACK, INT_MIN, INT_MAX, true, 1 },
	[NDP_TCP_KEEPIDLE] = { TCP_KEEPIDLE, 1, MAX_TCP_KEEPIDLE, false, 0 },
	[NDP_TCP_KEEPINTVL] = { TCP_KEEPINTVL, 1, MAX_TCP_KEEPINTVL, false, 0 },
	[NDP_TCP_KEEPCNT] = { TCP_KEEPCNT, 1, MAX_TCP_KEEPCNT, false, 0 },
	[NDP_TCP_SYNCNT] = { TCP_SYNCNT, 1, MAX_TCP_SYNCNT, false, 0 },
	[NDP_TCP_USER_TIMEOUT] = { TCP_USER_TIMEOUT, 0, INT_MAX, false, 0 },
	[NDP_TCP_NOTSENT_LOWAT] = { TCP_NOTSENT_LOWAT, INT_MIN, INT_MAX, false, 0 },
	[NDP_TCP_MAXSEG] = { TCP_MAXSEG, 0, MAX_TCP_WINDOW, false, 0 },
	[NDP_TCP_DEFER_ACCEPT] = { TCP_DEFER_ACCEPT, INT_MIN, INT_MAX, false, 0 },
	[NDP_TCP_LINGER2] = { TCP_LINGER2, INT_MIN, INT_MAX, false, 0 },
	[NDP_TCP_FASTOPEN] = { TCP_FASTOPEN, 0, INT_MAX, false, 0 },
	[NDP_TCP_FASTOPEN_CONNECT] = { TCP_FASTOPEN_CONNECT, 0, 1, false, 0 },
};

static int ndp_tcp_option_find(int optname)
{
	int i;

	for (i = 0; i < NDP_TCP_OPTIONS; i++)
		if (ndp_tcp_options[i].optname == optname)
			return i;
	return -1;
}

/**
 * ndp_tcp_options_init - set the defaults of a new socket
 * @np:		socket
 */
void ndp_tcp_options_init(struct ndp_sock *np)
{
	int i;

	for (i = 0; i < NDP_TCP_OPTIONS; i++)
		np->tcp_option[i] = ndp_tcp_options[i].initial;
}

/* TCP_CORK was cleared: send the partial segment. */
static void ndp_send_corked(struct ndp_sock *np)
{
	spin_lock_bh(&np->lock);
	ndp_uncork(np);
	if (ndp_to_sk(np)->sk_state != TCP_CLOSE && np->peer)
		ndp_output(np);
	spin_unlock_bh(&np->lock);
}

/* Convert seconds to TCP's count of retransmissions: 1, 3, 7 ... */
static int ndp_defer_seconds(int seconds)
{
	int sum = 0, step = 1, n;

	for (n = 0; sum < seconds && n < U8_MAX; n++) {
		sum += step;
		step = min(2 * step, (int)(TCP_RTO_MAX / HZ));
	}
	return sum;
}

/* The value that is stored for an option, as TCP does. */
static int ndp_tcp_option_kept(enum ndp_tcp_option_id id, int val)
{
	switch (id) {
	case NDP_TCP_DEFER_ACCEPT:
		return ndp_defer_seconds(val);
	case NDP_TCP_LINGER2:
		return clamp(val, -1, (int)(TCP_FIN_TIMEOUT_MAX / HZ));
	default:
		return ndp_tcp_options[id].truth ? !!val : val;
	}
}

/**
 * ndp_tcp_setsockopt - set an option of SOL_TCP
 * @sk:		socket
 * @optname:	option
 * @val:	value
 *
 * Context: lock_sock held.
 * Return: 0, -EINVAL, or -ENOPROTOOPT.
 */
int ndp_tcp_setsockopt(struct sock *sk, int optname, int val)
{
	int id = ndp_tcp_option_find(optname);
	struct ndp_sock *np = ndp_sk(sk);
	const struct ndp_tcp_option *o;

	if (id < 0)
		return -ENOPROTOOPT;
	o = &ndp_tcp_options[id];
	if (val < o->least || val > o->most)
		return -EINVAL;
	if (id == NDP_TCP_MAXSEG && val && val < TCP_MIN_MSS)
		return -EINVAL;
	WRITE_ONCE(np->tcp_option[id], ndp_tcp_option_kept(id, val));
	if (id == NDP_TCP_CORK && !val)
		ndp_send_corked(np);
	if (id == NDP_TCP_KEEPIDLE)
		ndp_keepalive(sk, sock_flag(sk, SOCK_KEEPOPEN));
	return 0;
}

/**
 * ndp_tcp_getsockopt - read an option of SOL_TCP
 * @sk:		socket
 * @optname:	option
 * @val:	value
 *
 * Return: 0 or -ENOPROTOOPT.
 */
int ndp_tcp_getsockopt(const struct sock *sk, int optname, int *val)
{
	const struct ndp_sock *np = ndp_sk(sk);
	int id = ndp_tcp_option_find(optname);

	if (id < 0)
		return -ENOPROTOOPT;
	*val = ndp_tcp_option(np, id);
	if (id == NDP_TCP_MAXSEG)
		*val = READ_ONCE(np->mss) ?: *val ?: TCP_MSS_DEFAULT;
	return 0;
}

/* The state that TCP would be in. */
static u8 ndp_tcp_state(const struct ndp_sock *np)
{
	int state = np->inet.sk.sk_state;

	if (state != TCP_ESTABLISHED)
		return state;
	if (ndp_both_finished(np))
		return TCP_CLOSE;
	if (!np->fin_queued)
		return np->rcv_fin ? TCP_CLOSE_WAIT : TCP_ESTABLISHED;
	if (np->rcv_fin)
		return TCP_LAST_ACK;
	return ndp_fin_acked(np) ? TCP_FIN_WAIT2 : TCP_FIN_WAIT1;
}

/**
 * ndp_tcp_info - fill in TCP_INFO
 * @np:		socket
 * @info:	filled as far as NDP has the values; the initial window is reported as the
 *		congestion window
 */
void ndp_tcp_info(struct ndp_sock *np, struct tcp_info *info)
{
	struct ndp_rtt rtt;

	memset(info, 0, sizeof(*info));
	spin_lock_bh(&np->lock);
	rtt = ndp_rtt(np);
	info->tcpi_state = ndp_tcp_state(np);
	info->tcpi_backoff = min(np->backoff, 255U);
	info->tcpi_probes = min(np->keep_probes, 255U);
	info->tcpi_rto = div_u64(rtt.rto_ns, NSEC_PER_USEC);
	info->tcpi_rtt = DIV_ROUND_UP_ULL(rtt.srtt_ns, NSEC_PER_USEC);
	info->tcpi_rttvar = div_u64(rtt.rttvar_ns, NSEC_PER_USEC);
	info->tcpi_snd_mss = np->mss;
	info->tcpi_rcv_mss = np->rcv_mss;
	info->tcpi_advmss = np->mss;
	info->tcpi_pmtu = np->mss ? np->mss + ndp_outer_len(np) + NDP_HDR_LEN : 0;
	info->tcpi_unacked = np->flight_pkts + np->rtx_pkts;
	info->tcpi_lost = np->rtx_pkts;
	info->tcpi_retrans = np->rtx_pkts;
	info->tcpi_total_retrans = np->counters.retrans;
	info->tcpi_snd_cwnd = np->iw;
	info->tcpi_snd_ssthresh = TCP_INFINITE_SSTHRESH;
	info->tcpi_snd_wnd = np->snd_window;
	info->tcpi_rcv_space = np->rcv_window;
	info->tcpi_rcv_ssthresh = np->rcv_window;
	info->tcpi_notsent_bytes = np->sendq_bytes;
	info->tcpi_bytes_sent = np->counters.bytes_sent;
	info->tcpi_bytes_retrans = np->counters.bytes_retrans;
	info->tcpi_bytes_acked = np->counters.bytes_acked;
	info->tcpi_bytes_received = np->counters.bytes_received;
	info->tcpi_data_segs_out = np->counters.data_sent;
	info->tcpi_data_segs_in = np->counters.data_in;
	info->tcpi_segs_out = np->counters.data_sent;
	info->tcpi_segs_in = np->counters.data_in + np->counters.acks_in + np->counters.nacks_in;
	info->tcpi_reord_seen = np->counters.nacks_in;
	spin_unlock_bh(&np->lock);
}

/**
 * ndp_keepalive - start or stop keepalive, after SO_KEEPALIVE or TCP_KEEPIDLE was set
 * @sk:		socket
 * @on:		start, else stop
 *
 * Context: lock_sock held.
 */
void ndp_keepalive(struct sock *sk, int on)
{
	struct ndp_sock *np = ndp_sk(sk);

	spin_lock_bh(&np->lock);
	ndp_keepalive_set(np, on && (sk->sk_state == TCP_ESTABLISHED ||
				     sk->sk_state == TCP_SYN_SENT));
	ndp_timer_update(np);
	spin_unlock_bh(&np->lock);
}
