// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP sockets as objects: how one is made, cloned and freed, its memory, its addresses.
 *
 * Non-goals: what system calls do with a socket (af_ndp.c, connect.c, stream.c, message.c).
 */
#include <linux/pkt_sched.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/transp_v6.h>
#include "call.h"
#include "transport.h"

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

/* inet_bind() and inet6_bind() call this to choose the port; they do the rest. */
static int ndp_get_port(struct sock *sk, unsigned short port)
{
	return ndp_bind_port(sk, port);
}

/* Sockets of both families share one memory account. */
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
	ndp_peer_leave(np);
	kfree(np->tomb);
	kfree(np->answers_many);
	kfree(np->early_map);
	ndp_transport_put(np->tp);
	sk_mem_reclaim_final(sk);
	WARN_ON_ONCE(np->hashed || np->bound || np->listener ||
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
	np->nn = ndp_pernet(sock_net(sk));
	np->tomb = NULL;
	np->early_map = NULL;
	np->answers_many = NULL;
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
 * @tp:		transport, held; on success the socket takes over the reference
 *
 * Context: softirq.
 * Return: socket or NULL.
 */
struct ndp_sock *ndp_sock_clone(const struct sock *lsk,
				const struct ndp_transport *tp)
{
	struct sock *sk = sk_clone_lock(lsk, GFP_ATOMIC);

	if (!sk)
		return NULL;
	/* sparse does not see that sk_clone_lock() returns the socket locked. */
	__acquire(&sk->sk_lock.slock);
	/* No supported option attaches memory to the socket that a clone must not share. */
	if (sk->sk_family == AF_INET6)
		inet_sk(sk)->pinet6 = ndp6_pinfo(sk);
	ndp_sk(sk)->tp = tp;
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

/**
 * ndp_sock_alloc - make a socket
 * @net:	namespace
 * @sock:	its struct socket
 * @family:	AF_INET or AF_INET6
 * @kern:	the socket is the kernel's own
 *
 * To the core a socket is one of AF_INET or AF_INET6, as it is in all but its transport:
 * SO_REUSEPORT, cgroup BPF programs and others check the family.
 *
 * Context: process.
 * Return: socket or NULL.
 */
struct sock *ndp_sock_alloc(struct net *net, struct socket *sock,
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
	/* AF_NDP does not autotune the buffer: shrinking it under pressure would be permanent. */
	sk->sk_userlocks |= SOCK_SNDBUF_LOCK;
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
	ndp_sk(sk)->tp = ndp_transport_default(net);
	ndp_sk(sk)->accepts = 0;
	ndp_sock_init(ndp_sk(sk));
	return sk;
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
 * ndp_set_names - set the addresses of a connection
 * @sk:		socket
 * @local:	our address
 * @peer:	the peer's address
 * @dport:	the peer's NDP port
 *
 * Context: lock_sock held, or nobody else sees @sk.
 */
void ndp_set_names(struct sock *sk, const struct in6_addr *local,
		   const struct in6_addr *peer, __be16 dport)
{
	ndp_sk(sk)->saddr = *local;
	ndp_sk(sk)->daddr = *peer;
	ndp_set_local_name(sk, local);
	ndp_set_peer_name(sk, peer, dport);
}

/**
 * ndp_forget_names - forget the peer's address, and ours unless bind() set it
 * @sk:		socket
 *
 * Context: lock_sock held.
 */
void ndp_forget_names(struct sock *sk)
{
	ndp_set_peer_name(sk, &in6addr_any, 0);
	if (ndp_sk(sk)->autobound)
		ndp_unbind(sk);
	/* An accepted connection has used its listener's port: the socket may be bound now. */
	if (!ndp_sk(sk)->bound)
		inet_sk(sk)->inet_num = 0;
	if (!(sk->sk_userlocks & SOCK_BINDADDR_LOCK))
		ndp_set_local_name(sk, &in6addr_any);
}

/**
 * ndp_priority - the priority of the data that a socket receives
 * @np:		socket
 *
 * Context: any.
 * Return: NDP_PRIORITY_MIN to NDP_PRIORITY_MAX.
 */
int ndp_priority(const struct ndp_sock *np)
{
	u32 of_socket = READ_ONCE(np->inet.sk.sk_priority);
	int priority = READ_ONCE(np->priority);

	if (priority != NDP_PRIORITY_AUTO)
		return priority;
	switch (of_socket) {
	/* These have larger numbers than TC_PRIO_BESTEFFORT but lower priority. */
	case TC_PRIO_FILLER:
		return -2;
	case TC_PRIO_BULK:
		return -1;
	}
	return min_t(u32, of_socket, NDP_PRIORITY_MAX);
}

/* Memory limits like TCP's: pressure at a sixteenth of all pages, an eighth at most. */
static void __init ndp_init_mem(void)
{
	unsigned long limit = max(totalram_pages() / 16, 128UL);

	ndp_sysctl_mem[0] = limit / 4 * 3;
	ndp_sysctl_mem[1] = limit;
	ndp_sysctl_mem[2] = limit * 2;
}

int __init ndp_sock_register(void)
{
	int err;

	ndp_init_mem();
	err = percpu_counter_init(&ndp_sockets_allocated, 0, GFP_KERNEL | __GFP_NOWARN);
	if (err)
		return err;
	err = proto_register(&ndp_prot, 1);
	if (err)
		goto err_counter;
	err = proto_register(&ndp6_prot, 1);
	if (err)
		goto err_proto;
	return 0;

err_proto:
	proto_unregister(&ndp_prot);
err_counter:
	percpu_counter_destroy(&ndp_sockets_allocated);
	return err;
}

/* Context: no socket is left. */
void ndp_sock_unregister(void)
{
	proto_unregister(&ndp6_prot);
	proto_unregister(&ndp_prot);
	percpu_counter_destroy(&ndp_sockets_allocated);
}
