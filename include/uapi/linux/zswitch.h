/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * zswitch: netlink interface of the lossless virtual switch.
 *
 * A switch is a network device of rtnetlink kind "zswitch", by which the host itself
 * takes part.  Ports are devices that have it as their master (IFLA_MASTER).
 *
 * IFLA_INFO_DATA of the switch holds enum ifla_zswitch, IFLA_INFO_SLAVE_DATA of a port
 * enum ifla_zswitch_port.  What a request leaves out takes its default when the device
 * is made and stays as it is later.  Dumps return all of them.
 *
 * Addresses: RTM_NEWNEIGH, RTM_DELNEIGH and RTM_GETNEIGH of family AF_BRIDGE on the
 * switch (NTF_SELF).  NDA_IFINDEX is the port, which iproute2 calls "via"; without it,
 * the host.  NUD_PERMANENT and NUD_NOARP entries are static, others age.
 *
 * VLANs: RTM_SETLINK, RTM_DELLINK and RTM_GETLINK of family AF_BRIDGE on a port, with
 * IFLA_BRIDGE_VLAN_INFO, as of a bridge's port.
 *
 * enum zswitch_stat names the counters.  For each port, at any time,
 *
 *	IN + COPIES = PASSED + FABRIC_IN + frames that wait + all DROP counters
 *	CREDIT_ASKED = CREDIT_GRANTED + CREDIT_WITHDRAWN + what is asked for and waits
 *	CREDIT_GRANTED = CREDIT_USED + CREDIT_LAPSED + what is under way from other hosts
 *	CREDIT_GRANTED + CREDIT_EXTRA = CREDIT_RETURNED + CREDIT_LAPSED + IFLA_ZSWITCH_PORT_CREDIT
 *	REMOTE_GRANTED = REMOTE_USED + REMOTE_VOID, when nothing waits
 */
#ifndef _UAPI_LINUX_ZSWITCH_H
#define _UAPI_LINUX_ZSWITCH_H

#include <linux/types.h>

#define ZSWITCH_PRIOS		8
#define ZSWITCH_WEIGHT_MAX	255

/* Bytes of a frame that a credit is for; a longer frame takes more of them */
#define ZSWITCH_CREDIT		2048
#define ZSWITCH_RXQ_MIN		64
#define ZSWITCH_RXQ_MAX		65536
#define ZSWITCH_UNASKED_MAX	64

enum ifla_zswitch {
	IFLA_ZSWITCH_UNSPEC,
	IFLA_ZSWITCH_PAD,
	/* u8, 1: senders on this machine wait; 0: what finds an output full is lost */
	IFLA_ZSWITCH_VIRTUAL,
	/* u8, 1: senders beyond a wire are paused by sch_cee; 0: as above */
	IFLA_ZSWITCH_WIRE,
	/* u32, bytes of an input and priority, from which on its sender waits */
	IFLA_ZSWITCH_LIMIT,
	/* u32, bytes of them for one output, from which on who sends to that waits */
	IFLA_ZSWITCH_SHARE,
	/* u32, bytes of an output and priority that lossy inputs may fill */
	IFLA_ZSWITCH_QUEUE,
	/* u32, ms that a flooded frame waits for an output that stands still; 0: for ever */
	IFLA_ZSWITCH_FLOOD_WAIT,
	/* u32, the same of frames that came in by a wire */
	IFLA_ZSWITCH_WIRE_WAIT,
	/* u32, the same of frames of this machine */
	IFLA_ZSWITCH_VIRTUAL_WAIT,
	/* u32, s after which an address that nobody uses is forgotten; 0: never */
	IFLA_ZSWITCH_AGEING,
	/* u32, addresses that are learnt at most */
	IFLA_ZSWITCH_FDB_MAX,
	/* u8, 1: frames are told apart by VLAN and ports belong to VLANs */
	IFLA_ZSWITCH_VLAN_FILTERING,
	/* u32, dump only: addresses that are known */
	IFLA_ZSWITCH_FDB_COUNT,
	/* nest of u64 by enum zswitch_stat, dump only: of the host's own port */
	IFLA_ZSWITCH_STATS,
	/*
	 * u8, 1: frames between ports of this machine need credit, and those to other hosts by
	 * wires with IFLA_ZSWITCH_PORT_FABRIC; needs IFLA_ZSWITCH_VIRTUAL
	 */
	IFLA_ZSWITCH_FABRIC,
	/* u32, credits that a port has to give: frames of up to ZSWITCH_CREDIT bytes */
	IFLA_ZSWITCH_RXQ,
	/*
	 * u32, credits' worth of frames that a port may send to a vNIC of another host in each
	 * half second before it waits for what it asks for
	 */
	IFLA_ZSWITCH_UNASKED,
	/* u8, 1: a frame that IFLA_ZSWITCH_PORT_ALLOW refuses is answered by ICMP */
	IFLA_ZSWITCH_REFUSE_ICMP,
	__IFLA_ZSWITCH_MAX,
};

#define IFLA_ZSWITCH_MAX (__IFLA_ZSWITCH_MAX - 1)

enum ifla_zswitch_port {
	IFLA_ZSWITCH_PORT_UNSPEC,
	IFLA_ZSWITCH_PORT_PAD,
	/* u8, 1 to 255: share of an output among the inputs that want it */
	IFLA_ZSWITCH_PORT_WEIGHT,
	/* u8, 1: addresses are learnt */
	IFLA_ZSWITCH_PORT_LEARNING,
	/* u8, 1: only frames from static addresses of this port are taken */
	IFLA_ZSWITCH_PORT_GUARD,
	/* u8, 1: frames to unknown addresses leave by this port as well */
	IFLA_ZSWITCH_PORT_FLOOD,
	/* u8, dump only: a device of this machine's (zvnic, zvtap) rather than a wire */
	IFLA_ZSWITCH_PORT_VIRTUAL,
	/* u8, dump only: sch_cee pulls what leaves by it */
	IFLA_ZSWITCH_PORT_CEE,
	/* nest of u64 by enum zswitch_stat, dump only */
	IFLA_ZSWITCH_PORT_STATS,
	/* array of ZSWITCH_PRIOS u32, dump only: bytes that came in by it and wait */
	IFLA_ZSWITCH_PORT_WAITING,
	/* array of ZSWITCH_PRIOS u32, dump only: bytes that wait for it */
	IFLA_ZSWITCH_PORT_BACKLOG,
	/*
	 * array of u32, interface indices of the ports that may send to it; one that is 0: all
	 * may; an empty one: nobody
	 */
	IFLA_ZSWITCH_PORT_ALLOW,
	/* u32, dump only: bytes that wait for its credit, and are not in its backlog */
	IFLA_ZSWITCH_PORT_HELD,
	/* u32, dump only: credits that it has given and not got back */
	IFLA_ZSWITCH_PORT_CREDIT,
	/* u8, 1, of a wire: it leads to switches that give credit too; needs IFLA_ZSWITCH_FABRIC */
	IFLA_ZSWITCH_PORT_FABRIC,
	__IFLA_ZSWITCH_PORT_MAX,
};

#define IFLA_ZSWITCH_PORT_MAX (__IFLA_ZSWITCH_PORT_MAX - 1)

/**
 * enum zswitch_stat - counters of a port
 * @ZSWITCH_STAT_PAD: never counted
 * @ZSWITCH_STAT_IN: frames that came in
 * @ZSWITCH_STAT_IN_BYTES: their bytes
 * @ZSWITCH_STAT_COPIES: copies of them beyond the first, for further outputs
 * @ZSWITCH_STAT_PASSED: frames that came in and have left by another port
 * @ZSWITCH_STAT_OUT: frames that left by this port
 * @ZSWITCH_STAT_OUT_BYTES: their bytes
 * @ZSWITCH_STAT_WAITED: frames that found others of their kind waiting
 * @ZSWITCH_STAT_SLEPT: times that a sender was put to sleep
 * @ZSWITCH_STAT_WOKEN: times that one was woken
 * @ZSWITCH_STAT_CREDIT_WAITED: times that an input had to wait for credit of this port
 * @ZSWITCH_STAT_CREDIT_ASKED: credits that inputs have asked this port for
 * @ZSWITCH_STAT_CREDIT_GRANTED: of them, those that they got
 * @ZSWITCH_STAT_CREDIT_WITHDRAWN: those whose frames were lost, or let in without
 * @ZSWITCH_STAT_CREDIT_USED: credits by which frames were let in
 * @ZSWITCH_STAT_CREDIT_RETURNED: of them, those whose frames have left, or were lost
 * @ZSWITCH_STAT_CREDIT_EXTRA: credits' worth of frames that came from such wires without
 * @ZSWITCH_STAT_CREDIT_LAPSED: credits granted to other hosts whose frames never came
 * @ZSWITCH_STAT_REMOTE_ASKED: of a wire: credits that were asked for beyond it
 * @ZSWITCH_STAT_REMOTE_GRANTED: of them, those that were got
 * @ZSWITCH_STAT_REMOTE_USED: of these, those by which frames were let in
 * @ZSWITCH_STAT_REMOTE_VOID: those that were not, as a side began anew or frames were lost
 * @ZSWITCH_STAT_FABRIC_IN: frames of control that were taken in
 * @ZSWITCH_STAT_FABRIC_OUT: frames of control that were sent
 * @ZSWITCH_STAT_FABRIC_RETRIED: of them, asks that said nothing new
 * @ZSWITCH_STAT_FABRIC_STALE: of those taken in: of no pair, of a former one, or forged
 * @ZSWITCH_STAT_DROP_FULL: lossy: the output was full
 * @ZSWITCH_STAT_DROP_HEADROOM: the peer beyond the wire did not heed its pause
 * @ZSWITCH_STAT_DROP_STILL: the output stood still for too long
 * @ZSWITCH_STAT_DROP_FLOOD: a flooded copy, the same
 * @ZSWITCH_STAT_DROP_QDISC: refused by the qdisc of an output without sch_cee, or the fourth of
 *	such switches on end
 * @ZSWITCH_STAT_DROP_DOWN: the output was down, or went down or away
 * @ZSWITCH_STAT_DROP_MTU: too long for the output
 * @ZSWITCH_STAT_DROP_VLAN: input or output is not in that VLAN
 * @ZSWITCH_STAT_DROP_GUARD: the source address is another port's, or not this one's
 * @ZSWITCH_STAT_DROP_LOCAL: no switch passes it on, or there is nobody else
 * @ZSWITCH_STAT_DROP_MALFORMED: no Ethernet frame, an impossible source, or a checksum to be
 *	filled in over the headers that the switch has looked at
 * @ZSWITCH_STAT_DROP_NOMEM: no memory
 * @ZSWITCH_STAT_DROP_OVERRUN: the sender on this machine did not heed its stop
 * @ZSWITCH_STAT_DROP_POLICY: it may not send to that port
 * @ZSWITCH_STAT_DROP_FORGED: a frame of control from a port that has no business with it
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
