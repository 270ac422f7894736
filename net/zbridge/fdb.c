// SPDX-License-Identifier: GPL-2.0
/*
 * zbridge: forwarding database, which host an address is at, by the kernel's FDB messages as for
 * vxlan.
 *
 * An address is at one host.  The address 00:00:00:00:00:00 stands for unknown addresses and for
 * groups: it has a list of hosts, and each gets a copy (head-end replication).
 *
 * At most ZBR_FDB_MAX addresses are learnt.  A learnt address stays until it moves, is changed
 * by the operator, or has sent nothing for ZBR_FDB_AGE while the table is full.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include <net/netlink.h>
#include "zbridge.h"

#define ZBR_FDB_MAX	16384
#define ZBR_FDB_AGE	(300 * HZ)
#define ZBR_HOSTS_MAX	1024

struct zbr_mac {
	u8	addr[ETH_ALEN];
	u16	zero;
} __aligned(4);

/**
 * struct zbr_fdb_entry - an address
 * @rhnode:	in zbridge.fdb
 * @node:	in zbridge.fdb_list
 * @rcu:	for kfree_rcu()
 * @key:	address
 * @is_static:	entry was set by the operator
 * @host:	host that the address is at
 * @used:	jiffies of the last frame from the address
 */
struct zbr_fdb_entry {
	struct rhash_head	rhnode;
	struct hlist_node	node;
	struct rcu_head		rcu;
	struct zbr_mac		key;
	bool			is_static;
	struct in6_addr		host;
	unsigned long		used;
};

static const struct rhashtable_params zbr_fdb_params = {
	.head_offset		= offsetof(struct zbr_fdb_entry, rhnode),
	.key_offset		= offsetof(struct zbr_fdb_entry, key),
	.key_len		= sizeof(struct zbr_mac),
	.automatic_shrinking	= true,
};

/**
 * struct zbr_told - a host that static entries name
 * @rhnode:	in zbridge.told
 * @rcu:	for kfree_rcu()
 * @addr:	address of the host
 * @entries:	number of static entries that name it; fdb_lock
 */
struct zbr_told {
	struct rhash_head	rhnode;
	struct rcu_head		rcu;
	struct in6_addr		addr;
	unsigned int		entries;
};

static const struct rhashtable_params zbr_told_params = {
	.head_offset		= offsetof(struct zbr_told, rhnode),
	.key_offset		= offsetof(struct zbr_told, addr),
	.key_len		= sizeof(struct in6_addr),
	.automatic_shrinking	= true,
};

/* Count one more static entry that names a host.  Context: fdb_lock.  Return: 0 or an error. */
static int zbr_told_get(struct zbridge *zb, const struct in6_addr *host)
{
	struct zbr_told *told = rhashtable_lookup_fast(&zb->told, host, zbr_told_params);
	int err;

	if (told) {
		told->entries++;
		return 0;
	}
	told = kzalloc(sizeof(*told), GFP_ATOMIC);
	if (!told)
		return -ENOMEM;
	told->addr = *host;
	told->entries = 1;
	err = rhashtable_insert_fast(&zb->told, &told->rhnode, zbr_told_params);
	if (err)
		kfree(told);
	return err;
}

/* Count one static entry less that names a host.  Context: fdb_lock. */
static void zbr_told_put(struct zbridge *zb, const struct in6_addr *host)
{
	struct zbr_told *told = rhashtable_lookup_fast(&zb->told, host, zbr_told_params);

	if (--told->entries)
		return;
	rhashtable_remove_fast(&zb->told, &told->rhnode, zbr_told_params);
	kfree_rcu(told, rcu);
}

/* Context: RCU or fdb_lock. */
static struct zbr_fdb_entry *zbr_fdb_find(struct zbridge *zb, const u8 *addr)
{
	struct zbr_mac key = {};

	ether_addr_copy(key.addr, addr);
	return rhashtable_lookup_fast(&zb->fdb, &key, zbr_fdb_params);
}

static int zbr_fdb_fill(struct zbridge *zb, struct sk_buff *skb, const u8 *addr,
			const struct in6_addr *host, bool is_static, u32 portid, u32 seq, int type,
			unsigned int flags)
{
	struct nlmsghdr *nlh = nlmsg_put(skb, portid, seq, type, sizeof(struct ndmsg), flags);
	struct ndmsg *ndm;
	int err;

	if (!nlh)
		return -EMSGSIZE;
	ndm = nlmsg_data(nlh);
	*ndm = (struct ndmsg) {
		.ndm_family = AF_BRIDGE,
		.ndm_flags = NTF_SELF,
		.ndm_ifindex = zb->dev->ifindex,
		.ndm_state = is_static ? NUD_PERMANENT : NUD_REACHABLE,
	};
	err = zbr_udp_is_ip4(host) ? nla_put_in_addr(skb, NDA_DST, host->s6_addr32[3]) :
				     nla_put_in6_addr(skb, NDA_DST, host);
	if (err || nla_put(skb, NDA_LLADDR, ETH_ALEN, addr)) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

/* Notify listeners (`bridge monitor fdb`). */
static void zbr_fdb_notify(struct zbridge *zb, const u8 *addr, const struct in6_addr *host,
			   bool is_static, int type)
{
	struct net *net = dev_net(zb->dev);
	struct sk_buff *skb;

	if (!rtnl_has_listeners(net, RTNLGRP_NEIGH))
		return;
	skb = nlmsg_new(NLMSG_ALIGN(sizeof(struct ndmsg)) + nla_total_size(ETH_ALEN) +
			nla_total_size(sizeof(struct in6_addr)), GFP_ATOMIC);
	if (!skb)
		return;
	if (zbr_fdb_fill(zb, skb, addr, host, is_static, 0, 0, type, 0))
		kfree_skb(skb);
	else
		rtnl_notify(skb, net, 0, RTNLGRP_NEIGH, NULL, GFP_ATOMIC);
}

/* Context: fdb_lock. */
static void zbr_fdb_delete(struct zbridge *zb, struct zbr_fdb_entry *e)
{
	rhashtable_remove_fast(&zb->fdb, &e->rhnode, zbr_fdb_params);
	hlist_del_init_rcu(&e->node);
	if (e->is_static)
		zbr_told_put(zb, &e->host);
	zbr_fdb_notify(zb, e->key.addr, &e->host, e->is_static, RTM_DELNEIGH);
	kfree_rcu(e, rcu);
}

/*
 * Entries are immutable but for @used: readers hold no lock, and an address of 16 bytes cannot
 * be read atomically.  So an entry whose address moves is replaced by a new one.
 * Context: fdb_lock.
 */
static int zbr_fdb_insert(struct zbridge *zb, const u8 *addr, const struct in6_addr *host,
			  bool is_static)
{
	struct zbr_fdb_entry *e, *old = zbr_fdb_find(zb, addr);
	int err;

	if (!old && !is_static && atomic_read(&zb->fdb.nelems) >= ZBR_FDB_MAX)
		return -ENOSPC;
	e = kzalloc(sizeof(*e), GFP_ATOMIC);
	if (!e)
		return -ENOMEM;
	ether_addr_copy(e->key.addr, addr);
	e->host = *host;
	e->is_static = is_static;
	e->used = jiffies;
	err = is_static ? zbr_told_get(zb, host) : 0;
	if (err)
		goto free;
	err = old ? rhashtable_replace_fast(&zb->fdb, &old->rhnode, &e->rhnode, zbr_fdb_params) :
		    rhashtable_insert_fast(&zb->fdb, &e->rhnode, zbr_fdb_params);
	if (err)
		goto forget;
	hlist_add_head_rcu(&e->node, &zb->fdb_list);
	if (old) {
		hlist_del_init_rcu(&old->node);
		if (old->is_static)
			zbr_told_put(zb, &old->host);
		kfree_rcu(old, rcu);
	}
	zbr_fdb_notify(zb, addr, host, is_static, RTM_NEWNEIGH);
	return 0;
forget:
	if (is_static)
		zbr_told_put(zb, host);
free:
	kfree(e);
	return err;
}

/**
 * zbr_fdb_host() - which host is an address at?
 * @zb:		tunnel
 * @addr:	address
 * @host:	result
 *
 * Context: RCU.
 * Return: whether a host is known.
 */
bool zbr_fdb_host(struct zbridge *zb, const u8 *addr, struct in6_addr *host)
{
	struct zbr_fdb_entry *e = zbr_fdb_find(zb, addr);

	if (e)
		*host = e->host;
	return e;
}

/**
 * zbr_fdb_knows() - does a static entry name a host?
 * @zb:		tunnel
 * @host:	host
 *
 * Called when a host begins a flow.
 *
 * Context: RCU.
 * Return: whether one does.
 */
bool zbr_fdb_knows(struct zbridge *zb, const struct in6_addr *host)
{
	return rhashtable_lookup(&zb->told, host, zbr_told_params);
}

/* Age out addresses, at most once a second; one that finds no room now is learnt later. */
static void zbr_fdb_age(struct zbridge *zb)
{
	struct zbr_fdb_entry *e;
	struct hlist_node *next;

	if (time_before(jiffies, zb->fdb_aged + HZ))
		return;
	zb->fdb_aged = jiffies;
	hlist_for_each_entry_safe(e, next, &zb->fdb_list, node)
		if (!e->is_static && time_after(jiffies, READ_ONCE(e->used) + ZBR_FDB_AGE))
			zbr_fdb_delete(zb, e);
}

/**
 * zbr_fdb_learn() - learn the source address of a frame
 * @zb:		tunnel
 * @addr:	source address
 * @host:	host that the frame came from
 *
 * Context: RCU, bottom halves are off.
 */
void zbr_fdb_learn(struct zbridge *zb, const u8 *addr, const struct in6_addr *host)
{
	struct zbr_fdb_entry *e;

	if (!READ_ONCE(zb->cfg.learning))
		return;
	e = zbr_fdb_find(zb, addr);
	if (e && (e->is_static || ipv6_addr_equal(&e->host, host))) {
		if (time_after(jiffies, READ_ONCE(e->used)))
			WRITE_ONCE(e->used, jiffies);
		return;
	}
	if (!is_valid_ether_addr(addr))
		return;
	spin_lock(&zb->fdb_lock);
	e = zbr_fdb_find(zb, addr);
	if ((!e || !e->is_static) && zbr_fdb_insert(zb, addr, host, false) == -ENOSPC)
		zbr_fdb_age(zb);
	spin_unlock(&zb->fdb_lock);
}

static struct zbr_host *zbr_fdb_default(struct zbridge *zb, const struct in6_addr *addr)
{
	struct zbr_host *h;

	list_for_each_entry(h, &zb->defaults, node)
		if (ipv6_addr_equal(&h->addr, addr))
			return h;
	return NULL;
}

static void zbr_fdb_drop_default(struct zbridge *zb, struct zbr_host *h)
{
	static const u8 none[ETH_ALEN];

	list_del_rcu(&h->node);
	spin_lock_bh(&zb->fdb_lock);
	zbr_told_put(zb, &h->addr);
	spin_unlock_bh(&zb->fdb_lock);
	zbr_fdb_notify(zb, none, &h->addr, true, RTM_DELNEIGH);
	kfree_rcu(h, rcu);
}

static int zbr_fdb_set_default(struct zbridge *zb, const struct in6_addr *addr, u16 nlflags)
{
	static const u8 none[ETH_ALEN];
	struct zbr_host *h, *next;
	unsigned int n = 0;
	int err;

	h = zbr_fdb_default(zb, addr);
	if (h)
		return nlflags & NLM_F_EXCL ? -EEXIST : 0;
	if (!(nlflags & (NLM_F_APPEND | NLM_F_REPLACE)) && !list_empty(&zb->defaults))
		return -EEXIST;
	if (!(nlflags & NLM_F_APPEND))
		list_for_each_entry_safe(h, next, &zb->defaults, node)
			zbr_fdb_drop_default(zb, h);
	list_for_each_entry(h, &zb->defaults, node)
		n++;
	if (n >= ZBR_HOSTS_MAX)
		return -ENOSPC;
	h = kzalloc(sizeof(*h), GFP_KERNEL);
	if (!h)
		return -ENOMEM;
	h->addr = *addr;
	spin_lock_bh(&zb->fdb_lock);
	err = zbr_told_get(zb, addr);
	spin_unlock_bh(&zb->fdb_lock);
	if (err) {
		kfree(h);
		return err;
	}
	list_add_tail_rcu(&h->node, &zb->defaults);
	zbr_fdb_notify(zb, none, addr, true, RTM_NEWNEIGH);
	return 0;
}

/**
 * zbr_fdb_set() - set a static entry
 * @zb:		tunnel
 * @addr:	address; 00:00:00:00:00:00 stands for unknown addresses and groups
 * @host:	host
 * @nlflags:	NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_APPEND
 *
 * Context: RTNL.
 * Return: 0 or an error.
 */
int zbr_fdb_set(struct zbridge *zb, const u8 *addr, const struct in6_addr *host, u16 nlflags)
{
	struct zbr_fdb_entry *e;
	int err = 0;

	if (is_zero_ether_addr(addr))
		return zbr_fdb_set_default(zb, host, nlflags);
	spin_lock_bh(&zb->fdb_lock);
	e = zbr_fdb_find(zb, addr);
	if (e && nlflags & NLM_F_EXCL)
		err = -EEXIST;
	else if (!e && !(nlflags & NLM_F_CREATE))
		err = -ENOENT;
	else
		err = zbr_fdb_insert(zb, addr, host, true);
	spin_unlock_bh(&zb->fdb_lock);
	return err;
}

/**
 * zbr_fdb_remove() - delete an entry, learnt or static
 * @zb:		tunnel
 * @addr:	address
 * @host:	host, or NULL for any
 *
 * Context: RTNL.
 * Return: 0 or -ENOENT.
 */
int zbr_fdb_remove(struct zbridge *zb, const u8 *addr, const struct in6_addr *host)
{
	struct zbr_fdb_entry *e;
	struct zbr_host *h, *next;
	int err = -ENOENT;

	if (is_zero_ether_addr(addr)) {
		list_for_each_entry_safe(h, next, &zb->defaults, node) {
			if (host && !ipv6_addr_equal(&h->addr, host))
				continue;
			zbr_fdb_drop_default(zb, h);
			err = 0;
		}
		return err;
	}
	spin_lock_bh(&zb->fdb_lock);
	e = zbr_fdb_find(zb, addr);
	if (e && (!host || ipv6_addr_equal(&e->host, host))) {
		zbr_fdb_delete(zb, e);
		err = 0;
	}
	spin_unlock_bh(&zb->fdb_lock);
	return err;
}

/**
 * zbr_fdb_dump() - dump the addresses
 * @zb:		tunnel
 * @skb:	message
 * @cb:		the dump's netlink callback
 * @first:	index of the first entry to dump
 * @idx:	index of the next entry, advanced here
 *
 * Context: RTNL or RCU.
 * Return: 0, or -EMSGSIZE if the message is full.
 */
int zbr_fdb_dump(struct zbridge *zb, struct sk_buff *skb, struct netlink_callback *cb, int first,
		 int *idx)
{
	static const u8 none[ETH_ALEN];
	u32 portid = NETLINK_CB(cb->skb).portid, seq = cb->nlh->nlmsg_seq;
	struct zbr_fdb_entry *e;
	struct zbr_host *h;
	int err = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(h, &zb->defaults, node) {
		if (*idx >= first)
			err = zbr_fdb_fill(zb, skb, none, &h->addr, true, portid, seq,
					   RTM_NEWNEIGH, NLM_F_MULTI);
		if (err)
			goto out;
		(*idx)++;
	}
	hlist_for_each_entry_rcu(e, &zb->fdb_list, node) {
		if (*idx >= first)
			err = zbr_fdb_fill(zb, skb, e->key.addr, &e->host, e->is_static, portid,
					   seq, RTM_NEWNEIGH, NLM_F_MULTI);
		if (err)
			goto out;
		(*idx)++;
	}
out:
	rcu_read_unlock();
	return err;
}

/**
 * zbr_fdb_init() - prepare the table
 * @zb:		tunnel
 *
 * Return: 0 or an error.
 */
int zbr_fdb_init(struct zbridge *zb)
{
	int err;

	spin_lock_init(&zb->fdb_lock);
	INIT_HLIST_HEAD(&zb->fdb_list);
	zb->fdb_aged = jiffies - HZ;
	INIT_LIST_HEAD(&zb->defaults);
	err = rhashtable_init(&zb->fdb, &zbr_fdb_params);
	if (err)
		return err;
	err = rhashtable_init(&zb->told, &zbr_told_params);
	if (err)
		rhashtable_destroy(&zb->fdb);
	return err;
}

/**
 * zbr_fdb_exit() - free the table
 * @zb:		tunnel that no longer sends
 *
 * Context: RTNL.
 */
void zbr_fdb_exit(struct zbridge *zb)
{
	struct zbr_fdb_entry *e;
	struct zbr_host *h, *next_host;
	struct hlist_node *next;

	spin_lock_bh(&zb->fdb_lock);
	hlist_for_each_entry_safe(e, next, &zb->fdb_list, node)
		zbr_fdb_delete(zb, e);
	spin_unlock_bh(&zb->fdb_lock);
	list_for_each_entry_safe(h, next_host, &zb->defaults, node)
		zbr_fdb_drop_default(zb, h);
	rhashtable_destroy(&zb->fdb);
	rhashtable_destroy(&zb->told);
}
