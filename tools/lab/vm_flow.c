// SPDX-License-Identifier: GPL-2.0
/*
 * Flows of datagrams between guests of the hypervisor bed, with contents that the receiver can
 * predict and check.
 *
 * Usage: vm_flow send ADDRESS FLOW COUNT SIZE [RATE SECONDS]
 *	  vm_flow receive FILE [COUNT]
 *
 * "send" prints the number of datagrams sent: COUNT, or as many as it could in SECONDS, at most
 * RATE a second (0: as fast as it can).  "receive" ends when it has COUNT datagrams, and prints
 * the nanoseconds since the first; without COUNT it never ends.  At its end, and as soon as no
 * datagram has followed the last one for 100 ms, it writes a line for each flow to FILE: flow,
 * datagrams, how many arrived after a later one, how many had wrong bytes.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define PORT	7000
#define FLOWS	256
#define LONGEST	65000
/* Sleep at a time, ns: under emulation a wakeup for each datagram costs more than sending it. */
#define PORTION	20000000

struct header {
	uint32_t flow;
	uint32_t number;
};

struct flow {
	uint32_t got;
	uint32_t next;
	uint32_t late;
	uint32_t bad;
};

/* Generate the bytes behind the header: xorshift64, seeded by the header. */
static void fill(uint8_t *data, size_t size, struct header h)
{
	uint64_t x = ((uint64_t)h.flow << 32 | h.number) * 0x9e3779b97f4a7c15ull | 1;
	size_t i;

	for (i = 0; i < size; i += sizeof(x)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(data + i, &x, size - i < sizeof(x) ? size - i : sizeof(x));
	}
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Sleep in portions until a datagram is due; those due in the meantime are sent at once. */
static void pace(uint64_t begin, uint32_t number, uint64_t rate)
{
	struct timespec portion = { .tv_nsec = PORTION };

	while (now() < begin + number * 1000000000ull / rate)
		nanosleep(&portion, NULL);
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int send_flow(int s, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	uint32_t count = strtoul(argv[4], NULL, 0), size = strtoul(argv[5], NULL, 0);
	struct header h = { .flow = strtoul(argv[3], NULL, 0) };
	uint64_t rate = argv[6] ? strtoul(argv[6], NULL, 0) : 0;
	uint64_t seconds = argv[6] ? strtoul(argv[7], NULL, 0) : 0;
	uint64_t begin = now(), end = begin + seconds * 1000000000;
	static uint8_t data[LONGEST];

	if (!inet_aton(argv[2], &to.sin_addr) || h.flow >= FLOWS || size < sizeof(h) ||
	    size > LONGEST) {
		fprintf(stderr, "vm_flow: no such address, flow or size\n");
		return 1;
	}
	for (h.number = 0; h.number < count && (!seconds || now() < end); h.number++) {
		if (rate)
			pace(begin, h.number, rate);
		memcpy(data, &h, sizeof(h));
		fill(data + sizeof(h), size - sizeof(h), h);
		if (sendto(s, data, size, 0, (void *)&to, sizeof(to)) < 0)
			return fail("sendto");
	}
	printf("%u\n", h.number);
	return 0;
}

static void take(struct flow *flows, const uint8_t *data, size_t size)
{
	static uint8_t wanted[LONGEST];
	struct header h;
	struct flow *f;

	if (size < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	if (h.flow >= FLOWS)
		return;
	f = &flows[h.flow];
	f->got++;
	if (h.number < f->next)
		f->late++;
	else
		f->next = h.number + 1;
	fill(wanted, size - sizeof(h), h);
	f->bad += !!memcmp(wanted, data + sizeof(h), size - sizeof(h));
}

static int report(const struct flow *flows, const char *path)
{
	char fresh[256];
	FILE *file;
	int i;

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	file = fopen(fresh, "w");
	if (!file)
		return fail(fresh);
	for (i = 0; i < FLOWS; i++)
		if (flows[i].got)
			fprintf(file, "%d %u %u %u\n", i, flows[i].got, flows[i].late,
				flows[i].bad);
	if (fclose(file) || rename(fresh, path))
		return fail(path);
	return 0;
}

static int receive_all(int s, const char *path, uint32_t left)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct timeval patience = { .tv_usec = 100000 };
	struct pollfd arrival = { .fd = s, .events = POLLIN };
	uint64_t first = 0;
	int room = 4 << 20;
	static struct flow flows[FLOWS];
	static uint8_t data[LONGEST];
	ssize_t size;

	if (setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    bind(s, (void *)&here, sizeof(here)))
		return fail("vm_flow");
	for (;;) {
		size = recv(s, data, sizeof(data), 0);
		if (size > 0) {
			if (!first)
				first = now();
			take(flows, data, size);
			if (left && !--left) {
				printf("%" PRIu64 "\n", now() - first);
				return report(flows, path);
			}
		/* With nothing new to report, a wakeup would only slow all guests of the bed. */
		} else if (report(flows, path) || poll(&arrival, 1, -1) < 0) {
			return 1;
		}
	}
}

int main(int argc, char **argv)
{
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	if (s < 0)
		return fail("socket");
	if ((argc == 6 || argc == 8) && !strcmp(argv[1], "send"))
		return send_flow(s, argv);
	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "receive"))
		return receive_all(s, argv[2], argv[3] ? strtoul(argv[3], NULL, 0) : 0);
	fprintf(stderr, "Usage: vm_flow send ADDRESS FLOW COUNT SIZE [RATE SECONDS]\n"
			"       vm_flow receive FILE [COUNT]\n");
	return 1;
}
