// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: which transports are accepted, and how they are found.
 */
#include <kunit/test.h>
#include "transport.c"

static bool ndp_test_may_send(const struct ndp_sock *np, enum ndp_send what, u32 len)
{
	return true;
}

static struct ndp_transport ndp_test_transport(const char *name, u8 id)
{
	struct ndp_transport tp = { .id = id, .may_send = ndp_test_may_send };

	strscpy(tp.name, name, sizeof(tp.name));
	return tp;
}

static void ndp_transport_test_incomplete(struct kunit *test)
{
	struct ndp_transport tp = ndp_test_transport("", 1);

	KUNIT_EXPECT_EQ(test, -EINVAL, ndp_transport_register(&tp));
	tp = ndp_test_transport("high", NDP_TRANSPORT_IDS);
	KUNIT_EXPECT_EQ(test, -EINVAL, ndp_transport_register(&tp));
	tp = ndp_test_transport("large", 1);
	tp.priv_size = NDP_TRANSPORT_PRIV + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, ndp_transport_register(&tp));
	tp = ndp_test_transport("credit", 1);
	tp.credit = true;
	KUNIT_EXPECT_EQ(test, -EINVAL, ndp_transport_register(&tp));
	tp = ndp_test_transport("mute", 1);
	tp.may_send = NULL;
	KUNIT_EXPECT_EQ(test, -EINVAL, ndp_transport_register(&tp));
}

static void ndp_transport_test_once(struct kunit *test)
{
	struct ndp_transport one = ndp_test_transport("one", 1);
	struct ndp_transport same_name = ndp_test_transport("one", 2);
	struct ndp_transport same_id = ndp_test_transport("other", 1);
	char names[8];

	KUNIT_ASSERT_EQ(test, 0, ndp_transport_register(&one));
	KUNIT_EXPECT_EQ(test, -EEXIST, ndp_transport_register(&same_name));
	KUNIT_EXPECT_EQ(test, -EEXIST, ndp_transport_register(&same_id));
	KUNIT_EXPECT_PTR_EQ(test, &one, ndp_transport_by_id(1));
	KUNIT_EXPECT_NULL(test, ndp_transport_by_id(2));
	KUNIT_EXPECT_NULL(test, ndp_transport_by_id(NDP_TRANSPORT_IDS));
	KUNIT_EXPECT_EQ(test, 3, ndp_transport_names(names, sizeof(names), U32_MAX));
	KUNIT_EXPECT_STREQ(test, "one", names);
	KUNIT_EXPECT_EQ(test, 0, ndp_transport_names(names, sizeof(names), BIT(2)));
	ndp_transport_unregister(&one);
	KUNIT_EXPECT_NULL(test, ndp_transport_by_id(1));
}

static struct kunit_case ndp_transport_cases[] = {
	KUNIT_CASE(ndp_transport_test_incomplete),
	KUNIT_CASE(ndp_transport_test_once),
	{}
};

static struct kunit_suite ndp_transport_suite = {
	.name = "ndp_transport",
	.test_cases = ndp_transport_cases,
};

kunit_test_suite(ndp_transport_suite);
