/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit: helpers shared by the suites of paths.
 */
#include <kunit/test.h>
#include "queue.h"

/* A connection with @n paths, whose peer has answered. */
static inline struct ndp_sock *ndp_path_test_sock(struct kunit *test, u16 n)
{
	struct ndp_sock *np = kunit_kzalloc(test, sizeof(*np), GFP_KERNEL);
	struct ndp_peer *peer;

	KUNIT_ASSERT_NOT_NULL(test, np);
	peer = kunit_kzalloc(test, struct_size(peer, path, n), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, peer);
	spin_lock_init(&peer->lock);
	peer->n = n;
	np->peer = peer;
	np->answered = true;
	return np;
}

/* Count how often each path is used in @n rounds. */
static inline void ndp_path_use(struct ndp_sock *np, int n, int *used)
{
	int i;

	np->data_round.pos = 0;
	memset(used, 0, np->peer->n * sizeof(*used));
	for (i = 0; i < n * np->peer->n; i++)
		used[ndp_path_next(np, false, NDP_PATH_PROBE)]++;
}
