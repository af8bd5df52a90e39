/* file_set.h - which backing files are open: by handles, or kept for the next open.
 *
 * An index is loaded at the first open, outside every lock. Indexes count against memory=:
 * what they take above an allowance is taken from the frames' share. The last close keeps
 * the file for a while, since clients open the same file again and again.
 *
 * Thread-safe. Its lock comes before the table's (frame_table.h).
 */
#ifndef TRUNKFS_FILE_SET_H
#define TRUNKFS_FILE_SET_H

#include <stddef.h>

#include "inode.h"
#include "packed_file.h"
#include "pipeline.h"
#include "tree.h"

struct file_set;

/* index_allowance: bytes of index that frames need not make room for; frames_min: bytes that
 * frames keep in any case. Returns 0, -ENOMEM. */
__attribute__((warn_unused_result)) int file_set_new(struct pipeline *pipeline,
                                                     size_t index_allowance, size_t frames_min,
                                                     struct file_set **ret);
void file_set_free(struct file_set *set); /* NULL is allowed; no handle may be left */

/* Where inodes are opened; set once before the first open. */
void file_set_use_tree(struct file_set *set, struct tree *tree);

/* One more handle of inode. *ret stays valid until the matching file_set_close. Returns 0, -EIO,
 * -ESTALE, -ENOMEM, -errno. */
__attribute__((warn_unused_result)) int file_set_open(struct file_set *set, struct inode *inode,
                                                      struct packed_file **ret);
void file_set_close(struct file_set *set, struct inode *inode);

/* An inode_gone (inode.h); context is the set. */
void file_set_gone(void *context, struct inode *inode);

#endif
