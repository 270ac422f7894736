// SPDX-License-Identifier: GPL-2.0
/* Compiles on every kernel. */
#include <linux/module.h>
#include <linux/netdevice.h>
MODULE_LICENSE("GPL");
