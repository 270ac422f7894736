// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP sysctls, per namespace:
 *
 * net.ndp.base_rtt_us	round-trip time of the idle fabric, microseconds; with
 *			the link's rate it gives the initial window.  Default
 *			170: six store-and-forward hops of 9 KB at 10 Gb/s.
 * net.ndp.qdisc_us	data of one socket that may wait in the local qdisc, as the time in which
 *			the link carries it, microseconds; two packets at least.  Default 16; more
 *			for NICs that report late which packets they have sent
 * net.ndp.paths	entropy values that connections to a host spray over where no
 *			paths are configured
 * net.ndp.pull_rate_mbit  pace of the pulls by the namespace's devices, Mb/s; 0 takes the
 *			link's speed
 * net.ndp.pull_low_share  percent of the pulls of each of the namespace's devices that
 *			go to connections of lower NDP_PRIORITY while higher ones wait;
 *			0, the default: none
 * net.ndp.mem_max_kb	limit of the memory of the packets in all queues, KiB; beyond it arriving
 *			packets are treated as trimmed, and writers wait.  0: only the limit of
 *			all namespaces together, an eighth of memory, applies
 * net.ndp.max_orphans	connections that no process has any more, whose peers have not
 *			acknowledged all data yet; any more are reset.  Half of the limit is
 *			reserved for those whose peers still acknowledge data.  As for TCP, by
 *			default one for each 256 KiB of memory
 * net.ndp.rst_rate	limit of RSTs for packets for which there is no connection, or no
 *			listener, or that belong to an aborted connection: packets per second, in
 *			bursts of up to a tenth of a second; 0: no limit
 * net.ndp.amplification  bytes that may be sent to an address for each byte received from it,
 *			until its owner has shown that it receives them (verify.c); 3 as in QUIC,
 *			0: no limit, on a fabric where addresses cannot be spoofed
 * net.ndp.tombstones_max  connections remembered past their end (tombstones); while there are
 *			that many, new ones are opened by a cookie only
 * net.ndp.peers_max	hosts without a connection whose paths and round-trip time are remembered,
 *			for a minute (peer.c)
 * net.ndp.lossless	1: the networks behind all devices drop nothing for want of room, so that
 *			transports that need this may open connections by any device; 0, the
 *			default: only by devices that are seen to be lossless (lossless.c)
 * net.ndp.transport	transport of new sockets; a module is loaded by its name
 * net.ndp.transports	transports that are available, read only
 * net.ndp.udp_port	UDP port of NDP; EBUSY once the namespace has made an
 *			AF_NDP socket
 */
#include <linux/sysctl.h>
#include "transport.h"

/* Defaults: RSTs per second, and bytes sent for each byte of an unverified peer. */
#define NDP_RST_RATE		10000
#define NDP_AMPLIFICATION	3

/* Default limit of tombstones in a namespace. */
#define NDP_TOMBSTONES_MAX	262144

/* Default limit of remembered hosts without a connection, 4 KiB each. */
#define NDP_PEERS_MAX		4096

/* Default limit of orphans, as TCP's: one for each 256 KiB of memory, up to a maximum. */
#define NDP_ORPHANS_SHIFT	18
#define NDP_ORPHANS_MAX		262144

static const int ndp_qdisc_min;
static const int ndp_qdisc_max = 1000;
static const int ndp_base_rtt_min = 1;
static const int ndp_base_rtt_max = 10000000;
static const int ndp_paths_min = 1;
static const int ndp_paths_max = NDP_PATHS_MAX;
static const int ndp_rate_min;
static const int ndp_rate_max = 1600000;
static const int ndp_share_min;
static const int ndp_share_max = 100;
static const int ndp_orphans_min;
static const int ndp_orphans_max = INT_MAX;
static const int ndp_rst_rate_min;
static const int ndp_rst_rate_max = 1000000000;
static const int ndp_amplification_min;
static const int ndp_amplification_max = 1000;
static const int ndp_tombs_min;
static const int ndp_tombs_max = INT_MAX;
static const int ndp_peers_min;
static const int ndp_peers_max = 65536;
static const int ndp_mem_min;
static const int ndp_mem_max = INT_MAX;
static const int ndp_lossless_min;
static const int ndp_lossless_max = 1;
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
		if (nn->udp || nn->udp6)
			err = -EBUSY;
		else
			nn->udp_port = port;
	}
	mutex_unlock(&nn->udp_mutex);
	return err;
}

/* For a handler of strings: a copy of @table with @text as its data. */
static struct ctl_table ndp_text_table(COMPAT_CTL_TABLE *table, char *text,
				       size_t size)
{
	struct ctl_table tmp = *table;

	tmp.data = text;
	tmp.maxlen = size;
	return tmp;
}

static int ndp_proc_transport(COMPAT_CTL_TABLE *table, int write, void *buffer,
			      size_t *lenp, loff_t *ppos)
{
	struct ndp_net *nn = container_of((void *)table->data, struct ndp_net,
					  transport);
	char name[NDP_TRANSPORT_NAME] = "";
	struct ctl_table tmp = ndp_text_table(table, name, sizeof(name));
	int err;

	rcu_read_lock();
	strscpy(name, rcu_dereference(nn->transport)->name, sizeof(name));
	rcu_read_unlock();
	err = proc_dostring(&tmp, write, buffer, lenp, ppos);
	return !err && write ? ndp_transport_set_default(nn, name) : err;
}

static int ndp_proc_transports(COMPAT_CTL_TABLE *table, int write, void *buffer,
			       size_t *lenp, loff_t *ppos)
{
	char names[NDP_ACCEPT_MAX];
	struct ctl_table tmp = ndp_text_table(table, names, sizeof(names));

	ndp_transport_names(names, sizeof(names), U32_MAX);
	return proc_dostring(&tmp, write, buffer, lenp, ppos);
}

/* An int member of struct ndp_net. */
#define NDP_SYSCTL(name, field, least, most, handler)			\
{									\
	.procname = name,						\
	.data = (void *)offsetof(struct ndp_net, field),		\
	.maxlen = sizeof(int),						\
	.mode = 0644,							\
	.proc_handler = handler,					\
	.extra1 = (void *)&(least),					\
	.extra2 = (void *)&(most),					\
}

#define NDP_SYSCTL_INT(name, field, least, most)			\
	NDP_SYSCTL(name, field, least, most, proc_dointvec_minmax)

static const struct ctl_table ndp_sysctls[] = {
	NDP_SYSCTL_INT("base_rtt_us", base_rtt_us, ndp_base_rtt_min, ndp_base_rtt_max),
	NDP_SYSCTL_INT("qdisc_us", qdisc_us, ndp_qdisc_min, ndp_qdisc_max),
	NDP_SYSCTL_INT("paths", n_paths, ndp_paths_min, ndp_paths_max),
	NDP_SYSCTL_INT("pull_rate_mbit", pull_rate_mbit, ndp_rate_min, ndp_rate_max),
	NDP_SYSCTL_INT("pull_low_share", pull_low_share, ndp_share_min, ndp_share_max),
	NDP_SYSCTL_INT("mem_max_kb", mem_max_kb, ndp_mem_min, ndp_mem_max),
	NDP_SYSCTL_INT("max_orphans", max_orphans, ndp_orphans_min, ndp_orphans_max),
	NDP_SYSCTL_INT("rst_rate", rst_rate, ndp_rst_rate_min, ndp_rst_rate_max),
	NDP_SYSCTL_INT("amplification", amplification, ndp_amplification_min,
		       ndp_amplification_max),
	NDP_SYSCTL_INT("tombstones_max", tombs_max, ndp_tombs_min, ndp_tombs_max),
	NDP_SYSCTL_INT("peers_max", peers_max, ndp_peers_min, ndp_peers_max),
	NDP_SYSCTL_INT("lossless", lossless, ndp_lossless_min, ndp_lossless_max),
	{
		.procname = "transport",
		.data = (void *)offsetof(struct ndp_net, transport),
		.maxlen = NDP_TRANSPORT_NAME,
		.mode = 0644,
		.proc_handler = ndp_proc_transport,
	},
	{
		.procname = "transports",
		.maxlen = NDP_ACCEPT_MAX,
		.mode = 0444,
		.proc_handler = ndp_proc_transports,
	},
	NDP_SYSCTL("udp_port", udp_port, ndp_port_min, ndp_port_max,
		   ndp_proc_udp_port),
};

int ndp_sysctl_net_init(struct net *net)
{
	struct ndp_net *nn = ndp_pernet(net);
	struct ctl_table *table;
	int i;

	nn->base_rtt_us = 170;
	nn->qdisc_us = 16;
	nn->n_paths = 32;
	nn->pull_rate_mbit = 0;
	nn->pull_low_share = 0;
	nn->mem_max_kb = 0;
	nn->max_orphans = min(totalram_pages() >> (NDP_ORPHANS_SHIFT - PAGE_SHIFT),
			      (unsigned long)NDP_ORPHANS_MAX);
	nn->rst_rate = NDP_RST_RATE;
	nn->amplification = NDP_AMPLIFICATION;
	nn->tombs_max = NDP_TOMBSTONES_MAX;
	nn->peers_max = NDP_PEERS_MAX;
	nn->lossless = 0;
	nn->udp_port = NDP_UDP_PORT;

	/* Older kernels need an empty entry at the end of the table. */
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
