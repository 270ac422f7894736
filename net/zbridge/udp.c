// SPDX-License-Identifier: GPL-2.0
/*
 * zbridge: packets of a tunnel, over UDP and IPv4 or IPv6.
 *
 *	| IP | UDP | struct zbr_hdr | Ethernet frame, without FCS |	DATA
 *	| IP | UDP | struct zbr_hdr | struct zbr_ctl |			all others
 *
 * All tunnels of a namespace that have a UDP port in common share a socket, and are distinguished
 * by their network id.  UDP's own checksum is neither sent nor required: CRC-32C is stronger.
 *
 * The UDP source port is a hash of the flow, so that switches spread flows over equal paths and
 * keep each in order.  With the option spread it varies among ZBR_SPREAD ports.
 *
 * DSCP and ECN of a frame are copied to the outer header, and a CE mark of the network is copied
 * back (RFC 6040; the frame's own DSCP stays as it is, RFC 2983's pipe model).
 */
#include <linux/crc32c.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>
#include <compat/udp_tunnel.h>
#include "zbridge.h"

/* UDP defines encap types only for protocols that it handles specially; any other value will do. */
#define ZBR_UDP_ENCAP	101

#define ZBR_SPORT_MIN	49152
#define ZBR_SPORTS	16384
#define ZBR_SPREAD	16

/**
 * struct zbr_port - a UDP port on which tunnels of a namespace receive
 * @node:	in the list of all ports; RTNL
 * @net:	namespace
 * @port:	UDP port number
 * @family:	AF_INET or AF_INET6
 * @sock:	socket
 * @tunnels:	tunnels that share the port; RTNL, RCU
 */
struct zbr_port {
	struct list_head	node;
	struct net		*net;
	__be16			port;
	u16			family;
	struct socket		*sock;
	struct hlist_head	tunnels;
};

static LIST_HEAD(zbr_ports);

/**
 * zbr_udp_is_ip4() - is a host's address one of IPv4?
 * @addr:	address of a host
 *
 * Return: true if it is.
 */
bool zbr_udp_is_ip4(const struct in6_addr *addr)
{
	return ipv6_addr_v4mapped(addr);
}

static u16 zbr_udp_family(const struct zbridge *zb)
{
	return zbr_udp_is_ip4(&zb->cfg.local) ? AF_INET : AF_INET6;
}

/**
 * zbr_crc() - checksum of a frame
 * @skb:	packet
 * @offset:	where the frame begins, from its data
 *
 * Return: CRC-32C, not inverted, to be continued with the header.
 */
u32 zbr_crc(const struct sk_buff *skb, unsigned int offset)
{
	struct skb_seq_state state;
	unsigned int done = 0, n;
	const u8 *data;
	u32 crc = ~0;

	skb_prepare_seq_read((struct sk_buff *)skb, offset, skb->len, &state);
	while ((n = skb_seq_read(done, &data, &state))) {
		crc = crc32c(crc, data, n);
		done += n;
	}
	return crc;
}

static __be32 zbr_crc_of(struct zbr_hdr hdr, u32 crc)
{
	hdr.crc = 0;
	return cpu_to_be32(~crc32c(crc, &hdr, sizeof(hdr)));
}

/* Routes */

static struct dst_entry *zbr_route4(struct zbridge *zb, const struct in6_addr *remote, u16 sport)
{
	struct flowi4 fl4 = {
		.flowi4_oif = zb->cfg.link,
		.flowi4_proto = IPPROTO_UDP,
		.daddr = remote->s6_addr32[3],
		.saddr = zb->cfg.local.s6_addr32[3],
		.fl4_sport = htons(sport),
		.fl4_dport = zb->cfg.port,
	};
	struct rtable *rt = ip_route_output_key(dev_net(zb->dev), &fl4);

	if (IS_ERR(rt))
		return NULL;
	/* The operator may have named a broadcast address as the host: that is many hosts. */
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return NULL;
	}
	return &rt->dst;
}

static struct dst_entry *zbr_route6(struct zbridge *zb, const struct in6_addr *remote, u16 sport)
{
	struct flowi6 fl6 = {
		.flowi6_oif = zb->cfg.link,
		.flowi6_proto = IPPROTO_UDP,
		.daddr = *remote,
		.saddr = zb->cfg.local,
		.fl6_sport = htons(sport),
		.fl6_dport = zb->cfg.port,
	};
	struct dst_entry *dst;

	dst = ip6_dst_lookup_flow(dev_net(zb->dev), zb->udp->sock->sk, &fl6, NULL);
	return IS_ERR(dst) ? NULL : dst;
}

/* Return: route with a reference, or NULL. */
static struct dst_entry *zbr_route(struct zbridge *zb, const struct in6_addr *remote, u16 sport)
{
	struct dst_entry *dst;

	if (zbr_udp_is_ip4(remote) != zbr_udp_is_ip4(&zb->cfg.local))
		return NULL;
	dst = zbr_udp_is_ip4(remote) ? zbr_route4(zb, remote, sport) :
				       zbr_route6(zb, remote, sport);
	/* The tunnel must not be routed through itself. */
	if (dst && dst->dev == zb->dev) {
		dst_release(dst);
		return NULL;
	}
	return dst;
}

/* As zbr_route(); the flow caches the route while it is valid. */
static struct dst_entry *zbr_flow_route(struct zbr_flow *flow)
{
	struct dst_entry *dst = flow->dst;

	if (!flow->sport)
		flow->sport = jhash(&flow->key, sizeof(flow->key), 0) % ZBR_SPORTS;
	if (dst && !dst_check(dst, flow->cookie)) {
		dst_release(dst);
		flow->dst = NULL;
		dst = NULL;
	}
	if (!dst) {
		dst = zbr_route(flow->zb, &flow->key.remote, ZBR_SPORT_MIN + flow->sport);
		if (!dst)
			return NULL;
		flow->dst = dst;
		if (!zbr_udp_is_ip4(&flow->key.remote))
			flow->cookie = rt6_get_cookie(container_of(dst, struct rt6_info, dst));
	}
	dst_hold(dst);
	return dst;
}

/* Packets out */

/* Push a header in front of a frame, or of a struct zbr_ctl. */
static void zbr_put_hdr(struct zbridge *zb, struct sk_buff *skb, const struct zbr_msg *msg, u32 crc)
{
	struct zbr_hdr *hdr = skb_push(skb, sizeof(*hdr));

	*hdr = (struct zbr_hdr) {
		.vt = ZBR_VERSION << 4 | msg->type,
		.flags = msg->flags,
		.prio = msg->prio,
		.vni = htonl(zb->cfg.id << 8),
		.to = htonl(msg->to),
		.from = htonl(msg->from),
		.seq = htonl(msg->seq),
		.ack = htonl(msg->ack),
	};
	hdr->crc = zbr_crc_of(*hdr, crc);
}

DEFINE_PER_CPU(unsigned int, zbr_handing);

/* Transmit a packet; @dst's reference is consumed. */
static void zbr_xmit(struct zbridge *zb, struct sk_buff *skb, struct dst_entry *dst,
		     const struct in6_addr *remote, u16 sport, u8 tos, u8 prio)
{
	const struct in6_addr *local = &zb->cfg.local;
	struct sock *sk = zb->udp->sock->sk;
	u8 ttl = READ_ONCE(zb->cfg.ttl);

	skb->dev = NULL;
	skb->priority = prio;
	skb->ignore_df = 1;
	skb->ip_summed = CHECKSUM_NONE;
	__this_cpu_inc(zbr_handing);
	if (zbr_udp_is_ip4(remote))
		compat_udp_tunnel_xmit(container_of(dst, struct rtable, dst), sk, skb,
				       local->s6_addr32[3], remote->s6_addr32[3], tos,
				       ttl ?: ip4_dst_hoplimit(dst), htons(sport), zb->cfg.port);
	else
		compat_udp_tunnel6_xmit(dst, sk, skb, *local, *remote, tos,
					ttl ?: ip6_dst_hoplimit(dst), htons(sport), zb->cfg.port);
	__this_cpu_dec(zbr_handing);
}

/* DSCP and ECN of a frame, whose data is at the MAC header */
static u8 zbr_tos(const struct sk_buff *skb)
{
	unsigned int offset = ETH_HLEN;
	struct vlan_hdr vlan, *v;
	struct ipv6hdr ip6, *i6;
	struct iphdr ip, *i;
	__be16 proto = ((const struct ethhdr *)skb->data)->h_proto;

	if (eth_type_vlan(proto)) {
		v = skb_header_pointer(skb, offset, sizeof(vlan), &vlan);
		if (!v)
			return 0;
		proto = v->h_vlan_encapsulated_proto;
		offset += VLAN_HLEN;
	}
	if (proto == htons(ETH_P_IP)) {
		i = skb_header_pointer(skb, offset, sizeof(ip), &ip);
		return i ? ipv4_get_dsfield(i) : 0;
	}
	if (proto == htons(ETH_P_IPV6)) {
		i6 = skb_header_pointer(skb, offset, sizeof(ip6), &ip6);
		return i6 ? ipv6_get_dsfield(i6) : 0;
	}
	return 0;
}

/**
 * zbr_udp_send() - transmit a frame of a flow
 * @flow:	flow
 * @skb:	frame with headroom of its own; it is consumed
 * @msg:	header
 * @crc:	zbr_crc() of the frame
 *
 * The frame is charged to the account of its priority until the NIC has sent it.
 *
 * Context: the flow's lock.
 */
void zbr_udp_send(struct zbr_flow *flow, struct sk_buff *skb, const struct zbr_msg *msg, u32 crc)
{
	struct zbridge *zb = flow->zb;
	struct dst_entry *dst = zbr_flow_route(flow);
	u8 tos = zbr_tos(skb);
	u16 sport;

	if (!dst || skb_cow_head(skb, ZBR_HEADROOM)) {
		dst_release(dst);
		kfree_skb(skb);
		return;
	}
	flow->tos = tos & ~INET_ECN_MASK;
	sport = flow->sport;
	if (READ_ONCE(zb->cfg.spread))
		sport = (sport + msg->seq % ZBR_SPREAD) % ZBR_SPORTS;
	zbr_put_hdr(zb, skb, msg, crc);
	skb_set_owner_w(skb, zb->room[flow->key.prio].account->sk);
	zbr_xmit(zb, skb, dst, &flow->key.remote, ZBR_SPORT_MIN + sport, tos, flow->key.prio);
}

static struct sk_buff *zbr_ctl_packet(struct zbridge *zb, const struct zbr_msg *msg)
{
	struct sk_buff *skb = alloc_skb(ZBR_HEADROOM + sizeof(struct zbr_ctl), GFP_ATOMIC);
	struct zbr_ctl *ctl;

	if (!skb)
		return NULL;
	skb_reserve(skb, ZBR_HEADROOM);
	ctl = skb_put(skb, sizeof(*ctl));
	memcpy(ctl->dst, msg->dst, ETH_ALEN);
	memcpy(ctl->src, msg->src, ETH_ALEN);
	ctl->count = htonl(msg->count);
	zbr_put_hdr(zb, skb, msg, crc32c(~0, ctl, sizeof(*ctl)));
	return skb;
}

/**
 * zbr_udp_tell() - send a packet without a frame
 * @flow:	flow
 * @msg:	contents of the packet
 *
 * Without memory or a route the packet counts as lost.
 *
 * Context: the flow's lock.
 */
void zbr_udp_tell(struct zbr_flow *flow, const struct zbr_msg *msg)
{
	struct dst_entry *dst = zbr_flow_route(flow);
	struct sk_buff *skb;

	if (!dst)
		return;
	skb = zbr_ctl_packet(flow->zb, msg);
	if (skb)
		zbr_xmit(flow->zb, skb, dst, &flow->key.remote, ZBR_SPORT_MIN + flow->sport,
			 flow->tos, flow->key.prio);
	else
		dst_release(dst);
}

/**
 * zbr_udp_answer() - send a packet that belongs to no flow
 * @zb:		tunnel
 * @msg:	contents of the packet, which is sent to @msg->remote
 *
 * Context: bottom halves are off, RCU.
 */
void zbr_udp_answer(struct zbridge *zb, const struct zbr_msg *msg)
{
	struct dst_entry *dst = zbr_route(zb, &msg->remote, ZBR_SPORT_MIN);
	struct sk_buff *skb;

	if (!dst)
		return;
	skb = zbr_ctl_packet(zb, msg);
	if (skb)
		zbr_xmit(zb, skb, dst, &msg->remote, ZBR_SPORT_MIN, 0, msg->prio);
	else
		dst_release(dst);
}

/* Packets in */

static struct zbridge *zbr_tunnel_of(struct zbr_port *up, u32 id)
{
	struct zbridge *zb;

	hlist_for_each_entry_rcu(zb, &up->tunnels, node)
		if (zb->cfg.id == id)
			return zb;
	return NULL;
}

static void zbr_parse_outer(const struct sk_buff *skb, struct zbr_msg *msg)
{
	u8 tos;

	if (ip_hdr(skb)->version == 4) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &msg->remote);
		tos = ipv4_get_dsfield(ip_hdr(skb));
	} else {
		msg->remote = ipv6_hdr(skb)->saddr;
		tos = ipv6_get_dsfield(ipv6_hdr(skb));
	}
	msg->ce = INET_ECN_is_ce(tos);
}

/* @skb's data is at the header.  Return: ZBRIDGE_STAT_PAD, or why the packet is dropped. */
static enum zbridge_stat zbr_parse(struct sk_buff *skb, struct zbr_msg *msg)
{
	struct zbr_hdr hdr = *(struct zbr_hdr *)skb->data;
	struct zbr_ctl ctl;

	if (zbr_crc_of(hdr, zbr_crc(skb, sizeof(hdr))) != hdr.crc)
		return ZBRIDGE_STAT_DROP_CRC;
	zbr_parse_outer(skb, msg);
	msg->type = hdr.vt & 15;
	msg->flags = hdr.flags;
	msg->prio = hdr.prio;
	msg->to = ntohl(hdr.to);
	msg->from = ntohl(hdr.from);
	msg->seq = ntohl(hdr.seq);
	msg->ack = ntohl(hdr.ack);
	if (hdr.vt >> 4 != ZBR_VERSION || msg->type >= ZBR_TYPES || msg->prio >= ZBR_PRIOS)
		return ZBRIDGE_STAT_DROP_MALFORMED;
	__skb_pull(skb, sizeof(hdr));
	if (msg->type == ZBR_DATA)
		return pskb_may_pull(skb, ETH_HLEN) ? ZBRIDGE_STAT_PAD :
						      ZBRIDGE_STAT_DROP_MALFORMED;
	if (skb_copy_bits(skb, 0, &ctl, sizeof(ctl)))
		return ZBRIDGE_STAT_DROP_MALFORMED;
	memcpy(msg->dst, ctl.dst, ETH_ALEN);
	memcpy(msg->src, ctl.src, ETH_ALEN);
	msg->count = ntohl(ctl.count);
	return ZBRIDGE_STAT_PAD;
}

/* encap_rcv: the data is at UDP's header. */
static int zbr_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct zbr_port *up = rcu_dereference_sk_user_data(sk);
	enum zbridge_stat reason;
	struct zbr_msg msg = {};
	struct zbridge *zb;

	if (!up || !pskb_may_pull(skb, sizeof(struct udphdr) + sizeof(struct zbr_hdr)))
		goto drop;
	__skb_pull(skb, sizeof(struct udphdr));
	zb = zbr_tunnel_of(up, ntohl(((struct zbr_hdr *)skb->data)->vni) >> 8);
	if (!zb || !netif_running(zb->dev))
		goto drop;
	reason = zbr_parse(skb, &msg);
	if (reason)
		zbr_drop(zb, skb, reason);
	else
		zbr_flow_receive(zb, &msg, skb);
	return 0;
drop:
	kfree_skb(skb);
	return 0;
}

/* ICMP errors are ignored: a host that does not answer is declared dead on timeout. */
static int zbr_err_lookup(struct sock *sk, struct sk_buff *skb)
{
	return 0;
}

/* Sockets */

static struct zbr_port *zbr_port_new(struct zbridge *zb)
{
	struct udp_port_cfg cfg = {
		.family = zbr_udp_family(zb),
		.local_udp_port = zb->cfg.port,
		.ipv6_v6only = 1,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = ZBR_UDP_ENCAP,
		.encap_rcv = zbr_rcv,
		.encap_err_lookup = zbr_err_lookup,
	};
	struct zbr_port *up = kzalloc(sizeof(*up), GFP_KERNEL);
	int err;

	if (!up)
		return ERR_PTR(-ENOMEM);
	up->net = dev_net(zb->dev);
	up->port = zb->cfg.port;
	up->family = cfg.family;
	err = udp_sock_create(up->net, &cfg, &up->sock);
	if (err) {
		kfree(up);
		return ERR_PTR(err);
	}
	tunnel.sk_user_data = up;
	setup_udp_tunnel_sock(up->net, up->sock->sk, &tunnel);
	list_add(&up->node, &zbr_ports);
	return up;
}

/**
 * zbr_udp_open() - open the UDP port of a tunnel
 * @zb:		tunnel with its options
 *
 * Context: RTNL.
 * Return: 0, -EEXIST if there is another tunnel of this network and port, -EADDRINUSE if
 * something else has the port.
 */
int zbr_udp_open(struct zbridge *zb)
{
	struct zbr_port *up;

	list_for_each_entry(up, &zbr_ports, node)
		if (up->net == dev_net(zb->dev) && up->port == zb->cfg.port &&
		    up->family == zbr_udp_family(zb))
			goto found;
	up = zbr_port_new(zb);
	if (IS_ERR(up))
		return PTR_ERR(up);
found:
	if (zbr_tunnel_of(up, zb->cfg.id))
		return -EEXIST;
	zb->udp = up;
	hlist_add_head_rcu(&zb->node, &up->tunnels);
	return 0;
}

/**
 * zbr_udp_close() - close the UDP port of a tunnel
 * @zb:		tunnel; one that has not been opened is allowed
 *
 * Context: RTNL.  When it returns, zbr_rcv() no longer runs for this tunnel.
 */
void zbr_udp_close(struct zbridge *zb)
{
	struct zbr_port *up = zb->udp;

	if (!up)
		return;
	hlist_del_rcu(&zb->node);
	if (hlist_empty(&up->tunnels)) {
		list_del(&up->node);
		udp_tunnel_sock_release(up->sock->sk);
		synchronize_net();
		kfree(up);
	} else {
		synchronize_net();
	}
}
