/* rans12_encode.c - see rans12_encode.h. */
#include "rans12_encode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "isa.h"
#include "rans12_encode_kernel.h"
#include "rans12_plan.h"
#include "rans12_table.h"

struct rans12_encoder {
    struct rans12_planner *planner;
    const struct frame_log2 *log2;
    uint8_t *selectors; /* one byte each */
    uint8_t *front;     /* what stands in front of the literals */
    size_t front_room;
    uint8_t *words; /* which come backwards, from its end */
    size_t words_room;
    const uint8_t *plane; /* borrowed from rans12_plan until rans12_encode */
    size_t size;
    struct rans12_plan plan;
    struct rans12_codes codes[RANS12_TABLES_MAX];
    uint8_t escaped[RANS12_TABLES_MAX][256]; /* 1 if a literal */
};

int rans12_encoder_new(size_t max_size, const struct frame_log2 *log2, struct rans12_encoder **ret)
{
    struct rans12_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder)
        return -ENOMEM;
    encoder->log2 = log2;
    size_t section_count = max_size / RANS12_SECTION + 2;
    encoder->selectors = malloc(section_count);
    encoder->front_room = RANS12_HEADER_SIZE + RANS12_MARK_SIZE +
                          RANS12_TABLES_MAX * RANS12_TABLE_SIZE_MAX + section_count;
    encoder->front = malloc(encoder->front_room);
    encoder->words_room = 2 * section_count * RANS12_SECTION; /* a word a symbol, and some */
    encoder->words = malloc(encoder->words_room);
    if (!encoder->selectors || !encoder->front || !encoder->words ||
        rans12_planner_new(max_size + RANS12_LANES, &encoder->planner) < 0) {
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
    free(encoder->front);
    free(encoder->words);
    free(encoder);
}

static void make_codes(struct rans12_encoder *encoder, unsigned t)
{
    const struct rans12_table *table = &encoder->plan.tables[t];
    struct rans12_codes *codes = &encoder->codes[t];
    unsigned escape_start = RANS12_SLOTS - table->escape_frequency, start = 0;

    for (unsigned s = 0; s < 256; s++) {
        unsigned frequency = table->frequencies[s];
        bool escaped = frequency == 0;
        encoder->escaped[t][s] = escaped;
        codes->place[s] = escaped ? rans12_place(table->escape_frequency, escape_start)
                                  : rans12_place(frequency, start);
        start += frequency;
        if (escaped)
            frequency = table->escape_frequency;
        /* Without an escape: it does not occur. */
        codes->reciprocal[s] =
            frequency ? (UINT64_C(1) << RANS12_RECIPROCAL_BITS) / frequency + 1 : 0;
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

/* Header, tables and selectors, to encoder->front. Returns their size. */
static size_t write_front(const struct rans12_encoder *encoder, size_t section_count)
{
    const struct rans12_plan *plan = &encoder->plan;
    size_t offset = RANS12_HEADER_SIZE, position = 0;
    uint8_t *front = encoder->front;

    memset(front, 0, encoder->front_room);
    front[0] = (uint8_t)(plan->table_bits | (plan->marked ? RANS12_SHAPE_MARKED : 0));
    if (plan->marked) {
        front[offset] = plan->marker;
        put_le24(front + offset + 1, (uint32_t)plan->literal_count);
        offset += RANS12_MARK_SIZE;
    }
    for (unsigned t = 0; t < 1u << plan->table_bits; t++)
        position = rans12_table_write(&plan->tables[t], plan->marked, front + offset, position);
    offset += (position + 7) / 8;
    for (size_t k = 0; k < section_count; k++) {
        size_t bit = k * plan->table_bits;
        front[offset + bit / 8] |= (uint8_t)(encoder->selectors[k] << bit % 8);
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

/* Write what tables leave out. One byte behind the last is overwritten too: without a branch,
 * since where literals are cannot be predicted. */
static void put_literals(const struct rans12_encoder *encoder, size_t coded_size, uint8_t *literals)
{
    for (size_t begin = 0; begin < coded_size; begin += RANS12_SECTION) {
        const uint8_t *escaped = encoder->escaped[encoder->selectors[begin / RANS12_SECTION]];
        size_t end = begin + RANS12_SECTION < coded_size ? begin + RANS12_SECTION : coded_size;
        for (size_t i = begin; i < end; i++) {
            *literals = encoder->plane[i];
            literals += escaped[encoder->plane[i]];
        }
    }
}

/* The words of all groups, at the end of encoder->words. Returns where they begin. */
static const uint8_t *encode_sections(const struct rans12_encoder *encoder, size_t group_count,
                                      uint32_t states[RANS12_LANES])
{
    bool vectors = isa_current() == ISA_AVX512;
    size_t section = (group_count + RANS12_SECTION_GROUPS - 1) / RANS12_SECTION_GROUPS;
    uint8_t *words = encoder->words + encoder->words_room;

    while (section-- > 0) {
        size_t first = section * RANS12_SECTION_GROUPS;
        size_t groups = group_count - first;
        const struct rans12_codes *codes = &encoder->codes[encoder->selectors[section]];
        const uint8_t *symbols = encoder->plane + first * RANS12_LANES;
#if defined(__x86_64__)
        words = vectors ? rans12_encode_avx512(codes, symbols, groups, states, words)
                        : rans12_encode_scalar(codes, symbols, groups, states, words);
#else
        (void)vectors;
        words = rans12_encode_scalar(codes, symbols, groups, states, words);
#endif
        group_count = first;
    }
    return words;
}

int rans12_encode(struct rans12_encoder *encoder, uint8_t *packed, size_t room,
                  size_t *ret_packed_size)
{
    size_t group_count =
        (encoder->size + RANS12_LANES - 1) / RANS12_LANES - RANS12_TAIL / RANS12_LANES;
    size_t section_count = (encoder->size + RANS12_SECTION - 1) / RANS12_SECTION;
    size_t literal_count = encoder->plan.literal_count;
    uint32_t states[RANS12_LANES];

    load_states(encoder, group_count * RANS12_LANES, states);
    const uint8_t *words = encode_sections(encoder, group_count, states);
    size_t words_size = (size_t)(encoder->words + encoder->words_room - words);
    size_t front_size = write_front(encoder, section_count);
    size_t size = front_size + literal_count + RANS12_STATES_SIZE + words_size;
    if (size > room)
        return -ENOSPC;

    memcpy(packed, encoder->front, front_size);
    packed += front_size;
    if (literal_count > 0)
        put_literals(encoder, group_count * RANS12_LANES, packed);
    packed += literal_count;
    for (unsigned lane = 0; lane < RANS12_LANES; lane++, packed += 4)
        put_le32(packed, states[lane]);
    memcpy(packed, words, words_size);
    *ret_packed_size = size;
    return 0;
}
