/* io.h - reads of packed bytes, and the only place where a worker sleeps.
 *
 * A struct io belongs to one worker thread, which calls everything here but io_wake. A read
 * is submitted, later handed back by io_reap, either whole or with an error: short
 * completions, EINTR and EAGAIN are continued here. Behind it is io_uring, or plain pread
 * where the kernel refuses io_uring; the results are the same.
 */
#ifndef TRUNKFS_IO_H
#define TRUNKFS_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum io_kind { IO_KIND_AUTO, IO_KIND_URING, IO_KIND_PLAIN };

/* One read. The submitter fills the first part and leaves it alone until io_reap returns
 * the read; the struct must stay where it is meanwhile. */
struct io_read {
    int fd;
    uint64_t offset; /* with O_DIRECT: offset, size and buffer are multiples of 4096 */
    uint32_t size;
    uint32_t needed; /* fewer bytes than that from offset on are an error: -ENODATA */
    uint8_t *buffer;

    int result;      /* 0 or -errno */
    uint32_t done;   /* bytes read */
    unsigned stalls; /* tries in a row that brought nothing */
    struct io_read *next;
};

struct io;

struct io_config {
    enum io_kind kind;
    int request_fd; /* io_wait also returns when this is readable */
    uint8_t *area;  /* memory that reads go to, to be registered; or NULL */
    size_t area_size;
    const char *fault; /* io_fault.h; NULL: none */
};

/* Call on the thread that will use it. Returns 0, -ENOMEM, -errno of the kernel when kind is
 * IO_KIND_URING and it is refused. */
__attribute__((warn_unused_result)) int io_new(const struct io_config *config, struct io **ret);
void io_free(struct io *io); /* NULL is allowed; no read may be in flight */

/* What is behind it, for the log, e.g. "io_uring, registered buffers". A static string. */
const char *io_name(const struct io *io);

void io_submit(struct io *io, struct io_read *read);

/* Read at once, on this thread: for files in memory, where reading is copying. Returns
 * read->result. */
__attribute__((warn_unused_result)) int io_read_whole(struct io *io, struct io_read *read);

/* The next finished read, or NULL when there is none now. Never sleeps. */
struct io_read *io_reap(struct io *io);

/* Reads submitted and not yet returned by io_reap. */
unsigned io_in_flight(const struct io *io);

/* Sleep until a read has finished, request_fd is readable (only if watch_requests), io_wake
 * was called, or timeout_ms are over (-1: for ever). May return early. */
void io_wait(struct io *io, bool watch_requests, int timeout_ms);

/* Make the owner's io_wait return, the present one or the next. Any thread. */
void io_wake(struct io *io);

#endif
