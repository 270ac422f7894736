// SPDX-License-Identifier: GPL-2.0
/* Who dumps sockets names its module, which a dump then holds. */
#include <linux/module.h>
#include <linux/sock_diag.h>

void probe(struct sock_diag_handler *handler);

void probe(struct sock_diag_handler *handler)
{
	handler->owner = THIS_MODULE;
}
MODULE_LICENSE("GPL");
