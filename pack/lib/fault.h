/* fault.h - what was wrong with a file, and where.
 *
 * The library prints nothing. A function that refuses bytes from a file returns
 * -EBADMSG (corrupt or truncated), -EOPNOTSUPP (valid, but newer than this build)
 * or -EFBIG (over a format limit) and fills a struct fault; the program that
 * knows the file's name reports it once.
 */
#ifndef TRUNK_FAULT_H
#define TRUNK_FAULT_H

#include <stdint.h>

/* One value per check. The text that fault_text gives is for people. Every value
 * is produced by some vector in test/vectors (a test requires it). */
enum fault_check {
    FAULT_NONE = 0,
    /* superblock */
    FAULT_TOO_SHORT,
    FAULT_MAGIC,
    FAULT_VERSION,
    FAULT_SUPERBLOCK_SIZE,
    FAULT_SUPERBLOCK_CHECKSUM,
    FAULT_FEATURES,
    FAULT_RAW_SIZE,
    FAULT_FRAME_SIZE,
    FAULT_BLOCK_SIZE,
    FAULT_COUNTS,
    FAULT_INDEX_RANGE,
    FAULT_FILE_SIZE,
    FAULT_MTIME,
    FAULT_MODE,
    FAULT_ALLOCATED_SIZE,
    FAULT_RESERVED,
    /* index */
    FAULT_INDEX_CHECKSUM,
    FAULT_BLOCK_OFFSET,
    FAULT_BLOCK_PACKED_SIZE,
    FAULT_BLOCK_RAW_SIZE,
    FAULT_FRAME_PACKED_SIZE,
    /* frame payload: the codec adds its own here */
    FAULT_FRAME_CHECKSUM,
    FAULT_FRAME_HEADER,
    FAULT_FRAME_RAW_SIZE,
    FAULT_FRAME_TRANSFORM,
    FAULT_FRAME_PHASE,
    FAULT_FRAME_CODER,
    FAULT_FRAME_PLANE,
    FAULT_FRAME_ZSTD,
    FAULT_RANS_HEADER,
    FAULT_RANS_TABLE,
    FAULT_RANS_SELECTORS,
    FAULT_RANS_ESCAPES,
    FAULT_RANS_STREAM,
    FAULT_RANS_END,
    FAULT_RANS_CARRY,
    FAULT_COUNT_
};

struct fault {
    enum fault_check check;
    uint64_t offset; /* of the offending field: in the superblock, the index or the frame payload */
};

/* A static string that names the check, e.g. "index checksum"; never NULL. */
const char *fault_text(enum fault_check check);

/* Record a fault (ret_fault may be NULL) and return error, so that a check reads
 * `return fault_set(f, FAULT_MAGIC, 0, -EBADMSG);`. */
int fault_set(struct fault *ret_fault, enum fault_check check, uint64_t offset, int error);

#endif
