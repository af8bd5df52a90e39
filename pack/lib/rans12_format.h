/* rans12_format.h - constants and tables of the coder rans12 (FORMAT.md, 8), for its encoder
 * and its decoders. Callable on any thread. */
#ifndef TRUNK_RANS12_FORMAT_H
#define TRUNK_RANS12_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RANS12_BITS = 12,
    RANS12_SLOTS = 1 << RANS12_BITS,
    RANS12_VECTORS = 4,             /* symbol i of a group is lane 16 * (i % 4) + i / 4 */
    RANS12_LANES = 64,              /* symbols of a group */
    RANS12_TAIL = 2 * RANS12_LANES, /* symbols carried by the final states */
    RANS12_SECTION = 512,           /* symbols that share a table */
    RANS12_SECTION_GROUPS = RANS12_SECTION / RANS12_LANES,
    RANS12_TABLES_MAX = 4,
    RANS12_PLANE_MIN = RANS12_TAIL,
    RANS12_STATE_MIN = 1 << 16, /* a state below takes the next 16 bits */
    RANS12_STATES_SIZE = 4 * RANS12_LANES,

    /* shape byte */
    RANS12_SHAPE_TABLES = 3, /* log2 of the number of tables */
    RANS12_SHAPE_MARKED = 4,

    RANS12_MIRROR_BITS_MAX = 2,
    RANS12_LEVEL_MAX = 96,
    RANS12_TABLE_SIZE_MAX = 3 + 256 * 20 / 8 + 1, /* two bytes, a rice parameter, 20 bits a level */
    RANS12_RICE_UNARY_MAX = 12,                   /* so many ones: a plain byte follows */
    RANS12_HEADER_SIZE = 1,                       /* shape */
    RANS12_MARK_SIZE = 4,                         /* marker, u24 literal count */
};

/* One table. Bytes that differ in bits of mirror only, such as a sign, have one frequency;
 * the one without any of these bits stands for them and has the level. */
struct rans12_table {
    uint8_t mirror;
    uint8_t levels[256];  /* 0: absent */
    uint8_t escape_units; /* escape frequency >> number of mirror bits */
    uint16_t frequencies[256];
    uint16_t escape_frequency; /* of the last slots */
};

static inline uint32_t rans12_level_weight(unsigned level)
{
    unsigned v = level - 1;
    return v < 8 ? v : (uint32_t)(8 | (v & 7)) << ((v >> 3) - 1);
}

/* The lane that symbol i of a group belongs to, and the symbol of a lane. */
static inline unsigned rans12_lane(unsigned i)
{
    return RANS12_LANES / RANS12_VECTORS * (i % RANS12_VECTORS) + i / RANS12_VECTORS;
}
static inline unsigned rans12_symbol(unsigned lane)
{
    const unsigned width = RANS12_LANES / RANS12_VECTORS;
    return RANS12_VECTORS * (lane % width) + lane / width;
}

/* Bytes that levels describe come in this order: ascending, those with a bit of mirror
 * left out. 256 ends it. */
static inline unsigned rans12_next(unsigned symbol, unsigned mirror)
{
    do
        symbol++;
    while (symbol & mirror);
    return symbol;
}

/* Turn mirror, levels and escape_units into frequencies that sum to RANS12_SLOTS with the
 * escape's. False if no such table exists: refuse it. */
__attribute__((warn_unused_result)) bool rans12_table_build(struct rans12_table *table);

#endif
