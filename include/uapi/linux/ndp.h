/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * AF_NDP: user-space interface.
 *
 * socket(AF_NDP, SOCK_STREAM, 0) makes a stream socket over IPv4.  Addresses are plain struct
 * sockaddr_in with sin_family AF_INET (AF_NDP is accepted as well), ports are NDP's own and
 * unrelated to those of TCP and UDP.
 *
 * socket(AF_NDP, SOCK_STREAM, NDP_PROTO_IPV6) makes one over IPv6, whose addresses are struct
 * sockaddr_in6 with sin6_family AF_INET6.  Like a socket of AF_INET6 it also connects to peers over
 * IPv4, by IPv4-mapped addresses, and without IPV6_V6ONLY accepts them.
 *
 * SOCK_SEQPACKET in place of SOCK_STREAM makes a message socket: each send() is one message, and is
 * taken whole or not at all; each recv() returns one message.  With MSG_MORE the next send()
 * continues the message.  A message may have as many bytes as SO_SNDBUF returns; more are EMSGSIZE.
 * recvmsg() sets MSG_EOR at the end of a message, and MSG_TRUNC if the buffer was too short for it:
 * the rest is lost.  A message that does not fit into the receiver's SO_RCVBUF is returned in
 * parts, without MSG_EOR except on the last, and nothing of them is lost.  Streams and messages
 * have separate port spaces and do not connect to one another.
 *
 * Messages arrive in the order in which they were sent, unless the reader has set NDP_UNORDERED:
 * then each message is read when it has arrived, and only messages sent with NDP_CMSG_SYNC wait for
 * all before them.
 */
#ifndef _UAPI_LINUX_NDP_H
#define _UAPI_LINUX_NDP_H

#include <linux/types.h>

/**
 * AF_NDP - address family of NDP sockets
 *
 * The number is unused in all supported kernels.  The module parameter "family" of ndp.ko changes
 * it where another module has taken it.
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
 * NDP_INFO		get; struct ndp_info.  A shorter buffer gets the first part of it.
 * NDP_IW		get, set; int, initial window in packets.  0 (default) derives it from the
 *			link's rate, the namespace's net.ndp.base_rtt_us and the segment size;
 *			else 1 to NDP_IW_MAX.  Taken at the first send of a connection.
 * NDP_SYNC_CONNECT	get, set; int, boolean.  connect() sends an opening at once and waits
 *			until the peer has accepted or refused it, as TCP's does.  Off by default:
 *			connect() succeeds without a packet.  EISCONN once connected.
 * NDP_MAXSEG		get; int, payload bytes per packet on this connection.
 * NDP_PRIORITY		get, set; int, NDP_PRIORITY_MIN to NDP_PRIORITY_MAX: among the connections
 *			that receive over one device, those of a higher priority are pulled first,
 *			and while they have data to receive the others wait (but see
 *			net.ndp.pull_low_share).  It orders what others send to this socket; it
 *			can be changed at any time, and accepted sockets inherit it from their
 *			listener.  NDP_PRIORITY_AUTO (default) takes SO_PRIORITY's value, where
 *			TC_PRIO_BULK and TC_PRIO_FILLER rank below 0, and values above
 *			NDP_PRIORITY_MAX count as NDP_PRIORITY_MAX.  get returns the priority in
 *			force.  ERANGE for any other value.
 * NDP_PARTIAL		get, set; int, boolean.  For SOCK_SEQPACKET: a read returns the part of a
 *			message that has arrived and does not wait for all of it; nothing is cut
 *			off.  MSG_EOR marks the end of the message.  EOPNOTSUPP for streams.
 *			Accepted sockets inherit it from their listener.
 * NDP_TRANSPORT	get, set; string, the transport of the socket's connections, like
 *			TCP_CONGESTION for TCP.  The default is the namespace's net.ndp.transport
 *			when the socket is made ("ndp" unless that was changed); an accepted
 *			socket has the initiator's.  Its module, ndp-transport-NAME, is loaded if
 *			the caller has CAP_NET_ADMIN.  ENOENT if there is no transport of that
 *			name, EISCONN from connect() on, until the socket is disconnected.  With a
 *			transport that needs a lossless network (light), connect() fails with
 *			EPROTONOSUPPORT where none is known (net.ndp.lossless).
 * NDP_ACCEPT		get, set; string of at most NDP_ACCEPT_MAX bytes, names separated by
 *			spaces: the transports whose connections a listener accepts; an initiator
 *			with another one gets EPROTONOSUPPORT.  By default, and again with " ",
 *			all that are loaded.  ENOENT as above, EINVAL for more bytes.
 * NDP_UNORDERED	get, set; int, boolean.  For SOCK_SEQPACKET: a message that has arrived is
 *			read whether those before it have arrived or not; each is read once, and
 *			whole.  It applies to this end only, and may be changed at any time.
 *			Messages of more than NDP_UNORDERED_MAX packets stay in order, and so do
 *			all if the connection's transport is NDP's own, or keeps packets in order
 *			(dcqcn, light).  EOPNOTSUPP for streams.  Accepted sockets inherit it from
 *			their listener.
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
 * For SOCK_SEQPACKET: this message is read after all that were sent before it, also where
 * NDP_UNORDERED is set.  Messages sent after it may still overtake it.  If a message is sent in
 * parts (MSG_MORE), any part may carry it.  EINVAL for another length, or another type of this
 * level.
 */
#define NDP_CMSG_SYNC		1

/** Length of a transport's name, final zero included, and of a list of names */
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
 * enum ndp_timer - values of ndp_info.timer: what is due next if no packet arrives
 * @NDP_TIMER_NONE:	nothing
 * @NDP_TIMER_RETRANS:	packets in flight were not answered: retransmission timeout
 * @NDP_TIMER_PROBE:	a PROBE asks the peer for permission to send, or for receive window
 * @NDP_TIMER_ACK:	delayed ACKs are sent
 * @NDP_TIMER_OPEN:	the connection is opened without data
 * @NDP_TIMER_CORK:	data that MSG_MORE or TCP_CORK holds back is sent
 * @NDP_TIMER_KEEPALIVE: the idle peer is sent a keepalive probe
 * @NDP_TIMER_ORPHAN:	an orphan, a connection without a process, is given up
 * @NDP_TIMER_TRANSPORT: the transport's own timer
 * @NDP_TIMER_CHALLENGE: the peer is asked to prove its address
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
 * @rttvar_us:	mean deviation of the round-trip time, microseconds
 * @snd_inflight: packets sent and neither acknowledged nor known lost
 * @snd_rtx_queue: packets waiting to be retransmitted
 * @snd_credit:	packets pulled by the peer and not sent yet
 * @snd_window:	receive window that the peer advertised last, bytes
 * @rcv_window:	receive window advertised to the peer last, bytes
 * @rcv_ooo:	packets received beyond a gap (out of order)
 * @pull_pending: pulls owed to the peer and not sent yet
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
 * @timeouts:	packets declared lost because no answer arrived within the RTO
 * @acks_in:	ACKs received
 * @nacks_in:	NACKs received
 * @pulls_in:	packets pulled by the peer
 * @bounces_in:	headers that switches returned to us
 * @probes_out:	PROBEs sent
 * @data_in:	whole DATA packets received, duplicates included
 * @trims_in:	trimmed DATA packets received
 * @dups_in:	DATA packets received more than once
 * @noroom_in:	whole DATA packets treated as trimmed for want of receive buffer
 * @crc_in:	DATA packets treated as trimmed for a bad payload CRC
 * @pulls_out:	packets that we pulled
 * @transport:	name of the transport
 * @marked_in:	DATA packets that arrived marked (ECN)
 * @ece_in:	answers that reported a mark
 * @early_in:	whole DATA packets refused because too far ahead of the lowest missing one
 * @rcv_ooo_max: largest distance of an accepted packet from the lowest missing one, packets
 * @snd_cwnd:	congestion window, packets, if the transport has one
 * @sync_in:	messages sent with NDP_CMSG_SYNC that began to arrive; not counted by NDP's own
 *		transport
 * @sync_early_in: of them, those that began to arrive before all messages before them were there
 * @timer:	&enum ndp_timer, the timer that expires next
 * @backoff:	timeouts in a row without an answer, at most 255
 * @pad:	0
 * @timer_us:	microseconds until @timer expires; 0: now, or none is set
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

/** Most paths in one destination's list, and to a host. */
#define NDP_PATHS_MAX		256

/** Most destinations in a namespace's table; beyond that, ENOSPC. */
#define NDP_PATH_DSTS_MAX	4096

/*
 * Sockets, by sock_diag (NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY with NLM_F_DUMP): sockets of the
 * namespace that listen or are connected, as inet_diag dumps TCP's.  Everybody may dump them.
 * Connection ids, by which packets prove that they belong to a connection, and routing marks are
 * shown only to processes with CAP_NET_ADMIN in the namespace's user namespace.
 */

/**
 * struct ndp_diag_req - request for a dump of sockets
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
 * @family:	address family: AF_INET or AF_INET6
 * @state:	&enum ndp_state
 * @type:	SOCK_STREAM or SOCK_SEQPACKET
 * @pad:	0
 * @sport:	local port
 * @dport:	port of the peer; 0 for a listener
 * @src:	local address; an IPv4 address is in the first four bytes
 * @dst:	address of the peer
 * @ifindex:	device that the socket is bound to, or 0
 * @uid:	user id of the owner
 * @inode:	inode; 0: no process has the socket
 * @cookie:	as SO_COOKIE returns
 * @rqueue:	bytes that can be read; listener: connections to accept
 * @wqueue:	unacknowledged bytes; listener: backlog limit
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
 * @NDP_DIAG_INFO:	&struct ndp_info; its conn_id is 0 for readers without the capability
 * @NDP_DIAG_MEMINFO:	array of u32, as SO_MEMINFO
 * @NDP_DIAG_MARK:	u32, routing mark of the socket
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
