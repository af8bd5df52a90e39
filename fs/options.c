#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMORY_MIN = 16 << 20,
    MEMORY_DEFAULT = 256 << 20,
    READAHEAD_DEFAULT = 1 << 20,
    READAHEAD_MAX = 64 << 20,
    THREADS_MAX = 64,
    BACKGROUND_DEFAULT = 128,
    BACKGROUND_MAX = 65535,
};
#define MEMORY_MAX   (UINT64_C(1) << 40)
#define TIMEOUT_MAX  1e9
#define INTERVAL_MAX 86400.0

static const char help_text[] =
    "usage: trunkfs [-f] [-d] [-o OPTION[,OPTION...]] PACKED MOUNTPOINT\n"
    "       trunkfs --stats MOUNTPOINT [SECONDS]\n"
    "\n"
    "Shows the packed directory PACKED at MOUNTPOINT as the files it was made from.\n"
    "Returns when the mount can be read. Unmount with: fusermount3 -u MOUNTPOINT\n"
    "\n"
    "  -f, --foreground      stay in the foreground, log to standard error\n"
    "  -d, --debug           the same, and log more\n"
    "  -o OPTION             mount options, below\n"
    "      --stats           print what the daemon at MOUNTPOINT counts, once or\n"
    "                        every SECONDS\n"
    "  -h, --help            this text\n"
    "  -V, --version         version and instruction set\n"
    "\n"
    "mount options:\n"
    "  memory=SIZE           bound for frames, buffers and indexes together\n"
    "                        (256M; at least 16M)\n"
    "  threads=N             worker threads (one per processor, at least 2)\n"
    "  readahead=SIZE        kernel readahead, set when mounting as root (1M; 0: as is)\n"
    "  verify=on|off         check every frame against its checksum (on)\n"
    "  prefetch=on|off       read ahead of clients (on)\n"
    "  lockdown=on|off       workers give up all rights that they don't need (on)\n"
    "  isa=NAME              auto, scalar, avx2, avx512, neon (auto)\n"
    "  io=NAME               auto, uring, plain (auto)\n"
    "  allow_other           other users may read too (with default_permissions)\n"
    "  default_permissions   the kernel checks modes\n"
    "  entry_timeout=SECONDS how long the kernel remembers a name (1)\n"
    "  attr_timeout=SECONDS  how long the kernel remembers size and times (1)\n"
    "  max_background=N      reads that the kernel keeps in flight (128)\n"
    "  fsname=NAME           first column of /proc/mounts (PACKED)\n"
    "  subtype=NAME          the type there is fuse.NAME (trunkfs)\n"
    "  ro, nosuid, nodev     always on\n"
    "  noexec, noatime       as in mount(8)\n";

enum option_id {
    OPT_IGNORED,
    OPT_MEMORY,
    OPT_THREADS,
    OPT_READAHEAD,
    OPT_VERIFY,
    OPT_PREFETCH,
    OPT_LOCKDOWN,
    OPT_ISA,
    OPT_IO,
    OPT_ALLOW_OTHER,
    OPT_DEFAULT_PERMISSIONS,
    OPT_ENTRY_TIMEOUT,
    OPT_ATTR_TIMEOUT,
    OPT_MAX_BACKGROUND,
    OPT_FSNAME,
    OPT_SUBTYPE,
    OPT_NOEXEC,
    OPT_NOATIME,
    OPT_FAULT,
};

struct option_name {
    const char *name;
    enum option_id id;
    bool has_value;
};

/* What mount(8) passes from fstab and means nothing here is ignored: rw, dev and suid too,
 * since mount.fuse3 adds them by itself; the mount is read-only, nosuid and nodev all the same. */
static const struct option_name option_names[] = {
    {"memory", OPT_MEMORY, true},
    {"threads", OPT_THREADS, true},
    {"readahead", OPT_READAHEAD, true},
    {"verify", OPT_VERIFY, true},
    {"prefetch", OPT_PREFETCH, true},
    {"lockdown", OPT_LOCKDOWN, true},
    {"isa", OPT_ISA, true},
    {"io", OPT_IO, true},
    {"allow_other", OPT_ALLOW_OTHER, false},
    {"default_permissions", OPT_DEFAULT_PERMISSIONS, false},
    {"entry_timeout", OPT_ENTRY_TIMEOUT, true},
    {"attr_timeout", OPT_ATTR_TIMEOUT, true},
    {"max_background", OPT_MAX_BACKGROUND, true},
    {"fsname", OPT_FSNAME, true},
    {"subtype", OPT_SUBTYPE, true},
    {"noexec", OPT_NOEXEC, false},
    {"noatime", OPT_NOATIME, false},
    {"fault", OPT_FAULT, true},
    {"ro", OPT_IGNORED, false},
    {"rw", OPT_IGNORED, false},
    {"nosuid", OPT_IGNORED, false},
    {"suid", OPT_IGNORED, false},
    {"nodev", OPT_IGNORED, false},
    {"dev", OPT_IGNORED, false},
    {"exec", OPT_IGNORED, false},
    {"atime", OPT_IGNORED, false},
    {"relatime", OPT_IGNORED, false},
    {"async", OPT_IGNORED, false},
    {"auto", OPT_IGNORED, false},
    {"noauto", OPT_IGNORED, false},
    {"user", OPT_IGNORED, false},
    {"nouser", OPT_IGNORED, false},
    {"users", OPT_IGNORED, false},
    {"owner", OPT_IGNORED, false},
    {"group", OPT_IGNORED, false},
    {"nofail", OPT_IGNORED, false},
    {"defaults", OPT_IGNORED, false},
    {"_netdev", OPT_IGNORED, false},
};

static int usage_error(const char *what, const char *name)
{
    fprintf(stderr, "trunkfs: %s: %s (see trunkfs --help)\n", what, name);
    return -EINVAL;
}

/* A decimal number of bytes with an optional K, M, G or T (powers of 1024). */
static int parse_size(const char *text, uint64_t max, uint64_t *ret)
{
    static const char units[] = "KMGT";
    char *end;
    unsigned long long value;
    unsigned shift = 0;

    if (*text < '0' || *text > '9')
        return -EINVAL;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno)
        return -EINVAL;
    if (*end) {
        const char *unit = strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end);
        if (!unit || end[1])
            return -EINVAL;
        shift = 10 * ((unsigned)(unit - units) + 1);
    }
    if (value > max >> shift)
        return -EINVAL;
    *ret = (uint64_t)value << shift;
    return 0;
}

static int parse_seconds(const char *text, double max, double *ret)
{
    char *end;
    double value;

    if (*text < '0' || *text > '9')
        return -EINVAL;
    value = strtod(text, &end);
    if (*end || !(value >= 0 && value <= max))
        return -EINVAL;
    *ret = value;
    return 0;
}

static int parse_switch(const char *text, bool *ret)
{
    *ret = !strcmp(text, "on");
    return *ret || !strcmp(text, "off") ? 0 : -EINVAL;
}

static int parse_io(const char *text, enum options_io *ret)
{
    static const char *const names[] = {
        [OPTIONS_IO_AUTO] = "auto", [OPTIONS_IO_URING] = "uring", [OPTIONS_IO_PLAIN] = "plain"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!strcmp(text, names[i])) {
            *ret = (enum options_io)i;
            return 0;
        }
    }
    return -EINVAL;
}

static int parse_count(const char *text, uint64_t max, unsigned *ret)
{
    uint64_t value;
    int r = parse_size(text, max, &value);
    if (r < 0 || value == 0)
        return -EINVAL;
    *ret = (unsigned)value;
    return 0;
}

static int parse_memory(const char *text, size_t *ret)
{
    uint64_t value;
    int r = parse_size(text, MEMORY_MAX, &value);
    if (r < 0 || value < MEMORY_MIN)
        return -EINVAL;
    *ret = (size_t)value;
    return 0;
}

static int parse_readahead(const char *text, size_t *ret)
{
    uint64_t value;
    int r = parse_size(text, READAHEAD_MAX, &value);
    *ret = r < 0 ? 0 : (size_t)value;
    return r;
}

static int set_option(struct options *options, enum option_id id, const char *value)
{
    switch (id) {
    case OPT_IGNORED:
        return 0;
    case OPT_MEMORY:
        return parse_memory(value, &options->memory);
    case OPT_THREADS:
        return parse_count(value, THREADS_MAX, &options->thread_count);
    case OPT_READAHEAD:
        return parse_readahead(value, &options->readahead);
    case OPT_VERIFY:
        return parse_switch(value, &options->verify);
    case OPT_PREFETCH:
        return parse_switch(value, &options->prefetch);
    case OPT_LOCKDOWN:
        return parse_switch(value, &options->lockdown);
    case OPT_ISA:
        options->isa = value;
        return 0;
    case OPT_IO:
        return parse_io(value, &options->io);
    case OPT_ALLOW_OTHER:
        options->allow_other = options->default_permissions = true;
        return 0;
    case OPT_DEFAULT_PERMISSIONS:
        options->default_permissions = true;
        return 0;
    case OPT_ENTRY_TIMEOUT:
        return parse_seconds(value, TIMEOUT_MAX, &options->entry_timeout);
    case OPT_ATTR_TIMEOUT:
        return parse_seconds(value, TIMEOUT_MAX, &options->attr_timeout);
    case OPT_MAX_BACKGROUND:
        return parse_count(value, BACKGROUND_MAX, &options->max_background);
    case OPT_FSNAME:
        options->fsname = value;
        return 0;
    case OPT_SUBTYPE:
        options->subtype = value;
        return 0;
    case OPT_NOEXEC:
        options->no_exec = true;
        return 0;
    case OPT_NOATIME:
        options->no_atime = true;
        return 0;
    case OPT_FAULT:
        options->fault = value;
        return 0;
    }
    return -EINVAL;
}

/* One name or name=value; text is cut at the '='. */
static int parse_option(struct options *options, char *text)
{
    char *value = strchr(text, '=');
    size_t name_length = value ? (size_t)(value - text) : strlen(text);

    if (!strncmp(text, "x-", 2) || !strncmp(text, "X-", 2) || !strncmp(text, "comment=", 8))
        return 0;
    for (unsigned i = 0; i < sizeof(option_names) / sizeof(option_names[0]); i++) {
        const struct option_name *known = &option_names[i];
        if (strlen(known->name) != name_length || strncmp(known->name, text, name_length))
            continue;
        if (known->has_value && !value)
            return usage_error("mount option needs a value", text);
        if (!known->has_value && value && known->id != OPT_IGNORED)
            return usage_error("mount option takes no value", text);
        if (set_option(options, known->id, value ? value + 1 : NULL) < 0)
            return usage_error("mount option has an impossible value", text);
        return 0;
    }
    return usage_error("unknown mount option", text);
}

static int parse_option_list(struct options *options, char *list)
{
    char *rest = NULL;

    for (char *text = strtok_r(list, ",", &rest); text; text = strtok_r(NULL, ",", &rest)) {
        int r = parse_option(options, text);
        if (r < 0)
            return r;
    }
    return 0;
}

static int parse_operands(struct options *options, int count, char **operands)
{
    if (options->action == OPTIONS_STATS) {
        if (count < 1 || count > 2)
            return usage_error("expected", "--stats MOUNTPOINT [SECONDS]");
        options->mountpoint = operands[0];
        if (count == 2 && (parse_seconds(operands[1], INTERVAL_MAX, &options->stats_interval) < 0 ||
                           options->stats_interval == 0))
            return usage_error("not a number of seconds", operands[1]);
        return 0;
    }
    if (count > 2)
        return usage_error("unexpected argument", operands[2]);
    if (count < 2)
        return usage_error("missing argument", count ? "MOUNTPOINT" : "PACKED MOUNTPOINT");
    options->packed = operands[0];
    options->mountpoint = operands[1];
    return 0;
}

int options_parse(int argc, char **argv, struct options *ret)
{
    enum { LONG_STATS = 256 };
    static const struct option long_options[] = {
        {"foreground", no_argument, NULL, 'f'},   {"debug", no_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},         {"version", no_argument, NULL, 'V'},
        {"stats", no_argument, NULL, LONG_STATS}, {NULL, 0, NULL, 0}};
    int c;

    *ret = (struct options){.verify = true,
                            .prefetch = true,
                            .lockdown = true,
                            .memory = MEMORY_DEFAULT,
                            .readahead = READAHEAD_DEFAULT,
                            .max_background = BACKGROUND_DEFAULT,
                            .entry_timeout = 1,
                            .attr_timeout = 1,
                            .subtype = "trunkfs"};
    while ((c = getopt_long(argc, argv, "fdo:hV", long_options, NULL)) != -1) {
        switch (c) {
        case 'd':
            ret->debug = true;
            ret->foreground = true;
            break;
        case 'f':
            ret->foreground = true;
            break;
        case 'o': {
            int r = parse_option_list(ret, optarg);
            if (r < 0)
                return r;
            break;
        }
        case 'h':
            ret->action = OPTIONS_HELP;
            return 0;
        case 'V':
            ret->action = OPTIONS_VERSION;
            return 0;
        case LONG_STATS:
            ret->action = OPTIONS_STATS;
            break;
        default: /* getopt has said what is wrong */
            fprintf(stderr, "trunkfs: see trunkfs --help\n");
            return -EINVAL;
        }
    }
    return parse_operands(ret, argc - optind, argv + optind);
}

const char *options_help(void)
{
    return help_text;
}
