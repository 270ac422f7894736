// SPDX-License-Identifier: GPL-2.0
/*
 * zvtap: the queues of virtual machines, each an open descriptor of /dev/tapN.
 *
 * Towards the guest.  A queue of the tap library is a ring of frames, which loses what
 * finds it full.  A frame is put there against credit only (zVALE's output side: a frame
 * moves when the next place has room; D. Crisan's thesis, ETH Zurich 2014, Algorithm
 * 4.1).  That a frame has left the ring gives none back: vhost takes 64 at a time into an
 * array of its own and may put them back.  What does is the frame's destructor, which
 * runs when it was copied to the guest, or was thrown away.  The frame's own destructor
 * is called there as well, so that its sender pays for it up to then.
 *
 * Towards the switch.  Frames of a guest are charged to the queue's socket until their
 * receivers have them; when the send buffer is full, vhost and QEMU wait for room.  QEMU
 * sets a send buffer without limit, by which vhost also sends frames that belong to no
 * socket.  So the buffer is cut back to ZVTAP_SNDBUF when the queue opens, when the guest's
 * offloads are set, which follows after QEMU's setting, and with each frame; and frames
 * without a socket are charged here.  Nothing of it drops a frame but ZVTAP_UNPAID.
 *
 * Life.  A struct zvtap_queue is made when the descriptor opens and refers to the tap
 * library's queue, whose ring holds frames with our destructor.  The library tells nobody
 * when a descriptor is closed: zvtap_look() looks each tenth of a second, as long as there
 * are queues.  One that was closed, or is not in use, loses what is in its ring, so that
 * the senders get their memory back.  Who may still refer to a closed one:
 *
 *  - NAPI, which has found it before: an RCU reader.
 *  - A frame in the ring, which is emptied after a grace period, when nothing is put there
 *    any more; or in the hands of vhost or of a reader, which have the file open: if the
 *    device was deleted meanwhile, the queue stays until they have done with it.
 *  - A destructor that runs elsewhere: an RCU reader.
 *
 * A file that is open holds the module (by the character device), and zvtap_queues_exit()
 * looks once more, so no destructor is left when the module goes.
 *
 * Context.  The destructor runs wherever a packet is freed: in processes, in softirqs, and
 * with interrupts off under the ring's locks when it is resized.
 */
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include "zvtap.h"

/* What a queue may have on its way: below a switch's share for one output by default */
#define ZVTAP_SNDBUF	(256 << 10)

/*
 * Memory that frames without a socket may take, for each queue.  A queue that waits for room as it
 * shall has sent vhost's batch, or the fragments of one datagram, which are less.  But a guest may
 * say that a datagram's fragments have a byte each, and they exist before anybody can wait.
 */
#define ZVTAP_UNPAID	(2 * ZVTAP_SNDBUF)

#define ZVTAP_LOOK	(HZ / 10)

/* What the tap library can always carry, offered or not */
#define ZVTAP_ALWAYS	(NETIF_F_GSO | NETIF_F_SG | NETIF_F_FRAGLIST)

/**
 * struct zvtap_queue - an open descriptor
 * @node:	in the list of all
 * @q:		the tap library's, on whose socket it has a reference
 * @credits:	frames that may be out
 * @out:	frames in the ring, or taken off and not yet with the guest
 * @starved:	NAPI waits for @out to fall
 */
struct zvtap_queue {
	struct list_head	node;
	struct tap_queue	*q;
	int			credits;
	atomic_t		out;
	bool			starved;
};

/**
 * struct zvtap_cb - what a frame in a ring knows
 * @zq:		whose ring
 * @destructor:	its own, or NULL
 * @lost:	it is thrown away
 */
struct zvtap_cb {
	struct zvtap_queue	*zq;
	void			(*destructor)(struct sk_buff *skb);
	bool			lost;
};

static LIST_HEAD(zvtap_queues);
/* Outside of RTNL */
static DEFINE_MUTEX(zvtap_queues_lock);
static const struct file_operations *zvtap_tap_fops;

static void zvtap_look(struct work_struct *work);
static DECLARE_DELAYED_WORK(zvtap_look_work, zvtap_look);

static struct zvtap_cb *zvtap_cb(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct zvtap_cb) > sizeof_field(struct sk_buff, cb));
	return (struct zvtap_cb *)skb->cb;
}

static void zvtap_clamp(struct sock *sk)
{
	if (READ_ONCE(sk->sk_sndbuf) > ZVTAP_SNDBUF)
		WRITE_ONCE(sk->sk_sndbuf, ZVTAP_SNDBUF);
}

/**
 * zvtap_clamp_all() - bound the send buffers of all queues in use
 * @v:	device
 *
 * Context: any.
 */
void zvtap_clamp_all(struct zvtap *v)
{
	struct tap_queue *q;
	int i;

	rcu_read_lock();
	for (i = 0; i < min(READ_ONCE(v->tap.numvtaps), MAX_TAP_QUEUES); i++) {
		q = rcu_dereference(v->tap.taps[i]);
		if (q)
			zvtap_clamp(&q->sk);
	}
	rcu_read_unlock();
}

/**
 * zvtap_charge() - see to it that a frame is charged to a queue
 * @v:		device that sends it
 * @skb:	frame
 *
 * A queue's socket is of no family.  Frames of another socket are the host's own, which
 * has no business here: the device is the guest's.
 *
 * Context: RCU.
 * Return: whether it is a guest's frame, and there is room for it.
 */
bool zvtap_charge(struct zvtap *v, struct sk_buff *skb)
{
	struct tap_queue *q;

	if (skb->sk) {
		if (skb->sk->sk_family != AF_UNSPEC)
			return false;
		zvtap_clamp(skb->sk);
		return true;
	}
	/* By vhost without limit, or a part of a larger one that was charged. */
	q = rcu_dereference(v->tap.taps[0]);
	if (!q || sk_wmem_alloc_get(&q->sk) > max(READ_ONCE(v->tap.numvtaps), 1) * ZVTAP_UNPAID)
		return false;
	zvtap_clamp_all(v);
	skb_set_owner_w(skb, &q->sk);
	return true;
}

/**
 * zvtap_select() - the queue that a frame goes to
 * @v:		device
 * @skb:	frame
 *
 * As the tap library does: by flow, so that each stays in order.
 *
 * Context: RCU.
 * Return: queue, or NULL if none is in use.
 */
struct zvtap_queue *zvtap_select(struct zvtap *v, struct sk_buff *skb)
{
	int n = READ_ONCE(v->tap.numvtaps);
	struct tap_queue *q;

	if (n < 1)
		return NULL;
	q = rcu_dereference(v->tap.taps[n > 1 ? skb_get_hash(skb) % n : 0]);
	return q ? rcu_dereference_sk_user_data(&q->sk) : NULL;
}

/**
 * zvtap_features() - what of a frame a queue takes unfinished
 * @v:	device
 * @zq:	queue, or NULL
 *
 * Context: RCU.
 * Return: features, as of a device that sends.
 */
netdev_features_t zvtap_features(const struct zvtap *v, const struct zvtap_queue *zq)
{
	if (zq && READ_ONCE(zq->q->flags) & IFF_VNET_HDR)
		return ZVTAP_ALWAYS | READ_ONCE(v->tap.tap_features);
	return ZVTAP_ALWAYS;
}

/* Context: RCU.  Return: the device of a queue, or NULL if it or the queue is gone. */
static struct zvtap *zvtap_of(const struct zvtap_queue *zq)
{
	struct tap_dev *tap = rcu_dereference(zq->q->tap);

	return tap ? container_of(tap, struct zvtap, tap) : NULL;
}

static void zvtap_consumed(struct sk_buff *skb)
{
	const struct zvtap_cb *cb = zvtap_cb(skb);
	struct zvtap_queue *zq = cb->zq;
	unsigned long flags;
	struct zvtap *v;

	if (cb->destructor)
		cb->destructor(skb);
	rcu_read_lock();
	v = zvtap_of(zq);
	if (v && cb->lost) {
		dev_core_stats_rx_dropped_inc(v->dev);
	} else if (v) {
		/* Each processor has counters, and a process that reads may be moved to another. */
		local_irq_save(flags);
		dev_sw_netstats_rx_add(v->dev, skb->len);
		local_irq_restore(flags);
	}
	/* Half of them at once: NAPI is not run for each frame.  Pairs with zvtap_credit(). */
	if (atomic_dec_return(&zq->out) <= zq->credits / 2 && READ_ONCE(zq->starved) && v)
		zvtap_schedule(v);
	rcu_read_unlock();
}

static bool zvtap_credit(struct zvtap_queue *zq)
{
	if (atomic_read(&zq->out) < zq->credits) {
		WRITE_ONCE(zq->starved, false);
		return true;
	}
	WRITE_ONCE(zq->starved, true);
	/* One of the two sees what the other has done. */
	smp_mb();
	return atomic_read(&zq->out) <= zq->credits / 2;
}

/**
 * zvtap_produce() - put a frame into a queue's ring
 * @zq:		queue
 * @skb:	frame, its data at the MAC header; if it is taken, do not touch it any more
 *
 * Context: NAPI, RCU.
 * Return: false if there is no credit; NAPI is scheduled when there is.
 */
bool zvtap_produce(struct zvtap_queue *zq, struct sk_buff *skb)
{
	struct zvtap_cb *cb = zvtap_cb(skb);
	struct tap_queue *q = zq->q;

	if (!zvtap_credit(zq))
		return false;
	*cb = (struct zvtap_cb) { .zq = zq, .destructor = skb->destructor };
	skb->destructor = zvtap_consumed;
	atomic_inc(&zq->out);
	/* There are less credits than places. */
	if (WARN_ON_ONCE(ptr_ring_produce(&q->ring, skb)))
		kfree_skb(skb);
	wake_up_interruptible_poll(sk_sleep(&q->sk), EPOLLIN | EPOLLRDNORM | EPOLLRDBAND);
	return true;
}

/* Throw away what is in a ring. */
static void zvtap_empty(struct zvtap_queue *zq)
{
	struct sk_buff *skb;

	while ((skb = ptr_ring_consume_bh(&zq->q->ring))) {
		zvtap_cb(skb)->lost = true;
		kfree_skb(skb);
	}
}

static bool zvtap_closed(const struct zvtap_queue *zq)
{
	return !rcu_access_pointer(zq->q->tap);
}

/* Is it attached to its device, and not in use?  Then nobody reads it. */
static bool zvtap_idle(const struct zvtap_queue *zq)
{
	return !READ_ONCE(zq->q->enabled);
}

/*
 * Of a queue whose device was deleted, vhost may have frames in hand as long as the file is
 * open: it stays.  Context: zvtap_queues_lock.
 */
static void zvtap_free_closed(struct list_head *closed)
{
	struct zvtap_queue *zq, *next;

	/* NAPI puts no frame there any more. */
	synchronize_net();
	list_for_each_entry_safe(zq, next, closed, node) {
		zvtap_empty(zq);
		if (atomic_read(&zq->out))
			list_move(&zq->node, &zvtap_queues);
	}
	/* Destructors have come to their end. */
	synchronize_net();
	list_for_each_entry_safe(zq, next, closed, node) {
		list_del(&zq->node);
		sock_put(&zq->q->sk);
		kfree(zq);
	}
}

/* Somebody waits for a queue to be in use again. */
static void zvtap_retry(struct zvtap_queue *zq)
{
	struct zvtap *v;

	rcu_read_lock();
	v = zvtap_of(zq);
	if (v && READ_ONCE(v->nobody))
		zvtap_schedule(v);
	rcu_read_unlock();
}

static void zvtap_look(struct work_struct *work)
{
	struct zvtap_queue *zq, *next;
	LIST_HEAD(closed);

	mutex_lock(&zvtap_queues_lock);
	list_for_each_entry_safe(zq, next, &zvtap_queues, node) {
		if (zvtap_closed(zq))
			list_move(&zq->node, &closed);
		else if (zvtap_idle(zq))
			zvtap_empty(zq);
		else
			zvtap_retry(zq);
	}
	if (!list_empty(&closed)) {
		zvtap_update_links();
		zvtap_free_closed(&closed);
	}
	if (!list_empty(&zvtap_queues))
		schedule_delayed_work(&zvtap_look_work, ZVTAP_LOOK);
	mutex_unlock(&zvtap_queues_lock);
}

/**
 * zvtap_look_now() - look after queues that may have been closed
 *
 * Context: any.
 */
void zvtap_look_now(void)
{
	mod_delayed_work(system_wq, &zvtap_look_work, 0);
}

static void zvtap_adopt(struct zvtap_queue *zq, struct tap_queue *q)
{
	zq->q = q;
	zq->credits = q->ring.size - ZVTAP_BATCH;
	sock_hold(&q->sk);
	zvtap_clamp(&q->sk);
	mutex_lock(&zvtap_queues_lock);
	list_add_tail(&zq->node, &zvtap_queues);
	mutex_unlock(&zvtap_queues_lock);
	/* From now on NAPI finds it. */
	rcu_assign_sk_user_data(&q->sk, zq);
	schedule_delayed_work(&zvtap_look_work, ZVTAP_LOOK);
	zvtap_update_links();
}

/*
 * vhost knows a tap by its file operations: the file gets the library's before it is
 * opened by them.  So do character devices with a minor number for each driver.
 */
static int zvtap_open(struct inode *inode, struct file *file)
{
	const struct file_operations *fops = fops_get(zvtap_tap_fops);
	struct zvtap_queue *zq;
	int err;

	if (!fops)
		return -ENXIO;
	replace_fops(file, fops);
	zq = kzalloc(sizeof(*zq), GFP_KERNEL);
	if (!zq)
		return -ENOMEM;
	err = fops->open(inode, file);
	if (err) {
		kfree(zq);
		return err;
	}
	zvtap_adopt(zq, file->private_data);
	return 0;
}

static const struct file_operations zvtap_fops = {
	.owner	= THIS_MODULE,
	.open	= zvtap_open,
};

/**
 * zvtap_queues_init() - take part in the opening of a tap's character device
 * @cdev:	as tap_create_cdev() has made it; nobody has opened it yet
 */
void zvtap_queues_init(struct cdev *cdev)
{
	zvtap_tap_fops = cdev->ops;
	cdev->ops = &zvtap_fops;
}

/**
 * zvtap_queues_exit() - the module goes, and no file is open
 *
 * Context: process.
 */
void zvtap_queues_exit(void)
{
	cancel_delayed_work_sync(&zvtap_look_work);
	zvtap_look(NULL);
	WARN_ON(!list_empty(&zvtap_queues));
	cancel_delayed_work_sync(&zvtap_look_work);
}
