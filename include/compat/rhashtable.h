/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rhashtable_walk_start() for walks that stop and go on later.
 *
 * When the table was resized meanwhile the walk begins anew.  Some stable kernels leave the last
 * entry in the iterator then, and walks go on from it though it may be freed by now; no interface
 * tells these kernels from others, so the entry is cleared on all.
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
