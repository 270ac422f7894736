// SPDX-License-Identifier: GPL-2.0
/*
 * zswitch: forwarding database, which address is behind which port.
 *
 * A hash table by address and VLAN, read under RCU for each frame.  Addresses are learnt
 * from frames, up to a bound that holds for a guest with spoofed addresses too, and age
 * out when no frame has come from them for the ageing time.  Static addresses, set by
 * `bridge fdb`, stay, and no frame from another port may have them as its source: so
 * nobody takes a neighbour's address, or the host's, by sending from it.
 *
 * Writers hold fdb_lock, with softirqs off.  An entry is freed after a grace period; it
 * refers to a port, which outlives it (zsw_fdb_flush() in zsw_port_del()).
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>
#include "zswitch.h"

struct zsw_key {
	u8	addr[ETH_ALEN];
	u16	vid;
} __packed __aligned(4);

/**
 * struct zsw_fdb_entry - an address
 * @rhnode:	in the hash table
 * @node:	in the list of all
 * @rcu:	for kfree_rcu()
 * @key:	address and VLAN
 * @is_static:	the address never ages out
 * @port:	port that the address is behind; changes when the address moves
 * @used:	jiffies of the last frame from the address
 */
struct zsw_fdb_entry {
	struct rhash_head	rhnode;
	struct hlist_node	node;
	struct rcu_head		rcu;
	struct zsw_key		key;
	bool			is_static;
	struct zswitch_port	*port;
	unsigned long		used;
};

static const struct rhashtable_params zsw_fdb_params = {
	.head_offset		= offsetof(struct zsw_fdb_entry, rhnode),
	.key_offset		= offsetof(struct zsw_fdb_entry, key),
	.key_len		= sizeof(struct zsw_key),
	.automatic_shrinking	= true,
};

static struct zsw_key zsw_key(const u8 *addr, u16 vid)
{
	struct zsw_key key = { .vid = vid };

	ether_addr_copy(key.addr, addr);
	return key;
}

/* Context: RCU or fdb_lock. */
static struct zsw_fdb_entry *zsw_fdb_find(struct zswitch *zsw, const u8 *addr, u16 vid)
{
	struct zsw_key key = zsw_key(addr, vid);
	struct zsw_fdb_entry *e;

	rcu_read_lock();
	e = rhashtable_lookup(&zsw->fdb, &key, zsw_fdb_params);
	rcu_read_unlock();
	return e;
}

static void zsw_fdb_notify(struct zswitch *zsw, const struct zsw_fdb_entry *e, int type);

/* Context: fdb_lock. */
static void zsw_fdb_delete(struct zswitch *zsw, struct zsw_fdb_entry *e)
{
	rhashtable_remove_fast(&zsw->fdb, &e->rhnode, zsw_fdb_params);
	hlist_del_init_rcu(&e->node);
	if (!e->is_static)
		zsw->fdb_learnt--;
	zsw_fdb_notify(zsw, e, RTM_DELNEIGH);
	kfree_rcu(e, rcu);
}

/* Context: fdb_lock; the address is not in the table. */
static struct zsw_fdb_entry *zsw_fdb_insert(struct zswitch *zsw, struct zswitch_port *port,
					    const u8 *addr, u16 vid, bool is_static)
{
	struct zsw_fdb_entry *e = kzalloc(sizeof(*e), GFP_ATOMIC);

	if (!e)
		return NULL;
	e->key = zsw_key(addr, vid);
	e->is_static = is_static;
	e->port = port;
	e->used = jiffies;
	if (rhashtable_lookup_insert_fast(&zsw->fdb, &e->rhnode, zsw_fdb_params)) {
		kfree(e);
		return NULL;
	}
	hlist_add_head_rcu(&e->node, &zsw->fdb_list);
	if (!is_static)
		zsw->fdb_learnt++;
	zsw_fdb_notify(zsw, e, RTM_NEWNEIGH);
	return e;
}

/* A static address that was set without a VLAN is in all of them. */
static struct zsw_fdb_entry *zsw_fdb_find_any(struct zswitch *zsw, const u8 *addr, u16 vid)
{
	struct zsw_fdb_entry *e = zsw_fdb_find(zsw, addr, vid);

	if (e || !vid)
		return e;
	e = zsw_fdb_find(zsw, addr, 0);
	return e && READ_ONCE(e->is_static) ? e : NULL;
}

/**
 * zsw_fdb_lookup() - look up an address
 * @zsw:	switch
 * @addr:	address
 * @vid:	VLAN, 0 without VLANs
 *
 * Context: RCU.
 * Return: what is known; no port if the address is not known.
 */
struct zsw_dest zsw_fdb_lookup(struct zswitch *zsw, const u8 *addr, u16 vid)
{
	struct zsw_fdb_entry *e = zsw_fdb_find_any(zsw, addr, vid);

	if (!e)
		return (struct zsw_dest) {};
	return (struct zsw_dest) {
		.entry = e,
		.port = READ_ONCE(e->port),
		.is_static = READ_ONCE(e->is_static),
	};
}

static void zsw_fdb_learn_new(struct zswitch *zsw, struct zswitch_port *port, const u8 *addr,
			      u16 vid)
{
	spin_lock(&zsw->fdb_lock);
	if (zsw->fdb_learnt < READ_ONCE(zsw->cfg.fdb_max) &&
	    !zsw_fdb_find_any(zsw, addr, vid))
		zsw_fdb_insert(zsw, port, addr, vid, false);
	spin_unlock(&zsw->fdb_lock);
}

/* Write at most once a jiffy: all CPUs read the entry. */
static void zsw_fdb_touch(struct zsw_fdb_entry *e)
{
	unsigned long now = jiffies;

	if (time_before(READ_ONCE(e->used), now))
		WRITE_ONCE(e->used, now);
}

/**
 * zsw_fdb_learn() - learn or refresh a frame's source address that is not static
 * @zsw:	switch
 * @port:	port that the frame came in by
 * @found:	what zsw_fdb_lookup() has returned for the address
 * @addr:	address
 * @vid:	VLAN
 *
 * Context: RCU, bottom halves are off.
 */
void zsw_fdb_learn(struct zswitch *zsw, struct zswitch_port *port, const struct zsw_dest *found,
		   const u8 *addr, u16 vid)
{
	struct zsw_fdb_entry *e = found->entry;

	if (unlikely(!e)) {
		if (READ_ONCE(zsw->fdb_learnt) < READ_ONCE(zsw->cfg.fdb_max))
			zsw_fdb_learn_new(zsw, port, addr, vid);
		return;
	}
	zsw_fdb_touch(e);
	if (likely(found->port == port))
		return;
	spin_lock(&zsw->fdb_lock);
	/* The entry may have become static, or been deleted with its port, meanwhile. */
	if (zsw_fdb_find(zsw, addr, vid) == e && !e->is_static) {
		WRITE_ONCE(e->port, port);
		zsw_fdb_notify(zsw, e, RTM_NEWNEIGH);
	}
	spin_unlock(&zsw->fdb_lock);
}

/**
 * struct zsw_fdb_filter - which entries a walk selects
 * @port:	entries behind this port, or NULL for any
 * @addr:	entries of this address, or NULL for any
 * @unused:	entries not used for this many jiffies, or 0 for any
 * @statics:	static entries too
 */
struct zsw_fdb_filter {
	const struct zswitch_port *port;
	const u8	*addr;
	unsigned long	unused;
	bool		statics;
};

static bool zsw_fdb_matches(const struct zsw_fdb_entry *e, const struct zsw_fdb_filter *f)
{
	return (f->statics || !READ_ONCE(e->is_static)) &&
	       (!f->port || READ_ONCE(e->port) == f->port) &&
	       (!f->addr || ether_addr_equal(e->key.addr, f->addr)) &&
	       (!f->unused || time_after_eq(jiffies, READ_ONCE(e->used) + f->unused));
}

/*
 * There may be a million entries: the lock, which frames contend for, is taken for one entry at a
 * time.  An entry that is deleted meanwhile still points to the next one until a grace period has
 * passed.
 */
static void zsw_fdb_forget(struct zswitch *zsw, const struct zsw_fdb_filter *f)
{
	struct zsw_fdb_entry *e;

	rcu_read_lock();
	hlist_for_each_entry_rcu(e, &zsw->fdb_list, node) {
		if (!zsw_fdb_matches(e, f))
			continue;
		spin_lock_bh(&zsw->fdb_lock);
		if (!hlist_unhashed(&e->node) && zsw_fdb_matches(e, f))
			zsw_fdb_delete(zsw, e);
		spin_unlock_bh(&zsw->fdb_lock);
	}
	rcu_read_unlock();
}

/**
 * zsw_fdb_set() - the operator adds or changes an address
 * @zsw:	switch
 * @port:	port that the address is behind
 * @addr:	address
 * @vid:	VLAN; for a static address 0 is all VLANs
 * @is_static:	the address does not age out
 * @nlflags:	NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE
 *
 * Context: RTNL.
 * Return: 0 or an error.
 */
int zsw_fdb_set(struct zswitch *zsw, struct zswitch_port *port, const u8 *addr, u16 vid,
		bool is_static, u16 nlflags)
{
	struct zsw_fdb_entry *e;
	int err = 0;

	spin_lock_bh(&zsw->fdb_lock);
	e = zsw_fdb_find(zsw, addr, vid);
	if (e && nlflags & NLM_F_EXCL) {
		err = -EEXIST;
	} else if (!e && !(nlflags & NLM_F_CREATE)) {
		err = -ENOENT;
	} else if (!e) {
		err = zsw_fdb_insert(zsw, port, addr, vid, is_static) ? 0 : -ENOMEM;
	} else {
		zsw->fdb_learnt += (int)e->is_static - (int)is_static;
		WRITE_ONCE(e->is_static, is_static);
		WRITE_ONCE(e->port, port);
		WRITE_ONCE(e->used, jiffies);
		zsw_fdb_notify(zsw, e, RTM_NEWNEIGH);
	}
	spin_unlock_bh(&zsw->fdb_lock);
	/* An entry that was learnt in a VLAN would hide the static one there. */
	if (!err && is_static && !vid)
		zsw_fdb_forget(zsw, &(struct zsw_fdb_filter) { .addr = addr });
	return err;
}

/**
 * zsw_fdb_remove() - the operator deletes an address
 * @zsw:	switch
 * @addr:	address
 * @vid:	VLAN
 *
 * Context: RTNL.
 * Return: 0 or -ENOENT.
 */
int zsw_fdb_remove(struct zswitch *zsw, const u8 *addr, u16 vid)
{
	struct zsw_fdb_entry *e;

	spin_lock_bh(&zsw->fdb_lock);
	e = zsw_fdb_find(zsw, addr, vid);
	if (e)
		zsw_fdb_delete(zsw, e);
	spin_unlock_bh(&zsw->fdb_lock);
	return e ? 0 : -ENOENT;
}

/**
 * zsw_fdb_flush() - forget all addresses behind a port
 * @zsw:	switch
 * @port:	port, or NULL for all
 *
 * Context: RTNL.
 */
void zsw_fdb_flush(struct zswitch *zsw, const struct zswitch_port *port)
{
	zsw_fdb_forget(zsw, &(struct zsw_fdb_filter) { .port = port, .statics = true });
}

/**
 * zsw_fdb_flush_learnt() - forget all addresses that are not static
 * @zsw:	switch
 *
 * Context: RTNL.
 */
void zsw_fdb_flush_learnt(struct zswitch *zsw)
{
	zsw_fdb_forget(zsw, &(struct zsw_fdb_filter) {});
}

/**
 * zsw_fdb_move_host() - the host's address changes
 * @zsw:	switch
 * @from:	old address, or NULL
 * @to:		new address, or NULL
 *
 * The host's address is a static entry without a VLAN, so it is in all VLANs.
 *
 * Context: RTNL.
 */
void zsw_fdb_move_host(struct zswitch *zsw, const u8 *from, const u8 *to)
{
	if (from)
		zsw_fdb_remove(zsw, from, 0);
	if (to)
		zsw_fdb_set(zsw, zsw->host, to, 0, true, NLM_F_CREATE);
}

/**
 * zsw_fdb_count() - how many addresses are known
 * @zsw:	switch
 *
 * Return: number.
 */
u32 zsw_fdb_count(struct zswitch *zsw)
{
	return atomic_read(&zsw->fdb.nelems);
}

/* Forget addresses that have aged out; runs eight times in the ageing time. */
static void zsw_fdb_age(struct work_struct *work)
{
	struct zswitch *zsw = container_of(work, struct zswitch, age.work);
	unsigned long limit = READ_ONCE(zsw->cfg.ageing) * HZ;

	if (limit)
		zsw_fdb_forget(zsw, &(struct zsw_fdb_filter) { .unused = limit });
	schedule_delayed_work(&zsw->age, limit ? max(limit / 8, 1UL) : 60 * HZ);
}

static int zsw_fdb_fill(struct zswitch *zsw, struct sk_buff *skb, const struct zsw_fdb_entry *e,
			u32 portid, u32 seq, int type, unsigned int flags)
{
	const struct zswitch_port *port = READ_ONCE(e->port);
	bool is_host = port->dev == zsw->dev;
	struct nda_cacheinfo ci = {};
	struct nlmsghdr *nlh = nlmsg_put(skb, portid, seq, type, sizeof(struct ndmsg), flags);
	struct ndmsg *ndm;

	if (!nlh)
		return -EMSGSIZE;
	ndm = nlmsg_data(nlh);
	*ndm = (struct ndmsg) {
		.ndm_family = AF_BRIDGE,
		.ndm_flags = NTF_SELF,
		.ndm_ifindex = zsw->dev->ifindex,
		.ndm_state = READ_ONCE(e->is_static) ? NUD_NOARP : NUD_REACHABLE,
	};
	ci.ndm_updated = jiffies_to_clock_t(jiffies - READ_ONCE(e->used));
	ci.ndm_used = ci.ndm_updated;
	if (is_host)
		ndm->ndm_state = NUD_PERMANENT;
	if (nla_put(skb, NDA_LLADDR, ETH_ALEN, e->key.addr) ||
	    (!is_host && nla_put_u32(skb, NDA_IFINDEX, port->dev->ifindex)) ||
	    (e->key.vid && nla_put_u16(skb, NDA_VLAN, e->key.vid)) ||
	    nla_put(skb, NDA_CACHEINFO, sizeof(ci), &ci)) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

/* Notify listeners, such as `bridge monitor fdb`. */
static void zsw_fdb_notify(struct zswitch *zsw, const struct zsw_fdb_entry *e, int type)
{
	struct net *net = dev_net(zsw->dev);
	struct sk_buff *skb;

	if (!rtnl_has_listeners(net, RTNLGRP_NEIGH))
		return;
	skb = nlmsg_new(NLMSG_ALIGN(sizeof(struct ndmsg)) + nla_total_size(ETH_ALEN) +
			nla_total_size(sizeof(u32)) + nla_total_size(sizeof(u16)) +
			nla_total_size(sizeof(struct nda_cacheinfo)), GFP_ATOMIC);
	if (!skb)
		return;
	if (zsw_fdb_fill(zsw, skb, e, 0, 0, type, 0))
		kfree_skb(skb);
	else
		rtnl_notify(skb, net, 0, RTNLGRP_NEIGH, NULL, GFP_ATOMIC);
}

/**
 * zsw_fdb_dump() - dump the addresses
 * @zsw:	switch
 * @skb:	message
 * @cb:		state of the dump
 * @first:	number of entries that were dumped before
 * @idx:	counts entries
 *
 * Context: RTNL or RCU.
 * Return: 0, or -EMSGSIZE if the message is full.
 */
int zsw_fdb_dump(struct zswitch *zsw, struct sk_buff *skb, struct netlink_callback *cb,
		 int first, int *idx)
{
	struct zsw_fdb_entry *e;
	int err = 0;

	rcu_read_lock();
	hlist_for_each_entry_rcu(e, &zsw->fdb_list, node) {
		if (*idx >= first) {
			err = zsw_fdb_fill(zsw, skb, e, NETLINK_CB(cb->skb).portid,
					   cb->nlh->nlmsg_seq, RTM_NEWNEIGH, NLM_F_MULTI);
			if (err)
				break;
		}
		(*idx)++;
	}
	rcu_read_unlock();
	return err;
}

/**
 * zsw_fdb_init() - prepare the table
 * @zsw:	switch
 *
 * Return: 0 or an error.
 */
int zsw_fdb_init(struct zswitch *zsw)
{
	int err = rhashtable_init(&zsw->fdb, &zsw_fdb_params);

	if (err)
		return err;
	spin_lock_init(&zsw->fdb_lock);
	INIT_HLIST_HEAD(&zsw->fdb_list);
	INIT_DELAYED_WORK(&zsw->age, zsw_fdb_age);
	schedule_delayed_work(&zsw->age, HZ);
	return 0;
}

/**
 * zsw_fdb_exit() - free the table
 * @zsw:	switch, which has no port but the host's any more
 */
void zsw_fdb_exit(struct zswitch *zsw)
{
	cancel_delayed_work_sync(&zsw->age);
	zsw_fdb_flush(zsw, NULL);
	rhashtable_destroy(&zsw->fdb);
}
