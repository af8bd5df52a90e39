/* transform_fp32.c - fp32 elements: plane 0 the exponents, plane 1 the upper mantissa bits and
 * the sign, as of bf16 (transform_bf16.c), planes 2 and 3 the other bytes of the mantissa,
 * which are zero where the elements once were bf16. The loops are in element_loops.c. */
#include "element_kernel.h"
#include "transform.h"

void transform_fp32_split(const uint8_t *raw, size_t count, uint8_t *const planes[])
{
    element_kernel_get()->fp32_split(raw, count, planes);
}

void transform_fp32_merge(const uint8_t *const planes[], size_t count, uint8_t *raw)
{
    element_kernel_get()->fp32_merge(planes, count, raw);
}
