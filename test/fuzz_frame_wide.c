/* fuzz_frame_wide.c - frames made to be valid in every shape of the coders rans12 and bits,
 * decoded and compared; then with some bytes changed, decoded by every instruction set alike.
 * They are written here, as FORMAT.md says, not by the library's encoder, which would not use
 * most shapes.
 *
 * Input, read byte by byte (zeros when it ends): coder and shape, size; for each table its
 * mirror, escape and levels; a seed for symbols and selectors; then the changes, as pairs of a
 * u16 position and a byte.
 */
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "codec_check.h"
#include "format.h"
#include "frame_format.h"
#include "fuzz_input.h"
#include "plane_bits.h"
#include "rans12_table.h"

enum {
    SIZE_MAX_ = 4096, /* of the plane; small frames for many executions */
    PAYLOAD_MAX = 4 * SIZE_MAX_,
    HEADER_SIZE = TRUNK_FRAME_HEADER_SIZE + PLANE_ENTRY_SIZE,
};

/* The parts of a plane, as 8.1 of FORMAT.md lists them. */
struct parts {
    struct rans12_table tables[RANS12_TABLES_MAX];
    uint16_t starts[RANS12_TABLES_MAX][256];
    uint8_t selectors[SIZE_MAX_ / RANS12_SECTION + 1];
    unsigned table_bits;
    bool marked;
    uint8_t marker;
    uint8_t symbols[SIZE_MAX_ + RANS12_LANES]; /* padded */
    size_t size;
    uint8_t literals[SIZE_MAX_];
    size_t literal_count;
};

/* Levels of any kind: all alike, few, ascending, or as the input has them. */
static bool make_table(struct input *input, bool marked, struct rans12_table *ret)
{
    static const uint8_t mirrors[] = {0, 0x80, 0x88, 0x01, 0x22, 0x11, 0x40, 0xc0};
    uint8_t kind = take(input), base = take(input), step = take(input);
    uint32_t seed = take(input);

    memset(ret, 0, sizeof(*ret));
    ret->mirror = mirrors[kind & 7];
    ret->escape_units = marked ? take(input) : 0;
    for (unsigned s = 0; s < 256; s = rans12_next(s, ret->mirror)) {
        unsigned level = base;
        if (kind & 8)
            level += s * step / 16;
        if (kind & 16)
            level += draw(&seed) % 16;
        if (kind & 32 && draw(&seed) % 8)
            level = 0;
        ret->levels[s] = (uint8_t)(level % (RANS12_LEVEL_MAX + 1));
    }
    return rans12_table_build(ret);
}

/* A symbol that table can code, and whether it is a literal. */
static uint8_t draw_symbol(const struct parts *parts, const struct rans12_table *table,
                           uint32_t *seed, bool *ret_literal)
{
    uint8_t symbol = (uint8_t)draw(seed);
    bool escape = table->escape_frequency > 0 && draw(seed) % 16 == 0;

    *ret_literal = escape;
    if (escape)
        return symbol;
    while (!table->frequencies[symbol])
        symbol++;
    /* Where a table has the marker itself, it is an escape too. */
    *ret_literal = parts->marked && symbol == parts->marker;
    return *ret_literal ? (uint8_t)draw(seed) : symbol;
}

static size_t padded(size_t size)
{
    return (size + RANS12_LANES - 1) / RANS12_LANES * RANS12_LANES;
}

/* What decoding shall give; where a literal belongs, coded has the marker. */
static void fill(struct parts *parts, uint32_t seed, uint8_t *coded)
{
    size_t tail = padded(parts->size) - RANS12_TAIL;

    parts->literal_count = 0;
    for (size_t i = 0; i < padded(parts->size); i++) {
        unsigned selector = parts->selectors[i / RANS12_SECTION];
        bool literal = false;
        parts->symbols[i] = i < tail ? draw_symbol(parts, &parts->tables[selector], &seed, &literal)
                                     : (uint8_t)draw(&seed);
        coded[i] = literal ? parts->marker : parts->symbols[i];
        if (literal)
            parts->literals[parts->literal_count++] = parts->symbols[i];
    }
}

/* Frequency and start of a coded symbol. */
static void look_up(const struct parts *parts, unsigned selector, uint8_t symbol,
                    uint32_t *ret_frequency, uint32_t *ret_start)
{
    const struct rans12_table *table = &parts->tables[selector];

    *ret_frequency = table->frequencies[symbol];
    *ret_start = parts->starts[selector][symbol];
    if (!*ret_frequency) {
        *ret_frequency = table->escape_frequency;
        *ret_start = RANS12_SLOTS - table->escape_frequency;
    }
}

/* States and words, by division, one lane after another backwards. Returns their size. */
static size_t write_streams(const struct parts *parts, const uint8_t *coded, uint8_t *packed)
{
    static uint8_t buffer[2 * SIZE_MAX_ + RANS12_LANES];
    uint8_t *words = buffer + sizeof(buffer);
    size_t tail = padded(parts->size) - RANS12_TAIL;
    uint32_t states[RANS12_LANES];

    for (unsigned i = 0; i < RANS12_LANES; i++)
        states[16 * (i % 4) + i / 4] =
            65536 + coded[tail + i] + 256u * coded[tail + RANS12_LANES + i];
    for (size_t group = tail / RANS12_LANES; group-- > 0;)
        for (unsigned lane = RANS12_LANES; lane-- > 0;) {
            size_t i = group * RANS12_LANES + 4 * (lane % 16) + lane / 16;
            uint32_t frequency, start, x = states[lane];
            look_up(parts, parts->selectors[i / RANS12_SECTION], coded[i], &frequency, &start);
            if (x >= (uint64_t)frequency << 20) {
                words -= 2;
                put_le16(words, (uint16_t)x);
                x >>= 16;
            }
            states[lane] = (x / frequency << 12) + x % frequency + start;
        }
    for (unsigned lane = 0; lane < RANS12_LANES; lane++)
        put_le32(packed + 4 * lane, states[lane]);
    size_t words_size = (size_t)(buffer + sizeof(buffer) - words);
    memcpy(packed + RANS12_STATES_SIZE, words, words_size);
    return RANS12_STATES_SIZE + words_size;
}

static size_t write_parts(const struct parts *parts, const uint8_t *coded, uint8_t *packed)
{
    size_t offset = 1, position = 0;
    size_t sections = (parts->size + RANS12_SECTION - 1) / RANS12_SECTION;

    packed[0] = (uint8_t)(parts->table_bits | parts->marked << 2);
    if (parts->marked) {
        packed[1] = parts->marker;
        put_le24(packed + 2, (uint32_t)parts->literal_count);
        offset += 4;
    }
    for (unsigned t = 0; t < 1u << parts->table_bits; t++)
        position = rans12_table_write(&parts->tables[t], parts->marked, packed + offset, position);
    offset += (position + 7) / 8;
    for (size_t k = 0; k < sections; k++)
        packed[offset + k * parts->table_bits / 8] |=
            (uint8_t)(parts->selectors[k] << k * parts->table_bits % 8);
    offset += (sections * parts->table_bits + 7) / 8;
    memcpy(packed + offset, parts->literals, parts->literal_count);
    offset += parts->literal_count;
    return offset + write_streams(parts, coded, packed + offset);
}

/* A plane by rans12 to packed (zeros before); returns its size, or 0 if a table is none. */
static size_t build_rans12(struct input *input, uint8_t shape, size_t size, uint8_t *raw,
                           uint8_t *packed)
{
    static struct parts parts;
    static uint8_t coded[SIZE_MAX_ + RANS12_LANES];

    parts.size = size < RANS12_PLANE_MIN ? (size_t)RANS12_PLANE_MIN : size;
    parts.table_bits = shape % 3;
    parts.marked = shape & 64;
    parts.marker = parts.marked ? take(input) : 0;
    for (unsigned t = 0; t < 1u << parts.table_bits; t++) {
        if (!make_table(input, parts.marked, &parts.tables[t]))
            return 0;
        unsigned start = 0;
        for (unsigned s = 0; s < 256; s++) {
            parts.starts[t][s] = (uint16_t)start;
            start += parts.tables[t].frequencies[s];
        }
    }
    uint32_t seed = take(input) | (uint32_t)take(input) << 8;
    for (size_t k = 0; k < sizeof(parts.selectors); k++)
        parts.selectors[k] = (uint8_t)(draw(&seed) & ((1u << parts.table_bits) - 1));
    fill(&parts, seed, coded);
    memcpy(raw, parts.symbols, parts.size);
    return write_parts(&parts, coded, packed);
}

/* The same by bits. */
static size_t build_bits(struct input *input, size_t size, uint8_t *raw, uint8_t *packed)
{
    uint8_t mask = (uint8_t)(take(input) | 1), value = take(input) & (uint8_t)~mask;
    uint32_t seed = take(input);

    for (size_t i = 0; i < size; i++)
        raw[i] = (uint8_t)((draw(&seed) & mask) | value);
    return plane_bits_encode(mask, raw, size, packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t raw[SIZE_MAX_], got[SIZE_MAX_], packed[PAYLOAD_MAX];
    struct input input = {data, size};

    memset(packed, 0, sizeof(packed));
    uint8_t shape = take(&input);
    bool is_bits = (shape & 48) == 0;
    size_t raw_size = 1 + (take(&input) | (size_t)take(&input) << 8) % SIZE_MAX_;
    if (!is_bits && raw_size < RANS12_PLANE_MIN)
        raw_size = RANS12_PLANE_MIN;
    size_t plane_size = is_bits ? build_bits(&input, raw_size, raw, packed + HEADER_SIZE)
                                : build_rans12(&input, shape, raw_size, raw, packed + HEADER_SIZE);
    if (plane_size == 0)
        return 0;
    packed[FRAME_OFFSET_TRANSFORM] = FRAME_TRANSFORM_NONE;
    put_le32(packed + FRAME_OFFSET_RAW_SIZE, (uint32_t)raw_size);
    packed[TRUNK_FRAME_HEADER_SIZE] = is_bits ? PLANE_CODER_BITS : PLANE_CODER_RANS12;
    put_le24(packed + TRUNK_FRAME_HEADER_SIZE + 1, (uint32_t)plane_size);
    size_t packed_size = HEADER_SIZE + plane_size;
    fuzz_check_frame(&input, packed, packed_size, raw, raw_size, got);
    return 0;
}
