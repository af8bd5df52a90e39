/* decode.c - the pipeline's step from packed bytes to a frame that can be handed out. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "checksum.h"
#include "fetch.h"
#include "log.h"
#include "metrics.h"
#include "pipeline_private.h"
#include "read_request.h"

enum { PAGE = 4096 };

static struct frame *pop_ready(struct pipeline_worker *owner)
{
    struct frame *frame = owner->ready;

    if (frame) {
        owner->ready = frame->queue_next;
        if (!owner->ready)
            owner->ready_tail = &owner->ready;
        frame->queue_next = NULL;
        atomic_fetch_sub(&owner->pipeline->ready_count, 1);
    }
    return frame;
}

/* The next frame to decode, with its buffer: own ones first, then those of others. */
static struct frame *take_ready(struct pipeline_worker *worker, bool *ret_buffer)
{
    struct pipeline *pipeline = worker->pipeline;
    struct frame *frame;

    if (!atomic_load(&pipeline->ready_count))
        return NULL;
    frame_table_lock(pipeline->table);
    frame = pop_ready(worker);
    for (unsigned i = 0; !frame && i < pipeline->worker_count; i++)
        frame = pop_ready(pipeline->workers[i]);
    if (frame)
        *ret_buffer = frame_table_buffer(pipeline->table, frame);
    frame_table_unlock(pipeline->table);
    return frame;
}

/* Room for size packed bytes in the scratch memory, with the slack of FRAME_DECODE_SLACK. */
static uint8_t *scratch(struct pipeline_worker *worker, size_t size)
{
    size_t room = align_up(size + 2 * (size_t)FRAME_DECODE_SLACK, PAGE);

    if (room > worker->scratch_size) {
        free(worker->scratch);
        worker->scratch = aligned_alloc(PAGE, room);
        worker->scratch_size = worker->scratch ? room : 0;
    }
    return worker->scratch ? worker->scratch + FRAME_DECODE_SLACK : NULL;
}

/* Read a frame of a file in memory. Returns 0, -EIO (logged), -ENOMEM. */
static int read_packed(struct pipeline_worker *worker, struct frame *frame)
{
    struct io_read read = {.fd = frame->file->fd,
                           .offset = frame->place.packed_offset,
                           .size = frame->place.packed_size,
                           .needed = frame->place.packed_size,
                           .buffer = scratch(worker, frame->place.packed_size)};
    int r;

    if (!read.buffer)
        return -ENOMEM;
    r = io_read_whole(worker->io, &read);
    metrics_add(METRICS_FETCHES, 1);
    if (r < 0) {
        fetch_log_error(frame, r);
        return -EIO;
    }
    metrics_add(METRICS_BYTES_FETCHED, read.done);
    frame->packed = read.buffer;
    return 0;
}

/* A decoder for frames of that size. */
static int prepare_decoder(struct pipeline_worker *worker, uint32_t frame_size)
{
    int r;

    if (frame_size <= worker->decoder_size)
        return 0;
    frame_decoder_free(worker->decoder);
    worker->decoder = NULL;
    worker->decoder_size = 0;
    r = frame_decoder_new(frame_size, &worker->decoder);
    if (r == 0)
        worker->decoder_size = frame_size;
    return r;
}

static void log_corrupt(const struct frame *frame, const struct fault *fault)
{
    const struct index_frame *place = &frame->place;

    metrics_add(METRICS_ERRORS_CORRUPT, 1);
    if (!log_is_new(frame->file->name, place->packed_offset))
        return;
    log_error("%s: frame %" PRIu64 " (original bytes %" PRIu64 " to %" PRIu64 ", packed at %" PRIu64
              ") is corrupt: %s: reads of it fail; pack the file again",
              frame->file->name, frame->number, place->raw_offset,
              place->raw_offset + place->raw_size - 1, place->packed_offset,
              fault_text(fault->check));
}

/* Returns 0 if the frame's buffer now holds its bytes; -EBADMSG, -EOPNOTSUPP, -EIO, -ENOMEM. */
static int decode(struct pipeline_worker *worker, struct frame *frame)
{
    const struct index_frame *place = &frame->place;
    struct fault fault = {0};
    int r = prepare_decoder(worker, frame->file->frame_size);

    if (r == 0 && !frame->packed)
        r = read_packed(worker, frame);
    if (r < 0)
        return r;
    r = frame_decode(worker->decoder, frame->packed, place->packed_size, frame->buffer,
                     place->raw_size, &fault);
    if (r == 0 && worker->pipeline->verify &&
        index_checksum_of(checksum_hash(frame->buffer, place->raw_size), frame->file->sha256,
                          frame->number, place->raw_size) != place->checksum)
        r = fault_set(&fault, FAULT_FRAME_CHECKSUM, 0, -EBADMSG);
    metrics_add(METRICS_FRAMES_DECODED, 1);
    if (r == -EBADMSG || r == -EOPNOTSUPP)
        log_corrupt(frame, &fault);
    return r;
}

/* The frame is decoded, or can't be: tell who waits. Returns its fetch if nothing else needs its
 * packed bytes. (table locked) */
static struct fetch *settle(struct frame_table *table, struct frame *frame, int result,
                            struct read_request **completed)
{
    struct fetch *fetch = frame->fetch;
    bool corrupt = result == -EBADMSG || result == -EOPNOTSUPP;

    frame->fetch = NULL;
    frame->packed = NULL;
    read_request_wake(frame, result == 0 ? 0 : result == -ENOMEM ? ENOMEM : EIO, completed);
    if (result == 0)
        frame_table_set_ready(table, frame);
    else
        frame_table_set_bad(table, frame, corrupt);
    return fetch && --fetch->frames_left == 0 ? fetch : NULL;
}

void pipeline_decode_frame(struct pipeline_worker *worker, struct frame *frame, bool has_buffer)
{
    struct frame_table *table = worker->pipeline->table;
    struct read_request *completed = NULL;
    struct fetch *fetch;
    int r = has_buffer ? decode(worker, frame) : -ENOMEM;

    frame_table_lock(table);
    fetch = settle(table, frame, r, &completed);
    if (fetch)
        fetch_release_locked(worker->pipeline, fetch);
    frame_table_unlock(table);
    read_request_reply_all(worker, completed);
}

bool pipeline_decode(struct pipeline_worker *worker)
{
    bool has_buffer = false;
    struct frame *frame = take_ready(worker, &has_buffer);

    if (frame)
        pipeline_decode_frame(worker, frame, has_buffer);
    return frame != NULL;
}
