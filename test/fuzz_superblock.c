/* fuzz_superblock.c - any 4096 bytes as a superblock, as they are and with a true checksum:
 * refused, or such that writing it again gives the same fields.
 */
#include "superblock.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "checksum.h"

enum { AT_PACKED_SIZE = 48, AT_CHECKSUM = 4088 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* What every user of an accepted superblock relies on. */
static void check_promises(const struct superblock *sb)
{
    require(sb->raw_size <= TRUNK_RAW_SIZE_MAX);
    require(sb->frame_size >= TRUNK_FRAME_SIZE_MIN && sb->frame_size <= TRUNK_FRAME_SIZE_MAX);
    require(sb->block_size % sb->frame_size == 0 && sb->block_size <= TRUNK_BLOCK_SIZE_MAX);
    require(sb->index_size <= TRUNK_INDEX_SIZE_MAX);
    require(sb->index_offset % TRUNK_ALIGNMENT == 0);
    require(range_within(sb->index_offset, sb->index_size, sb->packed_size));
    require(sb->frame_count * sb->frame_size >= sb->raw_size);
    require(strlen(sb->writer) <= TRUNK_WRITER_SIZE);
}

static void decode(const uint8_t *buffer, uint64_t size)
{
    uint8_t again[TRUNK_SUPERBLOCK_SIZE];
    struct superblock sb, same;
    struct fault fault = {FAULT_NONE, 0};
    uint64_t file_size = size < TRUNK_SUPERBLOCK_SIZE ? size : get_le64(buffer + AT_PACKED_SIZE);
    int r = superblock_decode(buffer, size, file_size, &sb, &fault);
    require((r == 0) == (fault.check == FAULT_NONE));
    if (r < 0)
        return;
    check_promises(&sb);
    superblock_encode(&sb, again);
    require(superblock_decode(again, sizeof(again), sb.packed_size, &same, NULL) == 0);
    require(same.raw_size == sb.raw_size && same.index_checksum == sb.index_checksum &&
            same.mode == sb.mode && same.mtime_sec == sb.mtime_sec);
    require(memcmp(same.sha256, sb.sha256, sizeof(sb.sha256)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t buffer[TRUNK_SUPERBLOCK_SIZE] = {0};
    decode(data, size);
    /* A short input stands for a superblock that is zero behind it. */
    memcpy(buffer, data, size < sizeof(buffer) ? size : sizeof(buffer));
    put_le64(buffer + AT_CHECKSUM, checksum_hash(buffer, AT_CHECKSUM));
    decode(buffer, sizeof(buffer));
    return 0;
}
