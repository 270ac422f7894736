/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, what all know of the pull transport.
 */
#ifndef _NDP_PULL_H
#define _NDP_PULL_H

#include <net/ndp_transport.h>

/* grant.c */
extern const struct ndp_transport ndp_pull_transport;

/* pull.c */
int ndp_pull_init(void);
void ndp_pull_exit(void);

#endif /* _NDP_PULL_H */
