/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP: the table in which a packet's connection is looked up, and tombstones.
 */
#ifndef _NDP_TABLE_H
#define _NDP_TABLE_H

#include "ip.h"

struct ndp_sock;

/**
 * struct ndp_key - what a packet must match to belong to a connection
 * @net:	namespace
 * @conn_id:	as on the wire
 * @initiator:	in the acceptor's entry the initiator's primary address; else ::, as packets to
 *		the initiator may arrive at any of its aliases
 * @iport:	initiator's NDP port
 * @aport:	acceptor's NDP port
 * @acceptor:	whether this entry is the acceptor's end
 */
struct ndp_key {
	const struct net	*net;
	__be64			conn_id;
	struct in6_addr		initiator;
	__be16			iport;
	__be16			aport;
	u32			acceptor;
};

/**
 * struct ndp_entry - an element of the demux table
 * @node:	linkage
 * @key:	constant while linked
 * @tombstone:	embedded in an ndp_tombstone rather than in an ndp_sock
 */
struct ndp_entry {
	struct rhash_head	node;
	struct ndp_key		key;
	bool			tombstone;
};

/**
 * struct ndp_tombstone - remembers a connection past its end (section 3.2.2)
 * @entry:	in the demux table
 * @list:	in one of ndp_net's lists
 * @expires:	ktime_get_ns() at which every copy of its packets is gone
 * @rcv_nxt:	all PSNs below it had been received
 * @peer:	index in ndp_net.tomb_peers, where it is counted
 * @aborted:	ended by a reset: a packet that asks for an answer gets another reset
 * @rcu:	to free it when no reader of the table can see it any more
 *
 * Allocated together with the connection, so that closing cannot fail.
 */
struct ndp_tombstone {
	struct ndp_entry	entry;
	struct list_head	list;
	u64			expires;
	u32			rcv_nxt;
	u16			peer;
	bool			aborted;
	struct rcu_head		rcu;
};

/* table.c */
int ndp_table_init(void);
void ndp_table_exit(void);
struct ndp_entry *ndp_entry_lookup(const struct ndp_key *key);
struct ndp_sock *ndp_conn_get(struct ndp_entry *e);
int ndp_conn_hash(struct ndp_sock *np, struct ndp_entry **existing);
void ndp_entry_replace(struct ndp_entry *e, struct ndp_entry *tomb);
void ndp_entry_remove(struct ndp_entry *e);
void ndp_table_walk_enter(struct rhashtable_iter *walk);
void ndp_table_walk(struct rhashtable_iter *walk, int (*visit)(struct ndp_entry *e, void *arg),
		    void *arg);

/* timewait.c */
struct ndp_tombstone *ndp_tomb_alloc(gfp_t gfp);
bool ndp_tomb_full(const struct ndp_net *nn);
bool ndp_tomb_half_full(const struct ndp_net *nn);
bool ndp_tomb_refuses(const struct ndp_net *nn, const struct ndp_key *key);
u64 ndp_tomb_time(bool brief);
void ndp_tomb_start(struct ndp_net *nn, struct ndp_tombstone *tomb,
		    bool brief);
void ndp_tomb_rcv(struct net *net, struct ndp_tombstone *tomb,
		  const struct sk_buff *skb);
void ndp_tomb_net_init(struct ndp_net *nn);
void ndp_tomb_net_exit(struct ndp_net *nn);

/* cookie.c */
void ndp_cookie_net_init(struct ndp_net *nn);
u64 ndp_cookie_make(const struct ndp_net *nn, const struct ndp_key *key);
bool ndp_cookie_good(const struct ndp_net *nn, const struct ndp_key *key,
		     const struct ndphdr *nh);
u64 ndp_token_make(const struct ndp_net *nn, const struct in6_addr *initiator);
bool ndp_token_good(const struct ndp_net *nn, const struct in6_addr *initiator,
		    const struct ndphdr *nh, bool *stale);
bool ndp_cookies_only(const struct ndp_net *nn);
void ndp_cookie_retire(struct ndp_net *nn, const struct ndp_key *key, u64 until);

#endif /* _NDP_TABLE_H */
