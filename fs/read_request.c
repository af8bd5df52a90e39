#include "read_request.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "metrics.h"
#include "pipeline.h"
#include "pipeline_private.h"

uint64_t read_request_first_frame(const struct read_request *request)
{
    return request->offset / request->file->frame_size;
}

static unsigned count_frames(const struct packed_file *file, uint64_t offset, uint32_t size)
{
    if (file->verbatim)
        return 0;
    return (unsigned)((offset + size - 1) / file->frame_size - offset / file->frame_size + 1);
}

struct read_request *read_request_new(struct packed_file *file, uint64_t offset, uint32_t size)
{
    unsigned count = count_frames(file, offset, size);
    struct read_request *request =
        malloc(sizeof(*request) + count * (sizeof(request->uses[0]) + sizeof(struct iovec)));

    if (!request)
        return NULL;
    *request = (struct read_request){.file = file,
                                     .offset = offset,
                                     .size = size,
                                     .start_ns = metrics_now(),
                                     .use_count = count};
    request->iov = (struct iovec *)(request->uses + count);
    return request;
}

static bool has_room(struct frame_table *table, const struct read_request *request)
{
    uint64_t first = read_request_first_frame(request);
    size_t need = 0;

    for (unsigned i = 0; i < request->use_count; i++)
        need += frame_table_need(table, request->file,
                                 frame_table_find(table, request->file, first + i));
    return frame_table_admit(table, need);
}

/* Count the frame among what the request needs; the frame says whether it must wait. */
static void use_frame(struct pipeline_worker *worker, struct read_request *request,
                      struct frame_use *use, struct frame *frame)
{
    frame_table_ref(worker->pipeline->table, frame);
    use->frame = frame;
    if (frame->prefetched) {
        metrics_add(METRICS_PREFETCH_USED, frame->place.packed_size);
        frame->prefetched = false;
    }
    if (frame->state == FRAME_READY)
        return;
    if (frame->state == FRAME_BAD) {
        request->error = EIO;
        return;
    }
    use->next_waiter = frame->waiters;
    frame->waiters = use;
    request->pending++;
    if (frame->state == FRAME_PACKED)
        pipeline_queue(worker, frame);
}

bool read_request_attach(struct pipeline_worker *worker, struct read_request *request,
                         struct frame **ret_missing)
{
    struct frame_table *table = worker->pipeline->table;
    struct frame **missing_tail = ret_missing;
    uint64_t first = read_request_first_frame(request);

    *ret_missing = NULL;
    if (!has_room(table, request))
        return false;
    for (unsigned i = 0; i < request->use_count; i++) {
        struct frame_use *use = &request->uses[i];
        struct frame *frame = frame_table_find(table, request->file, first + i);
        *use = (struct frame_use){.request = request};
        if (frame) {
            metrics_add(frame->state == FRAME_READY ? METRICS_CACHE_HITS : METRICS_CACHE_JOINS, 1);
        } else {
            frame = frame_table_add(table, request->file, first + i);
            if (!frame) {
                request->error = ENOMEM;
                continue;
            }
            metrics_add(METRICS_CACHE_MISSES, 1);
            *missing_tail = frame;
            missing_tail = &frame->queue_next;
        }
        use_frame(worker, request, use, frame);
    }
    return true;
}

void read_request_wake(struct frame *frame, int error, struct read_request **completed)
{
    struct frame_use *use = frame->waiters;

    frame->waiters = NULL;
    for (; use; use = use->next_waiter) {
        struct read_request *request = use->request;
        if (error && !request->error)
            request->error = error;
        if (--request->pending == 0) {
            request->next = *completed;
            *completed = request;
        }
    }
}

/* Bytes of the request that lie in its i-th frame, and where in it they begin. */
static uint32_t slice(const struct read_request *request, unsigned i, uint32_t *ret_skip)
{
    uint64_t begin = (read_request_first_frame(request) + i) * request->file->frame_size;
    uint64_t end = begin + request->file->frame_size;
    uint64_t request_end = request->offset + request->size;

    *ret_skip = request->offset > begin ? (uint32_t)(request->offset - begin) : 0;
    return (uint32_t)((end < request_end ? end : request_end) - begin - *ret_skip);
}

static void finish(struct pipeline_worker *worker, struct read_request *request)
{
    metrics_read_latency(metrics_now() - request->start_ns);
    atomic_fetch_sub(&worker->pipeline->in_flight, 1);
    metrics_gauge_add(METRICS_REQUESTS_IN_FLIGHT, -1);
    free(request);
}

static void end_uses(struct pipeline_worker *worker, struct read_request *request)
{
    struct frame_table *table = worker->pipeline->table;

    frame_table_lock(table);
    for (unsigned i = 0; i < request->use_count; i++) {
        uint32_t skip;
        uint32_t served = slice(request, i, &skip);
        if (request->uses[i].frame)
            frame_table_unref(table, request->uses[i].frame, request->error ? 0 : served);
    }
    frame_table_unlock(table);
}

void read_request_reply(struct pipeline_worker *worker, struct read_request *request)
{
    const struct pipeline_sink *sink = worker->pipeline->sink;

    assert(request->pending == 0);
    if (request->error) {
        sink->reply_error(request->token, request->channel, request->error);
    } else {
        for (unsigned i = 0; i < request->use_count; i++) {
            uint32_t skip;
            request->iov[i].iov_len = slice(request, i, &skip);
            request->iov[i].iov_base = request->uses[i].frame->buffer + skip;
        }
        sink->reply(request->token, request->channel, request->iov, (int)request->use_count);
        metrics_add(METRICS_BYTES_SERVED, request->size);
    }
    end_uses(worker, request);
    finish(worker, request);
}

void read_request_reply_all(struct pipeline_worker *worker, struct read_request *completed)
{
    while (completed) {
        struct read_request *next = completed->next;
        read_request_reply(worker, completed);
        completed = next;
    }
}

void read_request_reply_bytes(struct pipeline_worker *worker, struct read_request *request,
                              const uint8_t *bytes, int error)
{
    const struct pipeline_sink *sink = worker->pipeline->sink;

    if (error) {
        sink->reply_error(request->token, request->channel, error);
    } else {
        struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = request->size};
        sink->reply(request->token, request->channel, &iov, 1);
        metrics_add(METRICS_BYTES_SERVED, request->size);
    }
    finish(worker, request);
}
