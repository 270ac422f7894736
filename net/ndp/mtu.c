// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP and the MTU of paths.
 *
 * Payload is cut to fit the route of every path: the smallest MTU of all decides, as
 * any packet may take any path.  Routes learn of a smaller MTU along the path by ICMP, and
 * of changes to this host's interfaces and routes at once; the MTU is read for each packet,
 * so that the next cut is right.  A packet that was numbered before keeps its bytes and is
 * sent as IP fragments (ip.c); one that was only queued is cut anew.
 *
 * A black hole drops large packets and sends no ICMP.  One is suspected when large packets were
 * lost five times in a row, each time a longer timeout after the last, while none arrived: for a
 * second nothing larger than 1280 bytes leaves, a size that every IPv6 network and nearly every
 * IPv4 network carries.  Then large packets are tried again; each time they fail, packets stay
 * small for twice as long.  A large packet that arrives after all ends the suspicion.
 * A cable that was pulled looks the same, and costs a second of small packets.
 *
 * Non-goals: searching for the size in between (RFC 8899).
 */
#include <net/dst.h>
#include "queue.h"

/* The largest packet that leaves while a black hole is suspected. */
#define NDP_MTU_SAFE		IPV6_MIN_MTU

/* Losses in a row that raise the suspicion: five timeouts take 16 times as long as the first. */
#define NDP_HOLE_TIMEOUTS	5

/* How long packets stay small, and how often that doubles: to a quarter of an hour at most. */
#define NDP_HOLE_TIME		(1000 * NDP_MSEC)
#define NDP_HOLE_DOUBLINGS	10

/* The MTU that a path's route has now; 0: the path was not used yet, or has no route. */
static u32 ndp_mtu_now(const struct ndp_path *path)
{
	const struct dst_entry *dst = rcu_dereference(path->dst);

	return path->mtu && dst ? dst_mtu(dst) : 0;
}

/*
 * A path's MTU has changed since the path was used last.  If it grew, other paths may have grown
 * with it (a device's MTU): those not in use now must not keep packets small permanently.
 */
static void ndp_mtu_learn(struct ndp_peer *peer, struct ndp_path *path, u32 mtu)
{
	u32 least = IP_MAX_MTU;
	u16 i;

	rcu_read_lock();
	spin_lock(&peer->lock);
	for (i = 0; i < peer->n; i++) {
		struct ndp_path *other = &peer->path[i];

		WRITE_ONCE(other->mtu, other == path ? mtu : ndp_mtu_now(other));
		if (other->mtu)
			least = min(least, other->mtu);
	}
	WRITE_ONCE(peer->mtu, least);
	spin_unlock(&peer->lock);
	rcu_read_unlock();
}

static void ndp_mtu_sync(struct ndp_sock *np)
{
	u32 least = ndp_is_ip4(&np->daddr) ? 576 : IPV6_MIN_MTU;
	u32 mtu = max(np->route_mtu, least);
	/* setsockopt() does not take np->lock. */
	u32 most = READ_ONCE(np->tcp_option[NDP_TCP_MAXSEG]);
	u32 mss;

	if (np->small_until)
		mtu = min_t(u32, mtu, NDP_MTU_SAFE);
	mss = mtu - ndp_outer_len(np) - NDP_HDR_LEN;
	if (most)
		mss = min(mss, most);
	/* Writers read np->mss without the lock. */
	WRITE_ONCE(np->mss, mss);
}

/**
 * ndp_mtu_note - note the MTU of a path that is about to be used
 * @np:		connection
 * @path:	the path
 * @dst:	its route
 *
 * Context: np->lock held, or nobody else sees @np; softirqs off.
 */
void ndp_mtu_note(struct ndp_sock *np, struct ndp_path *path,
		  const struct dst_entry *dst)
{
	struct ndp_peer *peer = np->peer;
	u32 mtu = dst_mtu(dst);

	if (READ_ONCE(path->mtu) != mtu)
		ndp_mtu_learn(peer, path, mtu);
	mtu = READ_ONCE(peer->mtu);
	if (np->route_mtu == mtu)
		return;
	np->route_mtu = mtu;
	ndp_mtu_sync(np);
}

/* Large packets may leave, as if none had ever been lost. */
static void ndp_mtu_large_again(struct ndp_sock *np)
{
	np->large_lost = 0;
	np->large_lost_next = 0;
	if (!np->small_until)
		return;
	np->small_until = 0;
	ndp_mtu_sync(np);
}

/**
 * ndp_mtu_limit - how large may a packet be, apart from its route's MTU?
 * @np:		connection
 *
 * Context: np->lock held.
 * Return: bytes with the IP header, 0: as large as the route allows.
 */
u32 ndp_mtu_limit(struct ndp_sock *np)
{
	if (!np->small_until)
		return 0;
	if (ktime_get_ns() < np->small_until)
		return NDP_MTU_SAFE;
	ndp_mtu_large_again(np);
	return 0;
}

static bool ndp_mtu_is_large(const struct ndp_sock *np, const struct sk_buff *skb)
{
	return skb->len + ndp_outer_len(np) + NDP_HDR_LEN > NDP_MTU_SAFE;
}

/**
 * ndp_mtu_lost - a packet was lost
 * @np:		connection
 * @skb:	numbered packet
 *
 * Large packets that are lost together count as one loss.
 *
 * Context: np->lock held.
 */
void ndp_mtu_lost(struct ndp_sock *np, const struct sk_buff *skb)
{
	u64 now = ktime_get_ns();

	if (ndp_tx_cb(skb)->limited || np->small_until || !ndp_mtu_is_large(np, skb) ||
	    now < np->large_lost_next)
		return;
	/* Losses count as two if half a timeout lies between them; timeouts double. */
	np->large_lost_next = now + (ndp_rto_base(np) << np->large_lost) / 2;
	np->large_lost++;
	if (np->large_lost < NDP_HOLE_TIMEOUTS)
		return;
	np->small_until = now + (NDP_HOLE_TIME << np->small_level);
	np->small_level = min(np->small_level + 1, NDP_HOLE_DOUBLINGS);
	NDP_CONN_INC(np, MTU_HOLE);
	ndp_mtu_sync(np);
}

/**
 * ndp_mtu_arrived - a packet was acknowledged
 * @np:		connection
 * @skb:	numbered packet
 *
 * Context: np->lock held.
 */
void ndp_mtu_arrived(struct ndp_sock *np, const struct sk_buff *skb)
{
	if (ndp_tx_cb(skb)->limited || !ndp_mtu_is_large(np, skb))
		return;
	np->small_level = 0;
	ndp_mtu_large_again(np);
}

/**
 * ndp_mtu_cut - cut a queued packet to the current segment size, or less
 * @np:		connection
 * @skb:	first of its send queue, without a number
 * @max:	most payload that it may have
 *
 * The remainder follows it in the queue.  Without memory the packet stays as it is, to be
 * sent as fragments.
 *
 * Context: np->lock held.
 */
void ndp_mtu_cut(struct ndp_sock *np, struct sk_buff *skb, u32 max)
{
	u32 len = min(max, np->mss);
	int over = skb->len - len;
	struct sk_buff *rest;

	if (over <= 0)
		return;
	rest = ndp_tx_alloc(GFP_ATOMIC);
	if (!rest)
		return;
	ndp_wmem_uncharge(np, skb);
	skb_split(skb, rest, len);
	skb->truesize -= over;
	rest->truesize += over;
	/* The second part keeps the end-of-message flag. */
	ndp_tx_cb(rest)->flags = ndp_tx_cb(skb)->flags & NDP_F_EOM;
	ndp_tx_cb(skb)->flags &= ~NDP_F_EOM;
	ndp_wmem_charge(np, skb);
	ndp_wmem_charge(np, rest);
	__skb_queue_after(&np->sendq, skb, rest);
}
