/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, paths to a peer and what they carry (NDP paper, section 3.1.1).
 */
#ifndef _NDP_PATH_H
#define _NDP_PATH_H

#include "ip.h"

struct ndp_sock;

/* How a path is treated. */
enum ndp_path_state {
	NDP_PATH_USED,
	NDP_PATH_OUT,		/* left out of the permutation */
	NDP_PATH_PROBED,	/* one packet went along it, to see */
};

/**
 * struct ndp_score - what became lately of what went along a path (section 3.2.3)
 * @good:	arrived
 * @trimmed:	arrived trimmed, or came back
 * @lost:	did not arrive
 * @level:	doublings of the time for which it is left out next
 * @state:	enum ndp_path_state
 * @out_ns:	for how long it was left out last
 * @until:	not used until then, ktime_get_ns(), unless @state is used
 */
struct ndp_score {
	u16			good;
	u16			trimmed;
	u16			lost;
	u8			level;
	u8			state;
	u64			out_ns;
	u64			until;
};

/**
 * struct ndp_path - one way to the peer
 * @daddr:	peer's address or alias that selects it
 * @sport:	UDP source port, the ECMP entropy
 * @mark:	routing mark, 0 for the socket's
 * @dst:	route, revalidated at each use
 * @cookie:	for that
 * @mtu:	its MTU when it was used last, 0: not yet
 * @acks:	packets acknowledged that went this way
 * @nacks:	packets trimmed on it
 * @losses:	packets lost on it
 * @data:	DATA of late
 * @control:	answers of late; what was not heard to be lost is good
 */
struct ndp_path {
	struct in6_addr		daddr;
	__be16			sport;
	u32			mark;
	u32			cookie;
	u32			mtu;
	struct dst_entry	*dst;
	u32			acks;
	u32			nacks;
	u32			losses;
	struct ndp_score	data;
	struct ndp_score	control;
};

/**
 * struct ndp_round - a permutation of the paths being used up
 * @order:	indices of all paths, those in use first
 * @pos:	next to use; at the end a fresh permutation is drawn
 * @len:	how many are in use
 * @left_out:	some path is not used
 * @good:	sums over the scores of all paths
 * @trimmed:
 * @lost:
 */
struct ndp_round {
	u16			*order;
	u16			pos;
	u16			len;
	bool			left_out;
	u32			good;
	u32			trimmed;
	u32			lost;
};

/**
 * struct ndp_answered - by which path a packet was answered
 * @psn:	packet
 * @path:	path of the answer
 */
struct ndp_answered {
	u32			psn;
	u16			path;
};

/* The latest packets whose answers are remembered. */
#define NDP_ANSWERED		64

/**
 * struct ndp_paths - the paths of a connection
 * @n:		how many
 * @data:	round of DATA
 * @control:	round of everything else
 * @answered:	by PSN, modulo
 * @path:	the paths
 */
struct ndp_paths {
	u16			n;
	struct ndp_round	data;
	struct ndp_round	control;
	struct ndp_answered	answered[NDP_ANSWERED];
	struct ndp_path		path[];
};

/* path.c */
int ndp_paths_init(struct ndp_sock *np);
void ndp_paths_free(struct ndp_sock *np);
u16 ndp_path_next(struct ndp_paths *paths, struct ndp_round *round);
void ndp_path_good(struct ndp_paths *paths, u16 i);
void ndp_path_trimmed(struct ndp_sock *np, u16 i);
void ndp_path_lost(struct ndp_sock *np, u16 i);
void ndp_path_answered(struct ndp_paths *paths, u32 psn, u16 i);
void ndp_path_answer_lost(struct ndp_sock *np, u32 psn);
struct ndp_flow ndp_path_flow(const struct ndp_sock *np,
			      const struct ndp_path *path);
struct dst_entry *ndp_path_dst(struct ndp_sock *np, struct ndp_path *path);

/**
 * struct ndp_path_spec - one configured path
 * @list:	in its destination
 * @via:	alias address or the prefix in the destination's place, :: for the
 *		destination itself
 * @entropy:	UDP source port, 0 for random
 * @mark:	routing mark
 * @rcu:	for readers
 */
struct ndp_path_spec {
	struct list_head	list;
	struct in6_addr		via;
	__be16			entropy;
	u32			mark;
	struct rcu_head		rcu;
};

/* Length of the prefix that IPv4's addresses are mapped into. */
#define NDP_PLEN_IP4		96

/**
 * struct ndp_path_prefix - what addresses a destination covers
 * @addr:	prefix
 * @plen:	its length; for one of IPv4, NDP_PLEN_IP4 more
 */
struct ndp_path_prefix {
	struct in6_addr		addr;
	u32			plen;
};

/**
 * struct ndp_path_dst - a destination with configured paths
 * @node:	in ndp_net.path_table
 * @list:	in ndp_net.path_dsts, longest prefix first
 * @prefix:	which addresses
 * @n:		number of paths
 * @paths:	struct ndp_path_spec
 * @rcu:	for readers
 */
struct ndp_path_dst {
	struct rhash_head	node;
	struct list_head	list;
	struct ndp_path_prefix	prefix;
	u16			n;
	struct list_head	paths;
	struct rcu_head		rcu;
};

int ndp_path_table_init(struct ndp_net *nn);
void ndp_path_table_exit(struct ndp_net *nn);
struct ndp_path_dst *ndp_path_table_find(struct ndp_net *nn,
					 const struct ndp_path_prefix *prefix);
int ndp_path_table_add(struct ndp_net *nn, struct ndp_path_dst *dst);
void ndp_path_table_del(struct ndp_net *nn, struct ndp_path_dst *dst);

/* mtu.c */
void ndp_mtu_note(struct ndp_sock *np, struct ndp_path *path,
		  const struct dst_entry *dst);
u32 ndp_mtu_limit(struct ndp_sock *np);
void ndp_mtu_lost(struct ndp_sock *np, const struct sk_buff *skb);
void ndp_mtu_arrived(struct ndp_sock *np, const struct sk_buff *skb);
void ndp_mtu_cut(struct ndp_sock *np, struct sk_buff *skb, u32 max);

#endif /* _NDP_PATH_H */
