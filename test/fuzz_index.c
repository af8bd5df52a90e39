/* fuzz_index.c - any bytes as an index, under a true checksum: refused, or such that every
 * frame lies where it may.
 *
 * Input: log2 of frame size less 12, log2 of frames per block, u24 raw size (wrapped at 64
 * frames, for speed), u16 of index_offset / 4096, then the index (missing bytes are zero).
 */
#include "index.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "checksum.h"

enum { HEADER = 7, FRAMES_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static uint64_t divide_up(uint64_t value, uint64_t divisor)
{
    return (value + divisor - 1) / divisor;
}

static void describe(const uint8_t *header, struct superblock *ret)
{
    *ret = (struct superblock){
        .frame_size = TRUNK_FRAME_SIZE_MIN << header[0] % 11,
        .index_offset = (uint64_t)get_le16(header + 5) * TRUNK_ALIGNMENT,
    };
    ret->raw_size = get_le24(header + 2) % ((uint64_t)FRAMES_MAX * ret->frame_size + 1);
    uint64_t block_size = (uint64_t)ret->frame_size << header[1] % 11;
    if (block_size > TRUNK_BLOCK_SIZE_MAX)
        block_size = TRUNK_BLOCK_SIZE_MAX;
    ret->block_size = (uint32_t)block_size;
    ret->frame_count = divide_up(ret->raw_size, ret->frame_size);
    ret->block_count = divide_up(ret->raw_size, ret->block_size);
    ret->index_size = ret->block_count * TRUNK_BLOCK_ENTRY_SIZE +
                      ret->frame_count * TRUNK_FRAME_ENTRY_SIZE;
}

static void check_frames(const struct superblock *sb, const struct index *index)
{
    uint64_t packed_end = TRUNK_SUPERBLOCK_SIZE, raw_end = 0;
    require(index_frame_count(index) == sb->frame_count);
    for (uint64_t i = 0; i < sb->frame_count; i++) {
        struct index_frame frame;
        index_frame_get(index, i, &frame);
        require(frame.packed_offset >= packed_end);
        require(frame.packed_size >= 1);
        require(frame.packed_size <= frame.raw_size + TRUNK_FRAME_HEADER_SIZE);
        require(range_within(frame.packed_offset, frame.packed_size, sb->index_offset));
        require(frame.raw_offset == raw_end);
        require(frame.raw_size >= 1 && frame.raw_size <= sb->frame_size);
        packed_end = frame.packed_offset + frame.packed_size;
        raw_end += frame.raw_size;
    }
    require(raw_end == sb->raw_size);
}

/* Sizes of the input's frame entries brought within their limits: an index made of them
 * must be accepted. */
static void check_encoded(struct superblock *sb, const uint8_t *bytes)
{
    struct index_entry *entries = calloc(sb->frame_count + 1, sizeof(*entries));
    uint8_t *encoded = malloc(sb->index_size + 1);
    struct index *index;
    require(entries && encoded);
    for (uint64_t i = 0; i < sb->frame_count; i++) {
        uint64_t rest = sb->raw_size - i * sb->frame_size;
        uint32_t limit = rest < sb->frame_size ? (uint32_t)rest : sb->frame_size;
        const uint8_t *entry = bytes + sb->block_count * TRUNK_BLOCK_ENTRY_SIZE + i * 9;
        entries[i].packed_size = 1 + get_le24(entry) % (limit + TRUNK_FRAME_HEADER_SIZE);
        entries[i].raw_hash = get_le48(entry + 3);
    }
    sb->index_offset = index_encode(sb, entries, encoded);
    sb->index_checksum = checksum_hash(encoded, sb->index_size);
    require(index_new(sb, encoded, &index, NULL) == 0);
    check_frames(sb, index);
    index_free(index);
    free(entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct superblock sb;
    struct index *index;
    struct fault fault = {FAULT_NONE, 0};
    if (size < HEADER)
        return 0;
    describe(data, &sb);
    uint8_t *bytes = calloc(1, sb.index_size + 1);
    require(bytes != NULL);
    memcpy(bytes, data + HEADER, size - HEADER < sb.index_size ? size - HEADER : sb.index_size);
    sb.index_checksum = checksum_hash(bytes, sb.index_size);
    int r = index_new(&sb, bytes, &index, &fault);
    require((r == 0) == (fault.check == FAULT_NONE));
    if (r == 0) {
        check_frames(&sb, index);
        index_free(index);
    } else {
        check_encoded(&sb, bytes);
        free(bytes);
    }
    return 0;
}
