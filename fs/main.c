/* main.c - trunkfs: set up, mount, wait, leave. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemonise.h"
#include "file_set.h"
#include "isa.h"
#include "log.h"
#include "metrics.h"
#include "mount_check.h"
#include "options.h"
#include "readahead.h"
#include "server.h"
#include "stats.h"

enum { EXIT_USAGE = 2 };

static void print_version(void)
{
    printf("trunkfs %s (instruction set %s)\n", TRUNK_PROGRAM_VERSION, isa_name(isa_current()));
}

static int select_isa(const char *name)
{
    int r = isa_select(name);
    const char *source = name ? "-o isa" : "TRUNKFS_ISA";

    if (!name)
        name = getenv("TRUNKFS_ISA");
    if (r == -EINVAL)
        fprintf(stderr, "trunkfs: %s: unknown instruction set: %s\n", source, name);
    else if (r < 0)
        fprintf(stderr, "trunkfs: %s: this processor lacks the instruction set %s\n", source, name);
    return r;
}

/* Every open file of the mount takes a descriptor or two. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Signals are taken through a descriptor, by main alone. Returns it or -errno. */
static int open_signals(void)
{
    sigset_t set;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -errno;
    signal(SIGPIPE, SIG_IGN);
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

static void raise_readahead(const struct options *options, const char *mountpoint)
{
    struct stat st;
    int r;

    /* Workers answer this stat: main is none of them. */
    if (options->readahead == 0 || stat(mountpoint, &st) < 0)
        return;
    r = readahead_set(st.st_dev, options->readahead);
    if (r < 0)
        log_info("readahead stays at the kernel's default: %s", strerror(-r));
}

/* Serve until a signal or the unmount. Returns the exit status. */
static int serve(const struct options *options, const char *mountpoint, int packed_fd,
                 int status_fd)
{
    int signal_fd = open_signals();
    struct server *server = NULL;
    int r = signal_fd < 0 ? signal_fd : 0;

    if (r < 0)
        close(packed_fd);
    else
        r = server_start(options, mountpoint, packed_fd, &server);
    if (r == 0) {
        raise_readahead(options, mountpoint);
        if (status_fd >= 0) {
            log_set_target(LOG_TARGET_SYSLOG);
            daemonise_done(status_fd, 0);
        }
        server_wait(server, signal_fd);
    } else if (status_fd >= 0) {
        daemonise_done(status_fd, 1);
    }
    server_stop(server);
    if (signal_fd >= 0)
        close(signal_fd);
    return r == 0 ? 0 : 1;
}

static int mount_packed(struct options *options)
{
    char *mountpoint, *packed = NULL;
    int packed_fd, status_fd = -1;
    int status = 1;

    packed_fd = open(options->packed, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (packed_fd < 0) {
        log_error("%s: %s: expected a packed directory (trunkpack pack makes one)", options->packed,
                  strerror(errno));
        return 1;
    }
    mountpoint = mount_check_point(options->mountpoint);
    packed = realpath(options->packed, NULL);
    if (!mountpoint || !packed || mount_check_overlap(packed_fd, packed, mountpoint) < 0) {
        close(packed_fd);
        goto out;
    }
    if (!options->fsname)
        options->fsname = packed;
    if (!options->foreground) {
        status_fd = daemonise_begin();
        if (status_fd < 0) {
            log_error("cannot go into the background: %s", strerror(-status_fd));
            close(packed_fd);
            goto out;
        }
        log_set_target(LOG_TARGET_STARTING);
    }
    raise_descriptor_limit();
    status = serve(options, mountpoint, packed_fd, status_fd);
out:
    free(mountpoint);
    free(packed);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;

    if (options_parse(argc, argv, &options) < 0)
        return EXIT_USAGE;
    log_set_debug(options.debug);
    switch (options.action) {
    case OPTIONS_HELP:
        fputs(options_help(), stdout);
        return 0;
    case OPTIONS_STATS:
        return stats_print(options.mountpoint, options.stats_interval);
    case OPTIONS_VERSION:
    case OPTIONS_MOUNT:
        break;
    }
    if (select_isa(options.isa) < 0)
        return EXIT_USAGE;
    if (options.action == OPTIONS_VERSION) {
        print_version();
        return 0;
    }
    return mount_packed(&options);
}
