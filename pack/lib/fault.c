/* fault.c - names of the checks in fault.h. */
#include "fault.h"

static const char *const texts[FAULT_COUNT_] = {
    [FAULT_NONE] = "no fault",
    [FAULT_TOO_SHORT] = "file shorter than a superblock",
    [FAULT_MAGIC] = "not a packed file (magic)",
    [FAULT_VERSION] = "format version or draft",
    [FAULT_SUPERBLOCK_SIZE] = "superblock size",
    [FAULT_SUPERBLOCK_CHECKSUM] = "superblock checksum",
    [FAULT_FEATURES] = "feature that this version does not know",
    [FAULT_RAW_SIZE] = "original size over the limit",
    [FAULT_FRAME_SIZE] = "frame size",
    [FAULT_BLOCK_SIZE] = "block size",
    [FAULT_COUNTS] = "block or frame count",
    [FAULT_INDEX_RANGE] = "offset or size of the index",
    [FAULT_FILE_SIZE] = "file truncated or extended",
    [FAULT_MTIME] = "modification time",
    [FAULT_MODE] = "mode",
    [FAULT_ALLOCATED_SIZE] = "allocated size",
    [FAULT_RESERVED] = "reserved bytes not zero",
    [FAULT_INDEX_CHECKSUM] = "index checksum",
    [FAULT_BLOCK_OFFSET] = "block offset",
    [FAULT_BLOCK_PACKED_SIZE] = "packed size of a block",
    [FAULT_BLOCK_RAW_SIZE] = "inflated size of a block",
    [FAULT_FRAME_PACKED_SIZE] = "packed size of a frame",
    [FAULT_FRAME_CHECKSUM] = "frame checksum",
    [FAULT_FRAME_HEADER] = "frame header",
    [FAULT_FRAME_RAW_SIZE] = "inflated size of a frame",
    [FAULT_FRAME_TRANSFORM] = "frame transform",
    [FAULT_FRAME_PHASE] = "frame phase",
    [FAULT_FRAME_CODER] = "coder of a plane",
    [FAULT_FRAME_PLANE] = "size of a plane",
    [FAULT_FRAME_ZSTD] = "zstd plane",
    [FAULT_RANS_HEADER] = "rans plane: header",
    [FAULT_RANS_TABLE] = "rans plane: frequency table",
    [FAULT_RANS_SELECTORS] = "rans plane: selectors",
    [FAULT_RANS_ESCAPES] = "rans plane: escapes",
    [FAULT_RANS_STREAM] = "rans plane: stream overrun",
    [FAULT_RANS_END] = "rans plane: end check",
    [FAULT_RANS_CARRY] = "rest plane: carried padding",
};

const char *fault_text(enum fault_check check)
{
    if ((unsigned)check >= FAULT_COUNT_ || !texts[check])
        return "unknown check";
    return texts[check];
}

int fault_set(struct fault *ret_fault, enum fault_check check, uint64_t offset, int error)
{
    if (ret_fault) {
        ret_fault->check = check;
        ret_fault->offset = offset;
    }
    return error;
}
