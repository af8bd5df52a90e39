/* rans_decode_scalar.c - the reference decoder, in portable C. */
#include <errno.h>

#include "rans_decode_kernel.h"
#include "transform.h"

enum { START_SHIFT = 8, SYMBOL_SHIFT = 16, ESCAPE_SHIFT = 24 };

/* One word a slot: frequency, slot - start, symbol, and whether it is the escape. */
static void prepare(struct rans_decode_job *job)
{
    for (unsigned t = 0; t < job->table_count; t++) {
        const struct rans_table *table = &job->table[t];
        uint32_t *slot = job->packed[t];
        for (unsigned i = 0; i < table->entry_count; i++)
            for (unsigned k = 0; k < table->frequency[i]; k++)
                *slot++ = table->frequency[i] | k << START_SHIFT |
                          (uint32_t)table->symbol[i] << SYMBOL_SHIFT |
                          (uint32_t)(i == 0) << ESCAPE_SHIFT;
    }
}

/* Decode the 64 symbols of one stream in one group. */
static void decode_block(struct rans_decode_job *job, unsigned v, const uint32_t *slots,
                         uint8_t symbols[RANS_LANES])
{
    uint8_t *low = job->low + v * RANS_LANES, *high = job->high + v * RANS_LANES;
    const uint8_t *stream = job->stream[v];

    for (unsigned lane = 0; lane < RANS_LANES; lane++) {
        uint32_t slot = slots[low[lane]];
        uint32_t x = (slot & 255) * high[lane] + (slot >> START_SHIFT & 255);
        /* Without a branch, which would be mispredicted every few lanes. */
        uint32_t refill = (x - 256) >> 31;
        x = x << (refill << 3) | (*stream & (0 - refill));
        stream += refill;
        low[lane] = (uint8_t)x;
        high[lane] = (uint8_t)(x >> 8);
        uint8_t symbol = (uint8_t)(slot >> SYMBOL_SHIFT);
        if (__builtin_expect(slot >> ESCAPE_SHIFT, 0))
            symbol = *job->escape++;
        symbols[lane] = symbol;
    }
    job->stream[v] = stream;
}

static int run(struct rans_decode_job *job, size_t begin, size_t end)
{
    uint8_t symbols[RANS_LANES];

    for (size_t i = begin; i < end;) {
        if (rans_decode_overrun(job))
            return -EBADMSG;
        const uint32_t *slots = job->packed[job->selectors[i / RANS_SECTION]];
        for (unsigned v = 0; v < job->stream_count; v++, i += RANS_LANES) {
            if (!job->rest) {
                decode_block(job, v, slots, job->out);
                job->out += RANS_LANES;
                continue;
            }
            decode_block(job, v, slots, symbols);
            const uint8_t *planes[] = {symbols, job->rest};
            transform_bf16_merge(planes, RANS_LANES, job->out);
            job->rest += RANS_LANES;
            job->out += 2 * RANS_LANES;
        }
    }
    return 0;
}

const struct rans_decode_kernel rans_decode_scalar = {.prepare = prepare, .run = run};
