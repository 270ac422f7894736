// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: copies of a frame are charged once.
 *
 * A bridge that does not know where a frame's destination is, or floods a group's, gives each
 * port a clone of it.  All of them share the frame's bytes, so the frame is in memory once.
 * If each were charged, what arrives after XOFF would take as many times the headroom as there
 * are ports to flood, and no formula for the headroom knows that number: frames would be lost.
 * So the first copy that is queued opens a bill, others join it, and the last one that leaves
 * gives back what the first was charged.
 *
 * Packets are copies of one frame if they have the same skb->head at the same time.  The
 * address is not another frame's as long as a copy waits here, for nobody writes to a packet
 * in a queue (ECN marks are set when it leaves) and so none gets other bytes.  The segments of
 * a GSO packet have bytes of their own: they are told by those of the GSO packet and their
 * number in it, and the bill holds the GSO packet for the sake of its address.
 *
 * What was written to on its way is a copy with bytes of its own, and is charged by itself:
 * a router's multicast, for one.
 *
 * Locks: cee_bills_lock, alone.
 */
#include <linux/hashtable.h>
#include <linux/slab.h>
#include "cee_queue.h"
#include "sch_cee.h"

/**
 * struct cee_bill - what copies of a frame are charged together
 * @node:	by @head
 * @head:	bytes that they share
 * @part:	number of the segment
 * @whole:	GSO packet that they are segments of, or NULL
 * @set:	what is charged
 * @prio:	priority
 * @len:	bytes
 * @copies:	that wait
 */
struct cee_bill {
	struct hlist_node	node;
	const void		*head;
	unsigned int		part;
	struct sk_buff		*whole;
	struct cee_set		*set;
	unsigned int		prio;
	u32			len;
	unsigned int		copies;
};

static DEFINE_HASHTABLE(cee_bills, 8);
static DEFINE_SPINLOCK(cee_bills_lock);

/* Join the bill of a copy that was here before.  Return: NULL if there is none. */
static struct cee_bill *cee_bill_join(const struct cee_origin *from, const struct cee_set *set,
				      unsigned int prio)
{
	const void *head = from->skb->head;
	struct cee_bill *bill;

	spin_lock(&cee_bills_lock);
	hash_for_each_possible(cee_bills, bill, node, (unsigned long)head) {
		if (bill->head == head && bill->part == from->part && bill->set == set &&
		    bill->prio == prio) {
			bill->copies++;
			goto out;
		}
	}
	bill = NULL;
out:
	spin_unlock(&cee_bills_lock);
	return bill;
}

static struct cee_bill *cee_bill_open(const struct cee_origin *from, struct cee_set *set,
				      unsigned int prio, u32 len)
{
	struct cee_bill *bill = kmalloc(sizeof(*bill), GFP_ATOMIC);

	if (!bill)
		return NULL;
	*bill = (struct cee_bill) {
		.head	= from->skb->head,
		.part	= from->part,
		.whole	= skb_is_gso(from->skb) ? skb_get(from->skb) : NULL,
		.set	= set,
		.prio	= prio,
		.len	= len,
		.copies	= 1,
	};
	spin_lock(&cee_bills_lock);
	hash_add(cee_bills, &bill->node, (unsigned long)bill->head);
	spin_unlock(&cee_bills_lock);
	return bill;
}

/**
 * cee_bill_charge() - charge a packet, or have it join a copy that is charged
 * @skb:	packet, with its control block, which will know
 * @from:	what it comes from
 * @set:	ports that it came in by; the packet's on success
 * @prio:	priority
 * @len:	bytes
 *
 * Without memory for a bill the packet is charged by itself.
 *
 * Context: the root lock.
 * Return: false if there is no room.
 */
bool cee_bill_charge(struct sk_buff *skb, const struct cee_origin *from, struct cee_set *set,
		     unsigned int prio, u32 len)
{
	bool copied = skb_cloned(from->skb);
	struct cee_bill *bill = copied ? cee_bill_join(from, set, prio) : NULL;

	if (bill)
		cee_set_put(set);
	else if (!cee_charge(set, prio, len))
		return false;
	else if (copied)
		bill = cee_bill_open(from, set, prio, len);
	cee_cb(skb)->billed = !!bill;
	if (bill)
		cee_cb(skb)->bill = bill;
	else
		cee_cb(skb)->set = set;
	return true;
}

static void cee_bill_leave(struct cee_bill *bill)
{
	bool last;

	spin_lock(&cee_bills_lock);
	last = !--bill->copies;
	if (last)
		hash_del(&bill->node);
	spin_unlock(&cee_bills_lock);
	if (!last)
		return;
	cee_uncharge(bill->set, bill->prio, bill->len);
	cee_set_put(bill->set);
	consume_skb(bill->whole);
	kfree(bill);
}

/**
 * cee_bill_settle() - a packet leaves its queue
 * @skb:	packet, with its control block
 * @prio:	priority
 *
 * Context: the root lock.
 */
void cee_bill_settle(const struct sk_buff *skb, unsigned int prio)
{
	const struct cee_cb *cb = cee_cb(skb);

	if (cb->billed) {
		cee_bill_leave(cb->bill);
	} else if (cb->set) {
		cee_uncharge(cb->set, prio, qdisc_pkt_len(skb));
		cee_set_put(cb->set);
	}
}
