/* fuzz_frame_structured.c - frames made to be valid in every shape of the coder rans, decoded
 * and compared; then with some bytes changed, decoded by every instruction set alike.
 *
 * Input, read byte by byte (zeros when it ends): streams, tables, carry, phase, size; for
 * each table its symbols and frequencies; a seed for weights and selectors; then the changes,
 * as pairs of a u16 position and a byte.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "codec_check.h"
#include "format.h"
#include "frame_decode.h"
#include "frame_format.h"
#include "fuzz_input.h"
#include "rans_encode.h"
#include "transform.h"

enum {
    COUNT_MAX = 1300, /* elements: some groups and sections; small, for many executions */
    PAYLOAD_MAX = 4 * COUNT_MAX + 4096,
    HEADER_SIZE = TRUNK_FRAME_HEADER_SIZE + 2 * PLANE_ENTRY_SIZE,
};

/* A table of any shape: up to 15 ascending symbols; frequencies that leave 1 for the escape. */
static void make_table(struct input *input, struct rans_table *ret)
{
    uint8_t symbols[RANS_ENTRIES_MAX], frequencies[RANS_ENTRIES_MAX];
    unsigned count = 1 + take(input) % (RANS_ENTRIES_MAX - 1);
    unsigned symbol = take(input) % (256 - count + 1), left = RANS_SLOTS - 1;

    for (unsigned i = 0; i < count; i++) {
        unsigned others = count - 1 - i;
        unsigned f = 1 + take(input) % (left - others);
        frequencies[i] = (uint8_t)f;
        left -= f;
        symbols[i] = (uint8_t)symbol;
        unsigned gap = take(input) % 16;
        symbol += symbol + 1 + gap + others <= 256 ? 1 + gap : 1;
    }
    rans_table_arrange(count, symbols, frequencies, ret);
}

/* Symbols that fit the tables mostly, and bytes of rest that are anything. */
static void fill_planes(const struct rans_model *model, uint32_t seed, size_t count,
                        uint8_t *exponents, uint8_t *rests)
{
    unsigned escape_share = draw(&seed) % 8;

    for (size_t i = 0; i < count; i++) {
        const struct rans_table *table = &model->table[model->selectors[i / RANS_SECTION]];
        uint32_t x = draw(&seed);
        unsigned entry = 1 + x % (table->entry_count - 1u);
        exponents[i] =
            x >> 8 & 7 && (x >> 11 & 7) >= escape_share ? table->symbol[entry] : (uint8_t)(x >> 14);
        rests[i] = (uint8_t)draw(&seed);
    }
}

/* Returns the payload's size, or 0 if that frame is none. */
static size_t build(struct input *input, uint8_t *raw, size_t *ret_raw_size, uint8_t *packed)
{
    static struct frame_log2 log2;
    static struct rans_encoder *encoder;
    static uint8_t exponents[COUNT_MAX], rests[COUNT_MAX];
    uint8_t shape = take(input);
    size_t count = 1 + (take(input) | (size_t)take(input) << 8) % COUNT_MAX;
    size_t phase = shape >> 5 & 1, tail = shape >> 6 & 1, sizes[2] = {0, 0};
    bool carry = shape >> 4 & 1;

    if (!encoder) {
        frame_log2_init(&log2);
        if (rans_encoder_new(COUNT_MAX, &log2, &encoder) < 0)
            abort();
    }
    struct rans_model *model = rans_encoder_model(encoder);
    model->table_count = 1u << (shape >> 2 & 3) % 3;
    for (unsigned t = 0; t < model->table_count; t++)
        make_table(input, &model->table[t]);
    uint32_t seed = take(input) | (uint32_t)take(input) << 8;
    for (size_t s = 0; s * RANS_SECTION < count; s++)
        model->selectors[s] = (uint8_t)(draw(&seed) % model->table_count);
    fill_planes(model, seed, count, exponents, rests);

    *ret_raw_size = phase + 2 * count + tail;
    memset(raw, 0xee, *ret_raw_size);
    const uint8_t *planes[] = {exponents, rests};
    transform_bf16_merge(planes, count, raw + phase);
    uint8_t *to = packed + HEADER_SIZE;
    memset(to, 0xee, phase + tail);
    to += phase + tail;
    if (rans_encode_modelled(encoder, 1u << (shape & 3) % 3, exponents, count, carry ? rests : NULL,
                             to, PAYLOAD_MAX / 2, &sizes[0], &sizes[1]) < 0)
        return 0;
    memcpy(to + sizes[0], rests, sizes[1]);

    packed[FRAME_OFFSET_TRANSFORM] = FRAME_TRANSFORM_BF16;
    packed[FRAME_OFFSET_PHASE] = (uint8_t)phase;
    put_le16(packed + FRAME_OFFSET_RESERVED, 0);
    put_le32(packed + FRAME_OFFSET_RAW_SIZE, (uint32_t)*ret_raw_size);
    packed[TRUNK_FRAME_HEADER_SIZE] = PLANE_CODER_RANS;
    put_le24(packed + TRUNK_FRAME_HEADER_SIZE + 1, (uint32_t)sizes[0]);
    packed[TRUNK_FRAME_HEADER_SIZE + PLANE_ENTRY_SIZE] =
        sizes[1] < count ? PLANE_CODER_REST : PLANE_CODER_RAW;
    put_le24(packed + TRUNK_FRAME_HEADER_SIZE + PLANE_ENTRY_SIZE + 1, (uint32_t)sizes[1]);
    return HEADER_SIZE + phase + tail + sizes[0] + sizes[1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t raw[2 * COUNT_MAX + 2], got[2 * COUNT_MAX + 2], packed[PAYLOAD_MAX];
    struct input input = {data, size};
    size_t raw_size;

    size_t packed_size = build(&input, raw, &raw_size, packed);
    if (packed_size == 0)
        return 0;
    fuzz_check_frame(&input, packed, packed_size, raw, raw_size, got);
    return 0;
}
