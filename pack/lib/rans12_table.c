/* rans12_table.c - see rans12_table.h. */
#include "rans12_table.h"

#include <assert.h>
#include <string.h>

/* What a present byte is taken to cost in the description of a table. */
enum { LEVEL_COST = 3 * FRAME_BIT };

/* Weights are this many times the frequencies aimed at, so that small ones are exact. */
enum { WEIGHT_SCALE = 4 };

enum { ABSENT_RUN_AFTER = 2, ABSENT_RUN_MAX = 255 };

enum { RICE_TRIED = 5 }; /* larger ones are never the best for levels */

/* Signs: none; fp8; of two nibbles; of the rest of a rotated bf16. */
static const uint8_t mirrors[] = {0, 0x80, 0x88, 0x01};

uint32_t rans12_log2(const struct frame_log2 *log2, uint32_t value)
{
    unsigned shift = 0;
    while (value >> shift >= FRAME_LOG2_ENTRIES)
        shift++;
    return log2->of[value >> shift] + shift * FRAME_BIT;
}

static void fold(const uint32_t counts[256], unsigned mirror, uint32_t folded[256])
{
    memset(folded, 0, 256 * sizeof folded[0]);
    for (unsigned s = 0; s < 256; s++)
        folded[s & ~mirror] += counts[s];
}

static uint8_t choose_mirror(const struct frame_log2 *log2, const uint32_t counts[256])
{
    uint32_t folded[256];
    uint64_t best = UINT64_MAX;
    uint8_t chosen = 0;

    for (unsigned k = 0; k < sizeof mirrors; k++) {
        uint64_t cost = 0, total = 0;
        fold(counts, mirrors[k], folded);
        for (unsigned s = 0; s < 256; s++) {
            if (!folded[s])
                continue;
            total += folded[s];
            cost += LEVEL_COST - (uint64_t)folded[s] * rans12_log2(log2, folded[s]);
        }
        cost += total * (uint64_t)__builtin_popcount(mirrors[k]) * FRAME_BIT;
        cost += total * rans12_log2(log2, (uint32_t)total);
        if (cost < best) {
            best = cost;
            chosen = mirrors[k];
        }
    }
    return chosen;
}

/* The level whose weight is nearest to weight. */
static uint8_t level_of(uint32_t weight)
{
    if (weight < 8)
        return (uint8_t)(weight + 1);
    unsigned exponent = 28 - (unsigned)__builtin_clz(weight);
    uint32_t mantissa = (weight + (1u << exponent >> 1)) >> exponent;
    unsigned level = 8 * exponent + mantissa + 1;
    return (uint8_t)(level < RANS12_LEVEL_MAX ? level : RANS12_LEVEL_MAX);
}

/* A table needs two bytes, one of them with weight. */
static void ensure_two(struct rans12_table *table, unsigned marker)
{
    unsigned used = 0;
    for (unsigned s = 0; s < 256; s++)
        used += table->levels[s] != 0;
    for (unsigned s = 0; s < 256 && used < 2; s = rans12_next(s, table->mirror)) {
        bool is_marker = s == (marker & ~(unsigned)table->mirror);
        if (table->levels[s] || is_marker)
            continue;
        table->levels[s] = 1;
        used++;
    }
    for (unsigned s = 0; s < 256; s++)
        if (table->levels[s] > 1)
            return;
    for (unsigned s = 0; s < 256; s++)
        table->levels[s] += table->levels[s] == 1;
}

uint32_t rans12_table_fit(const struct frame_log2 *log2, const uint32_t counts[256],
                          unsigned marker, struct rans12_table *ret)
{
    uint32_t folded[256], total = 0, escaped = 0;

    memset(ret, 0, sizeof *ret);
    ret->mirror = choose_mirror(log2, counts);
    fold(counts, ret->mirror, folded);
    unsigned mirror_bits = (unsigned)__builtin_popcount(ret->mirror);
    for (unsigned s = 0; s < 256; s++)
        total += folded[s];
    /* A byte alone in its slots pays for them; below a quarter of what they are made for, an
     * escape and a literal are cheaper. */
    uint32_t rare = total >> (RANS12_BITS + 2 - mirror_bits);
    for (unsigned s = 0; s < 256 && marker != RANS12_NO_MARKER; s++) {
        if (folded[s] > rare && s != (marker & ~(unsigned)ret->mirror))
            continue;
        escaped += folded[s];
        folded[s] = 0;
    }

    uint32_t present = total - escaped, slots = RANS12_SLOTS >> mirror_bits;
    if (escaped) {
        uint32_t units = (uint32_t)(((uint64_t)escaped * slots + total / 2) / total);
        ret->escape_units = (uint8_t)(units < 1 ? 1 : units > 255 ? 255 : units);
        slots -= ret->escape_units;
    }
    for (unsigned s = 0; s < 256; s++) {
        if (!folded[s])
            continue;
        uint32_t aim = (uint32_t)((uint64_t)folded[s] * slots * WEIGHT_SCALE / present);
        ret->levels[s] = level_of(aim > WEIGHT_SCALE ? aim - WEIGHT_SCALE : 0);
    }
    ensure_two(ret, marker);
    bool built = rans12_table_build(ret);
    assert(built);
    (void)built;
    escaped = 0;
    for (unsigned s = 0; s < 256; s++)
        escaped += ret->frequencies[s] ? 0 : counts[s];
    return escaped;
}

static size_t put_bits(uint8_t *bytes, size_t position, unsigned value, unsigned count)
{
    for (unsigned i = 0; bytes && i < count; i++)
        bytes[(position + i) / 8] |= (uint8_t)((value >> i & 1) << (position + i) % 8);
    return position + count;
}

static size_t put_rice(uint8_t *bytes, size_t position, unsigned value, unsigned rice)
{
    unsigned unary = value >> rice;
    if (unary >= RANS12_RICE_UNARY_MAX) {
        position =
            put_bits(bytes, position, (1u << RANS12_RICE_UNARY_MAX) - 1, RANS12_RICE_UNARY_MAX);
        return put_bits(bytes, position, value, 8);
    }
    position = put_bits(bytes, position, (1u << unary) - 1, unary + 1);
    return put_bits(bytes, position, value & ((1u << rice) - 1), rice);
}

static unsigned absent_run(const struct rans12_table *table, unsigned s)
{
    unsigned run = 0;
    while (s < 256 && !table->levels[s] && run < ABSENT_RUN_MAX) {
        run++;
        s = rans12_next(s, table->mirror);
    }
    return run;
}

static size_t put_levels(const struct rans12_table *table, unsigned rice, uint8_t *bytes,
                         size_t position)
{
    unsigned zeros = 0;
    int previous = 0;

    position = put_bits(bytes, position, rice, 3);
    for (unsigned s = 0; s < 256; s = rans12_next(s, table->mirror)) {
        int delta = table->levels[s] - previous;
        position =
            put_rice(bytes, position, (unsigned)(delta < 0 ? -2 * delta - 1 : 2 * delta), rice);
        if (table->levels[s]) {
            previous = table->levels[s];
            zeros = 0;
        } else if (++zeros == ABSENT_RUN_AFTER) {
            zeros = 0;
            unsigned run = absent_run(table, rans12_next(s, table->mirror));
            position = put_bits(bytes, position, run, 8);
            for (; run > 0; run--)
                s = rans12_next(s, table->mirror);
        }
    }
    return position;
}

size_t rans12_table_write(const struct rans12_table *table, bool marked, uint8_t *bytes,
                          size_t position)
{
    unsigned best = 0;
    size_t best_end = SIZE_MAX;

    position = put_bits(bytes, position, table->mirror, 8);
    if (marked)
        position = put_bits(bytes, position, table->escape_units, 8);
    for (unsigned rice = 0; rice < RICE_TRIED; rice++) {
        size_t end = put_levels(table, rice, NULL, position);
        if (end < best_end) {
            best = rice;
            best_end = end;
        }
    }
    return put_levels(table, best, bytes, position);
}

uint64_t rans12_table_cost(const struct frame_log2 *log2, const struct rans12_table *table,
                           bool marked, const uint32_t counts[256])
{
    uint64_t cost = rans12_table_write(table, marked, NULL, 0) * (uint64_t)FRAME_BIT;

    for (unsigned s = 0; s < 256; s++) {
        if (!counts[s])
            continue;
        unsigned frequency = table->frequencies[s];
        unsigned literal_bits = 0;
        if (!frequency) {
            frequency = table->escape_frequency;
            literal_bits = 8;
        }
        uint64_t bits = (RANS12_BITS + literal_bits) * FRAME_BIT - rans12_log2(log2, frequency);
        cost += counts[s] * bits;
    }
    return cost;
}
