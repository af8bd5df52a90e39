/* frame_sample.c - see frame_sample.h. */
#include "frame_sample.h"

#include <string.h>

#include "bytes.h"

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

static void count_window(struct frame_sample *sample, const uint8_t *p, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned offset = i % FRAME_SAMPLE_OFFSETS;
        sample->bytes[offset][p[i]]++;
        sample->exponents[offset][(p[i + 1] << 1 | p[i] >> 7) & 255]++;
        sample->rests[offset][(p[i] << 1 | p[i + 1] >> 7) & 255]++;
    }
}

/* The entropy of the sum of counts at two offsets. */
static uint32_t entropy_of_two(const struct frame_log2 *log2, const uint16_t a[256],
                               const uint16_t b[256])
{
    uint16_t sum[256];
    for (unsigned i = 0; i < 256; i++)
        sum[i] = a[i] + b[i];
    return frame_entropy(log2, sum);
}

/* An element of bf16 at phase 0 has its exponent in the bytes at offsets 0 and 1 (low byte
 * first), or 2 and 3. */
static void weigh_bf16(const struct frame_log2 *log2, struct frame_sample *sample, unsigned phase)
{
    struct frame_sample_type *type = &sample->bf16[phase];
    unsigned a = phase, b = phase + 2;

    type->exponent_bits = entropy_of_two(log2, sample->exponents[a], sample->exponents[b]);
    type->rest_bits = entropy_of_two(log2, sample->rests[a], sample->rests[b]);
}

/* In fp32, bf16 is the upper half. */
static void weigh_fp32(const struct frame_log2 *log2, struct frame_sample *sample, unsigned phase)
{
    struct frame_sample_type *type = &sample->fp32[phase];
    unsigned low = phase, middle = (phase + 1) % 4, upper = (phase + 2) % 4;

    type->exponent_bits = frame_entropy(log2, sample->exponents[upper]);
    type->rest_bits = frame_entropy(log2, sample->rests[upper]);
    type->low_bits[0] = frame_entropy(log2, sample->bytes[middle]);
    type->low_bits[1] = frame_entropy(log2, sample->bytes[low]);
}

void frame_sample_take(const struct frame_log2 *log2, const uint8_t *raw, size_t raw_size,
                       struct frame_sample *ret)
{
    const size_t size = FRAME_SAMPLE_WINDOW_SIZE, looked_at = size + 1;

    memset(ret, 0, sizeof *ret);
    if (raw_size <= FRAME_SAMPLE_WINDOWS * looked_at) {
        count_window(ret, raw, raw_size - 1);
    } else {
        size_t stride = (raw_size - looked_at) / (FRAME_SAMPLE_WINDOWS - 1) / 4 * 4;
        for (size_t i = 0; i < FRAME_SAMPLE_WINDOWS; i++) {
            __builtin_prefetch(raw + i * stride); /* all at once, not each when it is needed */
            __builtin_prefetch(raw + i * stride + size);
        }
        for (size_t i = 0; i < FRAME_SAMPLE_WINDOWS; i++)
            count_window(ret, raw + i * stride, size);
    }
    for (unsigned phase = 0; phase < 2; phase++)
        weigh_bf16(log2, ret, phase);
    for (unsigned phase = 0; phase < 4; phase++)
        weigh_fp32(log2, ret, phase);

    uint16_t high[256], low[256];
    for (unsigned i = 0; i < 256; i++) {
        low[i] = ret->bytes[0][i] + ret->bytes[2][i];
        high[i] = ret->bytes[1][i] + ret->bytes[3][i];
    }
    ret->low_bits = frame_entropy(log2, low);
    ret->high_bits = frame_entropy(log2, high);
    ret->byte_bits = entropy_of_two(log2, low, high);
}

bool frame_sample_exponents_few(const struct frame_sample *sample, unsigned element_size,
                                unsigned phase)
{
    enum { FEW = 15 };
    uint32_t counts[256], total = 0, common = 0;

    for (unsigned i = 0; i < 256; i++) {
        counts[i] = sample->exponents[(phase + element_size - 2) % 4][i];
        if (element_size == 2)
            counts[i] += sample->exponents[phase + 2][i];
        total += counts[i];
    }
    for (unsigned k = 0; k < FEW; k++) {
        unsigned most = 0;
        for (unsigned i = 1; i < 256; i++)
            if (counts[i] > counts[most])
                most = i;
        common += counts[most];
        counts[most] = 0;
    }
    return total - common <= total / 32;
}

bool frame_sample_repeats(const uint8_t *bytes, size_t size)
{
    enum { HASH_BITS = 12, MATCH = 4 };
    uint32_t last[1 << HASH_BITS]; /* position + 1 */
    size_t found = 0;

    memset(last, 0, sizeof last);
    for (size_t i = 0; i + MATCH <= size; i++) {
        uint32_t value = get_le32(bytes + i);
        uint32_t hash = value * UINT32_C(2654435761) >> (32 - HASH_BITS);
        size_t before = last[hash];

        /* Without a branch: which way it would go is noise. */
        found += (size_t)(before != 0) & (get_le32(bytes + before - (before != 0)) == value);
        last[hash] = (uint32_t)(i + 1);
    }
    return found > size / 16;
}

size_t frame_sample_stretches(const uint8_t *raw, size_t raw_size, size_t stretch_size,
                              uint8_t *ret)
{
    size_t size = FRAME_SAMPLE_STRETCHES * stretch_size;

    if (raw_size <= size) {
        memcpy(ret, raw, raw_size);
        return raw_size;
    }
    size_t stride = (raw_size - stretch_size) / (FRAME_SAMPLE_STRETCHES - 1);
    for (size_t i = 0; i < FRAME_SAMPLE_STRETCHES; i++)
        memcpy(ret + i * stretch_size, raw + i * stride, stretch_size);
    return size;
}
