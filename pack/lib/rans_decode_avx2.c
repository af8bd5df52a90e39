/* rans_decode_avx2.c - the decoder in AVX2: as in AVX-512, a stream taking two registers for
 * each half of its states. */
#include <immintrin.h>

#include "rans_decode_kernel.h"
#include "rans_expand.h"

#define INLINE static inline __attribute__((always_inline))

enum { PREFETCH_REST = 1536, PREFETCH_STREAM = 512, HALF = RANS_LANES / 2 };

struct tables {
    __m256i frequency, start, symbol;
    __m256i slot0, slot1;            /* entries of the first 32 slots */
    __m256i threshold, base;         /* and of the others, by bucket (rans_decode_kernel.h) */
    __m256i first[RANS_ENTRIES_MAX]; /* first slot of each entry, less 1, as signed + 128 */
};

struct state {
    __m256i low[2], high[2];
    const uint8_t *stream;
};

INLINE __m256i repeat16(const uint8_t *bytes)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)bytes));
}

INLINE void load_tables(const struct rans_decode_job *job, unsigned t, const bool two_steps,
                        struct tables *ret)
{
    const struct rans_lookup *lookup = &job->lookup[t];
    const struct rans_table *table = &job->table[t];

    ret->frequency = repeat16(lookup->frequency);
    ret->start = repeat16(lookup->start);
    ret->symbol = repeat16(lookup->symbol);
    if (two_steps) {
        ret->slot0 = repeat16(lookup->slot);
        ret->slot1 = repeat16(lookup->slot + 16);
        ret->threshold = repeat16(lookup->threshold);
        ret->base = repeat16(lookup->base);
        return;
    }
    for (unsigned i = 1; i < RANS_ENTRIES_MAX; i++) {
        int last = i < table->entry_count ? table->start[i] - 1 : 255; /* 255: never above */
        ret->first[i] = _mm256_set1_epi8((char)(last ^ 0x80));
    }
}

INLINE void load_state(const struct rans_decode_job *job, unsigned v, struct state *ret)
{
    for (unsigned k = 0; k < 2; k++) {
        size_t at = v * RANS_LANES + k * HALF;
        ret->low[k] = _mm256_loadu_si256((const __m256i *)(job->low + at));
        ret->high[k] = _mm256_loadu_si256((const __m256i *)(job->high + at));
    }
    ret->stream = job->stream[v];
}

INLINE void store_state(struct rans_decode_job *job, unsigned v, const struct state *state)
{
    for (unsigned k = 0; k < 2; k++) {
        size_t at = v * RANS_LANES + k * HALF;
        _mm256_storeu_si256((__m256i *)(job->low + at), state->low[k]);
        _mm256_storeu_si256((__m256i *)(job->high + at), state->high[k]);
    }
    job->stream[v] = state->stream;
}

/* The first 32 slots one by one, the others by bucket of 16 and one comparison. */
INLINE __m256i look_up_two_steps(const struct tables *tables, __m256i slot)
{
    const __m256i to_high_bit = _mm256_set1_epi8(0x70); /* shuffling gives 0 from 0x80 on */
    __m256i bucket = _mm256_and_si256(_mm256_srli_epi16(slot, 4), _mm256_set1_epi8(15));
    __m256i threshold = _mm256_shuffle_epi8(tables->threshold, bucket);
    __m256i base = _mm256_shuffle_epi8(tables->base, bucket);
    __m256i above = _mm256_cmpeq_epi8(_mm256_max_epu8(slot, threshold), slot); /* -1 */
    __m256i in0 = _mm256_shuffle_epi8(tables->slot0, _mm256_adds_epu8(slot, to_high_bit));
    __m256i in1 = _mm256_shuffle_epi8(
        tables->slot1, _mm256_adds_epu8(_mm256_sub_epi8(slot, _mm256_set1_epi8(16)), to_high_bit));
    return _mm256_or_si256(_mm256_sub_epi8(base, above), _mm256_or_si256(in0, in1));
}

/* Any table: count the entries that begin at or before the slot. */
INLINE __m256i look_up_by_comparing(const struct tables *tables, __m256i slot)
{
    __m256i biased = _mm256_xor_si256(slot, _mm256_set1_epi8((char)0x80));
    __m256i entry = _mm256_setzero_si256();
    for (unsigned i = 1; i < RANS_ENTRIES_MAX; i++)
        entry = _mm256_sub_epi8(entry, _mm256_cmpgt_epi8(biased, tables->first[i]));
    return entry;
}

/* 8 + 8 bytes, as two halves of a register. */
INLINE __m128i load_pair(const void *first, const void *second)
{
    return _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(_mm_loadl_epi64(first)), second));
}

/* The next bytes of the stream, one to each lane whose bit is set in refill, 0 to the others. */
INLINE __m256i take_bytes(const uint8_t **stream, uint32_t refill)
{
    const __m256i second = _mm256_setr_epi64x(0, 0x0808080808080808, 0, 0x0808080808080808);
    const uint8_t *p = *stream;
    __m128i from0 = load_pair(p, p + _mm_popcnt_u32(refill & 0xFF));
    __m128i from1 =
        load_pair(p + _mm_popcnt_u32(refill & 0xFFFF), p + _mm_popcnt_u32(refill & 0xFFFFFF));
    __m128i order0 = load_pair(rans_expand[refill & 255], rans_expand[refill >> 8 & 255]);
    __m128i order1 = load_pair(rans_expand[refill >> 16 & 255], rans_expand[refill >> 24]);
    __m256i from = _mm256_inserti128_si256(_mm256_castsi128_si256(from0), from1, 1);
    __m256i order = _mm256_inserti128_si256(_mm256_castsi128_si256(order0), order1, 1);

    *stream += _mm_popcnt_u32(refill);
    return _mm256_shuffle_epi8(from, _mm256_or_si256(order, second));
}

/* Put escapes into the lanes whose bit is set: rare, so one by one. */
INLINE __m256i put_escapes(__m256i symbol, uint32_t escaped, const uint8_t **escape)
{
    _Alignas(32) uint8_t bytes[HALF];
    const uint8_t *from = *escape;

    _mm256_store_si256((__m256i *)bytes, symbol);
    for (; escaped; escaped &= escaped - 1)
        bytes[__builtin_ctz(escaped)] = *from++;
    *escape = from;
    return _mm256_load_si256((const __m256i *)bytes);
}

/* One symbol of each of 32 lanes. */
INLINE __m256i decode_half(const struct tables *tables, const bool two_steps, struct state *state,
                           unsigned k, const uint8_t **escape)
{
    const __m256i byte = _mm256_set1_epi16(255), zero = _mm256_setzero_si256();
    __m256i low = state->low[k], high = state->high[k];

    __m256i entry = two_steps ? look_up_two_steps(tables, low) : look_up_by_comparing(tables, low);
    __m256i f = _mm256_shuffle_epi8(tables->frequency, entry);
    __m256i rank = _mm256_sub_epi8(low, _mm256_shuffle_epi8(tables->start, entry));
    __m256i symbol = _mm256_shuffle_epi8(tables->symbol, entry);

    /* frequency * high + rank, in 16 bits, for the even lanes and the odd ones. */
    __m256i x_even = _mm256_add_epi16(
        _mm256_mullo_epi16(_mm256_and_si256(f, byte), _mm256_and_si256(high, byte)),
        _mm256_and_si256(rank, byte));
    __m256i x_odd =
        _mm256_add_epi16(_mm256_mullo_epi16(_mm256_srli_epi16(f, 8), _mm256_srli_epi16(high, 8)),
                         _mm256_srli_epi16(rank, 8));
    __m256i h = _mm256_or_si256(_mm256_srli_epi16(x_even, 8), _mm256_andnot_si256(byte, x_odd));
    __m256i l = _mm256_or_si256(_mm256_and_si256(x_even, byte), _mm256_slli_epi16(x_odd, 8));

    __m256i empty = _mm256_cmpeq_epi8(h, zero);
    __m256i fresh = take_bytes(&state->stream, (uint32_t)_mm256_movemask_epi8(empty));
    state->high[k] = _mm256_or_si256(h, _mm256_and_si256(empty, l));
    state->low[k] = _mm256_or_si256(_mm256_andnot_si256(empty, l), fresh);

    uint32_t escaped = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(entry, zero));
    if (__builtin_expect(escaped != 0, 0))
        symbol = put_escapes(symbol, escaped, escape);
    return symbol;
}

INLINE __m256i rotate_right_1(__m256i words)
{
    return _mm256_or_si256(_mm256_srli_epi16(words, 1), _mm256_slli_epi16(words, 15));
}

/* 32 symbols and their bytes of rest, in lane order, to 16 elements at out and 16 that lie 32
 * elements further on. */
INLINE void join_half(__m256i symbol, const uint8_t *rest, uint8_t *out)
{
    __m256i r = _mm256_loadu_si256((const __m256i *)rest);
    __m256i first = rotate_right_1(_mm256_unpacklo_epi8(r, symbol));
    __m256i second = rotate_right_1(_mm256_unpackhi_epi8(r, symbol));
    _mm256_storeu_si256((__m256i *)out, first);
    _mm256_storeu_si256((__m256i *)(out + 64), second);
}

INLINE void decode_block(const struct tables *tables, const bool two_steps, const bool join,
                         struct state *state, const uint8_t **escape, const uint8_t *rest,
                         uint8_t *out)
{
    for (unsigned k = 0; k < 2; k++) {
        __m256i symbol = decode_half(tables, two_steps, state, k, escape);
        if (join)
            join_half(symbol, rest + k * HALF, out + k * HALF);
        else
            _mm256_storeu_si256((__m256i *)(out + k * HALF), symbol);
    }
    _mm_prefetch((const char *)state->stream + PREFETCH_STREAM, _MM_HINT_T0);
    if (join)
        _mm_prefetch((const char *)rest + PREFETCH_REST, _MM_HINT_T0);
}

INLINE bool looks_up_in_two_steps(const struct rans_decode_job *job)
{
    return job->two_steps;
}

#include "rans_decode_loop.h"

const struct rans_decode_kernel rans_decode_avx2 = {
    .prepare = rans_decode_prepare_lookup,
    .run = run,
};
