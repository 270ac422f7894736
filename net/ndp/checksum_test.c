// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: checksums of headers and of payloads in all kinds of skbs, against those of the
 * same bytes in one buffer.
 */
#include <kunit/test.h>
#include "checksum.c"

#define NDP_CHECKSUM_TEST_HEAD	100
#define NDP_CHECKSUM_TEST_PAGE	3000
#define NDP_CHECKSUM_TEST_PAGES	3

static void ndp_checksum_test_frag(struct kunit *test, struct sk_buff *skb)
{
	/* Allocate two pages, of which the fragment has a part of each. */
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_COMP, 1);
	u32 off = PAGE_SIZE - 1000;

	KUNIT_ASSERT_NOT_NULL(test, page);
	get_random_bytes(page_address(page) + off, NDP_CHECKSUM_TEST_PAGE);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, off, NDP_CHECKSUM_TEST_PAGE,
			2 * PAGE_SIZE);
}

static struct sk_buff *ndp_checksum_test_skb(struct kunit *test, int frags)
{
	struct sk_buff *skb = alloc_skb(NDP_CHECKSUM_TEST_HEAD, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	get_random_bytes(skb_put(skb, NDP_CHECKSUM_TEST_HEAD), NDP_CHECKSUM_TEST_HEAD);
	while (frags--)
		ndp_checksum_test_frag(test, skb);
	return skb;
}

/* Check all parts that begin and end near a border of the head or a fragment. */
static void ndp_checksum_test_parts(struct kunit *test, struct sk_buff *skb)
{
	static const int borders[] = {
		0, NDP_CHECKSUM_TEST_HEAD,
		NDP_CHECKSUM_TEST_HEAD + NDP_CHECKSUM_TEST_PAGE,
		NDP_CHECKSUM_TEST_HEAD + 2 * NDP_CHECKSUM_TEST_PAGE,
		NDP_CHECKSUM_TEST_HEAD + 3 * NDP_CHECKSUM_TEST_PAGE,
	};
	u8 *data = kunit_kzalloc(test, skb->len, GFP_KERNEL);
	int from, to, i, j, d, tried = 0;

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_EQ(test, skb_copy_bits(skb, 0, data, skb->len), 0);
	for (i = 0; i < ARRAY_SIZE(borders); i++)
		for (j = i; j < ARRAY_SIZE(borders); j++)
			for (d = 0; d < 9; d++) {
				from = borders[i] + d % 3 - 1;
				to = borders[j] + d / 3 - 1;
				if (from < 0 || to < from || to > skb->len)
					continue;
				tried++;
				KUNIT_EXPECT_EQ(test, ndp_skb_crc(skb, from, to - from),
						~crc32c(~0U, data + from, to - from));
			}
	KUNIT_EXPECT_GT(test, tried, 3);
}

static void ndp_checksum_test_linear(struct kunit *test)
{
	struct sk_buff *skb = ndp_checksum_test_skb(test, 0);

	ndp_checksum_test_parts(test, skb);
	kfree_skb(skb);
}

static void ndp_checksum_test_pages(struct kunit *test)
{
	struct sk_buff *skb = ndp_checksum_test_skb(test, NDP_CHECKSUM_TEST_PAGES);

	ndp_checksum_test_parts(test, skb);
	/* Like the send queue's copy: no data in the head. */
	skb_pull(skb, NDP_CHECKSUM_TEST_HEAD);
	ndp_checksum_test_parts(test, skb);
	kfree_skb(skb);
}

static void ndp_checksum_test_list(struct kunit *test)
{
	struct sk_buff *skb = ndp_checksum_test_skb(test, 1);
	struct sk_buff *next = ndp_checksum_test_skb(test, 2);

	skb_shinfo(skb)->frag_list = next;
	skb->len += next->len;
	skb->data_len += next->len;
	skb->truesize += next->truesize;
	ndp_checksum_test_parts(test, skb);
	kfree_skb(skb);
}

/* A length beyond the end of the skb gives some CRC, and nothing is read beyond the end. */
static void ndp_checksum_test_short(struct kunit *test)
{
	struct sk_buff *skb = ndp_checksum_test_skb(test, NDP_CHECKSUM_TEST_PAGES);

	KUNIT_EXPECT_EQ(test, ndp_skb_crc(skb, 5, skb->len + 5000),
			ndp_skb_crc(skb, 5, skb->len - 5));
	kfree_skb(skb);
}

/* The computed checksum makes a header valid, and one flipped bit makes it invalid. */
static void ndp_checksum_test_header(struct kunit *test)
{
	struct in6_addr saddr, daddr;
	struct ndphdr nh;
	int i, bit;
	__wsum sum;

	for (i = 0; i < 1000; i++) {
		get_random_bytes(&nh, sizeof(nh));
		get_random_bytes(&saddr, sizeof(saddr));
		get_random_bytes(&daddr, sizeof(daddr));
		/* All ones, so that carries propagate through all words. */
		if (i % 4 == 1)
			memset(&nh, 0xff, sizeof(nh));
		if (i % 4 == 2)
			memset(&saddr, 0xff, sizeof(saddr));
		nh.check = 0;
		sum = csum_partial(&nh, sizeof(nh), 0);
		sum = csum_partial(&saddr, sizeof(saddr), sum);
		sum = csum_partial(&daddr, sizeof(daddr), sum);
		nh.check = ndp_ip_checksum(&nh, &saddr, &daddr);
		KUNIT_EXPECT_EQ(test, (__force u16)nh.check, (__force u16)csum_fold(sum));
		KUNIT_EXPECT_EQ(test, (__force u16)ndp_ip_checksum(&nh, &saddr, &daddr), 0);
		bit = get_random_u32() % (8 * sizeof(nh));
		((u8 *)&nh)[bit / 8] ^= 1 << bit % 8;
		KUNIT_EXPECT_NE(test, (__force u16)ndp_ip_checksum(&nh, &saddr, &daddr), 0);
	}
}

static struct kunit_case ndp_checksum_cases[] = {
	KUNIT_CASE(ndp_checksum_test_linear),
	KUNIT_CASE(ndp_checksum_test_pages),
	KUNIT_CASE(ndp_checksum_test_list),
	KUNIT_CASE(ndp_checksum_test_short),
	KUNIT_CASE(ndp_checksum_test_header),
	{}
};

static struct kunit_suite ndp_checksum_suite = {
	.name = "ndp_checksum",
	.test_cases = ndp_checksum_cases,
};

kunit_test_suite(ndp_checksum_suite);
