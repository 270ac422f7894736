// SPDX-License-Identifier: GPL-2.0
/* class.namespace returns a struct ns_common. */
#include <linux/device/class.h>
#include <linux/module.h>
#include <linux/ns_common.h>

static const struct ns_common *probe_namespace(const struct device *d)
{
	return NULL;
}

static const struct ns_common *(*probe(const struct class *class))(const struct device *d)
{
	return class->namespace;
}

const struct class probe_class = {
	.namespace = probe_namespace,
};

const void *probe_use(void);

const void *probe_use(void)
{
	return probe(&probe_class);
}
MODULE_LICENSE("GPL");
