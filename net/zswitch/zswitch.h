/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zswitch: declarations shared by its files.  queue.c has the overview.
 *
 * Calls run downwards only:
 *
 *	link slave		netlink: switches, ports
 *	host wire		the two kinds of port that are the switch's own
 *	port			adding and removing ports
 *	forward			where a received frame goes
 *	queue fabric		Algorithm 4.1: waiting, sleeping, waking; credit of vNICs, here and
 *				beyond wires, for one end of a pair (queue.h, fabric.h)
 *	credit			Algorithms 5.1 and 5.2: the state machine, without frames
 *	fdb vlan policy stats	addresses, VLANs, who may send to whom, counters
 *
 * Locks, outermost first:
 *
 *	RTNL			switches, ports, their options, VLANs
 *	zswitch_port.lock	frames that wait for an output; one output at a time;
 *				softirqs off.  It nests inside a qdisc's root lock (pull)
 *				and a sender's transmit lock (send); sch_cee's domain locks
 *				nest inside it
 *	zswitch.fdb_lock	writes to the forwarding database; never with another
 *
 * Ports, options and addresses are read under RCU; the bytes that an input holds are atomic.
 */
#ifndef _NET_ZSWITCH_ZSWITCH_H
#define _NET_ZSWITCH_ZSWITCH_H

#include <linux/bitops.h>
#include <linux/hashtable.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/ratelimit.h>
#include <linux/rhashtable.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>
#include <linux/zswitch.h>
#include <net/cee.h>
#include <net/zswitch.h>
#include "credit.h"

/* Jiffies between checks of outputs that have frames */
#define ZSW_WATCH	msecs_to_jiffies(20)

/*
 * A priority of an output that has frames makes progress if it sends this many bytes in the
 * time that they may wait.  One frame now and then is not progress: it would keep all senders
 * paused.  It is five full frames, or 328 kbit/s where frames wait for 200 ms.
 */
#define ZSW_PROGRESS	(8 << 10)

/* Bounds memory: each pair of ports may need a struct zsw_voq. */
#define ZSW_PORTS_MAX	512

/* ICMP messages per second to a port about its refused frames */
#define ZSW_REFUSALS	100

/* Numbers for ports, including the host's */
#define ZSW_SLOTS	(ZSW_PORTS_MAX + 1)

/* Classes of pairs: the cookies of a class change when one of its pairs is forgotten. */
#define ZSW_LIVES	256

/**
 * enum zsw_class - how a waiting frame is treated
 * @ZSW_VIRTUAL:	its sender waits
 * @ZSW_WIRE:		its sender is paused
 * @ZSW_FLOOD:		a flooded copy, from any lossless input
 * @ZSW_LOSSY:		no sender waits for it
 * @ZSW_CLASSES:	number of classes
 */
enum zsw_class {
	ZSW_VIRTUAL,
	ZSW_WIRE,
	ZSW_FLOOD,
	ZSW_LOSSY,
	ZSW_CLASSES,
};

/**
 * struct zsw_config - options of a switch; read by anyone, written under RTNL
 * @virtual_lossless: senders of this machine wait
 * @wire_lossless:	senders beyond wires are paused
 * @vlan_filtering:	ports belong to VLANs
 * @fabric:	frames between ports of this machine, and by wires with the option, need credit
 * @refuse_icmp: senders of frames that a policy refuses get an ICMP message
 * @rxq:	credits that a port can grant
 * @unasked:	credits that may be used to a vNIC of another host without an ask
 * @limit:	bytes that an input may hold in a priority
 * @share:	bytes of @limit for one output
 * @queue:	bytes of lossy frames that an output may hold in a priority
 * @wait:	ms that a frame of each class waits for a stalled output
 * @ageing:	s after which a learnt address is forgotten
 * @fdb_max:	addresses learnt at most
 */
struct zsw_config {
	bool	virtual_lossless;
	bool	wire_lossless;
	bool	vlan_filtering;
	bool	fabric;
	bool	refuse_icmp;
	u32	rxq;
	u32	unasked;
	u32	limit;
	u32	share;
	u32	queue;
	u32	wait[ZSW_CLASSES];
	u32	ageing;
	u32	fdb_max;
};

/**
 * struct zsw_stats - counters of a port on one CPU
 * @syncp:	for 64-bit reads on 32-bit machines
 * @n:		counters, by enum zswitch_stat
 */
struct zsw_stats {
	struct u64_stats_sync	syncp;
	u64_stats_t		n[__ZSWITCH_STAT_MAX];
};

/**
 * struct zsw_vlans - VLANs of a port
 * @pvid:	VLAN of frames without a tag; 0: such frames are dropped
 * @member:	VLANs that the port belongs to
 * @untagged:	VLANs of @member whose frames leave without a tag
 */
struct zsw_vlans {
	u16	pvid;
	DECLARE_BITMAP(member, VLAN_N_VID);
	DECLARE_BITMAP(untagged, VLAN_N_VID);
};

/**
 * struct zsw_window - a time window in which an output should send frames
 * @since:	jiffies when the window began
 * @base:	zswitch_port.passed at that time
 */
struct zsw_window {
	unsigned long		since;
	u32			base;
};

/**
 * struct zswitch_port - a device of a switch
 * @dev:	device
 * @zsw:	switch
 * @kind:	callbacks that make its senders wait; NULL for a wire
 * @vnic:	a vNIC of this machine: neither a wire nor a tunnel
 * @node:	in the switch's list; RTNL, RCU
 * @tracker:	tracker of the reference to @dev
 * @stats:	counters
 * @vlans:	VLANs
 * @weight:	share of an output
 * @learning:	source addresses are learnt
 * @guard:	only frames from static addresses of the port are taken
 * @flood:	frames to unknown addresses leave by the port too
 * @fabric:	option of a wire: it leads to switches that give credit
 * @closed:	only ports in @allowed may send to it
 * @slot:	number of the port in the switch; RTNL
 * @allowed:	ports that may send to it, by number; written under RTNL
 * @refusals:	rate limit of ICMP messages to senders behind the port
 * @cee:	a wire whose qdisc, sch_cee, pulls frames
 * @source:	what the qdisc pulls from
 * @used:	input: bytes that wait in each priority; frames without a socket count with
 *		the memory that they take
 * @sleepers:	input: transmit queues that wait for @used to fall
 * @lock:	output: protects what follows
 * @up:		frames are taken
 * @rx:		credit that the port grants
 * @held:	bytes that wait for the port's credit, or for that of vNICs beyond the wire
 * @remote:	wire: frames that leave by it need credit of vNICs there; read by anyone
 * @since:	jiffies when it began to grant credit
 * @secret:	key of the cookies for unknown senders that ask for the port's credit
 * @lives:	number of pairs forgotten from @far, by a hash of their addresses
 * @far:	pairs whose other end is on another host (fabric.h), by addresses
 * @busy:	entries of @far with work pending, least recently active first
 * @idle:	the other entries of @far, in the same order
 * @num_far:	entries in @far; read by anyone
 * @voqs:	queues of frames for the output, by input
 * @active:	for each priority, fifos that have frames; the next one to be served is first
 * @bytes:	bytes that wait in each priority
 * @lossy:	bytes of @bytes in frames of class ZSW_LOSSY
 * @ready:	priorities that have frames; read by anyone
 * @turn:	priority whose turn it is
 * @credit:	bytes that each priority may send in its turn
 * @passed:	bytes of each priority that have left, modulo 2^32
 * @window:	windows in which progress is measured, by class and priority
 * @still:	for each class, priorities that were stalled in the last full window
 * @suspect:	for each class, priorities that were stalled and have made no progress since
 * @stalled:	priorities in any @still
 * @control:	frames of control that are to leave by a wire
 * @teller:	sends @control
 */
struct zswitch_port {
	struct net_device	*dev;
	struct zswitch		*zsw;
	const struct zswitch_kind *kind;
	bool			vnic;
	struct list_head	node;
	netdevice_tracker	tracker;
	struct zsw_stats __percpu *stats;
	struct zsw_vlans	vlans;
	u8			weight;
	bool			learning;
	bool			guard;
	bool			flood;
	bool			fabric;
	bool			closed;
	u16			slot;
	DECLARE_BITMAP(allowed, ZSW_SLOTS);
	struct ratelimit_state	refusals;
	bool			cee;
	struct cee_source	source;
	atomic_t		used[ZSWITCH_PRIOS];
	atomic_t		sleepers[ZSWITCH_PRIOS];
	/* Nests inside a qdisc's root lock and a transmit lock. */
	spinlock_t		lock;
	bool			up;
	struct zcr_receiver	rx;
	u32			held;
	bool			remote;
	unsigned long		since;
	siphash_key_t		secret;
	u32			lives[ZSW_LIVES];
	DECLARE_HASHTABLE(far, 10);
	struct list_head	busy;
	struct list_head	idle;
	unsigned int		num_far;
	DECLARE_HASHTABLE(voqs, 5);
	struct list_head	active[ZSWITCH_PRIOS];
	u32			bytes[ZSWITCH_PRIOS];
	u32			lossy[ZSWITCH_PRIOS];
	u8			ready;
	u8			turn;
	int			credit[ZSWITCH_PRIOS];
	u32			passed[ZSWITCH_PRIOS];
	struct zsw_window	window[ZSW_CLASSES][ZSWITCH_PRIOS];
	u8			still[ZSW_CLASSES];
	u8			suspect[ZSW_CLASSES];
	u8			stalled;
	struct sk_buff_head	control;
	struct tasklet_struct	teller;
};

/**
 * struct zswitch - a switch, private part of its net_device
 * @dev:	device
 * @host:	the host's own port; RTNL, or bottom halves off: NULL while the switch is removed
 * @napi:	receives frames for the host
 * @cfg:	options
 * @ports:	all ports, @host first; RTNL, RCU
 * @num_ports:	number of ports without @host; RTNL
 * @slots:	port numbers in use; RTNL
 * @fdb:	forwarding database
 * @fdb_lock:	serialises writers of @fdb
 * @fdb_list:	the entries of @fdb, for walks
 * @fdb_learnt:	number of entries that are not static
 * @watch:	looks for stalled outputs; runs while any output has frames
 * @age:	ages addresses out
 * @fabric:	repeats asks, settles credit and forgets pairs; runs while there are pairs
 */
struct zswitch {
	struct net_device	*dev;
	struct zswitch_port	*host;
	struct napi_struct	napi;
	struct zsw_config	cfg;
	struct list_head	ports;
	unsigned int		num_ports;
	DECLARE_BITMAP(slots, ZSW_SLOTS);
	struct rhashtable	fdb;
	/* Never held together with another lock. */
	spinlock_t		fdb_lock;
	struct hlist_head	fdb_list;
	u32			fdb_learnt;
	struct delayed_work	watch;
	struct delayed_work	age;
	struct delayed_work	fabric;
};

/**
 * struct zsw_dest - result of a lookup in the forwarding database
 * @entry:	entry of the address, or NULL if it is not known
 * @port:	port that the address is behind, or NULL
 * @is_static:	no other port may use the address
 */
struct zsw_dest {
	struct zsw_fdb_entry	*entry;
	struct zswitch_port	*port;
	bool			is_static;
};

/* stats.c */

/**
 * zsw_count() - add to a counter
 * @port:	port
 * @stat:	counter
 * @n:		amount
 *
 * Inline, as it is called several times for each frame.
 *
 * Context: bottom halves are off, so that each CPU's counters have one writer at a time.
 */
static inline void zsw_count(struct zswitch_port *port, enum zswitch_stat stat, u64 n)
{
	struct zsw_stats *s = this_cpu_ptr(port->stats);

	u64_stats_update_begin(&s->syncp);
	u64_stats_add(&s->n[stat], n);
	u64_stats_update_end(&s->syncp);
}

void zsw_drop(struct zswitch_port *in, struct sk_buff *skb, enum zswitch_stat reason);
u64 zsw_stat(const struct zswitch_port *port, enum zswitch_stat stat);
int zsw_put_stats(struct sk_buff *skb, int attr, int pad, const struct zswitch_port *port);
size_t zsw_stats_size(void);

/* vlan.c */
void zsw_vlans_init(struct zsw_vlans *v);
bool zsw_vlan_ingress(const struct zsw_vlans *v, struct sk_buff *skb, u16 *vid);
bool zsw_vlan_egress(const struct zsw_vlans *v, u16 vid);
void zsw_vlan_strip(const struct zsw_vlans *v, struct sk_buff *skb, u16 vid);
int zsw_bridge_setlink(struct net_device *dev, struct nlmsghdr *nlh, u16 flags,
		       struct netlink_ext_ack *extack);
int zsw_bridge_dellink(struct net_device *dev, struct nlmsghdr *nlh, u16 flags);
int zsw_bridge_getlink(struct sk_buff *skb, u32 portid, u32 seq, struct net_device *dev,
		       u32 filter_mask, int nlflags);

/* policy.c */
void zsw_policy_join(struct zswitch_port *port);
void zsw_policy_leave(struct zswitch_port *port);
bool zsw_policy_may(const struct zswitch_port *in, const struct zswitch_port *out);
int zsw_policy_set(struct zswitch_port *port, const struct nlattr *attr,
		   struct netlink_ext_ack *extack);
size_t zsw_policy_size(const struct zswitch *zsw);
int zsw_policy_put(struct sk_buff *skb, const struct zswitch_port *port);

/* refuse.c */
struct sk_buff *zsw_icmp_answer(struct zswitch_port *in, const struct sk_buff *skb);

/* fdb.c */
int zsw_fdb_init(struct zswitch *zsw);
void zsw_fdb_exit(struct zswitch *zsw);
struct zsw_dest zsw_fdb_lookup(struct zswitch *zsw, const u8 *addr, u16 vid);
void zsw_fdb_learn(struct zswitch *zsw, struct zswitch_port *port, const struct zsw_dest *found,
		   const u8 *addr, u16 vid);
int zsw_fdb_set(struct zswitch *zsw, struct zswitch_port *port, const u8 *addr, u16 vid,
		bool is_static, u16 nlflags);
int zsw_fdb_remove(struct zswitch *zsw, const u8 *addr, u16 vid);
void zsw_fdb_flush(struct zswitch *zsw, const struct zswitch_port *port);
void zsw_fdb_flush_learnt(struct zswitch *zsw);
void zsw_fdb_move_host(struct zswitch *zsw, const u8 *from, const u8 *to);
u32 zsw_fdb_count(struct zswitch *zsw);
int zsw_fdb_dump(struct zswitch *zsw, struct sk_buff *skb, struct netlink_callback *cb,
		 int first, int *idx);

/* forward.c */
void zsw_forward(struct zswitch_port *in, struct sk_buff *skb, int txq);

/* port.c */
struct zswitch_port *zsw_port_new(struct zswitch *zsw, struct net_device *dev,
				  const struct zswitch_kind *kind);
void zsw_port_free(struct zswitch_port *port);
int zsw_port_add(struct zswitch *zsw, struct net_device *dev, struct netlink_ext_ack *extack);
void zsw_port_del(struct zswitch_port *port);
void zsw_port_credit(struct zswitch_port *port);
struct zswitch_port *zsw_port_find(struct zswitch *zsw, const struct net_device *dev);
extern struct notifier_block zsw_port_notifier;

/* wire.c */
int zsw_wire_attach(struct zswitch_port *port, struct netlink_ext_ack *extack);
void zsw_wire_detach(struct zswitch_port *port);
void zsw_wire_kick(struct zswitch_port *port);
enum zswitch_stat zsw_wire_push(struct zswitch_port *port, struct sk_buff *skb);

/* host.c */
extern const struct net_device_ops zsw_netdev_ops;
extern const struct zswitch_kind zsw_host_kind;
extern const struct ethtool_ops zsw_ethtool_ops;

/* slave.c */
int zsw_slave_changelink(struct net_device *dev, struct net_device *slave_dev,
			 struct nlattr *tb[], struct nlattr *data[],
			 struct netlink_ext_ack *extack);
size_t zsw_slave_get_size(const struct net_device *dev, const struct net_device *slave_dev);
int zsw_slave_fill_info(struct sk_buff *skb, const struct net_device *dev,
			const struct net_device *slave_dev);
extern const struct nla_policy zsw_slave_policy[IFLA_ZSWITCH_PORT_MAX + 1];

/* link.c */
bool zsw_is_switch(const struct net_device *dev);

#endif /* _NET_ZSWITCH_ZSWITCH_H */
