// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: ports on wires (devices of no registered kind, whose senders cannot be stopped).
 *
 * Frames are received by an rx_handler, as on a bridge.  With sch_cee as its qdisc the port is
 * lossless in sch_cee's lossless priorities: frames that came in by it and wait are charged to
 * it, so that its peer is paused; and sch_cee's dequeue pulls the frames that are to leave, so
 * that the driver's stopping and waking, and the peer's pauses, reach the switch's queues.
 * Frames are pushed into any other qdisc, which may drop them.
 *
 * The device is promiscuous while it is a port.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include "queue.h"

/*
 * A wire may be a device stacked on another switch's vNIC, whose frames pass through that switch in
 * the same call, and so on; the core does not limit such recursion where each device has a qdisc.
 * Pushes of this many switches may be nested: each may have eight devices in between, and the
 * stack has 16 KB.
 */
#define ZSW_PUSHES	3

/* Nested pushes on this CPU.  Context: bottom halves are off. */
static DEFINE_PER_CPU(unsigned int, zsw_pushes);

static rx_handler_result_t zsw_wire_receive(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	struct zswitch_port *port = rcu_dereference(skb->dev->rx_handler_data);

	/* Link-local frames stay here: pause frames are for sch_cee, others for this host. */
	if (unlikely(skb->pkt_type == PACKET_LOOPBACK ||
		     is_link_local_ether_addr(eth_hdr(skb)->h_dest)))
		return RX_HANDLER_PASS;
	skb = skb_share_check(skb, GFP_ATOMIC);
	local_bh_disable();
	if (skb) {
		skb_push(skb, skb->data - skb_mac_header(skb));
		zsw_forward(port, skb, -1);
	} else {
		zsw_count(port, ZSWITCH_STAT_IN, 1);
		zsw_count(port, ZSWITCH_STAT_DROP_NOMEM, 1);
	}
	local_bh_enable();
	return RX_HANDLER_CONSUMED;
}

static struct zswitch_port *zsw_of_source(struct cee_source *src)
{
	return container_of(src, struct zswitch_port, source);
}

static u32 zsw_source_backlog(struct cee_source *src, unsigned int prio)
{
	return zsw_backlog(zsw_of_source(src), prio);
}

static struct sk_buff *zsw_source_pull(struct cee_source *src, unsigned int prio)
{
	return zswitch_pull(zsw_of_source(src), BIT(prio));
}

/* The qdisc has changed.  Frames that waited for a former sch_cee to pull are dropped. */
static void zsw_source_attached(struct cee_source *src, bool yes)
{
	struct zswitch_port *port = zsw_of_source(src);
	bool up = port->up;

	WRITE_ONCE(port->cee, yes);
	if (yes)
		return;
	/* Wait for senders that saw port->cee set and are still queueing a frame. */
	synchronize_net();
	zsw_output_set(port, false);
	zsw_output_set(port, up);
}

static const struct cee_source_ops zsw_source_ops = {
	.backlog	= zsw_source_backlog,
	.pull		= zsw_source_pull,
	.attached	= zsw_source_attached,
};

/**
 * zsw_wire_kick() - notify a wire's qdisc that frames wait where there were none
 * @port:	port
 *
 * Context: RCU, the output's lock.
 */
void zsw_wire_kick(struct zswitch_port *port)
{
	cee_source_kick(&port->source);
}

/**
 * zsw_wire_push() - send a frame by a port whose qdisc does not pull
 * @port:	port
 * @skb:	frame; it is consumed
 *
 * Context: RCU, bottom halves are off.
 * Return: counter of the drop, or ZSWITCH_STAT_PAD if the frame was sent.
 */
enum zswitch_stat zsw_wire_push(struct zswitch_port *port, struct sk_buff *skb)
{
	int code;

	if (!READ_ONCE(port->up)) {
		kfree_skb(skb);
		return ZSWITCH_STAT_DROP_DOWN;
	}
	if (__this_cpu_read(zsw_pushes) == ZSW_PUSHES) {
		kfree_skb(skb);
		return ZSWITCH_STAT_DROP_QDISC;
	}
	skb->dev = port->dev;
	skb_set_queue_mapping(skb, 0);
	memset(skb->cb, 0, sizeof(skb->cb));
	__this_cpu_inc(zsw_pushes);
	code = dev_queue_xmit(skb);
	__this_cpu_dec(zsw_pushes);
	return net_xmit_eval(code) ? ZSWITCH_STAT_DROP_QDISC : ZSWITCH_STAT_PAD;
}

/**
 * zsw_wire_attach() - make a device a port on a wire
 * @port:	port, not in the switch's list yet
 * @extack:	error message
 *
 * Context: RTNL.
 * Return: 0 or an error.
 */
int zsw_wire_attach(struct zswitch_port *port, struct netlink_ext_ack *extack)
{
	int err = dev_set_promiscuity(port->dev, 1);

	if (err)
		return err;
	/* Frames merged by LRO cannot be forwarded as they came. */
	dev_disable_lro(port->dev);
	port->source.dev = port->dev;
	port->source.ops = &zsw_source_ops;
	err = cee_source_add(&port->source);
	if (err)
		goto promiscuity;
	err = netdev_rx_handler_register(port->dev, zsw_wire_receive, port);
	if (!err)
		return 0;
	NL_SET_ERR_MSG(extack, "the device is a port of something else");
	cee_source_del(&port->source);
promiscuity:
	dev_set_promiscuity(port->dev, -1);
	return err;
}

/**
 * zsw_wire_detach() - undo zsw_wire_attach()
 * @port:	port
 *
 * Context: RTNL.  After a grace period nobody sends or pulls by it.
 */
void zsw_wire_detach(struct zswitch_port *port)
{
	netdev_rx_handler_unregister(port->dev);
	cee_source_del(&port->source);
	dev_set_promiscuity(port->dev, -1);
}
