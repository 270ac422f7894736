/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for tests of AF_NDP: connections between the ends of a world (worlds.h), sysctls and
 * counters of a namespace.
 */
#ifndef _LIFE_H
#define _LIFE_H

/* AF_NDP over a cable, unless the test asks for other worlds. */
#ifndef NDP_WORLDS
#define NDP_WORLDS IN_WIRE
#endif
#include "worlds.h"

#include <limits.h>

/* A number of rounds, or milliseconds: @n in virtual time, a tenth of that in real time. */
static inline int scaled(int n)
{
	return virtual_time() ? n : n / 10;
}

static inline bool write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	bool ok = file && fputs(text, file) >= 0;

	return file && !fclose(file) && ok;
}

static inline bool write_number(const char *path, long long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", value);
	return write_text(path, text);
}

/* Return: the number in a file, -1 if there is none. */
static inline int read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	int n = -1;

	if (file) {
		if (fscanf(file, "%d", &n) != 1)
			n = -1;
		fclose(file);
	}
	return n;
}

static inline bool set_sysctl(int end, const char *name, int value)
{
	char path[64];

	if (setns(world->ns[end], CLONE_NEWNET))
		return false;
	snprintf(path, sizeof(path), "/proc/sys/net/ndp/%s", name);
	return write_number(path, value);
}

/* Where the counters of new connections begin, e.g. near their wrap; 0: the default. */
static inline bool set_start(unsigned int at)
{
	return write_number("/sys/module/ndp/parameters/start", at);
}

static inline unsigned long long stat_of(int end, const char *name)
{
	unsigned long long value = ULLONG_MAX, v;
	char line[64];
	FILE *file;

	file = setns(world->ns[end], CLONE_NEWNET) ? NULL : fopen("/proc/net/ndp_stat", "r");
	while (file && fscanf(file, "%63s %llu", line, &v) == 2)
		if (!strcmp(line, name))
			value = v;
	if (file)
		fclose(file);
	if (value == ULLONG_MAX) {
		/* ULLONG_MAX would pass for a counter that has risen. */
		printf("# no counter %s\n", name);
		exit(KSFT_FAIL);
	}
	return value;
}

/* Timeout of a wait: five times as long in real time, as only a failure waits to the end. */
static inline int patience(int seconds)
{
	return virtual_time() ? seconds : 5 * seconds;
}

/* Wait until @name is @value in both namespaces. */
static inline bool wait_for_stat(const char *name, unsigned long long value, int seconds)
{
	int i;

	for (i = 0; i < patience(seconds) * 20; i++) {
		if (stat_of(NEAR, name) == value && stat_of(FAR, name) == value)
			return true;
		usleep(50000);
	}
	printf("# %s: near %llu, far %llu\n", name, stat_of(NEAR, name), stat_of(FAR, name));
	return false;
}

/* Wait until @name is more than @before at @end. */
static inline bool wait_for_rise(int end, const char *name, unsigned long long before,
				 int seconds)
{
	int i;

	for (i = 0; i < patience(seconds) * 20; i++) {
		if (stat_of(end, name) > before)
			return true;
		usleep(50000);
	}
	return false;
}

/* Wait until @name is at most @most at @end.  Return: its last value. */
static inline unsigned long long wait_for_most(int end, const char *name,
					       unsigned long long most, int seconds)
{
	unsigned long long value = stat_of(end, name);
	int i;

	for (i = 0; i < seconds * 20 && value > most; i++) {
		usleep(50000);
		value = stat_of(end, name);
	}
	return value;
}

static inline int listening(int backlog)
{
	int l = new_socket(FAR, 0);

	if (l < 0 || bind_to(l, FAR, port) || listen(l, backlog))
		return -1;
	return l;
}

/* A socket that has sent @id to the listener. */
static inline int connect_and_send(int id)
{
	int s = new_socket(NEAR, 0);

	if (s < 0 || connect_to(s, port) || send(s, &id, sizeof(id), MSG_NOSIGNAL) < 0) {
		if (s >= 0)
			close(s);
		return -1;
	}
	return s;
}

/* Accept the next connection and read the @id that its client has sent. */
static inline int let_in(int l, int *id)
{
	int a = accept(l, NULL, NULL);

	if (a >= 0 && recv(a, id, sizeof(*id), MSG_WAITALL) != sizeof(*id)) {
		close(a);
		return -1;
	}
	return a;
}

#endif /* _LIFE_H */
