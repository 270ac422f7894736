/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * AF_NDP by generic netlink: the family "ndp" with its commands, attributes and events.  AF_NDP
 * itself is linux/ndp.h.
 */
#ifndef _UAPI_LINUX_NDP_NETLINK_H
#define _UAPI_LINUX_NDP_NETLINK_H

/*
 * Paths, by generic netlink.
 *
 * For each destination prefix a namespace holds a list of paths; the longest prefix that covers a
 * host gives the paths to it.  A host without an entry is reached over net.ndp.paths random entropy
 * values.  Changing the table needs CAP_NET_ADMIN in the namespace's user namespace; connections
 * that exist keep their paths.  There are at most NDP_PATH_DSTS_MAX destinations with NDP_PATHS_MAX
 * paths each; beyond that, ENOSPC.
 */
#define NDP_GENL_NAME		"ndp"
#define NDP_GENL_VERSION	2

/**
 * enum ndp_cmd - generic netlink commands
 * @NDP_CMD_PATH_ADD:	add one path to a destination; EEXIST if the path exists
 * @NDP_CMD_PATH_DEL:	remove one path, or, without NDP_A_VIA, NDP_A_ENTROPY and NDP_A_MARK, all
 *			paths of the destination; ENOENT if there is none
 * @NDP_CMD_PATH_GET:	dump the paths
 * @NDP_CMD_PEER_GET:	dump the hosts that connections go to, or went to lately: a message for each
 *			path, with its statistics
 * @NDP_CMD_REPAIR_ADD:	repair the lengths of packets received by a device (NDP_A_IFINDEX) after
 *			they were cut on the way; EEXIST if that is done already, EOPNOTSUPP without
 *			CONFIG_NETFILTER_INGRESS
 * @NDP_CMD_REPAIR_DEL:	stop repairing; ENOENT
 * @NDP_CMD_REPAIR_GET:	dump the devices on which lengths are repaired
 * @NDP_CMD_DEV_GET:	dump the devices that are up, but for loopback: &enum ndp_dev_attr
 * @NDP_CMD_EVENT:	not a request, but the notification sent to members of the group
 *			NDP_GENL_EVENTS: &enum ndp_event_attr
 */
enum ndp_cmd {
	NDP_CMD_UNSPEC,
	NDP_CMD_PATH_ADD,
	NDP_CMD_PATH_DEL,
	NDP_CMD_PATH_GET,
	NDP_CMD_PEER_GET,
	NDP_CMD_REPAIR_ADD,
	NDP_CMD_REPAIR_DEL,
	NDP_CMD_REPAIR_GET,
	NDP_CMD_DEV_GET,
	NDP_CMD_EVENT,
	__NDP_CMD_MAX,
};

#define NDP_CMD_MAX (__NDP_CMD_MAX - 1)

/**
 * enum ndp_attr - attributes of the commands
 * @NDP_A_DST:		struct in_addr or in6_addr, destination address; host bits
 *			must be zero
 * @NDP_A_PREFIX:	u8, prefix length, 32 or 128 when absent
 * @NDP_A_VIA:		likewise, alias address of the destination to send to; if the prefix is
 *			shorter, the prefix that replaces the destination's
 * @NDP_A_ENTROPY:	u16, UDP source port, 49152 to 65535; 0 draws one per
 *			host at random
 * @NDP_A_MARK:		u32, routing mark
 * @NDP_A_SRC:		struct in_addr or in6_addr, address of this host
 * @NDP_A_CONNS:	u32, connections to the peer; 0: the peer is only remembered
 * @NDP_A_ACKS:		u32, packets acknowledged that went by the path
 * @NDP_A_NACKS:	u32, packets trimmed on it
 * @NDP_A_LOSSES:	u32, packets lost on it
 * @NDP_A_LEFT_OUT:	u32, microseconds for which no DATA takes the path; absent: it is in use
 * @NDP_A_IFINDEX:	u32, device; of a peer: device that its sockets are bound to
 * @NDP_A_CONTROL_OUT:	u32, microseconds for which only DATA takes the path; absent: all packets do
 * @NDP_A_SOCK_MARK:	u32, routing mark of the sockets; absent: 0
 * @NDP_A_UID:		u32, user id of the sockets' owner
 * @NDP_A_SRTT:		u32, smoothed round-trip time, microseconds; 0: not measured
 * @NDP_A_ANSWERS_LOST:	u32, of a path: answers known to be lost on it
 * @NDP_A_PROBES:	u32, of a path: packets sent along it to test whether it works again
 * @NDP_A_REPLACED:	u32, how often a random path got a new UDP source port
 */
enum ndp_attr {
	NDP_A_UNSPEC,
	NDP_A_DST,
	NDP_A_PREFIX,
	NDP_A_VIA,
	NDP_A_ENTROPY,
	NDP_A_MARK,
	NDP_A_SRC,
	NDP_A_CONNS,
	NDP_A_ACKS,
	NDP_A_NACKS,
	NDP_A_LOSSES,
	NDP_A_LEFT_OUT,
	NDP_A_IFINDEX,
	NDP_A_CONTROL_OUT,
	NDP_A_SOCK_MARK,
	NDP_A_UID,
	NDP_A_SRTT,
	NDP_A_ANSWERS_LOST,
	NDP_A_PROBES,
	NDP_A_REPLACED,
	__NDP_A_MAX,
};

#define NDP_A_MAX (__NDP_A_MAX - 1)

/**
 * enum ndp_dev_attr - attributes of a device
 *
 * Pulls are paced at the rate of the link that the pulled packets arrive by: the pull queue belongs
 * to the lowest device below a VLAN or macvlan.  Attributes from @NDP_D_PACE on are of the device
 * that has the queue, since it has it; packets are counted over all namespaces.
 *
 * @NDP_D_PAD:		nothing
 * @NDP_D_IFINDEX:	u32, device
 * @NDP_D_BELOW:	u32, device of this namespace that has the queue; absent: this device, or
 *			one of another namespace
 * @NDP_D_SPEED:	u64, speed of the link, bits per second; absent: the device reports none
 * @NDP_D_SET:		u64, net.ndp.pull_rate_mbit, which overrides it, bits per second; absent:
 *			not set
 * @NDP_D_RATE:		u64, rate in use, bits per second: @NDP_D_SET, else @NDP_D_SPEED, else 10
 *			Gb/s
 * @NDP_D_LOW_SHARE:	u32, net.ndp.pull_low_share, per cent
 * @NDP_D_PACE:		u64, rate of the packets that pulls ask for now, bits per second
 * @NDP_D_SHARE:	u32, @NDP_D_PACE as part of the rate, 1/1024: lowered while much arrives
 *			trimmed
 * @NDP_D_CONNS:	u32, connections that have received by it
 * @NDP_D_WAITING:	u32, of them, those that wait for their turn to pull
 * @NDP_D_PULLS:	u64, pulls granted
 * @NDP_D_PULLED_IN:	u64, packets that arrived for a pull, from verified peers
 * @NDP_D_TRIMMED_IN:	u64, of them, trimmed
 * @NDP_D_PUSHED_IN:	u64, packets of first windows that arrived
 */
enum ndp_dev_attr {
	NDP_D_UNSPEC,
	NDP_D_PAD,
	NDP_D_IFINDEX,
	NDP_D_BELOW,
	NDP_D_SPEED,
	NDP_D_SET,
	NDP_D_RATE,
	NDP_D_LOW_SHARE,
	NDP_D_PACE,
	NDP_D_SHARE,
	NDP_D_CONNS,
	NDP_D_WAITING,
	NDP_D_PULLS,
	NDP_D_PULLED_IN,
	NDP_D_TRIMMED_IN,
	NDP_D_PUSHED_IN,
	__NDP_D_MAX,
};

#define NDP_D_MAX (__NDP_D_MAX - 1)

/*
 * Events, by generic netlink: members of the family's multicast group get the events of their
 * namespace.  Everybody may join, as everybody may list sockets and paths; events contain no
 * connection ids, marks or user ids.  At most NDP_EVENTS_RATE a second are sent; the others are
 * counted as EventsLost of /proc/net/ndp_stat.
 */
#define NDP_GENL_EVENTS		"events"
#define NDP_EVENTS_RATE		1000

/**
 * enum ndp_event - what happened, value of NDP_E_EVENT
 * @NDP_EVENT_OPEN:	a connection begins: connect(), or a peer's first packet
 * @NDP_EVENT_CLOSE:	a connection has ended
 * @NDP_EVENT_PATH_OUT:	a path is left out; later failed probes of the path are not reported
 * @NDP_EVENT_PATH_BACK: a path is in use again, or replaced by one of new entropy
 * @NDP_EVENT_TIMEOUT:	packets were not answered in time, and are retransmitted
 * @NDP_EVENT_FLOOD:	a listener demands cookies from all who open a connection, since too many
 *			openings come from unverified addresses; once a second while it lasts
 */
enum ndp_event {
	NDP_EVENT_UNSPEC,
	NDP_EVENT_OPEN,
	NDP_EVENT_CLOSE,
	NDP_EVENT_PATH_OUT,
	NDP_EVENT_PATH_BACK,
	NDP_EVENT_TIMEOUT,
	NDP_EVENT_FLOOD,
	__NDP_EVENT_MAX,
};

#define NDP_EVENT_MAX (__NDP_EVENT_MAX - 1)

/**
 * enum ndp_event_attr - attributes of an event
 * @NDP_E_EVENT:	u32, &enum ndp_event
 * @NDP_E_LOST:		u32, events of the namespace lost since the last one that was sent; absent:
 *			none
 * @NDP_E_SRC:		struct in_addr or in6_addr, address of this host
 * @NDP_E_DST:		likewise, the peer's; absent in NDP_EVENT_FLOOD
 * @NDP_E_SPORT:	u16, local port; absent in events of paths
 * @NDP_E_DPORT:	u16, port of the peer
 * @NDP_E_ROLE:		u8, of a connection: 0 initiator, 1 acceptor
 * @NDP_E_ERROR:	u32, of a close: error reported to the application, positive errno; absent:
 *			0
 * @NDP_E_ABORT:	flag, of a close: the connection ended before both sides had finished
 * @NDP_E_VIA:		struct in_addr or in6_addr, of a path: address that packets are sent to
 * @NDP_E_ENTROPY:	u16, of a path: UDP source port
 * @NDP_E_PATH:		u16, of a path: its position in NDP_CMD_PEER_GET's list
 * @NDP_E_CONTROL:	flag, of a path: it is left out, or back, for answers; absent: for DATA
 * @NDP_E_SILENT:	flag, of a path: it lost packets; absent: packets were trimmed on it
 * @NDP_E_OUT:		u32, of a path: microseconds for which it is, or was, left out
 * @NDP_E_PACKETS:	u32, of timeouts: number of packets
 */
enum ndp_event_attr {
	NDP_E_UNSPEC,
	NDP_E_EVENT,
	NDP_E_LOST,
	NDP_E_SRC,
	NDP_E_DST,
	NDP_E_SPORT,
	NDP_E_DPORT,
	NDP_E_ROLE,
	NDP_E_ERROR,
	NDP_E_ABORT,
	NDP_E_VIA,
	NDP_E_ENTROPY,
	NDP_E_PATH,
	NDP_E_CONTROL,
	NDP_E_SILENT,
	NDP_E_OUT,
	NDP_E_PACKETS,
	__NDP_E_MAX,
};

#define NDP_E_MAX (__NDP_E_MAX - 1)

#endif /* _UAPI_LINUX_NDP_NETLINK_H */
