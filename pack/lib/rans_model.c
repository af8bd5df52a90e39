/* rans_model.c - see rans_model.h.
 *
 * Rows of a matrix differ in scale, so sections are put into four classes by their mean
 * symbol (for exponents, the scale), each with a table; neighbouring classes are merged to
 * two and to one, and what costs least is taken. Counts come from a quarter of the plane.
 */
#include "rans_model.h"

#include <stdbool.h>
#include <string.h>

enum {
    SAMPLE_RUN = 64,  /* of every SAMPLE_EVERY bytes, so many are counted */
    SAMPLE_EVERY = 256,
    SAMPLE_SHARE = SAMPLE_EVERY / SAMPLE_RUN,
    CLASSES = RANS_TABLES_MAX,
    DIRECT_MIN = 5, /* fewer direct symbols are not tried, where there are more */
    DIRECT_MAX = RANS_ENTRIES_MAX - 1,
    ESCAPE_BITS = 4 * FRAME_BIT + FRAME_BIT / 8, /* a nibble, and a little for literals */
    TABLE_FIXED_SIZE = 2,
    SUMS_MAX = (1 << 22) / RANS_SECTION,
};

/* The symbols that occur, most frequent first. */
struct ranking {
    uint32_t count[RANS_ENTRIES_MAX];
    uint8_t symbol[RANS_ENTRIES_MAX];
    unsigned used; /* at most DIRECT_MAX are ranked */
    uint32_t total;
};

struct candidate {
    unsigned direct_count;
    uint8_t frequency[RANS_ENTRIES_MAX]; /* by rank; [direct_count] is the escape's */
    uint64_t cost;                       /* in FRAME_BIT, of what was sampled */
};

static void rank(const uint32_t counts[256], struct ranking *ret)
{
    memset(ret, 0, sizeof *ret);
    for (unsigned symbol = 0; symbol < 256; symbol++) {
        uint32_t count = counts[symbol];
        ret->total += count;
        if (!count || (ret->used == DIRECT_MAX && count <= ret->count[DIRECT_MAX - 1]))
            continue;
        unsigned i = ret->used < DIRECT_MAX ? ret->used++ : DIRECT_MAX - 1;
        for (; i > 0 && ret->count[i - 1] < count; i--) {
            ret->count[i] = ret->count[i - 1];
            ret->symbol[i] = ret->symbol[i - 1];
        }
        ret->count[i] = count;
        ret->symbol[i] = (uint8_t)symbol;
    }
}

/* Bring frequencies that sum to sum to RANS_SLOTS, each step where it costs least or gains most. */
static void settle(const struct frame_log2 *log2, const uint32_t *counts, unsigned n, unsigned sum,
                   uint8_t *frequency)
{
    for (; sum < RANS_SLOTS; sum++) {
        unsigned best = 0;
        uint64_t best_gain = 0;
        for (unsigned i = 0; i < n; i++) {
            uint32_t f = frequency[i];
            uint64_t gain = (uint64_t)counts[i] * (log2->of[f + 1] - log2->of[f]);
            if (f < 255 && (gain > best_gain || frequency[best] == 255)) {
                best = i;
                best_gain = gain;
            }
        }
        frequency[best]++;
    }
    for (; sum > RANS_SLOTS; sum--) {
        unsigned best = n;
        uint64_t best_loss = 0;
        for (unsigned i = 0; i < n; i++) {
            uint32_t f = frequency[i];
            if (f < 2)
                continue;
            uint64_t loss = (uint64_t)counts[i] * (log2->of[f] - log2->of[f - 1]);
            if (best == n || loss < best_loss) {
                best = i;
                best_loss = loss;
            }
        }
        frequency[best]--;
    }
}

/* Frequencies and cost when the first direct_count of the ranking are direct. */
static void try_direct(const struct frame_log2 *log2, const struct ranking *ranking,
                       unsigned direct_count, struct candidate *ret)
{
    uint32_t counts[RANS_ENTRIES_MAX];
    uint32_t escaped = ranking->total;
    unsigned n = direct_count + 1, sum = 0;

    for (unsigned i = 0; i < direct_count; i++) {
        counts[i] = ranking->count[i];
        escaped -= counts[i];
    }
    counts[direct_count] = escaped;
    for (unsigned i = 0; i < n; i++) {
        uint64_t f = ((uint64_t)counts[i] * RANS_SLOTS + ranking->total / 2) / ranking->total;
        ret->frequency[i] = (uint8_t)(f < 1 ? 1 : f > 255 ? 255 : f);
        sum += ret->frequency[i];
    }
    settle(log2, counts, n, sum, ret->frequency);

    ret->direct_count = direct_count;
    ret->cost = (uint64_t)escaped * ESCAPE_BITS +
                (TABLE_FIXED_SIZE + direct_count) * 8ull * FRAME_BIT / SAMPLE_SHARE;
    for (unsigned i = 0; i < n; i++)
        ret->cost += (uint64_t)counts[i] * (8 * FRAME_BIT - log2->of[ret->frequency[i]]);
}

/* The best table for counts (at least one is not zero). Returns its cost. */
static uint64_t build(const struct frame_log2 *log2, const uint32_t counts[256],
                      struct rans_table *ret)
{
    struct ranking ranking;
    struct candidate best = { .cost = UINT64_MAX }, next;

    rank(counts, &ranking);
    unsigned first = ranking.used < DIRECT_MIN ? ranking.used : DIRECT_MIN;
    for (unsigned k = first; k <= ranking.used; k++) {
        try_direct(log2, &ranking, k, &next);
        if (next.cost < best.cost)
            best = next;
    }

    uint8_t symbols[RANS_ENTRIES_MAX], frequencies[RANS_ENTRIES_MAX];
    for (unsigned i = 0; i < best.direct_count; i++) {
        unsigned j = i;
        for (; j > 0 && symbols[j - 1] > ranking.symbol[i]; j--) {
            symbols[j] = symbols[j - 1];
            frequencies[j] = frequencies[j - 1];
        }
        symbols[j] = ranking.symbol[i];
        frequencies[j] = best.frequency[i];
    }
    rans_table_arrange(best.direct_count, symbols, frequencies, ret);
    return best.cost;
}

static uint32_t run_size(size_t size, size_t offset)
{
    return (uint32_t)(size - offset < SAMPLE_RUN ? size - offset : SAMPLE_RUN);
}

/* Mean of the sampled symbols of each section, in 1/256. */
static void take_means(const uint8_t *plane, size_t size, uint16_t *ret_means)
{
    for (size_t base = 0; base < size; base += RANS_SECTION) {
        size_t end = size - base < RANS_SECTION ? size : base + RANS_SECTION;
        uint32_t sum = 0, count = 0;
        for (size_t i = base; i < end; i += SAMPLE_EVERY) {
            uint32_t n = run_size(size, i);
            for (uint32_t k = 0; k < n; k++)
                sum += plane[i + k];
            count += n;
        }
        ret_means[base / RANS_SECTION] = (uint16_t)(sum * 256 / count);
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
        ret_classes[i] = (uint8_t)((means[i] > mean - part) + (means[i] > mean) +
                                   (means[i] > mean + part));
}

static void count_classes(const uint8_t *plane, size_t size, const uint8_t *classes,
                          uint32_t ret_counts[CLASSES][256])
{
    /* Two counters a symbol, since the same one twice in a row would wait for itself. */
    uint32_t second[CLASSES][256];

    memset(ret_counts, 0, sizeof second);
    memset(second, 0, sizeof second);
    for (size_t i = 0; i < size; i += SAMPLE_EVERY) {
        uint32_t n = run_size(size, i);
        uint32_t *a = ret_counts[classes[i / RANS_SECTION]];
        uint32_t *b = second[classes[i / RANS_SECTION]];
        for (uint32_t k = 0; k + 1 < n; k += 2) {
            a[plane[i + k]]++;
            b[plane[i + k + 1]]++;
        }
        if (n % 2)
            a[plane[i + n - 1]]++;
    }
    for (unsigned c = 0; c < CLASSES; c++)
        for (unsigned symbol = 0; symbol < 256; symbol++)
            ret_counts[c][symbol] += second[c][symbol];
}

/* Tables for classes merged to table_count neighbours. Returns the cost, selectors included. */
static uint64_t build_merged(const struct frame_log2 *log2, uint32_t counts[CLASSES][256],
                             size_t sections, unsigned table_count,
                             struct rans_table ret_tables[CLASSES])
{
    unsigned merged = CLASSES / table_count;
    unsigned selector_bits = table_count / 2; /* log2 of 1, 2 and 4 */
    uint64_t cost = (uint64_t)sections * selector_bits * FRAME_BIT / SAMPLE_SHARE;

    for (unsigned t = 0; t < table_count; t++) {
        uint32_t sum[256] = { 0 };
        uint32_t total = 0;
        for (unsigned c = t * merged; c < (t + 1) * merged; c++)
            for (unsigned symbol = 0; symbol < 256; symbol++) {
                sum[symbol] += counts[c][symbol];
                total += counts[c][symbol];
            }
        if (!total) /* no section chose it, but the format wants a table */
            sum[0] = 1;
        cost += build(log2, sum, &ret_tables[t]);
    }
    return cost;
}

void rans_model_choose(const struct frame_log2 *log2, const uint8_t *plane, size_t size,
                       uint8_t *selectors, struct rans_model *ret)
{
    size_t sections = (size + RANS_SECTION - 1) / RANS_SECTION;
    uint16_t means[SUMS_MAX];
    uint32_t counts[CLASSES][256];
    struct rans_table tables[CLASSES];
    uint64_t best = UINT64_MAX;

    take_means(plane, size, means);
    classify(means, sections, selectors);
    count_classes(plane, size, selectors, counts);
    for (unsigned table_count = 1; table_count <= CLASSES; table_count *= 2) {
        uint64_t cost = build_merged(log2, counts, sections, table_count, tables);
        if (cost >= best)
            continue;
        best = cost;
        ret->table_count = table_count;
        memcpy(ret->table, tables, sizeof tables);
    }
    for (size_t i = 0; i < sections; i++)
        selectors[i] = (uint8_t)(selectors[i] / (CLASSES / ret->table_count));
    ret->packed_size = (size_t)(best * SAMPLE_SHARE / (8 * FRAME_BIT));
}
