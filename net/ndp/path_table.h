/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, the paths that are configured.
 */
#ifndef _NDP_PATH_TABLE_H
#define _NDP_PATH_TABLE_H

#include "net.h"

/**
 * struct ndp_path_spec - one configured path
 * @list:	in ndp_path_dst.paths of its destination
 * @via:	alias address, or prefix that replaces the destination's; :: for the
 *		destination itself
 * @entropy:	UDP source port, 0 for random
 * @mark:	routing mark
 * @rcu:	for readers
 */
struct ndp_path_spec {
	struct list_head	list;
	struct in6_addr		via;
	__be16			entropy;
	u32			mark;
	struct rcu_head		rcu;
};

/* Length of the prefix that IPv4's addresses are mapped into. */
#define NDP_PLEN_IP4		96

/**
 * struct ndp_path_prefix - which addresses a destination covers
 * @addr:	prefix
 * @plen:	prefix length; for IPv4, NDP_PLEN_IP4 more
 */
struct ndp_path_prefix {
	struct in6_addr		addr;
	u32			plen;
};

/**
 * struct ndp_path_dst - a destination with configured paths
 * @node:	in ndp_net.path_table
 * @list:	in ndp_net.path_dsts, longest prefix first
 * @prefix:	which addresses
 * @n:		number of paths
 * @gen:	ndp_net.path_gen when its paths last changed
 * @paths:	list of struct ndp_path_spec
 * @rcu:	for readers
 */
struct ndp_path_dst {
	struct rhash_head	node;
	struct list_head	list;
	struct ndp_path_prefix	prefix;
	u16			n;
	u32			gen;
	struct list_head	paths;
	struct rcu_head		rcu;
};

/* path_table.c */
int ndp_path_table_init(struct ndp_net *nn);
void ndp_path_table_exit(struct ndp_net *nn);
struct ndp_path_dst *ndp_path_table_find(struct ndp_net *nn,
					 const struct ndp_path_prefix *prefix);
int ndp_path_table_add(struct ndp_net *nn, struct ndp_path_dst *dst);
void ndp_path_table_del(struct ndp_net *nn, struct ndp_path_dst *dst);
void ndp_path_changed(struct ndp_net *nn, struct ndp_path_dst *dst);
const struct ndp_path_dst *ndp_path_configured(struct ndp_net *nn,
					       const struct in6_addr *daddr);
struct in6_addr ndp_path_daddr(const struct ndp_path_dst *dst,
			       const struct ndp_path_spec *spec,
			       const struct in6_addr *daddr);

#endif /* _NDP_PATH_TABLE_H */
