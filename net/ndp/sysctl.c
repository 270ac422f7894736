// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP sysctls, per namespace:
 *
 * net.ndp.base_rtt_us	round-trip time of the idle fabric, microseconds; with
 *			the link's rate it gives the initial window.  Default
 *			170: six store-and-forward hops of 9 KB at 10 Gb/s.
 * net.ndp.paths	entropy values that a connection sprays over where no
 *			paths are configured
 * net.ndp.pull_rate_mbit  pace of pulls, Mb/s; 0 takes the link's speed
 * net.ndp.udp_port	UDP port of NDP; EBUSY once the namespace has made an
 *			AF_NDP socket
 */
#include <linux/sysctl.h>
#include "ndp.h"

static const int ndp_base_rtt_min = 1;
static const int ndp_base_rtt_max = 10000000;
static const int ndp_paths_min = 1;
static const int ndp_paths_max = NDP_PATHS_MAX;
static const int ndp_rate_min;
static const int ndp_rate_max = 1600000;
static const int ndp_port_min = 1;
static const int ndp_port_max = 65535;

static int ndp_proc_udp_port(COMPAT_CTL_TABLE *table, int write, void *buffer,
			     size_t *lenp, loff_t *ppos)
{
	struct ndp_net *nn = container_of((int *)table->data, struct ndp_net,
					  udp_port);
	int port, err;
	struct ctl_table tmp = *table;

	tmp.data = &port;
	mutex_lock(&nn->udp_mutex);
	port = nn->udp_port;
	err = proc_dointvec_minmax(&tmp, write, buffer, lenp, ppos);
	if (!err && write && port != nn->udp_port) {
		if (nn->udp)
			err = -EBUSY;
		else
			nn->udp_port = port;
	}
	mutex_unlock(&nn->udp_mutex);
	return err;
}

static const struct ctl_table ndp_sysctls[] = {
	{
		.procname = "base_rtt_us",
		.data = (void *)offsetof(struct ndp_net, base_rtt_us),
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = proc_dointvec_minmax,
		.extra1 = (void *)&ndp_base_rtt_min,
		.extra2 = (void *)&ndp_base_rtt_max,
	}, {
		.procname = "paths",
		.data = (void *)offsetof(struct ndp_net, n_paths),
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = proc_dointvec_minmax,
		.extra1 = (void *)&ndp_paths_min,
		.extra2 = (void *)&ndp_paths_max,
	}, {
		.procname = "pull_rate_mbit",
		.data = (void *)offsetof(struct ndp_net, pull_rate_mbit),
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = proc_dointvec_minmax,
		.extra1 = (void *)&ndp_rate_min,
		.extra2 = (void *)&ndp_rate_max,
	}, {
		.procname = "udp_port",
		.data = (void *)offsetof(struct ndp_net, udp_port),
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = ndp_proc_udp_port,
		.extra1 = (void *)&ndp_port_min,
		.extra2 = (void *)&ndp_port_max,
	},
};

int ndp_sysctl_net_init(struct net *net)
{
	struct ndp_net *nn = ndp_pernet(net);
	struct ctl_table *table;
	int i;

	nn->base_rtt_us = 170;
	nn->n_paths = 32;
	nn->pull_rate_mbit = 0;
	nn->udp_port = NDP_UDP_PORT;

	/* One more than there are: older kernels end a table by an empty one. */
	table = kcalloc(ARRAY_SIZE(ndp_sysctls) + 1, sizeof(*table),
			GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	memcpy(table, ndp_sysctls, sizeof(ndp_sysctls));
	for (i = 0; i < ARRAY_SIZE(ndp_sysctls); i++)
		table[i].data = (void *)nn + (uintptr_t)table[i].data;
	nn->sysctl_table = table;
	nn->sysctl_header = register_net_sysctl_sz(net, "net/ndp", table,
						   ARRAY_SIZE(ndp_sysctls));
	if (!nn->sysctl_header) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

void ndp_sysctl_net_exit(struct net *net)
{
	struct ndp_net *nn = ndp_pernet(net);

	unregister_net_sysctl_table(nn->sysctl_header);
	kfree(nn->sysctl_table);
}
