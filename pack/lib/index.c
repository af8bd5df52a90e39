/* index.c - FORMAT.md 2.2: block entries, then frame entries. */
#include "index.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "bytes.h"
#include "checksum.h"

enum {
    BLOCK_AT_PACKED_OFFSET = 0,
    BLOCK_AT_PACKED_SIZE = 8,
    BLOCK_AT_RAW_SIZE = 12,
    FRAME_AT_PACKED_SIZE = 0,
    FRAME_AT_CHECKSUM = 3,
    BINDING_SIZE = TRUNK_SHA256_SIZE + 8 + 4, /* sha256, frame number, raw size */
};

#define CHECKSUM_MASK ((UINT64_C(1) << 48) - 1)

_Static_assert(BLOCK_AT_RAW_SIZE + 4 == TRUNK_BLOCK_ENTRY_SIZE, "a block entry is 16 bytes");
_Static_assert(FRAME_AT_CHECKSUM + 6 == TRUNK_FRAME_ENTRY_SIZE, "a frame entry is 9 bytes");

struct index {
    uint8_t *bytes;
    size_t size;
    uint64_t raw_size;
    uint64_t block_count;
    uint64_t frame_count;
    uint32_t frame_size;
    uint32_t frames_per_block;
};

static uint8_t *block_entry(uint8_t *bytes, uint64_t block)
{
    return bytes + block * TRUNK_BLOCK_ENTRY_SIZE;
}

static uint8_t *frame_entry(uint8_t *bytes, uint64_t block_count, uint64_t frame)
{
    return bytes + block_count * TRUNK_BLOCK_ENTRY_SIZE + frame * TRUNK_FRAME_ENTRY_SIZE;
}

/* Raw bytes of piece number number of the grid with pieces of size bytes. */
static uint32_t grid_size(uint64_t raw_size, uint64_t number, uint32_t size)
{
    uint64_t rest = raw_size - number * size;
    return rest < size ? (uint32_t)rest : size;
}

/* Frames of one block: every packed size within its limit; returns their sum. */
static int check_frames(const struct index *index, uint64_t block, uint64_t *ret_packed_size,
                        struct fault *ret_fault)
{
    uint64_t first = block * index->frames_per_block;
    uint64_t rest = index->frame_count - first;
    uint64_t count = rest < index->frames_per_block ? rest : index->frames_per_block;
    uint64_t sum = 0;

    for (uint64_t frame = first; frame < first + count; frame++) {
        const uint8_t *entry = frame_entry(index->bytes, index->block_count, frame);
        uint32_t packed_size = get_le24(entry + FRAME_AT_PACKED_SIZE);
        uint32_t raw_size = grid_size(index->raw_size, frame, index->frame_size);

        if (packed_size < 1 || packed_size > raw_size + TRUNK_FRAME_HEADER_SIZE)
            return fault_set(ret_fault, FAULT_FRAME_PACKED_SIZE,
                             (uint64_t)(entry - index->bytes) + FRAME_AT_PACKED_SIZE, -EBADMSG);
        sum += packed_size;
    }
    *ret_packed_size = sum;
    return 0;
}

/* Blocks lie one behind the other, so that none overlaps another or the index. */
static int check_entries(const struct index *index, uint64_t index_offset,
                         struct fault *ret_fault)
{
    uint32_t block_size = index->frame_size * index->frames_per_block;
    uint64_t expected_offset = TRUNK_SUPERBLOCK_SIZE;

    for (uint64_t block = 0; block < index->block_count; block++) {
        const uint8_t *entry = block_entry(index->bytes, block);
        uint64_t at = (uint64_t)(entry - index->bytes);
        uint64_t packed_size = 0;

        if (get_le64(entry + BLOCK_AT_PACKED_OFFSET) != expected_offset)
            return fault_set(ret_fault, FAULT_BLOCK_OFFSET, at + BLOCK_AT_PACKED_OFFSET, -EBADMSG);
        if (get_le32(entry + BLOCK_AT_RAW_SIZE) != grid_size(index->raw_size, block, block_size))
            return fault_set(ret_fault, FAULT_BLOCK_RAW_SIZE, at + BLOCK_AT_RAW_SIZE, -EBADMSG);
        int r = check_frames(index, block, &packed_size, ret_fault);
        if (r < 0)
            return r;
        if (get_le32(entry + BLOCK_AT_PACKED_SIZE) != packed_size ||
            !range_within(expected_offset, packed_size, index_offset))
            return fault_set(ret_fault, FAULT_BLOCK_PACKED_SIZE, at + BLOCK_AT_PACKED_SIZE,
                             -EBADMSG);
        expected_offset = align_up(expected_offset + packed_size, TRUNK_ALIGNMENT);
    }
    if (expected_offset != index_offset)
        return fault_set(ret_fault, FAULT_BLOCK_OFFSET,
                         index->block_count * TRUNK_BLOCK_ENTRY_SIZE, -EBADMSG);
    return 0;
}

int index_new(const struct superblock *sb, uint8_t *bytes, struct index **ret,
              struct fault *ret_fault)
{
    struct index view = {
        .bytes = bytes,
        .size = sb->index_size,
        .raw_size = sb->raw_size,
        .block_count = sb->block_count,
        .frame_count = sb->frame_count,
        .frame_size = sb->frame_size,
        .frames_per_block = sb->block_size / sb->frame_size,
    };
    int r;

    if (checksum_hash(bytes, view.size) != sb->index_checksum)
        return fault_set(ret_fault, FAULT_INDEX_CHECKSUM, 0, -EBADMSG);
    r = check_entries(&view, sb->index_offset, ret_fault);
    if (r < 0)
        return r;
    *ret = malloc(sizeof(**ret));
    if (!*ret)
        return -ENOMEM;
    **ret = view;
    return 0;
}

void index_free(struct index *index)
{
    if (!index)
        return;
    free(index->bytes);
    free(index);
}

uint64_t index_frame_count(const struct index *index)
{
    return index->frame_count;
}

size_t index_memory(const struct index *index)
{
    return sizeof(*index) + index->size;
}

void index_frame_get(const struct index *index, uint64_t frame, struct index_frame *ret)
{
    assert(frame < index->frame_count);

    uint64_t block = frame / index->frames_per_block;
    uint64_t first = block * index->frames_per_block;
    const uint8_t *entry = frame_entry(index->bytes, index->block_count, first);
    uint64_t packed_offset = get_le64(block_entry(index->bytes, block) + BLOCK_AT_PACKED_OFFSET);

    for (uint64_t before = first; before < frame; before++, entry += TRUNK_FRAME_ENTRY_SIZE)
        packed_offset += get_le24(entry + FRAME_AT_PACKED_SIZE);
    *ret = (struct index_frame){
        .packed_offset = packed_offset,
        .raw_offset = frame * index->frame_size,
        .packed_size = get_le24(entry + FRAME_AT_PACKED_SIZE),
        .raw_size = grid_size(index->raw_size, frame, index->frame_size),
        .checksum = get_le48(entry + FRAME_AT_CHECKSUM),
    };
}

uint64_t index_checksum_of(uint64_t raw_hash, const uint8_t sha256[TRUNK_SHA256_SIZE],
                           uint64_t frame, uint32_t raw_size)
{
    uint8_t binding[BINDING_SIZE];

    memcpy(binding, sha256, TRUNK_SHA256_SIZE);
    put_le64(binding + TRUNK_SHA256_SIZE, frame);
    put_le32(binding + TRUNK_SHA256_SIZE + 8, raw_size);
    return (raw_hash ^ checksum_hash(binding, sizeof(binding))) & CHECKSUM_MASK;
}

uint64_t index_encode(const struct superblock *sb, const struct index_entry *entries,
                      uint8_t *buffer)
{
    uint32_t frames_per_block = sb->block_size / sb->frame_size;
    uint64_t packed_offset = TRUNK_SUPERBLOCK_SIZE;
    uint64_t frame = 0;

    for (uint64_t block = 0; block < sb->block_count; block++) {
        uint8_t *entry = block_entry(buffer, block);
        uint64_t end = frame + frames_per_block;
        uint64_t packed_size = 0;

        for (; frame < end && frame < sb->frame_count; frame++) {
            uint8_t *at = frame_entry(buffer, sb->block_count, frame);
            uint32_t raw_size = grid_size(sb->raw_size, frame, sb->frame_size);

            assert(entries[frame].packed_size >= 1 &&
                   entries[frame].packed_size <= raw_size + TRUNK_FRAME_HEADER_SIZE);
            put_le24(at + FRAME_AT_PACKED_SIZE, entries[frame].packed_size);
            put_le48(at + FRAME_AT_CHECKSUM,
                     index_checksum_of(entries[frame].raw_hash, sb->sha256, frame, raw_size));
            packed_size += entries[frame].packed_size;
        }
        put_le64(entry + BLOCK_AT_PACKED_OFFSET, packed_offset);
        put_le32(entry + BLOCK_AT_PACKED_SIZE, (uint32_t)packed_size);
        put_le32(entry + BLOCK_AT_RAW_SIZE, grid_size(sb->raw_size, block, sb->block_size));
        packed_offset = align_up(packed_offset + packed_size, TRUNK_ALIGNMENT);
    }
    return packed_offset;
}
