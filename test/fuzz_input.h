/* fuzz_input.h - for the fuzz targets that build frames, and the tests that run them: an input
 * taken byte by byte, zeros when it ends; what every such target does with its frame; numbers and
 * inputs drawn from a seed.
 */
#ifndef TEST_FUZZ_INPUT_H
#define TEST_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "codec_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* what each target is */

struct input {
    const uint8_t *data;
    size_t size;
};

static inline uint8_t take(struct input *input)
{
    if (input->size == 0)
        return 0;
    input->size--;
    return *input->data++;
}

/* The frame must decode to raw, by way of got (raw_size bytes); then what is left of the input
 * changes some of its bytes, and all instruction sets must agree on it. */
static inline void fuzz_check_frame(struct input *input, uint8_t *packed, size_t packed_size,
                                    const uint8_t *raw, size_t raw_size, uint8_t *got)
{
    enum { CHANGES_MAX = 8 };
    unsigned changes = 0;

    if (codec_check_decode(packed, packed_size, raw_size, got) != 0)
        codec_check_fail("a valid frame was refused");
    if (memcmp(got, raw, raw_size) != 0)
        codec_check_fail("a valid frame decoded to other bytes");
    for (; input->size >= 3 && changes < CHANGES_MAX; changes++) {
        size_t at = (take(input) | (size_t)take(input) << 8) % packed_size;
        packed[at] ^= take(input);
    }
    if (changes > 0)
        (void)codec_check_decode(packed, packed_size, raw_size, NULL);
}

static inline uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Run the target on so many inputs of 8 to size_max - 1 bytes, size_max being at most 400. */
static inline void fuzz_run_drawn(uint32_t seed, unsigned input_count, size_t size_max)
{
    uint8_t input[400];

    for (unsigned n = 0; n < input_count; n++) {
        size_t size = 8 + draw(&seed) % (size_max - 8);
        for (size_t i = 0; i < size; i++)
            input[i] = (uint8_t)draw(&seed);
        LLVMFuzzerTestOneInput(input, size);
    }
}

#endif
