// SPDX-License-Identifier: GPL-2.0
/*
 * sch_gate: a parent qdisc for tests, with one class, X:1, for its child.
 *
 * It lets nothing through while the module parameter "open" is 0, so a test can fill the child's
 * queue in its own time.  Writing 1 there does not restart the qdisc: the next packet that is
 * enqueued does.
 *
 * There are three kinds, for the ways in which parents dequeue a packet:
 *
 *   gate		->dequeue(), as prio and htb do
 *   gate_peeked	->peek(), then qdisc_dequeue_peeked(), as tbf does
 *   gate_dequeue	->peek(), then ->dequeue(), as red and sfb did before they
 *			were fixed, and out-of-tree parents may do
 *
 * The last two peek after each enqueue as well, as hfsc does, and count in "overlimits" how often
 * they dequeued another packet than the one peeked at.
 */
#include <linux/module.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define GATE_CLASS	1UL

static bool gate_open = true;
module_param_named(open, gate_open, bool, 0644);
MODULE_PARM_DESC(open, "let packets through");

struct gate_sched {
	struct Qdisc	*child;
};

static struct Qdisc *gate_child(struct Qdisc *sch)
{
	return ((struct gate_sched *)qdisc_priv(sch))->child;
}

static int gate_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	unsigned int len = qdisc_pkt_len(skb);
	int ret = qdisc_enqueue(skb, gate_child(sch), to_free);

	if (ret == NET_XMIT_SUCCESS) {
		sch->qstats.backlog += len;
		sch->q.qlen++;
	} else if (net_xmit_drop_count(ret)) {
		qdisc_qstats_drop(sch);
	}
	return ret;
}

static int gate_enqueue_and_peek(struct sk_buff *skb, struct Qdisc *sch,
				 struct sk_buff **to_free)
{
	struct Qdisc *child = gate_child(sch);
	int ret = gate_enqueue(skb, sch, to_free);

	child->ops->peek(child);
	return ret;
}

static struct sk_buff *gate_taken(struct sk_buff *skb, struct Qdisc *sch)
{
	if (skb) {
		qdisc_bstats_update(sch, skb);
		qdisc_qstats_backlog_dec(sch, skb);
		sch->q.qlen--;
	}
	return skb;
}

static struct sk_buff *gate_dequeue(struct Qdisc *sch)
{
	struct Qdisc *child = gate_child(sch);

	if (!READ_ONCE(gate_open))
		return NULL;
	return gate_taken(child->dequeue(child), sch);
}

static struct sk_buff *gate_peek_and_take(struct Qdisc *sch,
					  struct sk_buff *(*take)(struct Qdisc *))
{
	struct Qdisc *child = gate_child(sch);
	struct sk_buff *seen, *skb;

	if (!READ_ONCE(gate_open))
		return NULL;
	seen = child->ops->peek(child);
	if (!seen)
		return NULL;
	skb = take(child);
	if (skb != seen)
		qdisc_qstats_overlimit(sch);
	return gate_taken(skb, sch);
}

static struct sk_buff *gate_dequeue_peeked(struct Qdisc *sch)
{
	return gate_peek_and_take(sch, qdisc_dequeue_peeked);
}

static struct sk_buff *gate_dequeue_plainly(struct Qdisc *sch)
{
	return gate_peek_and_take(sch, gate_child(sch)->dequeue);
}

static int gate_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	((struct gate_sched *)qdisc_priv(sch))->child = &noop_qdisc;
	return 0;
}

static void gate_reset(struct Qdisc *sch)
{
	qdisc_reset(gate_child(sch));
}

static void gate_destroy(struct Qdisc *sch)
{
	qdisc_put(gate_child(sch));
}

static int gate_graft(struct Qdisc *sch, unsigned long class, struct Qdisc *new,
		      struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct gate_sched *q = qdisc_priv(sch);

	*old = qdisc_replace(sch, new ?: &noop_qdisc, &q->child);
	return 0;
}

static struct Qdisc *gate_leaf(struct Qdisc *sch, unsigned long class)
{
	return gate_child(sch);
}

static unsigned long gate_find(struct Qdisc *sch, u32 classid)
{
	return GATE_CLASS;
}

static int gate_dump_class(struct Qdisc *sch, unsigned long class,
			   struct sk_buff *skb, struct tcmsg *tcm)
{
	tcm->tcm_handle |= TC_H_MIN(GATE_CLASS);
	tcm->tcm_info = gate_child(sch)->handle;
	return 0;
}

static void gate_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (walker->stop)
		return;
	if (walker->count >= walker->skip &&
	    walker->fn(sch, GATE_CLASS, walker) < 0)
		walker->stop = 1;
	else
		walker->count++;
}

static const struct Qdisc_class_ops gate_class_ops = {
	.graft	= gate_graft,
	.leaf	= gate_leaf,
	.find	= gate_find,
	.walk	= gate_walk,
	.dump	= gate_dump_class,
};

#define GATE_OPS(name, in, out) {			\
	.id		= (name),			\
	.cl_ops		= &gate_class_ops,		\
	.priv_size	= sizeof(struct gate_sched),	\
	.enqueue	= (in),				\
	.dequeue	= (out),			\
	.peek		= qdisc_peek_dequeued,		\
	.init		= gate_init,			\
	.reset		= gate_reset,			\
	.destroy	= gate_destroy,			\
	.owner		= THIS_MODULE,			\
}

static struct Qdisc_ops gate_ops[] = {
	GATE_OPS("gate", gate_enqueue, gate_dequeue),
	GATE_OPS("gate_peeked", gate_enqueue_and_peek, gate_dequeue_peeked),
	GATE_OPS("gate_dequeue", gate_enqueue_and_peek, gate_dequeue_plainly),
};

static void gate_unregister(int n)
{
	while (n--)
		unregister_qdisc(&gate_ops[n]);
}

static int __init gate_module_init(void)
{
	int n, err;

	for (n = 0; n < ARRAY_SIZE(gate_ops); n++) {
		err = register_qdisc(&gate_ops[n]);
		if (err) {
			gate_unregister(n);
			return err;
		}
	}
	return 0;
}

static void __exit gate_module_exit(void)
{
	gate_unregister(ARRAY_SIZE(gate_ops));
}

module_init(gate_module_init);
module_exit(gate_module_exit);

MODULE_DESCRIPTION("Parent qdisc for tests: a gate, and three ways to take a packet");
MODULE_LICENSE("GPL");
