/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP, a connection's queues: packets sent, packets received, and the memory of both.
 */
#ifndef _NDP_QUEUE_H
#define _NDP_QUEUE_H

#include "sock.h"

/* Is this a socket of messages, SOCK_SEQPACKET? */
static inline bool ndp_has_messages(const struct ndp_sock *np)
{
	return np->inet.sk.sk_type == SOCK_SEQPACKET;
}

/* Bytes of IP and UDP headers of a connection's packets. */
static inline u32 ndp_outer_len(const struct ndp_sock *np)
{
	return sizeof(struct udphdr) +
	       (ndp_is_ip4(&np->daddr) ? sizeof(struct iphdr) :
					sizeof(struct ipv6hdr));
}

/* Limit on the memory of first windows that wait for accept(), per listener, bytes. */
#define NDP_UNACCEPTED_MAX	(4 << 20)

/* What the send queue knows of a numbered packet, in skb->cb. */
enum ndp_tx_state {
	NDP_TX_FLIGHT,		/* sent, no answer yet; on ndp_sock.flight */
	NDP_TX_NACKED,		/* waits for a pull; on .rtx */
	NDP_TX_LOST,		/* may leave without a pull; on .lost */
};

struct ndp_tx_cb {
	struct list_head	list;
	u64			sent_at;	/* if @local_drop: time of the retry */
	u32			psn;
	u32			tx_seq;
	__be32			crc;		/* 0: not computed yet (xmit.c) */
	u16			path;		/* number of the path that it took last */
	u8			suspect;	/* path index of the @suspected transmission */
	u8			flags;		/* NDP_F_LAST, _EOM, _BOM, _SYNC as first sent */
	u8			suspected : 1,	/* a transmission had no answer (score.c) */
				suspect_gen : 1, /* last bit of the generation of path @suspect */
				rtx_again : 1,	/* sent more than twice */
				asked : 1;	/* an answer is requested (transports with @asks) */
	u8			bounces : 4,	/* times in a row that a switch returned it */
				bounced : 1,	/* once too often: waits for its timeout */
				timed_out : 1,	/* timed out, or sent as a tail probe */
				lost : 1,	/* declared lost, and not NACKed since */
				by_order : 1;	/* was declared lost by order.c */
	u8			state : 2,
				fin : 1,
				rtx : 1,	/* sent more than once */
				pulled : 1,	/* a pull was spent on it */
				local_drop : 1,	/* this host could not send it */
				limited : 1,	/* sent with the limit NDP_MTU_SAFE (mtu.c) */
				refused : 1;	/* by the peer, until a cookie is shown */
	u32			first_at;	/* time of first transmission, ndp_rtt_clock() */
};

/* Time stamp kept in a packet, in units of 1024 ns, modulo 2^32. */
static inline u32 ndp_rtt_clock(u64 ns)
{
	return ns >> 10;
}

/*
 * An empty packet for the send queue.  Headers are added to the clone that is transmitted, which
 * has the room before the payload to itself (as in TCP).
 */
static inline struct sk_buff *ndp_tx_alloc(gfp_t gfp)
{
	struct sk_buff *skb = alloc_skb_fclone(NDP_HEADROOM, gfp);

	if (!skb)
		return NULL;
	skb_reserve(skb, NDP_HEADROOM);
	__skb_header_release(skb);
	return skb;
}

static inline struct ndp_tx_cb *ndp_tx_cb(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct ndp_tx_cb) > sizeof_field(struct sk_buff, cb));
	return (struct ndp_tx_cb *)skb->cb;
}

/* What the receive queue knows of a packet; @off is how much of the skb has been read. */
struct ndp_rx_cb {
	u32			psn;
	u32			off;
	bool			fin;
	bool			eom;		/* last packet of a message */
	bool			bom;		/* first packet of one; 0 if ndp_has_later() */
	bool			sync;		/* first packet of a synchronised message */
};

static inline struct ndp_rx_cb *ndp_rx_cb(const struct sk_buff *skb)
{
	return (struct ndp_rx_cb *)skb->cb;
}

/*
 * Memory of queued packets: the socket's account, and its namespace's.  Context of
 * all: np->lock held.
 */
static inline void ndp_mem_add(struct sock *sk, int n)
{
	percpu_counter_add_batch(&ndp_sk(sk)->nn->mem, n, NDP_MEM_BATCH);
}

/* Has the namespace reached its limit of memory for queued packets? */
static inline bool ndp_mem_full(const struct sock *sk)
{
	struct ndp_net *nn = ndp_sk(sk)->nn;
	s64 max = READ_ONCE(nn->mem_max_kb) * 1024LL;

	return max &&
	       __percpu_counter_compare(&nn->mem, max, NDP_MEM_BATCH) >= 0;
}

/* Is the peer's address still unverified?  Context: np->lock held. */
static inline bool ndp_is_unverified(const struct ndp_sock *np)
{
	return unlikely(np->unverified_at);
}

/* Do all AF_NDP sockets of the machine together use more memory than they should? */
static inline bool ndp_mem_pressure(const struct sock *sk)
{
	return READ_ONCE(*sk->sk_prot->memory_pressure);
}

static inline void ndp_wmem_charge(struct ndp_sock *np, const struct sk_buff *skb)
{
	struct sock *sk = ndp_to_sk(np);

	sk_wmem_queued_add(sk, skb->truesize);
	sk_mem_charge(sk, skb->truesize);
	ndp_mem_add(sk, skb->truesize);
}

static inline void ndp_wmem_uncharge(struct ndp_sock *np, const struct sk_buff *skb)
{
	struct sock *sk = ndp_to_sk(np);

	sk_wmem_queued_add(sk, -skb->truesize);
	sk_mem_uncharge(sk, skb->truesize);
	ndp_mem_add(sk, -skb->truesize);
}

/* Bytes that can be read.  Any context. */
static inline u32 ndp_inq(const struct ndp_sock *np)
{
	return READ_ONCE(np->rcv_bytes) - READ_ONCE(np->read_bytes);
}

/* Nothing to read, and no pulled packet on its way: the reader will free no memory. */
static inline bool ndp_starved(const struct ndp_sock *np)
{
	return !np->promised && !ndp_inq(np);
}

/* Do unaccepted connections hold all the memory that they may?  Context: np->lock held. */
static inline bool ndp_listener_full(const struct ndp_sock *np, u32 truesize)
{
	return np->listener && (u32)atomic_read(&ndp_sk(np->listener)->unaccepted) +
			       truesize > NDP_UNACCEPTED_MAX;
}

/* Is a packet missing below the highest PSN heard of?  Once @irs_known; np->lock held. */
static inline bool ndp_has_gap(const struct ndp_sock *np)
{
	return np->rcv_nxt != np->rcv_max + 1;
}

/* Packets missing up to the highest PSN heard of.  Once @irs_known; np->lock held. */
static inline u32 ndp_missing(const struct ndp_sock *np)
{
	return np->rcv_max + 1 - np->rcv_nxt - np->ooo_len;
}

/* The first packet of one of the lists, or NULL. */
static inline struct sk_buff *ndp_tx_first(const struct list_head *list)
{
	if (list_empty(list))
		return NULL;
	return container_of((void *)list_entry(list->next, struct ndp_tx_cb, list),
			    struct sk_buff, cb);
}

/* Is a packet still in the local qdisc?  Then its timeout has not begun. */
static inline bool ndp_tx_still_local(const struct ndp_sock *np,
				      const struct ndp_tx_cb *cb)
{
	return !cb->local_drop &&
	       (s32)(cb->tx_seq - atomic_read(&np->tx_departed)) >= 0;
}

/* Memory of the packets in the receive buffer, and of those pulled that will be.  Any context. */
static inline s64 ndp_rmem_used(const struct ndp_sock *np)
{
	return atomic_read(&np->inet.sk.sk_rmem_alloc) +
	       (s64)np->promised * np->rcv_truesize;
}

/* sendq.c */
struct sk_buff *ndp_tx_find(struct ndp_sock *np, u32 psn);
void ndp_tx_insert(struct ndp_sock *np, struct sk_buff *skb);
void ndp_tx_to_flight(struct ndp_sock *np, struct sk_buff *skb);
void ndp_tx_nacked(struct ndp_sock *np, struct sk_buff *skb);
void ndp_tx_lost(struct ndp_sock *np, struct sk_buff *skb);
bool ndp_tx_lose(struct ndp_sock *np, u32 tx_seq);
void ndp_tx_all_lost(struct ndp_sock *np, struct list_head *list, bool refused);
struct sk_buff *ndp_rtx_first(const struct ndp_sock *np);
void ndp_rcv_window(struct ndp_sock *np, const struct ndphdr *nh, s32 newer);
void ndp_tx_done(struct ndp_sock *np, struct sk_buff *skb);

/* reassembly.c */
bool ndp_learn_irs(struct ndp_sock *np, u32 irs);
bool ndp_ooo_find(const struct ndp_sock *np, u32 psn);
void ndp_conn_purge_ooo(struct ndp_sock *np);
void ndp_conn_purge_read(struct ndp_sock *np);
void ndp_rcv_queue(struct ndp_sock *np, struct sk_buff *skb);

/* overtake.c */
bool ndp_early_has(const struct ndp_sock *np, u32 psn);
void ndp_early_take(struct ndp_sock *np, struct sk_buff *skb);
void ndp_early_pass(struct ndp_sock *np);
void ndp_early_join(struct ndp_sock *np);
void ndp_early_fetch(struct ndp_sock *np);
void ndp_early_forget(struct ndp_sock *np);

/* room.c */
bool ndp_rmem_charge(struct ndp_sock *np, struct sk_buff *skb);
void ndp_rmem_uncharge(struct ndp_sock *np, u32 truesize);
bool ndp_room(const struct ndp_sock *np);
bool ndp_room_for(const struct ndp_sock *np, const struct sk_buff *skb,
		  u32 psn);
u32 ndp_window(struct ndp_sock *np);
void ndp_window_stamp(struct ndp_sock *np, struct ndphdr *nh);
bool ndp_msg_readable(const struct ndp_sock *np);
bool ndp_readable(const struct ndp_sock *np);

#endif /* _NDP_QUEUE_H */
