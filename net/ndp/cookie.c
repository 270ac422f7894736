// SPDX-License-Identifier: GPL-2.0
/*
 * AF_NDP cookies: openings that prove the peer's address, at the price of a round trip.
 *
 * A first window may come from a forged address (NDP paper, section 3.2.2, leaves that
 * open).  A listener that demands cookies (verify.c) keeps nothing of it and answers with a
 * number, no larger than what came.  The initiator sends it back, and only that opens
 * the connection; then it sends its first window again.  The number is a time of about
 * 1 ms and a keyed hash (SipHash) of that time and of what tells the connection from
 * others, so that the listener need not remember it.
 *
 * A namespace that has all the tombstones it may (timewait.c) opens by cookies alone.
 * Such a connection leaves none, unless we abort it: then the peer may not know that it
 * was open, and open it again.  That it cannot be opened by a late copy of one of its
 * cookies is seen to otherwise: for each of 256 classes of connection ids it is kept when
 * the last of them ended, and no cookie made until then is taken any more.  Who is
 * refused without cause gets a new one.  Copies of its first window open nothing, because
 * cookies are asked of all until no copy can be left; the peer answers those that they
 * bring about as one whose connection is open, not as one that opens.
 *
 * A token is the longer-lived kind, bound to an address alone: whoever was challenged once
 * shows it beside its next first window (verify.c).  It opens nothing twice, because
 * connections that it opens leave tombstones as others do.
 */
#include "table.h"

/* Lifetime of a cookie, in units of 2^20 ns. */
#define NDP_COOKIE_LIFE		8192
#define NDP_COOKIE_TIME_MASK	0xffffULL

void ndp_cookie_net_init(struct ndp_net *nn)
{
	get_random_bytes(&nn->cookie_key, sizeof(nn->cookie_key));
}

/* The current time in those units, never 0: a floor that was never set is 0. */
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
 * ndp_cookie_make - the number to ask an initiator for
 * @nn:		namespace
 * @key:	of the acceptor's entry
 *
 * Return: the number.
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
 * ndp_cookie_good - is it a number that we asked for?
 * @nn:		namespace
 * @key:	of the acceptor's entry
 * @nh:		COOKIE of the initiator
 *
 * Return: yes, and it is still good.
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
 * Tokens: as cookies, but for any connection of an address and for long.  Their time is
 * counted in units of 2^36 ns, about a minute, and they are good for an hour.
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
 * ndp_token_make - a number by which an address can be known in later connections
 * @nn:		namespace
 * @initiator:	verified address
 *
 * Return: the number.
 */
u64 ndp_token_make(const struct ndp_net *nn, const struct in6_addr *initiator)
{
	return ndp_token_value(nn, initiator, ndp_token_now());
}

/**
 * ndp_token_good - is it a token that we gave to this address?
 * @nn:		namespace
 * @initiator:	source of the packet
 * @nh:		COOKIE with NDP_F_TOKEN
 * @stale:	set to whether it should be renewed
 *
 * Return: yes, and it is still good.
 */
bool ndp_token_good(const struct ndp_net *nn, const struct in6_addr *initiator,
		    const struct ndphdr *nh, bool *stale)
{
	u64 token = ndp_hdr_cookie(nh);
	u64 now = ndp_token_now();
	u64 age = (now - token) & NDP_COOKIE_TIME_MASK;

	*stale = age > NDP_TOKEN_LIFE / 2;
	return age <= NDP_TOKEN_LIFE && age < now &&
	       token == ndp_token_value(nn, initiator, now - age);
}

/**
 * ndp_cookies_only - does nothing open without a cookie in this namespace?
 * @nn:		namespace
 *
 * Return: yes.
 */
bool ndp_cookies_only(const struct ndp_net *nn)
{
	return ndp_tomb_full(nn) || ktime_get_ns() < READ_ONCE(nn->cookies_until);
}

/**
 * ndp_cookie_retire - a connection ends without a tombstone
 * @nn:		namespace
 * @key:	of the acceptor's entry
 * @until:	when no copy of its packets can be left, ktime_get_ns()
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
