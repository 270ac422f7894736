// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cee: copies of a frame are charged once.
 *
 * A bridge that does not know where a frame's destination is, or floods a multicast group's,
 * gives each port a clone of the frame.  All clones share the frame's bytes, so the frame is
 * in memory once.  If each clone were charged, the frames that arrive after XOFF would take
 * the headroom times the number of ports to flood.  No headroom formula knows that number, so
 * frames would be lost.  Therefore the first copy that is queued opens a bill, the others join
 * it, and the last one that leaves gives back what the first was charged.
 *
 * Packets are copies of one frame if they have the same skb->head at the same time.  The
 * address cannot become another frame's while a copy waits here: a queued packet is never
 * written to (ECN marks are set when it leaves), so its bytes are not replaced.  The segments
 * of a GSO packet have bytes of their own: they are identified by the head of the GSO packet
 * and their number in it, and the bill holds a reference to the GSO packet so that this
 * address stays in use.
 *
 * A packet that was written to on its way, as a router's multicast is, has bytes of its own
 * and is charged by itself.
 *
 * Locks: cee_bills_lock, alone.
 */
#include <linux/hashtable.h>
#include <linux/slab.h>
#include "cee_queue.h"
#include "sch_cee.h"

/**
 * struct cee_bill - one charge for all copies of a frame
 * @node:	in cee_bills, by @head
 * @head:	skb->head that the copies share, or that of @whole
 * @part:	number of the segment
 * @whole:	GSO packet that the copies are segments of, or NULL
 * @set:	ports that are charged
 * @prio:	priority
 * @len:	bytes charged
 * @copies:	number of copies that wait
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

static DEFINE_HASHTABLE(cee_bills, 12);
static DEFINE_SPINLOCK(cee_bills_lock);

/* Join the bill of a copy that was queued before.  Return: NULL if there is none. */
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
 * @skb:	packet; the charge is recorded in its control block
 * @from:	what was enqueued: the packet itself or its GSO packet
 * @set:	ports that it came in by; owned by the packet on success
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
 * cee_bill_settle() - discharge a packet that leaves its queue
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
