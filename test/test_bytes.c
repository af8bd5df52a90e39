/* test_bytes.c - integers as the format stores them, range checks, rounding. */
#include "bytes.h"

#include "unit.h"

START_TEST(little_endian_bytes)
{
    static const uint8_t stored[8] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    ck_assert_uint_eq(get_le16(stored), 0x2301);
    ck_assert_uint_eq(get_le24(stored), 0x452301);
    ck_assert_uint_eq(get_le32(stored), 0x67452301);
    ck_assert_uint_eq(get_le48(stored), UINT64_C(0xab8967452301));
    ck_assert_uint_eq(get_le64(stored), UINT64_C(0xefcdab8967452301));
}
END_TEST

START_TEST(put_writes_its_width_and_no_more)
{
    uint8_t buffer[10];
    const uint64_t value = UINT64_C(0xf1e2d3c4b5a69788);
    for (unsigned width = 1; width <= 8; width++) {
        memset(buffer, 0x55, sizeof(buffer));
        bytes_put_le(buffer + 1, width, value);
        ck_assert_uint_eq(buffer[0], 0x55);
        ck_assert_uint_eq(buffer[1 + width], 0x55);
        uint64_t expected = width == 8 ? value : value & ((UINT64_C(1) << (8 * width)) - 1);
        ck_assert_uint_eq(bytes_get_le(buffer + 1, width), expected);
    }
}
END_TEST

START_TEST(range_within_never_overflows)
{
    ck_assert(range_within(0, 0, 0));
    ck_assert(range_within(4, 0, 4));
    ck_assert(range_within(0, 4, 4));
    ck_assert(!range_within(5, 0, 4));
    ck_assert(!range_within(1, 4, 4));
    ck_assert(!range_within(UINT64_MAX, 1, UINT64_MAX));
    ck_assert(!range_within(2, UINT64_MAX, UINT64_MAX));
    ck_assert(!range_within(UINT64_MAX, UINT64_MAX, 4));
    ck_assert(range_within(0, UINT64_MAX, UINT64_MAX));
}
END_TEST

START_TEST(align_up_rounds_to_the_next_multiple)
{
    ck_assert_uint_eq(align_up(0, 4096), 0);
    ck_assert_uint_eq(align_up(1, 4096), 4096);
    ck_assert_uint_eq(align_up(4095, 4096), 4096);
    ck_assert_uint_eq(align_up(4096, 4096), 4096);
    ck_assert_uint_eq(align_up(4097, 4096), 8192);
    ck_assert_uint_eq(align_up(UINT64_C(1) << 50, 4096), UINT64_C(1) << 50);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bytes");
    TCase *tcase = unit_case(suite, "bytes");
    tcase_add_test(tcase, little_endian_bytes);
    tcase_add_test(tcase, put_writes_its_width_and_no_more);
    tcase_add_test(tcase, range_within_never_overflows);
    tcase_add_test(tcase, align_up_rounds_to_the_next_multiple);
    return unit_run(suite);
}
