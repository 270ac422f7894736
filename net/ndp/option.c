// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP socket options: those of SOL_NDP, and the supported ones of SOL_IP and SOL_IPV6.
 *
 * Non-goals: SOL_TCP (tcp_option.c), SOL_SOCKET (the core's).
 */
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include "call.h"
#include "transport.h"

static void ndp_fill_counters(const struct ndp_counters *c, struct ndp_info *info)
{
	info->bytes_sent = c->bytes_sent;
	info->bytes_acked = c->bytes_acked;
	info->bytes_retrans = c->bytes_retrans;
	info->bytes_received = c->bytes_received;
	info->data_sent = c->data_sent;
	info->data_pushed = c->data_pushed;
	info->retrans = c->retrans;
	info->timeouts = c->timeouts;
	info->acks_in = c->acks_in;
	info->nacks_in = c->nacks_in;
	info->pulls_in = c->pulls_in;
	info->bounces_in = c->bounces_in;
	info->probes_out = c->probes_out;
	info->data_in = c->data_in;
	info->trims_in = c->trims_in;
	info->dups_in = c->dups_in;
	info->noroom_in = c->noroom_in;
	info->crc_in = c->crc_in;
	info->pulls_out = c->pulls_out;
	info->marked_in = c->marked_in;
	info->ece_in = c->ece_in;
	info->early_in = c->early_in;
	info->rcv_ooo_max = c->ooo_max;
	info->sync_in = c->sync_in;
	info->sync_early_in = c->sync_early_in;
}

/**
 * ndp_info_state - the state that NDP_INFO reports
 * @np:		socket
 *
 * Context: any; without np->lock the state may be outdated.
 * Return: &enum ndp_state.
 */
u8 ndp_info_state(const struct ndp_sock *np)
{
	switch (READ_ONCE(np->inet.sk.sk_state)) {
	case TCP_LISTEN:
		return NDP_ST_LISTEN;
	case TCP_SYN_SENT:
		return NDP_ST_OPENING;
	case TCP_ESTABLISHED:
		return READ_ONCE(np->fin_sent) && READ_ONCE(np->rcv_fin) ?
		       NDP_ST_CLOSING : NDP_ST_ESTABLISHED;
	default:
		return NDP_ST_CLOSE;
	}
}

/**
 * ndp_fill_info - what NDP_INFO reports about a socket
 * @np:		socket
 * @info:	filled in completely
 *
 * Context: np->lock not held.
 */
void ndp_fill_info(struct ndp_sock *np, struct ndp_info *info)
{
	struct ndp_rtt rtt;

	spin_lock_bh(&np->lock);
	rtt = ndp_rtt(np);
	memset(info, 0, sizeof(*info));
	ndp_fill_counters(&np->counters, info);
	info->state = ndp_info_state(np);
	info->role = np->acceptor;
	info->paths = np->peer ? np->peer->n : 0;
	info->mss = np->mss;
	info->iw = np->iw;
	info->rto_us = div_u64(rtt.rto_ns, NSEC_PER_USEC);
	info->srtt_us = div_u64(rtt.srtt_ns, NSEC_PER_USEC);
	info->rttvar_us = div_u64(rtt.rttvar_ns, NSEC_PER_USEC);
	info->snd_inflight = np->flight_pkts;
	info->snd_rtx_queue = np->rtx_pkts;
	info->snd_window = np->snd_window;
	info->rcv_window = np->rcv_window;
	info->rcv_ooo = np->ooo_len;
	info->notsent_bytes = np->sendq_bytes;
	info->conn_id = be64_to_cpu(np->entry.key.conn_id);
	ndp_timer_info(np, info);
	strscpy_pad(info->transport, np->tp->name, sizeof(info->transport));
	if (np->tp->info)
		np->tp->info(np, info);
	spin_unlock_bh(&np->lock);
}

static int ndp_set_priority(struct ndp_sock *np, int val)
{
	if (val != NDP_PRIORITY_AUTO &&
	    (val < NDP_PRIORITY_MIN || val > NDP_PRIORITY_MAX))
		return -ERANGE;
	spin_lock_bh(&np->lock);
	WRITE_ONCE(np->priority, val);
	if (np->tp->reorder)
		np->tp->reorder(np);
	spin_unlock_bh(&np->lock);
	return 0;
}

static void ndp_set_iw(struct ndp_sock *np, int val)
{
	np->iw_opt = val;
	/* The timer may send a delayed opening meanwhile. */
	spin_lock_bh(&np->lock);
	if (val && np->peer && !np->opened) {
		np->iw = val;
		/* Nothing was sent, so no answer has advertised the peer's window yet. */
		np->snd_window = max(np->snd_window, np->iw * np->mss);
	}
	spin_unlock_bh(&np->lock);
}

static int ndp_set_option(struct sock *sk, int optname, int val)
{
	struct ndp_sock *np = ndp_sk(sk);

	switch (optname) {
	case NDP_IW:
		if (val < 0 || val > NDP_IW_MAX)
			return -EINVAL;
		ndp_set_iw(np, val);
		return 0;
	case NDP_SYNC_CONNECT:
		if (READ_ONCE(np->peer))
			return -EISCONN;
		np->sync_connect = !!val;
		return 0;
	case NDP_PRIORITY:
		return ndp_set_priority(np, val);
	case NDP_PARTIAL:
		if (!ndp_has_messages(np))
			return -EOPNOTSUPP;
		np->partial = !!val;
		return 0;
	case NDP_UNORDERED:
		if (!ndp_has_messages(np))
			return -EOPNOTSUPP;
		WRITE_ONCE(np->unordered, !!val);
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

/* SOL_IP options that take effect, and those that programs set blindly. */
static bool ndp_knows_ip_option(int optname)
{
	switch (optname) {
	case IP_TOS:
	case IP_TTL:
	case IP_MTU_DISCOVER:
	case IP_FREEBIND:
	case IP_TRANSPARENT:
	case IP_BIND_ADDRESS_NO_PORT:
	case IP_PKTINFO:
	case IP_RECVTOS:
	case IP_RECVTTL:
		return true;
	}
	return false;
}

/* SOL_IPV6 options, for sockets of protocol NDP_PROTO_IPV6. */
static bool ndp_knows_ip6_option(const struct sock *sk, int optname)
{
	if (sk->sk_family != AF_INET6)
		return false;
	switch (optname) {
	case IPV6_V6ONLY:
	case IPV6_UNICAST_HOPS:
	case IPV6_TCLASS:
	case IPV6_MTU_DISCOVER:
	case IPV6_FREEBIND:
	case IPV6_TRANSPARENT:
	case IPV6_ADDR_PREFERENCES:
	case IPV6_RECVPKTINFO:
	case IPV6_RECVTCLASS:
	case IPV6_RECVHOPLIMIT:
		return true;
	}
	return false;
}

/* Copy a name, or a list of names.  Return: length or an error. */
static int ndp_copy_name(char *name, size_t size, sockptr_t optval,
			 unsigned int optlen)
{
	long n;

	if (!optlen)
		return -EINVAL;
	n = strncpy_from_sockptr(name, optval, min_t(size_t, size - 1, optlen));
	if (n < 0)
		return -EFAULT;
	name[n] = 0;
	return n;
}

/*
 * Context: lock_sock held.
 * Return: 1 if the socket took over @tp's reference, 0 if it uses @tp already, or -EISCONN.
 */
static int ndp_set_transport_locked(struct sock *sk, const struct ndp_transport *tp)
{
	struct ndp_sock *np = ndp_sk(sk);

	if (tp == np->tp)
		return 0;
	if (READ_ONCE(np->peer))
		return -EISCONN;
	/* Readers of NDP_INFO hold only this lock. */
	spin_lock_bh(&np->lock);
	swap(np->tp, tp);
	spin_unlock_bh(&np->lock);
	ndp_transport_put(tp);
	return 1;
}

/* NDP_TRANSPORT, and TCP_CONGESTION */
static int ndp_set_transport(struct sock *sk, sockptr_t optval,
			     unsigned int optlen)
{
	const struct ndp_transport *tp;
	char name[NDP_TRANSPORT_NAME];
	int err;

	err = ndp_copy_name(name, sizeof(name), optval, optlen);
	if (err < 0)
		return err;
	tp = ndp_transport_by_name(name);
	if (!tp)
		return -ENOENT;
	lock_sock(sk);
	err = ndp_set_transport_locked(sk, tp);
	release_sock(sk);
	if (err <= 0)
		ndp_transport_put(tp);
	return min(err, 0);
}

/* NDP_ACCEPT */
static int ndp_set_accept(struct sock *sk, sockptr_t optval, unsigned int optlen)
{
	char names[NDP_ACCEPT_MAX];
	u32 ids;
	int err;

	/* Do not truncate: a part of the list would be a different list. */
	if (optlen >= sizeof(names))
		return -EINVAL;
	err = ndp_copy_name(names, sizeof(names), optval, optlen);
	if (err < 0)
		return err;
	err = ndp_transport_ids(names, &ids);
	if (!err)
		WRITE_ONCE(ndp_sk(sk)->accepts, ids);
	return err;
}

int ndp_setsockopt(struct socket *sock, int level, int optname,
		   sockptr_t optval, unsigned int optlen)
{
	struct sock *sk = sock->sk;
	int val, err;

	if (level == SOL_IP && ndp_knows_ip_option(optname))
		return ip_setsockopt(sk, level, optname, optval, optlen);
	if (level == SOL_IPV6 && ndp_knows_ip6_option(sk, optname))
		return ipv6_setsockopt(sk, level, optname, optval, optlen);
	if (level != SOL_NDP && level != SOL_TCP)
		return -ENOPROTOOPT;
	if ((level == SOL_TCP && optname == TCP_CONGESTION) ||
	    (level == SOL_NDP && optname == NDP_TRANSPORT))
		return ndp_set_transport(sk, optval, optlen);
	if (level == SOL_NDP && optname == NDP_ACCEPT)
		return ndp_set_accept(sk, optval, optlen);
	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	lock_sock(sk);
	err = level == SOL_TCP ? ndp_tcp_setsockopt(sk, optname, val) :
				 ndp_set_option(sk, optname, val);
	release_sock(sk);
	return err;
}

static int ndp_get_option(struct sock *sk, int optname, int *val)
{
	const struct ndp_sock *np = ndp_sk(sk);

	switch (optname) {
	case NDP_IW:
		*val = np->iw_opt;
		return 0;
	case NDP_SYNC_CONNECT:
		*val = np->sync_connect;
		return 0;
	case NDP_MAXSEG:
		*val = np->mss;
		return 0;
	case NDP_PRIORITY:
		*val = ndp_priority(np);
		return 0;
	case NDP_PARTIAL:
		*val = np->partial;
		return 0;
	case NDP_UNORDERED:
		*val = np->unordered;
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

union ndp_option_value {
	int			val;
	struct ndp_info		ndp;
	struct tcp_info		tcp;
	char			name[NDP_TRANSPORT_NAME];
	char			names[NDP_ACCEPT_MAX];
};

/* Return: size of the option's value, or an error. */
static int ndp_get_value(struct sock *sk, int level, int optname,
			 union ndp_option_value *v)
{
	int err;

	if (level == SOL_NDP && optname == NDP_INFO) {
		ndp_fill_info(ndp_sk(sk), &v->ndp);
		return sizeof(v->ndp);
	}
	if (level == SOL_TCP && optname == TCP_INFO) {
		ndp_tcp_info(ndp_sk(sk), &v->tcp);
		return sizeof(v->tcp);
	}
	if ((level == SOL_TCP && optname == TCP_CONGESTION) ||
	    (level == SOL_NDP && optname == NDP_TRANSPORT)) {
		spin_lock_bh(&ndp_sk(sk)->lock);
		strscpy_pad(v->name, ndp_sk(sk)->tp->name, sizeof(v->name));
		spin_unlock_bh(&ndp_sk(sk)->lock);
		return sizeof(v->name);
	}
	/* There is no ULP: TCP also returns a name of length 0 then. */
	if (level == SOL_TCP && optname == TCP_ULP)
		return 0;
	if (level == SOL_NDP && optname == NDP_ACCEPT)
		return 1 + ndp_transport_names(v->names, sizeof(v->names),
					       READ_ONCE(ndp_sk(sk)->accepts) ?:
					       U32_MAX);
	if (level == SOL_NDP)
		err = ndp_get_option(sk, optname, &v->val);
	else
		err = ndp_tcp_getsockopt(sk, optname, &v->val);
	return err ?: (int)sizeof(v->val);
}

int ndp_getsockopt(struct socket *sock, int level, int optname,
		   char __user *optval, int __user *optlen)
{
	union ndp_option_value v;
	struct sock *sk = sock->sk;
	int len, size;

	/* IP_OPTIONS passes and is always empty: servers check it to refuse source-routed peers. */
	if (level == SOL_IP && optname != IP_OPTIONS && !ndp_knows_ip_option(optname))
		return -ENOPROTOOPT;
	if (level == SOL_IPV6 && ndp_knows_ip6_option(sk, optname))
		return ipv6_getsockopt(sk, level, optname, optval, optlen);
	/* ip_getsockopt() also returns TCP's error for an unknown level. */
	if (level != SOL_NDP && level != SOL_TCP)
		return sk->sk_family == AF_INET6 ?
		       ipv6_getsockopt(sk, level, optname, optval, optlen) :
		       ip_getsockopt(sk, level, optname, optval, optlen);
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	size = ndp_get_value(sk, level, optname, &v);
	if (size < 0)
		return size;
	len = min(len, size);
	if (put_user(len, optlen) || copy_to_user(optval, &v, len))
		return -EFAULT;
	return 0;
}
