/* plane_basic.c - the coders that need no code book: raw and constant. */
#include <errno.h>
#include <string.h>

#include "plane_coder.h"

int plane_raw_decode(struct plane_decode_context *context, const uint8_t *packed,
                     size_t packed_size, uint8_t *plane, size_t plane_size, struct fault *ret_fault)
{
    (void)context;
    if (packed_size != plane_size)
        return fault_set(ret_fault, FAULT_FRAME_PLANE, 0, -EBADMSG);
    memcpy(plane, packed, plane_size);
    return 0;
}

int plane_constant_decode(struct plane_decode_context *context, const uint8_t *packed,
                          size_t packed_size, uint8_t *plane, size_t plane_size,
                          struct fault *ret_fault)
{
    (void)context;
    if (packed_size != 1)
        return fault_set(ret_fault, FAULT_FRAME_PLANE, 0, -EBADMSG);
    memset(plane, packed[0], plane_size);
    return 0;
}
