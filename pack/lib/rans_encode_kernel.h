/* rans_encode_kernel.h - what the encoders of each instruction set take and give.
 * All give the same bytes. */
#ifndef TRUNK_RANS_ENCODE_KERNEL_H
#define TRUNK_RANS_ENCODE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "isa.h"
#include "rans_format.h"
#include "rans_table.h"

struct rans_encode_job {
    const struct rans_table *tables;
    const uint8_t *selectors; /* one a section */
    const uint8_t *entries;   /* of each symbol, padding included */
    size_t size;              /* symbols: whole groups */
    unsigned stream_count;    /* 1, 2 or 4 */
    /* States by lane: on entry what they shall end with after decoding, on return what
     * decoding begins with. */
    uint8_t low[RANS_STREAMS_MAX * RANS_LANES];
    uint8_t high[RANS_STREAMS_MAX * RANS_LANES];
    /* Renormalisation bytes are put before these, which move down, by at most one a symbol; the
     * eight bytes before that may be overwritten too. */
    uint8_t *stream[RANS_STREAMS_MAX];
};

/* How often each of some symbols occurs in a section. */
enum { RANS_CANDIDATES = 20 };
struct rans_counts {
    uint16_t of[RANS_CANDIDATES];
};

struct rans_encode_kernel {
    /* Count candidates, all different, among count (1 to RANS_SECTION) symbols. */
    void (*count)(const uint8_t *symbols, size_t count, const uint8_t candidates[RANS_CANDIDATES],
                  struct rans_counts *ret);
    /* Look up the entry of each of count symbols in map, and append those with entry 0 to
     * escapes, which has RANS_LANES bytes of room behind what is needed. Returns how many. */
    size_t (*map)(const uint8_t *symbols, size_t count, const uint8_t map[256], uint8_t *entries,
                  uint8_t *escapes);
    void (*run)(struct rans_encode_job *job);
};

extern const struct rans_encode_kernel rans_encode_scalar;
extern const struct rans_encode_kernel rans_encode_avx2;
extern const struct rans_encode_kernel rans_encode_avx512;

#endif
