/* prefetch_stream.h - recognises streams: clients that go on from where they were.
 *
 * A stream belongs to a file and a range of it, not to a descriptor, so that threads that share
 * one, and threads that read parts of a file side by side, are told apart. Forward streams
 * may arrive a little out of order; strided ones (backward too) repeat a distance exactly.
 * Knows nothing of frames or memory. Not thread-safe: the table's lock.
 */
#ifndef TRUNKFS_PREFETCH_STREAM_H
#define TRUNKFS_PREFETCH_STREAM_H

#include <stdbool.h>
#include <stdint.h>

struct packed_file;

enum { STREAM_COUNT = 64 };

struct stream {
    struct packed_file *file; /* NULL: unused. No reference: forgotten with the file */
    uint64_t begin;           /* where it began */
    uint64_t next;            /* end of what was asked for */
    uint64_t last_offset;     /* of the latest request */
    uint32_t last_size;
    int64_t stride;    /* 0: forward */
    int64_t candidate; /* what may turn out to be the stride; 0: nothing */
    unsigned streak;   /* requests in a row that continued it */
    unsigned resumes;  /* times that it went on when nothing was in flight (prefetch.c) */
    bool direct;
    uint64_t used; /* stream_set's clock at the latest request */

    /* Where it came from, for prefetch_jump.h: NULL or the end of an earlier stream. */
    struct packed_file *from_file;
    uint64_t from_end;
    uint64_t started; /* stream_set's clock then */

    /* the reader ahead's (prefetch.c): [ahead_begin, cursor) of ahead_file was seen to */
    struct packed_file *ahead_file; /* NULL: nothing yet */
    uint64_t ahead_begin, cursor;
    bool jumped;       /* not after next, but where it went from there last time */
    uint64_t jump_end; /* next, then */
    unsigned steps;    /* strides seen to beyond last_offset */
};

struct stream_set {
    struct stream streams[STREAM_COUNT];
    uint64_t clock;
};

/* What a request was to the streams. */
struct stream_event {
    struct stream *stream; /* that it belongs to */
    bool started;          /* it started it ... */
    struct stream old;     /* ... in the place of this one, if its file is not NULL */
};

void stream_set_note(struct stream_set *set, struct packed_file *file, uint64_t offset,
                     uint32_t size, bool direct, struct stream_event *ret);

/* Is the stream established, so that reading ahead pays? */
bool stream_is_steady(const struct stream *stream);

/* The stream used last; with previous, the one used last before that. NULL: none. */
struct stream *stream_set_latest(struct stream_set *set, const struct stream *previous);

#endif
