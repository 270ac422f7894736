/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * zvnic: netlink interface of the virtual NICs of the lossless virtual switch.
 *
 * A vNIC is a pair of network devices of rtnetlink kind "zvnic": the port, which is put
 * below a switch of kind "zswitch", and the guest's end, which goes into a container.
 * RTM_NEWLINK makes both: the request proper is about the port, IFLA_ZVNIC_PEER about the
 * guest's end.  RTM_DELLINK of either, or the end of either's network namespace, deletes
 * both.  The options belong to the vNIC, and can be set at either end.
 */
#ifndef _UAPI_LINUX_ZVNIC_H
#define _UAPI_LINUX_ZVNIC_H

#include <linux/types.h>

#define ZVNIC_RATE_MIN	1000ULL			/* 1 kbit/s */
#define ZVNIC_RATE_MAX	10000000000000ULL	/* 10 Tbit/s */

/**
 * enum zvnic_end - values of IFLA_ZVNIC_END
 * @ZVNIC_END_PORT: the end that is a port of a switch
 * @ZVNIC_END_GUEST: the end in the container, which sends and receives
 */
enum zvnic_end {
	ZVNIC_END_PORT,
	ZVNIC_END_GUEST,
};

enum {
	IFLA_ZVNIC_UNSPEC,
	IFLA_ZVNIC_PAD,
	/*
	 * The guest's end: struct ifinfomsg followed by IFLA_* attributes, as in
	 * VETH_INFO_PEER.  Required to create, refused to change.
	 */
	IFLA_ZVNIC_PEER,
	/*
	 * u64, bits per second of frames with preamble, FCS and gap that the guest's end
	 * takes from the switch; 0, which is the default: as fast as it can.
	 */
	IFLA_ZVNIC_RATE,
	/* u8, dump only: enum zvnic_end */
	IFLA_ZVNIC_END,
	__IFLA_ZVNIC_MAX,
};

#define IFLA_ZVNIC_MAX (__IFLA_ZVNIC_MAX - 1)

#endif /* _UAPI_LINUX_ZVNIC_H */
