/* test_codec_wide.c - the frame codec on elements other than bf16: fp16, fp32, FP8, 4-bit numbers
 * with block scales, 8-bit integers, at any phase; and what they must shrink to.
 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "codec_check.h"
#include "fuzz_input.h"
#include "unit.h"

enum { FRAME_SIZE = 262144 };

static const enum frame_codec codecs[] = {FRAME_CODEC_AUTO, FRAME_CODEC_FAST, FRAME_CODEC_SMALL};
enum { CODECS = sizeof(codecs) / sizeof(codecs[0]) };

/* Bell-shaped, about -1 to 1 in units of 2^-20: a sum of uniform numbers. Rows of 384 differ in
 * scale. */
static int32_t bell(uint32_t *state, size_t i)
{
    int32_t sum = 0;
    for (unsigned k = 0; k < 8; k++)
        sum += (int32_t)(draw(state) & 0x3ffff);
    sum -= 8 << 17;
    return sum >> (i / 384 * 7 % 3);
}

/* The number as fp32, by its bits: no machine rounds differently. */
static uint32_t to_fp32(int32_t number, uint32_t below)
{
    uint32_t sign = number < 0, magnitude = sign ? (uint32_t)-number : (uint32_t)number;
    if (magnitude == 0)
        return 0;
    unsigned top = 31 - (unsigned)__builtin_clz(magnitude);
    uint32_t mantissa = (magnitude << (31 - top) << 1 >> 9) | (below & ((1u << (23 - top)) - 1));
    return sign << 31 | (107 + top) << 23 | mantissa;
}

static void fp32(uint32_t *s, size_t i, uint8_t *to)
{
    put_le32(to, to_fp32(bell(s, i), draw(s)));
}

static void fp32_that_was_bf16(uint32_t *s, size_t i, uint8_t *to)
{
    put_le32(to, to_fp32(bell(s, i), 0) & 0xffff0000);
}

static void fp32_that_was_fp16(uint32_t *s, size_t i, uint8_t *to)
{
    put_le32(to, to_fp32(bell(s, i), 0) & 0xffffe000);
}

static void bf16(uint32_t *s, size_t i, uint8_t *to)
{
    put_le16(to, (uint16_t)(to_fp32(bell(s, i), 0) >> 16));
}

static void bf16_that_was_fp8(uint32_t *s, size_t i, uint8_t *to)
{
    put_le16(to, (uint16_t)(to_fp32(bell(s, i), 0) >> 16 & 0xfff0));
}

static void fp16(uint32_t *s, size_t i, uint8_t *to)
{
    uint32_t w = to_fp32(bell(s, i), draw(s)), exponent = w >> 23 & 255;
    uint32_t small = exponent > 112 ? (exponent - 112) << 10 | (w >> 13 & 1023) : w >> 20 & 7;
    put_le16(to, (uint16_t)(w >> 31 << 15 | small));
}

static void e4m3(uint32_t *s, size_t i, uint8_t *to)
{
    uint32_t w = to_fp32(bell(s, i), 0), exponent = w >> 23 & 255;
    *to = (uint8_t)(w >> 31 << 7 |
                    (exponent > 112 ? (exponent - 112) << 3 | (w >> 20 & 7) : w >> 21 & 3));
}

static void e5m2(uint32_t *s, size_t i, uint8_t *to)
{
    uint32_t w = to_fp32(bell(s, i), 0), exponent = w >> 23 & 255;
    *to = (uint8_t)(w >> 31 << 7 | (exponent > 97 ? (exponent - 97) << 2 | (w >> 21 & 3) : 0));
}

/* Pairs of E2M1, and behind every 16 KiB of them 1 KiB of scales. */
static void mxfp4(uint32_t *s, size_t i, uint8_t *to)
{
    static const uint8_t code[16] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 7};
    uint32_t x = draw(s);
    if (i % 17408 >= 16384)
        *to = (uint8_t)(118 + __builtin_popcount(x & 7));
    else
        *to = (uint8_t)(code[x & 15] | code[x >> 4 & 15] << 4 | (x >> 8 & 0x88));
}

static void int8(uint32_t *s, size_t i, uint8_t *to)
{
    *to = (uint8_t)(bell(s, i) / 8192);
}

/* What no table likes: every byte, some a hundred times as often. */
static void steep(uint32_t *s, size_t i, uint8_t *to)
{
    (void)i;
    uint32_t x = draw(s);
    *to = (uint8_t)(x & 127 ? x >> 7 & 3 : x >> 7);
}

static void one_byte_in_a_thousand(uint32_t *s, size_t i, uint8_t *to)
{
    (void)i;
    *to = draw(s) % 1000 ? 7 : (uint8_t)draw(s);
}

static const struct {
    const char *name;
    void (*next)(uint32_t *state, size_t i, uint8_t *to);
    uint8_t element_size;
    uint16_t at_most; /* thousandths that a frame by codec auto may keep */
} kinds[] = {
    {"fp32", fp32, 4, 845},
    {"fp32 that was bf16", fp32_that_was_bf16, 4, 345},
    {"fp32 that was fp16", fp32_that_was_fp16, 4, 440},
    {"bf16", bf16, 2, 680},
    {"bf16 that was fp8", bf16_that_was_fp8, 2, 430},
    {"fp16", fp16, 2, 870},
    {"e4m3", e4m3, 1, 840},
    {"e5m2", e5m2, 1, 715},
    {"mxfp4", mxfp4, 1, 940},
    {"int8", int8, 1, 900},
    {"steep", steep, 1, 350},
    {"one byte in a thousand", one_byte_in_a_thousand, 1, 20},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* size bytes of a kind, elements beginning at phase. Freed by the caller; never NULL. */
static uint8_t *make(unsigned kind, uint32_t seed, size_t size, size_t phase)
{
    uint8_t *raw = malloc(size + 8);
    ck_assert_ptr_nonnull(raw);
    memset(raw, 0x7b, phase);
    for (size_t i = 0; phase + i * kinds[kind].element_size < size; i++)
        kinds[kind].next(&seed, i, raw + phase + i * kinds[kind].element_size);
    return raw;
}

START_TEST(any_size_and_phase)
{
    static const size_t sizes[] = {1,     3,     127,    128,        129,    191,
                                   192,   193,   1023,   4096,       5119,   8192,
                                   32769, 65535, 100000, FRAME_SIZE, 300001, 1 << 20};
    unsigned kind = (unsigned)_i % KINDS;

    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        for (size_t phase = 0; phase < kinds[kind].element_size; phase++) {
            uint8_t *raw = make(kind, (uint32_t)k, sizes[k], phase);
            codec_check_round_trip(raw, sizes[k], codecs[(unsigned)_i / KINDS]);
            free(raw);
        }
}
END_TEST

START_TEST(any_tail)
{
    uint8_t *raw = make((unsigned)_i, 5, 16384 + 600, 0);
    for (size_t tail = 0; tail < 600; tail++)
        codec_check_round_trip(raw, 16384 + tail, FRAME_CODEC_AUTO);
    free(raw);
}
END_TEST

START_TEST(they_shrink)
{
    for (size_t phase = 0; phase < kinds[_i].element_size; phase++) {
        uint8_t *raw = make((unsigned)_i, 1, FRAME_SIZE, phase);
        size_t size = codec_check_round_trip(raw, FRAME_SIZE, FRAME_CODEC_AUTO);
        ck_assert_msg(size * 1000 <= (size_t)kinds[_i].at_most * FRAME_SIZE,
                      "%s at phase %zu: %zu bytes, %.4f of a frame", kinds[_i].name, phase, size,
                      (double)size / FRAME_SIZE);
        free(raw);
    }
}
END_TEST

/* Mantissa bits that depend on the exponent: small is smaller than auto. */
START_TEST(small_is_smaller)
{
    uint8_t *raw = make(3, 1, FRAME_SIZE, 0);
    size_t automatic = codec_check_round_trip(raw, FRAME_SIZE, FRAME_CODEC_AUTO);
    size_t small = codec_check_round_trip(raw, FRAME_SIZE, FRAME_CODEC_SMALL);
    ck_assert_uint_lt(small + FRAME_SIZE / 500, automatic);
    free(raw);
}
END_TEST

/* Tensors of several types in one frame, as at the end of one and the beginning of the next. */
START_TEST(neighbours)
{
    for (unsigned other = 0; other < KINDS; other++) {
        uint8_t *raw = make((unsigned)_i, 3, FRAME_SIZE, 0), *tail = make(other, 4, FRAME_SIZE, 0);
        size_t at = FRAME_SIZE / 8 * (1 + other % 7) + other;
        memcpy(raw + at, tail + at, FRAME_SIZE - at);
        codec_check_round_trip(raw, FRAME_SIZE, FRAME_CODEC_AUTO);
        codec_check_round_trip(raw, FRAME_SIZE, FRAME_CODEC_SMALL);
        free(raw);
        free(tail);
    }
}
END_TEST

/* Frames of all shapes of the coders rans12 and bits: see fuzz_frame_wide.c. */
START_TEST(any_table)
{
    fuzz_run_drawn((uint32_t)_i + 1, 3000, 80);
}
END_TEST

/* One byte changed anywhere in a frame of full size, or its end missing: the same verdict, the
 * same bytes. */
START_TEST(any_change)
{
    uint8_t *raw = make((unsigned)_i / CODECS, 2, FRAME_SIZE, 0);
    codec_check_changes(raw, FRAME_SIZE, codecs[_i % CODECS], 100);
    free(raw);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codec_wide");
    TCase *tcase = unit_case(suite, "types");
    tcase_add_loop_test(tcase, any_size_and_phase, 0, KINDS * (int)CODECS);
    tcase_add_loop_test(tcase, any_tail, 0, KINDS);
    tcase_add_loop_test(tcase, they_shrink, 0, KINDS);
    tcase_add_test(tcase, small_is_smaller);
    tcase_add_loop_test(tcase, neighbours, 0, KINDS);
    tcase_add_loop_test(tcase, any_table, 0, 8);
    tcase_add_loop_test(tcase, any_change, 0, KINDS * (int)CODECS);
    return unit_run(suite);
}
