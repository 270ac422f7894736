/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zswitch: what its files share.  queue.c has the overview.
 *
 * Calls run downwards only:
 *
 *	link slave		netlink: switches, ports
 *	host wire		the two kinds of port that are the switch's own
 *	port			life of ports
 *	forward			what becomes of a frame
 *	queue fabric		Algorithm 4.1: waiting, sleeping, waking; credit of vNICs, here and
 *				beyond wires: one end of a pair each (queue.h, fabric.h)
 *	credit			Algorithms 5.1 and 5.2, without frames
 *	fdb vlan policy stats	addresses, VLANs, who may send to whom, counters
 *
 * Locks, outermost first:
 *
 *	RTNL			switches, ports, their options, VLANs
 *	zswitch_port.lock	what waits for an output; one output at a time; softirqs
 *				off.  It is taken inside of a qdisc's root lock (pull) and
 *				of a sender's transmit lock (send); sch_cee's domain locks
 *				come below it
 *	zswitch.fdb_lock	writing of the table of addresses; alone
 *
 * Ports, options and addresses are read under RCU; what an input holds is atomic.
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

/* Jiffies between looks at outputs that have frames */
#define ZSW_WATCH	msecs_to_jiffies(20)

/*
 * A priority of an output that has frames moves if it lets so many bytes go in the time that
 * they may wait: one frame now and then would hold all that is paused for its sake.  Five
 * full frames: 328 kbit/s where frames wait for 200 ms.
 */
#define ZSW_PROGRESS	(8 << 10)

/* Each pair of ports may take a struct zsw_voq. */
#define ZSW_PORTS_MAX	512

/* ICMP messages to a port in a second, about frames that may not be sent */
#define ZSW_REFUSALS	100

/* Numbers of ports, the host's among them */
#define ZSW_SLOTS	(ZSW_PORTS_MAX + 1)

/* Classes of pairs: what strangers are told changes when one of their class is forgotten. */
#define ZSW_LIVES	256

/**
 * enum zsw_class - what a frame that waits may expect
 * @ZSW_VIRTUAL:	its sender waits
 * @ZSW_WIRE:		its sender is paused
 * @ZSW_FLOOD:		a copy for one of many outputs, whoever's it is
 * @ZSW_LOSSY:		nobody waits for it
 * @ZSW_CLASSES:	how many there are
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
 * @fabric:	frames between ports of this machine need credit, and by wires that say so
 * @refuse_icmp: who may not send to a port is told so
 * @rxq:	how much a port has to give
 * @unasked:	credits that may be sent to a vNIC of another host without an ask
 * @limit:	bytes of an input and priority
 * @share:	of them for one output
 * @queue:	bytes of lossy frames of an output and priority
 * @wait:	ms that a frame of each class waits for an output that stands still
 * @ageing:	s
 * @fdb_max:	addresses
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
 * struct zsw_stats - counters of a port, on a processor
 * @syncp:	for 64-bit reads on 32-bit machines
 * @n:		by enum zswitch_stat
 */
struct zsw_stats {
	struct u64_stats_sync	syncp;
	u64_stats_t		n[__ZSWITCH_STAT_MAX];
};

/**
 * struct zsw_vlans - VLANs of a port
 * @pvid:	of frames without a tag; 0 is none
 * @member:	which it belongs to
 * @untagged:	of those, which leave without a tag
 */
struct zsw_vlans {
	u16	pvid;
	DECLARE_BITMAP(member, VLAN_N_VID);
	DECLARE_BITMAP(untagged, VLAN_N_VID);
};

/**
 * struct zsw_window - a time in which an output should let frames go
 * @since:	jiffies when it began
 * @base:	zswitch_port.passed then
 */
struct zsw_window {
	unsigned long		since;
	u32			base;
};

/**
 * struct zswitch_port - a device of a switch
 * @dev:	device
 * @zsw:	switch
 * @kind:	what makes it wait; NULL of a wire
 * @vnic:	of this machine: no wire, and no tunnel
 * @node:	in the switch's list; RTNL, RCU
 * @tracker:	of the reference to @dev
 * @stats:	counters
 * @vlans:	VLANs
 * @weight:	share of an output
 * @learning:	addresses are learnt
 * @guard:	only from static addresses
 * @flood:	to unknown addresses too
 * @fabric:	option: a wire leads to switches that give credit
 * @closed:	only those of @allowed may send to it
 * @slot:	its number in the switch; RTNL
 * @allowed:	by number; written under RTNL
 * @refusals:	ICMP messages to who sends by it
 * @cee:	a wire whose qdisc pulls
 * @source:	what it pulls from
 * @used:	input: bytes that wait, of each priority; of frames that no socket pays for,
 *		the memory that they take
 * @sleepers:	input: transmit queues that wait for @used to fall
 * @lock:	output: what follows
 * @up:		frames are taken
 * @rx:		credit that it gives
 * @held:	bytes that wait for it, or for that of vNICs beyond the wire
 * @remote:	a wire: what leaves by it needs credit of vNICs there; read by anyone
 * @since:	jiffies when it began to give credit
 * @secret:	of what strangers that ask for its credit are told
 * @lives:	how many of @far were forgotten, by a hash of their addresses
 * @far:	pairs whose other end is on another host (fabric.h), by addresses
 * @busy:	of them, those that have something to say or to wait for; last, who was last
 * @idle:	the others, the same
 * @num_far:	of both; read by anyone
 * @voqs:	by input
 * @active:	of each priority, fifos that have frames, whose turn it is first
 * @bytes:	of each priority
 * @lossy:	of them, those of class ZSW_LOSSY
 * @ready:	priorities that have frames; read by anyone
 * @turn:	priority whose turn it is
 * @credit:	bytes that each priority may send in its turn
 * @passed:	of each priority, bytes that have left, modulo 2^32
 * @window:	by class and priority, what is watched for progress
 * @still:	of each class, priorities that stood still in the last full window
 * @suspect:	of each class, priorities that did, and have not moved since
 * @stalled:	those in any @still
 * @control:	frames of control that are to leave by a wire
 * @teller:	sends them
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
	/* Taken inside of a qdisc's root lock and of a transmit lock. */
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
 * @host:	port that the host takes part by
 * @napi:	receives there
 * @cfg:	options
 * @ports:	all, @host first; RTNL, RCU
 * @num_ports:	but for @host; RTNL
 * @slots:	numbers of ports that are taken; RTNL
 * @fdb:	addresses
 * @fdb_lock:	writing of @fdb
 * @fdb_list:	the same addresses, for walks
 * @fdb_learnt:	those that are not static
 * @watch:	looks for outputs that stand still; runs while any has frames
 * @age:	forgets addresses
 * @fabric:	repeats asks, settles and forgets; runs while there are pairs
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
	/* Never with another. */
	spinlock_t		fdb_lock;
	struct hlist_head	fdb_list;
	u32			fdb_learnt;
	struct delayed_work	watch;
	struct delayed_work	age;
	struct delayed_work	fabric;
};

/**
 * struct zsw_dest - what fdb lookup tells
 * @entry:	address, or NULL if it is not known
 * @port:	by which port, or NULL
 * @is_static:	nobody else may use the address
 */
struct zsw_dest {
	struct zsw_fdb_entry	*entry;
	struct zswitch_port	*port;
	bool			is_static;
};

/* stats.c */

/**
 * zsw_count() - count
 * @port:	port
 * @stat:	what
 * @n:		how much
 *
 * Here, as several are counted for each frame.
 *
 * Context: bottom halves are off, so that a processor's counters have one writer at a time.
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
