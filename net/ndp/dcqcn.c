// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP transport "dcqcn": a sending rate on one path, cut by congestion notifications.
 *
 * DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015),
 * as RoCE hardware and its authors' simulator (github.com/bobzhuyb/ns3-rdma) implement it.
 * MP-RDMA, Dart and PCN are compared with it.
 *
 * Receiver (notification point).  When DATA arrives marked (ECN), the receiver returns a CNP,
 * a SIGNAL, at most once in cnp_us.
 *
 * Sender (reaction point).  The sender begins at the rate of its link.  A CNP sets
 *
 *	target = rate, alpha = (1 - g) alpha + g, rate = rate (1 - alpha / 2),
 *
 * and each alpha_us without a CNP sets alpha = (1 - g) alpha.  Each timer_us ends a stage of
 * recovery, and so does each byte_kb sent.  Every stage sets rate = (rate + target) / 2, and
 * the first five of each kind do no more (fast recovery).  Beyond five of one kind, target
 * grows first, by rai_mbit (additive increase); beyond five of both kinds, it grows by
 * rhai_mbit for each stage that both are beyond five (hyper increase).
 *
 * Loss: go-back-N, as in the hardware of the paper.  The receiver takes packets in order only,
 * and NACKs all others; the sender retransmits a missing packet when one that left after it was
 * answered, and then all that were refused after it.  A packet that is still missing is sent
 * again after one round trip, then after two, four, and so on (200 ms at most).  Once a
 * retransmission was refused, the missing packet is sent alone, because nothing after it would
 * be taken, and each packet that is acknowledged lets one more follow it.
 *
 * Pacing: each packet has a departure time (EDT), for fq or for sch_ndp in mode host.  Other
 * qdiscs send it at once, but no packet is given to them more than 1 ms before its time.
 *
 * Presets, as preset=N when the module is loaded; single parameters can be set beside it:
 * 0 paper (default), 1 the authors' simulator, 2 HPCC's simulator for 25 Gb/s (dcqcn_paper).
 *
 * Our own choices: alpha's decay and the timer's stages are computed when they are needed, not
 * by a timer each; the target falls with the first CNP (the simulator's CLAMP_TARGET_RATE);
 * hyper increase does not shorten the timer.
 *
 * Non-goals: PFC (see sch_cee), several paths, a congestion window.
 */
#include <linux/module.h>
#include <linux/random.h>
#include "device.h"
#include "transport.h"

/* Fixed-point scale of alpha and of g. */
#define DCQCN_SHIFT		16
#define DCQCN_ONE		BIT(DCQCN_SHIFT)

/* Stages of fast recovery (F). */
#define DCQCN_FAST		5

/* Most stages that a sender makes up for after it was idle. */
#define DCQCN_STAGES_MAX	64

/*
 * How long before its departure time a packet may be given to a qdisc, which may ignore that
 * time.  Without this bound, reordering in the network makes go-back-N multiply packets: each
 * refused packet is sent again at once, and refused again.
 */
#define DCQCN_AHEAD		NDP_MSEC

/* 1 Mb/s, in bit/s. */
#define DCQCN_MBIT		1000000ULL

/* Most doublings of the time until a missing packet is sent again. */
#define DCQCN_DOUBLINGS		8

enum dcqcn_signal {
	DCQCN_CNP = 1,
};

/**
 * struct dcqcn_preset - parameters that belong together
 * @cnp_us:	least time between CNPs of a connection
 * @alpha_us:	alpha decays once in this time
 * @timer_us:	time of a stage
 * @byte_kb:	bytes of a stage, KB
 * @rai_mbit:	additive increase, Mb/s
 * @rhai_mbit:	hyper increase, Mb/s
 * @g_shift:	g is 2^-g_shift
 * @min_mbit:	least rate, Mb/s
 */
struct dcqcn_preset {
	u32	cnp_us;
	u32	alpha_us;
	u32	timer_us;
	u32	byte_kb;
	u32	rai_mbit;
	u32	rhai_mbit;
	u32	g_shift;
	u32	min_mbit;
};

static const struct dcqcn_preset dcqcn_presets[] = {
	{ 50, 55, 55, 10000, 40, 200, 8, 100 },
	{ 50, 55, 60, 300000, 40, 200, 8, 100 },
	{ 50, 50, 55, 10000, 5, 50, 8, 1000 },
};

static unsigned int preset;
module_param(preset, uint, 0444);
MODULE_PARM_DESC(preset, "0 paper (default), 1 the authors' simulator, 2 HPCC's simulator");

/* Parameters; 0: the preset's value */
static struct dcqcn_preset dcqcn;
module_param_named(cnp_us, dcqcn.cnp_us, uint, 0444);
MODULE_PARM_DESC(cnp_us, "least time between congestion notifications");
module_param_named(alpha_us, dcqcn.alpha_us, uint, 0444);
MODULE_PARM_DESC(alpha_us, "alpha decays once in this time");
module_param_named(timer_us, dcqcn.timer_us, uint, 0444);
MODULE_PARM_DESC(timer_us, "time of a stage of recovery");
module_param_named(byte_kb, dcqcn.byte_kb, uint, 0444);
MODULE_PARM_DESC(byte_kb, "bytes of a stage of recovery, KB");
module_param_named(rai_mbit, dcqcn.rai_mbit, uint, 0444);
MODULE_PARM_DESC(rai_mbit, "additive increase, Mb/s");
module_param_named(rhai_mbit, dcqcn.rhai_mbit, uint, 0444);
MODULE_PARM_DESC(rhai_mbit, "hyper increase, Mb/s");
module_param_named(g_shift, dcqcn.g_shift, uint, 0444);
MODULE_PARM_DESC(g_shift, "alpha's gain g is 2^-g_shift");
module_param_named(min_mbit, dcqcn.min_mbit, uint, 0444);
MODULE_PARM_DESC(min_mbit, "least rate, Mb/s");

/**
 * struct dcqcn - the state of a connection
 * @rate:	sending rate, bit/s
 * @target:	rate that @rate recovers to, bit/s
 * @line:	rate of the link, bit/s
 * @next:	when the next packet may leave, ktime_get_ns()
 * @stage_at:	when the timer's current stage began, ktime_get_ns()
 * @alpha_at:	when alpha changed last, ktime_get_ns()
 * @cnp_at:	receiver: when the last CNP was sent, ktime_get_ns()
 * @hole_at:	time before which @hole is not sent again, ktime_get_ns()
 * @seq:	highest ndp_tx_cb.tx_seq of a packet that was answered
 * @answered:	ndp_tx_cb.tx_seq of the packet that is being answered
 * @again:	that packet was sent more than once, or is to be sent again
 * @hole:	PSN of the packet that was sent again last as the lowest missing one
 * @tries:	how often @hole was sent again while it was the lowest missing one
 * @behind:	most packets in flight with which one other than the lowest is sent again
 * @left:	bytes until the next stage by bytes
 * @alpha:	congestion estimate, DCQCN_ONE is 1
 * @timer:	stages by time since the last CNP
 * @bytes:	stages by bytes since the last CNP
 * @path:	index of the one path
 */
struct dcqcn {
	u64	rate;
	u64	target;
	u64	line;
	u64	next;
	u64	stage_at;
	u64	alpha_at;
	u64	cnp_at;
	u64	hole_at;
	u32	seq;
	u32	answered;
	u32	hole;
	u32	left;
	u32	alpha;
	u16	timer;
	u16	bytes;
	u16	path;
	u16	behind;
	u8	tries;
	bool	again;
};

static void dcqcn_begin_stages(struct dcqcn *dc, u64 now)
{
	dc->timer = 0;
	dc->bytes = 0;
	dc->left = dcqcn.byte_kb * 1000;
	dc->stage_at = now;
}

/* A stage of recovery has ended. */
static void dcqcn_stage(struct dcqcn *dc)
{
	u16 low = min(dc->timer, dc->bytes), high = max(dc->timer, dc->bytes);

	if (low > DCQCN_FAST)
		dc->target += dcqcn.rhai_mbit * DCQCN_MBIT * (low - DCQCN_FAST);
	else if (high > DCQCN_FAST)
		dc->target += dcqcn.rai_mbit * DCQCN_MBIT;
	dc->target = min(dc->target, dc->line);
	dc->rate = (dc->rate + dc->target) / 2;
}

/* Apply alpha's decay and the timer's stages of the time since the last call. */
static void dcqcn_age(struct dcqcn *dc, u64 now)
{
	u64 alpha_ns = dcqcn.alpha_us * (u64)NSEC_PER_USEC;
	u64 timer_ns = dcqcn.timer_us * (u64)NSEC_PER_USEC;
	int n;

	for (n = 0; n < DCQCN_STAGES_MAX && now - dc->alpha_at >= alpha_ns; n++) {
		dc->alpha -= dc->alpha >> dcqcn.g_shift;
		dc->alpha_at += alpha_ns;
	}
	for (n = 0; n < DCQCN_STAGES_MAX && now - dc->stage_at >= timer_ns; n++) {
		dc->timer = min(dc->timer + 1, U16_MAX - 1);
		dc->stage_at += timer_ns;
		dcqcn_stage(dc);
	}
	if (now - dc->alpha_at >= alpha_ns)
		dc->alpha_at = now;
	if (now - dc->stage_at >= timer_ns)
		dc->stage_at = now;
}

/* A congestion notification has arrived. */
static void dcqcn_cut(struct dcqcn *dc, u64 now)
{
	dcqcn_age(dc, now);
	dc->target = dc->rate;
	dc->alpha += (DCQCN_ONE - dc->alpha) >> dcqcn.g_shift;
	dc->alpha_at = now;
	dc->rate -= (dc->rate >> (DCQCN_SHIFT + 1)) * dc->alpha;
	dc->rate = max(dc->rate, dcqcn.min_mbit * DCQCN_MBIT);
	dcqcn_begin_stages(dc, now);
}

/* Count the bytes of a packet that is sent towards the stages by bytes. */
static void dcqcn_count(struct dcqcn *dc, u32 bytes)
{
	if (bytes < dc->left) {
		dc->left -= bytes;
		return;
	}
	dc->left = dcqcn.byte_kb * 1000;
	dc->bytes = min(dc->bytes + 1, U16_MAX - 1);
	dcqcn_stage(dc);
}

static u64 dcqcn_line_rate(struct ndp_sock *np)
{
	u64 rate = NDP_RATE_DEFAULT;
	struct dst_entry *dst;

	rcu_read_lock();
	dst = rcu_dereference(np->peer->path[0].dst);
	if (dst)
		rate = ndp_dev_rate(sock_net(ndp_to_sk(np)), dst->dev);
	rcu_read_unlock();
	return max_t(u64, rate, dcqcn.min_mbit * DCQCN_MBIT);
}

static void dcqcn_init(struct ndp_sock *np, u32 start)
{
	struct dcqcn *dc = ndp_transport_priv(np);
	u64 now = ktime_get_ns();

	*dc = (struct dcqcn) {
		.alpha = DCQCN_ONE / 2,
		.alpha_at = now,
		.seq = np->tx_seq,
		.behind = NDP_MAX_WINDOW,
		.path = reciprocal_scale(get_random_u32(), np->peer->n),
	};
	dc->line = dcqcn_line_rate(np);
	dc->rate = dc->line;
	dc->target = dc->line;
	dcqcn_begin_stages(dc, now);
}

/* How often was the lowest missing packet sent again? */
static u8 dcqcn_tries(const struct ndp_sock *np, const struct dcqcn *dc)
{
	return dc->hole == np->snd_una ? dc->tries : 0;
}

/* May a packet be sent again?  The lowest missing one after @hole_at, others within @behind. */
static bool dcqcn_may_resend(const struct ndp_sock *np, const struct dcqcn *dc, u32 psn)
{
	if (psn == np->snd_una)
		return !dcqcn_tries(np, dc) || ktime_get_ns() >= dc->hole_at;
	return np->flight_pkts <= dc->behind;
}

/* Nothing is taken after a missing packet, so that one is sent first, then all in order. */
static bool dcqcn_may_send(const struct ndp_sock *np, enum ndp_send what, u32 len)
{
	const struct dcqcn *dc = ndp_transport_priv(np);
	u32 psn;

	if (what != NDP_SEND_EMPTY && dc->next > ktime_get_ns() + DCQCN_AHEAD)
		return false;
	switch (what) {
	case NDP_SEND_LOST:
		return dcqcn_may_resend(np, dc, ndp_tx_cb(ndp_tx_first(&np->lost))->psn);
	case NDP_SEND_NACKED:
		psn = ndp_tx_cb(ndp_rtx_first(np))->psn;
		return psn - np->snd_una <= np->flight_pkts && dcqcn_may_resend(np, dc, psn);
	case NDP_SEND_NEW:
		return !np->rtx_pkts;
	default:
		return true;
	}
}

/* Set the timer to when a waiting packet may be sent. */
static void dcqcn_set_timer(struct ndp_sock *np, const struct dcqcn *dc, u64 now)
{
	u64 at = U64_MAX;

	if (dc->next > now + DCQCN_AHEAD)
		at = dc->next - DCQCN_AHEAD;
	if (dcqcn_tries(np, dc) && dc->hole_at > now)
		at = min(at, dc->hole_at);
	if (at != U64_MAX)
		np->transport_at = at;
}

static void dcqcn_timer(struct ndp_sock *np)
{
	dcqcn_set_timer(np, ndp_transport_priv(np), ktime_get_ns());
}

/* Each retransmission of the lowest missing packet doubles the time until the next one. */
static void dcqcn_sent(struct ndp_sock *np, struct ndp_tx_cb *cb, enum ndp_send what, u32 len)
{
	struct dcqcn *dc = ndp_transport_priv(np);
	u64 wait, now = ktime_get_ns();

	if (cb->psn != np->snd_una || (what != NDP_SEND_LOST && what != NDP_SEND_NACKED))
		return;
	wait = ndp_srtt(np) ?: READ_ONCE(np->peer->rto_ns);
	wait <<= min_t(u8, dcqcn_tries(np, dc), DCQCN_DOUBLINGS);
	dc->tries = min(dcqcn_tries(np, dc) + 1, U8_MAX);
	dc->hole = cb->psn;
	dc->hole_at = now + min(wait, NDP_RTO_MAX);
	dcqcn_set_timer(np, dc, now);
}

static u16 dcqcn_pick_path(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	const struct dcqcn *dc = ndp_transport_priv(np);

	return dc->path;
}

static u64 dcqcn_not_before(struct ndp_sock *np, u32 len)
{
	u32 bytes = len + ndp_outer_len(np) + NDP_HDR_LEN + NDP_ETH_OVERHEAD;
	struct dcqcn *dc = ndp_transport_priv(np);
	u64 at, now = ktime_get_ns();

	dcqcn_age(dc, now);
	dcqcn_count(dc, bytes);
	at = clamp(dc->next, now, now + DCQCN_AHEAD);
	dc->next = at + div64_u64(8ULL * NSEC_PER_SEC * bytes, dc->rate);
	dcqcn_set_timer(np, dc, now);
	return at;
}

/* Note which packet is being answered. */
static void dcqcn_note(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	struct dcqcn *dc = ndp_transport_priv(np);

	dc->answered = cb->tx_seq;
	dc->again = cb->rtx || cb->state == NDP_TX_LOST;
}

static void dcqcn_acked(struct ndp_sock *np, const struct ndp_tx_cb *cb, bool cumulative)
{
	struct dcqcn *dc = ndp_transport_priv(np);

	dc->behind = min(dc->behind + 1, NDP_MAX_WINDOW);
	if (!cumulative)
		dcqcn_note(np, cb);
}

static void dcqcn_nacked(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	struct dcqcn *dc = ndp_transport_priv(np);

	if (cb->rtx)
		dc->behind = 0;
	dcqcn_note(np, cb);
}

/*
 * On one path packets do not overtake: one that left before an answered packet is lost.  An
 * answer to an earlier transmission than the last says nothing about packets that left between
 * these two.
 */
static void dcqcn_answered(struct ndp_sock *np, const struct ndphdr *nh, bool news)
{
	struct dcqcn *dc = ndp_transport_priv(np);

	if (!news || (dc->again && !(nh->flags & NDP_F_RTX)))
		return;
	if ((s32)(dc->answered - dc->seq) > 0)
		dc->seq = dc->answered;
	while (ndp_tx_lose(np, dc->seq))
		;
}

static void dcqcn_signal(struct ndp_sock *np, u16 kind, u32 value)
{
	if (kind == DCQCN_CNP)
		dcqcn_cut(ndp_transport_priv(np), ktime_get_ns());
}

static void dcqcn_marked(struct ndp_sock *np)
{
	struct dcqcn *dc = ndp_transport_priv(np);
	u64 now = ktime_get_ns();

	if (dc->cnp_at && now - dc->cnp_at < dcqcn.cnp_us * (u64)NSEC_PER_USEC)
		return;
	dc->cnp_at = now;
	ndp_send_signal(np, DCQCN_CNP, 0);
}

static bool dcqcn_takes(const struct ndp_sock *np, const struct ndphdr *nh)
{
	return ntohl(nh->psn) == np->rcv_nxt;
}

static void dcqcn_info(struct ndp_sock *np, struct ndp_info *info)
{
	const struct dcqcn *dc = ndp_transport_priv(np);

	info->pull_rate_bps = dc->rate;
}

static const struct ndp_transport dcqcn_transport = {
	.name		= "dcqcn",
	.owner		= THIS_MODULE,
	.id		= NDP_TRANSPORT_ID_DCQCN,
	.ecn		= true,
	.echo		= true,
	.priv_size	= sizeof(struct dcqcn),
	.init		= dcqcn_init,
	.may_send	= dcqcn_may_send,
	.pick_path	= dcqcn_pick_path,
	.not_before	= dcqcn_not_before,
	.sent		= dcqcn_sent,
	.acked		= dcqcn_acked,
	.nacked		= dcqcn_nacked,
	.answered	= dcqcn_answered,
	.timer		= dcqcn_timer,
	.signal		= dcqcn_signal,
	.takes		= dcqcn_takes,
	.marked		= dcqcn_marked,
	.info		= dcqcn_info,
};

/* Parameters that were not set take the preset's values. */
static int __init dcqcn_settle(void)
{
	const struct dcqcn_preset *p = &dcqcn_presets[preset];

	dcqcn.cnp_us = dcqcn.cnp_us ?: p->cnp_us;
	dcqcn.alpha_us = dcqcn.alpha_us ?: p->alpha_us;
	dcqcn.timer_us = dcqcn.timer_us ?: p->timer_us;
	dcqcn.byte_kb = dcqcn.byte_kb ?: p->byte_kb;
	dcqcn.rai_mbit = dcqcn.rai_mbit ?: p->rai_mbit;
	dcqcn.rhai_mbit = dcqcn.rhai_mbit ?: p->rhai_mbit;
	dcqcn.g_shift = dcqcn.g_shift ?: p->g_shift;
	dcqcn.min_mbit = dcqcn.min_mbit ?: p->min_mbit;
	if (dcqcn.g_shift <= DCQCN_SHIFT && dcqcn.byte_kb <= U32_MAX / 1000 &&
	    dcqcn.rhai_mbit <= USEC_PER_SEC && dcqcn.rai_mbit <= USEC_PER_SEC)
		return 0;
	pr_err("ndp_dcqcn: g_shift is at most %d, byte_kb at most %u, increases at most 1 Tb/s\n",
	       DCQCN_SHIFT, U32_MAX / 1000);
	return -EINVAL;
}

static int __init dcqcn_module_init(void)
{
	int err;

	if (preset >= ARRAY_SIZE(dcqcn_presets)) {
		pr_err("ndp_dcqcn: there are presets 0 to %zu\n", ARRAY_SIZE(dcqcn_presets) - 1);
		return -EINVAL;
	}
	err = dcqcn_settle();
	return err ?: ndp_transport_register(&dcqcn_transport);
}

static void __exit dcqcn_module_exit(void)
{
	ndp_transport_unregister(&dcqcn_transport);
}

module_init(dcqcn_module_init);
module_exit(dcqcn_module_exit);

MODULE_DESCRIPTION("AF_NDP transport DCQCN: a rate on one path");
MODULE_LICENSE("GPL");
MODULE_VERSION(PACKAGE_VERSION);
MODULE_ALIAS("ndp-transport-dcqcn");
