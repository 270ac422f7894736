/* SPDX-License-Identifier: GPL-2.0 */
/* Common to the tools' command lines; an invalid argument ends the program. */
#ifndef NDP_OPTIONS_H
#define NDP_OPTIONS_H

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exit status of GNU programs for a wrong command line. */
#define EXIT_USAGE	2

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof(*(a)))

/* Parse a number, no less than 0; suffix K or M: thousands, millions. */
static inline long long parse_number(const char *what, const char *text)
{
	long long value, unit = 1;
	char *end;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end != text && (*end == 'K' || *end == 'M'))
		unit = *end++ == 'K' ? 1000 : 1000000;
	if (errno || end == text || *end || value < 0 ||
	    __builtin_mul_overflow(value, unit, &value))
		errx(EXIT_USAGE, "%s \"%s\" is not a number", what, text);
	return value;
}

/* Return: the index of @text among the @n @names. */
static inline unsigned int parse_name(const char *what, const char *text,
				      const char *const *names, size_t n)
{
	char list[256] = "";
	size_t i, at = 0;

	for (i = 0; i < n; i++) {
		if (!strcmp(text, names[i]))
			return i;
		if (at < sizeof(list))
			at += snprintf(list + at, sizeof(list) - at, "%s%s", i ? ", " : "",
				       names[i]);
	}
	errx(EXIT_USAGE, "%s \"%s\" is not one of %s", what, text, list);
}

#endif
