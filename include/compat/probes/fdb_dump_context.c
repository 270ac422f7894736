// SPDX-License-Identifier: GPL-2.0
/* FDB dumps have a context of their own. */
#include <linux/module.h>
#include <linux/rtnetlink.h>

static int probe(struct ndo_fdb_dump_context *ctx)
{
	return ctx->fdb_idx;
}

int (*probe_pointer)(struct ndo_fdb_dump_context *ctx) = probe;
MODULE_LICENSE("GPL");
