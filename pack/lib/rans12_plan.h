/* rans12_plan.h - the choice of tables for one plane of the coder rans12. For
 * plane_rans12_encode.c alone; integers only, so that every machine chooses alike. */
#ifndef TRUNK_RANS12_PLAN_H
#define TRUNK_RANS12_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame_sample.h"
#include "rans12_format.h"

struct rans12_plan {
    unsigned table_bits; /* log2 of the number of tables */
    bool marked;
    uint8_t marker;
    size_t literal_count;
    uint64_t cost; /* of tables, symbols and literals, in units of 1 / FRAME_BIT bit */
    struct rans12_table tables[RANS12_TABLES_MAX];
};

struct rans12_planner;

/* Returns 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int rans12_planner_new(size_t max_plane_size,
                                                           struct rans12_planner **ret);
void rans12_planner_free(struct rans12_planner *planner); /* NULL is allowed */

/* Plan for a plane of more than RANS12_PLANE_MIN and at most max_plane_size bytes. selectors, one
 * byte for each section, is part of the plan. */
void rans12_plan_make(struct rans12_planner *planner, const struct frame_log2 *log2,
                      const uint8_t *plane, size_t plane_size, struct rans12_plan *ret,
                      uint8_t *selectors);

#endif
