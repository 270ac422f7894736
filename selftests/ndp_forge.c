// SPDX-License-Identifier: GPL-2.0
/*
 * Sends forged AF_NDP packets, for tests of how a receiver handles them.
 *
 *	ndp_forge [-a] [-c CONN-ID] [-i PORT] [-n COPIES] [-p PSN] [-s ADDRESS]
 *		WHAT ADDRESS PORT
 *
 * Sends to the NDP port PORT and prints how many packets it sent.  WHAT:
 *
 *	open		a whole connection's only data packet (SYN, LAST)
 *	short		that packet, cut at every length within the header, its UDP
 *			length to match
 *	trimmed		DATA, cut at every length behind the header
 *	long		the opening, with 1 to 64 bytes too many
 *	check		each bit of the header flipped, checksum left alone
 *	version		all other versions
 *	type		all types, none of them with SYN
 *	length		all control types with more behind the header, FIN with a length
 *	transport	openings with transports that do not exist
 *	claim		DATA whose length field is wrong
 *	flags		all combinations of flags but SYN, in DATA of no connection
 *	bounced		each type with BOUNCED
 *	psn		DATA of the connection with another first PSN than its own
 *	window		DATA far ahead of the window and far behind
 *	pull		ACKs of packets never sent, whose pull counters jump
 *	flood		openings with connection ids and addresses of 10.99.0.0/16 at random,
 *			DATA without LAST
 *	cookie		cookies that were never issued
 *
 * -a: send as the acceptor; -c, -i, -p: connection id, initiator's port and first PSN of a
 * connection that exists; -s: from this address.  RST and valid answers are not forged: with the
 * right id the receiver must trust them.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire.h"

#define PAYLOAD		64
#define WHOLE		(HDR_LEN + CRC_LEN + PAYLOAD)

static int sock;
static int sent;
static __u32 saddr, daddr;
static __u16 port, initiator = 40000;
static __u64 conn_id = 0x1234567890abcdefULL;
static __u32 isn = 1000;
static bool acceptor;

static __u32 pseudo(void)
{
	__u32 s = ntohl(saddr), d = ntohl(daddr);

	return (s >> 16) + (s & 0xffff) + (d >> 16) + (d & 0xffff);
}

static struct header make(int type, int flags)
{
	struct header h = {
		.vdt = VERSION << 5 | (acceptor ? FROM_ACCEPTOR : 0) | type,
		.flags = flags,
		.sport = htons(acceptor ? port : initiator),
		.dport = htons(acceptor ? initiator : port),
		.conn_id = htobe64(conn_id),
		.psn = htonl(isn),
		.window = htonl(1 << 20),
	};

	return h;
}

/* Send @len bytes of header, CRC and payload; with @sum the checksum is computed first. */
static void emit(struct header h, bool sum, int len)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = daddr };
	struct iphdr ip = {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
		.saddr = saddr, .daddr = daddr, .tos = DSCP_DATA << 2,
	};
	struct udphdr udp = {
		.source = htons(50000), .dest = htons(UDP_PORT),
		.len = htons(sizeof(udp) + len),
	};
	int total = sizeof(ip) + sizeof(udp) + len;
	__u8 packet[512], *payload;
	__u32 crc;

	if (sum) {
		h.check = 0;
		h.check = htons(fold(&h, sizeof(h), pseudo()));
	}
	memcpy(packet, &ip, sizeof(ip));
	memcpy(packet + sizeof(ip), &udp, sizeof(udp));
	memcpy(packet + sizeof(ip) + sizeof(udp), &h, sizeof(h));
	payload = packet + sizeof(ip) + sizeof(udp) + sizeof(h) + sizeof(crc);
	memset(payload, 'f', packet + sizeof(packet) - payload);
	crc = htonl(crc32c(payload, PAYLOAD));
	memcpy(payload - sizeof(crc), &crc, sizeof(crc));
	if (sendto(sock, packet, total, 0, (struct sockaddr *)&to, sizeof(to)) != total)
		err(1, "sendto");
	sent++;
}

static struct header data(int flags)
{
	struct header h = make(DATA, flags);

	h.len = htons(PAYLOAD);
	return h;
}

static void forge_open(void)
{
	emit(data(SYN | LAST), true, WHOLE);
}

static void forge_short(void)
{
	for (int len = 0; len < HDR_LEN; len++)
		emit(data(SYN | LAST), true, len);
}

/* A length between the header's and the whole packet's is that of a trimmed packet. */
static void forge_trimmed(void)
{
	for (int len = HDR_LEN; len < WHOLE; len++)
		emit(data(0), true, len);
}

static void forge_long(void)
{
	for (int len = WHOLE + 1; len <= WHOLE + 64; len++)
		emit(data(SYN | LAST), true, len);
}

static void forge_check(void)
{
	struct header h = data(SYN | LAST);

	h.check = htons(fold(&h, sizeof(h), pseudo()));
	/* Leave out the version, which is checked before the checksum. */
	for (int bit = 0; bit < HDR_LEN * 8; bit++) {
		struct header bad = h;

		if (bit >= 5 && bit < 8)
			continue;
		((__u8 *)&bad)[bit / 8] ^= 1 << bit % 8;
		emit(bad, false, WHOLE);
	}
}

static void forge_version(void)
{
	for (int version = 0; version < 8; version++) {
		struct header h = data(SYN | LAST);

		h.vdt = version << 5 | DATA;
		if (version != VERSION)
			emit(h, true, WHOLE);
	}
}

static void forge_type(void)
{
	for (int type = 0; type < TYPES; type++)
		emit(make(type, 0), true, HDR_LEN);
}

static void forge_length(void)
{
	struct header h = make(FIN, SYN);

	for (int type = ACK; type <= SIGNAL; type++)
		if (type != FIN)
			emit(make(type, 0), true, WHOLE);
	emit(h, true, WHOLE);
	h.len = htons(PAYLOAD);
	emit(h, true, WHOLE);
}

/* DATA with another length field counts as trimmed, or is longer than it claims. */
static void forge_claim(void)
{
	for (int bit = 0; bit < 16; bit++) {
		struct header h = data(0);

		h.len = htons(PAYLOAD ^ 1 << bit);
		emit(h, true, WHOLE);
	}
}

static void forge_flags(void)
{
	for (int flags = 0; flags < 256; flags += 2)
		emit(data(flags), true, WHOLE);
}

static void forge_bounced(void)
{
	for (int type = DATA; type <= COOKIE; type++)
		emit(make(type, SYN | BOUNCED), true, HDR_LEN);
}

/* A first PSN that is not the connection's, however near. */
static void forge_psn(void)
{
	for (int bit = 0; bit < 32; bit++) {
		struct header h = data(0);

		h.psn = htonl(isn + (1U << bit));
		emit(h, true, WHOLE);
	}
}

static void forge_window(void)
{
	for (int bit = 20; bit < 32; bit++) {
		struct header h = data(0);

		h.psn = htonl(isn + (1U << bit));
		h.psn_off = htonl(1U << bit);
		emit(h, true, WHOLE);
	}
}

static void forge_pull(void)
{
	for (int bit = 20; bit < 31; bit++) {
		struct header h = make(ACK, HAS_PULL);

		h.psn = htonl(isn - 100000);
		h.psn_off = htonl(1U << bit);
		emit(h, true, HDR_LEN);
	}
}

static void forge_flood(void)
{
	conn_id = random() ^ (__u64)random() << 32;
	saddr = htonl(0x0a630000 | (random() & 0xffff));
	emit(data(SYN), true, WHOLE);
}

/* Transports that do not exist: no module is loaded because a peer asks for it. */
static void forge_transport(void)
{
	for (int id = 1; id < 256; id++) {
		struct header h = data(SYN | LAST);

		h.psn_off = htonl(id << 24);
		emit(h, true, WHOLE);
	}
}

static void forge_cookie(void)
{
	struct header h = make(COOKIE, SYN);

	for (int bit = 0; bit < 64; bit++) {
		h.psn_off = htonl(bit < 32 ? 1U << bit : 0);
		h.window = htonl(bit < 32 ? 0 : 1U << (bit - 32));
		emit(h, true, HDR_LEN);
	}
}

static const struct {
	const char *name;
	void (*forge)(void);
} kinds[] = {
	{ "open", forge_open },
	{ "short", forge_short },
	{ "trimmed", forge_trimmed },
	{ "long", forge_long },
	{ "check", forge_check },
	{ "version", forge_version },
	{ "type", forge_type },
	{ "length", forge_length },
	{ "transport", forge_transport },
	{ "claim", forge_claim },
	{ "flags", forge_flags },
	{ "bounced", forge_bounced },
	{ "psn", forge_psn },
	{ "window", forge_window },
	{ "pull", forge_pull },
	{ "flood", forge_flood },
	{ "cookie", forge_cookie },
};

int main(int argc, char **argv)
{
	int opt, copies = 1;
	size_t i;

	saddr = htonl(0x0a000001);
	while ((opt = getopt(argc, argv, "ac:i:n:p:s:")) != -1) {
		switch (opt) {
		case 'a':
			acceptor = true;
			break;
		case 'c':
			conn_id = strtoull(optarg, NULL, 0);
			break;
		case 'i':
			initiator = atoi(optarg);
			break;
		case 'n':
			copies = atoi(optarg);
			break;
		case 'p':
			isn = strtoul(optarg, NULL, 0);
			break;
		case 's':
			saddr = inet_addr(optarg);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 3)
		errx(2, "usage: see the head of ndp_forge.c");
	daddr = inet_addr(argv[optind + 1]);
	port = atoi(argv[optind + 2]);
	sock = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (sock < 0)
		err(1, "socket");
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, argv[optind]))
			break;
	if (i == sizeof(kinds) / sizeof(*kinds))
		errx(2, "no such kind: %s", argv[optind]);
	while (copies--)
		kinds[i].forge();
	printf("%d\n", sent);
	return 0;
}
