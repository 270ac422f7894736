// SPDX-License-Identifier: GPL-2.0
/* Parse the settings of ndp_run (settings.h), and find destinations for which TCP is used. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"

/* Return: false, always. */
static bool wrong(char error[SETTINGS_ERROR], const char *what, const char *text)
{
	snprintf(error, SETTINGS_ERROR, "%s \"%.80s\"", what, text);
	return false;
}

static bool parse_number(const char *text, long least, long most, long *value)
{
	char *end;

	/* strtol() would take spaces and signs. */
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtol(text, &end, 10);
	return !errno && !*end && *value >= least && *value <= most;
}

/* Parse PORT or PORT-PORT; @item is modified. */
static bool parse_ports(char *item, struct except *e)
{
	char *dash = strchr(item, '-');
	long first, last;

	if (dash)
		*dash++ = '\0';
	if (!parse_number(item, 1, UINT16_MAX, &first) ||
	    !parse_number(dash ?: item, first, UINT16_MAX, &last))
		return false;
	e->first = first;
	e->last = last;
	return true;
}

/* Are there bits behind the prefix?  They must be 0, as in a route. */
static bool bits_beyond(const struct in6_addr *net, unsigned int prefix)
{
	unsigned int i;

	for (i = prefix; i < 128; i++)
		if (net->s6_addr[i / 8] & (0x80 >> (i % 8)))
			return true;
	return false;
}

/* Parse ADDRESS or ADDRESS/LENGTH; @item is modified. */
static bool parse_network(char *item, struct except *e)
{
	char *slash = strchr(item, '/'), mapped[80];
	bool ip4 = !strchr(item, ':');
	long prefix = ip4 ? 32 : 128;

	if (slash)
		*slash++ = '\0';
	if (slash && !parse_number(slash, 0, prefix, &prefix))
		return false;
	snprintf(mapped, sizeof(mapped), "%s%s", ip4 ? "::ffff:" : "", item);
	if (inet_pton(AF_INET6, mapped, &e->net) != 1)
		return false;
	e->prefix = prefix + (ip4 ? 96 : 0);
	return !bits_beyond(&e->net, e->prefix);
}

static bool add_except(struct settings *s, const char *item, char error[SETTINGS_ERROR])
{
	struct except e = { 0 };
	char copy[64];

	if (s->excepts == EXCEPT_MAX)
		return wrong(error, "no room for one more exception:", item);
	snprintf(copy, sizeof(copy), "%s", item);
	if (strpbrk(item, ".:")) {
		if (strlen(item) >= sizeof(copy) || !parse_network(copy, &e))
			return wrong(error, "no network (ADDRESS or ADDRESS/LENGTH):", item);
	} else if (!parse_ports(copy, &e)) {
		return wrong(error, "no port (PORT or FIRST-LAST, 1 to 65535):", item);
	}
	s->except[s->excepts++] = e;
	return true;
}

static bool parse_fallback(struct settings *s, const char *ms, char error[SETTINGS_ERROR])
{
	long value = FALLBACK_MS;

	if (ms && !parse_number(ms, 1, FALLBACK_MS_MAX, &value))
		return wrong(error, "no time in ms (1 to 60000):", ms);
	s->fallback_ms = value;
	return true;
}

static bool parse_transport(struct settings *s, const char *name, char error[SETTINGS_ERROR])
{
	if (!name || strlen(name) >= sizeof(s->transport))
		return wrong(error, "no name of a transport:", name ?: "");
	snprintf(s->transport, sizeof(s->transport), "%s", name);
	return true;
}

/* Parse one statement, which is split into words. */
static bool parse_statement(struct settings *s, char *text, char error[SETTINGS_ERROR])
{
	const char *between = " \t\r,=";
	char *state, *word, *value;

	word = strtok_r(text, between, &state);
	if (!word)
		return true;
	value = strtok_r(NULL, between, &state);
	if (!strcmp(word, "except")) {
		if (!value)
			return wrong(error, "ports or networks are missing behind", word);
		for (; value; value = strtok_r(NULL, between, &state))
			if (!add_except(s, value, error))
				return false;
		return true;
	}
	if (!strcmp(word, "fallback")) {
		if (!parse_fallback(s, value, error))
			return false;
		value = value ? strtok_r(NULL, between, &state) : NULL;
	} else if (!strcmp(word, "transport")) {
		if (!parse_transport(s, value, error))
			return false;
		value = strtok_r(NULL, between, &state);
	} else if (!strcmp(word, "zero-rtt")) {
		s->zero_rtt = true;
	} else if (!strcmp(word, "verbose")) {
		s->verbose = true;
	} else {
		return wrong(error, "unknown word", word);
	}
	return !value || wrong(error, "too much:", value);
}

/* Parse one line: statements separated by semicolons, then perhaps a comment. */
static bool parse_line(struct settings *s, char *line, char error[SETTINGS_ERROR])
{
	char *text, *state;

	line[strcspn(line, "#")] = '\0';
	for (text = strtok_r(line, ";", &state); text; text = strtok_r(NULL, ";", &state))
		if (!parse_statement(s, text, error))
			return false;
	return true;
}

/**
 * settings_parse - parse a text and add to the settings
 * @s:		settings
 * @text:	lines; a semicolon ends a statement as well, # begins a comment
 * @error:	error message
 *
 * Return: false on an error; @s then has the statements before it.
 */
bool settings_parse(struct settings *s, const char *text, char error[SETTINGS_ERROR])
{
	char copy[SETTINGS_TEXT_MAX], *line, *state;

	if (strlen(text) >= sizeof(copy))
		return wrong(error, "too long:", text);
	memcpy(copy, text, strlen(text) + 1);
	for (line = strtok_r(copy, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
		if (!parse_line(s, line, error))
			return false;
	if (s->zero_rtt && s->fallback_ms)
		return wrong(error, "zero-rtt does not know whether a peer refuses:", "fallback");
	return true;
}

/**
 * settings_read - read a file of settings
 * @path:	name of the file
 * @text:	contents of the file
 *
 * Return: 0 or an errno.
 */
int settings_read(const char *path, char text[SETTINGS_TEXT_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	size_t len = 0;
	ssize_t n;

	text[0] = '\0';
	if (fd < 0)
		return errno;
	/* A pipe may return the text in pieces. */
	do {
		n = read(fd, text + len, SETTINGS_TEXT_MAX - len);
		len += n > 0 ? n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		err = errno;
	else if (len == SETTINGS_TEXT_MAX)
		err = EFBIG;
	text[err ? 0 : len] = '\0';
	close(fd);
	return err;
}

static bool in_network(const struct in6_addr *a, const struct except *e)
{
	unsigned int bytes = e->prefix / 8, bits = e->prefix % 8;

	return !memcmp(a, &e->net, bytes) &&
	       (!bits || !((a->s6_addr[bytes] ^ e->net.s6_addr[bytes]) >> (8 - bits)));
}

/**
 * settings_except - is TCP used for a destination?
 * @s:		settings
 * @to:		peer of a connect(), own name in a bind()
 */
bool settings_except(const struct settings *s, const struct destination *to)
{
	unsigned int i;

	for (i = 0; i < s->excepts; i++) {
		const struct except *e = &s->except[i];

		if (e->first ? to->port >= e->first && to->port <= e->last :
		    in_network(&to->addr, e))
			return true;
	}
	return false;
}
