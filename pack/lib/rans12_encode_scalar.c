/* rans12_encode_scalar.c - the portable loop of rans12_encode_kernel.h, and the reference. */
#include "bytes.h"
#include "rans12_encode_kernel.h"

uint8_t *rans12_encode_scalar(const struct rans12_codes *codes, const uint8_t *symbols,
                              size_t group_count, uint32_t states[RANS12_LANES], uint8_t *words)
{
    for (symbols += group_count * RANS12_LANES; group_count > 0; group_count--) {
        symbols -= RANS12_LANES;
        for (unsigned lane = RANS12_LANES; lane-- > 0;) {
            unsigned symbol = symbols[rans12_symbol(lane)];
            uint32_t x = states[lane], place = codes->place[symbol];
            uint32_t frequency = place & 0xffff;
            /* No branch: whether a lane gives a word cannot be predicted. */
            uint32_t give = x >= frequency << (32 - RANS12_BITS);
            put_le16(words - 2, (uint16_t)x);
            words -= 2 * give;
            x >>= 16 * give;
            uint32_t quotient = (uint32_t)(x * codes->reciprocal[symbol] >> RANS12_RECIPROCAL_BITS);
            states[lane] = x + quotient * (RANS12_SLOTS - frequency) + (place >> 16);
        }
    }
    return words;
}
