/* io_backend.h - what io.c and the ways to read share. Not for others. */
#ifndef TRUNKFS_IO_BACKEND_H
#define TRUNKFS_IO_BACKEND_H

#include "io.h"
#include "io_fault.h"

struct io_backend {
    const char *name;
    void (*free)(void *backend);
    /* Start (or continue) a read at offset + done; ends in io_complete, perhaps at once. */
    void (*start)(void *backend, struct io *io, struct io_read *read);
    /* Call io_complete for what has finished. Never sleeps. */
    void (*collect)(void *backend, struct io *io);
    void (*wait)(void *backend, struct io *io, bool watch_requests, int timeout_ms);
};

struct io {
    const struct io_backend *ops;
    void *backend;
    struct io_fault *fault; /* NULL: none */
    struct io_read *finished;
    struct io_read **finished_tail;
    struct io_read *retry; /* to be started again at the next io_reap */
    unsigned in_flight;
    int request_fd;
    int wake_fd; /* eventfd */
};

/* A try ended with so many bytes, or -errno. Finishes the read or queues the next try. */
void io_complete(struct io *io, struct io_read *read, int result);

/* One try by pread, on this thread, and complete. */
void io_read_now(struct io *io, struct io_read *read);

/* Backends. Return 0 and the backend's own struct, or -errno. */
extern const struct io_backend io_plain_backend;
__attribute__((warn_unused_result)) int io_uring_backend_new(struct io *io,
                                                             const struct io_config *config,
                                                             void **ret_backend,
                                                             const struct io_backend **ret_ops);

#endif
