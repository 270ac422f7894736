// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP generic netlink: a namespace's devices, the rates of their links, and their pull queues.
 *
 * The lowest device below a container's device often belongs to the host.  The container may not
 * see that device: only its rate is reported.
 */
#include "call.h"
#include "device.h"
#include "event.h"

/* Attributes of a device that has a pull queue of its own. */
static int ndp_nl_put_pullq(struct sk_buff *skb, const struct net_device *dev, u64 rate)
{
	struct ndp_pullq_stats s;

	if (!ndp_pullq_stats(dev, &s))
		return 0;
	return nla_put_u64_64bit(skb, NDP_D_PACE, ndp_pull_pace(rate, s.share), NDP_D_PAD) ?:
	       nla_put_u32(skb, NDP_D_SHARE, s.share) ?:
	       nla_put_u32(skb, NDP_D_CONNS, s.conns) ?:
	       nla_put_u32(skb, NDP_D_WAITING, s.waiting) ?:
	       nla_put_u64_64bit(skb, NDP_D_PULLS, s.pulls, NDP_D_PAD) ?:
	       nla_put_u64_64bit(skb, NDP_D_PULLED_IN, s.pulled_in, NDP_D_PAD) ?:
	       nla_put_u64_64bit(skb, NDP_D_TRIMMED_IN, s.trimmed_in, NDP_D_PAD) ?:
	       nla_put_u64_64bit(skb, NDP_D_PUSHED_IN, s.pushed_in, NDP_D_PAD);
}

static int ndp_nl_put_dev(struct sk_buff *skb, const struct net *net, const struct net_device *dev)
{
	const struct net_device *bottom = ndp_bottom(dev);
	/* Pulls follow the sysctls of the namespace in which the device with the queue is. */
	const struct ndp_net *nn = ndp_pernet(dev_net(bottom));
	u64 set = ndp_rate_set(nn), speed = ndp_dev_speed(bottom);
	u64 rate = set ?: speed ?: NDP_RATE_DEFAULT;
	int err;

	err = nla_put_u32(skb, NDP_D_IFINDEX, dev->ifindex) ?:
	      (speed ? nla_put_u64_64bit(skb, NDP_D_SPEED, speed, NDP_D_PAD) : 0) ?:
	      (set ? nla_put_u64_64bit(skb, NDP_D_SET, set, NDP_D_PAD) : 0) ?:
	      nla_put_u64_64bit(skb, NDP_D_RATE, rate, NDP_D_PAD) ?:
	      nla_put_u32(skb, NDP_D_LOW_SHARE, READ_ONCE(nn->pull_low_share));
	if (err)
		return err;
	if (bottom == dev)
		return ndp_nl_put_pullq(skb, dev, rate);
	return net_eq(dev_net(bottom), net) ? nla_put_u32(skb, NDP_D_BELOW, bottom->ifindex) : 0;
}

static int ndp_dev_fill(struct sk_buff *skb, struct netlink_callback *cb,
			const struct net_device *dev)
{
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &ndp_genl,
			  NLM_F_MULTI, NDP_CMD_DEV_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (ndp_nl_put_dev(skb, sock_net(skb->sk), dev)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genl_dump_check_consistent(cb, hdr);
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * ndp_nl_dev_dump - NDP_CMD_DEV_GET
 * @skb:	message
 * @cb:		args[0] counts the devices looked at so far
 *
 * Context: process.
 * Return: length of the message.
 */
int ndp_nl_dev_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct net_device *dev;
	long i = 0;

	rcu_read_lock();
	/* The reader is notified if devices are added or removed before the dump ends. */
	cb->seq = READ_ONCE(sock_net(skb->sk)->dev_base_seq);
	for_each_netdev_rcu(sock_net(skb->sk), dev) {
		if (i++ < cb->args[0])
			continue;
		/* Loopback is not paced. */
		if (dev->flags & IFF_UP && !(dev->flags & IFF_LOOPBACK) &&
		    ndp_dev_fill(skb, cb, dev))
			break;
		cb->args[0] = i;
	}
	rcu_read_unlock();
	return skb->len;
}
