#include "prefetch_stream.h"

#include <stddef.h>

enum {
    STEADY_SMALL = 3, /* requests in a row before reading ahead of small ones pays */
    STEADY_LARGE = 1,
    LARGE_REQUEST = 128 << 10,
    STEADY_STRIDE = 2,
};

/* Requests that are in flight together overtake each other: the thread that received one may
 * have been kept from noting it while others noted what followed. */
enum { OVERTAKEN = 16, SKIPPED = 2 }; /* requests */

static bool continues(const struct stream *stream, uint64_t offset, uint32_t size)
{
    return stream->stride == 0 && offset >= stream->begin &&
           offset + OVERTAKEN * (uint64_t)size >= stream->next &&
           offset <= stream->next + SKIPPED * (uint64_t)size;
}

/* The third request at equal distances makes a stride of them. */
static bool steps_on(const struct stream *stream, uint64_t offset)
{
    int64_t stride = stream->stride ? stream->stride : stream->candidate;

    return stride != 0 && (stream->stride || stream->streak == 0) &&
           (int64_t)offset - (int64_t)stream->last_offset == stride;
}

static void advance(struct stream_set *set, struct stream *stream, uint64_t offset, uint32_t size,
                    bool direct)
{
    bool progress = offset + size > stream->next || stream->stride;

    stream->direct = direct;
    stream->used = ++set->clock;
    if (!progress)
        return; /* overtaken by a later one, or read again */
    stream->streak++;
    stream->next = offset + size;
    stream->last_offset = offset;
    stream->last_size = size;
    if (stream->steps)
        stream->steps--;
}

/* The distance from the latest stream of one request: perhaps a stride. It stays what it is, a
 * forward stream perhaps. 0: there is none. */
static int64_t find_distance(const struct stream_set *set, const struct packed_file *file,
                             uint64_t offset)
{
    const struct stream *latest = NULL;

    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        const struct stream *stream = &set->streams[i];
        if (stream->file == file && stream->streak == 0 && (!latest || stream->used > latest->used))
            latest = stream;
    }
    return latest ? (int64_t)offset - (int64_t)latest->last_offset : 0;
}

/* The stream that a request belongs to, the latest if it may be several. */
static struct stream *find(struct stream_set *set, const struct packed_file *file, uint64_t offset,
                           uint32_t size)
{
    struct stream *found = NULL;

    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        struct stream *stream = &set->streams[i];
        if (stream->file == file && (!found || stream->used > found->used) &&
            (continues(stream, offset, size) || steps_on(stream, offset)))
            found = stream;
    }
    if (found && !found->stride && !continues(found, offset, size))
        found->stride = found->candidate;
    return found;
}

static struct stream *find_oldest(struct stream_set *set)
{
    struct stream *oldest = &set->streams[0];

    for (unsigned i = 1; i < STREAM_COUNT; i++) {
        if (set->streams[i].used < oldest->used)
            oldest = &set->streams[i];
    }
    return oldest;
}

void stream_set_note(struct stream_set *set, struct packed_file *file, uint64_t offset,
                     uint32_t size, bool direct, struct stream_event *ret)
{
    struct stream *stream = find(set, file, offset, size);
    int64_t candidate;

    *ret = (struct stream_event){.stream = stream};
    if (stream) {
        advance(set, stream, offset, size, direct);
        return;
    }
    ret->started = true;
    candidate = find_distance(set, file, offset);
    ret->stream = find_oldest(set);
    ret->old = *ret->stream;
    *ret->stream = (struct stream){.file = file,
                                   .begin = offset,
                                   .next = offset + size,
                                   .last_offset = offset,
                                   .last_size = size,
                                   .candidate = candidate,
                                   .direct = direct,
                                   .started = set->clock + 1,
                                   .used = set->clock + 1};
    set->clock++;
}

bool stream_is_steady(const struct stream *stream)
{
    if (stream->stride)
        return stream->streak >= STEADY_STRIDE;
    return stream->streak >= (stream->last_size >= LARGE_REQUEST ? STEADY_LARGE : STEADY_SMALL);
}

struct stream *stream_set_latest(struct stream_set *set, const struct stream *previous)
{
    struct stream *latest = NULL;

    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        struct stream *stream = &set->streams[i];
        if (stream->file && (!previous || stream->used < previous->used) &&
            (!latest || stream->used > latest->used))
            latest = stream;
    }
    return latest;
}
