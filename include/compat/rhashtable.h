/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rhashtable_walk_start() for walks that pause and resume.
 *
 * If the table was resized meanwhile, the walk starts over.  Some stable kernels then leave the
 * last entry in the iterator, and the walk continues from it though it may have been freed; these
 * kernels cannot be told apart by an interface, so the entry is cleared on all kernels.
 */
#ifndef _COMPAT_RHASHTABLE_H
#define _COMPAT_RHASHTABLE_H

#include <linux/rhashtable.h>

static inline void compat_rhashtable_walk_start(struct rhashtable_iter *iter)
	__acquires(RCU)
{
	if (rhashtable_walk_start_check(iter) == -EAGAIN)
		iter->p = NULL;
}

#endif /* _COMPAT_RHASHTABLE_H */
