// SPDX-License-Identifier: GPL-2.0
/*
 * zbridge: per-CPU counters.
 */
#include <net/netlink.h>
#include "zbridge.h"

/**
 * zbr_count() - add to a counter
 * @zb:		tunnel
 * @stat:	counter
 * @n:		amount
 *
 * Context: any but hard interrupts.
 */
void zbr_count(struct zbridge *zb, enum zbridge_stat stat, u64 n)
{
	struct zbr_stats *s;

	local_bh_disable();
	s = this_cpu_ptr(zb->stats);
	u64_stats_update_begin(&s->syncp);
	u64_stats_add(&s->n[stat], n);
	u64_stats_update_end(&s->syncp);
	local_bh_enable();
}

/**
 * zbr_drop() - count and free a packet or frame that is dropped
 * @zb:		tunnel
 * @skb:	packet or frame
 * @reason:	counter
 */
void zbr_drop(struct zbridge *zb, struct sk_buff *skb, enum zbridge_stat reason)
{
	zbr_count(zb, reason, 1);
	kfree_skb(skb);
}

/**
 * zbr_stat() - read a counter
 * @zb:		tunnel
 * @stat:	counter
 *
 * Return: sum over all processors.
 */
u64 zbr_stat(const struct zbridge *zb, enum zbridge_stat stat)
{
	const struct zbr_stats *s;
	unsigned int start;
	u64 n, sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		s = per_cpu_ptr(zb->stats, cpu);
		do {
			start = u64_stats_fetch_begin(&s->syncp);
			n = u64_stats_read(&s->n[stat]);
		} while (u64_stats_fetch_retry(&s->syncp, start));
		sum += n;
	}
	return sum;
}

/**
 * zbr_stats_size() - room that zbr_put_stats() needs
 *
 * Return: bytes.
 */
size_t zbr_stats_size(void)
{
	return nla_total_size(0) + ZBRIDGE_STAT_MAX * nla_total_size_64bit(sizeof(u64));
}

/**
 * zbr_put_stats() - dump the counters
 * @skb:	message
 * @zb:		tunnel
 *
 * Return: 0 or -EMSGSIZE.
 */
int zbr_put_stats(struct sk_buff *skb, const struct zbridge *zb)
{
	struct nlattr *nest = nla_nest_start(skb, IFLA_ZBRIDGE_STATS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = ZBRIDGE_STAT_PAD + 1; i <= ZBRIDGE_STAT_MAX; i++)
		if (nla_put_u64_64bit(skb, i, zbr_stat(zb, i), ZBRIDGE_STAT_PAD)) {
			nla_nest_cancel(skb, nest);
			return -EMSGSIZE;
		}
	nla_nest_end(skb, nest);
	return 0;
}
