// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP receive memory: how packets are charged, and how much room is left.
 *
 * A connection's room is its receive buffer less what is queued in it and what was promised to
 * packets in flight; the limits of the namespace's memory and, before accept(), of the listener
 * apply as well.  The lowest missing packet has a slot of its own, however little room there is,
 * so that packets beyond a gap cannot lock it out (the NDP paper, section 3.2, does not discuss
 * receive buffers).
 *
 * Non-goals: the queues themselves (reassembly.c), granting the room to the sender (grant.c).
 */
#include "queue.h"

/**
 * ndp_rmem_charge - charge a packet that is about to be queued
 * @np:		connection
 * @skb:	packet
 *
 * Context: np->lock held.
 * Return: true if there was memory for the packet and it is charged.
 */
bool ndp_rmem_charge(struct ndp_sock *np, struct sk_buff *skb)
{
	struct sock *sk = ndp_to_sk(np);

	if (!sk_rmem_schedule(sk, skb, skb->truesize)) {
		NDP_INC(sock_net(sk), DROP_MEMORY);
		return false;
	}
	sk_mem_charge(sk, skb->truesize);
	atomic_add(skb->truesize, &sk->sk_rmem_alloc);
	ndp_mem_add(sk, skb->truesize);
	if (np->listener)
		atomic_add(skb->truesize, &ndp_sk(np->listener)->unaccepted);
	return true;
}

/**
 * ndp_rmem_uncharge - uncharge received packets that were consumed
 * @np:		connection
 * @truesize:	their total truesize
 *
 * Context: np->lock held.
 */
void ndp_rmem_uncharge(struct ndp_sock *np, u32 truesize)
{
	struct sock *sk = ndp_to_sk(np);

	atomic_sub(truesize, &sk->sk_rmem_alloc);
	ndp_mem_add(sk, -truesize);
	sk_mem_uncharge(sk, truesize);
	if (np->listener)
		atomic_sub(truesize, &ndp_sk(np->listener)->unaccepted);
}

/**
 * ndp_room - may one more packet be pulled?
 * @np:		connection
 *
 * Context: np->lock held; without it, an estimate.
 */
bool ndp_room(const struct ndp_sock *np)
{
	const struct sock *sk = &np->inet.sk;

	/* A packet pulled now would find no room and be pulled again. */
	if (ndp_listener_full(np, np->rcv_truesize))
		return false;
	if (ndp_starved(np))
		return true;
	return ndp_rmem_used(np) + np->rcv_truesize <= READ_ONCE(sk->sk_rcvbuf) &&
	       !ndp_mem_full(sk);
}

/**
 * ndp_room_for - is there room for a packet that has arrived?
 * @np:		connection
 * @skb:	packet
 * @psn:	its PSN
 *
 * The lowest missing PSN has a slot of its own, even when packets beyond it, or other sockets of
 * the namespace, hold all the memory: a reader that has nothing to read frees no memory.
 *
 * Context: np->lock held.
 */
bool ndp_room_for(const struct ndp_sock *np, const struct sk_buff *skb,
		  u32 psn)
{
	const struct sock *sk = &np->inet.sk;
	int used = atomic_read(&sk->sk_rmem_alloc);
	int limit = READ_ONCE(sk->sk_rcvbuf);

	if (ndp_listener_full(np, skb->truesize))
		return false;
	if (psn == np->rcv_nxt && !ndp_inq(np))
		return true;
	if (ndp_mem_full(sk))
		return false;
	if (psn == np->rcv_nxt)
		return used <= limit;
	/* Packets beyond a gap cannot be read, and spoofed senders never fill the gap. */
	if (ndp_is_unverified(np) && ndp_mem_pressure(sk))
		return false;
	return used + (int)skb->truesize <= limit;
}

/**
 * ndp_window - room to advertise
 * @np:		connection
 *
 * The room is counted in packets of the largest size seen, less those already pulled.  It is at
 * least one packet if the reader has nothing to read, as in ndp_room().
 *
 * Context: np->lock held.
 * Return: bytes.
 */
u32 ndp_window(struct ndp_sock *np)
{
	const struct sock *sk = ndp_to_sk(np);
	s64 room = READ_ONCE(sk->sk_rcvbuf) - ndp_rmem_used(np);

	if (ndp_listener_full(np, np->rcv_truesize))
		return 0;
	if (np->listener)
		room = min_t(s64, room, NDP_UNACCEPTED_MAX -
			     atomic_read(&ndp_sk(np->listener)->unaccepted));
	if (ndp_mem_full(sk))
		room = 0;
	if (ndp_starved(np))
		room = max_t(s64, room, np->rcv_truesize);
	if (room <= 0)
		return 0;
	return (u32)room / np->rcv_truesize * np->rcv_mss;
}

/**
 * ndp_window_stamp - put the cumulative PSN into an answer, and remember what it advertises
 * @np:		connection whose transport has no credit of its own (window.c)
 * @nh:		header of the answer
 *
 * If the peer will take this answer for the newest, its window is the one that the peer knows.
 *
 * Context: np->lock held.
 */
void ndp_window_stamp(struct ndp_sock *np, struct ndphdr *nh)
{
	u32 psn = ntohl(nh->psn);

	nh->pull = htonl(np->rcv_nxt);
	if (np->told_cum == np->rcv_nxt && psn_before(psn, np->told_psn) &&
	    ndp_hdr_type(nh) != NDP_PULL)
		return;
	np->told_cum = np->rcv_nxt;
	np->told_psn = psn;
	np->rcv_window = ntohl(nh->window);
}

/**
 * ndp_msg_readable - is there a message, or a part of one, that a reader may have?
 * @np:		connection
 *
 * A part is enough if the application asked for parts (NDP_PARTIAL), or if the peer waits for
 * room.
 *
 * Context: any; without np->lock, an estimate.
 */
bool ndp_msg_readable(const struct ndp_sock *np)
{
	if (READ_ONCE(np->rcv_msgs))
		return true;
	if (!skb_queue_empty_lockless(&np->early) && !READ_ONCE(np->rcv_split))
		return true;
	if (!ndp_inq(np))
		return false;
	return READ_ONCE(np->partial) || READ_ONCE(np->rcv_split) ||
	       (!READ_ONCE(np->promised) && !ndp_room(np));
}

/**
 * ndp_readable - is there enough to wake a reader for?
 * @np:		connection
 *
 * Of a stream SO_RCVLOWAT bytes, or as many as there is room for; else a message.
 *
 * Context: any.
 */
bool ndp_readable(const struct ndp_sock *np)
{
	u32 ready = ndp_inq(np);

	if (ndp_has_messages(np))
		return ndp_msg_readable(np);
	return ready && (ready >= READ_ONCE(np->inet.sk.sk_rcvlowat) ||
			 !ndp_room(np));
}
