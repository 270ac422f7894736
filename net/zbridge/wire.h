/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zbridge: packet format, behind the UDP header (Documentation/zbridge.md).
 */
#ifndef _NET_ZBRIDGE_WIRE_H
#define _NET_ZBRIDGE_WIRE_H

#include <linux/if_ether.h>
#include <linux/types.h>

#define ZBR_VERSION	1

/**
 * enum zbr_type - types of packets
 * @ZBR_SYN:	opens a flow; @seq: number of the sender's first frame
 * @ZBR_SYNACK:	the answer to SYN
 * @ZBR_DATA:	carries a frame, behind the header
 * @ZBR_ACK:	all frames before @ack have arrived
 * @ZBR_NACK:	as ACK, and @count frames from @seq on are missing
 * @ZBR_ASK:	asks which frames before @seq have arrived
 * @ZBR_CLOSE:	asks to close: the sender has nothing to send, and has been idle for long
 * @ZBR_CLOSED:	the answer to CLOSE: the sender has deleted the flow
 * @ZBR_RST:	the sender has no such flow
 * @ZBR_TYPES:	number of types
 */
enum zbr_type {
	ZBR_SYN,
	ZBR_SYNACK,
	ZBR_DATA,
	ZBR_ACK,
	ZBR_NACK,
	ZBR_ASK,
	ZBR_CLOSE,
	ZBR_CLOSED,
	ZBR_RST,
	ZBR_TYPES,
};

/* In DATA: the sender wants an answer, as to an ASK. */
#define ZBR_F_ASK	1
/* In SYN and SYNACK: the sender's packets may overtake each other. */
#define ZBR_F_SPREAD	2

/**
 * struct zbr_hdr - header of all packets
 * @vt:		ZBR_VERSION << 4 | enum zbr_type
 * @flags:	ZBR_F_...
 * @prio:	priority of the flow's frames, 0 to 7
 * @reserved:	0
 * @vni:	network id << 8
 * @to:		the receiver's id of the flow; 0 in a SYN
 * @from:	the sender's id of the flow
 * @seq:	DATA: number of the frame; NACK: first missing frame; else the next new frame
 * @ack:	number of the next frame that is expected
 * @crc:	CRC-32C of the bytes behind the header, and then of the header with @crc 0
 */
struct zbr_hdr {
	u8	vt;
	u8	flags;
	u8	prio;
	u8	reserved;
	__be32	vni;
	__be32	to;
	__be32	from;
	__be32	seq;
	__be32	ack;
	__be32	crc;
};

/**
 * struct zbr_ctl - payload of all packets but DATA
 * @dst:	MAC address of the receiver's vNIC
 * @src:	MAC address of the sender's vNIC
 * @count:	SYN, SYNACK: BUF, in frames; NACK: number of missing frames
 */
struct zbr_ctl {
	u8	dst[ETH_ALEN];
	u8	src[ETH_ALEN];
	__be32	count;
};

#endif /* _NET_ZBRIDGE_WIRE_H */
