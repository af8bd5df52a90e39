/* worker.h - what one thread needs to encode and decode: scratch memory, used by its
 * thread only. */
#ifndef PACK_WORKER_H
#define PACK_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include "frame_decode.h"
#include "frame_encode.h"

struct pipeline;

struct worker {
    struct frame_encode_options encode_options;
    struct frame_encoder *encoder; /* NULL until wanted */
    size_t encoder_size;           /* largest frame it takes */
    struct frame_decoder *decoder; /* NULL until wanted */
    size_t decoder_size;           /* largest frame it takes, and room in scratch */
    uint8_t *scratch;              /* decoder_size bytes and the slack of a decoder */
    struct pipeline *pipeline;     /* for files that this thread handles from end to end */
};

/* A worker without encoder, decoder and pipeline: they come when wanted. NULL: no memory. */
struct worker *worker_new(const struct frame_encode_options *options);
void worker_free(struct worker *worker); /* NULL is allowed */

/* Make sure that frames of frame_size raw bytes can be encoded or decoded (which provides
 * scratch as well). Each returns 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int worker_need_encoder(struct worker *worker,
                                                            size_t frame_size);
__attribute__((warn_unused_result)) int worker_need_decoder(struct worker *worker,
                                                            size_t frame_size);

#endif
