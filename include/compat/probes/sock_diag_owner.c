// SPDX-License-Identifier: GPL-2.0
/* A sock_diag handler names its module, which is held during a dump. */
#include <linux/module.h>
#include <linux/sock_diag.h>

void probe(struct sock_diag_handler *handler);

void probe(struct sock_diag_handler *handler)
{
	handler->owner = THIS_MODULE;
}
MODULE_LICENSE("GPL");
