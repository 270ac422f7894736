/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zswitch: queues of waiting frames; queue.c has the overview.
 */
#ifndef _NET_ZSWITCH_QUEUE_H
#define _NET_ZSWITCH_QUEUE_H

#include "zswitch.h"

struct zsw_pair;

/**
 * struct zsw_fifo - frames of a priority from an input to an output
 * @active:	in the output's list of fifos that have frames
 * @frames:	the frames
 * @voq:	virtual output queue that the fifo belongs to
 * @bytes:	bytes in @frames
 * @deficit:	bytes that the fifo may send in its turn
 * @sleepers:	transmit queues of the input that wait for room here
 * @flooders:	the same, where the frame that filled the fifo was a flooded copy
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
 * struct zsw_voq - virtual output queue: frames from one input that wait for one output
 * @node:	in the output's table
 * @in:		input
 * @fifo:	frames of each priority
 * @held:	frames of all priorities that wait for credit, and are in no @fifo yet
 * @tx:		state of the credit protocol at the input
 * @src:	state of the credit protocol at the output
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
 * struct zsw_debt - what an input is charged for a frame that waits
 * @charge:	sch_cee's charge for the wire that the frame came in by, or NULL
 * @size:	bytes
 * @prio:	priority at the input
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
 * @debt:	debt of the frame
 * @ref:	one reference for each copy that waits, and one while copies are made
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
 * @bill:	bill that it shares with its copies; NULL if it is not copied
 * @vid:	VLAN that it came in by, 0 without VLANs
 * @control:	it is a frame of control of the fabric, which no vNIC gets
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
 * struct zsw_cb - control block of a frame while it waits
 * @bill:	bill that it shares with its copies; NULL if it is not copied
 * @debt:	its own debt, without a bill
 * @pair:	pair whose credit for a vNIC beyond a wire it was let in with; or NULL
 * @len:	bytes
 * @credits:	credits that the frame takes, or 0
 * @prio:	priority at the output
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

/* For fabric.c, called with the output's lock held */
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
