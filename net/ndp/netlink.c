// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP generic netlink: the namespace's table of configured paths, and the devices
 * on which lengths are repaired.
 *
 * include/uapi/linux/ndp_netlink.h documents the commands.  The table has NDP_PATH_DSTS_MAX
 * destinations at most, as any user may be root of a namespace, and its memory is charged
 * to the control group of the process that fills it.
 */
#include <net/genetlink.h>
#include <net/ipv6.h>
#include "call.h"
#include "event.h"
#include "path_table.h"

static const struct nla_policy ndp_path_policy[NDP_A_MAX + 1] = {
	[NDP_A_DST] = NLA_POLICY_RANGE(NLA_BINARY, sizeof(struct in_addr),
				       sizeof(struct in6_addr)),
	[NDP_A_PREFIX] = NLA_POLICY_MAX(NLA_U8, 128),
	[NDP_A_VIA] = NLA_POLICY_RANGE(NLA_BINARY, sizeof(struct in_addr),
				       sizeof(struct in6_addr)),
	[NDP_A_ENTROPY] = { .type = NLA_U16 },
	[NDP_A_MARK] = { .type = NLA_U32 },
	[NDP_A_IFINDEX] = { .type = NLA_U32 },
};

/* Attributes of a request. */
struct ndp_path_req {
	struct ndp_path_prefix dst;
	bool	any;		/* no path named: all paths of the destination */
	struct ndp_path_spec spec;
};

/* IPv4 prefixes are stored mapped into IPv6, so their lengths are 96 larger. */
static u8 ndp_nl_plen_base(const struct in6_addr *addr)
{
	return ndp_is_ip4(addr) ? NDP_PLEN_IP4 : 0;
}

static int ndp_nl_addr(struct genl_info *info, int attr, struct in6_addr *addr)
{
	const struct nlattr *a = info->attrs[attr];

	if (nla_len(a) == sizeof(struct in_addr)) {
		ipv6_addr_set_v4mapped(nla_get_in_addr(a), addr);
	} else if (nla_len(a) == sizeof(*addr)) {
		*addr = nla_get_in6_addr(a);
	} else {
		GENL_SET_ERR_MSG(info, "an address has 4 or 16 bytes");
		return -EINVAL;
	}
	return 0;
}

static bool ndp_nl_is_prefix(const struct in6_addr *addr, u8 plen)
{
	struct in6_addr prefix;

	ipv6_addr_prefix(&prefix, addr, plen);
	return ipv6_addr_equal(&prefix, addr);
}

static bool ndp_nl_is_host(const struct in6_addr *addr)
{
	__be32 ip4 = ndp_ip4(addr);

	if (ndp_is_ip4(addr))
		return !ipv4_is_multicast(ip4) && !ipv4_is_lbcast(ip4) &&
		       !ipv4_is_zeronet(ip4);
	return !ipv6_addr_is_multicast(addr) && !ipv6_addr_any(addr);
}

static int ndp_path_parse_via(struct genl_info *info, struct ndp_path_req *req)
{
	int err = ndp_nl_addr(info, NDP_A_VIA, &req->spec.via);

	if (err)
		return err;
	if (ndp_is_ip4(&req->dst.addr) != ndp_is_ip4(&req->spec.via)) {
		GENL_SET_ERR_MSG(info, "alias is not of the destination's family");
		return -EINVAL;
	}
	if (!ndp_nl_is_prefix(&req->spec.via, req->dst.plen)) {
		GENL_SET_ERR_MSG(info, "alias has bits beyond the prefix length");
		return -EINVAL;
	}
	if (!ndp_nl_is_host(&req->spec.via)) {
		GENL_SET_ERR_MSG(info, "alias address is not a host's");
		return -EINVAL;
	}
	return 0;
}

static int ndp_path_parse(struct genl_info *info, struct ndp_path_req *req)
{
	struct nlattr **a = info->attrs;
	u8 plen, base;
	u16 entropy;
	int err;

	memset(req, 0, sizeof(*req));
	if (GENL_REQ_ATTR_CHECK(info, NDP_A_DST)) {
		GENL_SET_ERR_MSG(info, "destination is missing");
		return -EINVAL;
	}
	err = ndp_nl_addr(info, NDP_A_DST, &req->dst.addr);
	if (err)
		return err;
	base = ndp_nl_plen_base(&req->dst.addr);
	plen = a[NDP_A_PREFIX] ? nla_get_u8(a[NDP_A_PREFIX]) : 128 - base;
	if (plen > 128 - base) {
		GENL_SET_ERR_MSG(info, "prefix is longer than an address");
		return -EINVAL;
	}
	req->dst.plen = base + plen;
	if (!ndp_nl_is_prefix(&req->dst.addr, req->dst.plen)) {
		GENL_SET_ERR_MSG(info, "destination has bits beyond its prefix length");
		return -EINVAL;
	}
	req->any = !a[NDP_A_VIA] && !a[NDP_A_ENTROPY] && !a[NDP_A_MARK];
	if (a[NDP_A_VIA]) {
		err = ndp_path_parse_via(info, req);
		if (err)
			return err;
	}
	entropy = a[NDP_A_ENTROPY] ? nla_get_u16(a[NDP_A_ENTROPY]) : 0;
	if (entropy && entropy < NDP_ENTROPY_MIN) {
		GENL_SET_ERR_MSG(info, "entropy must be 49152 to 65535, or 0 for random");
		return -EINVAL;
	}
	req->spec.entropy = htons(entropy);
	if (a[NDP_A_MARK])
		req->spec.mark = nla_get_u32(a[NDP_A_MARK]);
	return 0;
}

static bool ndp_path_same(const struct ndp_path_spec *a,
			  const struct ndp_path_spec *b)
{
	return ipv6_addr_equal(&a->via, &b->via) &&
	       a->entropy == b->entropy && a->mark == b->mark;
}

/* Context: path_lock held, as for the functions below.  Return: destination, or ERR_PTR. */
static struct ndp_path_dst *ndp_path_dst_add(struct ndp_net *nn,
					     const struct ndp_path_prefix *prefix,
					     struct netlink_ext_ack *extack)
{
	struct ndp_path_dst *dst;
	int err;

	if (nn->n_path_dsts >= NDP_PATH_DSTS_MAX) {
		NL_SET_ERR_MSG(extack, "namespace has 4096 destinations already");
		return ERR_PTR(-ENOSPC);
	}
	dst = kzalloc(sizeof(*dst), GFP_KERNEL_ACCOUNT);
	if (!dst)
		return ERR_PTR(-ENOMEM);
	dst->prefix = *prefix;
	INIT_LIST_HEAD(&dst->paths);
	err = ndp_path_table_add(nn, dst);
	if (err) {
		kfree(dst);
		return ERR_PTR(err);
	}
	return dst;
}

static int ndp_path_insert(struct ndp_net *nn, const struct ndp_path_req *req,
			   struct netlink_ext_ack *extack)
{
	struct ndp_path_spec *spec, *pos;
	struct ndp_path_dst *dst;

	dst = ndp_path_table_find(nn, &req->dst);
	if (dst && dst->n >= NDP_PATHS_MAX) {
		NL_SET_ERR_MSG(extack, "destination has 256 paths already");
		return -ENOSPC;
	}
	if (dst) {
		/* Several paths of random entropy may be configured. */
		list_for_each_entry(pos, &dst->paths, list) {
			if (ndp_path_same(pos, &req->spec) &&
			    (pos->entropy || pos->mark ||
			     !ipv6_addr_any(&pos->via))) {
				NL_SET_ERR_MSG(extack, "path exists");
				return -EEXIST;
			}
		}
	}
	spec = kmemdup(&req->spec, sizeof(*spec), GFP_KERNEL_ACCOUNT);
	if (!spec)
		return -ENOMEM;
	if (!dst)
		dst = ndp_path_dst_add(nn, &req->dst, extack);
	if (IS_ERR(dst)) {
		kfree(spec);
		return PTR_ERR(dst);
	}
	list_add_tail_rcu(&spec->list, &dst->paths);
	WRITE_ONCE(dst->n, dst->n + 1);
	ndp_path_changed(nn, dst);
	return 0;
}

static int ndp_path_remove(struct ndp_net *nn, const struct ndp_path_req *req,
			   struct netlink_ext_ack *extack)
{
	struct ndp_path_spec *spec, *next;
	struct ndp_path_dst *dst;
	int found = 0;

	dst = ndp_path_table_find(nn, &req->dst);
	if (!dst) {
		NL_SET_ERR_MSG(extack, "destination has no configured paths");
		return -ENOENT;
	}
	list_for_each_entry_safe(spec, next, &dst->paths, list) {
		if (!req->any && !ndp_path_same(spec, &req->spec))
			continue;
		list_del_rcu(&spec->list);
		kfree_rcu(spec, rcu);
		WRITE_ONCE(dst->n, dst->n - 1);
		found++;
		if (!req->any)
			break;
	}
	if (!found) {
		NL_SET_ERR_MSG(extack, "destination has no such path");
		return -ENOENT;
	}
	if (!dst->n) {
		ndp_path_table_del(nn, dst);
		dst = NULL;
	}
	ndp_path_changed(nn, dst);
	return 0;
}

static int ndp_nl_path_add(struct sk_buff *skb, struct genl_info *info)
{
	struct ndp_net *nn = ndp_pernet(genl_info_net(info));
	struct ndp_path_req req;
	int err;

	err = ndp_path_parse(info, &req);
	if (err)
		return err;
	mutex_lock(&nn->path_lock);
	err = ndp_path_insert(nn, &req, info->extack);
	mutex_unlock(&nn->path_lock);
	return err;
}

static int ndp_nl_path_del(struct sk_buff *skb, struct genl_info *info)
{
	struct ndp_net *nn = ndp_pernet(genl_info_net(info));
	struct ndp_path_req req;
	int err;

	err = ndp_path_parse(info, &req);
	if (err)
		return err;
	mutex_lock(&nn->path_lock);
	err = ndp_path_remove(nn, &req, info->extack);
	mutex_unlock(&nn->path_lock);
	return err;
}

static int ndp_path_fill(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct ndp_path_dst *dst,
			 const struct ndp_path_spec *spec)
{
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &ndp_genl, NLM_F_MULTI, NDP_CMD_PATH_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (ndp_nl_put_addr(skb, NDP_A_DST, &dst->prefix.addr) ||
	    nla_put_u8(skb, NDP_A_PREFIX,
		       dst->prefix.plen - ndp_nl_plen_base(&dst->prefix.addr)) ||
	    (!ipv6_addr_any(&spec->via) &&
	     ndp_nl_put_addr(skb, NDP_A_VIA, &spec->via)) ||
	    nla_put_u16(skb, NDP_A_ENTROPY, ntohs(spec->entropy)) ||
	    (spec->mark && nla_put_u32(skb, NDP_A_MARK, spec->mark))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genl_dump_check_consistent(cb, hdr);
	genlmsg_end(skb, hdr);
	return 0;
}

/* cb->args[1] counts the paths of the destination dumped so far. */
static int ndp_nl_path_dump_dst(struct sk_buff *skb, struct netlink_callback *cb,
				const struct ndp_path_dst *dst)
{
	const struct ndp_path_spec *spec;
	long i = 0;
	int err;

	list_for_each_entry(spec, &dst->paths, list) {
		if (i++ < cb->args[1])
			continue;
		err = ndp_path_fill(skb, cb, dst, spec);
		if (err)
			return err;
		cb->args[1] = i;
	}
	return 0;
}

/* cb->args[0] counts the destinations dumped so far; cb->seq reveals changes to the reader. */
static int ndp_nl_path_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct ndp_net *nn = ndp_pernet(sock_net(skb->sk));
	const struct ndp_path_dst *dst;
	long i = 0;

	mutex_lock(&nn->path_lock);
	cb->seq = nn->path_gen;
	list_for_each_entry(dst, &nn->path_dsts, list) {
		if (i++ < cb->args[0])
			continue;
		if (ndp_nl_path_dump_dst(skb, cb, dst))
			break;
		cb->args[0] = i;
		cb->args[1] = 0;
	}
	mutex_unlock(&nn->path_lock);
	return skb->len;
}

/* State of a dump of peers and their paths; cb->args[0] points to it. */
struct ndp_peer_dump {
	struct rhashtable_iter	walk;
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
	const struct ndp_peer	*peer;	/* being dumped; compared only */
	u16			path;	/* next path of @peer */
	bool			admin;	/* the reader may see marks, as in sock_diag */
};

/* Return: microseconds for which a path is still left out; 1: due for a probe; 0: in use. */
static u32 ndp_left_out_us(const struct ndp_score *score)
{
	u64 now = ktime_get_ns();

	if (score->state == NDP_PATH_USED)
		return 0;
	return score->until > now ? div_u64(score->until - now, NSEC_PER_USEC) + 1 : 1;
}

static int ndp_nl_put_peer(const struct ndp_peer_dump *d, const struct ndp_peer *peer)
{
	struct user_namespace *viewer = sk_user_ns(NETLINK_CB(d->cb->skb).sk);
	const struct ndp_peer_key *key = &peer->key;
	struct sk_buff *skb = d->skb;

	return ndp_nl_put_addr(skb, NDP_A_DST, &key->daddr) ||
	       ndp_nl_put_addr(skb, NDP_A_SRC, &key->saddr) ||
	       (key->mark && d->admin && nla_put_u32(skb, NDP_A_SOCK_MARK, key->mark)) ||
	       (key->oif && nla_put_u32(skb, NDP_A_IFINDEX, key->oif)) ||
	       nla_put_u32(skb, NDP_A_UID,
			   from_kuid_munged(viewer, KUIDT_INIT(key->uid))) ||
	       nla_put_u32(skb, NDP_A_CONNS, refcount_read(&peer->conns)) ||
	       nla_put_u32(skb, NDP_A_SRTT,
			   div_u64(READ_ONCE(peer->srtt_ns), NSEC_PER_USEC));
}

static int ndp_nl_put_path(struct sk_buff *skb, const struct ndp_path *path)
{
	u32 data_out = ndp_left_out_us(&path->data);
	u32 control_out = ndp_left_out_us(&path->control);

	return ndp_nl_put_addr(skb, NDP_A_VIA, &path->daddr) ||
	       nla_put_u16(skb, NDP_A_ENTROPY, ntohs(path->sport)) ||
	       (path->mark && nla_put_u32(skb, NDP_A_MARK, path->mark)) ||
	       nla_put_u32(skb, NDP_A_ACKS, path->acks) ||
	       nla_put_u32(skb, NDP_A_NACKS, path->nacks) ||
	       nla_put_u32(skb, NDP_A_LOSSES, path->losses) ||
	       nla_put_u32(skb, NDP_A_ANSWERS_LOST, path->answers_lost) ||
	       nla_put_u32(skb, NDP_A_PROBES, path->probes) ||
	       nla_put_u32(skb, NDP_A_REPLACED, path->replaced) ||
	       (data_out && nla_put_u32(skb, NDP_A_LEFT_OUT, data_out)) ||
	       (control_out && nla_put_u32(skb, NDP_A_CONTROL_OUT, control_out));
}

static int ndp_peer_fill(struct ndp_peer_dump *d, const struct ndp_peer *peer,
			 const struct ndp_path *path)
{
	struct sk_buff *skb = d->skb;
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(d->cb->skb).portid,
			  d->cb->nlh->nlmsg_seq, &ndp_genl, NLM_F_MULTI,
			  NDP_CMD_PEER_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (ndp_nl_put_peer(d, peer) ||
	    ndp_nl_put_path(skb, path)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int ndp_peer_dump_one(struct ndp_peer *peer, void *arg)
{
	struct ndp_peer_dump *d = arg;
	struct ndp_path path;
	int err;

	/* Continue with the peer whose last message did not fit. */
	if (d->peer != peer)
		d->path = 0;
	for (d->peer = peer; d->path < peer->n; d->path++) {
		/* The data path needs the lock: hold it for the copy alone. */
		spin_lock_bh(&peer->lock);
		path = peer->path[d->path];
		spin_unlock_bh(&peer->lock);
		err = ndp_peer_fill(d, peer, &path);
		if (err)
			return err;
	}
	return 0;
}

static int ndp_nl_peer_start(struct netlink_callback *cb)
{
	struct ndp_peer_dump *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return -ENOMEM;
	d->cb = cb;
	d->admin = netlink_net_capable(cb->skb, CAP_NET_ADMIN);
	rhashtable_walk_enter(&ndp_pernet(sock_net(cb->skb->sk))->peers, &d->walk);
	cb->args[0] = (long)d;
	return 0;
}

static int ndp_nl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct ndp_peer_dump *d = (struct ndp_peer_dump *)cb->args[0];

	d->skb = skb;
	ndp_peer_walk(&d->walk, ndp_peer_dump_one, d);
	return skb->len;
}

static int ndp_nl_peer_done(struct netlink_callback *cb)
{
	struct ndp_peer_dump *d = (struct ndp_peer_dump *)cb->args[0];

	rhashtable_walk_exit(&d->walk);
	kfree(d);
	return 0;
}

/* Context: RTNL.  Return: the device that a request names, or NULL and extack. */
static struct net_device *ndp_nl_device(struct genl_info *info)
{
	const struct nlattr *a = info->attrs[NDP_A_IFINDEX];
	struct net_device *dev = NULL;

	if (a)
		dev = __dev_get_by_index(genl_info_net(info), nla_get_u32(a));
	if (!dev)
		GENL_SET_ERR_MSG(info, "no such device");
	return dev;
}

static int ndp_nl_repair(struct genl_info *info,
			 int (*change)(struct net_device *dev))
{
	struct net_device *dev;
	int err = -ENODEV;

	rtnl_lock();
	dev = ndp_nl_device(info);
	if (dev)
		err = change(dev);
	rtnl_unlock();
	return err;
}

static int ndp_nl_repair_add(struct sk_buff *skb, struct genl_info *info)
{
	int err = ndp_nl_repair(info, ndp_repair_add);

	if (err == -EEXIST)
		GENL_SET_ERR_MSG(info, "lengths are repaired there already");
	if (err == -EOPNOTSUPP)
		GENL_SET_ERR_MSG(info, "the kernel lacks CONFIG_NETFILTER_INGRESS");
	return err;
}

static int ndp_nl_repair_del(struct sk_buff *skb, struct genl_info *info)
{
	int err = ndp_nl_repair(info, ndp_repair_del);

	if (err == -ENOENT)
		GENL_SET_ERR_MSG(info, "lengths are not repaired there");
	return err;
}

static int ndp_repair_fill(struct sk_buff *skb, struct netlink_callback *cb,
			   const struct net_device *dev)
{
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &ndp_genl, NLM_F_MULTI, NDP_CMD_REPAIR_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, NDP_A_IFINDEX, dev->ifindex)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genl_dump_check_consistent(cb, hdr);
	genlmsg_end(skb, hdr);
	return 0;
}

/* cb->args[0] counts the devices looked at so far; cb->seq as above. */
static int ndp_nl_repair_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct net_device *dev;
	long i = 0;

	rtnl_lock();
	cb->seq = sock_net(skb->sk)->dev_base_seq;
	for_each_netdev(sock_net(skb->sk), dev) {
		if (i++ < cb->args[0])
			continue;
		if (ndp_repair_on(dev) && ndp_repair_fill(skb, cb, dev))
			break;
		cb->args[0] = i;
	}
	rtnl_unlock();
	return skb->len;
}

static const struct genl_ops ndp_genl_ops[] = {
	{
		.cmd = NDP_CMD_PATH_ADD,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = ndp_nl_path_add,
	}, {
		.cmd = NDP_CMD_PATH_DEL,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = ndp_nl_path_del,
	}, {
		.cmd = NDP_CMD_PATH_GET,
		.dumpit = ndp_nl_path_dump,
	}, {
		.cmd = NDP_CMD_PEER_GET,
		.start = ndp_nl_peer_start,
		.dumpit = ndp_nl_peer_dump,
		.done = ndp_nl_peer_done,
	}, {
		.cmd = NDP_CMD_REPAIR_ADD,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = ndp_nl_repair_add,
	}, {
		.cmd = NDP_CMD_REPAIR_DEL,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = ndp_nl_repair_del,
	}, {
		.cmd = NDP_CMD_REPAIR_GET,
		.dumpit = ndp_nl_repair_dump,
	}, {
		.cmd = NDP_CMD_DEV_GET,
		.dumpit = ndp_nl_dev_dump,
	},
};

struct genl_family ndp_genl __ro_after_init = {
	.name = NDP_GENL_NAME,
	.version = NDP_GENL_VERSION,
	.maxattr = NDP_A_MAX,
	.policy = ndp_path_policy,
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = ndp_genl_ops,
	.n_ops = ARRAY_SIZE(ndp_genl_ops),
	.mcgrps = &ndp_event_group,
	.n_mcgrps = 1,
	/* Earlier commands may have anything in the reserved bytes of the genl header. */
	.resv_start_op = NDP_CMD_DEV_GET,
};

int __init ndp_netlink_init(void)
{
	int err = ndp_event_init();

	if (err)
		return err;
	err = genl_register_family(&ndp_genl);
	if (err)
		ndp_event_exit();
	return err;
}

/* Context: there is no socket. */
void ndp_netlink_exit(void)
{
	ndp_event_exit();
	genl_unregister_family(&ndp_genl);
}
