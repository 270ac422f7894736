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
 *
 * Scoreboard (section 3.2.3).  For each path the outcomes of late are counted:
 * acknowledged, trimmed, lost.  In a fabric that is whole they have the same shares
 * on all paths; a path is an outlier when what was trimmed, or lost, on it exceeds
 * what the share on the other paths lets expect by three standard deviations of
 * that (a binomial count), and by one packet of those trimmed.  So an incast, which
 * trims on all paths alike, leaves none out, and where nothing is ever lost one loss is
 * enough.  An outlier is left out of the permutation for a few round trips, then one
 * packet goes along it: if that is trimmed or lost it is out for twice as long.
 * Counts are halved when there are many, so that they are of late.  If all are left
 * out, the one that is to come back first is used.
 *
 * Answers are scored too: a packet that comes again though it was answered tells
 * that the answer was lost, and by which path it went.
 *
 * Memory: 48 bytes a path, and 512 a connection.
 */
#include <net/dst.h>
#include "sock.h"

static __be16 ndp_random_entropy(void)
{
	u32 n = NDP_ENTROPY_MAX - NDP_ENTROPY_MIN + 1;

	return htons(NDP_ENTROPY_MIN + get_random_u32_below(n));
}

/* The configured destinations. */

static const struct rhashtable_params ndp_path_table_params = {
	.head_offset = offsetof(struct ndp_path_dst, node),
	.key_offset = offsetof(struct ndp_path_dst, prefix),
	.key_len = sizeof(struct ndp_path_prefix),
	.automatic_shrinking = true,
};

int ndp_path_table_init(struct ndp_net *nn)
{
	mutex_init(&nn->path_lock);
	INIT_LIST_HEAD(&nn->path_dsts);
	return rhashtable_init(&nn->path_table, &ndp_path_table_params);
}

/**
 * ndp_path_table_find - the destination of exactly this prefix
 * @nn:		namespace
 * @prefix:	prefix
 *
 * Context: RCU read side, or path_lock held.
 * Return: destination or NULL.
 */
struct ndp_path_dst *ndp_path_table_find(struct ndp_net *nn,
					 const struct ndp_path_prefix *prefix)
{
	return rhashtable_lookup_fast(&nn->path_table, prefix,
				      ndp_path_table_params);
}

/**
 * ndp_path_table_add - add a destination
 * @nn:		namespace
 * @dst:	destination, of a prefix that has none
 *
 * Context: path_lock held.
 * Return: 0, -ENOMEM, or what else keeps the table from growing.
 */
int ndp_path_table_add(struct ndp_net *nn, struct ndp_path_dst *dst)
{
	struct ndp_path_dst *pos;
	int err;

	err = rhashtable_insert_fast(&nn->path_table, &dst->node,
				     ndp_path_table_params);
	if (err)
		return err;
	nn->n_path_dsts++;
	WRITE_ONCE(nn->path_plens[dst->prefix.plen],
		   nn->path_plens[dst->prefix.plen] + 1);
	/* Shown the longest prefix first, those of one length as they came. */
	list_for_each_entry(pos, &nn->path_dsts, list)
		if (pos->prefix.plen < dst->prefix.plen)
			break;
	list_add_tail(&dst->list, &pos->list);
	return 0;
}

/**
 * ndp_path_table_del - remove a destination
 * @nn:		namespace
 * @dst:	destination without paths, freed after a grace period
 *
 * Context: path_lock held.
 */
void ndp_path_table_del(struct ndp_net *nn, struct ndp_path_dst *dst)
{
	rhashtable_remove_fast(&nn->path_table, &dst->node, ndp_path_table_params);
	nn->n_path_dsts--;
	WRITE_ONCE(nn->path_plens[dst->prefix.plen],
		   nn->path_plens[dst->prefix.plen] - 1);
	list_del(&dst->list);
	kfree_rcu(dst, rcu);
}

/*
 * The longest prefix that covers a peer: one look into the table for each length
 * that there is, 129 at most however many destinations.
 *
 * Context: RCU read side.
 */
static const struct ndp_path_dst *ndp_path_configured(struct ndp_net *nn,
						      const struct in6_addr *daddr)
{
	int plen, least = ndp_is_ip4(daddr) ? NDP_PLEN_IP4 : 0;
	const struct ndp_path_dst *dst;
	struct ndp_path_prefix prefix;

	for (plen = 128; plen >= least; plen--) {
		if (!READ_ONCE(nn->path_plens[plen]))
			continue;
		ipv6_addr_prefix(&prefix.addr, daddr, plen);
		prefix.plen = plen;
		dst = ndp_path_table_find(nn, &prefix);
		if (dst)
			return dst;
	}
	return NULL;
}

/* The alias of a prefix keeps the host's bits. */
static struct in6_addr ndp_path_daddr(const struct ndp_path_dst *dst,
				      const struct ndp_path_spec *spec,
				      const struct in6_addr *daddr)
{
	struct in6_addr prefix, addr = *daddr;
	int i;

	if (ipv6_addr_any(&spec->via))
		return addr;
	ipv6_addr_prefix(&prefix, daddr, dst->prefix.plen);
	for (i = 0; i < ARRAY_SIZE(addr.s6_addr32); i++)
		addr.s6_addr32[i] ^= prefix.s6_addr32[i] ^ spec->via.s6_addr32[i];
	return addr;
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
	paths->data.len = n;
	paths->data.pos = n;
	paths->control.len = n;
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
	const struct in6_addr *daddr = &np->peer;
	const struct ndp_path_dst *conf;
	const struct ndp_path_spec *spec;
	struct ndp_paths *paths;
	u16 n, i;

	rcu_read_lock();
	conf = ndp_path_configured(nn, daddr);
	n = conf ? READ_ONCE(conf->n) : 0;
	/* Also while its first path is being added, or its last removed. */
	if (!n) {
		conf = NULL;
		n = READ_ONCE(nn->n_paths);
	}
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
	/* Random paths also fill places of paths that were removed meanwhile. */
	for (; i < n; i++) {
		paths->path[i].daddr = *daddr;
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

/* The scoreboard. */

/* Standard deviations beyond which a path is an outlier. */
#define NDP_OUTLIER_SIGMA	3

/* Packets per path after which the counts of a round are halved. */
#define NDP_SCORE_WINDOW	64

/* How long an outlier is left out: round trips, doublings, and bounds in time. */
#define NDP_OUT_RTTS		8
#define NDP_OUT_DOUBLINGS	10
#define NDP_OUT_MIN		(NDP_MSEC / 2)
#define NDP_OUT_MAX		(1000 * NDP_MSEC)

static struct ndp_score *ndp_path_score(struct ndp_paths *paths,
					const struct ndp_round *round, u16 i)
{
	return round == &paths->data ? &paths->path[i].data :
				       &paths->path[i].control;
}

/*
 * Are @bad of a path's @all too many, when the others have @others_bad of @others?
 * With p the others' share: bad - slack > all p + 3 sqrt(all p (1 - p)), squared and
 * multiplied by others^2.  All counts are below 2^15.
 */
static bool ndp_outlier(u32 bad, u32 all, u32 others_bad, u32 others, u32 slack)
{
	s64 excess = (s64)bad * others - (s64)all * others_bad -
		     (s64)slack * others;
	u64 variance = (u64)all * others_bad * (others - others_bad);

	if (!others)
		return false;
	return excess > 0 && (u64)(excess * excess) >
			     NDP_OUTLIER_SIGMA * NDP_OUTLIER_SIGMA * variance;
}

static void ndp_round_decay(struct ndp_paths *paths, struct ndp_round *round)
{
	struct ndp_score *s;
	u16 i;

	if (round->good + round->trimmed + round->lost <
	    (u32)NDP_SCORE_WINDOW * paths->n)
		return;
	round->good = 0;
	round->trimmed = 0;
	round->lost = 0;
	for (i = 0; i < paths->n; i++) {
		s = ndp_path_score(paths, round, i);
		s->good /= 2;
		s->trimmed /= 2;
		s->lost /= 2;
		s->level -= !!s->level;
		round->good += s->good;
		round->trimmed += s->trimmed;
		round->lost += s->lost;
	}
}

/* Leave a path out of the permutation for a while and clear its counts. */
static void ndp_path_leave_out(struct ndp_round *round, struct ndp_score *s,
			       u64 base_ns)
{
	u64 out = max(base_ns, NDP_OUT_MIN) << min_t(u8, s->level, NDP_OUT_DOUBLINGS);

	s->out_ns = min(out, NDP_OUT_MAX);
	s->until = ktime_get_ns() + s->out_ns;
	s->level = min(s->level + 1, NDP_OUT_DOUBLINGS);
	s->state = NDP_PATH_OUT;
	round->good -= s->good;
	round->trimmed -= s->trimmed;
	round->lost -= s->lost;
	s->good = 0;
	s->trimmed = 0;
	s->lost = 0;
	round->left_out = true;
	round->pos = round->len;
}

/*
 * Bad news of a path: does it go?  Of one that is left out it is old news.  One that was
 * probed goes at once, unless most fare no better.
 */
static void ndp_path_bad(struct ndp_sock *np, struct ndp_round *round,
			 struct ndp_score *s, bool lost)
{
	u32 all, others, bad, others_bad;
	bool again;

	if (s->state == NDP_PATH_OUT)
		return;
	s->trimmed += !lost;
	s->lost += lost;
	round->trimmed += !lost;
	round->lost += lost;
	all = s->good + s->trimmed + s->lost;
	others = round->good + round->trimmed + round->lost - all;
	bad = lost ? s->lost : s->trimmed;
	others_bad = (lost ? round->lost : round->trimmed) - bad;
	again = s->state == NDP_PATH_PROBED && 2 * others_bad < others;

	if (np->paths->n > 1 &&
	    (again || ndp_outlier(bad, all, others_bad, others, !lost)))
		ndp_path_leave_out(round, s,
				   max(NDP_OUT_RTTS * np->srtt_ns,
				       lost ? np->rto_ns : 0));
	ndp_round_decay(np->paths, round);
}

/**
 * ndp_path_good - DATA has arrived whole
 * @paths:	a connection's paths
 * @i:		path that it took
 *
 * Context of this and those below: np->lock held.
 */
void ndp_path_good(struct ndp_paths *paths, u16 i)
{
	struct ndp_score *s = &paths->path[i].data;

	paths->path[i].acks++;
	s->good++;
	paths->data.good++;
	/* The path is back in use from the next round on. */
	if (s->state == NDP_PATH_PROBED)
		s->state = NDP_PATH_USED;
	ndp_round_decay(paths, &paths->data);
}

/**
 * ndp_path_trimmed - DATA was trimmed, or its header returned
 * @np:		connection
 * @i:		path that it took
 */
void ndp_path_trimmed(struct ndp_sock *np, u16 i)
{
	struct ndp_path *path = &np->paths->path[i];

	path->nacks++;
	ndp_path_bad(np, &np->paths->data, &path->data, false);
}

/**
 * ndp_path_lost - DATA was not answered in time
 * @np:		connection
 * @i:		path that it took
 */
void ndp_path_lost(struct ndp_sock *np, u16 i)
{
	struct ndp_path *path = &np->paths->path[i];

	path->losses++;
	ndp_path_bad(np, &np->paths->data, &path->data, true);
}

/**
 * ndp_path_answered - a packet was answered
 * @paths:	a connection's paths
 * @psn:	packet
 * @i:		path that the answer takes
 */
void ndp_path_answered(struct ndp_paths *paths, u32 psn, u16 i)
{
	struct ndp_answered *a = &paths->answered[psn % NDP_ANSWERED];

	a->psn = psn;
	a->path = i;
	paths->path[i].control.good++;
	paths->control.good++;
	ndp_round_decay(paths, &paths->control);
}

/**
 * ndp_path_answer_lost - a packet has come again that was answered
 * @np:		connection
 * @psn:	packet
 */
void ndp_path_answer_lost(struct ndp_sock *np, u32 psn)
{
	const struct ndp_answered *a = &np->paths->answered[psn % NDP_ANSWERED];
	struct ndp_round *round = &np->paths->control;
	struct ndp_score *s = &np->paths->path[a->path].control;

	if (a->psn != psn || s->state == NDP_PATH_OUT || !s->good)
		return;
	s->good--;
	round->good--;
	ndp_path_bad(np, round, s, true);
}

/* Is a path in the next round?  One whose time out is over is probed with one packet. */
static bool ndp_path_in_round(struct ndp_score *s, u64 now)
{
	if (s->state == NDP_PATH_USED)
		return true;
	if (s->until > now)
		return false;
	/* The probe was not reported lost or trimmed: use the path again. */
	if (s->state == NDP_PATH_PROBED) {
		s->state = NDP_PATH_USED;
		return true;
	}
	s->state = NDP_PATH_PROBED;
	s->until = now + s->out_ns;
	return true;
}

/* Sort the paths in use to the front of the order; their number is the round's length. */
static void ndp_round_choose(struct ndp_paths *paths, struct ndp_round *round)
{
	u64 now = ktime_get_ns(), first = U64_MAX;
	u16 i, len = 0, best = 0;
	struct ndp_score *s;

	round->left_out = false;
	for (i = 0; i < paths->n; i++) {
		s = ndp_path_score(paths, round, round->order[i]);
		if (ndp_path_in_round(s, now)) {
			round->left_out |= s->state != NDP_PATH_USED;
			swap(round->order[i], round->order[len]);
			len++;
			continue;
		}
		round->left_out = true;
		if (s->until < first) {
			first = s->until;
			best = i;
		}
	}
	if (!len) {
		swap(round->order[best], round->order[0]);
		len = 1;
	}
	round->len = len;
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

	if (round->pos >= round->len) {
		for (i = paths->n - 1; i > 0; i--) {
			/*
			 * swap() evaluates its arguments twice, so draw the random number
			 * before.
			 */
			j = get_random_u32_below(i + 1);
			swap(round->order[i], round->order[j]);
		}
		if (round->left_out)
			ndp_round_choose(paths, round);
		else
			round->len = paths->n;
		round->pos = 0;
	}
	return round->order[round->pos++];
}

/**
 * ndp_path_flow - what packets say that go along a path
 * @np:		connection
 * @path:	one of its paths
 *
 * Return: flow.
 */
struct ndp_flow ndp_path_flow(const struct ndp_sock *np,
			      const struct ndp_path *path)
{
	const struct sock *sk = &np->inet.sk;

	return (struct ndp_flow) {
		.saddr = np->local,
		.daddr = path->daddr,
		.sport = path->sport,
		.mark = path->mark ?: READ_ONCE(sk->sk_mark),
		.oif = sk->sk_bound_dev_if,
	};
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
	struct dst_entry *dst;
	struct ndp_flow flow;

	if (path->dst && dst_check(path->dst, path->cookie))
		return path->dst;
	dst_release(path->dst);
	path->dst = NULL;
	flow = ndp_path_flow(np, path);
	dst = ndp_ip_route(sock_net(sk), sk, &flow);
	if (IS_ERR(dst))
		return dst;
	path->cookie = ndp_ip_cookie(dst);
	path->dst = dst;
	return dst;
}

/* Context: no reader is left. */
void ndp_path_table_exit(struct ndp_net *nn)
{
	struct ndp_path_dst *dst, *next_dst;
	struct ndp_path_spec *spec, *next;

	list_for_each_entry_safe(dst, next_dst, &nn->path_dsts, list) {
		list_for_each_entry_safe(spec, next, &dst->paths, list)
			kfree(spec);
		kfree(dst);
	}
	rhashtable_destroy(&nn->path_table);
}
