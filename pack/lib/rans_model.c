/* rans_model.c - see rans_model.h.
 *
 * Rows of a matrix differ in scale, so sections are put into four classes by their mean
 * symbol (for exponents, the scale), each with a table; neighbouring classes are merged to
 * two and to one, and what costs least is taken. Then each section goes to the table that
 * suits it best, and the tables follow.
 */
#include "rans_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rans_table_fit.h"

enum {
    SAMPLE_RUN = 32, /* of each section, so many symbols are looked at for candidates */
    CLASSES = RANS_TABLES_MAX,
    MEAN_SCALE = 64, /* means fit 16 bits */
    REFINEMENTS = 1,
};

static size_t section_count(size_t size)
{
    return (size + RANS_SECTION - 1) / RANS_SECTION;
}

static size_t section_size(size_t size, size_t section)
{
    size_t left = size - section * RANS_SECTION;
    return left < RANS_SECTION ? left : RANS_SECTION;
}

int rans_model_init(struct rans_model *model, size_t max_size, const struct frame_log2 *log2)
{
    size_t sections = section_count(max_size);

    memset(model, 0, sizeof *model);
    model->log2 = log2;
    model->selectors = malloc(sections);
    model->counts = malloc(sections * sizeof *model->counts);
    model->means = malloc(sections * sizeof *model->means);
    if (!model->selectors || !model->counts || !model->means) {
        rans_model_fini(model);
        return -ENOMEM;
    }
    return 0;
}

void rans_model_fini(struct rans_model *model)
{
    free(model->selectors);
    free(model->counts);
    free(model->means);
    memset(model, 0, sizeof *model);
}

/* The most frequent symbols of a sample. Where it has fewer, others fill up: they must differ. */
static void pick_candidates(struct rans_model *model, const uint8_t *plane, size_t size)
{
    uint32_t counts[256] = {0};

    for (size_t i = 0; i < size; i += RANS_SECTION) {
        size_t n = size - i < SAMPLE_RUN ? size - i : SAMPLE_RUN;
        for (size_t k = 0; k < n; k++)
            counts[plane[i + k]]++;
    }
    /* Each count with its symbol below, so that no two are equal, and sorted by insertion. */
    uint32_t best[RANS_CANDIDATES] = {0};
    for (uint32_t symbol = 0; symbol < 256; symbol++) {
        uint32_t key = (counts[symbol] << 8 | symbol) + 1;
        unsigned i = RANS_CANDIDATES - 1;
        if (key <= best[i])
            continue;
        for (; i > 0 && best[i - 1] < key; i--)
            best[i] = best[i - 1];
        best[i] = key;
    }
    for (unsigned c = 0; c < RANS_CANDIDATES; c++)
        model->candidates[c] = (uint8_t)(best[c] - 1);
}

/* Count all sections, and take the mean of what was counted. */
static void count_sections(struct rans_model *model, const struct rans_encode_kernel *kernel,
                           const uint8_t *plane, size_t size)
{
    for (size_t s = 0; s < section_count(size); s++) {
        struct rans_counts *counts = &model->counts[s];
        uint32_t sum = 0, total = 0;
        kernel->count(plane + s * RANS_SECTION, section_size(size, s), model->candidates, counts);
        for (unsigned c = 0; c < RANS_CANDIDATES; c++) {
            total += counts->of[c];
            sum += (uint32_t)counts->of[c] * model->candidates[c];
        }
        model->means[s] = (uint16_t)(total ? sum * MEAN_SCALE / total : 0);
    }
}

/* Integer square root, rounded down. */
static uint32_t root(uint64_t x)
{
    uint64_t r = 0;
    for (uint64_t bit = 1ull << 31; bit; bit >>= 1)
        if ((r + bit) * (r + bit) <= x)
            r += bit;
    return (uint32_t)r;
}

/* Four classes, parted at the mean of the means and at 3/4 of their deviation to both sides. */
static void classify(const uint16_t *means, size_t sections, uint8_t *ret_classes)
{
    uint64_t sum = 0, squares = 0;
    for (size_t i = 0; i < sections; i++)
        sum += means[i];
    int64_t mean = (int64_t)(sum / sections);
    for (size_t i = 0; i < sections; i++)
        squares += (uint64_t)((means[i] - mean) * (means[i] - mean));
    int64_t part = root(squares / sections) * 3ll / 4;
    for (size_t i = 0; i < sections; i++)
        ret_classes[i] =
            (uint8_t)((means[i] > mean - part) + (means[i] > mean) + (means[i] > mean + part));
}

/* Sum the counts of the sections of each class. */
static void sum_classes(const struct rans_model *model, size_t size, struct rans_sums ret[CLASSES])
{
    memset(ret, 0, CLASSES * sizeof *ret);
    for (size_t s = 0; s < section_count(size); s++) {
        struct rans_sums *sums = &ret[model->selectors[s]];
        for (unsigned c = 0; c < RANS_CANDIDATES; c++)
            sums->of[c] += model->counts[s].of[c];
        sums->total += (uint32_t)section_size(size, s);
    }
}

/* Fit a table to each class. Returns the cost, selectors included, in FRAME_BIT. */
static uint64_t fit_classes(const struct rans_model *model, const struct rans_sums sums[CLASSES],
                            size_t size, unsigned table_count,
                            struct rans_table ret_tables[CLASSES])
{
    uint64_t selector_bits = table_count / 2; /* log2 of 1, 2 and 4 */
    uint64_t cost = section_count(size) * selector_bits * FRAME_BIT;

    for (unsigned t = 0; t < table_count; t++)
        cost += rans_table_fit(model->log2, model->candidates, &sums[t], &ret_tables[t]);
    return cost;
}

static void merge_neighbours(struct rans_sums sums[CLASSES], unsigned table_count)
{
    for (unsigned t = 0; t < table_count; t++) {
        struct rans_sums merged = sums[2 * t];
        for (unsigned c = 0; c < RANS_CANDIDATES; c++)
            merged.of[c] += sums[2 * t + 1].of[c];
        merged.total += sums[2 * t + 1].total;
        sums[t] = merged;
    }
}

/* Each section to the table that is cheapest for it. */
static void reassign(struct rans_model *model, size_t size)
{
    struct rans_prices prices[CLASSES];

    for (unsigned t = 0; t < model->table_count; t++) {
        rans_table_price(model->log2, model->candidates, &model->table[t], &prices[t]);
        for (unsigned c = 0; c < RANS_CANDIDATES; c++)
            prices[t].of[c] = (int16_t)(prices[t].of[c] - prices[t].escape);
    }
    for (size_t s = 0; s < section_count(size); s++) {
        const uint16_t *counts = model->counts[s].of;
        int32_t best = INT32_MAX;
        for (unsigned t = 0; t < model->table_count; t++) {
            int32_t cost = (int32_t)section_size(size, s) * prices[t].escape;
            for (unsigned c = 0; c < RANS_CANDIDATES; c++)
                cost += (int16_t)counts[c] * prices[t].of[c];
            if (cost < best) {
                best = cost;
                model->selectors[s] = (uint8_t)t;
            }
        }
    }
}

/* One table, or two, or four? Leaves the best in the model; returns its cost. */
static uint64_t choose_count(struct rans_model *model, size_t size)
{
    struct rans_sums sums[CLASSES];
    struct rans_table tables[CLASSES];
    uint64_t best = UINT64_MAX;

    classify(model->means, section_count(size), model->selectors);
    sum_classes(model, size, sums);
    for (unsigned table_count = CLASSES; table_count > 0; table_count /= 2) {
        uint64_t cost = fit_classes(model, sums, size, table_count, tables);
        if (cost <= best) {
            best = cost;
            model->table_count = table_count;
            memcpy(model->table, tables, sizeof tables);
        }
        merge_neighbours(sums, table_count / 2);
    }
    for (size_t s = 0; s < section_count(size); s++)
        model->selectors[s] = (uint8_t)(model->selectors[s] / (CLASSES / model->table_count));
    return best;
}

void rans_model_choose(struct rans_model *model, const struct rans_encode_kernel *kernel,
                       const uint8_t *plane, size_t size)
{
    struct rans_sums sums[CLASSES];

    pick_candidates(model, plane, size);
    count_sections(model, kernel, plane, size);
    uint64_t cost = choose_count(model, size);
    for (unsigned i = 0; i < REFINEMENTS && model->table_count > 1; i++) {
        reassign(model, size);
        sum_classes(model, size, sums);
        cost = fit_classes(model, sums, size, model->table_count, model->table);
    }
    model->packed_size = (size_t)(cost / (8 * FRAME_BIT));
}
