/* against.h - compare a packed directory with the original in all that is not contents:
 * what exists, its type, mode, time, link target, and which names are one file.
 *
 * Reports each difference as an error. From main only.
 */
#ifndef PACK_AGAINST_H
#define PACK_AGAINST_H

#include <stdbool.h>
#include <sys/stat.h>

#include "tree.h"

/* packed: with output_path set, as restore_plan_make does. Modes and times of packed files
 * are in their superblocks: they are left to against_attributes. Returns 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int against_trees(const struct tree *packed,
                                                      const struct tree *original);

/* Mode and modification time of one file. Returns true if they are the same, else reports
 * how they differ. Any thread. */
bool against_attributes(const char *path, const struct stat *packed, const struct stat *original);

#endif
