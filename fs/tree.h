/* tree.h - the packed directory as the source tree that it stands for.
 *
 * All access goes through one descriptor of the packed directory, opened before the
 * mount, and never leaves it: no symbolic link is followed, no path with ".." exists.
 * Thread-safe.
 */
#ifndef TRUNKFS_TREE_H
#define TRUNKFS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include "inode.h"

struct tree;

#define TREE_STATS_DIRECTORY ".trunkfs"
#define TREE_METRICS         "metrics"

/* Takes root_fd over (closed on failure too). gone: inode.h. Returns 0, -errno. */
__attribute__((warn_unused_result)) int tree_new(int root_fd, inode_gone *gone, void *context,
                                                 struct tree **ret);
void tree_free(struct tree *tree); /* NULL is allowed */

struct inode *tree_root(struct tree *tree);

/* Open the backing directory of an inode. Returns a descriptor or -errno. */
__attribute__((warn_unused_result)) int tree_open_directory(struct tree *tree,
                                                            const struct inode *inode);

/* The inode that is shown as name in parent, its lookup count raised. directory_fd: of parent, or
 * -1. Returns 0; -ENOENT; -EIO for a packed file that is not sound (logged); -errno. */
__attribute__((warn_unused_result)) int tree_lookup(struct tree *tree, struct inode *parent,
                                                    int directory_fd, const char *name,
                                                    struct inode **ret);
void tree_forget(struct tree *tree, struct inode *inode, uint64_t count);

/* Current attributes: of a file those at lookup, since an inode is one state of it. */
__attribute__((warn_unused_result)) int tree_stat(struct tree *tree, const struct inode *inode,
                                                  struct stat *ret);

/* Returns the length of the target put into buffer, or -errno. */
__attribute__((warn_unused_result)) ssize_t
tree_readlink(struct tree *tree, const struct inode *inode, char *buffer, size_t room);

/* Open the backing file of an inode for reading. Returns a descriptor, -ESTALE if that name now
 * holds something else, -errno. path (PATH_MAX bytes) becomes its path, for messages. */
__attribute__((warn_unused_result)) int tree_open_file(struct tree *tree, const struct inode *inode,
                                                       char *ret_path, size_t path_room);

__attribute__((warn_unused_result)) int tree_statfs(struct tree *tree, struct statvfs *ret);

/* The number that an object of the packed directory is shown with. */
ino_t tree_shown_ino(const struct tree *tree, const struct stat *backing);

#endif
