// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that the receiver refuses, or a switch returns, are not retransmitted faster than that
 * can change: few packets while a reader sleeps, memory is short or a queue is full, and all data
 * afterwards.  The sender also learns the newest window soon.
 *
 * Both ends are kernel sockets, except that the test itself sends answers that overtake one
 * another; it forwards all packets (middle.h).
 */
#include "middle.h"
#include "liar.h"

#define MTU		1500
#define LONG		400		/* seconds */
/* Packets that both ends may send in ten seconds in which the receiver can take nothing. */
#define FEW		1000
/* One-way delay of a long cable, us */
#define SLOWLY		500

/* Packets that the test has seen, by type, and how many of all it has spoilt. */
static unsigned long carried[TYPES];
static unsigned long spoilt;
/* PSN of the first DATA packet, which is kept from arriving. */
static bool lowest_known;
static __u32 lowest;

static void carry_on(struct packet *p)
{
	carried[ndp_type(p)]++;
	pass(p);
}

static void carry_slowly(struct packet *p)
{
	carried[ndp_type(p)]++;
	deliver(p, SLOWLY);
}

static unsigned long all_carried(void)
{
	unsigned long n = 0;
	int type;

	for (type = 0; type < TYPES; type++)
		n += carried[type];
	return n;
}

static __u8 at(unsigned long off)
{
	return off * 7 + off / 251;
}

/* Write as much of @total bytes from *@done on as there is room for. */
static void write_some(int s, unsigned long *done, unsigned long total)
{
	__u8 buf[5000];
	unsigned long i, n;
	ssize_t w;

	while (*done < total) {
		n = total - *done < sizeof(buf) ? total - *done : sizeof(buf);
		for (i = 0; i < n; i++)
			buf[i] = at(*done + i);
		w = send(s, buf, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (w <= 0)
			return;
		*done += w;
	}
}

/* Has read_some() come to the end? */
static bool ended;

/* Read all that has arrived.  Return: is it what was written? */
static bool read_some(int s, unsigned long *done)
{
	__u8 buf[5000];
	ssize_t n, i;

	while ((n = recv(s, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		for (i = 0; i < n; i++)
			if (buf[i] != at((*done)++))
				return false;
	ended = !n;
	return true;
}

/* One direction of a connection: its two sockets, and the bytes written and read. */
struct stream {
	int		s, a;
	unsigned long	written, read;
};

FIXTURE(flow)
{
	int		l;
	struct stream	t;
};

FIXTURE_VARIANT(flow)
{
	int family;	/* index into middle[] */
};

FIXTURE_VARIANT_ADD(flow, ip4) { .family = 0 };
FIXTURE_VARIANT_ADD(flow, ip6) { .family = 1 };

/* A connection that has carried data both ways, with small buffers. */
FIXTURE_SETUP(flow)
{
	int id, small = 40000;

	ASSERT_EQ(0, lay_middle(MTU));
	world = &middle[variant->family];
	self->l = listening(4);
	ASSERT_LE(0, self->l);
	ASSERT_EQ(0, setsockopt(self->l, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
	self->t.s = connect_and_send(4711);
	ASSERT_LE(0, self->t.s);
	ASSERT_TRUE(forward_until(is_readable, self->l, 10));
	settle();
	self->t.a = let_in(self->l, &id);
	ASSERT_LE(0, self->t.a);
	ASSERT_EQ(4711, id);
	ASSERT_EQ(1, send(self->t.a, "x", 1, 0));
	ASSERT_TRUE(forward_until(is_readable, self->t.s, 10));
	ASSERT_EQ(1, recv(self->t.s, &id, 1, 0));
	settle();
	self->t.written = 0;
	self->t.read = 0;
	meddle = carry_on;
	memset(carried, 0, sizeof(carried));
	spoilt = 0;
	lowest_known = false;
	ended = false;
}

/* No socket and no memory is left. */
FIXTURE_TEARDOWN(flow)
{
	close(self->t.s);
	close(self->t.a);
	close(self->l);
	forward_packets_for(10);
	EXPECT_TRUE(forward_until_stat("SockInUse", 0, 100));
	EXPECT_TRUE(forward_until_stat("MemBytes", 0, 10));
}

/* Are few packets sent in the next ten seconds? */
static bool few_packets(void)
{
	unsigned long n = all_carried();

	forward_packets_for(scaled(10000));
	n = all_carried() - n;
	printf("# %lu packets while nothing can be taken\n", n);
	return n < FEW;
}

/* Write and read the rest.  Return: did all data arrive, and the end? */
static bool to_the_end(struct stream *t, unsigned long total)
{
	__u64 end = now_us() + patience(120) * 1000000ULL;
	bool was_shut = !total;

	while (now_us() < end) {
		write_some(t->s, &t->written, total);
		if (t->written >= total && !was_shut) {
			shutdown(t->s, SHUT_WR);
			was_shut = true;
		}
		if (!read_some(t->a, &t->read))
			break;
		if (ended)
			return was_shut && t->read == t->written;
		forward_packets(1000);
	}
	printf("# written %lu, read %lu\n", t->written, t->read);
	return false;
}

/* A FIN behind data for which the reader makes no room. */
TEST_F_TIMEOUT(flow, fin_and_a_sleeping_reader, LONG)
{
	unsigned long refused = stat_of(FAR, "NoRoomIn");

	write_some(self->t.s, &self->t.written, 1000000);
	shutdown(self->t.s, SHUT_WR);
	settle();
	/*
	 * Packets that do not arrive all at once are answered by one pull each.  Packets pulled
	 * before a LAST and those pushed behind it can exceed the room, once.
	 */
	if (!virtual_time())
		refused = stat_of(FAR, "NoRoomIn");
	EXPECT_TRUE(few_packets());
	EXPECT_EQ(refused, stat_of(FAR, "NoRoomIn"));
	EXPECT_LT(0, self->t.written);
	EXPECT_TRUE(to_the_end(&self->t, 0));
}

/* A FIN in order needs no room, so that a sender that has closed gets its ACK and can end. */
TEST_F_TIMEOUT(flow, fin_into_a_full_buffer, LONG)
{
	write_some(self->t.s, &self->t.written, 10000);
	settle();
	EXPECT_EQ(10000, self->t.written);
	/* Now the buffer holds more than its limit. */
	set_int(self->t.a, SOL_SOCKET, SO_RCVBUF, 1);
	shutdown(self->t.s, SHUT_WR);
	settle();
	EXPECT_TRUE(few_packets());
	EXPECT_EQ(1, carried[FIN]);
	EXPECT_EQ(0, stat_of(FAR, "NoRoomIn"));
	EXPECT_TRUE(to_the_end(&self->t, 0));
}

static void drop_lowest(struct packet *p)
{
	__u32 psn = ntohl(ndp_of(p)->psn);

	if (ndp_type(p) == DATA && p->from == NEAR && !lowest_known) {
		lowest_known = true;
		lowest = psn;
	}
	if (ndp_type(p) == DATA && p->from == NEAR && psn == lowest) {
		carried[DATA]++;
		spoilt++;
		return;
	}
	carry_on(p);
}

/* Packets behind a gap take all the room, and the gap stays. */
TEST_F_TIMEOUT(flow, lowest_lost_and_no_room, LONG)
{
	meddle = drop_lowest;
	/* A short packet, or the path would be suspected of losing long ones. */
	write_some(self->t.s, &self->t.written, 100);
	settle();
	write_some(self->t.s, &self->t.written, 1000000);
	settle();
	EXPECT_TRUE(few_packets());
	EXPECT_LT(1, spoilt);
	EXPECT_EQ(0, events_now(self->t.a) & POLLIN);
	meddle = carry_on;
	EXPECT_TRUE(to_the_end(&self->t, 300000));
}

/* The header of the lowest packet, held until another packet is refused. */
static struct packet held;
static bool holds;

static void trim_lowest(struct packet *p)
{
	int type = ndp_type(p);

	if (type == DATA && p->from == NEAR && !lowest_known) {
		lowest_known = true;
		lowest = ntohl(ndp_of(p)->psn);
		holds = true;
	}
	if (holds && has_payload(p) && p->from == NEAR && ntohl(ndp_of(p)->psn) == lowest) {
		carried[DATA]++;
		spoilt++;
		trim(p);
		held = *p;
		return;
	}
	if (holds && type == NACK) {
		holds = false;
		deliver(&held, 300);
	}
	/* Drop PROBEs: on a slow machine a pull may arrive later than a PROBE is sent. */
	if (type == PROBE) {
		carried[PROBE]++;
		return;
	}
	carry_on(p);
}

/* Room is reserved for the gap: its packet is pulled into a full buffer, without a PROBE. */
TEST_F_TIMEOUT(flow, lowest_trimmed_and_no_room, LONG)
{
	holds = false;
	meddle = trim_lowest;
	write_some(self->t.s, &self->t.written, 1000000);
	settle();
	EXPECT_TRUE(forward_until(is_readable, self->t.a, 20));
	EXPECT_FALSE(holds);
	if (virtual_time()) {
		EXPECT_EQ(1, spoilt);
		EXPECT_EQ(0, carried[PROBE]);
	}
	meddle = carry_on;
	EXPECT_TRUE(few_packets());
	EXPECT_TRUE(to_the_end(&self->t, 300000));
}

/* The namespace has no memory left, and the reader has unread data. */
TEST_F_TIMEOUT(flow, no_memory, LONG)
{
	write_some(self->t.s, &self->t.written, 3000);
	settle();
	/* Less than what is in use; each further page is refused. */
	ASSERT_TRUE(set_sysctl(FAR, "mem_max_kb", 1));
	write_some(self->t.s, &self->t.written, 100000);
	settle();
	EXPECT_TRUE(few_packets());
	EXPECT_LT(0, stat_of(FAR, "NoRoomIn"));
	ASSERT_TRUE(set_sysctl(FAR, "mem_max_kb", 0));
	EXPECT_TRUE(to_the_end(&self->t, 300000));
}

/* A token can open a connection too.  An acceptor that had to verify the initiator gave it one. */
static bool is_token(struct packet *p)
{
	return p->from == NEAR && ndp_type(p) == COOKIE && ndp_of(p)->flags & SYN;
}

/* Return headers, as a switch does whose header queue is full. */
static void return_header(struct packet *p)
{
	if (is_token(p))
		return;
	if (p->from != NEAR || (ndp_type(p) != DATA && ndp_type(p) != FIN)) {
		carry_on(p);
		return;
	}
	carried[ndp_type(p)]++;
	spoilt++;
	if (has_payload(p))
		trim(p);
	ndp_of(p)->flags |= BOUNCED;
	turn_round(p);
	set_dscp(p, DSCP_CONTROL);
	seal(p);
	deliver(p, 20);
}

static void returns(struct __test_metadata *_metadata, struct stream *t, int bytes)
{
	meddle = return_header;
	write_some(t->s, &t->written, bytes);
	if (!bytes)
		shutdown(t->s, SHUT_WR);
	EXPECT_TRUE(few_packets());
	EXPECT_LT(3, spoilt);
	meddle = carry_on;
	EXPECT_TRUE(to_the_end(t, bytes ? 100000 : 0));
}

TEST_F_TIMEOUT(flow, returned_for_ever, LONG)
{
	returns(_metadata, &self->t, 20000);
}

/* Corrupt each payload, but not the headers, as broken hardware does. */
static void change_payload(struct packet *p)
{
	if (p->from == NEAR && ndp_type(p) == DATA && has_payload(p)) {
		p->data[p->len - 1] ^= 1;
		spoilt++;
	}
	carry_on(p);
}

TEST_F_TIMEOUT(flow, changed_for_ever, LONG)
{
	meddle = change_payload;
	write_some(self->t.s, &self->t.written, 20000);
	EXPECT_TRUE(few_packets());
	EXPECT_LT(3, spoilt);
	EXPECT_EQ(spoilt, stat_of(FAR, "CrcIn"));
	meddle = carry_on;
	EXPECT_TRUE(to_the_end(&self->t, 100000));
}

TEST_F_TIMEOUT(flow, fin_returned_for_ever, LONG)
{
	returns(_metadata, &self->t, 0);
}

/* Answer as a receiver that pulls one packet for each PROBE and never has room for it. */
static void refuse(struct packet *p)
{
	static __u32 pulled;
	int type = ndp_type(p);
	struct packet answer;

	if (is_token(p))
		return;
	if (p->from != NEAR || (type != DATA && type != FIN && type != PROBE)) {
		carry_on(p);
		return;
	}
	if (!lowest_known)
		lowest = ntohl(ndp_of(p)->psn);
	lowest_known = true;
	carried[type]++;
	spoilt++;
	if (type == PROBE)
		answer = answer_to(p, PULL, 0, lowest, ++pulled, ROOM);
	else
		answer = answer_to(p, NACK, 0, ntohl(ndp_of(p)->psn), pulled, ROOM);
	seal(&answer);
	deliver(&answer, 20);
}

/* Another connection, whose packets never reach the acceptor: only its opening is sent. */
static void opens(struct __test_metadata *_metadata, struct stream *t,
		  void (*spoil)(struct packet *p))
{
	close(t->s);
	close(t->a);
	t->a = -1;
	forward_packets_for(100);
	meddle = spoil;
	t->s = connect_and_send(4712);
	ASSERT_LE(0, t->s);
	EXPECT_TRUE(few_packets());
	EXPECT_LT(3, spoilt);
	EXPECT_EQ(1, stat_of(FAR, "PassiveOpens"));
}

TEST_F_TIMEOUT(flow, opening_returned_for_ever, LONG)
{
	int id;

	opens(_metadata, &self->t, return_header);
	meddle = carry_on;
	ASSERT_TRUE(forward_until(is_readable, self->l, 60));
	settle();
	self->t.a = let_in(self->l, &id);
	ASSERT_LE(0, self->t.a);
	EXPECT_EQ(4712, id);
	EXPECT_TRUE(to_the_end(&self->t, 20000));
}

/* The test plays the acceptor: the listener does not know the connection. */
TEST_F_TIMEOUT(flow, opening_refused_for_ever, LONG)
{
	opens(_metadata, &self->t, refuse);
	EXPECT_LT(0, carried[PROBE]);
	close_hard(self->t.s);
}

static bool probed;

static void lose_data_of_the_acceptor(struct packet *p)
{
	if (p->from == FAR && ndp_type(p) == PROBE)
		probed = true;
	if (p->from == FAR && ndp_type(p) == DATA)
		spoilt++;
	else
		carry_on(p);
}

static bool is_probed(int s)
{
	return probed;
}

/*
 * The acceptor's whole first window is lost, but not its PROBE: the initiator knows no PSN of the
 * acceptor's yet, and 0 is one of those in flight.
 */
TEST_F_TIMEOUT(flow, probe_before_the_first_packet, LONG)
{
	struct stream back = { 0 };
	int id;

	close(self->t.s);
	close(self->t.a);
	forward_packets_for(100);
	ASSERT_TRUE(set_start(-4));
	self->t.s = connect_and_send(4714);
	ASSERT_TRUE(forward_until(is_readable, self->l, 10));
	settle();
	self->t.a = let_in(self->l, &id);
	ASSERT_LE(0, self->t.a);
	EXPECT_TRUE(set_start(0));
	back.s = self->t.a;
	back.a = self->t.s;
	probed = false;
	meddle = lose_data_of_the_acceptor;
	write_some(back.s, &back.written, 200000);
	EXPECT_TRUE(forward_until(is_probed, 0, 10));
	forward_packets_for(5);
	EXPECT_LT(4, spoilt);
	meddle = carry_on;
	EXPECT_TRUE(to_the_end(&back, 200000));
}

/* The test sends the answers: an older one announces less, or more, than the newest. */
TEST_F(flow, an_older_answer_comes_later)
{
	struct packet *p = &heard.first[DATA];
	__u32 psn;

	memset(&heard, 0, sizeof(heard));
	meddle = listen_only;
	write_some(self->t.s, &self->t.written, 4000);
	settle();
	ASSERT_LT(2, heard.count[DATA]);
	psn = ntohl(ndp_of(p)->psn);
	tell(p, ACK, HAS_PULL, psn + 1, 2, 30000);
	settle();
	EXPECT_EQ(30000, info_of(self->t.s).snd_window);
	tell(p, ACK, HAS_PULL, psn, 1, 0);
	settle();
	EXPECT_EQ(30000, info_of(self->t.s).snd_window);
	/* Of two answers with the same pull counter, the one to the later packet is newer. */
	tell(p, ACK, HAS_PULL, psn + 2, 2, 20000);
	tell(p, NACK, HAS_PULL, psn + 1, 2, 10000);
	settle();
	EXPECT_EQ(20000, info_of(self->t.s).snd_window);
	tell(p, PULL, 0, psn + 3, 3, 0);
	settle();
	EXPECT_EQ(0, info_of(self->t.s).snd_window);
	tell(p, PULL, LAST, psn + 3, 3, 40000);
	settle();
	EXPECT_EQ(40000, info_of(self->t.s).snd_window);
	close_hard(self->t.s);
	close_hard(self->t.a);
}

/* A NACKed packet waits for a pull that is not owed: a PULL with LAST has it retransmitted. */
TEST_F(flow, nothing_is_owed_below_a_gap)
{
	struct packet *p = &heard.first[DATA];
	int before;
	__u32 psn;

	memset(&heard, 0, sizeof(heard));
	meddle = listen_only;
	write_some(self->t.s, &self->t.written, 4000);
	settle();
	ASSERT_LE(3, heard.count[DATA]);
	psn = ntohl(ndp_of(p)->psn);
	tell(&heard.first_again, NACK, HAS_PULL | RTX, psn, 0, 0);
	tell(p, ACK, HAS_PULL, psn + 1, 0, 0);
	tell(p, ACK, HAS_PULL, psn + 2, 0, 0);
	settle();
	EXPECT_EQ(0, info_of(self->t.s).snd_window);
	before = heard.count[DATA];
	tell(p, PULL, LAST, psn, 0, 30000);
	settle();
	EXPECT_EQ(30000, info_of(self->t.s).snd_window);
	EXPECT_LT(before, heard.count[DATA]);
	EXPECT_EQ(psn, ntohl(ndp_of(&heard.last[DATA])->psn));
	close_hard(self->t.s);
	close_hard(self->t.a);
}

/* DATA of the near end after the far end's first answer, and how many of it have SYN. */
static bool answered;
static unsigned long behind, openings;

static void watch_openings(struct packet *p)
{
	if (p->from == FAR) {
		answered = true;
	} else if (answered && ndp_type(p) == DATA) {
		behind++;
		openings += !!(ndp_of(p)->flags & SYN);
	}
	pass(p);
}

/*
 * A transport without pulls pushes all its packets.  None of them may open a connection once it is
 * established, or late copies would open it again.
 */
TEST_F_TIMEOUT(flow, only_an_opening_opens, LONG)
{
	struct stream t = { 0 };
	int id;

	ASSERT_EQ(0, shell("modprobe ndp_fixed"));
	answered = false;
	behind = 0;
	openings = 0;
	meddle = watch_openings;
	t.s = new_socket(NEAR, 0);
	ASSERT_EQ(0, setsockopt(t.s, SOL_NDP, NDP_TRANSPORT, "fixed", 5));
	ASSERT_EQ(0, connect_to(t.s, port));
	id = 4712;
	ASSERT_EQ(sizeof(id), send(t.s, &id, sizeof(id), 0));
	ASSERT_TRUE(forward_until(is_readable, self->l, 10));
	t.a = let_in(self->l, &id);
	ASSERT_LE(0, t.a);
	EXPECT_TRUE(to_the_end(&t, 100000));
	printf("# %lu DATA packets behind the opening\n", behind);
	EXPECT_LT(50, behind);
	/* In real time some are sent before the answer has arrived. */
	if (virtual_time())
		EXPECT_EQ(0, openings);
	close(t.s);
	close(t.a);
}

/* A reader that goes on announces room at once: the writer waits for a round trip, no longer. */
TEST_F_TIMEOUT(flow, a_reader_stops_and_goes_on, LONG)
{
	unsigned long before;
	__u64 began, gap, longest = 0;
	int i;

	meddle = carry_slowly;
	for (i = 0; i < 5; i++) {
		/* Write until the receiver has refused a packet. */
		do {
			before = self->t.written;
			write_some(self->t.s, &self->t.written, before + 1000);
			settle();
		} while (stat_of(FAR, "DataBytesIn") == self->t.written + sizeof(int));
		/* A refused packet waits for the reader. */
		ASSERT_TRUE(read_some(self->t.a, &self->t.read));
		began = now_us();
		while (self->t.read < self->t.written && now_us() - began < 5000000) {
			forward_packets(10);
			ASSERT_TRUE(read_some(self->t.a, &self->t.read));
		}
		EXPECT_EQ(self->t.written, self->t.read);
		gap = now_us() - began;
		if (gap > longest)
			longest = gap;
		forward_packets_for(50);
		/* The same again, behind data that was sent with LAST. */
		write_some(self->t.s, &self->t.written, self->t.written + 1000);
		settle();
		ASSERT_TRUE(read_some(self->t.a, &self->t.read));
	}
	printf("# it waits for %llu us at most\n", (unsigned long long)longest);
	if (virtual_time())
		EXPECT_GT(2 * SLOWLY + SLOWLY / 2, longest);
	EXPECT_TRUE(to_the_end(&self->t, self->t.written));
}

TEST_HARNESS_MAIN
