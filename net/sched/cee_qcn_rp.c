// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: the reaction point of QCN (IEEE 802.1Qau, 802.1Q clause 32; thesis of D. Crisan,
 * table 2.1).
 *
 * A rate limiter is created by a message of a congestion point and is removed when it has
 * recovered the speed of the port.  There is one for the priority, or 64 for its flows, by
 * hash.
 *
 *	message		the rate is cut by feedback / 128, by half at most.  The old rate
 *			becomes the target if a stage has passed since the last cut (else the
 *			old target stays: "extra fast recovery").  Both stages restart at 0.
 *	150 KB sent	a stage of the byte counter
 *	15 ms passed	a stage of the timer; each with 15 % of jitter, and half as long
 *			from the sixth on
 *	at each stage	both at most 5: fast recovery, the target stays
 *			one beyond 5: the target rises by 5 Mb/s
 *			both beyond 5: by 50 Mb/s times how far the lower stage is beyond
 *			then the rate moves half of the way to the target.
 *			A target above ten times the rate at the first stage is cut to 1/8.
 *
 * The minimum rate is 5 Mb/s (qcn standard) or 100 kb/s (qcn thesis, table 2.1).  A limiter
 * whose flows were silent for a second is removed.
 *
 * Stages are not driven by timers: a limiter that is asked whether it may send first runs
 * the stages that have passed, and the qdisc's watchdog asks again when a packet or a stage
 * is due.  Bytes sent are a debt that shrinks at the rate, so a new rate takes effect at
 * once.
 *
 * Trust.  Any host in the same layer 2 network can send a message.  It is obeyed if it is
 * addressed to this device, well formed, and quotes a frame of a flow that was sent from
 * here lately: some 1024 flows are remembered, by a hash with a secret key, so that a
 * forger must see or guess addresses and ports of a live flow.  Up to four live flows share a
 * set without losing their messages.  "trust no" ignores all.
 *
 * Locks.  cee_reaction.lock, taken in dequeue under a root lock, and in reception.
 *
 * Not here: CN-tags that we add ourselves (the quoted frame identifies the flow as well, and
 * receivers without QCN would not know the tags).
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <net/flow_dissector.h>
#include "cee_qcn.h"
#include "sch_cee.h"

#define CEE_RP_THRESHOLD	5
#define CEE_RP_BYTES		150000
#define CEE_RP_TIME		(15 * (u64)NSEC_PER_MSEC)
#define CEE_RP_AI		(5000000 / BITS_PER_BYTE)
#define CEE_RP_HAI		(50000000 / BITS_PER_BYTE)
#define CEE_RP_SILENCE		((u64)NSEC_PER_SEC)
/* Bytes of credit that a limiter may accumulate, so that late timers cost no throughput */
#define CEE_RP_CREDIT		3000
#define CEE_RP_FB_ONE		128

/**
 * cee_rp_hash() - hash the flow of a frame
 * @net:	namespace
 * @data:	network header of the frame
 * @proto:	EtherType
 * @len:	bytes from the network header on
 *
 * Reads no more bytes than a CNM quotes, so that a frame and its quote have the same hash.
 * Packets without ports, such as ARP and ping replies, are not flows here: an unknown host
 * could have caused or guessed them.
 *
 * Return: hash, or 0 if the frame has no ports.
 */
u32 cee_rp_hash(const struct net *net, const void *data, __be16 proto, int len)
{
	struct flow_keys keys = {};

	len = min_t(int, len, CEE_CNM_MSDU - sizeof(proto));
	if (!__skb_flow_dissect(net, NULL, &flow_keys_dissector, &keys, data, proto, 0, len,
				FLOW_DISSECTOR_F_STOP_AT_ENCAP) || !keys.ports.ports)
		return 0;
	return flow_hash_from_keys(&keys);
}

/**
 * cee_reaction_new() - allocate the reaction points of a priority
 *
 * Return: reaction points, or NULL without memory.
 */
struct cee_reaction *cee_reaction_new(void)
{
	struct cee_reaction *r = kvzalloc(sizeof(*r), GFP_KERNEL);

	if (r)
		spin_lock_init(&r->lock);
	return r;
}

/**
 * cee_reaction_stop() - remove all rate limits
 * @r:		reaction points
 *
 * Context: any but hard interrupts.
 */
void cee_reaction_stop(struct cee_reaction *r)
{
	int i;

	spin_lock_bh(&r->lock);
	for (i = 0; i < CEE_RP_LIMITERS; i++)
		r->rp[i].rate = 0;
	WRITE_ONCE(r->active, 0);
	spin_unlock_bh(&r->lock);
}

static void cee_rp_free(struct cee_reaction *r, struct cee_rp *rp)
{
	rp->rate = 0;
	WRITE_ONCE(r->active, r->active - 1);
}

static u64 cee_rp_period(u32 stage, u64 period)
{
	return cee_jitter(stage >= CEE_RP_THRESHOLD ? period / 2 : period);
}

static u64 cee_rp_step(const struct cee_rp *rp)
{
	u32 low = min(rp->byte_stage, rp->time_stage);

	if (low > CEE_RP_THRESHOLD)
		return (u64)CEE_RP_HAI * (low - CEE_RP_THRESHOLD);
	return max(rp->byte_stage, rp->time_stage) > CEE_RP_THRESHOLD ? CEE_RP_AI : 0;
}

/* @stage has just begun.  Return: false if the rate has recovered to @most. */
static bool cee_rp_increase(struct cee_rp *rp, u32 stage, u64 most)
{
	if (stage == 1 && rp->target > 10 * rp->rate)
		rp->target /= 8;
	else
		rp->target += cee_rp_step(rp);
	rp->target = min(rp->target, most);
	/* Rounded up, or the rate would never reach the target. */
	rp->rate = min((rp->rate + rp->target + 1) / 2, most);
	return rp->rate < most;
}

/* Cut the rate: a CNM has arrived. */
static void cee_rp_cut(struct cee_rp *rp, u8 fb, u64 least, u64 most, u64 now)
{
	u64 cut;

	if (!rp->rate) {
		*rp = (struct cee_rp) { .rate = most, .target = most, .at = now, .last = now };
		rp->bytes = cee_rp_period(0, CEE_RP_BYTES);
	} else if (rp->byte_stage || rp->time_stage) {
		rp->target = rp->rate;
		rp->bytes = cee_rp_period(0, CEE_RP_BYTES);
	}
	rp->byte_stage = 0;
	rp->time_stage = 0;
	rp->timer = now + cee_rp_period(0, CEE_RP_TIME);
	cut = div_u64(rp->rate * fb, CEE_RP_FB_ONE);
	rp->rate = max(rp->rate - min(cut, rp->rate / 2), min(least, most));
}

/* Run the timer's stages up to now.  Return: false if the limiter is to be removed. */
static bool cee_rp_advance(struct cee_rp *rp, u64 most, u64 now)
{
	if (now > rp->last + CEE_RP_SILENCE)
		return false;
	while (now >= rp->timer) {
		rp->time_stage++;
		rp->timer += cee_rp_period(rp->time_stage, CEE_RP_TIME);
		if (!cee_rp_increase(rp, rp->time_stage, most))
			return false;
	}
	return true;
}

/* Reduce the debt by what the rate has earned since the last update. */
static void cee_rp_pay(struct cee_rp *rp, u64 now)
{
	s64 least = -(s64)CEE_RP_CREDIT * NSEC_PER_SEC;
	u64 passed = now - rp->at;

	/* Another processor has moved rp->at beyond our reading of the clock. */
	if ((s64)passed <= 0)
		return;
	rp->at = now;
	if (passed >= div64_u64(rp->debt - least, rp->rate))
		rp->debt = least;
	else
		rp->debt -= rp->rate * passed;
}

static u64 cee_rp_due(struct cee_rp *rp, u64 now)
{
	cee_rp_pay(rp, now);
	if (rp->debt <= 0)
		return 0;
	return min(now + DIV64_U64_ROUND_UP(rp->debt, rp->rate), rp->timer);
}

/* Rate at which the port sends if no limiter slows it. */
static u64 cee_port_rate(const struct cee_config *cfg)
{
	return cfg->rate ?: cfg->speed;
}

/**
 * cee_rp_wait() - may a packet leave?
 * @r:		reaction points of its priority
 * @cfg:	options of the port
 * @hash:	selects the limiter
 * @now:	ktime_get_ns()
 *
 * Context: dequeue.
 * Return: 0 if it may, or when to ask again.
 */
u64 cee_rp_wait(struct cee_reaction *r, const struct cee_config *cfg, u32 hash, u64 now)
{
	struct cee_rp *rp = &r->rp[hash % CEE_RP_LIMITERS];
	u64 wait = 0;

	if (!READ_ONCE(r->active))
		return 0;
	spin_lock(&r->lock);
	if (rp->rate) {
		if (cee_rp_advance(rp, cee_port_rate(cfg), now))
			wait = cee_rp_due(rp, now);
		else
			cee_rp_free(r, rp);
	}
	spin_unlock(&r->lock);
	return wait;
}

/**
 * cee_rp_sent() - charge a packet that leaves to its limiter
 * @r:		reaction points of its priority
 * @cfg:	options of the port
 * @hash:	selects the limiter
 * @len:	bytes
 * @now:	ktime_get_ns()
 *
 * Context: dequeue.
 */
void cee_rp_sent(struct cee_reaction *r, const struct cee_config *cfg, u32 hash, u32 len, u64 now)
{
	struct cee_rp *rp = &r->rp[hash % CEE_RP_LIMITERS];

	if (!READ_ONCE(r->active))
		return;
	spin_lock(&r->lock);
	if (!rp->rate)
		goto out;
	len = min(len, cfg->frame);
	cee_rp_pay(rp, now);
	/* The cap: packets that the watchdog drains past the limiter build up no debt. */
	rp->debt = min_t(s64, rp->debt + (s64)len * NSEC_PER_SEC,
			 2 * (s64)cfg->frame * NSEC_PER_SEC);
	rp->last = now;
	rp->bytes -= len;
	if (rp->bytes > 0)
		goto out;
	rp->byte_stage++;
	rp->bytes += cee_rp_period(rp->byte_stage, CEE_RP_BYTES);
	if (!cee_rp_increase(rp, rp->byte_stage, cee_port_rate(cfg)))
		cee_rp_free(r, rp);
out:
	spin_unlock(&r->lock);
}

/* Was the flow of this hash sent from here lately? */
static bool cee_rp_knows(const struct cee_reaction *r, u32 hash)
{
	const u32 *set = r->seen[hash % CEE_RP_SETS];
	int i;

	for (i = 0; i < CEE_RP_WAYS; i++)
		if (READ_ONCE(set[i]) == hash)
			return true;
	return false;
}

/* Remember a flow in place of the oldest of its set, which comes back with its next packet. */
static void cee_rp_remember(struct cee_reaction *r, u32 hash)
{
	u32 *set = r->seen[hash % CEE_RP_SETS];
	int i;

	if (cee_rp_knows(r, hash))
		return;
	for (i = CEE_RP_WAYS - 1; i > 0; i--)
		WRITE_ONCE(set[i], READ_ONCE(set[i - 1]));
	WRITE_ONCE(set[0], hash);
}

/**
 * cee_rp_note() - remember that a flow is sent from here
 * @r:		reaction points of its priority
 * @skb:	frame of the flow
 *
 * Return: hash of the flow, or 1 for a frame that belongs to no flow.
 */
u32 cee_rp_note(struct cee_reaction *r, const struct sk_buff *skb)
{
	u8 buf[CEE_CNM_MSDU - sizeof(__be16)];
	__be16 flow, proto;
	const void *data;
	int offset, len;
	u32 hash;

	proto = cee_cn_inner(skb, &offset, &flow);
	if (offset < 0)
		return 1;
	/* The bytes that a CNM would quote; they may be outside the linear part. */
	len = min_t(int, (int)skb->len - offset, sizeof(buf));
	data = len > 0 ? skb_header_pointer(skb, offset, len, buf) : NULL;
	hash = data ? cee_rp_hash(dev_net(skb->dev), data, proto, len) : 0;
	if (!hash)
		return 1;
	cee_rp_remember(r, hash);
	return hash;
}

/**
 * cee_rp_slowest() - rate limiter statistics
 * @r:		reaction points
 * @active:	set to how many have a rate
 *
 * Return: lowest rate, bytes per second; 0 if there is none.
 */
u64 cee_rp_slowest(struct cee_reaction *r, u32 *active)
{
	u64 rate = 0;
	int i;

	spin_lock_bh(&r->lock);
	*active = r->active;
	for (i = 0; i < CEE_RP_LIMITERS; i++)
		if (r->rp[i].rate)
			rate = min(rate ?: U64_MAX, r->rp[i].rate);
	spin_unlock_bh(&r->lock);
	return rate;
}

/* Read a CNM and check its length.  Return: NULL if it is malformed. */
static const struct cee_cnm *cee_cnm_read(const struct sk_buff *skb, void *buf, int *len)
{
	const struct cee_cnm *c;
	__be16 flow;
	int offset;

	if (cee_cn_inner(skb, &offset, &flow) != htons(CEE_ETH_P_CNM) || offset < 0)
		return NULL;
	c = skb_header_pointer(skb, offset, sizeof(*c), buf);
	if (!c || c->feedback & htons(CEE_CNM_VERSION) || !(c->feedback & htons(CEE_FB_MASK)))
		return NULL;
	/* The quote must have an EtherType and something that identifies a flow. */
	*len = ntohs(c->len);
	if (*len <= sizeof(__be16) || *len > CEE_CNM_MSDU)
		return NULL;
	return skb_header_pointer(skb, offset, sizeof(*c) + *len, buf);
}

/* Hash of the flow that a CNM quotes; 0 if the flow was not sent from here. */
static u32 cee_cnm_flow(const struct cee_reaction *r, const struct net_device *dev,
			const struct cee_cnm *c, int len)
{
	__be16 proto;
	u32 hash;

	memcpy(&proto, c->msdu, sizeof(proto));
	hash = cee_rp_hash(dev_net(dev), c->msdu + sizeof(proto), proto, len - sizeof(proto));
	return hash && cee_rp_knows(r, hash) ? hash : 0;
}

static void cee_rp_obey(struct cee_reaction *r, const struct cee_config *cfg,
			const struct cee_prio_config *p, u32 hash, u8 fb)
{
	struct cee_rp *rp;

	hash = p->limiter == TCA_CEE_LIMITER_FLOW ? hash : 0;
	rp = &r->rp[hash % CEE_RP_LIMITERS];
	spin_lock(&r->lock);
	r->received++;
	if (!rp->rate)
		WRITE_ONCE(r->active, r->active + 1);
	cee_rp_cut(rp, fb, p->min_rate, cee_port_rate(cfg), ktime_get_ns());
	spin_unlock(&r->lock);
}

/**
 * cee_rp_receive() - receive a CNM
 * @port:	port that received it
 * @cfg:	options of the port
 * @skb:	frame
 *
 * CNMs for other stations are ignored here; a bridge forwards them.
 *
 * Context: softirq, RCU.
 */
void cee_rp_receive(struct cee_port *port, const struct cee_config *cfg, const struct sk_buff *skb)
{
	u8 buf[sizeof(struct cee_cnm) + CEE_CNM_MSDU] __aligned(2);
	const struct cee_cnm *c;
	struct cee_reaction *r;
	unsigned int prio;
	u32 hash = 0;
	int len;

	if (skb->pkt_type != PACKET_HOST)
		return;
	c = cee_cnm_read(skb, buf, &len);
	if (!c) {
		cee_count(port, &port->cnm_malformed);
		return;
	}
	prio = ntohs(c->prio) >> VLAN_PRIO_SHIFT;
	/* Pairs with cee_port_react(). */
	r = smp_load_acquire(&port->reaction[prio]);
	if (r && cfg->prio[prio].limiter && cfg->trust)
		hash = cee_cnm_flow(r, port->dev, c, len);
	if (!hash)
		cee_count(port, cfg->trust ? &port->cnm_strange : &port->cnm_ignored);
	else
		cee_rp_obey(r, cfg, &cfg->prio[prio], hash, ntohs(c->feedback) & CEE_FB_MASK);
}
