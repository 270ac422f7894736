// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP configured paths: for each destination prefix of a namespace, by which aliases,
 * UDP source ports and routing marks its hosts are reached (NDP paper, section 3.1.1).
 *
 * Non-goals: what is known of a path that is used (peer.c, score.c).
 */
#include "path_table.h"

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
 * Return: 0, -ENOMEM, or another error of the hash table.
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
	/* Dumps list the longest prefix first, prefixes of one length in the order of insertion. */
	list_for_each_entry(pos, &nn->path_dsts, list)
		if (pos->prefix.plen < dst->prefix.plen)
			break;
	list_add_tail(&dst->list, &pos->list);
	return 0;
}

/**
 * ndp_path_changed - the paths of a destination have changed
 * @nn:		namespace
 * @dst:	destination, NULL: it was removed
 *
 * Connections keep the paths that they have; new ones get the changed paths (peer.c).
 *
 * Context: path_lock held.
 */
void ndp_path_changed(struct ndp_net *nn, struct ndp_path_dst *dst)
{
	u32 gen = nn->path_gen + 1 ?: 1;

	if (dst) {
		/* Pairs with ndp_peer_configured(): a reader that sees @gen sees the change. */
		smp_store_release(&dst->gen, gen);
	}
	/* Pairs with ndp_peer_make() and ndp_peer_is_stale(). */
	smp_store_release(&nn->path_gen, gen);
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

/**
 * ndp_path_configured - the longest prefix that covers a peer
 * @nn:		namespace
 * @daddr:	peer
 *
 * One table lookup for each prefix length in use, 129 at most however many destinations
 * there are.
 *
 * Context: RCU read side.
 * Return: destination or NULL.
 */
const struct ndp_path_dst *ndp_path_configured(struct ndp_net *nn,
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

/**
 * ndp_path_daddr - the address that selects a path
 * @dst:	destination
 * @spec:	one of its paths
 * @daddr:	peer
 *
 * Return: the peer's address, or an alias; an alias prefix keeps the host bits.
 */
struct in6_addr ndp_path_daddr(const struct ndp_path_dst *dst,
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
