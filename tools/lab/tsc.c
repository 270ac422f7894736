// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the rate of this machine's time stamp counter in kHz, measured in a tenth of a second,
 * however busy the machine is.
 *
 * Usage: tsc
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES	1000

struct sample {
	uint64_t ns, cycles;
};

/* Both clocks at one time: of many tries the one that was interrupted least. */
static struct sample take(void)
{
	uint64_t least = UINT64_MAX;
	struct sample best;

	for (int i = 0; i < TRIES; i++) {
		struct timespec now;
		uint64_t before = __rdtsc(), took;

		clock_gettime(CLOCK_MONOTONIC, &now);
		took = __rdtsc() - before;
		if (took >= least)
			continue;
		least = took;
		best.ns = now.tv_sec * 1000000000ull + now.tv_nsec;
		best.cycles = before + took / 2;
	}
	return best;
}

int main(void)
{
	struct timespec tenth = { .tv_nsec = 100000000 };
	struct sample first = take(), last;

	nanosleep(&tenth, NULL);
	last = take();
	printf("%.0f\n", (last.cycles - first.cycles) * 1e6 / (last.ns - first.ns));
}
