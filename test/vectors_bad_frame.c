/* vectors_bad_frame.c - payloads that a reader must refuse, in files that are otherwise
 * right: the index and its frame checksums are those of the original. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "frame_format.h"
#include "sample.h"
#include "vectors.h"

enum { SIZE = 100, PAYLOAD = 4096 }; /* raw bytes; where the payload is in the file */

static const uint8_t zeros[VECTOR_FRAME];

static void stored(struct vector_file *ret)
{
    struct vector_payload payload = {.transform = FRAME_TRANSFORM_STORED};
    vectors_one_frame(ret, sample_new(SAMPLE_RANDOM, 1, SIZE), SIZE, 0, &payload);
}

/* A single plane of coder with size bytes, of transform none. */
static void one_plane(struct vector_file *ret, uint8_t coder, const uint8_t *bytes, uint32_t size)
{
    struct vector_payload payload = {.transform = FRAME_TRANSFORM_NONE,
                                     .plane_count = 1,
                                     .plane = {{coder, bytes, size}}};
    vectors_one_frame(ret, sample_new(SAMPLE_ZERO, 1, SIZE), SIZE, TRUNK_FEATURE_ZSTD, &payload);
}

static void bytes2(struct vector_file *ret)
{
    struct vector_payload payload = {
        .transform = FRAME_TRANSFORM_BYTES2,
        .plane_count = 2,
        .plane = {{PLANE_CODER_CONSTANT, zeros, 1}, {PLANE_CODER_CONSTANT, zeros, 1}}};
    vectors_one_frame(ret, sample_new(SAMPLE_ZERO, 1, SIZE), SIZE, 0, &payload);
}

static void header_short(struct vector_file *ret)
{
    static const struct packed_payload payload = {zeros, 7};
    uint8_t *raw = sample_new(SAMPLE_ZERO, 1, SIZE);
    packed_assemble(raw, SIZE, &vectors_options, 0, &payload, &ret->packed);
    ret->raw = raw;
    ret->raw_size = SIZE;
}

static void header_reserved(struct vector_file *ret)
{
    stored(ret);
    ret->packed.bytes[PAYLOAD + FRAME_OFFSET_RESERVED] = 1;
}

static void directory_short(struct vector_file *ret)
{
    static uint8_t bytes[10] = {FRAME_TRANSFORM_BYTES2, 0, 0, 0, SIZE};
    static const struct packed_payload payload = {bytes, sizeof(bytes)};
    uint8_t *raw = sample_new(SAMPLE_ZERO, 1, SIZE);
    packed_assemble(raw, SIZE, &vectors_options, 0, &payload, &ret->packed);
    ret->raw = raw;
    ret->raw_size = SIZE;
}

static void raw_size(struct vector_file *ret)
{
    stored(ret);
    put_le32(ret->packed.bytes + PAYLOAD + FRAME_OFFSET_RAW_SIZE, SIZE - 1);
}

static void transform(struct vector_file *ret)
{
    stored(ret);
    ret->packed.bytes[PAYLOAD] = 0xff;
}

static void phase(struct vector_file *ret)
{
    bytes2(ret);
    ret->packed.bytes[PAYLOAD + FRAME_OFFSET_PHASE] = 2;
}

static void phase_stored(struct vector_file *ret)
{
    stored(ret);
    ret->packed.bytes[PAYLOAD + FRAME_OFFSET_PHASE] = 1;
}

static void coder(struct vector_file *ret)
{
    one_plane(ret, 0xff, zeros, 1);
}

static void plane_beyond(struct vector_file *ret)
{
    bytes2(ret);
    put_le24(ret->packed.bytes + PAYLOAD + 13, 0xffffff);
}

static void plane_rest(struct vector_file *ret)
{
    bytes2(ret);
    put_le24(ret->packed.bytes + PAYLOAD + 13, 0);
}

static void plane_raw_size(struct vector_file *ret)
{
    one_plane(ret, PLANE_CODER_RAW, zeros, SIZE - 10);
}

static void plane_constant_size(struct vector_file *ret)
{
    one_plane(ret, PLANE_CODER_CONSTANT, zeros, 2);
}

/* A zstd frame of one run-length block; content, as its header says, and the block's length. */
static void zstd_frame(struct vector_file *ret, uint8_t content, uint32_t length, uint32_t extra)
{
    static uint8_t frame[64];
    memset(frame, 0, sizeof(frame));
    put_le32(frame, 0xfd2fb528);
    frame[4] = 0x20;
    frame[5] = content;
    put_le24(frame + 6, length << 3 | 1 << 1 | 1);
    one_plane(ret, PLANE_CODER_ZSTD, frame, 10 + extra);
}

static void zstd_magic(struct vector_file *ret)
{
    one_plane(ret, PLANE_CODER_ZSTD, zeros, 20);
}

static void zstd_content_size(struct vector_file *ret)
{
    zstd_frame(ret, SIZE + 1, SIZE + 1, 0);
}

static void zstd_block_size(struct vector_file *ret)
{
    zstd_frame(ret, SIZE, SIZE - 1, 0);
}

static void zstd_trailing(struct vector_file *ret)
{
    zstd_frame(ret, SIZE, SIZE, 3);
}

const struct vector vectors_bad_frame[] = {
    {"bad-frame-header-short", "a payload of 7 bytes", -EBADMSG, FAULT_FRAME_HEADER, header_short},
    {"bad-frame-header-reserved", "a reserved byte of the frame header is not zero", -EBADMSG,
     FAULT_FRAME_HEADER, header_reserved},
    {"bad-frame-directory-short", "a payload that ends in its directory of planes", -EBADMSG,
     FAULT_FRAME_HEADER, directory_short},
    {"bad-frame-raw-size", "another inflated length than the grid says", -EBADMSG,
     FAULT_FRAME_RAW_SIZE, raw_size},
    {"unsupported-transform", "transform 255", -EOPNOTSUPP, FAULT_FRAME_TRANSFORM, transform},
    {"bad-phase", "phase 2 with elements of 2 bytes", -EBADMSG, FAULT_FRAME_PHASE, phase},
    {"bad-phase-stored", "a stored frame with a phase", -EBADMSG, FAULT_FRAME_PHASE, phase_stored},
    {"unsupported-coder", "coder 255", -EOPNOTSUPP, FAULT_FRAME_CODER, coder},
    {"bad-plane-beyond", "a plane that reaches beyond the payload", -EBADMSG, FAULT_FRAME_PLANE,
     plane_beyond},
    {"bad-plane-rest", "planes that do not fill the payload", -EBADMSG, FAULT_FRAME_PLANE,
     plane_rest},
    {"bad-plane-raw-size", "a raw plane that is too short", -EBADMSG, FAULT_FRAME_PLANE,
     plane_raw_size},
    {"bad-plane-constant-size", "a constant plane of two bytes", -EBADMSG, FAULT_FRAME_PLANE,
     plane_constant_size},
    {"bad-zstd-magic", "a zstd plane that is no zstd frame", -EBADMSG, FAULT_FRAME_ZSTD,
     zstd_magic},
    {"bad-zstd-content-size", "a zstd frame of another content size", -EBADMSG, FAULT_FRAME_ZSTD,
     zstd_content_size},
    {"bad-zstd-block-size", "a zstd frame that inflates to less than it says", -EBADMSG,
     FAULT_FRAME_ZSTD, zstd_block_size},
    {"bad-zstd-trailing", "bytes behind the zstd frame", -EBADMSG, FAULT_FRAME_ZSTD,
     zstd_trailing},
};
const size_t vectors_bad_frame_count = sizeof(vectors_bad_frame) / sizeof(vectors_bad_frame[0]);
