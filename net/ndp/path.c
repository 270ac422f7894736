// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP paths (NDP paper, section 3.1.1).
 *
 * A sender permutes its list of paths at random, sends one packet on each in
 * that order, and permutes again: all paths carry the same load, and two
 * senders do not fall into step.  DATA and control go round separately.
 *
 * A path is a UDP source port (entropy for the fabric's ECMP hash), an alias
 * address of the destination, a routing mark, or any of these together.  Each
 * has a route of its own, looked up with exactly the fields that its packets
 * will carry, so that this host's own multipath routes are sprayed over too.
 */
#include <linux/inetdevice.h>
#include <net/ip.h>
#include <net/route.h>
#include "ndp.h"

static __be16 ndp_random_entropy(void)
{
	u32 n = NDP_ENTROPY_MAX - NDP_ENTROPY_MIN + 1;

	return htons(NDP_ENTROPY_MIN + get_random_u32_below(n));
}

/* Context: RCU read side. */
static const struct ndp_path_dst *ndp_path_configured(struct ndp_net *nn,
						      __be32 daddr)
{
	const struct ndp_path_dst *dst;

	list_for_each_entry_rcu(dst, &nn->path_dsts, list)
		if (!((daddr ^ dst->addr) & inet_make_mask(dst->plen)))
			return dst;
	return NULL;
}

/* The alias of a prefix keeps the host's bits. */
static __be32 ndp_path_daddr(const struct ndp_path_dst *dst,
			     const struct ndp_path_spec *spec, __be32 daddr)
{
	if (!spec->via)
		return daddr;
	return spec->via | (daddr & ~inet_make_mask(dst->plen));
}

static struct ndp_paths *ndp_paths_alloc(u16 n)
{
	struct ndp_paths *paths;
	u16 *order;
	u16 i;

	paths = kzalloc(struct_size(paths, path, n) + 2 * n * sizeof(u16),
			GFP_ATOMIC);
	if (!paths)
		return NULL;
	order = (u16 *)&paths->path[n];
	for (i = 0; i < n; i++) {
		order[i] = i;
		order[n + i] = i;
	}
	paths->n = n;
	paths->data.order = order;
	paths->control.order = order + n;
	/* A fresh permutation is drawn at the first use. */
	paths->data.pos = n;
	paths->control.pos = n;
	return paths;
}

/**
 * ndp_paths_init - give a connection its paths
 * @np:		connection, its addresses known
 *
 * Return: 0 or -ENOMEM.
 */
int ndp_paths_init(struct ndp_sock *np)
{
	struct ndp_net *nn = ndp_pernet(sock_net(ndp_to_sk(np)));
	__be32 daddr = np->inet.inet_daddr;
	const struct ndp_path_dst *conf;
	const struct ndp_path_spec *spec;
	struct ndp_paths *paths;
	u16 n, i;

	rcu_read_lock();
	conf = ndp_path_configured(nn, daddr);
	n = conf ? READ_ONCE(conf->n) : READ_ONCE(nn->n_paths);
	paths = ndp_paths_alloc(n);
	if (!paths)
		goto out;
	i = 0;
	if (conf) {
		list_for_each_entry_rcu(spec, &conf->paths, list) {
			if (i == n)
				break;
			paths->path[i].daddr = ndp_path_daddr(conf, spec, daddr);
			paths->path[i].sport = spec->entropy ?:
					       ndp_random_entropy();
			paths->path[i++].mark = spec->mark;
		}
	}
	/* Also fills up what was removed meanwhile. */
	for (; i < n; i++) {
		paths->path[i].daddr = daddr;
		paths->path[i].sport = ndp_random_entropy();
	}
out:
	rcu_read_unlock();
	np->paths = paths;
	return paths ? 0 : -ENOMEM;
}

void ndp_paths_free(struct ndp_sock *np)
{
	u16 i;

	if (!np->paths)
		return;
	for (i = 0; i < np->paths->n; i++)
		dst_release(np->paths->path[i].dst);
	kfree(np->paths);
	np->paths = NULL;
}

/**
 * ndp_path_next - the path to use next
 * @paths:	a connection's paths
 * @round:	its round of DATA or of control
 *
 * Return: index of the path.
 */
u16 ndp_path_next(struct ndp_paths *paths, struct ndp_round *round)
{
	u16 i, j;

	if (round->pos >= paths->n) {
		for (i = paths->n - 1; i > 0; i--) {
			/* Drawn outside: swap() evaluates its arguments twice. */
			j = get_random_u32_below(i + 1);
			swap(round->order[i], round->order[j]);
		}
		round->pos = 0;
	}
	return round->order[round->pos++];
}

/**
 * ndp_path_dst - the route of a path
 * @np:		connection
 * @path:	one of its paths
 *
 * Context: np->lock held, or nobody else sees @np.
 * Return: route, owned by the path, or ERR_PTR.
 */
struct dst_entry *ndp_path_dst(struct ndp_sock *np, struct ndp_path *path)
{
	struct sock *sk = ndp_to_sk(np);
	struct net *net = sock_net(sk);
	struct flowi4 fl4 = {
		.flowi4_oif = sk->sk_bound_dev_if,
		.flowi4_mark = path->mark ?: READ_ONCE(sk->sk_mark),
		.flowi4_proto = IPPROTO_UDP,
		.flowi4_uid = sk->sk_uid,
		.daddr = path->daddr,
		.saddr = np->inet.inet_saddr,
		.fl4_sport = path->sport,
		.fl4_dport = htons(ndp_pernet(net)->udp_port),
	};
	struct rtable *rt;

	if (path->dst && dst_check(path->dst, 0))
		return path->dst;
	dst_release(path->dst);
	path->dst = NULL;
	rt = ip_route_output_flow(net, &fl4, sk);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	path->dst = &rt->dst;
	return path->dst;
}

/* Context: no reader is left. */
void ndp_path_table_flush(struct ndp_net *nn)
{
	struct ndp_path_dst *dst, *next_dst;
	struct ndp_path_spec *spec, *next;

	list_for_each_entry_safe(dst, next_dst, &nn->path_dsts, list) {
		list_for_each_entry_safe(spec, next, &dst->paths, list)
			kfree(spec);
		kfree(dst);
	}
	INIT_LIST_HEAD(&nn->path_dsts);
}

#if IS_ENABLED(CONFIG_KUNIT)
#include "path_kunit.c"
#endif
