// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: pause frames (Priority-based Flow Control, IEEE 802.1Qbb; the pause of IEEE
 * 802.3, annex 31B).
 *
 *	destination 01:80:c2:00:00:01, EtherType 0x8808
 *	operation   0x0101 (PFC): 16 bits, the lower 8 of which are a mask of priorities, and
 *			8 times, one for each priority
 *		    0x0001 (802.3x): one time, for all
 *	padded to 60 bytes.  A time is in units of 512 bits of this link; 0 ends the pause.
 *
 * Reception.  A NIC may keep pause frames to itself, and obey them or not (dcbnl; then the
 * port leaves those priorities to it).  Pause frames that drivers, netwire and veth pass up
 * are seen by a packet handler of the device for all protocols: a handler for this
 * EtherType would run after a bridge, which drops these frames.  The handler sees each
 * received frame, and looks at its EtherType only; frames that are sent bypass it
 * (ignore_outgoing).  The frame goes on to the stack, which has no use for it.
 *
 * Transmission.  A pause frame is sent by the dequeue of the port that it leaves by, before
 * anything else.  dev_direct_xmit() or the driver's own function would need that port's
 * transmit lock, inside of another port's root lock, which is the wrong order for stacked
 * devices; and while the transmitter is busy, which is when pause frames matter, both
 * refuse, and only the qdisc is woken when it is free again.  So a pause frame waits for
 * the frame on the wire, and no longer.
 *
 * Context.  Reception is in softirqs of any processor, and takes @pause_lock alone; the
 * dequeue reads the end of each priority's pause without it.  Options are read under RCU.
 * The handler may still run after the port was removed, until a grace period has passed;
 * the port's memory lasts as long.
 */
#include <linux/etherdevice.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include "cee_qcn.h"
#include "sch_cee.h"

#define CEE_OP_PAUSE	0x0001
#define CEE_OP_PFC	0x0101

/**
 * struct cee_frame - what follows the Ethernet header of a pause frame
 * @op:		CEE_OP_PFC or CEE_OP_PAUSE
 * @mask:	mask of priorities; with CEE_OP_PAUSE the time
 * @quanta:	time of each priority, in quanta
 */
struct cee_frame {
	__be16	op;
	__be16	mask;
	__be16	quanta[CEE_PRIOS];
} __packed;

#define CEE_PAUSE_LEN	offsetof(struct cee_frame, quanta)

static const u8 cee_pause_address[ETH_ALEN] __aligned(2) = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 };

static struct sk_buff *cee_frame_new(const struct net_device *dev, struct cee_frame **f)
{
	/* Read once: a device stacked on this one may raise needed_headroom meanwhile. */
	unsigned int headroom = LL_RESERVED_SPACE(dev);
	struct sk_buff *skb = alloc_skb(headroom + ETH_ZLEN, GFP_ATOMIC);
	struct ethhdr *eth;

	if (!skb)
		return NULL;
	BUILD_BUG_ON(sizeof(*eth) + sizeof(**f) > ETH_ZLEN);
	skb_reserve(skb, headroom);
	skb_reset_mac_header(skb);
	eth = skb_put_zero(skb, ETH_ZLEN);
	skb_set_network_header(skb, ETH_HLEN);
	ether_addr_copy(eth->h_dest, cee_pause_address);
	ether_addr_copy(eth->h_source, dev->dev_addr);
	eth->h_proto = htons(ETH_P_PAUSE);
	*f = (struct cee_frame *)(eth + 1);
	skb->dev = (struct net_device *)dev;
	skb->protocol = eth->h_proto;
	skb->priority = CEE_PRIOS - 1;
	return skb;
}

/**
 * cee_pfc_frame() - make a PFC frame
 * @dev:	device that will send it
 * @mask:	priorities that the frame addresses
 * @xoff:	those of @mask that are to pause; the others may resume
 * @quanta:	duration of the pause
 *
 * Return: the frame, or NULL without memory.
 */
struct sk_buff *cee_pfc_frame(const struct net_device *dev, u8 mask, u8 xoff, u16 quanta)
{
	struct cee_frame *f;
	struct sk_buff *skb = cee_frame_new(dev, &f);
	int i;

	if (!skb)
		return NULL;
	f->op = htons(CEE_OP_PFC);
	f->mask = htons(mask);
	for (i = 0; i < CEE_PRIOS; i++)
		if (mask & xoff & BIT(i))
			f->quanta[i] = htons(quanta);
	return skb;
}

/**
 * cee_pause_frame() - make an 802.3x pause frame
 * @dev:	device that will send it
 * @quanta:	duration of the pause of the whole link; 0 ends a pause
 *
 * Return: the frame, or NULL without memory.
 */
struct sk_buff *cee_pause_frame(const struct net_device *dev, u16 quanta)
{
	struct cee_frame *f;
	struct sk_buff *skb = cee_frame_new(dev, &f);

	if (!skb)
		return NULL;
	f->op = htons(CEE_OP_PAUSE);
	f->mask = htons(quanta);
	return skb;
}

/* Parse a pause frame.  Return: mask of the priorities that it addresses, or -EINVAL. */
static int cee_pfc_parse(const struct cee_frame *f, unsigned int len, u16 quanta[CEE_PRIOS])
{
	int i;

	if (len >= CEE_PAUSE_LEN && f->op == htons(CEE_OP_PAUSE)) {
		for (i = 0; i < CEE_PRIOS; i++)
			quanta[i] = ntohs(f->mask);
		return U8_MAX;
	}
	if (len < sizeof(*f) || f->op != htons(CEE_OP_PFC))
		return -EINVAL;
	for (i = 0; i < CEE_PRIOS; i++)
		quanta[i] = ntohs(f->quanta[i]);
	return ntohs(f->mask) & U8_MAX;
}

/* Is it from the other end of the link?  No bridge forwards that address.  802.3x would
 * allow the device's own address as well, but any host can send to that.
 */
static bool cee_pfc_from_peer(const struct sk_buff *skb)
{
	return !skb_vlan_tag_present(skb) &&
	       ether_addr_equal(eth_hdr(skb)->h_dest, cee_pause_address);
}

/**
 * cee_pfc_paused_ns() - for how long a priority has been paused
 * @p:		pauses of the priority; under the lock
 * @now:	ktime_get_ns()
 *
 * Return: ns, the sum of all pauses so far, including a current one.
 */
u64 cee_pfc_paused_ns(const struct cee_pause *p, u64 now)
{
	u64 end = min(p->until, now);

	return p->total + (p->until && end > p->since ? end - p->since : 0);
}

/* Set or end a pause.  Return: whether a pause was ended, or will end sooner than before. */
static bool cee_pause_set(struct cee_pause *p, u64 now, u64 duration)
{
	u64 old = p->until;
	bool lasts = old > now;

	p->total = cee_pfc_paused_ns(p, now);
	p->since = now;
	WRITE_ONCE(p->until, duration ? now + duration : 0);
	if (duration)
		p->xoff++;
	else
		p->xon++;
	if (duration && !lasts)
		WRITE_ONCE(p->begun, p->begun + 1);
	return lasts && p->until < old;
}

static bool cee_pfc_obey(struct cee_port *port, const struct cee_config *cfg, u8 mask,
			 const u16 quanta[CEE_PRIOS])
{
	u64 now = ktime_get_ns();
	bool resumed = false;
	int i;

	spin_lock(&port->pause_lock);
	for (i = 0; i < CEE_PRIOS; i++)
		if (mask & BIT(i))
			resumed |= cee_pause_set(&port->pause[i], now,
						 cee_quanta_ns(cfg, quanta[i]));
	spin_unlock(&port->pause_lock);
	return resumed;
}

/* PFC applies to lossless priorities only, an 802.3x pause to all. */
static void cee_pfc_take(struct cee_port *port, const struct cee_config *cfg,
			 const struct sk_buff *skb)
{
	u16 quanta[CEE_PRIOS];
	struct cee_frame buf, *f;
	int mask = -EINVAL;

	f = skb_header_pointer(skb, 0, min_t(unsigned int, skb->len, sizeof(buf)), &buf);
	if (f && cee_pfc_from_peer(skb))
		mask = cee_pfc_parse(f, skb->len, quanta);
	if (mask < 0) {
		cee_count(port, &port->malformed);
		return;
	}
	if (!cfg->trust) {
		cee_count(port, &port->ignored);
		return;
	}
	if (f->op == htons(CEE_OP_PFC))
		mask &= cfg->lossless;
	if (cee_pfc_obey(port, cfg, mask & ~port->hardware, quanta))
		cee_kick(port);
}

/**
 * cee_pfc_receive() - packet handler of a port
 * @skb:	any frame that it receives
 * @dev:	its device
 * @pt:		its handler
 * @orig_dev:	the same device
 *
 * On a port that classifies by PCP, saves the PCP in skb->priority, since a bridge will
 * remove the tag (cee_classify.c).  The packet may be written to: besides us only the
 * receive path holds it, and waits for the handler; taps take clones.
 *
 * Context: softirq, RCU.
 * Return: NET_RX_SUCCESS.
 */
int cee_pfc_receive(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
		    struct net_device *orig_dev)
{
	struct cee_port *port = container_of(pt, struct cee_port, pt);
	const struct cee_config *cfg = rcu_dereference(port->cfg);

	if (unlikely(skb->protocol == htons(ETH_P_PAUSE)))
		cee_pfc_take(port, cfg, skb);
	else if (unlikely(cee_is_cnm(skb)))
		cee_rp_receive(port, cfg, skb);
	else if (cfg->classify == TCA_CEE_CLASSIFY_PCP && skb_vlan_tag_present(skb))
		skb->priority = skb_vlan_tag_get_prio(skb);
	if (cfg->qcn)
		cee_cp_hear(port, skb);
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

/**
 * cee_pfc_paused() - does the peer pause a priority?
 * @port:	port
 * @prio:	priority
 * @now:	ktime_get_ns()
 *
 * Context: any.
 */
bool cee_pfc_paused(const struct cee_port *port, unsigned int prio, u64 now)
{
	return READ_ONCE(port->pause[prio].until) > now;
}

/**
 * cee_pfc_forget() - end pauses, since the link is down or they are no longer obeyed
 * @port:	port
 * @mask:	priorities
 */
void cee_pfc_forget(struct cee_port *port, u8 mask)
{
	u64 now = ktime_get_ns();
	int i;

	spin_lock_bh(&port->pause_lock);
	for (i = 0; i < CEE_PRIOS; i++) {
		if (!(mask & BIT(i)))
			continue;
		port->pause[i].total = cee_pfc_paused_ns(&port->pause[i], now);
		WRITE_ONCE(port->pause[i].until, 0);
	}
	spin_unlock_bh(&port->pause_lock);
}

/**
 * cee_kick() - schedule the dequeue of a port
 * @port:	port
 *
 * Schedules all transmit queues, as a driver does whose transmitter is free again.  Queues
 * that the driver has stopped are skipped, since waking them runs their qdiscs.  The first
 * qdisc that runs sends the control frames that are due.
 *
 * Context: RCU, bottom halves are off; the caller may hold a root lock, even this port's.
 */
void cee_kick(const struct cee_port *port)
{
	unsigned int i;

	if (READ_ONCE(port->dead))
		return;
	for (i = 0; i < READ_ONCE(port->dev->real_num_tx_queues); i++)
		netif_schedule_queue(netdev_get_tx_queue(port->dev, i));
}
