/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cable with the test in its middle: two namespaces with a tun device each.  Packets that one
 * namespace sends arrive at the test, which forwards, changes, delays or drops them.
 */
#ifndef _MIDDLE_H
#define _MIDDLE_H

/* None of the worlds of worlds.h is needed. */
#define NDP_WORLDS 0
#include "life.h"
#include "wire.h"

#include <linux/if_tun.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <time.h>

#define MOST_LATE	1024
#define MOST_BYTES	2048

struct packet {
	int	from;			/* its sender's end: NEAR or FAR */
	int	len;
	__u64	due;
	__u8	data[MOST_BYTES];	/* from the IP header on */
};

static struct world middle[2];		/* one for each address family, in the same namespaces */
static int tun[2];
/* Packets under way, to arrive when they are due. */
static struct packet *late[MOST_LATE];
static int n_late;

/* Called for each packet that an end sends; it calls deliver() for those that shall arrive. */
static void (*meddle)(struct packet *p);

static inline __u64 now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

static inline bool is_ip6(const struct packet *p)
{
	return p->data[0] >> 4 == 6;
}

static inline int ip_len(const struct packet *p)
{
	return is_ip6(p) ? sizeof(struct ip6_hdr) : sizeof(struct iphdr);
}

static inline struct udphdr *udp_of(struct packet *p)
{
	return (struct udphdr *)(p->data + ip_len(p));
}

static inline struct header *ndp_of(struct packet *p)
{
	return (struct header *)(udp_of(p) + 1);
}

static inline int ndp_type(struct packet *p)
{
	return ndp_of(p)->vdt & 15;
}

/* Bytes behind the UDP header. */
static inline int ndp_len(struct packet *p)
{
	return p->len - ip_len(p) - (int)sizeof(struct udphdr);
}

static inline bool has_payload(struct packet *p)
{
	return ndp_type(p) == DATA && ndp_len(p) > HDR_LEN + CRC_LEN;
}

static inline __u16 acceptor_port(struct packet *p)
{
	const struct header *h = ndp_of(p);

	return ntohs(h->vdt & FROM_ACCEPTOR ? h->sport : h->dport);
}

static inline int dscp_of(struct packet *p)
{
	const struct ip6_hdr *ip6 = (void *)p->data;

	return is_ip6(p) ? ntohl(ip6->ip6_flow) >> 22 & 63 : p->data[1] >> 2;
}

/* Recompute the checksum of an IPv4 header. */
static inline void seal_ip(struct packet *p)
{
	struct iphdr *ip = (void *)p->data;

	if (is_ip6(p))
		return;
	ip->check = 0;
	ip->check = htons(fold(ip, sizeof(*ip), 0));
}

/* Recompute the checksum of the NDP header. */
static inline void seal(struct packet *p)
{
	struct header *h = ndp_of(p);
	int at = is_ip6(p) ? 8 : 12, len = is_ip6(p) ? 32 : 8;
	__u32 sum = (__u16)~fold(p->data + at, len, 0);

	h->check = 0;
	h->check = htons(fold(h, HDR_LEN, sum));
}

static inline void set_dscp(struct packet *p, int dscp)
{
	struct ip6_hdr *ip6 = (void *)p->data;
	__u32 flow = ntohl(ip6->ip6_flow);

	if (is_ip6(p))
		ip6->ip6_flow = htonl((flow & ~(63U << 22)) | (__u32)dscp << 22);
	else
		p->data[1] = (p->data[1] & 3) | dscp << 2;
	seal_ip(p);
}

/* Cut or extend with zeros to @len bytes behind the UDP header, and set all length fields. */
static inline void resize(struct packet *p, int len)
{
	int total = ip_len(p) + sizeof(struct udphdr) + len;

	if (total > p->len)
		memset(p->data + p->len, 0, total - p->len);
	p->len = total;
	udp_of(p)->len = htons(sizeof(struct udphdr) + len);
	if (is_ip6(p))
		((struct ip6_hdr *)p->data)->ip6_plen = udp_of(p)->len;
	else
		((struct iphdr *)p->data)->tot_len = htons(total);
	seal_ip(p);
}

/* Trim as a switch does. */
static inline void trim(struct packet *p)
{
	resize(p, HDR_LEN + CRC_LEN);
	set_dscp(p, DSCP_TRIMMED);
}

/* Swap the addresses, so that the packet returns to its sender. */
static inline void turn_round(struct packet *p)
{
	int len = is_ip6(p) ? 16 : 4;
	__u8 *at = p->data + (is_ip6(p) ? 8 : 12), saddr[16];

	memcpy(saddr, at, len);
	memcpy(at, at + len, len);
	memcpy(at + len, saddr, len);
	p->from = !p->from;
}

static inline void arrive(const struct packet *p)
{
	/* A device that is down refuses packets, as any device does malformed ones. */
	if (write(tun[!p->from], p->data, p->len) < 0 && errno != EIO && errno != EINVAL)
		printf("# a packet of %d bytes: %s\n", p->len, strerror(errno));
}

/* NDP sends long packets in fragments when it suspects that the path loses them. */
static inline bool is_fragment(const struct packet *p)
{
	if (is_ip6(p))
		return ((struct ip6_hdr *)p->data)->ip6_nxt == IPPROTO_FRAGMENT;
	return ((struct iphdr *)p->data)->frag_off & htons(0x3fff);
}

/*
 * Read the next unfragmented NDP packet that @end has sent.  Fragments are delivered at once,
 * packets of other protocols are dropped.  Return: was there one?
 */
static inline bool next_packet(int end, struct packet *p)
{
	for (;;) {
		p->from = end;
		p->len = read(tun[end], p->data, sizeof(p->data));
		if (p->len <= 0)
			return false;
		if (is_fragment(p))
			arrive(p);
		else if (ndp_len(p) >= HDR_LEN && udp_of(p)->dest == htons(UDP_PORT))
			return true;
	}
}

/* Deliver to the other end in @us.  Return: false if too many packets are under way. */
static inline bool deliver(const struct packet *p, unsigned int us)
{
	struct packet *copy;

	if (n_late == MOST_LATE)
		return false;
	copy = malloc(sizeof(*copy));
	*copy = *p;
	copy->due = now_us() + us;
	late[n_late++] = copy;
	return true;
}

static inline void pass(struct packet *p)
{
	deliver(p, 0);
}

/* Deliver packets that are due, the earliest first.  Return: us until the next one is due. */
static inline unsigned int arrivals(unsigned int most)
{
	for (;;) {
		__u64 now = now_us();
		int i, first = 0;

		for (i = 1; i < n_late; i++)
			if (late[i]->due < late[first]->due)
				first = i;
		if (!n_late || late[first]->due > now + most)
			return most;
		if (late[first]->due > now)
			return late[first]->due - now;
		arrive(late[first]);
		free(late[first]);
		n_late--;
		memmove(late + first, late + first + 1, (n_late - first) * sizeof(*late));
	}
}

/* Deliver what is due, then wait until a packet is sent or due, @us at most. */
static inline void await_packets(unsigned int us)
{
	struct pollfd p[2] = {
		{ .fd = tun[NEAR], .events = POLLIN }, { .fd = tun[FAR], .events = POLLIN },
	};
	struct timespec t;

	us = arrivals(us);
	t.tv_sec = us / 1000000;
	t.tv_nsec = us % 1000000 * 1000;
	ppoll(p, 2, &t, NULL);
}

/* Handle all packets that were sent, then wait, @us at most.  Return: were there any? */
static inline bool forward_packets(unsigned int us)
{
	struct packet packet;
	bool came = false;
	int end;

	for (end = NEAR; end <= FAR; end++)
		while (next_packet(end, &packet)) {
			came = true;
			meddle(&packet);
		}
	await_packets(us);
	return came;
}

static inline void forward_packets_for(unsigned int ms)
{
	__u64 now = now_us(), end = now + ms * 1000ULL;

	for (; now < end; now = now_us())
		forward_packets(end - now);
}

/*
 * Forward packets until no more are sent.  In real time some looks must find none as well: a test
 * that is not scheduled for long misses one look, not the packets of the next.
 */
static inline void settle(void)
{
	const int quiet = virtual_time() ? 1 : 20;	/* number of looks, and ms */
	__u64 last = now_us(), end = last + 1000000;
	int looks, empty = 0;

	for (looks = 0; now_us() < end || looks < 1000; looks++) {
		if (empty >= quiet && now_us() - last >= quiet * 1000ULL)
			return;
		empty++;
		if (forward_packets(1000)) {
			last = now_us();
			empty = 0;
		}
	}
}

/*
 * Forward packets until @is_so(@s), which is checked each @us.  Long after the last packet it is
 * checked only each 64th of the time since then: a minute in steps of a millisecond costs seconds
 * of a processor.
 * Return: is it?
 */
static inline bool forward_until_each(bool (*is_so)(int s), int s, int seconds, unsigned int us)
{
	__u64 now = now_us(), last = now, end = now + patience(seconds) * 1000000ULL;

	for (; !is_so(s); now = now_us()) {
		if (now > end)
			return false;
		if (forward_packets(us))
			last = now;
		else if (now - last > 64 * us)
			await_packets((now - last) / 64);
	}
	return true;
}

static inline bool forward_until(bool (*is_so)(int s), int s, int seconds)
{
	return forward_until_each(is_so, s, seconds, 1000);
}

static inline bool is_readable(int s)
{
	return events_now(s) & POLLIN;
}

/*
 * Open a listener at the far end and a connection to it, which is accepted and carries a byte.
 * @transport: the connection's, NULL for the near end's default.  Return: did it work?
 */
static inline bool open_connection(const char *transport, int *l, int *s, int *a)
{
	char byte;

	*l = new_socket(FAR, 0);
	if (bind_to(*l, FAR, port) || listen(*l, 4))
		return false;
	*s = new_socket(NEAR, 0);
	if (transport && setsockopt(*s, SOL_NDP, NDP_TRANSPORT, transport, strlen(transport)))
		return false;
	if (connect_to(*s, port) || send(*s, "x", 1, 0) != 1 ||
	    !forward_until(is_readable, *l, 10))
		return false;
	*a = accept(*l, NULL, NULL);
	return *a >= 0 && forward_until(is_readable, *a, 10) && recv(*a, &byte, 1, 0) == 1;
}

/* Let the sender measure the round trip, then wait until its other estimates have expired. */
static inline bool warm_up(int s, int a)
{
	char byte;
	int i;

	for (i = 0; i < 20; i++) {
		if (send(s, "x", 1, 0) != 1 || !forward_until(is_readable, a, 10) ||
		    recv(a, &byte, 1, 0) != 1)
			return false;
		settle();
	}
	forward_packets_for(50);
	return true;
}

static inline bool has_error(int s)
{
	return events_now(s) & POLLERR;
}

/* Forward packets until @name is @value in both namespaces.  Return: is it? */
static inline bool forward_until_stat(const char *name, unsigned long long value, int seconds)
{
	__u64 end = now_us() + patience(seconds) * 1000000ULL;

	while (now_us() < end) {
		if (stat_of(NEAR, name) == value && stat_of(FAR, name) == value)
			return true;
		forward_packets_for(100);
	}
	printf("# %s: near %llu, far %llu\n", name, stat_of(NEAR, name), stat_of(FAR, name));
	return false;
}

static inline int open_tun(int mtu)
{
	struct ifreq ifr = { .ifr_name = "tun0", .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr)) {
		printf("# /dev/net/tun: %s\n", strerror(errno));
		return -1;
	}
	shell("ip link set tun0 mtu %d txqueuelen 1000 up", mtu);
	/* The device has no link rate of its own. */
	shell("sysctl -qw net.ndp.pull_rate_mbit=1000");
	return fd;
}

/*
 * An IPv6 address is tentative until a worker of the kernel has run, and packets to it are lost
 * until then.  Wait for that.  Return: can the address be used?
 */
static inline bool address_works(const char *address)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6 };
	int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), i;
	bool ok = false;

	inet_pton(AF_INET6, address, &sin6.sin6_addr);
	for (i = 0; i < patience(10) * 1000 && !ok; i++) {
		ok = !bind(s, (struct sockaddr *)&sin6, sizeof(sin6));
		if (!ok)
			usleep(1000);
	}
	close(s);
	return ok;
}

/* Context: the test's own process.  Return: 0, or -1 if there is no such cable. */
static inline int lay_middle(int mtu)
{
	static const char *const addresses[2][2] = {
		{ "10.0.0.1", "10.0.0.2" }, { "fd00::1", "fd00::2" },
	};
	int end, six;

	shell("modprobe -qa tun ndp");
	for (end = NEAR; end <= FAR; end++) {
		int ns = new_ns();

		tun[end] = open_tun(mtu);
		if (ns < 0 || tun[end] < 0)
			return -1;
		for (six = 0; six < 2; six++) {
			middle[six].wire = true;
			middle[six].family = six ? AF_INET6 : AF_INET;
			middle[six].ns[end] = ns;
			middle[six].address[end] = addresses[six][end];
			shell("ip address add %s/%d dev tun0 %s", addresses[six][end],
			      six ? 64 : 24, six ? "nodad" : "");
		}
		if (!address_works(addresses[1][end]))
			return -1;
	}
	meddle = pass;
	signal(SIGPIPE, SIG_IGN);
	ndp = true;
	world = &middle[0];
	port = 5000;
	return 0;
}

#endif /* _MIDDLE_H */
