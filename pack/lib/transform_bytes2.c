/* transform_bytes2.c - elements of two bytes: plane 0 the second (high) bytes, which hold
 * sign and exponent of bf16, plane 1 the first (low) ones. */
#include "transform.h"

void transform_bytes2_split(const uint8_t *raw, size_t count, uint8_t *const planes[])
{
    uint8_t *restrict high = planes[0], *restrict low = planes[1];

    for (size_t i = 0; i < count; i++) {
        low[i] = raw[2 * i];
        high[i] = raw[2 * i + 1];
    }
}

void transform_bytes2_merge(const uint8_t *const planes[], size_t count, uint8_t *restrict raw)
{
    const uint8_t *high = planes[0], *low = planes[1];

    for (size_t i = 0; i < count; i++) {
        raw[2 * i] = low[i];
        raw[2 * i + 1] = high[i];
    }
}
