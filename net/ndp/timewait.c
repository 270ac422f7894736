// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP tombstones: exactly-once for connections that open without a
 * handshake (NDP paper, section 3.2.2).
 *
 * Any packet of a first window may open a connection, so a late copy of one
 * would open it again.  A tombstone keeps the key of a connection that ended
 * until no copy can be left: twice the maximum segment lifetime once the peer
 * has told that it has nothing unacknowledged (ACK with LAST), else the time
 * after which the peer gives up retransmitting, plus that.  It also answers
 * the peer, which may have missed our last ACK.
 *
 * Tombstones are never evicted; while a namespace has net.ndp.tombstones_max of
 * them, what arrives opens by cookies only, and their connections leave none
 * (cookie.c), unless they are aborted.  With twice as many and some to spare nothing
 * opens at all until the oldest have gone.  A reboot forgets them.
 */
#include "ndp.h"

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
 * ndp_tomb_flooded - are there so many that no more connections may begin?
 * @nn:		namespace
 *
 * Connections that end in order leave none once the table is full; of those that are
 * aborted this is the bound.
 *
 * Return: yes.
 */
bool ndp_tomb_flooded(const struct ndp_net *nn)
{
	return READ_ONCE(nn->tombs) >
	       2LL * READ_ONCE(nn->tombs_max) + NDP_TOMBSTONES_SPARE;
}

/* Context: tomb_lock held.  Return: when the next expires, or U64_MAX. */
static u64 ndp_tomb_reap_list(struct ndp_net *nn, struct list_head *list,
			      u64 now)
{
	struct ndp_tombstone *tomb, *next;

	list_for_each_entry_safe(tomb, next, list, list) {
		if (tomb->expires > now)
			return tomb->expires;
		list_del_init(&tomb->list);
		WRITE_ONCE(nn->tombs, nn->tombs - 1);
		ndp_entry_remove(&tomb->entry);
		kfree_rcu(tomb, rcu);
	}
	return U64_MAX;
}

static void ndp_tomb_reap(struct ndp_net *nn, u64 now)
{
	u64 next;

	spin_lock_bh(&nn->tomb_lock);
	next = min(ndp_tomb_reap_list(nn, &nn->tomb_short, now),
		   ndp_tomb_reap_list(nn, &nn->tomb_long, now));
	if (next != U64_MAX)
		queue_delayed_work(system_wq, &nn->tomb_work,
				   nsecs_to_jiffies(next - now) + 1);
	spin_unlock_bh(&nn->tomb_lock);
}

static void ndp_tomb_work(struct work_struct *work)
{
	struct ndp_net *nn = container_of(to_delayed_work(work),
					  struct ndp_net, tomb_work);

	ndp_tomb_reap(nn, ktime_get_ns());
}

/* For how long a connection is remembered. */
u64 ndp_tomb_time(bool brief)
{
	return brief ? NDP_TOMB_BRIEF : NDP_TOMB_LONG;
}

/* Context: tomb_lock held; @tomb in no list. */
static void ndp_tomb_queue(struct ndp_net *nn, struct ndp_tombstone *tomb,
			   bool brief)
{
	struct list_head *list = brief ? &nn->tomb_short : &nn->tomb_long;

	tomb->expires = ktime_get_ns() + ndp_tomb_time(brief);
	list_add_tail(&tomb->list, list);
	/* A pending work runs no later than the head of either list needs. */
	if (list_is_singular(list))
		mod_delayed_work(system_wq, &nn->tomb_work,
				 nsecs_to_jiffies(NDP_TOMB_BRIEF) + 1);
}

/**
 * ndp_tomb_start - begin the wait of a tombstone that is in the table
 * @nn:		namespace
 * @tomb:	tombstone
 * @brief:	the peer has nothing left to retransmit
 *
 * Context: softirqs off.
 */
void ndp_tomb_start(struct ndp_net *nn, struct ndp_tombstone *tomb, bool brief)
{
	spin_lock_bh(&nn->tomb_lock);
	ndp_tomb_queue(nn, tomb, brief);
	WRITE_ONCE(nn->tombs, nn->tombs + 1);
	spin_unlock_bh(&nn->tomb_lock);
}

/* The peer tells, after the end, that it has nothing left to retransmit. */
static void ndp_tomb_shorten(struct ndp_net *nn, struct ndp_tombstone *tomb)
{
	spin_lock_bh(&nn->tomb_lock);
	/* In no list while it is being removed. */
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
 * What was received is acknowledged again, as its ACK may have been lost.
 *
 * Context: softirq, RCU read side.
 */
void ndp_tomb_rcv(struct net *net, struct ndp_tombstone *tomb,
		  const struct sk_buff *skb)
{
	const struct ndphdr *nh = (struct ndphdr *)(udp_hdr(skb) + 1);
	enum ndp_type type = ndp_hdr_type(nh);

	if (nh->flags & NDP_F_BOUNCED) {
		NDP_INC(net, BOUNCED_IN);
		return;
	}
	NDP_INC(net, TOMB_HITS);
	if (type == NDP_ACK && nh->flags & NDP_F_LAST && !tomb->aborted)
		ndp_tomb_shorten(ndp_pernet(net), tomb);
	if (type != NDP_DATA && type != NDP_FIN && type != NDP_PROBE)
		return;
	if (tomb->aborted)
		ndp_send_reply(net, skb, NDP_RST, 0, 0);
	else if (type != NDP_PROBE &&
		 psn_before(ntohl(nh->psn), tomb->rcv_nxt))
		ndp_send_reply(net, skb, NDP_ACK, NDP_F_LAST, 0);
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
