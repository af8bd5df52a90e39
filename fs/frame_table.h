/* frame_table.h - every frame that is on its way or in memory, and which ones to keep.
 *
 * One lock guards the table, the frames, the pool of their buffers and the requests that
 * wait for them; it is held for look-ups and list operations only, never over I/O,
 * decoding or a reply. Functions marked (locked) need it held.
 *
 * Lock order: the lock of file_set, then the table's, then packed_area's. Nothing else is
 * taken under it; the lock of inode_table is a leaf too, taken under none of them.
 *
 * Buffers: a request is admitted when all frames that it needs can have a buffer beside
 * those already promised or in use (frame_table_admit). Promises are kept by evicting
 * idle frames, so an admitted request never waits for memory and nothing can deadlock.
 *
 * What is kept: a frame whose bytes have all been handed out once (each frame of a
 * sequential walk) is dropped at once and its buffer reused while hot. Frames used in
 * part stay for the neighbour, first come first evicted (young). What is asked for again
 * soon after it was dropped (ghost), or again and again, is kept in a second list (old),
 * which a walk over everything does not touch.
 */
#ifndef TRUNKFS_FRAME_TABLE_H
#define TRUNKFS_FRAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index.h"
#include "packed_file.h"

struct fetch;
struct read_request;

enum frame_state {
    FRAME_FETCHING, /* its packed bytes are being read, or about to be */
    FRAME_PACKED,   /* its packed bytes were read ahead; nobody has asked for it */
    FRAME_QUEUED,   /* its packed bytes are here and somebody waits: decoded next */
    FRAME_READY,    /* decoded */
    FRAME_BAD,      /* did not decode: remembered, so that it is logged once */
};

enum frame_list { FRAME_LIST_NONE, FRAME_LIST_YOUNG, FRAME_LIST_OLD, FRAME_LIST_BAD };

/* One frame that a request needs. */
struct frame_use {
    struct frame *frame;
    struct read_request *request;
    struct frame_use *next_waiter; /* of the same frame */
};

/* All fields: table lock, except that packed and buffer are the decoding thread's while
 * QUEUED, and buffer may be read while READY and referenced. */
struct frame {
    struct frame *hash_next;
    struct frame *list_next, *list_prev; /* idle and bad frames */
    struct frame *file_next, *file_prev; /* all of the file */
    struct frame *queue_next;            /* to decode, or frames of one fetch in order */
    struct packed_file *file;
    uint64_t number;
    struct index_frame place;
    enum frame_state state;
    enum frame_list list;
    unsigned references; /* uses by requests */
    uint32_t served;     /* bytes handed out, over all requests */
    bool promised;       /* a buffer is promised */
    bool wanted_again;   /* came back soon after it was dropped: keep */
    bool prefetched;     /* read ahead and not asked for yet */
    uint64_t bad_since;  /* metrics_now */
    struct frame_use *waiters;
    struct fetch *fetch;   /* whose memory packed points into */
    const uint8_t *packed; /* place.packed_size bytes, while QUEUED or PACKED */
    uint8_t *buffer;       /* place.raw_size bytes, of the pool, while READY (or QUEUED) */
};

struct frame_table;

/* budget: bytes for decoded frames. Returns 0, -ENOMEM. */
__attribute__((warn_unused_result)) int frame_table_new(size_t budget, struct frame_table **ret);
void frame_table_free(struct frame_table *table); /* NULL is allowed; no request may be left */

/* frame_pool_populate. Not under the lock. */
void frame_table_populate(const struct frame_table *table);

void frame_table_lock(struct frame_table *table);
void frame_table_unlock(struct frame_table *table);

struct frame *frame_table_find(struct frame_table *table, const struct packed_file *file,
                               uint64_t number); /* (locked) or NULL */

/* A frame that is not there yet, FETCHING, without references. NULL: no memory. (locked) */
struct frame *frame_table_add(struct frame_table *table, struct packed_file *file, uint64_t number);

/* Bytes that a use of this frame (NULL: of one that is not there) would add to what is promised
 * or in use. (locked) */
size_t frame_table_need(const struct frame_table *table, const struct packed_file *file,
                        const struct frame *frame);

/* May uses that need so many bytes be made now? (locked) */
bool frame_table_admit(const struct frame_table *table, size_t bytes);

/* Make a use: count a reference, promise a buffer if it has none. (locked) */
void frame_table_ref(struct frame_table *table, struct frame *frame);

/* End a use in which so many of its bytes were handed out; may drop the frame. (locked) */
void frame_table_unref(struct frame_table *table, struct frame *frame, uint32_t served);

/* Give a QUEUED frame its buffer, evicting others. false: the system has no memory, or there is
 * no promise and no room. (locked) */
bool frame_table_buffer(struct frame_table *table, struct frame *frame);

/* QUEUED (or FETCHING) to READY or BAD; waiters are the caller's to take. A bad frame that
 * is not to be remembered fails those who use it now; the next one tries anew. (locked) */
void frame_table_set_ready(struct frame_table *table, struct frame *frame);
void frame_table_set_bad(struct frame_table *table, struct frame *frame, bool remember);

/* Forget a frame that nobody references. (locked) */
void frame_table_drop(struct frame_table *table, struct frame *frame);

/* Forget all idle frames of a file. (locked) */
void frame_table_drop_file(struct frame_table *table, struct packed_file *file);

/* Change the budget of decoded frames, evicting as needed. Returns false, and changes nothing,
 * if requests need more than that now. (locked) */
bool frame_table_set_budget(struct frame_table *table, size_t budget);

size_t frame_table_budget(const struct frame_table *table); /* (locked) */

#endif
