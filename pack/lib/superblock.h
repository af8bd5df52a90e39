/* superblock.h - the first 4096 bytes of a packed file, to and from memory.
 *
 * Does no I/O. Callable on any thread.
 */
#ifndef TRUNK_SUPERBLOCK_H
#define TRUNK_SUPERBLOCK_H

#include <stdint.h>

#include "fault.h"
#include "format.h"

/* FORMAT.md 2.1, field by field. Written by superblock_decode or by the packer. */
struct superblock {
    uint64_t features_incompat;
    uint64_t features_ro_compat;
    uint64_t features_compat;
    uint64_t raw_size;
    uint64_t packed_size;
    uint64_t index_offset;
    uint64_t index_size;
    uint64_t index_checksum;
    uint32_t frame_size;
    uint32_t block_size;
    uint64_t block_count;
    uint64_t frame_count;
    int64_t mtime_sec;
    uint32_t mtime_nsec;
    uint32_t mode;
    uint64_t allocated_size;
    uint8_t sha256[TRUNK_SHA256_SIZE];
    char writer[TRUNK_WRITER_SIZE + 1]; /* always terminated */
};

/* Check buffer (size bytes, at least the first TRUNK_SUPERBLOCK_SIZE of the file,
 * or all of a shorter file) in the order that FORMAT.md gives, and fill ret.
 * file_size is the packed file's real length. Returns 0, -EBADMSG, -EOPNOTSUPP or
 * -EFBIG; ret_fault (may be NULL) then tells which check, at which offset. */
__attribute__((warn_unused_result)) int superblock_decode(const uint8_t *buffer, uint64_t size,
                                                          uint64_t file_size,
                                                          struct superblock *ret,
                                                          struct fault *ret_fault);

/* Write sb with its checksum to buffer, TRUNK_SUPERBLOCK_SIZE bytes. sb is valid
 * by construction; a violated limit is the caller's bug and asserted. */
void superblock_encode(const struct superblock *sb, uint8_t *buffer);

#endif
