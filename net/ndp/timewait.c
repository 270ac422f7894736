// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP tombstones: exactly-once for connections that open without a
 * handshake (NDP paper, section 3.2.2).
 *
 * Any packet of a first window may open a connection, so a late copy of one would open it again.
 * A tombstone keeps the key of a connection that ended until no copy can be left: twice the
 * maximum segment lifetime (MSL) once the peer has said that it has nothing unacknowledged (ACK
 * with LAST), or nothing but a FIN that opens nothing when it arrives again (FIN with GONE), else
 * the time after which the peer gives up retransmitting, plus 2 MSL.  A tombstone also answers
 * the peer, which may have missed our last ACK; an initiator's serves nothing else, and gets the
 * shorter time after an orderly end.
 *
 * Tombstones are never evicted; while a namespace has net.ndp.tombstones_max of them, connections
 * are opened by cookies only, and those connections leave no tombstone (cookie.c), unless we
 * abort them.  There is room for twice as many and some to spare.  A peer may have as many
 * tombstones as there are places left, and opens nothing while it has more: one peer that leaves
 * them as fast as it can fills half of the room, two fill two thirds, and a new peer always finds
 * a place.  Connections that this host opened leave tombstones only while there are fewer than
 * half of net.ndp.tombstones_max.  A reboot forgets all.
 */
#include "table.h"

/* Maximum segment lifetime. */
#define NDP_MSL			(1000 * NDP_MSEC)

/* Tombstones allowed beyond twice net.ndp.tombstones_max; then no connection is opened. */
#define NDP_TOMBSTONES_SPARE	1024

/* Expired tombstones removed at a time, with softirqs off. */
#define NDP_TOMB_BATCH		256

#define NDP_TOMB_BRIEF	(2 * NDP_MSL)
#define NDP_TOMB_LONG	(NDP_GIVE_UP + 2 * NDP_MSL)

struct ndp_tombstone *ndp_tomb_alloc(gfp_t gfp)
{
	return kzalloc(sizeof(struct ndp_tombstone), gfp);
}

bool ndp_tomb_full(const struct ndp_net *nn)
{
	return READ_ONCE(nn->tombs) >= READ_ONCE(nn->tombs_max);
}

/**
 * ndp_tomb_half_full - are there at least half of net.ndp.tombstones_max?
 * @nn:		namespace
 *
 * If so, connections that this host opened leave none: any local user can open those, and a full
 * table makes remote hosts pay a round trip for a cookie.
 *
 * Context: any.
 * Return: true if so.
 */
bool ndp_tomb_half_full(const struct ndp_net *nn)
{
	return 2LL * READ_ONCE(nn->tombs) >= READ_ONCE(nn->tombs_max);
}

/*
 * The index of the peer for which a tombstone is counted.  A host with one IPv6 address is taken
 * to have the rest of its /64 as well.  Some peers share a count by chance, which no peer can
 * force, as the hash is keyed.
 */
static u16 ndp_tomb_peer(const struct ndp_net *nn, const struct ndp_key *key)
{
	const struct in6_addr *addr = &key->initiator;
	size_t len = ndp_is_ip4(addr) ? sizeof(*addr) : sizeof(*addr) / 2;

	return siphash(addr, len, &nn->cookie_key) % NDP_TOMB_PEERS;
}

/**
 * ndp_tomb_refuses - has a peer too many tombstones to open a connection?
 * @nn:		namespace
 * @key:	of the acceptor's entry
 *
 * Once the table is full, connections that end in order leave none; this limits those that are
 * aborted.
 *
 * Context: any.
 * Return: true if so.
 */
bool ndp_tomb_refuses(const struct ndp_net *nn, const struct ndp_key *key)
{
	s64 room = 2LL * READ_ONCE(nn->tombs_max) + NDP_TOMBSTONES_SPARE -
		   READ_ONCE(nn->tombs);

	return READ_ONCE(nn->tomb_peers[ndp_tomb_peer(nn, key)]) >= room;
}

/* Count one tombstone more (@n is 1) or less (-1).  Context: tomb_lock held. */
static void ndp_tomb_count(struct ndp_net *nn, const struct ndp_tombstone *tomb,
			   int n)
{
	u32 *of_peer = &nn->tomb_peers[tomb->peer];

	WRITE_ONCE(*of_peer, *of_peer + n);
	WRITE_ONCE(nn->tombs, nn->tombs + n);
}

/*
 * Context: tomb_lock held.
 * Return: when the next one expires; 0: one has expired, but @budget is used up; U64_MAX: none is
 * left.
 */
static u64 ndp_tomb_reap_list(struct ndp_net *nn, struct list_head *list,
			      u64 now, u32 *budget)
{
	struct ndp_tombstone *tomb, *next;

	list_for_each_entry_safe(tomb, next, list, list) {
		if (tomb->expires > now)
			return tomb->expires;
		if (!*budget)
			return 0;
		--*budget;
		list_del_init(&tomb->list);
		ndp_tomb_count(nn, tomb, -1);
		ndp_entry_remove(&tomb->entry);
		kfree_rcu(tomb, rcu);
	}
	return U64_MAX;
}

/* Return: as ndp_tomb_reap_list(), for both lists. */
static u64 ndp_tomb_reap_some(struct ndp_net *nn, u64 now)
{
	u32 budget = NDP_TOMB_BATCH;
	u64 next;

	spin_lock_bh(&nn->tomb_lock);
	next = min(ndp_tomb_reap_list(nn, &nn->tomb_short, now, &budget),
		   ndp_tomb_reap_list(nn, &nn->tomb_long, now, &budget));
	if (next && next != U64_MAX)
		queue_delayed_work(system_wq, &nn->tomb_work,
				   nsecs_to_jiffies(next - now) + 1);
	spin_unlock_bh(&nn->tomb_lock);
	return next;
}

/* Context: process. */
static void ndp_tomb_reap(struct ndp_net *nn, u64 now)
{
	while (!ndp_tomb_reap_some(nn, now))
		cond_resched();
}

static void ndp_tomb_work(struct work_struct *work)
{
	struct ndp_net *nn = container_of(to_delayed_work(work),
					  struct ndp_net, tomb_work);

	ndp_tomb_reap(nn, ktime_get_ns());
}

/* For how long a connection is remembered, ns. */
u64 ndp_tomb_time(bool brief)
{
	return brief ? NDP_TOMB_BRIEF : NDP_TOMB_LONG;
}

/* Context: tomb_lock held; @tomb in no list. */
static void ndp_tomb_queue(struct ndp_net *nn, struct ndp_tombstone *tomb,
			   bool brief)
{
	struct list_head *list = brief ? &nn->tomb_short : &nn->tomb_long;
	unsigned long wait = nsecs_to_jiffies(NDP_TOMB_BRIEF) + 1;

	tomb->expires = ktime_get_ns() + ndp_tomb_time(brief);
	list_add_tail(&tomb->list, list);
	if (!list_is_singular(list))
		return;
	/*
	 * Pending work runs when the head of either list expires, at most NDP_TOMB_BRIEF late:
	 * only the first entry of the short list puts it off, and only the work itself empties
	 * that list.
	 */
	if (brief)
		mod_delayed_work(system_wq, &nn->tomb_work, wait);
	else
		queue_delayed_work(system_wq, &nn->tomb_work, wait);
}

/**
 * ndp_tomb_start - begin the lifetime of a tombstone that is in the table
 * @nn:		namespace
 * @tomb:	tombstone
 * @brief:	the peer has nothing left to retransmit
 *
 * Context: softirqs off.
 */
void ndp_tomb_start(struct ndp_net *nn, struct ndp_tombstone *tomb, bool brief)
{
	tomb->peer = ndp_tomb_peer(nn, &tomb->entry.key);
	spin_lock_bh(&nn->tomb_lock);
	ndp_tomb_queue(nn, tomb, brief);
	ndp_tomb_count(nn, tomb, 1);
	spin_unlock_bh(&nn->tomb_lock);
}

/* The peer has nothing left to retransmit: shorten the tombstone's lifetime. */
static void ndp_tomb_shorten(struct ndp_net *nn, struct ndp_tombstone *tomb)
{
	spin_lock_bh(&nn->tomb_lock);
	/* A tombstone that is being removed is in no list. */
	if (!list_empty(&tomb->list) &&
	    tomb->expires > ktime_get_ns() + NDP_TOMB_BRIEF) {
		list_del(&tomb->list);
		ndp_tomb_queue(nn, tomb, true);
	}
	spin_unlock_bh(&nn->tomb_lock);
}

/**
 * ndp_tomb_rcv - answer a packet of a connection that has ended
 * @net:	namespace
 * @tomb:	its tombstone
 * @skb:	packet, transport header at UDP, NDP header behind
 *
 * Packets that were received are acknowledged again, as their ACK may have been lost.  A peer
 * that sends a PROBE has not seen all answers in order, and still waits for the ACK of a packet
 * that has arrived since: a PULL acknowledges all.
 *
 * Context: softirq, RCU read side.
 */
void ndp_tomb_rcv(struct net *net, struct ndp_tombstone *tomb,
		  const struct sk_buff *skb)
{
	const struct ndphdr *nh = ndp_hdr(skb);
	enum ndp_type type = ndp_hdr_type(nh);

	NDP_INC(net, TOMB_HITS);
	if (nh->flags & NDP_F_BOUNCED) {
		NDP_INC(net, BOUNCED_IN);
		return;
	}
	if (type == NDP_ACK && nh->flags & NDP_F_LAST && !tomb->aborted)
		ndp_tomb_shorten(ndp_pernet(net), tomb);
	if (type != NDP_DATA && type != NDP_FIN && type != NDP_PROBE)
		return;
	if (tomb->aborted)
		ndp_refuse(net, skb, NDP_REASON_NONE);
	else if (type == NDP_PROBE && ntohl(nh->psn) == tomb->rcv_nxt)
		ndp_send_reply(net, skb, NDP_PULL, NDP_F_LAST, 0);
	else if (type != NDP_PROBE &&
		 psn_before(ntohl(nh->psn), tomb->rcv_nxt))
		ndp_send_reply(net, skb, NDP_ACK, NDP_F_LAST | NDP_F_AGAIN, 0);
}

void ndp_tomb_net_init(struct ndp_net *nn)
{
	spin_lock_init(&nn->tomb_lock);
	INIT_LIST_HEAD(&nn->tomb_short);
	INIT_LIST_HEAD(&nn->tomb_long);
	INIT_DELAYED_WORK(&nn->tomb_work, ndp_tomb_work);
}

/* Context: no packet arrives and no socket is left in the namespace. */
void ndp_tomb_net_exit(struct ndp_net *nn)
{
	ndp_tomb_reap(nn, U64_MAX);
	cancel_delayed_work_sync(&nn->tomb_work);
}
