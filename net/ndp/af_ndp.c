// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP: sockets over NDP, a receiver-driven, multipath transport that opens
 * without a handshake.
 *
 *   M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. Moore, G. Antichi,
 *   M. Wojcik: Re-architecting datacenter networks and stacks for low latency
 *   and high performance.  SIGCOMM 2017.
 *
 * This file is the socket family: the calls that make, name, connect and end
 * a socket.  stream.c reads and writes, output.c and input.c are the two sides
 * of the protocol, pull.c paces it.  Documentation/af_ndp.md is the manual,
 * include/net/ndp_wire.h the wire format, ndp.h the locks.
 *
 * Non-goals: IPv6, messages, priorities and other transports are separate
 * steps; out-of-band data and zero-copy sending are not offered.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/tcp.h>
#include <net/genetlink.h>
#include <net/ip.h>
#include <net/route.h>
#include "ndp.h"

unsigned int ndp_net_id __read_mostly;

int ndp_family = AF_NDP;
module_param_named(family, ndp_family, int, 0444);
MODULE_PARM_DESC(family, "address family number (default 22)");

static atomic_long_t ndp_memory_allocated;
static struct percpu_counter ndp_sockets_allocated;
static unsigned long ndp_memory_pressure;
static long ndp_sysctl_mem[3];
static int ndp_sysctl_wmem[3] = { PAGE_SIZE, NDP_BUF_DEFAULT, NDP_BUF_DEFAULT };
static int ndp_sysctl_rmem[3] = { PAGE_SIZE, NDP_BUF_DEFAULT, NDP_BUF_DEFAULT };
static DEFINE_PER_CPU(int, ndp_per_cpu_fw_alloc);

static void ndp_enter_memory_pressure(struct sock *sk)
{
	WRITE_ONCE(ndp_memory_pressure, 1);
}

static void ndp_leave_memory_pressure(struct sock *sk)
{
	WRITE_ONCE(ndp_memory_pressure, 0);
}

struct proto ndp_prot = {
	.name = "NDP",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct ndp_sock),
	.keepalive = ndp_keepalive,
	.enter_memory_pressure = ndp_enter_memory_pressure,
	.leave_memory_pressure = ndp_leave_memory_pressure,
	.memory_allocated = &ndp_memory_allocated,
	.per_cpu_fw_alloc = &ndp_per_cpu_fw_alloc,
	.sockets_allocated = &ndp_sockets_allocated,
	.memory_pressure = &ndp_memory_pressure,
	.sysctl_mem = ndp_sysctl_mem,
	.sysctl_wmem = ndp_sysctl_wmem,
	.sysctl_rmem = ndp_sysctl_rmem,
};

/* As sk_stream_write_space(), which modules cannot call. */
static void ndp_write_space(struct sock *sk)
{
	struct socket_wq *wq;
	struct socket *sock;

	rcu_read_lock();
	sock = READ_ONCE(sk->sk_socket);
	if (!sock || !sk_stream_is_writeable(sk))
		goto out;
	clear_bit(SOCK_NOSPACE, &sock->flags);
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM |
					   EPOLLWRBAND);
	if (wq && wq->fasync_list && !(sk->sk_shutdown & SEND_SHUTDOWN))
		sock_wake_async(wq, SOCK_WAKE_SPACE, POLL_OUT);
out:
	rcu_read_unlock();
}

/* Context: last reference gone and a grace period over. */
static void ndp_sock_destruct(struct sock *sk)
{
	struct ndp_sock *np = ndp_sk(sk);

	sock_set_flag(sk, SOCK_DEAD);
	ndp_conn_purge(np);
	ndp_paths_free(np);
	kfree(np->tomb);
	sk_mem_reclaim_final(sk);
	WARN_ON_ONCE(np->hashed || np->bound || np->pullq || np->listener);
	WARN_ON_ONCE(atomic_read(&sk->sk_rmem_alloc));
	WARN_ON_ONCE(sk->sk_wmem_queued);
	WARN_ON_ONCE(sk->sk_forward_alloc);
	percpu_counter_dec(&ndp_sockets_allocated);
	sock_prot_inuse_add(sock_net(sk), &ndp_prot, -1);
}

/**
 * ndp_sock_alloc - make a socket
 * @net:	namespace
 * @sock:	what it belongs to, or NULL until it is accepted
 * @gfp:	allocation
 * @protocol:	socket()'s third argument
 * @kern:	whether the kernel uses it itself
 *
 * Return: socket or NULL.
 */
struct sock *ndp_sock_alloc(struct net *net, struct socket *sock, gfp_t gfp,
			    int protocol, int kern)
{
	struct ndp_sock *np;
	struct sock *sk;

	sk = sk_alloc(net, ndp_family, gfp, &ndp_prot, kern);
	if (!sk)
		return NULL;
	sock_init_data(sock, sk);
	sk->sk_protocol = protocol;
	sk->sk_type = SOCK_STREAM;
	sk->sk_destruct = ndp_sock_destruct;
	sk->sk_write_space = ndp_write_space;
	sk->sk_rcvbuf = NDP_BUF_DEFAULT;
	sk->sk_sndbuf = NDP_BUF_DEFAULT;
	sock_set_flag(sk, SOCK_RCU_FREE);
	sock_set_flag(sk, SOCK_USE_WRITE_QUEUE);
	/* The IP output path looks at these. */
	inet_sk(sk)->pmtudisc = IP_PMTUDISC_WANT;
	inet_sk(sk)->uc_ttl = -1;

	np = ndp_sk(sk);
	spin_lock_init(&np->lock);
	INIT_LIST_HEAD(&np->accept_q);
	INIT_LIST_HEAD(&np->accept_node);
	INIT_LIST_HEAD(&np->flight);
	INIT_LIST_HEAD(&np->rtx);
	INIT_LIST_HEAD(&np->lost);
	INIT_LIST_HEAD(&np->pull_node);
	INIT_HLIST_NODE(&np->bind_node);
	INIT_HLIST_NODE(&np->listen_node);
	__skb_queue_head_init(&np->sendq);
	np->txq = RB_ROOT;
	np->ooo = RB_ROOT;
	np->ack_share = 128;
	ndp_tcp_options_init(np);
	np->timer_at = U64_MAX;
	np->rto_ns = NDP_RTO_MIN;
	np->probe_ns = NDP_PROBE_MIN;
	hrtimer_setup(&np->timer, ndp_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	tasklet_setup(&np->tasklet, ndp_tasklet);
	percpu_counter_inc(&ndp_sockets_allocated);
	sock_prot_inuse_add(net, &ndp_prot, 1);
	return sk;
}

static int ndp_create(struct net *net, struct socket *sock, int protocol,
		      int kern)
{
	struct sock *sk;
	int err;

	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol)
		return -EPROTONOSUPPORT;
	err = ndp_udp_get(net);
	if (err)
		return err;
	sk = ndp_sock_alloc(net, sock, GFP_KERNEL, protocol, kern);
	if (!sk)
		return -ENOBUFS;
	sock->ops = &ndp_stream_ops;
	sock->state = SS_UNCONNECTED;
	return 0;
}

static int ndp_check_addr(const struct sockaddr_in *addr, int len)
{
	if (len < (int)sizeof(*addr))
		return -EINVAL;
	if (addr->sin_family != AF_INET && addr->sin_family != ndp_family)
		return -EAFNOSUPPORT;
	return 0;
}

/* Old programs leave the family of the unspecified address out. */
static bool ndp_any_addr(const struct sockaddr_in *addr, int len)
{
	return len >= (int)sizeof(*addr) && addr->sin_family == AF_UNSPEC &&
	       addr->sin_addr.s_addr == htonl(INADDR_ANY);
}

static int ndp_bind(struct socket *sock, COMPAT_SOCKADDR *uaddr, int len)
{
	const struct sockaddr_in *addr = (struct sockaddr_in *)uaddr;
	struct sock *sk = sock->sk;
	struct net *net = sock_net(sk);
	u16 port;
	int type;
	int err;

	err = ndp_any_addr(addr, len) ? 0 : ndp_check_addr(addr, len);
	if (err)
		return err;
	type = inet_addr_type_table(net, addr->sin_addr.s_addr,
				    l3mdev_fib_table_by_index(net, sk->sk_bound_dev_if) ?:
				    RT_TABLE_LOCAL);
	if (!inet_addr_valid_or_nonlocal(net, inet_sk(sk),
					 addr->sin_addr.s_addr, type))
		return -EADDRNOTAVAIL;
	port = ntohs(addr->sin_port);
	if (port && inet_port_requires_bind_service(net, port) &&
	    !ns_capable(net->user_ns, CAP_NET_BIND_SERVICE))
		return -EACCES;

	lock_sock(sk);
	if (ndp_sk(sk)->bound || sk->sk_state != TCP_CLOSE)
		err = -EINVAL;
	else
		err = ndp_bind_port(sk, addr->sin_addr.s_addr, port);
	/* Packets go out from an address of the device. */
	if (!err && (type == RTN_MULTICAST || type == RTN_BROADCAST))
		inet_sk(sk)->inet_saddr = 0;
	release_sock(sk);
	return err;
}

/* Route to the peer and choose the source address. */
static int ndp_connect_route(struct sock *sk, __be32 daddr, __be16 dport)
{
	struct inet_sock *inet = inet_sk(sk);
	struct flowi4 fl4 = {
		.flowi4_oif = sk->sk_bound_dev_if,
		.flowi4_mark = READ_ONCE(sk->sk_mark),
		.flowi4_proto = IPPROTO_UDP,
		.flowi4_uid = sk->sk_uid,
		.daddr = daddr,
		.saddr = inet->inet_rcv_saddr,
	};
	struct rtable *rt;
	int err = 0;

	rt = ip_route_output_flow(sock_net(sk), &fl4, sk);
	if (IS_ERR(rt))
		return PTR_ERR(rt);
	if (rt->rt_flags & (RTCF_MULTICAST | RTCF_BROADCAST))
		err = -ENETUNREACH;
	ip_rt_put(rt);
	if (err)
		return err;
	inet->inet_saddr = fl4.saddr;
	inet->inet_rcv_saddr = fl4.saddr;
	inet->inet_daddr = fl4.daddr;
	inet->inet_dport = dport;
	return 0;
}

static int ndp_connect_start(struct sock *sk, const struct sockaddr_in *addr)
{
	struct ndp_sock *np = ndp_sk(sk);
	__be32 daddr = addr->sin_addr.s_addr ?: htonl(INADDR_LOOPBACK);
	__be32 bound = inet_sk(sk)->inet_rcv_saddr;
	int err;

	if (!addr->sin_port)
		return -EADDRNOTAVAIL;
	err = ndp_autobind(sk);
	if (err)
		return err;
	err = ndp_connect_route(sk, daddr, addr->sin_port);
	if (err)
		return err;

	spin_lock_bh(&np->lock);
	get_random_bytes(&np->entry.key.conn_id, sizeof(__be64));
	np->entry.key.net = sock_net(sk);
	np->entry.key.iport = inet_sk(sk)->inet_sport;
	np->entry.key.aport = inet_sk(sk)->inet_dport;
	err = ndp_conn_setup(np, GFP_ATOMIC);
	if (!err) {
		rcu_read_lock();
		err = ndp_conn_hash(np, NULL);
		rcu_read_unlock();
	}
	if (err) {
		ndp_paths_free(np);
		inet_sk(sk)->inet_rcv_saddr = bound;
	} else {
		ndp_set_state(sk, TCP_SYN_SENT);
		np->syn_at = ktime_get_ns() + NDP_SYN_DELAY;
		ndp_keepalive_start(np);
		ndp_timer_update(np);
		NDP_INC(sock_net(sk), ACTIVE_OPENS);
	}
	spin_unlock_bh(&np->lock);
	return err;
}

/* NDP_SYNC_CONNECT: wait for the peer's first answer. */
static int ndp_connect_wait(struct socket *sock, int flags)
{
	struct sock *sk = sock->sk;
	struct ndp_sock *np = ndp_sk(sk);
	long timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	spin_lock_bh(&np->lock);
	ndp_send_open(np);
	spin_unlock_bh(&np->lock);

	add_wait_queue(sk_sleep(sk), &wait);
	while (sk->sk_state == TCP_SYN_SENT && timeo &&
	       !signal_pending(current)) {
		release_sock(sk);
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
		lock_sock(sk);
	}
	remove_wait_queue(sk_sleep(sk), &wait);

	if (sk->sk_state == TCP_SYN_SENT) {
		sock->state = SS_CONNECTING;
		if (timeo && signal_pending(current))
			return sock_intr_errno(timeo);
		return -EINPROGRESS;
	}
	if (sk->sk_state == TCP_CLOSE) {
		sock->state = SS_UNCONNECTED;
		return sock_error(sk) ?: -ECONNABORTED;
	}
	sock->state = SS_CONNECTED;
	return 0;
}

static int ndp_connect_locked(struct socket *sock,
			      const struct sockaddr_in *addr, int flags)
{
	struct sock *sk = sock->sk;
	int err;

	switch (sock->state) {
	case SS_CONNECTED:
		return -EISCONN;
	case SS_CONNECTING:
		if (sk->sk_state == TCP_SYN_SENT && flags & O_NONBLOCK)
			return -EALREADY;
		return ndp_connect_wait(sock, flags);
	default:
		break;
	}
	/* One connection a socket; a refused one says why once more. */
	if (sk->sk_state != TCP_CLOSE || ndp_sk(sk)->paths)
		return sk->sk_state == TCP_LISTEN ? -EISCONN :
		       sock_error(sk) ?: -ECONNABORTED;
	err = ndp_connect_start(sk, addr);
	if (err)
		return err;
	if (ndp_sk(sk)->sync_connect)
		return ndp_connect_wait(sock, flags);
	sock->state = SS_CONNECTED;
	return 0;
}

static int ndp_connect(struct socket *sock, COMPAT_SOCKADDR *uaddr, int len,
		       int flags)
{
	const struct sockaddr_in *addr = (struct sockaddr_in *)uaddr;
	struct sock *sk = sock->sk;
	int err;

	err = ndp_check_addr(addr, len);
	if (err)
		return err;
	lock_sock(sk);
	err = ndp_connect_locked(sock, addr, flags);
	release_sock(sk);
	return err;
}

static int ndp_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int err = 0;

	lock_sock(sk);
	if (sock->state != SS_UNCONNECTED || ndp_sk(sk)->paths) {
		err = -EINVAL;
		goto out;
	}
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	if (sk->sk_state == TCP_LISTEN)
		goto out;
	err = ndp_autobind(sk);
	if (!err)
		err = ndp_listen_add(sk);
out:
	release_sock(sk);
	return err;
}

/* Context: lock_sock held, released while waiting. */
static struct sock *ndp_accept_wait(struct sock *lsk, int flags, int *err)
{
	long timeo = sock_rcvtimeo(lsk, flags & O_NONBLOCK);
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk;

	add_wait_queue_exclusive(sk_sleep(lsk), &wait);
	for (;;) {
		*err = -EINVAL;
		sk = NULL;
		if (lsk->sk_state != TCP_LISTEN)
			break;
		sk = ndp_accept_dequeue(ndp_sk(lsk));
		if (sk)
			break;
		*err = timeo ? sock_intr_errno(timeo) : -EAGAIN;
		if (!timeo || signal_pending(current))
			break;
		release_sock(lsk);
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
		lock_sock(lsk);
	}
	remove_wait_queue(sk_sleep(lsk), &wait);
	return sk;
}

static int ndp_accept(struct socket *sock, struct socket *newsock,
		      COMPAT_ACCEPT_ARGS)
{
	struct sock *lsk = sock->sk;
	struct sock *sk;
	int err;

	lock_sock(lsk);
	sk = ndp_accept_wait(lsk, COMPAT_ACCEPT_FLAGS, &err);
	release_sock(lsk);
	if (!sk)
		return err;
	lock_sock(sk);
	sock_graft(sk, newsock);
	newsock->state = SS_CONNECTED;
	release_sock(sk);
	ndp_child_accepted(ndp_sk(sk));
	return 0;
}

static int ndp_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
{
	DECLARE_SOCKADDR(struct sockaddr_in *, addr, uaddr);
	const struct inet_sock *inet = inet_sk(sock->sk);

	if (peer && (!inet->inet_dport || sock->state == SS_UNCONNECTED ||
		     sock->sk->sk_state == TCP_CLOSE || ndp_over(ndp_sk(sock->sk))))
		return -ENOTCONN;
	memset(addr, 0, sizeof(*addr));
	addr->sin_family = AF_INET;
	addr->sin_port = peer ? inet->inet_dport : inet->inet_sport;
	addr->sin_addr.s_addr = peer ? inet->inet_daddr : inet->inet_saddr;
	return sizeof(*addr);
}

/* No more will be written: FIN follows what is queued. */
static void ndp_shutdown_send(struct ndp_sock *np)
{
	struct sock *sk = ndp_to_sk(np);

	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | SEND_SHUTDOWN);
	np->fin_queued = true;
	ndp_uncork(np);
	ndp_output(np);
}

static void ndp_stop_listening(struct sock *sk)
{
	struct ndp_sock *np = ndp_sk(sk);

	spin_lock_bh(&np->lock);
	ndp_set_state(sk, TCP_CLOSE);
	spin_unlock_bh(&np->lock);
	ndp_listen_del(sk);
	ndp_listen_flush(np);
}

static int ndp_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct ndp_sock *np = ndp_sk(sk);
	int err = 0;

	how++;	/* SHUT_RD, SHUT_WR, SHUT_RDWR to a mask */
	if (how & ~SHUTDOWN_MASK || !how)
		return -EINVAL;
	lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN) {
		if (how & RCV_SHUTDOWN) {
			ndp_stop_listening(sk);
			sk->sk_state_change(sk);
		}
		goto out;
	}
	spin_lock_bh(&np->lock);
	if (sk->sk_state == TCP_CLOSE || ndp_over(np)) {
		err = -ENOTCONN;
	} else {
		WRITE_ONCE(sk->sk_shutdown,
			   sk->sk_shutdown | (how & RCV_SHUTDOWN));
		if (how & SEND_SHUTDOWN)
			ndp_shutdown_send(np);
	}
	spin_unlock_bh(&np->lock);
	sk->sk_state_change(sk);
out:
	release_sock(sk);
	return err;
}

static bool ndp_all_sent(const struct ndp_sock *np)
{
	return ndp_fin_acked(np) || np->inet.sk.sk_state == TCP_CLOSE;
}

/* SO_LINGER: wait until the peer has all of it. */
static void ndp_linger(struct sock *sk)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	long timeo = sk->sk_lingertime;

	add_wait_queue(sk_sleep(sk), &wait);
	while (timeo && !signal_pending(current) && !ndp_all_sent(ndp_sk(sk))) {
		release_sock(sk);
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
		lock_sock(sk);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
}

static void ndp_close_conn(struct sock *sk)
{
	struct ndp_sock *np = ndp_sk(sk);
	bool linger = sock_flag(sk, SOCK_LINGER);
	bool rude;

	spin_lock_bh(&np->lock);
	/* What was not read is lost, and the peer must know. */
	rude = !skb_queue_empty(&sk->sk_receive_queue) ||
	       (linger && !sk->sk_lingertime);
	if (rude)
		ndp_conn_abort(np, 0, true);
	else if (sk->sk_state != TCP_CLOSE)
		ndp_shutdown_send(np);
	spin_unlock_bh(&np->lock);

	if (!rude && linger && !(current->flags & PF_EXITING))
		ndp_linger(sk);

	spin_lock_bh(&np->lock);
	sock_orphan(sk);
	if (sk->sk_state == TCP_CLOSE) {
		ndp_conn_purge(np);
	} else if (!skb_queue_empty(&sk->sk_receive_queue)) {
		ndp_conn_abort(np, 0, true);
	} else {
		if (ndp_fin_acked(np) && !np->rcv_fin)
			np->orphan_at = ktime_get_ns() + NDP_ORPHAN_TIME;
		ndp_conn_check_done(np);
		ndp_timer_update(np);
	}
	spin_unlock_bh(&np->lock);
}

static int ndp_release(struct socket *sock)
{
	struct sock *sk = sock->sk;

	if (!sk)
		return 0;
	lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN) {
		WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
		ndp_stop_listening(sk);
		sock_orphan(sk);
	} else {
		ndp_close_conn(sk);
	}
	ndp_unbind(sk);
	sock->sk = NULL;
	release_sock(sk);
	sock_put(sk);
	return 0;
}

static void ndp_fill_info(struct ndp_sock *np, struct ndp_info *info)
{
	struct sock *sk = ndp_to_sk(np);

	spin_lock_bh(&np->lock);
	*info = np->info;
	switch (sk->sk_state) {
	case TCP_LISTEN:
		info->state = NDP_ST_LISTEN;
		break;
	case TCP_SYN_SENT:
		info->state = NDP_ST_OPENING;
		break;
	case TCP_ESTABLISHED:
		info->state = np->fin_sent && np->rcv_fin ?
			      NDP_ST_CLOSING : NDP_ST_ESTABLISHED;
		break;
	default:
		info->state = NDP_ST_CLOSE;
	}
	info->role = np->acceptor;
	info->paths = np->paths ? np->paths->n : 0;
	info->mss = np->mss;
	info->iw = np->iw;
	info->rto_us = div_u64(ndp_rto(np), NSEC_PER_USEC);
	info->srtt_us = div_u64(np->srtt_ns, NSEC_PER_USEC);
	info->rttvar_us = div_u64(np->rttvar_ns, NSEC_PER_USEC);
	info->snd_inflight = np->flight_pkts;
	info->snd_rtx_queue = np->rtx_pkts;
	info->snd_credit = np->credit;
	info->snd_window = np->snd_window;
	info->rcv_window = np->rcv_window;
	info->rcv_ooo = np->ooo_len;
	info->pull_pending = np->pull_owed;
	info->notsent_bytes = np->sendq_bytes;
	info->pull_rate_bps = ndp_pull_rate(np);
	info->conn_id = be64_to_cpu(np->entry.key.conn_id);
	spin_unlock_bh(&np->lock);
}

static int ndp_set_option(struct sock *sk, int optname, int val)
{
	struct ndp_sock *np = ndp_sk(sk);

	switch (optname) {
	case NDP_IW:
		if (val < 0 || val > NDP_IW_MAX)
			return -EINVAL;
		np->iw_opt = val;
		if (val && np->paths && !np->opened)
			np->iw = val;
		return 0;
	case NDP_SYNC_CONNECT:
		if (np->paths)
			return -EISCONN;
		np->sync_connect = !!val;
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

/* What packets heed, and what programs set without asking. */
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

static int ndp_setsockopt(struct socket *sock, int level, int optname,
			  sockptr_t optval, unsigned int optlen)
{
	struct sock *sk = sock->sk;
	int val, err;

	if (level == SOL_IP && ndp_knows_ip_option(optname))
		return ip_setsockopt(sk, level, optname, optval, optlen);
	if (level != SOL_NDP && level != SOL_TCP)
		return -ENOPROTOOPT;
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
	default:
		return -ENOPROTOOPT;
	}
}

static int ndp_getsockopt(struct socket *sock, int level, int optname,
			  char __user *optval, int __user *optlen)
{
	struct sock *sk = sock->sk;
	struct ndp_info info;
	void *from = &info;
	int err, len, val;

	if (level == SOL_IP && !ndp_knows_ip_option(optname))
		return -ENOPROTOOPT;
	/* Also says what TCP says to levels unheard of. */
	if (level != SOL_NDP && level != SOL_TCP)
		return ip_getsockopt(sk, level, optname, optval, optlen);
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	if (level == SOL_NDP && optname == NDP_INFO) {
		ndp_fill_info(ndp_sk(sk), &info);
		len = min_t(int, len, sizeof(info));
	} else {
		if (level == SOL_NDP)
			err = ndp_get_option(sk, optname, &val);
		else
			err = ndp_tcp_getsockopt(sk, optname, &val);
		if (err)
			return err;
		from = &val;
		len = min_t(int, len, sizeof(val));
	}
	if (put_user(len, optlen) || copy_to_user(optval, from, len))
		return -EFAULT;
	return 0;
}

const struct proto_ops ndp_stream_ops = {
	.owner = THIS_MODULE,
	.family = PF_NDP,
	.release = ndp_release,
	.bind = ndp_bind,
	.connect = ndp_connect,
	.socketpair = sock_no_socketpair,
	.accept = ndp_accept,
	.getname = ndp_getname,
	.poll = ndp_poll,
	.ioctl = ndp_ioctl,
	.gettstamp = sock_gettstamp,
	.listen = ndp_listen,
	.shutdown = ndp_shutdown,
	.setsockopt = ndp_setsockopt,
	.getsockopt = ndp_getsockopt,
	.sendmsg = ndp_sendmsg,
	.recvmsg = ndp_recvmsg,
	.mmap = sock_no_mmap,
};

static struct net_proto_family ndp_proto_family = {
	.family = PF_NDP,
	.create = ndp_create,
	.owner = THIS_MODULE,
};

static int __net_init ndp_net_init(struct net *net)
{
	struct ndp_net *nn = ndp_pernet(net);
	int err, i;

	mutex_init(&nn->udp_mutex);
	mutex_init(&nn->path_lock);
	spin_lock_init(&nn->bind_lock);
	INIT_LIST_HEAD(&nn->path_dsts);
	for (i = 0; i < NDP_BIND_BUCKETS; i++) {
		INIT_HLIST_HEAD(&nn->bind[i]);
		INIT_HLIST_HEAD(&nn->listen[i]);
	}
	ndp_tomb_net_init(nn);
	err = ndp_stat_net_init(net);
	if (err)
		return err;
	err = ndp_sysctl_net_init(net);
	if (err)
		ndp_stat_net_exit(net);
	return err;
}

/*
 * No socket is left, they hold the namespace.  The UDP socket goes first: when
 * its release returns no packet is being received.
 */
static void __net_exit ndp_net_exit(struct net *net)
{
	struct ndp_net *nn = ndp_pernet(net);

	ndp_udp_net_exit(nn);
	ndp_tomb_net_exit(nn);
	ndp_path_table_flush(nn);
	ndp_sysctl_net_exit(net);
	ndp_stat_net_exit(net);
}

static struct pernet_operations ndp_net_ops = {
	.init = ndp_net_init,
	.exit = ndp_net_exit,
	.id = &ndp_net_id,
	.size = sizeof(struct ndp_net),
};

/* As TCP: pressure at an eighth of memory, limits around it. */
static void __init ndp_init_mem(void)
{
	unsigned long limit = max(totalram_pages() / 16, 128UL);

	ndp_sysctl_mem[0] = limit / 4 * 3;
	ndp_sysctl_mem[1] = limit;
	ndp_sysctl_mem[2] = limit * 2;
}

static int __init ndp_init(void)
{
	int err;

	if (ndp_family <= 0 || ndp_family >= AF_MAX) {
		pr_err("family must be 1 to %d\n", AF_MAX - 1);
		return -EINVAL;
	}
	ndp_proto_family.family = ndp_family;
	ndp_init_mem();
	err = percpu_counter_init(&ndp_sockets_allocated, 0, GFP_KERNEL);
	if (err)
		return err;
	err = ndp_conn_init();
	if (err)
		goto err_counter;
	err = register_pernet_subsys(&ndp_net_ops);
	if (err)
		goto err_conn;
	err = ndp_pull_init();
	if (err)
		goto err_net;
	err = ndp_netlink_init();
	if (err)
		goto err_pull;
	err = proto_register(&ndp_prot, 1);
	if (err)
		goto err_netlink;
	err = sock_register(&ndp_proto_family);
	if (err)
		goto err_proto;
	return 0;

err_proto:
	proto_unregister(&ndp_prot);
err_netlink:
	ndp_netlink_exit();
err_pull:
	ndp_pull_exit();
err_net:
	unregister_pernet_subsys(&ndp_net_ops);
err_conn:
	ndp_conn_exit();
err_counter:
	percpu_counter_destroy(&ndp_sockets_allocated);
	return err;
}

/*
 * Every socket holds the module, so none is left.  Grace periods that free
 * the last of them, and tombstones, end in the barriers.
 */
static void __exit ndp_exit(void)
{
	sock_unregister(ndp_family);
	ndp_netlink_exit();
	unregister_pernet_subsys(&ndp_net_ops);
	ndp_pull_exit();
	rcu_barrier();
	proto_unregister(&ndp_prot);
	ndp_conn_exit();
	percpu_counter_destroy(&ndp_sockets_allocated);
}

module_init(ndp_init);
module_exit(ndp_exit);

MODULE_DESCRIPTION("AF_NDP: receiver-driven, multipath, zero-RTT transport");
MODULE_LICENSE("GPL");
MODULE_ALIAS_NETPROTO(PF_NDP);
MODULE_ALIAS_GENL_FAMILY(NDP_GENL_NAME);
