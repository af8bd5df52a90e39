/* plane_coder.c - the registry of plane_coder.h. */
#include "plane_coder.h"

#include "format.h"

static const struct plane_coder coders[] = {
    {.name = "raw", .id = PLANE_CODER_RAW, .decode = plane_raw_decode},
    {.name = "constant", .id = PLANE_CODER_CONSTANT, .decode = plane_constant_decode},
    {
        .name = "zstd",
        .id = PLANE_CODER_ZSTD,
        .features = TRUNK_FEATURE_ZSTD,
        .decode = plane_zstd_decode,
    },
    {
        .name = "rans",
        .id = PLANE_CODER_RANS,
        .features = TRUNK_FEATURE_RANS,
        .decode = plane_rans_decode,
    },
    {
        .name = "rest",
        .id = PLANE_CODER_REST,
        .features = TRUNK_FEATURE_RANS,
        .decode = plane_rest_decode,
    },
    {
        .name = "rans12",
        .id = PLANE_CODER_RANS12,
        .features = TRUNK_FEATURE_WIDE,
        .decode = plane_rans12_decode,
    },
    {
        .name = "bits",
        .id = PLANE_CODER_BITS,
        .features = TRUNK_FEATURE_WIDE,
        .decode = plane_bits_decode,
    },
};

const struct plane_coder *plane_coder_get(uint8_t id)
{
    for (size_t i = 0; i < sizeof coders / sizeof coders[0]; i++)
        if (coders[i].id == id)
            return &coders[i];
    return NULL;
}
