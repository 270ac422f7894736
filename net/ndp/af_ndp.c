// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP: sockets over NDP, a receiver-driven, multipath transport that opens
 * without a handshake.
 *
 *   M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. Moore, G. Antichi,
 *   M. Wojcik: Re-architecting datacenter networks and stacks for low latency
 *   and high performance.  SIGCOMM 2017.
 *
 * This file is the socket family and the module: the calls that create, name, listen on,
 * shut down and close a socket.  connect.c connects one, stream.c and message.c read and
 * write, output.c and input.c are the two sides of the protocol, credit.c and grant.c the
 * two sides of its pulls.
 * Documentation/af_ndp.md is the manual, Documentation/architecture.md describes the
 * layers, include/net/ndp_wire.h is the wire format.
 *
 * Non-goals: out-of-band data and zero-copy sending.
 */
#include <linux/bpf-cgroup.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <net/genetlink.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <uapi/linux/ndp_netlink.h>
#include "call.h"
#include "device.h"
#include "event.h"
#include "path_table.h"
#include "transport.h"

unsigned int ndp_net_id __read_mostly;

int ndp_family = AF_NDP;
module_param_named(family, ndp_family, int, 0444);
MODULE_PARM_DESC(family, "address family number (default 22)");

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

static int ndp_bind(struct socket *sock, COMPAT_SOCKADDR *uaddr, int len)
{
	struct sockaddr_in *addr = (struct sockaddr_in *)uaddr;

	if (sock->sk->sk_family == AF_INET6)
		return inet6_bind(sock, uaddr, len);
	if (len >= (int)sizeof(*addr) && addr->sin_family == ndp_family)
		addr->sin_family = AF_INET;
	return inet_bind(sock, uaddr, len);
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
	ndp_listen_renew(sk);
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

static bool ndp_has_unread(const struct ndp_sock *np)
{
	return !skb_queue_empty(&np->inet.sk.sk_receive_queue) || !skb_queue_empty(&np->early);
}

static void ndp_close_conn(struct sock *sk)
{
	struct ndp_sock *np = ndp_sk(sk);
	bool linger = sock_flag(sk, SOCK_LINGER);
	bool rude;

	spin_lock_bh(&np->lock);
	np->closing = true;
	/* Closing with unread data sends a reset, so that the peer learns of the loss. */
	rude = ndp_has_unread(np) || (linger && !sk->sk_lingertime);
	if (rude)
		ndp_conn_abort(np, 0, true);
	else if (sk->sk_state != TCP_CLOSE && !ndp_ack_ends(np))
		ndp_shutdown_send(np);
	spin_unlock_bh(&np->lock);

	if (!rude && linger && !(current->flags & PF_EXITING))
		ndp_linger(sk);

	spin_lock_bh(&np->lock);
	sock_orphan(sk);
	if (sk->sk_state == TCP_CLOSE)
		ndp_conn_purge(np);
	else if (ndp_has_unread(np))
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

/* SO_RCVLOWAT: what is queued may be enough for a reader that waits. */
static int ndp_set_rcvlowat(struct sock *sk, int val)
{
	WRITE_ONCE(sk->sk_rcvlowat, val ?: 1);
	if (ndp_readable(ndp_sk(sk)))
		sk->sk_data_ready(sk);
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
	.set_rcvlowat = ndp_set_rcvlowat,				\
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
	nn->listen_seed = get_random_u32();
	ndp_transport_net_init(nn);
	ndp_tomb_net_init(nn);
	ndp_cookie_net_init(nn);
	ndp_verify_net_init(nn);
	ndp_event_net_init(net);
	err = ndp_path_table_init(nn);
	if (err)
		return err;
	err = ndp_peer_net_init(nn);
	if (err)
		goto err_paths;
	err = ndp_stat_net_init(net);
	if (err)
		goto err_peers;
	err = ndp_sysctl_net_init(net);
	if (err)
		goto err_stat;
	return 0;

err_stat:
	ndp_stat_net_exit(net);
err_peers:
	ndp_peer_net_exit(nn);
err_paths:
	ndp_path_table_exit(nn);
	return err;
}

/*
 * No AF_NDP socket is left, because each holds the namespace.  The UDP sockets are
 * released first.  After that no packet finds them any more, but a packet that found
 * one before may still be in ndp_rcv(): the grace period between pre_exit and exit
 * waits for such packets.
 */
static void __net_exit ndp_net_pre_exit(struct net *net)
{
	ndp_udp_net_exit(ndp_pernet(net));
	ndp_peer_net_pre_exit(ndp_pernet(net));
}

/* Context: no packet is being received. */
static void __net_exit ndp_net_exit(struct net *net)
{
	struct ndp_net *nn = ndp_pernet(net);

	/* A process that has a sysctl file open may write to it until this returns. */
	ndp_sysctl_net_exit(net);
	ndp_tomb_net_exit(nn);
	ndp_transport_net_exit(nn);
	ndp_peer_net_exit(nn);
	ndp_path_table_exit(nn);
	ndp_verify_net_exit(nn);
	ndp_event_net_exit(nn);
	ndp_stat_net_exit(net);
}

static struct pernet_operations ndp_net_ops = {
	.init = ndp_net_init,
	.pre_exit = ndp_net_pre_exit,
	.exit = ndp_net_exit,
	.id = &ndp_net_id,
	.size = sizeof(struct ndp_net),
};

static int __init ndp_init(void)
{
	int err;

	if (ndp_family <= 0 || ndp_family >= AF_MAX) {
		pr_err("family must be 1 to %d\n", AF_MAX - 1);
		return -EINVAL;
	}
	ndp_proto_family.family = ndp_family;
	err = ndp_table_init();
	if (err)
		return err;
	err = ndp_transport_init();
	if (err)
		goto err_table;
	err = register_pernet_subsys(&ndp_net_ops);
	if (err)
		goto err_transport;
	err = ndp_device_init();
	if (err)
		goto err_net;
	err = ndp_pull_init();
	if (err)
		goto err_device;
	err = ndp_repair_init();
	if (err)
		goto err_pull;
	err = ndp_netlink_init();
	if (err)
		goto err_repair;
	err = ndp_sock_register();
	if (err)
		goto err_netlink;
	err = sock_register(&ndp_proto_family);
	if (err)
		goto err_sock;
	ndp_diag_init();
	return 0;

err_sock:
	ndp_sock_unregister();
err_netlink:
	ndp_netlink_exit();
err_repair:
	ndp_repair_exit();
err_pull:
	ndp_pull_exit();
err_device:
	ndp_device_exit();
err_net:
	unregister_pernet_subsys(&ndp_net_ops);
err_transport:
	ndp_transport_exit();
err_table:
	ndp_table_exit();
	return err;
}

/*
 * Every socket holds the module, so none is left.  rcu_barrier() waits for the
 * RCU callbacks that free the last sockets and tombstones.
 */
static void __exit ndp_exit(void)
{
	sock_unregister(ndp_family);
	ndp_diag_exit();
	ndp_netlink_exit();
	ndp_repair_exit();
	unregister_pernet_subsys(&ndp_net_ops);
	ndp_pull_exit();
	ndp_device_exit();
	rcu_barrier();
	ndp_sock_unregister();
	ndp_transport_exit();
	ndp_table_exit();
}

module_init(ndp_init);
module_exit(ndp_exit);

MODULE_DESCRIPTION("AF_NDP: receiver-driven, multipath, zero-RTT transport");
MODULE_LICENSE("GPL");
MODULE_VERSION(PACKAGE_VERSION);
MODULE_ALIAS_NETPROTO(PF_NDP);
MODULE_ALIAS_GENL_FAMILY(NDP_GENL_NAME);
