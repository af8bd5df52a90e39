/* test_roundtrip.c - what the encoder wrote, decoded and compared with the source: kinds of
 * data, codecs, awkward sizes, phases, and a slice of a trained model.
 *
 * A difference is explained: where it is, and whether it looks as if two planes of the
 * transform had been taken for each other. A build with such an error on purpose must fail
 * here, and say so (mutation.sh).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bytes.h"
#include "format.h"
#include "frame_decode.h"
#include "frame_encode.h"
#include "packed.h"
#include "sample.h"
#include "unit.h"

enum { FRAME_MAX = 256 << 10 };

static const enum frame_codec codecs[] = {FRAME_CODEC_AUTO, FRAME_CODEC_FAST, FRAME_CODEC_SMALL,
                                          FRAME_CODEC_ZSTD, FRAME_CODEC_RAW};
static const char *const codec_names[] = {"auto", "fast", "small", "zstd", "raw"};
enum { CODECS = sizeof(codecs) / sizeof(codecs[0]) };

/* Do got and source, 16-bit elements from byte at on, differ as if the halves of the
 * element (its bytes, or its exponent and the rest) had been exchanged? */
static const char *explain_elements(const uint8_t *got, const uint8_t *source, size_t at)
{
    unsigned g = get_le16(got + at), s = get_le16(source + at);
    unsigned rotated = (s << 1 | s >> 15) & 0xffff;
    unsigned exchanged = (rotated << 8 | rotated >> 8) & 0xffff;
    if (g == ((s << 8 | s >> 8) & 0xffff))
        return "the planes of high and low bytes are swapped";
    if (g == (exchanged >> 1 | (exchanged << 15 & 0xffff)))
        return "the planes of exponents and of signs and mantissas are swapped";
    return NULL;
}

static const char *explain(const uint8_t *got, const uint8_t *source, size_t size, size_t first)
{
    for (size_t phase = 0; phase < 2; phase++) {
        size_t at = first >= phase ? (first - phase) / 2 * 2 + phase : phase;
        const char *text = at + 2 <= size ? explain_elements(got, source, at) : NULL;
        if (text)
            return text;
    }
    return "the planes, if any, are not simply swapped";
}

static void compare(const uint8_t *got, const uint8_t *source, size_t size, const char *what)
{
    size_t first = 0;
    while (first < size && got[first] == source[first])
        first++;
    if (first < size)
        ck_abort_msg("%s: byte %zu of %zu is %02x, the source has %02x: %s", what, first, size,
                     got[first], source[first], explain(got, source, size, first));
}

/* One frame there and back. The frame checksum is left out on purpose: it would find any
 * difference, but not say what is wrong. */
static void round_trip(const uint8_t *source, size_t size, enum frame_codec codec,
                       const char *what)
{
    const struct frame_encode_options options = {codec, 1};
    struct frame_encoder *encoder;
    struct frame_decoder *decoder;
    struct frame_summary summary;
    struct fault fault = {FAULT_NONE, 0};
    size_t room = frame_encode_bound(size), packed_size = 0;
    uint8_t *packed = calloc(1, room + 2 * FRAME_DECODE_SLACK);
    uint8_t *got = malloc(size + FRAME_DECODE_SLACK);
    ck_assert(packed && got);
    ck_assert_int_eq(frame_encoder_new(&options, size, &encoder), 0);
    ck_assert_int_eq(frame_decoder_new(size, &decoder), 0);
    ck_assert_int_eq(frame_encode(encoder, source, size, packed + FRAME_DECODE_SLACK, room,
                                  &packed_size, &summary),
                     0);
    ck_assert_uint_le(packed_size, size + TRUNK_FRAME_HEADER_SIZE);
    memset(got, 0xcc, size);
    int r = frame_decode(decoder, packed + FRAME_DECODE_SLACK, packed_size, got, size, &fault);
    ck_assert_msg(r == 0, "%s: does not decode: %s", what, fault_text(fault.check));
    compare(got, source, size, what);
    frame_encoder_free(encoder);
    frame_decoder_free(decoder);
    free(packed);
    free(got);
}

START_TEST(every_kind_by_every_codec)
{
    enum sample_kind kind = (enum sample_kind)(_i / CODECS);
    uint8_t *source = sample_new(kind, 7, FRAME_MAX);
    static const size_t sizes[] = {1, 2, 3, 127, 128, 129, 2047, 4096, 65537, FRAME_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char what[80];
        snprintf(what, sizeof(what), "%s by %s, %zu bytes", sample_names[kind],
                 codec_names[_i % CODECS], sizes[i]);
        round_trip(source, sizes[i], codecs[_i % CODECS], what);
    }
    free(source);
}
END_TEST

/* Weights that begin at an odd offset, and every remainder behind whole groups of lanes. */
START_TEST(every_phase_and_remainder)
{
    uint8_t *source = sample_new(SAMPLE_BF16, 3, 32768 + 2048);
    for (size_t rest = (size_t)_i * 256; rest < (size_t)(_i + 1) * 256; rest++)
        for (size_t skip = 0; skip < 2; skip++) {
            char what[80];
            snprintf(what, sizeof(what), "weights from byte %zu, %zu bytes", skip, 32768 + rest);
            round_trip(source + skip, 32768 + rest, FRAME_CODEC_AUTO, what);
        }
    free(source);
}
END_TEST

static uint8_t *read_slice(size_t *ret_size)
{
    char path[4096];
    const char *data = getenv("TEST_DATA");
    struct stat st;
    ck_assert_ptr_nonnull(data);
    snprintf(path, sizeof(path), "%s/minilm-slice.safetensors", data);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
    ck_assert_int_eq(fstat(fileno(file), &st), 0);
    uint8_t *bytes = malloc((size_t)st.st_size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, (size_t)st.st_size, file), (size_t)st.st_size);
    fclose(file);
    *ret_size = (size_t)st.st_size;
    return bytes;
}

/* Whole files of five shapes against the source, with every check that a reader makes. */
static void file_round_trip(const uint8_t *source, size_t size,
                            const struct packed_options *options, const char *what)
{
    struct packed packed;
    struct fault fault = {FAULT_NONE, 0};
    uint8_t *got = NULL;
    size_t got_size = 0;
    packed_build(source, size, options, &packed);
    int r = packed_read(packed.bytes, packed.size, &got, &got_size, &fault);
    ck_assert_msg(r == 0, "%s: %s at %llu", what, fault_text(fault.check),
                  (unsigned long long)fault.offset);
    ck_assert_uint_eq(got_size, size);
    compare(got, source, size, what);
    free(got);
    packed_free(&packed);
}

START_TEST(five_shapes)
{
    const size_t block = 65536;
    const size_t sizes[] = {3 * block + 7778, 4 * block, block / 3, 40 * block, 2 * block + 12345,
                            0};
    const struct packed_options options = {16384, (uint32_t)block, codecs[_i]};
    uint8_t *source = sample_new(SAMPLE_BF16, 5, 40 * block);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char what[80];
        snprintf(what, sizeof(what), "file of %zu bytes by %s", sizes[i], codec_names[_i]);
        file_round_trip(source, sizes[i], &options, what);
    }
    free(source);
}
END_TEST

START_TEST(slice_of_a_trained_model)
{
    size_t size;
    uint8_t *source = read_slice(&size);
    const struct packed_options options = {FRAME_MAX, 4 << 20, codecs[_i]};
    file_round_trip(source, size, &options, "slice of a trained model");
    free(source);
}
END_TEST

/* A flipped bit of a payload decodes to an error or to a checksum that does not match. */
START_TEST(flipped_bits_of_payloads_are_noticed)
{
    const struct packed_options options = {16384, 65536, codecs[_i]};
    uint8_t *source = sample_new(SAMPLE_BF16, 9, 50000);
    struct packed packed;
    packed_build(source, 50000, &options, &packed);
    uint64_t random = 1;
    for (int round = 0; round < 300; round++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint64_t at = 4096 + (random >> 20) % (packed.size - 4096);
        uint8_t bit = (uint8_t)(1 << (random >> 60 & 7)), *got = NULL;
        size_t got_size;
        packed.bytes[at] ^= bit;
        if (packed_read(packed.bytes, packed.size, &got, &got_size, NULL) == 0)
            compare(got, source, 50000, "file with a flipped bit"); /* it was in the padding */
        free(got);
        packed.bytes[at] ^= bit;
    }
    packed_free(&packed);
    free(source);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("roundtrip");
    TCase *tcase = unit_case(suite, "roundtrip");
    tcase_add_loop_test(tcase, every_kind_by_every_codec, 0, SAMPLE_KINDS_ * CODECS);
    tcase_add_loop_test(tcase, every_phase_and_remainder, 0, 8);
    tcase_add_loop_test(tcase, five_shapes, 0, CODECS);
    tcase_add_loop_test(tcase, slice_of_a_trained_model, 0, CODECS);
    tcase_add_loop_test(tcase, flipped_bits_of_payloads_are_noticed, 0, CODECS);
    return unit_run(suite);
}
