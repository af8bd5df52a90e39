/* rans_model.h - the tables of the coder rans: chosen for a plane, in integers only.
 * For the encoder alone. Callable on any thread. */
#ifndef TRUNK_RANS_MODEL_H
#define TRUNK_RANS_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "frame_sample.h"
#include "rans_table.h"

struct rans_model {
    unsigned table_count; /* 1, 2 or 4 */
    struct rans_table table[RANS_TABLES_MAX];
    size_t packed_size; /* estimate: tables, selectors, streams and escapes */
};

/* Choose for plane (size bytes, at least 1): how many tables, which, and for each section
 * of RANS_SECTION bytes one of them, to selectors. */
void rans_model_choose(const struct frame_log2 *log2, const uint8_t *plane, size_t size,
                       uint8_t *selectors, struct rans_model *ret);

#endif
