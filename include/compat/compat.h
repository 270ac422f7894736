/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one place that knows kernels apart.
 *
 * Forced into every file of every module.  Code is written against the newest
 * kernel's interfaces; what an older kernel lacks is supplied here.  Each
 * COMPAT_HAVE_x comes from compiling include/compat/probes/x.c against the
 * target kernel (probe.mk), never from a version number, because stable
 * kernels carry backports.
 */
#ifndef _COMPAT_COMPAT_H
#define _COMPAT_COMPAT_H

#include <generated/ndp_compat.h>

#endif /* _COMPAT_COMPAT_H */
