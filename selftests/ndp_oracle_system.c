// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP behaves as TCP sockets do (oracle.h): how the rest of the system uses a socket.  io_uring;
 * files, maps and pollers that move many bytes; filters, BPF programs and memory of cgroups; time
 * stamps; what the kernel reports about a connection.
 */
#include "oracle.h"

#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/net_tstamp.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* io_uring, without a library */

struct ring {
	int			fd;
	char			*map;
	struct io_uring_sqe	*sqes;
	struct io_uring_params	p;
};

static bool make_ring(struct ring *ring)
{
	memset(ring, 0, sizeof(*ring));
	ring->fd = syscall(SYS_io_uring_setup, 4, &ring->p);
	if (ring->fd < 0)
		return false;
	ring->map = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
			 IORING_OFF_SQ_RING);
	ring->sqes = mmap(NULL, 4 * sizeof(*ring->sqes), PROT_READ | PROT_WRITE, MAP_SHARED,
			  ring->fd, IORING_OFF_SQES);
	return ring->map != MAP_FAILED && ring->sqes != MAP_FAILED;
}

static unsigned int *ring_word(struct ring *ring, unsigned int offset)
{
	return (unsigned int *)(ring->map + offset);
}

static void submit(struct ring *ring, int op, int fd, const void *addr, unsigned int len,
		   unsigned long long off)
{
	unsigned int tail = *ring_word(ring, ring->p.sq_off.tail);
	unsigned int at = tail & *ring_word(ring, ring->p.sq_off.ring_mask);

	memset(&ring->sqes[at], 0, sizeof(ring->sqes[at]));
	ring->sqes[at].opcode = op;
	ring->sqes[at].fd = fd;
	ring->sqes[at].addr = (unsigned long)addr;
	ring->sqes[at].len = len;
	if (op == IORING_OP_POLL_ADD)
		ring->sqes[at].poll_events = off;
	else
		ring->sqes[at].off = off;
	ring_word(ring, ring->p.sq_off.array)[at] = at;
	__atomic_store_n(ring_word(ring, ring->p.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	must(syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) == 1, "submit");
}

static int completed(struct ring *ring)
{
	unsigned int *head = ring_word(ring, ring->p.cq_off.head);
	struct io_uring_cqe *cqes = (void *)(ring->map + ring->p.cq_off.cqes);
	int result;

	must(syscall(SYS_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) >= 0,
	     "wait for a completion");
	result = cqes[*head & *ring_word(ring, ring->p.cq_off.ring_mask)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

static void note_ring(const char *what, int result)
{
	if (result < 0)
		note("%s = %s", what, strerrorname_np(-result));
	else
		note("%s = %d", what, result);
}

/* Submit a request that does not have to wait, and note its result. */
static void ring_call(struct ring *ring, const char *what, int op, int fd, const void *addr,
		      unsigned int len)
{
	submit(ring, op, fd, addr, len, 0);
	note_ring(what, completed(ring));
}

CASE(ring_sends_and_receives)
{
	struct ring ring;
	char text[8] = "";

	must(make_ring(&ring), "make a ring");
	pair();
	ring_call(&ring, "send", IORING_OP_SEND, client, "hello", 5);
	ring_call(&ring, "receive", IORING_OP_RECV, server, text, 8);
	note("%s", text);
	ring_call(&ring, "write", IORING_OP_WRITE, server, "back", 4);
	ring_call(&ring, "read", IORING_OP_READ, client, text, 4);
	/* A receive that has to wait. */
	submit(&ring, IORING_OP_RECV, server, text, 8, 0);
	send(client, "later", 5, 0);
	note_ring("receive", completed(&ring));
	ring_call(&ring, "shutdown", IORING_OP_SHUTDOWN, client, NULL, SHUT_WR);
	ring_call(&ring, "receive", IORING_OP_RECV, server, text, 8);
	ring_call(&ring, "send", IORING_OP_SEND, client, "x", 1);
	ring_call(&ring, "close", IORING_OP_CLOSE, client, NULL, 0);
}

CASE(ring_connects_and_accepts)
{
	union address addr;
	struct ring ring;
	int l, s, a;
	char byte;

	must(make_ring(&ring), "make a ring");
	l = listening(port);
	s = new_socket(NEAR, 0);
	addr = address(FAR, port);
	submit(&ring, IORING_OP_ACCEPT, l, NULL, 0, 0);
	a = connect(s, &addr.any, address_len());
	note("connect %d", a);
	send(s, "x", 1, 0);
	a = completed(&ring);
	note("accepted %d", a >= 0);
	ring_call(&ring, "receive", IORING_OP_RECV, a, &byte, 1);
	s = new_socket(NEAR, 0);
	submit(&ring, IORING_OP_CONNECT, s, &addr, 0, address_len());
	note_ring("connect", completed(&ring));
	ring_call(&ring, "send", IORING_OP_SEND, s, "x", 1);
	wait_in(l);
}

CASE(ring_polls)
{
	struct ring ring;

	must(make_ring(&ring), "make a ring");
	pair();
	submit(&ring, IORING_OP_POLL_ADD, server, NULL, 0, POLLIN | POLLRDHUP);
	send(client, "x", 1, 0);
	note_events("server", completed(&ring));
	submit(&ring, IORING_OP_POLL_ADD, server, NULL, 0, POLLRDHUP);
	close(client);
	note_events("server", completed(&ring));
}

CASE(ring_is_cancelled)
{
	struct ring ring;
	char byte;

	must(make_ring(&ring), "make a ring");
	pair();
	submit(&ring, IORING_OP_RECV, server, &byte, 1, 0);
	submit(&ring, IORING_OP_ASYNC_CANCEL, -1, NULL, 0, 0);
	note_ring("one", completed(&ring));
	note_ring("other", completed(&ring));
	/* A byte that arrives now is for the next call. */
	send(client, "x", 1, 0);
	CALL(recv(server, &byte, 1, 0));
}

/* Many bytes, each way of reading and writing in one direction or the other */

#define MANY	0x100000

static void fill(char *data, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		data[i] = i * 31 + i / 997;
}

static int filled_file(void)
{
	static char data[MANY];
	FILE *file = tmpfile();

	must(file, "make a file");
	fill(data, MANY);
	must(fwrite(data, 1, MANY, file) == MANY && !fflush(file), "fill a file");
	return fileno(file);
}

/* Receive to the end, and note whether it is the content that fill() makes. */
static void receive_all(int fd)
{
	static char data[MANY], got[MANY + 1];
	size_t n = 0;
	ssize_t r;

	fill(data, MANY);
	while ((r = recv(fd, got + n, sizeof(got) - n, 0)) > 0)
		n += r;
	note("got %zu, same %d", n, n == MANY && !memcmp(data, got, MANY));
}

/* The client sends in a process of its own. */
static bool in_child(void)
{
	if (fork()) {
		close(client);
		return false;
	}
	close(server);
	return true;
}

CASE(many_from_a_map)
{
	int file = filled_file();
	char *map = mmap(NULL, MANY, PROT_READ, MAP_SHARED, file, 0);

	must(map != MAP_FAILED, "map");
	pair();
	if (in_child())
		_exit(send(client, map, MANY, 0) != MANY);
	receive_all(server);
}

CASE(many_by_sendfile)
{
	int file = filled_file();
	off_t at = 0;

	pair();
	if (in_child()) {
		while (at < MANY && sendfile(client, file, &at, MANY - at) > 0)
			;
		_exit(0);
	}
	receive_all(server);
}

CASE(many_by_splice)
{
	int file = filled_file(), p[2], n = 0;
	loff_t at = 0;

	must(!pipe(p), "make a pipe");
	pair();
	if (in_child()) {
		while (n < MANY) {
			int r = splice(file, &at, p[1], NULL, 65536, 0);

			if (r <= 0 || splice(p[0], NULL, client, NULL, r, SPLICE_F_MORE) != r)
				break;
			n += r;
		}
		_exit(0);
	}
	receive_all(server);
}

CASE(many_into_a_file)
{
	static char data[MANY], got[MANY];
	FILE *file = tmpfile();
	int p[2], n = 0, r;

	fill(data, MANY);
	must(!pipe(p), "make a pipe");
	pair();
	if (in_child())
		_exit(send(client, data, MANY, 0) != MANY);
	while ((r = splice(server, NULL, p[1], NULL, 65536, 0)) > 0) {
		must(splice(p[0], NULL, fileno(file), NULL, r, 0) == r, "write a file");
		n += r;
	}
	must(pread(fileno(file), got, MANY, 0) == MANY, "read the file");
	note("%d, same %d", n, !memcmp(data, got, MANY));
}

static size_t at_most(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Send and receive at once by nonblocking calls, as much as possible at a time. */
static void poll_both(int fd)
{
	static char data[MANY], got[MANY + 1];
	size_t in = 0, out = 0;
	ssize_t r = 1;

	fill(data, MANY);
	nonblock(fd);
	while (r || out < MANY) {
		struct pollfd p = { .fd = fd, .events = (r ? POLLIN : 0) |
							(out < MANY ? POLLOUT : 0) };

		must(poll(&p, 1, SOON) == 1, "go on");
		if (p.revents & POLLIN) {
			r = recv(fd, got + in, at_most(7919, sizeof(got) - in), 0);
			must(r >= 0, "receive");
			in += r;
		}
		if (out < MANY && p.revents & POLLOUT) {
			ssize_t w = send(fd, data + out, MANY - out, 0);

			must(w > 0 || errno == EAGAIN, "send");
			out += w > 0 ? w : 0;
			if (out == MANY)
				shutdown(fd, SHUT_WR);
		}
	}
	note("in %zu, out %zu, same %d", in, out, !memcmp(data, got, MANY));
}

CASE(many_both_ways_by_poll)
{
	int status;

	pair();
	if (in_child()) {
		notes = fopen("/dev/null", "w");
		poll_both(client);
		_exit(0);
	}
	poll_both(server);
	wait(&status);
}

CASE(many_through_small_buffers)
{
	static char data[MANY];

	fill(data, MANY);
	pair();
	/* On loopback smaller than the memory with which a packet is charged. */
	set_int(server, SOL_SOCKET, SO_RCVBUF, 30000);
	set_int(client, SOL_SOCKET, SO_SNDBUF, 5000);
	if (in_child())
		_exit(send(client, data, MANY, 0) != MANY);
	receive_all(server);
}

CASE(many_in_pieces)
{
	static char data[MANY];
	size_t at, n;

	fill(data, MANY);
	pair();
	if (in_child()) {
		for (at = 0, n = 1; at < MANY; at += n, n = n * 7 % 30011 + 1)
			if (send(client, data + at, at_most(n, MANY - at), 0) < 0)
				_exit(1);
		_exit(0);
	}
	receive_all(server);
}

CASE(interrupted_while_sending)
{
	static char data[MANY];
	int n = 0, r, i;

	pair();
	set_int(client, SOL_SOCKET, SO_SNDBUF, 20000);
	set_int(server, SOL_SOCKET, SO_RCVBUF, 20000);
	alarm_in(50, 0);
	/* There is no reader: send() takes what fits, then nothing. */
	for (i = 0; i < 100 && (r = send(client, data, sizeof(data), 0)) > 0; i++)
		n += r;
	note("something %d, then %s", n > 0, strerrorname_np(errno));
}

/* Filters, programs and limits */

static int attach_filter(int fd, unsigned int keep)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, keep) };
	struct sock_fprog program = { 1, all };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

CASE(filtered)
{
	int none = 0;
	char byte;

	pair();
	CALL(attach_filter(server, 0));
	send(client, "x", 1, 0);
	note_events("server", events_of(server, POLLIN, A_WHILE));
	CALL(setsockopt(server, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof(none)));
	/* The byte was not lost. */
	AWAIT(server, POLLIN);
	CALL(recv(server, &byte, 1, 0));
	CALL(set_int(server, SOL_SOCKET, SO_LOCK_FILTER, 1));
	CALL(attach_filter(server, 1000));
}

CASE(listener_filtered)
{
	int l = listening(port), s, none = 0;

	CALL(attach_filter(l, 0));
	s = new_socket(NEAR, SOCK_NONBLOCK);
	connect_to(s, port);
	send(s, "x", 1, 0);
	note_events("l", events_of(l, POLLIN, A_WHILE));
	CALL(setsockopt(l, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof(none)));
	wait_in(l);
}

/* Create a cgroup for this case, and move its process there. */
static int own_cgroup(void)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/fs/cgroup/oracle-%d", getpid());
	must(!mkdir(path, 0755), "make a cgroup");
	strcat(path, "/cgroup.procs");
	file = fopen(path, "w");
	must(file && fprintf(file, "%d", getpid()) > 0 && !fclose(file), "enter a cgroup");
	*strrchr(path, '/') = 0;
	return open(path, O_RDONLY | O_DIRECTORY);
}

static void leave_cgroup(void)
{
	char path[64];

	must(!shell("echo %d >/sys/fs/cgroup/cgroup.procs", getpid()), "leave a cgroup");
	snprintf(path, sizeof(path), "/sys/fs/cgroup/oracle-%d", getpid());
	rmdir(path);
}

/* Attach a BPF program that always returns @verdict; 0 refuses. */
static void attach_program(int cgroup, int type, int attach, int verdict)
{
	struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = verdict },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr load = {
		.prog_type = type, .insns = (unsigned long)code, .insn_cnt = 2,
		.license = (unsigned long)"GPL", .expected_attach_type = attach,
	}, put = { 0 };

	put.attach_bpf_fd = syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
	must((int)put.attach_bpf_fd >= 0, "load a program");
	put.target_fd = cgroup;
	put.attach_type = attach;
	must(!syscall(SYS_bpf, BPF_PROG_ATTACH, &put, sizeof(put)), "attach a program");
}

CASE(group_makes_no_sockets)
{
	attach_program(own_cgroup(), BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, 0);
	CALL(new_socket(NEAR, 0));
	leave_cgroup();
	note("%d", new_socket(NEAR, 0) >= 0);
}

CASE(group_may_not_bind)
{
	int s;

	attach_program(own_cgroup(), BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
		       is_ip6_world() ? BPF_CGROUP_INET6_BIND : BPF_CGROUP_INET4_BIND, 0);
	s = new_socket(NEAR, 0);
	CALL(bind_to(s, NEAR, port));
	leave_cgroup();
}

CASE(group_may_not_keep_a_port)
{
	int s;

	attach_program(own_cgroup(), BPF_PROG_TYPE_CGROUP_SOCK,
		       is_ip6_world() ? BPF_CGROUP_INET6_POST_BIND : BPF_CGROUP_INET4_POST_BIND, 0);
	s = new_socket(NEAR, 0);
	CALL(bind_to(s, NEAR, port));
	leave_cgroup();
	s = new_socket(NEAR, 0);
	CALL(bind_to(s, NEAR, port));
}

CASE(group_may_not_connect)
{
	int l = listening(port), s;

	attach_program(own_cgroup(), BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
		       is_ip6_world() ? BPF_CGROUP_INET6_CONNECT : BPF_CGROUP_INET4_CONNECT, 0);
	s = new_socket(NEAR, 0);
	CALL(connect_to(s, port));
	leave_cgroup();
	s = new_socket(NEAR, 0);
	CALL(connect_to(s, port));
	send(s, "x", 1, 0);
	wait_in(l);
}

static void no_packets(enum bpf_attach_type at)
{
	int group = own_cgroup();

	pair();
	attach_program(group, BPF_PROG_TYPE_CGROUP_SKB, at, 0);
	send(client, "x", 1, MSG_DONTWAIT);
	note_events("server", events_of(server, POLLIN, A_WHILE));
	leave_cgroup();
}

CASE(group_hears_nothing)
{
	no_packets(BPF_CGROUP_INET_INGRESS);
}

CASE(group_says_nothing)
{
	no_packets(BPF_CGROUP_INET_EGRESS);
}

CASE(group_of_little_memory)
{
	static char data[MANY];
	int i;

	fill(data, MANY);
	own_cgroup();
	shell("echo +memory >/sys/fs/cgroup/cgroup.subtree_control");
	must(!shell("echo 16M >/sys/fs/cgroup/oracle-%d/memory.max", getpid()), "limit memory");
	pair();
	if (in_child()) {
		for (i = 0; i < 8; i++)
			if (send(client, data + i * MANY / 8, MANY / 8, 0) < 0)
				_exit(1);
		_exit(0);
	}
	receive_all(server);
	wait(&i);
	leave_cgroup();
}

/* A socket that is passed to another process over a local one */

union one_descriptor {
	struct cmsghdr	header;
	char		room[CMSG_SPACE(sizeof(int))];
};

static void hand_over(int local, int fd)
{
	union one_descriptor control = {
		.header = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
			    .cmsg_type = SCM_RIGHTS },
	};
	struct iovec out = { "x", 1 };
	struct msghdr m = { .msg_iov = &out, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	must(sendmsg(local, &m, 0) == 1, "hand a descriptor over");
}

static int take_over(int local)
{
	union one_descriptor control;
	char byte;
	struct iovec in = { &byte, 1 };
	struct msghdr m = { .msg_iov = &in, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	int fd;

	must(recvmsg(local, &m, 0) == 1, "take a descriptor over");
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

CASE(handed_over)
{
	int local[2], status, got;
	char text[8];

	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, local), "make local sockets");
	pair();
	if (!fork()) {
		got = take_over(local[1]);
		_exit(send(got, "hello", 5, 0) != 5);
	}
	hand_over(local[0], client);
	close(client);
	CALL(recv(server, text, 5, MSG_WAITALL));
	wait(&status);
	note("the other %d", status);
	/* The child had the last reference to the client's socket. */
	CALL(recv(server, text, 1, 0));
}

/* A socket in a message that is not received lives until the message is freed. */
CASE(handed_to_nobody)
{
	int local[2];
	char byte;

	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, local), "make local sockets");
	pair();
	hand_over(local[0], client);
	close(client);
	note_events("server", events_of(server, POLLIN, A_WHILE));
	close(local[0]);
	close(local[1]);
	AWAIT(server, POLLIN);
	CALL(recv(server, &byte, 1, 0));
}

/* What the kernel reports */

static void note_control(struct msghdr *m)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		note("control level %d type %d length %zu", c->cmsg_level, c->cmsg_type,
		     (size_t)c->cmsg_len);
}

static bool receive_byte(struct msghdr *m)
{
	static char byte, control[256];
	static struct iovec in = { &byte, 1 };

	*m = (struct msghdr){ .msg_iov = &in, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	send(client, "x", 1, 0);
	wait_in(server);
	return recvmsg(server, m, 0) == 1;
}

static void receive_stamped(void)
{
	struct msghdr m;

	CALL(receive_byte(&m));
	note_control(&m);
}

/* The kernel enables time stamps with a little delay. */
static void wait_for_stamps(void)
{
	struct msghdr m;
	int i;

	for (i = 0; i < SOON / 10; i++) {
		must(receive_byte(&m), "receive");
		if (m.msg_controllen)
			return;
		usleep(10000);
	}
	must(false, "wait for stamps");
}

CASE(stamps_of_arrival)
{
	pair();
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMP, 1));
	wait_for_stamps();
	receive_stamped();
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMPNS, 1));
	receive_stamped();
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMPNS, 0));
	receive_stamped();
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMPING,
		     SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE));
	wait_for_stamps();
	receive_stamped();
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMPING, 0));
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMPING, 0x40000000));
}

static void note_state(const char *who, int s)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);
	int r = getsockopt(s, SOL_TCP, TCP_INFO, &info, &len);

	note("%s %d: state %d, rto %d, mss %d, unacked %d", who, r, info.tcpi_state,
	     info.tcpi_rto > 0, info.tcpi_snd_mss > 0, info.tcpi_unacked);
}

CASE(information_in_each_state)
{
	int s = new_socket(NEAR, 0);
	char byte;

	note("fresh: state %d", ({ struct tcp_info i; socklen_t n = sizeof(i);
	     getsockopt(s, SOL_TCP, TCP_INFO, &i, &n); i.tcpi_state; }));
	pair();
	wait_acked(client);
	wait_acked(server);
	note_state("client", client);
	note_state("server", server);
	shutdown(client, SHUT_WR);
	wait_acked(client);
	wait_event(server, POLLRDHUP);
	note_state("client", client);
	note_state("server", server);
	CALL(recv(server, &byte, 1, 0));
	reset_client();
	note("after a reset: state %d", ({ struct tcp_info i; socklen_t n = sizeof(i);
	     getsockopt(client, SOL_TCP, TCP_INFO, &i, &n); i.tcpi_state; }));
}

CASE(information_counts)
{
	static char data[100000], got[100000];
	struct tcp_info info;
	socklen_t len = sizeof(info);

	pair();
	send(client, data, sizeof(data), 0);
	recv(server, got, sizeof(got), MSG_WAITALL);
	wait_acked(client);
	CALL(getsockopt(server, SOL_TCP, TCP_INFO, &info, &len));
	note("received %llu", (unsigned long long)info.tcpi_bytes_received);
	len = sizeof(info);
	CALL(getsockopt(client, SOL_TCP, TCP_INFO, &info, &len));
	/* On a slow machine some bytes may have been retransmitted. */
	note("sent %llu, not sent %u",
	     (unsigned long long)(info.tcpi_bytes_sent - info.tcpi_bytes_retrans),
	     info.tcpi_notsent_bytes);
	len = 1;
	CALL(getsockopt(client, SOL_TCP, TCP_INFO, &info, &len));
	note("%u", len);
	len = -1;
	CALL(getsockopt(client, SOL_TCP, TCP_INFO, &info, &len));
	CALL(getsockopt(client, SOL_TCP, TCP_INFO, NULL, &len));
	CALL(set_int(client, SOL_TCP, TCP_INFO, 1));
}

/* Programs ask this to find out whether a connection is encrypted. */
CASE(no_upper_layer)
{
	char name[16] = "unchanged";
	socklen_t len = sizeof(name);

	pair();
	CALL(getsockopt(client, SOL_TCP, TCP_ULP, name, &len));
	note("%u bytes: %s", len, name);
	len = -1;
	CALL(getsockopt(client, SOL_TCP, TCP_ULP, name, &len));
}

/* sshd asks this, and refuses clients that use source routes. */
CASE(no_ip_options)
{
	char options[40] = "unchanged";
	socklen_t len = sizeof(options);
	int s = new_socket(NEAR, 0);

	CALL(getsockopt(s, SOL_IP, IP_OPTIONS, options, &len));
	note("%u bytes: %s", len, options);
	pair();
	len = sizeof(options);
	CALL(getsockopt(client, SOL_IP, IP_OPTIONS, options, &len));
	note("%u bytes: %s", len, options);
	len = sizeof(options);
	CALL(getsockopt(server, SOL_IP, IP_OPTIONS, options, &len));
	note("%u bytes: %s", len, options);
	len = -1;
	CALL(getsockopt(server, SOL_IP, IP_OPTIONS, options, &len));
}

CASE(segment_size)
{
	static const int values[] = { 0, 87, 88, 1000, 32767, 32768, -1 };
	static char data[20000];
	int s = new_socket(NEAR, 0), l = listening(port);
	size_t i;

	CALL(get_int(s, SOL_TCP, TCP_MAXSEG));
	for (i = 0; i < ARRAY_SIZE(values); i++)
		CALL(set_int(s, SOL_TCP, TCP_MAXSEG, values[i]));
	CALL(set_int(s, SOL_TCP, TCP_MAXSEG, 500));
	CALL(connect_to(s, port));
	note("no more %d", get_int(s, SOL_TCP, TCP_MAXSEG) <= 500);
	CALL(send(s, data, sizeof(data), 0));
	wait_in(l);
	server = accept(l, NULL, NULL);
	CALL(recv(server, data, sizeof(data), MSG_WAITALL));
}

CASE(deferring_and_lingering)
{
	static const int values[] = { -1, 0, 1, 2, 5, 60, 121, 100000 };
	static const int options[] = { TCP_DEFER_ACCEPT, TCP_LINGER2, TCP_FASTOPEN };
	int l = listening(port), a;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		for (j = 0; j < ARRAY_SIZE(values); j++) {
			note("option %d value %d", options[i], values[j]);
			CALL(set_int(l, SOL_TCP, options[i], values[j]));
			if (options[i] != TCP_FASTOPEN)
				CALL(get_int(l, SOL_TCP, options[i]));
		}
	}
	CALL(set_int(l, SOL_TCP, TCP_DEFER_ACCEPT, 5));
	CALL(set_int(l, SOL_TCP, TCP_LINGER2, 7));
	connect_and_send(port);
	wait_in(l);
	a = accept(l, NULL, NULL);
	CALL(get_int(a, SOL_TCP, TCP_LINGER2));
}

/* A half-closed connection ends after TCP_LINGER2 seconds. */
CASE(closed_half_ends)
{
	pair();
	CALL(set_int(client, SOL_TCP, TCP_LINGER2, 1));
	close(client);
	AWAIT(server, POLLRDHUP);
	sleep(3);
	CALL(send(server, "x", 1, MSG_NOSIGNAL));
	AWAIT(server, POLLHUP);
	CALL(send(server, "x", 1, MSG_NOSIGNAL));
}

CASE(congestion_control)
{
	char name[32] = "";
	socklen_t len = sizeof(name);
	int s = new_socket(NEAR, 0);

	CALL(getsockopt(s, SOL_TCP, TCP_CONGESTION, name, &len));
	note("length %u", len);
	CALL(setsockopt(s, SOL_TCP, TCP_CONGESTION, name, strlen(name)));
	CALL(setsockopt(s, SOL_TCP, TCP_CONGESTION, "nonsense", 8));
	CALL(setsockopt(s, SOL_TCP, TCP_CONGESTION, name, 0));
	CALL(setsockopt(s, SOL_TCP, TCP_CONGESTION, NULL, 8));
	len = 2;
	CALL(getsockopt(s, SOL_TCP, TCP_CONGESTION, name, &len));
	note("length %u", len);
}

CASE(more_of_the_core)
{
	/* Not SO_TXREHASH, which newer kernels accept for TCP sockets only. */
	static const int options[] = { SO_DOMAIN, SO_BINDTOIFINDEX, SO_INCOMING_NAPI_ID,
				       SO_PREFER_BUSY_POLL, SO_RESERVE_MEM,
				       SO_SELECT_ERR_QUEUE, SO_WIFI_STATUS, SO_NOFCS,
				       SO_LOCK_FILTER, SO_PEERGROUPS, SO_PASSSEC };
	unsigned long long cookie = 0, again = 1;
	unsigned int memory[9];
	char label[64];
	socklen_t len = sizeof(cookie);
	int s = new_socket(NEAR, 0);

	note_options(s, SOL_SOCKET, options, ARRAY_SIZE(options));
	CALL(getsockopt(s, SOL_SOCKET, SO_COOKIE, &cookie, &len));
	CALL(getsockopt(s, SOL_SOCKET, SO_COOKIE, &again, &len));
	note("same %d", cookie == again);
	len = sizeof(memory);
	CALL(getsockopt(s, SOL_SOCKET, SO_MEMINFO, memory, &len));
	note("length %u", len);
	CALL(set_int(s, SOL_SOCKET, SO_MAX_PACING_RATE, 1000000));
	len = sizeof(label);
	CALL(getsockopt(s, SOL_SOCKET, SO_PEERSEC, label, &len));
}

CASE(urgent)
{
	char byte;

	pair();
	CALL(send(client, "u", 1, MSG_OOB));
	CALL(recv(client, &byte, 1, MSG_OOB));
}

TEST_HARNESS_MAIN
