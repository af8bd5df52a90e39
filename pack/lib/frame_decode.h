/* frame_decode.h - the payload of one frame (FORMAT.md, part II) to raw bytes.
 *
 * Does no I/O, prints nothing, trusts nothing: any bytes at all yield the raw bytes
 * or an error, within raw_size bytes of output and a time bounded by it. A decoder is
 * scratch memory; one thread at a time uses it. Different frames may be decoded by
 * different decoders at the same time, without a lock.
 */
#ifndef TRUNK_FRAME_DECODE_H
#define TRUNK_FRAME_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"

/* So many bytes behind packed + packed_size, and before packed, must be readable (their
 * values do not matter): vector loads run over. Stores do not: nothing is written beyond
 * raw + raw_size, so that neighbours may be decoded side by side at the same time. */
enum { FRAME_DECODE_SLACK = 128 };

struct frame_decoder;

/* max_raw_size: the largest frame that will be asked for. Returns 0, -EINVAL, -ENOMEM. */
__attribute__((warn_unused_result)) int frame_decoder_new(size_t max_raw_size,
                                                          struct frame_decoder **ret);
void frame_decoder_free(struct frame_decoder *decoder); /* NULL is allowed */
size_t frame_decoder_memory(size_t max_raw_size);       /* bytes one decoder holds, for a budget */

/* Decode exactly raw_size bytes (what the index says) into raw. Returns 0; -EBADMSG
 * (corrupt; raw then holds anything); -EOPNOTSUPP (a transform or coder of a newer
 * version). Does not verify the frame's checksum: the caller does. */
__attribute__((warn_unused_result)) int frame_decode(struct frame_decoder *decoder,
                                                     const uint8_t *packed, size_t packed_size,
                                                     void *raw, size_t raw_size,
                                                     struct fault *ret_fault);

/* What a payload says of itself, for `info`: no decoding. */
struct frame_plane_info {
    const char *coder;    /* static string */
    uint32_t packed_size; /* bytes */
    uint32_t raw_size;    /* bytes of the plane before coding */
};
struct frame_info {
    const char *transform; /* static string, e.g. "bf16" */
    uint8_t phase;
    uint8_t plane_count;
    struct frame_plane_info plane[8];
};
__attribute__((warn_unused_result)) int frame_info_get(const uint8_t *packed, size_t packed_size,
                                                       size_t raw_size, struct frame_info *ret,
                                                       struct fault *ret_fault);

#endif
