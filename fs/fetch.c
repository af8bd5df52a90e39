#include "fetch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "log.h"
#include "metrics.h"
#include "pipeline_private.h"
#include "prefetch.h"

enum {
    PAGE = 4096,
    /* Bytes being read at a time: enough for the fastest disk to be busy, and not so many that
     * it gets slower, as virtual ones do, or that those who come later wait long. */
    DEPTH_MAX = 8 << 20,
};

static uint64_t frame_end(const struct frame *frame)
{
    return frame->place.packed_offset + frame->place.packed_size;
}

static struct fetch *fetch_new(struct packed_file *file, uint64_t begin, uint64_t end, bool direct)
{
    struct fetch *fetch = calloc(1, sizeof(*fetch));
    uint64_t aligned = begin & ~(uint64_t)(PAGE - 1);

    if (!fetch)
        return NULL;
    packed_file_get(file);
    fetch->file = file;
    fetch->io.fd = direct || file->buffered_fd < 0 ? file->fd : file->buffered_fd;
    fetch->io.offset = aligned;
    fetch->io.size = (uint32_t)(align_up(end, PAGE) - aligned);
    fetch->io.needed = (uint32_t)(end - aligned);
    return fetch;
}

static void fetch_free(struct fetch *fetch)
{
    packed_file_put(fetch->file);
    free(fetch);
}

/* Submit with memory in hand. */
static void fetch_submit(struct pipeline_worker *worker, struct fetch *fetch)
{
    struct pipeline *pipeline = worker->pipeline;

    metrics_gauge_add(METRICS_MEMORY_PACKED, fetch->io.size);
    fetch->io.buffer = fetch->buffer;
    atomic_fetch_add(&pipeline->fetching_bytes, fetch->io.size);
    if (fetch->ahead) {
        metrics_add(METRICS_PREFETCH_ISSUED, fetch->io.size);
        frame_table_lock(pipeline->table);
        prefetch_fetch_begins(pipeline->prefetcher, fetch);
        frame_table_unlock(pipeline->table);
    }
    io_submit(worker->io, &fetch->io);
}

/* May a read of that size go to the disk now? */
static bool has_depth(const struct pipeline *pipeline, uint32_t size)
{
    size_t fetching = atomic_load(&pipeline->fetching_bytes);
    return fetching == 0 || fetching + size <= DEPTH_MAX;
}

/* The line is kept in order, so that nobody starves. (table locked) */
static void line_up(struct pipeline *pipeline, struct fetch *fetch)
{
    fetch->ahead = false;
    fetch->next = NULL;
    *pipeline->waiting_tail = fetch;
    pipeline->waiting_tail = &fetch->next;
    atomic_fetch_add(&pipeline->waiting_count, 1);
}

/* No memory to read ahead: never mind, unless somebody has asked meanwhile. (table locked) */
static bool give_up(struct pipeline *pipeline, struct fetch *fetch)
{
    struct frame *frame;

    for (frame = fetch->frames; frame; frame = frame->queue_next) {
        if (frame->references)
            return false;
    }
    while ((frame = fetch->frames)) {
        fetch->frames = frame->queue_next;
        frame_table_drop(pipeline->table, frame);
    }
    return true;
}

/* Submit, or line up for the disk and for memory. */
static void fetch_start(struct pipeline_worker *worker, struct fetch *fetch)
{
    struct pipeline *pipeline = worker->pipeline;
    bool given_up;

    if (!atomic_load(&pipeline->waiting_count) && has_depth(pipeline, fetch->io.size)) {
        fetch->buffer = packed_area_take(pipeline->area, fetch->io.size);
        if (fetch->buffer) {
            fetch_submit(worker, fetch);
            return;
        }
    }
    frame_table_lock(pipeline->table);
    given_up = fetch->ahead && give_up(pipeline, fetch);
    if (!given_up)
        line_up(pipeline, fetch);
    frame_table_unlock(pipeline->table);
    if (given_up)
        fetch_free(fetch);
}

/* The first in line, with memory; NULL if it has to wait on. */
static struct fetch *take_waiting(struct pipeline *pipeline, bool *ret_starved)
{
    struct fetch *fetch;

    frame_table_lock(pipeline->table);
    fetch = pipeline->waiting;
    *ret_starved = false;
    if (fetch && has_depth(pipeline, fetch->io.size)) {
        fetch->buffer = packed_area_take(pipeline->area, fetch->io.size);
        *ret_starved = !fetch->buffer;
    }
    if (fetch && fetch->buffer) {
        pipeline->waiting = fetch->next;
        if (!pipeline->waiting)
            pipeline->waiting_tail = &pipeline->waiting;
        atomic_fetch_sub(&pipeline->waiting_count, 1);
    } else {
        fetch = NULL;
    }
    frame_table_unlock(pipeline->table);
    return fetch;
}

void fetch_resume(struct pipeline_worker *worker)
{
    struct pipeline *pipeline = worker->pipeline;

    while (atomic_load(&pipeline->waiting_count)) {
        bool starved;
        struct fetch *fetch = take_waiting(pipeline, &starved);
        if (fetch)
            fetch_submit(worker, fetch);
        else if (!starved || !prefetch_yield(worker))
            break;
    }
}

/* Cut the longest run off the front of the chain that one read may bring. */
static struct frame *cut_run(struct frame **chain, uint32_t run_max)
{
    struct frame *first = *chain;
    struct frame *last = first;
    uint64_t begin = first->place.packed_offset;

    while (last->queue_next) {
        struct frame *next = last->queue_next;
        if (next->place.packed_offset < frame_end(last) ||
            next->place.packed_offset - frame_end(last) >= PAGE ||
            frame_end(next) - begin > run_max)
            break;
        last = next;
    }
    *chain = last->queue_next;
    last->queue_next = NULL;
    return first;
}

static void fetch_run(struct pipeline_worker *worker, struct frame *run, bool ahead)
{
    struct frame *last = run;
    struct fetch *fetch;
    unsigned count = 1;

    for (; last->queue_next; last = last->queue_next)
        count++;
    fetch = fetch_new(run->file, run->place.packed_offset, frame_end(last), true);
    if (!fetch) {
        pipeline_fail(worker, run, ENOMEM);
        return;
    }
    fetch->frames = run;
    fetch->frames_left = count;
    fetch->first_frame = run->number;
    fetch->frame_count = count;
    fetch->ahead = ahead;
    fetch_start(worker, fetch);
}

/* Frames of a file in memory are read one by one as they are decoded, so that their bytes are
 * still in the processor's cache: hand them over as they are. */
static void queue_unread(struct pipeline_worker *worker, struct frame *chain)
{
    frame_table_lock(worker->pipeline->table);
    while (chain) {
        struct frame *next = chain->queue_next;
        pipeline_queue(worker, chain);
        chain = next;
    }
    frame_table_unlock(worker->pipeline->table);
    pipeline_share(worker);
}

void fetch_frames(struct pipeline_worker *worker, struct frame *chain, bool ahead)
{
    if (chain && chain->file->in_memory) {
        queue_unread(worker, chain);
        return;
    }
    while (chain)
        fetch_run(worker, cut_run(&chain, worker->pipeline->run_max), ahead);
}

void fetch_verbatim(struct pipeline_worker *worker, struct read_request *request, bool direct)
{
    struct fetch *fetch =
        fetch_new(request->file, request->offset, request->offset + request->size, direct);

    if (!fetch) {
        read_request_reply_bytes(worker, request, NULL, ENOMEM);
        return;
    }
    fetch->verbatim = request;
    fetch_start(worker, fetch);
}

void fetch_release_locked(struct pipeline *pipeline, struct fetch *fetch)
{
    if (fetch->ahead)
        prefetch_fetch_ends(pipeline->prefetcher, fetch);
    packed_area_put(pipeline->area, fetch->buffer, fetch->io.size);
    metrics_gauge_add(METRICS_MEMORY_PACKED, -(int64_t)fetch->io.size);
    fetch_free(fetch);
}

void fetch_release(struct pipeline_worker *worker, struct fetch *fetch)
{
    frame_table_lock(worker->pipeline->table);
    fetch_release_locked(worker->pipeline, fetch);
    frame_table_unlock(worker->pipeline->table);
}

void fetch_drop_unused(struct pipeline *pipeline, struct fetch *fetch)
{
    unsigned left = fetch->frames_left;

    fetch->unwanted = true;
    if (!fetch->arrived)
        return; /* frames_done drops them */
    for (unsigned i = 0; i < fetch->frame_count; i++) {
        struct frame *frame =
            frame_table_find(pipeline->table, fetch->file, fetch->first_frame + i);
        if (!frame || frame->fetch != fetch || frame->state != FRAME_PACKED)
            continue;
        metrics_add(METRICS_PREFETCH_WASTED, frame->place.packed_size);
        frame_table_drop(pipeline->table, frame);
        left--;
    }
    fetch->frames_left = left;
    if (left == 0)
        fetch_release_locked(pipeline, fetch);
}

static void verbatim_done(struct pipeline_worker *worker, struct fetch *fetch)
{
    const uint8_t *bytes = fetch->buffer + (fetch->verbatim->offset - fetch->io.offset);
    int error = fetch->io.result < 0 ? EIO : 0;

    if (error)
        log_error("%s: reading %" PRIu32 " bytes at %" PRIu64 ": %s", fetch->file->name,
                  fetch->io.needed, fetch->io.offset, strerror(-fetch->io.result));
    read_request_reply_bytes(worker, fetch->verbatim, bytes, error);
    fetch_release(worker, fetch);
}

/* Hand the packed bytes to the frames. */
static void frames_done(struct pipeline_worker *worker, struct fetch *fetch)
{
    struct frame_table *table = worker->pipeline->table;

    frame_table_lock(table);
    struct frame *frame = fetch->frames;
    bool orphans = false;
    fetch->frames = NULL;
    while (frame) {
        struct frame *next = frame->queue_next;
        frame->queue_next = NULL;
        frame->fetch = fetch;
        frame->packed = fetch->buffer + (frame->place.packed_offset - fetch->io.offset);
        frame->state = FRAME_PACKED;
        if (frame->waiters)
            pipeline_queue(worker, frame);
        else
            orphans = !fetch->ahead;
        frame = next;
    }
    fetch->arrived = true;
    if (fetch->ahead)
        prefetch_fetch_arrives(worker->pipeline->prefetcher, fetch);
    /* A fetch ahead that stood in line since somebody wanted part of it is not held ahead: the
     * other part would keep its memory from those who wait, and nobody would ever drop it. */
    if (fetch->unwanted || orphans)
        fetch_drop_unused(worker->pipeline, fetch);
    frame_table_unlock(table);
    pipeline_share(worker);
}

void fetch_log_error(const struct frame *frame, int error)
{
    metrics_add(METRICS_ERRORS_IO, 1);
    log_error("%s: frame %" PRIu64 " (%" PRIu32 " bytes at %" PRIu64 " of the packed file): %s",
              frame->file->name, frame->number, frame->place.packed_size,
              frame->place.packed_offset,
              error == -ENODATA ? "the file was cut" : strerror(-error));
}

/* One bad sector must not take the neighbours along: read each frame by itself. */
static void frames_failed(struct pipeline_worker *worker, struct fetch *fetch)
{
    struct frame *frame = fetch->frames;
    bool ahead = fetch->ahead;

    if (ahead) {
        frame_table_lock(worker->pipeline->table);
        prefetch_fetch_arrives(worker->pipeline->prefetcher, fetch);
        frame_table_unlock(worker->pipeline->table);
    }
    if (!frame->queue_next) {
        fetch_log_error(frame, fetch->io.result);
        pipeline_fail(worker, frame, EIO);
        fetch_release(worker, fetch);
        return;
    }
    fetch_release(worker, fetch);
    while (frame) {
        struct frame *next = frame->queue_next;
        frame->queue_next = NULL;
        fetch_run(worker, frame, ahead);
        frame = next;
    }
}

void fetch_done(struct pipeline_worker *worker, struct fetch *fetch)
{
    if (fetch->io.result == -EINVAL && atomic_load(&fetch->file->direct)) {
        packed_file_refuse_direct(fetch->file);
        io_submit(worker->io, &fetch->io);
        return;
    }
    atomic_fetch_sub(&worker->pipeline->fetching_bytes, fetch->io.size);
    metrics_add(METRICS_FETCHES, 1);
    if (fetch->io.result == 0)
        metrics_add(METRICS_BYTES_FETCHED, fetch->io.done);
    if (fetch->verbatim)
        verbatim_done(worker, fetch);
    else if (fetch->io.result == 0)
        frames_done(worker, fetch);
    else
        frames_failed(worker, fetch);
}
