/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * zbridge: netlink interface of the reliable tunnel of the lossless virtual switch.
 *
 * A tunnel is a network device of rtnetlink kind "zbridge" that is a port of a zswitch.
 * IFLA_INFO_DATA holds enum ifla_zbridge.  What a request leaves out takes its default when the
 * device is made and stays as it is later.  Dumps return all of them.
 *
 * Addresses: RTM_NEWNEIGH, RTM_DELNEIGH and RTM_GETNEIGH of family AF_BRIDGE on the tunnel
 * (NTF_SELF) with NDA_DST, as of a vxlan device.  Those of 00:00:00:00:00:00 are the hosts that
 * frames to unknown addresses and to groups are copied to.
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
	/* u32, network, 0 to ZBRIDGE_ID_MAX; required to create, refused to change */
	IFLA_ZBRIDGE_ID,
	/* be32 or struct in6_addr, address of this host; required to create, refused to change */
	IFLA_ZBRIDGE_LOCAL,
	IFLA_ZBRIDGE_LOCAL6,
	/* u32, device that packets leave by; 0: the one that the route says; refused to change */
	IFLA_ZBRIDGE_LINK,
	/* be16, UDP port of all hosts of the network; refused to change */
	IFLA_ZBRIDGE_PORT,
	/* u8, 1: which host an address is at is learnt, and any host may begin a flow */
	IFLA_ZBRIDGE_LEARNING,
	/* u8, 1: packets of one flow may take many paths, and overtake each other */
	IFLA_ZBRIDGE_SPREAD,
	/* u8, of packets; 0: the route's */
	IFLA_ZBRIDGE_TTL,
	/* u32, BUF: frames of a flow that may be unacknowledged; 0: by the speed of the device */
	IFLA_ZBRIDGE_BUFFER,
	/* u32, P: each so many frames an answer is asked for; 0: half of BUF, at most 64 */
	IFLA_ZBRIDGE_ASK,
	/* u32, bytes that frames of all flows may take, sent ones and early ones */
	IFLA_ZBRIDGE_MEMORY,
	/* u32, dump only: flows */
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
 * @ZBRIDGE_STAT_PAD: never counted
 * @ZBRIDGE_STAT_TAKEN: frames that were taken for a host; a copy for each of several hosts
 * @ZBRIDGE_STAT_SENT: transmissions of frames
 * @ZBRIDGE_STAT_RESENT: of them, those that were not the frame's first
 * @ZBRIDGE_STAT_ACKED: frames that were acknowledged
 * @ZBRIDGE_STAT_RECEIVED: frames that have come
 * @ZBRIDGE_STAT_DELIVERED: of them, those that were handed to the switch
 * @ZBRIDGE_STAT_EARLY: of them, those that came before one with a lower number
 * @ZBRIDGE_STAT_DUPLICATE: of them, those that had come before
 * @ZBRIDGE_STAT_ASKS_OUT: messages that ask what has come
 * @ZBRIDGE_STAT_ACKS_OUT: packets that acknowledge, without a frame
 * @ZBRIDGE_STAT_NACKS_OUT: messages that name frames that are missing
 * @ZBRIDGE_STAT_ASKS_IN: messages, and frames that ask as well
 * @ZBRIDGE_STAT_ACKS_IN: as ACKS_OUT
 * @ZBRIDGE_STAT_NACKS_IN: as NACKS_OUT
 * @ZBRIDGE_STAT_OPENED: flows that were opened
 * @ZBRIDGE_STAT_CLOSED: flows that were idle, and closed
 * @ZBRIDGE_STAT_RESET: flows that the other host did not know any more, or misunderstood
 * @ZBRIDGE_STAT_DEAD: flows whose other host did not answer
 * @ZBRIDGE_STAT_STALE: packets of no flow, or of one as it was before
 * @ZBRIDGE_STAT_DROP_CRC: packets that were damaged
 * @ZBRIDGE_STAT_DROP_MALFORMED: packets of another version or type, or too short; frames too
 *	long for IP
 * @ZBRIDGE_STAT_DROP_STRANGER: openings that were refused, or forgotten for newer ones
 * @ZBRIDGE_STAT_DROP_WINDOW: frames that came, and that there was no room to keep
 * @ZBRIDGE_STAT_DROP_NODEST: frames to an address that no host is known for
 * @ZBRIDGE_STAT_DROP_FULL: frames that were sent by the device itself, without room
 * @ZBRIDGE_STAT_DROP_NOMEM: frames for which there was no memory
 * @ZBRIDGE_STAT_DROP_DEAD: frames for a host that did not answer
 * @ZBRIDGE_STAT_DROP_RESET: frames without acknowledgment when the other host began anew
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
