/* rans12_decode_kernel.h - what the decoders of each instruction set take and give.
 *
 * rans12_decode.c parses and checks the layout, makes the tables and calls one of them; they
 * decode whole groups and nothing else. All give the same bytes and the same verdict.
 */
#ifndef TRUNK_RANS12_DECODE_KERNEL_H
#define TRUNK_RANS12_DECODE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rans12_format.h"

/* A slot: symbol, frequency (12 bits), slot - start (12 bits), from the lowest bit up. */
typedef uint32_t rans12_slot;

/* Written by the caller; the kernel moves on literals and words, and replaces states. */
struct rans12_job {
    const rans12_slot *tables; /* RANS12_SLOTS each */
    const uint8_t *selectors;
    unsigned table_bits; /* log2 of the number of tables: bits of a selector */
    size_t group_count;  /* to decode: without the tail */
    uint8_t *out;        /* RANS12_LANES bytes a group */

    bool marked;
    uint8_t marker;
    const uint8_t *literals; /* the next; RANS12_LANES bytes behind the last are readable */
    const uint8_t *literals_end;

    const uint8_t *words; /* the next; FRAME_DECODE_SLACK bytes behind the end are readable */
    const uint8_t *words_end;
    uint32_t states[RANS12_LANES]; /* in: initial; out: final */
};

/* Decode all groups. On return the pointers and states are where decoding ended. False:
 * a pointer went beyond its end (nothing was read beyond the bytes readable). */
bool rans12_decode_scalar(struct rans12_job *job);
bool rans12_decode_avx2(struct rans12_job *job);
bool rans12_decode_avx512(struct rans12_job *job);

/* May the next group be decoded? It reads at most 2 * RANS12_LANES bytes of words and
 * RANS12_LANES literals from here. */
static inline bool rans12_may_read(const uint8_t *words, const uint8_t *words_end,
                                   const uint8_t *literals, const uint8_t *literals_end)
{
    return words <= words_end && literals <= literals_end;
}

static inline const rans12_slot *rans12_section_table(const struct rans12_job *job, size_t group)
{
    size_t bit = group / RANS12_SECTION_GROUPS * job->table_bits;
    unsigned selector = job->selectors[bit / 8] >> bit % 8 & ((1u << job->table_bits) - 1);
    return job->tables + (size_t)selector * RANS12_SLOTS;
}

#endif
