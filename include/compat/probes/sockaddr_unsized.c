// SPDX-License-Identifier: GPL-2.0
/* proto_ops.bind and connect take struct sockaddr_unsized. */
#include <linux/module.h>
#include <linux/net.h>

static int probe(struct socket *sock, struct sockaddr_unsized *addr, int len)
{
	return 0;
}

const struct proto_ops probe_ops = { .bind = probe };
MODULE_LICENSE("GPL");
