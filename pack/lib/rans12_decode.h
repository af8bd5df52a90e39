/* rans12_decode.h - the coder rans12 (FORMAT.md 8): a coded plane to its bytes.
 *
 * Trusts nothing. A decoder is scratch memory; one thread at a time uses it. The
 * instruction set is the one that isa.h chose.
 */
#ifndef TRUNK_RANS12_DECODE_H
#define TRUNK_RANS12_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"

struct rans12_decoder;

/* Returns 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int rans12_decoder_new(struct rans12_decoder **ret);
void rans12_decoder_free(struct rans12_decoder *decoder); /* NULL is allowed */
size_t rans12_decoder_memory(void);                       /* bytes one holds */

/* Decode size bytes (at least 1) into plane. Faults and slack as in plane_coder.h. */
__attribute__((warn_unused_result)) int rans12_decode(struct rans12_decoder *decoder,
                                                      const uint8_t *packed, size_t packed_size,
                                                      uint8_t *plane, size_t size,
                                                      struct fault *ret_fault);

#endif
