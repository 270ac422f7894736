// SPDX-License-Identifier: GPL-2.0
/*
 * Peers: what a host has learnt of another is shared by all connections between them, is
 * kept for a while, and is bounded.
 *
 * Non-goals: how bad paths are avoided (ndp_paths.sh).
 */
#define NDP_WORLDS (IN_WIRE | IN_WIRE6)
#include <sys/sysinfo.h>
#include "life.h"

/* Seconds for which the kernel keeps a peer without connections. */
#define REMEMBERED	60

#define PATHS		32

FIXTURE(peers)
{
	int	l;
};

FIXTURE_VARIANT(peers)
{
	int	kind;
};

FIXTURE_VARIANT_ADD(peers, wire) { .kind = WIRE };
FIXTURE_VARIANT_ADD(peers, wire6) { .kind = WIRE6 };

static int listening_anywhere(int backlog)
{
	union address any = any_address(port);
	int l = new_socket(FAR, 0);

	return l < 0 || bind(l, &any.any, address_len()) || listen(l, backlog) ? -1 : l;
}

FIXTURE_SETUP(peers)
{
	signal(SIGPIPE, SIG_IGN);
	ndp = true;
	world = &worlds[1][variant->kind];
	port = 1024 + getpid() % 60000;
	self->l = listening_anywhere(64);
	ASSERT_LE(0, self->l);
	EXPECT_EQ(0, stat_of(NEAR, "IdlePeers"));
}

FIXTURE_TEARDOWN(peers)
{
	close(self->l);
	EXPECT_TRUE(wait_for_stat("SockInUse", 0, 100));
	/* Leave no idle peers for later tests. */
	set_sysctl(NEAR, "peers_max", 4096);
	set_sysctl(FAR, "peers_max", 4096);
	EXPECT_TRUE(wait_for_stat("IdlePeers", 0, REMEMBERED + 10));
}

/* A connection that has sent a byte, which is read at the other end. */
struct pair {
	int	near;
	int	far;
};

static bool carries(const struct pair *p)
{
	char byte = 0;

	return send(p->near, "x", 1, MSG_NOSIGNAL) == 1 && until(p->far, POLLIN) &&
	       recv(p->far, &byte, 1, MSG_DONTWAIT) == 1 && byte == 'x';
}

static bool connect_pair(int l, struct pair *p, int mark, const union address *to)
{
	char byte = 0;

	p->near = new_socket(NEAR, 0);
	if (p->near < 0 || (mark && set_int(p->near, SOL_SOCKET, SO_MARK, mark)) ||
	    connect(p->near, &to->any, address_len()) ||
	    send(p->near, "x", 1, MSG_NOSIGNAL) != 1)
		return false;
	p->far = accept(l, NULL, NULL);
	if (p->far < 0)
		return false;
	return recv(p->far, &byte, 1, 0) == 1 && byte == 'x';
}

static bool open_pair(int l, struct pair *p)
{
	union address far = address(FAR, port);

	return connect_pair(l, p, 0, &far);
}

static void close_pair(struct pair *p)
{
	close(p->near);
	close(p->far);
}

/* Totals of "ndp path live" at NEAR. */
struct shown {
	int		peers;
	int		paths;
	int		conns;		/* connections of all peers */
	int		marked;		/* connections of peers with a mark */
	int		of_users;	/* connections of users other than root */
};

static struct shown shown(void)
{
	struct shown s = { 0 };
	char line[256], *at;
	int conns;
	FILE *lines;

	if (setns(world->ns[NEAR], CLONE_NEWNET))
		return s;
	lines = popen("ndp path show live", "r");
	while (lines && fgets(line, sizeof(line), lines)) {
		if (line[0] == ' ') {
			s.paths++;
			continue;
		}
		at = strstr(line, " connections ");
		conns = at ? atoi(at + strlen(" connections ")) : 0;
		s.peers++;
		s.conns += conns;
		s.marked += strstr(line, " mark ") ? conns : 0;
		s.of_users += strstr(line, " uid ") ? conns : 0;
	}
	if (lines)
		pclose(lines);
	return s;
}

/* Wait until both ends have forgotten all connections, and only the listener is left. */
static bool all_forgotten(void)
{
	return !wait_for_most(NEAR, "SockInUse", 0, patience(20)) &&
	       wait_for_most(FAR, "SockInUse", 1, patience(20)) == 1;
}

/*
 * Do NEAR and FAR remember @near and @far idle peers?  In real time there may be fewer: they have
 * expired, or no round trip was measured.  FAR measures one by its FIN alone, and if the FIN has
 * timed out, the answer to its first transmission does not prove the peer's address (verify.c).
 */
static bool remembered(unsigned long long near, unsigned long long far)
{
	unsigned long long n = stat_of(NEAR, "IdlePeers"), f = stat_of(FAR, "IdlePeers");

	if ((n == near && f == far) || (!virtual_time() && n <= near && f <= far))
		return true;
	printf("# %llu of %llu, %llu of %llu\n", n, near, f, far);
	return false;
}

/* Connections to one host share one peer; a new connection knows the round trip. */
TEST_F_TIMEOUT(peers, shared, 400)
{
	union address far = address(FAR, port);
	struct pair p[3];
	int i, s;

	for (i = 0; i < 3; i++)
		ASSERT_TRUE(open_pair(self->l, &p[i]));
	EXPECT_EQ(1, shown().peers);
	EXPECT_EQ(3, shown().conns);
	EXPECT_EQ(PATHS, shown().paths);
	EXPECT_EQ(0, stat_of(NEAR, "IdlePeers"));
	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(carries(&p[i]));
		close_pair(&p[i]);
	}
	/* The peer has no connection, and is remembered. */
	ASSERT_TRUE(all_forgotten());
	EXPECT_TRUE(remembered(1, 1));
	EXPECT_EQ(1, stat_of(NEAR, "IdlePeers"));
	EXPECT_EQ(1, shown().peers);
	EXPECT_EQ(0, shown().conns);
	s = new_socket(NEAR, 0);
	ASSERT_EQ(0, connect(s, &far.any, address_len()));
	EXPECT_EQ(0, info_of(s).data_sent);
	EXPECT_LT(0, info_of(s).srtt_us);
	EXPECT_EQ(1, shown().conns);
	EXPECT_EQ(0, stat_of(NEAR, "IdlePeers"));
	close(s);
}

/* After a minute the peer is forgotten. */
TEST_F_TIMEOUT(peers, forgotten, 800)
{
	struct pair p;

	ASSERT_TRUE(open_pair(self->l, &p));
	close_pair(&p);
	ASSERT_TRUE(all_forgotten());
	EXPECT_TRUE(remembered(1, 1));
	EXPECT_TRUE(wait_for_stat("IdlePeers", 0, REMEMBERED + 10));
	EXPECT_EQ(0, shown().peers);
}

/* Of many hosts the latest peers_max are remembered. */
TEST_F_TIMEOUT(peers, bounded, 800)
{
	union address to;
	char text[64];
	struct pair p;
	int i;

	ASSERT_TRUE(set_sysctl(NEAR, "peers_max", 4));
	ASSERT_TRUE(set_sysctl(FAR, "peers_max", 100));
	for (i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), is_ip6_world() ? "fd00::1%d" : "10.0.0.1%d", i);
		ASSERT_EQ(0, setns(world->ns[FAR], CLONE_NEWNET));
		shell("ip address add %s/%d dev eth0 %s", text, is_ip6_world() ? 64 : 24,
		      is_ip6_world() ? "nodad" : "");
		to = named(text, text, port);
		ASSERT_TRUE(connect_pair(self->l, &p, 0, &to));
		close_pair(&p);
		/* The connections end one after the other. */
		ASSERT_TRUE(all_forgotten());
		EXPECT_TRUE(remembered(i < 4 ? i + 1 : 4, i + 1));
	}
	if (virtual_time())
		EXPECT_EQ(4, shown().peers);
	EXPECT_GE(4, shown().peers);
	ASSERT_EQ(0, setns(world->ns[NEAR], CLONE_NEWNET));
	snprintf(text, sizeof(text), is_ip6_world() ? "fd00::19" : "10.0.0.19");
	EXPECT_EQ(0, shell("ndp path live %s | grep -q 'connections 0'", text));
	/* No peer is remembered. */
	ASSERT_TRUE(set_sysctl(NEAR, "peers_max", 0));
	ASSERT_TRUE(open_pair(self->l, &p));
	close_pair(&p);
	ASSERT_TRUE(all_forgotten());
	EXPECT_EQ(0, wait_for_most(NEAR, "IdlePeers", 0, patience(20)));
	for (i = 0; i < 10; i++) {
		setns(world->ns[FAR], CLONE_NEWNET);
		shell(is_ip6_world() ? "ip address del fd00::1%d/64 dev eth0" :
				       "ip address del 10.0.0.1%d/24 dev eth0", i);
	}
}

/* Peers with many paths are large: in all namespaces they take 1/32 of the memory at most. */
TEST_F_TIMEOUT(peers, bounded_by_memory, 800)
{
	union address to = any_address(port);
	struct sysinfo machine;
	long long most, i;
	struct pair p;

	ASSERT_EQ(0, sysinfo(&machine));
	/* A path takes 64 bytes at least. */
	most = (long long)machine.totalram * machine.mem_unit / 32 / (256 * 64);
	if (!virtual_time() || is_ip6_world() || most > 10000)
		SKIP(return, "it takes thousands of connections");
	ASSERT_TRUE(set_sysctl(NEAR, "peers_max", 65536));
	ASSERT_TRUE(set_sysctl(NEAR, "paths", 256));
	ASSERT_EQ(0, setns(world->ns[FAR], CLONE_NEWNET));
	shell("ip route add local 10.9.0.0/16 dev lo");
	ASSERT_EQ(0, setns(world->ns[NEAR], CLONE_NEWNET));
	shell("ip route add 10.9.0.0/16 via 10.0.0.2");
	for (i = 0; i < most && stat_of(NEAR, "IdlePeers") + 100 > (unsigned long long)i; i++) {
		to.in.sin_addr.s_addr = htonl(0x0a090001 + i);
		ASSERT_TRUE(connect_pair(self->l, &p, 0, &to));
		close_pair(&p);
	}
	printf("# %lld connections leave %llu peers\n", i, stat_of(NEAR, "IdlePeers"));
	EXPECT_LT(100, stat_of(NEAR, "IdlePeers"));
	EXPECT_GT(most, i);
	set_sysctl(NEAR, "paths", PATHS);
	shell("ip route del 10.9.0.0/16");
	ASSERT_EQ(0, setns(world->ns[FAR], CLONE_NEWNET));
	shell("ip route del local 10.9.0.0/16 dev lo");
}

/* Existing connections keep their paths, new ones get those configured now. */
TEST_F_TIMEOUT(peers, configured, 400)
{
	const char *far = world->address[FAR];
	struct pair p[5];
	int i;

	ASSERT_TRUE(open_pair(self->l, &p[0]));
	/* A path to another host changes nothing. */
	ASSERT_EQ(0, setns(world->ns[NEAR], CLONE_NEWNET));
	ASSERT_EQ(0, shell("ndp path add %s mark 1", world->nowhere));
	ASSERT_TRUE(open_pair(self->l, &p[1]));
	EXPECT_EQ(1, shown().peers);
	EXPECT_EQ(2, shown().conns);
	ASSERT_EQ(0, shell("ndp path add %s entropy 50000", far));
	ASSERT_TRUE(open_pair(self->l, &p[2]));
	EXPECT_EQ(1, info_of(p[2].near).paths);
	ASSERT_EQ(0, shell("ndp path del %s && ndp path del %s", far, world->nowhere));
	ASSERT_TRUE(open_pair(self->l, &p[3]));
	EXPECT_EQ(PATHS, info_of(p[3].near).paths);
	ASSERT_TRUE(set_sysctl(NEAR, "paths", 7));
	ASSERT_TRUE(open_pair(self->l, &p[4]));
	EXPECT_EQ(7, info_of(p[4].near).paths);
	EXPECT_EQ(PATHS, info_of(p[0].near).paths);
	/* Peers that new connections no longer find are not shown. */
	EXPECT_EQ(7, shown().paths);
	for (i = 0; i < 5; i++) {
		EXPECT_TRUE(carries(&p[i]));
		close_pair(&p[i]);
	}
	ASSERT_TRUE(set_sysctl(NEAR, "paths", PATHS));
}

/* Routing depends on marks: each mark has its own peer, and a new mark may have a new route. */
TEST_F_TIMEOUT(peers, marks, 400)
{
	union address far = address(FAR, port);
	const char *ip = is_ip6_world() ? "ip -6" : "ip";
	unsigned long long refused;
	struct pair p, q;

	ASSERT_TRUE(open_pair(self->l, &p));
	ASSERT_TRUE(connect_pair(self->l, &q, 7, &far));
	EXPECT_EQ(2, shown().peers);
	EXPECT_EQ(1, shown().marked);
	ASSERT_EQ(0, set_int(p.near, SOL_SOCKET, SO_MARK, 7));
	EXPECT_TRUE(carries(&p));
	EXPECT_EQ(2, shown().marked);
	/* With another mark there is no route. */
	ASSERT_EQ(0, setns(world->ns[NEAR], CLONE_NEWNET));
	ASSERT_EQ(0, shell("%s rule add fwmark 8 prohibit", ip));
	ASSERT_EQ(0, set_int(p.near, SOL_SOCKET, SO_MARK, 8));
	refused = stat_of(NEAR, "LocalDrop");
	ASSERT_EQ(1, send(p.near, "x", 1, 0));
	EXPECT_TRUE(wait_for_rise(NEAR, "LocalDrop", refused, 10));
	EXPECT_TRUE(carries(&q));
	/* Nor is there one for a socket that is bound to a device that does not lead there. */
	ASSERT_EQ(0, setsockopt(q.near, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	refused = stat_of(NEAR, "LocalDrop");
	ASSERT_EQ(1, send(q.near, "x", 1, 0));
	EXPECT_TRUE(wait_for_rise(NEAR, "LocalDrop", refused, 10));
	ASSERT_EQ(0, setsockopt(q.near, SOL_SOCKET, SO_BINDTODEVICE, "eth1", 5));
	EXPECT_TRUE(until(q.far, POLLIN));
	EXPECT_EQ(0, shell("ndp path live | grep -q 'connections 1 .* mark 7 dev eth1'"));
	ASSERT_EQ(0, set_int(p.near, SOL_SOCKET, SO_MARK, 0));
	EXPECT_TRUE(until(p.far, POLLIN));
	ASSERT_EQ(0, setns(world->ns[NEAR], CLONE_NEWNET));
	ASSERT_EQ(0, shell("%s rule del fwmark 8 prohibit", ip));
	close_pair(&p);
	close_pair(&q);
}

/* Each user has a peer as well, as routing rules may depend on users. */
TEST_F_TIMEOUT(peers, users, 400)
{
	struct pair p;
	int a, id;

	ASSERT_TRUE(open_pair(self->l, &p));
	if (!fork()) {
		if (setns(world->ns[NEAR], CLONE_NEWNET) || setuid(4711))
			_exit(1);
		/* A socket created with that user's credentials. */
		a = a_socket(SOCK_STREAM);
		id = 5;
		if (a < 0 || connect_to(a, port) || send(a, &id, sizeof(id), 0) < 0)
			_exit(2);
		recv(a, &id, sizeof(id), 0);
		_exit(0);
	}
	a = let_in(self->l, &id);
	ASSERT_LE(0, a);
	EXPECT_EQ(5, id);
	EXPECT_EQ(2, shown().peers);
	EXPECT_EQ(1, shown().of_users);
	close(a);
	EXPECT_EQ(1, all_well(1));
	close_pair(&p);
}

/* A connection accepted by a worker of another user follows that user's routing rules. */
TEST_F_TIMEOUT(peers, workers, 400)
{
	const char *ip = is_ip6_world() ? "ip -6" : "ip";
	unsigned long long refused;
	struct pair p, q;
	int i;

	ASSERT_TRUE(open_pair(self->l, &p));
	ASSERT_EQ(0, setns(world->ns[FAR], CLONE_NEWNET));
	ASSERT_EQ(0, shell("%s rule add uidrange 4712-4712 prohibit", ip));
	q.near = new_socket(NEAR, 0);
	ASSERT_EQ(0, connect_to(q.near, port));
	ASSERT_EQ(1, send(q.near, "x", 1, 0));
	ASSERT_TRUE(until(self->l, POLLIN));
	refused = stat_of(FAR, "LocalDrop");
	if (!fork()) {
		int a;

		if (setuid(4712))
			_exit(1);
		a = accept(self->l, NULL, NULL);
		if (a < 0 || send(a, "y", 1, MSG_NOSIGNAL) != 1)
			_exit(2);
		/* Wait until the rule is deleted and the client closes. */
		recv(a, (char *)&i, sizeof(i), MSG_WAITALL);
		_exit(0);
	}
	/* The worker's packets have no route, root's packets have one. */
	EXPECT_TRUE(wait_for_rise(FAR, "LocalDrop", refused, 10));
	for (i = 0; i < 10; i++)
		EXPECT_EQ(1, send(p.far, "x", 1, 0));
	EXPECT_TRUE(until(p.near, POLLIN));
	ASSERT_EQ(0, setns(world->ns[FAR], CLONE_NEWNET));
	ASSERT_EQ(0, shell("%s rule del uidrange 4712-4712 prohibit", ip));
	EXPECT_TRUE(until(q.near, POLLIN));
	shutdown(q.near, SHUT_WR);
	EXPECT_EQ(1, all_well(1));
	close(q.near);
	close_pair(&p);
}

TEST_HARNESS_MAIN
