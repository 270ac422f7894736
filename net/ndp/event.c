// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP events: notifications by generic netlink of what an operator wants to know at once.
 *
 * Events are connections that begin and end, paths that are left out and come back, timeouts, and
 * floods of openings.  Each is sent to a generic netlink multicast group in its own namespace.
 * While nobody on this machine listens an event costs a look at a bitmap; whether a listener is in
 * the event's namespace is found out only when the message is sent.
 *
 * Any user may listen, as any user may list sockets (diag.c) and paths (netlink.c): an event shows
 * what these lists show and no more, so it has no connection id, no mark and no user.
 * A rate limit, NDP_EVENTS_RATE, keeps an unprivileged listener from making the host work for each
 * packet of a flood.  Events beyond it, or without memory, are counted as lost, and the next event
 * reports how many there were.  The flood event, sent once a second, is exempt from the limit.
 *
 * These functions are called from all layers, as tracepoints are, under the locks of connections
 * and peers and with softirqs off; they call none of these layers.  The message is written there
 * but sent by a worker, since sending walks all generic netlink listeners of the machine, and
 * any user may add to these.
 *
 * Non-goals: single packets (trace.h).
 */
#include "event.h"
#include "path.h"

/* Events in a burst that the rate limit lets pass. */
#define NDP_EVENTS_BURST	NDP_EVENTS_RATE

/* Interval between the events of one flood. */
#define NDP_EVENT_FLOOD_EACH	(1000 * NDP_MSEC)

/* Bytes that all attributes of any event fit into. */
#define NDP_EVENT_SIZE		256

const struct genl_multicast_group ndp_event_group = {
	.name = NDP_GENL_EVENTS,
};

static struct workqueue_struct *ndp_event_wq;

/* An event that is being written. */
struct ndp_event_msg {
	struct net	*net;
	struct sk_buff	*skb;
	void		*hdr;
	u32		lost;	/* events whose loss it reports */
};

/**
 * ndp_nl_put_addr - put an address into a netlink message
 * @skb:	message
 * @attr:	attribute
 * @addr:	address; a mapped IPv4 address is put as struct in_addr
 *
 * Return: 0 or -EMSGSIZE.
 */
int ndp_nl_put_addr(struct sk_buff *skb, int attr, const struct in6_addr *addr)
{
	return ndp_is_ip4(addr) ? nla_put_in_addr(skb, attr, ndp_ip4(addr)) :
				  nla_put_in6_addr(skb, attr, addr);
}

/* Does somebody listen?  KUnit builds have no genl family, and their sockets no namespace. */
static bool ndp_event_heard(struct net *net)
{
#ifdef NOTRACE
	return false;
#else
	return genl_has_listeners(&ndp_genl, net, 0);
#endif
}

/* Does the rate limit allow another event? */
static bool ndp_event_due(struct ndp_net *nn)
{
	const s64 each = NSEC_PER_SEC / NDP_EVENTS_RATE;
	s64 at, now = ktime_get_ns();

	at = atomic64_read(&nn->event_at);
	do {
		if (at > now + NDP_EVENTS_BURST * each)
			return false;
	} while (!atomic64_try_cmpxchg(&nn->event_at, &at, max(at, now) + each));
	return true;
}

static void ndp_event_lost(struct net *net, u32 n)
{
	NDP_INC(net, EVENTS_LOST);
	atomic_add(n, &ndp_pernet(net)->events_lost);
}

/* Begin an event's message.  Return: false if none is to be written. */
static bool ndp_event_begin(struct ndp_event_msg *m, struct net *net, enum ndp_event event)
{
	struct ndp_net *nn;

	if (!ndp_event_heard(net))
		return false;
	nn = ndp_pernet(net);
	m->net = net;
	m->skb = event == NDP_EVENT_FLOOD || ndp_event_due(nn) ?
		 genlmsg_new(NDP_EVENT_SIZE, GFP_ATOMIC | __GFP_NOWARN) : NULL;
	if (!m->skb) {
		ndp_event_lost(net, 1);
		return false;
	}
	m->lost = atomic_xchg(&nn->events_lost, 0);
	/* The header and these two attributes always fit. */
	m->hdr = genlmsg_put(m->skb, 0, 0, &ndp_genl, 0, NDP_CMD_EVENT);
	nla_put_u32(m->skb, NDP_E_EVENT, event);
	if (m->lost)
		nla_put_u32(m->skb, NDP_E_LOST, m->lost);
	return true;
}

/* @err: nonzero if not all attributes fitted */
static void ndp_event_end(struct ndp_event_msg *m, int err)
{
	struct ndp_net *nn = ndp_pernet(m->net);

	if (WARN_ON_ONCE(err) || skb_queue_len_lockless(&nn->events) > NDP_EVENTS_BURST) {
		nlmsg_free(m->skb);
		ndp_event_lost(m->net, m->lost + 1);
		return;
	}
	genlmsg_end(m->skb, m->hdr);
	skb_queue_tail(&nn->events, m->skb);
	queue_work(ndp_event_wq, &nn->event_work);
}

/* A listener that is too slow gets ENOBUFS from its own socket. */
static void ndp_event_work(struct work_struct *work)
{
	struct ndp_net *nn = container_of(work, struct ndp_net, event_work);
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&nn->events))) {
		genlmsg_multicast_netns(&ndp_genl, nn->net, skb, 0, 0, GFP_KERNEL);
		cond_resched();
	}
}

void ndp_event_net_init(struct net *net)
{
	struct ndp_net *nn = ndp_pernet(net);

	nn->net = net;
	skb_queue_head_init(&nn->events);
	INIT_WORK(&nn->event_work, ndp_event_work);
}

/* Context: no socket is left in the namespace, and no packet is being received. */
void ndp_event_net_exit(struct ndp_net *nn)
{
	cancel_work_sync(&nn->event_work);
	skb_queue_purge(&nn->events);
}

int __init ndp_event_init(void)
{
	ndp_event_wq = alloc_workqueue("ndp_events", WQ_UNBOUND, 0);
	return ndp_event_wq ? 0 : -ENOMEM;
}

/* Context: there is no socket; the family is registered, as messages may still be sent. */
void ndp_event_exit(void)
{
	destroy_workqueue(ndp_event_wq);
}

static int ndp_event_put_hosts(struct sk_buff *skb, const struct ndp_sock *np)
{
	return ndp_nl_put_addr(skb, NDP_E_SRC, &np->saddr) ?:
	       ndp_nl_put_addr(skb, NDP_E_DST, &np->daddr);
}

static int ndp_event_put_conn(struct sk_buff *skb, const struct ndp_sock *np)
{
	return ndp_event_put_hosts(skb, np) ?:
	       nla_put_u16(skb, NDP_E_SPORT, ntohs(np->inet.inet_sport)) ?:
	       nla_put_u16(skb, NDP_E_DPORT, ntohs(np->inet.inet_dport)) ?:
	       nla_put_u8(skb, NDP_E_ROLE, np->acceptor);
}

/**
 * ndp_event_open - a connection begins
 * @np:		connection, its addresses and ports known
 *
 * If a packet has ended the connection before this call, nothing is ever reported of it.
 *
 * Context of this and those below: np->lock held, softirqs off.
 */
void ndp_event_open(struct ndp_sock *np)
{
	struct ndp_event_msg m;

	if (np->inet.sk.sk_state == TCP_CLOSE)
		return;
	np->told_open = true;
	if (ndp_event_begin(&m, sock_net(&np->inet.sk), NDP_EVENT_OPEN))
		ndp_event_end(&m, ndp_event_put_conn(m.skb, np));
}

/**
 * ndp_event_close - a connection is over
 * @np:		connection, its state not changed yet
 * @abort:	it ends before both sides had finished
 * @err:	error that the application gets (positive errno), or 0
 */
void ndp_event_close(struct ndp_sock *np, bool abort, int err)
{
	struct ndp_event_msg m;

	/* An aborted connection may be disconnected later: its end was reported already. */
	if (!np->told_open)
		return;
	np->told_open = false;
	if (!ndp_event_begin(&m, sock_net(&np->inet.sk), NDP_EVENT_CLOSE))
		return;
	ndp_event_end(&m, ndp_event_put_conn(m.skb, np) ?:
			  (abort ? nla_put_flag(m.skb, NDP_E_ABORT) : 0) ?:
			  (err ? nla_put_u32(m.skb, NDP_E_ERROR, err) : 0));
}

/**
 * ndp_event_path - a path is left out, or back in use
 * @np:		connection whose packet caused the change
 * @control:	for answers, else for DATA
 * @i:		index of the path
 * @out:	the path is left out, else back in use
 */
void ndp_event_path(const struct ndp_sock *np, bool control, u16 i, bool out)
{
	const struct ndp_path *path = &np->peer->path[i];
	const struct ndp_score *s = control ? &path->control : &path->data;
	struct ndp_event_msg m;
	u32 out_us;

	if (!ndp_event_begin(&m, sock_net(&np->inet.sk),
			     out ? NDP_EVENT_PATH_OUT : NDP_EVENT_PATH_BACK))
		return;
	out_us = div_u64(s->out_ns, NSEC_PER_USEC);
	ndp_event_end(&m, ndp_event_put_hosts(m.skb, np) ?:
			  ndp_nl_put_addr(m.skb, NDP_E_VIA, &path->daddr) ?:
			  nla_put_u16(m.skb, NDP_E_ENTROPY, ntohs(READ_ONCE(path->sport))) ?:
			  nla_put_u16(m.skb, NDP_E_PATH, i) ?:
			  (control ? nla_put_flag(m.skb, NDP_E_CONTROL) : 0) ?:
			  (s->silent ? nla_put_flag(m.skb, NDP_E_SILENT) : 0) ?:
			  nla_put_u32(m.skb, NDP_E_OUT, out_us));
}

/**
 * ndp_event_timeout - packets have timed out
 * @np:		connection
 * @packets:	how many
 */
void ndp_event_timeout(const struct ndp_sock *np, u32 packets)
{
	struct ndp_event_msg m;

	if (ndp_event_begin(&m, sock_net(&np->inet.sk), NDP_EVENT_TIMEOUT))
		ndp_event_end(&m, ndp_event_put_conn(m.skb, np) ?:
				  nla_put_u32(m.skb, NDP_E_PACKETS, packets));
}

/* Is a flood event due?  At most one is sent per NDP_EVENT_FLOOD_EACH. */
static bool ndp_event_flood_due(struct ndp_net *nn)
{
	s64 last = atomic64_read(&nn->flood_at), now = ktime_get_ns();

	if (last && now - last < NDP_EVENT_FLOOD_EACH)
		return false;
	return atomic64_try_cmpxchg(&nn->flood_at, &last, now);
}

/**
 * ndp_event_flood - there are so many openings that one has to show a cookie
 * @lsk:	listener
 * @addr:	local address that the opening was sent to
 */
void ndp_event_flood(const struct sock *lsk, const struct in6_addr *addr)
{
	struct net *net = sock_net(lsk);
	struct ndp_event_msg m;

	if (!ndp_event_heard(net) || !ndp_event_flood_due(ndp_pernet(net)) ||
	    !ndp_event_begin(&m, net, NDP_EVENT_FLOOD))
		return;
	ndp_event_end(&m, ndp_nl_put_addr(m.skb, NDP_E_SRC, addr) ?:
			  nla_put_u16(m.skb, NDP_E_SPORT, ntohs(inet_sk(lsk)->inet_sport)));
}
