/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * zbridge: netlink interface of the reliable tunnel of the lossless virtual switch.
 *
 * A tunnel is a network device of rtnetlink kind "zbridge" that is a port of a zswitch.
 * IFLA_INFO_DATA holds enum ifla_zbridge.  An attribute that a request leaves out takes its
 * default when the device is made, and is unchanged later.  Dumps return all of them.
 *
 * Addresses: RTM_NEWNEIGH, RTM_DELNEIGH and RTM_GETNEIGH of family AF_BRIDGE on the tunnel
 * (NTF_SELF) with NDA_DST, as for a vxlan device.  The entries of 00:00:00:00:00:00 are the hosts
 * that frames to unknown addresses and to groups are copied to.
 *
 * enum zbridge_stat names the counters.  At any time,
 *
 *	TAKEN = ACKED + frames that wait or are not acknowledged + DROP_DEAD + DROP_RESET +
 *		DROP_DOWN
 */
#ifndef _UAPI_LINUX_ZBRIDGE_H
#define _UAPI_LINUX_ZBRIDGE_H

#include <linux/types.h>

#define ZBRIDGE_ID_MAX		0xffffff
#define ZBRIDGE_PORT		13142
#define ZBRIDGE_BUFFER_MIN	16
#define ZBRIDGE_BUFFER_MAX	65536
#define ZBRIDGE_MEMORY_MIN	(1 << 20)

enum ifla_zbridge {
	IFLA_ZBRIDGE_UNSPEC,
	IFLA_ZBRIDGE_PAD,
	/* u32, network id, 0 to ZBRIDGE_ID_MAX; required to create, refused to change */
	IFLA_ZBRIDGE_ID,
	/* be32 or struct in6_addr, address of this host; required to create, refused to change */
	IFLA_ZBRIDGE_LOCAL,
	IFLA_ZBRIDGE_LOCAL6,
	/* u32, device that packets leave by; 0: that of the route; refused to change */
	IFLA_ZBRIDGE_LINK,
	/* be16, UDP port of all hosts of the network; refused to change */
	IFLA_ZBRIDGE_PORT,
	/* u8, 1: the hosts of addresses are learnt, and any host may begin a flow */
	IFLA_ZBRIDGE_LEARNING,
	/* u8, 1: packets of one flow may take many paths, and overtake each other */
	IFLA_ZBRIDGE_SPREAD,
	/* u8, TTL or hop limit of packets; 0: that of the route */
	IFLA_ZBRIDGE_TTL,
	/* u32, BUF: frames of a flow that may be unacknowledged; 0: by the speed of the device */
	IFLA_ZBRIDGE_BUFFER,
	/* u32, P: one in so many frames asks for an answer; 0: half of BUF, at most 64 */
	IFLA_ZBRIDGE_ASK,
	/* u32, limit of the bytes of all sent frames that are kept, and again of all early ones */
	IFLA_ZBRIDGE_MEMORY,
	/* u32, dump only: number of flows */
	IFLA_ZBRIDGE_FLOWS,
	/* u32, dump only: bytes of IFLA_ZBRIDGE_MEMORY in use */
	IFLA_ZBRIDGE_USED,
	/* nest of u64 by enum zbridge_stat, dump only */
	IFLA_ZBRIDGE_STATS,
	__IFLA_ZBRIDGE_MAX,
};

#define IFLA_ZBRIDGE_MAX (__IFLA_ZBRIDGE_MAX - 1)

/**
 * enum zbridge_stat - counters of a tunnel
 * @ZBRIDGE_STAT_PAD: not a counter
 * @ZBRIDGE_STAT_TAKEN: frames taken for transmission; each copy for one of several hosts counts
 * @ZBRIDGE_STAT_SENT: transmissions of frames
 * @ZBRIDGE_STAT_RESENT: of them, retransmissions
 * @ZBRIDGE_STAT_ACKED: frames that were acknowledged
 * @ZBRIDGE_STAT_RECEIVED: frames received
 * @ZBRIDGE_STAT_DELIVERED: of them, handed to the switch
 * @ZBRIDGE_STAT_EARLY: of them, arrived before a frame with a lower number
 * @ZBRIDGE_STAT_DUPLICATE: of them, received before
 * @ZBRIDGE_STAT_ASKS_OUT: ASK messages sent
 * @ZBRIDGE_STAT_ACKS_OUT: ACK packets sent
 * @ZBRIDGE_STAT_NACKS_OUT: NACK packets sent, which name missing frames
 * @ZBRIDGE_STAT_ASKS_IN: ASK messages received, and frames that ask as well
 * @ZBRIDGE_STAT_ACKS_IN: ACK packets received
 * @ZBRIDGE_STAT_NACKS_IN: NACK packets received
 * @ZBRIDGE_STAT_OPENED: flows that were opened
 * @ZBRIDGE_STAT_CLOSED: flows that were closed because they were idle
 * @ZBRIDGE_STAT_RESET: flows that the other host did not know any more, or had wrong numbers of
 * @ZBRIDGE_STAT_DEAD: flows whose other host did not answer
 * @ZBRIDGE_STAT_STALE: packets of no flow, or of an earlier incarnation of a flow
 * @ZBRIDGE_STAT_DROP_CRC: packets with a wrong checksum
 * @ZBRIDGE_STAT_DROP_MALFORMED: packets of another version or type, or too short; frames too
 *	long for IP
 * @ZBRIDGE_STAT_DROP_STRANGER: SYNs that were refused, and half-open flows evicted for newer ones
 * @ZBRIDGE_STAT_DROP_WINDOW: received frames that there was no room to keep
 * @ZBRIDGE_STAT_DROP_NODEST: frames to an address for which no host is known
 * @ZBRIDGE_STAT_DROP_FULL: frames sent by the device itself while there was no room
 * @ZBRIDGE_STAT_DROP_NOMEM: frames for which there was no memory
 * @ZBRIDGE_STAT_DROP_DEAD: frames for a host that did not answer
 * @ZBRIDGE_STAT_DROP_RESET: frames unacknowledged when the other host had restarted
 * @ZBRIDGE_STAT_DROP_DOWN: frames that waited when the tunnel went down
 */
enum zbridge_stat {
	ZBRIDGE_STAT_PAD,
	ZBRIDGE_STAT_TAKEN,
	ZBRIDGE_STAT_SENT,
	ZBRIDGE_STAT_RESENT,
	ZBRIDGE_STAT_ACKED,
	ZBRIDGE_STAT_RECEIVED,
	ZBRIDGE_STAT_DELIVERED,
	ZBRIDGE_STAT_EARLY,
	ZBRIDGE_STAT_DUPLICATE,
	ZBRIDGE_STAT_ASKS_OUT,
	ZBRIDGE_STAT_ACKS_OUT,
	ZBRIDGE_STAT_NACKS_OUT,
	ZBRIDGE_STAT_ASKS_IN,
	ZBRIDGE_STAT_ACKS_IN,
	ZBRIDGE_STAT_NACKS_IN,
	ZBRIDGE_STAT_OPENED,
	ZBRIDGE_STAT_CLOSED,
	ZBRIDGE_STAT_RESET,
	ZBRIDGE_STAT_DEAD,
	ZBRIDGE_STAT_STALE,
	ZBRIDGE_STAT_DROP_CRC,
	ZBRIDGE_STAT_DROP_MALFORMED,
	ZBRIDGE_STAT_DROP_STRANGER,
	ZBRIDGE_STAT_DROP_WINDOW,
	ZBRIDGE_STAT_DROP_NODEST,
	ZBRIDGE_STAT_DROP_FULL,
	ZBRIDGE_STAT_DROP_NOMEM,
	ZBRIDGE_STAT_DROP_DEAD,
	ZBRIDGE_STAT_DROP_RESET,
	ZBRIDGE_STAT_DROP_DOWN,
	__ZBRIDGE_STAT_MAX,
};

#define ZBRIDGE_STAT_MAX (__ZBRIDGE_STAT_MAX - 1)

#endif /* _UAPI_LINUX_ZBRIDGE_H */
