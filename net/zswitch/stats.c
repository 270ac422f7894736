// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: per-CPU counters of ports.
 *
 * They are written with softirqs off, so that each CPU has one writer at a time.
 */
#include <net/netlink.h>
#include "zswitch.h"

/**
 * zsw_drop() - drop a frame and count it
 * @in:		port that it came in by
 * @skb:	frame
 * @reason:	counter of the drop
 */
void zsw_drop(struct zswitch_port *in, struct sk_buff *skb, enum zswitch_stat reason)
{
	zsw_count(in, reason, 1);
	kfree_skb(skb);
}

/**
 * zsw_stat() - read a counter
 * @port:	port
 * @stat:	counter
 *
 * Return: sum over all CPUs.
 */
u64 zsw_stat(const struct zswitch_port *port, enum zswitch_stat stat)
{
	const struct zsw_stats *s;
	unsigned int start;
	u64 n, sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		s = per_cpu_ptr(port->stats, cpu);
		do {
			start = u64_stats_fetch_begin(&s->syncp);
			n = u64_stats_read(&s->n[stat]);
		} while (u64_stats_fetch_retry(&s->syncp, start));
		sum += n;
	}
	return sum;
}

/**
 * zsw_stats_size() - room that zsw_put_stats() needs
 *
 * Return: bytes.
 */
size_t zsw_stats_size(void)
{
	return nla_total_size(0) + ZSWITCH_STAT_MAX * nla_total_size_64bit(sizeof(u64));
}

/**
 * zsw_put_stats() - dump the counters of a port
 * @skb:	message
 * @attr:	attribute type of the nest
 * @pad:	attribute type of padding inside the nest
 * @port:	port
 *
 * Return: 0 or -EMSGSIZE.
 */
int zsw_put_stats(struct sk_buff *skb, int attr, int pad, const struct zswitch_port *port)
{
	struct nlattr *nest = nla_nest_start(skb, attr);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = ZSWITCH_STAT_PAD + 1; i <= ZSWITCH_STAT_MAX; i++)
		if (nla_put_u64_64bit(skb, i, zsw_stat(port, i), pad)) {
			nla_nest_cancel(skb, nest);
			return -EMSGSIZE;
		}
	nla_nest_end(skb, nest);
	return 0;
}
