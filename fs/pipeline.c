#include "pipeline.h"

#include <errno.h>
#include <stdlib.h>

#include "fetch.h"
#include "metrics.h"
#include "pipeline_private.h"
#include "prefetch.h"
#include "read_request.h"

void pipeline_init(struct pipeline *pipeline)
{
    pipeline->deferred_tail = &pipeline->deferred;
    pipeline->waiting_tail = &pipeline->waiting;
}

bool pipeline_accepts(const struct pipeline *pipeline)
{
    return !atomic_load(&pipeline->deferred_count);
}

void pipeline_queue(struct pipeline_worker *worker, struct frame *frame)
{
    frame->state = FRAME_QUEUED;
    frame->queue_next = NULL;
    *worker->ready_tail = frame;
    worker->ready_tail = &frame->queue_next;
    atomic_fetch_add(&worker->pipeline->ready_count, 1);
}

void pipeline_share(struct pipeline_worker *worker)
{
    struct pipeline *pipeline = worker->pipeline;
    if (atomic_load(&pipeline->ready_count) > 2)
        pipeline->wake_idle(pipeline->wake_context);
}

/* Frames that the request needed are here, on their way, or now to be fetched. */
static void request_attached(struct pipeline_worker *worker, struct read_request *request,
                             struct frame *missing, bool complete)
{
    if (missing)
        fetch_frames(worker, missing, false);
    if (complete)
        read_request_reply(worker, request);
}

void pipeline_read(struct pipeline_worker *worker, struct packed_file *file, uint64_t offset,
                   uint32_t size, bool direct, void *token, int channel)
{
    struct pipeline *pipeline = worker->pipeline;
    struct read_request *request;
    struct frame *missing = NULL;
    bool complete = false;

    if (offset >= file->raw_size || size == 0) {
        pipeline->sink->reply(token, channel, NULL, 0);
        return;
    }
    if (size > file->raw_size - offset)
        size = (uint32_t)(file->raw_size - offset);
    request = read_request_new(file, offset, size);
    if (!request) {
        pipeline->sink->reply_error(token, channel, ENOMEM);
        return;
    }
    request->token = token;
    request->channel = channel;
    atomic_fetch_add(&pipeline->in_flight, 1);
    metrics_gauge_add(METRICS_REQUESTS_IN_FLIGHT, 1);
    if (file->verbatim) {
        fetch_verbatim(worker, request, direct);
        return;
    }
    frame_table_lock(pipeline->table);
    if (pipeline->prefetcher)
        prefetch_note(pipeline->prefetcher, pipeline, file, offset, size, direct);
    bool attached = !pipeline->deferred && read_request_attach(worker, request, &missing);
    if (attached) {
        complete = request->pending == 0;
    } else {
        request->next = NULL;
        *pipeline->deferred_tail = request;
        pipeline->deferred_tail = &request->next;
        atomic_fetch_add(&pipeline->deferred_count, 1);
        metrics_add(METRICS_REQUESTS_DEFERRED, 1);
    }
    frame_table_unlock(pipeline->table);
    if (attached)
        request_attached(worker, request, missing, complete);
}

static struct read_request *take_deferred(struct pipeline_worker *worker,
                                          struct frame **ret_missing, bool *ret_complete)
{
    struct pipeline *pipeline = worker->pipeline;
    struct read_request *request;

    frame_table_lock(pipeline->table);
    request = pipeline->deferred;
    if (request && read_request_attach(worker, request, ret_missing)) {
        pipeline->deferred = request->next;
        if (!pipeline->deferred)
            pipeline->deferred_tail = &pipeline->deferred;
        atomic_fetch_sub(&pipeline->deferred_count, 1);
        *ret_complete = request->pending == 0;
    } else {
        request = NULL;
    }
    frame_table_unlock(pipeline->table);
    return request;
}

void pipeline_resume(struct pipeline_worker *worker)
{
    struct pipeline *pipeline = worker->pipeline;
    struct read_request *request;
    struct frame *missing;
    bool complete;

    fetch_resume(worker);
    while (atomic_load(&pipeline->deferred_count) &&
           (request = take_deferred(worker, &missing, &complete)))
        request_attached(worker, request, missing, complete);
}

void pipeline_fail(struct pipeline_worker *worker, struct frame *frames, int error)
{
    struct frame_table *table = worker->pipeline->table;
    struct read_request *completed = NULL;

    frame_table_lock(table);
    while (frames) {
        struct frame *next = frames->queue_next;
        frames->queue_next = NULL;
        read_request_wake(frames, error, &completed);
        frame_table_set_bad(table, frames, false);
        frames = next;
    }
    frame_table_unlock(table);
    read_request_reply_all(worker, completed);
}

bool pipeline_collect(struct pipeline_worker *worker)
{
    struct io_read *read = io_reap(worker->io);

    if (!read)
        return false;
    fetch_done(worker, (struct fetch *)read); /* io is its first member */
    return true;
}

void pipeline_drop_file(struct pipeline *pipeline, struct packed_file *file)
{
    frame_table_lock(pipeline->table);
    if (pipeline->prefetcher)
        prefetch_forget_file(pipeline->prefetcher, pipeline, file);
    frame_table_drop_file(pipeline->table, file);
    frame_table_unlock(pipeline->table);
}
