/* pipeline.h - one file through read, transform, write in chunks, hashed in order.
 *
 * A chunk is some raw bytes at a multiple of the chunk size. Chunks are worked on by the
 * pool, several at once, while the thread that called pipeline_run takes their raw bytes
 * in order into SHA-256, the only step that cannot be spread. Memory is bounded by the
 * number of slots, whatever the size of the file. With no pool the calling thread does
 * everything, which is how many small files are handled in parallel.
 *
 * One thread at a time calls pipeline_run on a pipeline. Callbacks run on any thread.
 */
#ifndef PACK_PIPELINE_H
#define PACK_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool.h"
#include "sha256.h"
#include "worker.h"

enum {
    /* Unless a frame is larger. With its packed bytes and what is decoded again, a chunk stays
     * in a second-level cache. */
    PIPELINE_CHUNK_SIZE = 512 << 10,
    PIPELINE_MARGIN = 4096, /* addressable before and behind the buffers of a chunk */
};

struct chunk {
    struct pool_work work;
    struct pipeline *pipeline;
    uint64_t raw_offset;
    size_t raw_size;
    uint8_t *raw;           /* raw_size bytes: written by produce, read by all after it */
    uint8_t *packed;        /* packed_room bytes, for the callbacks */
    size_t packed_size;     /* written by produce or transform */
    uint64_t packed_offset; /* written by place */
    bool produced;          /* lock of the pipeline */
    bool transformed;       /* lock of the pipeline */
    bool written;           /* lock of the pipeline */
};

/* Each returns 0 or -errno and then says in *ret_what what it was doing (a static string);
 * NULL where there is nothing to do. file is what pipeline_run was given. */
struct pipeline_steps {
    /* Fill chunk->raw. On the pool. */
    int (*produce)(void *file, struct worker *worker, struct chunk *chunk, const char **ret_what);
    /* While raw is hashed. On the pool. */
    int (*transform)(void *file, struct worker *worker, struct chunk *chunk, const char **ret_what);
    /* In the order of the file, on the calling thread, after transform. */
    void (*place)(void *file, struct chunk *chunk);
    /* After place. On the pool. */
    int (*write)(void *file, struct worker *worker, struct chunk *chunk, const char **ret_what);
    /* raw_size more bytes of the file are hashed. On the calling thread. */
    void (*advance)(void *file, size_t raw_size);
    bool hash; /* false: sha256 is not wanted */
};

/* pool: who works; NULL: the caller alone. slot_count: chunks in flight. NULL: no memory. */
struct pipeline *pipeline_new(struct pool *pool, unsigned slot_count);
void pipeline_free(struct pipeline *pipeline); /* NULL is allowed */

/* All chunks of a file of raw_size bytes. worker is the caller's own, used if there is no
 * pool. Returns 0, the first callback's error with what it was doing in *ret_what, -ENOMEM,
 * or -ECANCELED when the run was interrupted (interrupt.h). */
__attribute__((warn_unused_result)) int
pipeline_run(struct pipeline *pipeline, struct worker *worker, const struct pipeline_steps *steps,
             void *file, uint64_t raw_size, size_t chunk_size, size_t packed_room,
             uint8_t ret_sha256[SHA256_SIZE], const char **ret_what);

#endif
