/* rans_decode.h - the coder rans (FORMAT.md 7): a coded plane to its bytes.
 *
 * Trusts nothing. A decoder is scratch memory; one thread at a time uses it. The
 * instruction set is the one that isa.h chose.
 */
#ifndef TRUNK_RANS_DECODE_H
#define TRUNK_RANS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "rans_format.h"

struct rans_decoder;

__attribute__((warn_unused_result)) int
rans_decoder_new(size_t max_size, struct rans_decoder **ret); /* 0 or -ENOMEM */
void rans_decoder_free(struct rans_decoder *decoder);         /* NULL is allowed */
size_t rans_decoder_memory(size_t max_size);

/* Decode size bytes (1 to max_size) into plane. carry: the next plane is coded as rest, and
 * its carried bytes are wanted. Faults and slack as in plane_coder.h. */
__attribute__((warn_unused_result)) int rans_decode(struct rans_decoder *decoder, bool carry,
                                                    const uint8_t *packed, size_t packed_size,
                                                    uint8_t *plane, size_t size,
                                                    struct fault *ret_fault);

/* Decode the plane coded as rest that follows the one decoded last. Returns 0, -EBADMSG. */
__attribute__((warn_unused_result)) int rans_decode_rest(const struct rans_decoder *decoder,
                                                         const uint8_t *packed, size_t packed_size,
                                                         uint8_t *plane, size_t size,
                                                         struct fault *ret_fault);

/* Both at once for a frame of bf16 elements: the planes are joined in registers and go to raw,
 * 2 * size bytes, not one more. rest is the payload of the plane coded as rest; a fault's
 * offset counts from packed. */
__attribute__((warn_unused_result)) int rans_decode_bf16(struct rans_decoder *decoder,
                                                         const uint8_t *packed, size_t packed_size,
                                                         const uint8_t *rest, size_t rest_size,
                                                         size_t size, uint8_t *raw,
                                                         struct fault *ret_fault);

#endif
