/* SPDX-License-Identifier: GPL-2.0 */
/* What a socket of NDP tells of itself. */
#ifndef _INFO_H
#define _INFO_H

#include <sys/socket.h>
#include <linux/ndp.h>

/* No state is 255: there is nothing to be told. */
static inline struct ndp_info info_of(int fd)
{
	struct ndp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_NDP, NDP_INFO, &info, &len) || len != sizeof(info))
		info.state = 255;
	return info;
}

#endif
