// SPDX-License-Identifier: GPL-2.0
/*
 * ndp_cat: copies standard input to an AF_NDP socket and the socket to standard
 * output, both at the same time; also over TCP and DCTCP, for comparison.
 *
 * Each direction ends separately: the end of the input closes one half of the
 * connection, and the program ends when both directions have ended.  ndp_cat(8)
 * is the manual.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/ndp.h>

#include "address.h"
#include "options.h"

#define BUFFER		(256 * 1024)

enum proto { PROTO_NDP, PROTO_TCP, PROTO_DCTCP };

static const char *const proto_names[] = { "ndp", "tcp", "dctcp" };

static struct {
	enum proto	proto;
	int		family;		/* AF_UNSPEC: any family */
	bool		listen;
	bool		json;
	bool		verbose;
	bool		no_input;
	long		accept;		/* connections to accept; 0: no limit */
	int		wait_ms;	/* for a silent peer; 0: the kernel's default */
	__s64		at;		/* start time, CLOCK_MONOTONIC, ns; 0: now */
	const char	*file;
	const char	*source;
	const char	*host;
	const char	*port;
} opt = { .accept = 1 };

/* One direction of the relay. */
struct pipe {
	int	from, to;
	bool	receives;	/* @from is the connection; otherwise @to is */
	size_t	at, have;
	__s64	bytes;
	bool	eof;		/* nothing more to read */
	bool	done;		/* nothing more to write */
	char	*buf;
};

static void usage(FILE *to)
{
	fputs("Usage: ndp_cat [OPTIONS] HOST PORT\n"
	      "       ndp_cat [OPTIONS] -l [HOST] PORT\n"
	      "\n"
	      "  -l, --listen       accept a connection\n"
	      "  -k, --keep N       with -l: accept N connections, one after the other; 0: no limit\n"
	      "  -p, --proto NAME   ndp (default), tcp or dctcp\n"
	      "  -4, -6             IPv4 or IPv6 only; a listener without either accepts both\n"
	      "  -f, --file FILE    send FILE; with -l: receive into FILE\n"
	      "  -d, --no-input     do not read standard input\n"
	      "  -s, --source ADDR  send from this address\n"
	      "  -w, --wait SEC     give up if the peer takes nothing for so long (ndp: 30)\n"
	      "  -v, --verbose      with -l: report on standard error when it listens\n"
	      "  -j, --json         print bytes, times and losses on standard error at the end\n"
	      "      --at NS        start at this CLOCK_MONOTONIC time, in nanoseconds\n"
	      "  -h, --help\n", to);
}

static __s64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Return: all addresses of @host; without @host the wildcard address for a listener. */
static struct addrinfo *resolve(const char *host, const char *port, int family)
{
	struct addrinfo hints = {
		.ai_family = family,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = host ? 0 : AI_PASSIVE,
	};
	struct addrinfo *found;
	int err = getaddrinfo(host, port, &hints, &found);

	if (err)
		errx(EXIT_FAILURE, "%s %s: %s", host ?: "any", port ?: "",
		     gai_strerror(err));
	return found;
}

/* Return: a socket, or -1 for a family that the kernel does not have. */
static int new_socket(int family)
{
	bool ndp = opt.proto == PROTO_NDP;
	int fd = socket(ndp ? AF_NDP : family, SOCK_STREAM | SOCK_CLOEXEC,
			ndp ? ndp_protocol(family) : 0);
	int one = 1;

	if (fd < 0 && errno == EAFNOSUPPORT)
		return -1;
	if (fd < 0)
		errx(EXIT_FAILURE, "socket: %m");
	if (opt.proto == PROTO_DCTCP &&
	    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "dctcp", 5))
		errx(EXIT_FAILURE, "dctcp: %m");
	if (opt.listen)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (opt.wait_ms &&
	    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &opt.wait_ms, sizeof(opt.wait_ms)))
		errx(EXIT_FAILURE, "TCP_USER_TIMEOUT: %m");
	return fd;
}

static void no_family(void)
{
	if (opt.proto == PROTO_NDP)
		errx(EXIT_FAILURE, "the kernel has no AF_NDP (is module ndp there?)");
	errx(EXIT_FAILURE, "socket: %m");
}

static int listen_on(void)
{
	/* A listener of IPv6 accepts connections over IPv4 as well. */
	int family = opt.host || opt.family ? opt.family : AF_INET6;
	struct addrinfo *at = resolve(opt.host, opt.port, family);
	int fd = new_socket(at->ai_family), only = opt.family == AF_INET6;

	if (fd < 0 && !opt.host && !opt.family) {
		freeaddrinfo(at);
		at = resolve(NULL, opt.port, AF_INET);
		fd = new_socket(AF_INET);
	}
	if (fd < 0)
		no_family();
	if (at->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
	if (bind(fd, at->ai_addr, at->ai_addrlen))
		errx(EXIT_FAILURE, "bind to port %s: %m", opt.port);
	if (listen(fd, 128))
		errx(EXIT_FAILURE, "listen: %m");
	if (opt.verbose)
		warnx("listening on port %s", opt.port);
	freeaddrinfo(at);
	return fd;
}

static void bind_source(int fd, int family)
{
	struct addrinfo *from = resolve(opt.source, NULL, family);

	if (bind(fd, from->ai_addr, from->ai_addrlen))
		errx(EXIT_FAILURE, "bind to %s: %m", opt.source);
	freeaddrinfo(from);
}

/* Connect to the first of the host's addresses that is reachable. */
static int connect_to(void)
{
	struct addrinfo *all = resolve(opt.host, opt.port, opt.family), *to;
	int fd;

	for (to = all; to; to = to->ai_next) {
		fd = new_socket(to->ai_family);
		if (fd < 0)
			continue;
		if (opt.source)
			bind_source(fd, to->ai_family);
		if (!connect(fd, to->ai_addr, to->ai_addrlen))
			break;
		if (!to->ai_next)
			errx(EXIT_FAILURE, "%s %s: %m", opt.host, opt.port);
		close(fd);
	}
	if (!to)
		no_family();
	freeaddrinfo(all);
	return fd;
}

static int open_file(void)
{
	int fd = opt.listen ?
		 open(opt.file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) :
		 open(opt.file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		errx(EXIT_FAILURE, "%s: %m", opt.file);
	return fd;
}

/* An error of the connection ends that connection, and a listener accepts the next
 * one; an error of the input or the output ends the program.
 * Return: false.
 */
static bool give_up(bool connection, const char *what)
{
	if (!connection)
		errx(EXIT_FAILURE, "%s: %m", what);
	warnx("%s: %m", what);
	return false;
}

static bool fill(struct pipe *p)
{
	ssize_t n = read(p->from, p->buf, BUFFER);

	if (n < 0) {
		if (errno == EAGAIN || errno == EINTR)
			return true;
		return give_up(p->receives, p->receives ? "receiving" : "input");
	}
	p->at = 0;
	p->have = n;
	p->eof = !n;
	return true;
}

static bool drain(struct pipe *p)
{
	ssize_t n = write(p->to, p->buf + p->at, p->have - p->at);

	if (n < 0) {
		if (errno == EAGAIN || errno == EINTR)
			return true;
		return give_up(!p->receives, p->receives ? "output" : "sending");
	}
	p->at += n;
	p->bytes += n;
	return true;
}

/* Do one read or write, as poll() has reported for the two ends.
 * Return: false when the connection has failed.
 */
static bool advance(struct pipe *p, short readable, short writable)
{
	if (p->at < p->have)
		return !writable || drain(p);
	return p->eof || !readable || fill(p);
}

/* Mark the directions that have ended.  Return: whether anything is left to do. */
static bool settle(int sock, struct pipe *up, struct pipe *down, bool terminal)
{
	if (down->eof && down->at == down->have)
		down->done = true;
	/* On a terminal, input is no longer useful when the peer has closed. */
	if (down->done && terminal)
		up->eof = true;
	if (!up->done && up->eof && up->at == up->have) {
		up->done = true;
		/* ENOTCONN: the peer has closed already, which is no error. */
		if (shutdown(sock, SHUT_WR) && errno != ENOTCONN)
			errx(EXIT_FAILURE, "shutdown: %m");
	}
	return !up->done || !down->done;
}

/* Return: false when the connection has failed. */
static bool relay(int sock, struct pipe *up, struct pipe *down)
{
	const short in = POLLIN | POLLHUP | POLLERR;
	const short out = POLLOUT | POLLHUP | POLLERR;
	bool terminal = isatty(up->from);

	fcntl(sock, F_SETFL, fcntl(sock, F_GETFL) | O_NONBLOCK);
	while (settle(sock, up, down, terminal)) {
		bool filled = up->at < up->have;
		bool drained = down->at == down->have;
		short wait = (filled ? POLLOUT : 0) |
			     (drained && !down->eof ? POLLIN : 0);
		struct pollfd fds[] = {
			{ up->eof || filled ? -1 : up->from, POLLIN, 0 },
			{ wait ? sock : -1, wait, 0 },
			{ drained ? -1 : down->to, POLLOUT, 0 },
		};

		if (poll(fds, 3, -1) < 0) {
			if (errno == EINTR)
				continue;
			errx(EXIT_FAILURE, "poll: %m");
		}
		if (!advance(up, fds[0].revents & in, fds[1].revents & out) ||
		    !advance(down, fds[1].revents & in, fds[2].revents & out))
			return false;
	}
	return true;
}

/* Losses of a connection, as far as the protocol reports them; else -1. */
struct losses {
	long long retrans;
	long long timeouts;
	long long trims;
};

static struct losses losses_of(int sock)
{
	struct losses l = { -1, -1, -1 };
	struct ndp_info ndp = { 0 };
	struct tcp_info tcp = { 0 };
	socklen_t len;

	if (opt.proto == PROTO_NDP) {
		len = sizeof(ndp);
		if (getsockopt(sock, SOL_NDP, NDP_INFO, &ndp, &len))
			return l;
		l.retrans = ndp.retrans;
		l.timeouts = ndp.timeouts;
		l.trims = ndp.trims_in;
	} else {
		len = sizeof(tcp);
		if (getsockopt(sock, IPPROTO_TCP, TCP_INFO, &tcp, &len))
			return l;
		l.retrans = tcp.tcpi_total_retrans;
	}
	return l;
}

static void print_field(const char *name, long long value)
{
	if (value < 0)
		fprintf(stderr, ",\"%s\":null", name);
	else
		fprintf(stderr, ",\"%s\":%lld", name, value);
}

static void report(int sock, const union address *peer,
		   const struct pipe *up, const struct pipe *down,
		   __s64 start, __s64 finish)
{
	struct losses l = losses_of(sock);
	char addr[ADDRESS_TEXT];

	fprintf(stderr, "{\"proto\":\"%s\",\"role\":\"%s\",\"peer\":\"%s\",\"port\":%u",
		proto_names[opt.proto], opt.listen ? "acceptor" : "initiator",
		address_text(peer, addr), address_port(peer));
	print_field("sent", up->bytes);
	print_field("received", down->bytes);
	fprintf(stderr, ",\"seconds\":%.6f", (finish - start) / 1e9);
	print_field("start_ns", start);
	print_field("finish_ns", finish);
	print_field("retrans", l.retrans);
	print_field("timeouts", l.timeouts);
	print_field("trims", l.trims);
	fputs("}\n", stderr);
}

/* Return: whether all data was copied. */
static bool serve(int sock, int file, __s64 start)
{
	static char buffers[2][BUFFER];
	union address peer = { 0 };
	socklen_t len = sizeof(peer);
	struct pipe up = {
		.from = file >= 0 && !opt.listen ? file : STDIN_FILENO,
		.to = sock,
		.buf = buffers[0],
		.eof = opt.no_input,
	};
	struct pipe down = {
		.from = sock,
		.to = file >= 0 && opt.listen ? file : STDOUT_FILENO,
		.receives = true,
		.buf = buffers[1],
	};
	bool whole;

	/* Read the address now: TCP has none any more when the connection has ended. */
	getpeername(sock, &peer.any, &len);
	whole = relay(sock, &up, &down);
	if (whole && opt.json)
		report(sock, &peer, &up, &down, start, now_ns());
	close(sock);
	return whole;
}

static void wait_until(__s64 at)
{
	struct timespec t = {
		.tv_sec = at / 1000000000,
		.tv_nsec = at % 1000000000,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) ==
	       EINTR)
		;
}

/* Return: the next connection that was not aborted before accept(). */
static int next_connection(int listener)
{
	int sock;

	do {
		sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	} while (sock < 0 && (errno == ECONNABORTED || errno == EINTR));
	if (sock < 0)
		errx(EXIT_FAILURE, "accept: %m");
	return sock;
}

/* Return: whether all data was copied, for each connection. */
static bool do_listen(void)
{
	int file = opt.file ? open_file() : -1;
	int listener = listen_on();
	bool whole = true;
	long n;

	for (n = 0; !opt.accept || n < opt.accept; n++) {
		int sock = next_connection(listener);

		whole &= serve(sock, file, now_ns());
	}
	if (file >= 0 && close(file))
		errx(EXIT_FAILURE, "%s: %m", opt.file);
	return whole;
}

static bool do_connect(void)
{
	int file = opt.file ? open_file() : -1;
	__s64 start;
	int sock;

	if (opt.at)
		wait_until(opt.at);
	start = now_ns();
	sock = connect_to();
	return serve(sock, file, start);
}

/* Return: milliseconds. */
static int parse_seconds(const char *text)
{
	long long seconds = parse_number("time", text);

	if (!seconds || seconds > INT_MAX / 1000)
		errx(EXIT_USAGE, "time \"%s\" is not between 1 and %d seconds", text,
		     INT_MAX / 1000);
	return seconds * 1000;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "listen", no_argument, NULL, 'l' },
		{ "keep", required_argument, NULL, 'k' },
		{ "proto", required_argument, NULL, 'p' },
		{ "file", required_argument, NULL, 'f' },
		{ "no-input", no_argument, NULL, 'd' },
		{ "source", required_argument, NULL, 's' },
		{ "wait", required_argument, NULL, 'w' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "json", no_argument, NULL, 'j' },
		{ "at", required_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "46lk:p:f:ds:w:vjh", options,
				NULL)) != -1) {
		switch (c) {
		case '4':
			opt.family = AF_INET;
			break;
		case '6':
			opt.family = AF_INET6;
			break;
		case 'l':
			opt.listen = true;
			break;
		case 'k':
			opt.accept = parse_number("count", optarg);
			break;
		case 'p':
			opt.proto = parse_name("protocol", optarg, proto_names,
					       ARRAY_SIZE(proto_names));
			break;
		case 'f':
			opt.file = optarg;
			break;
		case 'd':
			opt.no_input = true;
			break;
		case 's':
			opt.source = optarg;
			break;
		case 'w':
			opt.wait_ms = parse_seconds(optarg);
			break;
		case 'v':
			opt.verbose = true;
			break;
		case 'j':
			opt.json = true;
			break;
		case 'a':
			opt.at = parse_number("time", optarg);
			break;
		case 'h':
			usage(stdout);
			exit(EXIT_SUCCESS);
		default:
			usage(stderr);
			exit(EXIT_USAGE);
		}
	}
	argv += optind;
	argc -= optind;
	if (argc < (opt.listen ? 1 : 2) || argc > 2) {
		usage(stderr);
		exit(EXIT_USAGE);
	}
	opt.host = argc == 2 ? argv[0] : NULL;
	opt.port = argv[argc - 1];
}

/* Descriptors that a shell has closed (<&-) must not become the connection's.  Such an input is
 * empty, and writing to such an output fails.
 */
static void open_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	bool whole;

	open_standard();
	parse(argc, argv);
	signal(SIGPIPE, SIG_IGN);
	whole = opt.listen ? do_listen() : do_connect();
	return whole ? EXIT_SUCCESS : EXIT_FAILURE;
}
