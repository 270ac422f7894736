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
 * A DATA packet that arrives shorter than @len was trimmed on the way; there is no flag for it,
 * so that any hardware which cuts a packet behind the NDP header will do.
 *
 * This header is used by the transports, by switches and by test programs.  It defines the
 * format, and nothing else.
 *
 * The format is frozen, and may be extended: a sender sets reserved bits to zero, and a receiver
 * ignores them, as well as flags that it does not know, and bytes behind the header of a control
 * packet other than FIN.  Packets of another version or of an unknown type are dropped and
 * counted.
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
 * enum ndp_transport_id - which transport both ends of a connection use
 * @NDP_TRANSPORT_ID_NDP: pulls; NDP, SIGCOMM 2017
 * @NDP_TRANSPORT_ID_MPRDMA: a window over many paths; MP-RDMA, NSDI 2018
 * @NDP_TRANSPORT_ID_DCQCN: a rate on one path; SIGCOMM 2015
 * @NDP_TRANSPORT_ID_LIGHT: the receive window alone; TCPlight, Crisan's thesis, 2014
 * @NDP_TRANSPORT_ID_DART: rates apportioned by the receiver; Dart, ToN 2020
 * @NDP_TRANSPORT_ID_PCN: rates by packets received; PCN, NSDI 2020
 * @NDP_TRANSPORT_ID_TRIAL: this and all higher ids are for experiments, and never assigned
 * @NDP_TRANSPORT_IDS: number of possible ids
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
 * enum ndp_reason - reason of a RST
 * @NDP_REASON_NONE:	no socket listens, or the connection is gone
 * @NDP_REASON_TRANSPORT: the listener does not accept the opening's transport
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
#define NDP_DSCP_CONTROL	11	/* every packet that is not DATA */

/**
 * enum ndp_type - type of a packet
 * @NDP_DATA:	payload, or a bare opening when it has SYN and no payload
 * @NDP_ACK:	packet @psn arrived whole
 * @NDP_NACK:	packet @psn arrived without its payload, keep it ready for retransmission
 * @NDP_PULL:	all below @psn have arrived; carries the receive window.  NDP's own transport:
 *		send packets up to pull counter @pull
 * @NDP_PROBE:	the sender has data and no permission to send it, or has sent data, asked for an
 *		answer and received none; answered by a PULL at once
 * @NDP_FIN:	no data at or after @psn; takes a PSN of its own
 * @NDP_RST:	the connection does not exist (any more)
 * @NDP_COOKIE:	from an acceptor: prove by this number that the address is yours; from an
 *		initiator: the number returned
 * @NDP_SIGNAL:	message of a transport to its peer
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
 * @NDP_F_SYN:	first window: this packet may open the connection; in answers of an acceptor: the
 *		packet answered was pushed, not pulled
 * @NDP_F_LAST:	DATA: the send queue is empty behind this packet, pull no more.  ACK: its sender
 *		has no unacknowledged packet, and has sent its FIN, or you need no FIN
 *		(NDP_F_GONE).  PULL: no credit is owed to you
 * @NDP_F_EOM:	last packet of a message
 * @NDP_F_PULL:	ACK, NACK: @pull and the window are valid
 * @NDP_F_RTX:	retransmission; its answer echoes the flag, and gives no RTT sample
 * @NDP_F_BOUNCED: a switch whose header queue was full returned this header to its sender
 * @NDP_F_SYNC:	DATA of all transports but NDP's and TCPlight: deliver the message that begins
 *		here after all messages before it
 * @NDP_F_ECE:	ACK, NACK: the IP header of the packet answered arrived with Congestion
 *		Experienced
 * @NDP_F_BOM:	the bit of NDP_F_ECE in DATA of the transports of NDP_F_SYNC: first packet of a
 *		message
 * @NDP_F_TOKEN: the bit of NDP_F_EOM in COOKIE: the number is a token, which proves an address
 *		in later connections to the acceptor that issued it
 * @NDP_F_GONE: the bit of NDP_F_EOM in FIN, after an answer: the sender's application reads no
 *		more, and only this FIN is unacknowledged: a peer that closes upon it need not
 *		send a FIN, but an ACK with NDP_F_LAST
 * @NDP_F_ACKS: the bit of NDP_F_EOM in ACK: &struct ndp_acks follows the header
 * @NDP_F_MSG:	the bit of NDP_F_PULL in DATA, FIN and COOKIE: sent by a message socket, to be
 *		accepted by a listener for message sockets
 * @NDP_F_AGAIN: the bit of NDP_F_SYNC in ACK and NACK: this PSN was answered before, so an
 *		earlier transmission of the packet has arrived
 * @NDP_F_LATER: the bit of NDP_F_ECE in DATA and FIN of NDP's own transport and of TCPlight:
 *		nothing waits for the ACK, which may ride on your next packet.  In TCPlight
 *		without NDP_F_LAST: no ACK is needed
 * @NDP_F_CUM:	the bit of NDP_F_SYNC in DATA and FIN of the same: such an ACK rides here;
 *		@window is the PSN below which all of your packets have arrived
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
 * @path:	number of the path that this packet took, assigned by its sender
 * @len:	DATA: bytes of payload before any trimming
 * @echo_path:	ACK, NACK: @path of the packet answered
 * @transport:	COOKIE of an initiator: &enum ndp_transport_id
 * @kind:	SIGNAL: which message, defined by the transport
 * @origin:	DATA, FIN, PROBE: &enum ndp_transport_id (8 bits, of which NDP_ORIGIN_ANSWERED is
 *		not part of the id), and @psn less the first PSN of the connection, modulo 2^24
 * @pull:	ACK, NACK, PULL: of NDP the pull counter, modulo 2^32; of all others the PSN
 *		below which all have arrived.  COOKIE: upper half of the number
 * @reason:	RST: &enum ndp_reason
 * @value:	SIGNAL: defined by the transport
 * @window:	receive window of this packet's sender, bytes.  DATA and FIN: bytes queued behind
 *		those sent, 0: not known; see NDP_F_CUM.  COOKIE: lower half of the number
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
 * @map:	bit i: the packet @first + i arrived whole, was not a retransmission, and was not
 *		ECN-marked; the packet of the header may be among them
 * @first:	PSN of bit 0
 * @crc:	CRC-32C of @map and @first
 */
struct ndp_acks {
	__be64	map;
	__be32	first;
	__be32	crc;
};

static_assert(sizeof(struct ndp_acks) == 16);

/** NDP_CRC_LEN: bytes of payload CRC behind the header of DATA with payload. */
#define NDP_CRC_LEN		4

/** NDP_HDR_LEN: bytes that a switch keeps behind the UDP header when it trims. */
#define NDP_HDR_LEN		(sizeof(struct ndphdr) + NDP_CRC_LEN)

/* Bits of ndphdr.origin that hold an offset; the bits above name the transport. */
#define NDP_ORIGIN_BITS		24
#define NDP_ORIGIN_MASK		((1U << NDP_ORIGIN_BITS) - 1)

/**
 * NDP_ORIGIN_ANSWERED: bit of the transport's byte, in DATA and FIN of an initiator: the
 * acceptor has answered the initiator before, so SYN only marks the packet as pushed, and opens
 * no connection.
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
