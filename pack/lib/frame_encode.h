/* frame_encode.h - raw bytes to the payload of one frame (FORMAT.md, part II).
 *
 * Does no I/O, prints nothing. An encoder is scratch memory and options; one thread
 * at a time uses it. The bytes produced depend on the input and options only, not on
 * the machine, nor on what was encoded before.
 */
#ifndef TRUNK_FRAME_ENCODE_H
#define TRUNK_FRAME_ENCODE_H

#include <stddef.h>
#include <stdint.h>

enum frame_codec {
    FRAME_CODEC_AUTO,  /* the best ratio that decodes at memory speed; zstd where it saves much */
    FRAME_CODEC_FAST,  /* decoding speed first */
    FRAME_CODEC_SMALL, /* ratio first, at a decoding speed still useful */
    FRAME_CODEC_ZSTD,  /* byte planes of 16-bit elements and zstd, as in the article */
    FRAME_CODEC_RAW,
};

struct frame_encode_options {
    enum frame_codec codec;
    int zstd_level; /* 1 to 19 */
};

struct frame_encoder;

/* max_raw_size: the largest frame that will be given, 1 to TRUNK_FRAME_SIZE_MAX.
 * Returns 0, -EINVAL, -ENOMEM. */
__attribute__((warn_unused_result)) int frame_encoder_new(const struct frame_encode_options *options,
                                                          size_t max_raw_size,
                                                          struct frame_encoder **ret);
void frame_encoder_free(struct frame_encoder *encoder); /* NULL is allowed */

/* Room that frame_encode needs in packed for raw_size bytes. What it returns is at most
 * raw_size + TRUNK_FRAME_HEADER_SIZE; the room above that is working space. */
size_t frame_encode_bound(size_t raw_size);

/* What one frame became: for `info` and reports, and the feature bits for the superblock. */
struct frame_summary {
    uint64_t features; /* TRUNK_FEATURE_ bits that a reader needs */
    uint8_t transform; /* names through frame_transform_name */
    uint8_t phase;
};

/* Encode raw_size bytes (1 to max_raw_size) into packed. Returns 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int frame_encode(struct frame_encoder *encoder, const void *raw,
                                                     size_t raw_size, uint8_t *packed,
                                                     size_t packed_room, size_t *ret_packed_size,
                                                     struct frame_summary *ret_summary);

/* A static string for struct frame_summary, e.g. "bf16"; never NULL. */
const char *frame_transform_name(uint8_t id);

#endif
