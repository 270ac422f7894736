/* SPDX-License-Identifier: GPL-2.0 */
/* Parsing and printing of IPv4 and IPv6 addresses, for all tools. */
#ifndef NDP_ADDRESS_H
#define NDP_ADDRESS_H

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/ndp.h>

union address {
	struct sockaddr		any;
	struct sockaddr_in	in;
	struct sockaddr_in6	in6;
};

/* Room for an address with a scope: fe80::1%eth0. */
#define ADDRESS_TEXT	(INET6_ADDRSTRLEN + 20)

static inline socklen_t address_len(const union address *a)
{
	return a->any.sa_family == AF_INET6 ? sizeof(a->in6) : sizeof(a->in);
}

/* The bytes of the address alone. */
static inline const void *address_bytes(const union address *a, size_t *len)
{
	if (a->any.sa_family == AF_INET6) {
		*len = sizeof(a->in6.sin6_addr);
		return &a->in6.sin6_addr;
	}
	*len = sizeof(a->in.sin_addr);
	return &a->in.sin_addr;
}

/* Make an address from such bytes; one of another length is left empty. */
static inline bool address_from(union address *a, const void *bytes, size_t len)
{
	memset(a, 0, sizeof(*a));
	if (len == sizeof(a->in6.sin6_addr)) {
		a->any.sa_family = AF_INET6;
		memcpy(&a->in6.sin6_addr, bytes, len);
		return true;
	}
	if (len != sizeof(a->in.sin_addr))
		return false;
	a->any.sa_family = AF_INET;
	memcpy(&a->in.sin_addr, bytes, len);
	return true;
}

/* The same address, whatever the port. */
static inline bool address_same(const union address *a, const union address *b)
{
	size_t n, m;
	const void *x = address_bytes(a, &n), *y = address_bytes(b, &m);

	return n == m && !memcmp(x, y, n);
}

/* Parse a numeric address, no name; its port is 0. */
static inline bool address_parse(const char *text, union address *a)
{
	struct addrinfo hints = {
		.ai_family = AF_INET6,
		.ai_flags = AI_NUMERICHOST,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *found;

	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &a->in.sin_addr) == 1) {
		a->any.sa_family = AF_INET;
		return true;
	}
	/* The address may have a scope. */
	if (getaddrinfo(text, NULL, &hints, &found))
		return false;
	memcpy(a, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return true;
}

static inline const char *address_text(const union address *a, char text[ADDRESS_TEXT])
{
	return getnameinfo(&a->any, address_len(a), text, ADDRESS_TEXT, NULL, 0,
			   NI_NUMERICHOST) ? "?" : text;
}

/* The port has the same offset in both families. */
static inline void address_set_port(union address *a, in_port_t port)
{
	a->in.sin_port = htons(port);
}

static inline in_port_t address_port(const union address *a)
{
	return ntohs(a->in.sin_port);
}

/* The protocol of an AF_NDP socket for addresses of @family. */
static inline int ndp_protocol(int family)
{
	return family == AF_INET6 ? NDP_PROTO_IPV6 : 0;
}

#endif
