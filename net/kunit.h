/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included into every file of a KUnit module by -include (modules.mk).  Such a
 * module is a copy of the module under test and may be loaded beside it: the
 * copy registers nothing, and it has no alias by which it could be loaded, only
 * its own name.
 */
#ifndef _NET_KUNIT_H
#define _NET_KUNIT_H

#include <linux/module.h>

#undef module_init
#define module_init(fn)	static initcall_t __maybe_unused kunit_no_init = fn

#undef module_exit
#define module_exit(fn)	static exitcall_t __maybe_unused kunit_no_exit = fn

#undef MODULE_ALIAS
#define MODULE_ALIAS(name)	MODULE_INFO(original_alias, name)

#endif /* _NET_KUNIT_H */
