// SPDX-License-Identifier: GPL-2.0
/*
 * What two processors do to one AF_NDP socket at the same time: a thread on each of them writes
 * packets to a tun device, or makes system calls.  No socket and no memory is left behind; a kernel
 * with KCSAN also logs data races.
 *
 * Non-goals: system calls of several threads on one socket (ndp_life.c).
 */
#include "middle.h"

#define MTU	1500
#define LONG	400		/* seconds */

/* The first packet of a connection to the near end's listener; all others are derived from it. */
static struct packet opening;

static void keep_opening(struct packet *p)
{
	if (p->from == FAR && ndp_type(p) == DATA && !opening.len)
		opening = *p;
}

static void drop(struct packet *p)
{
}

/* The @off-th packet of connection @id, of @type. */
static struct packet packet_of(__u64 id, int type, __u32 off)
{
	struct packet p = opening;
	struct header *h = ndp_of(&p);

	h->conn_id = id << 32 | id;
	h->psn = htonl(ntohl(h->psn) + off);
	h->psn_off = htonl(off);
	if (type != DATA) {
		resize(&p, HDR_LEN);
		set_dscp(&p, DSCP_CONTROL);
		h->vdt = (h->vdt & 0xf0) | type;
		h->flags = LAST;
		h->len = 0;
	}
	seal(&p);
	return p;
}

static void inject(__u64 id, int type, __u32 off)
{
	struct packet p = packet_of(id, type, off);

	arrive(&p);
}

/* Discard the packets that the kernel has sent, so that the device's queue has room. */
static void throw_away(void)
{
	struct packet p;

	while (read(tun[NEAR], p.data, sizeof(p.data)) > 0)
		;
}

/* The other thread, on a processor of its own. */
static struct {
	pthread_t	thread;
	void		(*work)(void);
	int		go;		/* the round that it may begin */
	int		done;		/* the last round that it has ended */
	bool		stop;
} other;

static int load(const int *n)
{
	return __atomic_load_n(n, __ATOMIC_ACQUIRE);
}

static void store(int *n, int value)
{
	__atomic_store_n(n, value, __ATOMIC_RELEASE);
}

static void *other_thread(void *unused)
{
	run_on(1);
	if (setns(world->ns[NEAR], CLONE_NEWNET))
		return NULL;
	for (;;) {
		int round;

		do {
			if (__atomic_load_n(&other.stop, __ATOMIC_ACQUIRE))
				return NULL;
			round = load(&other.go);
		} while (round == other.done);
		other.work();
		store(&other.done, round);
	}
}

static bool other_begin(void (*work)(void))
{
	other.work = work;
	run_on(0);
	return !pthread_create(&other.thread, NULL, other_thread, NULL);
}

static void other_end(void)
{
	__atomic_store_n(&other.stop, true, __ATOMIC_RELEASE);
	pthread_join(other.thread, NULL);
}

/* Run round @round in both threads; this thread's part is @mine. */
static void both_at_once(int round, void (*mine)(int round))
{
	int i;

	store(&other.go, round);
	/* At random a little before the other thread, or after it. */
	for (i = rand() % 2000; i > 0; i--)
		__asm__ volatile("" : : : "memory");
	mine(round);
	while (load(&other.done) != round)
		;
}

FIXTURE(races)
{
	int	listener;
};

FIXTURE_SETUP(races)
{
	union address to;
	int s;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one processor");
	srand(4711);
	ASSERT_EQ(0, lay_middle(MTU));
	to = address(NEAR, port);
	self->listener = new_socket(NEAR, SOCK_NONBLOCK);
	ASSERT_EQ(0, bind_to(self->listener, NEAR, port));
	ASSERT_EQ(0, listen(self->listener, 1024));
	meddle = keep_opening;
	s = new_socket(FAR, SOCK_NONBLOCK);
	ASSERT_EQ(0, connect(s, &to.any, address_len()));
	ASSERT_EQ(1, send(s, "x", 1, 0));
	settle();
	close_hard(s);
	settle();
	ASSERT_LT(0, opening.len);
	meddle = drop;
	/* RSTs for connections that have ended are of no interest: few are enough. */
	ASSERT_TRUE(set_sysctl(NEAR, "rst_rate", 1000));
}

FIXTURE_TEARDOWN(races)
{
	close(self->listener);
	throw_away();
	EXPECT_TRUE(forward_until_stat("SockInUse", 0, 60));
	EXPECT_TRUE(forward_until_stat("MemBytes", 0, 10));
}

static int take_all(int l)
{
	int n = 0, a;

	while ((a = accept(l, NULL, NULL)) >= 0) {
		close_hard(a);
		n++;
	}
	throw_away();
	return n;
}

static void reset_it(void)
{
	int i;

	for (i = 0; i < 4; i++)
		inject(load(&other.go), RST, 0);
}

static void open_it(int round)
{
	inject(round, DATA, 0);
}

/*
 * A connection is opened by one processor and reset by another.  On an emulated machine, and with
 * sanitizers, the rounds take long.
 */
TEST_F_TIMEOUT(races, opening_meets_reset, 4 * LONG)
{
	const int rounds = 20000;
	int i, opened = 0;

	ASSERT_TRUE(other_begin(reset_it));
	for (i = 1; i <= rounds; i++) {
		both_at_once(i, open_it);
		opened += take_all(self->listener);
	}
	other_end();
	/* Accepted connections are closed: any that is left would be left permanently. */
	EXPECT_EQ(rounds, opened);
}

static int stopping;

static void stop_it(void)
{
	shutdown(stopping, SHUT_RDWR);
	listen(stopping, 16);
}

static void open_some(int round)
{
	int i;

	for (i = 0; i < 8; i++)
		inject(8 * round + i, DATA, 0);
}

/* A listener stops and listens again while connections open: its backlog is counted correctly. */
TEST_F_TIMEOUT(races, opening_meets_shutdown, LONG)
{
	struct pollfd p = { .events = POLLIN };
	const int rounds = 2000;
	int i;

	stopping = self->listener;
	/* Many rules make route lookups slow, and the window of the race long. */
	ASSERT_EQ(0, setns(world->ns[NEAR], CLONE_NEWNET));
	ASSERT_EQ(0, shell("for i in $(seq 1000 2999); do echo rule add from 9.9.9.9 prio $i;"
			   " done | ip -batch -"));
	ASSERT_TRUE(other_begin(stop_it));
	for (i = 1; i <= rounds; i++) {
		both_at_once(i, open_some);
		take_all(self->listener);
	}
	other_end();
	shutdown(stopping, SHUT_RDWR);
	take_all(self->listener);
	/* Room for one connection. */
	ASSERT_EQ(0, listen(stopping, 0));
	inject(8 * rounds + 100, DATA, 0);
	p.fd = stopping;
	EXPECT_EQ(1, poll(&p, 1, 1000));
	take_all(self->listener);
}

static int ended;

static void end_it(void)
{
	inject(load(&other.go), FIN, 1);
}

/* Has each option kept its value?  So many are set that the FIN arrives meanwhile. */
static bool option_kept;

static void set_options(int round)
{
	int i, want;

	for (i = 0; i < 20; i++) {
		want = i & 1;
		set_int(ended, SOL_SOCKET, SO_OOBINLINE, want);
		if (get_int(ended, SOL_SOCKET, SO_OOBINLINE) != want)
			option_kept = false;
	}
}

/* The peer's FIN arrives while options are set: they keep their values, the reader gets the end. */
TEST_F_TIMEOUT(races, fin_meets_setsockopt, LONG)
{
	const int rounds = 3000;
	char buf[4];
	int i;

	option_kept = true;
	ASSERT_TRUE(other_begin(end_it));
	for (i = 1; i <= rounds; i++) {
		inject(i, DATA, 0);
		ended = accept(self->listener, NULL, NULL);
		ASSERT_LE(0, ended);
		both_at_once(i, set_options);
		ASSERT_EQ(1, recv(ended, buf, sizeof(buf), MSG_DONTWAIT));
		ASSERT_EQ(0, recv(ended, buf, sizeof(buf), MSG_DONTWAIT));
		close_hard(ended);
		throw_away();
	}
	other_end();
	EXPECT_TRUE(option_kept);
}

TEST_HARNESS_MAIN
