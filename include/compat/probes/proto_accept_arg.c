// SPDX-License-Identifier: GPL-2.0
/* proto_ops.accept takes its arguments in a structure. */
#include <linux/module.h>
#include <linux/net.h>
#include <net/sock.h>

static int probe(struct socket *sock, struct socket *newsock,
		 struct proto_accept_arg *arg)
{
	return arg->flags;
}

const struct proto_ops probe_ops = { .accept = probe };
MODULE_LICENSE("GPL");
