/* test_superblock.c - every field there and back, every limit, every flipped bit. */
#include "superblock.h"

#include <errno.h>
#include <stdlib.h>

#include "bytes.h"
#include "checksum.h"
#include "unit.h"

enum { CHECKSUM_AT = 4088, FILE_SIZE = 4096 + 8192 + 2 * 16 + 5 * 9 };

static struct superblock valid(void)
{
    struct superblock sb = {
        .features_incompat = TRUNK_FEATURE_ZSTD | TRUNK_FEATURE_RANS,
        .features_ro_compat = UINT64_C(1) << 63,
        .features_compat = 0x123456789abcdef0,
        .raw_size = 4 * 4096 + 1,
        .packed_size = FILE_SIZE,
        .index_offset = 4096 + 8192,
        .index_size = 2 * 16 + 5 * 9,
        .index_checksum = 0xfedcba9876543210,
        .frame_size = 4096,
        .block_size = 16384,
        .block_count = 2,
        .frame_count = 5,
        .mtime_sec = -12345,
        .mtime_nsec = 999999999,
        .mode = 06751,
        .allocated_size = 4096,
        .writer = "thirty-two bytes of writer text!",
    };
    for (int i = 0; i < TRUNK_SHA256_SIZE; i++)
        sb.sha256[i] = (uint8_t)(i * 7 + 1);
    return sb;
}

static void encode_valid(uint8_t *buffer)
{
    struct superblock sb = valid();
    superblock_encode(&sb, buffer);
}

static void seal(uint8_t *buffer)
{
    put_le64(buffer + CHECKSUM_AT, checksum_hash(buffer, CHECKSUM_AT));
}

START_TEST(every_field_survives)
{
    uint8_t buffer[TRUNK_SUPERBLOCK_SIZE];
    struct superblock before = valid(), after;
    memset(buffer, 0xaa, sizeof(buffer));
    superblock_encode(&before, buffer);
    struct fault fault = {FAULT_NONE, 0};
    ck_assert_int_eq(superblock_decode(buffer, sizeof(buffer), FILE_SIZE, &after, &fault), 0);
    ck_assert_uint_eq(after.features_incompat, before.features_incompat);
    ck_assert_uint_eq(after.features_ro_compat, before.features_ro_compat);
    ck_assert_uint_eq(after.features_compat, before.features_compat);
    ck_assert_uint_eq(after.raw_size, before.raw_size);
    ck_assert_uint_eq(after.packed_size, before.packed_size);
    ck_assert_uint_eq(after.index_offset, before.index_offset);
    ck_assert_uint_eq(after.index_size, before.index_size);
    ck_assert_uint_eq(after.index_checksum, before.index_checksum);
    ck_assert_uint_eq(after.frame_size, before.frame_size);
    ck_assert_uint_eq(after.block_size, before.block_size);
    ck_assert_uint_eq(after.block_count, before.block_count);
    ck_assert_uint_eq(after.frame_count, before.frame_count);
    ck_assert_int_eq(after.mtime_sec, before.mtime_sec);
    ck_assert_uint_eq(after.mtime_nsec, before.mtime_nsec);
    ck_assert_uint_eq(after.mode, before.mode);
    ck_assert_uint_eq(after.allocated_size, before.allocated_size);
    ck_assert_mem_eq(after.sha256, before.sha256, TRUNK_SHA256_SIZE);
    ck_assert_str_eq(after.writer, before.writer);
}
END_TEST

/* The limits themselves are allowed. */
START_TEST(extremes_are_accepted)
{
    uint8_t buffer[TRUNK_SUPERBLOCK_SIZE];
    struct superblock sb = valid(), after;
    sb.raw_size = TRUNK_RAW_SIZE_MAX / 64;
    sb.frame_size = TRUNK_FRAME_SIZE_MAX;
    sb.block_size = TRUNK_BLOCK_SIZE_MAX;
    sb.block_count = sb.raw_size / sb.block_size;
    sb.frame_count = sb.raw_size / sb.frame_size;
    sb.index_size = sb.block_count * 16 + sb.frame_count * 9;
    sb.packed_size = sb.index_offset + sb.index_size;
    sb.allocated_size = sb.raw_size;
    sb.mode = TRUNK_MODE_MASK;
    sb.mtime_sec = INT64_MIN;
    superblock_encode(&sb, buffer);
    ck_assert_int_eq(superblock_decode(buffer, sizeof(buffer), sb.packed_size, &after, NULL), 0);
    ck_assert_int_eq(after.mtime_sec, INT64_MIN);
}
END_TEST

START_TEST(empty_file_is_accepted)
{
    uint8_t buffer[TRUNK_SUPERBLOCK_SIZE];
    struct superblock sb = valid(), after;
    sb.raw_size = sb.block_count = sb.frame_count = sb.index_size = sb.allocated_size = 0;
    sb.index_offset = sb.packed_size = 4096;
    superblock_encode(&sb, buffer);
    ck_assert_int_eq(superblock_decode(buffer, sizeof(buffer), 4096, &after, NULL), 0);
}
END_TEST

/* One field set to one value that a reader must refuse, under a correct checksum. */
struct limit {
    const char *what;
    unsigned at, width;
    uint64_t value;
    int error;
    enum fault_check check;
};
static const struct limit limits[] = {
    {"magic", 0, 1, 0x88, -EBADMSG, FAULT_MAGIC},
    {"magic's last byte", 7, 1, 0, -EBADMSG, FAULT_MAGIC},
    {"version 0", 8, 2, 0, -EOPNOTSUPP, FAULT_VERSION},
    {"version 2", 8, 2, 2, -EOPNOTSUPP, FAULT_VERSION},
    {"another draft", 10, 2, 0x7fff, -EOPNOTSUPP, FAULT_VERSION},
    {"superblock_size", 12, 4, 8192, -EBADMSG, FAULT_SUPERBLOCK_SIZE},
    {"first reserved feature", 16, 8, 1 << 4, -EOPNOTSUPP, FAULT_FEATURES},
    {"highest feature", 16, 8, UINT64_C(1) << 63, -EOPNOTSUPP, FAULT_FEATURES},
    {"raw_size 2^50 + 1", 40, 8, TRUNK_RAW_SIZE_MAX + 1, -EFBIG, FAULT_RAW_SIZE},
    {"raw_size 2^63", 40, 8, UINT64_C(1) << 63, -EFBIG, FAULT_RAW_SIZE},
    {"raw_size all ones", 40, 8, UINT64_MAX, -EFBIG, FAULT_RAW_SIZE},
    {"raw_size another count", 40, 8, 4096, -EBADMSG, FAULT_COUNTS},
    {"frame_size 0", 80, 4, 0, -EBADMSG, FAULT_FRAME_SIZE},
    {"frame_size no power of two", 80, 4, 4097, -EBADMSG, FAULT_FRAME_SIZE},
    {"frame_size below minimum", 80, 4, 2048, -EBADMSG, FAULT_FRAME_SIZE},
    {"frame_size above maximum", 80, 4, 1 << 23, -EBADMSG, FAULT_FRAME_SIZE},
    {"block_size 0", 84, 4, 0, -EBADMSG, FAULT_BLOCK_SIZE},
    {"block_size no power of two", 84, 4, 12288, -EBADMSG, FAULT_BLOCK_SIZE},
    {"block_size below frame_size", 84, 4, 2048, -EBADMSG, FAULT_BLOCK_SIZE},
    {"block_size above maximum", 84, 4, 1 << 27, -EBADMSG, FAULT_BLOCK_SIZE},
    {"2048 frames a block", 84, 4, 2048 * 4096, -EBADMSG, FAULT_BLOCK_SIZE},
    {"block_count", 88, 8, 3, -EBADMSG, FAULT_COUNTS},
    {"block_count all ones", 88, 8, UINT64_MAX, -EBADMSG, FAULT_COUNTS},
    {"frame_count", 96, 8, 4, -EBADMSG, FAULT_COUNTS},
    {"frame_count 10^9", 96, 8, 1000000000, -EBADMSG, FAULT_COUNTS},
    {"index_size", 64, 8, 76, -EBADMSG, FAULT_INDEX_RANGE},
    {"index_size all ones", 64, 8, UINT64_MAX, -EBADMSG, FAULT_INDEX_RANGE},
    {"index_offset 0", 56, 8, 0, -EBADMSG, FAULT_INDEX_RANGE},
    {"index_offset unaligned", 56, 8, 4096 + 8192 + 512, -EBADMSG, FAULT_INDEX_RANGE},
    {"index_offset + index_size overflows", 56, 8, UINT64_MAX - 4095, -EBADMSG,
     FAULT_INDEX_RANGE},
    {"packed_size below the index", 48, 8, 1, -EBADMSG, FAULT_INDEX_RANGE},
    {"mtime_nsec", 112, 4, 1000000000, -EBADMSG, FAULT_MTIME},
    {"mode", 116, 4, 010000, -EBADMSG, FAULT_MODE},
    {"allocated_size unaligned", 120, 8, 512, -EBADMSG, FAULT_ALLOCATED_SIZE},
    {"allocated_size above the file's", 120, 8, 6 * 4096, -EBADMSG, FAULT_ALLOCATED_SIZE},
    {"first byte that must be zero", 192, 1, 1, -EBADMSG, FAULT_RESERVED},
    {"last byte that must be zero", 2047, 1, 0x80, -EBADMSG, FAULT_RESERVED},
};

START_TEST(violated_limit_is_refused)
{
    const struct limit *limit = &limits[_i];
    uint8_t buffer[TRUNK_SUPERBLOCK_SIZE];
    struct superblock after;
    struct fault fault = {FAULT_NONE, 0};
    encode_valid(buffer);
    bytes_put_le(buffer + limit->at, limit->width, limit->value);
    seal(buffer);
    int r = superblock_decode(buffer, sizeof(buffer), FILE_SIZE, &after, &fault);
    ck_assert_msg(r == limit->error, "%s: returned %d", limit->what, r);
    ck_assert_msg(fault.check == limit->check, "%s: fault \"%s\"", limit->what,
                  fault_text(fault.check));
    ck_assert_int_eq(superblock_decode(buffer, sizeof(buffer), FILE_SIZE, &after, NULL), r);
}
END_TEST

START_TEST(index_over_its_limit_is_refused)
{
    uint8_t buffer[TRUNK_SUPERBLOCK_SIZE];
    struct superblock after;
    struct fault fault = {FAULT_NONE, 0};
    const uint64_t raw_size = UINT64_C(1) << 40, frames = raw_size / 4096, blocks = frames / 4;
    const uint64_t index_size = blocks * 16 + frames * 9;
    encode_valid(buffer);
    put_le64(buffer + 40, raw_size);
    put_le64(buffer + 88, blocks);
    put_le64(buffer + 96, frames);
    put_le64(buffer + 64, index_size);
    put_le64(buffer + 48, 4096 + 8192 + index_size);
    seal(buffer);
    int r = superblock_decode(buffer, sizeof(buffer), 4096 + 8192 + index_size, &after, &fault);
    ck_assert_int_eq(r, -EFBIG);
    ck_assert_int_eq(fault.check, FAULT_INDEX_RANGE);
}
END_TEST

START_TEST(reserved_and_unknown_compatible_bits_are_ignored)
{
    uint8_t buffer[TRUNK_SUPERBLOCK_SIZE];
    struct superblock after;
    encode_valid(buffer);
    memset(buffer + 2048, 0xff, 2040);
    memset(buffer + 24, 0xff, 16);
    memset(buffer + 160, 0xff, 32);
    seal(buffer);
    ck_assert_int_eq(superblock_decode(buffer, sizeof(buffer), FILE_SIZE, &after, NULL), 0);
    ck_assert_uint_eq(strlen(after.writer), 32);
}
END_TEST

START_TEST(truncated_and_extended_files_are_refused)
{
    uint8_t buffer[TRUNK_SUPERBLOCK_SIZE];
    struct superblock after;
    struct fault fault;
    encode_valid(buffer);
    for (uint64_t size = 0; size < TRUNK_SUPERBLOCK_SIZE; size += 273) {
        fault.check = FAULT_NONE;
        ck_assert_int_eq(superblock_decode(buffer, size, size, &after, &fault), -EBADMSG);
        ck_assert_int_eq(fault.check, FAULT_TOO_SHORT);
    }
    static const uint64_t sizes[] = {4096, FILE_SIZE - 1, FILE_SIZE + 1, UINT64_MAX};
    for (unsigned i = 0; i < 4; i++) {
        fault.check = FAULT_NONE;
        int r = superblock_decode(buffer, sizeof(buffer), sizes[i], &after, &fault);
        ck_assert_int_eq(r, -EBADMSG);
        ck_assert_int_eq(fault.check, FAULT_FILE_SIZE);
    }
}
END_TEST

START_TEST(every_single_bit_flip_is_refused)
{
    uint8_t buffer[TRUNK_SUPERBLOCK_SIZE];
    struct superblock after;
    encode_valid(buffer);
    for (unsigned bit = 0; bit < 8 * sizeof(buffer); bit++) {
        buffer[bit / 8] ^= (uint8_t)(1 << bit % 8);
        int r = superblock_decode(buffer, sizeof(buffer), FILE_SIZE, &after, NULL);
        ck_assert_msg(r < 0, "bit %u", bit);
        buffer[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ck_assert_int_eq(superblock_decode(buffer, sizeof(buffer), FILE_SIZE, &after, NULL), 0);
}
END_TEST

START_TEST(every_check_has_a_text_of_its_own)
{
    for (int a = FAULT_NONE; a < FAULT_COUNT_; a++) {
        ck_assert_str_ne(fault_text((enum fault_check)a), "unknown check");
        for (int b = a + 1; b < FAULT_COUNT_; b++)
            ck_assert_str_ne(fault_text((enum fault_check)a), fault_text((enum fault_check)b));
    }
    ck_assert_ptr_nonnull(fault_text(FAULT_COUNT_));
    ck_assert_ptr_nonnull(fault_text((enum fault_check)-1));
    struct fault fault;
    ck_assert_int_eq(fault_set(&fault, FAULT_MODE, 7, -EBADMSG), -EBADMSG);
    ck_assert_int_eq(fault.check, FAULT_MODE);
    ck_assert_uint_eq(fault.offset, 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("superblock");
    TCase *tcase = unit_case(suite, "superblock");
    tcase_add_test(tcase, every_field_survives);
    tcase_add_test(tcase, extremes_are_accepted);
    tcase_add_test(tcase, empty_file_is_accepted);
    tcase_add_loop_test(tcase, violated_limit_is_refused, 0, sizeof(limits) / sizeof(limits[0]));
    tcase_add_test(tcase, index_over_its_limit_is_refused);
    tcase_add_test(tcase, reserved_and_unknown_compatible_bits_are_ignored);
    tcase_add_test(tcase, truncated_and_extended_files_are_refused);
    tcase_add_test(tcase, every_single_bit_flip_is_refused);
    tcase_add_test(tcase, every_check_has_a_text_of_its_own);
    return unit_run(suite);
}
