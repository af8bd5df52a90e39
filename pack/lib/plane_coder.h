/* plane_coder.h - one plane of a frame, to and from its coded bytes: the registry.
 *
 * A coder knows nothing of transforms. A new one is a file or two (encoder and decoder),
 * one declaration here, one row in plane_coder.c and one section in FORMAT.md. Decoders
 * trust nothing. A context belongs to one thread at a time.
 */
#ifndef TRUNK_PLANE_CODER_H
#define TRUNK_PLANE_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "frame_format.h"

/* What decoders need beside their input. Owned by the frame decoder. */
struct plane_decode_context {
    struct plane_zstd_decoder *zstd;
    struct rans_decoder *rans;
    struct rans12_decoder *rans12;
    bool next_is_rest; /* of the plane to be decoded: the one behind it is coded as rest */
};

/* Decode exactly plane_size bytes (at least 1) into plane and write no more. Bytes behind
 * packed + packed_size are readable as FRAME_DECODE_SLACK says. Returns 0 or -EBADMSG; a
 * fault's offset counts from packed. */
typedef int plane_decode_function(struct plane_decode_context *context, const uint8_t *packed,
                                  size_t packed_size, uint8_t *plane, size_t plane_size,
                                  struct fault *ret_fault);

struct plane_coder {
    const char *name;
    uint64_t features; /* TRUNK_FEATURE_ bits that a reader needs */
    uint8_t id;
    plane_decode_function *decode;
};

const struct plane_coder *plane_coder_get(uint8_t id); /* NULL if unknown */

__attribute__((warn_unused_result)) plane_decode_function plane_raw_decode;
__attribute__((warn_unused_result)) plane_decode_function plane_constant_decode;
__attribute__((warn_unused_result)) plane_decode_function plane_zstd_decode;
__attribute__((warn_unused_result)) plane_decode_function plane_rans_decode;
__attribute__((warn_unused_result)) plane_decode_function plane_rest_decode;
__attribute__((warn_unused_result)) plane_decode_function plane_rans12_decode;
__attribute__((warn_unused_result)) plane_decode_function plane_bits_decode;

#endif
