/* plane_zstd.h - the coder zstd: one Zstandard frame a plane. The only user of zstd.h.
 * A coder object is used by one thread at a time. */
#ifndef TRUNK_PLANE_ZSTD_H
#define TRUNK_PLANE_ZSTD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plane_zstd_decoder;
struct plane_zstd_encoder;

/* Both return 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int plane_zstd_decoder_new(struct plane_zstd_decoder **ret);
__attribute__((warn_unused_result)) int plane_zstd_encoder_new(struct plane_zstd_encoder **ret);

void plane_zstd_decoder_free(struct plane_zstd_decoder *decoder); /* NULL is allowed */
size_t plane_zstd_decoder_memory(void);                           /* bytes one holds */

void plane_zstd_encoder_free(struct plane_zstd_encoder *encoder); /* NULL is allowed */

/* weights: the plane is part of numbers, not text. Returns 0 (*ret_packed_size is set);
 * -ENOSPC if it does not fit into room, which is no error but the answer that it does not
 * shrink so far; -ENOMEM. */
__attribute__((warn_unused_result)) int
plane_zstd_encode(struct plane_zstd_encoder *encoder, int level, bool weights, const uint8_t *plane,
                  size_t plane_size, uint8_t *packed, size_t room, size_t *ret_packed_size);

#endif
