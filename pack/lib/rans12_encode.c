/* rans12_encode.c - see rans12_encode.h. */
#include "rans12_encode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "rans12_plan.h"
#include "rans12_table.h"

/* Division by a frequency as a multiplication: floor(x / f) = x * reciprocal >> 44 for every
 * x below f << 20 (the error of the reciprocal, at most 1, times x stays below 2^44 / f as
 * x < 2^32 and f < 2^12; the product stays below 2^64 for the same reason). */
enum { RECIPROCAL_BITS = 44 };

struct code {
    uint64_t reciprocal;
    uint32_t limit;      /* states from here on give 16 bits away first */
    uint16_t complement; /* RANS12_SLOTS - frequency */
    uint16_t start;
};

struct rans12_encoder {
    struct rans12_planner *planner;
    const struct frame_log2 *log2;
    uint8_t *selectors;   /* one byte each */
    const uint8_t *plane; /* borrowed from rans12_plan until rans12_encode */
    size_t size;
    struct rans12_plan plan;
    struct code codes[RANS12_TABLES_MAX][256];
    bool escaped[RANS12_TABLES_MAX][256];
};

int rans12_encoder_new(size_t max_size, const struct frame_log2 *log2, struct rans12_encoder **ret)
{
    struct rans12_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder)
        return -ENOMEM;
    encoder->log2 = log2;
    encoder->selectors = malloc(max_size / RANS12_SECTION + 2);
    if (!encoder->selectors || rans12_planner_new(max_size + RANS12_LANES, &encoder->planner) < 0) {
        rans12_encoder_free(encoder);
        return -ENOMEM;
    }
    *ret = encoder;
    return 0;
}

void rans12_encoder_free(struct rans12_encoder *encoder)
{
    if (!encoder)
        return;
    rans12_planner_free(encoder->planner);
    free(encoder->selectors);
    free(encoder);
}

static void make_codes(struct rans12_encoder *encoder, unsigned t)
{
    const struct rans12_table *table = &encoder->plan.tables[t];
    unsigned escape_start = RANS12_SLOTS - table->escape_frequency, start = 0;

    for (unsigned s = 0; s < 256; s++) {
        struct code *code = &encoder->codes[t][s];
        unsigned frequency = table->frequencies[s];
        bool escaped = frequency == 0;
        code->start = (uint16_t)(escaped ? escape_start : start);
        start += frequency;
        if (escaped)
            frequency = table->escape_frequency;
        encoder->escaped[t][s] = escaped;
        if (!frequency)
            continue; /* does not occur */
        code->reciprocal = (UINT64_C(1) << RECIPROCAL_BITS) / frequency + 1;
        code->limit = frequency << (32 - RANS12_BITS);
        code->complement = (uint16_t)(RANS12_SLOTS - frequency);
    }
}

size_t rans12_plan(struct rans12_encoder *encoder, const uint8_t *plane, size_t size)
{
    struct rans12_plan *plan = &encoder->plan;

    if (size <= RANS12_PLANE_MIN)
        return SIZE_MAX;
    encoder->plane = plane;
    encoder->size = size;
    rans12_plan_make(encoder->planner, encoder->log2, plane, size, plan, encoder->selectors);
    for (unsigned t = 0; t < 1u << plan->table_bits; t++)
        make_codes(encoder, t);
    size_t section_count = (size + RANS12_SECTION - 1) / RANS12_SECTION;
    return RANS12_HEADER_SIZE + RANS12_MARK_SIZE + RANS12_STATES_SIZE +
           (section_count * plan->table_bits + 7) / 8 + (size_t)(plan->cost / (8 * FRAME_BIT));
}

/* Header, tables and selectors; zeroed before. Returns the size; room was checked. */
static size_t write_front(const struct rans12_encoder *encoder, size_t section_count,
                          uint8_t *packed)
{
    const struct rans12_plan *plan = &encoder->plan;
    size_t offset = RANS12_HEADER_SIZE, position = 0;

    packed[0] = (uint8_t)(plan->table_bits | (plan->marked ? RANS12_SHAPE_MARKED : 0));
    if (plan->marked) {
        packed[offset] = plan->marker;
        put_le24(packed + offset + 1, (uint32_t)plan->literal_count);
        offset += RANS12_MARK_SIZE;
    }
    for (unsigned t = 0; t < 1u << plan->table_bits; t++)
        position = rans12_table_write(&plan->tables[t], plan->marked, packed + offset, position);
    offset += (position + 7) / 8;
    for (size_t k = 0; k < section_count; k++) {
        size_t bit = k * plan->table_bits;
        packed[offset + bit / 8] |= (uint8_t)(encoder->selectors[k] << bit % 8);
    }
    return offset + (section_count * plan->table_bits + 7) / 8;
}

/* Symbol i of the plane, which zeros continue. */
static uint8_t symbol_at(const struct rans12_encoder *encoder, size_t i)
{
    return i < encoder->size ? encoder->plane[i] : 0;
}

static void load_states(const struct rans12_encoder *encoder, size_t tail,
                        uint32_t states[RANS12_LANES])
{
    for (unsigned i = 0; i < RANS12_LANES; i++)
        states[rans12_lane(i)] = RANS12_STATE_MIN | symbol_at(encoder, tail + i) |
                                 (uint32_t)symbol_at(encoder, tail + RANS12_LANES + i) << 8;
}

/* Encode one group, its last lane first, in front of words. Returns where words begin. */
static uint8_t *encode_group(const struct code *codes, const uint8_t *symbols, uint32_t *states,
                             uint8_t *words)
{
    for (unsigned lane = RANS12_LANES; lane-- > 0;) {
        const struct code *code = &codes[symbols[rans12_symbol(lane)]];
        uint32_t x = states[lane];
        put_le16(words - 2, (uint16_t)x);
        uint32_t give = x >= code->limit;
        words -= 2 * give;
        x >>= 16 * give;
        uint32_t quotient = (uint32_t)(x * code->reciprocal >> RECIPROCAL_BITS);
        states[lane] = x + quotient * code->complement + code->start;
    }
    return words;
}

static uint8_t *put_literals(const bool escaped[256], const uint8_t *symbols, uint8_t *literals)
{
    for (unsigned i = RANS12_LANES; i-- > 0;)
        if (escaped[symbols[i]])
            *--literals = symbols[i];
    return literals;
}

int rans12_encode(struct rans12_encoder *encoder, uint8_t *packed, size_t room,
                  size_t *ret_packed_size)
{
    enum { GROUP_WORDS_SIZE = 2 * RANS12_LANES };
    size_t group_count =
        (encoder->size + RANS12_LANES - 1) / RANS12_LANES - RANS12_TAIL / RANS12_LANES;
    size_t section_count = (encoder->size + RANS12_SECTION - 1) / RANS12_SECTION;
    uint32_t states[RANS12_LANES];

    /* front, literals, states; then the words, which come backwards from the end of room */
    size_t front_room = RANS12_HEADER_SIZE + RANS12_MARK_SIZE +
                        RANS12_TABLES_MAX * RANS12_TABLE_SIZE_MAX + section_count / 4 + 1;
    if (room < front_room + encoder->plan.literal_count + RANS12_STATES_SIZE)
        return -ENOSPC;
    memset(packed, 0, front_room);
    size_t offset = write_front(encoder, section_count, packed);
    uint8_t *literals = packed + offset + encoder->plan.literal_count;
    uint8_t *states_at = literals, *words = packed + room;

    load_states(encoder, group_count * RANS12_LANES, states);
    for (size_t group = group_count; group-- > 0;) {
        if ((size_t)(words - states_at) < RANS12_STATES_SIZE + GROUP_WORDS_SIZE + 2)
            return -ENOSPC;
        const uint8_t *symbols = encoder->plane + group * RANS12_LANES;
        unsigned table = encoder->selectors[group / RANS12_SECTION_GROUPS];
        words = encode_group(encoder->codes[table], symbols, states, words);
        if (encoder->plan.marked)
            literals = put_literals(encoder->escaped[table], symbols, literals);
    }
    for (unsigned lane = 0; lane < RANS12_LANES; lane++)
        put_le32(states_at + 4 * lane, states[lane]);
    size_t words_size = (size_t)(packed + room - words);
    memmove(states_at + RANS12_STATES_SIZE, words, words_size);
    *ret_packed_size = offset + encoder->plan.literal_count + RANS12_STATES_SIZE + words_size;
    return 0;
}
