/* packed.h - whole packed files in memory, for tests: built with the library's encoder,
 * changed, sealed again, and read as a careful reader does. One thread at a time.
 */
#ifndef TEST_PACKED_H
#define TEST_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "frame_encode.h"
#include "superblock.h"

struct packed {
    uint8_t *bytes; /* from malloc */
    size_t size;
    struct superblock sb;
};

struct packed_options {
    uint32_t frame_size;
    uint32_t block_size;
    enum frame_codec codec;
};

/* Pack raw; the caller calls packed_free. Exits the program when memory runs out. */
void packed_build(const uint8_t *raw, size_t raw_size, const struct packed_options *options,
                  struct packed *ret);

/* The same from payloads that are there already, one for each frame: for vectors whose
 * payloads no encoder writes. */
struct packed_payload {
    const uint8_t *bytes;
    uint32_t size;
};
void packed_assemble(const uint8_t *raw, size_t raw_size, const struct packed_options *options,
                     uint64_t features, const struct packed_payload *payloads,
                     struct packed *ret);

void packed_free(struct packed *packed);

/* Make the checksum of the superblock, and first that of the index where the superblock
 * says it is (if that lies in the file), true again after bytes were changed. */
void packed_seal(uint8_t *bytes, size_t size);

/* Where frame number frame's payload begins; asserts that the file is valid. */
uint64_t packed_frame_offset(const struct packed *packed, uint64_t frame);

/* Read the whole file: superblock, index, every frame and its checksum, SHA-256. Returns 0
 * and the raw bytes (the caller frees them; NULL to discard), or the reader's error and
 * its fault. */
int packed_read(const uint8_t *bytes, size_t size, uint8_t **ret_raw, size_t *ret_size,
                struct fault *ret_fault);

#endif
