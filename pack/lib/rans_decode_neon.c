/* rans_decode_neon.c - the decoder in NEON (AArch64): as in AVX2, a stream taking four
 * registers for each half of its states. */
#include <arm_neon.h>

#include "rans_decode_kernel.h"
#include "rans_expand.h"

#define INLINE static inline __attribute__((always_inline))

enum { PREFETCH_REST = 1536, PREFETCH_STREAM = 512, QUARTER = RANS_LANES / 4 };

struct tables {
    uint8x16_t frequency, start, symbol;
    uint8x16x2_t first_slots;   /* entries of the first 32 slots */
    uint8x16_t threshold, base; /* and of the others, by bucket (rans_decode_kernel.h) */
    uint8x16x4_t slots[4];      /* entries of all slots, where buckets do not do */
};

/* The state of a stream. */
struct state {
    uint8x16_t low[4], high[4];
    const uint8_t *stream;
};

INLINE void load_tables(const struct rans_decode_job *job, unsigned table, const bool two_steps,
                        struct tables *ret)
{
    const struct rans_lookup *lookup = &job->lookup[table];

    ret->frequency = vld1q_u8(lookup->frequency);
    ret->start = vld1q_u8(lookup->start);
    ret->symbol = vld1q_u8(lookup->symbol);
    if (two_steps) {
        ret->first_slots = vld1q_u8_x2(lookup->slot);
        ret->threshold = vld1q_u8(lookup->threshold);
        ret->base = vld1q_u8(lookup->base);
        return;
    }
    for (unsigned i = 0; i < 4; i++)
        ret->slots[i] = vld1q_u8_x4(lookup->slot + 64 * i);
}

/* Look-ups beyond a table give 0, or leave what vqtbx was given. */
INLINE uint8x16_t look_up(const struct tables *tables, const bool two_steps, uint8x16_t slot)
{
    if (two_steps) {
        uint8x16_t bucket = vshrq_n_u8(slot, 4);
        uint8x16_t above = vcgeq_u8(slot, vqtbl1q_u8(tables->threshold, bucket)); /* -1 */
        uint8x16_t entry = vsubq_u8(vqtbl1q_u8(tables->base, bucket), above);
        return vorrq_u8(entry, vqtbl2q_u8(tables->first_slots, slot));
    }
    uint8x16_t entry = vqtbl4q_u8(tables->slots[0], slot);
    entry = vqtbx4q_u8(entry, tables->slots[1], vsubq_u8(slot, vdupq_n_u8(64)));
    entry = vqtbx4q_u8(entry, tables->slots[2], vsubq_u8(slot, vdupq_n_u8(128)));
    return vqtbx4q_u8(entry, tables->slots[3], vsubq_u8(slot, vdupq_n_u8(192)));
}

/* One bit a lane, from lanes of 0 or 255. */
INLINE uint64_t to_mask(const uint8x16_t lanes[4])
{
    const uint8x16_t bits = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    uint8x16_t lower = vpaddq_u8(vandq_u8(lanes[0], bits), vandq_u8(lanes[1], bits));
    uint8x16_t upper = vpaddq_u8(vandq_u8(lanes[2], bits), vandq_u8(lanes[3], bits));
    uint8x16_t sum = vpaddq_u8(lower, upper);
    sum = vpaddq_u8(sum, sum);
    return vgetq_lane_u64(vreinterpretq_u64_u8(sum), 0);
}

/* Deal the next bytes of the stream to the lanes whose bit is set in refill, 0 to the others. */
INLINE void take_bytes(struct state *state, uint64_t refill, uint8x16_t ret[4])
{
    const uint8x16_t second = vcombine_u8(vdup_n_u8(0), vdup_n_u8(8));
    const uint8_t *p = state->stream;

    for (unsigned k = 0; k < 4; k++) {
        unsigned mask0 = refill >> (16 * k) & 255, mask1 = refill >> (16 * k + 8) & 255;
        const uint8_t *next = p + __builtin_popcount(mask0);
        uint8x16_t from = vcombine_u8(vld1_u8(p), vld1_u8(next));
        uint8x16_t order = vcombine_u8(vld1_u8(rans_expand[mask0]), vld1_u8(rans_expand[mask1]));
        ret[k] = vqtbl1q_u8(from, vorrq_u8(order, second));
        p = next + __builtin_popcount(mask1);
    }
    state->stream = p;
}

/* Put escapes into the lanes of entry 0: rare, so one by one. */
INLINE void put_escapes(uint8x16_t symbols[4], uint64_t escaped, const uint8_t **escape)
{
    uint8_t bytes[RANS_LANES];
    const uint8_t *from = *escape;

    for (unsigned k = 0; k < 4; k++)
        vst1q_u8(bytes + k * QUARTER, symbols[k]);
    for (; escaped; escaped &= escaped - 1)
        bytes[__builtin_ctzll(escaped)] = *from++;
    for (unsigned k = 0; k < 4; k++)
        symbols[k] = vld1q_u8(bytes + k * QUARTER);
    *escape = from;
}

/* One symbol of each of 64 lanes. */
INLINE void decode_symbols(const struct tables *tables, const bool two_steps, struct state *state,
                           const uint8_t **escape, uint8x16_t ret_symbols[4])
{
    uint8x16_t low[4], high[4], empty[4], escaped[4], fresh[4];

    for (unsigned k = 0; k < 4; k++) {
        uint8x16_t entry = look_up(tables, two_steps, state->low[k]);
        uint8x16_t f = vqtbl1q_u8(tables->frequency, entry);
        uint8x16_t rank = vsubq_u8(state->low[k], vqtbl1q_u8(tables->start, entry));
        ret_symbols[k] = vqtbl1q_u8(tables->symbol, entry);
        escaped[k] = vceqzq_u8(entry);
        uint16x8_t x0 =
            vmlal_u8(vmovl_u8(vget_low_u8(rank)), vget_low_u8(f), vget_low_u8(state->high[k]));
        uint16x8_t x1 = vmlal_high_u8(vmovl_high_u8(rank), f, state->high[k]);
        high[k] = vuzp2q_u8(vreinterpretq_u8_u16(x0), vreinterpretq_u8_u16(x1));
        low[k] = vuzp1q_u8(vreinterpretq_u8_u16(x0), vreinterpretq_u8_u16(x1));
        empty[k] = vceqzq_u8(high[k]);
    }
    take_bytes(state, to_mask(empty), fresh);
    for (unsigned k = 0; k < 4; k++) {
        state->high[k] = vbslq_u8(empty[k], low[k], high[k]);
        state->low[k] = vbslq_u8(empty[k], fresh[k], low[k]);
    }
    uint8x16_t any = vorrq_u8(vorrq_u8(escaped[0], escaped[1]), vorrq_u8(escaped[2], escaped[3]));
    if (__builtin_expect(vmaxvq_u8(any) != 0, 0))
        put_escapes(ret_symbols, to_mask(escaped), escape);
}

/* 64 symbols and their bytes of rest, both in lane order, to 64 elements in memory order. */
INLINE void join_block(const uint8x16_t symbols[4], const uint8_t *rest, uint8_t *out)
{
    for (unsigned k = 0; k < 4; k++) {
        uint8x16_t r = vld1q_u8(rest + k * QUARTER);
        uint16x8_t first = vreinterpretq_u16_u8(vzip1q_u8(r, symbols[k]));
        uint16x8_t second = vreinterpretq_u16_u8(vzip2q_u8(r, symbols[k]));
        first = vsliq_n_u16(vshrq_n_u16(first, 1), first, 15);
        second = vsliq_n_u16(vshrq_n_u16(second, 1), second, 15);
        vst1q_u8(out + k * QUARTER, vreinterpretq_u8_u16(first));
        vst1q_u8(out + RANS_LANES + k * QUARTER, vreinterpretq_u8_u16(second));
    }
    __builtin_prefetch(rest + PREFETCH_REST);
}

INLINE void load_state(const struct rans_decode_job *job, unsigned v, struct state *ret)
{
    for (unsigned k = 0; k < 4; k++) {
        ret->low[k] = vld1q_u8(job->low + v * RANS_LANES + k * QUARTER);
        ret->high[k] = vld1q_u8(job->high + v * RANS_LANES + k * QUARTER);
    }
    ret->stream = job->stream[v];
}

INLINE void store_state(struct rans_decode_job *job, unsigned v, const struct state *state)
{
    for (unsigned k = 0; k < 4; k++) {
        vst1q_u8(job->low + v * RANS_LANES + k * QUARTER, state->low[k]);
        vst1q_u8(job->high + v * RANS_LANES + k * QUARTER, state->high[k]);
    }
    job->stream[v] = state->stream;
}

INLINE void decode_block(const struct tables *tables, const bool two_steps, const bool join,
                         struct state *state, const uint8_t **escape, const uint8_t *rest,
                         uint8_t *out)
{
    uint8x16_t symbols[4];

    decode_symbols(tables, two_steps, state, escape, symbols);
    __builtin_prefetch(state->stream + PREFETCH_STREAM);
    if (join) {
        join_block(symbols, rest, out);
        return;
    }
    for (unsigned k = 0; k < 4; k++)
        vst1q_u8(out + k * QUARTER, symbols[k]);
}

INLINE bool looks_up_in_two_steps(const struct rans_decode_job *job)
{
    return job->two_steps;
}

#include "rans_decode_loop.h"

const struct rans_decode_kernel rans_decode_neon = {
    .prepare = rans_decode_prepare_lookup,
    .run = run,
};
