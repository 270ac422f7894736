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
 * a socket.  stream.c and message.c read and write, output.c and input.c are the two
 * sides of the protocol, pull.c paces it.  Documentation/af_ndp.md is the manual,
 * include/net/ndp_wire.h the wire format, ndp.h the locks.
 *
 * Non-goals: out-of-band data and zero-copy sending.
 */
#include <linux/bpf-cgroup.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/tcp.h>
#include <net/genetlink.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include <net/transp_v6.h>
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

static int ndp_get_port(struct sock *sk, unsigned short port);

/* Sockets of both families have one account of memory. */
#define NDP_PROT(prot_name, type)					\
{									\
	.name = prot_name,						\
	.owner = THIS_MODULE,						\
	.obj_size = sizeof(type),					\
	.get_port = ndp_get_port,					\
	.put_port = ndp_unbind,						\
	.keepalive = ndp_keepalive,					\
	.enter_memory_pressure = ndp_enter_memory_pressure,		\
	.leave_memory_pressure = ndp_leave_memory_pressure,		\
	.memory_allocated = &ndp_memory_allocated,			\
	.per_cpu_fw_alloc = &ndp_per_cpu_fw_alloc,			\
	.sockets_allocated = &ndp_sockets_allocated,			\
	.memory_pressure = &ndp_memory_pressure,			\
	.sysctl_mem = ndp_sysctl_mem,					\
	.sysctl_wmem = ndp_sysctl_wmem,					\
	.sysctl_rmem = ndp_sysctl_rmem,					\
}

struct proto ndp_prot = NDP_PROT("NDP", struct ndp_sock);
struct proto ndp6_prot = NDP_PROT("NDPv6", struct ndp6_sock);

/* The same as sk_stream_write_space(), which is not exported. */
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
	WARN_ON_ONCE(np->hashed || np->bound || np->pullq || np->listener ||
		     np->unverified_at);
	WARN_ON_ONCE(atomic_read(&sk->sk_rmem_alloc));
	WARN_ON_ONCE(sk->sk_wmem_queued);
	WARN_ON_ONCE(sk->sk_forward_alloc);
	percpu_counter_dec(&ndp_sockets_allocated);
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
}

/* Initialise the fields that no socket option sets, of a new or a cloned socket. */
static void ndp_sock_init(struct ndp_sock *np)
{
	struct sock *sk = ndp_to_sk(np);

	spin_lock_init(&np->lock);
	np->tomb = NULL;
	INIT_HLIST_NODE(&np->bind_node);
	INIT_HLIST_NODE(&np->listen_node);
	np->bound = false;
	np->autobound = false;
	INIT_LIST_HEAD(&np->accept_q);
	INIT_LIST_HEAD(&np->accept_node);
	np->listener = NULL;
	atomic_set(&np->unaccepted, 0);
	atomic_set(&np->unverified, 0);
	np->unverified_at = NULL;
	np->throttled = false;
	np->tx_seq = 0;
	atomic_set(&np->tx_departed, 0);
	np->tasklet_queued = 0;
	tasklet_setup(&np->tasklet, ndp_tasklet);
	np->timer_held = false;
	hrtimer_setup(&np->timer, ndp_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	ndp_conn_clear(np);
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
}

/* Charge what a child receives to the memory cgroup of its listener. */
static void ndp_inherit_memcg(struct sock *sk, const struct sock *lsk)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg = mem_cgroup_from_sk(lsk);

	if (memcg) {
		css_get(&memcg->css);
		sk->sk_memcg = lsk->sk_memcg;
	}
#endif
}

static struct ipv6_pinfo *ndp6_pinfo(struct sock *sk)
{
	return &container_of(ndp_sk(sk), struct ndp6_sock, ndp)->inet6;
}

/**
 * ndp_sock_clone - make a socket with the options of a listener
 * @lsk:	listener
 *
 * Context: softirq.
 * Return: socket or NULL.
 */
struct ndp_sock *ndp_sock_clone(const struct sock *lsk)
{
	struct sock *sk = sk_clone_lock(lsk, GFP_ATOMIC);

	if (!sk)
		return NULL;
	/* sparse does not see that sk_clone_lock() returns the socket locked. */
	__acquire(&sk->sk_lock.slock);
	/* No supported option hangs memory on the socket that a clone must not share. */
	if (sk->sk_family == AF_INET6)
		inet_sk(sk)->pinet6 = ndp6_pinfo(sk);
	ndp_sock_init(ndp_sk(sk));
	ndp_inherit_memcg(sk, lsk);
	WRITE_ONCE(sk->sk_shutdown, 0);
	sk->sk_ack_backlog = 0;
	bh_unlock_sock(sk);
	/* sk_clone_lock() takes a reference for a hash table that AF_NDP does not use. */
	__sock_put(sk);
	return ndp_sk(sk);
}

/* The same initial values as in inet6_create(). */
static void ndp6_sock_init(struct sock *sk)
{
	struct ipv6_pinfo *p = ndp6_pinfo(sk);

	inet_sk(sk)->pinet6 = p;
	p->hop_limit = -1;
	p->pmtudisc = IPV6_PMTUDISC_WANT;
	sk->sk_ipv6only = READ_ONCE(sock_net(sk)->ipv6.sysctl.bindv6only);
}

/*
 * To the core a socket is one of AF_INET or AF_INET6, as it is in all but its
 * transport: SO_REUSEPORT, cgroups' programs and others ask for that.
 */
static struct sock *ndp_sock_alloc(struct net *net, struct socket *sock,
				   int family, int kern)
{
	bool ip6 = family == AF_INET6;
	struct sock *sk;

	sk = sk_alloc(net, family, GFP_KERNEL, ip6 ? &ndp6_prot : &ndp_prot, kern);
	if (!sk)
		return NULL;
	sock_init_data(sock, sk);
	sk->sk_type = sock->type;
	sk->sk_txrehash = READ_ONCE(net->core.sysctl_txrehash);
	sk->sk_destruct = ndp_sock_destruct;
	sk->sk_write_space = ndp_write_space;
	sk->sk_rcvbuf = NDP_BUF_DEFAULT;
	sk->sk_sndbuf = NDP_BUF_DEFAULT;
	sock_set_flag(sk, SOCK_RCU_FREE);
	sock_set_flag(sk, SOCK_USE_WRITE_QUEUE);
	/* The IP output path looks at these. */
	inet_sk(sk)->pmtudisc = IP_PMTUDISC_WANT;
	inet_sk(sk)->uc_ttl = -1;
	if (ip6)
		ndp6_sock_init(sk);
	ndp_sk(sk)->priority = NDP_PRIORITY_AUTO;
	ndp_tcp_options_init(ndp_sk(sk));
	percpu_counter_inc(&ndp_sockets_allocated);
	ndp_sock_init(ndp_sk(sk));
	return sk;
}

static const struct proto_ops ndp_stream_ops;
static const struct proto_ops ndp_seqpacket_ops;

static int ndp_create(struct net *net, struct socket *sock, int protocol,
		      int kern)
{
	int family = protocol == NDP_PROTO_IPV6 ? AF_INET6 : AF_INET;
	struct sock *sk;
	int err;

	if (sock->type != SOCK_STREAM && sock->type != SOCK_SEQPACKET)
		return -ESOCKTNOSUPPORT;
	if (protocol && protocol != NDP_PROTO_IPV6)
		return -EPROTONOSUPPORT;
	if (family == AF_INET6 && !ipv6_mod_enabled())
		return -EAFNOSUPPORT;
	err = ndp_udp_get(net, AF_INET);
	if (!err && family == AF_INET6)
		err = ndp_udp_get(net, AF_INET6);
	if (err)
		return err;
	sk = ndp_sock_alloc(net, sock, family, kern);
	if (!sk)
		return -ENOBUFS;
	sock->ops = sock->type == SOCK_STREAM ? &ndp_stream_ops :
						&ndp_seqpacket_ops;
	sock->state = SS_UNCONNECTED;
	if (!kern) {
		err = BPF_CGROUP_RUN_PROG_INET_SOCK(sk);
		if (err) {
			sock->sk = NULL;
			sock_orphan(sk);
			sock_put(sk);
		}
	}
	return err;
}

/**
 * ndp_check_addr - is it an address to connect to?
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

/* inet_bind() and inet6_bind() call this to choose the port; they do the rest. */
static int ndp_get_port(struct sock *sk, unsigned short port)
{
	return ndp_bind_port(sk, port);
}

static int ndp_bind(struct socket *sock, COMPAT_SOCKADDR *uaddr, int len)
{
	struct sockaddr_in *addr = (struct sockaddr_in *)uaddr;

	if (sock->sk->sk_family == AF_INET6)
		return inet6_bind(sock, uaddr, len);
	if (len >= (int)sizeof(*addr) && addr->sin_family == ndp_family)
		addr->sin_family = AF_INET;
	return inet_bind(sock, uaddr, len);
}

/* Set the local address in the fields that the core reads. */
static void ndp_set_local_name(struct sock *sk, const struct in6_addr *addr)
{
	struct inet_sock *inet = inet_sk(sk);

	/* The core's IPv4 fields hold LOOPBACK4_IPV6 for an IPv6 address. */
	inet->inet_rcv_saddr = ndp_is_ip4(addr) || ipv6_addr_any(addr) ?
			       ndp_ip4(addr) : LOOPBACK4_IPV6;
	inet->inet_saddr = inet->inet_rcv_saddr;
	if (sk->sk_family != AF_INET6)
		return;
	sk->sk_v6_rcv_saddr = *addr;
	inet6_sk(sk)->saddr = *addr;
}

static void ndp_set_peer_name(struct sock *sk, const struct in6_addr *addr,
			      __be16 dport)
{
	struct inet_sock *inet = inet_sk(sk);

	inet->inet_dport = dport;
	inet->inet_daddr = ndp_is_ip4(addr) || ipv6_addr_any(addr) ?
			   ndp_ip4(addr) : LOOPBACK4_IPV6;
	if (sk->sk_family == AF_INET6)
		sk->sk_v6_daddr = *addr;
}

/**
 * ndp_set_names - the addresses of a connection
 * @sk:		socket
 * @local:	ours
 * @peer:	the peer's
 * @dport:	its NDP port
 *
 * Context: lock_sock held, or nobody else sees @sk.
 */
void ndp_set_names(struct sock *sk, const struct in6_addr *local,
		   const struct in6_addr *peer, __be16 dport)
{
	ndp_sk(sk)->local = *local;
	ndp_sk(sk)->peer = *peer;
	ndp_set_local_name(sk, local);
	ndp_set_peer_name(sk, peer, dport);
}

/* Forget the peer's address, and our own address and port unless bind() set them. */
static void ndp_forget_names(struct sock *sk)
{
	ndp_set_peer_name(sk, &in6addr_any, 0);
	if (ndp_sk(sk)->autobound)
		ndp_unbind(sk);
	if (!(sk->sk_userlocks & SOCK_BINDADDR_LOCK))
		ndp_set_local_name(sk, &in6addr_any);
}

/* Route to the peer and choose the source address. */
static int ndp_connect_route(struct sock *sk, const struct in6_addr *peer,
			     __be16 dport)
{
	struct ndp_flow flow = {
		.saddr = ndp_bound_addr(sk),
		.daddr = *peer,
		.mark = READ_ONCE(sk->sk_mark),
		.oif = sk->sk_bound_dev_if,
	};
	struct dst_entry *dst;

	dst = ndp_ip_route(sock_net(sk), sk, &flow);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	dst_release(dst);
	ndp_set_names(sk, &flow.saddr, &flow.daddr, dport);
	return 0;
}

/* Choose a connection id, set the connection up by its route and add it to the table. */
static int ndp_connect_hash(struct ndp_sock *np)
{
	struct inet_sock *inet = &np->inet;
	int err;

	memset(&np->entry.key, 0, sizeof(np->entry.key));
	get_random_bytes(&np->entry.key.conn_id, sizeof(__be64));
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
		ndp_paths_free(np);
		ndp_forget_names(sk);
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

static void ndp_stop_listening(struct sock *sk)
{
	struct ndp_sock *np = ndp_sk(sk);

	spin_lock_bh(&np->lock);
	ndp_set_state(sk, TCP_CLOSE);
	spin_unlock_bh(&np->lock);
	ndp_listen_del(sk);
	ndp_listen_flush(np);
}

/*
 * The connection is over: the socket may have another.  Nobody finds this one
 * in the table any more; whoever still does ends within the grace period.
 *
 * Context: lock_sock held.
 */
static void ndp_conn_renew(struct sock *sk)
{
	struct ndp_sock *np = ndp_sk(sk);

	if (!np->paths)
		return;
	synchronize_rcu();
	spin_lock_bh(&np->lock);
	ndp_conn_purge(np);
	ndp_conn_purge_read(np);
	ndp_paths_free(np);
	ndp_conn_clear(np);
	spin_unlock_bh(&np->lock);
	ndp_forget_names(sk);
	WRITE_ONCE(sk->sk_shutdown, 0);
}

/*
 * NDP_SYNC_CONNECT: wait for the peer's first answer.
 * Return: 0, or an error; @unanswered when there is none yet.
 */
static int ndp_connect_wait(struct socket *sock, int flags, int unanswered)
{
	struct sock *sk = sock->sk;
	long timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(sk_sleep(sk), &wait);
	while (sk->sk_state == TCP_SYN_SENT && timeo &&
	       !signal_pending(current)) {
		release_sock(sk);
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
		lock_sock(sk);
	}
	remove_wait_queue(sk_sleep(sk), &wait);

	if (sk->sk_state == TCP_SYN_SENT) {
		if (timeo && signal_pending(current))
			return sock_intr_errno(timeo);
		return unanswered;
	}
	if (sk->sk_state == TCP_CLOSE) {
		sock->state = SS_UNCONNECTED;
		ndp_conn_renew(sk);
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
	/* Report a pending ECONNREFUSED before a new attempt begins. */
	err = sock_error(sk);
	if (err)
		return err;
	ndp_conn_renew(sk);
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

	switch (sock->state) {
	case SS_CONNECTED:
		/* The peer refused: leave the socket as a blocking connect() would. */
		if (sk->sk_state == TCP_CLOSE && !ndp_sk(sk)->answered) {
			sock->state = SS_UNCONNECTED;
			break;
		}
		return -EISCONN;
	case SS_CONNECTING:
		return ndp_connect_wait(sock, flags, -EALREADY);
	default:
		break;
	}
	return ndp_connect_new(sock, addr, len, flags);
}

/* connect() to AF_UNSPEC: end the connection, with TCP's errors. */
static void ndp_disconnect(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct ndp_sock *np = ndp_sk(sk);

	if (sk->sk_state == TCP_LISTEN) {
		ndp_stop_listening(sk);
	} else {
		spin_lock_bh(&np->lock);
		if (ndp_both_finished(np))
			ndp_conn_end(np);
		else
			ndp_conn_abort(np, ECONNRESET, true);
		spin_unlock_bh(&np->lock);
		ndp_conn_renew(sk);
	}
	ndp_forget_names(sk);
	sock->state = SS_UNCONNECTED;
	sk_error_report(sk);
}

static int ndp_connect(struct socket *sock, COMPAT_SOCKADDR *uaddr, int len,
		       int flags)
{
	struct sockaddr *addr = (struct sockaddr *)uaddr;
	struct sock *sk = sock->sk;
	int err;

	if (len < (int)sizeof(addr->sa_family))
		return -EINVAL;
	if (addr->sa_family == AF_UNSPEC) {
		lock_sock(sk);
		ndp_disconnect(sock);
		release_sock(sk);
		return 0;
	}
	err = ndp_check_addr(sk, addr, len);
	if (err)
		return err;
	lock_sock(sk);
	err = ndp_connect_locked(sock, addr, len, flags);
	release_sock(sk);
	return err;
}

static int ndp_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int err = 0;

	lock_sock(sk);
	if (sock->state != SS_UNCONNECTED) {
		err = -EINVAL;
		goto out;
	}
	ndp_conn_renew(sk);
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

static bool ndp_has_peer(struct sock *sk)
{
	return inet_sk(sk)->inet_dport &&
	       sk->sk_socket->state != SS_UNCONNECTED &&
	       sk->sk_state != TCP_CLOSE && !ndp_sync_opening(sk) &&
	       !ndp_both_finished(ndp_sk(sk));
}

static int ndp_getname4(struct sock *sk, struct sockaddr_in *addr, int peer)
{
	const struct inet_sock *inet = inet_sk(sk);
	int len = sizeof(*addr);

	memset(addr, 0, sizeof(*addr));
	addr->sin_family = AF_INET;
	if (peer) {
		addr->sin_port = inet->inet_dport;
		addr->sin_addr.s_addr = inet->inet_daddr;
		compat_bpf_sa_prog(sk, addr, &len, CGROUP_INET4_GETPEERNAME);
	} else {
		addr->sin_port = inet->inet_sport;
		addr->sin_addr.s_addr = inet->inet_saddr;
		compat_bpf_sa_prog(sk, addr, &len, CGROUP_INET4_GETSOCKNAME);
	}
	return len;
}

static int ndp_getname6(struct sock *sk, struct sockaddr_in6 *addr, int peer)
{
	const struct inet_sock *inet = inet_sk(sk);
	int len = sizeof(*addr);

	memset(addr, 0, sizeof(*addr));
	addr->sin6_family = AF_INET6;
	if (peer) {
		addr->sin6_port = inet->inet_dport;
		addr->sin6_addr = sk->sk_v6_daddr;
		compat_bpf_sa_prog(sk, addr, &len, CGROUP_INET6_GETPEERNAME);
	} else {
		addr->sin6_port = inet->inet_sport;
		addr->sin6_addr = sk->sk_v6_rcv_saddr;
		compat_bpf_sa_prog(sk, addr, &len, CGROUP_INET6_GETSOCKNAME);
	}
	addr->sin6_scope_id = ipv6_iface_scope_id(&addr->sin6_addr,
						  sk->sk_bound_dev_if);
	return len;
}

static int ndp_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
{
	struct sock *sk = sock->sk;
	int len;

	lock_sock(sk);
	if (peer && !ndp_has_peer(sk))
		len = -ENOTCONN;
	else if (sk->sk_family == AF_INET6)
		len = ndp_getname6(sk, (struct sockaddr_in6 *)uaddr, peer);
	else
		len = ndp_getname4(sk, (struct sockaddr_in *)uaddr, peer);
	release_sock(sk);
	return len;
}

/* Shut down sending: a FIN follows the queued data. */
static void ndp_shutdown_send(struct ndp_sock *np)
{
	struct sock *sk = ndp_to_sk(np);

	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | SEND_SHUTDOWN);
	np->fin_queued = true;
	ndp_uncork(np);
	ndp_conn_purge_unended(np);
	ndp_output(np);
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
	if (ndp_sync_opening(sk)) {
		ndp_disconnect(sock);
		goto out;
	}
	spin_lock_bh(&np->lock);
	if (sk->sk_state == TCP_CLOSE || ndp_both_finished(np)) {
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

/* SO_LINGER: wait until the peer has acknowledged all data. */
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
	/* Closing with unread data sends a reset, so that the peer learns of the loss. */
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
	if (sk->sk_state == TCP_CLOSE)
		ndp_conn_purge(np);
	else if (!skb_queue_empty(&sk->sk_receive_queue))
		ndp_conn_abort(np, 0, true);
	else
		ndp_conn_orphan(np);
	spin_unlock_bh(&np->lock);
}

static int ndp_release(struct socket *sock)
{
	struct sock *sk = sock->sk;

	if (!sk)
		return 0;
	lock_sock(sk);
	if (!sk->sk_kern_sock)
		BPF_CGROUP_RUN_PROG_INET_SOCK_RELEASE(sk);
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

static int ndp_set_priority(struct ndp_sock *np, int val)
{
	if (val != NDP_PRIORITY_AUTO &&
	    (val < NDP_PRIORITY_MIN || val > NDP_PRIORITY_MAX))
		return -ERANGE;
	spin_lock_bh(&np->lock);
	WRITE_ONCE(np->priority, val);
	ndp_pull_reorder(np);
	spin_unlock_bh(&np->lock);
	return 0;
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
	case NDP_PRIORITY:
		return ndp_set_priority(np, val);
	case NDP_PARTIAL:
		if (!ndp_has_messages(np))
			return -EOPNOTSUPP;
		np->partial = !!val;
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

static int ndp_setsockopt(struct socket *sock, int level, int optname,
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
	if (level == SOL_TCP && optname == TCP_CONGESTION)
		return ndp_tcp_set_congestion(optval, optlen);
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
		*val = ndp_pull_priority(np);
		return 0;
	case NDP_PARTIAL:
		*val = np->partial;
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

union ndp_option_value {
	int			val;
	struct ndp_info		ndp;
	struct tcp_info		tcp;
	char			name[TCP_CA_NAME_MAX];
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
	if (level == SOL_TCP && optname == TCP_CONGESTION) {
		strscpy_pad(v->name, NDP_TCP_CONGESTION, sizeof(v->name));
		return sizeof(v->name);
	}
	if (level == SOL_NDP)
		err = ndp_get_option(sk, optname, &v->val);
	else
		err = ndp_tcp_getsockopt(sk, optname, &v->val);
	return err ?: (int)sizeof(v->val);
}

static int ndp_getsockopt(struct socket *sock, int level, int optname,
			  char __user *optval, int __user *optlen)
{
	union ndp_option_value v;
	struct sock *sk = sock->sk;
	int len, size;

	if (level == SOL_IP && !ndp_knows_ip_option(optname))
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

/* Stream and message sockets differ in sendmsg and recvmsg only. */
#define NDP_OPS(send, receive)						\
{									\
	.owner = THIS_MODULE,						\
	.family = PF_NDP,						\
	.release = ndp_release,						\
	.bind = ndp_bind,						\
	.connect = ndp_connect,						\
	.socketpair = sock_no_socketpair,				\
	.accept = ndp_accept,						\
	.getname = ndp_getname,						\
	.poll = ndp_poll,						\
	.ioctl = ndp_ioctl,						\
	.gettstamp = sock_gettstamp,					\
	.listen = ndp_listen,						\
	.shutdown = ndp_shutdown,					\
	.setsockopt = ndp_setsockopt,					\
	.getsockopt = ndp_getsockopt,					\
	.sendmsg = send,						\
	.recvmsg = receive,						\
	.mmap = sock_no_mmap,						\
}

static const struct proto_ops ndp_stream_ops = NDP_OPS(ndp_sendmsg, ndp_recvmsg);
static const struct proto_ops ndp_seqpacket_ops = NDP_OPS(ndp_msg_sendmsg,
							  ndp_msg_recvmsg);

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
	spin_lock_init(&nn->bind_lock);
	for (i = 0; i < NDP_BIND_BUCKETS; i++) {
		INIT_HLIST_HEAD(&nn->bind[i]);
		INIT_HLIST_HEAD(&nn->listen[i]);
	}
	ndp_tomb_net_init(nn);
	ndp_cookie_net_init(nn);
	ndp_verify_net_init(nn);
	err = ndp_path_table_init(nn);
	if (err)
		return err;
	err = ndp_stat_net_init(net);
	if (err)
		goto err_paths;
	err = ndp_sysctl_net_init(net);
	if (err)
		goto err_stat;
	return 0;

err_stat:
	ndp_stat_net_exit(net);
err_paths:
	ndp_path_table_exit(nn);
	return err;
}

/*
 * No AF_NDP socket is left, they hold the namespace.  The UDP sockets go first.
 * When their release returns none is found any more, but a packet that had found
 * one may still be in ndp_rcv(): the grace period between pre_exit and exit is
 * for those.
 */
static void __net_exit ndp_net_pre_exit(struct net *net)
{
	ndp_udp_net_exit(ndp_pernet(net));
}

/* Context: no packet is being received. */
static void __net_exit ndp_net_exit(struct net *net)
{
	struct ndp_net *nn = ndp_pernet(net);

	ndp_tomb_net_exit(nn);
	ndp_path_table_exit(nn);
	ndp_verify_net_exit(nn);
	ndp_sysctl_net_exit(net);
	ndp_stat_net_exit(net);
}

static struct pernet_operations ndp_net_ops = {
	.init = ndp_net_init,
	.pre_exit = ndp_net_pre_exit,
	.exit = ndp_net_exit,
	.id = &ndp_net_id,
	.size = sizeof(struct ndp_net),
};

/* Memory limits as TCP's: pressure at an eighth of all pages. */
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
	err = ndp_table_init();
	if (err)
		goto err_counter;
	err = register_pernet_subsys(&ndp_net_ops);
	if (err)
		goto err_table;
	err = ndp_pull_init();
	if (err)
		goto err_net;
	err = ndp_repair_init();
	if (err)
		goto err_pull;
	err = ndp_netlink_init();
	if (err)
		goto err_repair;
	err = proto_register(&ndp_prot, 1);
	if (err)
		goto err_netlink;
	err = proto_register(&ndp6_prot, 1);
	if (err)
		goto err_proto;
	err = sock_register(&ndp_proto_family);
	if (err)
		goto err_proto6;
	return 0;

err_proto6:
	proto_unregister(&ndp6_prot);
err_proto:
	proto_unregister(&ndp_prot);
err_netlink:
	ndp_netlink_exit();
err_repair:
	ndp_repair_exit();
err_pull:
	ndp_pull_exit();
err_net:
	unregister_pernet_subsys(&ndp_net_ops);
err_table:
	ndp_table_exit();
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
	ndp_repair_exit();
	unregister_pernet_subsys(&ndp_net_ops);
	ndp_pull_exit();
	rcu_barrier();
	proto_unregister(&ndp6_prot);
	proto_unregister(&ndp_prot);
	ndp_table_exit();
	percpu_counter_destroy(&ndp_sockets_allocated);
}

module_init(ndp_init);
module_exit(ndp_exit);

MODULE_DESCRIPTION("AF_NDP: receiver-driven, multipath, zero-RTT transport");
MODULE_LICENSE("GPL");
MODULE_ALIAS_NETPROTO(PF_NDP);
MODULE_ALIAS_GENL_FAMILY(NDP_GENL_NAME);
