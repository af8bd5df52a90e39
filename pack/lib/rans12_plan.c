/* rans12_plan.c - see rans12_plan.h.
 *
 * Sections are divided among 1, 2 or 4 tables as k-means does: each goes to the table that
 * codes it in the fewest bits, the tables follow their sections, a few times over. What a
 * start by mean magnitude finds are rows of larger and smaller weights, and scales between
 * weights.
 */
#include "rans12_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rans12_table.h"

enum {
    ROUNDS = 3,
    SCORE_COUNT = 3,
    COST_BIT = 1 << 10,             /* one bit, in the unit of section costs */
    COST_ABSENT = 18 * COST_BIT,    /* an escape and a literal */
    TABLE_COST = 8 * 64 * COST_BIT, /* a further table must save so much */
};

struct rans12_planner {
    uint16_t (*counts)[256]; /* of each section */
    uint8_t *selectors;      /* a trial */
    uint32_t class_counts[RANS12_TABLES_MAX][256];
    int16_t costs[RANS12_TABLES_MAX][256];
};

static size_t section_count_of(size_t plane_size)
{
    return (plane_size + RANS12_SECTION - 1) / RANS12_SECTION;
}

int rans12_planner_new(size_t max_plane_size, struct rans12_planner **ret)
{
    struct rans12_planner *planner = calloc(1, sizeof *planner);
    if (!planner)
        return -ENOMEM;
    size_t section_count = section_count_of(max_plane_size);
    planner->counts = calloc(section_count, sizeof planner->counts[0]);
    planner->selectors = malloc(section_count);
    if (!planner->counts || !planner->selectors) {
        rans12_planner_free(planner);
        return -ENOMEM;
    }
    *ret = planner;
    return 0;
}

void rans12_planner_free(struct rans12_planner *planner)
{
    if (!planner)
        return;
    free(planner->counts);
    free(planner->selectors);
    free(planner);
}

/* Count the symbols of each section, without the tail, which has no table. */
static void count_sections(struct rans12_planner *planner, const uint8_t *plane, size_t coded_size)
{
    for (size_t begin = 0, k = 0; begin < coded_size; begin += RANS12_SECTION, k++) {
        size_t end = begin + RANS12_SECTION < coded_size ? begin + RANS12_SECTION : coded_size;
        uint16_t *counts = planner->counts[k];
        memset(counts, 0, sizeof planner->counts[k]);
        for (size_t i = begin; i < end; i++)
            counts[plane[i]]++;
    }
}

static void count_classes(struct rans12_planner *planner, size_t section_count,
                          const uint8_t *selectors, unsigned class_count)
{
    memset(planner->class_counts, 0, class_count * sizeof planner->class_counts[0]);
    for (size_t k = 0; k < section_count; k++) {
        uint32_t *restrict sum = planner->class_counts[selectors[k]];
        for (unsigned s = 0; s < 256; s++)
            sum[s] += planner->counts[k][s];
    }
}

/* What each symbol costs in each class. */
static void price(struct rans12_planner *planner, const struct frame_log2 *log2,
                  unsigned class_count)
{
    for (unsigned c = 0; c < class_count; c++) {
        uint32_t total = 0;
        for (unsigned s = 0; s < 256; s++)
            total += planner->class_counts[c][s];
        uint32_t whole = total ? rans12_log2(log2, total) : 0;
        for (unsigned s = 0; s < 256; s++) {
            uint32_t count = planner->class_counts[c][s];
            uint32_t bits = count ? whole - rans12_log2(log2, count) : UINT32_MAX;
            bits /= FRAME_BIT / COST_BIT;
            planner->costs[c][s] = (int16_t)(bits < COST_ABSENT ? bits : COST_ABSENT);
        }
    }
}

static int32_t section_cost(const uint16_t *restrict counts, const int16_t *restrict costs)
{
    int32_t sum = 0;
    for (unsigned s = 0; s < 256; s++)
        sum += (int16_t)counts[s] * costs[s];
    return sum;
}

/* Give each section the class that is cheapest for it. Returns the cost of all. */
static uint64_t assign(struct rans12_planner *planner, size_t section_count, uint8_t *selectors,
                       unsigned class_count)
{
    uint64_t sum = 0;

    for (size_t k = 0; k < section_count; k++) {
        int32_t best = INT32_MAX;
        for (unsigned c = 0; c < class_count; c++) {
            int32_t cost = section_cost(planner->counts[k], planner->costs[c]);
            if (cost < best) {
                best = cost;
                selectors[k] = (uint8_t)c;
            }
        }
        sum += (uint64_t)best;
    }
    return sum;
}

static uint64_t refine(struct rans12_planner *planner, const struct frame_log2 *log2,
                       size_t section_count, uint8_t *selectors, unsigned class_count,
                       unsigned rounds)
{
    uint64_t cost = 0;
    for (; rounds > 0; rounds--) {
        count_classes(planner, section_count, selectors, class_count);
        price(planner, log2, class_count);
        cost = assign(planner, section_count, selectors, class_count);
    }
    return cost;
}

/* The magnitude of a symbol if it is: sign and magnitude; two's complement; two nibbles of
 * sign and magnitude. */
static unsigned magnitude(unsigned symbol, unsigned score)
{
    switch (score) {
    case 0:
        return symbol & 127;
    case 1:
        return symbol < 128 ? symbol : 256 - symbol;
    default:
        return (symbol & 7) + (symbol >> 4 & 7);
    }
}

/* Split each of class_count classes in two, by whether a section's mean magnitude is above
 * that of its class. The new classes are numbered from class_count on. */
static void split(struct rans12_planner *planner, size_t section_count, unsigned score,
                  unsigned class_count, uint8_t *selectors)
{
    int16_t weights[256];
    uint64_t sums[RANS12_TABLES_MAX] = {0}, sizes[RANS12_TABLES_MAX] = {0};

    for (unsigned s = 0; s < 256; s++)
        weights[s] = (int16_t)magnitude(s, score);
    for (size_t k = 0; k < section_count; k++) {
        sums[selectors[k]] += (uint64_t)section_cost(planner->counts[k], weights);
        sizes[selectors[k]]++;
    }
    for (size_t k = 0; k < section_count; k++) {
        unsigned c = selectors[k];
        uint64_t sum = (uint64_t)section_cost(planner->counts[k], weights);
        if (sum * sizes[c] > sums[c])
            selectors[k] = (uint8_t)(c + class_count);
    }
}

/* Divide sections among as many tables as pay. */
static unsigned classify(struct rans12_planner *planner, const struct frame_log2 *log2,
                         size_t section_count, uint8_t *selectors)
{
    uint8_t *trial = planner->selectors;
    unsigned best_score = 0, table_bits = 0;
    uint64_t best = UINT64_MAX;

    memset(selectors, 0, section_count);
    uint64_t cost = refine(planner, log2, section_count, selectors, 1, 1);
    for (unsigned score = 0; score < SCORE_COUNT; score++) {
        memset(trial, 0, section_count);
        split(planner, section_count, score, 1, trial);
        uint64_t trial_cost = refine(planner, log2, section_count, trial, 2, 1);
        if (trial_cost < best) {
            best = trial_cost;
            best_score = score;
        }
    }
    memset(trial, 0, section_count);
    for (unsigned bits = 1; 1u << bits <= RANS12_TABLES_MAX; bits++) {
        split(planner, section_count, best_score, 1u << (bits - 1), trial);
        uint64_t trial_cost = refine(planner, log2, section_count, trial, 1u << bits, ROUNDS);
        trial_cost += ((1u << bits) - 1) * (uint64_t)TABLE_COST + section_count * bits * COST_BIT;
        if (trial_cost >= cost)
            break;
        cost = trial_cost;
        table_bits = bits;
        memcpy(selectors, trial, section_count);
    }
    return table_bits;
}

/* The byte that occurs least: the one to stand for an escape. */
static uint8_t choose_marker(const struct rans12_planner *planner, unsigned class_count)
{
    uint32_t best = UINT32_MAX;
    uint8_t marker = 0;

    for (unsigned s = 0; s < 256; s++) {
        uint32_t count = 0;
        for (unsigned c = 0; c < class_count; c++)
            count += planner->class_counts[c][s];
        if (count < best) {
            best = count;
            marker = (uint8_t)s;
        }
    }
    return marker;
}

/* Fit a table to each class, with or without a marker. */
static void fit(struct rans12_planner *planner, const struct frame_log2 *log2, unsigned marker,
                struct rans12_plan *plan)
{
    plan->marked = marker != RANS12_NO_MARKER;
    plan->marker = (uint8_t)marker;
    plan->literal_count = 0;
    plan->cost = 0;
    for (unsigned c = 0; c < 1u << plan->table_bits; c++) {
        struct rans12_table *table = &plan->tables[c];
        const uint32_t *counts = planner->class_counts[c];
        plan->literal_count += rans12_table_fit(log2, counts, marker, table);
        plan->cost += rans12_table_cost(log2, table, plan->marked, counts);
    }
}

void rans12_plan_make(struct rans12_planner *planner, const struct frame_log2 *log2,
                      const uint8_t *plane, size_t plane_size, struct rans12_plan *ret,
                      uint8_t *selectors)
{
    size_t padded_size = (plane_size + RANS12_LANES - 1) / RANS12_LANES * RANS12_LANES;
    size_t section_count = section_count_of(padded_size);

    memset(selectors, 0, section_count);
    size_t coded_size = padded_size - RANS12_TAIL;
    count_sections(planner, plane, coded_size);
    size_t counted = section_count_of(coded_size);
    ret->table_bits = counted ? classify(planner, log2, counted, selectors) : 0;
    count_classes(planner, counted, selectors, 1u << ret->table_bits);
    fit(planner, log2, choose_marker(planner, 1u << ret->table_bits), ret);
    uint64_t marked_cost = ret->cost;
    fit(planner, log2, RANS12_NO_MARKER, ret);
    if (marked_cost < ret->cost)
        fit(planner, log2, choose_marker(planner, 1u << ret->table_bits), ret);
}
