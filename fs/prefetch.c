#include "prefetch.h"

#include <errno.h>
#include <stdlib.h>

#include "fetch.h"
#include "metrics.h"
#include "pipeline_private.h"
#include "prefetch_jump.h"
#include "prefetch_stream.h"

enum {
    STREAMS_SERVED = 8,      /* of the latest ones */
    CHUNK = 1 << 20,         /* raw bytes read ahead in one piece */
    IN_FLIGHT_MAX = 2 << 20, /* packed bytes ahead that the disk may be busy with */
    BUSY = 4 << 20,          /* packed bytes being read: the disk has enough to do */
    WINDOW_MIN = 1 << 20,    /* raw bytes ahead of a buffered stream at first */
    WINDOW_MAX = 8 << 20,
    RUN_LARGE = 64 << 20,   /* a stream of that length will go on */
    RUN_MIN = 4 << 20,      /* a stream of that length is a run: reading on pays */
    DECODE_AHEAD = 1 << 20,        /* raw bytes */
    SMALL_REQUEST = 512 << 10,     /* larger ones keep all workers busy, two at a time */
    STEPS_MAX = 8,          /* strides ahead */
};

struct prefetcher {
    struct stream_set streams;
    struct jump_table jumps;
    size_t held_max;
    size_t held;                /* packed bytes of fetches ahead, in flight too */
    size_t in_flight;           /* of them */
    struct fetch *first, *last; /* oldest in front */
};

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

/* What was read ahead for a stream that does not come to it: drop. */
static void drop_ahead(struct prefetcher *prefetcher, struct pipeline *pipeline,
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

static uint64_t length(const struct stream *stream)
{
    return stream->stride ? 0 : stream->next - stream->begin;
}

/* The run that a new stream may be the continuation of: the latest one of its kind, in the same
 * file if there is one. */
static const struct stream *find_origin(struct prefetcher *prefetcher, const struct stream *new)
{
    const struct stream *origin = NULL;

    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        const struct stream *stream = &prefetcher->streams.streams[i];
        if (stream == new || !stream->file || length(stream) < RUN_MIN ||
            stream->direct != new->direct)
            continue;
        if (!origin || (stream->file == new->file) > (origin->file == new->file) ||
            ((stream->file == new->file) == (origin->file == new->file) &&
             stream->used > origin->used))
            origin = stream;
    }
    return origin;
}

/* Does a new stream begin where a jump was foreseen? Then it owns what was read ahead. */
static void inherit_ahead(struct prefetcher *prefetcher, struct stream *new)
{
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        struct stream *stream = &prefetcher->streams.streams[i];
        if (!stream->jumped || stream->ahead_file != new->file || stream->ahead_begin != new->begin)
            continue;
        new->ahead_file = stream->ahead_file;
        new->ahead_begin = stream->ahead_begin;
        new->cursor = stream->cursor;
        new->streak = new->resumes = 1;
        stream->ahead_file = NULL;
        stream->jumped = false;
        return;
    }
}

/* A stream has become a run: others of the file that stood still meanwhile are over, and what
 * was read ahead for them is useless. The way here is worth remembering. */
static void run_begins(struct prefetcher *prefetcher, struct pipeline *pipeline, struct stream *run)
{
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        struct stream *stream = &prefetcher->streams.streams[i];
        if (stream != run && stream->file == run->file && stream->used < run->started)
            drop_ahead(prefetcher, pipeline, stream);
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
        drop_ahead(prefetcher, pipeline, stream);
    }
    if (!event.started && atomic_load(&pipeline->in_flight) <= 1)
        stream->resumes++;
    if (event.started) {
        const struct stream *origin;
        if (event.old.file)
            drop_ahead(prefetcher, pipeline, &event.old);
        inherit_ahead(prefetcher, stream);
        origin = find_origin(prefetcher, stream);
        if (origin) {
            stream->from_file = origin->file;
            stream->from_end = origin->next;
            if (origin->resumes && !stream->resumes)
                stream->resumes = 1; /* a client that comes back for more */
        }
    } else if (length(stream) >= RUN_MIN && length(stream) - size < RUN_MIN) {
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
    if (length(stream) < RUN_MIN)
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
    return !stream->direct || stream->stride || stream->resumes || length(stream) >= RUN_LARGE ||
           find_jump(prefetcher, stream);
}

/* Where reading ahead of the stream begins: after it, or where it went from here last time. */
static void set_cursor(struct prefetcher *prefetcher, struct stream *stream)
{
    const struct jump *jump;

    if (stream->ahead_file && (stream->jumped || stream->cursor >= stream->next))
        return;
    jump = find_jump(prefetcher, stream);
    stream->jumped = jump != NULL;
    stream->jump_end = stream->next;
    stream->ahead_file = jump ? jump->to_file : stream->file;
    stream->ahead_begin = stream->cursor = jump ? jump->to_begin : stream->next;
}

/* Raw bytes to be ahead of the stream: more the longer it is, and all that may be held for a
 * client that reads large pieces. */
static uint64_t window(const struct stream *stream)
{
    uint64_t half = length(stream) / 2;

    if (stream->direct && length(stream) >= RUN_MIN)
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
    struct prefetcher *prefetcher = pipeline->prefetcher;
    uint64_t end;

    set_cursor(prefetcher, stream);
    end = (stream->jumped ? stream->ahead_begin : stream->next) + window(stream);
    if (end < stream->cursor + CHUNK)
        return; /* far enough: reads stay long */
    end = clip_to_others(prefetcher, stream, end);
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

static void choose(struct pipeline *pipeline, struct step *step)
{
    struct stream_set *set = &pipeline->prefetcher->streams;
    struct stream *stream = stream_set_latest(set, NULL);

    for (unsigned i = 0; stream && i < STREAMS_SERVED; i++) {
        if (is_predictable(pipeline->prefetcher, stream)) {
            if (!stream->direct && !stream->stride && stream->last_size < SMALL_REQUEST)
                step_decode(pipeline, stream, step);
            if (!step->decode && disk_is_free(pipeline, stream)) {
                if (stream->stride)
                    step_stride(pipeline, stream, step);
                else
                    step_forward(pipeline, stream, step);
            }
        }
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

bool prefetch_yield(struct pipeline_worker *worker)
{
    struct pipeline *pipeline = worker->pipeline;
    struct fetch *fetch;
    bool found = false;

    if (!pipeline->prefetcher)
        return false;
    frame_table_lock(pipeline->table);
    for (fetch = pipeline->prefetcher->first; fetch && !found; fetch = fetch->held_next) {
        if (fetch->arrived && !fetch->unwanted) {
            fetch_drop_unused(pipeline, fetch);
            found = true;
            break;
        }
    }
    frame_table_unlock(pipeline->table);
    return found;
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
