/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, the interface of the pull transport to other files.
 */
#ifndef _NDP_PULL_H
#define _NDP_PULL_H

#include <linux/netdevice.h>
#include <net/ndp_transport.h>

/**
 * struct ndp_pullq_stats - statistics of a pull queue, since its device was registered
 * @conns:	connections that receive by the device
 * @waiting:	of them, those that wait for their turn
 * @share:	part of the link's rate in use, 1/1024
 * @pulls:	pulls granted
 * @pulled_in:	pulled packets that arrived
 * @trimmed_in:	of them, trimmed
 * @pushed_in:	packets of first windows that arrived
 */
struct ndp_pullq_stats {
	u32	conns;
	u32	waiting;
	u32	share;
	u64	pulls;
	u64	pulled_in;
	u64	trimmed_in;
	u64	pushed_in;
};

/* grant.c */
extern const struct ndp_transport ndp_pull_transport;

/* The pace of pulls at a link's rate of which @share, in 1/1024, is in use. */
static inline u64 ndp_pull_pace(u64 rate, u32 share)
{
	return (rate >> 10) * share;
}

/* pull.c */
bool ndp_pullq_stats(const struct net_device *dev, struct ndp_pullq_stats *stats);
int ndp_pull_init(void);
void ndp_pull_exit(void);

#endif /* _NDP_PULL_H */
