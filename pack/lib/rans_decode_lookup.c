/* rans_decode_lookup.c - the tables of the vector decoders (rans_decode_kernel.h). */
#include <string.h>

#include "rans_decode_kernel.h"

enum { BUCKET = 16, BUCKETS = RANS_SLOTS / BUCKET, FIRST_STEP_BUCKETS = 2 };

static void fill_steps(struct rans_lookup *lookup)
{
    const uint8_t *slot = lookup->slot;

    /* The first buckets, where the rare entries crowd, are looked up slot by slot: nothing is
     * to be added for them. */
    for (unsigned b = 0; b < FIRST_STEP_BUCKETS; b++) {
        lookup->base[b] = 0;
        lookup->threshold[b] = 255;
    }
    for (unsigned b = FIRST_STEP_BUCKETS; b < BUCKETS; b++) {
        unsigned first = BUCKET * b, k = 1;
        while (k < BUCKET && slot[first + k] == slot[first])
            k++;
        lookup->base[b] = slot[first];
        lookup->threshold[b] = (uint8_t)(first + k);
        if (k == BUCKET) { /* no boundary: make it the bucket's begin, since 256 is no byte */
            lookup->base[b] = (uint8_t)(slot[first] - 1);
            lookup->threshold[b] = (uint8_t)first;
        }
    }
}

static bool allows_two_steps(const struct rans_table *table)
{
    unsigned boundaries[BUCKETS] = {0};

    for (unsigned i = 1; i < table->entry_count; i++)
        boundaries[table->start[i] / BUCKET]++;
    for (unsigned b = FIRST_STEP_BUCKETS; b < BUCKETS; b++)
        if (boundaries[b] > 1)
            return false;
    return true;
}

void rans_decode_prepare_lookup(struct rans_decode_job *job)
{
    job->two_steps = true;
    for (unsigned t = 0; t < job->table_count; t++) {
        const struct rans_table *table = &job->table[t];
        struct rans_lookup *lookup = &job->lookup[t];
        uint8_t *slot = lookup->slot;
        for (unsigned i = 0; i < table->entry_count; i++) {
            memset(slot, (int)i, table->frequency[i]);
            slot += table->frequency[i];
        }
        memcpy(lookup->frequency, table->frequency, sizeof lookup->frequency);
        memcpy(lookup->start, table->start, sizeof lookup->start);
        memcpy(lookup->symbol, table->symbol, sizeof lookup->symbol);
        fill_steps(lookup);
        job->two_steps &= allows_two_steps(table);
    }
}
