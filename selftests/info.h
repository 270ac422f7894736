/* SPDX-License-Identifier: GPL-2.0 */
/* struct ndp_info of an AF_NDP socket. */
#ifndef _INFO_H
#define _INFO_H

#include <sys/socket.h>
#include <linux/ndp.h>

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
