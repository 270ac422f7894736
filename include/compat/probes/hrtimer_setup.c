// SPDX-License-Identifier: GPL-2.0
/* hrtimer_setup() sets the function too. */
#include <linux/hrtimer.h>
#include <linux/module.h>

void probe(struct hrtimer *timer,
	   enum hrtimer_restart (*fn)(struct hrtimer *timer));

void probe(struct hrtimer *timer,
	   enum hrtimer_restart (*fn)(struct hrtimer *timer))
{
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}
MODULE_LICENSE("GPL");
