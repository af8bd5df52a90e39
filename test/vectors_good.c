/* vectors_good.c - files that every reader of this version must accept. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "frame_format.h"
#include "sample.h"
#include "vectors.h"

/* 300 bytes that are easy to recognise in a dump. */
static uint8_t *counting(size_t size)
{
    uint8_t *raw = sample_new(SAMPLE_ZERO, 0, size);
    for (size_t i = 0; i < size; i++)
        raw[i] = (uint8_t)(i * 7 + i / 256);
    return raw;
}

static void encode_raw(struct vector_file *ret, uint8_t *raw, size_t size)
{
    struct packed_options options = vectors_options;
    options.codec = FRAME_CODEC_RAW;
    vectors_encode(ret, raw, size, &options);
}

static void empty(struct vector_file *ret)
{
    encode_raw(ret, counting(0), 0);
}

static void one_byte(struct vector_file *ret)
{
    encode_raw(ret, counting(1), 1);
}

static void stored(struct vector_file *ret)
{
    encode_raw(ret, counting(300), 300);
}

static void exact_multiple(struct vector_file *ret)
{
    encode_raw(ret, counting(VECTOR_BLOCK), VECTOR_BLOCK);
}

static void short_last_frame(struct vector_file *ret)
{
    encode_raw(ret, counting(VECTOR_BLOCK + VECTOR_FRAME + 1), VECTOR_BLOCK + VECTOR_FRAME + 1);
}

static void constant(struct vector_file *ret)
{
    static const uint8_t value = 0xa5;
    uint8_t *raw = sample_new(SAMPLE_ZERO, 0, 4000);
    memset(raw, value, 4000);
    struct vector_payload payload = {.transform = FRAME_TRANSFORM_NONE,
                                     .plane_count = 1,
                                     .plane = {{PLANE_CODER_CONSTANT, &value, 1}}};
    vectors_one_frame(ret, raw, 4000, 0, &payload);
}

/* 257 bytes, phase 1: one byte before the first of 128 elements, none behind the last. */
static void bytes2(struct vector_file *ret)
{
    static uint8_t high[128];
    static const uint8_t low = 0x11;
    uint8_t *raw = sample_new(SAMPLE_ZERO, 0, 257);
    raw[0] = 0xee;
    for (unsigned i = 0; i < 128; i++) {
        high[i] = (uint8_t)(i ^ 0x3c);
        raw[1 + 2 * i] = low;
        raw[2 + 2 * i] = high[i];
    }
    struct vector_payload payload = {
        .transform = FRAME_TRANSFORM_BYTES2,
        .phase = 1,
        .edges = raw,
        .edge_size = 1,
        .plane_count = 2,
        .plane = {{PLANE_CODER_RAW, high, 128}, {PLANE_CODER_CONSTANT, &low, 1}}};
    vectors_one_frame(ret, raw, 257, 0, &payload);
}

static void bytes2_tail(struct vector_file *ret)
{
    static const uint8_t high = 0x3f, low = 0x80;
    uint8_t *raw = sample_new(SAMPLE_ZERO, 0, 101);
    for (unsigned i = 0; i < 50; i++) {
        raw[2 * i] = low;
        raw[2 * i + 1] = high;
    }
    raw[100] = 0x77;
    struct vector_payload payload = {
        .transform = FRAME_TRANSFORM_BYTES2,
        .edges = raw + 100,
        .edge_size = 1,
        .plane_count = 2,
        .plane = {{PLANE_CODER_CONSTANT, &high, 1}, {PLANE_CODER_CONSTANT, &low, 1}}};
    vectors_one_frame(ret, raw, 101, 0, &payload);
}

/* Element number e of a whole block of 64 stands in the planes at the lane that the text
 * of FORMAT.md gives it; written here from that text, not from the code. */
static unsigned lane_of(unsigned element)
{
    for (unsigned lane = 0; lane < 64; lane++) {
        unsigned q = lane / 16, r = lane % 16;
        if ((r < 8 ? 8 * q + r : 32 + 8 * q + r - 8) == element)
            return lane;
    }
    return 64;
}

/* Two whole blocks of 64 elements and 5 more, phase bytes before and one behind them. One
 * plane is raw, to show its order, the other constant, since two raw ones do not shrink. */
static void bf16(struct vector_file *ret, uint8_t phase, bool exponents_vary)
{
    enum { ELEMENTS = 133 };
    static uint8_t varying[ELEMENTS], edges[2];
    static const uint8_t fixed = 0x7d;
    size_t size = phase + 2 * ELEMENTS + 1;
    uint8_t *raw = counting(size);
    for (unsigned i = 0; i < ELEMENTS; i++) {
        unsigned value = raw[phase + 2 * i];
        unsigned rotated = exponents_vary ? value << 8 | fixed : fixed << 8 | value;
        put_le16(raw + phase + 2 * i, (uint16_t)(rotated >> 1 | rotated << 15));
        varying[i < 128 ? i / 64 * 64 + lane_of(i % 64) : i] = (uint8_t)value;
    }
    edges[0] = raw[0];
    edges[phase] = raw[size - 1];
    struct vector_plane raw_plane = {PLANE_CODER_RAW, varying, ELEMENTS};
    struct vector_plane constant_plane = {PLANE_CODER_CONSTANT, &fixed, 1};
    struct vector_payload payload = {.transform = FRAME_TRANSFORM_BF16,
                                     .phase = phase,
                                     .edges = edges,
                                     .edge_size = phase + 1U,
                                     .plane_count = 2};
    payload.plane[0] = exponents_vary ? raw_plane : constant_plane;
    payload.plane[1] = exponents_vary ? constant_plane : raw_plane;
    vectors_one_frame(ret, raw, size, 0, &payload);
}

static void bf16_exponents(struct vector_file *ret)
{
    bf16(ret, 0, true);
}

static void bf16_rests(struct vector_file *ret)
{
    bf16(ret, 1, false);
}

/* A zstd frame by hand, so that it does not depend on the zstd library's version: one raw
 * block of 100 bytes, then one of 200 equal bytes. */
static void zstd_by_hand(struct vector_file *ret)
{
    static uint8_t frame[4 + 1 + 2 + 3 + 100 + 3 + 1];
    uint8_t *raw = counting(300);
    memset(raw + 100, 0x42, 200);
    put_le32(frame, 0xfd2fb528);
    frame[4] = 0x60; /* single segment, content size in 2 bytes less 256 */
    put_le16(frame + 5, 300 - 256);
    put_le24(frame + 7, 100 << 3);
    memcpy(frame + 10, raw, 100);
    put_le24(frame + 110, 200 << 3 | 1 << 1 | 1);
    frame[113] = 0x42;
    struct vector_payload payload = {.transform = FRAME_TRANSFORM_NONE,
                                     .plane_count = 1,
                                     .plane = {{PLANE_CODER_ZSTD, frame, sizeof(frame)}}};
    vectors_one_frame(ret, raw, 300, TRUNK_FEATURE_ZSTD, &payload);
}

static void big_block(struct vector_file *ret)
{
    static const struct packed_options options = {1 << 16, 1 << 24, FRAME_CODEC_RAW};
    vectors_encode(ret, counting(3000), 3000, &options);
}

static void largest_sizes(struct vector_file *ret)
{
    static const struct packed_options options = {1 << 22, 1 << 26, FRAME_CODEC_RAW};
    vectors_encode(ret, counting(300), 300, &options);
}

static void compatible_bits(struct vector_file *ret)
{
    stored(ret);
    memset(ret->packed.bytes + 24, 0xff, 16);
    packed_seal(ret->packed.bytes, ret->packed.size);
}

static void reserved_ignored(struct vector_file *ret)
{
    stored(ret);
    memset(ret->packed.bytes + 2048, 0x5a, 2040);
    packed_seal(ret->packed.bytes, ret->packed.size);
}

static void padding_ignored(struct vector_file *ret)
{
    stored(ret);
    uint64_t end = 4096 + 308;
    memset(ret->packed.bytes + end, 0x5a, ret->packed.sb.index_offset - end);
}

static void attributes(struct vector_file *ret)
{
    stored(ret);
    vectors_poke(ret, 104, 8, (uint64_t)-1);
    vectors_poke(ret, 112, 4, 999999999);
    vectors_poke(ret, 116, 4, 07000);
    vectors_poke(ret, 120, 8, 0);
}

/* What the encoder makes of weights: any change of its choices shows here. */
static void weights(struct vector_file *ret)
{
    static const struct packed_options options = {1 << 14, 1 << 15, FRAME_CODEC_AUTO};
    vectors_encode(ret, sample_new(SAMPLE_BF16, 1, 40001), 40001, &options);
}

const struct vector vectors_good[] = {
    {"good-empty", "no bytes, no blocks, no index", 0, FAULT_NONE, empty},
    {"good-one-byte", "one byte", 0, FAULT_NONE, one_byte},
    {"good-stored", "one frame, stored", 0, FAULT_NONE, stored},
    {"good-exact-multiple", "one whole block of two whole frames", 0, FAULT_NONE, exact_multiple},
    {"good-short-last-frame", "two blocks; the last frame holds one byte", 0, FAULT_NONE,
     short_last_frame},
    {"good-constant", "transform none, coder constant", 0, FAULT_NONE, constant},
    {"good-bytes2", "byte planes with phase 1: a byte before the first element", 0, FAULT_NONE,
     bytes2},
    {"good-bytes2-tail", "byte planes, both constant, and a byte behind the last element", 0,
     FAULT_NONE, bytes2_tail},
    {"good-bf16-exponents", "bf16: exponents raw in lane order, two whole blocks of 64 and five "
     "more elements, an odd byte behind them", 0, FAULT_NONE, bf16_exponents},
    {"good-bf16-rests", "bf16 with phase 1: signs and mantissas raw in lane order", 0, FAULT_NONE,
     bf16_rests},
    {"good-zstd", "coder zstd: one raw and one run-length block, written by hand", 0, FAULT_NONE,
     zstd_by_hand},
    {"good-weights", "bell-shaped bf16 weights as `--codec auto` packs them, three frames", 0,
     FAULT_NONE, weights},
    {"good-big-block", "blocks of 16 MiB and frames of 64 KiB, neither a default", 0, FAULT_NONE,
     big_block},
    {"good-largest-sizes", "blocks of 64 MiB, frames of 4 MiB: the largest", 0, FAULT_NONE,
     largest_sizes},
    {"good-compatible-bits", "every bit of features_ro_compat and features_compat is set", 0,
     FAULT_NONE, compatible_bits},
    {"good-reserved-ignored", "the reserved bytes that readers ignore are not zero", 0, FAULT_NONE,
     reserved_ignored},
    {"good-padding-ignored", "the bytes between a block and the index are not zero", 0, FAULT_NONE,
     padding_ignored},
    {"good-attributes", "modified a nanosecond before 1970, mode 07000, nothing allocated", 0,
     FAULT_NONE, attributes},
};
const size_t vectors_good_count = sizeof(vectors_good) / sizeof(vectors_good[0]);
