/* transform_bytes2.c - elements of two bytes: plane 0 the second (high) bytes, which hold
 * sign and exponent of bf16, plane 1 the first (low) ones. */
#include "transform.h"

/* The plane of high bytes when splitting and when joining. Test builds exchange the planes
 * on purpose, on one side or on both, and the tests must notice (test/mutation.sh). */
#ifdef TRUNK_MUTATE_PLANES
enum { SPLIT_HIGH = 1, MERGE_HIGH = TRUNK_MUTATE_PLANES > 1 };
#else
enum { SPLIT_HIGH = 0, MERGE_HIGH = 0 };
#endif

void transform_bytes2_split(const uint8_t *raw, size_t count, uint8_t *const planes[])
{
    uint8_t *restrict high = planes[SPLIT_HIGH], *restrict low = planes[1 - SPLIT_HIGH];

    for (size_t i = 0; i < count; i++) {
        low[i] = raw[2 * i];
        high[i] = raw[2 * i + 1];
    }
}

void transform_bytes2_merge(const uint8_t *const planes[], size_t count, uint8_t *restrict raw)
{
    const uint8_t *high = planes[MERGE_HIGH], *low = planes[1 - MERGE_HIGH];

    for (size_t i = 0; i < count; i++) {
        raw[2 * i] = low[i];
        raw[2 * i + 1] = high[i];
    }
}
