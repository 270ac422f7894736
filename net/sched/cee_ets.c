// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: which priority sends next (Enhanced Transmission Selection, IEEE 802.1Qaz).
 *
 * Strict priorities are served first, from the highest down; the rest of the link is shared
 * by weight, by deficit round robin (Shreedhar and Varghese, SIGCOMM 1995).  A quantum is
 * at least one largest frame (cee_config_derive()), so that a packet can be sent in every
 * round.  A frame is sent first and paid for afterwards: a priority that overdraws its
 * deficit has that much less in the next round, so shares are exact in the long run
 * whatever the sizes.
 *
 * A priority that may not send, because it has no packets or is paused, keeps a negative
 * deficit and accumulates no positive one: its share goes to the others at once.
 *
 * Not here: groups of priorities that share one weight, and shaping of strict ones.
 */
#include "sch_cee.h"

/* The highest strict priority in @eligible, or -1. */
static int cee_ets_strict(const struct cee_config *cfg, u8 eligible)
{
	int prio;

	for (prio = CEE_PRIOS - 1; prio >= 0; prio--)
		if (eligible & BIT(prio) && !cfg->prio[prio].weight)
			return prio;
	return -1;
}

/**
 * cee_ets_next() - choose the priority that sends next
 * @ets:	state
 * @cfg:	options of the port
 * @eligible:	mask of priorities that have a packet and may send it
 *
 * Return: one of @eligible, or -1 if the mask is empty.
 */
int cee_ets_next(struct cee_ets *ets, const struct cee_config *cfg, u8 eligible)
{
	int prio;

	if (!eligible)
		return -1;
	prio = cee_ets_strict(cfg, eligible);
	if (prio >= 0)
		return prio;
	for (;;) {
		prio = ets->turn;
		if (!(eligible & BIT(prio)))
			ets->deficit[prio] = min(ets->deficit[prio], 0);
		else if (ets->deficit[prio] > 0)
			return prio;
		ets->turn = (prio + 1) % CEE_PRIOS;
		if (eligible & BIT(ets->turn))
			ets->deficit[ets->turn] += cfg->prio[ets->turn].quantum;
	}
}

/**
 * cee_ets_sent() - charge a packet to its priority's deficit
 * @ets:	state
 * @cfg:	options of the port
 * @prio:	priority that cee_ets_next() has returned
 * @len:	bytes
 */
void cee_ets_sent(struct cee_ets *ets, const struct cee_config *cfg, unsigned int prio,
		  unsigned int len)
{
		/* A length inflated by a size table (tc stab) must not prolong the loop above. */
	if (cfg->prio[prio].weight)
		ets->deficit[prio] -= min(len, cfg->frame);
}
