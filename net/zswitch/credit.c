// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: credit of vNICs.
 *
 * D. Crisan, "Optimized networking for virtual machines ...", ETH Zurich 2014, Algorithms 5.1
 * and 5.2 (section 5.3.3): a frame is sent when the receiving vNIC has granted room for it.
 *
 *	sender	 zcr_want() -> zcr_ask() ------------> zcr_asked()  receiver
 *					zcr_next() -> zcr_grant()
 *		 zcr_use() <- zcr_hear() <------------'
 *		     '-------- frame ----------------> zcr_arrive() ... zcr_leave()
 *
 * Documentation/zfabric.md explains why counters are absolute and what epochs are for;
 * Documentation/models/credit.pml is a model of this protocol, checked by spin.
 *
 * An ask is for whole frames, and is granted whole or not at all; it is granted in parts only
 * where each frame takes one credit, as most do on wires.  So all credit that was granted can be
 * used, and is returned; and since no ask is for more than ZCR_ASK_MAX, which each receiver has,
 * each ask is granted in time.
 *
 * A stream needs few asks: while more than half of all credit is free, and no ask waits, a
 * source whose frames arrive is granted up to ZCR_AHEAD more than it has asked for.  A sender
 * gives back credit that it has no use for (zcr_void()).
 *
 * Sources that ask take turns by credits (deficit round robin, Shreedhar and Varghese,
 * SIGCOMM 1995), as the thesis' waiting lists do by frames.
 *
 * Non-goals: frames, timers, memory and wires are left to the caller.
 *
 * Context: any; the caller serialises calls about a sender, and calls about a receiver.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include "credit.h"

/* Credits that a source of weight 1 gets in a turn */
#define ZCR_QUANTUM	16

/* A part is at least 1/ZCR_PARTS of all credit, lest each frame that leaves cause a message. */
#define ZCR_PARTS	8

/**
 * zcr_cost() - credits that a frame takes
 * @len:	bytes of the frame
 *
 * Return: credits.
 */
u32 zcr_cost(unsigned int len)
{
	return clamp_t(u32, DIV_ROUND_UP(len, ZCR_BYTES), 1, ZCR_ASK_MAX);
}

/**
 * zcr_sender_begin() - start a sender, or restart it
 * @tx:		sender; its former state is void
 * @epoch:	random, not 0
 */
void zcr_sender_begin(struct zcr_sender *tx, u32 epoch)
{
	*tx = (struct zcr_sender) { .epoch = epoch };
}

/**
 * zcr_want() - add a frame to what a sender asks for
 * @tx:		sender
 * @credits:	credits that the frame takes
 *
 * Return: false if so much is asked for already that the frame must wait.
 */
bool zcr_want(struct zcr_sender *tx, u32 credits)
{
	if ((s32)(tx->wanted + credits - tx->granted) > ZCR_ASK_MAX)
		return false;
	tx->wanted += credits;
	if ((s32)(tx->wanted - tx->asked) > 0)
		tx->asked = tx->wanted;
	if (credits > 1)
		tx->large = tx->wanted;
	return true;
}

/**
 * zcr_ask() - make a sender's ask
 * @tx:		sender
 *
 * Return: message.
 */
struct zcr_msg zcr_ask(struct zcr_sender *tx)
{
	tx->told = tx->asked;
	return (struct zcr_msg) {
		.type = ZCR_ASK, .epoch = tx->epoch, .peer = tx->peer, .count = tx->asked,
		.past = tx->settled, .single = (s32)(tx->granted - tx->large) >= 0,
	};
}

/* Does a counter move forward from @from to @to, and not beyond @end? */
static bool zcr_forward(u32 from, u32 to, u32 end)
{
	return to - from <= end - from;
}

static bool zcr_hear_hello(struct zcr_sender *tx, const struct zcr_msg *msg, u32 fresh)
{
	if (msg->epoch != tx->epoch || msg->peer == tx->peer)
		return false;
	/* The receiver does not know us any more: all earlier counts are void. */
	if (tx->peer)
		zcr_sender_begin(tx, fresh);
	tx->peer = msg->peer;
	return true;
}

/**
 * zcr_hear() - a sender receives a HELLO or a GRANT
 * @tx:		sender
 * @msg:	message, maybe old, duplicated or forged
 * @fresh:	random, not 0: the sender's epoch, if it must restart
 *
 * Return: whether the message has news for the sender.
 */
bool zcr_hear(struct zcr_sender *tx, const struct zcr_msg *msg, u32 fresh)
{
	bool news = false;

	if (msg->type == ZCR_HELLO)
		return zcr_hear_hello(tx, msg, fresh);
	if (msg->type != ZCR_GRANT || msg->epoch != tx->epoch || msg->peer != tx->peer)
		return false;
	if (zcr_forward(tx->granted, msg->count, tx->told + ZCR_AHEAD_MAX)) {
		news = msg->count != tx->granted;
		tx->granted = msg->count;
		if ((s32)(tx->granted - tx->asked) > 0)
			tx->asked = tx->granted;
	}
	/* A frame from a spoofed address may have taken credit that was not used yet. */
	if (zcr_forward(tx->acked, msg->past, tx->granted))
		tx->acked += min(msg->past - tx->acked, tx->used - tx->acked);
	return news;
}

/**
 * zcr_use() - use credit for a frame that is to be sent
 * @tx:		sender
 * @credits:	credits that the frame takes
 *
 * Return: false if the sender does not have that many.
 */
bool zcr_use(struct zcr_sender *tx, u32 credits)
{
	if (tx->granted - tx->used < credits)
		return false;
	tx->used += credits;
	return true;
}

/**
 * zcr_void() - no frame waits: give back credit that was granted and not used
 * @tx:		sender
 *
 * The next ask reports it to the receiver if the receiver has confirmed that all frames
 * arrived; otherwise it is reported once all frames sent so far have arrived or are lost.
 *
 * Return: credits given back.
 */
u32 zcr_void(struct zcr_sender *tx)
{
	u32 credits = tx->granted - tx->used;

	if (tx->acked == tx->used) {
		tx->last = tx->granted;
		tx->settled = tx->granted;
	}
	tx->used = tx->granted;
	tx->wanted = tx->granted;
	return credits;
}

/**
 * zcr_tick() - the maximum transit time of a frame has passed since the last call
 * @tx:		sender
 * @inside:	credits of @tx->used whose frames have not left this host yet; may include some
 *		of a former epoch
 */
void zcr_tick(struct zcr_sender *tx, u32 inside)
{
	tx->settled = tx->last;
	tx->last = tx->used - min(inside, tx->used - tx->settled);
}

/**
 * zcr_repeat() - must a sender repeat its ask?
 * @tx:		sender
 *
 * Return: true if the receiver may not know the sender's counters, or may forget the sender.
 */
bool zcr_repeat(const struct zcr_sender *tx)
{
	/* A sender that holds credit must not be taken for one that has vanished. */
	return tx->asked != tx->used || tx->acked != tx->used;
}

/**
 * zcr_receiver_init() - prepare a vNIC without sources
 * @rx:		receiver; its size becomes 0
 */
void zcr_receiver_init(struct zcr_receiver *rx)
{
	*rx = (struct zcr_receiver) {};
	INIT_LIST_HEAD(&rx->waiting);
}

/**
 * zcr_source_init() - prepare a source for a sender to come
 * @src:	source
 * @rx:		receiver
 * @nonce:	random, not 0
 */
void zcr_source_init(struct zcr_source *src, struct zcr_receiver *rx, u32 nonce)
{
	*src = (struct zcr_source) { .rx = rx, .weight = 1, .nonce = nonce };
	INIT_LIST_HEAD(&src->waiting);
}

/* Put a source on the waiting list, or take it off.  The one whose turn it is keeps its turn. */
static void zcr_wait(struct zcr_source *src)
{
	if (src->asked == src->granted)
		list_del_init(&src->waiting);
	else if (!list_empty(&src->waiting))
		return;
	else if (src->rx->turn == src)
		list_add(&src->waiting, &src->rx->waiting);
	else
		list_add_tail(&src->waiting, &src->rx->waiting);
}

/* Take back settled credit whose frames have not arrived: they are lost.  Return: how much. */
static u32 zcr_settle(struct zcr_source *src, u32 settled)
{
	u32 lost = settled - src->arrived;

	if (!zcr_forward(src->arrived, settled, src->granted))
		return 0;
	src->arrived = settled;
	src->rx->out -= lost;
	if (lost)
		src->run = 0;
	return lost;
}

static enum zcr_verdict zcr_asked_anew(struct zcr_source *src, const struct zcr_msg *msg,
				       u32 fresh)
{
	if (msg->peer != src->nonce)
		return ZCR_STRANGE;
	/* Credit granted to the sender's previous incarnation must have been used, or lapsed. */
	if (src->granted != src->arrived || msg->count > ZCR_ASK_MAX)
		return ZCR_STALE;
	src->epoch = msg->epoch;
	src->peer = msg->peer;
	src->nonce = fresh;
	src->single = msg->single;
	src->asked = msg->count;
	src->told = msg->count;
	src->granted = 0;
	src->arrived = 0;
	src->run = 0;
	zcr_wait(src);
	return ZCR_OURS;
}

/**
 * zcr_asked() - a receiver receives an ask
 * @src:	sender that the ask is from
 * @msg:	message, maybe old, duplicated or forged
 * @fresh:	random, not 0: the receiver's epoch for the pair after this one
 * @lost:	credits of frames that are lost are added to this
 *
 * Call zcr_next() afterwards.
 *
 * Return: what the ask turned out to be.
 */
enum zcr_verdict zcr_asked(struct zcr_source *src, const struct zcr_msg *msg, u32 fresh,
			   u32 *lost)
{
	if (msg->type != ZCR_ASK || !msg->epoch)
		return ZCR_STALE;
	if (msg->epoch != src->epoch)
		return zcr_asked_anew(src, msg, fresh);
	if (msg->peer != src->peer)
		return ZCR_STALE;
	/*
	 * A forged grant has reached the sender, which now counts more than we have granted.
	 * The two counters would never agree again, so the pair is restarted.
	 */
	if ((s32)(msg->count - src->granted) > ZCR_ASK_MAX)
		return ZCR_STRANGE;
	*lost += zcr_settle(src, msg->past);
	if (zcr_forward(src->told, msg->count, src->granted + ZCR_ASK_MAX))
		src->told = msg->count;
	if (zcr_forward(src->asked, msg->count, src->granted + ZCR_ASK_MAX)) {
		src->single = msg->single;
		src->asked = msg->count;
	}
	zcr_wait(src);
	return ZCR_OURS;
}

/**
 * zcr_grant() - make a receiver's grant to a source
 * @src:	source
 *
 * Return: message.
 */
struct zcr_msg zcr_grant(const struct zcr_source *src)
{
	return (struct zcr_msg) {
		.type = ZCR_GRANT, .epoch = src->epoch, .peer = src->peer,
		.count = src->granted, .past = src->arrived,
	};
}

/**
 * zcr_answer() - make a receiver's answer to an ask
 * @src:	source
 * @ask:	message
 * @verdict:	result of zcr_asked(), but not ZCR_STALE
 *
 * Return: message.
 */
struct zcr_msg zcr_answer(const struct zcr_source *src, const struct zcr_msg *ask,
			  enum zcr_verdict verdict)
{
	if (verdict == ZCR_OURS)
		return zcr_grant(src);
	return (struct zcr_msg) {
		.type = ZCR_HELLO, .epoch = ask->epoch, .peer = src->nonce,
	};
}

/* A source's turn begins.  One that stopped asking during its turn loses the rest of it. */
static void zcr_begin_turn(struct zcr_receiver *rx, struct zcr_source *src)
{
	if (rx->turn)
		rx->turn->deficit = 0;
	rx->turn = src;
	src->deficit += src->weight * ZCR_QUANTUM;
}

/* Credits that a source can be granted now, or 0. */
static u32 zcr_part(const struct zcr_receiver *rx, const struct zcr_source *src)
{
	u32 need = src->asked - src->granted;
	u32 room = rx->size - min(rx->out, rx->size);

	if (need <= room)
		return need;
	return src->single && room >= rx->size / ZCR_PARTS ? room : 0;
}

/**
 * zcr_next() - grant an ask that waits
 * @rx:		receiver
 *
 * Call it whenever credit has been returned or an ask has arrived, until it returns NULL.
 *
 * Return: source that is to be sent a zcr_grant(), or NULL if no ask waits, or credit is short.
 */
struct zcr_source *zcr_next(struct zcr_receiver *rx)
{
	struct zcr_source *src;
	u32 need;

	while ((src = list_first_entry_or_null(&rx->waiting, struct zcr_source, waiting))) {
		need = zcr_part(rx, src);
		if (rx->quiet || !need)
			return NULL;
		if (rx->turn != src)
			zcr_begin_turn(rx, src);
		if (src->deficit >= need) {
			src->deficit -= need;
			src->granted += need;
			rx->out += need;
			if (src->granted == src->asked)
				list_del_init(&src->waiting);
			return src;
		}
		rx->turn = NULL;
		list_move_tail(&src->waiting, &rx->waiting);
	}
	return NULL;
}

/**
 * zcr_arrive() - a frame has arrived, and waits for the vNIC
 * @src:	sender of the frame
 * @credits:	credits that the frame takes
 *
 * A frame that came without credit takes room as well.
 *
 * Return: the part of @credits that the sender had been granted.
 */
u32 zcr_arrive(struct zcr_source *src, u32 credits)
{
	u32 covered = min(credits, src->granted - src->arrived);

	src->arrived += covered;
	zcr_take(src->rx, credits - covered);
	return covered;
}

/**
 * zcr_more() - a frame has arrived: grant its sender more than it asked for, if there is plenty
 * @src:	sender
 *
 * Return: whether the sender is to be sent a zcr_grant().
 */
bool zcr_more(struct zcr_source *src)
{
	u32 left = src->granted - src->arrived, ahead = src->run / 2;
	struct zcr_receiver *rx = src->rx;
	s32 more;

	if (src->run < 2 * ZCR_AHEAD)
		src->run++;
	if (src->asked != src->granted || left > ahead / 2 || rx->quiet ||
	    !list_empty(&rx->waiting) || rx->out >= rx->size / 2)
		return false;
	more = min3((s32)(ahead - left), (s32)(rx->size / 2 - rx->out),
		    (s32)(src->told + ZCR_AHEAD_MAX - src->granted));
	if (more <= 0)
		return false;
	rx->out += more;
	src->granted += more;
	src->asked = src->granted;
	return true;
}

/**
 * zcr_take() - a frame has arrived without credit, and waits for the vNIC
 * @rx:		receiver
 * @credits:	credits that the frame takes
 */
void zcr_take(struct zcr_receiver *rx, u32 credits)
{
	rx->out += credits;
}

/**
 * zcr_leave() - a frame has left the vNIC's queue
 * @rx:		receiver
 * @credits:	credits that the frame took
 */
void zcr_leave(struct zcr_receiver *rx, u32 credits)
{
	rx->out -= credits;
}

/**
 * zcr_forget() - a sender has vanished, or was silent until its credit lapsed
 * @src:	source; its ask no longer waits
 *
 * Return: credits that it held.
 */
u32 zcr_forget(struct zcr_source *src)
{
	u32 held = src->granted - src->arrived;

	src->rx->out -= held;
	src->asked = 0;
	src->told = 0;
	src->granted = 0;
	src->arrived = 0;
	src->run = 0;
	src->epoch = 0;
	src->deficit = 0;
	list_del_init(&src->waiting);
	if (src->rx->turn == src)
		src->rx->turn = NULL;
	return held;
}

/**
 * zcr_pair() - start a pair whose sender and source are in one switch
 * @tx:		sender
 * @src:	what the receiver knows of it
 * @epoch:	epoch of both ends, not 0
 */
void zcr_pair(struct zcr_sender *tx, struct zcr_source *src, u32 epoch)
{
	zcr_sender_begin(tx, epoch);
	tx->peer = epoch;
	src->epoch = epoch;
	src->peer = epoch;
}

/**
 * zcr_withdraw() - withdraw the ask of a pair whose sender and source are in one switch
 * @tx:		sender
 * @src:	what the receiver knows of it
 *
 * Return: credits that were asked for and not granted.
 */
u32 zcr_withdraw(struct zcr_sender *tx, struct zcr_source *src)
{
	u32 asked = tx->asked - tx->granted;

	tx->asked = tx->granted;
	tx->wanted = tx->granted;
	src->asked = src->granted;
	zcr_wait(src);
	return asked;
}
