// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP transports: their registration, and the choice of one for a socket.
 *
 * As with TCP's congestion control, a transport is chosen by its name: by NDP_TRANSPORT for a
 * socket, by net.ndp.transport for new sockets of a namespace.  Modules are loaded by that name
 * (ndp-transport-NAME) for callers with CAP_NET_ADMIN.  Unlike there, both ends must have the
 * same transport: an opening names it by number, and no module is loaded for a peer.  A socket
 * holds the module of its transport.
 *
 * Non-goals: what a transport does (include/net/ndp_transport.h).
 */
#include <linux/kmod.h>
#include <linux/module.h>
#include "transport.h"

static const struct ndp_transport __rcu *ndp_transports[NDP_TRANSPORT_IDS];
static DEFINE_MUTEX(ndp_transports_mutex);

static bool ndp_transport_complete(const struct ndp_transport *tp)
{
	if (!tp->name[0] || strnlen(tp->name, sizeof(tp->name)) == sizeof(tp->name) ||
	    tp->id >= NDP_TRANSPORT_IDS || !tp->may_send ||
	    tp->priv_size > NDP_TRANSPORT_PRIV || (tp->credit && tp->asks))
		return false;
	return !tp->credit || (tp->granted && tp->stamp && tp->probed && tp->more);
}

/* Context: RCU read side, or the mutex held. */
static const struct ndp_transport *ndp_transport_find(const char *name)
{
	const struct ndp_transport *tp;
	int i;

	for (i = 0; i < NDP_TRANSPORT_IDS; i++) {
		tp = rcu_dereference_check(ndp_transports[i],
					   lockdep_is_held(&ndp_transports_mutex));
		if (tp && !strcmp(tp->name, name))
			return tp;
	}
	return NULL;
}

/**
 * ndp_transport_register - offer a transport to sockets
 * @tp:		transport, constant until ndp_transport_unregister()
 *
 * Context: process.
 * Return: 0, -EINVAL if an op, name or number is missing or the private state is too large,
 * -EEXIST if the name or number is taken.
 */
int ndp_transport_register(const struct ndp_transport *tp)
{
	int err = 0;

	if (!ndp_transport_complete(tp))
		return -EINVAL;
	mutex_lock(&ndp_transports_mutex);
	if (ndp_transport_find(tp->name) ||
	    rcu_access_pointer(ndp_transports[tp->id]))
		err = -EEXIST;
	else
		rcu_assign_pointer(ndp_transports[tp->id], tp);
	mutex_unlock(&ndp_transports_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(ndp_transport_register);

/**
 * ndp_transport_unregister - withdraw a transport
 * @tp:		transport
 *
 * Sockets hold the module, so none has the transport when the module's exit calls this.
 *
 * Context: process; waits for a grace period.
 */
void ndp_transport_unregister(const struct ndp_transport *tp)
{
	mutex_lock(&ndp_transports_mutex);
	if (rcu_access_pointer(ndp_transports[tp->id]) == tp)
		RCU_INIT_POINTER(ndp_transports[tp->id], NULL);
	mutex_unlock(&ndp_transports_mutex);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(ndp_transport_unregister);

/* Context: RCU read side.  Return: @tp with its module held, or NULL. */
static const struct ndp_transport *
ndp_transport_get(const struct ndp_transport *tp)
{
	return tp && try_module_get(tp->owner) ? tp : NULL;
}

void ndp_transport_put(const struct ndp_transport *tp)
{
	module_put(tp->owner);
}

/**
 * ndp_transport_by_id - the transport that an opening names
 * @id:		&enum ndp_transport_id
 *
 * Context: any.
 * Return: transport, held, or NULL.
 */
const struct ndp_transport *ndp_transport_by_id(unsigned int id)
{
	const struct ndp_transport *tp = NULL;

	rcu_read_lock();
	if (id < NDP_TRANSPORT_IDS)
		tp = ndp_transport_get(rcu_dereference(ndp_transports[id]));
	rcu_read_unlock();
	return tp;
}

static const struct ndp_transport *ndp_transport_loaded(const char *name)
{
	const struct ndp_transport *tp;

	rcu_read_lock();
	tp = ndp_transport_get(ndp_transport_find(name));
	rcu_read_unlock();
	return tp;
}

/**
 * ndp_transport_by_name - the transport that a user names
 * @name:	its name
 *
 * Context: process; may load a module.
 * Return: transport, held, or NULL.
 */
const struct ndp_transport *ndp_transport_by_name(const char *name)
{
	const struct ndp_transport *tp = ndp_transport_loaded(name);

	if (tp || !capable(CAP_NET_ADMIN))
		return tp;
	request_module("ndp-transport-%s", name);
	return ndp_transport_loaded(name);
}

/**
 * ndp_transport_default - the transport of a new socket
 * @net:	namespace
 *
 * Context: process.
 * Return: transport, held.
 */
const struct ndp_transport *ndp_transport_default(struct net *net)
{
	const struct ndp_transport *tp;

	rcu_read_lock();
	/* The namespace holds it, but a writer of the sysctl may be dropping that reference. */
	tp = ndp_transport_get(rcu_dereference(ndp_pernet(net)->transport));
	rcu_read_unlock();
	return tp ?: &ndp_pull_transport;
}

/**
 * ndp_transport_set_default - set the transport of new sockets
 * @nn:		namespace
 * @name:	transport
 *
 * Context: process.
 * Return: 0 or -ENOENT.
 */
int ndp_transport_set_default(struct ndp_net *nn, const char *name)
{
	const struct ndp_transport *tp = ndp_transport_by_name(name);

	if (!tp)
		return -ENOENT;
	tp = unrcu_pointer(xchg(&nn->transport, RCU_INITIALIZER(tp)));
	/* A reader of the old pointer takes a reference of its own, or fails to. */
	ndp_transport_put(tp);
	return 0;
}

/**
 * ndp_transport_names - names of transports
 * @buf:	destination
 * @size:	size of @buf
 * @ids:	transports to name, a bit for each number
 *
 * Context: any.
 * Return: length without the terminating NUL.
 */
int ndp_transport_names(char *buf, size_t size, u32 ids)
{
	const struct ndp_transport *tp;
	int i, len = 0;

	buf[0] = 0;
	rcu_read_lock();
	for (i = 0; i < NDP_TRANSPORT_IDS; i++) {
		tp = rcu_dereference(ndp_transports[i]);
		if (tp && ids & BIT(i))
			len += scnprintf(buf + len, size - len, "%s%s",
					 len ? " " : "", tp->name);
	}
	rcu_read_unlock();
	return len;
}

/**
 * ndp_transport_ids - numbers of transports that a user names
 * @names:	names, spaces between them; written to
 * @ids:	set to a bit for each transport
 *
 * Context: process; may load modules.
 * Return: 0 or -ENOENT.
 */
int ndp_transport_ids(char *names, u32 *ids)
{
	const struct ndp_transport *tp;
	const char *name;

	*ids = 0;
	while ((name = strsep(&names, " "))) {
		if (!*name)
			continue;
		tp = ndp_transport_by_name(name);
		if (!tp)
			return -ENOENT;
		*ids |= BIT(tp->id);
		ndp_transport_put(tp);
	}
	return 0;
}

void ndp_transport_net_init(struct ndp_net *nn)
{
	RCU_INIT_POINTER(nn->transport, &ndp_pull_transport);
}

void ndp_transport_net_exit(struct ndp_net *nn)
{
	ndp_transport_put(rcu_dereference_protected(nn->transport, true));
}

int __init ndp_transport_init(void)
{
	return ndp_transport_register(&ndp_pull_transport);
}

void ndp_transport_exit(void)
{
	ndp_transport_unregister(&ndp_pull_transport);
}
