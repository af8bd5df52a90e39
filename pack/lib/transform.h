/* transform.h - raw bytes to planes and back: the registry, and how to add a row.
 *
 * A transform cuts elements of a fixed size into planes, so that what compresses and
 * what does not lie apart. It knows nothing of coders and frames. A new transform is one
 * file, one declaration below, one row in transform.c and one section in FORMAT.md.
 * Callable on any thread.
 */
#ifndef TRUNK_TRANSFORM_H
#define TRUNK_TRANSFORM_H

#include <stddef.h>
#include <stdint.h>

#include "frame_format.h"

struct transform {
    const char *name;
    uint64_t features; /* TRUNK_FEATURE_ bits that a reader needs */
    uint8_t id;
    uint8_t element_size;                  /* raw bytes of an element, 1 to FRAME_ELEMENT_SIZE_MAX */
    uint8_t plane_count;                   /* 1 to FRAME_PLANES_MAX */
    uint8_t plane_bits[FRAME_PLANES_MAX];  /* of one element in each plane; the sum is at most
                                              2 * 8 * element_size */
    /* count elements (at least 1) at raw, which need not be aligned, to and from the
     * planes, of transform_plane_size bytes each. Both write that much and no more. A
     * transform with one plane that is the raw bytes themselves leaves them NULL. */
    void (*split)(const uint8_t *raw, size_t count, uint8_t *const planes[]);
    void (*merge)(const uint8_t *const planes[], size_t count, uint8_t *raw);
};

const struct transform *transform_get(uint8_t id); /* NULL if unknown (or stored) */

static inline size_t transform_plane_size(const struct transform *transform, unsigned plane,
                                          size_t count)
{
    return (count * transform->plane_bits[plane] + 7) / 8;
}

void transform_bytes2_split(const uint8_t *raw, size_t count, uint8_t *const planes[]);
void transform_bytes2_merge(const uint8_t *const planes[], size_t count, uint8_t *raw);

/* Where lane (0 to 63) of a block of 64 bf16 elements stands in memory. */
static inline unsigned transform_bf16_position(unsigned lane)
{
    unsigned row = lane / 16, column = lane % 16;
    return column < 8 ? 8 * row + column : 32 + 8 * row + column - 8;
}
void transform_bf16_split(const uint8_t *raw, size_t count, uint8_t *const planes[]);
void transform_bf16_merge(const uint8_t *const planes[], size_t count, uint8_t *raw);

void transform_fp32_split(const uint8_t *raw, size_t count, uint8_t *const planes[]);
void transform_fp32_merge(const uint8_t *const planes[], size_t count, uint8_t *raw);

void transform_bf16_joint_split(const uint8_t *raw, size_t count, uint8_t *const planes[]);
void transform_bf16_joint_merge(const uint8_t *const planes[], size_t count, uint8_t *raw);

#endif
