/* prefetch_private.h - what prefetch.c (what was read ahead, and for whom) and prefetch_step.c
 * (what to read next) share. All of it: the table's lock. */
#ifndef TRUNKFS_PREFETCH_PRIVATE_H
#define TRUNKFS_PREFETCH_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline.h"
#include "prefetch_jump.h"
#include "prefetch_stream.h"

/* A stream of that length is a run: worth reading on, and remembering where it led. More than an
 * expert of a large model (17.5 MB): which expert comes next is chance, and where one was taken
 * for what follows a layer, half of what was read ahead was read for nobody. */
enum { PREFETCH_RUN_MIN = 32 << 20 };

struct prefetcher {
    struct stream_set streams;
    struct jump_table jumps;
    size_t held_max;
    size_t held;                /* packed bytes of fetches ahead, in flight too */
    size_t in_flight;           /* of them */
    struct fetch *first, *last; /* oldest in front */
};

/* What was read ahead for a stream that does not come to it: forget. */
void prefetch_drop_ahead(struct prefetcher *prefetcher, struct pipeline *pipeline,
                         struct stream *stream);

/* Bytes that a forward stream has asked for so far. */
static inline uint64_t prefetch_length(const struct stream *stream)
{
    return stream->stride ? 0 : stream->next - stream->begin;
}

#endif
