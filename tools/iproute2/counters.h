/* SPDX-License-Identifier: GPL-2.0 */
/* Common to the plugins for ip of switches and tunnels. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <string.h>
#include <linux/if_link.h>
#include "iproute2.h"
#include "plugin.h"

#define MAXLEN		1024
#define MAX_COUNTERS	64

static inline void print_number(const char *name, __u64 val)
{
	print_u64(PRINT_JSON, name, NULL, val);
	if (!is_json_context()) {
		print_string(PRINT_FP, NULL, "%s ", name);
		print_u64(PRINT_FP, NULL, "%llu ", val);
	}
}

/* Print counters by name; in text those from @drops on are omitted if they are 0. */
static inline void print_named(struct rtattr *nest, const char * const names[], int max, int drops)
{
	struct rtattr *tb[MAX_COUNTERS] = {};
	__u64 val;
	int i;

	if (!nest)
		return;
	parse_rtattr(tb, max, RTA_DATA(nest), RTA_PAYLOAD(nest));
	print_nl();
	print_string(PRINT_FP, NULL, "%s", "    ");
	for (i = 1; i <= max; i++) {
		if (!get_number(tb[i], &val) || (!val && !is_json_context() && i >= drops))
			continue;
		print_number(names[i], val);
	}
}

/* Pairs of option and value, each given to @parse. */
static inline int parse_options(const char *kind, int argc, char **argv, struct nlmsghdr *n,
				int (*parse)(const char *opt, const char *arg, struct nlmsghdr *n),
				void (*explain)(FILE *f))
{
	int err;

	for (; argc > 0; argc -= 2, argv += 2) {
		if (!strcmp(argv[0], "help")) {
			explain(stdout);
			return -1;
		}
		if (argc < 2) {
			fprintf(stderr, "%s: \"%s\" needs a value\n", kind, argv[0]);
			return -1;
		}
		err = parse(argv[0], argv[1], n);
		if (err == 1) {
			fprintf(stderr, "%s: unknown option \"%s\"\n", kind, argv[0]);
			explain(stderr);
		}
		if (err)
			return -1;
	}
	return 0;
}

#endif /* COUNTERS_H */
