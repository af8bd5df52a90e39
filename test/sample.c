#include "sample.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

enum { ROW = 256 }; /* elements that share a scale */

const char *const sample_names[SAMPLE_KINDS_] = {
    [SAMPLE_BF16] = "bf16",     [SAMPLE_F32] = "f32",   [SAMPLE_TEXT] = "text",
    [SAMPLE_RANDOM] = "random", [SAMPLE_ZERO] = "zero",
};

/* splitmix64: any seed will do. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The IEEE bits of value / 2^28 in 32 bits, without floating-point arithmetic. value is
 * within +-2^27, so that a mantissa of 24 bits holds what is kept of it. */
static uint32_t float_bits(int64_t value)
{
    uint32_t sign = value < 0 ? UINT32_C(1) << 31 : 0;
    uint64_t magnitude = (uint64_t)(value < 0 ? -value : value);
    if (magnitude == 0)
        return sign;
    uint32_t top = 63 - (uint32_t)__builtin_clzll(magnitude);
    uint64_t mantissa = top > 23 ? magnitude >> (top - 23) : magnitude << (23 - top);
    return sign | (127 - 28 + top) << 23 | ((uint32_t)mantissa & 0x7fffff);
}

/* A sum of eight uniform numbers: bell-shaped; scaled by the row. */
static uint32_t weight(uint64_t *state, uint64_t element)
{
    uint64_t a = next(state), b = next(state);
    int64_t sum = -(8 * 32768) + 4;
    for (int shift = 0; shift < 64; shift += 16)
        sum += (int64_t)(a >> shift & 0xffff) + (int64_t)(b >> shift & 0xffff);
    uint64_t row = element / ROW;
    return float_bits(sum * (int64_t)(40 + row * 37 % 101));
}

static void fill_weights(uint64_t *state, uint8_t *bytes, size_t size, size_t width)
{
    for (size_t at = 0; at < size; at += width) {
        uint32_t bits = weight(state, at / width) >> (8 * (4 - width));
        uint8_t element[4];
        put_le32(element, bits);
        memcpy(bytes + at, element, size - at < width ? size - at : width);
    }
}

static void fill_text(uint64_t *state, uint8_t *bytes, size_t size)
{
    size_t at = 0;
    while (at < size) {
        char line[80];
        uint64_t value = next(state);
        int length = snprintf(line, sizeof(line), "  \"layer.%u.weight\": [%u, %u],\n",
                              (unsigned)(value % 93), (unsigned)(value >> 20 & 0xfff),
                              (unsigned)(value >> 40 & 0xfff));
        size_t part = size - at < (size_t)length ? size - at : (size_t)length;
        memcpy(bytes + at, line, part);
        at += part;
    }
}

static void fill_random(uint64_t *state, uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += 8) {
        uint8_t word[8];
        put_le64(word, next(state));
        memcpy(bytes + at, word, size - at < 8 ? size - at : 8);
    }
}

void sample_fill(enum sample_kind kind, uint64_t seed, uint8_t *bytes, size_t size)
{
    uint64_t state = seed * UINT64_C(0xd1342543de82ef95) + 1;
    switch (kind) {
    case SAMPLE_BF16:
        fill_weights(&state, bytes, size, 2);
        break;
    case SAMPLE_F32:
        fill_weights(&state, bytes, size, 4);
        break;
    case SAMPLE_TEXT:
        fill_text(&state, bytes, size);
        break;
    case SAMPLE_RANDOM:
        fill_random(&state, bytes, size);
        break;
    case SAMPLE_ZERO:
    case SAMPLE_KINDS_:
        memset(bytes, 0, size);
        break;
    }
}

uint8_t *sample_new(enum sample_kind kind, uint64_t seed, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    if (!bytes)
        errx(2, "out of memory");
    sample_fill(kind, seed, bytes, size);
    return bytes;
}
