/* rans_encode.c - see rans_encode.h: escapes, carried bytes and layout. */
#include "rans_encode.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "rans_encode_kernel.h"
#include "rans_model.h"

enum {
    GROUP_MAX = RANS_STREAMS_MAX * RANS_LANES,
    STREAM_SLACK = RANS_LANES,
    /* Streams cost their states, and make decoding faster: from these sizes on, 2 and 4. */
    SIZE_FOR_2_STREAMS = 24 << 10,
    SIZE_FOR_4_STREAMS = 192 << 10,
};

struct rans_encoder {
    struct rans_encode_job job;
    struct rans_model model;
    uint8_t *entries;
    uint8_t *escapes;
    uint8_t *streams;
};

/* What escapes become. */
struct escape_plan {
    size_t count;
    size_t literal_count;
    unsigned list_size;
    uint8_t list[RANS_ESCAPE_LIST_MAX];
    uint8_t nibble[256]; /* of each symbol */
};

int rans_encoder_new(size_t max_size, const struct frame_log2 *log2, struct rans_encoder **ret)
{
    size_t padded_size = align_up(max_size, GROUP_MAX);
    struct rans_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder)
        return -ENOMEM;
    encoder->entries = malloc(padded_size);
    encoder->escapes = malloc(padded_size + RANS_LANES);
    encoder->streams = malloc(padded_size + RANS_STREAMS_MAX * STREAM_SLACK);
    if (!encoder->entries || !encoder->escapes || !encoder->streams ||
        rans_model_init(&encoder->model, max_size, log2) < 0) {
        rans_encoder_free(encoder);
        return -ENOMEM;
    }
    *ret = encoder;
    return 0;
}

void rans_encoder_free(struct rans_encoder *encoder)
{
    if (!encoder)
        return;
    rans_model_fini(&encoder->model);
    free(encoder->entries);
    free(encoder->escapes);
    free(encoder->streams);
    free(encoder);
}

static const struct rans_encode_kernel *kernel(void)
{
#if defined(__x86_64__)
    if (isa_current() == ISA_AVX512)
        return &rans_encode_avx512;
    if (isa_current() == ISA_AVX2)
        return &rans_encode_avx2;
#endif
    return &rans_encode_scalar;
}

static unsigned stream_count_for(size_t size)
{
    return size >= SIZE_FOR_4_STREAMS ? 4 : size >= SIZE_FOR_2_STREAMS ? 2 : 1;
}

/* Entries of all symbols and of the padding; the escaped symbols. Returns how many those are. */
static size_t map_symbols(struct rans_encoder *encoder, const uint8_t *plane, size_t size)
{
    const struct rans_model *model = &encoder->model;
    uint8_t map[RANS_TABLES_MAX][256];
    size_t escape_count = 0;

    for (unsigned t = 0; t < model->table_count; t++) {
        memset(map[t], 0, sizeof map[t]);
        for (unsigned i = 1; i < model->table[t].entry_count; i++)
            map[t][model->table[t].symbol[i]] = (uint8_t)i;
    }
    for (size_t i = 0; i < size; i += RANS_SECTION) {
        size_t count = size - i < RANS_SECTION ? size - i : RANS_SECTION;
        escape_count += kernel()->map(plane + i, count, map[model->selectors[i / RANS_SECTION]],
                                      encoder->entries + i, encoder->escapes + escape_count);
    }
    /* Padding takes what costs least: the last entry is the most frequent but for the escape. */
    const struct rans_table *last = &model->table[model->selectors[(size - 1) / RANS_SECTION]];
    memset(encoder->entries + size, last->entry_count - 1, encoder->job.size - size);
    return escape_count;
}

static void plan_escapes(const uint8_t *escapes, size_t count, struct escape_plan *ret)
{
    uint32_t counts[256] = {0};

    memset(ret->nibble, RANS_NIBBLE_LITERAL, sizeof ret->nibble);
    ret->count = ret->literal_count = count;
    ret->list_size = 0;
    for (size_t i = 0; i < count; i++)
        counts[escapes[i]]++;
    while (ret->list_size < RANS_ESCAPE_LIST_MAX) {
        unsigned best = 0;
        for (unsigned symbol = 1; symbol < 256; symbol++)
            if (counts[symbol] > counts[best])
                best = symbol;
        if (!counts[best])
            break;
        ret->literal_count -= counts[best];
        counts[best] = 0;
        ret->nibble[best] = (uint8_t)ret->list_size;
        ret->list[ret->list_size++] = (uint8_t)best;
    }
}

/* Final states without carry. */
static void set_plain_states(struct rans_encode_job *job)
{
    memset(job->low, RANS_STATE_PLAIN & 255, sizeof job->low);
    memset(job->high, RANS_STATE_PLAIN >> 8, sizeof job->high);
}

/* Final states that carry the last bytes of next, padded with zeros to whole groups. Returns
 * how many bytes of next are left to be stored. */
static size_t set_carry_states(struct rans_encode_job *job, const uint8_t *next, size_t size)
{
    uint8_t carry[RANS_STREAMS_MAX * RANS_CARRY] = {0};
    unsigned lanes = job->stream_count * RANS_LANES;
    size_t rest_size = job->size - job->stream_count * (size_t)RANS_CARRY;

    memcpy(carry, next + rest_size, size - rest_size);
    const uint8_t *from = carry;
    for (unsigned lane = 0; lane < lanes; lane += 8, from += 7) {
        uint64_t bits = bytes_get_le(from, 7);
        for (unsigned k = 0; k < 8; k++)
            job->high[lane + k] = (uint8_t)(RANS_STATE_CARRY >> 8 | (bits >> (7 * k) & 127));
    }
    memcpy(job->low, from, lanes);
    return rest_size;
}

static void run_streams(struct rans_encoder *encoder, const uint8_t *ends[RANS_STREAMS_MAX])
{
    struct rans_encode_job *job = &encoder->job;
    size_t stream_room = job->size / job->stream_count + STREAM_SLACK;

    job->tables = encoder->model.table;
    job->selectors = encoder->model.selectors;
    job->entries = encoder->entries;
    for (unsigned v = 0; v < job->stream_count; v++)
        ends[v] = job->stream[v] = encoder->streams + (v + 1) * stream_room;
    kernel()->run(job);
}

static uint8_t *write_selectors(const struct rans_encoder *encoder, uint8_t *to)
{
    size_t count = (encoder->job.size + RANS_SECTION - 1) / RANS_SECTION;
    unsigned bits = encoder->model.table_count / 2;
    size_t size = (count * bits + 7) / 8;

    memset(to, 0, size);
    for (size_t i = 0; i < count; i++)
        to[i * bits / 8] |= (uint8_t)(encoder->model.selectors[i] << (i * bits % 8));
    return to + size;
}

static uint8_t *write_escapes(const uint8_t *escapes, const struct escape_plan *plan, uint8_t *to)
{
    uint8_t *literals = to + (plan->count + 1) / 2;

    memset(to, 0, (plan->count + 1) / 2);
    for (size_t i = 0; i < plan->count; i++) {
        unsigned nibble = plan->nibble[escapes[i]];
        to[i / 2] |= (uint8_t)(nibble << (4 * (i % 2)));
        if (nibble == RANS_NIBBLE_LITERAL)
            *literals++ = escapes[i];
    }
    return literals;
}

static uint8_t *write_streams(const struct rans_encode_job *job,
                              const uint8_t *const ends[RANS_STREAMS_MAX], uint8_t *to)
{
    for (unsigned v = 0; v < job->stream_count; v++) {
        size_t size = (size_t)(ends[v] - job->stream[v]);
        memcpy(to, job->low + v * RANS_LANES, RANS_LANES);
        memcpy(to + RANS_LANES, job->high + v * RANS_LANES, RANS_LANES);
        memcpy(to + RANS_STREAM_SIZE_MIN, job->stream[v], size);
        to += RANS_STREAM_SIZE_MIN + size;
    }
    return to;
}

static uint8_t *write_header(const struct rans_encoder *encoder, const struct escape_plan *plan,
                             bool carry, const uint8_t *const ends[RANS_STREAMS_MAX], uint8_t *to)
{
    const struct rans_encode_job *job = &encoder->job;

    to[RANS_OFFSET_SHAPE] = (uint8_t)(job->stream_count / 2 |
                                      (encoder->model.table_count / 2) << RANS_SHAPE_TABLES_SHIFT |
                                      (carry ? RANS_SHAPE_CARRY : 0));
    to[RANS_OFFSET_LIST_SIZE] = (uint8_t)plan->list_size;
    put_le24(to + RANS_OFFSET_ESCAPE_COUNT, (uint32_t)plan->count);
    put_le24(to + RANS_OFFSET_LITERAL_COUNT, (uint32_t)plan->literal_count);
    to += RANS_HEADER_SIZE;
    for (unsigned v = 0; v + 1 < job->stream_count; v++, to += RANS_STREAM_SIZE_WIDTH)
        put_le24(to, (uint32_t)(RANS_STREAM_SIZE_MIN + (ends[v] - job->stream[v])));
    memcpy(to, plan->list, plan->list_size);
    return to + plan->list_size;
}

/* An upper bound, but for the tables exact. */
static size_t bound(const struct rans_encoder *encoder, const struct escape_plan *plan,
                    const uint8_t *const ends[RANS_STREAMS_MAX])
{
    const struct rans_encode_job *job = &encoder->job;
    size_t size = RANS_HEADER_SIZE + RANS_STREAM_SIZE_WIDTH * RANS_STREAMS_MAX + plan->list_size +
                  RANS_TABLES_MAX * RANS_TABLE_SIZE_MAX + job->size / RANS_SECTION / 4 + 1 +
                  (plan->count + 1) / 2 + plan->literal_count;

    for (unsigned v = 0; v < job->stream_count; v++)
        size += RANS_STREAM_SIZE_MIN + (size_t)(ends[v] - job->stream[v]);
    return size;
}

struct rans_model *rans_encoder_model(struct rans_encoder *encoder)
{
    return &encoder->model;
}

int rans_encode_modelled(struct rans_encoder *encoder, unsigned stream_count, const uint8_t *plane,
                         size_t size, const uint8_t *next, uint8_t *packed, size_t room,
                         size_t *ret_packed_size, size_t *ret_rest_size)
{
    struct rans_encode_job *job = &encoder->job;
    const uint8_t *ends[RANS_STREAMS_MAX];
    struct escape_plan plan;

    job->stream_count = stream_count;
    job->size = align_up(size, stream_count * (size_t)RANS_LANES);
    bool carry = next && size >= stream_count * (size_t)RANS_CARRY_MIN;
    *ret_rest_size = size;
    if (carry)
        *ret_rest_size = set_carry_states(job, next, size);
    else
        set_plain_states(job);
    size_t escape_count = map_symbols(encoder, plane, size);
    plan_escapes(encoder->escapes, escape_count, &plan);
    run_streams(encoder, ends);
    if (bound(encoder, &plan, ends) > room)
        return -ENOSPC;

    uint8_t *to = write_header(encoder, &plan, carry, ends, packed);
    for (unsigned t = 0; t < encoder->model.table_count; t++)
        to += rans_table_write(&encoder->model.table[t], to);
    to = write_selectors(encoder, to);
    to = write_escapes(encoder->escapes, &plan, to);
    to = write_streams(job, ends, to);
    *ret_packed_size = (size_t)(to - packed);
    return 0;
}

int rans_encode(struct rans_encoder *encoder, const uint8_t *plane, size_t size,
                const uint8_t *next, uint8_t *packed, size_t room, size_t *ret_packed_size,
                size_t *ret_rest_size)
{
    unsigned stream_count = stream_count_for(size);

    rans_model_choose(&encoder->model, kernel(), plane, size);
    if (encoder->model.packed_size + stream_count * (size_t)RANS_STREAM_SIZE_MIN > room)
        return -ENOSPC;
    return rans_encode_modelled(encoder, stream_count, plane, size, next, packed, room,
                                ret_packed_size, ret_rest_size);
}
