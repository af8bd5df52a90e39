/* frame_layout.c - see frame_layout.h. */
#include "frame_layout.h"

#include <errno.h>
#include <stdbool.h>

#include "bytes.h"
#include "format.h"

static int parse_header(const uint8_t *packed, size_t packed_size, size_t raw_size,
                        struct frame_layout *ret, struct fault *ret_fault)
{
    if (packed_size < TRUNK_FRAME_HEADER_SIZE)
        return fault_set(ret_fault, FAULT_FRAME_HEADER, 0, -EBADMSG);
    if (get_le16(packed + FRAME_OFFSET_RESERVED) != 0)
        return fault_set(ret_fault, FAULT_FRAME_HEADER, FRAME_OFFSET_RESERVED, -EBADMSG);
    if (get_le32(packed + FRAME_OFFSET_RAW_SIZE) != raw_size)
        return fault_set(ret_fault, FAULT_FRAME_RAW_SIZE, FRAME_OFFSET_RAW_SIZE, -EBADMSG);

    uint8_t phase = packed[FRAME_OFFSET_PHASE];
    ret->transform = NULL;
    if (packed[FRAME_OFFSET_TRANSFORM] == FRAME_TRANSFORM_STORED) {
        if (phase != 0)
            return fault_set(ret_fault, FAULT_FRAME_PHASE, FRAME_OFFSET_PHASE, -EBADMSG);
        if (packed_size - TRUNK_FRAME_HEADER_SIZE != raw_size)
            return fault_set(ret_fault, FAULT_FRAME_RAW_SIZE, 0, -EBADMSG);
        return 0;
    }

    const struct transform *transform = transform_get(packed[FRAME_OFFSET_TRANSFORM]);
    if (!transform)
        return fault_set(ret_fault, FAULT_FRAME_TRANSFORM, FRAME_OFFSET_TRANSFORM, -EOPNOTSUPP);
    if (phase >= transform->element_size || raw_size < (size_t)phase + transform->element_size)
        return fault_set(ret_fault, FAULT_FRAME_PHASE, FRAME_OFFSET_PHASE, -EBADMSG);
    ret->transform = transform;
    ret->head_size = phase;
    ret->element_count = (raw_size - phase) / transform->element_size;
    ret->tail_size = (raw_size - phase) % transform->element_size;
    return 0;
}

static int parse_plane(const struct frame_layout *layout, const uint8_t *entry, unsigned plane,
                       struct frame_layout_plane *ret)
{
    ret->coder = plane_coder_get(entry[0]);
    ret->packed_size = get_le24(entry + 1);
    ret->raw_size = transform_plane_size(layout->transform, plane, layout->element_count);
    return ret->coder ? 0 : -EOPNOTSUPP;
}

/* A plane coded as rest follows one of its size whose coder carries for it. */
static bool may_be_rest(const struct frame_layout *layout, unsigned plane)
{
    return plane > 0 && layout->planes[plane - 1].coder->id == PLANE_CODER_RANS &&
           layout->planes[plane - 1].raw_size == layout->planes[plane].raw_size;
}

int frame_layout_parse(const uint8_t *packed, size_t packed_size, size_t raw_size,
                       struct frame_layout *ret, struct fault *ret_fault)
{
    int r = parse_header(packed, packed_size, raw_size, ret, ret_fault);
    if (r < 0 || !ret->transform)
        return r;

    size_t offset = TRUNK_FRAME_HEADER_SIZE;
    size_t directory_size = (size_t)ret->transform->plane_count * PLANE_ENTRY_SIZE;
    size_t edge_size = ret->head_size + ret->tail_size;
    if (!range_within(offset, directory_size + edge_size, packed_size))
        return fault_set(ret_fault, FAULT_FRAME_HEADER, offset, -EBADMSG);
    const uint8_t *entry = packed + offset;
    ret->edges = entry + directory_size;
    offset += directory_size + edge_size;

    for (unsigned k = 0; k < ret->transform->plane_count; k++, entry += PLANE_ENTRY_SIZE) {
        struct frame_layout_plane *plane = &ret->planes[k];
        r = parse_plane(ret, entry, k, plane);
        if (r < 0)
            return fault_set(ret_fault, FAULT_FRAME_CODER, (uint64_t)(entry - packed), r);
        if (!range_within(offset, plane->packed_size, packed_size))
            return fault_set(ret_fault, FAULT_FRAME_PLANE, (uint64_t)(entry - packed), -EBADMSG);
        if (plane->coder->id == PLANE_CODER_REST && !may_be_rest(ret, k))
            return fault_set(ret_fault, FAULT_FRAME_CODER, (uint64_t)(entry - packed), -EBADMSG);
        plane->packed = packed + offset;
        offset += plane->packed_size;
    }
    if (offset != packed_size)
        return fault_set(ret_fault, FAULT_FRAME_PLANE, offset, -EBADMSG);
    return 0;
}
