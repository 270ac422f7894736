// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: options, and the values derived from them.
 *
 * Headroom (IEEE 802.1Q, annex N, computes it alike): the bytes that arrive from the one that
 * crosses the threshold to the last one that the peer sends before it pauses:
 *
 *   our transmitter is busy with a frame		1 frame
 *   the pause frame itself				64 bytes and its gaps
 *   the cable						delay x rate
 *   the peer's transmitter is busy with a frame	1 frame
 *   frames that its driver holds already		ring
 *   the cable again					delay x rate
 *
 * A frame is the largest that the MTU allows, with a VLAN tag and its gaps.  A NIC that obeys
 * pause frames in hardware has a ring of 0.  Where software obeys, the ring is what the driver
 * has taken from the qdisc: byte queue limits bound it.  The default is two frames, one in the
 * driver and one that the core keeps because the driver had no room.  A configured headroom must
 * not be below the sum for a ring of 0: no peer can do with less.
 *
 * XOFF is at 97 KB by default, and XON at five sixths of it, as in the thesis of D.
 * Crisan (table 2.1: 97 and 80).  With a dynamic threshold XON is two frames below it.
 *
 * Quanta of XOFF.  The peer resumes by itself when they have expired, so a pause ends even if its
 * XON is lost, but the sender must repeat XOFF as long as the pause is to last.  The default is
 * 10 ms, or 65535 quanta if that is less (from 3.4 Gb/s on).
 *
 * A quantum is 512 bits at the speed of the link, and the peer sends at that speed, whatever rate
 * this port is limited to.  So quanta and headroom follow from the device's speed; they follow
 * from the rate only if the device reports no speed, or a lower one.
 */
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/math64.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include "attr.h"
#include "sch_cee.h"

#define CEE_XOFF_DEFAULT	97000
#define CEE_WEIGHT_MAX		100
#define CEE_ALPHA_MAX		(64 * TC_CEE_ALPHA_ONE)
#define CEE_BUFFER_MIN		(64U << 10)
#define CEE_BUFFER_MAX		(2U << 30)
#define CEE_CABLE_MAX		(10 * NSEC_PER_MSEC)
#define CEE_RING_MAX		(64U << 20)
#define CEE_WATCHDOG_MAX	(3600 * MSEC_PER_SEC)
#define CEE_RATE_MIN		125ULL			/* 1 kbit/s */
#define CEE_RATE_MAX		1250000000000ULL	/* 10 Tbit/s */
#define CEE_SPEED_DEFAULT	1250000000ULL		/* 10 Gb/s */
#define CEE_QUANTUM_BITS	512
#define CEE_XOFF_NS		(10 * NSEC_PER_MSEC)
#define CEE_LIMIT_FRAMES	200
#define CEE_QEQ_MIN		1500
#define CEE_FLOWS_MAX		256

#define CEE_MSG(text)		KBUILD_MODNAME ": " text

static int cee_refuse(struct netlink_ext_ack *extack, const char *text)
{
	if (extack)
		extack->_msg = text;
	return -EINVAL;
}

static const struct nla_policy cee_policy[TCA_CEE_MAX + 1] = {
	[TCA_CEE_DOMAIN]	= { .type = NLA_NUL_STRING, .len = TC_CEE_DOMAIN_LEN - 1 },
	[TCA_CEE_BUFFER]	= { .type = NLA_U32 },
	[TCA_CEE_CLASSIFY]	= { .type = NLA_U8 },
	[TCA_CEE_DSCP]		= NLA_POLICY_EXACT_LEN(TC_CEE_DSCPS),
	[TCA_CEE_TRUST]		= { .type = NLA_U8 },
	[TCA_CEE_RATE64]	= { .type = NLA_U64 },
	[TCA_CEE_CABLE]		= { .type = NLA_U32 },
	[TCA_CEE_RING]		= { .type = NLA_U32 },
	[TCA_CEE_QUANTA]	= { .type = NLA_U16 },
	[TCA_CEE_WATCHDOG]	= { .type = NLA_U32 },
	[TCA_CEE_WATCHDOG_ACTION] = { .type = NLA_U8 },
	[TCA_CEE_PRIO]		= { .type = NLA_NESTED },
	[TCA_CEE_PAUSE]		= { .type = NLA_U8 },
};

static const struct nla_policy cee_prio_policy[TCA_CEE_PRIO_MAX + 1] = {
	[TCA_CEE_PRIO_MASK]	= { .type = NLA_U8 },
	[TCA_CEE_PRIO_LOSSLESS]	= { .type = NLA_U8 },
	[TCA_CEE_PRIO_WEIGHT]	= { .type = NLA_U8 },
	[TCA_CEE_PRIO_XOFF]	= { .type = NLA_U32 },
	[TCA_CEE_PRIO_XON]	= { .type = NLA_U32 },
	[TCA_CEE_PRIO_ALPHA]	= { .type = NLA_U32 },
	[TCA_CEE_PRIO_HEADROOM]	= { .type = NLA_U32 },
	[TCA_CEE_PRIO_LIMIT]	= { .type = NLA_U32 },
	[TCA_CEE_PRIO_ECN]	= { .type = NLA_U8 },
	[TCA_CEE_PRIO_KMIN]	= { .type = NLA_U32 },
	[TCA_CEE_PRIO_KMAX]	= { .type = NLA_U32 },
	[TCA_CEE_PRIO_PMAX]	= { .type = NLA_U32 },
	[TCA_CEE_PRIO_QCN]	= { .type = NLA_U8 },
	[TCA_CEE_PRIO_QEQ]	= { .type = NLA_U32 },
	[TCA_CEE_PRIO_LIMITER]	= { .type = NLA_U8 },
	[TCA_CEE_PRIO_FLOWS]	= { .type = NLA_U32 },
};

/**
 * cee_config_defaults() - the options of a new port
 * @cfg:	set to the defaults
 */
void cee_config_defaults(struct cee_config *cfg)
{
	int i;

	*cfg = (struct cee_config) {
		.classify = TCA_CEE_CLASSIFY_DSCP,
		.trust = true,
		.action = TCA_CEE_ACTION_DRAIN,
		.watchdog = 200,
		.cable = NSEC_PER_USEC,
		.ring = TC_CEE_RING_DEFAULT,
	};
	for (i = 0; i < TC_CEE_DSCPS; i++)
		cfg->dscp[i] = i >> 3;
	for (i = 0; i < CEE_PRIOS; i++) {
		cfg->prio[i].weight = 1;
		cfg->prio[i].pmax = TC_CEE_PMAX_ONE;
		cfg->prio[i].flows = 1;
	}
	cfg->prio[3].lossless = true;
}

static void cee_set_bool(bool *val, const struct nlattr *attr)
{
	if (attr)
		*val = nla_get_u8(attr);
}

static void cee_read_prio(struct cee_prio_config *p, struct nlattr *tb[])
{
	cee_set_bool(&p->lossless, tb[TCA_CEE_PRIO_LOSSLESS]);
	sched_set_u8(&p->weight, tb[TCA_CEE_PRIO_WEIGHT]);
	sched_set_u8(&p->ecn, tb[TCA_CEE_PRIO_ECN]);
	sched_set_u32(&p->xoff, tb[TCA_CEE_PRIO_XOFF]);
	sched_set_u32(&p->xon, tb[TCA_CEE_PRIO_XON]);
	sched_set_u32(&p->alpha, tb[TCA_CEE_PRIO_ALPHA]);
	sched_set_u32(&p->headroom, tb[TCA_CEE_PRIO_HEADROOM]);
	sched_set_u32(&p->limit, tb[TCA_CEE_PRIO_LIMIT]);
	sched_set_u32(&p->kmin, tb[TCA_CEE_PRIO_KMIN]);
	sched_set_u32(&p->kmax, tb[TCA_CEE_PRIO_KMAX]);
	sched_set_u32(&p->pmax, tb[TCA_CEE_PRIO_PMAX]);
	sched_set_u8(&p->qcn, tb[TCA_CEE_PRIO_QCN]);
	sched_set_u32(&p->qeq, tb[TCA_CEE_PRIO_QEQ]);
	sched_set_u8(&p->limiter, tb[TCA_CEE_PRIO_LIMITER]);
	sched_set_u32(&p->flows, tb[TCA_CEE_PRIO_FLOWS]);
}

static int cee_parse_prio(struct cee_config *cfg, const struct nlattr *attr,
			  struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_CEE_PRIO_MAX + 1];
	u8 mask;
	int i, err;

	err = nla_parse_nested(tb, TCA_CEE_PRIO_MAX, attr, cee_prio_policy, extack);
	if (err < 0)
		return err;
	if (!tb[TCA_CEE_PRIO_MASK]) {
		NL_SET_ERR_MSG_MOD(extack, "which priorities?");
		return -EINVAL;
	}
	mask = nla_get_u8(tb[TCA_CEE_PRIO_MASK]);
	for (i = 0; i < CEE_PRIOS; i++)
		if (mask & BIT(i))
			cee_read_prio(&cfg->prio[i], tb);
	return 0;
}

static int cee_parse_dscp(struct cee_config *cfg, const struct nlattr *attr,
			  struct netlink_ext_ack *extack)
{
	const u8 *map = nla_data(attr);
	int i;

	for (i = 0; i < TC_CEE_DSCPS; i++) {
		if (map[i] == TC_CEE_DSCP_KEEP)
			continue;
		if (map[i] >= CEE_PRIOS) {
			NL_SET_ERR_MSG_MOD(extack, "a priority must be 0 to 7");
			return -EINVAL;
		}
		cfg->dscp[i] = map[i];
	}
	return 0;
}

static void cee_read(struct cee_config *cfg, struct nlattr *tb[])
{
	if (tb[TCA_CEE_DOMAIN])
		nla_strscpy(cfg->domain, tb[TCA_CEE_DOMAIN], sizeof(cfg->domain));
	cfg->buffer = 0;
	sched_set_u32(&cfg->buffer, tb[TCA_CEE_BUFFER]);
	sched_set_u8(&cfg->classify, tb[TCA_CEE_CLASSIFY]);
	cee_set_bool(&cfg->trust, tb[TCA_CEE_TRUST]);
	sched_set_u8(&cfg->pause, tb[TCA_CEE_PAUSE]);
	if (tb[TCA_CEE_RATE64])
		cfg->rate = nla_get_u64(tb[TCA_CEE_RATE64]);
	sched_set_u32(&cfg->cable, tb[TCA_CEE_CABLE]);
	sched_set_u32(&cfg->ring, tb[TCA_CEE_RING]);
	if (tb[TCA_CEE_QUANTA])
		cfg->quanta = nla_get_u16(tb[TCA_CEE_QUANTA]);
	sched_set_u32(&cfg->watchdog, tb[TCA_CEE_WATCHDOG]);
	sched_set_u8(&cfg->action, tb[TCA_CEE_WATCHDOG_ACTION]);
}

static int cee_check_port(const struct cee_config *cfg, struct netlink_ext_ack *extack)
{
	const char *bad = NULL;

	if (cfg->classify > TCA_CEE_CLASSIFY_SKB)
		bad = CEE_MSG("no such way to classify");
	else if (cfg->pause > TCA_CEE_PAUSE_GLOBAL)
		bad = CEE_MSG("a peer is paused by PFC or as a whole");
	else if (cfg->action > TCA_CEE_ACTION_DROP)
		bad = CEE_MSG("the watchdog either drains or drops");
	else if (cfg->buffer && (cfg->buffer < CEE_BUFFER_MIN || cfg->buffer > CEE_BUFFER_MAX))
		bad = CEE_MSG("buffer must be 64 KiB to 2 GiB");
	else if (cfg->rate && (cfg->rate < CEE_RATE_MIN || cfg->rate > CEE_RATE_MAX))
		bad = CEE_MSG("rate must be 1kbit to 10tbit");
	else if (cfg->cable > CEE_CABLE_MAX)
		bad = CEE_MSG("cable must be 10ms at most");
	else if (cfg->ring > CEE_RING_MAX && cfg->ring != TC_CEE_RING_DEFAULT)
		bad = CEE_MSG("ring must be 64 MiB at most");
	else if (cfg->watchdog > CEE_WATCHDOG_MAX)
		bad = CEE_MSG("watchdog must be an hour at most");
	return bad ? cee_refuse(extack, bad) : 0;
}

static int cee_check_prio(const struct cee_prio_config *p, struct netlink_ext_ack *extack)
{
	const char *bad = NULL;

	if (p->weight > CEE_WEIGHT_MAX)
		bad = CEE_MSG("a weight must be 0 (strict) to 100");
	else if (p->ecn > TCA_CEE_ECN_NP)
		bad = CEE_MSG("no such way to mark");
	else if (p->alpha > CEE_ALPHA_MAX)
		bad = CEE_MSG("alpha must be 64 at most");
	else if (p->pmax > TC_CEE_PMAX_ONE)
		bad = CEE_MSG("a probability must be 1 at most");
	else if (p->qcn > TCA_CEE_QCN_THESIS)
		bad = CEE_MSG("no such constants of QCN");
	else if (p->limiter > TCA_CEE_LIMITER_FLOW)
		bad = CEE_MSG("a limiter is one for the priority, or by flow");
	else if (!p->flows || p->flows > CEE_FLOWS_MAX)
		bad = CEE_MSG("flows must be 1 to 256");
	else if (p->limiter == TCA_CEE_LIMITER_FLOW && p->flows == 1)
		bad = CEE_MSG("a limiter by flow needs flows");
	else if (p->limiter && !p->qcn)
		bad = CEE_MSG("a limiter needs qcn");
	else if (p->qeq && (p->qeq < CEE_QEQ_MIN || p->qeq > CEE_BUFFER_MAX))
		bad = CEE_MSG("qeq must be 1500 bytes to 2 GiB");
	else if (p->kmin > p->kmax)
		bad = CEE_MSG("max must not be below min");
	else if (max(p->xoff, p->headroom) > CEE_BUFFER_MAX || p->limit > CEE_BUFFER_MAX)
		bad = CEE_MSG("no size may be beyond 2 GiB");
	else if (p->xon && p->alpha)
		bad = CEE_MSG("with alpha, XON follows from it");
	return bad ? cee_refuse(extack, bad) : 0;
}

/**
 * cee_config_parse() - read TCA_OPTIONS
 * @cfg:	defaults or present options; changed
 * @opt:	attribute, or NULL
 * @extack:	set on error
 *
 * Return: 0, or an error if a value is invalid by itself.
 */
int cee_config_parse(struct cee_config *cfg, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_CEE_MAX + 1] = {};
	struct nlattr *attr;
	int i, rem, err;

	if (opt) {
		err = nla_parse_nested(tb, TCA_CEE_MAX, opt, cee_policy, extack);
		if (err < 0)
			return err;
	}
	cee_read(cfg, tb);
	if (tb[TCA_CEE_DSCP]) {
		err = cee_parse_dscp(cfg, tb[TCA_CEE_DSCP], extack);
		if (err)
			return err;
	}
	if (tb[TCA_CEE_PRIO]) {
		nla_for_each_nested(attr, opt, rem) {
			if (nla_type(attr) != TCA_CEE_PRIO)
				continue;
			err = cee_parse_prio(cfg, attr, extack);
			if (err)
				return err;
		}
	}
	err = cee_check_port(cfg, extack);
	for (i = 0; i < CEE_PRIOS && !err; i++)
		err = cee_check_prio(&cfg->prio[i], extack);
	return err;
}

/* Bytes that a link carries in @ns.  The limits of speed and cable keep the product within 64
 * bits; a headroom that does not fit into the buffer is refused later.
 */
static u32 cee_bytes_in(u64 speed, u32 ns)
{
	return min_t(u64, div_u64(speed * ns, NSEC_PER_SEC), CEE_BUFFER_MAX / 4);
}

/**
 * cee_headroom() - bytes that may arrive after XOFF has become due
 * @cfg:	options, with speed and frame
 * @ring:	bytes that the peer's driver holds
 *
 * Return: bytes; see the sum at the head of this file.
 */
u32 cee_headroom(const struct cee_config *cfg, u32 ring)
{
	return 2 * (cfg->frame + CEE_WIRE_EXTRA) + ETH_ZLEN + CEE_WIRE_EXTRA +
	       2 * cee_bytes_in(cfg->speed, cfg->cable) + ring;
}

/**
 * cee_quanta_ns() - how long a pause lasts
 * @cfg:	options, with speed
 * @quanta:	quanta of a pause frame
 *
 * Return: ns.
 */
u64 cee_quanta_ns(const struct cee_config *cfg, u16 quanta)
{
	return div64_u64((u64)quanta * (CEE_QUANTUM_BITS / BITS_PER_BYTE) * NSEC_PER_SEC,
			 cfg->speed);
}

static u32 cee_ring(const struct cee_config *cfg)
{
	return cfg->ring == TC_CEE_RING_DEFAULT ? 2 * (cfg->frame + CEE_WIRE_EXTRA) : cfg->ring;
}

static u16 cee_default_quanta(const struct cee_config *cfg)
{
	return clamp_t(u64, div64_u64(CEE_XOFF_NS, max(cee_quanta_ns(cfg, 1), 1ULL)),
		       1, U16_MAX);
}

/* Bytes per round: one frame for the smallest weight, in proportion for larger ones. */
static int cee_quantum(const struct cee_config *cfg, u8 weight)
{
	u8 least = CEE_WEIGHT_MAX;
	int i;

	for (i = 0; i < CEE_PRIOS; i++)
		if (cfg->prio[i].weight)
			least = min(least, cfg->prio[i].weight);
	return DIV_ROUND_UP(cfg->frame * weight, least);
}

/* Defaults of IEEE8021-CN-MIB, and those of the thesis (table 2.1) */
static void cee_derive_qcn(struct cee_prio_config *p)
{
	bool thesis = p->qcn == TCA_CEE_QCN_THESIS;

	p->eff_qeq = p->qeq ?: (thesis ? 66000 : 26000);
	p->min_rate = (thesis ? 100000 : 5000000) / BITS_PER_BYTE;
}

static void cee_derive_prio(struct cee_config *cfg, struct cee_prio_config *p)
{
	p->eff_xoff = p->xoff ?: max_t(u32, CEE_XOFF_DEFAULT, 2 * cfg->frame);
	if (p->alpha)
		p->eff_gap = 2 * cfg->frame;
	else if (p->xon)
		p->eff_gap = p->eff_xoff - min(p->xon, p->eff_xoff);
	else
		p->eff_gap = p->eff_xoff / 6;
	p->eff_headroom = p->headroom ?: cee_headroom(cfg, cee_ring(cfg));
	p->eff_limit = p->limit ?: CEE_LIMIT_FRAMES * cfg->frame;
	p->quantum = cee_quantum(cfg, p->weight);
	cee_derive_qcn(p);
}

/**
 * cee_config_derive() - compute what follows from the options and from the device
 * @cfg:	options
 * @mtu:	MTU of the device
 * @speed:	speed of the device, bytes per second; 0 if unknown
 */
void cee_config_derive(struct cee_config *cfg, unsigned int mtu, u64 speed)
{
	int i;

	cfg->speed = clamp(max(cfg->rate, speed) ?: CEE_SPEED_DEFAULT, CEE_RATE_MIN, CEE_RATE_MAX);
	cfg->frame = min_t(unsigned int, mtu, U16_MAX) + ETH_HLEN + VLAN_HLEN;
	cfg->eff_quanta = cfg->quanta ?: cee_default_quanta(cfg);
	cfg->lossless = 0;
	cfg->qcn = 0;
	for (i = 0; i < CEE_PRIOS; i++) {
		cee_derive_prio(cfg, &cfg->prio[i]);
		cfg->lossless |= cfg->prio[i].lossless << i;
		cfg->qcn |= !!cfg->prio[i].qcn << i;
	}
}

/**
 * cee_reserve() - headroom to reserve for a port
 * @cfg:	options, derived
 *
 * Return: bytes, summed over its lossless priorities; at most U32_MAX.
 */
u32 cee_reserve(const struct cee_config *cfg)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < CEE_PRIOS; i++)
		if (cfg->prio[i].lossless)
			sum += cfg->prio[i].eff_headroom;
	return min_t(u64, sum, U32_MAX);
}

static int cee_check_threshold(const struct cee_config *cfg, const struct cee_prio_config *p,
			       u64 buffer, struct netlink_ext_ack *extack)
{
	const char *bad = NULL;

	if (p->headroom && p->headroom < cee_headroom(cfg, 0))
		bad = CEE_MSG("headroom is less than the cable needs");
	else if (!p->alpha && p->xon >= p->eff_xoff)
		bad = CEE_MSG("XON must be below XOFF");
	else if (!p->alpha && (u64)p->eff_xoff + p->eff_headroom > buffer)
		bad = CEE_MSG("XOFF and headroom are more than the buffer");
	else if (p->eff_headroom > buffer)
		bad = CEE_MSG("headroom is more than the buffer");
	return bad ? cee_refuse(extack, bad) : 0;
}

/* XOFF is repeated after half of the pause, and no timer may run faster than the minimum. */
static int cee_check_quanta(const struct cee_config *cfg, struct netlink_ext_ack *extack)
{
	if (!cfg->quanta || cee_quanta_ns(cfg, cfg->quanta) >= 2 * CEE_REFRESH_MIN_NS)
		return 0;
	return cee_refuse(extack, CEE_MSG("quanta must last 40 us at this rate"));
}

/**
 * cee_config_check() - do the options fit each other and the buffer?
 * @cfg:	options, derived
 * @buffer:	bytes that the domain has left for this port
 * @extack:	set on error
 *
 * Return: 0 or -EINVAL.
 */
int cee_config_check(const struct cee_config *cfg, u64 buffer, struct netlink_ext_ack *extack)
{
	int i, err = cee_check_quanta(cfg, extack);

	for (i = 0; i < CEE_PRIOS && !err; i++)
		if (cfg->prio[i].lossless)
			err = cee_check_threshold(cfg, &cfg->prio[i], buffer, extack);
	if (!err && cee_reserve(cfg) > buffer) {
		NL_SET_ERR_MSG_MOD(extack, "the headroom of all ports is more than the buffer");
		err = -EINVAL;
	}
	return err;
}

static int cee_dump_prio(const struct cee_prio_config *p, int prio, struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_CEE_PRIO);

	if (!nest ||
	    nla_put_u8(skb, TCA_CEE_PRIO_MASK, BIT(prio)) ||
	    nla_put_u8(skb, TCA_CEE_PRIO_LOSSLESS, p->lossless) ||
	    nla_put_u8(skb, TCA_CEE_PRIO_WEIGHT, p->weight) ||
	    nla_put_u32(skb, TCA_CEE_PRIO_XOFF, p->eff_xoff) ||
	    nla_put_u32(skb, TCA_CEE_PRIO_XON,
			p->alpha ? 0 : p->eff_xoff - p->eff_gap) ||
	    nla_put_u32(skb, TCA_CEE_PRIO_ALPHA, p->alpha) ||
	    nla_put_u32(skb, TCA_CEE_PRIO_HEADROOM, p->eff_headroom) ||
	    nla_put_u32(skb, TCA_CEE_PRIO_LIMIT, p->eff_limit) ||
	    nla_put_u8(skb, TCA_CEE_PRIO_ECN, p->ecn) ||
	    nla_put_u32(skb, TCA_CEE_PRIO_KMIN, p->kmin) ||
	    nla_put_u32(skb, TCA_CEE_PRIO_KMAX, p->kmax) ||
	    nla_put_u32(skb, TCA_CEE_PRIO_PMAX, p->pmax) ||
	    nla_put_u8(skb, TCA_CEE_PRIO_QCN, p->qcn) ||
	    nla_put_u32(skb, TCA_CEE_PRIO_QEQ, p->eff_qeq) ||
	    nla_put_u8(skb, TCA_CEE_PRIO_LIMITER, p->limiter) ||
	    nla_put_u32(skb, TCA_CEE_PRIO_FLOWS, p->flows))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int cee_dump_port(const struct cee_config *cfg, u64 buffer, struct sk_buff *skb)
{
	return nla_put_string(skb, TCA_CEE_DOMAIN, cfg->domain) ||
	       nla_put_u32(skb, TCA_CEE_BUFFER, buffer) ||
	       nla_put_u8(skb, TCA_CEE_CLASSIFY, cfg->classify) ||
	       nla_put(skb, TCA_CEE_DSCP, sizeof(cfg->dscp), cfg->dscp) ||
	       nla_put_u8(skb, TCA_CEE_TRUST, cfg->trust) ||
	       nla_put_u8(skb, TCA_CEE_PAUSE, cfg->pause) ||
	       nla_put_u64_64bit(skb, TCA_CEE_RATE64, cfg->rate, TCA_CEE_PAD) ||
	       nla_put_u32(skb, TCA_CEE_CABLE, cfg->cable) ||
	       nla_put_u32(skb, TCA_CEE_RING, cee_ring(cfg)) ||
	       nla_put_u16(skb, TCA_CEE_QUANTA, cfg->eff_quanta) ||
	       nla_put_u32(skb, TCA_CEE_WATCHDOG, cfg->watchdog) ||
	       nla_put_u8(skb, TCA_CEE_WATCHDOG_ACTION, cfg->action);
}

/**
 * cee_config_dump() - write TCA_OPTIONS
 * @cfg:	options, derived
 * @buffer:	bytes of the domain's buffer
 * @skb:	message
 *
 * Return: length or -EMSGSIZE.
 */
int cee_config_dump(const struct cee_config *cfg, u64 buffer, struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	if (cee_dump_port(cfg, buffer, skb))
		goto cancel;
	for (i = 0; i < CEE_PRIOS; i++)
		if (cee_dump_prio(&cfg->prio[i], i, skb))
			goto cancel;
	return nla_nest_end(skb, nest);
cancel:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}
