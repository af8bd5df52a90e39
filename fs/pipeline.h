/* pipeline.h - from a read request to its reply.
 *
 *   request -> frames -> one read of the packed range -> decode while hot -> reply
 *
 * No thread waits for another request: a request is a count of frames that are not
 * there yet, and whoever brings the last one replies. Knows no FUSE: requests come in by
 * pipeline_read, replies leave through struct pipeline_sink. Each worker calls in with
 * its own struct pipeline_worker; everything shared is guarded by the table's lock.
 */
#ifndef TRUNKFS_PIPELINE_H
#define TRUNKFS_PIPELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/uio.h>

#include "frame_decode.h"
#include "frame_table.h"
#include "io.h"
#include "packed_area.h"

/* Where replies go. token and channel are what pipeline_read was given. Any thread. */
struct pipeline_sink {
    void (*reply)(void *token, int channel, const struct iovec *iov, int count);
    void (*reply_error)(void *token, int channel, int error); /* error: a positive errno */
};

struct prefetcher;

struct pipeline {
    struct frame_table *table;
    struct packed_area *area;
    const struct pipeline_sink *sink;
    void (*wake_idle)(void *context); /* one idle worker shall look for frames to decode */
    void *wake_context;
    bool verify;
    uint32_t run_max; /* bytes of packed range read in one piece */
    struct pipeline_worker **workers;
    unsigned worker_count;
    struct prefetcher *prefetcher; /* NULL: none */
    atomic_uint in_flight;         /* requests not yet answered */
    atomic_uint deferred_count;    /* of them, those that wait for memory */
    atomic_uint waiting_count;     /* fetches that wait for packed memory, or for the disk */
    atomic_uint ready_count;       /* frames in decode queues */
    atomic_size_t fetching_bytes;  /* being read */
    /* table lock: */
    struct read_request *deferred, **deferred_tail;
    struct fetch *waiting, **waiting_tail;
};

/* One worker's share. Fields: its own thread, except those marked. */
struct pipeline_worker {
    struct pipeline *pipeline;
    struct io *io;
    struct frame_decoder *decoder;
    size_t decoder_size; /* largest frame that decoder takes */
    uint8_t *scratch;    /* packed bytes of one frame of a file in memory */
    size_t scratch_size;
    struct frame *ready, **ready_tail; /* frames to decode; table lock */
};

/* ---- called by workers ---- */

/* A read of [offset, offset + size) of file; the caller keeps a reference on file until the
 * reply. direct: the client reads past its page cache. Replies at once or later. */
void pipeline_read(struct pipeline_worker *worker, struct packed_file *file, uint64_t offset,
                   uint32_t size, bool direct, void *token, int channel);

/* Take finished reads in: their frames become ready to decode. Returns true if there was one. */
bool pipeline_collect(struct pipeline_worker *worker);

/* Decode one frame that is ready, of this worker or of another, and reply to whom it
 * completes. Returns false if there was none. */
bool pipeline_decode(struct pipeline_worker *worker);

/* Start what waited for memory, in order, as far as there is some now. A worker calls it after
 * each of the above, which may have freed memory. */
void pipeline_resume(struct pipeline_worker *worker);

/* May new requests be taken? false while earlier ones wait for memory. */
bool pipeline_accepts(const struct pipeline *pipeline);

/* ---- set-up ---- */

void pipeline_init(struct pipeline *pipeline);

/* Forget what is held for a file that is no longer open: idle frames. Any thread. */
void pipeline_drop_file(struct pipeline *pipeline, struct packed_file *file);

#endif
