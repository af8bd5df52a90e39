/* memory_map.h - anonymous memory of the daemon's own, in huge pages where the kernel has them.
 *
 * Callable on any thread.
 */
#ifndef TRUNKFS_MEMORY_MAP_H
#define TRUNKFS_MEMORY_MAP_H

#include <stddef.h>
#include <stdint.h>

/* Reserve size bytes of address space, readable and writable, that take no memory until
 * they are touched. Aligned to a huge page. NULL on failure. memory_map_free(base, size)
 * gives it back. */
uint8_t *memory_map_new(size_t size);
void memory_map_free(uint8_t *base, size_t size); /* NULL is allowed */

/* Give every page its memory, so that no request pays for it. What the pages hold stays, also
 * while others use them. */
void memory_map_populate(uint8_t *base, size_t size);

/* Give the memory of the whole pages inside [base, base + size) back; it reads as zero. */
void memory_map_discard(uint8_t *base, size_t size);

#endif
