/* rans_table_fit.c - see rans_table_fit.h. */
#include "rans_table_fit.h"

#include <string.h>

enum {
    DIRECT_MIN = 6, /* fewer direct symbols are not tried, where there are more */
    DIRECT_MAX = RANS_ENTRIES_MAX - 1,
    FREQUENCY_MAX = RANS_SLOTS - 1,
    ESCAPE_BITS = 4 * FRAME_BIT + FRAME_BIT / 8, /* a nibble, and a little for literals */
    TABLE_FIXED_SIZE = 2,
};

/* The symbols that occur, most frequent first. */
struct ranking {
    unsigned used; /* at most DIRECT_MAX are ranked */
    uint32_t total;
    uint32_t count[DIRECT_MAX];
    uint8_t symbol[DIRECT_MAX];
};

/* Frequencies when so many of the ranking are direct; the one behind them is the escape's. */
struct fit {
    unsigned direct_count;
    uint64_t cost; /* in 1 / FRAME_BIT bit */
    uint8_t frequency[RANS_ENTRIES_MAX];
};

static void rank(const uint8_t candidates[RANS_CANDIDATES], const struct rans_sums *sums,
                 struct ranking *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->total = sums->total;
    for (unsigned c = 0; c < RANS_CANDIDATES; c++) {
        uint32_t count = sums->of[c];
        if (!count || (ret->used == DIRECT_MAX && count <= ret->count[DIRECT_MAX - 1]))
            continue;
        unsigned i = ret->used < DIRECT_MAX ? ret->used++ : DIRECT_MAX - 1;
        for (; i > 0 && ret->count[i - 1] < count; i--) {
            ret->count[i] = ret->count[i - 1];
            ret->symbol[i] = ret->symbol[i - 1];
        }
        ret->count[i] = count;
        ret->symbol[i] = candidates[c];
    }
}

/* What changing frequency f of a symbol that occurs count times to f + 1 gains. */
static uint64_t gain(const struct frame_log2 *log2, uint32_t count, uint32_t f)
{
    return (uint64_t)count * (log2->of[f + 1] - log2->of[f]);
}

/* Bring frequencies that sum to sum to RANS_SLOTS, each step where it gains most. */
static void raise(const struct frame_log2 *log2, const uint32_t *counts, unsigned n, unsigned sum,
                  uint8_t *frequency)
{
    for (; sum < RANS_SLOTS; sum++) {
        unsigned best = n;
        for (unsigned i = 0; i < n; i++)
            if (frequency[i] < FREQUENCY_MAX &&
                (best == n ||
                 gain(log2, counts[i], frequency[i]) > gain(log2, counts[best], frequency[best])))
                best = i;
        frequency[best]++;
    }
}

/* Or each step where it costs least. */
static void lower(const struct frame_log2 *log2, const uint32_t *counts, unsigned n, unsigned sum,
                  uint8_t *frequency)
{
    for (; sum > RANS_SLOTS; sum--) {
        unsigned best = n;
        for (unsigned i = 0; i < n; i++)
            if (frequency[i] > 1 &&
                (best == n || gain(log2, counts[i], frequency[i] - 1u) <
                                  gain(log2, counts[best], frequency[best] - 1u)))
                best = i;
        frequency[best]--;
    }
}

static void try_direct(const struct frame_log2 *log2, const struct ranking *ranking,
                       unsigned direct_count, struct fit *ret)
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
        ret->frequency[i] = (uint8_t)(f < 1 ? 1 : f > FREQUENCY_MAX ? FREQUENCY_MAX : f);
        sum += ret->frequency[i];
    }
    raise(log2, counts, n, sum, ret->frequency);
    lower(log2, counts, n, sum, ret->frequency);

    ret->direct_count = direct_count;
    ret->cost =
        (uint64_t)escaped * ESCAPE_BITS + (TABLE_FIXED_SIZE + direct_count) * 8ull * FRAME_BIT;
    for (unsigned i = 0; i < n; i++)
        ret->cost += (uint64_t)counts[i] * (8 * FRAME_BIT - log2->of[ret->frequency[i]]);
}

static void arrange(const struct ranking *ranking, const struct fit *fit, struct rans_table *ret)
{
    uint8_t symbols[DIRECT_MAX], frequencies[DIRECT_MAX];

    for (unsigned i = 0; i < fit->direct_count; i++) {
        unsigned j = i;
        for (; j > 0 && symbols[j - 1] > ranking->symbol[i]; j--) {
            symbols[j] = symbols[j - 1];
            frequencies[j] = frequencies[j - 1];
        }
        symbols[j] = ranking->symbol[i];
        frequencies[j] = fit->frequency[i];
    }
    rans_table_arrange(fit->direct_count, symbols, frequencies, ret);
}

uint64_t rans_table_fit(const struct frame_log2 *log2, const uint8_t candidates[RANS_CANDIDATES],
                        const struct rans_sums *sums, struct rans_table *ret)
{
    struct ranking ranking;
    struct fit best = {.cost = UINT64_MAX}, next;

    rank(candidates, sums, &ranking);
    if (!ranking.used) { /* nothing to go by, but a table has a direct symbol */
        ranking.used = 1;
        ranking.total += !ranking.total;
        ranking.symbol[0] = candidates[0];
    }
    unsigned first = ranking.used < DIRECT_MIN ? ranking.used : DIRECT_MIN;
    for (unsigned k = first; k <= ranking.used; k++) {
        try_direct(log2, &ranking, k, &next);
        if (next.cost < best.cost)
            best = next;
    }
    arrange(&ranking, &best, ret);
    return best.cost;
}

void rans_table_price(const struct frame_log2 *log2, const uint8_t candidates[RANS_CANDIDATES],
                      const struct rans_table *table, struct rans_prices *ret)
{
    const uint32_t unit = FRAME_BIT / RANS_PRICE_BIT;
    uint32_t escape = 8 * FRAME_BIT - log2->of[table->frequency[0]] + ESCAPE_BITS;

    ret->escape = (int16_t)(escape / unit);
    for (unsigned c = 0; c < RANS_CANDIDATES; c++) {
        ret->of[c] = ret->escape;
        for (unsigned i = 1; i < table->entry_count; i++)
            if (table->symbol[i] == candidates[c])
                ret->of[c] = (int16_t)((8 * FRAME_BIT - log2->of[table->frequency[i]]) / unit);
    }
}
