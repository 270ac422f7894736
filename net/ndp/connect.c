// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP connect(), and how a socket whose connection has ended is reset for another.
 *
 * connect() returns at once and sends nothing: the first data opens the connection (NDP
 * paper, section 3.2.2).  With NDP_SYNC_CONNECT it sends a bare opening and waits.
 *
 * Non-goals: passive opens (listen.c).
 */
#include <linux/bpf-cgroup.h>
#include <linux/sched/signal.h>
#include <net/ipv6.h>
#include "call.h"
#include "event.h"
#include "transport.h"

/**
 * ndp_check_addr - can a socket connect to an address of this family and length?
 * @sk:		socket
 * @addr:	address
 * @len:	its length
 *
 * Return: 0, -EINVAL or -EAFNOSUPPORT.
 */
int ndp_check_addr(const struct sock *sk, const struct sockaddr *addr, int len)
{
	if (sk->sk_family == AF_INET6) {
		if (len < SIN6_LEN_RFC2133)
			return -EINVAL;
		return addr->sa_family == AF_INET6 ? 0 : -EAFNOSUPPORT;
	}
	if (len < (int)sizeof(struct sockaddr_in))
		return -EINVAL;
	return addr->sa_family == AF_INET || addr->sa_family == ndp_family ?
	       0 : -EAFNOSUPPORT;
}

/*
 * A transport that needs a lossless network is refused on any other.  That is logged only
 * once, because any user can cause it.
 */
static int ndp_connect_check(struct sock *sk, const struct dst_entry *dst)
{
	const struct ndp_transport *tp = ndp_sk(sk)->tp;
	const struct net_device *dev;
	bool ok;

	rcu_read_lock();
	/* The route may lose its device meanwhile. */
	dev = READ_ONCE(dst->dev);
	ok = ndp_lossless_ok(sock_net(sk), tp, dev);
	if (!ok)
		pr_info_once("ndp: %s is not known to be lossless, which transport %s needs (sysctl net.ndp.lossless)\n",
			     dev->name, tp->name);
	rcu_read_unlock();
	return ok ? 0 : -EPROTONOSUPPORT;
}

/* Route to the peer and choose the source address. */
static int ndp_connect_route(struct sock *sk, const struct in6_addr *peer,
			     __be16 dport)
{
	struct ndp_flow flow = {
		.saddr = ndp_bound_addr(sk),
		.daddr = *peer,
		.dport = htons(ndp_sk(sk)->nn->udp_port),
		.mark = READ_ONCE(sk->sk_mark),
		.oif = sk->sk_bound_dev_if,
		.uid = sock_net_uid(sock_net(sk), sk),
		.flags = inet_sk_flowi_flags(sk),
	};
	struct dst_entry *dst;
	int err;

	dst = ndp_ip_route(sock_net(sk), sk, &flow);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	err = ndp_connect_check(sk, dst);
	dst_release(dst);
	if (err)
		return err;
	ndp_set_names(sk, &flow.saddr, &flow.daddr, dport);
	return 0;
}

/* Choose a connection id, set the connection up by its route and add it to the table. */
static int ndp_connect_hash(struct ndp_sock *np)
{
	struct inet_sock *inet = &np->inet;
	int err;

	memset(&np->entry.key, 0, sizeof(np->entry.key));
	np->entry.key.conn_id = cpu_to_be64(get_random_u64());
	np->entry.key.net = sock_net(&inet->sk);
	np->entry.key.iport = inet->inet_sport;
	np->entry.key.aport = inet->inet_dport;
	err = ndp_conn_setup(np, GFP_ATOMIC);
	if (err)
		return err;
	rcu_read_lock();
	err = ndp_conn_hash(np, NULL);
	rcu_read_unlock();
	return err;
}

/* Resolve unspecified and mapped IPv6 addresses as TCP does.  Context: lock_sock held. */
static int ndp_connect_peer6(struct sock *sk, const struct sockaddr_in6 *addr,
			     int len, struct in6_addr *peer)
{
	int type;

	*peer = addr->sin6_addr;
	if (ipv6_addr_any(peer) && !ipv6_addr_v4mapped(&sk->sk_v6_rcv_saddr))
		*peer = in6addr_loopback;
	else if (ipv6_addr_any(peer) || (ndp_is_ip4(peer) && !ndp_ip4(peer)))
		ipv6_addr_set_v4mapped(htonl(INADDR_LOOPBACK), peer);
	type = ipv6_addr_type(peer);
	if (type & IPV6_ADDR_MULTICAST)
		return -ENETUNREACH;
	if (type & IPV6_ADDR_MAPPED && ipv6_only_sock(sk))
		return -ENETUNREACH;
	if (!(type & IPV6_ADDR_LINKLOCAL))
		return 0;
	if (len >= (int)sizeof(*addr) && addr->sin6_scope_id) {
		if (!sk_dev_equal_l3scope(sk, addr->sin6_scope_id))
			return -EINVAL;
		sk->sk_bound_dev_if = addr->sin6_scope_id;
	}
	return sk->sk_bound_dev_if ? 0 : -EINVAL;
}

static int ndp_connect_peer(struct sock *sk, const struct sockaddr *addr,
			    int len, struct in6_addr *peer)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	if (sk->sk_family == AF_INET6)
		return ndp_connect_peer6(sk, (const struct sockaddr_in6 *)addr,
					 len, peer);
	ipv6_addr_set_v4mapped(in->sin_addr.s_addr ?: htonl(INADDR_LOOPBACK),
			       peer);
	return 0;
}

static int ndp_connect_start(struct sock *sk, const struct sockaddr *addr,
			     int len)
{
	/* The port is at the same offset in sockaddr_in and sockaddr_in6. */
	__be16 port = ((const struct sockaddr_in *)addr)->sin_port;
	struct ndp_sock *np = ndp_sk(sk);
	struct in6_addr peer;
	int err;

	if (!port)
		return -EADDRNOTAVAIL;
	err = ndp_connect_peer(sk, addr, len, &peer);
	if (!err)
		err = ndp_connect_route(sk, &peer, port);
	if (!err)
		err = ndp_autobind(sk);
	if (err) {
		ndp_forget_names(sk);
		return err;
	}
	spin_lock_bh(&np->lock);
	err = ndp_connect_hash(np);
	if (err) {
		ndp_tp_detach(np);
		ndp_peer_leave(np);
		ndp_conn_clear(np);
		ndp_forget_names(sk);
	} else {
		ndp_set_state(sk, TCP_SYN_SENT);
		np->syn_at = ktime_get_ns() + NDP_SYN_DELAY;
		ndp_keepalive_start(np);
		ndp_timer_update(np);
		NDP_INC(sock_net(sk), ACTIVE_OPENS);
		ndp_event_open(np);
	}
	spin_unlock_bh(&np->lock);
	return err;
}

/**
 * ndp_conn_renew - prepare a socket whose connection has ended for another one
 * @sk:		socket
 *
 * The ended connection has left the table; lookups that found it before finish within the
 * grace period.  Callers that wait for the ended connection do not go on with the next one.
 *
 * Context: lock_sock held.
 */
void ndp_conn_renew(struct sock *sk)
{
	struct ndp_sock *np = ndp_sk(sk);

	if (!np->peer)
		return;
	np->renewals++;
	synchronize_rcu();
	spin_lock_bh(&np->lock);
	ndp_conn_purge(np);
	ndp_conn_purge_read(np);
	ndp_peer_leave(np);
	ndp_conn_clear(np);
	spin_unlock_bh(&np->lock);
	ndp_forget_names(sk);
	WRITE_ONCE(sk->sk_shutdown, 0);
}

/*
 * NDP_SYNC_CONNECT: wait for the peer's first answer.
 * Return: 0, or an error; @unanswered if no answer has arrived yet.
 */
static int ndp_connect_wait(struct socket *sock, int flags, int unanswered)
{
	struct sock *sk = sock->sk;
	long timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	u32 renewals = ndp_sk(sk)->renewals;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(sk_sleep(sk), &wait);
	while (sk->sk_state == TCP_SYN_SENT && renewals == ndp_sk(sk)->renewals &&
	       timeo && !signal_pending(current)) {
		release_sock(sk);
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
		lock_sock(sk);
	}
	remove_wait_queue(sk_sleep(sk), &wait);

	/* Another thread has ended this connection, and may have begun the next one. */
	if (renewals != ndp_sk(sk)->renewals)
		return -EPIPE;
	if (sk->sk_state == TCP_SYN_SENT) {
		if (timeo && signal_pending(current))
			return sock_intr_errno(timeo);
		return unanswered;
	}
	if (sk->sk_state == TCP_CLOSE) {
		sock->state = SS_UNCONNECTED;
		ndp_conn_renew(sk);
		ndp_end_seen();
		return sock_error(sk) ?: -ECONNABORTED;
	}
	sock->state = SS_CONNECTED;
	return 0;
}

/* NDP_SYNC_CONNECT: send a bare opening now and wait for its answer. */
static int ndp_connect_ask(struct socket *sock, int flags)
{
	struct ndp_sock *np = ndp_sk(sock->sk);

	spin_lock_bh(&np->lock);
	ndp_send_open(np);
	spin_unlock_bh(&np->lock);
	sock->state = SS_CONNECTING;
	/*
	 * A non-blocking caller gets EINPROGRESS even if the answer is there already, as
	 * with TCP.
	 */
	if (flags & O_NONBLOCK)
		return -EINPROGRESS;
	return ndp_connect_wait(sock, flags, -EINPROGRESS);
}

/* A cgroup program may rewrite the address. */
static int ndp_connect_filter(struct sock *sk, struct sockaddr *addr, int *len)
{
	return sk->sk_family == AF_INET6 ?
	       compat_bpf_sa_prog(sk, addr, len, CGROUP_INET6_CONNECT) :
	       compat_bpf_sa_prog(sk, addr, len, CGROUP_INET4_CONNECT);
}

static int ndp_connect_new(struct socket *sock, struct sockaddr *addr, int len,
			   int flags)
{
	struct sock *sk = sock->sk;
	int err;

	if (sk->sk_state == TCP_LISTEN)
		return -EISCONN;
	ndp_conn_renew(sk);
	/* As in TCP, an error of the previous connection is not one of the new connection. */
	WRITE_ONCE(sk->sk_err, 0);
	err = ndp_connect_filter(sk, addr, &len);
	if (!err)
		err = ndp_connect_start(sk, addr, len);
	if (err)
		return err;
	if (ndp_sk(sk)->sync_connect)
		return ndp_connect_ask(sock, flags);
	sock->state = SS_CONNECTED;
	return 0;
}

/**
 * ndp_connect_locked - connect(), or the part of sendto() that connects
 * @sock:	socket
 * @addr:	peer
 * @len:	length of @addr
 * @flags:	O_NONBLOCK or 0
 *
 * Context: lock_sock held.
 * Return: 0 or an error of connect().
 */
int ndp_connect_locked(struct socket *sock, struct sockaddr *addr, int len,
		       int flags)
{
	struct sock *sk = sock->sk;
	int err;

	switch (sock->state) {
	case SS_CONNECTED:
		if (sk->sk_state != TCP_CLOSE || ndp_sk(sk)->answered)
			return -EISCONN;
		/* The peer refused: say so, and leave the socket as a blocking connect() would. */
		sock->state = SS_UNCONNECTED;
		ndp_end_seen();
		err = sock_error(sk);
		if (err)
			return err;
		break;
	case SS_CONNECTING:
		return ndp_connect_wait(sock, flags, -EALREADY);
	default:
		break;
	}
	return ndp_connect_new(sock, addr, len, flags);
}
