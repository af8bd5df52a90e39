/* vectors_wide.c - vectors of the coders rans12 and bits (FORMAT.md 8 and 9) and of the transforms
 * fp32 and bf16_joint, encoded here from its text and not by the library. Tables are as small as
 * they can be, so that few lines suffice.
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
    TAIL = PADDED - 2 * LANES,
    SECTION = 512,
    ROOM = 8192,
    MARKER = 0x55,
    ESCAPE = 4, /* slots of table 0 of the marked plane */
};

/* A coded plane, and what it decodes to. */
struct plane {
    uint8_t bytes[ROOM];
    uint32_t size;
    uint32_t bit; /* where the next bit of a table goes */
    uint8_t symbols[PADDED];
};

static void put_bits(struct plane *plane, uint32_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++, plane->bit++)
        plane->bytes[plane->bit / 8] |= (uint8_t)((value >> i & 1) << plane->bit % 8);
}

/* A level as the difference to the last that was not zero, with rice 0. */
static void put_level(struct plane *plane, int difference)
{
    unsigned z = difference < 0 ? 2u * (unsigned)-difference - 1 : 2u * (unsigned)difference;
    if (z < 12) {
        put_bits(plane, (1u << z) - 1, z + 1);
        return;
    }
    put_bits(plane, 0xfff, 12);
    put_bits(plane, z, 8);
}

/* A table of the bytes 0 (and, mirrored, 0x80) and, if it has a level, 1. */
struct small_table {
    uint8_t mirror;
    bool marked;
    uint8_t escape_units;
    int level[2];
    uint8_t run; /* of levels of zero that are not coded */
};

static void put_table(struct plane *plane, const struct small_table *table)
{
    put_bits(plane, table->mirror, 8);
    if (table->marked)
        put_bits(plane, table->escape_units, 8);
    put_bits(plane, 0, 3); /* rice */
    put_level(plane, table->level[0]);
    put_level(plane, table->level[1] - table->level[0]);
    int last = table->level[1] ? table->level[1] : table->level[0];
    put_level(plane, -last); /* levels of zero, until the second in a row */
    if (table->level[1])
        put_level(plane, -last);
    put_bits(plane, table->run, 8);
}

/* Frequency and start of a coded symbol. Plain: 0 has 4095 slots, 1 has one. Mirrored: 0 and 0x80
 * have 2046, the escape the last four. */
static void look_up(bool mirrored, uint8_t symbol, uint32_t *ret_frequency, uint32_t *ret_start)
{
    *ret_frequency = mirrored ? 2046 : symbol ? 1 : 4095;
    *ret_start = mirrored ? (symbol ? 2046 : 0) : symbol ? 4095 : 0;
    if (mirrored && symbol == MARKER) {
        *ret_frequency = ESCAPE;
        *ret_start = 4096 - ESCAPE;
    }
}

/* States and words of coded (PADDED symbols) behind what the plane has. */
static void put_streams(struct plane *plane, const uint8_t *coded, bool first_mirrored)
{
    uint32_t states[LANES], used = 0;
    uint16_t words[PADDED];

    for (unsigned i = 0; i < LANES; i++)
        states[16 * (i % 4) + i / 4] = 65536 + coded[TAIL + i] + 256u * coded[TAIL + LANES + i];
    for (unsigned group = TAIL / LANES; group-- > 0;)
        for (unsigned lane = LANES; lane-- > 0;) {
            unsigned i = LANES * group + 4 * (lane % 16) + lane / 16;
            uint32_t frequency, start, x = states[lane];
            look_up(first_mirrored && i < SECTION, coded[i], &frequency, &start);
            if (x >= (uint64_t)frequency << 20) {
                words[used++] = (uint16_t)x;
                x >>= 16;
            }
            states[lane] = (x / frequency << 12) + x % frequency + start;
        }
    for (unsigned lane = 0; lane < LANES; lane++, plane->size += 4)
        put_le32(plane->bytes + plane->size, states[lane]);
    for (; used > 0; plane->size += 2)
        put_le16(plane->bytes + plane->size, words[--used]);
}

static const struct small_table plain_table = {.level = {9, 1}, .run = 252};
enum {
    STREAMS = 9
}; /* where the states are behind that one table: 8 + 3 + 20 + 20 + 2 + 2 + 8 bits */

/* Mostly 0 and some 1, by one table. */
static void encode(const struct small_table *table, struct plane *plane)
{
    memset(plane, 0, sizeof(*plane));
    for (unsigned i = 0; i < COUNT; i++)
        plane->symbols[i] = i % 5 == 2;
    plane->bit = 8; /* behind the shape: one table, not marked */
    put_table(plane, table);
    plane->size = (plane->bit + 7) / 8;
    put_streams(plane, plane->symbols, false);
}

static void file_of(const struct plane *plane, struct vector_file *ret)
{
    uint8_t *raw = sample_new(SAMPLE_ZERO, 0, COUNT);
    memcpy(raw, plane->symbols, COUNT);
    struct vector_payload payload = {.transform = FRAME_TRANSFORM_NONE,
                                     .plane_count = 1,
                                     .plane = {{PLANE_CODER_RANS12, plane->bytes, plane->size}}};
    vectors_one_frame(ret, raw, COUNT, TRUNK_FEATURE_WIDE, &payload);
}

static void good(struct vector_file *ret)
{
    static struct plane plane;
    encode(&plain_table, &plane);
    file_of(&plane, ret);
}

/* Two tables, the first with a mirror and an escape; literals, one of them the marker's own value.
 */
static void encode_marked(unsigned announced, struct plane *plane)
{
    const struct small_table mirrored = {0x80, true, ESCAPE / 2, {9, 0}, 125};
    const struct small_table plain = {0, true, 0, {9, 1}, 252};
    uint8_t coded[PADDED] = {0}, literals[PADDED];
    unsigned literal_count = 0;

    memset(plane, 0, sizeof(*plane));
    for (unsigned i = 0; i < COUNT; i++) {
        coded[i] = plane->symbols[i] = (uint8_t)(i < SECTION ? i * i % 2 << 7 : i % 97 == 5);
        if (i < SECTION && i % 50 == 7) {
            coded[i] = MARKER;
            literals[literal_count++] = plane->symbols[i] = (uint8_t)(i == 57 ? MARKER : i);
        }
    }
    plane->bytes[0] = 1 | 1 << 2;
    plane->bytes[1] = MARKER;
    put_le24(plane->bytes + 2, literal_count + announced);
    plane->bit = 8 * 5;
    put_table(plane, &mirrored);
    put_table(plane, &plain);
    plane->size = (plane->bit + 7) / 8;
    plane->bytes[plane->size++] = 2; /* the first section by table 0, the second by table 1 */
    memcpy(plane->bytes + plane->size, literals, literal_count);
    plane->size += literal_count + announced;
    put_streams(plane, coded, true);
}

static void good_marked(struct vector_file *ret)
{
    static struct plane plane;
    encode_marked(0, &plane);
    file_of(&plane, ret);
}

static void literal_left(struct vector_file *ret)
{
    static struct plane plane;
    encode_marked(1, &plane);
    file_of(&plane, ret);
}

static void literal_count(struct vector_file *ret)
{
    static struct plane plane;
    encode_marked(0, &plane);
    put_le24(plane.bytes + 2, PADDED + 1);
    file_of(&plane, ret);
}

/* A vector that differs from the good one in its table. */
#define TABLE(function, ...)                                                                       \
    static void function(struct vector_file *ret)                                                  \
    {                                                                                              \
        static struct plane plane;                                                                 \
        const struct small_table table = {__VA_ARGS__};                                            \
        encode(&table, &plane);                                                                    \
        file_of(&plane, ret);                                                                      \
    }

TABLE(table_mirror, .mirror = 0x07, .level = {9, 1}, .run = 252)
TABLE(table_level, .level = {97, 1}, .run = 252)
TABLE(table_level_negative, .level = {-1, 1}, .run = 252)
TABLE(table_run, .level = {9, 1}, .run = 253)
TABLE(table_one, .level = {9, 0}, .run = 253)
TABLE(table_weightless, .level = {1, 1}, .run = 252)

/* A vector that differs from the good one in one byte of the plane, or in its size. */
#define CHANGED(function, change)                                                                  \
    static void function(struct vector_file *ret)                                                  \
    {                                                                                              \
        static struct plane plane;                                                                 \
        encode(&plain_table, &plane);                                                              \
        change;                                                                                    \
        file_of(&plane, ret);                                                                      \
    }

CHANGED(shape_zero_bits, plane.bytes[0] = 1 << 3)
CHANGED(shape_tables, plane.bytes[0] = 3)
CHANGED(table_short, plane.size = STREAMS - 1)
CHANGED(states_short, plane.size = STREAMS + 255)
CHANGED(words_left, plane.size += 2)
CHANGED(words_odd, plane.size -= 1)
CHANGED(words_short, plane.size -= 2)
CHANGED(words_far_short, memset(plane.bytes + STREAMS, 0, 256))
CHANGED(state, plane.bytes[STREAMS + 3] ^= 0x40)

/* Fewer symbols than the coder takes. */
static void plane_small(struct vector_file *ret)
{
    static struct plane plane;
    encode(&plain_table, &plane);
    struct vector_payload payload = {.transform = FRAME_TRANSFORM_NONE,
                                     .plane_count = 1,
                                     .plane = {{PLANE_CODER_RANS12, plane.bytes, 100}}};
    vectors_one_frame(ret, sample_new(SAMPLE_ZERO, 0, 127), 127, TRUNK_FEATURE_WIDE, &payload);
}

/* 100 symbols of three bits by coder bits, in two blocks, with other bits behind them. */
static void bits(struct vector_file *ret, uint8_t mask, uint8_t value, uint32_t cut)
{
    enum { SYMBOLS = 100, ROWS = 3, BITS_SIZE = 2 + 2 * ROWS * 8 };
    static const uint8_t row_bits[ROWS] = {1, 4, 7};
    uint8_t packed[BITS_SIZE] = {mask, value}, *raw = sample_new(SAMPLE_ZERO, 0, SYMBOLS);

    for (unsigned i = 0; i < 2 * LANES; i++) {
        unsigned symbol = i * 5 % 8;
        if (i < SYMBOLS)
            raw[i] = value;
        for (unsigned r = 0; r < ROWS; r++) {
            if (i < SYMBOLS)
                raw[i] |= (uint8_t)((symbol >> r & 1) << row_bits[r]);
            packed[2 + i / 64 * ROWS * 8 + r * 8 + i % 64 / 8] |=
                (uint8_t)((symbol >> r & 1) << i % 8);
        }
    }
    struct vector_payload payload = {.transform = FRAME_TRANSFORM_NONE,
                                     .plane_count = 1,
                                     .plane = {{PLANE_CODER_BITS, packed, BITS_SIZE - cut}}};
    vectors_one_frame(ret, raw, SYMBOLS, TRUNK_FEATURE_WIDE, &payload);
}

static void good_bits(struct vector_file *ret)
{
    bits(ret, 0x92, 0x21, 0);
}

static void bits_mask(struct vector_file *ret)
{
    bits(ret, 0, 0x21, 48);
}

static void bits_value(struct vector_file *ret)
{
    bits(ret, 0x92, 0x31, 0);
}

static void bits_size(struct vector_file *ret)
{
    bits(ret, 0x92, 0x21, 1);
}

/* fp32 elements at phase 3, with a tail of two bytes; the last plane is zero. */
static void good_fp32(struct vector_file *ret)
{
    enum { ELEMENTS = 77, RAW_SIZE = 3 + 4 * ELEMENTS + 2 };
    static const uint8_t edges[] = {1, 2, 3, 4, 5}, zero = 0;
    uint8_t planes[3][ELEMENTS], *raw = sample_new(SAMPLE_ZERO, 0, RAW_SIZE);

    memcpy(raw, edges, 3);
    memcpy(raw + RAW_SIZE - 2, edges + 3, 2);
    for (unsigned i = 0; i < ELEMENTS; i++) {
        uint32_t exponent = 100 + i % 23, mantissa = i * 0x1357 & 0x7fff, sign = i % 3 == 0;
        put_le32(raw + 3 + 4 * i, sign << 31 | exponent << 23 | mantissa << 8);
        planes[0][i] = (uint8_t)exponent;
        planes[1][i] = (uint8_t)(mantissa >> 8 << 1 | sign);
        planes[2][i] = (uint8_t)mantissa;
    }
    struct vector_payload payload = {.transform = FRAME_TRANSFORM_FP32,
                                     .phase = 3,
                                     .edges = edges,
                                     .edge_size = sizeof(edges),
                                     .plane_count = 4,
                                     .plane = {{PLANE_CODER_RAW, planes[0], ELEMENTS},
                                               {PLANE_CODER_RAW, planes[1], ELEMENTS},
                                               {PLANE_CODER_RAW, planes[2], ELEMENTS},
                                               {PLANE_CODER_CONSTANT, &zero, 1}}};
    vectors_one_frame(ret, raw, RAW_SIZE, TRUNK_FEATURE_WIDE, &payload);
}

/* bf16 elements in three planes, of which only the second varies; bits that a reader ignores
 * are set in the others. */
static void good_bf16_joint(struct vector_file *ret)
{
    enum { ELEMENTS = 300, REST = 0x2d }; /* mantissa ...10110, negative */
    static const uint8_t top = 0xf4 | 1, rest = 0xc0 | REST;
    uint8_t joint[ELEMENTS], *raw = sample_new(SAMPLE_ZERO, 0, 2 * ELEMENTS);

    for (unsigned i = 0; i < ELEMENTS; i++) {
        uint32_t exponent = 64 + i * 7 % 64, mantissa = i % 4 << 5 | REST >> 1;
        put_le16(raw + 2 * i, (uint16_t)((REST & 1) << 15 | exponent << 7 | mantissa));
        joint[i] = (uint8_t)(exponent << 2 | mantissa >> 5);
    }
    struct vector_payload payload = {.transform = FRAME_TRANSFORM_BF16_JOINT,
                                     .plane_count = 3,
                                     .plane = {{PLANE_CODER_CONSTANT, &top, 1},
                                               {PLANE_CODER_RAW, joint, ELEMENTS},
                                               {PLANE_CODER_CONSTANT, &rest, 1}}};
    vectors_one_frame(ret, raw, 2 * ELEMENTS, TRUNK_FEATURE_SMALL, &payload);
}

const struct vector vectors_wide[] = {
    {"good-rans12", "coder rans12: one table of two bytes", 0, FAULT_NONE, good},
    {"good-rans12-marked", "coder rans12: two tables, a mirror, an escape, literals", 0, FAULT_NONE,
     good_marked},
    {"good-bits", "coder bits: three bits of each byte", 0, FAULT_NONE, good_bits},
    {"good-fp32", "transform fp32 at an odd phase", 0, FAULT_NONE, good_fp32},
    {"good-bf16-joint", "transform bf16_joint, with bits that are ignored", 0, FAULT_NONE,
     good_bf16_joint},
    {"bad-rans12-plane", "a plane of 127 bytes by rans12", -EBADMSG, FAULT_RANS_HEADER,
     plane_small},
    {"bad-rans12-shape", "a bit of the shape that must be zero", -EBADMSG, FAULT_RANS_HEADER,
     shape_zero_bits},
    {"bad-rans12-table-count", "eight tables", -EBADMSG, FAULT_RANS_HEADER, shape_tables},
    {"bad-rans12-literal-count", "more literals than symbols", -EBADMSG, FAULT_RANS_HEADER,
     literal_count},
    {"bad-rans12-mirror", "a mirror of three bits", -EBADMSG, FAULT_RANS_TABLE, table_mirror},
    {"bad-rans12-level", "a level of 97", -EBADMSG, FAULT_RANS_TABLE, table_level},
    {"bad-rans12-level-negative", "a level below 0", -EBADMSG, FAULT_RANS_TABLE,
     table_level_negative},
    {"bad-rans12-run", "levels of zero behind the last byte value", -EBADMSG, FAULT_RANS_TABLE,
     table_run},
    {"bad-rans12-one", "a table of a single byte value", -EBADMSG, FAULT_RANS_TABLE, table_one},
    {"bad-rans12-weightless", "a table without weights", -EBADMSG, FAULT_RANS_TABLE,
     table_weightless},
    {"bad-rans12-table-short", "a table that is cut off", -EBADMSG, FAULT_RANS_TABLE, table_short},
    {"bad-rans12-states-short", "states that are cut off", -EBADMSG, FAULT_RANS_HEADER,
     states_short},
    {"bad-rans12-literal-left", "a literal that no escape takes", -EBADMSG, FAULT_RANS_END,
     literal_left},
    {"bad-rans12-words-left", "a word that is not used", -EBADMSG, FAULT_RANS_END, words_left},
    {"bad-rans12-words-odd", "half a word", -EBADMSG, FAULT_RANS_STREAM, words_odd},
    {"bad-rans12-words-short", "one word too few", -EBADMSG, FAULT_RANS_STREAM, words_short},
    {"bad-rans12-words-beyond", "words that are used up too early", -EBADMSG, FAULT_RANS_STREAM,
     words_far_short},
    {"bad-rans12-end", "a lane that does not end with 1 in its upper half", -EBADMSG,
     FAULT_RANS_END, state},
    {"bad-bits-mask", "no bits", -EBADMSG, FAULT_FRAME_PLANE, bits_mask},
    {"bad-bits-value", "a bit both of mask and of value", -EBADMSG, FAULT_FRAME_PLANE, bits_value},
    {"bad-bits-size", "a byte too few", -EBADMSG, FAULT_FRAME_PLANE, bits_size},
};
const size_t vectors_wide_count = sizeof(vectors_wide) / sizeof(vectors_wide[0]);
