// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: shared-buffer accounting, and when peers are sent XOFF and XON.
 *
 * A packet that waits in a lossless queue of any port is charged to the port that it came in
 * by: that port's peer is the one to pause.  A packet is charged when it is enqueued and is
 * discharged when it leaves that queue, in whatever way: sent, dropped, or thrown away with
 * the queue.  All of these happen in the qdisc, so the charge is recorded in the packet's
 * control block (struct cee_cb), which belongs to the qdisc as long as the packet does, and
 * skb_orphan() does not affect it; clones are charged once together (cee_bill.c).  Between
 * reception and the queue a packet is only ever handled by a softirq.
 *
 * skb->skb_iif is the device that a packet came in by; cee_port.c finds the port, or all
 * ports that it may have been.  A packet from a socket of this machine has no skb_iif; it is
 * charged to the socket's memory, which bounds it.
 *
 * An account has a threshold: fixed, or alpha times what is free in the domain's buffer
 * (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 1998).
 * Beyond the threshold a packet is charged to the account's headroom and the peer is sent
 * XOFF.  Packets that leave empty the headroom first.  XON follows when the headroom is
 * empty and the rest is as far below the threshold as the options require, or zero.
 * Headroom is reserved for each account, bytes below the threshold are taken from the rest
 * of the buffer on demand.  When that rest is used up, all accounts are beyond their
 * thresholds.
 *
 * Locks.  All of it is under the domain's lock, in softirqs and in enqueue and dequeue of
 * any port, one domain at a time.  A pause frame is sent by the peer's own port: a bit is
 * set here, and that port's dequeue, which is scheduled, makes the frame
 * (cee_account_tell()).
 *
 * Removal of a port.  Packets hold its cee_set, which holds the port's memory, so accounts
 * outlive the device.  Once @dead is set, the device is no longer touched.
 */
#include <linux/math64.h>
#include <linux/net.h>
#include "sch_cee.h"

/* Bytes of the buffer that are neither used nor reserved as headroom. */
static u64 cee_free(const struct cee_domain *d)
{
	u64 taken = d->reserved + d->used;

	return d->buffer > taken ? d->buffer - taken : 0;
}

static u64 cee_threshold(const struct cee_prio_config *p, u64 free)
{
	return p->alpha ? div_u64(free * p->alpha, TC_CEE_ALPHA_ONE) : p->eff_xoff;
}

/* Should the peer be paused? */
static bool cee_want_xoff(const struct cee_account *a, const struct cee_prio_config *p,
			  u64 free, bool was)
{
	if (!p->lossless)
		return false;
	if (a->headroom)
		return true;
	return was && a->shared && a->shared + p->eff_gap > cee_threshold(p, free);
}

/* Take room for a packet.  Return: false if there is none; with @force it is taken anyway. */
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

/* A port that is down sends no frames, and its peer's pauses have ended with the link. */
static bool cee_port_is_up(const struct cee_port *port)
{
	return netif_running(port->dev) && netif_carrier_ok(port->dev);
}

/* Update a priority's XOFF state.  Return: true if it has changed.  Context: the domain's lock. */
static bool cee_account_update(struct cee_port *port, const struct cee_config *cfg,
			       unsigned int prio)
{
	bool was = port->xoff & BIT(prio);
	bool now;

	if (port->dead)
		return false;
	now = !(port->hardware & BIT(prio)) &&
	      cee_want_xoff(&port->account[prio], &cfg->prio[prio], cee_free(port->domain), was) &&
	      cee_port_is_up(port);
	if (now == was)
		return false;
	port->xoff ^= BIT(prio);
	WRITE_ONCE(port->pending, port->pending | BIT(prio));
	if (!port->refreshing)
		hrtimer_start(&port->refresh, cee_refresh_time(cfg), HRTIMER_MODE_REL_SOFT);
	port->refreshing = true;
	return true;
}

/* Warn once per port: a full headroom must never happen. */
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
 * @set:	the ports
 * @prio:	priority
 * @len:	bytes
 *
 * The packet came in by one of them.  As long as one port has room, the packet may have come
 * in by that port, and is not lost.  The other ports are charged too, beyond their headroom
 * if need be: a packet that another port may have received is not dropped for their lack of
 * room.
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

/* A pause expires after its quanta: repeat XOFF in time. */
static enum hrtimer_restart cee_refresh(struct hrtimer *timer)
{
	struct cee_port *port = container_of(timer, struct cee_port, refresh);
	enum hrtimer_restart restart = HRTIMER_NORESTART;
	const struct cee_config *cfg;
	int i;

	rcu_read_lock_bh();
	cfg = rcu_dereference_bh(port->cfg);
	spin_lock(&port->domain->lock);
	/* Bytes that other ports have given back may allow this port's peer to resume. */
	for (i = 0; i < CEE_PRIOS; i++)
		cee_account_update(port, cfg, i);
	if (!port->dead && !cee_port_is_up(port))
		WRITE_ONCE(port->pending, 0);
	/* A change of options may have restarted the timer since it fired. */
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
 * cee_account_apply() - put new options into effect
 * @port:	port
 * @cfg:	derived and checked; the old options are freed
 *
 * Packets that are charged stay charged; a peer whose XOFF state changes is notified.
 *
 * Context: RTNL, or the port is not published yet.
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
	/* The new pause may be shorter than the timer's current period: send XOFF again, and
	 * restart the timer with the new period.
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
 * cee_account_stop() - the device stops being a port
 * @port:	port
 *
 * Context: RTNL.  Once it returns, nothing starts the timer or uses the device.
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
 * An 802.3x pause covers all priorities: it ends when no priority needs it any more.  It is
 * not signalled when one priority alone no longer needs it.
 */
static struct sk_buff *cee_account_frame(const struct cee_port *port, const struct cee_config *cfg)
{
	if (cfg->pause == TCA_CEE_PAUSE_GLOBAL)
		return cee_pause_frame(port->dev, port->xoff ? cfg->eff_quanta : 0);
	return cee_pfc_frame(port->dev, port->pending, port->xoff, cfg->eff_quanta);
}

/**
 * cee_account_tell() - make the pause frame that is due
 * @port:	port
 *
 * Context: dequeue.
 * Return: NULL if no frame is due, or without memory: then it stays due.
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
