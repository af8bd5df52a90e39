/* entropy.c - everything follows from the counts of whole elements. */
#include "entropy.h"

#include <math.h>

#include "bytes.h"

void entropy_add(struct entropy *entropy, const uint8_t *bytes, size_t size, unsigned phase)
{
    if (size < phase)
        return;
    for (size_t at = phase; size - at >= 2; at += 2) {
        entropy->pair[get_le16(bytes + at)]++;
        entropy->elements++;
    }
}

/* sum of counts times the bits of a symbol, per symbol. */
static double bits(const uint64_t *counts, size_t symbols, uint64_t total)
{
    double sum = 0;

    for (size_t i = 0; i < symbols; i++)
        if (counts[i])
            sum += (double)counts[i] * log2((double)total / (double)counts[i]);
    return total ? sum / (double)total : 0;
}

void entropy_get(const struct entropy *entropy, struct entropy_planes *ret)
{
    uint64_t high[256] = {0}, low[256] = {0}, exponent[256] = {0}, rest[256] = {0};
    uint64_t total = entropy->elements;
    double joint = 0;

    for (unsigned value = 0; value < 1 << 16; value++) {
        uint64_t count = entropy->pair[value];
        if (!count)
            continue;
        high[value >> 8] += count;
        low[value & 255] += count;
        exponent[value >> 7 & 255] += count;
        rest[(value >> 8 & 128) | (value & 127)] += count;
        joint += (double)count * log2((double)total / (double)count);
    }
    *ret = (struct entropy_planes){
        .high_byte = bits(high, 256, total),
        .low_byte = bits(low, 256, total),
        .exponent = bits(exponent, 256, total),
        .sign_mantissa = bits(rest, 256, total),
        .joint = total ? joint / (double)total : 0,
    };
}
