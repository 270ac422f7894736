// SPDX-License-Identifier: GPL-2.0
/*
 * zbridge: the network device, a port of a switch that leads to other hosts.
 *
 *	switch -- zswitch_pull() --> poll: room? -- whose address? -- flow --> UDP
 *	switch <- zswitch_send() --- flow <-- UDP
 *
 * Room.  Frames of a priority are pulled from the switch while its packets in the queues of this
 * host's NIC take less than ZBR_QUEUED bytes, its frames that wait for room in their flows'
 * buffers less than ZBR_PENDING, and all kept frames less than the option memory.  Other frames
 * wait in the switch, whose senders wait.  So a stalled host, or a slow wire, causes no loss.  A
 * socket for each priority accounts for the packets in the NIC's queues: they are charged to its
 * send buffer, and write_space reports that some have left.
 *
 * The switch stops a flow whose frames it has no room for (by zbr_flow.txq, which several flows
 * may share): the flow waits in @blocked until the switch wakes it, and poll resumes it.
 *
 * Without a switch, the tunnel is a network device like vxlan's, which drops frames that it has no
 * room for.
 *
 * Teardown.  ndo_stop stops poll and transmission.  Packets that arrive later see that the device
 * is down; after a grace period all flows end.  The UDP port is released when the device is
 * unregistered (zbr_udp_close()).  Packets in queues refer only to the accounts, which may outlive
 * the device: their pointer to it is cleared, and a grace period passes.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <net/cee.h>
#include <net/ipv6.h>
#include <net/netdev_lock.h>
#include <net/netlink.h>
#include <net/sock.h>
#include "zbridge.h"

#define ZBR_FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA)

/* Default BUF: what the link carries in 1 ms, within limits; ZBR_BUFFER if its speed is unknown */
#define ZBR_BUFFER	1024
#define ZBR_BUFFER_LEAST	256
#define ZBR_BUFFER_MOST	16384

/* Room */

static int zbr_queued(const struct zbr_room *room)
{
	return sk_wmem_alloc_get(room->account->sk);
}

static bool zbr_is_full(const struct zbridge *zb, unsigned int prio, unsigned int part)
{
	const struct zbr_room *room = &zb->room[prio];

	return zbr_queued(room) > ZBR_QUEUED / part ||
	       atomic_read(&room->pending) > ZBR_PENDING / part ||
	       atomic_read(&zb->memory) > READ_ONCE(zb->cfg.memory);
}

/**
 * zbr_nic_is_full() - do this host's NIC queues hold enough of a flow's priority?
 * @flow:	flow
 *
 * Context: any.
 * Return: true if they do.
 */
bool zbr_nic_is_full(const struct zbr_flow *flow)
{
	return zbr_queued(&flow->zb->room[flow->key.prio]) > ZBR_QUEUED;
}

/* Stop pulling a priority, one frame of which was just taken, if there is no room for another. */
static void zbr_close_if_full(struct zbridge *zb, unsigned int prio)
{
	if (!zbr_is_full(zb, prio, 1))
		return;
	set_bit(prio, &zb->closed);
	/* Pairs with zbr_reopen(): one of the two sees what the other has done. */
	smp_mb__after_atomic();
	if (!zbr_is_full(zb, prio, 2))
		clear_bit(prio, &zb->closed);
}

/**
 * zbr_reopen() - frames have left: pull again where there is room
 * @zb:		tunnel
 *
 * Context: any but hard interrupts, any lock.
 */
void zbr_reopen(struct zbridge *zb)
{
	unsigned int prio;

	/* Pairs with zbr_close_if_full(). */
	smp_mb();
	if (!READ_ONCE(zb->closed))
		return;
	/* The limit of memory is common to all priorities. */
	for (prio = 0; prio < ZBR_PRIOS; prio++)
		if (test_bit(prio, &zb->closed) && !zbr_is_full(zb, prio, 2) &&
		    test_and_clear_bit(prio, &zb->closed))
			napi_schedule(&zb->napi);
}

static void zbr_write_space(struct sock *sk)
{
	struct zbr_room *room;

	rcu_read_lock();
	room = rcu_dereference_sk_user_data(sk);
	if (room)
		zbr_reopen(room->zb);
	rcu_read_unlock();
}

static void zbr_accounts_exit(struct zbridge *zb)
{
	struct socket *account;
	int i;

	/* Accounts may outlive this module while packets charged to them are queued. */
	for (i = 0; i < ZBR_PRIOS; i++) {
		account = zb->room[i].account;
		if (!account)
			continue;
		WRITE_ONCE(account->sk->sk_write_space, zb->room[i].write_space);
		rcu_assign_sk_user_data(account->sk, NULL);
	}
	synchronize_net();
	for (i = 0; i < ZBR_PRIOS; i++)
		if (zb->room[i].account)
			sock_release(zb->room[i].account);
}

/* Packets may outlive the tunnel's namespace, so the accounts belong to init_net. */
static int zbr_accounts_init(struct zbridge *zb)
{
	struct zbr_room *room;
	int err;

	for (room = zb->room; room < zb->room + ZBR_PRIOS; room++) {
		room->zb = zb;
		err = sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, IPPROTO_UDP,
				       &room->account);
		if (err) {
			room->account = NULL;
			zbr_accounts_exit(zb);
			return err;
		}
		room->write_space = room->account->sk->sk_write_space;
		room->account->sk->sk_write_space = zbr_write_space;
		rcu_assign_sk_user_data(room->account->sk, room);
	}
	return 0;
}

/* Frames out */

/* Send a frame to the host that has its address, or to all.  Context: bottom halves off, RCU. */
static void zbr_send(struct zbridge *zb, struct sk_buff *skb)
{
	static const u8 all[ETH_ALEN] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	const u8 *addr = ((const struct ethhdr *)skb->data)->h_dest;
	struct in6_addr addr_host;
	struct zbr_host *host, *last = NULL;
	struct sk_buff *copy;

	/* An IP packet is at most 64 KB long, whatever tags the frame has. */
	if (skb->len > zb->dev->max_mtu + ETH_HLEN + VLAN_HLEN) {
		zbr_drop(zb, skb, ZBRIDGE_STAT_DROP_MALFORMED);
		return;
	}
	dev_sw_netstats_tx_add(zb->dev, 1, skb->len);
	if (!is_multicast_ether_addr(addr) && zbr_fdb_host(zb, addr, &addr_host)) {
		zbr_flow_send(zb, &addr_host, addr, skb);
		return;
	}
	list_for_each_entry_rcu(host, &zb->defaults, node) {
		copy = last ? skb_clone(skb, GFP_ATOMIC) : NULL;
		if (copy)
			zbr_flow_send(zb, &last->addr, all, copy);
		else if (last)
			zbr_count(zb, ZBRIDGE_STAT_DROP_NOMEM, 1);
		last = host;
	}
	if (last)
		zbr_flow_send(zb, &last->addr, all, skb);
	else
		zbr_drop(zb, skb, ZBRIDGE_STAT_DROP_NODEST);
}

/* Send a frame pulled from the switch: segment it and fill in checksums, as a qdisc does. */
static void zbr_send_pulled(struct zbridge *zb, struct sk_buff *skb)
{
	/*
	 * Priority as the switch set it: the wire that the frame came in by may classify
	 * otherwise.
	 */
	unsigned int prio = skb->priority;
	struct sk_buff *next;
	bool again = false;

	skb->dev = zb->dev;
	skb = validate_xmit_skb_list(skb, zb->dev, &again);
	for (; skb; skb = next) {
		next = skb->next;
		skb_mark_not_on_list(skb);
		zbr_send(zb, skb);
	}
	zbr_close_if_full(zb, prio);
}

static netdev_tx_t zbr_xmit_frame(struct sk_buff *skb, struct net_device *dev)
{
	struct zbridge *zb = netdev_priv(dev);
	unsigned int prio = cee_source_classify(NULL, NULL, skb);

	if (skb->len < ETH_HLEN || !pskb_may_pull(skb, ETH_HLEN)) {
		zbr_drop(zb, skb, ZBRIDGE_STAT_DROP_NOMEM);
	} else if (__this_cpu_read(zbr_handing) || zbr_is_full(zb, prio, 1)) {
		/*
		 * zbr_handing: the caller holds a flow's lock.  It is a device stacked on this one
		 * that carries this tunnel's packets, or a port that this tunnel's frames are
		 * delivered to.
		 */
		zbr_drop(zb, skb, ZBRIDGE_STAT_DROP_FULL);
	} else {
		skb->priority = prio;
		rcu_read_lock();
		zbr_send(zb, skb);
		rcu_read_unlock();
	}
	return NETDEV_TX_OK;
}

/* Frames in */

/**
 * zbr_deliver() - hand a frame to the switch, or to the host if there is none
 * @flow:	its flow
 * @skb:	frame, its data at the MAC header; it is consumed
 *
 * Context: the flow's lock, RCU.
 */
void zbr_deliver(struct zbr_flow *flow, struct sk_buff *skb)
{
	struct zbridge *zb = flow->zb;
	struct zswitch_port *port = rcu_dereference(zb->port);

	zbr_fdb_learn(zb, ((const struct ethhdr *)skb->data)->h_source, &flow->key.remote);
	zbr_count(zb, ZBRIDGE_STAT_DELIVERED, 1);
	dev_sw_netstats_rx_add(zb->dev, skb->len);
	skb_scrub_packet(skb, true);
	skb_orphan(skb);
	skb_clear_hash(skb);
	memset(skb->cb, 0, sizeof(skb->cb));
	skb->encapsulation = 0;
	skb->ip_summed = CHECKSUM_NONE;
	skb->protocol = eth_type_trans(skb, zb->dev);
	skb->priority = flow->key.prio;
	if (!port) {
		netif_rx(skb);
		return;
	}
	skb_push(skb, ETH_HLEN);
	__this_cpu_inc(zbr_handing);
	zswitch_send(port, skb, flow->txq);
	__this_cpu_dec(zbr_handing);
}

/**
 * zbr_blocked() - has the switch no room for a flow's frames?
 * @flow:	flow
 *
 * Context: the flow's lock.
 * Return: true if it has none; the flow is resumed when there is room.
 */
bool zbr_blocked(struct zbr_flow *flow)
{
	struct zbridge *zb = flow->zb;

	if (likely(!test_bit(flow->txq, &zb->stopped)))
		return false;
	spin_lock(&zb->lock);
	if (list_empty(&flow->blocked))
		list_add_tail(&flow->blocked, &zb->blocked[flow->txq]);
	spin_unlock(&zb->lock);
	/* Pairs with zbr_wake(): either the wakeup is seen here, or poll finds the flow. */
	smp_mb();
	return test_bit(flow->txq, &zb->stopped);
}

/**
 * zbr_unblock() - a flow ends, and waits for the switch no more
 * @flow:	flow
 *
 * Context: the flow's lock.
 */
void zbr_unblock(struct zbr_flow *flow)
{
	spin_lock(&flow->zb->lock);
	list_del_init(&flow->blocked);
	spin_unlock(&flow->zb->lock);
}

/* Return: a waiting flow that the switch has room for again, or NULL.  Context: RCU. */
static struct zbr_flow *zbr_next_woken(struct zbridge *zb)
{
	struct zbr_flow *flow = NULL;
	unsigned int i;

	spin_lock(&zb->lock);
	for (i = 0; i < ZSWITCH_TXQS && !flow; i++)
		if (!test_bit(i, &zb->stopped))
			flow = list_first_entry_or_null(&zb->blocked[i], struct zbr_flow, blocked);
	if (flow)
		list_del_init(&flow->blocked);
	spin_unlock(&zb->lock);
	return flow;
}

static int zbr_poll(struct napi_struct *napi, int budget)
{
	struct zbridge *zb = container_of(napi, struct zbridge, napi);
	struct zswitch_port *port;
	struct zbr_flow *flow;
	struct sk_buff *skb;
	int work = 0;

	rcu_read_lock();
	for (; work < budget && (flow = zbr_next_woken(zb)); work++) {
		spin_lock(&flow->lock);
		if (flow->state != ZBR_GONE)
			zbr_arq_deliver(flow);
		spin_unlock(&flow->lock);
	}
	port = rcu_dereference(zb->port);
	for (; port && work < budget; work++) {
		skb = zswitch_pull(port, ~READ_ONCE(zb->closed));
		if (!skb)
			break;
		zbr_send_pulled(zb, skb);
	}
	rcu_read_unlock();
	if (work < budget)
		napi_complete_done(napi, work);
	return work;
}

static void zbr_schedule(struct zbridge *zb)
{
	local_bh_disable();
	napi_schedule(&zb->napi);
	local_bh_enable();
}

/* Callbacks of the switch */

static int zbr_attach(struct net_device *dev, struct zswitch_port *port,
		      struct netlink_ext_ack *extack)
{
	struct zbridge *zb = netdev_priv(dev);

	rcu_assign_pointer(zb->port, port);
	zbr_schedule(zb);
	return 0;
}

static void zbr_wake(struct net_device *dev, u32 txqs)
{
	struct zbridge *zb = netdev_priv(dev);
	unsigned long bits = txqs;
	unsigned int i;

	for_each_set_bit(i, &bits, ZSWITCH_TXQS)
		clear_bit(i, &zb->stopped);
	/* Pairs with zbr_blocked(). */
	smp_mb__after_atomic();
	napi_schedule(&zb->napi);
}

static void zbr_detach(struct net_device *dev)
{
	struct zbridge *zb = netdev_priv(dev);

	RCU_INIT_POINTER(zb->port, NULL);
	synchronize_net();
	local_bh_disable();
	zbr_wake(dev, U32_MAX);
	local_bh_enable();
}

static void zbr_kick(struct net_device *dev)
{
	napi_schedule(&((struct zbridge *)netdev_priv(dev))->napi);
}

static void zbr_sleep(struct net_device *dev, unsigned int txq)
{
	struct zbridge *zb = netdev_priv(dev);

	set_bit(txq, &zb->stopped);
}

struct zswitch_kind zbr_kind = {
	.remote	= true,
	.attach	= zbr_attach,
	.detach	= zbr_detach,
	.kick	= zbr_kick,
	.stop	= zbr_sleep,
	.wake	= zbr_wake,
};

/* Operations of the network device */

static u32 zbr_buffer(const struct zbridge *zb)
{
	struct ethtool_link_ksettings ks;
	struct net_device *link;
	u64 frames;

	if (zb->cfg.buffer)
		return zb->cfg.buffer;
	link = zb->cfg.link ? __dev_get_by_index(dev_net(zb->dev), zb->cfg.link) : NULL;
	if (!link || netif_get_link_ksettings(link, &ks) || !ks.base.speed ||
	    ks.base.speed == (u32)SPEED_UNKNOWN)
		return ZBR_BUFFER;
	/* Mb/s is bits per microsecond. */
	frames = (u64)ks.base.speed * USEC_PER_MSEC / BITS_PER_BYTE / zb->dev->mtu;
	return clamp_t(u64, roundup_pow_of_two(frames + 1), ZBR_BUFFER_LEAST, ZBR_BUFFER_MOST);
}

/**
 * zbr_set_buffer() - set BUF of flows that begin from now on
 * @zb:		tunnel
 *
 * Context: RTNL.
 */
void zbr_set_buffer(struct zbridge *zb)
{
	WRITE_ONCE(zb->buffer, zbr_buffer(zb));
}

static int zbr_open(struct net_device *dev)
{
	struct zbridge *zb = netdev_priv(dev);

	zbr_set_buffer(zb);
	zb->closed = 0;
	napi_enable(&zb->napi);
	netif_start_queue(dev);
	netif_carrier_on(dev);
	zbr_schedule(zb);
	return 0;
}

static int zbr_stop(struct net_device *dev)
{
	struct zbridge *zb = netdev_priv(dev);

	netif_carrier_off(dev);
	netif_stop_queue(dev);
	napi_disable(&zb->napi);
	/* Wait for receivers that still saw the device running. */
	synchronize_net();
	zbr_flow_end_all(zb);
	return 0;
}

static void zbr_free(struct net_device *dev)
{
	struct zbridge *zb = netdev_priv(dev);

	free_percpu(zb->stats);
	free_percpu(dev->tstats);
}

/* The kernel calls neither ndo_uninit nor the destructor when this fails. */
static int zbr_init(struct net_device *dev)
{
	struct zbridge *zb = netdev_priv(dev);
	int cpu, err = -ENOMEM;

	netdev_lockdep_set_classes(dev);
	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	zb->stats = alloc_percpu(struct zbr_stats);
	if (!dev->tstats || !zb->stats)
		goto counters;
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(zb->stats, cpu)->syncp);
	err = zbr_flows_init(zb);
	if (err)
		goto counters;
	err = zbr_fdb_init(zb);
	if (err)
		goto flows;
	err = zbr_accounts_init(zb);
	if (err)
		goto fdb;
	err = zbr_udp_open(zb);
	if (err)
		goto accounts;
	netif_napi_add(dev, &zb->napi, zbr_poll);
	return 0;
accounts:
	zbr_accounts_exit(zb);
fdb:
	zbr_fdb_exit(zb);
flows:
	zbr_flows_exit(zb);
counters:
	zbr_free(dev);
	return err;
}

static void zbr_uninit(struct net_device *dev)
{
	struct zbridge *zb = netdev_priv(dev);

	zbr_udp_close(zb);
	netif_napi_del(&zb->napi);
	zbr_accounts_exit(zb);
	zbr_fdb_exit(zb);
	zbr_flows_exit(zb);
}

static void zbr_stats64(struct net_device *dev, struct rtnl_link_stats64 *s)
{
	const struct zbridge *zb = netdev_priv(dev);
	int i;

	dev_fetch_sw_netstats(s, dev->tstats);
	for (i = ZBRIDGE_STAT_DROP_NODEST; i <= ZBRIDGE_STAT_MAX; i++)
		s->tx_dropped += zbr_stat(zb, i);
	s->rx_crc_errors = zbr_stat(zb, ZBRIDGE_STAT_DROP_CRC);
	s->rx_errors = s->rx_crc_errors + zbr_stat(zb, ZBRIDGE_STAT_DROP_MALFORMED);
}

/* Parse the host that an address is at.  Return: 0 or an error. */
static int zbr_fdb_dst(struct zbridge *zb, struct nlattr *tb[], struct in6_addr *host,
		       struct netlink_ext_ack *extack)
{
	const struct nlattr *dst = tb[NDA_DST];

	if (tb[NDA_IFINDEX] || tb[NDA_VLAN] || tb[NDA_SRC_VNI]) {
		NL_SET_ERR_MSG(extack, "a tunnel's address has a host (dst), and no via or vlan");
		return -EOPNOTSUPP;
	}
	if ((tb[NDA_VNI] && nla_len(tb[NDA_VNI]) != sizeof(u32)) ||
	    (tb[NDA_PORT] && nla_len(tb[NDA_PORT]) != sizeof(__be16))) {
		NL_SET_ERR_MSG(extack, "vni or port is of another size");
		return -EINVAL;
	}
	if (tb[NDA_VNI] && nla_get_u32(tb[NDA_VNI]) != zb->cfg.id) {
		NL_SET_ERR_MSG_ATTR(extack, tb[NDA_VNI], "vni must be the tunnel's id");
		return -EINVAL;
	}
	if (tb[NDA_PORT] && nla_get_be16(tb[NDA_PORT]) != zb->cfg.port) {
		NL_SET_ERR_MSG_ATTR(extack, tb[NDA_PORT], "all hosts have the tunnel's UDP port");
		return -EINVAL;
	}
	if (!dst) {
		NL_SET_ERR_MSG(extack, "which host? (dst)");
		return -EINVAL;
	}
	if (nla_len(dst) != (zbr_udp_is_ip4(&zb->cfg.local) ? sizeof(struct in_addr) :
							   sizeof(struct in6_addr))) {
		NL_SET_ERR_MSG_ATTR(extack, dst,
				    "dst is of another family than the tunnel's local");
		return -EAFNOSUPPORT;
	}
	if (nla_len(dst) == sizeof(struct in_addr))
		ipv6_addr_set_v4mapped(nla_get_in_addr(dst), host);
	else
		*host = nla_get_in6_addr(dst);
	if (ipv6_addr_is_multicast(host) || ipv6_addr_any(host) ||
	    (zbr_udp_is_ip4(host) && ipv4_is_multicast(host->s6_addr32[3]))) {
		NL_SET_ERR_MSG_ATTR(extack, dst, "dst must be one host's address");
		return -EINVAL;
	}
	return 0;
}

static int zbr_ndo_fdb_add(struct ndmsg *ndm, struct nlattr *tb[], struct net_device *dev,
			   const unsigned char *addr, u16 vid, u16 flags,
			   COMPAT_FDB_NOTIFIED_ARG
			   struct netlink_ext_ack *extack)
{
	struct zbridge *zb = netdev_priv(dev);
	struct in6_addr host;
	int err = zbr_fdb_dst(zb, tb, &host, extack);

	if (err)
		return err;
	if (!is_zero_ether_addr(addr) && !is_valid_ether_addr(addr)) {
		NL_SET_ERR_MSG(extack, "an address is one vNIC's, or 00:00:00:00:00:00 for groups");
		return -EINVAL;
	}
	if (flags & NLM_F_APPEND && !is_zero_ether_addr(addr))
		flags |= NLM_F_CREATE | NLM_F_EXCL;
	return zbr_fdb_set(zb, addr, &host, flags);
}

static int zbr_ndo_fdb_del(struct ndmsg *ndm, struct nlattr *tb[], struct net_device *dev,
			   const unsigned char *addr, u16 vid,
			   COMPAT_FDB_NOTIFIED_ARG
			   struct netlink_ext_ack *extack)
{
	struct zbridge *zb = netdev_priv(dev);
	struct in6_addr host;
	int err;

	if (!tb[NDA_DST])
		return zbr_fdb_remove(zb, addr, NULL);
	err = zbr_fdb_dst(zb, tb, &host, extack);
	return err ?: zbr_fdb_remove(zb, addr, &host);
}

static int zbr_ndo_fdb_dump(struct sk_buff *skb, struct netlink_callback *cb,
			    struct net_device *dev, struct net_device *filter_dev, int *idx)
{
	return zbr_fdb_dump(netdev_priv(dev), skb, cb, compat_fdb_dump_index(cb), idx);
}

static const struct net_device_ops zbr_netdev_ops = {
	.ndo_init		= zbr_init,
	.ndo_uninit		= zbr_uninit,
	.ndo_open		= zbr_open,
	.ndo_stop		= zbr_stop,
	.ndo_start_xmit		= zbr_xmit_frame,
	.ndo_get_stats64	= zbr_stats64,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_fdb_add		= zbr_ndo_fdb_add,
	.ndo_fdb_del		= zbr_ndo_fdb_del,
	.ndo_fdb_dump		= zbr_ndo_fdb_dump,
};

static const struct ethtool_ops zbr_ethtool_ops = {
	.get_link	= ethtool_op_get_link,
};

/**
 * zbr_setup() - rtnl_link_ops.setup
 * @dev:	a new device
 */
void zbr_setup(struct net_device *dev)
{
	struct zbridge *zb = netdev_priv(dev);
	int i;

	ether_setup(dev);
	dev->netdev_ops = &zbr_netdev_ops;
	dev->ethtool_ops = &zbr_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_destructor = zbr_free;
	dev->needed_headroom = ZBR_HEADROOM;
	/* The kernel compares a requested MTU with this before the tunnel's family is known. */
	dev->max_mtu = ETH_MAX_MTU;
	/* Frames are kept, so pktgen must not share them. */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_NO_QUEUE | IFF_DISABLE_NETPOLL;
	dev->features = ZBR_FEATURES;
	dev->hw_features = ZBR_FEATURES & ~NETIF_F_HIGHDMA;
	compat_netns_immutable(dev);
	compat_lltx(dev);
	netif_carrier_off(dev);

	zb->dev = dev;
	spin_lock_init(&zb->lock);
	INIT_LIST_HEAD(&zb->half_open);
	for (i = 0; i < ZSWITCH_TXQS; i++)
		INIT_LIST_HEAD(&zb->blocked[i]);
}
