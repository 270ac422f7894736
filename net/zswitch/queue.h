/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zswitch: frames that wait; queue.c has the overview.
 */
#ifndef _NET_ZSWITCH_QUEUE_H
#define _NET_ZSWITCH_QUEUE_H

#include "zswitch.h"

struct zsw_pair;

/**
 * struct zsw_fifo - frames of a priority from an input to an output
 * @active:	in the output's list of those that have frames
 * @frames:	they
 * @voq:	which input
 * @bytes:	of @frames
 * @deficit:	bytes that it may send in its turn
 * @sleepers:	transmit queues of the input that wait for room here
 * @flooders:	the same, whose frame was for many outputs
 */
struct zsw_fifo {
	struct list_head	active;
	struct sk_buff_head	frames;
	struct zsw_voq		*voq;
	u32			bytes;
	int			deficit;
	u32			sleepers;
	u32			flooders;
};

/**
 * struct zsw_voq - what waits from an input to an output
 * @node:	in the output's table
 * @in:		input
 * @fifo:	of each priority
 * @held:	frames of all priorities that wait for credit, and are not the output's yet
 * @tx:		credit of the input
 * @src:	what the output knows of it
 */
struct zsw_voq {
	struct hlist_node	node;
	struct zswitch_port	*in;
	struct zsw_fifo		fifo[ZSWITCH_PRIOS];
	struct zsw_fifo		held;
	struct zcr_sender	tx;
	struct zcr_source	src;
};

/**
 * struct zsw_debt - what an input holds for a frame that waits
 * @charge:	of the wire that it came in by, or NULL
 * @size:	bytes
 * @prio:	priority of the input
 * @class:	enum zsw_class
 */
struct zsw_debt {
	struct cee_set		*charge;
	u32			size;
	u8			prio;
	u8			class;
};

/**
 * struct zsw_bill - the debt of all copies of a frame together
 * @debt:	of the frame
 * @ref:	of each copy that waits, and one of who makes them
 */
struct zsw_bill {
	struct zsw_debt		debt;
	refcount_t		ref;
};

/**
 * struct zsw_frame - a frame on its way to an output
 * @in:		port that it came in by
 * @skb:	frame, its data at the MAC header
 * @txq:	transmit queue that has sent it and may be stopped, or -1
 * @bill:	it is one of many copies; NULL if not
 * @vid:	VLAN that it came in, 0 without VLANs
 * @control:	of the fabric's own: no vNIC gets it
 */
struct zsw_frame {
	struct zswitch_port	*in;
	struct sk_buff		*skb;
	int			txq;
	struct zsw_bill		*bill;
	u16			vid;
	bool			control;
};

/**
 * struct zsw_cb - what a frame knows while it waits
 * @bill:	of it and its copies; NULL if there are none
 * @debt:	without a bill, of its own
 * @pair:	whose credit it has, or waits for, beyond a wire; or NULL
 * @len:	bytes
 * @credits:	that it was let in by, or has come with, or 0
 * @prio:	priority of the output
 * @class:	enum zsw_class
 */
struct zsw_cb {
	struct zsw_bill	*bill;
	struct zsw_debt	debt;
	struct zsw_pair	*pair;
	u32		len;
	u16		credits;
	u8		prio;
	u8		class;
};

static inline struct zsw_cb *zsw_cb(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct zsw_cb) > sizeof_field(struct sk_buff, cb));
	return (struct zsw_cb *)skb->cb;
}

enum zswitch_stat zsw_bill_open(struct zsw_frame *f);
void zsw_bill_put(struct zswitch_port *in, struct zsw_bill *bill);

void zsw_output_init(struct zswitch_port *port);
void zsw_enqueue(struct zswitch_port *out, const struct zsw_frame *f);
u32 zsw_backlog(const struct zswitch_port *port, unsigned int prio);
u32 zsw_held(const struct zswitch_port *port);
u32 zsw_credit_out(const struct zswitch_port *port);
void zsw_output_set(struct zswitch_port *port, bool up);
void zsw_output_credit(struct zswitch_port *port, u32 size);
void zsw_forget_input(struct zswitch_port *out, struct zswitch_port *in);
void zsw_free_voqs(struct zswitch_port *out);
bool zsw_expire(struct zswitch_port *port);

/* For fabric.c, under the output's lock */
void zsw_fifo_init(struct zsw_fifo *fifo, struct zsw_voq *voq);
void zsw_fifo_wake(struct zsw_fifo *fifo);
void zsw_wake(struct zswitch_port *in, u32 txqs);
void zsw_hold(struct zswitch_port *out, struct zsw_fifo *held, struct sk_buff *skb);
void zsw_discard(struct zswitch_port *out, struct zsw_fifo *held, struct sk_buff *skb,
		 enum zswitch_stat reason, struct sk_buff_head *freed);
void zsw_let_in(struct zswitch_port *out, struct zsw_fifo *held, struct sk_buff *skb);
void zsw_let_all_in(struct zswitch_port *out, struct zsw_fifo *held);
void zsw_grant(struct zswitch_port *out);
void zsw_promote(struct zswitch_port *in, struct zsw_cb *cb);

#endif /* _NET_ZSWITCH_QUEUE_H */
