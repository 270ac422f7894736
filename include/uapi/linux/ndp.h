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
 *		until the socket is disconnected.
 * NDP_ACCEPT		get, set; string of at most NDP_ACCEPT_MAX bytes, names with spaces between
 *		them: of a listener, transports whose connections it accepts; an initiator
 *		with another gets EPROTONOSUPPORT.  By default, and again with " ", all that
 *		are loaded.  ENOENT as above, EINVAL for more bytes.
 * NDP_UNORDERED	get, set; int, boolean.  Of SOCK_SEQPACKET: a message that is there is read,
 *			whether those before it are there or not; each is read once, and whole.  It
 *			is this end's own, and may be changed at any time.  Messages of more than
 *			NDP_UNORDERED_MAX packets stay in order, and so do all if the connection's
 *			transport is NDP's own, or keeps packets in order (dcqcn).  EOPNOTSUPP for
 *			streams.  Accepted sockets have their listener's.
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
};

/*
 * Paths, by generic netlink.
 *
 * For each destination prefix a namespace holds a list of paths; the longest
 * prefix that covers a host gives the paths to it.  Without an entry it is reached
 * over net.ndp.paths entropy values drawn at random.  Changing the table needs CAP_NET_ADMIN in
 * the namespace's user namespace; connections that exist keep their paths.  There are
 * at most NDP_PATH_DSTS_MAX destinations with NDP_PATHS_MAX paths each; beyond that,
 * ENOSPC.
 */
#define NDP_GENL_NAME		"ndp"
#define NDP_GENL_VERSION	2

/**
 * enum ndp_cmd - generic netlink commands
 * @NDP_CMD_PATH_ADD:	add one path to a destination; EEXIST if it is there
 * @NDP_CMD_PATH_DEL:	remove one path, or with neither NDP_A_VIA nor
 *			NDP_A_ENTROPY nor NDP_A_MARK all paths of the
 *			destination; ENOENT if there is none
 * @NDP_CMD_PATH_GET:	dump
 * @NDP_CMD_PEER_GET:	dump the hosts that connections go to, or went to lately: a
 *			message for each path, with what is known of it
 * @NDP_CMD_REPAIR_ADD:	make good the lengths of packets that were cut on their way to a
 *			device (NDP_A_IFINDEX); EEXIST if that is done already,
 *			EOPNOTSUPP without CONFIG_NETFILTER_INGRESS
 * @NDP_CMD_REPAIR_DEL:	no longer; ENOENT
 * @NDP_CMD_REPAIR_GET:	dump those devices
 * @NDP_CMD_DEV_GET:	dump the devices that are up, but for loopback: &enum ndp_dev_attr
 * @NDP_CMD_EVENT:	no request, but what those hear who joined the group NDP_GENL_EVENTS:
 *			&enum ndp_event_attr
 */
enum ndp_cmd {
	NDP_CMD_UNSPEC,
	NDP_CMD_PATH_ADD,
	NDP_CMD_PATH_DEL,
	NDP_CMD_PATH_GET,
	NDP_CMD_PEER_GET,
	NDP_CMD_REPAIR_ADD,
	NDP_CMD_REPAIR_DEL,
	NDP_CMD_REPAIR_GET,
	NDP_CMD_DEV_GET,
	NDP_CMD_EVENT,
	__NDP_CMD_MAX,
};

#define NDP_CMD_MAX (__NDP_CMD_MAX - 1)

/**
 * enum ndp_attr - attributes of those commands
 * @NDP_A_DST:		struct in_addr or in6_addr, destination address; host bits
 *			must be zero
 * @NDP_A_PREFIX:	u8, prefix length, 32 or 128 when absent
 * @NDP_A_VIA:		likewise, alias address of the destination to send to; with a
 *			shorter prefix length the prefix in its place
 * @NDP_A_ENTROPY:	u16, UDP source port, 49152 to 65535; 0 draws one per
 *			host at random
 * @NDP_A_MARK:		u32, routing mark
 * @NDP_A_SRC:		struct in_addr or in6_addr, address of this host
 * @NDP_A_CONNS:	u32, connections to the peer; 0: it is remembered
 * @NDP_A_ACKS:		u32, packets acknowledged that went by the path
 * @NDP_A_NACKS:	u32, packets trimmed on it
 * @NDP_A_LOSSES:	u32, packets lost on it
 * @NDP_A_LEFT_OUT:	u32, no DATA goes there for so many microseconds; absent: it is used
 * @NDP_A_IFINDEX:	u32, device; of a peer: that its sockets are bound to
 * @NDP_A_CONTROL_OUT:	u32, and nothing else than DATA
 * @NDP_A_SOCK_MARK:	u32, routing mark of the sockets; absent: 0
 * @NDP_A_UID:		u32, user whose sockets they are
 * @NDP_A_SRTT:		u32, smoothed round-trip time, microseconds; 0: not measured
 * @NDP_A_ANSWERS_LOST:	u32, of a path: answers lost on it, as far as is known
 * @NDP_A_PROBES:	u32, of a path: packets that went along it to see whether it is back
 * @NDP_A_REPLACED:	u32, how often a random path got a fresh UDP source port
 */
enum ndp_attr {
	NDP_A_UNSPEC,
	NDP_A_DST,
	NDP_A_PREFIX,
	NDP_A_VIA,
	NDP_A_ENTROPY,
	NDP_A_MARK,
	NDP_A_SRC,
	NDP_A_CONNS,
	NDP_A_ACKS,
	NDP_A_NACKS,
	NDP_A_LOSSES,
	NDP_A_LEFT_OUT,
	NDP_A_IFINDEX,
	NDP_A_CONTROL_OUT,
	NDP_A_SOCK_MARK,
	NDP_A_UID,
	NDP_A_SRTT,
	NDP_A_ANSWERS_LOST,
	NDP_A_PROBES,
	NDP_A_REPLACED,
	__NDP_A_MAX,
};

#define NDP_A_MAX (__NDP_A_MAX - 1)

/**
 * enum ndp_dev_attr - attributes of a device
 *
 * What is pulled comes by a link, and it is the link whose pull queue is paced: that of the
 * lowest device below a VLAN or macvlan.  What stands behind @NDP_D_PACE is told of the device
 * that has the queue, and since it has it; packets are those of all namespaces.
 *
 * @NDP_D_PAD:		nothing
 * @NDP_D_IFINDEX:	u32, device
 * @NDP_D_BELOW:	u32, device of this namespace that has the queue; absent: it is this one, or
 *			one of another namespace
 * @NDP_D_SPEED:	u64, speed of the link, bits per second; absent: it tells none
 * @NDP_D_SET:		u64, net.ndp.pull_rate_mbit in its place, bits per second; absent: not set
 * @NDP_D_RATE:		u64, what is reckoned with, of the two or 10 Gb/s
 * @NDP_D_LOW_SHARE:	u32, net.ndp.pull_low_share, per cent
 * @NDP_D_PACE:		u64, what pulls ask for now, bits per second
 * @NDP_D_SHARE:	u32, part of the rate that this is, 1/1024: less while much comes trimmed
 * @NDP_D_CONNS:	u32, connections that have received by it
 * @NDP_D_WAITING:	u32, of them, those that wait for their turn to pull
 * @NDP_D_PULLS:	u64, pulls granted
 * @NDP_D_PULLED_IN:	u64, packets that came for a pull
 * @NDP_D_TRIMMED_IN:	u64, of them, trimmed
 * @NDP_D_PUSHED_IN:	u64, packets of first windows that came
 */
enum ndp_dev_attr {
	NDP_D_UNSPEC,
	NDP_D_PAD,
	NDP_D_IFINDEX,
	NDP_D_BELOW,
	NDP_D_SPEED,
	NDP_D_SET,
	NDP_D_RATE,
	NDP_D_LOW_SHARE,
	NDP_D_PACE,
	NDP_D_SHARE,
	NDP_D_CONNS,
	NDP_D_WAITING,
	NDP_D_PULLS,
	NDP_D_PULLED_IN,
	NDP_D_TRIMMED_IN,
	NDP_D_PUSHED_IN,
	__NDP_D_MAX,
};

#define NDP_D_MAX (__NDP_D_MAX - 1)

/*
 * Events, by generic netlink: who joins the family's multicast group hears of those of its
 * namespace.  Everybody may, as everybody may list sockets and paths; ids of connections, marks and
 * users are in none.  More than NDP_EVENTS_RATE a second are not told, but counted:
 * EventsLost of /proc/net/ndp_stat.
 */
#define NDP_GENL_EVENTS		"events"
#define NDP_EVENTS_RATE		1000

/**
 * enum ndp_event - what happened, NDP_E_EVENT
 * @NDP_EVENT_OPEN:	a connection begins: connect(), or a peer's first packet
 * @NDP_EVENT_CLOSE:	it is over
 * @NDP_EVENT_PATH_OUT:	a path is left out
 * @NDP_EVENT_PATH_BACK: it is in use again
 * @NDP_EVENT_TIMEOUT:	packets were not answered in time, and are sent again
 * @NDP_EVENT_FLOOD:	a listener demands cookies of whoever opens a connection: too many have, and
 *			have not shown that they are where they say; once a second while it lasts
 */
enum ndp_event {
	NDP_EVENT_UNSPEC,
	NDP_EVENT_OPEN,
	NDP_EVENT_CLOSE,
	NDP_EVENT_PATH_OUT,
	NDP_EVENT_PATH_BACK,
	NDP_EVENT_TIMEOUT,
	NDP_EVENT_FLOOD,
	__NDP_EVENT_MAX,
};

#define NDP_EVENT_MAX (__NDP_EVENT_MAX - 1)

/**
 * enum ndp_event_attr - attributes of an event
 * @NDP_E_EVENT:	u32, &enum ndp_event
 * @NDP_E_LOST:		u32, events of the namespace since the last one that were not told; absent:
 *			none
 * @NDP_E_SRC:		struct in_addr or in6_addr, address of this host
 * @NDP_E_DST:		likewise, the peer's; a flood has none
 * @NDP_E_SPORT:	u16, port of this host; events of paths have none
 * @NDP_E_DPORT:	u16, the peer's
 * @NDP_E_ROLE:		u8, of a connection: 0 initiator, 1 acceptor
 * @NDP_E_ERROR:	u32, of a close: what the application is told, positive errno; absent: 0
 * @NDP_E_ABORT:	flag, of a close: it was ended before both sides had finished
 * @NDP_E_VIA:		struct in_addr or in6_addr, of a path: address that packets are sent to
 * @NDP_E_ENTROPY:	u16, of a path: UDP source port
 * @NDP_E_PATH:		u16, of a path: its place in NDP_CMD_PEER_GET's list
 * @NDP_E_CONTROL:	flag, of a path: for answers; absent: for DATA
 * @NDP_E_SILENT:	flag, of a path: it lost packets; absent: it trimmed them
 * @NDP_E_OUT:		u32, of a path: for how long it is, or was, left out, microseconds
 * @NDP_E_PACKETS:	u32, of timeouts: how many packets
 */
enum ndp_event_attr {
	NDP_E_UNSPEC,
	NDP_E_EVENT,
	NDP_E_LOST,
	NDP_E_SRC,
	NDP_E_DST,
	NDP_E_SPORT,
	NDP_E_DPORT,
	NDP_E_ROLE,
	NDP_E_ERROR,
	NDP_E_ABORT,
	NDP_E_VIA,
	NDP_E_ENTROPY,
	NDP_E_PATH,
	NDP_E_CONTROL,
	NDP_E_SILENT,
	NDP_E_OUT,
	NDP_E_PACKETS,
	__NDP_E_MAX,
};

#define NDP_E_MAX (__NDP_E_MAX - 1)

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
