// SPDX-License-Identifier: GPL-2.0
/* sysctl handlers take a constant table. */
#include <linux/module.h>
#include <linux/sysctl.h>

static int probe(const struct ctl_table *table, int write, void *buffer,
		 size_t *lenp, loff_t *ppos)
{
	return 0;
}

struct ctl_table probe_table = { .proc_handler = probe };
MODULE_LICENSE("GPL");
