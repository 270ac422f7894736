// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP demultiplexing: the table of connections and tombstones.
 *
 * One table for all namespaces holds connections and the tombstones that they
 * leave, under the same key, so that the swap of one for the other is a single
 * step: there is no instant at which a duplicate of an opening packet finds
 * neither (NDP paper, section 3.2.2: at most once).
 *
 * Non-goals: when entries are added and removed (conn.c, timewait.c).
 */
#include <linux/jhash.h>
#include <net/netns/hash.h>
#include <compat/rhashtable.h>
#include "sock.h"

static struct rhashtable ndp_table;

/*
 * All fields that a remote host may choose are hashed, with a seed that it does not know: a field
 * left out, or joined by XOR, would let an attacker put all of its connections into one chain.
 * The connection id of an initiator's entry is chosen by this kernel, at random.
 */
static u32 ndp_key_hash(const void *data, u32 len, u32 seed)
{
	const struct ndp_key *key = data;
	u64 id = be64_to_cpu(key->conn_id);
	u32 words[] = {
		(__force u32)key->initiator.s6_addr32[3], lower_32_bits(id), upper_32_bits(id),
		be16_to_cpu(key->iport) << 16 | be16_to_cpu(key->aport),
	};

	seed ^= net_hash_mix(key->net);
	if (key->acceptor && !ndp_is_ip4(&key->initiator))
		seed = jhash2((const u32 *)&key->initiator, 3, seed);
	return jhash2(words, ARRAY_SIZE(words), seed);
}

/* Compare the five 64-bit words of a key inline, where memcmp() would be called. */
static int ndp_key_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const u64 *a = arg->key, *b = (const u64 *)&((const struct ndp_entry *)obj)->key;

	BUILD_BUG_ON(sizeof(struct ndp_key) != 5 * sizeof(u64));
	return !!((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) | (a[4] ^ b[4]));
}

static const struct rhashtable_params ndp_table_params = {
	.head_offset = offsetof(struct ndp_entry, node),
	.key_offset = offsetof(struct ndp_entry, key),
	.key_len = sizeof(struct ndp_key),
	.hashfn = ndp_key_hash,
	.obj_cmpfn = ndp_key_cmp,
	/* 32 KB, so that a few thousand short connections do not make the table grow. */
	.min_size = 4096,
	.automatic_shrinking = true,
};

int __init ndp_table_init(void)
{
	return rhashtable_init(&ndp_table, &ndp_table_params);
}

void ndp_table_exit(void)
{
	rhashtable_destroy(&ndp_table);
}

/**
 * ndp_entry_lookup - the connection or tombstone that a packet belongs to
 * @key:	all fields set
 *
 * Context: RCU read side.
 * Return: entry or NULL; it may be unlinked at any moment.
 */
struct ndp_entry *ndp_entry_lookup(const struct ndp_key *key)
{
	return rhashtable_lookup(&ndp_table, key, ndp_table_params);
}

/**
 * ndp_conn_get - take a reference to the connection of an entry
 * @e:		entry that is no tombstone
 *
 * Context: RCU read side.
 * Return: connection with a reference, or NULL.
 */
struct ndp_sock *ndp_conn_get(struct ndp_entry *e)
{
	struct ndp_sock *np = container_of(e, struct ndp_sock, entry);

	if (!refcount_inc_not_zero(&ndp_to_sk(np)->sk_refcnt))
		return NULL;
	return np;
}

/**
 * ndp_conn_hash - make a connection reachable
 * @np:		connection; its key must be set
 * @existing:	set to the entry that is there already, with -EEXIST
 *
 * As soon as it is inserted, a packet on another CPU may find the connection, and end it:
 * whatever ndp_conn_unhash() undoes must be done before.
 *
 * Context: RCU read side.  Any locks may be held.
 * Return: 0, -EEXIST, or an error of the table (-ENOMEM, -E2BIG, -EBUSY).
 */
int ndp_conn_hash(struct ndp_sock *np, struct ndp_entry **existing)
{
	struct ndp_entry *old;

	np->hashed = true;
	sock_hold(ndp_to_sk(np));
	old = rhashtable_lookup_get_insert_fast(&ndp_table, &np->entry.node,
						ndp_table_params);
	if (!old)
		return 0;
	np->hashed = false;
	__sock_put(ndp_to_sk(np));
	if (IS_ERR(old))
		return PTR_ERR(old);
	if (existing)
		*existing = old;
	return -EEXIST;
}

/**
 * ndp_entry_replace - put a tombstone in the place of its connection
 * @e:		connection's entry, in the table
 * @tomb:	tombstone's entry, with the same key
 *
 * Context: any.
 */
void ndp_entry_replace(struct ndp_entry *e, struct ndp_entry *tomb)
{
	rcu_read_lock();
	WARN_ON_ONCE(rhashtable_replace_fast(&ndp_table, &e->node, &tomb->node,
					     ndp_table_params));
	rcu_read_unlock();
}

/* Unlink an entry whose memory its owner frees after a grace period. */
void ndp_entry_remove(struct ndp_entry *e)
{
	rhashtable_remove_fast(&ndp_table, &e->node, ndp_table_params);
}

/* Entries visited in one RCU read-side section. */
#define NDP_TABLE_BATCH		256

/**
 * ndp_table_walk_enter - begin to visit all entries; rhashtable_walk_exit() ends it
 * @walk:	state of the walk
 *
 * Context: process.
 */
void ndp_table_walk_enter(struct rhashtable_iter *walk)
{
	rhashtable_walk_enter(&ndp_table, walk);
}

/**
 * ndp_table_walk - visit the entries of all namespaces, from the walk's current position
 * @walk:	state of the walk, which may be continued at any time later
 * @visit:	called in an RCU read-side section; nonzero stops the walk for now, and the next
 *		call begins with the same entry
 * @arg:	second argument of @visit
 *
 * The walk begins anew when the table is resized, and may skip an entry when one is removed.
 *
 * Context: process.
 */
void ndp_table_walk(struct rhashtable_iter *walk, int (*visit)(struct ndp_entry *e, void *arg),
		    void *arg)
{
	struct ndp_entry *e;
	u32 n = 0;

	compat_rhashtable_walk_start(walk);
	for (e = rhashtable_walk_peek(walk); e; e = rhashtable_walk_next(walk)) {
		if (!IS_ERR(e) && visit(e, arg))
			break;
		if (++n % NDP_TABLE_BATCH)
			continue;
		rhashtable_walk_stop(walk);
		cond_resched();
		compat_rhashtable_walk_start(walk);
	}
	rhashtable_walk_stop(walk);
}
