// SPDX-License-Identifier: GPL-2.0
/*
 * Destinations (address, port, network namespace) that were found to have no NDP: for some time
 * (connect.c) TCP is used at once.  All programs of a user share these by a file in memory;
 * where there can be none, a process shares them with its forked children.
 *
 * Each destination has one place in a table, by its hash, and replaces the destination that had
 * it: the replaced one is tried by NDP again.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "library.h"

#define PLACES		1024

/* The upper half is the destination's hash, the lower half the second of the machine's time
 * until which the entry is valid.
 */
typedef _Atomic __u64 place;
static place *table;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

/* A place of the file without memory behind it would be a fault (SIGBUS) when it is used. */
static bool has_room(int fd)
{
	struct rlimit limit;

	/* A file beyond the limit is a signal, too (SIGXFSZ). */
	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= PLACES * sizeof(place) &&
	       !posix_fallocate(fd, 0, PLACES * sizeof(place));
}

/* A file of another user must not be trusted, and a file of ours that has another name as well
 * must not be overwritten.
 */
static bool is_table(int fd)
{
	struct stat is;

	if (fstat(fd, &is) || !S_ISREG(is.st_mode) || (is.st_mode & 0777) != 0600 ||
	    is.st_uid != geteuid() || is.st_nlink != 1)
		return false;
	return (!is.st_size || is.st_size == PLACES * sizeof(place)) && has_room(fd);
}

static int open_shared(void)
{
	char path[40];
	int fd;

	/* A program with another user's privileges shares nothing by the file system. */
	if (getauxval(AT_SECURE) || getuid() != geteuid())
		return -1;
	snprintf(path, sizeof(path), "/dev/shm/ndp_run.%u", geteuid());
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (!is_table(fd)) {
		NEXT(close)(fd);
		return -1;
	}
	return fd;
}

static void open_table(void)
{
	int fd = open_shared();
	void *map = mmap(NULL, PLACES * sizeof(place), PROT_READ | PROT_WRITE,
			 MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	if (map != MAP_FAILED)
		table = map;
	if (fd >= 0)
		NEXT(close)(fd);
}

static __u32 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec;
}

/* FNV-1a */
static __u64 hash_bytes(__u64 hash, const void *bytes, size_t n)
{
	const __u8 *byte = bytes;

	while (n--)
		hash = (hash ^ *byte++) * 0x100000001b3;
	return hash;
}

static __u64 hash_of(const struct destination *d)
{
	struct stat net = { 0 };
	__u64 hash = 0xcbf29ce484222325;

	stat("/proc/self/ns/net", &net);
	hash = hash_bytes(hash, &net.st_ino, sizeof(net.st_ino));
	hash = hash_bytes(hash, &d->addr, sizeof(d->addr));
	hash = hash_bytes(hash, &d->scope, sizeof(d->scope));
	return hash_bytes(hash, &d->port, sizeof(d->port));
}

/* Return: the destination's place in the table, or NULL without a table.  errno is kept:
 * callers still need it, and there may be no /proc.
 */
static place *place_of(const struct destination *d, __u64 *hash)
{
	int err = errno;

	*hash = hash_of(d);
	pthread_once(&opened, open_table);
	errno = err;
	return table ? &table[*hash % PLACES] : NULL;
}

/**
 * remembered - is a destination known to have no NDP?
 * @d:		destination
 */
bool remembered(const struct destination *d)
{
	__u64 hash, found;
	place *at = place_of(d, &hash);

	if (!at)
		return false;
	found = atomic_load(at);
	return found >> 32 == hash >> 32 && (__u32)found > now();
}

/**
 * remember - store what is known of a destination
 * @d:		destination
 * @seconds:	for this time it has no NDP; 0: forget it
 */
void remember(const struct destination *d, __u32 seconds)
{
	__u64 hash;
	place *at = place_of(d, &hash);

	if (at)
		atomic_store(at, seconds ?
			     (hash & ~(__u64)UINT32_MAX) | (now() + seconds) : 0);
}
