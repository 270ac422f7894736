// SPDX-License-Identifier: GPL-2.0
/*
 * zbridge: netlink requests that create, change and dump tunnels
 * (include/uapi/linux/zbridge.h); flow.c has the overview.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <net/ipv6.h>
#include <net/netlink.h>
#include <net/rtnetlink.h>
#include "zbridge.h"

/* A tunnel has no peer device, so no attribute describes one. */
#define COMPAT_NEWLINK		zbr_newlink
#define COMPAT_NEWLINK_PEER	IFLA_ZBRIDGE_UNSPEC
#include <compat/rtnl_newlink.h>

#define ZBR_KIND	"zbridge"

static const struct zbr_config zbr_defaults = {
	.port		= cpu_to_be16(ZBRIDGE_PORT),
	.learning	= true,
	.memory		= 64 << 20,
};

static struct netlink_range_validation zbr_id_range = { .max = ZBRIDGE_ID_MAX };
static struct netlink_range_validation zbr_buffer_range = { .max = ZBRIDGE_BUFFER_MAX };
static struct netlink_range_validation zbr_memory_range = {
	.min = ZBRIDGE_MEMORY_MIN, .max = S32_MAX,
};

static const struct nla_policy zbr_policy[IFLA_ZBRIDGE_MAX + 1] = {
	[IFLA_ZBRIDGE_UNSPEC]	= { .strict_start_type = IFLA_ZBRIDGE_ID },
	[IFLA_ZBRIDGE_PAD]	= { .type = NLA_REJECT },
	[IFLA_ZBRIDGE_ID]	= NLA_POLICY_FULL_RANGE(NLA_U32, &zbr_id_range),
	[IFLA_ZBRIDGE_LOCAL]	= NLA_POLICY_EXACT_LEN(sizeof(struct in_addr)),
	[IFLA_ZBRIDGE_LOCAL6]	= NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[IFLA_ZBRIDGE_LINK]	= { .type = NLA_U32 },
	[IFLA_ZBRIDGE_PORT]	= { .type = NLA_U16 },
	[IFLA_ZBRIDGE_LEARNING]	= NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_ZBRIDGE_SPREAD]	= NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_ZBRIDGE_TTL]	= { .type = NLA_U8 },
	[IFLA_ZBRIDGE_BUFFER]	= NLA_POLICY_FULL_RANGE(NLA_U32, &zbr_buffer_range),
	[IFLA_ZBRIDGE_ASK]	= NLA_POLICY_FULL_RANGE(NLA_U32, &zbr_buffer_range),
	[IFLA_ZBRIDGE_MEMORY]	= NLA_POLICY_FULL_RANGE(NLA_U32, &zbr_memory_range),
	[IFLA_ZBRIDGE_FLOWS]	= { .type = NLA_REJECT },
	[IFLA_ZBRIDGE_USED]	= { .type = NLA_REJECT },
	[IFLA_ZBRIDGE_STATS]	= { .type = NLA_REJECT },
};

static int zbr_validate(struct nlattr *tb[], struct nlattr *data[], struct netlink_ext_ack *extack)
{
	struct nlattr *addr = tb[IFLA_ADDRESS];

	if (addr && (nla_len(addr) != ETH_ALEN || !is_valid_ether_addr(nla_data(addr)))) {
		NL_SET_ERR_MSG_ATTR(extack, addr, "not a unicast Ethernet address");
		return -EADDRNOTAVAIL;
	}
	return 0;
}

/* Parse the options that may be changed later. */
static int zbr_parse(struct zbr_config *cfg, struct nlattr *data[], struct netlink_ext_ack *extack)
{
	if (data[IFLA_ZBRIDGE_LEARNING])
		cfg->learning = nla_get_u8(data[IFLA_ZBRIDGE_LEARNING]);
	if (data[IFLA_ZBRIDGE_SPREAD])
		cfg->spread = nla_get_u8(data[IFLA_ZBRIDGE_SPREAD]);
	if (data[IFLA_ZBRIDGE_TTL])
		cfg->ttl = nla_get_u8(data[IFLA_ZBRIDGE_TTL]);
	if (data[IFLA_ZBRIDGE_BUFFER])
		cfg->buffer = nla_get_u32(data[IFLA_ZBRIDGE_BUFFER]);
	if (data[IFLA_ZBRIDGE_ASK])
		cfg->ask = nla_get_u32(data[IFLA_ZBRIDGE_ASK]);
	if (data[IFLA_ZBRIDGE_MEMORY])
		cfg->memory = nla_get_u32(data[IFLA_ZBRIDGE_MEMORY]);
	if (cfg->buffer && cfg->buffer < ZBRIDGE_BUFFER_MIN) {
		NL_SET_ERR_MSG(extack, "buffer is 16 to 65536 frames, or 0");
		return -ERANGE;
	}
	if (cfg->buffer && cfg->ask > cfg->buffer) {
		NL_SET_ERR_MSG(extack, "frames must ask before the buffer is full (ask)");
		return -ERANGE;
	}
	return 0;
}

/* Parse the options that may not. */
static int zbr_parse_once(struct zbr_config *cfg, struct nlattr *data[],
			  struct netlink_ext_ack *extack)
{
	const struct nlattr *local = data[IFLA_ZBRIDGE_LOCAL], *local6 = data[IFLA_ZBRIDGE_LOCAL6];

	if (!data[IFLA_ZBRIDGE_ID]) {
		NL_SET_ERR_MSG(extack, "a tunnel needs a network (id)");
		return -EINVAL;
	}
	if (!local == !local6) {
		NL_SET_ERR_MSG(extack, "a tunnel needs one address of this host (local)");
		return -EINVAL;
	}
	cfg->id = nla_get_u32(data[IFLA_ZBRIDGE_ID]);
	if (local)
		ipv6_addr_set_v4mapped(nla_get_in_addr(local), &cfg->local);
	else
		cfg->local = nla_get_in6_addr(local6);
	if (ipv6_addr_any(&cfg->local) || ipv6_addr_is_multicast(&cfg->local) ||
	    (local6 && ipv6_addr_v4mapped(&cfg->local))) {
		NL_SET_ERR_MSG(extack, "local must be an address of this host");
		return -EADDRNOTAVAIL;
	}
	if (data[IFLA_ZBRIDGE_LINK])
		cfg->link = nla_get_u32(data[IFLA_ZBRIDGE_LINK]);
	if (data[IFLA_ZBRIDGE_PORT])
		cfg->port = nla_get_be16(data[IFLA_ZBRIDGE_PORT]);
	if (!cfg->port) {
		NL_SET_ERR_MSG(extack, "dstport is 1 to 65535");
		return -ERANGE;
	}
	return 0;
}

/* Set an MTU that leaves room for our headers. */
static int zbr_set_mtu(struct net_device *dev, struct nlattr *mtu, struct netlink_ext_ack *extack)
{
	struct zbridge *zb = netdev_priv(dev);
	unsigned int headers = sizeof(struct udphdr) + sizeof(struct zbr_hdr) + VLAN_ETH_HLEN +
			       (zbr_udp_is_ip4(&zb->cfg.local) ? sizeof(struct iphdr) :
								 sizeof(struct ipv6hdr));
	struct net_device *link = NULL;

	if (zb->cfg.link) {
		link = __dev_get_by_index(dev_net(dev), zb->cfg.link);
		if (!link) {
			NL_SET_ERR_MSG(extack, "there is no such device (dev)");
			return -ENODEV;
		}
	}
	dev->max_mtu = ETH_MAX_MTU - headers;
	if (mtu && dev->mtu > dev->max_mtu) {
		NL_SET_ERR_MSG_ATTR(extack, mtu, "mtu leaves no room for the headers in 64 KB");
		return -EINVAL;
	}
	if (!mtu)
		dev->mtu = max_t(int, (int)(link ? link->mtu : ETH_DATA_LEN) - (int)headers,
				 ETH_MIN_MTU);
	return 0;
}

static int zbr_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
		       struct netlink_ext_ack *extack)
{
	struct zbridge *zb = netdev_priv(dev);
	struct nlattr *none[IFLA_ZBRIDGE_MAX + 1] = {};
	struct nlattr **data = params->data ?: none;
	int err;

	zb->cfg = zbr_defaults;
	err = zbr_parse_once(&zb->cfg, data, extack) ?: zbr_parse(&zb->cfg, data, extack) ?:
	      zbr_set_mtu(dev, params->tb[IFLA_MTU], extack);
	if (err)
		return err;
	if (!params->tb[IFLA_ADDRESS])
		eth_hw_addr_random(dev);
	err = register_netdevice(dev);
	if (err == -EEXIST)
		NL_SET_ERR_MSG(extack, "there is a tunnel of this network and port already");
	else if (err == -EADDRINUSE)
		NL_SET_ERR_MSG(extack, "something else has the UDP port (dstport)");
	return err;
}

static int zbr_changelink(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
			  struct netlink_ext_ack *extack)
{
	struct zbridge *zb = netdev_priv(dev);
	struct zbr_config cfg = zb->cfg;
	int i, err;

	if (!data)
		return 0;
	for (i = IFLA_ZBRIDGE_ID; i <= IFLA_ZBRIDGE_PORT; i++)
		if (data[i]) {
			NL_SET_ERR_MSG_ATTR(extack, data[i],
					    "id, local, dev and dstport stay as they are");
			return -EOPNOTSUPP;
		}
	err = zbr_parse(&cfg, data, extack);
	if (err)
		return err;
	WRITE_ONCE(zb->cfg.learning, cfg.learning);
	WRITE_ONCE(zb->cfg.spread, cfg.spread);
	WRITE_ONCE(zb->cfg.ttl, cfg.ttl);
	WRITE_ONCE(zb->cfg.ask, cfg.ask);
	WRITE_ONCE(zb->cfg.memory, cfg.memory);
	zb->cfg.buffer = cfg.buffer;
	zbr_set_buffer(zb);
	return 0;
}

static size_t zbr_get_size(const struct net_device *dev)
{
	return 7 * nla_total_size(sizeof(u32)) + nla_total_size(sizeof(struct in6_addr)) +
	       nla_total_size(sizeof(u16)) + 3 * nla_total_size(sizeof(u8)) + zbr_stats_size();
}

static int zbr_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	const struct zbridge *zb = netdev_priv(dev);
	const struct zbr_config *cfg = &zb->cfg;
	int err;

	err = zbr_udp_is_ip4(&cfg->local) ?
	      nla_put_in_addr(skb, IFLA_ZBRIDGE_LOCAL, cfg->local.s6_addr32[3]) :
	      nla_put_in6_addr(skb, IFLA_ZBRIDGE_LOCAL6, &cfg->local);
	if (err || nla_put_u32(skb, IFLA_ZBRIDGE_ID, cfg->id) ||
	    nla_put_u32(skb, IFLA_ZBRIDGE_LINK, cfg->link) ||
	    nla_put_be16(skb, IFLA_ZBRIDGE_PORT, cfg->port) ||
	    nla_put_u8(skb, IFLA_ZBRIDGE_LEARNING, cfg->learning) ||
	    nla_put_u8(skb, IFLA_ZBRIDGE_SPREAD, cfg->spread) ||
	    nla_put_u8(skb, IFLA_ZBRIDGE_TTL, cfg->ttl) ||
	    nla_put_u32(skb, IFLA_ZBRIDGE_BUFFER, zb->buffer ?: cfg->buffer) ||
	    nla_put_u32(skb, IFLA_ZBRIDGE_ASK, cfg->ask) ||
	    nla_put_u32(skb, IFLA_ZBRIDGE_MEMORY, cfg->memory) ||
	    nla_put_u32(skb, IFLA_ZBRIDGE_FLOWS, atomic_read(&zb->num_flows)) ||
	    nla_put_u32(skb, IFLA_ZBRIDGE_USED,
			atomic_read(&zb->memory) + atomic_read(&zb->early)))
		return -EMSGSIZE;
	return zbr_put_stats(skb, zb);
}

static struct rtnl_link_ops zbr_link_ops = {
	.kind		= ZBR_KIND,
	.priv_size	= sizeof(struct zbridge),
	.setup		= zbr_setup,
	.policy		= zbr_policy,
	.maxtype	= IFLA_ZBRIDGE_MAX,
	.validate	= zbr_validate,
	.newlink	= compat_newlink,
	.changelink	= zbr_changelink,
	.get_size	= zbr_get_size,
	.fill_info	= zbr_fill_info,
};

static int __init zbr_module_init(void)
{
	int err;

	zbr_kind.link_ops = &zbr_link_ops;
	zswitch_register_kind(&zbr_kind);
	err = rtnl_link_register(&zbr_link_ops);
	if (err)
		zswitch_unregister_kind(&zbr_kind);
	return err;
}

static void __exit zbr_module_exit(void)
{
	rtnl_link_unregister(&zbr_link_ops);
	zswitch_unregister_kind(&zbr_kind);
	/* Wait for zbr_flow_free(). */
	rcu_barrier();
}

module_init(zbr_module_init);
module_exit(zbr_module_exit);

MODULE_DESCRIPTION("Reliable tunnel of the lossless virtual switch");
MODULE_LICENSE("GPL");
MODULE_VERSION(PACKAGE_VERSION);
MODULE_ALIAS_RTNL_LINK(ZBR_KIND);
