// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: what trimming leaves of a packet, byte for byte (section 3.1).
 */
#include <kunit/test.h>
#include "sch_ndp_trim.c"

static const struct ndpq_params ndpq_trim_test_params = {
	.port = cpu_to_be16(NDP_UDP_PORT),
	.dscp_data = NDP_DSCP_DATA,
	.dscp_trimmed = NDP_DSCP_TRIMMED,
	.dscp_control = NDP_DSCP_CONTROL,
};

/* An IPv4 packet with @len bytes of payload and @ecn. */
static struct sk_buff *ndpq_trim_test_packet(struct kunit *test, unsigned int len, u8 ecn)
{
	unsigned int udp_len = sizeof(struct udphdr) + NDP_HDR_LEN + len;
	struct sk_buff *skb = alloc_skb(256 + udp_len, GFP_KERNEL);
	struct ethhdr *eth;
	struct ndphdr *nh;
	struct udphdr *uh;
	struct iphdr *iph;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, 128);
	eth = skb_put_zero(skb, sizeof(*eth));
	eth->h_proto = htons(ETH_P_IP);
	skb_set_network_header(skb, sizeof(*eth));
	iph = skb_put_zero(skb, sizeof(*iph));
	iph->version = 4;
	iph->ihl = 5;
	iph->tos = NDP_DSCP_DATA << 2 | ecn;
	iph->tot_len = htons(sizeof(*iph) + udp_len);
	iph->frag_off = htons(IP_DF);
	iph->ttl = 17;
	iph->protocol = IPPROTO_UDP;
	iph->saddr = htonl(0x0a000001);
	iph->daddr = htonl(0x0a000002);
	iph->check = ip_fast_csum(iph, iph->ihl);
	uh = skb_put_zero(skb, sizeof(*uh));
	uh->dest = htons(NDP_UDP_PORT);
	uh->len = htons(udp_len);
	uh->check = htons(0x1234);
	nh = skb_put_zero(skb, NDP_HDR_LEN);
	nh->vdt = ndp_hdr_vdt(NDP_DATA, false);
	nh->len = htons(len);
	memset(skb_put(skb, len), 0x5a, len);
	skb->protocol = htons(ETH_P_IP);
	return skb;
}

static void ndpq_trim_test_lengths(struct kunit *test)
{
	static const unsigned int lengths[] = { 1, 2, 47, 1000, 8936 };
	unsigned int kept = ETH_HLEN + sizeof(struct iphdr) + sizeof(struct udphdr) + NDP_HDR_LEN;
	const struct ndphdr *nh;
	struct iphdr *iph;
	struct udphdr *uh;
	struct sk_buff *skb;
	struct ndpq_view v;
	int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		skb = ndpq_trim_test_packet(test, lengths[i], i & 3);
		KUNIT_EXPECT_EQ(test, ndpq_classify(skb, &ndpq_trim_test_params, &v),
				NDP_CLASS_DATA);
		KUNIT_EXPECT_EQ(test, ndpq_trim(skb, &ndpq_trim_test_params), 0);
		KUNIT_EXPECT_EQ(test, skb->len, kept);
		iph = ip_hdr(skb);
		uh = (struct udphdr *)(iph + 1);
		nh = (struct ndphdr *)(uh + 1);
		KUNIT_EXPECT_EQ(test, ntohs(iph->tot_len), kept - ETH_HLEN);
		KUNIT_EXPECT_EQ(test, ip_fast_csum(iph, iph->ihl), 0);
		KUNIT_EXPECT_EQ(test, iph->tos, NDP_DSCP_TRIMMED << 2 | (i & 3));
		KUNIT_EXPECT_EQ(test, iph->ttl, 17);
		KUNIT_EXPECT_EQ(test, ntohs(uh->len), sizeof(*uh) + NDP_HDR_LEN);
		KUNIT_EXPECT_EQ(test, uh->check, 0);
		/* The length field still has the length of the payload. */
		KUNIT_EXPECT_EQ(test, ntohs(nh->len), lengths[i]);
		/* From now on the trimmed packet is a header. */
		KUNIT_EXPECT_EQ(test, ndpq_classify(skb, &ndpq_trim_test_params, &v),
				NDP_CLASS_HEADER);
		kfree_skb(skb);
	}
}

/* Trimming a clone leaves the payload of the original. */
static void ndpq_trim_test_clone(struct kunit *test)
{
	struct sk_buff *skb = ndpq_trim_test_packet(test, 500, 0);
	struct sk_buff *clone = skb_clone(skb, GFP_KERNEL);
	unsigned int len = skb->len;

	KUNIT_ASSERT_NOT_NULL(test, clone);
	KUNIT_EXPECT_EQ(test, ndpq_trim(clone, &ndpq_trim_test_params), 0);
	KUNIT_EXPECT_EQ(test, skb->len, len);
	KUNIT_EXPECT_EQ(test, ntohs(ip_hdr(skb)->tot_len), len - ETH_HLEN);
	KUNIT_EXPECT_EQ(test, skb->data[len - 1], 0x5a);
	KUNIT_EXPECT_EQ(test, ip_hdr(skb)->tos, NDP_DSCP_DATA << 2);
	kfree_skb(clone);
	kfree_skb(skb);
}

/* A packet in the data queue can be trimmed after the port has been changed. */
static void ndpq_trim_test_port(struct kunit *test)
{
	struct sk_buff *skb = ndpq_trim_test_packet(test, 500, 0);
	struct ndpq_params changed = ndpq_trim_test_params;
	struct ndpq_view v;

	changed.port ^= htons(1);
	KUNIT_EXPECT_EQ(test, ndpq_classify(skb, &changed, &v), NDP_CLASS_OTHER);
	KUNIT_EXPECT_EQ(test, ndpq_trim(skb, &changed), 0);
	kfree_skb(skb);
}

/* Packets with a wrong length, and fragments, are other traffic. */
static void ndpq_trim_test_other(struct kunit *test)
{
	struct sk_buff *skb = ndpq_trim_test_packet(test, 500, 0);
	struct ndpq_view v;

	ip_hdr(skb)->tot_len = htons(2000);
	KUNIT_EXPECT_EQ(test, ndpq_classify(skb, &ndpq_trim_test_params, &v), NDP_CLASS_OTHER);
	ip_hdr(skb)->tot_len = htons(skb->len - ETH_HLEN);
	ip_hdr(skb)->frag_off = htons(IP_MF);
	KUNIT_EXPECT_EQ(test, ndpq_classify(skb, &ndpq_trim_test_params, &v), NDP_CLASS_OTHER);
	kfree_skb(skb);
}

static struct kunit_case ndpq_trim_cases[] = {
	KUNIT_CASE(ndpq_trim_test_lengths),
	KUNIT_CASE(ndpq_trim_test_clone),
	KUNIT_CASE(ndpq_trim_test_port),
	KUNIT_CASE(ndpq_trim_test_other),
	{}
};

static struct kunit_suite ndpq_trim_suite = {
	.name = "sch_ndp_trim",
	.test_cases = ndpq_trim_cases,
};

kunit_test_suite(ndpq_trim_suite);
