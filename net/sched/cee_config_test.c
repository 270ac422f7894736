// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: headroom, thresholds and quanta that are derived from link and MTU.
 */
#include <kunit/test.h>
#include "cee_config.c"

static struct cee_config *cee_config_test_new(struct kunit *test, u64 mbits, u32 mtu, u32 cable)
{
	struct cee_config *cfg = kunit_kzalloc(test, sizeof(*cfg), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cfg);
	cee_config_defaults(cfg);
	cfg->cable = cable;
	cee_config_derive(cfg, mtu, mbits * (1000000 / 8));
	return cfg;
}

/* By hand: 2 x (MTU + 18 + 24) + 84 + 2 x delay x rate, and a ring of two frames for software. */
static void cee_config_test_headroom(struct kunit *test)
{
	static const struct {
		u64 mbits;
		u32 mtu, cable, ring0;
	} t[] = {
		{ 1000, 1500, 1000, 2 * 1542 + 84 + 250 },
		{ 10000, 1500, 1000, 2 * 1542 + 84 + 2500 },
		{ 10000, 9000, 1000, 2 * 9042 + 84 + 2500 },
		{ 40000, 9000, 50000, 2 * 9042 + 84 + 500000 },
		{ 100000, 1500, 0, 2 * 1542 + 84 },
		{ 10000, 1500, 500000, 2 * 1542 + 84 + 1250000 },
	};
	struct cee_config *cfg;
	int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		cfg = cee_config_test_new(test, t[i].mbits, t[i].mtu, t[i].cable);
		KUNIT_EXPECT_EQ(test, cee_headroom(cfg, 0), t[i].ring0);
		KUNIT_EXPECT_EQ(test, cfg->prio[3].eff_headroom, t[i].ring0 + 2 * (t[i].mtu + 42));
		KUNIT_EXPECT_EQ(test, cee_reserve(cfg), cfg->prio[3].eff_headroom);
	}
	cfg->ring = 100000;
	cee_config_derive(cfg, 1500, 1250000000);
	KUNIT_EXPECT_EQ(test, cfg->prio[3].eff_headroom, t[5].ring0 + 100000);
}

static void cee_config_test_quanta(struct kunit *test)
{
	struct cee_config *cfg = cee_config_test_new(test, 10000, 1500, 1000);

	KUNIT_EXPECT_EQ(test, cee_quanta_ns(cfg, 65535), 65535ULL * 512 / 10);
	KUNIT_EXPECT_EQ(test, cfg->eff_quanta, 65535);
	/* 782 quanta last 40 us. */
	cfg->quanta = 782;
	KUNIT_EXPECT_EQ(test, cee_check_quanta(cfg, NULL), 0);
	cfg->quanta = 781;
	KUNIT_EXPECT_EQ(test, cee_check_quanta(cfg, NULL), -EINVAL);
	cfg->quanta = 0;
	KUNIT_EXPECT_EQ(test, cee_check_quanta(cfg, NULL), 0);
	cee_config_derive(cfg, 1500, 125000000);
	KUNIT_EXPECT_EQ(test, cfg->eff_quanta, 19531);
	cee_config_derive(cfg, 1500, 1250000);
	KUNIT_EXPECT_EQ(test, cfg->eff_quanta, 195);
	cee_config_derive(cfg, 1500, CEE_RATE_MIN);
	KUNIT_EXPECT_EQ(test, cfg->eff_quanta, 1);
}

/* The peer counts quanta at the link's speed; it does not know the rate this port is limited to. */
static void cee_config_test_rate(struct kunit *test)
{
	struct cee_config *cfg = cee_config_test_new(test, 10000, 1500, 1000);
	u32 headroom = cee_headroom(cfg, 0);

	cfg->rate = 125000000;
	cee_config_derive(cfg, 1500, 1250000000);
	KUNIT_EXPECT_EQ(test, cee_quanta_ns(cfg, 65535), 65535ULL * 512 / 10);
	KUNIT_EXPECT_EQ(test, cee_headroom(cfg, 0), headroom);
	/* The device does not know its speed, or reports one below the configured rate. */
	cee_config_derive(cfg, 1500, 0);
	KUNIT_EXPECT_EQ(test, cfg->eff_quanta, 19531);
	cee_config_derive(cfg, 1500, 12500000);
	KUNIT_EXPECT_EQ(test, cfg->eff_quanta, 19531);
	cfg->rate = 0;
	cee_config_derive(cfg, 1500, 0);
	KUNIT_EXPECT_EQ(test, cee_headroom(cfg, 0), headroom);
}

static void cee_config_test_thresholds(struct kunit *test)
{
	struct cee_config *cfg = cee_config_test_new(test, 10000, 1500, 1000);
	struct cee_prio_config *p = &cfg->prio[3];

	KUNIT_EXPECT_EQ(test, p->eff_xoff, 97000);
	KUNIT_EXPECT_EQ(test, p->eff_xoff - p->eff_gap, 80834);
	p->xoff = 50000;
	p->xon = 20000;
	cee_config_derive(cfg, 1500, 1250000000);
	KUNIT_EXPECT_EQ(test, p->eff_gap, 30000);
	/* With the largest MTU, XOFF must not be below two frames. */
	p->xoff = 0;
	p->xon = 0;
	cee_config_derive(cfg, 65535, 1250000000);
	KUNIT_EXPECT_EQ(test, p->eff_xoff, 2 * (65535 + 18));
	p->alpha = TC_CEE_ALPHA_ONE;
	cee_config_derive(cfg, 1500, 1250000000);
	KUNIT_EXPECT_EQ(test, p->eff_gap, 2 * 1518);
}

static void cee_config_test_refused(struct kunit *test)
{
	struct cee_config *cfg = cee_config_test_new(test, 10000, 1500, 1000);
	struct cee_prio_config *p = &cfg->prio[3];
	u32 needed = cee_headroom(cfg, 0);

	KUNIT_EXPECT_EQ(test, cee_config_check(cfg, 1 << 20, NULL), 0);
	p->headroom = needed - 1;
	cee_config_derive(cfg, 1500, 1250000000);
	KUNIT_EXPECT_EQ(test, cee_config_check(cfg, 1 << 20, NULL), -EINVAL);
	p->headroom = needed;
	cee_config_derive(cfg, 1500, 1250000000);
	KUNIT_EXPECT_EQ(test, cee_config_check(cfg, 97000 + needed, NULL), 0);
	KUNIT_EXPECT_EQ(test, cee_config_check(cfg, 97000 + needed - 1, NULL), -EINVAL);
	p->xon = 97000;
	cee_config_derive(cfg, 1500, 1250000000);
	KUNIT_EXPECT_EQ(test, cee_config_check(cfg, 1 << 20, NULL), -EINVAL);
	/* Thresholds of a lossy priority are not checked. */
	p->lossless = false;
	cee_config_derive(cfg, 1500, 1250000000);
	KUNIT_EXPECT_EQ(test, cee_config_check(cfg, 1 << 20, NULL), 0);
}

static struct kunit_case cee_config_cases[] = {
	KUNIT_CASE(cee_config_test_headroom),
	KUNIT_CASE(cee_config_test_quanta),
	KUNIT_CASE(cee_config_test_rate),
	KUNIT_CASE(cee_config_test_thresholds),
	KUNIT_CASE(cee_config_test_refused),
	{}
};

static struct kunit_suite cee_config_suite = {
	.name = "sch_cee_config",
	.test_cases = cee_config_cases,
};

kunit_test_suite(cee_config_suite);
