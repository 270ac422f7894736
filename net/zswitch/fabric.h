/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zswitch: credit of vNICs on other hosts; fabric.c has the overview.
 */
#ifndef _NET_ZSWITCH_FABRIC_H
#define _NET_ZSWITCH_FABRIC_H

#include "queue.h"

/* IEEE 802's first EtherType for local experiments, and a magic number, "zFab", for this use */
#define ZSW_FABRIC_ETH_P	0x88B5
#define ZSW_FABRIC_MAGIC	0x7a466162
#define ZSW_FABRIC_VERSION	1

/* Flag of an ask: each frame that is asked for takes one credit. */
#define ZSW_FABRIC_SINGLE	1

/**
 * struct zsw_fabric_hdr - what follows the EtherType in a frame of control
 * @magic:	ZSW_FABRIC_MAGIC
 * @version:	ZSW_FABRIC_VERSION
 * @type:	enum zcr_type
 * @flags:	ZSW_FABRIC_SINGLE in an ask, or 0
 * @epoch:	epoch of the sender, not 0
 * @peer:	epoch of the receiver; 0: not known yet
 * @count:	credits asked for, or granted
 * @past:	credits settled, or arrived
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
 * struct zsw_far_key - addresses and VLAN of a pair; the other end has the addresses swapped
 * @here:	address of this host's vNIC
 * @there:	address of the other host's vNIC
 * @vid:	VLAN; 0: none
 */
struct zsw_far_key {
	u8	here[ETH_ALEN];
	u8	there[ETH_ALEN];
	u16	vid;
};

/**
 * struct zsw_far - one end of a pair whose other end is on another host
 * @node:	in zswitch_port.far of the output
 * @list:	in zswitch_port.busy or zswitch_port.idle of the output
 * @key:	addresses and VLAN
 * @port:	for a sender, its input; for a receiver, the wire that the last ask came by
 * @seen:	jiffies of the last message from the other end, or the last frame sent to it
 */
struct zsw_far {
	struct hlist_node	node;
	struct list_head	list;
	struct zsw_far_key	key;
	struct zswitch_port	*port;
	unsigned long		seen;
};

/**
 * struct zsw_pair - the sender's end of a pair, kept by the wire
 * @far:	addresses, and place in the wire's tables
 * @held:	frames that wait for credit
 * @next:	first frame of @held that was not asked for, or NULL
 * @tx:		state of the credit protocol
 * @said:	@tx.asked in the last ask, at least @tx.granted; if more, an ask is outstanding
 * @inside:	credits of frames that have not left this host yet
 * @was_used:	@tx.used at the last tick
 * @ask_at:	jiffies when the ask is to be repeated
 * @interval:	jiffies between the last ask and @ask_at
 * @ticked:	jiffies of the last zcr_tick()
 * @moved:	jiffies when the first frame of @held became the first
 * @spare:	credits that frames may still take without an ask in the period since @spared
 * @spared:	jiffies when that period began
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
 * struct zsw_origin - the receiver's end of a pair, kept by its vNIC's port
 * @far:	addresses, and place in the port's tables
 * @src:	state of the credit protocol
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

/* Called without the output's lock */
bool zsw_fabric_is_control(const struct sk_buff *skb);
void zsw_fabric_receive(struct zswitch_port *out, const struct zsw_frame *f);
void zsw_fabric_set(struct zswitch_port *out, bool on);
void zsw_fabric_work(struct work_struct *work);
void zsw_fabric_init(struct zswitch_port *port);
void zsw_fabric_exit(struct zswitch_port *port);

#endif /* _NET_ZSWITCH_FABRIC_H */
