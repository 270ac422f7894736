// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: queueing, stopping and waking senders, which makes the switch lossless.
 *
 * D. Crisan, "Optimized networking for virtual machines ...", ETH Zurich 2014, Algorithm
 * 4.1 (section 4.4.2).  In the thesis the forwarder takes frames whose output has room from an
 * input queue, and passes over those whose output is full.  Here that input queue is kept
 * as one queue for each output (virtual output queues), so that nothing need be searched
 * and no frame blocks another output's.  An output queue has no frames of its own: whoever
 * takes frames out is the forwarder of that output (zswitch_pull()).
 *
 *	input a --+-> fifo (a, x, priority) --.
 *	          '-> fifo (a, y, priority) -. '-> output x: whose turn? --> zswitch_pull()
 *	input b --+-> fifo (b, x, priority) -+-'
 *	          '-> fifo (b, y, priority) -'---> output y
 *
 * send: a frame is always taken; if its fifo then holds the input's share for one output,
 * or the input its limit, the transmit queue that sent the frame is stopped, and recorded
 * with the fifo or input that is full.  So an input exceeds its bounds by one frame of each
 * transmit queue at most, and a frame need never be refused.  A queue is woken when that
 * fifo, or that input, has fallen to half.  A transmit queue serves some of the
 * destinations (zswitch_select_queue()): while it is stopped for one that does not take
 * its frames, queues for other destinations go on.
 *
 * Frames from a wire cannot be refused either.  They are charged to the wire's port, whose
 * sch_cee pauses the peer in time.  The copies of a flooded frame share its memory and are
 * charged once, until the last one has left (struct zsw_bill).
 *
 * A guest can restart its stopped queues by taking its end down and up.  So there is a hard
 * limit for the bytes that an input holds (ZSW_SLACK).  A frame without a socket counts with
 * all the memory that it takes.
 *
 * receive: priorities take turns, and within a priority inputs do, by bytes (deficit
 * round robin, Shreedhar and Varghese, SIGCOMM 1995; inputs by weight).  Priorities are
 * not strict, since any sender may choose one.  Order is kept in a fifo, that is within
 * input, output and priority.
 *
 * Stalled outputs.  If a priority of an output has frames, and has sent next to nothing
 * (ZSW_PROGRESS) for as long as frames of a class may wait, its frames of that class are
 * dropped, and so are new ones, but for one frame at a time, by which the output can show that
 * it moves again.  An output that asks for more frames than there are is trusted again as well,
 * but not for long.  Copies of flooded frames wait for 100 ms by default, or one broken
 * receiver would stop all senders; frames from wires for 200 ms, since the pause they cause
 * stops others in the whole fabric; and frames of this machine's senders for a minute.  The
 * latter hold their sockets, and with them a namespace that is to be deleted.
 *
 * Lossy inputs (by option, and wires without sch_cee) may fill an output up to a bound.
 *
 * Credit (option fabric; credit.c).  A frame from a port of this machine to another one is
 * let into the fifos of that output only when it has credit there, and waits in front of
 * them until then, in order of arrival, bounded by the input's share as in a fifo.  So an
 * output holds no more frames than its credit allows, from however many inputs.  Both ends are
 * under the output's lock here, and a message is a call: an input asks for credit for the
 * first frame that it holds, and whoever takes frames out grants the credit that returns.
 * Copies of flooded frames need no credit.  fabric.c does the same for vNICs of other hosts:
 * frames for such a vNIC wait in front of the wire's fifos, by pair, and frames that arrive
 * from other hosts with credit have their room.
 *
 * Context.  All under the output's lock; the bytes that an input holds are atomic, as it has
 * frames at many outputs.  Packets are freed without the lock.
 */
#include <linux/jiffies.h>
#include <linux/refcount.h>
#include <linux/sizes.h>
#include "fabric.h"
#include "queue.h"

/* Bytes that a priority, or an input of weight 1, may send in its turn */
#define ZSW_QUANTUM	2048

/*
 * Bytes that an input may hold beyond twice its limit: a GSO packet of each transmit queue.
 * Only a sender that ignores its stop sends more.  A sender without a stop callback is bounded
 * by its own accounting, as a virtual machine is by its queues' sockets.
 */
#define ZSW_SLACK	(ZSWITCH_TXQS * SZ_64K)

/* Epoch of both ends of a pair within a switch, where no message can be old */
#define ZSW_EPOCH	1

static void zsw_kick(struct zswitch_port *out)
{
	if (out->kind)
		out->kind->kick(out->dev);
	else
		zsw_wire_kick(out);
}

/**
 * zsw_wake() - wake transmit queues of an input
 * @in:		input
 * @txqs:	transmit queues, a bit each
 *
 * Context: any output's lock.
 */
void zsw_wake(struct zswitch_port *in, u32 txqs)
{
	if (!txqs)
		return;
	zsw_count(in, ZSWITCH_STAT_WOKEN, hweight32(txqs));
	in->kind->wake(in->dev, txqs);
}

/* @known: the queue is among the sleepers already, but was woken from elsewhere. */
static void zsw_sleep(struct zswitch_port *in, unsigned int txq, bool known)
{
	if (!known)
		zsw_count(in, ZSWITCH_STAT_SLEPT, 1);
	in->kind->stop(in->dev, txq);
}

/* Stop the transmit queue if the frame that it has sent has filled the fifo or the input. */
static void zsw_sleep_if_full(struct zsw_fifo *fifo, const struct zsw_frame *f, unsigned int prio)
{
	const struct zsw_config *cfg = &f->in->zsw->cfg;
	struct zswitch_port *in = f->in;
	u32 bit = BIT(f->txq), *waits;

	if (fifo->bytes >= READ_ONCE(cfg->share)) {
		waits = f->bill ? &fifo->flooders : &fifo->sleepers;
		zsw_sleep(in, f->txq, *waits & bit);
		*waits |= bit;
		return;
	}
	if (atomic_read(&in->used[prio]) < READ_ONCE(cfg->limit))
		return;
	/* Stop the queue first: whoever finds it among the sleepers wakes it. */
	zsw_sleep(in, f->txq, atomic_read(&in->sleepers[prio]) & bit);
	atomic_or(bit, &in->sleepers[prio]);
	/* Pairs with zsw_repay(): one of the two sees what the other has done. */
	smp_mb__after_atomic();
	if (atomic_read(&in->used[prio]) <= READ_ONCE(cfg->limit) / 2)
		zsw_wake(in, atomic_fetch_andnot(bit, &in->sleepers[prio]) & bit);
}

/* Bytes that a frame counts at its input; a socket is charged for the rest of its memory. */
static u32 zsw_size(const struct zswitch_port *in, const struct sk_buff *skb)
{
	return in->kind && !skb->sk ? max(skb->truesize, skb->len) : skb->len;
}

/*
 * Charge an input for a frame, and also sch_cee if the input is a lossless wire.
 * Return: why the frame cannot be taken, or ZSWITCH_STAT_PAD.
 */
static enum zswitch_stat zsw_borrow(struct zswitch_port *in, struct zsw_debt *debt)
{
	const struct zsw_config *cfg = &in->zsw->cfg;
	u64 most = 2 * (u64)READ_ONCE(cfg->limit) + ZSW_SLACK;

	debt->charge = NULL;
	debt->class = ZSW_LOSSY;
	if (in->kind) {
		if (READ_ONCE(cfg->virtual_lossless))
			debt->class = ZSW_VIRTUAL;
		if (in->vnic && in->kind->stop &&
		    atomic_read(&in->used[debt->prio]) + (u64)debt->size > most)
			return ZSWITCH_STAT_DROP_OVERRUN;
	} else if (READ_ONCE(cfg->wire_lossless)) {
		debt->charge = cee_ingress_charge(in->dev, debt->prio, debt->size);
		if (IS_ERR(debt->charge))
			return PTR_ERR(debt->charge) == -ENOMEM ? ZSWITCH_STAT_DROP_NOMEM :
								  ZSWITCH_STAT_DROP_HEADROOM;
		if (debt->charge)
			debt->class = ZSW_WIRE;
	}
	atomic_add(debt->size, &in->used[debt->prio]);
	return ZSWITCH_STAT_PAD;
}

static void zsw_repay(struct zswitch_port *in, const struct zsw_debt *debt)
{
	int used = atomic_sub_return(debt->size, &in->used[debt->prio]);

	if (debt->charge)
		cee_ingress_uncharge(debt->charge, debt->prio, debt->size);
	if (used <= READ_ONCE(in->zsw->cfg.limit) / 2 && atomic_read(&in->sleepers[debt->prio]))
		zsw_wake(in, atomic_xchg(&in->sleepers[debt->prio], 0));
}

/**
 * zsw_bill_open() - charge an input for a frame that is to be copied
 * @f:		frame; it gets a bill
 *
 * The copies share the frame's memory, so the input is charged once: or a wire's peer would
 * be paused, and lose frames, in proportion to the number of outputs.
 *
 * Context: RCU, bottom halves are off.
 * Return: why the frame cannot be taken, or ZSWITCH_STAT_PAD.
 */
enum zswitch_stat zsw_bill_open(struct zsw_frame *f)
{
	struct zsw_bill *bill = kmalloc(sizeof(*bill), GFP_ATOMIC);
	enum zswitch_stat reason;

	if (!bill)
		return ZSWITCH_STAT_DROP_NOMEM;
	refcount_set(&bill->ref, 1);
	bill->debt.size = zsw_size(f->in, f->skb);
	bill->debt.prio = cee_source_classify(NULL, f->in->kind ? NULL : f->in->dev, f->skb);
	reason = zsw_borrow(f->in, &bill->debt);
	if (reason) {
		kfree(bill);
		return reason;
	}
	f->bill = bill;
	return ZSWITCH_STAT_PAD;
}

/**
 * zsw_bill_put() - a copy has left, or all have been made
 * @in:		port that the frame came in by
 * @bill:	bill of the frame
 *
 * Context: RCU, bottom halves are off; any output's lock.
 */
void zsw_bill_put(struct zswitch_port *in, struct zsw_bill *bill)
{
	if (!refcount_dec_and_test(&bill->ref))
		return;
	zsw_repay(in, &bill->debt);
	kfree(bill);
}

/* Uncharge a frame from its input.  The packet itself is not touched. */
static void zsw_release(struct zswitch_port *in, const struct zsw_cb *cb)
{
	if (cb->bill)
		zsw_bill_put(in, cb->bill);
	else
		zsw_repay(in, &cb->debt);
}

/**
 * zsw_fifo_wake() - frames have left a fifo: wake its sleepers if it has fallen to half
 * @fifo:	fifo
 *
 * Context: the output's lock.
 */
void zsw_fifo_wake(struct zsw_fifo *fifo)
{
	struct zswitch_port *in = fifo->voq->in;
	u32 txqs = fifo->sleepers | fifo->flooders;

	if (!txqs || fifo->bytes > READ_ONCE(in->zsw->cfg.share) / 2)
		return;
	fifo->sleepers = 0;
	fifo->flooders = 0;
	zsw_wake(in, txqs);
}

static void zsw_append(struct zswitch_port *out, struct zsw_fifo *fifo, struct sk_buff *skb)
{
	struct zsw_cb *cb = zsw_cb(skb);

	if (skb_queue_empty(&fifo->frames))
		list_add_tail(&fifo->active, &out->active[cb->prio]);
	else
		zsw_count(fifo->voq->in, ZSWITCH_STAT_WAITED, 1);
	__skb_queue_tail(&fifo->frames, skb);
	fifo->bytes += cb->len;
	out->bytes[cb->prio] += cb->len;
	if (cb->class == ZSW_LOSSY)
		out->lossy[cb->prio] += cb->len;
}

/* A frame waits no longer: return this output's credit, or take a pair's from its @inside. */
static void zsw_give_back(struct zswitch_port *out, const struct zsw_cb *cb)
{
	if (cb->pair) {
		cb->pair->inside -= cb->credits;
	} else if (cb->credits) {
		zcr_leave(&out->rx, cb->credits);
		zsw_count(out, ZSWITCH_STAT_CREDIT_RETURNED, cb->credits);
	}
}

/* Take a frame from the middle or the head of a fifo. */
static void zsw_unlink(struct zswitch_port *out, struct zsw_fifo *fifo, struct sk_buff *skb)
{
	struct zsw_cb *cb = zsw_cb(skb);

	__skb_unlink(skb, &fifo->frames);
	fifo->bytes -= cb->len;
	out->bytes[cb->prio] -= cb->len;
	if (cb->class == ZSW_LOSSY)
		out->lossy[cb->prio] -= cb->len;
	if (skb_queue_empty(&fifo->frames)) {
		list_del_init(&fifo->active);
		fifo->deficit = min(fifo->deficit, 0);
		if (list_empty(&out->active[cb->prio]))
			WRITE_ONCE(out->ready, out->ready & ~BIT(cb->prio));
	}
	zsw_give_back(out, cb);
	zsw_release(fifo->voq->in, cb);
	zsw_fifo_wake(fifo);
}

/**
 * zsw_fifo_init() - prepare an empty fifo
 * @fifo:	fifo
 * @voq:	virtual output queue that it belongs to
 */
void zsw_fifo_init(struct zsw_fifo *fifo, struct zsw_voq *voq)
{
	INIT_LIST_HEAD(&fifo->active);
	__skb_queue_head_init(&fifo->frames);
	fifo->voq = voq;
}

static struct zsw_voq *zsw_voq_new(struct zswitch_port *out, struct zswitch_port *in)
{
	struct zsw_voq *voq = kzalloc(sizeof(*voq), GFP_ATOMIC);
	int i;

	if (!voq)
		return NULL;
	voq->in = in;
	for (i = 0; i < ZSWITCH_PRIOS; i++)
		zsw_fifo_init(&voq->fifo[i], voq);
	zsw_fifo_init(&voq->held, voq);
	zcr_source_init(&voq->src, &out->rx, ZSW_EPOCH);
	zcr_pair(&voq->tx, &voq->src, ZSW_EPOCH);
	hash_add(out->voqs, &voq->node, (unsigned long)in);
	return voq;
}

static struct zsw_voq *zsw_voq_get(struct zswitch_port *out, struct zswitch_port *in)
{
	struct zsw_voq *voq;

	hash_for_each_possible(out->voqs, voq, node, (unsigned long)in)
		if (voq->in == in)
			return voq;
	return zsw_voq_new(out, in);
}

static void zsw_window_begin(struct zswitch_port *out, unsigned int prio, enum zsw_class class)
{
	out->window[class][prio].since = jiffies;
	out->window[class][prio].base = out->passed[prio];
}

static void zsw_set_still(struct zswitch_port *out, unsigned int prio, enum zsw_class class,
			  bool still)
{
	if (still) {
		out->still[class] |= BIT(prio);
		out->suspect[class] |= BIT(prio);
		WRITE_ONCE(out->stalled, out->stalled | BIT(prio));
	} else {
		out->still[class] &= ~BIT(prio);
		out->suspect[class] &= ~BIT(prio);
	}
}

/* How long a class waits.  An output that has only asked for more is trusted for 1/8 of it. */
static unsigned long zsw_patience(const struct zswitch_port *out, unsigned int prio,
				  enum zsw_class class)
{
	unsigned long wait = msecs_to_jiffies(READ_ONCE(out->zsw->cfg.wait[class]));

	return out->suspect[class] & ~out->still[class] & BIT(prio) ? wait / 8 : wait;
}

/*
 * Is a priority stalled for longer than frames of a class wait?  The bytes that it sends are
 * measured in windows of that time.
 */
static bool zsw_still(struct zswitch_port *out, unsigned int prio, enum zsw_class class)
{
	const struct zsw_window *w = &out->window[class][prio];
	bool moves = out->passed[prio] - w->base >= ZSW_PROGRESS;

	if (!READ_ONCE(out->zsw->cfg.wait[class]) || !(out->ready & BIT(prio)))
		return false;
	if (moves || time_after(jiffies, w->since + zsw_patience(out, prio, class))) {
		zsw_set_still(out, prio, class, !moves);
		zsw_window_begin(out, prio, class);
	}
	return out->still[class] & BIT(prio);
}

static enum zswitch_stat zsw_still_reason(enum zsw_class class)
{
	return class == ZSW_FLOOD ? ZSWITCH_STAT_DROP_FLOOD : ZSWITCH_STAT_DROP_STILL;
}

/* An output that asks for more than there is counts as moving, until a window shows otherwise. */
static void zsw_all_taken(struct zswitch_port *out, u8 prios)
{
	enum zsw_class class;

	for (class = 0; class < ZSW_CLASSES; class++)
		out->still[class] &= ~prios;
	WRITE_ONCE(out->stalled, out->stalled & ~prios);
}

/* Return: why the frame cannot be taken, or ZSWITCH_STAT_PAD.  Context: the output's lock. */
static enum zswitch_stat zsw_refusal(struct zswitch_port *out, const struct zsw_cb *cb)
{
	if (!out->up)
		return ZSWITCH_STAT_DROP_DOWN;
	if (cb->class == ZSW_LOSSY)
		return out->lossy[cb->prio] + cb->len > READ_ONCE(out->zsw->cfg.queue) ?
		       ZSWITCH_STAT_DROP_FULL : ZSWITCH_STAT_PAD;
	return zsw_still(out, cb->prio, cb->class) ? zsw_still_reason(cb->class) :
						     ZSWITCH_STAT_PAD;
}

/* A priority of an output that had no frames gets its first one. */
static void zsw_begins(struct zswitch_port *out, unsigned int prio)
{
	struct delayed_work *watch = &out->zsw->watch;
	enum zsw_class class;

	for (class = 0; class < ZSW_CLASSES; class++)
		if (!(out->still[class] & BIT(prio)))
			zsw_window_begin(out, prio, class);
	if (!delayed_work_pending(watch))
		schedule_delayed_work(watch, ZSW_WATCH);
}

/* A frame is let into an output. */
static void zsw_admit(struct zswitch_port *out, struct zsw_voq *voq, struct sk_buff *skb)
{
	unsigned int prio = zsw_cb(skb)->prio;

	if (!(out->ready & BIT(prio)))
		zsw_begins(out, prio);
	zsw_append(out, &voq->fifo[prio], skb);
}

/* Notify whoever takes frames from an output of the first frame in a priority. */
static void zsw_ready(struct zswitch_port *out, unsigned int prio)
{
	if (out->ready & BIT(prio))
		return;
	WRITE_ONCE(out->ready, out->ready | BIT(prio));
	zsw_kick(out);
}

/* An input asks an output for credit for the first frame that it holds. */
static void zsw_ask(struct zswitch_port *out, struct zsw_voq *voq)
{
	u32 credits = zsw_cb(skb_peek(&voq->held.frames))->credits, lost = 0;
	struct zcr_msg ask;

	if (!zcr_want(&voq->tx, credits))
		return;
	zsw_count(out, ZSWITCH_STAT_CREDIT_ASKED, credits);
	voq->src.weight = READ_ONCE(voq->in->weight);
	ask = zcr_ask(&voq->tx);
	zcr_asked(&voq->src, &ask, ZSW_EPOCH, &lost);
}

/**
 * zsw_hold() - a frame begins to wait for credit
 * @out:	output
 * @held:	fifo of frames that wait for credit
 * @skb:	frame
 *
 * Context: the output's lock.
 */
void zsw_hold(struct zswitch_port *out, struct zsw_fifo *held, struct sk_buff *skb)
{
	__skb_queue_tail(&held->frames, skb);
	held->bytes += zsw_cb(skb)->len;
	WRITE_ONCE(out->held, out->held + zsw_cb(skb)->len);
}

/* Take a frame from those that wait for credit. */
static void zsw_unhold(struct zswitch_port *out, struct zsw_fifo *held, struct sk_buff *skb)
{
	__skb_unlink(skb, &held->frames);
	held->bytes -= zsw_cb(skb)->len;
	WRITE_ONCE(out->held, out->held - zsw_cb(skb)->len);
}

/**
 * zsw_let_in() - let a frame that waited for credit into its output
 * @out:	output
 * @held:	fifo that the frame waited in; call zsw_fifo_wake() for it afterwards
 * @skb:	frame
 */
void zsw_let_in(struct zswitch_port *out, struct zsw_fifo *held, struct sk_buff *skb)
{
	unsigned int prio = zsw_cb(skb)->prio;

	zsw_unhold(out, held, skb);
	zsw_admit(out, held->voq, skb);
	zsw_ready(out, prio);
}

/**
 * zsw_let_all_in() - frames need no credit any more: let in all that wait, without any
 * @out:	output
 * @held:	fifo that they wait in
 */
void zsw_let_all_in(struct zswitch_port *out, struct zsw_fifo *held)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(&held->frames))) {
		zsw_cb(skb)->credits = 0;
		zsw_let_in(out, held, skb);
	}
	zsw_fifo_wake(held);
}

/* An input has been granted the credit that it asked for: let in its first frame. */
static void zsw_granted(struct zswitch_port *out, struct zsw_voq *voq)
{
	struct sk_buff *skb = skb_peek(&voq->held.frames);
	struct zcr_msg grant = zcr_grant(&voq->src);
	u32 credits = zsw_cb(skb)->credits;

	zcr_hear(&voq->tx, &grant, ZSW_EPOCH);
	zsw_count(out, ZSWITCH_STAT_CREDIT_GRANTED, credits);
	if (WARN_ON_ONCE(!zcr_use(&voq->tx, credits)))
		return;
	zsw_count(out, ZSWITCH_STAT_CREDIT_USED, credits);
	zcr_arrive(&voq->src, credits);
	zsw_let_in(out, &voq->held, skb);
	if (!skb_queue_empty(&voq->held.frames))
		zsw_ask(out, voq);
	zsw_fifo_wake(&voq->held);
}

/**
 * zsw_grant() - grant free credit to asks that wait
 * @out:	output
 */
void zsw_grant(struct zswitch_port *out)
{
	struct zcr_source *src;

	if (list_empty(&out->rx.waiting))
		return;
	while ((src = zcr_next(&out->rx))) {
		if (src->remote)
			zsw_fabric_grant(out, src);
		else
			zsw_granted(out, container_of(src, struct zsw_voq, src));
	}
}

/*
 * Hold a frame until it has credit of this output, which it may get during this call.
 * Return: fifo that the frame waits in, as for zsw_place().
 */
static struct zsw_fifo *zsw_hold_here(struct zswitch_port *out, struct zsw_voq *voq,
				      struct sk_buff *skb)
{
	bool first = skb_queue_empty(&voq->held.frames);
	struct zsw_cb *cb = zsw_cb(skb);

	cb->credits = zcr_cost(cb->len);
	zsw_hold(out, &voq->held, skb);
	if (first) {
		zsw_ask(out, voq);
		zsw_grant(out);
		if (skb_queue_empty(&voq->held.frames))
			return &voq->fifo[cb->prio];
		zsw_count(out, ZSWITCH_STAT_CREDIT_WAITED, 1);
	}
	return &voq->held;
}

/**
 * zsw_promote() - a frame from a wire or tunnel has the room that its sender was granted
 * @in:		wire or tunnel
 * @cb:		control block of the frame
 *
 * The frame may wait for as long as those of this machine, and is not charged to its wire or
 * tunnel any more.
 */
void zsw_promote(struct zswitch_port *in, struct zsw_cb *cb)
{
	cb->class = ZSW_VIRTUAL;
	if (in->kind) {
		zsw_repay(in, &cb->debt);
		cb->debt.size = 0;
	}
	if (!cb->debt.charge)
		return;
	cee_ingress_uncharge(cb->debt.charge, cb->debt.prio, cb->debt.size);
	cb->debt.charge = NULL;
}

/*
 * Put a frame where it is to wait.  Copies of flooded frames need no credit, nor do frames from
 * wires, which bring their own.
 * Return: fifo that the frame waits in, or NULL without memory.
 */
static struct zsw_fifo *zsw_place(struct zswitch_port *out, struct zsw_voq *voq,
				  const struct zsw_frame *f)
{
	struct zsw_cb *cb = zsw_cb(f->skb);
	unsigned int prio = cb->prio;

	if (f->in->vnic && cb->class == ZSW_VIRTUAL) {
		if (out->rx.size)
			return zsw_hold_here(out, voq, f->skb);
		if (out->remote)
			return zsw_fabric_hold(out, voq, f);
	}
	zsw_admit(out, voq, f->skb);
	zsw_ready(out, prio);
	return &voq->fifo[prio];
}

/* Context: the output's lock.  Return: as zsw_refusal(). */
static enum zswitch_stat zsw_insert(struct zswitch_port *out, const struct zsw_frame *f)
{
	struct zsw_cb *cb = zsw_cb(f->skb);
	unsigned int input = f->bill ? f->bill->debt.prio : cb->debt.prio;
	enum zswitch_stat reason;
	struct zsw_fifo *fifo;
	struct zsw_voq *voq;
	bool covered, waits;

	covered = READ_ONCE(f->in->remote) && zsw_fabric_arrive(out, f);
	reason = zsw_refusal(out, cb);
	if (reason)
		return reason;
	voq = zsw_voq_get(out, f->in);
	if (!voq)
		return ZSWITCH_STAT_DROP_NOMEM;
	waits = f->txq >= 0 && cb->class != ZSW_LOSSY && !covered;
	fifo = zsw_place(out, voq, f);
	if (!fifo)
		return ZSWITCH_STAT_DROP_NOMEM;
	if (waits)
		zsw_sleep_if_full(fifo, f, input);
	return ZSWITCH_STAT_PAD;
}

/* Return: why the frame cannot be taken, or ZSWITCH_STAT_PAD. */
static enum zswitch_stat zsw_classify(struct zswitch_port *out, const struct zsw_frame *f)
{
	struct zsw_cb *cb = zsw_cb(f->skb);
	enum zswitch_stat reason;

	*cb = (struct zsw_cb) {
		.bill	= f->bill,
		.len	= f->skb->len,
		.prio	= cee_source_classify(out->kind ? NULL : out->dev,
					      f->in->kind ? NULL : f->in->dev, f->skb),
	};
	if (f->bill) {
		refcount_inc(&f->bill->ref);
		cb->class = f->bill->debt.class == ZSW_LOSSY ? ZSW_LOSSY : ZSW_FLOOD;
		return ZSWITCH_STAT_PAD;
	}
	cb->debt.size = zsw_size(f->in, f->skb);
	cb->debt.prio = cb->prio;
	reason = zsw_borrow(f->in, &cb->debt);
	cb->class = cb->debt.class;
	return reason;
}

static void zsw_push(struct zswitch_port *out, const struct zsw_frame *f)
{
	unsigned int len = f->skb->len;
	enum zswitch_stat reason = zsw_wire_push(out, f->skb);

	if (reason) {
		zsw_count(f->in, reason, 1);
		return;
	}
	zsw_count(f->in, ZSWITCH_STAT_PASSED, 1);
	zsw_count(out, ZSWITCH_STAT_OUT, 1);
	zsw_count(out, ZSWITCH_STAT_OUT_BYTES, len);
}

/**
 * zsw_enqueue() - enqueue a frame that is to leave by an output
 * @out:	output
 * @f:		frame, its data at the MAC header; it is consumed
 *
 * The sender is stopped if it must wait; a frame that cannot be taken is counted and
 * freed.
 *
 * Context: RCU, bottom halves are off.
 */
void zsw_enqueue(struct zswitch_port *out, const struct zsw_frame *f)
{
	struct zsw_cb *cb = zsw_cb(f->skb);
	enum zswitch_stat reason;

	if (!out->kind && !READ_ONCE(out->cee)) {
		zsw_push(out, f);
		return;
	}
	reason = zsw_classify(out, f);
	if (reason) {
		zsw_drop(f->in, f->skb, reason);
		return;
	}
	spin_lock(&out->lock);
	reason = zsw_insert(out, f);
	if (reason)
		zsw_give_back(out, cb);
	spin_unlock(&out->lock);
	if (!reason)
		return;
	zsw_release(f->in, cb);
	zsw_drop(f->in, f->skb, reason);
}

static int zsw_quantum(const struct zsw_fifo *fifo)
{
	return READ_ONCE(fifo->voq->in->weight) * ZSW_QUANTUM;
}

/* Go at once through all rounds in which no input would get out of its debt. */
static void zsw_skip_rounds(struct zswitch_port *out, unsigned int prio)
{
	struct zsw_fifo *fifo;
	int rounds = INT_MAX;

	list_for_each_entry(fifo, &out->active[prio], active)
		rounds = min(rounds, max(-fifo->deficit, 0) / zsw_quantum(fifo));
	/* The bound of 0 keeps them in debt even if a weight changes meanwhile. */
	list_for_each_entry(fifo, &out->active[prio], active)
		if (fifo->deficit < 0)
			fifo->deficit = min(fifo->deficit + rounds * zsw_quantum(fifo), 0);
}

/* Whose turn is it in a priority that has frames?  An input that is alone is forgiven its debt. */
static struct zsw_fifo *zsw_next_input(struct zswitch_port *out, unsigned int prio)
{
	struct list_head *active = &out->active[prio];
	struct zsw_fifo *fifo, *first = NULL;

	if (list_is_singular(active)) {
		fifo = list_first_entry(active, struct zsw_fifo, active);
		fifo->deficit = zsw_cb(skb_peek(&fifo->frames))->len;
		return fifo;
	}
	for (;;) {
		fifo = list_first_entry(active, struct zsw_fifo, active);
		if (fifo->deficit > 0)
			return fifo;
		if (fifo == first)
			zsw_skip_rounds(out, prio);
		else if (!first)
			first = fifo;
		fifo->deficit += zsw_quantum(fifo);
		list_move_tail(&fifo->active, active);
	}
}

/* Skip the same number of turns for all priorities; those without frames lose debt as well. */
static void zsw_skip_turns(struct zswitch_port *out, unsigned long prios)
{
	int rounds = INT_MAX;
	unsigned int i;

	for_each_set_bit(i, &prios, ZSWITCH_PRIOS)
		rounds = min(rounds, max(-out->credit[i], 0) / ZSW_QUANTUM);
	if (!rounds)
		return;
	for (i = 0; i < ZSWITCH_PRIOS; i++)
		if (out->credit[i] < 0)
			out->credit[i] = min(out->credit[i] + rounds * ZSW_QUANTUM, ZSW_QUANTUM);
}

/* The priority whose turn it is; @prios is not 0.  One that is alone is forgiven its debt. */
static unsigned int zsw_next_prio(struct zswitch_port *out, u8 prios)
{
	if (is_power_of_2(prios)) {
		out->turn = __ffs(prios);
		out->credit[out->turn] = max(out->credit[out->turn], 0);
		return out->turn;
	}
	if (!(prios & BIT(out->turn)) || out->credit[out->turn] <= 0)
		zsw_skip_turns(out, prios);
	while (!(prios & BIT(out->turn)) || out->credit[out->turn] <= 0) {
		out->turn = (out->turn + 1) % ZSWITCH_PRIOS;
		if (out->credit[out->turn] <= 0)
			out->credit[out->turn] += ZSW_QUANTUM;
	}
	return out->turn;
}

static struct sk_buff *zsw_take(struct zswitch_port *out, u8 prios)
{
	struct zsw_fifo *fifo;
	struct sk_buff *skb;
	unsigned int prio;

	prios &= out->ready;
	if (!prios)
		return NULL;
	prio = zsw_next_prio(out, prios);
	fifo = zsw_next_input(out, prio);
	skb = skb_peek(&fifo->frames);
	fifo->deficit -= zsw_cb(skb)->len;
	out->credit[prio] -= zsw_cb(skb)->len;
	out->passed[prio] += zsw_cb(skb)->len;
	/* Count under the lock: the input may be removed as soon as the lock is released. */
	zsw_count(fifo->voq->in, ZSWITCH_STAT_PASSED, 1);
	zsw_unlink(out, fifo, skb);
	zsw_grant(out);
	return skb;
}

/**
 * zswitch_pull() - take a frame that is to leave by a port
 * @port:	port
 * @prios:	priorities that may leave
 *
 * Context: RCU, bottom halves are off; the caller may hold locks that its kind's callbacks
 * do not take.
 * Return: frame, its data at the MAC header and its device not set, or NULL.  For a remote kind
 * skb->priority is the frame's priority, one of @prios.
 */
struct sk_buff *zswitch_pull(struct zswitch_port *port, u8 prios)
{
	struct sk_buff *skb;

	if (!((READ_ONCE(port->ready) | READ_ONCE(port->stalled)) & prios))
		return NULL;
	spin_lock(&port->lock);
	skb = zsw_take(port, prios);
	if (!skb)
		zsw_all_taken(port, prios);
	spin_unlock(&port->lock);
	if (!skb)
		return NULL;
	zsw_count(port, ZSWITCH_STAT_OUT, 1);
	zsw_count(port, ZSWITCH_STAT_OUT_BYTES, skb->len);
	if (port->kind && port->kind->remote)
		skb->priority = zsw_cb(skb)->prio;
	memset(skb->cb, 0, sizeof(skb->cb));
	return skb;
}
EXPORT_SYMBOL_GPL(zswitch_pull);

/**
 * zsw_backlog() - bytes that wait for a port in a priority
 * @port:	port
 * @prio:	priority
 *
 * Context: any.
 * Return: bytes.
 */
u32 zsw_backlog(const struct zswitch_port *port, unsigned int prio)
{
	return READ_ONCE(port->bytes[prio]);
}

/**
 * zsw_held() - bytes that wait for credit at a port
 * @port:	port
 *
 * Context: any.
 * Return: bytes.
 */
u32 zsw_held(const struct zswitch_port *port)
{
	return READ_ONCE(port->held);
}

/**
 * zsw_credit_out() - credits that a port has given and not got back
 * @port:	port
 *
 * Context: any.
 * Return: credits.
 */
u32 zsw_credit_out(const struct zswitch_port *port)
{
	return READ_ONCE(port->rx.out);
}

/* Drop the frames of a class from a fifo, or all of them if @class is negative. */
static void zsw_purge_fifo(struct zswitch_port *out, struct zsw_fifo *fifo, int class,
			   enum zswitch_stat reason, struct sk_buff_head *freed)
{
	struct sk_buff *skb, *next;

	skb_queue_walk_safe(&fifo->frames, skb, next) {
		if (class >= 0 && zsw_cb(skb)->class != class)
			continue;
		zsw_count(fifo->voq->in, reason, 1);
		zsw_unlink(out, fifo, skb);
		__skb_queue_tail(freed, skb);
	}
}

/**
 * zsw_discard() - drop a frame that waits for credit
 * @out:	output
 * @held:	fifo that the frame waits in; call zsw_fifo_wake() for it afterwards
 * @skb:	frame
 * @reason:	counter of the drop
 * @freed:	the frame is added to this list
 */
void zsw_discard(struct zswitch_port *out, struct zsw_fifo *held, struct sk_buff *skb,
		 enum zswitch_stat reason, struct sk_buff_head *freed)
{
	struct zswitch_port *in = held->voq->in;

	zsw_count(in, reason, 1);
	zsw_unhold(out, held, skb);
	zsw_release(in, zsw_cb(skb));
	__skb_queue_tail(freed, skb);
}

/*
 * The same for frames that wait for credit, of a priority or of all if @prio is negative.  The
 * input has asked for the first frame: if that one is dropped the ask is withdrawn, and the
 * input asks again for the first frame that is left.
 */
static void zsw_purge_held(struct zswitch_port *out, struct zsw_voq *voq, int prio, int class,
			   enum zswitch_stat reason, struct sk_buff_head *freed)
{
	struct sk_buff *skb, *next, *first = skb_peek(&voq->held.frames);
	bool withdrawn = false, dropped = false;

	skb_queue_walk_safe(&voq->held.frames, skb, next) {
		if ((class >= 0 && zsw_cb(skb)->class != class) ||
		    (prio >= 0 && zsw_cb(skb)->prio != prio))
			continue;
		if (skb == first) {
			zsw_count(out, ZSWITCH_STAT_CREDIT_WITHDRAWN,
				  zcr_withdraw(&voq->tx, &voq->src));
			withdrawn = true;
		}
		dropped = true;
		zsw_discard(out, &voq->held, skb, reason, freed);
	}
	if (dropped)
		zsw_fifo_wake(&voq->held);
	if (withdrawn && !skb_queue_empty(&voq->held.frames))
		zsw_ask(out, voq);
}

/* Drop the frames of a class in a priority, or all of them, from all inputs. */
static void zsw_purge(struct zswitch_port *out, unsigned int prio, int class,
		      enum zswitch_stat reason, struct sk_buff_head *freed)
{
	struct zsw_voq *voq;
	int i;

	hash_for_each(out->voqs, i, voq, node) {
		zsw_purge_fifo(out, &voq->fifo[prio], class, reason, freed);
		zsw_purge_held(out, voq, prio, class, reason, freed);
	}
}

/* Senders stopped for flooded frames must not wait as long as the output is stalled. */
static void zsw_wake_flooders(struct zswitch_port *out, unsigned int prio)
{
	struct zsw_voq *voq;
	u32 txqs;
	int i;

	hash_for_each(out->voqs, i, voq, node) {
		txqs = voq->fifo[prio].flooders;
		voq->fifo[prio].flooders = 0;
		zsw_wake(voq->in, txqs);
	}
}

static void zsw_give_up(struct zswitch_port *out, unsigned int prio, struct sk_buff_head *freed)
{
	enum zsw_class class;

	for (class = 0; class < ZSW_CLASSES; class++) {
		if (!zsw_still(out, prio, class))
			continue;
		zsw_purge(out, prio, class, zsw_still_reason(class), freed);
		if (class == ZSW_FLOOD)
			zsw_wake_flooders(out, prio);
	}
}

/**
 * zsw_expire() - check whether an output is stalled
 * @port:	output
 *
 * A wire is kicked again: when its qdisc was replaced, or the qdisc's length changed, the
 * former kick may have been lost before the qdisc pulled.
 *
 * Context: process, RCU.
 * Return: whether the output has frames.
 */
bool zsw_expire(struct zswitch_port *port)
{
	struct sk_buff_head freed;
	int i;

	if (!READ_ONCE(port->ready))
		return false;
	__skb_queue_head_init(&freed);
	spin_lock_bh(&port->lock);
	for (i = 0; i < ZSWITCH_PRIOS; i++)
		zsw_give_up(port, i, &freed);
	zsw_grant(port);
	if (!port->kind && port->ready)
		zsw_wire_kick(port);
	spin_unlock_bh(&port->lock);
	__skb_queue_purge(&freed);
	return true;
}

/**
 * zsw_output_set() - set whether a port can send
 * @port:	port
 * @up:		it can send; if false, frames that wait for it are dropped
 *
 * Context: RTNL.
 */
void zsw_output_set(struct zswitch_port *port, bool up)
{
	struct sk_buff_head freed;
	int i;

	__skb_queue_head_init(&freed);
	spin_lock_bh(&port->lock);
	port->up = up;
	zsw_all_taken(port, U8_MAX);
	for (i = 0; i < ZSWITCH_PRIOS && !up; i++)
		zsw_purge(port, i, -1, ZSWITCH_STAT_DROP_DOWN, &freed);
	if (!up)
		zsw_fabric_purge(port, &freed);
	spin_unlock_bh(&port->lock);
	__skb_queue_purge(&freed);
}

/* Let in without credit the frames that an input holds for this output, and withdraw its ask. */
static void zsw_ask_no_more(struct zswitch_port *out, struct zsw_voq *voq)
{
	if (skb_queue_empty(&voq->held.frames))
		return;
	zsw_count(out, ZSWITCH_STAT_CREDIT_WITHDRAWN, zcr_withdraw(&voq->tx, &voq->src));
	zsw_let_all_in(out, &voq->held);
}

/**
 * zsw_output_credit() - set how much credit a port can grant
 * @port:	port
 * @size:	credits; 0: frames need none
 *
 * Frames that wait for credit are let in if there is more than before, or none is needed.
 *
 * Context: RTNL.
 */
void zsw_output_credit(struct zswitch_port *port, u32 size)
{
	struct zsw_voq *voq;
	int i;

	spin_lock_bh(&port->lock);
	if (!port->rx.size)
		port->since = jiffies;
	port->rx.size = size;
	if (!size) {
		hash_for_each(port->voqs, i, voq, node)
			zsw_ask_no_more(port, voq);
		zsw_fabric_forget(port, NULL, NULL);
	}
	zsw_grant(port);
	spin_unlock_bh(&port->lock);
}

/* Context: the output's lock. */
static void zsw_voq_free(struct zswitch_port *out, struct zsw_voq *voq,
			 struct sk_buff_head *freed)
{
	int i;

	for (i = 0; i < ZSWITCH_PRIOS; i++) {
		zsw_purge_fifo(out, &voq->fifo[i], -1, ZSWITCH_STAT_DROP_DOWN, freed);
		zsw_wake(voq->in, voq->fifo[i].sleepers | voq->fifo[i].flooders);
	}
	zsw_purge_held(out, voq, -1, -1, ZSWITCH_STAT_DROP_DOWN, freed);
	zsw_wake(voq->in, voq->held.sleepers);
	zsw_fabric_forget(out, voq->in, freed);
	zcr_forget(&voq->src);
	hash_del(&voq->node);
	kfree(voq);
}

/**
 * zsw_forget_input() - drop the frames of an input that is being removed
 * @out:	output that may have frames of the input
 * @in:		input, which nobody sends by any more
 *
 * Context: RTNL.
 */
void zsw_forget_input(struct zswitch_port *out, struct zswitch_port *in)
{
	struct sk_buff_head freed;
	struct hlist_node *next;
	struct zsw_voq *voq;

	__skb_queue_head_init(&freed);
	spin_lock_bh(&out->lock);
	hash_for_each_possible_safe(out->voqs, voq, next, node, (unsigned long)in)
		if (voq->in == in)
			zsw_voq_free(out, voq, &freed);
	zsw_fabric_forget(out, in, &freed);
	zsw_grant(out);
	spin_unlock_bh(&out->lock);
	__skb_queue_purge(&freed);
}

/**
 * zsw_free_voqs() - free the queues of an output that is being removed
 * @out:	output, which nobody sends to or pulls from any more
 *
 * Context: RTNL.
 */
void zsw_free_voqs(struct zswitch_port *out)
{
	struct sk_buff_head freed;
	struct hlist_node *next;
	struct zsw_voq *voq;
	int i;

	__skb_queue_head_init(&freed);
	spin_lock_bh(&out->lock);
	hash_for_each_safe(out->voqs, i, next, voq, node)
		zsw_voq_free(out, voq, &freed);
	zsw_fabric_forget(out, NULL, &freed);
	spin_unlock_bh(&out->lock);
	__skb_queue_purge(&freed);
}

/**
 * zsw_output_init() - prepare the queues of a port
 * @port:	port, zeroed
 */
void zsw_output_init(struct zswitch_port *port)
{
	int i;

	spin_lock_init(&port->lock);
	hash_init(port->voqs);
	zcr_receiver_init(&port->rx);
	for (i = 0; i < ZSWITCH_PRIOS; i++)
		INIT_LIST_HEAD(&port->active[i]);
}
