/* superblock.c - FORMAT.md 2.1: the table of fields and the checks of a reader. */
#include "superblock.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>

#include "bytes.h"
#include "checksum.h"

/* Offsets of the fields, in the order of the table in FORMAT.md 2.1. */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_DRAFT = 10,
    AT_SUPERBLOCK_SIZE = 12,
    AT_FEATURES_INCOMPAT = 16,
    AT_FEATURES_RO_COMPAT = 24,
    AT_FEATURES_COMPAT = 32,
    AT_RAW_SIZE = 40,
    AT_PACKED_SIZE = 48,
    AT_INDEX_OFFSET = 56,
    AT_INDEX_SIZE = 64,
    AT_INDEX_CHECKSUM = 72,
    AT_FRAME_SIZE = 80,
    AT_BLOCK_SIZE = 84,
    AT_BLOCK_COUNT = 88,
    AT_FRAME_COUNT = 96,
    AT_MTIME_SEC = 104,
    AT_MTIME_NSEC = 112,
    AT_MODE = 116,
    AT_ALLOCATED_SIZE = 120,
    AT_SHA256 = 128,
    AT_WRITER = 160,
    AT_MUST_BE_ZERO = 192,
    AT_RESERVED = 2048,
    AT_CHECKSUM = 4088,
};

_Static_assert(sizeof(TRUNK_MAGIC) - 1 == AT_VERSION - AT_MAGIC, "the magic is 8 bytes");
_Static_assert(AT_SHA256 + TRUNK_SHA256_SIZE == AT_WRITER, "the digest ends at the writer");
_Static_assert(AT_WRITER + TRUNK_WRITER_SIZE == AT_MUST_BE_ZERO, "the writer is 32 bytes");
_Static_assert(AT_CHECKSUM + 8 == TRUNK_SUPERBLOCK_SIZE, "the checksum ends the superblock");
_Static_assert(TRUNK_SUPERBLOCK_SIZE % TRUNK_ALIGNMENT == 0, "block 0 follows it, aligned");
/* Room for every product below in 64 bits: the smallest frame gives the most frames. */
_Static_assert(TRUNK_RAW_SIZE_MAX / TRUNK_FRAME_SIZE_MIN <
                   UINT64_MAX / (TRUNK_BLOCK_ENTRY_SIZE + TRUNK_FRAME_ENTRY_SIZE),
               "index_size cannot overflow");
_Static_assert((uint64_t)TRUNK_BLOCK_SIZE_MAX +
                       (uint64_t)TRUNK_FRAMES_PER_BLOCK_MAX * TRUNK_FRAME_HEADER_SIZE <
                   UINT32_MAX,
               "the packed size of a block fits in its field");
_Static_assert(TRUNK_FRAME_SIZE_MAX + TRUNK_FRAME_HEADER_SIZE < 1 << 24,
               "the packed size of a frame fits in its field");

static bool is_power_of_two(uint32_t value)
{
    return value && !(value & (value - 1));
}

static uint64_t divide_up(uint64_t value, uint64_t divisor)
{
    return value / divisor + (value % divisor != 0);
}

static void decode_fields(const uint8_t *buffer, struct superblock *ret)
{
    *ret = (struct superblock){
        .features_incompat = get_le64(buffer + AT_FEATURES_INCOMPAT),
        .features_ro_compat = get_le64(buffer + AT_FEATURES_RO_COMPAT),
        .features_compat = get_le64(buffer + AT_FEATURES_COMPAT),
        .raw_size = get_le64(buffer + AT_RAW_SIZE),
        .packed_size = get_le64(buffer + AT_PACKED_SIZE),
        .index_offset = get_le64(buffer + AT_INDEX_OFFSET),
        .index_size = get_le64(buffer + AT_INDEX_SIZE),
        .index_checksum = get_le64(buffer + AT_INDEX_CHECKSUM),
        .frame_size = get_le32(buffer + AT_FRAME_SIZE),
        .block_size = get_le32(buffer + AT_BLOCK_SIZE),
        .block_count = get_le64(buffer + AT_BLOCK_COUNT),
        .frame_count = get_le64(buffer + AT_FRAME_COUNT),
        .mtime_sec = (int64_t)get_le64(buffer + AT_MTIME_SEC),
        .mtime_nsec = get_le32(buffer + AT_MTIME_NSEC),
        .mode = get_le32(buffer + AT_MODE),
        .allocated_size = get_le64(buffer + AT_ALLOCATED_SIZE),
    };
    memcpy(ret->sha256, buffer + AT_SHA256, sizeof(ret->sha256));
    memcpy(ret->writer, buffer + AT_WRITER, TRUNK_WRITER_SIZE);
}

/* What identifies the file as one that this build can interpret at all. */
static int check_identity(const uint8_t *buffer, uint64_t size, struct fault *ret_fault)
{
    if (size < TRUNK_SUPERBLOCK_SIZE)
        return fault_set(ret_fault, FAULT_TOO_SHORT, size, -EBADMSG);
    if (memcmp(buffer + AT_MAGIC, TRUNK_MAGIC, sizeof(TRUNK_MAGIC) - 1) != 0)
        return fault_set(ret_fault, FAULT_MAGIC, AT_MAGIC, -EBADMSG);
    if (get_le16(buffer + AT_VERSION) != TRUNK_VERSION)
        return fault_set(ret_fault, FAULT_VERSION, AT_VERSION, -EOPNOTSUPP);
    if (get_le16(buffer + AT_DRAFT) != TRUNK_DRAFT)
        return fault_set(ret_fault, FAULT_VERSION, AT_DRAFT, -EOPNOTSUPP);
    if (get_le32(buffer + AT_SUPERBLOCK_SIZE) != TRUNK_SUPERBLOCK_SIZE)
        return fault_set(ret_fault, FAULT_SUPERBLOCK_SIZE, AT_SUPERBLOCK_SIZE, -EBADMSG);
    if (get_le64(buffer + AT_CHECKSUM) != checksum_hash(buffer, AT_CHECKSUM))
        return fault_set(ret_fault, FAULT_SUPERBLOCK_CHECKSUM, AT_CHECKSUM, -EBADMSG);
    if (get_le64(buffer + AT_FEATURES_INCOMPAT) & ~TRUNK_FEATURES_KNOWN)
        return fault_set(ret_fault, FAULT_FEATURES, AT_FEATURES_INCOMPAT, -EOPNOTSUPP);
    return 0;
}

/* The grid of frames and blocks. Nothing here can overflow once raw_size and frame_size
 * have passed (see the assertions above). */
static int check_grid(const struct superblock *sb, struct fault *ret_fault)
{
    if (sb->raw_size > TRUNK_RAW_SIZE_MAX)
        return fault_set(ret_fault, FAULT_RAW_SIZE, AT_RAW_SIZE, -EFBIG);
    if (!is_power_of_two(sb->frame_size) || sb->frame_size < TRUNK_FRAME_SIZE_MIN ||
        sb->frame_size > TRUNK_FRAME_SIZE_MAX)
        return fault_set(ret_fault, FAULT_FRAME_SIZE, AT_FRAME_SIZE, -EBADMSG);
    if (!is_power_of_two(sb->block_size) || sb->block_size < sb->frame_size ||
        sb->block_size > TRUNK_BLOCK_SIZE_MAX ||
        sb->block_size / sb->frame_size > TRUNK_FRAMES_PER_BLOCK_MAX)
        return fault_set(ret_fault, FAULT_BLOCK_SIZE, AT_BLOCK_SIZE, -EBADMSG);
    if (sb->block_count != divide_up(sb->raw_size, sb->block_size))
        return fault_set(ret_fault, FAULT_COUNTS, AT_BLOCK_COUNT, -EBADMSG);
    if (sb->frame_count != divide_up(sb->raw_size, sb->frame_size))
        return fault_set(ret_fault, FAULT_COUNTS, AT_FRAME_COUNT, -EBADMSG);
    return 0;
}

/* Where the index is. Whether the blocks end where it begins is for index_new to check. */
static int check_index_range(const struct superblock *sb, struct fault *ret_fault)
{
    uint64_t expected = sb->block_count * TRUNK_BLOCK_ENTRY_SIZE +
                        sb->frame_count * TRUNK_FRAME_ENTRY_SIZE;

    if (sb->index_size != expected)
        return fault_set(ret_fault, FAULT_INDEX_RANGE, AT_INDEX_SIZE, -EBADMSG);
    if (sb->index_size > TRUNK_INDEX_SIZE_MAX)
        return fault_set(ret_fault, FAULT_INDEX_RANGE, AT_INDEX_SIZE, -EFBIG);
    if (sb->index_offset < TRUNK_SUPERBLOCK_SIZE || sb->index_offset % TRUNK_ALIGNMENT != 0)
        return fault_set(ret_fault, FAULT_INDEX_RANGE, AT_INDEX_OFFSET, -EBADMSG);
    if (sb->packed_size < sb->index_size ||
        sb->packed_size - sb->index_size != sb->index_offset)
        return fault_set(ret_fault, FAULT_INDEX_RANGE, AT_PACKED_SIZE, -EBADMSG);
    return 0;
}

/* What the mount shows of the original. */
static int check_attributes(const struct superblock *sb, struct fault *ret_fault)
{
    if (sb->mtime_nsec > 999999999)
        return fault_set(ret_fault, FAULT_MTIME, AT_MTIME_NSEC, -EBADMSG);
    if (sb->mode & ~(uint32_t)TRUNK_MODE_MASK)
        return fault_set(ret_fault, FAULT_MODE, AT_MODE, -EBADMSG);
    if (sb->allocated_size % TRUNK_ALIGNMENT != 0 ||
        sb->allocated_size > align_up(sb->raw_size, TRUNK_ALIGNMENT))
        return fault_set(ret_fault, FAULT_ALLOCATED_SIZE, AT_ALLOCATED_SIZE, -EBADMSG);
    return 0;
}

static int check_reserved(const uint8_t *buffer, struct fault *ret_fault)
{
    for (uint64_t at = AT_MUST_BE_ZERO; at < AT_RESERVED; at++)
        if (buffer[at])
            return fault_set(ret_fault, FAULT_RESERVED, at, -EBADMSG);
    return 0;
}

int superblock_decode(const uint8_t *buffer, uint64_t size, uint64_t file_size,
                      struct superblock *ret, struct fault *ret_fault)
{
    struct superblock sb;
    int r;

    r = check_identity(buffer, size, ret_fault);
    if (r < 0)
        return r;
    decode_fields(buffer, &sb);
    r = check_grid(&sb, ret_fault);
    if (r < 0)
        return r;
    r = check_index_range(&sb, ret_fault);
    if (r < 0)
        return r;
    if (sb.packed_size != file_size)
        return fault_set(ret_fault, FAULT_FILE_SIZE, AT_PACKED_SIZE, -EBADMSG);
    r = check_attributes(&sb, ret_fault);
    if (r < 0)
        return r;
    r = check_reserved(buffer, ret_fault);
    if (r < 0)
        return r;
    *ret = sb;
    return 0;
}

void superblock_encode(const struct superblock *sb, uint8_t *buffer)
{
    assert(!(sb->features_incompat & ~TRUNK_FEATURES_KNOWN));
    assert(check_grid(sb, NULL) == 0);
    assert(check_index_range(sb, NULL) == 0);
    assert(check_attributes(sb, NULL) == 0);

    memset(buffer, 0, TRUNK_SUPERBLOCK_SIZE);
    memcpy(buffer + AT_MAGIC, TRUNK_MAGIC, sizeof(TRUNK_MAGIC) - 1);
    put_le16(buffer + AT_VERSION, TRUNK_VERSION);
    put_le16(buffer + AT_DRAFT, TRUNK_DRAFT);
    put_le32(buffer + AT_SUPERBLOCK_SIZE, TRUNK_SUPERBLOCK_SIZE);
    put_le64(buffer + AT_FEATURES_INCOMPAT, sb->features_incompat);
    put_le64(buffer + AT_FEATURES_RO_COMPAT, sb->features_ro_compat);
    put_le64(buffer + AT_FEATURES_COMPAT, sb->features_compat);
    put_le64(buffer + AT_RAW_SIZE, sb->raw_size);
    put_le64(buffer + AT_PACKED_SIZE, sb->packed_size);
    put_le64(buffer + AT_INDEX_OFFSET, sb->index_offset);
    put_le64(buffer + AT_INDEX_SIZE, sb->index_size);
    put_le64(buffer + AT_INDEX_CHECKSUM, sb->index_checksum);
    put_le32(buffer + AT_FRAME_SIZE, sb->frame_size);
    put_le32(buffer + AT_BLOCK_SIZE, sb->block_size);
    put_le64(buffer + AT_BLOCK_COUNT, sb->block_count);
    put_le64(buffer + AT_FRAME_COUNT, sb->frame_count);
    put_le64(buffer + AT_MTIME_SEC, (uint64_t)sb->mtime_sec);
    put_le32(buffer + AT_MTIME_NSEC, sb->mtime_nsec);
    put_le32(buffer + AT_MODE, sb->mode);
    put_le64(buffer + AT_ALLOCATED_SIZE, sb->allocated_size);
    memcpy(buffer + AT_SHA256, sb->sha256, sizeof(sb->sha256));
    memcpy(buffer + AT_WRITER, sb->writer, strnlen(sb->writer, TRUNK_WRITER_SIZE));
    put_le64(buffer + AT_CHECKSUM, checksum_hash(buffer, AT_CHECKSUM));
}
