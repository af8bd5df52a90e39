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

#include "element_kernel.h"
#include "rans12_table.h"

enum {
    ROUNDS = 3,
    KIND_COUNT = 3,                 /* of magnitude */
    PART_STEP = 4,                  /* of the sections that choose among them, */
    FEW_SECTIONS = 32,              /* unless they are so few */
    COST_BIT = 1 << 10,             /* one bit, in the unit of section costs */
    COST_ABSENT = 18 * COST_BIT,    /* an escape and a literal */
    TABLE_COST = 8 * 64 * COST_BIT, /* a further table must save so much */
};

struct rans12_planner {
    uint16_t (*counts)[256]; /* of each section */
    uint32_t *scores;        /* of each section: the sum of its magnitudes */
    uint8_t *selectors;      /* a trial */
    uint32_t class_counts[RANS12_TABLES_MAX][256];
    int16_t costs[RANS12_TABLES_MAX][256];
    int32_t (*dot)(const uint16_t counts[256], const int16_t weights[256]);
};

/* The sections that a step looks at: all, or every one in some. */
struct range {
    size_t count;
    size_t step;
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
    planner->scores = calloc(section_count, sizeof planner->scores[0]);
    planner->selectors = malloc(section_count);
    if (!planner->counts || !planner->scores || !planner->selectors) {
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
    free(planner->scores);
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

static void add_section(struct rans12_planner *planner, size_t section, unsigned class)
{
    uint32_t *restrict sum = planner->class_counts[class];
    const uint16_t *restrict counts = planner->counts[section];
    for (unsigned s = 0; s < 256; s++)
        sum[s] += counts[s];
}

static void remove_section(struct rans12_planner *planner, size_t section, unsigned class)
{
    uint32_t *restrict sum = planner->class_counts[class];
    const uint16_t *restrict counts = planner->counts[section];
    for (unsigned s = 0; s < 256; s++)
        sum[s] -= counts[s];
}

/* Class counts follow selectors; few sections change their class once classes have formed. */
static void move_section(struct rans12_planner *planner, uint8_t *selectors, size_t section,
                         unsigned class)
{
    if (selectors[section] == class)
        return;
    remove_section(planner, section, selectors[section]);
    add_section(planner, section, class);
    selectors[section] = (uint8_t) class;
}

static void count_classes(struct rans12_planner *planner, struct range range,
                          const uint8_t *selectors)
{
    memset(planner->class_counts, 0, sizeof planner->class_counts);
    for (size_t k = 0; k < range.count; k += range.step)
        add_section(planner, k, selectors[k]);
}

/* The cost of all symbols of a class by its own counts, and to costs that of each of them, in
 * COST_BIT. */
static uint64_t price(const uint32_t counts[256], const struct frame_log2 *log2, int16_t costs[256])
{
    uint32_t total = 0;
    uint64_t sum = 0;

    for (unsigned s = 0; s < 256; s++)
        total += counts[s];
    uint32_t whole = total ? rans12_log2(log2, total) : 0;
    for (unsigned s = 0; s < 256; s++) {
        uint32_t bits = counts[s] ? whole - rans12_log2(log2, counts[s]) : UINT32_MAX;
        bits /= FRAME_BIT / COST_BIT;
        costs[s] = (int16_t)(bits < COST_ABSENT ? bits : COST_ABSENT);
        sum += (uint64_t)counts[s] * (uint64_t)costs[s];
    }
    return sum;
}

/* Give each section the class that is cheapest for it, a few times. Returns the cost of all. */
static uint64_t refine(struct rans12_planner *planner, const struct frame_log2 *log2,
                       struct range range, unsigned class_count, unsigned rounds,
                       uint8_t *selectors)
{
    uint64_t sum = 0;

    for (; rounds > 0; rounds--) {
        for (unsigned c = 0; c < class_count; c++)
            (void)price(planner->class_counts[c], log2, planner->costs[c]);
        sum = 0;
        for (size_t k = 0; k < range.count; k += range.step) {
            int32_t best = INT32_MAX;
            unsigned best_class = 0;
            for (unsigned c = 0; c < class_count; c++) {
                int32_t cost = planner->dot(planner->counts[k], planner->costs[c]);
                if (cost < best) {
                    best = cost;
                    best_class = c;
                }
            }
            move_section(planner, selectors, k, best_class);
            sum += (uint64_t)best;
        }
    }
    return sum;
}

/* The magnitude of a symbol if it is: sign and magnitude; two's complement; two nibbles of
 * sign and magnitude. */
static unsigned magnitude(unsigned symbol, unsigned kind)
{
    switch (kind) {
    case 0:
        return symbol & 127;
    case 1:
        return symbol < 128 ? symbol : 256 - symbol;
    default:
        return (symbol & 7) + (symbol >> 4 & 7);
    }
}

static void score_sections(struct rans12_planner *planner, struct range range, unsigned kind)
{
    int16_t weights[256];

    for (unsigned s = 0; s < 256; s++)
        weights[s] = (int16_t)magnitude(s, kind);
    for (size_t k = 0; k < range.count; k += range.step)
        planner->scores[k] = (uint32_t)planner->dot(planner->counts[k], weights);
}

/* Split each of class_count classes in two, by whether a section's score is above the mean of
 * its class. The new classes are numbered from class_count on. */
static void split(struct rans12_planner *planner, struct range range, unsigned class_count,
                  uint8_t *selectors)
{
    uint64_t sums[RANS12_TABLES_MAX] = {0}, sizes[RANS12_TABLES_MAX] = {0};

    for (size_t k = 0; k < range.count; k += range.step) {
        sums[selectors[k]] += planner->scores[k];
        sizes[selectors[k]]++;
    }
    for (size_t k = 0; k < range.count; k += range.step) {
        unsigned class = selectors[k];
        if (planner->scores[k] * sizes[class] > sums[class])
            move_section(planner, selectors, k, class + class_count);
    }
}

/* The kind of magnitude that divides sections best, by a part of them. */
static unsigned choose_kind(struct rans12_planner *planner, const struct frame_log2 *log2,
                            size_t section_count)
{
    struct range range = {section_count, section_count < FEW_SECTIONS ? 1 : PART_STEP};
    uint8_t *selectors = planner->selectors;
    uint64_t best = UINT64_MAX;
    unsigned chosen = 0;

    for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
        memset(selectors, 0, section_count);
        count_classes(planner, range, selectors);
        score_sections(planner, range, kind);
        split(planner, range, 1, selectors);
        uint64_t cost = refine(planner, log2, range, 2, 1, selectors);
        if (cost < best) {
            best = cost;
            chosen = kind;
        }
    }
    return chosen;
}

/* Divide sections among as many tables as pay; returns log2 of their number. */
static unsigned classify(struct rans12_planner *planner, const struct frame_log2 *log2,
                         size_t section_count, uint8_t *selectors)
{
    const struct range all = {section_count, 1};
    uint8_t *trial = planner->selectors;
    unsigned table_bits = 0;

    unsigned kind = choose_kind(planner, log2, section_count);
    score_sections(planner, all, kind);
    memset(trial, 0, section_count);
    memset(selectors, 0, section_count);
    count_classes(planner, all, trial);
    uint64_t cost = price(planner->class_counts[0], log2, planner->costs[0]);
    for (unsigned bits = 1; 1u << bits <= RANS12_TABLES_MAX; bits++) {
        split(planner, all, 1u << (bits - 1), trial);
        uint64_t trial_cost = refine(planner, log2, all, 1u << bits, ROUNDS, trial);
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

    planner->dot = element_kernel_get()->dot;
    memset(selectors, 0, section_count);
    size_t coded_size = padded_size - RANS12_TAIL;
    count_sections(planner, plane, coded_size);
    size_t counted = section_count_of(coded_size);
    ret->table_bits = counted ? classify(planner, log2, counted, selectors) : 0;
    count_classes(planner, (struct range){counted, 1}, selectors);
    fit(planner, log2, choose_marker(planner, 1u << ret->table_bits), ret);
    uint64_t marked_cost = ret->cost;
    fit(planner, log2, RANS12_NO_MARKER, ret);
    if (marked_cost < ret->cost)
        fit(planner, log2, choose_marker(planner, 1u << ret->table_bits), ret);
}
