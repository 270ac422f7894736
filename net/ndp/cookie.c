// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP cookies: openings that prove the peer's address, at the price of a round trip.
 *
 * A first window may have a spoofed source address (NDP paper, section 3.2.2, leaves that
 * open).  A listener that demands cookies (verify.c) keeps no state for it and answers with
 * a cookie, in a packet no larger than the one that arrived.  The initiator returns the
 * cookie, and only that opens the connection; then it sends its first window again.  A
 * cookie is a number made of a time in units of about 1 ms and a keyed hash (SipHash) of
 * that time and of the connection's key, so that the listener need not remember it.
 *
 * A namespace that has all the tombstones it may (timewait.c) opens connections by cookies
 * only.  These leave no tombstone, unless we abort them: the peer of an aborted connection
 * may not know that it was open, and may open it again.  Late copies of their cookies open
 * nothing: for each of 256 classes of connection ids the time is kept when such a connection
 * last ended, and cookies made until then are no longer accepted.  An initiator that is
 * refused without cause gets a new cookie.  Late copies of a first window open nothing
 * either, because every opening needs a cookie until no copy can be left; the peer returns
 * the cookies that such copies elicit without SYN, because its connection is open already.
 *
 * A token is a longer-lived cookie that is bound to an address alone: an initiator that was
 * challenged once sends it beside its next first window (verify.c).  A token opens no
 * connection twice, because connections opened by tokens leave tombstones as others do.
 */
#include "table.h"

/* Lifetime of a cookie, in units of 2^20 ns. */
#define NDP_COOKIE_LIFE		8192
#define NDP_COOKIE_TIME_MASK	0xffffULL

void ndp_cookie_net_init(struct ndp_net *nn)
{
	get_random_bytes(&nn->cookie_key, sizeof(nn->cookie_key));
}

/* The current time in units of 2^20 ns, never 0, which is a cookie floor that was never set. */
static u64 ndp_cookie_now(void)
{
	return (ktime_get_ns() >> 20) + 1;
}

static u64 ndp_cookie_value(const struct ndp_net *nn, const struct ndp_key *key,
			    u64 at)
{
	const struct {
		struct in6_addr	initiator;
		__be64		conn_id;
		__be16		iport;
		__be16		aport;
		u32		zero;
		u64		at;
	} __aligned(SIPHASH_ALIGNMENT) what = {
		.initiator = key->initiator,
		.conn_id = key->conn_id,
		.iport = key->iport,
		.aport = key->aport,
		.at = at,
	};

	return (siphash(&what, sizeof(what), &nn->cookie_key) &
		~NDP_COOKIE_TIME_MASK) | (at & NDP_COOKIE_TIME_MASK);
}

/**
 * ndp_cookie_make - make the cookie to ask an initiator for
 * @nn:		namespace
 * @key:	key of the acceptor's entry
 *
 * Return: the cookie.
 */
u64 ndp_cookie_make(const struct ndp_net *nn, const struct ndp_key *key)
{
	return ndp_cookie_value(nn, key, ndp_cookie_now());
}

static u32 ndp_cookie_class(const struct ndp_key *key)
{
	return be64_to_cpu(key->conn_id) % NDP_COOKIE_FLOORS;
}

/**
 * ndp_cookie_good - is a cookie one that we asked for, and still valid?
 * @nn:		namespace
 * @key:	key of the acceptor's entry
 * @nh:		COOKIE of the initiator
 *
 * Return: yes.
 */
bool ndp_cookie_good(const struct ndp_net *nn, const struct ndp_key *key,
		     const struct ndphdr *nh)
{
	u64 cookie = ndp_hdr_cookie(nh);
	u64 now = ndp_cookie_now();
	u64 age = (now - cookie) & NDP_COOKIE_TIME_MASK;
	u64 at = now - age;

	/* A cookie cannot be older than the system's uptime. */
	return age <= NDP_COOKIE_LIFE && age < now &&
	       cookie == ndp_cookie_value(nn, key, at) &&
	       at > READ_ONCE(nn->cookie_floor[ndp_cookie_class(key)]);
}

/*
 * Tokens are like cookies, but for any connection of an address and for longer.  Their time
 * is counted in units of 2^36 ns, about 69 s, and they are valid for about 69 minutes.
 */

#define NDP_TOKEN_LIFE		60

static u64 ndp_token_now(void)
{
	return (ktime_get_ns() >> 36) + 1;
}

static u64 ndp_token_value(const struct ndp_net *nn,
			   const struct in6_addr *initiator, u64 at)
{
	const struct {
		struct in6_addr	initiator;
		u64		at;
	} __aligned(SIPHASH_ALIGNMENT) what = {
		.initiator = *initiator,
		.at = at,
	};

	return (siphash(&what, sizeof(what), &nn->cookie_key) &
		~NDP_COOKIE_TIME_MASK) | (at & NDP_COOKIE_TIME_MASK);
}

/**
 * ndp_token_make - make a token that proves an address in later connections
 * @nn:		namespace
 * @initiator:	verified address
 *
 * Return: the token.
 */
u64 ndp_token_make(const struct ndp_net *nn, const struct in6_addr *initiator)
{
	return ndp_token_value(nn, initiator, ndp_token_now());
}

static bool ndp_token_good_at(const struct ndp_net *nn, const struct in6_addr *initiator,
			      u64 token, u64 now, bool *stale)
{
	u64 age = (now - token) & NDP_COOKIE_TIME_MASK;

	*stale = age > NDP_TOKEN_LIFE / 2;
	return age <= NDP_TOKEN_LIFE && age < now &&
	       token == ndp_token_value(nn, initiator, now - age);
}

/**
 * ndp_token_good - is a token one that we gave to this address, and still valid?
 * @nn:		namespace
 * @initiator:	source of the packet
 * @nh:		COOKIE with NDP_F_TOKEN
 * @stale:	set to whether the token should be renewed
 *
 * Return: yes.
 */
bool ndp_token_good(const struct ndp_net *nn, const struct in6_addr *initiator,
		    const struct ndphdr *nh, bool *stale)
{
	return ndp_token_good_at(nn, initiator, ndp_hdr_cookie(nh), ndp_token_now(), stale);
}

/**
 * ndp_cookies_only - does every opening in this namespace need a cookie?
 * @nn:		namespace
 *
 * Return: yes.
 */
bool ndp_cookies_only(const struct ndp_net *nn)
{
	return ndp_tomb_full(nn) || ktime_get_ns() < READ_ONCE(nn->cookies_until);
}

/**
 * ndp_cookie_retire - invalidate the cookies of a connection that ends without a tombstone
 * @nn:		namespace
 * @key:	key of the acceptor's entry
 * @until:	time from which on no copy of its packets can be left, ktime_get_ns()
 *
 * To be called before the connection leaves the table.
 *
 * Context: softirqs off.
 */
void ndp_cookie_retire(struct ndp_net *nn, const struct ndp_key *key, u64 until)
{
	spin_lock_bh(&nn->tomb_lock);
	WRITE_ONCE(nn->cookie_floor[ndp_cookie_class(key)], ndp_cookie_now());
	WRITE_ONCE(nn->cookies_until, max(nn->cookies_until, until));
	spin_unlock_bh(&nn->tomb_lock);
}
