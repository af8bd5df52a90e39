/* rans_decode_kernel.h - what the decoders of each instruction set take and give.
 *
 * rans_decode.c parses and checks the layout and calls one of them; they decode whole
 * groups and nothing else. All give the same bytes and the same verdict.
 */
#ifndef TRUNK_RANS_DECODE_KERNEL_H
#define TRUNK_RANS_DECODE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa.h"
#include "rans_format.h"
#include "rans_table.h"

/* A table as the vector versions want it. */
struct rans_lookup {
    _Alignas(64) uint8_t slot[RANS_SLOTS]; /* entry of each slot */
    uint8_t frequency[16], start[16], symbol[16];
    /* For look-up in two steps, by bucket of 16 slots: from bucket 2 on, the entry of a slot is
     * base[bucket] + (slot >= threshold[bucket]), where no bucket has two boundaries. */
    uint8_t threshold[16], base[16];
};

struct rans_decode_job {
    struct rans_table table[RANS_TABLES_MAX];
    unsigned stream_count; /* 1, 2 or 4 */
    unsigned table_count;
    const uint8_t *selectors; /* one byte a section, below table_count */
    /* Moved on by the kernel: states by lane, streams, and the symbols that were escaped.
     * At least RANS_LANES bytes behind each end are readable. */
    uint8_t low[RANS_STREAMS_MAX * RANS_LANES];
    uint8_t high[RANS_STREAMS_MAX * RANS_LANES];
    const uint8_t *stream[RANS_STREAMS_MAX], *stream_end[RANS_STREAMS_MAX];
    const uint8_t *escape, *escape_end;
    /* Where rest is NULL, symbols go to out; otherwise each is joined with its byte of rest to a
     * bf16 element (transform_bf16.c). */
    const uint8_t *rest;
    uint8_t *out;
    /* Written by prepare, read by run. */
    bool two_steps; /* every table allows look-up in two steps */
    union {
        struct rans_lookup lookup[RANS_TABLES_MAX];
        uint32_t packed[RANS_TABLES_MAX][RANS_SLOTS];
    };
};

struct rans_decode_kernel {
    void (*prepare)(struct rans_decode_job *job); /* once, when table and table_count are set */
    /* Decode symbols [begin, end), multiples of stream_count * RANS_LANES; out and rest point at
     * what belongs to begin. Returns 0, or -EBADMSG as soon as a stream or the escapes have been
     * overrun when a group begins. */
    int (*run)(struct rans_decode_job *job, size_t begin, size_t end);
};

extern const struct rans_decode_kernel rans_decode_scalar;
extern const struct rans_decode_kernel rans_decode_avx2;
extern const struct rans_decode_kernel rans_decode_avx512;
extern const struct rans_decode_kernel rans_decode_neon;

/* The prepare of the vector versions. */
void rans_decode_prepare_lookup(struct rans_decode_job *job);

/* Has a stream, or have the escapes, been read beyond the end? */
static inline bool rans_decode_overrun(const struct rans_decode_job *job)
{
    bool overrun = job->escape > job->escape_end;
    for (unsigned v = 0; v < job->stream_count; v++)
        overrun |= job->stream[v] > job->stream_end[v];
    return overrun;
}

#endif
