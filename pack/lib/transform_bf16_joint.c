/* transform_bf16_joint.c - bf16 elements for the smallest size: plane 1 holds the lower six
 * bits of the exponent and the upper two of the mantissa, which depend on each other, so that
 * one byte coder takes both; plane 0 the other two bits of the exponent, which are constant
 * where all magnitudes lie between 2^-63 and 2; plane 2 mantissa and sign, which are noise. */
#include "bytes.h"
#include "transform.h"

void transform_bf16_joint_split(const uint8_t *raw, size_t count, uint8_t *const planes[])
{
    uint8_t *restrict top = planes[0], *restrict joint = planes[1], *restrict rest = planes[2];

    for (size_t i = 0; i < count; i++) {
        uint16_t w = get_le16(raw + 2 * i);
        top[i] = w >> 13 & 3;
        joint[i] = (uint8_t)(w >> 5);
        rest[i] = (uint8_t)((w << 1 & 63) | w >> 15);
    }
}

void transform_bf16_joint_merge(const uint8_t *const planes[], size_t count,
                                uint8_t *restrict raw)
{
    const uint8_t *top = planes[0], *joint = planes[1], *rest = planes[2];

    for (size_t i = 0; i < count; i++) {
        uint16_t w = (uint16_t)((top[i] & 3) << 13 | joint[i] << 5 | (rest[i] >> 1 & 31));
        put_le16(raw + 2 * i, (uint16_t)(w | rest[i] << 15));
    }
}
