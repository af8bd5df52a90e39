/* prefetch_step.c - what an idle worker reads or decodes next, ahead of whom. */
#include "fetch.h"
#include "metrics.h"
#include "pipeline_private.h"
#include "prefetch.h"
#include "prefetch_private.h"

enum {
    STREAMS_SERVED = 8,      /* of the latest ones */
    CHUNK = 1 << 20,         /* raw bytes read ahead in one piece */
    IN_FLIGHT_MAX = 2 << 20, /* packed bytes ahead that the disk may be busy with */
    BUSY = 4 << 20,          /* packed bytes being read: the disk has enough to do */
    WINDOW_MIN = 1 << 20,    /* raw bytes ahead of a buffered stream at first */
    WINDOW_MAX = 8 << 20,
    RUN_LARGE = 64 << 20,      /* a stream of that length will go on */
    DECODE_AHEAD = 1 << 20,    /* raw bytes */
    SMALL_REQUEST = 512 << 10, /* larger ones keep all workers busy, two at a time */
    STEPS_MAX = 8,             /* strides ahead */
};

/* What one step does: read these frames, or decode this one. */
struct step {
    struct frame *chain;
    struct frame *decode;
};

/* Frames of [begin, end) that are not there yet, at most CHUNK of them: chained. Returns where
 * the next chunk begins. */
static uint64_t collect(struct frame_table *table, struct packed_file *file, uint64_t begin,
                        uint64_t end, struct frame **ret_chain)
{
    struct frame **tail = ret_chain;
    uint64_t number = begin / file->frame_size;
    uint64_t count = index_frame_count(file->index);
    uint64_t collected = 0;

    *ret_chain = NULL;
    for (; number < count && number * file->frame_size < end && collected < CHUNK; number++) {
        if (frame_table_find(table, file, number)) {
            if (*ret_chain)
                break; /* a run ends here */
            continue;
        }
        struct frame *frame = frame_table_add(table, file, number);
        if (!frame)
            break;
        frame->prefetched = true;
        *tail = frame;
        tail = &frame->queue_next;
        collected += file->frame_size;
    }
    return number * file->frame_size;
}

static const struct jump *find_jump(const struct prefetcher *prefetcher,
                                    const struct stream *stream)
{
    if (prefetch_length(stream) < PREFETCH_RUN_MIN)
        return NULL;
    return jump_table_find(&prefetcher->jumps, stream->file, stream->next);
}

/* Is there reason to believe that the client goes on? One large pread is many requests in a row
 * and says nothing of another, unless the client came back for more before, or it is so large
 * that it must be a part of something. */
static bool is_predictable(const struct prefetcher *prefetcher, const struct stream *stream)
{
    if (!stream_is_steady(stream))
        return false;
    return !stream->direct || stream->stride || stream->resumes ||
           prefetch_length(stream) >= RUN_LARGE || find_jump(prefetcher, stream);
}

/* Where reading ahead of the stream begins: after it, or where it went from here last time. */
static void set_cursor(struct pipeline *pipeline, struct stream *stream)
{
    const struct jump *jump;

    if (stream->jumped)
        return;
    jump = find_jump(pipeline->prefetcher, stream);
    if (!jump && stream->ahead_file && stream->cursor >= stream->next)
        return;
    prefetch_drop_ahead(pipeline->prefetcher, pipeline, stream);
    stream->jumped = jump != NULL;
    stream->jump_end = stream->next;
    stream->ahead_file = jump ? jump->to_file : stream->file;
    stream->ahead_begin = stream->cursor = jump ? jump->to_begin : stream->next;
}

/* Raw bytes to be ahead of the stream: more the longer it is, and all that may be held for a
 * client that reads large pieces. */
static uint64_t window(const struct stream *stream)
{
    uint64_t half = prefetch_length(stream) / 2;

    if (stream->direct && prefetch_length(stream) >= PREFETCH_RUN_MIN)
        return UINT64_C(1) << 40; /* held_max is the limit */
    return half < WINDOW_MIN ? WINDOW_MIN : half > WINDOW_MAX ? WINDOW_MAX : half;
}

/* Where others have been reading since the stream began is no place to read ahead: what they
 * were given is gone, and would come again for nobody. Returns end, or less. */
static uint64_t clip_to_others(const struct prefetcher *prefetcher, const struct stream *stream,
                               uint64_t end)
{
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        const struct stream *other = &prefetcher->streams.streams[i];
        if (other != stream && other->file == stream->ahead_file && other->stride == 0 &&
            other->used > stream->started && other->begin < end && other->next > stream->cursor)
            end = other->begin > stream->cursor ? other->begin : stream->cursor;
    }
    return end;
}

static void step_forward(struct pipeline *pipeline, struct stream *stream, struct step *step)
{
    uint64_t end;

    set_cursor(pipeline, stream);
    end = (stream->jumped ? stream->ahead_begin : stream->next) + window(stream);
    if (end < stream->cursor + CHUNK)
        return; /* far enough: reads stay long */
    end = clip_to_others(pipeline->prefetcher, stream, end);
    if (end == stream->cursor)
        return;
    stream->cursor =
        collect(pipeline->table, stream->ahead_file, stream->cursor, end, &step->chain);
}

static void step_stride(struct pipeline *pipeline, struct stream *stream, struct step *step)
{
    unsigned depth = 2 * stream->streak < STEPS_MAX ? 2 * stream->streak : STEPS_MAX;

    while (!step->chain && stream->steps < depth) {
        int64_t offset = (int64_t)stream->last_offset + stream->stride * (stream->steps + 1);
        if (offset < 0 || (uint64_t)offset >= stream->file->raw_size)
            return;
        collect(pipeline->table, stream->file, (uint64_t)offset,
                (uint64_t)offset + stream->last_size, &step->chain);
        stream->steps++;
    }
}

/* A frame just ahead of a client that reads in small pieces. */
static void step_decode(struct pipeline *pipeline, struct stream *stream, struct step *step)
{
    struct packed_file *file = stream->file;
    uint64_t number = stream->next / file->frame_size;
    uint64_t end = number + DECODE_AHEAD / file->frame_size + 1;

    if (end > index_frame_count(file->index))
        end = index_frame_count(file->index);
    for (; number < end && !step->decode; number++) {
        struct frame *frame = frame_table_find(pipeline->table, file, number);
        if (!frame && file->in_memory) {
            frame = frame_table_add(pipeline->table, file, number);
            if (!frame)
                return;
            frame->prefetched = true;
        } else if (!frame || frame->state != FRAME_PACKED) {
            continue;
        }
        if (frame_table_buffer(pipeline->table, frame)) {
            frame->state = FRAME_QUEUED;
            step->decode = frame;
        } else if (file->in_memory) {
            frame_table_drop(pipeline->table, frame);
            return;
        }
    }
}

static bool disk_is_free(const struct pipeline *pipeline, const struct stream *stream)
{
    const struct prefetcher *prefetcher = pipeline->prefetcher;

    if (stream->file->in_memory || prefetcher->in_flight >= IN_FLIGHT_MAX ||
        prefetcher->held + CHUNK > prefetcher->held_max || atomic_load(&pipeline->waiting_count))
        return false;
    if (stream->direct)
        return atomic_load(&pipeline->in_flight) == 0;
    return atomic_load(&pipeline->fetching_bytes) < BUSY;
}

/* Where the client of a file was last is where it goes on from; its earlier runs are over. */
static bool is_over(const struct stream_set *set, const struct stream *stream)
{
    for (unsigned i = 0; stream->direct && i < STREAM_COUNT; i++) {
        const struct stream *other = &set->streams[i];
        if (other->file == stream->file && other->used > stream->used && other->streak)
            return true;
    }
    return false;
}

static void serve(struct pipeline *pipeline, struct stream *stream, struct step *step)
{
    if (!stream->direct && !stream->stride && stream->last_size < SMALL_REQUEST)
        step_decode(pipeline, stream, step);
    if (step->decode || !disk_is_free(pipeline, stream))
        return;
    if (stream->stride)
        step_stride(pipeline, stream, step);
    else
        step_forward(pipeline, stream, step);
}

static void choose(struct pipeline *pipeline, struct step *step)
{
    struct stream_set *set = &pipeline->prefetcher->streams;
    struct stream *stream = stream_set_latest(set, NULL);

    for (unsigned i = 0; stream && i < STREAMS_SERVED; i++) {
        if (is_predictable(pipeline->prefetcher, stream) && !is_over(set, stream))
            serve(pipeline, stream, step);
        if (step->chain || step->decode)
            return;
        stream = stream_set_latest(set, stream);
    }
}

bool prefetch_step(struct pipeline_worker *worker)
{
    struct pipeline *pipeline = worker->pipeline;
    struct step step = {0};

    if (!pipeline->prefetcher)
        return false;
    frame_table_lock(pipeline->table);
    choose(pipeline, &step);
    frame_table_unlock(pipeline->table);
    if (step.chain)
        fetch_frames(worker, step.chain, true);
    if (step.decode)
        pipeline_decode_frame(worker, step.decode, true);
    return step.chain || step.decode;
}
