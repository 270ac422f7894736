// SPDX-License-Identifier: GPL-2.0
/*
 * ndp stat: the namespace's counters, from /proc/net/ndp_stat; with an interval, their
 * increase.
 */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ndp.h"

#define N(a)		(sizeof(a) / sizeof(*(a)))

/* Upper bound of the number of counters */
#define COUNTERS	256

struct counter {
	char		name[64];
	long long	value;
};

/* All counters at one time */
struct sample {
	struct counter	counter[COUNTERS];
	unsigned int	n;
	double		at;	/* seconds */
};

static void take(struct sample *s)
{
	FILE *f = fopen(STAT_FILE, "r");
	struct timespec now;

	if (!f)
		errx(EXIT_FAILURE, errno == ENOENT ?
		     "module ndp is not loaded" : STAT_FILE ": %m");
	clock_gettime(CLOCK_MONOTONIC, &now);
	s->at = now.tv_sec + now.tv_nsec / 1e9;
	for (s->n = 0; s->n < COUNTERS; s->n++)
		if (fscanf(f, "%63s %lld", s->counter[s->n].name, &s->counter[s->n].value) != 2)
			break;
	fclose(f);
}

static bool wanted(char **names, const char *name)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

/* End if one of the names is no counter's. */
static void check_names(char **names, const struct sample *s)
{
	unsigned int i;

	for (; *names; names++) {
		for (i = 0; i < s->n && strcmp(*names, s->counter[i].name); i++)
			;
		if (i == s->n)
			errx(EXIT_FAILURE, "no counter has the name %s", *names);
	}
}

/**
 * do_stat - ndp stat [NAME...]
 * @names: the words behind "stat"
 * @zeros: print counters that are 0, too
 */
void do_stat(char **names, bool zeros)
{
	static struct sample s;
	unsigned int i, n = 0;

	take(&s);
	check_names(names, &s);
	if (json)
		putchar('{');
	for (i = 0; i < s.n; i++) {
		const struct counter *c = &s.counter[i];

		if (!wanted(names, c->name) || (!c->value && !zeros && !*names))
			continue;
		if (json)
			printf("%s\"%s\":%lld", n++ ? "," : "", c->name, c->value);
		else
			printf("%-20s %lld\n", c->name, c->value);
	}
	if (json)
		puts("}");
}

/* Is a counter a gauge, which has no rate? */
static bool is_gauge(const char *name)
{
	static const char *const gauges[] = {
		"SockInUse", "Orphans", "Tombstones", "IdlePeers", "MemBytes", "MemPages",
	};
	unsigned int i;

	for (i = 0; i < N(gauges); i++)
		if (!strcmp(name, gauges[i]))
			return true;
	return false;
}

static void print_rate(const struct counter *c, long long change, double seconds, bool first)
{
	bool gauge = is_gauge(c->name);

	if (json) {
		printf("%s\"%s\":{\"value\":%lld,\"change\":%lld", first ? "" : ",", c->name,
		       c->value, change);
		if (!gauge)
			printf(",\"rate\":%.1f", change / seconds);
		putchar('}');
		return;
	}
	printf("%-20s %12lld %+12lld", c->name, c->value, change);
	if (!gauge)
		printf(" %12.1f/s", change / seconds);
	putchar('\n');
}

/* Print the counters that changed between two samples, or were asked for by name. */
static void print_rates(char **names, const struct sample *was, const struct sample *is, bool zeros)
{
	double seconds = is->at - was->at;
	unsigned int i, n = 0;
	long long change;

	printf(json ? "{\"seconds\":%.6f,\"counters\":{" : "# %.3f s\n", seconds);
	for (i = 0; i < is->n && i < was->n; i++) {
		/* Another module may have been loaded meanwhile. */
		if (strcmp(is->counter[i].name, was->counter[i].name))
			continue;
		change = is->counter[i].value - was->counter[i].value;
		if (wanted(names, is->counter[i].name) && (change || zeros || *names))
			print_rate(&is->counter[i], change, seconds, !n++);
	}
	if (json)
		puts("}}");
	if (fflush(stdout))
		errx(EXIT_FAILURE, "cannot write: %m");
}

static void sleep_until(double at)
{
	struct timespec until = { .tv_sec = at };

	until.tv_nsec = (at - until.tv_sec) * 1e9;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/**
 * do_stat_rates - ndp -w SECONDS [-c COUNT] stat [NAME...]
 * @names: the words behind "stat"
 * @zeros: print counters that did not change, too
 * @seconds: interval
 * @count: number of intervals, 0: without end
 */
void do_stat_rates(char **names, bool zeros, double seconds, unsigned long count)
{
	static struct sample samples[2];
	double next;
	unsigned long i;

	take(&samples[0]);
	check_names(names, &samples[0]);
	next = samples[0].at;
	for (i = 1; !count || i <= count; i++) {
		/* The time of printing does not add to the intervals. */
		next += seconds;
		sleep_until(next);
		take(&samples[i & 1]);
		print_rates(names, &samples[~i & 1], &samples[i & 1], zeros);
	}
}
