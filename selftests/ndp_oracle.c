// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP behaves as TCP sockets do (oracle.h): making, naming and ending sockets,
 * moving bytes, readiness, signals, options.
 *
 * Non-goals: listeners that share a port, connect() that waits, sockets that are used again
 * (ndp_oracle_open.c); the rest of the system (ndp_oracle_system.c).
 */
#include "oracle.h"

FIXTURE(ip6) { };

FIXTURE_VARIANT(ip6) { int kind; };

FIXTURE_VARIANT_ADD(ip6, loopback6) { .kind = LOOPBACK6 };

FIXTURE_VARIANT_ADD(ip6, wire6) { .kind = WIRE6 };

FIXTURE_SETUP(ip6) { }

FIXTURE_TEARDOWN(ip6) { }

/* IPv4 by IPv6 sockets. */
FIXTURE(mapped) { };

FIXTURE_VARIANT(mapped) { int kind; };

FIXTURE_VARIANT_ADD(mapped, loopback6) { .kind = LOOPBACK6 };

FIXTURE_SETUP(mapped) { }

FIXTURE_TEARDOWN(mapped) { }

/* Link-local addresses. */
FIXTURE(link) { };

FIXTURE_VARIANT(link) { int kind; };

FIXTURE_VARIANT_ADD(link, wire6) { .kind = WIRE6 };

FIXTURE_SETUP(link) { }

FIXTURE_TEARDOWN(link) { }

/* Making sockets */

CASE(socket_types)
{
	int two[2];

	CALL(a_socket(77));
	CALL(a_socket(SOCK_STREAM | 0x100000));
	CALL(close(a_socket(SOCK_STREAM)));
	CALL(close(a_socket(SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)));
	CALL(socketpair(ndp ? AF_NDP : world->family, SOCK_STREAM, 0, two));
}

CASE(socket_flags)
{
	int plain = new_socket(NEAR, 0);
	int flagged = new_socket(NEAR, SOCK_NONBLOCK | SOCK_CLOEXEC);

	CALL(fcntl(plain, F_GETFL));
	CALL(fcntl(flagged, F_GETFL));
	CALL(fcntl(plain, F_GETFD));
	CALL(fcntl(flagged, F_GETFD));
}

CASE(fresh_socket)
{
	int s = new_socket(NEAR, 0);
	char byte;

	EVENTS(s);
	CALL(recv(s, &byte, 1, MSG_DONTWAIT));
	CALL(send(s, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT));
	CALL(accept(s, NULL, NULL));
	CALL(shutdown(s, SHUT_RD));
	CALL(shutdown(s, SHUT_WR));
	CALL(shutdown(s, 7));
	CALL(getpeername(s, NULL, NULL));
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
	CALL(get_int(s, SOL_SOCKET, SO_TYPE));
	CALL(get_int(s, SOL_SOCKET, SO_ACCEPTCONN));
	CALL(close(s));
}

CASE(sigpipe_fresh)
{
	int s = new_socket(NEAR, 0);

	note("before");
	CALL(send(s, "x", 1, MSG_DONTWAIT));
}

/* Names */

CASE(names_unbound)
{
	int s = new_socket(NEAR, 0);
	union address addr;
	socklen_t len = sizeof(addr);

	CALL(getsockname(s, &addr.any, &len));
	note("%u family %d port %d %s", len, addr.any.sa_family, addr.in.sin_port,
	     address_text(&addr));
	CALL(getpeername(s, &addr.any, &len));
	len = 4;
	CALL(getsockname(s, &addr.any, &len));
	note("%u", len);
	len = -1;
	CALL(getsockname(s, &addr.any, &len));
	len = sizeof(addr);
	CALL(getsockname(s, NULL, &len));
	CALL(getsockname(s, &addr.any, NULL));
}

CASE(names_connected)
{
	union address mine, theirs;
	socklen_t len = sizeof(mine);

	pair();
	CALL(getsockname(client, &mine.any, &len));
	CALL(getpeername(server, &theirs.any, &len));
	note("same port %d, same address %d", mine.in.sin_port == theirs.in.sin_port,
	     same_address(&mine, &theirs));
	CALL(getsockname(server, &mine.any, &len));
	CALL(getpeername(client, &theirs.any, &len));
	note("port %d %d, same address %d", ntohs(mine.in.sin_port) - port,
	     ntohs(theirs.in.sin_port) - port,
	     same_address(&mine, &theirs));
}

CASE(names_by_accept)
{
	union address addr = { 0 };
	socklen_t len = sizeof(addr);
	int l = listening(port), a;

	connect_and_send(port);
	wait_in(l);
	a = accept(l, &addr.any, &len);
	note("%d %u family %d %s", a >= 0, len, addr.any.sa_family, address_text(&addr));
	connect_and_send(port);
	wait_in(l);
	CALL(accept(l, &addr.any, NULL));
}

CASE(names_after_reset)
{
	union address addr;
	socklen_t len = sizeof(addr);

	pair();
	reset_client();
	CALL(getpeername(client, &addr.any, &len));
	CALL(getsockname(client, &addr.any, &len));
}

/* Binding */

CASE(bind_bad)
{
	union address addr = address(NEAR, port);
	int s = new_socket(NEAR, 0);

	CALL(bind(s, NULL, address_len()));
	CALL(bind(s, &addr.any, 8));
	CALL(bind(s, &addr.any, -1));
	CALL(bind(s, &addr.any, 1000));
	addr.any.sa_family = AF_UNIX;
	CALL(bind(s, &addr.any, address_len()));
	addr = named("203.0.113.5", "2001:db8::5", port);
	CALL(bind(s, &addr.any, address_len()));
	addr = named("224.0.0.1", "ff02::1", port);
	CALL(bind(s, &addr.any, address_len()));
	addr = named("255.255.255.255", "fe80::5", port);
	CALL(bind(s, &addr.any, address_len()));
}

CASE(bind_family_unspecified)
{
	union address addr = any_address(port);
	int s = new_socket(NEAR, 0);

	addr.any.sa_family = AF_UNSPEC;
	CALL(bind(s, &addr.any, address_len()));
	addr = named("127.0.0.1", "::1", port);
	addr.any.sa_family = AF_UNSPEC;
	s = new_socket(NEAR, 0);
	CALL(bind(s, &addr.any, address_len()));
}

CASE(bind_twice)
{
	int s = new_socket(NEAR, 0);

	CALL(bind_to(s, NEAR, port));
	CALL(bind_to(s, NEAR, port));
	CALL(bind_to(s, NEAR, port + 1));
}

CASE(bind_in_use)
{
	int s = new_socket(NEAR, 0), t = new_socket(NEAR, 0);

	CALL(bind_to(s, NEAR, port));
	CALL(bind_to(t, NEAR, port));
	CALL(close(s));
	CALL(bind_to(t, NEAR, port));
}

CASE(bind_any_conflicts)
{
	union address any = any_address(port);
	int s = new_socket(NEAR, 0), t = new_socket(NEAR, 0);

	CALL(bind(s, &any.any, address_len()));
	CALL(bind_to(t, NEAR, port));
	CALL(close(s));
	CALL(bind_to(t, NEAR, port));
	s = new_socket(NEAR, 0);
	CALL(bind(s, &any.any, address_len()));
}

CASE(bind_reuse_address)
{
	int s = new_socket(NEAR, 0), t = new_socket(NEAR, 0);

	CALL(set_int(s, SOL_SOCKET, SO_REUSEADDR, 1));
	CALL(bind_to(s, NEAR, port));
	CALL(bind_to(t, NEAR, port));
	CALL(set_int(t, SOL_SOCKET, SO_REUSEADDR, 1));
	CALL(bind_to(t, NEAR, port));
	CALL(listen(s, 1));
	CALL(listen(t, 1));
}

CASE(bind_reuse_listener)
{
	int s = new_socket(NEAR, 0), t = new_socket(NEAR, 0);

	CALL(set_int(s, SOL_SOCKET, SO_REUSEADDR, 1));
	CALL(set_int(t, SOL_SOCKET, SO_REUSEADDR, 1));
	CALL(bind_to(s, NEAR, port));
	CALL(listen(s, 1));
	CALL(bind_to(t, NEAR, port));
}

CASE(bind_beside_connection)
{
	int strict, sharing;

	pair();
	close(listener);
	strict = new_socket(FAR, 0);
	CALL(bind_to(strict, FAR, port));
	close(strict);
	sharing = new_socket(FAR, 0);
	CALL(set_int(sharing, SOL_SOCKET, SO_REUSEADDR, 1));
	CALL(bind_to(sharing, FAR, port));
	CALL(listen(sharing, 1));
}

CASE(bind_port_zero)
{
	union address addr;
	socklen_t len = sizeof(addr);
	int s = new_socket(NEAR, 0), low, high;
	FILE *range;

	CALL(bind_to(s, NEAR, 0));
	CALL(getsockname(s, &addr.any, &len));
	range = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
	must(range && fscanf(range, "%d %d", &low, &high) == 2, "read the range");
	note("in range %d", ntohs(addr.in.sin_port) >= low && ntohs(addr.in.sin_port) <= high);
}

CASE(bind_privileged)
{
	int s = new_socket(NEAR, 0), t = new_socket(NEAR, 0);

	CALL(bind_to(s, NEAR, 99));
	CALL(seteuid(65534));
	CALL(bind_to(t, NEAR, 98));
	CALL(bind_to(t, NEAR, 1024));
}

CASE(bind_after_listen)
{
	int s = new_socket(NEAR, 0);

	CALL(listen(s, 1));
	CALL(bind_to(s, NEAR, port));
}

CASE(bind_connected)
{
	pair();
	CALL(bind_to(client, NEAR, port + 1));
	CALL(bind_to(server, FAR, port + 1));
}

CASE(bind_to_device)
{
	int s = new_socket(NEAR, 0);
	char name[16] = "?";
	socklen_t len = sizeof(name);

	CALL(setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	CALL(getsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, name, &len));
	note("%u %s", len, name);
	CALL(setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, "none", 5));
	CALL(setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, "", 0));
}

/* Listening and accepting */

CASE(listen_states)
{
	int s = new_socket(NEAR, 0);

	CALL(listen(s, 1));
	CALL(listen(s, 100));
	CALL(listen(s, -1));
	CALL(get_int(s, SOL_SOCKET, SO_ACCEPTCONN));
	EVENTS(s);
	pair();
	CALL(listen(client, 1));
	CALL(listen(server, 1));
}

CASE(listener_calls)
{
	int l = listening(port);
	union address addr;
	socklen_t len = sizeof(addr);
	char byte;

	CALL(recv(l, &byte, 1, MSG_DONTWAIT));
	CALL(send(l, "x", 1, MSG_NOSIGNAL));
	CALL(getpeername(l, &addr.any, &len));
	CALL(connect_to(l, port));
	CALL(ioctl(l, SIOCINQ, &len));
	CALL(shutdown(l, SHUT_WR));
	EVENTS(l);
}

CASE(accept_nothing)
{
	int l = listening(port);

	nonblock(l);
	CALL(accept(l, NULL, NULL));
	CALL(fcntl(l, F_SETFL, 0));
	timeouts(l, 50);
	CALL(accept(l, NULL, NULL));
	CALL(accept4(l, NULL, NULL, 0x40));
}

CASE(accept_flags)
{
	int l = listening(port), a;

	connect_and_send(port);
	wait_in(l);
	EVENTS(l);
	a = accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	CALL(fcntl(a, F_GETFL));
	CALL(fcntl(a, F_GETFD));
	EVENTS(l);
}

CASE(accept_inherits)
{
	struct timeval t = { .tv_sec = 7 }, got = { 0 };
	socklen_t len = sizeof(got);
	struct linger linger = { 1, 9 }, inherited = { 0 };
	int l = listening(port), a;

	setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(l, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	set_int(l, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(l, SOL_SOCKET, SO_RCVBUF, 65536);
	set_int(l, SOL_SOCKET, SO_PRIORITY, 3);
	nonblock(l);
	connect_and_send(port);
	wait_in(l);
	a = accept(l, NULL, NULL);
	CALL(fcntl(a, F_GETFL));
	getsockopt(a, SOL_SOCKET, SO_RCVTIMEO, &got, &len);
	note("timeout %ld", got.tv_sec);
	len = sizeof(inherited);
	getsockopt(a, SOL_SOCKET, SO_LINGER, &inherited, &len);
	note("linger %d %d", inherited.l_onoff, inherited.l_linger);
	CALL(get_int(a, SOL_SOCKET, SO_KEEPALIVE));
	CALL(get_int(a, SOL_SOCKET, SO_REUSEADDR));
	CALL(get_int(a, SOL_SOCKET, SO_RCVBUF));
	CALL(get_int(a, SOL_SOCKET, SO_PRIORITY));
	CALL(get_int(a, SOL_SOCKET, SO_ACCEPTCONN));
}

CASE(accept_order)
{
	int l = listening(port), c[3], i;
	char byte;

	for (i = 0; i < 3; i++) {
		c[i] = new_socket(NEAR, 0);
		must(!connect_to(c[i], port), "connect");
		must(send(c[i], &"abc"[i], 1, 0) == 1, "send");
		usleep(20000);
	}
	for (i = 0; i < 3; i++) {
		int a = accept(l, NULL, NULL);

		must(recv(a, &byte, 1, 0) == 1, "receive");
		note("%c", byte);
	}
}

CASE(accept_after_close)
{
	char byte;
	int l = listening(port), a;

	close(connect_and_send(port));
	wait_in(l);
	a = accept(l, NULL, NULL);
	AWAIT(a, POLLRDHUP);
	CALL(recv(a, &byte, 1, 0));
	CALL(recv(a, &byte, 1, 0));
}

CASE(accept_shutdown_listener)
{
	int l = listening(port);

	CALL(shutdown(l, SHUT_RD));
	CALL(accept(l, NULL, NULL));
	CALL(listen(l, 1));
}

CASE(accept_woken_by_shutdown)
{
	int l = listening(port), status;

	if (!fork()) {
		usleep(50000);
		shutdown(l, SHUT_RDWR);
		_exit(0);
	}
	CALL(accept(l, NULL, NULL));
	EVENTS(l);
	wait(&status);
}

/* Connecting */

CASE(connect_bad)
{
	union address addr = address(FAR, port);
	int s = new_socket(NEAR, 0);

	CALL(connect(s, NULL, address_len()));
	CALL(connect(s, &addr.any, 8));
	CALL(connect(s, &addr.any, 1));
	CALL(connect(s, &addr.any, -1));
	addr.any.sa_family = AF_UNIX;
	CALL(connect(s, &addr.any, address_len()));
	addr = named("224.0.0.1", "ff02::1", port);
	CALL(connect(s, &addr.any, address_len()));
	addr = named("203.0.113.5", "2001:db8::5", port);
	CALL(connect(s, &addr.any, address_len()));
	EVENTS(s);
}

CASE(connect_twice)
{
	pair();
	CALL(connect_to(client, port));
	CALL(connect_to(server, port));
}

CASE(connect_after_reset)
{
	pair();
	reset_client();
	CALL(get_int(client, SOL_SOCKET, SO_ERROR));
	CALL(connect_to(client, port));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
}

CASE(connect_bound)
{
	union address addr;
	socklen_t len = sizeof(addr);
	int l = listening(port), c = new_socket(NEAR, 0);

	CALL(bind_to(c, NEAR, port + 10000));
	CALL(connect_to(c, port));
	must(send(c, "x", 1, 0) == 1, "send");
	wait_in(l);
	accept(l, &addr.any, &len);
	note("port %d", ntohs(addr.in.sin_port) - port);
}

CASE(connect_any)
{
	union address any = any_address(port);
	union address peer;
	socklen_t len = sizeof(peer);
	int l = new_socket(NEAR, 0), c = new_socket(NEAR, 0);

	bind(l, &any.any, address_len());
	CALL(listen(l, 1));
	CALL(connect(c, &any.any, address_len()));
	CALL(getpeername(c, &peer.any, &len));
	note("%s", address_text(&peer));
}

/* IPv4 by IPv6 sockets */

static int mapped_call(int (*call)(int, const struct sockaddr *, socklen_t), int s,
		       const char *text)
{
	union address addr = any_address(port);

	inet_pton(AF_INET6, text, &addr.in6.sin6_addr);
	return call(s, &addr.any, sizeof(addr.in6));
}

static void note_names(int s)
{
	union address mine = any_address(0), theirs = any_address(0);
	socklen_t len = sizeof(mine);

	getsockname(s, &mine.any, &len);
	note("name %u %s", len, address_text(&mine));
	len = sizeof(theirs);
	getpeername(s, &theirs.any, &len);
	note("peer %u %s", len, address_text(&theirs));
}

/* Connect by IPv4 to a listener at @text and send it a byte.  Return: the accepted socket. */
static int mapped_accept(const char *text)
{
	int l, s, a;
	char byte;

	l = new_socket(NEAR, 0);
	CALL(mapped_call(bind, l, text));
	CALL(listen(l, 4));
	s = new_socket(NEAR, 0);
	CALL(mapped_call(connect, s, "::ffff:127.0.0.1"));
	CALL(send(s, "x", 1, 0));
	wait_in(l);
	a = accept(l, NULL, NULL);
	note_names(s);
	note_names(a);
	CALL(recv(a, &byte, 1, 0));
	return a;
}

CASE_OF(mapped, mapped)
{
	int s, a = mapped_accept("::");

	CALL(get_int(a, SOL_SOCKET, SO_DOMAIN));
	CALL(get_int(a, SOL_IPV6, IPV6_V6ONLY));
	/* Connections to the unspecified address, and from bound sockets. */
	s = new_socket(NEAR, 0);
	CALL(mapped_call(connect, s, "::ffff:0.0.0.0"));
	note_names(s);
	port += 10000;
	s = new_socket(NEAR, 0);
	CALL(mapped_call(bind, s, "::ffff:127.0.0.1"));
	CALL(mapped_call(connect, s, "::1"));
	note_names(s);
	CALL(mapped_call(connect, s, "::"));
	s = new_socket(NEAR, 0);
	CALL(mapped_call(bind, s, "::1"));
	CALL(mapped_call(connect, s, "::ffff:127.0.0.1"));
	CALL(mapped_call(bind, new_socket(NEAR, 0), "::ffff:203.0.113.5"));
}

/* A listener at any address of IPv4, but not of IPv6 */
CASE_OF(mapped, mapped_any)
{
	int s;

	mapped_accept("::ffff:0.0.0.0");
	s = new_socket(NEAR, 0);
	if (ndp)
		set_int(s, SOL_NDP, NDP_SYNC_CONNECT, 1);
	CALL(mapped_call(connect, s, "::1"));
	CALL(mapped_call(bind, new_socket(NEAR, 0), "::"));
	CALL(mapped_call(bind, new_socket(NEAR, 0), "::ffff:127.0.0.1"));
}

CASE_OF(mapped, mapped_refused)
{
	int l, s;

	l = new_socket(NEAR, 0);
	CALL(set_int(l, SOL_IPV6, IPV6_V6ONLY, 1));
	CALL(mapped_call(bind, l, "::ffff:127.0.0.1"));
	CALL(mapped_call(bind, l, "::"));
	CALL(listen(l, 4));
	s = new_socket(NEAR, 0);
	CALL(set_int(s, SOL_IPV6, IPV6_V6ONLY, 1));
	CALL(mapped_call(connect, s, "::ffff:127.0.0.1"));
	s = new_socket(NEAR, 0);
	if (ndp)
		set_int(s, SOL_NDP, NDP_SYNC_CONNECT, 1);
	CALL(mapped_call(connect, s, "::ffff:127.0.0.1"));
}

/* One port for both families, and which listener gets a connection. */
CASE_OF(ip6, both_families)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	int four, l, s;

	l = new_socket(NEAR, 0);
	four = ndp ? socket(AF_NDP, SOCK_STREAM, 0) : socket(AF_INET, SOCK_STREAM, 0);
	CALL(mapped_call(bind, l, "::"));
	CALL(bind(four, (struct sockaddr *)&in, sizeof(in)));
	close(l);
	CALL(bind(four, (struct sockaddr *)&in, sizeof(in)));
	l = new_socket(NEAR, 0);
	CALL(mapped_call(bind, l, "::"));
	CALL(set_int(l, SOL_IPV6, IPV6_V6ONLY, 1));
	CALL(mapped_call(bind, l, "::"));
	CALL(listen(l, 4));
	CALL(listen(four, 4));
	s = new_socket(NEAR, 0);
	CALL(connect(s, (struct sockaddr *)&in, sizeof(in)));
	CALL(mapped_call(connect, s, "::ffff:127.0.0.1"));
	send(s, "x", 1, 0);
	wait_in(four);
	EVENTS(l);
}

/* Link-local addresses. */
CASE_OF(link, scopes)
{
	union address addr = any_address(port), mine;
	socklen_t len = sizeof(mine);
	int l, s;

	must(!setns(world->ns[FAR], CLONE_NEWNET), "change namespace");
	must(!shell("ip address replace fe80::77/64 dev eth0 nodad"), "add an address");
	inet_pton(AF_INET6, "fe80::77", &addr.in6.sin6_addr);
	l = new_socket(FAR, 0);
	CALL(bind(l, &addr.any, sizeof(addr.in6)));
	addr.in6.sin6_scope_id = if_nametoindex("eth0");
	CALL(bind(l, &addr.any, sizeof(addr.in6)));
	CALL(listen(l, 4));
	getsockname(l, &mine.any, &len);
	note("%s scope %d", address_text(&mine), !!mine.in6.sin6_scope_id);
	s = new_socket(NEAR, 0);
	addr.in6.sin6_scope_id = 0;
	CALL(connect(s, &addr.any, sizeof(addr.in6)));
	addr.in6.sin6_scope_id = 99;
	CALL(connect(s, &addr.any, sizeof(addr.in6)));
	addr.in6.sin6_scope_id = if_nametoindex("eth1");
	s = new_socket(NEAR, 0);
	CALL(connect(s, &addr.any, sizeof(addr.in6)));
	send(s, "x", 1, 0);
	wait_in(l);
	len = sizeof(mine);
	s = accept(l, &mine.any, &len);
	note("%d from %s scope %d", s >= 0, mine.in6.sin6_addr.s6_addr[0] == 0xfe ? "a link" : "?",
	     !!mine.in6.sin6_scope_id);
	CALL(send(s, "y", 1, 0));
}

/* Sending and receiving */

CASE(bytes_in_order)
{
	char text[16] = "";

	pair();
	CALL(send(client, "abc", 3, 0));
	CALL(send(client, "def", 3, 0));
	CALL(recv(server, text, 6, MSG_WAITALL));
	note("%s", text);
}

CASE(zero_length)
{
	char byte;

	pair();
	timeouts(server, 50);
	CALL(send(client, "", 0, 0));
	CALL(write(client, "", 0));
	CALL(recv(server, &byte, 0, 0));
	CALL(recv(server, &byte, 1, MSG_DONTWAIT));
	CALL(send(client, "z", 1, 0));
	wait_in(server);
	CALL(recv(server, &byte, 0, 0));
	CALL(recv(server, &byte, 1, 0));
}

CASE(bad_buffers)
{
	pair();
	CALL(send(client, (void *)8, 10, 0));
	CALL(send(client, "x", 1, 0));
	wait_in(server);
	CALL(recv(server, (void *)8, 10, 0));
	CALL(recv(server, NULL, 10, 0));
}

CASE(would_block)
{
	char byte;

	pair();
	CALL(recv(server, &byte, 1, MSG_DONTWAIT));
	nonblock(server);
	CALL(recv(server, &byte, 1, 0));
	CALL(recv(server, &byte, 1, MSG_PEEK));
	CALL(read(server, &byte, 1));
	CALL(recv(server, &byte, 1, MSG_WAITALL));
}

CASE(receive_timeout)
{
	char text[8];

	pair();
	timeouts(server, 50);
	CALL(recv(server, text, 8, 0));
	CALL(send(client, "abc", 3, 0));
	wait_in(server);
	CALL(recv(server, text, 8, MSG_WAITALL));
}

CASE(peek)
{
	char text[8] = "";

	pair();
	send(client, "abcdef", 6, 0);
	wait_in(server);
	CALL(recv(server, text, 3, MSG_PEEK));
	CALL(recv(server, text, 8, MSG_PEEK));
	CALL(recv(server, text, 2, 0));
	CALL(recv(server, text, 8, MSG_PEEK));
	note("%s", text);
	EVENTS(server);
	CALL(recv(server, text, 8, 0));
	EVENTS(server);
}

CASE(peek_waitall)
{
	char text[8] = "";

	pair();
	timeouts(server, 50);
	send(client, "abc", 3, 0);
	wait_in(server);
	CALL(recv(server, text, 8, MSG_PEEK | MSG_WAITALL));
	CALL(recv(server, text, 8, 0));
}

CASE(truncate)
{
	char text[8] = "??????";

	pair();
	send(client, "abcdef", 6, 0);
	wait_in(server);
	CALL(recv(server, text, 4, MSG_TRUNC));
	note("%.6s", text);
	CALL(recv(server, text, 4, 0));
	note("%.6s", text);
	send(client, "abcdef", 6, 0);
	wait_in(server);
	CALL(recv(server, NULL, 100, MSG_TRUNC));
	CALL(recv(server, text, 4, MSG_DONTWAIT));
}

CASE(odd_flags)
{
	char byte;

	pair();
	CALL(recv(server, &byte, 1, MSG_OOB));
	CALL(send(client, "a", 1, MSG_DONTROUTE));
	CALL(send(client, "b", 1, MSG_CONFIRM));
	CALL(send(client, "c", 1, MSG_EOR));
	CALL(recv(server, &byte, 1, MSG_ERRQUEUE));
	CALL(recv(server, &byte, 1, MSG_CMSG_CLOEXEC));
}

CASE(more)
{
	char text[16];

	pair();
	CALL(send(client, "abc", 3, MSG_MORE));
	CALL(send(client, "def", 3, 0));
	CALL(recv(server, text, 6, MSG_WAITALL));
}

CASE(vectors)
{
	char one[4] = "", two[4] = "";
	struct iovec out[] = { { "ab", 2 }, { "", 0 }, { "cde", 3 } };
	struct iovec in[] = { { one, 3 }, { two, 3 } };
	int bad_count = atoi("-1"), too_many = atoi("2000");

	pair();
	CALL(writev(client, out, 3));
	wait_in(server);
	CALL(readv(server, in, 2));
	note("%s %s", one, two);
	CALL(writev(client, out, bad_count));
	CALL(writev(client, out, 0));
	CALL(readv(server, in, too_many));
}

CASE(messages)
{
	char one[4] = "", two[4] = "";
	struct iovec out[] = { { "ab", 2 }, { "cde", 3 } }, in[] = { { one, 2 }, { two, 3 } };
	struct mmsghdr many[] = {
		{ .msg_hdr = { .msg_iov = &out[0], .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &out[1], .msg_iovlen = 1 } },
	};
	union address from = { 0 };
	struct msghdr m = { .msg_iov = in, .msg_iovlen = 2, .msg_name = &from,
			    .msg_namelen = sizeof(from) };

	pair();
	CALL(sendmmsg(client, many, 2, 0));
	note("%u %u", many[0].msg_len, many[1].msg_len);
	wait_bytes(server, 5);
	CALL(recvmsg(server, &m, 0));
	note("%s %s flags %x name %u control %zu", one, two, m.msg_flags, m.msg_namelen,
	     m.msg_controllen);
	CALL(recvmmsg(server, many, 2, MSG_DONTWAIT, NULL));
}

CASE(send_to_address)
{
	union address addr = address(FAR, port), from = { 0 };
	socklen_t len = sizeof(from);
	char byte;

	pair();
	CALL(sendto(client, "x", 1, 0, &addr.any, address_len()));
	CALL(recvfrom(server, &byte, 1, 0, &from.any, &len));
	note("%u", len);
}

CASE(positions)
{
	char byte;

	pair();
	CALL(lseek(client, 0, SEEK_SET));
	CALL(pread(client, &byte, 1, 0));
	CALL(pwrite(client, "x", 1, 0));
	CALL(ftruncate(client, 0));
	CALL(fsync(client));
}

CASE(fill_up)
{
	static char data[1 << 16];
	long n, sum;

	pair();
	nonblock(client);
	sum = fill_up(client);
	note("full %s", strerrorname_np(errno));
	note("more than none %d", sum > 0);
	EVENTS(client);
	while (sum > 0 && (n = recv(server, data, sizeof(data), 0)) > 0)
		sum -= n;
	note("left %ld", sum);
	AWAIT(client, POLLOUT);
}

CASE(send_timeout)
{
	static char data[1 << 16];

	pair();
	must(fill_up(client) > 0, "fill up");
	timeouts(client, 50);
	CALL(send(client, data, sizeof(data), 0));
}

CASE(splice_through)
{
	char text[8] = "";
	int p[2];

	pair();
	must(!pipe(p), "make a pipe");
	must(write(p[1], "abcdef", 6) == 6, "write");
	CALL(splice(p[0], NULL, client, NULL, 6, 0));
	wait_in(server);
	CALL(splice(server, NULL, p[1], NULL, 6, 0));
	CALL(read(p[0], text, 8));
	note("%s", text);
	nonblock(server);
	CALL(splice(server, NULL, p[1], NULL, 6, SPLICE_F_NONBLOCK));
	close(client);
	AWAIT(server, POLLRDHUP);
	CALL(splice(server, NULL, p[1], NULL, 6, 0));
}

CASE(send_file)
{
	FILE *file = tmpfile();
	off_t at = 2;
	char text[16] = "";

	pair();
	fputs("0123456789", file);
	fflush(file);
	CALL(sendfile(client, fileno(file), &at, 100));
	note("at %ld", (long)at);
	CALL(recv(server, text, 8, MSG_WAITALL));
	note("%s", text);
	CALL(sendfile(fileno(file), client, NULL, 1));
}

CASE(queue_sizes)
{
	char text[3];
	int n;

	pair();
	CALL(ioctl(server, SIOCINQ, &n));
	note("%d", n);
	send(client, "abcde", 5, 0);
	wait_in(server);
	CALL(ioctl(server, FIONREAD, &n));
	note("%d", n);
	CALL(ioctl(server, SIOCINQ, NULL));
	recv(server, text, 3, 0);
	ioctl(server, SIOCINQ, &n);
	note("%d", n);
	wait_acked(client);
	CALL(ioctl(client, SIOCOUTQ, &n));
	note("%d", n);
	CALL(ioctl(client, SIOCOUTQNSD, &n));
	note("%d", n);
	CALL(ioctl(client, 0x8fff, &n));
}

CASE(ioctl_states)
{
	int s = new_socket(NEAR, 0), n = -7;

	CALL(ioctl(s, SIOCINQ, &n));
	note("%d", n);
	CALL(ioctl(s, SIOCOUTQ, &n));
	note("%d", n);
	CALL(listen(s, 1));
	CALL(ioctl(s, SIOCOUTQ, &n));
	CALL(ioctl(s, SIOCATMARK, &n));
}

CASE(low_water)
{
	pair();
	CALL(set_int(server, SOL_SOCKET, SO_RCVLOWAT, 4));
	CALL(get_int(server, SOL_SOCKET, SO_RCVLOWAT));
	send(client, "abc", 3, 0);
	note_events("server", events_of(server, POLLIN, A_WHILE));
	send(client, "d", 1, 0);
	AWAIT(server, POLLIN);
	CALL(set_int(server, SOL_SOCKET, SO_RCVLOWAT, 0));
	CALL(get_int(server, SOL_SOCKET, SO_RCVLOWAT));
	CALL(set_int(server, SOL_SOCKET, SO_RCVLOWAT, -1));
	CALL(set_int(server, SOL_SOCKET, SO_SNDLOWAT, 4));
}

/* A lower mark makes enough of what is queued already. */
CASE(low_water_falls)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int e = epoll_create1(0);

	pair();
	set_int(server, SOL_SOCKET, SO_RCVLOWAT, 4);
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, server, &ev));
	send(client, "abc", 3, 0);
	note("events %d", epoll_wait(e, &ev, 1, A_WHILE));
	CALL(set_int(server, SOL_SOCKET, SO_RCVLOWAT, 3));
	note("events %d", epoll_wait(e, &ev, 1, SOON));
	close(e);
}

/* Shutdown, close and reset */

CASE(half_close)
{
	char text[8];

	pair();
	CALL(send(client, "bye", 3, 0));
	CALL(shutdown(client, SHUT_WR));
	EVENTS(client);
	AWAIT(server, POLLRDHUP);
	CALL(recv(server, text, 8, MSG_WAITALL));
	CALL(recv(server, text, 8, 0));
	CALL(recv(server, text, 8, 0));
	CALL(send(server, "too", 3, 0));
	CALL(recv(client, text, 3, MSG_WAITALL));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	CALL(shutdown(client, SHUT_WR));
}

CASE(half_close_signal)
{
	pair();
	shutdown(client, SHUT_WR);
	note("before");
	send(client, "x", 1, 0);
	note("after");
}

CASE(half_close_other_way)
{
	char text[8];

	pair();
	CALL(shutdown(server, SHUT_RD));
	EVENTS(server);
	CALL(recv(server, text, 8, 0));
	CALL(send(client, "abc", 3, 0));
	wait_acked(client);
	CALL(recv(server, text, 8, MSG_DONTWAIT));
	CALL(recv(server, text, 8, MSG_DONTWAIT));
	CALL(send(server, "x", 1, 0));
	CALL(recv(client, text, 1, 0));
}

CASE(shutdown_both)
{
	union address addr;
	socklen_t len = sizeof(addr);
	char byte;

	pair();
	CALL(shutdown(client, SHUT_RDWR));
	CALL(recv(client, &byte, 1, 0));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	AWAIT(server, POLLRDHUP);
	CALL(recv(server, &byte, 1, 0));
	CALL(close(server));
	AWAIT(client, POLLHUP);
	wait_closed(client);
	CALL(shutdown(client, SHUT_RDWR));
	CALL(getpeername(client, &addr.any, &len));
	CALL(getsockname(client, &addr.any, &len));
}

CASE(shutdown_bad)
{
	pair();
	CALL(shutdown(client, 3));
	CALL(shutdown(client, -1));
	CALL(shutdown(-1, SHUT_RD));
}

CASE(close_both_ways)
{
	char byte;

	pair();
	CALL(close(client));
	AWAIT(server, POLLRDHUP);
	CALL(recv(server, &byte, 1, 0));
	CALL(shutdown(server, SHUT_WR));
	wait_closed(server);
	EVENTS(server);
	CALL(get_int(server, SOL_SOCKET, SO_ERROR));
	CALL(send(server, "x", 1, MSG_NOSIGNAL));
}

CASE(close_then_send)
{
	pair();
	close(client);
	wait_event(server, POLLRDHUP);
	CALL(send(server, "x", 1, MSG_NOSIGNAL));
	wait_event(server, POLLHUP);
	EVENTS(server);
	CALL(send(server, "y", 1, MSG_NOSIGNAL));
	CALL(get_int(server, SOL_SOCKET, SO_ERROR));
}

CASE(close_unread)
{
	char byte;

	pair();
	send(client, "abc", 3, 0);
	wait_in(server);
	close(server);
	AWAIT(client, POLLRDHUP);
	CALL(recv(client, &byte, 1, 0));
	CALL(recv(client, &byte, 1, 0));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
}

CASE(reset_reported_once)
{
	char byte;

	pair();
	reset_client();
	EVENTS(client);
	CALL(get_int(client, SOL_SOCKET, SO_ERROR));
	CALL(get_int(client, SOL_SOCKET, SO_ERROR));
	CALL(recv(client, &byte, 1, 0));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	EVENTS(client);
	CALL(shutdown(client, SHUT_RDWR));
}

CASE(reset_by_send)
{
	char byte;

	pair();
	reset_client();
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	CALL(recv(client, &byte, 1, 0));
}

CASE(reset_discards)
{
	char text[8];

	pair();
	send(server, "abc", 3, 0);
	wait_in(client);
	reset_client();
	CALL(recv(client, text, 8, 0));
	CALL(recv(client, text, 8, 0));
}

CASE(linger_waits)
{
	struct linger wait_for_it = { 1, 5 };
	char byte;

	pair();
	CALL(setsockopt(client, SOL_SOCKET, SO_LINGER, &wait_for_it, sizeof(wait_for_it)));
	send(client, "x", 1, 0);
	CALL(close(client));
	CALL(recv(server, &byte, 1, MSG_DONTWAIT));
}

CASE(read_after_peer_closed)
{
	char text[8];

	pair();
	send(client, "abc", 3, 0);
	close(client);
	wait_event(server, POLLRDHUP);
	CALL(recv(server, text, 2, 0));
	EVENTS(server);
	CALL(recv(server, text, 2, 0));
	CALL(recv(server, text, 2, 0));
	CALL(recv(server, text, 2, MSG_PEEK));
	CALL(recv(server, text, 2, MSG_DONTWAIT));
}

/* Signals, threads, descriptors */

CASE(interrupted)
{
	char byte;

	pair();
	alarm_in(50, 0);
	CALL(recv(server, &byte, 1, 0));
	alarm_in(50, 0);
	CALL(accept(listener, NULL, NULL));
}

CASE(interrupted_with_timeout)
{
	char byte;

	pair();
	timeouts(server, 900);
	alarm_in(50, SA_RESTART);
	CALL(recv(server, &byte, 1, 0));
}

CASE(restarted)
{
	char byte = '?';
	int status;

	pair();
	if (!fork()) {
		usleep(150000);
		send(client, "x", 1, 0);
		_exit(0);
	}
	alarm_in(50, SA_RESTART);
	CALL(recv(server, &byte, 1, 0));
	note("%c", byte);
	wait(&status);
}

CASE(interrupted_in_part)
{
	char text[8];

	pair();
	send(client, "abc", 3, 0);
	wait_in(server);
	alarm_in(50, 0);
	CALL(recv(server, text, 8, MSG_WAITALL));
}

CASE(duplicate_keeps_open)
{
	char byte;
	int copy;

	pair();
	copy = dup(client);
	close(client);
	CALL(send(copy, "x", 1, 0));
	CALL(recv(server, &byte, 1, 0));
	close(copy);
	AWAIT(server, POLLRDHUP);
}

CASE(inherited_by_child)
{
	char byte;
	int status;

	pair();
	if (!fork()) {
		send(client, "c", 1, 0);
		_exit(0);
	}
	wait(&status);
	close(client);
	CALL(recv(server, &byte, 1, 0));
	note("%c", byte);
	CALL(recv(server, &byte, 1, 0));
}

/* Let the server's events be reported by SIGIO, which is blocked: @set. */
static void by_signal(sigset_t *set)
{
	struct sigaction act = { .sa_handler = nothing };

	pair();
	sigemptyset(set);
	sigaddset(set, SIGIO);
	sigprocmask(SIG_BLOCK, set, NULL);
	sigaction(SIGIO, &act, NULL);
	CALL(fcntl(server, F_SETOWN, getpid()));
	CALL(fcntl(server, F_SETFL, O_ASYNC));
}

CASE(sigio)
{
	struct timespec t = { 5, 0 };
	sigset_t set;

	by_signal(&set);
	send(client, "x", 1, 0);
	note("SIGIO %d", sigtimedwait(&set, NULL, &t) == SIGIO);
}

CASE(sigio_of_the_end)
{
	struct timespec t = { 5, 0 };
	sigset_t set;

	by_signal(&set);
	shutdown(client, SHUT_WR);
	note("SIGIO %d", sigtimedwait(&set, NULL, &t) == SIGIO);
}

/* Readiness */

CASE(events_connected)
{
	char byte;

	pair();
	EVENTS(client);
	EVENTS(server);
	send(client, "x", 1, 0);
	AWAIT(server, POLLIN);
	recv(server, &byte, 1, 0);
	EVENTS(server);
}

/* The next edge within @ms: SOON if there is to be one, else A_WHILE. */
static int edge(int e, int ms)
{
	struct epoll_event ev;

	return epoll_wait(e, &ev, 1, ms) == 1 ? (int)ev.events : 0;
}

CASE(edge_triggered)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET };
	int e = epoll_create1(0);
	char byte;

	pair();
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, server, &ev));
	note_events("server", edge(e, A_WHILE));
	send(client, "ab", 2, 0);
	note_events("server", edge(e, SOON));
	note_events("server", edge(e, A_WHILE));
	recv(server, &byte, 1, 0);
	note_events("server", edge(e, A_WHILE));
	send(client, "c", 1, 0);
	note_events("server", edge(e, SOON));
	shutdown(client, SHUT_WR);
	note_events("server", edge(e, SOON));
	note_events("server", edge(e, A_WHILE));
}

CASE(edge_write)
{
	struct epoll_event ev = { .events = EPOLLOUT | EPOLLET };
	int e = epoll_create1(0);

	pair();
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, client, &ev));
	note_events("client", edge(e, SOON));
	note_events("client", edge(e, A_WHILE));
}

/* Options */

CASE(socket_options)
{
	static const int options[] = {
		SO_BROADCAST, SO_DEBUG, SO_DONTROUTE, SO_KEEPALIVE, SO_OOBINLINE, SO_REUSEADDR,
		SO_REUSEPORT, SO_TYPE, SO_ERROR, SO_PRIORITY, SO_MARK, SO_TIMESTAMP,
		SO_TIMESTAMPNS, SO_TIMESTAMPING, SO_RCVLOWAT, SO_SNDLOWAT, SO_PASSCRED,
		SO_ACCEPTCONN, SO_INCOMING_CPU, SO_ZEROCOPY, SO_BUSY_POLL, SO_RXQ_OVFL, 9999,
	};
	int s = new_socket(NEAR, 0);

	note_options(s, SOL_SOCKET, options, ARRAY_SIZE(options));
}

CASE(buffer_sizes)
{
	int s = new_socket(NEAR, 0);

	CALL(set_int(s, SOL_SOCKET, SO_RCVBUF, 100000));
	CALL(get_int(s, SOL_SOCKET, SO_RCVBUF));
	CALL(set_int(s, SOL_SOCKET, SO_SNDBUF, 100000));
	CALL(get_int(s, SOL_SOCKET, SO_SNDBUF));
	CALL(set_int(s, SOL_SOCKET, SO_RCVBUF, 1));
	CALL(get_int(s, SOL_SOCKET, SO_RCVBUF));
	CALL(set_int(s, SOL_SOCKET, SO_SNDBUF, 1));
	CALL(get_int(s, SOL_SOCKET, SO_SNDBUF));
	CALL(set_int(s, SOL_SOCKET, SO_RCVBUFFORCE, 10000000));
	CALL(get_int(s, SOL_SOCKET, SO_RCVBUF));
}

CASE(option_arguments)
{
	int s = new_socket(NEAR, 0), value = 1;
	socklen_t len = 2;

	CALL(setsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &value, 2));
	CALL(setsockopt(s, SOL_SOCKET, SO_KEEPALIVE, NULL, 4));
	CALL(getsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &value, &len));
	CALL(setsockopt(s, SOL_TCP, TCP_NODELAY, &value, 2));
	CALL(setsockopt(s, SOL_TCP, TCP_NODELAY, NULL, 4));
	CALL(setsockopt(s, 12345, 1, &value, 4));
	len = 4;
	CALL(getsockopt(s, 12345, 1, &value, &len));
	CALL(getsockopt(s, SOL_TCP, TCP_NODELAY, &value, NULL));
	len = -1;
	CALL(getsockopt(s, SOL_TCP, TCP_NODELAY, &value, &len));
}

CASE(no_delay)
{
	pair();
	CALL(set_int(client, SOL_TCP, TCP_NODELAY, 1));
	CALL(get_int(client, SOL_TCP, TCP_NODELAY));
}

CASE(tcp_options)
{
	static const int options[] = {
		TCP_NODELAY, TCP_CORK, TCP_QUICKACK, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT,
		TCP_SYNCNT, TCP_USER_TIMEOUT, TCP_NOTSENT_LOWAT, 9999,
	};
	int s = new_socket(NEAR, 0);

	note_options(s, SOL_TCP, options, ARRAY_SIZE(options));
}

CASE(tcp_option_values)
{
	static const int options[] = { TCP_NODELAY, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL,
				       TCP_KEEPCNT, TCP_SYNCNT, TCP_USER_TIMEOUT,
				       TCP_NOTSENT_LOWAT };
	static const int values[] = { -1, 0, 1, 5, 127, 128, 32767, 32768, 1000000 };
	int s = new_socket(NEAR, 0);
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		for (j = 0; j < ARRAY_SIZE(values); j++) {
			note("option %d value %d", options[i], values[j]);
			CALL(set_int(s, SOL_TCP, options[i], values[j]));
			CALL(get_int(s, SOL_TCP, options[i]));
		}
	}
}

CASE(tcp_options_inherited)
{
	int l = listening(port), a;

	set_int(l, SOL_TCP, TCP_KEEPIDLE, 77);
	set_int(l, SOL_TCP, TCP_USER_TIMEOUT, 5000);
	set_int(l, SOL_TCP, TCP_NODELAY, 1);
	connect_and_send(port);
	wait_in(l);
	a = accept(l, NULL, NULL);
	CALL(get_int(a, SOL_TCP, TCP_KEEPIDLE));
	CALL(get_int(a, SOL_TCP, TCP_USER_TIMEOUT));
	CALL(get_int(a, SOL_TCP, TCP_NODELAY));
}

CASE(cork)
{
	char text[8];

	pair();
	CALL(set_int(client, SOL_TCP, TCP_CORK, 1));
	CALL(send(client, "abc", 3, 0));
	CALL(send(client, "def", 3, 0));
	CALL(set_int(client, SOL_TCP, TCP_CORK, 0));
	CALL(recv(server, text, 6, MSG_WAITALL));
	CALL(set_int(client, SOL_TCP, TCP_CORK, 1));
	CALL(send(client, "abc", 3, 0));
	CALL(shutdown(client, SHUT_WR));
	CALL(recv(server, text, 4, MSG_WAITALL));
}

/* Corked data waits for 200 ms at most. */
CASE(cork_is_not_for_ever)
{
	char text[8];

	pair();
	CALL(set_int(client, SOL_TCP, TCP_CORK, 1));
	CALL(send(client, "abc", 3, 0));
	CALL(recv(server, text, 3, MSG_WAITALL));
	CALL(send(client, "def", 3, MSG_MORE));
	CALL(recv(server, text, 3, MSG_WAITALL));
}

CASE(keepalive)
{
	char byte;

	pair();
	CALL(set_int(client, SOL_SOCKET, SO_KEEPALIVE, 1));
	CALL(set_int(client, SOL_TCP, TCP_KEEPIDLE, 1));
	CALL(set_int(client, SOL_TCP, TCP_KEEPINTVL, 1));
	CALL(set_int(client, SOL_TCP, TCP_KEEPCNT, 2));
	/* A peer that is reachable answers. */
	note_events("client", events_of(client, POLLIN, 4000));
	if (!cut(true))
		return;
	AWAIT(client, POLLIN);
	CALL(recv(client, &byte, 1, 0));
	CALL(recv(client, &byte, 1, 0));
	must(cut(false), "mend the cable");
}

/* The server has never sent anything that its peer could have learnt from. */
CASE(keepalive_of_the_server)
{
	char byte;

	listener = listening(port);
	client = connect_and_send(port);
	wait_in(listener);
	server = accept(listener, NULL, NULL);
	CALL(recv(server, &byte, 1, 0));
	CALL(set_int(server, SOL_SOCKET, SO_KEEPALIVE, 1));
	CALL(set_int(server, SOL_TCP, TCP_KEEPIDLE, 1));
	CALL(set_int(server, SOL_TCP, TCP_KEEPINTVL, 1));
	CALL(set_int(server, SOL_TCP, TCP_KEEPCNT, 2));
	note_events("server", events_of(server, POLLIN, 6000));
	CALL(send(client, "x", 1, 0));
	AWAIT(server, POLLIN);
}

CASE(user_timeout)
{
	char byte;

	pair();
	CALL(set_int(client, SOL_TCP, TCP_USER_TIMEOUT, 1000));
	if (!cut(true))
		return;
	CALL(send(client, "x", 1, 0));
	AWAIT(client, POLLIN);
	CALL(recv(client, &byte, 1, 0));
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
	must(cut(false), "mend the cable");
}

CASE(ip_options)
{
	static const int options[] = { IP_TOS, IP_TTL, IP_PKTINFO, IP_RECVTTL, IP_MTU_DISCOVER,
				       IP_FREEBIND, IP_TRANSPARENT, IP_BIND_ADDRESS_NO_PORT };
	int s = new_socket(NEAR, 0);

	note_options(s, SOL_IP, options, ARRAY_SIZE(options));
	CALL(set_int(s, SOL_IP, IP_TTL, 7));
	CALL(get_int(s, SOL_IP, IP_TTL));
	CALL(set_int(s, SOL_IP, IP_TTL, 300));
	CALL(set_int(s, SOL_IP, IP_TOS, 0x10));
	CALL(get_int(s, SOL_IP, IP_TOS));
}

CASE(ip6_options)
{
	static const int options[] = { IPV6_V6ONLY, IPV6_UNICAST_HOPS, IPV6_TCLASS,
				       IPV6_MTU_DISCOVER, IPV6_FREEBIND, IPV6_TRANSPARENT,
				       IPV6_RECVPKTINFO, IPV6_RECVTCLASS, IPV6_RECVHOPLIMIT };
	int s = new_socket(NEAR, 0);

	note_options(s, SOL_IPV6, options, ARRAY_SIZE(options));
	CALL(set_int(s, SOL_IPV6, IPV6_UNICAST_HOPS, 7));
	CALL(get_int(s, SOL_IPV6, IPV6_UNICAST_HOPS));
	CALL(set_int(s, SOL_IPV6, IPV6_UNICAST_HOPS, 300));
	CALL(set_int(s, SOL_IPV6, IPV6_TCLASS, 0x10));
	CALL(get_int(s, SOL_IPV6, IPV6_TCLASS));
	CALL(set_int(s, SOL_IPV6, IPV6_V6ONLY, 1));
	CALL(bind_to(s, NEAR, port));
	CALL(set_int(s, SOL_IPV6, IPV6_V6ONLY, 0));
	CALL(get_int(s, SOL_IPV6, IPV6_V6ONLY));
}

CASE(mark_needs_privilege)
{
	int s = new_socket(NEAR, 0);

	CALL(set_int(s, SOL_SOCKET, SO_MARK, 5));
	CALL(get_int(s, SOL_SOCKET, SO_MARK));
	CALL(seteuid(65534));
	CALL(set_int(s, SOL_SOCKET, SO_MARK, 6));
	CALL(set_int(s, SOL_SOCKET, SO_PRIORITY, 7));
	CALL(set_int(s, SOL_SOCKET, SO_PRIORITY, 6));
}

CASE(peer_credentials)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	pair();
	CALL(getsockopt(client, SOL_SOCKET, SO_PEERCRED, &cred, &len));
	note("pid %d uid %d", cred.pid, cred.uid);
	CALL(get_int(client, SOL_SOCKET, SO_PASSCRED));
	CALL(set_int(client, SOL_SOCKET, SO_PASSCRED, 1));
}

CASE(pass_descriptors)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec out = { "x", 1 };
	struct msghdr m = { .msg_iov = &out, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };

	pair();
	CALL(sendmsg(client, &m, 0));
	control.header.cmsg_type = 77;
	CALL(sendmsg(client, &m, 0));
}

/* Limits, threads, namespaces */

CASE(no_descriptors)
{
	struct rlimit none = { 3, 3 };
	int s = new_socket(NEAR, 0);

	note("%d", s >= 0);
	CALL(setrlimit(RLIMIT_NOFILE, &none));
	CALL(new_socket(NEAR, 0));
}

CASE(no_descriptor_for_accept)
{
	int l = listening(port);
	struct rlimit none = { 3, 1024 }, some = { 1024, 1024 };

	connect_and_send(port);
	wait_in(l);
	CALL(setrlimit(RLIMIT_NOFILE, &none));
	CALL(accept(l, NULL, NULL));
	CALL(setrlimit(RLIMIT_NOFILE, &some));
	/* The connection can still be accepted. */
	note("accepted %d", accept(l, NULL, NULL) >= 0);
}

CASE(closed_descriptor)
{
	char byte;

	pair();
	close(client);
	CALL(send(client, "x", 1, 0));
	CALL(recv(client, &byte, 1, 0));
	CALL(shutdown(client, SHUT_WR));
	CALL(listen(client, 1));
	CALL(connect_to(client, port));
	CALL(close(client));
}

CASE(not_a_socket)
{
	char byte;
	int p[2];

	must(!pipe(p), "make a pipe");
	CALL(recv(p[0], &byte, 1, MSG_DONTWAIT));
	CALL(connect_to(p[0], port));
}

CASE(keeps_its_namespace)
{
	char byte;

	pair();
	must(!unshare(CLONE_NEWNET), "leave the namespace");
	CALL(send(client, "x", 1, 0));
	CALL(recv(server, &byte, 1, 0));
}

static void *shut_later(void *fd)
{
	usleep(100000);
	shutdown(*(int *)fd, SHUT_RDWR);
	return NULL;
}

CASE(shutdown_by_another_thread)
{
	pthread_t thread;
	char byte;

	pair();
	pthread_create(&thread, NULL, shut_later, &client);
	CALL(recv(client, &byte, 1, 0));
	pthread_join(thread, NULL);
	CALL(send(client, "x", 1, MSG_NOSIGNAL));
}

static void *close_and_send(void *ends)
{
	const int *end = ends;

	usleep(50000);
	close(end[1]);
	usleep(50000);
	send(end[0], "x", 1, 0);
	return NULL;
}

CASE(closed_by_another_thread)
{
	pthread_t thread;
	char byte;
	int end[2];

	/* A call that waits keeps the socket. */
	pair();
	end[0] = client;
	end[1] = server;
	pthread_create(&thread, NULL, close_and_send, end);
	CALL(recv(server, &byte, 1, 0));
	pthread_join(thread, NULL);
	CALL(recv(server, &byte, 1, 0));
}

CASE(two_readers)
{
	char byte;
	int i;

	pair();
	for (i = 0; i < 2; i++) {
		if (!fork())
			_exit(recv(server, &byte, 1, 0) == 1 ? 0 : 1);
	}
	settle();
	send(client, "a", 1, 0);
	settle();
	send(client, "b", 1, 0);
	note("%d readers had one each", all_well(2));
}

CASE(two_accepters)
{
	int l = listening(port), i;

	for (i = 0; i < 2; i++) {
		if (!fork())
			_exit(accept(l, NULL, NULL) >= 0 ? 0 : 1);
	}
	for (i = 0; i < 2; i++)
		connect_and_send(port);
	note("%d accepters had one each", all_well(2));
}

/* More on readiness */

CASE(poll_masks)
{
	pair();
	send(client, "x", 1, 0);
	wait_in(server);
	note_events("in", events_of(server, POLLIN, 0));
	note_events("out", events_of(server, POLLOUT, 0));
	note_events("pri", events_of(server, POLLPRI, 0));
}

CASE(selects)
{
	struct timeval t = { .tv_sec = SOON / 1000 };
	fd_set in, out, except;
	int n;

	pair();
	send(client, "x", 1, 0);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&except);
	wait_in(server);
	FD_SET(server, &in);
	FD_SET(server, &out);
	FD_SET(server, &except);
	n = select(server + 1, &in, &out, &except, &t);
	note("%d in %d out %d except %d", n, !!FD_ISSET(server, &in), !!FD_ISSET(server, &out),
	     !!FD_ISSET(server, &except));
}

CASE(one_shot)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT };
	int e = epoll_create1(0);

	pair();
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, server, &ev));
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, server, &ev));
	send(client, "x", 1, 0);
	note_events("server", edge(e, SOON));
	note_events("server", edge(e, A_WHILE));
	CALL(epoll_ctl(e, EPOLL_CTL_MOD, server, &ev));
	note_events("server", edge(e, SOON));
	CALL(epoll_ctl(e, EPOLL_CTL_DEL, server, NULL));
	note_events("server", edge(e, A_WHILE));
}

CASE(edge_of_listener)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int l = listening(port), e = epoll_create1(0);

	CALL(epoll_ctl(e, EPOLL_CTL_ADD, l, &ev));
	note_events("listener", edge(e, A_WHILE));
	connect_and_send(port);
	note_events("listener", edge(e, SOON));
	note_events("listener", edge(e, A_WHILE));
}

CASE(edge_of_reset)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET };
	int e = epoll_create1(0);

	pair();
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, client, &ev));
	reset_client();
	/* The error and the end wake one after the other: a call in between would see two edges. */
	settle();
	note_events("client", edge(e, SOON));
	note_events("client", edge(e, A_WHILE));
}

CASE(edge_of_room)
{
	struct epoll_event ev = { .events = EPOLLOUT | EPOLLET };
	static char data[1 << 16];
	int e = epoll_create1(0);
	long n, sum;

	pair();
	nonblock(client);
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, client, &ev));
	note_events("client", edge(e, SOON));
	sum = fill_up(client);
	while (sum > 0 && (n = recv(server, data, sizeof(data), 0)) > 0)
		sum -= n;
	note_events("client", edge(e, SOON));
}

/* More on messages */

CASE(message_flags)
{
	char data[4];
	struct iovec in = { data, 4 };
	struct msghdr m = { .msg_iov = &in, .msg_iovlen = 1, .msg_flags = -1 };

	pair();
	send(client, "abcdefgh", 8, 0);
	wait_in(server);
	CALL(recvmsg(server, &m, 0));
	note("flags %x", m.msg_flags);
	CALL(recvmsg(server, &m, MSG_TRUNC));
	note("flags %x", m.msg_flags);
	CALL(recvmsg(server, &m, MSG_DONTWAIT));
	shutdown(client, SHUT_WR);
	wait_event(server, POLLRDHUP);
	CALL(recvmsg(server, &m, 0));
	note("flags %x", m.msg_flags);
}

CASE(bad_messages)
{
	struct msghdr m = { .msg_iov = (void *)8, .msg_iovlen = 1 };

	pair();
	CALL(sendmsg(client, NULL, 0));
	CALL(sendmsg(client, &m, 0));
	m.msg_iov = NULL;
	m.msg_iovlen = 2000;
	CALL(sendmsg(client, &m, 0));
	m.msg_iovlen = 0;
	CALL(sendmsg(client, &m, 0));
	CALL(recvmsg(server, NULL, 0));
	CALL(recvmsg(server, &m, MSG_DONTWAIT));
}

CASE(sends_partly_bad)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char text[64];

	pair();
	munmap(page + 4096, 4096);
	memset(page, 'x', 4096);
	CALL(send(client, page + 4090, 100, 0));
	wait_acked(client);
	CALL(recv(server, text, sizeof(text), MSG_DONTWAIT));
	CALL(send(client, "after", 5, 0));
	wait_in(server);
	CALL(recv(server, text, 5, 0));
	note("%.5s", text);
}

CASE(receives_partly_bad)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char text[8] = "";

	pair();
	munmap(page + 4096, 4096);
	send(client, "abcdef", 6, 0);
	wait_in(server);
	CALL(recv(server, page + 4093, 6, 0));
	CALL(recv(server, text, 6, MSG_DONTWAIT));
	note("%s", text);
}

CASE(large)
{
	static char data[1 << 20], got[1 << 20];
	size_t i;
	int status;

	pair();
	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + i / 251;
	if (!fork()) {
		send(client, data, sizeof(data), 0);
		_exit(0);
	}
	CALL(recv(server, got, sizeof(got), MSG_WAITALL));
	note("same %d", !memcmp(data, got, sizeof(got)));
	wait(&status);
}

CASE(by_single_bytes)
{
	char got[64] = "";
	int i;

	pair();
	for (i = 0; i < 26; i++)
		send(client, &"abcdefghijklmnopqrstuvwxyz"[i], 1, 0);
	CALL(recv(server, got, 26, MSG_WAITALL));
	note("%s", got);
}

CASE(both_at_once)
{
	static char data[1 << 18], got[1 << 18];
	int status;

	pair();
	if (!fork()) {
		send(server, data, sizeof(data), 0);
		_exit(recv(server, got, sizeof(got), MSG_WAITALL) == sizeof(got) ? 0 : 1);
	}
	CALL(send(client, data, sizeof(data), 0));
	CALL(recv(client, got, sizeof(got), MSG_WAITALL));
	wait(&status);
	note("the other %d", status);
}

CASE(tees)
{
	char text[8] = "";
	int p[2], q[2];

	pair();
	must(!pipe(p) && !pipe(q), "make pipes");
	send(client, "abc", 3, 0);
	wait_in(server);
	CALL(splice(server, NULL, p[1], NULL, 3, 0));
	CALL(tee(p[0], q[1], 3, 0));
	CALL(read(q[0], text, 8));
	note("%s", text);
	CALL(tee(server, q[1], 3, 0));
}

CASE(time_stamps)
{
	char data[4], control[128];
	struct iovec in = { data, 4 };
	struct msghdr m = { .msg_iov = &in, .msg_iovlen = 1 };

	pair();
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMP, 1));
	CALL(get_int(server, SOL_SOCKET, SO_TIMESTAMP));
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMPNS, 1));
	CALL(get_int(server, SOL_SOCKET, SO_TIMESTAMP));
	CALL(get_int(server, SOL_SOCKET, SO_TIMESTAMPNS));
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMP, 0));
	CALL(set_int(server, SOL_SOCKET, SO_TIMESTAMPNS, 0));
	m.msg_control = control;
	m.msg_controllen = sizeof(control);
	send(client, "x", 1, 0);
	wait_in(server);
	CALL(recvmsg(server, &m, 0));
	note("control %zu", m.msg_controllen);
}

CASE(protocol_told)
{
	int s = new_socket(NEAR, 0);

	CALL(get_int(s, SOL_SOCKET, SO_DOMAIN) > 0);
	CALL(get_int(s, SOL_SOCKET, SO_PROTOCOL) >= 0);
}

CASE(timeouts_told)
{
	struct timeval t = { .tv_sec = 3, .tv_usec = 500000 }, got = { 0 };
	struct timeval bad = { .tv_usec = 2000000 }, past = { .tv_sec = -1 };
	socklen_t len = sizeof(got);
	int s = new_socket(NEAR, 0);

	CALL(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)));
	CALL(getsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &got, &len));
	note("%ld.%06ld", got.tv_sec, got.tv_usec);
	CALL(setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &bad, sizeof(bad)));
	CALL(setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &past, sizeof(past)));
	CALL(setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &t, 4));
}

/* connect() without a round trip: each difference must be documented (oracle.h). */

CASE(connect_refused)
{
	int s = new_socket(NEAR, 0);
	char byte;

	CALL(connect_to(s, port));
	note_events("s", events_of(s, POLLHUP, SOON));
	CALL(recv(s, &byte, 1, MSG_DONTWAIT));
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
}

CASE(connect_in_background)
{
	int l = listening(port), s = new_socket(NEAR, SOCK_NONBLOCK);
	char byte;

	CALL(connect_to(s, port));
	note_events("s", events_of(s, POLLOUT, SOON));
	CALL(get_int(s, SOL_SOCKET, SO_ERROR));
	CALL(connect_to(s, port) < 0 && errno != EISCONN);
	CALL(connect_to(s, port));
	CALL(send(s, "x", 1, 0));
	wait_in(l);
	server = accept(l, NULL, NULL);
	CALL(recv(server, &byte, 1, 0));
}

TEST_HARNESS_MAIN
