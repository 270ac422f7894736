/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zbridge: what its files share.  flow.c has the overview.
 *
 * Calls run downwards only:
 *
 *	link		netlink: tunnels and their options
 *	device		the device, as a port of a switch: frames in and out, room
 *	flow		life of flows: handshake, silence, close; which packet does what
 *	arq		Algorithm 5.3: numbers, copies, what is missing
 *	udp		packets: headers, routes, sockets
 *	fdb stats	which host an address is at; counters
 *
 * Locks, outermost first:
 *
 *	RTNL			tunnels, their options, static addresses
 *	zbr_flow.lock		a flow; frames are sent, and handed to the switch, under it.
 *				The switch's locks are inside of it, so whatever the switch
 *				calls (stop, wake, kick) takes none of it.  A device upon a
 *				tunnel may be called meanwhile: it sends nothing (zbr_handing)
 *	zbridge.lock		half-open flows, and those that wait for the switch
 *	zbridge.fdb_lock	writing of the table of addresses; never with zbridge.lock
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

/* A priority's part of what the switch stops and wakes */
#define ZBR_TXQS	(ZSWITCH_TXQS / ZBR_PRIOS)

/* Jiffies of silence after which it is asked, at first */
#define ZBR_RTO		msecs_to_jiffies(20)

/* Bytes of memory that packets of a priority may take in the queues of this host's NIC */
#define ZBR_QUEUED	(256 << 10)

/* Bytes of a priority that wait since their flow's buffer is full, from which none are taken */
#define ZBR_PENDING	(256 << 10)

/* Room in front of a kept frame */
#define ZBR_HEADROOM	(LL_MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct udphdr) + \
			 sizeof(struct zbr_hdr))

/**
 * struct zbr_config - options of a tunnel; written under RTNL
 * @id:		network
 * @local:	this host; of IPv4 mapped into IPv6
 * @link:	interface index, or 0
 * @port:	UDP port
 * @learning:	addresses are learnt, and any host may begin a flow
 * @spread:	packets of a flow take many paths
 * @ttl:	of packets, or 0
 * @buffer:	BUF, or 0
 * @ask:	P, or 0
 * @memory:	bytes, of frames that are sent, and as many of those that have come early
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
 * struct zbr_room - what frames of a priority take
 * @zb:		tunnel
 * @account:	is charged for packets in the queues of this host's NIC
 * @write_space:	of @account, before it told us
 * @pending:	bytes that wait for their flow's buffer
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
 * @port:	of the switch; RTNL, RCU
 * @udp:	socket that it shares
 * @node:	in @udp's table
 * @stats:	counters
 * @napi:	takes frames from the switch, and goes on with flows that waited for it
 * @room:	of each priority
 * @closed:	priorities of which nothing is taken
 * @memory:	bytes that sent and pending frames take
 * @early:	bytes that received ones take
 * @buffer:	BUF
 * @stopped:	flows, by zbr_flow.txq, that the switch has no room for
 * @flows:	by key
 * @ids:	by id
 * @num_flows:	of them
 * @num_half_open: of them, those that others have begun and not confirmed
 * @rsts:	limit of answers to packets of no flow
 * @lock:	of @half_open and @blocked
 * @half_open:	the same, oldest first
 * @blocked:	flows that wait for the switch, by zbr_flow.txq
 * @fdb:	addresses
 * @fdb_aged:	jiffies when old ones were last looked for
 * @fdb_lock:	writing of @fdb
 * @fdb_list:	the same addresses, for walks
 * @told:	hosts that the operator's entries name
 * @defaults:	hosts that get what is for no address or for many
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
	/* Alone, or inside of a flow's */
	spinlock_t		lock;
	struct list_head	half_open;
	struct list_head	blocked[ZSWITCH_TXQS];
	struct rhashtable	fdb;
	unsigned long		fdb_aged;
	/* Alone, or inside of a flow's */
	spinlock_t		fdb_lock;
	struct hlist_head	fdb_list;
	struct rhashtable	told;
	struct list_head	defaults;
};

/**
 * struct zbr_key - whom a flow is between
 * @remote:	other host; of IPv4 mapped into IPv6
 * @here:	address of this host's vNIC
 * @there:	of the other's
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
 * @ZBR_NEW:	it has not begun
 * @ZBR_SYN_SENT: it has begun, and waits for the answer
 * @ZBR_SYN_RCVD: the other one has; it has answered
 * @ZBR_OPEN:	both know of each other
 * @ZBR_CLOSING: it has asked to close
 * @ZBR_GONE:	it is in no table any more
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
 * enum zbr_check - do both ends agree on the numbers of an idle flow?
 * @ZBR_UNCHECKED: nobody has asked since its last frame
 * @ZBR_CHECKING: the other end is asked
 * @ZBR_CHECKED: they do
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
 * @to:		as in struct zbr_hdr, as the rest of these
 * @from:	...
 * @seq:	...
 * @ack:	...
 * @prio:	...
 * @count:	as in struct zbr_ctl, as the rest; 0 of DATA
 * @dst:	...
 * @src:	...
 * @remote:	host that it is from
 * @ce:		the network has marked it
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
 * @key:	whom it is between
 * @id:		name that packets from the other host have for it
 * @peer:	the other host's own
 * @answer:	SYNACK that came after another's SYN; without @answer.from there is none
 * @lock:	what follows
 * @state:	enum zbr_state
 * @check:	enum zbr_check
 * @spread:	the other's packets may overtake each other
 * @timer:	runs while the flow exists
 * @sent_at:	jiffies of the last packet that wants an answer
 * @heard_at:	jiffies of the last packet of the flow's, or of the first one that wants an answer
 * @used_at:	jiffies of the last frame
 * @rto:	jiffies of silence after @sent_at when it is asked
 * @una:	first number that is not acknowledged
 * @next:	next number
 * @window:	frames that may be unacknowledged
 * @since_ask:	frames since the last one that asked
 * @unacked:	copies of sent frames
 * @pending:	frames that were not sent yet
 * @timed:	number of the frame whose answer is timed
 * @timed_at:	ns when it was sent; 0: none is
 * @min_rtt:	ns, shortest round trip, or 0
 * @expected:	next number that is handed to the switch
 * @top:	numbers below were seen, or were named as missing
 * @keep:	frames from @expected on that may be kept
 * @kept:	frames that wait for those before them, or for the switch, by number
 * @half_open:	in zbridge.half_open; that one's lock
 * @owed:	the other end has asked while the switch had no room
 * @blocked:	in zbridge.blocked; that one's lock
 * @txq:	who the switch stops when it has no room
 * @dst:	route
 * @cookie:	of it
 * @saddr:	source address of it
 * @sport:	UDP source port, by which paths are chosen
 * @tos:	of the last frame
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
	/* Outside of the switch's */
	spinlock_t		lock;
	u8			state;
	u8			check;
	bool			spread;
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
 * struct zbr_cb - what a kept frame knows
 * @sent:	ns of its last transmission
 * @seq:	number
 * @crc:	of the frame
 * @size:	bytes that zbridge.memory, or early, holds for it
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

/* Numbers wrap. */
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
 * struct zbr_host - a host that gets what is for no address or for many
 * @node:	in zbridge.defaults
 * @rcu:	for kfree_rcu()
 * @addr:	its address
 */
struct zbr_host {
	struct list_head	node;
	struct rcu_head		rcu;
	struct in6_addr		addr;
};

/* udp.c */
/*
 * Not 0 while this processor hands a packet to the network, or a frame to the switch, with a
 * flow's lock.  Context: bottom halves are off.
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
void zbr_arq_asked(struct zbr_flow *flow, u32 seq);
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

/* device.c: what the others ask of it, any lock */
void zbr_reopen(struct zbridge *zb);
void zbr_deliver(struct zbr_flow *flow, struct sk_buff *skb);
bool zbr_nic_is_full(const struct zbr_flow *flow);
bool zbr_blocked(struct zbr_flow *flow);
void zbr_unblock(struct zbr_flow *flow);
void zbr_set_buffer(struct zbridge *zb);
void zbr_setup(struct net_device *dev);
extern struct zswitch_kind zbr_kind;

#endif /* _NET_ZBRIDGE_ZBRIDGE_H */
