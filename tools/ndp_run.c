// SPDX-License-Identifier: GPL-2.0
/*
 * ndp_run: start a program with AF_NDP sockets in place of its TCP sockets.
 *
 * ndp_run checks whether the library can be preloaded into the program, and then replaces
 * itself by the program, with libndp_run.so preloaded (run/calls.c); the library gets its
 * settings from the environment.
 *
 * Non-goals: a supervising process while the program runs.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/ndp.h>

#include "options.h"
#include "run/settings.h"

/* Exit status as of env(1) and shells */
#define EXIT_CANNOT_RUN	126
#define EXIT_NO_PROGRAM	127

#define LIBRARY		"libndp_run.so"
/* Depth of scripts whose interpreters are scripts: the kernel's limit. */
#define INTERPRETERS	4

/* Text of the settings: that of the file, followed by the options'. */
static char settings_text[SETTINGS_TEXT_MAX];

static void usage(FILE *to)
{
	fputs("Usage: ndp_run [OPTIONS] PROGRAM [ARGUMENTS...]\n"
	      "Start PROGRAM with NDP sockets in place of TCP's.\n"
	      "  -f, --fallback[=MS]  use TCP if a destination refuses NDP, or is silent for MS\n"
	      "                       milliseconds (200); listeners accept both\n"
	      "  -e, --except=LIST    ports and networks that stay TCP: 22,8000-8080,10.9.0.0/16,::1\n"
	      "  -z, --zero-rtt       connect() does not wait for an answer\n"
	      "  -t, --transport=NAME transport of NDP sockets (default: net.ndp.transport)\n"
	      "  -c, --config=FILE    settings file (default: " SETTINGS_FILE ")\n"
	      "  -v, --verbose        report each decision on standard error\n"
	      "  -h, --help           show this text\n"
	      "  -V, --version        show the version\n", to);
}

/* Append a line to the settings, and check its syntax. */
static void add_setting(const char *word, const char *value)
{
	size_t used = strlen(settings_text);
	char error[SETTINGS_ERROR];
	struct settings s = { 0 };
	int n;

	n = snprintf(settings_text + used, sizeof(settings_text) - used, "%s%s%s\n", word,
		     value ? " " : "", value ?: "");
	if (n >= (int)(sizeof(settings_text) - used))
		errx(EXIT_USAGE, "too many settings");
	if (!settings_parse(&s, settings_text, error))
		errx(EXIT_USAGE, "%s", error);
}

static void read_config(const char *path)
{
	int err = settings_read(path ?: SETTINGS_FILE, settings_text);
	char error[SETTINGS_ERROR];
	struct settings s = { 0 };

	if (err && (path || err != ENOENT))
		errx(EXIT_USAGE, "%s: %s", path ?: SETTINGS_FILE, strerror(err));
	if (!settings_parse(&s, settings_text, error))
		errx(EXIT_USAGE, "%s: %s", path ?: SETTINGS_FILE, error);
	/* The last line of the file may lack a newline. */
	if (settings_text[0])
		add_setting("", NULL);
}

/* Parse the options in the order of the command line, after the file's settings. */
static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "fallback", optional_argument, NULL, 'f' },
		{ "except", required_argument, NULL, 'e' },
		{ "zero-rtt", no_argument, NULL, 'z' },
		{ "transport", required_argument, NULL, 't' },
		{ "config", required_argument, NULL, 'c' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	const char *shorts = "+f::e:zt:c:vhV", *config = NULL;
	int c;

	while ((c = getopt_long(argc, argv, shorts, options, NULL)) != -1) {
		switch (c) {
		case 'c':
			config = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(EXIT_SUCCESS);
		case 'V':
			puts("ndp_run (Linux NDP) " VERSION);
			exit(EXIT_SUCCESS);
		case '?':
			usage(stderr);
			exit(EXIT_USAGE);
		}
	}
	read_config(config);
	optind = 1;
	while ((c = getopt_long(argc, argv, shorts, options, NULL)) != -1) {
		switch (c) {
		case 'f':
			add_setting("fallback", optarg);
			break;
		case 'e':
			add_setting("except", optarg);
			break;
		case 'z':
			add_setting("zero-rtt", NULL);
			break;
		case 't':
			add_setting("transport", optarg);
			break;
		case 'v':
			add_setting("verbose", NULL);
			break;
		}
	}
	if (optind == argc) {
		usage(stderr);
		exit(EXIT_USAGE);
	}
}

static bool is_program(const char *path)
{
	struct stat is;

	return !stat(path, &is) && S_ISREG(is.st_mode) && !access(path, X_OK);
}

/* Search the program as the shell does; end if it is not found. */
static void find_program(const char *name, char path[PATH_MAX])
{
	const char *places = getenv("PATH") ?: "/usr/local/bin:/bin:/usr/bin", *end;

	if (strchr(name, '/')) {
		if (access(name, F_OK))
			err(EXIT_NO_PROGRAM, "%s", name);
		if (!is_program(name))
			errx(EXIT_CANNOT_RUN, "%s: is no program that you may run", name);
		snprintf(path, PATH_MAX, "%s", name);
		return;
	}
	for (;; places = end + 1) {
		end = strchrnul(places, ':');
		snprintf(path, PATH_MAX, "%.*s/%s", end > places ? (int)(end - places) : 1,
			 end > places ? places : ".", name);
		if (*name && is_program(path))
			return;
		if (!*end)
			errx(EXIT_NO_PROGRAM, "%s: no such program in PATH", name);
	}
}

/* A file mapped into memory */
struct image {
	const char	*at;
	size_t		len;
};

/* Return: false for a file that cannot be read, as some programs are executable only. */
static bool image_open(const char *path, struct image *image)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat is;
	void *map = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &is) && is.st_size)
		map = mmap(NULL, is.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return false;
	*image = (struct image){ map, is.st_size };
	return true;
}

static bool image_has(const struct image *image, size_t at, size_t len)
{
	return at <= image->len && len <= image->len - at;
}

static const Elf64_Ehdr *elf_header(const struct image *image)
{
	const Elf64_Ehdr *e = (const void *)image->at;

	if (!image_has(image, 0, sizeof(*e)) || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
	    e->e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->e_phentsize != sizeof(Elf64_Phdr) || e->e_phoff % sizeof(void *) ||
	    !image_has(image, e->e_phoff, (size_t)e->e_phnum * sizeof(Elf64_Phdr)))
		return NULL;
	return e;
}

/* Return: the next segment of that type, from @from on, that lies in the file; or NULL. */
static const Elf64_Phdr *elf_segment(const struct image *image, unsigned int type, int from)
{
	const Elf64_Ehdr *e = elf_header(image);
	const Elf64_Phdr *p;
	int i;

	if (!e)
		return NULL;
	p = (const void *)(image->at + e->e_phoff);
	for (i = from; i < e->e_phnum; i++)
		if (p[i].p_type == type && image_has(image, p[i].p_offset, p[i].p_filesz))
			return &p[i];
	return NULL;
}

/* Return: the program's loader; NULL for a static program. */
static const char *elf_interpreter(const struct image *image)
{
	const Elf64_Phdr *p = elf_segment(image, PT_INTERP, 0);

	if (!p || !p->p_filesz || image->at[p->p_offset + p->p_filesz - 1])
		return NULL;
	return image->at + p->p_offset;
}

/* Names and contents of notes are padded to words of that many bytes. */
static size_t filled(const Elf64_Phdr *p, size_t n)
{
	size_t word = p->p_align == 8 ? 8 : 4;

	return (n + word - 1) / word * word;
}

static bool notes_have(const struct image *image, const Elf64_Phdr *p, const char *name)
{
	size_t at = 0, text;
	Elf64_Nhdr note;

	while (p->p_filesz - at >= sizeof(note)) {
		memcpy(&note, image->at + p->p_offset + at, sizeof(note));
		text = at + sizeof(note);
		if (note.n_namesz > p->p_filesz - text)
			return false;
		if (note.n_namesz > strlen(name) &&
		    !memcmp(image->at + p->p_offset + text, name, strlen(name) + 1))
			return true;
		at = filled(p, filled(p, text + note.n_namesz) + note.n_descsz);
		if (at > p->p_filesz)
			return false;
	}
	return false;
}

/* Is it a Go program?  Go's linker adds a note of its own. */
static bool is_go(const struct image *image)
{
	const Elf64_Phdr *first = elf_segment(image, PT_NOTE, 0), *p = first;
	const Elf64_Ehdr *e = elf_header(image);

	while (p) {
		if (notes_have(image, p, "Go"))
			return true;
		p = elf_segment(image, PT_NOTE,
				p - (const Elf64_Phdr *)(image->at + e->e_phoff) + 1);
	}
	return false;
}

static const char no_way[] =
	"start something that relays for it under ndp_run (socat, HAProxy)";

/* End if the loader would ignore preloaded libraries. */
static void refuse_privileged(const char *path, const struct stat *is)
{
	if ((is->st_mode & S_ISUID && is->st_uid != getuid()) ||
	    (is->st_mode & S_ISGID && is->st_mode & 0010 && is->st_gid != getgid()) ||
	    (getuid() && getxattr(path, "security.capability", NULL, 0) > 0))
		errx(EXIT_CANNOT_RUN,
		     "%s runs with privileges of its own (set-user-ID or the like): the loader lets nobody put a library into it; start it as the user that it is to be",
		     path);
}

static void refuse_elf(const char *path, const struct image *image)
{
	struct image own;
	const char *loader = elf_interpreter(image), *ours;

	if (!elf_header(image))
		errx(EXIT_CANNOT_RUN, "%s is for another kind of machine than ndp_run", path);
	if (is_go(image))
		errx(EXIT_CANNOT_RUN,
		     "%s is a Go program: it calls the kernel itself, past all libraries; %s",
		     path, no_way);
	if (!loader)
		errx(EXIT_CANNOT_RUN,
		     "%s is statically linked: no library can be put into it; take a build that is linked to the C library, or %s",
		     path, no_way);
	if (!image_open("/proc/self/exe", &own))
		return;
	ours = elf_interpreter(&own);
	if (ours && strcmp(ours, loader))
		errx(EXIT_CANNOT_RUN,
		     "%s has another C library (%s) than ndp_run (%s); build libndp_run.so for that one, or %s",
		     path, loader, ours, no_way);
}

/* Find the interpreter of a script.  Return: false if the file is no script. */
static bool script_interpreter(const struct image *image, char path[PATH_MAX])
{
	size_t at = 2, n;
	const char *p;

	if (image->len < 3 || memcmp(image->at, "#!", 2))
		return false;
	while (at < image->len && strchr(" \t", image->at[at]))
		at++;
	p = image->at + at;
	for (n = 0; at + n < image->len && n < PATH_MAX - 1 && !strchr(" \t\r\n", p[n]); n++)
		path[n] = p[n];
	path[n] = '\0';
	return n;
}

/* End with an error message if the library cannot be loaded into the program. */
static void check_program(const char *program)
{
	char path[PATH_MAX], next[PATH_MAX];
	struct image image;
	struct stat is;
	int i;

	snprintf(path, sizeof(path), "%s", program);
	for (i = 0; i <= INTERPRETERS; i++) {
		if (stat(path, &is))
			err(EXIT_CANNOT_RUN, "%s", path);
		if (!image_open(path, &image)) {
			refuse_privileged(path, &is);
			return;
		}
		if (!script_interpreter(&image, next))
			break;
		munmap((void *)image.at, image.len);
		snprintf(path, sizeof(path), "%s", next);
	}
	/* A shell would take such a file for a script that names no interpreter. */
	if (!image_has(&image, 0, SELFMAG) || memcmp(image.at, ELFMAG, SELFMAG))
		errx(EXIT_CANNOT_RUN, "%s: is neither a program nor a script with #!", path);
	refuse_privileged(path, &is);
	refuse_elf(path, &image);
	munmap((void *)image.at, image.len);
}

/* Find the library: beside ndp_run in a build tree, else where the loader looks. */
static void find_library(char path[PATH_MAX])
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n > 0) {
		exe[n] = '\0';
		n = snprintf(path, PATH_MAX, "%s/lib/%s", dirname(exe), LIBRARY);
		if (n < PATH_MAX && !access(path, R_OK))
			return;
	}
	snprintf(path, PATH_MAX, "%s", LIBRARY);
	if (!dlopen(path, RTLD_LAZY | RTLD_LOCAL))
		errx(EXIT_FAILURE, "%s", dlerror());
}

/* Preload the library; other preloaded libraries keep their order. */
static void preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char all[2 * PATH_MAX];
	int n;

	if (others && strstr(others, LIBRARY))
		return;
	n = snprintf(all, sizeof(all), "%s%s%s", library, others && *others ? ":" : "",
		     others ?: "");
	if (n >= (int)sizeof(all))
		errx(EXIT_FAILURE, "LD_PRELOAD is too long");
	if (setenv("LD_PRELOAD", all, 1))
		err(EXIT_FAILURE, "LD_PRELOAD");
}

static bool kernel_has_ndp(void)
{
	int fd = socket(AF_NDP, SOCK_STREAM, 0);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

int main(int argc, char **argv)
{
	char program[PATH_MAX], library[PATH_MAX];

	parse(argc, argv);
	argv += optind;
	find_program(argv[0], program);
	check_program(program);
	if (kernel_has_ndp()) {
		find_library(library);
		preload(library);
		if (setenv(SETTINGS_VARIABLE, settings_text, 1))
			err(EXIT_FAILURE, SETTINGS_VARIABLE);
	} else {
		warnx("the kernel has no AF_NDP (is the module ndp installed?): %s uses TCP",
		      argv[0]);
	}
	execv(program, argv);
	err(EXIT_CANNOT_RUN, "%s", program);
}
