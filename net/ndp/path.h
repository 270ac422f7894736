/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, peers, the paths to them and what they carry (NDP paper, section 3.1.1).
 */
#ifndef _NDP_PATH_H
#define _NDP_PATH_H

#include "ip.h"
#include "score.h"

struct ndp_sock;
struct ndp_tx_cb;

/**
 * enum ndp_path_use - may a packet go to see whether a path is back?
 * @NDP_PATH_PROBE:	it is heard soon what becomes of it, and nobody waits for it alone
 * @NDP_PATH_PROBE_LATE: it is heard, but later, or somebody waits
 * @NDP_PATH_NO_PROBE:	it is not heard, or sent again already
 */
enum ndp_path_use {
	NDP_PATH_PROBE,
	NDP_PATH_PROBE_LATE,
	NDP_PATH_NO_PROBE,
};

/**
 * struct ndp_path - one way to the peer
 * @daddr:	peer's address or alias that selects it
 * @sport:	UDP source port, the ECMP entropy; read without the lock
 * @gen:	how often that was replaced, modulo 256; read without the lock
 * @mark:	routing mark, 0 for the socket's
 * @hash:	random: which flow of the host its packets belong to (skb_get_hash())
 * @cookie:	to check @dst by
 * @mtu:	its MTU when it was used last, 0: not yet
 * @dst:	route, revalidated at each use; read under RCU
 * @acks:	packets acknowledged that went this way
 * @nacks:	packets trimmed on it
 * @losses:	packets lost on it
 * @answers_lost: answers lost on it
 * @probes:	times that a packet went along it to see whether it is back
 * @replaced:	how often it got a fresh port (entropy.c)
 * @data:	DATA of late
 * @control:	answers of late; what was not heard to be lost is good
 */
struct ndp_path {
	struct in6_addr		daddr;
	__be16			sport;
	u8			gen;
	u32			mark;
	u32			hash;
	u32			cookie;
	u32			mtu;
	struct dst_entry __rcu	*dst;
	u32			acks;
	u32			nacks;
	u32			losses;
	u32			answers_lost;
	u32			probes;
	u32			replaced;
	struct ndp_score	data;
	struct ndp_score	control;
};

/**
 * struct ndp_peer_key - whose connections share paths
 * @daddr:	the peer's address
 * @saddr:	ours
 * @mark:	routing mark of the sockets
 * @oif:	device that they are bound to, 0: none
 * @uid:	whose they are; rules of routing may ask for it
 * @flags:	of their flows, likewise
 */
struct ndp_peer_key {
	struct in6_addr		daddr;
	struct in6_addr		saddr;
	u32			mark;
	int			oif;
	u32			uid;
	u32			flags;
};

/**
 * struct ndp_peer - a host that connections go to, and the paths to it
 * @node:	in ndp_net.peers while @hashed
 * @key:	which
 * @conns:	connections that have it
 * @hashed:	new connections find it; under ndp_net.peer_lock
 * @gen:	ndp_net.path_gen when its paths were found to be those of today
 * @conf_gen:	ndp_path_dst.gen of those that are configured, 0: they are random
 * @idle:	in ndp_net.idle_peers while no connection has it; under ndp_net.peer_lock
 * @rcu:	when it is in no list or table any more, for lookups that still see it
 * @idle_since:	since when no connection has it, ktime_get_ns()
 * @n:		how many paths
 * @recycles:	they are random, and DATA uses again what did well (entropy.c)
 * @keeps_ports: but none is replaced any more
 * @turn:	where the next search for such a path begins
 * @ready:	paths whose last packet came whole, and those that are left out
 * @spare:	paths that are not used yet, or were trimmed
 * @late_kept:	the most by which those were late that had been taken for lost (order.c)
 * @rto_kept:	the timeout that those would have needed that were sent again in vain (rtt.c)
 * @lock:	guards all below; the writing of it where it is read without
 * @late_ns:	by how much later others have left that were answered before, of late the most
 *		(order.c); without the lock
 * @srtt_ns:	smoothed RTT of all its connections, 0 without a sample
 * @rttvar_ns:	its deviation
 * @rto_ns:	retransmission timeout by these; what a link needs at least not regarded
 * @mtu:	smallest of all paths that were used
 * @probed:	path that DATA was sent along last to see whether it is back
 * @earned:	packets that arrived whole and were not spent on fresh ports yet
 * @data:	tally of DATA
 * @control:	tally of answers
 * @path:	the paths
 */
struct ndp_peer {
	struct rhash_head	node;
	struct ndp_peer_key	key;
	refcount_t		conns;
	bool			hashed;
	u32			gen;
	u32			conf_gen;
	union {
		struct list_head	idle;
		struct rcu_head		rcu;
	};
	u64			idle_since;
	u16			n;
	bool			recycles;
	bool			keeps_ports;
	u16			turn;
	DECLARE_BITMAP(ready, NDP_PATHS_MAX);
	DECLARE_BITMAP(spare, NDP_PATHS_MAX);
	struct ndp_kept		late_kept;
	struct ndp_kept		rto_kept;

	spinlock_t		lock ____cacheline_aligned_in_smp;
	u32			late_ns;
	u64			srtt_ns;
	u64			rttvar_ns;
	u64			rto_ns;
	u32			mtu;
	u16			probed;
	u8			earned;
	struct ndp_tally	data;
	struct ndp_tally	control;
	struct ndp_path		path[];
};

/* Of DATA, or of answers. */
static inline struct ndp_score *ndp_path_score(struct ndp_peer *peer, bool control, u16 i)
{
	return control ? &peer->path[i].control : &peer->path[i].data;
}

/* The retransmission timeout by what is known of the host. */
static inline u64 ndp_peer_rto(struct ndp_peer *peer)
{
	return max_t(u64, READ_ONCE(peer->rto_ns), ndp_kept(&peer->rto_kept));
}

/*
 * A path's number tells its place from 0 on, its index, and in the upper byte which of the ports
 * that it has had (entropy.c).
 */
static inline u16 ndp_path_number(const struct ndp_peer *peer, u16 i)
{
	BUILD_BUG_ON(NDP_PATHS_MAX != 256);
	/* Pairs with ndp_entropy_trimmed(): a packet with a number leaves by no older port. */
	return smp_load_acquire(&peer->path[i].gen) << 8 | i;
}

static inline u16 ndp_path_index(u16 number)
{
	return number % NDP_PATHS_MAX;
}

/* How often it had been replaced, modulo 256. */
static inline u8 ndp_path_gen(u16 number)
{
	return number / NDP_PATHS_MAX;
}

/* Is a number that of a path as it is now?  It may be of an earlier peer (ndp_peer_follow()). */
static inline bool ndp_path_is_current(const struct ndp_peer *peer, u16 number)
{
	u16 i = ndp_path_index(number);

	return i < peer->n && ndp_path_number(peer, i) == number;
}

/**
 * struct ndp_round - a connection's place in a permutation of the paths
 * @seed:	chooses the permutation
 * @pos:	next place; at 0 another is drawn
 */
struct ndp_round {
	u64			seed;
	u16			pos;
};

/**
 * struct ndp_answered - by which path a packet was answered
 * @tag:	its PSN divided by how many are remembered, the low bits; 0: none
 * @path:	path of the answer
 */
struct ndp_answered {
	u8			tag;
	u8			path;
};

/* Paths of which a connection knows by itself what came last: as many as there are by default. */
#define NDP_ORDER_PATHS		32

/* Of packets that were found lost, as many are remembered as come next to one another. */
#define NDP_ORDER_DONE		64

/**
 * struct ndp_order - what a connection remembers of the order of answers (order.c)
 * @sent:	when the latest left of those acknowledged that tell an order; 0: none
 * @before:	the same before the answer that is being received
 * @path:	the same of each path, of the first few
 * @done:	of the latest packets that were found lost, and are acknowledged: the low bits
 *		of the number divided by NDP_ORDER_DONE; 0: none
 */
struct ndp_order {
	u64			sent;
	u64			before;
	u64			path[NDP_ORDER_PATHS];
	u16			done[NDP_ORDER_DONE];
};

/*
 * The latest packets whose answers are remembered: those of a round trip and of the time in which
 * a sender finds out that there was none, at 10 Gb/s and 1500 bytes or 100 Gb/s and 9000.
 */
#define NDP_ANSWERED		512

/* And of a connection that answers few. */
#define NDP_ANSWERED_FEW	16

/* So many packets more are on their way when DATA goes along a path to see whether it is back. */
#define NDP_PATH_PROBE_FLIGHT	4

/* peer.c */
int ndp_peer_net_init(struct ndp_net *nn);
void ndp_peer_net_pre_exit(struct ndp_net *nn);
void ndp_peer_net_exit(struct ndp_net *nn);
struct ndp_peer *ndp_peer_alloc(const struct ndp_peer_key *key, u16 n);
int ndp_peer_join(struct ndp_sock *np);
void ndp_peer_leave(struct ndp_sock *np);
void ndp_peer_follow(struct ndp_sock *np);
void ndp_peer_walk(struct rhashtable_iter *walk,
		   int (*visit)(struct ndp_peer *peer, void *arg), void *arg);

/* path.c */
bool ndp_path_tells(const struct ndp_sock *np);
bool ndp_path_may_take(struct ndp_sock *np, bool control, u16 i, enum ndp_path_use use);
u16 ndp_path_next(struct ndp_sock *np, bool control, enum ndp_path_use use);
u16 ndp_path_other(struct ndp_sock *np, u16 i);
void ndp_path_flow(const struct ndp_sock *np, const struct ndp_path *path, struct ndp_flow *flow);
struct dst_entry *ndp_path_dst(struct ndp_sock *np, struct ndp_path *path);

/* entropy.c */
__be16 ndp_entropy_random(void);
void ndp_entropy_init(struct ndp_peer *peer);
void ndp_entropy_keep(struct ndp_sock *np);
void ndp_entropy_whole(struct ndp_peer *peer, u16 i);
bool ndp_entropy_trimmed(struct ndp_peer *peer, u16 i);
void ndp_entropy_lost(struct ndp_peer *peer, u16 i);
u16 ndp_entropy_next(struct ndp_sock *np, bool pushed, enum ndp_path_use use);

/* score.c */
void ndp_path_good(struct ndp_sock *np, u16 number);
void ndp_path_trimmed(struct ndp_sock *np, u16 number);
void ndp_path_suspect(struct ndp_sock *np, struct ndp_tx_cb *cb);
void ndp_path_judge(struct ndp_sock *np, struct ndp_tx_cb *cb, u16 path, u8 flags);
bool ndp_path_has_answered(struct ndp_sock *np, u32 psn);
void ndp_path_answered(struct ndp_sock *np, u32 psn, u16 i);
void ndp_path_answers_forget(struct ndp_sock *np);
void ndp_path_answer_lost(struct ndp_sock *np, u32 psn);

/* order.c */
void ndp_order_init(struct ndp_peer *peer);

/* mtu.c */
void ndp_mtu_note(struct ndp_sock *np, struct ndp_path *path,
		  const struct dst_entry *dst);
u32 ndp_mtu_limit(struct ndp_sock *np);
void ndp_mtu_lost(struct ndp_sock *np, const struct sk_buff *skb);
void ndp_mtu_arrived(struct ndp_sock *np, const struct sk_buff *skb);
void ndp_mtu_cut(struct ndp_sock *np, struct sk_buff *skb, u32 max);

#endif /* _NDP_PATH_H */
