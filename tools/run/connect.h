/* SPDX-License-Identifier: GPL-2.0 */
/* connect() of NDP sockets */
#ifndef NDP_RUN_CONNECT_H
#define NDP_RUN_CONNECT_H

#include <sys/socket.h>

int connect_ndp(int fd, const struct sockaddr *addr, socklen_t len);

#endif
