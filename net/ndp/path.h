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
 * enum ndp_path_use - may a packet probe a path that was left out?
 * @NDP_PATH_PROBE:	yes: the packet's fate is known soon, and nobody waits for it alone
 * @NDP_PATH_PROBE_LATE: yes, but later: its fate is known late, or somebody waits for it alone
 * @NDP_PATH_NO_PROBE:	no: its fate will not be known, or it is a retransmission
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
 * @gen:	how often @sport was replaced, modulo 256; read without the lock
 * @mark:	routing mark, 0 for the socket's
 * @hash:	random flow hash of its packets on this host (skb_get_hash())
 * @cookie:	validates @dst
 * @mtu:	MTU of the path when it was last used, 0: not used yet
 * @dst:	route, revalidated at each use; read under RCU
 * @acks:	acknowledged packets that took this path
 * @nacks:	packets trimmed on it
 * @losses:	packets lost on it
 * @answers_lost: answers lost on it
 * @probes:	packets that probed it while it was left out
 * @replaced:	how often it got a fresh port (entropy.c)
 * @data:	score of recent DATA
 * @control:	score of recent answers; those that are not reported lost count as good
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
 * struct ndp_peer_key - what connections that share paths have in common
 * @daddr:	the peer's address
 * @saddr:	our address
 * @mark:	routing mark of the sockets
 * @oif:	device that the sockets are bound to, 0: none
 * @uid:	owner of the sockets; routing rules may match it
 * @flags:	flow flags of the sockets, likewise
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
 * @key:	what identifies it
 * @conns:	connections that use it
 * @hashed:	in the table, where new connections find it; under ndp_net.peer_lock
 * @gen:	ndp_net.path_gen when its paths were last found up to date
 * @conf_gen:	ndp_path_dst.gen of its configured paths, 0: its paths are random
 * @idle:	in ndp_net.idle_peers while no connection uses it; under ndp_net.peer_lock
 * @rcu:	when it is in no list or table any more, for lookups that still see it
 * @idle_since:	since when no connection uses it, ktime_get_ns()
 * @n:		number of paths
 * @recycles:	the paths are random, and DATA reuses those that did well (entropy.c)
 * @keeps_ports: no port is replaced any more, though @recycles
 * @turn:	path at which the next search of @ready or @spare begins
 * @ready:	paths whose last packet arrived whole, and those that are left out
 * @spare:	paths that were not used yet, or whose last packet was trimmed
 * @late_kept:	largest lateness of answers to packets that had been declared lost (order.c)
 * @rto_kept:	timeout that would have avoided recent spurious retransmissions (rtt.c)
 * @lock:	guards all below, but only the writing of members that are read without it
 * @late_ns:	recent maximum of the lateness of answers (order.c); accessed without the lock
 * @srtt_ns:	smoothed RTT of all its connections, 0 without a sample
 * @rttvar_ns:	deviation of the RTT
 * @rto_ns:	retransmission timeout by @srtt_ns and @rttvar_ns, without the minimum of a link
 * @mtu:	smallest MTU of all paths that were used
 * @probed:	path that DATA probed last
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

/* The score of a path, for DATA or for answers. */
static inline struct ndp_score *ndp_path_score(struct ndp_peer *peer, bool control, u16 i)
{
	return control ? &peer->path[i].control : &peer->path[i].data;
}

/* The retransmission timeout by what is known about the peer. */
static inline u64 ndp_peer_rto(struct ndp_peer *peer)
{
	return max_t(u64, READ_ONCE(peer->rto_ns), ndp_kept(&peer->rto_kept));
}

/*
 * A path's number has its index, from 0 on, in the lower byte, and in the upper byte the
 * generation of its port (entropy.c).
 */
static inline u16 ndp_path_number(const struct ndp_peer *peer, u16 i)
{
	BUILD_BUG_ON(NDP_PATHS_MAX != 256);
	/* Pairs with ndp_entropy_trimmed(): no packet with this number leaves by an older port. */
	return smp_load_acquire(&peer->path[i].gen) << 8 | i;
}

static inline u16 ndp_path_index(u16 number)
{
	return number % NDP_PATHS_MAX;
}

/* How often the path's port had been replaced, modulo 256. */
static inline u8 ndp_path_gen(u16 number)
{
	return number / NDP_PATHS_MAX;
}

/* Does a number match a path's current port?  It may be of a former peer (ndp_peer_follow()). */
static inline bool ndp_path_is_current(const struct ndp_peer *peer, u16 number)
{
	u16 i = ndp_path_index(number);

	return i < peer->n && ndp_path_number(peer, i) == number;
}

/**
 * struct ndp_round - a connection's place in a permutation of the paths
 * @seed:	chooses the permutation
 * @pos:	next place; at 0 a new permutation is drawn
 */
struct ndp_round {
	u64			seed;
	u16			pos;
};

/**
 * struct ndp_answered - by which path a packet was answered
 * @tag:	low bits of its PSN divided by the number of packets remembered; 0: none
 * @path:	path of the answer
 */
struct ndp_answered {
	u8			tag;
	u8			path;
};

/* Paths whose latest acknowledged transmission is recorded: the default number of paths. */
#define NDP_ORDER_PATHS		32

/* Acknowledged packets remembered as declared lost before: a run of consecutive PSNs fits. */
#define NDP_ORDER_DONE		64

/**
 * struct ndp_order - what a connection remembers of the order of answers (order.c)
 * @sent:	latest time of leaving of all acknowledged packets that are evidence; 0: none
 * @before:	@sent before the answer that is being received
 * @path:	the same as @sent for each of the first few paths
 * @done:	latest acknowledged packets that had been declared lost: low bits of the PSN
 *		divided by NDP_ORDER_DONE; 0: none
 */
struct ndp_order {
	u64			sent;
	u64			before;
	u64			path[NDP_ORDER_PATHS];
	u16			done[NDP_ORDER_DONE];
};

/*
 * Number of latest packets whose answers are remembered: those of a round trip and of the time in
 * which a sender detects a missing answer, at 10 Gb/s and 1500 bytes or 100 Gb/s and 9000.
 */
#define NDP_ANSWERED		512

/* The same for a connection that has answered few packets. */
#define NDP_ANSWERED_FEW	16

/* Packets that must be in flight already when DATA probes a path that was left out. */
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
