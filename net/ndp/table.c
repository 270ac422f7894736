// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP demultiplexing: the table of connections and tombstones.
 *
 * One table for all namespaces holds connections and the tombstones that they
 * leave, under the same key, so that the swap of one for the other is a single
 * step: there is no instant at which a duplicate of an opening packet finds
 * neither (NDP paper, section 3.2.2: at most once).
 *
 * Non-goals: when an entry comes and goes (conn.c, timewait.c).
 */
#include <linux/jhash.h>
#include <net/netns/hash.h>
#include <compat/rhashtable.h>
#include "sock.h"

static struct rhashtable ndp_table;

/*
 * All that a stranger may choose is hashed, with the seed that he does not know: what was left
 * out, or joined by XOR, would let him have one chain for all of his connections.  An
 * initiator's id is its kernel's, drawn at random.
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

/* As memcmp(), which is called, by the five words of 64 bits that a key is. */
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
	/* 32 KB: not grown, entry by entry, for a few thousand short connections. */
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
 * ndp_conn_get - hold the connection that an entry is
 * @e:		entry, no tombstone
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
 * From the insertion on a packet on another processor may find the connection,
 * and end it: whatever ndp_conn_unhash() undoes is done before.
 *
 * Context: RCU read side.  Any lock.
 * Return: 0, -EEXIST, or what the table cannot do (-ENOMEM, -E2BIG, -EBUSY).
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
 * @tomb:	tombstone's, with the same key
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

/* Entries visited with the RCU read side held on to. */
#define NDP_TABLE_BATCH		256

/**
 * ndp_table_walk_enter - begin to visit all entries; rhashtable_walk_exit() ends it
 * @walk:	where the walk is
 *
 * Context: process.
 */
void ndp_table_walk_enter(struct rhashtable_iter *walk)
{
	rhashtable_walk_enter(&ndp_table, walk);
}

/**
 * ndp_table_walk - visit the entries of all namespaces, from where the walk is
 * @walk:	may be gone on with at any time later
 * @visit:	called with RCU read side; nonzero ends it for now, and the next call
 *		begins with the same entry
 * @arg:	its second argument
 *
 * When the table changes its size the walk begins anew, and when an entry goes away one may
 * be left out.
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
