// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: the lossless switch port, as a queueing discipline.
 *
 * Requirements of Converged Enhanced Ethernet on a port (D. Crisan, "Optimized networking
 * for virtual machines ...", ETH Zurich 2014, section 2.2.2):
 *
 *   - Eight priorities (cee_classify.c) with a queue each, FIFO or fair by flow
 *     (cee_queue.c).
 *   - PFC, IEEE 802.1Qbb.  A priority that the peer pauses stops before its next packet
 *     (cee_pfc.c).  Packets that wait here are charged to the ports that they came in by,
 *     and the peers of these ports are paused in time (cee_buffer.c, cee_port.c), so that
 *     no packet of a lossless priority is lost.
 *   - ETS, IEEE 802.1Qaz (cee_ets.c).
 *   - QCN, IEEE 802.1Qau: queues notify sources (cee_qcn_cp.c), which limit their rates
 *     (cee_qcn_rp.c).
 *   - ECN, and NP-ECN for transports that distinguish congestion from a pause (cee_ecn.c).
 *
 *	 peer's XOFF, XON ---> pause_lock ----.
 *	                                      v
 *	packets -> priority -> 8 queues -> those not paused -> ETS -> rate -> device
 *	              |                           |                             ^
 *	              '--- charge ---> domain <---' uncharge                    |
 *	                                  '--> another port: XOFF, XON ---------'
 *
 * Packets of a lossless priority may be dropped in these cases, each with its own counter:
 * the headroom of the ingress port is full (drop_overflow, it must not happen); the limit
 * is reached for packets that are charged to no port and no socket (drop_limit: they came
 * in by a device without sch_cee); the watchdog drops; the packet waits when the device
 * goes down.
 *
 * Watchdog.  A priority that has a packet and has been paused for as long as the options
 * allow is released: it is sent in spite of the pause, or dropped, until the pause ends.
 * One broken host must not stall a fabric, nor may a cycle of full buffers deadlock it.
 *
 * GSO packets are segmented first: pauses, thresholds and shares are about packets on the
 * wire.
 *
 * Dequeue returns control frames that were never enqueued, which only the root qdisc of a
 * transmit queue may do: sch_cee is the root, or below mq or the like.
 *
 * Context.  Enqueue, dequeue, reset and statistics are under the qdisc's root lock, which
 * guards all of struct cee_sched; see sch_cee.h for the other locks.
 *
 * Not here: any knowledge of transports.
 */
#include <linux/hashtable.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sock.h>
#include "cee_qcn.h"
#include "cee_queue.h"
#include "sch_cee.h"

/* A port that was blocked for long catches up by no more than this. */
#define CEE_RATE_LAG_NS		NSEC_PER_MSEC

static int cee_drop(struct sk_buff *skb, struct Qdisc *sch, __u64 *counter,
		    struct sk_buff **to_free)
{
	(*counter)++;
	return qdisc_drop(skb, sch, to_free);
}

/* Charge a packet to its ports, its socket or the limit.  Return: false if there is no room. */
static bool cee_admit(struct Qdisc *sch, const struct cee_config *cfg, struct sk_buff *skb,
		      unsigned int prio, const struct cee_origin *from)
{
	struct cee_sched *q = qdisc_priv(sch);
	struct cee_queue *queue = &q->queue[prio];
	u32 len = qdisc_pkt_len(skb);
	struct cee_set *set = NULL;

	*cee_cb(skb) = (struct cee_cb) {};
	if (cfg->prio[prio].lossless && skb->skb_iif && !READ_ONCE(q->port->foreign))
		set = cee_set_get(qdisc_dev(sch), skb->skb_iif);
	if (set && set->n) {
		if (cee_bill_charge(skb, from, set, prio, len))
			return true;
		cee_set_put(set);
		q->st[prio].drop_overflow++;
		return false;
	}
	if (set)
		cee_set_put(set);
	if (cfg->prio[prio].lossless && from->owned)
		return true;
	if ((u64)queue->limited + len > cfg->prio[prio].eff_limit) {
		q->st[prio].drop_limit++;
		return false;
	}
	queue->limited += len;
	cee_cb(skb)->limited = true;
	return true;
}

static void cee_discharge(struct cee_sched *q, const struct sk_buff *skb, unsigned int prio)
{
	if (cee_cb(skb)->limited)
		q->queue[prio].limited -= qdisc_pkt_len(skb);
	cee_bill_settle(skb, prio);
}

/* Unlink and discharge the first packet of a flow that has one. */
static struct sk_buff *cee_unlink(struct Qdisc *sch, unsigned int prio, struct cee_flow *flow)
{
	struct cee_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = cee_queue_take(&q->queue[prio], flow);

	sch->q.qlen--;
	qdisc_qstats_backlog_dec(sch, skb);
	cee_discharge(q, skb, prio);
	return skb;
}

static int cee_enqueue_one(struct sk_buff *skb, struct Qdisc *sch, const struct cee_origin *from,
			   struct sk_buff **to_free)
{
	struct cee_sched *q = qdisc_priv(sch);
	const struct cee_config *cfg = rcu_dereference_bh(q->port->cfg);
	unsigned int prio = cee_classify(skb, cfg);

	q->st[prio].in++;
	if (cee_storm_drops(q, cfg, prio))
		return cee_drop(skb, sch, &q->st[prio].drop_watchdog, to_free);
	if (!cee_admit(sch, cfg, skb, prio, from))
		return qdisc_drop(skb, sch, to_free);
	cee_accept(sch, cfg, skb, prio);
	return NET_XMIT_SUCCESS;
}

/* Returns success if at least one segment was queued. */
static int cee_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch, struct cee_origin *from,
			   struct sk_buff **to_free)
{
	struct cee_sched *q = qdisc_priv(sch);
	struct sk_buff *segs = cee_segments(q, skb), *seg, *next;
	int best = NET_XMIT_DROP;
	unsigned int prio;

	if (!segs) {
		prio = cee_classify(skb, rcu_dereference_bh(q->port->cfg));
		q->st[prio].in++;
		return cee_drop(skb, sch, &q->st[prio].drop_limit, to_free);
	}
	skb_list_walk_safe(segs, seg, next) {
		cee_single(seg);
		if (cee_enqueue_one(seg, sch, from, to_free) == NET_XMIT_SUCCESS)
			best = NET_XMIT_SUCCESS;
		from->part++;
	}
	consume_skb(skb);
	return best;
}

/*
 * Is a packet charged to a socket of this machine, whose send buffer bounds it?  Received
 * packets are not, even if they have a socket, such as a tap's, and neither are TCP's pure
 * ACKs, its SYN-ACKs, which have a request socket, its resets, and packets that netem has
 * delayed, whose sockets' references charge nothing.  The kernel's own sockets for neighbour
 * discovery and MLD disregard their send buffer: what exceeds twice the buffer is not bounded.
 */
static bool cee_is_owned(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	if (!sk || !sk_fullsock(sk) || !skb->destructor || skb->destructor == sock_edemux ||
	    skb->destructor == sock_efree || skb->skb_iif || skb->truesize < skb->len)
		return false;
	return !sk->sk_kern_sock || sk->sk_type != SOCK_RAW ||
	       refcount_read(&sk->sk_wmem_alloc) <= 2 * (u64)READ_ONCE(sk->sk_sndbuf);
}

static int cee_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct cee_origin from = { .skb = skb, .owned = cee_is_owned(skb) };

	if (skb_is_gso(skb))
		return cee_enqueue_gso(skb, sch, &from, to_free);
	return cee_enqueue_one(skb, sch, &from, to_free);
}

/* Drop the packets that wait in a priority. */
static void cee_purge(struct Qdisc *sch, unsigned int prio, __u64 *counter)
{
	struct cee_sched *q = qdisc_priv(sch);
	struct list_head *active = &q->queue[prio].active;

	while (!list_empty(active)) {
		kfree_skb(cee_unlink(sch, prio, list_first_entry(active, struct cee_flow, node)));
		qdisc_qstats_drop(sch);
		(*counter)++;
	}
	q->queue[prio].np = q->queue[prio].seq;
}

static void cee_storm(struct Qdisc *sch, const struct cee_config *cfg, unsigned int prio)
{
	struct cee_sched *q = qdisc_priv(sch);

	if (!(q->storm & BIT(prio))) {
		q->storm |= BIT(prio);
		q->st[prio].storms++;
		net_warn_ratelimited("sch_cee: %s: the peer pauses priority %u for more than %u ms, it is %s\n",
				     netdev_name(qdisc_dev(sch)), prio, cfg->watchdog,
				     cfg->action == TCA_CEE_ACTION_DROP ? "dropped" : "sent on");
	}
	if (cfg->action == TCA_CEE_ACTION_DROP)
		cee_purge(sch, prio, &q->st[prio].drop_watchdog);
}

/* Do the rate limiters let a priority send?  If so, its queue->turn is set. */
static bool cee_rate_allows(struct cee_sched *q, const struct cee_config *cfg, unsigned int prio,
			    u64 now, u64 *wake)
{
	struct cee_reaction *by_flow = NULL;
	u64 wait = 0;

	if (cfg->prio[prio].limiter == TCA_CEE_LIMITER_PRIO)
		wait = cee_rp_wait(q->port->reaction[prio], cfg, 0, now);
	else if (cfg->prio[prio].limiter == TCA_CEE_LIMITER_FLOW)
		by_flow = q->port->reaction[prio];
	if (wait) {
		*wake = min(*wake, wait);
		return false;
	}
	q->queue[prio].turn = cee_queue_next(&q->queue[prio], cfg, by_flow, now, wake);
	return q->queue[prio].turn;
}

/* May a priority that has packets send?  If not, @wake is lowered to when to ask again. */
static bool cee_may_send(struct Qdisc *sch, const struct cee_config *cfg, unsigned int prio,
			 u64 now, u64 *wake)
{
	struct cee_sched *q = qdisc_priv(sch);
	u64 limit;

	if (!cee_queue_paused(q, prio, now)) {
		cee_unblock(q, prio);
		return cee_rate_allows(q, cfg, prio, now, wake);
	}
	limit = q->queue[prio].blocked + cfg->watchdog * (u64)NSEC_PER_MSEC;
	if (cfg->watchdog && now >= limit) {
		cee_storm(sch, cfg, prio);
		q->queue[prio].turn = cee_queue_next(&q->queue[prio], cfg, NULL, now, wake);
		return q->queue[prio].turn;
	}
	*wake = min(*wake, READ_ONCE(q->port->pause[prio].until));
	if (cfg->watchdog)
		*wake = min(*wake, limit);
	return false;
}

static u8 cee_eligible(struct Qdisc *sch, const struct cee_config *cfg, u64 now, u64 *wake)
{
	struct cee_sched *q = qdisc_priv(sch);
	u8 eligible = 0;
	int prio;

	for (prio = 0; prio < CEE_PRIOS; prio++)
		if (q->queue[prio].packets &&
		    cee_may_send(sch, cfg, prio, now, wake))
			eligible |= BIT(prio);
	return eligible;
}

static void cee_mark_leaving(struct cee_sched *q, const struct cee_config *cfg,
			     struct sk_buff *skb, unsigned int prio)
{
	if (cfg->prio[prio].ecn == TCA_CEE_ECN_NP && cee_queue_was_held(&q->queue[prio], skb))
		q->st[prio].np_unmarked++;
	else
		q->st[prio].marked += cee_ecn_mark(skb);
}

static struct sk_buff *cee_take(struct Qdisc *sch, const struct cee_config *cfg, unsigned int prio,
				u64 now)
{
	struct cee_sched *q = qdisc_priv(sch);
	struct cee_queue *queue = &q->queue[prio];
	struct sk_buff *skb = cee_unlink(sch, prio, queue->turn);
	u32 len = qdisc_pkt_len(skb);
	u16 hash = cee_cb(skb)->hash;

	if (cee_cb(skb)->mark)
		cee_mark_leaving(q, cfg, skb, prio);
	q->st[prio].sent++;
	q->st[prio].sent_bytes += len;
	cee_ets_sent(&q->ets, cfg, prio, len);
	cee_queue_sent(queue, queue->turn, cfg, len);
	if (cfg->prio[prio].limiter)
		cee_rp_sent(q->port->reaction[prio], cfg,
			    cfg->prio[prio].limiter == TCA_CEE_LIMITER_FLOW ? hash : 0, len, now);
	qdisc_bstats_update(sch, skb);
	return skb;
}

/* A packet's time at the rate starts at the end of the previous one's if it waited for
 * that, else now: late timers cost no throughput, idle time earns none.
 */
static void cee_pay_rate(struct Qdisc *sch, const struct cee_config *cfg, unsigned int len, u64 now)
{
	struct cee_sched *q = qdisc_priv(sch);
	u64 start = q->busy ? max(q->next, now - CEE_RATE_LAG_NS) : now;

	q->next = start + div64_u64((u64)len * NSEC_PER_SEC, cfg->rate);
	q->busy = sch->q.qlen > 0;
}

static struct sk_buff *cee_control(struct Qdisc *sch)
{
	struct cee_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = cee_account_tell(q->port);

	if (!skb && !skb_queue_empty_lockless(&q->port->control))
		skb = skb_dequeue(&q->port->control);

	if (skb && sch->flags & TCQ_F_ONETXQUEUE)
		skb_set_queue_mapping(skb, sch->dev_queue - qdisc_dev(sch)->_tx);
	return skb;
}

static struct sk_buff *cee_dequeue(struct Qdisc *sch)
{
	struct cee_sched *q = qdisc_priv(sch);
	const struct cee_config *cfg = rcu_dereference_bh(q->port->cfg);
	struct sk_buff *skb = cee_control(sch);
	u64 wake = U64_MAX;
	int prio;
	u64 now;

	if (skb)
		return skb;
	cee_refill(sch, cfg);
	if (!sch->q.qlen)
		return NULL;
	now = ktime_get_ns();
	/* The rate belongs to the port: another queue's qdisc may have changed it. */
	if (q->next_rate != cfg->rate) {
		q->next = 0;
		q->next_rate = cfg->rate;
	}
	if (cfg->rate && now < q->next) {
		qdisc_watchdog_schedule_ns(&q->watchdog, q->next);
		return NULL;
	}
	prio = cee_ets_next(&q->ets, cfg, cee_eligible(sch, cfg, now, &wake));
	if (prio < 0) {
		q->busy = false;
		if (wake != U64_MAX)
			qdisc_watchdog_schedule_ns(&q->watchdog, wake);
		return NULL;
	}
	skb = cee_take(sch, cfg, prio, now);
	if (cfg->rate)
		cee_pay_rate(sch, cfg, qdisc_pkt_len(skb), now);
	return skb;
}

/* The link is down or this qdisc is deleted.  The peer's pause stays: other qdiscs may obey it. */
static void cee_reset(struct Qdisc *sch)
{
	struct cee_sched *q = qdisc_priv(sch);
	int prio;

	if (!q->port)
		return;
	local_bh_disable();
	for (prio = 0; prio < CEE_PRIOS; prio++) {
		cee_purge(sch, prio, &q->st[prio].drop_reset);
		q->queue[prio].held = false;
		cee_unblock(q, prio);
	}
	memset(&q->ets, 0, sizeof(q->ets));
	q->next = 0;
	q->busy = false;
	local_bh_enable();
	qdisc_watchdog_cancel(&q->watchdog);
}

static int cee_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct cee_sched *q = qdisc_priv(sch);
	struct cee_config *cfg;
	int err;

	cfg = kmemdup(rtnl_dereference(q->port->cfg), sizeof(*cfg), GFP_KERNEL);
	if (!cfg)
		return -ENOMEM;
	err = cee_config_parse(cfg, opt, extack);
	if (!err)
		err = cee_port_configure(q->port, cfg, extack);
	if (err) {
		kfree(cfg);
		return err;
	}
	sch_tree_lock(sch);
	/* The timer was set from the old rate, or from a pause under the old limit. */
	if (sch->q.qlen)
		qdisc_watchdog_schedule_ns(&q->watchdog, ktime_get_ns());
	sch_tree_unlock(sch);
	return 0;
}

static struct cee_port *cee_new_port(struct net_device *dev, struct nlattr *opt,
				     struct netlink_ext_ack *extack)
{
	struct cee_config *cfg = kzalloc(sizeof(*cfg), GFP_KERNEL);
	struct cee_port *port;
	int err;

	if (!cfg)
		return ERR_PTR(-ENOMEM);
	cee_config_defaults(cfg);
	err = cee_config_parse(cfg, opt, extack);
	port = err ? ERR_PTR(err) : cee_port_add(dev, cfg, extack);
	if (IS_ERR(port))
		kfree(cfg);
	return port;
}

/* Another qdisc on a device that has one: its options, if any, replace the current ones. */
static int cee_join_port(struct cee_port *port, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct cee_config *cfg;
	int err;

	if (!opt || !nla_len(opt))
		return 0;
	cfg = kzalloc(sizeof(*cfg), GFP_KERNEL);
	if (!cfg)
		return -ENOMEM;
	cee_config_defaults(cfg);
	/* All qdiscs of a port are in its domain. */
	strscpy(cfg->domain, port->domain->name, sizeof(cfg->domain));
	err = cee_config_parse(cfg, opt, extack);
	if (!err)
		err = cee_port_configure(port, cfg, extack);
	if (err)
		kfree(cfg);
	return err;
}

/* The parent qdisc, found by the major number of its handle; NULL if it is not registered yet. */
static struct Qdisc *cee_parent(struct Qdisc *sch)
{
	struct net_device *dev = qdisc_dev(sch);
	u32 handle = TC_H_MAJ(sch->parent);
	struct Qdisc *p = rtnl_dereference(dev->qdisc);

	if (p && !(p->flags & TCQ_F_BUILTIN) && p->handle == handle)
		return p;
	hash_for_each_possible(dev->qdisc_hash, p, hash, handle)
		if (p->handle == handle)
			return p;
	return NULL;
}

/* An unregistered parent is mq, which creates its children before it is registered.  Other
 * qdiscs create children of another kind.
 */
static int cee_check_parent(struct Qdisc *sch, struct netlink_ext_ack *extack)
{
	struct Qdisc *parent;

	if (sch->parent == TC_H_ROOT)
		return 0;
	parent = cee_parent(sch);
	if (!parent)
		return 0;
	if (!(parent->flags & TCQ_F_MQROOT)) {
		NL_SET_ERR_MSG_MOD(extack, "only as the root, or below mq or mqprio");
		return -EOPNOTSUPP;
	}
	/* The core checks only after init(), when the port would have the options already. */
	if (!parent->ops->cl_ops->find(parent, sch->parent)) {
		NL_SET_ERR_MSG_MOD(extack, "the device has no such queue");
		return -ENOENT;
	}
	return 0;
}

static int cee_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct cee_sched *q = qdisc_priv(sch);
	struct cee_port *port;
	int i, err;

	/* After a failure the core calls cee_destroy(). */
	qdisc_watchdog_init(&q->watchdog, sch);
	for (i = 0; i < CEE_PRIOS; i++)
		cee_queue_init(&q->queue[i]);
	err = cee_check_parent(sch, extack);
	if (err)
		return err;
	port = cee_port_find(qdisc_dev(sch));
	if (port) {
		err = cee_join_port(port, opt, extack);
		if (err)
			return err;
	} else {
		port = cee_new_port(qdisc_dev(sch), opt, extack);
		if (IS_ERR(port))
			return PTR_ERR(port);
	}
	port->qdiscs++;
	q->port = port;
	return 0;
}

/* Enqueue has ended and the queues have been reset. */
static void cee_destroy(struct Qdisc *sch)
{
	struct cee_sched *q = qdisc_priv(sch);
	int i;

	for (i = 0; i < CEE_PRIOS; i++)
		cee_queue_free(&q->queue[i]);
	qdisc_watchdog_cancel(&q->watchdog);
	if (q->port && !--q->port->qdiscs)
		cee_port_remove(q->port);
}

static int cee_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct cee_sched *q = qdisc_priv(sch);
	int len;

	rcu_read_lock();
	len = cee_config_dump(rcu_dereference(q->port->cfg),
			      READ_ONCE(q->port->domain->buffer), skb);
	rcu_read_unlock();
	return len;
}

static struct Qdisc_ops cee_qdisc_ops __read_mostly = {
	.id		= "cee",
	.priv_size	= sizeof(struct cee_sched),
	.enqueue	= cee_enqueue,
	.dequeue	= cee_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= cee_init,
	.reset		= cee_reset,
	.destroy	= cee_destroy,
	.change		= cee_change,
	.dump		= cee_dump,
	.dump_stats	= cee_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init sch_cee_init(void)
{
	int err = cee_port_init();

	cee_source_init();
	if (err)
		return err;
	err = register_qdisc(&cee_qdisc_ops);
	if (err)
		cee_port_exit();
	return err;
}

/* Each qdisc holds a reference to the module, so no qdisc is left here. */
static void __exit sch_cee_exit(void)
{
	unregister_qdisc(&cee_qdisc_ops);
	cee_port_exit();
}

module_init(sch_cee_init);
module_exit(sch_cee_exit);

/* Kernels before 6.9 request the module by its name, later ones by this alias. */
MODULE_ALIAS("net-sch-cee");
MODULE_DESCRIPTION("Lossless (Converged Enhanced Ethernet) switch port");
MODULE_LICENSE("GPL");
MODULE_VERSION(PACKAGE_VERSION);
