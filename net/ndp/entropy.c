// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP entropy that learns: random UDP source ports that do well are used again, those that
 * do not are replaced (the idea of REPS, Bonato et al., "Recycled Entropy Packet Spraying",
 * 2024, for transports whose clock is the ACK; here it is the pull).
 *
 * A sender that names its paths loads all links alike (NDP paper, section 3.1.1).  Where
 * switches can only hash, ports drawn at random load them by chance: of four uplinks with 64
 * ports each on average one has 71, and what is above its rate is trimmed, as long as the
 * connections live.
 *
 * The rule.  A path is ready when its last packet has arrived whole; it is spare when it was
 * not used yet or its last packet was trimmed; otherwise that is on its way.
 * - What is pushed explores: it goes by the permutation of all paths (path.c), as ever.  So short
 *   messages and first windows are spread over all of them.
 * - What is pulled recycles: it goes by a path that is ready; if there is none by one that is
 *   spare; if there is none of these either, by the permutation.
 * - A path whose packet was trimmed, or came back as a header, gets a fresh port and is spare.
 *
 * So a flow comes to live on as many paths as it has packets in flight, each with one, and on
 * new ones only when one of these was trimmed.  What is used most is what comes back soonest: a
 * path with a full queue has its turn more seldom even before anything is trimmed.
 *
 * An incast trims on all paths alike, and a fresh port gains nothing there.  Nobody
 * has to find that out: a peer earns a fresh port with every NDP_ENTROPY_PRICE packets that
 * arrived whole, NDP_ENTROPY_SAVED at most.  What has not earned one keeps its port, is
 * scored as all paths are and waits as a spare.  So a first window that is trimmed costs
 * nothing, a peer that says that all was trimmed has nothing replaced, and a replacement, which
 * costs a route lookup when the path is used next, is never more than a fraction of a packet.
 *
 * A path that was replaced is another.  Its number (ndp_path_number()), which packets and
 * answers carry, has a generation beside its place: what is on its way by the old port is
 * no news of the new one, and does not tell anything by its order (order.c).  Scores begin
 * anew, and the route is looked up again, since this host may have several too.  Our answers are
 * remembered without a generation: one that was lost by the old port may be charged to the new.
 *
 * Paths that are configured are never replaced, nor recycled; no path of a peer to which
 * a transport has connections that chooses paths by itself is replaced, as its packets may
 * have to stay in order; and one path alone is left as it is.
 *
 * What was lost is left to the scoreboard: a path that is left out is looked at in turn, and
 * probed when it is due; others are spare.  A path whose packet nobody ever told of, because its
 * connection ended or the packet had been sent again, is neither ready nor spare; the permutation
 * comes by it.
 *
 * Memory: two bits a path, 256 of either kind in a peer.  Cost: a search through these bits for a
 * packet, in place of a step of the permutation.
 *
 * Non-goals: answers and pulls, which are sprayed; losses (score.c).
 */
#include <net/dst.h>
#include "sock.h"

/* Packets that arrive whole for one fresh port. */
#define NDP_ENTROPY_PRICE	4

/* Fresh ports that may be saved for later: as many as there are paths by default. */
#define NDP_ENTROPY_SAVED	32

/* Paths that are left out which the search for a ready one looks at. */
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
 * ndp_entropy_init - the paths of a peer are random: they are recycled
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
 * ndp_entropy_keep - a connection's transport chooses paths by itself: ports stay as they are
 * @np:		connection
 *
 * Not for one that anybody can open under another's address.
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

/* What is known of a path is forgotten. */
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
 * Return: the path is another now.
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
 * One that is left out is looked at in turn with those that are ready, until it is due.
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

/* Take one of a set of paths that may be used, in turn.  Return: its index, or @n of the peer. */
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
		/* Another processor may have taken it. */
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
 * @pushed:	nobody has ever asked for it
 * @use:	may it go to see whether a path is back?
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
