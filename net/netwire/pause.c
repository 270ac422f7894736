// SPDX-License-Identifier: GPL-2.0
/*
 * netwire: pause frames that an end itself obeys, as a NIC's hardware does (parameter "pfc"):
 * IEEE 802.1Qbb and the pause of IEEE 802.3, annex 31B.
 *
 * A frame that is being sent is completed; then the transmitter stops until the pause is
 * over.  An end has one transmit queue, and a NIC with one queue can only pause as a whole:
 * it stays stopped as long as any of the eight priorities is paused.  Frames wait in the
 * queueing discipline, not in the ring.
 *
 * MAC control frames are for the MAC: with this parameter all of them are consumed here,
 * known or not, and the host never sees them.
 *
 * Locks: that of the sending direction, as in wire.c.  The receiver's NAPI calls without
 * locks.
 *
 * Non-goals: sending pause frames, which is what sch_cee does.
 */
#include <linux/etherdevice.h>
#include <linux/math64.h>
#include "netwire.h"

#define NETWIRE_OP_PAUSE	0x0001
#define NETWIRE_OP_PFC		0x0101
#define NETWIRE_QUANTUM_BITS	512

static const u8 netwire_pause_address[ETH_ALEN] __aligned(2) = {
	0x01, 0x80, 0xc2, 0x00, 0x00, 0x01
};

/**
 * struct netwire_control - what follows the Ethernet header of a pause frame
 * @op:		operation
 * @mask:	NETWIRE_OP_PFC: mask of priorities; NETWIRE_OP_PAUSE: the time
 * @quanta:	time of each priority, in units of 512 bit times
 */
struct netwire_control {
	__be16	op;
	__be16	mask;
	__be16	quanta[NETWIRE_PRIOS];
} __packed;

static u64 netwire_quanta_ns(const struct netwire_dir *dir, __be16 quanta)
{
	return div64_u64((u64)ntohs(quanta) * NETWIRE_QUANTUM_BITS * NSEC_PER_SEC,
			 dir->params.rate);
}

/* Set the end of each priority's pause. */
static void netwire_pause_read(struct netwire_dir *dir, const struct netwire_control *c,
			       unsigned int len, u64 now)
{
	int i;

	if (c->op == htons(NETWIRE_OP_PAUSE)) {
		for (i = 0; i < NETWIRE_PRIOS; i++)
			dir->paused[i] = now + netwire_quanta_ns(dir, c->mask);
		return;
	}
	if (c->op != htons(NETWIRE_OP_PFC) || len < sizeof(*c))
		return;
	for (i = 0; i < NETWIRE_PRIOS; i++)
		if (c->mask & htons(BIT(i)))
			dir->paused[i] = now + netwire_quanta_ns(dir, c->quanta[i]);
}

/**
 * netwire_pause_end() - when may the transmitter resume?
 * @dir: the direction, locked
 *
 * Return: ns, in the past if no priority is paused.
 */
u64 netwire_pause_end(const struct netwire_dir *dir)
{
	u64 end = 0;
	int i;

	for (i = 0; i < NETWIRE_PRIOS; i++)
		end = max(end, dir->paused[i]);
	return end;
}

/**
 * netwire_pause_over() - let the transmitter resume if no pause is left
 * @dir: the direction, locked
 * @now: ktime_get_ns()
 */
void netwire_pause_over(struct netwire_dir *dir, u64 now)
{
	if (!dir->held || netwire_pause_end(dir) > now)
		return;
	dir->held = false;
	u64_stats_update_begin(&dir->stats.syncp);
	u64_stats_add(&dir->stats.paused, now - dir->held_since);
	u64_stats_update_end(&dir->stats.syncp);
	if (skb_queue_len(&dir->ring) < NETWIRE_RING)
		netif_tx_wake_queue(netwire_txq(dir));
}

static void netwire_pause_begin(struct netwire_dir *dir, u64 now)
{
	if (!dir->held)
		dir->held_since = now;
	dir->held = true;
	dir->behind = false;
	netif_tx_stop_queue(netwire_txq(dir));
	/* If a frame is being sent, @done is pending for its end, and checks for the pause then. */
	if (skb_queue_empty(&dir->ring))
		hrtimer_start(&dir->done, ns_to_ktime(netwire_pause_end(dir)),
			      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/**
 * netwire_pause_take() - consume a received MAC control frame
 * @port: the receiving end
 * @skb: the frame, its data at the Ethernet header
 *
 * Return: true if it was one: the caller frees it.
 */
bool netwire_pause_take(struct netwire_port *port, const struct sk_buff *skb)
{
	struct netwire_dir *dir = &port->dir;
	struct netwire_control buf, *c;
	struct ethhdr head, *eth;
	u64 now;

	if (!READ_ONCE(dir->params.pfc))
		return false;
	eth = skb_header_pointer(skb, 0, sizeof(head), &head);
	if (!eth || eth->h_proto != htons(ETH_P_PAUSE) ||
	    !ether_addr_equal(eth->h_dest, netwire_pause_address))
		return false;
	c = skb_header_pointer(skb, ETH_HLEN,
			       min_t(int, skb->len - ETH_HLEN, sizeof(buf)), &buf);
	if (!c || skb->len < ETH_HLEN + offsetof(struct netwire_control, quanta))
		return true;
	now = ktime_get_ns();
	spin_lock(&dir->lock);
	if (dir->up) {
		netwire_pause_read(dir, c, skb->len - ETH_HLEN, now);
		if (netwire_pause_end(dir) > now)
			netwire_pause_begin(dir, now);
		else
			netwire_pause_over(dir, now);
	}
	spin_unlock(&dir->lock);
	return true;
}
