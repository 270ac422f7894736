// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP entropy that learns: random UDP source ports whose packets arrive whole are used again,
 * those whose packets are trimmed are replaced (the idea of REPS, Bonato et al., "Recycled
 * Entropy Packet Spraying", 2024, for transports clocked by ACKs; here the clock is the pull).
 *
 * A sender that names its paths loads all links alike (NDP paper, section 3.1.1).  Where
 * switches can only hash, ports drawn at random load the links by chance: of four uplinks with
 * 64 ports each on average the busiest has 71, and traffic above its rate is trimmed for as long
 * as the connections live.
 *
 * The rule.  A path is ready when its last packet has arrived whole; it is spare when it was
 * not used yet or its last packet was trimmed; otherwise its last packet is in flight.
 * - Pushed packets explore: they take the next path of the permutation of all paths (path.c), as
 *   without recycling.  So short messages and first windows are spread over all paths.
 * - Pulled packets recycle: each takes a ready path; if there is none, a spare one; if there is
 *   none of these either, the next path of the permutation.
 * - A path whose packet was trimmed, or returned as a header, gets a fresh port and is spare.
 *
 * So a flow settles on as many paths as it has packets in flight, one packet on each, and tries
 * new paths only when a packet was trimmed.  The paths that return answers soonest are used most:
 * a path with a full queue has its turn less often even before anything is trimmed.
 *
 * An incast trims on all paths alike, and a fresh port gains nothing there.  An incast need not
 * be detected: a peer earns a fresh port with every NDP_ENTROPY_PRICE packets that arrived
 * whole, and saves up NDP_ENTROPY_SAVED ports at most.  A trimmed path that gets none keeps
 * its port, is scored as all paths are and waits as a spare.  So a trimmed first window costs
 * nothing, a peer that reports all packets as trimmed has nothing replaced, and replacements,
 * which cost a route lookup when the path is used next, are never more than a fraction of the
 * packets.
 *
 * A replaced path counts as a new one.  Its number (ndp_path_number()), which packets and
 * answers carry, has a generation beside its index: the outcome of a packet sent from the old port
 * is not credited to the new port, and is no evidence by its order (order.c).  Scores are reset,
 * and the route is looked up again, since this host may have several routes too.  The paths of
 * our own answers are remembered without a generation: an answer lost on the old port may be
 * charged to the new one.
 *
 * Configured paths are neither replaced nor recycled.  No path is replaced of a peer to which a
 * connection's transport chooses paths by itself, as its packets may have to stay in order.  A
 * peer's only path is left as it is.
 *
 * Losses are left to the scoreboard: a path that is left out is looked at in turn, and probed
 * when it is due; other paths that lost a packet are spare.  A path whose packet was never
 * answered by itself, because its connection ended or because it was a retransmission that was
 * acknowledged along with others, is neither ready nor spare until the permutation reaches it.
 *
 * Memory: two bits per path, in two bitmaps of 256 bits for each peer.  Cost: a search of these
 * bitmaps for each packet, in place of a step of the permutation.
 *
 * Non-goals: answers and pulls, which are sprayed; losses (score.c).
 */
#include <net/dst.h>
#include "sock.h"

/* Packets that must arrive whole to earn one fresh port. */
#define NDP_ENTROPY_PRICE	4

/* Fresh ports that may be saved up: as many as a peer has paths by default. */
#define NDP_ENTROPY_SAVED	32

/* Left-out paths that one search for a usable path looks at before it gives up. */
#define NDP_ENTROPY_LOOKS	16

/**
 * ndp_entropy_random - draw a UDP source port
 *
 * Return: port.
 */
__be16 ndp_entropy_random(void)
{
	u32 n = NDP_ENTROPY_MAX - NDP_ENTROPY_MIN + 1;

	return htons(NDP_ENTROPY_MIN + get_random_u32_below(n));
}

/**
 * ndp_entropy_init - recycle the paths of a peer, which are random
 * @peer:	peer that nobody else sees
 */
void ndp_entropy_init(struct ndp_peer *peer)
{
	if (peer->n < 2)
		return;
	peer->recycles = true;
	bitmap_set(peer->spare, 0, peer->n);
}

/**
 * ndp_entropy_keep - keep a peer's ports: a connection's transport chooses paths by itself
 * @np:		connection
 *
 * An unverified connection has no effect: anybody can open one from a spoofed address.
 *
 * Context: np->lock held.
 */
void ndp_entropy_keep(struct ndp_sock *np)
{
	if (!READ_ONCE(np->peer->keeps_ports) && ndp_path_tells(np))
		WRITE_ONCE(np->peer->keeps_ports, true);
}

/**
 * ndp_entropy_whole - DATA has arrived whole
 * @peer:	peer
 * @i:		path that it took
 *
 * Context of this and ndp_entropy_trimmed(): peer->lock held.
 */
void ndp_entropy_whole(struct ndp_peer *peer, u16 i)
{
	if (!peer->recycles)
		return;
	set_bit(i, peer->ready);
	if (peer->earned < NDP_ENTROPY_PRICE * NDP_ENTROPY_SAVED)
		peer->earned++;
}

/* Reset a path's score and put the path back in use. */
static void ndp_entropy_forget(struct ndp_tally *sum, struct ndp_score *s)
{
	ndp_score_clear(sum, s);
	s->level = 0;
	WRITE_ONCE(s->state, NDP_PATH_USED);
}

/**
 * ndp_entropy_trimmed - DATA was trimmed, or its header returned
 * @peer:	peer
 * @i:		path that it took
 *
 * Return: the path was replaced.
 */
bool ndp_entropy_trimmed(struct ndp_peer *peer, u16 i)
{
	struct ndp_path *path = &peer->path[i];
	struct dst_entry *dst;

	if (!peer->recycles)
		return false;
	clear_bit(i, peer->ready);
	set_bit(i, peer->spare);
	if (peer->keeps_ports || peer->earned < NDP_ENTROPY_PRICE)
		return false;
	peer->earned -= NDP_ENTROPY_PRICE;
	WRITE_ONCE(path->sport, ndp_entropy_random());
	/* Pairs with ndp_path_number(). */
	smp_store_release(&path->gen, path->gen + 1);
	path->replaced++;
	ndp_entropy_forget(&peer->data, &path->data);
	ndp_entropy_forget(&peer->control, &path->control);
	dst = rcu_replace_pointer(path->dst, NULL, lockdep_is_held(&peer->lock));
	dst_release(dst);
	return true;
}

/**
 * ndp_entropy_lost - DATA was lost, or is sent again
 * @peer:	peer
 * @i:		path that it took
 *
 * A path that is left out is looked at in turn with the ready ones, until it is due for a probe.
 *
 * Context: any.
 */
void ndp_entropy_lost(struct ndp_peer *peer, u16 i)
{
	if (!peer->recycles)
		return;
	if (READ_ONCE(peer->path[i].data.state) == NDP_PATH_USED)
		set_bit(i, peer->spare);
	else
		set_bit(i, peer->ready);
}

/* Take the next usable path of a set, in turn.  Return: its index, or peer->n if there is none. */
static u16 ndp_entropy_take(struct ndp_sock *np, unsigned long *set, enum ndp_path_use use)
{
	struct ndp_peer *peer = np->peer;
	u16 looks, n = peer->n, i = READ_ONCE(peer->turn);

	/* The set is empty while more packets are in flight than there are paths. */
	if (n <= BITS_PER_LONG && !READ_ONCE(*set))
		return n;
	for (looks = 0; looks < NDP_ENTROPY_LOOKS; looks++) {
		i = find_next_bit(set, n, i);
		if (i >= n)
			i = find_first_bit(set, n);
		/* Another processor may have taken the path. */
		if (i >= n || !test_and_clear_bit(i, set))
			break;
		WRITE_ONCE(peer->turn, i + 1);
		if (ndp_path_may_take(np, false, i, use))
			return i;
		set_bit(i++, set);
	}
	return n;
}

/**
 * ndp_entropy_next - the path that DATA uses next
 * @np:		connection
 * @pushed:	the packet leaves without a pull
 * @use:	may the packet probe a path that was left out?
 *
 * Context: np->lock held, softirqs off.
 * Return: index of the path.
 */
u16 ndp_entropy_next(struct ndp_sock *np, bool pushed, enum ndp_path_use use)
{
	struct ndp_peer *peer = np->peer;
	u16 i = peer->n;

	if (!peer->recycles)
		return ndp_path_next(np, false, use);
	if (!pushed && ndp_path_tells(np)) {
		i = ndp_entropy_take(np, peer->ready, use);
		if (i == peer->n)
			i = ndp_entropy_take(np, peer->spare, use);
	}
	if (i == peer->n)
		i = ndp_path_next(np, false, use);
	if (test_bit(i, peer->ready))
		clear_bit(i, peer->ready);
	if (test_bit(i, peer->spare))
		clear_bit(i, peer->spare);
	return i;
}
