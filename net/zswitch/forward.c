// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: where a received frame goes.
 *
 *	a frame? -- VLAN -- whose source? -- known destination: that port
 *	                                  '- all others (broadcast, multicast, unknown)
 *
 * Frames that no bridge forwards (to 01:80:c2:00:00:0x: pause frames, LLDP, spanning tree) are not
 * forwarded here either.  The switch takes no part in a spanning tree, so a second path around it
 * is a loop and must not be built.  There is no snooping: multicast is flooded to all.
 *
 * A frame for many outputs is copied for each, and each copy waits on its own.
 *
 * A frame keeps its socket while it waits, so that the sender's send buffer bounds what waits.
 * Its other state of the sender's namespace is removed (zsw_prepare()).
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <net/gso.h>
#include <net/sock.h>
#include "fabric.h"
#include "queue.h"

/* Prepare a frame to wait for long, and to move to another namespace then. */
static bool zsw_prepare(struct zswitch_port *in, struct sk_buff *skb)
{
	const struct ethhdr *eth;

	if (!pskb_may_pull(skb, ETH_HLEN))
		return false;
	skb_reset_mac_header(skb);
	if (skb_orphan_frags_rx(skb, GFP_ATOMIC))
		return false;
	eth = eth_hdr(skb);
	if (!is_valid_ether_addr(eth->h_source))
		return false;
	/*
	 * sch_cee may keep a tag's priority in skb->priority; a guest's value means nothing
	 * here.  Nor need a guest's skb->protocol match the frame: AF_PACKET lets it choose both.
	 */
	if (in->vnic) {
		skb_scrub_packet(skb, true);
		skb->priority = 0;
		skb->protocol = eth->h_proto;
	} else {
		skb_forward_csum(skb);
		skb_clear_tstamp(skb);
		skb->pkt_type = PACKET_HOST;
	}
	skb_set_network_header(skb, ETH_HLEN);
	skb_reset_mac_len(skb);
	return true;
}

/* Move a tag from the frame to skb->vlan_tci.  Return: NULL if the frame is too short. */
static struct sk_buff *zsw_untag(struct sk_buff *skb)
{
	if (!eth_type_vlan(skb->protocol) || skb_vlan_tag_present(skb))
		return skb;
	__skb_pull(skb, ETH_HLEN);
	skb = skb_vlan_untag(skb);
	if (!skb)
		return NULL;
	skb_push(skb, ETH_HLEN);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb_reset_mac_len(skb);
	return skb;
}

/*
 * A guest chooses where a checksum starts that is filled in when the frame leaves.  No protocol's
 * checksum starts before the end of the IPv4 header; there it could change the addresses, the type
 * and the priority after the switch has decided by them.
 */
static bool zsw_sum_is_sound(const struct sk_buff *skb)
{
	return skb->ip_summed != CHECKSUM_PARTIAL ||
	       skb_checksum_start_offset(skb) >= (int)(ETH_HLEN + sizeof(struct iphdr));
}

/* May a port send from this address?  It is learnt if so. */
static bool zsw_source(struct zswitch_port *in, const u8 *addr, u16 vid)
{
	struct zsw_dest owner = zsw_fdb_lookup(in->zsw, addr, vid);

	if (in != READ_ONCE(in->zsw->host) && ether_addr_equal(addr, in->zsw->dev->dev_addr))
		return false;
	if (owner.is_static ? owner.port != in : READ_ONCE(in->guard))
		return false;
	if (!owner.is_static && READ_ONCE(in->learning))
		zsw_fdb_learn(in->zsw, in, &owner, addr, vid);
	return true;
}

/* Does a frame fit the output's MTU?  A GSO packet is judged by its segments. */
static bool zsw_fits(const struct net_device *dev, const struct sk_buff *skb)
{
	return is_skb_forwardable(dev, skb) &&
	       (!skb_is_gso(skb) ||
		skb_gso_validate_mac_len(skb, READ_ONCE(dev->mtu) + ETH_HLEN + VLAN_HLEN));
}

/* Hand a frame to an output, or drop it if it does not fit. */
static void zsw_deliver(struct zswitch_port *out, const struct zsw_frame *f)
{
	if (!zsw_fits(out->dev, f->skb)) {
		zsw_drop(f->in, f->skb, netif_running(out->dev) ? ZSWITCH_STAT_DROP_MTU :
							    ZSWITCH_STAT_DROP_DOWN);
		return;
	}
	if (f->vid)
		zsw_vlan_strip(&out->vlans, f->skb, f->vid);
	zsw_enqueue(out, f);
}

/* Drop a frame that a policy forbids, and answer the sender by ICMP if the option is on. */
static void zsw_refuse(struct zswitch_port *out, const struct zsw_frame *f)
{
	struct zsw_frame answer = { .in = out, .txq = -1, .vid = f->vid };
	enum zswitch_stat reason;

	answer.skb = zsw_icmp_answer(f->in, f->skb);
	zsw_drop(f->in, f->skb, ZSWITCH_STAT_DROP_POLICY);
	if (!answer.skb)
		return;
	/* Sent as a flooded copy, the answer needs no credit, and does not wait for long. */
	zsw_count(out, ZSWITCH_STAT_COPIES, 1);
	reason = zsw_bill_open(&answer);
	if (reason) {
		zsw_drop(out, answer.skb, reason);
		return;
	}
	zsw_deliver(f->in, &answer);
	zsw_bill_put(out, answer.bill);
}

static void zsw_unicast(struct zswitch_port *out, const struct zsw_frame *f)
{
	if (out == f->in)
		zsw_drop(f->in, f->skb, ZSWITCH_STAT_DROP_LOCAL);
	else if (f->vid && !zsw_vlan_egress(&out->vlans, f->vid))
		zsw_drop(f->in, f->skb, ZSWITCH_STAT_DROP_VLAN);
	else if (!zsw_policy_may(f->in, out))
		zsw_refuse(out, f);
	else
		zsw_deliver(out, f);
}

/* Is a flooded frame to be sent to this output? */
static bool zsw_flooded(const struct zswitch_port *out, const struct zsw_frame *f, bool unknown)
{
	if (out == f->in || !READ_ONCE(out->up) || (f->control && out->vnic))
		return false;
	if (unknown && (out == READ_ONCE(out->zsw->host) || !READ_ONCE(out->flood)))
		return false;
	if (f->vid && !zsw_vlan_egress(&out->vlans, f->vid))
		return false;
	return zsw_policy_may(f->in, out);
}

static void zsw_copy(struct zswitch_port *out, const struct zsw_frame *f)
{
	struct zsw_frame copy = *f;

	zsw_count(f->in, ZSWITCH_STAT_COPIES, 1);
	copy.skb = skb_clone(f->skb, GFP_ATOMIC);
	if (!copy.skb) {
		zsw_count(f->in, ZSWITCH_STAT_DROP_NOMEM, 1);
		return;
	}
	/* A clone has no socket, but must be charged to one as the frame itself is. */
	if (f->skb->sk && f->skb->destructor)
		skb_set_owner_w(copy.skb, f->skb->sk);
	zsw_deliver(out, &copy);
}

static void zsw_flood(struct zsw_frame *f, bool unknown)
{
	enum zswitch_stat reason = zsw_bill_open(f);
	struct zswitch_port *out, *last = NULL;

	if (reason) {
		zsw_drop(f->in, f->skb, reason);
		return;
	}

	list_for_each_entry_rcu(out, &f->in->zsw->ports, node) {
		if (!zsw_flooded(out, f, unknown))
			continue;
		if (last)
			zsw_copy(last, f);
		last = out;
	}
	if (last)
		zsw_deliver(last, f);
	else
		zsw_drop(f->in, f->skb, ZSWITCH_STAT_DROP_LOCAL);
	zsw_bill_put(f->in, f->bill);
}

/* Frames of control are for the switch of the vNIC that they are addressed to. */
static void zsw_control(struct zswitch_port *out, const struct zsw_frame *f)
{
	if (f->vid && !zsw_vlan_egress(&out->vlans, f->vid))
		zsw_drop(f->in, f->skb, ZSWITCH_STAT_DROP_VLAN);
	else if (!zsw_policy_may(f->in, out))
		zsw_drop(f->in, f->skb, ZSWITCH_STAT_DROP_POLICY);
	else
		zsw_fabric_receive(out, f);
}

/* Is the frame link-local, for the neighbour on the wire only? */
static bool zsw_is_local(const struct sk_buff *skb)
{
	return is_link_local_ether_addr(eth_hdr(skb)->h_dest);
}

/**
 * zsw_forward() - forward a frame that has come in by a port
 * @in:		port
 * @skb:	frame, its data at the MAC header; it is consumed
 * @txq:	transmit queue that has sent it and may be stopped, or -1
 *
 * Context: RCU, bottom halves are off.
 */
void zsw_forward(struct zswitch_port *in, struct sk_buff *skb, int txq)
{
	struct zsw_frame f = { .in = in, .txq = txq };
	struct zswitch *zsw = in->zsw;
	struct zsw_dest dest = {};

	zsw_count(in, ZSWITCH_STAT_IN, 1);
	zsw_count(in, ZSWITCH_STAT_IN_BYTES, skb->len);
	if (!zsw_prepare(in, skb)) {
		zsw_drop(in, skb, ZSWITCH_STAT_DROP_MALFORMED);
		return;
	}
	skb = zsw_untag(skb);
	if (!skb) {
		zsw_count(in, ZSWITCH_STAT_DROP_MALFORMED, 1);
		return;
	}
	f.skb = skb;
	if (!zsw_sum_is_sound(skb)) {
		zsw_drop(in, skb, ZSWITCH_STAT_DROP_MALFORMED);
		return;
	}
	if (zsw_is_local(skb)) {
		zsw_drop(in, skb, ZSWITCH_STAT_DROP_LOCAL);
		return;
	}
	if (READ_ONCE(zsw->cfg.vlan_filtering) && !zsw_vlan_ingress(&in->vlans, skb, &f.vid)) {
		zsw_drop(in, skb, ZSWITCH_STAT_DROP_VLAN);
		return;
	}
	if (!zsw_source(in, eth_hdr(skb)->h_source, f.vid)) {
		zsw_drop(in, skb, ZSWITCH_STAT_DROP_GUARD);
		return;
	}
	f.control = zsw_fabric_is_control(skb);
	if (f.control && in->vnic) {
		zsw_drop(in, skb, ZSWITCH_STAT_DROP_FORGED);
		return;
	}
	if (!is_multicast_ether_addr(eth_hdr(skb)->h_dest)) {
		dest = zsw_fdb_lookup(zsw, eth_hdr(skb)->h_dest, f.vid);
		if (ether_addr_equal(eth_hdr(skb)->h_dest, zsw->dev->dev_addr))
			dest.port = READ_ONCE(zsw->host);
		if (dest.port && f.control && dest.port->vnic) {
			zsw_control(dest.port, &f);
			return;
		}
		if (dest.port) {
			zsw_unicast(dest.port, &f);
			return;
		}
	}
	zsw_flood(&f, !is_multicast_ether_addr(eth_hdr(skb)->h_dest));
}

/**
 * zswitch_send() - a device of a registered kind sends a frame
 * @port:	port of the device
 * @skb:	frame, its data at the MAC header; it is consumed
 * @txq:	transmit queue, below ZSWITCH_TXQS, which may be stopped by this call; -1: none, the
 *		sender bounds its waiting frames by its own accounting
 *
 * Context: RCU, bottom halves are off; calls for a transmit queue may be concurrent, where a
 * sender bypasses its qdisc.
 */
void zswitch_send(struct zswitch_port *port, struct sk_buff *skb, int txq)
{
	zsw_forward(port, skb, txq);
}
EXPORT_SYMBOL_GPL(zswitch_send);
