// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: accounts, thresholds and headroom.
 */
#include <kunit/test.h>
#include "cee_buffer.c"

static const struct cee_prio_config cee_buffer_test_static = {
	.lossless = true, .eff_xoff = 10000, .eff_gap = 3000, .eff_headroom = 4000,
};

static void cee_buffer_test_fixed(struct kunit *test)
{
	const struct cee_prio_config *p = &cee_buffer_test_static;
	struct cee_domain d = { .buffer = 1000000, .reserved = 4000 };
	struct cee_account a = {};
	bool xoff = false;
	int i;

	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_TRUE(test, cee_account_add(&a, p, &d, 1000, false));
		xoff = cee_want_xoff(&a, p, cee_free(&d), xoff);
		KUNIT_EXPECT_FALSE(test, xoff);
	}
	/* From here on the headroom is charged; it is full after four packets. */
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_TRUE(test, cee_account_add(&a, p, &d, 1000, false));
		xoff = cee_want_xoff(&a, p, cee_free(&d), xoff);
		KUNIT_EXPECT_TRUE(test, xoff);
	}
	KUNIT_EXPECT_FALSE(test, cee_account_add(&a, p, &d, 1, false));
	/* A port that may have received it is charged beyond that; the excess is freed first. */
	KUNIT_EXPECT_TRUE(test, cee_account_add(&a, p, &d, 500, true));
	KUNIT_EXPECT_EQ(test, a.headroom, 4500);
	cee_account_sub(&a, &d, 500);
	KUNIT_EXPECT_EQ(test, a.headroom, 4000);
	KUNIT_EXPECT_EQ(test, d.used, 10000);
	/* XON when the headroom is empty and the shared bytes are down to 7000. */
	for (i = 0; i < 7; i++) {
		KUNIT_EXPECT_TRUE(test, xoff);
		cee_account_sub(&a, &d, 1000);
		xoff = cee_want_xoff(&a, p, cee_free(&d), xoff);
	}
	KUNIT_EXPECT_FALSE(test, xoff);
	KUNIT_EXPECT_EQ(test, a.shared, 7000);
	KUNIT_EXPECT_EQ(test, d.used, 7000);
	cee_account_sub(&a, &d, 7000);
	KUNIT_EXPECT_EQ(test, a.shared + a.headroom, 0);
	KUNIT_EXPECT_EQ(test, d.used, 0);
	KUNIT_EXPECT_EQ(test, a.shared_max, 10000);
	KUNIT_EXPECT_EQ(test, a.headroom_max, 4500);
}

/* n accounts with alpha settle at alpha / (1 + n alpha) of the buffer each. */
static void cee_buffer_test_dynamic(struct kunit *test)
{
	struct cee_prio_config p = {
		.lossless = true, .alpha = TC_CEE_ALPHA_ONE / 2, .eff_gap = 0, .eff_headroom = 4000,
	};
	struct cee_domain d = { .buffer = 1002000, .reserved = 2000 };
	struct cee_account a[4] = {};
	int i, n;

	for (n = 0; n < 2000; n++)
		for (i = 0; i < 4; i++)
			if (!a[i].headroom)
				cee_account_add(&a[i], &p, &d, 1000, false);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_GT(test, a[i].shared, 1000000 / 6 - 2000);
		KUNIT_EXPECT_LE(test, a[i].shared, 1000000 / 6 + 1000);
		KUNIT_EXPECT_TRUE(test, cee_want_xoff(&a[i], &p, cee_free(&d), false));
	}
}

/* A used-up buffer leaves the reserved headroom of all accounts available. */
static void cee_buffer_test_full(struct kunit *test)
{
	const struct cee_prio_config *p = &cee_buffer_test_static;
	struct cee_domain d = { .buffer = 13000, .reserved = 8000 };
	struct cee_account a = {}, b = {};
	int i;

	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_TRUE(test, cee_account_add(&a, p, &d, 1000, false));
	KUNIT_EXPECT_EQ(test, a.headroom, 0);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_TRUE(test, cee_account_add(&a, p, &d, 1000, false));
		KUNIT_EXPECT_TRUE(test, cee_account_add(&b, p, &d, 1000, false));
	}
	KUNIT_EXPECT_EQ(test, a.headroom, 4000);
	KUNIT_EXPECT_EQ(test, b.headroom, 4000);
	KUNIT_EXPECT_EQ(test, d.used, 5000);
	/* If more headroom is reserved than there is buffer, free is 0 and does not wrap. */
	d.reserved = 20000;
	KUNIT_EXPECT_EQ(test, cee_free(&d), 0);
}

static void cee_buffer_test_lossy(struct kunit *test)
{
	struct cee_prio_config p = cee_buffer_test_static;
	struct cee_account a = { .headroom = 1000, .shared = 10000 };

	KUNIT_EXPECT_TRUE(test, cee_want_xoff(&a, &p, 100000, true));
	p.lossless = false;
	KUNIT_EXPECT_FALSE(test, cee_want_xoff(&a, &p, 100000, true));
}

/* XOFF and a frame that is due keep the timer of a port running, but not while it is down. */
static void cee_buffer_test_down(struct kunit *test)
{
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct cee_config *cfg = kunit_kzalloc(test, sizeof(*cfg), GFP_KERNEL);
	struct cee_port *port = kunit_kzalloc(test, sizeof(*port), GFP_KERNEL);
	struct cee_domain d = { .buffer = 1000000 };

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_NOT_NULL(test, cfg);
	KUNIT_ASSERT_NOT_NULL(test, port);
	spin_lock_init(&d.lock);
	cfg->eff_quanta = U16_MAX;
	cfg->speed = 125000000;
	cfg->prio[3] = cee_buffer_test_static;
	port->dev = dev;
	port->domain = &d;
	RCU_INIT_POINTER(port->cfg, cfg);
	cee_account_init(port);
	/* Frames received before it went down wait in another port. */
	port->account[3].shared = 2 * cfg->prio[3].eff_xoff;
	port->xoff = BIT(3);
	port->pending = BIT(3);
	port->refreshing = true;
	KUNIT_EXPECT_EQ(test, cee_refresh(&port->refresh), HRTIMER_NORESTART);
	KUNIT_EXPECT_EQ(test, port->xoff, 0);
	KUNIT_EXPECT_FALSE(test, port->refreshing);
	KUNIT_EXPECT_EQ(test, port->pending, 0);
}

static struct kunit_case cee_buffer_cases[] = {
	KUNIT_CASE(cee_buffer_test_fixed),
	KUNIT_CASE(cee_buffer_test_dynamic),
	KUNIT_CASE(cee_buffer_test_full),
	KUNIT_CASE(cee_buffer_test_lossy),
	KUNIT_CASE(cee_buffer_test_down),
	{}
};

static struct kunit_suite cee_buffer_suite = {
	.name = "sch_cee_buffer",
	.test_cases = cee_buffer_cases,
};

kunit_test_suite(cee_buffer_suite);
