/* rans12_encode.h - the coder rans12 (FORMAT.md 8): the bytes of a plane to a coded one.
 *
 * An encoder is scratch memory; one thread at a time uses it. The same plane gives the same
 * bytes on every machine.
 */
#ifndef TRUNK_RANS12_ENCODE_H
#define TRUNK_RANS12_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "frame_sample.h"

struct rans12_encoder;

/* log2 is used as long as the encoder is, and stays the caller's. Returns 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int
rans12_encoder_new(size_t max_size, const struct frame_log2 *log2, struct rans12_encoder **ret);
void rans12_encoder_free(struct rans12_encoder *encoder); /* NULL is allowed */

/* Choose tables for plane (1 to max_size bytes) and return the packed size to expect, within
 * some bytes; SIZE_MAX if it is too short for this coder. plane must stay for rans12_encode. */
size_t rans12_plan(struct rans12_encoder *encoder, const uint8_t *plane, size_t size);

/* Write what was planned last, to at most room bytes. Returns 0; -ENOSPC if it needs more. */
__attribute__((warn_unused_result)) int rans12_encode(struct rans12_encoder *encoder,
                                                      uint8_t *packed, size_t room,
                                                      size_t *ret_packed_size);

#endif
