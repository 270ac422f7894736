// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP behaves as TCP sockets do (oracle.h): how connections are opened and how sockets are
 * reused.  connect() that waits, to an address of no host and to a full backlog; listeners that
 * share a port; AF_UNSPEC; sockets used again; fast open.
 *
 * NDP_SYNC_CONNECT makes connect() of AF_NDP wait as TCP's does, so that both can be compared.
 */
#include "oracle.h"

/* Cases that need a cable, for its delay, or for addresses of no host. */
FIXTURE(cable) { };

FIXTURE_VARIANT(cable) { int kind; };

FIXTURE_VARIANT_ADD(cable, wire) { .kind = WIRE };

FIXTURE_VARIANT_ADD(cable, wire6) { .kind = WIRE6 };

FIXTURE_SETUP(cable) { }

FIXTURE_TEARDOWN(cable) { }

static int waiting_socket(int flags)
{
	int s = new_socket(NEAR, flags);

	if (ndp)
		must(!set_int(s, SOL_NDP, NDP_SYNC_CONNECT, 1), "have connect() wait");
	return s;
}

/* Set the cable's delay, so that no packet arrives before a call returns. */
static void set_delay(const char *delay)
{
	int end;

	for (end = NEAR; end <= FAR; end++) {
		must(!setns(world->ns[end], CLONE_NEWNET), "change namespace");
		must(!shell("ip link set eth%d type netwire delay %s", end == NEAR, delay),
		     "change the cable");
	}
}

static int disconnect(int s)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	return connect(s, &none, sizeof(none));
}

static void note_name(int s)
{
	union address addr = { 0 };
	socklen_t len = sizeof(addr);
	int r = getsockname(s, &addr.any, &len);

	note("name %d: port %s, address %s", r, !addr.in.sin_port ? "none" :
	     ntohs(addr.in.sin_port) - port < 10u ? "ours" : "any",
	     is_any(&addr) ? "any" : "ours");
}

/* Accept a connection that has sent a byte, and send one back. */
static int let_in(int l)
{
	char byte;
	int a;

	wait_in(l);
	a = accept(l, NULL, NULL);
	must(a >= 0 && recv(a, &byte, 1, 0) == 1, "let in");
	must(send(a, "y", 1, 0) == 1, "answer");
	return a;
}

/* connect() that waits */

CASE(waits)
{
	int l = listening(port), s = waiting_socket(0);

	CALL(connect_to(s, port));
	CALL(connect_to(s, port));
	EVENTS(s);
	wait_in(l);
	note("accepted %d", accept(l, NULL, NULL) >= 0);
}

CASE(waits_and_is_refused)
{
	int s = waiting_socket(0), l;
	char byte;

	CALL(connect_to(s, port));
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
	EVENTS(s);
	CALL(recv(s, &byte, 1, MSG_DONTWAIT));
	CALL(send(s, "x", 1, MSG_NOSIGNAL));
	note_name(s);
	CALL(connect_to(s, port));
	l = listening(port);
	CALL(connect_to(s, port));
	CALL(send(s, "x", 1, 0));
	let_in(l);
	CALL(recv(s, &byte, 1, 0));
}

CASE_OF(cable, in_background)
{
	int l, s;

	set_delay("400ms");
	l = listening(port);
	s = waiting_socket(SOCK_NONBLOCK);
	CALL(connect_to(s, port));
	EVENTS(s);
	CALL(connect_to(s, port));
	CALL(send(s, "x", 1, 0));
	CALL(getpeername(s, NULL, NULL));
	AWAIT(s, POLLOUT);
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
	CALL(connect_to(s, port));
	CALL(connect_to(s, port));
	wait_in(l);
	set_delay("10us");
}

CASE_OF(cable, in_background_with_a_signal)
{
	struct sigaction act = { .sa_handler = SIG_DFL };
	struct timespec t = { 5, 0 };
	sigset_t set;
	int l, s;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGIO, &act, NULL);
	set_delay("400ms");
	l = listening(port);
	s = waiting_socket(SOCK_NONBLOCK);
	CALL(fcntl(s, F_SETOWN, getpid()));
	CALL(fcntl(s, F_SETFL, O_ASYNC | O_NONBLOCK));
	CALL(connect_to(s, port));
	note("SIGIO %d", sigtimedwait(&set, NULL, &t) == SIGIO);
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
	CALL(send(s, "x", 1, 0));
	wait_in(l);
	set_delay("10us");
}

CASE_OF(cable, in_background_refused)
{
	int s;

	set_delay("400ms");
	s = waiting_socket(SOCK_NONBLOCK);
	CALL(connect_to(s, port));
	AWAIT(s, POLLOUT);
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
	CALL(connect_to(s, port));
	CALL(connect_to(s, port));
	AWAIT(s, POLLOUT);
	CALL(connect_to(s, port));
	set_delay("10us");
}

CASE_OF(cable, in_background_by_edges)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	int e = epoll_create1(0), s;

	set_delay("400ms");
	listening(port);
	s = waiting_socket(SOCK_NONBLOCK);
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, s, &ev));
	note("%d", epoll_wait(e, &ev, 1, 0));
	note_events("s", ev.events);
	CALL(connect_to(s, port));
	note("%d", epoll_wait(e, &ev, 1, SOON));
	note_events("s", ev.events);
	note("%d", epoll_wait(e, &ev, 1, A_WHILE));
	set_delay("10us");
}

CASE_OF(cable, nobody_within_the_timeout)
{
	int s;

	s = waiting_socket(0);
	timeouts(s, 200);
	CALL(connect_nowhere(s));
	EVENTS(s);
	CALL(connect_nowhere(s));
	CALL(shutdown(s, SHUT_RDWR));
	EVENTS(s);
	CALL(close(s));
}

CASE_OF(cable, nobody_and_a_signal)
{
	int s;

	s = waiting_socket(0);
	alarm_in(50, 0);
	CALL(connect_nowhere(s));
	CALL(connect_nowhere(s));
	nonblock(s);
	CALL(connect_nowhere(s));
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
}

CASE_OF(cable, nobody_for_long)
{
	int s;

	s = waiting_socket(0);
	CALL(set_int(s, SOL_TCP, TCP_USER_TIMEOUT, 500));
	CALL(set_int(s, SOL_TCP, TCP_SYNCNT, 1));
	CALL(connect_nowhere(s));
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
	CALL(connect_nowhere(s));
}

CASE_OF(cable, no_way)
{
	union address addr = named("192.0.2.1", "2001:db8::1", port);
	int s;

	s = new_socket(NEAR, 0);
	CALL(connect(s, &addr.any, address_len()));
	note_name(s);
	addr = named("255.255.255.255", "fe80::1", port);
	CALL(connect(s, &addr.any, address_len()));
	addr = named("224.0.0.1", "ff02::1", port);
	CALL(connect(s, &addr.any, address_len()));
	/* The socket can still be used. */
	listening(port);
	CALL(connect_to(s, port));
}

CASE_OF(cable, closed_while_connecting)
{
	int s;

	s = waiting_socket(SOCK_NONBLOCK);
	CALL(connect_nowhere(s));
	close_hard(s);
	s = waiting_socket(SOCK_NONBLOCK);
	CALL(connect_nowhere(s));
	CALL(close(s));
}

/* The backlog */

/* A child whose connection is accepted, sooner or later. */
static void ask_in(void)
{
	char byte;
	int s;

	if (fork())
		return;
	s = connect_and_send(port);
	_exit(recv(s, &byte, 1, 0) == 1 ? 0 : 1);
}

CASE(backlog_full)
{
	int l = new_socket(FAR, 0), i;

	must(!bind_to(l, FAR, port) && !listen(l, 1), "listen");
	for (i = 0; i < 5; i++)
		ask_in();
	settle();
	/* Clients that found the backlog full retransmit. */
	for (i = 0; i < 5; i++)
		let_in(l);
	note("%d got in", all_well(5));
}

CASE(backlog_numbers)
{
	static const int backlogs[] = { -1, 0, 1, 100000, 2147483647 };
	int l = new_socket(FAR, 0);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(backlogs); i++)
		CALL(listen(l, backlogs[i]));
	l = new_socket(FAR, 0);
	must(!bind_to(l, FAR, port), "bind");
	CALL(listen(l, 0));
	/* A backlog of 0 has room for one. */
	connect_and_send(port);
	wait_in(l);
	note("accepted %d", accept(l, NULL, NULL) >= 0);
}

/* Wait until all data is acknowledged: a reset discards data that has not arrived. */
static void wait_sent(int fd)
{
	int i, left = 1;

	for (i = 0; i < SOON / 10 && !ioctl(fd, SIOCOUTQ, &left) && left; i++)
		usleep(10000);
	must(!left, "all acknowledged");
}

CASE(gone_before_accepted)
{
	int l = listening(port), s, a;
	char text[4];

	s = connect_and_send(port);
	wait_in(l);
	close(s);
	settle();
	a = accept(l, NULL, NULL);
	CALL(recv(a, text, 4, 0));
	CALL(recv(a, text, 4, 0));
	s = connect_and_send(port);
	wait_in(l);
	wait_sent(s);
	close_hard(s);
	settle();
	a = accept(l, NULL, NULL);
	note("accepted %d", a >= 0);
	CALL(recv(a, text, 4, 0));
	CALL(recv(a, text, 4, 0));
}

/* Listeners that share a port */

static int sharing(int port)
{
	int l = new_socket(FAR, 0);

	must(!set_int(l, SOL_SOCKET, SO_REUSEPORT, 1), "share");
	must(!bind_to(l, FAR, port) && !listen(l, 64), "listen");
	return l;
}

CASE(share_port)
{
	int s = new_socket(FAR, 0), t = new_socket(FAR, 0);

	CALL(set_int(s, SOL_SOCKET, SO_REUSEPORT, 1));
	CALL(get_int(s, SOL_SOCKET, SO_REUSEPORT));
	CALL(bind_to(s, FAR, port));
	CALL(bind_to(t, FAR, port));
	CALL(set_int(t, SOL_SOCKET, SO_REUSEADDR, 1));
	CALL(bind_to(t, FAR, port));
	CALL(set_int(t, SOL_SOCKET, SO_REUSEPORT, 1));
	CALL(bind_to(t, FAR, port));
	CALL(listen(s, 1));
	CALL(listen(t, 1));
}

CASE(share_port_of_another_user)
{
	int s = new_socket(FAR, 0), t;

	CALL(set_int(s, SOL_SOCKET, SO_REUSEPORT, 1));
	CALL(bind_to(s, FAR, port));
	must(!setns(world->ns[FAR], CLONE_NEWNET), "change namespace");
	must(!seteuid(65534), "become another");
	t = a_socket(SOCK_STREAM);
	CALL(set_int(t, SOL_SOCKET, SO_REUSEPORT, 1));
	CALL(bind_to(t, FAR, port));
}

CASE(spread)
{
	int l[4], got[4], all, some = 0, i;

	for (i = 0; i < 4; i++)
		l[i] = sharing(port);
	for (i = 0; i < 64; i++)
		connect_and_send(port);
	all = let_all_in(l, 4, got, 64);
	for (i = 0; i < 4; i++)
		some += got[i] > 0;
	note("%d let in by %d", all, some);
}

CASE(one_of_two_closes)
{
	int l[2] = { sharing(port), sharing(port) }, got, i;

	close(l[0]);
	for (i = 0; i < 16; i++)
		connect_and_send(port);
	note("%d let in", let_all_in(l + 1, 1, &got, 16));
	l[0] = sharing(port);
	CALL(shutdown(l[1], SHUT_RD));
	connect_and_send(port);
	wait_in(l[0]);
	note("accepted %d", accept(l[0], NULL, NULL) >= 0);
}

CASE(program_spreads)
{
	struct sock_filter second[] = { BPF_STMT(BPF_RET | BPF_K, 1) };
	struct sock_fprog program = { ARRAY_SIZE(second), second };
	int l[3] = { sharing(port), sharing(port), sharing(port) }, got[3], n = 0, i;

	CALL(setsockopt(l[0], SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof(program)));
	for (i = 0; i < 16; i++)
		connect_and_send(port);
	let_all_in(l, 3, got, 16);
	for (i = 0; i < 3; i++)
		note("%d let in %d", i, got[i]);
	CALL(setsockopt(l[0], SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, &n, sizeof(n)));
}

CASE(listener_of_a_device)
{
	int l = new_socket(FAR, 0), s = waiting_socket(0);

	must(!setns(world->ns[FAR], CLONE_NEWNET), "change namespace");
	CALL(setsockopt(l, SOL_SOCKET, SO_BINDTODEVICE, world->wire ? "eth0" : "lo", 5));
	CALL(bind_to(l, FAR, port));
	CALL(listen(l, 4));
	CALL(connect_to(s, port));
	wait_in(l);
	note("accepted %d", accept(l, NULL, NULL) >= 0);
	if (!world->wire)
		return;
	l = new_socket(FAR, 0);
	CALL(setsockopt(l, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	CALL(bind_to(l, FAR, port + 1));
	CALL(listen(l, 4));
	s = waiting_socket(0);
	CALL(connect_to(s, port + 1));
}

CASE(address_wins)
{
	union address any = any_address(port);
	int one = new_socket(FAR, 0), all = new_socket(FAR, 0);

	set_int(one, SOL_SOCKET, SO_REUSEPORT, 1);
	set_int(all, SOL_SOCKET, SO_REUSEPORT, 1);
	CALL(bind(all, &any.any, address_len()));
	CALL(listen(all, 4));
	CALL(bind_to(one, FAR, port));
	CALL(listen(one, 4));
	connect_and_send(port);
	wait_in(one);
	EVENTS(all);
	close(one);
	connect_and_send(port);
	wait_in(all);
}

/* Addresses without a port, and of no host */

CASE(address_without_port)
{
	int l = listening(port), s = new_socket(NEAR, 0);

	CALL(set_int(s, SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1));
	CALL(bind_to(s, NEAR, 0));
	note_name(s);
	CALL(bind_to(s, NEAR, 0));
	CALL(connect_to(s, port));
	note_name(s);
	send(s, "x", 1, 0);
	let_in(l);
}

CASE(address_of_nobody)
{
	union address addr = named("192.0.2.1", "2001:db8::1", port);
	int s = new_socket(NEAR, 0);

	CALL(bind(s, &addr.any, address_len()));
	CALL(set_int(s, SOL_IP, IP_FREEBIND, 1));
	CALL(bind(s, &addr.any, address_len()));
	CALL(listen(s, 1));
}

CASE(address_by_its_length)
{
	union address addr = address(FAR, port);
	int s = new_socket(NEAR, 0);
	struct sockaddr_storage large = { 0 };

	listening(port);
	memcpy(&large, &addr, address_len());
	CALL(connect(s, (struct sockaddr *)&large, 1));
	CALL(connect(s, (struct sockaddr *)&large, address_len() - 1));
	CALL(connect(s, (struct sockaddr *)&large, sizeof(large) + 1));
	CALL(connect(s, (struct sockaddr *)&large, -1));
	CALL(connect(s, (struct sockaddr *)&large, sizeof(large)));
}

/* AF_UNSPEC, and sockets that are used again */

CASE(disconnect_fresh)
{
	int s = new_socket(NEAR, 0);

	CALL(disconnect(s));
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
	EVENTS(s);
	CALL(bind_to(s, NEAR, port));
	CALL(disconnect(s));
	note_name(s);
	CALL(listen(s, 1));
}

CASE(disconnect_connected)
{
	char byte;

	pair();
	send(server, "unread", 6, 0);
	wait_in(client);
	send(client, "x", 1, 0);
	wait_in(server);
	CALL(disconnect(client));
	CALL(get_int(client, SOL_SOCKET, SO_ERROR));
	CALL(get_int(client, SOL_SOCKET, SO_ERROR));
	EVENTS(client);
	note_name(client);
	CALL(getpeername(client, NULL, NULL));
	CALL(recv(client, &byte, 1, MSG_DONTWAIT));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	AWAIT(server, POLLHUP);
	CALL(recv(server, &byte, 1, 0));
	CALL(recv(server, &byte, 1, 0));
}

CASE(disconnect_accepted)
{
	char byte;

	pair();
	CALL(disconnect(server));
	CALL(get_int(server, SOL_SOCKET, SO_ERROR));
	AWAIT(client, POLLHUP);
	CALL(recv(client, &byte, 1, 0));
	note_name(server);
	CALL(disconnect(server));
	CALL(get_int(server, SOL_SOCKET, SO_ERROR));
}

CASE(disconnect_accepted_and_bind)
{
	pair();
	CALL(disconnect(server));
	CALL(bind_to(server, FAR, 0));
	CALL(listen(server, 1));
}

CASE(disconnect_finished)
{
	char byte;

	pair();
	shutdown(client, SHUT_WR);
	shutdown(server, SHUT_WR);
	AWAIT(client, POLLHUP);
	AWAIT(server, POLLHUP);
	wait_closed(client);
	wait_closed(server);
	CALL(disconnect(client));
	CALL(get_int(client, SOL_SOCKET, SO_ERROR));
	EVENTS(client);
	CALL(recv(server, &byte, 1, 0));
}

CASE(disconnect_half_closed)
{
	char byte;

	pair();
	shutdown(client, SHUT_WR);
	wait_in(server);
	CALL(disconnect(client));
	CALL(get_int(client, SOL_SOCKET, SO_ERROR));
	settle();
	CALL(recv(server, &byte, 1, 0));
	CALL(recv(server, &byte, 1, 0));
}

CASE_OF(cable, disconnect_connecting)
{
	int s;

	s = waiting_socket(SOCK_NONBLOCK);
	CALL(connect_nowhere(s));
	CALL(disconnect(s));
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
	EVENTS(s);
	note_name(s);
	listening(port);
	must(!setns(world->ns[NEAR], CLONE_NEWNET), "change namespace");
	CALL(connect_to(s, port));
	AWAIT(s, POLLOUT);
}

CASE(disconnect_listener)
{
	int l = listening(port), s;
	char byte;

	s = connect_and_send(port);
	wait_in(l);
	/* Before it gets an answer the client would be refused. */
	wait_acked(s);
	CALL(disconnect(l));
	CALL(get_int(l, SOL_SOCKET, SO_ERROR));
	EVENTS(l);
	note_name(l);
	CALL(accept(l, NULL, NULL));
	AWAIT(s, POLLHUP);
	CALL(recv(s, &byte, 1, 0));
	CALL(listen(l, 4));
	s = connect_and_send(port);
	let_in(l);
	CALL(recv(s, &byte, 1, 0));
}

/* @take_error: read the error that connect() to AF_UNSPEC leaves, before connecting again */
static void connect_again(bool take_error)
{
	char byte;
	int i;

	pair();
	for (i = 0; i < 3; i++) {
		CALL(disconnect(client));
		if (take_error)
			CALL(get_int(client, SOL_SOCKET, SO_ERROR));
		CALL(connect_to(client, port));
		CALL(send(client, "x", 1, 0));
		let_in(listener);
		CALL(recv(client, &byte, 1, 0));
		CALL(getpeername(client, NULL, NULL));
		CALL(get_int(client, SOL_SOCKET, SO_ERROR));
		EVENTS(client);
	}
}

CASE(connected_again)
{
	connect_again(true);
}

/* An error that was not read is no error of the next connection. */
CASE(connected_at_once_again)
{
	connect_again(false);
}

CASE(accepted_connects)
{
	char byte;

	pair();
	CALL(disconnect(server));
	get_int(server, SOL_SOCKET, SO_ERROR);
	CALL(connect_to(server, port));
	CALL(send(server, "x", 1, 0));
	let_in(listener);
	CALL(recv(server, &byte, 1, 0));
}

CASE(bound_connects_again)
{
	int l = listening(port), s = new_socket(NEAR, 0), i;
	char byte;

	CALL(bind_to(s, NEAR, port + 1));
	for (i = 0; i < 2; i++) {
		CALL(connect_to(s, port));
		CALL(send(s, "x", 1, 0));
		let_in(l);
		CALL(recv(s, &byte, 1, 0));
		note_name(s);
		CALL(disconnect(s));
		CALL(get_int(s, SOL_SOCKET, SO_ERROR));
		note_name(s);
	}
}

CASE(connected_then_listens)
{
	int s;

	pair();
	CALL(listen(client, 1));
	CALL(disconnect(client));
	get_int(client, SOL_SOCKET, SO_ERROR);
	must(!setns(world->ns[NEAR], CLONE_NEWNET), "change namespace");
	close(server);
	close(listener);
	s = new_socket(FAR, 0);
	CALL(bind_to(client, NEAR, port + 3));
	CALL(listen(client, 1));
	CALL(get_int(client, SOL_SOCKET, SO_ACCEPTCONN));
	close(s);
}

CASE(options_outlast_a_connection)
{
	pair();
	set_int(client, SOL_TCP, TCP_NODELAY, 1);
	set_int(client, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(client, SOL_TCP, TCP_KEEPIDLE, 55);
	set_int(client, SOL_SOCKET, SO_RCVBUF, 50000);
	CALL(disconnect(client));
	CALL(get_int(client, SOL_TCP, TCP_NODELAY));
	CALL(get_int(client, SOL_SOCKET, SO_KEEPALIVE));
	CALL(get_int(client, SOL_TCP, TCP_KEEPIDLE));
	CALL(get_int(client, SOL_SOCKET, SO_RCVBUF));
}

CASE(reset_then_again)
{
	char byte;

	pair();
	reset_client();
	CALL(connect_to(client, port));
	CALL(recv(client, &byte, 1, 0));
	CALL(connect_to(client, port));
	CALL(disconnect(client));
	CALL(connect_to(client, port));
	CALL(send(client, "x", 1, 0));
	let_in(listener);
	CALL(recv(client, &byte, 1, 0));
}

static void *disconnect_later(void *fd)
{
	usleep(100000);
	disconnect(*(int *)fd);
	return NULL;
}

CASE(disconnected_by_another_thread)
{
	pthread_t thread;
	char byte;

	pair();
	timeouts(client, 900);
	pthread_create(&thread, NULL, disconnect_later, &client);
	/* Which error it is depends on the kernel. */
	CALL(recv(client, &byte, 1, 0) < 0);
	pthread_join(thread, NULL);
}

/* Data with the opening, by TCP's fast open options */

static int send_open(int s, const char *text, int flags)
{
	union address addr = address(FAR, port);

	return sendto(s, text, strlen(text), MSG_FASTOPEN | flags, &addr.any,
		      address_len());
}

CASE(fast_open)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int l = listening(port), s = new_socket(NEAR, 0), a;
	char text[8];

	CALL(set_int(l, SOL_TCP, TCP_FASTOPEN, 5));
	CALL(get_int(l, SOL_TCP, TCP_FASTOPEN));
	CALL(sendto(s, "x", 1, MSG_FASTOPEN, &none, sizeof(none)));
	CALL(send_open(s, "hello", 0));
	wait_in(l);
	a = accept(l, NULL, NULL);
	CALL(recv(a, text, 5, MSG_WAITALL));
	CALL(send_open(s, "again", 0));
	CALL(send(s, "more", 4, 0));
	CALL(recv(a, text, 4, MSG_WAITALL));
	CALL(getpeername(s, NULL, NULL));
}

CASE(fast_open_by_connect)
{
	int l = listening(port), s = new_socket(NEAR, 0), a;
	char text[8];

	CALL(set_int(s, SOL_TCP, TCP_FASTOPEN_CONNECT, 1));
	CALL(set_int(s, SOL_TCP, TCP_FASTOPEN_CONNECT, 2));
	CALL(get_int(s, SOL_TCP, TCP_FASTOPEN_CONNECT));
	CALL(connect_to(s, port));
	CALL(send(s, "hello", 5, 0));
	wait_in(l);
	a = accept(l, NULL, NULL);
	CALL(recv(a, text, 5, MSG_WAITALL));
}

TEST_HARNESS_MAIN
