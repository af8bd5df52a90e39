/* rans12_table.h - a table of the coder rans12 from counts, and to bits. For the encoder
 * alone; integers only. Callable on any thread. */
#ifndef TRUNK_RANS12_TABLE_H
#define TRUNK_RANS12_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "frame_sample.h"
#include "rans12_format.h"

/* log2 of value, 1 or more, in units of 1 / FRAME_BIT. */
uint32_t rans12_log2(const struct frame_log2 *log2, uint32_t value);

enum { RANS12_NO_MARKER = 256 };

/* Fit a table to counts, whose sum is at least 1. With a marker, it is left out, and so are
 * bytes that occur too rarely for a slot of their own. Returns how many occurrences that
 * leaves to the escape. */
uint32_t rans12_table_fit(const struct frame_log2 *log2, const uint32_t counts[256],
                          unsigned marker, struct rans12_table *ret);

/* What counts cost by a table that was built (rans12_format.h), literals and the table's own
 * description included, in units of 1 / FRAME_BIT bit. */
uint64_t rans12_table_cost(const struct frame_log2 *log2, const struct rans12_table *table,
                           bool marked, const uint32_t counts[256]);

/* The bits of the table as FORMAT.md 8.2 has them, at position (in bits) of bytes, which
 * must be zero from there on; bytes may be NULL. Returns the position behind. */
size_t rans12_table_write(const struct rans12_table *table, bool marked, uint8_t *bytes,
                          size_t position);

#endif
