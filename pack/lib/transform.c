/* transform.c - the registry of transform.h. */
#include "transform.h"

#include "format.h"

static const struct transform transforms[] = {
    {
        .name = "none",
        .id = FRAME_TRANSFORM_NONE,
        .element_size = 1,
        .plane_count = 1,
        .plane_bits = { 8 },
    },
    {
        .name = "bytes2",
        .id = FRAME_TRANSFORM_BYTES2,
        .element_size = 2,
        .plane_count = 2,
        .plane_bits = { 8, 8 },
        .split = transform_bytes2_split,
        .merge = transform_bytes2_merge,
    },
    {
        .name = "bf16",
        .id = FRAME_TRANSFORM_BF16,
        .element_size = 2,
        .plane_count = 2,
        .plane_bits = { 8, 8 },
        .split = transform_bf16_split,
        .merge = transform_bf16_merge,
    },
    {
        .name = "fp32",
        .features = TRUNK_FEATURE_WIDE,
        .id = FRAME_TRANSFORM_FP32,
        .element_size = 4,
        .plane_count = 4,
        .plane_bits = { 8, 8, 8, 8 },
        .split = transform_fp32_split,
        .merge = transform_fp32_merge,
    },
    {
        .name = "bf16_joint",
        .features = TRUNK_FEATURE_SMALL,
        .id = FRAME_TRANSFORM_BF16_JOINT,
        .element_size = 2,
        .plane_count = 3,
        .plane_bits = { 8, 8, 8 },
        .split = transform_bf16_joint_split,
        .merge = transform_bf16_joint_merge,
    },
};

const struct transform *transform_get(uint8_t id)
{
    for (size_t i = 0; i < sizeof transforms / sizeof transforms[0]; i++)
        if (transforms[i].id == id)
            return &transforms[i];
    return NULL;
}
