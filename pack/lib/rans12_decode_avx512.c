/* rans12_decode_avx512.c - the loop of rans12_decode_kernel.h with AVX-512 (F, BW, VL, VBMI2). */
#include <immintrin.h>

#include "rans12_decode_kernel.h"

enum { WIDTH = RANS12_LANES / RANS12_VECTORS };

/* Decode one symbol of each lane; slots gets them, the symbols in their low bytes. Returns the
 * next word. Each kind of step is done for all vectors before the next: gathers and
 * multiplications take long, and overlap that way. */
static inline __attribute__((always_inline)) const uint8_t *
decode_group(__m512i states[RANS12_VECTORS], const rans12_slot *table, const uint8_t *words,
             __m512i slots[RANS12_VECTORS])
{
    const __m512i slot_mask = _mm512_set1_epi32(RANS12_SLOTS - 1);
    __mmask16 take[RANS12_VECTORS];

    for (unsigned v = 0; v < RANS12_VECTORS; v++) /* into zeros: waits for nothing older */
        slots[v] = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xffff,
                                               _mm512_and_si512(states[v], slot_mask), table, 4);
    for (unsigned v = 0; v < RANS12_VECTORS; v++) {
        __m512i frequency = _mm512_and_si512(_mm512_srli_epi32(slots[v], 8), slot_mask);
        __m512i x = _mm512_mullo_epi32(frequency, _mm512_srli_epi32(states[v], RANS12_BITS));
        states[v] = _mm512_add_epi32(x, _mm512_srli_epi32(slots[v], 20));
        take[v] = _mm512_cmplt_epu32_mask(states[v], _mm512_set1_epi32(RANS12_STATE_MIN));
    }
    for (unsigned v = 0; v < RANS12_VECTORS; v++) {
        __m512i next = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)words));
        next = _mm512_maskz_expand_epi32(take[v], next);
        __m512i moved = _mm512_slli_epi32(states[v], 16);
        states[v] = _mm512_mask_or_epi32(states[v], take[v], moved, next);
        words += 2 * (unsigned)_mm_popcnt_u32(take[v]);
    }
    return words;
}

/* Symbol i of the group is in vector i % 4, lane i / 4. */
static inline __attribute__((always_inline)) __m512i join(const __m512i slots[RANS12_VECTORS])
{
    enum { SELECT = 0xca }; /* a ? b : c, bit by bit */
    __m512i low = _mm512_ternarylogic_epi32(_mm512_set1_epi32(0xff), slots[0],
                                            _mm512_slli_epi32(slots[1], 8), SELECT);
    __m512i high = _mm512_ternarylogic_epi32(_mm512_set1_epi32(0xff), slots[2],
                                             _mm512_slli_epi32(slots[3], 8), SELECT);
    return _mm512_mask_blend_epi16(0xaaaaaaaa, low, _mm512_slli_epi32(high, 16));
}

static inline __attribute__((always_inline)) __m512i place_literals(__m512i symbols, __m512i marker,
                                                                    const uint8_t **literals)
{
    __mmask64 marked = _mm512_cmpeq_epi8_mask(symbols, marker);
    __m512i next = _mm512_loadu_si512(*literals);
    *literals += _mm_popcnt_u64(marked);
    return _mm512_mask_expand_epi8(symbols, marked, next);
}

/* marked is a constant for the compiler, so that planes without literals pay nothing. */
static inline __attribute__((always_inline)) bool decode(struct rans12_job *job, bool marked)
{
    const uint8_t *words = job->words, *literals = job->literals;
    const __m512i marker = _mm512_set1_epi8((char)job->marker);
    __m512i states[RANS12_VECTORS], slots[RANS12_VECTORS];
    bool good = true;

    for (unsigned v = 0; v < RANS12_VECTORS; v++)
        states[v] = _mm512_loadu_si512(&job->states[WIDTH * v]);
    for (size_t group = 0; group < job->group_count; group++) {
        good = rans12_may_read(words, job->words_end, literals, job->literals_end);
        if (!good)
            break;
        const rans12_slot *table = rans12_section_table(job, group);
        words = decode_group(states, table, words, slots);
        __m512i symbols = join(slots);
        if (marked)
            symbols = place_literals(symbols, marker, &literals);
        _mm512_storeu_si512(job->out + group * RANS12_LANES, symbols);
    }
    for (unsigned v = 0; v < RANS12_VECTORS; v++)
        _mm512_storeu_si512(&job->states[WIDTH * v], states[v]);
    job->words = words;
    job->literals = literals;
    return good;
}

bool rans12_decode_avx512(struct rans12_job *job)
{
    return job->marked ? decode(job, true) : decode(job, false);
}
