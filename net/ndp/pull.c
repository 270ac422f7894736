// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP pull queues (NDP paper, section 3.2).
 *
 * Pulls that arrivals have earned (grant.c) are sent from one queue per receiving device, paced
 * so that the packets that they elicit arrive at the link's rate, whoever sends them: each pull
 * takes the time of the packet that it elicits, whose size is known from trimmed headers and
 * from what senders announce.  Connections take turns, one pull a turn; each untrimmed
 * first-window packet counts as a turn taken while others wait.  Overdue pulls of a late timer
 * are granted in one turn: one PULL announces them all, and the packets that one sender then
 * sends together wait in no queue but its own.  A lone sender's pull leaves at once when the
 * pace allows, or half a packet's time before, and is then carried by the ACK.
 *
 * Priorities (sections 2.3 and 5.1): connections are in classes, by NDP_PRIORITY or SO_PRIORITY.
 * A class is served when no higher one waits; within a class all take turns.  Pulls already sent
 * to a lower class are not revoked: a sender that gains priority waits for their packets, less
 * than a round trip.  net.ndp.pull_low_share of the namespace that has the device reserves a
 * part of the pulls for lower classes that wait, which take turns at it.
 *
 * The rate is the link's (device.c).  Where more than a quarter of the pulled packets arrive
 * trimmed, the link on their way is slower than assumed, or shared: the rate is lowered by a
 * tenth per round trip, and raised again by a hundredth.  It is not lowered while first windows
 * arrive: they fill the queue then, and an incast would continue at a low rate because of how it
 * began.
 *
 * First windows that collide leave the queue of the switch port before this host full, and pulls
 * at the link's pace would keep it full permanently: each packet would wait behind a full queue.
 * Once the first windows are over, and as many of their packets were trimmed as the queue holds,
 * some pulls are left out, which drains the queue and keeps the link busy.
 *
 * Packets that were not pulled take link time too: headers, and pushed packets that complete all
 * that was sent, as short messages do.  They are in the port's queue before packets that are
 * pulled at the same time; pulls at the link's pace would keep this backlog there, and every
 * message would add to it.  So each pull is charged for the unpulled bytes that arrived since
 * the last pull, at most a packet's time.
 *
 * Loopback is not paced; the receive buffer bounds what is in flight.
 *
 * Non-goals: which packets of one connection are pulled first.
 */
#include <linux/hashtable.h>
#include <linux/netdevice.h>
#include "credit.h"
#include "device.h"
#include "trace.h"
#include "transport.h"

/* Connections that may be passed over in one run of the timer. */
#define NDP_PULL_SKIP		64

/* Pulls that a late timer may send at once to catch up, however few packets arrive. */
#define NDP_PULL_BATCH		4U

/* Pulls to leave out so that a port's queue of NDP_SWITCH_LIMIT packets drains. */
#define NDP_PULL_DRAIN		(NDP_SWITCH_LIMIT - 2)

/* How many more DATA packets must arrive by other devices before a connection moves. */
#define NDP_PULL_MOVE		64

#define NDP_SHARE_FULL		1024
#define NDP_SHARE_MIN		(NDP_SHARE_FULL / 16)
/* Least number of pulled packets by which trimming is judged. */
#define NDP_SHARE_SAMPLE	16

static DEFINE_HASHTABLE(ndp_pullqs, 8);
static DEFINE_SPINLOCK(ndp_pullqs_lock);

/* Context: RCU read side, or ndp_pullqs_lock held. */
static struct ndp_pullq *ndp_pullq_find(const struct net_device *dev)
{
	struct ndp_pullq *q;

	hash_for_each_possible_rcu(ndp_pullqs, q, node, (unsigned long)dev,
				   lockdep_is_held(&ndp_pullqs_lock))
		if (q->dev == dev)
			return q;
	return NULL;
}

static void ndp_pullq_put(struct ndp_pullq *q)
{
	if (!refcount_dec_and_test(&q->ref))
		return;
	ndp_link_put(q->link);
	kfree_rcu(q, rcu);
}

/*
 * The rate that is set in the namespace that has the device: other namespaces that share the
 * queue, as containers do, must not set its pace.  Return: bits per second, 0 if none is set.
 */
static u64 ndp_pullq_rate_set(const struct ndp_pullq *q)
{
	u64 rate = 0;

	/* The device exists for a grace period after the queue was marked dead. */
	rcu_read_lock();
	if (!READ_ONCE(q->dead))
		rate = ndp_rate_set(ndp_pernet(dev_net(q->dev)));
	rcu_read_unlock();
	return rate;
}

/**
 * ndp_pull_rate - pace of a connection's pull queue
 * @np:		connection
 *
 * Context: np->lock held.
 * Return: bits per second, 0 if not paced.
 */
u64 ndp_pull_rate(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	if (!ps->q)
		return 0;
	return ndp_pull_pace(ndp_pullq_rate_set(ps->q) ?: ndp_link_rate(ps->q->link),
			     READ_ONCE(ps->q->share));
}

/* Link time that a pull costs, in nanoseconds. */
struct ndp_pull_cost {
	u64	packet;		/* of the packet that it elicits */
	u64	full;		/* of a full packet */
	u64	mib;		/* of a mebibyte */
};

/*
 * Will the next pull elicit another packet than the only one that came trimmed?  The sender first
 * sends packets that have not arrived at all, whose headers were dropped or returned.
 */
static bool ndp_pull_others_first(const struct ndp_sock *np)
{
	return np->rcv_last && ndp_missing(np) > np->promised + 1;
}

/*
 * Payload of a packet of new data.  Packets of a stream are full except the last; each message
 * ends in a packet that is not, so for messages the mean is taken.
 */
static u32 ndp_pull_new_len(const struct ndp_sock *np)
{
	const struct ndp_pull_state *ps = ndp_pull(np);
	u32 len = np->rcv_mss;

	if (ndp_has_messages(np) && ps->mean16)
		len = min(len, DIV_ROUND_UP(ps->mean16, 16));
	return ps->behind ? min(ps->behind, len) : len;
}

/*
 * Payload of the packet that the next pull elicits: senders send trimmed packets first, the lowest
 * PSN first, and then new data.  A packet of unknown size is assumed to be full.
 */
static u32 ndp_pull_len(const struct ndp_sock *np)
{
	const struct ndp_pull_state *ps = ndp_pull(np);

	if (!ps->trimmed)
		return ndp_pull_new_len(np);
	if (ps->trimmed_bytes <= (ps->trimmed - 1) * np->rcv_mss)
		return ps->trimmed_bytes / ps->trimmed;
	if (ps->trimmed > 1 || ndp_pull_others_first(np))
		return np->rcv_mss;
	return min(ps->trimmed_bytes, np->rcv_mss);
}

/* Bytes that a packet of the connection takes on the link beside its payload. */
static u32 ndp_wire_overhead(const struct ndp_sock *np)
{
	return ndp_outer_len(np) + NDP_HDR_LEN + NDP_ETH_OVERHEAD;
}

static u64 ndp_pull_time(u64 mib, u32 bytes)
{
	return bytes * mib >> 20;
}

/* Link time of the packet that the next pull elicits. */
static u64 ndp_pull_packet_time(const struct ndp_sock *np, u64 mib)
{
	return ndp_pull_time(mib, ndp_wire_overhead(np) + ndp_pull_len(np));
}

static struct ndp_pull_cost ndp_pull_cost(struct ndp_sock *np)
{
	u64 mib = div64_u64(8ULL * SZ_1M * NSEC_PER_SEC, ndp_pull_rate(np));

	return (struct ndp_pull_cost) {
		.packet = ndp_pull_packet_time(np, mib),
		.full = ndp_pull_time(mib, ndp_wire_overhead(np) + np->rcv_mss),
		.mib = mib,
	};
}

/* A pull is granted: account for the packet that it elicits. */
static void ndp_pull_elicit(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	u32 len = ndp_pull_len(np);

	if (!ps->trimmed) {
		ps->behind -= min(ps->behind, len);
	} else if (ps->trimmed_bytes >= len) {
		ps->trimmed--;
		ps->trimmed_bytes -= len;
	}
}

/* The class of a connection's priority; class 0 is served first. */
static unsigned int ndp_pull_class(const struct ndp_sock *np)
{
	return NDP_PRIORITY_MAX - ndp_priority(np);
}

/* The first class from @class on that has waiting connections, or NDP_PULL_CLASSES. */
static unsigned int ndp_pullq_waiting(const struct ndp_pullq *q,
				      unsigned int class)
{
	while (class < NDP_PULL_CLASSES && list_empty(&q->round[class]))
		class++;
	return class;
}

/* Percentage of pulls that is reserved for lower classes. */
static u32 ndp_pullq_low_share(const struct ndp_pullq *q)
{
	return READ_ONCE(ndp_pernet(dev_net(q->dev))->pull_low_share);
}

/* Queue a connection at the tail of its class.  Context: np->lock and q->lock held. */
static void ndp_pullq_add_tail(struct ndp_pullq *q, struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	ps->class = ndp_pull_class(np);
	list_add_tail(&ps->node, &q->round[ps->class]);
}

/*
 * A reader that is slower than the link keeps its buffer full: each packet that it reads would be
 * pulled by a PULL of its own, and arrive alone.  Once the buffer was full, and while at least
 * half of it is unread, there is room only when an eighth of it is free.  Reading a part of a
 * packet is not noticed here, so more than a packet must be unread beyond what the reader waits
 * for.
 */
static bool ndp_pull_has_room(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	u32 most = READ_ONCE(ndp_to_sk(np)->sk_rcvbuf);
	u64 wanted = (u64)READ_ONCE(ndp_to_sk(np)->sk_rcvlowat) + np->rcv_mss;

	if (!ndp_room(np))
		ps->filled = true;
	else if (!ps->filled || !ndp_readable(np) ||
		 ndp_inq(np) < max_t(u64, most / 2, wanted) ||
		 ndp_rmem_used(np) <= most - most / 8)
		ps->filled = false;
	return !ps->filled;
}

/*
 * Is a pull to be granted?  After a refusal only for the lowest missing packet, if that waits for
 * one: it has a slot of its own.  A peer that must verify its address gets no pull before that.
 */
static bool ndp_pull_pending(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	if (ndp_must_verify(np))
		return false;
	if (ps->refused && !(ps->low_waits && !np->promised))
		return false;
	return ps->owed && ndp_pull_has_room(np);
}

/* Context: np->lock held. */
static void ndp_pull_grant(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	ndp_pull_elicit(np);
	ps->owed--;
	ps->sent++;
	np->promised++;
	ps->low_waits = false;
	np->counters.pulls_out++;
	NDP_CONN_INC(np, PULLED_OUT);
	trace_ndp_pull(np, 1, ps->sent);
}

/* Context: q->lock held. */
static void ndp_pullq_arm(struct ndp_pullq *q)
{
	if (ndp_pullq_waiting(q, 0) == NDP_PULL_CLASSES || q->dead ||
	    hrtimer_is_queued(&q->timer))
		return;
	hrtimer_start(&q->timer, ns_to_ktime(q->next),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/*
 * Pulls that a late timer may send at once.  A timer that runs after a softirq with many packets
 * must replace them all, or fewer are in flight each time and the link waits for the timer;
 * packets that have just arrived whole found room on their way.  Context: q->lock held.
 */
static u32 ndp_pullq_burst(const struct ndp_pullq *q)
{
	return max(NDP_PULL_BATCH, q->arrived);
}

/*
 * Charge one pull: the packet that it elicits, and unpulled bytes that arrived since the last pull
 * (headers are a hundredth of a link's load where data flows both ways).  Those that arrived while
 * the queue was idle are not charged: they delay nothing.  A late timer may catch up, an idle
 * queue may not.
 */
static void ndp_pullq_charge(struct ndp_pullq *q, struct ndp_pull_cost cost,
			     u64 now, bool late)
{
	u64 slack = late ? (ndp_pullq_burst(q) - 1) * cost.full : 0;
	u32 unpulled = atomic_xchg(&q->unpulled, 0);

	if (q->next + NDP_PULL_BATCH * cost.full < now) {
		unpulled = 0;
		q->pushed_trimmed_now = 0;
	}
	q->next = max(q->next, now - min(now, slack)) + cost.packet +
		  min(ndp_pull_time(cost.mib, unpulled), cost.full);
	q->pulls++;
}

/*
 * Is no other connection waiting that would be served before this one?  This one may be queued.
 * Context: np->lock and q->lock held.
 */
static bool ndp_pullq_nobody_before(const struct ndp_pullq *q,
				    const struct ndp_sock *np)
{
	const struct ndp_pull_state *ps = ndp_pull(np);
	unsigned int first = ndp_pullq_waiting(q, 0);

	if (first == NDP_PULL_CLASSES)
		return true;
	if (ps->queued && first == ps->class && list_is_singular(&q->round[first]))
		return list_is_first(&ps->node, &q->round[first]) &&
		       ndp_pullq_waiting(q, first + 1) == NDP_PULL_CLASSES;
	return first > ndp_pull_class(np) && !ndp_pullq_low_share(q);
}

/*
 * Grant pulls at once while the pace allows it and no connection waits before this one.  A
 * connection that waits for a late timer may catch up as the timer does.
 *
 * Context: np->lock held; a pull is pending.
 * Return: true if one still is.
 */
static bool ndp_pull_at_once(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	struct ndp_pull_cost cost = ndp_pull_cost(np);
	struct ndp_pullq *q = ps->q;
	u64 now = ktime_get_ns();
	bool pending = true;

	spin_lock(&q->lock);
	/*
	 * A pull that leaves half a packet early and rides on the ACK is better than a PULL packet
	 * of its own.
	 */
	while (pending && !q->dead && q->next <= now + cost.full / 2 &&
	       ndp_pullq_nobody_before(q, np)) {
		ndp_pullq_charge(q, cost, now, ps->queued);
		/* The link was idle, so one of the turns taken is forgiven. */
		ps->turns_taken -= !!ps->turns_taken;
		ndp_pull_grant(np);
		cost.packet = ndp_pull_packet_time(np, cost.mib);
		pending = ndp_pull_pending(np);
	}
	spin_unlock(&q->lock);
	return pending;
}

static void ndp_pull_enqueue(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	struct ndp_pullq *q = ps->q;

	spin_lock(&q->lock);
	if (!q->dead) {
		ps->queued = true;
		if (!q->waiting++)
			q->arrived = 0;
		sock_hold(ndp_to_sk(np));
		ndp_pullq_add_tail(q, np);
		ndp_pullq_arm(q);
	}
	spin_unlock(&q->lock);
}

/**
 * ndp_pull_reorder - the priority of a connection may have changed
 * @np:		connection
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_pull_reorder(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	struct ndp_pullq *q = ps->q;

	if (!q || !ps->queued ||
	    READ_ONCE(ps->class) == ndp_pull_class(np))
		return;
	spin_lock(&q->lock);
	/* A connection that is being served is queued in its new class after its turn. */
	if (ps->queued && !list_empty(&ps->node)) {
		list_del(&ps->node);
		ndp_pullq_add_tail(q, np);
	}
	spin_unlock(&q->lock);
}

/**
 * ndp_send_pull - tell the peer what was granted
 * @np:		connection
 *
 * Context: np->lock held.
 */
void ndp_send_pull(struct ndp_sock *np)
{
	ndp_window_tell(np, ndp_pull(np)->owed ? 0 : NDP_F_LAST);
}

/**
 * ndp_pull_request - grant what may be granted now, queue for the rest
 * @np:		connection that earned a pull or made room
 *
 * The caller tells the peer when ndp_pull_state.told differs from @sent.
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_pull_request(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	if (!ps->q) {
		while (ndp_pull_pending(np))
			ndp_pull_grant(np);
		return;
	}
	if (ps->queued)
		ndp_pull_reorder(np);
	if (ndp_pull_pending(np) && ndp_pull_at_once(np) && !ps->queued)
		ndp_pull_enqueue(np);
}

/*
 * A sender that has sent all it had pushes new data within the window that it knows.  Has the
 * window grown so much that it should be advertised?  By a factor of two, as in TCP.
 */
static bool ndp_window_opened(struct ndp_sock *np)
{
	u32 window;

	/* Until the first answer the sender assumes an initial window; a refusal corrects that. */
	if (!ndp_pull(np)->told_any)
		return false;
	if (!np->rcv_last || np->rcv_fin || ndp_has_gap(np))
		return false;
	window = ndp_window(np);
	return window && window >= 2ULL * np->rcv_window;
}

/* Were pulls granted that no ACK at the end of this softirq will announce (ack.c)? */
static bool ndp_pull_untold(const struct ndp_sock *np)
{
	const struct ndp_pull_state *ps = ndp_pull(np);

	return ps->told != ps->sent && (!np->ack_map || np->ack_at);
}

/**
 * ndp_pull_more - there may be room that was not there before
 * @np:		connection
 * @room:	if false there is none, but the peer is to be sent the current state
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_pull_more(struct ndp_sock *np, bool room)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	if (ndp_to_sk(np)->sk_state == TCP_CLOSE)
		return;
	if (room)
		ps->refused = false;
	ndp_pull_request(np);
	if (!room || ndp_pull_untold(np) || ndp_window_opened(np))
		ndp_send_pull(np);
}

/*
 * The class whose turn it is: the first that waits, or a lower one if a pull is due to the lower
 * classes.  Context: q->lock held.
 */
static struct list_head *ndp_pullq_class(struct ndp_pullq *q, u32 low_share)
{
	unsigned int first = ndp_pullq_waiting(q, 0);
	unsigned int low;

	if (first == NDP_PULL_CLASSES)
		return NULL;
	low = ndp_pullq_waiting(q, max(q->low_class, first) + 1);
	if (low == NDP_PULL_CLASSES)
		low = ndp_pullq_waiting(q, first + 1);
	if (!low_share || low == NDP_PULL_CLASSES)
		return &q->round[first];
	q->low_due += low_share;
	if (q->low_due < 100)
		return &q->round[first];
	q->low_due -= 100;
	q->low_class = low;
	return &q->round[low];
}

/*
 * The connection whose turn it is.  Connections with turns taken in advance are skipped, a few at
 * a time.
 * Context: q->lock held.
 * Return: a connection, or NULL if none waits or the timer must run again.
 */
static struct ndp_sock *ndp_pullq_turn(struct ndp_pullq *q, u32 low_share)
{
	struct list_head *round = ndp_pullq_class(q, low_share);
	struct ndp_pull_state *ps;
	int i;

	for (i = 0; round && i < NDP_PULL_SKIP; i++) {
		ps = list_first_entry(round, struct ndp_pull_state, node);
		if (!ps->turns_taken || list_is_singular(round)) {
			ps->turns_taken = 0;
			return ndp_of_pull(ps);
		}
		ps->turns_taken--;
		list_move_tail(&ps->node, round);
	}
	return NULL;
}

/*
 * Charge a pull that the timer grants.
 * Return: true if the timer is late, so that the next pull is due already.
 */
static bool ndp_pullq_charge_timer(struct ndp_pullq *q, struct ndp_pull_cost cost,
				   u64 now)
{
	bool late;

	spin_lock(&q->lock);
	ndp_pullq_charge(q, cost, now, true);
	late = q->next <= now;
	spin_unlock(&q->lock);
	return late;
}

/*
 * Serve a connection whose turn it is.  Called with q->lock held and returns
 * with it held; the lock is dropped meanwhile, as np->lock comes first.
 */
static void ndp_pullq_serve(struct ndp_pullq *q, struct ndp_sock *np, u64 now)
	__must_hold(&q->lock)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	struct ndp_pull_cost cost;
	bool again;

	list_del_init(&ps->node);
	spin_unlock(&q->lock);

	spin_lock(&np->lock);
	if (ps->q == q && ndp_pull_pending(np)) {
		do {
			cost = ndp_pull_cost(np);
			ndp_pull_grant(np);
		} while (ndp_pullq_charge_timer(q, cost, now) && ndp_pull_pending(np));
		ndp_send_pull(np);
	}
	again = ps->q == q && ndp_pull_pending(np);
	spin_lock(&q->lock);
	again = again && !q->dead;
	if (again) {
		ndp_pullq_add_tail(q, np);
	} else {
		ps->queued = false;
		q->waiting--;
	}
	spin_unlock(&q->lock);
	/* If the connection moved to another device meanwhile, queue its pulls there. */
	if (!again) {
		ndp_pull_request(np);
		if (ndp_pull_untold(np))
			ndp_send_pull(np);
	}
	spin_unlock(&np->lock);

	if (!again)
		sock_put(ndp_to_sk(np));
	spin_lock(&q->lock);
}

static enum hrtimer_restart ndp_pullq_timer(struct hrtimer *t)
{
	struct ndp_pullq *q = container_of(t, struct ndp_pullq, timer);
	u64 now = ktime_get_ns();
	struct ndp_sock *np;
	u32 turns;

	spin_lock(&q->lock);
	for (turns = ndp_pullq_burst(q); turns && q->next <= now; turns--) {
		np = ndp_pullq_turn(q, ndp_pullq_low_share(q));
		if (!np)
			break;
		ndp_pullq_serve(q, np, now);
	}
	q->arrived = 0;
	ndp_pullq_arm(q);
	spin_unlock(&q->lock);
	return HRTIMER_NORESTART;
}

/**
 * ndp_pull_detach - a connection ends or changes its device
 * @np:		connection
 *
 * Context: np->lock held; the caller has a reference.
 */
void ndp_pull_detach(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	struct ndp_pullq *q = ps->q;
	bool queued;

	ps->q = NULL;
	ps->dev = NULL;
	if (!q)
		return;
	spin_lock(&q->lock);
	ps->turns_taken = 0;
	/*
	 * A connection that is being served is not in the list; ndp_pullq_serve() sees the
	 * change.
	 */
	queued = ps->queued && !list_empty(&ps->node);
	if (queued) {
		list_del_init(&ps->node);
		ps->queued = false;
		q->waiting--;
	}
	spin_unlock(&q->lock);
	if (queued)
		sock_put(ndp_to_sk(np));
	ndp_pullq_put(q);
}

/* Has the connection a pull queue that still works, or a device that needs none? */
static bool ndp_pull_has_device(const struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	return ps->dev && !(ps->q && READ_ONCE(ps->q->dead));
}

/*
 * DATA of a multihomed host's connection arrives by several devices.  The connection keeps the
 * pull queue of one until most of its DATA arrives by another: with each move it loses its place
 * among the waiting connections and its turns.
 */
static bool ndp_pull_stays(struct ndp_sock *np, const struct net_device *dev)
{
	struct ndp_pull_state *ps = ndp_pull(np);

	if (!ndp_pull_has_device(np))
		return false;
	if (ps->dev == dev) {
		ps->elsewhere_in -= !!ps->elsewhere_in;
		return true;
	}
	return ps->q && ++ps->elsewhere_in < NDP_PULL_MOVE;
}

static void ndp_pull_attach(struct ndp_sock *np, const struct net_device *dev)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	struct ndp_pullq *q;

	q = dev->flags & IFF_LOOPBACK ? NULL : ndp_pullq_find(ndp_bottom(dev));
	if (q && !refcount_inc_not_zero(&q->ref))
		q = NULL;
	if (ps->q)
		NDP_CONN_INC(np, PULLQ_MOVED);
	ndp_pull_detach(np);
	ps->q = q;
	ps->dev = dev;
	ps->elsewhere_in = 0;
}

/**
 * ndp_pull_device - note the device that DATA arrived by
 * @np:		connection
 * @dev:	device
 *
 * Context: np->lock held, RCU read side; the caller has a reference.
 */
void ndp_pull_device(struct ndp_sock *np, const struct net_device *dev)
{
	if (!ndp_pull_stays(np, dev))
		ndp_pull_attach(np, dev);
}

/**
 * ndp_pull_forget_turns - the sender has nothing more: its turns are forgotten
 * @np:		connection
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_pull_forget_turns(struct ndp_sock *np)
{
	struct ndp_pull_state *ps = ndp_pull(np);
	struct ndp_pullq *q = ps->q;

	if (!q || !READ_ONCE(ps->turns_taken))
		return;
	spin_lock(&q->lock);
	ps->turns_taken = 0;
	spin_unlock(&q->lock);
}

/* Account for a packet that has arrived and was not pulled. */
static void ndp_pull_unpulled(struct ndp_sock *np, u32 len)
{
	atomic_add(ndp_wire_overhead(np) + len, &ndp_pull(np)->q->unpulled);
}

/**
 * ndp_pull_message - a pushed packet has completed all that the peer has sent
 * @np:		connection
 * @len:	bytes of its payload
 *
 * The packet is not charged while first windows collide: pulls must begin before the last
 * packet of those has arrived, or the link is idle after it.
 *
 * Context: np->lock held.
 */
void ndp_pull_message(struct ndp_sock *np, u32 len)
{
	struct ndp_pullq *q = ndp_pull(np)->q;

	if (q && READ_ONCE(q->pushed_trimmed_now) * 4 <= READ_ONCE(q->pulled_in))
		ndp_pull_unpulled(np, len);
}

/**
 * ndp_pull_header - a packet without payload has arrived
 * @np:		connection
 * @dev:	device
 *
 * Context: np->lock held, RCU read side; the caller has a reference.
 */
void ndp_pull_header(struct ndp_sock *np, const struct net_device *dev)
{
	if (!ndp_pull_has_device(np))
		ndp_pull_attach(np, dev);
	if (ndp_pull(np)->q)
		ndp_pull_unpulled(np, 0);
}

/* First windows have ended: let the port's queue drain.  Context: q->lock held. */
static void ndp_pullq_drain(struct ndp_pullq *q, struct ndp_pull_cost cost,
			    u64 now)
{
	if (q->pushed_trimmed_in < NDP_SWITCH_LIMIT)
		return;
	q->pushed_trimmed_in = 0;
	q->next = max(q->next, now) + NDP_PULL_DRAIN * cost.full;
}

/* Adapt the pull rate to the arrivals of a round trip.  Context: q->lock held. */
static void ndp_pullq_adapt_rate(struct ndp_pullq *q)
{
	bool pushed = (q->pushed_in + q->pushed_in_prev) * 10 > q->pulled_in;

	if (q->trimmed_in * 4 <= q->pulled_in)
		q->share = min_t(u32, q->share + NDP_SHARE_FULL / 100,
				 NDP_SHARE_FULL);
	else if (!pushed)
		q->share = max_t(u32, q->share * 9 / 10, NDP_SHARE_MIN);
	q->pulled_ever += q->pulled_in;
	q->trimmed_ever += q->trimmed_in;
	q->pushed_ever += q->pushed_in;
	q->pushed_in_prev = q->pushed_in;
	q->pushed_in = 0;
	q->pushed_trimmed_now = 0;
	q->pulled_in = 0;
	q->trimmed_in = 0;
}

/**
 * ndp_pull_feedback - DATA or FIN has arrived
 * @np:		connection
 * @pushed:	sent in a first window, not for a pull
 * @trimmed:	without its payload
 *
 * Packets that were not pulled, or are from a peer whose address may be spoofed, say nothing about
 * the rate of pulls, which all connections of the device share.
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_pull_feedback(struct ndp_sock *np, bool pushed, bool trimmed)
{
	bool pulled = !pushed && np->promised && !ndp_is_unverified(np);
	struct ndp_pull_state *ps = ndp_pull(np);
	struct ndp_pullq *q = ps->q;
	u64 now;

	if (!q)
		return;
	spin_lock(&q->lock);
	if (pushed && !trimmed)
		ps->turns_taken++;
	q->arrived += !trimmed;
	q->pushed_in += pushed;
	q->pulled_in += pulled;
	q->trimmed_in += pulled && trimmed;
	q->pushed_trimmed_in += pushed && trimmed;
	q->pushed_trimmed_now += pushed && trimmed;
	if (q->pulled_in < NDP_SHARE_SAMPLE)
		goto out;
	now = ktime_get_ns();
	if (now < q->epoch_end)
		goto out;
	if (!q->pushed_in)
		ndp_pullq_drain(q, ndp_pull_cost(np), now);
	ndp_pullq_adapt_rate(q);
	q->epoch_end = now + min(max(ndp_srtt(np), ndp_rto_base(np) / 3), NDP_RTO_MAX);
out:
	spin_unlock(&q->lock);
}

/**
 * ndp_pullq_stats - statistics of a device's pull queue
 * @dev:	device
 * @stats:	filled in
 *
 * Context: RCU read side; process or softirq.
 * Return: false if there is no queue.
 */
bool ndp_pullq_stats(const struct net_device *dev, struct ndp_pullq_stats *stats)
{
	struct ndp_pullq *q = ndp_pullq_find(dev);

	if (!q)
		return false;
	spin_lock_bh(&q->lock);
	*stats = (struct ndp_pullq_stats) {
		/* The table and each connection have one reference. */
		.conns = refcount_read(&q->ref) - 1,
		.waiting = q->waiting,
		.share = q->share,
		.pulls = q->pulls,
		.pulled_in = q->pulled_ever + q->pulled_in,
		.trimmed_in = q->trimmed_ever + q->trimmed_in,
		.pushed_in = q->pushed_ever + q->pushed_in,
	};
	spin_unlock_bh(&q->lock);
	return true;
}

static void ndp_pullq_add(struct net_device *dev)
{
	struct ndp_pullq *q = kzalloc(sizeof(*q), GFP_KERNEL);
	int i;

	if (!q)
		return;
	q->link = ndp_link_get(dev);
	if (!q->link) {
		kfree(q);
		return;
	}
	q->dev = dev;
	q->share = NDP_SHARE_FULL;
	refcount_set(&q->ref, 1);
	spin_lock_init(&q->lock);
	for (i = 0; i < NDP_PULL_CLASSES; i++)
		INIT_LIST_HEAD(&q->round[i]);
	hrtimer_setup(&q->timer, ndp_pullq_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	spin_lock_bh(&ndp_pullqs_lock);
	hash_add_rcu(ndp_pullqs, &q->node, (unsigned long)dev);
	spin_unlock_bh(&ndp_pullqs_lock);
}

static struct ndp_sock *ndp_pullq_first_held(struct ndp_pullq *q)
{
	struct ndp_sock *np = NULL;
	unsigned int class;

	spin_lock_bh(&q->lock);
	class = ndp_pullq_waiting(q, 0);
	if (class < NDP_PULL_CLASSES) {
		np = ndp_of_pull(list_first_entry(&q->round[class],
						  struct ndp_pull_state, node));
		sock_hold(ndp_to_sk(np));
	}
	spin_unlock_bh(&q->lock);
	return np;
}

/*
 * Remove a queue: no lookup finds it any more and nothing is queued from here on; waiting
 * connections are detached and attach to another device with their next packet.
 */
static void ndp_pullq_del(struct ndp_pullq *q)
{
	struct ndp_sock *np;

	spin_lock_bh(&ndp_pullqs_lock);
	hash_del_rcu(&q->node);
	spin_unlock_bh(&ndp_pullqs_lock);

	spin_lock_bh(&q->lock);
	WRITE_ONCE(q->dead, true);
	spin_unlock_bh(&q->lock);
	hrtimer_cancel(&q->timer);

	while ((np = ndp_pullq_first_held(q))) {
		spin_lock_bh(&np->lock);
		if (ndp_pull(np)->q == q)
			ndp_pull_detach(np);
		spin_unlock_bh(&np->lock);
		sock_put(ndp_to_sk(np));
	}
	ndp_pullq_put(q);
}

static int ndp_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct ndp_pullq *q;

	rcu_read_lock();
	q = ndp_pullq_find(dev);
	rcu_read_unlock();
	/* RTNL keeps the queue alive: only NETDEV_UNREGISTER below removes it. */
	switch (event) {
	case NETDEV_REGISTER:
		if (!q)
			ndp_pullq_add(dev);
		break;
	case NETDEV_UNREGISTER:
		if (q)
			ndp_pullq_del(q);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block ndp_netdev_nb = {
	.notifier_call = ndp_netdev_event,
};

int __init ndp_pull_init(void)
{
	/* Replays NETDEV_REGISTER and NETDEV_UP for all devices that exist. */
	return register_netdevice_notifier(&ndp_netdev_nb);
}

void ndp_pull_exit(void)
{
	/* Replays NETDEV_UNREGISTER for all devices. */
	unregister_netdevice_notifier(&ndp_netdev_nb);
}
