/* transform_bf16.c - bf16 elements: plane 0 the exponents, plane 1 mantissa and sign.
 *
 * With r the element rotated left by one bit, its exponent is r >> 8 and its mantissa and
 * sign are r & 255, so that joining is one rotation. Both planes are in lane order: within
 * a block of 64 elements they stand so that interleaving the bytes of two vector registers
 * in halves puts every element in place, at any vector width.
 */
#include "transform.h"

enum { BLOCK = 64 };

static inline void store(uint8_t *raw, uint8_t exponent, uint8_t rest)
{
    raw[0] = (uint8_t)(rest >> 1 | exponent << 7);
    raw[1] = (uint8_t)(exponent >> 1 | rest << 7);
}

static inline void load(const uint8_t *raw, uint8_t *exponent, uint8_t *rest)
{
    *exponent = (uint8_t)(raw[1] << 1 | raw[0] >> 7);
    *rest = (uint8_t)(raw[0] << 1 | raw[1] >> 7);
}

void transform_bf16_split(const uint8_t *raw, size_t count, uint8_t *const planes[])
{
    uint8_t *restrict exponent = planes[0], *restrict rest = planes[1];
    size_t whole = count / BLOCK * BLOCK;

    for (size_t base = 0; base < whole; base += BLOCK)
        for (unsigned lane = 0; lane < BLOCK; lane++)
            load(raw + 2 * (base + transform_bf16_position(lane)), &exponent[base + lane],
                 &rest[base + lane]);
    for (size_t i = whole; i < count; i++)
        load(raw + 2 * i, &exponent[i], &rest[i]);
}

void transform_bf16_merge(const uint8_t *const planes[], size_t count, uint8_t *restrict raw)
{
    const uint8_t *exponent = planes[0], *rest = planes[1];
    size_t whole = count / BLOCK * BLOCK;

    for (size_t base = 0; base < whole; base += BLOCK)
        for (unsigned lane = 0; lane < BLOCK; lane++)
            store(raw + 2 * (base + transform_bf16_position(lane)), exponent[base + lane],
                  rest[base + lane]);
    for (size_t i = whole; i < count; i++)
        store(raw + 2 * i, exponent[i], rest[i]);
}
