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
 *   payload                      only in DATA, at most ndphdr.len bytes
 *
 * A DATA packet that arrives shorter than @len says was trimmed on the way;
 * there is no flag for it, so that any hardware which cuts a packet behind the
 * NDP header will do.
 *
 * This header is read by the transport, by switches and by test programs.  It
 * says what the bytes are, and no more.  The format is frozen.
 */
#ifndef _NET_NDP_WIRE_H
#define _NET_NDP_WIRE_H

#include <linux/build_bug.h>
#include <linux/types.h>

/** NDP_UDP_PORT: default UDP destination port, per namespace a sysctl. */
#define NDP_UDP_PORT		13141

/** Range of UDP source ports used as path entropy (the IANA dynamic range). */
#define NDP_ENTROPY_MIN		49152
#define NDP_ENTROPY_MAX		65535

/** Version of the format that this header describes. */
#define NDP_VERSION		1

/**
 * NDP_MAX_WINDOW - packets between the lowest one not acknowledged and the
 * highest one sent; a receiver refuses a PSN further ahead.
 */
#define NDP_MAX_WINDOW		4096

/*
 * Code points (DSCP).  A switch classifies by these alone; they are defaults,
 * as they are in hardware that trims.
 */
#define NDP_DSCP_DATA		3	/* may be trimmed */
#define NDP_DSCP_TRIMMED	7	/* a header whose payload was cut off */
#define NDP_DSCP_CONTROL	11	/* ACK, NACK, PULL, PROBE, FIN, RST */

/**
 * enum ndp_type - what a packet is
 * @NDP_DATA:	payload, or a bare opening when it has SYN and no payload
 * @NDP_ACK:	packet @psn arrived whole
 * @NDP_NACK:	packet @psn arrived without its payload, keep it ready
 * @NDP_PULL:	send packets up to pull counter @pull; @psn is cumulative
 * @NDP_PROBE:	sender has data but no credit; answered by a PULL at once
 * @NDP_FIN:	no data at or after @psn; takes a PSN of its own
 * @NDP_RST:	the connection does not exist (any more)
 * @NDP_COOKIE:	of an acceptor: show that the address is yours, by this number; of an
 *		initiator: here it is
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
};

/**
 * enum ndp_flags - bits of ndphdr.flags
 * @NDP_F_SYN:	first window: this packet may open the connection; in answers
 *		of an acceptor: the packet was pushed, not pulled
 * @NDP_F_LAST:	DATA: the send queue is empty behind this packet, pull no more.
 *		ACK: nothing that the sender of this ACK sent is unacknowledged,
 *		and it has sent its FIN.  PULL: no credit is owed to you
 * @NDP_F_EOM:	last packet of a message
 * @NDP_F_PULL:	ACK, NACK: the pull counter and the window are valid
 * @NDP_F_RTX:	retransmission; no RTT sample may be taken from its answer,
 *		which echoes the flag
 * @NDP_F_BOUNCED: a full header queue returned this header to its sender
 * @NDP_F_SYNC:	the initiator sends nothing more until this is acknowledged
 * @NDP_F_ECE:	DATA's IP header arrived with Congestion Experienced
 * @NDP_F_TOKEN: the bit of NDP_F_EOM in COOKIE: the number proves an address in any later
 *		connection to this acceptor, which gives it and is shown it
 * @NDP_F_MSG:	the bit of NDP_F_PULL in DATA, FIN and COOKIE: of a socket of messages,
 *		to be accepted by one that listens for such
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
	NDP_F_MSG	= NDP_F_PULL,
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
 * @psn_off:	DATA, FIN, PROBE: @psn less the first PSN of the connection
 * @pull:	ACK, NACK, PULL: pull counter, modulo 2^32.  COOKIE: upper half of it
 * @window:	bytes that the sender of this packet has room for.  COOKIE: lower half
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
	};
	union {
		__be32	psn_off;
		__be32	pull;
	};
	__be32	window;
};

static_assert(sizeof(struct ndphdr) == 32);

/** NDP_CRC_LEN: bytes of payload CRC behind the header of DATA with payload. */
#define NDP_CRC_LEN		4

/** NDP_HDR_LEN: what a switch keeps behind the UDP header when it trims. */
#define NDP_HDR_LEN		(sizeof(struct ndphdr) + NDP_CRC_LEN)

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
