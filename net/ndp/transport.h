/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, how the core calls transports, and what transports may call of the core.
 */
#ifndef _NDP_CALL_TRANSPORT_H
#define _NDP_CALL_TRANSPORT_H

#include "conn.h"

/* transport.c */
const struct ndp_transport *ndp_transport_default(struct net *net);
const struct ndp_transport *ndp_transport_by_id(unsigned int id);
const struct ndp_transport *ndp_transport_by_name(const char *name);
void ndp_transport_put(const struct ndp_transport *tp);
int ndp_transport_set_default(struct ndp_net *nn, const char *name);
int ndp_transport_names(char *buf, size_t size, u32 ids);
int ndp_transport_ids(char *names, u32 *ids);
int ndp_transport_init(void);
void ndp_transport_exit(void);
void ndp_transport_net_init(struct ndp_net *nn);
void ndp_transport_net_exit(struct ndp_net *nn);

/* lossless.c */
bool ndp_lossless_ok(const struct net *net, const struct ndp_transport *tp,
		     const struct net_device *dev);

/* window.c */
bool ndp_window_allows(const struct ndp_sock *np, enum ndp_send what, u32 len);
void ndp_window_arrived(struct ndp_sock *np, const struct ndphdr *nh,
			enum ndp_arrival how);
void ndp_window_granted(struct ndp_sock *np, const struct ndphdr *nh);
u32 ndp_window_promise(struct ndp_sock *np);
void ndp_window_forget(struct ndp_sock *np);
void ndp_window_tell(struct ndp_sock *np, u8 flags);
void ndp_window_more(struct ndp_sock *np, bool room);

/* A connection's bytes that are private to its transport. */
static inline void *ndp_transport_priv(const struct ndp_sock *np)
{
	return (void *)np->priv;
}

/* The ops, with defaults for those that a transport lacks.  Context: see struct ndp_transport. */
static inline bool ndp_tp_may_send(const struct ndp_sock *np, enum ndp_send what,
				   u32 len)
{
	if (!np->tp->credit && !ndp_window_allows(np, what, len))
		return false;
	return np->tp->may_send(np, what, len);
}

/*
 * The room that is advertised to the peer.  If the transport has no credit that could be
 * withheld, no room is while the window is shut, or while the peer has to verify its address.
 */
static inline u32 ndp_tp_window(struct ndp_sock *np)
{
	if (!np->tp->credit && (np->window_shut || ndp_must_verify(np)))
		return 0;
	return np->tp->asks ? ndp_window_promise(np) : ndp_window(np);
}

static inline void ndp_tp_sent(struct ndp_sock *np, struct ndp_tx_cb *cb,
			       enum ndp_send what, u32 len)
{
	if (np->tp->sent)
		np->tp->sent(np, cb, what, len);
}

static inline bool ndp_tp_stalled(struct ndp_sock *np)
{
	return np->tp->stalled && np->tp->stalled(np);
}

static inline void ndp_tp_idle(struct ndp_sock *np)
{
	if (np->tp->idle)
		np->tp->idle(np);
}

static inline void ndp_tp_granted(struct ndp_sock *np, const struct ndphdr *nh)
{
	if (!np->tp->credit)
		ndp_window_granted(np, nh);
	if (np->tp->granted)
		np->tp->granted(np, nh);
}

static inline void ndp_tp_acked(struct ndp_sock *np, const struct ndp_tx_cb *cb,
				bool cumulative)
{
	if (np->tp->acked)
		np->tp->acked(np, cb, cumulative);
}

static inline void ndp_tp_nacked(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	if (np->tp->nacked)
		np->tp->nacked(np, cb);
}

static inline bool ndp_tp_returned(struct ndp_sock *np,
				   const struct ndp_tx_cb *cb)
{
	return np->tp->returned && np->tp->returned(np, cb);
}

static inline void ndp_tp_lost(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	if (np->tp->lost)
		np->tp->lost(np, cb);
}

static inline void ndp_tp_answered(struct ndp_sock *np, const struct ndphdr *nh,
				   bool news)
{
	if (np->tp->answered)
		np->tp->answered(np, nh, news);
}

static inline bool ndp_tp_takes(const struct ndp_sock *np, const struct ndphdr *nh)
{
	return !np->tp->takes || np->tp->takes(np, nh);
}

static inline void ndp_tp_marked(struct ndp_sock *np)
{
	if (np->tp->marked)
		np->tp->marked(np);
}

static inline void ndp_tp_pulled(struct ndp_sock *np, const struct ndphdr *nh)
{
	if (np->tp->pulled)
		np->tp->pulled(np, nh);
}

static inline void ndp_tp_header(struct ndp_sock *np, const struct net_device *dev)
{
	if (np->tp->header)
		np->tp->header(np, dev);
}

static inline void ndp_tp_arrived(struct ndp_sock *np, const struct ndphdr *nh,
				  const struct net_device *dev,
				  enum ndp_arrival how)
{
	if (!np->tp->credit)
		ndp_window_arrived(np, nh, how);
	if (np->tp->arrived)
		np->tp->arrived(np, nh, dev, how);
}

static inline void ndp_tp_answer(struct ndp_sock *np, const struct ndphdr *nh,
				 enum ndp_arrival how)
{
	if (np->tp->answer)
		np->tp->answer(np, nh, how);
}

static inline void ndp_tp_stamp(struct ndp_sock *np, struct ndphdr *nh)
{
	if (!np->tp->credit)
		ndp_window_stamp(np, nh);
	if (np->tp->stamp)
		np->tp->stamp(np, nh);
}

static inline void ndp_tp_probed(struct ndp_sock *np)
{
	np->window_shut = false;
	if (np->tp->asks)
		ndp_window_forget(np);
	if (!np->tp->credit)
		ndp_window_tell(np, 0);
	if (np->tp->probed)
		np->tp->probed(np);
}

static inline void ndp_tp_more(struct ndp_sock *np, bool room)
{
	if (!np->tp->credit)
		ndp_window_more(np, room);
	if (np->tp->more)
		np->tp->more(np, room);
}

static inline void ndp_tp_timer(struct ndp_sock *np)
{
	np->transport_at = 0;
	if (np->tp->timer)
		np->tp->timer(np);
}

static inline void ndp_tp_detach(struct ndp_sock *np)
{
	np->transport_at = 0;
	if (np->tp->detach)
		np->tp->detach(np);
}

#endif /* _NDP_CALL_TRANSPORT_H */
