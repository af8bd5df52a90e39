/* rans_encode_avx512.c - the encoder in AVX-512 with VBMI and VBMI2. */
#include <immintrin.h>
#include <string.h>

#include "rans_encode_kernel.h"

#define INLINE static inline __attribute__((always_inline))

static const __mmask64 ODD = 0xAAAAAAAAAAAAAAAA;

static void count(const uint8_t *symbols, size_t count, const uint8_t candidates[RANS_CANDIDATES],
                  struct rans_counts *ret)
{
    if (count != RANS_SECTION) {
        rans_encode_scalar.count(symbols, count, candidates, ret);
        return;
    }
    __m512i block[RANS_SECTION / 64];
    for (unsigned i = 0; i < RANS_SECTION / 64; i++)
        block[i] = _mm512_loadu_si512(symbols + 64 * i);
    for (unsigned c = 0; c < RANS_CANDIDATES; c++) {
        __m512i symbol = _mm512_set1_epi8((char)candidates[c]);
        long long sum = 0;
        for (unsigned i = 0; i < RANS_SECTION / 64; i++)
            sum += _mm_popcnt_u64(_mm512_cmpeq_epi8_mask(block[i], symbol));
        ret->of[c] = (uint16_t)sum;
    }
}

static size_t map(const uint8_t *symbols, size_t count, const uint8_t map[256], uint8_t *entries,
                  uint8_t *escapes)
{
    const __m512i map0 = _mm512_loadu_si512(map), map1 = _mm512_loadu_si512(map + 64);
    const __m512i map2 = _mm512_loadu_si512(map + 128), map3 = _mm512_loadu_si512(map + 192);
    uint8_t *to = escapes;

    for (size_t i = 0; i < count; i += 64) {
        __mmask64 valid = count - i < 64 ? _bzhi_u64(~0ull, (unsigned)(count - i)) : ~0ull;
        __m512i symbol = _mm512_maskz_loadu_epi8(valid, symbols + i);
        __m512i entry = _mm512_mask_mov_epi8(_mm512_permutex2var_epi8(map0, symbol, map1),
                                             _mm512_movepi8_mask(symbol),
                                             _mm512_permutex2var_epi8(map2, symbol, map3));
        __mmask64 escaped = _mm512_mask_testn_epi8_mask(valid, entry, entry);
        _mm512_mask_storeu_epi8(entries + i, valid, entry);
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(escaped, symbol));
        to += _mm_popcnt_u64(escaped);
    }
    return (size_t)(to - escapes);
}

struct tables {
    __m512i frequency, start; /* by entry, in every 16 bytes */
    __m512i reciprocal;       /* by entry, in 16 bits, twice */
};

static void prepare(const struct rans_table *table, struct tables *ret)
{
    uint16_t reciprocal[32];

    for (unsigned i = 0; i < 32; i++) {
        uint32_t f = table->frequency[i % 16];
        reciprocal[i] = (uint16_t)(f < 2 ? 65535 : 65536 / f);
    }
    ret->frequency = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)table->frequency));
    ret->start = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)table->start));
    ret->reciprocal = _mm512_loadu_si512(reciprocal);
}

/* Quotient and remainder of 32 numbers of 16 bits, each less than 256 f. The reciprocal,
 * rounded down, gives a quotient that is right or one too small. */
INLINE void divide(__m512i x, __m512i f, __m512i reciprocal, __m512i *quotient, __m512i *remainder)
{
    __m512i q = _mm512_mulhi_epu16(x, reciprocal);
    __m512i r = _mm512_sub_epi16(x, _mm512_mullo_epi16(q, f));
    __mmask32 more = _mm512_cmpge_epu16_mask(r, f);
    *quotient = _mm512_mask_sub_epi16(q, more, q, _mm512_set1_epi16(-1));
    *remainder = _mm512_mask_sub_epi16(r, more, r, f);
}

/* One symbol of each of 64 lanes. */
INLINE void encode_block(const struct tables *tables, __m512i entry, __m512i *low, __m512i *high,
                         uint8_t **stream)
{
    const __m512i byte = _mm512_set1_epi16(255);
    __m512i f = _mm512_shuffle_epi8(tables->frequency, entry);
    __m512i start = _mm512_shuffle_epi8(tables->start, entry);

    __mmask64 emit = _mm512_cmpge_epu8_mask(*high, f);
    unsigned count = (unsigned)_mm_popcnt_u64(emit);
    *stream -= count;
    /* Compressed in a register and stored: compressing to memory is far slower. */
    _mm512_mask_storeu_epi8(*stream, _bzhi_u64(~0ull, count),
                            _mm512_maskz_compress_epi8(emit, *low));
    __m512i l = _mm512_mask_mov_epi8(*low, emit, *high);
    __m512i h = _mm512_maskz_mov_epi8(~emit, *high);

    __m512i x_even = _mm512_mask_mov_epi8(l, ODD, _mm512_slli_epi16(h, 8));
    __m512i x_odd = _mm512_mask_mov_epi8(_mm512_srli_epi16(l, 8), ODD, h);
    __m512i q_even, q_odd, r_even, r_odd;
    divide(x_even, _mm512_and_si512(f, byte),
           _mm512_permutexvar_epi16(_mm512_and_si512(entry, byte), tables->reciprocal), &q_even,
           &r_even);
    divide(x_odd, _mm512_srli_epi16(f, 8),
           _mm512_permutexvar_epi16(_mm512_srli_epi16(entry, 8), tables->reciprocal), &q_odd,
           &r_odd);
    *high = _mm512_mask_mov_epi8(q_even, ODD, _mm512_slli_epi16(q_odd, 8));
    *low = _mm512_add_epi8(_mm512_mask_mov_epi8(r_even, ODD, _mm512_slli_epi16(r_odd, 8)), start);
}

INLINE void run_streams(struct rans_encode_job *job, const unsigned streams)
{
    struct tables tables[RANS_TABLES_MAX];
    __m512i low[RANS_STREAMS_MAX], high[RANS_STREAMS_MAX];
    uint8_t *stream[RANS_STREAMS_MAX];
    unsigned prepared = 0;

    for (unsigned v = 0; v < streams; v++) {
        low[v] = _mm512_loadu_si512(job->low + v * RANS_LANES);
        high[v] = _mm512_loadu_si512(job->high + v * RANS_LANES);
        stream[v] = job->stream[v];
    }
    for (size_t i = job->size; i > 0;) {
        size_t section = (i - 1) / RANS_SECTION;
        unsigned t = job->selectors[section];
        if (!(prepared >> t & 1)) {
            prepare(&job->tables[t], &tables[t]);
            prepared |= 1u << t;
        }
        const struct tables with = tables[t];
        while (i > section * RANS_SECTION) {
            i -= streams * RANS_LANES;
            for (unsigned v = 0; v < streams; v++) {
                __m512i entry = _mm512_loadu_si512(job->entries + i + v * RANS_LANES);
                encode_block(&with, entry, &low[v], &high[v], &stream[v]);
            }
        }
    }
    for (unsigned v = 0; v < streams; v++) {
        _mm512_storeu_si512(job->low + v * RANS_LANES, low[v]);
        _mm512_storeu_si512(job->high + v * RANS_LANES, high[v]);
        job->stream[v] = stream[v];
    }
}

static void run(struct rans_encode_job *job)
{
    if (job->stream_count == 1)
        run_streams(job, 1);
    else if (job->stream_count == 2)
        run_streams(job, 2);
    else
        run_streams(job, 4);
}

const struct rans_encode_kernel rans_encode_avx512 = {
    .count = count,
    .map = map,
    .run = run,
};
