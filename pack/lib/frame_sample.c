/* frame_sample.c - see frame_sample.h. */
#include "frame_sample.h"

#include <string.h>

void frame_log2_init(struct frame_log2 *ret)
{
    ret->of[0] = 0;
    for (uint32_t x = 1; x < FRAME_LOG2_ENTRIES; x++) {
        unsigned exponent = 31 - (unsigned)__builtin_clz(x);
        uint64_t mantissa = (uint64_t)x << (31 - exponent); /* in [1, 2), 31 fraction bits */
        uint32_t value = exponent;
        for (unsigned bit = 0; bit < 16; bit++) {
            mantissa = mantissa * mantissa >> 31;
            unsigned carry = (unsigned)(mantissa >> 32);
            mantissa >>= carry;
            value = value << 1 | carry;
        }
        ret->of[x] = value;
    }
}

uint32_t frame_entropy(const struct frame_log2 *log2, const uint16_t counts[256])
{
    uint32_t total = 0, used = 0;
    uint64_t sum = 0;

    for (unsigned i = 0; i < 256; i++) {
        total += counts[i];
        used += counts[i] != 0;
        sum += (uint64_t)counts[i] * log2->of[counts[i]];
    }
    if (!total)
        return 0;
    /* Miller and Madow: a sample's entropy is too low by (used - 1) / 2n nats. */
    uint64_t correction = (uint64_t)(used - 1) * (FRAME_BIT * 1443ull / 2000) / total;
    uint64_t bits = log2->of[total] - sum / total + correction;
    return (uint32_t)(bits < 8 * FRAME_BIT ? bits : 8 * FRAME_BIT);
}

struct histograms {
    uint16_t exponent[2][256];
    uint16_t rest[2][256];
    uint16_t high[256];
    uint16_t low[256];
};

static void count_window(struct histograms *h, const uint8_t *p, size_t size)
{
    for (size_t i = 0; i + 2 < size; i += 2) {
        uint32_t a = p[i], b = p[i + 1], c = p[i + 2];
        h->low[a]++;
        h->high[b]++;
        h->exponent[0][(b << 1 | a >> 7) & 255]++;
        h->exponent[1][(c << 1 | b >> 7) & 255]++;
        h->rest[0][(a << 1 | b >> 7) & 255]++;
        h->rest[1][(b << 1 | c >> 7) & 255]++;
    }
}

void frame_sample_take(const struct frame_log2 *log2, const uint8_t *raw, size_t raw_size,
                       struct frame_sample *ret)
{
    struct histograms h;
    const size_t window = FRAME_SAMPLE_WINDOW_SIZE + 1;

    memset(&h, 0, sizeof h);
    if (raw_size <= FRAME_SAMPLE_WINDOWS * window) {
        count_window(&h, raw, raw_size);
    } else {
        size_t stride = (raw_size - window) / (FRAME_SAMPLE_WINDOWS - 1) & ~(size_t)1;
        for (size_t i = 0; i < FRAME_SAMPLE_WINDOWS; i++)
            count_window(&h, raw + i * stride, window);
    }
    for (unsigned phase = 0; phase < 2; phase++) {
        ret->exponent_bits[phase] = frame_entropy(log2, h.exponent[phase]);
        ret->rest_bits[phase] = frame_entropy(log2, h.rest[phase]);
    }
    ret->high_bits = frame_entropy(log2, h.high);
    ret->low_bits = frame_entropy(log2, h.low);
}
