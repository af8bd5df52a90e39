/* packed_area.h - memory for packed bytes on their way from disk to decoder.
 *
 * One piece of memory, allocated at start (and registered with io_uring as a whole), handed
 * out in runs of whole pages. Around each run at least FRAME_DECODE_SLACK bytes are
 * readable. Thread-safe: has a lock of its own, a leaf under which no other lock is taken.
 */
#ifndef TRUNKFS_PACKED_AREA_H
#define TRUNKFS_PACKED_AREA_H

#include <stddef.h>
#include <stdint.h>

struct packed_area;

/* Returns 0, -ENOMEM. size in bytes. */
__attribute__((warn_unused_result)) int packed_area_new(size_t size, struct packed_area **ret);
void packed_area_free(struct packed_area *area); /* NULL is allowed; no run may be in use */

/* size bytes, beginning on a page; NULL when no run of that size is free. */
uint8_t *packed_area_take(struct packed_area *area, size_t size);
void packed_area_put(struct packed_area *area, uint8_t *run, size_t size);

size_t packed_area_used(struct packed_area *area);
size_t packed_area_size(const struct packed_area *area);

/* Give it its memory now, rather than with the first reads. May take a while. */
void packed_area_populate(struct packed_area *area);

/* The whole memory, to register it. */
void packed_area_memory(const struct packed_area *area, uint8_t **ret_base, size_t *ret_size);

#endif
