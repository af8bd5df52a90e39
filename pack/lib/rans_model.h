/* rans_model.h - the tables of the coder rans: chosen for a plane, in integers only.
 * For the encoder alone. A model is scratch memory, used by one thread at a time. */
#ifndef TRUNK_RANS_MODEL_H
#define TRUNK_RANS_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "frame_sample.h"
#include "rans_encode_kernel.h"
#include "rans_table.h"

struct rans_model {
    /* Results of rans_model_choose. */
    unsigned table_count; /* 1, 2 or 4 */
    struct rans_table table[RANS_TABLES_MAX];
    uint8_t *selectors; /* one a section */
    size_t packed_size; /* estimate: tables, selectors, streams without states, escapes */
    /* Scratch. */
    const struct frame_log2 *log2;
    uint8_t candidates[RANS_CANDIDATES]; /* the symbols that may be direct in a table */
    struct rans_counts *counts;          /* one a section */
    uint16_t *means;                     /* one a section */
};

/* For planes of up to max_size bytes. log2 stays the caller's. Returns 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int rans_model_init(struct rans_model *model, size_t max_size,
                                                        const struct frame_log2 *log2);
void rans_model_fini(struct rans_model *model); /* also of a zeroed one */

/* Choose for plane (size bytes, 1 to max_size): how many tables, which, and for each section
 * of RANS_SECTION bytes one of them. */
void rans_model_choose(struct rans_model *model, const struct rans_encode_kernel *kernel,
                       const uint8_t *plane, size_t size);

#endif
