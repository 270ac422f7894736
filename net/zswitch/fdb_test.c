// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: addresses that are learnt, kept, aged out and found.
 */
#include <kunit/test.h>
#include "fdb.c"

static const u8 zsw_fdb_test_addr[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };

/**
 * struct zsw_fdb_test - a switch with two ports, reduced to what the database needs
 * @zsw:	switch
 * @host:	the host's port
 * @a:		first port
 * @b:		second port
 */
struct zsw_fdb_test {
	struct zswitch		zsw;
	struct zswitch_port	host;
	struct zswitch_port	a;
	struct zswitch_port	b;
};

static int zsw_fdb_test_init(struct kunit *test)
{
	struct zsw_fdb_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->zsw.dev = alloc_etherdev(0);
	KUNIT_ASSERT_NOT_NULL(test, t->zsw.dev);
	t->zsw.host = &t->host;
	t->zsw.cfg.fdb_max = 4;
	t->zsw.cfg.ageing = 300;
	t->host.dev = t->zsw.dev;
	t->a.dev = t->zsw.dev;
	t->b.dev = t->zsw.dev;
	test->priv = t;
	return zsw_fdb_init(&t->zsw);
}

static void zsw_fdb_test_exit(struct kunit *test)
{
	struct zsw_fdb_test *t = test->priv;

	zsw_fdb_exit(&t->zsw);
	free_netdev(t->zsw.dev);
}

static void zsw_fdb_test_learn(struct zsw_fdb_test *t, struct zswitch_port *port, u8 last, u16 vid)
{
	u8 addr[ETH_ALEN] = { 2, 0, 0, 0, 0, last };
	struct zsw_dest found;

	local_bh_disable();
	found = zsw_fdb_lookup(&t->zsw, addr, vid);
	if (!found.is_static)
		zsw_fdb_learn(&t->zsw, port, &found, addr, vid);
	local_bh_enable();
}

static struct zswitch_port *zsw_fdb_test_find(struct zsw_fdb_test *t, u8 last, u16 vid)
{
	u8 addr[ETH_ALEN] = { 2, 0, 0, 0, 0, last };

	return zsw_fdb_lookup(&t->zsw, addr, vid).port;
}

static void zsw_fdb_test_learns(struct kunit *test)
{
	struct zsw_fdb_test *t = test->priv;
	int i;

	KUNIT_EXPECT_NULL(test, zsw_fdb_test_find(t, 1, 0));
	zsw_fdb_test_learn(t, &t->a, 1, 0);
	KUNIT_EXPECT_PTR_EQ(test, zsw_fdb_test_find(t, 1, 0), &t->a);
	KUNIT_EXPECT_NULL(test, zsw_fdb_test_find(t, 1, 5));
	zsw_fdb_test_learn(t, &t->b, 1, 0);
	KUNIT_EXPECT_PTR_EQ(test, zsw_fdb_test_find(t, 1, 0), &t->b);
	for (i = 2; i < 20; i++)
		zsw_fdb_test_learn(t, &t->a, i, 0);
	KUNIT_EXPECT_EQ(test, zsw_fdb_count(&t->zsw), 4);
	/* A known address may move while the table is full. */
	zsw_fdb_test_learn(t, &t->b, 3, 0);
	KUNIT_EXPECT_PTR_EQ(test, zsw_fdb_test_find(t, 3, 0), &t->b);
	KUNIT_EXPECT_NULL(test, zsw_fdb_test_find(t, 19, 0));
	zsw_fdb_flush(&t->zsw, &t->b);
	KUNIT_EXPECT_EQ(test, zsw_fdb_count(&t->zsw), 2);
	KUNIT_EXPECT_EQ(test, t->zsw.fdb_learnt, 2);
	KUNIT_EXPECT_NULL(test, zsw_fdb_test_find(t, 3, 0));
	KUNIT_EXPECT_PTR_EQ(test, zsw_fdb_test_find(t, 2, 0), &t->a);
}

static void zsw_fdb_test_static(struct kunit *test)
{
	struct zsw_fdb_test *t = test->priv;
	const u8 *addr = zsw_fdb_test_addr;

	KUNIT_EXPECT_EQ(test, zsw_fdb_set(&t->zsw, &t->a, addr, 0, true, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, zsw_fdb_set(&t->zsw, &t->a, addr, 0, true, NLM_F_CREATE), 0);
	KUNIT_EXPECT_EQ(test, zsw_fdb_set(&t->zsw, &t->b, addr, 0, true, NLM_F_EXCL), -EEXIST);
	zsw_fdb_test_learn(t, &t->b, 1, 0);
	KUNIT_EXPECT_PTR_EQ(test, zsw_fdb_test_find(t, 1, 0), &t->a);
	KUNIT_EXPECT_TRUE(test, zsw_fdb_lookup(&t->zsw, addr, 0).is_static);
	zsw_fdb_flush_learnt(&t->zsw);
	KUNIT_EXPECT_EQ(test, zsw_fdb_count(&t->zsw), 1);
	KUNIT_EXPECT_EQ(test, zsw_fdb_remove(&t->zsw, addr, 0), 0);
	KUNIT_EXPECT_EQ(test, zsw_fdb_remove(&t->zsw, addr, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, t->zsw.fdb_learnt, 0);
}

/* A static address without a VLAN is in all VLANs, and no learnt entry hides it. */
static void zsw_fdb_test_any_vlan(struct kunit *test)
{
	struct zsw_fdb_test *t = test->priv;
	const u8 *addr = zsw_fdb_test_addr;

	zsw_fdb_test_learn(t, &t->b, 1, 10);
	zsw_fdb_test_learn(t, &t->b, 1, 11);
	zsw_fdb_test_learn(t, &t->b, 2, 10);
	KUNIT_EXPECT_EQ(test, zsw_fdb_set(&t->zsw, &t->a, addr, 0, true, NLM_F_CREATE), 0);
	KUNIT_EXPECT_EQ(test, zsw_fdb_count(&t->zsw), 2);
	KUNIT_EXPECT_PTR_EQ(test, zsw_fdb_test_find(t, 1, 10), &t->a);
	zsw_fdb_test_learn(t, &t->b, 1, 12);
	KUNIT_EXPECT_PTR_EQ(test, zsw_fdb_test_find(t, 1, 12), &t->a);
	/* A static entry for a VLAN takes precedence there. */
	KUNIT_EXPECT_EQ(test, zsw_fdb_set(&t->zsw, &t->b, addr, 12, true, NLM_F_CREATE), 0);
	KUNIT_EXPECT_PTR_EQ(test, zsw_fdb_test_find(t, 1, 12), &t->b);
	/* An entry that is not static is in no other VLAN. */
	zsw_fdb_test_learn(t, &t->a, 3, 0);
	KUNIT_EXPECT_NULL(test, zsw_fdb_test_find(t, 3, 10));
}

static void zsw_fdb_test_ageing(struct kunit *test)
{
	struct zsw_fdb_test *t = test->priv;
	struct zsw_fdb_entry *e;

	zsw_fdb_test_learn(t, &t->a, 1, 0);
	zsw_fdb_test_learn(t, &t->a, 2, 0);
	zsw_fdb_set(&t->zsw, &t->a, (const u8[]) { 2, 0, 0, 0, 0, 3 }, 0, true, NLM_F_CREATE);
	hlist_for_each_entry(e, &t->zsw.fdb_list, node)
		e->used = jiffies - 301 * HZ;
	zsw_fdb_test_learn(t, &t->a, 2, 0);
	zsw_fdb_forget(&t->zsw, &(struct zsw_fdb_filter) { .unused = 300 * HZ });
	KUNIT_EXPECT_NULL(test, zsw_fdb_test_find(t, 1, 0));
	KUNIT_EXPECT_PTR_EQ(test, zsw_fdb_test_find(t, 2, 0), &t->a);
	KUNIT_EXPECT_PTR_EQ(test, zsw_fdb_test_find(t, 3, 0), &t->a);
}

static struct kunit_case zsw_fdb_cases[] = {
	KUNIT_CASE(zsw_fdb_test_learns),
	KUNIT_CASE(zsw_fdb_test_static),
	KUNIT_CASE(zsw_fdb_test_any_vlan),
	KUNIT_CASE(zsw_fdb_test_ageing),
	{}
};

static struct kunit_suite zsw_fdb_suite = {
	.name		= "zswitch_fdb",
	.init		= zsw_fdb_test_init,
	.exit		= zsw_fdb_test_exit,
	.test_cases	= zsw_fdb_cases,
};

kunit_test_suite(zsw_fdb_suite);
