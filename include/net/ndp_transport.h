/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP transports: who may send what, and when.
 *
 * The core of net/ndp opens and ends connections, numbers packets, keeps those that are
 * not acknowledged, finds out which are lost, puts those that have arrived in order, and
 * knows the room for more.  A transport decides which packet may leave, when, by which
 * path, and what an answer says.  NDP's own, by pulls (NDP paper, section 3.2), is
 * credit.c, grant.c and pull.c there.  Documentation/transports.md: how to write one.
 *
 * Non-goals: congestion control of the kind that TCP's modules have; a transport has
 * both ends of the connection.
 */
#ifndef _NET_NDP_TRANSPORT_H
#define _NET_NDP_TRANSPORT_H

#include <linux/device/driver.h>
#include <linux/types.h>

struct module;
struct ndp_info;
struct ndp_sock;
struct ndp_tx_cb;
struct ndphdr;
struct net_device;

/* Bytes of a connection that are its transport's own, zero at first. */
#define NDP_TRANSPORT_PRIV	128

/* Length of a transport's name, with its end; NDP_TRANSPORT_NAME_MAX of the uapi. */
#define NDP_TRANSPORT_NAME	16

/**
 * enum ndp_send - a packet that could leave, in the order in which they are offered
 * @NDP_SEND_LOST:	found lost, or sent again by nobody's fault
 * @NDP_SEND_NACKED:	refused by the receiver, or trimmed on its way
 * @NDP_SEND_NEW:	never sent
 * @NDP_SEND_EMPTY:	never sent, without payload: a FIN, or a bare opening, for which a
 *			transport is not asked
 */
enum ndp_send {
	NDP_SEND_LOST,
	NDP_SEND_NACKED,
	NDP_SEND_NEW,
	NDP_SEND_EMPTY,
};

/**
 * enum ndp_arrival - how a DATA or FIN packet arrived
 * @NDP_ARRIVED_WHOLE:	with its payload, and is taken
 * @NDP_ARRIVED_TRIMMED: without, or with a damaged one
 * @NDP_ARRIVED_WRONG:	longer than it says; no transport sees it
 * @NDP_ARRIVED_REFUSED: whole, and there is no room
 * @NDP_ARRIVED_EARLY:	whole, and the transport does not take it yet
 * @NDP_ARRIVED_AGAIN:	it has been received before
 */
enum ndp_arrival {
	NDP_ARRIVED_WHOLE,
	NDP_ARRIVED_TRIMMED,
	NDP_ARRIVED_WRONG,
	NDP_ARRIVED_REFUSED,
	NDP_ARRIVED_EARLY,
	NDP_ARRIVED_AGAIN,
};

/**
 * struct ndp_transport - a transport
 * @name:	what NDP_TRANSPORT says; modules that have one are found as
 *		ndp-transport-NAME
 * @owner:	module, held by each socket; NULL for ndp.ko itself
 * @id:		what the opening says, &enum ndp_transport_id
 * @credit:	the peer's leave to send is the transport's own.  It has to say @granted,
 *		@stamp, @probed and @more.  Without it the core tells the peer the room
 *		there is, and keeps within the room of the peer (window.c)
 * @ecn:	its DATA says in the IP header that it is ECN-capable (ECT(0)), so that ports
 *		mark it; each answer tells whether its packet was (NDP_F_ECE)
 * @echo:	an answer takes the path that has the number of its packet's: so a path has one
 *		round-trip time, and is slow or not.  Without it answers are sprayed
 * @asks:	not each packet is answered.  What arrives whole and in order is answered only if
 *		@sent asked for it, or by the PULL that tells of more room (window.c); silence is
 *		asked about by PROBE, and no timeout is shorter than 200 ms.  The last packet that
 *		was written, and what is sent again, are answered in any case.  Without it, or
 *		credit, each packet is, at once
 * @lossless:	it needs a network that drops nothing for want of room; elsewhere its connections
 *		are refused (lossless.c)
 * @priv_size:	bytes used of ndp_sock.priv
 *
 * @init:	a connection has its paths and sizes; @start: number at which counters
 *		on the wire begin (0 but in tests)
 * @detach:	a connection ends; what others point to in it is undone.  The caller has a
 *		reference.  May come without @init and more than once
 *
 * The sending end:
 * @may_send:	may a packet of @len bytes of payload leave now?  Asked anew after
 *		each event and each packet
 * @pick_path:	by which path a packet leaves, an index below ndp_peer.n.  Without it:
 *		by the next of the permutation, and when sent again by another
 * @not_before:	when a packet of @len bytes of payload that has been let go may leave the
 *		host's qdisc, ktime_get_ns(), 200 ms ahead at most; 0: at once.  No earlier
 *		than that of the packet before.  Obeyed by fq and by sch_ndp in mode host,
 *		ignored by others
 * @sent:	that packet, whose number it has now, leaves; its &struct ndp_tx_cb says
 *		whether it is the last written (flags).  May set @pulled of it, and @asked
 * @stalled:	packets are NACKed and nothing may leave.  Return: one was made lost, ask
 *		again
 * @idle:	all that was written is acknowledged
 * @granted:	an answer tells of the receiver's counters and window
 * @acked:	a packet was acknowledged and is about to be forgotten; @cumulative: by a
 *		number above it
 * @nacked:	a packet has come without its payload; it is NACKed from now on
 * @returned:	a switch returned the header of one.  Return: it may leave again at
 *		once, else, and without this, it waits as if NACKed
 * @lost:	a packet was not answered in time; it is offered again
 * @overtaken:	one that left later was acknowledged, so that this is lost (order.c).  Return:
 *		it may leave again at once, else it waits as if NACKed.  Without this the core
 *		does not look for the order, and each packet has a timeout of its own
 * @answered:	an ACK or NACK has come, and what it tells is known to all others above:
 *		a clock for transports that send upon answers.  @news: the packet of its header
 *		was not known yet to have arrived (ACK), or to have been refused or trimmed
 *		(NACK)
 * @pulled:	a PULL has arrived, after @granted and what it acknowledges
 * @timer:	ndp_sock.transport_at was due, and is 0
 *
 * The receiving end:
 * @header:	a control packet has arrived by @dev
 * @signal:	and it is a SIGNAL of the peer's transport.  Whoever can forge one of the
 *		connection's packets can forge this
 * @takes:	whole DATA or FIN has arrived, for the first time: is it taken?  What is not is
 *		answered by NACK and comes again.  The lowest missing one must be
 * @marked:	DATA or FIN has arrived with Congestion Experienced in its IP header
 * @arrived:	DATA or FIN has arrived by @dev; a whole one is not yet queued
 * @answer:	a whole one is queued now; it is going to be answered.  Not for what was
 *		received before, which is answered as well
 * @stamp:	an answer's header is complete; fill in the field that is the transport's
 * @probed:	the peer has data and no leave to send it: answer
 * @more:	there may be @room that was not there before; or there is none, but the
 *		peer is to hear how things stand.  Also behind @detach
 * @reorder:	the priority of the socket may have changed; with a connection or without
 * @info:	fill in what is the transport's of NDP_INFO; likewise
 *
 * Only @name, @id and @may_send must be there.
 *
 * Context of all: the connection's lock held, softirqs off, but for @init, where nobody else
 * may see the connection yet; in @header, @signal and @arrived RCU read side.  None may
 * sleep or fail.  The core calls ndp_output() after each event that could let a packet go.
 */
struct ndp_transport {
	char	name[NDP_TRANSPORT_NAME];
	struct module *owner;
	u8	id;
	bool	credit;
	bool	ecn;
	bool	echo;
	bool	asks;
	bool	lossless;
	u16	priv_size;

	void	(*init)(struct ndp_sock *np, u32 start);
	void	(*detach)(struct ndp_sock *np);

	bool	(*may_send)(const struct ndp_sock *np, enum ndp_send what, u32 len);
	u16	(*pick_path)(struct ndp_sock *np, const struct ndp_tx_cb *cb);
	u64	(*not_before)(struct ndp_sock *np, u32 len);
	void	(*sent)(struct ndp_sock *np, struct ndp_tx_cb *cb,
			enum ndp_send what, u32 len);
	bool	(*stalled)(struct ndp_sock *np);
	void	(*idle)(struct ndp_sock *np);
	void	(*granted)(struct ndp_sock *np, const struct ndphdr *nh);
	void	(*acked)(struct ndp_sock *np, const struct ndp_tx_cb *cb,
			 bool cumulative);
	void	(*nacked)(struct ndp_sock *np, const struct ndp_tx_cb *cb);
	bool	(*returned)(struct ndp_sock *np, const struct ndp_tx_cb *cb);
	void	(*lost)(struct ndp_sock *np, const struct ndp_tx_cb *cb);
	bool	(*overtaken)(struct ndp_sock *np, const struct ndp_tx_cb *cb);
	void	(*answered)(struct ndp_sock *np, const struct ndphdr *nh, bool news);
	void	(*pulled)(struct ndp_sock *np, const struct ndphdr *nh);
	void	(*timer)(struct ndp_sock *np);

	void	(*header)(struct ndp_sock *np, const struct net_device *dev);
	void	(*signal)(struct ndp_sock *np, u16 kind, u32 value);
	bool	(*takes)(const struct ndp_sock *np, const struct ndphdr *nh);
	void	(*marked)(struct ndp_sock *np);
	void	(*arrived)(struct ndp_sock *np, const struct ndphdr *nh,
			   const struct net_device *dev, enum ndp_arrival how);
	void	(*answer)(struct ndp_sock *np, const struct ndphdr *nh,
			  enum ndp_arrival how);
	void	(*stamp)(struct ndp_sock *np, struct ndphdr *nh);
	void	(*probed)(struct ndp_sock *np);
	void	(*more)(struct ndp_sock *np, bool room);
	void	(*reorder)(struct ndp_sock *np);
	void	(*info)(struct ndp_sock *np, struct ndp_info *info);
};

int ndp_transport_register(const struct ndp_transport *tp);
void ndp_transport_unregister(const struct ndp_transport *tp);

/**
 * module_ndp_transport() - what a module does that is one transport and nothing else
 * @tp:		struct ndp_transport
 */
#define module_ndp_transport(tp) \
	module_driver(tp, ndp_transport_register, ndp_transport_unregister)

#endif /* _NET_NDP_TRANSPORT_H */
