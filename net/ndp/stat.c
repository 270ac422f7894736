// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP counters of a namespace: /proc/net/ndp_stat, one "name value" a line.
 *
 * Packets, unless the name says bytes.  Every packet that arrives is counted
 * once by type or once as a Drop with its reason.  The last lines are gauges.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include "ndp.h"

static const char * const ndp_stat_names[] = {
#define X(id, name) [NDP_STAT_##id] = name,
	NDP_STATS(X)
#undef X
};

static u64 ndp_stat_sum(const struct ndp_net *nn, int i)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(nn->stats, cpu)->v[i]);
	return sum;
}

static int ndp_stat_show(struct seq_file *seq, void *v)
{
	struct net *net = seq_file_single_net(seq);
	const struct ndp_net *nn = ndp_pernet(net);
	int i;

	for (i = 0; i < __NDP_STAT_MAX; i++)
		seq_printf(seq, "%s %llu\n", ndp_stat_names[i],
			   ndp_stat_sum(nn, i));
	seq_printf(seq, "SockInUse %d\n", sock_prot_inuse_get(net, &ndp_prot));
	seq_printf(seq, "Tombstones %u\n", READ_ONCE(nn->tombs));
	seq_printf(seq, "MemPages %ld\n",
		   atomic_long_read(ndp_prot.memory_allocated));
	return 0;
}

int ndp_stat_net_init(struct net *net)
{
	struct ndp_net *nn = ndp_pernet(net);

	nn->stats = alloc_percpu(struct ndp_stats);
	if (!nn->stats)
		return -ENOMEM;
	if (!proc_create_net_single("ndp_stat", 0444, net->proc_net,
				    ndp_stat_show, NULL)) {
		free_percpu(nn->stats);
		return -ENOMEM;
	}
	return 0;
}

void ndp_stat_net_exit(struct net *net)
{
	remove_proc_entry("ndp_stat", net->proc_net);
	free_percpu(ndp_pernet(net)->stats);
}
