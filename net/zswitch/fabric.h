/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zswitch: credit of vNICs on other hosts; fabric.c has the overview.
 */
#ifndef _NET_ZSWITCH_FABRIC_H
#define _NET_ZSWITCH_FABRIC_H

#include "queue.h"

/* IEEE 802's first EtherType for local experiments, told apart by a magic number: "zFab" */
#define ZSW_FABRIC_ETH_P	0x88B5
#define ZSW_FABRIC_MAGIC	0x7a466162
#define ZSW_FABRIC_VERSION	1

/* Each frame that is asked for takes one credit. */
#define ZSW_FABRIC_SINGLE	1

/**
 * struct zsw_fabric_hdr - what follows the EtherType in a frame of control
 * @magic:	ZSW_FABRIC_MAGIC
 * @version:	ZSW_FABRIC_VERSION
 * @type:	enum zcr_type
 * @flags:	ZSW_FABRIC_SINGLE in an ask, or 0
 * @epoch:	the sender's, not 0
 * @peer:	the receiver's; 0: not known yet
 * @count:	credits asked for, or granted
 * @past:	those settled, or arrived
 */
struct zsw_fabric_hdr {
	__be32	magic;
	u8	version;
	u8	type;
	__be16	flags;
	__be32	epoch;
	__be32	peer;
	__be32	count;
	__be32	past;
};

/**
 * struct zsw_far_key - whom a pair is of, the same at both ends but for the order
 * @here:	address of this host's vNIC
 * @there:	of the other one's
 * @vid:	VLAN, 0 without
 */
struct zsw_far_key {
	u8	here[ETH_ALEN];
	u8	there[ETH_ALEN];
	u16	vid;
};

/**
 * struct zsw_far - one end of a pair whose other end is on another host
 * @node:	in zswitch_port.far of the output
 * @list:	in its @busy or @idle
 * @key:	whom it is of
 * @port:	of a sender, its input; of a receiver, the wire that it was last asked by
 * @seen:	jiffies when it was last heard of, or sent
 */
struct zsw_far {
	struct hlist_node	node;
	struct list_head	list;
	struct zsw_far_key	key;
	struct zswitch_port	*port;
	unsigned long		seen;
};

/**
 * struct zsw_pair - the sender's end, of the wire
 * @far:	whom it is of
 * @held:	frames that wait for credit
 * @next:	the first of them that was not asked for, or NULL
 * @tx:		credit
 * @said:	@tx.asked in the last ask
 * @inside:	credits of frames that have not left this host yet
 * @was_used:	@tx.used at the last tick
 * @ask_at:	jiffies when it is to be repeated
 * @interval:	jiffies between the last one and that
 * @ticked:	jiffies of the last zcr_tick()
 * @moved:	jiffies since when the first frame waits
 * @spare:	credits that frames may take without an ask, since @spared
 * @spared:	jiffies
 */
struct zsw_pair {
	struct zsw_far		far;
	struct zsw_fifo		held;
	struct sk_buff		*next;
	struct zcr_sender	tx;
	u32			said;
	u32			inside;
	u32			was_used;
	unsigned long		ask_at;
	unsigned long		interval;
	unsigned long		ticked;
	unsigned long		moved;
	u32			spare;
	unsigned long		spared;
};

/**
 * struct zsw_origin - the receiver's end, of its vNIC's port
 * @far:	whom it is of
 * @src:	credit
 * @granted:	@src.granted in the last grant
 */
struct zsw_origin {
	struct zsw_far		far;
	struct zcr_source	src;
	u32			granted;
};

/* Called with the output's lock held */
struct zsw_fifo *zsw_fabric_hold(struct zswitch_port *out, struct zsw_voq *voq,
				 const struct zsw_frame *f);
bool zsw_fabric_arrive(struct zswitch_port *out, const struct zsw_frame *f);
void zsw_fabric_grant(struct zswitch_port *out, struct zcr_source *src);
void zsw_fabric_purge(struct zswitch_port *out, struct sk_buff_head *freed);
void zsw_fabric_forget(struct zswitch_port *out, const struct zswitch_port *port,
		       struct sk_buff_head *freed);

/* And without */
bool zsw_fabric_is_control(const struct sk_buff *skb);
void zsw_fabric_receive(struct zswitch_port *out, const struct zsw_frame *f);
void zsw_fabric_set(struct zswitch_port *out, bool on);
void zsw_fabric_work(struct work_struct *work);
void zsw_fabric_init(struct zswitch_port *port);
void zsw_fabric_exit(struct zswitch_port *port);

#endif /* _NET_ZSWITCH_FABRIC_H */
