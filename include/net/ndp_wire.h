/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NDP on the wire.
 *
 * NDP (Handley et al., "Re-architecting datacenter networks and stacks for
 * low latency and high performance", SIGCOMM 2017) rides in UDP.  The UDP
 * destination port names the protocol, the UDP source port is the path entropy
 * that an ECMP fabric hashes, and the UDP checksum is zero, because a switch
 * that trims a packet could not repair it.  Below the UDP header come
 *
 *   struct ndphdr                32 bytes, in every packet
 *   __be32 payload CRC-32C       only in DATA that has one
 *   struct ndp_acks              only in an ACK with NDP_F_ACKS
 *   payload                      only in DATA, at most ndphdr.len bytes
 *
 * A DATA packet that arrives shorter than @len says was trimmed on the way;
 * there is no flag for it, so that any hardware which cuts a packet behind the
 * NDP header will do.
 *
 * This header is read by the transports, by switches and by test programs.  It
 * says what the bytes are, and no more.
 *
 * The format is frozen, and may be extended: whoever sends sets what is reserved to
 * zero, and whoever receives ignores it, as well as flags that it does not know, and
 * bytes behind the header of a control packet other than FIN.  What has another version
 * or an unknown type is dropped and counted.
 */
#ifndef _NET_NDP_WIRE_H
#define _NET_NDP_WIRE_H

#include <asm/byteorder.h>
#include <linux/build_bug.h>
#include <linux/types.h>

/** NDP_UDP_PORT: default UDP destination port, per namespace a sysctl. */
#define NDP_UDP_PORT		13141

/** Range of UDP source ports used as path entropy (the IANA dynamic range). */
#define NDP_ENTROPY_MIN		49152
#define NDP_ENTROPY_MAX		65535

/**
 * Version of the format that this header describes.  Version 1 had no transports but
 * NDP, and 32 bits of @psn_off.
 */
#define NDP_VERSION		2

/**
 * NDP_MAX_WINDOW - packets between the lowest one not acknowledged and the
 * highest one sent; a receiver refuses a PSN further ahead.
 */
#define NDP_MAX_WINDOW		4096

/**
 * enum ndp_transport_id - who decides what is sent when; both ends are of the same
 * @NDP_TRANSPORT_ID_NDP: pulls; NDP, SIGCOMM 2017
 * @NDP_TRANSPORT_ID_MPRDMA: a window over many paths; MP-RDMA, NSDI 2018
 * @NDP_TRANSPORT_ID_DCQCN: a rate on one path; SIGCOMM 2015
 * @NDP_TRANSPORT_ID_LIGHT: the receiver's room alone; TCPlight, Crisan's thesis, 2014
 * @NDP_TRANSPORT_ID_DART: rates apportioned by the receiver; Dart, ToN 2020
 * @NDP_TRANSPORT_ID_PCN: rates received; PCN, NSDI 2020
 * @NDP_TRANSPORT_ID_TRIAL: this and all above it: for trials, given to nobody
 * @NDP_TRANSPORT_IDS: how many there can be
 */
enum ndp_transport_id {
	NDP_TRANSPORT_ID_NDP	= 0,
	NDP_TRANSPORT_ID_MPRDMA	= 1,
	NDP_TRANSPORT_ID_DCQCN	= 2,
	NDP_TRANSPORT_ID_LIGHT	= 3,
	NDP_TRANSPORT_ID_DART	= 4,
	NDP_TRANSPORT_ID_PCN	= 5,
	NDP_TRANSPORT_ID_TRIAL	= 24,
	NDP_TRANSPORT_IDS	= 32,
};

/**
 * enum ndp_reason - why there is a RST
 * @NDP_REASON_NONE:	nobody listens, or the connection is gone
 * @NDP_REASON_TRANSPORT: who listens does not take the opening's transport
 */
enum ndp_reason {
	NDP_REASON_NONE		= 0,
	NDP_REASON_TRANSPORT	= 1,
};

/*
 * Code points (DSCP).  A switch classifies by these alone; they are defaults,
 * as they are in hardware that trims.
 */
#define NDP_DSCP_DATA		3	/* may be trimmed */
#define NDP_DSCP_TRIMMED	7	/* a header whose payload was cut off */
#define NDP_DSCP_CONTROL	11	/* all that is not DATA */

/**
 * enum ndp_type - what a packet is
 * @NDP_DATA:	payload, or a bare opening when it has SYN and no payload
 * @NDP_ACK:	packet @psn arrived whole
 * @NDP_NACK:	packet @psn arrived without its payload, keep it ready
 * @NDP_PULL:	all below @psn have arrived, and how much room there is; of NDP: send
 *		packets up to pull counter @pull
 * @NDP_PROBE:	sender has data and no leave to send it, or has sent some, asked for an answer
 *		and heard nothing; answered by a PULL at once
 * @NDP_FIN:	no data at or after @psn; takes a PSN of its own
 * @NDP_RST:	the connection does not exist (any more)
 * @NDP_COOKIE:	of an acceptor: show that the address is yours, by this number; of an
 *		initiator: here it is
 * @NDP_SIGNAL:	a transport's own
 */
enum ndp_type {
	NDP_DATA	= 1,
	NDP_ACK		= 2,
	NDP_NACK	= 3,
	NDP_PULL	= 4,
	NDP_PROBE	= 5,
	NDP_FIN		= 6,
	NDP_RST		= 7,
	NDP_COOKIE	= 8,
	NDP_SIGNAL	= 9,
};

/**
 * enum ndp_flags - bits of ndphdr.flags
 * @NDP_F_SYN:	first window: this packet may open the connection; in answers
 *		of an acceptor: the packet was pushed, not pulled
 * @NDP_F_LAST:	DATA: the send queue is empty behind this packet, pull no more.
 *		ACK: nothing that the sender of this ACK sent is unacknowledged,
 *		and it has sent its FIN, or you need none (NDP_F_GONE).  PULL: no credit
 *		is owed to you
 * @NDP_F_EOM:	last packet of a message
 * @NDP_F_PULL:	ACK, NACK: @pull and the window are valid
 * @NDP_F_RTX:	retransmission; no RTT sample may be taken from its answer,
 *		which echoes the flag
 * @NDP_F_BOUNCED: a full header queue returned this header to its sender
 * @NDP_F_SYNC:	DATA of all transports but NDP's and TCPlight: deliver the message that begins
 *		here behind all before it
 * @NDP_F_ECE:	ACK, NACK: DATA's IP header arrived with Congestion Experienced
 * @NDP_F_BOM:	the bit of NDP_F_ECE in the same: first packet of a message
 * @NDP_F_TOKEN: the bit of NDP_F_EOM in COOKIE: the number proves an address in any later
 *		connection to this acceptor, which gives it and is shown it
 * @NDP_F_GONE: the bit of NDP_F_EOM in FIN, after an answer: nobody reads here any more,
 *		and nothing but this FIN is unacknowledged: who closes upon it need not
 *		send a FIN, but an ACK with NDP_F_LAST
 * @NDP_F_ACKS: the bit of NDP_F_EOM in ACK: &struct ndp_acks stands behind the header
 * @NDP_F_MSG:	the bit of NDP_F_PULL in DATA, FIN and COOKIE: of a socket of messages,
 *		to be accepted by one that listens for such
 * @NDP_F_AGAIN: the bit of NDP_F_SYNC in ACK and NACK: an answer to this number has left before,
 *		so that an earlier transmission of the packet has arrived
 * @NDP_F_LATER: the bit of NDP_F_ECE in DATA and FIN of NDP's own and of TCPlight: nobody waits
 *		for the ACK, it may ride on what you send next.  Of TCPlight's without
 *		NDP_F_LAST: there need not be one
 * @NDP_F_CUM:	the bit of NDP_F_SYNC in the same: such an ACK rides here; @window is the PSN
 *		below which all of yours have arrived
 */
enum ndp_flags {
	NDP_F_SYN	= 0x01,
	NDP_F_LAST	= 0x02,
	NDP_F_EOM	= 0x04,
	NDP_F_PULL	= 0x08,
	NDP_F_RTX	= 0x10,
	NDP_F_BOUNCED	= 0x20,
	NDP_F_SYNC	= 0x40,
	NDP_F_ECE	= 0x80,

	NDP_F_TOKEN	= NDP_F_EOM,
	NDP_F_GONE	= NDP_F_EOM,
	NDP_F_ACKS	= NDP_F_EOM,
	NDP_F_MSG	= NDP_F_PULL,
	NDP_F_BOM	= NDP_F_ECE,
	NDP_F_LATER	= NDP_F_ECE,
	NDP_F_CUM	= NDP_F_SYNC,
	NDP_F_AGAIN	= NDP_F_SYNC,
};

/* Fields of ndphdr.vdt: version (3 bits), direction (1), type (4). */
#define NDP_VERSION_SHIFT	5
#define NDP_FROM_ACCEPTOR	0x10
#define NDP_TYPE_MASK		0x0f

/**
 * struct ndphdr - header of every NDP packet, network byte order
 * @vdt:	version, direction (set when the connection's acceptor sent it)
 *		and &enum ndp_type
 * @flags:	&enum ndp_flags
 * @check:	Internet checksum over source and destination IP address and
 *		this header (with @check zero); never over the payload
 * @sport:	NDP port of the sender
 * @dport:	NDP port of the receiver
 * @conn_id:	random, chosen by the initiator, same in both directions
 * @psn:	packet sequence number.  DATA, FIN: this packet's.  ACK, NACK:
 *		the one answered.  PULL: all below it have arrived.  PROBE:
 *		the next that will be sent.  COOKIE of an initiator: the first
 *		of the connection
 * @path:	path that this packet took, a number of its sender's own
 * @len:	DATA: bytes of payload before any trimming
 * @echo_path:	ACK, NACK: @path of the packet answered
 * @transport:	COOKIE of an initiator: &enum ndp_transport_id
 * @kind:	SIGNAL: which, of its transport's
 * @origin:	DATA, FIN, PROBE: &enum ndp_transport_id (8 bits, of which NDP_ORIGIN_ANSWERED is
 *		none), and @psn less the first PSN of the connection, modulo 2^24
 * @pull:	ACK, NACK, PULL: of NDP the pull counter, modulo 2^32; of all others the
 *		PSN below which all have arrived.  COOKIE: upper half of it
 * @reason:	RST: &enum ndp_reason
 * @value:	SIGNAL: its transport's
 * @window:	bytes that the sender of this packet has room for.  DATA and FIN: bytes that are
 *		queued behind what was sent, 0: not known; see NDP_F_CUM.  COOKIE: lower half
 */
struct ndphdr {
	__u8	vdt;
	__u8	flags;
	__sum16	check;
	__be16	sport;
	__be16	dport;
	__be64	conn_id;
	__be32	psn;
	__be16	path;
	union {
		__be16	len;
		__be16	echo_path;
		__be16	transport;
		__be16	kind;
	};
	union {
		__be32	origin;
		__be32	pull;
		__be32	reason;
		__be32	value;
	};
	__be32	window;
};

static_assert(sizeof(struct ndphdr) == 32);

/**
 * struct ndp_acks - more packets that an ACK acknowledges, network byte order
 * @map:	bit i: the packet @first + i arrived whole, for the first time sent, and was not
 *		marked (ECN); the one of the header may be among them
 * @first:	PSN of bit 0
 * @crc:	CRC-32C of the above
 */
struct ndp_acks {
	__be64	map;
	__be32	first;
	__be32	crc;
};

static_assert(sizeof(struct ndp_acks) == 16);

/** NDP_CRC_LEN: bytes of payload CRC behind the header of DATA with payload. */
#define NDP_CRC_LEN		4

/** NDP_HDR_LEN: what a switch keeps behind the UDP header when it trims. */
#define NDP_HDR_LEN		(sizeof(struct ndphdr) + NDP_CRC_LEN)

/* Bits of ndphdr.origin that are an offset; those above it name the transport. */
#define NDP_ORIGIN_BITS		24
#define NDP_ORIGIN_MASK		((1U << NDP_ORIGIN_BITS) - 1)

/**
 * NDP_ORIGIN_ANSWERED: bit of the transport's byte, in DATA and FIN of an initiator: the
 * acceptor has answered it before, so SYN says that the packet was pushed, and opens nothing.
 */
#define NDP_ORIGIN_ANSWERED	0x80

static inline __be32 ndp_hdr_origin(__u8 transport, __u32 psn_off)
{
	return htonl((__u32)transport << NDP_ORIGIN_BITS |
		     (psn_off & NDP_ORIGIN_MASK));
}

/* Offset of the packet's PSN from its connection's first, modulo 2^24. */
static inline __u32 ndp_hdr_psn_off(const struct ndphdr *nh)
{
	return ntohl(nh->origin) & NDP_ORIGIN_MASK;
}

static inline __u8 ndp_hdr_vdt(enum ndp_type type, bool from_acceptor)
{
	return NDP_VERSION << NDP_VERSION_SHIFT |
	       (from_acceptor ? NDP_FROM_ACCEPTOR : 0) | type;
}

static inline __u8 ndp_hdr_type(const struct ndphdr *nh)
{
	return nh->vdt & NDP_TYPE_MASK;
}

static inline __u8 ndp_hdr_version(const struct ndphdr *nh)
{
	return nh->vdt >> NDP_VERSION_SHIFT;
}

#endif /* _NET_NDP_WIRE_H */
