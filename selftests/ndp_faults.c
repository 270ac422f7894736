// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP when allocations fail: the kernel's fault injection fails allocations of the module, the
 * n-th of a system call for each n, and a percentage of those for packets.  Calls return an error
 * or do without, data that was sent arrives, and nothing is left.
 *
 * Needs CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC and CONFIG_FAULT_INJECTION_DEBUG_FS.
 */
#include "life.h"

#include <sys/syscall.h>
#include <sys/utsname.h>

#define FAULTS	"/sys/kernel/debug/"

/* Write @value to file @name of @kind, failslab or fail_page_alloc. */
static bool set_fault(const char *kind, const char *name, const char *value)
{
	char path[96];

	snprintf(path, sizeof(path), FAULTS "%s/%s", kind, name);
	return write_text(path, value);
}

static const char *const kinds[] = { "failslab", "fail_page_alloc" };

/* The addresses of the kernel's function @name, or, if that is NULL, of the module's code. */
static bool find_code(const char *name, unsigned long *begin, unsigned long *end)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[256], type, symbol[128], module[64];
	unsigned long at;
	int n;

	*begin = ULONG_MAX;
	*end = 0;
	while (file && fgets(line, sizeof(line), file)) {
		n = sscanf(line, "%lx %c %127s [%63[^]]]", &at, &type, symbol, module);
		if (n < 3 || !strchr("tT", type))
			continue;
		if (name ? strcmp(symbol, name) : n < 4 || strcmp(module, "ndp"))
			continue;
		*begin = at < *begin ? at : *begin;
		*end = at > *end ? at : *end;
	}
	if (file)
		fclose(file);
	/* The end of the last function is not known. */
	*end += 1024;
	return *begin < *end;
}

/* Fail allocations with an address of this range in their stack (reject: without one). */
static bool set_code(const char *which, unsigned long begin, unsigned long end)
{
	char name[32], text[32];
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(name, sizeof(name), "%s-start", which);
		snprintf(text, sizeof(text), "%#lx", begin);
		ok &= set_fault(kinds[i], name, text);
		snprintf(name, sizeof(name), "%s-end", which);
		snprintf(text, sizeof(text), "%#lx", end);
		ok &= set_fault(kinds[i], name, text);
	}
	return ok;
}

static bool set_percent(const char *percent)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		ok &= set_fault(kinds[i], "probability", percent);
	return ok;
}

/*
 * Fail @percent of the module's allocations, whatever context they are made in.  kmemleak allocates
 * an object of its own for each of them, does without it, and would use up every second number when
 * the n-th is to fail.
 */
static bool faults(const char *percent)
{
	unsigned long begin, end;

	/* First fail none: without bounds the whole kernel's allocations would fail. */
	if (!set_percent("0"))
		return false;
	if (find_code("kmemleak_alloc", &begin, &end) && !set_code("reject", begin, end))
		return false;
	return find_code(NULL, &begin, &end) && set_code("require", begin, end) &&
	       set_percent(percent);
}

/* Kernels before 6.3 cannot aim faults at a module on x86-64. */
static bool can_aim(void)
{
	return set_fault(kinds[0], "stacktrace-depth", "32");
}

FIXTURE(faults) { };

FIXTURE_SETUP(faults)
{
	size_t i;

	world = &worlds[1][WIRE];
	ndp = true;
	port = 7000;
	if (!can_aim())
		SKIP(return, "no FAULT_INJECTION_STACKTRACE_FILTER");
	ASSERT_EQ(shell("modprobe ndp"), 0);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		ASSERT_TRUE(set_fault(kinds[i], "verbose", "0"));
		ASSERT_TRUE(set_fault(kinds[i], "times", "-1"));
		ASSERT_TRUE(set_fault(kinds[i], "interval", "1"));
		ASSERT_TRUE(set_fault(kinds[i], "stacktrace-depth", "32"));
		ASSERT_TRUE(set_fault(kinds[i], "ignore-gfp-wait", "N"));
	}
	ASSERT_TRUE(set_fault("fail_page_alloc", "min-order", "0"));
	ASSERT_TRUE(faults("0"));
}

FIXTURE_TEARDOWN(faults)
{
	if (!can_aim())
		return;
	EXPECT_TRUE(faults("0"));
	EXPECT_TRUE(wait_for_stat("SockInUse", 0, 100));
	EXPECT_TRUE(wait_for_stat("MemBytes", 0, 5));
}

/*
 * The n-th of the allocations that the module makes for this thread fails, for each n until a call
 * has no n-th one.
 */

static int fail_nth = -1;

static void order_fault(int n)
{
	char text[16];

	if (fail_nth < 0)
		fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	snprintf(text, sizeof(text), "%d", n);
	if (pwrite(fail_nth, text, strlen(text), 0) < 0)
		perror("# fail-nth");
}

/* End the order.  Return: the rest of n, 0 if an allocation has failed. */
static int fault_left(void)
{
	int error = errno;
	char text[16] = "";

	if (pread(fail_nth, text, sizeof(text) - 1, 0) < 0)
		perror("# fail-nth");
	order_fault(0);
	errno = error;
	return atoi(text);
}

static bool short_of_memory(int error)
{
	return error == ENOMEM || error == ENOBUFS || error == EAGAIN;
}

TEST_F_TIMEOUT(faults, each_allocation_of_a_socket, 400)
{
	int n, s, refused = 0, left = 0;

	ASSERT_EQ(setns(world->ns[NEAR], CLONE_NEWNET), 0);
	for (n = 1; !left; n++) {
		int error;

		order_fault(n);
		s = socket(AF_NDP, SOCK_STREAM, 0);
		error = errno;
		left = fault_left();
		if (s < 0) {
			ASSERT_TRUE(short_of_memory(error) || error == ENFILE) {
				TH_LOG("%s", strerror(error));
			}
			refused++;
		} else {
			close(s);
		}
	}
	printf("# %d allocations, %d refusals\n", n - 2, refused);
	EXPECT_GT(refused, 0);
}

/* Accept the next connection that has sent a byte: one that could not send was closed again. */
static int let_in_speaker(int l)
{
	char byte;
	int a;

	while (until(l, POLLIN)) {
		a = accept(l, NULL, NULL);
		if (a >= 0 && recv(a, &byte, 1, 0) == 1 && byte == 'x')
			return a;
		if (a < 0)
			break;
		close(a);
	}
	return -1;
}

/* Each allocation of connect() and send() fails: they return an error or do without. */
TEST_F_TIMEOUT(faults, each_allocation_of_a_client, 400)
{
	int l = listening(8), n, refused = 0, left = 0;

	ASSERT_GE(l, 0);
	for (n = 1; !left; n++) {
		int s = new_socket(NEAR, 0), a, error;
		bool ok;

		ASSERT_GE(s, 0);
		order_fault(n);
		ok = !connect_to(s, port) && send(s, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
		error = errno;
		left = fault_left();
		if (!ok) {
			ASSERT_TRUE(short_of_memory(error)) TH_LOG("%s", strerror(error));
			refused++;
			/* The calls may be repeated. */
			connect_to(s, port);
			ASSERT_EQ(send(s, "x", 1, MSG_NOSIGNAL), 1);
		}
		a = let_in_speaker(l);
		ASSERT_GE(a, 0);
		close(a);
		close(s);
	}
	printf("# %d allocations, %d refusals\n", n - 2, refused);
	EXPECT_GT(refused, 0);
	close(l);
}

/* No memory for the opening of a client that neither writes nor waits: it is sent later. */
TEST_F_TIMEOUT(faults, opening_without_memory, 400)
{
	int l = listening(8), s = new_socket(NEAR, 0);

	ASSERT_GE(l, 0);
	ASSERT_GE(s, 0);
	/* The opening is sent after a millisecond; the next calls take no virtual time. */
	if (!virtual_time())
		SKIP(goto end, "the opening may leave before memory fails");
	ASSERT_EQ(connect_to(s, port), 0);
	ASSERT_TRUE(faults("100"));
	usleep(20000);
	ASSERT_TRUE(faults("0"));
	EXPECT_FALSE(events_now(l) & POLLIN);
	usleep(500000);
	EXPECT_TRUE(events_now(l) & POLLIN);
end:
	close(s);
	close(l);
}

/* A namespace is made whole or not at all. */
TEST_F_TIMEOUT(faults, allocations_of_a_namespace, 400)
{
	int n, refused = 0, left = 0;

	for (n = 1; !left; n++) {
		order_fault(n);
		if (unshare(CLONE_NEWNET)) {
			EXPECT_TRUE(short_of_memory(errno)) TH_LOG("%s", strerror(errno));
			refused++;
		}
		left = fault_left();
	}
	printf("# %d allocations, %d refusals\n", n - 2, refused);
	/*
	 * ndp_stat, the sysctl table and its registration; page allocations may hide one of these.
	 */
	EXPECT_GE(refused, 2);
	ASSERT_EQ(unshare(CLONE_NEWNET), 0);
	EXPECT_GE(socket(AF_NDP, SOCK_STREAM, 0), 0);
}

/* Bytes that are sent both ways at once, and must arrive in order */
#define MANY	(4 << 20)

static bool send_many(int fd)
{
	static char data[30000];
	size_t at, i, part;
	ssize_t n;

	for (at = 0; at < MANY; at += n) {
		part = MANY - at < sizeof(data) ? MANY - at : sizeof(data);
		for (i = 0; i < part; i++)
			data[i] = byte_at(at + i);
		n = send(fd, data, part, MSG_NOSIGNAL);
		/* No byte was accepted: try again. */
		if (n < 0 && !short_of_memory(errno))
			return false;
		n = n < 0 ? 0 : n;
	}
	return true;
}

static size_t receive_many(int fd)
{
	static char data[30000];
	size_t at = 0;
	ssize_t n, i;

	while (at < MANY && (n = recv(fd, data, sizeof(data), 0)) > 0) {
		for (i = 0; i < n; i++)
			if (data[i] != byte_at(at + i))
				return at;
		at += n;
	}
	return at;
}

TEST_F_TIMEOUT(faults, packets, 400)
{
	unsigned long long before = stat_of(FAR, "DropMemory") + stat_of(NEAR, "DropMemory") +
				    stat_of(NEAR, "Timeouts") + stat_of(FAR, "Timeouts");
	int l = listening(8), s, a, id;

	ASSERT_GE(l, 0);
	s = connect_and_send(7);
	ASSERT_GE(s, 0);
	a = let_in(l, &id);
	ASSERT_GE(a, 0);
	ASSERT_TRUE(faults("5"));
	if (!fork())
		_exit(!send_many(s));
	if (!fork())
		_exit(!send_many(a));
	if (!fork())
		_exit(receive_many(s) != MANY);
	EXPECT_EQ(receive_many(a), MANY);
	EXPECT_EQ(all_well(3), 3);
	EXPECT_TRUE(faults("0"));
	EXPECT_GT(stat_of(FAR, "DropMemory") + stat_of(NEAR, "DropMemory") +
		  stat_of(NEAR, "Timeouts") + stat_of(FAR, "Timeouts"), before);
	close(s);
	close(a);
	close(l);
}

/* Openings for which no socket can be allocated are retransmitted. */
TEST_F_TIMEOUT(faults, openings, 400)
{
	int l = listening(8), i, id, opened = 0, tries = scaled(200);

	ASSERT_GE(l, 0);
	for (i = 0; i < tries; i++) {
		int s, a = -1;

		ASSERT_TRUE(faults("20"));
		s = connect_and_send(i);
		if (s < 0)
			EXPECT_TRUE(short_of_memory(errno)) TH_LOG("%s", strerror(errno));
		if (s >= 0)
			until(l, POLLIN);
		ASSERT_TRUE(faults("0"));
		if (s >= 0)
			a = let_in(l, &id);
		if (a >= 0) {
			EXPECT_EQ(id, i);
			opened++;
			close(a);
		}
		close(s);
	}
	printf("# %d of %d opened\n", opened, tries);
	EXPECT_GT(opened, tries / 10);
	close(l);
}

/* The module is loaded whole or not at all. */

static int load_module(int nth)
{
	struct utsname name;
	char path[256];
	int fd, r;

	uname(&name);
	snprintf(path, sizeof(path), "/lib/modules/%s/updates/ndp.ko", name.release);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	order_fault(nth);
	r = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return r;
}

TEST_F_TIMEOUT(faults, allocations_of_the_module, 400)
{
	int n, refused = 0, left = 0;
	unsigned long begin, end;

	/* The address of the module's own code is not known yet. */
	ASSERT_TRUE(find_code("do_one_initcall", &begin, &end));
	ASSERT_TRUE(set_code("require", begin, end));
	/* The core logs a backtrace when it cannot create a slab cache. */
	ASSERT_TRUE(find_code("proto_register", &begin, &end));
	ASSERT_TRUE(set_code("reject", begin, end));
	/* Earlier tests may have loaded other transports. */
	shell("rmmod ndp_mprdma ndp_dcqcn ndp_light ndp_fixed 2>/dev/null");
	ASSERT_EQ(shell("rmmod ndp"), 0);
	for (n = 1; !left; n++) {
		int r = load_module(n), error = errno;

		left = fault_left();
		if (r) {
			ASSERT_TRUE(short_of_memory(error)) TH_LOG("%s", strerror(error));
			refused++;
		} else {
			ASSERT_EQ(shell("rmmod ndp"), 0);
		}
	}
	printf("# %d allocations, %d refusals\n", n - 2, refused);
	EXPECT_GT(refused, 0);
	ASSERT_EQ(shell("modprobe ndp"), 0);
}

TEST_HARNESS_MAIN
