/* frame_encode.c - see frame_encode.h. */
#include "frame_encode.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "format.h"
#include "frame_sample.h"
#include "plane_coder.h"
#include "plane_zstd.h"
#include "transform.h"

/* A plane that a coder shrinks by less than this part of it stays raw: it is not worth
 * the time of decoding it. */
enum { PLANE_GAIN_SHIFT = 6 };

struct frame_encoder {
    struct frame_encode_options options;
    size_t max_raw_size;
    struct frame_log2 log2;
    struct plane_zstd_encoder *zstd;
    uint8_t *planes; /* the planes of one transform, one behind the other */
};

/* A payload being written. */
struct payload {
    uint8_t *bytes;
    size_t size;
    size_t room;
    uint64_t features;
};

static size_t planes_size_for(size_t max_raw_size)
{
    return 2 * max_raw_size + FRAME_PLANES_MAX * 128;
}

int frame_encoder_new(const struct frame_encode_options *options, size_t max_raw_size,
                      struct frame_encoder **ret)
{
    if (max_raw_size < 1 || max_raw_size > TRUNK_FRAME_SIZE_MAX || options->zstd_level < 1 ||
        options->zstd_level > 19)
        return -EINVAL;

    struct frame_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder)
        return -ENOMEM;
    encoder->options = *options;
    encoder->max_raw_size = max_raw_size;
    frame_log2_init(&encoder->log2);
    encoder->planes = aligned_alloc(64, (planes_size_for(max_raw_size) + 63) / 64 * 64);
    if (!encoder->planes || plane_zstd_encoder_new(&encoder->zstd) < 0) {
        frame_encoder_free(encoder);
        return -ENOMEM;
    }
    *ret = encoder;
    return 0;
}

void frame_encoder_free(struct frame_encoder *encoder)
{
    if (!encoder)
        return;
    plane_zstd_encoder_free(encoder->zstd);
    free(encoder->planes);
    free(encoder);
}

size_t frame_encode_bound(size_t raw_size)
{
    return raw_size + TRUNK_FRAME_HEADER_SIZE + 1024;
}

const char *frame_transform_name(uint8_t id)
{
    if (id == FRAME_TRANSFORM_STORED)
        return "stored";
    const struct transform *transform = transform_get(id);
    return transform ? transform->name : "unknown";
}

static void write_header(uint8_t *packed, uint8_t transform, uint8_t phase, size_t raw_size)
{
    packed[FRAME_OFFSET_TRANSFORM] = transform;
    packed[FRAME_OFFSET_PHASE] = phase;
    put_le16(packed + FRAME_OFFSET_RESERVED, 0);
    put_le32(packed + FRAME_OFFSET_RAW_SIZE, (uint32_t)raw_size);
}

static bool is_constant(const uint8_t *bytes, size_t size)
{
    return memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* Append one plane to out by the coder that suits it. Returns 0, -ENOSPC, -ENOMEM. */
static int encode_plane(struct frame_encoder *encoder, bool weights, const uint8_t *plane,
                        size_t plane_size, struct payload *out, uint8_t *entry)
{
    uint8_t *to = out->bytes + out->size;
    size_t room = out->room - out->size;
    size_t worth = plane_size - (plane_size >> PLANE_GAIN_SHIFT);
    size_t size = 0;
    uint8_t coder = PLANE_CODER_ZSTD;

    if (room > 0 && is_constant(plane, plane_size)) {
        coder = PLANE_CODER_CONSTANT;
        *to = plane[0];
        size = 1;
    } else {
        int r = plane_zstd_encode(encoder->zstd, encoder->options.zstd_level, weights, plane,
                                  plane_size, to, worth < room ? worth : room, &size);
        if (r == -ENOMEM)
            return r;
        if (r < 0) {
            if (plane_size > room)
                return -ENOSPC;
            coder = PLANE_CODER_RAW;
            memcpy(to, plane, plane_size);
            size = plane_size;
        }
    }
    out->size += size;
    out->features |= plane_coder_get(coder)->features;
    entry[0] = coder;
    put_le24(entry + 1, (uint32_t)size);
    return 0;
}

/* Write raw by one transform. Returns 0, -ENOSPC if it does not shrink, -ENOMEM. */
static int encode_by(struct frame_encoder *encoder, const struct transform *transform,
                     uint8_t phase, const uint8_t *raw, size_t raw_size, struct payload *out)
{
    if (raw_size < (size_t)phase + transform->element_size)
        return -ENOSPC;
    size_t count = (raw_size - phase) / transform->element_size;
    size_t tail_size = (raw_size - phase) % transform->element_size;
    size_t directory_size = (size_t)transform->plane_count * PLANE_ENTRY_SIZE;

    out->size = TRUNK_FRAME_HEADER_SIZE + directory_size + phase + tail_size;
    out->features = transform->features;
    if (out->size > out->room)
        return -ENOSPC;
    write_header(out->bytes, transform->id, phase, raw_size);
    uint8_t *entry = out->bytes + TRUNK_FRAME_HEADER_SIZE;
    memcpy(entry + directory_size, raw, phase);
    memcpy(entry + directory_size + phase, raw + raw_size - tail_size, tail_size);

    uint8_t *planes[FRAME_PLANES_MAX];
    uint8_t *to = encoder->planes;
    for (unsigned k = 0; k < transform->plane_count; k++) {
        planes[k] = to;
        to += (transform_plane_size(transform, k, count) + 127) / 64 * 64;
    }
    if (transform->split)
        transform->split(raw + phase, count, planes);
#ifdef TRUNK_MUTATE_PLANES /* an error on purpose, in builds that test/mutation.sh makes fail */
    uint8_t *first = planes[0];
    planes[0] = planes[transform->plane_count > 1];
    planes[transform->plane_count > 1] = first;
#endif
    for (unsigned k = 0; k < transform->plane_count; k++, entry += PLANE_ENTRY_SIZE) {
        const uint8_t *plane = transform->split ? planes[k] : raw;
        int r = encode_plane(encoder, transform->split != NULL, plane,
                             transform_plane_size(transform, k, count), out, entry);
        if (r < 0)
            return r;
    }
    return 0;
}

static const struct transform *choose(struct frame_encoder *encoder, const uint8_t *raw,
                                      size_t raw_size, uint8_t *ret_phase)
{
    struct frame_sample sample;
    frame_sample_take(&encoder->log2, raw, raw_size, &sample);

    *ret_phase = 0;
    if (encoder->options.codec != FRAME_CODEC_ZSTD) {
        uint32_t even = sample.exponent_bits[0] + sample.rest_bits[0];
        uint32_t odd = sample.exponent_bits[1] + sample.rest_bits[1];
        *ret_phase = odd < even;
        if ((odd < even ? odd : even) < 14 * FRAME_BIT)
            return transform_get(FRAME_TRANSFORM_BF16);
    }
    bool apart = sample.high_bits > sample.low_bits + FRAME_BIT ||
                 sample.low_bits > sample.high_bits + FRAME_BIT;
    *ret_phase = 0;
    return transform_get(apart ? FRAME_TRANSFORM_BYTES2 : FRAME_TRANSFORM_NONE);
}

int frame_encode(struct frame_encoder *encoder, const void *raw, size_t raw_size, uint8_t *packed,
                 size_t packed_room, size_t *ret_packed_size, struct frame_summary *ret_summary)
{
    struct payload out = { .bytes = packed, .room = raw_size + TRUNK_FRAME_HEADER_SIZE - 1 };
    uint8_t phase = 0;
    int r = -ENOSPC;

    assert(raw_size >= 1 && raw_size <= encoder->max_raw_size);
    assert(packed_room >= frame_encode_bound(raw_size));
    *ret_summary = (struct frame_summary){ .transform = FRAME_TRANSFORM_STORED };
    if (encoder->options.codec != FRAME_CODEC_RAW) {
        const struct transform *transform = choose(encoder, raw, raw_size, &phase);
        r = encode_by(encoder, transform, phase, raw, raw_size, &out);
        if (r == -ENOMEM)
            return r;
        if (r == 0)
            *ret_summary = (struct frame_summary){ out.features, transform->id, phase };
    }
    if (r < 0) {
        write_header(packed, FRAME_TRANSFORM_STORED, 0, raw_size);
        memcpy(packed + TRUNK_FRAME_HEADER_SIZE, raw, raw_size);
        out.size = raw_size + TRUNK_FRAME_HEADER_SIZE;
    }
    *ret_packed_size = out.size;
    return 0;
}
