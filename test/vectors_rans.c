/* vectors_rans.c - vectors of the coder rans (FORMAT.md 7), encoded here from its text and
 * not by the library: one stream, one table of one direct symbol (frequency 255) beside the
 * escape (frequency 1, never used), so that few lines suffice.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "frame_format.h"
#include "sample.h"
#include "vectors.h"

enum {
    COUNT = 1000,  /* symbols of the plane */
    PADDED = 1024, /* up(COUNT, 64) */
    LANES = 64,
    SYMBOL = 0x7d,
    FREQUENCY = 255,
    START = 1,
    HEAD_SIZE = 8,
    TABLE = HEAD_SIZE, /* where the table is without an escape list */
    TABLE_SIZE = 3,
    STREAM = TABLE + TABLE_SIZE,
    CARRIED = 120,
    ROOM = 2048,
};

/* A coded plane that a vector then changes. */
struct plane {
    uint8_t bytes[ROOM];
    uint32_t size;
};

/* Final states (FORMAT.md 7.5 and 7.6). */
static void final_states(const uint8_t *carried, uint32_t states[LANES])
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        states[lane] = 256;
        if (!carried)
            continue;
        uint32_t high = 0;
        for (unsigned i = 0; i < 7; i++) {
            unsigned bit = 7 * lane + i;
            high |= (uint32_t)(carried[bit / 8] >> bit % 8 & 1) << i;
        }
        states[lane] = (128 | high) << 8 | carried[56 + lane];
    }
}

/* PADDED times SYMBOL; carried is NULL or the CARRIED bytes of the next plane. */
static void encode(const uint8_t *carried, struct plane *ret)
{
    uint32_t states[LANES];
    uint8_t renormalisation[PADDED];
    uint32_t used = 0; /* from the end */
    final_states(carried, states);
    for (unsigned group = 0; group < PADDED / LANES; group++) {
        for (unsigned lane = LANES; lane-- > 0;) {
            uint32_t x = states[lane];
            if (x >> 8 >= FREQUENCY) {
                renormalisation[PADDED - ++used] = (uint8_t)x;
                x >>= 8;
            }
            states[lane] = (x / FREQUENCY << 8) + x % FREQUENCY + START;
        }
    }
    memset(ret, 0, sizeof(*ret));
    ret->bytes[0] = carried ? 1 << 4 : 0;
    ret->bytes[TABLE] = 1;
    ret->bytes[TABLE + 1] = SYMBOL;
    ret->bytes[TABLE + 2] = FREQUENCY;
    for (unsigned lane = 0; lane < LANES; lane++) {
        ret->bytes[STREAM + lane] = (uint8_t)states[lane];
        ret->bytes[STREAM + LANES + lane] = (uint8_t)(states[lane] >> 8);
    }
    memcpy(ret->bytes + STREAM + 2 * LANES, renormalisation + PADDED - used, used);
    ret->size = STREAM + 2 * LANES + used;
}

/* A file of COUNT equal bytes whose only plane is that. */
static void file_of(const struct plane *plane, struct vector_file *ret)
{
    uint8_t *raw = sample_new(SAMPLE_ZERO, 0, COUNT);
    memset(raw, SYMBOL, COUNT);
    struct vector_payload payload = {.transform = FRAME_TRANSFORM_NONE,
                                     .plane_count = 1,
                                     .plane = {{PLANE_CODER_RANS, plane->bytes, plane->size}}};
    vectors_one_frame(ret, raw, COUNT, TRUNK_FEATURE_RANS, &payload);
}

static void good(struct vector_file *ret)
{
    struct plane plane;
    encode(NULL, &plane);
    file_of(&plane, ret);
}

/* A vector that differs from the good one in one byte of the plane. */
#define CHANGED(function, at, value)                                                               \
    static void function(struct vector_file *ret)                                                  \
    {                                                                                              \
        struct plane plane;                                                                        \
        encode(NULL, &plane);                                                                      \
        plane.bytes[at] = value;                                                                   \
        file_of(&plane, ret);                                                                      \
    }

CHANGED(shape_zero_bits, 0, 1 << 5)
CHANGED(shape_streams, 0, 3)
CHANGED(shape_tables, 0, 3 << 2)
CHANGED(shape_carry_alone, 0, 1 << 4)
CHANGED(list_size, 1, 16)
CHANGED(escape_count, 4, 0xff)
CHANGED(literal_count, 5, 1)
CHANGED(table_zero_bits, TABLE, 1 | 1 << 4)
CHANGED(table_empty, TABLE, 0)
CHANGED(table_frequency, TABLE + 2, 0)
CHANGED(table_range, TABLE, 15)
CHANGED(state_low, STREAM, 0x42)
CHANGED(state_high, STREAM + LANES, 0)

/* Insert size bytes at at. */
static void insert(struct plane *plane, uint32_t at, const uint8_t *bytes, uint32_t size)
{
    memmove(plane->bytes + at + size, plane->bytes + at, plane->size - at);
    memcpy(plane->bytes + at, bytes, size);
    plane->size += size;
}

/* Two tables of which only the first is used; a bit behind those of the two sections is set. */
static void selectors(struct vector_file *ret)
{
    static const uint8_t second[TABLE_SIZE + 1] = {1, SYMBOL, FREQUENCY, 1 << 2};
    struct plane plane;
    encode(NULL, &plane);
    plane.bytes[0] = 1 << 2;
    insert(&plane, STREAM, second, sizeof(second));
    file_of(&plane, ret);
}

/* One escape whose nibble points at an entry that the list does not have. */
static void escape_entry(struct vector_file *ret)
{
    static const uint8_t nibble = 0;
    struct plane plane;
    encode(NULL, &plane);
    plane.bytes[2] = 1;
    insert(&plane, STREAM, &nibble, 1);
    file_of(&plane, ret);
}

/* One literal is announced, but the nibble takes none. */
static void escape_literals(struct vector_file *ret)
{
    static const uint8_t list = 0x11, nibble_and_literal[2] = {0, 0x22};
    struct plane plane;
    encode(NULL, &plane);
    plane.bytes[1] = 1;
    plane.bytes[2] = 1;
    plane.bytes[5] = 1;
    insert(&plane, STREAM, nibble_and_literal, 2);
    insert(&plane, HEAD_SIZE, &list, 1);
    file_of(&plane, ret);
}

/* An escape is announced and well-formed, but no symbol uses it. */
static void escape_unused(struct vector_file *ret)
{
    static const uint8_t nibble = 0, list = 0x11;
    struct plane plane;
    encode(NULL, &plane);
    plane.bytes[1] = 1;
    plane.bytes[2] = 1;
    insert(&plane, STREAM, &nibble, 1);
    insert(&plane, HEAD_SIZE, &list, 1);
    file_of(&plane, ret);
}

static void stream_rest(struct vector_file *ret)
{
    static const uint8_t more = 0;
    struct plane plane;
    encode(NULL, &plane);
    insert(&plane, plane.size, &more, 1);
    file_of(&plane, ret);
}

static void stream_short(struct vector_file *ret)
{
    struct plane plane;
    encode(NULL, &plane);
    plane.size--;
    file_of(&plane, ret);
}

static unsigned position_of(unsigned lane)
{
    unsigned q = lane / 16, c = lane % 16;
    return c < 8 ? 8 * q + c : 32 + 8 * q + c - 8;
}

/* COUNT bf16 elements of one exponent; what is left of them (S) is carried in the states
 * and the rest plane. beyond: the value of the last carried byte, which lies in the padding. */
static void carry(struct vector_file *ret, uint8_t beyond, uint32_t rest_size)
{
    static struct plane plane;
    static uint8_t rest[PADDED];
    uint8_t *raw = sample_new(SAMPLE_ZERO, 0, 2 * COUNT);
    memset(rest, 0, sizeof(rest));
    for (unsigned i = 0; i < COUNT; i++) {
        bool whole = i < COUNT / 64 * 64;
        unsigned element = whole ? i / 64 * 64 + position_of(i % 64) : i;
        rest[i] = (uint8_t)(i * 29 + i / 64);
        unsigned rotated = SYMBOL << 8 | rest[i];
        put_le16(raw + 2 * element, (uint16_t)(rotated >> 1 | rotated << 15));
    }
    rest[PADDED - 1] = beyond;
    encode(rest + PADDED - CARRIED, &plane);
    struct vector_payload payload = {.transform = FRAME_TRANSFORM_BF16,
                                     .plane_count = 2,
                                     .plane = {{PLANE_CODER_RANS, plane.bytes, plane.size},
                                               {PLANE_CODER_REST, rest, rest_size}}};
    vectors_one_frame(ret, raw, 2 * COUNT, TRUNK_FEATURE_RANS, &payload);
}

static void good_carry(struct vector_file *ret)
{
    carry(ret, 0, PADDED - CARRIED);
}

static void carry_padding(struct vector_file *ret)
{
    carry(ret, 1, PADDED - CARRIED);
}

static void rest_size(struct vector_file *ret)
{
    carry(ret, 0, PADDED - CARRIED - 1);
}

const struct vector vectors_rans[] = {
    {"good-rans", "coder rans: one stream, one table, no escape", 0, FAULT_NONE, good},
    {"good-rans-carry", "bf16 by coder rans whose final states carry bytes of coder rest", 0,
     FAULT_NONE, good_carry},
    {"bad-rans-shape", "a bit of the shape that must be zero", -EBADMSG, FAULT_RANS_HEADER,
     shape_zero_bits},
    {"bad-rans-stream-count", "eight streams", -EBADMSG, FAULT_RANS_HEADER, shape_streams},
    {"bad-rans-table-count", "eight tables", -EBADMSG, FAULT_RANS_HEADER, shape_tables},
    {"bad-rans-carry-alone", "carry without a plane of coder rest", -EBADMSG, FAULT_RANS_HEADER,
     shape_carry_alone},
    {"bad-rans-list-size", "an escape list of 16 entries", -EBADMSG, FAULT_RANS_HEADER, list_size},
    {"bad-rans-escape-count", "more escapes than symbols", -EBADMSG, FAULT_RANS_HEADER,
     escape_count},
    {"bad-rans-literal-count", "more literals than escapes", -EBADMSG, FAULT_RANS_HEADER,
     literal_count},
    {"bad-rans-table", "a bit of the table's head that must be zero", -EBADMSG, FAULT_RANS_TABLE,
     table_zero_bits},
    {"bad-rans-table-empty", "a table without direct symbols", -EBADMSG, FAULT_RANS_TABLE,
     table_empty},
    {"bad-rans-frequency", "a frequency of 0", -EBADMSG, FAULT_RANS_TABLE, table_frequency},
    {"bad-rans-frequencies", "frequencies of more than 255 together", -EBADMSG, FAULT_RANS_TABLE,
     table_range},
    {"bad-rans-selectors", "a selector bit behind the last section", -EBADMSG,
     FAULT_RANS_SELECTORS, selectors},
    {"bad-rans-escape-entry", "an escape that is not in the list", -EBADMSG, FAULT_RANS_ESCAPES,
     escape_entry},
    {"bad-rans-literals", "a literal that no escape takes", -EBADMSG, FAULT_RANS_ESCAPES,
     escape_literals},
    {"bad-rans-escape-unused", "an escape that no symbol uses", -EBADMSG, FAULT_RANS_END,
     escape_unused},
    {"bad-rans-stream-rest", "a byte of a stream is not used", -EBADMSG, FAULT_RANS_END,
     stream_rest},
    {"bad-rans-stream-short", "a stream shorter than its states", -EBADMSG, FAULT_RANS_STREAM,
     stream_short},
    {"bad-rans-stream-beyond", "a stream that is used up too early", -EBADMSG, FAULT_RANS_STREAM,
     state_high},
    {"bad-rans-end", "a lane that does not end with state 256", -EBADMSG, FAULT_RANS_END,
     state_low},
    {"bad-rans-carry-padding", "a carried byte behind the plane is not zero", -EBADMSG,
     FAULT_RANS_CARRY, carry_padding},
    {"bad-rest-size", "a rest plane that is too short", -EBADMSG, FAULT_FRAME_PLANE, rest_size},
};
const size_t vectors_rans_count = sizeof(vectors_rans) / sizeof(vectors_rans[0]);
