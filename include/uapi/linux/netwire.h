/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * netwire: netlink interface of the emulated Ethernet cable.
 *
 * A cable is a pair of network devices of rtnetlink kind "netwire".  The parameters
 * belong to the cable: they can be set and read at either end, and hold for both
 * ends and both directions.
 *
 * RTM_NEWLINK creates both ends.  IFLA_INFO_DATA must hold IFLA_NETWIRE_PEER;
 * the other attributes are optional and take the defaults below.  The end
 * whose name is in the request proper is the near end, the one described in
 * IFLA_NETWIRE_PEER is the far end.  RTM_DELLINK of either end, or the end of
 * either's network namespace, deletes both.
 *
 * RTM_NEWLINK on an existing end changes the given attributes and leaves the rest.  A
 * frame that is being sent keeps its speed.  Frames never overtake each other: after
 * the delay was shortened, the next ones wait behind those that are on the wire
 * already.
 *
 * A dump returns all but IFLA_NETWIRE_PEER; the far end is found by IFLA_LINK
 * and IFLA_LINK_NETNSID, as with veth.
 */
#ifndef _UAPI_LINUX_NETWIRE_H
#define _UAPI_LINUX_NETWIRE_H

#include <linux/types.h>

/* A bit error rate is counted in units of 10^-18. */
#define NETWIRE_BER_UNIT	1000000000000000000ULL

#define NETWIRE_RATE_MIN	1000ULL			/* 1 kbit/s */
#define NETWIRE_RATE_MAX	10000000000000ULL	/* 10 Tbit/s */
#define NETWIRE_RATE_DEFAULT	10000000000ULL		/* 10 Gbit/s */
#define NETWIRE_DELAY_MAX	10000000000ULL		/* 10 s */
#define NETWIRE_DELAY_DEFAULT	1000ULL			/* 1 us, 200 m of fibre */
#define NETWIRE_BER_MAX		(NETWIRE_BER_UNIT / 1000)
#define NETWIRE_MTU_MAX		9216

/**
 * enum netwire_ber_mode - values of IFLA_NETWIRE_BER_MODE
 * @NETWIRE_BER_DROP: the receiver's check of the FCS catches every bad frame:
 *	it is lost and counted in rx_crc_errors
 * @NETWIRE_BER_CORRUPT: the FCS check catches none: the frame is delivered with at
 *	least one bit flipped behind the Ethernet header, as by a faulty switch, and
 *	counted in the ethtool statistic rx_ber_corrupted
 *
 * A frame is bad equally often in both modes.
 */
enum netwire_ber_mode {
	NETWIRE_BER_DROP,
	NETWIRE_BER_CORRUPT,
	__NETWIRE_BER_MODE_MAX,
};

enum {
	IFLA_NETWIRE_UNSPEC,
	IFLA_NETWIRE_PAD,
	/*
	 * The far end: struct ifinfomsg followed by IFLA_* attributes, as in
	 * VETH_INFO_PEER.  Required to create, refused to change.
	 */
	IFLA_NETWIRE_PEER,
	/* u64, bits per second; RATE_MIN to RATE_MAX, default RATE_DEFAULT */
	IFLA_NETWIRE_RATE,
	/*
	 * u64, ns from end to end; 0 to DELAY_MAX, default DELAY_DEFAULT.  Refused
	 * if rate times delay is more than the memory that all cables may hold:
	 * the module parameter flight_max, by default a quarter of the machine's.
	 */
	IFLA_NETWIRE_DELAY,
	/* u64, probability of a bit error in BER_UNIT; 0 to BER_MAX, default 0 */
	IFLA_NETWIRE_BER,
	/* u8, enum netwire_ber_mode, default NETWIRE_BER_DROP */
	IFLA_NETWIRE_BER_MODE,
	/*
	 * u8, 1: each end takes pause frames (IEEE 802.1Qbb, 802.3x) off the wire
	 * and obeys them itself, all of its one queue; default 0, the host sees them
	 */
	IFLA_NETWIRE_PFC,
	__IFLA_NETWIRE_MAX,
};

#define IFLA_NETWIRE_MAX (__IFLA_NETWIRE_MAX - 1)

#endif /* _UAPI_LINUX_NETWIRE_H */
