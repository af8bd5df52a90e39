/* frame_encode.c - see frame_encode.h. */
#include "frame_encode.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "format.h"
#include "frame_plan.h"
#include "frame_sample.h"
#include "plane_bits.h"
#include "plane_coder.h"
#include "plane_zstd.h"
#include "rans12_encode.h"
#include "rans_encode.h"
#include "transform.h"

/* A plane that a coder shrinks by less than a 128th stays raw: it is not worth the time of
 * decoding it. */
enum { PLANE_GAIN_SHIFT = 7 };

struct frame_encoder {
    struct frame_encode_options options;
    size_t max_raw_size;
    struct frame_log2 log2;
    struct plane_zstd_encoder *zstd;
    struct rans_encoder *rans;
    struct rans12_encoder *rans12;
    uint8_t *planes; /* the planes of one transform, one behind the other */
    uint8_t *rival;  /* a second payload, where there are two plans */
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
    size_t size = 2 * max_raw_size + FRAME_PLANES_MAX * 128;
    return size > FRAME_PLAN_SCRATCH ? size : FRAME_PLAN_SCRATCH;
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
    encoder->rival = malloc(frame_encode_bound(max_raw_size));
    if (!encoder->planes || !encoder->rival || plane_zstd_encoder_new(&encoder->zstd) < 0 ||
        rans_encoder_new(max_raw_size, &encoder->log2, &encoder->rans) < 0 ||
        rans12_encoder_new(max_raw_size, &encoder->log2, &encoder->rans12) < 0) {
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
    rans_encoder_free(encoder->rans);
    rans12_encoder_free(encoder->rans12);
    free(encoder->planes);
    free(encoder->rival);
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

/* Note that the size bytes behind out->size are a plane by coder. */
static void append(struct payload *out, uint8_t *entry, enum plane_coder_id coder, size_t size)
{
    entry[0] = (uint8_t)coder;
    put_le24(entry + 1, (uint32_t)size);
    out->size += size;
    out->features |= plane_coder_get((uint8_t)coder)->features;
}

static int append_copy(struct payload *out, uint8_t *entry, enum plane_coder_id coder,
                       const uint8_t *bytes, size_t size)
{
    if (size > out->room - out->size)
        return -ENOSPC;
    memcpy(out->bytes + out->size, bytes, size);
    append(out, entry, coder, size);
    return 0;
}

/* Append the plane as rans12 or bits, whichever is smaller. Returns 0, -ENOSPC. */
static int encode_bytes(struct frame_encoder *encoder, enum plane_coder_id coder,
                        const uint8_t *plane, size_t plane_size, size_t worth, struct payload *out,
                        uint8_t *entry)
{
    uint8_t mask = plane_bits_mask(plane, plane_size);
    size_t bits_size = plane_bits_size(mask, plane_size), size;

    if (coder == PLANE_CODER_RANS12) {
        size_t expected = rans12_plan(encoder->rans12, plane, plane_size);
        if (expected < bits_size - (bits_size >> PLANE_GAIN_SHIFT) &&
            rans12_encode(encoder->rans12, out->bytes + out->size, worth, &size) == 0) {
            append(out, entry, PLANE_CODER_RANS12, size);
            return 0;
        }
    }
    if (bits_size > worth)
        return -ENOSPC;
    append(out, entry, PLANE_CODER_BITS,
           plane_bits_encode(mask, plane, plane_size, out->bytes + out->size));
    return 0;
}

/* Append planes[k] (and note in *rest_size how much of the next one is to be stored as rest, if
 * it may be). Returns 0, -ENOSPC, -ENOMEM. */
static int encode_plane(struct frame_encoder *encoder, const struct frame_plan *plan, unsigned k,
                        const uint8_t *plane, size_t plane_size, const uint8_t *next,
                        struct payload *out, uint8_t *entry, size_t *rest_size)
{
    size_t room = out->room - out->size;
    size_t worth = plane_size - (plane_size >> PLANE_GAIN_SHIFT);
    uint8_t *to = out->bytes + out->size;
    size_t size, carried;
    int r;

    if (room < worth)
        worth = room;
    if (is_constant(plane, plane_size))
        return append_copy(out, entry, PLANE_CODER_CONSTANT, plane, 1);
    switch (plan->coder[k]) {
    case PLANE_CODER_ZSTD:
        r = plane_zstd_encode(encoder->zstd, plan->zstd_level, plan->transform->split != NULL,
                              plane, plane_size, to, worth, &size);
        if (r == 0)
            append(out, entry, PLANE_CODER_ZSTD, size);
        break;
    case PLANE_CODER_RANS:
        r = rans_encode(encoder->rans, plane, plane_size, next, to, worth, &size, &carried);
        if (r == 0)
            append(out, entry, PLANE_CODER_RANS, size);
        if (r == 0 && next)
            *rest_size = carried;
        break;
    default:
        r = encode_bytes(encoder, plan->coder[k], plane, plane_size, worth, out, entry);
        break;
    }
    if (r == -ENOSPC)
        r = append_copy(out, entry, PLANE_CODER_RAW, plane, plane_size);
    return r;
}

static int encode_planes(struct frame_encoder *encoder, const struct frame_plan *plan,
                         const uint8_t *const planes[], size_t count, struct payload *out,
                         uint8_t *entry)
{
    const struct transform *transform = plan->transform;
    size_t rest_size = 0; /* of planes[k], if the plane before it carries for it */

    for (unsigned k = 0; k < transform->plane_count; k++, entry += PLANE_ENTRY_SIZE) {
        size_t plane_size = transform_plane_size(transform, k, count);
        bool carry = k + 1 < transform->plane_count && plan->coder[k + 1] == PLANE_CODER_REST;
        size_t next_rest_size = 0;
        int r;
        if (rest_size > 0 && rest_size < plane_size)
            r = append_copy(out, entry, PLANE_CODER_REST, planes[k], rest_size);
        else
            r = encode_plane(encoder, plan, k, planes[k], plane_size, carry ? planes[k + 1] : NULL,
                             out, entry, &next_rest_size);
        if (r < 0)
            return r;
        rest_size = next_rest_size;
    }
    return 0;
}

/* Write raw as planned. Returns 0, -ENOSPC if it does not shrink, -ENOMEM. */
static int encode_by(struct frame_encoder *encoder, const struct frame_plan *plan,
                     const uint8_t *raw, size_t raw_size, struct payload *out)
{
    const struct transform *transform = plan->transform;
    uint8_t phase = plan->phase;
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
    uint8_t *directory = out->bytes + TRUNK_FRAME_HEADER_SIZE;
    memcpy(directory + directory_size, raw, phase);
    memcpy(directory + directory_size + phase, raw + raw_size - tail_size, tail_size);

    const uint8_t *planes[FRAME_PLANES_MAX] = {raw};
    if (transform->split) {
        uint8_t *split_planes[FRAME_PLANES_MAX];
        uint8_t *to = encoder->planes;
        for (unsigned k = 0; k < transform->plane_count; k++) {
            planes[k] = split_planes[k] = to;
            to += (transform_plane_size(transform, k, count) + 127) / 64 * 64;
        }
        transform->split(raw + phase, count, split_planes);
    }
    return encode_planes(encoder, plan, planes, count, out, directory);
}

/* Write raw by the better of its plans, which *ret_plan then is. */
static int encode_best(struct frame_encoder *encoder, const uint8_t *raw, size_t raw_size,
                       struct payload *out, struct frame_plan *ret_plan)
{
    struct frame_plan rival;

    int r = frame_plan_make(&encoder->options, &encoder->log2, encoder->zstd, raw, raw_size,
                            encoder->planes, ret_plan, &rival);
    if (r == 0)
        r = encode_by(encoder, ret_plan, raw, raw_size, out);
    if (r == -ENOMEM || !rival.transform)
        return r;
    size_t rival_room = r == 0 ? out->size - out->size / FRAME_PLAN_RIVAL_GAIN : out->room;
    struct payload other = {.bytes = encoder->rival, .room = rival_room};
    int rival_r = encode_by(encoder, &rival, raw, raw_size, &other);
    if (rival_r < 0)
        return rival_r == -ENOMEM ? rival_r : r;
    memcpy(out->bytes, other.bytes, other.size);
    out->size = other.size;
    out->features = other.features;
    *ret_plan = rival;
    return 0;
}

int frame_encode(struct frame_encoder *encoder, const void *raw, size_t raw_size, uint8_t *packed,
                 size_t packed_room, size_t *ret_packed_size, struct frame_summary *ret_summary)
{
    struct payload out = {.bytes = packed, .room = raw_size + TRUNK_FRAME_HEADER_SIZE - 1};
    struct frame_plan plan;
    int r = -ENOSPC;

    assert(raw_size >= 1 && raw_size <= encoder->max_raw_size);
    assert(packed_room >= frame_encode_bound(raw_size));
    *ret_summary = (struct frame_summary){.transform = FRAME_TRANSFORM_STORED};
    if (encoder->options.codec != FRAME_CODEC_RAW) {
        r = encode_best(encoder, raw, raw_size, &out, &plan);
        if (r == -ENOMEM)
            return r;
        if (r == 0)
            *ret_summary = (struct frame_summary){out.features, plan.transform->id, plan.phase};
    }
    if (r < 0) {
        write_header(packed, FRAME_TRANSFORM_STORED, 0, raw_size);
        memcpy(packed + TRUNK_FRAME_HEADER_SIZE, raw, raw_size);
        out.size = raw_size + TRUNK_FRAME_HEADER_SIZE;
    }
    *ret_packed_size = out.size;
    return 0;
}
