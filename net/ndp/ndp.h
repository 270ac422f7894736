/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, what its files share.
 *
 * Names: "conn" is a socket that has a peer.  An entry is what the demux table
 * holds: a conn or the tombstone that a conn leaves.  PSNs are packet sequence
 * numbers, compared modulo 2^32.
 *
 * Locks, outermost first (Documentation/locking.md):
 *
 *   lock_sock(sk)	system calls against each other: buffers being filled
 *			and drained, state changes asked for by the application
 *   ndp_sock.lock	all protocol state, the memory account of the socket
 *			and both queues; taken with softirqs off, from receive,
 *			timers and system calls
 *   ndp_pullq.lock	a device's round of connections
 *   ndp_net.bind_lock, ndp_net.tomb_lock, sk_receive_queue.lock (unused)
 *
 * A listener's ndp_sock.lock is taken with no other ndp_sock.lock held.
 */
#ifndef _NDP_NDP_H
#define _NDP_NDP_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/percpu_counter.h>
#include <linux/rhashtable.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/ndp_wire.h>
#include <net/sock.h>
#include <uapi/linux/ndp.h>
#include "packet.h"

#define NDP_MSEC		((u64)NSEC_PER_MSEC)

/* Bytes in front of the payload, at most. */
#define NDP_HEADROOM		(MAX_HEADER + sizeof(struct ipv6hdr) + \
				 sizeof(struct udphdr) + NDP_HDR_LEN)

/* Preamble, start delimiter, Ethernet header, FCS and gap of one frame. */
#define NDP_ETH_OVERHEAD	(8 + 14 + 4 + 12)

/*
 * Smallest initial window, packets (design: at least 10), and largest, bytes:
 * what 100 Gb/s carry in 170 us.
 */
#define NDP_IW_MIN		10
#define NDP_IW_MAX_BYTES	(2 << 20)

/*
 * A buffer takes what the largest initial window weighs as skbs, so that a
 * receiver that reads at line rate never refuses a packet.
 */
#define NDP_BUF_DEFAULT		(2 * NDP_IW_MAX_BYTES)

/* First windows that wait for accept(), per listener, bytes. */
#define NDP_UNACCEPTED_MAX	(4 << 20)

/* What each processor may have added to a namespace's memory and not told, bytes. */
#define NDP_MEM_BATCH		(64 << 10)

/* Packets of one socket in the local qdisc, as TCP's small queues. */
#define NDP_QDISC_PKTS		2

/* Rate assumed of a device that tells none, bits per second. */
#define NDP_RATE_DEFAULT	10000000000ULL

/* Retransmission timeout, and the time after which a peer is given up. */
#define NDP_RTO_MIN		(1 * NDP_MSEC)
#define NDP_RTO_MAX		(200 * NDP_MSEC)
#define NDP_GIVE_UP		(30 * 1000 * NDP_MSEC)

/*
 * A connection that no process has any more waits so long for a peer that takes
 * nothing of what was written, unless TCP_USER_TIMEOUT says otherwise; and so long
 * where it is one too many.
 */
#define NDP_ORPHAN_TIME		(120 * 1000 * NDP_MSEC)
#define NDP_ORPHAN_STALLED	(5 * 1000 * NDP_MSEC)

/*
 * Orphans of a namespace, unless net.ndp.max_orphans says otherwise: as TCP's, one
 * for each so many bytes of memory, and no more than this.
 */
#define NDP_ORPHANS_SHIFT	18
#define NDP_ORPHANS_MAX		262144

/* MSG_MORE holds a tail back no longer than this, as TCP does. */
#define NDP_CORK_TIME		(200 * NDP_MSEC)

/* What TCP_CONGESTION says. */
#define NDP_TCP_CONGESTION	"ndp"

/* Options of SOL_TCP that are remembered. */
enum ndp_tcp_option_id {
	NDP_TCP_NODELAY,
	NDP_TCP_CORK,
	NDP_TCP_QUICKACK,
	NDP_TCP_KEEPIDLE,
	NDP_TCP_KEEPINTVL,
	NDP_TCP_KEEPCNT,
	NDP_TCP_SYNCNT,
	NDP_TCP_USER_TIMEOUT,
	NDP_TCP_NOTSENT_LOWAT,
	NDP_TCP_MAXSEG,
	NDP_TCP_DEFER_ACCEPT,
	NDP_TCP_LINGER2,
	NDP_TCP_FASTOPEN,
	NDP_TCP_FASTOPEN_CONNECT,
	NDP_TCP_OPTIONS,
};

/* What the host itself refused is tried again after NDP_RTO_MIN, doubling. */
#define NDP_LOCAL_DOUBLINGS	6U

/* A sender that has data and no credit asks after this long, doubling. */
#define NDP_PROBE_MIN		(10 * NDP_MSEC)
#define NDP_PROBE_MAX		(200 * NDP_MSEC)

/*
 * Headers of a packet that come back in a row before it waits for its timeout; 4 bits.
 * In an incast some come back twice or thrice.
 */
#define NDP_BOUNCES_MAX		8

/* A bare opening leaves after this long if nobody writes or waits. */
#define NDP_SYN_DELAY		(1 * NDP_MSEC)

/* Maximum segment lifetime. */
#define NDP_MSL			(1000 * NDP_MSEC)

/* RSTs to strangers a second, unless net.ndp.rst_rate says otherwise, and at once. */
#define NDP_RST_RATE		10000
#define NDP_RST_BURST		(100 * NDP_MSEC)

/* Bytes sent to an unverified peer for each of its own, unless net.ndp.amplification says. */
#define NDP_AMPLIFICATION	3

/*
 * Tombstones of a namespace, unless net.ndp.tombstones_max says otherwise; beyond twice
 * the bound and so many to spare no connection is opened.  Peers are told apart by a
 * hash of so many values.
 */
#define NDP_TOMBSTONES_MAX	262144
#define NDP_TOMBSTONES_SPARE	1024
#define NDP_TOMB_PEERS		512

/* Depth of a switch's data queue that the initial RTO allows for. */
#define NDP_SWITCH_LIMIT	8
/* Headers that it serves per data packet. */
#define NDP_SWITCH_WEIGHT	10
/* Store-and-forward hops of a three-tier fabric. */
#define NDP_SWITCH_HOPS		6

/* Counters of a namespace; stat.c names them as /proc/net/ndp_stat does. */
enum ndp_stat {
	NDP_STAT_DATA_OUT,
	NDP_STAT_DATA_BYTES_OUT,
	NDP_STAT_DATA_PUSHED,
	NDP_STAT_DATA_RTX,
	NDP_STAT_ACK_OUT,
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
	NDP_STAT_LOCAL_DROP,
	NDP_STAT_DATA_IN,
	NDP_STAT_DATA_BYTES_IN,
	NDP_STAT_TRIMMED_IN,
	NDP_STAT_CRC_IN,
	NDP_STAT_NO_ROOM_IN,
	NDP_STAT_DUP_IN,
	NDP_STAT_ACK_IN,
	NDP_STAT_NACK_IN,
	NDP_STAT_PULL_IN,
	NDP_STAT_PULLED_IN,
	NDP_STAT_PROBE_IN,
	NDP_STAT_COOKIE_IN,
	NDP_STAT_OPEN_IN,
	NDP_STAT_FIN_IN,
	NDP_STAT_RST_IN,
	NDP_STAT_BOUNCED_IN,
	NDP_STAT_BOUNCED_RTX,
	NDP_STAT_TIMEOUTS,
	NDP_STAT_SPURIOUS,
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
	NDP_STAT_DROP_SHORT,
	NDP_STAT_DROP_VERSION,
	NDP_STAT_DROP_TYPE,
	NDP_STAT_DROP_CHECKSUM,
	NDP_STAT_DROP_LENGTH,
	NDP_STAT_DROP_ADDRESS,
	NDP_STAT_DROP_NO_CONN,
	NDP_STAT_DROP_NO_LISTENER,
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

/**
 * struct ndp_net - a namespace's share
 * @udp:	kernel socket on which packets arrive, NULL until first needed
 * @udp6:	the same for IPv6
 * @udp_mutex:	serialises their making and @udp_port
 * @stats:	counters, per CPU
 * @mem:	bytes that packets in the queues of all sockets weigh
 * @mem_max_kb:	bound of that, KiB, 0 for none but the whole module's
 * @orphans:	connections that no process has any more
 * @max_orphans: bound of that
 * @rst_rate:	RSTs to strangers a second, 0: without bound
 * @amplification: bytes that an unverified peer is sent for each of its own, 0: no bound
 * @tombs_max:	bound of @tombs
 * @udp_port:	UDP destination port, host order
 * @base_rtt_us: round-trip time of the idle network, for the initial window
 * @n_paths:	entropy values of a connection without configured paths
 * @pull_rate_mbit: pull rate override, Mb/s, 0 for the link's own
 * @pull_low_share: percent of a device's pulls for those of lower priority
 * @bind_lock:	guards @bind and all bind_node in it
 * @bind:	bound sockets by port
 * @listen:	listeners by port; written under @bind_lock, read under RCU
 * @tomb_lock:	guards the lists below, @tombs and @tomb_peers
 * @tomb_short:	tombstones of acknowledged closes, oldest first
 * @tomb_long:	all others, oldest first
 * @tomb_work:	removes expired ones
 * @tombs:	how many there are
 * @tomb_peers:	of them, by peer, see ndp_tomb_peer()
 * @rst_at:	when all RSTs to strangers that were sent had been due at that rate,
 *		ktime_get_ns()
 * @cookie_key:	secret of cookies
 * @cookie_floor: cookies of no later time are taken, by connection id; under
 *		@tomb_lock
 * @cookies_until: nothing opens without one before, ktime_get_ns(); under @tomb_lock
 * @token_lock:	guards @tokens and what it points to
 * @tokens:	numbers that acceptors gave us for later, NULL until the first comes
 * @path_lock:	guards writing of what follows
 * @path_table:	configured destinations, by prefix; read under RCU
 * @path_plens:	how many there are of each prefix length; read under RCU
 * @path_dsts:	all of them, longest prefix first
 * @n_path_dsts: how many
 * @sysctl_header: registration
 * @sysctl_table: the namespace's copy of the table
 */
struct ndp_net {
	struct socket		*udp;
	struct socket		*udp6;
	struct mutex		udp_mutex;	/* @udp, @udp6, @udp_port */
	struct ndp_stats __percpu *stats;
	u64			begun;		/* ktime_get_ns() */
	struct percpu_counter	mem;
	int			mem_max_kb;
	atomic_t		orphans;
	int			max_orphans;
	int			rst_rate;
	int			amplification;
	int			tombs_max;
	int			udp_port;
	int			base_rtt_us;
	int			n_paths;
	int			pull_rate_mbit;
	int			pull_low_share;

	spinlock_t		bind_lock;	/* @bind, @listen */
#define NDP_BIND_BUCKETS 512
	struct hlist_head	bind[NDP_BIND_BUCKETS];
	struct hlist_head	listen[NDP_BIND_BUCKETS];

	spinlock_t		tomb_lock;	/* the five below */
	struct list_head	tomb_short;
	struct list_head	tomb_long;
	struct delayed_work	tomb_work;
	int			tombs;
	u32			tomb_peers[NDP_TOMB_PEERS];

	atomic64_t		rst_at;

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

	struct ctl_table_header	*sysctl_header;
	struct ctl_table	*sysctl_table;
};

extern unsigned int ndp_net_id;

static inline struct ndp_net *ndp_pernet(const struct net *net)
{
	return net_generic(net, ndp_net_id);
}

#define NDP_INC(net, id) \
	this_cpu_inc(ndp_pernet(net)->stats->v[NDP_STAT_##id])
#define NDP_ADD(net, id, n) \
	this_cpu_add(ndp_pernet(net)->stats->v[NDP_STAT_##id], n)

static inline int ndp_drop(struct net *net, struct sk_buff *skb,
			   enum ndp_stat reason)
{
	this_cpu_inc(ndp_pernet(net)->stats->v[reason]);
	kfree_skb(skb);
	return 0;
}

/* Addresses: of IPv6, or those of IPv4 mapped into them. */
static inline bool ndp_is_ip4(const struct in6_addr *addr)
{
	return ipv6_addr_v4mapped(addr);
}

static inline __be32 ndp_ip4(const struct in6_addr *addr)
{
	return addr->s6_addr32[3];
}

/**
 * struct ndp_key - what a packet must match to belong to a connection
 * @net:	namespace
 * @conn_id:	as on the wire
 * @initiator:	initiator's primary address in the acceptor's entry, else ::,
 *		what returns to the initiator may come to any alias of it
 * @iport:	initiator's NDP port
 * @aport:	acceptor's
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
 * @peer:	to whom it is counted, in ndp_net.tomb_peers
 * @aborted:	ended by a reset: answer what asks with another
 * @rcu:	readers of the table may still look at it
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

/* Classes of a pull queue, one for each NDP_PRIORITY. */
#define NDP_PULL_CLASSES	(NDP_PRIORITY_MAX - NDP_PRIORITY_MIN + 1)

/**
 * struct ndp_pullq - the pull queue of a device (section 3.2)
 * @node:	in the table of all, by @dev
 * @dev:	device, not held: removed when it unregisters
 * @ref:	table and connections
 * @rate_bps:	link speed, bits per second; 0 when unknown
 * @headers:	packets without payload that arrived since the last pull
 * @lock:	guards what follows
 * @round:	connections that have earned pulls, by class, the first served
 *		first; those of a class in turn
 * @low_due:	hundredths of a pull that lower classes have a right to
 * @low_class:	the one of them that was served last
 * @timer:	runs when @next is due and @round has something
 * @next:	ktime_get_ns() before which no further pull leaves
 * @dead:	device gone, nothing may be queued any more
 * @share:	part of @rate_bps in use, 1/1024; lowered while pulled packets
 *		come trimmed
 * @epoch_end:	when @share is looked at next
 * @pulled_in:	pulled packets that arrived in this epoch
 * @trimmed_in:	of them, trimmed
 * @pushed_in:	packets of first windows that arrived in this epoch
 * @pushed_in_prev: and in the one before
 * @pushed_trimmed_in:	packets of first windows that arrived trimmed since the queue at
 *		the port was drained
 * @rcu:	for lookups
 */
struct ndp_pullq {
	struct hlist_node	node;
	struct net_device	*dev;
	refcount_t		ref;
	u64			rate_bps;
	atomic_t		headers;

	spinlock_t		lock;		/* all below */
	struct list_head	round[NDP_PULL_CLASSES];
	u32			low_due;
	unsigned int		low_class;
	struct hrtimer		timer;
	u64			next;
	bool			dead;
	u32			share;
	u64			epoch_end;
	u32			pulled_in;
	u32			trimmed_in;
	u32			pushed_in;
	u32			pushed_in_prev;
	u32			pushed_trimmed_in;
	struct rcu_head		rcu;
};

/* What the send queue knows of a numbered packet, in skb->cb. */
enum ndp_tx_state {
	NDP_TX_FLIGHT,		/* sent, no answer yet; on ndp_sock.flight */
	NDP_TX_NACKED,		/* waits for a pull; on .rtx */
	NDP_TX_LOST,		/* may leave without one; on .lost */
};

struct ndp_tx_cb {
	struct list_head	list;
	u64			sent_at;
	u32			psn;
	u32			tx_seq;
	__be32			crc;
	u16			path;
	u8			flags;		/* NDP_F_LAST, _EOM as first sent */
	u8			timeouts;	/* while no large packet arrived */
	u16			large_in;	/* as it was then; see mtu.c */
	u8			bounces : 4,	/* returns by switches in a row */
				bounced : 1;	/* the last transmission too */
	u8			state : 2,
				fin : 1,
				rtx : 1,	/* sent more than once */
				pulled : 1,	/* a pull was spent on it */
				local_drop : 1,	/* own qdisc refused it */
				limited : 1,	/* went in fragments, to be sure */
				refused : 1;	/* until a cookie is shown */
	u32			first_at;	/* first sent, ndp_rtt_clock() */
};

/* Time as a packet remembers it, in units of 1024 ns, modulo 2^32. */
static inline u32 ndp_rtt_clock(u64 ns)
{
	return ns >> 10;
}

static inline struct ndp_tx_cb *ndp_tx_cb(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct ndp_tx_cb) > sizeof_field(struct sk_buff, cb));
	return (struct ndp_tx_cb *)skb->cb;
}

/* And the receive queue; @off is how much of the skb has been read. */
struct ndp_rx_cb {
	u32			psn;
	u32			off;
	bool			fin;
	bool			eom;		/* a message ends with it */
};

static inline struct ndp_rx_cb *ndp_rx_cb(const struct sk_buff *skb)
{
	return (struct ndp_rx_cb *)skb->cb;
}

/**
 * struct ndp_sock - an AF_NDP socket
 *
 * Identity and options, which outlast a connection
 * @inet:	must be first; the IP output path reads it
 * @tomb:	ready for the end of the connection
 * @bind_node:	in ndp_net.bind while @bound
 * @listen_node: in ndp_net.listen while listening
 * @bound:	has a port
 * @autobound:	one that nobody asked for
 * @sync_connect: NDP_SYNC_CONNECT
 * @priority:	NDP_PRIORITY as it was set
 * @partial:	NDP_PARTIAL
 * @iw_opt:	NDP_IW
 * @tcp_option:	values of SOL_TCP, see tcp_option.c
 * @lock:	guards all below unless noted
 *
 * Listener
 * @accept_q:	children that nobody accepted yet
 * @accept_node: child: in its listener's @accept_q
 * @listener:	child: its listener while unaccepted, held
 * @unaccepted:	payload memory of all unaccepted children
 * @unverified:	children, accepted or not, whose peers have not shown that they get what
 *		is sent to their address (verify.c)
 * @unverified_at: child: its listener while it is one of those, held; under @lock
 *
 * The local qdisc and the timer, which may outlast a connection
 * @throttled:	enough of ours is in the qdisc; its leaving goes on
 * @tx_seq:	packets handed to the qdisc
 * @tx_departed:	of them, gone from it; written by the skb destructor, no lock
 * @tasklet:	goes on with sending after @throttled
 * @tasklet_queued: it will
 * @timer:	one timer for all deadlines
 * @timer_held:	it is queued or its handler has not begun: it has a reference
 * @timer_at:	when it runs; U64_MAX: not pending
 *
 * A connection; from here on ndp_conn_clear() forgets
 * @entry:	in the demux table while @hashed
 * @hashed:	it is
 * @acceptor:	this end was opened by a packet
 * @answered:	the peer was heard
 * @cookie:	initiator: the last that was asked for, 0: none
 * @by_cookie:	acceptor: opened by one
 * @held_back:	the limit on what an unverified peer is sent holds something back
 * @path_mask:	what path numbers are masked with on the wire, random at the acceptor
 * @unverified_in: bytes that came of the peer while unverified, IP headers included
 * @unverified_out: and those sent
 * @unverified_since: when that began, ktime_get_ns()
 * @challenge_at: when the peer is challenged next, 0 for not
 * @challenge_ns: time until the challenge after that
 * @local:	our address
 * @peer:	and the peer's
 *
 * Sender
 * @sendq:	written, not numbered
 * @txq:	numbered, not acknowledged, by PSN
 * @flight:	of them, sent and unanswered, by time of sending
 * @rtx:	of them, known trimmed, waiting for a pull
 * @lost:	of them, to be sent again without a pull
 * @isn:	first PSN
 * @snd_una:	lowest PSN not acknowledged
 * @snd_nxt:	next PSN
 * @snd_last:	highest PSN that left with LAST
 * @credit:	packets pulled and not sent
 * @pull_rcvd:	highest pull counter received
 * @expect_pulls: packets answered that should have earned a pull, less the pulls
 *		received; answers overtake one another, so it may be below 0
 * @flight_bytes: payload on @flight
 * @flight_upto_last:	of that, at or below @snd_last
 * @pushed_since_last:	payload pushed above @snd_last, answered or not
 * @snd_window:	peer's room, by its newest answer
 * @window_psn:	PSN of that answer
 * @iw:		initial window, packets
 * @mss:	payload per packet
 * @large_in:	large packets acknowledged, modulo 2^16
 * @small_level: doublings of the time for which packets stay small next
 * @ack_share:	moving share of ACKs among answers, 0 to 256
 * @more:	the application is in the middle of a write
 * @corked:	MSG_MORE: hold back a tail that is not full
 * @unended:	written with MSG_MORE: the beginning of a message
 * @unended_bytes: how much that is
 * @fin_queued:	no data will be added to @sendq
 * @fin_sent:	FIN has a PSN
 * @opened:	something was sent
 *
 * Receiver
 * @ooo:	packets beyond a gap, by PSN
 * @ooo_len:	how many
 * @irs_known:	@irs is valid
 * @irs:	peer's first PSN
 * @rcv_nxt:	lowest PSN not received
 * @rcv_max:	highest PSN heard of
 * @rcv_last:	it carried LAST: pulls for missing packets alone
 * @rcv_fin:	FIN was received in order
 * @rcv_refused: a packet found no room, and there was no sign of room since: no pulls
 * @low_waits:	the packet at @rcv_nxt came trimmed, or may have, and waits for a pull
 * @peer_done:	peer has nothing unacknowledged and will send nothing again
 * @pull_sent:	pull counter
 * @pull_told:	of it, what the peer was told
 * @told_psn:	PSN of the newest answer, as the peer knows it
 * @pull_owed:	pulls earned by arrivals and not granted
 * @reserved:	pulled packets that have not arrived
 * @turns_taken:	turns had: first-window packets that arrived whole; under
 *		@pullq's lock
 * @rcv_bytes:	payload received in order, modulo 2^32
 * @read_bytes:	of it, read; under the socket lock
 * @rcv_msgs:	ends of messages in the receive queue
 * @rcv_split:	a part of the first was read; under the socket lock
 * @rcv_mss:	largest payload seen
 * @rcv_truesize: largest truesize seen
 * @rcv_window:	as the newest answer has it
 * @pullq:	of the device that packets come in by; NULL: not paced
 * @pullq_dev:	device that it was looked up for, compared only
 * @elsewhere_in: DATA that came in by other devices, less that by @pullq_dev
 * @pull_node:	in @pullq's round, under its lock
 * @pull_queued: in @pullq's round, or being served
 * @pull_class:	class in which it was queued last, under @pullq's lock
 *
 * Paths and time
 * @paths:	ways to the peer
 * @srtt_ns:	smoothed RTT, 0 without a sample
 * @rttvar_ns:	its deviation
 * @rto_ns:	timeout without backoff
 * @rto_floor_ns: least it may be on this link
 * @backoff:	doublings of it
 * @backoff_next: not doubled again before
 * @local_backoff: doublings of the time until what the host refused is retried
 * @small_until: packets stay small until then, 0: they do not
 * @silent_since: first send since the peer was heard; 0: nothing outstanding
 * @probe_at:	when to send a PROBE, 0 for not
 * @probe_ns:	interval of PROBEs
 * @stalled_since: first PROBE or NACK since the peer took something, 0: none was
 * @syn_at:	when to send a bare opening, 0 for not
 * @cork_at:	when a tail held back by MSG_MORE leaves anyway, 0: none is
 * @keep_at:	when keepalive is due, 0: off
 * @keep_probes: sent since the peer was heard
 * @orphan_since: when the peer of an orphan has last taken something, or the socket
 *		was closed; 0: a process has it
 * @info:	counters for NDP_INFO
 */
struct ndp_sock {
	struct inet_sock	inet;
	struct ndp_tombstone	*tomb;
	struct hlist_node	bind_node;
	struct hlist_node	listen_node;
	bool			bound;
	bool			autobound;
	bool			sync_connect;
	s8			priority;
	bool			partial;
	u32			iw_opt;
	int			tcp_option[NDP_TCP_OPTIONS];

	spinlock_t		lock;		/* protocol state */

	struct list_head	accept_q;
	struct list_head	accept_node;
	struct sock		*listener;
	atomic_t		unaccepted;
	atomic_t		unverified;
	struct sock		*unverified_at;

	bool			throttled;
	u32			tx_seq;
	atomic_t		tx_departed;
	struct tasklet_struct	tasklet;
	unsigned long		tasklet_queued;
	struct hrtimer		timer;
	bool			timer_held;
	u64			timer_at;

	struct ndp_entry	entry;		/* first that is cleared */
	bool			hashed;
	bool			acceptor;
	bool			answered;
	u64			cookie;
	bool			by_cookie;
	bool			held_back;
	u16			path_mask;
	u64			unverified_in;
	u64			unverified_out;
	u64			unverified_since;
	u64			challenge_at;
	u64			challenge_ns;
	struct in6_addr		local;
	struct in6_addr		peer;

	struct sk_buff_head	sendq;
	struct rb_root		txq;
	struct list_head	flight;
	struct list_head	rtx;
	struct list_head	lost;
	u32			isn;
	u32			snd_una;
	u32			snd_nxt;
	u32			snd_last;
	u32			credit;
	u32			pull_rcvd;
	s32			expect_pulls;
	u32			flight_bytes;
	u32			flight_upto_last;
	u32			pushed_since_last;
	u32			flight_pkts;
	u32			rtx_pkts;
	u32			snd_window;
	u32			window_psn;
	u32			sendq_bytes;
	u32			iw;
	u32			mss;
	u16			ack_share;
	u16			large_in;
	u8			small_level;
	struct sk_buff_head	unended;
	u32			unended_bytes;
	bool			more;
	bool			corked;
	bool			fin_queued;
	bool			fin_sent;
	bool			opened;

	struct rb_root		ooo;
	u32			ooo_len;
	bool			irs_known;
	bool			rcv_last;
	bool			rcv_fin;
	bool			rcv_refused;
	bool			low_waits;
	bool			peer_done;
	u32			irs;
	u32			rcv_nxt;
	u32			rcv_max;
	u32			pull_sent;
	u32			pull_told;
	u32			told_psn;
	u32			pull_owed;
	u32			reserved;
	u32			turns_taken;
	u32			rcv_bytes;
	u32			read_bytes;
	u32			rcv_msgs;
	bool			rcv_split;
	u32			rcv_mss;
	u32			rcv_truesize;
	u32			rcv_window;
	struct ndp_pullq	*pullq;
	const struct net_device	*pullq_dev;
	u8			elsewhere_in;
	struct list_head	pull_node;
	bool			pull_queued;
	u8			pull_class;

	struct ndp_paths	*paths;
	u64			srtt_ns;
	u64			rttvar_ns;
	u64			rto_ns;
	u64			rto_floor_ns;
	u32			backoff;
	u64			backoff_next;
	u32			local_backoff;
	u64			small_until;
	u64			silent_since;
	u64			probe_at;
	u64			probe_ns;
	u64			stalled_since;
	u64			syn_at;
	u64			cork_at;
	u64			keep_at;
	u32			keep_probes;
	u64			orphan_since;

	struct ndp_info		info;
};

static inline struct ndp_sock *ndp_sk(const struct sock *sk)
{
	return (struct ndp_sock *)sk;
}

static inline struct sock *ndp_to_sk(struct ndp_sock *np)
{
	return &np->inet.sk;
}

/**
 * struct ndp6_sock - one of protocol 1, which speaks IPv6 as well
 * @ndp:	must be first
 * @inet6:	for the core, by inet6_sk()
 */
struct ndp6_sock {
	struct ndp_sock		ndp;
	struct ipv6_pinfo	inet6;
};

/* Is it a socket of messages, SOCK_SEQPACKET? */
static inline bool ndp_has_messages(const struct ndp_sock *np)
{
	return np->inet.sk.sk_type == SOCK_SEQPACKET;
}

/* An empty packet with room for all headers.  Return: the packet or NULL. */
static inline struct sk_buff *ndp_alloc_control(void)
{
	struct sk_buff *skb = alloc_skb(NDP_HEADROOM, GFP_ATOMIC);

	if (skb)
		skb_reserve(skb, NDP_HEADROOM);
	return skb;
}

/* Bytes of IP and UDP headers of a connection's packets. */
static inline u32 ndp_outer_len(const struct ndp_sock *np)
{
	return sizeof(struct udphdr) +
	       (ndp_is_ip4(&np->peer) ? sizeof(struct iphdr) :
					sizeof(struct ipv6hdr));
}

/* Lockless readers of the state see what was written before it. */
static inline void ndp_set_state(struct sock *sk, int state)
{
	/* Pairs with smp_load_acquire() in ndp_poll(). */
	smp_store_release(&sk->sk_state, state);
}

static inline bool psn_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/*
 * Memory of queued packets: the socket's account, and its namespace's.  Context of
 * all: np->lock held.
 */
static inline void ndp_mem_add(struct sock *sk, int n)
{
	percpu_counter_add_batch(&ndp_pernet(sock_net(sk))->mem, n,
				 NDP_MEM_BATCH);
}

/* Has the namespace as much as it may? */
static inline bool ndp_mem_full(const struct sock *sk)
{
	struct ndp_net *nn = ndp_pernet(sock_net(sk));
	s64 max = READ_ONCE(nn->mem_max_kb) * 1024LL;

	return max &&
	       __percpu_counter_compare(&nn->mem, max, NDP_MEM_BATCH) >= 0;
}

static inline void ndp_wmem_charge(struct ndp_sock *np, const struct sk_buff *skb)
{
	struct sock *sk = ndp_to_sk(np);

	sk_wmem_queued_add(sk, skb->truesize);
	sk_mem_charge(sk, skb->truesize);
	ndp_mem_add(sk, skb->truesize);
}

static inline void ndp_wmem_uncharge(struct ndp_sock *np, const struct sk_buff *skb)
{
	struct sock *sk = ndp_to_sk(np);

	sk_wmem_queued_add(sk, -skb->truesize);
	sk_mem_uncharge(sk, skb->truesize);
	ndp_mem_add(sk, -skb->truesize);
}

/* Bytes that can be read.  Any context. */
static inline u32 ndp_inq(const struct ndp_sock *np)
{
	return READ_ONCE(np->rcv_bytes) - READ_ONCE(np->read_bytes);
}

/* The reader has nothing to read, and nothing was pulled: it frees nothing. */
static inline bool ndp_starved(const struct ndp_sock *np)
{
	return !np->reserved && !ndp_inq(np);
}

/* Do those that nobody has accepted hold all that they may?  Context: np->lock held. */
static inline bool ndp_listener_full(const struct ndp_sock *np, u32 truesize)
{
	return np->listener && (u32)atomic_read(&ndp_sk(np->listener)->unaccepted) +
			       truesize > NDP_UNACCEPTED_MAX;
}

/* Is a packet missing below one that was heard of?  Once @irs_known; np->lock held. */
static inline bool ndp_has_gap(const struct ndp_sock *np)
{
	return np->rcv_nxt != np->rcv_max + 1;
}

/* The packet that has been longest on one of the lists, or NULL. */
static inline struct sk_buff *ndp_tx_first(struct list_head *list)
{
	struct ndp_tx_cb *cb;

	cb = list_first_entry_or_null(list, struct ndp_tx_cb, list);
	return cb ? container_of((void *)cb, struct sk_buff, cb) : NULL;
}

/* What is in the receive buffer, and what was pulled and will be.  Any context. */
static inline s64 ndp_rmem_used(const struct ndp_sock *np)
{
	return atomic_read(&np->inet.sk.sk_rmem_alloc) +
	       (s64)np->reserved * np->rcv_truesize;
}

/* The peer has all that was written, and knows that it is all. */
static inline bool ndp_fin_acked(const struct ndp_sock *np)
{
	return np->fin_sent && READ_ONCE(np->snd_una) == np->snd_nxt;
}

/* NDP_SYNC_CONNECT, and the peer has not answered yet. */
static inline bool ndp_sync_opening(const struct sock *sk)
{
	return ndp_sk(sk)->sync_connect && sk->sk_state == TCP_SYN_SENT;
}

/* Both sides have finished, and both know. */
static inline bool ndp_both_finished(const struct ndp_sock *np)
{
	return ndp_fin_acked(np) && np->rcv_fin;
}

/* Path numbers on the wire, see verify.c. */
static inline __be16 ndp_path_to_wire(const struct ndp_sock *np, u16 path)
{
	return htons(path ^ np->path_mask);
}

static inline u16 ndp_path_from_wire(const struct ndp_sock *np, __be16 path)
{
	return ntohs(path) ^ np->path_mask;
}

/* What waited for more may go.  Context: np->lock held. */
static inline void ndp_uncork(struct ndp_sock *np)
{
	np->corked = false;
	np->more = false;
	np->cork_at = 0;
}

/* The retransmission timeout in force. */
static inline u64 ndp_rto(const struct ndp_sock *np)
{
	return min(np->rto_ns << min(np->backoff, 8U),
		   max(NDP_RTO_MAX, np->rto_ns));
}

/* The peer was heard: timeouts begin to double anew.  Context: np->lock held. */
static inline void ndp_rto_restart(struct ndp_sock *np)
{
	np->backoff = 0;
	np->backoff_next = 0;
}

/* answer.c */
void ndp_rcv_control(struct ndp_sock *np, struct sk_buff *skb);
void ndp_rcv_bounced(struct ndp_sock *np, const struct ndphdr *nh);

/* data.c */
void ndp_rcv_data(struct ndp_sock *np, struct sk_buff *skb);
bool ndp_rcv_after_close(struct ndp_sock *np, const struct sk_buff *skb);

/* connect.c */
int ndp_check_addr(const struct sock *sk, const struct sockaddr *addr, int len);
void ndp_conn_renew(struct sock *sk);
int ndp_connect_locked(struct socket *sock, struct sockaddr *addr, int len,
		       int flags);

/* option.c */
int ndp_setsockopt(struct socket *sock, int level, int optname,
		   sockptr_t optval, unsigned int optlen);
int ndp_getsockopt(struct socket *sock, int level, int optname,
		   char __user *optval, int __user *optlen);

/* sock.c */
extern struct proto ndp_prot;
extern struct proto ndp6_prot;
int ndp_sock_register(void);
void ndp_sock_unregister(void);
struct sock *ndp_sock_alloc(struct net *net, struct socket *sock,
			    int family, int kern);
struct ndp_sock *ndp_sock_clone(const struct sock *lsk);
void ndp_set_names(struct sock *sk, const struct in6_addr *local,
		   const struct in6_addr *peer, __be16 dport);
void ndp_forget_names(struct sock *sk);

/* deadline.c */
void ndp_timer_update(struct ndp_sock *np);
void ndp_timer_stop(struct ndp_sock *np);

/* patience.c */
int ndp_tcp_option(const struct ndp_sock *np, enum ndp_tcp_option_id id);
u64 ndp_user_timeout(const struct ndp_sock *np);
u64 ndp_orphan_time(const struct ndp_sock *np);
void ndp_keepalive_set(struct ndp_sock *np, bool on);
void ndp_keepalive_start(struct ndp_sock *np);
bool ndp_keepalive_check(struct ndp_sock *np, u64 now);

/* rtt.c */
void ndp_rto_init(struct ndp_sock *np);
void ndp_rto_back_off(struct ndp_sock *np, u64 now);
void ndp_rtt_answer(struct ndp_sock *np, const struct ndp_tx_cb *cb);

/* af_ndp.c */
extern int ndp_family;

/* bind.c */
struct in6_addr ndp_bound_addr(const struct sock *sk);
int ndp_bind_port(struct sock *sk, unsigned short port);
int ndp_autobind(struct sock *sk);
void ndp_unbind(struct sock *sk);
int ndp_listen_add(struct sock *sk);
void ndp_listen_del(struct sock *sk);
struct sock *ndp_listen_lookup(struct net *net, struct sk_buff *skb);

/* conn.c */
void ndp_conn_unhash(struct ndp_sock *np, bool aborted);
void ndp_conn_clear(struct ndp_sock *np);
int ndp_conn_setup(struct ndp_sock *np, gfp_t gfp);
void ndp_conn_established(struct ndp_sock *np);
void ndp_conn_abort(struct ndp_sock *np, int err, bool tell);
void ndp_conn_end(struct ndp_sock *np);
void ndp_conn_check_done(struct ndp_sock *np);
void ndp_conn_orphan(struct ndp_sock *np);
bool ndp_orphan_limit(struct ndp_sock *np, bool stalled);
void ndp_conn_purge(struct ndp_sock *np);
void ndp_conn_purge_unended(struct ndp_sock *np);

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

/* input.c */
int ndp_rcv(struct sock *udp, struct sk_buff *skb);

/**
 * struct ndp_flow - what headers of a packet say, and what routes it
 * @saddr:	source; for ndp_ip_route(): or any
 * @daddr:	destination
 * @sport:	UDP source port
 * @mark:	routing mark
 * @oif:	device to go by, 0 for any
 * @limit:	fragments are no longer than this, 0: than the route says
 */
struct ndp_flow {
	struct in6_addr		saddr;
	struct in6_addr		daddr;
	__be16			sport;
	u32			mark;
	int			oif;
	u32			limit;
};

/* ip.c */
void ndp_skb_addrs(const struct sk_buff *skb, struct in6_addr *saddr,
		   struct in6_addr *daddr);
u8 ndp_skb_tos(const struct sk_buff *skb);
__sum16 ndp_ip_checksum(const struct ndphdr *nh, const struct in6_addr *saddr,
			const struct in6_addr *daddr);
struct dst_entry *ndp_ip_route(struct net *net, struct sock *sk,
			       struct ndp_flow *flow);
u32 ndp_ip_cookie(const struct dst_entry *dst);
int ndp_ip_send(struct net *net, struct sock *sk, struct sk_buff *skb,
		const struct ndp_flow *flow, u8 dscp);

/**
 * enum ndp_opening - what an opening shows of its sender's address
 * @NDP_OPENED_BY_DATA:	nothing
 * @NDP_OPENED_BY_TOKEN: it is the sender's, by a token of an earlier connection
 * @NDP_OPENED_BY_COOKIE: it is, by a cookie of this connection, which is good only once
 */
enum ndp_opening {
	NDP_OPENED_BY_DATA,
	NDP_OPENED_BY_TOKEN,
	NDP_OPENED_BY_COOKIE,
};

/* listen.c */
struct ndp_sock *ndp_listen_open(struct sock *lsk, struct sk_buff *skb,
				 const struct ndp_key *key,
				 enum ndp_opening how);
void ndp_listen_flush(struct ndp_sock *lnp);
struct sock *ndp_accept_dequeue(struct ndp_sock *lnp);
void ndp_child_accepted(struct ndp_sock *np);

/* mtu.c */
void ndp_mtu_note(struct ndp_sock *np, struct ndp_path *path,
		  const struct dst_entry *dst);
u32 ndp_mtu_limit(struct ndp_sock *np);
void ndp_mtu_lost(struct ndp_sock *np, const struct sk_buff *skb);
void ndp_mtu_arrived(struct ndp_sock *np, const struct sk_buff *skb);
void ndp_mtu_cut(struct ndp_sock *np, struct sk_buff *skb, u32 max);

/* netlink.c */
int ndp_netlink_init(void);
void ndp_netlink_exit(void);

/* output.c */
void ndp_output(struct ndp_sock *np);
void ndp_send_open(struct ndp_sock *np);
void ndp_tasklet(struct tasklet_struct *t);

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

/* pull.c */
int ndp_pull_init(void);
void ndp_pull_exit(void);
void ndp_pull_request(struct ndp_sock *np);
void ndp_pull_more(struct ndp_sock *np);
int ndp_pull_priority(const struct ndp_sock *np);
void ndp_pull_reorder(struct ndp_sock *np);
void ndp_pull_forget_turns(struct ndp_sock *np);
void ndp_pull_header(struct ndp_sock *np, const struct net_device *dev);
void ndp_pull_device(struct ndp_sock *np, const struct net_device *dev);
void ndp_pull_detach(struct ndp_sock *np);
void ndp_pull_feedback(struct ndp_sock *np, bool pulled, bool trimmed);
u64 ndp_pull_rate(struct ndp_sock *np);
u64 ndp_dev_rate(struct net *net, const struct net_device *dev);

/* reassembly.c */
bool ndp_learn_irs(struct ndp_sock *np, u32 irs);
bool ndp_ooo_find(const struct ndp_sock *np, u32 psn);
void ndp_conn_purge_ooo(struct ndp_sock *np);
void ndp_conn_purge_read(struct ndp_sock *np);
void ndp_rcv_queue(struct ndp_sock *np, struct sk_buff *skb);

/* repair.c */
#if IS_ENABLED(CONFIG_NETFILTER_INGRESS)
bool ndp_repair_on(const struct net_device *dev);
int ndp_repair_add(struct net_device *dev);
int ndp_repair_del(struct net_device *dev);
int ndp_repair_init(void);
void ndp_repair_exit(void);
#else
static inline bool ndp_repair_on(const struct net_device *dev)
{
	return false;
}

static inline int ndp_repair_add(struct net_device *dev)
{
	return -EOPNOTSUPP;
}

static inline int ndp_repair_del(struct net_device *dev)
{
	return -ENOENT;
}

static inline int ndp_repair_init(void)
{
	return 0;
}

static inline void ndp_repair_exit(void)
{
}
#endif

/* reply.c */
void ndp_send_reply(struct net *net, const struct sk_buff *skb,
		    enum ndp_type type, u8 flags, u64 cookie);
void ndp_refuse(struct net *net, const struct sk_buff *skb);

/* room.c */
bool ndp_rmem_charge(struct ndp_sock *np, struct sk_buff *skb);
void ndp_rmem_uncharge(struct ndp_sock *np, struct sk_buff *skb);
bool ndp_room(const struct ndp_sock *np);
bool ndp_room_for(const struct ndp_sock *np, const struct sk_buff *skb,
		  u32 psn);
u32 ndp_window(struct ndp_sock *np);
bool ndp_msg_readable(const struct ndp_sock *np);
bool ndp_readable(const struct ndp_sock *np);

/* sendq.c */
struct sk_buff *ndp_tx_find(struct ndp_sock *np, u32 psn);
void ndp_tx_insert(struct ndp_sock *np, struct sk_buff *skb);
void ndp_tx_to_flight(struct ndp_sock *np, struct sk_buff *skb);
void ndp_tx_nacked(struct ndp_sock *np, struct sk_buff *skb);
void ndp_tx_lost(struct ndp_sock *np, struct sk_buff *skb);
void ndp_tx_all_lost(struct ndp_sock *np, struct list_head *list, bool refused);
void ndp_tx_done(struct ndp_sock *np, struct sk_buff *skb);

/* message.c */
int ndp_msg_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int ndp_msg_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		    int flags);

/* stat.c */
int ndp_stat_net_init(struct net *net);
void ndp_stat_net_exit(struct net *net);

/* stream.c */
int ndp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int ndp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);
int ndp_fill_skb(struct sock *sk, struct sk_buff *skb, struct msghdr *msg,
		 u32 max);
int ndp_send_begin(struct socket *sock, struct msghdr *msg, long *timeo);
int ndp_send_wait(struct sock *sk, u32 size, long *timeo);
void ndp_send_abort_late(struct ndp_sock *np);
bool ndp_rx_at_end(const struct sock *sk);
int ndp_rx_ended(struct sock *sk);
int ndp_rx_may_wait(long timeo);
void ndp_rx_wait(struct sock *sk, long *timeo, const struct sk_buff *tail);
void ndp_rx_consumed(struct ndp_sock *np, struct sk_buff *skb);
void ndp_rx_stamp(const struct sock *sk, struct sk_buff *skb,
		  struct sk_buff **stamped);
void ndp_open_now(struct ndp_sock *np);
__poll_t ndp_poll(struct file *file, struct socket *sock, poll_table *wait);
int ndp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);

/* sysctl.c */
int ndp_sysctl_net_init(struct net *net);
void ndp_sysctl_net_exit(struct net *net);

/* table.c */
int ndp_table_init(void);
void ndp_table_exit(void);
struct ndp_entry *ndp_entry_lookup(const struct ndp_key *key);
struct ndp_sock *ndp_conn_get(struct ndp_entry *e);
void ndp_conn_walk_begin(struct rhashtable_iter *walk);
void ndp_conn_walk(struct rhashtable_iter *walk, const struct net *net,
		   int (*visit)(struct ndp_sock *np, void *arg), void *arg);
void ndp_conn_walk_end(struct rhashtable_iter *walk);
int ndp_conn_hash(struct ndp_sock *np, struct ndp_entry **existing);
void ndp_entry_replace(struct ndp_entry *e, struct ndp_entry *tomb);
void ndp_entry_remove(struct ndp_entry *e);

/* tcp_option.c */
void ndp_tcp_options_init(struct ndp_sock *np);
int ndp_tcp_setsockopt(struct sock *sk, int optname, int val);
int ndp_tcp_getsockopt(const struct sock *sk, int optname, int *val);
int ndp_tcp_set_congestion(sockptr_t optval, unsigned int optlen);
void ndp_tcp_info(struct ndp_sock *np, struct tcp_info *info);
void ndp_keepalive(struct sock *sk, int on);

/* timer.c */
enum hrtimer_restart ndp_timer(struct hrtimer *t);

/* timewait.c */
struct ndp_tombstone *ndp_tomb_alloc(gfp_t gfp);
bool ndp_tomb_full(const struct ndp_net *nn);
bool ndp_tomb_refuses(const struct ndp_net *nn, const struct ndp_key *key);
u64 ndp_tomb_time(bool brief);
void ndp_tomb_start(struct ndp_net *nn, struct ndp_tombstone *tomb,
		    bool brief);
void ndp_tomb_rcv(struct net *net, struct ndp_tombstone *tomb,
		  const struct sk_buff *skb);
void ndp_tomb_net_init(struct ndp_net *nn);
void ndp_tomb_net_exit(struct ndp_net *nn);

/* udp.c */
int ndp_udp_get(struct net *net, int family);
void ndp_udp_net_exit(struct ndp_net *nn);

/* verify.c */
bool ndp_listen_demands_cookie(const struct sock *lsk);

/* Has the peer not shown yet that it is where it says?  Context: np->lock held. */
static inline bool ndp_is_unverified(const struct ndp_sock *np)
{
	return unlikely(np->unverified_at);
}

/* And its listener demands cookies: challenge it and do not pull.  Context: as above. */
static inline bool ndp_must_verify(const struct ndp_sock *np)
{
	return ndp_is_unverified(np) &&
	       ndp_listen_demands_cookie(np->unverified_at);
}

/* A packet for an unverified peer counts against its limit; data at the NDP header. */
static inline void ndp_unverified_sent(struct ndp_sock *np,
				       const struct sk_buff *skb)
{
	np->unverified_out += skb->len + ndp_outer_len(np);
}

void ndp_unverified_begin(struct ndp_sock *np, struct sock *lsk);
void ndp_unverified_end(struct ndp_sock *np);
void ndp_unverified_received(struct ndp_sock *np, const struct sk_buff *skb);
u32 ndp_unverified_most(const struct ndp_sock *np);
bool ndp_unverified_holds(struct ndp_sock *np, u32 len);
void ndp_verified(struct ndp_sock *np, bool challenged);
void ndp_verified_by_answer(struct ndp_sock *np, const struct ndp_tx_cb *cb,
			    u16 path);
void ndp_challenge(struct ndp_sock *np);
bool ndp_check_challenge(struct ndp_sock *np, u64 now);
void ndp_token_keep(struct ndp_sock *np, u64 value);
void ndp_token_show(struct ndp_sock *np);
void ndp_verify_net_init(struct ndp_net *nn);
void ndp_verify_net_exit(struct ndp_net *nn);

/* xmit.c */
u32 ndp_skb_crc(struct sk_buff *skb, int off, int len);
int ndp_xmit(struct ndp_sock *np, struct sk_buff *skb, u16 pathno,
	     u8 dscp, u32 limit);
struct ndphdr *ndp_put_header(struct ndp_sock *np, struct sk_buff *skb,
			      enum ndp_type type, u8 flags, u32 psn,
			      u16 pathno);
void ndp_send_answer(struct ndp_sock *np, enum ndp_type type, u32 psn,
		     u16 echo_path, u8 flags);
void ndp_send_pull(struct ndp_sock *np);
void ndp_send_probe(struct ndp_sock *np);
void ndp_send_rst(struct ndp_sock *np);
void ndp_send_cookie(struct ndp_sock *np, u64 cookie, u8 flags);

#endif /* _NDP_NDP_H */
