/* rans_decode.c - see rans_decode.h: layout, escapes, selectors and the end check. */
#include "rans_decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "format.h"
#include "rans_decode_kernel.h"
#include "transform.h"

/* Escapes may be overrun by one group before that is noticed, and are loaded 64 at a time. */
enum {
    GROUP_MAX = RANS_STREAMS_MAX * RANS_LANES,
    ESCAPE_SLACK = GROUP_MAX + RANS_LANES,
    TAIL_MAX = 2 * GROUP_MAX,
    CARRY_MAX = RANS_STREAMS_MAX * RANS_CARRY,
};

struct rans_decoder {
    struct rans_decode_job job;
    size_t max_size;
    uint8_t *escapes;   /* max_size rounded up to groups, and ESCAPE_SLACK */
    uint8_t *selectors; /* one a section */
    /* Of the plane decoded last: */
    size_t padded_size;       /* a multiple of the group */
    uint8_t carry[CARRY_MAX]; /* RANS_CARRY bytes a stream; valid if it was asked for */
};

/* The parts of a coded plane that come before the streams, taken one after the other. */
struct reader {
    const uint8_t *bytes;
    size_t size;
    size_t offset;
};

/* The next size bytes, or NULL where there are not so many. */
static const uint8_t *take(struct reader *reader, size_t size)
{
    if (!range_within(reader->offset, size, reader->size))
        return NULL;
    const uint8_t *bytes = reader->bytes + reader->offset;
    reader->offset += size;
    return bytes;
}

struct header {
    unsigned table_bits; /* log2 of the number of tables */
    size_t list_size;
    size_t escape_count;
    size_t literal_count;
    size_t stream_size[RANS_STREAMS_MAX]; /* not of the last */
};

static size_t padded_size_max(size_t max_size)
{
    return align_up(max_size, GROUP_MAX);
}

static size_t section_count(size_t padded_size)
{
    return (padded_size + RANS_SECTION - 1) / RANS_SECTION;
}

int rans_decoder_new(size_t max_size, struct rans_decoder **ret)
{
    struct rans_decoder *decoder = aligned_alloc(64, align_up(sizeof *decoder, 64));
    if (!decoder)
        return -ENOMEM;
    memset(decoder, 0, sizeof *decoder);
    decoder->max_size = max_size;
    decoder->escapes = calloc(1, padded_size_max(max_size) + ESCAPE_SLACK);
    decoder->selectors = calloc(1, section_count(padded_size_max(max_size)));
    if (!decoder->escapes || !decoder->selectors) {
        rans_decoder_free(decoder);
        return -ENOMEM;
    }
    *ret = decoder;
    return 0;
}

void rans_decoder_free(struct rans_decoder *decoder)
{
    if (!decoder)
        return;
    free(decoder->escapes);
    free(decoder->selectors);
    free(decoder);
}

size_t rans_decoder_memory(size_t max_size)
{
    size_t padded_size = padded_size_max(max_size);
    return sizeof(struct rans_decoder) + padded_size + ESCAPE_SLACK + section_count(padded_size);
}

static int read_header(struct rans_decoder *decoder, bool carry, size_t size, struct reader *reader,
                       struct header *ret)
{
    struct rans_decode_job *job = &decoder->job;
    const uint8_t *bytes = take(reader, RANS_HEADER_SIZE);
    if (!bytes)
        return -EBADMSG;

    uint8_t shape = bytes[RANS_OFFSET_SHAPE];
    unsigned stream_bits = shape & RANS_SHAPE_STREAMS;
    ret->table_bits = shape >> RANS_SHAPE_TABLES_SHIFT & RANS_SHAPE_TABLES;
    if (stream_bits > RANS_SHAPE_LOG2_MAX || ret->table_bits > RANS_SHAPE_LOG2_MAX ||
        shape & RANS_SHAPE_ZERO || !(shape & RANS_SHAPE_CARRY) != !carry)
        return -EBADMSG;
    job->stream_count = 1u << stream_bits;
    job->table_count = 1u << ret->table_bits;
    if (carry && size < job->stream_count * (size_t)RANS_CARRY_MIN)
        return -EBADMSG;

    decoder->padded_size = align_up(size, job->stream_count * (size_t)RANS_LANES);
    ret->list_size = bytes[RANS_OFFSET_LIST_SIZE];
    ret->escape_count = get_le24(bytes + RANS_OFFSET_ESCAPE_COUNT);
    ret->literal_count = get_le24(bytes + RANS_OFFSET_LITERAL_COUNT);
    if (ret->list_size > RANS_ESCAPE_LIST_MAX || ret->escape_count > decoder->padded_size ||
        ret->literal_count > ret->escape_count)
        return -EBADMSG;

    bytes = take(reader, RANS_STREAM_SIZE_WIDTH * (size_t)(job->stream_count - 1));
    if (!bytes)
        return -EBADMSG;
    for (unsigned v = 0; v < job->stream_count - 1; v++) {
        ret->stream_size[v] = get_le24(bytes + RANS_STREAM_SIZE_WIDTH * v);
        if (ret->stream_size[v] < RANS_STREAM_SIZE_MIN)
            return -EBADMSG;
    }
    return 0;
}

static int read_tables(struct rans_decode_job *job, struct reader *reader)
{
    for (unsigned t = 0; t < job->table_count; t++) {
        size_t used;
        int r = rans_table_read(reader->bytes + reader->offset, reader->size - reader->offset,
                                &job->table[t], &used);
        if (r < 0)
            return r;
        reader->offset += used;
    }
    return 0;
}

static int read_selectors(struct rans_decoder *decoder, const struct header *header,
                          struct reader *reader)
{
    size_t count = section_count(decoder->padded_size);
    unsigned bits = header->table_bits;
    const uint8_t *bytes = take(reader, (count * bits + 7) / 8);
    if (!bytes)
        return -EBADMSG;

    decoder->job.selectors = decoder->selectors;
    if (bits == 0) {
        memset(decoder->selectors, 0, count);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        decoder->selectors[i] =
            (uint8_t)(bytes[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1));
    size_t used = count * bits % 8;
    if (used && bytes[count * bits / 8] >> used)
        return -EBADMSG;
    return 0;
}

static int read_escapes(struct rans_decoder *decoder, const struct header *header,
                        const uint8_t *list, struct reader *reader)
{
    size_t count = header->escape_count;
    const uint8_t *nibbles = take(reader, (count + 1) / 2);
    const uint8_t *literals = take(reader, header->literal_count);
    if (!nibbles || !literals)
        return -EBADMSG;
    if (count % 2 && nibbles[count / 2] >> 4)
        return -EBADMSG;

    const uint8_t *literals_end = literals + header->literal_count;
    for (size_t i = 0; i < count; i++) {
        unsigned nibble = nibbles[i / 2] >> (4 * (i % 2)) & 15;
        if (nibble < header->list_size) {
            decoder->escapes[i] = list[nibble];
        } else {
            if (nibble != RANS_NIBBLE_LITERAL || literals == literals_end)
                return -EBADMSG;
            decoder->escapes[i] = *literals++;
        }
    }
    decoder->job.escape = decoder->escapes;
    decoder->job.escape_end = decoder->escapes + count;
    return literals == literals_end ? 0 : -EBADMSG;
}

static int read_streams(struct rans_decode_job *job, struct header *header, struct reader *reader)
{
    unsigned last = job->stream_count - 1;

    for (unsigned v = 0; v <= last; v++) {
        if (v == last)
            header->stream_size[v] = reader->size - reader->offset;
        const uint8_t *bytes = take(reader, header->stream_size[v]);
        if (!bytes || header->stream_size[v] < RANS_STREAM_SIZE_MIN)
            return -EBADMSG;
        memcpy(job->low + v * RANS_LANES, bytes, RANS_LANES);
        memcpy(job->high + v * RANS_LANES, bytes + RANS_LANES, RANS_LANES);
        job->stream[v] = bytes + RANS_STREAM_SIZE_MIN;
        job->stream_end[v] = bytes + header->stream_size[v];
    }
    return 0;
}

/* Everything up to the first symbol. */
static int parse(struct rans_decoder *decoder, bool carry, const uint8_t *packed,
                 size_t packed_size, size_t size, struct fault *ret_fault)
{
    struct reader reader = {.bytes = packed, .size = packed_size};
    struct header header;

    int r = read_header(decoder, carry, size, &reader, &header);
    if (r < 0)
        return fault_set(ret_fault, FAULT_RANS_HEADER, reader.offset, r);
    const uint8_t *list = take(&reader, header.list_size);
    r = list ? read_tables(&decoder->job, &reader) : -EBADMSG;
    if (r < 0)
        return fault_set(ret_fault, FAULT_RANS_TABLE, reader.offset, r);
    r = read_selectors(decoder, &header, &reader);
    if (r < 0)
        return fault_set(ret_fault, FAULT_RANS_SELECTORS, reader.offset, r);
    r = read_escapes(decoder, &header, list, &reader);
    if (r < 0)
        return fault_set(ret_fault, FAULT_RANS_ESCAPES, reader.offset, r);
    r = read_streams(&decoder->job, &header, &reader);
    if (r < 0)
        return fault_set(ret_fault, FAULT_RANS_STREAM, reader.offset, r);
    return 0;
}

static const struct rans_decode_kernel *kernel(void)
{
    switch (isa_current()) {
#if defined(__x86_64__)
    case ISA_AVX512:
        return &rans_decode_avx512;
    case ISA_AVX2:
        return &rans_decode_avx2;
#elif defined(__aarch64__)
    case ISA_NEON:
        return &rans_decode_neon;
#endif
    default:
        return &rans_decode_scalar;
    }
}

/* Decode all symbols but those of the last two groups, which carry what the states carry and may
 * be padding: they go to tail. job->out and job->rest are set. Returns where the tail begins. */
static int decode_symbols(struct rans_decoder *decoder, uint8_t tail[TAIL_MAX],
                          size_t *ret_tail_begin)
{
    struct rans_decode_job *job = &decoder->job;
    const struct rans_decode_kernel *with = kernel();
    size_t tail_size = 2 * (size_t)job->stream_count * RANS_LANES;
    size_t tail_begin = decoder->padded_size > tail_size ? decoder->padded_size - tail_size : 0;

    with->prepare(job);
    int r = with->run(job, 0, tail_begin);
    if (r < 0)
        return r;
    job->out = tail;
    job->rest = NULL;
    *ret_tail_begin = tail_begin;
    return with->run(job, tail_begin, decoder->padded_size);
}

/* The bytes that the final states carry: RANS_CARRY a stream, the low halves' last. */
static void unpack_carry(struct rans_decoder *decoder)
{
    const struct rans_decode_job *job = &decoder->job;
    unsigned lanes = job->stream_count * RANS_LANES;
    unsigned high_size = job->stream_count * RANS_CARRY_HIGH;
    uint8_t *to = decoder->carry;

    for (unsigned lane = 0; lane < lanes; lane += 8, to += 7) {
        uint64_t bits = 0;
        for (unsigned k = 0; k < 8; k++)
            bits |= (uint64_t)(job->high[lane + k] & 127) << (7 * k);
        bytes_put_le(to, 7, bits);
    }
    memcpy(decoder->carry + high_size, job->low, lanes);
}

/* Did everything end where it had to? */
static int check_end(const struct rans_decoder *decoder, bool carry)
{
    const struct rans_decode_job *job = &decoder->job;
    unsigned wrong = job->escape != job->escape_end;

    for (unsigned v = 0; v < job->stream_count; v++)
        wrong |= job->stream[v] != job->stream_end[v];
    for (unsigned lane = 0; lane < job->stream_count * RANS_LANES; lane++) {
        unsigned x = (unsigned)job->high[lane] << 8 | job->low[lane];
        wrong |= carry ? x < RANS_STATE_CARRY : x != RANS_STATE_PLAIN;
    }
    return wrong ? -EBADMSG : 0;
}

/* Decode what was parsed, and check the end. The symbols before *ret_tail_begin are in out,
 * joined with rest unless that is NULL, the others in tail. */
static int decode(struct rans_decoder *decoder, bool carry, const uint8_t *rest, uint8_t *out,
                  uint8_t tail[TAIL_MAX], size_t *ret_tail_begin, size_t packed_size,
                  struct fault *ret_fault)
{
    decoder->job.rest = rest;
    decoder->job.out = out;
    int r = decode_symbols(decoder, tail, ret_tail_begin);
    if (r < 0)
        return fault_set(ret_fault, FAULT_RANS_STREAM, packed_size, r);
    r = check_end(decoder, carry);
    if (r < 0)
        return fault_set(ret_fault, FAULT_RANS_END, packed_size, r);
    if (carry)
        unpack_carry(decoder);
    return 0;
}

int rans_decode(struct rans_decoder *decoder, bool carry, const uint8_t *packed, size_t packed_size,
                uint8_t *plane, size_t size, struct fault *ret_fault)
{
    uint8_t tail[TAIL_MAX];
    size_t tail_begin;

    int r = parse(decoder, carry, packed, packed_size, size, ret_fault);
    if (r < 0)
        return r;
    r = decode(decoder, carry, NULL, plane, tail, &tail_begin, packed_size, ret_fault);
    if (r < 0)
        return r;
    memcpy(plane + tail_begin, tail, size - tail_begin);
    return 0;
}

/* How many bytes a plane coded as rest stores: the others are carried. */
static size_t rest_size_of(const struct rans_decoder *decoder)
{
    return decoder->padded_size - decoder->job.stream_count * (size_t)RANS_CARRY;
}

/* Carried bytes behind the plane's end are padding and must be zero. */
static int check_carry_padding(const struct rans_decoder *decoder, size_t size)
{
    size_t carried = size - rest_size_of(decoder);
    size_t carry_size = decoder->job.stream_count * (size_t)RANS_CARRY;
    unsigned wrong = 0;

    for (size_t i = carried; i < carry_size; i++)
        wrong |= decoder->carry[i];
    return wrong ? -EBADMSG : 0;
}

int rans_decode_rest(const struct rans_decoder *decoder, const uint8_t *packed, size_t packed_size,
                     uint8_t *plane, size_t size, struct fault *ret_fault)
{
    if (packed_size != rest_size_of(decoder))
        return fault_set(ret_fault, FAULT_FRAME_PLANE, 0, -EBADMSG);
    if (check_carry_padding(decoder, size) < 0)
        return fault_set(ret_fault, FAULT_RANS_CARRY, 0, -EBADMSG);
    memcpy(plane, packed, packed_size);
    memcpy(plane + packed_size, decoder->carry, size - packed_size);
    return 0;
}

int rans_decode_bf16(struct rans_decoder *decoder, const uint8_t *packed, size_t packed_size,
                     const uint8_t *rest, size_t rest_size, size_t size, uint8_t *raw,
                     struct fault *ret_fault)
{
    uint8_t tail[TAIL_MAX], tail_rest[TAIL_MAX];
    size_t tail_begin;

    int r = parse(decoder, true, packed, packed_size, size, ret_fault);
    if (r < 0)
        return r;
    if (rest_size != rest_size_of(decoder))
        return fault_set(ret_fault, FAULT_FRAME_PLANE, packed_size, -EBADMSG);
    r = decode(decoder, true, rest, raw, tail, &tail_begin, packed_size, ret_fault);
    if (r < 0)
        return r;
    if (check_carry_padding(decoder, size) < 0)
        return fault_set(ret_fault, FAULT_RANS_CARRY, packed_size, -EBADMSG);

    size_t stored = rest_size - tail_begin;
    memcpy(tail_rest, rest + tail_begin, stored);
    memcpy(tail_rest + stored, decoder->carry, size - rest_size);
    const uint8_t *planes[] = {tail, tail_rest};
    transform_bf16_merge(planes, size - tail_begin, raw + 2 * tail_begin);
    return 0;
}
