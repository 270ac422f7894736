// SPDX-License-Identifier: GPL-2.0
/*
 * sch_ndp: tracepoints.
 */
#include "sch_ndp.h"

#define CREATE_TRACE_POINTS
#include "sch_ndp_trace.h"
