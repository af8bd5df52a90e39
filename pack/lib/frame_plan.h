/* frame_plan.h - how a frame is to be written: transform, phase, a coder for each plane.
 *
 * Decided by what the bytes cost, as a sample of them tells. A new transform for weights is one
 * more candidate in frame_plan.c. For the encoder alone. Callable on any thread.
 */
#ifndef TRUNK_FRAME_PLAN_H
#define TRUNK_FRAME_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "frame_encode.h"
#include "frame_sample.h"
#include "plane_zstd.h"
#include "transform.h"

/* coder is what to try; where it does not shrink the plane, raw takes its place, and where the
 * plane is constant, constant. */
struct frame_plan {
    const struct transform *transform;
    uint8_t phase;
    enum plane_coder_id coder[FRAME_PLANES_MAX];
    int zstd_level; /* for planes by zstd */
};

enum { FRAME_PLAN_SCRATCH = 64 << 10 };

/* Fill ret for raw_size bytes (at least 1), and ret_rival if a sample does not tell which of two
 * is better: it is then by zstd, and worth taking if it saves at least 1 / FRAME_PLAN_RIVAL_GAIN;
 * otherwise its transform is NULL. scratch: FRAME_PLAN_SCRATCH bytes, for a trial of zstd.
 * options->codec is not FRAME_CODEC_RAW. Returns 0 or -ENOMEM. */
enum { FRAME_PLAN_RIVAL_GAIN = 32 };
__attribute__((warn_unused_result)) int
frame_plan_make(const struct frame_encode_options *options, const struct frame_log2 *log2,
                struct plane_zstd_encoder *zstd, const uint8_t *raw, size_t raw_size,
                uint8_t *scratch, struct frame_plan *ret, struct frame_plan *ret_rival);

#endif
