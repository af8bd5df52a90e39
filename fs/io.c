#include "io.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "io_backend.h"
#include "log.h"
#include "metrics.h"

enum {
    ALIGNMENT = 4096,
    STALLS_MAX = 100, /* tries in a row without progress before a read is given up */
    EMPTY_MAX = 3,    /* the same when they come back empty */
};

static int try_read(struct io_read *read)
{
    ssize_t n = pread(read->fd, read->buffer + read->done, read->size - read->done,
                      (off_t)(read->offset + read->done));
    return n < 0 ? -errno : (int)n;
}

/* A try brought this result: is the read over (then read->result says how), or shall the rest
 * be tried again? */
static bool is_over(struct io *io, struct io_read *read, int result)
{
    uint32_t progress;

    if (io->fault)
        result = io_fault_apply(io->fault, result, read->buffer + read->done);
    if (result == -EINTR || result == -EAGAIN) {
        read->result = -EIO;
        return ++read->stalls >= STALLS_MAX;
    }
    if (result < 0) {
        read->result = result;
        return true;
    }
    progress = read->done + (uint32_t)result;
    if (progress >= read->needed) {
        read->done = progress;
        read->result = 0;
        return true;
    }
    /* A direct read goes on from where it is aligned again. Progress of less than that,
     * or none, may be the end of a file that was cut: told from chance by trying. */
    progress &= ~(uint32_t)(ALIGNMENT - 1);
    read->stalls = progress > read->done ? 0 : read->stalls + 1;
    read->done = progress > read->done ? progress : read->done;
    read->result = -ENODATA;
    return read->stalls >= (result > 0 ? STALLS_MAX : EMPTY_MAX);
}

void io_complete(struct io *io, struct io_read *read, int result)
{
    read->next = NULL;
    if (is_over(io, read, result)) {
        *io->finished_tail = read;
        io->finished_tail = &read->next;
    } else {
        metrics_add(METRICS_IO_RETRIES, 1);
        read->next = io->retry;
        io->retry = read;
    }
}

void io_read_now(struct io *io, struct io_read *read)
{
    io_complete(io, read, try_read(read));
}

int io_read_whole(struct io *io, struct io_read *read)
{
    read->done = 0;
    read->stalls = 0;
    while (!is_over(io, read, try_read(read)))
        metrics_add(METRICS_IO_RETRIES, 1);
    return read->result;
}

void io_submit(struct io *io, struct io_read *read)
{
    read->done = 0;
    read->stalls = 0;
    io->in_flight++;
    io->ops->start(io->backend, io, read);
}

static void start_retries(struct io *io)
{
    struct io_read *read = io->retry;

    io->retry = NULL;
    while (read) {
        struct io_read *next = read->next;
        io->ops->start(io->backend, io, read);
        read = next;
    }
}

struct io_read *io_reap(struct io *io)
{
    struct io_read *read;

    if (!io->finished || io->retry) {
        if (io->retry)
            start_retries(io);
        io->ops->collect(io->backend, io);
    }
    read = io->finished;
    if (read) {
        io->finished = read->next;
        if (!io->finished)
            io->finished_tail = &io->finished;
        io->in_flight--;
    }
    return read;
}

unsigned io_in_flight(const struct io *io)
{
    return io->in_flight;
}

void io_wait(struct io *io, bool watch_requests, int timeout_ms)
{
    if (io->finished || io->retry)
        return;
    io->ops->wait(io->backend, io, watch_requests, timeout_ms);
}

void io_wake(struct io *io)
{
    uint64_t one = 1;
    ssize_t n = write(io->wake_fd, &one, sizeof(one));
    (void)n; /* full means that a wake-up is pending already */
}

const char *io_name(const struct io *io)
{
    return io->ops->name;
}

static int backend_new(struct io *io, const struct io_config *config)
{
    static atomic_bool said;

    if (config->kind != IO_KIND_PLAIN) {
        int r = io_uring_backend_new(io, config, &io->backend, &io->ops);
        if (r == 0 || config->kind == IO_KIND_URING)
            return r;
        if (!atomic_exchange(&said, true))
            log_warning("io_uring refused (%s): reading by pread instead", strerror(-r));
    }
    io->backend = NULL;
    io->ops = &io_plain_backend;
    return 0;
}

int io_new(const struct io_config *config, struct io **ret)
{
    struct io *io = calloc(1, sizeof(*io));
    int r;

    if (!io)
        return -ENOMEM;
    io->finished_tail = &io->finished;
    io->request_fd = config->request_fd;
    io->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r = io->wake_fd < 0 ? -errno : 0;
    if (r == 0 && config->fault)
        r = io_fault_new(config->fault, &io->fault);
    if (r == 0)
        r = backend_new(io, config);
    if (r < 0) {
        if (io->wake_fd >= 0)
            close(io->wake_fd);
        io_fault_free(io->fault);
        free(io);
        return r;
    }
    *ret = io;
    return 0;
}

void io_free(struct io *io)
{
    if (!io)
        return;
    if (io->backend)
        io->ops->free(io->backend);
    io_fault_free(io->fault);
    close(io->wake_fd);
    free(io);
}
