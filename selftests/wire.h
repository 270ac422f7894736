/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NDP's header according to Documentation/wire-format.md, defined for the tests independently of
 * the kernel's headers, and its checksums.
 */
#ifndef _WIRE_H
#define _WIRE_H

#include <arpa/inet.h>

#include <linux/types.h>

#define VERSION		2
#define UDP_PORT	13141
#define HDR_LEN		32
#define CRC_LEN		4

enum { DATA = 1, ACK, NACK, PULL, PROBE, FIN, RST, COOKIE, SIGNAL, TYPES = 16 };

enum {
	SYN = 1, LAST = 2, EOM = 4, HAS_PULL = 8, RTX = 0x10, BOUNCED = 0x20, SYNC = 0x40,
	ECE = 0x80,
	GONE = EOM,	/* of FIN */
	TOKEN = EOM,	/* of COOKIE */
	ACKS = EOM,	/* of ACK */
	BOM = ECE,	/* of DATA */
	CUM = SYNC,	/* of DATA and FIN */
	LATER = ECE,	/* of DATA and FIN */
};

enum { FROM_ACCEPTOR = 0x10 };
enum { DSCP_DATA = 3, DSCP_TRIMMED = 7, DSCP_CONTROL = 11 };

struct header {
	__u8 vdt;
	__u8 flags;
	__u16 check;
	__u16 sport;
	__u16 dport;
	__u64 conn_id;
	__u32 psn;
	__u16 path;
	__u16 len;	/* echo_path in answers */
	__u32 psn_off;	/* 24 bits, the transport in the upper 8; pull in answers */
	__u32 window;
};

/* The Internet checksum of @data, in host order; @sum: the sum of what precedes it. */
static inline __u16 fold(const void *data, int len, __u32 sum)
{
	const __u8 *p = data;

	for (; len > 1; p += 2, len -= 2)
		sum += p[0] << 8 | p[1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static inline __u32 crc32c(const __u8 *p, int len)
{
	__u32 crc = ~0U;

	while (len--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

#endif /* _WIRE_H */
