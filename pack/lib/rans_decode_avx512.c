/* rans_decode_avx512.c - the decoder in AVX-512 with VBMI and VBMI2: one register holds the
 * low bytes of a stream's 64 states, one the high bytes; the tables stay in registers. */
#include <immintrin.h>

#include "rans_decode_kernel.h"

#define INLINE static inline __attribute__((always_inline))

/* How far ahead memory is fetched, in bytes: rest and streams are read once, from a place
 * that was written long ago, and the hardware does not follow that many at a time. */
enum { PREFETCH_REST = 1536, PREFETCH_STREAM = 512 };

struct tables {
    __m512i slot[4];
    __m512i frequency, start, symbol;
};

struct state {
    __m512i low, high;
    const uint8_t *stream;
};

INLINE __m512i repeat16(const uint8_t bytes[16])
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)bytes));
}

INLINE void load_tables(const struct rans_decode_job *job, unsigned table, const bool two_steps,
                        struct tables *ret)
{
    const struct rans_lookup *lookup = &job->lookup[table];

    (void)two_steps;
    for (unsigned i = 0; i < 4; i++)
        ret->slot[i] = _mm512_load_si512(lookup->slot + 64 * i);
    ret->frequency = repeat16(lookup->frequency);
    ret->start = repeat16(lookup->start);
    ret->symbol = repeat16(lookup->symbol);
}

INLINE void load_state(const struct rans_decode_job *job, unsigned v, struct state *ret)
{
    ret->low = _mm512_loadu_si512(job->low + v * RANS_LANES);
    ret->high = _mm512_loadu_si512(job->high + v * RANS_LANES);
    ret->stream = job->stream[v];
}

INLINE void store_state(struct rans_decode_job *job, unsigned v, const struct state *state)
{
    _mm512_storeu_si512(job->low + v * RANS_LANES, state->low);
    _mm512_storeu_si512(job->high + v * RANS_LANES, state->high);
    job->stream[v] = state->stream;
}

INLINE __m512i look_up(const struct tables *tables, __m512i slot)
{
    __m512i lower = _mm512_permutex2var_epi8(tables->slot[0], slot, tables->slot[1]);
    __m512i upper = _mm512_permutex2var_epi8(tables->slot[2], slot, tables->slot[3]);
    return _mm512_mask_mov_epi8(lower, _mm512_movepi8_mask(slot), upper);
}

/* One symbol of each of 64 lanes. */
INLINE __m512i decode_symbols(const struct tables *tables, struct state *state,
                              const uint8_t **escape)
{
    const __m512i byte = _mm512_set1_epi16(255);
    const __mmask64 odd = 0xAAAAAAAAAAAAAAAA;

    __m512i entry = look_up(tables, state->low);
    __m512i f = _mm512_shuffle_epi8(tables->frequency, entry);
    __m512i rank = _mm512_sub_epi8(state->low, _mm512_shuffle_epi8(tables->start, entry));
    __m512i symbol = _mm512_shuffle_epi8(tables->symbol, entry);

    /* frequency * high + rank, in 16 bits, for the even lanes and the odd ones. */
    __m512i x_even = _mm512_add_epi16(
        _mm512_mullo_epi16(_mm512_and_si512(f, byte), _mm512_and_si512(state->high, byte)),
        _mm512_and_si512(rank, byte));
    __m512i x_odd = _mm512_add_epi16(
        _mm512_mullo_epi16(_mm512_srli_epi16(f, 8), _mm512_srli_epi16(state->high, 8)),
        _mm512_srli_epi16(rank, 8));
    __m512i h = _mm512_mask_mov_epi8(_mm512_srli_epi16(x_even, 8), odd, x_odd);
    __m512i l = _mm512_mask_mov_epi8(x_even, odd, _mm512_slli_epi16(x_odd, 8));

    __mmask64 refill = _mm512_testn_epi8_mask(h, h);
    state->low = _mm512_mask_expand_epi8(l, refill, _mm512_loadu_si512(state->stream));
    state->high = _mm512_mask_mov_epi8(h, refill, l);
    state->stream += _mm_popcnt_u64(refill);

    __mmask64 escaped = _mm512_testn_epi8_mask(entry, entry);
    symbol = _mm512_mask_expand_epi8(symbol, escaped, _mm512_loadu_si512(*escape));
    *escape += _mm_popcnt_u64(escaped);
    return symbol;
}

/* 64 symbols and their bytes of rest, both in lane order, to 64 elements in memory order. */
INLINE void join_block(__m512i symbol, const uint8_t *rest, uint8_t *out)
{
    __m512i r = _mm512_loadu_si512(rest);
    __m512i first = _mm512_unpacklo_epi8(r, symbol), second = _mm512_unpackhi_epi8(r, symbol);
    _mm512_storeu_si512(out, _mm512_shrdi_epi16(first, first, 1));
    _mm512_storeu_si512(out + 64, _mm512_shrdi_epi16(second, second, 1));
    _mm_prefetch((const char *)rest + PREFETCH_REST, _MM_HINT_T0);
}

INLINE void decode_block(const struct tables *tables, const bool two_steps, const bool join,
                         struct state *state, const uint8_t **escape, const uint8_t *rest,
                         uint8_t *out)
{
    (void)two_steps;
    __m512i symbol = decode_symbols(tables, state, escape);
    _mm_prefetch((const char *)state->stream + PREFETCH_STREAM, _MM_HINT_T0);
    if (join)
        join_block(symbol, rest, out);
    else
        _mm512_storeu_si512(out, symbol);
}

/* There are instructions to look up all 256 slots at once. */
INLINE bool looks_up_in_two_steps(const struct rans_decode_job *job)
{
    (void)job;
    return false;
}

#include "rans_decode_loop.h"

const struct rans_decode_kernel rans_decode_avx512 = {
    .prepare = rans_decode_prepare_lookup,
    .run = run,
};
