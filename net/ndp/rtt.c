// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP round-trip times and the retransmission timeout.
 *
 * With trimming a packet is hardly ever lost silently, so a timeout may be short (NDP paper,
 * section 3.2): srtt + 4 rttvar, but never less than 1 ms nor than the queueing delay that a
 * round trip may meet: after a few samples of an idle path every queue would look like a loss.
 * With packets of 9000 bytes at 10 Gb/s that delay is 1.7 ms; the paper's 1 ms does not allow for
 * a full header queue.
 *
 * An answer says whether it is to the first transmission or to a later one (RTX).  An answer to
 * the first gives a sample even when the packet was retransmitted meanwhile: too short a timeout
 * is detected by the first answer, and does not keep itself alive by leaving no packet to take
 * samples of (as with Karn's rule alone; compare Eifel, RFC 3522).  For a second after that no
 * timeout is shorter than one and a half times the RTT of that answer: the smoothed RTT adapts
 * too slowly while the processors are the bottleneck, and a host that stalls for milliseconds now
 * and then does so less often than the estimate remembers.
 *
 * The estimate belongs to the peer: all connections to it add their samples, and a new one begins
 * with it (RFC 9040).  The floor and the backoff belong to each connection.
 */
#include "conn.h"
#include "device.h"

/* Upper bound of an RTT sample: longer ones are due to a stalled host, not to the network. */
#define NDP_RTT_MAX		(1000 * NDP_MSEC)

/* Headers that a switch serves per data packet. */
#define NDP_SWITCH_WEIGHT	10
/* Store-and-forward hops of a three-tier fabric. */
#define NDP_SWITCH_HOPS		6

/**
 * ndp_rto_init - set the least timeout
 * @np:		connection with a peer and mss
 * @rate:	rate of its link, bit/s
 *
 * The least timeout is the queueing delay of a full fabric, but at least 1 ms: twice six hops
 * whose data queue is full, and once a full header queue, at the receiver's link after an incast.
 * The header queue holds as many bytes as the data queue (section 3.1) and takes long to drain,
 * because a data packet is sent after every ten headers.
 */
void ndp_rto_init(struct ndp_sock *np, u64 rate)
{
	u32 header = ndp_outer_len(np) + NDP_HDR_LEN;
	u32 packet = np->mss + header;
	u32 headers = NDP_SWITCH_LIMIT * packet / header;
	u64 bytes, queueing;

	bytes = 2ULL * NDP_SWITCH_HOPS * (NDP_SWITCH_LIMIT + 1) * packet;
	bytes += headers * (header + NDP_ETH_OVERHEAD) +
		 headers / NDP_SWITCH_WEIGHT * (packet + NDP_ETH_OVERHEAD);
	queueing = div64_u64(8 * bytes * NSEC_PER_SEC, rate);
	np->rto_floor_ns = max(NDP_RTO_MIN, queueing);
	np->probe_ns = max(NDP_PROBE_MIN, ndp_rto_base(np));
}

/*
 * Take a sample: the RTT of a first transmission, from leaving the host to the answer.
 * Context: peer->lock held.
 */
static void ndp_rtt_sample(struct ndp_peer *peer, u64 rtt_ns, bool spurious)
{
	u64 dev, srtt = peer->srtt_ns, rttvar = peer->rttvar_ns;

	if (!srtt) {
		srtt = max(rtt_ns, 1ULL);
		rttvar = rtt_ns / 2;
	} else {
		dev = rtt_ns > srtt ? rtt_ns - srtt : srtt - rtt_ns;
		rttvar = (3 * rttvar + dev) / 4;
		srtt = (7 * srtt + rtt_ns) / 8;
	}
	/*
	 * Bounded, so that one stall of a peer does not delay the recovery of lost packets for
	 * long.
	 */
	if (spurious)
		ndp_keep(&peer->rto_kept, min(rtt_ns + rtt_ns / 2, NDP_RTO_MAX / 2));
	WRITE_ONCE(peer->srtt_ns, srtt);
	WRITE_ONCE(peer->rttvar_ns, rttvar);
	WRITE_ONCE(peer->rto_ns, srtt + 4 * rttvar);
}

/**
 * ndp_rtt_answer - the first transmission of a packet was answered
 * @np:		connection
 * @cb:		packet
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_rtt_answer(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	s32 rtt = ndp_rtt_clock(ndp_now(np)) - cb->first_at;

	if (cb->rtx && cb->by_order)
		ndp_order_wrong(np, cb);
	else if (cb->rtx)
		NDP_CONN_INC(np, SPURIOUS);
	/* The host's qdisc may have sent the packet before its departure time. */
	if (rtt < 0)
		return;
	spin_lock(&np->peer->lock);
	ndp_rtt_sample(np->peer, min((u64)rtt << 10, NDP_RTT_MAX),
		       cb->timed_out);
	spin_unlock(&np->peer->lock);
}

/**
 * ndp_rto_back_off - packets have timed out: double the timeout
 * @np:		connection
 * @now:	ktime_get_ns()
 *
 * At most once per timeout: where each packet has a timeout of its own, the packets of one round
 * time out one by one.
 *
 * Context: np->lock held.
 */
void ndp_rto_back_off(struct ndp_sock *np, u64 now)
{
	if (now < np->backoff_next && !ndp_has_order(np))
		return;
	np->backoff++;
	np->backoff_next = now + ndp_rto(np);
}

/**
 * ndp_rtt - the round-trip times that socket options report
 * @np:		socket, with a connection or without
 *
 * Context: np->lock held.
 * Return: times.
 */
struct ndp_rtt ndp_rtt(const struct ndp_sock *np)
{
	if (!np->peer)
		return (struct ndp_rtt) { .rto_ns = NDP_RTO_MIN };
	return (struct ndp_rtt) {
		.srtt_ns = ndp_srtt(np),
		.rttvar_ns = READ_ONCE(np->peer->rttvar_ns),
		.rto_ns = ndp_rto(np),
	};
}
