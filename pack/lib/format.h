/* format.h - the constants of pack/FORMAT.md, part I, and nothing else. */
#ifndef TRUNK_FORMAT_H
#define TRUNK_FORMAT_H

#include <stdint.h>

#define TRUNK_SUFFIX      ".trunk"
#define TRUNK_TEMP_PREFIX ".trunk-tmp-"
#define TRUNK_MAGIC       "\x89TRK\r\n\x1a\n"

enum {
    TRUNK_VERSION = 1,
    TRUNK_DRAFT = 1,
    TRUNK_ALIGNMENT = 4096, /* of blocks and of the index */
    TRUNK_SUPERBLOCK_SIZE = 4096,
    TRUNK_BLOCK_ENTRY_SIZE = 16,
    TRUNK_FRAME_ENTRY_SIZE = 9,
    TRUNK_FRAME_HEADER_SIZE = 8,
    TRUNK_FRAME_SIZE_MIN = 4096,
    TRUNK_FRAME_SIZE_MAX = 1 << 22,
    TRUNK_FRAME_SIZE_DEFAULT = 256 << 10,
    TRUNK_BLOCK_SIZE_MAX = 1 << 26,
    TRUNK_BLOCK_SIZE_DEFAULT = 4 << 20,
    TRUNK_FRAMES_PER_BLOCK_MAX = 1024,
    TRUNK_INDEX_SIZE_MAX = 1 << 26,
    TRUNK_MODE_MASK = 07777,
    TRUNK_SHA256_SIZE = 32,
    TRUNK_WRITER_SIZE = 32,
    TRUNK_NAME_MAX = 255,
};

#define TRUNK_RAW_SIZE_MAX (UINT64_C(1) << 50)

/* features_incompat */
#define TRUNK_FEATURE_ZSTD  (UINT64_C(1) << 0)
#define TRUNK_FEATURE_RANS  (UINT64_C(1) << 1)
#define TRUNK_FEATURE_WIDE  (UINT64_C(1) << 2)
#define TRUNK_FEATURE_SMALL (UINT64_C(1) << 3)
#define TRUNK_FEATURES_KNOWN                                                                       \
    (TRUNK_FEATURE_ZSTD | TRUNK_FEATURE_RANS | TRUNK_FEATURE_WIDE | TRUNK_FEATURE_SMALL)

#endif
