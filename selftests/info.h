/* SPDX-License-Identifier: GPL-2.0 */
/* What tests ask of a socket and of the machine; no namespaces are needed. */
#ifndef _INFO_H
#define _INFO_H

#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/ndp.h>

/* Is time virtual, as in the lab's user-mode Linux?  Waiting then costs no real time. */
static inline bool virtual_time(void)
{
	return !access("/proc/exitcode", F_OK);
}

/* The state is 255, which does not exist, if there is no information. */
static inline struct ndp_info info_of(int fd)
{
	struct ndp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_NDP, NDP_INFO, &info, &len) || len != sizeof(info))
		info.state = 255;
	return info;
}

#endif
