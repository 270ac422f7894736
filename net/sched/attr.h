/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Optional netlink attributes of a qdisc: an absent attribute leaves the option unchanged.
 */
#ifndef _SCHED_ATTR_H
#define _SCHED_ATTR_H

#include <net/netlink.h>

static inline void sched_set_u8(u8 *val, const struct nlattr *attr)
{
	if (attr)
		*val = nla_get_u8(attr);
}

static inline void sched_set_u32(u32 *val, const struct nlattr *attr)
{
	if (attr)
		*val = nla_get_u32(attr);
}

#endif /* _SCHED_ATTR_H */
