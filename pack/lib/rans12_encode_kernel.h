/* rans12_encode_kernel.h - what the encoders of each instruction set take and give. They encode
 * whole groups and nothing else; all give the same bytes.
 */
#ifndef TRUNK_RANS12_ENCODE_KERNEL_H
#define TRUNK_RANS12_ENCODE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "rans12_format.h"

/* A symbol's place in its table. Division by a frequency f is a multiplication for the portable
 * version: floor(x / f) = x * reciprocal >> 44 for every x below f << 20 (the error of the
 * reciprocal, at most 1, times x stays below 2^44 / f as x < 2^32 and f < 2^12; the product
 * stays below 2^64 for the same reason). */
enum { RANS12_RECIPROCAL_BITS = 44 };
struct rans12_codes {
    uint64_t reciprocal[256];
    uint32_t place[256]; /* frequency, start << 16 */
};

static inline uint32_t rans12_place(unsigned frequency, unsigned start)
{
    return frequency | start << 16;
}

/* Encode the groups of one section at symbols (all of one table), the last one first, and of
 * each the last lane first. Words are put in front of words, where 2 bytes a symbol and 2 more
 * may be overwritten. Returns where they begin. */
uint8_t *rans12_encode_scalar(const struct rans12_codes *codes, const uint8_t *symbols,
                              size_t group_count, uint32_t states[RANS12_LANES], uint8_t *words);
uint8_t *rans12_encode_avx512(const struct rans12_codes *codes, const uint8_t *symbols,
                              size_t group_count, uint32_t states[RANS12_LANES], uint8_t *words);

#endif
