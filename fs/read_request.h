/* read_request.h - one read of the kernel: which frames it needs, and its reply.
 *
 * Belongs to the pipeline. pending, error and the uses: table lock.
 */
#ifndef TRUNKFS_READ_REQUEST_H
#define TRUNKFS_READ_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "frame_table.h"

struct pipeline_worker;

struct read_request {
    void *token;
    int channel;
    struct packed_file *file;
    uint64_t offset;
    uint32_t size;
    uint64_t start_ns;
    unsigned pending;          /* uses whose frame is not there yet */
    int error;                 /* positive errno; 0: none so far */
    struct read_request *next; /* deferred or completed */
    unsigned use_count;
    struct iovec *iov; /* use_count of them */
    struct frame_use uses[];
};

/* For [offset, offset + size) of file, size > 0 and within the file. NULL: no memory. */
struct read_request *read_request_new(struct packed_file *file, uint64_t offset, uint32_t size);

/* First frame of the request. */
uint64_t read_request_first_frame(const struct read_request *request);

/* Make its uses if there is memory for all: frames that are there or on their way are joined,
 * others added and chained to *ret_missing in order (or, if their packed bytes are there,
 * queued for decoding with worker). Returns false if it has to wait. (table locked) */
bool read_request_attach(struct pipeline_worker *worker, struct read_request *request,
                         struct frame **ret_missing);

/* Take the waiters off a frame that became READY or BAD: requests that have all they need
 * are chained to *completed. error: positive errno or 0. (table locked) */
void read_request_wake(struct frame *frame, int error, struct read_request **completed);

/* Reply from the frames' buffers, end its uses, free it. Not under the table lock. */
void read_request_reply(struct pipeline_worker *worker, struct read_request *request);

/* The same for a chain. */
void read_request_reply_all(struct pipeline_worker *worker, struct read_request *completed);

/* Reply from one buffer, or with an error; free it. For verbatim files. */
void read_request_reply_bytes(struct pipeline_worker *worker, struct read_request *request,
                              const uint8_t *bytes, int error);

#endif
