// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP round-trip times and the retransmission timeout.
 *
 * With trimming a packet is hardly ever lost without a word, so a timeout may
 * be short (NDP paper, section 3.2): srtt + 4 rttvar, but never less than 1 ms
 * nor than the queueing that a round trip may meet: a few samples of an idle
 * path would make every queue look like a loss.  With packets of 9000 bytes at
 * 10 Gb/s that is 1.7 ms; the paper's 1 ms does not see a full header queue.
 *
 * Answers tell which transmission they are to (RTX).  That to the first gives a sample
 * even when the packet was sent again meanwhile: too short a timeout is found out by the
 * first answer, and does not keep itself alive by leaving no packet to take samples of
 * (as with Karn's rule alone; compare Eifel, RFC 3522).
 */
#include "conn.h"
#include "device.h"

/* Headers that a switch serves per data packet. */
#define NDP_SWITCH_WEIGHT	10
/* Store-and-forward hops of a three-tier fabric. */
#define NDP_SWITCH_HOPS		6

/**
 * ndp_rto_init - least timeout, and that before the first RTT sample
 * @np:		connection with paths and mss
 *
 * The queueing of a full fabric: twice six hops whose data queue is full, and
 * once a full header queue, at the receiver's link after an incast.  That one
 * holds as many bytes as the data queue (section 3.1) and takes long to drain,
 * because a data packet goes after every ten headers.  Or 1 ms.  Before there is
 * a sample also three idle round trips.
 */
void ndp_rto_init(struct ndp_sock *np)
{
	const struct net *net = sock_net(ndp_to_sk(np));
	struct dst_entry *dst = np->paths->path[0].dst;
	u32 header = ndp_outer_len(np) + NDP_HDR_LEN;
	u32 packet = np->mss + header;
	u32 headers = NDP_SWITCH_LIMIT * packet / header;
	u64 bytes, queueing, rate = NDP_RATE_DEFAULT;
	u64 rtt = READ_ONCE(ndp_pernet(net)->base_rtt_us) * 1000ULL;

	if (dst)
		rate = ndp_dev_rate(sock_net(ndp_to_sk(np)), dst->dev);
	bytes = 2ULL * NDP_SWITCH_HOPS * (NDP_SWITCH_LIMIT + 1) * packet;
	bytes += headers * (header + NDP_ETH_OVERHEAD) +
		 headers / NDP_SWITCH_WEIGHT * (packet + NDP_ETH_OVERHEAD);
	queueing = div64_u64(8 * bytes * NSEC_PER_SEC, rate);
	np->rto_floor_ns = max(NDP_RTO_MIN, queueing);
	np->rto_ns = max(np->rto_floor_ns, 3 * rtt);
	np->probe_ns = max(NDP_PROBE_MIN, np->rto_ns);
}

/* A round trip of a first transmission, from leaving the host to the answer. */
static void ndp_rtt_sample(struct ndp_sock *np, u64 rtt_ns)
{
	u64 dev;

	if (!np->srtt_ns) {
		np->srtt_ns = max(rtt_ns, 1ULL);
		np->rttvar_ns = rtt_ns / 2;
	} else {
		dev = rtt_ns > np->srtt_ns ? rtt_ns - np->srtt_ns :
					     np->srtt_ns - rtt_ns;
		np->rttvar_ns = (3 * np->rttvar_ns + dev) / 4;
		np->srtt_ns = (7 * np->srtt_ns + rtt_ns) / 8;
	}
	np->rto_ns = max(np->srtt_ns + 4 * np->rttvar_ns, np->rto_floor_ns);
}

/**
 * ndp_rtt_answer - the first transmission of a packet was answered
 * @np:		connection
 * @cb:		packet
 *
 * Context: np->lock held.
 */
void ndp_rtt_answer(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	s32 rtt = ndp_rtt_clock(ktime_get_ns()) - cb->first_at;

	if (cb->rtx)
		NDP_INC(sock_net(ndp_to_sk(np)), SPURIOUS);
	/* The host's qdisc may have let it go before its time of departure. */
	if (rtt >= 0)
		ndp_rtt_sample(np, (u64)rtt << 10);
}

/**
 * ndp_rto_back_off - packets have timed out: double the timeout
 * @np:		connection
 * @now:	ktime_get_ns()
 *
 * Once per timeout: packets of one round time out one by one.
 *
 * Context: np->lock held.
 */
void ndp_rto_back_off(struct ndp_sock *np, u64 now)
{
	if (now < np->backoff_next)
		return;
	np->backoff++;
	np->backoff_next = now + ndp_rto(np);
}
