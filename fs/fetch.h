/* fetch.h - one read of a contiguous packed range, and the frames or request it is for.
 *
 * Belongs to the pipeline. A fetch is made for a chain of frames that follow each other in
 * the packed file, waits for packed memory if there is none, is read, and lives until the
 * last of its frames is decoded or dropped.
 */
#ifndef TRUNKFS_FETCH_H
#define TRUNKFS_FETCH_H

#include "pipeline.h"
#include "read_request.h"

struct fetch {
    struct io_read io;
    struct packed_file *file;      /* a reference is held */
    struct frame *frames;          /* chained by queue_next, in order; NULL once read */
    struct read_request *verbatim; /* instead of frames */
    uint8_t *buffer;               /* of the packed area */
    unsigned frames_left;          /* that still need the packed bytes; table lock */
    uint64_t first_frame;          /* number of the first, and how many follow each other */
    unsigned frame_count;
    bool ahead;                          /* read before anybody asked */
    bool unwanted;                       /* ahead, and no longer of use; table lock */
    bool arrived;                        /* table lock */
    struct fetch *next;                  /* waiting list */
    struct fetch *held_next, *held_prev; /* prefetch.c; table lock */
};

/* Cut the chain into fetches of at most run_max bytes and submit them, or line them up for
 * memory (pipeline_resume). Frames are FETCHING.
 * Without memory for a fetch its frames fail. Not under the table lock. */
void fetch_frames(struct pipeline_worker *worker, struct frame *chain, bool ahead);

/* Submit fetches that wait for memory, in order, as far as there is some. */
void fetch_resume(struct pipeline_worker *worker);

/* Read a range of a verbatim file for a request. direct: past the page cache. */
void fetch_verbatim(struct pipeline_worker *worker, struct read_request *request, bool direct);

/* A read came back; hand the result on. */
void fetch_done(struct pipeline_worker *worker, struct fetch *fetch);

/* The packed bytes of one frame could not be read: count and log it. */
void fetch_log_error(const struct frame *frame, int error);

/* Give the packed memory back and free it. The second: under the table lock. */
void fetch_release(struct pipeline_worker *worker, struct fetch *fetch);
void fetch_release_locked(struct pipeline *pipeline, struct fetch *fetch);

/* Forget the frames of a fetch ahead that nobody asked for. They are no longer PACKED, and
 * fetch may be gone. (table locked) */
void fetch_drop_unused(struct pipeline *pipeline, struct fetch *fetch);

#endif
