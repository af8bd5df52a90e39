/* prefetch.h - reading ahead of clients.
 *
 * Two habits of clients are recognised (prefetch_stream.h): streams, which go on from where they
 * were, and jumps, which go where they went last time from the same place
 * (prefetch_jump.h). Packed bytes are read ahead in both cases and kept packed; a few
 * frames are also decoded ahead of a client that reads in small pieces.
 *
 * Only a worker that has nothing else to do reads ahead: prefetch_step is the last thing
 * that it tries before it sleeps. So decoders are never kept from work, and the disk has at
 * most IN_FLIGHT_MAX bytes to finish before it turns to a reader who waits. What is held gives
 * way to requests that need the memory.
 *
 * Functions marked (locked) need the table's lock, which guards everything here.
 */
#ifndef TRUNKFS_PREFETCH_H
#define TRUNKFS_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packed_file.h"

struct fetch;
struct pipeline;
struct pipeline_worker;
struct prefetcher;

/* held_max: packed bytes that may be held. Returns 0, -ENOMEM. */
__attribute__((warn_unused_result)) int prefetcher_new(size_t held_max, struct prefetcher **ret);
void prefetcher_free(
    struct prefetcher *prefetcher); /* NULL is allowed; no file may be left in it */

/* A client asked for [offset, offset + size). direct: past the page cache. (locked) */
void prefetch_note(struct prefetcher *prefetcher, struct pipeline *pipeline,
                   struct packed_file *file, uint64_t offset, uint32_t size, bool direct);

/* Read or decode something ahead, if that is of use now. Returns false if not. */
bool prefetch_step(struct pipeline_worker *worker);

/* A fetch ahead begins, has been read, ends. (locked) */
void prefetch_fetch_begins(struct prefetcher *prefetcher, struct fetch *fetch);
void prefetch_fetch_arrives(struct prefetcher *prefetcher, struct fetch *fetch);
void prefetch_fetch_ends(struct prefetcher *prefetcher, struct fetch *fetch);

/* Requests starve: give the memory of the latest fetch that nobody uses back. Returns false if
 * there is none. Not under the lock. */
bool prefetch_yield(struct pipeline_worker *worker);

/* Forget a file that closes. (locked) */
void prefetch_forget_file(struct prefetcher *prefetcher, struct pipeline *pipeline,
                          struct packed_file *file);

#endif
