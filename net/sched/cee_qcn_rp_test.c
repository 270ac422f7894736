// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: how a rate limiter is cut, recovers and is removed, and which frames are one flow.
 */
#include <kunit/test.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include "cee_qcn_rp.c"

#define CEE_RP_TEST_MOST	1250000000ULL	/* 10 Gb/s */
#define CEE_RP_TEST_LEAST	625000ULL
#define CEE_RP_TEST_FRAME	1500

/* Until a stage has passed, another cut leaves the old target in place. */
static void cee_qcn_rp_test_cut(struct kunit *test)
{
	const u64 most = CEE_RP_TEST_MOST;
	struct cee_rp rp = {};
	int i;

	cee_rp_cut(&rp, 32, CEE_RP_TEST_LEAST, most, 1000);
	KUNIT_EXPECT_EQ(test, rp.rate, most - most / 4);
	KUNIT_EXPECT_EQ(test, rp.target, most);
	KUNIT_EXPECT_GE(test, rp.timer, 1000 + CEE_RP_TIME * 85 / 100);
	KUNIT_EXPECT_LE(test, rp.timer, 1000 + CEE_RP_TIME * 115 / 100);
	cee_rp_cut(&rp, 63, CEE_RP_TEST_LEAST, most, 2000);
	KUNIT_EXPECT_EQ(test, rp.rate, 937500000 - 937500000ULL * 63 / 128);
	KUNIT_EXPECT_EQ(test, rp.target, most);
	rp.time_stage = 1;
	cee_rp_cut(&rp, 1, CEE_RP_TEST_LEAST, most, 3000);
	KUNIT_EXPECT_EQ(test, rp.target, 476074219);
	KUNIT_EXPECT_EQ(test, rp.time_stage, 0);
	for (i = 0; i < 40; i++)
		cee_rp_cut(&rp, 63, CEE_RP_TEST_LEAST, most, 4000);
	KUNIT_EXPECT_EQ(test, rp.rate, CEE_RP_TEST_LEAST);
}

/* Five stages of fast recovery halve the way to the target; the sixth raises it. */
static void cee_qcn_rp_test_recovery(struct kunit *test)
{
	const u64 most = CEE_RP_TEST_MOST;
	struct cee_rp rp = { .rate = most / 4, .target = most / 2 };
	u64 rate = rp.rate;
	int i;

	for (i = 1; i <= 5; i++) {
		rp.byte_stage = i;
		KUNIT_EXPECT_TRUE(test, cee_rp_increase(&rp, i, most));
		rate = (rate + most / 2 + 1) / 2;
		KUNIT_EXPECT_EQ(test, rp.rate, rate);
		KUNIT_EXPECT_EQ(test, rp.target, most / 2);
	}
	rp.byte_stage = 6;
	KUNIT_EXPECT_TRUE(test, cee_rp_increase(&rp, 6, most));
	KUNIT_EXPECT_EQ(test, rp.target, most / 2 + 625000);
	/* Both beyond 5: hyper-active increase, by how far the lower stage is beyond */
	rp.byte_stage = 9;
	rp.time_stage = 7;
	KUNIT_EXPECT_TRUE(test, cee_rp_increase(&rp, 9, most));
	KUNIT_EXPECT_EQ(test, rp.target, most / 2 + 625000 + 2 * 6250000);
	/* Recovery ends at the speed of the port. */
	for (i = 0; i < 2000 && cee_rp_increase(&rp, 10, most); i++)
		;
	KUNIT_EXPECT_EQ(test, rp.rate, most);
	KUNIT_EXPECT_LT(test, i, 100);
}

static void cee_qcn_rp_test_far(struct kunit *test)
{
	struct cee_rp rp = { .rate = 1000000, .target = 80000000, .byte_stage = 1 };

	KUNIT_EXPECT_TRUE(test, cee_rp_increase(&rp, 1, CEE_RP_TEST_MOST));
	KUNIT_EXPECT_EQ(test, rp.target, 10000000);
	KUNIT_EXPECT_EQ(test, rp.rate, 5500000);
}

/* The timer alone, without packets: a stage each 15 ms, 7.5 ms from the sixth on. */
static void cee_qcn_rp_test_timer(struct kunit *test)
{
	const u64 most = CEE_RP_TEST_MOST;
	struct cee_rp rp = {};

	cee_rp_cut(&rp, 63, CEE_RP_TEST_LEAST, most, 0);
	KUNIT_EXPECT_TRUE(test, cee_rp_advance(&rp, most, 12 * NSEC_PER_MSEC));
	KUNIT_EXPECT_EQ(test, rp.time_stage, 0);
	KUNIT_EXPECT_TRUE(test, cee_rp_advance(&rp, most, 18 * NSEC_PER_MSEC));
	KUNIT_EXPECT_EQ(test, rp.time_stage, 1);
	rp.target = rp.rate;
	cee_rp_advance(&rp, most, 300 * NSEC_PER_MSEC);
	/* 4 more stages of 15 ms, then (300 - 75) / 7.5; each period is off by 15 % at most */
	KUNIT_EXPECT_GE(test, rp.time_stage, 5 + 20);
	KUNIT_EXPECT_LE(test, rp.time_stage, 5 + 44);
	KUNIT_EXPECT_FALSE(test, cee_rp_advance(&rp, most, 1001 * (u64)NSEC_PER_MSEC));
}

/* The bytes that leave in a second match the rate. */
static void cee_qcn_rp_test_pace(struct kunit *test)
{
	struct cee_config cfg = { .speed = CEE_RP_TEST_MOST, .frame = CEE_RP_TEST_FRAME };
	struct cee_reaction *r = cee_reaction_new();
	u64 now = 1000, wait, bytes = 0;

	KUNIT_ASSERT_NOT_NULL(test, r);
	r->active = 1;
	r->rp[3] = (struct cee_rp) {
		.rate = 1000000, .target = 1000000, .bytes = S64_MAX / 2, .timer = S64_MAX,
		.at = now, .last = now,
	};
	while (now < NSEC_PER_SEC) {
		wait = cee_rp_wait(r, &cfg, 3, now);
		if (wait) {
			KUNIT_ASSERT_GT(test, wait, now);
			now = wait;
			continue;
		}
		cee_rp_sent(r, &cfg, 3, CEE_RP_TEST_FRAME, now);
		bytes += CEE_RP_TEST_FRAME;
	}
	KUNIT_EXPECT_GE(test, bytes, 1000000 - CEE_RP_TEST_FRAME);
	KUNIT_EXPECT_LE(test, bytes, 1000000 + CEE_RP_CREDIT + CEE_RP_TEST_FRAME);
	/* Other flows of the priority are not limited. */
	KUNIT_EXPECT_EQ(test, cee_rp_wait(r, &cfg, 4, now), 0);
	/* A higher rate takes effect at once. */
	cee_rp_sent(r, &cfg, 3, CEE_RP_TEST_FRAME, now);
	wait = cee_rp_wait(r, &cfg, 3, now);
	r->rp[3].rate *= 10;
	KUNIT_EXPECT_LT(test, cee_rp_wait(r, &cfg, 3, now) - now, (wait - now) / 9);
	cee_reaction_stop(r);
	KUNIT_EXPECT_EQ(test, cee_rp_wait(r, &cfg, 3, now), 0);
	kvfree(r);
}

/* Packets that the watchdog drains past the limiter build up no debt. */
static void cee_qcn_rp_test_drain(struct kunit *test)
{
	struct cee_config cfg = { .speed = 1250000000, .frame = CEE_RP_TEST_FRAME };
	struct cee_reaction *r = cee_reaction_new();
	u64 now = NSEC_PER_SEC;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, r);
	cee_rp_cut(&r->rp[3], 63, 625000, cfg.speed, now);
	r->rp[3].rate = 625000;
	r->active = 1;
	for (i = 0; i < 10; i++)
		cee_rp_sent(r, &cfg, 3, CEE_RP_TEST_FRAME, now);
	KUNIT_EXPECT_LE(test, cee_rp_wait(r, &cfg, 3, now),
			now + 2ULL * CEE_RP_TEST_FRAME * NSEC_PER_SEC / 625000 + 1);
	kvfree(r);
}

static u32 cee_qcn_rp_test_tcp(u16 port, u8 ttl, int len)
{
	u8 data[CEE_CNM_MSDU] = {};
	struct iphdr *ip = (struct iphdr *)data;
	struct tcphdr *tcp = (struct tcphdr *)(ip + 1);

	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = ttl;
	ip->protocol = IPPROTO_TCP;
	ip->tot_len = htons(sizeof(data));
	ip->saddr = htonl(0x0a000001);
	ip->daddr = htonl(0x0a000002);
	tcp->source = htons(port);
	tcp->dest = htons(80);
	tcp->doff = 5;
	return cee_rp_hash(&init_net, data, htons(ETH_P_IP), len);
}

/* A frame and its quote have the same flow hash, although a router has changed the TTL. */
static void cee_qcn_rp_test_flow(struct kunit *test)
{
	u32 hash = cee_qcn_rp_test_tcp(1000, 64, 64);

	KUNIT_EXPECT_NE(test, hash, 0);
	KUNIT_EXPECT_EQ(test, cee_qcn_rp_test_tcp(1000, 63, 62), hash);
	KUNIT_EXPECT_NE(test, cee_qcn_rp_test_tcp(1001, 64, 64), hash);
	/* Cut off before the ports: no flow, and no read beyond the end.  ARP is no flow either. */
	KUNIT_EXPECT_EQ(test, cee_qcn_rp_test_tcp(1000, 64, 20), 0);
	KUNIT_EXPECT_EQ(test, cee_qcn_rp_test_tcp(1000, 64, 0), 0);
	KUNIT_EXPECT_EQ(test, cee_rp_hash(&init_net, "arp", htons(ETH_P_ARP), 3), 0);
}

/* Live flows whose hashes share a set are all known; one too many displaces the oldest. */
static void cee_qcn_rp_test_known(struct kunit *test)
{
	struct cee_reaction *r = cee_reaction_new();
	u32 i, hash[CEE_RP_WAYS + 1];

	KUNIT_ASSERT_NOT_NULL(test, r);
	for (i = 0; i <= CEE_RP_WAYS; i++) {
		/* Equal in their lowest bits, as 1 of 1024 pairs of flows are */
		hash[i] = 7 + i * 1024;
		KUNIT_EXPECT_FALSE(test, cee_rp_knows(r, hash[i]));
	}
	for (i = 0; i < 3 * CEE_RP_WAYS; i++)
		cee_rp_remember(r, hash[i % CEE_RP_WAYS]);
	for (i = 0; i < CEE_RP_WAYS; i++)
		KUNIT_EXPECT_TRUE(test, cee_rp_knows(r, hash[i]));
	cee_rp_remember(r, hash[CEE_RP_WAYS]);
	KUNIT_EXPECT_FALSE(test, cee_rp_knows(r, hash[0]));
	for (i = 1; i <= CEE_RP_WAYS; i++)
		KUNIT_EXPECT_TRUE(test, cee_rp_knows(r, hash[i]));
	kvfree(r);
}

static struct kunit_case cee_qcn_rp_cases[] = {
	KUNIT_CASE(cee_qcn_rp_test_cut),
	KUNIT_CASE(cee_qcn_rp_test_recovery),
	KUNIT_CASE(cee_qcn_rp_test_far),
	KUNIT_CASE(cee_qcn_rp_test_timer),
	KUNIT_CASE(cee_qcn_rp_test_pace),
	KUNIT_CASE(cee_qcn_rp_test_drain),
	KUNIT_CASE(cee_qcn_rp_test_flow),
	KUNIT_CASE(cee_qcn_rp_test_known),
	{}
};

static struct kunit_suite cee_qcn_rp_suite = {
	.name = "sch_cee_qcn_rp",
	.test_cases = cee_qcn_rp_cases,
};

kunit_test_suite(cee_qcn_rp_suite);
