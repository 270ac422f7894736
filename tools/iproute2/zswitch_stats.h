/* SPDX-License-Identifier: GPL-2.0 */
/* Common to the plugins for ip of the lossless virtual switch. */
#ifndef ZSWITCH_STATS_H
#define ZSWITCH_STATS_H

#include <linux/zswitch.h>
#include "counters.h"

static const char * const counter_names[__ZSWITCH_STAT_MAX] = {
	[ZSWITCH_STAT_IN]		= "in",
	[ZSWITCH_STAT_IN_BYTES]		= "in_bytes",
	[ZSWITCH_STAT_COPIES]		= "copies",
	[ZSWITCH_STAT_PASSED]		= "passed",
	[ZSWITCH_STAT_OUT]		= "out",
	[ZSWITCH_STAT_OUT_BYTES]	= "out_bytes",
	[ZSWITCH_STAT_WAITED]		= "waited",
	[ZSWITCH_STAT_SLEPT]		= "slept",
	[ZSWITCH_STAT_WOKEN]		= "woken",
	[ZSWITCH_STAT_CREDIT_WAITED]	= "credit_waited",
	[ZSWITCH_STAT_CREDIT_ASKED]	= "credit_asked",
	[ZSWITCH_STAT_CREDIT_GRANTED]	= "credit_granted",
	[ZSWITCH_STAT_CREDIT_WITHDRAWN]	= "credit_withdrawn",
	[ZSWITCH_STAT_CREDIT_USED]	= "credit_used",
	[ZSWITCH_STAT_CREDIT_RETURNED]	= "credit_returned",
	[ZSWITCH_STAT_CREDIT_EXTRA]	= "credit_extra",
	[ZSWITCH_STAT_CREDIT_LAPSED]	= "credit_lapsed",
	[ZSWITCH_STAT_REMOTE_ASKED]	= "remote_asked",
	[ZSWITCH_STAT_REMOTE_GRANTED]	= "remote_granted",
	[ZSWITCH_STAT_REMOTE_USED]	= "remote_used",
	[ZSWITCH_STAT_REMOTE_VOID]	= "remote_void",
	[ZSWITCH_STAT_FABRIC_IN]	= "fabric_in",
	[ZSWITCH_STAT_FABRIC_OUT]	= "fabric_out",
	[ZSWITCH_STAT_FABRIC_RETRIED]	= "fabric_retried",
	[ZSWITCH_STAT_FABRIC_STALE]	= "fabric_stale",
	[ZSWITCH_STAT_DROP_FULL]	= "drop_full",
	[ZSWITCH_STAT_DROP_HEADROOM]	= "drop_headroom",
	[ZSWITCH_STAT_DROP_STILL]	= "drop_still",
	[ZSWITCH_STAT_DROP_FLOOD]	= "drop_flood",
	[ZSWITCH_STAT_DROP_QDISC]	= "drop_qdisc",
	[ZSWITCH_STAT_DROP_DOWN]	= "drop_down",
	[ZSWITCH_STAT_DROP_MTU]		= "drop_mtu",
	[ZSWITCH_STAT_DROP_VLAN]	= "drop_vlan",
	[ZSWITCH_STAT_DROP_GUARD]	= "drop_guard",
	[ZSWITCH_STAT_DROP_LOCAL]	= "drop_local",
	[ZSWITCH_STAT_DROP_MALFORMED]	= "drop_malformed",
	[ZSWITCH_STAT_DROP_NOMEM]	= "drop_nomem",
	[ZSWITCH_STAT_DROP_OVERRUN]	= "drop_overrun",
	[ZSWITCH_STAT_DROP_POLICY]	= "drop_policy",
	[ZSWITCH_STAT_DROP_FORGED]	= "drop_forged",
};

static inline void print_counters(struct rtattr *nest)
{
	print_named(nest, counter_names, ZSWITCH_STAT_MAX, ZSWITCH_STAT_DROP_FULL);
}

#endif /* ZSWITCH_STATS_H */
