/* ghost.h - remembers which frames were dropped lately, without their bytes.
 *
 * A frame that is asked for again soon after it was dropped is worth keeping; a walk
 * over more than the cache holds never meets one. Not thread-safe: the table's lock.
 */
#ifndef TRUNKFS_GHOST_H
#define TRUNKFS_GHOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ghost;

/* Remembers about the last count keys. Returns 0, -ENOMEM. */
__attribute__((warn_unused_result)) int ghost_new(size_t count, struct ghost **ret);
void ghost_free(struct ghost *ghost); /* NULL is allowed */

void ghost_add(struct ghost *ghost, uint64_t key);
bool ghost_take(struct ghost *ghost, uint64_t key); /* was it there? It no longer is. */

#endif
