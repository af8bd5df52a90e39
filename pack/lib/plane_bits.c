/* plane_bits.c - the coder bits, both ways; its loops are in element_loops.c. */
#include "plane_bits.h"

#include <errno.h>
#include <string.h>

#include "element_kernel.h"
#include "plane_coder.h"

enum {
    HEADER_SIZE = 2, /* mask, value */
    BLOCK = ELEMENT_BITS_BLOCK,
};

/* Bytes of so many symbols, whole blocks. */
static size_t rows_size(uint8_t mask, size_t symbol_count)
{
    return symbol_count / BLOCK * ELEMENT_BITS_ROW * (size_t)__builtin_popcount(mask);
}

uint8_t plane_bits_mask(const uint8_t *plane, size_t size)
{
    uint8_t mask = 0;
    for (size_t i = 1; i < size; i++)
        mask |= plane[i] ^ plane[0];
    return mask;
}

size_t plane_bits_size(uint8_t mask, size_t size)
{
    return HEADER_SIZE + rows_size(mask, size + BLOCK - 1);
}

size_t plane_bits_encode(uint8_t mask, const uint8_t *plane, size_t size, uint8_t *packed)
{
    const struct element_kernel *kernel = element_kernel_get();
    size_t whole = size / BLOCK * BLOCK;
    uint8_t last[BLOCK] = {0};

    packed[0] = mask;
    packed[1] = plane[0] & (uint8_t)~mask;
    uint8_t *rows = packed + HEADER_SIZE;
    kernel->bits_pack(mask, plane, whole / BLOCK, rows);
    if (whole < size) {
        memcpy(last, plane + whole, size - whole);
        kernel->bits_pack(mask, last, 1, rows + rows_size(mask, whole));
    }
    return plane_bits_size(mask, size);
}

int plane_bits_decode(struct plane_decode_context *context, const uint8_t *packed,
                      size_t packed_size, uint8_t *plane, size_t plane_size,
                      struct fault *ret_fault)
{
    const struct element_kernel *kernel = element_kernel_get();
    size_t whole = plane_size / BLOCK * BLOCK;
    uint8_t last[BLOCK];

    (void)context;
    if (packed_size < HEADER_SIZE || packed[0] == 0 || packed[0] & packed[1] ||
        packed_size != plane_bits_size(packed[0], plane_size))
        return fault_set(ret_fault, FAULT_FRAME_PLANE, 0, -EBADMSG);
    uint8_t mask = packed[0], value = packed[1];
    const uint8_t *rows = packed + HEADER_SIZE;
    kernel->bits_unpack(mask, value, rows, whole / BLOCK, plane);
    if (whole < plane_size) {
        kernel->bits_unpack(mask, value, rows + rows_size(mask, whole), 1, last);
        memcpy(plane + whole, last, plane_size - whole);
    }
    return 0;
}
