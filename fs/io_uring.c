/* io_uring.c - reads by io_uring, and sleeping in it. The only user of liburing.h. */
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "io_backend.h"
#include "log.h"

enum { SUBMISSION_ENTRIES = 128, COMPLETION_ENTRIES = 4096 };

/* Values of user_data that are no reads. */
static char request_tag, wake_tag, cancel_tag;

struct uring {
    struct io_uring ring;
    uint8_t *area; /* registered as buffer 0, or NULL */
    size_t area_size;
    uint64_t wake_count; /* where the read of wake_fd goes */
    bool request_armed;  /* a poll of request_fd is in the kernel */
    bool wake_armed;     /* a read of wake_fd is in the kernel */
};

static struct io_uring_sqe *uring_sqe(struct uring *uring)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);
    if (!sqe) {
        io_uring_submit(&uring->ring);
        sqe = io_uring_get_sqe(&uring->ring);
    }
    return sqe;
}

static void uring_start(void *backend, struct io *io, struct io_read *read)
{
    struct uring *uring = backend;
    uint8_t *buffer = read->buffer + read->done;
    uint32_t size = read->size - read->done;
    uint64_t offset = read->offset + read->done;
    struct io_uring_sqe *sqe = uring_sqe(uring);

    if (!sqe) { /* the kernel takes none now */
        io_complete(io, read, -EAGAIN);
        return;
    }
    if (uring->area && buffer >= uring->area && buffer + size <= uring->area + uring->area_size)
        io_uring_prep_read_fixed(sqe, read->fd, buffer, size, offset, 0);
    else
        io_uring_prep_read(sqe, read->fd, buffer, size, offset);
    io_uring_sqe_set_data(sqe, read);
}

static void uring_collect(void *backend, struct io *io)
{
    struct uring *uring = backend;
    struct io_uring_cqe *cqe;

    if (io_uring_sq_ready(&uring->ring))
        io_uring_submit(&uring->ring);
    while (io_uring_peek_cqe(&uring->ring, &cqe) == 0) {
        void *data = io_uring_cqe_get_data(cqe);
        int result = cqe->res;
        io_uring_cqe_seen(&uring->ring, cqe);
        if (data == &request_tag)
            uring->request_armed = false;
        else if (data == &wake_tag)
            uring->wake_armed = false;
        else if (data != &cancel_tag)
            io_complete(io, data, result);
    }
}

static void uring_arm(struct uring *uring, struct io *io, bool watch_requests)
{
    struct io_uring_sqe *sqe;

    if (!uring->wake_armed && (sqe = uring_sqe(uring))) {
        io_uring_prep_read(sqe, io->wake_fd, &uring->wake_count, sizeof(uring->wake_count), 0);
        io_uring_sqe_set_data(sqe, &wake_tag);
        uring->wake_armed = true;
    }
    if (watch_requests && !uring->request_armed && (sqe = uring_sqe(uring))) {
        io_uring_prep_poll_add(sqe, io->request_fd, POLLIN);
        io_uring_sqe_set_data(sqe, &request_tag);
        uring->request_armed = true;
    } else if (!watch_requests && uring->request_armed && (sqe = uring_sqe(uring))) {
        /* Without this a request that may not be taken now would end every sleep at once. */
        io_uring_prep_cancel(sqe, &request_tag, 0);
        io_uring_sqe_set_data(sqe, &cancel_tag);
    }
}

static void uring_wait(void *backend, struct io *io, bool watch_requests, int timeout_ms)
{
    struct uring *uring = backend;
    struct io_uring_cqe *cqe = NULL;

    uring_arm(uring, io, watch_requests);
    if (timeout_ms < 0) {
        io_uring_submit_and_wait(&uring->ring, 1);
    } else {
        struct __kernel_timespec timeout = {.tv_sec = timeout_ms / 1000,
                                            .tv_nsec = (timeout_ms % 1000) * 1000000LL};
        io_uring_submit_and_wait_timeout(&uring->ring, &cqe, 1, &timeout, NULL);
    }
    uring_collect(backend, io);
}

static void uring_free(void *backend)
{
    struct uring *uring = backend;
    io_uring_queue_exit(&uring->ring);
    free(uring);
}

static const struct io_backend uring_fixed = {.name = "io_uring, registered buffers",
                                              .free = uring_free,
                                              .start = uring_start,
                                              .collect = uring_collect,
                                              .wait = uring_wait};
static const struct io_backend uring_unfixed = {.name = "io_uring, buffers not registered",
                                                .free = uring_free,
                                                .start = uring_start,
                                                .collect = uring_collect,
                                                .wait = uring_wait};

/* The best set of flags that this kernel takes: each older kernel knows fewer. */
static int uring_setup(struct io_uring *ring)
{
    static const unsigned flag_sets[] = {
#if defined(IORING_SETUP_DEFER_TASKRUN) && defined(IORING_SETUP_SINGLE_ISSUER)
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
#endif
#if defined(IORING_SETUP_COOP_TASKRUN) && defined(IORING_SETUP_TASKRUN_FLAG)
        IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
#endif
        0
    };
    int r = -EINVAL;

    for (unsigned i = 0; r == -EINVAL && i < sizeof(flag_sets) / sizeof(flag_sets[0]); i++) {
        struct io_uring_params params = {.flags = flag_sets[i] | IORING_SETUP_CQSIZE |
                                                  IORING_SETUP_R_DISABLED,
                                         .cq_entries = COMPLETION_ENTRIES};
        r = io_uring_queue_init_params(SUBMISSION_ENTRIES, ring, &params);
    }
    return r;
}

/* liburing 2.3 declares functions for these two, but does not export them. */
static int uring_register(struct io_uring *ring, unsigned operation, void *argument,
                          unsigned count)
{
    long r = syscall(SYS_io_uring_register, ring->ring_fd, operation, argument, count);
    return r < 0 ? -errno : 0;
}

/* Nothing but reads and polls, whatever a thread that went wrong may submit: io_uring goes past
 * the filter of system calls (lockdown.h). The ring is not enabled yet. */
static int uring_restrict(struct io_uring *ring)
{
    static const uint8_t allowed[] = {IORING_OP_READ, IORING_OP_READ_FIXED, IORING_OP_POLL_ADD,
                                      IORING_OP_ASYNC_CANCEL};
    struct io_uring_restriction restrictions[sizeof(allowed)] = {{.opcode = 0}};

    for (unsigned i = 0; i < sizeof(allowed); i++) {
        restrictions[i].opcode = IORING_RESTRICTION_SQE_OP;
        restrictions[i].sqe_op = allowed[i];
    }
    return uring_register(ring, IORING_REGISTER_RESTRICTIONS, restrictions, sizeof(allowed));
}

int io_uring_backend_new(struct io *io, const struct io_config *config, void **ret_backend,
                         const struct io_backend **ret_ops)
{
    struct uring *uring = calloc(1, sizeof(*uring));
    struct iovec area = {.iov_base = config->area, .iov_len = config->area_size};
    int r;

    if (!uring)
        return -ENOMEM;
    r = uring_setup(&uring->ring);
    if (r < 0) {
        free(uring);
        return r;
    }
    /* Registration needs RLIMIT_MEMLOCK; without it the reads only cost a little more. */
    if (config->area && io_uring_register_buffers(&uring->ring, &area, 1) == 0) {
        uring->area = config->area;
        uring->area_size = config->area_size;
    }
    r = uring_restrict(&uring->ring);
    if (r == 0)
        r = uring_register(&uring->ring, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
    if (r < 0) {
        uring_free(uring);
        return r;
    }
    *ret_backend = uring;
    *ret_ops = uring->area ? &uring_fixed : &uring_unfixed;
    return 0;
}
