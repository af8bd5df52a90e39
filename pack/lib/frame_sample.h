/* frame_sample.h - what a frame looks like, from a sample of its bytes.
 *
 * The encoder chooses by what is in the bytes, never by what a file's header says of
 * them. All arithmetic is on integers, so that every machine chooses alike. An object is
 * read-only after frame_sample_take; frame_log2 tables are immutable once made.
 */
#ifndef TRUNK_FRAME_SAMPLE_H
#define TRUNK_FRAME_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

enum {
    FRAME_SAMPLE_WINDOWS = 64,
    FRAME_SAMPLE_WINDOW_SIZE = 64, /* bytes; one more is looked at */
    FRAME_SAMPLE_ELEMENTS = FRAME_SAMPLE_WINDOWS * FRAME_SAMPLE_WINDOW_SIZE / 2,
    FRAME_LOG2_ENTRIES = 4097,
    FRAME_BIT = 1 << 16, /* one bit, in the unit of all costs */
};

/* log2 of 0 (taken as 0) to FRAME_LOG2_ENTRIES - 1 in units of 1 / FRAME_BIT bit. */
struct frame_log2 {
    uint32_t of[FRAME_LOG2_ENTRIES];
};
void frame_log2_init(struct frame_log2 *ret);

/* Entropy of a histogram whose counts sum to less than FRAME_LOG2_ENTRIES, per symbol,
 * in units of 1 / FRAME_BIT bit, with what a small sample hides added back. 0 if empty. */
uint32_t frame_entropy(const struct frame_log2 *log2, const uint16_t counts[256]);

struct frame_sample {
    /* Bits per byte of the plane, in units of 1 / FRAME_BIT, when elements of two bytes
     * begin at an even offset [0] or an odd one [1]. */
    uint32_t exponent_bits[2]; /* of bf16 */
    uint32_t rest_bits[2];
    uint32_t high_bits; /* of the bytes at odd offsets, and */
    uint32_t low_bits;  /* at even ones */
};

void frame_sample_take(const struct frame_log2 *log2, const uint8_t *raw, size_t raw_size,
                       struct frame_sample *ret);

#endif
