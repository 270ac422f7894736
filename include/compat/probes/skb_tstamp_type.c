// SPDX-License-Identifier: GPL-2.0
/* A departure time may be in one of several clocks. */
#include <linux/module.h>
#include <linux/skbuff.h>

void probe(struct sk_buff *skb);

void probe(struct sk_buff *skb)
{
	skb_set_delivery_time(skb, 0, SKB_CLOCK_MONOTONIC);
}
MODULE_LICENSE("GPL");
