// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: VLANs of ports, as on a bridge with vlan_filtering.
 *
 * With the switch's option vlan-filtering a frame belongs to the VLAN of its tag, or, if it
 * has none, to the port's PVID; it is taken by a port of that VLAN only, and leaves by
 * such ports only, with the tag or without, as the port is configured.  A new port has
 * PVID 1, untagged.  Inside the switch every frame has a tag, in skb->vlan_tci.  Without the
 * option tags are left alone and all frames are in VLAN 0.
 *
 * `bridge vlan add|del dev PORT vid V [pvid] [untagged]` and `bridge vlan show` are handled
 * here; the bitmaps are written under RTNL, a bit at a time, and read by anyone.
 *
 * Non-goals: 802.1ad (such frames are dropped, as are those with two tags), VLAN tunnels,
 * spanning tree states, VLAN statistics.
 */
#include <linux/if_bridge.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>
#include "zswitch.h"

/**
 * zsw_vlans_init() - set the VLANs of a new port
 * @v:	VLANs of the port, zeroed
 */
void zsw_vlans_init(struct zsw_vlans *v)
{
	v->pvid = 1;
	set_bit(1, v->member);
	set_bit(1, v->untagged);
}

/**
 * zsw_vlan_ingress() - find the VLAN of a frame that came in, and tag the frame with it
 * @v:		VLANs of the port
 * @skb:	frame, with its tag, if any, in skb->vlan_tci; on success it has a tag
 * @vid:	is set to the VLAN
 *
 * Frames with two tags are refused: a port that strips the first tag would expose the second,
 * by which anyone could send to any VLAN.
 *
 * Return: whether the port is in that VLAN.
 */
bool zsw_vlan_ingress(const struct zsw_vlans *v, struct sk_buff *skb, u16 *vid)
{
	if (eth_type_vlan(skb->protocol) ||
	    (skb_vlan_tag_present(skb) && skb->vlan_proto != htons(ETH_P_8021Q)))
		return false;
	*vid = skb_vlan_tag_present(skb) ? skb_vlan_tag_get_id(skb) : 0;
	if (!*vid) {
		*vid = READ_ONCE(v->pvid);
		if (!*vid)
			return false;
		/* A priority tag, with VLAN 0, keeps its priority. */
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), *vid |
				       (skb_vlan_tag_present(skb) ?
					skb_vlan_tag_get(skb) & VLAN_PRIO_MASK : 0));
	}
	return test_bit(*vid, v->member);
}

/**
 * zsw_vlan_egress() - may a frame leave by a port?
 * @v:		VLANs of the port
 * @vid:	VLAN of the frame
 *
 * Return: whether the port is in that VLAN.
 */
bool zsw_vlan_egress(const struct zsw_vlans *v, u16 vid)
{
	return test_bit(vid, v->member);
}

/**
 * zsw_vlan_strip() - remove the tag if the VLAN leaves the port untagged
 * @v:		VLANs of the port
 * @skb:	frame
 * @vid:	VLAN of the frame
 */
void zsw_vlan_strip(const struct zsw_vlans *v, struct sk_buff *skb, u16 vid)
{
	if (test_bit(vid, v->untagged))
		__vlan_hwaccel_clear_tag(skb);
}

static struct zsw_vlans *zsw_vlans_of(struct net_device *dev)
{
	struct net_device *master = netdev_master_upper_dev_get(dev);
	struct zswitch_port *port;

	if (zsw_is_switch(dev))
		return &((struct zswitch *)netdev_priv(dev))->host->vlans;
	if (!master || !zsw_is_switch(master))
		return NULL;
	port = zsw_port_find(netdev_priv(master), dev);
	return port ? &port->vlans : NULL;
}

static void zsw_vlan_add(struct zsw_vlans *v, u16 vid, u16 flags)
{
	if (flags & BRIDGE_VLAN_INFO_UNTAGGED)
		set_bit(vid, v->untagged);
	else
		clear_bit(vid, v->untagged);
	set_bit(vid, v->member);
	if (flags & BRIDGE_VLAN_INFO_PVID)
		WRITE_ONCE(v->pvid, vid);
	else if (v->pvid == vid)
		WRITE_ONCE(v->pvid, 0);
}

static void zsw_vlan_del(struct zsw_vlans *v, u16 vid)
{
	clear_bit(vid, v->member);
	clear_bit(vid, v->untagged);
	if (v->pvid == vid)
		WRITE_ONCE(v->pvid, 0);
}

/* Add or delete one VLAN, or a range that began at *@begin; or begin a range. */
static int zsw_vlan_change(struct zsw_vlans *v, const struct bridge_vlan_info *info, u16 *begin,
			   bool add, struct netlink_ext_ack *extack)
{
	u16 vid = info->vid, first = vid;

	if (!vid || vid >= VLAN_VID_MASK) {
		NL_SET_ERR_MSG(extack, "a VLAN is 1 to 4094");
		return -EINVAL;
	}
	if (info->flags & (BRIDGE_VLAN_INFO_RANGE_BEGIN | BRIDGE_VLAN_INFO_RANGE_END) &&
	    info->flags & BRIDGE_VLAN_INFO_PVID) {
		NL_SET_ERR_MSG(extack, "a range of VLANs has no PVID");
		return -EINVAL;
	}
	if (*begin && !(info->flags & BRIDGE_VLAN_INFO_RANGE_END)) {
		NL_SET_ERR_MSG(extack, "a range of VLANs must end before anything else");
		return -EINVAL;
	}
	if (info->flags & BRIDGE_VLAN_INFO_RANGE_BEGIN) {
		*begin = vid;
		return 0;
	}
	if (info->flags & BRIDGE_VLAN_INFO_RANGE_END) {
		if (!*begin || *begin >= vid) {
			NL_SET_ERR_MSG(extack, "a range of VLANs ends before it begins");
			return -EINVAL;
		}
		first = *begin;
		*begin = 0;
	}
	for (; first <= vid; first++) {
		if (add)
			zsw_vlan_add(v, first, info->flags);
		else
			zsw_vlan_del(v, first);
	}
	return 0;
}

static int zsw_vlans_change(struct net_device *dev, struct nlmsghdr *nlh, bool add,
			    struct netlink_ext_ack *extack)
{
	struct nlattr *af = nlmsg_find_attr(nlh, sizeof(struct ifinfomsg), IFLA_AF_SPEC);
	struct zsw_vlans *v = zsw_vlans_of(dev);
	struct nlattr *attr;
	u16 begin = 0;
	int rem, err;

	if (!v)
		return -EINVAL;
	if (!af) {
		NL_SET_ERR_MSG(extack,
			       "only VLANs are set here; options: ip link set type zswitch_slave");
		return -EOPNOTSUPP;
	}
	nla_for_each_nested(attr, af, rem) {
		if (nla_type(attr) == IFLA_BRIDGE_FLAGS)
			continue;
		if (nla_type(attr) != IFLA_BRIDGE_VLAN_INFO ||
		    nla_len(attr) != sizeof(struct bridge_vlan_info)) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "only VLANs are known here");
			return -EOPNOTSUPP;
		}
		err = zsw_vlan_change(v, nla_data(attr), &begin, add, extack);
		if (err)
			return err;
	}
	if (begin) {
		NL_SET_ERR_MSG(extack, "a range of VLANs has no end");
		return -EINVAL;
	}
	return 0;
}

/**
 * zsw_bridge_setlink() - ndo_bridge_setlink
 * @dev:	port, or the switch
 * @nlh:	message
 * @flags:	not used
 * @extack:	error message
 *
 * Context: RTNL.
 * Return: 0 or an error.
 */
int zsw_bridge_setlink(struct net_device *dev, struct nlmsghdr *nlh, u16 flags,
		       struct netlink_ext_ack *extack)
{
	return zsw_vlans_change(dev, nlh, true, extack);
}

/**
 * zsw_bridge_dellink() - ndo_bridge_dellink
 * @dev:	port, or the switch
 * @nlh:	message
 * @flags:	not used
 *
 * Context: RTNL.
 * Return: 0 or an error.
 */
int zsw_bridge_dellink(struct net_device *dev, struct nlmsghdr *nlh, u16 flags)
{
	return zsw_vlans_change(dev, nlh, false, NULL);
}

static int zsw_put_vlan(struct sk_buff *skb, u16 vid, u16 flags)
{
	struct bridge_vlan_info info = { .vid = vid, .flags = flags };

	return nla_put(skb, IFLA_BRIDGE_VLAN_INFO, sizeof(info), &info);
}

static u16 zsw_vlan_flags(const struct zsw_vlans *v, u16 vid)
{
	return (test_bit(vid, v->untagged) ? BRIDGE_VLAN_INFO_UNTAGGED : 0) |
	       (READ_ONCE(v->pvid) == vid ? BRIDGE_VLAN_INFO_PVID : 0);
}

/* Return: the last VLAN of the range that begins at @vid and has the same flags. */
static u16 zsw_vlan_range(const struct zsw_vlans *v, u16 vid)
{
	u16 flags = zsw_vlan_flags(v, vid);

	while (vid + 1 < VLAN_N_VID && test_bit(vid + 1, v->member) &&
	       !(flags & BRIDGE_VLAN_INFO_PVID) && zsw_vlan_flags(v, vid + 1) == flags)
		vid++;
	return vid;
}

static int zsw_put_vlans(struct sk_buff *skb, const struct zsw_vlans *v, bool compressed)
{
	unsigned int vid, last;
	u16 flags;

	for_each_set_bit(vid, v->member, VLAN_N_VID) {
		flags = zsw_vlan_flags(v, vid);
		last = compressed ? zsw_vlan_range(v, vid) : vid;
		if (last == vid) {
			if (zsw_put_vlan(skb, vid, flags))
				return -EMSGSIZE;
			continue;
		}
		if (zsw_put_vlan(skb, vid, flags | BRIDGE_VLAN_INFO_RANGE_BEGIN) ||
		    zsw_put_vlan(skb, last, flags | BRIDGE_VLAN_INFO_RANGE_END))
			return -EMSGSIZE;
		vid = last;
	}
	return 0;
}

static int zsw_put_bridge_link(struct sk_buff *skb, const struct net_device *dev,
			       const struct zsw_vlans *v, u32 filter_mask)
{
	struct net_device *master = netdev_master_upper_dev_get_rcu((struct net_device *)dev);
	struct nlattr *af;

	if (nla_put_string(skb, IFLA_IFNAME, dev->name) ||
	    nla_put_u32(skb, IFLA_MASTER, master ? master->ifindex : dev->ifindex) ||
	    nla_put_u32(skb, IFLA_MTU, READ_ONCE(dev->mtu)))
		return -EMSGSIZE;
	if (!(filter_mask & (RTEXT_FILTER_BRVLAN | RTEXT_FILTER_BRVLAN_COMPRESSED)))
		return 0;
	af = nla_nest_start_noflag(skb, IFLA_AF_SPEC);
	if (!af || zsw_put_vlans(skb, v, filter_mask & RTEXT_FILTER_BRVLAN_COMPRESSED))
		return -EMSGSIZE;
	nla_nest_end(skb, af);
	return 0;
}

/**
 * zsw_bridge_getlink() - ndo_bridge_getlink
 * @skb:	message
 * @portid:	netlink port of the requester
 * @seq:	sequence number of the request
 * @dev:	port, or the switch
 * @filter_mask: RTEXT_FILTER flags
 * @nlflags:	flags of the message
 *
 * Context: RCU.
 * Return: 0 or an error.
 */
int zsw_bridge_getlink(struct sk_buff *skb, u32 portid, u32 seq, struct net_device *dev,
		       u32 filter_mask, int nlflags)
{
	struct net_device *master = netdev_master_upper_dev_get_rcu(dev);
	const struct zswitch_port *port;
	struct ifinfomsg *hdr;
	struct nlmsghdr *nlh;
	struct zswitch *zsw;

	if (!zsw_is_switch(dev) && (!master || !zsw_is_switch(master)))
		return 0;
	zsw = netdev_priv(zsw_is_switch(dev) ? dev : master);
	port = zsw_port_find(zsw, dev);
	if (!port)
		return 0;
	nlh = nlmsg_put(skb, portid, seq, RTM_NEWLINK, sizeof(*hdr), nlflags);
	if (!nlh)
		return -EMSGSIZE;
	hdr = nlmsg_data(nlh);
	*hdr = (struct ifinfomsg) {
		.ifi_family = AF_BRIDGE,
		.ifi_type = dev->type,
		.ifi_index = dev->ifindex,
		.ifi_flags = netif_get_flags(dev),
	};
	if (zsw_put_bridge_link(skb, dev, &port->vlans, filter_mask)) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}
