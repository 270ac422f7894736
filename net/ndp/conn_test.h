/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit: a connection that has received all packets below a PSN.
 */
#ifndef _NDP_CONN_TEST_H
#define _NDP_CONN_TEST_H

#include <kunit/test.h>
#include "conn.h"

static inline struct ndp_sock *ndp_test_sock(struct kunit *test, u32 rcv_nxt)
{
	struct ndp_sock *np = kunit_kzalloc(test, sizeof(*np), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, np);
	np->ooo = RB_ROOT;
	np->rcv_nxt = rcv_nxt;
	np->rcv_max = rcv_nxt - 1;
	return np;
}

#endif /* _NDP_CONN_TEST_H */
