/* rans12_decode_scalar.c - the portable loop of rans12_decode_kernel.h, and the reference. */
#include "bytes.h"
#include "rans12_decode_kernel.h"

/* Is one of the eight bytes zero? */
static inline bool has_zero(uint64_t bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return (bytes - ones) & ~bytes & ones << 7;
}

/* Replace each marker among the symbols of a group by the next literal; few have one. */
static const uint8_t *place_literals(uint8_t *symbols, uint8_t marker, const uint8_t *literals)
{
    const uint64_t markers = marker * UINT64_C(0x0101010101010101);

    for (unsigned i = 0; i < RANS12_LANES; i += 8) {
        if (!has_zero(get_le64(symbols + i) ^ markers))
            continue;
        for (unsigned k = i; k < i + 8; k++)
            if (symbols[k] == marker)
                symbols[k] = *literals++;
    }
    return literals;
}

/* One symbol of each lane. Renormalisation has no branch: whether a lane takes a word
 * cannot be predicted. Returns the next word. */
static const uint8_t *decode_group(uint32_t *states, const rans12_slot *table, uint8_t *out,
                                   const uint8_t *words)
{
    for (unsigned vector = 0; vector < RANS12_VECTORS; vector++) {
        for (unsigned i = 0; i < RANS12_LANES / RANS12_VECTORS; i++) {
            uint32_t x = *states;
            rans12_slot slot = table[x & (RANS12_SLOTS - 1)];
            x = (slot >> 8 & (RANS12_SLOTS - 1)) * (x >> RANS12_BITS) + (slot >> 20);
            uint32_t take = x < RANS12_STATE_MIN;
            *states++ = x << 16 * take | (get_le16(words) & -take);
            words += 2 * take;
            out[RANS12_VECTORS * i + vector] = (uint8_t)slot;
        }
    }
    return words;
}

bool rans12_decode_scalar(struct rans12_job *job)
{
    for (size_t group = 0; group < job->group_count; group++) {
        if (!rans12_may_read(job->words, job->words_end, job->literals, job->literals_end))
            return false;
        uint8_t *out = job->out + group * RANS12_LANES;
        job->words = decode_group(job->states, rans12_section_table(job, group), out, job->words);
        if (job->marked)
            job->literals = place_literals(out, job->marker, job->literals);
    }
    return true;
}
