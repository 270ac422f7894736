// SPDX-License-Identifier: GPL-2.0
/*
 * Untrusted text: names of processes and devices are chosen byte by byte by others, and are
 * printed to terminals, which obey control characters, and into JSON, which needs quoting and
 * UTF-8.
 */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "ndp.h"

/*
 * Return: the first character of @text, of UTF-8, or -1 for a byte that is in none; and its
 * @len.
 */
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
	/* Overlong, or a surrogate, or beyond Unicode. */
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
 * print_text - print to a terminal, with ? in place of control characters and of bytes that are
 * not UTF-8
 * @text: text to print
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
 * print_json_string - print a string of JSON, with its quotes
 * @text: text to print; bytes that are not UTF-8 become U+FFFD
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
 * @text: buffer of IF_NAMESIZE bytes
 *
 * Return: the name, the number if the device is gone, or an empty string.
 */
const char *device_text(__u32 ifindex, char *text)
{
	if (ifindex && !if_indextoname(ifindex, text))
		snprintf(text, IF_NAMESIZE, "%u", ifindex);
	return ifindex ? text : "";
}
