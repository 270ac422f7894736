// SPDX-License-Identifier: GPL-2.0
/*
 * Carries the frames of virtual machines between servers over TCP: the baseline for zBridge and
 * zCredit (D. Crisan's thesis, section 5.4.1).
 *
 * Usage: tcp_tunnel ADDRESS PORT FILE
 *
 * Lines of FILE: "vm MAC /dev/tapN", a machine of this server behind a zvtap, and "pair MAC MAC
 * ADDRESS", a machine of this server, another machine, and the server that the other one is on.
 * Each pair has a connection.  The end whose machine has the smaller address opens it, and sends
 * both addresses first, the opener's in front.  Then frames follow in both directions, each
 * behind its length in two bytes.  Frames of no pair are dropped.
 *
 * No frame is lost: when a connection cannot take a frame, no more frames are read from the
 * frame's machine until it can, so they wait in the machine's switch; and when a machine's switch
 * has no room, the machine's connections are not read.
 *
 * "ready" is printed when all pairs have their connections.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST		256
#define MAC		6
#define LONGEST		2048
#define BUFFER		(64 << 10)

enum kind { LISTENER, PAIR, VM };

/* Anything that epoll watches */
struct item {
	enum kind kind;
	int fd;
	unsigned int events;
};

struct vm {
	struct item item;
	unsigned char mac[MAC];
	struct pair *full;		/* full connection that the machine waits for */
	int no_room;			/* the switch takes no more */
};

struct pair {
	struct item item;
	struct vm *vm;
	unsigned char other[MAC];
	struct in_addr server;
	unsigned char out[BUFFER + LONGEST + 2], in[BUFFER];
	size_t out_at, out_end, in_at, in_end;
};

static struct vm vms[MOST];
static struct pair *pairs[MOST];
static unsigned int num_vms, num_pairs, open_pairs;
static int epoll;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void watch(struct item *item, unsigned int events)
{
	struct epoll_event event = { .events = events, .data.ptr = item };

	if (item->events != events && epoll_ctl(epoll, EPOLL_CTL_MOD, item->fd, &event))
		die("epoll_ctl");
	item->events = events;
}

static void add(struct item *item, enum kind kind, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = item };

	item->kind = kind;
	item->fd = fd;
	item->events = EPOLLIN;
	if (fcntl(fd, F_SETFL, O_NONBLOCK) || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die("epoll_ctl");
}

static struct pair *find(const unsigned char *mac, const unsigned char *other)
{
	unsigned int i;

	for (i = 0; i < num_pairs; i++)
		if (!memcmp(pairs[i]->vm->mac, mac, MAC) && !memcmp(pairs[i]->other, other, MAC))
			return pairs[i];
	return NULL;
}

static void vm_watch(struct vm *vm)
{
	watch(&vm->item, (vm->full ? 0 : EPOLLIN) | (vm->no_room ? EPOLLOUT : 0));
}

static void opened(struct pair *pair, int fd)
{
	int one = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5))
		die("setsockopt");
	add(&pair->item, PAIR, fd);
	if (++open_pairs == num_pairs) {
		puts("ready");
		fflush(stdout);
	}
}

/* Write the buffered bytes of a pair to its connection. */
static void push(struct pair *pair)
{
	while (pair->out_at < pair->out_end) {
		ssize_t n = write(pair->item.fd, pair->out + pair->out_at,
				  pair->out_end - pair->out_at);

		if (n < 0 && errno == EAGAIN)
			break;
		/* The other server's program has ended: exit as well. */
		if (n < 0)
			exit(0);
		pair->out_at += n;
	}
	if (pair->out_at == pair->out_end) {
		pair->out_at = 0;
		pair->out_end = 0;
	}
	watch(&pair->item, (pair->item.events & EPOLLIN) | (pair->out_end ? EPOLLOUT : 0));
	if (pair->vm->full == pair && pair->out_end < BUFFER) {
		pair->vm->full = NULL;
		vm_watch(pair->vm);
	}
}

/* Read frames of a machine, a limited number, while its connections take them. */
static void from_vm(struct vm *vm)
{
	static unsigned char frame[LONGEST];
	struct pair *changed[64];
	int i, n, frames;

	for (frames = n = 0; frames < 64 && !vm->full; frames++) {
		ssize_t len = read(vm->item.fd, frame, sizeof(frame));
		struct pair *pair;

		if (len < 0 && errno == EAGAIN)
			break;
		if (len < 2 * MAC)
			die("tap");
		pair = find(vm->mac, frame);
		if (!pair || !pair->item.fd)
			continue;
		pair->out[pair->out_end++] = len >> 8;
		pair->out[pair->out_end++] = len;
		memcpy(pair->out + pair->out_end, frame, len);
		pair->out_end += len;
		if (pair->out_end >= BUFFER)
			vm->full = pair;
		for (i = 0; i < n && changed[i] != pair; i++)
			;
		if (i == n)
			changed[n++] = pair;
	}
	vm_watch(vm);
	for (i = 0; i < n; i++)
		push(changed[i]);
}

/* Deliver whole frames that have arrived for a machine.  Return: there was room for all. */
static int deliver(struct pair *pair)
{
	while (pair->in_end - pair->in_at >= 2) {
		const unsigned char *at = pair->in + pair->in_at;
		size_t len = at[0] << 8 | at[1];

		if (pair->in_end - pair->in_at < len + 2)
			break;
		if (write(pair->vm->item.fd, at + 2, len) < 0) {
			if (errno == EAGAIN)
				return 0;
			die("tap");
		}
		pair->in_at += len + 2;
	}
	memmove(pair->in, pair->in + pair->in_at, pair->in_end - pair->in_at);
	pair->in_end -= pair->in_at;
	pair->in_at = 0;
	return 1;
}

static void from_pair(struct pair *pair)
{
	while (deliver(pair)) {
		ssize_t n = read(pair->item.fd, pair->in + pair->in_end, BUFFER - pair->in_end);

		if (n < 0 && errno == EAGAIN) {
			watch(&pair->item, pair->item.events | EPOLLIN);
			return;
		}
		if (n <= 0)
			exit(0);
		pair->in_end += n;
	}
	watch(&pair->item, pair->item.events & ~EPOLLIN);
	pair->vm->no_room = 1;
	vm_watch(pair->vm);
}

/* Read its connections in turn, starting with another one each time there is room. */
static void room_for(struct vm *vm)
{
	static unsigned int first;
	unsigned int i;

	vm->no_room = 0;
	first++;
	for (i = 0; i < num_pairs; i++) {
		struct pair *pair = pairs[(first + i) % num_pairs];

		if (pair->vm == vm && pair->item.fd && !(pair->item.events & EPOLLIN))
			from_pair(pair);
	}
	vm_watch(vm);
}

/* Accept a connection; its opener sends both addresses at once. */
static void accept_one(const struct item *listener)
{
	int fd = accept(listener->fd, NULL, NULL);
	struct pair *pair = NULL;
	unsigned char macs[2 * MAC];

	if (fd >= 0 && recv(fd, macs, sizeof(macs), MSG_WAITALL) == sizeof(macs))
		pair = find(macs + MAC, macs);
	if (!pair)
		die("opening");
	opened(pair, fd);
}

static void get_mac(const char *text, unsigned char *mac)
{
	if (sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac, mac + 1, mac + 2, mac + 3, mac + 4,
		   mac + 5) != MAC)
		die(text);
}

static void read_file(const char *path)
{
	char what[8], a[32], b[64], c[32], line[256];
	FILE *file = fopen(path, "r");
	unsigned int i;

	if (!file)
		die(path);
	while (fgets(line, sizeof(line), file)) {
		struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI };
		int fd, n = sscanf(line, "%7s %31s %63s %31s", what, a, b, c);
		struct pair *pair;

		if (n < 3 || num_vms == MOST || num_pairs == MOST)
			die(line);
		if (n == 3) {
			fd = open(b, O_RDWR);
			if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr))
				die(b);
			get_mac(a, vms[num_vms].mac);
			add(&vms[num_vms++].item, VM, fd);
			continue;
		}
		pair = calloc(1, sizeof(*pair));
		if (!pair || !inet_aton(c, &pair->server))
			die(line);
		pairs[num_pairs++] = pair;
		get_mac(b, pair->other);
		pair->vm = vms;
		for (i = 0; i < num_vms; i++) {
			unsigned char mac[MAC];

			get_mac(a, mac);
			if (!memcmp(vms[i].mac, mac, MAC))
				pair->vm = vms + i;
		}
	}
	fclose(file);
}

static void connect_all(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	unsigned char macs[2 * MAC];
	unsigned int i;

	for (i = 0; i < num_pairs; i++) {
		struct pair *pair = pairs[i];
		int s;

		if (memcmp(pair->vm->mac, pair->other, MAC) > 0)
			continue;
		to.sin_addr = pair->server;
		s = socket(AF_INET, SOCK_STREAM, 0);
		/* The other server's program may not have started yet. */
		while (connect(s, (struct sockaddr *)&to, sizeof(to)))
			usleep(10000);
		memcpy(macs, pair->vm->mac, MAC);
		memcpy(macs + MAC, pair->other, MAC);
		if (write(s, macs, sizeof(macs)) != sizeof(macs))
			die("opening");
		opened(pair, s);
	}
}

static void listen_at(struct item *listener, const char *address, int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);

	if (!inet_aton(address, &at.sin_addr) ||
	    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(s, (struct sockaddr *)&at, sizeof(at)) || listen(s, MOST))
		die(address);
	add(listener, LISTENER, s);
}

static void event(struct item *item, unsigned int events)
{
	switch (item->kind) {
	case LISTENER:
		accept_one(item);
		break;
	case PAIR:
		if (events & EPOLLHUP)
			exit(0);
		if (events & EPOLLOUT)
			push((struct pair *)item);
		if (events & EPOLLIN)
			from_pair((struct pair *)item);
		break;
	case VM:
		if (events & EPOLLOUT)
			room_for((struct vm *)item);
		if (events & EPOLLIN)
			from_vm((struct vm *)item);
		break;
	}
}

int main(int argc, char **argv)
{
	struct epoll_event events[64];
	struct item listener;
	int i, n;

	epoll = epoll_create1(0);
	if (epoll < 0 || argc != 4)
		die("usage: tcp_tunnel ADDRESS PORT FILE");
	listen_at(&listener, argv[1], atoi(argv[2]));
	read_file(argv[3]);
	connect_all(atoi(argv[2]));
	while ((n = epoll_wait(epoll, events, 64, -1)) >= 0 || errno == EINTR)
		for (i = 0; i < n; i++)
			event(events[i].data.ptr, events[i].events);
	die("epoll_wait");
}
