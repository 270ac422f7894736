/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, the pull transport: the state of a connection, and of a device (NDP paper,
 * section 3.2).
 */
#ifndef _NDP_CREDIT_H
#define _NDP_CREDIT_H

#include <linux/hrtimer.h>
#include "conn.h"

/* Classes of a pull queue, one for each NDP_PRIORITY. */
#define NDP_PULL_CLASSES	(NDP_PRIORITY_MAX - NDP_PRIORITY_MIN + 1)

/**
 * struct ndp_pullq - the pull queue of a device (section 3.2)
 * @node:	in the hash table of all pull queues, by @dev
 * @dev:	device, not held: the queue is removed when the device unregisters
 * @ref:	references of the table and of connections
 * @link:	link of @dev, held
 * @unpulled:	bytes on the link that arrived since the last pull without being pulled
 * @lock:	guards what follows
 * @round:	connections that have earned pulls, by class, the first class served
 *		first; those of a class in turn
 * @low_due:	hundredths of a pull that lower classes are owed
 * @low_class:	lower class that was served last
 * @timer:	runs when @next is due and @round is not empty
 * @next:	time before which no further pull leaves, ktime_get_ns()
 * @waiting:	how many connections are in @round or being served
 * @arrived:	packets that arrived whole since @timer last ran, or since @waiting was 0
 * @pulls:	pulls granted, ever
 * @pulled_ever: sum of @pulled_in of all earlier epochs
 * @trimmed_ever: sum of @trimmed_in of all earlier epochs
 * @pushed_ever: sum of @pushed_in of all earlier epochs
 * @dead:	device gone, nothing may be queued any more
 * @share:	part of the link's rate in use, 1/1024; lowered while pulled packets
 *		arrive trimmed
 * @epoch_end:	when @share is adapted next, ktime_get_ns()
 * @pulled_in:	pulled packets that arrived in this epoch
 * @trimmed_in:	pulled packets that arrived trimmed in this epoch
 * @pushed_in:	packets of first windows that arrived in this epoch
 * @pushed_trimmed_now:	packets of first windows that arrived trimmed in this epoch
 * @pushed_in_prev: packets of first windows that arrived in the previous epoch
 * @pushed_trimmed_in:	packets of first windows that arrived trimmed since the queue at
 *		the port was drained
 * @rcu:	frees the queue when no lookup sees it any more
 */
struct ndp_pullq {
	struct hlist_node	node;
	struct net_device	*dev;
	refcount_t		ref;
	struct ndp_link		*link;
	atomic_t		unpulled;

	spinlock_t		lock;		/* all below */
	struct list_head	round[NDP_PULL_CLASSES];
	u32			low_due;
	unsigned int		low_class;
	struct hrtimer		timer;
	u64			next;
	u32			waiting;
	u32			arrived;
	u64			pulls;
	u64			pulled_ever;
	u64			trimmed_ever;
	u64			pushed_ever;
	bool			dead;
	u32			share;
	u64			epoch_end;
	u32			pulled_in;
	u32			trimmed_in;
	u32			pushed_in;
	u32			pushed_trimmed_now;
	u32			pushed_in_prev;
	u32			pushed_trimmed_in;
	struct rcu_head		rcu;
};

/**
 * struct ndp_pull_state - the pull state of a connection, ndp_sock.priv
 *
 * The sender:
 * @credit:	packets pulled and not yet sent
 * @rcvd:	highest pull counter received
 * @expect_pulls: packets answered that should have earned a pull, less the pulls
 *		received; answers overtake one another, so it may be below 0
 * @pushed:	payload pushed above ndp_sock.snd_last, answered or not
 * @ack_share:	moving average of the share of ACKs among answers and losses, 0 to 256
 * @forgone:	pushed packets that were lost and used up pulls meant for new data
 * @calm:	ACKs in a row without a NACK or a loss; NDP_CALM at most
 *
 * The receiver:
 * @refused:	a packet found no room, and there was no sign of room since: no pulls
 * @filled:	the buffer was full: pulls wait until there is room for more than one packet
 * @low_waits:	the packet at rcv_nxt arrived trimmed, or may have, and waits for a pull
 * @told_any:	@told_psn is valid
 * @disbelieved: the sender once reported less queued payload than it had; now ignored
 * @queued:	the connection is in the round of @q, or being served
 * @class:	class in which it was queued last, under @q's lock
 * @elsewhere_in: DATA packets that arrived by other devices, less those by @dev
 * @low_nxt:	rcv_nxt before the packet that is being received
 * @sent:	pull counter
 * @told:	highest pull counter that was sent to the peer
 * @told_psn:	PSN of the newest answer, as the peer knows it
 * @owed:	pulls earned by arrivals and not granted
 * @trimmed:	packets that arrived without their payload, and were not pulled since
 * @trimmed_bytes: payload of these packets, bytes
 * @said:	payload that the sender reports to be queued behind the highest PSN heard of,
 *		bytes; 0: unknown
 * @behind:	part of @said that was not pulled since, bytes
 * @mean16:	moving average of payload per packet, times sixteen, used for sockets of
 *		messages; 0: no packet arrived
 * @turns_taken: turns used by first-window packets that arrived whole; under @q's lock
 * @q:		pull queue of the device that packets arrive by; NULL: not paced
 * @dev:	device that @q was looked up for, compared only
 * @node:	in @q's round, under its lock
 *
 * Context: the connection's lock, except for what @q's lock guards.
 */
struct ndp_pull_state {
	u32			credit;
	u32			rcvd;
	s32			expect_pulls;
	u32			pushed;
	u16			ack_share;

	bool			refused;
	bool			filled;
	bool			low_waits;
	bool			told_any;
	bool			disbelieved;
	bool			queued;
	u8			class;
	u8			elsewhere_in;
	u8			forgone;
	u8			calm;
	u32			low_nxt;
	u32			sent;
	u32			told;
	u32			told_psn;
	u32			owed;
	u32			trimmed;
	u32			trimmed_bytes;
	u32			said;
	u32			behind;
	u32			mean16;
	u32			turns_taken;
	struct ndp_pullq	*q;
	const struct net_device	*dev;
	struct list_head	node;
};

/* The pull state of a connection. */
static inline struct ndp_pull_state *ndp_pull(const struct ndp_sock *np)
{
	return (struct ndp_pull_state *)np->priv;
}

/* The connection that a struct ndp_pull_state belongs to. */
static inline struct ndp_sock *ndp_of_pull(const struct ndp_pull_state *ps)
{
	return container_of((u64 *)ps, struct ndp_sock, priv[0]);
}

/* credit.c */
bool ndp_pull_may_send(const struct ndp_sock *np, enum ndp_send what, u32 len);
void ndp_pull_sent(struct ndp_sock *np, struct ndp_tx_cb *cb,
		   enum ndp_send what, u32 len);
bool ndp_pull_stalled(struct ndp_sock *np);
void ndp_pull_idle(struct ndp_sock *np);
void ndp_pull_granted(struct ndp_sock *np, const struct ndphdr *nh);
void ndp_pull_acked(struct ndp_sock *np, const struct ndp_tx_cb *cb,
		    bool cumulative);
void ndp_pull_nacked(struct ndp_sock *np, const struct ndp_tx_cb *cb);
bool ndp_pull_returned(struct ndp_sock *np, const struct ndp_tx_cb *cb);
bool ndp_pull_overtaken(struct ndp_sock *np, const struct ndp_tx_cb *cb);
void ndp_pull_pulled(struct ndp_sock *np, const struct ndphdr *nh);

/* pull.c */
void ndp_pull_request(struct ndp_sock *np);
void ndp_pull_more(struct ndp_sock *np, bool tell);
void ndp_send_pull(struct ndp_sock *np);
void ndp_pull_reorder(struct ndp_sock *np);
void ndp_pull_forget_turns(struct ndp_sock *np);
void ndp_pull_message(struct ndp_sock *np, u32 len);
void ndp_pull_header(struct ndp_sock *np, const struct net_device *dev);
void ndp_pull_device(struct ndp_sock *np, const struct net_device *dev);
void ndp_pull_detach(struct ndp_sock *np);
void ndp_pull_feedback(struct ndp_sock *np, bool pushed, bool trimmed);
u64 ndp_pull_rate(struct ndp_sock *np);

#endif /* _NDP_CREDIT_H */
