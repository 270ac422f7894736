// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a host that chooses all fields of a connection's key cannot choose its hash bucket.
 */
#include <kunit/test.h>
#include "table.c"

#define KEYS	4096	/* as many as the smallest table has buckets */
/* With as many keys as buckets a bucket gets 16 by chance once in 10^10 runs. */
#define MOST	16
#define SEED	0x2545f491

/* Return: length of the longest hash chain of the keys that @set makes of @key. */
static int ndp_table_test_longest(struct kunit *test, struct ndp_key key,
				  void (*set)(struct ndp_key *key, u32 i))
{
	u16 *chain = kunit_kzalloc(test, KEYS * sizeof(*chain), GFP_KERNEL);
	int longest = 0;
	u32 i, at;

	KUNIT_ASSERT_NOT_NULL(test, chain);
	for (i = 0; i < KEYS; i++) {
		set(&key, i);
		at = ndp_key_hash(&key, sizeof(key), SEED) % KEYS;
		longest = max_t(int, longest, ++chain[at]);
	}
	return longest;
}

static void ndp_table_test_id(struct ndp_key *key, u32 i)
{
	key->conn_id = cpu_to_be64((u64)i << 32);
}

static void ndp_table_test_addr4(struct ndp_key *key, u32 i)
{
	ipv6_addr_set_v4mapped(htonl(0x7f000000 + i), &key->initiator);
}

static void ndp_table_test_addr6(struct ndp_key *key, u32 i)
{
	key->initiator.s6_addr32[2] = htonl(i);
}

static void ndp_table_test_iport(struct ndp_key *key, u32 i)
{
	key->iport = htons(i);
}

static void ndp_table_test_aport(struct ndp_key *key, u32 i)
{
	key->aport = htons(i);
}

/* Fields whose changes would cancel out if they were joined by XOR or by addition. */
static void ndp_table_test_two(struct ndp_key *key, u32 i)
{
	key->conn_id = cpu_to_be64(i);
	key->initiator.s6_addr32[3] = htonl(i);
}

static void ndp_table_test_three(struct ndp_key *key, u32 i)
{
	key->conn_id = cpu_to_be64(-(u64)i);
	key->iport = htons(i);
	key->aport = htons(i);
}

static void ndp_table_test_hash(struct kunit *test)
{
	static void (*const sets[])(struct ndp_key *key, u32 i) = {
		ndp_table_test_id, ndp_table_test_addr4, ndp_table_test_addr6,
		ndp_table_test_iport, ndp_table_test_aport, ndp_table_test_two,
		ndp_table_test_three,
	};
	struct ndp_key key = { .net = &init_net, .acceptor = 1 };
	int i, longest;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		longest = ndp_table_test_longest(test, key, sets[i]);
		KUNIT_EXPECT_LT_MSG(test, longest, MOST, "set %d", i);
	}
}

static struct kunit_case ndp_table_cases[] = {
	KUNIT_CASE(ndp_table_test_hash),
	{}
};

static struct kunit_suite ndp_table_suite = {
	.name = "ndp_table",
	.test_cases = ndp_table_cases,
};

kunit_test_suite(ndp_table_suite);
