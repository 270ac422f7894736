// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: statistics.  Each part is read under its own lock; the whole is no atomic snapshot.
 */
#include <linux/slab.h>
#include <net/gen_stats.h>
#include "cee_queue.h"
#include "sch_cee.h"

static void cee_stats_queues(struct cee_sched *q, struct tc_cee_xstats *x, u64 now)
{
	int i;

	for (i = 0; i < CEE_PRIOS; i++) {
		x->prio[i] = q->st[i];
		x->prio[i].packets = q->queue[i].packets;
		x->prio[i].backlog = q->queue[i].bytes;
		x->prio[i].cnm_sent = q->queue[i].cp.sent;
		x->prio[i].cnm_unsent = q->queue[i].cp.unsent;
		x->paused |= cee_pfc_paused(q->port, i, now) << i;
	}
	x->gso_segmented = q->gso_segmented;
	x->storm = q->storm;
}

static void cee_stats_accounts(struct cee_port *port, struct tc_cee_xstats *x)
{
	const struct cee_account *a;
	int i;

	spin_lock_bh(&port->domain->lock);
	for (i = 0; i < CEE_PRIOS; i++) {
		a = &port->account[i];
		x->prio[i].xoff_sent = a->xoff_sent;
		x->prio[i].xon_sent = a->xon_sent;
		x->prio[i].shared = a->shared;
		x->prio[i].shared_max = a->shared_max;
		x->prio[i].headroom = a->headroom;
		x->prio[i].headroom_max = a->headroom_max;
		x->prio[i].overflow = a->overflow;
	}
	x->xoff = port->xoff;
	x->nomem = port->nomem;
	x->domain_used = port->domain->used;
	x->domain_max = port->domain->used_max;
	spin_unlock_bh(&port->domain->lock);
}

static void cee_stats_reactions(struct cee_port *port, struct tc_cee_xstats *x)
{
	struct cee_reaction *r;
	u32 active;
	int i;

	for (i = 0; i < CEE_PRIOS; i++) {
		/* Pairs with cee_port_react(). */
		r = smp_load_acquire(&port->reaction[i]);
		if (!r)
			continue;
		x->prio[i].rate = cee_rp_slowest(r, &active);
		x->prio[i].limiters = active;
		x->prio[i].cnm_received = READ_ONCE(r->received);
	}
}

static void cee_stats_pauses(struct cee_port *port, struct tc_cee_xstats *x, u64 now)
{
	int i;

	spin_lock_bh(&port->pause_lock);
	for (i = 0; i < CEE_PRIOS; i++) {
		x->prio[i].xoff_received = port->pause[i].xoff;
		x->prio[i].xon_received = port->pause[i].xon;
		x->prio[i].paused_ns = cee_pfc_paused_ns(&port->pause[i], now);
	}
	x->ignored = port->ignored;
	x->malformed = port->malformed;
	x->cnm_ignored = port->cnm_ignored;
	x->cnm_strange = port->cnm_strange;
	x->cnm_malformed = port->cnm_malformed;
	spin_unlock_bh(&port->pause_lock);
}

/**
 * cee_dump_stats() - Qdisc_ops.dump_stats
 * @sch:	qdisc
 * @d:		dump
 *
 * The counters are dumped once, not again as TCA_XSTATS as gnet_stats_copy_app() would do: two
 * copies and the options do not fit into the one page that every reader of dumps provides.
 *
 * Context: RTNL.
 * Return: 0 or an error.
 */
int cee_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct tc_cee_xstats *x = kzalloc(sizeof(*x), GFP_KERNEL);
	struct cee_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	int err;

	if (!x)
		return -ENOMEM;
	sch_tree_lock(sch);
	cee_stats_queues(q, x, now);
	sch_tree_unlock(sch);
	cee_stats_accounts(q->port, x);
	cee_stats_pauses(q->port, x, now);
	cee_stats_reactions(q->port, x);
	x->hardware = READ_ONCE(q->port->hardware);
	rcu_read_lock();
	x->lossless = rcu_dereference(q->port->cfg)->lossless;
	rcu_read_unlock();
	err = nla_put_64bit(d->skb, TCA_STATS_APP, sizeof(*x), x, d->padattr) ? -EMSGSIZE : 0;
	kfree(x);
	return err;
}
