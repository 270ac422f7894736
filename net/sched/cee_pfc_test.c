// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: pause frames to the byte (IEEE 802.3, 31B; 802.1Qbb), and malformed ones.
 */
#include <kunit/test.h>
#include "cee_pfc.c"

static void cee_pfc_test_frame(struct kunit *test)
{
	static const u8 wanted[] = {
		0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x00, 0x2a, 0x88, 0x08,
		0x01, 0x01, 0x00, 0x0a, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 0, 0, 0, 0, 0, 0,
	};
	u8 addr[ETH_ALEN] = { 0x02, 0, 0, 0, 0, 0x2a };
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct sk_buff *skb;

	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev->dev_addr = addr;
	dev->hard_header_len = ETH_HLEN;
	/* Priority 3 pauses, priority 1 may resume. */
	skb = cee_pfc_frame(dev, BIT(3) | BIT(1), BIT(3) | BIT(6), 0x1234);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, skb->len, ETH_ZLEN);
	KUNIT_EXPECT_EQ(test, memcmp(skb->data, wanted, sizeof(wanted)), 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(skb->data + sizeof(wanted), 0,
					   ETH_ZLEN - sizeof(wanted)));
	kfree_skb(skb);
}

static void cee_pfc_test_parse(struct kunit *test)
{
	struct cee_frame f = { .op = htons(CEE_OP_PFC), .mask = htons(0xff81) };
	u16 quanta[CEE_PRIOS];
	unsigned int len;
	int i;

	for (i = 0; i < CEE_PRIOS; i++)
		f.quanta[i] = htons(1000 * i);
	/* The upper half of the mask is reserved and ignored. */
	KUNIT_EXPECT_EQ(test, cee_pfc_parse(&f, 46, quanta), 0x81);
	for (i = 0; i < CEE_PRIOS; i++)
		KUNIT_EXPECT_EQ(test, quanta[i], 1000 * i);
	KUNIT_EXPECT_EQ(test, cee_pfc_parse(&f, sizeof(f), quanta), 0x81);
	for (len = 0; len < sizeof(f); len++)
		KUNIT_EXPECT_EQ(test, cee_pfc_parse(&f, len, quanta), -EINVAL);
	f.op = htons(CEE_OP_PAUSE);
	f.mask = htons(77);
	KUNIT_EXPECT_EQ(test, cee_pfc_parse(&f, 4, quanta), 0xff);
	for (i = 0; i < CEE_PRIOS; i++)
		KUNIT_EXPECT_EQ(test, quanta[i], 77);
	for (len = 0; len < 4; len++)
		KUNIT_EXPECT_EQ(test, cee_pfc_parse(&f, len, quanta), -EINVAL);
	f.op = htons(0x0102);
	KUNIT_EXPECT_EQ(test, cee_pfc_parse(&f, 46, quanta), -EINVAL);
}

static void cee_pfc_test_time(struct kunit *test)
{
	struct cee_pause p = {};

	KUNIT_EXPECT_FALSE(test, cee_pause_set(&p, 1000, 500));
	KUNIT_EXPECT_EQ(test, cee_pfc_paused_ns(&p, 1200), 200);
	KUNIT_EXPECT_EQ(test, cee_pfc_paused_ns(&p, 9000), 500);
	/* XOFF repeated before the pause ends: one pause, no time counted twice */
	KUNIT_EXPECT_FALSE(test, cee_pause_set(&p, 1400, 500));
	KUNIT_EXPECT_EQ(test, p.begun, 1);
	KUNIT_EXPECT_EQ(test, cee_pfc_paused_ns(&p, 1500), 500);
	KUNIT_EXPECT_TRUE(test, cee_pause_set(&p, 1600, 0));
	KUNIT_EXPECT_EQ(test, cee_pfc_paused_ns(&p, 5000), 600);
	/* An XON without a pause does not schedule the dequeue. */
	KUNIT_EXPECT_FALSE(test, cee_pause_set(&p, 1700, 0));
	KUNIT_EXPECT_FALSE(test, cee_pause_set(&p, 2000, 100));
	KUNIT_EXPECT_FALSE(test, cee_pause_set(&p, 3000, 0));
	KUNIT_EXPECT_EQ(test, cee_pfc_paused_ns(&p, 5000), 700);
	KUNIT_EXPECT_EQ(test, p.begun, 2);
	KUNIT_EXPECT_EQ(test, p.xoff, 3);
	KUNIT_EXPECT_EQ(test, p.xon, 3);
	/* The timer of the dequeue was set to the end of a longer pause. */
	KUNIT_EXPECT_FALSE(test, cee_pause_set(&p, 6000, 1000));
	KUNIT_EXPECT_TRUE(test, cee_pause_set(&p, 6100, 10));
}

static struct kunit_case cee_pfc_cases[] = {
	KUNIT_CASE(cee_pfc_test_frame),
	KUNIT_CASE(cee_pfc_test_parse),
	KUNIT_CASE(cee_pfc_test_time),
	{}
};

static struct kunit_suite cee_pfc_suite = {
	.name = "sch_cee_pfc",
	.test_cases = cee_pfc_cases,
};

kunit_test_suite(cee_pfc_suite);
