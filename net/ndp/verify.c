// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP address verification: is the peer where its packets say it is?
 *
 * A first window opens a connection without a handshake, so its source address may be spoofed,
 * and the application's answer would go to a third host.  Until a peer has shown that it receives
 * what is sent to its address, its connection is unverified:
 *
 * - The peer is sent no more than net.ndp.amplification times the bytes that it sent, but at
 *   least one packet, cut to what is left (QUIC's rule, RFC 9000, section 8.1).  Packets that the
 *   limit holds back are not probed for and not sent at a timeout: a challenge (COOKIE) is sent
 *   instead, one per timeout, which doubles.
 * - An answer to the first packet that we sent verifies the peer: that answer echoes 48 random
 *   bits, our first PSN and the path number, which is masked with a random number on the wire
 *   (path_mask).  A good cookie, or a good token, verifies the peer too.  Until then cumulative
 *   PSNs acknowledge nothing.
 * - A listener counts its unverified connections.  While they, or the unaccepted ones, are more
 *   than half its backlog, openings need a cookie (cookie.c), and the peers of open unverified
 *   connections are challenged, and pulled from only when they have answered.
 * - A connection that is still unverified after NDP_GIVE_UP is ended silently; while its listener
 *   demands cookies or memory is short, after NDP_UNVERIFIED_SHORT.
 * - An unverified peer is not trusted to show which path loses our answers (score.c).  Instead
 *   its duplicates trigger a challenge, but no more often than once in NDP_CHALLENGE_AGAIN.
 *
 * A peer that had to be challenged or was held back is given a token: a number that proves its
 * address in later connections, as TCP Fast Open's cookie does.  The initiator keeps the token
 * and sends it beside its next first window to that host, so that only the first large answer
 * pays a round trip.
 *
 * Packets that arrive by the loopback device were not forged by another host, and need no proof.
 *
 * Non-goals: attacks by peers at their true address.  The backlog, the limits of memory and the
 * application protect against those.
 */
#include <linux/jhash.h>
#include "conn.h"

/* Time until the first challenge while nothing is held back: most connections need none. */
#define NDP_CHALLENGE_IDLE	(1000 * NDP_MSEC)

/* Least time between challenges that duplicates of answered packets cause: some round trips. */
#define NDP_CHALLENGE_AGAIN	(NDP_RTO_MIN / 4)

/* Lifetime of an unverified connection while its listener or memory is under pressure. */
#define NDP_UNVERIFIED_SHORT	(3000 * NDP_MSEC)

/**
 * ndp_unverified_begin - the peer of a new connection is unverified
 * @np:		connection, fresh
 * @lsk:	its listener
 *
 * Context: nobody else sees @np.
 */
void ndp_unverified_begin(struct ndp_sock *np, struct sock *lsk)
{
	sock_hold(lsk);
	np->unverified_at = lsk;
	atomic_inc(&ndp_sk(lsk)->unverified);
	np->unverified_since = ktime_get_ns();
	np->challenge_at = np->unverified_since + NDP_CHALLENGE_IDLE;
	np->challenge_ns = NDP_CHALLENGE_IDLE;
}

/**
 * ndp_unverified_end - the listener no longer counts the connection
 * @np:		connection, verified or over
 *
 * Context: np->lock held, or nobody else sees @np.
 */
void ndp_unverified_end(struct ndp_sock *np)
{
	struct sock *lsk = np->unverified_at;

	if (!lsk)
		return;
	np->unverified_at = NULL;
	np->challenge_at = 0;
	np->held_back = false;
	atomic_dec(&ndp_sk(lsk)->unverified);
	sock_put(lsk);
}

/**
 * ndp_verified - the peer has shown that it receives what is sent to its address
 * @np:		connection
 * @challenged:	it had to be challenged, or its token is stale: give it a new token
 *
 * Packets that were held back are sent by the caller's ndp_output().
 *
 * Context: np->lock held.
 */
void ndp_verified(struct ndp_sock *np, bool challenged)
{
	struct ndp_net *nn = np->nn;
	bool give = challenged || np->held_back;

	ndp_unverified_end(np);
	if (give)
		ndp_send_cookie(np, ndp_token_make(nn, &np->daddr), NDP_F_TOKEN);
}

/**
 * ndp_verified_by_answer - verify the peer if an answer echoes what only it can know
 * @np:		connection
 * @cb:		packet of ours that is answered
 * @path:	path that the answer echoes, unmasked
 *
 * Context: np->lock held.
 */
void ndp_verified_by_answer(struct ndp_sock *np, const struct ndp_tx_cb *cb,
			    u16 path)
{
	if (ndp_is_unverified(np) && cb->psn == np->isn && cb->path == path)
		ndp_verified(np, false);
}

/**
 * ndp_unverified_received - a packet of the peer raises the limit on what it is sent
 * @np:		unverified connection
 * @skb:	packet, data at the UDP header
 *
 * A peer that sends again may have missed all challenges so far, and need not wait until the
 * doubled interval is over.
 *
 * Context: np->lock held; the caller's ndp_output() sets the timer.
 */
void ndp_unverified_received(struct ndp_sock *np, const struct sk_buff *skb)
{
	np->unverified_in += skb->len + ndp_outer_len(np) - sizeof(struct udphdr);
	np->challenge_at = min(np->challenge_at,
			       ktime_get_ns() + NDP_CHALLENGE_IDLE);
}

/**
 * ndp_unverified_again - a packet that was answered has arrived again
 * @np:		connection
 *
 * The lost answer of an unverified peer is charged to no path (score.c); instead the next
 * challenge is sent now, but not sooner than NDP_CHALLENGE_AGAIN after the last, which may have
 * been lost too.
 *
 * Context: np->lock held; the caller's ndp_output() sets the timer.
 */
void ndp_unverified_again(struct ndp_sock *np)
{
	if (ndp_is_unverified(np))
		np->challenge_at = min(np->challenge_at, np->challenged_at + NDP_CHALLENGE_AGAIN);
}

/* Payload that an unverified peer may be sent in one packet. */
static s64 ndp_unverified_room(const struct ndp_sock *np)
{
	const struct ndp_net *nn = np->nn;
	u32 factor = READ_ONCE(nn->amplification);

	if (!factor)
		return S64_MAX;
	return (s64)factor * np->unverified_in - np->unverified_out -
	       ndp_outer_len(np) - NDP_HDR_LEN;
}

/* The limit holds packets back: a challenge is sent after one timeout. */
static void ndp_hold_back(struct ndp_sock *np)
{
	if (np->held_back)
		return;
	np->held_back = true;
	NDP_CONN_INC(np, HELD_BACK);
	np->challenge_ns = ndp_rto(np);
	np->challenge_at = min(np->challenge_at,
			       ktime_get_ns() + np->challenge_ns);
}

/**
 * ndp_unverified_most - how much payload may the next new packet have?
 * @np:		connection
 *
 * Context: np->lock held.
 * Return: bytes; at least 1 for the first packet, whose answer verifies the peer.
 */
u32 ndp_unverified_most(const struct ndp_sock *np)
{
	if (!ndp_is_unverified(np) || np->snd_nxt != np->isn)
		return U32_MAX;
	return clamp_t(s64, ndp_unverified_room(np), 1, U32_MAX);
}

/**
 * ndp_unverified_holds - does the limit hold a numbered packet back?
 * @np:		connection
 * @len:	its payload
 *
 * Context: np->lock held.
 * Return: true if so; the packet stays in its queue.
 */
bool ndp_unverified_holds(struct ndp_sock *np, u32 len)
{
	if (!ndp_is_unverified(np) || np->snd_nxt == np->isn ||
	    ndp_unverified_room(np) >= (s64)len)
		return false;
	ndp_hold_back(np);
	return true;
}

/**
 * ndp_challenge - ask the peer to show that it receives what is sent to its address
 * @np:		unverified connection
 *
 * Context: np->lock held.
 */
void ndp_challenge(struct ndp_sock *np)
{
	const struct ndp_net *nn = np->nn;

	np->challenged_at = ktime_get_ns();
	ndp_send_cookie(np, ndp_cookie_make(nn, &np->entry.key), 0);
}

/* How long may a connection stay unverified? */
static u64 ndp_unverified_limit(const struct ndp_sock *np)
{
	const struct sock *sk = &np->inet.sk;

	if (ndp_must_verify(np) || ndp_mem_full(sk) || ndp_mem_pressure(sk) ||
	    ndp_listener_full(np, np->rcv_truesize))
		return NDP_UNVERIFIED_SHORT;
	return NDP_GIVE_UP;
}

/**
 * ndp_check_challenge - challenge a peer if that is due
 * @np:		connection
 * @now:	ktime_get_ns()
 *
 * Context: np->lock held.
 * Return: true if the connection has been unverified for too long, and is to be ended.
 */
bool ndp_check_challenge(struct ndp_sock *np, u64 now)
{
	if (!np->challenge_at || np->challenge_at > now)
		return false;
	if (now - np->unverified_since >= ndp_unverified_limit(np))
		return true;
	ndp_challenge(np);
	/* However often the interval has doubled, the connection is ended in time. */
	np->challenge_at = min(now + np->challenge_ns,
			       np->unverified_since + NDP_GIVE_UP);
	np->challenge_ns = min(2 * np->challenge_ns, NDP_GIVE_UP);
	return false;
}

/* The initiator's tokens, in a table hashed by the pair of addresses; the newest stays. */

#define NDP_TOKENS	256

/**
 * struct ndp_token - a token that a host gave us for later connections
 * @peer:	that host
 * @local:	address of ours that the token vouches for
 * @value:	the token
 */
struct ndp_token {
	struct in6_addr		peer;
	struct in6_addr		local;
	u64			value;
};

static struct ndp_token *ndp_token_slot(struct ndp_net *nn,
					const struct ndp_sock *np)
{
	u32 hash = jhash(&np->saddr, sizeof(np->saddr),
			 jhash(&np->daddr, sizeof(np->daddr), 0));

	return &nn->tokens[hash % NDP_TOKENS];
}

/* Context: token_lock held.  The table is allocated when the first token arrives. */
static bool ndp_tokens_alloc(struct ndp_net *nn)
{
	if (!nn->tokens)
		WRITE_ONCE(nn->tokens, kcalloc(NDP_TOKENS, sizeof(*nn->tokens),
					       GFP_ATOMIC | __GFP_NOWARN));
	return nn->tokens;
}

/**
 * ndp_token_keep - keep the token that an acceptor gave
 * @np:		connection that this host opened
 * @value:	token
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_token_keep(struct ndp_sock *np, u64 value)
{
	struct ndp_net *nn = np->nn;

	spin_lock(&nn->token_lock);
	if (ndp_tokens_alloc(nn))
		*ndp_token_slot(nn, np) = (struct ndp_token) {
			.peer = np->daddr, .local = np->saddr, .value = value,
		};
	spin_unlock(&nn->token_lock);
}

/**
 * ndp_token_show - show the acceptor a token, if it gave one
 * @np:		connection whose first packet is about to leave
 *
 * Context: np->lock held, softirqs off.
 */
void ndp_token_show(struct ndp_sock *np)
{
	struct ndp_net *nn = np->nn;
	const struct ndp_token *token;
	u64 value = 0;

	if (np->acceptor || !READ_ONCE(nn->tokens))
		return;
	spin_lock(&nn->token_lock);
	token = ndp_token_slot(nn, np);
	if (ipv6_addr_equal(&token->peer, &np->daddr) &&
	    ipv6_addr_equal(&token->local, &np->saddr))
		value = token->value;
	spin_unlock(&nn->token_lock);
	if (value)
		ndp_send_cookie(np, value, NDP_F_TOKEN);
}

void ndp_verify_net_init(struct ndp_net *nn)
{
	spin_lock_init(&nn->token_lock);
}

void ndp_verify_net_exit(struct ndp_net *nn)
{
	kfree(nn->tokens);
}
