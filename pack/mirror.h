/* mirror.h - what of a tree is not contents: directories, symbolic links, hard links, and
 * the attributes of directories, made beneath a destination.
 *
 * Uses tree_entry.output_path (NULL: the entry is left out) and reports its own errors,
 * marking the entry as failed. From main only, while no other thread touches the tree.
 */
#ifndef PACK_MIRROR_H
#define PACK_MIRROR_H

#include "tree.h"

/* Before the files: every directory, writable for now, without left-overs of killed
 * writers; then every symbolic link. */
void mirror_begin(const struct tree *tree, int destination_fd);

/* After the files: the other names of files with several, then modes and times of the
 * directories, deepest first, each synced. */
void mirror_end(const struct tree *tree, int destination_fd);

#endif
