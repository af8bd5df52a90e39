/* sample.h - deterministic bytes for tests: the same on every machine and at every run.
 * Integer arithmetic only. Callable on any thread.
 */
#ifndef TEST_SAMPLE_H
#define TEST_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

enum sample_kind {
    SAMPLE_BF16,   /* bell-shaped weights, rows of 256 that differ in scale */
    SAMPLE_F32,    /* the same with 24-bit mantissas */
    SAMPLE_TEXT,   /* JSON-like lines */
    SAMPLE_RANDOM, /* does not compress */
    SAMPLE_ZERO,
    SAMPLE_KINDS_,
};

extern const char *const sample_names[SAMPLE_KINDS_];

/* Fill bytes with size bytes of kind; another seed, other bytes. */
void sample_fill(enum sample_kind kind, uint64_t seed, uint8_t *bytes, size_t size);

/* As sample_fill, into new memory that the caller frees; exits when there is none. Never
 * NULL, even for no bytes. */
uint8_t *sample_new(enum sample_kind kind, uint64_t seed, size_t size);

#endif
