// SPDX-License-Identifier: GPL-2.0
/*
 * Transfers for tests: connections that carry numbered data in both directions
 * at once, checked by content at both ends.
 *
 *	ndp_xfer listen [-6] [-p tcp|ndp] [-n CONNECTIONS] [-dfiw] PORT
 *	ndp_xfer connect [-p tcp|ndp] [-n CONNECTIONS] [-j AT-ONCE] [-s BYTES]
 *		[-r BYTES] [-dfgituw] ADDRESS PORT
 *
 * The client tells the server in 16 bytes how much it will send and how much it
 * wants back (-s, -r); both directions then run at the same time.  Content is a
 * function of the position and the direction, so that a byte lost, doubled or
 * misplaced is seen.  The listener ends after -n connections and prints how
 * many it accepted.  -d: the listener only accepts and waits for the end, the
 * client only connects, sends one byte and closes.
 *
 *	-6	a listener of IPv6, which takes IPv4 as well
 *	-f	the server speaks first; to be given on both sides
 *	-g MS	give up when the peer is silent for MS (TCP_USER_TIMEOUT)
 *	-i MS	pause for MS after each 64 KiB written
 *	-w MS	pause for MS after each read of up to 64 KiB
 *	-u FILE	send until FILE exists, instead of -s; the server reports at its
 *		end how many bytes it has received
 *	-t	print how long each connection took, from connect() to the end
 */
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/ndp.h>

static bool tcp;
static bool tiny;
static bool server_first;
static bool timed;
static int idle_ms;
static int give_up_ms;
static int slow_ms;
static const char *until_file;

static const char greeting[] = "220 ready";

/* Instead of a number of bytes: as many as are sent until FILE exists (-u). */
#define UNTIL_TOLD	(~0ULL)

static __s64 now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static unsigned char byte_at(__u64 pos, bool from_server)
{
	__u64 x = (pos >> 3) * 0x9e3779b97f4a7c15ULL + from_server;

	x ^= x >> 29;
	return x >> (8 * (pos & 7));
}

static void fill(unsigned char *buf, size_t n, __u64 pos, bool from_server)
{
	for (size_t i = 0; i < n; i++)
		buf[i] = byte_at(pos + i, from_server);
}

static void verify(const unsigned char *buf, size_t n, __u64 pos,
		   bool from_server)
{
	for (size_t i = 0; i < n; i++)
		if (buf[i] != byte_at(pos + i, from_server))
			errx(1, "wrong byte at %llu", (pos + i));
}

/* The next @most bytes at most: 0 when all is sent, or at the end by -u, which sets *@out. */
static size_t next_part(unsigned char *buf, size_t most, __u64 sent, __u64 *out, bool server)
{
	if (sent)
		usleep(idle_ms * 1000);
	if (*out == UNTIL_TOLD && !access(until_file, F_OK))
		*out = sent;
	if (most > *out - sent)
		most = *out - sent;
	fill(buf, most, sent, server);
	return most;
}

/*
 * Send @out bytes and receive @in at the same time, then the end of file.  With UNTIL_TOLD the
 * client does not wait for the end of file, as the server has to report its number of bytes first.
 *
 * Return: bytes that went from the client to the server.
 */
static __u64 exchange(int fd, __u64 out, __u64 in, bool server)
{
	bool last_word = out == UNTIL_TOLD || in == UNTIL_TOLD;
	unsigned char obuf[65536], ibuf[65536];
	__u64 sent = 0, got = 0;
	size_t have = 0, off = 0;
	bool eof = !server && last_word && !in;

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	if (!out && !(server && last_word))
		shutdown(fd, SHUT_WR);
	while (sent < out || !eof) {
		struct pollfd p = {
			.fd = fd,
			.events = (sent < out ? POLLOUT : 0) | (eof ? 0 : POLLIN),
		};
		ssize_t n;

		if (poll(&p, 1, 120000) <= 0)
			errx(1, "nothing moves: sent %llu of %llu, got %llu of %llu",
			     sent, out,
			     got, in);
		if (sent < out && p.revents & (POLLOUT | POLLERR)) {
			if (off == have) {
				have = next_part(obuf, sizeof(obuf), sent, &out, server);
				off = 0;
			}
			n = have ? send(fd, obuf + off, have - off, MSG_NOSIGNAL) : 0;
			if (n < 0 && errno != EAGAIN)
				err(1, "send");
			if (n > 0) {
				off += n;
				sent += n;
			}
			if (sent == out && !(server && last_word))
				shutdown(fd, SHUT_WR);
		}
		if (!eof && p.revents & (POLLIN | POLLERR | POLLHUP)) {
			size_t most = sizeof(ibuf);

			if (!server && last_word && most > in - got)
				most = in - got;
			n = recv(fd, ibuf, most, 0);
			if (n < 0 && errno != EAGAIN)
				err(1, "recv");
			if (n > 0) {
				verify(ibuf, n, got, !server);
				got += n;
				usleep(slow_ms * 1000);
			}
			eof = n == 0 || (!server && last_word && got == in);
		}
	}
	if (got != in && in != UNTIL_TOLD)
		errx(1, "got %llu bytes, expected %llu",
		     got, in);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return server ? got : sent;
}

static void recv_all(int fd, void *buf, size_t n)
{
	ssize_t r = recv(fd, buf, n, MSG_WAITALL);

	if (r < 0)
		err(1, "recv");
	if (r != (ssize_t)n)
		errx(1, "end of file in the request");
}

static void serve(int fd)
{
	__u64 want[2], got;
	char c;

	if (server_first && send(fd, greeting, sizeof(greeting), MSG_NOSIGNAL) < 0)
		err(1, "greeting");
	if (tiny) {
		recv_all(fd, &c, 1);
		close(fd);
		return;
	}
	recv_all(fd, want, sizeof(want));
	got = htobe64(exchange(fd, be64toh(want[1]), be64toh(want[0]), true));
	if (be64toh(want[0]) == UNTIL_TOLD && send(fd, &got, sizeof(got), MSG_NOSIGNAL) < 0)
		err(1, "last word");
	close(fd);
}

static int new_socket(int family)
{
	int fd = tcp ? socket(family, SOCK_STREAM, 0) :
		       socket(AF_NDP, SOCK_STREAM, family == AF_INET6 ? NDP_PROTO_IPV6 : 0);

	if (fd < 0)
		err(1, "socket");
	return fd;
}

/* Wait until everything is acknowledged; exit upon an error. */
static void await_acks(int fd)
{
	socklen_t len = sizeof(errno);
	int left;

	while (!ioctl(fd, SIOCOUTQ, &left)) {
		if (!getsockopt(fd, SOL_SOCKET, SO_ERROR, &errno, &len) && errno)
			err(1, "send");
		if (!left)
			return;
		usleep(10000);
	}
	err(1, "bytes not acknowledged");
}

static void request(const struct addrinfo *to, __u64 out, __u64 in)
{
	__u64 want[2] = { htobe64(out), htobe64(in) };
	int fd = new_socket(to->ai_family);
	char hello[sizeof(greeting)];
	__s64 start = now_us();
	__u64 sent, got;
	char c = 0;

	if (give_up_ms && setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &give_up_ms,
				     sizeof(give_up_ms)))
		err(1, "time-out");
	if (connect(fd, to->ai_addr, to->ai_addrlen))
		err(1, "connect");
	if (server_first) {
		recv_all(fd, hello, sizeof(hello));
		if (memcmp(hello, greeting, sizeof(hello)))
			errx(1, "wrong greeting");
	}
	if (tiny) {
		if (send(fd, &c, 1, MSG_NOSIGNAL) != 1)
			err(1, "send");
		shutdown(fd, SHUT_WR);
		if (recv(fd, &c, 1, 0))
			err(1, "end of file");
		close(fd);
		return;
	}
	if (send(fd, want, sizeof(want), MSG_NOSIGNAL) != sizeof(want))
		err(1, "send");
	sent = exchange(fd, out, in, false);
	if (out == UNTIL_TOLD) {
		recv_all(fd, &got, sizeof(got));
		got = be64toh(got);
		if (got != sent)
			errx(1, "sent %llu bytes, of which %llu came", sent, got);
	}
	if (give_up_ms)
		await_acks(fd);
	if (timed)
		printf("took %lld us\n", now_us() - start);
	fflush(stdout);
	close(fd);
}

static int reap(void)
{
	int status;

	if (wait(&status) < 0)
		err(1, "wait");
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

static int listener(const struct addrinfo *at, int n)
{
	int fd = new_socket(at->ai_family), one = 1, bad = 0;
	int accepted = 0;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, at->ai_addr, at->ai_addrlen))
		err(1, "bind");
	if (listen(fd, 1024))
		err(1, "listen");
	printf("listening\n");
	fflush(stdout);
	while (accepted < n) {
		int c = accept(fd, NULL, NULL);

		if (c < 0)
			err(1, "accept");
		accepted++;
		switch (fork()) {
		case -1:
			err(1, "fork");
		case 0:
			close(fd);
			serve(c);
			_exit(0);
		}
		close(c);
	}
	for (int i = 0; i < accepted; i++)
		bad += reap();
	/* A late copy of an opening would be accepted as one connection too many. */
	fcntl(fd, F_SETFL, O_NONBLOCK);
	sleep(tiny ? 4 : 0);
	while (accept(fd, NULL, NULL) >= 0)
		accepted++;
	printf("accepted %d failed %d\n", accepted, bad);
	return bad || accepted != n;
}

static int client(const struct addrinfo *to, int n, int at_once,
		  __u64 out, __u64 in)
{
	int running = 0, bad = 0;

	for (int i = 0; i < n; i++) {
		if (running == at_once) {
			bad += reap();
			running--;
		}
		switch (fork()) {
		case -1:
			err(1, "fork");
		case 0:
			request(to, out, in);
			_exit(0);
		}
		running++;
	}
	while (running--)
		bad += reap();
	printf("connected %d failed %d\n", n, bad);
	return bad != 0;
}

int main(int argc, char **argv)
{
	struct addrinfo hints = {
		.ai_family = AF_INET,
		.ai_flags = AI_NUMERICHOST,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *at;
	__u64 out = 0, in = 0;
	int n = 1, at_once = 1;
	bool listening;
	int opt;

	if (argc < 2)
		errx(2, "usage: see the head of ndp_xfer.c");
	listening = !strcmp(argv[1], "listen");
	argc--;
	argv++;
	while ((opt = getopt(argc, argv, "6p:n:j:s:r:dfg:i:tu:w:")) != -1) {
		switch (opt) {
		case '6':
			hints.ai_family = AF_INET6;
			break;
		case 'p':
			tcp = !strcmp(optarg, "tcp");
			break;
		case 'n':
			n = atoi(optarg);
			break;
		case 'j':
			at_once = atoi(optarg);
			break;
		case 's':
			out = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			in = strtoull(optarg, NULL, 0);
			break;
		case 'd':
			tiny = true;
			break;
		case 'f':
			server_first = true;
			break;
		case 'g':
			give_up_ms = atoi(optarg);
			break;
		case 'i':
			idle_ms = atoi(optarg);
			break;
		case 't':
			timed = true;
			break;
		case 'u':
			until_file = optarg;
			out = UNTIL_TOLD;
			break;
		case 'w':
			slow_ms = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != (listening ? 1 : 2))
		errx(2, "usage: see the head of ndp_xfer.c");
	if (listening)
		hints.ai_flags |= AI_PASSIVE;
	else
		hints.ai_family = AF_UNSPEC;
	if (getaddrinfo(listening ? NULL : argv[optind], argv[argc - 1], &hints, &at))
		errx(2, "no address and port");
	return listening ? listener(at, n) : client(at, n, at_once, out, in);
}
