/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP transports: which packet may be sent, and when.
 *
 * The core of net/ndp opens and closes connections, numbers packets, keeps the unacknowledged
 * ones, detects losses, reorders arrivals, and keeps account of the receive buffer.  A transport
 * decides which packet may leave, when and by which path, and what an answer carries.  NDP's own
 * transport, which sends on pulls (NDP paper, section 3.2), is credit.c, grant.c and pull.c
 * there.  Documentation/transports.md: how to write one.
 *
 * Non-goals: congestion control of the kind that TCP's modules have; a transport controls both
 * ends of the connection.
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

/* Bytes of private data of a transport for each connection, zero at first. */
#define NDP_TRANSPORT_PRIV	128

/* Length of a transport's name, final zero included; NDP_TRANSPORT_NAME_MAX of the uapi. */
#define NDP_TRANSPORT_NAME	16

/**
 * enum ndp_send - why a packet could leave, in the order in which packets are offered
 * @NDP_SEND_LOST:	declared lost, or retransmitted for another reason than loss
 * @NDP_SEND_NACKED:	refused by the receiver, or trimmed on its way
 * @NDP_SEND_NEW:	never sent yet
 * @NDP_SEND_EMPTY:	never sent yet, without payload: a FIN, or a bare opening, which needs no
 *			permission of the transport
 */
enum ndp_send {
	NDP_SEND_LOST,
	NDP_SEND_NACKED,
	NDP_SEND_NEW,
	NDP_SEND_EMPTY,
};

/**
 * enum ndp_arrival - how a DATA or FIN packet arrived
 * @NDP_ARRIVED_WHOLE:	with its payload, and is accepted
 * @NDP_ARRIVED_TRIMMED: without its payload, or with a damaged one
 * @NDP_ARRIVED_WRONG:	longer than its header announces; no transport sees it
 * @NDP_ARRIVED_REFUSED: whole, but there is no receive buffer for it
 * @NDP_ARRIVED_EARLY:	whole, but the transport does not accept it yet
 * @NDP_ARRIVED_AGAIN:	duplicate of a packet received before
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
 * @name:	value of NDP_TRANSPORT; a module that has one is found as ndp-transport-NAME
 * @owner:	module, of which each socket holds a reference; NULL for ndp.ko itself
 * @id:		number in openings, &enum ndp_transport_id
 * @credit:	the transport itself controls what the peer may send.  It must have @granted,
 *		@stamp, @probed and @more.  Without @credit the core advertises the receive window
 *		to the peer, and obeys the peer's (window.c)
 * @ecn:	DATA is sent as ECN-capable (ECT(0)) in the IP header, so that ports mark it; each
 *		answer reports whether its packet was marked (NDP_F_ECE)
 * @echo:	an answer takes the path with the same number as its packet's path, so that the
 *		round-trip time of each path can be measured.  Without it answers are sprayed
 * @asks:	not each packet is answered.  Packets that arrive whole and in order are answered
 *		only if @sent asked for it, or by the PULL that announces more room (window.c);
 *		after silence the peer is asked by PROBE, and no timeout is shorter than 200 ms.
 *		The last packet that was written, and retransmissions, are always answered.  With
 *		neither @asks nor @credit, each packet is answered at once
 * @lossless:	it needs a network without drops for want of buffer; elsewhere its connections are
 *		refused (lossless.c)
 * @priv_size:	bytes used of ndp_sock.priv
 *
 * @init:	a connection has its paths and sizes; @start: initial value of counters on the
 *		wire (0 but in tests)
 * @detach:	a connection ends: undo pointers that others have to it.  The caller has a
 *		reference.  May be called without @init, and more than once
 *
 * The sending end:
 * @may_send:	may a packet of @len bytes of payload leave now?  Asked again after each event and
 *		each packet
 * @pick_path:	path by which a packet leaves, an index below ndp_peer.n.  Without it the next
 *		path of the permutation is used, and another path for a retransmission
 * @not_before:	departure time from the host's qdisc of a packet with @len bytes of payload that
 *		may leave, in ktime_get_ns() time, 200 ms ahead at most; 0: at once.  Not earlier
 *		than that of the packet before.  Obeyed by fq and by sch_ndp in mode host, ignored
 *		by others
 * @sent:	a packet leaves, and has its number; its &struct ndp_tx_cb shows whether it is the
 *		last one written (flags).  May set @pulled and @asked in it
 * @stalled:	packets are NACKed and nothing may leave.  Return: true if a packet was declared
 *		lost: ask @may_send again
 * @idle:	all data written is acknowledged
 * @granted:	an answer reports the receiver's counters and window
 * @acked:	a packet was acknowledged and will be freed; @cumulative: by a number above its
 *		own
 * @nacked:	a packet arrived without its payload; it is NACKed from now on
 * @returned:	a switch returned the header of a packet.  Return: true if the packet may leave
 *		again at once, else, and without this callback, it waits as if NACKed
 * @lost:	a packet was not answered in time; it is offered again
 * @overtaken:	a packet that left later was acknowledged, so this one is declared lost (order.c).
 *		Return: true if it may leave again at once, else it waits as if NACKed.  Without
 *		this callback the core does not check the order, and each packet has a timeout of
 *		its own
 * @answered:	an ACK or NACK has arrived, and the callbacks above have handled it: a clock for
 *		transports that send upon answers.  @news: the packet named in its header was not
 *		known yet to have arrived (ACK), or to have been refused or trimmed (NACK)
 * @pulled:	a PULL has arrived; called after @granted, and after the packets that it
 *		acknowledges
 * @timer:	ndp_sock.transport_at has expired, and is 0 now
 *
 * The receiving end:
 * @header:	a control packet has arrived on @dev
 * @signal:	that control packet is a SIGNAL of the peer's transport.  An attacker who can
 *		forge a packet of the connection can forge this one
 * @takes:	whole DATA or FIN has arrived for the first time: is it accepted?  If not, it is
 *		answered by NACK and retransmitted.  The lowest missing packet must be accepted
 * @marked:	DATA or FIN has arrived with Congestion Experienced in its IP header
 * @arrived:	DATA or FIN has arrived on @dev; a whole one is not yet queued
 * @answer:	a whole DATA or FIN packet is queued, and will be answered.  Not called for
 *		duplicates, which are answered as well
 * @stamp:	the header of an answer is complete; fill in the transport's field
 * @probed:	the peer has data and no permission to send it: answer
 * @more:	there may be @room that was not there before; or, if @room is false, the peer is
 *		only to be sent the present state.  Also called after @detach
 * @reorder:	the priority of the socket may have changed; with a connection or without
 * @info:	fill in the transport's part of NDP_INFO; with a connection or without
 *
 * Only @name, @id and @may_send are required.
 *
 * Context of all callbacks but @init: the connection's lock is held, softirqs are off; in
 * @header, @signal and @arrived also RCU read side.  In @init nobody else may see the connection
 * yet.  None may sleep or fail.  The core calls ndp_output() after each event that could let a
 * packet leave.
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
 * module_ndp_transport() - registration for a module that is one transport and nothing else
 * @tp:		struct ndp_transport
 */
#define module_ndp_transport(tp) \
	module_driver(tp, ndp_transport_register, ndp_transport_unregister)

#endif /* _NET_NDP_TRANSPORT_H */
