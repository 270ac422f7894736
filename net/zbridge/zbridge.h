/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zbridge: declarations common to its files.  flow.c has the overview.
 *
 * Calls run downwards only:
 *
 *	link		netlink: tunnels and their options
 *	device		the network device, a port of a switch: frames in and out, room
 *	flow		state of flows: handshake, timeouts, close; dispatch of packets
 *	arq		Algorithm 5.3: numbers, copies, retransmission
 *	udp		packets: headers, routes, sockets
 *	fdb stats	which host an address is at; counters
 *
 * Locks, outermost first:
 *
 *	RTNL			tunnels, their options, static addresses
 *	zbr_flow.lock		one flow; frames are sent, and handed to the switch, under it.
 *				The switch's locks nest inside it, so functions that the switch
 *				calls (stop, wake, kick) do not take it.  A device stacked on a
 *				tunnel may be called meanwhile: its frames are dropped (zbr_handing)
 *	zbridge.lock		half-open flows, and flows that wait for the switch
 *	zbridge.fdb_lock	changes of the forwarding database; never with zbridge.lock
 *
 * Flows and addresses are found under RCU.
 */
#ifndef _NET_ZBRIDGE_ZBRIDGE_H
#define _NET_ZBRIDGE_ZBRIDGE_H

#include <linux/hrtimer.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/ratelimit.h>
#include <linux/rbtree.h>
#include <linux/rhashtable.h>
#include <linux/skbuff.h>
#include <linux/u64_stats_sync.h>
#include <linux/udp.h>
#include <linux/zbridge.h>
#include <net/zswitch.h>
#include "wire.h"

#define ZBR_PRIOS	8

/* Transmit queues, which the switch stops and wakes, per priority */
#define ZBR_TXQS	(ZSWITCH_TXQS / ZBR_PRIOS)

/* Initial retransmission timeout, in jiffies */
#define ZBR_RTO		msecs_to_jiffies(20)

/* Bytes of memory that packets of a priority may take in the queues of this host's NIC */
#define ZBR_QUEUED	(256 << 10)

/* Limit of the bytes of a priority that wait for room in their flows' buffers */
#define ZBR_PENDING	(256 << 10)

/* Room in front of a kept frame */
#define ZBR_HEADROOM	(LL_MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct udphdr) + \
			 sizeof(struct zbr_hdr))

/**
 * struct zbr_config - options of a tunnel; written under RTNL
 * @id:		network id (VNI)
 * @local:	address of this host; IPv4 as an IPv4-mapped IPv6 address
 * @link:	interface index of the device that packets leave by, or 0
 * @port:	UDP port
 * @learning:	addresses are learnt, and any host may begin a flow
 * @spread:	packets of a flow take many paths
 * @ttl:	TTL of the outer packets; 0: the route's
 * @buffer:	BUF, in frames; 0: by the speed of the device
 * @ask:	P, in frames; 0: the default
 * @memory:	limit in bytes of the sender's kept frames, and again of received frames that are
 *		kept
 */
struct zbr_config {
	u32		id;
	struct in6_addr	local;
	int		link;
	__be16		port;
	bool		learning;
	bool		spread;
	u8		ttl;
	u32		buffer;
	u32		ask;
	u32		memory;
};

struct zbr_stats {
	struct u64_stats_sync	syncp;
	u64_stats_t		n[__ZBRIDGE_STAT_MAX];
};

/**
 * struct zbr_room - what the frames of a priority occupy
 * @zb:		tunnel
 * @account:	socket that is charged for packets in the queues of this host's NIC
 * @write_space:	the socket's own callback, before it was replaced by ours
 * @pending:	bytes of frames that wait for room in their flow's buffer
 */
struct zbr_room {
	struct zbridge	*zb;
	struct socket	*account;
	void		(*write_space)(struct sock *sk);
	atomic_t	pending;
};

struct zbr_port;

/**
 * struct zbridge - a tunnel, private part of its net_device
 * @dev:	device
 * @cfg:	options
 * @port:	port of the switch, or NULL; RTNL, RCU
 * @udp:	UDP port, shared with other tunnels
 * @node:	in @udp's list of tunnels
 * @stats:	counters
 * @napi:	pulls frames from the switch, and resumes flows that the switch had stopped
 * @room:	room in use, by priority
 * @closed:	bitmap of priorities from which no frames are pulled
 * @memory:	bytes of memory of unacknowledged and pending frames
 * @early:	bytes of memory of received frames that are kept
 * @buffer:	BUF of new flows, in frames
 * @stopped:	bitmap of zbr_flow.txq for which the switch has no room
 * @flows:	flows by key
 * @ids:	flows by id
 * @num_flows:	number of flows
 * @num_half_open: number of half-open flows, which other hosts have begun and not confirmed
 * @rsts:	rate limit of RSTs in answer to packets of no flow
 * @lock:	protects @half_open and @blocked
 * @half_open:	half-open flows that may be evicted, oldest first
 * @blocked:	flows that wait until the switch has room, by zbr_flow.txq
 * @fdb:	forwarding database, by address
 * @fdb_aged:	jiffies when old addresses were last looked for
 * @fdb_lock:	serialises changes of @fdb
 * @fdb_list:	entries of @fdb, for walks
 * @told:	hosts that static entries name
 * @defaults:	hosts that frames to unknown addresses and to groups are copied to
 */
struct zbridge {
	struct net_device	*dev;
	struct zbr_config	cfg;
	struct zswitch_port __rcu *port;
	struct zbr_port		*udp;
	struct hlist_node	node;
	struct zbr_stats __percpu *stats;
	struct napi_struct	napi;
	struct zbr_room		room[ZBR_PRIOS];
	unsigned long		closed;
	atomic_t		memory;
	atomic_t		early;
	u32			buffer;
	unsigned long		stopped;
	struct rhashtable	flows;
	struct rhashtable	ids;
	atomic_t		num_flows;
	atomic_t		num_half_open;
	struct ratelimit_state	rsts;
	/* Taken alone, or inside a flow's lock */
	spinlock_t		lock;
	struct list_head	half_open;
	struct list_head	blocked[ZSWITCH_TXQS];
	struct rhashtable	fdb;
	unsigned long		fdb_aged;
	/* Taken alone, or inside a flow's lock */
	spinlock_t		fdb_lock;
	struct hlist_head	fdb_list;
	struct rhashtable	told;
	struct list_head	defaults;
};

/**
 * struct zbr_key - the two vNICs that a flow connects, and its priority
 * @remote:	address of the other host; IPv4 as an IPv4-mapped IPv6 address
 * @here:	MAC address of this host's vNIC
 * @there:	MAC address of the other host's vNIC
 * @prio:	priority
 */
struct zbr_key {
	struct in6_addr	remote;
	u8		here[ETH_ALEN];
	u8		there[ETH_ALEN];
	u32		prio;
};

/**
 * enum zbr_state - state of an end of a flow
 * @ZBR_NEW:	no SYN was sent or received yet
 * @ZBR_SYN_SENT: this end has sent SYN, and waits for SYNACK
 * @ZBR_SYN_RCVD: the other end has sent SYN, this end has answered by SYNACK
 * @ZBR_OPEN:	the handshake is complete
 * @ZBR_CLOSING: this end has asked to close
 * @ZBR_GONE:	the flow is in no table any more
 */
enum zbr_state {
	ZBR_NEW,
	ZBR_SYN_SENT,
	ZBR_SYN_RCVD,
	ZBR_OPEN,
	ZBR_CLOSING,
	ZBR_GONE,
};

/**
 * enum zbr_check - whether both ends of an idle flow are known to agree on its numbers
 * @ZBR_UNCHECKED: the other end was not asked since the flow's last frame
 * @ZBR_CHECKING: the other end was asked, and has not answered
 * @ZBR_CHECKED: both ends agree
 */
enum zbr_check {
	ZBR_UNCHECKED,
	ZBR_CHECKING,
	ZBR_CHECKED,
};

/**
 * struct zbr_msg - a packet's header, as a host reads it
 * @type:	enum zbr_type
 * @flags:	ZBR_F_...
 * @to:		this and the following members: as in struct zbr_hdr
 * @from:	...
 * @seq:	...
 * @ack:	...
 * @prio:	...
 * @count:	this and the next two members: as in struct zbr_ctl; 0 in DATA
 * @dst:	...
 * @src:	...
 * @remote:	host that sent the packet
 * @ce:		the packet arrived with a CE mark
 */
struct zbr_msg {
	u8		type;
	u8		flags;
	u8		prio;
	bool		ce;
	u32		to;
	u32		from;
	u32		seq;
	u32		ack;
	u32		count;
	u8		dst[ETH_ALEN];
	u8		src[ETH_ALEN];
	struct in6_addr	remote;
};

/**
 * struct zbr_flow - an end of a flow between two vNICs
 * @by_key:	in zbridge.flows
 * @by_id:	in zbridge.ids
 * @rcu:	for kfree_rcu()
 * @zb:		tunnel
 * @key:	vNICs and priority of the flow
 * @id:		this end's id of the flow, which packets from the other host carry
 * @peer:	the other end's id of the flow
 * @answer:	SYNACK that arrived after a SYN of the other end; none if @answer.from is 0
 * @lock:	protects what follows
 * @state:	enum zbr_state
 * @check:	enum zbr_check
 * @spread:	packets of the other end may overtake each other
 * @tried:	this end has begun the flow itself after a SYN that nobody confirmed
 * @timer:	runs while the flow exists
 * @sent_at:	jiffies of the last packet sent that wants an answer
 * @heard_at:	jiffies of the last packet received, or of the first one sent that wants an answer
 * @used_at:	jiffies of the last frame, of either direction
 * @rto:	retransmission timeout after @sent_at, in jiffies
 * @una:	number of the first unacknowledged frame
 * @next:	number of the next new frame
 * @window:	frames that may be unacknowledged
 * @since_ask:	frames sent since the last one that asked for an answer
 * @unacked:	copies of sent frames that are not acknowledged
 * @pending:	frames that were not sent yet
 * @timed:	number of the frame whose round-trip time is measured
 * @timed_at:	ns when frame @timed was sent; 0: no frame is timed
 * @min_rtt:	ns, shortest round-trip time, or 0
 * @expected:	number of the next frame that is handed to the switch
 * @top:	frames with lower numbers were received, or reported missing
 * @keep:	how many frames from @expected on may be kept
 * @kept:	received frames, by number, that wait for earlier ones or for the switch
 * @half_open:	in zbridge.half_open; zbridge.lock
 * @owed:	an ACK is owed when the switch has taken the kept frames
 * @blocked:	in zbridge.blocked; zbridge.lock
 * @txq:	transmit queue that the switch stops when it has no room
 * @dst:	cached route
 * @cookie:	cookie of @dst, for dst_check()
 * @sport:	UDP source port less ZBR_SPORT_MIN; switches choose the path by it
 * @tos:	DSCP of the last frame sent
 */
struct zbr_flow {
	struct rhash_head	by_key;
	struct rhash_head	by_id;
	struct rcu_head		rcu;
	struct zbridge		*zb;
	struct zbr_key		key;
	u32			id;
	u32			peer;
	struct zbr_msg		answer;
	/* Taken outside of the switch's locks */
	spinlock_t		lock;
	u8			state;
	u8			check;
	bool			spread;
	bool			tried;
	struct hrtimer		timer;
	unsigned long		sent_at;
	unsigned long		heard_at;
	unsigned long		used_at;
	unsigned long		rto;
	u32			una;
	u32			next;
	u32			window;
	u32			since_ask;
	struct sk_buff_head	unacked;
	struct sk_buff_head	pending;
	u32			timed;
	u64			timed_at;
	u64			min_rtt;
	u32			expected;
	u32			top;
	u32			keep;
	struct rb_root		kept;
	bool			owed;
	struct list_head	half_open;
	struct list_head	blocked;
	u8			txq;
	struct dst_entry	*dst;
	u32			cookie;
	u16			sport;
	u8			tos;
};

/**
 * struct zbr_cb - control block of a kept frame
 * @sent:	ns of its last transmission
 * @seq:	number of the frame
 * @crc:	zbr_crc() of the frame
 * @size:	bytes charged to zbridge.memory or zbridge.early for the frame
 */
struct zbr_cb {
	u64	sent;
	u32	seq;
	u32	crc;
	u32	size;
};

static inline struct zbr_cb *zbr_cb(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct zbr_cb) > sizeof_field(struct sk_buff, cb));
	return (struct zbr_cb *)skb->cb;
}

/* Whether number a is before b; numbers wrap. */
static inline bool zbr_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* stats.c */
void zbr_count(struct zbridge *zb, enum zbridge_stat stat, u64 n);
void zbr_drop(struct zbridge *zb, struct sk_buff *skb, enum zbridge_stat reason);
u64 zbr_stat(const struct zbridge *zb, enum zbridge_stat stat);
int zbr_put_stats(struct sk_buff *skb, const struct zbridge *zb);
size_t zbr_stats_size(void);

/* fdb.c */
int zbr_fdb_init(struct zbridge *zb);
void zbr_fdb_exit(struct zbridge *zb);
bool zbr_fdb_host(struct zbridge *zb, const u8 *addr, struct in6_addr *host);
bool zbr_fdb_knows(struct zbridge *zb, const struct in6_addr *host);
void zbr_fdb_learn(struct zbridge *zb, const u8 *addr, const struct in6_addr *host);
int zbr_fdb_set(struct zbridge *zb, const u8 *addr, const struct in6_addr *host, u16 nlflags);
int zbr_fdb_remove(struct zbridge *zb, const u8 *addr, const struct in6_addr *host);
int zbr_fdb_dump(struct zbridge *zb, struct sk_buff *skb, struct netlink_callback *cb, int first,
		 int *idx);

/**
 * struct zbr_host - a host that frames to unknown addresses and to groups are copied to
 * @node:	in zbridge.defaults
 * @rcu:	for kfree_rcu()
 * @addr:	address of the host
 */
struct zbr_host {
	struct list_head	node;
	struct rcu_head		rcu;
	struct in6_addr		addr;
};

/* udp.c */
/*
 * Nonzero while this CPU hands a packet to the network, or a frame to the switch, under a flow's
 * lock.
 */
DECLARE_PER_CPU(unsigned int, zbr_handing);
int zbr_udp_open(struct zbridge *zb);
void zbr_udp_close(struct zbridge *zb);
u32 zbr_crc(const struct sk_buff *skb, unsigned int offset);
void zbr_udp_send(struct zbr_flow *flow, struct sk_buff *skb, const struct zbr_msg *msg, u32 crc);
void zbr_udp_tell(struct zbr_flow *flow, const struct zbr_msg *msg);
void zbr_udp_answer(struct zbridge *zb, const struct zbr_msg *msg);
bool zbr_udp_is_ip4(const struct in6_addr *addr);

/* arq.c; under the flow's lock */
void zbr_arq_used(struct zbr_flow *flow);
void zbr_arq_send(struct zbr_flow *flow, struct sk_buff *skb);
void zbr_arq_go_on(struct zbr_flow *flow);
bool zbr_arq_acked(struct zbr_flow *flow, u32 ack);
void zbr_arq_nacked(struct zbr_flow *flow, u32 seq, u32 count);
void zbr_arq_ask(struct zbr_flow *flow);
void zbr_arq_ack(struct zbr_flow *flow);
void zbr_arq_asked(struct zbr_flow *flow, u32 end);
void zbr_arq_data(struct zbr_flow *flow, const struct zbr_msg *msg, struct sk_buff *skb);
void zbr_arq_deliver(struct zbr_flow *flow);
void zbr_arq_begin(struct zbr_flow *flow);
void zbr_arq_expect(struct zbr_flow *flow, const struct zbr_msg *msg);
void zbr_arq_tell(struct zbr_flow *flow, enum zbr_type type, u32 seq, u32 count);
void zbr_arq_purge(struct zbr_flow *flow, struct sk_buff_head *queue, enum zbridge_stat reason);
void zbr_arq_purge_kept(struct zbr_flow *flow);
bool zbr_arq_quiet(const struct zbr_flow *flow);

/* flow.c */
int zbr_flows_init(struct zbridge *zb);
void zbr_flows_exit(struct zbridge *zb);
void zbr_flow_send(struct zbridge *zb, const struct in6_addr *host, const u8 *there,
		   struct sk_buff *skb);
void zbr_flow_receive(struct zbridge *zb, struct zbr_msg *msg, struct sk_buff *skb);
void zbr_flow_end_all(struct zbridge *zb);
void zbr_flow_busy(struct zbr_flow *flow);

/* device.c; may be called with any lock held */
void zbr_reopen(struct zbridge *zb);
void zbr_deliver(struct zbr_flow *flow, struct sk_buff *skb);
bool zbr_nic_is_full(const struct zbr_flow *flow);
bool zbr_blocked(struct zbr_flow *flow);
void zbr_unblock(struct zbr_flow *flow);
void zbr_set_buffer(struct zbridge *zb);
void zbr_setup(struct net_device *dev);
extern struct zswitch_kind zbr_kind;

#endif /* _NET_ZBRIDGE_ZBRIDGE_H */
