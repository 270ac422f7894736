// SPDX-License-Identifier: GPL-2.0
/*
 * zvtap: the queues of virtual machines, each an open descriptor of /dev/tapN.
 *
 * Towards the guest.  A queue of the tap library is a ring of frames, and drops frames when
 * full.  So a frame is put there only against credit (zVALE's output side: a frame moves when
 * the next place has room; D. Crisan's thesis, ETH Zurich 2014, Algorithm 4.1).  Credit is not
 * returned when a frame leaves the ring, as vhost takes 64 at a time into an array of its own
 * and may put them back.  It is returned by the frame's destructor, which runs when the frame
 * was copied to the guest, or was dropped.  The frame's original destructor is called there as
 * well, so that the frame is charged to its sender up to then.
 *
 * Towards the switch.  Frames of a guest are charged to the queue's socket until their
 * receivers have them; when the send buffer is full, vhost and QEMU wait for room.  QEMU
 * sets a send buffer without limit, with which vhost also sends frames that belong to no
 * socket.  So the buffer is cut back to ZVTAP_SNDBUF when the queue opens, when the guest's
 * offloads are set, which happens after QEMU has set the buffer, and with each frame; and
 * frames without a socket are charged here.  Of all this only ZVTAP_UNPAID drops frames.
 *
 * Lifetime.  A struct zvtap_queue is created when the descriptor opens and refers to the tap
 * library's queue, whose ring holds frames with our destructor.  The library does not report
 * that a descriptor is closed: zvtap_look() checks ten times a second, as long as there are
 * queues.  The ring of a queue that was closed, or is not in use, is emptied, so that the
 * senders get their memory back.  A closed queue may still be referred to by:
 *
 *  - NAPI, which has found it before: an RCU reader.
 *  - A frame in the ring, which is emptied after a grace period, when nothing is put there
 *    any more; or a frame held by vhost or a reader, which have the file open: if the device
 *    was deleted meanwhile, the queue stays until they are done with the frame.
 *  - A destructor that runs elsewhere: an RCU reader.
 *
 * An open file holds the module (by the character device), and zvtap_queues_exit() checks
 * once more, so no destructor is left when the module is unloaded.
 *
 * Context.  The destructor runs wherever a packet is freed: in processes, in softirqs, and
 * with interrupts off under the ring's locks when the ring is resized.
 */
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include "zvtap.h"

/* Send buffer of a queue: no more than a switch's default share for one output */
#define ZVTAP_SNDBUF	(256 << 10)

/*
 * Memory that frames without a socket may take, for each queue.  A queue that waits for room as it
 * should has sent at most vhost's batch, or the fragments of one datagram, which take less.  But a
 * guest may ask for fragments of a byte each, which are all made before anything can wait.
 */
#define ZVTAP_UNPAID	(2 * ZVTAP_SNDBUF)

#define ZVTAP_LOOK	(HZ / 10)

/* Features that the tap library can always carry, offered or not */
#define ZVTAP_ALWAYS	(NETIF_F_GSO | NETIF_F_SG | NETIF_F_FRAGLIST)

/**
 * struct zvtap_queue - an open descriptor
 * @node:	in the list of all queues
 * @q:		queue of the tap library; a reference to its socket is held
 * @credits:	maximum of @out
 * @out:	frames in the ring, or taken off it and not yet copied to the guest
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
 * struct zvtap_cb - control block of a frame in a ring
 * @zq:		queue of the ring
 * @destructor:	the frame's original destructor, or NULL
 * @lost:	the frame is dropped
 */
struct zvtap_cb {
	struct zvtap_queue	*zq;
	void			(*destructor)(struct sk_buff *skb);
	bool			lost;
};

static LIST_HEAD(zvtap_queues);
/* RTNL nests inside it. */
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
 * zvtap_charge() - make sure that a frame is charged to a queue
 * @v:		device that sends the frame
 * @skb:	frame
 *
 * A queue's socket has no address family.  Frames of other sockets come from the host itself,
 * which must not send here: the device is the guest's.
 *
 * Context: RCU.
 * Return: whether the frame is a guest's, and there is room for it.
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
	/* Sent by vhost without limit, or a part of a larger frame that was charged */
	q = rcu_dereference(v->tap.taps[0]);
	if (!q || sk_wmem_alloc_get(&q->sk) > max(READ_ONCE(v->tap.numvtaps), 1) * ZVTAP_UNPAID)
		return false;
	zvtap_clamp_all(v);
	skb_set_owner_w(skb, &q->sk);
	return true;
}

/**
 * zvtap_select() - select the queue for a frame
 * @v:		device
 * @skb:	frame
 *
 * As in the tap library: by flow, so that each flow stays in order.
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
 * zvtap_features() - offloads that a queue can leave to the guest
 * @v:	device
 * @zq:	queue, or NULL
 *
 * Context: RCU.
 * Return: features, as those of a transmitting device.
 */
netdev_features_t zvtap_features(const struct zvtap *v, const struct zvtap_queue *zq)
{
	if (zq && READ_ONCE(zq->q->flags) & IFF_VNET_HDR)
		return ZVTAP_ALWAYS | READ_ONCE(v->tap.tap_features);
	return ZVTAP_ALWAYS;
}

/* Context: RCU.  Return: the device of a queue, or NULL if the device or queue is gone. */
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
		/* The counters are per CPU, and a process that reads frames may migrate. */
		local_irq_save(flags);
		dev_sw_netstats_rx_add(v->dev, skb->len);
		local_irq_restore(flags);
	}
	/* Only when half is free, lest NAPI run for each frame.  Pairs with zvtap_credit(). */
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
	/* Pairs with zvtap_consumed(): one of the two sees what the other has done. */
	smp_mb();
	return atomic_read(&zq->out) <= zq->credits / 2;
}

/**
 * zvtap_produce() - put a frame into a queue's ring
 * @zq:		queue
 * @skb:	frame, its data at the MAC header; not to be touched any more if it is taken
 *
 * Context: NAPI, RCU.
 * Return: false if there is no credit; NAPI is scheduled when there is some again.
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
	/* There are fewer credits than places in the ring. */
	if (WARN_ON_ONCE(ptr_ring_produce(&q->ring, skb)))
		kfree_skb(skb);
	wake_up_interruptible_poll(sk_sleep(&q->sk), EPOLLIN | EPOLLRDNORM | EPOLLRDBAND);
	return true;
}

/* Drop all frames in a ring. */
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

/* Is a queue that is attached to its device not in use?  Then nobody reads from it. */
static bool zvtap_idle(const struct zvtap_queue *zq)
{
	return !READ_ONCE(zq->q->enabled);
}

/*
 * Free closed queues.  If the device was deleted, vhost may hold frames of a queue as long as the
 * file is open: that queue stays.  Context: zvtap_queues_lock.
 */
static void zvtap_free_closed(struct list_head *closed)
{
	struct zvtap_queue *zq, *next;

	/* Afterwards NAPI puts no more frames into these rings. */
	synchronize_net();
	list_for_each_entry_safe(zq, next, closed, node) {
		zvtap_empty(zq);
		if (atomic_read(&zq->out))
			list_move(&zq->node, &zvtap_queues);
	}
	/* Wait for destructors that still run. */
	synchronize_net();
	list_for_each_entry_safe(zq, next, closed, node) {
		list_del(&zq->node);
		sock_put(&zq->q->sk);
		kfree(zq);
	}
}

/* Schedule the device's NAPI if it waits for any queue to be in use again. */
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
 * zvtap_look_now() - check now for queues that may have been closed
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
	/* From now on NAPI finds the queue. */
	rcu_assign_sk_user_data(&q->sk, zq);
	schedule_delayed_work(&zvtap_look_work, ZVTAP_LOOK);
	zvtap_update_links();
}

/*
 * vhost recognises a tap by its file operations, so the file gets the library's before their
 * open() is called.  Character devices whose minor numbers belong to different drivers do the
 * same.
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
 * zvtap_queues_init() - hook into open() of a tap's character device
 * @cdev:	character device made by tap_create_cdev(), not opened yet
 */
void zvtap_queues_init(struct cdev *cdev)
{
	zvtap_tap_fops = cdev->ops;
	cdev->ops = &zvtap_fops;
}

/**
 * zvtap_queues_exit() - free all queues; the module is being unloaded, and no file is open
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
