/* rans_format.h - the constants of pack/FORMAT.md 7, the coder rans, and nothing else. */
#ifndef TRUNK_RANS_FORMAT_H
#define TRUNK_RANS_FORMAT_H

enum {
    RANS_LANES = 64,
    RANS_SECTION = 512, /* symbols that share one choice of table */
    RANS_STREAMS_MAX = 4,
    RANS_TABLES_MAX = 4,
    RANS_ENTRIES_MAX = 16, /* of a table, the escape among them */
    RANS_SLOTS = 256,
    RANS_ESCAPE_LIST_MAX = 15,
    RANS_NIBBLE_LITERAL = 15,
    RANS_STREAM_SIZE_MIN = 2 * RANS_LANES, /* the states */
    RANS_STATE_PLAIN = 256,                /* what every lane ends with, */
    RANS_STATE_CARRY = 0x8000,             /* or at least, if it carries */
    RANS_CARRY_LOW = 64,                   /* bytes that the low halves of 64 states carry, */
    RANS_CARRY_HIGH = 56,                  /* and the high ones */
    RANS_CARRY = RANS_CARRY_LOW + RANS_CARRY_HIGH,
    RANS_CARRY_MIN = 128, /* a plane shorter than this for each stream does not carry */

    RANS_SHAPE_STREAMS = 3,      /* mask: log2 of their number */
    RANS_SHAPE_TABLES_SHIFT = 2, /* and how far up that of the tables lies */
    RANS_SHAPE_TABLES = 3,
    RANS_SHAPE_LOG2_MAX = 2,
    RANS_SHAPE_CARRY = 1 << 4,
    RANS_SHAPE_ZERO = 7 << 5,
    RANS_OFFSET_SHAPE = 0,
    RANS_OFFSET_LIST_SIZE = 1,
    RANS_OFFSET_ESCAPE_COUNT = 2,
    RANS_OFFSET_LITERAL_COUNT = 5,
    RANS_HEADER_SIZE = 8,
    RANS_STREAM_SIZE_WIDTH = 3,

    RANS_TABLE_COUNT = 15,
    RANS_TABLE_ZERO = 7 << 4,
    RANS_TABLE_LISTED = 1 << 7,
    RANS_TABLE_SIZE_MAX = 1 + 2 * (RANS_ENTRIES_MAX - 1),
};

#endif
