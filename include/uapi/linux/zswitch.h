/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * zswitch: netlink interface of the lossless virtual switch.
 *
 * A switch is a network device of rtnetlink kind "zswitch", which is also the host's own port.  The
 * other ports are devices that have it as their master (IFLA_MASTER).
 *
 * IFLA_INFO_DATA of the switch holds enum ifla_zswitch, IFLA_INFO_SLAVE_DATA of a port enum
 * ifla_zswitch_port.  An attribute that a request leaves out takes its default when the device is
 * made, and is unchanged later.  Dumps return all of them.
 *
 * Addresses: RTM_NEWNEIGH, RTM_DELNEIGH and RTM_GETNEIGH of family AF_BRIDGE on the switch
 * (NTF_SELF).  NDA_IFINDEX is the port, which iproute2 calls "via"; without it, the host.
 * NUD_PERMANENT and NUD_NOARP entries are static, others age out.
 *
 * VLANs: RTM_SETLINK, RTM_DELLINK and RTM_GETLINK of family AF_BRIDGE on a port, with
 * IFLA_BRIDGE_VLAN_INFO, as for a bridge's port.
 *
 * enum zswitch_stat names the counters.  For each port, at any time,
 *
 *	IN + COPIES = PASSED + FABRIC_IN + frames that wait + all DROP counters
 *	CREDIT_ASKED = CREDIT_GRANTED + CREDIT_WITHDRAWN + requests that wait
 *	CREDIT_GRANTED = CREDIT_USED + CREDIT_LAPSED + credit of frames in flight from other hosts
 *	CREDIT_GRANTED + CREDIT_EXTRA = CREDIT_RETURNED + CREDIT_LAPSED + IFLA_ZSWITCH_PORT_CREDIT
 *	REMOTE_GRANTED = REMOTE_USED + REMOTE_VOID, when nothing waits
 */
#ifndef _UAPI_LINUX_ZSWITCH_H
#define _UAPI_LINUX_ZSWITCH_H

#include <linux/types.h>

#define ZSWITCH_PRIOS		8
#define ZSWITCH_WEIGHT_MAX	255

/* Bytes of a frame that one credit covers; a longer frame takes several */
#define ZSWITCH_CREDIT		2048
#define ZSWITCH_RXQ_MIN		64
#define ZSWITCH_RXQ_MAX		65536
#define ZSWITCH_UNASKED_MAX	64

enum ifla_zswitch {
	IFLA_ZSWITCH_UNSPEC,
	IFLA_ZSWITCH_PAD,
	/* u8, 1: senders on this machine wait; 0: their frames to a full output are dropped */
	IFLA_ZSWITCH_VIRTUAL,
	/* u8, 1: senders beyond a wire are paused by sch_cee; 0: likewise dropped */
	IFLA_ZSWITCH_WIRE,
	/* u32, queued bytes of an input and priority from which its sender waits */
	IFLA_ZSWITCH_LIMIT,
	/* u32, of them, bytes for one output from which senders to that output wait */
	IFLA_ZSWITCH_SHARE,
	/* u32, bytes of an output and priority that lossy inputs may fill */
	IFLA_ZSWITCH_QUEUE,
	/* u32, ms that a flooded frame waits for a stalled output; 0: no limit */
	IFLA_ZSWITCH_FLOOD_WAIT,
	/* u32, likewise for frames that came in by a wire */
	IFLA_ZSWITCH_WIRE_WAIT,
	/* u32, likewise for frames of this machine */
	IFLA_ZSWITCH_VIRTUAL_WAIT,
	/* u32, s after which an unused address ages out; 0: never */
	IFLA_ZSWITCH_AGEING,
	/* u32, limit of learnt addresses */
	IFLA_ZSWITCH_FDB_MAX,
	/* u8, 1: frames are separated by VLAN, and ports belong to VLANs */
	IFLA_ZSWITCH_VLAN_FILTERING,
	/* u32, dump only: number of known addresses */
	IFLA_ZSWITCH_FDB_COUNT,
	/* nest of u64 by enum zswitch_stat, dump only: of the host's own port */
	IFLA_ZSWITCH_STATS,
	/*
	 * u8, 1: frames between ports of this machine need credit, and those to other hosts by
	 * wires with IFLA_ZSWITCH_PORT_FABRIC; needs IFLA_ZSWITCH_VIRTUAL
	 */
	IFLA_ZSWITCH_FABRIC,
	/* u32, credits that a port can grant: frames of up to ZSWITCH_CREDIT bytes */
	IFLA_ZSWITCH_RXQ,
	/*
	 * u32, credits' worth of frames that a port may send to a vNIC of another host without
	 * credit in each half second; further ones wait for the credit they ask for
	 */
	IFLA_ZSWITCH_UNASKED,
	/* u8, 1: a frame refused by IFLA_ZSWITCH_PORT_ALLOW is answered by ICMP */
	IFLA_ZSWITCH_REFUSE_ICMP,
	__IFLA_ZSWITCH_MAX,
};

#define IFLA_ZSWITCH_MAX (__IFLA_ZSWITCH_MAX - 1)

enum ifla_zswitch_port {
	IFLA_ZSWITCH_PORT_UNSPEC,
	IFLA_ZSWITCH_PORT_PAD,
	/* u8, 1 to 255: weight of this input in the sharing of an output */
	IFLA_ZSWITCH_PORT_WEIGHT,
	/* u8, 1: addresses are learnt */
	IFLA_ZSWITCH_PORT_LEARNING,
	/* u8, 1: only frames from static addresses of this port are accepted */
	IFLA_ZSWITCH_PORT_GUARD,
	/* u8, 1: frames to unknown addresses leave by this port as well */
	IFLA_ZSWITCH_PORT_FLOOD,
	/* u8, dump only: 1: a device of this machine (zvnic, zvtap); 0: a wire */
	IFLA_ZSWITCH_PORT_VIRTUAL,
	/* u8, dump only: 1: sch_cee pulls the frames that leave by this port */
	IFLA_ZSWITCH_PORT_CEE,
	/* nest of u64 by enum zswitch_stat, dump only */
	IFLA_ZSWITCH_PORT_STATS,
	/* array of ZSWITCH_PRIOS u32, dump only: bytes that came in by this port and wait */
	IFLA_ZSWITCH_PORT_WAITING,
	/* array of ZSWITCH_PRIOS u32, dump only: bytes that wait to leave by this port */
	IFLA_ZSWITCH_PORT_BACKLOG,
	/*
	 * array of u32, interface indices of the ports that may send to this port; a single 0: all
	 * may; an empty array: none may
	 */
	IFLA_ZSWITCH_PORT_ALLOW,
	/* u32, dump only: bytes that wait for this port's credit, and are not in its backlog */
	IFLA_ZSWITCH_PORT_HELD,
	/* u32, dump only: credits that this port has granted and that were not returned */
	IFLA_ZSWITCH_PORT_CREDIT,
	/* u8, 1: a wire that leads to switches that grant credit too; needs IFLA_ZSWITCH_FABRIC */
	IFLA_ZSWITCH_PORT_FABRIC,
	__IFLA_ZSWITCH_PORT_MAX,
};

#define IFLA_ZSWITCH_PORT_MAX (__IFLA_ZSWITCH_PORT_MAX - 1)

/**
 * enum zswitch_stat - counters of a port
 * @ZSWITCH_STAT_PAD: not a counter
 * @ZSWITCH_STAT_IN: frames that came in
 * @ZSWITCH_STAT_IN_BYTES: bytes of those frames
 * @ZSWITCH_STAT_COPIES: copies of incoming frames beyond the first, for further outputs
 * @ZSWITCH_STAT_PASSED: frames that came in and have left by another port
 * @ZSWITCH_STAT_OUT: frames that left by this port
 * @ZSWITCH_STAT_OUT_BYTES: bytes of those frames
 * @ZSWITCH_STAT_WAITED: frames queued behind others of the same kind
 * @ZSWITCH_STAT_SLEPT: times that a sender was stopped
 * @ZSWITCH_STAT_WOKEN: times that a sender was woken
 * @ZSWITCH_STAT_CREDIT_WAITED: times that an input had to wait for this port's credit
 * @ZSWITCH_STAT_CREDIT_ASKED: credits requested from this port by inputs
 * @ZSWITCH_STAT_CREDIT_GRANTED: of them, credits that were granted
 * @ZSWITCH_STAT_CREDIT_WITHDRAWN: of them, requests dropped: frames lost, or let in without credit
 * @ZSWITCH_STAT_CREDIT_USED: credits used by frames that were let in
 * @ZSWITCH_STAT_CREDIT_RETURNED: of all credits taken, those returned: the frame has left or was
 *	lost
 * @ZSWITCH_STAT_CREDIT_EXTRA: credits' worth of frames that arrived from other hosts without credit
 * @ZSWITCH_STAT_CREDIT_LAPSED: credits granted to other hosts whose frames never arrived
 * @ZSWITCH_STAT_REMOTE_ASKED: of a wire: credits requested from other hosts beyond it
 * @ZSWITCH_STAT_REMOTE_GRANTED: of them, credits that were granted
 * @ZSWITCH_STAT_REMOTE_USED: of the granted ones, credits used by frames that were let in
 * @ZSWITCH_STAT_REMOTE_VOID: of the granted ones, credits not used: one side restarted, or frames
 *	were lost
 * @ZSWITCH_STAT_FABRIC_IN: frames of control received
 * @ZSWITCH_STAT_FABRIC_OUT: frames of control sent
 * @ZSWITCH_STAT_FABRIC_RETRIED: of them, retransmitted requests
 * @ZSWITCH_STAT_FABRIC_STALE: of those received: of no pair, of a former epoch, or forged
 * @ZSWITCH_STAT_DROP_FULL: a lossy frame found its output full
 * @ZSWITCH_STAT_DROP_HEADROOM: the peer beyond the wire did not obey its pause
 * @ZSWITCH_STAT_DROP_STILL: the output was stalled for too long
 * @ZSWITCH_STAT_DROP_FLOOD: copy of a flooded frame whose output was stalled for too long
 * @ZSWITCH_STAT_DROP_QDISC: refused by the qdisc of an output without sch_cee, or would be sent by
 *	a fourth such switch in a row
 * @ZSWITCH_STAT_DROP_DOWN: the output was down, or went down, or was removed
 * @ZSWITCH_STAT_DROP_MTU: the frame was too long for the output
 * @ZSWITCH_STAT_DROP_VLAN: the input or the output is not in the frame's VLAN
 * @ZSWITCH_STAT_DROP_GUARD: the source address belongs to another port, or not to this one
 * @ZSWITCH_STAT_DROP_LOCAL: a link-local frame, which no switch forwards, or no other port is a
 *	destination
 * @ZSWITCH_STAT_DROP_MALFORMED: no Ethernet frame, an invalid source address, or a checksum to be
 *	filled in over the headers that the switch has looked at
 * @ZSWITCH_STAT_DROP_NOMEM: no memory
 * @ZSWITCH_STAT_DROP_OVERRUN: a sender on this machine did not stop when it was stopped
 * @ZSWITCH_STAT_DROP_POLICY: the input may not send to that port
 * @ZSWITCH_STAT_DROP_FORGED: a frame of control from a port that may not send any
 */
enum zswitch_stat {
	ZSWITCH_STAT_PAD,
	ZSWITCH_STAT_IN,
	ZSWITCH_STAT_IN_BYTES,
	ZSWITCH_STAT_COPIES,
	ZSWITCH_STAT_PASSED,
	ZSWITCH_STAT_OUT,
	ZSWITCH_STAT_OUT_BYTES,
	ZSWITCH_STAT_WAITED,
	ZSWITCH_STAT_SLEPT,
	ZSWITCH_STAT_WOKEN,
	ZSWITCH_STAT_CREDIT_WAITED,
	ZSWITCH_STAT_CREDIT_ASKED,
	ZSWITCH_STAT_CREDIT_GRANTED,
	ZSWITCH_STAT_CREDIT_WITHDRAWN,
	ZSWITCH_STAT_CREDIT_USED,
	ZSWITCH_STAT_CREDIT_RETURNED,
	ZSWITCH_STAT_CREDIT_EXTRA,
	ZSWITCH_STAT_CREDIT_LAPSED,
	ZSWITCH_STAT_REMOTE_ASKED,
	ZSWITCH_STAT_REMOTE_GRANTED,
	ZSWITCH_STAT_REMOTE_USED,
	ZSWITCH_STAT_REMOTE_VOID,
	ZSWITCH_STAT_FABRIC_IN,
	ZSWITCH_STAT_FABRIC_OUT,
	ZSWITCH_STAT_FABRIC_RETRIED,
	ZSWITCH_STAT_FABRIC_STALE,
	ZSWITCH_STAT_DROP_FULL,
	ZSWITCH_STAT_DROP_HEADROOM,
	ZSWITCH_STAT_DROP_STILL,
	ZSWITCH_STAT_DROP_FLOOD,
	ZSWITCH_STAT_DROP_QDISC,
	ZSWITCH_STAT_DROP_DOWN,
	ZSWITCH_STAT_DROP_MTU,
	ZSWITCH_STAT_DROP_VLAN,
	ZSWITCH_STAT_DROP_GUARD,
	ZSWITCH_STAT_DROP_LOCAL,
	ZSWITCH_STAT_DROP_MALFORMED,
	ZSWITCH_STAT_DROP_NOMEM,
	ZSWITCH_STAT_DROP_OVERRUN,
	ZSWITCH_STAT_DROP_POLICY,
	ZSWITCH_STAT_DROP_FORGED,
	__ZSWITCH_STAT_MAX,
};

#define ZSWITCH_STAT_MAX (__ZSWITCH_STAT_MAX - 1)

#endif /* _UAPI_LINUX_ZSWITCH_H */
