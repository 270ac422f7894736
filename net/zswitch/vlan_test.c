// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: VLANs of a port, one by one and by ranges, and the VLANs of frames.
 */
#include <kunit/test.h>
#include "vlan.c"

static int zsw_vlan_test_add(struct zsw_vlans *v, u16 *begin, u16 vid, u16 flags)
{
	struct bridge_vlan_info info = { .vid = vid, .flags = flags };

	return zsw_vlan_change(v, &info, begin, true, NULL);
}

static struct zsw_vlans *zsw_vlan_test_new(struct kunit *test)
{
	struct zsw_vlans *v = kunit_kzalloc(test, sizeof(*v), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, v);
	zsw_vlans_init(v);
	return v;
}

static void zsw_vlan_test_ranges(struct kunit *test)
{
	struct zsw_vlans *v = zsw_vlan_test_new(test);
	u16 begin = 0, i;

	KUNIT_EXPECT_EQ(test, zsw_vlan_test_add(v, &begin, 10, BRIDGE_VLAN_INFO_RANGE_BEGIN), 0);
	KUNIT_EXPECT_FALSE(test, test_bit(10, v->member));
	KUNIT_EXPECT_EQ(test, zsw_vlan_test_add(v, &begin, 14, BRIDGE_VLAN_INFO_RANGE_END), 0);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, test_bit(i, v->member), i == 1 || (i >= 10 && i <= 14));
	KUNIT_EXPECT_EQ(test, v->pvid, 1);
	KUNIT_EXPECT_EQ(test, zsw_vlan_range(v, 10), 14);
	KUNIT_EXPECT_EQ(test, zsw_vlan_range(v, 1), 1);
}

/* Each refused change leaves the port as it was. */
static void zsw_vlan_test_refused(struct kunit *test)
{
	struct zsw_vlans *v = zsw_vlan_test_new(test);
	u16 begin = 0;

	KUNIT_EXPECT_NE(test, zsw_vlan_test_add(v, &begin, 0, 0), 0);
	KUNIT_EXPECT_NE(test, zsw_vlan_test_add(v, &begin, 4095, 0), 0);
	KUNIT_EXPECT_NE(test, zsw_vlan_test_add(v, &begin, 9, BRIDGE_VLAN_INFO_RANGE_END), 0);
	KUNIT_EXPECT_NE(test, zsw_vlan_test_add(v, &begin, 9, BRIDGE_VLAN_INFO_RANGE_BEGIN |
						BRIDGE_VLAN_INFO_PVID), 0);
	KUNIT_EXPECT_EQ(test, zsw_vlan_test_add(v, &begin, 9, BRIDGE_VLAN_INFO_RANGE_BEGIN), 0);
	KUNIT_EXPECT_NE(test, zsw_vlan_test_add(v, &begin, 12, BRIDGE_VLAN_INFO_RANGE_END |
						BRIDGE_VLAN_INFO_PVID), 0);
	KUNIT_EXPECT_NE(test, zsw_vlan_test_add(v, &begin, 10, 0), 0);
	KUNIT_EXPECT_NE(test, zsw_vlan_test_add(v, &begin, 8, BRIDGE_VLAN_INFO_RANGE_END), 0);
	KUNIT_EXPECT_EQ(test, v->pvid, 1);
	KUNIT_EXPECT_EQ(test, bitmap_weight(v->member, VLAN_N_VID), 1);
}

static void zsw_vlan_test_pvid(struct kunit *test)
{
	struct zsw_vlans *v = zsw_vlan_test_new(test);
	u16 begin = 0;

	KUNIT_EXPECT_EQ(test, zsw_vlan_test_add(v, &begin, 7, BRIDGE_VLAN_INFO_PVID), 0);
	KUNIT_EXPECT_EQ(test, v->pvid, 7);
	KUNIT_EXPECT_FALSE(test, test_bit(7, v->untagged));
	zsw_vlan_del(v, 7);
	KUNIT_EXPECT_EQ(test, v->pvid, 0);
	KUNIT_EXPECT_TRUE(test, zsw_vlan_egress(v, 1));
	KUNIT_EXPECT_FALSE(test, zsw_vlan_egress(v, 7));
}

/* Return: the frame's VLAN, or -1 if the frame is not taken. */
static int zsw_vlan_test_frame(struct kunit *test, const struct zsw_vlans *v, u16 proto, int tci,
			       u16 tag_proto)
{
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	bool taken;
	u16 vid;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb->protocol = htons(proto);
	if (tci >= 0)
		__vlan_hwaccel_put_tag(skb, htons(tag_proto), tci);
	taken = zsw_vlan_ingress(v, skb, &vid);
	if (taken)
		KUNIT_EXPECT_EQ(test, skb_vlan_tag_get_id(skb), vid);
	kfree_skb(skb);
	return taken ? vid : -1;
}

static void zsw_vlan_test_ingress(struct kunit *test)
{
	struct zsw_vlans *v = zsw_vlan_test_new(test);
	u16 begin = 0;

	zsw_vlan_test_add(v, &begin, 7, 0);
	KUNIT_EXPECT_EQ(test, zsw_vlan_test_frame(test, v, ETH_P_IP, -1, 0), 1);
	KUNIT_EXPECT_EQ(test, zsw_vlan_test_frame(test, v, ETH_P_IP, 7, ETH_P_8021Q), 7);
	KUNIT_EXPECT_EQ(test, zsw_vlan_test_frame(test, v, ETH_P_IP, 8, ETH_P_8021Q), -1);
	/* A priority tag names no VLAN. */
	KUNIT_EXPECT_EQ(test, zsw_vlan_test_frame(test, v, ETH_P_IP, 0xe000, ETH_P_8021Q), 1);
	KUNIT_EXPECT_EQ(test, zsw_vlan_test_frame(test, v, ETH_P_IP, 7, ETH_P_8021AD), -1);
	KUNIT_EXPECT_EQ(test, zsw_vlan_test_frame(test, v, ETH_P_8021Q, 7, ETH_P_8021Q), -1);
	KUNIT_EXPECT_EQ(test, zsw_vlan_test_frame(test, v, ETH_P_8021AD, -1, 0), -1);
	zsw_vlan_del(v, 1);
	KUNIT_EXPECT_EQ(test, zsw_vlan_test_frame(test, v, ETH_P_IP, -1, 0), -1);
}

static struct kunit_case zsw_vlan_cases[] = {
	KUNIT_CASE(zsw_vlan_test_ranges),
	KUNIT_CASE(zsw_vlan_test_refused),
	KUNIT_CASE(zsw_vlan_test_pvid),
	KUNIT_CASE(zsw_vlan_test_ingress),
	{}
};

static struct kunit_suite zsw_vlan_suite = {
	.name		= "zswitch_vlan",
	.test_cases	= zsw_vlan_cases,
};

kunit_test_suite(zsw_vlan_suite);
