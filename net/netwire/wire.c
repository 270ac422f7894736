// SPDX-License-Identifier: GPL-2.0
/*
 * netwire: the path of a frame.
 *
 * A cable is two independent directions.  A frame in one of them
 *
 *   1. enters the transmit ring of the sending end (netwire_xmit).  The ring
 *      holds NETWIRE_RING frames and stops the device's queue when full, so
 *      frames wait in the queueing discipline, which decides on their order and
 *      on drops.  Byte queue limits apply as on a NIC.
 *   2. occupies the wire for (max(length, 60) + 4 FCS + 8 preamble + 12 gap)
 *      * 8 / rate.  When that ends (@done timer) it leaves the sending host:
 *      its socket gets its memory back, and whatever of its metadata a real
 *      wire would not carry is removed.
 *   3. is in flight for the delay.  When it arrives (@arrival timer) the
 *      receiving end's NAPI is scheduled and delivers it; there is no backlog
 *      in between that could drop it.
 *
 * Memory.  A frame in flight is charged to no socket: no longer to the
 * sender's, not yet to the receiver's.  A short frame takes ten times as much
 * memory as it has bytes on the wire, and the administrator of a namespace can
 * create any number of cables.  Therefore all cables together hold no more than
 * @netwire_flight_max bytes of memory; a frame beyond that is dropped.
 *
 * Time.  Each frame starts where the previous one ended if it was there to be
 * sent, to the fraction of a nanosecond.  Timers that fire late, as they do in
 * an emulated machine, therefore cost no throughput as long as the ring holds a
 * frame.  If the ring ran empty before the timer fired, and the queueing
 * discipline had a frame waiting at that time (@behind), that frame should have
 * been sent then, and is accounted as if it had been.  But a discipline may
 * have frames and hold them back, because it shapes or because its peer has
 * paused it.  Therefore @done checks again after the discipline has run: if it
 * sent no frame, the wire is not behind.  A frame whose end is already past
 * when it enters takes no timer at all.  Nothing is ever sent faster than the
 * rate: the line's own clock (@line_free) only moves forward by what is sent.
 * With exact timers (virtual time) nothing is ever behind.  Clocks are read,
 * never jiffies, and nothing polls.
 *
 * Locks: one per direction, taken once when a frame enters, once per completion
 * and once per NAPI round.  It nests inside the transmit queue's lock, and only
 * the locks of the scheduler and of timers nest inside it.  Destructors run
 * under it: like any that can be called when a queueing discipline drops, they
 * must not transmit.
 *
 * Pause frames that an end itself obeys: pause.c.
 *
 * Non-goals: half duplex, autonegotiation, segmentation offload.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <net/sch_generic.h>
#include "netwire.h"

/* How far in the past a frame that waited may start, ns.  Longer than any timer
 * is late on a machine that is merely slow; short enough that a discipline
 * which holds frames back on purpose cannot accumulate a large burst.
 */
#define NETWIRE_BEHIND_MAX	(10 * NSEC_PER_MSEC)

/**
 * struct netwire_cb - state of a frame in the ring or in flight
 * @when:	end of serialisation in the ring, arrival time in flight; ns
 * @busy:	time that the frame occupies the wire, ns
 * @errors:	number of wrong bits with which it will arrive
 * @corrupt:	deliver the frame with wrong bits instead of dropping it
 */
struct netwire_cb {
	u64	when;
	u64	busy;
	u32	errors;
	bool	corrupt;
};

/* Limit of the memory that frames in flight take on all cables, and its use; bytes */
unsigned long netwire_flight_max;
static atomic_long_t netwire_flight;

module_param_named(flight_max, netwire_flight_max, ulong, 0644);
MODULE_PARM_DESC(flight_max, "memory that frames in flight may take on all cables, in bytes (default: a quarter of the machine's)");

static struct netwire_cb *netwire_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct netwire_cb) > sizeof(skb->cb));
	return (struct netwire_cb *)skb->cb;
}

static struct netwire_port *netwire_sender(struct netwire_dir *dir)
{
	return container_of(dir, struct netwire_port, dir);
}

static struct netwire_port *netwire_peer(struct netwire_port *port)
{
	struct net_device *peer = rcu_dereference_bh(port->peer);

	return peer ? netdev_priv(peer) : NULL;
}

static unsigned int netwire_frame_bytes(const struct sk_buff *skb)
{
	return max_t(unsigned int, skb->len, ETH_ZLEN) + NETWIRE_FCS;
}

/* When does a frame that enters the ring now start to be sent? */
static u64 netwire_start(struct netwire_dir *dir, u64 now)
{
	u64 start = now;

	if (!skb_queue_empty(&dir->ring))
		return dir->line_free;
	if (dir->behind)
		start = max(dir->line_free,
			    now - min_t(u64, now, NETWIRE_BEHIND_MAX));
	/* a start right at the end of the last frame keeps its fraction */
	if (start > dir->line_free)
		dir->line_frac = 0;
	return start;
}

static void netwire_serialise(struct netwire_dir *dir, struct sk_buff *skb,
			      u64 now)
{
	u64 start = netwire_start(dir, now);
	u64 bits = (netwire_frame_bytes(skb) + NETWIRE_OVERHEAD) * BITS_PER_BYTE;
	u64 frac, ns;

	ns = div64_u64_rem(bits * NSEC_PER_SEC, dir->params.rate, &frac);
	dir->line_frac += frac;
	if (dir->line_frac >= dir->params.rate) {
		dir->line_frac -= dir->params.rate;
		ns++;
	}
	dir->line_free = start + ns;
	netwire_cb(skb)->when = dir->line_free;
	netwire_cb(skb)->busy = ns;
}

/* Start the receiver's timer for the arrival of the first frame in flight. */
static void netwire_arm(struct netwire_dir *dir, struct netwire_port *to,
			u64 now)
{
	struct sk_buff *skb = skb_peek(&dir->flight);

	if (!skb || dir->armed)
		return;
	dir->armed = true;
	if (netwire_cb(skb)->when <= now)
		napi_schedule(&to->napi);
	else
		hrtimer_start(&dir->arrival, ns_to_ktime(netwire_cb(skb)->when),
			      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* Only bytes travel on a wire.  The flow hash in particular must be cleared:
 * the next router would use it as its own, and all routers would choose the
 * same path.
 */
static void netwire_strip(struct sk_buff *skb)
{
	skb_orphan(skb);
	skb_scrub_packet(skb, true);
	skb_clear_hash(skb);
	skb_reset_redirect(skb);
	skb_set_queue_mapping(skb, 0);
	skb->priority = 0;
	skb->encapsulation = 0;
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
}

static void netwire_flight_sub(const struct sk_buff *skb)
{
	atomic_long_sub(skb->truesize, &netwire_flight);
}

/* Return: whether the frame fits into the limit. */
static bool netwire_flight_add(const struct sk_buff *skb)
{
	if (atomic_long_add_return(skb->truesize, &netwire_flight) <=
	    READ_ONCE(netwire_flight_max))
		return true;
	netwire_flight_sub(skb);
	return false;
}

static void netwire_drop_nomem(struct netwire_dir *dir, struct sk_buff *skb)
{
	kfree_skb(skb);
	u64_stats_update_begin(&dir->stats.syncp);
	u64_stats_inc(&dir->stats.nomem);
	u64_stats_update_end(&dir->stats.syncp);
}

/* Transmission complete: the last bit of a frame is on the wire. */
static void netwire_depart(struct netwire_dir *dir, struct sk_buff *skb)
{
	struct netwire_cb *cb = netwire_cb(skb);

	u64_stats_update_begin(&dir->stats.syncp);
	u64_stats_inc(&dir->stats.packets);
	u64_stats_add(&dir->stats.bytes, skb->len);
	u64_stats_add(&dir->stats.busy, cb->busy);
	u64_stats_update_end(&dir->stats.syncp);

	netwire_strip(skb);
	cb->errors = netwire_bit_errors(dir, netwire_frame_bytes(skb) *
					     BITS_PER_BYTE);
	cb->corrupt = dir->params.ber_mode == NETWIRE_BER_CORRUPT;
	/* the delay may have become shorter: never overtake */
	cb->when = max(cb->when + dir->params.delay, dir->last_arrival);
	dir->last_arrival = cb->when;
	if (netwire_flight_add(skb))
		__skb_queue_tail(&dir->flight, skb);
	else
		netwire_drop_nomem(dir, skb);
}

static bool netwire_backlog(struct netdev_queue *txq)
{
	/*
	 * A registered device always has a qdisc, if only noop_qdisc.  A frame
	 * that is enqueued meanwhile, under the qdisc's lock, is not part of
	 * this batch.
	 */
	return data_race(qdisc_qlen_sum(rcu_dereference_bh(txq->qdisc)));
}

/* Complete all frames whose transmission time is over. */
static void netwire_complete(struct netwire_dir *dir, u64 now, bool more)
{
	struct netwire_port *port = netwire_sender(dir);
	struct netdev_queue *txq = netdev_get_tx_queue(port->dev, 0);
	struct netwire_port *to = netwire_peer(port);
	unsigned int frames = 0, bytes = 0;
	struct sk_buff *skb;

	while ((skb = skb_peek(&dir->ring)) && netwire_cb(skb)->when <= now) {
		__skb_unlink(skb, &dir->ring);
		frames++;
		bytes += skb->len;
		netwire_depart(dir, skb);
	}
	if (!frames)
		return;

	dir->behind = skb_queue_empty(&dir->ring) && dir->line_free < now &&
		      !dir->held && (more || netwire_backlog(txq));
	netdev_tx_completed_queue(txq, frames, bytes);
	if (!dir->held)
		netif_tx_wake_queue(txq);
	if (to)
		netwire_arm(dir, to, now);
}

/* When @done must run next, or 0.  The queue that a completion woke runs in
 * NET_TX_SOFTIRQ, which precedes that of timers.
 */
static u64 netwire_next(const struct netwire_dir *dir, u64 now)
{
	struct sk_buff *skb = skb_peek(&dir->ring);

	if (skb)
		return netwire_cb(skb)->when;
	if (dir->held)
		return netwire_pause_end(dir);
	return dir->behind ? now + 1 : 0;
}

static enum hrtimer_restart netwire_done(struct hrtimer *timer)
{
	struct netwire_dir *dir = container_of(timer, struct netwire_dir, done);
	u64 now = ktime_get_ns();
	u64 next = 0;

	spin_lock(&dir->lock);
	/* a frame that has just entered may have restarted the timer */
	if (dir->up && !hrtimer_is_queued(timer)) {
		/* the qdisc has run and sent nothing: its next frame is not late */
		if (skb_queue_empty(&dir->ring))
			dir->behind = false;
		netwire_complete(dir, now, false);
		netwire_pause_over(dir, now);
		next = netwire_next(dir, now);
		if (next)
			hrtimer_set_expires(timer, ns_to_ktime(next));
	}
	spin_unlock(&dir->lock);
	return next ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static enum hrtimer_restart netwire_arrival(struct hrtimer *timer)
{
	struct netwire_dir *dir = container_of(timer, struct netwire_dir,
					       arrival);
	struct netwire_port *to = netwire_peer(netwire_sender(dir));

	if (to)
		napi_schedule(&to->napi);
	return HRTIMER_NORESTART;
}

/* Put a frame into a ring that has room. */
static void netwire_enter(struct netwire_dir *dir, struct netdev_queue *txq,
			  struct sk_buff *skb, bool more)
{
	bool idle = skb_queue_empty(&dir->ring);
	u64 now = ktime_get_ns();

	netwire_serialise(dir, skb, now);
	netdev_tx_sent_queue(txq, skb->len);
	__skb_queue_tail(&dir->ring, skb);
	if (!idle)
		return;
	if (dir->line_free > now) {
		hrtimer_start(&dir->done, ns_to_ktime(dir->line_free),
			      HRTIMER_MODE_ABS_PINNED_SOFT);
		return;
	}
	netwire_complete(dir, now, more);
	if (dir->behind && !hrtimer_is_queued(&dir->done))
		hrtimer_start(&dir->done, ns_to_ktime(now + 1),
			      HRTIMER_MODE_ABS_PINNED_SOFT);
}

static void netwire_count_drops(struct netwire_dir *dir, unsigned int ring,
				unsigned int flight)
{
	u64_stats_update_begin(&dir->stats.syncp);
	u64_stats_add(&dir->stats.dropped, ring);
	u64_stats_add(&dir->stats.lost, flight);
	u64_stats_update_end(&dir->stats.syncp);
}

static void netwire_stop_if_full(struct netwire_dir *dir,
				 struct netdev_queue *txq)
{
	if (skb_queue_len(&dir->ring) < NETWIRE_RING)
		return;
	netif_tx_stop_queue(txq);
	u64_stats_update_begin(&dir->stats.syncp);
	u64_stats_inc(&dir->stats.stops);
	u64_stats_update_end(&dir->stats.syncp);
}

/**
 * netwire_xmit() - ndo_start_xmit
 * @skb: the frame
 * @dev: the sending end
 */
netdev_tx_t netwire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct netdev_queue *txq = netdev_get_tx_queue(dev, 0);
	struct netwire_port *port = netdev_priv(dev);
	struct netwire_dir *dir = &port->dir;
	bool more = netdev_xmit_more();

	spin_lock(&dir->lock);
	if (unlikely(!dir->up || !pskb_may_pull(skb, ETH_HLEN))) {
		netwire_count_drops(dir, 1, 0);
		spin_unlock(&dir->lock);
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	/* only for senders that ignore the stopped queue, or have not seen it yet */
	if (unlikely(skb_queue_len(&dir->ring) >= NETWIRE_RING || dir->held)) {
		spin_unlock(&dir->lock);
		return NETDEV_TX_BUSY;
	}
	skb_tx_timestamp(skb);
	netwire_enter(dir, txq, skb, more);
	netwire_stop_if_full(dir, txq);
	spin_unlock(&dir->lock);
	return NETDEV_TX_OK;
}

/* Move the frames that have arrived to @list. */
static int netwire_take(struct netwire_dir *dir, struct sk_buff_head *list,
			int budget)
{
	u64 now = ktime_get_ns();
	struct sk_buff *skb;
	int n = 0;

	spin_lock(&dir->lock);
	while (n < budget && (skb = skb_peek(&dir->flight)) &&
	       netwire_cb(skb)->when <= now) {
		__skb_unlink(skb, &dir->flight);
		netwire_flight_sub(skb);
		__skb_queue_tail(list, skb);
		n++;
	}
	spin_unlock(&dir->lock);
	return n;
}

static void netwire_rearm(struct netwire_dir *dir, struct netwire_port *to)
{
	spin_lock(&dir->lock);
	dir->armed = false;
	if (dir->up)
		netwire_arm(dir, to, ktime_get_ns());
	spin_unlock(&dir->lock);
}

static void netwire_lose(struct sk_buff *skb, u64_stats_t *counter,
			 struct netwire_rx_stats *stats)
{
	kfree_skb(skb);
	u64_stats_update_begin(&stats->syncp);
	u64_stats_inc(counter);
	u64_stats_update_end(&stats->syncp);
}

/* Apply the bit errors.  Return: the frame, or NULL if it is lost. */
static struct sk_buff *netwire_damage(struct netwire_port *port,
				      struct sk_buff *skb)
{
	struct netwire_rx_stats *stats = &port->stats;
	u32 errors = netwire_cb(skb)->errors;

	if (!netwire_cb(skb)->corrupt) {
		netwire_lose(skb, &stats->crc, stats);
		return NULL;
	}
	skb = netwire_corrupt(skb, errors);
	if (!skb) {
		netwire_lose(NULL, &stats->nomem, stats);
		return NULL;
	}
	u64_stats_update_begin(&stats->syncp);
	u64_stats_inc(&stats->corrupted);
	u64_stats_update_end(&stats->syncp);
	return skb;
}

/* With receive checksumming off the stack checks all checksums itself; complete partial ones. */
static bool netwire_rx_csum(const struct netwire_port *port,
			    struct sk_buff *skb)
{
	if (port->dev->features & NETIF_F_RXCSUM)
		return true;
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		return !skb_checksum_help(skb);
	skb->ip_summed = CHECKSUM_NONE;
	return true;
}

/* GRO writes to headers and the fragment list, which a clone held by the sender shares. */
static bool netwire_own(const struct netwire_port *port, struct sk_buff *skb)
{
	return !(port->dev->features & NETIF_F_GRO) ||
	       !skb_unclone(skb, GFP_ATOMIC);
}

static void netwire_receive(struct netwire_port *port, struct sk_buff *skb)
{
	struct netwire_rx_stats *stats = &port->stats;

	if (skb->len > port->dev->mtu + ETH_HLEN + VLAN_HLEN) {
		netwire_lose(skb, &stats->oversize, stats);
		return;
	}
	if (unlikely(netwire_cb(skb)->errors)) {
		skb = netwire_damage(port, skb);
		if (!skb)
			return;
	}
	if (unlikely(netwire_pause_take(port, skb))) {
		netwire_lose(skb, &stats->pause, stats);
		return;
	}
	/* a slow receiver must not hold the sender's own pages */
	if (unlikely(skb_orphan_frags_rx(skb, GFP_ATOMIC) ||
		     !netwire_rx_csum(port, skb) || !netwire_own(port, skb))) {
		netwire_lose(skb, &stats->nomem, stats);
		return;
	}
	u64_stats_update_begin(&stats->syncp);
	u64_stats_inc(&stats->packets);
	u64_stats_add(&stats->bytes, skb->len);
	u64_stats_update_end(&stats->syncp);

	skb_record_rx_queue(skb, 0);
	skb->protocol = eth_type_trans(skb, port->dev);
	napi_gro_receive(&port->napi, skb);
}

/**
 * netwire_poll() - deliver the frames that have arrived
 * @napi: NAPI of the receiving end
 * @budget: maximum number of frames to deliver
 */
int netwire_poll(struct napi_struct *napi, int budget)
{
	struct netwire_port *port = container_of(napi, struct netwire_port,
						 napi);
	struct netwire_port *from = netwire_peer(port);
	struct sk_buff_head list;
	struct sk_buff *skb;
	int n = 0;

	__skb_queue_head_init(&list);
	if (from)
		n = netwire_take(&from->dir, &list, budget);
	while ((skb = __skb_dequeue(&list)))
		netwire_receive(port, skb);
	if (n < budget && napi_complete_done(napi, n) && from)
		netwire_rearm(&from->dir, port);
	return n;
}

/**
 * netwire_dir_init() - prepare a direction
 * @dir: in zeroed memory
 */
void netwire_dir_init(struct netwire_dir *dir)
{
	spin_lock_init(&dir->lock);
	__skb_queue_head_init(&dir->ring);
	__skb_queue_head_init(&dir->flight);
	u64_stats_init(&dir->stats.syncp);
	hrtimer_setup(&dir->done, netwire_done, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	hrtimer_setup(&dir->arrival, netwire_arrival, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/**
 * netwire_dir_up() - begin to take frames
 * @dir: a direction that is down, both ends of which are open; RTNL
 */
void netwire_dir_up(struct netwire_dir *dir)
{
	spin_lock_bh(&dir->lock);
	dir->up = true;
	spin_unlock_bh(&dir->lock);
}

/**
 * netwire_dir_down() - stop taking frames and drop those in the ring and in flight
 * @dir: the direction, its sending end is registered; RTNL
 *
 * When it returns, both timers are idle and stay idle.  The receiver's NAPI may
 * still run; it finds no frame and arms no timer.
 */
void netwire_dir_down(struct netwire_dir *dir)
{
	struct netdev_queue *txq = netdev_get_tx_queue(netwire_sender(dir)->dev,
						       0);
	struct sk_buff_head list;
	struct sk_buff *skb;

	spin_lock_bh(&dir->lock);
	dir->up = false;
	spin_unlock_bh(&dir->lock);

	/* no timer starts while the direction is down */
	hrtimer_cancel(&dir->done);
	hrtimer_cancel(&dir->arrival);

	__skb_queue_head_init(&list);
	spin_lock_bh(&dir->lock);
	netwire_count_drops(dir, skb_queue_len(&dir->ring),
			    skb_queue_len(&dir->flight));
	skb_queue_walk(&dir->flight, skb)
		netwire_flight_sub(skb);
	skb_queue_splice_tail_init(&dir->ring, &list);
	skb_queue_splice_tail_init(&dir->flight, &list);
	dir->armed = false;
	dir->behind = false;
	dir->held = false;
	memset(dir->paused, 0, sizeof(dir->paused));
	dir->line_free = 0;
	dir->line_frac = 0;
	dir->last_arrival = 0;
	netdev_tx_reset_queue(txq);
	/* drop waiting frames now instead of holding them until the link is up */
	netif_tx_wake_queue(txq);
	spin_unlock_bh(&dir->lock);

	__skb_queue_purge(&list);
}

/**
 * netwire_dir_set() - change a direction's parameters
 * @dir: the direction
 * @params: the new ones, valid
 */
void netwire_dir_set(struct netwire_dir *dir,
		     const struct netwire_params *params)
{
	spin_lock_bh(&dir->lock);
	/* the fraction is in units of 1 / rate */
	if (params->rate != dir->params.rate)
		dir->line_frac = 0;
	if (params->ber && params->ber != dir->params.ber)
		dir->good_bits = netwire_good_bits(params->ber);
	dir->params = *params;
	if (!params->pfc) {
		memset(dir->paused, 0, sizeof(dir->paused));
		netwire_pause_over(dir, ktime_get_ns());
	}
	spin_unlock_bh(&dir->lock);
}
