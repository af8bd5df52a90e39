/* transform_bf16.c - bf16 elements: plane 0 the exponents, plane 1 mantissa and sign.
 *
 * With r the element rotated left by one bit, its exponent is r >> 8 and its mantissa and
 * sign are r & 255, so that joining is one rotation. Both planes are in lane order: within
 * a block of 64 elements they stand so that interleaving the bytes of two vector registers
 * in halves puts every element in place, at any vector width.
 *
 * Written as loops that compilers turn into vector code: a block is eight rows of eight.
 */
#include <endian.h>
#include <string.h>

#include "transform.h"

enum {
    BLOCK = 64,
    ROW = 8,
    ROWS = BLOCK / ROW,
    PREFETCH = 2048, /* bytes; raw data comes from memory, planes stay in the cache */
};

/* First element of the row of eight that is stored as row-th. */
static inline size_t row_position(size_t row)
{
    return row % 2 ? BLOCK / 2 + row / 2 * ROW : row / 2 * ROW;
}

static inline uint16_t load(const uint8_t *raw)
{
    uint16_t word;
    memcpy(&word, raw, sizeof word);
    word = le16toh(word);
    return (uint16_t)(word << 1 | word >> 15);
}

static inline void store(uint8_t *raw, uint8_t exponent, uint8_t rest)
{
    uint16_t word = (uint16_t)(exponent << 8 | rest);
    word = htole16((uint16_t)(word >> 1 | word << 15));
    memcpy(raw, &word, sizeof word);
}

static inline void split_row(const uint8_t *restrict raw, size_t count, uint8_t *restrict exponent,
                             uint8_t *restrict rest)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t word = load(raw + 2 * i);
        exponent[i] = (uint8_t)(word >> 8);
        rest[i] = (uint8_t)word;
    }
}

static inline void merge_row(const uint8_t *restrict exponent, const uint8_t *restrict rest,
                             size_t count, uint8_t *restrict raw)
{
    for (size_t i = 0; i < count; i++)
        store(raw + 2 * i, exponent[i], rest[i]);
}

/* A whole block: in memory order first, which compilers know how to do, then row by row. */
static inline void split_block(const uint8_t *raw, uint8_t *exponent, uint8_t *rest)
{
    uint8_t e[BLOCK], r[BLOCK];

    split_row(raw, BLOCK, e, r);
    for (size_t row = 0; row < ROWS; row++) {
        memcpy(exponent + row * ROW, e + row_position(row), ROW);
        memcpy(rest + row * ROW, r + row_position(row), ROW);
    }
}

void transform_bf16_split(const uint8_t *raw, size_t count, uint8_t *const planes[])
{
    uint8_t *exponent = planes[0], *rest = planes[1];
    size_t whole = count / BLOCK * BLOCK;

    for (size_t i = 0; i < whole; i += BLOCK) {
        __builtin_prefetch(raw + 2 * i + PREFETCH);
        __builtin_prefetch(raw + 2 * i + PREFETCH + 64);
        split_block(raw + 2 * i, exponent + i, rest + i);
    }
    split_row(raw + 2 * whole, count - whole, exponent + whole, rest + whole);
}

static inline void merge_block(const uint8_t *exponent, const uint8_t *rest, uint8_t *raw)
{
    uint8_t e[BLOCK], r[BLOCK];

    for (size_t row = 0; row < ROWS; row++) {
        memcpy(e + row_position(row), exponent + row * ROW, ROW);
        memcpy(r + row_position(row), rest + row * ROW, ROW);
    }
    merge_row(e, r, BLOCK, raw);
}

void transform_bf16_merge(const uint8_t *const planes[], size_t count, uint8_t *raw)
{
    const uint8_t *exponent = planes[0], *rest = planes[1];
    size_t whole = count / BLOCK * BLOCK;

    for (size_t i = 0; i < whole; i += BLOCK)
        merge_block(exponent + i, rest + i, raw + 2 * i);
    merge_row(exponent + whole, rest + whole, count - whole, raw + 2 * whole);
}
