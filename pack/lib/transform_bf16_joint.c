/* transform_bf16_joint.c - bf16 elements for the smallest size: plane 1 holds the lower six
 * bits of the exponent and the upper two of the mantissa, which depend on each other, so that
 * one byte coder takes both; plane 0 the other two bits of the exponent, which are constant
 * where all magnitudes lie between 2^-63 and 2; plane 2 mantissa and sign, which are noise.
 * The loops are in element_loops.c. */
#include "element_kernel.h"
#include "transform.h"

void transform_bf16_joint_split(const uint8_t *raw, size_t count, uint8_t *const planes[])
{
    element_kernel_get()->bf16_joint_split(raw, count, planes);
}

void transform_bf16_joint_merge(const uint8_t *const planes[], size_t count, uint8_t *raw)
{
    element_kernel_get()->bf16_joint_merge(planes, count, raw);
}
