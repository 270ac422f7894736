/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_cee: Quantized Congestion Notification (IEEE 802.1Qau; 802.1Q, clauses 30 to 33).
 *
 * cee_qcn_cp.c is the congestion point, cee_qcn_rp.c the reaction point; this file has the
 * message between them, and what a port calls in both.
 *
 * Locks.  A congestion point belongs to its qdisc and is under the root lock.  Reaction
 * points belong to their port and are under cee_reaction.lock, which is innermost.
 */
#ifndef _CEE_QCN_H
#define _CEE_QCN_H

#include <linux/if_ether.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct cee_config;
struct cee_port;
struct net;
struct net_device;
struct sk_buff;

#define CEE_ETH_P_CNM	0x22e7
#define CEE_ETH_P_CN	0x22e9	/* CN-tag: a flow identifier of 16 bits follows */

#define CEE_CNM_MSDU	64	/* bytes that are quoted of a frame, at most */
#define CEE_FB_MAX	63	/* six bits */
#define CEE_FB_MASK	0x003f
#define CEE_CNM_VERSION	0xf000

/* Flows of a priority that a reaction point remembers as sent from here, in a set by hash */
#define CEE_RP_SETS	256
#define CEE_RP_WAYS	4
/* Rate limiters of a priority, a power of two */
#define CEE_RP_LIMITERS	64

/**
 * struct cee_cnm - Congestion Notification Message, behind its EtherType
 * @feedback:	version (4 bits), reserved (6), quantized feedback (6)
 * @cpid:	id of the congestion point: MAC address of the port, 0, priority
 * @offset:	set point minus queue length, in 64 bytes
 * @delta:	growth of the queue since the last sample, in 64 bytes
 * @prio:	priority of the sampled frame, in the upper 3 bits
 * @dest:	destination MAC address of the sampled frame
 * @len:	bytes of @msdu
 * @msdu:	start of the frame, from its EtherType on, without tags
 */
struct cee_cnm {
	__be16	feedback;
	u8	cpid[8];
	__be16	offset;
	__be16	delta;
	__be16	prio;
	u8	dest[ETH_ALEN];
	__be16	len;
	u8	msdu[];
} __packed;

/**
 * struct cee_cp - congestion point of a queue
 * @left:	bytes until the next sample
 * @old:	queue length at the last sample, bytes
 * @sent:	CNMs sent
 * @unsent:	CNMs that could not be sent
 */
struct cee_cp {
	s32	left;
	u32	old;
	u64	sent;
	u64	unsent;
};

/**
 * struct cee_sample - what a congestion point measures when it samples a frame
 * @fb:		quantized feedback, 1 to CEE_FB_MAX, or 0 if there is no congestion
 * @offset:	set point minus queue length, bytes
 * @delta:	growth of the queue since the last sample, bytes
 */
struct cee_sample {
	u8	fb;
	s64	offset;
	s64	delta;
};

/**
 * struct cee_rp - a rate limiter
 * @rate:	bytes per second; 0: no limit
 * @target:	rate that recovery approaches
 * @bytes:	bytes until the byte counter's next stage
 * @timer:	when the timer's next stage begins
 * @byte_stage:	stage of the byte counter
 * @time_stage:	stage of the timer
 * @debt:	bytes that have been sent ahead of the rate, times NSEC_PER_SEC
 * @at:		time at which @debt was last updated
 * @last:	time of the last transmission
 */
struct cee_rp {
	u64	rate;
	u64	target;
	s64	bytes;
	u64	timer;
	u32	byte_stage;
	u32	time_stage;
	s64	debt;
	u64	at;
	u64	last;
};

/**
 * struct cee_reaction - reaction points of a priority of a port
 * @rcu:	for kvfree_rcu(), which needs it near the start
 * @lock:	guards everything but @seen
 * @active:	number of rate limiters with a rate; read without the lock
 * @received:	CNMs that were obeyed
 * @seen:	hashes of the flows that were last sent, the newest of a set first; racy on
 *		purpose
 * @rp:		limiters, indexed by hash; only the first if the priority has one limiter
 */
struct cee_reaction {
	struct rcu_head	rcu;
	/* Innermost; never held with another lock of sch_cee. */
	spinlock_t	lock;
	u32		active;
	u64		received;
	u32		seen[CEE_RP_SETS][CEE_RP_WAYS];
	struct cee_rp	rp[CEE_RP_LIMITERS];
};

/* 85 to 115 % of a number below 2^32, uniformly distributed */
static inline u64 cee_jitter(u64 mean)
{
	return mean - mean * 15 / 100 + ((mean * 30 / 100 * get_random_u32()) >> 32);
}

/* cee_qcn_cp.c */
bool cee_cp_sample(struct cee_cp *cp, u32 len, u32 depth, u32 qeq, struct cee_sample *s);
void cee_cp_notify(struct cee_cp *cp, struct net_device *dev, const struct sk_buff *skb,
		   unsigned int prio, const struct cee_sample *s);
void cee_cp_hear(struct cee_port *port, const struct sk_buff *skb);

/* cee_qcn_rp.c */
u32 cee_rp_hash(const struct net *net, const void *data, __be16 proto, int len);
struct cee_reaction *cee_reaction_new(void);
void cee_reaction_stop(struct cee_reaction *r);
u32 cee_rp_note(struct cee_reaction *r, const struct sk_buff *skb);
u64 cee_rp_wait(struct cee_reaction *r, const struct cee_config *cfg, u32 hash, u64 now);
void cee_rp_sent(struct cee_reaction *r, const struct cee_config *cfg, u32 hash, u32 len, u64 now);
u64 cee_rp_slowest(struct cee_reaction *r, u32 *active);
void cee_rp_receive(struct cee_port *port, const struct cee_config *cfg, const struct sk_buff *skb);

#endif /* _CEE_QCN_H */
