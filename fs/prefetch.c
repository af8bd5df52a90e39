#include "prefetch.h"

#include <errno.h>
#include <stdlib.h>

#include "fetch.h"
#include "metrics.h"
#include "pipeline_private.h"
#include "prefetch_private.h"

void prefetch_fetch_begins(struct prefetcher *prefetcher, struct fetch *fetch)
{
    fetch->held_next = NULL;
    fetch->held_prev = prefetcher->last;
    if (prefetcher->last)
        prefetcher->last->held_next = fetch;
    else
        prefetcher->first = fetch;
    prefetcher->last = fetch;
    prefetcher->held += fetch->io.size;
    prefetcher->in_flight += fetch->io.size;
}

void prefetch_fetch_arrives(struct prefetcher *prefetcher, struct fetch *fetch)
{
    prefetcher->in_flight -= fetch->io.size;
}

void prefetch_fetch_ends(struct prefetcher *prefetcher, struct fetch *fetch)
{
    if (fetch->held_prev)
        fetch->held_prev->held_next = fetch->held_next;
    else
        prefetcher->first = fetch->held_next;
    if (fetch->held_next)
        fetch->held_next->held_prev = fetch->held_prev;
    else
        prefetcher->last = fetch->held_prev;
    prefetcher->held -= fetch->io.size;
}

void prefetch_drop_ahead(struct prefetcher *prefetcher, struct pipeline *pipeline,
                         struct stream *stream)
{
    struct fetch *fetch = prefetcher->first;
    uint32_t frame_size = stream->ahead_file ? stream->ahead_file->frame_size : 1;

    while (fetch && stream->ahead_file) {
        struct fetch *next = fetch->held_next;
        uint64_t begin = fetch->first_frame * frame_size;
        if (fetch->file == stream->ahead_file && begin >= stream->ahead_begin &&
            begin < stream->cursor)
            fetch_drop_unused(pipeline, fetch);
        fetch = next;
    }
    stream->ahead_file = NULL;
    stream->jumped = false;
}

/* The run that a new stream may be the continuation of: the latest one of its kind, in the same
 * file if there is one. */
static const struct stream *find_origin(struct prefetcher *prefetcher, const struct stream *fresh)
{
    const struct stream *origin = NULL;

    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        const struct stream *stream = &prefetcher->streams.streams[i];
        if (stream == fresh || !stream->file || prefetch_length(stream) < PREFETCH_RUN_MIN ||
            stream->direct != fresh->direct)
            continue;
        if (!origin || (stream->file == fresh->file) > (origin->file == fresh->file) ||
            ((stream->file == fresh->file) == (origin->file == fresh->file) &&
             stream->used > origin->used))
            origin = stream;
    }
    return origin;
}

/* Does a new stream begin where a jump was foreseen? Then it owns what was read ahead. */
static void inherit_ahead(struct prefetcher *prefetcher, struct stream *fresh)
{
    uint64_t slack = 16 * (uint64_t)fresh->last_size; /* the first request may come late */

    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        struct stream *stream = &prefetcher->streams.streams[i];
        if (!stream->jumped || stream->ahead_file != fresh->file ||
            fresh->begin < stream->ahead_begin || fresh->begin - stream->ahead_begin > slack)
            continue;
        /* Several may have led here; the one that got furthest speaks for all. */
        if (!fresh->ahead_file || stream->cursor > fresh->cursor) {
            fresh->ahead_file = stream->ahead_file;
            fresh->ahead_begin = stream->ahead_begin;
            fresh->cursor = stream->cursor;
        }
        fresh->streak = fresh->resumes = 1;
        stream->ahead_file = NULL;
        stream->jumped = false;
    }
}

/* A stream has become a run: others of the file that stood still meanwhile are over, and what
 * was read ahead for them is useless. The way here is worth remembering. */
static void run_begins(struct prefetcher *prefetcher, struct pipeline *pipeline, struct stream *run)
{
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        struct stream *stream = &prefetcher->streams.streams[i];
        if (stream != run && stream->file == run->file && stream->used < run->started)
            prefetch_drop_ahead(prefetcher, pipeline, stream);
    }
    if (run->from_file) {
        struct jump jump = {.from_file = run->from_file,
                            .from_end = run->from_end,
                            .to_file = run->file,
                            .to_begin = run->begin};
        jump_table_learn(&prefetcher->jumps, &jump);
    }
}

void prefetch_note(struct prefetcher *prefetcher, struct pipeline *pipeline,
                   struct packed_file *file, uint64_t offset, uint32_t size, bool direct)
{
    struct stream_event event;
    struct stream *stream;

    stream_set_note(&prefetcher->streams, file, offset, size, direct, &event);
    stream = event.stream;
    if (!event.started && stream->jumped && stream->next > stream->jump_end) {
        jump_table_unlearn(&prefetcher->jumps, stream->file, stream->jump_end);
        prefetch_drop_ahead(prefetcher, pipeline, stream);
    }
    if (!event.started && atomic_load(&pipeline->in_flight) <= 1)
        stream->resumes++;
    if (event.started) {
        const struct stream *origin;
        if (event.old.file)
            prefetch_drop_ahead(prefetcher, pipeline, &event.old);
        inherit_ahead(prefetcher, stream);
        origin = find_origin(prefetcher, stream);
        if (origin) {
            stream->from_file = origin->file;
            stream->from_end = origin->next;
            if (origin->resumes && !stream->resumes)
                stream->resumes = 1; /* a client that comes back for more */
        }
    } else if (prefetch_length(stream) >= PREFETCH_RUN_MIN &&
               prefetch_length(stream) - size < PREFETCH_RUN_MIN) {
        run_begins(prefetcher, pipeline, stream);
    }
}

void prefetch_forget_file(struct prefetcher *prefetcher, struct pipeline *pipeline,
                          struct packed_file *file)
{
    struct fetch *fetch = prefetcher->first;

    while (fetch) {
        struct fetch *next = fetch->held_next;
        if (fetch->file == file)
            fetch_drop_unused(pipeline, fetch);
        fetch = next;
    }
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        struct stream *stream = &prefetcher->streams.streams[i];
        if (stream->ahead_file == file) {
            stream->ahead_file = NULL;
            stream->jumped = false;
        }
        if (stream->from_file == file)
            stream->from_file = NULL;
        if (stream->file == file)
            *stream = (struct stream){.file = NULL};
    }
    jump_table_forget_file(&prefetcher->jumps, file);
}

bool prefetch_yield(struct pipeline_worker *worker)
{
    struct pipeline *pipeline = worker->pipeline;
    struct fetch *fetch = NULL;

    if (!pipeline->prefetcher)
        return false;
    frame_table_lock(pipeline->table);
    /* What was read last is wanted last. */
    for (fetch = pipeline->prefetcher->last; fetch; fetch = fetch->held_prev) {
        if (fetch->arrived && !fetch->unwanted)
            break;
    }
    if (fetch)
        fetch_drop_unused(pipeline, fetch);
    frame_table_unlock(pipeline->table);
    return fetch != NULL;
}

int prefetcher_new(size_t held_max, struct prefetcher **ret)
{
    struct prefetcher *prefetcher = calloc(1, sizeof(*prefetcher));

    if (!prefetcher)
        return -ENOMEM;
    prefetcher->held_max = held_max;
    *ret = prefetcher;
    return 0;
}

void prefetcher_free(struct prefetcher *prefetcher)
{
    free(prefetcher);
}
