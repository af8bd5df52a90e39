/* plane_rans.c - the coders rans, rest and rans12 in the registry's shape. */
#include "plane_coder.h"
#include "rans12_decode.h"
#include "rans_decode.h"

int plane_rans_decode(struct plane_decode_context *context, const uint8_t *packed,
                      size_t packed_size, uint8_t *plane, size_t plane_size,
                      struct fault *ret_fault)
{
    return rans_decode(context->rans, context->next_is_rest, packed, packed_size, plane, plane_size,
                       ret_fault);
}

int plane_rest_decode(struct plane_decode_context *context, const uint8_t *packed,
                      size_t packed_size, uint8_t *plane, size_t plane_size,
                      struct fault *ret_fault)
{
    return rans_decode_rest(context->rans, packed, packed_size, plane, plane_size, ret_fault);
}

int plane_rans12_decode(struct plane_decode_context *context, const uint8_t *packed,
                        size_t packed_size, uint8_t *plane, size_t plane_size,
                        struct fault *ret_fault)
{
    return rans12_decode(context->rans12, packed, packed_size, plane, plane_size, ret_fault);
}
