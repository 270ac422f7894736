// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: which cookies and tokens are valid.
 */
#include <kunit/test.h>
#include "cookie.c"

struct ndp_cookie_test {
	struct ndp_net	*nn;
	struct ndp_key	key;
};

static int ndp_cookie_test_init(struct kunit *test)
{
	struct ndp_cookie_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->nn = kunit_kzalloc(test, sizeof(*t->nn), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->nn);
	spin_lock_init(&t->nn->tomb_lock);
	ndp_cookie_net_init(t->nn);
	t->key.conn_id = cpu_to_be64(0x123456789abcdefULL);
	t->key.iport = htons(40000);
	t->key.aport = htons(5000);
	test->priv = t;
	return 0;
}

static bool ndp_cookie_test_good(struct ndp_cookie_test *t, u64 cookie)
{
	struct ndphdr nh = { };

	ndp_hdr_set_cookie(&nh, cookie);
	return ndp_cookie_good(t->nn, &t->key, &nh);
}

static u64 ndp_cookie_test_at(struct ndp_cookie_test *t, u64 at)
{
	return ndp_cookie_value(t->nn, &t->key, at);
}

/* Only the cookie that was given is valid, to the bit, and only for its own connection. */
static void ndp_cookie_test_bits(struct kunit *test)
{
	struct ndp_cookie_test *t = test->priv;
	u64 cookie = ndp_cookie_make(t->nn, &t->key);
	struct ndp_key key = t->key;
	int i;

	KUNIT_EXPECT_TRUE(test, ndp_cookie_test_good(t, cookie));
	KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, 0));
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, cookie ^ BIT_ULL(i)));
	t->key.conn_id ^= cpu_to_be64(1);
	KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, cookie));
	t->key = key;
	t->key.initiator.s6_addr32[3] ^= htonl(1);
	KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, cookie));
	t->key = key;
	t->key.iport ^= htons(1);
	KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, cookie));
	t->key = key;
	t->key.aport ^= htons(1);
	KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, cookie));
	t->key = key;
	KUNIT_EXPECT_TRUE(test, ndp_cookie_test_good(t, cookie));
	ndp_cookie_net_init(t->nn);
	KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, cookie));
}

/* Cookies of the future are invalid, and those of times that are equal modulo 2^16. */
static void ndp_cookie_test_age(struct kunit *test)
{
	struct ndp_cookie_test *t = test->priv;
	u64 now = ndp_cookie_now();

	KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, ndp_cookie_test_at(t, now + 100)));
	KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, ndp_cookie_test_at(t, now + 65536)));
	KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, ndp_cookie_test_at(t, now - 65536)));
	KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, ndp_cookie_test_at(t, 0)));
}

/* A connection that ended without a tombstone invalidates the cookies made until then. */
static void ndp_cookie_test_retire(struct kunit *test)
{
	struct ndp_cookie_test *t = test->priv;
	u64 cookie = ndp_cookie_make(t->nn, &t->key);
	struct ndp_key other = t->key;

	/* A connection id of another class. */
	other.conn_id ^= cpu_to_be64(1);
	ndp_cookie_retire(t->nn, &other, 0);
	KUNIT_EXPECT_TRUE(test, ndp_cookie_test_good(t, cookie));
	ndp_cookie_retire(t->nn, &t->key, 0);
	KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, cookie));
	/* A cookie made later is valid. */
	t->nn->cookie_floor[ndp_cookie_class(&t->key)]--;
	KUNIT_EXPECT_TRUE(test, ndp_cookie_test_good(t, ndp_cookie_make(t->nn, &t->key)));
}

static bool ndp_token_test_good(struct ndp_cookie_test *t, u64 token, bool *stale)
{
	struct ndphdr nh = { };

	ndp_hdr_set_cookie(&nh, token);
	return ndp_token_good(t->nn, &t->key.initiator, &nh, stale);
}

/* A token is valid for all connections of one address, and is no cookie. */
static void ndp_cookie_test_token(struct kunit *test)
{
	struct ndp_cookie_test *t = test->priv;
	u64 token = ndp_token_make(t->nn, &t->key.initiator);
	u64 now = ndp_token_now();
	bool stale;
	int i;

	KUNIT_EXPECT_TRUE(test, ndp_token_test_good(t, token, &stale));
	KUNIT_EXPECT_FALSE(test, stale);
	KUNIT_EXPECT_FALSE(test, ndp_cookie_test_good(t, token));
	KUNIT_EXPECT_FALSE(test, ndp_token_test_good(t, ndp_cookie_make(t->nn, &t->key),
						     &stale));
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_FALSE(test, ndp_token_test_good(t, token ^ BIT_ULL(i), &stale));
	t->key.conn_id ^= cpu_to_be64(1);
	KUNIT_EXPECT_TRUE(test, ndp_token_test_good(t, token, &stale));
	t->key.initiator.s6_addr32[3] ^= htonl(1);
	KUNIT_EXPECT_FALSE(test, ndp_token_test_good(t, token, &stale));
	t->key.initiator.s6_addr32[3] ^= htonl(1);
	/* Tokens of the future and of before the boot are invalid. */
	for (i = 1; i <= 2; i++) {
		token = ndp_token_value(t->nn, &t->key.initiator, i == 1 ? now + 1 : 0);
		KUNIT_EXPECT_FALSE(test, ndp_token_test_good(t, token, &stale));
	}
}

/* A token is renewed in the second half of its lifetime, and invalid after it. */
static void ndp_cookie_test_token_age(struct kunit *test)
{
	struct ndp_cookie_test *t = test->priv;
	const u64 made = 1000;
	u64 token = ndp_token_value(t->nn, &t->key.initiator, made), age;
	bool stale;

	for (age = 0; age <= 2 * NDP_TOKEN_LIFE; age++) {
		KUNIT_EXPECT_EQ(test, age <= NDP_TOKEN_LIFE,
				ndp_token_good_at(t->nn, &t->key.initiator, token, made + age,
						  &stale));
		KUNIT_EXPECT_EQ(test, age > NDP_TOKEN_LIFE / 2, stale);
	}
}

static struct kunit_case ndp_cookie_cases[] = {
	KUNIT_CASE(ndp_cookie_test_bits),
	KUNIT_CASE(ndp_cookie_test_age),
	KUNIT_CASE(ndp_cookie_test_retire),
	KUNIT_CASE(ndp_cookie_test_token),
	KUNIT_CASE(ndp_cookie_test_token_age),
	{}
};

static struct kunit_suite ndp_cookie_suite = {
	.name = "ndp_cookie",
	.init = ndp_cookie_test_init,
	.test_cases = ndp_cookie_cases,
};

kunit_test_suite(ndp_cookie_suite);
