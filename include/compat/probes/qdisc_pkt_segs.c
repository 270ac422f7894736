// SPDX-License-Identifier: GPL-2.0
/* qdisc_skb_cb counts a packet's segments. */
#include <linux/module.h>
#include <net/sch_generic.h>

void probe(struct sk_buff *skb);

void probe(struct sk_buff *skb)
{
	qdisc_skb_cb(skb)->pkt_segs = 1;
}
MODULE_LICENSE("GPL");
