/* frame_decode.c - see frame_decode.h. */
#include "frame_decode.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "frame_layout.h"
#include "plane_zstd.h"
#include "rans12_decode.h"
#include "rans_decode.h"

struct frame_decoder {
    struct plane_decode_context context;
    size_t max_raw_size;
    size_t scratch_size;
    uint8_t *scratch; /* decoded planes, one behind the other */
};

/* The planes of a frame may hold up to twice its bytes (transform.h); each begins on a
 * cache line of its own and may be read a little beyond its end. */
static size_t scratch_size_for(size_t max_raw_size)
{
    return 2 * max_raw_size + FRAME_PLANES_MAX * (FRAME_DECODE_SLACK + 64);
}

int frame_decoder_new(size_t max_raw_size, struct frame_decoder **ret)
{
    if (max_raw_size < 1 || max_raw_size > TRUNK_FRAME_SIZE_MAX)
        return -EINVAL;

    struct frame_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return -ENOMEM;
    decoder->max_raw_size = max_raw_size;
    decoder->scratch_size = scratch_size_for(max_raw_size);
    decoder->scratch = aligned_alloc(64, (decoder->scratch_size + 63) / 64 * 64);
    if (!decoder->scratch || plane_zstd_decoder_new(&decoder->context.zstd) < 0 ||
        rans_decoder_new(max_raw_size, &decoder->context.rans) < 0 ||
        rans12_decoder_new(&decoder->context.rans12) < 0) {
        frame_decoder_free(decoder);
        return -ENOMEM;
    }
    *ret = decoder;
    return 0;
}

void frame_decoder_free(struct frame_decoder *decoder)
{
    if (!decoder)
        return;
    plane_zstd_decoder_free(decoder->context.zstd);
    rans_decoder_free(decoder->context.rans);
    rans12_decoder_free(decoder->context.rans12);
    free(decoder->scratch);
    free(decoder);
}

size_t frame_decoder_memory(size_t max_raw_size)
{
    return sizeof(struct frame_decoder) + scratch_size_for(max_raw_size) +
           plane_zstd_decoder_memory() + rans_decoder_memory(max_raw_size) +
           rans12_decoder_memory();
}

static int decode_plane(struct frame_decoder *decoder, const uint8_t *packed,
                        const struct frame_layout_plane *plane, uint8_t *out,
                        struct fault *ret_fault)
{
    struct fault fault = {FAULT_FRAME_PLANE, 0};
    int r = plane->coder->decode(&decoder->context, plane->packed, plane->packed_size, out,
                                 plane->raw_size, &fault);
    if (r < 0)
        return fault_set(ret_fault, fault.check, fault.offset + (uint64_t)(plane->packed - packed),
                         r);
    return 0;
}

static bool is_rest(const struct frame_layout *layout, unsigned plane)
{
    return plane < layout->transform->plane_count &&
           layout->planes[plane].coder->id == PLANE_CODER_REST;
}

/* The way of nearly all weights: planes joined in registers, straight into raw. */
static int decode_joined(struct frame_decoder *decoder, const uint8_t *packed,
                         const struct frame_layout *layout, uint8_t *out, struct fault *ret_fault)
{
    const struct frame_layout_plane *plane = &layout->planes[0], *rest = &layout->planes[1];
    struct fault fault = {FAULT_FRAME_PLANE, 0};

    int r = rans_decode_bf16(decoder->context.rans, plane->packed, plane->packed_size, rest->packed,
                             rest->packed_size, plane->raw_size, out, &fault);
    if (r < 0)
        return fault_set(ret_fault, fault.check, fault.offset + (uint64_t)(plane->packed - packed),
                         r);
    return 0;
}

/* Decode the planes that are coded; those stored raw are used where they lie. */
static int decode_planes(struct frame_decoder *decoder, const uint8_t *packed,
                         const struct frame_layout *layout, const uint8_t *ret_planes[],
                         struct fault *ret_fault)
{
    size_t offset = 0;

    for (unsigned k = 0; k < layout->transform->plane_count; k++) {
        const struct frame_layout_plane *plane = &layout->planes[k];
        if (plane->coder->id == PLANE_CODER_RAW && plane->packed_size == plane->raw_size) {
            ret_planes[k] = plane->packed;
            continue;
        }
        size_t room = (plane->raw_size + FRAME_DECODE_SLACK + 63) / 64 * 64;
        assert(room <= decoder->scratch_size - offset);
        uint8_t *out = decoder->scratch + offset;
        decoder->context.next_is_rest = is_rest(layout, k + 1);
        int r = decode_plane(decoder, packed, plane, out, ret_fault);
        if (r < 0)
            return r;
        ret_planes[k] = out;
        offset += room;
    }
    return 0;
}

int frame_decode(struct frame_decoder *decoder, const uint8_t *packed, size_t packed_size,
                 void *raw, size_t raw_size, struct fault *ret_fault)
{
    struct frame_layout layout;
    uint8_t *out = raw;

    assert(raw_size >= 1 && raw_size <= decoder->max_raw_size);
    int r = frame_layout_parse(packed, packed_size, raw_size, &layout, ret_fault);
    if (r < 0)
        return r;
    if (!layout.transform) {
        memcpy(out, packed + TRUNK_FRAME_HEADER_SIZE, raw_size);
        return 0;
    }

    memcpy(out, layout.edges, layout.head_size);
    memcpy(out + raw_size - layout.tail_size, layout.edges + layout.head_size, layout.tail_size);
    out += layout.head_size;
    decoder->context.next_is_rest = false;
    if (!layout.transform->merge)
        return decode_plane(decoder, packed, &layout.planes[0], out, ret_fault);
    if (layout.transform->id == FRAME_TRANSFORM_BF16 && is_rest(&layout, 1))
        return decode_joined(decoder, packed, &layout, out, ret_fault);

    const uint8_t *planes[FRAME_PLANES_MAX];
    r = decode_planes(decoder, packed, &layout, planes, ret_fault);
    if (r < 0)
        return r;
    layout.transform->merge(planes, layout.element_count, out);
    return 0;
}

int frame_info_get(const uint8_t *packed, size_t packed_size, size_t raw_size,
                   struct frame_info *ret, struct fault *ret_fault)
{
    struct frame_layout layout;

    int r = frame_layout_parse(packed, packed_size, raw_size, &layout, ret_fault);
    if (r < 0)
        return r;
    memset(ret, 0, sizeof *ret);
    if (!layout.transform) {
        ret->transform = "stored";
        return 0;
    }
    ret->transform = layout.transform->name;
    ret->phase = (uint8_t)layout.head_size;
    ret->plane_count = layout.transform->plane_count;
    for (unsigned k = 0; k < ret->plane_count; k++)
        ret->plane[k] = (struct frame_plane_info){
            .coder = layout.planes[k].coder->name,
            .packed_size = (uint32_t)layout.planes[k].packed_size,
            .raw_size = (uint32_t)layout.planes[k].raw_size,
        };
    return 0;
}
