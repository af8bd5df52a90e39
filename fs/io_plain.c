/* io_plain.c - reads by pread on the worker itself, where io_uring is refused. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "io_backend.h"

static void plain_start(void *backend, struct io *io, struct io_read *read)
{
    io_read_now(io, read);
}

static void plain_collect(void *backend, struct io *io)
{
}

static void plain_wait(void *backend, struct io *io, bool watch_requests, int timeout_ms)
{
    struct pollfd fds[2] = {{.fd = io->wake_fd, .events = POLLIN},
                            {.fd = io->request_fd, .events = POLLIN}};
    uint64_t count;

    if (poll(fds, watch_requests ? 2 : 1, timeout_ms) > 0 && fds[0].revents) {
        ssize_t n = read(io->wake_fd, &count, sizeof(count));
        (void)n; /* only to reset it */
    }
}

const struct io_backend io_plain_backend = {
    .name = "pread", .start = plain_start, .collect = plain_collect, .wait = plain_wait};
