/* SPDX-License-Identifier: GPL-2.0 */
/* Found only where the kernel has no such header, searched last. */
#include <linux/netdevice.h>
