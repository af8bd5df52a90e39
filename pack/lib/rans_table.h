/* rans_table.h - a frequency table of the coder rans: its entries and its bytes.
 * Shared by encoder and decoder. Callable on any thread. */
#ifndef TRUNK_RANS_TABLE_H
#define TRUNK_RANS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "rans_format.h"

struct rans_table {
    uint8_t entry_count; /* 2 to RANS_ENTRIES_MAX; entry 0 is the escape, whose symbol is 0 */
    uint8_t symbol[RANS_ENTRIES_MAX];
    uint8_t frequency[RANS_ENTRIES_MAX]; /* 1 to 255, sum RANS_SLOTS; 0 beyond entry_count */
    uint8_t start[RANS_ENTRIES_MAX];
};

/* Arrange direct_count (1 to 15) symbols, strictly ascending, with frequencies of at least 1
 * that sum to at most 255, as entries in the order that FORMAT.md gives. */
void rans_table_arrange(unsigned direct_count, const uint8_t *symbols, const uint8_t *frequencies,
                        struct rans_table *ret);

/* Read and check one table at bytes. Returns 0 and how many bytes it took; -EBADMSG. */
__attribute__((warn_unused_result)) int rans_table_read(const uint8_t *bytes, size_t size,
                                                        struct rans_table *ret, size_t *ret_used);

/* Write table to bytes, at most RANS_TABLE_SIZE_MAX of them. Returns how many. */
size_t rans_table_write(const struct rans_table *table, uint8_t *bytes);

#endif
