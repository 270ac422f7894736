/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP: scores of paths, and measurements that are kept for a while (NDP paper, section 3.2.3).
 */
#ifndef _NDP_SCORE_H
#define _NDP_SCORE_H

#include <linux/jiffies.h>
#include "packet.h"

/* How long an outlier is left out: round trips, doublings, and bounds in time. */
#define NDP_OUT_RTTS		8
#define NDP_OUT_DOUBLINGS	10
#define NDP_OUT_MIN		(NDP_MSEC / 2)
#define NDP_OUT_MAX		(1000 * NDP_MSEC)
/* Probing a path that loses packets costs only a retransmission: it is tried again sooner. */
#define NDP_OUT_LOST_MAX	(8 * NDP_MSEC)

/*
 * For answers half of that.  A probed path of answers also waits at least as long for a report of
 * a loss: the peer may detect the loss, and the next one too, only by a timeout.
 */
#define NDP_OUT_ANSWERS_MAX	(NDP_OUT_LOST_MAX / 2)

/* How a path is treated. */
enum ndp_path_state {
	NDP_PATH_USED,
	NDP_PATH_OUT,		/* left out of the permutation */
	NDP_PATH_PROBED,	/* one packet was sent along it, to see whether it is back */
};

/**
 * enum ndp_path_news - the change of a path that a tracepoint reports
 * @NDP_PATH_IS_OUT:	the path is left out
 * @NDP_PATH_IS_PROBED:	a packet is sent along the path to see whether it is back
 * @NDP_PATH_IS_BACK:	the path is back in use
 * @NDP_PATH_IS_FRESH:	the path has got another entropy, and nothing is known of it yet
 */
enum ndp_path_news {
	NDP_PATH_IS_OUT,
	NDP_PATH_IS_PROBED,
	NDP_PATH_IS_BACK,
	NDP_PATH_IS_FRESH,
};

/**
 * struct ndp_score - recent outcomes of the packets sent along a path (section 3.2.3)
 * @good:	packets that arrived
 * @trimmed:	packets that arrived trimmed, or whose header was returned
 * @lost:	packets that did not arrive; all three counts are below 2^15
 * @silent:	the path was left out because of losses, not because of trimming
 * @level:	doublings of the time for which the path is left out next
 * @state:	enum ndp_path_state; read without the lock
 * @out_ns:	for how long the path was left out last
 * @until:	the path is not used until then, ktime_get_ns(), unless @state is NDP_PATH_USED
 */
struct ndp_score {
	u16			good;
	u16			trimmed;
	u16			lost : 15,
				silent : 1;
	u8			level;
	u8			state;
	u64			out_ns;
	u64			until;
};

/**
 * struct ndp_tally - sums over the scores of all paths
 * @good:	packets that arrived
 * @trimmed:	packets that arrived trimmed, or whose header was returned
 * @lost:	packets that did not arrive
 */
struct ndp_tally {
	u32			good;
	u32			trimmed;
	u32			lost;
};

/* Clear a path's counts, and subtract them from the tally.  Context: peer->lock held. */
static inline void ndp_score_clear(struct ndp_tally *sum, struct ndp_score *s)
{
	sum->good -= s->good;
	sum->trimmed -= s->trimmed;
	sum->lost -= s->lost;
	s->good = 0;
	s->trimmed = 0;
	s->lost = 0;
}

/**
 * struct ndp_kept - a duration that was found to be needed, and is kept for a second
 * @ns:		the duration
 * @until:	its expiry: jiffies, the low 32 bits
 *
 * Hosts that are busy, or run under a hypervisor, stall now and then, but less often than an
 * average over packets remembers.
 */
struct ndp_kept {
	u32	ns;
	u32	until;
};

/* These three take no lock: of two durations found at the same time one may be lost. */
static inline u32 ndp_kept(struct ndp_kept *k)
{
	u32 ns = READ_ONCE(k->ns);

	if (!ns || time_before32((u32)jiffies, READ_ONCE(k->until)))
		return ns;
	/* Clear an expired value, or it would be valid again when jiffies wrap. */
	WRITE_ONCE(k->ns, 0);
	return 0;
}

static inline void ndp_keep(struct ndp_kept *k, u32 ns)
{
	if (ns < ndp_kept(k))
		return;
	WRITE_ONCE(k->until, (u32)jiffies + HZ);
	WRITE_ONCE(k->ns, ns);
}

/* Reduce the kept duration by the fraction 1/2^@part. */
static inline void ndp_kept_fade(struct ndp_kept *k, int part)
{
	u32 ns = READ_ONCE(k->ns);

	if (ns)
		WRITE_ONCE(k->ns, ns - (ns >> part));
}

#endif /* _NDP_SCORE_H */
