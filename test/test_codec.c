/* test_codec.c - properties of the frame codec: any bytes of any length and phase come back,
 * whatever their distribution, and every instruction set writes, accepts and refuses the
 * same. codec_check.h does the comparing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "checksum.h"
#include "codec_check.h"
#include "fuzz_input.h"
#include "isa.h"
#include "sample.h"
#include "unit.h"

static const enum frame_codec codecs[] = {FRAME_CODEC_AUTO, FRAME_CODEC_FAST, FRAME_CODEC_SMALL,
                                          FRAME_CODEC_ZSTD, FRAME_CODEC_RAW};
enum { CODECS = sizeof(codecs) / sizeof(codecs[0]) };

/* A bf16 number: exponent, and seven bits of mantissa with the sign below them. */
static uint16_t number(uint32_t exponent, uint32_t rest)
{
    uint32_t r = (exponent & 255) << 8 | (rest & 255);
    return (uint16_t)(r >> 1 | r << 15);
}

/* Exponents as weights have them: each next one half as often. */
static uint32_t falling(uint32_t *state, uint32_t top)
{
    uint32_t x = draw(state) | 1u << 20;
    return top - (uint32_t)__builtin_ctz(x);
}

static uint16_t one(uint32_t *s, size_t i)
{
    (void)s, (void)i;
    return 0x3f80;
}

static uint16_t one_exponent(uint32_t *s, size_t i)
{
    (void)i;
    return number(120, draw(s));
}

static uint16_t two(uint32_t *s, size_t i)
{
    (void)i;
    return draw(s) & 1 ? 0x3f80 : 0xbf00;
}

static uint16_t two_exponents(uint32_t *s, size_t i)
{
    (void)i;
    return number(draw(s) & 15 ? 120 : 7, draw(s));
}

static uint16_t uniform(uint32_t *s, size_t i)
{
    (void)i;
    return (uint16_t)draw(s);
}

static uint16_t each_exponent(uint32_t *s, size_t i)
{
    return number((uint32_t)i, draw(s));
}

/* One common exponent, and others spread so thin that no table holds them. */
static uint16_t many_escapes(uint32_t *s, size_t i)
{
    (void)i;
    return draw(s) % 4 ? number(121, draw(s)) : number(draw(s), draw(s));
}

/* Fifteen are worth a table entry and sixteen more the escape list; the rest are literals. */
static uint16_t staircase(uint32_t *s, size_t i)
{
    uint32_t exponent = falling(s, 200);
    return i % 64 ? number(exponent, draw(s)) : number(draw(s) % 40, draw(s));
}

static uint16_t not_a_number(uint32_t *s, size_t i)
{
    (void)i;
    return number(draw(s) % 8 ? 255 : 254, draw(s) | 2);
}

static uint16_t denormal(uint32_t *s, size_t i)
{
    (void)i;
    return number(0, draw(s));
}

static uint16_t sparse(uint32_t *s, size_t i)
{
    (void)i;
    return draw(s) % 8 ? 0 : number(falling(s, 124), draw(s));
}

static uint16_t alternating_scale(uint32_t *s, size_t i)
{
    return number(falling(s, i / 768 % 2 ? 124 : 100), draw(s));
}

static uint16_t four_scales(uint32_t *s, size_t i)
{
    static const uint8_t top[] = {130, 118, 106, 94};
    return number(falling(s, top[i / 512 % 4]), draw(s));
}

static uint16_t weights(uint32_t *s, size_t i)
{
    (void)i;
    return number(falling(s, 123), draw(s));
}

/* bf16 that once was FP8: the lower mantissa bits are zero. */
static uint16_t was_fp8(uint32_t *s, size_t i)
{
    (void)i;
    return number(falling(s, 123), draw(s) & 0xe1);
}

static const struct {
    const char *name;
    uint16_t (*next)(uint32_t *state, size_t i);
} distributions[] = {
    {"one", one},
    {"one exponent", one_exponent},
    {"two", two},
    {"two exponents", two_exponents},
    {"uniform", uniform},
    {"each exponent", each_exponent},
    {"many escapes", many_escapes},
    {"staircase", staircase},
    {"not a number", not_a_number},
    {"denormal", denormal},
    {"sparse", sparse},
    {"alternating scale", alternating_scale},
    {"four scales", four_scales},
    {"weights", weights},
    {"was fp8", was_fp8},
};
enum { DISTRIBUTIONS = sizeof(distributions) / sizeof(distributions[0]) };

/* size bytes of a distribution, its elements at an even offset or an odd one. Freed by the
 * caller; never NULL. */
static uint8_t *make(unsigned distribution, uint32_t seed, size_t size, size_t phase)
{
    uint8_t *raw = malloc(size + 3);
    ck_assert_ptr_nonnull(raw);
    raw[0] = 0x7b;
    for (size_t i = 0; phase + 2 * i < size; i++)
        put_le16(raw + phase + 2 * i, distributions[distribution].next(&seed, i));
    return raw;
}

START_TEST(any_distribution)
{
    static const size_t sizes[] = {1, 2, 3, 255, 256, 257, 4096, 65537, 262143, 262144};
    unsigned distribution = (unsigned)_i % DISTRIBUTIONS;
    enum frame_codec codec = codecs[(unsigned)_i / DISTRIBUTIONS];

    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        for (size_t phase = 0; phase < 2; phase++) {
            uint8_t *raw = make(distribution, (uint32_t)k, sizes[k], phase);
            codec_check_round_trip(raw, sizes[k], codec);
            free(raw);
        }
}
END_TEST

/* Frames long enough for four streams. */
START_TEST(long_frames)
{
    for (size_t phase = 0; phase < 2; phase++) {
        size_t size = CODEC_CHECK_RAW_MAX - phase;
        uint8_t *raw = make((unsigned)_i, 8, size, phase);
        codec_check_round_trip(raw, size, FRAME_CODEC_FAST);
        free(raw);
    }
}
END_TEST

/* Every number of elements behind the last whole group and section, and odd bytes; with one
 * stream, and with two. */
START_TEST(any_tail)
{
    static const struct {
        size_t base, tails;
    } lengths[] = {{0, 1024}, {3072, 1024}, {32768, 128}};
    uint8_t *raw = make((unsigned)_i, 5, 2 * (32768 + 128) + 2, 0);

    for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++)
        for (size_t tail = 0; tail < lengths[k].tails; tail++) {
            size_t size = 2 * (lengths[k].base + tail) + tail / 7 % 2;
            if (size > 0)
                codec_check_round_trip(raw, size, FRAME_CODEC_AUTO);
        }
    free(raw);
}
END_TEST

START_TEST(any_length)
{
    uint8_t *raw = sample_new((enum sample_kind)_i, 9, 3000);

    for (size_t codec = 0; codec < CODECS; codec++)
        for (size_t size = 1; size < 3000; size += codec == 0 ? 1 : 53)
            codec_check_round_trip(raw, size, codecs[codec]);
    free(raw);
}
END_TEST

/* A header and text in front of weights, at any offset within a frame. */
START_TEST(mixed_kinds)
{
    enum { SIZE = 262144 };
    uint8_t *text = sample_new(SAMPLE_TEXT, 3, SIZE);

    for (size_t at = 1; at < SIZE; at = at * 3 + 1) {
        uint8_t *raw = make(13, 1, SIZE, at % 2);
        memcpy(raw, text, at);
        for (size_t codec = 0; codec < CODECS; codec++)
            codec_check_round_trip(raw, SIZE, codecs[codec]);
        free(raw);
    }
    free(text);
}
END_TEST

/* What the coder is for: close to what the exponents' entropy, 2 bits, and the rest need. */
START_TEST(weights_shrink)
{
    enum { SIZE = 262144 };

    for (size_t phase = 0; phase < 2; phase++) {
        uint8_t *raw = make(13, 1, SIZE, phase);
        size_t size = codec_check_round_trip(raw, SIZE, FRAME_CODEC_FAST);
        ck_assert_uint_lt(size, SIZE * 10 / 16 + 300);
        free(raw);
    }
}
END_TEST

/* Frames of all shapes of the coder rans, valid and broken: see fuzz_frame_structured.c. */
START_TEST(any_table)
{
    fuzz_run_drawn((uint32_t)_i + 1, 4000, 400);
}
END_TEST

/* One byte changed anywhere in a frame of full size: the same verdict, the same bytes. */
START_TEST(any_change)
{
    enum { SIZE = 262144 };
    uint8_t *raw = make(12, 2, SIZE, 0);
    codec_check_changes(raw, SIZE, codecs[_i], 150);
    free(raw);
}
END_TEST

START_TEST(checksums_agree)
{
    uint8_t *bytes = sample_new(SAMPLE_RANDOM, 4, 5000);

    for (size_t size = 0; size < 5000; size++) {
        ck_assert_int_eq(isa_select("scalar"), 0);
        uint64_t hash = checksum_hash(bytes, size);
        for (int isa = 0; isa < ISA_COUNT_; isa++) {
            if (!isa_available((enum isa)isa))
                continue;
            ck_assert_int_eq(isa_select(isa_name((enum isa)isa)), 0);
            ck_assert_uint_eq(checksum_hash(bytes, size), hash);
        }
    }
    free(bytes);
}
END_TEST

START_TEST(instruction_sets)
{
    ck_assert_int_eq(isa_select("sse9"), -EINVAL);
    ck_assert_int_eq(isa_select(""), -EINVAL);
    for (int isa = 0; isa < ISA_COUNT_; isa++) {
        int r = isa_select(isa_name((enum isa)isa));
        ck_assert_int_eq(r, isa_available((enum isa)isa) ? 0 : -ENOTSUP);
        if (r == 0)
            ck_assert_int_eq(isa_current(), isa);
    }
    ck_assert_int_eq(setenv("TRUNKFS_ISA", "scalar", 1), 0);
    ck_assert_int_eq(isa_select(NULL), 0);
    ck_assert_int_eq(isa_current(), ISA_SCALAR);
    ck_assert_int_eq(setenv("TRUNKFS_ISA", "fastest", 1), 0);
    ck_assert_int_eq(isa_select(NULL), -EINVAL);
    ck_assert_int_eq(unsetenv("TRUNKFS_ISA"), 0);
    ck_assert_int_eq(isa_select(NULL), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codec");
    TCase *tcase = unit_case(suite, "properties");
    tcase_add_loop_test(tcase, any_distribution, 0, DISTRIBUTIONS * (int)CODECS);
    tcase_add_loop_test(tcase, long_frames, DISTRIBUTIONS - 4, DISTRIBUTIONS);
    tcase_add_loop_test(tcase, any_tail, DISTRIBUTIONS - 4, DISTRIBUTIONS - 1);
    tcase_add_loop_test(tcase, any_length, 0, SAMPLE_KINDS_);
    tcase_add_test(tcase, mixed_kinds);
    tcase_add_test(tcase, weights_shrink);
    tcase_add_loop_test(tcase, any_table, 0, 8);
    tcase_add_loop_test(tcase, any_change, 0, CODECS);
    tcase_add_test(tcase, checksums_agree);
    tcase_add_test(tcase, instruction_sets);
    return unit_run(suite);
}
