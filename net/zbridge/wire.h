/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zbridge: packets on the wire, behind UDP (Documentation/zbridge.md).
 */
#ifndef _NET_ZBRIDGE_WIRE_H
#define _NET_ZBRIDGE_WIRE_H

#include <linux/if_ether.h>
#include <linux/types.h>

#define ZBR_VERSION	1

/**
 * enum zbr_type - packets
 * @ZBR_SYN:	a flow begins; @seq: number of its first frame
 * @ZBR_SYNACK:	the answer
 * @ZBR_DATA:	a frame, behind the header
 * @ZBR_ACK:	all frames before @ack have come
 * @ZBR_NACK:	the same, and @count frames from @seq on are missing
 * @ZBR_ASK:	which frames before @seq have come?
 * @ZBR_CLOSE:	nothing is to be sent, nor for long has been
 * @ZBR_CLOSED:	the answer: the flow is forgotten
 * @ZBR_RST:	there is no such flow
 * @ZBR_TYPES:	how many there are
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

/* An answer is wanted, as to an ASK. */
#define ZBR_F_ASK	1
/* Of a SYN and SYNACK: the sender's packets may overtake each other. */
#define ZBR_F_SPREAD	2

/**
 * struct zbr_hdr - header of all packets
 * @vt:		ZBR_VERSION << 4 | enum zbr_type
 * @flags:	ZBR_F_...
 * @prio:	of a SYN: priority of the flow's frames, 0 to 7
 * @reserved:	0
 * @vni:	network << 8
 * @to:		the receiver's name of the flow; 0 in a SYN
 * @from:	the sender's
 * @seq:	number of the frame; of others, by their type, the next one that will be sent
 * @ack:	next frame that is expected
 * @crc:	CRC-32C of what is behind the header, and then of the header with 0 here
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
 * struct zbr_ctl - what is behind the header in all packets but DATA
 * @dst:	address of the receiver's vNIC
 * @src:	of the sender's
 * @count:	of a SYN and SYNACK: BUF, in frames; of a NACK: frames that are missing
 */
struct zbr_ctl {
	u8	dst[ETH_ALEN];
	u8	src[ETH_ALEN];
	__be32	count;
};

#endif /* _NET_ZBRIDGE_WIRE_H */
