/* rans_table_fit.h - the best table of the coder rans for given counts, in integers only.
 * For the encoder alone. Callable on any thread. */
#ifndef TRUNK_RANS_TABLE_FIT_H
#define TRUNK_RANS_TABLE_FIT_H

#include <stdint.h>

#include "frame_sample.h"
#include "rans_encode_kernel.h"
#include "rans_table.h"

/* How often each candidate occurs, and how many symbols there are in all. */
struct rans_sums {
    uint32_t of[RANS_CANDIDATES];
    uint32_t total;
};

/* What a table's symbols cost, in 1 / RANS_PRICE_BIT bit. */
enum { RANS_PRICE_BIT = 256 };
struct rans_prices {
    int16_t of[RANS_CANDIDATES];
    int16_t escape; /* any other symbol */
};

/* Fit a table to sums (any, also all zero). Returns what it and the symbols cost, in
 * units of 1 / FRAME_BIT bit. */
uint64_t rans_table_fit(const struct frame_log2 *log2, const uint8_t candidates[RANS_CANDIDATES],
                        const struct rans_sums *sums, struct rans_table *ret);

void rans_table_price(const struct frame_log2 *log2, const uint8_t candidates[RANS_CANDIDATES],
                      const struct rans_table *table, struct rans_prices *ret);

#endif
