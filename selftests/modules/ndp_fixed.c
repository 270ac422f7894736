// SPDX-License-Identifier: GPL-2.0
/*
 * A transport for tests: a window of fixed size, on one path.
 *
 * It uses all that AF_NDP offers a transport without credit of its own
 * (Documentation/transports.md): the receiver limits the packets in flight to its @window, which
 * the sender asks for by a SIGNAL; until then FIXED_FIRST may be in flight.  With @rate_mbit
 * packets are paced at that rate.
 *
 * Non-goals: being of use on a network; it has no congestion control.
 */
#include <linux/module.h>
#include "../../net/ndp/transport.h"

static unsigned int window = 16;
module_param(window, uint, 0644);
MODULE_PARM_DESC(window, "packets in flight that a receiver allows (default 16)");

static unsigned int rate_mbit;
module_param(rate_mbit, uint, 0644);
MODULE_PARM_DESC(rate_mbit, "pace of each sender, Mb/s of payload (default 0: none)");

static unsigned int begun;
module_param(begun, uint, 0444);
MODULE_PARM_DESC(begun, "connections that it has had");

/* Packets in flight until the peer has answered. */
#define FIXED_FIRST	4

/* How far departure times may run ahead, if the qdisc does not enforce them. */
#define FIXED_AHEAD	(10 * NDP_MSEC)

/* Interval at which the peer is asked until it answers. */
#define FIXED_AGAIN	(10 * NDP_MSEC)

enum {
	FIXED_ASK = 1,
	FIXED_TELL,
};

/**
 * struct fixed - state of a connection
 * @window:	packets that may be in flight
 * @told:	has the peer announced its limit?
 * @next:	when the next packet may leave, ktime_get_ns()
 */
struct fixed {
	u32	window;
	bool	told;
	u64	next;
};

static void fixed_init(struct ndp_sock *np, u32 start)
{
	struct fixed *fixed = ndp_transport_priv(np);

	/* A statistic for tests: a lost update does not matter. */
	data_race(begun++);
	fixed->window = FIXED_FIRST;
	fixed->told = false;
	fixed->next = 0;
}

static bool fixed_may_send(const struct ndp_sock *np, enum ndp_send what, u32 len)
{
	const struct fixed *fixed = ndp_transport_priv(np);

	switch (what) {
	case NDP_SEND_NACKED:
	case NDP_SEND_NEW:
		return np->flight_pkts < fixed->window;
	default:
		return true;
	}
}

static u16 fixed_pick_path(struct ndp_sock *np, const struct ndp_tx_cb *cb)
{
	return 0;
}

static u64 fixed_not_before(struct ndp_sock *np, u32 len)
{
	struct fixed *fixed = ndp_transport_priv(np);
	u32 rate = READ_ONCE(rate_mbit);
	u64 at, now;

	if (!rate)
		return 0;
	now = ktime_get_ns();
	at = clamp(fixed->next, now, now + FIXED_AHEAD);
	fixed->next = at + div_u64(8000ULL * len, rate);
	return at;
}

static void fixed_ask(struct ndp_sock *np)
{
	ndp_send_signal(np, FIXED_ASK, 0);
	np->transport_at = ktime_get_ns() + FIXED_AGAIN;
}

/* The peer knows the connection once it has acknowledged something. */
static void fixed_acked(struct ndp_sock *np, const struct ndp_tx_cb *cb,
			bool cumulative)
{
	const struct fixed *fixed = ndp_transport_priv(np);

	if (!fixed->told && !np->transport_at)
		fixed_ask(np);
}

static void fixed_signal(struct ndp_sock *np, u16 kind, u32 value)
{
	struct fixed *fixed = ndp_transport_priv(np);

	switch (kind) {
	case FIXED_ASK:
		ndp_send_signal(np, FIXED_TELL, READ_ONCE(window));
		break;
	case FIXED_TELL:
		fixed->window = clamp(value, 1U, (u32)NDP_MAX_WINDOW);
		fixed->told = true;
		np->transport_at = 0;
		break;
	}
}

static void fixed_info(struct ndp_sock *np, struct ndp_info *info)
{
	const struct fixed *fixed = ndp_transport_priv(np);

	info->iw = fixed->window;
	info->pull_rate_bps = READ_ONCE(rate_mbit) * 1000000ULL;
}

static const struct ndp_transport fixed_transport = {
	.name		= "fixed",
	.owner		= THIS_MODULE,
	.id		= NDP_TRANSPORT_ID_TRIAL,
	.priv_size	= sizeof(struct fixed),
	.init		= fixed_init,
	.may_send	= fixed_may_send,
	.pick_path	= fixed_pick_path,
	.not_before	= fixed_not_before,
	.acked		= fixed_acked,
	.signal		= fixed_signal,
	.timer		= fixed_ask,
	.info		= fixed_info,
};

module_ndp_transport(fixed_transport);

MODULE_DESCRIPTION("AF_NDP transport for tests: a window of fixed size");
MODULE_LICENSE("GPL");
MODULE_ALIAS("ndp-transport-fixed");
