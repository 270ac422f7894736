// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP counters of a namespace: /proc/net/ndp_stat, one "name value" a line.
 *
 * Counters count packets, unless the name says bytes.  Every packet that arrives is counted once
 * by type or once as a Drop with its reason; besides, RemarkedIn counts packets whose DSCP was
 * changed on the way, and Repaired those whose lengths were corrected (repair.c).  The last lines
 * are gauges: MemBytes is the truesize of the namespace's queued packets, MemPages the pages
 * charged for all namespaces.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include "conn.h"

static const char *const ndp_stat_names[__NDP_STAT_MAX] = {
	[NDP_STAT_DATA_OUT] = "DataOut",
	[NDP_STAT_DATA_BYTES_OUT] = "DataBytesOut",
	[NDP_STAT_DATA_PUSHED] = "DataPushed",
	[NDP_STAT_DATA_RTX] = "DataRtx",
	[NDP_STAT_ACK_OUT] = "AckOut",
	[NDP_STAT_ACK_JOINED_OUT] = "AckJoinedOut",
	[NDP_STAT_ACK_RODE_OUT] = "AckRodeOut",
	[NDP_STAT_NACK_OUT] = "NackOut",
	[NDP_STAT_PULL_OUT] = "PullOut",
	[NDP_STAT_PULLED_OUT] = "PulledOut",
	[NDP_STAT_PULLQ_MOVED] = "PullqMoved",
	[NDP_STAT_PROBE_OUT] = "ProbeOut",
	[NDP_STAT_COOKIE_OUT] = "CookieOut",
	[NDP_STAT_OPEN_OUT] = "OpenOut",
	[NDP_STAT_FIN_OUT] = "FinOut",
	[NDP_STAT_RST_OUT] = "RstOut",
	[NDP_STAT_RST_LIMITED] = "RstLimited",
	[NDP_STAT_SIGNAL_OUT] = "SignalOut",
	[NDP_STAT_LOCAL_DROP] = "LocalDrop",
	[NDP_STAT_DATA_IN] = "DataIn",
	[NDP_STAT_DATA_BYTES_IN] = "DataBytesIn",
	[NDP_STAT_TRIMMED_IN] = "TrimmedIn",
	[NDP_STAT_CRC_IN] = "CrcIn",
	[NDP_STAT_NO_ROOM_IN] = "NoRoomIn",
	[NDP_STAT_EARLY_IN] = "EarlyIn",
	[NDP_STAT_MARKED_IN] = "MarkedIn",
	[NDP_STAT_DUP_IN] = "DupIn",
	[NDP_STAT_ACK_IN] = "AckIn",
	[NDP_STAT_ACK_JOINED_IN] = "AckJoinedIn",
	[NDP_STAT_ACK_RODE_IN] = "AckRodeIn",
	[NDP_STAT_NACK_IN] = "NackIn",
	[NDP_STAT_ECE_IN] = "EceIn",
	[NDP_STAT_PULL_IN] = "PullIn",
	[NDP_STAT_PULLED_IN] = "PulledIn",
	[NDP_STAT_PROBE_IN] = "ProbeIn",
	[NDP_STAT_COOKIE_IN] = "CookieIn",
	[NDP_STAT_OPEN_IN] = "OpenIn",
	[NDP_STAT_FIN_IN] = "FinIn",
	[NDP_STAT_RST_IN] = "RstIn",
	[NDP_STAT_SIGNAL_IN] = "SignalIn",
	[NDP_STAT_BOUNCED_IN] = "BouncedIn",
	[NDP_STAT_BOUNCED_RTX] = "BouncedRtx",
	[NDP_STAT_TIMEOUTS] = "Timeouts",
	[NDP_STAT_SPURIOUS] = "SpuriousTimeouts",
	[NDP_STAT_LOST_ORDER] = "LostByOrder",
	[NDP_STAT_SPURIOUS_ORDER] = "SpuriousByOrder",
	[NDP_STAT_TAIL_PROBES] = "TailProbes",
	[NDP_STAT_ENTROPY_REPLACED] = "EntropyReplaced",
	[NDP_STAT_MTU_HOLE] = "MtuHole",
	[NDP_STAT_GIVEN_UP] = "GivenUp",
	[NDP_STAT_ORPHANS_STALLED] = "OrphansStalled",
	[NDP_STAT_ORPHANS_EXCESS] = "OrphansExcess",
	[NDP_STAT_ACTIVE_OPENS] = "ActiveOpens",
	[NDP_STAT_PASSIVE_OPENS] = "PassiveOpens",
	[NDP_STAT_HELD_BACK] = "HeldBack",
	[NDP_STAT_UNVERIFIED_END] = "UnverifiedEnded",
	[NDP_STAT_TOMB_HITS] = "TombstoneHits",
	[NDP_STAT_PORTS_TRIED] = "PortsTried",
	[NDP_STAT_REMARKED_IN] = "RemarkedIn",
	[NDP_STAT_REPAIRED] = "Repaired",
	[NDP_STAT_EVENTS_LOST] = "EventsLost",
	[NDP_STAT_DROP_SHORT] = "DropShort",
	[NDP_STAT_DROP_VERSION] = "DropVersion",
	[NDP_STAT_DROP_TYPE] = "DropType",
	[NDP_STAT_DROP_CHECKSUM] = "DropChecksum",
	[NDP_STAT_DROP_LENGTH] = "DropLength",
	[NDP_STAT_DROP_ADDRESS] = "DropAddress",
	[NDP_STAT_DROP_NO_CONN] = "DropNoConn",
	[NDP_STAT_DROP_NO_LISTENER] = "DropNoListener",
	[NDP_STAT_DROP_TRANSPORT] = "DropTransport",
	[NDP_STAT_DROP_BACKLOG] = "DropBacklog",
	[NDP_STAT_DROP_COOKIE] = "DropCookie",
	[NDP_STAT_DROP_CLOSED] = "DropClosed",
	[NDP_STAT_DROP_WINDOW] = "DropWindow",
	[NDP_STAT_DROP_PSN] = "DropPsn",
	[NDP_STAT_DROP_PULL] = "DropPull",
	[NDP_STAT_DROP_MEMORY] = "DropMemory",
	[NDP_STAT_DROP_FILTER] = "DropFilter",
};

/*
 * Reasons by which the kernel's own tools name these drops (skb:kfree_skb, dropwatch).  Only
 * modules in the kernel tree can have reasons of their own, since the table has a fixed place for
 * each of these; so NDP uses the common reasons, some of which are named after TCP.
 */
static const u16 ndp_drop_reasons[__NDP_STAT_MAX - NDP_STAT_DROP_SHORT] = {
#define NDP_DROP(stat, reason)	\
	[NDP_STAT_DROP_##stat - NDP_STAT_DROP_SHORT] = SKB_DROP_REASON_##reason
	NDP_DROP(SHORT, PKT_TOO_SMALL),
	NDP_DROP(VERSION, UNHANDLED_PROTO),
	NDP_DROP(TYPE, UNHANDLED_PROTO),
	NDP_DROP(CHECKSUM, UDP_CSUM),
	NDP_DROP(LENGTH, PKT_TOO_SMALL),
	NDP_DROP(ADDRESS, OTHERHOST),
	NDP_DROP(NO_CONN, NO_SOCKET),
	NDP_DROP(NO_LISTENER, NO_SOCKET),
	NDP_DROP(TRANSPORT, UNHANDLED_PROTO),
	NDP_DROP(BACKLOG, SOCKET_BACKLOG),
	NDP_DROP(COOKIE, NO_SOCKET),
	NDP_DROP(CLOSED, SOCKET_CLOSE),
	NDP_DROP(WINDOW, TCP_OVERWINDOW),
	NDP_DROP(PSN, TCP_INVALID_SEQUENCE),
	NDP_DROP(PULL, NOT_SPECIFIED),
	NDP_DROP(MEMORY, PROTO_MEM),
	NDP_DROP(FILTER, SOCKET_FILTER),
#undef NDP_DROP
};

/**
 * ndp_drop - count and free a packet that is dropped
 * @net:	namespace
 * @skb:	packet
 * @reason:	one of NDP_STAT_DROP_*
 *
 * Context: any.
 * Return: 0.
 */
int ndp_drop(struct net *net, struct sk_buff *skb, enum ndp_stat reason)
{
	this_cpu_inc(ndp_pernet(net)->stats->v[reason]);
	kfree_skb_reason(skb, ndp_drop_reasons[reason - NDP_STAT_DROP_SHORT] ?:
			      SKB_DROP_REASON_NOT_SPECIFIED);
	return 0;
}

static u64 ndp_stat_sum(const struct ndp_net *nn, int i)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(nn->stats, cpu)->v[i]);
	return sum;
}

/* Pages charged, with the per-CPU reserves that are not yet accounted globally. */
static long ndp_mem_pages(void)
{
	long sum = atomic_long_read(ndp_prot.memory_allocated);
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(ndp_prot.per_cpu_fw_alloc, cpu));
	return sum;
}

static int ndp_stat_show(struct seq_file *seq, void *v)
{
	struct net *net = seq_file_single_net(seq);
	struct ndp_net *nn = ndp_pernet(net);
	int i;

	for (i = 0; i < __NDP_STAT_MAX; i++)
		seq_printf(seq, "%s %llu\n", ndp_stat_names[i],
			   ndp_stat_sum(nn, i));
	seq_printf(seq, "SockInUse %d\n", sock_prot_inuse_get(net, &ndp_prot) +
						sock_prot_inuse_get(net, &ndp6_prot));
	seq_printf(seq, "Orphans %d\n", atomic_read(&nn->orphans));
	seq_printf(seq, "Tombstones %d\n", READ_ONCE(nn->tombs));
	seq_printf(seq, "IdlePeers %d\n", READ_ONCE(nn->n_idle_peers));
	seq_printf(seq, "MemBytes %lld\n", percpu_counter_sum(&nn->mem));
	seq_printf(seq, "MemPages %ld\n", ndp_mem_pages());
	return 0;
}

/*
 * Packets that a namespace may send before that counts as a storm: in any case, and in addition
 * for each cause, for each connection and for each second.
 */
#define NDP_STORM_ANY		10000
#define NDP_STORM_CAUSE		4
#define NDP_STORM_CONN		200
#define NDP_STORM_SECOND	2000

/* Packets sent, and the packets that cause them. */
struct ndp_traffic {
	u64	again;		/* retransmissions, and packets without data */
	u64	fresh;		/* DATA sent for the first time: the cause of @again */
	u64	answers;	/* answers to packets of peers */
	u64	asked;		/* packets received that ask for an answer */
	u64	conns;
	u64	seconds;
};

static u64 ndp_stat_sums(const struct ndp_net *nn, const u8 *stats, int n)
{
	u64 sum = 0;

	while (n--)
		sum += ndp_stat_sum(nn, stats[n]);
	return sum;
}

static void ndp_traffic_read(const struct ndp_net *nn, struct ndp_traffic *t)
{
	static const u8 again[] = {
		NDP_STAT_DATA_RTX, NDP_STAT_FIN_OUT, NDP_STAT_OPEN_OUT, NDP_STAT_PROBE_OUT
	};
	/* RSTs have a limit of their own, and a COOKIE is caused by an opening of the peer. */
	static const u8 answers[] = {
		NDP_STAT_ACK_OUT, NDP_STAT_NACK_OUT, NDP_STAT_PULL_OUT, NDP_STAT_SIGNAL_OUT
	};
	static const u8 asked[] = {
		NDP_STAT_DATA_IN, NDP_STAT_TRIMMED_IN, NDP_STAT_FIN_IN, NDP_STAT_OPEN_IN,
		NDP_STAT_PROBE_IN, NDP_STAT_TOMB_HITS
	};
	static const u8 conns[] = { NDP_STAT_ACTIVE_OPENS, NDP_STAT_PASSIVE_OPENS };

	*t = (struct ndp_traffic) {
		.again = ndp_stat_sums(nn, again, ARRAY_SIZE(again)),
		.fresh = ndp_stat_sum(nn, NDP_STAT_DATA_OUT) - ndp_stat_sum(nn, NDP_STAT_DATA_RTX),
		.answers = ndp_stat_sums(nn, answers, ARRAY_SIZE(answers)),
		.asked = ndp_stat_sums(nn, asked, ARRAY_SIZE(asked)),
		.conns = ndp_stat_sums(nn, conns, ARRAY_SIZE(conns)),
		.seconds = div_u64(ktime_get_ns() - nn->begun, NSEC_PER_SEC),
	};
}

static bool ndp_storm_of(u64 packets, u64 causes, const struct ndp_traffic *t)
{
	return packets > NDP_STORM_ANY + causes * NDP_STORM_CAUSE +
			 t->conns * NDP_STORM_CONN + t->seconds * NDP_STORM_SECOND;
}

static bool ndp_stat_storm(const struct ndp_net *nn, struct ndp_traffic *t)
{
	ndp_traffic_read(nn, t);
	return ndp_storm_of(t->again, t->fresh, t) || ndp_storm_of(t->answers, t->asked, t);
}

/*
 * Packets that were refused, lost or returned must not be resent faster than anything can change,
 * and no answer may cause another.  When a namespace in which this happened is removed, debug
 * kernels log it; the lab looks for that message, so that every test there tests this, too.  It
 * is no WARN, because a hostile peer can pull as much as it likes.
 */
static void ndp_stat_warn_storm(const struct ndp_net *nn)
{
	struct ndp_traffic t;

	if (ndp_stat_storm(nn, &t))
		pr_warn("ndp: storm: %llu packets again, %llu new, %llu answers to %llu, of %llu connections in %llu s\n",
			t.again, t.fresh, t.answers, t.asked, t.conns, t.seconds);
}

int ndp_stat_net_init(struct net *net)
{
	struct ndp_net *nn = ndp_pernet(net);
	/* The creator of the namespace gets the error, and the log needs no backtrace. */
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN;
	int err;

	nn->begun = ktime_get_ns();

	nn->stats = alloc_percpu_gfp(struct ndp_stats, gfp);
	if (!nn->stats)
		return -ENOMEM;
	err = percpu_counter_init(&nn->mem, 0, gfp);
	if (err)
		goto err_stats;
	if (proc_create_net_single("ndp_stat", 0444, net->proc_net,
				   ndp_stat_show, NULL))
		return 0;
	err = -ENOMEM;
	percpu_counter_destroy(&nn->mem);
err_stats:
	free_percpu(nn->stats);
	return err;
}

void ndp_stat_net_exit(struct net *net)
{
	struct ndp_net *nn = ndp_pernet(net);

	remove_proc_entry("ndp_stat", net->proc_net);
	WARN_ON_ONCE(percpu_counter_sum(&nn->mem));
	if (IS_ENABLED(CONFIG_DEBUG_NET))
		ndp_stat_warn_storm(nn);
	percpu_counter_destroy(&nn->mem);
	free_percpu(nn->stats);
}
