/* rans_decode_loop.h - the loop over sections, groups and streams that the vector decoders
 * share. Each includes it once, after it has defined, for inlining,
 *
 *   struct tables   the tables of a section, in registers
 *   struct state    the states of a stream, in registers, and its pointer, named stream
 *   load_tables(job, table, two_steps, ret_tables)
 *   load_state(job, v, ret_state), store_state(job, v, state)
 *   decode_block(tables, two_steps, join, state, escape, rest, out)
 *                   one symbol of each lane of a stream to out, joined with rest if join
 *   looks_up_in_two_steps(job)
 *
 * Number of streams, join and two_steps are constants once it is inlined. Defines run.
 */
#ifndef TRUNK_RANS_DECODE_LOOP_H
#define TRUNK_RANS_DECODE_LOOP_H

#include <errno.h>

#include "rans_decode_kernel.h"

static inline __attribute__((always_inline)) int run_streams(struct rans_decode_job *job,
                                                             size_t begin, size_t end,
                                                             const unsigned streams,
                                                             const bool join, const bool two_steps)
{
    const size_t group = streams * RANS_LANES;
    struct state state[RANS_STREAMS_MAX];
    const uint8_t *escape = job->escape, *rest = job->rest;
    uint8_t *out = job->out;

    for (unsigned v = 0; v < streams; v++)
        load_state(job, v, &state[v]);
    for (size_t i = begin; i < end;) {
        size_t section = i / RANS_SECTION, section_end = (section + 1) * RANS_SECTION;
        struct tables tables;
        load_tables(job, job->selectors[section], two_steps, &tables);
        for (; i < (section_end < end ? section_end : end); i += group) {
            bool overrun = escape > job->escape_end;
            for (unsigned v = 0; v < streams; v++)
                overrun |= state[v].stream > job->stream_end[v];
            if (__builtin_expect(overrun, 0))
                return -EBADMSG;
            for (unsigned v = 0; v < streams; v++) {
                decode_block(&tables, two_steps, join, &state[v], &escape, rest, out);
                out += RANS_LANES;
                if (join) {
                    out += RANS_LANES;
                    rest += RANS_LANES;
                }
            }
        }
    }
    for (unsigned v = 0; v < streams; v++)
        store_state(job, v, &state[v]);
    job->escape = escape;
    job->rest = rest;
    job->out = out;
    return 0;
}

static inline __attribute__((always_inline)) int run_with(struct rans_decode_job *job, size_t begin,
                                                          size_t end, const bool join,
                                                          const bool two_steps)
{
    switch (job->stream_count) {
    case 1:
        return run_streams(job, begin, end, 1, join, two_steps);
    case 2:
        return run_streams(job, begin, end, 2, join, two_steps);
    default:
        return run_streams(job, begin, end, 4, join, two_steps);
    }
}

static int run(struct rans_decode_job *job, size_t begin, size_t end)
{
    if (looks_up_in_two_steps(job))
        return job->rest ? run_with(job, begin, end, true, true)
                         : run_with(job, begin, end, false, true);
    return job->rest ? run_with(job, begin, end, true, false)
                     : run_with(job, begin, end, false, false);
}

#endif
