// SPDX-License-Identifier: GPL-2.0
/*
 * Text from outside: names of processes and devices are others' to choose, byte by byte, and
 * go to terminals, which obey what controls them, and into JSON, which has quotes and is UTF-8.
 */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "ndp.h"

/* What @text begins with: a character of UTF-8, or -1 for a byte that is in none; its length. */
static long first_of(const char *text, unsigned int *len)
{
	static const long least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	unsigned int n = *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4, i;
	long c = *s & (0xff >> (n + 1));

	*len = 1;
	if (*s < 0x80)
		return *s;
	if (*s < 0xc0 || *s > 0xf4)
		return -1;
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (s[i] & 0x3f);
	}
	/* Longer than it need be, or half of one of UTF-16's pairs, or none of Unicode's. */
	if (c < least[n] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		return -1;
	*len = n;
	return c;
}

static bool is_control(long c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0);
}

/**
 * print_text - for a terminal: ? in place of what controls it, and of what is not UTF-8
 * @text: what is printed
 */
void print_text(const char *text)
{
	unsigned int len;

	for (; *text; text += len) {
		if (is_control(first_of(text, &len)))
			putchar('?');
		else
			fwrite(text, 1, len, stdout);
	}
}

/**
 * print_json_string - a string of JSON, with its quotes
 * @text: what is printed; bytes that are not UTF-8 become U+FFFD
 */
void print_json_string(const char *text)
{
	unsigned int len;
	long c;

	putchar('"');
	for (; *text; text += len) {
		c = first_of(text, &len);
		if (is_control(c))
			printf("\\u%04lx", c < 0 ? 0xfffd : c);
		else
			printf("%s%.*s", c == '"' || c == '\\' ? "\\" : "", (int)len, text);
	}
	putchar('"');
}

/**
 * device_text - the name of a device
 * @ifindex: its number, or 0
 * @text: has room for IF_NAMESIZE bytes
 *
 * Return: its name, its number where it has none any more, or nothing.
 */
const char *device_text(__u32 ifindex, char *text)
{
	if (ifindex && !if_indextoname(ifindex, text))
		snprintf(text, IF_NAMESIZE, "%u", ifindex);
	return ifindex ? text : "";
}
