// SPDX-License-Identifier: GPL-2.0
/* A packet may be dropped because its socket, of whatever kind, is closed. */
#include <linux/module.h>
#include <linux/skbuff.h>

void probe(struct sk_buff *skb);

void probe(struct sk_buff *skb)
{
	kfree_skb_reason(skb, SKB_DROP_REASON_SOCKET_CLOSE);
}
MODULE_LICENSE("GPL");
