/* packed_file.h - reading one packed file: superblock and index once, then any frames.
 *
 * Prints nothing. After packed_file_open a packed_file is immutable; any number of threads
 * may read through it, each with its own worker.
 */
#ifndef PACK_PACKED_FILE_H
#define PACK_PACKED_FILE_H

#include "fault.h"
#include "index.h"
#include "superblock.h"
#include "worker.h"

struct packed_file {
    int fd; /* owned */
    struct superblock sb;
    struct index *index;
};

#define PACKED_FILE_NONE                                                                           \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Takes fd, also on failure. Returns 0, -errno of a read, or what superblock_decode and
 * index_new return, with *ret_fault (FAULT_NONE if it was the read). */
__attribute__((warn_unused_result)) int packed_file_open(int fd, struct packed_file *ret,
                                                         struct fault *ret_fault);
void packed_file_close(struct packed_file *file);

/* For pipeline_run: raw bytes of a chunk, whole frames; and room for its packed bytes. */
size_t packed_file_chunk_size(const struct packed_file *file);
size_t packed_file_chunk_room(const struct packed_file *file);

/* A frame that cannot be had. */
struct packed_file_bad {
    uint64_t frame;
    uint64_t raw_offset;
    uint32_t raw_size;
    int error; /* -errno of the read, or of frame_decode; -EBADMSG for a checksum */
    struct fault fault;
};

/* Why: a static string, or what strerror says. */
const char *packed_file_bad_text(const struct packed_file_bad *bad);

/* Read, decode and check the frames of [raw_offset, raw_offset + raw_size), which must be
 * whole frames, into raw. packed has packed_file_chunk_room bytes and a margin of
 * FRAME_DECODE_SLACK on both sides, raw one behind. bad is called for each frame that
 * cannot be had; the rest is read if it returns 0, else what it returns is returned.
 * Returns 0, also if frames were bad and bad said 0; -ENOMEM. */
__attribute__((warn_unused_result)) int
packed_file_read(const struct packed_file *file, struct worker *worker, uint64_t raw_offset,
                 size_t raw_size, uint8_t *packed, uint8_t *raw,
                 int (*bad)(void *context, const struct packed_file_bad *bad), void *context);

#endif
