/* frame_plan.c - see frame_plan.h. */
#include "frame_plan.h"

#include <errno.h>
#include <stdbool.h>

enum {
    /* A plane that holds more than this in a byte is taken as noise. */
    NOISE_BITS = 31 * FRAME_BIT / 4,
    /* What "fast" takes for rans12, which decodes at a fraction of what the others do. */
    FAST_BITS = 7 * FRAME_BIT,
    /* Where a trial of zstd saves more than bits / ZSTD_SURE, no other is asked: text. */
    ZSTD_SURE = 4,
    /* In shorter frames, tables of exponent and mantissa together cost more than they save. */
    JOINT_SIZE_MIN = 24 << 10,
    /* What a sample may be wrong by. */
    CHANCE_BITS = FRAME_BIT / 16,
    /* Bytes of a stretch of the frame, to look for repeats, and to try zstd with. */
    LOOK_STRETCH = 2048,
    TRIAL_STRETCH = FRAME_PLAN_SCRATCH / (2 * FRAME_SAMPLE_STRETCHES),
    /* Planes whose entropies lie so far apart are those of numbers. */
    APART_BITS = FRAME_BIT,
};

/* A way to see the frame, and what it costs for each byte of it. */
struct view {
    const struct transform *transform;    /* NULL: none found */
    const struct frame_sample_type *type; /* NULL for transform none */
    uint8_t phase;
    uint32_t bits;
};

static uint32_t plane_bits(uint32_t bits)
{
    return bits < NOISE_BITS ? bits : 8 * FRAME_BIT;
}

/* Take the view if it is cheaper than the best before it. Small elements look the same in views
 * of larger ones, but for chance: a larger one must be clearly better. */
static void consider(struct view *best, enum frame_transform_id id, unsigned phase,
                     const struct frame_sample_type *type, uint32_t bits)
{
    bool same_size = best->transform && best->transform->id == id;
    if (bits + (same_size ? 0 : CHANCE_BITS) < best->bits)
        *best = (struct view){transform_get((uint8_t)id), type, (uint8_t)phase, bits};
}

static void consider_bf16(struct view *best, const struct frame_sample *sample)
{
    for (unsigned phase = 0; phase < 2; phase++) {
        const struct frame_sample_type *type = &sample->bf16[phase];
        uint32_t bits = plane_bits(type->exponent_bits) + plane_bits(type->rest_bits);
        consider(best, FRAME_TRANSFORM_BF16, phase, type, bits / 2);
    }
}

static void consider_fp32(struct view *best, const struct frame_sample *sample)
{
    for (unsigned phase = 0; phase < 4; phase++) {
        const struct frame_sample_type *type = &sample->fp32[phase];
        uint32_t bits = plane_bits(type->exponent_bits) + plane_bits(type->rest_bits) +
                        plane_bits(type->low_bits[0]) + plane_bits(type->low_bits[1]);
        consider(best, FRAME_TRANSFORM_FP32, phase, type, bits / 4);
    }
}

static struct view best_view(enum frame_codec codec, const struct frame_sample *sample)
{
    struct view best = {.bits = 8 * FRAME_BIT};

    if (codec != FRAME_CODEC_FAST || sample->byte_bits < FAST_BITS)
        consider(&best, FRAME_TRANSFORM_NONE, 0, NULL, sample->byte_bits);
    consider_bf16(&best, sample);
    consider_fp32(&best, sample);
    return best;
}

static enum plane_coder_id coder_for(uint32_t bits)
{
    return bits < NOISE_BITS ? PLANE_CODER_RANS12 : PLANE_CODER_RAW;
}

static void plan_view(enum frame_codec codec, const struct frame_sample *sample,
                      const struct view *view, struct frame_plan *ret)
{
    const struct frame_sample_type *type = view->type;

    *ret = (struct frame_plan){.transform = view->transform, .phase = view->phase};
    if (!type) {
        ret->coder[0] = PLANE_CODER_RANS12;
        return;
    }
    bool few = frame_sample_exponents_few(sample, view->transform->element_size, view->phase);
    if (codec == FRAME_CODEC_SMALL && view->transform->id == FRAME_TRANSFORM_BF16 && few) {
        ret->transform = transform_get(FRAME_TRANSFORM_BF16_JOINT);
        ret->coder[0] = PLANE_CODER_RANS;
        ret->coder[1] = PLANE_CODER_RANS12;
        ret->coder[2] = type->rest_bits < NOISE_BITS ? PLANE_CODER_RANS12 : PLANE_CODER_BITS;
        return;
    }
    few |= codec == FRAME_CODEC_FAST;
    ret->coder[0] = few ? PLANE_CODER_RANS : PLANE_CODER_RANS12;
    ret->coder[1] = coder_for(type->rest_bits);
    if (few && ret->coder[1] == PLANE_CODER_RAW)
        ret->coder[1] = PLANE_CODER_REST;
    for (unsigned k = 2; k < view->transform->plane_count; k++)
        ret->coder[k] = coder_for(type->low_bits[k - 2]);
}

static void plan_zstd(const struct frame_sample *sample, int level, struct frame_plan *ret)
{
    bool apart = sample->high_bits > sample->low_bits + APART_BITS ||
                 sample->low_bits > sample->high_bits + APART_BITS;

    *ret = (struct frame_plan){
        .transform = transform_get(apart ? FRAME_TRANSFORM_BYTES2 : FRAME_TRANSFORM_NONE),
        .coder = {PLANE_CODER_ZSTD, PLANE_CODER_ZSTD},
        .zstd_level = level,
    };
}

/* Set *ret_bits to what zstd makes of a byte of raw, in units of 1 / FRAME_BIT, if strings repeat
 * there; otherwise it has no hold on them. */
static int try_zstd(struct plane_zstd_encoder *zstd, int level, const uint8_t *raw, size_t raw_size,
                    uint8_t *scratch, uint32_t *ret_bits)
{
    size_t size = frame_sample_stretches(raw, raw_size, LOOK_STRETCH, scratch), packed_size;

    *ret_bits = 8 * FRAME_BIT;
    if (!frame_sample_repeats(scratch, size))
        return 0;
    size = frame_sample_stretches(raw, raw_size, TRIAL_STRETCH, scratch);
    int r =
        plane_zstd_encode(zstd, level, false, scratch, size, scratch + size, size, &packed_size);
    if (r == 0)
        *ret_bits = (uint32_t)((uint64_t)packed_size * 8 * FRAME_BIT / size);
    return r == -ENOSPC ? 0 : r;
}

/* Is all but the exponents noise? Then strings don't repeat, and there is no need to look. */
static bool mantissas_are_noise(const struct view *view)
{
    const struct frame_sample_type *type = view->type;
    bool noise = type && type->rest_bits >= NOISE_BITS;

    for (unsigned k = 2; noise && k < view->transform->plane_count; k++)
        noise = type->low_bits[k - 2] >= NOISE_BITS;
    return noise;
}

int frame_plan_make(const struct frame_encode_options *options, const struct frame_log2 *log2,
                    struct plane_zstd_encoder *zstd, const uint8_t *raw, size_t raw_size,
                    uint8_t *scratch, struct frame_plan *ret, struct frame_plan *ret_rival)
{
    struct frame_sample sample;

    frame_sample_take(log2, raw, raw_size, &sample);
    plan_zstd(&sample, options->zstd_level, ret);
    *ret_rival = (struct frame_plan){.transform = NULL};
    if (options->codec == FRAME_CODEC_ZSTD)
        return 0;
    struct view view = best_view(options->codec, &sample);
    if (options->codec == FRAME_CODEC_FAST && !view.transform)
        view.transform = transform_get(FRAME_TRANSFORM_NONE); /* by rans12, or stored; not zstd */
    if (!view.transform)
        return 0;
    uint32_t zstd_bits = 8 * FRAME_BIT;
    int r = 0;
    if (options->codec != FRAME_CODEC_FAST && !mantissas_are_noise(&view))
        r = try_zstd(zstd, options->zstd_level, raw, raw_size, scratch, &zstd_bits);
    if (r < 0 || zstd_bits + zstd_bits / ZSTD_SURE < view.bits)
        return r;
    if (zstd_bits + zstd_bits / FRAME_PLAN_RIVAL_GAIN < view.bits)
        *ret_rival = *ret;
    bool too_short = options->codec == FRAME_CODEC_SMALL && raw_size < JOINT_SIZE_MIN;
    plan_view(too_short ? FRAME_CODEC_AUTO : options->codec, &sample, &view, ret);
    return 0;
}
