/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_cee: what its files share.  sch_cee_main.c has the overview.
 *
 * Calls run downwards only:
 *
 *	sch_cee_main cee_stats	the qdisc
 *	cee_source	ports of a switch that has queues of its own
 *	cee_intake	how packets get into the queues
 *	cee_bill	copies are charged once
 *	cee_port	ports, and which of them a packet has come in by
 *	cee_buffer cee_pfc	accounts; pause frames
 *	cee_qcn_cp cee_qcn_rp	congestion points and reaction points
 *	cee_config cee_classify cee_ets cee_ecn cee_queue	called by all, calling none
 *
 * Locks, outermost first.  All but RTNL are taken with bottom halves off.
 *
 *	RTNL			making, configuring and removing ports and domains
 *	the qdisc's root lock	its queues: enqueue, dequeue, change, statistics
 *	cee_ports_lock		which ports and cee_sets there are (cee_port.c)
 *	cee_bills_lock		copies of frames (cee_bill.c)
 *	cee_domain.lock		what is charged, what the peers are told (cee_buffer.c)
 *	cee_port.pause_lock	what a peer tells us (cee_pfc.c)
 *	cee_reaction.lock	rates that it asks for (cee_qcn_rp.c)
 *	cee_port.control's	messages for it (cee_qcn_cp.c)
 *
 * The last five are never held together.  Packets are received, and timers fire, in
 * softirqs of any processor; they take the last locks alone, so that no receiver
 * waits for a transmitter.  Readers of cee_port.cfg and of cee_sets are under RCU.
 */
#ifndef _SCH_CEE_H
#define _SCH_CEE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <net/sch_generic.h>
#include <linux/pkt_sch_cee.h>
#include <net/cee.h>

#define CEE_PRIOS	TC_CEE_PRIOS

/* FCS, preamble with start delimiter, smallest gap to the next frame */
#define CEE_WIRE_EXTRA	(4 + 8 + 12)

/* Priority of messages of QCN (802.1Q, 32.3: cngCnmTransmitPriority), and how many wait */
#define CEE_CNM_PRIO	6
#define CEE_CONTROL_MAX	64

/* IP sources that a port remembers the MAC addresses of */
#define CEE_HEARD	64

/* No timer of a port runs faster: enough for pauses at 800 Gb/s. */
#define CEE_REFRESH_MIN_NS	(20 * (u64)NSEC_PER_USEC)

/**
 * struct cee_prio_config - options of a priority, and what follows from them
 * @lossless:	paused rather than dropped
 * @weight:	share of the link; 0 is strict
 * @ecn:	enum tca_cee_ecn
 * @xoff:	threshold, bytes
 * @xon:	where it ends
 * @alpha:	dynamic threshold; 0 is static
 * @headroom:	for what is under way when the peer is told
 * @limit:	for what no port answers for
 * @kmin:	queue length, bytes, up to which nothing is marked
 * @kmax:	and from which on all is
 * @pmax:	probability just below @kmax, of TC_CEE_PMAX_ONE
 * @qcn:	enum tca_cee_qcn
 * @qeq:	set point of the congestion point, bytes
 * @limiter:	enum tca_cee_limiter
 * @flows:	of the queue; 1 is first in, first out
 * @eff_xoff:	@xoff or its default
 * @eff_gap:	from there down to XON
 * @eff_headroom: @headroom or what the cable needs
 * @eff_limit:	@limit or its default
 * @eff_qeq:	@qeq or the default of @qcn
 * @min_rate:	of the reaction point, bytes per second
 * @quantum:	bytes a round of the weighted
 */
struct cee_prio_config {
	bool	lossless;
	u8	weight;
	u8	ecn;
	u32	xoff;
	u32	xon;
	u32	alpha;
	u32	headroom;
	u32	limit;
	u32	kmin;
	u32	kmax;
	u32	pmax;
	u8	qcn;
	u32	qeq;
	u8	limiter;
	u32	flows;
	u32	eff_xoff;
	u32	eff_gap;
	u32	eff_headroom;
	u32	eff_limit;
	u32	eff_qeq;
	u32	min_rate;
	int	quantum;
};

/**
 * struct cee_config - options of a port; never changed once it is published
 * @rcu:	readers hold it by RCU
 * @domain:	name
 * @buffer:	of the domain, bytes; 0 leaves it
 * @classify:	enum tca_cee_classify
 * @dscp:	priority of each code point
 * @trust:	pause frames are obeyed
 * @pause:	enum tca_cee_pause
 * @action:	enum tca_cee_action
 * @quanta:	of XOFF; 0 is the default
 * @watchdog:	ms
 * @cable:	ns
 * @ring:	bytes, or TC_CEE_RING_DEFAULT
 * @rate:	at which it sends at most, bytes per second; 0 is @speed
 * @speed:	of the link, bytes per second
 * @frame:	largest frame
 * @eff_quanta:	@quanta or the default
 * @lossless:	mask
 * @qcn:	mask of priorities with a congestion point
 * @prio:	of each priority
 */
struct cee_config {
	struct rcu_head		rcu;
	char			domain[TC_CEE_DOMAIN_LEN];
	u32			buffer;
	u8			classify;
	u8			dscp[TC_CEE_DSCPS];
	bool			trust;
	u8			pause;
	u8			action;
	u16			quanta;
	u32			watchdog;
	u32			cable;
	u32			ring;
	u64			rate;
	u64			speed;
	u32			frame;
	u16			eff_quanta;
	u8			lossless;
	u8			qcn;
	struct cee_prio_config	prio[CEE_PRIOS];
};

/**
 * struct cee_domain - a buffer that ports share
 * @node:	in the list of them; RTNL
 * @net:	namespace that @name is of; compared only, under RTNL
 * @name:	or ""
 * @ports:	that are registered; RTNL
 * @ref:	ports in memory
 * @rcu:	for kfree_rcu()
 * @lock:	what follows, and the accounts of its ports
 * @buffer:	bytes
 * @reserved:	of them, headroom of all ports
 * @used:	of the rest, charged
 * @used_max:	most at a time
 */
struct cee_domain {
	struct list_head	node;
	const struct net	*net;
	char			name[TC_CEE_DOMAIN_LEN];
	unsigned int		ports;
	refcount_t		ref;
	struct rcu_head		rcu;
	/* Innermost but for timers' own. */
	spinlock_t		lock;
	u64			buffer;
	u64			reserved;
	u64			used;
	u64			used_max;
};

/**
 * struct cee_account - what came in by a port in a priority and still waits
 * @shared:	bytes below the threshold
 * @headroom:	bytes beyond it
 * @shared_max:	most at a time
 * @headroom_max: most at a time
 * @overflow:	packets that found no room
 * @xoff_sent:	told the peer, refreshments included
 * @xon_sent:	told the peer
 */
struct cee_account {
	u32	shared;
	u32	headroom;
	u32	shared_max;
	u32	headroom_max;
	u64	overflow;
	u64	xoff_sent;
	u64	xon_sent;
};

/**
 * struct cee_pause - what the peer says about a priority
 * @since:	begin of the pause, or of that part of it that @total lacks
 * @until:	its end; 0 is none.  Written under the lock, read by anyone
 * @total:	time paused before
 * @begun:	pauses so far; read by anyone
 * @xoff:	frames
 * @xon:	frames
 */
struct cee_pause {
	u64	since;
	u64	until;
	u64	total;
	u32	begun;
	u64	xoff;
	u64	xon;
};

/**
 * struct cee_port - a device with sch_cee
 * @node:	by @dev; cee_ports_lock
 * @dev:	valid for RCU readers that find !@dead
 * @pt:		sees what the device receives
 * @ref:	one of its qdiscs together, one of each cee_set
 * @rcu:	for kfree_rcu()
 * @qdiscs:	how many; RTNL
 * @foreign:	a device of another namespace stands on it
 * @hardware:	priorities whose pause frames the device sends and obeys
 * @cfg:	options; written under RTNL
 * @domain:	its buffer
 * @source:	queues of the switch that it is a port of, or NULL
 * @dead:	no qdisc is left; from here on domain's lock
 * @warned:	that it has lost something
 * @refreshing:	@refresh is started, or runs and will start again
 * @xoff:	priorities that the peer is told to pause
 * @pending:	priorities that the peer must be told about
 * @nomem:	times that there was no memory for that
 * @account:	of each priority
 * @refresh:	repeats XOFF
 * @control:	messages of QCN that leave before all queues
 * @heard:	by which MAC address an IP source came in (cee_qcn_cp.c)
 * @reaction:	points of each priority, or NULL; made under RTNL, last as the port
 * @pause_lock:	what follows
 * @pause:	of each priority
 * @ignored:	frames
 * @malformed:	frames
 * @cnm_ignored: messages of QCN, of whoever
 * @cnm_strange: about flows that are none of ours
 * @cnm_malformed: that are none
 */
struct cee_port {
	struct hlist_node	node;
	struct net_device	*dev;
	struct packet_type	pt;
	refcount_t		ref;
	struct rcu_head		rcu;
	unsigned int		qdiscs;
	bool			foreign;
	u8			hardware;
	struct cee_config __rcu	*cfg;
	struct cee_domain	*domain;
	struct cee_source __rcu	*source;
	bool			dead;
	bool			warned;
	bool			refreshing;
	u8			xoff;
	u8			pending;
	u64			nomem;
	struct cee_account	account[CEE_PRIOS];
	struct hrtimer		refresh;
	struct sk_buff_head	control;
	atomic64_t		heard[CEE_HEARD];
	struct cee_reaction	*reaction[CEE_PRIOS];
	/* Innermost; never with a domain's. */
	spinlock_t		pause_lock;
	struct cee_pause	pause[CEE_PRIOS];
	u64			ignored;
	u64			malformed;
	u64			cnm_ignored;
	u64			cnm_strange;
	u64			cnm_malformed;
};

/**
 * struct cee_set - the ports that a packet may have come in by
 * @node:	by @net and @ifindex; cee_ports_lock
 * @net:	compared only
 * @ifindex:	what the packet says
 * @ref:	one of the table, one of each packet that is charged
 * @rcu:	for kfree_rcu()
 * @n:		how many ports
 * @port:	they
 */
struct cee_set {
	struct hlist_node	node;
	const struct net	*net;
	int			ifindex;
	refcount_t		ref;
	struct rcu_head		rcu;
	unsigned int		n;
	struct cee_port		*port[];
};

/**
 * struct cee_ets - whose turn it is
 * @turn:	weighted priority
 * @deficit:	bytes that each may still send
 */
struct cee_ets {
	u8	turn;
	int	deficit[CEE_PRIOS];
};

/* cee_classify.c */
__be16 cee_cn_inner(const struct sk_buff *skb, int *offset, __be16 *flow);
bool cee_is_cnm(const struct sk_buff *skb);
unsigned int cee_classify(const struct sk_buff *skb, const struct cee_config *cfg);

/* cee_ets.c */
int cee_ets_next(struct cee_ets *ets, const struct cee_config *cfg, u8 eligible);
void cee_ets_sent(struct cee_ets *ets, const struct cee_config *cfg, unsigned int prio,
		  unsigned int len);

/* cee_ecn.c */
bool cee_ecn_due(const struct cee_prio_config *p, u32 depth, u32 random);
bool cee_ecn_mark(struct sk_buff *skb);

/* cee_config.c */
struct nlattr;
struct netlink_ext_ack;
void cee_config_defaults(struct cee_config *cfg);
int cee_config_parse(struct cee_config *cfg, struct nlattr *opt, struct netlink_ext_ack *extack);
void cee_config_derive(struct cee_config *cfg, unsigned int mtu, u64 speed);
int cee_config_check(const struct cee_config *cfg, u64 buffer, struct netlink_ext_ack *extack);
int cee_config_dump(const struct cee_config *cfg, u64 buffer, struct sk_buff *skb);
u32 cee_headroom(const struct cee_config *cfg, u32 ring);
u32 cee_reserve(const struct cee_config *cfg);
u64 cee_quanta_ns(const struct cee_config *cfg, u16 quanta);

/* cee_buffer.c */
bool cee_charge(struct cee_set *set, unsigned int prio, u32 len);
void cee_uncharge(struct cee_set *set, unsigned int prio, u32 len);
void cee_account_apply(struct cee_port *port, struct cee_config *cfg);
void cee_account_init(struct cee_port *port);
void cee_account_stop(struct cee_port *port);
struct sk_buff *cee_account_tell(struct cee_port *port);

/* Count a frame that was received and not obeyed.  Context: softirq. */
static inline void cee_count(struct cee_port *port, u64 *counter)
{
	spin_lock(&port->pause_lock);
	(*counter)++;
	spin_unlock(&port->pause_lock);
}

/* cee_pfc.c */
void cee_kick(const struct cee_port *port);
struct sk_buff *cee_pfc_frame(const struct net_device *dev, u8 mask, u8 xoff, u16 quanta);
struct sk_buff *cee_pause_frame(const struct net_device *dev, u16 quanta);
int cee_pfc_receive(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
		    struct net_device *orig_dev);
bool cee_pfc_paused(const struct cee_port *port, unsigned int prio, u64 now);
void cee_pfc_forget(struct cee_port *port, u8 mask);
u64 cee_pfc_paused_ns(const struct cee_pause *p, u64 now);

/* cee_source.c */
void cee_source_join(struct cee_port *port);
void cee_source_leave(struct cee_port *port);
void cee_source_init(void);

/* cee_port.c */
struct cee_port *cee_port_find(const struct net_device *dev);
struct cee_port *cee_port_add(struct net_device *dev, struct cee_config *cfg,
			      struct netlink_ext_ack *extack);
int cee_port_configure(struct cee_port *port, struct cee_config *cfg,
		       struct netlink_ext_ack *extack);
void cee_port_remove(struct cee_port *port);
bool cee_control_add(struct cee_port *port, struct sk_buff *skb);
u64 cee_port_speed(struct net_device *dev);
struct cee_set *cee_set_get(struct net_device *out, int ifindex);
void cee_set_put(struct cee_set *set);
int cee_port_init(void);
void cee_port_exit(void);

#endif /* _SCH_CEE_H */
