/* rans12_encode_avx512.c - the loop of rans12_encode_kernel.h with AVX-512 (F, BW, VL).
 *
 * Division is done in single precision and put right by the remainder, so that it is exact
 * whatever the rounding: quotients are below 2^20, so that the estimate is off by one at most.
 */
#include <immintrin.h>

#include "rans12_encode_kernel.h"

enum { WIDTH = RANS12_LANES / RANS12_VECTORS };

/* Put the low halves of the lanes of give, in ascending order, in front of words. */
static inline uint8_t *put_words(__m512i x, __mmask16 give, uint8_t *words)
{
    unsigned count = (unsigned)_mm_popcnt_u32(give);
    __m256i packed = _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(give, x));

    words -= 2 * count;
    _mm256_mask_storeu_epi16(words, (__mmask16)((1u << count) - 1), packed);
    return words;
}

static inline __m512i encode_step(__m512i x, __m512i place, uint8_t **words)
{
    __m512i frequency = _mm512_and_si512(place, _mm512_set1_epi32(0xffff));
    __mmask16 give = _mm512_cmpge_epu32_mask(x, _mm512_slli_epi32(frequency, 32 - RANS12_BITS));

    *words = put_words(x, give, *words);
    x = _mm512_mask_srli_epi32(x, give, x, 16);
    __m512i quotient =
        _mm512_cvttps_epu32(_mm512_div_ps(_mm512_cvtepu32_ps(x), _mm512_cvtepi32_ps(frequency)));
    __m512i remainder = _mm512_sub_epi32(x, _mm512_mullo_epi32(quotient, frequency));
    __mmask16 above = _mm512_movepi32_mask(remainder);
    quotient = _mm512_mask_sub_epi32(quotient, above, quotient, _mm512_set1_epi32(1));
    remainder = _mm512_mask_add_epi32(remainder, above, remainder, frequency);
    __mmask16 below = _mm512_cmpge_epi32_mask(remainder, frequency);
    quotient = _mm512_mask_add_epi32(quotient, below, quotient, _mm512_set1_epi32(1));
    remainder = _mm512_mask_sub_epi32(remainder, below, remainder, frequency);
    x = _mm512_add_epi32(_mm512_slli_epi32(quotient, RANS12_BITS), remainder);
    return _mm512_add_epi32(x, _mm512_srli_epi32(place, 16));
}

uint8_t *rans12_encode_avx512(const struct rans12_codes *codes, const uint8_t *symbols,
                              size_t group_count, uint32_t states[RANS12_LANES], uint8_t *words)
{
    const __m512i low_byte = _mm512_set1_epi32(0xff);
    __m512i x[RANS12_VECTORS];

    for (unsigned v = 0; v < RANS12_VECTORS; v++)
        x[v] = _mm512_loadu_si512(states + WIDTH * v);
    for (symbols += group_count * RANS12_LANES; group_count > 0; group_count--) {
        symbols -= RANS12_LANES;
        __m512i group = _mm512_loadu_si512(symbols);
        __m512i place[RANS12_VECTORS];
        place[0] = _mm512_and_si512(group, low_byte);
        place[1] = _mm512_and_si512(_mm512_srli_epi32(group, 8), low_byte);
        place[2] = _mm512_and_si512(_mm512_srli_epi32(group, 16), low_byte);
        place[3] = _mm512_srli_epi32(group, 24);
        for (unsigned v = 0; v < RANS12_VECTORS; v++)
            place[v] = _mm512_i32gather_epi32(place[v], codes->place, 4);
        for (unsigned v = RANS12_VECTORS; v-- > 0;)
            x[v] = encode_step(x[v], place[v], &words);
    }
    for (unsigned v = 0; v < RANS12_VECTORS; v++)
        _mm512_storeu_si512(states + WIDTH * v, x[v]);
    return words;
}
