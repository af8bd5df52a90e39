/* rans12_decode_avx2.c - the loop of rans12_decode_kernel.h with AVX2. */
#include <immintrin.h>

#include "rans12_decode_kernel.h"
#include "rans_expand.h"

enum { HALVES = 2 * RANS12_VECTORS, WIDTH = RANS12_LANES / HALVES }; /* vectors of 8 lanes */

/* Renormalise: lanes of x below RANS12_STATE_MIN take a word each. Returns the next word. */
static inline const uint8_t *take_words(__m256i *state, const uint8_t *words)
{
    __m256i x = *state;
    __m256i take = _mm256_cmpeq_epi32(_mm256_srli_epi32(x, 16), _mm256_setzero_si256());
    unsigned mask = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(take));
    __m256i ranks = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)rans_expand[mask]));
    __m256i next = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)words));

    next = _mm256_or_si256(_mm256_slli_epi32(x, 16), _mm256_permutevar8x32_epi32(next, ranks));
    *state = _mm256_blendv_epi8(x, next, take);
    return words + 2 * (unsigned)__builtin_popcount(mask);
}

/* Decode one symbol of each lane; slots gets them, the symbols in their low bytes. Returns the
 * next word. Each kind of step is done for all vectors before the next: gathers and
 * multiplications take long, and overlap that way. */
static inline __attribute__((always_inline)) const uint8_t *decode_group(__m256i states[HALVES],
                                                                         const rans12_slot *table,
                                                                         const uint8_t *words,
                                                                         __m256i slots[HALVES])
{
    const __m256i slot_mask = _mm256_set1_epi32(RANS12_SLOTS - 1);
    const __m256i all = _mm256_set1_epi32(-1), zero = _mm256_setzero_si256();

    for (unsigned h = 0; h < HALVES; h++) /* into zeros: waits for nothing older */
        slots[h] = _mm256_mask_i32gather_epi32(zero, (const int *)table,
                                               _mm256_and_si256(states[h], slot_mask), all, 4);
    for (unsigned h = 0; h < HALVES; h++) {
        __m256i frequency = _mm256_and_si256(_mm256_srli_epi32(slots[h], 8), slot_mask);
        __m256i x = _mm256_mullo_epi32(frequency, _mm256_srli_epi32(states[h], RANS12_BITS));
        states[h] = _mm256_add_epi32(x, _mm256_srli_epi32(slots[h], 20));
    }
    for (unsigned h = 0; h < HALVES; h++)
        words = take_words(&states[h], words);
    return words;
}

/* Symbol i of 32 is in vector i % 4, lane i / 4. */
static inline __m256i join(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i low_byte = _mm256_set1_epi16(0xff);
    __m256i low = _mm256_blend_epi16(a, _mm256_slli_epi32(c, 16), 0xaa);
    __m256i high = _mm256_blend_epi16(b, _mm256_slli_epi32(d, 16), 0xaa);
    return _mm256_or_si256(_mm256_and_si256(low, low_byte), _mm256_slli_epi16(high, 8));
}

static inline const uint8_t *place_literals(uint8_t *symbols, uint8_t marker,
                                            const uint8_t *literals)
{
    __m256i wanted = _mm256_set1_epi8((char)marker);
    for (unsigned i = 0; i < RANS12_LANES; i += 32) {
        __m256i found = _mm256_cmpeq_epi8(_mm256_loadu_si256((const void *)(symbols + i)), wanted);
        for (uint32_t mask = (uint32_t)_mm256_movemask_epi8(found); mask; mask &= mask - 1)
            symbols[i + (unsigned)__builtin_ctz(mask)] = *literals++;
    }
    return literals;
}

bool rans12_decode_avx2(struct rans12_job *job)
{
    const uint8_t *words = job->words;
    __m256i states[HALVES], slots[HALVES];
    bool good = true;

    for (unsigned h = 0; h < HALVES; h++)
        states[h] = _mm256_loadu_si256((const void *)&job->states[WIDTH * h]);
    for (size_t group = 0; group < job->group_count; group++) {
        good = rans12_may_read(words, job->words_end, job->literals, job->literals_end);
        if (!good)
            break;
        const rans12_slot *table = rans12_section_table(job, group);
        uint8_t *out = job->out + group * RANS12_LANES;
        words = decode_group(states, table, words, slots);
        for (unsigned h = 0; h < 2; h++)
            _mm256_storeu_si256((void *)(out + 32 * h),
                                join(slots[h], slots[2 + h], slots[4 + h], slots[6 + h]));
        if (job->marked)
            job->literals = place_literals(out, job->marker, job->literals);
    }
    for (unsigned h = 0; h < HALVES; h++)
        _mm256_storeu_si256((void *)&job->states[WIDTH * h], states[h]);
    job->words = words;
    return good;
}
