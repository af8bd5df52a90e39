/* rans12_decode.c - see rans12_decode.h: header and tables of a plane, then the kernel that
 * suits the processor, then the end checks. */
#include "rans12_decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "isa.h"
#include "rans12_decode_kernel.h"

struct rans12_decoder {
    rans12_slot slots[RANS12_TABLES_MAX * RANS12_SLOTS];
    struct rans12_table table;
};

int rans12_decoder_new(struct rans12_decoder **ret)
{
    *ret = aligned_alloc(64, (sizeof **ret + 63) / 64 * 64);
    return *ret ? 0 : -ENOMEM;
}

void rans12_decoder_free(struct rans12_decoder *decoder)
{
    free(decoder);
}

size_t rans12_decoder_memory(void)
{
    return sizeof(struct rans12_decoder);
}

/* Bits, lowest of each byte first. Beyond the end comes anything: take() finds it. */
struct bit_reader {
    const uint8_t *bytes; /* FRAME_DECODE_SLACK readable bytes behind the last */
    size_t size;
    size_t position; /* in bits */
};

/* At least 57 bits from here on. */
static uint64_t bits_peek(const struct bit_reader *reader)
{
    if (reader->position / 8 >= reader->size)
        return 0;
    return get_le64(reader->bytes + reader->position / 8) >> reader->position % 8;
}

static unsigned bits_read(struct bit_reader *reader, unsigned count)
{
    unsigned value = (unsigned)bits_peek(reader) & ((1u << count) - 1);
    reader->position += count;
    return value;
}

static unsigned read_rice(struct bit_reader *reader, unsigned rice)
{
    uint64_t ahead = bits_peek(reader);
    unsigned unary = (unsigned)__builtin_ctzll(~ahead | 1u << RANS12_RICE_UNARY_MAX);
    if (unary == RANS12_RICE_UNARY_MAX) {
        reader->position += unary;
        return bits_read(reader, 8);
    }
    reader->position += unary + 1 + rice;
    return unary << rice | ((unsigned)(ahead >> (unary + 1)) & ((1u << rice) - 1));
}

static bool read_levels(struct bit_reader *reader, unsigned mirror, uint8_t levels[256])
{
    unsigned rice = bits_read(reader, 3), zeros = 0;
    int previous = 0;

    for (unsigned s = 0; s < 256; s = rans12_next(s, mirror)) {
        unsigned code = read_rice(reader, rice);
        int level = previous + (code & 1 ? -(int)(code / 2) - 1 : (int)(code / 2));
        if (level < 0 || level > RANS12_LEVEL_MAX)
            return false;
        levels[s] = (uint8_t)level;
        if (level != 0) {
            previous = level;
            zeros = 0;
            continue;
        }
        if (++zeros < 2)
            continue;
        zeros = 0;
        for (unsigned run = bits_read(reader, 8); run > 0; run--) {
            s = rans12_next(s, mirror);
            if (s > 255)
                return false;
            levels[s] = 0;
        }
    }
    return true;
}

static rans12_slot *put_slots(rans12_slot *to, unsigned symbol, unsigned frequency)
{
    rans12_slot slot = symbol | frequency << 8;
    for (unsigned i = 0; i < frequency; i++)
        *to++ = slot + (i << 20);
    return to;
}

/* Read one table and spread it over its slots. */
static bool read_table(struct bit_reader *reader, const struct rans12_job *job,
                       struct rans12_table *table, rans12_slot *slots)
{
    table->mirror = (uint8_t)bits_read(reader, 8);
    if (__builtin_popcount(table->mirror) > RANS12_MIRROR_BITS_MAX)
        return false;
    table->escape_units = job->marked ? (uint8_t)bits_read(reader, 8) : 0;
    if (!read_levels(reader, table->mirror, table->levels) || !rans12_table_build(table))
        return false;
    for (unsigned s = 0; s < 256; s++)
        slots = put_slots(slots, s, table->frequencies[s]);
    put_slots(slots, job->marker, table->escape_frequency);
    return true;
}

/* A cursor over the payload: the parts in front of the streams. */
struct parser {
    const uint8_t *packed;
    size_t size;
    size_t offset;
};

static const uint8_t *take(struct parser *parser, size_t size)
{
    if (!range_within(parser->offset, size, parser->size))
        return NULL;
    const uint8_t *part = parser->packed + parser->offset;
    parser->offset += size;
    return part;
}

static int parse_tables(struct parser *parser, struct rans12_decoder *decoder,
                        struct rans12_job *job, struct fault *ret_fault)
{
    struct bit_reader reader = {parser->packed + parser->offset, parser->size - parser->offset, 0};
    job->tables = decoder->slots;
    for (unsigned t = 0; t < 1u << job->table_bits; t++)
        if (!read_table(&reader, job, &decoder->table, decoder->slots + t * RANS12_SLOTS))
            return fault_set(ret_fault, FAULT_RANS_TABLE, parser->offset, -EBADMSG);
    if (!take(parser, (reader.position + 7) / 8))
        return fault_set(ret_fault, FAULT_RANS_TABLE, parser->offset, -EBADMSG);
    return 0;
}

static int parse(struct parser *parser, struct rans12_decoder *decoder, size_t symbol_count,
                 struct rans12_job *job, struct fault *ret_fault)
{
    const uint8_t *header = take(parser, RANS12_HEADER_SIZE);
    if (!header || header[0] & ~(RANS12_SHAPE_TABLES | RANS12_SHAPE_MARKED) ||
        (header[0] & RANS12_SHAPE_TABLES) == 3)
        return fault_set(ret_fault, FAULT_RANS_HEADER, 0, -EBADMSG);
    job->table_bits = header[0] & RANS12_SHAPE_TABLES;
    job->marked = header[0] & RANS12_SHAPE_MARKED;

    size_t literal_count = 0;
    if (job->marked) {
        const uint8_t *mark = take(parser, RANS12_MARK_SIZE);
        if (!mark || get_le24(mark + 1) > symbol_count)
            return fault_set(ret_fault, FAULT_RANS_HEADER, RANS12_HEADER_SIZE, -EBADMSG);
        job->marker = mark[0];
        literal_count = get_le24(mark + 1);
    }
    int r = parse_tables(parser, decoder, job, ret_fault);
    if (r < 0)
        return r;

    size_t section_count = (symbol_count + RANS12_SECTION - 1) / RANS12_SECTION;
    job->selectors = take(parser, (section_count * job->table_bits + 7) / 8);
    job->literals = take(parser, literal_count);
    const uint8_t *states = take(parser, RANS12_STATES_SIZE);
    if (!job->selectors || !job->literals || !states)
        return fault_set(ret_fault, FAULT_RANS_HEADER, parser->offset, -EBADMSG);
    job->literals_end = job->literals + literal_count;
    for (unsigned lane = 0; lane < RANS12_LANES; lane++)
        job->states[lane] = get_le32(states + 4 * lane);
    job->words = parser->packed + parser->offset;
    job->words_end = parser->packed + parser->size;
    return 0;
}

/* The last two groups are the low 16 bits of the final states. */
static bool place_tail(const struct rans12_job *job, uint8_t *plane, size_t size)
{
    uint8_t tail[RANS12_TAIL];
    bool good = true;

    for (unsigned i = 0; i < RANS12_LANES; i++) {
        uint32_t x = job->states[rans12_lane(i)];
        tail[i] = (uint8_t)x;
        tail[RANS12_LANES + i] = (uint8_t)(x >> 8);
        good &= x >> 16 == 1;
    }
    size_t done = job->group_count * RANS12_LANES;
    memcpy(plane + done, tail, size - done);
    return good;
}

static bool run(struct rans12_job *job)
{
    switch (isa_current()) {
#if defined(__x86_64__)
    case ISA_AVX512:
        return rans12_decode_avx512(job);
    case ISA_AVX2:
        return rans12_decode_avx2(job);
#endif
    default:
        return rans12_decode_scalar(job);
    }
}

int rans12_decode(struct rans12_decoder *decoder, const uint8_t *packed, size_t packed_size,
                  uint8_t *plane, size_t size, struct fault *ret_fault)
{
    struct parser parser = {packed, packed_size, 0};
    size_t group_count = (size + RANS12_LANES - 1) / RANS12_LANES;

    if (size < RANS12_PLANE_MIN)
        return fault_set(ret_fault, FAULT_RANS_HEADER, 0, -EBADMSG);
    struct rans12_job job = {.group_count = group_count - RANS12_TAIL / RANS12_LANES, .out = plane};
    int r = parse(&parser, decoder, group_count * RANS12_LANES, &job, ret_fault);
    if (r < 0)
        return r;
    if (!run(&job))
        return fault_set(ret_fault, FAULT_RANS_STREAM, packed_size, -EBADMSG);
    if (!place_tail(&job, plane, size) || job.words != job.words_end ||
        job.literals != job.literals_end)
        return fault_set(ret_fault, FAULT_RANS_END, packed_size, -EBADMSG);
    return 0;
}
