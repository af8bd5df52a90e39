/* fuzz_input.h - for the fuzz targets that build frames: an input taken byte by byte, zeros when it
 * ends, and numbers drawn from a seed.
 */
#ifndef TEST_FUZZ_INPUT_H
#define TEST_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

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

static inline uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

#endif
