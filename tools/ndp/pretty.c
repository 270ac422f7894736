// SPDX-License-Identifier: GPL-2.0
/*
 * Pretty-printed JSON: compact JSON written to standard output is printed one value per line,
 * as by ip -j -p.
 *
 * Standard output is replaced by a stream whose bytes are reformatted here, so the rest of the
 * program is not affected.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ndp.h"

/* Columns of indentation per level */
#define INDENT	4

/* State of the JSON parser before the next byte. */
static struct {
	FILE		*out;
	unsigned int	depth;
	bool		in_string, escaped;
	bool		opened;		/* last byte was { or [, which may turn out to be empty */
} pretty;

static void new_line(void)
{
	fprintf(pretty.out, "\n%*s", pretty.depth * INDENT, "");
}

static void write_in_string(char c)
{
	putc(c, pretty.out);
	if (pretty.escaped)
		pretty.escaped = false;
	else if (c == '\\')
		pretty.escaped = true;
	else if (c == '"')
		pretty.in_string = false;
}

static void write_byte(char c)
{
	bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';

	pretty.depth -= closes;
	if (closes ? !pretty.opened : pretty.opened)
		new_line();
	pretty.opened = opens;
	pretty.depth += opens;
	pretty.in_string = c == '"';
	putc(c, pretty.out);
	if (c == ':')
		putc(' ', pretty.out);
	else if (c == ',')
		new_line();
}

static ssize_t write_pretty(void *cookie, const char *bytes, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (pretty.in_string)
			write_in_string(bytes[i]);
		else
			write_byte(bytes[i]);
	}
	/* For such a stream 0 reports an error. */
	return fflush(pretty.out) || ferror(pretty.out) ? 0 : (ssize_t)size;
}

/**
 * print_pretty - from now on print JSON one value per line
 */
void print_pretty(void)
{
	static const cookie_io_functions_t functions = { .write = write_pretty };
	FILE *f = fopencookie(NULL, "w", functions);

	if (!f)
		err(EXIT_FAILURE, "standard output");
	pretty.out = stdout;
	stdout = f;
}
