/* directory.h - the entries of a directory, as one listing sees them.
 *
 * Taken whole when the directory is opened, so that offsets stay valid whatever happens to
 * the backing directory meanwhile. Immutable after that; any thread.
 */
#ifndef TRUNKFS_DIRECTORY_H
#define TRUNKFS_DIRECTORY_H

#include <stddef.h>
#include <sys/types.h>

#include "inode.h"
#include "tree.h"

struct directory_entry {
    const char *name; /* as shown */
    ino_t ino;
    mode_t type; /* S_IFREG, S_IFDIR or S_IFLNK */
};

struct directory;

/* Returns 0, -ENOMEM, -errno. inode stays valid while the kernel has it open. */
__attribute__((warn_unused_result)) int directory_open(struct tree *tree, struct inode *inode,
                                                       struct directory **ret);
void directory_close(struct directory *directory); /* NULL is allowed */

size_t directory_count(const struct directory *directory); /* "." and ".." included */
void directory_get(const struct directory *directory, size_t i, struct directory_entry *ret);

/* A descriptor of the backing directory, for lookups beside the listing; or -1. */
int directory_fd(const struct directory *directory);

#endif
