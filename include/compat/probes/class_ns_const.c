// SPDX-License-Identifier: GPL-2.0
/* class.namespace takes a constant device. */
#include <linux/device/class.h>
#include <linux/module.h>

static const void *probe_namespace(const struct device *d)
{
	return d;
}

const struct class probe = {
	.namespace = probe_namespace,
};
MODULE_LICENSE("GPL");
