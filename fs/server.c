#include "server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "file_set.h"
#include "log.h"
#include "metrics.h"
#include "pipeline.h"
#include "prefetch.h"
#include "session.h"
#include "tree.h"
#include "worker.h"

enum {
    INDEX_SHARE = 16,          /* a sixteenth of memory= for indexes before frames yield */
    FRAMES_MIN = 9 << 20,      /* two frames of the largest size, and then some */
    FRAMES_PLENTY = 160 << 20, /* more than that only if it is a quarter */
    RUN_MAX = 4 << 20,
    DEMAND_MIN = 9 << 19, /* packed bytes that reading ahead leaves: the largest frame */
    DRAIN_STEP_MS = 20,
    DRAIN_QUIET_STEPS = 3,
    DRAIN_MAX_STEPS = 500, /* ten seconds */
};
/* The kernel can't register more than that in one piece. */
#define PACKED_MAX ((size_t)1023 << 20)

struct server {
    struct pipeline pipeline;
    struct tree *tree;
    struct file_set *files;
    struct session *session;
    struct worker_set *workers;
    struct lockdown lockdown;
    int ended_fd; /* eventfd: the mount is gone */
    pthread_t warmer;
    bool warming;
};

/* Memory gets its pages beside the mounting, which need not wait for hundreds of megabytes to be
 * cleared. */
static void *warm(void *argument)
{
    struct server *server = argument;

    packed_area_populate(server->pipeline.area);
    frame_table_populate(server->pipeline.table);
    return NULL;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* All of it is touched at start: more than there is would have the system kill somebody. */
static bool fits_machine(size_t memory)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_size = sysconf(_SC_PAGESIZE);

    return pages <= 0 || page_size <= 0 || memory / (size_t)page_size <= (size_t)pages;
}

/* Divide memory=: frames need enough for the requests in flight, packed bytes take the rest,
 * since what is read ahead is held packed. */
static int allocate_memory(struct server *server, const struct options *options)
{
    size_t memory = options->memory;
    size_t allowance = memory / INDEX_SHARE;
    size_t frames = larger(smaller(memory / 16 * 7, FRAMES_PLENTY), memory / 4);
    size_t packed;
    int r;

    if (!fits_machine(memory)) {
        log_error("memory=%zu is more than this machine has: choose less", memory);
        return -ENOMEM;
    }
    frames = larger(frames, FRAMES_MIN);
    packed = smaller(memory - allowance - frames, PACKED_MAX);
    r = frame_table_new(frames, &server->pipeline.table);
    if (r == 0)
        r = packed_area_new(packed, &server->pipeline.area);
    if (r == 0)
        r = file_set_new(&server->pipeline, allowance, FRAMES_MIN, &server->files);
    if (r == 0 && options->prefetch)
        r = prefetcher_new(packed - larger(packed / 8, DEMAND_MIN), &server->pipeline.prefetcher);
    server->pipeline.run_max = (uint32_t)smaller(RUN_MAX, packed / 4);
    metrics_gauge_add(METRICS_MEMORY_BUDGET, (int64_t)memory);
    if (r < 0)
        log_error("cannot allocate memory=%zu: %s", memory, strerror(-r));
    else
        server->warming = pthread_create(&server->warmer, NULL, warm, server) == 0;
    return r;
}

static unsigned worker_count(const struct options *options)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (options->thread_count)
        return options->thread_count;
    return processors < 2 ? 2 : processors > 64 ? 64 : (unsigned)processors;
}

static void mount_ended(void *context)
{
    struct server *server = context;
    uint64_t one = 1;
    ssize_t n = write(server->ended_fd, &one, sizeof(one));
    (void)n;
}

static int start_workers(struct server *server, const struct options *options, unsigned count)
{
    static const enum io_kind kinds[] = {[OPTIONS_IO_AUTO] = IO_KIND_AUTO,
                                         [OPTIONS_IO_URING] = IO_KIND_URING,
                                         [OPTIONS_IO_PLAIN] = IO_KIND_PLAIN};
    struct worker_config config = {.count = count,
                                   .io_kind = kinds[options->io],
                                   .fault = options->fault,
                                   .lockdown = options->lockdown ? &server->lockdown : NULL,
                                   .request_fds = session_request_fds(server->session),
                                   .receive = session_receive,
                                   .receive_context = server->session,
                                   .ended = mount_ended,
                                   .ended_context = server};
    int r = worker_set_start(&server->pipeline, &config, &server->workers);

    if (r < 0)
        log_error("cannot start %u workers: %s", count, strerror(-r));
    return r;
}

/* Wait for the kernel's first request to be answered. */
static int wait_ready(struct server *server)
{
    struct pollfd fds[2] = {{.fd = session_ready_fd(server->session), .events = POLLIN},
                            {.fd = server->ended_fd, .events = POLLIN}};

    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        ;
    return fds[0].revents ? 0 : -EIO;
}

int server_start(const struct options *options, const char *mountpoint, int packed_fd,
                 struct server **ret)
{
    struct server *server = calloc(1, sizeof(*server));
    unsigned count = worker_count(options);
    int r = server ? 0 : -ENOMEM;

    if (r < 0) {
        close(packed_fd);
        return r;
    }
    pipeline_init(&server->pipeline);
    server->pipeline.sink = session_sink();
    server->pipeline.verify = options->verify;
    lockdown_init(&server->lockdown, packed_fd);
    server->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r = allocate_memory(server, options);
    if (r < 0) {
        close(packed_fd);
    } else {
        r = tree_new(packed_fd, file_set_gone, server->files, &server->tree);
    }
    if (r == 0) {
        file_set_use_tree(server->files, server->tree);
        struct session_config config = {.options = options,
                                        .mountpoint = mountpoint,
                                        .tree = server->tree,
                                        .files = server->files,
                                        .worker_count = count};
        r = session_new(&config, &server->session);
    }
    if (r == 0)
        r = start_workers(server, options, count);
    if (r == 0)
        r = wait_ready(server);
    if (r < 0) {
        server_stop(server);
        return r;
    }
    *ret = server;
    return 0;
}

/* Let clients have what they have asked for already: until nothing is in flight and nothing new
 * has come for a moment. */
static void drain(struct server *server)
{
    unsigned quiet = 0;

    for (unsigned i = 0; i < DRAIN_MAX_STEPS && quiet < DRAIN_QUIET_STEPS; i++) {
        struct pollfd ended = {.fd = server->ended_fd, .events = POLLIN};
        if (poll(&ended, 1, DRAIN_STEP_MS) > 0)
            return;
        if (atomic_load(&server->pipeline.in_flight) || session_has_requests(server->session))
            quiet = 0;
        else
            quiet++;
    }
}

void server_wait(struct server *server, int signal_fd)
{
    struct pollfd fds[2] = {{.fd = server->ended_fd, .events = POLLIN},
                            {.fd = signal_fd, .events = POLLIN}};

    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        ;
    if (fds[0].revents) {
        log_debug("unmounted");
        return;
    }
    log_debug("asked to end");
    drain(server);
}

void server_stop(struct server *server)
{
    if (!server)
        return;
    if (server->warming)
        pthread_join(server->warmer, NULL);
    worker_set_stop(server->workers);
    session_free(server->session);
    tree_free(server->tree);
    file_set_free(server->files);
    frame_table_free(server->pipeline.table);
    prefetcher_free(server->pipeline.prefetcher);
    packed_area_free(server->pipeline.area);
    lockdown_fini(&server->lockdown);
    if (server->ended_fd >= 0)
        close(server->ended_fd);
    free(server);
}
