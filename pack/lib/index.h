/* index.h - where each block and frame of one packed file lies.
 *
 * Does no I/O: the caller reads the bytes, index_new checks all of them, and every
 * look-up after that is within bounds. An index is immutable once made, so any
 * number of threads may look things up without a lock. Memory: the index as it
 * is on disk (16 bytes a block, 9 a frame), nothing more.
 */
#ifndef TRUNK_INDEX_H
#define TRUNK_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "superblock.h"

struct index;

/* Where one frame lies. packed_offset is in the packed file, raw_offset in the original. */
struct index_frame {
    uint64_t packed_offset;
    uint64_t raw_offset;
    uint32_t packed_size;
    uint32_t raw_size;
    uint64_t checksum; /* 48 bits; compare with index_checksum_of */
};

/* Check bytes (sb->index_size of them) against sb and take them: on success the
 * index owns bytes (from malloc), index_free frees them; on failure the caller keeps
 * them. Returns 0, -EBADMSG, -ENOMEM. */
__attribute__((warn_unused_result)) int index_new(const struct superblock *sb, uint8_t *bytes,
                                                  struct index **ret, struct fault *ret_fault);
void index_free(struct index *index); /* NULL is allowed */

uint64_t index_frame_count(const struct index *index);
size_t index_memory(const struct index *index); /* bytes held, for a budget */

/* Frame number frame < index_frame_count (asserted). */
void index_frame_get(const struct index *index, uint64_t frame, struct index_frame *ret);

/* The checksum that FORMAT.md 2.2 gives to raw bytes as frame number frame of the
 * file with that SHA-256. raw_hash is checksum_hash(raw bytes). */
uint64_t index_checksum_of(uint64_t raw_hash, const uint8_t sha256[TRUNK_SHA256_SIZE],
                           uint64_t frame, uint32_t raw_size);

/* Writing. The packer fills one struct index_entry per frame and calls index_encode
 * once. Offsets and block entries follow from the sizes. */
struct index_entry {
    uint32_t packed_size;
    uint64_t raw_hash;
};

/* Writes sb->index_size bytes to buffer from sb->frame_count entries; needs raw_size,
 * frame_size, block_size, the counts and sha256 of sb. Returns index_offset: where the
 * index belongs in the file. */
uint64_t index_encode(const struct superblock *sb, const struct index_entry *entries,
                      uint8_t *buffer);

#endif
