/* frame_layout.h - where the parts of a payload lie, checked. For the decoder alone.
 * Callable on any thread. */
#ifndef TRUNK_FRAME_LAYOUT_H
#define TRUNK_FRAME_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "plane_coder.h"
#include "transform.h"

struct frame_layout_plane {
    const struct plane_coder *coder;
    const uint8_t *packed; /* points into the payload */
    size_t packed_size;
    size_t raw_size;
};

struct frame_layout {
    const struct transform *transform; /* NULL: stored, and nothing below is set */
    size_t element_count;
    size_t head_size;     /* raw bytes before the first element: the phase */
    size_t tail_size;     /* and behind the last */
    const uint8_t *edges; /* head and tail bytes, in the payload */
    struct frame_layout_plane planes[FRAME_PLANES_MAX];
};

/* Check header and directory of a payload and fill ret; planes lie within it and fill it
 * to its end. Returns 0, -EBADMSG, -EOPNOTSUPP. */
__attribute__((warn_unused_result)) int frame_layout_parse(const uint8_t *packed,
                                                           size_t packed_size, size_t raw_size,
                                                           struct frame_layout *ret,
                                                           struct fault *ret_fault);

#endif
