/* vectors_bad_container.c - superblocks and indexes that a reader must refuse. All
 * checksums are true, but where the checksum is the point. */
#include <errno.h>
#include <stdlib.h>

#include "bytes.h"
#include "sample.h"
#include "vectors.h"

static const struct packed_options stored = {VECTOR_FRAME, VECTOR_BLOCK, FRAME_CODEC_RAW};

/* The smallest file: a superblock and nothing else. */
static void base(struct vector_file *ret)
{
    vectors_encode(ret, sample_new(SAMPLE_ZERO, 0, 0), 0, &stored);
}

/* One frame of 100 bytes: block entry at 8192, frame entry at 8208. */
static void one_frame(struct vector_file *ret)
{
    vectors_encode(ret, sample_new(SAMPLE_RANDOM, 1, 100), 100, &stored);
}

enum { BLOCK_ENTRY = 8192, FRAME_ENTRY = BLOCK_ENTRY + 16 };

static void truncate_to(struct vector_file *file, size_t size)
{
    file->packed.size = size;
}

static void extend_by_one(struct vector_file *file)
{
    uint8_t *bytes = realloc(file->packed.bytes, file->packed.size + 1);
    if (!bytes)
        abort();
    bytes[file->packed.size++] = 0;
    file->packed.bytes = bytes;
}

/* A vector that differs from a base in one field. */
#define POKE(function, from, at, width, value)                                                     \
    static void function(struct vector_file *ret)                                                  \
    {                                                                                              \
        from(ret);                                                                                 \
        vectors_poke(ret, at, width, value);                                                       \
    }

POKE(magic, base, 0, 1, 0x88)
POKE(version, base, 8, 2, 2)
POKE(draft, base, 10, 2, 0x7fff)
POKE(superblock_size, base, 12, 4, 8192)
POKE(feature, base, 16, 8, UINT64_C(1) << 63)
POKE(feature_reserved, base, 16, 8, 1 << 4)
POKE(raw_size, base, 40, 8, (UINT64_C(1) << 50) + 1)
POKE(raw_size_huge, base, 40, 8, UINT64_C(1) << 63)
POKE(frame_size, base, 80, 4, 5000)
POKE(frame_size_zero, base, 80, 4, 0)
POKE(block_size, base, 84, 4, VECTOR_FRAME / 2)
POKE(frames_per_block, base, 84, 4, VECTOR_FRAME * 2048)
POKE(block_count, base, 88, 8, 1)
POKE(frame_count, base, 96, 8, 1000000000)
POKE(index_size, base, 64, 8, 16)
POKE(index_offset, base, 56, 8, UINT64_MAX - 4095)
POKE(mtime, base, 112, 4, 1000000000)
POKE(mode, base, 116, 4, 0100644)
POKE(allocated, base, 120, 8, 4096)
POKE(reserved, base, 2047, 1, 1)
POKE(block_offset, one_frame, BLOCK_ENTRY, 8, 0)
POKE(block_overlap, one_frame, BLOCK_ENTRY, 8, UINT64_C(1) << 63)
POKE(block_packed, one_frame, BLOCK_ENTRY + 8, 4, 107)
POKE(block_raw, one_frame, BLOCK_ENTRY + 12, 4, 99)
POKE(frame_packed_zero, one_frame, FRAME_ENTRY, 3, 0)
POKE(frame_packed_huge, one_frame, FRAME_ENTRY, 3, 0xffffff)
POKE(frame_checksum, one_frame, FRAME_ENTRY + 3, 6, 0x123456789abc)

static void too_short(struct vector_file *ret)
{
    base(ret);
    truncate_to(ret, 4095);
}

static void no_bytes(struct vector_file *ret)
{
    base(ret);
    truncate_to(ret, 0);
}

static void truncated(struct vector_file *ret)
{
    one_frame(ret);
    truncate_to(ret, ret->packed.size - 1);
}

static void extended(struct vector_file *ret)
{
    one_frame(ret);
    extend_by_one(ret);
}

static void superblock_checksum(struct vector_file *ret)
{
    base(ret);
    ret->packed.bytes[4000] = 1;
}

static void index_checksum(struct vector_file *ret)
{
    one_frame(ret);
    ret->packed.bytes[ret->packed.size - 1] ^= 0x80;
}

/* An index of 2^48 bytes would be needed: valid in itself, over the limit. */
static void index_limit(struct vector_file *ret)
{
    const uint64_t raw_size = UINT64_C(1) << 50;
    const uint64_t frames = raw_size / VECTOR_FRAME, blocks = raw_size / VECTOR_BLOCK;
    base(ret);
    vectors_poke(ret, 40, 8, raw_size);
    vectors_poke(ret, 88, 8, blocks);
    vectors_poke(ret, 96, 8, frames);
    vectors_poke(ret, 64, 8, blocks * 16 + frames * 9);
}

const struct vector vectors_bad_container[] = {
    {"bad-no-bytes", "a file of 0 bytes", -EBADMSG, FAULT_TOO_SHORT, no_bytes},
    {"bad-too-short", "a superblock less its last byte", -EBADMSG, FAULT_TOO_SHORT, too_short},
    {"bad-magic", "another first byte", -EBADMSG, FAULT_MAGIC, magic},
    {"unsupported-version", "version 2", -EOPNOTSUPP, FAULT_VERSION, version},
    {"unsupported-draft", "another draft of version 1", -EOPNOTSUPP, FAULT_VERSION, draft},
    {"bad-superblock-size", "superblock_size 8192", -EBADMSG, FAULT_SUPERBLOCK_SIZE,
     superblock_size},
    {"bad-superblock-checksum", "a reserved byte changed after sealing", -EBADMSG,
     FAULT_SUPERBLOCK_CHECKSUM, superblock_checksum},
    {"unsupported-feature", "the highest bit of features_incompat", -EOPNOTSUPP, FAULT_FEATURES,
     feature},
    {"unsupported-feature-references", "a bit of features_incompat that is reserved", -EOPNOTSUPP,
     FAULT_FEATURES, feature_reserved},
    {"bad-raw-size", "an original of 2^50 + 1 bytes", -EFBIG, FAULT_RAW_SIZE, raw_size},
    {"bad-raw-size-huge", "an original of 2^63 bytes", -EFBIG, FAULT_RAW_SIZE, raw_size_huge},
    {"bad-frame-size", "frames of 5000 bytes", -EBADMSG, FAULT_FRAME_SIZE, frame_size},
    {"bad-frame-size-zero", "frames of no bytes", -EBADMSG, FAULT_FRAME_SIZE, frame_size_zero},
    {"bad-block-size", "blocks smaller than frames", -EBADMSG, FAULT_BLOCK_SIZE, block_size},
    {"bad-frames-per-block", "2048 frames in a block", -EBADMSG, FAULT_BLOCK_SIZE,
     frames_per_block},
    {"bad-block-count", "a block in an empty file", -EBADMSG, FAULT_COUNTS, block_count},
    {"bad-frame-count", "10^9 frames in an empty file", -EBADMSG, FAULT_COUNTS, frame_count},
    {"bad-index-size", "an index entry in an empty file", -EBADMSG, FAULT_INDEX_RANGE, index_size},
    {"bad-index-offset", "an index whose end is beyond 2^64", -EBADMSG, FAULT_INDEX_RANGE,
     index_offset},
    {"bad-index-limit", "an index of more than 64 MiB", -EFBIG, FAULT_INDEX_RANGE, index_limit},
    {"bad-truncated", "the last byte is missing", -EBADMSG, FAULT_FILE_SIZE, truncated},
    {"bad-extended", "a byte too many", -EBADMSG, FAULT_FILE_SIZE, extended},
    {"bad-mtime", "10^9 nanoseconds", -EBADMSG, FAULT_MTIME, mtime},
    {"bad-mode", "a file type in the mode", -EBADMSG, FAULT_MODE, mode},
    {"bad-allocated-size", "more allocated than the file is long", -EBADMSG, FAULT_ALLOCATED_SIZE,
     allocated},
    {"bad-reserved", "a byte that must be zero is not", -EBADMSG, FAULT_RESERVED, reserved},
    {"bad-index-checksum", "a bit of the index changed after sealing", -EBADMSG,
     FAULT_INDEX_CHECKSUM, index_checksum},
    {"bad-block-offset", "a block inside the superblock", -EBADMSG, FAULT_BLOCK_OFFSET,
     block_offset},
    {"bad-block-offset-huge", "a block at 2^63", -EBADMSG, FAULT_BLOCK_OFFSET, block_overlap},
    {"bad-block-packed-size", "a block shorter than its frames", -EBADMSG, FAULT_BLOCK_PACKED_SIZE,
     block_packed},
    {"bad-block-raw-size", "a block that inflates to less than the grid says", -EBADMSG,
     FAULT_BLOCK_RAW_SIZE, block_raw},
    {"bad-frame-packed-size-zero", "a frame of no bytes", -EBADMSG, FAULT_FRAME_PACKED_SIZE,
     frame_packed_zero},
    {"bad-frame-packed-size", "a frame far larger than its raw bytes", -EBADMSG,
     FAULT_FRAME_PACKED_SIZE, frame_packed_huge},
    {"bad-frame-checksum", "a frame that decodes, but to other bytes than its checksum says",
     -EBADMSG, FAULT_FRAME_CHECKSUM, frame_checksum},
};
const size_t vectors_bad_container_count =
    sizeof(vectors_bad_container) / sizeof(vectors_bad_container[0]);
