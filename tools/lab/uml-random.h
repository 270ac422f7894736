/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compiled into the lab's user-mode Linux: what it takes for the host's
 * randomness comes from a generator (xorshift64*) where the environment has
 * NDP_SEED, so that a run in virtual time can be repeated.
 */
static ssize_t seeded_getrandom(void *buf, size_t len, unsigned int flags)
{
	const char *seed = getenv("NDP_SEED");
	static unsigned long long s;
	unsigned char *p = buf;
	size_t i;

	if (!seed)
		return getrandom(buf, len, flags);
	if (!s)
		s = strtoull(seed, NULL, 0) * 0x9e3779b97f4a7c15ULL | 1;
	for (i = 0; i < len; i++) {
		s ^= s >> 12;
		s ^= s << 25;
		s ^= s >> 27;
		p[i] = s * 0x2545f4914f6cdd1dULL >> 56;
	}
	return len;
}
