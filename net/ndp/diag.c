// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP socket monitoring by sock_diag, like inet_diag for TCP.
 *
 * A dump visits the listeners of the namespace and then all connections, which are in one table
 * for all namespaces, and shows those of the requester's.  The dump stops when a message is full,
 * and continues there with the next one.  Sockets that appear or end meanwhile may be in it or not.
 *
 * Knowing the id of a connection is enough to forge its packets (security.md), so only
 * administrators of the namespace see the id.
 *
 * Non-goals: bound sockets that neither listen nor are connected; events; ending a socket.
 */
#include <linux/sock_diag.h>
#include "call.h"

/* A dump and its progress; cb->args[0] points to it. */
struct ndp_diag_dump {
	struct rhashtable_iter	walk;
	struct netlink_callback	*cb;
	struct sk_buff		*skb;
	u32			states;
	bool			admin;
	u32			bucket;		/* of listeners; after the last one: connections */
	u32			passed;		/* listeners of that bucket that were visited */
};

/* Store an address; one of IPv4 takes the first four bytes. */
static void ndp_diag_address(u8 to[16], const struct in6_addr *addr)
{
	__be32 ip4 = ndp_ip4(addr);

	memset(to, 0, 16);
	if (ndp_is_ip4(addr))
		memcpy(to, &ip4, sizeof(ip4));
	else
		memcpy(to, addr, sizeof(*addr));
}

static void ndp_diag_describe(struct ndp_diag_msg *m, struct sock *sk, const struct ndp_info *info,
			      struct user_namespace *viewer)
{
	bool listens = info->state == NDP_ST_LISTEN;
	struct ndp_sock *np = ndp_sk(sk);
	struct in6_addr src = listens ? ndp_bound_addr(sk) : np->saddr;
	struct ndp_queued queued;

	memset(m, 0, sizeof(*m));
	m->family = sk->sk_family;
	/* An IPv6 socket may have an IPv4 peer, or listen for IPv4 only. */
	if (ndp_is_ip4(listens ? &src : &np->daddr))
		m->family = AF_INET;
	m->state = info->state;
	m->type = sk->sk_type;
	m->sport = inet_sk(sk)->inet_sport;
	m->ifindex = READ_ONCE(sk->sk_bound_dev_if);
	m->uid = from_kuid_munged(viewer, sk->sk_uid);
	m->inode = sock_i_ino(sk);
	sock_diag_save_cookie(sk, m->cookie);
	ndp_diag_address(m->src, &src);
	if (listens) {
		m->rqueue = READ_ONCE(sk->sk_ack_backlog);
		m->wqueue = READ_ONCE(sk->sk_max_ack_backlog);
		return;
	}
	m->dport = inet_sk(sk)->inet_dport;
	ndp_diag_address(m->dst, &np->daddr);
	queued = ndp_queued(np);
	m->rqueue = queued.in;
	m->wqueue = queued.out;
}

/* Context: RCU read side, a reference to @sk.  Return: 0 or -EMSGSIZE. */
static int ndp_diag_fill(struct ndp_diag_dump *d, struct sock *sk, struct ndp_info *info)
{
	struct user_namespace *viewer = sk_user_ns(NETLINK_CB(d->cb->skb).sk);
	u32 mark = READ_ONCE(sk->sk_mark);
	struct ndp_diag_msg *m;
	struct nlmsghdr *nlh;

	nlh = nlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid, d->cb->nlh->nlmsg_seq,
			SOCK_DIAG_BY_FAMILY, sizeof(*m), NLM_F_MULTI);
	if (!nlh)
		return -EMSGSIZE;
	m = nlmsg_data(nlh);
	ndp_diag_describe(m, sk, info, viewer);
	if (!d->admin)
		info->conn_id = 0;
	if (nla_put(d->skb, NDP_DIAG_INFO, sizeof(*info), info) ||
	    sock_diag_put_meminfo(sk, d->skb, NDP_DIAG_MEMINFO) ||
	    (d->admin && mark && nla_put_u32(d->skb, NDP_DIAG_MARK, mark))) {
		nlmsg_cancel(d->skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(d->skb, nlh);
	return 0;
}

static bool ndp_diag_wants(const struct ndp_diag_dump *d, const struct ndp_sock *np)
{
	return d->states & BIT(ndp_info_state(np));
}

/* Show a socket if it is in a requested state.  Context: RCU read side. */
static int ndp_diag_show(struct ndp_diag_dump *d, struct ndp_sock *np)
{
	struct sock *sk = ndp_to_sk(np);
	struct ndp_info info;
	int err = 0;

	if (!refcount_inc_not_zero(&sk->sk_refcnt))
		return 0;
	ndp_fill_info(np, &info);
	if (d->states & BIT(info.state))
		err = ndp_diag_fill(d, sk, &info);
	sock_put(sk);
	return err;
}

/* Context: RCU read side.  Return: 0 or -EMSGSIZE. */
static int ndp_diag_listeners(struct ndp_diag_dump *d, struct ndp_net *nn)
{
	struct ndp_sock *np;
	u32 i = 0;
	int err;

	hlist_for_each_entry_rcu(np, &nn->listen[d->bucket], listen_node) {
		if (i++ < d->passed)
			continue;
		err = ndp_diag_show(d, np);
		if (err)
			return err;
		d->passed = i;
	}
	return 0;
}

static int ndp_diag_entry(struct ndp_entry *e, void *arg)
{
	struct ndp_diag_dump *d = arg;
	struct ndp_sock *np;

	if (e->tombstone || e->key.net != sock_net(d->cb->skb->sk))
		return 0;
	np = container_of(e, struct ndp_sock, entry);
	return ndp_diag_wants(d, np) ? ndp_diag_show(d, np) : 0;
}

static int ndp_diag_start(struct netlink_callback *cb)
{
	const struct ndp_diag_req *req = nlmsg_data(cb->nlh);
	struct ndp_diag_dump *d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);

	if (!d)
		return -ENOMEM;
	d->cb = cb;
	d->states = req->states ?: U32_MAX;
	d->admin = netlink_net_capable(cb->skb, CAP_NET_ADMIN);
	ndp_table_walk_enter(&d->walk);
	cb->args[0] = (long)d;
	return 0;
}

static int ndp_diag_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct ndp_diag_dump *d = (struct ndp_diag_dump *)cb->args[0];
	struct ndp_net *nn = ndp_pernet(sock_net(skb->sk));
	int err = 0;

	d->skb = skb;
	while (d->states & BIT(NDP_ST_LISTEN) && d->bucket < NDP_BIND_BUCKETS) {
		rcu_read_lock();
		err = ndp_diag_listeners(d, nn);
		rcu_read_unlock();
		if (err)
			return skb->len;
		d->bucket++;
		d->passed = 0;
		cond_resched();
	}
	if (d->states & ~BIT(NDP_ST_LISTEN))
		ndp_table_walk(&d->walk, ndp_diag_entry, d);
	return skb->len;
}

static int ndp_diag_done(struct netlink_callback *cb)
{
	struct ndp_diag_dump *d = (struct ndp_diag_dump *)cb->args[0];

	rhashtable_walk_exit(&d->walk);
	kfree(d);
	return 0;
}

static int ndp_diag_request(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	static const u8 none[sizeof_field(struct ndp_diag_req, pad)];
	struct netlink_dump_control control = {
		.start = ndp_diag_start,
		.dump = ndp_diag_dump,
		.done = ndp_diag_done,
		.module = THIS_MODULE,
	};
	const struct ndp_diag_req *req = nlmsg_data(nlh);

	if (nlmsg_len(nlh) < sizeof(*req) || memcmp(req->pad, none, sizeof(none)))
		return -EINVAL;
	if (!(nlh->nlmsg_flags & NLM_F_DUMP))
		return -EOPNOTSUPP;
	return netlink_dump_start(sock_net(skb->sk)->diag_nlsk, skb, nlh, &control);
}

static struct sock_diag_handler ndp_diag_handler = {
	COMPAT_SOCK_DIAG_OWNER
	.dump = ndp_diag_request,
};

static bool ndp_diag_registered;

/*
 * No step of the module's init after this may fail: a dump that was begun would outlive the
 * module.  A failure of this step itself is only logged; sockets work without being shown.
 */
void __init ndp_diag_init(void)
{
	ndp_diag_handler.family = ndp_family;
	ndp_diag_registered = !sock_diag_register(&ndp_diag_handler);
	if (!ndp_diag_registered)
		pr_warn("sockets cannot be shown: family %d of sock_diag is taken\n", ndp_family);
}

void ndp_diag_exit(void)
{
	if (ndp_diag_registered)
		sock_diag_unregister(&ndp_diag_handler);
}
