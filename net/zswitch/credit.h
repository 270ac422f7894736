/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zswitch: the credit protocol of zFabric (Documentation/zfabric.md); credit.c has the
 * overview.
 */
#ifndef _NET_ZSWITCH_CREDIT_H
#define _NET_ZSWITCH_CREDIT_H

#include <linux/list.h>
#include <linux/types.h>

/* A credit is room for a frame of so many bytes; a longer frame takes more of them. */
#define ZCR_BYTES	2048

/* Credits of the longest frame, and what may be asked for beyond what was granted */
#define ZCR_ASK_MAX	64

/*
 * Credits that a source may hold which it has not asked for; and how many may be granted beyond
 * the last ask that was heard of it, so that a forged grant is worth no more than that.
 */
#define ZCR_AHEAD	32
#define ZCR_AHEAD_MAX	(2 * ZCR_AHEAD)

/**
 * enum zcr_type - kinds of messages
 * @ZCR_ASK:	by a sender
 * @ZCR_HELLO:	to a sender that the receiver does not know
 * @ZCR_GRANT:	to a sender
 */
enum zcr_type {
	ZCR_ASK,
	ZCR_HELLO,
	ZCR_GRANT,
};

/**
 * struct zcr_msg - a message; counters are modulo 2^32
 * @type:	kind
 * @epoch:	the sender's
 * @peer:	the receiver's; 0: not known yet
 * @count:	credits asked for, or granted, since the pair began
 * @past:	of an ask, those settled; of a grant, those that have arrived
 * @single:	of an ask: each frame that waits takes one credit
 */
struct zcr_msg {
	enum zcr_type	type;
	u32		epoch;
	u32		peer;
	u32		count;
	u32		past;
	bool		single;
};

/**
 * struct zcr_sender - who sends to a vNIC
 * @epoch:	its own, never 0
 * @peer:	the receiver's; 0: not known yet
 * @wanted:	credits of its frames, of those that were sent and those that wait
 * @asked:	credits that it has asked for, or got unasked
 * @told:	@asked in its last ask
 * @granted:	of @asked, those that it got
 * @used:	of these, those that it has sent frames by, or given back
 * @last:	of @used, those on their way by the last zcr_tick()
 * @settled:	by the one before: these frames have arrived or are lost
 * @acked:	credits whose frames have arrived, or that are given up
 * @large:	@wanted when a frame of more than one was asked for last
 */
struct zcr_sender {
	u32	epoch;
	u32	peer;
	u32	wanted;
	u32	asked;
	u32	told;
	u32	granted;
	u32	used;
	u32	last;
	u32	settled;
	u32	acked;
	u32	large;
};

/**
 * struct zcr_receiver - the credit of a vNIC
 * @size:	how much there is; 0: all may send without
 * @out:	of it, what is granted and has not come, and what waits for the vNIC
 * @quiet:	nothing is granted until what was granted in a former life has lapsed
 * @waiting:	sources whose asks wait
 * @turn:	source whose turn it is
 */
struct zcr_receiver {
	u32			size;
	u32			out;
	bool			quiet;
	struct list_head	waiting;
	struct zcr_source	*turn;
};

/**
 * struct zcr_source - what a receiver knows of a sender
 * @waiting:	in the receiver's list
 * @rx:		receiver
 * @remote:	it is told of grants by messages; the caller's
 * @weight:	share among sources that ask
 * @deficit:	credits that it may still get in its turn
 * @epoch:	the sender's; 0: not known
 * @peer:	the receiver's for this pair
 * @nonce:	the receiver's for the next pair
 * @single:	what it asks for can be granted in parts
 * @asked:	credits that the sender has asked for, or got unasked
 * @told:	what it has said that it has asked for
 * @granted:	of @asked, those that it got
 * @arrived:	of these, those whose frames have come, or that are given up
 * @run:	frames that have come since it gave back any; 2 * ZCR_AHEAD at most
 */
struct zcr_source {
	struct list_head	waiting;
	struct zcr_receiver	*rx;
	bool			remote;
	u8			weight;
	u32			deficit;
	u32			epoch;
	u32			peer;
	u32			nonce;
	bool			single;
	u32			asked;
	u32			told;
	u32			granted;
	u32			arrived;
	u8			run;
};

/**
 * enum zcr_verdict - what an ask was
 * @ZCR_STALE:	of a pair that is no more, or cannot begin yet; nothing changes
 * @ZCR_STRANGE: of a sender that is not known; it is to be answered by a HELLO
 * @ZCR_OURS:	of the pair
 */
enum zcr_verdict {
	ZCR_STALE,
	ZCR_STRANGE,
	ZCR_OURS,
};

u32 zcr_cost(unsigned int len);

void zcr_sender_begin(struct zcr_sender *tx, u32 epoch);
bool zcr_want(struct zcr_sender *tx, u32 credits);
struct zcr_msg zcr_ask(struct zcr_sender *tx);
bool zcr_hear(struct zcr_sender *tx, const struct zcr_msg *msg, u32 fresh);
bool zcr_use(struct zcr_sender *tx, u32 credits);
u32 zcr_void(struct zcr_sender *tx);
void zcr_tick(struct zcr_sender *tx, u32 inside);
bool zcr_repeat(const struct zcr_sender *tx);

void zcr_receiver_init(struct zcr_receiver *rx);
void zcr_source_init(struct zcr_source *src, struct zcr_receiver *rx, u32 nonce);
enum zcr_verdict zcr_asked(struct zcr_source *src, const struct zcr_msg *msg, u32 fresh,
			   u32 *lost);
struct zcr_msg zcr_answer(const struct zcr_source *src, const struct zcr_msg *ask,
			  enum zcr_verdict verdict);
struct zcr_source *zcr_next(struct zcr_receiver *rx);
struct zcr_msg zcr_grant(const struct zcr_source *src);
u32 zcr_arrive(struct zcr_source *src, u32 credits);
bool zcr_more(struct zcr_source *src);
void zcr_take(struct zcr_receiver *rx, u32 credits);
void zcr_leave(struct zcr_receiver *rx, u32 credits);
u32 zcr_forget(struct zcr_source *src);

void zcr_pair(struct zcr_sender *tx, struct zcr_source *src, u32 epoch);
u32 zcr_withdraw(struct zcr_sender *tx, struct zcr_source *src);

#endif /* _NET_ZSWITCH_CREDIT_H */
