// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: whose turn it is (Enhanced Transmission Selection, IEEE 802.1Qaz).
 *
 * Strict priorities first, the highest of them before the others; the link's rest is
 * shared by weight, by deficit round robin (Shreedhar and Varghese, SIGCOMM 1995).  A
 * quantum is at least one largest frame (cee_config_derive()), so that no round is in
 * vain.  A frame is sent first and paid for afterwards: what one has sent too much, it
 * lacks in the next round, so that shares are exact in the long run whatever the sizes.
 *
 * A priority that may not send, for want of packets or because it is paused, keeps its
 * debt and saves nothing up: its share goes to the others at once.
 *
 * Not here: groups of priorities that share one weight, and shaping of strict ones.
 */
#include "sch_cee.h"

/* The highest strict priority of @eligible, or -1. */
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
 * @eligible:	priorities that have a packet and may send it
 *
 * Return: one of @eligible, or -1 if that is empty.
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
 * cee_ets_sent() - pay for a packet
 * @ets:	state
 * @cfg:	options of the port
 * @prio:	what cee_ets_next() has returned
 * @len:	bytes
 */
void cee_ets_sent(struct cee_ets *ets, const struct cee_config *cfg, unsigned int prio,
		  unsigned int len)
{
	/* What a size table makes of a packet must not keep the loop above busy. */
	if (cfg->prio[prio].weight)
		ets->deficit[prio] -= min(len, cfg->frame);
}
