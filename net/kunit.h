/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forced into every file of a KUnit module (modules.mk), which is a copy of the
 * module under test and may be loaded beside it: the copy registers nothing,
 * and nothing but its own name loads it.
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
