/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_NDP: the socket, with the whole state of a connection.
 *
 * Names: "conn" is a socket that has a peer.  An entry is what the demux table
 * holds: a conn or the tombstone that a conn leaves.  PSNs are packet sequence
 * numbers, compared modulo 2^32.
 *
 * Locks, outermost first (Documentation/locking.md):
 *
 *   lock_sock(sk)	system calls against each other: buffers being filled
 *			and drained, state changes asked for by the application
 *   ndp_sock.lock	all protocol state, the memory account of the socket
 *			and both queues; taken with softirqs off, from receive,
 *			timers and system calls
 *   ndp_pullq.lock	a device's round of connections
 *   ndp_net.bind_lock, ndp_net.tomb_lock, sk_receive_queue.lock (unused)
 *
 * A listener's ndp_sock.lock is taken with no other ndp_sock.lock held.
 */
#ifndef _NDP_SOCK_H
#define _NDP_SOCK_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/inet_sock.h>
#include <net/ndp_transport.h>
#include "path.h"
#include "pull.h"
#include "table.h"

/* Options of SOL_TCP that are remembered. */
enum ndp_tcp_option_id {
	NDP_TCP_NODELAY,
	NDP_TCP_CORK,
	NDP_TCP_QUICKACK,
	NDP_TCP_KEEPIDLE,
	NDP_TCP_KEEPINTVL,
	NDP_TCP_KEEPCNT,
	NDP_TCP_SYNCNT,
	NDP_TCP_USER_TIMEOUT,
	NDP_TCP_NOTSENT_LOWAT,
	NDP_TCP_MAXSEG,
	NDP_TCP_DEFER_ACCEPT,
	NDP_TCP_LINGER2,
	NDP_TCP_FASTOPEN,
	NDP_TCP_FASTOPEN_CONNECT,
	NDP_TCP_OPTIONS,
};

/**
 * struct ndp_sock - an AF_NDP socket
 */
struct ndp_sock {
	/* Identity and options, which outlast a connection. */
	/** @inet: must be first; the IP output path reads it */
	struct inet_sock	inet;
	/** @tomb: tombstone, allocated in advance for the end of the connection */
	struct ndp_tombstone	*tomb;
	/** @bind_node: in ndp_net.bind while @bound */
	struct hlist_node	bind_node;
	/** @listen_node: in ndp_net.listen while listening */
	struct hlist_node	listen_node;
	/** @bound: the socket has a port */
	bool			bound;
	/** @autobound: the port was chosen without a bind() */
	bool			autobound;
	/** @sync_connect: NDP_SYNC_CONNECT */
	bool			sync_connect;
	/** @priority: NDP_PRIORITY as it was set */
	s8			priority;
	/** @partial: NDP_PARTIAL */
	bool			partial;
	/** @unordered: NDP_UNORDERED */
	bool			unordered;
	/** @early_map: bitmap of packets whose messages have overtaken others (overtake.c) */
	unsigned long		*early_map;
	/** @answers_many: paths by which the latest NDP_ANSWERED packets were answered; or NULL */
	struct ndp_answered	*answers_many;
	/** @accepts: listener: a bit for each transport that it accepts, 0: all */
	u32			accepts;
	/** @renewals: connections that have made way for another one; under lock_sock() */
	u32			renewals;
	/** @has_listened: openings may still see @listen_node in its list; under lock_sock() */
	bool			has_listened;
	/** @iw_opt: NDP_IW */
	u32			iw_opt;
	/** @tcp_option: values of SOL_TCP, see tcp_option.c */
	int			tcp_option[NDP_TCP_OPTIONS];

	/* Listener, and child of one. */
	/** @accept_q: children that were not accepted yet */
	struct list_head	accept_q;
	/** @accept_node: child: in its listener's @accept_q */
	struct list_head	accept_node;
	/** @listener: child: its listener while unaccepted, held */
	struct sock		*listener;
	/** @unaccepted: payload memory of all unaccepted children */
	atomic_t		unaccepted;
	/**
	 * @unverified: children, accepted or not, whose peers have not shown that they
	 * get what is sent to their address (verify.c)
	 */
	atomic_t		unverified;

	/* The timer. */
	/** @timer: one timer for all deadlines */
	struct hrtimer		timer;
	/** @timer_held: @timer is queued or its handler has not begun: it has a reference */
	bool			timer_held;

	/* For packets that leave the local qdisc: any CPU, no lock; may outlast a connection. */
	/** @tx_departed: packets that have left the local qdisc, by the skb destructor, no lock */
	atomic_t		tx_departed ____cacheline_aligned;
	/** @throttled: the local qdisc has enough of our packets: sending waits until some leave */
	bool			throttled;
	/** @tasklet_queued: bit 0: @tasklet is scheduled, and has a reference */
	unsigned long		tasklet_queued;
	/** @tasklet: wakes the reader, sends the pending ACK, resumes sending after @throttled */
	struct tasklet_struct	tasklet;

	/* Needed for each packet, in either direction. */
	/** @lock: guards all below unless noted */
	spinlock_t		lock ____cacheline_aligned;
	/** @tx_seq: packets handed to the qdisc */
	u32			tx_seq;
	/** @qdisc_pkts: packets that may wait in the local qdisc */
	u32			qdisc_pkts;
	/** @tp: transport, its module held; it changes only while there is no connection */
	const struct ndp_transport *tp;
	/** @nn: AF_NDP's part of the socket's namespace, which never changes */
	struct ndp_net		*nn;
	/** @unverified_at: child: its listener while counted in its @unverified; held */
	struct sock		*unverified_at;
	/** @timer_at: when @timer expires; U64_MAX: not pending */
	u64			timer_at;

	/*
	 * State of a connection: ndp_conn_clear() clears all from here on.
	 * First the demux key, which is constant once there is a connection.
	 */
	/** @entry: in the demux table while @hashed */
	struct ndp_entry	entry ____cacheline_aligned;
	/** @hashed: @entry is in the demux table */
	bool			hashed;
	/** @acceptor: this end was opened by a packet */
	bool			acceptor;
	/** @told_open: the opening was reported as an event, and so will be the end (event.c) */
	bool			told_open;
	/** @wake_later: @tasklet wakes the reader, as more has arrived */
	bool			wake_later;
	/** @answered: the peer has answered */
	bool			answered;
	/** @path_mask: XORed with our path numbers on the wire; random at the acceptor, else 0 */
	u16			path_mask;
	/** @peer: paths to the peer and what is known of them */
	struct ndp_peer		*peer;
	/** @now: ktime_get_ns(), read once for a received packet, see ndp_now(); 0: not yet */
	u64			now;
	/** @silent_since: first send since the peer was last heard; 0: nothing outstanding */
	u64			silent_since;
	/** @stalled_since: first PROBE or NACK since the last acknowledgment, 0: none */
	u64			stalled_since;
	/** @backoff_next: the timeout is not doubled again before this time */
	u64			backoff_next;
	/** @rto_from: time of the last acknowledgment or timeout; see ndp_waits_since() */
	u64			rto_from;
	/** @rto_floor_ns: least timeout on this link */
	u64			rto_floor_ns;
	/** @small_until: packets stay small until then (mtu.c), 0: they do not */
	u64			small_until;
	/** @large_lost_next: a loss does not count in @large_lost before this time */
	u64			large_lost_next;
	/** @backoff: timeouts in a row; all but the first double the timeout */
	u32			backoff;
	/** @keep_probes: PROBEs of keepalive since the peer was last heard */
	u32			keep_probes;
	/** @local_backoff: doublings of the time until packets that the host refused are retried */
	u32			local_backoff;
	/** @route_mtu: least MTU of all paths, from which @mss is computed */
	u32			route_mtu;

	/* Deadlines. */
	/** @probe_at: when to send a PROBE, 0 for not */
	u64			probe_at;
	/** @syn_at: when to send a bare opening, 0 for not */
	u64			syn_at;
	/** @cork_at: when a tail held back by MSG_MORE is sent anyway, 0: there is none */
	u64			cork_at;
	/** @keep_at: when keepalive is due, 0: off */
	u64			keep_at;
	/**
	 * @orphan_since: orphan: when its peer last acknowledged something, or when the socket
	 * was closed; 0: a process has the socket
	 */
	u64			orphan_since;
	/** @transport_at: when the transport's timer is due, 0: never */
	u64			transport_at;
	/** @challenge_at: when the peer is challenged next, 0 for not */
	u64			challenge_at;
	/** @probe_ns: interval of PROBEs */
	u64			probe_ns;

	/* Sender. */
	/** @txq: packets numbered and not acknowledged, by PSN */
	struct rb_root		txq ____cacheline_aligned;
	/** @flight: packets of @txq sent and unanswered, by time of sending */
	struct list_head	flight;
	/** @rtx: packets of @txq to be retransmitted by a pull */
	struct list_head	rtx;
	/** @lost: packets of @txq to be retransmitted without a pull */
	struct list_head	lost;
	/** @snd_una: lowest PSN not acknowledged */
	u32			snd_una;
	/** @snd_nxt: next PSN */
	u32			snd_nxt;
	/** @snd_last: highest PSN that was sent with LAST */
	u32			snd_last;
	/** @flight_bytes: payload of @flight */
	u32			flight_bytes;
	/** @flight_upto_last: payload of @flight at or below @snd_last */
	u32			flight_upto_last;
	u32			flight_pkts;
	u32			rtx_pkts;
	/** @snd_window: receive window in the peer's newest answer, bytes */
	u32			snd_window;
	/** @mss: payload per packet */
	u32			mss;
	u32			sendq_bytes;
	/** @txq_bytes: payload of @txq */
	u32			txq_bytes;
	/** @isn: our first PSN */
	u32			isn;
	/** @large_lost: times in a row that large packets were lost (mtu.c) */
	u8			large_lost;
	/** @small_level: doublings of the next time for which packets stay small */
	u8			small_level;
	/** @more: the application is in the middle of a write */
	bool			more;
	/** @corked: MSG_MORE: hold back a tail that is not full */
	bool			corked;
	/** @fin_queued: no data will be added to @sendq */
	bool			fin_queued;
	/** @fin_sent: FIN has a PSN */
	bool			fin_sent;
	/** @opened: a packet of the connection was sent */
	bool			opened;
	/** @by_cookie: acceptor: opened by a cookie */
	bool			by_cookie;
	/** @held_back: the limit on what an unverified peer is sent holds packets back */
	bool			held_back;
	/** @sendq: packets written, and not numbered */
	struct sk_buff_head	sendq;
	/** @tail_probes: probes of the tail since something was acknowledged (order.c) */
	u8			tail_probes;
	/** @order: what is known of the order of answers */
	struct ndp_order	order;
	/** @round_state: state of the generator that draws the permutations of the paths */
	u64			round_state;
	/** @data_round: place of DATA in its permutation of the paths */
	struct ndp_round	data_round;
	/** @window_psn: PSN of the answer that gave @snd_window */
	u32			window_psn;
	/** @window_cum: highest cumulative PSN of the peer's answers (window.c) */
	u32			window_cum;
	/** @iw: initial window, packets */
	u32			iw;

	/* Receiver. */
	/** @ooo: packets beyond a gap, by PSN */
	struct rb_root		ooo ____cacheline_aligned;
	/** @ooo_len: packets received beyond a gap, early ones included */
	u32			ooo_len;
	/** @irs: peer's first PSN */
	u32			irs;
	/** @rcv_nxt: lowest PSN not received */
	u32			rcv_nxt;
	/** @rcv_max: highest PSN of any packet that arrived, whole or trimmed */
	u32			rcv_max;
	/** @promised: packets that the transport has asked for and that have not arrived */
	u32			promised;
	/** @rcv_bytes: payload received in order, modulo 2^32 */
	u32			rcv_bytes;
	/** @read_bytes: payload read, modulo 2^32; under the socket lock */
	u32			read_bytes;
	/** @rcv_msgs: ends of messages in the receive queue */
	u32			rcv_msgs;
	/** @early: whole messages that wait for the end of one in the receive queue */
	struct sk_buff_head	early;
	/** @early_bytes: payload of @early */
	u32			early_bytes;
	/** @rcv_mss: largest payload seen */
	u32			rcv_mss;
	/** @rcv_truesize: largest truesize seen */
	u32			rcv_truesize;
	/** @rcv_window: window in our newest answer, bytes */
	u32			rcv_window;
	/** @told_cum: cumulative PSN in our newest answer (window.c) */
	u32			told_cum;
	/** @told_psn: PSN of our newest answer (window.c) */
	u32			told_psn;
	/** @ack_map: packets whose ACK is pending, from @ack_first on (ack.c) */
	u64			ack_map;
	u32			ack_first;
	/** @ack_psn: the one that the pending ACK has in its header; and its path as on the wire */
	u32			ack_psn;
	u16			ack_path;
	/** @ack_at: until then the pending ACK waits for data to ride on; 0: it does not */
	u64			ack_at;
	/** @crc_nacks: payloads in a row with a wrong CRC that were answered (data.c) */
	u8			crc_nacks;
	/** @irs_known: @irs is valid */
	bool			irs_known;
	/** @rcv_last: the packet at @rcv_max carried LAST: only missing packets are pulled */
	bool			rcv_last;
	/** @rcv_fin: FIN was received in order */
	bool			rcv_fin;
	/** @peer_done: peer has nothing unacknowledged and will retransmit nothing */
	bool			peer_done;
	/** @peer_gone: the peer's FIN said that no process there waits for ours (NDP_F_GONE) */
	bool			peer_gone;
	/** @closing: the last descriptor is closed, or about to be: there is no reader any more */
	bool			closing;
	/** @rcv_split: a part of the first message was read; under the socket lock */
	bool			rcv_split;
	/** @rcv_mid: the last packet received in order does not end its message */
	bool			rcv_mid;
	/** @window_shut: a packet was refused: no room is advertised for now (window.c) */
	bool			window_shut;
	/** @control_round: place of control packets in their permutation of the paths */
	struct ndp_round	control_round;
	/** @answers: paths by which the latest packets were answered, until @answers_many */
	struct ndp_answered	answers[NDP_ANSWERED_FEW];

	/* Counters, and the transport's own state. */
	/** @counters: for NDP_INFO */
	struct ndp_counters	counters;
	/** @priv: the transport's own state */
	u64			priv[NDP_TRANSPORT_PRIV / sizeof(u64)];

	/* Needed for few packets. */
	/** @saddr: our address */
	struct in6_addr		saddr;
	/** @daddr: the peer's address */
	struct in6_addr		daddr;
	/** @cookie: initiator: the last cookie that the acceptor asked for, 0: none */
	u64			cookie;
	/** @unverified_in: bytes received from the peer while unverified, IP headers included */
	u64			unverified_in;
	/** @unverified_out: bytes sent to the peer while unverified, IP headers included */
	u64			unverified_out;
	/** @unverified_since: when the peer became an unverified one, ktime_get_ns() */
	u64			unverified_since;
	/** @challenged_at: when the last challenge was sent, 0: none was */
	u64			challenged_at;
	/** @challenge_ns: time from the challenge at @challenge_at to the one after it */
	u64			challenge_ns;
	/** @unended: beginning of a message, written with MSG_MORE */
	struct sk_buff_head	unended;
	/** @unended_bytes: payload of @unended */
	u32			unended_bytes;
	/** @unended_sync: the message is a synchronised one (NDP_CMSG_SYNC) */
	bool			unended_sync;
};

static inline struct ndp_sock *ndp_sk(const struct sock *sk)
{
	return (struct ndp_sock *)sk;
}

static inline struct sock *ndp_to_sk(struct ndp_sock *np)
{
	return &np->inet.sk;
}

/**
 * struct ndp6_sock - an AF_NDP socket of protocol 1, which speaks IPv6 as well
 * @ndp:	must be first
 * @inet6:	for the core, which finds it by inet6_sk()
 */
struct ndp6_sock {
	struct ndp_sock		ndp;
	struct ipv6_pinfo	inet6;
};

/* Smoothed round-trip time to the peer, 0 without a sample. */
static inline u64 ndp_srtt(const struct ndp_sock *np)
{
	return READ_ONCE(np->peer->srtt_ns);
}

/* The retransmission timeout without backoff. */
static inline u64 ndp_rto_base(const struct ndp_sock *np)
{
	return max(ndp_peer_rto(np->peer), np->rto_floor_ns);
}

/*
 * Call this once the end of a connection was seen in @sk_state or @sk_shutdown, without np->lock,
 * and before its error is read.
 */
static inline void ndp_end_seen(void)
{
	/* Pairs with ndp_conn_abort(). */
	smp_rmb();
}

/* trace.c */
void ndp_set_state(struct sock *sk, int state);

#endif /* _NDP_SOCK_H */
