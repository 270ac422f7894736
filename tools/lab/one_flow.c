// SPDX-License-Identifier: GPL-2.0
/*
 * Transfers the same number of bytes repeatedly over one connection, and measures how long each
 * transfer takes and how much of that time the processors are idle.
 *
 * Usage: one_flow receive tcp|light BYTES SLEEP-US
 *	  one_flow send tcp|light BYTES TIMES ADDRESS
 *
 * The receiver reads 64 KB at a time and sleeps for SLEEP-US after each read; it answers each
 * BYTES with one byte.  The sender prints for each transfer: nanoseconds until the answer, and
 * how many of them this machine was idle.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "linux/ndp.h"

#define PORT	5000
#define CHUNK	(64 << 10)

static char data[CHUNK];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int endpoint(const char *kind)
{
	int s = socket(strcmp(kind, "tcp") ? AF_NDP : AF_INET, SOCK_STREAM, 0);

	if (s < 0)
		die(kind);
	if (strcmp(kind, "tcp") && setsockopt(s, SOL_NDP, NDP_TRANSPORT, kind, strlen(kind) + 1))
		die(kind);
	return s;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Idle time of all processors, ns.  /proc/stat has only hundredths of a second. */
static uint64_t idle(void)
{
	FILE *file = fopen("/proc/timer_list", "r");
	unsigned long long one, all = 0;
	char line[256];
	int found = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " .idle_sleeptime : %llu", &one) == 1) {
			all += one;
			found = 1;
		}
	if (!found)
		die("/proc/timer_list");
	fclose(file);
	return all;
}

static void receive(const char *kind, long bytes, long sleep_us)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct timespec rest = {
		.tv_sec = sleep_us / 1000000, .tv_nsec = sleep_us % 1000000 * 1000
	};
	int listener = endpoint(kind), s;
	long got = 0, n;

	/* Sleep no longer than SLEEP-US. */
	prctl(PR_SET_TIMERSLACK, 1);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 1))
		die("listen");
	s = accept(listener, NULL, NULL);
	if (s < 0)
		die("accept");
	while ((n = recv(s, data, bytes - got < CHUNK ? bytes - got : CHUNK, MSG_WAITALL)) > 0) {
		got += n;
		if (got == bytes) {
			got = 0;
			if (send(s, data, 1, 0) != 1)
				die("send");
		} else if (sleep_us) {
			nanosleep(&rest, NULL);
		}
	}
}

static void send_once(int s, long bytes)
{
	uint64_t slept = idle(), began = now();
	long left, n;

	for (left = bytes; left; left -= n) {
		n = send(s, data, left < CHUNK ? left : CHUNK, 0);
		if (n <= 0)
			die("send");
	}
	if (recv(s, data, 1, 0) != 1)
		die("recv");
	began = now() - began;
	printf("%llu %llu\n", (unsigned long long)began, (unsigned long long)(idle() - slept));
}

static void send_all(const char *kind, long bytes, int times, const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int s = endpoint(kind);

	if (!inet_aton(address, &to.sin_addr) || connect(s, (struct sockaddr *)&to, sizeof(to)))
		die(address);
	while (times--)
		send_once(s, bytes);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "receive"))
		receive(argv[2], atol(argv[3]), atol(argv[4]));
	else if (argc == 6 && !strcmp(argv[1], "send"))
		send_all(argv[2], atol(argv[3]), atoi(argv[4]), argv[5]);
	else
		return 2;
	return 0;
}
