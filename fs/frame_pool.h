/* frame_pool.h - buffers for decoded frames within one budget.
 *
 * Frames of one size share a class of equal slots, so there is no fragmentation: a file
 * with frames of another size gets a class of its own, and memory moves between classes
 * a slot at a time. Slots are reused last in, first out, since the last one is still
 * in the processor's cache. Knows nothing of what is in a slot: when the budget is used
 * up, frame_pool_take says so and the caller evicts.
 *
 * Not thread-safe: the caller holds its lock (frame_table.h) around every call.
 */
#ifndef TRUNKFS_FRAME_POOL_H
#define TRUNKFS_FRAME_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_pool;

/* budget in bytes. Returns 0, -ENOMEM. */
__attribute__((warn_unused_result)) int frame_pool_new(size_t budget, struct frame_pool **ret);
void frame_pool_free(struct frame_pool *pool); /* NULL is allowed; no slot may be in use */

/* Give the slots for frames of the default size their memory now, rather than with the first
 * requests. May take a while; needs no lock, as it touches nothing that changes. */
void frame_pool_populate(const struct frame_pool *pool);

/* Bytes that one frame of so many raw bytes takes from the budget. */
size_t frame_pool_slot_size(uint32_t frame_size);

/* A slot with room for frame_size (a power of two) raw bytes and FRAME_DECODE_SLACK, or
 * NULL when the budget is used up (or the system's memory). */
uint8_t *frame_pool_take(struct frame_pool *pool, uint32_t frame_size);
void frame_pool_put(struct frame_pool *pool, uint32_t frame_size, uint8_t *slot);

size_t frame_pool_budget(const struct frame_pool *pool);
size_t frame_pool_used(const struct frame_pool *pool); /* bytes of slots handed out */

/* Change the budget. Slots in use above a smaller one are given up as they are put back. */
void frame_pool_set_budget(struct frame_pool *pool, size_t budget);

#endif
