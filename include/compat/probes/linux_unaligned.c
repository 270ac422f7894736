// SPDX-License-Identifier: GPL-2.0
/* Unaligned accessors have moved out of asm/. */
#include <linux/module.h>
#include <linux/unaligned.h>

u32 probe(void *p)
{
	return get_unaligned_be32(p);
}
MODULE_LICENSE("GPL");
