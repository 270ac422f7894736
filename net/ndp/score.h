/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, what is known of a path, and findings that are kept (NDP paper, section 3.2.3).
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
/* One that loses costs a probe a packet sent again and no more: it is tried again sooner. */
#define NDP_OUT_LOST_MAX	(8 * NDP_MSEC)

/*
 * Of answers half of that, and as long it takes at least until nobody can complain any more: the
 * peer may have found out by a timeout, and the next one too.
 */
#define NDP_OUT_ANSWERS_MAX	(NDP_OUT_LOST_MAX / 2)

/* How a path is treated. */
enum ndp_path_state {
	NDP_PATH_USED,
	NDP_PATH_OUT,		/* left out of the permutation */
	NDP_PATH_PROBED,	/* one packet went along it, to see */
};

/**
 * enum ndp_path_news - what a tracepoint tells of a path
 * @NDP_PATH_IS_OUT:	it is left out
 * @NDP_PATH_IS_PROBED:	a packet goes along it to see whether it is back
 * @NDP_PATH_IS_BACK:	it is
 * @NDP_PATH_IS_FRESH:	it has got another entropy, and nothing is known of it yet
 */
enum ndp_path_news {
	NDP_PATH_IS_OUT,
	NDP_PATH_IS_PROBED,
	NDP_PATH_IS_BACK,
	NDP_PATH_IS_FRESH,
};

/**
 * struct ndp_score - what became lately of what went along a path (section 3.2.3)
 * @good:	arrived
 * @trimmed:	arrived trimmed, or came back
 * @lost:	did not arrive; all these are below 2^15
 * @silent:	it was left out for that, and not for what was trimmed
 * @level:	doublings of the time for which it is left out next
 * @state:	enum ndp_path_state; read without the lock
 * @out_ns:	for how long it was left out last
 * @until:	not used until then, ktime_get_ns(), unless @state is used
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
 * @good:	arrived
 * @trimmed:	arrived trimmed, or came back
 * @lost:	did not arrive
 */
struct ndp_tally {
	u32			good;
	u32			trimmed;
	u32			lost;
};

/* What a path's score has counted is in the tally no more.  Context: peer->lock held. */
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
 * struct ndp_kept - a time that was found to be needed, and is kept for a second after that
 * @ns:		it
 * @until:	jiffies, the low bits
 *
 * Hosts that are busy, or whose processors are a hypervisor's, stand still now and then: more
 * seldom than an average over packets remembers.
 */
struct ndp_kept {
	u32	ns;
	u32	until;
};

/* Processors that meet in these three lose one of two findings. */
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

/* Take a part of it away, a shift. */
static inline void ndp_kept_fade(struct ndp_kept *k, int part)
{
	u32 ns = READ_ONCE(k->ns);

	if (ns)
		WRITE_ONCE(k->ns, ns - (ns >> part));
}

#endif /* _NDP_SCORE_H */
