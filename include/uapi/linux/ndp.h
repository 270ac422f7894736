/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * AF_NDP: what user space sees.
 *
 * socket(AF_NDP, SOCK_STREAM, 0) makes a stream socket over IPv4.  Addresses
 * are plain struct sockaddr_in with sin_family AF_INET (AF_NDP is taken as
 * well), ports are NDP's own and unrelated to those of TCP and UDP.
 *
 * socket(AF_NDP, SOCK_STREAM, NDP_PROTO_IPV6) makes one over IPv6, whose addresses are
 * struct sockaddr_in6 with sin6_family AF_INET6.  As one of AF_INET6 it also reaches, and
 * without IPV6_V6ONLY accepts, peers over IPv4, by addresses mapped into IPv6's.
 *
 * SOCK_SEQPACKET in SOCK_STREAM's place makes one of messages: each send() is one, and is
 * taken whole or not at all; each recv() returns one.  MSG_MORE goes on with the message
 * in the next send().  A message may have as many bytes as SO_SNDBUF returns; more are
 * EMSGSIZE.  recvmsg() sets MSG_EOR at the end of a message, and MSG_TRUNC if the buffer was
 * too short for it: the rest is lost.  One that does not fit into the receiver's SO_RCVBUF
 * comes in parts, without MSG_EOR but for the last, and of these nothing is lost.  Streams
 * and messages have ports of their own and do not connect to one another.
 *
 * Messages arrive in the order in which they were sent, unless the reader has set
 * NDP_UNORDERED: then each is read when it is there, and only those sent with NDP_CMSG_SYNC
 * wait for all before them.
 */
#ifndef _UAPI_LINUX_NDP_H
#define _UAPI_LINUX_NDP_H

#include <linux/types.h>

/**
 * AF_NDP - address family of NDP sockets
 *
 * A number without a user in any supported kernel.  The module parameter
 * "family" of ndp.ko changes it where another module has taken it.
 */
#ifndef AF_NDP
#define AF_NDP		22
#define PF_NDP		AF_NDP
#endif

/** NDP_PROTO_IPV6 - protocol of sockets over IPv6; 0 is IPv4 */
#define NDP_PROTO_IPV6	1

/** SOL_NDP - socket option level */
#define SOL_NDP		300

/*
 * Socket options at level SOL_NDP.
 *
 * NDP_INFO		get; struct ndp_info.  A shorter buffer gets the front
 *			of it.
 * NDP_IW		get, set; int, initial window in packets.  0 (default)
 *			derives it from the link's rate, the namespace's
 *			net.ndp.base_rtt_us and the segment size; else 1 to
 *			NDP_IW_MAX.  Taken at the first send of a connection.
 * NDP_SYNC_CONNECT	get, set; int, boolean.  connect() sends an opening at
 *			once and waits until the peer has accepted or refused
 *			it, as TCP's does.  Off by default: connect() succeeds
 *			without a packet.  EISCONN once connected.
 * NDP_MAXSEG		get; int, payload bytes per packet on this connection.
 * NDP_PRIORITY		get, set; int, NDP_PRIORITY_MIN to NDP_PRIORITY_MAX: among the
 *			connections that receive over one device, those of a higher
 *			priority are pulled first, and while they want more the others
 *			wait (but see net.ndp.pull_low_share).  It orders what others
 *			send to this socket; it can be changed at any time, and accepted
 *			sockets have their listener's.  NDP_PRIORITY_AUTO (default) is
 *			SO_PRIORITY's value, where TC_PRIO_BULK and TC_PRIO_FILLER come
 *			behind 0 and all above NDP_PRIORITY_MAX are that.  Returns what
 *			is in force.  ERANGE for a value that is none of these.
 * NDP_PARTIAL		get, set; int, boolean.  Of SOCK_SEQPACKET: a read returns what
 *			there is of a message and does not wait for all of it; nothing
 *			is cut off.  MSG_EOR tells when the message ends.  EOPNOTSUPP for
 *			streams.  Accepted sockets have their listener's.
 * NDP_TRANSPORT	get, set; string, the transport by which the socket's connections send,
 *		as it is for TCP_CONGESTION.  It is the namespace's net.ndp.transport when the
 *		socket is made ("ndp" unless that was changed), and an accepted socket's is the
 *		initiator's.  Its module is loaded, ndp-transport-NAME, if the caller has
 *		CAP_NET_ADMIN.  ENOENT if there is none of that name, EISCONN from connect() on,
 *		until the socket is disconnected.  A connect() by one that needs a lossless
 *		network (light) gives EPROTONOSUPPORT where none is known (net.ndp.lossless).
 * NDP_ACCEPT		get, set; string of at most NDP_ACCEPT_MAX bytes, names with spaces between
 *		them: of a listener, transports whose connections it accepts; an initiator
 *		with another gets EPROTONOSUPPORT.  By default, and again with " ", all that
 *		are loaded.  ENOENT as above, EINVAL for more bytes.
 * NDP_UNORDERED	get, set; int, boolean.  Of SOCK_SEQPACKET: a message that is there is read,
 *			whether those before it are there or not; each is read once, and whole.  It
 *			is this end's own, and may be changed at any time.  Messages of more than
 *			NDP_UNORDERED_MAX packets stay in order, and so do all if the connection's
 *			transport is NDP's own, or keeps packets in order (dcqcn, light).
 *			EOPNOTSUPP for streams.  Accepted sockets have their listener's.
 */
#define NDP_INFO		1
#define NDP_IW			2
#define NDP_SYNC_CONNECT	3
#define NDP_MAXSEG		4
#define NDP_PRIORITY		5
#define NDP_PARTIAL		6
#define NDP_TRANSPORT		7
#define NDP_ACCEPT		8
#define NDP_UNORDERED		9

/** NDP_UNORDERED_MAX - packets of the longest message that overtakes others */
#define NDP_UNORDERED_MAX	64

/**
 * NDP_CMSG_SYNC - control message of sendmsg(), level SOL_NDP; int, boolean
 *
 * Of SOCK_SEQPACKET: this message is read after all that were sent before it, also where
 * NDP_UNORDERED is set.  Those sent after it may still overtake it.  Of a message in parts
 * (MSG_MORE) it may go with any.  EINVAL for another length, or another type of this level.
 */
#define NDP_CMSG_SYNC		1

/** Length of a transport's name, with the byte that ends it, and of a list of them */
#define NDP_TRANSPORT_NAME_MAX	16
#define NDP_ACCEPT_MAX		256

#define NDP_IW_MAX		1024

#define NDP_PRIORITY_MIN	(-2)
#define NDP_PRIORITY_MAX	7
#define NDP_PRIORITY_AUTO	(-128)

/**
 * enum ndp_state - values of ndp_info.state
 * @NDP_ST_CLOSE:	no connection
 * @NDP_ST_LISTEN:	accepts connections
 * @NDP_ST_OPENING:	connect() was called, the peer has not answered yet
 * @NDP_ST_ESTABLISHED:	the peer has answered
 * @NDP_ST_CLOSING:	both directions are shut down or being shut down
 */
enum ndp_state {
	NDP_ST_CLOSE,
	NDP_ST_LISTEN,
	NDP_ST_OPENING,
	NDP_ST_ESTABLISHED,
	NDP_ST_CLOSING,
};

/**
 * enum ndp_timer - values of ndp_info.timer: what is due next if nothing comes
 * @NDP_TIMER_NONE:	nothing
 * @NDP_TIMER_RETRANS:	what is in flight has had no answer
 * @NDP_TIMER_PROBE:	the peer is asked for leave to send, or for room
 * @NDP_TIMER_ACK:	ACKs that were kept back leave
 * @NDP_TIMER_OPEN:	the connection is opened without data
 * @NDP_TIMER_CORK:	what MSG_MORE or TCP_CORK holds back leaves
 * @NDP_TIMER_KEEPALIVE: the idle peer is asked whether it is there
 * @NDP_TIMER_ORPHAN:	a connection that no process has any more is given up
 * @NDP_TIMER_TRANSPORT: the transport's own
 * @NDP_TIMER_CHALLENGE: a peer is asked to show that it is where it says
 */
enum ndp_timer {
	NDP_TIMER_NONE,
	NDP_TIMER_RETRANS,
	NDP_TIMER_PROBE,
	NDP_TIMER_ACK,
	NDP_TIMER_OPEN,
	NDP_TIMER_CORK,
	NDP_TIMER_KEEPALIVE,
	NDP_TIMER_ORPHAN,
	NDP_TIMER_TRANSPORT,
	NDP_TIMER_CHALLENGE,
};

/**
 * struct ndp_info - what NDP_INFO returns
 * @state:	&enum ndp_state
 * @role:	0 initiator, 1 acceptor
 * @paths:	number of paths that the sender sprays over
 * @mss:	payload bytes per packet
 * @iw:		initial window, packets
 * @rto_us:	retransmission timeout, microseconds
 * @srtt_us:	smoothed round-trip time, microseconds; 0 without a sample
 * @rttvar_us:	its mean deviation, microseconds
 * @snd_inflight: packets sent and neither acknowledged nor known lost
 * @snd_rtx_queue: packets waiting to be retransmitted
 * @snd_credit:	packets pulled and not sent yet
 * @snd_window:	room that the peer advertised last, bytes
 * @rcv_window:	room advertised to the peer last, bytes
 * @rcv_ooo:	packets received beyond a gap
 * @pull_pending: packets earned by the peer and not pulled yet
 * @pull_rate_bps: pace of the receiving device's pull queue, bits per second;
 *		0 where pulls are not paced
 * @notsent_bytes: bytes written by the application and not sent yet
 * @conn_id:	connection id
 * @bytes_sent:	payload sent, retransmissions included
 * @bytes_acked: payload acknowledged
 * @bytes_retrans: payload retransmitted
 * @bytes_received: payload received in order
 * @data_sent:	DATA packets sent, retransmissions included
 * @data_pushed: of them, sent without a pull
 * @retrans:	DATA packets retransmitted
 * @timeouts:	packets taken for lost because no answer came within the RTO
 * @acks_in:	ACKs received
 * @nacks_in:	NACKs received
 * @pulls_in:	packets pulled by the peer
 * @bounces_in:	headers returned to us
 * @probes_out:	PROBEs sent
 * @data_in:	whole DATA packets received, duplicates included
 * @trims_in:	trimmed DATA packets received
 * @dups_in:	DATA packets received more than once
 * @noroom_in:	whole DATA packets treated as trimmed for want of room
 * @crc_in:	DATA packets treated as trimmed for a bad payload CRC
 * @pulls_out:	packets that we pulled
 * @transport:	name of the transport
 * @marked_in:	DATA packets that arrived marked (ECN)
 * @ece_in:	answers that told of a mark
 * @early_in:	whole DATA packets refused, as too far ahead of the lowest missing one
 * @rcv_ooo_max: how far ahead of that a packet was taken, at most
 * @snd_cwnd:	packets that may be in flight, of a transport that has such a window
 * @sync_in:	messages that began to arrive and are for behind all before them (NDP_CMSG_SYNC);
 *		NDP's own transport does not tell
 * @sync_early_in: of them, those that did so before all before them was there
 * @timer:	&enum ndp_timer, what is due next
 * @backoff:	timeouts in a row without an answer, at most 255
 * @pad:	0
 * @timer_us:	in how many microseconds it is; 0: now, or nothing is
 */
struct ndp_info {
	__u8	state;
	__u8	role;
	__u16	paths;
	__u32	mss;
	__u32	iw;
	__u32	rto_us;
	__u32	srtt_us;
	__u32	rttvar_us;
	__u32	snd_inflight;
	__u32	snd_rtx_queue;
	__u32	snd_credit;
	__u32	snd_window;
	__u32	rcv_window;
	__u32	rcv_ooo;
	__u32	pull_pending;
	__u32	notsent_bytes;
	__u64	pull_rate_bps;
	__u64	conn_id;
	__u64	bytes_sent;
	__u64	bytes_acked;
	__u64	bytes_retrans;
	__u64	bytes_received;
	__u64	data_sent;
	__u64	data_pushed;
	__u64	retrans;
	__u64	timeouts;
	__u64	acks_in;
	__u64	nacks_in;
	__u64	pulls_in;
	__u64	bounces_in;
	__u64	probes_out;
	__u64	data_in;
	__u64	trims_in;
	__u64	dups_in;
	__u64	noroom_in;
	__u64	crc_in;
	__u64	pulls_out;
	char	transport[NDP_TRANSPORT_NAME_MAX];
	__u64	marked_in;
	__u64	ece_in;
	__u64	early_in;
	__u32	rcv_ooo_max;
	__u32	snd_cwnd;
	__u64	sync_in;
	__u64	sync_early_in;
	__u8	timer;
	__u8	backoff;
	__u16	pad;
	__u32	timer_us;
};

/** Paths in one destination's list, and to a host. */
#define NDP_PATHS_MAX		256

/** Destinations in a namespace's table; another is ENOSPC. */
#define NDP_PATH_DSTS_MAX	4096

/*
 * Sockets, by sock_diag (NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY with NLM_F_DUMP): those of
 * the namespace that listen or are connected, as inet_diag has TCP's.  Everybody may look;
 * ids of connections, by which packets prove that they belong to one, and marks are shown
 * to those alone who have CAP_NET_ADMIN in the namespace's user namespace.
 */

/**
 * struct ndp_diag_req - which sockets are asked for
 * @sdiag_family: AF_NDP
 * @pad:	0, or EINVAL
 * @states:	1 << &enum ndp_state of each state that is wanted; 0: all
 */
struct ndp_diag_req {
	__u8	sdiag_family;
	__u8	pad[3];
	__u32	states;
};

/**
 * struct ndp_diag_msg - a socket; attributes of &enum ndp_diag_attr follow
 * @family:	of its addresses: AF_INET or AF_INET6
 * @state:	&enum ndp_state
 * @type:	SOCK_STREAM or SOCK_SEQPACKET
 * @pad:	0
 * @sport:	its port
 * @dport:	the peer's; 0 of one that listens
 * @src:	its address; those of IPv4 in the first four bytes
 * @dst:	the peer's
 * @ifindex:	device that it is bound to, or 0
 * @uid:	its user
 * @inode:	its inode; 0: no process has it
 * @cookie:	of the socket, as SO_COOKIE says
 * @rqueue:	bytes that can be read; of one that listens: connections to accept
 * @wqueue:	bytes that are not acknowledged; of one that listens: how many may wait
 */
struct ndp_diag_msg {
	__u8	family;
	__u8	state;
	__u8	type;
	__u8	pad;
	__be16	sport;
	__be16	dport;
	__u8	src[16];
	__u8	dst[16];
	__u32	ifindex;
	__u32	uid;
	__u32	inode;
	__u32	cookie[2];
	__u32	rqueue;
	__u32	wqueue;
};

/**
 * enum ndp_diag_attr - attributes of a socket
 * @NDP_DIAG_INFO:	&struct ndp_info; its conn_id is 0 for who may not see it
 * @NDP_DIAG_MEMINFO:	u32 each, as SO_MEMINFO
 * @NDP_DIAG_MARK:	u32, its routing mark
 */
enum ndp_diag_attr {
	NDP_DIAG_UNSPEC,
	NDP_DIAG_INFO,
	NDP_DIAG_MEMINFO,
	NDP_DIAG_MARK,
	__NDP_DIAG_MAX,
};

#define NDP_DIAG_MAX (__NDP_DIAG_MAX - 1)

#endif /* _UAPI_LINUX_NDP_H */
