/* rans_encode_scalar.c - the reference encoder, in portable C. */
#include <string.h>

#include "rans_encode_kernel.h"

enum { RECIPROCAL_SHIFT = 24 };

struct divisor {
    uint32_t reciprocal; /* 2^24 / frequency, rounded up: exact for quotients of 16 bits by 8 */
    uint8_t frequency;
    uint8_t start;
};

static void count(const uint8_t *symbols, size_t count, const uint8_t candidates[RANS_CANDIDATES],
                  struct rans_counts *ret)
{
    /* Four counters a symbol, since the same one twice in a row would wait for itself. */
    uint16_t counts[4][256] = {0};
    size_t i = 0;

    for (; i + 4 <= count; i += 4)
        for (unsigned k = 0; k < 4; k++)
            counts[k][symbols[i + k]]++;
    for (; i < count; i++)
        counts[0][symbols[i]]++;
    for (unsigned c = 0; c < RANS_CANDIDATES; c++) {
        uint8_t symbol = candidates[c];
        ret->of[c] = (uint16_t)(counts[0][symbol] + counts[1][symbol] + counts[2][symbol] +
                                counts[3][symbol]);
    }
}

static size_t map(const uint8_t *symbols, size_t count, const uint8_t map[256], uint8_t *entries,
                  uint8_t *escapes)
{
    size_t escape_count = 0;

    for (size_t i = 0; i < count; i++) {
        uint8_t symbol = symbols[i], entry = map[symbol];
        entries[i] = entry;
        escapes[escape_count] = symbol;
        escape_count += entry == 0;
    }
    return escape_count;
}

static void prepare(const struct rans_table *table, struct divisor ret[RANS_ENTRIES_MAX])
{
    memset(ret, 0, RANS_ENTRIES_MAX * sizeof *ret);
    for (unsigned i = 0; i < table->entry_count; i++) {
        uint32_t f = table->frequency[i];
        ret[i].reciprocal = ((1u << RECIPROCAL_SHIFT) + f - 1) / f;
        ret[i].frequency = table->frequency[i];
        ret[i].start = table->start[i];
    }
}

/* Encode the 64 symbols of one stream in one group, the last lane first. */
static void encode_block(struct rans_encode_job *job, unsigned v, const struct divisor *divisors,
                         const uint8_t *entries)
{
    uint8_t *low = job->low + v * RANS_LANES, *high = job->high + v * RANS_LANES;
    uint8_t *stream = job->stream[v];

    for (unsigned lane = RANS_LANES; lane-- > 0;) {
        const struct divisor *d = &divisors[entries[lane]];
        uint32_t x = (uint32_t)high[lane] << 8 | low[lane];
        uint32_t emit = (d->frequency - 1u - high[lane]) >> 31; /* high >= frequency */
        stream[-1] = (uint8_t)x;
        stream -= emit;
        x >>= emit << 3;
        uint32_t quotient = (uint32_t)((uint64_t)x * d->reciprocal >> RECIPROCAL_SHIFT);
        low[lane] = (uint8_t)(x - quotient * d->frequency + d->start);
        high[lane] = (uint8_t)quotient;
    }
    job->stream[v] = stream;
}

static void run(struct rans_encode_job *job)
{
    struct divisor divisors[RANS_TABLES_MAX][RANS_ENTRIES_MAX];
    size_t group = (size_t)job->stream_count * RANS_LANES;
    unsigned prepared = 0;

    for (size_t i = job->size; i > 0;) {
        i -= group;
        unsigned t = job->selectors[i / RANS_SECTION];
        if (!(prepared >> t & 1)) {
            prepare(&job->tables[t], divisors[t]);
            prepared |= 1u << t;
        }
        for (unsigned v = job->stream_count; v-- > 0;)
            encode_block(job, v, divisors[t], job->entries + i + v * RANS_LANES);
    }
}

const struct rans_encode_kernel rans_encode_scalar = {
    .count = count,
    .map = map,
    .run = run,
};
