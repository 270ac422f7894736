/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netwire: what its files share.  See wire.c for how a frame travels and port.c
 * for which references exist when a cable is deleted.
 */
#ifndef _NET_NETWIRE_H
#define _NET_NETWIRE_H

#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/u64_stats_sync.h>
#include <linux/netwire.h>

/* Frames that the transmitter holds: one, which is being sent.  More would hide
 * the queueing discipline's order from the wire, and in each of six switches in
 * a row a control packet would wait for a data packet or two.  The next frame is
 * fetched in time all the same: see "Time" in wire.c.
 */
#define NETWIRE_RING		1

#define NETWIRE_PRIOS		8

/* FCS; preamble with start delimiter; smallest gap to the next frame */
#define NETWIRE_FCS		ETH_FCS_LEN
#define NETWIRE_OVERHEAD	(8 + 12)

/**
 * struct netwire_params - what the user sets
 * @rate:	bits per second
 * @delay:	propagation delay from end to end, ns
 * @ber:	bit error probability in NETWIRE_BER_UNIT
 * @ber_mode:	enum netwire_ber_mode
 * @pfc:	each end itself obeys pause frames
 */
struct netwire_params {
	u64	rate;
	u64	delay;
	u64	ber;
	u8	ber_mode;
	bool	pfc;
};

/**
 * struct netwire_tx_stats - counters of the sending end, under its lock
 * @syncp:	for 64-bit reads on 32-bit machines
 * @packets:	frames sent completely
 * @bytes:	their bytes, without FCS
 * @busy:	ns that the wire was occupied by them, preamble and gap included
 * @stops:	times that the full ring stopped the queue
 * @dropped:	frames sent while there was no link, or cut off while being sent
 * @lost:	frames sent completely but on the wire when the link went down
 * @nomem:	frames sent completely but dropped because @netwire_flight_max was reached
 * @paused:	ns that pause frames have held the transmitter
 */
struct netwire_tx_stats {
	struct u64_stats_sync	syncp;
	u64_stats_t		packets;
	u64_stats_t		bytes;
	u64_stats_t		busy;
	u64_stats_t		stops;
	u64_stats_t		dropped;
	u64_stats_t		lost;
	u64_stats_t		nomem;
	u64_stats_t		paused;
};

/**
 * struct netwire_rx_stats - counters of the receiving end, written by its NAPI
 * @syncp:	for 64-bit reads on 32-bit machines
 * @packets:	frames delivered
 * @bytes:	their bytes, without FCS
 * @crc:	frames lost to bit errors (NETWIRE_BER_DROP)
 * @corrupted:	of @packets, frames with bits flipped (NETWIRE_BER_CORRUPT)
 * @oversize:	frames longer than the MTU allows
 * @nomem:	frames lost because of a failed allocation
 * @pause:	MAC control frames consumed by the end itself
 */
struct netwire_rx_stats {
	struct u64_stats_sync	syncp;
	u64_stats_t		packets;
	u64_stats_t		bytes;
	u64_stats_t		crc;
	u64_stats_t		corrupted;
	u64_stats_t		oversize;
	u64_stats_t		nomem;
	u64_stats_t		pause;
};

/**
 * struct netwire_dir - one direction of a cable, owned by its sending end
 * @lock:	guards everything here but the timers' own state
 * @up:		both ends are open; frames are taken
 * @armed:	@arrival is pending, or the receiver's NAPI will look at @flight
 * @behind:	the transmitter idled only because its timer was late: the next
 *		frame was waiting when the last one ended
 * @held:	pause frames hold the transmitter: the queue is stopped, @done is
 *		pending or running
 * @held_since:	when @held became true, ns
 * @paused:	end of each priority's pause, ns
 * @params:	copy of the cable's parameters
 * @ring:	frames waiting and being sent, oldest first; while there is one,
 *		or @behind, @done is pending or running
 * @flight:	frames on the wire, oldest first
 * @line_free:	when the last frame of @ring ends, ns
 * @line_frac:	fraction of a ns to add to @line_free, in units of 1 / rate
 * @last_arrival: arrival time of the youngest frame in @flight, ns
 * @good_bits:	bits that pass before the next bit error
 * @done:	timer for the end of the first frame of @ring
 * @arrival:	timer for the arrival of the first frame of @flight
 * @stats:	counters
 */
struct netwire_dir {
	/* Never nested in another direction's. */
	spinlock_t		lock;
	bool			up;
	bool			armed;
	bool			behind;
	bool			held;
	u64			held_since;
	u64			paused[NETWIRE_PRIOS];
	struct netwire_params	params;
	struct sk_buff_head	ring;
	struct sk_buff_head	flight;
	u64			line_free;
	u64			line_frac;
	u64			last_arrival;
	u64			good_bits;
	struct hrtimer		done;
	struct hrtimer		arrival;
	struct netwire_tx_stats	stats;
};

/**
 * struct netwire_port - one end of a cable, private part of its net_device
 * @dev:	the device
 * @peer:	device of the other end; NULL until that is created, and from deletion on
 * @opened:	between ndo_open and ndo_stop; RTNL
 * @dir:	direction that this end sends in
 * @napi:	receives the other direction
 * @stats:	receive counters
 */
struct netwire_port {
	struct net_device	*dev;
	struct net_device __rcu	*peer;
	bool			opened;
	struct netwire_dir	dir;
	struct napi_struct	napi;
	struct netwire_rx_stats	stats;
};

static inline struct netdev_queue *netwire_txq(struct netwire_dir *dir)
{
	struct netwire_port *port = container_of(dir, struct netwire_port, dir);

	return netdev_get_tx_queue(port->dev, 0);
}

/* pause.c */
u64 netwire_pause_end(const struct netwire_dir *dir);
void netwire_pause_over(struct netwire_dir *dir, u64 now);
bool netwire_pause_take(struct netwire_port *port, const struct sk_buff *skb);

/* biterr.c */
u64 netwire_good_bits(u64 ber);
u32 netwire_bit_errors(struct netwire_dir *dir, unsigned int bits);
struct sk_buff *netwire_corrupt(struct sk_buff *skb, u32 errors);

/* wire.c */
extern unsigned long netwire_flight_max;
void netwire_dir_init(struct netwire_dir *dir);
void netwire_dir_up(struct netwire_dir *dir);
void netwire_dir_down(struct netwire_dir *dir);
void netwire_dir_set(struct netwire_dir *dir,
		     const struct netwire_params *params);
netdev_tx_t netwire_xmit(struct sk_buff *skb, struct net_device *dev);
int netwire_poll(struct napi_struct *napi, int budget);

/* port.c */
void netwire_setup(struct net_device *dev);
void netwire_set_params(struct netwire_port *port, struct netwire_port *peer,
			const struct netwire_params *params);
extern const struct ethtool_ops netwire_ethtool_ops;

#endif /* _NET_NETWIRE_H */
