// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: ports of a switch that has queues of its own (include/net/cee.h).
 *
 * Such a switch (zswitch) must not push frames into a qdisc, which would have to drop them
 * or to hold them in one queue for all inputs: it keeps a queue for each input, and the
 * port pulls.  dequeue ensures that each priority has a frame here if the switch has one
 * (cee_refill()), so pauses, ETS, rate, marks and the watchdog act upon these frames as
 * upon all others.  Of the switch's frames, one of each priority is here, or the segments
 * of one GSO packet: that much is charged to no port.
 *
 * Sources are listed by device whether or not the device has sch_cee, since either may be
 * created first.  A port finds its source when it is created, a source its port when it is
 * added.
 *
 * Locks.  The list is under RTNL.  cee_port.source is read under RCU; the switch waits for
 * a grace period after cee_source_del() before it frees its queues.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include "cee_queue.h"
#include "sch_cee.h"

/* Pulls in one dequeue, which is in a softirq; eight are enough if no frame is dropped. */
#define CEE_PULLS	64

static LIST_HEAD(cee_sources);

/* Options by which frames are classified if no port is involved */
static struct cee_config cee_default_config;

static struct cee_source *cee_source_find(const struct net_device *dev)
{
	struct cee_source *src;

	list_for_each_entry(src, &cee_sources, node)
		if (src->dev == dev)
			return src;
	return NULL;
}

/**
 * cee_source_join() - attach a new port to its source, if there is one
 * @port:	port, registered
 *
 * Context: RTNL.
 */
void cee_source_join(struct cee_port *port)
{
	struct cee_source *src = cee_source_find(port->dev);

	if (!src)
		return;
	rcu_assign_pointer(port->source, src);
	src->ops->attached(src, true);
}

/**
 * cee_source_leave() - detach a port that is being removed from its source
 * @port:	port, no longer in any table
 *
 * Context: RTNL.
 */
void cee_source_leave(struct cee_port *port)
{
	struct cee_source *src = rtnl_dereference(port->source);

	if (!src)
		return;
	RCU_INIT_POINTER(port->source, NULL);
	src->ops->attached(src, false);
}

/**
 * cee_source_add() - a device becomes the port of a switch
 * @src:	the switch's queues; @src->dev and @src->ops are set
 *
 * Context: RTNL.
 * Return: 0, or -EBUSY if another switch has the device.
 */
int cee_source_add(struct cee_source *src)
{
	struct cee_port *port;

	ASSERT_RTNL();
	if (cee_source_find(src->dev))
		return -EBUSY;
	list_add_tail(&src->node, &cee_sources);
	port = cee_port_find(src->dev);
	if (port)
		cee_source_join(port);
	return 0;
}
EXPORT_SYMBOL_GPL(cee_source_add);

/**
 * cee_source_del() - undo cee_source_add()
 * @src:	the same
 *
 * Context: RTNL.  After a grace period nothing refers to @src.
 */
void cee_source_del(struct cee_source *src)
{
	struct cee_port *port = cee_port_find(src->dev);

	ASSERT_RTNL();
	list_del(&src->node);
	if (port)
		cee_source_leave(port);
}
EXPORT_SYMBOL_GPL(cee_source_del);

/**
 * cee_source_kick() - frames wait in queues that were empty; run the port's dequeue
 * @src:	source
 *
 * Context: RCU, bottom halves are off; the caller may hold any of its own locks.
 */
void cee_source_kick(const struct cee_source *src)
{
	struct cee_port *port = cee_port_find(src->dev);

	/*
	 * cee_kick() skips a queue that the driver has stopped, since waking it runs the
	 * qdisc.  Either we see the queue running, or the dequeue that its waking causes
	 * sees the frames.
	 */
	smp_mb();
	if (port)
		cee_kick(port);
}
EXPORT_SYMBOL_GPL(cee_source_kick);

/**
 * cee_source_classify() - the priority of a frame on its way through a switch
 * @out:	device that it leaves by, or NULL
 * @in:		device that it came in by, or NULL
 * @skb:	frame, its data at the MAC header
 *
 * The sending port's options apply if it has sch_cee, else those of the receiving port,
 * else the default options.
 *
 * Context: RCU, bottom halves are off.
 * Return: 0 to 7.
 */
unsigned int cee_source_classify(const struct net_device *out, const struct net_device *in,
				 const struct sk_buff *skb)
{
	const struct cee_port *port = out ? cee_port_find(out) : NULL;

	if (!port && in)
		port = cee_port_find(in);
	return cee_classify(skb, port ? rcu_dereference_bh(port->cfg) : &cee_default_config);
}
EXPORT_SYMBOL_GPL(cee_source_classify);

/**
 * cee_ingress_charge() - charge a received frame, which begins to wait, to its port
 * @dev:	device
 * @prio:	priority
 * @len:	bytes
 *
 * Context: bottom halves are off, RCU.
 * Return: a set for cee_ingress_uncharge(); NULL if the device does not account for this
 * priority, since it has no sch_cee or the priority is not lossless; -ENOBUFS if it does
 * and its headroom is full, -ENOMEM without memory: then the frame must be dropped.
 */
struct cee_set *cee_ingress_charge(struct net_device *dev, unsigned int prio, u32 len)
{
	struct cee_port *port = cee_port_find(dev);
	struct cee_set *set;

	if (!port || !rcu_dereference_bh(port->cfg)->prio[prio].lossless)
		return NULL;
	set = cee_set_get(dev, dev->ifindex);
	if (!set)
		return ERR_PTR(-ENOMEM);
	if (set->n && cee_charge(set, prio, len))
		return set;
	cee_set_put(set);
	return ERR_PTR(-ENOBUFS);
}
EXPORT_SYMBOL_GPL(cee_ingress_charge);

/**
 * cee_ingress_uncharge() - undo cee_ingress_charge(): the frame no longer waits
 * @set:	what cee_ingress_charge() returned
 * @prio:	the same
 * @len:	the same
 *
 * Context: bottom halves are off, RCU; the caller may hold any of its own locks.
 */
void cee_ingress_uncharge(struct cee_set *set, unsigned int prio, u32 len)
{
	cee_uncharge(set, prio, len);
	cee_set_put(set);
}
EXPORT_SYMBOL_GPL(cee_ingress_uncharge);

/* Until now the switch has charged its frame; from here on the frame is charged to no port. */
static void cee_take_over(struct Qdisc *sch, const struct cee_config *cfg, struct sk_buff *skb,
			  unsigned int prio)
{
	struct cee_sched *q = qdisc_priv(sch);

	cee_single(skb);
	*cee_cb(skb) = (struct cee_cb) {};
	q->st[prio].in++;
	cee_accept(sch, cfg, skb, prio);
}

/* Drop a frame of the switch, and count all segments that it stands for. */
static void cee_refuse(struct Qdisc *sch, struct sk_buff *skb, unsigned int prio, __u64 *counter)
{
	unsigned int n = skb_is_gso(skb) ? max_t(unsigned int, skb_shinfo(skb)->gso_segs, 1) : 1;
	struct cee_sched *q = qdisc_priv(sch);

	q->st[prio].in += n;
	*counter += n;
	sch->qstats.drops += n;
	kfree_skb(skb);
}

static void cee_take_over_gso(struct Qdisc *sch, const struct cee_config *cfg,
			      struct sk_buff *skb, unsigned int prio)
{
	struct cee_sched *q = qdisc_priv(sch);
	struct sk_buff *segs = cee_segments(q, skb), *seg, *next;

	if (!segs) {
		cee_refuse(sch, skb, prio, &q->st[prio].drop_limit);
		return;
	}
	skb_list_walk_safe(segs, seg, next)
		cee_take_over(sch, cfg, seg, prio);
	consume_skb(skb);
}

/* Below mq only one qdisc pulls each priority, or its frames would be reordered. */
static bool cee_pulls(const struct Qdisc *sch, unsigned int prio)
{
	const struct net_device *dev = qdisc_dev(sch);

	return sch->parent == TC_H_ROOT ||
	       prio % dev->real_num_tx_queues == sch->dev_queue - dev->_tx;
}

/* Pull a frame of a priority.  Return: whether there was one. */
static bool cee_pull(struct Qdisc *sch, const struct cee_config *cfg, struct cee_source *src,
		     unsigned int prio)
{
	struct sk_buff *skb = src->ops->pull(src, prio);
	struct cee_sched *q = qdisc_priv(sch);

	if (!skb)
		return false;
	skb->dev = qdisc_dev(sch);
	skb_set_queue_mapping(skb, sch->dev_queue - qdisc_dev(sch)->_tx);
	if (cee_storm_drops(q, cfg, prio))
		cee_refuse(sch, skb, prio, &q->st[prio].drop_watchdog);
	else if (skb_is_gso(skb))
		cee_take_over_gso(sch, cfg, skb, prio);
	else
		cee_take_over(sch, cfg, skb, prio);
	return true;
}

/**
 * cee_refill() - have a frame of each priority here if the switch has one
 * @sch:	qdisc of a port
 * @cfg:	options
 *
 * Frames that the watchdog drops are pulled as well, up to CEE_PULLS; the next run does the
 * rest.
 *
 * Context: dequeue.
 */
void cee_refill(struct Qdisc *sch, const struct cee_config *cfg)
{
	struct cee_sched *q = qdisc_priv(sch);
	struct cee_source *src = rcu_dereference_bh(q->port->source);
	unsigned int pulls = CEE_PULLS;
	int prio;

	if (likely(!src))
		return;
	for (prio = 0; prio < CEE_PRIOS; prio++) {
		while (!q->queue[prio].packets && cee_pulls(sch, prio)) {
			if (!pulls--) {
				__netif_schedule(sch);
				return;
			}
			if (!cee_pull(sch, cfg, src, prio))
				break;
		}
	}
}

/**
 * cee_source_init() - called when the module is loaded
 */
void cee_source_init(void)
{
	cee_config_defaults(&cee_default_config);
}
