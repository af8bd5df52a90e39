/* rans_encode.h - the coder rans (FORMAT.md 7): the bytes of a plane to a coded one.
 *
 * An encoder is scratch memory; one thread at a time uses it. The bytes that it gives
 * do not depend on the instruction set, which is the one that isa.h chose.
 */
#ifndef TRUNK_RANS_ENCODE_H
#define TRUNK_RANS_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "frame_sample.h"
#include "rans_model.h"

struct rans_encoder;

/* log2 is used as long as the encoder is, and stays the caller's. Returns 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int
rans_encoder_new(size_t max_size, const struct frame_log2 *log2, struct rans_encoder **ret);
void rans_encoder_free(struct rans_encoder *encoder); /* NULL is allowed */

/* Encode plane (1 to max_size bytes) to at most room bytes. next: NULL, or the plane that
 * follows, of the same size, which is to be stored as coder rest: its first *ret_rest_size bytes
 * then are; where that comes out as size, nothing is carried and next must be stored otherwise.
 * Returns 0; -ENOSPC if it needs more room. */
__attribute__((warn_unused_result)) int
rans_encode(struct rans_encoder *encoder, const uint8_t *plane, size_t size, const uint8_t *next,
            uint8_t *packed, size_t room, size_t *ret_packed_size, size_t *ret_rest_size);

/* The two halves of rans_encode, for tests that want tables and streams of their own choice:
 * fill the model's table_count, table and selectors, then encode with 1, 2 or 4 streams.
 * A symbol that its table lacks is escaped. */
struct rans_model *rans_encoder_model(struct rans_encoder *encoder);
__attribute__((warn_unused_result)) int
rans_encode_modelled(struct rans_encoder *encoder, unsigned stream_count, const uint8_t *plane,
                     size_t size, const uint8_t *next, uint8_t *packed, size_t room,
                     size_t *ret_packed_size, size_t *ret_rest_size);

#endif
