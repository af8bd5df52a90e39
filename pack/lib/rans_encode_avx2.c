/* rans_encode_avx2.c - the encoder in AVX2: as in AVX-512, a stream taking two registers for
 * each half of its states. */
#include <immintrin.h>
#include <string.h>

#include "rans_encode_kernel.h"

#define INLINE static inline __attribute__((always_inline))

enum { HALF = RANS_LANES / 2 };

static void count(const uint8_t *symbols, size_t count, const uint8_t candidates[RANS_CANDIDATES],
                  struct rans_counts *ret)
{
    const __m256i zero = _mm256_setzero_si256();

    if (count != RANS_SECTION) {
        rans_encode_scalar.count(symbols, count, candidates, ret);
        return;
    }
    for (unsigned c = 0; c < RANS_CANDIDATES; c++) {
        __m256i symbol = _mm256_set1_epi8((char)candidates[c]), sum = zero;
        for (unsigned i = 0; i < RANS_SECTION; i += 32) {
            __m256i block = _mm256_loadu_si256((const __m256i *)(symbols + i));
            sum = _mm256_sub_epi8(sum, _mm256_cmpeq_epi8(block, symbol));
        }
        sum = _mm256_sad_epu8(sum, zero);
        sum = _mm256_add_epi64(sum, _mm256_permute4x64_epi64(sum, 0x4E));
        ret->of[c] = (uint16_t)(_mm256_extract_epi64(sum, 0) + _mm256_extract_epi64(sum, 1));
    }
}

static size_t map(const uint8_t *symbols, size_t count, const uint8_t map[256], uint8_t *entries,
                  uint8_t *escapes)
{
    return rans_encode_scalar.map(symbols, count, map, entries, escapes);
}

/* By entry, in every 16 bytes. The reciprocal of a frequency is 65536 / f, rounded down. */
struct tables {
    __m256i frequency, start;
    __m256i reciprocal_low, reciprocal_high;
};

/* For each mask of eight lanes, the shuffle that moves those set to the end, in order. */
struct gather_last {
    uint8_t order[256][8];
};

static void fill_gather_last(struct gather_last *ret)
{
    for (unsigned mask = 0; mask < 256; mask++) {
        unsigned to = 8;
        memset(ret->order[mask], 0, sizeof ret->order[mask]);
        for (unsigned lane = 8; lane-- > 0;)
            if (mask >> lane & 1)
                ret->order[mask][--to] = (uint8_t)lane;
    }
}

INLINE __m256i repeat16(const uint8_t bytes[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)bytes));
}

static void prepare(const struct rans_table *table, struct tables *ret)
{
    uint8_t low[16], high[16];

    for (unsigned i = 0; i < 16; i++) {
        unsigned f = table->frequency[i];
        unsigned reciprocal = f < 2 ? 65535 : 65536 / f;
        low[i] = (uint8_t)reciprocal;
        high[i] = (uint8_t)(reciprocal >> 8);
    }
    ret->frequency = repeat16(table->frequency);
    ret->start = repeat16(table->start);
    ret->reciprocal_low = repeat16(low);
    ret->reciprocal_high = repeat16(high);
}

/* Put the bytes whose bit is set in mask before those of the stream. What lies before them, up
 * to eight bytes, is overwritten too. */
INLINE void put_bytes(__m256i bytes, uint32_t mask, const struct gather_last *gather,
                      uint8_t **stream)
{
    const __m128i second = _mm_setr_epi32(0, 0, 0x08080808, 0x08080808);
    uint8_t *p = *stream;

    for (unsigned k = 2; k-- > 0;) {
        unsigned mask0 = mask >> (16 * k) & 255, mask1 = mask >> (16 * k + 8) & 255;
        __m128i half = k ? _mm256_extracti128_si256(bytes, 1) : _mm256_castsi256_si128(bytes);
        __m128i order = _mm_castps_si128(
            _mm_loadh_pi(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)gather->order[mask0])),
                         (const __m64 *)gather->order[mask1]));
        half = _mm_shuffle_epi8(half, _mm_or_si128(order, second));
        _mm_storeh_pi((__m64 *)(p - 8), _mm_castsi128_ps(half));
        p -= _mm_popcnt_u32(mask1);
        _mm_storel_epi64((__m128i *)(p - 8), half);
        p -= _mm_popcnt_u32(mask0);
    }
    *stream = p;
}

/* Quotient and remainder of 16 numbers of 16 bits, each less than 256 f. The reciprocal gives a
 * quotient that is right or one too small. */
INLINE void divide(__m256i x, __m256i f, __m256i reciprocal, __m256i *quotient, __m256i *remainder)
{
    __m256i q = _mm256_mulhi_epu16(x, reciprocal);
    __m256i r = _mm256_sub_epi16(x, _mm256_mullo_epi16(q, f));
    __m256i more = _mm256_cmpeq_epi16(_mm256_max_epu16(r, f), r); /* -1 where r >= f */
    *quotient = _mm256_sub_epi16(q, more);
    *remainder = _mm256_sub_epi16(r, _mm256_and_si256(more, f));
}

/* 16 bits a lane, for the even lanes, or for the odd ones, from their low bytes and high ones. */
INLINE __m256i even_words(__m256i low, __m256i high)
{
    return _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi16(255)),
                           _mm256_slli_epi16(high, 8));
}

INLINE __m256i odd_words(__m256i low, __m256i high)
{
    return _mm256_or_si256(_mm256_srli_epi16(low, 8),
                           _mm256_andnot_si256(_mm256_set1_epi16(255), high));
}

/* One symbol of each of 32 lanes. */
INLINE void encode_half(const struct tables *tables, const struct gather_last *gather,
                        __m256i entry, __m256i *low, __m256i *high, uint8_t **stream)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i f = _mm256_shuffle_epi8(tables->frequency, entry);
    __m256i start = _mm256_shuffle_epi8(tables->start, entry);
    __m256i reciprocal_low = _mm256_shuffle_epi8(tables->reciprocal_low, entry);
    __m256i reciprocal_high = _mm256_shuffle_epi8(tables->reciprocal_high, entry);

    __m256i emit = _mm256_cmpeq_epi8(_mm256_max_epu8(*high, f), *high);
    put_bytes(*low, (uint32_t)_mm256_movemask_epi8(emit), gather, stream);
    __m256i l = _mm256_blendv_epi8(*low, *high, emit);
    __m256i h = _mm256_andnot_si256(emit, *high);

    __m256i q_even, q_odd, r_even, r_odd;
    divide(even_words(l, h), even_words(f, zero), even_words(reciprocal_low, reciprocal_high),
           &q_even, &r_even);
    divide(odd_words(l, h), odd_words(f, zero), odd_words(reciprocal_low, reciprocal_high), &q_odd,
           &r_odd);
    *high = _mm256_or_si256(q_even, _mm256_slli_epi16(q_odd, 8));
    *low = _mm256_add_epi8(_mm256_or_si256(r_even, _mm256_slli_epi16(r_odd, 8)), start);
}

/* One stream's symbols of one group, the upper lanes first. */
INLINE void encode_block(struct rans_encode_job *job, unsigned v, const struct tables *tables,
                         const struct gather_last *gather, const uint8_t *entries)
{
    for (unsigned k = 2; k-- > 0;) {
        __m256i *low = (__m256i *)(job->low + v * RANS_LANES + k * HALF);
        __m256i *high = (__m256i *)(job->high + v * RANS_LANES + k * HALF);
        __m256i l = _mm256_loadu_si256(low), h = _mm256_loadu_si256(high);
        __m256i entry = _mm256_loadu_si256((const __m256i *)(entries + k * HALF));
        encode_half(tables, gather, entry, &l, &h, &job->stream[v]);
        _mm256_storeu_si256(low, l);
        _mm256_storeu_si256(high, h);
    }
}

static void run(struct rans_encode_job *job)
{
    struct gather_last gather;
    struct tables tables[RANS_TABLES_MAX];
    size_t group = (size_t)job->stream_count * RANS_LANES;
    unsigned prepared = 0;

    fill_gather_last(&gather);
    for (size_t i = job->size; i > 0;) {
        i -= group;
        unsigned t = job->selectors[i / RANS_SECTION];
        if (!(prepared >> t & 1)) {
            prepare(&job->tables[t], &tables[t]);
            prepared |= 1u << t;
        }
        for (unsigned v = job->stream_count; v-- > 0;)
            encode_block(job, v, &tables[t], &gather, job->entries + i + v * RANS_LANES);
    }
}

const struct rans_encode_kernel rans_encode_avx2 = {
    .count = count,
    .map = map,
    .run = run,
};
