/* options.h - the command line and -o options of trunkfs.
 *
 * Parses and checks, prints usage errors, opens nothing. Called from main only.
 */
#ifndef TRUNKFS_OPTIONS_H
#define TRUNKFS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum options_action {
    OPTIONS_MOUNT,
    OPTIONS_STATS,
    OPTIONS_HELP,
    OPTIONS_VERSION,
};

enum options_io { OPTIONS_IO_AUTO, OPTIONS_IO_URING, OPTIONS_IO_PLAIN };

/* Strings point into argv or into static memory. */
struct options {
    enum options_action action;
    const char *packed;     /* directory; NULL unless action is OPTIONS_MOUNT */
    const char *mountpoint; /* also of OPTIONS_STATS */
    double stats_interval;  /* seconds; 0: print once */
    bool foreground;
    bool debug;
    bool allow_other;
    bool default_permissions;
    bool verify;
    bool prefetch;
    bool lockdown;
    bool no_exec;
    bool no_atime;
    size_t memory;         /* bytes */
    size_t readahead;      /* bytes of kernel readahead; 0: leave it alone */
    unsigned thread_count; /* 0: as many as processors, at least two */
    unsigned max_background;
    double entry_timeout; /* seconds */
    double attr_timeout;
    enum options_io io;
    const char *isa;    /* NULL: environment, or the best there is */
    const char *fsname; /* NULL: the packed directory's path */
    const char *subtype;
    const char *fault; /* planted I/O faults, for tests; NULL: none */
};

/* Returns 0, or -EINVAL when a usage error was printed to standard error. */
__attribute__((warn_unused_result)) int options_parse(int argc, char **argv, struct options *ret);

/* The text of --help, a static string. */
const char *options_help(void);

#endif
