/* transform_fp32.c - fp32 elements: plane 0 the exponents, plane 1 the upper mantissa bits and
 * the sign, as of bf16 (transform_bf16.c), planes 2 and 3 the other bytes of the mantissa,
 * which are zero where the elements once were bf16. */
#include "bytes.h"
#include "transform.h"

void transform_fp32_split(const uint8_t *raw, size_t count, uint8_t *const planes[])
{
    uint8_t *restrict exponent = planes[0], *restrict rest = planes[1];
    uint8_t *restrict middle = planes[2], *restrict low = planes[3];

    for (size_t i = 0; i < count; i++) {
        uint32_t w = get_le32(raw + 4 * i);
        exponent[i] = (uint8_t)(w >> 23);
        rest[i] = (uint8_t)((w >> 15 & 0xfe) | w >> 31);
        middle[i] = (uint8_t)(w >> 8);
        low[i] = (uint8_t)w;
    }
}

void transform_fp32_merge(const uint8_t *const planes[], size_t count, uint8_t *restrict raw)
{
    const uint8_t *exponent = planes[0], *rest = planes[1];
    const uint8_t *middle = planes[2], *low = planes[3];

    for (size_t i = 0; i < count; i++) {
        uint32_t w = (uint32_t)exponent[i] << 23 | (uint32_t)(rest[i] >> 1) << 16 |
                     (uint32_t)middle[i] << 8 | low[i];
        put_le32(raw + 4 * i, w | (uint32_t)rest[i] << 31);
    }
}
