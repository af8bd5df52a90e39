/* plane_bits.c - the coder bits, both ways.
 *
 * The bits of 8 symbols are an 8 x 8 matrix in one register, which is stored turned: one row
 * for each bit of the mask.
 */
#include "plane_bits.h"

#include <errno.h>
#include <string.h>

#include "bytes.h"
#include "plane_coder.h"

enum {
    HEADER_SIZE = 2, /* mask, value */
    BLOCK = 64,      /* symbols */
    ROW_SIZE = BLOCK / 8,
};

/* Turn the matrix whose row r is byte r and whose column c is bit c. */
static inline uint64_t transpose(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & UINT64_C(0x00aa00aa00aa00aa);
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & UINT64_C(0x0000cccc0000cccc);
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & UINT64_C(0x00000000f0f0f0f0);
    return x ^ t ^ t << 28;
}

/* The rows of a block, numbered as they are stored: which bits they are. */
static unsigned list_rows(uint8_t mask, uint8_t rows[8])
{
    unsigned count = 0;
    for (uint8_t bit = 0; bit < 8; bit++)
        if (mask >> bit & 1)
            rows[count++] = bit;
    return count;
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
    return HEADER_SIZE + (size + BLOCK - 1) / BLOCK * ROW_SIZE *
                             (size_t)__builtin_popcount(mask);
}

static void encode_block(const uint8_t rows[8], unsigned row_count, const uint8_t *symbols,
                         uint8_t *packed)
{
    for (unsigned i = 0; i < ROW_SIZE; i++) {
        uint64_t turned = transpose(get_le64(symbols + 8 * i));
        for (unsigned r = 0; r < row_count; r++)
            packed[ROW_SIZE * r + i] = (uint8_t)(turned >> 8 * rows[r]);
    }
}

size_t plane_bits_encode(uint8_t mask, const uint8_t *plane, size_t size, uint8_t *packed)
{
    uint8_t rows[8], last[BLOCK] = { 0 };
    unsigned row_count = list_rows(mask, rows);
    size_t whole = size / BLOCK * BLOCK;

    packed[0] = mask;
    packed[1] = plane[0] & (uint8_t)~mask;
    uint8_t *to = packed + HEADER_SIZE;
    for (size_t i = 0; i < whole; i += BLOCK, to += ROW_SIZE * row_count)
        encode_block(rows, row_count, plane + i, to);
    if (whole < size) {
        memcpy(last, plane + whole, size - whole);
        encode_block(rows, row_count, last, to);
    }
    return plane_bits_size(mask, size);
}

static void decode_block(const uint8_t *packed, const uint8_t rows[8], unsigned row_count,
                         uint64_t value, uint8_t *symbols)
{
    for (unsigned i = 0; i < ROW_SIZE; i++) {
        uint64_t turned = 0;
        for (unsigned r = 0; r < row_count; r++)
            turned |= (uint64_t)packed[ROW_SIZE * r + i] << 8 * rows[r];
        put_le64(symbols + 8 * i, transpose(turned) | value);
    }
}

int plane_bits_decode(struct plane_decode_context *context, const uint8_t *packed,
                      size_t packed_size, uint8_t *plane, size_t plane_size,
                      struct fault *ret_fault)
{
    uint8_t rows[8], last[BLOCK];

    (void)context;
    if (packed_size < HEADER_SIZE || packed[0] == 0 || packed[0] & packed[1] ||
        packed_size != plane_bits_size(packed[0], plane_size))
        return fault_set(ret_fault, FAULT_FRAME_PLANE, 0, -EBADMSG);
    unsigned row_count = list_rows(packed[0], rows);
    uint64_t value = packed[1] * UINT64_C(0x0101010101010101);
    size_t whole = plane_size / BLOCK * BLOCK;
    packed += HEADER_SIZE;
    for (size_t i = 0; i < whole; i += BLOCK, packed += ROW_SIZE * row_count)
        decode_block(packed, rows, row_count, value, plane + i);
    if (whole < plane_size) {
        decode_block(packed, rows, row_count, value, last);
        memcpy(plane + whole, last, plane_size - whole);
    }
    return 0;
}
