/* frame_sample.h - what a frame looks like, from a sample of its bytes.
 *
 * The encoder chooses by what is in the bytes, never by what a file's header says of
 * them. All arithmetic is on integers, so that every machine chooses alike. An object is
 * read-only after frame_sample_take; frame_log2 tables are immutable once made.
 */
#ifndef TRUNK_FRAME_SAMPLE_H
#define TRUNK_FRAME_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FRAME_SAMPLE_WINDOWS = 64,
    FRAME_SAMPLE_WINDOW_SIZE = 60, /* bytes; four more are looked at */
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

enum { FRAME_SAMPLE_OFFSETS = 4 };

/* The entropy of each plane of elements of one type, in units of 1 / FRAME_BIT bit. */
struct frame_sample_type {
    uint32_t exponent_bits;
    uint32_t rest_bits;   /* mantissa bits beside the exponent, and the sign */
    uint32_t low_bits[2]; /* of the second and the last byte of the mantissa (fp32 only) */
};

struct frame_sample {
    struct frame_sample_type bf16[2]; /* by phase: where in the file elements begin */
    struct frame_sample_type fp32[4];
    uint32_t byte_bits; /* of all bytes alike */
    uint32_t high_bits; /* of the bytes at odd offsets, and */
    uint32_t low_bits;  /* at even ones */
    /* Counts of the bytes that begin at each offset modulo 4: as they are, and moved up by the one
     * bit that brings the exponent of an element together, or what is beside it. */
    uint16_t bytes[FRAME_SAMPLE_OFFSETS][256];
    uint16_t exponents[FRAME_SAMPLE_OFFSETS][256];
    uint16_t rests[FRAME_SAMPLE_OFFSETS][256];
};

/* raw_size is at least 1. */
void frame_sample_take(const struct frame_log2 *log2, const uint8_t *raw, size_t raw_size,
                       struct frame_sample *ret);

/* Do the 15 most frequent exponents of bf16 (element_size 2) or fp32 (4) elements that begin
 * at phase make up nearly all? */
bool frame_sample_exponents_few(const struct frame_sample *sample, unsigned element_size,
                                unsigned phase);

/* Are there repeated strings, as in text? A hint, not a proof. */
bool frame_sample_repeats(const uint8_t *bytes, size_t size);

/* Copy a few stretches of raw, or all of it, to ret: at most FRAME_SAMPLE_STRETCHES *
 * stretch_size bytes. Returns how many. */
enum { FRAME_SAMPLE_STRETCHES = 4 };
size_t frame_sample_stretches(const uint8_t *raw, size_t raw_size, size_t stretch_size,
                              uint8_t *ret);

#endif
