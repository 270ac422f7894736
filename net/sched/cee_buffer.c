// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: shared-buffer accounting, and what the peers are told.
 *
 * What waits in a lossless queue of any port is charged to the port that it came in by:
 * that port's peer is the one to stop.  A packet is charged when it is enqueued and is
 * discharged when it leaves that queue, in whatever way: sent, dropped, or thrown away
 * with the queue.  All of these are the qdisc's own doing, so the charge is recorded in
 * the packet's control block (struct cee_cb), which is the qdisc's as long as the packet
 * is, and orphans do not matter; clones are charged once together (cee_bill.c).  Between
 * reception and the queue a packet only ever is in a softirq's hands.
 *
 * skb->skb_iif tells by which device it came in; cee_port.c finds the port, or all that
 * it may have been.  What a socket of this machine sends has none; it is its socket's
 * memory, which bounds it.
 *
 * An account has a threshold: fixed, or alpha times what is free in the domain's buffer
 * (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 1998).
 * Beyond it a packet goes to the account's headroom and the peer is told XOFF.  What
 * leaves empties the headroom first.  XON follows when the headroom is empty and the
 * rest is so far below the threshold as the options say, or nothing is left.  Headroom is
 * set aside for each account, threshold bytes are taken from the rest of the buffer as
 * they come.  When that rest is used up all accounts are beyond their thresholds.
 *
 * Locks.  All of it is under the domain's lock, in softirqs and in enqueue and dequeue of
 * any port, one domain at a time.  A peer is told by its own port: a bit is set here, and
 * the port's dequeue, which is asked to run, makes the frame (cee_account_tell()).
 *
 * A port that goes.  Packets hold its cee_set, that holds the port's memory, so accounts
 * outlive the device.  @dead keeps all hands off the device from then on.
 */
#include <linux/math64.h>
#include <linux/net.h>
#include "sch_cee.h"

/* Bytes that no account has taken, headrooms apart. */
static u64 cee_free(const struct cee_domain *d)
{
	u64 taken = d->reserved + d->used;

	return d->buffer > taken ? d->buffer - taken : 0;
}

static u64 cee_threshold(const struct cee_prio_config *p, u64 free)
{
	return p->alpha ? div_u64(free * p->alpha, TC_CEE_ALPHA_ONE) : p->eff_xoff;
}

/* Is the peer to be paused? */
static bool cee_want_xoff(const struct cee_account *a, const struct cee_prio_config *p,
			  u64 free, bool was)
{
	if (!p->lossless)
		return false;
	if (a->headroom)
		return true;
	return was && a->shared && a->shared + p->eff_gap > cee_threshold(p, free);
}

/* Take room for a packet; false if there is none, and @force does not ask. */
static bool cee_account_add(struct cee_account *a, const struct cee_prio_config *p,
			    struct cee_domain *d, u32 len, bool force)
{
	u64 free = cee_free(d);

	if (!a->headroom && len <= free && a->shared + len <= cee_threshold(p, free)) {
		a->shared += len;
		a->shared_max = max(a->shared_max, a->shared);
		d->used += len;
		d->used_max = max(d->used_max, d->used);
		return true;
	}
	if (!force && (u64)a->headroom + len > p->eff_headroom)
		return false;
	a->headroom += len;
	a->headroom_max = max(a->headroom_max, a->headroom);
	return true;
}

static void cee_account_sub(struct cee_account *a, struct cee_domain *d, u32 len)
{
	u32 part = min(a->headroom, len);

	a->headroom -= part;
	a->shared -= len - part;
	d->used -= len - part;
}

static ktime_t cee_refresh_time(const struct cee_config *cfg)
{
	return ns_to_ktime(max(cee_quanta_ns(cfg, cfg->eff_quanta) / 2, CEE_REFRESH_MIN_NS));
}

/* Is there anything new to be told?  Context: the domain's lock. */
static bool cee_account_update(struct cee_port *port, const struct cee_config *cfg,
			       unsigned int prio)
{
	bool was = port->xoff & BIT(prio);
	bool now;

	if (port->dead)
		return false;
	now = !(port->hardware & BIT(prio)) &&
	      cee_want_xoff(&port->account[prio], &cfg->prio[prio], cee_free(port->domain), was);
	if (now == was)
		return false;
	port->xoff ^= BIT(prio);
	WRITE_ONCE(port->pending, port->pending | BIT(prio));
	if (!port->refreshing)
		hrtimer_start(&port->refresh, cee_refresh_time(cfg), HRTIMER_MODE_REL_SOFT);
	port->refreshing = true;
	return true;
}

/* Once for a port: it must never happen. */
static void cee_warn_overflow(struct cee_port *port, unsigned int prio)
{
	if (port->dead || port->warned || !net_ratelimit())
		return;
	port->warned = true;
	pr_warn("sch_cee: %s: the headroom of lossless priority %u is full, packets are lost; cable and ring are too small, or the peer does not obey\n",
		netdev_name(port->dev), prio);
}

static bool cee_charge_port(struct cee_port *port, unsigned int prio, u32 len, bool force)
{
	const struct cee_config *cfg = rcu_dereference_bh(port->cfg);
	bool ok, kick;

	spin_lock(&port->domain->lock);
	ok = cee_account_add(&port->account[prio], &cfg->prio[prio], port->domain, len, force);
	kick = cee_account_update(port, cfg, prio);
	spin_unlock(&port->domain->lock);
	if (kick)
		cee_kick(port);
	return ok;
}

static void cee_count_overflow(struct cee_port *port, unsigned int prio)
{
	spin_lock(&port->domain->lock);
	port->account[prio].overflow++;
	cee_warn_overflow(port, prio);
	spin_unlock(&port->domain->lock);
}

static void cee_uncharge_port(struct cee_port *port, unsigned int prio, u32 len)
{
	const struct cee_config *cfg = rcu_dereference_bh(port->cfg);
	bool kick;

	spin_lock(&port->domain->lock);
	cee_account_sub(&port->account[prio], port->domain, len);
	kick = cee_account_update(port, cfg, prio);
	spin_unlock(&port->domain->lock);
	if (kick)
		cee_kick(port);
}

/**
 * cee_charge() - charge a packet to the ports that it may have come in by
 * @set:	they
 * @prio:	priority
 * @len:	bytes
 *
 * It came in by one of them: as long as one has room it may have been that, and is not
 * lost.  The others answer for it beyond their headroom, which is theirs to fill with
 * what others brought, not to drop.
 *
 * Context: bottom halves are off; the caller may hold a root lock.
 * Return: true, or false if none of them has room: then none is charged.
 */
bool cee_charge(struct cee_set *set, unsigned int prio, u32 len)
{
	unsigned int i, has_room;

	for (has_room = 0; has_room < set->n; has_room++)
		if (cee_charge_port(set->port[has_room], prio, len, false))
			break;
	for (i = 0; i < set->n; i++) {
		if (has_room == set->n)
			cee_count_overflow(set->port[i], prio);
		else if (i != has_room)
			cee_charge_port(set->port[i], prio, len, true);
	}
	return has_room < set->n;
}

/**
 * cee_uncharge() - undo what cee_charge() did
 * @set:	the same
 * @prio:	the same
 * @len:	the same
 *
 * Context: as cee_charge().
 */
void cee_uncharge(struct cee_set *set, unsigned int prio, u32 len)
{
	int i;

	for (i = 0; i < set->n; i++)
		cee_uncharge_port(set->port[i], prio, len);
}

/* A pause lasts no longer than its quanta: say it again in time. */
static enum hrtimer_restart cee_refresh(struct hrtimer *timer)
{
	struct cee_port *port = container_of(timer, struct cee_port, refresh);
	enum hrtimer_restart restart = HRTIMER_NORESTART;
	const struct cee_config *cfg;
	int i;

	rcu_read_lock_bh();
	cfg = rcu_dereference_bh(port->cfg);
	spin_lock(&port->domain->lock);
	/* What other ports have given back may let this one's peer go on. */
	for (i = 0; i < CEE_PRIOS; i++)
		cee_account_update(port, cfg, i);
	/* Other options may have started it anew just now. */
	if (!hrtimer_is_queued(timer)) {
		port->refreshing = !port->dead && (port->xoff || port->pending);
		restart = port->refreshing ? HRTIMER_RESTART : HRTIMER_NORESTART;
	}
	if (restart == HRTIMER_RESTART) {
		WRITE_ONCE(port->pending, port->pending | port->xoff);
		hrtimer_forward_now(timer, cee_refresh_time(cfg));
	}
	spin_unlock(&port->domain->lock);
	if (restart == HRTIMER_RESTART)
		cee_kick(port);
	rcu_read_unlock_bh();
	return restart;
}

/**
 * cee_account_init() - prepare the accounts of a port
 * @port:	in zeroed memory
 */
void cee_account_init(struct cee_port *port)
{
	hrtimer_setup(&port->refresh, cee_refresh, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

/**
 * cee_account_apply() - let options take effect
 * @port:	port
 * @cfg:	derived and checked; the former ones are freed
 *
 * What is charged stays charged; who must be told otherwise now is told.
 *
 * Context: RTNL, or nobody knows the port yet.
 */
void cee_account_apply(struct cee_port *port, struct cee_config *cfg)
{
	struct cee_config *old = rcu_dereference_protected(port->cfg, 1);
	struct cee_domain *d = port->domain;
	bool kick = false;
	int i;

	spin_lock_bh(&d->lock);
	d->reserved += cee_reserve(cfg) - (u64)(old ? cee_reserve(old) : 0);
	if (cfg->buffer)
		d->buffer = cfg->buffer;
	rcu_assign_pointer(port->cfg, cfg);
	/* The pause that is told may be shorter than what the timer waits for now, and the
	 * next one shorter than what it waited for.
	 */
	if (port->refreshing) {
		WRITE_ONCE(port->pending, port->pending | port->xoff);
		hrtimer_start(&port->refresh, cee_refresh_time(cfg), HRTIMER_MODE_REL_SOFT);
		kick = true;
	}
	for (i = 0; i < CEE_PRIOS; i++)
		kick |= cee_account_update(port, cfg, i);
	spin_unlock_bh(&d->lock);
	if (kick) {
		rcu_read_lock_bh();
		cee_kick(port);
		rcu_read_unlock_bh();
	}
	if (old)
		kfree_rcu(old, rcu);
}

/**
 * cee_account_stop() - the device is no port any more
 * @port:	port
 *
 * Context: RTNL.  When it returns nobody will start the timer or use the device.
 */
void cee_account_stop(struct cee_port *port)
{
	spin_lock_bh(&port->domain->lock);
	WRITE_ONCE(port->dead, true);
	port->xoff = 0;
	WRITE_ONCE(port->pending, 0);
	port->domain->reserved -= cee_reserve(rtnl_dereference(port->cfg));
	spin_unlock_bh(&port->domain->lock);
	hrtimer_cancel(&port->refresh);
}

/*
 * 802.3x has one pause for all: it ends when no priority needs it any more, and says nothing
 * of the one that did before the others.
 */
static struct sk_buff *cee_account_frame(const struct cee_port *port, const struct cee_config *cfg)
{
	if (cfg->pause == TCA_CEE_PAUSE_GLOBAL)
		return cee_pause_frame(port->dev, port->xoff ? cfg->eff_quanta : 0);
	return cee_pfc_frame(port->dev, port->pending, port->xoff, cfg->eff_quanta);
}

/**
 * cee_account_tell() - the pause frame that is due
 * @port:	port
 *
 * Context: dequeue.
 * Return: NULL if there is none, or no memory: it stays due.
 */
struct sk_buff *cee_account_tell(struct cee_port *port)
{
	const struct cee_config *cfg = rcu_dereference_bh(port->cfg);
	struct sk_buff *skb;
	u8 mask, xoff;
	int i;

	if (likely(!READ_ONCE(port->pending)))
		return NULL;
	spin_lock(&port->domain->lock);
	mask = port->pending;
	xoff = port->xoff;
	skb = mask ? cee_account_frame(port, cfg) : NULL;
	if (skb) {
		WRITE_ONCE(port->pending, 0);
		if (cfg->pause == TCA_CEE_PAUSE_GLOBAL && xoff)
			mask &= xoff;
		for (i = 0; i < CEE_PRIOS; i++) {
			port->account[i].xoff_sent += mask & xoff & BIT(i) ? 1 : 0;
			port->account[i].xon_sent += mask & ~xoff & BIT(i) ? 1 : 0;
		}
	} else if (mask) {
		port->nomem++;
	}
	spin_unlock(&port->domain->lock);
	return skb;
}
