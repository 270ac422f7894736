/* SPDX-License-Identifier: GPL-2.0 */
/* Common to the plugins for tc. */
#ifndef NDP_PLUGIN_H
#define NDP_PLUGIN_H

#include <stdbool.h>
#include <string.h>
#include <linux/rtnetlink.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Read a number of any size, by the attribute's length. */
static inline bool get_number(const struct rtattr *attr, __u64 *val)
{
	__u32 u32;
	__u16 u16;

	if (!attr)
		return false;
	switch (RTA_PAYLOAD(attr)) {
	case sizeof(__u8):
		*val = *(const __u8 *)RTA_DATA(attr);
		return true;
	case sizeof(u16):
		memcpy(&u16, RTA_DATA(attr), sizeof(u16));
		*val = u16;
		return true;
	case sizeof(u32):
		memcpy(&u32, RTA_DATA(attr), sizeof(u32));
		*val = u32;
		return true;
	case sizeof(*val):
		memcpy(val, RTA_DATA(attr), sizeof(*val));
		return true;
	}
	return false;
}

#endif /* NDP_PLUGIN_H */
