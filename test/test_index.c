/* test_index.c - entries there and back, every entry's limits, every flipped bit. */
#include "index.h"

#include <errno.h>
#include <stdlib.h>

#include "bytes.h"
#include "checksum.h"
#include "unit.h"

/* Seven frames of 4096 in blocks of two frames, the last of 100 bytes. */
enum { FRAME = 4096, BLOCK = 8192, FRAMES = 7, BLOCKS = 4, RAW = 6 * FRAME + 100 };

static const struct index_entry entries[FRAMES] = {
    {1, 11}, {FRAME + 8, 22}, {4000, 33}, {96, 44}, {97, 55}, {4000, 66}, {108, 77},
};

/* A superblock for those entries, and the index in new memory. */
static uint8_t *make_index(struct superblock *ret)
{
    *ret = (struct superblock){
        .raw_size = RAW,
        .frame_size = FRAME,
        .block_size = BLOCK,
        .frame_count = FRAMES,
        .block_count = BLOCKS,
        .index_size = BLOCKS * 16 + FRAMES * 9,
        .sha256 = {1, 2, 3},
    };
    uint8_t *bytes = malloc(ret->index_size);
    ck_assert_ptr_nonnull(bytes);
    ret->index_offset = index_encode(ret, entries, bytes);
    ret->packed_size = ret->index_offset + ret->index_size;
    ret->index_checksum = checksum_hash(bytes, ret->index_size);
    return bytes;
}

START_TEST(frames_are_found_where_they_lie)
{
    struct superblock sb;
    struct index *index;
    uint8_t *bytes = make_index(&sb);
    ck_assert_int_eq(index_new(&sb, bytes, &index, NULL), 0);
    ck_assert_uint_eq(index_frame_count(index), FRAMES);
    ck_assert_uint_ge(index_memory(index), sb.index_size);
    ck_assert_uint_le(index_memory(index), sb.index_size + 4096);
    /* By hand: blocks begin at 4096, 4096+8192 (1 + 4104 bytes), then 4096 each. */
    static const uint64_t offsets[FRAMES] = {4096, 4097, 12288, 16288, 16384, 16481, 24576};
    for (uint64_t i = 0; i < FRAMES; i++) {
        struct index_frame frame;
        index_frame_get(index, i, &frame);
        ck_assert_uint_eq(frame.packed_offset, offsets[i]);
        ck_assert_uint_eq(frame.raw_offset, i * FRAME);
        ck_assert_uint_eq(frame.packed_size, entries[i].packed_size);
        ck_assert_uint_eq(frame.raw_size, i == FRAMES - 1 ? 100 : FRAME);
        ck_assert_uint_eq(frame.checksum, index_checksum_of(entries[i].raw_hash, sb.sha256, i,
                                                            frame.raw_size));
    }
    ck_assert_uint_eq(sb.index_offset, 28672);
    index_free(index);
    index_free(NULL);
}
END_TEST

/* The checksum depends on the bytes, the file, the place and the size, and has 48 bits. */
START_TEST(checksum_binds_a_frame_to_its_place)
{
    uint8_t one[TRUNK_SHA256_SIZE] = {1}, other[TRUNK_SHA256_SIZE] = {2};
    uint64_t sum = index_checksum_of(99, one, 5, 4096);
    ck_assert_uint_eq(sum >> 48, 0);
    ck_assert_uint_eq(sum, index_checksum_of(99, one, 5, 4096));
    ck_assert_uint_ne(sum, index_checksum_of(98, one, 5, 4096));
    ck_assert_uint_ne(sum, index_checksum_of(99, other, 5, 4096));
    ck_assert_uint_ne(sum, index_checksum_of(99, one, 6, 4096));
    ck_assert_uint_ne(sum, index_checksum_of(99, one, 5, 4095));
}
END_TEST

START_TEST(empty_index)
{
    struct superblock sb = {.frame_size = FRAME, .block_size = BLOCK};
    struct index *index;
    uint8_t *bytes = malloc(1);
    sb.index_offset = index_encode(&sb, NULL, bytes);
    ck_assert_uint_eq(sb.index_offset, 4096);
    sb.index_checksum = checksum_hash(bytes, 0);
    ck_assert_int_eq(index_new(&sb, bytes, &index, NULL), 0);
    ck_assert_uint_eq(index_frame_count(index), 0);
    index_free(index);
}
END_TEST

struct violation {
    const char *what;
    unsigned at, width;
    uint64_t value;
    enum fault_check check;
};
static const struct violation violations[] = {
    {"first block not at 4096", 0, 8, 8192, FAULT_BLOCK_OFFSET},
    {"first block in the superblock", 0, 8, 0, FAULT_BLOCK_OFFSET},
    {"second block unaligned", 16, 8, 12289, FAULT_BLOCK_OFFSET},
    {"second block overlaps the first", 16, 8, 4096, FAULT_BLOCK_OFFSET},
    {"a hole before the second block", 16, 8, 16384, FAULT_BLOCK_OFFSET},
    {"offset 2^63", 16, 8, UINT64_C(1) << 63, FAULT_BLOCK_OFFSET},
    {"offset all ones", 48, 8, UINT64_MAX, FAULT_BLOCK_OFFSET},
    {"block packed_size 0", 8, 4, 0, FAULT_BLOCK_PACKED_SIZE},
    {"block packed_size not the sum", 24, 4, 4095, FAULT_BLOCK_PACKED_SIZE},
    {"block packed_size all ones", 24, 4, UINT32_MAX, FAULT_BLOCK_PACKED_SIZE},
    {"block raw_size 0", 12, 4, 0, FAULT_BLOCK_RAW_SIZE},
    {"block raw_size of another grid", 12, 4, BLOCK / 2, FAULT_BLOCK_RAW_SIZE},
    {"last block raw_size too large", 60, 4, BLOCK, FAULT_BLOCK_RAW_SIZE},
    {"frame packed_size 0", 64, 3, 0, FAULT_FRAME_PACKED_SIZE},
    {"frame packed_size over raw + 8", 64, 3, FRAME + 9, FAULT_FRAME_PACKED_SIZE},
    {"frame packed_size all ones", 73, 3, 0xffffff, FAULT_FRAME_PACKED_SIZE},
    {"last frame over its raw size + 8", 64 + 6 * 9, 3, 109, FAULT_FRAME_PACKED_SIZE},
};

START_TEST(violated_entry_is_refused)
{
    const struct violation *violation = &violations[_i];
    struct superblock sb;
    struct index *index;
    struct fault fault = {FAULT_NONE, 0};
    uint8_t *bytes = make_index(&sb);
    bytes_put_le(bytes + violation->at, violation->width, violation->value);
    sb.index_checksum = checksum_hash(bytes, sb.index_size);
    int r = index_new(&sb, bytes, &index, &fault);
    ck_assert_msg(r == -EBADMSG, "%s: returned %d", violation->what, r);
    ck_assert_msg(fault.check == violation->check, "%s: fault \"%s\"", violation->what,
                  fault_text(fault.check));
    ck_assert_msg(fault.offset == violation->at, "%s: offset %u", violation->what,
                  (unsigned)fault.offset);
    free(bytes);
}
END_TEST

/* Blocks that do not end where the index begins: before it, and behind it. */
START_TEST(blocks_must_end_at_the_index)
{
    struct superblock sb;
    struct index *index;
    struct fault fault = {FAULT_NONE, 0};
    uint8_t *bytes = make_index(&sb);
    sb.index_offset += 4096;
    ck_assert_int_eq(index_new(&sb, bytes, &index, &fault), -EBADMSG);
    ck_assert_int_eq(fault.check, FAULT_BLOCK_OFFSET);
    sb.index_offset -= 8192;
    ck_assert_int_eq(index_new(&sb, bytes, &index, &fault), -EBADMSG);
    ck_assert_int_eq(fault.check, FAULT_BLOCK_PACKED_SIZE);
    free(bytes);
}
END_TEST

START_TEST(every_single_bit_flip_is_refused)
{
    struct superblock sb;
    struct index *index;
    uint8_t *bytes = make_index(&sb);
    for (unsigned bit = 0; bit < 8 * sb.index_size; bit++) {
        struct fault fault = {FAULT_NONE, 0};
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_int_eq(index_new(&sb, bytes, &index, &fault), -EBADMSG);
        ck_assert_int_eq(fault.check, FAULT_INDEX_CHECKSUM);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(bytes);
}
END_TEST

/* 1.56 TB in frames of 256 KiB: what an index of a whole checkpoint costs. */
START_TEST(index_of_a_whole_checkpoint_fits_in_64_mb)
{
    const uint64_t raw_size = UINT64_C(1560000000000);
    struct superblock sb = {.frame_size = TRUNK_FRAME_SIZE_DEFAULT,
                            .block_size = TRUNK_BLOCK_SIZE_DEFAULT,
                            .raw_size = raw_size};
    sb.frame_count = (raw_size + sb.frame_size - 1) / sb.frame_size;
    sb.block_count = (raw_size + sb.block_size - 1) / sb.block_size;
    sb.index_size = sb.block_count * 16 + sb.frame_count * 9;
    ck_assert_uint_le(sb.index_size, 64000000);
    struct index_entry *many = malloc(sb.frame_count * sizeof(*many));
    uint8_t *bytes = malloc(sb.index_size);
    ck_assert(many && bytes);
    for (uint64_t i = 0; i < sb.frame_count; i++)
        many[i] = (struct index_entry){170000 + (uint32_t)(i % 1000), i};
    struct index *index;
    struct index_frame frame;
    sb.index_offset = index_encode(&sb, many, bytes);
    sb.index_checksum = checksum_hash(bytes, sb.index_size);
    ck_assert_int_eq(index_new(&sb, bytes, &index, NULL), 0);
    ck_assert_uint_le(index_memory(index), 64000000);
    index_frame_get(index, sb.frame_count - 1, &frame);
    ck_assert_uint_eq(frame.raw_offset + frame.raw_size, raw_size);
    ck_assert_uint_le(frame.packed_offset + frame.packed_size, sb.index_offset);
    index_free(index);
    free(many);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("index");
    TCase *tcase = unit_case(suite, "index");
    tcase_add_test(tcase, frames_are_found_where_they_lie);
    tcase_add_test(tcase, checksum_binds_a_frame_to_its_place);
    tcase_add_test(tcase, empty_index);
    tcase_add_loop_test(tcase, violated_entry_is_refused, 0,
                        sizeof(violations) / sizeof(violations[0]));
    tcase_add_test(tcase, blocks_must_end_at_the_index);
    tcase_add_test(tcase, every_single_bit_flip_is_refused);
    tcase_add_test(tcase, index_of_a_whole_checkpoint_fits_in_64_mb);
    return unit_run(suite);
}
