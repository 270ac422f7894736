/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, the state of a namespace: counters, limits, tables; and what all files use.
 */
#ifndef _NDP_NET_H
#define _NDP_NET_H

#include <linux/percpu_counter.h>
#include <linux/rhashtable.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include <uapi/linux/ndp.h>

struct ndp_transport;

#define NDP_MSEC		((u64)NSEC_PER_MSEC)
#define NDP_USEC		((u64)NSEC_PER_USEC)

/* A peer that has been silent for this long is given up. */
#define NDP_GIVE_UP		(30 * 1000 * NDP_MSEC)

/* Bytes that each processor may hold back from the count of a namespace's memory. */
#define NDP_MEM_BATCH		(64 << 10)

/* Hash buckets in which a namespace's tombstones are counted by peer. */
#define NDP_TOMB_PEERS		512

/* Counters of a namespace; stat.c has their names in /proc/net/ndp_stat. */
enum ndp_stat {
	NDP_STAT_DATA_OUT,
	NDP_STAT_DATA_BYTES_OUT,
	NDP_STAT_DATA_PUSHED,
	NDP_STAT_DATA_RTX,
	NDP_STAT_ACK_OUT,
	NDP_STAT_ACK_JOINED_OUT,
	NDP_STAT_ACK_RODE_OUT,
	NDP_STAT_NACK_OUT,
	NDP_STAT_PULL_OUT,
	NDP_STAT_PULLED_OUT,
	NDP_STAT_PULLQ_MOVED,
	NDP_STAT_PROBE_OUT,
	NDP_STAT_COOKIE_OUT,
	NDP_STAT_OPEN_OUT,
	NDP_STAT_FIN_OUT,
	NDP_STAT_RST_OUT,
	NDP_STAT_RST_LIMITED,
	NDP_STAT_SIGNAL_OUT,
	NDP_STAT_LOCAL_DROP,
	NDP_STAT_DATA_IN,
	NDP_STAT_DATA_BYTES_IN,
	NDP_STAT_TRIMMED_IN,
	NDP_STAT_CRC_IN,
	NDP_STAT_NO_ROOM_IN,
	NDP_STAT_EARLY_IN,
	NDP_STAT_MARKED_IN,
	NDP_STAT_DUP_IN,
	NDP_STAT_ACK_IN,
	NDP_STAT_ACK_JOINED_IN,
	NDP_STAT_ACK_RODE_IN,
	NDP_STAT_NACK_IN,
	NDP_STAT_ECE_IN,
	NDP_STAT_PULL_IN,
	NDP_STAT_PULLED_IN,
	NDP_STAT_PROBE_IN,
	NDP_STAT_COOKIE_IN,
	NDP_STAT_OPEN_IN,
	NDP_STAT_FIN_IN,
	NDP_STAT_RST_IN,
	NDP_STAT_SIGNAL_IN,
	NDP_STAT_BOUNCED_IN,
	NDP_STAT_BOUNCED_RTX,
	NDP_STAT_TIMEOUTS,
	NDP_STAT_SPURIOUS,
	NDP_STAT_LOST_ORDER,
	NDP_STAT_SPURIOUS_ORDER,
	NDP_STAT_TAIL_PROBES,
	NDP_STAT_ENTROPY_REPLACED,
	NDP_STAT_MTU_HOLE,
	NDP_STAT_GIVEN_UP,
	NDP_STAT_ORPHANS_STALLED,
	NDP_STAT_ORPHANS_EXCESS,
	NDP_STAT_ACTIVE_OPENS,
	NDP_STAT_PASSIVE_OPENS,
	NDP_STAT_HELD_BACK,
	NDP_STAT_UNVERIFIED_END,
	NDP_STAT_TOMB_HITS,
	NDP_STAT_PORTS_TRIED,
	NDP_STAT_REMARKED_IN,
	NDP_STAT_REPAIRED,
	NDP_STAT_EVENTS_LOST,
	NDP_STAT_DROP_SHORT,
	NDP_STAT_DROP_VERSION,
	NDP_STAT_DROP_TYPE,
	NDP_STAT_DROP_CHECKSUM,
	NDP_STAT_DROP_LENGTH,
	NDP_STAT_DROP_ADDRESS,
	NDP_STAT_DROP_NO_CONN,
	NDP_STAT_DROP_NO_LISTENER,
	NDP_STAT_DROP_TRANSPORT,
	NDP_STAT_DROP_BACKLOG,
	NDP_STAT_DROP_COOKIE,
	NDP_STAT_DROP_CLOSED,
	NDP_STAT_DROP_WINDOW,
	NDP_STAT_DROP_PSN,
	NDP_STAT_DROP_PULL,
	NDP_STAT_DROP_MEMORY,
	NDP_STAT_DROP_FILTER,
	__NDP_STAT_MAX,
};

struct ndp_stats {
	u64 v[__NDP_STAT_MAX];
};

/* Counters of a connection, as in struct ndp_info. */
struct ndp_counters {
	u64			bytes_sent;
	u64			bytes_acked;
	u64			bytes_retrans;
	u64			bytes_received;
	u64			data_sent;
	u64			data_pushed;
	u64			retrans;
	u64			timeouts;
	u64			acks_in;
	u64			nacks_in;
	u64			pulls_in;
	u64			bounces_in;
	u64			probes_out;
	u64			data_in;
	u64			trims_in;
	u64			dups_in;
	u64			noroom_in;
	u64			crc_in;
	u64			pulls_out;
	u64			marked_in;
	u64			ece_in;
	u64			early_in;
	u64			sync_in;
	u64			sync_early_in;
	u32			ooo_max;
};

/**
 * struct ndp_net - the state of a namespace
 * @udp:	kernel socket on which packets arrive, NULL until first needed
 * @udp6:	the same for IPv6
 * @udp_mutex:	serialises the creation of both sockets, and changes of @udp_port
 * @stats:	counters, per CPU
 * @mem:	truesize of the packets in the queues of all sockets, bytes
 * @mem_max_kb:	limit of @mem, KiB, 0 for none but the whole module's
 * @orphans:	number of connections that no process has any more
 * @max_orphans: limit of @orphans
 * @rst_rate:	limit of RSTs to strangers per second, 0: none
 * @amplification: limit of bytes sent to an unverified peer for each byte from it, 0: none
 * @tombs_max:	value of @tombs from which on openings need a cookie (timewait.c)
 * @lossless:	the networks behind all its devices drop nothing for lack of buffer space
 * @udp_port:	UDP destination port, host order
 * @base_rtt_us: round-trip time of the idle network, for the initial window
 * @transport:	transport of new sockets, held
 * @qdisc_us:	link time of one socket's packets that may wait in the local qdisc, us
 * @n_paths:	entropy values of a connection without configured paths
 * @pull_rate_mbit: pull rate override, Mb/s, 0 for the link's own
 * @pull_low_share: percent of a device's pulls for connections of lower priority
 * @bind_lock:	guards @bind and all bind_node in it
 * @bind:	bound sockets by port
 * @listen:	listeners by port; written under @bind_lock, read under RCU
 * @tomb_lock:	guards the lists below, @tombs and @tomb_peers
 * @tomb_short:	tombstones of acknowledged closes, oldest first
 * @tomb_long:	all other tombstones, oldest first
 * @tomb_work:	removes expired tombstones
 * @tombs:	number of tombstones
 * @tomb_peers:	numbers of tombstones by peer, see ndp_tomb_peer()
 * @rst_at:	when the next RST to a stranger is due at @rst_rate, after those sent so far,
 *		ktime_get_ns()
 * @event_at:	when the next event is due at NDP_EVENTS_RATE, likewise
 * @flood_at:	when a flood event was sent last, ktime_get_ns(); 0: never
 * @events_lost: number of lost events that the next event has to report
 * @events:	messages that @event_work sends
 * @net:	the namespace itself
 * @cookie_key:	secret of cookies
 * @cookie_floor: by class of connection ids, the time of a cookie below or at which it
 *		is invalid; written under @tomb_lock
 * @cookies_until: openings need a cookie until then, ktime_get_ns(); written under
 *		@tomb_lock
 * @token_lock:	guards @tokens and what it points to
 * @tokens:	tokens that acceptors gave us, NULL until the first arrives
 * @path_lock:	guards writing of the members up to @path_gen
 * @path_table:	configured destinations, by prefix; read under RCU
 * @path_plens:	numbers of destinations by prefix length; read under RCU
 * @path_dsts:	all configured destinations, longest prefix first
 * @n_path_dsts: number of configured destinations
 * @path_gen:	grows with each change of configured paths
 * @peer_lock:	guards writing of @peers, and the idle peers
 * @peers:	hosts that connections go to (peer.c); read under RCU
 * @idle_peers:	peers that no connection has, the one idle the longest first
 * @n_idle_peers: number of idle peers
 * @peers_max:	limit of @n_idle_peers
 * @peer_work:	frees peers that have been idle for a while
 * @sysctl_header: registration of the sysctls
 * @sysctl_table: the namespace's copy of the sysctl table
 */
struct ndp_net {
	struct socket		*udp;
	struct socket		*udp6;
	struct mutex		udp_mutex;	/* @udp, @udp6, @udp_port */
	struct ndp_stats __percpu *stats;
	u64			begun;		/* when it was made, ktime_get_ns() */
	struct percpu_counter	mem;
	int			mem_max_kb;
	atomic_t		orphans;
	int			max_orphans;
	int			rst_rate;
	int			amplification;
	int			tombs_max;
	int			lossless;
	int			udp_port;
	int			base_rtt_us;
	int			qdisc_us;
	int			n_paths;
	const struct ndp_transport __rcu *transport;
	int			pull_rate_mbit;
	int			pull_low_share;

	spinlock_t		bind_lock;	/* @bind, @listen */
#define NDP_BIND_BUCKETS 512
	struct hlist_head	bind[NDP_BIND_BUCKETS];
	struct hlist_head	listen[NDP_BIND_BUCKETS];
	u32			listen_seed;	/* of the hash of @listen */

	spinlock_t		tomb_lock;	/* the five below */
	struct list_head	tomb_short;
	struct list_head	tomb_long;
	struct delayed_work	tomb_work;
	int			tombs;
	u32			tomb_peers[NDP_TOMB_PEERS];

	atomic64_t		rst_at;

	atomic64_t		event_at;
	atomic64_t		flood_at;
	atomic_t		events_lost;
	struct sk_buff_head	events;
	struct work_struct	event_work;
	struct net		*net;

	siphash_aligned_key_t	cookie_key;
#define NDP_COOKIE_FLOORS 256
	u64			cookie_floor[NDP_COOKIE_FLOORS];
	u64			cookies_until;

	spinlock_t		token_lock;	/* @tokens */
	struct ndp_token	*tokens;

	struct mutex		path_lock;	/* writers of all below */
	struct rhashtable	path_table;
	u16			path_plens[129];
	struct list_head	path_dsts;
	u32			n_path_dsts;
	u32			path_gen;

	spinlock_t		peer_lock;	/* writers of the three below */
	struct rhashtable	peers;
	struct list_head	idle_peers;
	int			n_idle_peers;
	int			peers_max;
	struct delayed_work	peer_work;

	struct ctl_table_header	*sysctl_header;
	struct ctl_table	*sysctl_table;
};

extern unsigned int ndp_net_id;

static inline struct ndp_net *ndp_pernet(const struct net *net)
{
	return net_generic(net, ndp_net_id);
}

/* The rate of pulls that is set in a namespace.  Return: bits per second, 0 if none is. */
static inline u64 ndp_rate_set(const struct ndp_net *nn)
{
	return READ_ONCE(nn->pull_rate_mbit) * 1000000ULL;
}

/* Count an event in a namespace.  NDP_CONN_* take a socket in it, and need no lookup. */
#define NDP_INC(net, id) \
	this_cpu_inc(ndp_pernet(net)->stats->v[NDP_STAT_##id])
#define NDP_CONN_INC(np, id) \
	this_cpu_inc((np)->nn->stats->v[NDP_STAT_##id])
#define NDP_CONN_ADD(np, id, n) \
	this_cpu_add((np)->nn->stats->v[NDP_STAT_##id], n)

/* Addresses are IPv6, or IPv4 mapped into IPv6. */
static inline bool ndp_is_ip4(const struct in6_addr *addr)
{
	return ipv6_addr_v4mapped(addr);
}

static inline __be32 ndp_ip4(const struct in6_addr *addr)
{
	return addr->s6_addr32[3];
}

/* stat.c */
int ndp_drop(struct net *net, struct sk_buff *skb, enum ndp_stat reason);
int ndp_stat_net_init(struct net *net);
void ndp_stat_net_exit(struct net *net);

/* sysctl.c */
int ndp_sysctl_net_init(struct net *net);
void ndp_sysctl_net_exit(struct net *net);

#endif /* _NDP_NET_H */
