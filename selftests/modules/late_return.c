// SPDX-License-Identifier: GPL-2.0
/*
 * late_return: a function of the kernel returns later, for tests.
 *
 * Two stores of which another processor may see the first alone lie a few ns apart.  With the first
 * of them at the end of a function, a probe at its return makes that ms, and a test of the race
 * sure.
 *
 * Non-goals: functions that the compiler has inlined; callers that may not spin.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>

/* How much later the function returns: many polls of an emulated processor. */
#define DELAY_MS	2

static char function[64];
module_param_string(function, function, sizeof(function), 0444);
MODULE_PARM_DESC(function, "name of the function");

static unsigned int returns;
module_param(returns, uint, 0444);
MODULE_PARM_DESC(returns, "how often it has returned, if by one processor at a time");

static int late_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	WRITE_ONCE(returns, returns + 1);
	mdelay(DELAY_MS);
	return 0;
}

NOKPROBE_SYMBOL(late_return);

static struct kretprobe probe = {
	.handler	= late_return,
	.kp.symbol_name	= function,
};

static int __init late_return_init(void)
{
	return register_kretprobe(&probe);
}

static void __exit late_return_exit(void)
{
	unregister_kretprobe(&probe);
}

module_init(late_return_init);
module_exit(late_return_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A function of the kernel returns later, for tests");
