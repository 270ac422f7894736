// SPDX-License-Identifier: GPL-2.0
/*
 * Lengths of packets that foreign hardware has trimmed.
 *
 * A switch that trims packets without knowing NDP (the NDP paper, section 2.4, leaves the format
 * to the switch) may leave the lengths in the IP and UDP headers unchanged, and IP drops a packet
 * that is shorter than its length field.  On devices for which the operator enables it, a
 * netfilter ingress hook corrects the lengths before IP checks them.
 *
 * Only packets to NDP's UDP port that have the whole NDP header and are cut are changed.  The IP
 * header checksum is updated incrementally, so that a damaged header still fails its check.
 *
 * Non-goals: fragments, IPv6 extension headers; packets for other protocols.
 */
#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "call.h"

struct ndp_repair {
	struct list_head	list;
	struct nf_hook_ops	ops;
	struct rcu_head		rcu;
};

/* Protected by RTNL. */
static LIST_HEAD(ndp_repairs);

/*
 * Return: the UDP header at offset @ip_len, made writable, if it is that of a trimmed NDP packet
 * of @len bytes; else NULL.  Pointers into @skb are invalid afterwards.
 */
static struct udphdr *ndp_repair_udp(struct net *net, struct sk_buff *skb,
				     unsigned int ip_len, unsigned int len)
{
	unsigned int need = ip_len + sizeof(struct udphdr);
	struct udphdr *uh;

	if (len < need + sizeof(struct ndphdr) || !pskb_may_pull(skb, need))
		return NULL;
	uh = (struct udphdr *)(skb_network_header(skb) + ip_len);
	if (uh->dest != htons(ndp_pernet(net)->udp_port) ||
	    ntohs(uh->len) <= len - ip_len)
		return NULL;
	if (skb_shared(skb) || skb_ensure_writable(skb, need))
		return NULL;
	return (struct udphdr *)(skb_network_header(skb) + ip_len);
}

static bool ndp_repair_ip4(struct net *net, struct sk_buff *skb)
{
	unsigned int ip_len, len;
	struct udphdr *uh;
	struct iphdr *iph;

	if (!pskb_may_pull(skb, sizeof(*iph)))
		return false;
	iph = ip_hdr(skb);
	ip_len = iph->ihl * 4;
	if (iph->version != 4 || ip_len < sizeof(*iph) ||
	    iph->protocol != IPPROTO_UDP || ip_is_fragment(iph))
		return false;
	len = min_t(unsigned int, skb->len, ntohs(iph->tot_len));
	uh = ndp_repair_udp(net, skb, ip_len, len);
	if (!uh)
		return false;
	iph = ip_hdr(skb);
	csum_replace2(&iph->check, iph->tot_len, htons(len));
	iph->tot_len = htons(len);
	uh->len = htons(len - ip_len);
	return true;
}

static bool ndp_repair_ip6(struct net *net, struct sk_buff *skb)
{
	struct ipv6hdr *iph;
	struct udphdr *uh;
	unsigned int len;

	if (!pskb_may_pull(skb, sizeof(*iph)))
		return false;
	iph = ipv6_hdr(skb);
	if (iph->version != 6 || iph->nexthdr != IPPROTO_UDP)
		return false;
	len = min_t(unsigned int, skb->len,
		    sizeof(*iph) + ntohs(iph->payload_len));
	uh = ndp_repair_udp(net, skb, sizeof(*iph), len);
	if (!uh)
		return false;
	uh->len = htons(len - sizeof(*iph));
	ipv6_hdr(skb)->payload_len = uh->len;
	return true;
}

/* Context: softirq, RCU read side. */
static unsigned int ndp_repair_hook(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	bool repaired = false;

	if (skb->protocol == htons(ETH_P_IP))
		repaired = ndp_repair_ip4(state->net, skb);
	else if (skb->protocol == htons(ETH_P_IPV6))
		repaired = ndp_repair_ip6(state->net, skb);
	if (repaired)
		NDP_INC(state->net, REPAIRED);
	return NF_ACCEPT;
}

static struct ndp_repair *ndp_repair_find(const struct net_device *dev)
{
	struct ndp_repair *r;

	list_for_each_entry(r, &ndp_repairs, list)
		if (r->ops.dev == dev)
			return r;
	return NULL;
}

/**
 * ndp_repair_on - does a device repair lengths?
 * @dev:	device
 *
 * Context: RTNL.
 * Return: true if so.
 */
bool ndp_repair_on(const struct net_device *dev)
{
	return ndp_repair_find(dev);
}

/**
 * ndp_repair_add - repair the lengths of what a device receives
 * @dev:	device
 *
 * Context: process, RTNL.
 * Return: 0, -EEXIST, -ENOMEM, or an error of netfilter.
 */
int ndp_repair_add(struct net_device *dev)
{
	struct ndp_repair *r;
	int err;

	if (ndp_repair_find(dev))
		return -EEXIST;
	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	r->ops.hook = ndp_repair_hook;
	r->ops.pf = NFPROTO_NETDEV;
	r->ops.hooknum = NF_NETDEV_INGRESS;
	r->ops.priority = INT_MIN;
	r->ops.dev = dev;
	err = nf_register_net_hook(dev_net(dev), &r->ops);
	if (err)
		kfree(r);
	else
		list_add(&r->list, &ndp_repairs);
	return err;
}

/**
 * ndp_repair_del - stop repairing the lengths of what a device receives
 * @dev:	device
 *
 * Context: process, RTNL.
 * Return: 0 or -ENOENT.
 */
int ndp_repair_del(struct net_device *dev)
{
	struct ndp_repair *r = ndp_repair_find(dev);

	if (!r)
		return -ENOENT;
	list_del(&r->list);
	nf_unregister_net_hook(dev_net(dev), &r->ops);
	kfree_rcu(r, rcu);
	return 0;
}

static int ndp_repair_event(struct notifier_block *nb, unsigned long event,
			    void *ptr)
{
	if (event == NETDEV_UNREGISTER)
		ndp_repair_del(netdev_notifier_info_to_dev(ptr));
	return NOTIFY_DONE;
}

static struct notifier_block ndp_repair_nb = {
	.notifier_call = ndp_repair_event,
};

int __init ndp_repair_init(void)
{
	return register_netdevice_notifier(&ndp_repair_nb);
}

void ndp_repair_exit(void)
{
	/* This replays NETDEV_UNREGISTER for all devices, which removes all hooks. */
	unregister_netdevice_notifier(&ndp_repair_nb);
	synchronize_net();
}
