/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zswitch: the credit protocol of zFabric (Documentation/zfabric.md); credit.c has the
 * overview.
 */
#ifndef _NET_ZSWITCH_CREDIT_H
#define _NET_ZSWITCH_CREDIT_H

#include <linux/list.h>
#include <linux/types.h>

/* A credit is room for a frame of this many bytes; a longer frame takes more credits. */
#define ZCR_BYTES	2048

/* Credits that the longest frame takes, and that may be asked for beyond those granted */
#define ZCR_ASK_MAX	64

/*
 * ZCR_AHEAD: credits that a source may hold without having asked for them.  ZCR_AHEAD_MAX: credits
 * that may be granted beyond the source's last ask, which also bounds what a forged grant is worth.
 */
#define ZCR_AHEAD	32
#define ZCR_AHEAD_MAX	(2 * ZCR_AHEAD)

/**
 * enum zcr_type - kinds of messages
 * @ZCR_ASK:	from a sender, for credit
 * @ZCR_HELLO:	to a sender that the receiver does not know
 * @ZCR_GRANT:	to a sender, with credit
 */
enum zcr_type {
	ZCR_ASK,
	ZCR_HELLO,
	ZCR_GRANT,
};

/**
 * struct zcr_msg - a message; counters are modulo 2^32
 * @type:	kind of message
 * @epoch:	epoch of the sender
 * @peer:	epoch of the receiver; 0: not known yet
 * @count:	credits asked for, or granted, since the pair began
 * @past:	in an ask, credits settled; in a grant, credits arrived
 * @single:	in an ask: each frame that waits takes one credit
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
 * struct zcr_sender - a sender to a vNIC; counters are modulo 2^32
 * @epoch:	the sender's own epoch, never 0
 * @peer:	the receiver's epoch; 0: not known yet
 * @wanted:	credits of all its frames, of those that were sent and those that wait
 * @asked:	credits that it has asked for, or got unasked
 * @told:	@asked in its last ask
 * @granted:	credits of @asked that it was granted
 * @used:	credits of @granted that it has sent frames with, or given back
 * @last:	credits of @used whose frames had left this host at the last zcr_tick()
 * @settled:	@last at the tick before: these frames have arrived or are lost
 * @acked:	credits whose frames have arrived, or that are given up
 * @large:	@wanted when a frame of more than one credit was last asked for
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
 * @size:	credits in all; 0: frames need no credit
 * @out:	credits granted whose frames have not arrived, and those of frames in the queue
 * @quiet:	nothing is granted until grants of the previous incarnation have lapsed
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
 * struct zcr_source - what a receiver knows of a sender; counters are modulo 2^32
 * @waiting:	in the receiver's list
 * @rx:		receiver
 * @remote:	grants are sent to it as messages; used by the caller only
 * @weight:	share among sources that ask
 * @deficit:	credits that it may still get in its turn
 * @epoch:	the sender's epoch; 0: not known
 * @peer:	the receiver's epoch for this pair
 * @nonce:	the receiver's epoch for the next pair
 * @single:	its ask can be granted in parts
 * @asked:	credits that the sender has asked for, or got unasked
 * @told:	count in the sender's last ask
 * @granted:	credits of @asked that it was granted
 * @arrived:	credits of @granted whose frames have arrived, or that are given up
 * @run:	frames that have arrived since it last gave credit back; at most 2 * ZCR_AHEAD
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
 * enum zcr_verdict - what an ask turned out to be
 * @ZCR_STALE:	from a former pair, or for a pair that cannot begin yet; nothing changes
 * @ZCR_STRANGE: from a sender that is not known; it is to be answered by a HELLO
 * @ZCR_OURS:	from the sender of the pair
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
