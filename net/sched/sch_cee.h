/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_cee: what its files share.  sch_cee_main.c has the overview.
 *
 * Calls run downwards, except that cee_port calls cee_source when a port is created or
 * removed, and cee_qcn_cp calls cee_port to find a port and to send a message:
 *
 *	sch_cee_main cee_stats	the qdisc
 *	cee_source	ports of a switch that has queues of its own
 *	cee_intake	how packets get into the queues
 *	cee_queue	the queue of a priority
 *	cee_bill	copies are charged once
 *	cee_port	ports, and which of them a packet has come in by
 *	cee_buffer cee_pfc	accounts; pause frames
 *	cee_qcn_cp cee_qcn_rp	congestion points and reaction points
 *	cee_config cee_classify cee_ets cee_ecn	called by all, calling none
 *
 * Locks, outermost first.  All but RTNL are taken with bottom halves off.
 *
 *	RTNL			creating, configuring and removing ports and domains
 *	the qdisc's root lock	its queues: enqueue, dequeue, change, statistics
 *	cee_ports_lock		tables of ports and cee_sets (cee_port.c)
 *	cee_bills_lock		copies of frames (cee_bill.c)
 *	cee_domain.lock		charged bytes, XOFF and XON to peers (cee_buffer.c)
 *	cee_port.pause_lock	pauses from the peer (cee_pfc.c)
 *	cee_reaction.lock	rates that CNMs have asked for (cee_qcn_rp.c)
 *	cee_port.control.lock	QCN messages to send (cee_qcn_cp.c)
 *
 * The last five are never held together.  Packets are received, and timers fire, in
 * softirqs of any processor; they take one of the last locks alone, so that no receiver
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

/* Priority of QCN messages (802.1Q, 32.3: cngCnmTransmitPriority), and how many may wait */
#define CEE_CNM_PRIO	6
#define CEE_CONTROL_MAX	64

/* Number of IP sources whose MAC addresses a port remembers */
#define CEE_HEARD	64

/* Shortest period of a port's timer: short enough for pauses at 800 Gb/s */
#define CEE_REFRESH_MIN_NS	(20 * (u64)NSEC_PER_USEC)

/**
 * struct cee_prio_config - options of a priority, and what is derived from them
 * @lossless:	pause the sender rather than drop
 * @weight:	share of the link; 0 is strict
 * @ecn:	enum tca_cee_ecn
 * @xoff:	threshold for XOFF, bytes; 0 is the default
 * @xon:	threshold for XON, bytes; 0 is the default
 * @alpha:	factor of the dynamic threshold, of TC_CEE_ALPHA_ONE; 0: static threshold
 * @headroom:	bytes for what is in flight when XOFF is sent; 0 is the default
 * @limit:	bytes that may wait and are charged to no port; 0 is the default
 * @kmin:	queue length, bytes, up to which no packet is marked
 * @kmax:	queue length, bytes, from which on every packet is marked
 * @pmax:	probability just below @kmax, of TC_CEE_PMAX_ONE
 * @qcn:	enum tca_cee_qcn
 * @qeq:	set point of the congestion point, bytes; 0 is the default of @qcn
 * @limiter:	enum tca_cee_limiter
 * @flows:	flows of the queue; 1 makes it a FIFO
 * @eff_xoff:	@xoff or its default
 * @eff_gap:	bytes from the XOFF threshold down to that of XON
 * @eff_headroom: @headroom or what the cable needs
 * @eff_limit:	@limit or its default
 * @eff_qeq:	@qeq or the default of @qcn
 * @min_rate:	minimum rate of the reaction point, bytes per second
 * @quantum:	bytes per round of a weighted priority
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
 * @rcu:	for kfree_rcu()
 * @domain:	name of the domain
 * @buffer:	buffer of the domain, bytes; 0 leaves it unchanged
 * @classify:	enum tca_cee_classify
 * @dscp:	priority of each code point
 * @trust:	obey received pause frames and CNMs
 * @pause:	enum tca_cee_pause
 * @action:	enum tca_cee_action
 * @quanta:	quanta of XOFF; 0 is the default
 * @watchdog:	time after which a pause is not obeyed, ms; 0: never
 * @cable:	propagation delay of the cable, ns
 * @ring:	bytes that the peer's driver may hold, or TC_CEE_RING_DEFAULT
 * @rate:	maximum sending rate, bytes per second; 0 is @speed
 * @speed:	speed of the link, bytes per second
 * @frame:	largest frame, bytes
 * @eff_quanta:	@quanta or the default
 * @lossless:	mask of lossless priorities
 * @qcn:	mask of priorities with a congestion point
 * @prio:	options of each priority
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
 * @node:	in cee_domains; RTNL
 * @net:	namespace of the domain; only compared, under RTNL
 * @name:	name, or ""
 * @ports:	number of registered ports; RTNL
 * @ref:	one for each port in memory
 * @rcu:	for kfree_rcu()
 * @lock:	guards the members below, and the accounts of the domain's ports
 * @buffer:	size, bytes
 * @reserved:	bytes of @buffer that are reserved as headroom of all ports
 * @used:	bytes of the rest that are charged
 * @used_max:	maximum of @used so far
 */
struct cee_domain {
	struct list_head	node;
	const struct net	*net;
	char			name[TC_CEE_DOMAIN_LEN];
	unsigned int		ports;
	refcount_t		ref;
	struct rcu_head		rcu;
	/* Innermost, but for the locks of timers. */
	spinlock_t		lock;
	u64			buffer;
	u64			reserved;
	u64			used;
	u64			used_max;
};

/**
 * struct cee_account - packets of a priority that came in by a port and still wait
 * @shared:	bytes charged below the threshold
 * @headroom:	bytes charged to the headroom, beyond the threshold
 * @shared_max:	maximum of @shared so far
 * @headroom_max: maximum of @headroom so far
 * @overflow:	packets that found no room
 * @xoff_sent:	XOFFs sent to the peer, including repeated ones
 * @xon_sent:	XONs sent to the peer
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
 * struct cee_pause - pauses of a priority by the peer
 * @since:	start of the pause, or of the part of it that @total does not include
 * @until:	end of the pause; 0 if none.  Written under the lock, read without it
 * @total:	time paused before @since, ns
 * @begun:	number of pauses so far; read without the lock
 * @xoff:	XOFF frames received
 * @xon:	XON frames received
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
 * @node:	in cee_ports, by @dev; cee_ports_lock
 * @dev:	device; valid for RCU readers that find @dead false
 * @pt:		packet handler that sees what the device receives
 * @ref:	one for all its qdiscs, and one for each cee_set it is in
 * @rcu:	for kfree_rcu()
 * @qdiscs:	number of qdiscs; RTNL
 * @foreign:	a device of another namespace is stacked on the port
 * @hardware:	mask of priorities whose pause frames the device itself sends and obeys
 * @cfg:	options; written under RTNL
 * @domain:	domain whose buffer it shares
 * @source:	queues of the switch that it is a port of, or NULL
 * @dead:	no qdisc is left; from here to @account under the domain's lock
 * @warned:	a loss of packets has been logged
 * @refreshing:	@refresh is queued, or runs and will be restarted
 * @xoff:	mask of priorities that the peer has been or will be asked to pause
 * @pending:	mask of priorities that the next pause frame must address
 * @nomem:	times that there was no memory for a pause frame
 * @account:	account of each priority
 * @refresh:	timer that repeats XOFF
 * @control:	QCN messages that leave before all queues
 * @heard:	MAC addresses from which IP sources came in (cee_qcn_cp.c)
 * @reaction:	reaction points of each priority, or NULL; made under RTNL, live as long as the port
 * @pause_lock:	guards the members below
 * @pause:	the peer's pauses of each priority
 * @ignored:	pause frames ignored because of "trust no"
 * @malformed:	malformed pause frames
 * @cnm_ignored: CNMs ignored because of "trust no"
 * @cnm_strange: CNMs about flows that were not sent from here or have no limiter
 * @cnm_malformed: malformed CNMs
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
	/* Innermost; never held with a domain's lock. */
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
 * @node:	in cee_sets, by @net and @ifindex; cee_ports_lock
 * @net:	namespace; only compared
 * @ifindex:	skb_iif of the packet
 * @ref:	one for the table, and one for each packet or bill that is charged
 * @rcu:	for kfree_rcu()
 * @n:		number of ports
 * @port:	the ports
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
 * struct cee_ets - state of the scheduler among priorities
 * @turn:	weighted priority that sends
 * @deficit:	bytes that each priority may still send
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

/* Count a received pause frame or CNM that was not obeyed.  Context: softirq. */
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
